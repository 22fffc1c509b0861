/* Who has interfaces: owners one after the other, and several at a time. */
#include <errno.h>

#include "nic/swhni/collective_testing.h"
#include "testing/testing.h"

enum { ROUNDS = 100 };

#define STEP  (25 * (sim_time)SIM_NS)
#define ROUND (20000 * (sim_time)SIM_NS)

/* A moment of a round that is later in each. */
static sim_time moment(uint32_t i)
{
	return (1 + i) * ROUND + i * STEP;
}

/* --- receive queues that end while messages come --- */

/* Node 0's queue moves to another place in each round; a word of each slot of
 * the old place must stay as it is then. */
static void move_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct nic_at a;

	for (uint32_t i = 0; node && i < ROUNDS; i++) {
		struct swhni_descriptor d = st_write(0, 0, 64);

		program_wait((1 + i) * ROUND);
		d.type = SWHNI_SEND;
		st_post(&q, &d);
		m->seen += st_error(&q) == SWHNI_OK;
	}
	for (uint32_t i = 0; !node && i < ROUNDS; i++) {
		uint64_t from = q.at + ST_RECEIVE + i % 2 * 0x8000;
		uint64_t to = q.at + ST_RECEIVE + (i + 1) % 2 * 0x8000;

		program_wait(moment(i));
		a = st_now(&q);
		assert_int_equal(swhni_close_receive(&a, q.interface), 0);
		for (uint32_t k = 0; k < 8; k++)
			st_store(from + k * SWHNI_SLOT, 1000 + i);
		assert_int_equal(swhni_open_receive(&a, q.interface, to, 8), 0);
		program_wait(moment(i) + ROUND / 2);
		for (uint32_t k = 0; k < 8; k++)
			assert_int_equal(
				st_load(from + k * SWHNI_SLOT), 1000 + i);
	}
}

static void a_message_does_not_come_to_where_its_queue_was(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, move_program);
	/* it came, and who closes a queue loses what is in it */
	assert_int_equal(m.seen, ROUNDS);
	assert_true(nic_count(m.kit.nic, 0, "strays") > 2);
	st_fini(&m);
}

/* --- owners one after the other --- */

/* Each has short messages under way when the broker takes its interface. */
static void owner_program(struct st *m, site_id node)
{
	struct swhni_descriptor d = st_write(1, 4096, 8);
	uint64_t word = 77;
	struct st_queue q;
	struct nic_at a;

	if (node) {
		st_open();
		return;
	}
	d.type = SWHNI_FSM_WRITE;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		q = st_open();
		assert_int_equal(q.interface, 0);
		program_wait((1 + i) * ROUND);
		a = st_now(&q);
		/* what the one before had is not its own */
		for (uint32_t k = 0; k < 16; k++)
			assert_int_equal(
				swhni_fsm(&a, 0, 0, &d, &word, a.t, a.t), 0);
		assert_int_equal(
			swhni_fsm(&a, 0, 0, &d, &word, a.t, a.t), EAGAIN);
		program_wait(moment(i));
		a = st_now(&q);
		swhni_take_back(&a, 0);
		assert_null(swhni_interface(q.nic, 0, 0));
	}
}

static void each_owner_has_the_whole_window(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, owner_program);
	st_fini(&m);
}

/* --- SUN-F59: jobs that leave in the midst of collectives --- */

enum { MEMBERS = 8, TURNS = 12 };

/* Node 0 is the parent of all others. */
static uint32_t write_list(site_id node)
{
	struct swhni_member list[MEMBERS] = {
		{ .node = node ? 0 : SWHNI_NO_NODE },
	};
	uint32_t n = node ? 0 : MEMBERS - 1;

	for (uint32_t i = 1; i <= n; i++)
		list[i].node = i;
	assert_true(program_write(
		ST_SOURCE + CT_LIST, list, (1 + n) * sizeof(*list)));
	return n;
}

/* In the last turn all barriers must succeed; in others all leave. */
static void turns_program(struct st *m, site_id node)
{
	uint32_t n = write_list(node);
	struct st_queue q;

	for (uint32_t k = 0; k < TURNS; k++) {
		struct swhni_setup s = { .job = SWHNI_JOB(ST_JOB, k) };
		sim_time begin = (1 + k) * ROUND;
		struct nic_at a;

		q = st_open_as(&s);
		assert_int_equal(q.interface, 0);
		for (uint32_t i = 0; i < 4; i++) {
			struct swhni_collective c = ct_descriptor(node, i, n);

			program_wait(begin + (node * 7 + k) % 5 * 200 * SIM_NS);
			ct_post(&q, &c, NULL);
			if (k < TURNS - 1)
				continue;
			assert_int_equal(st_error(&q), SWHNI_OK);
			m->word[node]++;
		}
		program_wait(begin + (1 + k + node % 3) * 200 * SIM_NS);
		a = st_now(&q);
		if (k < TURNS - 1)
			swhni_leave(&a, s.job);
	}
}

static void a_next_job_has_collectives_of_its_own(void **state)
{
	for (uint32_t by_queue = 0; by_queue < 2; by_queue++) {
		struct st m;

		st_init(&m);
		m.may_err = true;
		ct_set(MEMBERS, MEMBERS);
		ct_plan.by_queue = by_queue;
		ct_plan.entry = SWHNI_NO_ENTRY;
		for (uint32_t i = 0; i < 4; i++)
			ct_add(SWHNI_BARRIER, 0, 0, 0);
		st_run(&m, MEMBERS, turns_program);
		for (uint32_t i = 0; i < MEMBERS; i++)
			assert_int_equal(m.word[i], 4);
		st_fini(&m);
	}
}

/* --- SUN-F39, SUN-F40: an interface of several processes --- */

enum { TICKETS = 0x80000, EACH = 40 };

/* A place in the send queue, its entry, and the doorbell. */
static void post_shared(const struct st_queue *q, struct swhni_descriptor *d)
{
	struct nic_at a = st_now(q);
	uint64_t ticket;

	assert_true(program_atomic(ATOMIC_LOAD_INCREMENT, TICKETS, 1, &ticket));
	d->id = ticket;
	assert_true(program_write(
		q->at + ticket % ST_ENTRIES * sizeof(*d), d, sizeof(*d)));
	assert_int_equal(swhni_ring(&a, q->interface, q->process,
				 (uint32_t)ticket + 1, 0, a.t, a.t),
		0);
}

static void shared_program(struct st *m, site_id node)
{
	uint32_t process = program_process();
	struct swhni_setup s = { .job = ST_JOB, .is_shared = true };
	struct st_queue q = { .nic = host_nic(program_host()),
		.at = ST_RINGS,
		.process = process };
	struct swhni_descriptor d = st_write(1, process * 4096, 8);

	if (!process)
		st_open_as(&s);
	if (node || process % 2)
		return;
	program_wait(ROUND);
	st_store(ST_SOURCE + process * 4096, 100 + process);
	d.flags = 0;
	for (uint32_t i = 0; i < EACH; i++) {
		d.offset = process * 4096 + i * 8;
		post_shared(&q, &d);
		program_wait(program_now() + 310 * SIM_NS);
	}
}

static void processes_post_to_one_queue_at_the_same_time(void **state)
{
	struct st m;

	st_init(&m);
	m.n_processes = 4;
	st_run(&m, 2, shared_program);
	for (uint32_t p = 0; p < 4; p += 2)
		for (uint32_t i = 0; i < EACH; i++)
			assert_int_equal(
				st_word_at(&m, 1, ST_TARGET + p * 4096 + i * 8),
				100 + p);
	assert_int_equal(nic_count(m.kit.nic, 0, "messages"), 2 * EACH);
	st_fini(&m);
}

TESTS(TEST(a_message_does_not_come_to_where_its_queue_was),
	TEST(each_owner_has_the_whole_window),
	TEST(a_next_job_has_collectives_of_its_own),
	TEST(processes_post_to_one_queue_at_the_same_time))
