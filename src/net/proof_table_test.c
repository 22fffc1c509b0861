/* The proof for switches with tables that software has written. */
#include <string.h>

#include "base/mem.h"
#include "net/proof.h"
#include "route/table_testing.h"
#include "testing/testing.h"

static const struct net_stage by_channel[] = {
	{ "input buffer", 1 << 1, false, 1 },
	{ "row buffer", 0, true, 1 },
};
static const struct net_stage by_pair[] = {
	{ "input buffer", 1 << 1, false, 1 },
	{ "row buffer", 0, true, 2 },
};
static const struct net_stage by_all[] = {
	{ "input buffer", 1 << 1, false, 1 },
	{ "column buffer", 0, true, 0 },
};

/* SUN-F5, SUN-F92: with siblings, for all trees, up to 104,976 nodes. */
static void sun_f92_trees_with_siblings_are_proved(void **state)
{
	struct table_machine m;
	struct proof p;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		proof_make(&p, &m.t.topo, &m.x.route, NULL, 4);
		proof_places(&p, &m.t.topo, &m.x.route, NULL, by_channel, 2);
		assert_int_equal(p.n_steps, 4);
		assert_true(p.is_proved);
		proof_free(&p);
		table_unmake(&m);
	}
}

/* SUN-G7: what has gone sideways going down waits behind what goes up. */
static void row_buffers_for_pairs_can_lock(void **state)
{
	struct table_machine m;
	struct proof p;
	const struct proof_step *s = &p.step[3];

	table_make(&m, &table_prototype);
	proof_make(&p, &m.t.topo, &m.x.route, NULL, 4);
	assert_true(p.is_proved);
	proof_places(&p, &m.t.topo, &m.x.route, NULL, by_pair, 2);
	assert_false(p.is_proved);
	assert_false(s->holds);
	assert_int_equal(s->n_cycle, 3);
	assert_int_equal(s->cycle[0].channel, TABLE_SIDEWAYS);
	assert_int_equal(s->cycle[1].channel, TABLE_SYSTEM);
	for (uint32_t i = 0; i < 3; i++) {
		struct topo_end to = m.t.topo.ops->peer(
			&m.t.topo, s->cycle[i].router, s->cycle[i].port);

		assert_int_equal(to.router, s->cycle[(i + 1) % 3].router);
	}
	proof_free(&p);
	table_unmake(&m);
}

/* Nothing goes sideways, so the pair of these channels has no cycle. */
static void pairs_cannot_lock_without_siblings(void **state)
{
	struct table_how how = table_prototype;
	struct table_machine m;
	struct proof p;

	how.sideways = "no";
	table_make(&m, &how);
	proof_make(&p, &m.t.topo, &m.x.route, NULL, 4);
	proof_places(&p, &m.t.topo, &m.x.route, NULL, by_pair, 2);
	assert_true(p.is_proved);
	proof_places(&p, &m.t.topo, &m.x.route, NULL, by_all, 2);
	assert_false(p.is_proved);
	proof_free(&p);
	table_unmake(&m);
}

/* --- what software writes --- */

static const struct route_memory *memory(const void *arg, router_id at)
{
	const struct route_memory *const *own = arg;

	return own[at];
}

static void write(const struct table_machine *m, struct route_memory **own,
	struct route_entry e, uint8_t port)
{
	assert_int_equal(
		table_lists.write(&m->x.route, &own[e.at], &e, &port, 1), 0);
}

/* SUN-F92: packets that came down for a node of a leaf go up again, between two
 * spines without end. */
static void entries_that_lead_round_are_found(void **state)
{
	struct table_machine m;
	struct route_memory **own;
	struct route_written x = { .memory = memory };
	router_id leaf;
	struct proof p;

	table_make(&m, &table_prototype);
	leaf = fattree_switch(&m.t, 0, 1, 2);
	x.arg = own =
		mem_alloc(m.t.topo.n_routers, sizeof(struct route_memory *));
	/* other ports up, which is well */
	write(&m, own, (struct route_entry){ leaf, 3, ROUTE_INTRA, 300 }, 25);
	memset(&p, 0, sizeof(p));
	proof_walks(&p, &m.t.topo, &m.x.route, &x, 4);
	assert_true(p.is_proved);
	proof_free(&p);
	/* from spine 0 to spine 1 leads on, and then back, does not */
	write(&m, own, (struct route_entry){ leaf, 18, ROUTE_INTRA, 35 }, 19);
	memset(&p, 0, sizeof(p));
	proof_walks(&p, &m.t.topo, &m.x.route, &x, 4);
	assert_true(p.is_proved);
	proof_free(&p);
	write(&m, own, (struct route_entry){ leaf, 19, ROUTE_INTRA, 35 }, 18);
	memset(&p, 0, sizeof(p));
	proof_walks(&p, &m.t.topo, &m.x.route, &x, 4);
	assert_false(p.is_proved);
	assert_true(p.step[0].holds);
	assert_false(p.step[1].holds);
	assert_int_equal(p.step[1].cycle[0].channel, TABLE_DATA);
	proof_free(&p);
	table_lists.free(own[leaf]);
	mem_free(own);
	table_unmake(&m);
}

/* --- multicasts --- */

/* What is set in leaf 0 and in its first spine. */
struct casts {
	router_id leaf, spine;
	port_mask from_below, from_above;
};

static port_mask casts(const void *arg, router_id at, port_id in)
{
	const struct casts *c = arg;

	if (at == c->spine)
		return 3;
	if (at != c->leaf)
		return 0;
	return in < 18 ? c->from_below : in == 18 ? c->from_above : 0;
}

static bool is_cast_proved(const struct table_machine *m, struct casts *c)
{
	struct route_written x = { .arg = c, .casts = casts };
	struct proof p;
	bool is_proved;

	memset(&p, 0, sizeof(p));
	proof_walks(&p, &m->t.topo, &m->x.route, &x, 4);
	assert_true(p.step[1].holds);
	is_proved = p.is_proved;
	assert_int_equal(p.step[2].holds, is_proved);
	proof_free(&p);
	return is_proved;
}

/* SUN-F30: up, and down by any number of ports; but what came down and goes up
 * again waits for itself. */
static void sun_f30_multicasts_up_and_down_are_proved(void **state)
{
	struct table_machine m;
	struct casts c;

	table_make(&m, &table_prototype);
	c = (struct casts){ fattree_switch(&m.t, 0, 1, 0),
		fattree_switch(&m.t, 0, 2, 0), 0x4ffff, 0xffff };
	assert_true(is_cast_proved(&m, &c));
	c.from_above = 0x4ffff;
	assert_false(is_cast_proved(&m, &c));
	/* what the routing advises */
	for (port_id in = 0; in < 40; in++) {
		port_mask ports = table_lists.casts(&m.x.route, c.leaf, in);

		assert_int_equal(ports,
			in < 18	  ? UINT64_C(0xfffffffff) & ~UINT64_C(0x30000)
			: in < 36 ? 0xffff
				  : 0);
	}
	table_unmake(&m);
}

TESTS(TEST(sun_f92_trees_with_siblings_are_proved),
	TEST(row_buffers_for_pairs_can_lock),
	TEST(pairs_cannot_lock_without_siblings),
	TEST(entries_that_lead_round_are_found),
	TEST(sun_f30_multicasts_up_and_down_are_proved))
