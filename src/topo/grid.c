#include "topo/grid.h"

#include <string.h>

/* The node next to node 0 along a dimension. */
static router_id beside(const struct topo *t, uint32_t dim)
{
	uint32_t x[TOPO_MAX_DIMS] = { 0 };

	x[dim] = 1;
	return t->ops->node_at(t, x);
}

/* Finds the ports by which two neighbours along a dimension are wired.  In a
 * ring of two there are two such wires: the first leads up. */
static bool find_ports(const struct topo *t, struct topo_grid *g, uint32_t dim)
{
	router_id next = beside(t, dim);

	g->up[dim] = g->down[dim] = TOPO_NO_PORT;
	if (g->dim[dim] == 1)
		return true;
	for (port_id p = 0; p < t->node_ports; p++) {
		struct topo_end far = t->ops->peer(t, 0, p);

		if (far.router != next)
			continue;
		g->up[dim] = p;
		g->down[dim] = far.port;
		return true;
	}
	return false;
}

/* Ports without a wire have names, too. */
static char letter_of(const struct topo *t, uint32_t dim, port_id up)
{
	port_id p = up == TOPO_NO_PORT ? 2 * dim : up;
	char name[16] = "";

	if (p < t->node_ports)
		t->ops->name_port(t, 0, p, name, sizeof(name));
	return name[0];
}

/* Numbers count along the lines, the first dimension first. */
static bool is_in_order(const struct topo *t, const struct topo_grid *g)
{
	uint32_t x[TOPO_MAX_DIMS] = { 0 }, i;
	router_id last = 0;

	for (i = 0; i < g->n_dims; i++) {
		if (g->dim[i] > 1 && beside(t, i) != g->stride[i])
			return false;
		x[i] = g->dim[i] - 1;
		last += x[i] * g->stride[i];
	}
	return t->ops->node_at(t, x) == last && last + 1 == t->n_nodes;
}

bool topo_grid_of(const struct topo *t, struct topo_grid *g)
{
	uint32_t stride = 1;

	if (!t->ops->grid || !t->ops->node_at || !topo_is_direct(t))
		return false;
	memset(g, 0, sizeof(*g));
	g->n_dims = t->ops->grid(t, g->dim);
	for (uint32_t i = 0; i < g->n_dims; i++) {
		g->stride[i] = stride;
		stride *= g->dim[i];
		if (!find_ports(t, g, i))
			return false;
		g->letter[i] = letter_of(t, i, g->up[i]);
	}
	return is_in_order(t, g);
}

struct topo_box topo_box_all(const struct topo_grid *g)
{
	struct topo_box b = { .first = { 0 } };

	for (uint32_t i = 0; i < g->n_dims; i++)
		b.length[i] = g->dim[i];
	return b;
}

bool topo_box_has(
	const struct topo_box *b, const struct topo_grid *g, router_id r)
{
	for (uint32_t i = 0; i < g->n_dims; i++)
		if (topo_grid_coord(g, r, i) - b->first[i] >= b->length[i])
			return false;
	return true;
}
