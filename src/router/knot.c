/*
 * Deadlock, found in a running network.  A packet can go if those before it
 * in its queue can, and one of the ways that it may take has room for it or
 * will have: what is free in the buffer at the other end, what is on its way
 * to or from there, and what packets hold there that can go themselves.  So
 * the search lets packets go, in thought, one after the other, until no more
 * can; those that are left wait only for each other.
 *
 * Whatever could move is taken to move, so a network that is merely slow is
 * never called locked.  Packets in flight count as room, for nobody knows yet
 * what they will wait for; once they have arrived the next search sees them.
 */
#include "router/net.h"

#include <stdio.h>

#include "base/mem.h"

enum { LINE = 160 };

struct knot {
	struct net *n;
	int32_t *room; /* [buffer] chunks that are or will be free */
	uint16_t *gone; /* [queue] packets that can go, from its head on */
	site_id *todo; /* sites where something may have come free */
	uint8_t *is_todo; /* [site] */
	site_id n_todo;
	size_t n_buffers;
};

/* Where a packet waits: the queue of a receiver. */
struct place {
	site_id site;
	uint32_t channel, bit;
};

/* A way that a packet may take. */
struct way {
	uint32_t port, channel;
	int32_t need; /* chunks */
};

enum { MOST_WAYS = NET_PORTS + 1 };

const char *const net_channel_names[N_CHANNELS] = {
	[CHANNEL_DYNAMIC] = "dynamic",
	[CHANNEL_DETERMINISTIC] = "deterministic",
	[CHANNEL_HIGH] = "high",
	[CHANNEL_SYSTEM] = "system",
};

static size_t buffer(
	const struct net *n, site_id s, uint32_t port, uint32_t channel)
{
	return ((size_t)s * n->n_ports + port) * N_CHANNELS + channel;
}

static size_t buffer_of(const struct net *n, struct place at)
{
	return buffer(n, at.site, at.bit / NET_QUEUES, at.channel);
}

/* The buffer that a port sends to. */
static size_t buffer_after(
	const struct net *n, site_id s, uint32_t port, uint32_t channel)
{
	const struct link_sender *l = &n->sites[s].port[port].sender;

	return buffer(n, l->peer, l->peer_port, channel);
}

static const struct net_queue *queue_at(const struct net *n, struct place at)
{
	return &n->sites[at.site].queue[at.channel][at.bit];
}

static uint16_t *gone_at(const struct knot *k, struct place at)
{
	return &k->gone[((size_t)at.site * N_CHANNELS + at.channel) * NET_BITS +
			at.bit];
}

/* The first packet of a queue that is not known to go, or NULL. */
static const struct packet *first_left(const struct knot *k, struct place at)
{
	const struct net_queue *q = queue_at(k->n, at);
	uint32_t i = *gone_at(k, at);
	packet_id id = q->head;

	if (i == q->count)
		return NULL;
	for (; i; i--)
		id = k->n->packets[id].next;
	return &k->n->packets[id];
}

/* --- who can go --- */

/* First come, first served: something older in another queue of the same
 * receiver wants the same way and is not known to go. */
static bool has_elder(
	const struct knot *k, struct place at, const struct packet *p)
{
	uint32_t own = at.bit, i;
	const struct packet *o;

	if (p->kind == PACKET_DYNAMIC)
		return false;
	at.bit -= own % NET_QUEUES;
	for (i = 0; i < NET_QUEUES; i++, at.bit++) {
		uint32_t left = queue_at(k->n, at)->count - *gone_at(k, at);

		if (at.bit == own || !left)
			continue;
		for (o = first_left(k, at);; o = &k->n->packets[o->next]) {
			if (o->kind != PACKET_DYNAMIC && o->head < p->head &&
				(o->escape == p->escape ||
					(o->flags | p->flags) & PACKET_RANGE))
				return true;
			if (!--left)
				break;
		}
	}
	return false;
}

/* All ways that a broadcast has still to take. */
static uint32_t list_legs(
	const struct net *n, const struct packet *p, struct way *way)
{
	uint32_t m, n_ways = 0;

	for (m = p->ask; m; m &= m - 1)
		way[n_ways++] = (struct way){
			.port = (uint32_t)__builtin_ctz(m),
			.channel = net_channel_of(p),
			.need = n->full,
		};
	return n_ways;
}

/* The ways open to a packet that is not there yet; as in heads.h. */
static uint32_t list_ways(const struct net *n, struct place at,
	const struct packet *p, struct way *way)
{
	bool on_ring = at.channel != CHANNEL_DYNAMIC;
	bool straight = on_ring && at.bit / NET_QUEUES == (p->escape ^ 1u);
	bool is_dynamic = p->kind == PACKET_DYNAMIC;
	uint32_t m = 0, n_ways = 0;

	if (p->flags & PACKET_RANGE)
		return list_legs(n, p, way);
	if (is_dynamic && !(on_ring && p->flags & PACKET_STAY))
		m = p->ask;
	for (; m; m &= m - 1)
		way[n_ways++] = (struct way){
			.port = (uint32_t)__builtin_ctz(m),
			.channel = CHANNEL_DYNAMIC,
			.need = p->chunks,
		};
	if (on_ring || !is_dynamic || n->route->has_escape)
		way[n_ways++] = (struct way){
			.port = p->escape,
			.channel = is_dynamic ? CHANNEL_DETERMINISTIC
					      : net_channel_of(p),
			.need = straight ? n->full : n->entry,
		};
	return n_ways;
}

static bool has_room(const struct knot *k, struct place at, const struct way *w)
{
	return k->room[buffer_after(k->n, at.site, w->port, w->channel)] >=
	       w->need;
}

/* A broadcast to a range goes when all its ways have room, else one will do. */
static bool can_go(
	const struct knot *k, struct place at, const struct packet *p)
{
	struct way way[MOST_WAYS];
	bool needs_all = p->flags & PACKET_RANGE;
	uint32_t i;

	if (has_elder(k, at, p))
		return false;
	if (p->escape == PACKET_NO_PORT)
		return true; /* reception is not the network's business */
	for (i = list_ways(k->n, at, p, way); i--;)
		if (has_room(k, at, &way[i]) != needs_all)
			return !needs_all;
	return needs_all;
}

static void look_at(struct knot *k, site_id s)
{
	if (k->is_todo[s])
		return;
	k->is_todo[s] = 1;
	k->todo[k->n_todo++] = s;
}

/* Lets go what can; whoever sends to this site may get room by it. */
static bool let_go(struct knot *k, struct place at)
{
	const struct net_site *s = &k->n->sites[at.site];
	const struct packet *p;
	bool any = false;

	while ((p = first_left(k, at)) && can_go(k, at, p)) {
		++*gone_at(k, at);
		k->room[buffer_of(k->n, at)] += net_charge(k->n, p, at.channel);
		look_at(k, s->port[at.bit / NET_QUEUES].sender.peer);
		any = true;
	}
	return any;
}

static void search_site(struct knot *k, site_id s)
{
	struct place at = { .site = s };
	bool again;

	do { /* one queue may hold up another */
		again = false;
		for (at.channel = 0; at.channel < N_CHANNELS; at.channel++)
			for (at.bit = 0; at.bit < k->n->n_ports * NET_QUEUES;
				at.bit++)
				again |= let_go(k, at);
	} while (again);
}

/* Charges what is in a queue to its buffer. */
static uint32_t take_room(struct knot *k, struct place at)
{
	const struct net_queue *q = queue_at(k->n, at);
	packet_id id = q->head;
	uint32_t i;

	for (i = 0; i < q->count; i++, id = k->n->packets[id].next)
		k->room[buffer_of(k->n, at)] -=
			net_charge(k->n, &k->n->packets[id], at.channel);
	return q->count;
}

static void take_all(struct knot *k)
{
	struct place at;
	size_t i;

	for (i = 0; i < k->n_buffers; i++)
		k->room[i] = (int32_t)k->n->capacity;
	for (at.site = 0; at.site < k->n->n_sites; at.site++)
		for (at.channel = 0; at.channel < N_CHANNELS; at.channel++)
			for (at.bit = 0; at.bit < k->n->n_ports * NET_QUEUES;
				at.bit++)
				if (take_room(k, at))
					look_at(k, at.site);
}

static void search(struct knot *k)
{
	take_all(k);
	while (k->n_todo) {
		site_id s = k->todo[--k->n_todo];

		k->is_todo[s] = 0;
		search_site(k, s);
	}
}

/* --- what is told of those that are left --- */

static uint64_t count_left(const struct knot *k, struct place *first)
{
	struct place at;
	uint64_t left = 0;

	for (at.site = 0; at.site < k->n->n_sites; at.site++) {
		for (at.channel = 0; at.channel < N_CHANNELS; at.channel++) {
			for (at.bit = 0; at.bit < NET_BITS; at.bit++) {
				uint32_t n = queue_at(k->n, at)->count -
					     *gone_at(k, at);

				if (n && !left)
					*first = at;
				left += n;
			}
		}
	}
	return left;
}

/* The way that a buffer's packets wait for.  One of them, the eldest if no
 * other, is not held up by another in the same buffer. */
static struct way awaited(const struct knot *k, struct place at)
{
	struct way way[MOST_WAYS];
	uint32_t i, j, n;

	at.bit -= at.bit % NET_QUEUES;
	for (i = 0; i < NET_QUEUES; i++, at.bit++) {
		const struct packet *p = first_left(k, at);

		if (!p || has_elder(k, at, p))
			continue;
		n = list_ways(k->n, at, p, way);
		for (j = 0; j < n; j++)
			if (!has_room(k, at, &way[j]))
				return way[j];
	}
	BUG("a buffer of a knot waits for nothing");
}

static struct place next_place(
	const struct knot *k, struct place at, const struct way *w)
{
	const struct link_sender *l =
		&k->n->sites[at.site].port[w->port].sender;

	return (struct place){
		.site = l->peer,
		.channel = w->channel,
		.bit = l->peer_port * NET_QUEUES,
	};
}

static int write_line(const struct knot *k, struct place at,
	const struct way *w, char *text, size_t size)
{
	const struct topo *t = k->n->topo;
	char site[96], in[16], out[16];

	topo_name_site(t, at.site, site, sizeof(site));
	t->ops->name_port(t, at.site, at.bit / NET_QUEUES, in, sizeof(in));
	t->ops->name_port(t, at.site, w->port, out, sizeof(out));
	return snprintf(text, size,
		"  %s, receiver %s, channel %s, asks for %s\n", site, in,
		net_channel_names[at.channel], out);
}

/* From a buffer of the cycle on; what does not fit is counted. */
static void write_from(
	const struct knot *k, struct place first, char *text, size_t size)
{
	size_t used = 0, more = 0;
	struct place at = first;

	do {
		struct way w = awaited(k, at);
		char line[LINE];
		int n = write_line(k, at, &w, line, sizeof(line));

		if (!more && used + (size_t)n + LINE / 4 < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s", line);
		else
			more++;
		at = next_place(k, at, &w);
	} while (buffer_of(k->n, at) != buffer_of(k->n, first));
	if (more)
		snprintf(text + used, size - used, "  and %zu more\n", more);
}

/* Follows those that are left until a buffer comes again. */
static void write_cycle(
	const struct knot *k, struct place at, char *text, size_t size)
{
	uint8_t *seen = map_alloc(k->n_buffers);

	while (!seen[buffer_of(k->n, at)]) {
		struct way w = awaited(k, at);

		seen[buffer_of(k->n, at)] = 1;
		at = next_place(k, at, &w);
	}
	map_free(seen, k->n_buffers);
	write_from(k, at, text, size);
}

/*
 * A head that waits for ever waits for a buffer that is full but for less
 * than the most that anybody needs; so many packets must be inside.
 */
static bool may_lock(const struct net *n)
{
	uint64_t inside = 0;
	uint32_t i;

	for (i = 0; i < n->n_workers; i++)
		inside += n->tally[i].injected + n->tally[i].copies -
			  n->tally[i].delivered - n->tally[i].absorbed;
	return inside > (n->capacity - (uint32_t)n->entry) / (uint32_t)n->full;
}

uint64_t net_knot(struct net *n, char *text, size_t size)
{
	size_t n_buffers = (size_t)n->n_sites * n->n_ports * N_CHANNELS;
	size_t n_queues = (size_t)n->n_sites * N_CHANNELS * NET_BITS;
	struct knot k = {
		.n = n,
		.n_buffers = n_buffers,
		.room = map_alloc(n_buffers * sizeof(*k.room)),
		.gone = map_alloc(n_queues * sizeof(*k.gone)),
		.todo = map_alloc(n->n_sites * sizeof(*k.todo)),
		.is_todo = map_alloc(n->n_sites),
	};
	struct place first = { 0 };
	uint64_t left = 0;

	if (may_lock(n)) {
		search(&k);
		left = count_left(&k, &first);
	}
	if (left && size)
		write_cycle(&k, first, text, size);
	map_free(k.room, n_buffers * sizeof(*k.room));
	map_free(k.gone, n_queues * sizeof(*k.gone));
	map_free(k.todo, n->n_sites * sizeof(*k.todo));
	map_free(k.is_todo, n->n_sites);
	return left;
}

/* Whether a sender lacks tokens, so that a head may wait for them. */
static bool is_short(const struct net *n, const struct net_site *s)
{
	uint32_t port, channel;

	for (port = 0; port < n->n_ports; port++) {
		const struct link_sender *l = &s->port[port].sender;

		for (channel = 0; channel < N_CHANNELS; channel++)
			if (l->tokens[channel] < n->entry &&
				l->peer != NO_ROUTER)
				return true;
	}
	return false;
}

static sim_time longest_at(
	const struct net *n, const struct net_site *s, sim_time now)
{
	sim_time longest = 0;
	uint32_t channel, bit;

	for (channel = 0; channel < N_CHANNELS; channel++) {
		for (bit = 0; bit < n->n_ports * NET_QUEUES; bit++) {
			const struct net_queue *q = &s->queue[channel][bit];
			sim_time waits;

			if (!q->count)
				continue;
			waits = now - n->packets[q->head].head;
			longest = waits > longest ? waits : longest;
		}
	}
	return longest;
}

/* A big machine with little to do is looked at often; so not at all of it. */
sim_time net_longest_wait(const struct net *n, sim_time now)
{
	sim_time longest = 0;
	site_id i;

	if (!may_lock(n))
		return 0;
	for (i = 0; i < n->n_sites; i++) {
		sim_time waits;

		if (!is_short(n, &n->sites[i]))
			continue;
		waits = longest_at(n, &n->sites[i], now);
		longest = waits > longest ? waits : longest;
	}
	return longest;
}
