/*
 * Exposed communication of a schedule: the time in which a rank computes
 * nothing, by what it waits for: the oldest collective that it has begun, or
 * else messages.
 */
#ifndef LOAD_REPLAY_EXPOSED_H
#define LOAD_REPLAY_EXPOSED_H

#include "facts/facts.h"
#include "load/load.h"
#include "load/replay/goal_colls.h"
#include "sim/sim.h"

/* Collectives that are alike but for their groups. */
struct exposed_kind {
	const struct algo_plan *plan;
	uint64_t sum, most; /* of ranks, ps; set by exposed_sum() */
};

struct exposed {
	const struct goal *goal;
	uint32_t *kind_of; /* [collective] */
	struct exposed_kind *kind; /* the last one: messages */
	uint32_t n;
	uint64_t *time; /* [rank][n], ps */
};

void exposed_init(struct exposed *x, const struct goal *g);
void exposed_fini(struct exposed *x);
/* op: the collective that a rank waits for; NULL: messages. */
void exposed_add(struct exposed *x, uint32_t rank, const struct goal_op *op,
	sim_time time);
/* Of all processes that share a run. */
void exposed_sum(struct exposed *x, const struct sim *sim);
/* The key exposed. */
void exposed_facts(const struct exposed *x, struct facts *f);

/* A kind, of a run that may be over, or another process's. */
struct exposed_row {
	char operation[24];
	char algorithm[24]; /* empty: messages, of no members or bytes */
	uint64_t members, bytes;
	sim_time mean, most;
};

struct exposed_rows {
	bool is_there; /* it is a schedule with collectives */
	uint32_t n;
	struct exposed_row *row; /* to be freed */
};

/* What the facts of a workload have. */
struct exposed_rows exposed_rows(const struct load *l);
/* As exposed_facts(). */
void exposed_rows_facts(const struct exposed_rows *x, struct facts *f);

#endif
