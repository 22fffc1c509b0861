/* Which way packets take through switches of tiles: choice, feedback, dead
 * links, source routes, multicasts, stored packets. */
#include "router/array/array_testing.h"

#include "coll/coll.h"
#include "link/link_testing.h"
#include "testing/testing.h"

/* Two switches of HALF nodes, with two trunks, at these ports. */
enum { HALF = 10, NODES = 2 * HALF, LEFT = NODES, RIGHT, A = HALF, B, C };

struct rig_how {
	uint32_t n_trunks;
	bool holds, books;
	const struct fault_plan *faults;
	const struct route_lists *lists;
	const struct link_params *link;
};

static struct star_rig *rig_with(
	const struct array_params *own, struct rig_how how)
{
	struct link_params link = array_test_link();

	return star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = how.n_trunks,
		.holds = how.holds,
		.books = how.books,
		.faults = how.faults,
		.lists = how.lists,
		.kind = &array_ops,
		.own = own,
		.link = how.link ? how.link : &link });
}

static struct star_rig *rig(struct rig_how how)
{
	struct array_params own = array_test_params();

	return rig_with(&own, how);
}

static uint64_t sent_by(const struct star_rig *r, port_id p, uint32_t bytes)
{
	return star_sent(r, LEFT, p) /
	       (uint64_t)link_wire_bytes(&r->link, bytes);
}

/* --- choice --- */

/* A routing with candidates: a packet's tag is 0 for trunks A and B,
 * adaptively; 1 or 2 for one of them alone; 3 for B, else A, in order; 4 for A,
 * and B only if A does not work; 5 for A and C, adaptively, which are no
 * neighbours. */
static struct route_choice choose(const struct route *r,
	const struct route_memory *own, struct packet *p, router_id at,
	port_id in)
{
	static const uint8_t order[] = { B, A };
	const port_mask a = (port_mask)1 << A, b = (port_mask)1 << B,
			third = (port_mask)1 << C;
	const struct route_choice by[] = { { .ports = a | b,
						   .is_adaptive = true },
		{ .ports = a }, { .ports = b },
		{ .ports = a | b, .order = order, .n_order = 2 },
		{ .ports = a, .later = b },
		{ .ports = a | third, .is_adaptive = true } };
	struct route_choice c = by[p->tag];

	(void)own;
	if (r->ops->next(r, p, at, in).ports < a)
		c = (struct route_choice){ .ports = (port_mask)1
						    << p->dst % HALF };
	c.channel = p->channel;
	return c;
}

static void free_none(struct route_memory *own)
{
	assert_null(own);
}

static const struct route_lists lists = { .choose = choose, .free = free_none };

static struct packet tagged(
	site_id src, site_id dst, uint32_t bytes, uint16_t tag)
{
	struct packet p = array_test_packet(src, dst, bytes);

	p.tag = tag;
	return p;
}

/* SUN-F28 */
static void equals_have_their_turn(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 2, .lists = &lists });

	for (uint32_t i = 0; i < 20; i++)
		star_send(r, i * 10 * US, 1, tagged(0, HALF, FULL, 0));
	star_run(r, SIM_NEVER);
	assert_int_equal(sent_by(r, A, FULL), 10);
	assert_int_equal(sent_by(r, B, FULL), 10);
	star_free(r);
}

/* SUN-F28, SUN-F92: Trunk A is taken by others. */
static void adaptive_packets_take_the_port_with_most_credits(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 2, .lists = &lists });

	star_send(r, 0, 40, tagged(1, HALF + 1, FULL, 1));
	star_send(r, 0, 40, tagged(2, HALF + 2, FULL, 1));
	star_send(r, 3 * US, 10, tagged(0, HALF, FULL, 0));
	star_run(r, SIM_NEVER);
	assert_int_equal(sent_by(r, A, FULL), 80);
	assert_int_equal(sent_by(r, B, FULL), 10);
	star_free(r);
}

/* SUN-F28: the same of ports with others between them. */
static void ports_that_are_no_neighbours_are_compared_too(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 3, .lists = &lists });

	star_send(r, 0, 40, tagged(1, HALF + 1, FULL, 1));
	star_send(r, 0, 40, tagged(2, HALF + 2, FULL, 1));
	star_send(r, 3 * US, 10, tagged(0, HALF, FULL, 5));
	star_run(r, SIM_NEVER);
	assert_int_equal(sent_by(r, A, FULL), 80);
	assert_int_equal(sent_by(r, B, FULL), 0);
	assert_int_equal(sent_by(r, C, FULL), 10);
	star_free(r);
}

/* SUN-F29 */
static void ordered_packets_take_the_first_port_that_works(void **state)
{
	struct fault_event e[] = {
		{ .at = 100 * US, .site = LEFT, .port = B, .place = "" },
		{ .at = 200 * US, .site = LEFT, .port = A, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 2, .heals = true };
	struct star_rig *r = rig((struct rig_how){
		.n_trunks = 2, .lists = &lists, .faults = &plan });

	star_send(r, 0, 40, tagged(1, HALF + 1, FULL, 2));
	star_send(r, 3 * US, 10, tagged(0, HALF, FULL, 3));
	star_run(r, 90 * US);
	assert_int_equal(sent_by(r, A, FULL), 0);
	star_send(r, 150 * US, 10, tagged(0, HALF, FULL, 3));
	star_send(r, 250 * US, 10, tagged(0, HALF, FULL, 3));
	star_run(r, SIM_NEVER);
	assert_int_equal(sent_by(r, A, FULL), 10);
	assert_int_equal(sent_by(r, B, FULL), 50);
	assert_int_equal(r->n_lost, 10);
	assert_int_equal(net_total(r->net).stranded, 10);
	star_free(r);
}

/* SUN-F29 */
static void later_ports_are_for_dead_links(void **state)
{
	struct fault_event e[] = {
		{ .at = 100 * US, .site = LEFT, .port = A, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 1, .heals = true };
	struct star_rig *r = rig((struct rig_how){
		.n_trunks = 2, .lists = &lists, .faults = &plan });

	star_send(r, 0, 20, tagged(0, HALF, FULL, 4));
	star_send(r, 0, 20, tagged(1, HALF + 1, FULL, 4));
	star_send(r, 110 * US, 5, tagged(0, HALF, FULL, 4));
	star_run(r, SIM_NEVER);
	assert_int_equal(sent_by(r, A, FULL), 40);
	assert_int_equal(sent_by(r, B, FULL), 5);
	assert_int_equal(r->n_lost, 0);
	star_free(r);
}

/* --- feedback --- */

/*
 * Node HALF has no room, and what goes there comes by trunk A, from time to
 * time.  Trunk B is busy, but moves on.  Number of packets for other nodes that
 * take trunk B, of 10, while A has all credits but a few.
 */
static uint64_t moved_by_feedback(bool feedback)
{
	enum { OTHERS = 10, BUSY = 30 };
	struct array_params own = array_test_params();
	sim_time each;
	struct star_rig *r;
	uint64_t sent;

	own.feedback = feedback;
	own.shared = 4 * FULL_CHUNKS;
	r = rig_with(
		&own, (struct rig_how){
			      .n_trunks = 2, .lists = &lists, .holds = true });
	each = array_test_period(r);
	star_send(r, 0, 5, tagged(0, HALF, FULL, 1));
	for (uint32_t i = 0; i < 40; i++)
		star_send(
			r, 10 * US + i * 3 * each, 1, tagged(0, HALF, TINY, 1));
	for (uint32_t i = 0; i < BUSY; i++)
		star_send(r, 10 * US + 50 * each, 1,
			tagged(3, HALF + 4 + i / 5, FULL, 2));
	for (uint32_t i = 0; i < OTHERS; i++)
		star_send(r, 10 * US + (55 + 2 * i) * each, 1,
			tagged(1, HALF + 1, SMALL, 0));
	star_run(r, 100 * US);
	assert_true(array_ops.tokens(r->net->router[NET_SWITCHES], LEFT, A, 0) >
		    FULL_CHUNKS);
	sent = star_sent(r, LEFT, B) -
	       BUSY * (uint64_t)link_wire_bytes(&r->link, FULL);
	sent /= (uint64_t)link_wire_bytes(&r->link, SMALL);
	star_free(r);
	return sent;
}

/* SUN-F21 */
static void feedback_moves_packets_before_a_queue_is_full(void **state)
{
	assert_true(moved_by_feedback(false) <= 2);
	assert_true(moved_by_feedback(true) >= 8);
}

/* --- dead links --- */

/* SUN-F29 */
static void what_waits_for_a_dead_link_chooses_again(void **state)
{
	struct fault_event e[] = {
		{ .at = 20 * US, .site = LEFT, .port = A, .place = "" },
		{ .at = 60 * US,
			.site = LEFT,
			.port = A,
			.returns = true,
			.place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 2, .heals = true };
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 2, .faults = &plan });
	uint64_t by_a;

	for (uint32_t i = 0; i < HALF; i++)
		star_send(r, 0, 50, array_test_packet(i, HALF + i, FULL));
	star_run(r, 50 * US);
	by_a = star_sent(r, LEFT, A);
	/* those in row buffers for it, and those on it */
	assert_in_range(r->n_lost, HALF / 2, HALF + 3);
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got + r->n_lost, HALF * 50);
	assert_true(r->n_lost <= HALF + 3);
	assert_true(star_sent(r, LEFT, A) > by_a); /* it came back */
	star_free(r);
}

static void without_a_way_packets_are_dropped_and_counted(void **state)
{
	struct fault_event e[] = {
		{ .at = 5 * US, .site = LEFT, .port = A, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 1, .heals = true };
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 1, .faults = &plan });
	uint32_t near;

	for (uint32_t i = 0; i < 4; i++)
		star_send(r, 0, 50, array_test_packet(i, HALF + i, FULL));
	near = star_send(r, 0, 50, array_test_packet(5, 6, FULL));
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got + r->n_lost, 250);
	assert_int_equal(array_test_came(r, near, 50), 50);
	assert_true(net_total(r->net).stranded > 100);
	star_free(r);
}

/* --- source routes --- */

/* Node 1 takes two packets, and one stands in the row buffer for it. */
static void source_routed_packets_do_not_wait_for_long(void **state)
{
	struct array_params own = array_test_params();
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 1, .holds = true });
	struct packet p = array_test_packet(0, 1, FULL);
	uint32_t behind;

	p.kind = PACKET_VECTOR;
	star_send(r, 0, 5, p);
	behind = star_send(r, 0, 1, array_test_packet(0, 9, TINY));
	star_run(r, own.patience);
	assert_int_equal(r->n_lost, 0);
	assert_int_equal(array_test_came(r, behind, 1), 0);
	star_run(r, own.patience + 2 * US);
	assert_int_equal(r->n_got, 3);
	assert_int_equal(r->n_lost, 3);
	assert_int_equal(
		array_switch(array_switches(r->net), LEFT)->impatient, 3);
	assert_int_equal(array_test_came(r, behind, 1), 1);
	star_free(r);
}

/* The first packet that node 1 has no room for is dropped; a shorter one that
 * it has room for goes at once. */
static void what_is_dropped_holds_up_nobody(void **state)
{
	struct array_params own = array_test_params();
	struct star_rig *r;
	struct packet p = array_test_packet(0, 1, FULL);
	uint32_t next;

	own.shared = 8;
	r = rig_with(&own, (struct rig_how){ .n_trunks = 1, .holds = true });
	p.kind = PACKET_VECTOR;
	star_send(r, 0, 2, p);
	next = star_send(r, 2 * own.patience, 1, array_test_packet(2, 1, TINY));
	star_run(r, 3 * own.patience);
	assert_int_equal(r->n_lost, 1);
	assert_int_equal(array_test_came(r, next, 1), 1);
	star_free(r);
}

static void other_packets_wait(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 1, .holds = true });

	star_send(r, 0, 5, array_test_packet(0, 1, FULL));
	star_run(r, 100 * US);
	assert_int_equal(r->n_got, 2);
	assert_int_equal(r->n_lost, 0);
	star_free(r);
}

/* --- multicasts --- */

static port_mask spread_to[2]; /* by switch */

static struct coll_step arrive(
	struct coll *c, site_id s, struct packet *p, port_id in, sim_time t)
{
	(void)c;
	(void)p;
	(void)in;
	(void)t;
	return (struct coll_step){ .ports = spread_to[s - LEFT] };
}

static const struct coll_ops many_ops = { .flags = PACKET_MANY,
	.arrive = arrive };

static struct star_rig *spreading(
	struct coll *c, struct rig_how how, port_mask left, port_mask right)
{
	struct star_rig *r = rig(how);

	*c = (struct coll){ .ops = &many_ops };
	r->net->coll = c;
	spread_to[0] = left;
	spread_to[1] = right;
	return r;
}

static void spread_free(struct star_rig *r)
{
	r->net->coll = NULL;
	star_free(r);
}

static struct packet many(site_id src, uint32_t bytes)
{
	struct packet p = array_test_packet(src, src, bytes);

	p.kind = PACKET_SYSTEM;
	p.flags = PACKET_MANY;
	return p;
}

/* SUN-F30 */
static void a_multicast_goes_to_each_of_its_ports(void **state)
{
	const port_mask nodes = ((port_mask)1 << HALF) - 1;
	const port_mask set[][2] = { { 2, 0 }, { nodes, 0 },
		{ nodes | (port_mask)1 << A, nodes } };
	struct coll c;

	for (uint32_t i = 0; i < 3; i++) {
		struct star_rig *r =
			spreading(&c, (struct rig_how){ .n_trunks = 1 },
				set[i][0], set[i][1]);
		uint32_t copies = (uint32_t)__builtin_popcountll(
			(set[i][0] & nodes) | set[i][1] << HALF);

		star_send(r, 0, 3, many(0, SMALL));
		star_run(r, SIM_NEVER); /* and all credits are back */
		assert_int_equal(r->n_got, 3 * copies);
		assert_int_equal(net_total(r->net).copies, 3 * copies - 3);
		spread_free(r);
	}
}

/* SUN-F13: The bus carries a packet once for all columns: it is only copies for
 * ports of one column that cross one after the other. */
static void copies_for_different_columns_cross_at_once(void **state)
{
	struct coll c;
	struct star_rig *r = spreading(&c, (struct rig_how){ .n_trunks = 1 },
		((port_mask)1 << HALF) - 1, 0);

	star_send(r, 0, 1, many(0, SMALL));
	star_run(r, SIM_NEVER);
	assert_int_equal(
		r->got[1].tail, star_alone(r, 0, 1, SMALL) +
					(HALF - 1) / ARRAY_COLUMNS *
						link_ser(&r->net->link, SMALL));
	spread_free(r);
}

/* SUN-F30: Node 1 has no room: the others get their copies, the packet stays in
 * its input, and what comes behind it on another channel passes. */
static void each_copy_leaves_when_it_can(void **state)
{
	struct coll c;
	struct star_rig *r =
		spreading(&c, (struct rig_how){ .n_trunks = 1, .holds = true },
			((port_mask)1 << HALF) - 1, 0);
	uint32_t next;

	star_send(r, 0, 3, array_test_kind(2, 1, PACKET_SYSTEM));
	star_send(r, 5 * US, 3, many(0, TINY));
	next = star_send(r, 9 * US, 1, array_test_packet(0, 1, TINY));
	star_run(r, 20 * US);
	/* two of three to node 1; of the first multicast, the copy for node 1
	 * waits in the row buffer, and that for node 9, which has the same
	 * column, behind it */
	assert_int_equal(array_test_came(r, next, 1), 1);
	assert_int_equal(r->n_got, 2 + (HALF - 2) + 1);
	assert_int_equal(array_switch(array_switches(r->net), LEFT)
				 ->port[0]
				 .in_row[array_list(3, 1)],
		1);
	spread_free(r);
}

static void a_dead_port_gets_no_copy(void **state)
{
	struct fault_event e[] = {
		{ .at = 5 * US, .site = LEFT, .port = 3, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 1, .heals = true };
	struct coll c;
	struct star_rig *r = spreading(&c,
		(struct rig_how){ .n_trunks = 1, .faults = &plan },
		((port_mask)1 << HALF) - 1, 0);

	star_send(r, 10 * US, 2, many(0, SMALL));
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got, 2 * (HALF - 1));
	spread_free(r);
}

/* --- stored packets --- */

/* Four lanes, of which the link from or to node 0 loses two. */
static sim_time narrow(int64_t store, site_id from, site_id to)
{
	struct array_params own = array_test_params();
	struct link_params link = array_test_link();
	struct fault_event e[] = {
		{ .at = US, .kind = &fault_lane, .site = 0, .place = "" },
		{ .at = US, .kind = &fault_lane, .site = 0, .place = "" },
	};
	struct fault_plan plan = {
		.event = e, .n_events = 2, .lanes = 4, .heals = true
	};
	struct star_rig *r;
	sim_time took;

	link.lanes = 4;
	own.store = store;
	r = rig_with(
		&own, (struct rig_how){
			      .n_trunks = 1, .faults = &plan, .link = &link });
	star_send(r, 10 * US, 1, array_test_packet(from, to, FULL));
	star_run(r, SIM_NEVER);
	took = r->got[1].tail - 10 * US - star_alone(r, from, to, FULL);
	took = took * 100 / link_ser(&r->net->link, FULL);
	star_free(r);
	return took;
}

/* SUN-F17, SUN-F18: In hundredths of a full packet's time: its own link takes
 * twice as long; and then all of it has to leave again. */
static void packets_from_a_narrow_link_are_stored(void **state)
{
	assert_int_equal(narrow(ARRAY_STORE_NEVER, 0, 1), 100);
	assert_int_equal(narrow(ARRAY_STORE_AUTO, 0, 1), 200);
	/* to a narrow link, or past it, they are not */
	assert_int_equal(narrow(ARRAY_STORE_AUTO, 1, 0), 100);
	assert_int_equal(narrow(ARRAY_STORE_AUTO, 1, 2), 0);
	/* nor if they came by one that is no faster than the next */
	assert_int_equal(narrow(ARRAY_STORE_AUTO, 0, 0), 100);
}

/* Packets, one at a time, on links that have to repeat some: how many of the
 * others were stored in the switch. */
static uint32_t stored_for_errors(int64_t errors, uint32_t *at_once)
{
	struct array_params own = array_test_params();
	struct link_params link = array_test_link();
	struct fault_plan plan = { .rate = { UINT64_C(6000000000000) },
		.heals = true };
	struct star_rig *r;
	uint32_t stored = 0;

	link.retry.kind = RETRY_REPLAY;
	link.retry.window = 128;
	own.errors = errors;
	r = rig_with(
		&own, (struct rig_how){
			      .n_trunks = 1, .faults = &plan, .link = &link });
	for (uint32_t i = 0; i < 300; i++)
		star_send(r, i * 50 * US, 1, array_test_packet(0, 1, FULL));
	star_run(r, SIM_NEVER);
	*at_once = 0;
	for (uint32_t i = 0; i < 300; i++) {
		sim_time took = r->got[i + 1].tail - i * 50 * US -
				star_alone(r, 0, 1, FULL);

		stored += took == link_ser(&r->net->link, FULL);
		*at_once += !took;
	}
	star_free(r);
	return stored;
}

/* SUN-F18 */
static void packets_from_a_link_with_errors_are_stored(void **state)
{
	uint32_t at_once;

	assert_int_equal(stored_for_errors(1000000, &at_once), 0);
	assert_true(at_once > 100);
	assert_true(stored_for_errors(10000, &at_once) > 50);
	assert_true(at_once > 0); /* before the first errors */
}

/* --- time budgets --- */

static void every_wait_has_its_cause(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 1, .books = true });
	sim_time spent[N_CAUSES] = { 0 };

	for (uint32_t i = 0; i < 160; i++)
		star_send(r, 0, 1,
			array_test_packet(i % 4,
				i / 4 % 2 ? HALF + i % 2 : 4 + i / 8 % 6,
				i % 3 ? FULL : SMALL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < r->n_accounts; i++) {
		const struct book_account *a = &r->account[i];
		const struct budget *b = star_budget(r, a->src, a->number);

		for (uint32_t c = 0; c < N_CAUSES; c++)
			spent[c] += b->spent[c];
	}
	assert_int_equal(r->n_accounts, 160);
	assert_true(spent[CAUSE_QUEUE] > 0 && spent[CAUSE_TOKENS] > 0);
	assert_true(spent[CAUSE_LINK] > 0 && spent[CAUSE_ARBITRATION] > 0);
	assert_int_equal(spent[CAUSE_RETRY], 0);
	star_free(r);
}

static void a_packet_alone_waits_for_nothing(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_trunks = 1, .books = true });
	const struct topo_wire *wire = r->star.topo.wire;
	const struct budget *b;

	star_send(r, 0, 1, array_test_packet(0, NODES - 1, FULL));
	star_run(r, SIM_NEVER);
	b = star_budget(r, 0, 0);
	assert_int_equal(
		b->spent[CAUSE_ROUTER], 2 * wire[0].logic + wire[1].logic);
	assert_int_equal(b->spent[CAUSE_ROUTER] + b->spent[CAUSE_WIRE],
		2 * wire[0].latency + wire[1].latency);
	assert_int_equal(
		b->spent[CAUSE_SERIALISATION], link_ser(&r->net->link, FULL));
	assert_int_equal(b->at - b->start, star_alone(r, 0, NODES - 1, FULL));
	star_free(r);
}

/* Seen from outside, one that was never visited is like any idle switch. */
static void a_switch_is_set_up_when_a_packet_comes(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_trunks = 2 });
	const struct router *all = r->net->router[NET_SWITCHES];
	struct array *a = array_switches(r->net);

	star_send(r, 0, 3, array_test_packet(0, 1, FULL));
	star_run(r, SIM_NEVER); /* and audits */
	assert_int_equal(array_switch(a, LEFT)->id, LEFT);
	assert_int_equal(array_switch(a, RIGHT)->id, 0);
	for (uint32_t c = 0; c < ARRAY_CHANNELS; c++)
		assert_int_equal(array_ops.tokens(all, RIGHT, A, c),
			array_ops.tokens(all, LEFT, A, c));
	assert_int_equal(star_sent(r, RIGHT, A), 0);
	star_send(r, 10 * US, 1, array_test_packet(0, HALF, FULL));
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got, 4);
	assert_int_equal(array_switch(a, RIGHT)->id, RIGHT);
	star_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_switch_is_set_up_when_a_packet_comes),
		cmocka_unit_test(equals_have_their_turn),
		cmocka_unit_test(
			adaptive_packets_take_the_port_with_most_credits),
		cmocka_unit_test(ports_that_are_no_neighbours_are_compared_too),
		cmocka_unit_test(
			ordered_packets_take_the_first_port_that_works),
		cmocka_unit_test(later_ports_are_for_dead_links),
		cmocka_unit_test(feedback_moves_packets_before_a_queue_is_full),
		cmocka_unit_test(what_waits_for_a_dead_link_chooses_again),
		cmocka_unit_test(without_a_way_packets_are_dropped_and_counted),
		cmocka_unit_test(source_routed_packets_do_not_wait_for_long),
		cmocka_unit_test(what_is_dropped_holds_up_nobody),
		cmocka_unit_test(other_packets_wait),
		cmocka_unit_test(a_multicast_goes_to_each_of_its_ports),
		cmocka_unit_test(copies_for_different_columns_cross_at_once),
		cmocka_unit_test(each_copy_leaves_when_it_can),
		cmocka_unit_test(a_dead_port_gets_no_copy),
		cmocka_unit_test(packets_from_a_narrow_link_are_stored),
		cmocka_unit_test(packets_from_a_link_with_errors_are_stored),
		cmocka_unit_test(every_wait_has_its_cause),
		cmocka_unit_test(a_packet_alone_waits_for_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
