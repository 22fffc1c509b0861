#include "route/acyclic.h"

#include <stdlib.h>

#include "base/mem.h"

void acyclic_init(struct acyclic *g, const struct topo *t)
{
	g->topo = t;
	g->n = (t->n_routers - t->n_nodes) * t->n_ports;
	g->after = mem_alloc(g->n, sizeof(*g->after));
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

static struct topo_end far_of(const struct acyclic *g, uint32_t wire)
{
	const struct topo *t = g->topo;

	return t->ops->peer(
		t, t->n_nodes + wire / t->n_ports, wire % t->n_ports);
}

/* The wire that leaves, by a port, the switch at the end of another. */
static uint32_t next_wire(const struct acyclic *g, uint32_t wire, port_id port)
{
	return (far_of(g, wire).router - g->topo->n_nodes) * g->topo->n_ports +
	       port;
}

/* Wires that must be behind "from", up to a place; false if one of them is
 * there itself. */
static bool look_ahead(
	struct acyclic *g, uint32_t from, uint32_t upto, uint32_t *n)
{
	g->ahead[(*n)++] = from;
	g->is_seen[from] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		port_mask m = g->after[g->ahead[i]];

		for (; m; m &= m - 1) {
			uint32_t to = next_wire(
				g, g->ahead[i], (port_id)__builtin_ctzll(m));

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

/* Wires that must be in front of "from", down to a place. */
static void look_behind(
	struct acyclic *g, uint32_t from, uint32_t downto, uint32_t *n)
{
	const struct topo *t = g->topo;

	g->behind[(*n)++] = from;
	g->is_seen[from] = 1;
	for (uint32_t i = 0; i < *n; i++) {
		uint32_t wire = g->behind[i], at = wire / t->n_ports;

		for (port_id p = 0; p < t->n_ports; p++) {
			struct topo_end end =
				t->ops->peer(t, t->n_nodes + at, p);
			uint32_t before;

			if (end.router == NO_ROUTER || end.router < t->n_nodes)
				continue;
			before = (end.router - t->n_nodes) * t->n_ports +
				 end.port;
			if (!acyclic_has(g, before, wire % t->n_ports) ||
				g->place[before] < downto || g->is_seen[before])
				continue;
			g->is_seen[before] = 1;
			g->behind[(*n)++] = before;
		}
	}
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts wires by their places. */
static void sort_wires(struct acyclic *g, uint32_t *wire, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g->key[i] = (uint64_t)g->place[wire[i]] << 32 | wire[i];
	qsort(g->key, n, sizeof(*g->key), by_number);
	for (uint32_t i = 0; i < n; i++)
		wire[i] = (uint32_t)g->key[i];
}

/* Gives all wires found the same places in another order. */
static void reorder(struct acyclic *g, uint32_t n_behind, uint32_t n_ahead)
{
	uint32_t n = 0, i;

	sort_wires(g, g->behind, n_behind);
	sort_wires(g, g->ahead, n_ahead);
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

bool acyclic_add(struct acyclic *g, uint32_t wire, port_id port)
{
	uint32_t to = next_wire(g, wire, port), n_ahead = 0, n_behind = 0, i;
	bool can = true;

	if (acyclic_has(g, wire, port))
		return true;
	if (to == wire)
		return false;
	if (g->place[to] < g->place[wire]) {
		can = look_ahead(g, to, g->place[wire], &n_ahead);
		if (can) {
			look_behind(g, wire, g->place[to], &n_behind);
			reorder(g, n_behind, n_ahead);
		}
		for (i = 0; i < n_ahead; i++)
			g->is_seen[g->ahead[i]] = 0;
		for (i = 0; i < n_behind; i++)
			g->is_seen[g->behind[i]] = 0;
	}
	if (can)
		g->after[wire] |= (port_mask)1 << port;
	return can;
}

void acyclic_remove(struct acyclic *g, uint32_t wire, port_id port)
{
	g->after[wire] &= ~((port_mask)1 << port);
}
