/*
 * A sheet on which pictures are drawn, for the formats that papers take.  It
 * knows lines, boxes and words, but no axes: layout is the caller's.
 *
 * Positions are in units of 1/480 of the width, from the top left corner, so
 * that letters of CANVAS_LETTER fit a column of text.
 */
#ifndef OUT_CANVAS_H
#define OUT_CANVAS_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "out/file.h"

enum { CANVAS_WIDTH = 480, CANVAS_LETTER = 13 };

/* The place of a text relative to its position. */
enum canvas_align { CANVAS_START, CANVAS_MIDDLE, CANVAS_END };

struct canvas_point {
	double x, y;
};

/* How lines and areas look; colours are "#rrggbb". */
struct canvas_style {
	const char *stroke, *fill; /* NULL: none */
	double width; /* of lines */
	double opacity; /* of areas */
	unsigned dashes; /* 0: a solid line; 1, 2, ...: kinds of dashes */
};

struct canvas {
	const struct canvas_format *format;
	FILE *stream;
	double height; /* of the sheet */
	void *state; /* of the format */
};

struct canvas_format {
	const char *ending; /* of files, as in "pdf" */
	const struct out_kind *file;

	int (*begin)(struct canvas *c, struct err *e);
	void (*path)(struct canvas *c, const struct canvas_style *s,
		const struct canvas_point *p, size_t n);
	void (*dot)(struct canvas *c, const struct canvas_style *s, double x,
		double y, double radius);
	/* Upwards if it is upright. */
	void (*text)(struct canvas *c, double x, double y,
		enum canvas_align align, bool is_upright, const char *text);
	/* Writes what is not written yet, and frees the state. */
	void (*end)(struct canvas *c, struct err *e);
};

extern const struct canvas_format canvas_svg, canvas_pdf, canvas_png;

/* The length of a dash, by kind; gaps are all alike. */
enum { CANVAS_GAP = 3 };
int canvas_dash(unsigned kind);

/* The format of a file by the ending of its name; SVG without a path, and for
 * streams such as /dev/stdout.  NULL: another ending, which is an error. */
const struct canvas_format *canvas_format_of(const char *path, struct err *e);

/* A text as one of XML, with ? for what XML has no character for. */
void canvas_escape(FILE *f, const char *s);

#endif
