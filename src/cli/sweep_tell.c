/* What a sweep found: a table, JSON, CSV and pictures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/sweep.h"
#include "facts/figure.h"
#include "out/file.h"
#include "out/json.h"
#include "out/plot.h"
#include "out/table.h"

enum { MOST_FIGURES = 4 };

/* Figures that are told where there are no others asked for. */
static const char *const usual[] = { "throughput_GBps_per_node",
	"latency_mean_ns", "latency_p99_ns", "fraction_of_peak", "one_way_ns",
	"total_MBps", "rate_Mps", "time_ns", "rate_GBps", "sim_time_ns" };

struct figures {
	const char *name[MOST_FIGURES];
	/* a column has one unit, which fits its largest value */
	struct figure_scale scale[MOST_FIGURES];
	char head[MOST_FIGURES][FIGURE_NAME + FIGURE_TEXT];
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
		sweep_name_point(w, i, &p);
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

static void choose_scales(const struct sweep *w, struct figures *f)
{
	struct curves_point p;
	struct curves_value v;
	size_t i, k;

	for (k = 0; k < f->n; k++) {
		char title[FIGURE_NAME];
		double most = 0;

		for (i = 0; i < w->n; i++) {
			sweep_name_point(w, i, &p);
			if (w->is_there[i] &&
				curves_get(w->curves, p.group, f->name[k], &v))
				most = fmax(most, fabs(v.mean));
		}
		f->scale[k] = figure_scale(f->name[k], most);
		figure_title(f->name[k], title);
		snprintf(f->head[k], sizeof(f->head[k]), "%s%s%s", title,
			*f->scale[k].unit ? ", " : "", f->scale[k].unit);
	}
}

static void format_value(const struct curves_value *v, struct figure_scale s,
	char *text, size_t size)
{
	char mean[FIGURE_TEXT];

	figure_scaled(v->mean, s, mean);
	if (!v->n)
		snprintf(text, size, "-");
	else if (v->half > 0)
		snprintf(text, size,
			v->half * s.by < 100 ? "%s ± %.2g" : "%s ± %.0f", mean,
			v->half * s.by);
	else
		snprintf(text, size, "%s", mean);
}

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
		column[2 + k] = (struct table_column){ f->head[k], true };
	column[2 + f->n] = (struct table_column){ "", false };
	table_init(&t, column, f->n + 3);
	for (i = 0; i < w->n; i += step) {
		const char *cells[MOST_FIGURES + 3];
		char text[MOST_FIGURES][2 * FIGURE_TEXT];
		struct curves_point p;
		struct curves_value v;
		bool has = false;

		sweep_name_point(w, i, &p);
		cells[0] = p.curve;
		cells[1] = *p.x ? p.x : "";
		for (k = 0; k < f->n; k++) {
			has |= curves_get(w->curves, p.group, f->name[k], &v);
			format_value(&v, f->scale[k], text[k], sizeof(text[k]));
			cells[2 + k] = text[k];
		}
		cells[2 + f->n] = is_saturated(w, i, &p) ? "saturated" : "";
		if (has && !sweep_is_past(w, i))
			table_add(&t, cells);
	}
	table_print(&t, out, cli_width(stdout), cli_colour(stdout));
	table_fini(&t);
}

/* Between quotes, of which there are two where there was one. */
static void write_field(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "%c\"" : "%c", *text);
	fputc('"', f);
}

/* --- JSON --- */

static void json_figures(
	const struct sweep *w, const char *group, struct json *j, struct err *e)
{
	struct db_query *q = db_prepare(w->curves,
		"SELECT v.name FROM point p JOIN value v ON v.point = p.id"
		" WHERE p.grp = ? GROUP BY v.name ORDER BY min(v.rowid)",
		e);
	struct curves_value v;

	if (!q)
		return;
	db_bind_text(q, 1, group);
	json_object(j, "figures");
	while (db_next(q)) {
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

	sweep_name_point(w, i, &p);
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

		sweep_name_point(w, i, &at);
		if (*at.x)
			axes_number(at.x, &x);
		else
			x = (double)i;
		if (!sweep_is_past(w, i) &&
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

static void print_warnings(const struct sweep *w, FILE *f)
{
	uint32_t i;

	for (i = 0; i < N_RUN_WARNINGS; i++) {
		size_t n = w->warning[i].n;

		if (!n)
			continue;
		fprintf(f, "warning: %s", w->warning[i].text);
		if (n > 1)
			fprintf(f, "; and %zu other point%s", n - 1,
				cli_s(n - 1));
		fputc('\n', f);
	}
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
	print_warnings(w, out);
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

int sweep_tell(struct sweep *w, struct err *e)
{
	struct figures f = { .n = 0 };
	char names[512];
	struct cli_out out;

	snprintf(names, sizeof(names), "%s",
		w->args->figures ? w->args->figures : "");
	if (!(w->is_stopped && !w->done) && choose_figures(w, &f, names, e))
		return -1;
	choose_scales(w, &f);
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
