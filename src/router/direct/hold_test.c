/* Made-up collectives: switches that hold packets until others have come, and
 * then let all of them go on, or make one of them. */
#include "coll/coll.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { LATE = 20000 * SIM_NS, FIRST_SWITCH = 16 };

struct gate {
	struct coll coll;
	uint32_t wants; /* packets that have to come to the first switch */
	uint32_t came, offers;
	bool adds; /* makes one of all: the last */
};

static struct coll_step arrive(
	struct coll *c, site_id s, struct packet *p, port_id in, sim_time t)
{
	struct gate *g = (struct gate *)c;
	struct coll_step step = { .what = COLL_PASS };

	(void)t;
	if (s == FIRST_SWITCH) {
		bool is_new = !(p->flags & PACKET_HELD);

		g->offers++;
		g->came += is_new;
		step.what = g->came < g->wants	 ? COLL_HOLD
			    : g->adds && !is_new ? COLL_ABSORB
						 : COLL_PASS;
	}
	if (step.what == COLL_PASS)
		step.ports = c->route->ops->next(c->route, p, s, in).ports;
	return step;
}

static void nothing(struct coll *c)
{
	(void)c;
}

static uint64_t waiting(const struct coll *c)
{
	const struct gate *g = (const struct gate *)c;

	return g->came < g->wants ? g->came : 0;
}

static uint64_t none(const struct coll *c)
{
	(void)c;
	return 0;
}

static const struct coll_ops gate_ops = {
	.name = "gate",
	.size = sizeof(struct gate),
	.flags = PACKET_STAY, /* which means nothing on a tree */
	.init = nothing,
	.fini = nothing,
	.arrive = arrive,
	.waiting = waiting,
	.strays = none,
	.memory = none,
};

static struct gate *use_gate(struct rig *r, uint32_t wants, bool adds)
{
	struct coll *c = coll_make(&gate_ops, r->net->route);
	struct gate *g = (struct gate *)c;

	g->wants = wants;
	g->adds = adds;
	coll_free(r->net->coll);
	r->net->coll = c;
	direct_of(r->net, 0)->coll = c;
	direct_of(r->net, FIRST_SWITCH)->coll = c;
	return g;
}

static struct rig *make(const struct book_how *book)
{
	static const struct tree_how tree = { .nodes = "16" };

	return rig_new(&(struct rig_how){ .tree = &tree, .book = book });
}

static uint32_t send(struct rig *r, sim_time t, site_id from)
{
	return rig_send(r, t, 0,
		(struct packet){ .src = from,
			.dst = 5,
			.bytes = 512,
			.flags = PACKET_STAY });
}

static void check_held(const struct book_how *book)
{
	struct rig *r = make(book);
	struct gate *g = use_gate(r, 3, false);
	uint32_t a = send(r, 0, 0), b = send(r, LATE / 2, 1);
	uint32_t c = send(r, LATE, 2), other;

	/* others are not its business, and are not held up */
	other = rig_send(
		r, 0, 0, (struct packet){ .src = 3, .dst = 5, .bytes = 512 });
	rig_run(r);
	assert_true(r->got[other]->head < LATE / 2);
	assert_true(r->got[a]->head > LATE && r->got[b]->head > LATE);
	assert_true(r->got[c]->head > LATE);
	/* each once, the first two again for each that came */
	assert_int_equal(g->offers, 3 + 1 + 2);
	rig_free(r);
}

static void packets_wait_in_a_switch_until_others_have_come(void **state)
{
	static const struct book_how how = { 0 };

	(void)state;
	check_held(NULL);
	check_held(&how);
}

/* Behind a held packet its queue stands still, and goes on after it. */
static void what_is_held_holds_up_its_queue(void **state)
{
	struct rig *r = make(NULL);
	uint32_t a, behind, b;

	(void)state;
	use_gate(r, 2, false);
	a = send(r, 0, 0);
	behind = rig_send(
		r, 0, 0, (struct packet){ .src = 0, .dst = 6, .bytes = 512 });
	b = send(r, LATE, 1);
	rig_run(r);
	assert_true(r->got[a]->head > LATE && r->got[b]->head > LATE);
	assert_true(r->got[behind]->head > LATE);
	rig_free(r);
}

static void held_packets_may_become_part_of_the_last(void **state)
{
	struct rig *r = make(NULL);
	struct err e = { 0 };
	uint32_t last;

	(void)state;
	use_gate(r, 3, true);
	send(r, 0, 0);
	send(r, 0, 1);
	last = send(r, LATE, 2);
	rig_run_until(r, 4 * (sim_time)LATE);
	rig_gather(r);
	assert_int_equal(r->n_arrivals, 1);
	assert_non_null(r->got[last]);
	assert_int_equal(net_total(r->net).absorbed, 2);
	assert_int_equal(net_audit(r->net, &e), 0);
	rig_free(r);
}

static void an_audit_tells_what_still_waits(void **state)
{
	struct rig *r = make(NULL);
	struct err e = { 0 };
	struct gate *g;

	(void)state;
	g = use_gate(r, 2, false);
	g->came = 1; /* of which nothing is left in the network */
	assert_int_not_equal(net_audit(r->net, &e), 0);
	g->came = 2;
	assert_int_equal(net_audit(r->net, &e), 0);
	rig_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			packets_wait_in_a_switch_until_others_have_come),
		cmocka_unit_test(what_is_held_holds_up_its_queue),
		cmocka_unit_test(held_packets_may_become_part_of_the_last),
		cmocka_unit_test(an_audit_tells_what_still_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
