/*
 * Ranges of a node's memory that may be accessed, by number: of a context, a
 * key, a handle.  It does not translate: addresses are the node's own.  A cache
 * of translations is in nic/util/tlb.h.
 */
#ifndef NIC_UTIL_RANGES_H
#define NIC_UTIL_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "nic/nic.h"

struct range {
	uint32_t number;
	uint32_t flags, tag; /* the owner's */
	uint64_t first, last;
};

struct ranges {
	struct range *range;
	uint32_t n;
};

void ranges_fini(struct ranges *r);
extern const struct nic_member_ops ranges_member;

/* Sets or replaces the range of a number: [first, last], without flags. */
void ranges_set(
	struct ranges *r, uint32_t number, uint64_t first, uint64_t last);
/* NULL: the number has none. */
struct range *ranges_find(const struct ranges *r, uint32_t number);
/* Whether a number has a range and [at, at + bytes) lies in it; an empty one
 * always does. */
bool ranges_allow(
	const struct ranges *r, uint32_t number, uint64_t at, uint64_t bytes);

/* Registers a range whose bytes others name by offset; removes it.  False if
 * the number is in use, or is not. */
bool ranges_add(struct ranges *r, uint32_t number, uint64_t at, uint64_t bytes,
	uint32_t flags);
bool ranges_drop(struct ranges *r, uint32_t number);

enum range_answer {
	RANGE_OPEN,
	RANGE_NONE, /* there is no such number */
	RANGE_OUTSIDE, /* of its bytes */
	RANGE_FORBIDDEN,
};

/* Whether a range has these bytes at an offset and, of the flags in mask,
 * exactly flags; *at is their address. */
enum range_answer ranges_look_up(const struct ranges *r, uint32_t number,
	uint64_t offset, uint64_t bytes, uint32_t mask, uint32_t flags,
	uint64_t *at);

#endif
