/*
 * A granted packet leaves by a link: for routers of any kind whose links have a
 * struct link_sender.
 */
#ifndef NET_LEAVE_H
#define NET_LEAVE_H

#include "net/send.h"

struct net_leaving {
	packet_id id;
	site_id site;
	port_id port;
	uint32_t channel;
	uint32_t tokens; /* chunks that it takes at the receiving end */
	sim_time t;
	bool has_rates; /* links differ in rate, or may */
	bool is_faulty; /* net_is_faulty(), unless: */
	/* Links only wait for acknowledgements, since nothing ever fails: the
	 * state of this one; or NULL. */
	struct link_retry *acks;
	/* The next router wants to know whether the link repeated the packet:
	 * packet.answer, which other packets do not need. */
	bool marks;
};

/* The first of some ports from a number on, or else the first of all. */
static inline port_id net_first(port_mask m, uint32_t from)
{
	port_mask later = from < 64 ? m & (~(port_mask)0 << from) : 0;

	return (port_id)__builtin_ctzll(later ? later : m);
}

/* The row of costs of its link, now. */
static inline uint32_t net_leave_row(const struct net *n,
	const struct link_sender *l, const struct net_leaving *x)
{
	return x->has_rates ? net_row(n, x->site, x->port, l->wire, x->t) : 0;
}

/* The value of packet.size there. */
static inline uint32_t net_leave_size(
	const struct net *n, uint32_t row, const struct net_leaving *x)
{
	uint32_t size = n->packets[x->id].size;

	return x->has_rates ? row * n->link.row + size % n->link.row : size;
}

/*
 * When its tail leaves, which is not before it has arrived.  On a link that is
 * faster than the last one the packet keeps its old size: its tail is late.
 */
static inline sim_time net_leave_tail(const struct link_rules *k,
	struct packet *p, uint32_t wire, uint32_t size, sim_time t)
{
	sim_time out = t + k->ser[size], in = p->head + k->ser[p->size];

	if (out >= in)
		p->size = (uint16_t)size;
	out = out > in ? out : in;
	return k->route ? out + link_route_on(k, wire, route_left(p)) : out;
}

/* The link waits for room in its replay buffer. */
static inline void net_leave_room(const struct link_rules *k,
	struct link_sender *l, const struct net_leaving *x, uint32_t chunks,
	sim_time tail)
{
	sim_time room;

	x->acks->sent = tail;
	room = retry_pass(x->acks, &k->retry, k->max_chunks, chunks,
		tail + 2 * k->latency[l->wire]);
	if (l->free_at < room)
		l->free_at = room;
	if (l->owed_until < room)
		l->owed_until = room;
}

/* Takes tokens and the link, and posts the arrival.  Returns when the tail
 * leaves.  Always inline, so that what a caller knows is not asked. */
static inline __attribute__((always_inline)) sim_time net_leave(struct net *n,
	struct sim_worker *w, struct link_sender *l,
	const struct net_leaving *x)
{
	const struct link_rules *k = &n->link;
	struct packet *p = &n->packets[x->id];
	uint32_t row = net_leave_row(n, l, x), size = net_leave_size(n, row, x);
	uint32_t bytes =
		k->bytes[size] + (k->route ? k->route * route_left(p) : 0);
	sim_time gap = x->has_rates ? k->rate[row].gap : k->gap;
	sim_time tail = net_leave_tail(k, p, l->wire, size, x->t);
	sim_time arrival = x->t + k->latency[l->wire];
	uint64_t sent;

	l->tokens[x->channel] =
		(int16_t)(l->tokens[x->channel] - (int)x->tokens);
	link_take(l, gap, x->t, tail);
	l->count[x->channel] += bytes;
	sent = l->count[x->channel];
	if (x->is_faulty)
		arrival = net_send_by(n, w, l,
			&(struct net_sending){ .id = x->id,
				.site = x->site,
				.port = x->port,
				.class = l->wire,
				.channel = x->channel,
				.bytes = bytes,
				.tokens = x->tokens,
				.t = x->t,
				.tail = tail,
				.gap = gap });
	if (x->acks)
		net_leave_room(k, l, x, p->chunks, tail);
	if (x->marks && x->is_faulty && arrival != SIM_NEVER)
		p->answer = l->count[x->channel] != sent;
	if (arrival != SIM_NEVER)
		sim_post(w, l->peer, arrival,
			SIM_KEY(PHASE_ARRIVAL, l->peer_port),
			(uint16_t)x->channel, x->id);
	return tail;
}

#endif
