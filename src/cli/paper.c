#define _GNU_SOURCE
#include "cli/cli.h"
#include "machine/run.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "out/json.h"
#include "paper/paper.h"

enum { WHAT_WIDTH = 36 };

/* One row at a time goes through here, and is printed at once. */
struct session {
	const struct cli_args *args;
	const struct paper_system *system;
	bool *chosen; /* [row] */
	struct paper_lab *lab;
	struct json json;
	bool is_red; /* colours on stdout */
	bool talks; /* on a terminal at stderr */
	bool is_stopped;
	const char *now; /* the row that is being measured */
	const char *note; /* the last one that was printed */
	double last; /* time of the last progress */
	/* [kind], of values that do not follow from others */
	uint32_t n_values[N_PAPER_KINDS], n_passed[N_PAPER_KINDS];
	uint32_t n_repeats;
	bool *missed; /* [row] */
};

static void on_progress(void *arg, const struct load_progress *p)
{
	struct session *s = arg;
	double now = machine_clock();
	char line[128];
	int n;

	if (now - s->last < 0.2)
		return;
	s->last = now;
	n = snprintf(line, sizeof(line), "%.60s: %.0f us simulated", s->now,
		(double)p->now / SIM_NS / 1e3);
	if (p->per_mille)
		snprintf(line + n, sizeof(line) - (size_t)n, ", %u %%",
			p->per_mille > 1000 ? 100 : p->per_mille / 10);
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
	json_real_if(j, "model", r->is_measured, r->model);
	json_real_if(j, "error_pct", r->is_measured && is_compared(row),
		r->error_pct);
	json_real_if(j, "tolerance_pct", is_compared(row), r->tolerance_pct);
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

/* Four digits; what is larger than they show is whole all the same. */
static void put_value(double value, bool is_known)
{
	if (is_known)
		printf(" %8.*f",
			value >= 1000  ? 0
			: value >= 100 ? 1
				       : 2,
			value);
	else
		printf(" %8s", "-");
}

static void print_head(const struct session *s)
{
	const char *on = s->is_red ? "\033[1m" : "";

	printf("%s%-9s  %-*s %8s %8s %-5s %7s  %s%s\n", on, "id", WHAT_WIDTH,
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
	if (s->is_red && !r->pass)
		fputs("\033[31m", stdout);
	printf("%-9s  %-*s", row->id, WHAT_WIDTH, row->what);
	put_value(row->paper, is_compared(row));
	put_value(r->model, r->is_measured);
	printf(" %-5s", row->unit);
	if (r->is_measured && is_compared(row))
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

/* A value counts once, however many of its rows are measured. */
static void count_row(struct session *s, size_t i, bool pass)
{
	const struct paper_row *rows = s->system->rows, *first = NULL;

	s->missed[i] = !pass;
	if (rows[i].repeats)
		first = paper_row(s->system, rows[i].repeats);
	if (first && is_left(s, (size_t)(first - rows))) {
		s->n_repeats++;
		return;
	}
	s->n_values[rows[i].kind]++;
	s->n_passed[rows[i].kind] += pass;
}

static void measure_row(struct session *s, size_t i)
{
	const struct paper_row *row = &s->system->rows[i];
	struct paper_result r;

	s->now = row->id;
	if (s->talks)
		cli_progress(row->id);
	paper_measure(s->lab, row, &r);
	clear_line(s);
	if (r.is_stopped) {
		s->is_stopped = true;
		return;
	}
	count_row(s, i, r.pass);
	if (s->args->is_json)
		json_row(s, row, &r);
	else
		print_row(s, row, &r);
}

static void measure_all(struct session *s)
{
	size_t i;

	for (i = 0; i < s->system->n_rows && !s->is_stopped; i++)
		if (is_left(s, i))
			measure_row(s, i);
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

static void json_sums(struct session *s)
{
	struct json *j = &s->json;
	int k;

	json_object(j, "values");
	for (k = 0; k < PAPER_QUALITATIVE; k++) {
		json_object(j, paper_kind_names[k]);
		json_count(j, "passed", s->n_passed[k]);
		json_count(j, "missed", s->n_values[k] - s->n_passed[k]);
		json_end(j, '}');
	}
	json_end(j, '}');
	json_count(j, "passed", sum(s->n_passed));
	json_count(j, "missed", sum(s->n_values) - sum(s->n_passed));
}

static void json_misses(struct session *s)
{
	size_t i;

	json_array(&s->json, "misses");
	for (i = 0; i < s->system->n_rows; i++)
		if (s->missed[i])
			json_text(&s->json, NULL, s->system->rows[i].id);
	json_end(&s->json, ']');
}

static void json_session(struct session *s, FILE *f)
{
	json_init(&s->json, f);
	json_object(&s->json, NULL);
	json_text(&s->json, "weft", WEFT_VERSION);
	json_text(&s->json, "system", s->system->name);
	json_count(&s->json, "seed", s->args->seed);
	json_array(&s->json, "rows");
	measure_all(s);
	json_end(&s->json, ']');
	json_sums(s);
	json_misses(s);
	json_skipped(s);
	json_missing(s);
	json_text(&s->json, "ending", s->is_stopped ? "stopped" : "finished");
	json_end(&s->json, '}');
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
	const char *before = ": ";
	int k;

	printf("\n%u of %u independent values within tolerance",
		sum(s->n_passed), sum(s->n_values));
	for (k = 0; k < PAPER_QUALITATIVE; k++) {
		if (!s->n_values[k])
			continue;
		printf("%s%s %u of %u", before, paper_kind_names[k],
			s->n_passed[k], s->n_values[k]);
		before = ", ";
	}
	fputs("\n", stdout);
	if (s->n_repeats)
		printf("not counted, as they follow from others: %u row%s\n",
			s->n_repeats, s->n_repeats == 1 ? "" : "s");
}

static bool has_missed(const struct session *s)
{
	return memchr(s->missed, true, s->system->n_rows) != NULL;
}

static void print_misses(const struct session *s)
{
	const char *before = "misses: ";
	size_t i;

	if (!has_missed(s))
		return;
	for (i = 0; i < s->system->n_rows; i++) {
		if (!s->missed[i])
			continue;
		printf("%s%s", before, s->system->rows[i].id);
		before = ", ";
	}
	fputs("; see the notes above\n", stdout);
}

static void print_session(struct session *s)
{
	print_head(s);
	measure_all(s);
	print_sums(s);
	print_misses(s);
	print_skipped(s);
	print_missing(s->system);
}

static int report(struct session *s, struct err *e)
{
	struct cli_out out;

	if (!s->args->is_json) {
		print_session(s);
	} else {
		cli_out_open(&out);
		json_session(s, out.file);
		if (cli_out_close(&out, e))
			return -1;
	}
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
		.on_progress = s->talks ? on_progress : NULL,
		.progress_arg = s,
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
	s.missed = mem_alloc(s.system->n_rows, sizeof(*s.missed));
	code = choose(&s, e) ? -1 : perform(&s, e);
	mem_free(s.missed);
	mem_free(s.chosen);
	return code;
}
