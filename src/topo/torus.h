/* Tori and meshes of one to six dimensions, of any length each. */
#ifndef TOPO_TORUS_H
#define TOPO_TORUS_H

#include "topo/topo.h"

enum { TORUS_MAX_DIMS = TOPO_MAX_DIMS, TORUS_MAX_LENGTH = 65536 };

/* How the two ends of a dimension are joined. */
enum torus_wrap {
	TORUS_WRAP, /* a ring; of two routers, joined by two separate links */
	TORUS_MESH, /* a line */
	TORUS_LOOP, /* as WRAP, and a single router is wired to itself */
};

struct torus {
	struct topo topo;
	struct param_list shape;
	struct param_list wrap; /* the last one holds for the rest */
	struct param_list board, midplane; /* routers per dimension */
	struct param_list inner; /* dimensions that stay on the board */

	/* set by init() */
	uint32_t n_dims;
	uint32_t dim[TORUS_MAX_DIMS];
	uint32_t stride[TORUS_MAX_DIMS];
	uint8_t ring[TORUS_MAX_DIMS]; /* an enum torus_wrap */
};

extern const struct topo_ops torus_ops;

/* NULL where it is another topology. */
const struct torus *torus_from(const struct topo *t);

static inline const struct torus *torus_of(const struct topo *t)
{
	return (const struct torus *)t;
}

/* NULL where it is none. */
static inline const struct torus *torus_find(const struct topo *t)
{
	return t->ops == &torus_ops ? torus_of(t) : NULL;
}

static inline uint32_t torus_coord(
	const struct torus *t, router_id r, uint32_t dim)
{
	return r / t->stride[dim] % t->dim[dim];
}

static inline int torus_is_ring(const struct torus *t, uint32_t dim)
{
	return t->ring[dim] != TORUS_MESH;
}

/* --- torus_facts.c --- */

extern const struct topo_table torus_tables[];

/* Links, both directions counted as one, of each class in a dimension. */
void torus_links(
	const struct torus *t, uint32_t dim, uint64_t links[N_WIRE_CLASSES]);

/* See struct topo_ops. */
uint64_t torus_peak(const struct topo *topo, const struct topo_rates *k);
uint64_t torus_class_links(const struct topo *topo, uint32_t class);
void torus_where(const struct topo *topo, uint32_t class, char text[TOPO_TEXT]);
struct topo_cut torus_cut(const struct topo *topo);
bool torus_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS]);

/* --- torus_picture.c --- */

void torus_draw(const struct topo *topo, FILE *out);

#endif
