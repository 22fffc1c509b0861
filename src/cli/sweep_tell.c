/* What a sweep found: a table, JSON, CSV and pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/curves.h"
#include "cli/sweep.h"
#include "facts/figure.h"
#include "out/file.h"

enum { MOST_FIGURES = 4 };

struct told {
	struct sweep *sweep;
	struct facts facts;
	const struct fact *points; /* of the facts */
	const char *figure[MOST_FIGURES];
	/* a column has one unit, which fits its largest value */
	struct figure_scale scale[MOST_FIGURES];
	size_t n;
};

/* --- points --- */

/* With its first seed, or as the first of its curve with any. */
static bool is_saturated(
	const struct sweep *w, size_t i, const struct curves_point *p)
{
	enum load_ending ending;

	if (w->x == w->seed)
		return false;
	return axes_index(&w->axes, i, w->x) ==
		       w->saturated[sweep_curve_of(w, i)] ||
	       (curves_has(w->curves, p, &ending) && ending != LOAD_FINISHED);
}

/* A group of points that differ by their seeds. */
static void add_point(
	struct facts *f, const struct sweep *w, size_t i, struct err *e)
{
	const struct axes *x = &w->axes;
	struct curves_point p;

	sweep_name_point(w, i, &p);
	facts_group(f, NULL);
	facts_text(f, "curve", p.curve);
	facts_group(f, "values");
	for (size_t k = 0; k < x->n; k++)
		if (k != w->seed)
			facts_text(f, x->axis[k].name, axes_value(x, i, k));
	facts_end(f);
	facts_flag(f, "saturated", is_saturated(w, i, &p));
	facts_text(f, "_x", p.x);
	facts_count(f, "_i", i);
	facts_flag(f, "_past", sweep_is_past(w, i));
	facts_group(f, "figures");
	curves_facts(f, w->curves, p.group, e);
	facts_end(f);
	facts_end(f);
}

static bool has_group(const struct sweep *w, size_t first)
{
	for (size_t k = first; k < first + w->axes.axis[w->seed].n; k++)
		if (w->is_there[k])
			return true;
	return false;
}

/* One point for each group, in their order: seeds are averaged. */
static void add_points(struct told *t, struct err *e)
{
	const struct sweep *w = t->sweep;

	t->points = facts_list(&t->facts, "points");
	for (size_t i = 0; i < w->n; i += w->axes.axis[w->seed].n)
		if (has_group(w, i))
			add_point(&t->facts, w, i, e);
	facts_end(&t->facts);
}

/* --- figures --- */

/* A figure of a point: false where it has none. */
static bool get(
	const struct fact *point, const char *figure, struct curves_value *v)
{
	const struct fact *x = fact_of(facts_find(point, "figures"), figure);

	*v = (struct curves_value){ 0 };
	if (!x)
		return false;
	v->n = facts_find(x, "seeds")->is.count;
	fact_number(facts_find(x, "mean"), &v->mean);
	fact_number(facts_find(x, "half_width_95"), &v->half);
	return true;
}

/* Of a text with commas, which is cut into pieces. */
static void split_figures(struct told *t, char *text)
{
	for (char *at = strtok(text, ","); at && t->n < MOST_FIGURES;
		at = strtok(NULL, ","))
		t->figure[t->n++] = at;
}

/* The greatest value that a figure has; less than 0 where no point has it. */
static double most_of(const struct told *t, const char *figure)
{
	const struct fact *x = t->points->first;
	struct curves_value v;
	double most = -1;

	for (; x; x = x->next)
		if (get(x, figure, &v))
			most = fmax(most, fabs(v.mean));
	return most;
}

static int choose_figures(struct told *t, char *text, struct err *e)
{
	const char *const *told;

	split_figures(t, text);
	for (size_t i = 0; i < t->n; i++)
		if (most_of(t, t->figure[i]) < 0)
			return err_set(e,
				"no point has a figure \"%.40s\"; `weft run "
				"--json` prints the names of figures",
				t->figure[i]);
	if (*text)
		return 0;
	told = curves_usual(most_of(t, "busbw_GBps") >= 0);
	for (; *told; told++)
		if (t->n < MOST_FIGURES && most_of(t, *told) >= 0)
			t->figure[t->n++] = *told;
	return 0;
}

/* --- the table --- */

static void add_cell(struct facts *f, const char *key,
	const struct curves_value *v, struct figure_scale s)
{
	char mean[FIGURE_TEXT];

	figure_scaled(v->mean, s, mean);
	if (!v->n)
		facts_null(f, key);
	else if (v->half > 0)
		facts_print(f, key,
			v->half * s.by < 100 ? "%s ± %.2g" : "%s ± %.0f", mean,
			v->half * s.by);
	else
		facts_text(f, key, mean);
}

static const char *const cell_names[MOST_FIGURES] = { "0", "1", "2", "3" };

static void add_rows(struct told *t)
{
	const struct fact *x = t->points->first;
	struct facts *f = &t->facts;
	struct curves_value v;

	for (; x; x = x->next) {
		bool has = false;

		for (size_t k = 0; k < t->n; k++)
			has |= get(x, t->figure[k], &v);
		if (!has || facts_find(x, "_past")->is.flag)
			continue;
		facts_group(f, NULL);
		facts_text(f, "curve", fact_text(x, "curve"));
		facts_text(f, "x", fact_text(x, "_x"));
		for (size_t k = 0; k < t->n; k++) {
			get(x, t->figure[k], &v);
			add_cell(f, cell_names[k], &v, t->scale[k]);
		}
		facts_text(f, "note",
			facts_find(x, "saturated")->is.flag ? "saturated" : "");
		facts_end(f);
	}
}

static void add_table(struct told *t)
{
	const struct sweep *w = t->sweep;
	char columns[1024], title[FIGURE_NAME];
	size_t n;

	n = (size_t)snprintf(columns, sizeof(columns), "curve|>%s=x",
		w->x < w->seed ? w->axes.axis[w->x].name : "");
	for (size_t k = 0; k < t->n; k++) {
		t->scale[k] = curves_scale(w->curves, t->figure[k],
			fmax(most_of(t, t->figure[k]), 0));
		figure_title(t->figure[k], title);
		n += (size_t)snprintf(columns + n, sizeof(columns) - n,
			"|>%s%s%s=%s", title, *t->scale[k].unit ? ", " : "",
			t->scale[k].unit, cell_names[k]);
	}
	snprintf(columns + n, sizeof(columns) - n, "|=note");
	facts_list(&t->facts, "_rows");
	add_rows(t);
	facts_end(&t->facts);
	facts_table(&t->facts, "_rows", columns, 0);
}

/* Between quotes, of which there are two where there was one. */
static void write_field(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "%c\"" : "%c", *text);
	fputc('"', f);
}

/* --- files --- */

static void write_csv(const struct sweep *w, FILE *f)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(w->curves,
		"SELECT p.curve, p.x, p.seed, v.name, v.value FROM point p "
		"JOIN value v ON v.point = p.id ORDER BY p.curve, "
		"CAST(p.x AS REAL), CAST(p.seed AS INTEGER), v.rowid",
		&e);

	fputs("curve,x,seed,figure,value\n", f);
	while (db_next(q)) {
		write_field(f, db_text(q, 0));
		fprintf(f, ",%s,%s,%s,%.17g\n", db_text(q, 1), db_text(q, 2),
			db_text(q, 3), db_real(q, 4));
	}
	db_finish(q);
}

static int draw(const struct told *t, const char *path,
	const struct canvas_format *format, struct err *e)
{
	struct plot *p = curves_plot(t->sweep->curves, t->figure[0], e);
	struct out_file f;

	if (!p)
		return -1;
	if (!out_file_open(&f, path, format->file, e)) {
		plot_write(p, format, f.stream, e);
		out_file_close(&f, e);
	}
	plot_free(p);
	return e->code ? -1 : 0;
}

static int write_points(const struct told *t, const char *path, struct err *e)
{
	struct out_file f;

	if (out_file_open(&f, path, &out_points, e))
		return -1;
	write_csv(t->sweep, f.stream);
	return out_file_close(&f, e);
}

/* The files that options name. */
static int write_files(const struct told *t, struct err *e)
{
	const struct cli_args *a = t->sweep->args;

	if (a->csv && write_points(t, a->csv, e))
		return -1;
	return a->plot && t->n
		       ? draw(t, a->plot, canvas_format_of(a->plot, e), e)
		       : 0;
}
/* --- what is to be said of it --- */

static void add_warnings(struct facts *f, const struct sweep *w)
{
	for (uint32_t i = 0; i < N_RUN_WARNINGS; i++) {
		const char *text = w->warning[i].text;
		size_t n = w->warning[i].n;

		if (n > 1)
			facts_say(f, NULL, "warning: %s; and %zu other point%s",
				text, n - 1, cli_s(n - 1));
		else if (n)
			facts_say(f, NULL, "warning: %s", text);
	}
}

/* Of machines and shapes, each pair once. */
static void add_advice(struct facts *f, struct sweep *w)
{
	const struct axis *shapes = &w->axes.axis[1];

	for (size_t i = 0; i < w->axes.axis[0].n && shapes->kind == AXIS_SHAPE;
		i++)
		for (size_t k = 0; k < shapes->n; k++) {
			const struct machine_source s = {
				.name = w->axes.axis[0].value[i],
				.shape = shapes->value[k],
				.plugins = w->args->plugin,
				.n_plugins = w->args->n_plugins,
			};
			const struct machine *m = sweep_load_machine(w, &s);

			if (m && *m->advice)
				facts_say(f, "warning", "%s", m->advice);
		}
}

static void add_head(struct facts *f, const struct sweep *w)
{
	char *command = run_sweep_command(w->args);

	facts_text(f, "weft", WEFT_VERSION);
	facts_text(f, "command", command);
	facts_text(f, "workload", w->args->word[1]);
	facts_text(f, "x", w->x < w->seed ? w->axes.axis[w->x].name : NULL);
	facts_text(f, "ending", w->is_stopped ? "stopped" : "finished");
	facts_count(f, "runs", w->n);
	facts_count(f, "done", w->done);
	facts_count(f, "failed", w->failed);
	facts_count(f, "beyond_saturation", w->skipped);
	mem_free(command);
}

static void add_end(struct facts *f, struct sweep *w)
{
	add_advice(f, w);
	add_warnings(f, w);
	if (w->is_stopped)
		facts_line(f, NULL,
			w->args->output
				? "stopped after {done} of {runs} points; the "
				  "same command continues the sweep"
				: "stopped after {done} of {runs} "
				  "points");
	facts_line(f, NULL,
		"[beyond_saturation?{beyond_saturation} "
		"point{beyond_saturation|s} beyond saturation skipped "
		"(--past-saturation runs them)]");
}

static int tell(struct told *t, struct err *e)
{
	struct sweep *w = t->sweep;
	struct stream out;
	char names[512];

	snprintf(names, sizeof(names), "%s",
		w->args->figures ? w->args->figures : "");
	add_head(&t->facts, w);
	add_points(t, e);
	if (e->code ||
		(!(w->is_stopped && !w->done) && choose_figures(t, names, e)))
		return -1;
	if (w->done)
		add_table(t);
	add_end(&t->facts, w);
	stream_open(&out);
	cli_write(w->args, &t->facts, CLI_FITTED, out.file);
	return cli_out_close(&out, e) || write_files(t, e) ? -1 : 0;
}

int sweep_tell(struct sweep *w, struct err *e)
{
	struct told t = { .sweep = w };
	int failed;

	facts_init(&t.facts);
	failed = tell(&t, e);
	facts_fini(&t.facts);
	if (failed)
		return -1;
	if (w->failed)
		return err_set_code(e, w->code, "%zu of %zu points failed; %s",
			w->failed, w->n, w->why);
	return EXIT_FINISHED;
}
