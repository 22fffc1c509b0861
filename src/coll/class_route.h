/*
 * Class routes: trees in a grid of nodes for collectives, as the part that each
 * node knows (BGQ-F47, BGQ-F48).  Nothing here knows packets or time.
 *
 * All trees of a partition have one root, in its middle.  A node of any box
 * goes towards that root, first in the last dimension that is longer than one,
 * then in the others from the first on, as far as the box allows and never over
 * a wrap link.  So a hop up always leads nearer to the root and a hop down away
 * from it, whatever the box: no link is up for one route and down for another,
 * and routes that overlap cannot deadlock.  The root of a box is its node
 * nearest to the partition's root.
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

/* A node's part of a route: the inputs of contributions on the way up, and the
 * output of their combination.  Ports are bits; a root has no output. */
struct class_route {
	uint16_t inputs, output;
	uint8_t channel; /* an enum class_channel */
};

/* The same with its node and number, as written in a file. */
struct class_register {
	router_id node;
	uint32_t route;
	struct class_route is;
};

/* The root of a partition. */
router_id class_root(
	const struct topo_grid *t, const struct topo_box *partition);

/* The route of a node of a box whose members go towards a root. */
struct class_route class_route_build(const struct topo_grid *t,
	const struct topo_box *box, router_id root, router_id node,
	enum class_channel channel);

/* The buffer of a virtual channel in every receiver. */
static inline uint32_t class_buffer(uint32_t channel)
{
	return channel == CLASS_SUB;
}

/* Links of a node that packets of world and system would share, and with them a
 * buffer, which is not allowed (BGQ-F24). */
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
