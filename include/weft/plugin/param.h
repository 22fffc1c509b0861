/*
 * Parameters as tables.  A row describes a parameter completely: its name in a
 * file, type, unit, default, range, meaning and source.  The reader of machine
 * files, --set, the keys of workloads and `weft params` all use these rows, so
 * they always agree.
 *
 * A table describes one struct of values.  Every scalar field is an int64_t, a
 * text is char[PARAM_TEXT_MAX], a list is a struct param_list, and lines are a
 * struct param_lines.
 */
#ifndef WEFT_PLUGIN_PARAM_H
#define WEFT_PLUGIN_PARAM_H

#include <stddef.h>
#include <stdint.h>

enum { PARAM_LIST_MAX = 8, PARAM_TEXT_MAX = 128 };

/* As min, lets a row accept any text; a text that is neither a number nor one
 * of the words changes nothing. */
#define PARAM_LOOSE INT64_MIN

enum param_type {
	PARAM_COUNT, /* a whole number: "8" */
	PARAM_TIME, /* picoseconds: "41.4 ns", "1 us", "250 ps" */
	PARAM_RATE, /* bytes per second: "2 GB/s" (10^9), "175 MB/s" */
	PARAM_BYTES, /* "512", "512 B", "4 KB" (10^3), "4 KiB" (2^10) */
	PARAM_FRACTION, /* parts per million: "0.25", "25 %", "1" */
	PARAM_LOAD, /* UNIT_LOAD: "25 %", "5 GB/s"; the range applies to
		       fractions */
	PARAM_FLAG, /* "yes" or "no", "on" or "off", "true" or "false" */
	PARAM_WORD, /* one of words; the value is its index */
	PARAM_TEXT, /* anything that fits */
	PARAM_COUNTS, /* whole numbers: [4, 4, 4, 4, 2] or 4x4x4x4x2 */
	PARAM_WORDS, /* a list of words; the values are their indices */
	PARAM_LINES, /* lines that their owner reads, or "none" */
	PARAM_CLOCK, /* hertz: "1.6 GHz", "500 MHz" */
	PARAM_PATH, /* a file, or "none"; in a machine file its path is relative
		       to the directory of that file.  A char[PARAM_TEXT_MAX] */
};

struct param_list {
	int64_t n;
	int64_t v[PARAM_LIST_MAX];
};

/* The value of PARAM_LINES; its owner calls param_lines_free(). */
struct param_line {
	char *text;
	char *place; /* position of the line: "file:3:5", or "" */
};

struct param_lines {
	struct param_line *v;
	size_t n;
};

struct param {
	const char *name; /* kebab-case; "latency.board" below its section */
	enum param_type type;
	size_t offset; /* of the field in the struct of values */
	const char *def; /* as written in a file */
	int64_t min, max; /* inclusive; for each element of a list */
	/*
	 * Separated by '|'.  For PARAM_WORD and PARAM_WORDS: the legal words.
	 * For a number: words that may replace it, with the values -1, -2, ...
	 * in this order ("max", "auto").
	 */
	const char *words;
	const char *help;
	const char *source; /* of the default: an id of a paper, "assumed: why",
			       "calibrated: on what", or NULL for a choice */
};

/* A row for a number. */
#define PARAM_ROW(type_, name_, offset_, def_, min_, max_, help_, source_)     \
	{                                                                      \
		.name = name_, .type = type_, .offset = offset_, .def = def_,  \
		.min = min_, .max = max_, .help = help_, .source = source_     \
	}
/* A row for a word. */
#define PARAM_ONE_OF(name_, offset_, def_, words_, help_, source_)             \
	{                                                                      \
		.name = name_, .type = PARAM_WORD, .offset = offset_,          \
		.def = def_, .words = words_, .help = help_, .source = source_ \
	}

#endif
