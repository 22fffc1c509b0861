/*
 * A sweep's results in a run file of their own: a row for each point that was
 * run, and its figures.  A sweep that was stopped goes on where it was.
 */
#ifndef RECORD_CURVES_H
#define RECORD_CURVES_H

#include "facts/facts.h"
#include "machine/batch.h"
#include "record/axes.h"
#include "record/db.h"
#include "record/inputs.h"

enum { CURVES_NAME = 512 };

/* What a point is called. */
struct curves_point {
	char name[CURVES_NAME]; /* with everything that varies */
	char group[CURVES_NAME]; /* without the seed */
	char curve[CURVES_NAME]; /* and without what is drawn along x */
	char x[64], seed[32];
};

/* Of a group's figure over its seeds. */
struct curves_value {
	uint64_t n;
	double mean;
	double half; /* width of its 95 % confidence interval; 0: not known */
};

/* What a file says of its sweep. */
struct curves_about {
	/* The workload with all that does not vary: a file of another sweep is
	 * refused, and one by another version or of files that have changed. */
	const char *what;
	const char *command; /* that began it */
	const struct record_inputs *inputs;
	/* Those that it runs on, with what does not vary; NULL where that alone
	 * is no machine. */
	struct machine *const *machines;
	size_t n_machines;
};

/* No path: in memory. */
struct db *curves_open(
	const char *path, const struct curves_about *a, struct err *e);

/* Whether it is there, and then how it ended. */
bool curves_has(
	struct db *d, const struct curves_point *p, enum load_ending *ending);
int curves_put(struct db *d, const struct curves_point *p,
	const struct batch_result *r, struct err *e);
/* Of n values, by their mean and the sum of their squares. */
struct curves_value curves_spread(uint64_t n, double mean, double squares);
/* Adds a group for each figure of a group of points: its mean, half_width_95
 * and the number of seeds. */
void curves_facts(
	struct facts *f, struct db *d, const char *group, struct err *e);

#endif
