#include "net/hops.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"

/* Where the topology does not know distances they are searched for: from so
 * many sources at least, and from more while there are few steps.  Their
 * packets stand for those of all others. */
enum { LEAST_SOURCES = 8, FEW_STEPS = 100000 };

struct hops_packet {
	site_id from, at;
	bool is_on_wire;
};

/* Distances from one source after the other, where they are searched for. */
struct search {
	const struct net *n;
	/* neighbours of each site, one after the other */
	site_id *peer;
	size_t *first; /* [site + 1] */
	/* UINT32_MAX where it has not been yet */
	uint32_t *distance;
	site_id *queue;
};

void hops_list(struct hops *h, site_id from, site_id at, bool is_on_wire)
{
	if (from % h->every)
		return;
	h->list = mem_more(h->list, h->n_listed, sizeof(*h->list));
	h->list[h->n_listed++] = (struct hops_packet){
		.from = from,
		.at = at,
		.is_on_wire = is_on_wire,
	};
}

static int by_source(const void *a, const void *b)
{
	const struct hops_packet *x = a, *y = b;

	return order(x->from, y->from);
}

/* A topology computes its peers; each source looks at all of them. */
static void list_peers(struct search *h)
{
	const struct topo *t = h->n->topo;
	size_t n = 0;

	h->peer = mem_alloc(h->n->links.n, sizeof(*h->peer));
	h->first = mem_alloc(h->n->n_sites + 1, sizeof(*h->first));
	for (site_id s = 0; s < h->n->n_sites; s++) {
		uint32_t n_ports = net_router(h->n, s)->sites.n_ports;

		h->first[s] = n;
		for (uint32_t p = 0; p < n_ports; p++) {
			site_id to = t->ops->peer(t, s, p).router;

			if (to != NO_ROUTER)
				h->peer[n++] = to;
		}
	}
	h->first[h->n->n_sites] = n;
}

/* The hops from a site to all others. */
static void measure(struct search *h, site_id from)
{
	size_t first = 0, last = 0;

	memset(h->distance, 0xff, h->n->n_sites * sizeof(*h->distance));
	h->distance[from] = 0;
	h->queue[last++] = from;
	for (; first < last; first++) {
		site_id s = h->queue[first];

		for (size_t i = h->first[s]; i < h->first[s + 1]; i++) {
			site_id to = h->peer[i];

			if (h->distance[to] != UINT32_MAX)
				continue;
			h->distance[to] = h->distance[s] + 1;
			h->queue[last++] = to;
		}
	}
}

/* Some packets stand for all. */
static uint64_t scale(uint64_t hops, uint64_t all, uint64_t n)
{
	return n ? (uint64_t)((uint128)hops * all / n) : 0;
}

static void search_init(struct search *s, const struct net *n)
{
	*s = (struct search){ .n = n };
	s->distance = mem_alloc(n->n_sites, sizeof(*s->distance));
	s->queue = mem_alloc(n->n_sites, sizeof(*s->queue));
	list_peers(s);
}

static void search_fini(struct search *s)
{
	mem_free(s->peer);
	mem_free(s->first);
	mem_free(s->distance);
	mem_free(s->queue);
}

static uint64_t sum_listed(struct hops *h)
{
	struct search s;
	uint64_t hops = 0;

	search_init(&s, h->n);
	qsort(h->list, h->n_listed, sizeof(*h->list), by_source);
	for (size_t i = 0; i < h->n_listed; i++) {
		const struct hops_packet *x = &h->list[i];

		if (!i || x->from != x[-1].from)
			measure(&s, x->from);
		hops += s.distance[x->at] - x->is_on_wire;
	}
	search_fini(&s);
	return hops;
}

/* A number of nodes that stand for one, without a common factor with lengths of
 * rows. */
static uint32_t stride(const struct net *n)
{
	uint64_t sources = FEW_STEPS / (n->links.n + 1);

	if (sources < LEAST_SOURCES)
		sources = LEAST_SOURCES;
	return sources < n->n_nodes ? (uint32_t)(n->n_nodes / sources) | 1 : 1;
}

void hops_init(struct hops *h, const struct net *n)
{
	*h = (struct hops){ .n = n, .every = stride(n) };
}

/* Of all processes: the packets, and those that stand for them. */
struct counts {
	uint64_t all, listed, known, hops;
};

static struct counts count(const struct hops *h, uint32_t n_workers)
{
	struct counts x = { 0 };

	for (uint32_t i = 0; i < n_workers; i++) {
		x.all += h[i].count;
		x.listed += h[i].n_listed;
		x.known += h[i].count - h[i].n_unknown;
		x.hops += h[i].known;
	}
	sim_sum(h->n->sim, &x.all, sizeof(x) / sizeof(x.all));
	return x;
}

bool hops_start_again(struct hops *h, uint32_t n_workers)
{
	struct counts x = count(h, n_workers);

	if (h->n->topo->ops->distance || !x.all || x.listed)
		return false;
	for (uint32_t i = 0; i < n_workers; i++)
		h[i] = (struct hops){ .n = h[i].n, .every = 1 };
	return true;
}

/* Adds the packets of one worker to those of another, and frees them. */
static void join(struct hops *all, struct hops *h)
{
	for (size_t i = 0; i < h->n_listed; i++) {
		all->list =
			mem_more(all->list, all->n_listed, sizeof(*all->list));
		all->list[all->n_listed++] = h->list[i];
	}
	mem_free(h->list);
	h->list = NULL;
}

uint64_t hops_sum(struct hops *h, uint32_t n_workers)
{
	struct counts x = count(h, n_workers);
	uint64_t hops;

	for (uint32_t i = 1; i < n_workers; i++)
		join(h, &h[i]);
	hops = h->n_listed ? sum_listed(h) : 0;
	mem_free(h->list);
	h->list = NULL;
	if (h->n->topo->ops->distance)
		return scale(x.hops, x.all, x.known);
	sim_sum(h->n->sim, &hops, 1);
	return scale(hops, x.all, x.listed);
}
