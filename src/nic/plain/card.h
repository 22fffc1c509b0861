/* Shared by the card's files: send.c cuts entries into requests; receive.c
 * executes them at the other node, and takes the answers. */
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
	uint32_t queue, out; /* packets without an answer */
	struct plain_entry e;
	uint64_t from, made; /* its bytes' address; those that were cut */
	uint32_t status; /* an enum plain_status */
	struct ask_account account;
};

struct plain_sending {
	struct ask_item ask;
	uint32_t work;
};

struct plain_queue {
	struct workq q;
	struct window window; /* of packets */
	uint32_t out; /* packets of these, where they are trains */
	uint32_t work; /* that packets are cut from, or 0 */
	bool is_running, has_atomic;
};

struct plain_node {
	struct asks asks; /* struct plain_sending */
	struct ranges keys;
	struct side_reads reads;
	struct workqs queues; /* struct plain_queue */
	struct ring run; /* numbers of those with something to do */
	struct slots works;
	uint32_t n_made; /* packets that have not left */
	sim_time next_turn;
	sim_time woken; /* when it last slept until now */
	bool is_turn_posted;
	uint64_t status[PLAIN_STATUSES]; /* entries that ended so */
};

struct plain {
	struct nic nic;
	struct side *side;
	struct side_reads_how reads;
	struct workqs_how queues;
	struct asks_how asks;
	uint32_t window, buffers; /* in packets, with room for trains */
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

static inline uint32_t plain_bytes(const struct ask_header *h)
{
	return (uint32_t)(h->word[WORD_KEY] >> 32);
}

/*
 * Trains (link.train).  Their bytes cross the bus while they leave and while
 * they come, as those of single packets would.
 */

/* Bytes that must be read before a train can leave: those of its first packet,
 * and more where the bus is slower than the link. */
uint32_t plain_first(const struct nic_at *a, uint32_t bytes);
/* The others, which nobody waits for. */
void plain_read_rest(
	const struct nic_at *a, uint64_t at, uint32_t first, uint32_t bytes);
/* Writes what has come; returns when loads can see the last of it. */
sim_time plain_write(const struct nic_at *a, uint64_t at, uint32_t bytes);

/* A queue may have got something to do. */
void plain_send_wake(const struct nic_at *a, uint32_t queue);
void plain_send_on_turn(const struct nic_at *a);
void plain_send_left(const struct nic_at *a, uint32_t bytes);
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
