#include "cli/run_partitions.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/run.h"
#include "cli/run_jobs.h"
#include "record/inputs.h"
#include "sim/barrier.h"
#include "sim/cluster.h"

enum { NAME_TEXT = 96 };

int partitions_of(const struct cli_args *a, const struct machine *m,
	struct machine_partitions *p, struct err *e)
{
	*p = (struct machine_partitions){ 0 };
	return a->jobs ? machine_partitions_read(
				 p, a->jobs, m->topo, a->seed, e)
		       : 0;
}

int partitions_args(const struct cli_args *a, const struct machine_partition *p,
	struct cli_args *own, struct err *e)
{
	*own = *a;
	own->shape = NULL;
	own->faults = p->faults;
	for (size_t i = 0; i < sizeof(p->cut.set) / sizeof(p->cut.set[0]) &&
			   p->cut.set[i][0];
		i++) {
		if (own->n_sets == CLI_MAX_SETS)
			return err_set(e, "more than %d --set", CLI_MAX_SETS);
		own->set[own->n_sets++] = p->cut.set[i];
	}
	return 0;
}

/* --- running them --- */

struct runs {
	const struct cli_args *args;
	struct cluster *cluster; /* or NULL */
	struct machine *machine;
	struct machine_partitions list;
	struct batch_result *result; /* [partition] */
	struct exposed_rows *exposed; /* [partition] */
	bool talks;
};

static struct machine_run_setup setup_of(
	const struct machine_partition *p, const struct cli_args *a)
{
	return (struct machine_run_setup){
		.machine = cli_source(a),
		.faults = a->faults,
		.workload = p->job.workload,
		.programs = &app_ops,
		.keys = p->job.keys,
		.n_keys = p->job.n_keys,
		.seed = p->job.seed,
		.until = a->until,
		.stop = cli_stop_flag(),
		.routes = p->routes,
		.n_routes = p->n_routes,
	};
}

static void on_done(void *arg, uint32_t n)
{
	const struct runs *r = arg;
	char line[64];

	snprintf(line, sizeof(line), "%u of %u jobs", n, r->list.n);
	if (r->talks)
		cli_progress(line);
}

/* The first error of any, if it was not stopped. */
static int find_error(const struct runs *r, struct err *e)
{
	if (atomic_load(cli_stop_flag()))
		return err_set_code(
			e, EXIT_STOPPED, "stopped before all jobs ended");
	for (uint32_t i = 0; i < r->list.n; i++)
		if (r->result[i].e.code)
			return err_set_code(e, r->result[i].e.code,
				"job %s: %.400s", r->list.v[i].job.name,
				r->result[i].e.text);
	return 0;
}

/* Of several processes on a computer, each has its share of the cores. */
static uint32_t threads_of(const struct runs *r)
{
	uint32_t n = r->args->threads ? r->args->threads : barrier_cpus();

	if (!r->args->threads && r->cluster)
		n /= r->cluster->n_here;
	return n ? n : 1;
}

/* Whether all processes have read the same files. */
static int check_inputs(const struct runs *r, struct err *e)
{
	struct record_inputs in = { NULL, 0 };
	int code;

	if (!r->cluster)
		return 0;
	record_inputs_machine(&in, r->machine);
	record_inputs_add(&in, "jobs file", r->args->jobs);
	code = cli_cluster_compare(r->cluster, &in, e);
	record_inputs_free(&in);
	return code;
}

static int perform(struct runs *r, struct err *e)
{
	const struct cli_args *a = r->args;
	uint32_t n = r->list.n;
	struct cli_args *own = mem_alloc(n, sizeof(*own));
	struct machine_run_setup *setup = mem_alloc(n, sizeof(*setup));
	const struct machine_partitions_run how = {
		.list = &r->list,
		.machine = r->machine,
		.setup = setup,
		.result = r->result = mem_alloc(n, sizeof(*r->result)),
		.exposed = r->exposed = mem_alloc(n, sizeof(*r->exposed)),
		.threads = threads_of(r),
		.cluster = r->cluster,
		.on_done = on_done,
		.arg = r,
	};

	for (uint32_t i = 0; i < n && !e->code; i++) {
		partitions_args(a, &r->list.v[i], &own[i], e);
		setup[i] = setup_of(&r->list.v[i], &own[i]);
	}
	cli_guard_exit(true);
	if (!e->code && !machine_partitions_run(&how, e))
		find_error(r, e);
	if (r->cluster) /* a signal may be one process's */
		cluster_share_error(r->cluster, e);
	cli_guard_exit(false);
	if (r->talks)
		cli_progress(NULL);
	mem_free(own);
	mem_free(setup);
	return e->code ? -1 : 0;
}

/* --- telling --- */

static void add_numbers(
	struct facts *f, const char *key, const uint32_t *v, uint32_t n)
{
	facts_list(f, key);
	for (uint32_t i = 0; i < n; i++)
		facts_count(f, NULL, v[i]);
	facts_end(f);
}

void partitions_facts(struct facts *f, const struct machine_partition *p)
{
	char where[NAME_TEXT];

	machine_partition_name(p, where, sizeof(where));
	facts_text(f, "name", p->job.name);
	add_numbers(f, "at", p->from, p->n_dims);
	add_numbers(f, "shape", p->size, p->n_dims);
	facts_text(f, "_where", where);
	facts_text(f, "torus", p->cut.joined);
	facts_text(f, "workload", p->job.workload);
}

/* Lines of its own stand below the table, behind the job's name. */
static void add_job(struct facts *f, const struct machine_partition *p,
	const struct batch_result *r, const struct exposed_rows *x)
{
	facts_group(f, NULL);
	partitions_facts(f, p);
	facts_count(f, "seed", p->job.seed);
	facts_real(f, "start_ns", (double)p->job.begin / SIM_NS);
	facts_text(f, "ending", load_ending_name(r->ending));
	facts_print(f, "digest", "%016" PRIx64, r->digest);
	facts_list(f, "warnings");
	for (uint32_t i = 0; i < BATCH_NOTES; i++)
		if (*r->note[i])
			facts_text(f, NULL, r->note[i]);
	facts_end(f);
	facts_count(f, "_lines", x->n);
	facts_place(f, FACTS_AT_OWN);
	facts_line(f, NULL, "[_lines?job {name}:]");
	facts_group(f, "results");
	for (uint32_t i = 0; i < r->n_figures; i++)
		facts_real(f, r->figure[i].name, r->figure[i].value);
	exposed_rows_facts(x, f);
	facts_end(f);
	facts_place(f, FACTS_AT_TOP);
	facts_end(f);
}

static void add_all(struct facts *f, const struct runs *r)
{
	static const char *const keys[] = { "name", "_where", "torus",
		"workload", "digest", NULL };
	const struct fact *jobs;

	facts_text(f, "weft", WEFT_VERSION);
	facts_of_machine(f, r->machine);
	facts_count(f, "_n", r->list.n);
	facts_line(f, NULL, "{_machine}: {_n} partition{_n|s}");
	jobs = facts_list(f, "jobs");
	for (uint32_t i = 0; i < r->list.n; i++)
		add_job(f, &r->list.v[i], &r->result[i], &r->exposed[i]);
	facts_end(f);
	run_jobs_table(f, jobs, keys,
		"job=name|partition=_where|torus|workload|figure=[{figure}]|"
		">value=[{value}]|digest",
		true);
	for (uint32_t i = 0; i < r->list.n; i++)
		if (r->result[i].ending != LOAD_FINISHED)
			facts_say(f, NULL, "job %s: %s", r->list.v[i].job.name,
				load_ending_name(r->result[i].ending));
	for (uint32_t i = 0; i < r->list.n * BATCH_NOTES; i++)
		if (*r->result[i / BATCH_NOTES].note[i % BATCH_NOTES])
			facts_say(f, "warning", "job %s: %s",
				r->list.v[i / BATCH_NOTES].job.name,
				r->result[i / BATCH_NOTES]
					.note[i % BATCH_NOTES]);
}

/* The worst of all. */
static int tell(const struct runs *r, struct err *e)
{
	struct facts f;
	int code = 0;

	facts_init(&f);
	add_all(&f, r);
	if (cli_tell(r->args, &f, CLI_PLAIN, e))
		return -1;
	for (uint32_t i = 0; i < r->list.n; i++) {
		int own = run_ending_code(r->result[i].ending);

		if (own > code)
			code = own;
		if (own == EXIT_DEADLOCK && !e->code)
			err_set_code(e, EXIT_DEADLOCK, "job %s: %s",
				r->list.v[i].job.name,
				load_ending_name(r->result[i].ending));
	}
	return e->code ? -1 : code;
}

/* What looks into one run has several here. */
static int check_options(const struct cli_args *a, struct err *e)
{
	const char *which = a->output			 ? "output"
			    : a->links			 ? "links"
			    : a->report			 ? "report"
			    : a->is_histogram		 ? "histogram"
			    : a->energy			 ? "energy"
			    : a->is_budget || a->follows ? "budget and follow"
			    : a->faults			 ? "faults"
							 : NULL;

	if (!which)
		return 0;
	return err_set(e,
		"--%s: works on one run, but each partition is a run of its "
		"own%s",
		which,
		a->faults ? " (give faults to a job in the jobs file)"
			  : " (to run one, use `weft run --set` with its shape "
			    "and wrap)");
}

static int run_list(struct runs *r, struct err *e)
{
	if (check_options(r->args, e) || check_inputs(r, e) || perform(r, e))
		return -1;
	cli_cluster_hush(r->cluster);
	return tell(r, e);
}

static int share_error(const struct runs *r, struct err *e)
{
	if (r->cluster)
		return cluster_share_signed(r->cluster, e);
	return e->code ? -1 : 0;
}

int run_partitions(const struct cli_args *a, struct cluster *cluster,
	struct machine **shared, bool *is_done, struct err *e)
{
	struct runs r = { .args = a, .cluster = cluster };
	int code = 0;

	if (!a->jobs)
		return 0;
	r.machine = cli_machine(a, e);
	if (r.machine)
		partitions_of(a, r.machine, &r.list, e);
	r.talks = !a->is_quiet && cli_width(stderr) && !cluster;
	*is_done = share_error(&r, e) || r.list.n;
	if (!e->code && r.list.n) {
		code = run_list(&r, e);
		share_error(&r, e);
	}
	for (uint32_t i = 0; r.exposed && i < r.list.n; i++)
		mem_free(r.exposed[i].row);
	mem_free(r.exposed);
	mem_free(r.result);
	machine_partitions_free(&r.list);
	if (*is_done)
		machine_free(r.machine);
	else
		*shared = r.machine;
	return e->code ? -1 : code;
}
