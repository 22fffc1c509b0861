/*
 * What follows from the edges: distances, the peak, tables.
 *
 * The best throughput of random traffic is the solution of a large linear
 * program.  Its dual gives bounds: whatever the routing is, packets use any set
 * of wires at least as often as paths that avoid them where they can, and these
 * wires carry no more than their rates.  The peak is the least of such bounds:
 * for all wires; for those that are busiest if all shortest paths are used
 * alike, which are the right ones in networks that look the same from many
 * switches; and for the wires that leave one switch.
 */
#include <stdio.h>
#include <string.h>

#include "base/bits.h"
#include "base/mem.h"
#include "topo/switches.h"

/* A cable from a switch to another. */
struct cable {
	uint32_t to;
	uint32_t wire; /* switch * ports + port */
};

/* A breadth-first search from one switch. */
struct search {
	const struct switches *s;
	uint32_t *first; /* [switch] its first cable; one more at the end */
	struct cable *cable;
	uint32_t *queue; /* switches, nearest first */
	uint32_t *hops; /* [switch]; UINT32_MAX: not yet reached */
	double *paths; /* [switch] shortest ones from the start */
	double uses; /* of all cables, by packets of all starts so far */
	double *below; /* [switch] packets that pass it or end there, divided
			  by its paths */
};

/* Searches from 64 switches at once; a bit is a start. */
struct reach {
	uint32_t start[64], n;
	uint32_t nodes; /* of each start; 0: not all have as many */
	uint32_t *queue, *later; /* switches: of this distance, of the next */
	uint32_t n_queue, n_later;
	uint64_t *seen; /* [switch] starts that have reached it */
	uint64_t *fresh; /* [switch] starts that have yet to continue from it */
	uint64_t *next; /* [switch] starts that reach it by one more use */
};

static uint32_t neighbour(const struct switches *s, uint32_t at, port_id p)
{
	router_id r = s->far[(size_t)at * s->topo.n_ports + p].router;

	return r == NO_ROUTER || r < s->topo.n_nodes ? UINT32_MAX
						     : r - s->topo.n_nodes;
}

static void list_cables(struct search *f)
{
	const struct switches *s = f->s;
	uint32_t n = 0;

	f->first = mem_alloc(s->plan.n + 1, sizeof(*f->first));
	f->cable = mem_alloc(
		(size_t)s->plan.n * s->topo.n_ports, sizeof(*f->cable));
	for (uint32_t at = 0; at < s->plan.n; at++) {
		f->first[at] = n;
		for (port_id p = 0; p < s->topo.n_ports; p++) {
			uint32_t to = neighbour(s, at, p);

			if (to != UINT32_MAX)
				f->cable[n++] = (struct cable){ to,
					at * s->topo.n_ports + p };
		}
	}
	f->first[s->plan.n] = n;
}

static void search_from(struct search *f, uint32_t start)
{
	uint32_t head = 0, tail = 0, n = f->s->plan.n;

	memset(f->hops, 0xff, n * sizeof(*f->hops));
	memset(f->paths, 0, n * sizeof(*f->paths));
	f->hops[start] = 0;
	f->paths[start] = 1;
	f->queue[tail++] = start;
	while (head < tail) {
		uint32_t at = f->queue[head++];

		/* without branches, which nobody can predict */
		for (uint32_t i = f->first[at]; i < f->first[at + 1]; i++) {
			uint32_t to = f->cable[i].to, more = f->hops[at] + 1;
			uint32_t hops = f->hops[to];

			f->queue[tail] = to;
			tail += hops == UINT32_MAX;
			hops = hops == UINT32_MAX ? more : hops;
			f->hops[to] = hops;
			f->paths[to] += hops == more ? f->paths[at] : 0;
		}
	}
}

/*
 * Adds what the nodes of one switch send to all others to the wires that carry
 * it.  Going back from the farthest switch, a switch gets what ends there and
 * what goes on from it, and each path to it has an equal share (Brandes,
 * Journal of Mathematical Sociology 2001).
 */
static void add_load(struct search *f, uint32_t start, double *load)
{
	const uint32_t *nodes = f->s->plan.nodes;

	for (uint32_t i = f->s->plan.n; i--;) {
		uint32_t at = f->queue[i];
		double pass = (double)nodes[start] * nodes[at];

		for (uint32_t k = f->first[at]; k < f->first[at + 1]; k++) {
			uint32_t to = f->cable[k].to;
			double part = f->below[to] * f->paths[at];

			part = f->hops[to] == f->hops[at] + 1 ? part : 0;
			load[k] += part;
			pass += part;
		}
		f->below[at] = pass / f->paths[at];
	}
}

static void note_distances(
	struct switches *s, struct search *f, uint32_t start, double *sum)
{
	for (uint32_t i = 0; i < s->plan.n; i++) {
		uint32_t hops = f->hops[i];

		s->hops[(size_t)start * s->plan.n + i] =
			(uint8_t)(hops < UINT8_MAX ? hops : UINT8_MAX);
		s->diameter = hops > s->diameter ? hops : s->diameter;
		*sum += hops;
		f->uses +=
			(double)hops * s->plan.nodes[start] * s->plan.nodes[i];
	}
}

/* Nodes of some starts. */
static double nodes_of(
	const struct search *f, const struct reach *r, uint64_t starts)
{
	uint64_t sum = 0;

	if (r->nodes)
		return r->nodes * (double)__builtin_popcountll(starts);
	for (; starts; starts &= starts - 1)
		sum += f->s->plan.nodes[r->start[bits_first(starts)]];
	return (double)sum;
}

/* Some starts reach a switch; returns those that had not before. */
static uint64_t reach(struct reach *r, uint32_t at, uint64_t starts)
{
	starts &= ~r->seen[at];
	if (!starts)
		return 0;
	r->seen[at] |= starts;
	if (!r->fresh[at])
		r->queue[r->n_queue++] = at;
	r->fresh[at] |= starts;
	return starts;
}

/* Starts that have reached a switch by so many uses continue from it; returns
 * these uses, by the packets to the switches that they reach. */
static double go_on(const struct search *f, struct reach *r,
	const uint8_t *is_in, uint32_t at, double uses)
{
	uint64_t starts = r->fresh[at], more;
	double sum = 0;

	r->fresh[at] = 0;
	for (uint32_t i = f->first[at]; i < f->first[at + 1]; i++) {
		uint32_t to = f->cable[i].to;

		if (!is_in[i]) {
			more = reach(r, to, starts);
			sum += uses * f->s->plan.nodes[to] *
			       nodes_of(f, r, more);
		} else if (starts & ~r->seen[to]) {
			if (!r->next[to])
				r->later[r->n_later++] = to;
			r->next[to] |= starts;
		}
	}
	return sum;
}

/* All switches that are so many uses away. */
static double go_on_all(const struct search *f, struct reach *r,
	const uint8_t *is_in, double uses)
{
	double sum = 0;

	for (uint32_t n = r->n_later; n--;) {
		uint32_t at = r->later[n];
		uint64_t starts = reach(r, at, r->next[at]);

		r->next[at] = 0;
		sum += uses * f->s->plan.nodes[at] * nodes_of(f, r, starts);
	}
	r->n_later = 0;
	while (r->n_queue)
		sum += go_on(f, r, is_in, r->queue[--r->n_queue], uses);
	return sum;
}

/* The next 64 switches with nodes; false: there are none. */
static bool take_starts(const struct search *f, struct reach *r, uint32_t *at)
{
	uint32_t n = f->s->plan.n;

	memset(r->seen, 0, n * sizeof(*r->seen));
	for (r->n = 0; *at < n && r->n < 64; ++*at) {
		if (!f->s->plan.nodes[*at])
			continue;
		r->later[r->n_later++] = *at;
		r->next[*at] = UINT64_C(1) << r->n;
		r->start[r->n++] = *at;
	}
	r->nodes = r->n ? f->s->plan.nodes[r->start[0]] : 0;
	for (uint32_t i = 0; i < r->n; i++)
		if (f->s->plan.nodes[r->start[i]] != r->nodes)
			r->nodes = 0;
	return r->n;
}

/*
 * How often packets use wires of a set, by paths that use as few of them as
 * possible: switches that other wires lead to are as near.  All sums are whole
 * numbers, so their order does not matter.
 */
static double count_uses(const struct search *f, const uint8_t *is_in)
{
	uint32_t n = f->s->plan.n, at = 0;
	struct reach r = { .n = 0 };
	double sum = 0;

	r.queue = mem_alloc(n, sizeof(*r.queue));
	r.later = mem_alloc(n, sizeof(*r.later));
	r.seen = mem_alloc(n, sizeof(*r.seen));
	r.fresh = mem_alloc(n, sizeof(*r.fresh));
	r.next = mem_alloc(n, sizeof(*r.next));
	while (take_starts(f, &r, &at))
		for (double uses = 0; r.n_later; uses++)
			sum += go_on_all(f, &r, is_in, uses);
	mem_free(r.next);
	mem_free(r.fresh);
	mem_free(r.seen);
	mem_free(r.later);
	mem_free(r.queue);
	return sum;
}

/* The bound for wires with at least a load. */
static void add_bound(
	struct switches *s, struct search *f, const double *load, double least)
{
	uint32_t n = f->first[s->plan.n];
	struct switches_bound *b = &s->bound[s->n_bounds++];
	uint8_t *is_in = mem_alloc(n, 1);

	for (uint32_t i = 0; i < n; i++) {
		is_in[i] = load[i] >= least;
		b->wires[s->class[f->cable[i].wire]] += is_in[i];
	}
	b->uses = least > 0 ? count_uses(f, is_in) : f->uses;
	mem_free(is_in);
}

static void add_bounds(struct switches *s, struct search *f, const double *load)
{
	static const double shares[] = { 0, 0.999, 0.9, 0.75, 0.5 };
	uint32_t n = f->first[s->plan.n];
	double most = 0;

	for (uint32_t i = 0; i < n; i++)
		most = load[i] > most ? load[i] : most;
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		add_bound(s, f, load, shares[i] * most);
}

void switches_measure(struct switches *s)
{
	uint32_t n = s->plan.n;
	struct search f = { .s = s };
	double *load, sum = 0;

	if (n > SWITCHES_TABLE)
		return;
	list_cables(&f);
	/* one more, which a search writes and does not count */
	f.queue = mem_alloc(n + 1, sizeof(*f.queue));
	f.hops = mem_alloc(n, sizeof(*f.hops));
	f.paths = mem_alloc(n, sizeof(*f.paths));
	f.below = mem_alloc(n, sizeof(*f.below));
	load = mem_alloc(f.first[n], sizeof(*load)); /* [cable] */
	s->hops = mem_alloc((size_t)n * n, sizeof(*s->hops));
	for (uint32_t i = 0; i < n; i++) {
		search_from(&f, i);
		note_distances(s, &f, i, &sum);
		if (s->plan.nodes[i])
			add_load(&f, i, load);
	}
	s->mean = n > 1 ? sum / ((double)n * (n - 1)) : 0;
	add_bounds(s, &f, load);
	mem_free(load);
	mem_free(f.below);
	mem_free(f.paths);
	mem_free(f.hops);
	mem_free(f.queue);
	mem_free(f.cable);
	mem_free(f.first);
}

uint32_t switches_distance(const struct topo *t, router_id a, router_id b)
{
	const struct switches *s = switches_of(t);
	uint32_t from = a < t->n_nodes ? s->at[a] : a - t->n_nodes;
	uint32_t to = b < t->n_nodes ? s->at[b] : b - t->n_nodes;
	uint32_t hops;

	if (a == b)
		return 0;
	if (!s->hops)
		return TOPO_FAR;
	hops = s->hops[(size_t)from * s->plan.n + to];
	return hops == UINT8_MAX ? TOPO_FAR
				 : hops + (a < t->n_nodes) + (b < t->n_nodes);
}

/* What a node may send if wires of these rates carry so many packets, when each
 * node sends one to each other node. */
static double bound_by(const struct topo *t, double rates, double uses)
{
	return uses > 0 ? rates * (t->n_nodes - 1) / uses : rates;
}

/* What the wires that leave one switch can carry. */
static double leaving(const struct switches *s, const double *rate)
{
	double least = rate[SWITCHES_UP], n = s->topo.n_nodes;

	for (uint32_t i = 0; i < s->plan.n; i++) {
		double all = 0, own = s->plan.nodes[i], bound;

		for (port_id p = 0; p < s->topo.n_ports; p++)
			if (neighbour(s, i, p) != UINT32_MAX)
				all += rate[s->class[(size_t)i *
							     s->topo.n_ports +
						     p]];
		bound = bound_by(&s->topo, all, own * (n - own));
		if (own > 0 && own < n && bound < least)
			least = bound;
	}
	return least;
}

uint64_t switches_peak(const struct topo *t, const struct topo_rates *k)
{
	const struct switches *s = switches_of(t);
	double rate[TOPO_MAX_WIRES], peak;

	if (!s->hops)
		return 0;
	for (uint32_t i = 0; i < t->n_wires; i++)
		rate[i] = (double)k->rate(k, i, 0, 1);
	peak = leaving(s, rate);
	for (uint32_t i = 0; i < s->n_bounds; i++) {
		double all = 0, bound;

		for (uint32_t w = SWITCHES_CABLE; w < t->n_wires; w++)
			all += rate[w] * (double)s->bound[i].wires[w];
		bound = bound_by(t, all, s->bound[i].uses);
		if (s->bound[i].uses > 0 && bound < peak)
			peak = bound;
	}
	return (uint64_t)peak;
}

uint64_t switches_links(const struct topo *t, uint32_t class)
{
	const struct switches_plan *p = &switches_of(t)->plan;
	uint64_t n = 0;

	if (class < SWITCHES_CABLE)
		return t->n_nodes;
	for (size_t i = 0; i < p->n_edges; i++)
		n += p->edge[i].cable == class - SWITCHES_CABLE;
	return n;
}

void switches_where(const struct topo *t, uint32_t class, char text[TOPO_TEXT])
{
	const struct switches *s = switches_of(t);

	if (class < SWITCHES_CABLE)
		snprintf(text, TOPO_TEXT, "%lld m, between node and switch",
			(long long)s->node_cable);
	else
		snprintf(text, TOPO_TEXT, "%lld m, between switches",
			(long long)s->plan.cable[class - SWITCHES_CABLE]
				.metres);
}

const struct topo_table switches_tables[] = {
	{ "graph", { { "", "property", false, false },
			   { "", "value", false, false } } },
	{ NULL, { { NULL, NULL, false, false } } },
};

/* The least and the most ports between switches. */
static void degrees(const struct switches *s, uint32_t *least, uint32_t *most)
{
	*least = UINT32_MAX;
	*most = 0;
	for (uint32_t i = 0; i < s->plan.n; i++) {
		uint32_t n = 0;

		for (port_id p = 0; p < s->topo.n_ports; p++)
			n += neighbour(s, i, p) != UINT32_MAX;
		*least = n < *least ? n : *least;
		*most = n > *most ? n : *most;
	}
}

bool switches_row(const struct topo *t, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	static const char *const words[] = { "switches",
		"ports between switches", "diameter", "mean distance" };
	const struct switches *s = switches_of(t);
	char *text = cell[1].text;
	size_t size = sizeof(cell[1].text);
	uint32_t least, most;

	(void)table;
	if (i >= (s->hops ? 4 : 2))
		return false;
	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	snprintf(cell[0].text, sizeof(cell[0].text), "%s", words[i]);
	degrees(s, &least, &most);
	if (i == 0)
		snprintf(text, size, "%u", s->plan.n);
	else if (i == 1 && least == most)
		snprintf(text, size, "%u", most);
	else if (i == 1)
		snprintf(text, size, "%u to %u", least, most);
	else if (i == 2)
		snprintf(text, size, "%u", s->diameter);
	else
		snprintf(text, size, "%.3f", s->mean);
	return true;
}
