/*
 * The input files of a run, each with a hash of its content, which shows later
 * whether the file has changed.
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

/* The hash of a regular file, as text; "" if it cannot be read. */
void record_hash_file(const char *path, char hash[INPUT_HASH]);

/* Adds a file, once; ignores NULL and anything but regular files. */
void record_inputs_add(
	struct record_inputs *in, const char *kind, const char *path);
/* Adds a machine's file, the files that it is based on, and its plugins. */
void record_inputs_machine(struct record_inputs *in, const struct machine *m);
/* Adds a program that a command names, which starts in a folder or, if that is
 * NULL, here. */
void record_inputs_program(
	struct record_inputs *in, const char *folder, const char *program);
/* Adds all files of an open run. */
void record_inputs_run(struct record_inputs *in, const struct machine_run *r);
void record_inputs_free(struct record_inputs *in);

int record_inputs_write(
	const struct record_inputs *in, struct db *d, struct err *e);

#endif
