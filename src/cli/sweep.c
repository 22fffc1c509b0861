/* `weft sweep`: every combination of what varies, and curves of the results. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/run.h"
#include "out/json.h"
#include "out/file.h"
#include "out/plot.h"
#include "out/table.h"
#include "record/curves.h"
#include "sim/barrier.h"

enum { MOST_FIGURES = 4, SETUP_TEXTS = AXES_MOST };

/* What is drawn along x, if it varies, in this order. */
static const char *const x_names[] = { "load", "bytes" };

/* Figures that are told where there are no others asked for. */
static const char *const usual[] = { "throughput_GBps_per_node",
	"latency_mean_ns", "latency_p99_ns", "fraction_of_peak", "one_way_ns",
	"total_MBps", "rate_Mps", "time_ns", "rate_GBps", "sim_time_ns" };

struct sweep {
	const struct cli_args *args;
	struct axes axes;
	size_t x, seed; /* which axes these are; axes.n: none */
	enum axis_unit unit; /* of x */
	size_t n; /* points */
	struct curves *curves;
	bool *is_there; /* done before, or now */
	size_t *saturated; /* [point without x and seed]: the first value */
	size_t done, failed, skipped;
	bool is_stopped;
	char why[480]; /* of the first that failed */
	double start;
	bool talks;
	struct err *e;
	/* of the point that is being set up */
	char text[SETUP_TEXTS][256];
	const char *sets[CLI_MAX_SETS];
	size_t n_arguments; /* which stand first among the keys */
	const char *keys[CLI_MAX_WORDS + 1]; /* NULL behind the last */
};

/* --- what varies --- */

static int add_pair(
	struct axes *a, enum axis_kind kind, const char *text, struct err *e)
{
	const char *sign = strchr(text, '=');
	char name[128];

	if (!sign || sign == text)
		return err_set(e,
			"\"%.40s\" is not KEY=VALUES (several values have "
			"commas and no blanks between them: load=0.1,0.5)",
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
	size_t i;

	for (i = 2; i < a->n_words; i++)
		if (!strncmp(a->word[i], "seed=", 5))
			return a->word[i] + 5;
	return "1";
}

/* Programs of plugins may have words as arguments. */
static bool is_argument(const struct sweep *w, const char *word)
{
	return !strchr(word, '=') && w->args->n_plugins &&
	       !load_find(w->args->word[1]);
}

static int check_seed(const char *text, struct err *e)
{
	size_t n = strlen(text);

	if (n && n < 20 && strspn(text, "0123456789") == n)
		return 0;
	return err_set(e,
		"seed: \"%.40s\" is not a whole number (want some, as in "
		"seed=1..5)",
		text);
}

/* The seed is fastest, then what is drawn along x. */
static int read_axes(struct sweep *w, struct err *e)
{
	const struct cli_args *a = w->args;
	struct axes *x = &w->axes;
	struct axis last;
	size_t i;

	if (axes_add(x, AXIS_MACHINE, "machine", a->word[0], e))
		return -1;
	if (a->shape && axes_add(x, AXIS_SHAPE, "shape", a->shape, e))
		return -1;
	for (i = 0; i < a->n_sets; i++)
		if (add_pair(x, AXIS_SET, a->set[i], e))
			return -1;
	for (i = 2; i < a->n_words; i++)
		if (is_argument(w, a->word[i]))
			w->keys[w->n_arguments++] = a->word[i];
		else if (add_pair(x, AXIS_KEY, a->word[i], e))
			return -1;
	w->x = x->n;
	for (i = 0; i < 2 && w->x == x->n; i++)
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
	if (axes_add(x, AXIS_SEED, "seed", find_seeds(a), e))
		return -1;
	for (i = 0; i < x->axis[w->seed].n; i++)
		if (check_seed(x->axis[w->seed].value[i], e))
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
static void name_point(const struct sweep *w, size_t i, struct curves_point *p)
{
	const struct axes *x = &w->axes;
	size_t k;

	*p = (struct curves_point){ .name = "" };
	snprintf(p->curve, sizeof(p->curve), "%s", axes_value(x, i, 0));
	for (k = 1; k < x->n; k++)
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

/* What does not vary: a file is of one such sweep. */
static void name_sweep(const struct sweep *w, char *text, size_t size)
{
	const struct axes *x = &w->axes;
	size_t k, n;

	n = (size_t)snprintf(text, size, "%s", w->args->word[1]);
	for (k = 0; k < w->n_arguments && n < size; k++)
		n += (size_t)snprintf(text + n, size - n, " %s", w->keys[k]);
	for (k = 1; k < x->n && n < size; k++)
		if (k != w->x && k != w->seed && x->axis[k].n == 1)
			n += (size_t)snprintf(text + n, size - n, " %s=%s",
				x->axis[k].name, x->axis[k].value[0]);
}

static size_t curve_of(const struct sweep *w, size_t i)
{
	size_t seeds = w->axes.axis[w->seed].n;

	return i / seeds / (w->x < w->seed ? w->axes.axis[w->x].n : 1);
}

/* --- running --- */

static bool is_past(const struct sweep *w, size_t i)
{
	return w->x < w->seed && !w->args->is_past &&
	       axes_index(&w->axes, i, w->x) > w->saturated[curve_of(w, i)];
}

static void note_ending(struct sweep *w, size_t i, enum load_ending ending)
{
	size_t *at = &w->saturated[curve_of(w, i)], x;

	if (w->x == w->seed || ending == LOAD_FINISHED)
		return;
	x = axes_index(&w->axes, i, w->x);
	if (x < *at)
		*at = x;
}

static bool set_up(void *arg, size_t i, struct machine_run_setup *s)
{
	struct sweep *w = arg;
	const struct axes *x = &w->axes;
	struct curves_point p;
	enum load_ending ending;
	size_t k;

	name_point(w, i, &p);
	if (curves_has(w->curves, &p, &ending)) {
		w->is_there[i] = true;
		w->done++;
		note_ending(w, i, ending);
		return false;
	}
	if (is_past(w, i)) {
		w->skipped++;
		return false;
	}
	s->machine = axes_value(x, i, 0);
	s->workload = w->args->word[1];
	s->plugins = w->args->plugin;
	s->n_plugins = w->args->n_plugins;
	s->seed = strtoull(p.seed, NULL, 10);
	s->threads = 1;
	s->programs = &app_strict_ops;
	s->n_keys = w->n_arguments;
	for (k = 1; k < x->n; k++) {
		const struct axis *a = &x->axis[k];

		snprintf(w->text[k], sizeof(w->text[k]), "%s=%s", a->name,
			axes_value(x, i, k));
		if (a->kind == AXIS_SHAPE)
			s->shape = axes_value(x, i, k);
		else if (a->kind == AXIS_SET)
			w->sets[s->n_sets++] = w->text[k];
		else if (a->kind == AXIS_KEY)
			w->keys[s->n_keys++] = w->text[k];
	}
	w->keys[s->n_keys] = NULL;
	s->sets = w->sets;
	s->keys = w->keys;
	return true;
}

static void on_done(void *arg, size_t i, const struct batch_result *r)
{
	struct sweep *w = arg;
	struct curves_point p;

	name_point(w, i, &p);
	w->is_there[i] = !r->e.code;
	w->done += !r->e.code;
	w->failed += r->e.code != 0;
	if (r->e.code && !*w->why)
		snprintf(w->why, sizeof(w->why), "%.200s: %.250s", p.name,
			r->e.text);
	if (!r->e.code)
		note_ending(w, i, r->ending);
	if (!w->e->code)
		curves_put(w->curves, &p, r, w->e);
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

static int run_all(struct sweep *w, struct err *e)
{
	struct batch b = {
		.setup = set_up,
		.on_done = on_done,
		.on_wait = on_wait,
		.arg = w,
		.n = w->n,
		.at_a_time =
			w->args->threads ? w->args->threads : barrier_cpus(),
		.stop = cli_stop_flag(),
	};
	int code;

	w->start = machine_clock();
	w->talks = !w->args->is_quiet && isatty(STDERR_FILENO);
	code = batch_run(&b, e);
	if (w->talks)
		cli_progress(NULL);
	return code;
}

/* --- telling --- */

struct figures {
	const char *name[MOST_FIGURES];
	size_t n;
};

/* Of a text with commas, which is cut into pieces. */
static void split_figures(struct figures *f, char *text)
{
	char *at;

	for (at = strtok(text, ","); at && f->n < MOST_FIGURES;
		at = strtok(NULL, ","))
		f->name[f->n++] = at;
}

static bool some_has(const struct sweep *w, const char *name)
{
	struct curves_point p;
	struct curves_value v;
	size_t i;

	for (i = 0; i < w->n; i++) {
		name_point(w, i, &p);
		if (w->is_there[i] && curves_get(w->curves, p.group, name, &v))
			return true;
	}
	return false;
}

static int choose_figures(
	const struct sweep *w, struct figures *f, char *text, struct err *e)
{
	size_t i;

	if (*text) {
		split_figures(f, text);
		for (i = 0; i < f->n; i++)
			if (!some_has(w, f->name[i]))
				return err_set(e,
					"no point has a figure \"%.40s\"; "
					"`weft run --json` shows their names",
					f->name[i]);
		return 0;
	}
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (f->n < MOST_FIGURES && some_has(w, usual[i]))
			f->name[f->n++] = usual[i];
	return 0;
}

static void format_value(const struct curves_value *v, char *text, size_t size)
{
	if (!v->n)
		snprintf(text, size, "-");
	else if (v->half > 0)
		snprintf(text, size, "%.5g ± %.2g", v->mean, v->half);
	else
		snprintf(text, size, "%.5g", v->mean);
}

/* With its first seed, or as the first of its curve with any. */
static bool is_saturated(
	const struct sweep *w, size_t i, const struct curves_point *p)
{
	enum load_ending ending;

	if (w->x == w->seed)
		return false;
	return axes_index(&w->axes, i, w->x) == w->saturated[curve_of(w, i)] ||
	       (curves_has(w->curves, p, &ending) && ending != LOAD_FINISHED);
}

/* One row for each group, in the order of points: seeds are averaged. */
static void print_table(
	const struct sweep *w, const struct figures *f, FILE *out)
{
	struct table_column column[MOST_FIGURES + 3] = {
		{ "curve", false },
		{ w->x < w->seed ? w->axes.axis[w->x].name : "", true },
	};
	size_t step = w->axes.axis[w->seed].n, i, k;
	struct table t;

	for (k = 0; k < f->n; k++)
		column[2 + k] = (struct table_column){ f->name[k], true };
	column[2 + f->n] = (struct table_column){ "", false };
	table_init(&t, column, f->n + 3);
	for (i = 0; i < w->n; i += step) {
		const char *cells[MOST_FIGURES + 3];
		char text[MOST_FIGURES][64];
		struct curves_point p;
		struct curves_value v;
		bool has = false;

		name_point(w, i, &p);
		cells[0] = p.curve;
		cells[1] = *p.x ? p.x : "";
		for (k = 0; k < f->n; k++) {
			has |= curves_get(w->curves, p.group, f->name[k], &v);
			format_value(&v, text[k], sizeof(text[k]));
			cells[2 + k] = text[k];
		}
		cells[2 + f->n] = is_saturated(w, i, &p) ? "saturated" : "";
		if (has && !is_past(w, i))
			table_add(&t, cells);
	}
	table_print(&t, out, cli_width(stdout), cli_colour(stdout));
	table_fini(&t);
}

/* --- JSON --- */

static void json_figures(
	const struct sweep *w, const char *group, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(curves_db(w->curves),
		"SELECT v.name FROM point p JOIN value v ON v.point = p.id"
		" WHERE p.grp = ? GROUP BY v.name ORDER BY min(v.rowid)",
		e);
	struct curves_value v;

	if (!q)
		return;
	db_bind_text(q, 1, group);
	json_object(j, "figures");
	while (db_next(q, e) > 0) {
		if (!curves_get(w->curves, group, db_text(q, 0), &v))
			continue;
		json_object(j, db_text(q, 0));
		json_real(j, "mean", v.mean);
		json_real_if(j, "half_width_95", v.n > 1, v.half);
		json_count(j, "seeds", v.n);
		json_end(j, '}');
	}
	json_end(j, '}');
	db_finish(q);
}

/* A group of points that differ by their seeds. */
static void json_group(
	const struct sweep *w, size_t i, struct json *j, struct err *e)
{
	const struct axes *x = &w->axes;
	struct curves_point p;
	size_t k;

	name_point(w, i, &p);
	json_object(j, NULL);
	json_text(j, "curve", p.curve);
	json_object(j, "values");
	for (k = 0; k < x->n; k++)
		if (k != w->seed)
			json_text(j, x->axis[k].name, axes_value(x, i, k));
	json_end(j, '}');
	json_flag(j, "saturated", is_saturated(w, i, &p));
	json_figures(w, p.group, j, e);
	json_end(j, '}');
}

static bool has_group(const struct sweep *w, size_t first)
{
	size_t k;

	for (k = first; k < first + w->axes.axis[w->seed].n; k++)
		if (w->is_there[k])
			return true;
	return false;
}

static int print_json(const struct sweep *w, FILE *f, struct err *e)
{
	size_t step = w->axes.axis[w->seed].n, i;
	char *command = run_sweep_command(w->args);
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	json_text(&j, "weft", WEFT_VERSION);
	json_text(&j, "command", command);
	json_text(&j, "workload", w->args->word[1]);
	json_text(&j, "x", w->x < w->seed ? w->axes.axis[w->x].name : NULL);
	json_text(&j, "ending", w->is_stopped ? "stopped" : "finished");
	json_count(&j, "runs", w->n);
	json_count(&j, "done", w->done);
	json_count(&j, "failed", w->failed);
	json_count(&j, "beyond_saturation", w->skipped);
	json_array(&j, "points");
	for (i = 0; i < w->n; i += step)
		if (has_group(w, i))
			json_group(w, i, &j, e);
	json_end(&j, ']');
	json_end(&j, '}');
	mem_free(command);
	return e->code ? -1 : 0;
}

/* Between quotes, of which there are two where there was one. */
static void write_field(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "%c\"" : "%c", *text);
	fputc('"', f);
}

static void write_csv(const struct sweep *w, FILE *f)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(curves_db(w->curves),
		"SELECT p.curve, p.x, p.seed, v.name, v.value FROM point p "
		"JOIN value v ON v.point = p.id ORDER BY p.curve, "
		"CAST(p.x AS REAL), CAST(p.seed AS INTEGER), v.rowid",
		&e);

	fputs("curve,x,seed,figure,value\n", f);
	while (q && db_next(q, &e) > 0) {
		write_field(f, db_text(q, 0));
		fprintf(f, ",%s,%s,%s,%.17g\n", db_text(q, 1), db_text(q, 2),
			db_text(q, 3), db_real(q, 4));
	}
	db_finish(q);
}

static void draw(const struct sweep *w, const char *figure, FILE *f)
{
	const char *unit = axes_unit_name(w->unit);
	size_t step = w->axes.axis[w->seed].n, i;
	struct plot *p;
	char name[64];
	double x;

	if (w->x == w->seed)
		snprintf(name, sizeof(name), "point");
	else
		snprintf(name, sizeof(name), "%s%s%s%s",
			w->axes.axis[w->x].name, *unit ? ", " : "", unit,
			w->unit == AXIS_RATE ? " per node" : "");
	p = plot_new(name, figure);

	for (i = 0; i < w->n; i += step) {
		struct curves_point at;
		struct curves_value v;

		name_point(w, i, &at);
		if (*at.x)
			axes_number(at.x, &x);
		else
			x = (double)i;
		if (!is_past(w, i) &&
			curves_get(w->curves, at.group, figure, &v))
			plot_add(p, at.curve, x, v.mean, v.half);
	}
	plot_write(p, f);
	plot_free(p);
}

static int write_file(const struct sweep *w, const char *path,
	const char *figure, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, figure ? &out_picture : &out_points, e))
		return -1;
	if (figure)
		draw(w, figure, f.stream);
	else
		write_csv(w, f.stream);
	return out_file_close(&f, e);
}

/* Of machines and shapes, each pair once. */
static void print_advice(const struct sweep *w, FILE *f)
{
	const struct axis *shapes = &w->axes.axis[1];
	size_t i, k;

	for (i = 0; i < w->axes.axis[0].n && shapes->kind == AXIS_SHAPE; i++)
		for (k = 0; k < shapes->n; k++) {
			const struct machine_source s = {
				.name = w->axes.axis[0].value[i],
				.shape = shapes->value[k],
				.plugins = w->args->plugin,
				.n_plugins = w->args->n_plugins,
			};
			struct err none = { 0 };
			struct machine *m = machine_load_from(&s, &none);

			if (m && *m->advice)
				fprintf(f, "warning     %s\n", m->advice);
			machine_free(m);
		}
}

/* The table, and what is to be said of it. */
static void print_text(struct sweep *w, const struct figures *f, FILE *out)
{
	if (w->done)
		print_table(w, f, out);
	print_advice(w, out);
	if (w->is_stopped)
		fprintf(out, "stopped after %zu of %zu points%s\n", w->done,
			w->n,
			w->args->output ? "; the same command goes on from here"
					: "");
	if (w->skipped)
		fprintf(out,
			"%zu point%s beyond saturation left out "
			"(--past-saturation runs them)\n",
			w->skipped, cli_s(w->skipped));
}

static int tell(struct sweep *w, struct err *e)
{
	struct figures f = { .n = 0 };
	char names[512];
	struct cli_out out;

	snprintf(names, sizeof(names), "%s",
		w->args->figures ? w->args->figures : "");
	if (!(w->is_stopped && !w->done) && choose_figures(w, &f, names, e))
		return -1;
	cli_out_open(&out);
	if (!w->args->is_json)
		print_text(w, &f, out.file);
	else if (print_json(w, out.file, e)) {
		cli_out_drop(&out);
		return -1;
	}
	if (cli_out_close(&out, e) ||
		(w->args->csv && write_file(w, w->args->csv, NULL, e)) ||
		(w->args->svg && f.n &&
			write_file(w, w->args->svg, f.name[0], e)))
		return -1;
	if (w->failed)
		return err_set(e, "%zu of %zu points failed; %s", w->failed,
			w->n, w->why);
	return EXIT_FINISHED;
}

/* A machine of the sweep, with what does not vary; NULL where that alone is
 * none. */
static struct machine *load_machine(const struct sweep *w, size_t which)
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
	struct err none = { 0 };
	size_t k;

	for (k = 1; k < x->n; k++) {
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
	return machine_load_from(&s, &none);
}

static int open_curves(struct sweep *w, struct err *e)
{
	const struct axes *x = &w->axes;
	struct machine **m = mem_alloc(x->axis[0].n, sizeof(struct machine *));
	struct record_inputs in = { NULL, 0 };
	char what[1024], *command = run_sweep_command(w->args);
	struct curves_about a = {
		.what = what,
		.command = command,
		.inputs = &in,
		.machines = m,
		.n_machines = x->axis[0].n,
	};
	size_t i, k;

	name_sweep(w, what, sizeof(what));
	for (i = 0; i < a.n_machines; i++) {
		m[i] = load_machine(w, i);
		if (m[i])
			record_inputs_machine(&in, m[i]);
	}
	for (i = 1; i < x->n; i++)
		for (k = 0; x->axis[i].kind == AXIS_KEY && k < x->axis[i].n;
			k++)
			record_inputs_add(
				&in, x->axis[i].name, x->axis[i].value[k]);
	w->curves = curves_open(w->args->output, &a, e);
	for (i = 0; i < a.n_machines; i++)
		machine_free(m[i]);
	mem_free(m);
	mem_free(command);
	record_inputs_free(&in);
	return w->curves ? 0 : -1;
}

static int sweep(struct sweep *w, struct err *e)
{
	size_t i;
	int code;

	if (open_curves(w, e))
		return -1;
	w->is_there = mem_alloc(w->n, sizeof(*w->is_there));
	w->saturated = mem_alloc(w->n, sizeof(*w->saturated));
	for (i = 0; i < w->n; i++)
		w->saturated[i] = SIZE_MAX;
	w->e = e;
	code = run_all(w, e);
	w->is_stopped = code > 0;
	if (code >= 0)
		code = e->code ? -1 : tell(w, e);
	if (!code && w->is_stopped)
		code = EXIT_STOPPED;
	curves_close(w->curves);
	mem_free(w->is_there);
	mem_free(w->saturated);
	return code;
}

int cli_sweep(int argc, char **argv, struct err *e)
{
	static struct sweep w;
	struct cli_args a;
	int code = cli_parse(&a, argc, argv, CLI_MACHINE | CLI_SWEEP | CLI_JSON,
		"MACHINE[,MACHINE...] WORKLOAD [KEY=VALUES...]",
		"Runs a workload with every combination of values, as many at "
		"a time as there are cores, and prints curves of the "
		"results.\vValues are separated by commas, or a range: 1..5, "
		"0.1..1:0.1 by steps, 64..4096:x2 by factors.  Seeds are "
		"averaged: seed=1..5.  With --output a sweep that was stopped "
		"goes on where it was.  As in:\n"
		"  weft sweep torus,dragonfly random load=0.1..1:0.1 "
		"seed=1..3 -o curves.db --svg curves.svg",
		e);

	if (code)
		return code < 0 ? -1 : 0;
	if (a.n_words < 2)
		return err_set(e, "want a machine and a workload, as in `weft "
				  "sweep torus random load=0.1..1:0.1`");
	if ((a.csv && out_file_check(a.csv, &out_points, e)) ||
		(a.svg && out_file_check(a.svg, &out_picture, e)) ||
		(a.output && out_file_check(a.output, &out_run, e)))
		return -1;
	w = (struct sweep){ .args = &a };
	code = read_axes(&w, e) ? -1 : sweep(&w, e);
	axes_free(&w.axes);
	return code;
}
