/*
 * Walks along all stored routes, by the calls that packets are routed by.
 *
 * A big tree has too many: a thousand million between 4,096 nodes.  There the
 * way up depends on the source, on the route's number and on where source and
 * destination meet, and the way down on the destination alone.  So it is
 * enough to go from every node by all its routes to one node of each subtree
 * beside its own, and to let all that goes down a wire go on to everything
 * below it.
 *
 * Nodes at one switch have the same routes from there on, in another order.  So
 * walks keep in mind from which switches, and with which ports to take, they
 * have come to their destination: one that gets there again ends.
 */
#include "route/updown.h"

#include "base/mem.h"

enum { WALKED_ALL = 64, MOST_HOPS = 16, KEPT_BITS = 16 };

/* A packet at a switch, which came to its destination. */
struct stage {
	uint64_t rest; /* updown_rest() */
	router_id at;
	uint32_t dst;
};

struct walk {
	const struct route *route;
	const struct topo *topo;
	port_mask *after; /* of the one channel */
	struct route_walks *found;
	struct stage *kept; /* by hash, the last ones */
};

static struct stage *place_of(const struct walk *w, const struct stage *s)
{
	uint64_t x = (s->rest ^ (uint64_t)s->at << 32 ^ s->dst) *
		     UINT64_C(0x9e3779b97f4a7c15);

	return &w->kept[x >> (64 - KEPT_BITS)];
}

static bool is_kept(const struct walk *w, const struct stage *s)
{
	const struct stage *k = place_of(w, s);

	return k->rest == s->rest && k->at == s->at && k->dst == s->dst;
}

static void say_broken(struct walk *w, const struct packet *p, uint32_t number,
	const char *how)
{
	if (w->found->is_broken)
		return;
	w->found->is_broken = true;
	w->found->src = p->src;
	w->found->dst = p->dst;
	w->found->number = number;
	w->found->how = how;
}

/* The cards of a source and a destination, or none. */
struct cards {
	uint32_t from, to;
};

static void walk_one(
	struct walk *w, uint32_t src, uint32_t dst, struct cards c, uint32_t i)
{
	struct packet p = {
		.src = src,
		.dst = dst,
		.hints = (uint16_t)(i + 1),
		.card = (uint8_t)c.from,
		.to_card = (uint8_t)c.to,
	};
	struct stage stage[MOST_HOPS];
	port_mask *behind = NULL;
	uint32_t hops = 0, n = 0;
	router_id at = src;

	w->found->n_routes++;
	route_begin(w->route, &p);
	for (; p.escape != PACKET_NO_PORT; hops++) {
		struct topo_end to;

		if (behind) {
			*behind |= (port_mask)1 << p.escape;
			stage[n] = (struct stage){ updown_rest(&p), at, dst };
			if (is_kept(w, &stage[n])) {
				at = dst;
				break;
			}
			n++;
		}
		to = w->topo->ops->peer(w->topo, at, p.escape);
		if (to.router == NO_ROUTER || hops == MOST_HOPS) {
			say_broken(w, &p, i,
				hops == MOST_HOPS
					? "never ends"
					: "uses a port that has no wire");
			return;
		}
		behind = &w->after[(size_t)at * w->topo->n_ports + p.escape];
		at = to.router;
		route_arrive(w->route, &p, at, to.port);
	}
	if (at != dst)
		say_broken(w, &p, i, "ends at another node");
	while (at == dst && n--)
		*place_of(w, &stage[n]) = stage[n];
}

static void walk_pair(
	struct walk *w, uint32_t src, uint32_t dst, struct cards c)
{
	uint32_t n = updown_n_routes(updown_of(w->route), src, dst), i;

	for (i = 0; i < n; i++)
		walk_one(w, src, dst, c, i);
}

/* The first end of each subtree beside one that an end is in, and the level at
 * which the two meet. */
struct beside {
	uint32_t level, i, end;
};

/* False after the last one. */
static bool next_beside(
	const struct fattree *t, uint32_t from, struct beside *b)
{
	for (; b->level <= t->n_levels; b->level++, b->i = 0)
		while (b->i < t->n_below[b->level]) {
			uint32_t span = t->span[b->level];

			b->end = from / span * span +
				 b->i++ * t->span[b->level - 1];
			if (b->end < t->ends &&
				fattree_meet(t, from, b->end) == b->level)
				return true;
		}
	return false;
}

/* From a node to the first one of each subtree beside one that it is in; and
 * from there back, so that each node is reached. */
static void walk_from(struct walk *w, uint32_t src)
{
	const struct fattree *t = updown_of(w->route)->tree;
	struct beside b = { .level = 1 };

	while (next_beside(t, fattree_end(t, src, 0), &b)) {
		uint32_t rail, dst = fattree_node(t, b.end, &rail);

		if (rail)
			continue; /* its rail 0 is beside it */
		walk_pair(w, src, dst, (struct cards){ 0 });
		for (rail = 0; rail < t->rails; rail++)
			walk_one(w, dst, src, (struct cards){ 0 }, rail);
	}
}

/* The same from a card of a node to a card of another: where rails are apart,
 * both are on the same one. */
static void walk_from_card(struct walk *w, uint32_t src, uint32_t card)
{
	const struct fattree *t = updown_of(w->route)->tree;
	struct beside b = { .level = 1 };

	while (next_beside(t, fattree_end(t, src, card), &b)) {
		uint32_t rail, dst = fattree_node(t, b.end, &rail);

		if (dst == src && b.level > 1 && b.end + 1 < t->ends)
			dst = fattree_node(t, b.end + 1, &rail);
		if (dst == src)
			continue;
		rail = t->join ? rail : card;
		walk_pair(w, src, dst, (struct cards){ card, rail });
		walk_one(w, dst, src, (struct cards){ rail, card }, 0);
	}
}

/* On any rail. */
static uint32_t level_of(const struct fattree *t, router_id r)
{
	return fattree_level(t, fattree_fold(t, r));
}

/* Ports of a switch that lead down, and have wires. */
static port_mask downs(const struct fattree *t, router_id r)
{
	uint32_t n = t->n_down[level_of(t, r)], p;
	port_mask m = 0;

	for (p = 0; p < n; p++)
		if (t->topo.ops->peer(&t->topo, r, p).router != NO_ROUTER)
			m |= (port_mask)1 << p;
	return m;
}

/* What goes down from a switch goes on to all that is below; used has the
 * ports that packets leave each switch by. */
static void spread_down(struct walk *w, port_mask *used)
{
	const struct fattree *t = updown_of(w->route)->tree;
	uint32_t n = w->topo->n_ports, p;

	for (router_id r = w->topo->n_routers; r-- > t->first[2];) {
		uint32_t n_down = t->n_down[level_of(t, r)];

		for (p = 0; p < n_down; p++) {
			router_id to;

			if (!(used[r] >> p & 1) || level_of(t, r) == 1)
				continue;
			to = w->topo->ops->peer(w->topo, r, p).router;
			w->after[(size_t)r * n + p] |= downs(t, to);
			used[to] |= downs(t, to);
		}
	}
}

static void find_used(const struct walk *w, port_mask *used)
{
	uint32_t n = w->topo->n_ports, p;

	for (router_id r = 0; r < w->topo->n_routers; r++)
		for (p = 0; p < n; p++)
			if (w->after[(size_t)r * n + p])
				used[w->topo->ops->peer(w->topo, r, p)
						.router] |=
					w->after[(size_t)r * n + p];
}

/* What a packet may do that takes any way up. */
static void climb_freely(struct walk *w)
{
	const struct fattree *t = updown_of(w->route)->tree;
	uint32_t n = w->topo->n_ports, p;

	for (router_id r = 0; r < w->topo->n_routers; r++) {
		uint32_t level = level_of(t, r);

		for (p = 0; p < (level ? n : w->topo->node_ports); p++) {
			struct topo_end to = w->topo->ops->peer(w->topo, r, p);
			port_mask *after = &w->after[(size_t)r * n + p];

			if (to.router == NO_ROUTER || to.router < t->first[1])
				continue;
			*after |= downs(t, to.router);
			if (level_of(t, to.router) > level)
				*after |= updown_ups(t, to.router);
		}
	}
}

void updown_walk(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	struct walk w = { r, r->topo, g->after, found, NULL };
	uint32_t n = r->topo->n_nodes;
	port_mask *used;

	if (updown_of(r)->spread == UPDOWN_ADAPTIVE)
		climb_freely(&w);
	if (n <= WALKED_ALL) {
		route_follow(r, g, found);
		return;
	}
	w.kept = mem_alloc((size_t)1 << KEPT_BITS, sizeof(*w.kept));
	for (uint32_t src = 0; src < n; src++) {
		if (!r->topo->cards)
			walk_from(&w, src);
		for (uint32_t i = 0; i < r->topo->cards; i++)
			walk_from_card(&w, src, i);
	}
	mem_free(w.kept);
	used = mem_alloc(r->topo->n_routers, sizeof(*used));
	find_used(&w, used);
	spread_down(&w, used);
	mem_free(used);
}

/* --- broadcasts --- */

/*
 * Broadcasts from a node that turn at one level go up by the same ways, and
 * the more nodes they are for, the more ports they leave a switch by.  So it
 * is enough to send one to all that is below, and to let what goes down a wire
 * go on to all.
 */
static void climb(struct walk *w, struct packet *p, uint32_t i, port_mask *used)
{
	const struct fattree *t = updown_of(w->route)->tree;
	port_mask *behind = NULL;
	router_id at = p->src;
	port_mask ports;
	uint32_t hops;

	w->found->n_routes++;
	w->route->ops->start(w->route, p);
	ports = (port_mask)1 << p->escape;
	for (hops = 0; hops < MOST_HOPS; hops++) {
		port_id port = (port_id)__builtin_ctzll(ports);
		struct topo_end to = w->topo->ops->peer(w->topo, at, port);

		if (to.router == NO_ROUTER) {
			say_broken(w, p, i, "uses a port that has no wire");
			return;
		}
		if (behind)
			*behind |= ports;
		behind = &w->after[(size_t)at * w->topo->n_ports + port];
		at = to.router;
		ports = w->route->ops->spread(w->route, p, at);
		if (!ports || ports & fattree_ports(t->n_down[level_of(t, at)]))
			break;
	}
	if (!ports || hops == MOST_HOPS) {
		say_broken(w, p, i, "never turns downwards");
		return;
	}
	*behind |= ports;
	used[at] |= ports;
}

static void climb_from(struct walk *w, uint32_t src, port_mask *used)
{
	const struct updown *u = updown_of(w->route);
	uint32_t n = w->topo->n_nodes;

	for (uint32_t l = 1; l <= u->tree->n_levels; l++) {
		uint32_t span = fattree_span(u->tree, l);
		uint32_t first = src / span * span;
		uint32_t last = first + span < n ? first + span - 1 : n - 1;
		struct packet p = {
			.src = src,
			.dst = first,
			.last = (uint16_t)last,
			.flags = PACKET_RANGE,
		};
		uint32_t n_ways = updown_n_climbs(u, &p);

		for (uint32_t i = 0; i < n_ways; i++) {
			p.hints = (uint16_t)(i + 1);
			climb(w, &p, i, used);
		}
	}
}

/* A broadcast to all nodes comes down a wire. */
static void descend(struct walk *w, router_id r, port_id port, port_mask *used)
{
	struct packet p = {
		.last = (uint16_t)(w->topo->n_nodes - 1),
		.flags = PACKET_RANGE,
	};
	router_id to = w->topo->ops->peer(w->topo, r, port).router;
	port_mask ports;

	if (to == NO_ROUTER) {
		say_broken(w, &p, 0, "uses a port that has no wire");
		return;
	}
	ports = w->route->ops->spread(w->route, &p, to);
	w->after[(size_t)r * w->topo->n_ports + port] |= ports;
	used[to] |= ports;
}

void updown_walk_ranges(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	struct walk w = { r, r->topo, g->after, found, NULL };
	port_mask *used = mem_alloc(r->topo->n_routers, sizeof(*used));

	for (uint32_t src = 0; src < r->topo->n_nodes; src++)
		climb_from(&w, src, used);
	for (router_id at = r->topo->n_routers; at-- > r->topo->n_nodes;)
		for (port_mask m = used[at]; m; m &= m - 1)
			descend(&w, at, (port_id)__builtin_ctzll(m), used);
	mem_free(used);
}
