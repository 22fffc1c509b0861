/*
 * What the router writes into the book of time budgets.  Private to visit.c;
 * without effect in builds that keep no book (DIRECT_FULL is 0).
 *
 *	from arrival or injection until it asks       queue
 *	until the tokens for what it got were there   tokens
 *	until the link was free                       link busy
 *	until the grant                               arbitration
 *	of the link's latency, link.logic             router
 *	the rest of it                                wire
 *	at its end: until the reception FIFO took it  receiver
 *	and its tail                                  serialisation
 *
 * A held head requests nothing: behind an older packet it is in a queue;
 * without room for the copy of a line broadcast it waits for the receiver.  A
 * packet that was born before it was injected was in a queue at its source.
 *
 * Tokens count from their return, which may be earlier than the time at which
 * they are collected.  For each sender, and for each number of tokens that a
 * grant can need (a level), the book keeps the time at which the sender's
 * tokens last rose to it.  Levels are 1 to a full packet on the dynamic channel
 * and for packets that are charged by their size, and one or two full packets
 *on a ring with a bubble.  A head that requested at s and was granted at t
 *waited for tokens until that time if it lies between the two, and otherwise
 *not at all.  To see the rises in order, tokens are collected earlier than
 *needed, which changes nothing else (see link.h).
 */
#ifndef ROUTER_DIRECT_BOOKED_H
#define ROUTER_DIRECT_BOOKED_H

#include "net/send.h"
#include "router/direct/direct.h"

#ifndef DIRECT_FULL
#define DIRECT_FULL 0
#endif
/* Whether this build supports faults, retry and links of different rates. */
#ifndef DIRECT_FAULTS
#define DIRECT_FAULTS DIRECT_FULL
#endif
/* Whether this build supports carried routes, broadcasts to a range, and
 * routings that name channels. */
#ifndef DIRECT_TREE
#define DIRECT_TREE DIRECT_FULL
#endif

static inline bool is_staged(const struct direct *d)
{
	return DIRECT_FULL && d->is_staged;
}

/* As direct_charge(), with what this build knows at compile time. */
static inline int32_t charge_of(
	const struct direct *d, const struct packet *p, uint32_t channel)
{
	if (DIRECT_TREE)
		return direct_charge(d, p, channel);
	return channel == CHANNEL_DYNAMIC ? p->chunks : d->full;
}

static inline bool is_booked(const struct direct *d)
{
	return DIRECT_FULL && d->book;
}

/* --- tokens --- */

static inline sim_time *booked_rises(
	const struct direct *d, const struct direct_site *s, uint32_t port)
{
	return &d->rises[((size_t)(s->id - d->router.sites.first) * d->n_ports +
				 port) *
			 d->n_levels];
}

/* The index of a number of tokens among a port's levels; 0 tokens are before
 * the channel's first. */
static inline int32_t booked_level(
	const struct direct *d, uint32_t channel, int32_t tokens)
{
	if (channel == CHANNEL_DYNAMIC || d->is_exact)
		return (int32_t)channel * d->full + tokens - 1;
	return d->full + 2 * ((int32_t)channel - 1) + tokens / d->full - 1;
}

/* Tokens of a channel rise at t. */
static inline void booked_rise(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel,
	int32_t from, int32_t to, sim_time t)
{
	int32_t most = channel == CHANNEL_DYNAMIC || d->is_exact ? d->full
								 : 2 * d->full;
	sim_time *rises;
	int32_t i, end;

	if (from >= most)
		return;
	rises = booked_rises(d, s, port);
	i = booked_level(d, channel, from) + 1;
	end = booked_level(d, channel, to < most ? to : most);
	for (; i <= end; i++)
		rises[i] = t;
}

/* The earliest stamp, of some. */
static inline uint32_t booked_first(const struct link_returns *r)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < r->n; i++)
		first = r->stamp[i] < r->stamp[first] ? i : first;
	return first;
}

/* As link_collect(), in the order of the stamps. */
static inline void booked_collect(const struct direct *d, struct direct_site *s,
	uint32_t port, sim_time t)
{
	struct link_sender *l = &s->port[port].sender;
	struct link_returns *r = &s->port[port].returns;

	while (r->n) {
		uint32_t i = booked_first(r);
		uint64_t x = r->stamp[i];
		uint32_t c = link_stamp_channel(x);
		int32_t was = l->tokens[c];
		int32_t is = was + (int32_t)link_stamp_chunks(x);

		if (link_stamp_time(x) > t)
			return;

		booked_rise(d, s, port, c, was, is, link_stamp_time(x));
		l->tokens[c] = (int16_t)is;
		r->stamp[i] = r->stamp[--r->n];
	}
}

/* Collects the tokens that have returned by t. */
static inline void take_in(const struct direct *d, struct direct_site *s,
	struct direct_port *p, uint32_t port, sim_time t)
{
	if (is_booked(d))
		booked_collect(d, s, port, t);
	else
		link_collect(&p->sender, &p->returns, t);
}

/* Tokens return by an event; those of earlier stamps come first. */
static inline void booked_token(const struct direct *d, struct direct_site *s,
	uint32_t port, uint32_t channel, uint32_t chunks, sim_time t)
{
	int32_t was;

	if (!is_booked(d))
		return;
	booked_collect(d, s, port, t);
	was = s->port[port].sender.tokens[channel];
	booked_rise(d, s, port, channel, was, was + (int32_t)chunks, t);
}

/* --- FIFOs --- */

enum { BOOKED_INJECTION, BOOKED_RECEPTION };

static inline void booked_at_fifo(const struct direct *d,
	const struct direct_site *s, packet_id id, uint32_t way, uint32_t fifo)
{
	static const char *const what[][4] = {
		{ "injection FIFO", "injection FIFO local",
			"injection FIFO high", "injection FIFO system" },
		{ "reception FIFO", "reception FIFO local",
			"reception FIFO high", "reception FIFO system" },
	};
	int class = (fifo >= FIFO_LOCAL) + (fifo >= FIFO_HIGH) +
		    (fifo >= FIFO_SYSTEM);

	book_at_port(d->book, id, s->id, what[way][class],
		fifo < d->n_ports ? fifo : BOOK_NO_PORT, BOOK_NO_CHANNEL);
}

/* --- a packet --- */

static inline void booked_inject(const struct direct *d,
	const struct direct_site *s, uint32_t fifo, packet_id id, sim_time t)
{
	if (!is_booked(d))
		return;
	net_book_inject(d->router.net, s->id, id);
	booked_at_fifo(d, s, id, BOOKED_INJECTION, fifo);
	book_wait(d->book, id, CAUSE_QUEUE, t);
}

static inline void booked_arrival(const struct direct *d,
	const struct direct_site *s, uint32_t in, uint32_t channel,
	packet_id id, sim_time t)
{
	if (!is_booked(d))
		return;
	book_set_arrival(d->book, id,
		&(struct book_place){ "in by", s->id, BOOK_NO_NUMBER,
			(uint8_t)in, (uint8_t)channel, 0 },
		CAUSE_QUEUE, t);
}

/* A head waits for another cause from now on. */
static inline void booked_wait(const struct direct *d, const struct packet *p,
	enum cause c, sim_time t)
{
	if (is_booked(d))
		book_wait(d->book, (packet_id)(p - d->packets), c, t);
}

/* Before the tokens are taken. */
static inline void booked_grant(const struct direct *d, struct direct_site *s,
	uint32_t port, uint32_t channel, packet_id id, int32_t need, sim_time t)
{
	sim_time came;

	if (!is_booked(d))
		return;
	booked_collect(d, s, port, t);
	BUG_IF(s->port[port].sender.tokens[channel] < need);
	came = booked_rises(d, s, port)[booked_level(d, channel, need)];
	book_set_link(d->book, id, came, s->port[port].sender.free_at, t);
}

static inline void booked_depart(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel,
	packet_id id, sim_time t)
{
	if (is_booked(d))
		net_book_depart(d->router.net, s->id, port,
			s->port[port].sender.wire, channel, id, t);
}

static inline void booked_receive(const struct direct *d, struct sim_worker *w,
	const struct direct_site *s, uint32_t fifo, packet_id id, sim_time t,
	sim_time tail)
{
	if (!is_booked(d))
		return;
	booked_at_fifo(d, s, id, BOOKED_RECEPTION, fifo);
	net_book_receive(d->router.net, w, id, t, tail);
}

#endif
