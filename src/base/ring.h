/*
 * A ring of items, first in, first out, that grows when it is full and never
 * shrinks; a user who wants a bound checks n.  A pointer to an item is valid
 * until the next push.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	char *items;
	uint32_t size; /* of an item */
	uint32_t first, n;
	uint32_t room; /* a power of two, or 0 */
};

static inline void ring_init(struct ring *r, size_t size)
{
	*r = (struct ring){ .size = (uint32_t)size };
}

void ring_fini(struct ring *r);

/* Doubles a full ring, and unwraps its items. */
__attribute__((cold)) void ring_grow(struct ring *r);

/* The i-th item from the front, of n. */
static inline void *ring_at(const struct ring *r, uint32_t i)
{
	return r->items + (size_t)((r->first + i) & (r->room - 1)) * r->size;
}

/* A new last item with arbitrary content. */
static inline void *ring_push(struct ring *r)
{
	if (__builtin_expect(r->n == r->room, 0))
		ring_grow(r);
	return ring_at(r, r->n++);
}

/* Takes out the first item of a ring that is not empty. */
static inline void *ring_pop(struct ring *r)
{
	void *item = ring_at(r, 0);

	r->first++;
	r->n--;
	return item;
}

static inline uint64_t ring_memory(const struct ring *r)
{
	return (uint64_t)r->room * r->size;
}

#endif
