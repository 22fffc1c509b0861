#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paper/paper.h"
#include "testing/testing.h"

enum { MOST_ROWS = 512 };

/* --- the files --- */

static struct paper_system *open_paper(const char *name)
{
	struct err e = { 0 };
	struct paper_system *s = paper_find(name, &e);

	assert_string_equal(e.text, "");
	return s;
}

static void each_paper(void (*check)(const struct paper_system *s))
{
	struct err e = { 0 };
	struct machine_files *all = paper_files(&e);

	assert_true(all->n >= 4);
	for (size_t i = 0; i < all->n; i++) {
		struct paper_system *s = open_paper(all->name[i]);

		check(s);
		paper_free(s);
	}
	machine_files_free(all);
}

static void check_ids(const struct paper_system *s)
{
	char id[PAPER_ID_MAX] = "";
	long last = 0;
	size_t i, prefix = strlen(s->prefix);

	assert_true(s->n_rows > 5 && s->n_rows < MOST_ROWS);
	for (i = 0; i < s->n_rows; i++) {
		const char *now = s->rows[i].id;
		char *end;
		long n;

		assert_true(strlen(now) < PAPER_ID_MAX);
		assert_int_equal(strncmp(now, s->prefix, prefix), 0);
		assert_int_equal(now[prefix], 'N');
		n = strtol(now + prefix + 1, &end, 10);
		assert_true(n > last || (n == last && strcmp(now, id) > 0));
		assert_true(!*end || (*end >= 'a' && *end <= 'd' && !end[1]));
		last = n;
		memcpy(id, now, strlen(now) + 1);
	}
}

static void ids_are_there_once_and_in_order(void **state)
{
	each_paper(check_ids);
}

static void check_rows(const struct paper_system *s)
{
	bool used[256] = { false };
	char text[PAPER_COMMAND_MAX];

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct paper_row *r = &s->rows[i];
		const struct paper_term *t;

		assert_true(*r->what && *r->unit);
		assert_non_null(paper_formula_term(&r->model, 0));
		assert_int_equal(r->kind == PAPER_QUALITATIVE, r->paper <= 0);
		assert_int_equal(r->paper > 0,
			r->tolerance > 0 || r->rule == PAPER_MORE);
		assert_true(strlen(r->what) <= 36);
		for (uint32_t k = 0; (t = paper_formula_term(&r->model, k));
			k++) {
			assert_true(t->experiment < s->n_experiments);
			used[t->experiment] = true;
		}
		paper_command(s, r, text, sizeof(text));
		assert_true(strlen(text) < sizeof(text) - 1);
	}
	for (size_t i = 0; i < s->n_experiments; i++)
		assert_true(used[i] && s->experiments[i].machine);
}

static void a_row_is_whole(void **state)
{
	each_paper(check_rows);
}

static void check_fitted(const char *name, const char *const *ids, size_t n)
{
	struct paper_system *s = open_paper(name);
	bool chosen[MOST_ROWS];
	struct err e = { 0 };

	assert_int_equal(paper_select(s, ids, n, chosen, &e), 0);
	for (size_t i = 0; i < s->n_rows; i++)
		if (chosen[i])
			assert_int_equal(s->rows[i].kind, PAPER_CALIBRATED);
	paper_free(s);
}

/* What was fitted is never called predicted. */
static void the_fit_set_is_calibrated(void **state)
{
	static const char *const bgq[] = { "N23", "N31", "N34", "N36", "N90",
		"N91", "N92", "N102", "N103", "N111", "N114", "N135", "N44",
		/* what lies between */
		"N93", "N94", "N95", "N96", "N97", "N98", "N99", "N100", "N101",
		"N104", "N105", "N106", "N107", "N108", "N109", "N110", "N125",
		"N126", "N127", "N128", "N129", "N130", "N131", "N132", "N133",
		"N134",
		/* the same again */
		"N61", "N80", "N82", "N89" };
	static const char *const qsnet2[] = { "N29", "N30", "N51", "N53", "N71",
		"N72", "N73", "N77", "N81",
		/* the same again */
		"N28", "N31", "N52", "N74", "N76" };
	static const char *const gemini[] = { "N32", "N51", "N52",
		/* these follow from them */
		"N53", "N55" };
	static const char *const apenet[] = { "N5", "N8", "N11", "N14a", "N15",
		"N16", "N17", "N19", "N20", "N22", "N12" };
	static const char *const sunway[] = { "N67", "N68", "N69", "N70",
		"N72a", "N72b", "N77a", "N77c",
		/* all software values; and what repeats the others */
		"N71a", "N73a", "N74a", "N75a", "N76", "N78", "N80", "N73b",
		"N75b", "N98", "N52" };

	check_fitted("bgq", bgq, sizeof(bgq) / sizeof(bgq[0]));
	check_fitted("qsnet2", qsnet2, sizeof(qsnet2) / sizeof(qsnet2[0]));
	check_fitted("gemini", gemini, sizeof(gemini) / sizeof(gemini[0]));
	check_fitted("apenet", apenet, sizeof(apenet) / sizeof(apenet[0]));
	check_fitted("sunway", sunway, sizeof(sunway) / sizeof(sunway[0]));
}

/* The row that another one follows from is there, and of its kind. */
static void check_repeats(const struct paper_system *s)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct paper_row *r = &s->rows[i], *first;

		if (!r->repeats)
			continue;
		first = paper_row(s, r->repeats);
		assert_non_null(first);
		assert_true(first != r && first->kind == r->kind);
	}
}

static void a_row_that_follows_from_another_is_of_its_kind(void **state)
{
	each_paper(check_repeats);
}

/* A row that can only be 100 %, or show a bug, predicts nothing. */
static void check_functional(const struct paper_system *s)
{
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct paper_row *r = &s->rows[i];

		if (r->paper == 100 && !strcmp(r->unit, "%") &&
			r->rule == PAPER_PERCENT)
			assert_int_equal(r->kind, PAPER_FUNCTIONAL);
	}
}

static void a_row_that_cannot_miss_is_functional(void **state)
{
	each_paper(check_functional);
}

/* Each experiment is in one of three lists. */
static void a_row_is_as_slow_as_its_slowest_experiment(void **state)
{
	struct paper_system *s = open_paper("bgq");

	assert_int_equal(paper_pace(s, paper_row(s, "BGQ-N8")), PAPER_QUICK);
	assert_int_equal(paper_pace(s, paper_row(s, "BGQ-N134a")), PAPER_SLOW);
	assert_int_equal(paper_pace(s, paper_row(s, "BGQ-N36")), PAPER_LONG);
	paper_free(s);
	s = open_paper("sunway");
	/* of many experiments, some are slow */
	assert_int_equal(paper_pace(s, paper_row(s, "SUN-N98a")), PAPER_SLOW);
	paper_free(s);
}

/* All values that are evidence, in order. */
static void check_evidence(const char *name, const char *want)
{
	struct paper_system *s = open_paper(name);
	char ids[1024] = "";
	size_t n = 0;

	for (size_t i = 0; i < s->n_rows; i++)
		if (s->rows[i].kind == PAPER_PREDICTED && !s->rows[i].repeats)
			n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%s ",
				s->rows[i].id + strlen(s->prefix));
	assert_string_equal(ids, want);
	paper_free(s);
}

/* Each value once, and none that was fitted or follows by arithmetic. */
static void what_counts_as_evidence_is_listed(void **state)
{
	check_evidence("bgq",
		"N35 N42 N84a N85a N112a N113a N115 N116 N117 N118 N119 N120 "
		"N121 N122 N123 N124a ");
	check_evidence("qsnet2", "N69 N70 N78 ");
	check_evidence("gemini", "N33 N34 N48 ");
	check_evidence("apenet", "N7 N14b ");
	check_evidence("sunway",
		"N54 N61 N71b N77b N79a N79b N79c N81a N81b N81c N100 N102a ");
}

/* Section 1.6 of the datasheet: 3 % of what the paper expects of 98,304 nodes,
 * 5 % of messages of 2 MB. */
static void tolerances_are_no_wider_than_the_datasheet_s(void **state)
{
	struct paper_system *s = open_paper("bgq");

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct paper_row *r = &s->rows[i];
		long n = strtol(r->id + strlen("BGQ-N"), NULL, 10);
		double most = n == 31 || n == 42 || n == 44 ? 3
			      : n == 112		    ? 5
							    : 2;

		assert_true(
			r->tolerance <= (r->rule == PAPER_POINTS ? 4 : most));
	}
	paper_free(s);
}

static void check_missing(const struct paper_system *s)
{
	bool chosen[MOST_ROWS];
	char id[PAPER_ID_MAX];
	const char *word = id;

	for (size_t i = 0; i < s->n_missing; i++)
		for (uint32_t k = s->missing[i].first; k <= s->missing[i].last;
			k++) {
			struct err e = { 0 };

			snprintf(id, sizeof(id), "N%u", k);
			assert_int_equal(
				paper_select(s, &word, 1, chosen, &e), -1);
			assert_non_null(strstr(e.text, "not measured yet"));
		}
}

static void what_is_missing_is_no_row(void **state)
{
	each_paper(check_missing);
}

/* --- judging --- */

static bool passes(enum paper_rule rule, double tolerance, double model)
{
	struct paper_row row = {
		.unit = "%", .paper = 50, .rule = rule, .tolerance = tolerance
	};
	struct paper_result r = { 0 };

	paper_judge(&row, model, &r);
	return r.pass;
}

static void a_limit_is_within(void **state)
{
	assert_true(passes(PAPER_PERCENT, 2, 51));
	assert_true(passes(PAPER_PERCENT, 2, 49));
	assert_false(passes(PAPER_PERCENT, 2, 51.001));
	assert_false(passes(PAPER_PERCENT, 2, 48.999));
	assert_true(passes(PAPER_POINTS, 2, 52));
	assert_true(passes(PAPER_POINTS, 2, 48));
	assert_false(passes(PAPER_POINTS, 2, 52.001));
	assert_false(passes(PAPER_POINTS, 2, 47.999));
	assert_true(passes(PAPER_AT_LEAST, 2, 500));
	assert_true(passes(PAPER_AT_LEAST, 2, 49));
	assert_false(passes(PAPER_AT_LEAST, 2, 48.999));
	assert_true(passes(PAPER_AT_MOST, 2, 1));
	assert_true(passes(PAPER_AT_MOST, 2, 51));
	assert_false(passes(PAPER_AT_MOST, 2, 51.001));
	assert_true(passes(PAPER_MORE, 0, 50.001));
	assert_false(passes(PAPER_MORE, 0, 50));
	assert_false(passes(PAPER_PERCENT, 2, NAN));
	assert_false(passes(PAPER_AT_LEAST, 2, INFINITY));
}

static void points_are_given_as_per_cent_too(void **state)
{
	struct paper_row row = {
		.unit = "%", .paper = 66, .rule = PAPER_POINTS, .tolerance = 10
	};
	struct paper_result r = { 0 };

	paper_judge(&row, 58.4, &r);
	assert_true(r.pass && r.is_measured);
	assert_float_equal(r.error_pct, -11.515, 0.001);
	assert_float_equal(r.tolerance_pct, 15.152, 0.001);
}

static const char *value_of(enum paper_rule rule, double paper)
{
	static char text[32];
	struct paper_row row = { .paper = paper, .rule = rule };

	paper_value(&row, text, sizeof(text));
	return text;
}

static void bounds_and_orders_are_printed_as_such(void **state)
{
	struct paper_system *s = open_paper("gemini");
	const struct paper_row *bound = paper_row(s, "GEM-N33");
	char text[32];

	assert_string_equal(value_of(PAPER_PERCENT, 45.3), "45.30");
	assert_string_equal(value_of(PAPER_POINTS, 131072), "131072");
	assert_string_equal(value_of(PAPER_AT_MOST, 1500), "<= 1500");
	assert_string_equal(value_of(PAPER_AT_LEAST, 45), ">= 45.00");
	assert_string_equal(value_of(PAPER_MORE, 1), "> 1.00");
	assert_true(paper_is_bound(bound));
	paper_tolerance(bound, text, sizeof(text));
	assert_string_equal(text, "bound");
	paper_tolerance(paper_row(s, "GEM-N49a"), text, sizeof(text));
	assert_string_equal(text, "order");
	paper_free(s);
}

static void check_citation(const struct paper_system *s)
{
	const char *text = s->citation;

	assert_non_null(strstr(text, ": \""));
	assert_non_null(strstr(text, "\". "));
	assert_int_equal(strncmp(text + strlen(text) - 4, "20", 2), 0);
}

static void every_paper_is_cited(void **state)
{
	each_paper(check_citation);
}

/* The error of a file with this text behind its head; "" of a good one. */
static const char *error_of(const char *text)
{
	static struct err e;
	char path[] = "/tmp/weft-paper-XXXXXX";
	int fd = mkstemp(path);

	e = (struct err){ 0 };
	assert_true(fd >= 0);
	dprintf(fd,
		"schema: 1\npaper: x\ntitle: t\ncitation: c\nprefix: X-\n"
		"experiments: { a: weft run bgq pingpong to=1 --set 'k=v w' }\n"
		"%s",
		text);
	close(fd);
	paper_free(paper_read(path, &e));
	unlink(path);
	return e.text;
}

#define ROW(more) "rows: [{ id: X-N1, what: w, unit: ns, " more " }]"

static void a_file_that_cannot_be_right_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "", "want schema, paper" },
		{ "rows: 1", "want schema: 1, and a list of rows" },
		{ ROW("kind: predicted, of: a.b"), "want one of near" },
		{ ROW("kind: qualitative, near: 1 within 2 %, of: a.b"),
			"want one of near" },
		{ ROW("kind: guessed, of: a.b"), "kind: want predicted" },
		{ ROW("kind: predicted, near: 1, of: a.b"), "tolerance" },
		{ ROW("kind: predicted, near: 1 within 2 %, of: b.c"),
			"EXPERIMENT.FIGURE" },
		{ ROW("kind: predicted, near: 1 within 2 %, of: a.b, "
		      "times: x"),
			"want a number" },
		{ ROW("kind: predicted, near: 1 within 2 %, of: a.b, "
		      "repeats: X-N1"),
			"repeats" },
		{ ROW("kind: predicted, near: 1 within 2 %"), "model's value" },
		{ ROW("kind: predicted, odd: 1"), "want id, what, unit" },
		{ "slow: { b: rm bgq }\nrows: []",
			"want a name and a command" },
		{ "missing: { x: y }\nrows: []", "want numbers and a text" },
	};

	assert_string_equal(
		error_of(ROW("kind: predicted, near: 1 within 2 points, "
			     "of: a.b, less: a.c, times: 100/36")),
		"");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_non_null(strstr(error_of(bad[i][0]), bad[i][1]));
}

/* --- counting --- */

/* Values a to f: b and c follow from a, d is alone, e is a bound that holds, f
 * one that does not; g is only shown; h and i are functional, i a bound. */
static const struct paper_row counted[] = {
	{ .id = "a", .kind = PAPER_PREDICTED },
	{ .id = "b", .kind = PAPER_PREDICTED, .repeats = "a" },
	{ .id = "c", .kind = PAPER_PREDICTED, .repeats = "b" },
	{ .id = "d", .kind = PAPER_CALIBRATED },
	{ .id = "e", .kind = PAPER_PREDICTED, .rule = PAPER_AT_MOST },
	{ .id = "f", .kind = PAPER_ARITHMETIC, .rule = PAPER_MORE },
	{ .id = "g", .kind = PAPER_QUALITATIVE },
	{ .id = "h", .kind = PAPER_FUNCTIONAL },
	{ .id = "i", .kind = PAPER_FUNCTIONAL, .rule = PAPER_AT_MOST },
};
enum { COUNTED = sizeof(counted) / sizeof(counted[0]) };
static const struct paper_system counting = { .rows = counted,
	.n_rows = COUNTED };

static struct paper_sums sums_of(const char *states)
{
	enum paper_state state[COUNTED];

	for (size_t i = 0; i < COUNTED; i++)
		state[i] = states[i] == '+'   ? PAPER_PASSED
			   : states[i] == '-' ? PAPER_MISSED
					      : PAPER_LEFT_OUT;
	return paper_sum(&counting, state);
}

static void a_row_that_repeats_another_and_misses_is_counted(void **state)
{
	struct paper_sums x = sums_of("+++++-+..");

	assert_int_equal(x.n[PAPER_PREDICTED], 1);
	assert_int_equal(x.passed[PAPER_PREDICTED], 1);
	assert_int_equal(x.n[PAPER_CALIBRATED], 1);
	assert_int_equal(x.n[PAPER_ARITHMETIC], 0);
	assert_int_equal(x.n_bounds, 2);
	assert_int_equal(x.bounds_passed, 1);
	assert_int_equal(x.n_repeats, 2);
	/* alone, and behind one that misses itself */
	x = sums_of("++-++++..");
	assert_int_equal(x.n[PAPER_PREDICTED], 2);
	assert_int_equal(x.passed[PAPER_PREDICTED], 1);
	x = sums_of("-+-++++..");
	assert_int_equal(x.n[PAPER_PREDICTED], 1);
	assert_int_equal(x.passed[PAPER_PREDICTED], 0);
	assert_int_equal(x.n_repeats, 2);
	/* of what was not measured nothing follows */
	x = sums_of("..+......");
	assert_int_equal(x.n[PAPER_PREDICTED], 1);
	assert_int_equal(x.n_repeats, 0);
}

/* Neither among the values nor among the bounds. */
static void functional_rows_are_counted_apart(void **state)
{
	struct paper_sums x = sums_of("+++++++-+");

	assert_int_equal(x.n[PAPER_FUNCTIONAL], 2);
	assert_int_equal(x.passed[PAPER_FUNCTIONAL], 1);
	assert_int_equal(x.n[PAPER_PREDICTED], 1);
	assert_int_equal(x.n_bounds, 2);
}

static void what_has_no_printed_value_is_only_shown(void **state)
{
	struct paper_row row = { .unit = "ns", .kind = PAPER_QUALITATIVE };
	struct paper_result r = { 0 };
	char text[32];

	paper_judge(&row, 100, &r);
	assert_true(r.pass && r.is_measured);
	paper_judge(&row, NAN, &r);
	assert_false(r.pass || r.is_measured);
	paper_tolerance(&row, text, sizeof(text));
	assert_string_equal(text, "none");
}

/* --- measuring --- */

static const struct paper_experiment tiny[] = {
	{ .machine = "bgq",
		.shape = "4x2",
		.workload = "pingpong",
		.keys = { "to=1", "rounds=2" } },
	{ .machine = "bgq", .shape = "4x2" },
	{ .machine = "bgq", .workload = "no-such-workload" },
	{ .machine = "bgq",
		.shape = "8x8",
		.sets = { "routing.bubble=no", "router.packets=1" },
		.workload = "random",
		.keys = { "routing=deterministic" } },
	{ .machine = "qsnet2", .shape = "16", .sets = { "link.code=4b5b" } },
};

/* Formulas of one figure, or of two with a factor. */
#define FIGURE(x, name)                                                        \
	{                                                                      \
		(struct paper_step[]){ { PAPER_TERM, 0, { x, name } } }, 1     \
	}
#define TWO(x, name, y, other, how, factor)                                    \
	{                                                                      \
		(struct paper_step[]){ { PAPER_TERM, 0, { x, name } },         \
			{ PAPER_TERM, 0, { y, other } }, { .op = how },        \
			{ PAPER_NUMBER, factor, { 0 } },                       \
			{ .op = PAPER_PRODUCT } },                             \
			5                                                      \
	}

static const struct paper_row tiny_rows[] = {
	{ "BGQ-N1a", "w", "ns", 78, PAPER_PERCENT, 0.01, PAPER_PREDICTED,
		FIGURE(0, "one_way_ns"), NULL, NULL },
	{ "BGQ-N1b", "w", "times", 39, PAPER_PERCENT, 0.01, PAPER_PREDICTED,
		TWO(0, "one_way_ns", 1, "link_GBps", PAPER_RATIO, 1), NULL,
		NULL },
	{ "BGQ-N1c", "w", "ns", 152, PAPER_PERCENT, 0.01, PAPER_PREDICTED,
		TWO(0, "one_way_ns", 1, "link_GBps", PAPER_DIFFERENCE, 2), NULL,
		NULL },
	{ "BGQ-N2", "w", "ns", 1, PAPER_PERCENT, 1, PAPER_PREDICTED,
		FIGURE(0, "no_such_figure"), NULL, NULL },
	{ "BGQ-N3", "w", "ns", 1, PAPER_PERCENT, 1, PAPER_PREDICTED,
		FIGURE(2, "one_way_ns"), NULL, NULL },
	{ "BGQ-N4", "w", "ns", 1, PAPER_PERCENT, 1, PAPER_PREDICTED,
		FIGURE(3, "fraction_of_peak"), NULL, NULL },
	/* Both rings of the cut are cut twice: 2 x 2 links of 2 GB/s. */
	{ "BGQ-N5", "w", "GB/s", 8, PAPER_PERCENT, 0.01, PAPER_ARITHMETIC,
		FIGURE(1, "bisection_GBps"), NULL, NULL },
	/* 18 m of cable and three switches. */
	{ "BGQ-N6", "w", "ns", 135, PAPER_PERCENT, 0.01, PAPER_ARITHMETIC,
		FIGURE(4, "farthest_ns"), NULL, NULL },
	{ "BGQ-N7", "w", "GB/s", 1.0664, PAPER_PERCENT, 0.01, PAPER_ARITHMETIC,
		FIGURE(4, "data_GBps"), NULL, NULL },
};

static const struct paper_system tiny_system = {
	.name = "tiny",
	.prefix = "BGQ-",
	.experiments = tiny,
	.n_experiments = 5,
	.rows = tiny_rows,
	.n_rows = 9,
};

struct log {
	size_t told, most_running;
	struct paper_progress last;
};

static void note_progress(void *arg, const struct paper_progress *p)
{
	struct log *l = arg;

	assert_true(p->done >= l->last.done && p->done + p->running <= p->all);
	l->told++;
	l->last = *p;
	if (p->running > l->most_running)
		l->most_running = p->running;
}

static const bool all[] = { true, true, true, true, true, true, true, true,
	true };

static void rows_are_computed_from_runs(void **state)
{
	struct paper_setup setup = { .seed = 1 };
	struct paper_lab *lab = paper_lab_new(&tiny_system, &setup);
	struct log log = { 0 };
	struct paper_watch w = { note_progress, &log };
	struct paper_result r;
	struct err e = { 0 };

	assert_int_equal(paper_run(lab, all, 1, &w, &e), 0);
	assert_int_equal(log.most_running, 1);
	for (size_t i = 0; i < 9; i++) {
		paper_measure(lab, &tiny_rows[i], &r);
		assert_int_equal(r.pass, i < 3 || i >= 6);
		assert_int_equal(r.is_measured, i < 3 || i >= 6);
		assert_int_equal(!r.why[0], r.is_measured);
		assert_false(r.is_stopped);
	}
	paper_measure(lab, &tiny_rows[3], &r);
	assert_non_null(strstr(r.why, "no_such_figure"));
	paper_measure(lab, &tiny_rows[4], &r);
	assert_non_null(strstr(r.why, "no-such-workload"));
	paper_measure(lab, &tiny_rows[5], &r);
	assert_non_null(strstr(r.why, "deadlocked"));
	paper_lab_free(lab);
}

/* The same figures as one after the other, and the same ways to fail. */
static void experiments_run_beside_each_other(void **state)
{
	struct paper_setup setup = { .seed = 1 };
	struct paper_lab *one = paper_lab_new(&tiny_system, &setup);
	struct paper_lab *many = paper_lab_new(&tiny_system, &setup);
	struct log log = { 0 }, other = { 0 };
	struct paper_watch w = { note_progress, &log };
	struct paper_watch v = { note_progress, &other };
	struct paper_result a, b;
	struct err e = { 0 };

	assert_false(paper_is_ready(many, &tiny_rows[0]));
	assert_true(paper_is_ready(many, &tiny_rows[6]));
	assert_int_equal(paper_run(many, all, 3, &w, &e), 0);
	assert_int_equal(paper_run(one, all, 1, &v, &e), 0);
	assert_int_equal(log.last.done, 3); /* those that run */
	assert_int_equal(log.last.all, 3);
	assert_int_equal(log.last.running, 0);
	for (size_t i = 0; i < 9; i++) {
		assert_true(paper_is_ready(many, &tiny_rows[i]));
		paper_measure(one, &tiny_rows[i], &a);
		paper_measure(many, &tiny_rows[i], &b);
		assert_int_equal(a.is_measured, b.is_measured);
		assert_true(!a.is_measured ||
			    (a.model <= b.model && a.model >= b.model));
		assert_string_equal(a.why, b.why);
	}
	paper_lab_free(many);
	paper_lab_free(one);
}

/* The second time nothing runs; a stop ends runs that did not begin. */
static void an_experiment_runs_once(void **state)
{
	atomic_int stop = 0;
	struct paper_setup setup = { .seed = 1, .stop = &stop };
	struct paper_lab *lab = paper_lab_new(&tiny_system, &setup);
	struct log log = { 0 }, again = { 0 };
	struct paper_watch w = { note_progress, &log };
	struct paper_watch v = { note_progress, &again };
	struct paper_result r;
	struct err e = { 0 };

	assert_int_equal(paper_run(lab, all, 2, &w, &e), 0);
	assert_int_equal(paper_run(lab, all, 2, &v, &e), 0);
	assert_int_equal(again.last.all, 0);
	paper_measure(lab, &tiny_rows[0], &r);
	assert_true(r.is_measured);
	paper_lab_free(lab);

	stop = 1;
	lab = paper_lab_new(&tiny_system, &setup);
	assert_int_equal(paper_run(lab, all, 2, &v, &e), 1);
	paper_measure(lab, &tiny_rows[0], &r);
	assert_true(r.is_stopped && !r.is_measured && !r.pass);
	paper_lab_free(lab);
}

TESTS(TEST(ids_are_there_once_and_in_order), TEST(a_row_is_whole),
	TEST(the_fit_set_is_calibrated),
	TEST(a_row_that_follows_from_another_is_of_its_kind),
	TEST(a_row_that_cannot_miss_is_functional),
	TEST(a_row_is_as_slow_as_its_slowest_experiment),
	TEST(what_counts_as_evidence_is_listed),
	TEST(tolerances_are_no_wider_than_the_datasheet_s),
	TEST(what_is_missing_is_no_row),
	TEST(functional_rows_are_counted_apart),
	TEST(what_has_no_printed_value_is_only_shown),
	TEST(bounds_and_orders_are_printed_as_such), TEST(every_paper_is_cited),
	TEST(a_file_that_cannot_be_right_is_refused),
	TEST(a_row_that_repeats_another_and_misses_is_counted),
	TEST(a_limit_is_within), TEST(points_are_given_as_per_cent_too),
	TEST(rows_are_computed_from_runs),
	TEST(experiments_run_beside_each_other), TEST(an_experiment_runs_once))
