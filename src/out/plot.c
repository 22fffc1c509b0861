#include "out/plot.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum {
	LEFT = 66,
	RIGHT = 28,
	TOP = 14,
	PLOT_HEIGHT = 250,
	BELOW = 46, /* the numbers and the words of the x axis */
	MARGIN = 8,
	TICKS = 6,
	MOST_STEPS = 2 * TICKS,
	COLOURS = 12,
	LEGEND_LINE = 18,
	LEGEND_MARK = 30,
	MOST_COLUMNS = 3,
	MOST_DOTS = 40, /* of a curve; with more they hide it */
	BAR = 26,
	BAR_LEFT = 130,
	BAR_RIGHT = 60,
	LABEL = 48,
};

#define LETTER_WIDTH (0.55 * CANVAS_LETTER) /* of most letters */
#define MOST_VALUE   1e200 /* of which spans can be computed */
#define WIDE	     64 /* a range of sizes that needs a logarithmic axis */

/* Okabe and Ito's and some of Tol's, which most people can tell apart. */
static const char *const colour[COLOURS] = { "#0072b2", "#d55e00", "#009e73",
	"#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255",
	"#44aa99", "#332288", "#ddcc77" };

static const struct canvas_style grid = {
	.stroke = "#cccccc",
	.width = 0.6,
};

struct spot {
	double x, y, half;
};

struct line {
	char *name;
	char *with; /* the curve whose colour it has; NULL: its own */
	unsigned dashes;
	struct spot *spot;
	size_t n;
};

struct plot {
	char *x, *y;
	struct line *line;
	size_t n;
	bool is_filled, is_bytes;
};

/* An axis whose ends are round numbers: values, or their logarithms. */
struct scale {
	double from, to, step;
	double (*map)(double value); /* NULL: of values */
	void (*label)(double at, double step, char text[LABEL]);
};

struct frame {
	struct scale x, y;
	size_t columns; /* of the legend */
};

struct plot *plot_new(const char *x, const char *y)
{
	struct plot *p = mem_alloc(1, sizeof(*p));

	p->x = mem_text(x);
	p->y = mem_text(y);
	return p;
}

void plot_free(struct plot *p)
{
	for (size_t i = 0; i < p->n; i++) {
		mem_free(p->line[i].name);
		mem_free(p->line[i].with);
		mem_free(p->line[i].spot);
	}
	mem_free(p->line);
	mem_free(p->x);
	mem_free(p->y);
	mem_free(p);
}

void plot_set_filled(struct plot *p)
{
	p->is_filled = true;
}

void plot_set_bytes(struct plot *p)
{
	p->is_bytes = true;
}

static size_t find_line(const struct plot *p, const char *name)
{
	size_t i = 0;

	/* most points follow one of their own curve */
	if (p->n && !strcmp(p->line[p->n - 1].name, name))
		return p->n - 1;
	while (i < p->n && strcmp(p->line[i].name, name) != 0)
		i++;
	return i;
}

void plot_add(
	struct plot *p, const char *curve, double x, double y, double half)
{
	size_t i = find_line(p, curve);
	struct line *l;

	if (!(fabs(x) <= MOST_VALUE && fabs(y) <= MOST_VALUE &&
		    fabs(half) <= MOST_VALUE))
		return;
	if (i == p->n) {
		p->line = mem_more(p->line, p->n, sizeof(*p->line));
		p->line[p->n++] = (struct line){ .name = mem_text(curve) };
	}
	l = &p->line[i];
	l->spot = mem_more(l->spot, l->n, sizeof(*l->spot));
	l->spot[l->n++] = (struct spot){ x, y, half };
}

size_t plot_n_curves(const struct plot *p)
{
	return p->n;
}

void plot_pair(
	struct plot *p, const char *curve, const char *with, unsigned dashes)
{
	size_t i = find_line(p, curve);

	if (i == p->n || find_line(p, with) == p->n || p->line[i].with)
		return;
	p->line[i].with = mem_text(with);
	p->line[i].dashes = dashes;
}

/* --- axes --- */

static void label_value(double at, double step, char text[LABEL])
{
	snprintf(text, LABEL, "%g", fabs(at) < step / 2 ? 0 : at);
}

static void label_decade(double at, double step, char text[LABEL])
{
	(void)step;
	snprintf(text, LABEL, "%g", pow(10, at));
}

/* A power of two in bytes. */
static void label_bytes(double at, double step, char text[LABEL])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	int power = (int)lrint(at), unit = power / 10;

	(void)step;
	unit = unit < 0 ? 0 : unit > 4 ? 4 : unit;
	snprintf(
		text, LABEL, "%g %s", ldexp(1, power - 10 * unit), units[unit]);
}

static struct scale make_scale(double from, double to)
{
	static const double round[] = { 1, 2, 2.5, 5, 10 };
	double least = 1e-9 * fmax(fabs(from), fabs(to));
	double span = fmax(to > from ? to - from : 1, least);
	double unit = pow(10, floor(log10(span / TICKS)));
	size_t i = 0;
	struct scale s = { .label = label_value };

	while (i < 4 && unit * round[i] * TICKS < span)
		i++;
	s.step = unit * round[i];
	s.from = floor(from / s.step) * s.step;
	s.to = ceil(to / s.step) * s.step;
	if (s.to <= s.from)
		s.to = s.from + s.step;
	return s;
}

/* Whole powers of the base; the last label is at the end if it can be. */
static double log_step(double span)
{
	double least = fmax(1, ceil(span / TICKS));

	for (double step = least; step < 2 * least; step++)
		if (fmod(span, step) == 0)
			return step;
	return least;
}

static struct scale make_log_scale(
	double from, double to, double (*map)(double))
{
	struct scale s = {
		.from = floor(map(from) + 1e-9),
		.to = ceil(map(to) - 1e-9),
		.map = map,
		.label = map == log2 ? label_bytes : label_decade,
	};

	s.step = log_step(s.to - s.from);
	s.to = s.from + ceil((s.to - s.from) / s.step) * s.step;
	return s;
}

static void find_scales(const struct plot *p, struct scale *x, struct scale *y)
{
	double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY;
	bool is_log;

	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = 0; k < p->line[i].n; k++) {
			const struct spot *s = &p->line[i].spot[k];

			x0 = fmin(x0, s->x);
			x1 = fmax(x1, s->x);
			y0 = fmin(y0, s->y - s->half);
			y1 = fmax(y1, s->y + s->half);
		}
	}
	if (!(x0 <= x1))
		x0 = x1 = y0 = y1 = 0;
	is_log = p->is_bytes && x0 > 0 && x1 >= WIDE * x0;
	if (!is_log && x0 > 0 && x0 < 0.3 * x1)
		x0 = 0;
	*x = is_log ? make_log_scale(x0, x1, log2) : make_scale(x0, x1);
	*y = is_log && y0 > 0 && y1 >= WIDE * y0 ? make_log_scale(y0, y1, log10)
						 : make_scale(fmin(y0, 0), y1);
}

/* The part of the axis below a value. */
static double part(const struct scale *s, double v)
{
	return ((s->map ? s->map(v) : v) - s->from) / (s->to - s->from);
}

static double across(const struct scale *s, double v)
{
	return LEFT + part(s, v) * (CANVAS_WIDTH - LEFT - RIGHT);
}

static double down(const struct scale *s, double v)
{
	return TOP + (1 - part(s, v)) * PLOT_HEIGHT;
}

static size_t n_steps(const struct scale *s)
{
	double n = (s->to - s->from) / s->step + 0.5;

	return n < MOST_STEPS ? (size_t)n : MOST_STEPS;
}

/* --- drawing --- */

static void draw_line(struct canvas *c, const struct canvas_style *s, double x0,
	double y0, double x1, double y1)
{
	const struct canvas_point p[] = { { x0, y0 }, { x1, y1 } };

	c->format->path(c, s, p, 2);
}

static void draw_axes(
	const struct plot *p, const struct frame *f, struct canvas *c)
{
	const double right = CANVAS_WIDTH - RIGHT, bottom = TOP + PLOT_HEIGHT;
	const struct scale *s = &f->x;
	char text[LABEL];

	for (size_t i = 0; i <= n_steps(s); i++) {
		double at = (double)i * s->step;
		double x = LEFT + at / (s->to - s->from) * (right - LEFT);

		s->label(s->from + at, s->step, text);
		draw_line(c, &grid, x, TOP, x, bottom);
		c->format->text(c, x, bottom + 18, CANVAS_MIDDLE, false, text);
	}
	s = &f->y;
	for (size_t i = 0; i <= n_steps(s); i++) {
		double at = (double)i * s->step;
		double y = bottom - at / (s->to - s->from) * PLOT_HEIGHT;

		s->label(s->from + at, s->step, text);
		draw_line(c, &grid, LEFT, y, right, y);
		c->format->text(c, LEFT - 6, y + 4, CANVAS_END, false, text);
	}
	c->format->text(
		c, (LEFT + right) / 2, bottom + 38, CANVAS_MIDDLE, false, p->x);
	c->format->text(
		c, 15, TOP + PLOT_HEIGHT / 2, CANVAS_MIDDLE, true, p->y);
}

/* Colours are counted without the curves that share one. */
static const char *colour_of(const struct plot *p, size_t i)
{
	size_t n = 0;

	if (p->line[i].with)
		i = find_line(p, p->line[i].with);
	for (size_t k = 0; k < i; k++)
		n += !p->line[k].with;
	return colour[n % COLOURS];
}

static void fill_below(const struct line *l, const struct frame *f,
	const char *paint, struct canvas *c)
{
	const struct canvas_style s = { .fill = paint, .opacity = 0.25 };
	struct canvas_point *p = mem_alloc(l->n + 2, sizeof(*p));
	double floor = TOP + PLOT_HEIGHT;

	p[0] = (struct canvas_point){ across(&f->x, l->spot[0].x), floor };
	for (size_t i = 0; i < l->n; i++)
		p[i + 1] = (struct canvas_point){ across(&f->x, l->spot[i].x),
			down(&f->y, l->spot[i].y) };
	p[l->n + 1] = (struct canvas_point){ p[l->n].x, floor };
	c->format->path(c, &s, p, l->n + 2);
	mem_free(p);
}

static void draw_dots(const struct line *l, const struct frame *f,
	const char *paint, struct canvas *c)
{
	const struct canvas_style dot = { .fill = paint, .opacity = 1 };
	const struct canvas_style bar = { .stroke = paint, .width = 1 };

	for (size_t i = 0; i < l->n; i++) {
		const struct spot *s = &l->spot[i];
		double x = across(&f->x, s->x);

		c->format->dot(c, &dot, x, down(&f->y, s->y), 3);
		if (s->half > 0)
			draw_line(c, &bar, x, down(&f->y, s->y - s->half), x,
				down(&f->y, s->y + s->half));
	}
}

static void draw_curve(
	const struct plot *p, size_t i, const struct frame *f, struct canvas *c)
{
	const struct line *l = &p->line[i];
	const struct canvas_style s = {
		.stroke = colour_of(p, i),
		.width = 2,
		.dashes = l->dashes,
	};
	struct canvas_point *at = mem_alloc(l->n, sizeof(*at));
	bool is_filled = p->is_filled && p->n == 1;

	for (size_t k = 0; k < l->n; k++)
		at[k] = (struct canvas_point){ across(&f->x, l->spot[k].x),
			down(&f->y, l->spot[k].y) };
	if (is_filled)
		fill_below(l, f, s.stroke, c);
	c->format->path(c, &s, at, l->n);
	if (!is_filled && l->n <= MOST_DOTS)
		draw_dots(l, f, s.stroke, c);
	mem_free(at);
}

/* --- the legend --- */

/* As many as the longest name leaves room for; 0: no legend is needed. */
static size_t count_columns(const struct plot *p)
{
	const double room = CANVAS_WIDTH - 2 * MARGIN;
	double widest = 1;
	size_t n;

	for (size_t i = 0; i < p->n; i++)
		widest = fmax(widest,
			LEGEND_MARK + 12 +
				LETTER_WIDTH * (double)strlen(p->line[i].name));
	n = (size_t)(room / widest);
	n = n < 1 ? 1 : n > MOST_COLUMNS ? MOST_COLUMNS : n;
	return p->n < 2 ? 0 : n;
}

static double legend_height(const struct plot *p, const struct frame *f)
{
	if (!f->columns)
		return 0;
	return (double)((p->n + f->columns - 1) / f->columns) * LEGEND_LINE;
}

static void draw_legend(
	const struct plot *p, const struct frame *f, struct canvas *c)
{
	for (size_t i = 0; f->columns && i < p->n; i++) {
		const struct canvas_style s = {
			.stroke = colour_of(p, i),
			.width = 3,
			.dashes = p->line[i].dashes,
		};
		double x = MARGIN + (double)(i % f->columns) *
					    (CANVAS_WIDTH - 2 * MARGIN) /
					    (double)f->columns;
		double y = TOP + PLOT_HEIGHT + BELOW + 12 +
			   (double)(i / f->columns) * LEGEND_LINE;

		draw_line(c, &s, x, y - 4, x + LEGEND_MARK - 6, y - 4);
		c->format->text(c, x + LEGEND_MARK, y, CANVAS_START, false,
			p->line[i].name);
	}
}

int plot_write(const struct plot *p, const struct canvas_format *format,
	FILE *f, struct err *e)
{
	struct frame frame = { .columns = count_columns(p) };
	struct canvas c = {
		.format = format,
		.stream = f,
		.height = TOP + PLOT_HEIGHT + BELOW + MARGIN +
			  legend_height(p, &frame),
	};

	if (format->begin(&c, e))
		return -1;
	find_scales(p, &frame.x, &frame.y);
	draw_axes(p, &frame, &c);
	for (size_t i = 0; i < p->n; i++)
		draw_curve(p, i, &frame, &c);
	draw_legend(p, &frame, &c);
	format->end(&c, e);
	return e->code ? -1 : 0;
}

/* --- bars --- */

static void draw_bar(
	const struct line *l, double most, double y, struct canvas *c)
{
	const struct canvas_style s = { .fill = colour[0], .opacity = 1 };
	double v = l->spot[0].y;
	double length = most > 0 ? fmax(v, 0) / most : 0;
	double right =
		BAR_LEFT + length * (CANVAS_WIDTH - BAR_LEFT - BAR_RIGHT);
	const struct canvas_point corner[] = { { BAR_LEFT, y - 14 },
		{ right, y - 14 }, { right, y + 4 }, { BAR_LEFT, y + 4 } };
	char text[LABEL];

	c->format->text(c, BAR_LEFT - 8, y, CANVAS_END, false, l->name);
	c->format->path(c, &s, corner, 4);
	snprintf(text, sizeof(text), "%.4g", v);
	c->format->text(c, right + 8, y, CANVAS_START, false, text);
}

int plot_write_bars(const struct plot *p, const struct canvas_format *format,
	FILE *f, struct err *e)
{
	struct canvas c = {
		.format = format,
		.stream = f,
		.height = (double)(p->n + 2) * BAR,
	};
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, p->line[i].spot[0].y);
	if (format->begin(&c, e))
		return -1;
	for (size_t i = 0; i < p->n; i++)
		draw_bar(&p->line[i], most, (double)(i + 1) * BAR, &c);
	format->text(&c, BAR_LEFT, (double)(p->n + 1) * BAR, CANVAS_START,
		false, p->y);
	format->end(&c, e);
	return e->code ? -1 : 0;
}
