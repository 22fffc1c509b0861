#include "router/proof.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "route/cdg.h"

struct graph {
	const struct topo *t;
	const uint16_t *after; /* see struct route_ops */
};

static uint32_t next_channel(const void *arg, uint32_t v, uint32_t *at)
{
	const struct graph *g = arg;
	uint32_t n = g->t->n_ports, m = (uint32_t)g->after[v] >> *at << *at;
	port_id p;

	if (!m)
		return CDG_NONE;
	p = (port_id)__builtin_ctz(m);
	*at = p + 1;
	return g->t->ops->peer(g->t, v / n, v % n).router * n + p;
}

static void check_routes(struct proof_step *s, const struct route_walks *w)
{
	s->letter = 'a';
	s->what = "each stored route leads over wires to its end";
	s->holds = !w->is_broken;
	if (s->holds)
		snprintf(s->why, sizeof(s->why), "%" PRIu64 " routes walked",
			w->n_routes);
	else
		snprintf(s->why, sizeof(s->why),
			"route %u from node %u to node %u %s", w->number,
			w->src, w->dst, w->how);
}

static void check_channels(struct proof *p, struct proof_step *s,
	const struct topo *t, const uint16_t *after)
{
	struct graph g = { .t = t, .after = after };
	struct cdg graph = {
		.n = t->n_routers * t->n_ports,
		.arg = &g,
		.next = next_channel,
	};
	struct cdg_cycle c = cdg_find_cycle(&graph);
	uint32_t i;

	s->letter = 'b';
	s->what = "no channel waits for itself";
	s->holds = !c.n;
	p->n_turns = c.n_edges;
	for (i = 0; i < graph.n; i++)
		p->n_channels += after[i] != 0;
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%u channels that others follow, %" PRIu64
			" ways from one to the next, no cycle",
			p->n_channels, c.n_edges);
	else
		snprintf(s->why, sizeof(s->why),
			"routes lead through %u channels and back", c.n);
	for (i = 0; i < c.n; i++)
		proof_tell(s, c.vertex[i] / t->n_ports,
			c.vertex[i] % t->n_ports, CHANNEL_DYNAMIC);
	mem_free(c.vertex);
}

void proof_walks(struct proof *p, const struct topo *t, const struct route *r)
{
	uint16_t *after =
		mem_alloc((size_t)t->n_routers * t->n_ports, sizeof(*after));
	struct route_walks w = { 0 };

	r->ops->walk(r, after, &w);
	p->n_routes = w.n_routes;
	p->n_steps = 2;
	check_routes(&p->step[0], &w);
	check_channels(p, &p->step[1], t, after);
	p->is_proved = p->step[0].holds && p->step[1].holds;
	mem_free(after);
}
