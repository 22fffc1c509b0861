/*
 * Routes through any network of switches, by tables.
 *
 * Each pair of switches has one path in each of a few sets.  The paths of a set
 * to one switch are a tree of shortest paths, whose branches are chosen by how
 * many pairs use a wire already, so that all wires carry about the same (SSSP:
 * Hoefler, Schneider, Lumsdaine, Hot Interconnects 2009).  With slack, paths of
 * all sets but the first may begin with a hop to a switch that is no nearer.
 *
 * Parallel links of two switches are one bundle.  A path is a list of bundles,
 * each named by its first port, and a packet takes one of the links of each.
 * Links of a bundle wait for each other only if bundles do, so what follows is
 * about bundles, too.
 *
 * There are two ways to be free of deadlock:
 *
 *	layers	each path belongs to a layer, which is a channel, such that the
 *		wires of a layer do not wait for each other in a circle.  A path
 *		gets the first layer into which it fits (LASH: Skeie, Lysne,
 *		Theiss, IPDPS 2002; DFSSSP: Domke, Hoefler, Nagel, IPDPS 2011).
 *		Paths that fit into none may go up and down a tree, in a layer
 *		of their own.
 *	hop	a packet changes to the next channel with each hop.  It needs as
 *		many channels as the longest path has hops.
 */
#ifndef ROUTE_LAYERS_H
#define ROUTE_LAYERS_H

#include "route/route.h"

enum layers_by { LAYERS_LAYER, LAYERS_HOP };
enum layers_spread { LAYERS_HASH, LAYERS_ROTATE, LAYERS_ADAPTIVE };
enum layers_overflow { LAYERS_REFUSE, LAYERS_UPDOWN };

enum {
	LAYERS_SETS = 16, /* the most */
	LAYERS_HERE = 0xff, /* as a port: at the end */
	LAYERS_AUTO = -1, /* as paths: all that each pair has */
};

#define LAYERS_NONE UINT32_MAX

/* A bundle from one switch to another. */
struct layers_bundle {
	uint32_t to;
	uint32_t wire; /* the first link */
	uint8_t port; /* the first one, */
	uint8_t back; /* and that of the way back */
};

struct layers {
	struct route route;
	int64_t by; /* an enum layers_by */
	int64_t most; /* channels */
	int64_t paths; /* of each pair: sets; or LAYERS_AUTO */
	int64_t slack;
	int64_t spread; /* an enum layers_spread */
	int64_t overflow; /* an enum layers_overflow */
	int64_t tell, reload; /* ps, or -1: never */

	/* set by init() */
	uint32_t n; /* switches */
	uint32_t n_sets;
	uint32_t *at; /* [node] its switch */
	uint8_t *door; /* [node] the port of its switch that leads to it */
	uint32_t *nodes; /* [switch] how many */
	port_mask *bundle; /* [wire] ports of all links of its bundle */
	/* [wire] the switch at its end, or LAYERS_NONE, which all wires of a
	 * bundle have but the first */
	uint32_t *far;
	uint32_t share; /* of a pair in the load of a bundle of one link */
	struct layers_bundle *list; /* by switch and port */
	uint32_t *first_bundle; /* [switch] in the list; one more at the end */
	uint8_t *hops; /* [to][at]: switches that are left on shortest paths */
	uint8_t *port; /* [set][to][at] the next port */
	uint8_t *first; /* [set][to][from] the first port if it is another */
	uint8_t *layer; /* [set][to][from] */
	uint8_t *over; /* [to][at] the next port on the tree; NULL: not used */
	uint32_t longest; /* path, in hops between switches */
	uint32_t n_layers; /* that have paths; or one for each hop */
	uint64_t n_over; /* paths on the tree */

	/* of layers_avoid(); everything else belongs to the first routing */
	port_mask *dead; /* [site] failed links; NULL: all work */
	struct spare *spare; /* NULL: there are none */
};

extern const struct route_ops layers_ops;

static inline const struct layers *layers_of(const struct route *r)
{
	return (const struct layers *)r;
}

/* Where the entry of a pair is in a table. */
static inline size_t layers_entry(
	const struct layers *l, uint32_t set, uint32_t to, uint32_t at)
{
	return ((size_t)set * l->n + to) * l->n + at;
}

/* The number of the wire at a port of a switch. */
static inline uint32_t layers_wire(
	const struct layers *l, uint32_t at, port_id p)
{
	return at * l->route.topo->n_ports + p;
}

/* The other end of a port of a switch, by number; false: a node, nothing, or
 * not the first link of its bundle. */
static inline bool layers_peer(
	const struct layers *l, uint32_t at, port_id p, uint32_t *to)
{
	*to = l->far[layers_wire(l, at, p)];
	return *to != LAYERS_NONE;
}

/* The first port of a bundle. */
static inline port_id layers_first(port_mask bundle)
{
	return (port_id)__builtin_ctzll(bundle);
}

/* What a pair adds to the load of a bundle. */
static inline uint32_t layers_share(const struct layers *l, uint32_t wire)
{
	if (l->share == 1)
		return 1;
	return l->share / (uint32_t)__builtin_popcountll(l->bundle[wire]);
}

/* A path from one switch to another. */
struct layers_path {
	uint32_t set, to;
	uint32_t at; /* where it has come to */
	bool is_first, is_over;
};

/* Its next port; then follows it. */
port_id layers_port(const struct layers *l, const struct layers_path *p);
void layers_step(const struct layers *l, struct layers_path *p, port_id port);
struct layers_path layers_begin(
	const struct layers *l, uint32_t set, uint32_t from, uint32_t to);

/* --- around failed links: layers_repair.c --- */

struct route *layers_avoid(const struct route *r, const port_mask *dead);
void layers_fini(struct route *r);
/* The links of a bundle that work; all if none does. */
port_mask layers_alive(const struct layers *l, uint32_t at, port_id p);
/* Whether a path works: a link of each of its bundles does. */
bool layers_works(
	const struct layers *l, uint32_t set, uint32_t from, uint32_t to);
/* A set for a packet: its own, or another one if a link of that has failed. */
uint32_t layers_replace(
	const struct layers *l, const struct packet *p, uint32_t set);

/* Chooses the paths of all sets; -1 if some pair has none. */
int layers_choose(struct layers *l, struct err *e);
/* Gives each path a layer. */
int layers_fit(struct layers *l, struct err *e);

#endif
