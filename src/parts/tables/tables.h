/*
 * Tables of switches that a user has written in a file: entries that replace
 * what the topology would have, and entries of multicasts.  They stand in the
 * switches before anything runs, and `weft check` proves the network with them.
 *
 *	tables:
 *	  entries:
 *	    - switch 0:1.0 from down to node 17 by up 3, up 4
 *	    - switch 0:2.3 from all to supernode 2 by down 1
 *	  multicasts:
 *	    - switch 0:1.0 entry 5 joins down 0, down 7, up 2
 *	    - switch 0:1.0 entry 6 from up 2 by down
 *
 * Ports are in order, with commas between them; "down" alone stands for all
 * ports of that name, "all" for all ports, "none" for an entry without ports.
 * A later line replaces what an earlier one has written.
 */
#ifndef PARTS_TABLES_TABLES_H
#define PARTS_TABLES_TABLES_H

#include "base/param.h"
#include "parts/part.h"
#include "route/lists.h"

struct tables_params {
	struct param_lines entries, multicasts;
};

/* An entry of a multicast. */
struct tables_cast {
	router_id at;
	port_id in;
	uint32_t entry;
	port_mask ports;
};

/* Where the lines are written to. */
struct tables_sink {
	void *arg;
	/* Where a switch keeps its entries. */
	struct route_memory **(*memory)(void *arg, router_id at);
	void (*cast)(void *arg, const struct tables_cast *c);
};

/* Writes what the lines say, up to the first that is wrong. */
int tables_write(const struct tables_params *p, const struct part_place *at,
	const struct tables_sink *to, struct err *e);

extern const struct part_ops part_tables;

#endif
