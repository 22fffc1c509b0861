/* Reads a run file: the settings of the run, and its results. */
#ifndef RECORD_READ_H
#define RECORD_READ_H

#include "machine/run.h"
#include "record/db.h"

/* A value of the table meta, kept until the file is closed; "" if it has
 * none. */
char *record_meta(struct db *d, const char *key, struct err *e);

/* Writes one; NULL is "". */
void record_put_text(
	struct db *d, const char *key, const char *value, struct err *e);
/* The text of a file; "" if it cannot be read. */
void record_put_file(
	struct db *d, const char *key, const char *path, struct err *e);

/* Whether a file is one of a sweep: 1, 0, or -1 with the error. */
int record_is_sweep(struct db *d, struct err *e);
/* Opens the file of one run. */
struct db *record_open(const char *path, struct err *e);

/* The readable name of a cause of the tables cause and spent. */
const char *record_cause(const char *key);

/* The settings of a run; texts stay until the file is closed. */
struct record_setup {
	struct machine_run_setup setup;
	char **sets, **keys; /* of setup */
	/* Its plugins.  They are not in setup: the author of a run file must
	 * not choose which code is loaded. */
	char **plugins;
	size_t n_plugins;
	/* The program of the host that it started, with its arguments, for the
	 * same reason; and the environment that mattered. */
	char **command, **environment;
	size_t n_command, n_environment;
};

int record_setup_read(struct record_setup *s, struct db *d, struct err *e);
void record_setup_free(struct record_setup *s);

/* A hash of all parameters with their values. */
uint64_t record_hash(const struct machine_run *r);

#endif
