/*
 * Many runs, several at a time, each in a process of its own: a run that fails,
 * even by a crash, is a result like any other.  The Weft processes of a job
 * (sim/cluster.h) share them out.
 */
#ifndef MACHINE_BATCH_H
#define MACHINE_BATCH_H

#include "machine/run.h"

enum {
	BATCH_FIGURES = LOAD_MAX_FIGURES + 16,
	BATCH_NAME = 96,
	BATCH_NOTES = 8,
	BATCH_NOTE = 256
};

struct batch_figure {
	char name[BATCH_NAME];
	double value;
};

struct batch_result {
	struct err e; /* of a run that was refused or failed */
	enum load_ending ending;
	char why[sizeof(((struct load_result *)0)->why)]; /* it stalled */
	uint64_t digest;
	double wall_s;
	struct batch_figure figure[BATCH_FIGURES];
	uint32_t n_figures;
	char note[BATCH_NOTES][BATCH_NOTE]; /* written by look() */
};

struct batch {
	/* Whether there is an i-th run, asked when its turn comes; NULL: all.
	 * Only the first process of a job asks. */
	bool (*wants)(void *arg, size_t i);
	/* Sets up the i-th run; false: there is none. */
	bool (*setup)(void *arg, size_t i, struct machine_run_setup *s);
	/* Called in the run's process if it succeeded; may be NULL. */
	void (*look)(const struct machine_run *r, struct batch_result *result);
	/* A run has ended; they end in any order.  Only the first process of a
	 * job hears of it. */
	void (*on_done)(void *arg, size_t i, const struct batch_result *r);
	/* Called now and then while runs last. */
	void (*on_wait)(void *arg);
	void *arg;
	size_t n;
	const size_t *order; /* [n]: in which they begin; NULL: by number */
	uint32_t at_a_time; /* without a job */
	uint32_t processes; /* that share each run, or fewer on a machine that
			     * is loaded and has fewer nodes; 0: one */
	struct cluster *cluster; /* a job that shares them out; or NULL */
	const atomic_int *stop; /* not 0: end at once */
};

/* Returns 0, or -1 if no process could be created, or 1 if it was stopped.  All
 * processes of a job call it, with the same runs. */
int batch_run(const struct batch *b, struct err *e);

/* Adds a figure, if there is room. */
void batch_keep(struct batch_result *result, const char *name, double value);
/* The results of a run that has ended. */
void batch_note(const struct machine_run *r, struct batch_result *result);

#endif
