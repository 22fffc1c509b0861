/* `weft sweep`: every combination of what varies, and curves of the results. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/sweep.h"
#include "machine/prices.h"
#include "machine/tree.h"
#include "out/canvas.h"
#include "sim/barrier.h"
#include "sim/cluster.h"

/* What is drawn along x, if it varies, in this order. */
static const char *const x_names[] = { "load", "bytes" };

/* --- what varies --- */

static int add_pair(
	struct axes *a, enum axis_kind kind, const char *text, struct err *e)
{
	const char *sign = strchr(text, '=');
	char name[128];

	if (!sign || sign == text)
		return err_set(e,
			"\"%.40s\" is not KEY=VALUES (want commas without "
			"spaces between values, as in load=0.1,0.5)",
			text);
	snprintf(name, sizeof(name), "%.*s", (int)(sign - text), text);
	if (axes_find(a, name) < a->n)
		return err_set(e, "%s is given twice", name);
	if (kind == AXIS_KEY && !strcmp(name, "seed"))
		return 0; /* the last one */
	return axes_add(a, kind, name, sign + 1, e);
}

static const char *find_seeds(const struct cli_args *a)
{
	for (size_t i = 2; i < a->n_words; i++)
		if (!strncmp(a->word[i], "seed=", 5))
			return a->word[i] + 5;
	return "1";
}

static int check_seeds(const struct axis *x, struct err *e)
{
	for (size_t i = 0; i < x->n; i++) {
		const char *s = x->value[i];

		/* less than 2^63 */
		if (s[strspn(s, "0123456789")] || strlen(s) > 18)
			return err_set(e,
				"seed: \"%.40s\" is not a whole number of up "
				"to "
				"18 digits",
				s);
	}
	return 0;
}

/* Programs of plugins may have words as arguments. */
static bool is_argument(const struct sweep *w, const char *word)
{
	return !strchr(word, '=') && w->args->n_plugins &&
	       !load_find(w->args->word[1]);
}

/* A value of --faults. */
static const char *plan_of(const char *value)
{
	return strcmp(value, "none") ? value : NULL;
}

/* What is no plan at all is found before the first run; whether its parts are
 * in a machine, by the runs of that machine. */
static int check_plan(const char *path, struct err *e)
{
	struct tree t = { .e = e };
	int failed = tree_read_file(&t, path);

	tree_free(&t);
	return failed;
}

static int add_plans(struct axes *x, const char *text, struct err *e)
{
	const struct axis *a = &x->axis[x->n];

	if (axes_add(x, AXIS_FAULTS, "faults", text, e))
		return -1;
	for (size_t k = 0; k < a->n; k++)
		if (plan_of(a->value[k]) && check_plan(a->value[k], e))
			return -1;
	return 0;
}

/* The seed is fastest, then what is drawn along x. */
static int read_axes(struct sweep *w, struct err *e)
{
	const struct cli_args *a = w->args;
	struct axes *x = &w->axes;
	struct axis last;

	if (axes_add(x, AXIS_MACHINE, "machine", a->word[0], e))
		return -1;
	if ((a->shape && axes_add(x, AXIS_SHAPE, "shape", a->shape, e)) ||
		(a->faults && add_plans(x, a->faults, e)))
		return -1;
	for (size_t i = 0; i < a->n_sets; i++)
		if (add_pair(x, AXIS_SET, a->set[i], e))
			return -1;
	for (size_t i = 2; i < a->n_words; i++)
		if (is_argument(w, a->word[i]))
			w->keys[w->n_arguments++] = a->word[i];
		else if (add_pair(x, AXIS_KEY, a->word[i], e))
			return -1;
	w->x = x->n;
	for (size_t i = 0; i < 2 && w->x == x->n; i++)
		w->x = axes_find(x, x_names[i]);
	if (w->x < x->n) {
		last = x->axis[w->x];
		memmove(&x->axis[w->x], &x->axis[w->x + 1],
			(x->n - w->x - 1) * sizeof(last));
		w->x = x->n - 1;
		x->axis[w->x] = last;
		if (axes_unit(&last, &w->unit, e))
			return -1;
	}
	w->seed = x->n;
	if (axes_add(x, AXIS_SEED, "seed", find_seeds(a), e) ||
		check_seeds(&x->axis[w->seed], e))
		return -1;
	w->n = axes_points(x);
	if (!w->n)
		return err_set(e, "more than %d points", AXES_POINTS);
	return 0;
}

static void append(char *text, const char *name, const char *value)
{
	size_t n = strlen(text);

	snprintf(text + n, CURVES_NAME - n, "%s%s=%s", n ? " " : "", name,
		value);
}

/* Only what varies is named, but for the machine. */
void sweep_name_point(const struct sweep *w, size_t i, struct curves_point *p)
{
	const struct axes *x = &w->axes;

	*p = (struct curves_point){ .name = "" };
	snprintf(p->curve, sizeof(p->curve), "%s", axes_value(x, i, 0));
	for (size_t k = 1; k < x->n; k++)
		if (k != w->x && k != w->seed && x->axis[k].n > 1)
			append(p->curve, x->axis[k].name, axes_value(x, i, k));
	snprintf(p->group, sizeof(p->group), "%s", p->curve);
	if (w->x < w->seed) {
		snprintf(p->x, sizeof(p->x), "%s", axes_value(x, i, w->x));
		append(p->group, x->axis[w->x].name, p->x);
	}
	snprintf(p->name, sizeof(p->name), "%s", p->group);
	snprintf(p->seed, sizeof(p->seed), "%s", axes_value(x, i, w->seed));
	append(p->name, "seed", p->seed);
}

/* The plan of faults of all points; NULL: there is none, or several. */
static const char *only_plan(const struct sweep *w)
{
	size_t k = axes_find(&w->axes, "faults");

	return k < w->axes.n && w->axes.axis[k].kind == AXIS_FAULTS &&
			       w->axes.axis[k].n == 1
		       ? plan_of(w->axes.axis[k].value[0])
		       : NULL;
}

/* What does not vary: a file is of one such sweep. */
static void name_sweep(const struct sweep *w, char *text, size_t size)
{
	const struct axes *x = &w->axes;
	const char *plan;
	size_t n;

	n = (size_t)snprintf(text, size, "%s", w->args->word[1]);
	for (size_t k = 0; k < w->n_arguments && n < size; k++)
		n += (size_t)snprintf(text + n, size - n, " %s", w->keys[k]);
	for (size_t k = 1; k < x->n && n < size; k++)
		if (k != w->x && k != w->seed && x->axis[k].n == 1 &&
			x->axis[k].kind != AXIS_FAULTS)
			n += (size_t)snprintf(text + n, size - n, " %s=%s",
				x->axis[k].name, x->axis[k].value[0]);
	plan = only_plan(w);
	if (plan && n < size)
		n += (size_t)snprintf(text + n, size - n, " --faults %s", plan);
	if (w->args->bill && n < size)
		n += (size_t)snprintf(
			text + n, size - n, " --bill %s", w->args->bill);
	for (size_t k = 0; w->args->rest && w->args->rest[k] && n < size; k++)
		n += (size_t)snprintf(text + n, size - n, "%s %s",
			k ? "" : " --", w->args->rest[k]);
}

size_t sweep_curve_of(const struct sweep *w, size_t i)
{
	size_t seeds = w->axes.axis[w->seed].n;

	return i / seeds / (w->x < w->seed ? w->axes.axis[w->x].n : 1);
}

/* --- running --- */

bool sweep_is_past(const struct sweep *w, size_t i)
{
	return w->x < w->seed && !w->args->is_past &&
	       axes_index(&w->axes, i, w->x) >
		       w->saturated[sweep_curve_of(w, i)];
}

static void note_ending(struct sweep *w, size_t i, enum load_ending ending)
{
	size_t *at = &w->saturated[sweep_curve_of(w, i)], x;

	if (w->x == w->seed || ending == LOAD_FINISHED)
		return;
	x = axes_index(&w->axes, i, w->x);
	if (x < *at)
		*at = x;
}

/* Whether a point is to be run, now that its turn has come. */
static bool is_wanted(void *arg, size_t i)
{
	struct sweep *w = arg;
	struct curves_point p;
	enum load_ending ending;

	sweep_name_point(w, i, &p);
	if (curves_has(w->curves, &p, &ending)) {
		w->is_there[i] = true;
		w->done++;
		note_ending(w, i, ending);
		return false;
	}
	if (sweep_is_past(w, i)) {
		w->skipped++;
		return false;
	}
	return true;
}

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	struct sweep *w = arg;
	const struct axes *x = &w->axes;

	s->machine = (struct machine_source){
		.name = axes_value(x, i, 0),
		.sets = w->sets,
		.plugins = w->args->plugin,
		.n_plugins = w->args->n_plugins,
	};
	s->bill = w->args->bill;
	s->workload = w->args->word[1];
	s->seed = strtoull(axes_value(x, i, w->seed), NULL, 10);
	s->threads = 1;
	s->programs = &app_strict_ops;
	s->command = w->args->rest;
	s->launch = w->launch;
	s->launch.is_silent = true;
	s->n_keys = w->n_arguments;
	for (size_t k = 1; k < x->n; k++) {
		const struct axis *a = &x->axis[k];

		snprintf(w->text[k], sizeof(w->text[k]), "%s=%s", a->name,
			axes_value(x, i, k));
		if (a->kind == AXIS_SHAPE)
			s->machine.shape = axes_value(x, i, k);
		else if (a->kind == AXIS_FAULTS)
			s->faults = plan_of(axes_value(x, i, k));
		else if (a->kind == AXIS_SET)
			w->sets[s->machine.n_sets++] = w->text[k];
		else if (a->kind == AXIS_KEY)
			w->keys[s->n_keys++] = w->text[k];
	}
	w->keys[s->n_keys] = NULL;
	s->keys = w->keys;
	/* the process of the run has a copy */
	s->loaded = sweep_find_machine(w, &s->machine);
	return true;
}

static void look(const struct machine_run *r, struct batch_result *result)
{
	run_warnings_note(r, result);
	/* what a curve ends with is no news */
	if (r->result.ending == LOAD_SATURATED)
		result->note[RUN_SHORTFALL][0] = '\0';
}

/* --- ids --- */

/* Points of the file have ids in the order of the sweep, whichever ends first;
 * those that are there keep theirs. */
static int64_t find_id(
	const struct sweep *w, size_t i, const struct curves_point *p)
{
	int64_t id = curves_id(w->curves, p);

	return id ? id : w->first_id + (int64_t)i;
}

/* Whether another point has the id of one that is to be run. */
static bool is_taken(const struct sweep *w, size_t i)
{
	struct curves_point p;

	sweep_name_point(w, i, &p);
	return !curves_id(w->curves, &p) &&
	       curves_has_id(w->curves, w->first_id + (int64_t)i);
}

/* The file may be that of a part of this sweep, and its ids those of a part:
 * then new ones follow them. */
static void find_first_id(struct sweep *w)
{
	int64_t last = curves_last_id(w->curves), id;
	struct curves_point p;

	w->first_id = 1;
	for (size_t i = 0; i < w->n && last; i++) {
		sweep_name_point(w, i, &p);
		id = curves_id(w->curves, &p) - (int64_t)i;
		w->first_id = id > w->first_id ? id : w->first_id;
	}
	for (size_t i = 0; i < w->n && last; i++) {
		if (!is_taken(w, i))
			continue;
		w->first_id = last + 1;
		return;
	}
}

/* --- what came of runs --- */

/* The first of all points, whichever ends first. */
static void note_warnings(struct sweep *w, size_t at,
	const struct curves_point *p, const struct batch_result *r)
{
	for (uint32_t i = 0; i < N_RUN_WARNINGS; i++) {
		if (!r->note[i][0])
			continue;
		if (w->warning[i].n++ && at > w->warning[i].at)
			continue;
		w->warning[i].at = at;
		snprintf(w->warning[i].text, sizeof(w->warning[i].text),
			"%s: %s", p->name, r->note[i]);
	}
}

static void on_done(void *arg, size_t i, const struct batch_result *r)
{
	struct sweep *w = arg;
	struct curves_point p;

	sweep_name_point(w, i, &p);
	w->is_there[i] = w->is_new[i] = !r->e.code;
	w->done += !r->e.code;
	w->failed += r->e.code != 0;
	if (r->e.code && (!w->code || i < w->failed_at)) {
		w->failed_at = i;
		w->code = r->e.code;
		snprintf(w->why, sizeof(w->why), "%.200s: %.250s", p.name,
			r->e.text);
	}
	if (!r->e.code) {
		note_ending(w, i, r->ending);
		note_warnings(w, i, &p, r);
	}
	if (!w->e->code)
		curves_put(w->curves, &p, find_id(w, i, &p), r, w->e);
}

/* Points that were run before a lower one of their curve was found to be
 * saturated: which ones depends on luck. */
static void drop_past(struct sweep *w, struct err *e)
{
	struct curves_point p;

	for (size_t i = 0; i < w->n && !e->code; i++) {
		if (!w->is_new[i] || !sweep_is_past(w, i))
			continue;
		sweep_name_point(w, i, &p);
		curves_drop(w->curves, &p, e);
		w->is_there[i] = false;
		w->done--;
		w->skipped++;
	}
}

static void on_wait(void *arg)
{
	struct sweep *w = arg;
	size_t passed = w->done + w->failed + w->skipped;
	double spent = machine_clock() - w->start;
	char line[160];

	if (!w->talks)
		return;
	snprintf(line, sizeof(line),
		"%zu of %zu points, %.0f s, about %.0f s to go", passed, w->n,
		spent,
		passed ? spent * (double)(w->n - passed) / (double)passed : 0);
	cli_progress(line);
}

/* --- the order of runs --- */

struct place {
	double cost;
	size_t at;
};

static int compare_costs(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Points of a curve on the same machine. */
static double count_nodes(struct sweep *w, size_t i)
{
	struct machine_run_setup s = { 0 };
	const struct machine *m;

	set_up(w, i, &s);
	m = sweep_load_machine(w, &s.machine);
	return m ? m->topo->n_nodes : 0;
}

/* A curve that may end at saturation is run from its first point on. */
static double weigh(const struct sweep *w, size_t i)
{
	double x;

	if (w->x == w->seed || !w->args->is_past ||
		axes_number(axes_value(&w->axes, i, w->x), &x) == AXIS_WORD ||
		x <= 0)
		return 1;
	return x;
}

/* Long runs first, so that none is left alone at the end: those of large
 * machines and, where all points are run, with large values of x. */
static void find_order(struct sweep *w, size_t *order)
{
	struct place *p = mem_alloc(w->n, sizeof(*p));
	double nodes = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (!i || sweep_curve_of(w, i) != sweep_curve_of(w, i - 1))
			nodes = count_nodes(w, i);
		p[i] = (struct place){ nodes * weigh(w, i), i };
	}
	qsort(p, w->n, sizeof(*p), compare_costs);
	for (size_t i = 0; i < w->n; i++)
		order[i] = p[i].at;
	mem_free(p);
}

/* --- */

/* Runs at a time on this computer. */
static uint32_t count_places(const struct cli_args *a)
{
	uint32_t each = a->processes_per_run ? a->processes_per_run : 1;

	if (a->processes)
		return a->processes / each;
	return a->threads ? a->threads : barrier_cpus();
}

static int run_all(struct sweep *w, struct err *e)
{
	size_t *order = mem_alloc(w->n, sizeof(*order));
	struct batch b = {
		.wants = is_wanted,
		.setup = set_up,
		.look = look,
		.on_done = on_done,
		.on_wait = w->cluster && w->cluster->me ? NULL : on_wait,
		.arg = w,
		.n = w->n,
		.order = order,
		.at_a_time = count_places(w->args),
		.processes = w->args->processes_per_run,
		.cluster = w->cluster,
		.stop = cli_stop_flag(),
	};
	int code;

	find_order(w, order);
	w->start = machine_clock();
	w->talks = !w->args->is_quiet && isatty(STDERR_FILENO);
	code = batch_run(&b, e);
	if (w->talks)
		cli_progress(NULL);
	mem_free(order);
	return code;
}

/* A machine of the sweep, with what does not vary; NULL where that alone is
 * none. */
static struct machine *load_machine(struct sweep *w, size_t which)
{
	const struct axes *x = &w->axes;
	const char *sets[CLI_MAX_SETS];
	char text[CLI_MAX_SETS][256];
	struct machine_source s = {
		.name = x->axis[0].value[which],
		.sets = sets,
		.plugins = w->args->plugin,
		.n_plugins = w->args->n_plugins,
	};

	for (size_t k = 1; k < x->n; k++) {
		const struct axis *a = &x->axis[k];

		if (a->kind == AXIS_SHAPE && a->n == 1)
			s.shape = a->value[0];
		if (a->kind != AXIS_SET || a->n > 1)
			continue;
		snprintf(text[s.n_sets], sizeof(text[0]), "%s=%s", a->name,
			a->value[0]);
		sets[s.n_sets] = text[s.n_sets];
		s.n_sets++;
	}
	return sweep_load_machine(w, &s);
}

/* Values that name files, or may. */
static void add_input(struct record_inputs *in, const struct axis *a, size_t k)
{
	if (a->kind == AXIS_FAULTS)
		record_inputs_add(in, "plan of faults", plan_of(a->value[k]));
	else if (a->kind == AXIS_KEY || (a->kind == AXIS_SET && a->n > 1))
		record_inputs_add(in, a->name, a->value[k]);
}

/* The files of all points. */
static void list_inputs(struct sweep *w, struct record_inputs *in)
{
	const struct axes *x = &w->axes;
	struct machine *m;

	for (size_t i = 0; i < x->axis[0].n; i++) {
		m = load_machine(w, i);
		if (m)
			record_inputs_machine(in, m);
	}
	for (size_t i = 1; i < x->n; i++)
		for (size_t k = 0; k < x->axis[i].n; k++)
			add_input(in, &x->axis[i], k);
	record_inputs_add(in, "price list", w->args->bill);
	if (w->args->rest && *w->args->rest)
		record_inputs_program(in, w->args->folder, *w->args->rest);
}

/* Whether all processes have read the same ones. */
static int compare_inputs(struct sweep *w, struct err *e)
{
	struct record_inputs in = { NULL, 0 };
	int code;

	list_inputs(w, &in);
	code = cli_cluster_compare(w->cluster, &in, e);
	record_inputs_free(&in);
	return code;
}

static int open_curves(struct sweep *w, struct err *e)
{
	const struct axes *x = &w->axes;
	struct machine **m = mem_alloc(x->axis[0].n, sizeof(struct machine *));
	struct record_inputs in = { NULL, 0 };
	char what[1024], *command = run_sweep_command(w->args);
	struct prices prices = { NULL, NULL, NULL, NULL, 0 };
	struct curves_about a = {
		.what = what,
		.command = command,
		.faults = only_plan(w),
		.inputs = &in,
		.machines = m,
		.n_machines = x->axis[0].n,
	};

	name_sweep(w, what, sizeof(what));
	if (w->args->bill && !prices_read(&prices, w->args->bill, e))
		a.currency = prices.currency;
	for (size_t i = 0; i < a.n_machines; i++)
		m[i] = load_machine(w, i);
	list_inputs(w, &in);
	w->curves = e->code ? NULL : curves_open(w->args->output, &a, e);
	prices_free(&prices);
	mem_free(m);
	mem_free(command);
	record_inputs_free(&in);
	return w->curves ? 0 : -1;
}

static bool is_first(const struct sweep *w)
{
	return !w->cluster || !w->cluster->me;
}

/* The first process of a job has the files. */
static int check_files(const struct cli_args *a, struct err *e)
{
	const struct canvas_format *format =
		a->plot ? canvas_format_of(a->plot, e) : NULL;

	return e->code || (a->csv && out_file_check(a->csv, &out_points, e)) ||
			       (format && out_file_check(
						  a->plot, format->file, e)) ||
			       (a->output &&
				       out_file_check(a->output, &out_run, e))
		       ? -1
		       : 0;
}

/* Processes of a job fail together. */
static int prepare(struct sweep *w, struct err *e)
{
	int failed = (is_first(w) && check_files(w->args, e)) ||
		     cli_launch(w->args, &w->launch, e) || read_axes(w, e);

	if (!w->cluster)
		return failed || open_curves(w, e) ? -1 : 0;
	if (cluster_share_signed(w->cluster, e) || compare_inputs(w, e))
		return -1;
	if (is_first(w))
		(void)open_curves(w, e);
	return cluster_share_signed(w->cluster, e);
}

static int sweep(struct sweep *w, struct err *e)
{
	int code;

	if (!is_first(w))
		return run_all(w, e) < 0 ? -1 : 0;
	w->is_there = mem_alloc(w->n, sizeof(*w->is_there));
	w->is_new = mem_alloc(w->n, sizeof(*w->is_new));
	w->saturated = mem_alloc(w->n, sizeof(*w->saturated));
	for (size_t i = 0; i < w->n; i++)
		w->saturated[i] = SIZE_MAX;
	w->e = e;
	find_first_id(w);
	code = run_all(w, e);
	w->is_stopped = code > 0;
	drop_past(w, e);
	if (code >= 0)
		code = e->code ? -1 : sweep_tell(w, e);
	if (!code && w->is_stopped)
		code = EXIT_STOPPED;
	mem_free(w->is_there);
	mem_free(w->is_new);
	mem_free(w->saturated);
	return code;
}

static int perform_in(
	const struct cli_args *a, struct cluster *c, struct err *e)
{
	static struct sweep w;
	int code;

	w = (struct sweep){ .args = a, .cluster = c };
	code = prepare(&w, e) ? -1 : sweep(&w, e);
	if (w.curves)
		db_close(w.curves);
	sweep_free_machines(&w);
	axes_free(&w.axes);
	return code;
}

static int check_processes(const struct cli_args *a, struct err *e)
{
	uint32_t me, n = cluster_job(&me), each = a->processes_per_run;

	if (a->threads && (a->processes || n > 1))
		return err_set(e,
			"--jobs has no effect on several processes, each of "
			"which runs one point at a time");
	if (n < 2 && each > 1 && !a->processes)
		return err_set(e, "--processes-per-run has no effect without "
				  "--processes");
	if (n < 2 && each > a->processes)
		return err_set(e,
			"--processes-per-run: %u is more than the %u of "
			"--processes",
			each, a->processes);
	return 0;
}

static int perform(const struct cli_args *a, struct err *e)
{
	struct cluster *c = NULL;

	if (check_processes(a, e) || cli_cluster_join(a, &c, e))
		return cli_cluster_end(c, -1, e);
	cli_cluster_hush(c);
	return cli_cluster_end(c, perform_in(a, c, e), e);
}

const struct cli_command cli_sweep = { .name = "sweep",
	.brief = "run a workload over ranges of values",
	.takes = CLI_MACHINE | CLI_SWEEP | CLI_PLAN | CLI_JSON | CLI_REST |
		 CLI_LAUNCH,
	.usage = "MACHINE[,MACHINE...] WORKLOAD [KEY=VALUES...] [-- PROGRAM "
		 "...]",
	.help = "Runs a workload with every combination of the given values, "
		"one run per core at a time, and prints a line for each "
		"point.\vCommas separate values; a range is 1..5, in steps "
		"0.1..1:0.1, in factors 64..4096:x2.  Runs that differ only in "
		"their seed are averaged: seed=1..5.  With --output a sweep "
		"that was stopped continues where it ended.  Example:\n  weft "
		"sweep torus,dragonfly random load=0.1..1:0.1 seed=1..3 -o "
		"curves.db",
	.words = { 2, CLI_MAX_WORDS },
	.want = "want a machine and a workload, as in `weft sweep torus random "
		"load=0.1..1:0.1`",
	.run = perform };
