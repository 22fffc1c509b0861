/* Engines: ways, turns, limits. */
#include <errno.h>

#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

/* --- SUN-F37: three ways --- */

static void way_program(struct st *m, site_id node)
{
	const uint32_t *to = m->arg;
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(to[0], 4096, 8);
	uint64_t base = program_process() * (uint64_t)ST_KEY;

	(void)base;
	if (node || program_process())
		return;
	st_store(ST_SOURCE + 4096, 77);
	program_wait(1000 * SIM_NS);
	d.engine = (uint8_t)to[1];
	d.key = to[1] ? ST_KEY + 10 : ST_KEY;
	m->at = program_now();
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now();
}

/* Process 1 has a handle of its own, on the other engine. */
static void way_programs(struct st *m, site_id node)
{
	struct swhni_handle h = {
		.key = ST_KEY + 10,
		.job = ST_JOB,
		.process = 1,
		.space = SWHNI_SEGMENT,
		.rights = SWHNI_MAY_READ | SWHNI_MAY_WRITE,
		.at = ST_TARGET + ST_BYTES,
		.bytes = 1 << 20,
	};
	struct nic_at a = nic_now(host_nic(program_host()));

	if (program_process())
		assert_int_equal(swhni_register(&a, &h), 0);
	else
		way_program(m, node);
}

static sim_time time_of_way(uint32_t node, uint32_t engine, const char *counter)
{
	uint32_t to[] = { node, engine };
	uint64_t at = ST_TARGET + 4096 + (engine ? ST_BYTES : 0);
	struct st m;
	sim_time t;

	st_init(&m);
	m.arg = to;
	m.n_processes = 2;
	st_run(&m, 0, way_programs);
	t = m.end - m.at;
	assert_int_equal(st_word_at(&m, node, at), 77);
	if (counter)
		assert_true(nic_count(m.kit.nic, 0, counter) >= 1);
	else
		assert_int_equal(nic_count(m.kit.nic, 0, "packets"), 1);
	st_fini(&m);
	return t;
}

/* SUN-F35, SUN-F37 */
static void ways_are_faster_the_nearer_the_target_is(void **state)
{
	sim_time loop = time_of_way(0, 0, "in_engine");
	sim_time crossbar = time_of_way(0, 1, "by_crossbar");
	sim_time network = time_of_way(1, 0, NULL);

	assert_true(loop < crossbar);
	assert_true(crossbar < network);
	/* a message and its answer each pass the crossbar once more */
	assert_int_equal(crossbar - loop, 2 * 60 * SIM_NS);
}

/* --- SUN-F41: turns --- */

struct shares {
	uint32_t n_queues;
	uint32_t bytes[4], flags[4], port;
};

enum { SHARES_UNTIL = 1000000, SHARE = 16384 }; /* ns; bytes */

/* Each queue has messages of its own length under way all the time. */
static void share_program(struct st *m, site_id node)
{
	const struct shares *s = m->arg;
	struct st_queue q[4];
	struct swhni_descriptor d[4];

	if (node) {
		st_open();
		return;
	}
	for (uint32_t i = 0; i < s->n_queues; i++) {
		q[i] = st_open();
		d[i] = st_write(31, i << 22, s->bytes[i]);
		d[i].flags |= (uint8_t)s->flags[i];
		d[i].port = (uint8_t)s->port;
		for (uint32_t k = 0; k < 16; k++)
			st_put(&q[i], &d[i]);
		st_ring(&q[i]);
	}
	while (program_now() < SHARES_UNTIL * (sim_time)SIM_NS) {
		for (uint32_t i = 0; i < s->n_queues; i++)
			while (st_has(&q[i])) {
				assert_int_equal(st_error(&q[i]), SWHNI_OK);
				m->word[i] += s->bytes[i];
				st_post(&q[i], &d[i]);
			}
		program_wait(program_now() + 500 * SIM_NS);
	}
	for (uint32_t i = 0; i < s->n_queues; i++)
		while (q[i].taken < q[i].written)
			st_wait(&q[i]);
}

static void share(struct st *m, const struct shares *s)
{
	st_init(m);
	m->arg = s;
	st_run(m, 0, share_program);
}

/* SUN-F41 */
static void queues_with_long_messages_get_equal_shares(void **state)
{
	struct shares s = { 4, { SHARE, SHARE, SHARE, SHARE }, { 0 }, 1 };
	struct st m;
	uint64_t sum = 0;

	share(&m, &s);
	for (uint32_t i = 0; i < 4; i++)
		sum += m.word[i];
	/* each has a quarter, to 1 % */
	for (uint32_t i = 0; i < 4; i++)
		assert_in_range(m.word[i], sum / 400 * 99, sum / 400 * 101);
	assert_true(sum > 10000000);
	st_fini(&m);
}

/* --- fast before short before long --- */

static void order_program(struct st *m, site_id node)
{
	struct st_queue q[3];
	uint32_t order[3];

	for (uint32_t i = 0; i < 3; i++)
		q[i] = st_open();
	if (node)
		return;
	/* the engine is busy with a long one when the others come */
	for (uint32_t i = 0; i < 3; i++) {
		struct swhni_descriptor d =
			st_write(31, i << 20, i ? 2048 : 200000);

		d.id = i;
		d.port = 1;
		d.flags |= i == 2 ? SWHNI_FAST : 0;
		st_post(&q[i], &d);
		program_wait(program_now() + (i ? 0 : 3000 * SIM_NS));
	}
	for (uint32_t n = 0; n < 3; program_wait(program_now() + 10 * SIM_NS))
		for (uint32_t i = 0; i < 3; i++)
			if (st_has(&q[i])) {
				st_wait(&q[i]);
				order[n++] = i;
			}
	for (uint32_t i = 0; i < 3; i++)
		m->word[i] = order[i];
}

/* SUN-F41 */
static void fast_messages_pass_short_ones_and_these_long_ones(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 0, order_program);
	assert_int_equal(m.word[0], 2);
	assert_int_equal(m.word[1], 1);
	assert_int_equal(m.word[2], 0);
	st_fini(&m);
}

enum { LONGS = 8 };

/* A message of eight bytes beside so many queues with long ones. */
static void beside_program(struct st *m, site_id node)
{
	struct st_queue q, of[LONGS];
	struct swhni_descriptor d = st_write(31, 0, 8);
	uint32_t n = *(const uint32_t *)m->arg;

	q = st_open();
	if (node)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct swhni_descriptor other =
			st_write(31, (i + 1) << 20, 500000);

		of[i] = st_open();
		other.port = 1;
		st_post(&of[i], &other);
	}
	program_wait(20000 * SIM_NS);
	d.port = 1;
	m->at = program_now();
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now() - m->at;
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(st_error(&of[i]), SWHNI_OK);
}

/* SUN-F41: It waits for what is cut already, and for its issue, and for no
 * turn. */
static void a_short_message_does_not_wait_for_its_turn_among_long_ones(
	void **state)
{
	static const uint32_t longs[] = { 1, LONGS };
	sim_time took[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		m.arg = &longs[i];
		st_run(&m, 0, beside_program);
		took[i] = m.end;
		st_fini(&m);
	}
	/* less than two packets apart, where eight would take their turns */
	assert_true(took[1] < took[0] + 310 * SIM_NS);
}

/* --- SUN-F77: short messages pass by --- */

/* Beside so many queues of messages, whose issue keeps the engine busy. */
static void pass_program(struct st *m, site_id node)
{
	struct st_queue q = st_open(), of[LONGS];
	struct swhni_descriptor d = st_write(31, 0, 8);
	uint32_t n = *(const uint32_t *)m->arg;
	uint64_t word = 0;
	struct nic_at a;

	if (node)
		return;
	for (uint32_t i = 0; i < n; i++) {
		of[i] = st_open();
		for (uint32_t k = 0; k < ST_ENTRIES; k++)
			st_put(&of[i], &d);
		st_ring(&of[i]);
	}
	program_wait(20000 * SIM_NS);
	d.type = SWHNI_FSM_WRITE;
	a = st_now(&q);
	m->at = a.t;
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, &word, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now() - m->at;
	m->seen = nic_count(m->kit.nic, 0, "messages");
	for (uint32_t i = 0; i < n * ST_ENTRIES; i++)
		assert_int_equal(st_error(&of[i % n]), SWHNI_OK);
}

/* SUN-F77: It waits for packets of a few bytes on their way, and for the issue
 * of no message. */
static void a_fast_short_message_has_a_path_of_its_own(void **state)
{
	static const uint32_t longs[] = { 0, LONGS };
	sim_time took[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		m.arg = &longs[i];
		st_run(&m, 0, pass_program);
		took[i] = m.end;
		assert_true(m.seen < LONGS * ST_ENTRIES); /* it was busy */
		st_fini(&m);
	}
	assert_in_range(took[1], took[0], took[0] + 30 * SIM_NS);
}

/* --- SUN-F42: messages under way --- */

static void flight_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(31, 0, 8);

	if (node)
		return;
	m->at = program_now();
	for (uint32_t i = 0; i < 60; i++)
		st_put(&q, &d);
	st_ring(&q);
	for (uint32_t i = 0; i < 60; i++)
		assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now() - m->at;
}

/* SUN-F42 */
static void one_message_under_way_is_slower_than_many(void **state)
{
	sim_time took[2];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		st_set(&m, i ? "nic.messages=1" : "nic.messages=256");
		st_run(&m, 0, flight_program);
		took[i] = m.end;
		st_fini(&m);
	}
	/* the issue of each; or its whole way there and back */
	assert_in_range(took[0] / 60, 271 * SIM_NS, 320 * SIM_NS);
	assert_true(took[1] / 60 > 1000 * SIM_NS);
}

enum { CROWD = 6, MOST_UNDER_WAY = 256 };

/* Nobody answers, and so messages stay under way. */
static void crowd_program(struct st *m, site_id node)
{
	struct st_queue q[CROWD];
	struct swhni_descriptor d = st_write(31, 0, 8);

	for (uint32_t i = 0; i < CROWD; i++)
		q[i] = st_open();
	if (node)
		return;
	program_wait(5000 * SIM_NS);
	for (uint32_t i = 0; i < CROWD * ST_ENTRIES; i++)
		st_put(&q[i % CROWD], &d);
	for (uint32_t i = 0; i < CROWD; i++)
		st_ring(&q[i]);
	program_wait(300000 * (sim_time)SIM_NS);
	m->word[0] = nic_count(m->kit.nic, 0, "messages");
	for (uint32_t i = 0; i < CROWD * ST_ENTRIES; i++)
		assert_int_equal(st_error(&q[i % CROWD]), SWHNI_NO_ANSWER);
	m->word[1] = nic_count(m->kit.nic, 0, "messages");
}

/* SUN-F42, SUN-N35 */
static void an_engine_has_256_messages_under_way(void **state)
{
	struct st m;

	st_init(&m);
	st_set(&m, "faults.events=1 us node 31 dies");
	m.may_err = true;
	st_run(&m, 0, crowd_program);
	assert_int_equal(m.word[0], MOST_UNDER_WAY);
	assert_int_equal(m.word[1], CROWD * ST_ENTRIES);
	st_fini(&m);
}

/* --- SUN-F36: attachments --- */

static void attach_program(struct st *m, site_id node)
{
	struct st_queue q[2];
	struct swhni_descriptor d;

	for (uint32_t e = 0; e < 2; e++) {
		struct swhni_setup s = { .job = ST_JOB, .engine = e };

		q[e] = st_open_as(&s);
	}
	if (node)
		return;
	m->at = program_now();
	for (uint32_t e = 0; e < 2; e++) {
		d = st_write(31, e << 24, 8 << 20);
		d.engine = (uint8_t)e;
		st_post(&q[e], &d);
	}
	for (uint32_t e = 0; e < 2; e++)
		assert_int_equal(st_error(&q[e]), SWHNI_OK);
	m->end = program_now();
}

/* SUN-F1, SUN-F34, SUN-F36: One processor gets both ports' rate by both of its
 * PCIe interfaces. */
static void a_processor_with_both_engines_fills_both_ports(void **state)
{
	struct st m;
	double rate;

	st_init(&m);
	st_set(&m, "nic.attach=one");
	st_run(&m, 0, attach_program);
	rate = (16 << 20) * 1e3 / (double)(m.end - m.at); /* GB/s */
	assert_true(rate > 0.98 * 2 * 13.324);
	st_fini(&m);
}

static void refused_program(struct st *m, site_id node)
{
	struct nic_at a = nic_now(host_nic(program_host()));
	struct swhni_setup s = { .job = ST_JOB, .engine = 1 };
	uint32_t interface;

	(void)m;
	(void)node;
	assert_int_equal(swhni_open(&a, &s, &interface), EINVAL);
}

/* SUN-F36 */
static void each_processor_has_its_own_engine_otherwise(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 1, refused_program);
	st_fini(&m);
}

/* --- SUN-F39, SUN-F40: interfaces that processes share --- */

static void shared_program(struct st *m, site_id node)
{
	struct swhni_setup s = { .job = ST_JOB, .is_shared = true };
	struct st_queue q;

	if (node)
		return;
	if (!program_process()) {
		q = st_open_as(&s);
		*(struct st_queue *)m->arg = q;
	}
	program_wait(1000 * SIM_NS);
	/* each writes the next entries of one queue, and rings */
	for (uint32_t i = 0; i < 10; i++) {
		struct st_queue *both = (struct st_queue *)m->arg;
		struct swhni_descriptor d =
			st_write(0, 4096 * (1 + program_process()) + 64 * i, 8);

		d.id = 100 * program_process() + i;
		both->process = program_process();
		st_post(both, &d);
		program_wait(program_now() + 100 * SIM_NS);
	}
	if (program_process())
		return;
	program_wait(100000 * SIM_NS);
	q = *(struct st_queue *)m->arg;
	for (uint32_t i = 0; i < 20; i++) {
		struct workq_completion c = st_wait(&q);

		assert_int_equal(SWHNI_ERROR_OF(c.status), SWHNI_OK);
		m->word[c.id / 100] |= 1u << c.id % 100;
	}
}

/* SUN-F39, SUN-F40 */
static void processes_of_a_job_share_a_send_queue(void **state)
{
	struct st_queue both = { 0 };
	struct st m;

	st_init(&m);
	m.arg = &both;
	m.n_processes = 2;
	st_run(&m, 1, shared_program);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(m.word[i], 0x3ff);
	st_fini(&m);
}

TESTS(TEST(processes_of_a_job_share_a_send_queue),
	TEST(ways_are_faster_the_nearer_the_target_is),
	TEST(queues_with_long_messages_get_equal_shares),
	TEST(fast_messages_pass_short_ones_and_these_long_ones),
	TEST(a_short_message_does_not_wait_for_its_turn_among_long_ones),
	TEST(a_fast_short_message_has_a_path_of_its_own),
	TEST(one_message_under_way_is_slower_than_many),
	TEST(an_engine_has_256_messages_under_way),
	TEST(a_processor_with_both_engines_fills_both_ports),
	TEST(each_processor_has_its_own_engine_otherwise))
