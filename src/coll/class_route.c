#include "coll/class_route.h"

struct class_route class_route_build(const struct torus *t,
	const struct coll_box *partition, const struct coll_box *box,
	router_id node, enum class_channel channel)
{
	uint32_t at[TORUS_MAX_DIMS];
	struct coll_branch b;

	coll_box_coords(t, node, at);
	b = coll_box_branch(partition, box, at);
	return (struct class_route){
		.inputs = (uint16_t)(b.children | CLASS_LOCAL_BIT),
		.output = (uint16_t)(b.parent == TOPO_NO_PORT ? 0
							      : 1u << b.parent),
		.channel = (uint8_t)channel,
	};
}
