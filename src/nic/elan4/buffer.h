/*
 * What a packet carries: the bytes behind its load field, as its sender fills
 * them in, and what its receiver notes there while it works on it.
 */
#ifndef NIC_ELAN4_BUFFER_H
#define NIC_ELAN4_BUFFER_H

#include "nic/elan4/elan4.h"
#include "nic/util/flips.h"

enum { ELAN_MOST_PIECES = ELAN_BLOCKS + 2 }; /* of a packet; one is a test */

/* A piece of a packet: what one transaction says. */
struct elan_piece {
	uint64_t address; /* of a write: where to; of a get: where from */
	uint64_t back; /* of a get: where the answer goes; a test's value */
	uint32_t event, count; /* of a test: operation, none */
	uint16_t bytes;
	uint16_t at; /* of a write: in the data */
	uint8_t what; /* ELAN_WRITE, ELAN_GET, ELAN_SET, ELAN_TEST */
};

/* Which get of its sender's it is, or answers; place 0: none. */
struct elan_cookie {
	uint32_t place, number;
};

/* What flipped bits have done to a packet. */
enum elan_harm {
	ELAN_SOUND,
	ELAN_TORN, /* a transaction is wrong: its sender is told */
	ELAN_UNREADABLE, /* nobody knows whose it is: its sender waits */
};

/* Of those that answer a broadcast the greatest is what its sender hears. */
enum elan_kind {
	ELAN_DATA,
	ELAN_ACKED,
	ELAN_DENIED, /* its test said no: not executed, never try again */
	ELAN_BUSY, /* try again: there will be room */
	ELAN_NACKED, /* try again, but not for ever */
	ELAN_REFUSED, /* never try again */
	ELAN_ABORTED, /* a packet that was never finished */
};

/* How far a packet's test is, until it is decided. */
enum elan_ask {
	ELAN_ASK_NONE,
	ELAN_ASK_READS, /* or will, when its tail is here */
	ELAN_ASK_READ, /* waits for what came before in its queue */
};

/* What a packet has to do with broadcasts. */
enum elan_cast {
	ELAN_CAST_NONE,
	ELAN_CAST_OUT, /* it is one */
	ELAN_CAST_BACK, /* it answers one */
};

/* What a packet's load field points to. */
struct elan_buffer {
	uint8_t kind;
	uint8_t n_pieces;
	bool writes; /* it is in the list of those */
	uint32_t came; /* to the input, among all */
	uint8_t harm; /* an enum elan_harm: see frame.h */
	bool violated; /* a symbol came that is none */
	struct flips flips;
	uint16_t context;
	uint32_t channel, sequence; /* the cookie: who sent it, which one */
	uint32_t sending; /* at the sender, or 0; its answer returns it */
	struct elan_cookie get;
	uint16_t data_bytes;
	uint8_t cast; /* an enum elan_cast: */
	uint16_t last; /* node of the range; its destination is the first */
	uint32_t number; /* of the broadcast that it answers */
	sim_time asked; /* its command, or its data, was in the card */
	/* when each block of data had left the source, and the packet's
	 * head; its receiver sees them as much later as its head */
	sim_time left_at, left[ELAN_MOST_PIECES];
	uint32_t answer; /* to a get: its sequence */
	uint8_t handed; /* pieces that the input has handed on */
	uint8_t todo; /* bursts and the tail that are to come */
	uint8_t bursts, granted, written; /* of its writes */
	uint8_t until[ELAN_MOST_PIECES]; /* pieces, up to each burst's end */
	uint32_t turn[ELAN_MOST_PIECES]; /* of each burst, among all */
	uint8_t ask; /* an enum elan_ask */
	uint8_t verdict; /* an enum elan_kind: its answer */
	uint8_t fifo; /* it came in by */
	bool streams; /* a burst may begin with its first block */
	bool is_first; /* not sent before */
	uint8_t route; /* it took; its answer takes the like */
	struct elan_piece piece[ELAN_MOST_PIECES];
	uint8_t data[ELAN_PACKET];
};

static inline const struct elan_buffer *elan_buffer_of(const struct packet *p)
{
	return payload_of_load(p->load);
}

static inline struct packet *elan_packet(const struct nic_at *a, packet_id id)
{
	return &a->nic->net->packets[id];
}

static inline struct elan_buffer *elan_buffer(
	const struct nic_at *a, packet_id id)
{
	return payload_of_load(elan_packet(a, id)->load);
}

/* Whether a packet begins with a test, or a get. */
static inline bool elan_has_test(const struct elan_buffer *b)
{
	return b->n_pieces && b->piece[0].what == ELAN_TEST;
}

static inline bool elan_is_get(const struct elan_buffer *b)
{
	return b->n_pieces && b->piece[0].what == ELAN_GET;
}

static inline void elan_add_piece(struct elan_buffer *b, struct elan_piece p)
{
	b->piece[b->n_pieces++] = p;
}

#endif
