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
	uint8_t *lead; /* [process][process], see sim_params */
	uint8_t *is_edge; /* [site] whether a wire leads to another process */
};

/*
 * The process of each site, of n: boxes of a grid with the fewest wires between
 * them, if it can be cut into equal ones; otherwise equal numbers of nodes in
 * the order of their numbers, where nodes of a switch stay together, with the
 * switches among them.
 */
void net_share_processes(uint16_t *process, const struct topo *t, uint32_t n);

/* The share of one process. */
struct net_share {
	uint64_t nodes, others; /* others: switches and IO nodes */
	uint64_t wires, cut; /* wires that leave its sites; to others' sites */
	uint32_t near; /* processes at their other ends */
	uint64_t memory; /* bytes of a saturated run, estimated */
};

/* Before anything is built; x is zeroed. */
void net_count_shares(
	struct net_share *x, const struct net_setup *s, uint32_t n);

/* The least time of mail over a kind of wire; and of what goes from process to
 * process, for all kinds, to be freed. */
sim_time net_mail_time(const struct net *n, uint32_t wire);
sim_time *net_mail_times(const struct net *n);

/* By the topology, for the workers and processes of p.  Mail takes least[i] on
 * wires of the i-th kind. */
void net_share_out(struct net_shares *x, const struct topo *t,
	const struct sim_params *p, const sim_time *least);
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
