/*
 * Copies of events that their queue has no room for: who waits, who does not,
 * and what never can be; and how fast packets are built by events.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define MAPPED UINT64_C(0xffff000000000000)

enum { QUEUE = 5, WORDS = ELAN_COPY_MOST / 8 };

static void run_one(struct et *m, void (*program)(void *), void *arg)
{
	struct et_program p = { 0, program, arg };

	et_run(m, 1, &p, 1);
}

/* --- rates --- */

enum { BURST = 1024, WAYS = 32 };

/* One packet for each of many events; QSN-N38: over four millions a second. */
static void rate_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[ET_PACKET_WORDS], adds[64];
	sim_time *took = arg;
	uint32_t k, n;

	for (k = 0; k < WAYS; k++) {
		struct et_queue mapped = et_open(100 + k);

		et_map(&mapped, MAPPED + ELAN_PAGE * k);
	}
	et_arm(&q, 1, BURST);
	for (k = 0; k < BURST; k++) {
		/* 64 bytes of commands with 24 of data; acknowledged: event 1
		 */
		n = et_packet(w, 1 + k % 3, ET_TARGET + 64 * k, k, 32, 0, 1);
		et_wait_room(&q, 1024);
		et_arm_copy(
			&q, 10 + k, 1, MAPPED + ELAN_PAGE * (k % WAYS), w, n);
	}
	et_wait_room(&q, 64 << 10);
	*took = program_now();
	for (k = 0; k < BURST; k++) {
		adds[k % 64] = elan_word(ELAN_ADD, 10 + k, 1);
		if (k % 64 == 63)
			et_push(&q, adds, 64);
	}
	et_wait_event(1);
	*took = program_now() - *took;
}

static void events_build_over_four_million_packets_a_second(void **state)
{
	sim_time took;
	struct et m;

	et_init(&m, "4");
	run_one(&m, rate_program, &took);
	assert_int_equal(et_counts(&m, 0).packets, BURST);
	assert_in_range(took / BURST, 230 * SIM_NS, 245 * SIM_NS);
	et_fini(&m);
}

/* --- a full queue --- */

enum { MANY = 60 };

/*
 * Copies of 20 commands each to a queue of 1 KB that works slowly; behind them
 * a queue that has room, and one of another context.
 */
static void full_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	struct et_queue full =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t w[60], store[3], adds[MANY];
	const struct et *m = arg;
	uint32_t k, i;

	et_map(&full, MAPPED);
	et_map(&other, MAPPED + ELAN_PAGE);
	for (k = 1; k <= MANY; k++) {
		for (i = 0; i < 20; i++)
			et_store_words(w + 3 * i, ET_TARGET + 8 * i, k);
		et_arm_copy(&q, k, 1, MAPPED, w, 60);
		adds[k - 1] = elan_word(ELAN_ADD, k, 1);
	}
	et_store_words(store, ET_FLAG, 1);
	et_arm_copy(&q, 100, 1, MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 101, 1, ET_FLAG + 8, store, 1);
	et_wait_room(&q, 64 << 10);
	et_push(&q, adds, MANY);
	et_add(&q, 100, 1);
	et_add(&q, 101, 1);
	/* those two are not held up */
	et_wait_word(ET_FLAG + 8, ELAN_STORE);
	et_wait_word(ET_FLAG, 1);
	assert_true(et_node(m, 0)->events->inside > MANY / 2);
	assert_int_equal(elan_queue_close(et_card(), 0, QUEUE), EBUSY);
	/* in order, and all */
	for (k = 1; k <= MANY; k++)
		et_wait_word(ET_TARGET + 8 * 19, k);
	et_wait_room(&full, 1024);
	assert_int_equal(et_node(m, 0)->events->inside, 0);
	assert_int_equal(et_error(&full), ELAN_FINE);
	assert_int_equal(elan_queue_close(et_card(), 0, QUEUE), 0);
}

static void copies_wait_for_a_full_queue(void **state)
{
	struct et m;

	et_init(&m, "4");
	m.params.command_rate = 20000000;
	run_one(&m, full_program, &m);
	assert_int_equal(et_counts(&m, 0).copied, MANY * 480 + 24 + 8);
	et_fini(&m);
}

/*
 * Room that comes back by acknowledgements; packets of others wait, too.  Short
 * ones wait in the queue while copies wait for it.
 */
static uint32_t acks_bytes(uint32_t k)
{
	return k % 4 == 3 ? 512 : 150;
}

static void acks_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue full =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t w[ET_PACKET_WORDS];
	uint32_t k, n;

	et_map(&full, MAPPED);
	et_arm(&q, 1, 30);
	for (k = 0; k < 30; k++) {
		n = et_packet(
			w, 1, ET_TARGET + 512 * k, k, acks_bytes(k), 0, 1);
		et_arm_copy(&q, 10 + k, 1, MAPPED, w, n);
	}
	program_wait(200 * US);
	for (k = 0; k < 30; k++)
		et_add(&q, 10 + k, 1);
	et_wait_event(1);
	assert_int_equal(et_error(&full), ELAN_FINE);
}

static void acks_sender(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[] = { elan_word(ELAN_OPEN, 0, 0),
		elan_word(ELAN_WRITE, 8, 0), MAPPED, ELAN_INTERRUPT,
		elan_word(ELAN_CLOSE, 1, 0) };

	et_arm(&q, 1, 1);
	program_wait(225 * US);
	et_push(&q, w, 5);
	et_wait_event(1);
	assert_true(program_now() > 300 * US);
}

static void acks_check(void *arg)
{
	uint32_t k;

	program_wait(2000 * US);
	for (k = 0; k < 30; k++)
		et_expect(ET_TARGET + 512 * k, k, acks_bytes(k));
}

static void copies_wait_for_acknowledgements(void **state)
{
	struct et_program p[] = { { 0, acks_program, NULL },
		{ 1, acks_check, NULL }, { 2, acks_sender, NULL } };
	struct et m;

	et_init(&m, "4");
	m.params.input = 10 * US;
	m.params.retry.timeout = 1000 * US;
	m.params.retry.back_off = US;
	et_run(&m, 1, p, 3);
	assert_int_equal(et_counts(&m, 0).interrupts, 1);
	assert_true(et_counts(&m, 2).nacks > 0);
	et_fini(&m);
}

/* A command is half there, and its end is coming when a copy waits. */
static void coming_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue full =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t w[WORDS] = { elan_word(ELAN_ARM_COPY, 9, 720), 1, ET_TARGET };

	et_map(&full, MAPPED);
	et_arm_copy(&q, 1, 1, MAPPED, w, 63);
	memset(w, 0, sizeof(w));
	w[59] = elan_word(ELAN_ADD, 9, 1);
	et_arm_copy(&q, 2, 1, MAPPED, w, 60);
	program_wait(100 * US);
	et_add(&q, 1, 1);
	program_wait(105 * US);
	assert_int_equal(et_room(&full), 1024 - 8 * (63 + 30));
	et_add(&q, 2, 1);
	program_charge(2 * US);
	assert_int_equal(et_error(&full), ELAN_FINE);
	et_wait_word(ET_TARGET + 712, 77);
	assert_in_range(program_now(), 112 * US, 116 * US);
}

static void coming_sender(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[33] = { elan_word(ELAN_OPEN, 0, 0),
		elan_word(ELAN_WRITE, 240, 0) | ELAN_CLOSES, MAPPED };

	w[32] = 77;
	program_wait(102 * US);
	et_push(&q, w, 33);
}

static void copies_wait_for_words_under_way(void **state)
{
	struct et_program p[] = { { 0, coming_program, NULL },
		{ 1, coming_sender, NULL } };
	struct et m;

	et_init(&m, "4");
	m.params.input = 10 * US;
	m.params.retry.timeout = 1000 * US;
	et_run(&m, 1, p, 2);
	et_fini(&m);
}

/* --- what cannot go on --- */

static void stuck_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);
	struct et_queue full =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t w[WORDS] = { 0 }, store[3];
	uint32_t n = et_packet(w, 1, ET_TARGET, 1, 512, 0, 0), k;

	et_map(&full, MAPPED);
	et_map(&r, MAPPED + ELAN_PAGE);
	et_store_words(store, ET_FLAG, 1);
	/* deeper than the queue */
	et_arm_copy(&q, 1, 1, MAPPED, w, 129);
	et_add(&q, 1, 1);
	et_wait_error(&full, ELAN_ERROR_OVERFLOW);
	assert_int_equal(elan_queue_restart(et_card(), 0, QUEUE), 0);
	/* a packet that lacks its end, which has no room: two ones follow */
	et_arm_copy(&q, 1, 1, MAPPED, w, n - 1);
	for (k = 2; k < 5; k++)
		et_arm_copy(&q, k, 1, MAPPED, w, 80);
	et_arm_copy(&q, 6, 1, MAPPED + ELAN_PAGE, store, 3);
	for (k = 1; k < 7; k++)
		et_add(&q, k, 1);
	et_wait_error(&full, ELAN_ERROR_OVERFLOW);
	et_wait_word(ET_FLAG, 1);
	/* it drops what comes then, and begins anew */
	et_arm_copy(&q, 1, 1, MAPPED, w, n);
	et_add(&q, 1, 1);
	program_charge(10 * US);
	assert_int_equal(elan_queue_restart(et_card(), 0, QUEUE), 0);
	store[2] = 2;
	et_arm_copy(&q, 1, 1, MAPPED, store, 3);
	et_add(&q, 1, 1);
	et_wait_word(ET_FLAG, 2);
	assert_int_equal(et_error(&full), ELAN_FINE);
}

static void what_never_fits_stops_its_queue(void **state)
{
	struct et m;

	et_init(&m, "4");
	run_one(&m, stuck_program, NULL);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_OVERFLOW], 2);
	assert_int_equal(et_counts(&m, 0).packets, 0);
	assert_int_equal(et_node(&m, 0)->events->bytes, 0);
	et_fini(&m);
}

/* A queue that is stopped or closed while copies to it wait or come. */
static void gone_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);
	struct et_queue bad =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_STORE, ET_CONTEXT);
	uint64_t w[WORDS] = { 0 }, store[3];
	uint32_t k;

	et_map(&bad, MAPPED);
	et_map(&r, MAPPED + ELAN_PAGE);
	et_store_words(store, ET_FLAG, 1);
	/* the first has a command without its right, at its end */
	w[99] = ELAN_INTERRUPT;
	for (k = 1; k < 9; k++)
		et_arm_copy(&q, k, 1, MAPPED, w, 100);
	for (k = 1; k < 9; k++)
		et_add(&q, k, 1);
	et_wait_error(&bad, ELAN_ERROR_RIGHT);
	while (elan_queue_close(et_card(), 0, QUEUE))
		program_charge(US);
	program_charge(20 * US);
	/* armed when it was there, fired when it is not */
	et_arm_copy(&q, 1, 1, MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 2, 1, MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 3, 1, ET_FLAG, store + 2, 1);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), 0);
	for (k = 1; k < 4; k++)
		et_add(&q, k, 1);
	et_wait_word(ET_FLAG, 1);
	assert_int_equal(et_error(&q), ELAN_FINE);
	/* now that cannot be armed either */
	et_arm_copy(&q, 1, 1, MAPPED + ELAN_PAGE, store, 3);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
}

static void queues_may_go_away(void **state)
{
	struct et m;

	et_init(&m, "4");
	run_one(&m, gone_program, NULL);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_RIGHT], 1);
	/* copies that come when it is closed already, too */
	assert_in_range(et_counts(&m, 0).errors[ELAN_ERROR_ADDRESS], 3, 3 + 7);
	assert_int_equal(et_counts(&m, 0).interrupts, 0);
	et_fini(&m);
}

/* --- protection --- */

static void protected_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	uint64_t w[3], at = MAPPED + ELAN_PAGE;
	struct refused {
		uint32_t event, context;
		uint64_t to;
		uint32_t words;
		enum elan_error why;
	} x[] = {
		/* another context's memory, queue and event */
		{ 2, ET_OTHER, ET_FLAG, 1, ELAN_ERROR_ADDRESS },
		{ 2, ET_OTHER, ET_OTHER_AT + ET_OTHER_BYTES - 8, 2,
			ELAN_ERROR_ADDRESS },
		{ 2, ET_OTHER, at, 3, ELAN_ERROR_ADDRESS },
		{ 1, ET_OTHER, ET_OTHER_AT, 1, ELAN_ERROR_RIGHT },
		/* beyond the page, and between words */
		{ 2, ET_CONTEXT, at + ELAN_PAGE - 16, 3, ELAN_ERROR_ADDRESS },
		{ 2, ET_CONTEXT, at - 8, 3, ELAN_ERROR_ADDRESS },
		{ 2, ET_CONTEXT, at + 4, 3, ELAN_ERROR_ADDRESS },
	};
	uint32_t i;

	et_map(&mapped, at);
	et_store_words(w, ET_FLAG, 5);
	et_arm_copy(&q, 1, 1, at + ELAN_PAGE - 24, w, 3);
	et_wait_room(&q, 64 << 10);
	for (i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		struct et_queue bad = et_open_as(
			10 + i, ELAN_1K, ELAN_MAY_EVENT, x[i].context);

		et_arm_copy(&bad, x[i].event, 1, x[i].to, w, x[i].words);
		et_wait_error(&bad, x[i].why);
	}
	/* and no other context sets it */
	mapped = et_open_as(30, ELAN_1K, ELAN_MAY_EVENT, ET_OTHER);
	et_add(&mapped, 1, 1);
	et_wait_room(&mapped, 1024);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG), 0);
	et_add(&q, 1, 1);
	et_wait_word(ET_FLAG, 5);
}

static void contexts_are_kept_apart(void **state)
{
	struct et m;

	et_init(&m, "4");
	run_one(&m, protected_program, NULL);
	et_fini(&m);
}

/* --- anything --- */

static uint32_t roll(uint64_t *dice, uint32_t n)
{
	*dice = *dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*dice >> 33) % n;
}

/* Commands, mostly good ones, some of which arm copies of such. */
static uint32_t any_words(uint64_t *dice, uint64_t *w, uint32_t depth)
{
	struct elan_dma d = { roll(dice, 900), 0, roll(dice, 4), ET_SOURCE,
		ET_TARGET, roll(dice, 5), roll(dice, 5) };
	uint32_t n, i;

	switch (roll(dice, 10)) {
	case 0:
		return et_dma_words(w, &d);
	case 1:
		return et_packet(w, roll(dice, 4), ET_TARGET, 1,
			roll(dice, 500), roll(dice, 5), roll(dice, 5));
	case 2:
		w[0] = roll(dice, 40) ? ELAN_NOP : roll(dice, 20);
		return 1;
	case 3:
		return et_store_words(w, ET_FLAG, 1);
	case 4:
		w[0] = ELAN_GUARD;
		return 1;
	case 5:
		if (depth) {
			for (i = 0, n = 3; i < roll(dice, 9) + 1; i++)
				n += any_words(dice, w + n, depth - 1);
			n -= n > 4 && !roll(dice, 4);
			w[0] = elan_word(
				ELAN_ARM_COPY, roll(dice, 5), 8 * n - 24);
			w[1] = roll(dice, 3);
			w[2] = roll(dice, 4)
				       ? MAPPED + ELAN_PAGE * roll(dice, 3)
				       : ET_TARGET;
			return n;
		}
		/* fall through */
	default:
		w[0] = elan_word(ELAN_ADD, roll(dice, 5), roll(dice, 900));
		return 1;
	}
}

struct any {
	uint64_t seed;
	uint64_t word[8000]; /* more than a program's stack should hold */
};

static void any_program(void *arg)
{
	struct any *x = arg;
	uint64_t dice = x->seed * 1000 + program_node(), *w = x->word;
	struct et_queue q = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_CONTEXT);
	uint32_t k, i;

	for (k = 0; k < 3; k++) {
		struct et_queue mapped =
			et_open_as(10 + k, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);

		et_map(&mapped, MAPPED + ELAN_PAGE * k);
	}
	for (k = 0; k < 200; k++) {
		uint32_t n = any_words(&dice, w, 2);

		/* the longest: as many words as that, at a depth of 2 */
		if (n < 500 && et_room(&q) >= 8 * n)
			et_push(&q, w, n);
		program_charge(roll(&dice, 4) ? roll(&dice, 1000) : 4 * US);
		if (et_error(&q) &&
			!elan_queue_restart(et_card(), program_node(), 1))
			q.stored = 0;
		for (i = 10; i < 13; i++)
			elan_queue_restart(et_card(), program_node(), i);
		if (!roll(&dice, 30) &&
			!elan_queue_close(et_card(), program_node(), 12)) {
			struct et_queue again = et_open_as(
				12, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);

			et_map(&again, MAPPED + 2 * ELAN_PAGE);
		}
	}
}

/* The audit at the end finds no copy that nobody goes on with. */
static void any_chains_do_no_harm(void **state)
{
	uint64_t seed, copied = 0, overflows = 0;
	struct any *x = mem_alloc(4, sizeof(*x));

	for (seed = 0; seed < 100; seed++) {
		struct et_program p[4];
		struct et m;
		uint32_t i;

		for (i = 0; i < 4; i++) {
			x[i].seed = seed;
			p[i] = (struct et_program){ i, any_program, &x[i] };
		}
		et_init(&m, "4");
		m.params.event_slot = seed % 2 ? 1 : 200 * SIM_NS;
		if (seed % 3 == 0)
			m.params.bus_reads = 50;
		if (seed % 5 == 0)
			m.params.command_rate = 30000000;
		et_run(&m, 1 + seed % 2, p, 4);
		copied += ET_SUM(&m, copied);
		for (i = 0; i < 4; i++)
			overflows +=
				et_counts(&m, i).errors[ELAN_ERROR_OVERFLOW];
		et_fini(&m);
	}
	mem_free(x);
	assert_true(copied > 100000);
	assert_true(overflows > 0);
}

TESTS(TEST(events_build_over_four_million_packets_a_second),
	TEST(copies_wait_for_a_full_queue),
	TEST(copies_wait_for_acknowledgements),
	TEST(copies_wait_for_words_under_way),
	TEST(what_never_fits_stops_its_queue), TEST(queues_may_go_away),
	TEST(contexts_are_kept_apart), TEST(any_chains_do_no_harm))
