#include "route/acyclic.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A range of places is scanned unless it has so many times as many of them as
 * are to be sorted. */
enum { SCAN = 16 };

static uint32_t wire_back(const struct acyclic *g, uint32_t wire)
{
	const struct topo *t = g->topo;
	struct topo_end far = t->ops->peer(
		t, g->first + wire / t->n_ports, wire % t->n_ports);

	if (far.router == NO_ROUTER || far.router < g->first)
		return ACYCLIC_NONE;
	return (far.router - g->first) * t->n_ports + far.port;
}

void acyclic_init(struct acyclic *g, const struct topo *t, uint32_t n_channels)
{
	g->topo = t;
	g->first = topo_is_direct(t) ? 0 : t->n_nodes;
	g->n_channels = n_channels;
	g->n = (t->n_routers - g->first) * t->n_ports * n_channels;
	g->after = mem_alloc((size_t)g->n * n_channels, sizeof(*g->after));
	g->place = mem_alloc(g->n, sizeof(*g->place));
	g->order = mem_alloc(g->n, sizeof(*g->order));
	g->back = mem_alloc(g->n / n_channels, sizeof(*g->back));
	g->ahead = mem_alloc(g->n, sizeof(*g->ahead));
	g->behind = mem_alloc(g->n, sizeof(*g->behind));
	g->key = mem_alloc(g->n, sizeof(*g->key));
	g->is_seen = mem_alloc(g->n, sizeof(*g->is_seen));
	for (uint32_t i = 0; i < g->n; i++)
		g->place[i] = g->order[i] = i;
	for (uint32_t i = 0; i < g->n / n_channels; i++)
		g->back[i] = wire_back(g, i);
}

void acyclic_fini(struct acyclic *g)
{
	mem_free(g->after);
	mem_free(g->place);
	mem_free(g->order);
	mem_free(g->back);
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
	memcpy(to->order, from->order, to->n * sizeof(*to->order));
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
		*to = acyclic_far(g, channel) + port * n + number;
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
	g->is_seen[from] = ACYCLIC_AHEAD;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t at = 0, to;

		while (next_after(g, g->ahead[i], &at, &to)) {
			if (g->place[to] == upto)
				return false;
			if (g->place[to] > upto || g->is_seen[to])
				continue;
			g->is_seen[to] = ACYCLIC_AHEAD;
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
		g->is_seen[before] = ACYCLIC_BEHIND;
		g->behind[(*n)++] = before;
	}
}

/* Channels that must be in front of "from", down to a place. */
static void look_behind(
	struct acyclic *g, uint32_t from, uint32_t downto, uint32_t *n)
{
	uint32_t n_ports = g->topo->n_ports;

	g->behind[(*n)++] = from;
	g->is_seen[from] = ACYCLIC_BEHIND;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t channel = g->behind[i];
		uint32_t first = channel / g->n_channels / n_ports * n_ports;

		for (port_id p = 0; p < n_ports; p++) {
			uint32_t back = g->back[first + p];

			if (back != ACYCLIC_NONE)
				look_along(g, back * g->n_channels, channel,
					downto, n);
		}
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the places of all channels found: key has them, in order. */
static void sort_places(struct acyclic *g, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t n = 0, i;

	for (i = 0; i < n_behind; i++)
		g->key[n++] = g->place[g->behind[i]];
	for (i = 0; i < n_ahead; i++)
		g->key[n++] = g->place[g->ahead[i]];
	qsort(g->key, n, sizeof(*g->key), by_number);
}

/* The same where they are most of the places in a range. */
static void scan_places(struct acyclic *g, uint32_t from, uint32_t upto)
{
	uint32_t n = 0;

	for (uint32_t i = from; i <= upto; i++)
		if (g->is_seen[g->order[i]])
			g->key[n++] = i;
}

static void put(struct acyclic *g, uint32_t channel, uint32_t place)
{
	g->place[channel] = place;
	g->order[place] = channel;
}

/* Gives all channels found, which are in a range of places, the same places in
 * another order: first those behind, then those ahead. */
static void reorder(struct acyclic *g, uint32_t n_behind, uint32_t n_ahead,
	uint32_t from, uint32_t upto)
{
	uint32_t n = n_behind + n_ahead, b = 0, a = 0, i;

	if (upto - from < SCAN * n)
		scan_places(g, from, upto);
	else
		sort_places(g, n_behind, n_ahead);
	for (i = 0; i < n; i++) {
		uint32_t channel = g->order[g->key[i]];

		if (g->is_seen[channel] == ACYCLIC_BEHIND)
			g->behind[b++] = channel;
		else
			g->ahead[a++] = channel;
	}
	for (i = 0; i < b; i++)
		put(g, g->behind[i], (uint32_t)g->key[i]);
	for (i = 0; i < a; i++)
		put(g, g->ahead[i], (uint32_t)g->key[b + i]);
}

bool acyclic_add(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	uint32_t n_ahead = 0, n_behind = 0, i;
	uint32_t to = acyclic_far(g, channel) + port * g->n_channels + number;
	bool can = true;

	if (acyclic_has(g, channel, port, number))
		return true;
	if (to == channel)
		return false;
	if (g->place[to] < g->place[channel]) {
		can = look_ahead(g, to, g->place[channel], &n_ahead);
		if (can) {
			look_behind(g, channel, g->place[to], &n_behind);
			reorder(g, n_behind, n_ahead, g->place[to],
				g->place[channel]);
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
		put(g, g->ahead[i], i);
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
