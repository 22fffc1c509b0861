/*
 * A part: anything of a machine except its network, hosts and network
 * interfaces, such as GPUs, watchdogs, collective trees or clocks.  A part is
 * one table, listed in machine/parts.c.  No shared layer knows which parts
 * exist: machines read, check, open and close them by these tables alone, and
 * code that uses a part names its table.
 *
 * A machine has a part if one of its variants has the word that the part
 * needs, or is what it needs (machine_meets()).  Its parameters are blocks of
 * the machine file.  Its state, if it keeps any, lives as long as a system
 * does.
 */
#ifndef PARTS_PART_H
#define PARTS_PART_H

#include "base/param.h"
#include "sim/sim.h"

struct facts;
struct fault_plan;
struct host;
struct link_params;
struct net;
struct net_params;
struct part_kind;
struct parts;
struct proof;
struct route;
struct route_written;
struct topo;

enum { PARTS_MOST = 24, PARTS_WORDS = 16 };

/* Rows of one section, whose values stand at an offset in the parameters. */
struct part_block {
	const char *section;
	const struct param *rows;
	size_t n_rows;
	size_t offset;
};

/* Values that a jobs file writes to registers before anything runs. */
struct part_given {
	const void *v; /* of the part that has such registers */
	size_t n;
};

/* The machine around a part. */
struct part_place {
	const struct topo *topo;
	const struct route *route;
	const struct net_params *router;
	const struct link_params *link;
	const struct fault_plan *plan;
	const struct parts *parts; /* all of them */
	uint64_t seed;
	struct part_given given;
	/* Program of IO nodes, on n_serving threads each; arg is the state of
	 * the part that serves files.  shared is a state that several machines
	 * share, or NULL. */
	void (*serve)(void *arg);
	uint32_t n_serving;
	const void *shared;
	/* Only from open() on. */
	struct net *net;
	struct host *host;
};

struct part_ops {
	const char *name;
	const char *needs; /* see machine_meets() */
	const struct part_block *blocks; /* up to one without a section */
	size_t params_size;

	/* Optional, all of these. */

	/* Names of its pieces in plans of faults, up to a NULL
	 * (topo/parts.h). */
	const struct part_kind *const *words;
	/* Prepares a plan of faults before it is read. */
	void (*plan)(const void *params, const struct part_place *at,
		struct fault_plan *plan);
	/* Checks the parameters, and the faults of the part in the plan. */
	int (*check)(
		const void *params, const struct part_place *at, struct err *e);
	/* Called when the network is built, which may be all there is: traffic
	 * has neither hosts nor states of parts. */
	void (*wired)(const void *params, const struct part_place *at);
	/* Makes the state, before the interfaces are made; NULL if it is
	 * switched off.  Parts are opened in the order of the registry. */
	void *(*open)(
		const void *params, const struct part_place *at, struct err *e);
	void (*close)(void *state);
	/* Called when everything is built, before anything runs. */
	void (*start)(const void *params, const struct part_place *at);
	uint64_t (*memory)(const void *state); /* bytes that it holds */
	/* Adds its results of a run that ended at end. */
	void (*facts)(const void *params, const struct part_place *at,
		sim_time end, struct facts *f);
	/* Adds what `weft show` says of it. */
	void (*show)(const void *params, const struct part_place *at,
		struct facts *f);
	/* The section of price lists for its pieces, and their number; NULL:
	 * they have no price. */
	const char *priced;
	uint64_t (*n_priced)(const void *params, const struct part_place *at);
	/* After a run that ended by itself: an error if the state is wrong. */
	int (*audit)(const void *state, struct err *e);
	/* What it will write into switches: fills x in and returns true, or
	 * false for nothing.  The caller frees it by x->free. */
	bool (*writes)(const void *params, const struct part_place *at,
		struct route_written *x);
	/* Adds steps to the proof against deadlock; x is what writes() has
	 * filled in, its own or another part's, or NULL. */
	void (*prove)(const void *params, const struct part_place *at,
		const struct route_written *x, struct proof *p);
};

struct part_slot {
	const struct part_ops *ops;
	void *params;
	void *state;
	bool exists; /* on this machine */
};

/* In the order of the registry. */
struct parts {
	struct part_slot slot[PARTS_MOST];
	size_t n;
	/* of those that exist, up to a NULL */
	const struct part_kind *words[PARTS_WORDS + 1];
};

/* Takes the parts of a list up to NULL, with parameters of their own that have
 * their default values; none exists yet. */
void parts_init(struct parts *p, const struct part_ops *const *list);
void parts_fini(struct parts *p);

/* Of those that exist.  A plan borrows their words. */
void parts_plan(
	struct parts *p, const struct part_place *at, struct fault_plan *plan);
int parts_check(
	const struct parts *p, const struct part_place *at, struct err *e);
int parts_open(struct parts *p, const struct part_place *at, struct err *e);
void parts_close(struct parts *p);
void parts_wired(const struct part_place *at);
void parts_start(const struct part_place *at);
uint64_t parts_memory(const struct parts *p);
void parts_facts(const struct part_place *at, sim_time end, struct facts *f);
void parts_show(const struct part_place *at, struct facts *f);
/* Of the pieces of part i, below PARTS_MOST: their section of price lists and
 * their number; NULL: there are none, or they have no price. */
const char *parts_priced(
	const struct part_place *at, size_t i, uint64_t *number);
int parts_audit(const struct parts *p, struct err *e);
bool parts_write(const struct part_place *at, struct route_written *x);
/* x is what parts_write() has filled in, or NULL. */
void parts_prove(const struct part_place *at, const struct route_written *x,
	struct proof *p);

/* NULL if the machine has no such part, or p is NULL. */
const void *part_params(const struct parts *p, const struct part_ops *ops);
/* NULL also if it has no state, or is switched off. */
void *part_state(const struct parts *p, const struct part_ops *ops);

#endif
