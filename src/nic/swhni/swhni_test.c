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

static void a_write_of_eight_bytes_takes_two_reads_and_the_way(void **state)
{
	struct st m;
	sim_time store, reads, out, in;

	st_init(&m);
	st_run(&m, 2, write_program);
	store = st_bus(&m, 8) + 200 * SIM_NS;
	reads = 2 * (st_bus(&m, 0) + 450 * SIM_NS) + st_bus(&m, 64) +
		st_bus(&m, 8);
	out = 40 * SIM_NS + st_net(&m, 2, 8);
	in = 60 * SIM_NS + 2 * st_bus(&m, 8) + 250 * SIM_NS;
	assert_int_equal(m.end, store + reads + out + in);
	st_fini(&m);
}

TESTS(TEST(a_write_of_eight_bytes_takes_two_reads_and_the_way))
