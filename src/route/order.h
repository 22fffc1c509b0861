/*
 * Order of directions on a torus: a packet goes all its hops of one direction,
 * then all of the next.  Its way is minimal; which way round where both are
 * equally far is settled at its source.
 *
 * Routers may have nodes of their own and parallel links.  Of these a packet
 * takes any; those that keep their order take the one that source and
 * destination are hashed to.
 *
 * Rings have a dateline: a packet uses channel 0 before the link that closes
 * the ring, and channel 1 on it and behind it.  So no channel of a ring waits
 * for itself: nothing goes over the closing link on channel 0, nor all the way
 * round on channel 1.
 *
 * Or each ring has planes: the parallel links of one number, each a ring of its
 * own that packets enter only where there is room for two.  A packet on a plane
 * can always wait for its next link there, which is its escape; it may take
 * any other.
 *
 * A sender may name a way by a number, which has a bit for each dimension that
 * it is half way round, lowest first: 1 goes plus.  Numbers beyond these name
 * the same ways again; packets that keep their order take the next link.
 */
#ifndef ROUTE_ORDER_H
#define ROUTE_ORDER_H

#include "route/grid.h"

enum { ORDER_DIRECTIONS = 2 * TORUS_MAX_DIMS, ORDER_TIE = 0x8000 };

struct order {
	struct route route;
	char order[PARAM_TEXT_MAX];
	int64_t ties; /* an enum grid_ties */
	int64_t dateline; /* a flag */
	int64_t planes; /* an enum route_planes */
	int64_t charge; /* 1: by words */

	/* set by init() */
	const struct torus *torus;
	grid_coord *coord; /* [router of the torus] */
	uint8_t dir[ORDER_DIRECTIONS]; /* 2 * dimension + is minus, in order */
	uint32_t links; /* below this, links are hashed to */
	uint8_t place[ORDER_DIRECTIONS]; /* the other way round */
	port_mask ports[ORDER_DIRECTIONS]; /* by the same */
	struct route_rings rings; /* where there are any */
	uint32_t round[TORUS_MAX_DIMS]; /* hops all the way; or UINT32_MAX */
	/* [dimension][distance, which may be negative] the direction's bit, by
	 * its place in the order, or 0; of a tie plus's and ORDER_TIE */
	uint16_t *toward[TORUS_MAX_DIMS];
};

extern const struct route_ops order_ops;

/* --- detour.c --- */

/* See struct route_ops. */
struct route *order_around(
	const struct route *r, const port_mask *dead, uint32_t number);

#endif
