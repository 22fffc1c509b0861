/*
 * Routings that name the channel of each hop (route.n_channels is 2 or more):
 * datelines, phases.  Private to visit.c, of which this is a part.
 *
 * All packets are of one class then.  A head's request is the channel that it
 * asks for, and its bit tells the one that it is in: the queues of a receiver
 * are those of all channels.  A packet waits for no other channel than that.
 */
#ifndef ROUTER_DIRECT_STEPPED_H
#define ROUTER_DIRECT_STEPPED_H

#include "router/direct/leave.h"

static inline bool is_stepped(const struct direct *d)
{
	return DIRECT_TREE && d->channel_bits;
}

/* The channel that a head is in. */
static inline uint32_t stepped_source(const struct direct *d, uint32_t bit)
{
	return bit % DIRECT_QUEUES / d->channel_bits;
}

/* Of some heads that ask for a channel, those that there are tokens for. */
static inline uint64_t stepped_heads(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint64_t m = s->port[port].requests.head[channel], fit = 0;
	int32_t tokens = s->port[port].sender.tokens[channel];

	for (; m && tokens > 0; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		packet_id id =
			direct_queue(s, stepped_source(d, bit), bit)->head;

		if (charge_of(d, &d->packets[id], channel) <= tokens)
			fit |= BIT(bit);
	}
	return fit;
}

/* The same of injection FIFOs. */
static inline uint32_t stepped_fifos(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint32_t m = s->port[port].requests.inject[channel], fit = 0;
	int32_t tokens = s->port[port].sender.tokens[channel];

	for (; m && tokens > 0; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);
		const struct packet *p = &d->packets[s->inject[f].head];

		if (charge_of(d, p, channel) <= tokens)
			fit |= 1u << f;
	}
	return fit;
}

#endif
