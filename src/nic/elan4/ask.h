/* Tests of words, which decide whether a packet is executed: see ask.c. */
#ifndef NIC_ELAN4_ASK_H
#define NIC_ELAN4_ASK_H

#include "nic/elan4/buffer.h"

/* Whether a packet has been here before; sets its verdict then. */
bool elan_ask_has_seen(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/* It is executed, or denied: as its verdict says. */
void elan_ask_note(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b);

/* Whether the tests of a packet are as they may be, and it may read there. */
bool elan_ask_is_allowed(const struct nic_at *a, const struct elan_buffer *b);
/*
 * A packet with a test is here: false where that need not be decided, as it
 * was before, or cannot be now, and sets its verdict.
 */
bool elan_ask_begin(
	const struct nic_at *a, const struct packet *p, struct elan_buffer *b);
/*
 * Its word is read: sets its verdict, false where nothing is executed.  A yes
 * is ELAN_ACKED, or what keeps the rest from being executed now.  Writers are
 * packets whose writes may be on the bus, or in its line.
 */
bool elan_ask_decide(const struct nic_at *a, packet_id id, enum elan_kind yes,
	packet_id writers);

#endif
