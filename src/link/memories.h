/*
 * Memories whose words have check bits (base/secded.h): one bad bit is
 * corrected, two are detected.  In a router each buffer is such a memory, and a
 * packet is read when it reaches the head of the buffer.  A word with two bad
 * bits is a machine check: the unit of the buffer stops, and forwards only
 * packets that had reached a head before; all other units continue.
 *
 *	unit             its buffers                 after it has stopped
 *	receiver B-      one for each channel        tokens do not return
 *	sender B-        packets for retransmission  like a dead link
 *	injection FIFO   itself                      it fills up
 *	reception FIFO   itself                      it accepts no packet
 */
#ifndef LINK_MEMORIES_H
#define LINK_MEMORIES_H

#include <stdint.h>

#include "sim/sim.h"
#include "topo/topo.h"

enum fault_unit {
	FAULT_RECEIVER,
	FAULT_SENDER,
	FAULT_INJECTION,
	FAULT_RECEPTION,
	N_FAULT_UNITS
};

enum {
	FAULT_CHANNELS = 6, /* those of guests are the last two */
	FAULT_GUEST = 4,
	FAULT_OTHERS = 10, /* FIFOs without a port start here */
	FAULT_FIFOS = 16,
	FAULT_WORD = 8, /* bytes */
};

/* The number of a unit is its port, or its own number; channels are for
 * receivers. */
static inline uint32_t fault_buffer_of(
	enum fault_unit unit, uint32_t number, uint32_t channel)
{
	return (uint32_t)unit << 16 | number << 8 | channel;
}

static inline enum fault_unit fault_unit_of(uint32_t buffer)
{
	return (enum fault_unit)(buffer >> 16);
}

static inline uint32_t fault_number_of(uint32_t buffer)
{
	return buffer >> 8 & 0xff;
}

/* "receiver B-"; "channel system", or the empty string. */
void fault_unit_name(uint32_t buffer, const struct topo *t, router_id site,
	char *text, size_t size);
const char *fault_channel_name(uint32_t buffer);

/* From some time on, the next word that is read from a buffer has bad bits. */
struct fault_flip {
	router_id site; /* NO_ROUTER: it has happened */
	uint32_t buffer, bits;
	sim_time at;
};

/* For a site: good words until the next word with one bad bit, with two. */
struct fault_memory {
	uint64_t left[2];
	uint32_t draws[2];
	uint32_t flip, n_flips; /* of the plan */
	uint32_t stopped[N_FAULT_UNITS]; /* units, a bit each */
};

struct fault_words {
	uint32_t mended, bad;
};

#endif
