/*
 * Messages of several packets, some of which have come: a table by key.  Those
 * of one packet never get into it.
 */
#ifndef MEAS_PARTIALS_H
#define MEAS_PARTIALS_H

#include <stdbool.h>
#include <stdint.h>

struct partial;

/* All zero when it is empty. */
struct partials {
	struct partial *entry; /* open addressing; a power of two */
	uint32_t n, room;
};

/* A packet of a message of so many has come to its end, or was dropped:
 * whether that completes the message. */
bool partials_end(
	struct partials *d, uint64_t key, uint32_t n_packets, bool is_dropped);
void partials_fini(struct partials *d);

#endif
