/*
 * The words that a system's table of rows is written in.  Only for the files
 * with such tables: the names are short, and each of those files has an ID()
 * of its own.
 */
#ifndef PAPER_ROWS_H
#define PAPER_ROWS_H

#include "paper/paper.h"

#define PREDICTED  PAPER_PREDICTED
#define CALIBRATED PAPER_CALIBRATED
#define ARITHMETIC PAPER_ARITHMETIC

/* The paper has no number to compare with. */
#define IN_WORDS .kind = PAPER_QUALITATIVE

/* How the model's value comes from figures. */
#define ONE(factor, x, f) .scale = (factor), .a = { x, f }
#define RATIO(factor, x, f, y, g)                                              \
	.scale = (factor), .op = PAPER_RATIO, .a = { x, f }, .b = { y, g }
#define DIFFERENCE(factor, x, f, y, g)                                         \
	.scale = (factor), .op = PAPER_DIFFERENCE, .a = { x, f }, .b = { y, g }

#define WITHIN(value, percent)                                                 \
	.paper = (value), .rule = PAPER_PERCENT, .tolerance = (percent)
#define NEAR_TO(value, points)                                                 \
	.paper = (value), .rule = PAPER_POINTS, .tolerance = (points)
#define EXACTLY(value) WITHIN(value, 0.001)
#define AT_LEAST(value, percent)                                               \
	.paper = (value), .rule = PAPER_AT_LEAST, .tolerance = (percent)
#define AT_MOST(value, percent)                                                \
	.paper = (value), .rule = PAPER_AT_MOST, .tolerance = (percent)
/* One of two is larger, by whatever. */
#define MORE_THAN(x, f, y, g)                                                  \
	.paper = 1, .rule = PAPER_MORE, RATIO(1, x, f, y, g)

#endif
