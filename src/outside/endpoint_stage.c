/*
 * Memory of the node for operations: the rank's own buffers, and stages for
 * bytes that come with commands.
 *
 * A send holds its stage until its message has left, which may be long after
 * the call.  So stages for sends fill a part of the memory that is empty until
 * it is needed; all stages cost the interface the same.  Puts leave as fast as
 * the interface can send, and a faster rank waits for it, so a fixed number of
 * stages is enough.
 */
#include <errno.h>

#include "base/mem.h"
#include "outside/endpoint_op.h"

/* --- stages --- */

int endpoint_open_stages(struct endpoint *e)
{
	const struct msg_state *m = endpoint_msg(e);
	uint64_t bytes;

	if (m->at - m->base < ENDPOINT_MEMORY)
		return EFAULT;
	e->coll = m->at - ENDPOINT_MEMORY;
	e->stages = e->coll + ENDPOINT_COLL;
	e->free_stages[0] = e->free_stages[1] = UINT64_MAX;
	bytes = (e->coll - m->base) / ENDPOINT_SPARE / MEMORY_PAGE *
		MEMORY_PAGE;
	e->spare.at = e->coll - bytes;
	e->spare.room = bytes / ENDPOINT_STAGE < ENDPOINT_NO_STAGE / 2
				? (uint32_t)(bytes / ENDPOINT_STAGE)
				: ENDPOINT_NO_STAGE / 2;
	e->free = e->spare.at - m->base;
	return 0;
}

void endpoint_free_stages(struct endpoint *e)
{
	mem_free(e->spare.free);
	e->spare = (struct endpoint_spare){ 0 };
}

bool endpoint_take_stage(struct endpoint *e, uint32_t i, uint32_t spare)
{
	struct endpoint_op *x = &e->op[i];
	uint32_t half = e->free_stages[0] ? 0 : 1, k;
	uint32_t n = (uint32_t)(__builtin_popcountll(e->free_stages[0]) +
				__builtin_popcountll(e->free_stages[1]));

	if (n <= spare)
		return false;
	k = (uint32_t)__builtin_ctzll(e->free_stages[half]);
	e->free_stages[half] &= ~(UINT64_C(1) << k);
	x->stage = 64 * half + k;
	x->at = e->stages + (uint64_t)x->stage * ENDPOINT_STAGE;
	return true;
}

static bool take_spare(struct endpoint *e, struct endpoint_op *x)
{
	struct endpoint_spare *s = &e->spare;
	uint32_t k;

	if (s->n_free)
		k = s->free[--s->n_free];
	else if (s->touched < s->room)
		k = s->touched++;
	else
		return false;
	s->n_used++;
	x->stage = ENDPOINT_STAGES + k;
	x->at = s->at + (uint64_t)k * ENDPOINT_STAGE;
	return true;
}

/* Frees the list when the last spare stage is given back. */
static void give_spare(struct endpoint *e, uint32_t k)
{
	struct endpoint_spare *s = &e->spare;

	if (--s->n_used) {
		s->free = mem_more(s->free, s->n_free, sizeof(*s->free));
		s->free[s->n_free++] = k;
		return;
	}
	for (uint64_t at = 0; at < (uint64_t)s->touched * ENDPOINT_STAGE;
		at += MEMORY_PAGE)
		memory_forget(endpoint_msg(e)->memory, s->at + at);
	s->touched = s->n_free = 0;
}

void endpoint_give_stage(struct endpoint *e, const struct endpoint_op *x)
{
	e->n_writes -= x->c.kind == CHANNEL_WRITE;
	if (x->stage >= ENDPOINT_STAGES)
		give_spare(e, x->stage - ENDPOINT_STAGES);
	else
		e->free_stages[x->stage / 64] |= UINT64_C(1) << x->stage % 64;
}

/* Sends and puts leave stages for answers and requests. */
static bool take_any_stage(struct endpoint *e, uint32_t i)
{
	bool is_write = e->op[i].c.kind == CHANNEL_WRITE;

	if (is_write && e->n_writes == ENDPOINT_WRITES)
		return false;
	if (!endpoint_take_stage(
		    e, i, ENDPOINT_FOR_ANSWERS + ENDPOINT_FOR_REQUESTS) &&
		!take_spare(e, &e->op[i]))
		return false;
	e->n_writes += is_write;
	return true;
}

/* --- buffers --- */

/* Bytes that came with the command wait at a stage of the node's memory. */
static int load_stage(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];
	uint8_t bytes[CHANNEL_SHORT];

	if (x->c.bytes > sizeof(bytes))
		return EMSGSIZE;
	if (!e->client.load(e->client.arg, x->c.at, bytes, x->c.bytes))
		return EFAULT;
	if (!take_any_stage(e, i))
		return EAGAIN;
	if (x->c.bytes)
		program_write(x->at, bytes, x->c.bytes);
	return 0;
}

/* The pieces that came before the command; their sum is its length. */
static int take_pieces(struct endpoint *e, struct endpoint_op *x)
{
	uint64_t bytes = 0;

	if (e->n_pieces > CHANNEL_VECTOR || !e->client.take_pieces)
		return EINVAL;
	for (uint32_t i = 0; i < e->n_pieces; i++)
		if (__builtin_add_overflow(bytes, e->piece[i].bytes, &bytes))
			return EINVAL;
	if (bytes != x->c.bytes)
		return EINVAL;
	return e->client.take_pieces(
		e->client.arg, e->piece, e->n_pieces, &x->at, &x->hold);
}

int endpoint_take_buffer(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];

	if (x->c.flags & CHANNEL_IN_ROOM)
		return load_stage(e, i);
	if (e->n_pieces && x->c.bytes)
		return take_pieces(e, x);
	x->at = x->c.at;
	if (!x->c.bytes) {
		x->at = e->stages; /* any address will do */
		return 0;
	}
	return e->client.take(e->client.arg, x->c.bytes, &x->at, &x->hold);
}
