/*
 * The state of the collective network at a node; private to coll/tree*.c.  A
 * *place* is a FIFO: a receiver's buffer (port * TREE_BUFFERS + buffer), an
 * injection FIFO, or a slot in which packets turn.
 */
#ifndef COLL_TREE_NODE_H
#define COLL_TREE_NODE_H

#include "coll/tree.h"

enum {
	TREE_PORTS = 12,
	TREE_SLOTS = 4, /* of a buffer, the most */
	PLACE_INJECT = TREE_PORTS * TREE_BUFFERS,
	PLACE_SLOT = PLACE_INJECT + TREE_FIFOS,
	TREE_PLACES = PLACE_SLOT + TREE_BUFFERS * TREE_SLOTS,
};

_Static_assert(TREE_PLACES <= 64, "a bit each");

/* Numbers of events after those of arrivals, which are ports. */
enum tree_event {
	EVENT_TOKEN = NET_GUEST_PORTS, /* + port; aux: buffer, data: chunks */
	EVENT_LEFT = EVENT_TOKEN + NET_GUEST_PORTS, /* + place; aux: chunks */
	EVENT_UP = EVENT_LEFT + TREE_PLACES, /* the logic is idle */
	EVENT_DOWN,
	EVENT_RECEPTION, /* + fifo */
};

/* Packets in order.  The next one may leave when the tail of the last one has
 * left. */
struct tree_fifo {
	packet_id head, tail;
	sim_time busy_until;
	uint32_t n;
};

/* Why a route has stopped at a node. */
enum tree_stop {
	TREE_GOES,
	TREE_DIFFERENT, /* contributions do not match */
	TREE_STRAY, /* it is not set for a packet */
	TREE_SHARED, /* it shares links and buffers with another route */
	TREE_REWRITTEN, /* it was written while packets waited */
};

struct tree_route {
	struct class_route is;
	bool is_set, is_taken;
	bool is_told; /* the client knows that it has stopped */
	uint8_t stop; /* an enum tree_stop */
	uint16_t have; /* inputs whose heads have come */
	/* Its last grants on the way up and down, by number. */
	uint32_t risen, fallen;
};

struct tree_reception {
	sim_time free_at;
	int32_t chunks; /* room left */
	bool is_timed;
};

struct tree_node {
	struct tree_route route[CLASS_ROUTES];
	struct tree_fifo fifo[PLACE_SLOT];
	packet_id slot[TREE_BUFFERS * TREE_SLOTS];
	site_id peer[TREE_PORTS]; /* or NO_SITE */
	uint8_t wire[TREE_PORTS];
	uint8_t far[TREE_PORTS]; /* port of the peer */
	int16_t tokens[TREE_PORTS][TREE_BUFFERS];
	/* Room of injection FIFOs, chunks; and room that there will be when the
	 * last tail has left, if nothing waits for it. */
	uint16_t room[TREE_FIFOS], leaving[TREE_FIFOS];
	struct tree_reception reception[TREE_FIFOS];
	/* the way up */
	uint64_t rising; /* places whose heads wait for no other input */
	uint32_t whole; /* routes with all their inputs */
	uint32_t n_risen, n_fallen;
	sim_time up_until; /* the logic is busy */
	/* the way down */
	uint64_t falling; /* places whose heads have turned */
	uint64_t slots_busy; /* a bit each */
	packet_id down; /* the packet in the logic, or NO_PACKET */
	uint8_t down_place;
	bool up_timed, down_timed;
	uint16_t lent; /* links requested from the router */
	sim_time down_until;
	uint64_t sent[TREE_PORTS], packets[TREE_PORTS];
	struct ring *kept; /* [route] with a book; or NULL */
};

_Static_assert(sizeof(struct tree_node) <= 2048, "each node with a route");

struct tree {
	struct net_guest guest;
	struct tree_params params;
	struct topo_grid grid;
	struct topo_box world;
	router_id root;
	struct tree_node **nodes; /* NULL until used */
	uint32_t fifo;
	int32_t capacity; /* of a buffer, chunks */
};

/* A node at a time. */
struct tree_at {
	struct tree *tree;
	struct net *net;
	struct tree_node *node;
	struct sim_worker *w;
	site_id s;
	sim_time t;
};

static inline struct packet *tree_packet(const struct tree_at *a, packet_id id)
{
	return &a->net->packets[id];
}

static inline struct tree_route *tree_route_of(
	const struct tree_at *a, const struct packet *p)
{
	return &a->node->route[p->hints & TREE_ROUTE];
}

static inline uint32_t tree_channel(const struct packet *p)
{
	return (p->hints & TREE_CHANNEL) >> 4;
}

static inline uint32_t tree_buffer(const struct packet *p)
{
	return class_buffer(tree_channel(p));
}

static inline bool tree_is_system(const struct packet *p)
{
	return tree_channel(p) == CLASS_SYSTEM;
}

static inline sim_time tree_tail(
	const struct tree_at *a, const struct packet *p)
{
	return a->t + a->net->link.ser[p->size];
}

#define PLACE_BIT(place) (UINT64_C(1) << (place))

/* --- tree.c --- */

/* Creates the state of a node if there is none. */
struct tree_node *tree_node_of(struct tree *t, site_id s);

/* The head of a FIFO leaves now, its tail at tail. */
void tree_leave(const struct tree_at *a, uint32_t place, sim_time tail);
/* Reads a packet from a buffer (link/memories.h): false if that has stopped. */
static inline bool tree_reads(
	const struct tree_at *a, uint32_t buffer, const struct packet *p)
{
	return faults_reads(a->net->faults, a->w->id, a->s, buffer, p,
		a->net->link.bytes[p->size], a->t);
}

/* Counts a packet that leaves by a port, and takes its tokens. */
static inline void tree_take_tokens(
	const struct tree_at *a, port_id p, const struct packet *x)
{
	int16_t *tokens = &a->node->tokens[p][tree_buffer(x)];

	*tokens = (int16_t)(*tokens - x->chunks);
	a->node->sent[p] += a->net->link.bytes[x->size];
}

/* A packet for which a route is not set, or of a stopped route, stays where it
 * is. */
void tree_stop(const struct tree_at *a, struct tree_route *r);

/* --- tree_knot.c --- */

uint64_t tree_knot(const struct net_guest *g, char *text, size_t size);

/* --- tree_up.c --- */

/* The inputs of a route in the order A-, A+, ..., the node itself;
 * TOPO_MAX_PORTS after the last. */
uint32_t tree_nth(uint32_t inputs, uint32_t i);

/* The input of a place, as a bit; the place of an input. */
static inline uint32_t tree_input(uint32_t place)
{
	return place < PLACE_INJECT ? 1u << place / TREE_BUFFERS
				    : CLASS_LOCAL_BIT;
}

uint32_t tree_place(uint32_t channel, uint32_t input);

/* A packet has reached the head of its FIFO. */
void tree_up_show(const struct tree_at *a, uint32_t place, packet_id id);
/* As a port: a root's slots. */
#define TREE_NO_OUTPUT (1u << 16)

/* Ports by which packets could leave if the logic were idle. */
uint32_t tree_up_wants(const struct tree_at *a);
/* Does everything that needs no link; returns the ports that the logic could
 * use. */
uint32_t tree_up_settle(const struct tree_at *a);
packet_id tree_up_send(const struct tree_at *a, port_id p);

/* --- tree_book.c: only with a book --- */

/* Sets the place of a packet: "up, route 3", the last of several inputs, and
 * a mask of them or 0. */
void tree_book_place(const struct tree_at *a, packet_id id, const char *what,
	uint32_t port, uint32_t inputs);
static inline void tree_book_at(
	const struct tree_at *a, packet_id id, const char *what, uint32_t port)
{
	if (__builtin_expect(a->net->book != NULL, 0))
		tree_book_place(a, id, what, port, 0);
}

/* Packets become the first of them; local is the node's packet, or NO_PACKET.
 */
void tree_book_reduce(const struct tree_at *a, const packet_id *id, uint32_t n,
	packet_id local);
/* A packet is received; its tail arrives at tail. */
void tree_book_receive(const struct tree_at *a, packet_id id, sim_time tail);
void tree_book_free(struct tree_node *n);

/* --- tree_down.c --- */

void tree_down_settle(const struct tree_at *a);
uint32_t tree_down_wants(const struct tree_at *a);
/* Whether the packet on its way down may leave by a port. */
bool tree_down_may(const struct tree_at *a, port_id p);
packet_id tree_down_send(const struct tree_at *a, port_id p);

#endif
