/* Paths of all pairs, their balance and their layers, on random networks. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "route/acyclic.h"
#include "route/cycle_testing.h"
#include "route/layers.h"
#include "route/spare.h"
#include "route/turns.h"
#include "testing/testing.h"
#include "topo/graph.h"
#include "topo/topo_testing.h"

struct world {
	struct graph t;
	struct layers l;
};

static int try_to_make(struct world *x, int64_t n, int64_t degree,
	const struct layers *how, struct err *e)
{
	memset(x, 0, sizeof(*x));
	x->t.switches.topo.ops = &graph_ops;
	topo_defaults(&x->t.switches.topo);
	x->t.per_router = 2;
	x->t.random = (struct param_list){ 3, { n, degree, 1 } };
	x->l = *how;
	x->l.route.ops = &layers_ops;
	if (graph_ops.init(&x->t.switches.topo, e))
		fail_msg("%s", e->text);
	return layers_ops.init(&x->l.route, &x->t.switches.topo, e);
}

static void make(
	struct world *x, int64_t n, int64_t degree, const struct layers *how)
{
	struct err e = { 0 };

	if (try_to_make(x, n, degree, how, &e))
		fail_msg("%s", e.text);
}

static void drop(struct world *x)
{
	layers_ops.fini(&x->l.route);
	switches_fini(&x->t.switches.topo);
}

/* Hops between switches of a packet, which must arrive. */
static uint32_t go(const struct world *x, struct packet p)
{
	const struct topo *t = &x->t.switches.topo;
	router_id at = p.src;
	port_id in = TOPO_NO_PORT;
	uint32_t hops = 0;

	layers_ops.start(&x->l.route, &p);
	for (;;) {
		struct route_step s = layers_ops.next(&x->l.route, &p, at, in);
		struct topo_end far;

		if (s.escape == PACKET_NO_PORT)
			break;
		assert_int_equal(s.ports, (port_mask)1 << s.escape);
		assert_true(s.channel < x->l.route.n_channels);
		assert_false(x->l.dead && x->l.dead[at] >> s.escape & 1);
		far = t->ops->peer(t, at, s.escape);
		assert_int_not_equal(far.router, NO_ROUTER);
		hops += at >= t->n_nodes && far.router >= t->n_nodes;
		assert_true(hops < 20);
		at = far.router;
		in = far.port;
	}
	assert_int_equal(at, p.dst);
	return hops;
}

/* Each packet arrives; slack says how many hops more it may take. */
static void assert_all_arrive(const struct world *x, uint32_t slack)
{
	const struct topo *t = &x->t.switches.topo;
	uint32_t n_longer = 0;

	for (uint32_t src = 0; src < t->n_nodes; src++)
		for (uint32_t dst = 0; dst < t->n_nodes; dst++)
			for (uint32_t i = 0; i < x->l.n_sets; i++) {
				struct packet p = { .src = src,
					.dst = dst,
					.hints = (uint16_t)(i + 1) };
				uint32_t least, hops;

				if (src == dst)
					continue;
				hops = go(x, p);
				least = switches_distance(t, src, dst) - 2;
				assert_true(hops >= least);
				assert_true(hops <= least + (i ? slack : 0));
				n_longer += hops > least;
			}
	assert_int_equal(!n_longer, !slack);
}

/* Ports of the switch behind a channel that lead to other switches. */
static port_mask ports_behind(
	const struct topo *t, uint32_t vertex, uint32_t n_channels)
{
	uint32_t wire = vertex / n_channels;
	router_id r =
		t->ops->peer(t, wire / t->n_ports, wire % t->n_ports).router;
	port_mask m = 0;

	for (port_id p = 0; r != NO_ROUTER && p < t->n_ports; p++) {
		router_id to = t->ops->peer(t, r, p).router;

		if (to != NO_ROUTER && to >= t->n_nodes)
			m |= (port_mask)1 << p;
	}
	return m;
}

static uint64_t edges_between_switches(const struct world *x,
	void (*walk)(const struct route *, struct route_graph *,
		struct route_walks *))
{
	const struct topo *t = &x->t.switches.topo;
	struct route_walks w = { 0 };
	struct route_graph g;
	uint64_t n = 0;
	uint32_t end;

	route_graph_init(
		&g, t, x->l.route.n_channels ? x->l.route.n_channels : 1);
	end = t->n_routers * t->n_ports * g.n_channels;
	walk(&x->l.route, &g, &w);
	assert_false(w.is_broken);
	assert_false(cycle_exists(&g));
	for (uint32_t v = t->n_nodes * t->n_ports * g.n_channels; v < end; v++)
		for (uint32_t i = 0; i < g.n_channels; i++)
			n += (uint64_t)__builtin_popcountll(
				g.after[(size_t)v * g.n_channels + i] &
				ports_behind(t, v, g.n_channels));
	route_graph_fini(&g);
	return n;
}

static void assert_proved(const struct world *x)
{
	uint64_t n = edges_between_switches(x, layers_ops.walk);

	assert_true(n > 0);
	assert_int_equal(n, edges_between_switches(x, route_follow));
}

/* NET-F23 */
static void layers_have_no_cycles(void **state)
{
	static const struct layers some[] = {
		{ .most = 4, .paths = 1 },
		{ .most = 4, .paths = 3 },
		{ .most = 4, .paths = 2, .slack = 1 },
		{ .most = 4, .paths = 1, .by = LAYERS_HOP },
		{ .most = 4, .paths = 4, .slack = 1, .by = LAYERS_HOP },
		{ .most = 2, .paths = 2, .overflow = LAYERS_UPDOWN },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct world x;

		make(&x, 24, 6, &some[i]);
		if (!some[i].overflow)
			assert_all_arrive(&x, (uint32_t)some[i].slack);
		assert_proved(&x);
		drop(&x);
	}
}

/* Adds a path to a layer's graph, unless that closes a cycle. */
static bool add_to_layer(const struct world *x, struct route_graph *g,
	uint32_t from, uint32_t to)
{
	const struct topo *t = &x->t.switches.topo;
	size_t bytes = (size_t)t->n_routers * t->n_ports * sizeof(*g->after);
	port_mask *old = mem_alloc(bytes, 1);
	struct layers_path p = layers_begin(&x->l, 0, from, to);
	uint32_t behind = UINT32_MAX;
	port_id port;
	bool fits;

	memcpy(old, g->after, bytes);
	while ((port = layers_port(&x->l, &p)) != LAYERS_HERE) {
		if (behind != UINT32_MAX)
			route_add(g, behind, (port_mask)1 << port, 0);
		behind = route_vertex(g, t->n_nodes + p.at, port, 0);
		layers_step(&x->l, &p, port);
	}
	fits = !cycle_exists(g);
	if (!fits)
		memcpy(g->after, old, bytes);
	mem_free(old);
	return fits;
}

/* NET-F23: the fitter remembers what never fits, and only that. */
static void paths_get_the_first_layer_into_which_they_fit(void **state)
{
	const struct layers how = { .most = 8, .paths = 1 };
	struct route_graph g[8];
	uint32_t used[8] = { 0 };
	struct world x;

	make(&x, 40, 3, &how);
	for (uint32_t i = 0; i < 8; i++)
		route_graph_init(&g[i], &x.t.switches.topo, 1);
	for (uint32_t to = 0; to < 40; to++)
		for (uint32_t from = 0; from < 40; from++) {
			uint32_t i = 0;

			if (from == to)
				continue;
			while (!add_to_layer(&x, &g[i], from, to))
				i++;
			assert_int_equal(
				x.l.layer[layers_entry(&x.l, 0, to, from)], i);
			used[i]++;
		}
	assert_true(used[0] && used[1] && used[2]);
	for (uint32_t i = 0; i < 8; i++)
		route_graph_fini(&g[i]);
	drop(&x);
}

/* NET-F24: paths for which there is no layer go over the tree, and arrive. */
static void what_does_not_fit_goes_over_the_tree(void **state)
{
	const struct layers how = {
		.most = 2, .paths = 4, .slack = 1, .overflow = LAYERS_UPDOWN
	};
	uint32_t hops = 0;
	struct world x;

	make(&x, 40, 4, &how);
	assert_true(x.l.n_over > 100);
	assert_int_equal(x.l.route.n_channels, 2);
	for (uint32_t src = 0; src < 80; src++)
		for (uint32_t dst = 0; dst < 80; dst++)
			for (uint16_t i = 1; i <= 4; i++)
				if (src != dst)
					hops += go(
						&x, (struct packet){ .src = src,
							    .dst = dst,
							    .hints = i });
	assert_true(hops > 4 * 80 * 79);
	assert_proved(&x);
	drop(&x);
}

/* NET-F23 */
static void too_few_layers_are_refused(void **state)
{
	const struct layers few = { .most = 1, .paths = 4, .slack = 1 };
	const struct layers hops = { .most = 2, .paths = 1, .by = LAYERS_HOP };
	struct err e = { 0 };
	struct world x;

	assert_int_equal(try_to_make(&x, 40, 4, &few, &e), -1);
	assert_non_null(strstr(e.text, "layers, more than 1;"));
	drop(&x);
	e = (struct err){ 0 };
	assert_int_equal(try_to_make(&x, 40, 4, &hops, &e), -1);
	assert_non_null(strstr(e.text, "hops need as many channels"));
	drop(&x);
}

/* Pairs of nodes on the busiest wire, against the mean. */
static double imbalance(const struct world *x)
{
	const struct layers *l = &x->l;
	uint32_t ports = x->t.switches.topo.n_ports;
	double *load = mem_alloc((size_t)l->n * ports, sizeof(*load));
	double most = 0, sum = 0;
	uint32_t n = 0;

	for (uint32_t to = 0; to < l->n; to++)
		for (uint32_t from = 0; from < l->n; from++)
			for (uint32_t i = 0; i < l->n_sets; i++) {
				struct layers_path p =
					layers_begin(l, i, from, to);
				port_id port;

				while ((port = layers_port(l, &p)) !=
					LAYERS_HERE) {
					load[p.at * ports + port]++;
					layers_step(l, &p, port);
				}
			}
	for (uint32_t i = 0; i < l->n * ports; i++) {
		sum += load[i];
		n += load[i] > 0;
		most = load[i] > most ? load[i] : most;
	}
	mem_free(load);
	return most / (sum / n);
}

/* NET-F23: where there is a choice, the busiest wire has little more than
 * others. */
static void loads_are_balanced(void **state)
{
	const struct layers one = { .most = 4, .paths = 1, .by = LAYERS_HOP };
	const struct layers more = { .most = 4, .paths = 4, .by = LAYERS_HOP };
	const struct layers slack = {
		.most = 4, .paths = 4, .slack = 1, .by = LAYERS_HOP
	};
	struct world x;

	make(&x, 64, 9, &one);
	assert_true(imbalance(&x) < 2);
	drop(&x);
	make(&x, 64, 9, &more);
	assert_true(imbalance(&x) < 1.3);
	drop(&x);
	make(&x, 64, 9, &slack);
	assert_true(imbalance(&x) < 1.1);
	drop(&x);
}

/* NET-F24: packets in order always take the same path, others all of them. */
static void spreading_uses_all_paths(void **state)
{
	const struct layers how = {
		.most = 4, .paths = 4, .by = LAYERS_HOP, .spread = LAYERS_ROTATE
	};
	uint32_t seen = 0, ordered = 0;
	struct world x;

	make(&x, 24, 5, &how);
	for (uint32_t i = 0; i < 16; i++) {
		struct packet p = { .src = 0, .dst = 40, .number = i };
		struct packet o = { .src = 0,
			.dst = 40,
			.number = i,
			.kind = PACKET_DETERMINISTIC };

		layers_ops.start(&x.l.route, &p);
		layers_ops.start(&x.l.route, &o);
		seen |= 1u << p.hints;
		ordered |= 1u << o.hints;
	}
	assert_int_equal(seen, 0x1e);
	assert_int_equal(ordered & (ordered - 1), 0);
	drop(&x);
}

/* NET-F24: queues and their flows, which are tags, have paths of their own. */
static void a_hash_knows_flows(void **state)
{
	const struct layers how = { .most = 4, .paths = 4, .by = LAYERS_HOP };
	uint32_t seen = 0, same = 0;
	struct world x;

	make(&x, 24, 5, &how);
	for (uint32_t i = 0; i < 32; i++) {
		struct packet p = {
			.src = 0, .dst = 40, .number = i, .tag = (uint16_t)i
		};
		struct packet o = { .src = 0, .dst = 40, .number = i };

		layers_ops.start(&x.l.route, &p);
		layers_ops.start(&x.l.route, &o);
		seen |= 1u << p.hints;
		same |= 1u << o.hints;
	}
	assert_int_equal(seen, 0x1e);
	assert_int_equal(same & (same - 1), 0);
	drop(&x);
}

/* --- around failed links --- */

/* Pairs of nodes that have a way, all of which arrive by links that work. */
static uint32_t count_ways(const struct world *x)
{
	const struct topo *t = &x->t.switches.topo;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_nodes * t->n_nodes; i++) {
		struct packet p = { .src = i / t->n_nodes,
			.dst = i % t->n_nodes };
		uint32_t set = layers_replace(&x->l, &p, 0);

		if (p.src == p.dst ||
			(!layers_works(
				 &x->l, set, x->l.at[p.src], x->l.at[p.dst]) &&
				!spare_first(x->l.spare,
					t->n_nodes + x->l.at[p.src],
					t->n_nodes + x->l.at[p.dst])))
			continue;
		go(x, p);
		n++;
	}
	return n;
}

/* One link after the other dies; then the first returns.  The paths of all
 * tables together have no cycle: packets may be on any of them. */
static void paths_around_failed_links_close_no_cycle(void **state)
{
	static const struct layers how[] = {
		{ .most = 4, .paths = 1 },
		{ .most = 4, .paths = 2 },
		{ .by = LAYERS_HOP, .most = 4, .paths = 1 },
		{ .most = 2, .paths = 1, .overflow = LAYERS_UPDOWN },
	};
	struct world x, y;

	for (uint32_t k = 0; k < 4; k++) {
		const struct topo *t = &x.t.switches.topo;
		struct route *view[4];
		port_mask *dead;
		uint32_t n, all;

		make(&x, 20, 5, &how[k]);
		n = t->n_nodes;
		all = n * (n - 1);
		dead = mem_alloc(t->n_routers, sizeof(*dead));
		y = x;
		for (uint32_t i = 0; i < 4; i++) {
			router_id at = n + 3 * (i % 3);
			struct topo_end far = t->ops->peer(t, at, 3);

			dead[at] ^= (port_mask)1 << 3;
			dead[far.router] ^= (port_mask)1 << far.port;
			view[i] = layers_ops.avoid(&y.l.route, dead);
			y.l = *layers_of(view[i]);
			assert_int_equal(count_ways(&y), all);
			edges_between_switches(&y, layers_ops.walk);
		}
		for (uint32_t i = 0; i < 4; i++)
			route_free(view[i]);
		mem_free(dead);
		drop(&x);
	}
}

/* --- parallel links --- */

/* Two leaves and two spines with several links between them, and a third leaf
 * that is three hops away. */
static void make_leaves(struct world *x, const struct layers *how)
{
	static const char edges[] = "a,s,4\na,t,3\nb,s,4\nb,t,2\nc,u,2\nu,s,2\n"
				    "node,a,4\nnode,b,4\nnode,c,4\n";
	int fd = memfd_create("edges", 0);
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.switches.topo.ops = &graph_ops;
	topo_defaults(&x->t.switches.topo);
	assert_int_equal(write(fd, edges, strlen(edges)), strlen(edges));
	snprintf(x->t.edges, sizeof(x->t.edges), "/proc/self/fd/%d", fd);
	x->l = *how;
	x->l.route.ops = &layers_ops;
	if (graph_ops.init(&x->t.switches.topo, &e) ||
		layers_ops.init(&x->l.route, &x->t.switches.topo, &e))
		fail_msg("%s", e.text);
	close(fd);
}

/* Ports by which packets of the nodes of the first leaf to those of the second
 * leave it. */
static port_mask seen_ports(const struct world *x, enum packet_kind kind)
{
	const struct topo *t = &x->t.switches.topo;
	port_mask all = 0;

	for (uint32_t i = 0; i < 256; i++) {
		struct packet p = { .src = i % 4,
			.dst = 4 + i / 4 % 4,
			.number = i / 16,
			.kind = (uint8_t)kind };

		layers_ops.start(&x->l.route, &p);
		all |= layers_ops.next(&x->l.route, &p, t->n_nodes, 0).ports;
	}
	return all;
}

/* NET-F24: a path is one of bundles, and packets use all links of each. */
static void parallel_links_are_one_hop_of_a_path(void **state)
{
	static const struct layers how[] = {
		{ .most = 4, .paths = 1 },
		{ .most = 4, .paths = 1, .spread = LAYERS_ROTATE },
		{ .most = 4, .paths = 2, .spread = LAYERS_ADAPTIVE },
		{ .most = 1, .paths = LAYERS_AUTO, .overflow = LAYERS_UPDOWN },
	};
	struct world x;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t bundles = i == 2 ? 0x7f : 0xf;
		port_mask seen, ordered;

		make_leaves(&x, &how[i]);
		assert_int_equal(x.l.n_sets, i == 2 ? 2 : 1);
		seen = seen_ports(&x, PACKET_DYNAMIC);
		assert_true(seen == (port_mask)bundles << 4 ||
			    (seen == (port_mask)0x70 << 4 && i != 2));
		ordered = seen_ports(&x, PACKET_DETERMINISTIC);
		assert_true(ordered & (ordered - 1));
		assert_true(!(ordered & ~seen));
		if (i == 2)
			assert_proved(&x);
		/* a hash takes some of the links that the proof counts */
		assert_true(edges_between_switches(&x, layers_ops.walk) >=
			    edges_between_switches(&x, route_follow));
		drop(&x);
	}
}

/* NET-F24: packets stay on a path while a link of each bundle works. */
static void a_dead_link_of_a_bundle_changes_no_path(void **state)
{
	const struct layers how = { .most = 4, .paths = 1 };
	port_mask dead[32] = { 0 }, seen; /* [router] */
	struct route *view;
	struct world x, y;
	port_id first;

	make_leaves(&x, &how);
	seen = seen_ports(&x, PACKET_DYNAMIC);
	first = layers_first(seen);
	for (uint32_t i = 0; i < 2; i++) {
		const struct topo *t = &x.t.switches.topo;
		struct topo_end far = t->ops->peer(t, t->n_nodes, first + i);

		dead[t->n_nodes] |= (port_mask)1 << (first + i);
		dead[far.router] |= (port_mask)1 << far.port;
		view = layers_ops.avoid(&x.l.route, dead);
		y = x;
		y.l = *layers_of(view);
		assert_null(y.l.spare);
		assert_int_equal(count_ways(&y), 12 * 11);
		assert_true(seen_ports(&y, PACKET_DYNAMIC) ==
			    (seen & ~dead[t->n_nodes]));
		route_free(view);
	}
	drop(&x);
}

/* --- acyclic.c, turns.c --- */

/* NET-F23: adds dependencies at random, and compares each answer with a search.
 */
static void an_edge_is_refused_only_if_it_closes_a_cycle(void **state)
{
	const struct layers how = { .most = 4, .paths = 1, .by = LAYERS_HOP };
	uint64_t dice_count = 0;
	uint32_t refused = 0;
	struct route_graph g;
	struct acyclic a;
	struct turns y;
	struct world x;
	const struct topo *t;

	make(&x, 10, 4, &how);
	t = &x.t.switches.topo;
	acyclic_init(&a, t, 1);
	turns_init(&y, t);
	route_graph_init(&g, t, 1);
	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t wire = dice(5, &dice_count, a.n), at, v, to;
		port_id port = 2 + dice(5, &dice_count, 4);
		bool closes;

		at = wire / t->n_ports;
		if (!layers_peer(&x.l, at, wire % t->n_ports, &to))
			continue;
		v = t->n_nodes * t->n_ports + wire;
		if (acyclic_has(&a, wire, port, 0) && i % 3 == 0) {
			acyclic_remove(&a, wire, port, 0);
			turns_remove(&y, wire, port);
			g.after[v] &= ~((port_mask)1 << port);
			continue;
		}
		g.after[v] |= (port_mask)1 << port;
		closes = cycle_exists(&g);
		assert_int_equal(acyclic_add(&a, wire, port, 0), !closes);
		assert_int_equal(turns_add(&y, wire, port), !closes);
		if (closes)
			g.after[v] &= ~((port_mask)1 << port);
		refused += closes;
	}
	assert_true(refused > 50);
	route_graph_fini(&g);
	turns_fini(&y);
	acyclic_fini(&a);
	drop(&x);
}

/* NET-F23: adds turns at random, and compares the work with that of an order of
 * all channels. */
static void searches_for_cycles_of_turns_are_short(void **state)
{
	const struct layers how = { .most = 12, .paths = 1, .by = LAYERS_HOP };
	uint64_t dice_count = 0, by_order = 0, by_level = 0;
	struct acyclic a;
	struct turns y;
	struct world x;
	uint32_t to;

	make(&x, 600, 5, &how);
	acyclic_init(&a, &x.t.switches.topo, 1);
	turns_init(&y, &x.t.switches.topo);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t ports = x.t.switches.topo.n_ports;
		uint32_t wire = dice(6, &dice_count, a.n);
		port_id port = 2 + dice(6, &dice_count, 5);

		if (!layers_peer(&x.l, wire / ports, wire % ports, &to))
			continue;
		acyclic_add(&a, wire, port, 0);
		turns_add(&y, wire, port);
		by_order += a.ahead.n_done + a.behind.n_done;
		by_level += y.ahead.n_done + y.behind.n_done;
	}
	assert_true(by_order > 3 * by_level);
	turns_fini(&y);
	acyclic_fini(&a);
	drop(&x);
	(void)state;
}

TESTS(TEST(layers_have_no_cycles),
	TEST(paths_get_the_first_layer_into_which_they_fit),
	TEST(what_does_not_fit_goes_over_the_tree),
	TEST(too_few_layers_are_refused), TEST(loads_are_balanced),
	TEST(spreading_uses_all_paths), TEST(a_hash_knows_flows),
	TEST(paths_around_failed_links_close_no_cycle),
	TEST(parallel_links_are_one_hop_of_a_path),
	TEST(a_dead_link_of_a_bundle_changes_no_path),
	TEST(an_edge_is_refused_only_if_it_closes_a_cycle),
	TEST(searches_for_cycles_of_turns_are_short))
