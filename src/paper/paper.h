/*
 * Published numbers, measured again.  A row names a number of a paper, how
 * far from it the model may be, and the experiments that measure it; an
 * experiment is a command that a user could type.  A row's value is computed
 * from the figures of its experiments and from nothing else.
 *
 * A system is one file, papers/SYSTEM.yaml:
 *
 *	schema: 1
 *	paper: bgq
 *	title: one line for humans
 *	prefix: BGQ-
 *	citation: authors, title, venue, year
 *	experiments:
 *	  ping: weft run bgq-midplane pingpong via=nic to=1 bytes=8
 *	slow: # the same, which --quick skips
 *	long: # the same, only with --long: more than 30 s on one core
 *	notes: # of several rows, by names
 *	rows:
 *	  - id: BGQ-N90a
 *	    what: put at distance 1, hardware
 *	    unit: ns
 *	    near: 622 within 2 %       # or 66 within 4 points; or at-least,
 *	                               # at-most; or more-than: 1, an order
 *	    kind: calibrated           # see enum paper_kind
 *	    of: ping.hardware_ns       # a figure, or a formula (formula.h);
 *	                               # over: or less: a second one
 *	    times: 100/36              # times their ratio or difference
 *	    repeats: BGQ-N80a          # a row that it follows from
 *	    note: a text, or the name of a note
 *	missing: # numbers that nothing measures yet
 *	  54-55: what they wait for
 */
#ifndef PAPER_PAPER_H
#define PAPER_PAPER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "machine/machine.h"
#include "paper/formula.h"

enum { PAPER_MAX_WORDS = 8, PAPER_COMMAND_MAX = 4096, PAPER_ID_MAX = 16 };

/* Classes of commands by CPU time on an ordinary computer. */
enum paper_pace {
	PAPER_QUICK,
	PAPER_SLOW, /* seconds: not with --quick */
	PAPER_LONG, /* more than 30 s: only with --long */
};

/*
 * `weft run MACHINE WORKLOAD KEYS`, or, without a workload, what `weft show
 * MACHINE` knows.  Lists end with a NULL or with the array.
 */
struct paper_experiment {
	const char *name; /* in its file */
	const char *command; /* the whole of it */
	const char *machine;
	const char *shape; /* or NULL */
	const char *sets[PAPER_MAX_WORDS];
	/* A plan of faults, or NULL; where the file has such a path from the
	 * folder above the papers on, that one. */
	const char *faults;
	const char *workload; /* or NULL */
	const char *keys[PAPER_MAX_WORDS];
	enum paper_pace pace;
};

enum paper_kind {
	PAPER_PREDICTED, /* no parameter was fitted to it */
	PAPER_CALIBRATED, /* one was */
	PAPER_ARITHMETIC, /* follows from the machine's parameters alone */
	PAPER_FUNCTIONAL, /* the paper's value, or else Weft has a bug */
	PAPER_QUALITATIVE, /* the paper has words and no number: only shown */
	N_PAPER_KINDS,
};

extern const char *const paper_kind_names[], *const paper_rule_names[];

/* What the tolerance of a row means. */
enum paper_rule {
	PAPER_PERCENT, /* of the paper's value, either way */
	PAPER_POINTS, /* in the row's own unit, either way */
	/* Bounds: the paper has no value, but one that it is not below, or not
	 * above; rounding may take some per cent of it. */
	PAPER_AT_LEAST,
	PAPER_AT_MOST,
	/* An order: the paper says that one is more than the other, and the
	 * model's is a ratio above 1. */
	PAPER_MORE,
};

struct paper_row {
	const char *id; /* "BGQ-N90a" */
	const char *what;
	const char *unit;
	double paper; /* 0 where it is qualitative */
	enum paper_rule rule;
	double tolerance;
	enum paper_kind kind;
	struct paper_formula model;
	/*
	 * The id of a row that this one follows from, by a unit, a constant
	 * or another reading of the same measurement; else NULL.
	 */
	const char *repeats;
	const char *note; /* or NULL */
};

/* Numbers first to last that nothing measures yet. */
struct paper_missing {
	uint32_t first, last;
	const char *what; /* they wait for */
};

struct paper_system {
	const char *name; /* "bgq" */
	const char *title;
	const char *citation; /* authors, title, venue, year */
	const char *prefix; /* of ids: "BGQ-" */
	const struct paper_experiment *experiments;
	size_t n_experiments;
	const struct paper_row *rows;
	size_t n_rows;
	const struct paper_missing *missing;
	size_t n_missing;
};

/* Reads a file; NULL with the error "path:line:column: ...". */
struct paper_system *paper_read(const char *path, struct err *e);
/* The one of a name; NULL with the nearest name in the error. */
struct paper_system *paper_find(const char *name, struct err *e);
void paper_free(struct paper_system *s); /* NULL is fine */
/* All files, to be freed; with the error where there is none. */
struct machine_files *paper_files(struct err *e);

/*
 * Sets chosen[row] for the rows that the words name: "BGQ-N90a", "BGQ-N90"
 * (with all its letters), or the same without the prefix, in any case.  No
 * words: all rows.  An unknown id, or one that nothing measures yet, is an
 * error.
 */
int paper_select(const struct paper_system *s, const char *const *words,
	size_t n_words, bool *chosen, struct err *e);

/* The row of this id; NULL where there is none. */
const struct paper_row *paper_row(const struct paper_system *s, const char *id);

/* The pace of the slowest experiment of a row. */
enum paper_pace paper_pace(
	const struct paper_system *s, const struct paper_row *row);

/* Whether the paper gives a bound or an order for it, and no value. */
static inline bool paper_is_bound(const struct paper_row *row)
{
	return row->rule >= PAPER_AT_LEAST;
}

/* The commands that measure a row, "; " between them.  Cut where too long. */
void paper_command(const struct paper_system *s, const struct paper_row *row,
	char *text, size_t size);

/* The tolerance in words: "2 %", "4 points", "bound", "order", "none". */
void paper_tolerance(const struct paper_row *row, char *text, size_t size);

/* What the paper says: "45.30", "<= 1500", "> 1.00", "-". */
void paper_value(const struct paper_row *row, char *text, size_t size);
/* Four digits; what is larger than they show is whole all the same. */
void paper_digits(double value, char *text, size_t size);

/*
 * Sums over the rows that were measured, by kind: the number of values, and the
 * number of those that pass.  Rows with bounds are counted apart unless they
 * are functional.  A row that follows from another one that was measured does
 * not count, unless it alone misses.
 */
struct paper_sums {
	uint32_t n[N_PAPER_KINDS], passed[N_PAPER_KINDS];
	uint32_t n_bounds, bounds_passed;
	uint32_t n_repeats; /* that are not counted */
};

enum paper_state { PAPER_LEFT_OUT, PAPER_PASSED, PAPER_MISSED };

/* state[row] */
struct paper_sums paper_sum(
	const struct paper_system *s, const enum paper_state *state);

/* --- measuring --- */

struct paper_setup {
	uint64_t seed;
	const atomic_int *stop; /* or NULL */
};

struct paper_result {
	bool is_measured;
	bool is_stopped; /* not measured: paper_run() ended before that */
	double model, error_pct;
	/* The rule's limit as per cent of the paper's value. */
	double tolerance_pct;
	/* Never where it is not measured; always where it is only shown. */
	bool pass;
	char why[sizeof(((struct err *)0)->text)]; /* it is not; else "" */
};

/* Keeps what experiments reported, so that each runs once. */
struct paper_lab;

struct paper_lab *paper_lab_new(
	const struct paper_system *s, const struct paper_setup *setup);
void paper_lab_free(struct paper_lab *lab);

/* After paper_run().  It cannot fail: an experiment that does gives a row that
 * is not measured. */
void paper_measure(struct paper_lab *lab, const struct paper_row *row,
	struct paper_result *result);

/* Experiments that rows need. */
struct paper_progress {
	size_t done, running, all;
};

/* Is told when one is done, and now and then. */
struct paper_watch {
	void (*tell)(void *arg, const struct paper_progress *p);
	void *arg;
};

/*
 * Runs what the chosen rows need, so many experiments at a time, each in a
 * process of its own.  0, or -1 where no process could be made, or 1 where it
 * was stopped.
 */
int paper_run(struct paper_lab *lab, const bool *chosen, uint32_t at_a_time,
	const struct paper_watch *w, struct err *e);

/* Whether nothing is to be run for a row any more. */
bool paper_is_ready(const struct paper_lab *lab, const struct paper_row *row);

/* Compares a value with the paper's; fills in all but why. */
void paper_judge(
	const struct paper_row *row, double model, struct paper_result *result);

#endif
