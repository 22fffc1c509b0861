/*
 * Curves as an SVG picture: axes with round numbers, a legend, error bars, and
 * colours that people with colour blindness can tell apart.
 */
#ifndef OUT_PLOT_H
#define OUT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

struct plot;

struct plot *plot_new(const char *x, const char *y);
void plot_free(struct plot *p);

/* Adds a point; the first one of a name makes the curve.  half is half of an
 * error bar, or 0.  Infinite values are left out. */
void plot_add(
	struct plot *p, const char *curve, double x, double y, double half);
size_t plot_n_curves(const struct plot *p);
/* Fills the area below the curve, if there is only one. */
void plot_set_filled(struct plot *p);
void plot_write(const struct plot *p, FILE *f);
/* A text as one of XML, which has no control characters, by no name. */
void plot_text(FILE *f, const char *s);
/* Writes bars instead: the first y of each curve with its name; x is not
 * used. */
void plot_write_bars(const struct plot *p, FILE *f);

#endif
