#include "out/plot.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"

enum {
	WIDTH = 720,
	HEIGHT = 440,
	LEFT = 80,
	RIGHT = 24,
	TOP = 24,
	BOTTOM = 56,
	TICKS = 6,
	MOST_STEPS = 2 * TICKS,
	COLOURS = 12,
	LEGEND_LINE = 18,
	MOST_DOTS = 40, /* of a curve; with more they hide it */
	BAR = 26,
	BAR_LEFT = 150,
	BAR_RIGHT = 90,
};

/* Okabe and Ito's and some of Tol's, which most people can tell apart. */
static const char *const colour[COLOURS] = { "#0072b2", "#d55e00", "#009e73",
	"#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999933", "#882255",
	"#44aa99", "#332288", "#ddcc77" };

#define MOST_VALUE 1e200 /* of which spans can be computed */

struct spot {
	double x, y, half;
};

struct line {
	char *name;
	struct spot *spot;
	size_t n;
};

struct plot {
	char *x, *y;
	struct line *line;
	size_t n;
	bool is_filled;
};

/* An axis: its ends are round numbers. */
struct scale {
	double from, to, step;
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

void plot_add(
	struct plot *p, const char *curve, double x, double y, double half)
{
	struct line *l;
	/* most follow one of their own curve */
	size_t i =
		p->n && !strcmp(p->line[p->n - 1].name, curve) ? p->n - 1 : 0;

	if (!(fabs(x) <= MOST_VALUE && fabs(y) <= MOST_VALUE &&
		    fabs(half) <= MOST_VALUE))
		return; /* what has no place on paper is left out */
	while (i < p->n && strcmp(p->line[i].name, curve) != 0)
		i++;
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

static struct scale make_scale(double from, double to)
{
	static const double round[] = { 1, 2, 2.5, 5, 10 };
	double least = 1e-9 * fmax(fabs(from), fabs(to));
	double span = fmax(to > from ? to - from : 1, least);
	double unit = pow(10, floor(log10(span / TICKS)));
	size_t i = 0;
	struct scale s;

	while (i < 4 && unit * round[i] * TICKS < span)
		i++;
	s.step = unit * round[i];
	s.from = floor(from / s.step) * s.step;
	s.to = ceil(to / s.step) * s.step;
	if (s.to <= s.from)
		s.to = s.from + s.step;
	return s;
}

static void find_scales(const struct plot *p, struct scale *x, struct scale *y)
{
	double x0 = INFINITY, x1 = -INFINITY, y0 = 0, y1 = -INFINITY;

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
		x0 = x1 = y1 = 0;
	if (x0 > 0 && x0 < 0.3 * x1)
		x0 = 0;
	*x = make_scale(x0, x1);
	*y = make_scale(y0, y1);
}

static double across(const struct scale *s, double v)
{
	return LEFT +
	       (v - s->from) / (s->to - s->from) * (WIDTH - LEFT - RIGHT);
}

static double down(const struct scale *s, double v)
{
	return HEIGHT - BOTTOM -
	       (v - s->from) / (s->to - s->from) * (HEIGHT - TOP - BOTTOM);
}

/* Two characters that UTF-8 has and XML has not. */
static bool is_no_character(const char *s, size_t n)
{
	return n == 3 &&
	       (!memcmp(s, "\xef\xbf\xbe", 3) || !memcmp(s, "\xef\xbf\xbf", 3));
}

void plot_text(FILE *f, const char *s)
{
	size_t n;

	for (; *s; s += n ? n : 1) {
		n = name_letter(s);
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else if (n && !is_no_character(s, n))
			fwrite(s, 1, n, f);
		else
			fputc('?', f);
	}
}

static size_t n_steps(const struct scale *s)
{
	double n = (s->to - s->from) / s->step + 0.5;

	return n < MOST_STEPS ? (size_t)n : MOST_STEPS;
}

static void write_axes(const struct plot *p, const struct scale *x,
	const struct scale *y, FILE *f)
{
	for (size_t i = 0; i <= n_steps(x); i++) {
		double v = x->from + (double)i * x->step;

		fprintf(f,
			"<path class='g' d='M%.1f %dV%d'/>"
			"<text x='%.1f' y='%d' "
			"text-anchor='middle'>%g</text>\n",
			across(x, v), TOP, HEIGHT - BOTTOM, across(x, v),
			HEIGHT - BOTTOM + 18, fabs(v) < x->step / 2 ? 0 : v);
	}
	for (size_t i = 0; i <= n_steps(y); i++) {
		double v = y->from + (double)i * y->step;

		fprintf(f,
			"<path class='g' d='M%d %.1fH%d'/>"
			"<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n",
			LEFT, down(y, v), WIDTH - RIGHT, LEFT - 8,
			down(y, v) + 4, fabs(v) < y->step / 2 ? 0 : v);
	}
	fprintf(f, "<text x='%d' y='%d' text-anchor='middle'>",
		(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14);
	plot_text(f, p->x);
	fprintf(f,
		"</text>\n<text transform='translate(18 %d) rotate(-90)' "
		"text-anchor='middle'>",
		(TOP + HEIGHT - BOTTOM) / 2);
	plot_text(f, p->y);
	fputs("</text>\n", f);
}

static void write_line(const struct line *l, const char *paint,
	const struct scale *x, const struct scale *y, bool is_filled, FILE *f)
{
	if (is_filled && l->n) {
		fprintf(f, "<path fill='%s' fill-opacity='.25' d='M%.1f %.1f",
			paint, across(x, l->spot[0].x), down(y, y->from));
		for (size_t i = 0; i < l->n; i++)
			fprintf(f, "L%.1f %.1f", across(x, l->spot[i].x),
				down(y, l->spot[i].y));
		fprintf(f, "V%.1fZ'/>\n", down(y, y->from));
	}
	fprintf(f, "<path fill='none' stroke='%s' stroke-width='2' d='", paint);
	for (size_t i = 0; i < l->n; i++)
		fprintf(f, "%c%.1f %.1f", i ? 'L' : 'M',
			across(x, l->spot[i].x), down(y, l->spot[i].y));
	fputs("'/>\n", f);
	for (size_t i = 0; i < l->n && !is_filled && l->n <= MOST_DOTS; i++) {
		const struct spot *s = &l->spot[i];

		fprintf(f, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'/>\n",
			across(x, s->x), down(y, s->y), paint);
		if (s->half > 0)
			fprintf(f, "<path stroke='%s' d='M%.1f %.1fV%.1f'/>\n",
				paint, across(x, s->x), down(y, s->y - s->half),
				down(y, s->y + s->half));
	}
}

static void write_legend(const struct plot *p, FILE *f)
{
	if (p->n < 2)
		return;
	for (size_t i = 0; i < p->n; i++) {
		int y = TOP + 16 + (int)i * LEGEND_LINE;

		fprintf(f,
			"<path stroke='%s' stroke-width='3' d='M%d %dh22'/>"
			"<text x='%d' y='%d'>",
			colour[i % COLOURS], LEFT + 14, y - 4, LEFT + 42, y);
		plot_text(f, p->line[i].name);
		fputs("</text>\n", f);
	}
}

static void write_head(int height, FILE *f)
{
	fprintf(f,
		"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' "
		"width='%d' height='%d' font-family='sans-serif' "
		"font-size='13'>\n<style>.g{stroke:#8886;stroke-width:.6}"
		"</style>\n<rect width='100%%' height='100%%' fill='#fff'/>\n",
		WIDTH, height, WIDTH, height);
}

void plot_write_bars(const struct plot *p, FILE *f)
{
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, p->line[i].spot[0].y);
	write_head((int)(p->n + 2) * BAR, f);
	for (size_t i = 0; i < p->n; i++) {
		double y = p->line[i].spot[0].y;
		double length = most > 0 ? y / most : 0;
		int at = (int)i * BAR + BAR;

		length *= WIDTH - BAR_LEFT - BAR_RIGHT;
		fprintf(f, "<text x='%d' y='%d' text-anchor='end'>",
			BAR_LEFT - 10, at + 4);
		plot_text(f, p->line[i].name);
		fprintf(f,
			"</text><rect x='%d' y='%d' width='%.1f' height='18' "
			"fill='%s'/><text x='%.1f' y='%d'>%.4g</text>\n",
			BAR_LEFT, at - 10, length, colour[0],
			BAR_LEFT + length + 8, at + 4, y);
	}
	fprintf(f, "<text x='%d' y='%d'>", BAR_LEFT, (int)(p->n + 1) * BAR + 8);
	plot_text(f, p->y);
	fputs("</text>\n</svg>\n", f);
}

void plot_write(const struct plot *p, FILE *f)
{
	struct scale x, y;

	find_scales(p, &x, &y);
	write_head(HEIGHT, f);
	write_axes(p, &x, &y, f);
	for (size_t i = 0; i < p->n; i++)
		write_line(&p->line[i], colour[i % COLOURS], &x, &y,
			p->is_filled && p->n == 1, f);
	write_legend(p, f);
	fputs("</svg>\n", f);
}
