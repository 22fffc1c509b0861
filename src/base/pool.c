#include "base/pool.h"

#include <pthread.h>

enum { FRESH = 64, LEAST_ROOM = 16 };

/* Where full magazines are exchanged. */
struct pool_depot {
	pthread_mutex_t mutex;
	uint32_t fresh; /* the first slot that no worker has had */
	struct pool_chain *full;
	uint32_t n, room;
};

static size_t map_bytes(const struct pool_setup *s)
{
	return (size_t)s->most * s->lines * CACHE_LINE;
}

void pool_init(struct pool *p, const struct pool_setup *setup)
{
	size_t bytes = map_bytes(setup);

	p->setup = *setup;
	p->base = setup->is_dense ? map_alloc_dense(bytes) : map_alloc(bytes);
	p->shelves = map_alloc(setup->n_workers * sizeof(*p->shelves));
	p->depot = mem_alloc(1, sizeof(*p->depot));
	p->depot->fresh = 1;
	pthread_mutex_init(&p->depot->mutex, NULL);
}

void pool_fini(struct pool *p)
{
	map_free(p->base, map_bytes(&p->setup));
	map_free(p->shelves, p->setup.n_workers * sizeof(*p->shelves));
	pthread_mutex_destroy(&p->depot->mutex);
	mem_free(p->depot->full);
	mem_free(p->depot);
}

/* Some slots that nobody has used yet, as a chain; none where all were. */
static struct pool_chain take_fresh(struct pool *p)
{
	struct pool_depot *d = p->depot;
	uint32_t lines = p->setup.lines, line = d->fresh * lines;
	struct pool_chain c = { .first = line, .n = FRESH };

	if (p->setup.most - d->fresh <= FRESH)
		return (struct pool_chain){ 0 };
	for (uint32_t i = 1; i < FRESH; i++, line += lines)
		*(uint32_t *)pool_slot(p, line) = line + lines;
	d->fresh += FRESH;
	return c;
}

/* From the spare magazine, a full one of the depot's, or some slots that
 * nobody has used yet. */
void pool_restock(struct pool *p, struct pool_shelf *s)
{
	struct pool_depot *d = p->depot;

	if (s->spare.n) {
		s->now = s->spare;
		s->spare = (struct pool_chain){ 0 };
		return;
	}
	pthread_mutex_lock(&d->mutex);
	s->now = d->n ? d->full[--d->n] : take_fresh(p);
	pthread_mutex_unlock(&d->mutex);
	if (!s->now.n)
		p->setup.on_empty(p->setup.most);
}

/* The magazine at hand becomes the spare one, and a spare that is there
 * already goes to the depot. */
void pool_clear_shelf(struct pool *p, struct pool_shelf *s)
{
	struct pool_depot *d = p->depot;

	if (s->spare.n) {
		pthread_mutex_lock(&d->mutex);
		if (d->n == d->room) {
			d->room = d->room ? 2 * d->room : LEAST_ROOM;
			d->full = mem_grow(d->full, d->room, sizeof(*d->full));
		}
		d->full[d->n++] = s->spare;
		pthread_mutex_unlock(&d->mutex);
	}
	s->spare = s->now;
	s->now = (struct pool_chain){ 0 };
}

uint64_t pool_used(const struct pool *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->setup.n_workers; i++)
		n += p->shelves[i].taken - p->shelves[i].given;
	return n;
}

uint64_t pool_touched(const struct pool *p)
{
	return p->depot->fresh - 1;
}
