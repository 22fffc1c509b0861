#define _GNU_SOURCE
#include "cli/run.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/cluster.h"
#include "cli/run_error.h"
#include "cli/run_jobs.h"
#include "cli/run_partitions.h"
#include "machine/coarse.h"
#include "out/file.h"
#include "record/record.h"
#include "sim/cluster.h"

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

static bool talks(const struct cli_args *a, const struct cluster *c)
{
	return !a->is_quiet && isatty(STDERR_FILENO) && !c;
}

/* --- runs that follow it --- */

struct run_again run_again_begin(
	const struct cli_args *a, const struct machine_run *r, const char *what)
{
	return (struct run_again){
		.run = r,
		.what = what,
		.start = machine_clock(),
		.talks = talks(a, r->setup.cluster),
	};
}

void run_again_set_up(const struct run_again *x, struct machine_run_setup *s)
{
	*s = x->run->setup;
	s->cluster = NULL; /* its processes have a run each */
	s->check = NULL;
	s->stop = NULL;
	s->on_progress = NULL;
	s->book = NULL;
	s->launch.is_silent = true; /* it has been printed */
}

void run_again_on_done(void *arg, size_t i, const struct batch_result *r)
{
	((struct run_again *)arg)->result[i] = *r;
}

void run_again_on_wait(void *arg)
{
	const struct run_again *x = arg;
	char line[80];

	if (!x->talks)
		return;
	snprintf(line, sizeof(line), "%s: %.0f s", x->what,
		machine_clock() - x->start);
	cli_progress(line);
}

void run_again_end(const struct run_again *x)
{
	if (x->talks)
		cli_progress(NULL);
}

/* --- budgets --- */

const struct book_how *run_book_how(
	const struct cli_args *a, struct book_how *how)
{
	*how = (struct book_how){
		.follows = a->follows,
		.node = a->follow_node,
		.number = a->follow_number,
	};
	return a->is_budget || a->follows ? how : NULL;
}

static int book_check(
	const struct cli_args *a, const struct topo *t, struct err *e)
{
	if (a->follows && a->follow_node >= t->n_nodes)
		return err_set(e, "--follow: the machine has nodes 0 to %u",
			t->n_nodes - 1);
	return 0;
}

static int book_missed(
	const struct cli_args *a, const struct net *n, struct err *e)
{
	uint32_t sent;

	if (!a->follows)
		return 0;
	sent = book_n_sent(n->book, a->follow_node);
	if (a->follow_number < sent)
		return 0;
	if (!sent)
		return err_set(
			e, "--follow: node %u sent no message", a->follow_node);
	return err_set(e,
		"--follow: node %u sent only %u message%s, numbers 0 to %u",
		a->follow_node, sent, sent > 1 ? "s" : "", sent - 1);
}

/* --- telling --- */

static const int ending_code[] = {
	[LOAD_FINISHED] = EXIT_FINISHED,
	[LOAD_DEADLOCKED] = EXIT_DEADLOCK,
	[LOAD_SATURATED] = EXIT_LIMIT,
	[LOAD_STOPPED] = EXIT_STOPPED,
	[LOAD_STALLED] = EXIT_DEADLOCK,
	[LOAD_TIMEOUT] = EXIT_FINISHED, /* as it was asked for */
	[LOAD_FAILED] = EXIT_ANSWER_NO,
};

/* " load=max ..." */
static void add_words(struct facts *f, const struct cli_args *a)
{
	struct stream o;

	stream_open(&o);
	for (size_t i = 2; i < a->n_words; i++)
		fprintf(o.file, " %s", a->word[i]);
	fflush(o.file);
	facts_text(f, "_words", o.text);
	cli_out_drop(&o);
}

static void add_description(struct facts *f, const struct load *l)
{
	char text[256];

	l->ops->describe(l, text, sizeof(text));
	facts_text(f, "_what", text);
	facts_line(f, NULL, "{_machine}, {_what}: {ending}");
}

static void add_head(
	struct facts *f, const struct cli_args *a, const struct machine_run *r)
{
	facts_text(f, "weft", WEFT_VERSION);
	facts_of_machine(f, r->machine);
	facts_same(f, "nodes", r->machine->topo->n_nodes);
	facts_text(f, "workload", r->load->ops->name);
	facts_text(f, "via", r->result.via);
	facts_of_params(f, "params", &r->keys);
	facts_list(f, "set");
	for (size_t i = 0; i < a->n_sets; i++)
		facts_text(f, NULL, a->set[i]);
	facts_end(f);
	facts_same(f, "seed", a->seed);
	facts_count(f, "threads", r->threads);
	if (*r->machine->advice)
		facts_text(f, "warning", r->machine->advice);
	facts_text(f, "ending", load_ending_name(r->result.ending));
	if (r->result.ending == LOAD_FAILED)
		facts_text(f, "error", r->result.why);
	add_words(f, a);
	if (r->load->ops->describe)
		add_description(f, r->load);
	else
		facts_line(f, NULL,
			"{_machine}, {nodes} node{nodes|s}: "
			"{workload}{_words}: {ending}");
	facts_line(f, "warning", "[{warning}]");
	run_error_head(f);
	/* elsewhere it is the last line that weft prints */
	if (a->report)
		facts_line(f, "error", "[{error}]");
}

/* What `weft run` tells. */
static void add_all(struct facts *f, const struct cli_args *a,
	const struct machine_run *r, const struct batch_result *alone,
	const struct run_error *error)
{
	struct book_how how;

	run_book_how(a, &how);
	add_head(f, a, r);
	facts_print(f, "digest", "%016" PRIx64, r->digest);
	facts_of_warnings(f, r);
	facts_real(f, "sim_time_ns", sim_ns(r->result.end))->merge = FACT_MAX;
	facts_group(f, "results");
	facts_of_results(f, r, a->is_histogram);
	facts_end(f);
	run_jobs_facts(f, r, alone);
	run_error_facts(f, r, error);
	facts_of_faults(f, r);
	facts_of_energy(f, r);
	facts_of_card(f, r);
	facts_of_budget(f, r->system->net, a->is_budget, &how);
	facts_of_work(f, r);
	facts_of_ranks(f, r);
	facts_place(f, FACTS_AT_END);
	facts_line(f, "simulated",
		"{sim_time_ns:u} in {work.wall_s:.2f} s on {threads} "
		"thread{threads|s}: {work.packets} packet{work.packets|s}, "
		"{work.packet_hops} packet-hop{work.packet_hops|s}[, "
		"{work._ns_each:.0f} ns of CPU time each][; "
		"{work._setup:.1f} s to set it up][; {work._checks:.1f} s for "
		"checks]");
	facts_line(f, "digest", "{digest}");
}

int run_ending_code(enum load_ending e)
{
	return ending_code[e];
}

/* Of several processes, the first one writes files. */
static bool writes(const struct machine_run_setup *s)
{
	return !s->cluster || !s->cluster->me;
}

static int share_error(const struct machine_run *r, struct err *e)
{
	return sim_share_error(r->load->net->sim, e);
}

static int write_links(
	const char *path, const struct machine_run *r, struct err *e)
{
	struct out_file f = { 0 };

	if (writes(&r->setup))
		out_file_open(&f, path, &out_links, e);
	if (share_error(r, e))
		return -1;
	facts_write_links(f.stream, r);
	return f.stream ? out_file_close(&f, e) : 0;
}

/* Beside what a program prints, and in a file, it is clear who speaks. */
static void write_report(
	const struct cli_args *a, const struct facts *f, FILE *out)
{
	static const char who[] = "weft: ";
	struct stream o;

	stream_open(&o);
	cli_write(a, f, CLI_PLAIN, o.file);
	fflush(o.file);
	if (!a->is_json && strncmp(o.text, who, strlen(who)) != 0)
		fputs(who, out);
	fputs(o.text, out);
	cli_out_drop(&o);
}

static int write_file(
	const struct cli_args *a, const struct facts *f, struct err *e)
{
	struct out_file file;

	if (out_file_open(&file, a->report, &out_report, e))
		return -1;
	write_report(a, f, file.stream);
	return out_file_close(&file, e);
}

/* In place of a report that an earlier run has left, what went wrong in this
 * one. */
static void report_error(const struct cli_args *a, const struct err *e)
{
	struct err none = { 0 };
	struct facts f;

	facts_init(&f);
	facts_text(&f, "weft", WEFT_VERSION);
	facts_text(&f, "ending", "failed");
	facts_text(&f, "error", e->text);
	facts_line(&f, NULL, "{error}");
	write_file(a, &f, &none);
	facts_fini(&f);
}

/* The workload's own, of a run that has finished. */
static int write_load(const struct machine_run *r, struct err *e)
{
	const struct load *l = r->load;
	const char *path = l->ops->file ? l->ops->file(l) : NULL;
	struct out_file f;

	if (!path || r->result.ending != LOAD_FINISHED || !writes(&r->setup))
		return 0;
	if (out_file_open(&f, path, &out_computing, e))
		return -1;
	l->ops->write(l, f.stream);
	return out_file_close(&f, e);
}

static int check_load(const struct machine_run *r, struct err *e)
{
	const char *path =
		r->load->ops->file ? r->load->ops->file(r->load) : NULL;

	return path ? out_file_check(path, &out_computing, e) : 0;
}

static int print_report(
	const struct cli_args *a, const struct facts *f, struct err *e)
{
	write_report(a, f, stderr);
	return fflush(stderr) || ferror(stderr)
		       ? err_set(e, "cannot write the report to standard error")
		       : 0;
}

/* Where the programs print, the report does not. */
static int tell_facts(struct facts *f, const struct cli_args *a,
	const struct machine_run *r, struct err *e)
{
	int code = 0;

	if (!a->report && !load_prints(r->load))
		return cli_tell(a, f, CLI_PLAIN, e);
	if (a->report && writes(&r->setup))
		code = write_file(a, f, e);
	else if (!a->report && writes(&r->setup))
		code = print_report(a, f, e);
	facts_fini(f);
	return code;
}

int run_tell(struct facts *f, const struct cli_args *a,
	const struct machine_run *r, struct err *e)
{
	tell_facts(f, a, r, e);
	if (share_error(r, e) || (a->links && write_links(a->links, r, e)) ||
		write_load(r, e) || book_missed(a, r->system->net, e))
		return -1;
	if (r->result.ending == LOAD_STALLED || r->result.ending == LOAD_FAILED)
		return err_set_code(
			e, ending_code[r->result.ending], "%s", r->result.why);
	return ending_code[r->result.ending];
}

static int tell(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	struct batch_result *alone = run_jobs_alone(a, r, e);
	struct run_error *error = e->code ? NULL : run_error(a, r, e);
	struct facts f;

	if (e->code) {
		mem_free(alone);
		return -1;
	}
	facts_init(&f);
	add_all(&f, a, r, alone, error);
	mem_free(alone);
	mem_free(error);
	return run_tell(&f, a, r, e);
}

/* --- running --- */

/* Everything is told, whichever way it ended. */
static int perform(struct machine_run *r, struct record *k, struct err *e)
{
	if (!machine_run_perform(r, e)) {
		if (k && r->result.ending == LOAD_FAILED)
			record_why(k, r->result.why);
		return !k || !record_end(
				     k, load_ending_name(r->result.ending), e)
			       ? 0
			       : -1;
	}
	/* an error that all processes do not know is the host's */
	if (k && r->setup.cluster && !r->setup.cluster->knows_error)
		record_stop(k, e->text);
	else if (k)
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

static int check_files(const struct cli_args *a, struct err *e)
{
	return (a->links && out_file_check(a->links, &out_links, e)) ||
			       (a->report && out_file_check(a->report,
						     &out_report, e)) ||
			       (a->output &&
				       out_file_check(a->output, &out_run, e))
		       ? -1
		       : 0;
}

int run_perform(struct machine_run *r, const struct cli_args *a,
	struct machine_run_setup *s, struct err *e)
{
	struct ticker k = { 0 };
	struct record_messages *m = NULL;
	struct book_how how;
	int failed;

	if (a->sample && !a->output)
		return err_set(e, "--sample has no effect without --output");
	if (writes(s) && check_files(a, e) && !s->cluster)
		return -1;
	if (s->cluster && cluster_share_error(s->cluster, e))
		return -1;
	s->machine = cli_source(a);
	s->faults = a->faults;
	s->energy = a->energy;
	s->seed = a->seed;
	s->until = a->until;
	s->stop = cli_stop_asked();
	s->on_progress = talks(a, s->cluster) ? on_progress : NULL;
	s->progress_arg = &k;
	s->book = run_book_how(a, &how);
	if (a->output && s->book)
		m = record_messages_new(&how);
	failed = machine_run_open(r, s, e) ||
		 book_check(a, r->machine->topo, e) || check_load(r, e) ||
		 run_error_check(a, r, e);
	k.start = machine_clock();
	if (!failed)
		failed = run_recorded(r, a, m, e);
	record_messages_free(m);
	if (s->on_progress)
		cli_progress(NULL);
	return failed ? -1 : 0;
}

static void list_loads(FILE *f)
{
	for (size_t i = 0; load_registry[i]; i++)
		fprintf(f, "  %-13s %s\n", load_registry[i]->name,
			load_registry[i]->help);
}

/* A word that a shell has cut off another: load=5 GB/s. */
static int check_cut(const struct cli_args *a, struct err *e)
{
	for (size_t i = 3; i < a->n_words; i++)
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
		"until", "faults", "tables", "jobs", "output", "set",
		"energy" };
	const struct load_ops *ops = load_find(a->word[1]);
	size_t n;

	for (size_t i = 2; i < a->n_words; i++) {
		n = strcspn(a->word[i], "=");
		for (size_t k = 0; k < sizeof(options) / sizeof(options[0]);
			k++) {
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

/* Keys that belong to no workload. */
static bool are_runs_keys(const struct cli_args *a)
{
	size_t i = 1;

	while (i < a->n_words && coarse_is_key(a->word[i]))
		i++;
	return i == a->n_words;
}

static int check_words(const struct cli_args *a, struct err *e)
{
	if (a->n_words > 1 && a->jobs && !are_runs_keys(a))
		return err_set(e,
			"--jobs: the jobs file names the workloads; want `weft "
			"run %.60s --jobs %.200s`",
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
					 "want a workload after the machine, "
					 "as in `weft run %.60s random`; `weft "
					 "help run` lists them",
					 a->word[0]);
	return check_keys(a, e);
}

static int run_all(
	const struct cli_args *a, struct cluster *cluster, struct err *e)
{
	static struct machine_run r; /* too big for a stack */
	struct machine_run_setup s = {
		.programs = &app_ops,
		.cluster = cluster,
		.check = cluster ? cli_cluster_check : NULL,
		.trial = a->trial,
	};
	bool is_done = false;
	int code;

	if (cli_launch(a, &s.launch, e))
		return -1;
	code = run_partitions(a, cluster, &s.loaded, &is_done, e);
	if (code || is_done)
		return code;
	s.jobs = a->jobs;
	s.workload = a->jobs ? "jobs" : a->word[1];
	s.keys = a->word + (a->jobs ? 1 : 2);
	s.n_keys = a->n_words - (a->jobs ? 1 : 2);
	s.threads = a->threads;
	s.command = a->rest;
	s.allows_programs = a->allows_programs;
	code = run_perform(&r, a, &s, e);
	cli_cluster_hush(cluster);
	if (!code)
		code = r.load->arg ? app_tell(&r, a, e) : tell(a, &r, e);
	else if (a->report && r.is_performed && writes(&r.setup))
		report_error(a, e);
	if (s.loaded != r.machine)
		machine_free(s.loaded); /* nobody has taken it */
	machine_run_close(&r);
	return code;
}

static int run(const struct cli_args *a, struct err *e)
{
	struct cluster *c;

	if (check_words(a, e))
		return cli_cluster_end(NULL, -1, e);
	if (cli_cluster_begin(a, &c, e))
		return cli_cluster_end(c, -1, e);
	return cli_cluster_end(c, run_all(a, c, e), e);
}

const struct cli_command cli_run = { .name = "run",
	.brief = "run a workload on a machine",
	.takes = CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS | CLI_RECORD |
		 CLI_JOBS | CLI_JSON | CLI_REST | CLI_FILE | CLI_ALLOW |
		 CLI_LAUNCH | CLI_PROCESSES,
	.usage = "MACHINE WORKLOAD [KEY=VALUE...] [-- PROGRAM ...]",
	.help = "Runs a workload on a machine and prints the "
		"results.\vWorkloads (`weft params WORKLOAD` lists the keys of "
		"one):\n",
	.list = list_loads,
	.words = { 0, CLI_MAX_WORDS },
	.run = run };
