/*
 * What a program's file says of how it would do as a rank.  Nothing is started:
 * the file is read, and the libraries that the loader would take.
 */
#ifndef OUTSIDE_INSPECT_H
#define OUTSIDE_INSPECT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	INSPECT_NAME = 128,
	INSPECT_TEXT = 400,
	INSPECT_MOST = 16, /* findings, and missing libraries */
};

enum inspect_kind {
	INSPECT_DYNAMIC,
	INSPECT_STATIC,
	INSPECT_SCRIPT,
	INSPECT_OTHER, /* not of this host */
};

enum inspect_mpi {
	INSPECT_NO_MPI,
	INSPECT_OPENMPI,
	INSPECT_MPICH, /* and what is built like it */
	INSPECT_UNKNOWN_MPI,
};

/* How bad it is that something is so. */
enum inspect_weight {
	INSPECT_NOTE,
	INSPECT_DOUBT, /* it would hardly work, but nobody knows */
	INSPECT_WRONG, /* it would not work */
	INSPECT_BAD, /* there is no such program */
};

struct inspect {
	char path[PATH_MAX]; /* where it was found */
	enum inspect_kind kind;
	char interpreter[INSPECT_NAME]; /* of a script */
	enum inspect_mpi mpi;
	char library[INSPECT_NAME]; /* of MPI, or empty */
	char library_path[PATH_MAX];
	bool calls_fabric; /* libfabric itself */
	bool may_load; /* libraries, while it runs */
	uint64_t clocks; /* instructions that read the processor's clock */
	char missing[INSPECT_MOST][INSPECT_NAME]; /* libraries */
	uint32_t n_missing;
	struct inspect_finding {
		enum inspect_weight weight;
		char text[INSPECT_TEXT];
	} finding[INSPECT_MOST];
	uint32_t n_findings;
};

/* Where and how it would be started. */
struct inspect_how {
	const char *folder; /* NULL: here */
	const char *const *variables; /* NAME=VALUE, then NULL; or NULL */
	const char *stack; /* "openmpi", "pmi" or "none" */
	bool counts_clocks; /* reads all of its text */
};

void inspect(
	struct inspect *x, const char *program, const struct inspect_how *how);
/* Where a program would be found; false if it would not. */
bool inspect_find(const char *program, const struct inspect_how *how,
	char path[PATH_MAX]);
/* The worst of its findings; NULL if it has only notes. */
const struct inspect_finding *inspect_worst(const struct inspect *x);

#endif
