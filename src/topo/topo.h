/*
 * A topology knows which ports are wired together and what kind of wire it
 * is, and nothing else: no queues, no clock, nothing that changes during a
 * run.  So every call but init() is const, cannot fail, and may be made from
 * any thread.
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/param.h"

typedef uint32_t router_id;
typedef uint32_t port_id;
typedef uint64_t port_mask; /* a bit per port */

#define NO_ROUTER    UINT32_MAX
#define TOPO_NO_PORT UINT32_MAX

enum {
	TOPO_MAX_PORTS = 12,
	TOPO_MAX_ROUTERS = 1 << 22,
	TOPO_MAX_WIRES = 12,
};

/* Of a torus: what a wire crosses decides how long it is. */
enum wire_class {
	WIRE_BOARD, /* two routers on one board */
	WIRE_BOARDS, /* from board to board inside a midplane */
	WIRE_MIDPLANES, /* from midplane to midplane */
	WIRE_LOOP, /* out of a midplane and back into it */
	WIRE_INNER, /* of a dimension that never leaves the board */
	N_WIRE_CLASSES,
};

/* A class of wires, all of one latency. */
struct topo_wire {
	const char *name;
	/* Grant to first effect, ps, and what of it is the router's; 0 where
	 * both are parameters of links. */
	int64_t latency, logic;
	int64_t rate; /* raw, bytes per second; 0: that of links */
};

struct topo_end {
	router_id router; /* NO_ROUTER if nothing is plugged in */
	port_id port;
};

/*
 * Sites 0 .. n_nodes - 1 inject and receive.  In a direct network that is all
 * of them; in an indirect one switches follow, which only pass packets on.
 */
struct topo {
	const struct topo_ops *ops;
	router_id n_nodes;
	router_id n_routers; /* nodes and switches */
	port_id n_ports; /* of every router */
	port_id node_ports; /* the first ones, which nodes have wires at */
	uint32_t n_wires;
	struct topo_wire wire[TOPO_MAX_WIRES]; /* by class */
};

static inline int topo_is_direct(const struct topo *t)
{
	return t->n_nodes == t->n_routers;
}

struct topo_ops {
	const char *name; /* the word written in a machine file */
	size_t size; /* of the variant, whose first member is struct topo */
	const struct param *params; /* of the variant's struct */
	size_t n_params;

	/* Checks the values read and sets the rest of struct topo. */
	int (*init)(struct topo *t, struct err *e);

	/* The far end of the wire that leaves r by p. */
	struct topo_end (*peer)(const struct topo *t, router_id r, port_id p);

	/* The port by which what came in at one goes straight on, whether or
	 * not it has a wire; TOPO_NO_PORT if there is none.  NULL where no
	 * port has one. */
	port_id (*straight)(const struct topo *t, router_id r, port_id in);

	/* The class of a wire that exists. */
	uint32_t (*wire)(const struct topo *t, router_id r, port_id p);

	/* The node that a router is best simulated with: itself, or for a
	 * switch one of those near it, in turn.  NULL: all are nodes. */
	router_id (*home)(const struct topo *t, router_id r);

	/* "(1,0,3)", "A+". */
	void (*name_router)(
		const struct topo *t, router_id r, char *text, size_t size);
	void (*name_port)(const struct topo *t, router_id r, port_id p,
		char *text, size_t size);
	/* "4x4x4x4x2" */
	void (*name_shape)(const struct topo *t, char *text, size_t size);
};

/* "node 17 (1,0,3)", "node 17", "switch 2.5". */
void topo_name_site(const struct topo *t, router_id r, char *text, size_t size);

/* NULL where there is no such topology. */
const struct topo_ops *topo_find(const char *name);
extern const struct topo_ops *const topo_registry[];

#endif
