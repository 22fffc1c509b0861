/* Hops that packets inside a network have made so far. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "net/net.h"

/* Where the topology does not know distances they are searched for: from so
 * many sources at least, and from more while there are few steps.  Their
 * packets stand for those of all others. */
enum { LEAST_SOURCES = 8, FEW_STEPS = 100000 };

/* A packet in a buffer of a site, or on the wire to it. */
struct inside {
	site_id from, at;
	bool is_on_wire;
};

struct hops {
	const struct net *n;
	/* packets of every so-many-th source, and the number of all packets */
	struct inside *list;
	size_t n_listed, count;
	uint32_t every;
	/* of packets whose distance the topology knows */
	size_t n_known;
	uint64_t known;
	/* neighbours of each site, one after the other */
	site_id *peer;
	size_t *first; /* [site + 1] */
	/* distances from one source: UINT32_MAX where it has not been yet */
	uint32_t *distance;
	site_id *queue;
	uint32_t *buffers; /* of a site */
};

static void add_known(struct hops *h, site_id from, site_id at, bool is_on_wire)
{
	const struct topo *t = h->n->topo;
	uint32_t hops = t->ops->distance(t, from, at);

	if (hops == TOPO_FAR)
		return;
	h->known += hops - is_on_wire;
	h->n_known++;
}

static void add(struct hops *h, packet_id id, site_id at, bool is_on_wire)
{
	site_id from = h->n->packets[id].src;

	h->count++;
	if (h->n->topo->ops->distance) {
		add_known(h, from, at, is_on_wire);
		return;
	}
	if (from % h->every)
		return;
	h->list = mem_more(h->list, h->n_listed, sizeof(*h->list));
	h->list[h->n_listed++] = (struct inside){
		.from = from,
		.at = at,
		.is_on_wire = is_on_wire,
	};
}

static void add_event(void *arg, sim_time t, const struct sim_event *e)
{
	(void)t;
	if (sim_phase(e) == PHASE_ARRIVAL)
		add(arg, e->data, e->site, true);
}

static void add_site(struct hops *h, site_id s)
{
	const struct router *r = net_router(h->n, s);
	uint32_t i, many = net_in_use(h->n, s, h->buffers), k;

	for (i = 0; i < many; i++) {
		struct net_buffer b = r->ops->buffer(r, s, h->buffers[i]);
		packet_id id = b.head;

		for (k = b.count; k; k--, id = h->n->packets[id].next)
			add(h, id, s, false);
	}
}

static void list_packets(struct hops *h, uint32_t every)
{
	h->every = every;
	h->count = h->n_listed = 0;
	sim_each_event(h->n->sim, add_event, h);
	for (site_id s = sim_next_own(h->n->sim, 0); s < h->n->n_sites;
		s = sim_next_own(h->n->sim, s + 1))
		add_site(h, s);
}

/* Of all processes: the packets, and those that stand for them. */
struct counts {
	uint64_t all, listed, known, hops;
};

static struct counts count(const struct hops *h)
{
	struct counts x = { h->count, h->n_listed, h->n_known, h->known };

	sim_sum(h->n->sim, &x.all, sizeof(x) / sizeof(x.all));
	return x;
}

static int by_source(const void *a, const void *b)
{
	const struct inside *x = a, *y = b;

	return order(x->from, y->from);
}

/* A topology computes its peers; each source looks at all of them. */
static void list_peers(struct hops *h)
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
static void measure(struct hops *h, site_id from)
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

static uint64_t sum(struct hops *h)
{
	uint64_t hops = 0;

	h->distance = mem_alloc(h->n->n_sites, sizeof(*h->distance));
	h->queue = mem_alloc(h->n->n_sites, sizeof(*h->queue));
	list_peers(h);
	qsort(h->list, h->n_listed, sizeof(*h->list), by_source);
	for (size_t i = 0; i < h->n_listed; i++) {
		const struct inside *x = &h->list[i];

		if (!i || x->from != x[-1].from)
			measure(h, x->from);
		hops += h->distance[x->at] - x->is_on_wire;
	}
	mem_free(h->peer);
	mem_free(h->first);
	mem_free(h->distance);
	mem_free(h->queue);
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

uint64_t net_hops_inside(const struct net *n)
{
	struct hops h = { .n = n };
	struct counts x;
	uint64_t hops = 0;

	h.buffers = mem_alloc(net_most_buffers(n), sizeof(*h.buffers));
	list_packets(&h, stride(n));
	x = count(&h);
	if (!n->topo->ops->distance && x.all && !x.listed) {
		list_packets(&h, 1); /* few sources, and none of these */
		x = count(&h);
	}
	if (h.n_listed)
		hops = sum(&h);
	mem_free(h.buffers);
	mem_free(h.list);
	if (n->topo->ops->distance)
		return scale(x.hops, x.all, x.known);
	sim_sum(n->sim, &hops, 1);
	return scale(hops, x.all, x.listed);
}
