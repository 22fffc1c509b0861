/*
 * Figures as text: four significant digits, no exponents, and the unit in which
 * they are shortest.  A figure's name ends with the unit of its value:
 * "latency_mean_ns".
 */
#ifndef FACTS_FIGURE_H
#define FACTS_FIGURE_H

#include <stddef.h>

enum { FIGURE_TEXT = 48, FIGURE_NAME = 96 };

/* A unit, or "" for a figure without one, and the factor that converts a value
 * to it. */
struct figure_scale {
	double by;
	const char *unit;
};

/* The scale for a figure of about this value; one scale serves values that are
 * to be compared, such as those of a column. */
struct figure_scale figure_scale(const char *name, double value);

/* "latency_mean_ns": "latency mean". */
void figure_title(const char *name, char text[FIGURE_NAME]);

/* A value in a unit, without it: "3.965"; whole numbers without a unit are
 * written in full. */
void figure_scaled(double value, struct figure_scale s, char text[FIGURE_TEXT]);
/* "414.6 us" */
void figure_text(const char *name, double value, char text[FIGURE_TEXT]);

#endif
