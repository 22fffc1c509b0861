/*
 * The proof of a dragonfly whose nodes have several cards: too many pairs of
 * cards, with too many routes each, to follow them all.
 *
 * A step follows from where a packet is, where it came in and the router or
 * group that it heads for.  So these routes take all steps: from each router to
 * the one of the same number in each other group, by the shortest way; to each
 * router by the last link of each Valiant route, from one group; through each
 * group from each other one to each third one, between two routers; between
 * all routers of a group; and to and from each card.
 */
#include "route/dragonfly_way.h"

struct walk {
	const struct route *route;
	const struct dragonfly *topo;
	struct follow *follow;
};

struct end {
	uint32_t node; /* NO_ROUTER: a router without nodes */
	uint32_t card;
};

/* Any card at a router of a group. */
static struct end end_at(const struct walk *w, uint32_t group, uint32_t number)
{
	const struct dragonfly *t = w->topo;
	router_id r = t->topo.n_nodes + group * t->a + number;

	for (port_id p = 0; p < t->local; p++) {
		struct topo_end x = t->topo.ops->peer(&t->topo, r, p);

		if (x.router != NO_ROUTER)
			return (struct end){ x.router, x.port };
	}
	return (struct end){ NO_ROUTER, 0 };
}

static void go(
	const struct walk *w, struct end from, struct end to, uint32_t number)
{
	const struct route_trip trip = {
		.src = from.node,
		.dst = to.node,
		.card = (uint8_t)from.card,
		.to_card = (uint8_t)to.card,
		.hints = number + 1,
	};

	if (from.node != NO_ROUTER && to.node != NO_ROUTER &&
		from.node != to.node)
		route_follow_one(w->follow, &trip);
}

/* By a link of the shortest way. */
static void go_straight(const struct walk *w, uint32_t from, uint32_t to,
	uint32_t number, uint32_t link)
{
	bool has_groups =
		dragonfly_route_of(w->route)->mode != DRAGONFLY_MINIMAL;

	go(w, end_at(w, from, number), end_at(w, to, number),
		(has_groups ? from * w->topo->m : 0) + link);
}

/* Between routers of one number, through another group by links of a number. */
static void go_through(const struct walk *w, uint32_t from, uint32_t via,
	uint32_t to, uint32_t number)
{
	for (uint32_t k = 0; k < w->topo->m; k++)
		go(w, end_at(w, from, number), end_at(w, to, number),
			via * w->topo->m + k);
}

/* A group that is neither of two. */
static uint32_t third(uint32_t a, uint32_t b)
{
	uint32_t x = 0;

	while (x == a || x == b)
		x++;
	return x;
}

static void between_groups(const struct walk *w, uint32_t a, uint32_t b)
{
	const struct dragonfly *t = w->topo;
	bool has_groups =
		dragonfly_route_of(w->route)->mode != DRAGONFLY_MINIMAL &&
		t->g > 2;
	uint32_t i, k;

	for (i = 0; i < t->a; i++) {
		for (k = 0; k < t->m; k++)
			go_straight(w, a, b, i, k);
		if (has_groups)
			go_through(w, third(a, b), a, b, i);
	}
	for (i = 0; has_groups && i < t->g; i++)
		if (i != a && i != b)
			go_through(w, a, i, b, 0);
}

static void inside_group(const struct walk *w, uint32_t group)
{
	for (uint32_t i = 0; i < w->topo->a; i++)
		for (uint32_t k = 0; k < w->topo->a; k++)
			go(w, end_at(w, group, i), end_at(w, group, k), 0);
}

/* From and to one at the router of its first card, or at the next router. */
static void to_card(const struct walk *w, struct end x)
{
	const struct dragonfly *t = w->topo;
	uint32_t group = dragonfly_group_of(t, x.node);
	uint32_t i = x.node / t->p % t->a;
	struct end other = end_at(w, group, i);

	if (other.node == x.node)
		other = end_at(w, group, (i + 1) % t->a);
	go(w, x, other, 0);
	go(w, other, x, 0);
}

static void list(void *arg, struct follow *f)
{
	struct walk *w = arg;
	const struct dragonfly *t = w->topo;

	w->follow = f;
	for (uint32_t a = 0; a < t->g; a++) {
		inside_group(w, a);
		for (uint32_t b = 0; b < t->g; b++)
			if (a != b)
				between_groups(w, a, b);
	}
	for (uint32_t node = 0; node < t->topo.n_nodes; node++)
		for (uint32_t card = 0; card < t->cards; card++)
			to_card(w, (struct end){ node, card });
}

void dragonfly_walk_cards(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	struct walk w = { r, dragonfly_route_of(r)->topo, NULL };

	route_follow_some(r, g, found, list, &w);
}
