/*
 * A packet as words of 16 bytes on the wire (APE-G1, APE-G6), and the effect of
 * flipped bits.
 *
 *	marker
 *	start    opcode, status, total, key and offset of a get's own buffer
 *	header   target, source, op, flags, length, key; CRC of 16 bits
 *	payload  up to 256 words, the last one filled up with zeros
 *	footer   offset, tag; CRC of 32 bits of all from the start word on
 *	end
 *
 * A marker announces a control word.  Words of data that equal it are sent
 * twice, which takes longer.  After every eight words follow a marker and
 * credits, which are not the packet's (APE-G7).
 *
 * Routers need the header before the rest, so it has a check of its own, and
 * they drop packets with a damaged header.  The rest is checked at the target,
 * or by each link if links replay.
 */
#ifndef NIC_APENET_FRAME_H
#define NIC_APENET_FRAME_H

#include "nic/apenet/card.h"

enum {
	APE_WORD = 16,
	/* start, header, payload, footer */
	APE_PLAIN = (3 + APE_MOST / APE_WORD) * APE_WORD,
	APE_EVERY = 8, /* words between credits */
	/* all of them doubled, and what is around them */
	APE_FRAME =
		(2 * APE_PLAIN + 2 * APE_WORD) / APE_EVERY * (APE_EVERY + 2),
};

enum ape_harm { APE_SOUND, APE_BAD_HEADER, APE_BAD_FOOTER, APE_ESCAPED };

extern const uint8_t ape_marker[APE_WORD];

/* Number of doubled words of a payload; named data has none. */
uint32_t ape_frame_doubled(const uint8_t *data, uint32_t bytes);

/* Makes the bytes of a load that has only their name. */
void ape_frame_make(struct ape_load *l, uint32_t bytes);

/* A packet's own words, and those on the wire; return bytes. */
uint32_t ape_frame_plain(const struct packet *p, const struct ape_load *l,
	uint8_t plain[APE_PLAIN]);
uint32_t ape_frame_write(
	const uint8_t *plain, uint32_t n, uint8_t frame[APE_FRAME]);
/* Reads the first whole bytes of a frame of n; the words are those up to the
 * end or the first damage. */
enum ape_harm ape_frame_read(uint8_t plain[APE_PLAIN], const uint8_t *frame,
	uint32_t whole, uint32_t n);

/* The effect of a packet's flips; plain gets the words as read. */
enum ape_harm ape_frame_judge(const struct packet *p, const struct ape_load *l,
	uint8_t plain[APE_PLAIN]);

/* A damaged packet is at its target: sets its error, or changes it. */
void ape_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct ape_load *l);

/* The network's client. */
void ape_frame_on_hurt(struct net_client *me, struct sim_worker *w,
	packet_id id, const struct net_flip *flip);
bool ape_frame_is_dropped(
	struct net_client *me, struct sim_worker *w, packet_id id);
bool ape_frame_is_found(struct net_client *me, struct sim_worker *w,
	packet_id id, const uint32_t *bit, uint32_t n_bits, uint32_t bits);

#endif
