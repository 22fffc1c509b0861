/*
 * What a run has read: files, each with a hash of what was in it, so that one
 * can tell later which of them is not what it was.
 */
#ifndef RECORD_INPUTS_H
#define RECORD_INPUTS_H

#include "machine/run.h"
#include "record/db.h"

enum { INPUT_HASH = 17 };

struct record_input {
	char *kind; /* "machine file", "plugin", "matrix" */
	char *path;
	char hash[INPUT_HASH];
};

struct record_inputs {
	struct record_input *of;
	size_t n;
};

/* Of a regular file, as text; "" where it is none or cannot be read. */
void record_hash_file(const char *path, char hash[INPUT_HASH]);

/* Adds a file, once; NULL and what is no regular file are passed over. */
void record_inputs_add(
	struct record_inputs *in, const char *kind, const char *path);
/* Its file with those that it is based on, and its plugins. */
void record_inputs_machine(struct record_inputs *in, const struct machine *m);
/* All of a run that is open. */
void record_inputs_run(struct record_inputs *in, const struct machine_run *r);
void record_inputs_free(struct record_inputs *in);

int record_inputs_write(
	const struct record_inputs *in, struct db *d, struct err *e);

#endif
