/* `weft plot`: pictures of a run file, for papers. */
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "cli/cli.h"
#include "cli/curves.h"
#include "out/file.h"
#include "out/plot.h"
#include "record/read.h"
#include "record/tables.h"

/* A query gives curve, x and y; links have none. */
struct picture {
	const char *name, *x, *y, *sql;
	const char *needs; /* what there is nothing to draw without */
	bool is_bars, is_filled;
	bool is_sweep; /* a file of a sweep has it, others have not */
};

static const struct picture pictures[] = {
	{
		.name = "links",
		.x = "time, us",
		.y = "load of links, %",
		.needs = "samples",
	},
	{
		.name = "latency",
		.x = "latency, ns",
		.y = "packets with at most this latency, %",
		.sql = "SELECT 'latency' curve, x, y FROM (SELECT to_ps / 1e3 "
		       "x, 100.0 * sum(count) OVER (ORDER BY from_ps) / "
		       "sum(count) OVER () y FROM latency) WHERE y <= 99.9",
		.needs = "latencies",
		.is_filled = true,
	},
	{
		.name = "budget",
		.y = "share of the messages' time, %",
		.sql = "SELECT name curve, 0 x, 100.0 * ps / sum(ps) OVER () y "
		       "FROM cause WHERE ps > 0",
		.needs = "budget, which `weft run --budget` records",
		.is_bars = true,
	},
	{
		.name = "course",
		.x = "time, us",
		.y = "packets per us",
		.sql = "SELECT 'delivered' curve, (from_ps + to_ps) / 2e6 x, "
		       "delivered * 1e6 / (to_ps - from_ps) y FROM sample "
		       "UNION ALL SELECT 'injected', (from_ps + to_ps) / 2e6, "
		       "injected * 1e6 / (to_ps - from_ps) FROM sample",
		.needs = "samples",
	},
	{ .name = "curves", .is_sweep = true },
};

enum { N_PICTURES = sizeof(pictures) / sizeof(pictures[0]) };
enum { MOST_CURVES = 256 };

static const struct picture *find(const char *name, struct err *e)
{
	const char *names[N_PICTURES];
	char hint[NAME_HINT];

	for (size_t i = 0; i < N_PICTURES; i++) {
		if (!strcmp(pictures[i].name, name))
			return &pictures[i];
		names[i] = pictures[i].name;
	}
	err_set(e, "no picture is called \"%.40s\"%s", name,
		name_hint(name, names, N_PICTURES,
			"; want links, latency, budget, course or curves",
			hint));
	return NULL;
}

/* The first of the usual figures that a sweep has. */
static const char *first_figure(struct db *d)
{
	const char *const *f = curves_usual(curves_has_figure(d, "busbw_GBps"));

	while (*f && !curves_has_figure(d, *f))
		f++;
	return *f ? *f : "throughput_GBps_per_node";
}

/* A file from elsewhere may have any number of names. */
static int check_room(const struct db *d, size_t n, struct err *e)
{
	return n <= MOST_CURVES ? 0
				: err_set(e,
					  "%s: a picture has room for %d "
					  "curves, but this file has more",
					  db_path(d), MOST_CURVES);
}

static int collect(
	struct db *d, const struct picture *is, struct plot *p, struct err *e)
{
	struct db_query *q = db_prepare(d, is->sql, e);
	size_t n = 0;

	for (; db_next(q); n++) {
		plot_add(p, record_cause(db_text(q, db_find(q, "curve"))),
			db_real(q, db_find(q, "x")),
			db_real(q, db_find(q, "y")), 0);
		check_room(d, plot_n_curves(p), e);
	}
	if (!e->code && !n)
		err_set(e, "%s: has no %s", db_path(d), is->needs);
	return db_finish(q);
}

/* Links by kind: by direction where they have one, else by wire. */
struct kinds {
	size_t *of; /* [link] */
	size_t n_links;
	struct kind {
		char *name;
		double sum;
		size_t n;
	} * kind;
	size_t n;
	char *busiest; /* "switch 1.0 down 0": a curve of its own */
	size_t busiest_at;
};

static int read_kinds(struct kinds *k, struct db *d, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT CASE WHEN s.x0 NOT NULL AND l.name GLOB"
		" '[A-Za-z][-+]*' THEN substr(l.name, 1, 2) ELSE wire END"
		" FROM link l JOIN site s ON s.id = l.site ORDER BY l.id",
		e);
	size_t i;

	while (db_next(q)) {
		for (i = 0; i < k->n; i++)
			if (!strcmp(k->kind[i].name, db_text(q, 0)))
				break;
		if (i == k->n) {
			k->kind = mem_more(k->kind, k->n, sizeof(*k->kind));
			k->kind[k->n++] = (struct kind){
				.name = mem_text(db_text(q, 0)),
			};
		}
		check_room(d, k->n, e);
		k->kind[i].n++;
		k->of = mem_more(k->of, k->n_links, sizeof(*k->of));
		k->of[k->n_links++] = i;
	}
	return db_finish(q);
}

/* The link that a mean of its kind hides. */
static int read_busiest(struct kinds *k, struct db *d, struct err *e)
{
	struct db_query *q = db_prepare(d,
		"SELECT l.id, 'busiest: ' || s.name || ' ' || l.name FROM link"
		" l JOIN site s ON s.id = l.site ORDER BY use DESC, l.id"
		" LIMIT 1",
		e);

	if (db_next(q)) {
		k->busiest_at = (size_t)db_int(q, 0);
		k->busiest = mem_text(db_text(q, 1));
	}
	return db_finish(q);
}

/* In %. */
static double use_at(const struct row_sample *s, size_t link)
{
	return 100.0 * row_item(&s->use, link) / RECORD_USE_SCALE;
}

static int add_sample(struct kinds *k, const struct row_sample *s,
	struct plot *p, struct err *e)
{
	double at = ((double)s->from_ps + (double)s->to_ps) / 2e6;

	if (s->use.n != 2 * k->n_links)
		return err_set(e, "the file is damaged: a sample does not "
				  "match the links");
	for (size_t i = 0; i < k->n; i++)
		k->kind[i].sum = 0;
	for (size_t i = 0; i < k->n_links; i++)
		k->kind[k->of[i]].sum += use_at(s, i);
	for (size_t i = 0; i < k->n; i++)
		plot_add(p, k->kind[i].name, at,
			k->kind[i].sum / (double)k->kind[i].n, 0);
	if (k->busiest && k->busiest_at < k->n_links)
		plot_add(p, k->busiest, at, use_at(s, k->busiest_at), 0);
	return 0;
}

static int collect_samples(
	struct kinds *k, struct db *d, struct plot *p, struct err *e)
{
	struct db_query *q = row_select(d, TABLE_sample, "ORDER BY n", e);
	struct row_sample row;
	size_t n = 0;

	for (; k->n && row_next_sample(q, &row); n++)
		add_sample(k, &row, p, e);
	if (!e->code && !n)
		err_set(e, "%s: has no samples", db_path(d));
	return db_finish(q);
}

static int collect_links(struct db *d, struct plot *p, struct err *e)
{
	struct kinds k = { 0 };
	int failed = read_kinds(&k, d, e) || read_busiest(&k, d, e) ||
		     collect_samples(&k, d, p, e);

	for (size_t i = 0; i < k.n; i++)
		mem_free(k.kind[i].name);
	mem_free(k.kind);
	mem_free(k.of);
	mem_free(k.busiest);
	return failed ? -1 : 0;
}

static struct plot *collect_all(const struct picture *is, struct db *d,
	const char *figures, struct err *e)
{
	struct plot *p;

	if (is->is_sweep)
		return curves_plot(d, figures ? figures : first_figure(d), e);
	p = plot_new(is->x ? is->x : "", is->y);
	if (is->sql ? collect(d, is, p, e) : collect_links(d, p, e)) {
		plot_free(p);
		return NULL;
	}
	if (is->is_filled)
		plot_set_filled(p);
	return p;
}

static int check_kind(const struct picture *is, struct db *d, struct err *e)
{
	int is_sweep = record_is_sweep(d, e);

	if (is_sweep < 0 || is_sweep == is->is_sweep)
		return is_sweep < 0 ? -1 : 0;
	return err_set(e,
		is_sweep ? "%s: is the file of a sweep, which has the picture "
			   "\"curves\""
			 : "%s: is the file of a run; only a sweep has curves "
			   "(want links, latency, budget or course)",
		db_path(d));
}

static int draw(const struct cli_args *a, const struct canvas_format *format,
	FILE *f, struct err *e)
{
	const struct picture *is = find(a->word[1], e);
	struct db *d = is ? db_open(a->word[0], e) : NULL;
	struct plot *p = d && !check_kind(is, d, e)
				 ? collect_all(is, d, a->figures, e)
				 : NULL;

	if (p) {
		(is->is_bars ? plot_write_bars : plot_write)(p, format, f, e);
		plot_free(p);
	}
	if (d)
		db_close(d);
	return e->code ? -1 : 0;
}

static int draw_file(const struct cli_args *a, struct err *e)
{
	const struct canvas_format *format;
	struct out_file f;

	if (!strcmp(a->output, a->word[0]))
		return err_set(e, "%s: the picture would overwrite a run file",
			a->output);
	format = canvas_format_of(a->output, e);
	if (!format || out_file_open(&f, a->output, format->file, e))
		return -1;
	draw(a, format, f.stream, e);
	return out_file_close(&f, e);
}

static int print(const struct cli_args *a, FILE *f, struct err *e)
{
	return draw(a, &canvas_svg, f, e);
}

static int perform(const struct cli_args *a, struct err *e)
{
	return a->output ? draw_file(a, e) : cli_print(a, print, e);
}

const struct cli_command cli_plot = { .name = "plot",
	.brief = "draw a picture of a run file",
	.takes = CLI_REPORT | CLI_PLOT,
	.usage = "FILE links|latency|budget|course|curves",
	.help = "Draws a picture of a run file: the load of links over time, "
		"the distribution of latencies, the time of messages by cause, "
		"packets over time, or the curves of a sweep.\vThe ending "
		"of the file's name selects SVG, PDF or PNG.  The picture is "
		"as wide as a column of a paper.  Without --output it is "
		"printed as SVG.  "
		"Examples:\n  weft plot run.db links -o links.pdf\n  weft plot "
		"sweep.db curves --figures latency_mean_ns -o latency.png",
	.words = { 2, 2 },
	.want = "want a run file and a picture, as in `weft plot run.db links "
		"-o links.svg`",
	.run = perform };
