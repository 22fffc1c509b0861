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
	/* of training */
	int64_t tensor, pipeline, data,
		experts; /* ranks of each way to share */
	int64_t layers, hidden, sequence, tokens, parameters;
	int64_t batches; /* micro-batches of a rank */
	int64_t shard;
	char file[PARAM_TEXT_MAX]; /* an existing schedule */
};

struct goal_pattern {
	const char *name, *help;
	const struct param *params; /* of a struct goal_make */
	size_t n_params;
	enum algo_op op; /* of a collective, for the next two */
	/* or NULL */
	int (*check)(const struct goal_make *m, enum algo_op op, struct err *e);
	/* The number of ranks; NULL: the key's. */
	int64_t (*ranks)(const struct goal_make *m);
	/* What follows from the keys, in lines that begin with start; or NULL.
	 */
	void (*say)(const struct goal_make *m, const char *start, FILE *f);
	/* Writes the ranks as text; NULL: those of the file. */
	void (*write)(const struct goal_make *m, enum algo_op op, FILE *f);
};

extern const struct goal_pattern goal_patterns[]; /* name is NULL at the end */

/* --- make_coll.c --- */

extern const struct param make_coll_params[10], make_root_params[11],
	make_alltoall_params[10];

/* A member's part of a collective of ranks first + k * stride. */
struct make_joint {
	const struct algo_plan *plan;
	uint32_t first, stride, member;
	uint64_t number; /* the same for all members; its end is "e12" */
	char before[2][24]; /* operations that it waits for, or "" */
	int64_t compute; /* ps, for each sum */
	uint32_t cpu;
	bool is_operation, is_last; /* last: nobody waits for its end */
	bool is_alike; /* it is for all ranks of a block */
};

void make_write_joint(const struct make_joint *j, FILE *f);
/* Operations of all members of a collective. */
double make_size(const struct goal_make *m, const struct algo_plan *p);
/* Refuses so many operations of all ranks, before they fill a disk. */
int make_check_size(const struct goal_make *m, double n, struct err *e);
/* Refuses words in place of an algorithm where steps are wanted. */
int make_check_steps(const struct goal_make *m, struct err *e);
int make_check_coll(const struct goal_make *m, enum algo_op op, struct err *e);
void make_write_coll(const struct goal_make *m, enum algo_op op, FILE *f);

/* --- make_training.c --- */

extern const struct param make_training_params[17];
int make_check_training(
	const struct goal_make *m, enum algo_op op, struct err *e);
int64_t make_training_ranks(const struct goal_make *m);
void make_say_training(const struct goal_make *m, const char *start, FILE *f);
void make_write_training(const struct goal_make *m, enum algo_op op, FILE *f);

#endif
