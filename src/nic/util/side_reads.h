/*
 * Reads of a node's memory over its side (host/side.h), of any length: they are
 * cut into pieces that the side reads at a time, as many at once as it allows.
 * On a bus reads end in the order in which they began.  The owner takes the
 * bytes from memory when the read is done.
 *
 * When data is ready at the far end of the bus, an event asks for the bus.  An
 * owner that calls side_reads_settle() before each event of its node saves this
 * event.  An owner with other bursts in line for the bus (ask) grants it.
 */
#ifndef NIC_UTIL_SIDE_READS_H
#define NIC_UTIL_SIDE_READS_H

#include "base/ring.h"
#include "base/slots.h"
#include "host/side.h"
#include "nic/util/ticks.h"

struct side_read;

/* A read is complete. */
typedef void side_read_done(const struct nic_at *a, const struct side_read *x);

struct side_read {
	struct slot slot;
	uint64_t at;
	uint32_t bytes;
	side_read_done *done;
	void *owner; /* the owner's */
	uint32_t id;
	uint32_t most; /* bytes of a piece */
	uint32_t asked, here; /* bytes */
};

enum { SIDE_READS_EVENTS = 2 };

/* One for all nodes. */
struct side_reads_how {
	struct side *side;
	uint32_t processor; /* of a node, whose memory is read */
	uint32_t first; /* number of SIDE_READS_EVENTS events */
	/* Bytes that are asked for at once, as several reads of the side;
	 * 0: each read by itself. */
	uint32_t whole;
	uint32_t ahead; /* reads of at most so many bytes overtake longer ones
			 * that wait */
	bool is_settled; /* by its owner; the side says how long data takes */
	/* The owner keeps side_reads.over, too: pieces of a read that are asked
	 * for together have one event, when the last of them is here. */
	bool is_silent;
	/* A piece's data is ready: asks for the bus in place of the side's
	 * data(); side_reads_granted() follows, now or later.  Only if reads
	 * are not settled.  NULL: asks the side. */
	void (*ask)(const struct nic_at *a, uint32_t piece, uint64_t at,
		uint32_t bytes);
};

/* State of all sides of a node; their owner settles them at once. */
struct side_reads_all {
	uint64_t
		lagging; /* processors whose bus may have something to settle */
	sim_time now; /* as in struct side_reads, of all */
};

/* One node's. */
struct side_reads {
	const struct side_reads_how *how;
	struct ticks *ticks;
	struct side_reads_all *all; /* or NULL */
	struct slots items, pieces;
	struct slot_list line; /* reads with pieces to be asked for */
	struct slot_list ahead; /* the same, before all these */
	uint32_t n; /* reads of the side under way */
	/* if they are settled: pieces whose data has not crossed the bus, in
	 * order; when the first one's is ready, or SIM_NEVER; and now, which
	 * may be later than the start of a read */
	struct slot_list ready;
	sim_time due, now;
	sim_time behind; /* no more data crosses the bus before */
	/* if they are silent: when pieces that have crossed the bus without an
	 * event are here, in order; those until over are here before the event
	 * that is now */
	struct ring silent; /* sim_time */
	sim_time over;
	bool is_waking; /* an event is posted for those that wait in line */
};

void side_reads_init(struct side_reads *r, const struct side_reads_how *how,
	struct ticks *ticks);
void side_reads_fini(struct side_reads *r);
extern const struct nic_member_ops side_reads_member;

/* Where the reads' processor is connected to: see host/side.h. */
static inline site_id side_reads_place(
	const struct nic_at *a, const struct side_reads *r)
{
	return side_place(r->how->side, a->s, r->how->processor);
}

/* A read of no bytes ends a moment later. */
void side_reads_begin(const struct nic_at *a, struct side_reads *r, uint64_t at,
	uint32_t bytes, side_read_done *done, void *owner, uint32_t id);
/* Bytes that nothing waits for: they occupy the bus and its reads, in fewer and
 * longer pieces. */
void side_reads_stream(const struct nic_at *a, struct side_reads *r,
	uint64_t at, uint32_t bytes);

/* For how->ask(): a piece's read, if reads have one piece each; it has the bus
 * until end. */
const struct side_read *side_reads_whose(
	const struct side_reads *r, uint32_t piece);
void side_reads_granted(const struct nic_at *a, struct side_reads *r,
	uint32_t piece, sim_time end);

/* Data that is ready by t crosses the bus, before an event that is now. */
void side_reads_cross(const struct nic_at *a, struct side_reads *r, sim_time t);
static inline void side_reads_settle(
	const struct nic_at *a, struct side_reads *r, sim_time t)
{
	if (r->due <= t)
		side_reads_cross(a, r, t);
}

/* Whether nothing is left to settle until the next read. */
static inline bool side_reads_are_settled(const struct side_reads *r)
{
	return r->due == SIM_NEVER && !r->silent.n;
}

/* Handles an event of these numbers; false: it has another one. */
bool side_reads_on_event(const struct nic_at *a, struct side_reads *r,
	uint32_t number, uint32_t data);

#endif
