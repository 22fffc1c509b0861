#include "net/proof.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "route/cdg.h"

#define NO_PLANE UINT32_MAX

/* Links that go straight on into each other, from the first one on; or a link
 * alone, which leads to a node, or is on a ring with a dead one. */
struct plane {
	uint32_t first, n; /* its links, in order, of all */
	bool is_single;
	bool is_closed; /* a ring */
};

struct planes {
	const struct route_graph *g;
	const port_mask *dead; /* [router], or NULL */
	uint32_t *of; /* [router][port] */
	struct plane *plane;
	uint32_t n;
	uint32_t *link; /* router * ports + port, plane by plane */
	uint32_t n_links;
};

/* --- which link is of which plane --- */

static uint32_t *plane_at(const struct planes *x, router_id r, port_id p)
{
	return &x->of[(size_t)r * x->g->topo->n_ports + p];
}

/* The link that follows one; router is NO_ROUTER where there is none. */
static struct topo_end next_link(const struct topo *t, router_id r, port_id p)
{
	struct topo_end far = t->ops->peer(t, r, p);

	if (far.router == NO_ROUTER)
		return far;
	far.port = t->ops->straight(t, far.router, far.port);
	if (far.port == TOPO_NO_PORT ||
		t->ops->peer(t, far.router, far.port).router == NO_ROUTER)
		far.router = NO_ROUTER;
	return far;
}

/* The link before one in its plane, or that link itself where it is first. */
static struct topo_end link_before(const struct topo *t, router_id r, port_id p)
{
	struct topo_end at = { r, p };
	port_id in = t->ops->straight(t, r, p);
	struct topo_end far;

	if (in == TOPO_NO_PORT)
		return at;
	far = t->ops->peer(t, r, in);
	return far.router == NO_ROUTER ? at : far;
}

static bool is_dead(const struct planes *x, struct topo_end at)
{
	return x->dead && x->dead[at.router] >> at.port & 1;
}

/* The first link of a plane: back to its beginning, or on a ring any. */
static struct topo_end first_link(const struct topo *t, router_id r, port_id p)
{
	struct topo_end first = { r, p }, before;

	while ((before = link_before(t, first.router, first.port)).router !=
			r ||
		before.port != p) {
		if (before.router == first.router && before.port == first.port)
			break;
		first = before;
	}
	return first;
}

static bool has_dead(const struct planes *x, struct topo_end first)
{
	struct topo_end at = first;

	if (!x->dead)
		return false;
	do {
		if (is_dead(x, at))
			return true;
		at = next_link(x->g->topo, at.router, at.port);
	} while (at.router != NO_ROUTER &&
		 (at.router != first.router || at.port != first.port));
	return false;
}

static void add_plane(struct planes *x, router_id r, port_id p)
{
	const struct topo *t = x->g->topo;
	struct topo_end first = first_link(t, r, p), at;
	bool is_single = has_dead(x, first);

	if (is_single)
		first = (struct topo_end){ r, p };
	x->plane = mem_more(x->plane, x->n, sizeof(*x->plane));
	x->plane[x->n] = (struct plane){ x->n_links, 0, is_single, false };
	for (at = first; at.router != NO_ROUTER &&
			 *plane_at(x, at.router, at.port) == NO_PLANE;
		at = next_link(t, at.router, at.port)) {
		*plane_at(x, at.router, at.port) = x->n;
		x->link[x->n_links++] = at.router * t->n_ports + at.port;
		x->plane[x->n].n++;
		if (is_single)
			break;
	}
	x->plane[x->n++].is_closed = !is_single && at.router == first.router &&
				     at.port == first.port;
}

static void find_planes(struct planes *x)
{
	const struct topo *t = x->g->topo;
	size_t n = (size_t)t->n_routers * t->n_ports;

	x->of = mem_alloc(n, sizeof(*x->of));
	x->link = mem_alloc(n, sizeof(*x->link));
	memset(x->of, 0xff, n * sizeof(*x->of));
	for (router_id r = 0; r < t->n_routers; r++)
		for (port_id p = 0; p < t->n_ports; p++)
			if (t->ops->peer(t, r, p).router != NO_ROUTER &&
				*plane_at(x, r, p) == NO_PLANE &&
				!is_dead(x, (struct topo_end){ r, p }))
				add_plane(x, r, p);
}

/* --- turns --- */

/* Of a link of a plane: the ports behind it that lead out of the plane, and
 * the router where they are. */
static port_mask turns_of(
	const struct planes *x, uint32_t plane, uint32_t link, router_id *r)
{
	const struct topo *t = x->g->topo;
	struct topo_end far =
		t->ops->peer(t, link / t->n_ports, link % t->n_ports);
	port_id on = t->ops->straight(t, far.router, far.port);
	port_mask m = x->g->after[link];

	*r = far.router;
	return on == TOPO_NO_PORT || x->plane[plane].is_single
		       ? m
		       : m & ~((port_mask)1 << on);
}

/* Planes that a plane's packets turn into; *at counts its links, times the
 * ports of a router. */
static uint32_t next_plane(const void *arg, uint32_t v, uint32_t *at)
{
	const struct planes *x = arg;
	const struct plane *p = &x->plane[v];
	uint32_t i = *at / TOPO_MAX_PORTS, from = *at % TOPO_MAX_PORTS;

	for (; i < p->n; i++, from = 0) {
		router_id r;
		port_mask m = turns_of(x, v, x->link[p->first + i], &r);

		m = m >> from << from;
		if (m) {
			port_id port = (port_id)__builtin_ctzll(m);

			/* a last port carries to the next link */
			*at = i * TOPO_MAX_PORTS + port + 1;
			return *plane_at(x, r, port);
		}
	}
	return CDG_NONE;
}

static void check_moving(
	struct proof_step *s, const struct planes *x, int64_t packets)
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

static void tell_link(
	struct proof_step *s, const struct planes *x, uint32_t link)
{
	uint32_t n = x->g->topo->n_ports;

	proof_tell(s, x->link[link] / n, x->link[link] % n, 0);
}

static void check_turns(struct proof_step *s, struct planes *x, uint64_t *turns)
{
	struct cdg graph = { .n = x->n, .arg = x, .next = next_plane };
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
		tell_link(s, x, x->plane[c.vertex[i]].first);
	mem_free(c.vertex);
}

/* The links of the first ring stand for those of all. */
static void count_rings(struct proof *p, const struct planes *x)
{
	p->n_rings = x->n;
	for (const struct plane *plane = x->plane; plane < x->plane + x->n;
		plane++) {
		if (!plane->is_closed)
			continue;
		for (uint32_t i = 0; i < plane->n && !p->n_closed; i++)
			tell_link(&p->ring, x, plane->first + i);
		p->n_closed++;
	}
}

void proof_planes(struct proof *p, const struct route_graph *g,
	const port_mask *dead, int64_t packets)
{
	struct planes x = { .g = g, .dead = dead };

	find_planes(&x);
	p->n_steps = 3;
	count_rings(p, &x);
	check_moving(&p->step[1], &x, packets);
	check_turns(&p->step[2], &x, &p->n_turns);
	mem_free(x.of);
	mem_free(x.plane);
	mem_free(x.link);
}
