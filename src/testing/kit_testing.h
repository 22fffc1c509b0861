/*
 * For tests: machines as they are shipped, from their files, small and with
 * whatever a test wants otherwise; and one machine of each kind, so that what
 * holds for all machines is tested on those that are still to come, too.
 */
#ifndef TESTING_KIT_TESTING_H
#define TESTING_KIT_TESTING_H

#include "machine/system.h"

struct kit_how {
	const char *machine; /* a machine file's name */
	const char *shape; /* or NULL: the file's own */
	const char *const *sets; /* "path=value", NULL last; or NULL */
	const char *faults; /* a plan's file, or NULL */
	uint64_t seed; /* 0: 7 */
	uint32_t n_workers; /* 0: 1 */
	struct load_needs needs;
};

struct kit {
	struct machine *machine;
	struct system *system;
	struct net *net;
	struct host *host;
	struct nic *nic;
	uint64_t *digest; /* [site] */
};

/* A machine as its file and some sets say, NULL last; fails the test where
 * there is none. */
struct machine *kit_machine(
	const char *name, const char *const *sets, const char *shape);
/* Brings one up. */
void kit_open(struct kit *k, const struct kit_how *how);
/* The same of a machine that the test has, and the kit frees; what is delivered
 * is the digest's. */
void kit_start(
	struct kit *k, struct machine *m, const struct system_setup *setup);
/*
 * Runs until nothing is left to happen.  Fails the test where a program still
 * waits, something is lost, or, unless they are expected, an interface has
 * reported errors.  Returns the digest.
 */
uint64_t kit_run(struct kit *k, bool may_err);
void kit_close(struct kit *k);

enum { KIT_KINDS = 32, KIT_NODES = 16 /* at most */, KIT_SETS = 2 };

/* A machine of at least four nodes. */
struct kit_kind {
	char machine[64];
	const char *shape;
	const char *sets[KIT_SETS + 1]; /* NULL last */
	const struct nic_ops *nic;
	const struct topo_ops *topo;
	const struct route_ops *route;
	const struct router_ops *router; /* of switches, where there are any */
	uint32_t n_nodes;
};

static inline uint32_t kit_n_sets(const struct kit_kind *k)
{
	uint32_t n = 0;

	while (k->sets[n])
		n++;
	return n;
}

/* Runs a program in each of so many processes of every node; the digest. */
uint64_t kit_run_all(const struct kit_kind *kind, uint32_t n_workers,
	uint32_t each, void (*run)(void *arg), void *arg);

struct kit_kinds {
	struct kit_kind kind[KIT_KINDS];
	uint32_t n;
};

/* The first machine file of each combination of interface, topology, routing
 * and router, as it is or with parameters that ask for another one. */
void kit_find_kinds(struct kit_kinds *k);

#endif
