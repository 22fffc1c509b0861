/*
 * A system: the network, hosts, network interfaces and parts of a machine.
 * Everything that runs on a machine builds one: `weft run`, programs with a
 * main() of their own, tests.  It runs nothing by itself; load_go() advances
 * the time of its network for a workload.
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
	/* A client that sends and receives packets directly, without hosts and
	 * interfaces.  NULL: with them. */
	const struct net_client_ops *client;
	void *client_state;
	struct load_needs needs;
	/* The files of IO nodes that it shares with other machines; NULL: it
	 * has its own. */
	const struct files_seat *files;
	struct part_given given; /* to its parts */
	uint64_t bytes; /* estimate for its user, in addition */
	uint64_t held; /* estimate for other systems of this process */
	struct cluster *cluster; /* processes that share it; NULL: none */
	struct sim_trial trial;
	/* called for every packet whose bytes are in memory; may be NULL */
	void (*on_delivered)(
		void *arg, site_id s, const struct packet *p, sim_time t);
	void *arg;
};

struct system {
	struct net *net;
	uint64_t need; /* estimate of its memory, and that of its user */
	struct host *host; /* NULL where the network has another client */
	struct nic *nic; /* the same */
	struct parts parts; /* their parameters are the machine's */
	struct part_place place; /* where they are */
};

/*
 * Refuses a system that does not fit into the free memory.  The machine is
 * borrowed until system_free().
 */
struct system *system_new(
	const struct machine *m, const struct system_setup *s, struct err *e);
void system_free(struct system *s);

/* Whether a system can have such a network, whatever runs on it. */
int system_check(const struct machine *m, struct err *e);

/* Memory in use, bytes; only while nothing runs. */
uint64_t system_memory(const struct system *s);

#endif
