#include "coll/box.h"

struct coll_box coll_box_whole(const struct torus *t)
{
	struct coll_box b = { .n_dims = t->n_dims };
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		b.length[i] = t->dim[i];
	return b;
}

void coll_box_coords(
	const struct torus *t, router_id r, uint32_t at[TORUS_MAX_DIMS])
{
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		at[i] = torus_coord(t, r, i);
}

router_id coll_box_node(
	const struct torus *t, const uint32_t at[TORUS_MAX_DIMS])
{
	router_id r = 0;
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		r += at[i] * t->stride[i];
	return r;
}

bool coll_box_has(const struct coll_box *b, const uint32_t at[TORUS_MAX_DIMS])
{
	uint32_t i;

	for (i = 0; i < b->n_dims; i++)
		if (at[i] < b->first[i] || at[i] - b->first[i] >= b->length[i])
			return false;
	return true;
}

uint32_t coll_box_nodes(const struct coll_box *b)
{
	uint32_t i, n = 1;

	for (i = 0; i < b->n_dims; i++)
		n *= b->length[i];
	return n;
}

/* The partition's root, or the nearest coordinate that the box has. */
static uint32_t root_in(const struct coll_box *partition,
	const struct coll_box *box, uint32_t i)
{
	uint32_t root = partition->first[i] + partition->length[i] / 2;
	uint32_t last = box->first[i] + box->length[i] - 1;

	return root < box->first[i] ? box->first[i] : root > last ? last : root;
}

void coll_box_root(const struct coll_box *partition, const struct coll_box *box,
	uint32_t root[TORUS_MAX_DIMS])
{
	uint32_t i;

	for (i = 0; i < box->n_dims; i++)
		root[i] = root_in(partition, box, i);
}

/* The k-th dimension of a way up. */
static uint32_t dim_of(const struct coll_box *partition, uint32_t k)
{
	uint32_t last = partition->n_dims - 1;

	while (last > 0 && partition->length[last] == 1)
		last--;
	return k == 0 ? last : k <= last ? k - 1 : k;
}

struct coll_branch coll_box_branch(const struct coll_box *partition,
	const struct coll_box *box, const uint32_t at[TORUS_MAX_DIMS])
{
	struct coll_branch b = { .parent = TOPO_NO_PORT };
	uint32_t k;

	/* Those beside it in a dimension come here if they have no way to go
	 * in those before, which this node has then none in, either. */
	for (k = 0; k < box->n_dims && b.parent == TOPO_NO_PORT; k++) {
		uint32_t i = dim_of(partition, k), x = at[i];
		uint32_t root = root_in(partition, box, i);
		port_id up = 2 * i, down = 2 * i + 1;

		if (x >= root && x + 1 < box->first[i] + box->length[i])
			b.children |= (port_mask)1 << up;
		if (x <= root && x > box->first[i])
			b.children |= (port_mask)1 << down;
		if (x != root)
			b.parent = x < root ? up : down;
	}
	return b;
}
