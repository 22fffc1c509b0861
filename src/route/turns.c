#include "route/turns.h"

#include "base/mem.h"
#include "topo/wires.h"

void turns_init(struct turns *g, const struct topo *t)
{
	uint32_t n = t->n_ports;

	g->n = (t->n_routers - wires_first_switch(t)) * n;
	g->after = mem_alloc(g->n, sizeof(*g->after));
	g->before = mem_alloc(g->n, sizeof(*g->before));
	g->back = wires_back(t);
	g->far = mem_alloc(g->n, sizeof(*g->far));
	g->home = mem_alloc(g->n, sizeof(*g->home));
	g->level = mem_alloc(g->n, sizeof(*g->level));
	g->ahead.found = mem_alloc(g->n, sizeof(*g->ahead.found));
	g->ahead.mark = TURNS_AHEAD;
	g->behind.found = mem_alloc(g->n, sizeof(*g->behind.found));
	g->behind.mark = TURNS_BEHIND;
	g->is_seen = mem_alloc(g->n, sizeof(*g->is_seen));
	for (uint32_t i = 0; i < g->n; i++) {
		g->home[i] = i - i % n;
		g->far[i] = g->back[i] / n * n;
	}
}

void turns_fini(struct turns *g)
{
	mem_free(g->after);
	mem_free(g->before);
	mem_free(g->back);
	mem_free(g->far);
	mem_free(g->home);
	mem_free(g->level);
	mem_free(g->ahead.found);
	mem_free(g->behind.found);
	mem_free(g->is_seen);
}

/* The port at which a wire arrives, as a mask. */
static port_mask arrival(const struct turns *g, uint32_t wire)
{
	return (port_mask)1 << (g->back[wire] - g->far[wire]);
}

void turns_remove(struct turns *g, uint32_t wire, port_id port)
{
	g->after[wire] &= ~((port_mask)1 << port);
	g->before[g->far[wire] + port] &= ~arrival(g, wire);
}

/* --- searches --- */

static void begin(struct turns *g, struct turns_side *s, uint32_t wire)
{
	s->found[0] = wire;
	s->n = 1;
	s->n_done = 0;
	g->is_seen[wire] = s->mark;
}

static void end(struct turns *g, struct turns_side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		g->is_seen[s->found[i]] = 0;
}

/* Adds a wire to a side; true if it belongs to the other one. */
static bool find(struct turns *g, struct turns_side *s, uint32_t wire)
{
	if (g->is_seen[wire])
		return g->is_seen[wire] != s->mark;
	g->is_seen[wire] = s->mark;
	s->found[s->n++] = wire;
	return false;
}

/* Finds the wires after the next one of the search, up to a level; true if it
 * meets the other side. */
static bool look_ahead(struct turns *g, int64_t upto)
{
	uint32_t wire = g->ahead.found[g->ahead.n_done++];

	for (port_mask m = g->after[wire]; m; m &= m - 1) {
		uint32_t to = g->far[wire] + (uint32_t)__builtin_ctzll(m);

		if (g->level[to] <= upto && find(g, &g->ahead, to))
			return true;
	}
	return false;
}

/* Finds the wires before the next one of the search, down to a level. */
static bool look_behind(struct turns *g, int64_t downto)
{
	uint32_t wire = g->behind.found[g->behind.n_done++];

	for (port_mask m = g->before[wire]; m; m &= m - 1) {
		uint32_t from =
			g->back[g->home[wire] + (uint32_t)__builtin_ctzll(m)];

		if (g->level[from] >= downto && find(g, &g->behind, from))
			return true;
	}
	return false;
}

/* Searches ahead from one wire and back from another one, in turns, until one
 * side has all wires between their levels; false if the searches meet. */
static bool look(struct turns *g, uint32_t from, uint32_t to)
{
	const struct turns_side *a = &g->ahead, *b = &g->behind;
	int64_t downto = g->level[to], upto = g->level[from];

	while (a->n_done < a->n && b->n_done < b->n)
		if (look_ahead(g, upto) || look_behind(g, downto))
			return false;
	return true;
}

static void set_level(struct turns *g, const struct turns_side *s, int64_t v)
{
	for (uint32_t i = 0; i < s->n; i++)
		g->level[s->found[i]] = v;
}

/*
 * Makes a wire the later one of two, if it can be: all that it leads to rises
 * above the other one, or all that leads to the other one goes below it.
 */
static bool put_behind(struct turns *g, uint32_t wire, uint32_t to)
{
	bool can;

	begin(g, &g->ahead, to);
	begin(g, &g->behind, wire);
	can = look(g, wire, to);
	if (can && g->ahead.n_done == g->ahead.n)
		set_level(g, &g->ahead, g->level[wire] + 1);
	else if (can)
		set_level(g, &g->behind, g->level[to] - 1);
	end(g, &g->ahead);
	end(g, &g->behind);
	return can;
}

bool turns_add(struct turns *g, uint32_t wire, port_id port)
{
	uint32_t to = g->far[wire] + port;

	if (turns_has(g, wire, port))
		return true;
	if (to == wire ||
		(g->level[to] <= g->level[wire] && !put_behind(g, wire, to)))
		return false;
	g->after[wire] |= (port_mask)1 << port;
	g->before[to] |= arrival(g, wire);
	return true;
}
