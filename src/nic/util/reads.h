/*
 * Split reads of the host's memory.  A read is asked for; some time later its
 * data is at the bridge, and asks for the bus; when it has crossed that, its
 * owner is told.  It does not touch memory: an owner takes the bytes when it
 * is told, and sees what is in memory then.
 */
#ifndef NIC_UTIL_READS_H
#define NIC_UTIL_READS_H

#include "base/slots.h"
#include "nic/util/ticks.h"

/* What an owner's item begins with. */
struct read {
	struct slot slot;
	uint32_t bytes;
	const struct read_owner *owner;
};

struct read_owner {
	/* Its data has the bus until end, which is not now.  May be NULL. */
	void (*granted)(const struct nic_at *a, struct read *x, sim_time end);
	/* All of it is here.  The item is given back already, and holds until
	 * the next read is begun. */
	void (*done)(const struct nic_at *a, const struct read *x);
};

/* One for all nodes. */
struct reads_how {
	uint32_t ready, done; /* numbers of events */
	sim_time latency; /* until its data is at the bridge */
	uint32_t most; /* at a time */
	/* Asks for the bus; reads_granted() follows, now or later. */
	void (*ask)(const struct nic_at *a, uint32_t id, uint32_t bytes);
};

/* One node's. */
struct reads {
	const struct reads_how *how;
	struct ticks *ticks;
	struct slots items;
	uint32_t n; /* under way, or a place is kept for them */
};

void reads_init(struct reads *r, const struct reads_how *how,
	struct ticks *ticks, size_t size);
void reads_fini(struct reads *r);

static inline bool reads_has_room(const struct reads *r)
{
	return r->n < r->how->most;
}

/* Keeps a place, for a read that is begun later or at once. */
static inline void reads_reserve(struct reads *r)
{
	r->n++;
}

/*
 * A new item, zeroed, for a place that was kept.  Asks for so many bytes after
 * some time; of none there is nothing to wait for but a moment.
 */
void *reads_begin(const struct nic_at *a, struct reads *r,
	const struct read_owner *owner, uint32_t bytes, sim_time after);

/* The events of how->ready and how->done; id is the event's data. */
void reads_on_ready(const struct nic_at *a, struct reads *r, uint32_t id);
void reads_granted(
	const struct nic_at *a, struct reads *r, uint32_t id, sim_time end);
void reads_on_done(const struct nic_at *a, struct reads *r, uint32_t id);

#endif
