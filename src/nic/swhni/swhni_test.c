#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

/* --- times --- */

static void write_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 64, 8);

	if (node == 1) {
		st_await(ST_TARGET, 1);
		m->end = program_now();
		assert_int_equal(st_load(ST_TARGET + 64), 0x1122334455667788);
		return;
	}
	st_store(ST_SOURCE + 64, 0x1122334455667788);
	d.flags = SWHNI_TELL | SWHNI_REPLY;
	d.reply.key = ST_KEY;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
}

/* SUN-F43, SUN-F78 */
static void a_write_of_eight_bytes_takes_two_reads_and_the_way(void **state)
{
	struct st m;
	sim_time store, reads, out, in;

	st_init(&m);
	st_run(&m, 2, write_program);
	store = st_bus(&m, 8) + 190 * SIM_NS;
	reads = 2 * (st_bus(&m, 0) + 450 * SIM_NS) + st_bus(&m, 64) +
		st_bus(&m, 8);
	out = 40 * SIM_NS + st_net(&m, false, 8);
	in = 60 * SIM_NS + 2 * st_bus(&m, 8) + 240 * SIM_NS;
	assert_int_equal(m.end, store + reads + out + in);
	st_fini(&m);
}

/* --- fast short messages --- */

static void fsm_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	uint64_t bytes[2] = { 0x55, 0x66 };
	struct swhni_descriptor d = { .type = SWHNI_FSM_WRITE,
		.flags = SWHNI_TELL | SWHNI_REPLY,
		.node = 31,
		.bytes = 16,
		.key = ST_KEY,
		.offset = 64 };
	struct nic_at a = st_now(&q);

	d.reply.key = ST_KEY;
	if (node == 31) {
		st_await(ST_TARGET, 1);
		m->end = program_now();
		assert_int_equal(st_load(ST_TARGET + 64), 0x55);
		assert_int_equal(st_load(ST_TARGET + 72), 0x66);
	}
	if (node)
		return;
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_OK);
}

/* SUN-F69: without the two reads of a write. */
static void a_fast_short_message_reads_nothing_over_pcie(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, fsm_program);
	assert_int_equal(m.end, st_bus(&m, 64 + 16) + (190 + 40) * SIM_NS +
					st_net(&m, true, 16) +
					(60 + 240) * SIM_NS + st_bus(&m, 16) +
					st_bus(&m, 8));
	assert_in_range(m.end, 980 * SIM_NS, 1020 * SIM_NS);
	assert_int_equal(nic_count(m.kit.nic, 0, "memory_reads"), 0);
	st_fini(&m);
}

/* --- reads --- */

static void read_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(31, 64, 8);

	if (node == 31)
		st_store(ST_TARGET + 64, 0x7788);
	if (node)
		return;
	d.type = SWHNI_READ;
	d.flags = SWHNI_TELL | SWHNI_REPLY;
	d.reply.key = ST_OWN;
	st_post(&q, &d);
	st_await(ST_SOURCE, 1);
	m->end = program_now();
	assert_int_equal(st_load(ST_SOURCE + 64), 0x7788);
	assert_int_equal(st_error(&q), SWHNI_OK);
}

/* SUN-F61: a read is a write that the target makes. */
static void a_read_of_eight_bytes_is_a_request_and_a_write(void **state)
{
	struct st m;
	sim_time ask, answer;

	st_init(&m);
	st_run(&m, 0, read_program);
	ask = st_bus(&m, 8) + 190 * SIM_NS + st_bus(&m, 0) + 450 * SIM_NS +
	      st_bus(&m, 64) + (271 + 40) * SIM_NS + st_net(&m, true, 0) +
	      60 * SIM_NS;
	answer = st_bus(&m, 0) + 450 * SIM_NS + st_bus(&m, 8) + 40 * SIM_NS +
		 st_net(&m, true, 8) + (60 + 240) * SIM_NS + 2 * st_bus(&m, 8);
	assert_int_equal(m.end, ask + answer);
	assert_in_range(m.end, 2400 * SIM_NS, 2800 * SIM_NS);
	st_fini(&m);
}

TESTS(TEST(a_write_of_eight_bytes_takes_two_reads_and_the_way),
	TEST(a_fast_short_message_reads_nothing_over_pcie),
	TEST(a_read_of_eight_bytes_is_a_request_and_a_write))
