/*
 * Trees over boxes of a torus whose routers are nodes.  A node's branch follows
 * from its own coordinates, the box and the partition; nothing is stored.
 *
 * All boxes of a partition lead to one root, the node at first + length / 2 in
 * each dimension: a node goes towards it first in the last dimension in which
 * the partition is longer than one, then in dimension 0, 1, ... as far as the
 * box allows, never over a wrap link.  So a box's root is its node that is
 * nearest to the partition's.  A hop up always nears that root and a hop down
 * leads away from it, whatever the box: each direction of a link is up for all
 * trees or down for all, and trees cannot wait for each other in a circle.
 */
#ifndef COLL_BOX_H
#define COLL_BOX_H

#include "topo/torus.h"

struct coll_box {
	uint32_t n_dims;
	uint32_t first[TORUS_MAX_DIMS], length[TORUS_MAX_DIMS];
};

struct coll_branch {
	port_id parent; /* TOPO_NO_PORT at the root */
	port_mask children;
};

/* All of a torus. */
struct coll_box coll_box_whole(const struct torus *t);
void coll_box_coords(
	const struct torus *t, router_id r, uint32_t at[TORUS_MAX_DIMS]);
router_id coll_box_node(
	const struct torus *t, const uint32_t at[TORUS_MAX_DIMS]);

bool coll_box_has(const struct coll_box *b, const uint32_t at[TORUS_MAX_DIMS]);
uint32_t coll_box_nodes(const struct coll_box *b);

/* The root of a box's tree; of the partition's own if box is the partition. */
void coll_box_root(const struct coll_box *partition, const struct coll_box *box,
	uint32_t root[TORUS_MAX_DIMS]);
/* Of a node of the box, which lies in the partition. */
struct coll_branch coll_box_branch(const struct coll_box *partition,
	const struct coll_box *box, const uint32_t at[TORUS_MAX_DIMS]);

#endif
