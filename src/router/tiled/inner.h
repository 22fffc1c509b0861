/*
 * How a packet passes the tiles of a chip, in time stamps.
 *
 * Each stage carries a phit per cycle and takes packets in order.  A packet
 * moves on while the buffer after a stage has room; one that is longer than
 * the buffer holds the stage until the rest fits, a shorter one does not:
 *
 *	            t        the bus is free, and the row buffer has room
 *	row bus     |-------|..|
 *	column         |-------|..|      when those before it in the row buffer
 *	                                 and in the channel have left, and the
 *	                                 output's buffer has room
 *	link              |--------|     when those before it have left
 *
 * Private to chip.c.
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

/* When a packet of an input can start towards a column. */
static inline sim_time inner_room(
	const struct tiled *d, const struct tiled_bus *b, uint32_t column)
{
	return b->row_end[column] - d->row;
}

/* When a packet that starts at t gets the column channel to an output. */
static inline sim_time inner_column(const struct tiled *d,
	const struct tiled_bus *b, const struct tiled_output *o, uint32_t row,
	uint32_t column, sim_time t)
{
	sim_time at = inner_max(t, b->row_end[column]);

	at = inner_max(at, o->row[row].column);
	return inner_max(at, o->row[row].end - d->column);
}

/* When it gets the link. */
static inline sim_time inner_start(const struct tiled *d,
	const struct tiled_bus *b, const struct tiled_output *o, uint32_t row,
	uint32_t column, sim_time t)
{
	return inner_max(inner_column(d, b, o, row, column, t), o->free_at);
}

/* A packet of some chunks starts at t; its tail arrives at came, and it takes
 * ser on the link.  Without contention only the bus and the link are ever
 * busy. */
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
