/*
 * A topology describes which ports are wired together, and the kind of each
 * wire, and nothing else: no queues, no clock, nothing that changes during a
 * run.  So every call except init() is const, cannot fail, and may come from
 * any thread.
 */
#ifndef WEFT_PLUGIN_TOPO_H
#define WEFT_PLUGIN_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "weft/plugin/err.h"
#include "weft/plugin/param.h"

typedef uint32_t router_id;
typedef uint32_t port_id;
typedef uint64_t port_mask; /* a bit per port */

#define NO_ROUTER    UINT32_MAX
#define TOPO_NO_PORT UINT32_MAX
#define TOPO_FAR     UINT32_MAX

enum {
	TOPO_MAX_DIMS = 6,
	TOPO_MAX_COLUMNS = 6,
	TOPO_TEXT = 48,
	TOPO_MAX_PORTS = 64, /* as many as a port_mask has bits */
	TOPO_MAX_ROUTERS = 1 << 22,
	TOPO_MAX_WIRES = 13,
};

/* For a torus: the boundary that a wire crosses determines its length. */
enum wire_class {
	WIRE_BOARD, /* two routers on one board */
	WIRE_BOARDS, /* from board to board inside a midplane */
	WIRE_MIDPLANES, /* from midplane to midplane */
	WIRE_LOOP, /* out of a midplane and back into it */
	WIRE_INNER, /* in a dimension that never leaves the board */
	WIRE_IO, /* between a compute node and an IO node */
	N_WIRE_CLASSES,
};

/* A class of wires, all of one latency. */
struct topo_wire {
	const char *name;
	/* Grant to first effect, ps, and what of it is the router's. */
	int64_t latency, logic;
	int64_t rate; /* raw, bytes per second; 0: the rate of links */
	bool is_fibre; /* it has link chips at both ends */
	bool is_optical; /* a cable with a transceiver at each end */
	int64_t metres; /* length of the cable; 0: not known, or no cable */
};

struct topo_end {
	router_id router; /* NO_ROUTER: there is no wire */
	port_id port;
};

struct topo_direction {
	uint32_t number, link;
};

/*
 * Sites 0 .. n_nodes - 1 inject and receive.  In a direct network these are all
 * sites; in an indirect one switches follow, which only forward packets.  A
 * direct network may have IO nodes after the nodes, which inject and receive,
 * too, but run only programs of the system.
 */
struct topo {
	const struct topo_ops *ops;
	router_id n_nodes;
	router_id n_io; /* IO nodes */
	router_id n_routers; /* nodes, IO nodes and switches */
	port_id n_ports; /* of every router */
	/* the number of ports of nodes, the first ones; in a direct network,
	 * those to other nodes */
	port_id node_ports;
	/* Cards of a node, if it has several: port N is that of card N, and
	 * packets name them.  Set before init(); 0: packets name none. */
	port_id cards;
	/* Set by init(): a packet comes to the card with the number of the one
	 * by which it left, since nothing joins the others. */
	bool is_apart;
	/* Set by init(): shortest paths of different cards share no link. */
	bool has_apart_paths;
	/* Set by init(): its routers have the names that a user gave them. */
	bool has_given_names;
	uint32_t n_wires;
	struct topo_wire wire[TOPO_MAX_WIRES]; /* by class */
};

static inline int topo_is_direct(const struct topo *t)
{
	return t->n_nodes + t->n_io == t->n_routers;
}

struct part_kind;

/* Rates of links, for topo_ops.peak. */
struct topo_rates {
	/* Payload bytes per second of a wire of a class, whose packets have on
	 * average left / of switches still to pass. */
	uint64_t (*rate)(const struct topo_rates *k, uint32_t wire,
		uint64_t left, uint64_t of);
};

/* The bisection. */
struct topo_cut {
	uint64_t links; /* 0: nothing to cut */
	const struct topo_wire *wire; /* of these; NULL: of any class */
	char where[TOPO_TEXT]; /* "across A" */
	char dim[TOPO_TEXT]; /* "A"; empty if there are no dimensions */
};

/* A part of a machine that is a separate machine, since its links lead nowhere
 * else. */
struct topo_partition {
	/* The unit that is joined to others, closed, or held in reset as a
	 * whole; and its number of routers in each dimension. */
	const char *unit;
	uint32_t length[TOPO_MAX_DIMS];
	uint32_t leaving; /* a bit for each dimension in which links leave the
			     unit */
	bool is_whole; /* the partition consists of whole units */
	uint32_t rings; /* a bit for each dimension whose ends are joined */
	char joined[TOPO_TEXT]; /* their letters */
	/* Settings "path=value" of this machine; empty: no more. */
	char set[4][64];
};

/* A table of the parts of a topology: its columns, with their titles in text
 * and their keys in JSON. */
struct topo_table {
	const char *key; /* of the table, in JSON */
	struct topo_column {
		const char *title, *key;
		bool is_count; /* else a text */
		bool is_left; /* for counts: aligned like texts */
	} column[TOPO_MAX_COLUMNS];
};

struct topo_cell {
	uint64_t n; /* for a count */
	bool is_blank; /* in text */
	char text[PARAM_TEXT_MAX];
};

/* Parameters of a topology in another section than its own, or only for
 * machines with the word that they need. */
struct topo_block {
	const char *section, *needs;
	const struct param *rows;
	size_t n_rows;
};

/* Capabilities that parameters of any section may need, words separated by
 * spaces; and the routing if the machine file names none. */
struct topo_words {
	const char *has, *routing;
};

#define TOPO_CABLE_DELAY(at)                                                   \
	PARAM_ROW(PARAM_TIME, "cable.delay", at, "5 ns", 1, 1000000,           \
		"delay of a metre of cable",                                   \
		"assumed: two thirds of the speed of light")

struct topo_ops {
	const char *name; /* the word written in a machine file */
	size_t size; /* of the variant, whose first member is struct topo */
	const struct param *params; /* of the variant's struct */
	size_t n_params;
	const char *shape_key; /* the parameter that --shape sets */
	/* Further parameters of the variant's struct, ended by NULL; or NULL:
	 * none. */
	const struct topo_block *const *blocks;
	const char *has, *routing; /* see struct topo_words; or: */
	/* ... depending on the values read.  NULL: they do not depend on
	 * them. */
	struct topo_words (*words)(const struct topo *t);

	/* Checks the values read and sets the rest of struct topo. */
	int (*init)(struct topo *t, struct err *e);

	/* The other end of the wire that leaves r by p. */
	struct topo_end (*peer)(const struct topo *t, router_id r, port_id p);

	/* The port opposite to another, by which a packet continues straight
	 * on, even if it has no wire; TOPO_NO_PORT: none.  NULL: no port has
	 * one. */
	port_id (*straight)(const struct topo *t, router_id r, port_id in);

	/* For topologies with parallel links: the direction of a router's port,
	 * and its number among the links of that direction.  NULL: no parallel
	 * links. */
	struct topo_direction (*direction)(const struct topo *t, port_id p);

	/* The class of a wire that exists. */
	uint32_t (*wire)(const struct topo *t, router_id r, port_id p);

	/* The node with which a router is best simulated: itself, or for a
	 * switch one of the nodes near it, in turn.  NULL: all sites are
	 * nodes. */
	router_id (*home)(const struct topo *t, router_id r);

	/* "(1,0,3)", "A+". */
	void (*name_router)(
		const struct topo *t, router_id r, char *text, size_t size);
	void (*name_port)(const struct topo *t, router_id r, port_id p,
		char *text, size_t size);
	/* "4x4x4x4x2" */
	void (*name_shape)(const struct topo *t, char *text, size_t size);
	/* A picture of a few characters: o a node, # a switch, () a ring, [] a
	 * line, "16#" many in a row; NULL: none. */
	void (*sketch)(const struct topo *t, char *text, size_t size);
	/* The kinds of its parts, ended by NULL (topo/parts.h); NULL: links,
	 * switches and nodes. */
	const struct part_kind *const *parts;

	/* --- properties; NULL: not known, or there are none --- */

	/*
	 * For topologies whose routers have coordinates: the number of
	 * dimensions and their sizes; the coordinates of a node's router; and
	 * the first node of the router at coordinates.
	 */
	uint32_t (*grid)(const struct topo *t, uint32_t size[TOPO_MAX_DIMS]);
	void (*place)(const struct topo *t, router_id node,
		uint32_t x[TOPO_MAX_DIMS]);
	router_id (*node_at)(
		const struct topo *t, const uint32_t x[TOPO_MAX_DIMS]);

	/* For topologies of groups that are joined by fewer links than they
	 * have inside: the number of nodes of each, which are numbered one
	 * after the other. */
	uint32_t (*group)(const struct topo *t);

	/* Hops of a shortest way between two sites; TOPO_FAR: not known. */
	uint32_t (*distance)(const struct topo *t, router_id a, router_id b);

	/*
	 * The peak, in payload bytes per second and node, if every node sends
	 * uniformly to all others: no routing carries more.  Where minimal
	 * routes are best, the busiest link is always busy if they are
	 * balanced.  For at least two nodes.
	 */
	uint64_t (*peak)(const struct topo *t, const struct topo_rates *k);

	/* A box of routers inside the machine as a separate machine; an error
	 * gives the reason why it cannot be one. */
	int (*partition)(const struct topo *t,
		const uint32_t from[TOPO_MAX_DIMS],
		const uint32_t size[TOPO_MAX_DIMS], struct topo_partition *p,
		struct err *e);

	/* Number of links of a class, both directions counted as one. */
	uint64_t (*links)(const struct topo *t, uint32_t wire);
	/* Boundary that the wires of a class cross, or their length. */
	void (*where)(
		const struct topo *t, uint32_t wire, char text[TOPO_TEXT]);
	struct topo_cut (*cut)(const struct topo *t);
	/* Tables, ended by one without a key; row i of a table, false after the
	 * last. */
	const struct topo_table *tables;
	bool (*row)(const struct topo *t, uint32_t table, uint32_t i,
		struct topo_cell cell[TOPO_MAX_COLUMNS]);
	/* A picture, or part of one. */
	void (*draw)(const struct topo *t, FILE *out);

	/* Frees the resources of init(); NULL: none. */
	void (*fini)(struct topo *t);
};

#endif
