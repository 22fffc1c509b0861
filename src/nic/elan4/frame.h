/*
 * A packet as bytes, with its CRCs.
 *
 *	header        source, kind, context, cookie, ...; CRC
 *	transaction   what, bytes, address, ...; data; CRC
 *	transaction   ...
 *
 * Only damaged packets are serialised: their bits are flipped, and the CRCs
 * decide (QSN-F39).  On a coded wire the flipped bits are those of its symbols
 * (QSN-F76): the code detects invalid symbols, and the CRCs check the others.
 * See nic/util/flips.h.
 */
#ifndef NIC_ELAN4_FRAME_H
#define NIC_ELAN4_FRAME_H

#include "nic/elan4/buffer.h"

enum {
	ELAN_FRAME_HEADER = 33,
	ELAN_FRAME_PIECE = 34, /* without data, at most */
	ELAN_FRAME_MOST = ELAN_FRAME_HEADER +
			  ELAN_MOST_PIECES * ELAN_FRAME_PIECE + ELAN_PACKET,
};

/* Writes a packet's frame; returns its bytes. */
uint32_t elan_frame_write(const struct elan_buffer *b, uint32_t src,
	uint8_t frame[ELAN_FRAME_MOST]);

/* Reads a frame into a packet's header, transactions and data, or a part of
 * them if it is not ELAN_SOUND. */
enum elan_harm elan_frame_read(
	struct elan_buffer *b, uint32_t *src, const uint8_t *frame, uint32_t n);

/* Replaces a packet by the frame that arrived; one that no card makes is torn,
 * even with valid CRCs.  The packet is unchanged if it is not ELAN_SOUND. */
enum elan_harm elan_frame_take(
	struct elan_buffer *b, uint32_t src, const uint8_t *frame, uint32_t n);

/* The effect of a packet's flipped bits.  If its CRCs do not detect them, the
 * packet changes, and *escaped is set. */
enum elan_harm elan_frame_judge(
	struct elan_buffer *b, uint32_t src, bool *escaped);

/* The network's client. */
void elan_frame_on_hurt(struct net_client *me, struct sim_worker *w,
	packet_id id, const struct net_flip *flip);
/* A damaged packet arrives: sets its harm. */
void elan_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);

#endif
