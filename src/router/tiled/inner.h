/*
 * The way of a packet through the tiles of a chip, in time stamps.
 *
 * Each stage carries a phit a cycle and takes packets in order.  A packet
 * flows on while the buffer behind a stage has room; one that is longer than
 * the buffer holds the stage until its rest fits, a shorter one does not:
 *
 *	            t        the bus is free, and the row buffer has room
 *	row bus     |-------|..|
 *	column         |-------|..|      when those before it in the row buffer
 *	                                 and in the channel have left, and the
 *	                                 output's buffer has room
 *	link              |--------|     when those before it have left
 *
 * Private to chip.c, of which this is a part.
 */
#ifndef ROUTER_TILED_INNER_H
#define ROUTER_TILED_INNER_H

#include "router/tiled/tiled.h"

struct inner {
	sim_time start, end; /* on the link: the head, the tail */
	sim_time left; /* the tail has left the input's buffer */
};

static inline sim_time inner_max(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

static inline sim_time inner_min(sim_time a, sim_time b)
{
	return a < b ? a : b;
}

/* When an input's packet can begin to go to a column. */
static inline sim_time inner_room(
	const struct tiled *d, const struct tiled_bus *b, uint32_t column)
{
	return b->row_end[column] - d->row;
}

/* When a packet that begins at t has the column channel to an output. */
static inline sim_time inner_column(const struct tiled *d,
	const struct tiled_bus *b, const struct tiled_output *o, uint32_t row,
	uint32_t column, sim_time t)
{
	sim_time at = inner_max(t, b->row_end[column]);

	at = inner_max(at, o->row[row].column);
	return inner_max(at, o->row[row].end - d->column);
}

/* And its link. */
static inline sim_time inner_start(const struct tiled *d,
	const struct tiled_bus *b, const struct tiled_output *o, uint32_t row,
	uint32_t column, sim_time t)
{
	return inner_max(inner_column(d, b, o, row, column, t), o->free_at);
}

/* A packet of so many chunks begins at t; its tail comes at came, and it takes
 * ser on the link.  Without contention nothing but the bus and the link is
 * ever busy. */
static inline struct inner inner_pass(const struct tiled *d,
	struct tiled_bus *b, struct tiled_output *o, uint32_t row,
	uint32_t column, uint32_t chunks, sim_time t, sim_time came,
	sim_time ser)
{
	sim_time through = chunks * d->how.cycle;
	sim_time at = inner_column(d, b, o, row, column, t), left;
	struct inner x;

	x.start = inner_max(at, o->free_at);
	x.end = inner_max(x.start + ser, came);
	x.left = inner_max(t + through, came);
	o->free_at = x.end;
	if (!TILED_FULL || !d->is_ideal) {
		left = inner_max(at + through, came);
		if (through > d->column)
			left = inner_max(left, x.end - d->column);
		if (through > d->row)
			x.left = inner_max(x.left, left - d->row);
		b->row_end[column] = o->row[row].column = left;
		o->row[row].end = x.end;
	}
	b->free_at = x.left;
	return x;
}

#endif
