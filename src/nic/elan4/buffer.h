/* The bytes behind a packet's load field: its content, and notes of its
 * receiver while it works on it. */
#ifndef NIC_ELAN4_BUFFER_H
#define NIC_ELAN4_BUFFER_H

#include "nic/elan4/elan4.h"
#include "nic/util/flips.h"

enum { ELAN_MOST_PIECES = ELAN_BLOCKS + 2 }; /* of a packet */

/* A transaction of a packet. */
struct elan_piece {
	uint64_t address; /* target of a write, source of a get; a tag */
	/* target of a get's answer; a test's value; of a message: all its bytes
	 * << 32 | the place of these */
	uint64_t back;
	/* of a test: operation, none; of a message: queue | sender's rank <<
	 * 12, number | kind << 16; of a get: event, its place among those of
	 * its packet */
	uint32_t event, count;
	uint16_t bytes;
	uint16_t at; /* of a write: in the data */
	uint16_t context;
	uint8_t what; /* ELAN_WRITE, ELAN_GET, ELAN_SET, ELAN_TEST, ELAN_ENQUEUE
		       */
	uint8_t flags; /* at the receiver: of its page, enum elan_area_flag */
};

/* Names a packet with gets of a node, and one of them; place 0: none. */
struct elan_cookie {
	uint32_t place, number;
	uint32_t get;
};

/* Damage of a packet by flipped bits. */
enum elan_harm {
	ELAN_SOUND,
	ELAN_TORN, /* a transaction is wrong: a NACK goes to its sender */
	ELAN_UNREADABLE, /* its sender is unknown, and waits */
};

/* Of the answers to a broadcast its sender gets the greatest. */
enum elan_kind {
	ELAN_DATA,
	ELAN_ACKED,
	ELAN_DENIED, /* its test failed: not executed, no retry */
	ELAN_BUSY, /* retry: there will be room */
	ELAN_FAULTED, /* retry: there will be its page */
	ELAN_NACKED, /* retry, up to the limit */
	ELAN_REFUSED, /* no retry */
	ELAN_ABORTED, /* an incomplete packet */
};

/* A packet's part in broadcasts. */
enum elan_cast {
	ELAN_CAST_NONE,
	ELAN_CAST_OUT, /* it is one */
	ELAN_CAST_BACK, /* it answers one */
};

struct elan_buffer {
	uint8_t kind;
	uint8_t n_pieces;
	bool writes; /* it is in the list of writers */
	uint32_t came; /* order of arrival at the input */
	uint8_t harm; /* an enum elan_harm: see frame.h */
	bool violated; /* an invalid symbol arrived */
	struct flips flips;
	uint16_t context; /* of its transactions, unless they name others */
	uint32_t channel, sequence; /* the cookie: sender and number */
	uint32_t sending; /* at the sender, or 0; returned by its answer */
	struct elan_cookie get;
	uint16_t data_bytes;
	uint8_t cast; /* an enum elan_cast: */
	uint16_t last; /* node of the range; its destination is the first */
	uint32_t number; /* of the broadcast that it answers */
	sim_time asked; /* its command, or its data, was in the card */
	/* when the packet's head, its tail and the end of each transaction
	 * left the source; the receiver sees these as much later as the head */
	sim_time left_at, tail, left[ELAN_MOST_PIECES];
	uint32_t answer; /* to its first get: its sequence */
	/* of its transactions: handed to the bus, done, and the next one that
	 * reads memory, for which those after it wait */
	uint8_t handed, done, stop;
	uint8_t group; /* the end of those that read at the same time */
	uint8_t asked_for, reading; /* of these, before it; under way */
	uint8_t places; /* for reads, that it has */
	uint8_t n_gets; /* before a test that failed */
	bool has_tail; /* the tail is here */
	bool is_taken; /* it is executed */
	bool is_read; /* its tests wait for earlier packets of its queue */
	bool is_held; /* its budget goes on elsewhere */
	bool asks; /* a thread will answer it */
	uint8_t bursts, granted, written; /* of its writes */
	uint8_t until[ELAN_MOST_PIECES]; /* pieces, up to each burst's end */
	uint32_t turn[ELAN_MOST_PIECES]; /* of each burst, among all */
	sim_time in; /* when the last granted burst is in memory */
	uint8_t verdict; /* an enum elan_kind: its answer */
	uint8_t fifo; /* of reception */
	/* at the receiver: kinds of its transactions, bits by ELAN_WRITE and
	 * so on; what it looks for rarely it need not look for in all */
	uint32_t kinds;
	bool to_queues; /* some write appends to a queue */
	bool streams; /* a burst may begin with its first block */
	bool is_first; /* try */
	uint8_t route; /* its answer takes the same one back */
	struct elan_piece piece[ELAN_MOST_PIECES];
	uint8_t data[ELAN_PACKET];
};

/* All but the data, which is written before it is read. */
static inline void elan_buffer_clear(struct elan_buffer *b)
{
	memset(b, 0, offsetof(struct elan_buffer, data));
}

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

/* Transactions of a kind, from the i-th on. */
static inline uint32_t elan_count_pieces(
	const struct elan_buffer *b, uint32_t i, enum elan_command what)
{
	uint32_t n = 0;

	for (; i < b->n_pieces; i++)
		n += b->piece[i].what == what;
	return n;
}

/* Whether it has some of a kind. */
static inline bool elan_has(const struct elan_buffer *b, enum elan_command what)
{
	return b->kinds >> what & 1;
}

/* Whether a transaction reads memory. */
static inline bool elan_reads(const struct elan_piece *p)
{
	return p->what == ELAN_GET || p->what == ELAN_TEST;
}

/* Whether it begins with a message for an input queue. */
static inline bool elan_is_message(const struct elan_buffer *b)
{
	return b->n_pieces && b->piece[0].what == ELAN_ENQUEUE;
}

/* The number of a message's queue, and its sender's rank. */
static inline uint32_t elan_input_of(const struct elan_piece *p)
{
	return p->event & (ELAN_INPUTS - 1);
}

static inline uint32_t elan_sender_of(const struct elan_piece *p)
{
	return p->event / ELAN_INPUTS;
}

/* Whether a transaction carries data. */
static inline bool elan_has_data(const struct elan_piece *p)
{
	return p->what == ELAN_WRITE || p->what == ELAN_ENQUEUE;
}

static inline void elan_add_piece(struct elan_buffer *b, struct elan_piece p)
{
	p.context = b->context;
	b->piece[b->n_pieces++] = p;
}

#endif
