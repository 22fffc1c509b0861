/*
 * Barriers and global interrupts (BGQ-F60 to F63): a node has three bits of
 * control and three of status for each of several classes.  It ORs what comes
 * in by the links that a class names and what it has itself; every change of
 * the result is a short packet to the parent, or at the root down to all.
 *
 * Packets have neither buffers nor tokens: a node keeps the last bits that came
 * in by each link, whether its registers name that link yet or not.  They go
 * between other packets, see net_send_short().
 *
 * Nothing here knows the registers' owner or when a program sees what.
 */
#ifndef COLL_BARRIER_H
#define COLL_BARRIER_H

#include "coll/class_route.h"
#include "net/net.h"

enum {
	BARRIER_CLASSES = 16, /* the most */
	BARRIER_PORTS = 12, /* that links have */
	BARRIER_LOCAL = CLASS_LOCAL, /* the node itself, as a port */
	BARRIER_BITS = 3,
	BARRIER_ALL = 7,
	BARRIER_FIRST = 4, /* the pattern that a barrier begins with */
};

/* A class's registers, as masks of ports. */
struct barrier_route {
	uint16_t inputs; /* with BARRIER_LOCAL, where the node takes part */
	uint16_t output; /* one bit; 0 at the root */
};

struct barrier_class {
	uint64_t in; /* BARRIER_BITS from each port */
	struct barrier_route route;
	uint8_t control; /* the register; what the network has is in */
	uint8_t up, status; /* last sent up; what has come down */
	uint8_t enabled; /* bits that interrupt */
};

struct barrier_node {
	struct barrier_class class[BARRIER_CLASSES];
	sim_time sent[BARRIER_PORTS]; /* the last packet has left the port */
	uint64_t packets;
	/* Of the way from the root, in hops and in ps of wires. */
	uint32_t depth[BARRIER_CLASSES], wires[BARRIER_CLASSES];
};

/* Of all nodes. */
struct barriers {
	struct net *net;
	const struct topo_grid *grid;
	sim_time up, down; /* of a hop, beside its wire */
	sim_time ser; /* of a packet */
	uint32_t bytes; /* the same */
	uint16_t key; /* of the event in which one arrives */
};

/* Registers as they are before programs start: class 0 is a tree over all
 * nodes, in which all have entered nothing yet. */
void barrier_node_init(
	const struct barriers *b, struct barrier_node *n, site_id s);

/*
 * These come to the node at t, and return whether its status has changed:
 * other registers of a class, other bits of its own, a packet.
 */
bool barrier_set_route(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	struct barrier_route r);
bool barrier_set_local(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	uint32_t bits);
bool barrier_arrive(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, const struct sim_event *e);
/* Of such an event. */
uint32_t barrier_class_of(const struct sim_event *e);

#endif
