/* Command queues: see queue.c. */
#ifndef NIC_ELAN4_QUEUE_H
#define NIC_ELAN4_QUEUE_H

#include "base/list.h"
#include "base/ring.h"
#include "base/slots.h"
#include "nic/elan4/elan.h"
#include "nic/util/window.h"

enum {
	ELAN_WINDOW_WORDS = ELAN_WINDOW / 8,
	ELAN_ENDS = 16, /* packets of a queue under way, at most */
	ELAN_GROUP = 128, /* queues whose table is made together */
};

#define ELAN_NO_QUEUE 0xffffu

struct elan_queue {
	struct list_link link; /* in the run queue, or of those blocked */
	uint8_t *ring; /* of depth bytes: the backing store */
	uint32_t depth;
	uint8_t rights;
	uint8_t error; /* an enum elan_error */
	uint8_t outstanding; /* packets not yet acknowledged */
	bool is_queued; /* in the run queue */
	bool is_guarded; /* waits for acknowledgements */
	uint8_t guard; /* an enum elan_guard: what follows then */
	bool was_denied; /* a packet since the last guard */
	bool skips; /* the next command */
	bool is_half; /* a time-out is on its way */
	bool is_blocked; /* waits until a thread can be started */
	uint16_t context;
	uint16_t id;
	/* positions: bytes since it was opened */
	uint64_t announced; /* stored without a gap, arrived or not */
	uint64_t arrived;
	uint64_t taken; /* decoded */
	uint64_t freed; /* may be written over */
	uint64_t ahead[ELAN_WINDOW_WORDS / 64]; /* words behind announced */
	struct ring arrivals; /* of stores that are on their way */
	uint64_t half_at; /* position of the packet that is half built */
	sim_time half_since; /* its beginning was there */
	sim_time word_at; /* the last store came */
	uint32_t dmas; /* of it that wait or run */
	uint32_t gets; /* that are not answered */
	uint32_t answered; /* gets whose answer is being executed */
	uint32_t name; /* of its channel: receivers know it by that */
	struct ring births; /* struct elan_birth, where there is a book */
	struct window channel;
	uint64_t ends[ELAN_ENDS]; /* positions behind its packets */
	uint32_t claimed; /* bytes of its room, by threads */
	uint32_t wanted; /* threads that wait for its room */
	uint64_t mapped; /* an address that units append at, or 0 */
	struct slot_list copies; /* of events, that wait for room */
};

/* Parts of a command's word. */
static inline uint32_t elan_low(uint64_t word)
{
	return (uint32_t)(word >> 16) & 0xffff;
}

static inline uint32_t elan_high(uint64_t word)
{
	return (uint32_t)(word >> 32);
}

/* What a queue says to units above it. */
struct elan_queue_calls {
	/* One has work: there is something for the command processor. */
	void (*on_work)(const struct nic_at *a);
	/* One has more room, or is stopped. */
	void (*on_room)(const struct nic_at *a, uint32_t queue);
	/* One begins anew: nobody waits for what it has asked for. */
	void (*on_restart)(struct elan_node *n, uint32_t queue);
};

struct elan_queues {
	const struct elan_queue_calls *calls;
	/* by groups; NULL until opened */
	struct elan_queue **group[ELAN_QUEUES / ELAN_GROUP];
	struct list run, blocked;
	uint32_t opened; /* ever */
	uint16_t *maps; /* queues that are mapped */
	uint32_t n_maps;
};

extern const struct nic_member_ops elan_queues_member;

/* NULL: not open, or no such queue. */
struct elan_queue *elan_queue(const struct elan_node *n, uint32_t id);

void elan_queue_on_store(const struct nic_at *a, uint32_t queue);
void elan_queue_stop(
	const struct nic_at *a, uint32_t queue, enum elan_error why);
/*
 * The queue that a context's addresses [at, at + bytes) are mapped to, or
 * ELAN_NO_QUEUE: whole words of one page.
 */
uint32_t elan_queue_mapped(const struct elan_node *n, uint32_t context,
	uint64_t at, uint64_t bytes);
/*
 * Whether so many bytes could be appended, or would be dropped.  Behind copies
 * of events that wait there is no room.
 */
bool elan_queue_takes(
	const struct elan_node *n, uint32_t queue, uint32_t bytes);
/*
 * Appends words, which are in the card at t, now or later: for all units of
 * the card, which ask elan_queue_takes() first.  A queue that has stopped
 * drops them.
 */
void elan_queue_append(const struct nic_at *a, uint32_t queue,
	const uint8_t *words, uint32_t bytes, sim_time t);
/* When a position's bytes were or will be in; SIM_NEVER: not announced. */
sim_time elan_queue_arrival(const struct elan_queue *q, uint64_t position);
uint64_t elan_queue_word(const struct elan_queue *q, uint64_t position);
/* What lies before a position may be written over; calls on_room(). */
void elan_queue_freed(const struct nic_at *a, uint32_t queue, uint64_t until);

/* Has work, perhaps: gets a turn. */
void elan_queue_wake(const struct nic_at *a, uint32_t queue);
/* The one whose turn it is, taken out of the run queue, or NULL. */
struct elan_queue *elan_queue_next(struct elan_node *n);
/* Gets no turn until all that are blocked are woken, in their order. */
void elan_queue_block(struct elan_node *n, uint32_t queue);
void elan_queue_unblock_all(const struct nic_at *a);

/* A packet of it is acknowledged. */
void elan_queue_acked(
	const struct nic_at *a, uint32_t queue, uint32_t sequence);

#endif
