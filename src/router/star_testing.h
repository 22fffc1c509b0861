/*
 * For tests of switches: nodes around one switch, or around two with trunks
 * between them, and a client that sends what it is told and writes down what
 * arrives.  Node n is at port n % (nodes of a switch) of its switch; behind
 * these ports are the trunks.
 */
#ifndef ROUTER_STAR_TESTING_H
#define ROUTER_STAR_TESTING_H

#include <stdatomic.h>

#include "net/net.h"

enum { STAR_MOST = 4096 /* packets */, STAR_FLOWS = 3000 };

struct star {
	struct topo topo; /* its wires are a node's and a trunk's */
	struct route route;
	uint32_t n_switches, n_trunks;
};

/* A routing that names channels takes a packet's zone. */
void star_init(struct star *s, uint32_t n_nodes, uint32_t n_switches,
	uint32_t n_trunks, uint32_t n_channels);
/* The switch of a node. */
site_id star_switch(const struct star *s, site_id node);

/* What is 0 or NULL stands for a default. */
struct star_how {
	uint32_t n_nodes, n_switches, n_trunks, n_channels;
	int64_t packets; /* that a channel of a port holds; else 4 */
	uint32_t n_workers;
	bool holds; /* nodes keep all that they receive */
	bool books; /* time budgets */
	const struct fault_plan *faults;
	/* All routers are of this kind, with parameters of its own; else
	 * switches are crossbars. */
	const struct router_ops *kind;
	const void *own;
	const struct link_params *link; /* else that of machines/bgq.yaml */
	const struct route_lists *lists; /* of the routing */
};

struct star_arrival {
	struct packet packet; /* its number says which it was, from 1 on */
	sim_time head, tail;
};

struct star_rig {
	struct star star;
	struct link_params link;
	struct net_params router;
	struct net *net;
	struct star_flow {
		struct packet packet;
		uint32_t fifo, n, number;
	} flow[STAR_FLOWS];
	uint32_t n_flows, n_sent;
	struct star_arrival got[STAR_MOST]; /* by number; the last copy */
	struct book_account account[STAR_MOST]; /* as they end */
	atomic_uint n_got, n_lost, n_accounts;
};

struct star_rig *star_new(const struct star_how *how);
void star_free(struct star_rig *r);

/* Packets like p from t on, as there is room; those of one source and kind stay
 * in order.  Returns the number of the first. */
uint32_t star_send(struct star_rig *r, sim_time t, uint32_t n, struct packet p);
/* Runs to the end, or until t at least, and audits. */
void star_run(struct star_rig *r, sim_time t);
/* When a packet alone has its tail at the other end. */
sim_time star_alone(
	const struct star_rig *r, site_id from, site_id to, uint32_t bytes);
/* Bytes sent by a port, on all channels. */
uint64_t star_sent(const struct star_rig *r, site_id s, port_id p);
/* Of a node's nth packet, from 0 on; what was spent is its whole time. */
const struct budget *star_budget(
	const struct star_rig *r, site_id src, uint32_t nth);

#endif
