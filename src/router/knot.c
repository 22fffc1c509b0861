/*
 * Deadlock, found in a running network.  A head is alive if one of the ways
 * that it may take will become free: the link has the tokens for it, or
 * tokens are on their way, or the buffer that lacks room for it holds a
 * queue whose head is alive.  Life is spread from head to head until nothing
 * changes; the heads that are left wait only for each other.
 */
#include "router/net.h"

#include <stdio.h>

#include "base/mem.h"

struct search {
	struct net *n;
	uint8_t *alive; /* [site][port][channel]: a packet in it will leave */
	uint8_t *coming; /* [site][port][channel]: a token or packet is */
	sim_time now;
};

static size_t buffer(
	const struct net *n, site_id s, uint32_t port, uint32_t channel)
{
	return ((size_t)s * n->n_ports + port) * N_CHANNELS + channel;
}

static void mark_event(void *arg, sim_time t, const struct sim_event *e)
{
	struct search *k = arg;

	(void)t;
	if (sim_phase(e) == PHASE_TOKEN)
		k->coming[buffer(k->n, e->site, sim_number(e), sim_aux(e))] =
			1;
}

/* Whether a head could some day take port on channel; *to is the buffer that
 * it waits for where it could not. */
static bool way_opens(const struct search *k, site_id s, uint32_t port,
	uint32_t channel, int32_t need, size_t *to)
{
	const struct link_sender *l = &k->n->sites[s].port[port].sender;

	*to = buffer(k->n, l->peer, l->peer_port, channel);
	return l->tokens[channel] >= need || k->n->sites[s].port[port].returns.n ||
		k->coming[buffer(k->n, s, port, channel)] || k->alive[*to];
}

/* Calls f for every way that a head may take, until it says true. */
static bool any_way(const struct search *k, site_id s, uint32_t channel,
	uint32_t bit, bool (*f)(const struct search *, site_id, uint32_t,
			      uint32_t, int32_t, size_t *),
	size_t *to)
{
	const struct net *n = k->n;
	packet_id id = n->sites[s].queue[channel][bit].head;
	const struct packet *p = &n->packets[id];
	bool straight = bit / NET_QUEUES == (p->escape ^ 1u) &&
		channel != CHANNEL_DYNAMIC;
	uint32_t target = p->kind == PACKET_DYNAMIC ? CHANNEL_DETERMINISTIC
						    : net_channel_of(p);
	bool adaptive = p->kind == PACKET_DYNAMIC &&
		(channel == CHANNEL_DYNAMIC || !(p->flags & PACKET_STAY));
	uint32_t m;

	if (p->escape == PACKET_NO_PORT)
		return true; /* reception is not the network's business */
	for (m = adaptive ? p->ask : 0; m; m &= m - 1)
		if (f(k, s, (uint32_t)__builtin_ctz(m), CHANNEL_DYNAMIC,
			    p->chunks, to))
			return true;
	if (p->kind == PACKET_DYNAMIC && channel == CHANNEL_DYNAMIC &&
		!n->route->has_escape)
		return false;
	return f(k, s, p->escape, target, straight ? n->full : n->entry, to);
}

/* Marks the buffers whose heads came alive; true if any did. */
static bool spread(struct search *k)
{
	const struct net *n = k->n;
	bool changed = false;
	uint32_t channel, bit;
	site_id s;
	size_t to;

	for (s = 0; s < n->n_sites; s++) {
		for (channel = 0; channel < N_CHANNELS; channel++) {
			for (bit = 0; bit < NET_BITS; bit++) {
				size_t b = buffer(n, s, bit / NET_QUEUES,
					channel);

				if (k->alive[b] ||
					!n->sites[s].queue[channel][bit].count ||
					!any_way(k, s, channel, bit, way_opens,
						&to))
					continue;
				k->alive[b] = 1;
				changed = true;
			}
		}
	}
	return changed;
}

static bool is_dead(
	const struct search *k, site_id s, uint32_t channel, uint32_t bit)
{
	const struct net *n = k->n;

	return n->sites[s].queue[channel][bit].count &&
		!k->alive[buffer(n, s, bit / NET_QUEUES, channel)];
}

const char *const net_channel_names[N_CHANNELS] = {
	[CHANNEL_DYNAMIC] = "dynamic",
	[CHANNEL_DETERMINISTIC] = "deterministic",
	[CHANNEL_HIGH] = "high",
	[CHANNEL_SYSTEM] = "system",
};

static size_t describe(const struct search *k, size_t b, char *text, size_t size)
{
	const struct net *n = k->n;
	site_id s = (site_id)(b / N_CHANNELS / n->n_ports);
	char router[64], port[16];
	int len;

	n->topo->ops->name_router(n->topo, s, router, sizeof(router));
	n->topo->ops->name_port(n->topo,
		(port_id)(b / N_CHANNELS % n->n_ports), port, sizeof(port));
	len = snprintf(text, size, "  node %u %s, receiver %s, channel %s\n",
		s, router, port, net_channel_names[b % N_CHANNELS]);
	return len > 0 && (size_t)len < size ? (size_t)len : 0;
}

/* The buffer that some dead head of a buffer waits for. */
static size_t waits_for(const struct search *k, size_t b)
{
	const struct net *n = k->n;
	site_id s = (site_id)(b / N_CHANNELS / n->n_ports);
	uint32_t port = (uint32_t)(b / N_CHANNELS % n->n_ports);
	uint32_t channel = (uint32_t)(b % N_CHANNELS), q;
	size_t to = b;

	for (q = port * NET_QUEUES; q < (port + 1) * NET_QUEUES; q++) {
		if (is_dead(k, s, channel, q)) {
			any_way(k, s, channel, q, way_opens, &to);
			break;
		}
	}
	return to;
}

/* Follows the dead from b until a buffer comes again, and writes the ring. */
static void write_cycle(
	const struct search *k, size_t b, char *text, size_t size)
{
	size_t n_buffers = (size_t)k->n->n_sites * k->n->n_ports * N_CHANNELS;
	size_t i, at = 0, first, len, lines = 0;

	for (i = 0; i < n_buffers; i++)
		b = waits_for(k, b);
	first = b;
	do {
		len = describe(k, b, text + at, size - at);
		at += len;
		lines++;
		b = waits_for(k, b);
	} while (b != first && len && lines < n_buffers);
}

uint64_t net_knot(struct net *n, sim_time now, char *text, size_t size)
{
	size_t n_buffers = (size_t)n->n_sites * n->n_ports * N_CHANNELS;
	struct search k = {
		.n = n,
		.now = now,
		.alive = map_alloc(n_buffers),
		.coming = map_alloc(n_buffers),
	};
	uint32_t channel, bit;
	uint64_t dead = 0;
	size_t first = 0;
	site_id s;

	sim_each_event(n->sim, mark_event, &k);
	while (spread(&k))
		;
	for (s = 0; s < n->n_sites; s++)
		for (channel = 0; channel < N_CHANNELS; channel++)
			for (bit = 0; bit < NET_BITS; bit++)
				if (is_dead(&k, s, channel, bit) && !dead++)
					first = buffer(n, s,
						bit / NET_QUEUES, channel);
	if (dead && size)
		write_cycle(&k, first, text, size);
	map_free(k.alive, n_buffers);
	map_free(k.coming, n_buffers);
	return dead;
}

sim_time net_longest_wait(const struct net *n, sim_time now)
{
	sim_time longest = 0;
	uint32_t i;
	site_id s;

	for (s = 0; s < n->n_sites; s++) {
		const struct net_site *site = &n->sites[s];

		for (i = 0; i < N_CHANNELS * NET_BITS; i++) {
			packet_id id = site->queue[i / NET_BITS][i % NET_BITS].head;

			if (!site->queue[i / NET_BITS][i % NET_BITS].count)
				continue;
			if (now - n->packets[id].head > longest)
				longest = now - n->packets[id].head;
		}
	}
	return longest;
}
