#include "cli/run_jobs.h"

#include <string.h>

#include "base/mem.h"
#include "cli/run.h"
#include "load/jobs.h"
#include "out/figure.h"
#include "out/table.h"
#include "record/tables.h"
#include "sim/barrier.h"

/* --- alone --- */

struct alone {
	const struct machine_run *run;
	struct batch_result *result;
};

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	const struct alone *a = arg;

	*s = a->run->setup;
	s->only = (uint32_t)i + 1;
	s->threads = 1;
	s->stop = NULL;
	s->on_progress = NULL;
	s->book = NULL;
	return true;
}

static void on_done(void *arg, size_t i, const struct batch_result *r)
{
	struct alone *a = arg;

	a->result[i] = *r;
}

/* "NAME.alone.FIGURE", beside the figures of the run. */
static void put_alone(struct db *d, const struct jobs_part *p,
	const struct batch_result *r, struct err *e)
{
	size_t n = strlen(p->name) + 1;
	char name[2 * JOBS_NAME + 8];
	uint32_t i;

	for (i = 0; i < r->n_figures; i++) {
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
	uint32_t i;

	if (d && !db_do(d, "BEGIN", e)) {
		for (i = 0; i < j->n; i++)
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
	struct alone all = { .run = r };
	struct batch b = {
		.setup = set_up,
		.on_done = on_done,
		.arg = &all,
		.at_a_time = barrier_cpus(),
		.stop = cli_stop_flag(),
	};
	uint32_t i;

	if (!j || a->is_together || r->result.ending == LOAD_STOPPED)
		return NULL;
	b.n = j->n;
	all.result = mem_alloc(j->n, sizeof(*all.result));
	if (batch_run(&b, e) > 0)
		err_set_code(e, EXIT_STOPPED, "stopped while jobs ran alone");
	for (i = 0; i < j->n && !e->code; i++)
		if (all.result[i].e.code)
			err_set_code(e, all.result[i].e.code,
				"job %s, alone: %.400s", j->part[i].name,
				all.result[i].e.text);
	if (!e->code &&
		!(a->output && record_alone(a->output, j, all.result, e)))
		return all.result;
	mem_free(all.result);
	return NULL;
}

static bool find_alone(
	const struct batch_result *alone, const char *name, double *value)
{
	size_t n = strlen(name), k;
	uint32_t i;

	/* "halo.time_ns", and of that the end */
	for (i = 0; alone && i < alone->n_figures; i++) {
		const char *own = alone->figure[i].name;

		k = strlen(own);
		if (k <= n || own[k - n - 1] != '.' ||
			strcmp(own + k - n, name) != 0)
			continue;
		*value = alone->figure[i].value;
		return true;
	}
	return false;
}

/* --- text --- */

/* What a job is judged by, the first that it has. */
static const char *const usual[] = { "throughput_GBps_per_node", "time_ns",
	"one_way_ns", "total_MBps", "rate_GBps", "incast_mean_ns",
	"message_mean_ns", "write_GBps", "read_GBps", "latency_mean_ns",
	"latency_p99_ns" };

bool run_jobs_is_usual(const char *name)
{
	size_t i = 0;

	while (i < sizeof(usual) / sizeof(usual[0]) && strcmp(usual[i], name))
		i++;
	return i < sizeof(usual) / sizeof(usual[0]);
}

struct rows {
	struct table table;
	const struct jobs_part *part;
	const struct batch_result *alone;
	bool is_first;
};

static void add_row(void *arg, const char *name, double value)
{
	struct rows *r = arg;
	char nodes[16], now[FIGURE_TEXT], was[FIGURE_TEXT] = "-";
	char title[FIGURE_NAME], lost[32] = "-";
	const char *cells[] = { "", "", "", title, now, was, lost };
	double alone;

	if (!run_jobs_is_usual(name))
		return;
	if (r->is_first) {
		snprintf(nodes, sizeof(nodes), "%u", r->part->place.n);
		cells[0] = r->part->name;
		cells[1] = nodes;
		cells[2] = r->part->load->ops->name;
		r->is_first = false;
	}
	figure_title(name, title);
	figure_text(name, value, now);
	if (find_alone(r->alone, name, &alone)) {
		figure_text(name, alone, was);
		if (alone > 0)
			snprintf(lost, sizeof(lost), "%+.1f %%",
				(value / alone - 1) * 100);
	}
	table_add(&r->table, cells);
}

void run_jobs_text(
	FILE *f, const struct machine_run *r, const struct batch_result *alone)
{
	static const struct table_column columns[] = { { "job", false },
		{ "nodes", true }, { "workload", false }, { "figure", false },
		{ "together", true }, { "alone", true }, { "change", true } };
	const struct jobs *j = jobs_of(r->load);
	struct rows rows = { .is_first = true };
	uint32_t i;

	if (!j)
		return;
	table_init(&rows.table, columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < j->n; i++) {
		rows.part = &j->part[i];
		rows.alone = alone ? &alone[i] : NULL;
		rows.is_first = true;
		machine_job_each(rows.part, add_row, &rows);
	}
	table_print(&rows.table, f, 0, false);
	table_fini(&rows.table);
	for (i = 0; i < j->n; i++)
		if (j->part[i].result->ending != r->result.ending)
			fprintf(f, "job %s: %s\n", j->part[i].name,
				run_ending_name(j->part[i].result->ending));
}

/* --- JSON --- */

static void add_figure(void *arg, const char *name, double value)
{
	json_real(arg, name, value);
}

/* The end of a name that begins with a job's. */
static void json_alone(struct json *j, const struct batch_result *alone,
	const struct jobs_part *p)
{
	size_t n = strlen(p->name) + 1;
	uint32_t i;

	json_object(j, "alone");
	json_text(j, "ending", run_ending_name(alone->ending));
	for (i = 0; i < alone->n_figures; i++)
		if (!strncmp(alone->figure[i].name, p->name, n - 1) &&
			alone->figure[i].name[n - 1] == '.')
			json_real(j, alone->figure[i].name + n,
				alone->figure[i].value);
	json_end(j, '}');
}

static void json_job(struct json *j, const struct jobs_part *p,
	const struct batch_result *alone)
{
	char text[PARAM_TEXT_MAX];
	size_t i;

	json_object(j, NULL);
	json_text(j, "name", p->name);
	json_text(j, "workload", p->load->ops->name);
	json_count(j, "nodes", p->place.n);
	json_count(j, "seed", p->load->seed);
	json_real(j, "start_ns", (double)p->load->begin / SIM_NS);
	json_object(j, "params");
	for (i = 0; i < p->keys.n_rows; i++) {
		param_format(&p->keys, &p->keys.rows[i], text, sizeof(text));
		json_text(j, p->keys.rows[i].name, text);
	}
	json_end(j, '}');
	json_text(j, "ending", run_ending_name(p->result->ending));
	json_object(j, "results");
	machine_job_each(p, add_figure, j);
	json_end(j, '}');
	if (alone)
		json_alone(j, alone, p);
	json_end(j, '}');
}

void run_jobs_json(struct json *j, const struct machine_run *r,
	const struct batch_result *alone)
{
	const struct jobs *all = jobs_of(r->load);
	uint32_t i;

	if (!all)
		return;
	json_array(j, "jobs");
	for (i = 0; i < all->n; i++)
		json_job(j, &all->part[i], alone ? &alone[i] : NULL);
	json_end(j, ']');
}
