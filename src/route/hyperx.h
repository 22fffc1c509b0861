/*
 * Routes through a HyperX.
 *
 *	minimal		corrects one dimension after the other
 *	adaptive	corrects any dimension next, by the least load
 *	dal		the same, and may go to another position first, once in
 *			each dimension (Ahn et al., SC 2009)
 *	ugal		minimal, or first to another switch, by the queues of
 *			the first switch (Singh 2005)
 *
 * Minimal routes need one channel, since no link waits for one of a dimension
 * that was corrected before.  UGAL's second part is on a second channel;
 * minimal packets are spread over both.  The other two change to the next
 * channel with each hop.
 *
 * UGAL's detours keep the positions in dimensions in which source and
 * destination agree, and in all others avoid the positions of both: links of
 * minimal routes are full where a detour helps.
 */
#ifndef ROUTE_HYPERX_H
#define ROUTE_HYPERX_H

#include "route/route.h"
#include "topo/hyperx.h"

enum hyperx_mode {
	HYPERX_MINIMAL,
	HYPERX_ADAPTIVE,
	HYPERX_DAL,
	HYPERX_UGAL,
};

struct hyperx_route {
	struct route route;
	int64_t mode; /* an enum hyperx_mode */
	int64_t bias;
	const struct hyperx *topo;
};

extern const struct route_ops hyperx_route_ops;

#endif
