/* Reading and writing parameters; weft/plugin/param.h defines their tables. */
#ifndef BASE_PARAM_H
#define BASE_PARAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "base/err.h"
#include "weft/plugin/param.h"

/* The parameter rows of an operations table, and their number. */
#define PARAMS(rows_)                                                          \
	.params = rows_, .n_params = sizeof(rows_) / sizeof((rows_)[0])

/* The origin of a value; one per row, kept next to the values. */
struct param_origin {
	bool set; /* by a file or a command, not by default */
	bool is_based; /* by a file that the machine's own is based on */
	char source[PARAM_TEXT_MAX]; /* "" where none was named */
	char place[PARAM_TEXT_MAX]; /* "machines/bgq.yaml:12:9", "--set"; not
				     * set: what it follows, or "" */
};

/* One section of a machine file, or the keys of one workload. */
struct param_block {
	const char *section; /* "link"; "" for keys without a section */
	const struct param *rows;
	size_t n_rows;
	void *values;
	struct param_origin *origins; /* n_rows of them, or NULL */
	/* "topology.torus": the values mean something only of that kind;
	 * "topology": they begin anew with another kind; NULL: neither. */
	const char *of;
};

/*
 * A parameter that follows a clock if a machine does not set it: a number of
 * thousandths of the clock's cycle or, for a rate, of a byte per cycle.
 */
struct param_follow {
	const char *section, *name;
	const char *clock_section, *clock; /* the parameter that it follows */
	int64_t millis;
	const char *source; /* NULL: that of the parameter's default */
};

/* The rows of a table that ends with one without a name. */
size_t param_count(const struct param *rows);

/* Sets every row's default.  A default that its own row refuses is a BUG. */
void param_defaults(const struct param_block *b);

/*
 * A section is about to change its kind: resets the parameters of the old kind
 * to their defaults, and also the kinds that follow it, with their parameters.
 * Does nothing if the row is not a kind, or the kind stays the same.
 */
void param_change_kind(const struct param_block *blocks, size_t n,
	const char *section, const char *kind);

/*
 * Reads text into one row's field.  The error is one line that names the
 * row, what was found, and what would be right; it has no file or line,
 * which the caller knows.
 */
int param_read(const struct param_block *b, const struct param *row,
	const char *text, struct err *e);

/* The lines of a row of type PARAM_LINES; adds a copy of a line; frees all. */
struct param_lines *param_lines(
	const struct param_block *b, const struct param *row);
void param_lines_add(
	struct param_lines *l, const char *text, const char *place);
void param_lines_free(struct param_lines *l);
/* Adds the lines of a text, separated by semicolons; "none" has none.  Returns
 * 0. */
int param_lines_read(struct param_lines *l, const char *text);

/* The row called name (below its section), or NULL. */
const struct param *param_find(const struct param_block *b, const char *name);

/*
 * Finds "section.name" among blocks.  On failure the error names the nearest
 * valid name, which takes long to find: e is NULL where nobody asks.  what
 * says what kind of name it is ("parameter", "key").
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
