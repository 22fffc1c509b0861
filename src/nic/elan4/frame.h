/*
 * A packet as bytes, and what its CRCs say of it.
 *
 *	header        source, kind, context, cookie, ...; CRC
 *	transaction   what, bytes, address, ...; data; CRC
 *	transaction   ...
 *
 * Packets that were not hurt are never serialised: their bytes are known to
 * be good.  A hurt one is, its bits are flipped, and the CRCs decide
 * (QSN-F39).  On a coded wire the flipped bits are those of its symbols
 * (QSN-F76): a symbol that is none is seen by the code, and the CRCs decide of
 * those that have become others.  See nic/util/flips.h.
 */
#ifndef NIC_ELAN4_FRAME_H
#define NIC_ELAN4_FRAME_H

#include "nic/elan4/buffer.h"

enum {
	ELAN_FRAME_HEADER = 32,
	ELAN_FRAME_PIECE = 28, /* without data, at most */
	ELAN_FRAME_MOST = ELAN_FRAME_HEADER +
			  ELAN_MOST_PIECES * ELAN_FRAME_PIECE + ELAN_PACKET,
};

/* Writes a packet's frame; returns its bytes. */
uint32_t elan_frame_write(const struct elan_buffer *b, uint32_t src,
	uint8_t frame[ELAN_FRAME_MOST]);

/*
 * Reads a frame into a packet's header, transactions and data.  Where that
 * is not ELAN_SOUND, some of them may have been written.
 */
enum elan_harm elan_frame_read(
	struct elan_buffer *b, uint32_t *src, const uint8_t *frame, uint32_t n);

/*
 * Makes a packet of a source what a frame says that has come in its place: one
 * that no card makes is torn, though its CRCs may be right.  It stays as it was
 * where that is not ELAN_SOUND.
 */
enum elan_harm elan_frame_take(
	struct elan_buffer *b, uint32_t src, const uint8_t *frame, uint32_t n);

/*
 * What a packet's flipped bits make of it.  One whose CRCs do not see them
 * becomes what the frame says now, and *escaped is set.
 */
enum elan_harm elan_frame_judge(
	struct elan_buffer *b, uint32_t src, bool *escaped);

/* As the network's client has them. */
void elan_frame_on_hurt(struct net_client *me, struct sim_worker *w,
	packet_id id, uint32_t bit, uint32_t bits);
/* A hurt packet is here: sets its harm. */
void elan_frame_on_arrival(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);

#endif
