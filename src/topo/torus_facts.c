/* What follows from a torus's parameters; all of it is exact. */
#include "topo/torus.h"

#include <stdio.h>
#include <string.h>

#include "base/wide.h"

/* --- links --- */

static bool has_wire(const struct torus *t, uint32_t dim, uint32_t x)
{
	return t->topo.ops->peer(&t->topo, x * t->stride[dim], 2 * dim)
		       .router != NO_ROUTER;
}

void torus_links(
	const struct torus *t, uint32_t dim, uint64_t links[N_WIRE_CLASSES])
{
	uint32_t x, lines = t->topo.n_routers / t->dim[dim];

	memset(links, 0, N_WIRE_CLASSES * sizeof(*links));
	for (x = 0; x < t->dim[dim]; x++)
		if (has_wire(t, dim, x))
			links[t->topo.ops->wire(&t->topo, x * t->stride[dim],
				2 * dim)] += lines;
}

uint64_t torus_class_links(const struct topo *topo, uint32_t class)
{
	const struct torus *t = torus_of(topo);
	uint64_t links[N_WIRE_CLASSES], n = 0;
	uint32_t i;

	for (i = 0; i < t->n_dims; i++) {
		torus_links(t, i, links);
		n += links[class];
	}
	return n;
}

void torus_where(const struct topo *topo, uint32_t class, char text[TOPO_TEXT])
{
	static const char *const texts[N_WIRE_CLASSES] = {
		[WIRE_BOARD] = "inside a board",
		[WIRE_BOARDS] = "from board to board",
		[WIRE_MIDPLANES] = "from midplane to midplane",
		[WIRE_LOOP] = "out of a midplane and back into it",
		[WIRE_INNER] = "of a dimension that stays on its board",
	};

	(void)topo;
	snprintf(text, TOPO_TEXT, "%s", texts[class]);
}

/* The dimension with the fewest; a ring is cut twice. */
struct topo_cut torus_cut(const struct topo *topo)
{
	const struct torus *t = torus_of(topo);
	struct topo_cut cut = { 0 };
	uint32_t i;

	for (i = 0; i < t->n_dims; i++) {
		uint64_t links = topo->n_routers / t->dim[i] *
				 (torus_is_ring(t, i) ? 2u : 1u);

		if (t->dim[i] < 2 || (cut.links && links >= cut.links))
			continue;
		cut.links = links;
		snprintf(cut.dim, sizeof(cut.dim), "%c", (char)('A' + i));
		snprintf(cut.where, sizeof(cut.where), "across %.40s", cut.dim);
	}
	return cut;
}

uint64_t torus_peak(const struct topo *topo, const struct topo_rates *k)
{
	const struct torus *t = torus_of(topo);
	uint128 rate = k->rate(k, WIRE_BOARD, 0, 1), n = topo->n_nodes;
	uint128 peak = rate * 8 * TORUS_MAX_LENGTH, ports;
	uint32_t i;

	for (i = 0; i < t->n_dims; i++) {
		uint128 d = t->dim[i], bound;

		if (d == 1)
			continue;
		bound = d % 2 == 0 ? rate * 8 / d : rate * 8 * d / (d * d - 1);
		if (!torus_is_ring(t, i))
			bound /= 2;
		if (bound < peak)
			peak = bound;
	}
	peak = peak * (n - 1) / n;
	ports = rate * topo->n_ports; /* as many injection FIFOs */
	return (uint64_t)(peak < ports ? peak : ports);
}

/* --- tables --- */

enum { TABLE_DIMS, TABLE_UNITS };

const struct topo_table torus_tables[] = {
	[TABLE_DIMS] = { "dimensions",
		{ { "dimension", "name", false, false },
			{ "length", "length", true, false },
			{ "ends", "ends", false, false },
			{ "links", "links", true, false } } },
	[TABLE_UNITS] = { "packaging",
		{ { "packaging", "unit", false, false },
			{ "shape", "shape", false, false },
			{ "nodes", "nodes", true, false },
			{ "units", "units", true, false } } },
	{ NULL, { { NULL, NULL, false, false } } },
};

static void dim_row(const struct torus *t, uint32_t i, struct topo_cell *cell)
{
	static const char *const wraps[] = {
		[TORUS_WRAP] = "torus",
		[TORUS_MESH] = "mesh",
		[TORUS_LOOP] = "loop",
	};
	uint64_t links[N_WIRE_CLASSES];
	uint32_t c;

	torus_links(t, i, links);
	snprintf(cell[0].text, sizeof(cell[0].text), "%c", (char)('A' + i));
	cell[1].n = t->dim[i];
	snprintf(cell[2].text, sizeof(cell[2].text), "%s", wraps[t->ring[i]]);
	for (c = 0; c < N_WIRE_CLASSES; c++)
		cell[3].n += links[c];
}

/* Boards, or midplanes; false where the machine is a part of one. */
static bool unit_row(const struct torus *t, const char *name,
	const struct param_list *unit, struct topo_cell *cell)
{
	bool is_whole = true;
	size_t at = 0;
	uint32_t i;

	snprintf(cell[0].text, sizeof(cell[0].text), "%s", name);
	cell[2].n = cell[3].n = 1;
	for (i = 0; i < t->n_dims; i++) {
		uint32_t d = t->dim[i], k = d;

		if (i < unit->n && unit->v[i] < d)
			k = (uint32_t)unit->v[i];
		at += (size_t)snprintf(cell[1].text + at,
			sizeof(cell[1].text) - at, "%s%u", i ? "x" : "", k);
		cell[2].n *= k;
		cell[3].n *= (d + k - 1) / k;
		is_whole &= i >= unit->n || unit->v[i] <= d;
	}
	return is_whole || cell[3].n > 1;
}

/* Those that the machine has at least one of. */
static bool next_unit(const struct torus *t, uint32_t i, struct topo_cell *cell)
{
	const struct param_list *const unit[] = { &t->board, &t->midplane };
	static const char *const name[] = { "board", "midplane" };
	uint32_t k;

	for (k = 0; k < 2; k++)
		if (unit_row(t, name[k], unit[k], cell) && !i--)
			return true;
	return false;
}

bool torus_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	const struct torus *t = torus_of(topo);

	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	if (table == TABLE_UNITS)
		return next_unit(t, i, cell);
	if (i < t->n_dims)
		dim_row(t, i, cell);
	return i < t->n_dims;
}
