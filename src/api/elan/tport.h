/*
 * Tagged ports: what the library and the thread on the card agree on.
 *
 * Input queues of a port: two numbers, 2 * port and 2 * port + 1.
 *
 *	records    what the node's own program wants: one message of 40 bytes
 *	           each, whose tag is the receive's; its kind says what
 *	messages   of any node; kind TPORT_SHORT: the message itself
 *
 * Records have a queue of their own, which the thread always empties, so a
 * flood of messages cannot keep out the receive that one of them waits for.
 *
 * Handles name receives, from 1 on.  Handle h has
 *
 *	a status     in host memory: 32 bytes, the last word is 1 when all is
 *	             there (tport_status_at())
 *	an element   in card memory: 64 bytes, in the posted list while nothing
 *	             has matched it (tport_element_at())
 *
 * Behind the elements, card memory has one of 32 bytes for each slot of the
 * message queue (tport_early_at()), and for each node the number of the next
 * message from it (tport_number_at()).
 *
 * The status of a free handle links it to the next free one.
 */
#ifndef API_ELAN_TPORT_H
#define API_ELAN_TPORT_H

#include <stdint.h>

#include "weft/elan.h"

/* Kinds of records, and of messages. */
enum tport_kind {
	TPORT_SHORT, /* a message with its bytes */
	TPORT_RECEIVE, /* the following are records */
	TPORT_CLOSE, /* the thread ends */
};

/* The bytes of a record: with its packet's words one burst of 64.  The thread
 * loads the first four words. */
struct tport_record {
	uint64_t mask;
	uint32_t source; /* node, or ELAN_TPORT_ANY */
	uint32_t handle;
	uint64_t to, bytes;
	uint64_t spare;
};

/* A posted receive: the thread looks at four words, and at the fifth if it
 * matches. */
struct tport_posted {
	uint64_t tag, mask;
	uint32_t source, next;
	uint64_t to, bytes;
	uint64_t spare[3];
};

enum {
	TPORT_LOOK = 32, /* bytes of an element that are compared */
	TPORT_POSTED = 40, /* bytes of one that are used */
	TPORT_RECORD = 32, /* bytes of a record that are loaded */
	TPORT_TAKE = 2, /* cycles that a message's header takes */
};

/* A message that stays in its slot, because it came early or ahead of another:
 * 4 words, by slot. */
struct tport_early {
	uint64_t tag;
	uint32_t source, next; /* 1 + slot */
	uint32_t bytes;
	uint16_t number;
	uint8_t kind, spare;
	uint64_t unused;
};

/* What the thread writes at the end of a receive. */
struct tport_status {
	uint64_t tag;
	uint32_t source, bytes; /* that were sent, perhaps more than fit */
	uint32_t code; /* 0, or an error number */
	uint32_t next; /* of a free handle */
	uint64_t is_done;
};

_Static_assert(sizeof(struct tport_record) == 40, "a burst with its packet");
_Static_assert(sizeof(struct tport_posted) == 64, "a line");
_Static_assert(sizeof(struct tport_early) == 32, "half a line");
_Static_assert(sizeof(struct tport_status) == 32, "one burst");

/* The thread's registers. */
enum tport_register {
	TPORT_QUEUES, /* records, and then messages */
	TPORT_CARD, /* address of the elements, then those of early messages */
	TPORT_HOST, /* address of the statuses */
	TPORT_CYCLES, /* nic.match.cycles | nic.match.element << 32 */
	TPORT_BLOCK, /* bytes of a block copy in a cycle */
	TPORT_COUNTS, /* handles | slots << 32 */
};

static inline uint64_t tport_status_at(uint64_t host, uint32_t handle)
{
	return host + (handle - 1) * sizeof(struct tport_status);
}

static inline uint64_t tport_element_at(uint64_t card, uint32_t handle)
{
	return card + (handle - 1) * sizeof(struct tport_posted);
}

static inline uint64_t tport_early_at(
	uint64_t card, uint64_t counts, uint32_t slot)
{
	return card + (uint32_t)counts * sizeof(struct tport_posted) +
	       slot * sizeof(struct tport_early);
}

static inline uint64_t tport_number_at(
	uint64_t card, uint64_t counts, uint32_t node)
{
	return tport_early_at(card, counts, (uint32_t)(counts >> 32)) +
	       node * sizeof(uint16_t);
}

/* The matching thread's code. */
void tport_match(const uint64_t reg[ELAN_REGISTERS]);

#endif
