/* What `weft run` and programs from outside have in common. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdio.h>

#include "cli/cli.h"
#include "machine/batch.h"
#include "machine/facts.h"

/*
 * Opens a run and performs it; s has the workload, and the command line the
 * rest.  The first Ctrl-C ends the run, and the results so far are reported.
 * The caller must call machine_run_close(), also after an error.
 */
int run_perform(struct machine_run *r, const struct cli_args *a,
	struct machine_run_setup *s, struct err *e);

/* Runs that follow a run, as a batch of other processes, and a progress line
 * for them: "what: 12 s".  The batch's arg begins with it. */
struct run_again {
	const struct machine_run *run;
	const char *what;
	struct batch_result *result; /* of each; whose owner has them */
	double start;
	bool talks;
};

struct run_again run_again_begin(const struct cli_args *a,
	const struct machine_run *r, const char *what);
/* What all of them have in common. */
void run_again_set_up(const struct run_again *x, struct machine_run_setup *s);
/* The batch's own. */
void run_again_on_done(void *arg, size_t i, const struct batch_result *r);
void run_again_on_wait(void *arg);
void run_again_end(const struct run_again *x);

/* A program as a workload, whose arg is a struct weft_app; prints its
 * results. */
extern const struct load_ops app_ops;
/* The same, except that a wrong answer is an error. */
extern const struct load_ops app_strict_ops;
int app_tell(const struct machine_run *r, const struct cli_args *args,
	struct err *e);

/* The command that repeats a run; to be freed. */
char *run_command(const struct cli_args *a, const struct machine_run_setup *s);
/* The command that repeats a sweep. */
char *run_sweep_command(const struct cli_args *a);

int run_ending_code(enum load_ending e);
/* Prints the facts of a run, writes the other files that were asked for, and
 * frees f.  Returns the exit code, or -1 with the error. */
int run_tell(struct facts *f, const struct cli_args *a,
	const struct machine_run *r, struct err *e);

/* Fills in how for --budget and --follow, and returns it; NULL if neither was
 * given. */
const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how);

#endif
