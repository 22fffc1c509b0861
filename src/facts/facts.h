/*
 * Facts: the results of a run as one tree of named, typed values.
 *
 * Producers add values in the order of JSON, and lines and tables for people
 * beside them.  out/facts_text.h and out/facts_json.h write the tree, run files
 * keep it, and facts of several processes merge by the rules of each value.  No
 * producer writes text or JSON, and no reader knows a producer.
 *
 * The end of a key is its unit (facts/figure.h).  A key that begins with _ is
 * for lines and tables only: JSON does not show it.
 *
 * A line is a label and a form, a text with blanks for values of its group:
 *
 *   {lost}               the value
 *   {link.name:-8}       a value of a group inside, with flags, width and
 *                        precision of printf()
 *   {time_ms:.3f}        a number, by f or g of printf()
 *   {time_ns:u}          with four digits and the unit that fits: 414.6 us
 *   {p99:v}              the same in the unit of the last u, without the unit
 *   {use*100} {t_ns/1e3} a number, multiplied or divided
 *   packet{lost|s}       an s, or another ending, unless the value is 1
 *   {}                   the value itself, in a line for each text of a list
 *   {names}              the texts of a list, with commas between them
 *   [ of {offered}]      left out if a value that it names is missing or null
 *   [n?, {n} of them]    the same, and if n is 0
 *
 * A line is left out if its form begins with a bracket and nothing is left of
 * it.  The label "{key}" is the key in words: "latency mean".
 */
#ifndef FACTS_FACTS_H
#define FACTS_FACTS_H

#include <stdbool.h>
#include <stdint.h>

struct hist;

enum fact_type {
	FACT_GROUP, /* values with keys, all different */
	FACT_LIST, /* values without */
	FACT_NULL,
	FACT_FLAG,
	FACT_COUNT,
	FACT_INT,
	FACT_REAL,
	FACT_TEXT,
	FACT_HIST, /* of times; JSON shows its children */
	FACT_LINE,
	FACT_TABLE,
};

/* How two values of one key become one. */
enum fact_merge {
	FACT_FIRST, /* the first one's stays */
	FACT_SUM,
	FACT_MAX,
	FACT_MIN,
	FACT_ROWS, /* of lists: one after the other */
};

struct fact {
	char *key; /* NULL in lists, and of lines */
	enum fact_type type;
	enum fact_merge merge;
	bool is_hidden; /* only lines show it */
	int place; /* of a line or table */
	union {
		bool flag;
		uint64_t count;
		int64_t integer;
		double real;
		char *text;
		struct hist *hist; /* its own */
		struct {
			char *label; /* or NULL */
			char *form; /* or the columns of a table */
			bool is_plain; /* printed as it is */
			bool is_wrapped; /* at 80 columns, behind the label */
			/* A line or row for each value of this list of the
			 * group; or NULL. */
			char *list;
			uint32_t most; /* of these; 0: all */
		} line; /* or table */
	} is;
	struct fact *parent, *next, *first, *last;
};

struct facts {
	struct fact root; /* a group */
	struct fact *at; /* the group or list that is open */
	int place; /* of lines from now on */
};

void facts_init(struct facts *f);
void facts_fini(struct facts *f);

/* Open a group or a list inside the open one, and close it.  Keys are copied,
 * and NULL in lists. */
struct fact *facts_group(struct facts *f, const char *key);
struct fact *facts_list(struct facts *f, const char *key);
void facts_end(struct facts *f);

/* Add a value to the open group or list.  Counts are summed when facts merge,
 * of other values the first one stays; the caller may set the result's merge.
 */
struct fact *facts_null(struct facts *f, const char *key);
struct fact *facts_flag(struct facts *f, const char *key, bool value);
struct fact *facts_count(struct facts *f, const char *key, uint64_t value);
/* A count that is the same in all processes. */
struct fact *facts_same(struct facts *f, const char *key, uint64_t value);
struct fact *facts_int(struct facts *f, const char *key, int64_t value);
/* Null if it is not finite. */
struct fact *facts_real(struct facts *f, const char *key, double value);
/* Null if it is not known. */
struct fact *facts_real_if(
	struct facts *f, const char *key, bool is_known, double value);
/* NULL becomes null. */
struct fact *facts_text(struct facts *f, const char *key, const char *value);
struct fact *facts_print(struct facts *f, const char *key, const char *format,
	...) __attribute__((format(printf, 3, 4)));
/* A histogram of times in ps: mean, p50, p99 and max in ns, and the number of
 * values, whose key is unit.  Null if it is empty. */
struct fact *facts_hist(struct facts *f, const char *key, const struct hist *h,
	const char *unit);

/* A line of the open group.  Labels have a column of their own; a line with the
 * label NULL begins at its left edge. */
void facts_line(struct facts *f, const char *label, const char *form);
/* The same; one that is too long goes on below, behind the label's column. */
void facts_long_line(struct facts *f, const char *label, const char *form);
/* A line without blanks, printed as it is. */
void facts_say(struct facts *f, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A line for each of the first values of a list of the open group, 0: for each
 * value.  The first line has the label. */
void facts_each(struct facts *f, const char *list, uint32_t most,
	const char *label, const char *form);
/* A real, and a line with its title and unit. */
struct fact *facts_figure(struct facts *f, const char *key, double value);
/*
 * The first rows of a list of the open group as a table, 0: all rows.  Columns
 * are like "wire=class|>latency={latency_ns:.10g} ns|where": a head, then a key
 * or a form, unless the key is the head; a > sets the column flush right.  A
 * cell whose form is left out shows "-".
 */
void facts_table(
	struct facts *f, const char *list, const char *columns, uint32_t most);
/* Sets the place of the lines and tables that follow.  Text shows them by
 * place, and those of one place in the order of the tree. */
void facts_place(struct facts *f, int place);

/* The value of a path, "latency_ns.mean", in a group; or NULL. */
const struct fact *facts_find(const struct fact *group, const char *path);
/* The value of one key, which may contain points; or NULL. */
const struct fact *fact_of(const struct fact *group, const char *key);
/* A text that must be there. */
const char *fact_text(const struct fact *group, const char *path);
/* The value of a number; false if it is none. */
bool fact_number(const struct fact *x, double *value);
/* The number of values of a group or list. */
uint32_t fact_length(const struct fact *x);

/* Adds the facts of another process.  Where both have a key, it must be of the
 * same type. */
void facts_merge(struct facts *to, const struct facts *from);

#endif
