/*
 * A generic RDMA card, for machines that you define yourself.
 *
 * A process of a node has queues of work (nic/util/workq.h).  Their entries
 * put, get, or change a word of another node's memory.  That is named by a
 * key, which stands for a range that a process has registered with rights;
 * an entry's own bytes lie in a range of its process.
 *
 * Entries of a queue begin in order, several are under way at a time, and end
 * in any order.  Packets are executed as they come, each at once: the bytes of
 * a put appear in order where the network keeps order (nic.routing), those of
 * one packet everywhere.  A put or get can count: what of it is in memory is
 * subtracted from a word there.
 *
 * A node may have several cards, each with ports of its own into network and
 * memory.  A queue is one card's, and an entry names the card of the other node
 * by which its packets come; or all cards make packets of each queue, each for
 * the card of its own number (nic.stripe).  Keys are known to all cards of a
 * node.
 *
 * What is wrong with an entry stops its queue, and no other: it completes
 * with the reason, and the queue's other entries as stopped.
 */
#ifndef NIC_PLAIN_PLAIN_H
#define NIC_PLAIN_PLAIN_H

#include "nic/util/ranges.h"
#include "nic/util/resend.h"
#include "nic/util/workq.h"

enum plain_op {
	PLAIN_PUT,
	PLAIN_GET,
	/* and an enum atomic_op, on a word: the completion has what it was */
	PLAIN_WORD,
	PLAIN_OPS = PLAIN_WORD + N_ATOMICS,
};

enum plain_right { PLAIN_READ = 1, PLAIN_WRITE = 2, PLAIN_ATOMIC = 4 };

enum plain_status {
	PLAIN_OK = RANGE_OPEN,
	PLAIN_BAD_KEY = RANGE_NONE, /* here, or there */
	PLAIN_OUT_OF_BOUNDS = RANGE_OUTSIDE,
	PLAIN_NO_RIGHT = RANGE_FORBIDDEN,
	PLAIN_BAD_ENTRY, /* no such operation, node or word */
	PLAIN_GAVE_UP, /* no answer after the last retransmission */
	PLAIN_NO_CARD, /* the card has failed */
	PLAIN_STOPPED, /* the queue stopped before all of it was sent */
	PLAIN_STATUSES,
};

enum {
	PLAIN_CARDS = 8, /* of a node, at most */
	PLAIN_SHORT = 16 << 10, /* bytes of an entry, a few packets, at most */
};

struct plain_entry {
	uint64_t id;
	uint32_t node;
	uint16_t op;
	uint16_t card; /* of that node, if it has several */
	uint32_t key, own_key; /* of its bytes there, and here */
	uint64_t offset, own_offset; /* in these ranges */
	uint64_t bytes; /* of a word 8, and nothing is here */
	/* of what counts: 1 + the word's offset, in the range written to */
	uint64_t operand;
	uint64_t bound; /* of an atomic */
};

/* Answers that cannot leave wait in the card; or their requests keep their
 * places in the reception FIFO. */
enum plain_answers { PLAIN_BUFFERED, PLAIN_HELD };

struct plain_params {
	int64_t routing; /* 0: dynamic, 1: deterministic */
	int64_t answers; /* an enum plain_answers */
	int64_t cards; /* of a node */
	int64_t stripe; /* all of them work for each queue */
	int64_t entropy; /* flows of a queue */
	int64_t window, buffers; /* packets */
	int64_t ahead; /* bytes of reads that overtake longer ones */
	int64_t dispatch, packet, input; /* ps */
	struct workq_params work;
	struct resend_params retry;
};

extern const struct nic_ops plain_ops;

/* Of a card. */
struct workqs *plain_queues(struct nic *nic, site_id s, uint32_t card);
struct ranges *plain_keys(struct nic *nic, site_id s);

/* Flags of a key: its process, and the rights that others have to it. */
#define PLAIN_FLAGS(process, rights) ((process) << 3 | (rights))

#endif
