/*
 * For tests of SWHNI's collectives: a plan of rounds, programs that post them,
 * and what a plain loop computes.  A tree is a list of parents; programs fill a
 * list of members each, and post one round after the other.
 */
#ifndef NIC_SWHNI_COLLECTIVE_TESTING_H
#define NIC_SWHNI_COLLECTIVE_TESTING_H

#include "nic/swhni/swhni_testing.h"

enum {
	CT_NODES = 32,
	CT_LIST = 0, /* offsets in the own handle */
	CT_OWN = 0x1000,
	CT_RESULT = 0x2000,
	CT_MOST = 2048,
	CT_ROUNDS = 24,
	CT_ENTRY = 3,
	CT_NONE = CT_NODES, /* a root's parent */
};

struct ct_plan {
	uint32_t n; /* members: the first nodes */
	uint32_t parent[CT_NODES]; /* each root has a job of its own */
	uint32_t n_rounds;
	struct {
		uint8_t op, data;
		uint32_t bytes, root;
	} round[CT_ROUNDS];
	uint32_t delay; /* ns: the most that a member is late, at random */
	uint32_t busy; /* ns that members with children compute after a post */
	const void *operand[CT_NODES]; /* of all rounds, not at random */
	uint32_t entry;
	uint32_t n_trees; /* that rounds use in turn; 0: one */
	bool by_queue; /* not by the window */
	bool may_fail;
	uint8_t result[CT_ROUNDS][CT_NODES][CT_MOST];
	uint32_t error[CT_ROUNDS][CT_NODES];
	sim_time begin[CT_ROUNDS][CT_NODES], end[CT_ROUNDS][CT_NODES];
};

extern struct ct_plan ct_plan;

/* A tree of n members, of which each has so many children; no rounds. */
void ct_set(uint32_t n, uint32_t arity);
void ct_add(uint32_t op, uint32_t data, uint32_t bytes, uint32_t root);
/* Runs the plan. */
uint64_t ct_run(struct st *m);
/* What every member has is what a loop computes. */
void ct_check(uint32_t round);

/* --- for programs --- */

void ct_member(struct st *m, site_id node);
struct swhni_collective ct_descriptor(
	site_id node, uint32_t i, uint32_t n_children);
void ct_post(struct st_queue *q, const struct swhni_collective *c,
	const uint8_t *data);
/* Before the run: all nodes are in one chain. */
void ct_set_chain(struct st *m);

#endif
