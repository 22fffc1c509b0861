/*
 * Reads of a node's memory over its side (host/side.h), of any length: they
 * are cut into what the side reads at a time, and as many of these are under
 * way as it allows.  On a bus reads end in the order in which they began.  It
 * does not touch memory: an owner takes the bytes when it is told, and sees
 * what is in memory then.
 */
#ifndef NIC_UTIL_SIDE_READS_H
#define NIC_UTIL_SIDE_READS_H

#include "base/slots.h"
#include "host/side.h"
#include "nic/util/ticks.h"

struct side_read;

/* All of a read is here. */
typedef void side_read_done(const struct nic_at *a, const struct side_read *x);

struct side_read {
	struct slot slot;
	uint64_t at;
	uint32_t bytes;
	side_read_done *done;
	void *owner; /* the owner's, as is */
	uint32_t id;
	uint32_t asked, here; /* bytes */
};

enum { SIDE_READS_EVENTS = 2 };

/* One for all nodes. */
struct side_reads_how {
	struct side *side;
	uint32_t first; /* number of SIDE_READS_EVENTS events */
};

/* One node's. */
struct side_reads {
	const struct side_reads_how *how;
	struct ticks *ticks;
	struct slots items, pieces;
	struct slot_list line; /* not all of them is asked for, in order */
	uint32_t n; /* pieces under way */
};

void side_reads_init(struct side_reads *r, const struct side_reads_how *how,
	struct ticks *ticks);
void side_reads_fini(struct side_reads *r);
uint64_t side_reads_memory(const struct side_reads *r);

/* One byte or more. */
void side_reads_begin(const struct nic_at *a, struct side_reads *r, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id);

/* Whether an event is one of how's, which is handled then. */
bool side_reads_on_event(const struct nic_at *a, struct side_reads *r,
	uint32_t number, uint32_t data);

#endif
