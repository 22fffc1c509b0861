/* Any commands, tests, copies and threads, and the traffic of others. */
#include "base/err.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	NODES = 16,
	PAGES = 4, /* that queues are mapped to */
	CODES = 3,
	STARTS = 150, /* threads of a node that do anything */
	STEPS = 120, /* of a program */
	MOST = 4000, /* words of a step */
	/* the others' */
	GOOD = 20,
	GOOD_AT = 0x8000000,
	GOOD_EVENT = 1000,
	ROUNDS = 12,
};

struct any {
	uint64_t seed;
	uint32_t started; /* threads */
	bool is_hurt; /* by faults */
	uint64_t word[MOST];
};

static struct any any[NODES];

static uint32_t roll(uint64_t *dice, uint32_t n)
{
	*dice = *dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*dice >> 33) % n;
}

/* --- words --- */

static uint64_t any_address(uint64_t *dice)
{
	static const uint64_t place[] = { ET_SOURCE, ET_TARGET, ET_OTHER_AT,
		GOOD_AT - 8, GOOD_AT, ET_MEMORY, ET_FLAG, UINT64_MAX - 7 };

	if (roll(dice, 40))
		return ET_FLAG + 8 * roll(dice, 20);
	if (roll(dice, 2))
		return ET_MAPPED + ELAN_PAGE * roll(dice, PAGES + 1) +
		       8 * roll(dice, 3) * roll(dice, 250);
	return place[roll(dice, 8)] + 4 * roll(dice, 3);
}

static uint32_t any_words(uint64_t *dice, uint64_t *w, uint32_t depth);

/* A get, in packets that may have some, or a test. */
static uint32_t any_read(uint64_t *dice, uint64_t *w, bool is_range)
{
	w[1] = ET_FLAG + 8 * roll(dice, 20);
	if (is_range || roll(dice, 2)) {
		w[0] = elan_word(ELAN_TEST, roll(dice, ELAN_OPERATIONS), 0);
		w[2] = roll(dice, 3);
	} else {
		w[0] = elan_word(ELAN_GET, 1 + roll(dice, 64), roll(dice, 9));
		w[2] = any_address(dice);
	}
	return 3;
}

static uint32_t any_piece(
	uint64_t *dice, uint64_t *w, uint32_t depth, bool is_range)
{
	uint32_t n = 2, k;

	switch (roll(dice, 5)) {
	case 4:
		return any_read(dice, w, is_range);
	case 0:
		w[0] = elan_word(ELAN_SET, 1 + roll(dice, 19), roll(dice, 4));
		return 1;
	case 1:
		if (depth) {
			w[1] = ET_MAPPED + ELAN_PAGE * roll(dice, PAGES);
			for (k = roll(dice, 3) + 1; k; k--)
				n += any_words(dice, w + n, depth - 1);
			w[0] = elan_word(ELAN_WRITE, 8 * (n - 2), 0);
			return n;
		}
		/* fall through */
	default:
		k = roll(dice, 5) ? 1 + roll(dice, 4) : 1 + roll(dice, 64);
		w[0] = elan_word(ELAN_WRITE, 8 * k - roll(dice, 8), 0);
		w[1] = any_address(dice);
		for (n = 0; n < k; n++)
			w[2 + n] = roll(dice, 3);
		return 2 + k;
	}
}

static uint32_t any_packet(uint64_t *dice, uint64_t *w, uint32_t depth)
{
	uint32_t n = 0, k, first = roll(dice, NODES);

	if (roll(dice, 3)) {
		w[n++] = elan_word(ELAN_OPEN, first, roll(dice, 4) << 16);
	} else {
		w[n++] = elan_word(ELAN_OPEN_RANGE, first, 0);
		w[n++] = first + roll(dice, NODES - first + !roll(dice, 300));
	}
	if (n == 1 && !roll(dice, 5)) {
		w[n++] = elan_word(ELAN_GET, 1 + roll(dice, 64), roll(dice, 9));
		w[n++] = any_address(dice);
		w[n++] = any_address(dice);
		w[n++] = elan_word(ELAN_CLOSE, roll(dice, 20), 0);
		return n;
	}
	if (roll(dice, 2)) {
		w[n++] = elan_word(ELAN_TEST, roll(dice, ELAN_OPERATIONS), 0);
		w[n++] = ET_FLAG + 8 * roll(dice, 20);
		w[n++] = roll(dice, 3);
	}
	for (k = roll(dice, roll(dice, 4) ? 3 : 6); k; k--)
		n += any_piece(
			dice, w + n, depth, (w[0] & 0xff) == ELAN_OPEN_RANGE);
	if (roll(dice, 150))
		w[n++] = elan_word(ELAN_CLOSE, roll(dice, 20), roll(dice, 20));
	return n;
}

static uint32_t any_copy(uint64_t *dice, uint64_t *w, uint32_t depth)
{
	uint32_t n = 3;

	for (uint32_t k = roll(dice, 6) + 1; k; k--)
		n += any_words(dice, w + n, depth - 1);
	n -= n > 4 && !roll(dice, 40);
	w[0] = elan_word(ELAN_ARM_COPY, 1 + roll(dice, 19), 8 * n - 24);
	w[1] = roll(dice, 3);
	w[2] = roll(dice, 4) ? ET_MAPPED + ELAN_PAGE * roll(dice, PAGES)
			     : any_address(dice);
	/* often set at once */
	if (roll(dice, 3))
		w[n++] = elan_word(ELAN_ADD, w[0] >> 16 & 0xffff, 2);
	return n;
}

/* Copies by command, or by an event whose source is there already. */
static uint32_t any_source(uint64_t *dice, uint64_t *w)
{
	uint64_t bytes = 8 * (1 + roll(dice, 8));

	w[0] = elan_word(ELAN_COPY, bytes, 0);
	w[1] = any_address(dice) / 8 * 8;
	w[2] = ET_FLAG + 8 * roll(dice, 20);
	if (roll(dice, 2))
		return 3;
	w[3] = w[1];
	w[0] = elan_word(ELAN_ARM_FROM, 1 + roll(dice, 19), bytes);
	w[1] = roll(dice, 3);
	w[4] = elan_word(ELAN_ADD, w[0] >> 16 & 0xffff, 2);
	return 5;
}

/* Words that often begin something that could be; few, except of the wild. */
static uint64_t wild_word(uint64_t *dice)
{
	switch (roll(dice, 6)) {
	case 0:
		return any_address(dice) + roll(dice, 20);
	case 1:
		return (uint64_t)roll(dice, 1u << 31) << roll(dice, 33);
	case 2:
		return elan_word(ELAN_OPEN, roll(dice, NODES + 1), 0);
	case 3:
		return elan_word(ELAN_WRITE, roll(dice, 40), roll(dice, 2));
	default:
		return elan_word((enum elan_command)roll(dice, ELAN_COMMANDS),
			roll(dice, 70), roll(dice, 3));
	}
}

static uint32_t wild_words(uint64_t *dice, uint64_t *w)
{
	bool is_wild = any[program_node()].seed % 5 == 4;
	uint32_t n = roll(dice, is_wild ? 9 : 60), i;

	if (!is_wild)
		n = !n;
	for (i = 0; i < n; i++)
		w[i] = wild_word(dice);
	return n;
}

/* Commands, most of which could be. */
static uint32_t any_words(uint64_t *dice, uint64_t *w, uint32_t depth)
{
	struct elan_dma d = { roll(dice, 900), 0, roll(dice, NODES), ET_SOURCE,
		roll(dice, 9) ? ET_TARGET : any_address(dice), roll(dice, 20),
		roll(dice, 20) };

	switch (roll(dice, 15)) {
	case 0:
		return et_dma_words(w, &d);
	case 1:
	case 2:
	case 3:
		return any_packet(dice, w, depth);
	case 4:
		w[0] = elan_word(ELAN_GUARD, roll(dice, ELAN_GUARDS), 0);
		return 1 + (roll(dice, 2) ? any_packet(dice, w + 1, depth) : 0);
	case 5:
	case 6:
		return et_thread_words(w, roll(dice, CODES), *dice);
	case 7:
		return et_store_words(
			w, ET_FLAG + 8 * roll(dice, 20), roll(dice, 3));
	case 8:
		w[0] = elan_word(
			ELAN_ARM, !!roll(dice, 30) * (1 + roll(dice, 19)), 0);
		w[1] = roll(dice, 4);
		w[2] = ET_FLAG + 8 * roll(dice, 20);
		w[3] = roll(dice, 3);
		return 4;
	case 13:
		return any_source(dice, w);
	case 9:
		return wild_words(dice, w);
	case 10:
	case 11:
		if (depth)
			return any_copy(dice, w, depth);
		/* fall through */
	default:
		w[0] = elan_word(ELAN_ADD, roll(dice, 20), roll(dice, 4));
		return 1;
	}
}

/* --- threads --- */

static void any_thread(const uint64_t *reg)
{
	uint64_t dice = reg[0], w[ELAN_PAGE / 8] = { ELAN_NOP };
	struct any *x = &any[program_node()];
	uint8_t data[ELAN_BLOCK];
	uint32_t n;

	if (x->started++ > STARTS)
		return;
	for (uint32_t k = 0; k < 4; k++) {
		switch (roll(&dice, 6)) {
		case 0:
			elan_thread_wait_word(
				any_address(&dice), roll(&dice, 3));
			break;
		case 1:
			elan_thread_write(any_address(&dice), roll(&dice, 3));
			break;
		case 2:
			elan_thread_read(any_address(&dice), data,
				roll(&dice, ELAN_BLOCK + 2));
			break;
		case 3:
			elan_thread_work(roll(&dice, 100));
			break;
		default:
			n = any_words(&dice, w, 0);
			elan_thread_append(
				ET_MAPPED + ELAN_PAGE * roll(&dice, PAGES), w,
				n ? n : roll(&dice, 513));
		}
	}
}

/* --- programs --- */

static void open_page(uint64_t *dice, uint32_t k, uint32_t context)
{
	struct et_queue q = et_open_as(10 + k,
		roll(dice, 8) ? ELAN_1K : ELAN_8K,
		roll(dice, 4) ? ELAN_MAY_ALL : roll(dice, ELAN_MAY_ALL + 1),
		context);

	et_map(&q, ET_MAPPED + ELAN_PAGE * k);
}

static void any_program(void *arg)
{
	struct any *x = arg;
	site_id s = program_node();
	uint64_t dice = x->seed * 1000 + s, *w = x->word;
	uint32_t context = s % 5 == 4 ? ET_OTHER : ET_CONTEXT, i, n;
	struct et_queue q = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, context);

	for (uint32_t k = 0; k < PAGES; k++)
		open_page(&dice, k, context);
	for (uint32_t k = 0; k < CODES; k++)
		et_load(context, k, any_thread);
	for (uint32_t k = 0; k < STEPS; k++) {
		n = any_words(&dice, w, 2);
		if (n && n < 500 && et_room(&q) >= 8 * n)
			et_push(&q, w, n);
		program_charge(roll(&dice, 4) ? roll(&dice, 1000) : 4 * US);
		if (et_error(&q) && !elan_queue_restart(et_card(), s, 1))
			q.stored = 0;
		for (i = 10; i < 10 + PAGES; i++)
			elan_queue_restart(et_card(), s, i);
		i = roll(&dice, PAGES);
		if (!roll(&dice, 10) && !elan_queue_close(et_card(), s, 10 + i))
			open_page(&dice, i, context);
	}
}

/* A message in a ring, asked for first, and checked. */
static void good_program(void *arg)
{
	const struct any *x = arg;
	site_id s = program_node(), to = (s + 1) % NODES;
	struct et_queue q = et_open_as(50, ELAN_8K, ELAN_MAY_ALL, GOOD);
	uint64_t at = GOOD_AT + 0x1000, flag = GOOD_AT + 8, done = GOOD_AT + 16;
	uint64_t w[ET_PACKET_WORDS + 4], n;

	program_wait(2 * US);
	for (uint64_t k = 0; k < ROUNDS; k++) {
		uint64_t arm[] = { elan_word(ELAN_ARM, GOOD_EVENT, 0), 1, done,
			k + 1 };
		uint32_t bytes = 8 + (uint32_t)(x->seed + k) % 60 * 8;

		et_push(&q, arm, 4);
		n = et_packet(
			w + 3, to, at + 512 * k, s + k, bytes, 0, GOOD_EVENT);
		w[0] = w[3];
		w[1] = elan_word(ELAN_TEST, ELAN_EQUAL, 0);
		w[2] = flag;
		w[3] = 0;
		et_push(&q, w, (uint32_t)n + 3);
		if (x->is_hurt)
			program_charge(20 * US);
		else
			et_wait_word(done, k + 1);
	}
	if (!x->is_hurt)
		assert_int_equal(et_error(&q), ELAN_FINE);
}

/* --- runs --- */

struct hurts {
	struct fault_plan plan;
	struct fault_event event[2];
};

static void make_faults(struct hurts *f, uint64_t seed)
{
	*f = (struct hurts){ 0 };
	for (uint32_t i = 0; i < 6; i++)
		f->plan.rate[i] = seed % 2 ? UINT64_C(200000000000000) : 0;
	f->event[0] = (struct fault_event){ .at = 40 * US,
		.site = (router_id)(seed % NODES),
		.port = seed % 3 ? FAULT_SITE : 0 };
	f->event[1] = f->event[0];
	f->event[1].at = 120 * US;
	f->event[1].returns = true;
	f->plan.event = f->event;
	f->plan.n_events = seed % 4;
	f->plan.n_events = f->plan.n_events > 2 ? 0 : f->plan.n_events;
}

static void set_params(struct et *m, uint64_t seed)
{
	m->params.event_slot = seed % 2 ? 1 : 200 * SIM_NS;
	m->params.bus_reads = seed % 3 ? 0 : 50;
	m->params.threads = seed % 7 ? 256 : 1 + (int64_t)(seed % 5);
	m->params.outstanding = 1 + (int64_t)(seed % 4);
	m->params.get_timeout = 100 * US;
	m->params.cut_through = seed % 11 == 1;
	m->params.cache.on = seed % 2;
	m->params.interrupt = 200 * SIM_NS;
	if (seed % 5 < 2)
		m->params.command_rate = seed % 5 ? 30000000 : 3000000;
	if (seed % 7 > 2)
		m->params.input = (int64_t)(seed % 7) * US;
	if (seed % 6 == 1)
		m->params.retry.timeout = 2 * US;
	m->params.retry.limit = 60;
	m->params.retry.back_off = 300 * SIM_NS;
	m->spread = seed % 2;
}

/* Whatever became of it before, its parts sum to its time. */
static void on_message(void *arg, const struct book_account *a)
{
	sim_time sum = 0;

	for (uint32_t i = 0; i < N_CAUSES; i++)
		sum += a->budget.spent[i];
	BUG_IF(sum != a->budget.at - a->budget.start);
}

static uint64_t run_any(uint64_t seed, uint32_t workers)
{
	struct book_how how = { .on_message = on_message };
	struct hurts f;
	bool is_hurt = seed % 4 == 3;
	struct et m;
	uint64_t sum;

	make_faults(&f, seed / 4);
	et_init(&m, "16");
	set_params(&m, seed);
	m.faults = is_hurt ? &f.plan : NULL;
	m.book = workers > 1 && seed % 5 < 3 ? &how : NULL;
	et_start(&m, workers, 2 * NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		any[i].seed = seed;
		any[i].started = 0;
		any[i].is_hurt = is_hurt;
		elan_context_set(m.nic, i, ET_CONTEXT, 0, GOOD_AT - 1);
		elan_context_set(m.nic, i, GOOD, GOOD_AT, ET_MEMORY - 1);
		if (seed % 3 == 0)
			elan_context_order(m.nic, i, ET_CONTEXT, true);
		program_start(m.host, i, 0, 0, any_program, &any[i]);
		program_start(m.host, i, 1, 0, good_program, &any[i]);
	}
	et_go(&m);
	for (uint32_t i = 0; !is_hurt && i < NODES; i++)
		for (uint32_t k = 0; k < ROUNDS; k++)
			et_expect_at(&m, (i + 1) % NODES,
				GOOD_AT + 0x1000 + 512 * k, i + k,
				8 + (uint32_t)(seed + k) % 60 * 8, true);
	sum = et_digest(&m);
	for (uint32_t i = 0; i < sizeof(struct elan_counts) / 8; i++)
		sum = sum * 31 + et_sum(&m, 8 * i);
	et_fini(&m);
	return sum;
}

static void any_mixture_does_no_harm(void **state)
{
	for (uint64_t seed = 0; seed < 24; seed++) {
		uint64_t sum = run_any(seed, 1);

		if (run_any(seed, 2 + (uint32_t)(seed % 3)) != sum)
			fail_msg("seed %u", (uint32_t)seed);
	}
}

TESTS(TEST(any_mixture_does_no_harm))
