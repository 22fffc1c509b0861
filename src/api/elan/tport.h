/*
 * Tagged ports: what the library and the thread on the card agree on.
 *
 * Input queues of a port: two numbers, 2 * port and 2 * port + 1.
 *
 *	records    what the own program wants: one message of 40 bytes each,
 *	           struct tport_record, whose tag is the receive's; its kind
 *	           says what
 *	messages   of any process: the bytes themselves, or if they are
 *	           TPORT_LONG a struct tport_long, which says where they are.
 *	           In front of the bytes, or behind that struct, is what else
 *	           the kind says (struct tport_front)
 *
 * Records have a queue of their own, which the thread always empties, so a
 * flood of messages cannot keep out the receive that one of them waits for.
 *
 * Command queues of a port: the program's two, for messages and for records, so
 * that a message which cannot leave does not keep back a record; and two that
 * are mapped, for the thread's own packets and for the DMAs of long messages,
 * which the receivers' threads put there.
 *
 * Handles name receives and sends of long messages, from 1 on.  Handle h has
 *
 *	a status     in host memory: 32 bytes, the last word is 1 when all is
 *	             there (tport_status_at())
 *	a data word  in host memory
 *	an element   in card memory: 64 bytes, in the posted list while nothing
 *	             has matched it; and then its event, which sets that word
 *	             at the end of a DMA (tport_element_at())
 *
 * Messages without a receive are *kept*, each at a place: the slots of the
 * message queue come first, then cells of host memory, to which the oldest are
 * moved; then the slots of records, which may overtake each other, too.  A
 * place has 32 bytes of card memory behind the elements (tport_kept_at()).
 * Behind those is the number of the next message of each rank
 * (tport_number_at()).
 *
 * Host memory of a port: the plan, which the thread reads when it begins;
 * statuses; data words; for each rank, the number of the next message to it;
 * cells.
 *
 * The status of a free handle links it to the next free one.
 */
#ifndef API_ELAN_TPORT_H
#define API_ELAN_TPORT_H

#include <stdint.h>

#include "weft/elan.h"

/* What becomes of early messages, as nic.match.by says: of enum elan_match_by.
 */
enum tport_by { TPORT_CARD, TPORT_REJECT, TPORT_INTERRUPT };

/* Kinds of messages are bits. */
enum {
	TPORT_LONG = 1,
	TPORT_DATA = 2, /* has a data word */
	TPORT_SYNC = 4, /* its sender wants to know that it is matched */
	TPORT_SPACE = 8, /* is not of space 0 */
	/* Is of space TPORT_COMMON, and its data word is its sender's rank. */
	TPORT_USUAL = 16,
};

/*
 * A packet has four bits for the kind.  A message is never both LONG and SYNC,
 * so these codes are free for messages that are USUAL, as all are that MPI
 * sends: they need no words for it, with which an empty message would be a
 * packet with data.
 */
enum {
	TPORT_COMMON = 2,
	TPORT_CODE_USUAL = TPORT_LONG | TPORT_SYNC,
	TPORT_CODE_USUAL_LONG = TPORT_LONG | TPORT_SYNC | TPORT_DATA,
	TPORT_CODE_USUAL_SYNC = TPORT_LONG | TPORT_SYNC | TPORT_SPACE,
};

static inline uint8_t tport_code(uint32_t kind)
{
	if (!(kind & TPORT_USUAL))
		return (uint8_t)kind;
	if (kind & TPORT_LONG)
		return TPORT_CODE_USUAL_LONG;
	return kind & TPORT_SYNC ? TPORT_CODE_USUAL_SYNC : TPORT_CODE_USUAL;
}

static inline uint8_t tport_bits(uint8_t code)
{
	switch (code) {
	case TPORT_CODE_USUAL:
		return TPORT_USUAL;
	case TPORT_CODE_USUAL_LONG:
		return TPORT_USUAL | TPORT_LONG;
	case TPORT_CODE_USUAL_SYNC:
		return TPORT_USUAL | TPORT_SYNC;
	default:
		return code;
	}
}

/* Kinds of records. */
enum tport_kind {
	TPORT_PROBE_LASTS = 1, /* answered when there is a message */
	TPORT_PROBE_CLAIM_LASTS,
	TPORT_RECEIVE = 8,
	TPORT_CANCEL,
	TPORT_PROBE,
	TPORT_PROBE_CLAIM,
	TPORT_PROBE_DISCARD,
	TPORT_CLAIMED, /* a receive of what was claimed */
	TPORT_CLAIMED_DISCARD,
	TPORT_CLOSE, /* the thread ends */
};

/* The bytes of a record: with its packet's words one burst of 64. */
struct tport_record {
	uint64_t mask;
	uint32_t source; /* rank, or ELAN_TPORT_ANY */
	uint16_t handle, space;
	uint64_t to, bytes;
	uint64_t spare;
};

/* A long message: the same length. */
struct tport_long {
	uint64_t bytes, from; /* in the sender's memory */
	uint64_t page; /* where its card takes DMAs */
	uint64_t event, done; /* that its end sets; the word that this writes */
};

/* What a kind may add to a message: only these words are sent. */
struct tport_front {
	uint64_t space; /* TPORT_SPACE */
	uint64_t data; /* TPORT_DATA */
	uint64_t event, done; /* TPORT_SYNC: as of a long one */
};

static inline uint32_t tport_front_bytes(uint32_t kind)
{
	uint32_t n = kind & TPORT_SPACE ? 8 : 0;

	n += kind & TPORT_DATA ? 8 : 0;
	return n + (kind & TPORT_SYNC ? 16 : 0);
}

/* A posted receive: the thread looks at four words, and at the fifth if it
 * matches. */
struct tport_posted {
	uint64_t tag, mask;
	uint32_t source;
	uint16_t next, space;
	uint64_t to, bytes;
	uint64_t spare[3];
};

enum {
	TPORT_LOOK = 32, /* bytes of an element that are compared */
	TPORT_POSTED = 40, /* bytes of one that are used */
	TPORT_RECORD = 32, /* bytes of a record that are loaded */
	TPORT_TAKE = 2, /* cycles that a message's header takes */
	TPORT_RECORDS = 64, /* slots */
};

/* A message that came early, or a message or record ahead of another. */
struct tport_kept {
	uint64_t tag;
	uint32_t source, next; /* 1 + place */
	uint16_t bytes; /* at its place */
	uint16_t space;
	uint16_t number;
	uint8_t kind, spare;
	uint64_t length; /* of what was sent */
};

/* Of a message that was sent back: its beginning, with all that is not for the
 * receiver's memory, and its number. */
struct tport_name {
	uint8_t head[sizeof(struct tport_long) + sizeof(struct tport_front)];
	uint64_t number;
	uint64_t spare[6];
};

/* What the thread writes at the end of a receive; before, what it waits for. */
struct tport_status {
	uint64_t tag;
	uint64_t bytes; /* that were sent, perhaps more than fit; the next
			 * free handle */
	uint32_t source;
	uint32_t code; /* 0, or an error number; and bits */
	uint64_t is_done;
};

/* Of a code. */
enum {
	TPORT_CODE = 0xff,
	TPORT_HAS_DATA = 1 << 8,
	TPORT_IS_CLAIMED = 1 << 9,
	TPORT_HAS_RANK = 1 << 10, /* as a data word */
	TPORT_SPACE_SHIFT = 16, /* the message's space */
};

_Static_assert(sizeof(struct tport_record) == 40, "a burst with its packet");
_Static_assert(sizeof(struct tport_long) == 40, "a burst with its packet");
_Static_assert(sizeof(struct tport_posted) == 64, "a line");
_Static_assert(sizeof(struct tport_kept) == 32, "half a line");
_Static_assert(sizeof(struct tport_name) == 128, "two lines");
_Static_assert(sizeof(struct tport_status) == 32, "one burst");

/* What the thread knows of its port. */
struct tport_plan {
	uint32_t queues; /* records, and then messages */
	uint32_t rank; /* its own */
	uint64_t card; /* address of the elements, and what follows them */
	uint64_t statuses, cells; /* in host memory */
	uint32_t handles, slots, n_cells;
	uint32_t cell; /* bytes of each */
	uint64_t page; /* to which it appends commands */
	uint32_t cycles, element; /* nic.match.* */
	uint32_t block; /* bytes of a block copy in a cycle */
	uint32_t by; /* an enum tport_by */
	uint64_t datas; /* in host memory */
	uint32_t n_ranks;
	uint32_t spare;
	uint64_t unused[5];
};

_Static_assert(sizeof(struct tport_plan) == ELAN_BLOCK, "one read");

static inline uint64_t tport_status_at(
	const struct tport_plan *p, uint32_t handle)
{
	return p->statuses + (handle - 1) * sizeof(struct tport_status);
}

static inline uint64_t tport_done_at(
	const struct tport_plan *p, uint32_t handle)
{
	return tport_status_at(p, handle) +
	       offsetof(struct tport_status, is_done);
}

static inline uint64_t tport_data_at(
	const struct tport_plan *p, uint32_t handle)
{
	return p->datas + (handle - 1) * sizeof(uint64_t);
}

static inline uint64_t tport_element_at(
	const struct tport_plan *p, uint32_t handle)
{
	return p->card + (handle - 1) * sizeof(struct tport_posted);
}

static inline uint64_t tport_kept_at(const struct tport_plan *p, uint32_t place)
{
	return tport_element_at(p, p->handles + 1) +
	       place * sizeof(struct tport_kept);
}

static inline uint64_t tport_number_at(
	const struct tport_plan *p, uint32_t rank)
{
	return tport_kept_at(p, p->slots + p->n_cells + TPORT_RECORDS) +
	       rank * sizeof(uint16_t);
}

/* Behind the numbers, if there are names: at the places of cells. */
static inline uint64_t tport_name_at(
	const struct tport_plan *p, uint32_t n_ranks, uint32_t place)
{
	return (tport_number_at(p, n_ranks) + 63) / 64 * 64 +
	       (uint64_t)(place - p->slots) * sizeof(struct tport_name);
}

/* The matching thread's code; its first register is the plan's address. */
void tport_match(const uint64_t reg[ELAN_REGISTERS]);

#endif
