/*
 * Collectives of a schedule with algo auto.  Before the schedule begins, all
 * ranks perform each kind of them once with every algorithm that can do it,
 * after a barrier each time, and take the one whose slowest rank was fastest.
 * Kinds differ by operation, number of members, length and options; groups of
 * one kind that have no rank in common are measured at the same time.
 */
#ifndef LOAD_REPLAY_AUTOS_H
#define LOAD_REPLAY_AUTOS_H

#include "facts/facts.h"
#include "load/coll/messages.h"
#include "load/replay/goal_colls.h"
#include "sim/sim.h"

struct auto_kind {
	struct algo_plan like; /* by algo auto */
	struct algo_plan plan[ALGO_TRIED]; /* that are tried */
	uint32_t n_plans;
	/* times of the slowest rank, ps, and the fastest; set by rank 0 */
	uint64_t time[ALGO_TRIED], chosen;
	uint32_t *trial; /* [rank]: the collective it takes part in, + 1 */
};

struct autos {
	const struct goal *goal;
	struct auto_kind *kind;
	uint32_t n;
	uint32_t *kind_of; /* [collective], + 1 */
};

void autos_init(struct autos *x, const struct goal *g);
void autos_fini(struct autos *x);

/* Of all plans that are tried: the largest space, the longest message. */
uint64_t autos_space(const struct autos *x);
uint64_t autos_longest(const struct autos *x);

/* A rank of the schedule; rank 0 keeps the times. */
struct autos_end {
	struct coll_run how; /* but for its group and tag */
	uint32_t rank;
	/* Called by all ranks; *v becomes the highest of their numbers.  0, or
	 * an error number. */
	int (*agree)(void *arg, int64_t *v);
	void *arg;
};

/* Called by all ranks: chosen[kind] becomes the number of the fastest plan. 0,
 * or an error number. */
int autos_choose(struct autos *x, const struct autos_end *own, uint8_t *chosen);

/* A collective's plan. */
const struct algo_plan *autos_plan(
	const struct autos *x, const uint8_t *chosen, uint32_t coll);

/* Of all processes that share a run; the key chosen. */
void autos_sum(struct autos *x, const struct sim *sim);
void autos_facts(const struct autos *x, struct facts *f);

#endif
