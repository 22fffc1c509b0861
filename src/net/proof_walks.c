#include "net/proof.h"

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

/* The number of ways from one channel to the next; s says whether they make a
 * cycle. */
static uint64_t find_cycle(struct proof_step *s, const struct topo *t,
	const uint16_t *after, uint32_t channel)
{
	struct graph g = { .t = t, .after = after };
	struct cdg graph = {
		.n = t->n_routers * t->n_ports,
		.arg = &g,
		.next = next_channel,
	};
	struct cdg_cycle c = cdg_find_cycle(&graph);
	uint32_t i;

	s->holds = !c.n;
	if (c.n)
		snprintf(s->why, sizeof(s->why),
			"ways lead through %u channels and back", c.n);
	for (i = 0; i < c.n; i++)
		proof_tell(s, c.vertex[i] / t->n_ports,
			c.vertex[i] % t->n_ports, channel);
	mem_free(c.vertex);
	return c.n_edges;
}

static void check_channels(struct proof *p, struct proof_step *s,
	const struct topo *t, const uint16_t *after)
{
	uint32_t n = t->n_routers * t->n_ports, i;

	s->letter = 'b';
	s->what = "no channel waits for itself";
	p->n_turns = find_cycle(s, t, after, 0);
	for (i = 0; i < n; i++)
		p->n_channels += after[i] != 0;
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%u channels that others follow, %" PRIu64
			" ways from one to the next, no cycle",
			p->n_channels, p->n_turns);
}

/* Answers go back by the ways that broadcasts came: where one channel follows
 * another, the way back of the first follows that of the second. */
static void add_answers(
	const struct topo *t, const uint16_t *cast, uint16_t *after)
{
	uint32_t n = t->n_ports, i, m;

	for (i = 0; i < t->n_routers * n; i++) {
		struct topo_end in;

		after[i] |= cast[i];
		if (!cast[i])
			continue;
		in = t->ops->peer(t, i / n, i % n);
		for (m = cast[i]; m; m &= m - 1) {
			struct topo_end out = t->ops->peer(
				t, in.router, (port_id)__builtin_ctz(m));

			after[out.router * n + out.port] |=
				(uint16_t)(1u << in.port);
		}
	}
}

/*
 * Each copy of a broadcast waits for its own channel alone, and the buffer
 * that it leaves for all of them: so what a buffer waits for are all channels
 * that may follow it, as if it were one packet after the other.  An answer
 * waits for no other answer: it goes on, or ends, where it comes.
 */
static void check_broadcasts(struct proof *p, struct proof_step *s,
	const struct topo *t, const struct route *r, uint16_t *after)
{
	size_t n = (size_t)t->n_routers * t->n_ports;
	uint16_t *cast = mem_alloc(n, sizeof(*cast));
	struct route_walks w = { 0 };
	uint64_t n_turns;

	s->letter = 'c';
	s->what = "nor with broadcasts and their answers beside them";
	r->ops->walk_ranges(r, cast, &w);
	if (w.is_broken) {
		snprintf(s->why, sizeof(s->why),
			"a broadcast from node %u by way %u %s", w.src,
			w.number, w.how);
	} else {
		add_answers(t, cast, after);
		n_turns = find_cycle(s, t, after, 1);
		if (s->holds)
			snprintf(s->why, sizeof(s->why),
				"%" PRIu64 " ways up walked, %" PRIu64
				" ways from one channel to the next, no cycle",
				w.n_routes, n_turns);
	}
	p->n_steps = 3;
	mem_free(cast);
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
	if (r->ops->walk_ranges && p->step[0].holds) {
		check_broadcasts(p, &p->step[2], t, r, after);
		p->is_proved &= p->step[2].holds;
	}
	mem_free(after);
}
