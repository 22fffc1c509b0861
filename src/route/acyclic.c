#include "route/acyclic.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void acyclic_init(struct acyclic *g, const struct topo *t, uint32_t n_channels)
{
	g->topo = t;
	g->first = topo_is_direct(t) ? 0 : t->n_nodes;
	g->n_channels = n_channels;
	g->n = (t->n_routers - g->first) * t->n_ports * n_channels;
	g->after = mem_alloc((size_t)g->n * n_channels, sizeof(*g->after));
	g->place = mem_alloc(g->n, sizeof(*g->place));
	g->ahead = mem_alloc(g->n, sizeof(*g->ahead));
	g->behind = mem_alloc(g->n, sizeof(*g->behind));
	g->key = mem_alloc(g->n, sizeof(*g->key));
	g->is_seen = mem_alloc(g->n, sizeof(*g->is_seen));
	for (uint32_t i = 0; i < g->n; i++)
		g->place[i] = i;
}

void acyclic_fini(struct acyclic *g)
{
	mem_free(g->after);
	mem_free(g->place);
	mem_free(g->ahead);
	mem_free(g->behind);
	mem_free(g->key);
	mem_free(g->is_seen);
}

void acyclic_copy(struct acyclic *to, const struct acyclic *from)
{
	acyclic_init(to, from->topo, from->n_channels);
	memcpy(to->after, from->after,
		(size_t)to->n * to->n_channels * sizeof(*to->after));
	memcpy(to->place, from->place, to->n * sizeof(*to->place));
}

/* The next channel of a list that starts with number 0 and port 0: a pair of
 * these at *at. */
static bool next_after(
	const struct acyclic *g, uint32_t channel, uint32_t *at, uint32_t *to)
{
	uint32_t n = g->n_channels;

	for (; *at / TOPO_MAX_PORTS < n;
		*at = (*at / TOPO_MAX_PORTS + 1) * TOPO_MAX_PORTS) {
		uint32_t number = *at / TOPO_MAX_PORTS;
		uint32_t port = *at % TOPO_MAX_PORTS;
		port_mask m = g->after[(size_t)channel * n + number] >> port;

		if (!m)
			continue;
		port += (uint32_t)__builtin_ctzll(m);
		*to = acyclic_channel(g, acyclic_far(g, channel).router,
			(port_id)port, number);
		*at = number * TOPO_MAX_PORTS + port + 1;
		return true;
	}
	return false;
}

/* Channels that must be behind "from", up to a place; false if one of them is
 * there itself. */
static bool look_ahead(
	struct acyclic *g, uint32_t from, uint32_t upto, uint32_t *n)
{
	g->ahead[(*n)++] = from;
	g->is_seen[from] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t at = 0, to;

		while (next_after(g, g->ahead[i], &at, &to)) {
			if (g->place[to] == upto)
				return false;
			if (g->place[to] > upto || g->is_seen[to])
				continue;
			g->is_seen[to] = 1;
			g->ahead[(*n)++] = to;
		}
	}
	return true;
}

/* Channels of a wire that must be in front of another, down to a place. */
static void look_along(struct acyclic *g, uint32_t wire, uint32_t channel,
	uint32_t downto, uint32_t *n)
{
	port_id port = channel / g->n_channels % g->topo->n_ports;

	for (uint32_t i = 0; i < g->n_channels; i++) {
		uint32_t before = wire + i;

		if (!acyclic_has(g, before, port, channel % g->n_channels) ||
			g->place[before] < downto || g->is_seen[before])
			continue;
		g->is_seen[before] = 1;
		g->behind[(*n)++] = before;
	}
}

/* Channels that must be in front of "from", down to a place. */
static void look_behind(
	struct acyclic *g, uint32_t from, uint32_t downto, uint32_t *n)
{
	const struct topo *t = g->topo;

	g->behind[(*n)++] = from;
	g->is_seen[from] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t channel = g->behind[i];
		uint32_t at = channel / g->n_channels / t->n_ports;

		for (port_id p = 0; p < t->n_ports; p++) {
			struct topo_end end = t->ops->peer(t, g->first + at, p);

			if (end.router != NO_ROUTER && end.router >= g->first)
				look_along(g,
					acyclic_channel(
						g, end.router, end.port, 0),
					channel, downto, n);
		}
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts channels by their places. */
static void sort_channels(struct acyclic *g, uint32_t *channel, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g->key[i] = (uint64_t)g->place[channel[i]] << 32 | channel[i];
	qsort(g->key, n, sizeof(*g->key), by_number);
	for (uint32_t i = 0; i < n; i++)
		channel[i] = (uint32_t)g->key[i];
}

/* Gives all channels found the same places in another order. */
static void reorder(struct acyclic *g, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t n = 0, i;

	sort_channels(g, g->behind, n_behind);
	sort_channels(g, g->ahead, n_ahead);
	for (i = 0; i < n_behind; i++)
		g->key[n++] = g->place[g->behind[i]];
	for (i = 0; i < n_ahead; i++)
		g->key[n++] = g->place[g->ahead[i]];
	qsort(g->key, n, sizeof(*g->key), by_number);
	for (i = 0; i < n_behind; i++)
		g->place[g->behind[i]] = (uint32_t)g->key[i];
	for (i = 0; i < n_ahead; i++)
		g->place[g->ahead[i]] = (uint32_t)g->key[n_behind + i];
}

bool acyclic_add(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	uint32_t n_ahead = 0, n_behind = 0, i;
	uint32_t to = acyclic_channel(
		g, acyclic_far(g, channel).router, port, number);
	bool can = true;

	if (acyclic_has(g, channel, port, number))
		return true;
	if (to == channel)
		return false;
	if (g->place[to] < g->place[channel]) {
		can = look_ahead(g, to, g->place[channel], &n_ahead);
		if (can) {
			look_behind(g, channel, g->place[to], &n_behind);
			reorder(g, n_behind, n_ahead);
		}
		for (i = 0; i < n_ahead; i++)
			g->is_seen[g->ahead[i]] = 0;
		for (i = 0; i < n_behind; i++)
			g->is_seen[g->behind[i]] = 0;
	}
	if (can)
		g->after[(size_t)channel * g->n_channels + number] |=
			(port_mask)1 << port;
	return can;
}

void acyclic_remove(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	g->after[(size_t)channel * g->n_channels + number] &=
		~((port_mask)1 << port);
}

/* --- a whole graph --- */

/* Ports of a switch that lead to others. */
static port_mask links_of(const struct acyclic *g, router_id site)
{
	const struct topo *t = g->topo;
	port_mask m = 0;

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, site, p);

		if (far.router != NO_ROUTER && far.router >= g->first)
			m |= (port_mask)1 << p;
	}
	return m;
}

/* Takes over the edges of one wire. */
static void load_wire(struct acyclic *g, const struct route_graph *from,
	router_id site, port_id port)
{
	uint32_t n = g->n_channels;
	struct topo_end far = g->topo->ops->peer(g->topo, site, port);
	port_mask links;

	if (far.router == NO_ROUTER || far.router < g->first)
		return;
	links = links_of(g, far.router);
	for (uint32_t c = 0; c < n * n; c++) {
		uint32_t v = route_vertex(from, site, port, c / n);
		uint32_t to = acyclic_channel(g, site, port, c / n);

		g->after[(size_t)to * n + c % n] =
			from->after[(size_t)v * n + c % n] & links;
	}
}

/* Gives channels their places, each when all in front of it have theirs. */
static bool put_in_order(struct acyclic *g)
{
	uint32_t *n_before = mem_alloc(g->n, sizeof(*n_before));
	uint32_t n = 0, i, at, to;

	for (i = 0; i < g->n; i++)
		for (at = 0; next_after(g, i, &at, &to);)
			n_before[to]++;
	for (i = 0; i < g->n; i++)
		if (!n_before[i])
			g->ahead[n++] = i;
	for (i = 0; i < n; i++) {
		g->place[g->ahead[i]] = i;
		for (at = 0; next_after(g, g->ahead[i], &at, &to);)
			if (!--n_before[to])
				g->ahead[n++] = to;
	}
	mem_free(n_before);
	return n == g->n;
}

bool acyclic_load(struct acyclic *g, const struct route_graph *from)
{
	for (router_id r = g->first; r < g->topo->n_routers; r++)
		for (port_id p = 0; p < g->topo->n_ports; p++)
			load_wire(g, from, r, p);
	return put_in_order(g);
}
