/*
 * Writes a run to a run file while it runs: its settings, the machine with its
 * links, samples of the links over time, and finally the results.  It does not
 * affect the run, which is the same to the last bit with and without.
 *
 * Of several processes the first one writes it, and all call these
 * functions, which share errors; they return the same to all.
 *
 * The ending in the file is "stopped" until record_end() replaces it, so the
 * file is correct even if the process is killed.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "machine/run.h"

/* Interval between samples: as short as is cheap. */
#define RECORD_PERIOD (5000 * SIM_NS)

struct record;

/*
 * The run is open and not yet performed; command is the user's command line.
 * The run's load calls it during the run.
 */
struct record *record_new(const char *path, struct machine_run *r,
	const char *command, sim_time period, struct err *e);
/* The run has ended, with the name of its ending.  Also returns errors of
 * writing during the run. */
int record_end(struct record *k, const char *ending, struct err *e);
/* The run failed, with the reason. */
void record_fail(struct record *k, const char *why);
/* The host let it not go on: the file says that it was stopped, and why. */
void record_stop(struct record *k, const char *why);
/* Before record_end(), of a run whose results count though it failed. */
void record_why(struct record *k, const char *why);
void record_free(struct record *k); /* NULL is fine */

/*
 * For --budget: completed messages, or a sample if there are very many.  Set
 * before the run is opened, and passed to record_new() by record_keep().
 */
struct record_messages;
struct record_messages *record_messages_new(struct book_how *how);
void record_messages_free(struct record_messages *m);
void record_keep(struct record *k, struct record_messages *m);

#endif
