/*
 * Shares of a network: the sites that each process and worker simulates, and
 * the links between processes.
 */
#ifndef NET_SHARES_H
#define NET_SHARES_H

#include "net/net.h"

struct net_shares {
	uint8_t *owner; /* [site] a worker of its process */
	uint16_t *process; /* [site] */
	bool *is_near; /* [process] it has wires to this one */
};

/* By the topology, for the workers and processes of p. */
void net_share_out(
	struct net_shares *x, const struct topo *t, const struct sim_params *p);
void net_shares_fini(struct net_shares *x);

/* Sets net.cut. */
void net_find_cuts(struct net *n);

/*
 * Of several processes, which all call it at the same point of the program:
 * values of links between them, in an array with so many for each link, become
 * the sums over all processes.
 */
void net_sum_cuts(const struct net *n, int32_t *x, uint32_t each);
/* Or those of the process that has the receiver.  Calls changed() with the
 * sender's site where one is another value than before. */
void net_ask_cuts(const struct net *n, int32_t *x, uint32_t each,
	void (*changed)(void *arg, site_id s), void *arg);

#endif
