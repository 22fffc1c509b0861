/* Decisions of a dragonfly's routers by their queues. */
#include "route/dragonfly_way.h"

#include "base/inline.h"
#include "sim/random.h"

enum { TURN_LOT = 64 }; /* behind those of detours */

/* A packet at a router of its first group. */
struct place {
	const struct route *route;
	const struct dragonfly *topo;
	const struct route_look *look;
	const struct packet *packet;
	router_id at, first; /* the router, and the first one of its group */
	uint32_t number; /* of the router in its group */
	uint32_t from, to; /* groups: its own, and the destination's */
	uint32_t last; /* number of the destination's router */
};

INLINE struct place place_of(const struct route *r, const struct packet *p,
	router_id at, const struct route_look *l)
{
	const struct dragonfly *t = dragonfly_route_of(r)->topo;
	uint32_t router = at - t->topo.n_nodes, from = router / t->a;
	uint32_t far = dragonfly_last(t, p) - t->topo.n_nodes, to = far / t->a;

	return (struct place){ r, t, l, p, at, at - (router - from * t->a),
		router - from * t->a, from, to, far - to * t->a };
}

/* The number of a link, in the first group, to another group. */
static uint32_t link_to(const struct place *x, uint32_t group, uint32_t link)
{
	return dragonfly_way(x->topo, x->from, group, link);
}

/* The router of a group at the end of a link from another. */
static uint32_t landing(
	const struct dragonfly *t, uint32_t group, uint32_t from, uint32_t link)
{
	return dragonfly_owner(t, dragonfly_way(t, group, from, link));
}

/*
 * What lies before a link to another group: the load of the port that leads
 * there and, of a global link of another router, what that has told.
 */
INLINE uint64_t load_before(
	const struct place *x, uint32_t q, port_id port, uint8_t channel)
{
	const struct dragonfly *t = x->topo;
	uint64_t load = x->look->load(x->look, port, channel);
	uint32_t owner;

	if (!x->route->has_news || port >= t->global)
		return load;
	owner = dragonfly_owner(t, q);
	return load + x->look->told(x->look, x->first + owner,
			      t->global + q - dragonfly_first(t, owner));
}

/* --- the minimal route, or another group --- */

/* Hops between routers to the destination's by a link of the first group. */
static uint32_t n_hops(const struct place *x, port_id port, uint32_t link)
{
	const struct dragonfly *t = x->topo;

	return 1u + (port < t->global) +
	       (landing(t, x->to, x->from, link) != x->last);
}

/* The same by way of another group. */
static uint32_t n_hops_via(
	const struct place *x, port_id port, uint32_t via, uint32_t link)
{
	const struct dragonfly *t = x->topo;

	return 2u + (port < t->global) +
	       (landing(t, via, x->from, link) !=
		       landing(t, via, x->to, link)) +
	       (landing(t, x->to, via, link) != x->last);
}

/* A route through a group that is neither the first nor the last. */
struct detour {
	uint32_t way, via, link;
	uint32_t q; /* its link in the first group */
	port_id port; /* that leads there */
};

INLINE struct detour detour_of(const struct place *x, uint64_t bits)
{
	const struct dragonfly *t = x->topo;
	uint32_t low = x->from < x->to ? x->from : x->to;
	uint32_t high = x->from < x->to ? x->to : x->from;
	struct detour d = { .via = (uint32_t)random_below(bits, t->g - 2) };

	d.via += d.via >= low;
	d.via += d.via >= high;
	d.link = t->m > 1 ? (uint32_t)((bits & FIELD) % t->m) : 0;
	d.way = d.via * t->m + d.link;
	d.q = link_to(x, d.via, d.link);
	d.port = dragonfly_port(t, x->number, d.q);
	return d;
}

/* A random one; not by the port that a packet would leave, where there is
 * another, unless routers know better what lies behind it. */
INLINE struct detour draw_detour(
	const struct place *x, uint64_t lot, port_id but)
{
	const struct packet *p = x->packet;
	struct random_bits bits =
		random_draw(lot, p->src, RANDOM_WAY, p->number);
	uint64_t lots = bits.a;
	struct detour d;

	for (uint32_t tries = 2;; lots = bits.b) { /* one copy of the code */
		d = detour_of(x, lots);
		if (d.port != but || x->route->has_news || !--tries)
			return d;
	}
}

/*
 * The best of some detours that cost less than a limit: what lies before its
 * first global link, in chunks, for each hop.  False: there is none.
 */
static bool find_detour(const struct place *x, uint32_t turn, uint8_t channel,
	port_id but, uint64_t least, uint32_t *way)
{
	const struct dragonfly_route *r = dragonfly_route_of(x->route);
	bool found = false;

	for (uint32_t i = 0; i < r->candidates; i++) {
		struct detour d =
			draw_detour(x, 1 + i + 16 * (uint64_t)turn, but);
		uint64_t cost;

		if (r->dead &&
			!dragonfly_works_by(x->route, x->packet, x->at, d.way))
			continue;
		cost = load_before(x, d.q, d.port, channel);
		if (2 * cost >= least)
			continue; /* it has two hops at least */
		cost *= n_hops_via(x, d.port, d.via, d.link);
		if (cost >= least)
			continue;
		least = cost;
		*way = d.way;
		found = true;
	}
	return found;
}

/* What a packet may wait for before it takes another way. */
static uint64_t patience(const struct place *x)
{
	return (uint64_t)dragonfly_route_of(x->route)->bias * x->packet->chunks;
}

/*
 * Another route that costs less than the minimal one; false: there is none.
 * *port is the next one of the minimal route.
 */
static bool leaves(
	const struct place *x, uint32_t turn, port_id *port, uint32_t *way)
{
	const struct dragonfly_route *d = dragonfly_route_of(x->route);
	uint32_t link = x->packet->way >> LINK_SHIFT & FIELD;
	uint32_t q = link_to(x, x->to, link);
	uint32_t stage = dragonfly_stage(x->packet);
	uint64_t minimal;

	*port = dragonfly_port(x->topo, x->number, q);
	minimal = load_before(x, q, *port, dragonfly_channel(x->route, stage));
	if (d->dead && !dragonfly_works(x->route, x->packet, x->at))
		minimal = UINT64_MAX;
	else if (minimal <= patience(x) / 3)
		return false; /* it has at most three hops */
	else
		minimal *= n_hops(x, *port, link);
	if (minimal <= patience(x))
		return false;
	return find_detour(x, turn, dragonfly_channel(x->route, stage + turn),
		*port, minimal - patience(x), way);
}

/* --- inside of the group --- */

/* The router of the group that a packet has to reach next; its own: none. */
static uint32_t next_router(const struct place *x)
{
	uint64_t way = x->packet->way;
	uint32_t via = way >> VIA_SHIFT & FIELD;

	if (!via && x->from == x->to)
		return x->last;
	return dragonfly_owner(x->topo,
		link_to(x, via ? via - 1 : x->to, way >> LINK_SHIFT & FIELD));
}

static uint32_t draw_router(const struct place *x, uint32_t to)
{
	const struct packet *p = x->packet;
	uint64_t bits = random_draw(TURN_LOT, p->src, RANDOM_WAY, p->number).a;
	uint32_t low = x->number < to ? x->number : to;
	uint32_t high = x->number < to ? to : x->number;
	uint32_t via = (uint32_t)random_below(bits, x->topo->a - 2);

	via += via >= low;
	return via + (via >= high);
}

/* Whether a packet that turns at a router of the group meets no dead link. */
static bool turn_works(const struct place *x, uint64_t turn)
{
	struct packet p = *x->packet;

	if (!dragonfly_route_of(x->route)->dead)
		return true;
	p.way |= turn << TURN_SHIFT;
	return dragonfly_works(x->route, &p, x->at);
}

/* 1 + the router to go to first: a detour has two links instead of one. */
static uint64_t find_turn(const struct place *x)
{
	uint32_t to = next_router(x), via;
	uint8_t channel =
		dragonfly_channel(x->route, dragonfly_stage(x->packet));
	uint64_t near, far;

	if (to == x->number)
		return 0;
	near = x->look->load(
		x->look, dragonfly_local(x->topo, x->number, to), channel);
	if (near <= patience(x))
		return 0;
	via = draw_router(x, to);
	far = x->look->load(
		x->look, dragonfly_local(x->topo, x->number, via), channel);
	if (near <= 2 * far + patience(x) || !turn_works(x, 1u + via))
		return 0;
	return 1u + via;
}

static __attribute__((noinline)) void decide(const struct route *r,
	struct packet *p, router_id at, port_id in, const struct route_look *l)
{
	const struct dragonfly_route *d = dragonfly_route_of(r);
	struct place x = place_of(r, p, at, l);
	uint32_t turn = in >= d->topo->local, way = 0;
	bool is_half_way = p->way >> TURN_SHIFT;
	port_id port = 0;

	if (d->is_adaptive && x.from != x.to && leaves(&x, turn, &port, &way)) {
		port = d->topo->global; /* no more decisions */
		if (!is_half_way)
			p->way += (uint64_t)turn << STAGE_SHIFT;
		dragonfly_set_way(r, p, way);
	}
	if (d->mode != DRAGONFLY_PAR || port >= d->topo->global || is_half_way)
		p->way &= ~((uint64_t)1 << FREE_SHIFT);
	if (d->turns && !turn)
		p->way |= find_turn(&x) << TURN_SHIFT;
}

/*
 * At the first router; for PAR also at the next one of its group, where leaving
 * the minimal route is a turn to the next stage.  Most packets are beyond it.
 */
void dragonfly_decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *l)
{
	if (p->way >> FREE_SHIFT & 1)
		decide(r, p, at, in, l);
}

struct route_news dragonfly_news(const struct route *r, router_id at)
{
	const struct dragonfly *t = dragonfly_route_of(r)->topo;

	return (struct route_news){
		.first = at - dragonfly_number(t, at),
		.n = t->a,
		.ports = (((port_mask)1 << t->h) - 1) << t->global,
		.channel = 0,
	};
}
