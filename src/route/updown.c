#include "route/updown.h"

#include <string.h>

#include "route/tree.h"

#define AT(field) offsetof(struct updown, field)

enum { FEW_BITS = 4, MANY_BITS = 6, COUNT_SHIFT = 44, WAY_SHIFT = 16 };

_Static_assert(2 * FATTREE_MAX_LEVELS - 1 <= COUNT_SHIFT / FEW_BITS,
	"the longest route fits");
_Static_assert(TOPO_MAX_PORTS <= 1 << MANY_BITS, "every port fits");
/* route_left() reads the number */
_Static_assert(WAY_SHIFT + COUNT_SHIFT == 60, "a route fits a packet's way");

static const struct param params[] = {
	PARAM_ONE_OF("spread", AT(spread), "source",
		"source|rotate|single|adaptive",
		"stored route of a packet; source: by the source's number, so "
		"that few routes collide; rotate: the next one for each packet "
		"of a node; single: always up-link 0; adaptive: none, each "
		"switch selects the up-link with the least load",
		"QSN-G7"),
	PARAM_ROW(PARAM_TIME, "answers", AT(answers), "100 us", 1000000,
		PS_PER_S,
		"time after which a switch discards a broadcast whose answers "
		"are incomplete",
		"assumed: longer than the sender's time-out"),
	ROUTE_NOTICE(AT(route.notice)),
	ROUTE_TELL(AT(tell)),
	ROUTE_RELOAD(AT(reload)),
};

static int updown_init(struct route *r, const struct topo *t, struct err *e)
{
	struct updown *u = (struct updown *)r;

	u->tree = fattree_find(t);
	if (!u->tree)
		return err_set(e,
			"routing.kind: updown needs topology.kind: fattree, "
			"not %s",
			t->ops->name);
	if (t->n_nodes > UPDOWN_NODES)
		return err_set(e,
			"topology.nodes: %u, but packets of routing updown can "
			"name only nodes 0 to %u (want at most %u)",
			t->n_nodes, UPDOWN_NODES - 1, UPDOWN_NODES);
	if (u->tree->siblings)
		return err_set(e, "routing.kind: updown does not support "
				  "topology.siblings");
	u->bits = t->n_ports > 1u << FEW_BITS ? MANY_BITS : FEW_BITS;
	if (2 * u->tree->n_levels - 1 > COUNT_SHIFT / u->bits)
		return err_set(e,
			"routing.kind: updown stores routes over at most %u "
			"switches of %u ports, too few for a tree of %u levels "
			"(topology.radix)",
			COUNT_SHIFT / u->bits, t->n_ports, u->tree->n_levels);
	r->topo = t;
	r->is_carried = true;
	r->is_shared = true;
	r->answers = u->answers;
	r->told = u->spread == UPDOWN_ADAPTIVE ? u->tell : u->reload;
	return 0;
}

/* Of nodes whose ways meet at a level. */
static uint32_t n_routes(const struct updown *u, uint32_t top)
{
	uint32_t n = top ? fattree_up_links(u->tree, top - 1) : 1;

	n *= u->tree->topo.cards ? 1 : (uint32_t)u->tree->rails;
	return n < UPDOWN_ROUTES ? n : UPDOWN_ROUTES;
}

uint32_t updown_meet(const struct updown *u, uint32_t src, uint32_t dst)
{
	const struct fattree *t = u->tree;

	return fattree_meet(t, fattree_end(t, src, 0), fattree_end(t, dst, 0));
}

/* The same for the cards of a packet. */
static uint32_t meet_of(const struct updown *u, const struct packet *p)
{
	const struct fattree *t = u->tree;

	if (!t->topo.cards)
		return updown_meet(u, p->src, p->dst);
	return fattree_meet(t, fattree_end(t, p->src, p->card),
		fattree_end(t, p->dst, p->to_card));
}

/* Different cards of two nodes meet where rails join, or above. */
uint32_t updown_n_routes(const struct updown *u, uint32_t src, uint32_t dst)
{
	uint32_t top, join = (uint32_t)u->tree->join;

	if (src == dst)
		return 1;
	top = updown_meet(u, src, dst);
	return n_routes(u, u->tree->topo.cards && top < join ? join : top);
}

/* The rail of a route, and what is left of its number. */
static uint32_t rail_of(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t *number)
{
	uint32_t rails = (uint32_t)u->tree->rails, rail;

	if (rails == 1)
		return 0;
	rail = *number + (u->spread == UPDOWN_SINGLE ? 0 : src + dst);
	*number /= rails;
	return rail % rails;
}

/* The up-link of an end at a level, and what is left of the number. */
static uint32_t up_link(
	const struct updown *u, uint32_t src, uint32_t level, uint32_t *number)
{
	uint32_t n = u->tree->n_up[level], add = *number;
	uint32_t own = u->spread == UPDOWN_SINGLE
			       ? 0
			       : fattree_digit(u->tree, src, level - 1);

	/* most numbers are small, and divisions slow */
	*number = 0;
	if (add >= n) {
		*number = add / n;
		add %= n;
	}
	own += add;
	return own < n ? own : own % n;
}

/* From one end to another, over a switch of a level that is above both. */
static uint64_t route_over(const struct updown *u, uint32_t top, uint32_t from,
	uint32_t to, uint32_t number)
{
	const struct fattree *t = u->tree;
	uint32_t l, n = 0, up = 0;
	uint64_t route = 0;

	for (l = 1; l < top; l++) {
		up = up_link(u, from, l, &number);
		route |= (uint64_t)(t->n_down[l] + up) << u->bits * n++;
	}
	for (l = top; l; l--) {
		uint32_t port = fattree_digit(t, to, l - 1) * t->bundle[l];

		/* of a bundle, which is at the top, the link of its number */
		if (t->bundle[l] > 1)
			port += up / t->n_parents[l - 1];
		route |= (uint64_t)port << u->bits * n++;
	}
	return route | (uint64_t)n << COUNT_SHIFT;
}

uint64_t updown_route(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number)
{
	uint32_t rail = rail_of(u, src, dst, &number);

	return route_over(u, updown_meet(u, src, dst),
		fattree_end(u->tree, src, rail),
		fattree_end(u->tree, dst, rail), number);
}

uint32_t updown_back(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number)
{
	const struct fattree *t = u->tree;
	uint32_t rails = (uint32_t)t->rails, l, back, weight = rails, top, rail;
	uint32_t routes = updown_n_routes(u, src, dst);

	if (routes == 1)
		return 0;
	number %= routes;
	back = number % rails; /* the same rail */
	rail = rail_of(u, src, dst, &number);
	src = fattree_end(t, src, rail);
	dst = fattree_end(t, dst, rail);
	top = fattree_meet(t, src, dst);
	/* what is left out makes no difference to the rest */
	for (l = 1; l < top && weight % routes; l++) {
		uint32_t n = t->n_up[l], none = 0;
		uint32_t up = up_link(u, src, l, &number);
		uint32_t own = up_link(u, dst, l, &none);

		back += (up + n - own) % n * weight;
		weight *= n;
	}
	return back % routes;
}

/* The hints stay, for they say which route it is. */
static void put_route(struct packet *p, uint64_t route)
{
	p->way = route << WAY_SHIFT | p->hints;
}

static uint64_t get_route(const struct packet *p)
{
	return p->way >> WAY_SHIFT;
}

/* Of a number, over a switch of a level. */
static void put_over(
	const struct updown *u, struct packet *p, uint32_t top, uint32_t number)
{
	const struct fattree *t = u->tree;
	uint32_t from, to;

	if (t->topo.cards) {
		from = p->card;
		to = p->to_card;
	} else {
		from = to = rail_of(u, p->src, p->dst, &number);
	}
	put_route(p, route_over(u, top, fattree_end(t, p->src, from),
			     fattree_end(t, p->dst, to), number));
}

uint64_t updown_rest(const struct packet *p)
{
	return get_route(p) << MANY_BITS | p->escape;
}

/* The level of the switch that a broadcast climbs to: at least 1. */
static uint32_t range_top(const struct fattree *t, const struct packet *p)
{
	uint32_t src = fattree_end(t, p->src, 0);
	uint32_t a = fattree_meet(t, src, fattree_end(t, p->dst, 0));
	uint32_t b = fattree_meet(t, src, fattree_end(t, p->last, 0));
	uint32_t top = a > b ? a : b;

	return top ? top : 1;
}

uint32_t updown_n_climbs(const struct updown *u, const struct packet *p)
{
	uint32_t n = fattree_up_links(u->tree, range_top(u->tree, p) - 1);

	return n < UPDOWN_ROUTES ? n : UPDOWN_ROUTES;
}

/* Which of its routes a packet takes. */
static uint32_t choose_route(
	const struct updown *u, const struct packet *p, uint32_t n)
{
	if (p->hints)
		return (p->hints - 1u) % n;
	return u->spread == UPDOWN_ROTATE ? p->number % n : 0;
}

/* Whether it takes whatever ways there are: broadcasts do not. */
static bool is_free(const struct updown *u, const struct packet *p)
{
	return u->spread == UPDOWN_ADAPTIVE && !p->hints;
}

/* A broadcast's route ends at the switch where it turns; what answers one has
 * none, for switches know where it came from. */
static void start_broadcast(const struct updown *u, struct packet *p)
{
	uint32_t number, top, src = fattree_end(u->tree, p->src, 0);
	uint64_t route = 0;

	p->escape = 0;
	p->ask = 1;
	if (p->flags & PACKET_ANSWER)
		return;
	BUG_IF(p->dst > p->last || p->last >= u->tree->topo.n_nodes);
	number = choose_route(u, p, updown_n_climbs(u, p));
	p->hints = (uint16_t)(number + 1);
	top = range_top(u->tree, p);
	for (uint32_t l = 1; l < top; l++) {
		uint64_t port =
			u->tree->n_down[l] + up_link(u, src, l, &number);

		route |= port << u->bits * (l - 1);
	}
	put_route(p, route | (uint64_t)(top - 1) << COUNT_SHIFT);
}

static void updown_start(const struct route *r, struct packet *p)
{
	static const uint8_t kind[N_PACKET_KINDS] = {
		[PACKET_DYNAMIC] = PACKET_DYNAMIC,
		[PACKET_DETERMINISTIC] = PACKET_DYNAMIC,
		[PACKET_HIGH] = PACKET_HIGH,
		[PACKET_SYSTEM] = PACKET_HIGH,
	};
	const struct updown *u = updown_of(r);
	uint32_t number, top;

	p->kind = kind[p->kind];
	put_route(p, 0);
	if (p->flags & (PACKET_RANGE | PACKET_ANSWER)) {
		start_broadcast(u, p);
		return;
	}
	if (p->src == p->dst || is_free(u, p))
		return;
	top = meet_of(u, p);
	number = choose_route(u, p, n_routes(u, top));
	p->hints = (uint16_t)(number + 1);
	if (u->view)
		updown_replace(u, p, number, n_routes(u, top));
	else
		put_over(u, p, top, number);
}

uint32_t updown_n_turns(const struct updown *u, const struct packet *p)
{
	uint32_t join = (uint32_t)u->tree->join, top = meet_of(u, p);

	if (!join || u->tree->topo.cards)
		return 0;
	return n_routes(u, top < join ? join : top);
}

void updown_put(const struct updown *u, struct packet *p, uint32_t number,
	uint32_t turn)
{
	const struct fattree *t = u->tree;
	uint32_t from, to;

	p->hints = (uint16_t)(number + 1);
	if (!turn) {
		put_over(u, p, meet_of(u, p), number);
		return;
	}
	to = rail_of(u, p->src, p->dst, &number);
	from = fattree_end(t, p->src, to);
	to = fattree_end(t, p->dst, (to + turn) % (uint32_t)t->rails);
	put_route(
		p, route_over(u, fattree_meet(t, from, to), from, to, number));
}

/* Takes the next port off a packet's route; none where it ends. */
uint32_t updown_take(const struct updown *u, struct packet *p)
{
	const uint64_t low = (UINT64_C(1) << COUNT_SHIFT) - 1;
	uint64_t route = get_route(p);
	uint64_t count = route >> COUNT_SHIFT;

	if (!count)
		return PACKET_NO_PORT;
	put_route(p, (route & low) >> u->bits | (count - 1) << COUNT_SHIFT);
	return (uint32_t)route & ((1u << u->bits) - 1);
}

/* All links of a bundle down; where rails join and packets name none, those of
 * the others are beside it. */
static port_mask down_ports(
	const struct fattree *t, uint32_t level, uint32_t path, uint32_t port)
{
	port_mask ports = fattree_bundle(t, level, path, port);

	if (t->topo.cards)
		return ports;
	for (uint32_t i = 1; level == t->join && i < t->rails; i++)
		ports |= fattree_bundle(t, level, path, port + i);
	return ports;
}

/* Up by any link until the destination is below. */
static struct route_step climb_or_descend(
	const struct fattree *t, const struct packet *p, router_id at)
{
	router_id folded = fattree_fold(t, at);
	uint32_t level = fattree_level(t, folded), below, port, index, to;
	struct route_step s = { .escape = PACKET_NO_PORT };

	if (!level)
		return s;
	index = folded - t->first[level];
	below = index / t->n_paths[level];
	to = p->dst;
	if (t->join)
		to = fattree_end(t, to,
			t->topo.cards ? p->to_card : fattree_place(t, at).rail);
	if (fattree_tree(t, to, level) != below) {
		s.escape = t->n_down[level];
		s.ports = fattree_ports(t->n_up[level]) << s.escape;
		return s;
	}
	port = fattree_digit(t, to, level - 1);
	s.escape = port * t->bundle[level];
	s.ports = (port_mask)1 << s.escape;
	if (t->bundle[level] > 1 || t->join)
		s.ports = down_ports(
			t, level, index - below * t->n_paths[level], port);
	return s;
}

/*
 * The same without ports that are known to lead nowhere.  If its rail cannot go
 * down, a packet that is on its way up may go on to where another rail can.
 */
static struct route_step choose(const struct updown *u, const struct packet *p,
	router_id at, port_id in)
{
	struct route_step s = climb_or_descend(u->tree, p, at);
	port_mask good = updown_good(u, p, at);
	port_mask ups = s.ports ? updown_ups(u->tree, at) : 0;

	if (good & s.ports)
		s.ports &= good;
	else if (good & ups && !(ups >> in & 1))
		s.ports = good & ups;
	return s;
}

port_id updown_rail(const struct updown *u, const struct packet *p)
{
	uint32_t number = p->hints ? p->hints - 1u : 0;

	if (u->tree->topo.cards)
		return p->card;
	return rail_of(u, p->src, p->dst, &number);
}

/* At its source: the port of its rail, or any. */
static struct route_step leave_node(
	const struct updown *u, const struct packet *p)
{
	struct route_step s = { .escape = PACKET_NO_PORT, .is_ordered = true };
	port_mask ports = fattree_ports((uint32_t)u->tree->rails);
	port_id rail;

	if (p->src == p->dst)
		return s;
	if (u->tree->rails == 1) {
		s.ports = 1;
		s.escape = 0;
		return s;
	}
	rail = updown_rail(u, p);
	if (!is_free(u, p) || u->tree->topo.cards)
		ports = (port_mask)1 << rail;
	else if (u->view && updown_good(u, p, p->src))
		ports = updown_good(u, p, p->src);
	if (!(ports >> rail & 1))
		rail = (port_id)__builtin_ctzll(ports);
	return (struct route_step){
		.ports = ports,
		.escape = rail,
		.is_ordered = !is_free(u, p),
	};
}

/* At a node, or by any way. */
static __attribute__((noinline)) struct route_step begin_or_choose(
	const struct updown *u, struct packet *p, router_id at, port_id in)
{
	if (in == TOPO_NO_PORT)
		return leave_node(u, p);
	return u->view ? choose(u, p, at, in)
		       : climb_or_descend(u->tree, p, at);
}

/* Mostly, the next port of a stored route. */
static struct route_step updown_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	uint32_t port;

	if (in == TOPO_NO_PORT || is_free(updown_of(r), p))
		return begin_or_choose(updown_of(r), p, at, in);
	port = updown_take(updown_of(r), p);
	return (struct route_step){
		.ports = port == PACKET_NO_PORT ? 0 : (port_mask)1 << port,
		.escape = port,
		.is_ordered = true,
	};
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	return updown_n_routes(updown_of(r), src, dst);
}

/* From where it turns on: every port down whose nodes meet the range. */
static port_mask updown_spread(
	const struct route *r, struct packet *p, router_id at)
{
	const struct fattree *t = updown_of(r)->tree;
	uint32_t level = fattree_level(t, at), port, end, i, span;
	port_mask ports = 0;

	if (!level)
		return 0;
	port = updown_take(updown_of(r), p);
	if (port != PACKET_NO_PORT)
		return (port_mask)1 << port;
	end = (at - t->first[level]) / t->n_paths[level] * t->span[level];
	span = fattree_span(t, level - 1);
	for (i = 0; i < t->n_below[level]; i++, end += t->span[level - 1]) {
		uint32_t rail, below = fattree_node(t, end, &rail);

		if (!rail && below <= p->last && p->dst < below + span)
			ports |= (port_mask)1 << i * t->bundle[level];
	}
	return ports;
}

/* --- what follows from it --- */

static struct route_way updown_way(const struct route *r, const int64_t *cost)
{
	return tree_way(updown_of(r)->tree, cost);
}

static const char *const spreads[] = {
	[UPDOWN_SOURCE] = "source",
	[UPDOWN_ROTATE] = "rotate",
	[UPDOWN_SINGLE] = "single",
	[UPDOWN_ADAPTIVE] = "adaptive",
};

static void updown_describe(const struct route *r, FILE *f)
{
	if (updown_of(r)->spread == UPDOWN_ADAPTIVE) {
		fprintf(f, "routing     up and down, on the way up by the link "
			   "with the least load\n");
		return;
	}
	fprintf(f,
		"routing     up and down, at most %d stored routes to a node "
		"(spread: %s)\n",
		UPDOWN_ROUTES, spreads[updown_of(r)->spread]);
}

static bool updown_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	f->key = "spread";
	snprintf(f->text, sizeof(f->text), "%s", spreads[updown_of(r)->spread]);
	return !i;
}

static const char *const channels[] = { "dynamic", "high" };

const struct route_ops updown_ops = {
	.name = "updown",
	.has = "carried-routes classes card-routes steady",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct updown),
	PARAMS(params),
	.init = updown_init,
	.fini = updown_fini,
	.avoid = updown_avoid,
	.start = updown_start,
	.next = updown_next,
	.n_ways = n_ways,
	.spread = updown_spread,
	.walk = updown_walk,
	.walk_ranges = updown_walk_ranges,
	.way = updown_way,
	.describe = updown_describe,
	.fact = updown_fact,
};
