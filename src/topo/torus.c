/* k-ary n-cubes: Blue Gene/Q (5-D), Gemini and APEnet+ (3-D). */
#include "topo/torus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"

#define AT(field) offsetof(struct torus, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNTS, "shape", AT(shape), "4x4x4", 1,
		TORUS_MAX_LENGTH,
		"number of routers along each of one to six dimensions",
		"assumed: a small machine"),
	{ .name = "wrap",
		.type = PARAM_WORDS,
		.offset = AT(wrap),
		.def = "torus",
		.words = "torus|mesh|loop",
		.help = "connection of the two ends of each dimension; the "
			"last word applies to all further dimensions; loop "
			"also wires a dimension of size one to itself",
		.source = "assumed: rings" },
	PARAM_ROW(PARAM_COUNT, "nodes", AT(nodes), "0", 0, TOPO_MAX_PORTS - 2,
		"number of nodes at each router; 0: each router is itself a "
		"node",
		"assumed: a direct network"),
	PARAM_ROW(PARAM_COUNTS, "links", AT(links), "1", 1, TOPO_MAX_PORTS / 2,
		"number of parallel links in each direction of each dimension; "
		"the last number applies to all further dimensions",
		"assumed: one"),
	PARAM_ROW(PARAM_TEXT, "letters", AT(letters), "ABCDEF", 0, 0,
		"names of the dimensions, one letter each",
		"assumed: Blue Gene/Q's names"),
	PARAM_ONE_OF("wires", AT(wires), "uniform", "uniform|packaged",
		"basis of a wire's latency: its dimension, or the boards and "
		"midplanes that it leaves",
		"assumed: no packaging is specified"),
};

static const struct param node_params[] = {
	PARAM_ROW(PARAM_TIME, "node.up", AT(node_up), "20 ns", 1, 1000000000,
		"latency from a node to its router", "assumed: half a router"),
	PARAM_ROW(PARAM_TIME, "node.down", AT(node_down), "60 ns", 1,
		1000000000,
		"latency from a router to its node, including the time that "
		"the router takes",
		"assumed: one and a half routers"),
	PARAM_ROW(PARAM_RATE, "node.rate", AT(node_rate), "0 B/s", 0,
		INT64_C(1000000000000),
		"raw rate between a node and its router; 0: the links' rate",
		"assumed: the same links"),
};

static const struct topo_block node_wires = {
	.section = "topology",
	.needs = "node-wires",
	.rows = node_params,
	.n_rows = sizeof(node_params) / sizeof(node_params[0]),
};

static const struct param uniform_params[] = {
	PARAM_ROW(PARAM_TIME, "router", AT(logic), "40 ns", 0, 1000000000,
		"time that a router takes from a head's arrival to its "
		"departure",
		"assumed: typical of direct networks' routers"),
	PARAM_ROW(PARAM_COUNTS, "cable.length", AT(length), "2", 0, 10000,
		"length of the cable between neighbours in each dimension, in "
		"metres; the last number applies to all further dimensions",
		"assumed: a neighbour's rack at most"),
	TOPO_CABLE_DELAY(AT(delay)),
};

static const struct topo_block uniform = {
	.section = "topology",
	.needs = "uniform-wires",
	.rows = uniform_params,
	.n_rows = sizeof(uniform_params) / sizeof(uniform_params[0]),
};

static const struct topo_block *const blocks[] = {
	&node_wires,
	&torus_boards,
	&uniform,
	&torus_units,
	&torus_latencies,
	&torus_io,
	&torus_io_latency,
	NULL,
};

/* The number for dimension i; the last one applies to all further ones. */
static int64_t of_dim(const struct param_list *list, uint32_t i)
{
	int64_t last = list->n - 1;

	return list->v[i < last ? i : last];
}

/* Each dimension needs a letter of its own, whatever its case. */
static int check_letters(const struct torus *t, struct err *e)
{
	for (uint32_t i = 0; i < t->n_dims; i++) {
		if (!isalpha((unsigned char)t->letters[i]))
			return err_set(e,
				"topology.letters: \"%s\" does not name the "
				"dimensions (want one letter for each of the "
				"%u)",
				t->letters, t->n_dims);
		for (uint32_t k = 0; k < i; k++)
			if (tolower((unsigned char)t->letters[k]) ==
				tolower((unsigned char)t->letters[i]))
				return err_set(e,
					"topology.letters: \"%s\" has %c twice",
					t->letters, t->letters[i]);
	}
	return 0;
}

static int set_dims(struct torus *t, struct err *e)
{
	uint64_t n = 1;

	if (t->shape.n < 1 || t->shape.n > TORUS_MAX_DIMS)
		return err_set(e,
			"topology.shape: %lld dimensions (want 1 to %d)",
			(long long)t->shape.n, TORUS_MAX_DIMS);
	t->n_dims = (uint32_t)t->shape.n;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		t->dim[i] = (uint32_t)t->shape.v[i];
		t->stride[i] = (uint32_t)n;
		t->ring[i] =
			t->wrap.n ? (uint8_t)of_dim(&t->wrap, i) : TORUS_WRAP;
		t->most[i] = torus_is_ring(t, i) ? t->dim[i] / 2 : t->dim[i];
		t->n_links[i] = t->links.n ? (uint8_t)of_dim(&t->links, i) : 1;
		t->base[i + 1] = t->base[i] + 2u * t->n_links[i];
		n *= t->dim[i];
		if (n * (uint64_t)(t->nodes + 1) > TOPO_MAX_ROUTERS)
			return err_set(e, "topology.shape: more than %d %s",
				TOPO_MAX_ROUTERS,
				t->nodes ? "routers and nodes" : "routers");
	}
	t->n = (router_id)n;
	return 0;
}

static void set_wires(struct torus *t)
{
	struct topo *topo = &t->topo;

	if (t->wires == TORUS_PACKAGED) {
		torus_packaging_init(t);
	} else {
		topo->n_wires = t->n_dims;
		for (uint32_t i = 0; i < t->n_dims; i++) {
			t->names[i][0] = t->letters[i];
			topo->wire[i] = (struct topo_wire){
				.name = t->names[i],
				.latency = t->logic +
					   t->delay * of_dim(&t->length, i),
				.logic = t->logic,
				.metres = of_dim(&t->length, i),
			};
		}
	}
	if (!t->nodes)
		return;
	topo->wire[topo->n_wires++] = (struct topo_wire){
		.name = "node up", .latency = t->node_up, .rate = t->node_rate
	};
	topo->wire[topo->n_wires++] = (struct topo_wire){
		.name = "node down",
		.latency = t->node_down,
		.logic = t->node_down < t->logic ? t->node_down : t->logic,
		.rate = t->node_rate,
	};
}

static int torus_init(struct topo *topo, struct err *e)
{
	struct torus *t = (struct torus *)topo;
	port_id ports;

	if (set_dims(t, e) || check_letters(t, e))
		return -1;
	if (t->wires == TORUS_UNIFORM && !t->length.n)
		return err_set(
			e, "topology.cable.length: want at least one number");
	ports = t->base[t->n_dims] + (port_id)t->nodes;
	if (ports > TOPO_MAX_PORTS)
		return err_set(e,
			"topology.links: a router would have %u ports, "
			"including those to its nodes (want at most %d)",
			ports, TOPO_MAX_PORTS);
	t->first = t->n * (router_id)t->nodes;
	topo->n_nodes = t->nodes ? t->first : t->n;
	topo->n_routers = t->first + t->n;
	topo->n_ports = ports;
	topo->node_ports = t->nodes ? 1 : ports;
	if (torus_io_init(t, e))
		return -1;
	set_wires(t);
	return 0;
}

static void torus_fini(struct topo *topo)
{
	torus_io_fini((struct torus *)topo);
}

/* Hint bits support neither nodes at a router nor parallel links. */
static struct topo_words torus_words(const struct topo *topo)
{
	static const char *const has[2][2] = {
		[TORUS_UNIFORM] = { "cables uniform-wires",
			"cables uniform-wires node-wires boards" },
		[TORUS_PACKAGED] = { "packaging", "packaging node-wires" },
	};
	const struct torus *t = torus_of(topo);
	bool is_wide = t->nodes > 0;

	for (int64_t i = 0; i < t->links.n; i++)
		is_wide |= t->links.v[i] > 1;
	return (struct topo_words){ has[t->wires][t->nodes > 0],
		is_wide ? "order" : "hint" };
}

/* --- wires --- */

static inline uint32_t dim_of(const struct torus *t, port_id p)
{
	uint32_t i = 0;

	if (torus_is_plain(t) && p < t->base[t->n_dims])
		return p / 2;
	while (i + 1 < t->n_dims && p >= t->base[i + 1])
		i++;
	return i;
}

/* The wire between a node and its router. */
static struct topo_end node_end(const struct torus *t, router_id r, port_id p)
{
	uint32_t k = (uint32_t)t->nodes;
	port_id base = t->base[t->n_dims];

	if (r >= t->first)
		return (struct topo_end){ (r - t->first) * k + p - base, 0 };
	if (p)
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){ t->first + r / k, base + r % k };
}

static struct topo_end torus_peer(
	const struct topo *topo, router_id r, port_id p)
{
	const struct torus *t = torus_of(topo);
	uint32_t i, d, x, by;

	if (topo->n_io && (r >= t->n || p >= t->base[t->n_dims]))
		return torus_io_peer(t, r, p);
	if (r < t->first || p >= t->base[t->n_dims])
		return node_end(t, r, p);
	i = dim_of(t, p);
	d = t->dim[i];
	x = torus_coord(t, r - t->first, i);
	by = t->stride[i];
	if ((d == 1 && t->ring[i] != TORUS_LOOP) ||
		(t->ring[i] == TORUS_MESH && x == (p % 2 == 0 ? d - 1 : 0)))
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){
		.router = p % 2	      ? (x ? r - by : r + (d - 1) * by)
			  : x + 1 < d ? r + by
				      : r - x * by,
		.port = p ^ 1,
	};
}

static port_id torus_straight(const struct topo *topo, router_id r, port_id in)
{
	const struct torus *t = torus_of(topo);

	return r < t->first || in >= t->base[t->n_dims] ? TOPO_NO_PORT : in ^ 1;
}

static struct topo_direction torus_direction(const struct topo *topo, port_id p)
{
	const struct torus *t = torus_of(topo);
	uint32_t i = dim_of(t, p);

	return (struct topo_direction){ 2 * i + p % 2, (p - t->base[i]) / 2 };
}

uint32_t torus_wire_up(const struct torus *t, uint32_t dim, uint32_t x)
{
	return t->wires == TORUS_PACKAGED ? torus_packaging_wire(t, dim, x)
					  : dim;
}

bool torus_has_wire_up(const struct torus *t, uint32_t dim, uint32_t x)
{
	router_id r = t->first + x * t->stride[dim];

	return torus_peer(&t->topo, r, t->base[dim]).router != NO_ROUTER;
}

static uint32_t torus_wire(const struct topo *topo, router_id r, port_id p)
{
	const struct torus *t = torus_of(topo);
	uint32_t i, d, x;

	if (p >= t->base[t->n_dims] && topo->n_io)
		return WIRE_IO;
	if (r < t->first || p >= t->base[t->n_dims])
		return topo->n_wires - (r < t->first ? 2 : 1);
	i = dim_of(t, p);
	d = t->dim[i];
	x = torus_coord(t, r - t->first, i);
	return torus_wire_up(t, i, p % 2 == 0 ? x : (x + d - 1) % d);
}

static router_id torus_home(const struct topo *topo, router_id r)
{
	const struct torus *t = torus_of(topo);

	if (topo->n_io && r >= t->n)
		return torus_io_first(t, r);
	return r < t->first || !t->nodes ? r
					 : (r - t->first) * (router_id)t->nodes;
}

/* --- names --- */

/* "(1,0,3)"; "1,0,3" if the router has nodes of its own, unless that would be
 * a node's name. */
static void torus_name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	const struct torus *t = torus_of(topo);
	bool is_bare = t->nodes && t->n_dims > 1;
	size_t n = 0;

	if (r < t->first) {
		snprintf(text, size, "%u", r);
		return;
	}
	if (topo->n_io && r >= t->n) {
		snprintf(text, size, "io%u", r - t->n);
		return;
	}
	for (uint32_t i = 0; i < t->n_dims; i++) {
		n = name_put(text, size, n, i ? "," : is_bare ? "" : "(");
		n = name_put_number(
			text, size, n, torus_coord(t, r - t->first, i));
	}
	name_put(text, size, n, is_bare ? "" : ")");
}

/* "A+", or "x+7" among parallel links; "node 1" to a node; "link" at a node;
 * "IO" to an IO node, and "IO1" at one. */
static void torus_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	const struct torus *t = torus_of(topo);
	uint32_t i;
	size_t n;

	if (r < t->first) {
		snprintf(text, size, "link");
	} else if (topo->n_io && p == t->base[t->n_dims] && r < t->n) {
		snprintf(text, size, "IO");
	} else if (topo->n_io && p >= t->base[t->n_dims]) {
		snprintf(text, size, "IO%u", p - t->base[t->n_dims]);
	} else if (p >= t->base[t->n_dims]) {
		snprintf(text, size, "node %u", p - t->base[t->n_dims]);
	} else {
		i = dim_of(t, p);
		n = name_put(text, size, 0,
			(char[]){ t->letters[i], p % 2 ? '-' : '+', 0 });
		if (t->n_links[i] > 1)
			name_put_number(text, size, n, (p - t->base[i]) / 2);
	}
}

/* "(oooo)(oooo)[8o]", "(8#)(8#)(8#)oo" with the nodes of a router. */
static void torus_sketch(const struct topo *topo, char *text, size_t size)
{
	static const char row[2][5] = { "oooo", "####" };
	const struct torus *t = torus_of(topo);
	const char *r = row[t->nodes > 0];
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_dims && n < size; i++) {
		bool is_ring = torus_is_ring(t, i);

		if (t->dim[i] > 4)
			n += (size_t)snprintf(text + n, size - n, "%c%u%c%c",
				is_ring ? '(' : '[', t->dim[i], *r,
				is_ring ? ')' : ']');
		else
			n += (size_t)snprintf(text + n, size - n, "%c%.*s%c",
				is_ring ? '(' : '[', (int)t->dim[i], r,
				is_ring ? ')' : ']');
	}
	if (n < size)
		snprintf(text + n, size - n, "%.*s", (int)t->nodes, row[0]);
}

static void torus_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct torus *t = torus_of(topo);
	size_t n = 0;

	for (uint32_t i = 0; i < t->n_dims && n < size; i++)
		n += (size_t)snprintf(
			text + n, size - n, "%s%u", i ? "x" : "", t->dim[i]);
	if (t->nodes && n < size)
		snprintf(text + n, size - n, ", %lld node%s each",
			(long long)t->nodes, t->nodes > 1 ? "s" : "");
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

	if (topo->n_io && node >= t->n)
		node = torus_io_first(t, node);
	for (uint32_t i = 0; i < t->n_dims; i++)
		x[i] = torus_coord(
			t, t->nodes ? node / (router_id)t->nodes : node, i);
}

static router_id torus_node_at(
	const struct topo *topo, const uint32_t x[TOPO_MAX_DIMS])
{
	const struct torus *t = torus_of(topo);
	router_id r = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		r += x[i] % t->dim[i] * t->stride[i];
	return t->nodes ? r * (router_id)t->nodes : r;
}

/* The number of a site's router; *hops: how far that is. */
static router_id router_of(const struct torus *t, router_id s, uint32_t *hops)
{
	if (s >= t->first)
		return s - t->first;
	++*hops;
	return s / (router_id)t->nodes;
}

static uint32_t torus_distance(
	const struct topo *topo, router_id a, router_id b)
{
	const struct torus *t = torus_of(topo);
	uint32_t sum = 0;

	if (a == b)
		return 0;
	if (topo->n_io && (a >= t->n || b >= t->n))
		return TOPO_FAR;
	a = router_of(t, a, &sum);
	b = router_of(t, b, &sum);
	for (uint32_t i = 0; a != b; i++) {
		uint32_t n = t->dim[i], x = a % n, y = b % n;
		uint32_t d = x > y ? x - y : y - x;

		a /= n;
		b /= n;
		sum += d > t->most[i] ? n - d : d;
	}
	return sum;
}

const struct topo_ops torus_ops = {
	.name = "torus",
	.size = sizeof(struct torus),
	PARAMS(params),
	.shape_key = "shape",
	.blocks = blocks,
	.words = torus_words,
	.init = torus_init,
	.fini = torus_fini,
	.peer = torus_peer,
	.straight = torus_straight,
	.direction = torus_direction,
	.wire = torus_wire,
	.home = torus_home,
	.name_router = torus_name_router,
	.name_port = torus_name_port,
	.name_shape = torus_name_shape,
	.sketch = torus_sketch,
	.parts = torus_parts,
	.grid = torus_grid,
	.place = torus_place,
	.node_at = torus_node_at,
	.distance = torus_distance,
	.peak = torus_peak,
	.partition = torus_partition,
	.links = torus_links,
	.where = torus_where,
	.cut = torus_cut,
	.tables = torus_tables,
	.row = torus_row,
	.draw = torus_draw,
};
