/*
 * What the router writes into the book of time budgets.  Private to visit.c,
 * of which this is a part; in the copy of it that keeps none (NET_BOOKED is
 * 0) all of this is nothing.
 *
 *	from arrival or injection until it asks       queue
 *	until the tokens for what it got were there   tokens
 *	until the grant                               arbitration
 *	of the link's latency, link.logic             router
 *	the rest of it                                wire
 *	at its end: until the reception FIFO took it  receiver
 *	and its tail                                  serialisation
 *
 * A head that is held asks no more than one further back: behind an elder it
 * is in a queue; short of reception room for a line broadcast's copy it waits
 * for the receiver.  A packet that was born before it was injected was in a
 * queue at its source.
 *
 * Tokens count from when they came, which is not when they are looked at.
 * For each sender, and for each number of tokens that a grant can need (a
 * level), the book has the time when the sender's tokens last rose to it:
 * 1 to a full packet on the dynamic channel, one or two full packets on a
 * ring.  A head that was granted at t, having asked since s, waited for
 * tokens until that time, if it lies between the two; if it is before s, not
 * at all.  What else it might have been granted, and was not, counts for
 * nothing.  To see the rises in order, stamps are taken in earlier than they
 * need be; that changes nothing (see link.h).
 */
#ifndef ROUTER_BOOKED_H
#define ROUTER_BOOKED_H

#include <stdio.h>

#include "router/net.h"

#ifndef NET_BOOKED
#define NET_BOOKED 0
#endif

/* --- tokens --- */

static inline sim_time *booked_rises(
	const struct net *n, const struct net_site *s, uint32_t port)
{
	return &n->rises[((size_t)s->id * n->n_ports + port) * n->n_levels];
}

/* Where a number of tokens is among a port's levels; none is the place before
 * the channel's first. */
static inline int32_t booked_level(
	const struct net *n, uint32_t channel, int32_t tokens)
{
	if (channel == CHANNEL_DYNAMIC)
		return tokens - 1;
	return n->full + 2 * ((int32_t)channel - 1) + tokens / n->full - 1;
}

/* Tokens of a channel rise at t. */
static inline void booked_rise(const struct net *n, const struct net_site *s,
	uint32_t port, uint32_t channel, int32_t from, int32_t to, sim_time t)
{
	int32_t most = channel == CHANNEL_DYNAMIC ? n->full : 2 * n->full;
	sim_time *rises = booked_rises(n, s, port);
	int32_t i = booked_level(n, channel, from) + 1;
	int32_t end = booked_level(n, channel, to < most ? to : most);

	for (; i <= end; i++)
		rises[i] = t;
}

/* The stamp that comes first, if it has come by t, or link_returns.n. */
static inline uint32_t booked_first(const struct link_returns *r, sim_time t)
{
	uint32_t first = r->n, i;

	for (i = 0; i < r->n; i++)
		if (link_stamp_time(r->stamp[i]) <= t &&
			(first == r->n || r->stamp[i] < r->stamp[first]))
			first = i;
	return first;
}

/* As link_collect(), one stamp after the other. */
static inline void booked_collect(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	struct link_sender *l = &s->port[port].sender;
	struct link_returns *r = &s->port[port].returns;
	uint32_t i;

	while ((i = booked_first(r, t)) < r->n) {
		uint64_t x = r->stamp[i];
		uint32_t c = link_stamp_channel(x);
		int32_t was = l->tokens[c];
		int32_t is = was + (int32_t)link_stamp_chunks(x);

		booked_rise(n, s, port, c, was, is, link_stamp_time(x));
		l->tokens[c] = (int16_t)is;
		r->stamp[i] = r->stamp[--r->n];
	}
}

/* Takes in the tokens that have come by t. */
static inline void take_in(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	if (NET_BOOKED)
		booked_collect(n, s, port, t);
	else
		link_collect(&s->port[port].sender, &s->port[port].returns, t);
}

/* Tokens come as an event: those that came as stamps were there before. */
static inline void booked_token(const struct net *n, struct net_site *s,
	uint32_t port, uint32_t channel, uint32_t chunks, sim_time t)
{
	int32_t was;

	if (!NET_BOOKED)
		return;
	booked_collect(n, s, port, t);
	was = s->port[port].sender.tokens[channel];
	booked_rise(n, s, port, channel, was, was + (int32_t)chunks, t);
}

/* --- where a followed packet is --- */

static inline void booked_tell(const struct net *n, const struct net_site *s,
	packet_id id, const char *how, uint32_t port, const char *channel)
{
	char site[96], name[16] = "";

	if (!book_is_followed(n->book, id))
		return;
	topo_name_site(n->topo, s->id, site, sizeof(site));
	if (port < n->n_ports)
		n->topo->ops->name_port(
			n->topo, s->id, port, name, sizeof(name));
	book_set_note(n->book, id, "%s, %s%s%s%s%s", site, how,
		*name ? " " : "", name, *channel ? ", " : "", channel);
}

static inline void booked_tell_fifo(const struct net *n,
	const struct net_site *s, packet_id id, const char *kind, uint32_t fifo)
{
	const char *class = fifo < FIFO_LOCAL	 ? ""
			    : fifo < FIFO_HIGH	 ? " local"
			    : fifo < FIFO_SYSTEM ? " high"
						 : " system";
	char text[64];

	snprintf(text, sizeof(text), "%s FIFO%s", kind, class);
	booked_tell(n, s, id, text, fifo, "");
}

/* --- the way of a packet --- */

static inline void booked_inject(const struct net *n, const struct net_site *s,
	uint32_t fifo, packet_id id, const struct packet *p, sim_time t)
{
	struct book_message m;

	if (!NET_BOOKED)
		return;
	if (!book_has(n->book, id)) {
		m = book_message(n->book, s->id, 1, p->born);
		m.is_networks = true;
		book_open(n->book, id, &m);
	}
	booked_tell_fifo(n, s, id, "injection", fifo);
	book_wait(n->book, id, CAUSE_QUEUE, t);
}

static inline void booked_arrival(const struct net *n, const struct net_site *s,
	uint32_t in, uint32_t channel, packet_id id, sim_time t)
{
	if (!NET_BOOKED)
		return;
	booked_tell(n, s, id, "in by", in, net_channel_names[channel]);
	book_wait(n->book, id, CAUSE_QUEUE, t);
}

/* A head begins to wait for something else. */
static inline void booked_wait(
	const struct net *n, const struct packet *p, enum cause c, sim_time t)
{
	if (NET_BOOKED)
		book_wait(n->book, (packet_id)(p - n->packets), c, t);
}

/* Before the tokens are taken. */
static inline void booked_grant(const struct net *n, struct net_site *s,
	uint32_t port, uint32_t channel, packet_id id, int32_t need, sim_time t)
{
	sim_time came;

	if (!NET_BOOKED)
		return;
	booked_collect(n, s, port, t);
	BUG_IF(s->port[port].sender.tokens[channel] < need);
	came = booked_rises(n, s, port)[booked_level(n, channel, need)];
	if (came > book_at(n->book, id))
		book_until(n->book, id, CAUSE_TOKENS, came);
	book_until(n->book, id, CAUSE_ARBITRATION, t);
}

static inline void booked_depart(const struct net *n, const struct net_site *s,
	uint32_t port, uint32_t channel, packet_id id, sim_time t,
	sim_time arrival)
{
	sim_time logic = n->link.logic[s->port[port].sender.wire];

	if (!NET_BOOKED)
		return;
	if (logic > arrival - t)
		logic = arrival - t;
	booked_tell(n, s, id, "out by", port, net_channel_names[channel]);
	book_until(n->book, id, CAUSE_ROUTER, t + logic);
	book_until(n->book, id, CAUSE_WIRE, arrival);
}

static inline void booked_receive(const struct net *n, struct sim_worker *w,
	const struct net_site *s, uint32_t fifo, packet_id id, sim_time t,
	sim_time tail)
{
	if (!NET_BOOKED)
		return;
	booked_tell_fifo(n, s, id, "reception", fifo);
	book_wait(n->book, id, CAUSE_RECEIVER, t);
	book_until(n->book, id, CAUSE_SERIALISATION, tail);
	if (book_is_networks(n->book, id))
		book_close(n->book, w->id, id, tail);
}

/* A line broadcast leaves a copy, whose tail comes at tail. */
static inline void booked_copy(const struct net *n, struct sim_worker *w,
	const struct net_site *s, const struct packet *p, packet_id copy,
	uint32_t fifo, sim_time t, sim_time tail)
{
	if (!NET_BOOKED)
		return;
	book_add_copy(n->book, (packet_id)(p - n->packets), copy);
	booked_receive(n, w, s, fifo, copy, t, tail);
}

#endif
