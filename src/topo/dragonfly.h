/*
 * Dragonflies: groups of routers, all of a group wired to each other, and
 * groups wired to each other by global links.
 *
 * A router has p nodes, a - 1 local links and h global ones.  Sites are the
 * nodes, then the routers: node n is number n % p of router n / p, and router
 * r is number r % a of group r / a.  Ports of a router are those of its nodes,
 * those to the other routers of its group in their order, and the global
 * ones.
 *
 * A group's a * h global ports are counted through, router by router.  Where
 * there are g groups, each two of them are joined by m = a * h / (g - 1)
 * links, and what is left over stays empty.  Global port q, for
 * q < m * (g - 1), leads, with x = q % (g - 1),
 *
 *	palmtree	from group i to group i - x - 1 (modulo g)
 *	consecutive	to group x, or x + 1 where x >= i
 *
 * and the next g - 1 ports do the same again.
 */
#ifndef TOPO_DRAGONFLY_H
#define TOPO_DRAGONFLY_H

#include "topo/topo.h"

enum dragonfly_arrangement { DRAGONFLY_PALMTREE, DRAGONFLY_CONSECUTIVE };

/* Classes of wires. */
enum {
	DRAGONFLY_NODE_UP,
	DRAGONFLY_NODE_DOWN,
	DRAGONFLY_LOCAL,
	DRAGONFLY_GLOBAL,
	DRAGONFLY_WIRES,
};

struct dragonfly {
	struct topo topo;
	int64_t nodes; /* in all; 0: as many as there can be */
	int64_t per_router, routers, globals; /* p, a, h */
	int64_t arrangement; /* an enum dragonfly_arrangement */
	int64_t length[3]; /* metres: of nodes', local and global wires */
	int64_t delay; /* of a metre, ps */
	int64_t logic; /* of a router, ps */

	/* set by init() */
	uint32_t p, a, h, g;
	uint32_t m; /* links between two groups; 0 where there is one */
	port_id local, global; /* the first port of each */
};

extern const struct topo_ops dragonfly_ops;

static inline const struct dragonfly *dragonfly_of(const struct topo *t)
{
	return (const struct dragonfly *)t;
}

/* NULL where it is another topology. */
static inline const struct dragonfly *dragonfly_find(const struct topo *t)
{
	return t->ops == &dragonfly_ops ? dragonfly_of(t) : NULL;
}

/* A node's router, and a router's group; routers are named by their sites. */
static inline router_id dragonfly_router(
	const struct dragonfly *t, router_id node)
{
	return t->topo.n_nodes + node / t->p;
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

/* The k-th global port, below m, by which one group reaches another, counted
 * through its routers. */
uint32_t dragonfly_way(
	const struct dragonfly *t, uint32_t from, uint32_t to, uint32_t k);

#endif
