/*
 * Requests and their answers, which are packets.  The sender keeps a copy of a
 * request and retransmits it until it is answered; the receiver executes no
 * request twice.  Frames have a CRC.  The owner defines the content of requests
 * and answers, and executes them.
 *
 * Some routings put requests and answers into the same queues.  So a request
 * frees its place in the reception FIFO when it has been executed, and its
 * answer waits in the interface: reception never waits for a packet that may be
 * queued after the one to be received.  Owners always accept answers.
 *
 * With asks_how.holds a request keeps its place until its answer has left,
 * which is safe only if requests and answers have separate channels.
 */
#ifndef NIC_UTIL_ASKS_H
#define NIC_UTIL_ASKS_H

#include "nic/util/flips.h"
#include "nic/util/outbox.h"
#include "nic/util/resend.h"
#include "nic/util/seen.h"
#include "nic/util/workq.h"

enum { ASKS_LINES = 2 };

/* Sent with a packet's data; the CRC covers both. */
struct ask_header {
	uint64_t word[4]; /* the owner's */
	/* of a channel at most half as many are unanswered as asks.seen
	 * remembers */
	uint32_t channel, number;
	uint32_t id; /* of the sender's item */
	uint32_t bytes; /* of data */
	uint8_t op, status; /* the owner's; status 0: executed */
	uint8_t is_answer;
	uint8_t way; /* route of a retransmitted request; or 0 */
	/* packet.tag, for routings that spread packets by a hash; 0 where nodes
	 * have several cards, whose numbers are there */
	uint16_t flow;
	uint16_t unused_too;
};

/* A packet's place in a reception FIFO. */
struct ask_hold {
	uint32_t fifo, chunks;
};

/* Behind a packet's load.  All that most packets need is in two cache lines. */
struct ask {
	struct ask_header h;
	struct ask_hold hold;
	bool is_first; /* try */
	bool is_again; /* executed before */
	bool is_named; /* there is a name in place of data: see asks_read() */
	uint8_t card; /* its sender's, that made it */
	struct memory_name name;
	struct flips flips;
	uint8_t data[];
};

/* Its time so far, for a book of time budgets. */
struct ask_account {
	struct book_message message;
	struct workq_birth birth; /* of its descriptor */
	sim_time turn, taken; /* its turn came; the engine had begun */
};

/* An unanswered request; the owner's item begins with it. */
struct ask_item {
	struct resend_item item;
	struct ask *copy;
	bool is_ready; /* to leave */
	/* if nodes have several: the card that makes it, and the card that it
	 * is for */
	uint8_t card, to_card;
	struct ask_account account;
	sim_time cut, read, left;
	uint16_t others; /* see link_others() */
	uint8_t line; /* of asks.number */
};

/* One for all nodes. */
struct asks_how {
	struct resend_how resend; /* give_up is the owner's */
	struct net_fifos user, high; /* for requests, and answers */
	uint32_t input; /* number of the event of an arrival */
	sim_time latency; /* from the tail to that event */
	uint8_t kind; /* of requests, an enum packet_kind */
	uint8_t answers; /* the same of answers, set by asks_set_up() */
	uint8_t kept; /* an op that may be executed twice, or none */
	bool holds; /* requests keep their places until answers have left */
	/* If nodes have several cards: a card's requests and answers share the
	 * FIFO of its port. */
	bool has_cards;

	/* Sets the cards of a request that is to leave, now; false: there is
	 * none to leave by.  NULL: those that it was made for. */
	bool (*choose)(const struct nic_at *a, const struct ask_item *s,
		struct packet *p);
	/* A request has left for the first time, with so many bytes, of a
	 * card. */
	void (*left)(const struct nic_at *a, uint32_t card, uint32_t bytes);
	/* A request has arrived: asks_answer() follows, now or later; if
	 * is_again, nothing else. */
	void (*asked)(const struct nic_at *a, packet_id id, struct ask *x);
	/* Whether an answer can belong to a request; bits flipped unseen may
	 * have changed either. */
	bool (*fits)(const struct ask_header *answer,
		const struct ask_header *request);
	/* An answer has arrived: asks_answered(), then asks_finish(). */
	void (*answered)(const struct nic_at *a, packet_id id, struct ask *x,
		struct ask_item *item);
};

enum { ASKS_EVENTS = RESEND_EVENTS + 1 };

/* An owner's node begins with it. */
struct asks {
	const struct asks_how *how;
	struct ticks ticks;
	struct resend resend; /* struct ask_item and what follows */
	struct slot_list leaving; /* of these, in order */
	bool is_leaving; /* one may be complete: see asks_leave() */
	struct outbox out;
	struct seen seen;
	uint32_t inside; /* packets that have come */
	/* Of packets, by line: routings that take ways in turn go by it. */
	uint32_t number[ASKS_LINES];
	uint64_t packets, answers, resent, timeouts, torn, escapes;
};

/* After kind: sets answers, everything for retransmission except give_up, and
 * the numbers of events:
 * ASKS_EVENTS from first on; the owner has stride of them, from ENGINE_CLIENT
 * on. */
void asks_set_up(struct asks_how *how, const struct resend_params *p,
	const struct net *net, uint32_t first, uint32_t stride);
void asks_init(struct asks *x, const struct asks_how *how, size_t item_size);
void asks_fini(struct asks *x);
extern const struct nic_member_ops asks_member;
/* For nic_ops.load_bytes(). */
size_t asks_load_bytes(const struct packet *p);
/* An error if links have no payload, or one that is too long for flips; else
 * sets the size of a load. */
int asks_check(struct nic *nic, struct err *e);
bool asks_is_idle(const struct asks *x);
bool asks_is_stale(const void *node, uint32_t number, uint32_t data);

static inline struct ask *ask_of(const struct nic_at *a, packet_id id)
{
	return payload_of_load(a->nic->net->packets[id].load);
}

static inline struct asks *asks_of(const struct nic_at *a)
{
	return a->node;
}

static inline void *asks_item(const struct nic_at *a, uint32_t id)
{
	return slots_at(&asks_of(a)->resend.items, id);
}

/* An event's number without the multiples of the stride. */
static inline uint32_t asks_number(const struct asks *x, uint32_t number)
{
	uint32_t n = number - ENGINE_CLIENT, stride = x->how->resend.stride;

	return __builtin_expect(n < stride, 1) ? number
					       : ENGINE_CLIENT + n % stride;
}

/* Posts an event, later than now. */
static inline void asks_post(
	const struct nic_at *a, sim_time t, uint32_t number, uint32_t data)
{
	ticks_post(
		a, &asks_of(a)->ticks, t > a->t ? t : a->t + 1, number, data);
}

/* A new request from a card to that of the same number; its copy's header is
 * all zero but for channel and number, and what the owner's item has behind it
 * is arbitrary. */
uint32_t asks_new(
	const struct nic_at *a, site_id dst, uint32_t channel, uint32_t number);
/* It is complete: requests leave in the order in which they were made. */
void asks_ready(const struct nic_at *a, uint32_t id);
/* After each event of the node with which requests became complete
 * (is_leaving): they leave, by events of this instant unless nothing else
 * happens in it (asks_is_last()). */
void asks_leave(const struct nic_at *a, bool is_last);
static inline bool asks_is_last(const struct nic_at *a)
{
	return sim_is_next(a->w, a->s, a->t);
}
/* It is answered, or given up: frees its copy. */
void asks_answered(const struct nic_at *a, uint32_t id);

/* Reads data from the node's memory, or writes the h.bytes that have come to
 * it; false if that may not be.  Synthetic bytes travel by name; where real
 * ones are read, the request may get another buffer. */
bool asks_read(
	const struct nic_at *a, struct ask **x, uint64_t at, uint32_t bytes);
bool asks_write(const struct nic_at *a, struct ask *x, uint64_t at);

/* A request has been executed, or refused as its status says; others: see
 * link_others(). */
void asks_answer(const struct nic_at *a, packet_id id, uint16_t others);
/* Frees a packet and its place; is_done: its message is complete. */
void asks_finish(const struct nic_at *a, packet_id id, bool is_done);

/* For the network's client. */
void asks_on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail);
void asks_on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t);
void asks_on_hurt(struct net_client *me, struct sim_worker *w, packet_id id,
	const struct net_flip *flip);
/* Handles an event of these numbers; false: it has another one. */
bool asks_on_event(const struct nic_at *a, uint32_t number, uint32_t data);

#endif
