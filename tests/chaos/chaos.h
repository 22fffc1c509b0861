/*
 * Random legal machines, workloads and plans of faults, run in every way that
 * must not matter, and in ways that must end well.  All that is known of weft
 * comes from its own lists (`weft params`, `weft machines`), so a new variant
 * is included by itself.
 *
 * A case is a function of its seed.  What a case finds it reports with the
 * commands that show it; files that they need are kept.
 */
#ifndef CHAOS_H
#define CHAOS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WORDS_MAX = 160, TEXT_MAX = 512 };

/* --- random numbers --- */

struct dice {
	uint64_t state;
};

uint64_t draw(struct dice *d, uint64_t below);
/* From least to most, all orders of magnitude alike. */
int64_t draw_wide(struct dice *d, int64_t least, int64_t most);

/* --- commands and what comes of them --- */

/* Owns its words. */
struct words {
	char *v[WORDS_MAX + 1];
	size_t n;
};

void words_add(struct words *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void words_copy(struct words *w, const struct words *from);
void words_drop(struct words *w, size_t i);
void words_free(struct words *w);

struct launch {
	const char *out; /* where stdout goes, or NULL: it is kept */
	long fail; /* allocation that fails, from 1; 0: none */
	bool fails_on; /* and all that follow */
	long *n_allocations; /* counted where not NULL */
	int signal; /* sent when ... or 0 */
	long after_us; /* ... this has passed since weft can catch it */
	double limit_s; /* SIGTERM comes after; 0: the usual */
	size_t memory; /* address space, in bytes; 0: any */
};

struct outcome {
	int code; /* exit code; 128 and a signal's number */
	bool is_late; /* got SIGTERM at its limit */
	bool is_stuck; /* and took no notice */
	char *out, *err;
};

struct outcome run_weft(const struct words *w, const struct launch *l);
void outcome_free(struct outcome *o);

/* --- what weft lists --- */

struct option {
	char *workload; /* or NULL: a machine's */
	char *name, *value, *type, *range;
};

struct options {
	struct option *v;
	size_t n;
};

void options_read(struct options *o, const char *json);
void options_free(struct options *o);

/* Near its value, among the least, up to its value; the ends, and beyond. */
enum how { NEAR, SMALL, UP_TO, LEAST, MOST, BELOW, ABOVE };

/* A value of an option; false where it has none of that kind. */
bool option_value(const struct option *o, enum how how, struct dice *d,
	char text[TEXT_MAX]);
/* A word that may stand in place of a number, or one of a few; or NULL. */
bool option_word(const struct option *o, struct dice *d, char text[TEXT_MAX]);
bool option_is(const struct option *o, const char *type);
/* Whether its value is a number above most, in ps, bytes, ... */
bool option_exceeds(const struct option *o, int64_t most);

/* The values of a key in what `--json` prints, a line each. */
size_t json_values(
	const char *json, const char *key, char **value, size_t most);

/* --- a campaign --- */

struct chaos {
	const char *weft;
	const char *dir; /* for files */
	bool is_sanitized;
	bool is_verbose;
	const char *shim; /* makes allocations fail; or NULL */
	double limit_s;
	struct options options; /* of all machines and workloads */
	char *machine[128];
	size_t n_machines;
	char *workload[128];
	size_t n_workloads;
	uint64_t n_runs, n_findings;
};

extern struct chaos chaos;

/* A case: a machine, a workload and perhaps a plan of faults. */
struct trial {
	uint64_t seed;
	struct dice dice;
	struct words machine; /* MACHINE --set ... */
	struct words keys; /* WORKLOAD KEY=VALUE ... */
	size_t n_fixed; /* the first of these, that keep runs short */
	struct options params; /* of the machine */
	uint64_t n_nodes;
	int checked; /* how `weft check` ended */
	bool has_plan;
	char file[TEXT_MAX], plan[TEXT_MAX];
	uint64_t n_findings;
	const char *last; /* that the last one was about */
};

void trial_init(struct trial *t, uint64_t seed);
void trial_fini(struct trial *t);

/* Both are false where nothing legal was found. */
bool make_machine(struct trial *t);
bool make_workload(struct trial *t);
void make_plan(struct trial *t);

/* The command of a trial's run. */
void run_words(const struct trial *t, struct words *w);

/* Runs it and judges what must always hold. */
struct outcome try(
	struct trial *t, const struct words *w, const struct launch *l);
void finding(struct trial *t, const struct words *w, const struct launch *l,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A kind of its own: outputs into odd files. */
void run_outputs(struct trial *t);

struct kind {
	const char *name;
	void (*run)(struct trial *t);
};

extern const struct kind kinds[];

#endif
