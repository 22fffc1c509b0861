/* What follows from a torus's parameters; all of it is exact. */
#include "topo/torus.h"

#include <stdio.h>
#include <string.h>

#include "base/wide.h"

#define ALL UINT32_MAX

/* --- links --- */

/* Links of a class, or of all, in a dimension, both directions counted as
 * one. */
static uint64_t links_in(const struct torus *t, uint32_t dim, uint32_t class)
{
	uint64_t lines = (uint64_t)t->n / t->dim[dim] * t->n_links[dim], n = 0;

	for (uint32_t x = 0; x < t->dim[dim]; x++)
		if (torus_has_wire_up(t, dim, x) &&
			(class == ALL || torus_wire_up(t, dim, x) == class))
			n += lines;
	return n;
}

uint64_t torus_links(const struct topo *topo, uint32_t class)
{
	const struct torus *t = torus_of(topo);
	uint64_t n = 0;

	if (t->nodes && class + 2 >= topo->n_wires)
		return topo->n_nodes;
	if (topo->n_io && class == WIRE_IO)
		return torus_io_exits(t);
	for (uint32_t i = 0; i < t->n_dims; i++)
		n += links_in(t, i, class);
	return n;
}

void torus_where(const struct topo *topo, uint32_t class, char text[TOPO_TEXT])
{
	const struct torus *t = torus_of(topo);

	if (t->nodes && class + 2 >= topo->n_wires)
		snprintf(text, TOPO_TEXT, "between nodes and their router");
	else if (t->wires == TORUS_PACKAGED)
		torus_packaging_where(class, text);
	else
		snprintf(text, TOPO_TEXT, "between neighbours in %c",
			t->letters[class]);
}

/* The dimension with the fewest; a ring is cut twice. */
struct topo_cut torus_cut(const struct topo *topo)
{
	const struct torus *t = torus_of(topo);
	struct topo_cut cut = { 0 };

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint64_t links = (uint64_t)t->n / t->dim[i] * t->n_links[i] *
				 (torus_is_ring(t, i) ? 2u : 1u);

		if (t->dim[i] < 2 || (cut.links && links >= cut.links))
			continue;
		cut.links = links;
		snprintf(cut.dim, sizeof(cut.dim), "%c", t->letters[i]);
		snprintf(cut.where, sizeof(cut.where), "across %.40s", cut.dim);
	}
	return cut;
}

/*
 * In a dimension a packet goes d / 4 hops on average where d is even, and
 * (d * d - 1) / 4d where it is odd; in a line with its ends open the middle
 * carries twice what a ring's links do.  A router's nodes share its links.
 */
uint64_t torus_peak(const struct topo *topo, const struct topo_rates *k)
{
	const struct torus *t = torus_of(topo);
	uint128 n = topo->n_nodes, per = t->nodes ? (uint64_t)t->nodes : 1;
	uint128 peak = UINT64_MAX, ports;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint128 d = t->dim[i], bound;
		uint128 rate = k->rate(k, torus_wire_up(t, i, 0), 0, 1);

		if (d == 1)
			continue;
		rate = rate * 8 * t->n_links[i];
		bound = d % 2 == 0 ? rate / (d * per)
				   : rate * d / ((d * d - 1) * per);
		if (!torus_is_ring(t, i))
			bound /= 2;
		if (bound < peak)
			peak = bound;
	}
	peak = peak * (n - 1) / n;
	/* as many injection FIFOs as ports */
	ports = (uint128)k->rate(k, topo->ops->wire(topo, 0, 0), 0, 1) *
		topo->node_ports;
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

	snprintf(cell[0].text, sizeof(cell[0].text), "%c", t->letters[i]);
	cell[1].n = t->dim[i];
	snprintf(cell[2].text, sizeof(cell[2].text), "%s", wraps[t->ring[i]]);
	cell[3].n = links_in(t, i, ALL);
}

bool torus_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	const struct torus *t = torus_of(topo);

	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	if (table == TABLE_UNITS)
		return t->wires == TORUS_PACKAGED &&
		       torus_packaging_row(t, i, cell);
	if (i < t->n_dims)
		dim_row(t, i, cell);
	return i < t->n_dims;
}
