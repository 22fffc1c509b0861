#include "route/acyclic.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "topo/wires.h"

/* A range of places is scanned unless it has so many times as many of them as
 * are to be sorted. */
enum { SCAN = 16 };

static void find_ends(struct acyclic *g)
{
	uint32_t n = g->topo->n_ports;

	g->back = wires_back(g->topo);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t wire = i / g->n_channels;

		g->home[i] = wire - wire % n;
		g->far[i] = g->back[wire] / n * n * g->n_channels;
	}
}

void acyclic_init(struct acyclic *g, const struct topo *t, uint32_t n_channels)
{
	g->topo = t;
	g->first = wires_first_switch(t);
	g->n_channels = n_channels;
	g->n = (t->n_routers - g->first) * t->n_ports * n_channels;
	g->after = mem_alloc((size_t)g->n * n_channels, sizeof(*g->after));
	g->before = mem_alloc((size_t)g->n * n_channels, sizeof(*g->before));
	g->place = mem_alloc(g->n, sizeof(*g->place));
	g->order = mem_alloc(g->n, sizeof(*g->order));
	g->far = mem_alloc(g->n, sizeof(*g->far));
	g->home = mem_alloc(g->n, sizeof(*g->home));
	g->ahead.found = mem_alloc(g->n, sizeof(*g->ahead.found));
	g->ahead.mark = ACYCLIC_AHEAD;
	g->behind.found = mem_alloc(g->n, sizeof(*g->behind.found));
	g->behind.mark = ACYCLIC_BEHIND;
	g->key = mem_alloc(g->n, sizeof(*g->key));
	g->is_seen = mem_alloc(g->n, sizeof(*g->is_seen));
	for (uint32_t i = 0; i < g->n; i++)
		g->place[i] = g->order[i] = i;
	find_ends(g);
}

void acyclic_fini(struct acyclic *g)
{
	mem_free(g->after);
	mem_free(g->before);
	mem_free(g->place);
	mem_free(g->order);
	mem_free(g->back);
	mem_free(g->far);
	mem_free(g->home);
	mem_free(g->ahead.found);
	mem_free(g->behind.found);
	mem_free(g->key);
	mem_free(g->is_seen);
}

void acyclic_copy(struct acyclic *to, const struct acyclic *from)
{
	size_t n = (size_t)from->n * from->n_channels * sizeof(*from->after);

	acyclic_init(to, from->topo, from->n_channels);
	memcpy(to->after, from->after, n);
	memcpy(to->before, from->before, n);
	memcpy(to->place, from->place, to->n * sizeof(*to->place));
	memcpy(to->order, from->order, to->n * sizeof(*to->order));
}

/* --- edges --- */

static uint32_t next_of(const struct acyclic *g, uint32_t channel, port_id port,
	uint32_t number)
{
	return g->far[channel] + port * g->n_channels + number;
}

/* The entry of an edge among those that arrive, and its bit. */
static port_mask *arriving(
	const struct acyclic *g, uint32_t channel, uint32_t to, port_mask *bit)
{
	uint32_t n = g->n_channels;

	*bit = (port_mask)1 << g->back[channel / n] % g->topo->n_ports;
	return &g->before[(size_t)to * n + channel % n];
}

static void join(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	port_mask bit, *m = arriving(g, channel,
			       next_of(g, channel, port, number), &bit);

	*m |= bit;
	g->after[(size_t)channel * g->n_channels + number] |= (port_mask)1
							      << port;
}

void acyclic_remove(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	port_mask bit, *m = arriving(g, channel,
			       next_of(g, channel, port, number), &bit);

	*m &= ~bit;
	g->after[(size_t)channel * g->n_channels + number] &=
		~((port_mask)1 << port);
}

/* --- searches --- */

static void begin(struct acyclic *g, struct acyclic_side *s, uint32_t channel)
{
	s->found[0] = channel;
	s->n = 1;
	s->n_done = 0;
	g->is_seen[channel] = s->mark;
}

static void end(struct acyclic *g, struct acyclic_side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		g->is_seen[s->found[i]] = 0;
}

/* Adds a channel to a side; true if it belongs to the other one. */
static bool find(struct acyclic *g, struct acyclic_side *s, uint32_t channel)
{
	if (g->is_seen[channel])
		return g->is_seen[channel] != s->mark;
	g->is_seen[channel] = s->mark;
	s->found[s->n++] = channel;
	return false;
}

/* Channels right behind the next one of the search, up to a place; true if it
 * meets the other side. */
static bool look_ahead(struct acyclic *g, uint32_t upto)
{
	uint32_t channel = g->ahead.found[g->ahead.n_done++];
	uint32_t n = g->n_channels;

	for (uint32_t i = 0; i < n; i++) {
		port_mask m = g->after[(size_t)channel * n + i];

		for (; m; m &= m - 1) {
			uint32_t to = next_of(
				g, channel, (port_id)__builtin_ctzll(m), i);

			if (g->place[to] <= upto && find(g, &g->ahead, to))
				return true;
		}
	}
	return false;
}

/* Channels right in front of the next one of the search, down to a place. */
static bool look_behind(struct acyclic *g, uint32_t downto)
{
	uint32_t channel = g->behind.found[g->behind.n_done++];
	uint32_t n = g->n_channels;

	for (uint32_t i = 0; i < n; i++) {
		port_mask m = g->before[(size_t)channel * n + i];

		for (; m; m &= m - 1) {
			uint32_t wire = g->back[g->home[channel] +
						(uint32_t)__builtin_ctzll(m)];
			uint32_t from = wire * n + i;

			if (g->place[from] >= downto &&
				find(g, &g->behind, from))
				return true;
		}
	}
	return false;
}

/*
 * All channels between two places that must be behind "from", and all that must
 * be in front of "to"; false if a channel is both.  The searches take turns, so
 * that both are short where they meet.
 */
static bool look(struct acyclic *g, uint32_t from, uint32_t to)
{
	const struct acyclic_side *a = &g->ahead, *b = &g->behind;
	uint32_t downto = g->place[from], upto = g->place[to];

	while (a->n_done < a->n || b->n_done < b->n) {
		if (a->n_done < a->n && look_ahead(g, upto))
			return false;
		if (b->n_done < b->n && look_behind(g, downto))
			return false;
	}
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the places of all channels found: key has them, in order. */
static void sort_places(struct acyclic *g)
{
	uint32_t n = 0, i;

	for (i = 0; i < g->behind.n; i++)
		g->key[n++] = g->place[g->behind.found[i]];
	for (i = 0; i < g->ahead.n; i++)
		g->key[n++] = g->place[g->ahead.found[i]];
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
static void reorder(struct acyclic *g, uint32_t from, uint32_t upto)
{
	uint32_t *behind = g->behind.found, *ahead = g->ahead.found;
	uint32_t n = g->behind.n + g->ahead.n, b = 0, a = 0, i;

	if (upto - from < SCAN * n)
		scan_places(g, from, upto);
	else
		sort_places(g);
	for (i = 0; i < n; i++) {
		uint32_t channel = g->order[g->key[i]];

		if (g->is_seen[channel] == ACYCLIC_BEHIND)
			behind[b++] = channel;
		else
			ahead[a++] = channel;
	}
	for (i = 0; i < b; i++)
		put(g, behind[i], (uint32_t)g->key[i]);
	for (i = 0; i < a; i++)
		put(g, ahead[i], (uint32_t)g->key[b + i]);
}

/* Makes one channel the later one of two, if it can be. */
static bool put_behind(struct acyclic *g, uint32_t channel, uint32_t to)
{
	bool can;

	begin(g, &g->ahead, to);
	begin(g, &g->behind, channel);
	can = look(g, to, channel);
	if (can)
		reorder(g, g->place[to], g->place[channel]);
	end(g, &g->ahead);
	end(g, &g->behind);
	return can;
}

bool acyclic_add(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number)
{
	uint32_t to = next_of(g, channel, port, number);

	if (acyclic_has(g, channel, port, number))
		return true;
	if (to == channel || (g->place[to] < g->place[channel] &&
				     !put_behind(g, channel, to)))
		return false;
	join(g, channel, port, number);
	return true;
}

/* --- a whole graph --- */

/* Ports of the switch at the end of a wire that lead to others. */
static port_mask links_behind(const struct acyclic *g, uint32_t wire)
{
	uint32_t n = g->topo->n_ports, first = g->back[wire] / n * n;
	port_mask m = 0;

	for (uint32_t p = 0; p < n; p++)
		if (g->back[first + p] != WIRES_NONE)
			m |= (port_mask)1 << p;
	return m;
}

/* Takes over the edges of one wire. */
static void load_wire(struct acyclic *g, const struct route_graph *from,
	router_id site, port_id port)
{
	uint32_t n = g->n_channels;
	uint32_t wire = acyclic_channel(g, site, port, 0) / n;
	port_mask links;

	if (g->back[wire] == WIRES_NONE)
		return;
	links = links_behind(g, wire);
	for (uint32_t c = 0; c < n * n; c++) {
		uint32_t v = route_vertex(from, site, port, c / n);
		uint32_t to = acyclic_channel(g, site, port, c / n);
		port_mask m = from->after[(size_t)v * n + c % n] & links;

		for (; m; m &= m - 1)
			join(g, to, (port_id)__builtin_ctzll(m), c % n);
	}
}

static uint32_t count_before(const struct acyclic *g, uint32_t channel)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_channels; i++)
		n += (uint32_t)__builtin_popcountll(
			g->before[(size_t)channel * g->n_channels + i]);
	return n;
}

/* Gives channels their places, each when all in front of it have theirs. */
static bool put_in_order(struct acyclic *g)
{
	uint32_t *n_before = mem_alloc(g->n, sizeof(*n_before));
	uint32_t *found = g->ahead.found, n = 0, i, k;

	for (i = 0; i < g->n; i++) {
		n_before[i] = count_before(g, i);
		if (!n_before[i])
			found[n++] = i;
	}
	for (i = 0; i < n; i++) {
		put(g, found[i], i);
		for (k = 0; k < g->n_channels; k++) {
			size_t at = (size_t)found[i] * g->n_channels + k;

			for (port_mask m = g->after[at]; m; m &= m - 1) {
				uint32_t to = next_of(g, found[i],
					(port_id)__builtin_ctzll(m), k);

				if (!--n_before[to])
					found[n++] = to;
			}
		}
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
