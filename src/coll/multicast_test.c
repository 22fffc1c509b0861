/* Tables of multicasts, by following packets from switch to switch. */
#include "coll/multicast.h"

#include <string.h>

#include "base/mem.h"
#include "route/table_testing.h"
#include "testing/testing.h"

struct world {
	struct table_machine m;
	struct coll *coll;
	uint32_t *copies; /* [node] */
	uint32_t n_copies, n_hops;
};

static void start(struct world *x, const struct table_how *how)
{
	table_make(&x->m, how);
	x->coll = coll_new(&x->m.x.route, PACKET_MANY);
	assert_true(multicast_has(x->coll));
	x->copies = mem_alloc(x->m.t.topo.n_nodes, sizeof(*x->copies));
}

static void end(struct world *x)
{
	struct err e = { 0 };

	assert_int_equal(coll_audit(x->coll, &e), 0);
	coll_free(x->coll);
	mem_free(x->copies);
	table_unmake(&x->m);
}

/* A copy leaves a site by a port, and so on. */
static void follow(struct world *x, router_id r, port_id port, uint32_t entry)
{
	const struct topo *t = &x->m.t.topo;
	struct topo_end to = t->ops->peer(t, r, port);
	struct packet p = { .flags = PACKET_MANY, .last = (uint16_t)entry };
	struct coll_step step;

	assert_int_not_equal(to.router, NO_ROUTER);
	x->n_hops++;
	step = x->coll->ops->arrive(x->coll, to.router, &p, to.port, 0);
	if (to.router < t->n_nodes) {
		assert_int_equal(step.ports, 0);
		x->copies[to.router]++;
		x->n_copies++;
		return;
	}
	assert_int_equal(step.ends, !step.ports);
	for (; step.ports; step.ports &= step.ports - 1)
		follow(x, to.router, (port_id)__builtin_ctzll(step.ports),
			entry);
}

static void send(struct world *x, site_id node, port_id port, uint32_t entry)
{
	memset(x->copies, 0, x->m.t.topo.n_nodes * sizeof(*x->copies));
	x->n_copies = x->n_hops = 0;
	follow(x, node, port, entry);
}

static void join(struct world *x, uint32_t entry, port_id port,
	const site_id *node, uint32_t n)
{
	struct err e = { 0 };

	if (multicast_join(x->coll, entry, port, node, n, &e))
		fail_msg("%s", e.text);
}

/* SUN-F30, SUN-F56: every member reaches all others, once, whoever sends. */
static void sun_f56_every_member_reaches_the_others_once(void **state)
{
	static const site_id some[] = { 3, 4, 17, 100, 101, 102, 511 };
	enum { N = sizeof(some) / sizeof(some[0]) };
	struct world x;

	start(&x, &table_prototype);
	for (port_id rail = 0; rail < 2; rail++)
		join(&x, 5 + rail, rail, some, N);
	for (uint32_t i = 0; i < 2 * N; i++) {
		send(&x, some[i / 2], i % 2, 5 + i % 2);
		assert_int_equal(x.n_copies, N - 1);
		for (uint32_t k = 0; k < N; k++)
			assert_int_equal(x.copies[some[k]], k != i / 2);
	}
	end(&x);
}

/* Up to one switch, and down to the leaves that have members. */
static void a_chain_goes_over_one_switch(void **state)
{
	static const site_id near[] = { 1, 2, 9 }, far[] = { 0, 16, 32, 48 };
	struct world x;

	start(&x, &table_prototype);
	join(&x, 0, 0, near, 3);
	send(&x, 1, 0, 0);
	assert_int_equal(x.n_hops, 1 + 2); /* they have one leaf */
	join(&x, 1, 0, far, 4);
	send(&x, 16, 0, 1);
	assert_int_equal(x.n_hops, 2 + 3 * 2);
	end(&x);
}

/* SUN-F58 */
static void a_chain_of_all_nodes_reaches_all(void **state)
{
	static const struct table_how *const how[] = { &table_prototype,
		&table_exa };
	struct world x;

	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n, k;
		site_id *all;

		start(&x, how[i]);
		n = x.m.t.topo.n_nodes;
		all = mem_alloc(n, sizeof(*all));
		for (k = 0; k < n; k++)
			all[k] = k;
		join(&x, 31, 1, all, n);
		send(&x, n / 2, 1, 31);
		for (k = 0; k < n; k++)
			assert_int_equal(x.copies[k], k != n / 2);
		/* a row for each port of a switch in the tree */
		assert_true(coll_memory(x.coll) < 700 * (uint64_t)n);
		mem_free(all);
		end(&x);
	}
}

/* SUN-F30: an entry has 1 to 40 ports, a port 32 entries. */
static void sun_f30_a_33rd_entry_is_refused(void **state)
{
	struct world x;
	struct err e = { 0 };
	router_id leaf;
	port_mask all = 0;

	start(&x, &table_prototype);
	leaf = fattree_switch(&x.m.t, 0, 1, 0);
	for (port_id p = 0; p < 40; p++)
		if (x.m.t.topo.ops->peer(&x.m.t.topo, leaf, p).router !=
			NO_ROUTER)
			all |= (port_mask)1 << p;
	assert_int_equal(__builtin_popcountll(all), 38);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(multicast_write(x.coll, leaf, 7, i,
					 i ? (port_mask)1 << 18 : all, &e),
			0);
	assert_int_equal(multicast_write(x.coll, leaf, 7, 32, 1, &e), -1);
	assert_non_null(strstr(e.text, "there is no entry 32; a port has 32"));
	assert_true(multicast_read(x.coll, leaf, 7, 0) == all);
	assert_true(multicast_read(x.coll, leaf, 7, 31) == (port_mask)1 << 18);
	/* other ports and switches have tables of their own */
	assert_true(multicast_read(x.coll, leaf, 8, 0) == 0);
	assert_true(multicast_read(x.coll, leaf + 1, 7, 0) == 0);
	end(&x);
}

static void is_refused(const struct world *x, site_id s, port_id in,
	port_mask ports, const char *why)
{
	struct err e = { 0 };

	assert_int_equal(multicast_write(x->coll, s, in, 1, ports, &e), -1);
	assert_non_null(strstr(e.text, why));
}

static void join_is_refused(const struct world *x, uint32_t entry, port_id port,
	const site_id *node, const char *why)
{
	struct err e = { 0 };

	assert_int_equal(multicast_join(x->coll, entry, port, node, 2, &e), -1);
	assert_non_null(strstr(e.text, why));
}

static void what_cannot_be_is_refused(void **state)
{
	static const site_id some[] = { 0, 20, 40 }, none[] = { 0, 512 };
	struct world x;
	router_id leaf;

	start(&x, &table_prototype);
	leaf = fattree_switch(&x.m.t, 0, 1, 0);
	is_refused(&x, 5, 0, 1, "no switch");
	is_refused(&x, x.m.t.topo.n_routers, 0, 1, "no switch");
	is_refused(&x, leaf, 40, 1, "no port 40");
	is_refused(&x, leaf, 0, (port_mask)1 << 16, "without a link");
	is_refused(&x, leaf, 0, (port_mask)1 << 63, "without a link");
	join(&x, 3, 0, some, 3);
	join_is_refused(&x, 3, 0, some, "is in use");
	join_is_refused(&x, 3, 7, some, "no port 7");
	join_is_refused(&x, 4, 0, none, "no node 512");
	join_is_refused(&x, 32, 0, some, "no entry 32");
	/* another job may have it when it is free */
	multicast_part(x.coll, 3, 0, 20);
	join(&x, 3, 0, some, 2);
	send(&x, 0, 0, 3);
	assert_int_equal(x.n_copies, 1);
	end(&x);
}

static void a_packet_without_an_entry_ends(void **state)
{
	struct world x;

	start(&x, &table_prototype);
	assert_int_equal(coll_memory(x.coll), 100 * 16);
	send(&x, 0, 0, 9);
	send(&x, 0, 0, 40000);
	assert_int_equal(x.n_copies, 0);
	assert_int_equal(x.coll->ops->strays(x.coll), 2);
	end(&x);
}

/* Entries may lead around: a copy that has followed them too long ends. */
static void a_copy_that_is_led_around_ends(void **state)
{
	struct packet p = { .flags = PACKET_MANY, .last = 3 };
	struct world x;
	struct err e = { 0 };
	router_id leaf;

	start(&x, &table_prototype);
	leaf = fattree_switch(&x.m.t, 0, 1, 0);
	assert_int_equal(multicast_write(x.coll, leaf, 18, 3, 1 << 19, &e), 0);
	p.passed = 64;
	assert_int_equal(
		x.coll->ops->arrive(x.coll, leaf, &p, 18, 0).ports, 1 << 19);
	p.passed++;
	assert_true(x.coll->ops->arrive(x.coll, leaf, &p, 18, 0).ends);
	assert_int_equal(x.coll->ops->strays(x.coll), 1);
	end(&x);
}

TESTS(TEST(sun_f56_every_member_reaches_the_others_once),
	TEST(a_chain_goes_over_one_switch),
	TEST(a_chain_of_all_nodes_reaches_all),
	TEST(sun_f30_a_33rd_entry_is_refused), TEST(what_cannot_be_is_refused),
	TEST(a_packet_without_an_entry_ends),
	TEST(a_copy_that_is_led_around_ends))
