#include "coll/class_route.h"

router_id class_root(const struct topo_grid *t, const struct topo_box *b)
{
	router_id r = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		r += (b->first[i] + b->length[i] / 2) * t->stride[i];
	return r;
}

/* A box's coordinate that is nearest to the root's. */
static uint32_t nearest(const struct topo_grid *t, const struct topo_box *b,
	router_id root, uint32_t dim)
{
	uint32_t x = topo_grid_coord(t, root, dim);
	uint32_t last = b->first[dim] + b->length[dim] - 1;

	return x < b->first[dim] ? b->first[dim] : x > last ? last : x;
}

/* The i-th dimension that a packet goes in. */
static uint32_t dimension(const struct topo_grid *t, uint32_t i)
{
	uint32_t last = t->n_dims - 1;

	while (last && t->dim[last] == 1)
		last--;
	return !i ? last : i <= last ? i - 1 : i;
}

/* The port that a node goes up by, or PACKET_NO_PORT where it is the root. */
static port_id up_port(const struct topo_grid *t, const struct topo_box *b,
	router_id root, router_id node)
{
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t dim = dimension(t, i);
		uint32_t x = topo_grid_coord(t, node, dim);
		uint32_t to = nearest(t, b, root, dim);

		if (x != to)
			return to < x ? t->down[dim] : t->up[dim];
	}
	return TOPO_MAX_PORTS;
}

/* Members beside a node whose way up leads to it, in one dimension. */
static uint32_t children(const struct topo_grid *t, const struct topo_box *b,
	router_id root, router_id node, uint32_t dim)
{
	uint32_t x = topo_grid_coord(t, node, dim) - b->first[dim], ports = 0;
	port_id up = t->up[dim], down = t->down[dim];

	if (x + 1 < b->length[dim] &&
		up_port(t, b, root, node + t->stride[dim]) == down)
		ports |= 1u << up;
	if (x && up_port(t, b, root, node - t->stride[dim]) == up)
		ports |= 1u << down;
	return ports;
}

struct class_route class_route_build(const struct topo_grid *t,
	const struct topo_box *box, router_id root, router_id node,
	enum class_channel channel)
{
	port_id up = up_port(t, box, root, node);
	uint32_t inputs = CLASS_LOCAL_BIT;

	for (uint32_t i = 0; i < t->n_dims; i++)
		inputs |= children(t, box, root, node, i);
	return (struct class_route){
		.inputs = (uint16_t)inputs,
		.output = (uint16_t)(up < TOPO_MAX_PORTS ? 1u << up : 0),
		.channel = (uint8_t)channel,
	};
}
