/* Input queues, and notes of their messages: see iqueue.c. */
#ifndef NIC_ELAN4_SLOT_H
#define NIC_ELAN4_SLOT_H

#include "base/slots.h"
#include "meas/budget.h"

enum { ELAN_SLOT_HEADER = 32 }; /* bytes, before a message's own */

enum elan_slot_state {
	ELAN_SLOT_FREE,
	ELAN_SLOT_COMING, /* for a message of which a packet has come */
	ELAN_SLOT_WHOLE, /* on its way to the end of the queue */
	ELAN_SLOT_WAITING,
	ELAN_SLOT_TAKEN, /* by a thread */
};

struct elan_slot {
	uint16_t next; /* 1 + slot, in the queue or of free ones */
	uint16_t left; /* bytes that have not come */
	uint16_t number;
	uint8_t state; /* an enum elan_slot_state */
	bool is_out; /* a thread has asked for the bus */
	uint32_t source, channel; /* a rank, its command queue */
	uint32_t note; /* for the book, or 0 */
	uint8_t asks; /* an enum elan_asks */
	void *header; /* where it is; NULL: not yet known */
	sim_time asked; /* its command was in the sender's card */
	sim_time last; /* its last packet came */
};

/* For the answer to a message that asks. */
struct elan_asked {
	uint32_t src, sequence, sending;
	uint32_t number; /* of a broadcast */
	uint8_t cast, route;
};

struct elan_iq {
	uint64_t at; /* in card memory */
	void *descriptor; /* where it is */
	uint32_t bytes, stride; /* of a slot: for data, in all */
	uint32_t n_slots, used;
	uint32_t coming; /* messages that are not complete */
	uint32_t context, event;
	bool blocks; /* command queues, because it is full */
	uint16_t id, place; /* among all */
	uint16_t front, back, free; /* 1 + slot */
	struct elan_asked *asked; /* by slot; NULL: its messages do not ask */
	struct elan_slot slot[];
};

/* A message's time from its slot to memory, if there is a book. */
struct elan_note {
	struct slot slot;
	struct book_held held;
	uint32_t place; /* its slot */
	uint32_t looked; /* at elements of a list, for it */
	sim_time shown; /* in the queue */
	sim_time parked; /* a thread had looked at it in vain */
	sim_time taken; /* what the thread works on now came to it */
	sim_time asked; /* the bus for the first time */
	/* its thread waited for pages: until it was parked, then until the bus
	 * was asked for, and since then */
	sim_time parked_late, asked_late, late;
};

struct elan_iqs {
	struct elan_iq **queue; /* NULL: closed */
	uint32_t n;
	struct slots notes; /* struct elan_note */
};

#endif
