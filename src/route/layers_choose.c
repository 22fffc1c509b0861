/* Which paths there are: tables of next ports. */
#include <string.h>

#include "base/mem.h"
#include "route/layers.h"

enum { ROUNDS = 4, FAR = 0xff };

/* The hop of a tree from a switch. */
struct branch {
	uint64_t load; /* of its wire, which has no other hop of the tree */
	uint32_t next; /* switch */
	uint32_t share; /* of a pair in the load */
};

struct chooser {
	struct layers *l;
	uint64_t *load; /* [wire] pairs of nodes on it, for each link of its
			 * bundle */
	uint32_t *queue; /* switches, nearest first */
	struct branch *tree; /* [switch] of the tree that is chosen */
	uint64_t *nodes; /* [switch] that have paths of a tree through it */
};

/* Lists switches by distance, and by number where that is the same: what is
 * chosen must not depend on the order of ports. */
static void sort(struct chooser *c, uint32_t to)
{
	const uint8_t *hops = c->l->hops + (size_t)to * c->l->n;
	uint32_t first[FAR + 1] = { 0 };

	for (uint32_t i = 0; i < c->l->n; i++)
		first[hops[i] + 1]++;
	for (uint32_t i = 1; i <= FAR; i++)
		first[i] += first[i - 1];
	for (uint32_t i = 0; i < c->l->n; i++)
		c->queue[first[hops[i]]++] = i;
}

/* Distances to a switch; false if not all switches reach it. */
static bool search(struct chooser *c, uint32_t to)
{
	struct layers *l = c->l;
	uint8_t *hops = l->hops + (size_t)to * l->n;
	uint32_t head = 0, tail = 0, i;

	memset(hops, FAR, l->n);
	hops[to] = 0;
	c->queue[tail++] = to;
	while (head < tail) {
		uint32_t at = c->queue[head++];

		for (i = l->first_bundle[at]; i < l->first_bundle[at + 1];
			i++) {
			uint32_t next = l->list[i].to;

			if (hops[next] != FAR || hops[at] == FAR - 1)
				continue;
			hops[next] = (uint8_t)(hops[at] + 1);
			c->queue[tail++] = next;
		}
	}
	return tail == l->n;
}

/* What the wires of a path cost that the tree has already: the sum of the
 * squares of their loads, so that a busy wire counts more than two that are
 * half as busy. */
static uint64_t cost_of(const struct chooser *c, uint32_t to, uint32_t at)
{
	uint64_t sum = 0;

	for (; at != to; at = c->tree[at].next)
		sum += c->tree[at].load * c->tree[at].load;
	return sum;
}

/* Bundles of a switch that lead to nearer ones; returns how many. */
static uint32_t list_nearer(const struct layers *l, const uint8_t *hops,
	uint32_t at, const struct layers_bundle **near)
{
	const struct layers_bundle *b = l->list + l->first_bundle[at];
	const struct layers_bundle *end = l->list + l->first_bundle[at + 1];
	uint32_t n = 0;

	for (; b < end; b++) {
		near[n] = b;
		n += hops[b->to] < hops[at];
	}
	return n;
}

/* The bundle of the path by a nearer neighbour that costs least; of equals, the
 * neighbour with the lowest number. */
static const struct layers_bundle *best_bundle(
	const struct chooser *c, const uint8_t *hops, uint32_t to, uint32_t at)
{
	const struct layers_bundle *near[TOPO_MAX_PORTS + 1];
	const struct layers_bundle *best;
	uint64_t least = UINT64_MAX;
	uint32_t n;

	near[0] = NULL;
	n = list_nearer(c->l, hops, at, near);
	best = near[0];
	for (uint32_t i = 0; i < n && n > 1; i++) {
		uint64_t cost = c->load[near[i]->wire];

		cost = cost * cost + cost_of(c, to, near[i]->to);
		if (cost > least ||
			(cost == least && i && near[i]->to >= best->to))
			continue;
		least = cost;
		best = near[i];
	}
	return best;
}

/* Adds a number of pairs to a bundle, and returns the switch behind it. */
static uint32_t add_hop(
	struct chooser *c, uint32_t at, port_id port, uint64_t pairs)
{
	const struct layers *l = c->l;
	uint32_t wire = layers_wire(l, at, port);

	c->load[wire] += pairs * layers_share(l, wire);
	return l->far[wire];
}

/* Adds a number of pairs to the wires of a path. */
static void add_path(struct chooser *c, const uint8_t *port, uint32_t to,
	uint32_t at, uint64_t pairs)
{
	while (at != to)
		at = add_hop(c, at, port[at], pairs);
}

/* Takes the pairs of a tree away from the wires that they use. */
static void take_tree(struct chooser *c, const uint8_t *port, uint32_t to)
{
	const struct layers *l = c->l;

	for (uint32_t i = 0; i < l->n; i++)
		c->nodes[i] = l->nodes[i];
	for (uint32_t i = l->n; --i;) {
		uint32_t at = c->queue[i], next;

		next = add_hop(c, at, port[at], -c->nodes[at] * l->nodes[to]);
		c->nodes[next] += c->nodes[at];
	}
}

/* Adds a switch to the tree, with its pairs. */
static void add_branch(struct chooser *c, const struct layers_bundle *b,
	uint32_t to, uint32_t at)
{
	uint64_t pairs = (uint64_t)c->l->nodes[at] * c->l->nodes[to];

	c->tree[at] = (struct branch){
		.load = c->load[b->wire],
		.next = b->to,
		.share = layers_share(c->l, b->wire),
	};
	for (; at != to; at = c->tree[at].next)
		c->tree[at].load += pairs * c->tree[at].share;
}

/*
 * The tree of a set to one switch.  What is chosen counts at once: otherwise
 * all would meet at the same last wires.
 */
static void choose_tree(
	struct chooser *c, uint32_t set, uint32_t to, bool again)
{
	struct layers *l = c->l;
	const uint8_t *hops = l->hops + (size_t)to * l->n;
	uint8_t *port = l->port + layers_entry(l, set, to, 0);
	/* with slack the paths of other sets are added pair by pair */
	bool counts = !set || !l->slack;

	sort(c, to);
	if (again && counts)
		take_tree(c, port, to);
	port[to] = LAYERS_HERE;
	for (uint32_t i = 1; i < l->n; i++) {
		uint32_t at = c->queue[i];
		const struct layers_bundle *b = best_bundle(c, hops, to, at);

		port[at] = b->port;
		add_branch(c, b, to, at);
	}
	for (uint32_t i = 1; i < l->n && counts; i++) {
		uint32_t at = c->queue[i];

		c->load[layers_wire(l, at, port[at])] = c->tree[at].load;
	}
}

/* The greatest load along the tree of a set. */
static uint64_t worst(
	const struct chooser *c, uint32_t set, uint32_t to, uint32_t at)
{
	const struct layers *l = c->l;
	const uint8_t *port = l->port + layers_entry(l, set, to, 0);
	uint64_t most = 0;

	while (at != to) {
		uint64_t load = c->load[layers_wire(l, at, port[at])];

		most = load > most ? load : most;
		layers_peer(l, at, port[at], &at);
	}
	return most;
}

/*
 * The first hop of a path that may be one longer than the shortest: by way of
 * the neighbour whose path has the least load on its busiest wire.
 */
static void choose_first(
	struct chooser *c, uint32_t set, uint32_t from, uint32_t to)
{
	struct layers *l = c->l;
	const uint8_t *hops = l->hops + (size_t)to * l->n;
	const uint8_t *port = l->port + layers_entry(l, set, to, 0);
	uint64_t add = (uint64_t)l->nodes[from] * l->nodes[to];
	uint64_t least = UINT64_MAX, most;
	port_id best = port[from];
	uint32_t next, at;

	for (port_id p = 0; p < l->route.topo->n_ports; p++) {
		if (!layers_peer(l, from, p, &next) || hops[next] > hops[from])
			continue;
		most = worst(c, set, to, next);
		if (c->load[layers_wire(l, from, p)] > most)
			most = c->load[layers_wire(l, from, p)];
		/* of equals the shorter one */
		most = 2 * most + (hops[next] == hops[from]);
		if (most < least) {
			least = most;
			best = p;
		}
	}
	l->first[layers_entry(l, set, to, from)] = (uint8_t)best;
	at = add_hop(c, from, best, add);
	add_path(c, port, to, at, add);
}

static void choose_trees(struct chooser *c, uint32_t set, bool again)
{
	for (uint32_t to = 0; to < c->l->n; to++)
		choose_tree(c, set, to, again);
}

/*
 * All paths.  The first trees are chosen while most wires seem idle, so all are
 * chosen again.
 */
static void choose_all(struct chooser *c)
{
	struct layers *l = c->l;
	uint32_t set, from, to;

	for (uint32_t round = 0; round < ROUNDS; round++)
		for (set = 0; set < (l->slack ? 1 : l->n_sets); set++)
			choose_trees(c, set, round > 0);
	for (; set < l->n_sets; set++) {
		choose_trees(c, set, false);
		for (to = 0; to < l->n; to++)
			for (from = 0; from < l->n; from++)
				if (from != to)
					choose_first(c, set, from, to);
	}
}

static bool search_all(struct chooser *c)
{
	for (uint32_t to = 0; to < c->l->n; to++)
		if (!search(c, to))
			return false;
	return true;
}

/* Switches that are next on shortest paths of a pair. */
static uint32_t n_nearer(const struct layers *l, uint32_t from, uint32_t to)
{
	const uint8_t *hops = l->hops + (size_t)to * l->n;
	uint32_t n = 0, next;

	for (port_id p = 0; p < l->route.topo->n_ports; p++)
		n += layers_peer(l, from, p, &next) && hops[next] < hops[from];
	return n;
}

/* The fewest of them of any pair with nodes. */
static uint32_t count_sets(const struct layers *l)
{
	uint32_t least = LAYERS_SETS, n;
	bool has_pair = false;

	for (uint32_t to = 0; to < l->n && least > 1; to++)
		for (uint32_t from = 0; from < l->n && least > 1; from++) {
			if (from == to || !l->nodes[from] || !l->nodes[to])
				continue;
			n = n_nearer(l, from, to);
			least = n < least ? n : least;
			has_pair = true;
		}
	return has_pair ? least : 1;
}

static uint32_t longest(const struct layers *l)
{
	size_t n = (size_t)l->n * l->n;
	uint32_t most = 0;

	for (size_t i = 0; i < n; i++)
		most = l->hops[i] > most ? l->hops[i] : most;
	return most;
}

int layers_choose(struct layers *l, struct err *e)
{
	struct chooser c = { .l = l };
	size_t n = (size_t)l->n * l->n, wires;

	wires = (size_t)l->n * l->route.topo->n_ports;
	c.load = mem_alloc(wires, sizeof(*c.load));
	c.queue = mem_alloc(l->n, sizeof(*c.queue));
	c.tree = mem_alloc(l->n, sizeof(*c.tree));
	c.nodes = mem_alloc(l->n, sizeof(*c.nodes));
	l->hops = mem_alloc(n, 1);
	if (search_all(&c)) {
		l->n_sets = l->paths == LAYERS_AUTO ? count_sets(l)
						    : (uint32_t)l->paths;
		l->port = mem_alloc(n * l->n_sets, 1);
		l->first = mem_alloc(n * l->n_sets, 1);
		memset(l->first, LAYERS_HERE, n * l->n_sets);
		choose_all(&c);
	}
	mem_free(c.nodes);
	mem_free(c.tree);
	mem_free(c.queue);
	mem_free(c.load);
	if (!l->n_sets)
		return err_set(e,
			"routing.kind: layers knows paths of at most 254 hops");
	l->longest = longest(l) + (l->n_sets > 1 && l->slack);
	return 0;
}
