/*
 * Random operations of ranks on every interface, compared with a plain model.
 *
 * A rank does rounds of some operations at once.  Each rank has a part of every
 * rank's memory that only it changes, and knows what must be there; in a round
 * each operation has a slice of its own.  All ranks count in rank 0's memory.
 * What messages a round has is drawn alike by all, so that a rank knows which
 * ones will come, and receives them by name, by rank, by tag or as any.
 *
 * WEFT_LONG: so many rounds, in place of a few.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "outside/combine.h"
#include "testing/endpoint_testing.h"
#include "testing/testing.h"

enum {
	FEW = 6, /* rounds */
	OPS = 4, /* of a round, beside messages */
	SENT = 2, /* messages of a rank in a round */
	SLICE = 4096,
	PART = OPS * SLICE,
	AT_BUFFERS = SLICE, /* of each operation SLICE bytes, thrice */
	AT_MESSAGES = 1 << 17, /* sent, then received, in each MESSAGE bytes */
	MESSAGE = 8192,
	AT_PARTS = 1 << 20,
	AT_COUNTERS = 3 << 20,
	MOST = 32, /* ranks */
	ROOM_EACH = 4096,
};

struct own;

/* Of all ranks. */
struct totals {
	uint64_t seed;
	uint32_t n_rounds;
	_Atomic int64_t words, halves;
	_Atomic uint64_t told, heard; /* writes with data */
	struct own *own[MOST]; /* by rank */
};

/* What a rank began, by context. */
struct begun {
	uint32_t kind; /* of a command; CHANNEL_KINDS: it has ended */
	uint32_t rank;
	uint64_t offset, bytes;
	int error; /* that is expected */
	uint16_t op;
	bool is_fetched;
	uint8_t old[SLICE]; /* what an atomic or a read must return */
};

enum { BEGUN = OPS + 2 };

struct own {
	struct endpoint_test_rank *r;
	struct totals *totals;
	uint8_t *mirror; /* [rank][PART] */
	uint64_t n; /* of the dice */
	struct begun begun[BEGUN];
};

static uint32_t draw(struct own *o, uint32_t below)
{
	return dice(o->totals->seed + 1000 * o->r->rank, &o->n, below);
}

static uint8_t *mirror_of(struct own *o, uint32_t rank)
{
	return o->mirror + (uint64_t)rank * PART;
}

/* Address of this rank's part of another's memory. */
static uint64_t part_at(const struct own *o)
{
	return AT_PARTS + (uint64_t)o->r->rank * PART;
}

static uint64_t buffer_at(uint32_t i, uint32_t which)
{
	return AT_BUFFERS + (uint64_t)(3 * i + which) * SLICE;
}

static uint8_t *room_of(struct own *o, uint32_t i)
{
	return o->r->room + ROOM_EACH * i;
}

/* --- puts and gets --- */

static struct channel_command transfer(
	struct own *o, uint32_t i, enum channel_kind kind)
{
	struct begun *b = &o->begun[i];
	uint32_t at = draw(o, SLICE);
	struct channel_command c;

	*b = (struct begun){ .kind = kind,
		.rank = draw(o, o->r->n_ranks),
		.offset = (uint64_t)i * SLICE + at,
		.bytes = draw(o, 4) ? draw(o, (uint32_t)(SLICE - at) / 8 + 1)
				    : draw(o, (uint32_t)(SLICE - at) + 1) };
	c = endpoint_test_transfer(kind, b->rank, part_at(o) + b->offset,
		buffer_at(i, 0), b->bytes);
	c.context = i;
	return c;
}

/* In two pieces, the second of which comes first. */
static void begin_pieces(struct own *o, uint32_t i, struct channel_command c)
{
	uint64_t half = c.bytes / 2;
	const struct channel_piece piece[2] = { { c.at + half, c.bytes - half },
		{ c.at, half } };
	const struct channel_command v = { .kind = CHANNEL_VECTOR_OF,
		.flags = CHANNEL_IN_ROOM,
		.n = 2,
		.at = ROOM_EACH * i,
		.bytes = sizeof(piece) };

	memcpy(room_of(o, i), piece, sizeof(piece));
	endpoint_test_begin(o->r, v);
	endpoint_test_begin(o->r, c);
}

static void turn_round(uint8_t *to, const uint8_t *from, uint64_t n)
{
	memcpy(to, from + n / 2, n - n / 2);
	memcpy(to + n - n / 2, from, n / 2);
}

static void write_some(struct own *o, uint32_t i)
{
	struct channel_command c = transfer(o, i, CHANNEL_WRITE);
	const struct begun *b = &o->begun[i];
	uint8_t *mine = o->r->memory + buffer_at(i, 0);
	uint8_t *there = mirror_of(o, b->rank) + b->offset;
	uint32_t how = draw(o, 3);

	memory_fill_by(o->totals->seed, o->n, o->r->rank, mine, b->bytes);
	if (draw(o, 4) == 0) {
		c.flags |= CHANNEL_HAS_DATA;
		atomic_fetch_add(&o->totals->told, 1);
	}
	if (how == 0) {
		turn_round(there, mine, b->bytes);
		begin_pieces(o, i, c);
		return;
	}
	memcpy(there, mine, b->bytes);
	if (how == 1) {
		memcpy(room_of(o, i), mine, b->bytes);
		memset(mine, 0, b->bytes);
		c.flags |= CHANNEL_IN_ROOM;
		c.at = ROOM_EACH * i;
	}
	endpoint_test_begin(o->r, c);
}

static void read_some(struct own *o, uint32_t i)
{
	struct channel_command c = transfer(o, i, CHANNEL_READ);
	struct begun *b = &o->begun[i];

	memcpy(b->old, mirror_of(o, b->rank) + b->offset, b->bytes);
	endpoint_test_begin(o->r, c);
}

/* With another key, beyond the end, or of no rank. */
static void break_in(struct own *o, uint32_t i)
{
	struct channel_command c =
		transfer(o, i, draw(o, 2) ? CHANNEL_WRITE : CHANNEL_READ);

	o->begun[i].error = EACCES;
	if (draw(o, 2))
		c.ignore++;
	else
		c.tag = ENDPOINT_TEST_BYTES - c.bytes + 1;
	endpoint_test_begin(o->r, c);
}

/* --- atomics --- */

/* Any bytes, or small numbers, which are equal now and then. */
static void make_operands(struct own *o, unsigned type, uint8_t *to, uint64_t n)
{
	uint64_t each = combine_bytes(type);

	memory_fill_by(o->totals->seed, o->n++, o->r->rank, to, n);
	if (type > COMBINE_UINT64)
		return;
	memset(to, 0, n);
	for (uint64_t k = 0; k < n; k += each)
		to[k] = (uint8_t)draw(o, 7);
}

static void atomic_some(struct own *o, uint32_t i)
{
	struct begun *b = &o->begun[i];
	unsigned type = draw(o, COMBINE_TYPES), op = draw(o, COMBINE_OPS);
	uint64_t each = combine_bytes(type), most = draw(o, 8) ? 4 : 200;
	uint64_t n = (1 + draw(o, (uint32_t)most)) * each;
	uint8_t *with = room_of(o, i), *there;
	uint8_t *compare = o->r->memory + buffer_at(i, 1);
	bool compares;

	if (!combine_fits(type, op))
		op = COMBINE_SUM;
	compares = op >= COMBINE_CSWAP;
	n = n > SLICE ? SLICE / each * each : n;
	*b = (struct begun){ .kind = CHANNEL_ATOMIC,
		.rank = draw(o, o->r->n_ranks),
		.offset = (uint64_t)i * SLICE +
			  draw(o, (uint32_t)((SLICE - n) / each) + 1) * each,
		.bytes = n,
		.op = (uint16_t)(type << 8 | op),
		.is_fetched = compares || op == COMBINE_READ || draw(o, 2) };
	there = mirror_of(o, b->rank) + b->offset;
	make_operands(o, type, with, n);
	make_operands(o, type, compare, n);
	if (compares && draw(o, 2))
		memcpy(compare, there, n);
	memcpy(b->old, there, n);
	combine(type, b->op & 255, there, with, compare, n);
	endpoint_test_atomic(o->r,
		(struct channel_command){ .op = b->op,
			.rank = b->rank,
			.tag = part_at(o) + b->offset,
			.at = ROOM_EACH * i,
			.bytes = n,
			.context = i },
		b->is_fetched ? buffer_at(i, 0) : 0,
		compares ? buffer_at(i, 1) : 0);
}

/* All ranks count in one's memory. */
static void count_some(struct own *o, uint32_t i)
{
	uint32_t is_word = draw(o, 2), n = 1 + draw(o, 5);
	uint32_t type = is_word ? COMBINE_INT64 : COMBINE_INT32;

	o->begun[i] = (struct begun){ .kind = CHANNEL_ATOMIC };
	memset(room_of(o, i), 0, 8);
	memcpy(room_of(o, i), &n, sizeof(n));
	if (is_word)
		atomic_fetch_add(&o->totals->words, n);
	else
		atomic_fetch_add(&o->totals->halves, n);
	endpoint_test_atomic(o->r,
		(struct channel_command){
			.op = (uint16_t)(type << 8 | COMBINE_SUM),
			.tag = AT_COUNTERS + (is_word ? 0 : 8),
			.at = ROOM_EACH * i,
			.bytes = is_word ? 8 : 4,
			.context = i },
		0, 0);
}

static void begin_some(struct own *o, uint32_t i)
{
	static void (*const kinds[])(struct own * o, uint32_t i) = { write_some,
		read_some, atomic_some, atomic_some, count_some, break_in };

	kinds[draw(o, sizeof(kinds) / sizeof(*kinds))](o, i);
}

/* --- messages --- */

struct letter {
	uint32_t from, to, k;
	uint64_t bytes;
};

/* The same wherever it is drawn. */
static struct letter letter_of(
	const struct own *o, uint32_t round, uint32_t from, uint32_t k)
{
	uint64_t bits = random_draw(o->totals->seed, from, RANDOM_TEST,
		UINT64_C(1) << 40 | round * SENT | k)
				.a;

	return (struct letter){ .from = from,
		.k = k,
		.to = (uint32_t)(bits % o->r->n_ranks),
		.bytes = bits >> 32 & 1 ? bits >> 40 & 127
					: (bits >> 40) % (MESSAGE - 1) };
}

static uint64_t tag_of(uint32_t round, uint32_t k)
{
	return (uint64_t)(round + 1) << 32 | k;
}

static uint64_t stream_of(uint32_t round, const struct letter *l)
{
	return ((uint64_t)round * MOST + l->from) * SENT + l->k;
}

static void send_letters(struct own *o, uint32_t round)
{
	for (uint32_t k = 0; k < SENT; k++) {
		struct letter l = letter_of(o, round, o->r->rank, k);
		uint64_t at = AT_MESSAGES + (uint64_t)k * MESSAGE;
		struct channel_command c = { .kind = CHANNEL_SEND,
			.flags = CHANNEL_TAGGED | CHANNEL_HAS_DATA |
				 (draw(o, 3) ? 0 : CHANNEL_SYNC),
			.rank = l.to,
			.tag = tag_of(round, k),
			.data = ~stream_of(round, &l),
			.at = ENDPOINT_TEST_AT + at,
			.bytes = l.bytes,
			.context = OPS + k };

		o->begun[OPS + k].kind = CHANNEL_SEND;
		memory_fill_by(o->totals->seed, stream_of(round, &l), 0,
			o->r->memory + at, l.bytes);
		endpoint_test_begin(o->r, c);
	}
}

enum { BY_NAME, BY_RANK, BY_TAG, ANY_WAY, BY_CLAIM, WAYS };

static struct channel_command receive_of(
	const struct letter *l, uint32_t round, uint32_t way, uint32_t i)
{
	return (struct channel_command){ .kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED,
		.rank = way == BY_TAG || way == ANY_WAY ? CHANNEL_ANY : l->from,
		.tag = tag_of(round, l->k),
		.ignore = way == BY_RANK || way == ANY_WAY ? 1 : 0,
		.at = ENDPOINT_TEST_AT + AT_MESSAGES +
		      (uint64_t)(SENT + i) * MESSAGE,
		.bytes = MESSAGE,
		.context = BEGUN + i };
}

/* It is looked at first, and then nobody else's. */
static void claim(struct own *o, struct channel_command c)
{
	c.kind = CHANNEL_PEEK;
	c.flags |= CHANNEL_CLAIM | CHANNEL_LASTS;
	endpoint_test_begin(o->r, c);
}

/* Receives of all letters of a round that are for this rank; returns their
 * number. */
static uint32_t receive_letters(struct own *o, uint32_t round, uint32_t way)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < SENT; k++)
		for (uint32_t from = 0; from < o->r->n_ranks; from++) {
			struct letter l = letter_of(o, round, from, k);
			struct channel_command c =
				receive_of(&l, round, way, n);

			if (l.to != o->r->rank)
				continue;
			if (way == BY_CLAIM)
				claim(o, c);
			else
				endpoint_test_begin(o->r, c);
			n++;
		}
	return n;
}

/* What a message is, whoever has sent it. */
static void check_letter(
	struct own *o, uint32_t round, const struct channel_completion *x)
{
	struct letter l = letter_of(o, round, x->rank, (uint32_t)x->tag % SENT);
	uint64_t at = AT_MESSAGES + (SENT + x->context - BEGUN) * MESSAGE;

	assert_int_equal(x->error, 0);
	assert_true(x->tag == tag_of(round, l.k));
	assert_int_equal(l.to, o->r->rank);
	assert_int_equal(x->bytes, l.bytes);
	assert_true(x->data == ~stream_of(round, &l));
	assert_true(memory_is_by(o->totals->seed, stream_of(round, &l), 0,
		o->r->memory + at, l.bytes));
}

/* A message that was claimed is received. */
static void take_claimed(struct own *o, const struct channel_completion *x)
{
	const struct channel_command c = { .kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED | CHANNEL_CLAIM,
		.rank = x->rank,
		.tag = x->tag,
		.at = ENDPOINT_TEST_AT + AT_MESSAGES +
		      (SENT + x->context - BEGUN) * MESSAGE,
		.bytes = MESSAGE,
		.context = x->context };

	assert_int_equal(x->error, 0);
	endpoint_test_begin(o->r, c);
}

/* One that will never come. */
static void cancel_one(struct own *o)
{
	const struct channel_command c = { .kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED,
		.rank = CHANNEL_ANY,
		.tag = 7,
		.at = ENDPOINT_TEST_AT,
		.bytes = 8,
		.context = UINT64_MAX };

	endpoint_test_begin(o->r, c);
	endpoint_test_begin(
		o->r, (struct channel_command){
			      .kind = CHANNEL_CANCEL, .context = UINT64_MAX });
}

/* --- rounds --- */

static void check_op(struct own *o, const struct channel_completion *x)
{
	struct begun *b = &o->begun[x->context];
	const uint8_t *got = o->r->memory + buffer_at((uint32_t)x->context, 0);

	assert_int_equal(x->error, b->error);
	assert_int_equal(x->kind, b->kind);
	if (!b->error && (b->kind == CHANNEL_READ || b->is_fetched))
		assert_memory_equal(got, b->old, b->bytes);
	b->kind = CHANNEL_KINDS;
}

static void do_round(struct own *o, uint32_t round)
{
	uint32_t way = draw(o, WAYS), n = OPS + SENT + 1, early = draw(o, 2);

	if (early)
		n += receive_letters(o, round, way);
	send_letters(o, round);
	for (uint32_t i = 0; i < OPS; i++)
		begin_some(o, i);
	cancel_one(o);
	if (!early)
		n += receive_letters(o, round, way);
	while (n) {
		struct channel_completion x = endpoint_test_next(o->r);

		if (x.flags & CHANNEL_REMOTE) {
			atomic_fetch_add(&o->totals->heard, 1);
			continue;
		}
		n -= x.kind != CHANNEL_PEEK;
		if (x.kind == CHANNEL_PEEK)
			take_claimed(o, &x);
		else if (x.context == UINT64_MAX)
			assert_int_equal(x.error, ECANCELED);
		else if (x.kind == CHANNEL_RECEIVE)
			check_letter(o, round, &x);
		else
			check_op(o, &x);
	}
}

/* Others' parts are what they think. */
static void compare_parts(struct own *o, struct own *const *all)
{
	for (uint32_t i = 0; i < o->r->n_ranks; i++)
		assert_memory_equal(o->r->memory + part_at(all[i]),
			mirror_of(all[i], o->r->rank), PART);
}

static void act(struct endpoint_test_rank *r)
{
	struct totals *t = r->test->arg;
	struct own *o = mem_alloc(1, sizeof(*o));
	struct channel_completion x;

	*o = (struct own){ .r = r, .totals = t };
	o->mirror = mem_alloc(r->n_ranks, PART);
	t->own[r->rank] = o;
	if (!r->rank)
		t->words = t->halves = 0;
	endpoint_test_open(r, REGISTRY_READ | REGISTRY_WRITE, 0);
	for (uint32_t i = 0; i < t->n_rounds; i++)
		do_round(o, i);
	endpoint_finish(&r->e);
	endpoint_test_barrier(r);
	/* notices that are still under way */
	program_charge(100 * US);
	endpoint_step(&r->e);
	while (endpoint_next(&r->e, &x))
		t->heard += x.flags & CHANNEL_REMOTE ? 1 : 0;
	compare_parts(o, t->own);
	if (!r->rank) {
		assert_true(*(int64_t *)(r->memory + AT_COUNTERS) == t->words);
		assert_true(*(int32_t *)(r->memory + AT_COUNTERS + 8) ==
			    (int32_t)t->halves);
	}
	endpoint_test_barrier(r);
	mem_free(o->mirror);
	mem_free(o);
}

static void random_operations_do_what_a_plain_model_does(void **state)
{
	const char *is_long = getenv("WEFT_LONG");
	struct totals t = { .seed = 11,
		.n_rounds = is_long ? (uint32_t)atoi(is_long) : FEW };

	for (uint32_t turn = 0; turn < 2; turn++) {
		t.seed++;
		endpoint_test_everywhere(act, &t, turn);
	}
	assert_true(t.told > 0 && t.told == t.heard);
}

/* MPI-F10. */
static void ranks_with_small_pools_are_as_in_the_model(void **state)
{
	struct totals t = { .seed = 31, .n_rounds = FEW };
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i += 2) {
		struct endpoint_test test = { .kind = &kinds.kind[i],
			.n_processes = 2 - i / 2 % 2,
			.n_workers = 1,
			.matching = WEFT_MSG_MATCH_HOST,
			.pool = 1 + i % 3,
			.run = act,
			.arg = &t };

		endpoint_test_run(&test);
	}
	assert_true(t.told > 0 && t.told == t.heard);
}

TESTS(TEST(random_operations_do_what_a_plain_model_does),
	TEST(ranks_with_small_pools_are_as_in_the_model))
