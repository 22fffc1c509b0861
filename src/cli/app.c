/*
 * The main program of programs written outside: they are run as a workload
 * that is not in the registry.
 */
#define _GNU_SOURCE
#include "weft/run.h"

#include <inttypes.h>
#include <string.h>

#include "api/api.h"
#include "api/spi.h"
#include "base/mem.h"
#include "cli/run_budget.h"
#include "cli/run_faults.h"
#include "load/programs.h"
#include "machine/machine.h"
#include "out/json.h"

struct app {
	struct load load;
	const struct weft_app *is;
	const struct api *api; /* that it uses; NULL: any machine's */
	const struct machine *machine;
	struct host *host;
	struct nic *nic;
	struct start *starts; /* [node] */
	uint8_t *nodes; /* what each was given */
	uint32_t n_nodes; /* that run it */
	struct err wrong;
	sim_time until;
	struct load_result result;
	struct weft_result tells;
	char says[256];
	bool is_right;
};

/* How a program is started on a node. */
struct start {
	const struct app *app;
	site_id node;
};

static struct app *of(struct load *l)
{
	return (struct app *)l;
}

static void run_program(void *arg)
{
	const struct start *s = arg;

	if (s->app->is->is_system)
		spi_become_system();
	s->app->is->run(s->app->nodes + s->node * s->app->is->node_bytes);
}

/* --- as a workload --- */

static void on_delivered(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	load_delivered(arg, s, p, t);
}

static void start_programs(struct app *a)
{
	site_id i;

	a->starts = mem_alloc(a->n_nodes, sizeof(*a->starts));
	a->nodes = mem_alloc(a->n_nodes, a->is->node_bytes + 1);
	for (i = 0; i < a->n_nodes; i++) {
		a->starts[i] = (struct start){ .app = a, .node = i };
		program_start(a->host, i, 0, 0, run_program, &a->starts[i]);
	}
}

static void app_start(struct load *l)
{
	struct app *a = of(l);
	struct host_setup h = {
		.sim = l->net->sim,
		.n_nodes = l->net->n_nodes,
		.params = &a->machine->host,
		.n_programs = a->n_nodes,
		.n_spawned = a->is->n_spawned,
		.stack_bytes = a->is->stack_bytes,
	};
	struct nic_setup n = {
		.ops = a->machine->nic,
		.params = a->machine->nic_params,
		.net = l->net,
		.on_delivered = on_delivered,
		.arg = l,
	};

	a->host = n.host = host_new(&h, &a->wrong);
	if (a->host)
		programs_set_deaths(a->host, l->net);
	if (a->host)
		a->nic = nic_new(&n, &a->wrong);
	if (a->nic)
		start_programs(a);
}

/* In slices, until nothing is left to happen. */
static sim_time app_next(struct load *l)
{
	struct app *a = of(l);

	if (!a->nic)
		return SIM_NEVER;
	if (!nic_n_events(a->nic)) {
		host_bury(a->host);
		return SIM_NEVER;
	}
	if (a->until < sim_now(l->net->sim))
		a->until = sim_now(l->net->sim);
	a->until += l->net->params.stall / 4;
	return a->until;
}

static void app_report(struct load *l, struct load_result *r)
{
	struct app *a = of(l);
	struct weft_result *t = &a->tells;
	const uint32_t messages = mu_upc(MU_UPC_MESSAGES_OUT, 0);
	site_id i;

	r->via = "nic";
	t->n_nodes = l->net->n_nodes;
	t->end = r->end;
	t->n_packets = net_total(l->net).delivered;
	if (a->nic && a->nic->ops->retries)
		a->nic->ops->retries(a->nic, &r->retries);
	if (a->host)
		r->dead_programs = host_n_dead(a->host);
	for (i = 0; a->nic && i < l->net->n_nodes; i++) {
		if (a->nic->ops == &bgq_mu_ops)
			t->n_messages += mu_peek(
				a->nic, i, MU_REGISTER(MU_UPC, messages));
		t->n_errors += a->nic->ops->errors(a->nic, i, NULL, 0);
	}
}

/* " (node 3's unit: ...)", of the first node that has any. */
static void describe_errors(const struct app *a, char *text, size_t size)
{
	char errors[200];
	site_id i;

	text[0] = '\0';
	for (i = 0; i < a->tells.n_nodes; i++) {
		if (!a->nic->ops->errors(a->nic, i, errors, sizeof(errors)))
			continue;
		snprintf(text, size, " (node %u's %s: %s)", i,
			a->nic->ops->title, errors);
		return;
	}
}

static int app_check(struct load *l, struct err *e)
{
	struct app *a = of(l);
	char waiting[128], errors[256];
	struct err left = { 0 };

	if (a->wrong.code) {
		*e = a->wrong;
		return -1;
	}
	describe_errors(a, errors, sizeof(errors));
	if (host_n_running(a->host)) {
		host_describe_waiting(a->host, waiting, sizeof(waiting));
		return err_set_code(e, EXIT_DEADLOCK, "%s%s", waiting, errors);
	}
	if (a->nic->ops->audit(a->nic, &left))
		return err_set_code(e, EXIT_DEADLOCK,
			"the programs have ended, and left packets that "
			"nobody took%s",
			errors);
	a->is_right = !a->is->check || a->is->check(&a->tells, a->nodes,
					       a->says, sizeof(a->says));
	return 0;
}

static const struct load_ops app_ops = {
	.name = "program",
	.start = app_start,
	.next = app_next,
	.report = app_report,
	.check = app_check,
};

/* --- the command --- */

static int check_app(struct app *a, struct err *e)
{
	a->n_nodes = a->machine->topo->n_nodes;
	if (a->api && a->machine->nic != a->api->nic)
		return err_set(e, "the machine has no %s: try %s",
			a->api->nic->title, a->api->machine);
	if (a->is->n_nodes > a->n_nodes)
		return err_set(e, "runs on %u nodes, and there are %u",
			a->is->n_nodes, a->n_nodes);
	if (!a->is->run || a->is->n_spawned > HOST_THREADS)
		return err_set(
			e, "no program, or more than %d threads", HOST_THREADS);
	if (a->is->n_nodes)
		a->n_nodes = a->is->n_nodes;
	return 0;
}

static int build(struct app *a, const struct cli_args *args, struct err *e)
{
	struct book_how how;
	struct net_setup s = {
		.topo = a->machine->topo,
		.route = a->machine->route,
		.link = &a->machine->link,
		.router = &a->machine->router,
		.n_workers = args->threads ? args->threads : 1,
		.seed = args->seed,
		.book = run_book_how(args, &how),
		.faults = fault_plan_is_empty(&a->machine->faults)
				  ? NULL
				  : &a->machine->faults,
	};

	if (run_book_check(args, s.topo, e))
		return -1;
	if (net_estimate(&s) > mem_available())
		return err_set_code(e, EXIT_LIMIT,
			"%u nodes need more memory than is free",
			s.topo->n_nodes);
	a->load.net = net_new(&s, e);
	return a->load.net ? 0 : -1;
}

static const char *ending_of(const struct app *a)
{
	return a->result.ending == LOAD_DEADLOCKED ? "deadlocked"
	       : a->is_right			   ? "finished"
						   : "wrong";
}

static void print_json(
	const struct app *a, const struct cli_args *args, FILE *f)
{
	char text[PARAM_TEXT_MAX];
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "program", a->is->name);
	json_text(&j, "machine", a->machine->header.name);
	machine_shape(a->machine, text, sizeof(text));
	json_text(&j, "shape", text);
	json_count(&j, "nodes", a->tells.n_nodes);
	json_count(&j, "seed", args->seed);
	json_count(&j, "threads", sim_n_workers(a->load.net->sim));
	json_text(&j, "ending", ending_of(a));
	json_text(&j, "says", a->says);
	snprintf(text, sizeof(text), "%016" PRIx64, load_digest(&a->load));
	json_text(&j, "digest", text);
	json_real(&j, "sim_time_ns", (double)a->tells.end / SIM_NS);
	json_count(&j, "messages", a->tells.n_messages);
	json_count(&j, "packets", a->tells.n_packets);
	json_count(&j, "errors", a->tells.n_errors);
	run_faults_json(&j, a->load.net, &a->result);
	run_budget_json(&j, args, a->load.net);
	json_end(&j, '}');
}

static void print_text(
	const struct app *a, const struct cli_args *args, FILE *f)
{
	char text[PARAM_TEXT_MAX], errors[256];

	machine_shape(a->machine, text, sizeof(text));
	fprintf(f, "%s %s, %u nodes: %s: %s\n", a->machine->header.name, text,
		a->tells.n_nodes, a->is->name, ending_of(a));
	if (a->result.knot[0])
		fprintf(f, "these buffers wait for each other:\n%s",
			a->result.knot);
	if (a->says[0])
		fprintf(f, "%s\n", a->says);
	fprintf(f,
		"simulated   %.3f us: ", (double)a->tells.end / SIM_NS / 1e3);
	if (a->machine->nic == &bgq_mu_ops)
		fprintf(f, "%" PRIu64 " messages, ", a->tells.n_messages);
	fprintf(f, "%" PRIu64 " packets\n", a->tells.n_packets);
	if (a->tells.n_errors) {
		describe_errors(a, errors, sizeof(errors));
		fprintf(f, "errors      %" PRIu64 "%s\n", a->tells.n_errors,
			errors);
	}
	run_faults_text(f, a->load.net, &a->result);
	fprintf(f, "digest      %016" PRIx64 "\n", load_digest(&a->load));
	run_budget_text(f, args, a->load.net);
}

static int perform(struct app *a, const struct cli_args *args, struct err *e)
{
	struct cli_out out;

	if (check_app(a, e) || build(a, args, e) ||
		load_run(&a->load, &a->result, e))
		return -1;
	cli_out_open(&out);
	if (args->is_json)
		print_json(a, args, out.file);
	else
		print_text(a, args, out.file);
	if (cli_out_close(&out, e) || run_book_missed(args, a->load.net, e))
		return -1;
	if (a->result.ending == LOAD_DEADLOCKED)
		return EXIT_DEADLOCK;
	return a->is_right ? EXIT_FINISHED : EXIT_ANSWER_NO;
}

static int run_app(
	const struct weft_app *is, const struct cli_args *args, struct err *e)
{
	const struct api *api = NULL;
	struct app *a;
	struct machine *m;
	int code;

	if (is->interface && !(api = api_find(is->interface, e)))
		return -1;
	if (args->n_words != 1)
		return err_set(e, "want a machine: `%s %s`", is->name,
			api ? api->machine : api_registry[0]->machine);
	m = machine_load(
		args->word[0], args->set, args->n_sets, args->shape, e);
	if (!m)
		return -1;
	if ((args->faults && machine_read_faults(m, args->faults, e)) ||
		machine_check_faults(m, e)) {
		machine_free(m);
		return -1;
	}
	a = mem_alloc(1, sizeof(*a));
	a->is = is;
	a->api = api;
	a->machine = m;
	a->load.ops = &app_ops;
	a->load.seed = args->seed;
	code = perform(a, args, e);
	nic_free(a->nic);
	host_free(a->host);
	net_free(a->load.net);
	mem_free(a->load.digest);
	mem_free(a->starts);
	mem_free(a->nodes);
	mem_free(a);
	machine_free(m);
	return code;
}

int weft_main(int argc, char **argv, const struct weft_app *app)
{
	struct err e = { 0 };
	struct cli_args args;
	int code = cli_parse(&args, argc, argv,
		CLI_MACHINE | CLI_RUN | CLI_BOOK | CLI_FAULTS | CLI_JSON,
		"MACHINE", app->help, &e);

	if (!code)
		code = run_app(app, &args, &e);
	else if (code > 0)
		code = EXIT_FINISHED;
	if (!e.code)
		return code;
	fprintf(stderr, "%s: %s\n", app->name, e.text);
	return e.code;
}
