#include "cli/run_jobs.h"

#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "load/jobs.h"
#include "facts/figure.h"
#include "record/tables.h"
#include "sim/barrier.h"

/* --- alone --- */

struct alone {
	struct run_again again;
	bool has_all_threads;
};

/* Of few long runs the last ones would leave processors idle. */
enum { LONG_S = 10, FEW = 2 /* runs for each processor */ };

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	const struct alone *a = arg;
	const struct machine_run *r = a->again.run;

	run_again_set_up(&a->again, s);
	s->only = (uint32_t)i + 1;
	if (!a->has_all_threads)
		s->threads = 1;
	if (r->coarse) /* also where it is chosen by messages */
		s->coarse = r->machine->link.train;
	return true;
}

/* "NAME.alone.FIGURE", beside the figures of the run. */
static void put_alone(struct db *d, const struct jobs_part *p,
	const struct batch_result *r, struct err *e)
{
	size_t n = strlen(p->name) + 1;
	char name[2 * JOBS_NAME + 8];

	for (uint32_t i = 0; i < r->n_figures; i++) {
		const char *own = r->figure[i].name;

		if (strncmp(own, p->name, n - 1) != 0 || own[n - 1] != '.')
			continue;
		snprintf(name, sizeof(name), "%s.alone.%s", p->name, own + n);
		row_put_figure(d,
			&(struct row_figure){
				.name = name, .value = r->figure[i].value },
			e);
	}
}

static int record_alone(const char *path, const struct jobs *j,
	const struct batch_result *r, struct err *e)
{
	struct db *d = db_reopen(path, e);

	if (d && !db_do(d, "BEGIN", e)) {
		for (uint32_t i = 0; i < j->n; i++)
			put_alone(d, &j->part[i], &r[i], e);
		if (!e->code)
			db_do(d, "COMMIT", e);
	}
	db_close(d);
	return e->code ? -1 : 0;
}

struct batch_result *run_jobs_alone(
	const struct cli_args *a, const struct machine_run *r, struct err *e)
{
	const struct jobs *j = jobs_of(r->load);
	struct alone all = { run_again_begin(a, r, "each job alone"), false };
	struct batch_result *result;
	struct batch b = {
		.setup = set_up,
		.on_done = run_again_on_done,
		.on_wait = run_again_on_wait,
		.arg = &all,
		.at_a_time = barrier_cpus(),
		.cluster = r->setup.cluster,
		.stop = cli_stop_flag(),
	};

	if (!j || a->is_together || r->result.ending == LOAD_STOPPED ||
		r->result.ending == LOAD_FAILED)
		return NULL;
	b.n = j->n;
	all.has_all_threads = r->threads > 1 && r->wall_s > LONG_S &&
			      b.n < (size_t)FEW * b.at_a_time;
	if (all.has_all_threads)
		b.at_a_time = 1;
	result = all.again.result = mem_alloc(j->n, sizeof(*result));
	if (batch_run(&b, e) > 0)
		err_set_code(e, EXIT_STOPPED, "stopped while jobs ran alone");
	run_again_end(&all.again);
	for (uint32_t i = 0; i < j->n && !e->code; i++)
		if (result[i].e.code)
			err_set_code(e, result[i].e.code,
				"job %s, alone: %.400s", j->part[i].name,
				result[i].e.text);
	if (!e->code && a->output && sim_is_first(r->load->net->sim))
		record_alone(a->output, j, result, e);
	if (!sim_share_error(r->load->net->sim, e))
		return result;
	mem_free(result);
	return NULL;
}

/* --- telling --- */

/* What a job is judged by, the first that it has. */
static const char *const usual[] = { "throughput_GBps_per_node", "time_ns",
	"one_way_ns", "total_MBps", "rate_GBps", "incast_mean_ns",
	"message_mean_ns", "write_GBps", "read_GBps", "latency_mean_ns",
	"latency_p99_ns" };

static bool is_usual(const char *name)
{
	size_t i = 0;

	while (i < sizeof(usual) / sizeof(usual[0]) && strcmp(usual[i], name))
		i++;
	return i < sizeof(usual) / sizeof(usual[0]);
}

/* The end of a name that begins with a job's. */
static void add_alone(struct facts *f, const struct batch_result *alone,
	const struct jobs_part *p)
{
	size_t n = strlen(p->name) + 1;

	facts_group(f, "alone");
	facts_text(f, "ending", load_ending_name(alone->ending));
	for (uint32_t i = 0; i < alone->n_figures; i++)
		if (!strncmp(alone->figure[i].name, p->name, n - 1) &&
			alone->figure[i].name[n - 1] == '.')
			facts_real(f, alone->figure[i].name + n,
				alone->figure[i].value);
	facts_end(f);
}

static bool is_printed(const struct fact *group, const struct fact *x)
{
	if (x->type == FACT_LINE)
		return !x->is.line.list ||
		       fact_length(facts_find(group, x->is.line.list));
	return x->type == FACT_TABLE;
}

static bool has_lines(const struct fact *group)
{
	const struct fact *x = group->first;

	while (x && !is_printed(group, x) && !has_lines(x))
		x = x->next;
	return x;
}

/* The workload's own lines stand below all that is common to the jobs, behind
 * the job's name. */
static void add_results(struct facts *f, const struct jobs_part *p)
{
	struct fact *results;

	facts_place(f, FACTS_AT_OWN);
	facts_line(f, NULL, "[_lines?job {name}:]");
	results = facts_group(f, "results");
	facts_of_job(f, p);
	if (p->load->ops->facts)
		p->load->ops->facts(p->load, f);
	facts_end(f);
	facts_count(f, "_lines", has_lines(results));
	facts_place(f, FACTS_AT_JOBS);
}

static void add_job(struct facts *f, const struct jobs_part *p,
	const struct batch_result *alone)
{
	facts_group(f, NULL);
	facts_text(f, "name", p->name);
	facts_text(f, "workload", p->load->ops->name);
	facts_count(f, "nodes", p->place.n);
	facts_print(f, "_nodes", "%u", p->place.n);
	facts_count(f, "seed", p->load->seed);
	facts_real(f, "start_ns", (double)p->load->begin / SIM_NS);
	facts_of_params(f, "params", &p->keys);
	facts_text(f, "ending", load_ending_name(p->result->ending));
	add_results(f, p);
	if (alone)
		add_alone(f, alone, p);
	facts_end(f);
}

/* What a job is stands in the first row of its figures. */
static void add_row(struct facts *f, const struct fact *job,
	const char *const *keys, const struct fact *figure, bool is_first)
{
	const struct fact *alone = facts_find(job, "alone");
	double now, was;
	char text[FIGURE_NAME];

	facts_group(f, NULL);
	for (; *keys; keys++)
		facts_text(f, *keys, is_first ? fact_text(job, *keys) : "");
	if (!figure) {
		facts_end(f);
		return;
	}
	now = figure->is.real;
	figure_title(figure->key, text);
	facts_text(f, "figure", text);
	figure_text(figure->key, now, text);
	facts_text(f, "value", text);
	alone = alone ? facts_find(alone, figure->key) : NULL;
	if (alone) {
		was = alone->is.real;
		figure_text(figure->key, was, text);
		facts_text(f, "alone", text);
		facts_real_if(f, "change_pct", was > 0, (now / was - 1) * 100);
	}
	facts_end(f);
}

void run_jobs_table(struct facts *f, const struct fact *jobs,
	const char *const *keys, const char *columns, bool has_all)
{
	const struct fact *job = jobs->first, *x;
	bool is_first;

	facts_list(f, "_job_figures");
	for (; job; job = job->next) {
		is_first = true;
		x = facts_find(job, "results")->first;
		for (; x; x = x->next) {
			if (x->type != FACT_REAL || !is_usual(x->key))
				continue;
			add_row(f, job, keys, x, is_first);
			is_first = false;
		}
		if (is_first && has_all)
			add_row(f, job, keys, NULL, true);
	}
	facts_end(f);
	facts_table(f, "_job_figures", columns, 0);
}

void run_jobs_facts(struct facts *f, const struct machine_run *r,
	const struct batch_result *alone)
{
	static const char *const keys[] = { "name", "_nodes", "workload",
		NULL };
	const struct jobs *all = jobs_of(r->load);
	const struct fact *list;

	if (!all)
		return;
	facts_place(f, FACTS_AT_JOBS);
	list = facts_list(f, "jobs");
	for (uint32_t i = 0; i < all->n; i++)
		add_job(f, &all->part[i], alone ? &alone[i] : NULL);
	facts_end(f);
	run_jobs_table(f, list, keys,
		"job=name|>nodes=_nodes|workload|figure|>together=value|"
		">alone=[{alone}]|>change=[{change_pct:+.1f} %]",
		false);
	for (uint32_t i = 0; i < all->n; i++) {
		if (all->part[i].result->ending == r->result.ending)
			continue;
		facts_say(f, NULL, "job %s: %s", all->part[i].name,
			load_ending_name(all->part[i].result->ending));
	}
}
