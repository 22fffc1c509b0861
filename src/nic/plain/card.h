/*
 * Shared by the card's files: send.c cuts entries into requests; receive.c
 * executes them at the other node, and takes the answers; cards.c chooses among
 * several cards.
 *
 * A node's cards share what they know of packets: which are unanswered, and
 * which have been executed.  So a packet may be sent again by another card.
 */
#ifndef NIC_PLAIN_CARD_H
#define NIC_PLAIN_CARD_H

#include "nic/plain/plain.h"
#include "nic/util/asks.h"
#include "nic/util/window.h"

enum plain_engine {
	PLAIN_QUEUES = ENGINE_CLIENT,
	PLAIN_TURN = PLAIN_QUEUES + WORKQS_EVENTS, /* to cut a packet */
	PLAIN_READS,
	PLAIN_ASKS = PLAIN_READS + SIDE_READS_EVENTS,
	/* Up to here the events of a card, then those of a node.  The numbers
	 * of card N are N times as much higher, those of the node are behind
	 * those of all its cards. */
	PLAIN_OF_CARD = PLAIN_ASKS - ENGINE_CLIENT,
	PLAIN_WRITTEN = PLAIN_ASKS + ASKS_EVENTS, /* it is in memory */
	PLAIN_ENGINES = PLAIN_WRITTEN + 1 - ENGINE_CLIENT,
};

/* Words of a request; an answer to an atomic has the value as operand. */
enum plain_word {
	WORD_AT, /* an offset in the key's range; once known, an address */
	WORD_OPERAND,
	WORD_BOUND,
	WORD_KEY, /* and bytes << 32 */
};

enum { PLAIN_PROCESS = 0xffff << 3 }; /* of a key's flags */

/* An entry under way. */
struct plain_work {
	struct slot slot;
	uint32_t card, queue; /* the queue's own card */
	uint32_t out; /* packets without an answer */
	uint16_t flow; /* see struct ask_header */
	struct plain_entry e;
	uint64_t from, made; /* its bytes' address; those that were cut */
	uint32_t status; /* an enum plain_status */
	struct ask_account account;
};

struct plain_sending {
	struct ask_item ask;
	uint32_t work;
};

/* A card's part in a queue. */
struct plain_lane {
	struct wide_window window; /* of packets */
	uint32_t out; /* packets of these, where they are trains */
	bool is_running;
};

struct plain_queue {
	struct workq q;
	uint32_t work; /* that packets are cut from, or 0 */
	uint32_t flow; /* of its last message: nic.entropy */
	bool has_atomic;
	bool was_stopped; /* when its card failed */
	struct plain_lane lane[]; /* its own card's; or of each card */
};

struct plain_run {
	uint32_t card, queue; /* the queue's own card */
};

struct plain_card {
	struct side_reads reads;
	struct workqs queues; /* struct plain_queue */
	struct ring run; /* struct plain_run of those with something to do */
	uint32_t n_made; /* packets that have not left */
	sim_time next_turn;
	sim_time woken; /* when it last slept until now */
	bool is_turn_posted;
};

struct plain_node {
	struct asks asks; /* struct plain_sending */
	struct ranges keys;
	struct slots works;
	uint64_t status[PLAIN_STATUSES]; /* entries that ended so */
	uint32_t n_cards;
	/* a bit each: cards without a link, and those that have failed */
	uint32_t down, dead;
	struct side_reads_all reads; /* of several cards */
	struct plain_card card[];
};

_Static_assert(sizeof(struct plain_node) == offsetof(struct plain_node, card),
	"cards are behind a node's part");

struct plain {
	struct nic nic;
	struct side *side;
	struct side_reads_how reads[PLAIN_CARDS];
	struct workqs_how queues[PLAIN_CARDS];
	struct asks_how asks;
	uint32_t window, buffers; /* in packets, with room for trains */
	uint32_t seen; /* see struct seen, its span */
	uint32_t n_lanes; /* of a queue */
	uint32_t shift; /* of the numbers of a node's events */
};

static inline struct plain *plain_of(const struct nic_at *a)
{
	return (struct plain *)a->nic;
}

static inline const struct plain_params *plain_params(const struct nic_at *a)
{
	return a->nic->params;
}

static inline struct plain_node *plain_here(const struct nic_at *a)
{
	return a->node;
}

/* The card that an event or a call is of. */
static inline struct plain_card *plain_card(const struct nic_at *a)
{
	return &plain_here(a)->card[a->card];
}

static inline struct nic_at plain_at(const struct nic_at *a, uint32_t card)
{
	struct nic_at at = *a;

	at.card = card;
	return at;
}

/* Where a card is connected to memory. */
static inline site_id plain_place(const struct nic_at *a)
{
	return side_place(plain_of(a)->side, a->s, a->card);
}

/* Posts an event of a card; that a packet is in memory. */
static inline void plain_post_turn(const struct nic_at *a, sim_time t)
{
	asks_post(a, t, PLAIN_TURN + a->card * PLAIN_OF_CARD, 0);
}

static inline void plain_post_written(
	const struct nic_at *a, sim_time t, packet_id id)
{
	asks_post(a, t, PLAIN_WRITTEN + plain_of(a)->shift, id);
}

static inline uint32_t plain_bytes(const struct ask_header *h)
{
	return (uint32_t)(h->word[WORD_KEY] >> 32);
}

/*
 * Trains (link.train).  Their bytes cross the bus while they leave and while
 * they come, as those of single packets would.
 */

uint32_t plain_train_first(const struct nic_at *a, uint32_t bytes);
void plain_train_rest(
	const struct nic_at *a, uint64_t at, uint32_t first, uint32_t bytes);
void plain_train_write(
	const struct nic_at *a, uint64_t at, uint32_t bytes, uint32_t before);

/* Bytes that must be read before a train can leave: those of its first packet,
 * and more where the bus is slower than the link. */
static inline uint32_t plain_first(const struct nic_at *a, uint32_t bytes)
{
	return bytes <= a->nic->net->link.each ? bytes
					       : plain_train_first(a, bytes);
}

/* Bytes that cards ask for at once; 0: as much as a request of the bus may. */
uint32_t plain_whole(const struct side *side, const struct link_rules *r);
/* The others, which nobody waits for. */
static inline void plain_read_rest(
	const struct nic_at *a, uint64_t at, uint32_t first, uint32_t bytes)
{
	if (__builtin_expect(bytes > first, 0))
		plain_train_rest(a, at, first, bytes);
}

/* Writes what has come; returns when loads can see the last of it. */
static inline sim_time plain_write(
	const struct nic_at *a, uint64_t at, uint32_t bytes)
{
	const struct link_rules *r = &a->nic->net->link;
	uint32_t before = (link_packets(r, bytes) - 1) * r->each;
	struct side *side = plain_of(a)->side;

	if (__builtin_expect(before, 0))
		plain_train_write(a, at, bytes, before);
	return side->ops->write(
		side, plain_place(a), a->t, at + before, bytes - before);
}

/* Before anything of a node happens that is no event of its own. */
void plain_settle(const struct nic_at *a);

/* --- cards.c --- */

/* The card that stands in for one with a queue: itself, if it is up. */
uint32_t plain_leader(const struct nic_at *a);
/* Whether a card makes no packets, since others do. */
bool plain_is_resting(const struct nic_at *a);
/* Whether a card has died or, if all cards do the work of each, all have. */
bool plain_has_failed(const struct nic_at *a, uint32_t card);
/* See struct asks_how and struct net_client_faults. */
bool plain_choose(
	const struct nic_at *a, const struct ask_item *s, struct packet *p);
void plain_on_link(struct net_client *me, struct sim_worker *w, site_id s,
	port_id p, bool is_up, sim_time t);

/* --- send.c, receive.c --- */

/* A queue of a card may have got something to do. */
void plain_send_wake(const struct nic_at *a, uint32_t queue);
/* A card may have. */
void plain_send_kick(const struct nic_at *a);
void plain_send_on_turn(const struct nic_at *a);
void plain_send_left(const struct nic_at *a, uint32_t card, uint32_t bytes);
void plain_send_give_up(const struct nic_at *a, uint32_t id);
/* A request is answered: returns whose it was; then, its work is done. */
uint32_t plain_send_ended(const struct nic_at *a, uint32_t id);
void plain_send_done(
	const struct nic_at *a, uint32_t work, uint32_t status, uint64_t value);

bool plain_receive_fits(
	const struct ask_header *answer, const struct ask_header *request);
void plain_receive_asked(const struct nic_at *a, packet_id id, struct ask *x);
void plain_receive_answered(const struct nic_at *a, packet_id id, struct ask *x,
	struct ask_item *item);
void plain_receive_on_written(const struct nic_at *a, packet_id id);

#endif
