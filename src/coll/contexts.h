/*
 * Collective operations in progress at one place: the owner of each, the inputs
 * that are missing, and the result so far.  They are few at a time, so they are
 * searched one by one.
 */
#ifndef COLL_CONTEXTS_H
#define COLL_CONTEXTS_H

#include "base/mem.h"
#include "sim/sim.h"

struct coll_context {
	uint32_t who, number; /* the owner, and which of its operations */
	sim_time since;
	uint64_t waits; /* missing inputs, a bit each */
	uint32_t back; /* the caller's: where the result goes */
	uint32_t value; /* and the result so far */
};

struct coll_contexts {
	struct coll_context *v; /* in no order */
	uint32_t n, room;
};

static inline void contexts_add(
	struct coll_contexts *x, const struct coll_context *c)
{
	if (x->n == x->room) {
		x->room = 2 * x->room + 4;
		x->v = mem_grow(x->v, x->room, sizeof(*x->v));
	}
	x->v[x->n++] = *c;
}

/* Finds the operation that waits for an input, or NULL. */
static inline struct coll_context *contexts_find(const struct coll_contexts *x,
	uint32_t who, uint32_t number, uint32_t input)
{
	struct coll_context *c = x->v, *end = c + x->n;

	while (c < end && (c->who != who || c->number != number ||
				  !(c->waits >> input & 1)))
		c++;
	return c < end ? c : NULL;
}

/* An input has arrived; returns whether it was the last. */
static inline bool contexts_come(struct coll_context *c, uint32_t input)
{
	c->waits &= ~(UINT64_C(1) << input);
	return !c->waits;
}

static inline void contexts_end(struct coll_contexts *x, struct coll_context *c)
{
	*c = x->v[--x->n];
}

/* Discards operations that began before a time. */
static inline void contexts_forget(struct coll_contexts *x, sim_time before)
{
	uint32_t i = 0;

	while (i < x->n)
		if (x->v[i].since < before)
			contexts_end(x, &x->v[i]);
		else
			i++;
}

#endif
