/* What `weft run` and programs from outside have in common. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdio.h>

#include "cli/cli.h"
#include "machine/facts.h"

/*
 * Opens a run and performs it: s says what to run, the command line the rest.
 * The first Ctrl-C ends the run and what it has measured is reported.  As with
 * machine_run_open(), to close it is the caller's.
 */
int run_perform(struct machine_run *r, const struct cli_args *a,
	struct machine_run_setup *s, struct err *e);

/* A program as a workload, of the struct weft_app that is its arg; and what
 * came of it. */
extern const struct load_ops app_ops;
/* The same where a wrong answer is an error. */
extern const struct load_ops app_strict_ops;
int app_tell(const struct machine_run *r, const struct cli_args *args,
	struct err *e);

/* How to say a run again; to be freed. */
char *run_command(const struct cli_args *a, const struct machine_run_setup *s);
/* The same of a sweep. */
char *run_sweep_command(const struct cli_args *a);

const char *run_ending_name(enum load_ending e);
int run_ending_code(enum load_ending e);
/*
 * When all is found: writes it, then what goes into other files, and frees f.
 * The exit code, or -1 with an error.
 */
int run_tell(struct facts *f, const struct cli_args *a,
	const struct machine_run *r, struct err *e);

/* --budget and --follow: what the network is to keep, for net_setup.book: how,
 * filled in, or NULL where neither is asked for. */
const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how);

#endif
