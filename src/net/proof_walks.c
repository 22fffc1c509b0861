#include "net/proof.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "route/cdg.h"
#include "route/lists.h"

/* The edges of a graph. */
struct edges {
	const struct route_graph *g;
	router_id *far; /* [router][port] at the other end of its wire */
};

/* An edge by which channel and port of the next router are asked for. */
static uint32_t next_channel(const void *arg, uint32_t v, uint32_t *at)
{
	const struct edges *e = arg;
	const struct route_graph *g = e->g;
	uint32_t c = *at / TOPO_MAX_PORTS;

	for (; c < g->n_channels; *at = ++c * TOPO_MAX_PORTS) {
		uint32_t from = *at % TOPO_MAX_PORTS;
		port_mask m = g->after[(size_t)v * g->n_channels + c];
		port_id p;

		m = m >> from << from;
		if (!m)
			continue;
		p = (port_id)__builtin_ctzll(m);
		*at = c * TOPO_MAX_PORTS + p + 1;
		return route_vertex(g, e->far[v / g->n_channels], p, c);
	}
	return CDG_NONE;
}

static void find_far(struct edges *e)
{
	const struct topo *t = e->g->topo;
	uint32_t n = t->n_ports;

	e->far = mem_alloc((size_t)t->n_routers * n, sizeof(*e->far));
	for (router_id r = 0; r < t->n_routers; r++)
		for (port_id p = 0; p < n; p++)
			e->far[r * n + p] = t->ops->peer(t, r, p).router;
}

static void check_routes(struct proof_step *s, const struct route_walks *w)
{
	s->letter = 'a';
	s->what = "each route leads to its destination over existing wires";
	s->holds = !w->is_broken;
	if (s->holds && w->n_missing)
		snprintf(s->why, sizeof(s->why),
			"%" PRIu64 " routes followed; %" PRIu64
			" pairs of nodes have none, such as %u to %u",
			w->n_routes, w->n_missing, w->src, w->dst);
	else if (s->holds)
		snprintf(s->why, sizeof(s->why), "%" PRIu64 " routes followed",
			w->n_routes);
	else
		snprintf(s->why, sizeof(s->why),
			"route %u from node %u to node %u %s", w->number,
			w->src, w->dst, w->how);
}

uint64_t proof_find_cycle(
	struct proof_step *s, const struct route_graph *g, uint32_t first)
{
	uint32_t n_ports = g->topo->n_ports;
	struct edges e = { .g = g };
	struct cdg graph = {
		.n = g->topo->n_routers * n_ports * g->n_channels,
		.arg = &e,
		.next = next_channel,
	};
	struct cdg_cycle c;

	find_far(&e);
	c = cdg_find_cycle(&graph);
	mem_free(e.far);
	s->holds = !c.n;
	if (c.n)
		snprintf(s->why, sizeof(s->why),
			"paths form a cycle of %u channels", c.n);
	for (uint32_t i = 0; i < c.n; i++) {
		uint32_t wire = c.vertex[i] / g->n_channels;

		proof_tell(s, wire / n_ports, wire % n_ports,
			first + c.vertex[i] % g->n_channels);
	}
	mem_free(c.vertex);
	return c.n_edges;
}

static uint32_t count_followed(const struct route_graph *g)
{
	uint32_t n = g->topo->n_routers * g->topo->n_ports * g->n_channels;
	uint32_t sum = 0;

	for (uint32_t v = 0; v < n; v++) {
		port_mask any = 0;

		for (uint32_t c = 0; c < g->n_channels; c++)
			any |= g->after[(size_t)v * g->n_channels + c];
		sum += any != 0;
	}
	return sum;
}

static void check_channels(
	struct proof *p, struct proof_step *s, const struct route_graph *g)
{
	s->letter = 'b';
	s->what = "no channel waits for itself";
	p->n_turns = proof_find_cycle(s, g, 0);
	p->n_channels = count_followed(g);
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%u channels that packets wait in, %" PRIu64
			" paths from one to another, no cycle",
			p->n_channels, p->n_turns);
}

/* Answers go back by the ways that broadcasts came: where one channel follows
 * another, the way back of the first follows that of the second. */
static void add_answers(
	const struct route_graph *cast, const struct route_graph *g)
{
	const struct topo *t = g->topo;
	uint32_t n = t->n_ports;

	for (uint32_t i = 0; i < t->n_routers * n; i++) {
		struct topo_end in;

		g->after[i] |= cast->after[i];
		if (!cast->after[i])
			continue;
		in = t->ops->peer(t, i / n, i % n);
		for (port_mask m = cast->after[i]; m; m &= m - 1) {
			struct topo_end out = t->ops->peer(
				t, in.router, (port_id)__builtin_ctzll(m));

			g->after[out.router * n + out.port] |= (port_mask)1
							       << in.port;
		}
	}
}

/*
 * Each copy of a broadcast waits for its own channel alone, and the buffer
 * that it leaves for all of them: so what a buffer waits for are all channels
 * that may follow it, as if it were one packet after the other.  An answer
 * waits for no other answer: it goes on, or ends, where it comes.  Routings
 * with broadcasts have one channel for them.
 */
static void check_broadcasts(struct proof *p, struct proof_step *s,
	const struct route *r, const struct route_graph *g)
{
	struct route_walks w = { 0 };
	struct route_graph cast;
	uint64_t n_turns;

	s->letter = 'c';
	s->what = "no channel waits for itself with broadcasts and answers";
	route_graph_init(&cast, g->topo, 1);
	r->ops->walk_ranges(r, &cast, &w);
	if (w.is_broken) {
		snprintf(s->why, sizeof(s->why),
			"a broadcast from node %u by path %u %s", w.src,
			w.number, w.how);
	} else {
		add_answers(&cast, g);
		n_turns = proof_find_cycle(s, g, 1);
		if (s->holds)
			snprintf(s->why, sizeof(s->why),
				"%" PRIu64 " paths up followed, %" PRIu64
				" paths from one channel to another, no cycle",
				w.n_routes, n_turns);
	}
	p->n_steps = 3;
	route_graph_fini(&cast);
}

/* Copies leave one after the other, so that a buffer waits for all ports that
 * its entry names: what is written, or all that may be. */
static void add_casts(const struct route *r, const struct route_graph *g)
{
	const struct route_written *x = g->written;
	const struct topo *t = g->topo;
	uint32_t channel = r->lists->cast_channel;

	for (router_id at = t->n_nodes; at < t->n_routers; at++) {
		for (port_id in = 0; in < t->n_ports; in++) {
			struct topo_end from = t->ops->peer(t, at, in);

			if (from.router == NO_ROUTER)
				continue;
			route_add(g,
				route_vertex(
					g, from.router, from.port, channel),
				x && x->casts ? x->casts(x->arg, at, in)
					      : r->lists->casts(r, at, in),
				channel);
		}
	}
}

static void check_casts(struct proof *p, struct proof_step *s,
	const struct route *r, const struct route_graph *g)
{
	bool is_written = g->written && g->written->casts;
	uint64_t n_turns;

	s->letter = 'c';
	s->what = "no channel waits for itself with multicasts";
	add_casts(r, g);
	n_turns = proof_find_cycle(s, g, 0);
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%s, copies leave one by one: %" PRIu64
			" paths from one channel to another, no cycle",
			is_written ? "by the entries that are set"
				   : "up and then down to any set of nodes",
			n_turns);
	p->n_steps = 3;
}

void proof_graph(struct route_graph *g, const struct topo *t,
	const struct route *r, const struct route_written *x,
	struct route_walks *w)
{
	route_graph_init(g, t, r->n_channels > 1 ? r->n_channels : 1);
	g->written = x;
	if (r->ops->walk)
		r->ops->walk(r, g, w);
	else
		route_follow(r, g, w);
}

void proof_walks(struct proof *p, const struct topo *t, const struct route *r,
	const struct route_written *x, int64_t packets)
{
	struct route_walks w = { 0 };
	struct route_graph g;

	proof_graph(&g, t, r, x, &w);
	p->n_routes = w.n_routes;
	p->n_missing = w.n_missing;
	p->n_steps = 2;
	check_routes(&p->step[0], &w);
	if (r->has_planes == ROUTE_PLANES)
		proof_planes(p, &g, r->dead, packets);
	else
		check_channels(p, &p->step[1], &g);
	if (r->lists && r->lists->casts)
		check_casts(p, &p->step[2], r, &g);
	p->is_proved = true;
	for (uint32_t i = 0; i < p->n_steps; i++)
		p->is_proved &= p->step[i].holds;
	if (r->ops->walk_ranges && p->step[0].holds) {
		check_broadcasts(p, &p->step[2], r, &g);
		p->is_proved &= p->step[2].holds;
	}
	route_graph_fini(&g);
}
