/*
 * Bits of a packet that were flipped on its way, and what they make of its
 * frame.  Packets that were not hurt are never serialised: their bytes are
 * known to be good.  A hurt one remembers where, in its load; at its
 * destination its frame is written, goes through the wire's code hop by hop
 * with the bits flipped, and is read back.  What a frame is, and what its
 * CRCs say of it, is the interface's own business.
 */
#ifndef NIC_UTIL_FLIPS_H
#define NIC_UTIL_FLIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/code.h"
#include "sim/sim.h"

enum {
	FLIPS_MOST = 16, /* that a packet remembers */
	FLIPS_FRAME = 3276, /* bytes, of flips_judge() */
	FLIPS_CRC = 4, /* bytes */
};

/* On another wire than the flip before. */
#define FLIPS_NEXT_HOP (UINT32_C(1) << 31)

struct flips {
	uint8_t n;
	uint8_t code; /* of its wires, in link_codes */
	uint32_t place[FLIPS_MOST]; /* bits of its frame; + FLIPS_NEXT_HOP */
	sim_time hop; /* the last flip's: when it began */
};

/*
 * One of so many bits of a packet was flipped on a hop that began at a time.
 * The model of the link counts some bytes more or less than its frame of so
 * many bytes has, so the place is scaled; the bits of one moment go side by
 * side, and stay on their lines.
 */
void flips_note(struct flips *f, const struct link_code *code, sim_time hop,
	uint32_t frame_bytes, uint32_t bit, uint32_t bits);

/*
 * What comes of a frame of n bytes; room is for CODE_ROOM * n bytes of
 * symbols.  Returns how many bytes have come through without a symbol that
 * the code does not have: n, or less.
 */
uint32_t flips_apply(
	const struct flips *f, uint8_t *frame, uint32_t n, uint8_t *room);

enum flips_harm { FLIPS_NONE, FLIPS_FOUND, FLIPS_ESCAPED };

/*
 * What comes of a frame that is a header, data and a CRC-32 of both, of
 * FLIPS_FRAME bytes at most.  Where the CRC does not find what the flips did,
 * header and data are what they made of them.
 */
enum flips_harm flips_judge(struct flips *f, void *header, uint32_t n_header,
	void *data, uint32_t n_data);

#endif
