/*
 * Tori and meshes of one to six dimensions, of any length each.
 *
 * Either each router is a node, or each router has k nodes of its own.  In the
 * second case sites 0 .. n_nodes - 1 are nodes, and routers follow: node n is
 * number n % k of router n / k, and port 0 of the node leads to the router.
 *
 * Router r is at r = x0 + d0 * (x1 + d1 * (x2 + ...)).  A direction may have
 * several parallel links.  In dimension i, port base[i] + 2j leads to x[i] + 1
 * and port base[i] + 2j + 1 to x[i] - 1, both modulo d[i] in a ring; with one
 * link in each direction these are ports 2i and 2i + 1.  In a ring of two, both
 * reach the same neighbour, over two separate wires.  The wire from port p
 * always ends at the neighbour's port p ^ 1.  The next ports lead to the
 * router's nodes, or to IO nodes, which are the last sites: torus_io.c.
 */
#ifndef TOPO_TORUS_H
#define TOPO_TORUS_H

#include "topo/topo.h"

enum {
	TORUS_MAX_DIMS = TOPO_MAX_DIMS,
	TORUS_MAX_LENGTH = 65536,
	TORUS_IO_LINKS = 4, /* of an IO node, at most */
};

/* How the two ends of a dimension are joined. */
enum torus_wrap {
	TORUS_WRAP, /* a ring; of two routers, joined by two separate links */
	TORUS_MESH, /* a line */
	TORUS_LOOP, /* a ring; a single router is wired to itself */
};

/* How the length of a wire is found. */
enum torus_wires {
	TORUS_UNIFORM, /* by its dimension, which is its class */
	TORUS_PACKAGED, /* by the unit that it leaves: an enum wire_class */
};

struct torus {
	struct topo topo;
	struct param_list shape;
	struct param_list wrap; /* the last one is for all that follow */
	int64_t nodes; /* of each router; 0: routers are nodes */
	struct param_list links; /* by dimension; likewise */
	char letters[PARAM_TEXT_MAX];
	int64_t node_up, node_down; /* latencies of the nodes' wires, ps */
	int64_t node_rate; /* of these, bytes per second; 0: as other links */
	int64_t wires; /* an enum torus_wires */
	/* uniform ones */
	struct param_list length; /* metres, by dimension; likewise */
	int64_t delay; /* of a metre, ps */
	int64_t logic; /* of a router, ps */
	/* of routers with nodes: units of repair (torus_parts.c) */
	struct param_list blade; /* routers of a board per dimension */
	int64_t connection; /* parallel links in one cable */
	/* Blue Gene/Q's packaging: torus_packaging.c */
	struct param_list board, midplane; /* routers per dimension */
	struct param_list inner; /* dimensions that stay on the board */
	/* Where router 0 is in the machine that this is a part of. */
	struct param_list corner;
	int64_t latency[N_WIRE_CLASSES], packed_logic;
	int64_t io_every, io_links; /* torus_io.c */
	struct param_list whole; /* shape of the machine with the IO nodes */

	/* set by init() */
	uint32_t n_dims;
	uint32_t dim[TORUS_MAX_DIMS];
	uint32_t stride[TORUS_MAX_DIMS];
	uint8_t ring[TORUS_MAX_DIMS]; /* an enum torus_wrap */
	uint32_t most[TORUS_MAX_DIMS]; /* hops between two routers */
	uint8_t n_links[TORUS_MAX_DIMS]; /* in each direction */
	port_id base[TORUS_MAX_DIMS + 1]; /* the last: first port of nodes */
	router_id first; /* site of router 0 */
	router_id n; /* routers */
	char names[TORUS_MAX_DIMS][2]; /* of uniform wires */
	/* For IO nodes; freed by fini(). */
	router_id *io_exit; /* [IO node][link], or NO_ROUTER */
	router_id *io_number; /* [IO node] in the whole machine */
	uint32_t *io_way; /* [router] the place in io_exit that it uses */
};

extern const struct topo_ops torus_ops;

/* The coordinate of router 0 in the machine that this one is a part of. */
static inline uint32_t torus_corner(const struct torus *t, uint32_t dim)
{
	return dim < t->corner.n ? (uint32_t)t->corner.v[dim] : 0;
}

static inline const struct torus *torus_of(const struct topo *t)
{
	return (const struct torus *)t;
}

/* NULL if it is another topology. */
static inline const struct torus *torus_find(const struct topo *t)
{
	return t->ops == &torus_ops ? torus_of(t) : NULL;
}

/* Of router r, counted from 0. */
static inline uint32_t torus_coord(
	const struct torus *t, router_id r, uint32_t dim)
{
	return r / t->stride[dim] % t->dim[dim];
}

static inline int torus_is_ring(const struct torus *t, uint32_t dim)
{
	return t->ring[dim] != TORUS_MESH;
}

/* Whether routers are nodes, with one link in each direction. */
static inline bool torus_is_plain(const struct torus *t)
{
	return !t->nodes && t->base[t->n_dims] == 2 * t->n_dims;
}

/* The class of the wire from coordinate x of a dimension to x + 1. */
uint32_t torus_wire_up(const struct torus *t, uint32_t dim, uint32_t x);
bool torus_has_wire_up(const struct torus *t, uint32_t dim, uint32_t x);

/* --- torus_packaging.c --- */

extern const struct topo_block torus_units, torus_latencies;

/* Routers per unit of packaging along a dimension of length d; d if the unit
 * does not name it. */
uint32_t torus_span(const struct param_list *unit, uint32_t dim, uint32_t d);
/* Sets the classes of wires. */
void torus_packaging_init(struct torus *t);
/* As torus_wire_up(). */
uint32_t torus_packaging_wire(const struct torus *t, uint32_t dim, uint32_t x);
/* topo_ops.partition */
int torus_partition(const struct topo *topo, const uint32_t *from,
	const uint32_t *size, struct topo_partition *p, struct err *e);
void torus_packaging_where(uint32_t class, char text[TOPO_TEXT]);
/* Row i of the table of units: boards and midplanes, if the machine has at
 * least a whole one. */
bool torus_packaging_row(
	const struct torus *t, uint32_t i, struct topo_cell *cell);

/* --- torus_io.c --- */

extern const struct topo_block torus_io, torus_io_latency;

/* Adds the IO nodes and their ports, if the machine has IO nodes. */
int torus_io_init(struct torus *t, struct err *e);
void torus_io_fini(struct torus *t);
/* The compute node at a link of an IO node, NO_ROUTER if it is in another
 * partition; and the first one in this partition. */
router_id torus_io_exit(const struct torus *t, router_id io, uint32_t link);
router_id torus_io_first(const struct torus *t, router_id io);
/* The number of an IO node in the machine that this one is a part of. */
router_id torus_io_number(const struct torus *t, router_id io);
uint64_t torus_io_exits(const struct torus *t); /* how many there are */
/* The IO node that serves a compute node, and the link of it that does. */
router_id torus_io_of(const struct torus *t, router_id r);
uint32_t torus_io_link(const struct torus *t, router_id r);
/* Whether a compute node is linked to an IO node. */
bool torus_is_exit(const struct torus *t, router_id r);
/* Of IO nodes' ports, and of those of compute nodes behind the torus's. */
struct topo_end torus_io_peer(const struct torus *t, router_id r, port_id p);

/* --- torus_facts.c; see struct topo_ops --- */

extern const struct topo_table torus_tables[];

uint64_t torus_peak(const struct topo *topo, const struct topo_rates *k);
uint64_t torus_links(const struct topo *topo, uint32_t class);
void torus_where(const struct topo *topo, uint32_t class, char text[TOPO_TEXT]);
struct topo_cut torus_cut(const struct topo *topo);
bool torus_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS]);

/* --- torus_parts.c --- */

extern const struct topo_block torus_boards;
extern const struct part_kind *const torus_parts[];

/* --- torus_picture.c --- */

void torus_draw(const struct topo *topo, FILE *out);

#endif
