/* Hops that packets inside a network have made so far. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "net/net.h"

/* Steps of a search, in all; beyond that only some sources are looked at, and
 * stand for the others. */
#define MOST_STEPS UINT64_C(50000000)

/* A packet in a buffer of a site, or on the wire to it. */
struct inside {
	site_id from, at;
	bool is_on_wire;
};

struct hops {
	const struct net *n;
	struct inside *list;
	size_t count;
	site_id *peer; /* of each port of each site */
	/* distances from one source: UINT32_MAX where it has not been yet */
	uint32_t *distance;
	site_id *queue;
	uint32_t *buffers; /* of a site */
};

static void add(struct hops *h, packet_id id, site_id at, bool is_on_wire)
{
	h->list = mem_more(h->list, h->count, sizeof(*h->list));
	h->list[h->count++] = (struct inside){
		.from = h->n->packets[id].src,
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

static int by_source(const void *a, const void *b)
{
	const struct inside *x = a, *y = b;

	return order(x->from, y->from);
}

/* A topology computes its peers; each source looks at all of them. */
static void list_peers(struct hops *h)
{
	const struct topo *t = h->n->topo;
	size_t n_ports = h->n->n_ports;

	h->peer = mem_alloc(h->n->n_sites * n_ports, sizeof(*h->peer));
	for (site_id s = 0; s < h->n->n_sites; s++) {
		uint32_t n = net_router(h->n, s)->sites.n_ports;

		for (uint32_t p = 0; p < n_ports; p++)
			h->peer[s * n_ports + p] =
				p < n ? t->ops->peer(t, s, p).router
				      : NO_ROUTER;
	}
}

/* The hops from a site to all others. */
static void measure(struct hops *h, site_id from)
{
	uint32_t n = h->n->n_ports;
	size_t first = 0, last = 0;

	memset(h->distance, 0xff, h->n->n_sites * sizeof(*h->distance));
	h->distance[from] = 0;
	h->queue[last++] = from;
	for (; first < last; first++) {
		site_id s = h->queue[first];

		for (uint32_t p = 0; p < n; p++) {
			site_id to = h->peer[(size_t)s * n + p];

			if (to == NO_ROUTER || h->distance[to] != UINT32_MAX)
				continue;
			h->distance[to] = h->distance[s] + 1;
			h->queue[last++] = to;
		}
	}
}

static uint64_t count_sources(const struct hops *h, bool *is_source)
{
	uint64_t n = 0;

	for (size_t i = 0; i < h->count; i++) {
		n += !is_source[h->list[i].from];
		is_source[h->list[i].from] = true;
	}
	return n;
}

/* Leaves the packets of as many sources as can be searched from; returns their
 * number. */
static size_t choose(struct hops *h)
{
	uint64_t per = h->n->n_sites * (uint64_t)h->n->n_ports, nth = 0;
	bool *is_chosen = mem_alloc(h->n->n_sites, sizeof(*is_chosen));
	uint64_t every = count_sources(h, is_chosen) * per / MOST_STEPS + 1;
	size_t n = 0;

	for (site_id s = 0; s < h->n->n_sites; s++) {
		nth += is_chosen[s];
		is_chosen[s] &= nth % every == 1 % every;
	}
	for (size_t i = 0; i < h->count; i++)
		if (is_chosen[h->list[i].from])
			h->list[n++] = h->list[i];
	mem_free(is_chosen);
	return n;
}

static uint64_t sum(struct hops *h)
{
	size_t n = choose(h);
	uint64_t hops = 0;

	qsort(h->list, n, sizeof(*h->list), by_source);
	for (size_t i = 0; i < n; i++) {
		const struct inside *x = &h->list[i];

		if (!i || x->from != x[-1].from)
			measure(h, x->from);
		hops += h->distance[x->at] - x->is_on_wire;
	}
	return n ? (uint64_t)((uint128)hops * h->count / n) : 0;
}

uint64_t net_hops_inside(const struct net *n)
{
	struct hops h = { .n = n };
	uint64_t hops = 0;

	sim_each_event(n->sim, add_event, &h);
	h.buffers = mem_alloc(net_most_buffers(n), sizeof(*h.buffers));
	for (site_id s = 0; s < n->n_sites; s++)
		add_site(&h, s);
	mem_free(h.buffers);
	if (h.count) {
		h.distance = mem_alloc(n->n_sites, sizeof(*h.distance));
		h.queue = mem_alloc(n->n_sites, sizeof(*h.queue));
		list_peers(&h);
		hops = sum(&h);
		mem_free(h.peer);
		mem_free(h.distance);
		mem_free(h.queue);
	}
	mem_free(h.list);
	return hops;
}
