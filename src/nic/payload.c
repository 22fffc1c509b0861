#include "nic/payload.h"

#include <pthread.h>

#include "base/err.h"
#include "base/mem.h"

enum { MAGAZINE = 64 };

/* Of addresses, not of memory. */
#define MOST_BYTES (UINT64_C(8) << 30)

/* The first bytes of a buffer that nobody has. */
struct rest {
	struct rest *next;
};

struct chain {
	struct rest *first;
	uint32_t n;
};

struct shelf {
	_Alignas(CACHE_LINE) struct chain now, spare;
	uint64_t taken, given;
};

struct payload_pool {
	size_t bytes;
	struct shelf *shelves;
	uint32_t n_workers;
	pthread_mutex_t mutex;
	struct chain *depot; /* full magazines */
	uint32_t depot_n, depot_room;
	char *base; /* all of them, in one mapping */
	size_t fresh, most; /* buffers that were ever taken; that it has */
};

struct payload_pool *payload_pool_new(uint32_t n_workers, size_t bytes)
{
	struct payload_pool *p = mem_alloc(1, sizeof(*p));

	p->bytes = (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	if (!p->bytes)
		p->bytes = CACHE_LINE;
	p->n_workers = n_workers;
	p->most = MOST_BYTES / p->bytes;
	p->base = map_alloc(p->most * p->bytes);
	p->shelves = map_alloc(n_workers * sizeof(*p->shelves));
	pthread_mutex_init(&p->mutex, NULL);
	return p;
}

void payload_pool_free(struct payload_pool *p)
{
	if (!p)
		return;
	map_free(p->base, p->most * p->bytes);
	map_free(p->shelves, p->n_workers * sizeof(*p->shelves));
	pthread_mutex_destroy(&p->mutex);
	mem_free(p->depot);
	mem_free(p);
}

static struct chain fresh_ones(struct payload_pool *p)
{
	struct chain c = { 0 };

	if (p->most - p->fresh < MAGAZINE)
		BUG("more than %zu payloads in the machine", p->most);
	for (; c.n < MAGAZINE; c.n++) {
		struct rest *r =
			(struct rest *)(p->base + p->fresh++ * p->bytes);

		r->next = c.first;
		c.first = r;
	}
	return c;
}

/* A full magazine from the depot, or new buffers. */
static struct chain restock(struct payload_pool *p)
{
	struct chain c;

	pthread_mutex_lock(&p->mutex);
	c = p->depot_n ? p->depot[--p->depot_n] : fresh_ones(p);
	pthread_mutex_unlock(&p->mutex);
	return c;
}

void *payload_take(struct payload_pool *p, uint32_t worker)
{
	struct shelf *s = &p->shelves[worker];
	struct rest *r;

	s->taken++;
	if (!s->now.n) {
		s->now = s->spare.n ? s->spare : restock(p);
		s->spare = (struct chain){ 0 };
	}
	r = s->now.first;
	s->now.first = r->next;
	s->now.n--;
	return r;
}

static void store(struct payload_pool *p, struct chain c)
{
	pthread_mutex_lock(&p->mutex);
	if (p->depot_n == p->depot_room) {
		p->depot_room = p->depot_room ? 2 * p->depot_room : 16;
		p->depot = mem_grow(p->depot, p->depot_room, sizeof(*p->depot));
	}
	p->depot[p->depot_n++] = c;
	pthread_mutex_unlock(&p->mutex);
}

void payload_give(struct payload_pool *p, uint32_t worker, void *buffer)
{
	struct shelf *s = &p->shelves[worker];
	struct rest *r = buffer;

	s->given++;
	if (s->now.n == MAGAZINE) {
		if (s->spare.n)
			store(p, s->spare);
		s->spare = s->now;
		s->now = (struct chain){ 0 };
	}
	r->next = s->now.first;
	s->now.first = r;
	s->now.n++;
}

uint64_t payload_pool_used(const struct payload_pool *p)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < p->n_workers; i++)
		n += p->shelves[i].taken - p->shelves[i].given;
	return n;
}

uint64_t payload_pool_memory(const struct payload_pool *p)
{
	return (uint64_t)p->fresh * p->bytes;
}
