/*
 * Blue Gene/Q's packaging: boards in midplanes in a machine.  What a wire
 * crosses decides how long it is.
 */
#include <stdio.h>
#include <string.h>

#include "topo/torus.h"

#define AT(field) offsetof(struct torus, field)

#define LATENCY(class, name_, def_, help_, source_)                            \
	PARAM_ROW(PARAM_TIME, "latency." name_,                                \
		AT(latency) + (class) * sizeof(int64_t), def_, 1, 1000000000,  \
		help_, source_)

static const struct param unit_params[] = {
	PARAM_ROW(PARAM_COUNTS, "board", AT(board), "2x2x2x2x2", 1,
		TORUS_MAX_LENGTH,
		"number of routers on a board along each dimension", "BGQ-N18"),
	PARAM_ROW(PARAM_COUNTS, "midplane", AT(midplane), "4x4x4x4x2", 1,
		TORUS_MAX_LENGTH,
		"number of routers in a midplane along each dimension",
		"BGQ-N17"),
	PARAM_ROW(PARAM_COUNTS, "inner", AT(inner), "4", 0, TORUS_MAX_DIMS,
		"dimensions, counted from 0, that never leave the board; a "
		"number beyond the last dimension means none",
		"BGQ-F7"),
	PARAM_ROW(PARAM_COUNTS, "corner", AT(corner), "0", 0, TORUS_MAX_LENGTH,
		"coordinates of the first router in packet headers, if the "
		"machine is a partition of a bigger one; coordinates that are "
		"left out are 0",
		"assumed: a machine by itself"),
};

static const struct param latency_params[] = {
	PARAM_ROW(PARAM_TIME, "logic", AT(packed_logic), "16 ns", 0, 1000000000,
		"part of each latency that the time budget attributes to the "
		"router's logic; without effect on times",
		"BGQ-N28"),
	LATENCY(WIRE_BOARD, "board", "42 ns",
		"latency on a board, from the grant in one router to the "
		"arrival of the head in the next: logic, SerDes and wire",
		"calibrated: BGQ-N92 less BGQ-N91 (40 ns of it is BGQ-N27)"),
	LATENCY(WIRE_BOARDS, "boards", "49 ns",
		"latency from board to board in a midplane",
		"calibrated: BGQ-N91 less BGQ-N90 (40 ns of it is BGQ-N27)"),
	LATENCY(WIRE_MIDPLANES, "midplanes", "199 ns",
		"latency from midplane to midplane, with two link chips and a "
		"fibre",
		"calibrated: BGQ-N31 (150 ns over a board crossing)"),
	LATENCY(WIRE_LOOP, "loop", "139 ns",
		"latency out of a midplane and back into it, through its link "
		"chips",
		"assumed: a board crossing and two link chips of 45 ns"),
	LATENCY(WIRE_INNER, "inner", "54 ns",
		"latency in a dimension that never leaves the board (E)",
		"calibrated: BGQ-N102, with BGQ-N90 to BGQ-N92"),
};

const struct topo_block torus_units = {
	.section = "topology",
	.needs = "packaging",
	.rows = unit_params,
	.n_rows = sizeof(unit_params) / sizeof(unit_params[0]),
};

const struct topo_block torus_latencies = {
	.section = "link",
	.needs = "packaging",
	.rows = latency_params,
	.n_rows = sizeof(latency_params) / sizeof(latency_params[0]),
};

void torus_packaging_init(struct torus *t)
{
	static const char *const names[N_WIRE_CLASSES] = {
		[WIRE_BOARD] = "board",
		[WIRE_BOARDS] = "boards",
		[WIRE_MIDPLANES] = "midplanes",
		[WIRE_LOOP] = "loop",
		[WIRE_INNER] = "inner",
		[WIRE_IO] = "IO",
	};

	t->topo.n_wires = t->topo.n_io ? N_WIRE_CLASSES : WIRE_IO;
	for (uint32_t i = 0; i < t->topo.n_wires; i++)
		t->topo.wire[i] = (struct topo_wire){
			.name = names[i],
			.latency = t->latency[i],
			.logic = t->packed_logic,
			.is_fibre = i == WIRE_MIDPLANES,
		};
}

uint32_t torus_span(const struct param_list *unit, uint32_t dim, uint32_t d)
{
	return dim < unit->n ? (uint32_t)unit->v[dim] : d;
}

static bool is_inner(const struct torus *t, uint32_t dim)
{
	for (int64_t k = 0; k < t->inner.n; k++)
		if (t->inner.v[k] == dim)
			return true;
	return false;
}

uint32_t torus_packaging_wire(const struct torus *t, uint32_t dim, uint32_t x)
{
	uint32_t d = t->dim[dim], board = torus_span(&t->board, dim, d);
	uint32_t midplane = torus_span(&t->midplane, dim, d);

	if (is_inner(t, dim))
		return WIRE_INNER;
	if (x == d - 1) /* it joins the ends */
		return d <= midplane ? WIRE_LOOP : WIRE_MIDPLANES;
	if (x / midplane != (x + 1) / midplane)
		return WIRE_MIDPLANES;
	return x / board != (x + 1) / board ? WIRE_BOARDS : WIRE_BOARD;
}

/* --- partitions --- */

/* Whether a box consists of whole units along all dimensions. */
static bool is_whole(const struct torus *t, const struct param_list *unit,
	const uint32_t *from, const uint32_t *size)
{
	uint32_t k;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		k = torus_span(unit, i, t->dim[i]);
		if (k > t->dim[i])
			k = t->dim[i];
		if (from[i] % k || size[i] % k)
			return false;
	}
	return true;
}

static bool is_in_one_midplane(
	const struct torus *t, const uint32_t *from, const uint32_t *size)
{
	uint32_t k;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		k = torus_span(&t->midplane, i, t->dim[i]);
		if (from[i] / k != (from[i] + size[i] - 1) / k)
			return false;
	}
	return true;
}

/* As link chips can do it: they close a midplane's own links, or pass them on
 * to the next one, which comes back only at the machine's other end. */
static bool is_joined(const struct torus *t, uint32_t dim, uint32_t size,
	const struct topo_partition *p)
{
	if (is_inner(t, dim))
		return true;
	return p->is_whole && t->ring[dim] == TORUS_WRAP &&
	       (size == t->dim[dim] || size == p->length[dim]);
}

static void write_sets(const struct torus *t, const uint32_t *from,
	const uint32_t *size, struct topo_partition *p)
{
	size_t n = 0, k = 0, m = 0;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		n += (size_t)snprintf(p->set[0] + n, sizeof(p->set[0]) - n,
			"%s%u", i ? "x" : "topology.shape=", size[i]);
		k += (size_t)snprintf(p->set[1] + k, sizeof(p->set[1]) - k,
			"%s%s", i ? "," : "topology.wrap=",
			p->rings >> i & 1 ? "torus" : "mesh");
		m += (size_t)snprintf(p->set[2] + m, sizeof(p->set[2]) - m,
			"%s%u", i ? "x" : "topology.corner=", from[i]);
	}
	n = 0;
	for (uint32_t i = 0; i < t->n_dims && t->topo.n_io; i++)
		n += (size_t)snprintf(p->set[3] + n, sizeof(p->set[3]) - n,
			"%s%u", i ? "x" : "topology.io.whole=", t->dim[i]);
}

int torus_partition(const struct topo *topo, const uint32_t *from,
	const uint32_t *size, struct topo_partition *p, struct err *e)
{
	const struct torus *t = torus_of(topo);
	size_t n = 0;

	if (t->wires != TORUS_PACKAGED)
		return err_set(e, "this machine has no midplanes to divide");
	memset(p, 0, sizeof(*p));
	p->unit = "midplane";
	p->is_whole = is_whole(t, &t->midplane, from, size);
	if (!p->is_whole && (!is_whole(t, &t->board, from, size) ||
				    !is_in_one_midplane(t, from, size)))
		return err_set(e, "a partition must consist of whole "
				  "midplanes, or of boards of one midplane");
	for (uint32_t i = 0; i < t->n_dims; i++) {
		p->length[i] = torus_span(&t->midplane, i, t->dim[i]);
		p->leaving |= (uint32_t)!is_inner(t, i) << i;
		if (!is_joined(t, i, size[i], p))
			continue;
		p->rings |= 1u << i;
		p->joined[n++] = t->letters[i];
	}
	write_sets(t, from, size, p);
	return 0;
}

void torus_packaging_where(uint32_t class, char text[TOPO_TEXT])
{
	static const char *const texts[N_WIRE_CLASSES] = {
		[WIRE_BOARD] = "inside a board",
		[WIRE_BOARDS] = "from board to board",
		[WIRE_MIDPLANES] = "from midplane to midplane",
		[WIRE_LOOP] = "out of a midplane and back into it",
		[WIRE_INNER] = "in a dimension that stays on the board",
		[WIRE_IO] = "between compute and IO nodes",
	};

	snprintf(text, TOPO_TEXT, "%s", texts[class]);
}

/* Boards, or midplanes; false where the machine is a part of one. */
static bool unit_row(const struct torus *t, const char *name,
	const struct param_list *unit, struct topo_cell *cell)
{
	bool is_whole = true;
	size_t at = 0;

	snprintf(cell[0].text, sizeof(cell[0].text), "%s", name);
	cell[2].n = cell[3].n = 1;
	for (uint32_t i = 0; i < t->n_dims; i++) {
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

bool torus_packaging_row(
	const struct torus *t, uint32_t i, struct topo_cell *cell)
{
	const struct param_list *const unit[] = { &t->board, &t->midplane };
	static const char *const name[] = { "board", "midplane" };

	for (uint32_t k = 0; k < 2; k++)
		if (unit_row(t, name[k], unit[k], cell) && !i--)
			return true;
	return false;
}
