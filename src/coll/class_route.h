/*
 * Class routes: what a node knows of a tree that collectives take (BGQ-F47,
 * BGQ-F48): where contributions come in on the way up, and where what becomes
 * of them leaves.  Nothing here knows packets or time.
 */
#ifndef COLL_CLASS_ROUTE_H
#define COLL_CLASS_ROUTE_H

#include "coll/box.h"

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

/* Ports are bits; a root has no output. */
struct class_route {
	uint16_t inputs, output;
	uint8_t channel; /* an enum class_channel */
};

/* The route of a node of a box, all of whose members contribute. */
struct class_route class_route_build(const struct torus *t,
	const struct coll_box *partition, const struct coll_box *box,
	router_id node, enum class_channel channel);

/* The buffer that a virtual channel has in every receiver. */
static inline uint32_t class_buffer(uint32_t channel)
{
	return channel == CLASS_SUB;
}

#endif
