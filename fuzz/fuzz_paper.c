/*
 * Feeds the reader of papers with anything: it reads, or says why not in one
 * line.
 *
 *	fuzz_paper [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_paper"

#include "paper/paper.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All that a command asks of a row before it runs anything. */
static void look_at(const struct paper_system *s, const struct paper_row *row)
{
	char text[PAPER_COMMAND_MAX];

	paper_command(s, row, text, sizeof(text));
	paper_value(row, text, sizeof(text));
	paper_tolerance(row, text, sizeof(text));
	paper_pace(s, row);
	check(row->id && row->what && row->unit && row->model.n,
		"a row is not whole");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct paper_system *s;
	struct fuzz_file f;
	struct err e = { 0 };
	size_t i;

	file_open(&f, data, size);
	s = paper_read(f.path, &e);
	if (!s)
		check_refusal(&e);
	for (i = 0; s && i < s->n_rows; i++)
		look_at(s, &s->rows[i]);
	paper_free(s);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

#define HEAD                                                                   \
	"schema: 1\npaper: x\ntitle: t\ncitation: c\nprefix: X-\n"             \
	"experiments:\n  a: weft run torus random --set 'b=c d'\n"

static const char *const seeds[] = {
	HEAD "rows:\n  - { id: X-N1, what: w, unit: ns, near: 1 within 2 %,\n"
	     "      kind: predicted, of: a.b, times: 100/36 }\n",
	HEAD "slow: { b: weft show torus --shape 4x4 }\nnotes: { n: text }\n"
	     "rows:\n  - { id: X-N1, what: w, unit: ns, more-than: 1,\n"
	     "      kind: arithmetic, of: a.b, over: b.c, note: n }\n"
	     "  - { id: X-N2, what: w, unit: ns, kind: qualitative, of: a.b,\n"
	     "      less: b.d, repeats: X-N1 }\nmissing: { 3-4: more }\n",
};

static const char *const pieces[] = { "[", "]", "{", "}", ": ", "- ", ", ",
	"\n", "\n  ", "\n---\n", "&a ", "*a", "!!str ", "|\n ", "'", "\"",
	"\\e[1m", "\\0", "#", "id: X-N1", "what: y", "near: 1 within 2 points",
	"at-least: 3 within 1 %", "more-than: 1", "kind: ", "of: a.b",
	"over: a.c", "less: ", "times: 1/0", "repeats: X-N1",
	"note: ", "experiments: ", "slow: ", "weft run ", "--set ", "--shape ",
	"rows:", "missing: ", "5-4: z", "schema: 1\n", "\xff", "\xc2\x9b" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
