/*
 * Any calls of the two processes of a node, half of them with what is not
 * theirs: the other's queues, memory or events, ranks that do not exist, and
 * entries of their tables that lead elsewhere.  A model says what comes of each
 * call, and what is in memory at last.
 */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	NODES = 4,
	EACH = 2,
	RANKS = NODES * EACH,
	QUEUES = 3, /* of a process, and one that is not open */
	SLOTS = 16, /* words of a process's memory that each of both writes */
	CALLS = 120,
	SEEDS = 12,
	AT = 0x10000,
	GOT_AT = 0x20000,
	FROM_AT = 0x30000,
	ABSENT = 9, /* a context that no node has */
};

#define END  (20000 * US)
#define HALF (UINT64_C(1) * ET_MEMORY / EACH)

/* What the words should be: [node][process][writer][slot] */
typedef uint64_t words[NODES][EACH][EACH][SLOTS];

struct actor {
	words *want;
	uint64_t dice, made;
	struct elan_cq queue[QUEUES];
	struct elan_route to[RANKS];
	uint32_t refused; /* calls and packets that came to nothing */
};

static uint32_t roll(struct actor *x, uint32_t n)
{
	x->dice = x->dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(x->dice >> 33) % n;
}

static uint32_t me(void)
{
	return program_process();
}

static uint32_t other(void)
{
	return !program_process();
}

/* Where a writer's word is in the memory of a node's process. */
static uint64_t slot_at(uint32_t process, uint32_t writer, uint32_t slot)
{
	return process * HALF + AT + 8 * (writer * SLOTS + slot);
}

/* --- a call --- */

enum kind { PUT, PUT_FROM, DMA, GET, KINDS };

struct call {
	enum kind kind;
	struct elan_cq *q;
	uint32_t rank;
	uint32_t process; /* whose memory its address is in, at the target */
	uint32_t local; /* and here: of a source, or a get's target */
	uint32_t slot;
	uint64_t value;
};

static struct call any_call(struct actor *x)
{
	struct call c = {
		.kind = (enum kind)roll(x, KINDS),
		.rank = roll(x, RANKS),
		.local = me(),
		.slot = roll(x, SLOTS),
		.value = (UINT64_C(1) + me()) << 32 | ++x->made,
	};

	c.q = &x->queue[roll(x, QUEUES)];
	c.process = x->to[c.rank].context - 1u;
	if (roll(x, 2) == 0)
		return c;
	/* something is wrong, or forged */
	if (roll(x, 3) == 0)
		c.rank = RANKS + roll(x, 3) * 0x1fffffff;
	if (roll(x, 3) == 0)
		c.process = roll(x, EACH);
	if (roll(x, 3) == 0)
		c.local = other();
	return c;
}

static int make_call(struct elan_cq *q, const struct call *c)
{
	uint64_t at = slot_at(c->process % EACH, me(), c->slot);
	uint64_t from = c->local * HALF + FROM_AT;
	const struct elan_dma d = {
		.bytes = 8, .destination = c->rank, .from = from, .to = at
	};

	program_write(me() * HALF + FROM_AT, &c->value, 8);
	switch (c->kind) {
	case PUT:
		return elan_put(q, c->rank, at, &c->value, 8, 0, 0);
	case PUT_FROM:
		return elan_put_from(q, c->rank, at, from, 8, 0, 0);
	case DMA:
		return elan_dma(q, &d);
	default:
		return elan_get(q, c->rank, at, c->local * HALF + GOT_AT, 8, 0);
	}
}

/* What the call returns. */
static int want_code(const struct call *c)
{
	return c->kind == PUT_FROM && c->local != me() ? EFAULT : 0;
}

/* What becomes of its queue. */
static enum elan_error want_error(const struct actor *x, const struct call *c)
{
	const struct elan_route *to = &x->to[c->rank % RANKS];

	if (c->rank >= RANKS || to->state == ELAN_ROUTE_NONE)
		return ELAN_ERROR_COMMAND;
	if ((c->kind == DMA || c->kind == GET) && c->local != me())
		return ELAN_ERROR_ADDRESS;
	return to->context == 1 + c->process % EACH ? ELAN_FINE
						    : ELAN_ERROR_REFUSED;
}

static void restart(struct elan_cq *q)
{
	int code;

	while ((code = elan_cq_restart(q)) == EBUSY)
		program_charge(5 * US);
	assert_int_equal(code, 0);
}

/* It has come to something. */
static void note(struct actor *x, const struct call *c)
{
	const struct elan_route *to = &x->to[c->rank];
	uint64_t *want = &(*x->want)[to->node][to->context - 1][me()][c->slot],
		 got;

	if (c->kind != GET) {
		*want = c->value;
		return;
	}
	program_read(me() * HALF + GOT_AT, &got, 8);
	assert_true(got == *want);
}

static void call(struct actor *x)
{
	const struct call c = any_call(x);
	enum elan_error want = want_error(x, &c);

	assert_int_equal(make_call(c.q, &c), want_code(&c));
	if (want_code(&c)) {
		x->refused++;
		return;
	}
	program_charge(30 * US);
	assert_int_equal(elan_cq_error(c.q), want);
	if (want == ELAN_FINE) {
		note(x, &c);
		return;
	}
	x->refused++;
	restart(c.q);
}

/* --- what is another's --- */

static void use_anothers_queue(struct actor *x)
{
	struct elan_cq q = { .id = QUEUES * other() + roll(x, QUEUES),
		.stored = 8 * roll(x, 100) };
	struct call c = any_call(x);
	sim_time begin = program_now();

	switch (roll(x, 4)) {
	case 0:
		assert_int_equal(elan_cq_close(&q), EACCES);
		break;
	case 1:
		assert_int_equal(elan_cq_restart(&q), EACCES);
		break;
	case 2:
		q.id = 2 * QUEUES + roll(x, 1000);
		assert_int_equal(make_call(&q, &c), EBADF);
		break;
	default:
		assert_int_equal(make_call(&q, &c), EACCES);
	}
	assert_int_equal(program_now(), begin);
	x->refused++;
}

/* Event 1 + p is process p's, which waits for it at the end. */
static void use_anothers_event(struct actor *x)
{
	struct elan_cq *q = &x->queue[roll(x, QUEUES)];

	if (roll(x, 2)) {
		assert_int_equal(elan_set(q, 1 + other(), 1), 0);
		program_charge(20 * US);
		assert_int_equal(elan_cq_error(q), ELAN_FINE);
		return;
	}
	assert_int_equal(
		elan_arm(q, 1 + other(), 1, GOT_AT + me() * HALF, 1), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(q), ELAN_ERROR_RIGHT);
	x->refused++;
	restart(q);
}

/* The driver leads a rank to any process, to none, or to no context. */
static void change_table(struct actor *x)
{
	static const uint16_t context[] = { 1, 2, ABSENT };
	uint32_t rank = roll(x, RANKS);

	x->to[rank] = (struct elan_route){
		.node = roll(x, NODES),
		.context = context[roll(x, 3)],
		.state = roll(x, 5) ? ELAN_ROUTE_VALID : ELAN_ROUTE_NONE,
		.routes = UINT64_C(0x8000000000000001) << roll(x, 8),
	};
	assert_int_equal(elan_route_set(et_card(), program_node(), 1 + me(),
				 rank, &x->to[rank]),
		0);
}

/* --- the run --- */

static void open_all(struct actor *x)
{
	for (uint32_t i = 0; i < QUEUES; i++)
		assert_int_equal(elan_cq_open(&x->queue[i], QUEUES * me() + i,
					 ELAN_8K, ELAN_MAY_ALL),
			0);
	for (uint32_t r = 0; r < RANKS; r++)
		x->to[r] = (struct elan_route){ .node = r / EACH,
			.context = (uint16_t)(1 + r % EACH),
			.state = ELAN_ROUTE_VALID };
	assert_int_equal(
		elan_arm(&x->queue[0], 1 + me(), 1, me() * HALF + ET_FLAG, 1),
		0);
	program_wait(20 * US);
}

static void act(void *arg)
{
	struct actor *x = arg;
	uint64_t word;

	open_all(x);
	for (uint32_t i = 0; i < CALLS; i++) {
		uint32_t what = roll(x, 12);

		if (what < 3)
			use_anothers_queue(x);
		else if (what == 3)
			use_anothers_event(x);
		else if (what == 4)
			change_table(x);
		else
			call(x);
	}
	/* nobody has set its event, or taken it, when the other is done, too */
	assert_true(program_now() < END);
	program_wait(END);
	program_read(me() * HALF + ET_FLAG, &word, 8);
	assert_int_equal(word, 0);
	assert_int_equal(elan_set(&x->queue[0], 1 + me(), 1), 0);
	assert_true(elan_wait_word(me() * HALF + ET_FLAG, 1));
}

/* Processes of other nodes open their memory. */
static void idle(void *arg)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, me(), ELAN_1K, 0), 0);
}

static void expect_words(const struct et *m, words *want)
{
	uint64_t got;

	for (uint32_t i = 0; i < sizeof(*want) / 8; i++) {
		site_id s = i / (EACH * EACH * SLOTS);
		uint32_t process = i / (EACH * SLOTS) % EACH;
		uint32_t writer = i / SLOTS % EACH, slot = i % SLOTS;

		host_read(m->host, s, slot_at(process, writer, slot), &got, 8);
		if (got != (*want)[s][process][writer][slot])
			fail_msg("node %u, process %u: slot %u of %u", s,
				process, slot, writer);
	}
}

static void run(struct et *m, uint64_t seed)
{
	words want;
	struct actor x[EACH];
	uint32_t refused = 0;

	memset(want, 0, sizeof(want));
	m->n_processes = EACH;
	m->params.cache.on = seed % 2;
	et_start(m, 1 + (uint32_t)seed % 3, RANKS);
	for (uint32_t i = 0; i < RANKS; i++) {
		bool acts = i < EACH;

		if (acts)
			x[i] = (struct actor){ .want = &want,
				.dice = seed * 97 + i };
		program_start(m->host, i / EACH,
			i % EACH * host_threads_each(m->host), 0,
			acts ? act : idle, acts ? &x[i] : NULL);
	}
	et_go(m);
	expect_words(m, &want);
	for (uint32_t i = 0; i < EACH; i++)
		refused += x[i].refused;
	assert_in_range(refused, EACH * CALLS / 3, EACH * CALLS * 3 / 4);
}

static void only_who_calls_wrongly_suffers(void **state)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct et m;

		et_init(&m, "4");
		run(&m, seed);
		et_fini(&m);
	}
}

TESTS(TEST(only_who_calls_wrongly_suffers))
