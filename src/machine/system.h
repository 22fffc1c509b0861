/*
 * A machine that stands: network, hosts and network interfaces as one thing.
 * Whoever runs anything on a machine brings it up here: `weft run`, programs
 * from outside, tests.  It runs nothing by itself; time passes where its
 * network's clock is moved on, which load_run() does for a workload.
 */
#ifndef MACHINE_SYSTEM_H
#define MACHINE_SYSTEM_H

#include <stdatomic.h>

#include "load/load.h"
#include "machine/machine.h"

struct system_setup {
	uint64_t seed;
	uint32_t threads; /* 0: as many as make sense */
	const atomic_int *stop; /* not 0: end the run; or NULL */
	const struct book_how *book; /* of time budgets, or NULL */
	/* Packets go straight to a client; then there are no hosts, and no
	 * interfaces.  NULL: they go through both. */
	const struct net_client_ops *client;
	void *client_state;
	struct load_needs needs;
	/* The files of IO nodes that it shares with other machines; NULL: it
	 * has its own. */
	const struct files_seat *files;
	struct part_given given; /* to its parts */
	uint64_t bytes; /* that whoever uses it takes besides, about */
	/* told of every packet whose bytes are in memory; may be NULL */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
};

struct system {
	struct net *net;
	struct host *host; /* NULL where the network has another client */
	struct nic *nic; /* the same */
	struct parts parts; /* their parameters are the machine's */
	struct part_place place; /* where they are */
};

/*
 * Refuses what does not fit the memory that is free.  The machine is borrowed
 * for as long as the system lives.
 */
struct system *system_new(
	const struct machine *m, const struct system_setup *s, struct err *e);
void system_free(struct system *s);

/* Whether a system can have such a network, whatever runs on it. */
int system_check(const struct machine *m, struct err *e);

/* Bytes that it holds; only while nothing runs. */
uint64_t system_memory(const struct system *s);

#endif
