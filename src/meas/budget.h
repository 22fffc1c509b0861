/*
 * The time budget: where a message's time went.  Every picosecond from its
 * birth to its completion is charged to exactly one cause, so the parts sum
 * to the whole by construction.
 *
 * A packet's budget follows its head, and from the last link on its tail, so
 * that serialisation is charged once.  A message's budget is that of the
 * packet that completes it; all its packets' budgets begin at its birth.
 *
 * The book keeps these budgets, one per packet that is under way, beside the
 * packets.  Most runs have none: everything that takes a book and is called
 * on the way of a packet does nothing where the book is NULL.  No model may
 * read it: a run is the same to the last bit with and without.
 */
#ifndef MEAS_BUDGET_H
#define MEAS_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "meas/hist.h"
#include "sim/sim.h"

enum cause {
	CAUSE_SOFTWARE,
	CAUSE_DESCRIPTOR, /* fetching it */
	CAUSE_MEMORY_READ,
	CAUSE_ENGINE, /* waiting for one, or for room in its FIFO */
	CAUSE_PACKET, /* cutting it */
	CAUSE_QUEUE, /* behind others */
	CAUSE_TOKENS, /* at the head of a queue, until they were there */
	CAUSE_ARBITRATION, /* from then on */
	CAUSE_SERIALISATION,
	CAUSE_WIRE,
	CAUSE_ROUTER, /* its logic */
	CAUSE_RETRY, /* of a link */
	CAUSE_QUIESCE, /* management loads tables */
	CAUSE_TRANSLATION, /* of addresses */
	CAUSE_PEERS, /* of a collective */
	CAUSE_RECEIVER, /* full or busy */
	CAUSE_MEMORY_WRITE,
	CAUSE_COMPLETION,
	N_CAUSES,
};

extern const char *const cause_names[N_CAUSES]; /* for people */
extern const char *const cause_keys[N_CAUSES]; /* snake_case */

struct budget {
	sim_time start, at; /* charged so far: from start to at */
	sim_time spent[N_CAUSES]; /* these sum to at - start */
};

/* Charges what lies between the last charge and t.  To go back is a BUG. */
static inline void budget_until(struct budget *b, enum cause c, sim_time t)
{
	BUG_IF(t < b->at);
	b->spent[c] += t - b->at;
	b->at = t;
}

/* Whose budget: the number-th message (from 0) that a node sent. */
struct book_account {
	struct budget budget;
	uint32_t src, number;
};

/* What to keep. */
struct book_how {
	bool follows; /* one message: this node's with this number */
	uint32_t node, number;
	/*
	 * Where not NULL, told of every message that ends, by the worker of
	 * the node where it does: several may call at the same time.
	 */
	void (*on_message)(void *arg, const struct book_account *a);
	void *arg;
};

struct book;

/* Nodes count from 0, packets are named by numbers below most_packets.  Costs
 * addresses for all of these, memory only for those that are used. */
struct book *book_new(const struct book_how *how, uint32_t n_workers,
	uint32_t n_nodes, uint32_t most_packets);
void book_free(struct book *k);

/* What the book of a packet takes, bytes. */
extern const size_t book_packet_bytes;

/* --- for those who send, carry and receive --- */

/* A message that is being sent; its sender keeps it while it cuts packets. */
struct book_message {
	sim_time birth;
	uint32_t src, number; /* counted by the book */
	uint32_t n_packets;
	bool is_followed;
	bool is_networks; /* the network opens and closes it */
};

/*
 * src begins a message of so many packets, all for one node.  Only from that
 * node's worker, like everything that is done to what a node has.
 */
struct book_message book_begin(
	struct book *k, uint32_t src, uint32_t n_packets, sim_time birth);
void book_add(struct book *k, uint32_t packet, const struct book_message *m);
bool book_has(const struct book *k, uint32_t packet);
/* Up to when its time is charged. */
sim_time book_at(const struct book *k, uint32_t packet);
bool book_is_networks(const struct book *k, uint32_t packet);
void book_add_copy(
	struct book *k, uint32_t worker, uint32_t packet, uint32_t copy);
void book_charge(struct book *k, uint32_t packet, enum cause c, sim_time t);
void book_set_wait(struct book *k, uint32_t packet, enum cause c, sim_time t);
bool book_is_followed(const struct book *k, uint32_t packet);
void book_set_note(struct book *k, uint32_t packet, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What is charged to a packet that goes away, for one that takes its place. */
struct book_held {
	struct book_account account;
	struct book_trail *trail;
	uint32_t n_packets;
};

/*
 * Takes a packet out of the book: it is given back, and its message does not
 * miss it.  What was held may be thrown away, or charged to other packets from
 * there on by the same node, one after the other, each of which goes on with
 * the way so far.
 */
struct book_held book_hold(struct book *k, uint32_t worker, uint32_t packet);
void book_resume(struct book *k, uint32_t worker, uint32_t packet,
	const struct book_held *h);
void book_end(struct book *k, uint32_t worker, uint32_t packet, sim_time t);
void book_cancel(struct book *k, uint32_t worker, uint32_t packet);

static inline struct book_message book_message(
	struct book *k, uint32_t src, uint32_t n_packets, sim_time birth)
{
	if (__builtin_expect(!k, 1))
		return (struct book_message){ 0 };
	return book_begin(k, src, n_packets, birth);
}

/* A packet of the message exists: its budget begins at the message's birth,
 * with nothing charged.  Before it is injected. */
static inline void book_open(
	struct book *k, uint32_t packet, const struct book_message *m)
{
	if (__builtin_expect(k != NULL, 0))
		book_add(k, packet, m);
}

/* Charges the time since the last charge, up to t. */
static inline void book_until(
	struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	if (__builtin_expect(k != NULL, 0))
		book_charge(k, packet, c, t);
}

/* Charges up to t what it waited for until now; from t on that is c. */
static inline void book_wait(
	struct book *k, uint32_t packet, enum cause c, sim_time t)
{
	if (__builtin_expect(k != NULL, 0))
		book_set_wait(k, packet, c, t);
}

/* Where it is: said of every charge that follows, if it is followed. */
#define book_note(k, packet, ...)                                              \
	do {                                                                   \
		if (__builtin_expect((k) != NULL, 0) &&                        \
			book_is_followed((k), (packet)))                       \
			book_set_note((k), (packet), __VA_ARGS__);             \
	} while (0)

/*
 * The packet has done all that it should, all of it charged: before it is
 * given back.  The last one of its message completes it.
 */
static inline void book_close(
	struct book *k, uint32_t worker, uint32_t packet, sim_time t)
{
	if (__builtin_expect(k != NULL, 0))
		book_end(k, worker, packet, t);
}

/* The packet was refused and goes away; its message never completes. */
static inline void book_drop(struct book *k, uint32_t worker, uint32_t packet)
{
	if (__builtin_expect(k != NULL, 0))
		book_cancel(k, worker, packet);
}

/* --- for those who tell: only while nothing runs --- */

struct book_sums {
	uint64_t n; /* messages that ended */
	uint64_t spent[N_CAUSES]; /* ps */
	struct hist whole; /* times from birth to completion */
	struct book_account longest; /* of several the first */
};

/* Over all messages since the beginning or the last book_clear(). */
void book_sum(const struct book *k, struct book_sums *s);
/* What has ended is forgotten; what is under way is not. */
void book_clear(struct book *k);

struct book_step {
	sim_time from, until;
	enum cause cause;
	char *what; /* the note */
};

struct book_trail {
	struct book_step *step;
	uint32_t n, room;
	char *note; /* where the packet is */
	bool is_over; /* the packet is closed, dropped, or another's */
	bool is_done; /* and completed its message, which took: */
	sim_time whole;
	struct book_trail *next;
};

/*
 * The way of the packet that completed the followed message, of several copies
 * the one that took longest; of the one that was cut last of those under way,
 * where it is not complete; NULL where there is none.
 */
const struct book_trail *book_followed(const struct book *k);
/* Messages that a node has begun. */
uint32_t book_n_sent(const struct book *k, uint32_t node);
uint64_t book_memory(const struct book *k);

#endif
