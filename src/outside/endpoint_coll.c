/*
 * Collectives of a rank that the machine's network executes.  All ranks must
 * decide alike, so ENOTSUP depends only on what all of them know: the kind, the
 * type, the operation and the length.
 *
 * The machine wants the same address everywhere, and words of eight bytes: the
 * bytes of a rank are copied to a place that is the same in all processes.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "outside/endpoint_op.h"

/* Types and operations, as libfabric numbers them. */
enum { INT32 = 4, UINT32, INT64, UINT64, FLOAT, DOUBLE };
enum { MIN, MAX, SUM };

enum { WORDS = ENDPOINT_COLL / 16 }; /* of a reduction, and of its result */

static struct msg_state *state(struct endpoint *e)
{
	return msg_state(&e->msg);
}

/* --- the rank's bytes --- */

int endpoint_load(struct endpoint *e, const struct channel_command *c, void *to)
{
	uint64_t at = c->at;
	uint32_t hold;
	int code;

	if (c->flags & CHANNEL_IN_ROOM)
		return e->client.load(e->client.arg, at, to, c->bytes) ? 0
								       : EFAULT;
	code = e->client.take(e->client.arg, c->bytes, &at, &hold);
	if (code)
		return code;
	code = program_read(at, to, c->bytes) ? 0 : EFAULT;
	e->client.give(e->client.arg, hold);
	return code;
}

int endpoint_store(
	struct endpoint *e, uint64_t at, const void *from, uint64_t bytes)
{
	uint32_t hold;
	int code = e->client.take(e->client.arg, bytes, &at, &hold);

	if (code)
		return code;
	code = program_write(at, from, bytes) ? 0 : EFAULT;
	e->client.give(e->client.arg, hold);
	return code;
}

/* --- each --- */

static int barrier(struct endpoint *e)
{
	return state(e)->ops->barrier ? state(e)->ops->barrier(state(e))
				      : ENOSYS;
}

static int broadcast(struct endpoint *e, const struct channel_command *c)
{
	struct msg_state *m = state(e);
	bool is_root = c->rank == m->rank;
	int error = 0, code;
	uint8_t *bytes;

	if (!m->ops->broadcast || c->bytes > ENDPOINT_COLL ||
		c->rank >= m->n_ranks)
		return ENOSYS;
	if (!c->bytes)
		return 0;
	bytes = mem_alloc(1, c->bytes);
	if (is_root)
		error = endpoint_load(e, c, bytes);
	/* with an error of its own, too: the others wait */
	if (is_root)
		program_write(e->coll, bytes, c->bytes);
	code = m->ops->broadcast(m, c->rank, e->coll, c->bytes);
	if (!code && !is_root) {
		program_read(e->coll, bytes, c->bytes);
		code = endpoint_store(e, c->at, bytes, c->bytes);
	}
	mem_free(bytes);
	return code ? code : error;
}

/* The reduction of words that is the same as one of such numbers, or -1. */
static int reduction_of(uint32_t type, uint32_t op)
{
	static const int of_integers[] = { [MIN] = WEFT_MSG_MIN_INT,
		[MAX] = WEFT_MSG_MAX_INT,
		[SUM] = WEFT_MSG_SUM_INT };

	if (type == DOUBLE)
		return op == SUM ? WEFT_MSG_SUM_DOUBLE : -1;
	if (type == UINT64)
		return op == SUM ? WEFT_MSG_SUM_INT : -1;
	if (type != INT32 && type != UINT32 && type != INT64)
		return -1;
	return op <= SUM ? of_integers[op] : -1;
}

static uint32_t size_of(uint32_t type)
{
	return type == INT32 || type == UINT32 ? 4 : 8;
}

static void widen(uint32_t type, const uint8_t *from, uint64_t *to, uint64_t n)
{
	int32_t word;

	if (size_of(type) == 8)
		memcpy(to, from, 8 * n);
	for (uint64_t i = 0; size_of(type) == 4 && i < n; i++) {
		memcpy(&word, from + 4 * i, 4);
		to[i] = type == INT32 ? (uint64_t)(int64_t)word
				      : (uint64_t)(uint32_t)word;
	}
}

static void narrow(uint32_t type, const uint64_t *from, uint8_t *to, uint64_t n)
{
	if (size_of(type) == 8)
		memcpy(to, from, 8 * n);
	for (uint64_t i = 0; size_of(type) == 4 && i < n; i++)
		memcpy(to + 4 * i, &(uint32_t){ (uint32_t)from[i] }, 4);
}

/* The rank's numbers are in word; so is the result. */
static int reduce_words(struct endpoint *e, const struct channel_command *c,
	enum weft_msg_reduction op, uint64_t *word, uint64_t n)
{
	struct msg_state *m = state(e);
	uint64_t to = e->coll + 8 * (uint64_t)WORDS;
	uint32_t root = c->rank == CHANNEL_ANY ? WEFT_MSG_ANY : c->rank;
	int code;

	program_write(e->coll, word, 8 * n);
	code = m->ops->reduce(m, root, op, e->coll, to, n);
	if (!code)
		program_read(to, word, 8 * n);
	return code;
}

static int reduce(struct endpoint *e, const struct channel_command *c)
{
	struct msg_state *m = state(e);
	uint32_t type = c->op >> 8;
	int op = reduction_of(type, c->op & 255), error, code;
	uint64_t n = c->bytes / size_of(type), *word;
	uint8_t *bytes;

	if (!m->ops->reduce || op < 0 || n > WORDS ||
		c->bytes % size_of(type) ||
		(c->rank != CHANNEL_ANY && c->rank >= m->n_ranks))
		return ENOSYS;
	if (!n)
		return 0;
	bytes = mem_alloc(n, 8);
	word = mem_alloc(n, 8);
	error = endpoint_load(e, c, bytes);
	widen(type, bytes, word, n);
	code = reduce_words(e, c, (enum weft_msg_reduction)op, word, n);
	if (!code && (c->rank == CHANNEL_ANY || c->rank == m->rank)) {
		narrow(type, word, bytes, n);
		code = endpoint_store(e, c->tag, bytes, c->bytes);
	}
	mem_free(bytes);
	mem_free(word);
	return code ? code : error;
}

int endpoint_collective(struct endpoint *e, const struct channel_command *c)
{
	int code = c->kind == CHANNEL_BARRIER	  ? barrier(e)
		   : c->kind == CHANNEL_BROADCAST ? broadcast(e, c)
						  : reduce(e, c);

	return code == ENOSYS ? ENOTSUP : code;
}

uint32_t endpoint_collectives(const struct msg_ops *ops)
{
	return (ops->barrier ? 1u << CHANNEL_BARRIER : 0) |
	       (ops->broadcast ? 1u << CHANNEL_BROADCAST : 0) |
	       (ops->reduce ? 1u << CHANNEL_REDUCE : 0);
}
