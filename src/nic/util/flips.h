/*
 * Flipped bits of packets, and their effect on frames.  Undamaged packets are
 * never serialised: their bytes are known to be good.  A damaged one records
 * the flips in its load; at its destination the interface writes its frame,
 * passes it through the wire's code hop by hop with the bits flipped, reads it
 * back and checks its CRCs.
 */
#ifndef NIC_UTIL_FLIPS_H
#define NIC_UTIL_FLIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "link/code.h"
#include "sim/sim.h"

enum {
	FLIPS_MOST = 16, /* that a packet remembers */
	FLIPS_FRAME = 4096 + 128, /* bytes, of flips_judge() */
	FLIPS_CRC = 4, /* bytes */
};

/* On another wire than the flip before. */
#define FLIPS_NEXT_HOP (UINT32_C(1) << 31)

/* Wires may differ in their code: bits that change the first flip's code into
 * this one's. */
enum { FLIPS_CODE = 29, FLIPS_CODES = 3 };
_Static_assert(N_LINK_CODES <= FLIPS_CODES + 1, "a code is two bits");

struct flips {
	uint8_t n;
	uint8_t code; /* of the first flip's wire, in link_codes */
	/* bits of its frame; other codes << FLIPS_CODE; + FLIPS_NEXT_HOP */
	uint32_t place[FLIPS_MOST];
	sim_time hop; /* the last flip's: when it began */
};

/*
 * A bit of a packet was flipped on a hop that began at a time.  The link's
 * model counts a few bytes more or fewer than the frame has, so the place is
 * scaled; bits that cross the wire at the same moment stay on their lines.
 */
void flips_note(struct flips *f, const struct link_code *code, sim_time hop,
	uint32_t frame_bytes, uint32_t bit, uint32_t bits);

/* Applies the flips to a frame of n bytes; room is for CODE_ROOM * n bytes of
 * symbols.  Returns the number of bytes before the first invalid symbol, or
 * n. */
uint32_t flips_apply(
	const struct flips *f, uint8_t *frame, uint32_t n, uint8_t *room);

enum flips_harm { FLIPS_NONE, FLIPS_FOUND, FLIPS_ESCAPED };

/* The effect on a frame of header, data and a CRC-32 of both, of FLIPS_FRAME
 * bytes at most.  If the CRC does not detect the flips, header and data are
 * changed. */
enum flips_harm flips_judge(struct flips *f, void *header, uint32_t n_header,
	void *data, uint32_t n_data);

#endif
