/*
 * Order of directions on a torus: a packet makes all its hops in one direction,
 * then all in the next.  Its path is minimal; if both ways round a ring are
 * equally long, its source chooses one.
 *
 * Routers may have nodes of their own and parallel links.  A packet takes any
 * of the parallel links; packets that keep their order take the link given by a
 * hash of source and destination.
 *
 * Rings have a dateline: a packet uses channel 0 before the link that closes
 * the ring, and channel 1 on that link and after it.  So no channel of a ring
 * waits for itself: no packet crosses the closing link on channel 0, or goes
 * all the way round on channel 1.
 *
 * Or each ring has planes: the parallel links of one number, each a ring of its
 * own, which packets enter only if there is room for two.  A packet on a plane
 * can always wait for its next link there, which is its escape, or take another
 * link.
 *
 * A sender may choose a path by a number, which has a bit for each dimension
 * with two equally long ways, the lowest dimension first: 1 is the positive
 * direction.  Higher numbers repeat the same paths; packets that keep their
 * order then take the next parallel link.
 */
#ifndef ROUTE_ORDER_H
#define ROUTE_ORDER_H

#include "route/grid.h"

enum { ORDER_DIRECTIONS = 2 * TORUS_MAX_DIMS, ORDER_TIE = 0x8000 };

/* The bit of a packet's way that says whether it keeps its order. */
enum { ORDER_KEPT_SHIFT = 47 };

struct order {
	struct route route;
	char order[PARAM_TEXT_MAX];
	int64_t ties; /* an enum grid_ties */
	int64_t dateline; /* a flag */
	int64_t planes; /* an enum route_planes */
	int64_t charge; /* 1: by words */
	int64_t tell; /* ps, or -1: never */

	/* set by init() */
	const struct torus *torus;
	grid_coord *coord; /* [router of the torus] */
	uint8_t dir[ORDER_DIRECTIONS]; /* 2 * dimension + is minus, in order */
	uint32_t links; /* least common multiple of torus->n_links */
	uint8_t place[ORDER_DIRECTIONS]; /* the inverse of dir */
	port_mask ports[ORDER_DIRECTIONS]; /* by the same */
	struct route_rings rings; /* where there are any */
	uint32_t round[TORUS_MAX_DIMS]; /* length of a ring, or UINT32_MAX */
	/* [dimension][distance, which may be negative]: the bit of the
	 * direction, by its place in the order, or 0; for a tie, the bit of the
	 * positive direction and ORDER_TIE */
	uint16_t *toward[TORUS_MAX_DIMS];
};

extern const struct route_ops order_ops;

/* --- detour.c --- */

/* See struct route_ops. */
struct route *order_around(
	const struct route *r, const port_mask *dead, uint32_t number);

/* --- order_repair.c --- */

/* See struct route_ops. */
struct route *order_avoid(const struct route *r, const port_mask *dead);

#endif
