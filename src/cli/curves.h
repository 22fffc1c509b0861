/* Pictures of sweeps, from their run files. */
#ifndef CLI_CURVES_H
#define CLI_CURVES_H

#include "facts/figure.h"
#include "out/plot.h"
#include "record/db.h"

/* Draws the curves of a figure over the values that vary along x.  Curves of
 * one machine with different plans of faults share a colour.  NULL and an error
 * if no point has the figure. */
struct plot *curves_plot(struct db *d, const char *figure, struct err *e);

bool curves_has_figure(struct db *d, const char *figure);

/* The unit in which a figure of a sweep is shown, for values up to the given
 * one: rates in bits if its loads are, and prices in the currency of its bill.
 * The unit's text stays until the file is closed. */
struct figure_scale curves_scale(struct db *d, const char *figure, double most);

/* Figures that are shown unless others are asked for, the most telling one
 * first, then NULL. */
const char *const *curves_usual(bool is_collective);

#endif
