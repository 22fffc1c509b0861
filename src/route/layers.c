#include "route/layers.h"

#include <string.h>

#include "base/mem.h"
#include "link/link.h"
#include "meas/digest.h"
#include "route/spare.h"
#include "sim/random.h"
#include "topo/wires.h"

#define AT(field) offsetof(struct layers, field)

/* What a packet keeps, above its hints. */
enum {
	SET_SHIFT = 16, /* which set of paths; it has chosen: */
	HOPS_SHIFT = 24, /* hops between switches so far */
	ORDER_SHIFT = 32,
	FREE_SHIFT = 33, /* the first switch may choose another set */
	SPARE_SHIFT = 34, /* it is on a spare path, */
	HOP_SHIFT = 35, /* and its next hop has this number */
	FIELD = 0xff,
};

static const struct param params[] = {
	PARAM_ONE_OF("by", AT(by), "layer", "layer|hop",
		"channel of a packet; layer: that of its path, for which "
		"layers without cycles are found; hop: the next one with each "
		"hop",
		"assumed: works with any network"),
	PARAM_ROW(PARAM_COUNT, "layers", AT(most), "4", 1, LINK_CHANNELS,
		"number of channels that there are at most",
		"assumed: as many as routers have"),
	{ .name = "paths",
		.type = PARAM_COUNT,
		.offset = AT(paths),
		.def = "auto",
		.min = 1,
		.max = LAYERS_SETS,
		.words = "auto",
		.help = "number of paths of each pair of switches, of which "
			"parallel links are one; auto: as many as the pair "
			"with the fewest next switches on shortest paths has",
		.source = "assumed: all that each pair has" },
	PARAM_ROW(PARAM_COUNT, "slack", AT(slack), "0", 0, 1,
		"number of hops that paths, except the first of each pair, may "
		"be longer than the shortest",
		"assumed: shortest paths"),
	PARAM_ONE_OF("spread", AT(spread), "hash", "hash|rotate|adaptive",
		"path of a packet, and its link of parallel ones; hash: by "
		"source, destination, queue and flow (nic.entropy); rotate: "
		"the next one for each packet of a node; adaptive: the one "
		"whose first link has the least load",
		"assumed: keeps packets of a flow in order"),
	PARAM_ONE_OF("overflow", AT(overflow), "refuse", "refuse|updown",
		"what happens to paths that fit into no layer; updown: they go "
		"up and down a tree, on the last channel",
		"assumed: all paths are shortest paths"),
	ROUTE_NOTICE(AT(route.notice)),
	ROUTE_TELL(AT(tell)),
	ROUTE_RELOAD(AT(reload)),
};

/* --- paths --- */

struct layers_path layers_begin(
	const struct layers *l, uint32_t set, uint32_t from, uint32_t to)
{
	return (struct layers_path){
		.set = set,
		.to = to,
		.at = from,
		.is_first = true,
		.is_over =
			l->over &&
			l->layer[layers_entry(l, set, to, from)] == l->most - 1,
	};
}

port_id layers_port(const struct layers *l, const struct layers_path *p)
{
	uint8_t first;

	if (p->at == p->to)
		return LAYERS_HERE;
	if (p->is_over)
		return l->over[layers_entry(l, 0, p->to, p->at)];
	first = l->first[layers_entry(l, p->set, p->to, p->at)];
	if (p->is_first && first != LAYERS_HERE)
		return first;
	return l->port[layers_entry(l, p->set, p->to, p->at)];
}

void layers_step(const struct layers *l, struct layers_path *p, port_id port)
{
	layers_peer(l, p->at, port, &p->at);
	p->is_first = false;
}

/* --- making it --- */

/* [wire] the switch at its end. */
static uint32_t *far_ends(const struct topo *t, uint32_t n_wires)
{
	uint32_t *far = wires_back(t);

	for (uint32_t i = 0; i < n_wires; i++)
		far[i] = far[i] == WIRES_NONE ? LAYERS_NONE
					      : far[i] / t->n_ports;
	return far;
}

/* The ports of a switch that lead to the same one as port p, by wires of the
 * same class. */
static port_mask ports_beside(const struct layers *l, uint32_t at, port_id p)
{
	const struct topo *t = l->route.topo;
	const uint32_t *far = l->far + layers_wire(l, at, 0);
	uint32_t class = t->ops->wire(t, t->n_nodes + at, p);
	port_mask m = 0;

	for (port_id i = 0; i < t->n_ports; i++)
		if (far[i] == far[p] &&
			t->ops->wire(t, t->n_nodes + at, i) == class)
			m |= (port_mask)1 << i;
	return m;
}

/* Only the first wire of a bundle keeps its end. */
static void find_bundles(struct layers *l)
{
	uint32_t ports = l->route.topo->n_ports, n = l->n * ports;

	l->bundle = mem_alloc(n, sizeof(*l->bundle));
	l->share = 1;
	for (uint32_t i = 0; i < n; i++)
		if (l->far[i] != LAYERS_NONE)
			l->bundle[i] = ports_beside(l, i / ports, i % ports);
	for (uint32_t i = 0; i < n; i++) {
		if (!l->bundle[i] || layers_first(l->bundle[i]) == i % ports)
			continue;
		l->far[i] = LAYERS_NONE;
		l->share = TOPO_MAX_PORTS;
	}
}

static port_id port_back(const struct layers *l, uint32_t at, port_id p)
{
	const struct topo *t = l->route.topo;
	struct topo_end far = t->ops->peer(t, t->n_nodes + at, p);

	return layers_first(
		l->bundle[layers_wire(l, far.router - t->n_nodes, far.port)]);
}

static void list_bundles(struct layers *l)
{
	uint32_t ports = l->route.topo->n_ports, n = 0;

	l->list = mem_alloc((size_t)l->n * ports, sizeof(*l->list));
	l->first_bundle = mem_alloc(l->n + 1, sizeof(*l->first_bundle));
	for (uint32_t i = 0; i < l->n * ports; i++) {
		uint32_t at = i / ports, p = i % ports;

		if (!p)
			l->first_bundle[at] = n;
		if (l->far[i] == LAYERS_NONE)
			continue;
		l->list[n++] = (struct layers_bundle){
			.to = l->far[i],
			.wire = i,
			.port = (uint8_t)p,
			.back = (uint8_t)port_back(l, at, p),
		};
	}
	l->first_bundle[l->n] = n;
}

static int find_nodes(struct layers *l, const struct topo *t, struct err *e)
{
	l->n = t->n_routers - t->n_nodes;
	if (topo_is_direct(t) || t->node_ports != 1 || t->n_io || l->n > 8192)
		return err_set(e,
			"routing.kind: layers needs a network of at most 8192 "
			"switches whose nodes have one port each, not %s",
			t->ops->name);
	l->at = mem_alloc(t->n_nodes, sizeof(*l->at));
	l->door = mem_alloc(t->n_nodes, sizeof(*l->door));
	l->nodes = mem_alloc(l->n, sizeof(*l->nodes));
	l->far = far_ends(t, l->n * t->n_ports);
	find_bundles(l);
	list_bundles(l);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		struct topo_end far = t->ops->peer(t, i, 0);

		l->at[i] = far.router - t->n_nodes;
		l->door[i] = (uint8_t)far.port;
		l->nodes[l->at[i]]++;
	}
	return 0;
}

static int layers_init(struct route *r, const struct topo *t, struct err *e)
{
	struct layers *l = (struct layers *)r;

	r->topo = t;
	if (find_nodes(l, t, e) || layers_choose(l, e))
		return -1;
	r->looks = l->spread == LAYERS_ADAPTIVE && l->n_sets > 1;
	r->told = l->spread == LAYERS_ADAPTIVE ? l->tell : l->reload;
	if (l->by == LAYERS_LAYER && layers_fit(l, e))
		return -1;
	if (l->by == LAYERS_HOP && l->longest > (uint64_t)l->most)
		return err_set(e,
			"routing.layers: paths of %u hops need as many "
			"channels, more than %lld; want routing.by: layer",
			l->longest, (long long)l->most);
	if (l->by == LAYERS_HOP)
		l->n_layers = l->longest;
	/* with fewer than two, packets would have channels by their kind */
	r->n_channels = (uint8_t)(l->n_layers > 1 ? l->n_layers : 2);
	r->is_one_class = true;
	return 0;
}

/* --- packets --- */

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const struct layers *l = layers_of(r);

	return l->at[src] == l->at[dst] ? 1 : l->n_sets;
}

static void put(struct packet *p, uint32_t shift, uint64_t v)
{
	p->way = (p->way & ~((uint64_t)FIELD << shift)) | v << shift;
}

static void layers_start(const struct route *r, struct packet *p)
{
	const struct layers *l = layers_of(r);
	uint32_t n = n_ways(r, p->src, p->dst), set = 0;
	bool is_ordered = p->kind != PACKET_DYNAMIC;
	bool is_free = r->looks && !p->hints && !is_ordered;
	uint64_t spare = 0;

	if (p->hints)
		set = (p->hints - 1u) % n;
	else if (l->spread == LAYERS_ROTATE && !is_ordered)
		set = p->number % n;
	else if (n > 1)
		set = (uint32_t)random_below(
			random_draw(0, p->src, RANDOM_WAY,
				(uint64_t)p->tag << 32 | p->dst)
				.a,
			n);
	if (l->dead)
		set = layers_replace(l, p, set);
	if (l->spare && !layers_works(l, set, l->at[p->src], l->at[p->dst]))
		spare = spare_first(l->spare, r->topo->n_nodes + l->at[p->src],
			r->topo->n_nodes + l->at[p->dst]);
	/* one class, whose channels are layers or hops */
	p->kind = PACKET_DYNAMIC;
	p->way = (set + 1) | (uint64_t)set << SET_SHIFT |
		 (uint64_t)is_ordered << ORDER_SHIFT |
		 (uint64_t)(is_free && !spare) << FREE_SHIFT |
		 (uint64_t) !!spare << SPARE_SHIFT | spare << HOP_SHIFT;
}

/* Where a packet is on its path; in is the port that it came by. */
static struct layers_path path_of(const struct layers *l,
	const struct packet *p, router_id at, uint32_t hops)
{
	struct layers_path path =
		layers_begin(l, (uint32_t)(p->way >> SET_SHIFT & FIELD),
			l->at[p->src], l->at[p->dst]);

	path.at = at - l->route.topo->n_nodes;
	path.is_first = !hops;
	return path;
}

static uint8_t channel_of(const struct layers *l, uint32_t set, uint32_t from,
	uint32_t to, uint32_t hops)
{
	if (l->by == LAYERS_LAYER)
		return from == to ? 0
				  : l->layer[layers_entry(l, set, to, from)];
	return (uint8_t)(hops < l->longest ? hops : l->longest - !!l->longest);
}

/* The least load of a link of a bundle. */
static uint64_t load_of(const struct layers *l, const struct route_look *look,
	uint32_t at, port_id port, uint8_t channel)
{
	port_mask m = layers_alive(l, at, port);
	uint64_t load, least = UINT64_MAX;

	for (; m; m &= m - 1) {
		load = look->load(look, layers_first(m), channel);
		least = load < least ? load : least;
	}
	return least;
}

/* Of all paths of the pair the one whose first link has the least load, for
 * each hop. */
static void layers_decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *look)
{
	const struct layers *l = layers_of(r);
	uint32_t from = l->at[p->src], to = l->at[p->dst], set, best = 0;
	uint64_t least = UINT64_MAX;

	(void)in;
	if (!(p->way >> FREE_SHIFT & 1) || from == to)
		return;
	for (uint32_t i = 0; i < l->n_sets; i++) {
		struct layers_path path;
		uint64_t load;
		port_id port;

		set = (p->number + i) % l->n_sets;
		if (l->dead && !layers_works(l, set, from, to))
			continue;
		path = layers_begin(l, set, from, to);
		path.at = at - r->topo->n_nodes;
		port = layers_port(l, &path);
		load = load_of(l, look, path.at, port,
			channel_of(l, set, from, to, 0));
		layers_step(l, &path, port);
		load = (load + 1) *
		       (1u + l->hops[layers_entry(l, 0, to, path.at)]);
		if (load < least) {
			least = load;
			best = set;
		}
	}
	p->way &= ~((uint64_t)1 << FREE_SHIFT);
	if (least == UINT64_MAX)
		return; /* there is no way left */
	put(p, SET_SHIFT, best);
	p->hints = (uint16_t)(best + 1);
}

/* The next hop of a spare path. */
static struct route_step step_aside(const struct layers *l, struct packet *p)
{
	struct spare_hop hop =
		spare_hop(l->spare, (uint32_t)(p->way >> HOP_SHIFT));

	p->way += (uint64_t)1 << HOP_SHIFT;
	return (struct route_step){
		.escape = hop.port,
		.ports = (port_mask)1 << hop.port,
		.channel = hop.channel,
		.is_ordered = p->way >> ORDER_SHIFT & 1,
	};
}

/* The link of a bundle that a packet takes, if it cannot take any. */
static port_mask one_of(const struct layers *l, const struct packet *p,
	uint32_t at, port_mask m, bool is_ordered)
{
	uint32_t n = (uint32_t)__builtin_popcountll(m);
	uint64_t pair = (uint64_t)p->src << 32 | p->dst;
	uint64_t i = p->src + p->number / l->n_sets;

	if (l->spread == LAYERS_ROTATE && !is_ordered)
		i %= n;
	else
		i = random_below(
			digest_mix(
				pair ^ digest_mix((uint64_t)at << 32 | p->tag)),
			n);
	while (i--)
		m &= m - 1;
	return m & -m;
}

/* The links of a bundle that a packet may take, where there is a choice. */
static port_mask choose_links(const struct layers *l, const struct packet *p,
	uint32_t at, port_id port, bool is_ordered)
{
	port_mask m = layers_alive(l, at, port);

	if (!(m & (m - 1)) || (l->spread == LAYERS_ADAPTIVE && !is_ordered))
		return m;
	return one_of(l, p, at, m, is_ordered);
}

static struct route_step to_next(const struct layers *l, struct route_step s,
	const struct packet *p, const struct layers_path *path)
{
	port_id port = layers_port(l, path);
	port_mask m = l->bundle[layers_wire(l, path->at, port)];

	if (m & (m - 1)) {
		m = choose_links(l, p, path->at, port, s.is_ordered);
		port = layers_first(m);
	}
	s.escape = port;
	s.ports = m;
	return s;
}

static struct route_step layers_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct layers *l = layers_of(r);
	uint32_t from = l->at[p->src], to = l->at[p->dst], hops;
	struct route_step s = {
		.escape = 0, /* a node has one port */
		.is_ordered = p->way >> ORDER_SHIFT & 1,
	};
	struct layers_path path;

	if (at == p->dst)
		return route_there(s.is_ordered);
	hops = (uint32_t)(p->way >> HOPS_SHIFT & FIELD);
	path = path_of(l, p, at, hops);
	if (p->way >> SPARE_SHIFT & 1 && at >= r->topo->n_nodes &&
		path.at != to)
		return step_aside(l, p);
	if (at >= r->topo->n_nodes && path.at == to) {
		s.escape = l->door[p->dst];
	} else if (at >= r->topo->n_nodes) {
		s = to_next(l, s, p, &path);
		put(p, HOPS_SHIFT, hops + 1);
	}
	(void)in;
	if (!s.ports)
		s.ports = (port_mask)1 << s.escape;
	if (r->n_channels > 1 && at >= r->topo->n_nodes)
		s.channel =
			channel_of(l, (uint32_t)(p->way >> SET_SHIFT & FIELD),
				from, to, hops);
	return s;
}

/* --- the proof --- */

/* The links of one bundle wait for those of the next, on a channel; first is
 * the vertex of port 0 of the switch before. */
static void add_bundles(const struct route_graph *g, uint32_t first,
	port_mask behind, port_mask next, uint32_t c)
{
	for (; behind; behind &= behind - 1)
		route_add(g, first + layers_first(behind) * g->n_channels, next,
			c);
}

/* Adds one path; a packet that waits at a node's wire waits for its start. */
static void walk_path(const struct layers *l, struct route_graph *g,
	struct layers_path path, uint32_t from)
{
	router_id first = g->topo->n_nodes;
	uint32_t v = 0, hops = 0, set = path.set;
	port_mask behind = 0, next;
	port_id port;

	while ((port = layers_port(l, &path)) != LAYERS_HERE) {
		uint32_t c = channel_of(l, set, from, path.to, hops++);

		c = g->n_channels > 1 ? c : 0;
		next = l->bundle[layers_wire(l, path.at, port)];
		add_bundles(g, v, behind, next, c);
		v = route_vertex(g, first + path.at, 0, c);
		behind = next;
		layers_step(l, &path, port);
	}
}

/*
 * Wires from nodes wait for others, but nothing waits for them, and what goes
 * to a node waits for nothing: only wires between switches can close a cycle.
 */
static void layers_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w)
{
	const struct layers *l = layers_of(r);

	for (uint32_t set = 0; set < l->n_sets; set++)
		for (uint32_t to = 0; to < l->n; to++)
			for (uint32_t from = 0; from < l->n; from++) {
				uint64_t pairs =
					(uint64_t)l->nodes[from] * l->nodes[to];

				if (from == to || !pairs)
					continue;
				w->n_routes += pairs;
				walk_path(l, g, layers_begin(l, set, from, to),
					from);
			}
	if (l->spare)
		spare_walk(l->spare, g);
}

/* --- what follows from it --- */

/* Costs of the paths of trees to a switch, by where they start. */
struct costs {
	const struct layers *l;
	int64_t *wire; /* [wire] */
	int64_t *tree; /* [set][switch]; -1: not known yet */
	int64_t *over; /* [switch] */
	uint32_t *stack; /* switches */
};

static void init_costs(
	struct costs *c, const struct layers *l, const int64_t *cost)
{
	const struct topo *t = l->route.topo;

	c->l = l;
	c->wire = mem_alloc(l->n * t->n_ports, sizeof(*c->wire));
	c->tree = mem_alloc(l->n_sets * l->n, sizeof(*c->tree));
	c->over = mem_alloc(l->n, sizeof(*c->over));
	c->stack = mem_alloc(l->n, sizeof(*c->stack));
	for (uint32_t i = 0; i < l->first_bundle[l->n]; i++) {
		uint32_t wire = l->list[i].wire;

		c->wire[wire] = cost[t->ops->wire(
			t, t->n_nodes + wire / t->n_ports, l->list[i].port)];
	}
}

static void fini_costs(struct costs *c)
{
	mem_free(c->wire);
	mem_free(c->tree);
	mem_free(c->over);
	mem_free(c->stack);
}

static void forget_costs(struct costs *c, uint32_t to)
{
	uint32_t n = c->l->n;

	memset(c->tree, 0xff, (size_t)c->l->n_sets * n * sizeof(*c->tree));
	memset(c->over, 0xff, n * sizeof(*c->over));
	c->over[to] = 0;
	for (uint32_t set = 0; set < c->l->n_sets; set++)
		c->tree[(size_t)set * n + to] = 0;
}

/* The cost of a path, by the next ports of its tree. */
static int64_t tree_cost(
	const struct costs *c, const uint8_t *port, int64_t *known, uint32_t at)
{
	uint32_t n = 0;
	int64_t sum;

	for (; known[at] < 0; layers_peer(c->l, at, port[at], &at))
		c->stack[n++] = at;
	for (sum = known[at]; n; known[at] = sum) {
		at = c->stack[--n];
		sum += c->wire[layers_wire(c->l, at, port[at])];
	}
	return sum;
}

static int64_t path_cost(
	const struct costs *c, uint32_t set, uint32_t from, uint32_t to)
{
	const struct layers *l = c->l;
	struct layers_path path = layers_begin(l, set, from, to);
	const uint8_t *port = l->port + layers_entry(l, set, to, 0);
	int64_t sum = 0;

	if (path.is_over)
		return tree_cost(
			c, l->over + layers_entry(l, 0, to, 0), c->over, from);
	if (l->first[layers_entry(l, set, to, from)] != LAYERS_HERE) {
		port_id first = layers_port(l, &path);

		sum = c->wire[layers_wire(l, from, first)];
		layers_step(l, &path, first);
	}
	return sum + tree_cost(c, port, c->tree + (size_t)set * l->n, path.at);
}

static void count_way(struct route_way *f, int64_t cost, double weight)
{
	if (weight <= 0)
		return;
	f->min = cost < f->min ? cost : f->min;
	f->max = cost > f->max ? cost : f->max;
	f->mean += (double)cost * weight;
}

static struct route_way layers_way(const struct route *r, const int64_t *cost)
{
	const struct layers *l = layers_of(r);
	const struct topo *t = r->topo;
	struct route_way f = { .min = INT64_MAX };
	double n = t->n_nodes;
	struct costs c;
	int64_t ends;

	if (n < 2)
		return (struct route_way){ 0 };
	ends = cost[t->ops->wire(t, 0, 0)] +
	       cost[t->ops->wire(t, t->n_nodes + l->at[0], l->door[0])];
	init_costs(&c, l, cost);
	for (uint32_t to = 0; to < l->n; to++) {
		forget_costs(&c, to);
		for (uint32_t from = 0; from < l->n; from++) {
			double pairs = (double)l->nodes[from] *
				       (l->nodes[to] - (from == to));

			for (uint32_t i = 0; i < l->n_sets; i++)
				count_way(&f, path_cost(&c, i, from, to),
					pairs / l->n_sets);
		}
	}
	fini_costs(&c);
	f.min += ends;
	f.max += ends;
	f.mean = f.mean / (n * (n - 1)) + (double)ends;
	return f;
}

static void layers_describe(const struct route *r, FILE *f)
{
	static const char *const spreads[] = {
		[LAYERS_HASH] = "by a hash of their flows",
		[LAYERS_ROTATE] = "in turn",
		[LAYERS_ADAPTIVE] = "by load",
	};
	const struct layers *l = layers_of(r);

	if (l->n_sets > 1)
		fprintf(f,
			"routing     %u paths%s for each pair of switches, "
			"chosen %s",
			l->n_sets, l->slack ? " (some one hop longer)" : "",
			spreads[l->spread]);
	else
		fprintf(f, "routing     one shortest path for each pair of "
			   "switches");
	if (l->by == LAYERS_HOP)
		fprintf(f, ", a channel for each of %u hops\n", l->longest);
	else
		fprintf(f, ", in %u layer%s without cycles\n", l->n_layers,
			l->n_layers > 1 ? "s" : "");
	if (l->n_over)
		fprintf(f,
			"            %llu paths that fit into none go up and "
			"down a tree\n",
			(unsigned long long)l->n_over);
}

static bool layers_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct layers *l = layers_of(r);
	const struct {
		const char *key;
		double v;
	} facts[] = {
		{ "layers", l->n_layers },
		{ "paths", l->n_sets },
		{ "longest", l->longest },
		{ "on_the_tree", (double)l->n_over },
	};

	if (i >= sizeof(facts) / sizeof(*facts))
		return false;
	f->key = facts[i].key;
	f->kind = ROUTE_FACT_NUMBER;
	f->number = facts[i].v;
	return true;
}

static const char *const channels[] = { "layer 1", "layer 2", "layer 3",
	"layer 4", "layer 5", "layer 6", "layer 7", "layer 8" };

const struct route_ops layers_ops = {
	.name = "layers",
	.has = "orders steady",
	.channels = channels,
	.n_channels = LINK_CHANNELS,
	.size = sizeof(struct layers),
	PARAMS(params),
	.init = layers_init,
	.fini = layers_fini,
	.avoid = layers_avoid,
	.start = layers_start,
	.next = layers_next,
	.decide = layers_decide,
	.n_ways = n_ways,
	.walk = layers_walk,
	.way = layers_way,
	.describe = layers_describe,
	.fact = layers_fact,
};
