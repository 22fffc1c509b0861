/*
 * Collectives of a rank that the machine's network executes, in groups of ranks
 * that it has opened.  All members must decide alike, so ENOTSUP depends only
 * on what all of them know: the kind, the type, the operation and the length.
 *
 * The machine wants the same address everywhere, and words of eight bytes: the
 * bytes of a rank are copied to a place that is the same in all processes, in
 * parts of which each is a collective of its own.
 */
#include <errno.h>
#include <string.h>

#include "api/msg/group.h"
#include "base/mem.h"
#include "outside/endpoint.h"

/* Types and operations, as libfabric numbers them. */
enum {
	INT8,
	UINT8,
	INT16,
	UINT16,
	INT32,
	UINT32,
	INT64,
	UINT64,
	FLOAT,
	DOUBLE,
	TYPES
};
enum { MIN, MAX, SUM, LOR = 4, LAND, BOR, BAND, LXOR, BXOR, OPS };

enum {
	WORDS = ENDPOINT_COLL / 16, /* of a reduction, and of its result */
	BLOCK = CHANNEL_SHORT / 8, /* words that are copied at a time */
};

struct endpoint_group {
	struct msg_group group;
	uint32_t users; /* communicators with the same ranks */
};

static struct msg_state *state(struct endpoint *e)
{
	return msg_state(&e->msg);
}

/* --- groups --- */

static struct msg_group *group_of(
	struct endpoint *e, const struct channel_command *c)
{
	uint64_t i = c->data - 1;

	return i < e->n_groups && e->group[i].users ? &e->group[i].group : NULL;
}

/* Whether these are different ranks, and this one among them. */
static bool are_members(
	const struct msg_state *m, const uint32_t *rank, uint32_t n)
{
	bool *seen = mem_alloc(m->n_ranks, sizeof(*seen));
	bool is_good = true;

	for (uint32_t i = 0; i < n && is_good; i++) {
		is_good = rank[i] < m->n_ranks && !seen[rank[i]];
		if (is_good)
			seen[rank[i]] = true;
	}
	is_good = is_good && seen[m->rank];
	mem_free(seen);
	return is_good;
}

static int load_list(
	struct endpoint *e, const struct channel_command *c, uint32_t *list)
{
	uint64_t at = c->at;
	uint32_t hold;
	int code;

	if (c->flags & CHANNEL_IN_ROOM)
		return e->client.load(e->client.arg, at, list, c->bytes)
			       ? 0
			       : EFAULT;
	code = e->client.take(e->client.arg, c->bytes, &at, &hold);
	if (code)
		return code;
	code = program_read(at, list, c->bytes) ? 0 : EFAULT;
	e->client.give(e->client.arg, hold);
	return code;
}

/* The place of a group with the same ranks, or one that is free. */
static uint32_t find_group(struct endpoint *e, const uint32_t *rank, uint32_t n)
{
	uint32_t unused = e->n_groups;

	for (uint32_t i = 0; i < e->n_groups; i++) {
		const struct endpoint_group *g = &e->group[i];

		if (g->users && g->group.n == n &&
			!memcmp(g->group.rank, rank, n * sizeof(*rank)))
			return i;
		if (!g->users)
			unused = i;
	}
	if (unused == e->n_groups) {
		e->group = mem_more(e->group, unused, sizeof(*e->group));
		e->group[e->n_groups++] = (struct endpoint_group){ 0 };
	}
	return unused;
}

/* The list belongs to the endpoint, which may end while it waits. */
static int open_group(struct endpoint *e, struct channel_command *c)
{
	struct msg_state *m = state(e);
	uint32_t n = (uint32_t)(c->bytes / sizeof(*e->list)), i;
	int code;

	if (!n || c->bytes > m->n_ranks * sizeof(*e->list) ||
		c->bytes % sizeof(*e->list))
		return EINVAL;
	if (!e->list)
		e->list = mem_alloc(m->n_ranks, sizeof(*e->list));
	code = load_list(e, c, e->list);
	if (code)
		return code;
	if (!are_members(m, e->list, n))
		return EINVAL;
	i = find_group(e, e->list, n);
	if (!e->group[i].users)
		code = msg_group_open(m, &e->group[i].group, e->list, n);
	e->group[i].users += !code;
	c->data = i + 1;
	return code;
}

static int close_group(struct endpoint *e, const struct channel_command *c)
{
	struct msg_group *g = group_of(e, c);

	if (!g)
		return EINVAL;
	if (!--e->group[c->data - 1].users)
		msg_group_close(state(e), g);
	return 0;
}

void endpoint_free_groups(struct endpoint *e)
{
	for (uint32_t i = 0; i < e->n_groups; i++)
		msg_group_free(&e->group[i].group);
	mem_free(e->group);
	mem_free(e->list);
	e->group = NULL;
	e->list = NULL;
	e->n_groups = 0;
}

/* --- the rank's bytes --- */

/* Bytes of the rank while a collective lasts: an address of the node, or an
 * offset of what came with the command. */
struct bytes {
	uint64_t at;
	uint32_t hold;
	bool is_in_room, is_held;
	int error; /* nothing is read or written; the others go on */
};

static struct bytes hold(
	struct endpoint *e, uint64_t at, uint64_t bytes, uint16_t flags)
{
	struct bytes b = { .at = at, .is_in_room = flags & CHANNEL_IN_ROOM };

	if (b.is_in_room)
		return b;
	b.error = e->client.take(e->client.arg, bytes, &b.at, &b.hold);
	b.is_held = !b.error;
	return b;
}

static int let_go(struct endpoint *e, const struct bytes *b)
{
	if (b->is_held)
		e->client.give(e->client.arg, b->hold);
	return b->error;
}

static void load(struct endpoint *e, struct bytes *b, uint64_t offset, void *to,
	uint64_t n)
{
	bool is_good;

	memset(to, 0, n);
	if (b->error)
		return;
	is_good = b->is_in_room
			  ? e->client.load(e->client.arg, b->at + offset, to, n)
			  : program_read(b->at + offset, to, n);
	b->error = is_good ? 0 : EFAULT;
}

static void store(
	struct bytes *b, uint64_t offset, const void *from, uint64_t n)
{
	if (!b->error && !program_write(b->at + offset, from, n))
		b->error = EFAULT;
}

/* --- broadcast --- */

static bool is_member(const struct msg_group *g, uint32_t rank)
{
	uint32_t i = 0;

	while (i < g->n && g->rank[i] != rank)
		i++;
	return i < g->n;
}

/* n bytes at an offset of the rank's; the network gets whole words. */
static int broadcast_part(struct endpoint *e, struct msg_group *g,
	uint32_t root, struct bytes *b, uint64_t offset, uint64_t n)
{
	struct msg_state *m = state(e);
	uint8_t block[8 * BLOCK];
	uint64_t i, k;
	int code;

	for (i = 0; i < n && root == m->rank; i += k) {
		k = n - i < sizeof(block) ? n - i : sizeof(block);
		load(e, b, offset + i, block, k);
		program_write(e->coll + i, block, k);
	}
	code = msg_group_broadcast(m, g, root, e->coll, (n + 7) / 8 * 8);
	for (i = 0; i < n && root != m->rank && !code; i += k) {
		k = n - i < sizeof(block) ? n - i : sizeof(block);
		program_read(e->coll + i, block, k);
		store(b, offset + i, block, k);
	}
	return code;
}

static int broadcast(struct endpoint *e, struct msg_group *g,
	const struct channel_command *c)
{
	struct bytes b;
	int code = 0, error;
	uint64_t i, n;

	if (!state(e)->ops->broadcast)
		return ENOSYS;
	if (!is_member(g, c->rank) || !c->bytes)
		return c->bytes ? EINVAL : 0;
	b = hold(e, c->at, c->bytes, c->flags);
	for (i = 0; i < c->bytes && !code; i += n) {
		n = c->bytes - i < ENDPOINT_COLL ? c->bytes - i : ENDPOINT_COLL;
		code = broadcast_part(e, g, c->rank, &b, i, n);
	}
	error = let_go(e, &b);
	return code ? code : error;
}

/* --- reductions --- */

/* A type in words of eight bytes, and the reductions of such words, + 1. */
struct number {
	uint8_t bytes;
	uint8_t reduction[OPS];
};

/* Words of logical operations are 0 or 1. */
#define BITS                                                                   \
	[LOR] = 1 + WEFT_MSG_MAX_INT, [LAND] = 1 + WEFT_MSG_MIN_INT,           \
	[LXOR] = 1 + WEFT_MSG_XOR_BITS, [BOR] = 1 + WEFT_MSG_OR_BITS,          \
	[BAND] = 1 + WEFT_MSG_AND_BITS, [BXOR] = 1 + WEFT_MSG_XOR_BITS
#define SIGNED                                                                 \
	{                                                                      \
		[MIN] = 1 + WEFT_MSG_MIN_INT, [MAX] = 1 + WEFT_MSG_MAX_INT,    \
		[SUM] = 1 + WEFT_MSG_SUM_INT, BITS                             \
	}
#define UNSIGNED                                                               \
	{                                                                      \
		[MIN] = 1 + WEFT_MSG_MIN_UINT, [MAX] = 1 + WEFT_MSG_MAX_UINT,  \
		[SUM] = 1 + WEFT_MSG_SUM_INT, BITS                             \
	}
#define FLOATING                                                               \
	{                                                                      \
		[MIN] = 1 + WEFT_MSG_MIN_DOUBLE,                               \
		[MAX] = 1 + WEFT_MSG_MAX_DOUBLE,                               \
		[SUM] = 1 + WEFT_MSG_SUM_DOUBLE                                \
	}

/* NULL: none that words can stand for. */
static const struct number *number_of(uint32_t type, uint32_t op)
{
	/* shorter unsigned numbers are positive in a word */
	static const struct number types[TYPES] = {
		[INT8] = { 1, SIGNED },
		[UINT8] = { 1, SIGNED },
		[INT16] = { 2, SIGNED },
		[UINT16] = { 2, SIGNED },
		[INT32] = { 4, SIGNED },
		[UINT32] = { 4, SIGNED },
		[INT64] = { 8, SIGNED },
		[UINT64] = { 8, UNSIGNED },
		[FLOAT] = { 4, FLOATING },
		[DOUBLE] = { 8, FLOATING },
	};

	return type < TYPES && op < OPS && types[type].reduction[op]
		       ? &types[type]
		       : NULL;
}

static bool is_logical(uint32_t op)
{
	return op == LOR || op == LAND || op == LXOR;
}

static uint64_t widen_number(uint32_t type, const uint8_t *from)
{
	uint64_t word = 0;
	int32_t i;
	int16_t h;
	float x;

	switch (type) {
	case INT8:
		return (uint64_t)(int64_t)(int8_t)*from;
	case UINT8:
		return *from;
	case INT16:
		memcpy(&h, from, 2);
		return (uint64_t)(int64_t)h;
	case UINT16:
		memcpy(&h, from, 2);
		return (uint16_t)h;
	case INT32:
		memcpy(&i, from, 4);
		return (uint64_t)(int64_t)i;
	case UINT32:
		memcpy(&i, from, 4);
		return (uint32_t)i;
	case FLOAT:
		memcpy(&x, from, 4);
		memcpy(&word, &(double){ x }, 8);
		return word;
	default:
		memcpy(&word, from, 8);
		return word;
	}
}

static uint64_t widen(uint32_t type, uint32_t op, const uint8_t *from)
{
	uint64_t word = widen_number(type, from);

	return is_logical(op) ? word != 0 : word;
}

/* An integer keeps its low bits, so a sum wraps round as that of its type. */
static void narrow(uint32_t type, uint32_t bytes, uint64_t word, uint8_t *to)
{
	double x;

	if (type == FLOAT) {
		memcpy(&x, &word, 8);
		memcpy(to, &(float){ (float)x }, 4);
		return;
	}
	for (uint32_t i = 0; i < bytes; i++)
		to[i] = (uint8_t)(word >> 8 * i);
}

/* n elements from the first-th on become words of the node. */
static void load_words(struct endpoint *e, struct bytes *b, uint16_t how,
	uint32_t size, uint64_t first, uint64_t n)
{
	uint8_t block[8 * BLOCK];
	uint64_t word[BLOCK], i, k;

	for (i = 0; i < n; i += k) {
		k = n - i < BLOCK ? n - i : BLOCK;
		load(e, b, size * (first + i), block, size * k);
		for (uint64_t j = 0; j < k; j++)
			word[j] = widen(how >> 8, how & 255, block + size * j);
		program_write(e->coll + 8 * i, word, 8 * k);
	}
}

static void store_words(uint64_t from, struct bytes *b, uint16_t how,
	uint32_t size, uint64_t first, uint64_t n)
{
	uint8_t block[8 * BLOCK];
	uint64_t word[BLOCK], i, k;

	for (i = 0; i < n; i += k) {
		k = n - i < BLOCK ? n - i : BLOCK;
		program_read(from + 8 * i, word, 8 * k);
		for (uint64_t j = 0; j < k; j++)
			narrow(how >> 8, size, word[j], block + size * j);
		store(b, size * (first + i), block, size * k);
	}
}

static int reduce_all(struct endpoint *e, struct msg_group *g,
	const struct channel_command *c, struct bytes *from, struct bytes *to)
{
	uint32_t op = c->op & 255;
	const struct number *x = number_of(c->op >> 8, op);
	uint32_t root = c->rank == CHANNEL_ANY ? WEFT_MSG_ANY : c->rank;
	uint64_t n = c->bytes / x->bytes, i, k, at = e->coll + 8 * WORDS;
	int code = 0;

	for (i = 0; i < n && !code; i += k) {
		k = n - i < WORDS ? n - i : WORDS;
		load_words(e, from, c->op, x->bytes, i, k);
		code = msg_group_reduce(state(e), g, root,
			(enum weft_msg_reduction)(x->reduction[op] - 1),
			e->coll, at, k);
		if (!code && to)
			store_words(at, to, c->op, x->bytes, i, k);
	}
	return code;
}

static int reduce(struct endpoint *e, struct msg_group *g,
	const struct channel_command *c)
{
	const struct number *x = number_of(c->op >> 8, c->op & 255);
	bool is_mine = c->rank == CHANNEL_ANY || c->rank == state(e)->rank;
	struct bytes from, to;
	int code, error;

	if (!state(e)->ops->reduce || !x)
		return ENOSYS;
	if (c->bytes % x->bytes ||
		(c->rank != CHANNEL_ANY && !is_member(g, c->rank)))
		return EINVAL;
	if (!c->bytes)
		return 0;
	from = hold(e, c->at, c->bytes, c->flags);
	to = is_mine ? hold(e, c->tag, c->bytes, 0) : (struct bytes){ 0 };
	code = reduce_all(e, g, c, &from, is_mine ? &to : NULL);
	error = let_go(e, &from);
	if (is_mine && let_go(e, &to))
		error = to.error;
	return code ? code : error;
}

/* --- all --- */

static int in_group(struct endpoint *e, const struct channel_command *c)
{
	struct msg_group *g = group_of(e, c);

	if (!g)
		return EINVAL;
	if (c->kind == CHANNEL_BROADCAST)
		return broadcast(e, g, c);
	if (c->kind == CHANNEL_REDUCE)
		return reduce(e, g, c);
	return state(e)->ops->barrier ? msg_group_barrier(state(e), g) : ENOSYS;
}

int endpoint_collective(struct endpoint *e, struct channel_command *c)
{
	int code = c->kind == CHANNEL_GROUP	? open_group(e, c)
		   : c->kind == CHANNEL_UNGROUP ? close_group(e, c)
						: in_group(e, c);

	return code == ENOSYS ? ENOTSUP : code;
}

uint32_t endpoint_collectives(const struct msg_ops *ops)
{
	if (!ops->has_group)
		return 0;
	return (ops->barrier ? 1u << CHANNEL_BARRIER : 0) |
	       (ops->broadcast ? 1u << CHANNEL_BROADCAST : 0) |
	       (ops->reduce ? 1u << CHANNEL_REDUCE : 0);
}
