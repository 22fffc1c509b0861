/*
 * Class routes: trees in a grid of nodes for collectives, as what a node knows
 * of them (BGQ-F47, BGQ-F48).  Nothing here knows packets or time.
 *
 * One root for all: a partition has a root in its middle, and a node of any
 * box in it goes towards that root, first in the last dimension that is longer
 * than one, then in the others from the first on, as far as the box allows and
 * never over a wrap link.  So a hop up always nears the partition's root and a
 * hop down always leads away from it, whatever the box: no link is up for one
 * route and down for another, and routes that overlap cannot lock.  The root
 * of a box is its node that is nearest to the partition's.
 */
#ifndef COLL_CLASS_ROUTE_H
#define COLL_CLASS_ROUTE_H

#include "topo/grid.h"

/* Virtual channels; the first two share a buffer in every receiver (F24). */
enum class_channel {
	CLASS_WORLD,
	CLASS_SYSTEM,
	CLASS_SUB,
	N_CLASS_CHANNELS,
};

enum {
	CLASS_ROUTES = 16, /* of a node */
	CLASS_LOCAL = 15, /* as a port: the node itself */
};

#define CLASS_LOCAL_BIT (1u << CLASS_LOCAL)

/* What a node knows of one: where contributions come in on the way up, and
 * where what becomes of them leaves.  Ports are bits; a root has no output. */
struct class_route {
	uint16_t inputs, output;
	uint8_t channel; /* an enum class_channel */
};

/* The same of a node that is named, as somebody has written it out. */
struct class_register {
	router_id node;
	uint32_t route;
	struct class_route is;
};

/* A partition's root. */
router_id class_root(
	const struct topo_grid *t, const struct topo_box *partition);

/* The route of a node of a box whose members go towards a root. */
struct class_route class_route_build(const struct topo_grid *t,
	const struct topo_box *box, router_id root, router_id node,
	enum class_channel channel);

/* The buffer that a virtual channel has in every receiver. */
static inline uint32_t class_buffer(uint32_t channel)
{
	return channel == CLASS_SUB;
}

/* Links of a node that the world's and the system's packets would share, and
 * with them a buffer: not allowed (BGQ-F24). */
static inline uint32_t class_shared_links(
	const struct class_route *a, const struct class_route *b)
{
	if (a->channel == b->channel || a->channel == CLASS_SUB ||
		b->channel == CLASS_SUB)
		return 0;
	return (a->inputs | a->output) & (b->inputs | b->output) &
	       ~CLASS_LOCAL_BIT;
}

#endif
