/*
 * The run file of a sweep: a row for each point that was run, with its figures.
 * A sweep that was stopped continues where it ended.
 */
#ifndef RECORD_CURVES_H
#define RECORD_CURVES_H

#include "facts/facts.h"
#include "machine/batch.h"
#include "record/axes.h"
#include "record/db.h"
#include "record/inputs.h"

enum { CURVES_NAME = 512 };

/* The names of a point. */
struct curves_point {
	char name[CURVES_NAME]; /* with everything that varies */
	char group[CURVES_NAME]; /* without the seed */
	char curve[CURVES_NAME]; /* without the seed and the x value */
	char x[64], seed[32];
};

/* A figure of a group, over its seeds. */
struct curves_value {
	uint64_t n;
	double mean;
	double half; /* half of the 95 % confidence interval; 0: unknown */
};

/* The description of a sweep in its file. */
struct curves_about {
	/* The workload and all values that do not vary.  The file of another
	 * sweep is refused, and so is one of another version of weft, or one
	 * whose input files have changed. */
	const char *what;
	const char *command; /* that began it */
	const char *currency; /* of prices, "" or NULL */
	const char *faults; /* a file with a plan of them, or NULL */
	const struct record_inputs *inputs;
	/* Its machines, with the values that do not vary; NULL if these alone
	 * do not make a machine. */
	struct machine *const *machines;
	size_t n_machines;
};

/* Without a path it is kept in memory. */
struct db *curves_open(
	const char *path, const struct curves_about *a, struct err *e);

/* Whether the file has a point, and how that one ended. */
bool curves_has(
	struct db *d, const struct curves_point *p, enum load_ending *ending);
/* The id of a point, also of one that failed, or 0; whether some point has an
 * id; and the greatest id, or 0. */
int64_t curves_id(struct db *d, const struct curves_point *p);
bool curves_has_id(struct db *d, int64_t id);
int64_t curves_last_id(struct db *d);
/* The id is the point's, or no other one's. */
int curves_put(struct db *d, const struct curves_point *p, int64_t id,
	const struct batch_result *r, struct err *e);
/* Forgets a point. */
int curves_drop(struct db *d, const struct curves_point *p, struct err *e);

/* The spread of n values, from their mean and the sum of their squares. */
struct curves_value curves_spread(uint64_t n, double mean, double squares);
/* Adds a group for each figure of a group of points: its mean, half_width_95
 * and the number of seeds. */
void curves_facts(
	struct facts *f, struct db *d, const char *group, struct err *e);

#endif
