/*
 * Writes a run to a run file, while it runs: what was run, the machine with
 * its links, samples of these over time, and in the end what came of it.  It
 * only looks: a run is the same to the last bit with and without.
 *
 * From the beginning on the file says that the run was stopped, which is so
 * until record_end() says otherwise; so whatever happens, it tells the truth.
 */
#ifndef RECORD_RECORD_H
#define RECORD_RECORD_H

#include "machine/run.h"

/* Of time between samples: as often as is cheap. */
#define RECORD_PERIOD (5000 * SIM_NS)

struct record;

/*
 * The run is open and not yet performed; command is how the user said it.  It
 * has the run's load call it while it is performed.
 */
struct record *record_new(const char *path, struct machine_run *r,
	const char *command, sim_time period, struct err *e);
/* The run has ended in some way, with an ending's name.  Also tells what went
 * wrong while it ran. */
int record_end(struct record *k, const char *ending, struct err *e);
/* It could not be run to an end: why. */
void record_fail(struct record *k, const char *why);
void record_free(struct record *k); /* NULL is fine */

/*
 * For --budget: messages that ended, of very many a sample.  Set before the
 * run is opened, and given to record_new() by record_keep().
 */
struct record_messages;
struct record_messages *record_messages_new(struct book_how *how);
void record_messages_free(struct record_messages *m);
void record_keep(struct record *k, struct record_messages *m);

#endif
