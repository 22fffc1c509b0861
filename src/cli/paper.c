#define _GNU_SOURCE
#include "cli/cli.h"
#include "machine/run.h"
#include "sim/barrier.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "out/json.h"
#include "paper/paper.h"

enum { WHAT_WIDTH = 36 };

/* Rows are printed in the paper's order, as soon as they can be. */
struct session {
	const struct cli_args *args;
	const struct paper_system *system;
	bool *chosen; /* [row] */
	enum paper_state *state; /* [row] */
	struct paper_lab *lab;
	struct json json;
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

static void json_row(struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	char text[PAPER_COMMAND_MAX];
	struct json *j = &s->json;

	json_object(j, NULL);
	json_text(j, "id", row->id);
	json_text(j, "what", row->what);
	json_text(j, "unit", row->unit);
	json_real_if(j, "paper", is_compared(row), row->paper);
	json_text(j, "rule", paper_rule_names[row->rule]);
	json_real_if(j, "model", r->is_measured, r->model);
	json_real_if(
		j, "error_pct", r->is_measured && has_error(row), r->error_pct);
	json_real_if(j, "tolerance_pct", has_error(row), r->tolerance_pct);
	paper_tolerance(row, text, sizeof(text));
	json_text(j, "tolerance", text);
	json_text(j, "kind", paper_kind_names[row->kind]);
	json_text(j, "repeats", row->repeats);
	json_flag(j, "pass", r->pass);
	json_text(j, "note", r->is_measured ? row->note : r->why);
	paper_command(s->system, row, text, sizeof(text));
	json_text(j, "command", text);
	json_end(j, '}');
}

static void print_head(const struct session *s)
{
	const char *on = s->is_red ? "\033[1m" : "";

	printf("%s\n\n", s->system->citation);
	printf("%s%-9s  %-*s %9s %8s %-5s %7s  %s%s\n", on, "id", WHAT_WIDTH,
		"what", "paper", "model", "unit", "error", "kind",
		s->is_red ? "\033[0m" : "");
}

static void print_notes(struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	char text[PAPER_COMMAND_MAX];

	if (!r->is_measured)
		printf("           %s\n", r->why);
	else if (row->note && row->note != s->note &&
		 (!r->pass || s->args->is_verbose))
		printf("           %s\n", s->note = row->note);
	if (!s->args->is_verbose)
		return;
	paper_tolerance(row, text, sizeof(text));
	printf("           tolerance %s; ", text);
	paper_command(s->system, row, text, sizeof(text));
	printf("%s\n", text);
}

static void print_row(struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	char paper[32], model[32] = "-";

	paper_value(row, paper, sizeof(paper));
	if (r->is_measured)
		paper_digits(r->model, model, sizeof(model));
	if (s->is_red && !r->pass)
		fputs("\033[31m", stdout);
	printf("%-9s  %-*s %9s %8s %-5s", row->id, WHAT_WIDTH, row->what, paper,
		model, row->unit);
	if (r->is_measured && has_error(row))
		printf(" %+5.1f %%", r->error_pct);
	else
		printf(" %7s", "-");
	printf("  %-11s %s%s\n", paper_kind_names[row->kind],
		!r->is_measured	    ? "FAILS"
		: !is_compared(row) ? "-"
		: r->pass	    ? "ok"
				    : "MISSES",
		s->is_red && !r->pass ? "\033[0m" : "");
	print_notes(s, row, r);
	fflush(stdout);
}

static bool is_left(const struct session *s, size_t i)
{
	return s->chosen[i] &&
	       !(s->args->is_quick &&
		       paper_is_slow(s->system, &s->system->rows[i]));
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
	if (s->args->is_json)
		json_row(s, row, &r);
	else
		print_row(s, row, &r);
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
	size_t i;

	for (i = 0; i < s->system->n_rows; i++)
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

static void json_missing(struct session *s)
{
	const struct paper_missing *m = s->system->missing;
	char id[PAPER_ID_MAX];
	uint32_t k;
	size_t i;

	json_array(&s->json, "missing");
	for (i = 0; i < s->system->n_missing; i++)
		for (k = m[i].first; k <= m[i].last; k++) {
			snprintf(id, sizeof(id), "%sN%u", s->system->prefix, k);
			json_text(&s->json, NULL, id);
		}
	json_end(&s->json, ']');
}

static void json_skipped(struct session *s)
{
	size_t i;

	json_array(&s->json, "skipped");
	for (i = 0; i < s->system->n_rows; i++)
		if (s->chosen[i] && !is_left(s, i))
			json_text(&s->json, NULL, s->system->rows[i].id);
	json_end(&s->json, ']');
}

/* Of values that the paper printed. */
static uint32_t sum(const uint32_t *n)
{
	uint32_t k, all = 0;

	for (k = 0; k < PAPER_QUALITATIVE; k++)
		all += n[k];
	return all;
}

static void json_counts(
	struct json *j, const char *name, uint32_t n, uint32_t passed)
{
	json_object(j, name);
	json_count(j, "passed", passed);
	json_count(j, "missed", n - passed);
	json_end(j, '}');
}

static void json_sums(struct session *s)
{
	struct paper_sums x = paper_sum(s->system, s->state);
	struct json *j = &s->json;
	int k;

	json_object(j, "values");
	for (k = 0; k < PAPER_QUALITATIVE; k++)
		json_counts(j, paper_kind_names[k], x.n[k], x.passed[k]);
	json_end(j, '}');
	json_count(j, "passed", sum(x.passed));
	json_count(j, "missed", sum(x.n) - sum(x.passed));
	json_counts(j, "bounds", x.n_bounds, x.bounds_passed);
}

static void json_misses(struct session *s)
{
	size_t i;

	json_array(&s->json, "misses");
	for (i = 0; i < s->system->n_rows; i++)
		if (s->state[i] == PAPER_MISSED)
			json_text(&s->json, NULL, s->system->rows[i].id);
	json_end(&s->json, ']');
}

static int json_session(struct session *s, FILE *f, struct err *e)
{
	int code;

	json_init(&s->json, f);
	json_object(&s->json, NULL);
	json_text(&s->json, "weft", WEFT_VERSION);
	json_text(&s->json, "system", s->system->name);
	json_text(&s->json, "citation", s->system->citation);
	json_count(&s->json, "seed", s->args->seed);
	json_array(&s->json, "rows");
	code = measure_all(s, e);
	json_end(&s->json, ']');
	json_sums(s);
	json_misses(s);
	json_skipped(s);
	json_missing(s);
	json_text(&s->json, "ending", s->is_stopped ? "stopped" : "finished");
	json_end(&s->json, '}');
	return code;
}

static void print_missing(const struct paper_system *p)
{
	const struct paper_missing *m = p->missing;
	uint32_t n = 0;
	size_t i, k;

	for (i = 0; i < p->n_missing; i++)
		n += m[i].last - m[i].first + 1;
	if (!n)
		return;
	printf("not measured yet: %u number%s, waiting for ", n, cli_s(n));
	for (i = 0; i < p->n_missing; i++) {
		for (k = 0; strcmp(m[k].what, m[i].what) != 0; k++)
			;
		if (k == i)
			printf("%s%s", i ? ", " : "", m[i].what);
	}
	fputs("\n", stdout);
}

static void print_skipped(const struct session *s)
{
	uint32_t n = 0;
	size_t i;

	for (i = 0; i < s->system->n_rows; i++)
		n += s->chosen[i] && !is_left(s, i);
	if (n)
		printf("left out by --quick: %u row%s\n", n, n == 1 ? "" : "s");
}

static void print_sums(const struct session *s)
{
	struct paper_sums x = paper_sum(s->system, s->state);
	const char *before = ": ";
	int k;

	fputs("\n", stdout);
	if (sum(x.n))
		printf("%u of %u independent values within tolerance",
			sum(x.passed), sum(x.n));
	for (k = 0; k < PAPER_QUALITATIVE; k++) {
		if (!x.n[k])
			continue;
		printf("%s%s %u of %u", before, paper_kind_names[k],
			x.passed[k], x.n[k]);
		before = ", ";
	}
	if (sum(x.n))
		fputs("\n", stdout);
	if (x.n_bounds)
		printf("%u of %u bounds and orders hold\n", x.bounds_passed,
			x.n_bounds);
	if (x.n_repeats)
		printf("not counted, as they follow from others: %u row%s\n",
			x.n_repeats, x.n_repeats == 1 ? "" : "s");
}

static bool has_missed(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->system->n_rows; i++)
		if (s->state[i] == PAPER_MISSED)
			return true;
	return false;
}

static void print_misses(const struct session *s)
{
	const char *before = "misses: ";
	size_t i;

	if (!has_missed(s))
		return;
	for (i = 0; i < s->system->n_rows; i++) {
		if (s->state[i] != PAPER_MISSED)
			continue;
		printf("%s%s", before, s->system->rows[i].id);
		before = ", ";
	}
	fputs("; see the notes above\n", stdout);
}

static int print_session(struct session *s, struct err *e)
{
	int code;

	print_head(s);
	code = measure_all(s, e);
	print_sums(s);
	print_misses(s);
	print_skipped(s);
	print_missing(s->system);
	return code;
}

static int report(struct session *s, struct err *e)
{
	struct cli_out out;
	int code;

	if (!s->args->is_json) {
		code = print_session(s, e);
	} else {
		cli_out_open(&out);
		code = json_session(s, out.file, e);
		if (cli_out_close(&out, e))
			return -1;
	}
	if (code)
		return -1;
	if (s->is_stopped)
		return EXIT_STOPPED;
	return has_missed(s) ? EXIT_ANSWER_NO : EXIT_FINISHED;
}

static int choose(struct session *s, struct err *e)
{
	size_t i;

	if (paper_select(s->system, s->args->word + 1, s->args->n_words - 1,
		    s->chosen, e))
		return -1;
	for (i = 0; i < s->system->n_rows; i++)
		if (is_left(s, i))
			return 0;
	return err_set(e,
		"all rows asked for take longer than --quick allows; measure "
		"them without it");
}

static int perform(struct session *s, struct err *e)
{
	struct paper_setup setup = {
		.seed = s->args->seed,
		.threads = s->args->threads,
		.stop = cli_stop_flag(),
	};
	int code;

	s->lab = paper_lab_new(s->system, &setup);
	code = report(s, e);
	paper_lab_free(s->lab);
	return code;
}

static void list_papers(char *text, size_t size)
{
	size_t n = 0, i;

	n += (size_t)snprintf(text, size,
		"Measures on the model the numbers that a machine's paper "
		"printed, and prints both with the error.\vAn ID names a "
		"number of the paper's datasheet (BGQ-N90, or N90a for one of "
		"its values); without one, all are measured. The exit code is "
		"1 if any row misses its tolerance.\n\nPapers:\n");
	for (i = 0; paper_registry[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "  %-13s %s\n",
			paper_registry[i]->name, paper_registry[i]->title);
}

int cli_paper(int argc, char **argv, struct err *e)
{
	struct cli_args args;
	struct session s = {
		.args = &args,
		.is_red = cli_colour(stdout),
	};
	char help[1024];
	int code;

	list_papers(help, sizeof(help));
	code = cli_parse(&args, argc, argv, CLI_RUN | CLI_JSON | CLI_PAPER,
		"SYSTEM [ID...]", help, e);
	if (code)
		return code < 0 ? -1 : 0;
	if (!args.n_words)
		return err_set(e, "want a system, as in `weft paper bgq`");
	s.talks = !args.is_quiet && isatty(STDERR_FILENO);
	s.system = paper_find(args.word[0], e);
	if (!s.system)
		return -1;
	s.chosen = mem_alloc(s.system->n_rows, sizeof(*s.chosen));
	s.state = mem_alloc(s.system->n_rows, sizeof(*s.state));
	code = choose(&s, e) ? -1 : perform(&s, e);
	mem_free(s.state);
	mem_free(s.chosen);
	return code;
}
