#include "cli/run_partitions.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "cli/run_jobs.h"
#include "out/figure.h"
#include "out/table.h"
#include "sim/barrier.h"

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
	size_t i;

	*own = *a;
	own->shape = NULL;
	own->faults = p->faults;
	for (i = 0; i < sizeof(p->cut.set) / sizeof(p->cut.set[0]) &&
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
	struct machine *machine;
	struct machine_partitions list;
	struct batch_result *result; /* [partition] */
	bool talks;
};

static struct machine_run_setup setup_of(
	const struct machine_partition *p, const struct cli_args *a)
{
	return (struct machine_run_setup){
		.machine = a->word[0],
		.sets = a->set,
		.n_sets = a->n_sets,
		.faults = a->faults,
		.plugins = a->plugin,
		.n_plugins = a->n_plugins,
		.workload = p->workload,
		.programs = &app_ops,
		.keys = (const char *const *)p->keys,
		.n_keys = p->n_keys,
		.seed = p->seed,
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
	uint32_t i;

	if (atomic_load(cli_stop_flag()))
		return err_set_code(
			e, EXIT_STOPPED, "stopped before all jobs ended");
	for (i = 0; i < r->list.n; i++)
		if (r->result[i].e.code)
			return err_set_code(e, r->result[i].e.code,
				"job %s: %.400s", r->list.v[i].name,
				r->result[i].e.text);
	return 0;
}

static int perform(struct runs *r, struct err *e)
{
	const struct cli_args *a = r->args;
	uint32_t n = r->list.n, i;
	struct cli_args *own = mem_alloc(n, sizeof(*own));
	struct machine_run_setup *setup = mem_alloc(n, sizeof(*setup));
	const struct machine_partitions_run how = {
		.list = &r->list,
		.machine = r->machine,
		.setup = setup,
		.result = r->result = mem_alloc(n, sizeof(*r->result)),
		.threads = a->threads ? a->threads : barrier_cpus(),
		.on_done = on_done,
		.arg = r,
	};

	for (i = 0; i < n && !e->code; i++) {
		partitions_args(a, &r->list.v[i], &own[i], e);
		setup[i] = setup_of(&r->list.v[i], &own[i]);
	}
	cli_guard_exit(true);
	if (!e->code && !machine_partitions_run(&how, e))
		find_error(r, e);
	cli_guard_exit(false);
	if (r->talks)
		cli_progress(NULL);
	mem_free(own);
	mem_free(setup);
	return e->code ? -1 : 0;
}

/* --- telling --- */

static void add_rows(struct table *t, const struct machine_partition *p,
	const struct batch_result *r)
{
	char where[NAME_TEXT], digest[24], title[FIGURE_NAME];
	char value[FIGURE_TEXT];
	const char *cells[] = { p->name, where, p->cut.joined, p->workload, "-",
		"-", digest };
	const size_t n_cells = sizeof(cells) / sizeof(cells[0]);
	bool is_first = true;
	uint32_t i;

	machine_partition_name(p, where, sizeof(where));
	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	for (i = 0; i < r->n_figures; i++) {
		if (!run_jobs_is_usual(r->figure[i].name))
			continue;
		figure_title(r->figure[i].name, title);
		figure_text(r->figure[i].name, r->figure[i].value, value);
		cells[4] = title;
		cells[5] = value;
		table_add(t, cells);
		if (is_first)
			for (size_t k = 0; k < n_cells; k++)
				cells[k] = "";
		is_first = false;
	}
	if (is_first)
		table_add(t, cells);
}

static void print_text(const struct runs *r, FILE *f)
{
	static const struct table_column columns[] = { { "job", false },
		{ "partition", false }, { "torus", false },
		{ "workload", false }, { "figure", false }, { "value", true },
		{ "digest", false } };
	char shape[PARAM_TEXT_MAX];
	struct table t;
	uint32_t i;

	machine_shape(r->machine, shape, sizeof(shape));
	fprintf(f, "%s %s: %u partition%s\n", r->machine->header.name, shape,
		r->list.n, cli_s(r->list.n));
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < r->list.n; i++)
		add_rows(&t, &r->list.v[i], &r->result[i]);
	table_print(&t, f, 0, false);
	table_fini(&t);
	for (i = 0; i < r->list.n; i++)
		if (r->result[i].ending != LOAD_FINISHED)
			fprintf(f, "job %s: %s\n", r->list.v[i].name,
				run_ending_name(r->result[i].ending));
}

static void json_numbers(
	struct json *j, const char *key, const uint32_t *v, uint32_t n)
{
	uint32_t i;

	json_array(j, key);
	for (i = 0; i < n; i++)
		json_count(j, NULL, v[i]);
	json_end(j, ']');
}

void partitions_json(struct json *j, const struct machine_partition *p)
{
	json_text(j, "name", p->name);
	json_numbers(j, "at", p->from, p->n_dims);
	json_numbers(j, "shape", p->size, p->n_dims);
	json_text(j, "torus", p->cut.joined);
	json_text(j, "workload", p->workload);
}

static void json_job(struct json *j, const struct machine_partition *p,
	const struct batch_result *r)
{
	char digest[24];
	uint32_t i;

	json_object(j, NULL);
	partitions_json(j, p);
	json_count(j, "seed", p->seed);
	json_real(j, "start_ns", (double)p->begin / SIM_NS);
	json_text(j, "ending", run_ending_name(r->ending));
	snprintf(digest, sizeof(digest), "%016" PRIx64, r->digest);
	json_text(j, "digest", digest);
	json_object(j, "results");
	for (i = 0; i < r->n_figures; i++)
		json_real(j, r->figure[i].name, r->figure[i].value);
	json_end(j, '}');
	json_end(j, '}');
}

static void print_json(const struct runs *r, FILE *f)
{
	char shape[PARAM_TEXT_MAX];
	struct json j;
	uint32_t i;

	machine_shape(r->machine, shape, sizeof(shape));
	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "machine", r->machine->header.name);
	json_text(&j, "shape", shape);
	json_array(&j, "jobs");
	for (i = 0; i < r->list.n; i++)
		json_job(&j, &r->list.v[i], &r->result[i]);
	json_end(&j, ']');
	json_end(&j, '}');
}

/* The worst of all. */
static int tell(const struct runs *r, struct err *e)
{
	struct cli_out out;
	uint32_t i;
	int code = 0;

	cli_out_open(&out);
	if (r->args->is_json)
		print_json(r, out.file);
	else
		print_text(r, out.file);
	if (cli_out_close(&out, e))
		return -1;
	for (i = 0; i < r->list.n; i++) {
		int own = run_ending_code(r->result[i].ending);

		if (own > code)
			code = own;
		if (own == EXIT_DEADLOCK && !e->code)
			err_set_code(e, EXIT_DEADLOCK, "job %s: %s",
				r->list.v[i].name,
				run_ending_name(r->result[i].ending));
	}
	return e->code ? -1 : code;
}

/* What looks into one run has several here. */
static int check_options(const struct cli_args *a, struct err *e)
{
	const char *which = a->output			 ? "output"
			    : a->links			 ? "links"
			    : a->is_histogram		 ? "histogram"
			    : a->is_budget || a->follows ? "budget and follow"
			    : a->faults			 ? "faults"
							 : NULL;

	if (!which)
		return 0;
	return err_set(e,
		"--%s: jobs with partitions of their own are several runs%s",
		which,
		a->faults ? " (a job has faults of its own)"
			  : " (`weft run --set` with the shape and wrap of one "
			    "is one)");
}

int run_partitions(const struct cli_args *a, struct machine **shared,
	bool *is_done, struct err *e)
{
	struct runs r = { .args = a };
	int code;

	if (!a->jobs)
		return 0;
	r.machine = cli_machine(a, e);
	if (!r.machine)
		return -1;
	r.talks = !a->is_quiet && cli_width(stderr);
	code = partitions_of(a, r.machine, &r.list, e);
	*is_done = code || r.list.n;
	if (!code && r.list.n)
		code = check_options(a, e) || perform(&r, e) ? -1 : tell(&r, e);
	mem_free(r.result);
	machine_partitions_free(&r.list);
	if (*is_done)
		machine_free(r.machine);
	else
		*shared = r.machine;
	return code;
}
