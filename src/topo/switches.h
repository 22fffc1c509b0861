/*
 * Switches that are joined in any way, with nodes on some of them: what
 * topologies have in common that are made from a list of edges.  A topology
 * writes such a list into a struct switches_plan; everything else, from the
 * ports to the peak, follows from it.
 *
 * Sites: nodes come first, those of switch 0, then those of switch 1, and so
 * on; then the switches.  Ports of a switch: its nodes, then its edges in the
 * order of the list.
 */
#ifndef TOPO_SWITCHES_H
#define TOPO_SWITCHES_H

#include "topo/topo.h"

enum {
	SWITCHES_UP, /* classes of wires: from a node to its switch, */
	SWITCHES_DOWN, /* from a switch to a node, */
	SWITCHES_CABLE, /* and cables between switches: this one and others */
	SWITCHES_CABLES = TOPO_MAX_WIRES - SWITCHES_CABLE,
	SWITCHES_NAME = 32,
	SWITCHES_BOUNDS = 8,
	/* More switches have no table of distances, and no known peak. */
	SWITCHES_TABLE = 8192,
};

struct switches_edge {
	uint32_t a, b; /* switches */
	uint32_t cable;
};

/* A kind of cable. */
struct switches_cable {
	int64_t metres;
	int64_t rate; /* raw, bytes per second; 0: the rate of links */
};

struct switches_plan {
	uint32_t n; /* switches */
	uint32_t *nodes; /* [switch] its number of nodes */
	char (*name)[SWITCHES_NAME]; /* [switch]; NULL: "s0", "s1", ... */
	struct switches_edge *edge; /* parallel links are several edges */
	size_t n_edges;
	struct switches_cable cable[SWITCHES_CABLES];
	uint32_t n_cables;
};

/*
 * A set of wires.  With one packet from each node to each other one, paths that
 * avoid them where they can use them so many times all together.
 */
struct switches_bound {
	uint64_t wires[TOPO_MAX_WIRES]; /* by class */
	double uses;
};

struct switches {
	struct topo topo;
	int64_t logic; /* of a switch, ps */
	int64_t delay; /* of a metre of cable, ps */
	int64_t node_cable; /* metres */

	/* set by switches_build() */
	struct switches_plan plan;
	uint32_t *first; /* [switch] its first node; one more at the end */
	uint32_t *at; /* [node] its switch */
	struct topo_end *far; /* [switch][port] */
	uint8_t *class; /* [switch][port] */
	router_id *home; /* [switch] */
	uint8_t *hops; /* [switch][switch]; NULL: too many */
	struct switches_bound bound[SWITCHES_BOUNDS];
	uint32_t n_bounds;
	uint32_t diameter;
	double mean; /* distance of two different switches */
};

/* Rows of parameters that all of them have, at the start of the struct. */
#define SWITCHES_PARAMS                                                        \
	PARAM_ROW(PARAM_TIME, "router", offsetof(struct switches, logic),      \
		"100 ns", 0, 1000000000,                                       \
		"time that a switch takes from a head's arrival to its "       \
		"departure",                                                   \
		"assumed: typical of today's switches"),                       \
		PARAM_ROW(PARAM_COUNT, "cable.node",                           \
			offsetof(struct switches, node_cable), "2", 1, 10000,  \
			"length of the cable between a node and its switch, "  \
			"in metres",                                           \
			"assumed: in a rack"),                                 \
		TOPO_CABLE_DELAY(offsetof(struct switches, delay))

static inline const struct switches *switches_of(const struct topo *t)
{
	return (const struct switches *)t;
}

void switches_plan_nodes(struct switches_plan *p, uint32_t n);
void switches_plan_join(struct switches_plan *p, uint32_t a, uint32_t b,
	uint32_t links, uint32_t cable);
/* The number of a kind of cable, a new one if necessary; -1: too many. */
int switches_plan_cable(struct switches_plan *p, struct switches_cable c);
void switches_plan_fini(struct switches_plan *p);

/*
 * Makes a topology of a plan, which becomes its own.  The error names the
 * parameter that is to blame, such as "topology.edges".  To be freed with
 * switches_fini(), after an error, too.
 */
int switches_build(struct switches *s, const struct switches_plan *plan,
	const char *blame, struct err *e);
void switches_fini(struct topo *t);

/* Sets hops, bounds, diameter and mean. */
void switches_measure(struct switches *s);

/* "s12", or the name of the plan. */
void switches_name(
	const struct switches *s, uint32_t number, char *text, size_t size);

/* See struct topo_ops. */
struct topo_end switches_peer(const struct topo *t, router_id r, port_id p);
uint32_t switches_wire(const struct topo *t, router_id r, port_id p);
router_id switches_home(const struct topo *t, router_id r);
void switches_name_router(
	const struct topo *t, router_id r, char *text, size_t size);
void switches_name_port(
	const struct topo *t, router_id r, port_id p, char *text, size_t size);
void switches_sketch(const struct topo *t, char *text, size_t size);
uint32_t switches_distance(const struct topo *t, router_id a, router_id b);
uint64_t switches_peak(const struct topo *t, const struct topo_rates *k);
uint64_t switches_links(const struct topo *t, uint32_t class);
void switches_where(const struct topo *t, uint32_t class, char text[TOPO_TEXT]);
extern const struct topo_table switches_tables[];
bool switches_row(const struct topo *t, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS]);

/* What their operations have in common. */
#define SWITCHES_OPS                                                           \
	.has = "cables", .peer = switches_peer, .wire = switches_wire,         \
	.home = switches_home, .name_router = switches_name_router,            \
	.name_port = switches_name_port, .sketch = switches_sketch,            \
	.distance = switches_distance, .peak = switches_peak,                  \
	.links = switches_links, .where = switches_where,                      \
	.tables = switches_tables, .row = switches_row, .fini = switches_fini

#endif
