/*
 * Parameters as tables.  One row says all that is known of a parameter: its
 * name in a file, its type and unit, its default, its range, what it means
 * and where its value comes from.  The reader of machine files, --set, the
 * keys of a workload and `weft params` all work from these rows, so none of
 * them can disagree.
 *
 * A table describes one struct of values; every scalar field of it is an
 * int64_t, a text is char[PARAM_TEXT_MAX], a list is a struct param_list, and
 * lines are a struct param_lines.
 */
#ifndef BASE_PARAM_H
#define BASE_PARAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "base/err.h"

enum { PARAM_LIST_MAX = 8, PARAM_TEXT_MAX = 128 };

/* The least value of a row that takes any text, which changes nothing where it
 * is no number or none of the row's words. */
#define PARAM_LOOSE INT64_MIN

enum param_type {
	PARAM_COUNT, /* a whole number: "8" */
	PARAM_TIME, /* picoseconds: "41.4 ns", "1 us", "250 ps" */
	PARAM_RATE, /* bytes per second: "2 GB/s" (10^9), "175 MB/s" */
	PARAM_BYTES, /* "512", "512 B", "4 KB" (10^3), "4 KiB" (2^10) */
	PARAM_FRACTION, /* parts per million: "0.25", "25 %", "1" */
	PARAM_LOAD, /* UNIT_LOAD: "25 %", "5 GB/s"; the range is a fraction's */
	PARAM_FLAG, /* "yes" or "no", "on" or "off", "true" or "false" */
	PARAM_WORD, /* one of words; the value is its index */
	PARAM_TEXT, /* anything that fits */
	PARAM_COUNTS, /* whole numbers: [4, 4, 4, 4, 2] or 4x4x4x4x2 */
	PARAM_WORDS, /* a list of words; the values are their indices */
	PARAM_LINES, /* any number of lines, which their owner reads, or "none"
		      */
};

struct param_list {
	int64_t n;
	int64_t v[PARAM_LIST_MAX];
};

/* The value of PARAM_LINES; its owner calls param_lines_free(). */
struct param_line {
	char *text;
	char *place; /* where it stands: "file:3:5", or "" */
};

struct param_lines {
	struct param_line *v;
	size_t n;
};

struct param {
	const char *name; /* kebab-case; "latency.board" below its section */
	enum param_type type;
	size_t offset; /* of the field in the struct of values */
	const char *def; /* as it would be written in a file */
	int64_t min, max; /* both allowed; of each element of a list */
	/*
	 * Separated by '|'.  For PARAM_WORD and PARAM_WORDS the words that are
	 * legal; for a number, words that may stand in its place, which read
	 * as -1, -2, ... in this order ("max", "auto").
	 */
	const char *words;
	const char *help;
	const char *source; /* of the default: a datasheet id, "assumed: why",
			     * "calibrated: on what", or NULL for a choice */
};

/* A row of a number. */
#define PARAM_ROW(type_, name_, offset_, def_, min_, max_, help_, source_)     \
	{                                                                      \
		.name = name_, .type = type_, .offset = offset_, .def = def_,  \
		.min = min_, .max = max_, .help = help_, .source = source_     \
	}
/* And one of a word. */
#define PARAM_ONE_OF(name_, offset_, def_, words_, help_, source_)             \
	{                                                                      \
		.name = name_, .type = PARAM_WORD, .offset = offset_,          \
		.def = def_, .words = words_, .help = help_, .source = source_ \
	}

/* Where a value came from; one per row, kept beside the values. */
struct param_origin {
	bool set; /* by a file or a command, not by default */
	char source[PARAM_TEXT_MAX]; /* "" where none was named */
	char place[PARAM_TEXT_MAX]; /* "machines/bgq.yaml:12:9", "--set" */
};

/* One section of a machine file, or the keys of one workload. */
struct param_block {
	const char *section; /* "link"; "" for keys without a section */
	const struct param *rows;
	size_t n_rows;
	void *values;
	struct param_origin *origins; /* n_rows of them, or NULL */
};

/* Sets every row's default.  A default that its own row refuses is a BUG. */
void param_defaults(const struct param_block *b);

/*
 * Reads text into one row's field.  The error is one line that names the
 * row, what was found, and what would be right; it has no file or line,
 * which the caller knows.
 */
int param_read(const struct param_block *b, const struct param *row,
	const char *text, struct err *e);

/* The lines of a row of that type; adds one, copied; forgets all. */
struct param_lines *param_lines(
	const struct param_block *b, const struct param *row);
void param_lines_add(
	struct param_lines *l, const char *text, const char *place);
void param_lines_free(struct param_lines *l);
/* Those of a text, with semicolons between them; "none" has none.  Returns 0.
 */
int param_lines_read(struct param_lines *l, const char *text);

/* The row called name (below its section), or NULL. */
const struct param *param_find(const struct param_block *b, const char *name);

/*
 * Finds "section.name" among blocks.  On failure the error names the nearest
 * valid name.  what says what kind of name it is ("parameter", "key").
 */
int param_resolve(const struct param_block *blocks, size_t n, const char *path,
	const char *what, const struct param_block **block,
	const struct param **row, struct err *e);

/* Reads one "path=value", for --set and for the keys of a workload. */
int param_assign(const struct param_block *blocks, size_t n,
	const char *assignment, const char *what, const char *place,
	struct err *e);

/* The value as text with its unit, the shortest that reads back exactly. */
void param_format(const struct param_block *b, const struct param *row,
	char *text, size_t size);

/* For help: "time", "0 ps to 1 ms", "yes|no", ... */
const char *param_type_name(enum param_type type);
void param_range(const struct param *row, char *text, size_t size);

#endif
