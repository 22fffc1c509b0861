/*
 * Quantities as people write them, exactly: "2 GB/s", "6.25 Gb/s", "41.4 ns",
 * "4 KiB", "93 %", "1.6 GHz", "1e-3".  Reading uses decimal integers only.  A
 * number that is not a whole multiple of the smallest unit (ps, bytes per
 * second, bytes, parts per million, Hz) is refused, not rounded, and so is one
 * that does not fit.
 */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum unit_kind {
	UNIT_NONE,
	UNIT_TIME,
	UNIT_RATE,
	UNIT_BYTES,
	UNIT_FRACTION,
	UNIT_CLOCK,
	UNIT_LOAD, /* a fraction, or UNIT_ABSOLUTE and a rate above 0 */
};

#define PS_PER_S INT64_C(1000000000000)

#define UNIT_ABSOLUTE (INT64_C(1) << 62)

/* 0, or -1 with *why set to a short static reason ("unit missing", ...). */
int units_read(enum unit_kind kind, const char *text, int64_t *value,
	const char **why);

/* The shortest exact text: 41400 ps -> "41.4 ns".  Always fits 48 bytes. */
void units_format(enum unit_kind kind, int64_t value, char *text, size_t size);

/* The time of a number of cycles of a clock, rounded to ps. */
int64_t units_cycles(int64_t cycles, int64_t hz);
/* The time of a number of bytes at a rate, rounded up to ps. */
int64_t units_time(uint64_t bytes, int64_t rate);

/* Whether a word is the unit of anything, without a number. */
bool units_is_unit(const char *text);

/* Whether a text is a rate in bits per second. */
bool units_are_bits(const char *text);

/* "ns, us, ms, s or ps", for messages. */
const char *units_list(enum unit_kind kind);

#endif
