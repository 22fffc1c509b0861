/*
 * Columns of numbers as base64 text, the low byte first, which a browser
 * quickly converts to a typed array.  Each column names its type: the smallest
 * integer type that holds all its numbers, or 32-bit floats.
 */
#ifndef REPORT_PACK_H
#define REPORT_PACK_H

#include <stddef.h>

#include "out/json.h"

struct pack {
	double *value;
	size_t n;
};

void pack_add(struct pack *p, double value);

/* Writes [type, text], or [type, text of one, count] if all numbers are equal,
 * and empties the column. */
void pack_write(struct pack *p, struct json *j, const char *key);

#endif
