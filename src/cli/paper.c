#define _GNU_SOURCE
#include "cli/cli.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "out/json.h"
#include "paper/paper.h"

enum { WHAT_WIDTH = 36 };

/* One row at a time goes through here, and is told at once. */
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
	double last; /* time of the last progress */
	uint32_t n_rows[N_PAPER_KINDS], n_passed[N_PAPER_KINDS]; /* [kind] */
};

static void on_progress(void *arg, const struct load_progress *p)
{
	struct session *s = arg;
	double now = cli_clock();

	if (now - s->last < 0.2)
		return;
	s->last = now;
	fprintf(stderr, "\r%s: %.0f us simulated", s->now,
		(double)p->now / SIM_NS / 1e3);
	if (p->per_mille)
		fprintf(stderr, ", %u %%",
			p->per_mille > 1000 ? 100 : p->per_mille / 10);
	fputs("\033[K", stderr);
}

static void clear_line(const struct session *s)
{
	if (s->talks)
		fputs("\r\033[K", stderr);
}

/* --- rows --- */

static void json_row(struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	char text[PAPER_COMMAND_MAX];
	struct json *j = &s->json;

	json_object(j, NULL);
	json_text(j, "id", row->id);
	json_text(j, "what", row->what);
	json_text(j, "unit", row->unit);
	json_real(j, "paper", row->paper);
	if (r->is_measured) {
		json_real(j, "model", r->model);
		json_real(j, "error_pct", r->error_pct);
	} else {
		json_null(j, "model");
		json_null(j, "error_pct");
	}
	json_real(j, "tolerance_pct", r->tolerance_pct);
	paper_tolerance(row, text, sizeof(text));
	json_text(j, "tolerance", text);
	json_text(j, "kind", paper_kind_names[row->kind]);
	json_flag(j, "pass", r->pass);
	if (!r->is_measured)
		json_text(j, "note", r->why);
	else if (row->note)
		json_text(j, "note", row->note);
	else
		json_null(j, "note");
	paper_command(s->system, row, text, sizeof(text));
	json_text(j, "command", text);
	json_end(j, '}');
}

/* Four digits; what is larger than they show is whole all the same. */
static void put_value(double value)
{
	printf(" %8.*f", value >= 1000 ? 0 : value >= 100 ? 1 : 2, value);
}

static void print_head(const struct session *s)
{
	const char *on = s->is_red ? "\033[1m" : "";

	printf("%s%-9s  %-*s %8s %8s %-5s %7s  %s%s\n", on, "id", WHAT_WIDTH,
		"what", "paper", "model", "unit", "error", "kind",
		s->is_red ? "\033[0m" : "");
}

static void print_notes(const struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	char text[PAPER_COMMAND_MAX];

	if (!r->is_measured)
		printf("           %s\n", r->why);
	else if (row->note && (!r->pass || s->args->is_verbose))
		printf("           %s\n", row->note);
	if (!s->args->is_verbose)
		return;
	paper_tolerance(row, text, sizeof(text));
	printf("           tolerance %s; ", text);
	paper_command(s->system, row, text, sizeof(text));
	printf("%s\n", text);
}

static void print_row(const struct session *s, const struct paper_row *row,
	const struct paper_result *r)
{
	if (s->is_red && !r->pass)
		fputs("\033[31m", stdout);
	printf("%-9s  %-*s", row->id, WHAT_WIDTH, row->what);
	put_value(row->paper);
	if (r->is_measured)
		put_value(r->model);
	else
		printf(" %8s", "-");
	printf(" %-5s", row->unit);
	if (r->is_measured)
		printf(" %+5.1f %%", r->error_pct);
	else
		printf(" %7s", "-");
	printf("  %-10s %s%s\n", paper_kind_names[row->kind],
		r->pass		 ? "ok"
		: r->is_measured ? "MISSES"
				 : "FAILS",
		s->is_red && !r->pass ? "\033[0m" : "");
	print_notes(s, row, r);
	fflush(stdout);
}

static void measure_row(struct session *s, const struct paper_row *row)
{
	struct paper_result r;

	s->now = row->id;
	if (s->talks)
		fprintf(stderr, "\r%s\033[K", row->id);
	paper_measure(s->lab, row, &r);
	clear_line(s);
	if (r.is_stopped) {
		s->is_stopped = true;
		return;
	}
	s->n_rows[row->kind]++;
	s->n_passed[row->kind] += r.pass;
	if (s->args->is_json)
		json_row(s, row, &r);
	else
		print_row(s, row, &r);
}

static bool is_left(const struct session *s, size_t i)
{
	return s->chosen[i] &&
	       !(s->args->is_quick &&
		       paper_is_slow(s->system, &s->system->rows[i]));
}

static void measure_all(struct session *s)
{
	size_t i;

	for (i = 0; i < s->system->n_rows && !s->is_stopped; i++)
		if (is_left(s, i))
			measure_row(s, &s->system->rows[i]);
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

static uint32_t sum(const uint32_t *n)
{
	uint32_t k, all = 0;

	for (k = 0; k < N_PAPER_KINDS; k++)
		all += n[k];
	return all;
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
	json_count(&s->json, "passed", sum(s->n_passed));
	json_count(&s->json, "missed", sum(s->n_rows) - sum(s->n_passed));
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
	printf("%u numbers wait for ", n);
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
		printf("%u rows take longer and were left out by --quick\n", n);
}

static void print_session(struct session *s)
{
	int k;

	print_head(s);
	measure_all(s);
	printf("\n%u of %u rows within tolerance", sum(s->n_passed),
		sum(s->n_rows));
	for (k = 0; k < N_PAPER_KINDS; k++)
		if (s->n_rows[k])
			printf("; %s %u of %u", paper_kind_names[k],
				s->n_passed[k], s->n_rows[k]);
	fputs("\n", stdout);
	print_skipped(s);
	print_missing(s->system);
}

static int tell(struct session *s, struct err *e)
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
	return sum(s->n_passed) == sum(s->n_rows) ? EXIT_FINISHED
						  : EXIT_ANSWER_NO;
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
	return err_set(e, "what is asked for takes longer than --quick allows");
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
	code = tell(s, e);
	paper_lab_free(s->lab);
	return code;
}

static void list_papers(char *text, size_t size)
{
	size_t n = 0, i;

	n += (size_t)snprintf(text, size,
		"Measures on the model what a machine's paper printed, and "
		"prints paper, model and error.\v"
		"An ID is a number of the paper's datasheet (BGQ-N90, or N90a "
		"for one of its values); without any, all are measured. It "
		"ends with 1 where a row misses.\n\nPapers:\n");
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
	code = choose(&s, e) ? -1 : perform(&s, e);
	mem_free(s.chosen);
	return code;
}
