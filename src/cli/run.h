/* What `weft run` and programs from outside have in common. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdio.h>

#include "cli/cli.h"
#include "machine/facts.h"

/*
 * Opens a run and performs it; s has the workload, and the command line the
 * rest.  The first Ctrl-C ends the run, and the results so far are reported.
 * The caller must call machine_run_close(), also after an error.
 */
int run_perform(struct machine_run *r, const struct cli_args *a,
	struct machine_run_setup *s, struct err *e);

/* A progress line for runs that follow a run, in other processes: "what: 12 s".
 */
struct run_wait {
	const char *what;
	double start;
	bool talks;
};

struct run_wait run_wait_begin(const struct cli_args *a,
	const struct machine_run *r, const char *what);
void run_wait_tell(const struct run_wait *w);
void run_wait_end(const struct run_wait *w);

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

const char *run_ending_name(enum load_ending e);
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
