/* Blue Gene/Q's routing on a torus: hint bits, zones, an escape order. */
#ifndef ROUTE_HINT_H
#define ROUTE_HINT_H

#include "route/grid.h"

enum { HINT_ZONE_SETS = 4, HINT_ZONES = TORUS_MAX_DIMS };

/* What one dimension adds to a packet, as it lies there. */
union hint_step {
	struct {
		uint16_t hints;
		uint8_t left[PACKET_DIMS];
	} packet;
	uint64_t all;
};

struct hint {
	struct route route;
	char order[PARAM_TEXT_MAX];
	char zones[HINT_ZONE_SETS][PARAM_TEXT_MAX];
	int64_t ties; /* an enum grid_ties */
	int64_t bubble, escape; /* flags */
	int64_t tell; /* ps, or -1: never */

	/* set by init() */
	const struct torus *torus;
	uint8_t dims[TORUS_MAX_DIMS]; /* in deterministic order */
	uint8_t n_zones[HINT_ZONE_SETS];
	uint16_t mask[HINT_ZONE_SETS][HINT_ZONES]; /* of ports */
	/* [parity of the source][dimension] -> [y - x], also below 0; without
	 * a dimension, one of no hops */
	union hint_step *step[2][TORUS_MAX_DIMS];
	union hint_step none;
	grid_coord *coord; /* [router] */
	struct route_tables tables;
	uint8_t *first; /* see struct route_tables */
	uint16_t *allowed[HINT_ZONE_SETS];
	uint32_t n_bits; /* of a set of hints */
	uint16_t to_io, from_io; /* bits behind those of directions, or 0 */
};

extern const struct route_ops hint_ops;

static inline const struct hint *hint_of(const struct route *r)
{
	return (const struct hint *)r;
}

/* NULL where it is none. */
static inline const struct hint *hint_find(const struct route *r)
{
	return r->ops == &hint_ops ? hint_of(r) : NULL;
}

/*
 * The hint of a packet that a compute node ships to the IO node behind its
 * destination; of one that an IO node sends by a link.
 */
static inline uint16_t hint_to_io(const struct torus *t)
{
	return (uint16_t)(1u << 2 * t->n_dims);
}

static inline uint16_t hint_from_io(const struct torus *t, uint32_t link)
{
	return (uint16_t)(2u << 2 * t->n_dims << link);
}

/* See struct route_ops: hint_repair.c. */
struct route *hint_avoid(const struct route *r, const port_mask *dead);
/* Whether a routing around failed links may use spare paths; what these and
 * paths in the order of dimensions make wait. */
bool hint_has_spare(const struct route *r);
void hint_walk_lines(const struct route *r, const struct route_graph *g);

/*
 * Programs one set of zone masks: "none", "longest-first", "order" (one
 * dimension after the other, as deterministic packets go), or groups of
 * dimensions such as "A,BCD".
 */
int hint_set_zones(
	struct hint *h, uint32_t set, const char *text, struct err *e);

#endif
