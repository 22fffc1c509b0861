/*
 * The time budget: where a message's time went.  Every picosecond from its
 * birth to its completion is charged to exactly one cause, so the parts sum
 * to the whole by construction.
 *
 * A packet's budget follows its head, and from the last link on its tail, so
 * that serialisation is charged once.  A message's budget is that of the
 * packet that completes it; all its packets' budgets begin at its birth.
 *
 * The book keeps these budgets, one per packet in flight.  Most runs have no
 * book: functions that are called on the way of a packet do nothing if the book
 * is NULL.  No model may read it: a run is the same to the last bit with and
 * without.
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
	CAUSE_COPY, /* between memories of a node, before or behind */
	CAUSE_DESCRIPTOR, /* fetching it */
	CAUSE_CARD, /* behind other messages in the interface */
	CAUSE_MEMORY_READ,
	CAUSE_ENGINE, /* waiting for one */
	CAUSE_PACKET, /* cutting it */
	CAUSE_QUEUE, /* behind others, in a FIFO of the network */
	CAUSE_TOKENS, /* at the head of a queue, until they were there */
	CAUSE_LINK, /* then, until no other packet was on the link */
	CAUSE_ARBITRATION, /* from then on */
	CAUSE_SERIALISATION,
	CAUSE_WIRE,
	CAUSE_ROUTER, /* its logic */
	CAUSE_RETRY, /* of a link */
	CAUSE_QUIESCE, /* management loads tables */
	CAUSE_TRANSLATION, /* of addresses */
	CAUSE_PEERS, /* of a collective */
	CAUSE_RECEIVER, /* busy, and so perhaps full */
	CAUSE_INPUT, /* the receiving interface's own work */
	CAUSE_MEMORY_WRITE,
	CAUSE_COMPLETION,
	CAUSE_DOMAIN, /* ports and switch of the node's fast domain */
	N_CAUSES,
};

extern const struct cause_name {
	const char *key; /* snake_case */
	const char *name; /* for people */
} causes[N_CAUSES];

struct budget {
	sim_time start, at; /* charged so far: from start to at */
	sim_time spent[N_CAUSES]; /* these sum to at - start */
};

/* Charges the time from the last charge to t.  An earlier t is a BUG. */
static inline void budget_until(struct budget *b, enum cause c, sim_time t)
{
	BUG_IF(t < b->at);
	b->spent[c] += t - b->at;
	b->at = t;
}

enum book_kind {
	BOOK_PACKET, /* of whatever it is made */
	BOOK_PUT,
	BOOK_GET,
	BOOK_ATOMIC,
	BOOK_SEND, /* into a queue of the receiver's */
	BOOK_BARRIER, /* by the network */
	N_BOOK_KINDS,
};

/* Messages are classified by kind and by their number of packets. */
enum { BOOK_SIZES = 4, BOOK_CLASSES = N_BOOK_KINDS * BOOK_SIZES };

/* "put, 2 to 16 packets" */
void book_class_name(uint32_t class, char *text, size_t size);

/* Whose budget: the number-th message (from 0) that a node sent. */
struct book_account {
	struct budget budget;
	uint32_t src, number;
	uint32_t dst; /* where it was last */
	uint32_t n_packets;
	uint8_t kind; /* an enum book_kind */
};

uint32_t book_class(const struct book_account *a);

enum {
	BOOK_LOCAL = 15, /* as an input: the node itself */
	BOOK_HEADER = 12, /* bytes of a header that are kept */
	BOOK_NO_PORT = 255,
	BOOK_NO_CHANNEL = 255,
	BOOK_NO_NUMBER = UINT16_MAX,
};

/* Where a packet is. */
struct book_place {
	const char *what; /* "in by", "card": lives for ever */
	uint32_t site;
	uint16_t number; /* of several such things, or BOOK_NO_NUMBER */
	uint8_t port, channel; /* or BOOK_NO_PORT, BOOK_NO_CHANNEL */
	/* Where several inputs meet, their bits; then port is the last one. */
	uint16_t inputs;
};

/* What to keep. */
struct book_how {
	bool follows; /* one message: this node's with this number */
	uint32_t node, number;
	uint32_t n_slowest; /* messages whose ways are kept */
	/*
	 * If not NULL, called for every completed message, by the worker of the
	 * node that completes it: several workers may call at the same time.
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

/* Memory of the book per packet, bytes. */
extern const size_t book_packet_bytes;

/* --- for senders, routers and receivers --- */

/* A message that is being sent; its sender keeps it while it cuts packets. */
struct book_message {
	sim_time birth;
	uint32_t src, number; /* counted by the book */
	uint32_t n_packets;
	uint8_t kind; /* an enum book_kind */
	bool is_followed;
	bool is_networks; /* the network opens and closes it */
};

/*
 * src begins a message of a number of packets, all for one node.  Only from
 * that node's worker, like all changes of a node's state.
 */
struct book_message book_begin(struct book *k, uint32_t src,
	enum book_kind kind, uint32_t n_packets, sim_time birth);
void book_add(struct book *k, uint32_t packet, const struct book_message *m);
bool book_has(const struct book *k, uint32_t packet);
/* Up to when its time is charged. */
sim_time book_at(const struct book *k, uint32_t packet);
bool book_is_networks(const struct book *k, uint32_t packet);
void book_add_copy(
	struct book *k, uint32_t worker, uint32_t packet, uint32_t copy);
void book_charge(struct book *k, uint32_t packet, enum cause c, sim_time t);
void book_set_wait(struct book *k, uint32_t packet, enum cause c, sim_time t);
void book_set_turn(struct book *k, uint32_t packet, sim_time free, sim_time t);
void book_set_place(
	struct book *k, uint32_t packet, const struct book_place *at);
/*
 * A head takes a link at t.  It waited for tokens until they came, then until
 * the link was free, then for its turn.
 */
void book_set_link(struct book *k, uint32_t packet, sim_time came,
	sim_time free, sim_time t);
/* It arrives somewhere at t, and waits for c from then on. */
void book_set_arrival(struct book *k, uint32_t packet,
	const struct book_place *at, enum cause c, sim_time t);
/*
 * It leaves by a link: it is in a router's logic until one time, and on the
 * wire until another.  Returns what was charged to tokens since it last left.
 */
sim_time book_set_wire(struct book *k, uint32_t packet,
	const struct book_place *at, sim_time logic, sim_time wire);
/* Whether its way is kept, and what its header is from now on until it is
 * somewhere else. */
bool book_is_followed(const struct book *k, uint32_t packet);
void book_set_header(
	struct book *k, uint32_t packet, const uint8_t header[BOOK_HEADER]);
/* Takes a packet out of the book: it is given back, and its message does not
 * miss it. */
void book_forget(struct book *k, uint32_t packet);

/* What is charged to a packet that goes away, for one that takes its place. */
struct book_held {
	struct book_account account;
	struct book_trail *trail, *way;
	uint32_t n_packets;
};

/*
 * As book_forget(); but what was charged may be charged to other packets from
 * there on by the same node, one after the other, each of which goes on with
 * the way so far.
 */
struct book_held book_hold(struct book *k, uint32_t worker, uint32_t packet);
void book_resume(struct book *k, uint32_t worker, uint32_t packet,
	const struct book_held *h);
/* Both at once, where only one packet does. */
void book_replace(
	struct book *k, uint32_t worker, uint32_t packet, uint32_t by);
void book_end(struct book *k, uint32_t worker, uint32_t packet, sim_time t);

/* Of several processes, whose books are one: reports are of all. */
void book_share(struct book *k, struct sim *sim);
/* What is charged to a packet, where it is in the book, goes with it to another
 * process: as bytes, and from these.  Returns what is behind them. */
void book_pack(struct book *k, uint32_t packet, struct cluster_bytes *to);
const char *book_unpack(
	struct book *k, uint32_t worker, uint32_t packet, const char *from);
void book_cancel(struct book *k, uint32_t worker, uint32_t packet);

static inline struct book_message book_message(struct book *k, uint32_t src,
	enum book_kind kind, uint32_t n_packets, sim_time birth)
{
	if (__builtin_expect(!k, 1))
		return (struct book_message){ 0 };
	return book_begin(k, src, kind, n_packets, birth);
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

/*
 * It takes a link at t that was free from some time on.  What it waited for
 * until then is charged; where that was its turn, or the link itself, the link
 * was busy until it was free.
 */
static inline void book_turn(
	struct book *k, uint32_t packet, sim_time free, sim_time t)
{
	if (__builtin_expect(k != NULL, 0))
		book_set_turn(k, packet, free, t);
}

/* Where it is from now on: one of several such parts of a site. */
static inline void book_at_one(struct book *k, uint32_t packet, uint32_t site,
	const char *what, uint32_t number)
{
	if (__builtin_expect(k != NULL, 0))
		book_set_place(k, packet,
			&(struct book_place){ what, site, (uint16_t)number,
				BOOK_NO_PORT, BOOK_NO_CHANNEL, 0 });
}

/* At a port and a channel of a site; BOOK_NO_PORT, BOOK_NO_CHANNEL: of none. */
static inline void book_at_port(struct book *k, uint32_t packet, uint32_t site,
	const char *what, uint32_t port, uint32_t channel)
{
	if (__builtin_expect(k != NULL, 0))
		book_set_place(k, packet,
			&(struct book_place){ what, site, BOOK_NO_NUMBER,
				(uint8_t)port, (uint8_t)channel, 0 });
}

static inline void book_at_part(
	struct book *k, uint32_t packet, uint32_t site, const char *what)
{
	book_at_one(k, packet, site, what, BOOK_NO_NUMBER);
}

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

/* A message that has no packets has ended: all its time until t has one cause,
 * and it was at one place. */
void book_whole(struct book *k, uint32_t worker, const struct book_message *m,
	const struct book_place *at, enum cause c, sim_time t);

/* The packet was refused and goes away; its message never completes. */
static inline void book_drop(struct book *k, uint32_t worker, uint32_t packet)
{
	if (__builtin_expect(k != NULL, 0))
		book_cancel(k, worker, packet);
}

/* --- for reports: only while nothing runs --- */

struct book_sums {
	uint64_t n; /* messages that ended */
	uint64_t spent[N_CAUSES]; /* ps */
	struct hist whole; /* times from birth to completion */
	struct book_account longest; /* of several the first */
	struct book_class {
		uint64_t n;
		uint64_t spent[N_CAUSES];
	} class[BOOK_CLASSES];
};

/* Over all messages since the beginning or the last book_clear(). */
void book_sum(const struct book *k, struct book_sums *s);
/* Forgets completed messages, but none in flight. */
void book_clear(struct book *k);

struct book_step {
	sim_time until;
	struct book_place at;
	enum cause cause;
	/* Of what was on a link, where the network's client knows it; 0: of
	 * nothing. */
	uint8_t header[BOOK_HEADER];
};

/* The way of a packet: steps, each of which begins where the last one ends. */
struct book_way {
	sim_time start;
	struct book_step *step;
	uint32_t n, room;
};

struct book_trail {
	struct book_way way;
	bool is_over; /* the packet is closed, dropped, or another's */
	bool is_done; /* and completed its message, which took: */
	sim_time whole;
	uint32_t dst;
	/* Of the followed message's packets, from 1 on in the order in which
	 * they were cut; 0: it has taken another's place. */
	uint32_t number;
	struct book_trail *next;
};

static inline sim_time book_step_from(const struct book_way *w, uint32_t i)
{
	return i ? w->step[i - 1].until : w->start;
}

/* A message that took long, and the way of the packet that completed it. */
struct book_slow {
	struct book_account account;
	struct book_way way;
};

/* The slowest first, at most book_how.n_slowest of them; to be freed, but not
 * what they point to. */
struct book_slow *book_slowest(const struct book *k, uint32_t *n);

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
