#include "link/packet.h"

#include <pthread.h>

#include "base/mem.h"

enum { MAGAZINE = 512, FRESH = 64 };

/* A chain of packets by their next fields. */
struct chain {
	packet_id first;
	uint32_t n;
};

struct shelf {
	_Alignas(CACHE_LINE) struct chain now, spare;
	packet_id fresh, fresh_end; /* never taken before */
	uint64_t taken, given;
};

struct packet_pool {
	struct packet *base;
	struct shelf *shelves;
	uint32_t n_workers, most;
	pthread_mutex_t mutex;
	uint32_t fresh; /* the first index that no worker holds */
	struct chain *depot; /* full magazines */
	uint32_t depot_n, depot_room;
};

struct packet_pool *packet_pool_new(uint32_t n_workers, uint32_t most)
{
	struct packet_pool *p = mem_alloc(1, sizeof(*p));

	p->n_workers = n_workers;
	p->most = most;
	p->fresh = NO_PACKET + 1;
	p->base = map_alloc((size_t)most * sizeof(*p->base));
	p->shelves = map_alloc(n_workers * sizeof(*p->shelves));
	pthread_mutex_init(&p->mutex, NULL);
	return p;
}

void packet_pool_free(struct packet_pool *p)
{
	if (!p)
		return;
	map_free(p->base, (size_t)p->most * sizeof(*p->base));
	map_free(p->shelves, p->n_workers * sizeof(*p->shelves));
	pthread_mutex_destroy(&p->mutex);
	mem_free(p->depot);
	mem_free(p);
}

struct packet *packet_base(const struct packet_pool *p)
{
	return p->base;
}

/* A full magazine from the depot, or some indices never used before. */
static void restock(struct packet_pool *p, struct shelf *s)
{
	pthread_mutex_lock(&p->mutex);
	if (p->depot_n) {
		s->now = p->depot[--p->depot_n];
	} else {
		if (p->most - p->fresh < FRESH)
			BUG("more than %u packets in the machine", p->most);
		s->fresh = p->fresh;
		p->fresh += FRESH;
		s->fresh_end = p->fresh;
	}
	pthread_mutex_unlock(&p->mutex);
}

packet_id packet_take(struct packet_pool *p, uint32_t worker)
{
	struct shelf *s = &p->shelves[worker];
	packet_id id;

	s->taken++;
	if (!s->now.n && s->spare.n) {
		s->now = s->spare;
		s->spare = (struct chain){ 0 };
	}
	if (!s->now.n && s->fresh == s->fresh_end)
		restock(p, s);
	if (!s->now.n)
		return s->fresh++;
	id = s->now.first;
	s->now.first = p->base[id].next;
	s->now.n--;
	return id;
}

static void store(struct packet_pool *p, struct chain c)
{
	pthread_mutex_lock(&p->mutex);
	if (p->depot_n == p->depot_room) {
		p->depot_room = p->depot_room ? 2 * p->depot_room : 64;
		p->depot = mem_grow(
			p->depot, p->depot_room, sizeof(*p->depot));
	}
	p->depot[p->depot_n++] = c;
	pthread_mutex_unlock(&p->mutex);
}

void packet_give(struct packet_pool *p, uint32_t worker, packet_id id)
{
	struct shelf *s = &p->shelves[worker];

	s->given++;
	if (s->now.n == MAGAZINE) {
		if (s->spare.n)
			store(p, s->spare);
		s->spare = s->now;
		s->now = (struct chain){ 0 };
	}
	p->base[id].next = s->now.first;
	s->now.first = id;
	s->now.n++;
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
	return (uint64_t)p->fresh * sizeof(*p->base);
}
