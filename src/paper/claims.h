/*
 * The features of a machine that its paper describes, and the tests that show
 * them in the model: claims/SYSTEM.yaml.
 *
 *	schema: 1
 *	system: bgq
 *	title: one line for humans
 *	features:
 *	  - id: BGQ-F26
 *	    what: one line
 *	    status: covered            # or in part, or missing
 *	    lacks: what is missing     # if the feature is covered in part
 *	    tests: [router/paths:bgq_f26_head_leaves_before_tail, tests/put.sh]
 *	    mutant: # or a list of such edits, all made together
 *	      file: src/router/direct/grant.h
 *	      find: a text that is in the file once
 *	      put: what stands there instead; the feature is gone
 *
 * A test is a unit test program and a function of it, or a file.  Instead of
 * "mutant" a feature of several parts has "mutants", a list with one for each
 * part, which "part" describes: an edit as above, or a list of "edits".
 */
#ifndef PAPER_CLAIMS_H
#define PAPER_CLAIMS_H

#include "machine/tree.h"

/* A part of a mutant: one change of one file. */
struct claim_edit {
	const char *file, *find, *put;
};

/* A change that takes a feature, or a part of it, away. */
struct claim_mutant {
	const char *part; /* NULL: all of it */
	struct claim_edit *edit;
	size_t n_edits;
};

enum claim_status {
	CLAIM_NONE, /* not said */
	CLAIM_MISSING,
	CLAIM_IN_PART,
	CLAIM_COVERED,
};

struct claim {
	const char *id, *what;
	const char *lacks; /* of one that is there in part */
	enum claim_status status;
	const char **tests;
	size_t n_tests;
	struct claim_mutant *mutant;
	size_t n_mutants;
};

/* Texts are those of the tree. */
struct claims {
	struct tree tree;
	const char *title;
	struct claim *v; /* as they stand in the file */
	size_t n;
};

/*
 * Reads a file.  Unknown and missing keys, duplicate ids, and features that are
 * covered, at least in part, without a test or a mutant are errors:
 * "path:line:column: ...".  The caller calls claims_free(), also after an
 * error.
 */
int claims_read(struct claims *c, const char *path, struct err *e);
void claims_free(struct claims *c);

size_t claims_count(const struct claims *c, enum claim_status status);

#endif
