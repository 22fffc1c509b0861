/*
 * A pool of slots of equal size, for many workers.  Slots are whole cache lines
 * of one shared mapping; a slot is named by the number of its first line, and 0
 * is none.  Each worker has magazines of its own; full and empty ones are
 * exchanged at a depot, so a worker that only gives feeds one that only takes.
 * No result may depend on the number of a slot.
 *
 * The first four bytes of a free slot belong to the pool.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

/* Free slots, each of which names the next one. */
struct pool_chain {
	uint32_t first;
	uint32_t n;
};

/* The magazines of a worker. */
struct pool_shelf {
	_Alignas(CACHE_LINE) struct pool_chain now, spare;
	uint64_t taken, given;
};

struct pool_setup {
	uint32_t n_workers;
	uint32_t lines; /* of a slot */
	uint32_t most; /* slots; the first is never used */
	bool is_dense; /* the mapping, as map_alloc_dense() has it */
	/* Called when no slot is left; does not return. */
	void (*on_empty)(uint32_t most);
};

struct pool {
	char *base;
	struct pool_shelf *shelves; /* [worker] */
	struct pool_depot *depot;
	struct pool_setup setup;
};

void pool_init(struct pool *p, const struct pool_setup *setup);
void pool_fini(struct pool *p);

/* For pool_take(): the magazine at hand is empty. */
void pool_restock(struct pool *p, struct pool_shelf *s);
/* For pool_give(): it is full. */
void pool_clear_shelf(struct pool *p, struct pool_shelf *s);

static inline void *pool_slot(const struct pool *p, uint32_t line)
{
	return p->base + (size_t)line * CACHE_LINE;
}

static inline uint32_t pool_line(const struct pool *p, const void *slot)
{
	return (uint32_t)((size_t)((const char *)slot - p->base) / CACHE_LINE);
}

/* A slot with arbitrary content. */
static inline uint32_t pool_take(struct pool *p, uint32_t worker)
{
	struct pool_shelf *s = &p->shelves[worker];
	uint32_t line;

	if (__builtin_expect(!s->now.n, 0))
		pool_restock(p, s);
	s->taken++;
	line = s->now.first;
	s->now.first = *(uint32_t *)pool_slot(p, line);
	s->now.n--;
	return line;
}

/* Asks for the slot that is taken next, which knows the one behind it. */
static inline void pool_ask(const struct pool *p, uint32_t worker)
{
	mem_prefetch(pool_slot(p, p->shelves[worker].now.first));
}

/* magazine: the size of a worker's magazines, always the same for a pool. */
static inline void pool_give(
	struct pool *p, uint32_t worker, uint32_t line, uint32_t magazine)
{
	struct pool_shelf *s = &p->shelves[worker];

	if (__builtin_expect(s->now.n == magazine, 0))
		pool_clear_shelf(p, s);
	s->given++;
	s->now.n++;
	*(uint32_t *)pool_slot(p, line) = s->now.first;
	s->now.first = line;
}

/* The number of slots in use; only while nothing runs. */
uint64_t pool_used(const struct pool *p);
/* The number of slots that were ever used. */
uint64_t pool_touched(const struct pool *p);

#endif
