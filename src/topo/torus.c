/*
 * k-ary n-cubes: Blue Gene/Q (5-D), Gemini and APEnet+ (3-D).
 *
 * Router r sits at r = x0 + d0 * (x1 + d1 * (x2 + ...)).  Port 2i leads to
 * x[i] + 1 and port 2i+1 to x[i] - 1, both modulo d[i] in a ring.  In a ring
 * of two both ports reach the same neighbour, over two separate wires.  The
 * wire from port p always ends at the neighbour's port p ^ 1.
 */
#include "topo/torus.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct torus, field)

static const struct param params[] = {
	{ .name = "shape",
		.type = PARAM_COUNTS,
		.offset = AT(shape),
		.def = "4x4x4x4x2",
		.min = 1,
		.max = TORUS_MAX_LENGTH,
		.help = "routers along each dimension, one to six of them",
		.source = "BGQ-N17" },
	{ .name = "wrap",
		.type = PARAM_WORDS,
		.offset = AT(wrap),
		.def = "torus",
		.words = "torus|mesh|loop",
		.help = "how the ends of each dimension are joined; the last "
			"word holds for the dimensions that follow; loop also "
			"wires a dimension of one to itself",
		.source = "BGQ-F2, BGQ-F84" },
	{ .name = "board",
		.type = PARAM_COUNTS,
		.offset = AT(board),
		.def = "2x2x2x2x2",
		.min = 1,
		.max = TORUS_MAX_LENGTH,
		.help = "routers on one board along each dimension",
		.source = "BGQ-N18" },
	{ .name = "midplane",
		.type = PARAM_COUNTS,
		.offset = AT(midplane),
		.def = "4x4x4x4x2",
		.min = 1,
		.max = TORUS_MAX_LENGTH,
		.help = "routers in one midplane along each dimension",
		.source = "BGQ-N17" },
	{ .name = "inner",
		.type = PARAM_COUNTS,
		.offset = AT(inner),
		.def = "4",
		.min = 0,
		.max = TORUS_MAX_DIMS,
		.help = "dimensions (from 0) that never leave the board; a "
			"number that the shape does not have means none",
		.source = "BGQ-F7" },
};

static const struct topo_wire wires[N_WIRE_CLASSES] = {
	[WIRE_BOARD] = { .name = "board" },
	[WIRE_BOARDS] = { .name = "boards" },
	[WIRE_MIDPLANES] = { .name = "midplanes" },
	[WIRE_LOOP] = { .name = "loop" },
	[WIRE_INNER] = { .name = "inner" },
};

static int torus_init(struct topo *topo, struct err *e)
{
	struct torus *t = (struct torus *)topo;
	uint64_t n = 1;
	uint32_t i;

	if (t->shape.n < 1 || t->shape.n > TORUS_MAX_DIMS)
		return err_set(e, "a torus of %lld dimensions, want 1 to %d",
			(long long)t->shape.n, TORUS_MAX_DIMS);
	t->n_dims = (uint32_t)t->shape.n;
	for (i = 0; i < t->n_dims; i++) {
		int64_t last = t->wrap.n - 1;

		t->dim[i] = (uint32_t)t->shape.v[i];
		t->stride[i] = (uint32_t)n;
		t->ring[i] = last < 0 ? TORUS_WRAP
				      : (uint8_t)t->wrap.v[i < last ? i : last];
		n *= t->dim[i];
		if (n > TOPO_MAX_ROUTERS)
			return err_set(e, "this shape has more than %d routers",
				TOPO_MAX_ROUTERS);
	}
	t->topo.n_nodes = t->topo.n_routers = (router_id)n;
	t->topo.n_ports = t->topo.node_ports = 2 * t->n_dims;
	t->topo.n_wires = N_WIRE_CLASSES;
	memcpy(t->topo.wire, wires, sizeof(wires));
	return 0;
}

static struct topo_end torus_peer(
	const struct topo *topo, router_id r, port_id p)
{
	const struct torus *t = torus_of(topo);
	uint32_t i = p / 2, d = t->dim[i], x = torus_coord(t, r, i);
	uint32_t y = p % 2 == 0 ? (x + 1) % d : (x + d - 1) % d;

	if ((d == 1 && t->ring[i] != TORUS_LOOP) ||
		(t->ring[i] == TORUS_MESH && x == (p % 2 == 0 ? d - 1 : 0)))
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){
		.router = r - x * t->stride[i] + y * t->stride[i],
		.port = p ^ 1,
	};
}

static port_id torus_straight(const struct topo *t, router_id r, port_id in)
{
	(void)t;
	(void)r;
	return in ^ 1;
}

/* Routers per unit of packaging along a dimension; all where not said. */
static uint32_t span(const struct param_list *unit, uint32_t i, uint32_t d)
{
	return i < unit->n ? (uint32_t)unit->v[i] : d;
}

static uint32_t torus_wire(const struct topo *topo, router_id r, port_id p)
{
	const struct torus *t = torus_of(topo);
	uint32_t i = p / 2, d = t->dim[i], x = torus_coord(t, r, i), lo;
	uint32_t board = span(&t->board, i, d);
	uint32_t midplane = span(&t->midplane, i, d);
	int64_t k;

	for (k = 0; k < t->inner.n; k++)
		if (t->inner.v[k] == i)
			return WIRE_INNER;
	lo = p % 2 == 0 ? x : (x + d - 1) % d; /* the wire's lower end */
	if (lo == d - 1) /* it joins the ends */
		return d <= midplane ? WIRE_LOOP : WIRE_MIDPLANES;
	if (lo / midplane != (lo + 1) / midplane)
		return WIRE_MIDPLANES;
	return lo / board != (lo + 1) / board ? WIRE_BOARDS : WIRE_BOARD;
}

static void torus_name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	const struct torus *t = torus_of(topo);
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < t->n_dims && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "%c%u", i ? ',' : '(',
			torus_coord(t, r, i));
	if (n < size)
		snprintf(text + n, size - n, ")");
}

static void torus_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	(void)topo;
	(void)r;
	snprintf(text, size, "%c%c", (char)('A' + p / 2), p % 2 ? '-' : '+');
}

static void torus_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct torus *t = torus_of(topo);
	size_t n = 0;
	uint32_t i;

	for (i = 0; i < t->n_dims && n < size; i++)
		n += (size_t)snprintf(
			text + n, size - n, "%s%u", i ? "x" : "", t->dim[i]);
}

/* --- coordinates --- */

static uint32_t torus_grid(
	const struct topo *topo, uint32_t size[TOPO_MAX_DIMS])
{
	const struct torus *t = torus_of(topo);

	memcpy(size, t->dim, t->n_dims * sizeof(*size));
	return t->n_dims;
}

static void torus_place(
	const struct topo *topo, router_id node, uint32_t x[TOPO_MAX_DIMS])
{
	const struct torus *t = torus_of(topo);
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		x[i] = torus_coord(t, node, i);
}

static router_id torus_node_at(
	const struct topo *topo, const uint32_t x[TOPO_MAX_DIMS])
{
	const struct torus *t = torus_of(topo);
	router_id r = 0;
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		r += x[i] % t->dim[i] * t->stride[i];
	return r;
}

const struct topo_ops torus_ops = {
	.name = "torus",
	.size = sizeof(struct torus),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.shape_key = "shape",
	.init = torus_init,
	.peer = torus_peer,
	.straight = torus_straight,
	.wire = torus_wire,
	.name_router = torus_name_router,
	.name_port = torus_name_port,
	.name_shape = torus_name_shape,
	.grid = torus_grid,
	.place = torus_place,
	.node_at = torus_node_at,
	.peak = torus_peak,
	.links = torus_class_links,
	.where = torus_where,
	.cut = torus_cut,
	.tables = torus_tables,
	.row = torus_row,
	.draw = torus_draw,
};

const struct torus *torus_from(const struct topo *t)
{
	return t->ops == &torus_ops ? torus_of(t) : NULL;
}
