/*
 * Link-level retry: a sender keeps packets in a replay buffer until the
 * receiver has acknowledged them; without acknowledgement it retransmits the
 * packet and all that followed.  Go back N: the receiver accepts packets in the
 * order of their sequence numbers and drops all others, so it keeps the order
 * and accepts no packet twice; acknowledgements are cumulative.
 *
 * This needs no events.  Damage to a packet is known when it is granted
 * (faults.h), and so is the time at which its good copy leaves: the protocol is
 * computed with time stamps.
 *
 *	grant        hit                 time-out, or nack
 *	  |---k---|---k+1---|--k+2--|  |---k---|---k+1---|---k+2---|---k+3---
 *	                    dropped   back                         clear
 *
 * From a damaged packet on, the receiver drops everything until the sender goes
 * back; packets granted meanwhile queue behind the others.  A sender starts no
 * packet that would not end before it has to go back, and it is busy while
 * unacknowledged packets fill its buffer.  If an acknowledgement is lost and no
 * later one replaces it, the sender goes back, too, and the receiver recognises
 * the copies by their numbers: these echoes only cost time on the link.
 */
#ifndef LINK_RETRY_H
#define LINK_RETRY_H

#include <stdbool.h>

#include "base/param.h"
#include "link/checks.h"
#include "sim/sim.h"

enum { RETRY_NONE, RETRY_REPLAY };
enum { RETRY_CHUNKS, RETRY_PACKETS };
enum { RETRY_BY_TIMEOUT, RETRY_BY_NACK };

/* The parameters link.retry.*. */
struct retry_params {
	int64_t kind;
	int64_t window, unit; /* capacity of the replay buffer */
	int64_t numbers; /* bits of a sequence number */
	int64_t by; /* the trigger of a retransmission */
	int64_t timeout; /* round trips of the wire, from a packet's tail on */
	int64_t tries; /* in a row, before a link is reported */
};

/* The kind of retry; and the parameters of links that replay. */
extern const struct param retry_kind_table[], retry_params_table[];

/* A packet with a cost of full chunks must fit the window. */
int retry_check(const struct retry_params *p, uint32_t full, struct err *e);

/* A granted packet. */
struct retry_packet {
	sim_time t, ser, gap, latency;
	uint32_t chunks;
	uint32_t bytes, channel; /* for retry_unsent() */
};

enum retry_fate {
	RETRY_PASSES,
	RETRY_FAILS,
	RETRY_IS_CUT, /* by a link that returns */
	RETRY_IS_DEAD, /* by a link that never returns */
};

/* Random events on the wire. */
struct retry_luck {
	/* The fate of a packet; if it is cut, *back is when the link
	 * returns. */
	enum retry_fate (*packet)(
		void *arg, sim_time from, sim_time until, sim_time *back);
	/* Whether an acknowledgement is lost. */
	bool (*is_ack_lost)(void *arg);
	void *arg;
	bool gives_up; /* whether it gives a packet up after that many tries */
};

/* The result. */
struct retry_done {
	sim_time start; /* of the copy that the receiver accepts */
	sim_time free_at; /* the link can take another packet */
	uint32_t resent; /* copies that the receiver did not accept */
	uint32_t echoes; /* duplicates, dropped by the receiver */
	bool is_lost, is_reported;
};

struct retry_entry {
	sim_time acked;
	uint32_t chunks;
};

/* Copies that a sender is sending or will send: a number of them, the first at
 * start, then one every step. */
struct retry_copies {
	sim_time start, step, ser;
	uint32_t n, bytes, channel;
};

/* The sender of one directed link; all zero when nothing was sent. */
struct link_retry {
	sim_time back; /* when it last goes back */
	sim_time clear; /* when it has sent all its packets */
	sim_time echo, echo_until; /* that it will send; 0: none */
	struct retry_entry *entry; /* a ring, in order */
	uint32_t first, n, room;
	uint32_t chunks; /* of all entries */
	/* Copies that do not leave at their grant, by start. */
	struct retry_copies *copies;
	uint32_t n_copies, copies_room;
	sim_time sent; /* the tail of the last that left at its grant */
	uint32_t next; /* number of the next packet */
	uint32_t timeout; /* its own, in round trips; 0: that of all links */
	/* What waits, since some time, for a link that never returns, or NULL;
	 * in words, since packets for other processes leave all the same. */
	char *held;
	sim_time since;
	sim_time short_since; /* the same of a short packet; 0: none */
	/* For the packets that the receiver has accepted: bytes, undetected
	 * damaged packets, and the difference of the sums of the two ends. */
	uint64_t good, escaped;
	struct checks_sums sums;
};

/* Whether it has sent a packet. */
static inline bool retry_is_used(const struct link_retry *q)
{
	return q->clear != 0;
}

/* For one more packet: what is acknowledged when the last one has left is
 * forgotten, or the ring grows. */
void retry_make_room(struct link_retry *q, const struct retry_params *p);

/* What a packet takes of the window. */
static inline uint32_t retry_weight(
	const struct retry_params *p, uint32_t chunks)
{
	return p->unit == RETRY_PACKETS ? 1 : chunks;
}

struct retry_done retry_send(struct link_retry *q, const struct retry_params *p,
	uint32_t full, const struct retry_packet *x,
	const struct retry_luck *luck);

/*
 * The same where nothing ever fails, for a packet that is acknowledged at some
 * time: returns when the link can take another one, if not when this one has
 * left.  What the next one need not wait for is forgotten at once.
 */
static inline sim_time retry_pass(struct link_retry *q,
	const struct retry_params *p, uint32_t full, uint32_t chunks,
	sim_time acked)
{
	uint32_t own = retry_weight(p, chunks), n = q->n, sum = q->chunks + own;
	uint32_t most = (uint32_t)p->window - retry_weight(p, full);
	uint32_t last = (1u << p->numbers) - 2;
	sim_time room = 0;

	for (; (sum > most || n >= last) && n; n--) {
		const struct retry_entry *e =
			&q->entry[q->first++ & (q->room - 1)];

		room = e->acked;
		sum -= e->chunks;
	}
	q->n = n;
	q->chunks = sum - own;
	if (__builtin_expect(sum > most || n >= last, 0))
		return acked;
	if (__builtin_expect(n == q->room, 0)) {
		retry_make_room(q, p);
		n = q->n;
		sum = q->chunks + own;
	}
	q->entry[(q->first + n) & (q->room - 1)] =
		(struct retry_entry){ acked, own };
	q->n = n + 1;
	q->chunks = sum;
	return room;
}

void retry_fini(struct link_retry *q);
/* Bytes of granted packets, and of their copies, that leave after now, over the
 * channels of a mask; now is not before the last grant. */
uint64_t retry_unsent(
	const struct link_retry *q, uint32_t channels, sim_time now);
enum { RETRY_MOST_TRIPS = 1000000 }; /* of a time-out */

/* The time-out of a sender on a wire of some latency; and the interval between
 * copies of a packet if the time-out causes them. */
static inline sim_time retry_timeout(const struct link_retry *q,
	const struct retry_params *p, sim_time latency)
{
	return 2 * latency * (q->timeout ? q->timeout : p->timeout);
}

sim_time retry_each(const struct link_retry *q, const struct retry_params *p,
	const struct retry_packet *x);

/* Number of packets for which a sender has tokens, and the shortest time until
 * the token of one returns. */
struct retry_tokens {
	int64_t packets;
	sim_time back;
};

/* Whether packets of some size on some wire would ever wait for the window
 * without errors; longest is the longest serialisation. */
bool retry_binds(const struct retry_params *p, uint32_t full,
	const struct retry_packet *x, sim_time longest,
	const struct retry_tokens *k);

#endif
