/* Transport: what happens to messages when links and packets are lost. */
#include "base/mem.h"
#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

enum { MESSAGES = 40, LONG = 20000 };

/* Every third node sends to the other leaf: writes of all kinds of lengths with
 * reply words, a message into a queue, and a read, over and over. */
static void traffic(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	site_id to = (node + 16) % 32;
	uint32_t n = 0;

	if (node % 3)
		return;
	st_fill(ST_SOURCE, LONG + MESSAGES, node);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		struct swhni_descriptor d = st_write(
			to, (uint64_t)(i + 1) << 16, i * LONG / MESSAGES);

		d.own_offset = i;
		d.flags |= SWHNI_REPLY;
		d.reply.key = ST_KEY;
		d.reply.offset = 8 * (i % 8);
		st_put(&q, &d);
		if (i % 4 == 3)
			st_ring(&q);
		for (; i % 4 == 3 && n <= i - 3; n++)
			if (st_error(&q))
				m->seen++;
	}
	for (; n < MESSAGES; n++)
		if (st_error(&q))
			m->seen++;
}

/* Bytes and reply words are right at every target. */
static void check(const struct st *m)
{
	for (site_id node = 0; node < 32; node += 3) {
		site_id to = (node + 16) % 32;
		uint8_t *bytes = mem_alloc(LONG, 1);

		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(st_word_at(m, to, ST_TARGET + 8 * i),
				MESSAGES / 8);
		for (uint32_t i = 0; i < MESSAGES; i++) {
			uint32_t n = i * LONG / MESSAGES;

			assert_true(host_read(m->kit.host, to,
				ST_TARGET + ((uint64_t)(i + 1) << 16), bytes,
				n));
			assert_true(memory_is_by(1, node, i, bytes, n));
		}
		mem_free(bytes);
	}
}

static uint64_t run(struct st *m, const char *event, const char *more)
{
	st_init(m);
	if (event)
		st_set(m, event);
	if (more)
		st_set(m, more);
	return st_run(m, 0, traffic);
}

static void all_goes_well_without_faults(void **state)
{
	struct st m;

	run(&m, NULL, NULL);
	check(&m);
	assert_int_equal(nic_sum(m.kit.nic, "resent"), 0);
	assert_int_equal(nic_sum(m.kit.nic, "doubles"), 0);
	assert_int_equal(nic_sum(m.kit.nic, "timeouts"), 0);
	assert_true(nic_sum(m.kit.nic, "by_port_0") > 0);
	assert_true(nic_sum(m.kit.nic, "by_port_1") > 0);
	st_fini(&m);
}

/* --- layer by layer, each without those below it --- */

static struct fault_counts counts(const struct st *m)
{
	const struct net *n = m->kit.net;
	struct fault_counts sum = { 0 };

	for (uint32_t i = 0; n->faults && i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		fault_counts_add(&sum, &c);
	}
	return sum;
}

/* No message was sent again, nor waited for. */
static void assert_transport_had_no_work(const struct st *m)
{
	assert_int_equal(m->seen, 0);
	assert_int_equal(nic_sum(m->kit.nic, "torn"), 0);
	assert_int_equal(nic_sum(m->kit.nic, "escapes"), 0);
	assert_int_equal(nic_sum(m->kit.nic, "resent"), 0);
	assert_int_equal(nic_sum(m->kit.nic, "timeouts"), 0);
}

/* SUN-F87, SUN-F88, SUN-F89: lanes as good as the paper's have no error here at
 * all, and even a million times as many take no time. */
static void sun_f88_bit_errors_of_lanes_are_rare_and_cost_nothing(void **state)
{
	static const char *const rates[] = { NULL, "faults.bit-errors=1e-12",
		"faults.bit-errors=1e-6" };
	struct fault_counts c[3];
	uint64_t digest[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct st m;

		digest[i] = run(&m, rates[i], NULL);
		check(&m);
		c[i] = counts(&m);
		assert_transport_had_no_work(&m);
		assert_int_equal(c[i].failed, 0);
		assert_int_equal(c[i].resent, 0);
		assert_int_equal(digest[i], digest[0]);
		assert_int_equal(c[i].bit_errors > 0, i == 2);
		st_fini(&m);
	}
	assert_true(c[2].corrected > 50);
}

/* SUN-F87, SUN-F90: without correction CRC-32 finds what is wrong, and the link
 * sends it again; and so it does with bursts too long to be corrected. */
static void sun_f90_links_send_again_what_crc_32_finds(void **state)
{
	static const char *const sets[][2] = {
		{ "faults.bit-errors=1e-6", "link.fec=none" },
		{ "faults.bursts=1e-7 100", "link.fec=rs528" },
	};

	for (uint32_t i = 0; i < 2; i++) {
		struct fault_counts c;
		struct st m;

		run(&m, sets[i][0], sets[i][1]);
		check(&m);
		c = counts(&m);
		assert_true(c.resent > 10);
		assert_int_equal(c.lost, 0);
		assert_int_equal(c.escaped, 0);
		assert_int_equal(c.failed > 0, i == 1);
		assert_transport_had_no_work(&m);
		st_fini(&m);
	}
}

/* SUN-F87: with links that never come back nothing is left to the interfaces
 * either, as long as switches have another way. */
static void sun_f87_switches_go_round_dead_links(void **state)
{
	struct st m;

	run(&m,
		"faults.events=0 us link 0:1.0 up 3 dies; 0 us link 1:1.0 up 4 "
		"dies; 0 us uplinks 1:1.1 dies",
		"link.retry=none");
	check(&m);
	assert_transport_had_no_work(&m);
	assert_int_equal(counts(&m).lost, 0);
	st_fini(&m);
}

/* SUN-F34, SUN-F92, SUN-F93: a port, a chip, a whole rail. */
static void the_other_rail_carries_on(void **state)
{
	static const char *const events[] = {
		"faults.events=20 us link 0 port 0 dies",
		"faults.events=20 us switch 0:1.0 dies",
		"faults.events=20 us rail 0 dies",
		"faults.events=20 us rail 1 dies",
	};

	for (uint32_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct st m;

		run(&m, events[i], NULL);
		check(&m);
		assert_int_equal(m.seen, 0);
		st_fini(&m);
	}
}

static void a_rail_may_die_and_return_before_the_other_dies(void **state)
{
	struct st m;

	run(&m,
		"faults.events=10 us rail 0 dies; 200 us rail 0 returns; "
		"300 us rail 1 dies",
		NULL);
	check(&m);
	assert_int_equal(m.seen, 0);
	st_fini(&m);
}

/* --- what cannot arrive --- */

static void bound_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(17, 0, 100000);

	if (node)
		return;
	for (uint32_t i = 0; i < 3; i++) {
		d.port = (uint8_t)i;
		st_post(&q, &d);
		m->word[i] = st_error(&q);
		if (!i)
			program_wait(40000 * SIM_NS);
		m->at = i == 1 ? program_now() : m->at;
	}
}

static void a_message_bound_to_a_dead_port_ends_with_an_error(void **state)
{
	struct st m;

	st_init(&m);
	st_set(&m, "faults.events=30 us link 0 port 0 dies");
	m.may_err = true;
	st_run(&m, 0, bound_program);
	assert_int_equal(m.word[0], SWHNI_OK);
	assert_int_equal(m.word[1], SWHNI_NO_ANSWER);
	assert_int_equal(m.word[2], SWHNI_OK);
	/* 50, 100 and 200 us, and what pauses between them take */
	assert_in_range(
		m.at, 380000 * (sim_time)SIM_NS, 420000 * (sim_time)SIM_NS);
	st_fini(&m);
}

static void dead_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(17, 0, 3000);
	static const uint8_t types[] = { SWHNI_WRITE, SWHNI_READ, SWHNI_SEND };

	if (node == 2) { /* others do not notice */
		d.node = 3;
		for (uint32_t i = 0; i < 20; i++) {
			st_post(&q, &d);
			assert_int_equal(st_error(&q), SWHNI_OK);
			program_wait(program_now() + 20000 * SIM_NS);
		}
	}
	if (node)
		return;
	program_wait(60000 * SIM_NS);
	for (uint32_t i = 0; i < 3; i++) {
		d.type = types[i];
		d.bytes = 2000;
		st_post(&q, &d);
		m->word[i] = st_error(&q);
	}
	m->end = program_now();
}

static void messages_to_a_dead_node_end_with_errors(void **state)
{
	struct st m;

	st_init(&m);
	st_set(&m, "faults.events=50 us node 17 dies");
	m.may_err = true;
	st_run(&m, 0, dead_program);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(m.word[i], SWHNI_NO_ANSWER);
	assert_true(m.end < 1300000 * (sim_time)SIM_NS);
	st_fini(&m);
}

/* --- links that lose and damage packets --- */

/* SUN-F87, SUN-F93 */
static void packets_that_vanish_are_sent_again(void **state)
{
	struct st m;

	st_init(&m);
	st_set(&m, "link.retry=none");
	st_set(&m, "link.fec=none");
	st_set(&m, "faults.bit-errors=3e-7");
	m.may_err = true;
	st_run(&m, 0, traffic);
	check(&m);
	assert_int_equal(m.seen, 0);
	assert_true(nic_sum(m.kit.nic, "torn") > 10);
	assert_true(nic_sum(m.kit.nic, "resent") > 10);
	assert_int_equal(nic_sum(m.kit.nic, "escapes"), 0);
	st_fini(&m);
}

/* SUN-F95: of a message whose acknowledgement is lost nothing is sent again,
 * and nothing is executed twice. */
static void only_what_is_missing_is_sent_again(void **state)
{
	struct st m;
	uint64_t lost;

	st_init(&m);
	st_set(&m, "link.retry=none");
	st_set(&m, "link.fec=none");
	st_set(&m, "faults.bit-errors=3e-7");
	m.may_err = true;
	st_run(&m, 0, traffic);
	lost = nic_sum(m.kit.nic, "torn");
	/* some of the torn are answers and probes, and need no packet */
	assert_true(nic_sum(m.kit.nic, "resent") <= lost + lost / 2);
	st_fini(&m);
}

/* --- SUN-F63: exactly once --- */

enum { WORDS = 150 };

static void word_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write((node + 16) % 32, 8, 8);

	if (node % 3)
		return;
	d.flags |= SWHNI_REPLY;
	d.reply.key = ST_KEY;
	for (uint32_t i = 0; i < WORDS; i++) {
		st_post(&q, &d);
		if (st_error(&q))
			m->seen++;
	}
}

/* SUN-F63 */
static void a_reply_word_counts_each_message_once(void **state)
{
	struct st m;

	st_init(&m);
	st_set(&m, "link.retry=none");
	st_set(&m, "link.fec=none");
	st_set(&m, "faults.bit-errors=1e-5");
	m.may_err = true;
	st_run(&m, 0, word_program);
	assert_int_equal(m.seen, 0);
	for (site_id node = 0; node < 32; node += 3)
		assert_int_equal(
			st_word_at(&m, (node + 16) % 32, ST_TARGET), WORDS);
	/* acknowledgements were lost, and what had come came again */
	assert_true(nic_sum(m.kit.nic, "doubles") > 5);
	st_fini(&m);
}

static void a_run_with_faults_is_the_same_for_any_number_of_threads(
	void **state)
{
	uint64_t digest[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct st m;

		st_init(&m);
		st_set(&m,
			"faults.events=10 us switch 0:1.1 dies; 30 us switch "
			"1:2.3 dies");
		m.n_workers = i + 1;
		digest[i] = st_run(&m, 0, traffic);
		check(&m);
		st_fini(&m);
	}
	assert_true(digest[0] == digest[1]);
	assert_true(digest[0] == digest[2]);
}

TESTS(TEST(all_goes_well_without_faults),
	TEST(sun_f88_bit_errors_of_lanes_are_rare_and_cost_nothing),
	TEST(sun_f90_links_send_again_what_crc_32_finds),
	TEST(sun_f87_switches_go_round_dead_links),
	TEST(the_other_rail_carries_on),
	TEST(a_rail_may_die_and_return_before_the_other_dies),
	TEST(a_message_bound_to_a_dead_port_ends_with_an_error),
	TEST(messages_to_a_dead_node_end_with_errors),
	TEST(packets_that_vanish_are_sent_again),
	TEST(only_what_is_missing_is_sent_again),
	TEST(a_reply_word_counts_each_message_once),
	TEST(a_run_with_faults_is_the_same_for_any_number_of_threads))
