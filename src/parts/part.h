/*
 * A part: what a machine has beside its network, its hosts and its network
 * interfaces, such as GPUs, watchdogs, collective trees or clocks.  A part is
 * one table, listed in machine/parts.c.  No shared layer knows which parts
 * exist: machines read, check, open and close them by these tables alone, and
 * code that uses a part names its table.
 *
 * A machine has a part if one of its variants has the word that the part
 * needs (machine_has()).  Its parameters are blocks of the machine file.  Its
 * state, if it keeps any, lives as long as a system does.
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
struct topo;

enum { PARTS_MOST = 24, PARTS_WORDS = 16 };

/* Rows of one section, whose values stand at an offset in the parameters. */
struct part_block {
	const char *section;
	const struct param *rows;
	size_t n_rows;
	size_t offset;
};

/* What a file of jobs writes into registers before anything runs. */
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
	/* What IO nodes run, on so many threads each, with the state of the
	 * part that serves files as arg; and such a state that several machines
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
	const char *needs; /* a word of machine_has() */
	const struct part_block *blocks; /* up to one without a section */
	size_t params_size;

	/* Optional, all of these. */

	/* What plans of faults call its pieces, up to a NULL (topo/parts.h). */
	const struct part_kind *const *words;
	/* Sets what a plan must know of it before it is read. */
	void (*plan)(const void *params, const struct part_place *at,
		struct fault_plan *plan);
	/* Checks the parameters, and what the plan of faults says of it. */
	int (*check)(
		const void *params, const struct part_place *at, struct err *e);
	/* Makes the state, before the interfaces are made; NULL if it is
	 * switched off.  Parts are opened in the order of the registry. */
	void *(*open)(
		const void *params, const struct part_place *at, struct err *e);
	void (*close)(void *state);
	/* All stands, and nothing has run yet. */
	void (*start)(const void *params, const struct part_place *at);
	uint64_t (*memory)(const void *state); /* bytes that it holds */
	/* What it found in a run until end. */
	void (*facts)(const void *params, const struct part_place *at,
		sim_time end, struct facts *f);
	/* After a run that ended by itself: an error where the state is not
	 * what it must be then. */
	int (*audit)(const void *state, struct err *e);
	/* Adds steps to the proof against deadlock. */
	void (*prove)(const void *params, const struct part_place *at,
		struct proof *p);
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
void parts_start(const struct part_place *at);
uint64_t parts_memory(const struct parts *p);
void parts_facts(const struct part_place *at, sim_time end, struct facts *f);
int parts_audit(const struct parts *p, struct err *e);
void parts_prove(const struct part_place *at, struct proof *p);

/* NULL where the machine, or parts itself, has no such part. */
const void *part_params(const struct parts *p, const struct part_ops *ops);
/* NULL also where it has no state, or is switched off. */
void *part_state(const struct parts *p, const struct part_ops *ops);

#endif
