/*
 * What follows from a machine's parameters without running it.  All of it is
 * exact, by symmetry: in a torus what a way costs is a sum over dimensions,
 * and what it costs in one depends on the two coordinates there, and, half
 * way round, on the parity of the source's coordinates.
 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include "link/link.h"
#include "route/hint.h"
#include "topo/torus.h"

/* Over all ordered pairs of different nodes; all 0 where there is none. */
struct facts_way {
	int64_t min, max;
	double mean;
};

/*
 * The cost of a minimal way where a wire costs what its class does: with
 * latencies the time that a head is on its way, with ones the hops.
 */
struct facts_way facts_way(const struct torus *t, enum hint_ties ties,
	const int64_t cost[N_WIRE_CLASSES]);

/* Links, both directions counted as one, of each class in a dimension. */
void facts_links(
	const struct torus *t, uint32_t dim, uint64_t links[N_WIRE_CLASSES]);

/*
 * The links cut where a plane across one dimension halves the machine; the
 * dimension with the fewest of them.  A ring is cut twice.
 */
struct facts_cut {
	uint32_t dim;
	uint64_t links; /* 0 where there is nothing to cut */
};

struct facts_cut facts_bisection(const struct torus *t);

#endif
