/*
 * Packets as bits on a link: what a CRC protects.  Frames are made where bits
 * of one were flipped, and nowhere else.
 */
#ifndef NIC_GEMINI_FRAME_H
#define NIC_GEMINI_FRAME_H

#include "link/packet.h"
#include "topo/topo.h"

/* The first phit, by which chips route (Figure 6).  A node is a chip and a
 * number of two bits there. */
struct gem_header {
	uint32_t chip; /* the destination, and there: */
	uint32_t dst;
	uint32_t src; /* at the chip that it comes from */
	uint32_t v; /* channel: 1 for responses */
	bool r; /* it names its ports in its payload */
	bool a; /* it is adaptive */
	bool h; /* if not, the remote address is part of its hash */
};

/* Bytes of payload in a word, and of the longest frame, of a full line. */
enum { GEM_WORD = 8, GEM_FRAME = 96 };

struct gem_header gem_header_of(const struct topo *t, const struct packet *p);

/* The order of the fields is assumed.  The side band is the link's own and no
 * part of a frame. */
static inline uint32_t gem_header_pack(struct gem_header x)
{
	return x.chip | x.dst << 16 | x.src << 18 | x.v << 20 |
	       (uint32_t)x.r << 21 | (uint32_t)x.a << 22 | (uint32_t)x.h << 23;
}

#endif
