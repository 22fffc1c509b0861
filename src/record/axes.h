/*
 * The axes of a sweep: "load=0.1..1.0:0.1", "zones=none,longest-first".  A
 * point is one value of each; points are numbered with the last axis fastest.
 */
#ifndef RECORD_AXES_H
#define RECORD_AXES_H

#include <stddef.h>

#include "base/err.h"

enum {
	AXES_MOST = 16,
	AXES_VALUES = 4096,
	AXES_UNASKED = 64, /* values of a range without a step */
	AXES_POINTS = 1 << 20
};

enum axis_kind {
	AXIS_MACHINE,
	AXIS_SHAPE,
	AXIS_FAULTS,
	AXIS_SET,
	AXIS_KEY,
	AXIS_SEED
};

struct axis {
	enum axis_kind kind;
	char *name;
	char **value; /* as text */
	size_t n;
};

struct axes {
	struct axis axis[AXES_MOST];
	size_t n;
};

/*
 * Adds an axis whose values are written with commas, or as a range: 1..5,
 * 0.1..1:0.1 by steps, 64..4096:x2 by factors.  A start without a unit has the
 * end's, as in "10..50%:10"; a size that would then be above the end is in
 * bytes, as in "8..1GiB:x4".  A value that is given twice counts once.
 */
int axes_add(struct axes *a, enum axis_kind kind, const char *name,
	const char *values, struct err *e);
void axes_free(struct axes *a);

/* The number of points; 0 if there are too many. */
size_t axes_points(const struct axes *a);
/* The value of an axis at a point. */
size_t axes_index(const struct axes *a, size_t point, size_t axis);
const char *axes_value(const struct axes *a, size_t point, size_t axis);
/*
 * A value as a number for drawing: a rate in GB/s, a size in bytes, a time in
 * ns; 0 if it is a word.
 */
enum axis_unit { AXIS_PLAIN, AXIS_RATE, AXIS_BYTES, AXIS_TIME, AXIS_WORD };
enum axis_unit axes_number(const char *value, double *number);
/* The unit of a number of axes_number(): "GB/s", or "" if it has none. */
const char *axes_unit_name(enum axis_unit unit);
/* The unit of all numbers of an axis; an error if they have several. */
int axes_unit(const struct axis *x, enum axis_unit *unit, struct err *e);

/* The number of the axis of a name, or a->n. */
size_t axes_find(const struct axes *a, const char *name);

#endif
