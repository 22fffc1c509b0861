/*
 * All that can happen to the packets of one destination: from every node, by
 * every candidate of every entry, written or not, whatever links are dead.
 */
#include "base/mem.h"
#include "route/table.h"

#define BIT(n) ((port_mask)1 << (n))

/* A packet that has come to a switch, and what it remembers: see packet.way. */
enum { MOST_WAYS = 16 };

struct state {
	router_id at;
	port_id in;
	uint64_t way;
	router_id src; /* the first node that has sent it so */
};

struct follow {
	const struct table *x;
	const struct route_graph *g;
	struct route_walks *found;
	router_id dst;
	struct state *state; /* those that were seen, in order */
	uint32_t n;
	uint8_t *was_seen; /* [switch][port][way] */
};

static void say_broken(struct follow *f, router_id src, const char *how)
{
	if (f->found->is_broken)
		return;
	f->found->is_broken = true;
	f->found->src = src;
	f->found->dst = f->dst;
	f->found->how = how;
}

static size_t place_of(const struct follow *f, const struct state *s)
{
	const struct topo *t = f->g->topo;
	uint32_t down = (uint32_t)(s->way >> TABLE_DOWN_SHIFT & 0xf);
	uint32_t way = 2 * down + !!(s->way & TABLE_WENT_UP);

	return ((size_t)(s->at - t->n_nodes) * t->n_ports + s->in) * MOST_WAYS +
	       way;
}

/* It arrives at the other end of a wire. */
static void arrive(struct follow *f, router_id from, port_id port, uint64_t way,
	router_id src)
{
	const struct topo *t = f->g->topo;
	struct topo_end to = t->ops->peer(t, from, port);
	struct state s = { to.router, to.port, way, src };
	uint8_t *was_seen;

	if (to.router == NO_ROUTER) {
		say_broken(f, src, "uses a port that has no wire");
		return;
	}
	if (to.router < t->n_nodes) {
		if (to.router != f->dst)
			say_broken(f, src, "ends at another node");
		return;
	}
	was_seen = &f->was_seen[place_of(f, &s)];
	if (*was_seen)
		return;
	*was_seen = 1;
	f->state = mem_more(f->state, f->n, sizeof(*f->state));
	f->state[f->n++] = s;
}

static const struct route_memory *memory_of(
	const struct follow *f, router_id at)
{
	const struct route_written *w = f->g->written;

	return w && w->memory ? w->memory(w->arg, at) : NULL;
}

/* Only management sends packets to switches. */
static void add(const struct follow *f, struct state s, port_mask ports,
	bool is_sideways)
{
	static const uint8_t own[] = { TABLE_SYSTEM, TABLE_DATA,
		TABLE_ANSWERS };
	const struct topo *t = f->g->topo;
	struct topo_end from = t->ops->peer(t, s.at, s.in);
	uint32_t n = f->dst < t->n_nodes ? 3 : 1;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t behind = s.way & TABLE_DOWN ? TABLE_SIDEWAYS : own[i];
		uint32_t next = is_sideways ? TABLE_SIDEWAYS : own[i];

		route_add(f->g,
			route_vertex(f->g, from.router, from.port, behind),
			ports, next);
	}
}

static void go_on(struct follow *f, struct state s)
{
	struct packet p = { .dst = f->dst,
		.way = s.way,
		.kind = f->dst < f->g->topo->n_nodes ? PACKET_DYNAMIC
						     : PACKET_SYSTEM };
	struct route_choice c = f->x->route.lists->choose(
		&f->x->route, memory_of(f, s.at), &p, s.at, s.in);
	port_mask m = c.ports | c.later;

	if (s.at == f->dst)
		return;
	if (!m)
		say_broken(f, s.src, "ends at a switch");
	add(f, s, m, c.channel == TABLE_SIDEWAYS);
	for (; m; m &= m - 1)
		arrive(f, s.at, (port_id)__builtin_ctzll(m), p.way, s.src);
}

/* Whether a node has a port on the rail of a switch. */
static bool has_way(const struct follow *f, port_id rail)
{
	return f->dst < f->g->topo->n_nodes ||
	       fattree_place(f->x->tree, f->dst).rail == rail;
}

void table_follow(const struct table *x, const struct route_graph *g,
	struct route_walks *w, router_id dst)
{
	const struct topo *t = g->topo;
	struct follow f = { .x = x, .g = g, .found = w, .dst = dst };

	f.was_seen = mem_alloc(
		(size_t)(t->n_routers - t->n_nodes) * t->n_ports, MOST_WAYS);
	for (router_id src = 0; src < t->n_nodes; src++)
		for (port_id rail = 0; rail < t->node_ports; rail++)
			if (src != dst && has_way(&f, rail))
				arrive(&f, src, rail, 0, src);
	for (uint32_t i = 0; i < f.n; i++)
		go_on(&f, f.state[i]);
	w->n_routes += f.n;
	mem_free(f.state);
	mem_free(f.was_seen);
}
