/*
 * Any network of switches: from a list of edges in a file, or random.
 *
 * Three forms of files are read: lines of columns, BookSim's anynet, and DOT.
 * Names of switches are those of the file.
 */
#ifndef TOPO_GRAPH_H
#define TOPO_GRAPH_H

#include "topo/switches.h"

enum graph_form { GRAPH_AUTO, GRAPH_COLUMNS, GRAPH_ANYNET, GRAPH_DOT };

struct graph {
	struct switches switches;
	char edges[PARAM_TEXT_MAX];
	int64_t form; /* an enum graph_form */
	struct param_list random; /* switches, degree, seed */
	int64_t per_router;
	int64_t length; /* metres, of edges without a length */
	int64_t cycle; /* metres for a cycle of BookSim's latencies */
};

extern const struct topo_ops graph_ops;

/* Reads a file into a plan without cables; errors name file and line. */
int graph_read(const struct graph *t, struct switches_plan *p, struct err *e);

/*
 * A connected random graph in which all switches have the same number of
 * links, and no two switches more than one.  If the number of all link ends is
 * odd, one switch has one link less.
 */
void graph_draw(struct switches_plan *p, uint32_t degree, uint64_t seed);

#endif
