/*
 * Common code of routings on a torus: coordinates of routers, the direction of
 * packets if both are equally far, and costs of routes.
 */
#ifndef ROUTE_GRID_H
#define ROUTE_GRID_H

#include "route/route.h"
#include "topo/torus.h"

enum { GRID_COORDS = ROUTE_COORDS, GRID_PARITY = GRID_COORDS - 1 };

/* A router's coordinates; at GRID_PARITY that of their sum. */
typedef uint16_t grid_coord[GRID_COORDS];

/* If both directions round a ring are equally far: plus from even routers and
 * minus from odd ones, at random, or always plus. */
enum grid_ties { GRID_TIES_PARITY, GRID_TIES_RANDOM, GRID_TIES_PLUS };

/* Of all routers, by number, and of IO nodes, as their first exits'; to be
 * freed with mem_free(). */
grid_coord *grid_list(const struct torus *t);

/* The dimension that a letter names, or -1. */
int grid_letter(const struct torus *t, char c);

/* A bit per dimension: whether ties go plus.  Random ones depend on source and
 * lot. */
uint32_t grid_plus(
	enum grid_ties ties, uint32_t parity, uint32_t src, uint64_t lot);

/* See struct route_ops. */
struct route_way grid_way(
	const struct torus *t, enum grid_ties ties, const int64_t *cost);

/* Position, in the way of a PACKET_VECTOR, of the next port that its payload
 * names.  The rest of the way is 0. */
enum { GRID_VECTOR_SHIFT = 16 };

/* The next step of such a packet.  It uses no table; if the port does not
 * exist, or none is named, it has no next port. */
struct route_step grid_vector(
	const struct torus *t, struct packet *p, router_id at);

#endif
