/* Tagged ports: what is matched with what, when, and where the time goes. */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "testing/testing.h"

#define open_port tpt_open
#define send	  tpt_send
#define post	  tpt_post
#define expect	  tpt_expect
#define ALL	  TPT_ALL

static struct tpt_told told;

static void run(struct et *m, void (*a)(void *), void (*b)(void *), void *arg)
{
	tpt_run(m, &told, a, b, arg);
}

static sim_time spent(uint32_t i, enum cause c)
{
	return told.of[i].budget.spent[c];
}

/* --- one message --- */

struct one {
	uint32_t bytes, posted;
};

static void send_one(void *arg)
{
	const struct one *x = arg;
	struct elan_tport t = open_port();

	program_wait(40 * US);
	send(&t, 1, 7, x->bytes);
}

/* So many receives in front that do not match. */
static void receive_one(void *arg)
{
	const struct one *x = arg;
	struct elan_tport t = open_port();
	uint32_t handle;

	for (uint32_t i = 0; i < x->posted; i++)
		post(&t, 0, 100 + i, ALL, ET_TARGET + 8192, 8);
	handle = post(&t, 0, 7, ALL, ET_TARGET, x->bytes);
	program_wait(39 * US);
	expect(&t, handle, 7, ET_TARGET, x->bytes);
}

static void run_one(struct et *m, uint32_t bytes, uint32_t posted)
{
	struct one x = { bytes, posted };

	run(m, send_one, receive_one, &x);
	assert_int_equal(told.n, 1);
}

/* Every picosecond of it: no CPU has a part in it behind the store, and
 * nothing else was on the bus. */
static void the_parts_of_a_matched_message(void **state)
{
	struct et *m = *state;
	const struct elan_host *h = &m->params.host[0];
	const struct elan_params *p = &m->params;

	m->params.cache.on = 0;
	run_one(m, 8, 0);
	assert_int_equal(spent(0, CAUSE_SOFTWARE), p->software + h->mpi / 2);
	assert_int_equal(spent(0, CAUSE_ENGINE),
		p->thread_swap + p->match.cycles * p->thread_clock);
	assert_int_equal(spent(0, CAUSE_ENGINE), 300 * SIM_NS);
	assert_int_equal(spent(0, CAUSE_MEMORY_WRITE),
		p->input + p->bus.turn + h->dma_overhead + 7500 +
			h->dma_overhead + 4 * 7500 + h->see);
	assert_int_equal(spent(0, CAUSE_RECEIVER), 0);
	assert_int_equal(spent(0, CAUSE_WIRE), 40 * SIM_NS);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 1);
	assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], 0);
	assert_int_equal(et_counts(m, 1).noted[ELAN_ELEMENTS], 1);
}

/* From the packet's end behind the input to the first request for the bus, for
 * any number of bytes. */
static void qsn_n64_a_match_takes_300_ns(void **state)
{
	struct et *m = *state;
	static const uint32_t bytes[] = { 0, 8, 60, 64, 72, 512 };

	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		m->params.cache.on = 0;
		run_one(m, bytes[i], 0);
		assert_int_equal(spent(0, CAUSE_ENGINE), 300 * SIM_NS);
		et_fini(m);
		et_init(m, "4");
	}
	run_one(m, 8, 0);
}

/* Each further element of the list takes 20 ns. */
static void qsn_g17_elements_are_looked_at_one_by_one(void **state)
{
	struct et *m = *state;

	for (uint32_t k = 0; k < 20; k += 3) {
		m->params.cache.on = 0;
		run_one(m, 8, k);
		/* taking the last one out of the list is a part of it */
		assert_int_equal(
			spent(0, CAUSE_ENGINE), (300 + 20 * k) * SIM_NS);
		assert_int_equal(et_counts(m, 1).noted[ELAN_ELEMENTS], k + 1);
		et_fini(m);
		et_init(m, "4");
	}
	run_one(m, 8, 0);
}

/* --- many --- */

enum { MANY = 40 };

static void send_many(void *arg)
{
	struct elan_tport t = open_port();

	program_wait(60 * US);
	for (uint32_t i = 0; i < MANY; i++)
		send(&t, 1, 5, 0);
}

static void receive_many(void *arg)
{
	struct elan_tport t = open_port();
	uint32_t handle[MANY];

	for (uint32_t i = 0; i < MANY; i++)
		handle[i] = post(&t, 0, 5, ALL, ET_TARGET, 0);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(elan_tport_wait(&t, handle[i], NULL), 0);
}

/* A thread that finds its next message waiting is not swapped. */
static void the_next_message_takes_235_ns(void **state)
{
	struct et *m = *state;

	m->params.cache.on = 0;
	run(m, send_many, receive_many, NULL);
	assert_int_equal(told.n, MANY);
	for (uint32_t i = MANY / 2; i < MANY; i++)
		assert_int_equal(
			told.of[i].budget.at - told.of[i - 1].budget.at,
			235 * SIM_NS);
}

enum { AHEAD = 40, AS_IT_GOES = 300 };

static void send_steadily(void *arg)
{
	struct elan_tport t = open_port();

	program_wait(60 * US);
	for (uint32_t i = 0; i < AS_IT_GOES; i++)
		send(&t, 1, 5, 0);
}

static void receive_steadily(void *arg)
{
	struct elan_tport t = open_port();
	uint32_t handle[AHEAD];

	for (uint32_t i = 0; i < AHEAD; i++)
		handle[i] = post(&t, 0, 5, ALL, ET_TARGET, 0);
	for (uint32_t i = 0; i < AS_IT_GOES; i++) {
		uint32_t *h = &handle[i % AHEAD];

		assert_int_equal(elan_tport_wait(&t, *h, NULL), 0);
		if (i + AHEAD < AS_IT_GOES)
			*h = post(&t, 0, 5, ALL, ET_TARGET, 0);
	}
}

/* The time of each; the core is faster than the bus. */
static sim_time time_with_new_receives(struct et *m)
{
	m->params.cache.on = 0;
	m->params.match.cycles = 16;
	m->params.thread_swap = m->params.thread_clock;
	m->params.host[0].mpi = 0;
	m->params.software = m->params.poll_load = 0;
	m->params.poll_period = 1000;
	run(m, send_steadily, receive_steadily, NULL);
	assert_int_equal(told.n, AS_IT_GOES);
	return (told.of[AS_IT_GOES - AHEAD].budget.at -
		       told.of[2 * AHEAD].budget.at) /
	       (AS_IT_GOES - 3 * AHEAD);
}

/* A burst of stores and one of the card for each message, 142.5 and 130.9 ns,
 * and a turn before each: where the thread is fast enough, too, the bus is
 * never idle. */
static void with_new_receives_it_takes_287_ns(void **state)
{
	struct et *m = *state;

	m->params.thread_clock = 1000;
	assert_in_range(time_with_new_receives(m), 286950, 287050);
}

/* Senders are faster than that, so messages come before their receives.  Then
 * the thread works for each of them twice: it keeps the message, and moves it
 * out of its slot; and it finds it for the receive.  At its own clock that
 * leaves the bus idle now and then. */
static void the_thread_keeps_early_messages_and_the_bus_waits(void **state)
{
	struct et *m = *state;

	assert_in_range(time_with_new_receives(m), 295000, 303000);
	assert_in_range(
		et_counts(m, 1).noted[ELAN_EARLY], AS_IT_GOES / 2, AS_IT_GOES);
	assert_true(et_counts(m, 1).noted[ELAN_MOVED]);
}

/* --- early and late, masks and anyone --- */

static void send_tags(void *arg)
{
	struct elan_tport t = open_port();

	program_wait((20 + 10 * weft_node()) * US);
	send(&t, 1, 0x1100 + weft_node(), 24);
	send(&t, 1, 0x2200 + weft_node(), 100);
	send(&t, 1, 0x1100 + weft_node(), 2048);
}

static void receive_early(void *arg)
{
	struct elan_tport t = open_port();
	uint32_t h[4];

	program_wait(80 * US);
	/* any node, some bits of the tag: the first that came */
	h[0] = post(&t, ELAN_TPORT_ANY, 0x2200, 0xff00, ET_TARGET, 100);
	expect(&t, h[0], 0x2200, ET_TARGET, 100);
	/* a node, and any tag */
	h[1] = post(&t, 2, 0, 0, ET_TARGET, 4096);
	expect(&t, h[1], 0x1102, ET_TARGET, 24);
	/* a tag, and any node: node 0's two messages in their order */
	h[2] = post(&t, ELAN_TPORT_ANY, 0x1100, ALL, ET_TARGET, 4096);
	h[3] = post(&t, ELAN_TPORT_ANY, 0x1100, ALL, ET_TARGET + 4096, 4096);
	expect(&t, h[2], 0x1100, ET_TARGET, 24);
	expect(&t, h[3], 0x1100, ET_TARGET + 4096, 2048);
	h[0] = post(&t, 2, 0, 0, ET_TARGET, 4096);
	expect(&t, h[0], 0x2202, ET_TARGET, 100);
	h[1] = post(&t, 2, 0, 0, ET_TARGET, 4096);
	expect(&t, h[1], 0x1102, ET_TARGET, 2048);
}

static void qsn_f61_early_messages_wait_on_the_card(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, send_tags, NULL }, { 1, receive_early, NULL },
		{ 2, send_tags, NULL });
	assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], 6);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 6);
	assert_int_equal(et_counts(m, 0).nacks, 0);
}

static void receive_posted(void *arg)
{
	struct elan_tport t = open_port();
	uint32_t h[6];

	h[0] = post(&t, 2, 0x1100, 0xff00, ET_TARGET, 4096);
	h[1] = post(&t, ELAN_TPORT_ANY, 0x2200, ALL, ET_TARGET + 4096, 4096);
	h[2] = post(&t, 0, 0, 0, ET_TARGET + 8192, 4096);
	h[3] = post(&t, ELAN_TPORT_ANY, 0, 0, ET_TARGET + 12288, 4096);
	h[4] = post(&t, ELAN_TPORT_ANY, 0, 0, ET_TARGET + 16384, 4096);
	h[5] = post(&t, 2, 0x1102, ALL, ET_TARGET + 20480, 4096);
	expect(&t, h[0], 0x1102, ET_TARGET, 24);
	expect(&t, h[1], 0x2200, ET_TARGET + 4096, 100);
	expect(&t, h[2], 0x1100, ET_TARGET + 8192, 24);
	expect(&t, h[3], 0x1100, ET_TARGET + 12288, 2048);
	expect(&t, h[4], 0x2202, ET_TARGET + 16384, 100);
	expect(&t, h[5], 0x1102, ET_TARGET + 20480, 2048);
}

/* The first posted receive that matches gets it. */
static void qsn_f61_posted_receives_match_in_their_order(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, send_tags, NULL }, { 1, receive_posted, NULL },
		{ 2, send_tags, NULL });
	assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], 0);
}

static void receive_late(void *arg)
{
	struct elan_tport t = open_port();

	program_wait(140 * US);
	expect(&t, post(&t, 0, 7, ALL, ET_TARGET, 8), 7, ET_TARGET, 8);
}

/* It waits for its receiver; the search and the copy come behind. */
static void an_early_message_waits_for_its_receive(void **state)
{
	struct et *m = *state;
	struct one x = { 8, 0 };
	sim_time waits;

	m->params.cache.on = 0;
	run(m, send_one, receive_late, &x);
	waits = spent(0, CAUSE_RECEIVER);
	assert_in_range(waits, 98 * US, 100 * US);
	/* looked at twice, once behind a swap that is its own */
	assert_int_equal(spent(0, CAUSE_ENGINE), (300 + 235) * SIM_NS);
}

/* --- order --- */

enum { FLOOD = 300 };

static void send_flood(void *arg)
{
	struct elan_tport t = open_port();

	program_wait(20 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		send(&t, 1, 1 + i, 8 * (i % 64));
}

static void receive_flood(void *arg)
{
	struct elan_tport t = open_port();
	struct elan_tport_status s;
	uint32_t handle;

	program_wait(30 * US);
	for (uint32_t i = 0; i < FLOOD; i++) {
		handle = post(&t, 0, 0, 0, ET_TARGET, 512);
		assert_int_equal(elan_tport_wait(&t, handle, &s), 0);
		assert_int_equal(s.tag, 1 + i);
		et_expect(ET_TARGET, 1 + i, s.bytes);
	}
}

/* Slots run out, packets come again, and some overtake others. */
static void qsn_f61_a_senders_messages_match_in_order(void **state)
{
	struct et *m = *state;

	m->params.match.slots = 8;
	et_run_two(m, send_flood, receive_flood, NULL);
	assert_true(et_counts(m, 0).nacks > 10);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
}

/* All receives at once, which the thread takes up slowly. */
static void receive_all(void *arg)
{
	struct elan_tport t = open_port();
	uint32_t handle[200];

	for (uint32_t i = 0; i < 200; i++)
		handle[i] = post(&t, 0, 0, 0, ET_TARGET + 512 * i, 512);
	for (uint32_t i = 0; i < 200; i++) {
		struct elan_tport_status s;

		assert_int_equal(elan_tport_wait(&t, handle[i], &s), 0);
		assert_int_equal(s.tag, 1 + i);
	}
}

static void send_some(void *arg)
{
	struct elan_tport t = open_port();

	program_wait(20 * US);
	for (uint32_t i = 0; i < 200; i++)
		send(&t, 1, 1 + i, 8);
}

/* Records wait in their command queue while there is no slot. */
static void receives_are_posted_in_order(void **state)
{
	struct et *m = *state;

	m->params.thread_block = 1000000;
	et_run_two(m, send_some, receive_all, NULL);
	assert_int_equal(et_counts(m, 1).nacks, 0);
}

/* --- misuse --- */

static void misuse_program(void *arg)
{
	struct elan_tport_options o = {
		.port = TPT_PORT, .queue = TPT_QUEUE, .handles = 2, .at = TPT_AT
	};
	struct elan_tport t;
	uint32_t h;

	o.port = ELAN_TPORTS;
	assert_int_equal(elan_tport_open(&t, &o), EINVAL);
	assert_int_equal(elan_tport_tx_start(&t, 1, 1, 0, 8, &h), EBADF);
	assert_int_equal(elan_tport_rx_start(&t, 1, 1, 1, 0, 8, &h), EBADF);
	assert_int_equal(elan_tport_wait(&t, 1, NULL), EINVAL);
	o.port = TPT_PORT;
	o.handles = 0;
	assert_int_equal(elan_tport_open(&t, &o), EINVAL);
	o.handles = 2;
	o.at = TPT_AT + 8;
	assert_int_equal(elan_tport_open(&t, &o), EINVAL);
	o.at = ET_MEMORY;
	assert_int_equal(elan_tport_open(&t, &o), EFAULT);
	o.at = TPT_AT;
	assert_int_equal(elan_tport_open(&t, &o), 0);
	assert_int_equal(elan_tport_tx_start(&t, 4, 1, 0, 8, &h), EINVAL);
	assert_int_equal(
		elan_tport_tx_start(&t, 1, 1, ET_MEMORY, 8, &h), EFAULT);
	assert_int_equal(elan_tport_rx_start(&t, 4, 1, 1, 0, 8, &h), EINVAL);
	assert_int_equal(
		elan_tport_rx_start(&t, 1, 1, 1, ET_MEMORY, 8, &h), EFAULT);
	assert_int_equal(elan_tport_wait(&t, 3, NULL), EINVAL);
	assert_int_equal(elan_tport_wait(&t, 0, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		post(&t, 1, i, ALL, ET_TARGET, 8);
	assert_int_equal(elan_tport_rx_start(&t, 1, 1, 1, 0, 8, &h), EAGAIN);
	assert_int_equal(elan_tport_test(&t, 1, NULL), EINPROGRESS);
}

static void mistakes_are_errors(void **state)
{
	et_run_two(*state, misuse_program, NULL, NULL);
}

static void receive_short(void *arg)
{
	struct elan_tport t = open_port();
	struct elan_tport_status s;
	uint32_t h = post(&t, 0, 7, ALL, ET_TARGET, 48);
	int code;

	et_fill(ET_TARGET, 99, 100);
	while ((code = elan_tport_test(&t, h, &s)) == EINPROGRESS)
		program_charge(1 * US);
	assert_int_equal(code, EMSGSIZE);
	assert_int_equal(s.bytes, 100);
	et_expect(ET_TARGET, 7, 48);
	assert_int_equal(et_word(ET_TARGET + 48) & 255, et_byte(99, 48));
}

/* The bytes that fit are there, and no others. */
static void a_receive_may_be_too_short(void **state)
{
	struct one x = { 100, 0 };

	et_run_two(*state, send_one, receive_short, &x);
}

TESTS(ET_TEST(the_parts_of_a_matched_message),
	ET_TEST(qsn_n64_a_match_takes_300_ns),
	ET_TEST(qsn_g17_elements_are_looked_at_one_by_one),
	ET_TEST(the_next_message_takes_235_ns),
	ET_TEST(with_new_receives_it_takes_287_ns),
	ET_TEST(the_thread_keeps_early_messages_and_the_bus_waits),
	ET_TEST(qsn_f61_early_messages_wait_on_the_card),
	ET_TEST(qsn_f61_posted_receives_match_in_their_order),
	ET_TEST(an_early_message_waits_for_its_receive),
	ET_TEST(qsn_f61_a_senders_messages_match_in_order),
	ET_TEST(receives_are_posted_in_order), ET_TEST(mistakes_are_errors),
	ET_TEST(a_receive_may_be_too_short))
