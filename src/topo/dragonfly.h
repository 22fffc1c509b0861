/*
 * Dragonflies: groups of routers.  Within a group every router is wired to all
 * others; global links join the groups.
 *
 * A router has p nodes, a - 1 local links and h global ones.  Sites are the
 * nodes, then the routers: node n is number n % p of router n / p, and router
 * r is number r % a of group r / a.  The ports of a router lead first to its
 * nodes, then to the other routers of its group in their order, then to other
 * groups.  If nodes have c cards, c ports lead to each node.  There may be
 *fewer nodes than places: the last ones are empty.
 *
 * The global links of a group are numbered router by router.  With g groups,
 * m = a * h / (g - 1) links join every pair of groups, and the ports left over
 * are those of the last routers; or m is given, and all routers have as many
 * links, or one less.  Link q, for q < m * (g - 1), leads, with x = q % (g -
 *1),
 *
 *	palmtree	from group i to group i - x - 1 (modulo g)
 *	consecutive	to group x, or x + 1 where x >= i
 *
 * so the next g - 1 links lead to the same groups again.
 */
#ifndef TOPO_DRAGONFLY_H
#define TOPO_DRAGONFLY_H

#include "topo/topo.h"

/* Cards of a node: all at one router, or card c at the c-th next one of the
 * group. */
enum dragonfly_attach { DRAGONFLY_SAME, DRAGONFLY_SPREAD, DRAGONFLY_RAILS };

enum dragonfly_arrangement { DRAGONFLY_PALMTREE, DRAGONFLY_CONSECUTIVE };

/* Classes of wires. */
enum {
	DRAGONFLY_NODE_UP,
	DRAGONFLY_NODE_DOWN,
	DRAGONFLY_LOCAL,
	DRAGONFLY_GLOBAL,
	DRAGONFLY_WIRES,
};

/* Global links of a file (dragonfly_links.c).  Router i of a group has the
 * numbers from h * i on. */
struct dragonfly_link {
	uint32_t group, number; /* of its other end; UINT32_MAX: none */
};

struct dragonfly_links {
	struct dragonfly_link *far; /* [group][number] */
	uint32_t *way; /* [from][to][link] its number */
	uint32_t *n; /* [group][router] links of it */
	uint32_t most; /* of two routers of a group together */
};

struct dragonfly {
	struct topo topo;
	int64_t nodes; /* in all; 0: as many as there can be */
	int64_t per_router, routers, globals; /* p, a, h */
	int64_t groups; /* 0: as many as the nodes fill */
	int64_t attach; /* an enum dragonfly_attach */
	int64_t between; /* links of a pair of groups; 0: as many as fit */
	int64_t arrangement; /* an enum dragonfly_arrangement */
	char wiring[PARAM_TEXT_MAX]; /* a file in place of that, or "none" */
	int64_t length[3]; /* metres: of nodes', local and global wires */
	int64_t delay; /* of a metre, ps */
	int64_t logic; /* of a router, ps */

	/* set by init() */
	uint32_t p, a, h, g;
	uint32_t cards; /* of a node, at least 1 */
	uint32_t m; /* links between two groups; 0: there is one group */
	/* Global links of a router; the first ones have one more. */
	uint32_t each, more;
	port_id local, global; /* the first port of each */
	struct dragonfly_links *links; /* NULL: the arrangement is a rule */
};

extern const struct topo_ops dragonfly_ops;

static inline const struct dragonfly *dragonfly_of(const struct topo *t)
{
	return (const struct dragonfly *)t;
}

/* NULL if it is another topology. */
static inline const struct dragonfly *dragonfly_find(const struct topo *t)
{
	return t->ops == &dragonfly_ops ? dragonfly_of(t) : NULL;
}

/* The router of a node's card, and its port there; a router's group.  Routers
 * are named by their sites. */
static inline router_id dragonfly_router(
	const struct dragonfly *t, router_id node, uint32_t card)
{
	uint32_t r = node / t->p, i;

	if (t->attach == DRAGONFLY_SAME ||
		(t->attach == DRAGONFLY_SPREAD && !card))
		return t->topo.n_nodes + r;
	i = r % t->a;
	if (t->attach == DRAGONFLY_RAILS)
		return t->topo.n_nodes + r - i % t->cards + card;
	return t->topo.n_nodes + r - i + (i + card) % t->a;
}

static inline port_id dragonfly_node_port(
	const struct dragonfly *t, router_id node, uint32_t card)
{
	uint32_t i = node / t->p % t->a;

	if (t->attach == DRAGONFLY_RAILS)
		return i % t->cards * t->p + node % t->p;
	return node % t->p * t->cards + card;
}

static inline uint32_t dragonfly_group(const struct dragonfly *t, router_id r)
{
	return (r - t->topo.n_nodes) / t->a;
}

/* The number of a router in its group. */
static inline uint32_t dragonfly_number(const struct dragonfly *t, router_id r)
{
	return (r - t->topo.n_nodes) % t->a;
}

/* The port of a router that leads to another one of its group. */
static inline port_id dragonfly_local(
	const struct dragonfly *t, uint32_t from, uint32_t to)
{
	return t->local + to - (to > from);
}

/* The router in its group that has a global link, by their numbers, and the
 * first link of a router. */
static inline uint32_t dragonfly_owner(const struct dragonfly *t, uint32_t link)
{
	uint32_t first = t->more * (t->each + 1);

	return link < first ? link / (t->each + 1)
			    : t->more + (link - first) / t->each;
}

static inline uint32_t dragonfly_first(const struct dragonfly *t, uint32_t i)
{
	return i * t->each + (i < t->more ? i : t->more);
}

/* The number in its group of the k-th global link, k < m, that leads from one
 * group to another. */
static inline uint32_t dragonfly_way(
	const struct dragonfly *t, uint32_t from, uint32_t to, uint32_t k)
{
	uint32_t x = to - (to > from);

	if (__builtin_expect(t->links != NULL, 0))
		return t->links->way[((size_t)from * t->g + to) * t->m + k];
	if (t->arrangement == DRAGONFLY_PALMTREE)
		x = from + (from > to ? 0 : t->g) - to - 1;
	return k * (t->g - 1) + x;
}

/* Global links of router i of a group. */
uint32_t dragonfly_n_global(
	const struct dragonfly *t, uint32_t group, uint32_t i);

/* Reads t->wiring, and sets m, each and more; after an error, too, to be freed
 * by the second, as topo_ops.fini(). */
int dragonfly_links_read(struct dragonfly *t, struct err *e);
void dragonfly_links_free(struct topo *t);

#endif
