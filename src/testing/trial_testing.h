/*
 * For tests of workloads: runs, each written as a line.  "torus 2x2" is a
 * machine and its shape; "stream bytes=8 nic.packet=5ns" is a workload with its
 * keys, and parameters, which have a dot in their names.
 */
#ifndef TESTING_TRIAL_TESTING_H
#define TESTING_TRIAL_TESTING_H

#include "machine/run.h"
#include "testing/testing.h"

struct trial {
	struct machine_run *run;
	struct err e; /* that it ended with */
	char text[1024]; /* the words that the run refers to */
};

/* One figure.  False if this run does not have it; *value is unchanged then. */
bool machine_run_figure(
	const struct machine_run *r, const char *name, double *value);

/* To its end, or to an error. */
void trial_open(struct trial *t, const char *machine, const char *line);
void trial_close(struct trial *t);
/* Of one that must have finished; fails where there is no such figure. */
double trial_figure(const struct trial *t, const char *name);
bool trial_has(const struct trial *t, const char *name);

/* The figure of a run that must finish. */
double trial(const char *machine, const char *line, const char *name);
/* The run ends with an error that contains a text. */
void trial_fails(
	const char *machine, const char *line, int code, const char *text);
/* The command was wrong. */
void trial_refused(const char *machine, const char *line, const char *text);

/* Equal but for rounding. */
void trial_same(double a, double b);

/* A file with a text; its path, which the test deletes. */
const char *trial_file(const char *name, const char *text);

#endif
