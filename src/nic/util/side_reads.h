/*
 * Reads of a node's memory over its side (host/side.h), of any length: they
 * are cut into what the side reads at a time, and as many of these are under
 * way as it allows.  On a bus reads end in the order in which they began.  It
 * does not touch memory: an owner takes the bytes when it is told, and sees
 * what is in memory then.
 *
 * That data is at the far end of the bus is an event, which does nothing but
 * ask for the bus.  An owner that calls side_reads_settle() before each event
 * of its node spares it.  An owner whose reads stand in line for the bus with
 * other things of its own (ask) says itself when they have it.
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
	bool is_settled; /* by its owner; the side says how long data takes */
	/* A piece's data is ready: asks for the bus, in place of the side's
	 * data(); side_reads_granted() follows, now or later.  Not of those
	 * that are settled.  NULL: the side is asked. */
	void (*ask)(const struct nic_at *a, uint32_t piece, uint64_t at,
		uint32_t bytes);
};

/* One node's. */
struct side_reads {
	const struct side_reads_how *how;
	struct ticks *ticks;
	struct slots items, pieces;
	struct slot_list line; /* not all of them is asked for, in order */
	uint32_t n; /* pieces under way */
	/* if they are settled: those whose data has not crossed the bus, in
	 * order; when the first one's is ready, or SIM_NEVER; and now, which
	 * may be later than when a read is begun */
	struct slot_list ready;
	sim_time due, now;
};

void side_reads_init(struct side_reads *r, const struct side_reads_how *how,
	struct ticks *ticks);
void side_reads_fini(struct side_reads *r);
extern const struct nic_member_ops side_reads_member;

/* Of no bytes there is nothing to wait for but a moment. */
void side_reads_begin(const struct nic_at *a, struct side_reads *r, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id);

/* For how->ask(): whose a piece is, where reads fit into one; it has the bus,
 * until end. */
const struct side_read *side_reads_whose(
	const struct side_reads *r, uint32_t piece);
void side_reads_granted(const struct nic_at *a, struct side_reads *r,
	uint32_t piece, sim_time end);

/* What is ready by t crosses the bus, before an event that is now. */
void side_reads_settle(
	const struct nic_at *a, struct side_reads *r, sim_time t);

/* Whether an event is one of how's, which is handled then. */
bool side_reads_on_event(const struct nic_at *a, struct side_reads *r,
	uint32_t number, uint32_t data);

#endif
