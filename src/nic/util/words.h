/*
 * Words that an interface writes to its node's memory, on their way there
 * over the host's bus: in order, and seen by reads that come behind them.  It
 * is for events, flags and counters; payload goes its own way, and is laid
 * over what was read with words_overlay().
 */
#ifndef NIC_UTIL_WORDS_H
#define NIC_UTIL_WORDS_H

#include <string.h>

#include "base/slots.h"
#include "nic/util/ticks.h"

/* One for all nodes. */
struct words_how {
	uint32_t in; /* the number of the event that a word is in memory */
	sim_time see; /* from the bus until a load can see it */
	/* Asks for the bus; words_granted() follows, now or later. */
	void (*ask)(const struct nic_at *a, uint32_t id, uint32_t bytes);
	/* One more has had the bus: w->had counts them.  May be NULL. */
	void (*on_had)(const struct nic_at *a);
};

/* One node's. */
struct words {
	const struct words_how *how;
	struct ticks *ticks;
	struct slots items;
	struct slot_list out; /* in order */
	uint32_t asked, had; /* ever: for the bus, and had it */
	sim_time last_in; /* the last one that had the bus is in memory */
};

void words_init(
	struct words *w, const struct words_how *how, struct ticks *ticks);
void words_fini(struct words *w);

void words_write(const struct nic_at *a, struct words *w, uint64_t address,
	uint64_t value);
void words_granted(
	const struct nic_at *a, struct words *w, uint32_t id, sim_time end);
/* The event of how->in; id is its data. */
void words_on_in(const struct nic_at *a, struct words *w, uint32_t id);
/* Reads the node's memory, with words that are on their way there. */
void words_read(const struct nic_at *a, const struct words *w, uint64_t at,
	void *to, uint32_t n);

/* Puts what a write says over n bytes that were read at an address, where both
 * lie. */
static inline void words_overlay(uint8_t *to, uint64_t at, uint32_t n,
	uint64_t written, const uint8_t *data, uint32_t bytes)
{
	uint64_t first = written > at ? written : at;
	uint64_t end = written + bytes < at + n ? written + bytes : at + n;

	if (first < end)
		memcpy(to + (first - at), data + (first - written),
			end - first);
}

#endif
