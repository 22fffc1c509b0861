#include "route/spare.h"

#include <string.h>

#include "base/mem.h"
#include "sim/random.h"

enum { TRIES = 4, LEAST_TRIES = 16 };

#define NONE UINT32_MAX

struct path {
	uint64_t pair;
	uint32_t first; /* hop */
	uint32_t n;
};

/* Paths by pair, each pair at most once. */
struct paths {
	struct path *v;
	size_t n;
};

/* Paths from one switch, as a tree of channels. */
struct search {
	router_id from; /* NO_ROUTER: nothing is known */
	uint32_t *before; /* [channel] or itself */
	uint8_t *is_seen; /* [channel] */
	uint32_t *queue;
	uint32_t *best; /* [site] the channel by which it is reached, or NONE */
};

struct spare {
	struct acyclic order;
	struct spare_hop *hop;
	uint32_t n_hops;
	struct paths now; /* pairs in use */
	struct paths had; /* by the one that this is a copy of */
	struct search search;
	uint32_t patience; /* see spare_set_patience() */
	uint32_t n_failed; /* pairs in a row */
};

static uint64_t pair_of(router_id from, router_id to)
{
	return (uint64_t)from << 32 | to;
}

static struct spare *make(void)
{
	struct spare *s = mem_alloc(1, sizeof(*s));

	s->search.from = NO_ROUTER;
	s->patience = UINT32_MAX;
	return s;
}

struct spare *spare_new(const struct route_graph *g)
{
	struct spare *s = make();

	acyclic_init(&s->order, g->topo, g->n_channels);
	if (acyclic_load(&s->order, g))
		return s;
	spare_free(s);
	return NULL;
}

void spare_set_patience(struct spare *s, uint32_t n_pairs)
{
	s->patience = n_pairs;
}

struct spare *spare_copy(const struct spare *old)
{
	struct spare *s = make();

	acyclic_copy(&s->order, &old->order);
	s->patience = old->patience;
	s->hop = mem_alloc(old->n_hops + 1, sizeof(*s->hop));
	if (old->n_hops)
		memcpy(s->hop, old->hop, old->n_hops * sizeof(*s->hop));
	s->n_hops = old->n_hops;
	s->had.n = old->now.n;
	s->had.v = mem_alloc(old->now.n + 1, sizeof(*s->had.v));
	if (old->now.n)
		memcpy(s->had.v, old->now.v, old->now.n * sizeof(*s->had.v));
	return s;
}

static void end_search(struct search *x)
{
	mem_free(x->before);
	mem_free(x->is_seen);
	mem_free(x->queue);
	mem_free(x->best);
	*x = (struct search){ .from = NO_ROUTER };
}

void spare_free(struct spare *s)
{
	if (!s)
		return;
	end_search(&s->search);
	acyclic_fini(&s->order);
	mem_free(s->hop);
	mem_free(s->now.v);
	mem_free(s->had.v);
	mem_free(s);
}

static const struct path *find(const struct paths *p, uint64_t pair)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t i = low + (high - low) / 2;

		if (p->v[i].pair < pair)
			low = i + 1;
		else
			high = i;
	}
	return low < p->n && p->v[low].pair == pair ? &p->v[low] : NULL;
}

uint32_t spare_first(const struct spare *s, router_id from, router_id to)
{
	const struct path *p = find(&s->now, pair_of(from, to));

	return p ? p->first + 1 : 0;
}

struct spare_hop spare_hop(const struct spare *s, uint32_t number)
{
	return s->hop[number - 1];
}

static void keep(struct spare *s, const struct path *p)
{
	s->now.v = mem_more(s->now.v, s->now.n, sizeof(*s->now.v));
	s->now.v[s->now.n++] = *p;
}

/* Whether all links of a path work. */
static bool works(
	const struct spare *s, const struct path *p, const port_mask *dead)
{
	const struct topo *t = s->order.topo;
	router_id at = (router_id)(p->pair >> 32);

	for (uint32_t i = 0; i < p->n; i++) {
		port_id port = s->hop[p->first + i].port;

		if (dead[at] >> port & 1)
			return false;
		at = t->ops->peer(t, at, port).router;
	}
	return true;
}

/* --- searches --- */

static void begin_search(struct spare *s, router_id from)
{
	struct search *x = &s->search;
	const struct topo *t = s->order.topo;
	size_t n = s->order.n;

	if (!x->before) {
		x->before = mem_alloc(n, sizeof(*x->before));
		x->is_seen = mem_alloc(n, sizeof(*x->is_seen));
		x->queue = mem_alloc(n, sizeof(*x->queue));
		x->best = mem_alloc(t->n_routers, sizeof(*x->best));
	}
	x->from = from;
	memset(x->is_seen, 0, n);
	for (router_id r = 0; r < t->n_routers; r++)
		x->best[r] = NONE;
}

/* Adds the channels of the links at a site that may follow another channel, or
 * any.  Ports are tried in a random order, so that pairs share what is left. */
static void extend(struct spare *s, const port_mask *dead, router_id at,
	uint32_t behind, uint32_t only, uint64_t lot, uint32_t *tail)
{
	const struct acyclic *g = &s->order;
	struct search *x = &s->search;
	uint32_t n = g->topo->n_ports;
	uint32_t turn = (uint32_t)random_below(
		random_draw(lot, at, RANDOM_WAY, x->from).a, n);

	for (uint32_t i = 0; i < n * g->n_channels; i++) {
		port_id port = (port_id)((i / g->n_channels + turn) % n);
		uint32_t number = i % g->n_channels, c;
		struct topo_end far = g->topo->ops->peer(g->topo, at, port);

		if (far.router == NO_ROUTER || far.router < g->first ||
			far.router == x->from || dead[at] >> port & 1 ||
			(only != NONE && number != only))
			continue;
		c = acyclic_channel(g, at, port, number);
		if (x->is_seen[c] ||
			(only != NONE && x->best[far.router] != NONE) ||
			(only == NONE && behind != NONE &&
				g->place[c] <= g->place[behind]))
			continue;
		x->is_seen[c] = 1;
		x->before[c] = behind == NONE ? c : behind;
		x->queue[(*tail)++] = c;
		if (x->best[far.router] == NONE)
			x->best[far.router] = c;
	}
}

/* Shortest paths from a switch to all others, by channels in their order; or
 * by one channel in any order. */
static void search(struct spare *s, const port_mask *dead, router_id from,
	uint32_t only, uint64_t lot)
{
	struct search *x = &s->search;
	uint32_t tail = 0;

	begin_search(s, from);
	extend(s, dead, from, NONE, only, lot, &tail);
	for (uint32_t i = 0; i < tail; i++)
		extend(s, dead, acyclic_end(&s->order, x->queue[i]),
			x->queue[i], only, lot, &tail);
}

/* --- a path of a search --- */

/* Its channels, the last one first. */
static uint32_t list_channels(const struct search *x, router_id to, uint32_t *v)
{
	uint32_t n = 0, c = x->best[to];

	v[n++] = c;
	while (x->before[c] != c) {
		c = x->before[c];
		v[n++] = c;
	}
	return n;
}

static port_id port_of(const struct acyclic *g, uint32_t channel)
{
	return (port_id)(channel / g->n_channels % g->topo->n_ports);
}

/* Adds what a path makes wait; false, without a change, if it does not fit. */
static bool fits(struct acyclic *g, const uint32_t *v, uint32_t n)
{
	uint8_t *is_new = mem_alloc(n, 1);
	uint32_t i;
	bool can = true;

	for (i = n - 1; i && can; i--) {
		port_id port = port_of(g, v[i - 1]);
		uint32_t number = v[i - 1] % g->n_channels;

		is_new[i] = !acyclic_has(g, v[i], port, number);
		can = acyclic_add(g, v[i], port, number);
		is_new[i] &= can;
	}
	for (i = n - 1; i && !can; i--)
		if (is_new[i])
			acyclic_remove(g, v[i], port_of(g, v[i - 1]),
				v[i - 1] % g->n_channels);
	mem_free(is_new);
	return can;
}

/* Keeps the path that was found, if it fits. */
static bool take(struct spare *s, router_id to)
{
	const struct acyclic *g = &s->order;
	struct path p = { pair_of(s->search.from, to), s->n_hops, 0 };
	uint32_t *v = mem_alloc(g->n, sizeof(*v));
	bool can;

	p.n = list_channels(&s->search, to, v);
	can = s->n_hops + p.n < SPARE_HOPS && fits(&s->order, v, p.n);
	if (can) {
		s->hop = mem_grow(s->hop, s->n_hops + p.n, sizeof(*s->hop));
		for (uint32_t i = p.n; i--;)
			s->hop[s->n_hops++] = (struct spare_hop){
				(uint8_t)port_of(g, v[i]),
				(uint8_t)(v[i] % g->n_channels),
			};
		keep(s, &p);
	}
	mem_free(v);
	return can;
}

/* By the shortest path on one channel, of which there may be several. */
static bool take_any(struct spare *s, const port_mask *dead, router_id to)
{
	router_id from = s->search.from;
	uint32_t n = s->order.n_channels;
	uint32_t tries = n > 1 ? TRIES * n : LEAST_TRIES;
	bool is_found = false;

	if (s->n_failed >= s->patience)
		return false;
	for (uint32_t i = 0; i < tries && !is_found; i++) {
		search(s, dead, from, n - 1 - i % n, 1 + to + i);
		if (s->search.best[to] == NONE)
			break;
		is_found = take(s, to);
	}
	s->search.from = NO_ROUTER; /* the order may be another one */
	s->n_failed = is_found ? 0 : s->n_failed + 1;
	return is_found;
}

bool spare_is_cut(const struct topo *t, const port_mask *dead, router_id at)
{
	router_id first = topo_is_direct(t) ? 0 : t->n_nodes;

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, at, p);

		if (far.router != NO_ROUTER && far.router >= first &&
			!(dead[at] >> p & 1))
			return false;
	}
	return true;
}

void spare_give(
	struct spare *s, const port_mask *dead, router_id from, router_id to)
{
	const struct path *had = find(&s->had, pair_of(from, to));

	if (spare_is_cut(s->order.topo, dead, from) ||
		spare_is_cut(s->order.topo, dead, to))
		return;
	if (had && works(s, had, dead)) {
		keep(s, had);
		return;
	}
	if (s->search.from != from)
		search(s, dead, from, NONE, 0);
	if (s->search.best[to] == NONE || !take(s, to))
		take_any(s, dead, to);
}

void spare_walk(const struct spare *s, const struct route_graph *g)
{
	const struct acyclic *a = &s->order;
	uint32_t n = a->n_channels, shift = a->first * a->topo->n_ports * n;

	for (uint32_t c = 0; c < a->n; c++)
		for (uint32_t next = 0; next < n; next++)
			route_add(g, shift + c, a->after[(size_t)c * n + next],
				next);
}
