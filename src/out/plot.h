/*
 * Curves and bars as a picture: axes with round numbers, error bars, a legend
 * below, and colours that people with colour blindness can tell apart.
 */
#ifndef OUT_PLOT_H
#define OUT_PLOT_H

#include <stdbool.h>

#include "out/canvas.h"

struct plot;

struct plot *plot_new(const char *x, const char *y);
void plot_free(struct plot *p);

/* Adds a point; the first one of a name makes the curve.  half is half of an
 * error bar, or 0.  Infinite values are left out. */
void plot_add(
	struct plot *p, const char *curve, double x, double y, double half);
size_t plot_n_curves(const struct plot *p);
/* Draws a curve in the colour of another one, with dashes: the first, second
 * or a further kind of them. */
void plot_pair(
	struct plot *p, const char *curve, const char *with, unsigned dashes);
/* Fills the area below the curve, if there is only one. */
void plot_set_filled(struct plot *p);
/* The values of x are sizes in bytes; a wide range gets a logarithmic axis. */
void plot_set_bytes(struct plot *p);

/* Draws the curves; or a bar for the first y of each, where x is not used. */
int plot_write(const struct plot *p, const struct canvas_format *format,
	FILE *f, struct err *e);
int plot_write_bars(const struct plot *p, const struct canvas_format *format,
	FILE *f, struct err *e);

#endif
