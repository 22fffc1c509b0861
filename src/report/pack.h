/*
 * Columns of numbers as base64 text, the low byte first: a browser makes a
 * typed array of one in no time, however long it is.
 */
#ifndef REPORT_PACK_H
#define REPORT_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "out/json.h"

struct pack {
	uint8_t *byte;
	size_t n, room;
};

void pack_u8(struct pack *p, uint32_t value);
void pack_u16(struct pack *p, uint32_t value);
void pack_u32(struct pack *p, uint32_t value);
void pack_f32(struct pack *p, double value);
void pack_f64(struct pack *p, double value);

/* Writes it as a text, and empties it. */
/* Where all elements of some size are the same, only how many, and one. */
void pack_write_column(
	struct pack *p, size_t size, struct json *j, const char *key);
void pack_write(struct pack *p, struct json *j, const char *key);

#endif
