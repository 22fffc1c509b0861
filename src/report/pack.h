/*
 * Columns of numbers as base64 text, the low byte first: a browser makes a
 * typed array of one in no time, however long it is.  A column says of what
 * type its numbers are: whole ones have the smallest that holds all of them,
 * others are floats of 32 bits.
 */
#ifndef REPORT_PACK_H
#define REPORT_PACK_H

#include <stddef.h>

#include "out/json.h"

struct pack {
	double *value;
	size_t n, room;
};

void pack_add(struct pack *p, double value);

/* Writes [type, text], or [type, text of one, how many] where all are the same,
 * and empties it. */
void pack_write(struct pack *p, struct json *j, const char *key);

#endif
