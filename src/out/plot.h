/*
 * Curves as an SVG picture: axes with round numbers, a legend, error bars, and
 * colours that can be told apart, also by those who see few.
 */
#ifndef OUT_PLOT_H
#define OUT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

struct plot;

struct plot *plot_new(const char *x, const char *y);
void plot_free(struct plot *p);

/* A point of a curve, which comes into being with its first one; half is that
 * of an error bar, or 0.  Points without a place, such as infinity, are left
 * out. */
void plot_add(
	struct plot *p, const char *curve, double x, double y, double half);
size_t plot_n_curves(const struct plot *p);
/* As steps down to the axis, filled, where there is one curve. */
void plot_set_filled(struct plot *p);
void plot_write(const struct plot *p, FILE *f);
/* Bars instead: the first y of each curve, with its name beside it; an x is not
 * drawn. */
void plot_write_bars(const struct plot *p, FILE *f);

#endif
