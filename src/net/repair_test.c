/* What routers know of failed links, and when. */
#include "net/repair.h"

#include "link/faults.h"
#include "route/updown_testing.h"
#include "testing/testing.h"

enum { NOTICE = 2, TOLD = 10 }; /* us */

/* Four leaves of four nodes each, and four spines. */
struct world {
	struct tree_machine m;
	struct fault_params text;
	struct fault_plan plan;
	struct faults *faults;
	struct net_repair *repair;
};

static void make(struct world *x, sim_time notice, sim_time told,
	const char *const *events)
{
	struct err e = { .text = "" };

	*x = (struct world){ 0 };
	updown_make(&x->m,
		&(struct tree_how){
			.nodes = "16", .radix = "4", .spread = "adaptive" });
	x->m.u.route.notice = notice;
	x->m.u.route.told = told;
	for (; *events; events++)
		param_lines_add(&x->text.events, *events, "");
	if (fault_plan_read(&x->plan, &x->text, &x->m.t.topo, &e))
		fail_msg("%s", e.text);
	x->faults = faults_new(&x->plan, &x->m.t.topo, 1, 1);
	x->repair = net_repair_new(&x->m.u.route, x->faults);
}

static void drop(struct world *x)
{
	net_repair_free(x->repair);
	faults_free(x->faults);
	fault_plan_free(&x->plan);
	param_lines_free(&x->text.events);
}

/* Up-link 1 of the first leaf. */
static const char *const one[] = { "20 us link 1.0 up 1 dies",
	"40 us link 1.0 up 1 returns", NULL };

/* NET-F25: routers at both ends, after the notice, both ways. */
static void own_links_are_known_after_a_notice(void **state)
{
	struct world x;
	router_id leaf, spine;
	port_mask up;

	make(&x, NOTICE * US, -1, one);
	leaf = x.m.t.first[1];
	spine = x.m.t.first[2] + 1;
	up = (port_mask)1 << (x.m.t.n_down[1] + 1);
	assert_int_equal(x.repair->n_views, 0);
	for (sim_time t = 0; t < 60; t++) {
		bool is_known = t >= 20 + NOTICE && t < 40 + NOTICE;

		assert_true(net_repair_dead(x.repair, leaf, t * US) ==
			    (is_known ? up : 0));
		assert_int_equal(
			net_repair_dead(x.repair, spine, t * US), is_known);
		assert_int_equal(
			net_repair_dead(x.repair, leaf + 1, t * US), 0);
	}
	drop(&x);
}

/* NET-F25 */
static void short_outages_are_ignored(void **state)
{
	struct world x;

	make(&x, 20 * US, 20 * US, one);
	assert_int_equal(x.repair->n_views, 0);
	assert_int_equal(net_repair_dead(x.repair, x.m.t.first[1], 45 * US), 0);
	drop(&x);
	make(&x, 20 * US - 1, 20 * US - 1, one);
	assert_int_equal(x.repair->n_views, 2);
	assert_int_not_equal(
		net_repair_dead(x.repair, x.m.t.first[1], 45 * US), 0);
	drop(&x);
}

/* NET-F26: from then on others do not go by the switch that misses a link. */
static void others_know_it_when_they_are_told(void **state)
{
	const struct route *r;
	struct world x;

	make(&x, NOTICE * US, TOLD * US, one);
	for (sim_time t = 0; t < 60; t++) {
		bool is_told = t >= 20 + TOLD && t < 40 + TOLD;
		/* from the last leaf to a node of the first */
		struct packet p = { .src = 15, .kind = PACKET_DYNAMIC };
		router_id leaf = x.m.t.first[1] + 3;

		r = net_repair_route(x.repair, t * US);
		r->ops->start(r, &p);
		r->ops->next(r, &p, 15, TOPO_NO_PORT);
		assert_true(
			r->ops->next(r, &p, leaf, 3).ports ==
			(port_mask)(is_told ? 0xd : 0xf) << x.m.t.n_down[1]);
	}
	assert_int_equal(x.repair->n_views, 2);
	assert_int_equal(x.repair->view[0].n_dead, 1);
	assert_int_equal(x.repair->view[0].missing.n, 0);
	drop(&x);
}

/* NET-F26: no mail is faster than the shortest wire. */
static void nothing_is_told_at_once(void **state)
{
	struct world x;

	make(&x, 0, 0, one);
	assert_true(x.repair->view[0].from > 20 * US);
	assert_true(x.repair->view[0].from < 21 * US);
	drop(&x);
}

/* NET-F26: nodes behind a leaf without up-links. */
static void pairs_without_a_way_are_counted(void **state)
{
	static const char *const all[] = { "1 us link 1.0 up 0 dies",
		"1 us link 1.0 up 1 dies", "1 us link 1.0 up 2 dies",
		"1 us link 1.0 up 3 dies", NULL };
	struct world x;

	make(&x, NOTICE * US, TOLD * US, all);
	assert_int_equal(x.repair->n_views, 1);
	assert_int_equal(x.repair->view[0].n_dead, 4);
	assert_int_equal(x.repair->view[0].missing.n, 2 * 4 * 12);
	assert_true(x.repair->view[0].missing.src < 4);
	assert_true(x.repair->view[0].missing.dst >= 4);
	drop(&x);
}

/* NET-F25, NET-F26 */
static void routers_that_never_learn_of_it_repair_nothing(void **state)
{
	struct world x;

	make(&x, -1, -1, one);
	assert_null(x.repair);
	drop(&x);
}

TESTS(TEST(own_links_are_known_after_a_notice), TEST(short_outages_are_ignored),
	TEST(others_know_it_when_they_are_told), TEST(nothing_is_told_at_once),
	TEST(pairs_without_a_way_are_counted),
	TEST(routers_that_never_learn_of_it_repair_nothing))
