/*
 * What a paper says of a machine, feature by feature, and the tests that show
 * it in the model: claims/SYSTEM.yaml.
 *
 *	schema: 1
 *	system: bgq
 *	title: one line for humans
 *	features:
 *	  - id: BGQ-F26
 *	    what: one line
 *	    status: covered            # or missing
 *	    tests: [router/paths:bgq_f26_head_leaves_before_tail, tests/put.sh]
 *
 * A test is a unit test program and a function of it, or a file.
 */
#ifndef PAPER_CLAIMS_H
#define PAPER_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct claim {
	char *id, *what;
	bool is_covered;
	char **tests;
	size_t n_tests;
};

struct claims {
	char *system, *title;
	struct claim *v; /* as they stand in the file */
	size_t n;
};

/*
 * Reads a file.  A key that is unknown or missing, an id that is there twice,
 * and a covered feature without a test are errors: "path:line: message".  On
 * an error, too, claims_free() is the caller's to call.
 */
int claims_read(struct claims *c, const char *path, struct err *e);
void claims_free(struct claims *c);

size_t claims_covered(const struct claims *c);

#endif
