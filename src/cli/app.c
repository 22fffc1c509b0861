/*
 * The main program of programs written outside: they are run as a workload
 * that is not in the registry.
 */
#define _GNU_SOURCE
#include "weft/run.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "api/api.h"
#include "api/spi/spi.h"
#include "base/mem.h"
#include "base/name.h"
#include "cli/cluster.h"
#include "cli/process.h"
#include "cli/run.h"
#include "load/programs.h"
#include "meas/digest.h"

#define MOST_BYTES (UINT64_C(1) << 60) /* far more than any host has */

struct app {
	struct programs programs;
	struct start *starts; /* [rank] */
	uint8_t *ranks; /* what each was given */
	uint32_t n_ranks; /* node by node, each with all its processes */
	struct weft_result tells;
	char says[256];
	bool is_right;
};

/* How a program is started as a process of a node. */
struct start {
	const struct weft_app *app;
	void *mine;
};

static struct app *of(struct load *l)
{
	return (struct app *)l;
}

static const struct weft_app *app_of(const struct app *a)
{
	return a->programs.load.arg;
}

static void run_program(void *arg)
{
	const struct start *s = arg;

	if (s->app->is_system)
		program_become_system();
	s->app->run(s->mine);
}

/* --- as a workload --- */

/* Whether the program takes what stands behind --. */
static int check_arguments(
	const struct weft_app *is, const char *const *arguments, struct err *e)
{
	char why[200] = "";

	if (*arguments && !is->usage)
		return err_set(e,
			"takes no arguments after --, but got \"%.40s\"",
			*arguments);
	if (!is->accept || is->accept(arguments, why, sizeof(why)))
		return 0;
	return err_set(e, "%s (want -- %s)", *why ? why : "invalid arguments",
		is->usage ? is->usage : "");
}

static int app_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	const struct weft_app *is = l->arg;
	const struct api *api = NULL;
	struct app *a = of(l);

	if (is->interface && !(api = api_find(is->interface, e)))
		return -1;
	if (api && l->nic_ops != api->nic)
		return err_set(e,
			"the program needs the %s, which this machine does not "
			"have (want %s)",
			api->nic->title, api->machine);
	if (is->n_nodes > t->n_nodes)
		return err_set(e,
			"the program needs %u nodes, but this machine has %u",
			is->n_nodes, t->n_nodes);
	if (l->needs.arguments && check_arguments(is, l->needs.arguments, e))
		return -1;
	if (!is->run || is->n_spawned > HOST_THREADS)
		return err_set(
			e, "want 1 to %d programs per node", HOST_THREADS);
	if (is->n_processes > HOST_THREADS)
		return err_set(e,
			"%u processes per node are more than its %d hardware "
			"threads",
			is->n_processes, HOST_THREADS);
	l->needs = (struct load_needs){
		.n_spawned = is->n_spawned,
		.stack_bytes = is->stack_bytes,
		.n_processes = is->n_processes ? is->n_processes : 1,
		.arguments = l->needs.arguments,
		.has_files = true,
	};
	a->n_ranks =
		(is->n_nodes ? is->n_nodes : t->n_nodes) * l->needs.n_processes;
	l->needs.n_programs = a->n_ranks;
	if (is->node_bytes > MOST_BYTES / a->n_ranks)
		return err_set(e,
			"node_bytes: %zu bytes for each of %u processes are "
			"more than the memory of any node",
			is->node_bytes, a->n_ranks);
	return 0;
}

static uint64_t app_estimate(const struct load *l)
{
	const struct weft_app *is = l->arg;

	return programs_estimate(
		l->needs.n_programs, 1 + is->n_spawned, is->node_bytes);
}

/* That what all ranks were given is in. */
static size_t n_words(const struct app *a)
{
	return (a->n_ranks * app_of(a)->node_bytes + sizeof(uint64_t) - 1) /
	       sizeof(uint64_t);
}

static void app_start(struct load *l)
{
	const struct weft_app *is = l->arg;
	struct app *a = of(l);
	uint32_t each = l->needs.n_processes;
	uint32_t threads = host_threads_each(l->host);

	programs_open(&a->programs);
	a->starts = mem_alloc(a->n_ranks, sizeof(*a->starts));
	a->ranks = mem_alloc(n_words(a) + 1, sizeof(uint64_t));
	for (uint32_t i = 0; i < a->n_ranks; i++) {
		a->starts[i] =
			(struct start){ is, a->ranks + i * is->node_bytes };
		program_start(l->host, i / each, i % each * threads, 0,
			run_program, &a->starts[i]);
	}
}

static void app_report(struct load *l, struct load_result *r)
{
	struct weft_result *t = &of(l)->tells;

	/* each process has written to what its own ranks were given */
	sim_sum(l->net->sim, (uint64_t *)(void *)of(l)->ranks, n_words(of(l)));
	programs_report(&of(l)->programs, r);
	t->n_nodes = l->net->n_nodes;
	t->n_processes = l->needs.n_processes;
	t->end = r->end;
	t->n_packets = net_total(l->net).delivered;
	t->arguments = host_arguments(l->host);
	t->n_messages = nic_sum(l->nic, "messages");
	for (site_id i = 0; i < l->net->n_nodes; i++)
		t->n_errors += nic_errors(l->nic, i, NULL, 0);
	sim_sum(l->net->sim, &t->n_errors, 1);
}

/* " (node 3's unit: ...)", of the first node that has any. */
static void describe_errors(const struct load *l, char *text, size_t size)
{
	char errors[200] = "";
	uint64_t first;
	site_id i = 0;

	while (i < l->net->n_nodes &&
		!nic_errors(l->nic, i, errors, sizeof(errors)))
		i++;
	first = i < l->net->n_nodes ? l->net->n_nodes - i : 0;
	sim_max(l->net->sim, &first, 1);
	text[0] = '\0';
	if (!first)
		return;
	i = l->net->n_nodes - (site_id)first;
	sim_tell(l->net->sim, i, errors, sizeof(errors));
	snprintf(text, size, " (node %u's %s: %s)", i, l->nic->ops->title,
		errors);
}

/* The first process asks the program, which may print. */
static void check_ranks(struct app *a)
{
	const struct weft_app *is = app_of(a);
	const struct sim *sim = a->programs.load.net->sim;

	a->is_right = true;
	if (is->check && sim_has(sim, 0))
		a->is_right = is->check(
			&a->tells, a->ranks, a->says, sizeof(a->says));
	sim_tell(sim, 0, &a->is_right, sizeof(a->is_right));
	sim_tell(sim, 0, a->says, sizeof(a->says));
	name_clean(a->says, "\n\t");
}

static int app_check(struct load *l, struct err *e)
{
	struct app *a = of(l);
	char waiting[128], errors[256], stall[200];
	struct err left = { 0 };

	describe_errors(l, errors, sizeof(errors));
	if (a->programs.load.is_stalled) {
		host_describe_waiting(l->host, waiting, sizeof(waiting));
		nic_describe_stall(l->nic, stall, sizeof(stall));
		return err_set_code(
			e, EXIT_DEADLOCK, "%s%s%s", waiting, stall, errors);
	}
	nic_audit(l->nic, &left);
	if (sim_share_error(l->net->sim, &left))
		return err_set_code(e, EXIT_DEADLOCK,
			"the programs ended and left packets that no program "
			"received%s",
			errors);
	check_ranks(a);
	return 0;
}

/* Where nobody looks at what the program says. */
static int app_check_strictly(struct load *l, struct err *e)
{
	if (app_check(l, e))
		return -1;
	return of(l)->is_right
		       ? 0
		       : err_set_code(e, EXIT_ANSWER_NO,
				 "the program reports a wrong result: %s",
				 of(l)->says);
}

static void app_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->starts);
	mem_free(of(l)->ranks);
}

#define APP_OPS(check_)                                                        \
	{                                                                      \
		.name = "program", .size = sizeof(struct app),                 \
		.init = app_init, .start = app_start, .next = programs_next,   \
		.report = app_report, .check = check_, .fini = app_fini,       \
		.estimate = app_estimate, .on_delivered = programs_delivered,  \
	}

const struct load_ops app_ops = APP_OPS(app_check);
const struct load_ops app_strict_ops = APP_OPS(app_check_strictly);

/* --- the command --- */

static const char *ending_of(const struct machine_run *r)
{
	return r->result.ending == LOAD_FINISHED && !of(r->load)->is_right
		       ? "wrong"
		       : load_ending_name(r->result.ending);
}

static void add_head(
	struct facts *f, const struct machine_run *r, const struct cli_args *a)
{
	const struct app *app = of(r->load);

	facts_text(f, "weft", WEFT_VERSION);
	facts_text(f, "program", app_of(app)->name);
	facts_list(f, "arguments");
	for (size_t i = 0; app->tells.arguments && app->tells.arguments[i]; i++)
		facts_text(f, NULL, app->tells.arguments[i]);
	facts_end(f);
	facts_of_machine(f, r->machine);
	facts_same(f, "nodes", app->tells.n_nodes);
	facts_same(f, "seed", a->seed);
	facts_count(f, "threads", r->threads);
	facts_text(f, "ending", ending_of(r));
	facts_line(f, NULL,
		"{_machine}, {nodes} node{nodes|s}: {program}: "
		"{ending}");
}

static void add_counts(struct facts *f, const struct machine_run *r)
{
	const struct weft_result *t = &of(r->load)->tells;
	char errors[256];

	facts_place(f, FACTS_AT_JOBS);
	facts_print(f, "digest", "%016" PRIx64, r->digest);
	facts_real(f, "sim_time_ns", (double)t->end / SIM_NS);
	facts_count(f, "messages", t->n_messages);
	facts_count(f, "packets", t->n_packets);
	facts_count(f, "errors", t->n_errors);
	facts_line(f, "simulated",
		"{sim_time_ns:u}: [messages?{messages} message{messages|s}, "
		"]{packets} packet{packets|s}");
	describe_errors(r->load, errors, sizeof(errors));
	facts_text(f, "_which", errors);
	facts_line(f, "errors", "[errors?{errors}{_which}]");
}

static void add_all(
	struct facts *f, const struct machine_run *r, const struct cli_args *a)
{
	struct book_how how;

	run_book_how(a, &how);
	add_head(f, r, a);
	facts_group(f, "_knot");
	facts_of_knot(f, &r->result);
	facts_end(f);
	facts_text(f, "says", of(r->load)->says);
	facts_of_waiting(f, r);
	if (*of(r->load)->says)
		facts_line(f, NULL, "{says}");
	add_counts(f, r);
	if (a->is_histogram)
		facts_of_histogram(f, &r->result.latency);
	facts_group(f, "_warned");
	facts_of_warnings(f, r);
	facts_end(f);
	facts_of_links(f, r);
	facts_of_faults(f, r);
	facts_of_energy(f, r);
	facts_place(f, FACTS_AT_END);
	facts_line(f, "digest", "{digest}");
	facts_of_budget(f, r->system->net, a->is_budget, &how);
}

int app_tell(
	const struct machine_run *r, const struct cli_args *args, struct err *e)
{
	struct facts f;
	int code;

	facts_init(&f);
	add_all(&f, r, args);
	code = run_tell(&f, args, r, e);
	return !code && r->result.ending == LOAD_FINISHED &&
			       !of(r->load)->is_right
		       ? EXIT_ANSWER_NO
		       : code;
}

/* A call of weft_main(). */
struct call {
	int argc;
	char **argv;
	const struct weft_app *app;
	struct err *e;
	int code;
};

static int run_app(const struct call *c, const struct cli_args *args,
	const char *const *arguments, struct cluster *cluster, struct err *e)
{
	const struct weft_app *is = c->app;
	const struct api *api = NULL;
	struct machine_run *r;
	struct machine_run_setup s = {
		.load = &app_ops,
		.load_arg = is,
		.program = c->argv[0],
		.arguments = arguments,
		/* what programs share is safe on one thread */
		.threads = args->threads ? args->threads : 1,
		.cluster = cluster,
		.check = cluster ? cli_cluster_check : NULL,
		.trial = args->trial,
	};
	int code;

	if (is->interface && !(api = api_find(is->interface, e)))
		return -1;
	if (args->n_words != 1)
		return err_set(e, "no machine given; try `%s %s`", is->name,
			api ? api->machine : api_registry[0]->machine);
	r = mem_alloc(1, sizeof(*r));
	code = run_perform(r, args, &s, e);
	cli_cluster_hush(cluster);
	if (!code)
		code = app_tell(r, args, e);
	machine_run_close(r);
	mem_free(r);
	return code;
}

/* Where the first "--" is, or the end. */
static int find_end(int argc, char **argv)
{
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0)
		i++;
	return i < argc ? i : argc;
}

static void run_call(void *arg)
{
	struct call *c = arg;
	int end = find_end(c->argc, c->argv), code;
	const char **arguments;
	struct cluster *cluster;
	struct cli_args args;
	char usage[128];
	const struct cli_command command = {
		.takes = CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS |
			 CLI_RECORD | CLI_JSON | CLI_PROCESSES,
		.usage = usage,
		.help = c->app->help,
		.words = { 0, CLI_MAX_WORDS },
	};

	snprintf(usage, sizeof(usage), "MACHINE%s%s%s",
		c->app->usage ? " [-- " : "",
		c->app->usage ? c->app->usage : "", c->app->usage ? "]" : "");
	code = cli_parse(&args, end, c->argv, &command, c->e);
	c->code = code > 0 ? EXIT_FINISHED : code;
	if (code)
		return;
	arguments = mem_alloc((size_t)(c->argc - end) + 1, sizeof(*arguments));
	for (int i = end + 1; i < c->argc; i++) {
		arguments[i - end - 1] = c->argv[i];
		args.hash = digest_text(args.hash, c->argv[i]);
	}
	code = cli_cluster_begin(&args, &cluster, c->e);
	if (!code)
		code = run_app(c, &args, arguments, cluster, c->e);
	c->code = cli_cluster_end(cluster, code, c->e);
	mem_free(arguments);
}

/*
 * Guarded as a whole: what happens outside of load_go() counts, too.  Signals
 * are the caller's again afterwards.
 */
int weft_main(int argc, char **argv, const struct weft_app *app)
{
	struct err e = { 0 };
	struct call c = { .argc = argc, .argv = argv, .app = app, .e = &e };
	struct cli_process before;
	pid_t me = getpid();

	cli_process_begin(&before);
	err_guard(run_call, &c, &e);
	cli_process_end(&before);
	if (e.code) {
		name_clean(e.text, "");
		fprintf(stderr, "%s: %s\n", app->name, e.text);
		c.code = e.code;
	}
	if (getpid() == me)
		return c.code;
	/* one of --processes, of which the caller knows nothing */
	fflush(NULL);
	_exit(c.code);
}
