#define _GNU_SOURCE
#include "cli/cli.h"
#include "machine/run.h"
#include "sim/barrier.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "facts/facts.h"
#include "paper/paper.h"

enum { WHAT_WIDTH = 36 };

/* Rows are printed in the paper's order, as soon as they can be. */
struct session {
	const struct cli_args *args;
	struct paper_system *system;
	bool *chosen; /* [row] */
	enum paper_state *state; /* [row] */
	struct paper_lab *lab;
	struct facts facts;
	size_t next; /* row that is to be printed */
	bool is_red; /* colours on stdout */
	bool talks; /* on a terminal at stderr */
	bool is_stopped;
	const char *note; /* the last one that was printed */
	double start, last; /* of measuring; of the last progress */
};

static void show_progress(struct session *s, const struct paper_progress *p)
{
	double now = machine_clock();
	char line[128];

	if (!s->talks || now - s->last < 0.2)
		return;
	s->last = now;
	snprintf(line, sizeof(line),
		"%zu of %zu experiments done, %zu running, %.0f s", p->done,
		p->all, p->running, now - s->start);
	cli_progress(line);
}

static void clear_line(const struct session *s)
{
	if (s->talks)
		cli_progress(NULL);
}

/* --- rows --- */

static bool is_compared(const struct paper_row *row)
{
	return row->kind != PAPER_QUALITATIVE;
}

/* A bound is held or not: how far away it is says nothing. */
static bool has_error(const struct paper_row *row)
{
	return is_compared(row) && !paper_is_bound(row);
}

static void print_head(const struct session *s)
{
	const char *on = s->is_red ? "\033[1m" : "";

	printf("%s\n\n", s->system->citation);
	printf("%s%-9s  %-*s %9s %8s %-5s %7s  %s%s\n", on, "id", WHAT_WIDTH,
		"what", "paper", "model", "unit", "error", "kind",
		s->is_red ? "\033[0m" : "");
}

static const char *verdict(
	const struct paper_row *row, const struct paper_result *r)
{
	return !r->is_measured	   ? "FAILS"
	       : !is_compared(row) ? "-"
	       : r->pass	   ? "ok"
				   : "MISSES";
}

static void add_notes(struct facts *f, struct session *s,
	const struct paper_row *row, const struct paper_result *r)
{
	if (!r->is_measured)
		facts_line(f, NULL, "           {note}");
	else if (row->note && row->note != s->note &&
		 (!r->pass || s->args->is_verbose)) {
		s->note = row->note;
		facts_line(f, NULL, "           {note}");
	}
	if (s->args->is_verbose)
		facts_line(
			f, NULL, "           tolerance {tolerance}; {command}");
}

/* What is written in another way for people, and the line. */
static void add_line(struct facts *f, const struct session *s,
	const struct paper_row *row, const struct paper_result *r)
{
	bool is_red = s->is_red && !r->pass;
	char text[32];

	paper_value(row, text, sizeof(text));
	facts_text(f, "_paper", text);
	if (r->is_measured)
		paper_digits(r->model, text, sizeof(text));
	facts_text(f, "_model", r->is_measured ? text : "-");
	if (r->is_measured && has_error(row))
		facts_print(f, "_error", "%+5.1f %%", r->error_pct);
	else
		facts_text(f, "_error", "-");
	facts_text(f, "_verdict", verdict(row, r));
	facts_text(f, "_on", is_red ? "\033[31m" : "");
	facts_text(f, "_off", is_red ? "\033[0m" : "");
	facts_line(f, NULL,
		"{_on}{id:-9}  {what:-36} {_paper:9} {_model:8} {unit:-5} "
		"{_error:7}  {kind:-11} {_verdict}{_off}");
}

static void add_row(struct facts *f, struct session *s,
	const struct paper_row *row, const struct paper_result *r)
{
	char text[PAPER_COMMAND_MAX];

	facts_text(f, "id", row->id);
	facts_text(f, "what", row->what);
	facts_text(f, "unit", row->unit);
	facts_real_if(f, "paper", is_compared(row), row->paper);
	facts_text(f, "rule", paper_rule_names[row->rule]);
	facts_real_if(f, "model", r->is_measured, r->model);
	facts_real_if(
		f, "error_pct", r->is_measured && has_error(row), r->error_pct);
	facts_real_if(f, "tolerance_pct", has_error(row), r->tolerance_pct);
	paper_tolerance(row, text, sizeof(text));
	facts_text(f, "tolerance", text);
	facts_text(f, "kind", paper_kind_names[row->kind]);
	facts_text(f, "repeats", row->repeats);
	facts_flag(f, "pass", r->pass);
	facts_text(f, "note", r->is_measured ? row->note : r->why);
	paper_command(s->system, row, text, sizeof(text));
	facts_text(f, "command", text);
	add_line(f, s, row, r);
	add_notes(f, s, row, r);
}

/* People see it at once. */
static void tell_row(struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	struct facts f;

	if (s->args->is_json) {
		facts_group(&s->facts, NULL);
		add_row(&s->facts, s, row, r);
		facts_end(&s->facts);
		return;
	}
	facts_init(&f);
	add_row(&f, s, row, r);
	cli_write(s->args, &f, CLI_PLAIN, stdout);
	facts_fini(&f);
	fflush(stdout);
}

/* Whether a chosen row is measured at the pace that the user wants. */
static bool is_left(const struct session *s, size_t i)
{
	enum paper_pace most = s->args->is_long	   ? PAPER_LONG
			       : s->args->is_quick ? PAPER_QUICK
						   : PAPER_SLOW;

	return s->chosen[i] &&
	       paper_pace(s->system, &s->system->rows[i]) <= most;
}

static void measure_row(struct session *s, size_t i)
{
	const struct paper_row *row = &s->system->rows[i];
	struct paper_result r;

	paper_measure(s->lab, row, &r);
	clear_line(s);
	if (r.is_stopped) {
		s->is_stopped = true;
		return;
	}
	s->state[i] = r.pass ? PAPER_PASSED : PAPER_MISSED;
	tell_row(s, row, &r);
}

/* Up to the first row that still waits for an experiment. */
static void measure_ready(void *arg, const struct paper_progress *p)
{
	struct session *s = arg;
	const struct paper_row *rows = s->system->rows;

	for (; s->next < s->system->n_rows && !s->is_stopped; s->next++) {
		if (!is_left(s, s->next))
			continue;
		if (!paper_is_ready(s->lab, &rows[s->next]))
			break;
		measure_row(s, s->next);
	}
	show_progress(s, p);
}

static int measure_all(struct session *s, struct err *e)
{
	struct paper_watch w = { measure_ready, s };
	bool *left = mem_alloc(s->system->n_rows, sizeof(*left));
	int code;

	for (size_t i = 0; i < s->system->n_rows; i++)
		left[i] = is_left(s, i);
	s->start = machine_clock();
	code = paper_run(s->lab, left,
		s->args->threads ? s->args->threads : barrier_cpus(), &w, e);
	mem_free(left);
	clear_line(s);
	s->is_stopped |= code > 0;
	return code < 0 ? -1 : 0;
}

/* --- what stands around them --- */

/* "SUN-N58", or "SUN-N58 to N59" */
static void add_numbers(struct facts *f, const struct paper_system *p,
	const struct paper_missing *m)
{
	char last[16] = "";

	if (m->last > m->first)
		snprintf(last, sizeof(last), " to N%u", m->last);
	facts_say(f, NULL, "no row for %sN%u%s: it would need %s", p->prefix,
		m->first, last, m->what);
}

static void add_missing(struct facts *f, const struct paper_system *p)
{
	const struct paper_missing *m = p->missing;

	facts_list(f, "missing");
	for (size_t i = 0; i < p->n_missing; i++)
		for (size_t k = m[i].first; k <= m[i].last; k++)
			facts_print(f, NULL, "%sN%zu", p->prefix, k);
	facts_end(f);
	for (size_t i = 0; i < p->n_missing; i++)
		add_numbers(f, p, &m[i]);
}

/* Rows of a pace that were chosen and are not measured. */
static void add_skipped(struct facts *f, const struct session *s,
	const char *name, enum paper_pace pace)
{
	const struct paper_system *p = s->system;

	facts_list(f, name);
	for (size_t i = 0; i < p->n_rows; i++)
		if (s->chosen[i] && !is_left(s, i) &&
			paper_pace(p, &p->rows[i]) == pace)
			facts_text(f, NULL, p->rows[i].id);
	facts_end(f);
}

static void add_all_skipped(struct facts *f, const struct session *s)
{
	add_skipped(f, s, "skipped", PAPER_SLOW);
	add_skipped(f, s, "long", PAPER_LONG);
	facts_count(f, "_skipped", fact_length(facts_find(f->at, "skipped")));
	facts_count(f, "_long", fact_length(facts_find(f->at, "long")));
	facts_line(f, NULL,
		"[_skipped?skipped by --quick: {_skipped} row{_skipped|s}]");
	facts_line(f, NULL,
		"[_long?left out: {_long} row{_long|s} that take more than 30 "
		"s "
		"each; --long measures them]");
}

/* Of values that the paper printed. */
static uint32_t sum(const uint32_t *n)
{
	uint32_t all = 0;

	for (uint32_t k = 0; k < PAPER_FUNCTIONAL; k++)
		all += n[k];
	return all;
}

static void add_counts(
	struct facts *f, const char *name, uint32_t n, uint32_t passed)
{
	facts_group(f, name);
	facts_count(f, "passed", passed);
	facts_count(f, "missed", n - passed);
	facts_count(f, "_n", n);
	facts_end(f);
}

static void add_sums(struct facts *f, const struct session *s)
{
	struct paper_sums x = paper_sum(s->system, s->state);

	facts_group(f, "values");
	for (int k = 0; k < PAPER_FUNCTIONAL; k++)
		add_counts(f, paper_kind_names[k], x.n[k], x.passed[k]);
	facts_end(f);
	facts_count(f, "passed", sum(x.passed));
	facts_count(f, "missed", sum(x.n) - sum(x.passed));
	add_counts(f, "bounds", x.n_bounds, x.bounds_passed);
	add_counts(f, "functional", x.n[PAPER_FUNCTIONAL],
		x.passed[PAPER_FUNCTIONAL]);
	facts_count(f, "_n", sum(x.n));
	facts_count(f, "_repeats", x.n_repeats);
	facts_list(f, "_kinds");
	for (int k = 0; k < PAPER_FUNCTIONAL; k++)
		if (x.n[k])
			facts_print(f, NULL, "%s %u of %u", paper_kind_names[k],
				x.passed[k], x.n[k]);
	facts_end(f);
	facts_line(f, NULL, "");
	facts_line(f, NULL,
		"[_n?{passed} of {_n} independent values within tolerance: "
		"{_kinds}]");
	facts_line(f, NULL,
		"[bounds._n?{bounds.passed} of {bounds._n} bounds and orders "
		"hold]");
	facts_line(f, NULL,
		"[functional._n?{functional.passed} of {functional._n} "
		"functional row{functional._n|s} pass: no prediction, a miss "
		"is a bug]");
	facts_line(f, NULL,
		"[_repeats?not counted, because they follow from others: "
		"{_repeats} row{_repeats|s}]");
}

/* Whether there are any. */
static bool add_misses(struct facts *f, const struct session *s)
{
	const struct fact *list = facts_list(f, "misses");

	for (size_t i = 0; i < s->system->n_rows; i++)
		if (s->state[i] == PAPER_MISSED)
			facts_text(f, NULL, s->system->rows[i].id);
	facts_end(f);
	if (list->first)
		facts_line(f, NULL, "misses: {misses}; see the notes above");
	return list->first;
}

static int report(struct session *s, struct err *e)
{
	struct facts *f = &s->facts;
	bool misses;
	int code;

	facts_init(f);
	facts_text(f, "weft", WEFT_VERSION);
	facts_text(f, "system", s->system->name);
	facts_text(f, "citation", s->system->citation);
	facts_count(f, "seed", s->args->seed);
	facts_list(f, "rows");
	if (!s->args->is_json)
		print_head(s);
	code = measure_all(s, e);
	facts_end(f);
	add_sums(f, s);
	misses = add_misses(f, s);
	add_all_skipped(f, s);
	add_missing(f, s->system);
	facts_text(f, "ending", s->is_stopped ? "stopped" : "finished");
	if (cli_tell(s->args, f, CLI_PLAIN, e) || code)
		return -1;
	if (s->is_stopped)
		return EXIT_STOPPED;
	return misses ? EXIT_ANSWER_NO : EXIT_FINISHED;
}

static int choose(struct session *s, struct err *e)
{
	if (s->args->is_quick && s->args->is_long)
		return err_set(e, "want --quick or --long, not both");
	if (paper_select(s->system, s->args->word + 1, s->args->n_words - 1,
		    s->chosen, e))
		return -1;
	for (size_t i = 0; i < s->system->n_rows; i++)
		if (is_left(s, i))
			return 0;
	return err_set(e, "%s",
		s->args->is_quick
			? "--quick skips all of these rows; measure them "
			  "without it"
			: "these rows take more than 30 s each; measure them "
			  "with --long");
}

static int perform(struct session *s, struct err *e)
{
	struct paper_setup setup = {
		.seed = s->args->seed,
		.stop = cli_stop_flag(),
	};
	int code;

	s->lab = paper_lab_new(s->system, &setup);
	code = report(s, e);
	paper_lab_free(s->lab);
	return code;
}

static void list_papers(FILE *f)
{
	struct err none = { 0 };
	struct machine_files *all = paper_files(&none);

	for (size_t i = 0; i < all->n; i++) {
		struct paper_system *s = paper_read(all->path[i], &none);

		if (s)
			fprintf(f, "  %-13s %s\n", all->name[i], s->title);
		paper_free(s);
	}
	machine_files_free(all);
}

static int run(const struct cli_args *a, struct err *e)
{
	struct session s = {
		.args = a,
		.is_red = cli_colour(stdout),
		.talks = !a->is_quiet && isatty(STDERR_FILENO),
		.system = paper_find(a->word[0], e),
	};
	int code;

	if (!s.system)
		return -1;
	s.chosen = mem_alloc(s.system->n_rows, sizeof(*s.chosen));
	s.state = mem_alloc(s.system->n_rows, sizeof(*s.state));
	code = choose(&s, e) ? -1 : perform(&s, e);
	mem_free(s.state);
	mem_free(s.chosen);
	paper_free(s.system);
	return code;
}

const struct cli_command cli_paper = { .name = "paper",
	.brief = "reproduce the published numbers of a machine",
	.takes = CLI_RUN | CLI_JSON | CLI_PAPER,
	.usage = "SYSTEM [ID...]",
	.help = "Runs the experiments of a machine's paper on the model, and "
		"prints each published number with the model's value and the "
		"error.\vAn ID names a number of the paper (BGQ-N90, or N90a "
		"for one of its values); without one, all are measured. Rows "
		"that take more than 30 s need --long. The exit code is 1 if "
		"any row misses its tolerance.\n\nPapers:\n",
	.list = list_papers,
	.words = { 1, CLI_MAX_WORDS },
	.want = "want a system, as in `weft paper bgq`",
	.run = run };
