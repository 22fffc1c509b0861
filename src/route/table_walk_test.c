/* The graph of what may wait for what, against packets sent in thought. */
#include <string.h>

#include "base/mem.h"
#include "route/table_testing.h"
#include "testing/testing.h"

/* Of one destination: every state that a packet was in, once. */
struct thought {
	const struct table_machine *m;
	const struct route_memory *const *own; /* [router], or NULL */
	struct route_graph *g;
	uint8_t *was_seen;
};

/* A packet is at a switch with the channel behind it; tries all that it may do
 * there, one after the other. */
static void think(
	struct thought *x, struct packet p, struct topo_end at, uint32_t behind)
{
	const struct route *r = &x->m->x.route;
	const struct topo *t = x->g->topo;
	uint8_t *was_seen;
	struct route_choice c;

	if (at.router < t->n_nodes) {
		assert_int_equal(at.router, p.dst);
		return;
	}
	was_seen = &x->was_seen[((at.router * t->n_ports + at.port) * 32) +
				(p.way >> 20 & 0xf) * 2 + (p.way >> 16 & 1)];
	if (*was_seen)
		return;
	*was_seen = 1;
	c = r->lists->choose(
		r, x->own ? x->own[at.router] : NULL, &p, at.router, at.port);
	route_add(x->g, behind, c.ports | c.later, c.channel);
	for (port_mask k = c.ports | c.later; k; k &= k - 1) {
		port_id port = (port_id)__builtin_ctzll(k);

		think(x, p, t->ops->peer(t, at.router, port),
			route_vertex(x->g, at.router, port, c.channel));
	}
}

/* From every node to every other, over each rail, as each kind of packet. */
static void think_all(const struct table_machine *m,
	const struct route_memory *const *own, struct route_graph *g)
{
	static const uint8_t kinds[] = { PACKET_DYNAMIC, PACKET_DETERMINISTIC,
		PACKET_HIGH, PACKET_SYSTEM };
	const struct topo *t = &m->t.topo;
	size_t n = (size_t)t->n_routers * t->n_ports * 32;
	struct thought x = { m, own, g, mem_alloc(n, 1) };

	for (uint32_t k = 0; k < 4; k++)
		for (uint32_t dst = 0; dst < t->n_nodes; dst++) {
			memset(x.was_seen, 0, n);
			for (uint32_t i = 0; i < t->n_nodes * t->node_ports;
				i++) {
				struct packet p = { .src = i / t->node_ports,
					.dst = dst,
					.kind = kinds[k] };
				port_id rail = i % t->node_ports;

				if (p.src == dst)
					continue;
				m->x.route.ops->start(&m->x.route, &p);
				think(&x, p, t->ops->peer(t, p.src, rail),
					route_vertex(g, p.src, rail,
						table_channel(&p)));
			}
		}
	mem_free(x.was_seen);
}

static void is_same(const struct route_graph *a, const struct route_graph *b)
{
	const struct topo *t = a->topo;
	size_t n = (size_t)t->n_routers * t->n_ports * TABLE_CHANNELS *
		   TABLE_CHANNELS;

	for (size_t i = 0; i < n; i++)
		if (a->after[i] != b->after[i])
			fail_msg("site %zu port %zu channel %zu then %zu: %llx "
				 "and %llx",
				i / 16 / t->n_ports, i / 16 % t->n_ports,
				i / 4 % 4, i % 4,
				(unsigned long long)a->after[i],
				(unsigned long long)b->after[i]);
}

/* SUN-F5, SUN-F92: what the proof is made of, for all trees. */
static void classes_of_packets_do_what_all_packets_do(void **state)
{
	for (int i = 0; table_some[i].tree.nodes; i++) {
		struct route_graph a, b, c;
		struct route_walks w = { 0 };
		struct table_machine m;

		table_make(&m, &table_some[i]);
		route_graph_init(&a, &m.t.topo, TABLE_CHANNELS);
		route_graph_init(&b, &m.t.topo, TABLE_CHANNELS);
		route_graph_init(&c, &m.t.topo, TABLE_CHANNELS);
		table_ops.walk(&m.x.route, &a, &w);
		assert_false(w.is_broken);
		think_all(&m, NULL, &b);
		is_same(&a, &b);
		for (uint32_t dst = 0; dst < m.t.topo.n_nodes; dst++)
			table_follow(&m.x, &c, &w, dst);
		assert_false(w.is_broken);
		is_same(&c, &b);
		route_graph_fini(&c);
		route_graph_fini(&b);
		route_graph_fini(&a);
		table_unmake(&m);
	}
}

/* --- what is written --- */

static const struct route_memory *memory(const void *arg, router_id at)
{
	const struct route_memory *const *own = arg;

	return own[at];
}

/* Some entries of some switches: other orders, other ports. */
static void scribble(
	struct table_machine *m, struct route_memory **own, uint64_t *thrown)
{
	const struct topo *t = &m->t.topo;

	for (uint32_t k = 0; k < 40; k++) {
		uint8_t ports[ROUTE_CANDIDATES];
		uint32_t n;
		struct route_entry e = {
			.at = t->n_nodes +
			      dice(2, thrown, t->n_routers - t->n_nodes),
			.port = dice(2, thrown, t->n_ports),
			.part = dice(2, thrown, 2) ? ROUTE_INTRA : ROUTE_INTER,
		};

		e.index = dice(2, thrown,
			e.part == ROUTE_INTRA ? m->x.per : m->x.n_supernodes);
		n = table_lists.read(&m->x.route, NULL, &e, ports);
		if (n > 1) /* the same the other way, without the first */
			ports[0] = ports[n - 1];
		if (n > 1)
			assert_int_equal(table_lists.write(&m->x.route,
						 &own[e.at], &e, ports, n - 1),
				0);
	}
}

/* SUN-F92 */
static void written_entries_are_followed(void **state)
{
	uint64_t thrown = 0;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		struct route_graph a, b, plain;
		struct route_walks w = { 0 };
		struct table_machine m;
		struct route_memory **own;
		struct route_written written = { .memory = memory };
		bool has_any = false;

		table_make(&m, &table_some[i]);
		own = mem_alloc(
			m.t.topo.n_routers, sizeof(struct route_memory *));
		scribble(&m, own, &thrown);
		route_graph_init(&a, &m.t.topo, TABLE_CHANNELS);
		route_graph_init(&b, &m.t.topo, TABLE_CHANNELS);
		route_graph_init(&plain, &m.t.topo, TABLE_CHANNELS);
		written.arg = own;
		a.written = &written;
		table_ops.walk(&m.x.route, &a, &w);
		think_all(&m, (const struct route_memory *const *)own, &b);
		/* others may use what a written entry has given up */
		table_ops.walk(&m.x.route, &plain, &w);
		for (size_t k = 0;
			k < (size_t)m.t.topo.n_routers * m.t.topo.n_ports * 16;
			k++)
			b.after[k] |= plain.after[k];
		is_same(&a, &b);
		for (router_id r = 0; r < m.t.topo.n_routers; r++) {
			has_any |= own[r] != NULL;
			table_lists.free(own[r]);
		}
		assert_true(has_any || m.t.topo.n_nodes < 16);
		mem_free(own);
		route_graph_fini(&plain);
		route_graph_fini(&b);
		route_graph_fini(&a);
		table_unmake(&m);
	}
}

/* An entry that leads nowhere is found, and one that names a wrong node. */
static void wrong_entries_are_found(void **state)
{
	static const uint8_t node[] = { 4 };
	struct table_machine m;

	table_make(&m, &table_prototype);
	for (uint32_t n = 0; n < 2; n++) {
		struct route_graph g;
		struct route_walks w = { 0 };
		struct route_memory **own = mem_alloc(
			m.t.topo.n_routers, sizeof(struct route_memory *));
		struct route_written written = { .arg = own, .memory = memory };
		struct route_entry e = { fattree_switch(&m.t, 0, 1, 2), 20,
			ROUTE_INTRA, 35 };

		assert_int_equal(
			table_lists.write(&m.x.route, &own[e.at], &e, node, n),
			0);
		route_graph_init(&g, &m.t.topo, TABLE_CHANNELS);
		g.written = &written;
		table_ops.walk(&m.x.route, &g, &w);
		assert_true(w.is_broken);
		assert_int_equal(w.dst, 35);
		assert_string_equal(
			w.how, n ? "ends at another node" : "ends at a switch");
		route_graph_fini(&g);
		table_lists.free(own[e.at]);
		mem_free(own);
	}
	table_unmake(&m);
}

TESTS(TEST(classes_of_packets_do_what_all_packets_do),
	TEST(written_entries_are_followed), TEST(wrong_entries_are_found))
