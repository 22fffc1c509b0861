#define _GNU_SOURCE
#include "cli/run.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/run_jobs.h"
#include "cli/run_partitions.h"
#include "out/file.h"
#include "out/figure.h"
#include "out/json.h"
#include "record/record.h"

enum { MANY_HOPS = 10000 }; /* whose cost says something */
/* --- progress --- */

void cli_progress(const char *line)
{
	size_t columns = cli_width(stderr), most = columns ? columns - 1 : 79;

	fprintf(stderr, "\r%.*s\033[K", (int)most, line ? line : "");
}

struct ticker {
	double start, last;
};

static void on_progress(void *arg, const struct load_progress *p)
{
	struct ticker *k = arg;
	double now = machine_clock(), spent = now - k->start;
	char time[48], line[160];
	int n;

	if (now - k->last < 0.2)
		return;
	k->last = now;
	units_format(UNIT_TIME, p->now / SIM_NS * SIM_NS, time, sizeof(time));
	n = snprintf(line, sizeof(line), "%s simulated, %.2f M packet-hops/s",
		time, (double)p->hops / spent / 1e6);
	if (p->per_mille)
		snprintf(line + n, sizeof(line) - (size_t)n,
			", %u %%, %.0f s to go",
			p->per_mille > 1000 ? 100 : p->per_mille / 10,
			p->per_mille > 1000
				? 0
				: spent * (1000 - p->per_mille) / p->per_mille);
	cli_progress(line);
}

/* --- telling --- */

static const char *const ending_name[] = {
	[LOAD_FINISHED] = "finished",
	[LOAD_DEADLOCKED] = "deadlocked",
	[LOAD_SATURATED] = "saturated",
	[LOAD_STOPPED] = "stopped",
	[LOAD_STALLED] = "stalled",
	[LOAD_TIMEOUT] = "timeout",
};

static const int ending_code[] = {
	[LOAD_FINISHED] = EXIT_FINISHED,
	[LOAD_DEADLOCKED] = EXIT_DEADLOCK,
	[LOAD_SATURATED] = EXIT_LIMIT,
	[LOAD_STOPPED] = EXIT_STOPPED,
	[LOAD_STALLED] = EXIT_DEADLOCK,
	[LOAD_TIMEOUT] = EXIT_FINISHED, /* as it was asked for */
};

const char *run_ending_name(enum load_ending e)
{
	return ending_name[e];
}

static void json_latency(struct json *j, const struct hist *h)
{
	if (!h->n) {
		json_null(j, "latency_ns");
		return;
	}
	json_object(j, "latency_ns");
	json_real(j, "mean", sim_ns(hist_mean(h)));
	json_real(j, "p50", sim_ns(hist_quantile(h, 500)));
	json_real(j, "p99", sim_ns(hist_quantile(h, 990)));
	json_real(j, "max", sim_ns(h->max));
	json_count(j, "packets", h->n);
	json_end(j, '}');
}

/* A text's lines as an array, without the blanks before them. */
static void json_lines(struct json *j, const char *key, const char *text)
{
	char line[256];
	size_t n;

	json_array(j, key);
	for (; *text; text += n + (text[n] == '\n')) {
		text += strspn(text, " ");
		n = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		json_text(j, NULL, line);
	}
	json_end(j, ']');
}

static void json_results(
	struct json *j, const struct cli_args *a, const struct machine_run *r)
{
	const struct load_result *l = &r->result;
	uint32_t i;

	json_object(j, "results");
	json_real_if(j, "fraction_of_peak", l->has_peak && l->has_throughput,
		machine_run_fraction(r));
	if (l->has_peak)
		json_real(j, "peak_GBps_per_node", (double)l->peak_bps / 1e9);
	json_real_if(j, "throughput_GBps_per_node", l->has_throughput,
		machine_run_throughput(r));
	if (l->offered_bps)
		json_real(j, "offered_GBps_per_node",
			(double)l->offered_bps / 1e9);
	json_latency(j, &l->latency);
	if (a->is_histogram)
		run_histogram_json(j, &l->latency);
	for (i = 0; i < l->n_figures; i++)
		json_real(j, l->figure[i].name, l->figure[i].value);
	if (l->knot[0]) {
		json_count(j, "deadlocked_packets", l->n_knotted);
		json_lines(j, l->is_guests ? "class_routes" : "cycle", l->knot);
	}
	run_waiting_json(j, r);
	run_links_json(j, r);
	json_end(j, '}');
}

static void json_work(struct json *j, const struct machine_run *r)
{
	json_object(j, "work");
	json_count(j, "packets", r->packets);
	json_count(j, "packet_hops", r->hops);
	json_count(j, "events", r->events);
	json_real(j, "wall_s", r->wall_s);
	json_real(j, "cpu_s", r->cpu_s);
	json_real(j, "ns_per_packet_hop",
		r->hops ? r->cpu_s * 1e9 / (double)r->hops : 0);
	json_real(j, "bytes_per_node",
		(double)r->memory / r->system->net->n_nodes);
	json_end(j, '}');
}

static void json_block(
	struct json *j, const char *name, const struct param_block *b)
{
	char text[PARAM_TEXT_MAX];
	size_t i;

	json_object(j, name);
	for (i = 0; i < b->n_rows; i++) {
		param_format(b, &b->rows[i], text, sizeof(text));
		json_text(j, b->rows[i].name, text);
	}
	json_end(j, '}');
}

static void print_json(const struct cli_args *a, const struct machine_run *r,
	const struct batch_result *alone, FILE *f)
{
	char text[PARAM_TEXT_MAX];
	struct json j;
	size_t i;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "machine", r->machine->header.name);
	machine_shape(r->machine, text, sizeof(text));
	json_text(&j, "shape", text);
	json_count(&j, "nodes", r->system->net->n_nodes);
	json_text(&j, "workload", r->load->ops->name);
	json_text(&j, "via", r->result.via);
	json_block(&j, "params", &r->keys);
	json_array(&j, "set");
	for (i = 0; i < a->n_sets; i++)
		json_text(&j, NULL, a->set[i]);
	json_end(&j, ']');
	json_count(&j, "seed", a->seed);
	json_count(&j, "threads", r->threads);
	if (*r->machine->advice)
		json_text(&j, "warning", r->machine->advice);
	json_text(&j, "ending", ending_name[r->result.ending]);
	snprintf(text, sizeof(text), "%016" PRIx64, r->digest);
	json_text(&j, "digest", text);
	run_warnings_json(&j, r);
	json_real(&j, "sim_time_ns", sim_ns(r->result.end));
	json_results(&j, a, r);
	run_jobs_json(&j, r, alone);
	run_faults_json(&j, r->system->net, &r->result);
	run_parts_json(&j, r);
	run_budget_json(&j, a, r->system->net);
	json_work(&j, r);
	json_end(&j, '}');
}

static void print_figure(const struct load_figure *g, FILE *f)
{
	char name[FIGURE_NAME], text[FIGURE_TEXT];

	figure_title(g->name, name);
	figure_text(g->name, g->value, text);
	fprintf(f, "%-11s %s\n", name, text);
}

/* All in the unit of the mean. */
static void print_latency(const struct hist *h, FILE *f)
{
	const double ns[] = { sim_ns(hist_mean(h)),
		sim_ns(hist_quantile(h, 500)), sim_ns(hist_quantile(h, 990)),
		sim_ns(h->max) };
	struct figure_scale s = figure_scale("latency_ns", ns[0]);
	char text[4][FIGURE_TEXT];
	uint32_t i;

	for (i = 0; i < 4; i++)
		figure_scaled(ns[i], s, text[i]);
	fprintf(f, "latency     mean %s %s, median %s, p99 %s, max %s\n",
		text[0], s.unit, text[1], text[2], text[3]);
}

static void print_throughput(const struct machine_run *r, FILE *f)
{
	const struct load_result *l = &r->result;

	if (!l->has_throughput)
		return;
	fprintf(f, "throughput  %.4g GB/s per node", machine_run_throughput(r));
	if (l->offered_bps)
		fprintf(f, " of %.4g offered", (double)l->offered_bps / 1e9);
	if (l->has_peak)
		fprintf(f, ": %.1f %% of the peak of %.4g GB/s",
			machine_run_fraction(r) * 100,
			(double)l->peak_bps / 1e9);
	fputs("\n", f);
}

static void print_figures(
	const struct cli_args *a, const struct machine_run *r, FILE *f)
{
	const struct load_result *l = &r->result;
	const struct hist *h = &l->latency;
	uint32_t i;

	print_throughput(r, f);
	if (h->n)
		print_latency(h, f);
	if (a->is_histogram)
		run_histogram_text(f, h);
	for (i = 0; i < l->n_figures; i++)
		print_figure(&l->figure[i], f);
	if (r->hops)
		run_links_text(f, r);
	run_faults_text(f, r->system->net, &r->result);
	run_parts_text(f, r);
}

void run_knot_text(FILE *f, const struct load_result *l)
{
	if (l->knot[0])
		fprintf(f, "%" PRIu64 " packet%s %s:\n%s", l->n_knotted,
			cli_s(l->n_knotted),
			l->is_guests ? "of collectives cannot go on"
				     : "wait only for each other; these "
				       "buffers do",
			l->knot);
}

static void print_text(const struct cli_args *a, const struct machine_run *r,
	const struct batch_result *alone, FILE *f)
{
	const struct load_result *l = &r->result;
	char shape[PARAM_TEXT_MAX], time[FIGURE_TEXT];
	size_t i;

	machine_shape(r->machine, shape, sizeof(shape));
	fprintf(f, "%s %s, %u node%s: %s", r->machine->header.name, shape,
		r->system->net->n_nodes, cli_s(r->system->net->n_nodes),
		r->load->ops->name);
	for (i = 2; i < a->n_words; i++)
		fprintf(f, " %s", a->word[i]);
	fprintf(f, ": %s\n", ending_name[l->ending]);
	if (*r->machine->advice)
		fprintf(f, "warning     %s\n", r->machine->advice);
	run_knot_text(f, l);
	run_waiting_text(f, r);
	run_jobs_text(f, r, alone);
	print_figures(a, r, f);
	figure_time(sim_ns(l->end), time);
	fprintf(f,
		"simulated   %s in %.2f s on %u thread%s: %" PRIu64
		" packet%s, %" PRIu64 " packet-hop%s",
		time, r->wall_s, r->threads, cli_s(r->threads), r->packets,
		cli_s(r->packets), r->hops, cli_s(r->hops));
	/* of a few it is what setting up takes */
	if (r->hops >= MANY_HOPS)
		fprintf(f, ", %.0f ns of CPU time each",
			r->cpu_s * 1e9 / (double)r->hops);
	fprintf(f, "\ndigest      %016" PRIx64 "\n", r->digest);
	run_budget_text(f, a, r->system->net);
}

int run_ending_code(enum load_ending e)
{
	return ending_code[e];
}

int run_close(struct cli_out *out, const struct cli_args *a,
	const struct machine_run *r, struct err *e)
{
	if (cli_out_close(out, e) ||
		(a->links && run_links_write(a->links, r, e)) ||
		run_book_missed(a, r->system->net, e))
		return -1;
	if (r->result.ending == LOAD_STALLED)
		return err_set_code(e, EXIT_DEADLOCK, "%s", r->result.why);
	return ending_code[r->result.ending];
}

static int tell(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	struct batch_result *alone = run_jobs_alone(a, r, e);
	struct cli_out out;

	if (e->code)
		return -1;
	cli_out_open(&out);
	if (a->is_json)
		print_json(a, r, alone, out.file);
	else
		print_text(a, r, alone, out.file);
	mem_free(alone);
	return run_close(&out, a, r, e);
}

/* Everything is told, whichever way it ended. */
static int perform(struct machine_run *r, struct record *k, struct err *e)
{
	if (!machine_run_perform(r, e))
		return !k || !record_end(
				     k, run_ending_name(r->result.ending), e)
			       ? 0
			       : -1;
	if (k)
		record_fail(k, e->text);
	return -1;
}

static int run_recorded(struct machine_run *r, const struct cli_args *a,
	struct record_messages *m, struct err *e)
{
	struct record *k = NULL;
	char *command;
	int failed;

	if (a->output) {
		command = run_command(a, &r->setup);
		k = record_new(a->output, r, command, a->sample, e);
		mem_free(command);
		if (!k)
			return -1;
		record_keep(k, m);
	}
	cli_stop_flag();
	cli_guard_exit(true);
	failed = perform(r, k, e);
	cli_guard_exit(false);
	record_free(k);
	return failed;
}

int run_perform(struct machine_run *r, const struct cli_args *a,
	struct machine_run_setup *s, struct err *e)
{
	struct ticker k = { 0 };
	bool talks = !a->is_quiet && isatty(STDERR_FILENO);
	struct record_messages *m = NULL;
	struct book_how how;
	int failed;

	if (a->sample && !a->output)
		return err_set(e, "--sample means nothing without --output");
	if ((a->links && out_file_check(a->links, &out_links, e)) ||
		(a->output && out_file_check(a->output, &out_run, e)))
		return -1;
	s->machine = a->word[0];
	s->sets = a->set;
	s->n_sets = a->n_sets;
	s->shape = a->shape;
	s->faults = a->faults;
	s->plugins = a->plugin;
	s->n_plugins = a->n_plugins;
	s->seed = a->seed;
	s->until = a->until;
	s->stop = cli_stop_asked();
	s->on_progress = talks ? on_progress : NULL;
	s->progress_arg = &k;
	s->book = run_book_how(a, &how);
	if (a->output && s->book)
		m = record_messages_new(&how);
	failed = machine_run_open(r, s, e) ||
		 run_book_check(a, r->machine->topo, e);
	k.start = machine_clock();
	if (!failed)
		failed = run_recorded(r, a, m, e);
	record_messages_free(m);
	if (talks)
		cli_progress(NULL);
	return failed ? -1 : 0;
}

static void list_loads(char *text, size_t size)
{
	size_t n = 0, i;

	n += (size_t)snprintf(text, size,
		"Runs a workload on a machine and reports the "
		"result.\vWorkloads (`weft params WORKLOAD` lists the keys of "
		"one):\n");
	for (i = 0; load_registry[i] && n < size; i++)
		n += (size_t)snprintf(text + n, size - n, "  %-13s %s\n",
			load_registry[i]->name, load_registry[i]->help);
}

/* A word that a shell has cut off another: load=5 GB/s. */
static int check_cut(const struct cli_args *a, struct err *e)
{
	size_t i;

	for (i = 3; i < a->n_words; i++)
		if (units_is_unit(a->word[i]) && strchr(a->word[i - 1], '='))
			return err_set(e,
				"%s %s: two words; want %s%s, or quotes around "
				"them",
				a->word[i - 1], a->word[i], a->word[i - 1],
				a->word[i]);
	return 0;
}

static bool has_key(const struct load_ops *ops, const char *key)
{
	size_t i = 0;

	while (i < ops->n_params && strcmp(ops->params[i].name, key) != 0)
		i++;
	return i < ops->n_params;
}

/* Options that are written like keys. */
static int check_keys(const struct cli_args *a, struct err *e)
{
	static const char *const options[] = { "seed", "threads", "shape",
		"until", "faults", "jobs", "output", "set" };
	const struct load_ops *ops = load_find(a->word[1]);
	size_t i, k, n;

	for (i = 2; i < a->n_words; i++) {
		n = strcspn(a->word[i], "=");
		for (k = 0; k < sizeof(options) / sizeof(options[0]); k++) {
			if (!a->word[i][n] || strlen(options[k]) != n ||
				strncmp(a->word[i], options[k], n) != 0)
				continue;
			if (ops && !has_key(ops, options[k]))
				return err_set(e,
					"%s is an option, not a key of %s; "
					"want --%s %s",
					options[k], ops->name, options[k],
					a->word[i] + n + 1);
		}
	}
	return check_cut(a, e);
}

static int check_words(const struct cli_args *a, struct err *e)
{
	if (a->n_words > 1 && a->jobs)
		return err_set(e,
			"--jobs: the workloads are in the file; want `weft run "
			"%.60s --jobs %.200s`",
			a->word[0], a->jobs);
	if (a->jobs && a->n_words)
		return 0;
	if (!a->n_words)
		return err_set(e, "want a machine and a workload, as in `weft "
				  "run torus random`");
	if (a->n_words == 1 && !strcmp(a->word[0], "help"))
		return err_set(e, "want `weft help run`");
	if (a->n_words == 1)
		return load_find(a->word[0])
			       ? err_set(e,
					 "want a machine before the workload, "
					 "as in `weft run torus %s`",
					 a->word[0])
			       : err_set(e,
					 "want a workload behind the machine, "
					 "as in `weft run %.60s random`; `weft "
					 "help run` lists them",
					 a->word[0]);
	return check_keys(a, e);
}

int cli_run(int argc, char **argv, struct err *e)
{
	static struct machine_run r; /* too big for a stack */
	struct machine_run_setup s = { 0 };
	struct cli_args args;
	bool is_done = false;
	char help[4096];
	int code;

	list_loads(help, sizeof(help));
	code = cli_parse(&args, argc, argv,
		CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS | CLI_RECORD |
			CLI_JOBS | CLI_JSON,
		"MACHINE WORKLOAD [KEY=VALUE...]", help, e);
	if (code)
		return code < 0 ? -1 : 0;
	if (check_words(&args, e))
		return -1;
	code = run_partitions(&args, &s.loaded, &is_done, e);
	if (code || is_done)
		return code;
	s.jobs = args.jobs;
	s.workload = args.jobs ? "jobs" : args.word[1];
	s.keys = args.word + 2;
	s.n_keys = args.jobs ? 0 : args.n_words - 2;
	s.threads = args.threads;
	s.programs = &app_ops;
	code = run_perform(&r, &args, &s, e);
	if (!code)
		code = r.load->arg ? app_tell(&r, &args, e)
				   : tell(&args, &r, e);
	if (s.loaded != r.machine)
		machine_free(s.loaded); /* nobody has taken it */
	machine_run_close(&r);
	return code;
}
