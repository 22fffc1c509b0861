/*
 * Feeds the reader of claims with anything: it reads, or says why not in one
 * line.
 *
 *	fuzz_claims [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_claims"

#include "paper/claims.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;
	struct claims c;
	struct err e = { 0 };

	file_open(&f, data, size);
	if (claims_read(&c, f.path, &e))
		check_refusal(&e);
	else
		check(c.n && claims_count(&c, CLAIM_COVERED) <= c.n,
			"nothing is claimed");
	claims_free(&c);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"schema: 1\nsystem: bgq\ntitle: a b\nfeatures:\n"
	"  - id: BGQ-F1\n    what: a\n    status: covered\n"
	"    tests: [a/b:c, tests/d.sh]\n"
	"    mutant: { file: src/a.c, find: b, put: c }\n"
	"  - id: BGQ-F2\n    what: b\n    status: missing\n",
	"schema: 1\nsystem: s\ntitle: t\nfeatures:\n"
	"  - { id: X, what: y, status: covered, tests: [a],\n"
	"      mutant: [{ file: a, find: \"b\\n\\tc\", put: \"\" }] }\n",
	"schema: 1\nsystem: s\ntitle: t\nfeatures:\n"
	"  - { id: X, what: y, status: in part, lacks: z, tests: [a],\n"
	"      mutants: [{ part: p, file: a, find: b, put: c },\n"
	"        { part: q, edits: [{ file: a, find: b, put: c }] }] }\n",
};

static const char *const pieces[] = { "[", "]", "{", "}", ": ", "- ", ", ",
	"\n", "\n  ", "\n---\n", "&a ", "*a", "!!str ", "|\n ", "'", "\"",
	"\\e[1m", "\\0", "#", "<<: ", "id: X", "what: y", "status: covered",
	"status: missing", "status: in part", "lacks: z", "tests: [a]",
	"mutant: ", "mutants: ", "part: p", "edits: ", "file: /a",
	"find: ", "put: ", "features:", "schema: 1\n", "\xff", "\xc2\x9b" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
