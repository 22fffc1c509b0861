/* Makes schedules in GOAL of well-known patterns. */
#ifndef LOAD_REPLAY_MAKE_H
#define LOAD_REPLAY_MAKE_H

#include "base/param.h"
#include "load/replay/goal.h"

/* Parameters of a schedule; each pattern has keys for some of them. */
struct goal_make {
	int64_t ranks, bytes, rounds;
	int64_t compute; /* ps, of a round or stage */
	int64_t algorithm; /* of an all-reduce: 0 ring, 1 doubling */
	int64_t batches; /* micro-batches of a pipeline */
	int64_t stages; /* of a pipeline */
	char file[PARAM_TEXT_MAX]; /* an existing schedule */
};

struct goal_pattern {
	const char *name, *help;
	const struct param *params; /* of a struct goal_make */
	size_t n_params;
	int (*check)(const struct goal_make *m, struct err *e); /* or NULL */
	/* Writes the ranks as text; NULL: those of the file. */
	void (*write)(const struct goal_make *m, FILE *f);
};

extern const struct goal_pattern goal_patterns[]; /* name is NULL at the end */

#endif
