#include "link/packet.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FRESH = 64 };

/* Where full magazines are exchanged. */
struct packet_depot {
	pthread_mutex_t mutex;
	uint32_t fresh; /* the first index that no worker holds */
	struct packet_chain *full;
	uint32_t n, room;
};

struct packet_pool *packet_pool_new(uint32_t n_workers, uint32_t most)
{
	struct packet_pool *p = mem_alloc(1, sizeof(*p));

	p->n_workers = n_workers;
	p->most = most;
	p->base = map_alloc_dense((size_t)most * sizeof(*p->base));
	p->shelves = map_alloc(n_workers * sizeof(*p->shelves));
	p->depot = mem_alloc(1, sizeof(*p->depot));
	p->depot->fresh = NO_PACKET + 1;
	pthread_mutex_init(&p->depot->mutex, NULL);
	return p;
}

void packet_pool_free(struct packet_pool *p)
{
	if (!p)
		return;
	map_free(p->base, (size_t)p->most * sizeof(*p->base));
	map_free(p->shelves, p->n_workers * sizeof(*p->shelves));
	pthread_mutex_destroy(&p->depot->mutex);
	mem_free(p->depot->full);
	mem_free(p->depot);
	mem_free(p);
}

/* Some packets that nobody has used yet, as a chain. */
static struct packet_chain take_fresh(struct packet_pool *p)
{
	struct packet_depot *d = p->depot;
	struct packet_chain c = { .first = d->fresh, .n = FRESH };
	uint32_t i;

	if (p->most - d->fresh <= FRESH) {
		fprintf(stderr, "weft: more than %u packets in the machine\n",
			p->most);
		_Exit(EXIT_LIMIT);
	}
	for (i = 0; i < FRESH; i++)
		p->base[d->fresh + i].next =
			i + 1 < FRESH ? d->fresh + i + 1 : NO_PACKET;
	d->fresh += FRESH;
	return c;
}

/* The shelf is empty: its spare magazine, a full one of the depot's, or some
 * packets that nobody has used yet. */
void packet_restock(struct packet_pool *p, struct packet_shelf *s)
{
	struct packet_depot *d = p->depot;

	if (s->spare.n) {
		s->now = s->spare;
		s->spare = (struct packet_chain){ 0 };
		return;
	}
	pthread_mutex_lock(&d->mutex);
	s->now = d->n ? d->full[--d->n] : take_fresh(p);
	pthread_mutex_unlock(&d->mutex);
}

/* The magazine at hand is full: it becomes the spare one, and a spare that
 * is there already goes to the depot. */
void packet_clear_shelf(struct packet_pool *p, struct packet_shelf *s)
{
	struct packet_depot *d = p->depot;

	if (s->spare.n) {
		pthread_mutex_lock(&d->mutex);
		if (d->n == d->room) {
			d->room = d->room ? 2 * d->room : 64;
			d->full = mem_grow(d->full, d->room, sizeof(*d->full));
		}
		d->full[d->n++] = s->spare;
		pthread_mutex_unlock(&d->mutex);
	}
	s->spare = s->now;
	s->now = (struct packet_chain){ 0 };
}

uint64_t packet_pool_used(const struct packet_pool *p)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < p->n_workers; i++)
		n += p->shelves[i].taken - p->shelves[i].given;
	return n;
}

uint64_t packet_pool_memory(const struct packet_pool *p)
{
	return (uint64_t)p->depot->fresh * sizeof(*p->base);
}
