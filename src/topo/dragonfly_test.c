#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"
#include "topo/dragonfly.h"
#include "topo/topo_testing.h"

static const struct topo_ops *ops = &dragonfly_ops;

struct how {
	int64_t p, a, h, groups, arrangement, between;
};

static const struct how some[] = {
	{ 2, 4, 2, 0, DRAGONFLY_PALMTREE, 0 },
	{ 2, 4, 2, 0, DRAGONFLY_CONSECUTIVE, 0 },
	/* two links between two groups */
	{ 2, 4, 2, 5, DRAGONFLY_PALMTREE, 0 },
	{ 2, 4, 2, 5, DRAGONFLY_CONSECUTIVE, 0 },
	{ 1, 3, 3, 8, DRAGONFLY_PALMTREE, 0 }, /* with ports left over */
	{ 3, 3, 3, 8, DRAGONFLY_CONSECUTIVE, 0 },
	{ 1, 1, 4, 0, DRAGONFLY_PALMTREE, 0 }, /* groups of one router */
	{ 3, 2, 2, 2, DRAGONFLY_PALMTREE, 0 },
	{ 4, 5, 0, 1, DRAGONFLY_PALMTREE, 0 }, /* one group */
	/* fewer links than would fit, on all routers */
	{ 2, 4, 4, 6, DRAGONFLY_PALMTREE, 2 },
	{ 2, 5, 4, 4, DRAGONFLY_CONSECUTIVE, 3 },
	{ 1, 6, 2, 4, DRAGONFLY_PALMTREE, 1 },
	{ 2, 4, 4, 0, DRAGONFLY_PALMTREE, 3 },
	{ 0, 0, 0, 0, 0, 0 },
};

static int try_to_make(
	struct dragonfly *t, const struct how *how, struct err *e)
{
	memset(t, 0, sizeof(*t));
	t->topo.ops = ops;
	topo_defaults(&t->topo);
	t->per_router = how->p;
	t->routers = how->a;
	t->globals = how->h;
	t->nodes = how->groups * how->p * how->a;
	t->arrangement = how->arrangement;
	t->between = how->between;
	return ops->init(&t->topo, e);
}

static void make(struct dragonfly *t, const struct how *how)
{
	struct err e = { 0 };

	if (try_to_make(t, how, &e))
		fail_msg("%s", e.text);
}

/* NET-F12 */
static void every_wire_leads_back(void **state)
{
	struct dragonfly t;

	for (int i = 0; some[i].p; i++) {
		uint64_t n[DRAGONFLY_WIRES] = { 0 };

		make(&t, &some[i]);
		for (router_id r = 0; r < t.topo.n_routers; r++) {
			for (port_id p = 0; p < t.topo.n_ports; p++) {
				struct topo_end f = ops->peer(&t.topo, r, p), b;

				if (f.router == NO_ROUTER)
					continue;
				assert_true(f.router < t.topo.n_routers);
				b = ops->peer(&t.topo, f.router, f.port);
				assert_int_equal(b.router, r);
				assert_int_equal(b.port, p);
				assert_int_not_equal(f.router, r);
				n[ops->wire(&t.topo, r, p)]++;
			}
		}
		for (uint32_t c = 0; c < DRAGONFLY_WIRES; c++)
			assert_int_equal(
				n[c], ops->links(&t.topo, c) *
					      (c < DRAGONFLY_LOCAL ? 1 : 2));
	}
}

/* NET-F11: Frontier's rule in small: four cards a node, and places that are
 * empty. */
static void cards_are_at_one_router_or_at_several(void **state)
{
	for (int64_t attach = 0; attach <= DRAGONFLY_RAILS; attach++) {
		struct dragonfly t = { .topo.ops = ops };
		struct err e = { 0 };

		topo_defaults(&t.topo);
		t.topo.cards = 4;
		t.attach = attach;
		t.per_router = 2;
		t.routers = 8;
		t.globals = 3;
		t.groups = 4;
		t.nodes = 4 * 16 - 3;
		assert_int_equal(ops->init(&t.topo, &e), 0);
		assert_int_equal(t.topo.n_nodes, 61);
		assert_int_equal(t.topo.n_routers, 61 + 32);
		for (router_id r = 0; r < t.topo.n_routers; r++) {
			for (port_id p = 0; p < t.topo.n_ports; p++) {
				struct topo_end f = ops->peer(&t.topo, r, p), b;

				if (f.router == NO_ROUTER)
					continue;
				b = ops->peer(&t.topo, f.router, f.port);
				assert_int_equal(b.router, r);
				assert_int_equal(b.port, p);
			}
			for (port_id p = 0;
				r < 61 && p < 4 && attach == DRAGONFLY_RAILS;
				p++)
				assert_int_equal(
					ops->peer(&t.topo, r, p).router,
					61 + r / 8 * 4 + p);
			for (port_id p = 1; r < 61 && p < 4; p++)
				assert_int_equal(
					ops->peer(&t.topo, r, p).router ==
						ops->peer(&t.topo, r, 0).router,
					attach == DRAGONFLY_SAME);
		}
		assert_int_equal(ops->links(&t.topo, DRAGONFLY_NODE_UP), 244);
	}
}

/* Each two groups by as many links, each two routers of a group by one. */
static void all_groups_are_joined_alike(void **state)
{
	struct dragonfly t;

	for (int i = 0; some[i].p; i++) {
		make(&t, &some[i]);
		for (uint32_t from = 0; from < t.g; from++) {
			uint32_t n[64] = { 0 };

			for (uint32_t q = 0; q < t.a * t.h; q++) {
				router_id r =
					t.topo.n_nodes + from * t.a + q / t.h;
				struct topo_end f = ops->peer(
					&t.topo, r, t.global + q % t.h);

				if (f.router != NO_ROUTER)
					n[dragonfly_group(&t, f.router)]++;
			}
			for (uint32_t to = 0; to < t.g; to++)
				assert_int_equal(n[to], to == from ? 0 : t.m);
		}
	}
}

static router_id owner_of(const struct dragonfly *t, uint32_t group, uint32_t q)
{
	return t->topo.n_nodes + group * t->a + dragonfly_owner(t, q);
}

static port_id port_of(const struct dragonfly *t, uint32_t q)
{
	return t->global + q - dragonfly_first(t, dragonfly_owner(t, q));
}

/* NET-F12 */
static void a_way_leads_to_its_group(void **state)
{
	struct dragonfly t;

	for (int i = 0; some[i].p; i++) {
		make(&t, &some[i]);
		for (uint32_t k = 0; k < t.g * t.g * t.m; k++) {
			uint32_t from = k % t.g, to = k / t.g % t.g, q;
			struct topo_end f;

			if (from == to)
				continue;
			q = dragonfly_way(&t, from, to, k / t.g / t.g);
			f = ops->peer(
				&t.topo, owner_of(&t, from, q), port_of(&t, q));
			assert_int_equal(dragonfly_group(&t, f.router), to);
		}
	}
}

static void a_local_port_leads_to_its_router(void **state)
{
	struct dragonfly t;
	char text[32];

	make(&t, &some[0]);
	for (uint32_t i = 0; i < t.a; i++) {
		for (uint32_t k = 0; k < t.a; k++) {
			router_id r = t.topo.n_nodes + 3 * t.a + i;
			port_id p = dragonfly_local(&t, i, k);

			if (i == k)
				continue;
			assert_int_equal(ops->peer(&t.topo, r, p).router,
				t.topo.n_nodes + 3 * t.a + k);
			ops->name_port(&t.topo, r, p, text, sizeof(text));
			assert_int_equal(text[strlen("local ")], '0' + k);
		}
	}
	ops->name_router(
		&t.topo, t.topo.n_nodes + 3 * t.a + 2, text, sizeof(text));
	assert_string_equal(text, "g3.r2");
	topo_name_site(&t.topo, 5, text, sizeof(text));
	assert_string_equal(text, "node 5");
}

/* --- the peak --- */

#define RATE UINT64_C(1000000000)

static uint64_t rate(
	const struct topo_rates *k, uint32_t class, uint64_t left, uint64_t of)
{
	return RATE;
}

/* Adds what goes by the wire from r to another router of the group. */
static void pass(const struct dragonfly *t, double *load, router_id r,
	router_id to, double what)
{
	port_id p;

	if (r == to)
		return;
	p = dragonfly_local(t, dragonfly_number(t, r), dragonfly_number(t, to));
	load[(size_t)r * t->topo.n_ports + p] += what;
}

/* All packets from router to router, by all links between their groups. */
static void send(const struct dragonfly *t, double *load, router_id from,
	router_id to, double what)
{
	uint32_t i = dragonfly_group(t, from), j = dragonfly_group(t, to), k;

	if (i == j) {
		pass(t, load, from, to, what);
		return;
	}
	for (k = 0; k < t->m; k++) {
		uint32_t q = dragonfly_way(t, i, j, k);
		router_id out = owner_of(t, i, q);
		port_id p = port_of(t, q);

		pass(t, load, from, out, what / t->m);
		load[(size_t)out * t->topo.n_ports + p] += what / t->m;
		pass(t, load, ops->peer(&t->topo, out, p).router, to,
			what / t->m);
	}
}

/* What the busiest of all links carries, or of those of nodes and global ones.
 */
static double busiest(const struct dragonfly *t, bool has_local)
{
	size_t n = (size_t)t->topo.n_routers * t->topo.n_ports, i;
	double *load = mem_alloc(n, sizeof(*load)), most = 1;

	for (router_id a = t->topo.n_nodes; a < t->topo.n_routers; a++)
		for (router_id b = t->topo.n_nodes; b < t->topo.n_routers; b++)
			if (a != b)
				send(t, load, a, b,
					(double)t->p * t->p /
						(t->topo.n_nodes - 1.));
	for (i = 0; i < n; i++)
		if (has_local || i % t->topo.n_ports >= t->global)
			most = load[i] > most ? load[i] : most;
	mem_free(load);
	return most;
}

/* Or, where that is inside a group, those of nodes and global ones at most: by
 * detours, links inside a group may carry less. */
static void the_peak_keeps_the_busiest_link_busy(void **state)
{
	const struct topo_rates k = { rate };
	struct dragonfly t;

	for (int i = 0; some[i].p; i++) {
		double found, least, most;

		make(&t, &some[i]);
		found = (double)ops->peak(&t.topo, &k);
		least = (double)RATE / busiest(&t, true);
		most = (double)RATE / busiest(&t, false);
		if (found < least - 2 || found > most + 2)
			fail_msg("case %d: %.1f, want %.1f to %.1f", i, found,
				least, most);
	}
}

/* NET-F10: Frontier: 74 groups of 512 ends with 292 links; and the largest of
 * its kind.
 */
static void links_between_groups_are_spread_over_routers(void **state)
{
	struct dragonfly t;

	make(&t, &(struct how){ 16, 32, 17, 74, DRAGONFLY_PALMTREE, 4 });
	assert_int_equal(t.m * (t.g - 1), 292);
	assert_int_equal(t.a * t.p, 512);
	assert_int_equal(ops->cut(&t.topo).links, 37 * 37 * 4);
	for (uint32_t i = 0; i < t.a; i++) {
		uint32_t n = 0;

		for (port_id p = t.global; p < t.topo.n_ports; p++)
			n += ops->peer(&t.topo, t.topo.n_nodes + i, p).router !=
			     NO_ROUTER;
		assert_int_equal(n, 9 + (i < 4));
	}
	make(&t, &(struct how){ 16, 32, 17, 0, DRAGONFLY_PALMTREE, 0 });
	assert_int_equal(t.g, 545);
	assert_int_equal(t.topo.n_nodes, 279040);
	make(&t, &(struct how){ 2, 4, 4, 0, DRAGONFLY_PALMTREE, 3 });
	assert_int_equal(t.g, 6);
}

static void the_cut_halves_the_groups(void **state)
{
	struct dragonfly t;

	make(&t, &some[0]); /* nine groups */
	assert_int_equal(ops->cut(&t.topo).links, 4 * 5);
	make(&t, &some[2]); /* five, by two links each */
	assert_int_equal(ops->cut(&t.topo).links, 2 * 3 * 2);
	make(&t, &some[8]); /* one of five routers */
	assert_int_equal(ops->cut(&t.topo).links, 2 * 3);
}

static void is_refused(
	int64_t p, int64_t a, int64_t h, int64_t nodes, const char *what)
{
	struct dragonfly t;
	struct err e = { 0 };

	memset(&t, 0, sizeof(t));
	t.topo.ops = ops;
	topo_defaults(&t.topo);
	t.per_router = p;
	t.routers = a;
	t.globals = h;
	t.nodes = nodes;
	assert_int_equal(ops->init(&t.topo, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void dragonflies_that_cannot_be_are_refused(void **state)
{
	is_refused(2, 4, 2, 9, "multiple of a group's 8 nodes");
	is_refused(2, 4, 2, 80, "join at most 9");
	is_refused(2, 60, 20, 0, "ports");
}

TESTS(TEST(every_wire_leads_back), TEST(cards_are_at_one_router_or_at_several),
	TEST(all_groups_are_joined_alike), TEST(a_way_leads_to_its_group),
	TEST(a_local_port_leads_to_its_router),
	TEST(the_peak_keeps_the_busiest_link_busy),
	TEST(links_between_groups_are_spread_over_routers),
	TEST(the_cut_halves_the_groups),
	TEST(dragonflies_that_cannot_be_are_refused))
