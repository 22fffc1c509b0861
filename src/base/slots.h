/*
 * A pool of items that are named by numbers from 1 on; 0 is none, everywhere.
 * An item begins with a struct slot, which links it into at most one list of
 * its pool at a time.  The pool belongs to one worker.  Items move when it
 * grows: a pointer to one is valid until the next slots_take().  The number of
 * an item depends only on the items that were taken and given before.
 */
#ifndef BASE_SLOTS_H
#define BASE_SLOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct slot {
	uint32_t next, prev; /* in its list, or among free items */
	bool is_used;
};

struct slots {
	char *items;
	uint32_t size; /* of an item */
	uint32_t room, used;
	uint32_t free; /* the first */
};

/* A list of a pool's items, in the order in which they joined. */
struct slot_list {
	uint32_t first, last;
};

static inline void slots_init(struct slots *s, size_t size)
{
	*s = (struct slots){ .size = (uint32_t)size };
}

void slots_fini(struct slots *s);
__attribute__((cold)) void slots_grow(struct slots *s);

static inline void *slots_at(const struct slots *s, uint32_t id)
{
	return s->items + (size_t)(id - 1) * s->size;
}

/* NULL if there is no such item, or it is free. */
static inline void *slots_find(const struct slots *s, uint32_t id)
{
	struct slot *x = id - 1 < s->room ? slots_at(s, id) : NULL;

	return x && x->is_used ? x : NULL;
}

/* An item with arbitrary content, except for its slot. */
static inline uint32_t slots_take_any(struct slots *s)
{
	struct slot *x;
	uint32_t id;

	if (__builtin_expect(!s->free, 0))
		slots_grow(s);
	id = s->free;
	x = slots_at(s, id);
	s->free = x->next;
	s->used++;
	*x = (struct slot){ .is_used = true };
	return id;
}

/* An item whose bytes are 0, except for its slot. */
uint32_t slots_take(struct slots *s);
/* An item that is in no list. */
static inline void slots_give(struct slots *s, uint32_t id)
{
	*(struct slot *)slots_at(s, id) = (struct slot){ .next = s->free };
	s->free = id;
	s->used--;
}

static inline uint64_t slots_memory(const struct slots *s)
{
	return (uint64_t)s->room * s->size;
}

/* --- lists --- */

static inline void slots_push(struct slots *s, struct slot_list *l, uint32_t id)
{
	struct slot *x = slots_at(s, id);

	x->next = 0;
	x->prev = l->last;
	if (l->last)
		((struct slot *)slots_at(s, l->last))->next = id;
	else
		l->first = id;
	l->last = id;
}

void slots_remove(struct slots *s, struct slot_list *l, uint32_t id);

/* Takes out the first of a list that is not empty. */
static inline uint32_t slots_pop(struct slots *s, struct slot_list *l)
{
	uint32_t id = l->first, next = ((struct slot *)slots_at(s, id))->next;

	l->first = next;
	if (next)
		((struct slot *)slots_at(s, next))->prev = 0;
	else
		l->last = 0;
	return id;
}

#endif
