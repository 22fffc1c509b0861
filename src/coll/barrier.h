/*
 * Barriers and global interrupts (BGQ-F60 to F63): a node has three bits of
 * control and three of status for each of several classes.  It ORs its own bits
 * with those from the links that a class names; every change of the result is
 * sent as a short packet to the parent or, by the root, down to all.
 *
 * These packets need neither buffers nor tokens: a node keeps the last bits
 * from each link, whether its registers name that link or not.  They are sent
 * between other packets, see net_send_short().
 *
 * Nothing here knows the owner of registers, or when a program reads them.
 */
#ifndef COLL_BARRIER_H
#define COLL_BARRIER_H

#include "coll/class_route.h"
#include "net/net.h"

enum {
	BARRIER_CLASSES = 16, /* the most */
	BARRIER_PORTS = 12, /* of links */
	BARRIER_LOCAL = CLASS_LOCAL, /* the node itself, as a port */
	BARRIER_BITS = 3,
	BARRIER_ALL = 7,
	BARRIER_FIRST = 4, /* the pattern that a barrier begins with */
};

/* A class's registers, as masks of ports. */
struct barrier_route {
	uint16_t inputs; /* with BARRIER_LOCAL if the node takes part */
	uint16_t output; /* one bit; 0 at the root */
};

struct barrier_class {
	uint64_t in; /* BARRIER_BITS from each port */
	struct barrier_route route;
	uint8_t control; /* the register; in has the bits in effect */
	uint8_t up, status; /* last sent up; last received from above */
	uint8_t enabled; /* bits that interrupt */
};

struct barrier_node {
	struct barrier_class class[BARRIER_CLASSES];
	sim_time sent[BARRIER_PORTS]; /* when the last packet has left */
	uint64_t packets;
	/* Length of the path from the root, in hops and in ps of wires. */
	uint32_t depth[BARRIER_CLASSES], wires[BARRIER_CLASSES];
};

/* Common to all nodes. */
struct barriers {
	struct net *net;
	const struct topo_grid *grid;
	sim_time up, down; /* additional time of a hop */
	sim_time ser; /* of a packet */
	uint32_t bytes; /* of a packet */
	uint32_t key; /* of the event when a packet arrives */
};

/* Sets the initial registers: class 0 is a tree over all nodes, none of which
 * has entered a barrier. */
void barrier_node_init(
	const struct barriers *b, struct barrier_node *n, site_id s);

/*
 * New registers of a class, new bits of the node, or a packet take effect at t.
 * Each returns whether the status of the node has changed.
 */
bool barrier_set_route(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	struct barrier_route r);
bool barrier_set_local(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, uint32_t class,
	uint32_t bits);
bool barrier_arrive(const struct barriers *b, struct barrier_node *n,
	struct sim_worker *w, site_id s, sim_time t, const struct sim_event *e);
/* The class of a packet's event. */
uint32_t barrier_class_of(const struct sim_event *e);

#endif
