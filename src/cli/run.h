/* What `weft run` and programs from outside have in common. */
#ifndef CLI_RUN_H
#define CLI_RUN_H

#include <stdio.h>

#include "cli/cli.h"
#include "machine/run.h"
#include "out/json.h"

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
 * When all else is written: the output, and what goes into other files.  The
 * exit code, or -1 with an error.
 */
int run_close(struct cli_out *out, const struct cli_args *a,
	const struct machine_run *r, struct err *e);

/* --- what is told of a run, part by part; nothing where there is none --- */

/* Packets that wait for good. */
void run_knot_text(FILE *f, const struct load_result *l);

/* Programs that wait in vain at its end, and links that are dead. */
void run_waiting_text(FILE *f, const struct machine_run *r);
void run_waiting_json(struct json *j, const struct machine_run *r);

/* --histogram: bars, some of them for each doubling of time, or the key
 * latency_histogram with every bucket that holds something. */
void run_histogram_text(FILE *f, const struct hist *h);
void run_histogram_json(struct json *j, const struct hist *h);

/* Groups of links, and which links and routers had the most to do: the keys
 * links, hottest_links and fullest_routers. */
void run_links_text(FILE *f, const struct machine_run *r);
void run_links_json(struct json *j, const struct machine_run *r);
/* Every link and channel as a line of a CSV file. */
int run_links_write(
	const char *path, const struct machine_run *r, struct err *e);

/* "node 22 (2,1,1) B+" */
void run_link_name(const struct machine_run *r, site_id s, port_id p,
	char *text, size_t size);

/* What a user should know before trusting the result, with what to change: the
 * key warnings. */
enum run_warning {
	RUN_SHORT,
	RUN_ROOM,
	RUN_HOST,
	RUN_SHORTFALL,
	N_RUN_WARNINGS
};
enum { RUN_WARNING = 256 };
/* False where there is nothing to say. */
bool run_warning(const struct machine_run *r, enum run_warning which,
	char *text, size_t size);
void run_warnings_text(FILE *f, const struct machine_run *r);
void run_warnings_json(struct json *j, const struct machine_run *r);

/* The key faults. */
void run_faults_text(FILE *f, const struct net *n, const struct load_result *r);
void run_faults_json(
	struct json *j, const struct net *n, const struct load_result *r);

/* What the machine's parts have found (parts/part.h). */
void run_parts_text(FILE *f, const struct machine_run *r);
void run_parts_json(struct json *j, const struct machine_run *r);

/* --- the time budget: --budget and --follow --- */

/* What the network is to keep, for net_setup.book: how, filled in, or NULL
 * where neither is asked for. */
const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how);
/* Before the run: an error where the node to follow does not exist. */
int run_book_check(
	const struct cli_args *a, const struct topo *t, struct err *e);
/* After it, when all else is told: an error where the followed message was
 * never sent. */
int run_book_missed(
	const struct cli_args *a, const struct net *n, struct err *e);
/* The keys budget and follow. */
void run_budget_text(FILE *f, const struct cli_args *a, const struct net *n);
void run_budget_json(
	struct json *j, const struct cli_args *a, const struct net *n);

#endif
