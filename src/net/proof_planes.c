#include "net/proof.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/rings.h"
#include "route/cdg.h"

static port_mask planes_after(const void *arg, uint32_t link)
{
	const struct route_graph *g = arg;

	return g->after[link];
}

static void find_planes(struct rings *x)
{
	for (router_id r = 0; r < x->topo->n_routers; r++)
		for (port_id p = 0; p < x->topo->n_ports; p++)
			rings_add(x, r, p);
}

static void check_moving(
	struct proof_step *s, const struct rings *x, int64_t packets)
{
	s->letter = 'b';
	s->what = "each plane keeps moving";
	s->holds = packets >= 2;
	snprintf(s->why, sizeof(s->why),
		s->holds ? "entering a ring needs room for 2 full packets, "
			   "going straight on room for 1, and a buffer holds "
			   "%" PRId64 ": %u planes and lines in each channel"
			 : "entering a ring needs room for 2 full packets, and "
			   "a buffer holds %" PRId64
			   ": no packet could ever enter %u planes",
		packets, x->n);
}

static void check_turns(struct proof_step *s, struct rings *x, uint64_t *turns)
{
	struct cdg graph = { .n = x->n, .arg = x, .next = rings_next };
	struct cdg_cycle c = cdg_find_cycle(&graph);

	s->letter = 'c';
	s->what = "in the order of directions, no path leads from a plane back "
		  "into it";
	s->holds = !c.n;
	*turns = c.n_edges;
	snprintf(s->why, sizeof(s->why),
		c.n ? "turns lead through %u planes and back to the first "
		      "(%" PRIu64 " turns)"
		    : "%u planes and lines, %" PRIu64
		      " turns from one into another, no cycle",
		c.n ? c.n : x->n, c.n_edges);
	for (uint32_t i = 0; i < c.n; i++)
		rings_tell(x, s, x->ring[c.vertex[i]].first, 1, 0);
	mem_free(c.vertex);
}

/* The links of the first closed ring are an example. */
static void count_rings(struct proof *p, const struct rings *x)
{
	const struct ring *ring = x->ring;

	p->n_rings = x->n;
	p->n_closed = x->n_closed;
	while (ring < x->ring + x->n && !ring->is_closed)
		ring++;
	if (x->n_closed)
		rings_tell(x, &p->ring, ring->first, ring->n, 0);
}

void proof_planes(struct proof *p, const struct route_graph *g,
	const port_mask *dead, int64_t packets)
{
	struct rings x = {
		.topo = g->topo,
		.dead = dead,
		.after = planes_after,
		.arg = g,
	};

	rings_init(&x);
	find_planes(&x);
	p->n_steps = 3;
	count_rings(p, &x);
	check_moving(&p->step[1], &x, packets);
	check_turns(&p->step[2], &x, &p->n_turns);
	rings_fini(&x);
}
