/* Events as bytes of card memory, copies from an address, and the pace of the
 * event processor. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { QUEUE = 5, EVENT = 9 };

static uint64_t take(uint32_t context, uint64_t bytes)
{
	uint64_t at = 0;

	assert_int_equal(elan_memory_take(et_card(), program_node(), context,
				 bytes, &at),
		0);
	return at;
}

static void give(uint64_t at)
{
	assert_int_equal(
		elan_memory_give(et_card(), program_node(), ET_CONTEXT, at), 0);
}

/* Card memory as it is, at any time. */
static void look(uint64_t at, void *to, uint32_t bytes)
{
	host_read(program_host(), program_node(), at, to, bytes);
}

static uint64_t card_word(uint64_t at)
{
	uint64_t word;

	look(at, &word, 8);
	return word;
}

/* Puts words there, by commands. */
static void store_all(
	struct et_queue *q, uint64_t at, const uint64_t *words, uint32_t n)
{
	uint64_t w[3];

	for (uint32_t i = 0; i < n; i++) {
		et_store_words(w, at + 8 * i, words[i]);
		et_push(q, w, 3);
	}
}

static void arm_from(struct et_queue *q, uint32_t event, uint64_t count,
	uint64_t to, uint64_t from, uint32_t bytes)
{
	const uint64_t w[] = { elan_word(ELAN_ARM_FROM, 0, bytes) | ELAN_NAMED,
		event, count, to, from };

	et_push(q, w, 5);
}

static void add_named(struct et_queue *q, uint32_t event, uint32_t count)
{
	const uint64_t w[] = { elan_word(ELAN_ADD, 0, count) | ELAN_NAMED,
		event };

	et_push(q, w, 2);
}

/* --- bytes --- */

static void bytes_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t at = take(ET_CONTEXT, 96) + 32;
	const uint64_t w[] = { ELAN_ARM | ELAN_NAMED, elan_event_at(at), 5,
		ET_FLAG, 77 };
	struct elan_event e;

	assert_int_equal(sizeof(e), 32);
	et_push(&q, w, 5);
	add_named(&q, elan_event_at(at), 2);
	et_wait_room(&q, 64 << 10);
	look(at, &e, sizeof(e));
	assert_int_equal(e.count, 3);
	assert_int_equal(e.to, ET_FLAG);
	assert_int_equal(e.from, 77);
	assert_int_equal(e.bytes, 0);
	/* nothing beside it */
	assert_int_equal(card_word(at - 8) | card_word(at + 32), 0);
	/* a count that is written there counts */
	et_push(&q, (uint64_t[]){ ELAN_STORE, at, 1 }, 3);
	add_named(&q, elan_event_at(at), 1);
	et_wait_word(ET_FLAG, 77);
	assert_int_equal(card_word(at), 0);
	/* it does not fire twice, but can be armed by its count alone */
	et_push(&q, (uint64_t[]){ ELAN_STORE, ET_FLAG, 0 }, 3);
	add_named(&q, elan_event_at(at), 1);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG), 0);
	et_push(&q, (uint64_t[]){ ELAN_STORE, at, 1 }, 3);
	add_named(&q, elan_event_at(at), 1);
	et_wait_word(ET_FLAG, 77);
}

static void qsn_f48_an_event_is_32_bytes_of_card_memory(void **state)
{
	struct et *m = *state;

	et_run_two(m, bytes_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).fired, 2);
}

/* Another node arms, counts and reads an event. */
struct far {
	uint64_t at;
	uint64_t seen[3];
};

static void far_owner(void *arg)
{
	struct far *x = arg;

	et_open(0);
	x->at = take(ET_CONTEXT, 64);
	et_wait_word(ET_FLAG, 99);
	assert_int_equal(card_word(x->at), 0);
}

static void far_program(void *arg)
{
	struct far *x = arg;
	struct et_queue q = et_open(0);
	struct elan_event e = { .count = 3, .to = ET_FLAG, .from = 99 };
	uint64_t w[16] = { elan_word(ELAN_OPEN, 0, 0),
		elan_word(ELAN_WRITE, 32, 0) };

	program_wait(5 * US);
	w[2] = x->at;
	memcpy(w + 3, &e, 32);
	w[7] = elan_word(ELAN_CLOSE, 0, 0);
	et_push(&q, w, 8);
	for (uint32_t i = 0; i < 3; i++) {
		et_arm(&q, 1, 8);
		et_get(&q, 0, x->at, ET_TARGET, 8, 1);
		et_wait_event(1);
		x->seen[i] = et_word(ET_TARGET);
		w[1] = elan_word(ELAN_SET, 0, 1) | ELAN_NAMED;
		w[2] = elan_event_at(x->at);
		w[3] = ELAN_CLOSE;
		et_push(&q, w, 4);
	}
	et_wait_room(&q, 64 << 10);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void qsn_f48_counts_are_read_from_memory(void **state)
{
	struct et *m = *state;
	struct far x = { 0 };

	et_run_two(m, far_owner, far_program, &x);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(x.seen[i], 3 - i);
}

/* All units that set events do it by name: acknowledgements, a get's answer,
 * both ends of a DMA. */
enum { NAMES = 5 };

static void named_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t at = take(ET_CONTEXT, 32 * NAMES), done = 0, names;
	struct elan_dma d = et_dma_to(
		0, 600, elan_event_at(at + 64), elan_event_at(at + 96));

	for (uint32_t i = 0; i < NAMES; i++) {
		const uint64_t w[] = { ELAN_ARM | ELAN_NAMED,
			elan_event_at(at + 32 * i), i == 3 ? 600 : 1,
			ET_FLAG + 8 * i, 1 };

		et_push(&q, w, 5);
	}
	names = (uint64_t)elan_event_at(at + 128) << 32 | elan_event_at(at);
	et_push(&q,
		(uint64_t[]){ elan_word(ELAN_OPEN, 1, 0),
			ELAN_CLOSE | ELAN_NAMED, names },
		3);
	et_get(&q, 1, ET_TARGET, ET_SOURCE, 8, elan_event_at(at + 32));
	et_dma(&q, &d);
	/* a test that says no */
	et_push(&q,
		(uint64_t[]){ elan_word(ELAN_OPEN, 1, 0),
			elan_word(ELAN_TEST, ELAN_EQUAL, 0), ET_TARGET, 1,
			ELAN_CLOSE | ELAN_NAMED, names },
		6);
	while (done < NAMES) {
		program_charge(US);
		done = 0;
		for (uint32_t i = 0; i < NAMES; i++)
			done += et_word(ET_FLAG + 8 * i);
	}
}

static void open_program(void *arg)
{
	et_open(0);
}

static void every_unit_names_events_by_address(void **state)
{
	struct et *m = *state;

	et_run_two(m, named_program, open_program, NULL);
	assert_int_equal(et_counts(m, 0).fired, NAMES);
}

/* --- gathered --- */

enum { CHILDREN = 12, PARENT = 3, GOAL = 15 };

/* A packet in card memory whose data the children write. */
static void gather_program(void *arg)
{
	uint64_t *prepared = arg, w[ET_PACKET_WORDS];
	struct et_queue q = et_open(0);
	uint32_t n = et_packet(w, GOAL, ET_TARGET, 0, 8 * CHILDREN, 7, 0);

	et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	*prepared = take(ET_CONTEXT, 1024);
	memset(w + 3, 0, 8 * CHILDREN);
	store_all(&q, *prepared, w, n);
	arm_from(&q, elan_event_at(*prepared + 992), 8 * CHILDREN, ET_MAPPED,
		*prepared, 8 * n);
}

static void child_program(void *arg)
{
	const uint64_t *prepared = arg;
	uint32_t me = program_node();
	struct et_queue q = et_open(0);
	uint64_t w[7] = { elan_word(ELAN_OPEN, PARENT, 0),
		elan_word(ELAN_WRITE, 8, 0), 0, 1000 + me,
		elan_word(ELAN_SET, 0, 8) | ELAN_NAMED, 0, ELAN_CLOSE };

	/* the parent's program has ended, and the last child is late */
	program_wait(me == 7 ? 200 * US : 100 * US);
	w[2] = *prepared + 24 + 8 * (me < PARENT ? me : me - 1);
	w[5] = elan_event_at(*prepared + 992);
	et_push(&q, w, 7);
}

static void goal_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 7, 8 * CHILDREN);
	et_wait_event(7);
	assert_in_range(program_now(), 200 * US, 204 * US);
	for (uint32_t i = 0; i < CHILDREN; i++)
		assert_int_equal(
			et_word(ET_TARGET + 8 * i), 1000 + i + (i >= PARENT));
}

static void qsn_f51_with_the_last_packet_the_card_sends_what_it_gathered(
	void **state)
{
	uint64_t digest = 0, prepared = 0;
	struct et_program p[CHILDREN + 2] = {
		{ PARENT, gather_program, &prepared },
		{ GOAL, goal_program, NULL },
	};

	for (uint32_t i = 0; i < CHILDREN; i++)
		p[2 + i] = (struct et_program){ i + (i >= PARENT),
			child_program, &prepared };
	for (uint32_t k = 0; k < 6; k++) {
		struct et m;

		et_init(&m, "16");
		m.params.cache.on = k % 2;
		et_run(&m, 1 + k / 2, p, CHILDREN + 2);
		assert_int_equal(et_counts(&m, PARENT).packets, 1);
		assert_int_equal(et_counts(&m, PARENT).fired, 1);
		if (k % 2)
			assert_true(!digest || digest == et_digest(&m));
		digest = k % 2 ? et_digest(&m) : digest;
		et_fini(&m);
	}
}

/* The source is read when the event fires, wherever it is. */
static void late_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t card = take(ET_CONTEXT, 256);
	const uint64_t source[] = { card, ET_SOURCE };

	for (uint32_t k = 0; k < 2; k++) {
		uint64_t from = source[k], to = ET_TARGET + 256 * k;

		arm_from(&q, EVENT, 1, to, from, 64);
		program_charge(10 * US);
		store_all(&q, from, (uint64_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
		program_charge(10 * US);
		add_named(&q, EVENT, 1);
		et_wait_word(to + 56, 8);
		for (uint64_t i = 0; i < 8; i++)
			assert_int_equal(et_word(to + 8 * i), i + 1);
		assert_int_equal(et_word(to + 64), 0);
	}
}

static void qsn_f51_a_copy_reads_its_source_when_it_fires(void **state)
{
	struct et *m = *state;

	et_run_two(m, late_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).copied, 128);
}

/* --- pace --- */

enum { COPIES = 50, EACH = 40, APART = 16 << 10 };

struct rhythm {
	bool is_cold;
	sim_time done[COPIES], took;
};

/* So far apart that all sources are in one set of the cache, or together. */
static void pace_program(void *arg)
{
	struct rhythm *x = arg;
	struct et_queue q = et_open(0);
	uint64_t apart = x->is_cold ? APART : 64, adds[COPIES];
	uint64_t from = take(ET_CONTEXT, COPIES * apart + 2 * APART);
	struct poll_loop loop = { .period = 1 };
	uint64_t word;
	sim_time t;

	/* not in the sets that the events themselves are in */
	from += APART - from % APART + APART / 8;
	for (uint32_t i = 0; i < COPIES; i++) {
		store_all(&q, from + i * apart + 32, (uint64_t[]){ i + 1 }, 1);
		arm_from(&q, 1 + i, 1, ET_TARGET + 64 * i, from + i * apart,
			EACH);
		adds[i] = elan_word(ELAN_ADD, 1 + i, 1);
	}
	et_wait_room(&q, 64 << 10);
	t = program_now();
	for (uint32_t i = 0; i < COPIES; i++) {
		if (i < 2)
			et_push(&q, adds + i, i ? COPIES - 1 : 1);
		program_poll(
			ET_TARGET + 64 * i + 32, WORD_IS, i + 1, loop, &word);
		x->done[i] = program_now() - t;
	}
}

static struct rhythm pace(bool is_cold, bool has_cache)
{
	struct rhythm x = { .is_cold = is_cold };
	struct et m;

	et_init(&m, "4");
	m.params.cache.on = has_cache;
	et_run_two(&m, pace_program, NULL, &x);
	x.took = x.done[COPIES - 1] - x.done[10]; /* all are stored */
	et_fini(&m);
	return x;
}

static void a_miss_delays_one_event_and_leaves_the_rate(void **state)
{
	struct rhythm cold = pace(true, true), warm = pace(false, true);
	struct rhythm off = pace(true, false);
	sim_time slot = 200 * SIM_NS + EACH * 625;

	assert_int_equal(off.took, (COPIES - 11) * slot);
	assert_int_equal(warm.took, off.took);
	/* alone it waits for its line; others are read ahead */
	assert_in_range(cold.done[0] - off.done[0], 84 * SIM_NS, 85 * SIM_NS);
	assert_int_equal(warm.done[0], off.done[0]);
	assert_int_equal(cold.took, off.took);
}

/* --- what goes wrong --- */

/* Memory that is given back, before and after its event is set. */
static void back_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	uint64_t at = take(ET_CONTEXT, 64), from = take(ET_CONTEXT, 64);

	/* its source */
	arm_from(&q, EVENT, 1, ET_TARGET, from, 64);
	et_wait_room(&q, 64 << 10);
	give(from);
	add_named(&q, EVENT, 1);
	program_charge(10 * US);
	assert_int_equal(et_counts(arg, 0).errors[ELAN_ERROR_ADDRESS], 1);
	/* the event itself; its name stops whoever uses it then */
	et_push(&q,
		(uint64_t[]){ ELAN_ARM | ELAN_NAMED, elan_event_at(at), 1,
			ET_FLAG, 1 },
		5);
	et_wait_room(&q, 64 << 10);
	give(at);
	add_named(&q, elan_event_at(at), 1);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
	et_push(&other,
		(uint64_t[]){ elan_word(ELAN_OPEN, 0, 0),
			ELAN_SET | ELAN_NAMED | UINT64_C(1) << 32,
			elan_event_at(at), ELAN_CLOSE },
		4);
	et_wait_error(&other, ELAN_ERROR_REFUSED);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(et_word(ET_TARGET), 0);
}

static void memory_that_is_given_back_has_no_events(void **state)
{
	struct et *m = *state;

	et_run_two(m, back_program, NULL, m);
	assert_int_equal(et_counts(m, 0).fired, 1);
	assert_int_equal(et_counts(m, 0).copied, 0);
}

/* Its memory goes between a packet's check and its end. */
static void soon_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t at = take(ET_CONTEXT, 64);

	et_push(&q,
		(uint64_t[]){ ELAN_ARM | ELAN_NAMED, elan_event_at(at), 1,
			ET_FLAG, 1 },
		5);
	et_push(&q,
		(uint64_t[]){ elan_word(ELAN_OPEN, 1, 0),
			ELAN_CLOSE | ELAN_NAMED, elan_event_at(at) },
		3);
	program_charge(500 * SIM_NS);
	give(at);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_counts(arg, 0).errors[ELAN_ERROR_ADDRESS], 1);
	assert_int_equal(et_word(ET_FLAG), 0);
}

static void an_event_that_has_gone_is_counted(void **state)
{
	struct et *m = *state;

	et_run_two(m, soon_program, open_program, m);
}

/* What another context has, it cannot set, and nothing is lent to it. */
static void rights_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue other = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t at = take(ET_CONTEXT, 64), own = take(ET_OTHER, 64);
	/* as if it were of ET_CONTEXT, and its bytes to be freed */
	struct elan_event e = { 1, ET_TARGET, at, 1u << 31 | 64, ET_CONTEXT };
	uint64_t w[4], left;

	memcpy(w, &e, 32);
	store_all(&other, own, w, 4);
	store_all(&q, at, (uint64_t[]){ 1, ET_FLAG, 1, 0 }, 4);
	et_wait_room(&other, 8 << 10);
	left = elan_sdram_left(
		&((struct elan_node *)et_card()->nodes[0])->sdram);
	add_named(&other, elan_event_at(own), 1);
	program_charge(10 * US);
	assert_int_equal(et_error(&other), ELAN_FINE);
	assert_int_equal(et_counts(arg, 0).errors[ELAN_ERROR_ADDRESS], 1);
	assert_int_equal(et_word(ET_TARGET), 0);
	assert_int_equal(left,
		elan_sdram_left(
			&((struct elan_node *)et_card()->nodes[0])->sdram));
	add_named(&other, elan_event_at(at), 1);
	et_wait_error(&other, ELAN_ERROR_ADDRESS);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(card_word(at), 1);
}

static void events_in_memory_lend_no_rights(void **state)
{
	struct et *m = *state;

	et_run_two(m, rights_program, NULL, m);
}

/* Descriptors that cannot be. */
static void wrong_program(void *arg)
{
	static const uint64_t event[][4] = {
		{ 1, ET_TARGET, ET_SOURCE, 4 },
		{ 1, ET_TARGET, ET_SOURCE, 2056 },
		{ 1, ET_TARGET, ET_SOURCE + 4, 8 },
		{ 1, ET_TARGET + 4, ET_SOURCE, 8 },
		{ 1, ET_TARGET + 4, 1, 0 },
		{ UINT64_MAX, ET_TARGET, 1, 0 },
		{ 1, ET_MEMORY, 1, 0 },
		{ 1, ET_TARGET, ET_MEMORY, 8 },
		{ 1, ET_MAPPED, ET_SOURCE, 8 },
	};
	struct et_queue q = et_open(0);
	uint64_t at = take(ET_CONTEXT, 32 * 16);

	et_fill(ET_SOURCE, 3, 64);
	for (uint32_t i = 0; i < 9; i++) {
		store_all(&q, at + 32 * i, event[i], 4);
		add_named(&q, elan_event_at(at + 32 * i), 1);
	}
	program_charge(20 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	et_expect_all(ET_TARGET, 0, 64);
}

static void descriptors_that_cannot_be_do_nothing(void **state)
{
	struct et *m = *state;
	struct elan_counts c;

	et_run_two(m, wrong_program, NULL, NULL);
	c = et_counts(m, 0);
	assert_int_equal(c.errors[ELAN_ERROR_COMMAND], 4);
	assert_int_equal(c.errors[ELAN_ERROR_ADDRESS], 4);
	assert_int_equal(c.copied, 0);
}

/* Commands that cannot be. */
static void commands_program(void *arg)
{
	uint64_t card = take(ET_CONTEXT, 64);
	const struct {
		uint64_t w[5];
		enum elan_error why;
	} x[] = {
		{ { elan_word(ELAN_ARM_FROM, EVENT, 4), 1, ET_TARGET, 0 },
			ELAN_ERROR_COMMAND },
		{ { elan_word(ELAN_ARM_FROM, EVENT, 2056), 1, ET_TARGET, 0 },
			ELAN_ERROR_COMMAND },
		{ { elan_word(ELAN_ARM_FROM, 0, 8), 1, ET_TARGET, 0 },
			ELAN_ERROR_COMMAND },
		{ { elan_word(ELAN_ARM_FROM, EVENT, 8), 1, ET_TARGET, 4 },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_ARM_FROM, EVENT, 8), 1, ET_MAPPED, 0 },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_ARM_FROM, EVENT, 128), 1, ET_TARGET, card },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_ARM_FROM, 0, 8) | ELAN_NAMED,
			  UINT64_C(1) << 40, 1, ET_TARGET, 0 },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_ADD, 0, 1) | ELAN_NAMED, UINT64_MAX },
			ELAN_ERROR_ADDRESS },
		{ { ELAN_ARM | ELAN_NAMED, elan_event_at(card + 64), 1, ET_FLAG,
			  1 },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_OPEN, 0, 0), ELAN_CLOSE | ELAN_NAMED,
			  elan_event_at(card + 64) },
			ELAN_ERROR_ADDRESS },
		{ { elan_word(ELAN_OPEN, 0, 0), ELAN_CLOSE | ELAN_NAMED,
			  UINT64_MAX },
			ELAN_ERROR_COMMAND },
		{ { elan_word(ELAN_OPEN, 0, 0), ELAN_SET | ELAN_NAMED,
			  UINT64_MAX },
			ELAN_ERROR_COMMAND },
	};

	for (uint32_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		struct et_queue q = et_open(i);

		et_push(&q, x[i].w, 5);
		et_wait_error(&q, x[i].why);
	}
	assert_int_equal(elan_event_at(ELAN_CARD_AT + 16), 0);
	assert_int_equal(elan_event_at(ET_TARGET), 0);
	assert_int_equal(elan_event_at(ELAN_CARD_AT + (UINT64_C(1) << 31)), 0);
}

static void commands_that_cannot_be_stop_their_queue(void **state)
{
	struct et *m = *state;

	et_run_two(m, commands_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).fired, 0);
}

/* Bytes that come with a command need card memory. */
static void room_program(void *arg)
{
	struct elan_node *n = et_card()->nodes[0];
	struct et_queue q = et_open(0), other = et_open(1);
	uint64_t w[256] = { 1 };

	n = nic_node(et_card(), 0);
	take(ET_CONTEXT, elan_sdram_left(&n->sdram) - 4096);
	et_arm_copy(&q, 1, 1, ET_TARGET, w, 256);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(elan_sdram_left(&n->sdram), 2048);
	et_arm_copy(&q, 2, 1, ET_TARGET, w, 256);
	et_wait_room(&q, 64 << 10);
	et_arm_copy(&q, 3, 1, ET_TARGET, w, 1);
	et_wait_error(&q, ELAN_ERROR_ROOM);
	assert_int_equal(elan_event_count(et_card(), 0, 3), 0);
	/* a copy that is made gives its room back */
	et_add(&other, 1, 1);
	et_wait_word(ET_TARGET, 1);
	et_arm_copy(&other, 3, 1, ET_TARGET, w, 8);
	et_wait_room(&other, 64 << 10);
	assert_int_equal(et_error(&other), ELAN_FINE);
}

static void what_is_kept_needs_room_on_the_card(void **state)
{
	struct et *m = *state;

	et_run_two(m, room_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_ROOM], 1);
}

/* A full queue: the source is read when there is room. */
static void full_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue full = et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	uint64_t from = take(ET_CONTEXT, 1024), w[120] = { 0 };

	for (uint32_t i = 0; i < 20; i++)
		et_store_words(w + 3 * i, ET_TARGET, 1 + i);
	store_all(&q, from, w, 60);
	for (uint32_t i = 1; i <= 5; i++)
		arm_from(&q, i, 1, ET_MAPPED, from, 480);
	et_wait_room(&q, 64 << 10);
	for (uint32_t i = 1; i <= 5; i++)
		et_add(&q, i, 1);
	et_wait_word(ET_TARGET, 1);
	/* the value of the last command, and of copies that wait */
	et_push(&q, (uint64_t[]){ ELAN_STORE, from + 472, 99 }, 3);
	et_wait_word(ET_TARGET, 20);
	et_wait_word(ET_TARGET, 99);
	et_wait_room(&full, 1024);
	assert_int_equal(et_error(&full), ELAN_FINE);
}

static void a_copy_that_waits_reads_its_source_then(void **state)
{
	struct et *m = *state;

	m->params.command_rate = 20000000;
	et_run_two(m, full_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).copied, 5 * 480);
}

/* Two bad bits in a source or an event stop their context. */
struct bits {
	bool is_event;
	struct et *m;
};

static void bits_program(void *arg)
{
	const struct bits *x = arg;
	struct et_queue q = et_open(0);
	struct et_queue other = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t at = take(ET_CONTEXT, 64), from = take(ET_CONTEXT, 64);

	arm_from(&q, elan_event_at(at), 1, ET_TARGET, from, 64);
	et_wait_room(&q, 64 << 10);
	elan_sdram_flip(&et_node(x->m, 0)->sdram,
		x->is_event ? at + 8 : from + 24, 3 << 7);
	add_named(&q, elan_event_at(at), 1);
	et_wait_error(&q, ELAN_ERROR_MEMORY);
	et_push(&other, (uint64_t[]){ ELAN_STORE, ET_OTHER_AT, 5 }, 3);
	et_wait_word(ET_OTHER_AT, 5);
}

static void bad_bits_of_events_and_sources_stop_their_context(void **state)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct et m;
		struct bits x = { k, &m };

		et_init(&m, "4");
		et_run_two(&m, bits_program, NULL, &x);
		assert_int_equal(et_counts(&m, 0).copied, 0);
		assert_int_equal(et_counts(&m, 0).uncorrectable, 1);
		et_fini(&m);
	}
}

TESTS(ET_TEST(qsn_f48_an_event_is_32_bytes_of_card_memory),
	ET_TEST(qsn_f48_counts_are_read_from_memory),
	ET_TEST(every_unit_names_events_by_address),
	TEST(qsn_f51_with_the_last_packet_the_card_sends_what_it_gathered),
	ET_TEST(qsn_f51_a_copy_reads_its_source_when_it_fires),
	TEST(a_miss_delays_one_event_and_leaves_the_rate),
	ET_TEST(memory_that_is_given_back_has_no_events),
	ET_TEST(an_event_that_has_gone_is_counted),
	ET_TEST(events_in_memory_lend_no_rights),
	ET_TEST(descriptors_that_cannot_be_do_nothing),
	ET_TEST(commands_that_cannot_be_stop_their_queue),
	ET_TEST(what_is_kept_needs_room_on_the_card),
	ET_TEST(a_copy_that_waits_reads_its_source_then),
	TEST(bad_bits_of_events_and_sources_stop_their_context))
