/* Makes schedules in GOAL of well-known patterns. */
#ifndef LOAD_REPLAY_MAKE_H
#define LOAD_REPLAY_MAKE_H

#include "base/param.h"
#include "load/coll/plan.h"
#include "load/replay/goal.h"

/* Parameters of a schedule; each pattern has keys for some of them. */
struct goal_make {
	int64_t ranks, bytes, rounds;
	int64_t compute; /* ps, of a round or stage */
	char algo[PARAM_TEXT_MAX]; /* of collectives, ... */
	int64_t root, channels, chunk, unit, overlap; /* ... as in a plan */
	int64_t as; /* 0: steps, 1: operations */
	int64_t batches; /* micro-batches of a pipeline */
	int64_t stages; /* of a pipeline */
	char file[PARAM_TEXT_MAX]; /* an existing schedule */
};

struct goal_pattern {
	const char *name, *help;
	const struct param *params; /* of a struct goal_make */
	size_t n_params;
	enum algo_op op; /* of a collective, for the next two */
	/* or NULL */
	int (*check)(const struct goal_make *m, enum algo_op op, struct err *e);
	/* Writes the ranks as text; NULL: those of the file. */
	void (*write)(const struct goal_make *m, enum algo_op op, FILE *f);
};

extern const struct goal_pattern goal_patterns[]; /* name is NULL at the end */

/* --- make_coll.c --- */

extern const struct param make_coll_params[10], make_root_params[11],
	make_alltoall_params[10];

int make_check_coll(const struct goal_make *m, enum algo_op op, struct err *e);
void make_write_coll(const struct goal_make *m, enum algo_op op, FILE *f);

#endif
