/* Packets over several ports, and what receivers make of them. */
#include "base/mem.h"
#include "nic/swhni/swhni_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

/* --- SUN-F38, SUN-F48: ports --- */

struct sending {
	uint32_t port, bytes;
	sim_time from;
};

static void send_program(struct st *m, site_id node)
{
	const struct sending *s = m->arg;
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(31, 0, s->bytes);

	if (node)
		return;
	st_fill(ST_SOURCE, s->bytes, 3);
	d.port = (uint8_t)s->port;
	program_wait(s->from);
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now();
}

static void run(struct st *m, const struct sending *s, const char *set)
{
	st_init(m);
	if (set)
		st_set(m, set);
	m->arg = s;
	st_run(m, 0, send_program);
}

static uint64_t by_port(const struct st *m, uint32_t port)
{
	return nic_count(m->kit.nic, 0, port ? "by_port_1" : "by_port_0");
}

/* SUN-F48 */
static void a_message_takes_the_port_that_its_descriptor_names(void **state)
{
	for (uint32_t port = 0; port < 2; port++) {
		struct sending s = { 1 + port, 100 * 2048, 0 };
		struct st m;

		run(&m, &s, NULL);
		assert_int_equal(by_port(&m, port), 100);
		assert_int_equal(by_port(&m, !port), 0);
		st_fini(&m);
	}
}

/* SUN-F35, SUN-F38, SUN-F48 */
static void packets_of_one_message_take_both_ports(void **state)
{
	struct sending s = { 0, 100 * 2048, 0 };
	struct st m;

	run(&m, &s, NULL);
	assert_in_range(by_port(&m, 0), 49, 51);
	assert_int_equal(by_port(&m, 0) + by_port(&m, 1), 100);
	st_fini(&m);
}

/* SUN-F38, SUN-F93 */
static void a_dead_port_is_not_used(void **state)
{
	struct sending s = { 0, 100 * 2048, 0 };
	struct st m;

	run(&m, &s, "faults.events=0 us link 0 port 1 dies");
	assert_int_equal(by_port(&m, 0), 100);
	assert_int_equal(by_port(&m, 1), 0);
	assert_int_equal(nic_sum(m.kit.nic, "resent"), 0);
	st_fini(&m);
}

/* SUN-F38, SUN-F91: A quarter of the rate: the other port, which PCIe binds,
 * takes the more. */
static void a_narrow_port_gets_less(void **state)
{
	/* when its lanes are trained */
	struct sending s = { 0, 1000 * 2048, 3500000 * (sim_time)SIM_NS };
	struct st m;

	run(&m, &s,
		"faults.events=0 us lane 0 port 1 0 dies; 0 us lane 0 port 1 1 "
		"dies; 0 us lane 0 port 1 2 dies");
	assert_true(by_port(&m, 0) > 4 * by_port(&m, 1));
	assert_true(by_port(&m, 1) > 0);
	st_fini(&m);
}

/* --- SUN-F47: data-flow --- */

/* SUN-F47 */
static void packets_leave_when_their_bytes_are_there(void **state)
{
	struct sending s = { 1, 100 * 2048, 0 };
	sim_time took[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		run(&m, &s, i ? "side.reads=1" : "side.reads=64");
		took[i] = m.end;
		st_fini(&m);
	}
	/* 153.7 ns a packet; or four reads, one after the other */
	assert_in_range(took[0], 17000 * SIM_NS, 18500 * SIM_NS);
	assert_true(took[1] > 400 * 480 * SIM_NS);
}

/* --- many senders --- */

static void incast_program(struct st *m, site_id node)
{
	const struct sending *s = m->arg;
	struct st_queue q = st_open();
	struct swhni_descriptor d;

	if (!node || node > 8)
		return;
	for (uint32_t i = 0; i < 20; i++) {
		d = st_write(0, (uint64_t)node << 20, s->bytes);
		d.port = (uint8_t)s->port;
		st_post(&q, &d);
	}
	for (uint32_t i = 0; i < 20; i++)
		assert_int_equal(st_error(&q), SWHNI_OK);
	m->word[node - 1] = (uint64_t)program_now();
}

static void senders_share_a_receivers_port_equally(void **state)
{
	struct sending s = { 1, 65536, 0 };
	struct st m;
	uint64_t first = UINT64_MAX, last = 0;

	st_init(&m);
	m.arg = &s;
	st_run(&m, 0, incast_program);
	for (uint32_t i = 0; i < 8; i++) {
		first = m.word[i] < first ? m.word[i] : first;
		last = m.word[i] > last ? m.word[i] : last;
	}
	assert_true(last - first < last / 100);
	/* and all of it is used: 8 x 20 x 64 KiB at 13.324 GB/s */
	assert_in_range(
		last, 787000 * (sim_time)SIM_NS, 800000 * (sim_time)SIM_NS);
	assert_int_equal(nic_sum(m.kit.nic, "resent"), 0);
	st_fini(&m);
}

/* Both ports bring more than PCIe takes: what has no place comes again. */
static void more_than_pcie_takes_is_refused_and_comes_again(void **state)
{
	struct sending s = { 0, 65536, 0 };
	struct st m;

	st_init(&m);
	st_set(&m, "nic.backlog=16 KiB");
	m.arg = &s;
	st_run(&m, 0, incast_program);
	assert_true(nic_count(m.kit.nic, 0, "overflows") > 0);
	assert_int_equal(nic_sum(m.kit.nic, "no answer"), 0);
	st_fini(&m);
}

/* --- SUN-G19: entries --- */

static void entry_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	if (!node)
		return;
	st_fill(ST_SOURCE, 50000, node);
	for (uint32_t i = 0; i < 4; i++) {
		struct swhni_descriptor d =
			st_write(0, ((uint64_t)node * 4 + i) << 17, 50000 - i);

		d.own_offset = 0;
		d.port = 1; /* which PCIe keeps up with */
		d.flags |= SWHNI_REPLY;
		d.reply.key = ST_KEY;
		st_post(&q, &d);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(st_error(&q), SWHNI_OK);
	m->word[0]++;
}

/* SUN-F49 */
static void a_receiver_counts_so_many_messages_at_a_time(void **state)
{
	static const char *const sets[] = { "nic.entries=256",
		"nic.entries=3" };

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;
		uint8_t *bytes = mem_alloc(50000, 1);

		st_init(&m);
		st_set(&m, sets[i]);
		st_run(&m, 0, entry_program);
		assert_int_equal(st_word_at(&m, 0, ST_TARGET), 4 * 31);
		for (uint32_t k = 4; k < 32 * 4; k++) {
			host_read(m.kit.host, 0,
				ST_TARGET + ((uint64_t)k << 17), bytes, 49997);
			assert_true(memory_is_by(1, k / 4, 0, bytes, 49997));
		}
		if (i)
			assert_true(nic_count(m.kit.nic, 0, "refused") > 0);
		else
			assert_int_equal(nic_count(m.kit.nic, 0, "refused"), 0);
		mem_free(bytes);
		st_fini(&m);
	}
}

/* --- SUN-F46, SUN-F49, SUN-F75: shuffled packets --- */

enum { NOTICES = 60 };

static uint64_t draw(site_id node, uint32_t i)
{
	return random_draw(5, node, RANDOM_POLL, i).a;
}

/* All nodes write to one another by both rails; at each notice all bytes of
 * its write are there, and each write has one. */
static void shuffle_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	site_id from = (node + 31 - 7) % 32, to = (node + 8) % 32;
	uint32_t sent = 0, ended = 0, came = 0, last = 0;
	uint64_t seen = 0;

	st_fill(ST_SOURCE, 1 << 16, node);
	while (ended < NOTICES || came < NOTICES) {
		for (; sent < NOTICES && sent - ended < 8; sent++) {
			struct swhni_descriptor d =
				st_write(to, (uint64_t)sent << 16,
					(uint32_t)(draw(node, sent) % 30000));

			d.own_offset = sent;
			d.flags |= SWHNI_NOTICE;
			d.word[0] = sent;
			st_post(&q, &d);
		}
		for (; st_has(&q); ended++)
			assert_int_equal(st_error(&q), SWHNI_OK);
		for (; st_has_message(&q); came++) {
			struct swhni_slot s = st_receive(&q, NULL);
			uint8_t bytes[30000];
			uint32_t i = (uint32_t)s.word[0];

			assert_int_equal(s.node, from);
			assert_int_equal(s.bytes, draw(from, i) % 30000);
			assert_true(program_read(
				ST_TARGET + s.offset, bytes, s.bytes));
			assert_true(memory_is_by(1, from, i, bytes, s.bytes));
			assert_false(seen >> i & 1);
			seen |= UINT64_C(1) << i;
			m->seen += i < last;
			last = i > last ? i : last;
		}
		program_wait(program_now() + 300 * SIM_NS);
	}
}

/* SUN-F46, SUN-F49 */
static void shuffled_messages_complete_once_behind_their_bytes(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, shuffle_program);
	assert_true(m.seen > 20); /* that were overtaken */
	assert_int_equal(nic_sum(m.kit.nic, "doubles"), 0);
	st_fini(&m);
}

/* --- SUN-N68 --- */

static void vm_program(struct st *m, site_id node)
{
	struct swhni_setup s = { .job = ST_JOB, .vm = (uint32_t)m->word[0] };
	struct st_queue q = st_open_as(&s);
	struct swhni_descriptor d = st_write(1, 0, 8);

	if (node)
		return;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now();
}

static void a_virtual_machines_message_takes_ten_nanoseconds_more(void **state)
{
	sim_time end[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		st_set(&m, "nic.vms=1");
		m.word[0] = i;
		st_run(&m, 2, vm_program);
		end[i] = m.end;
		st_fini(&m);
	}
	assert_int_equal(end[1] - end[0], 10 * SIM_NS);
}

TESTS(TEST(a_message_takes_the_port_that_its_descriptor_names),
	TEST(packets_of_one_message_take_both_ports),
	TEST(a_dead_port_is_not_used), TEST(a_narrow_port_gets_less),
	TEST(packets_leave_when_their_bytes_are_there),
	TEST(senders_share_a_receivers_port_equally),
	TEST(more_than_pcie_takes_is_refused_and_comes_again),
	TEST(a_receiver_counts_so_many_messages_at_a_time),
	TEST(shuffled_messages_complete_once_behind_their_bytes),
	TEST(a_virtual_machines_message_takes_ten_nanoseconds_more))
