/*
 * Facts: what a run found, as one tree of named, typed values.
 *
 * Those who know something add it, in the order in which it is to be shown;
 * out/facts_text.h and out/facts_json.h write it, run files keep it, and facts
 * of several processes merge by the rules that stand with them.  No producer
 * writes text or JSON, and no reader knows a producer.
 *
 * A unit is the end of a key (facts/figure.h).  What only lines show has a key
 * that begins with _.
 *
 * What people read are lines and tables.  A line is a label and a form that
 * names values of its group, as in "{lost} packet{lost|s} on {link.name:-8}".
 * Behind a colon stand flags, width and precision as in printf() and, of a
 * number, f, g, or u for four digits and the unit that fits, "414.6 us", or v
 * for the last u's unit without showing it; a key may be scaled: {use*100:.1f},
 * {since_ns/1000:.3f}; {} is the group itself, such as a text in a list; texts
 * of a list have commas between them.  "|s"
 * is an s unless the value is one.  A part in brackets is left out where a
 * value that it names is missing or null; "[n? of {n}]" is, where n is 0, too.
 * A line of which nothing is left is left out.  The label "{key}" is the key in
 * words.
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
	FACT_HIST, /* of times; its children are what JSON shows of it */
	FACT_LINE,
	FACT_TABLE,
};

/* What becomes of two values of one key. */
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
			char *form;
			bool is_plain; /* and no form */
			char *list; /* a line for each of its values; or NULL */
			uint32_t most; /* of these; 0: all */
		} line;
		struct {
			char *columns;
			char *list; /* its key in the same group */
			uint32_t most; /* rows; 0: all */
		} table;
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

/* Opens a group or a list inside of the open one, and closes it.  Keys are
 * copied; they are NULL in lists. */
struct fact *facts_group(struct facts *f, const char *key);
struct fact *facts_list(struct facts *f, const char *key);
void facts_end(struct facts *f);

/* Add a value to the open group or list.  Counts add up where facts merge,
 * others stay as the first one is; the result's merge may be set. */
struct fact *facts_null(struct facts *f, const char *key);
struct fact *facts_flag(struct facts *f, const char *key, bool value);
struct fact *facts_count(struct facts *f, const char *key, uint64_t value);
/* One that all processes find alike. */
struct fact *facts_same(struct facts *f, const char *key, uint64_t value);
struct fact *facts_int(struct facts *f, const char *key, int64_t value);
/* One that is not finite is null. */
struct fact *facts_real(struct facts *f, const char *key, double value);
/* Null where it is not known. */
struct fact *facts_real_if(
	struct facts *f, const char *key, bool is_known, double value);
/* NULL is null. */
struct fact *facts_text(struct facts *f, const char *key, const char *value);
struct fact *facts_print(struct facts *f, const char *key, const char *format,
	...) __attribute__((format(printf, 3, 4)));
/* Times in ps; mean, p50, p99, max in ns and the number of values, called
 * unit.  Of none it is null. */
struct fact *facts_hist(struct facts *f, const char *key, const struct hist *h,
	const char *unit);

/* A line of the open group.  Labels are in a column of their own; NULL: it has
 * no label. */
void facts_line(struct facts *f, const char *label, const char *form);
/* A line of text that is no form. */
void facts_say(struct facts *f, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A line for each of the first values of a list of the open group, of which the
 * first one has the label; 0: of all. */
void facts_each(struct facts *f, const char *list, uint32_t most,
	const char *label, const char *form);
/* A real with a line of its own. */
struct fact *facts_figure(struct facts *f, const char *key, double value);
/*
 * A list of the open group as a table, its first rows; 0: all.  Columns are
 * like "wire=class|>latency={latency_ns:.10g} ns|where": what stands above, and
 * a key or a form if it is not the same; flush right behind a >.  A cell of
 * which nothing is left is "-".
 */
void facts_table(
	struct facts *f, const char *list, const char *columns, uint32_t most);
/* Lines are shown by their places and, of one place, in the tree's order. */
void facts_place(struct facts *f, int place);

/* The value of a path, "latency_ns.mean", in a group; or NULL. */
const struct fact *facts_find(const struct fact *group, const char *path);
/* The value of one key, which may have points in it; or NULL. */
const struct fact *fact_of(const struct fact *group, const char *key);
/* A text that is there. */
const char *fact_text(const struct fact *group, const char *path);
/* A number's value; false of anything else. */
bool fact_number(const struct fact *x, double *value);
/* The number of values of a group or list. */
uint32_t fact_length(const struct fact *x);

/* Adds those of another process, whose facts have the same shape but for what
 * only one of them has. */
void facts_merge(struct facts *to, const struct facts *from);

#endif
