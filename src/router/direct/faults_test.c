/* Packets on links that flip bits, and on links that die. */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { MANY = 400, APART = 3000 * SIM_NS };

static const struct tree_how sixteen = { .nodes = "16", .radix = "4" };

static struct rig *make(const struct fault_plan *p, uint32_t n_workers)
{
	return rig_new(&(struct rig_how){
		.tree = &sixteen, .faults = p, .n_workers = n_workers });
}

static uint64_t wire_bits(const struct rig *r)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < r->net->n_sites; s++)
		for (port_id p = 0; p < r->net->n_ports; p++)
			sum += 8 * rig_sent_bytes(r, s, p, ALL_CHANNELS);
	return sum;
}

static struct fault_counts total(const struct rig *r)
{
	struct fault_counts sum = { 0 };

	for (uint32_t i = 0; i < r->net->topo->n_wires; i++) {
		struct fault_counts c = faults_total(r->net->faults, i);

		sum.bit_errors += c.bit_errors;
		sum.hurt += c.hurt;
		sum.lost += c.lost;
	}
	return sum;
}

/* As many as the rate says, and each packet knows of its own. */
static void bits_are_flipped_at_the_rate(void **state)
{
	struct fault_plan p = { 0 };
	struct fault_counts c;
	uint64_t series = 3, told = 0, hurt = 0, want;
	struct rig *r;

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		p.rate[i] = UINT64_C(20000000000000); /* 2e-5 */
	r = make(&p, 1);
	rig_storm(r, &series, MANY, 1u << PACKET_DYNAMIC, true);
	rig_run(r);
	for (uint32_t i = 0; i < r->n_arrivals; i++) {
		const struct packet *x = &r->arrival[i].packet;

		assert_int_equal(!!(x->flags & PACKET_HURT), x->load != 0);
		told += x->load;
		hurt += x->load != 0;
	}
	c = total(r);
	want = wire_bits(r) / 50000;
	assert_int_equal(c.bit_errors, told);
	assert_int_equal(c.hurt, hurt);
	assert_int_equal(c.lost, 0);
	assert_true(want > 500);
	assert_in_range(c.bit_errors, want * 85 / 100, want * 115 / 100);
	rig_free(r);
}

static void only_the_named_class_flips_bits(void **state)
{
	struct fault_plan p = { 0 };
	struct rig *r;
	uint64_t series = 5;
	uint32_t i, up = fattree_wire(1, FATTREE_UP);

	p.rate[up] = UINT64_C(100000000000000);
	r = make(&p, 1);
	rig_storm(r, &series, MANY, 1u << PACKET_DYNAMIC, true);
	rig_run(r);
	for (i = 0; i < r->net->topo->n_wires; i++)
		assert_int_equal(
			faults_total(r->net->faults, i).bit_errors != 0,
			i == up);
	rig_free(r);
}

/* A packet that hits nothing sees a network without faults. */
static void faults_elsewhere_change_nothing(void **state)
{
	struct fault_event e[] = { { .at = SIM_NEVER / 8,
		.site = 3,
		.port = FAULT_SITE,
		.place = "" } };
	struct fault_plan p = { .event = e, .n_events = 1, .rate = { 1 } };
	struct rig *with = make(&p, 1), *without = make(NULL, 1);
	uint64_t x = 9, y = 9;

	rig_storm(with, &x, MANY, 15, true);
	rig_storm(without, &y, MANY, 15, true);
	rig_run(with);
	rig_run(without);
	for (uint32_t i = 0; i < with->n_sent; i++) {
		assert_int_equal(with->got[i]->head, without->got[i]->head);
		assert_int_equal(with->got[i]->tail, without->got[i]->tail);
	}
	rig_free(with);
	rig_free(without);
}

/* When does a packet of node 0 to node 1 have its tail through the first
 * wire? */
static sim_time first_wire(uint32_t bytes)
{
	struct rig *r = make(NULL, 1);
	struct packet p = { .dst = 1, .bytes = (uint16_t)bytes };
	const struct link_rules *l = &r->net->link;
	sim_time t =
		link_ser(l, p.bytes) + l->latency[fattree_wire(0, FATTREE_UP)];

	rig_free(r);
	return t;
}

static bool arrives(sim_time sent, sim_time dies, sim_time returns)
{
	struct fault_event e[] = {
		{ .at = dies, .site = 0, .port = 0, .place = "" },
		{ .at = returns,
			.site = 0,
			.port = 0,
			.returns = true,
			.place = "" },
	};
	struct fault_plan p = { .event = e, .n_events = 2 };
	struct rig *r = make(&p, 1);
	bool has;

	rig_send(r, sent, 0, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run(r);
	has = r->got[0];
	assert_int_equal(total(r).lost, !has);
	rig_free(r);
	return has;
}

/* What is not through when its link dies is lost, to the picosecond. */
static void a_packet_on_a_dying_link_is_lost(void **state)
{
	sim_time t = 100 * SIM_NS, through = first_wire(512);

	assert_true(arrives(t, t + through, SIM_NEVER));
	assert_false(arrives(t, t + through - 1, SIM_NEVER));
	assert_false(arrives(t, t, SIM_NEVER));
	assert_false(arrives(t, 10 * SIM_NS, t + 1));
	assert_true(arrives(t, 10 * SIM_NS, t));
	assert_true(arrives(t, 10 * SIM_NS, 20 * SIM_NS));
}

/*
 * A switch dies while everybody sends, and returns: packets of the other
 * routes pass, what meets it is lost, and later all passes again.  rig_run()
 * counts packets and tokens on the way.
 */
static void tokens_of_lost_packets_come_home(void **state)
{
	struct fault_event e[] = {
		{ .at = 20 * 1000 * SIM_NS,
			.site = 16 + 4,
			.port = FAULT_SITE,
			.place = "" },
		{ .at = 40 * 1000 * SIM_NS,
			.site = 16 + 4,
			.port = FAULT_SITE,
			.returns = true,
			.place = "" },
	};
	struct fault_plan p = { .event = e, .n_events = 2 };
	struct rig *r = make(&p, 1);
	uint64_t series = 1;
	uint32_t late;

	rig_storm(r, &series, MANY, 15, false);
	/* route 0 of node 0 goes by that switch */
	late = rig_flood(r, 1000 * 1000 * SIM_NS, 0, 20,
		(struct packet){ .dst = 4, .bytes = 512, .hints = 1 });
	rig_run(r);
	assert_in_range(total(r).lost, 50, r->n_sent / 2);
	assert_int_equal(total(r).lost + r->n_arrivals, r->n_sent);
	for (; late < r->n_sent; late++)
		assert_non_null(r->got[late]);
	rig_free(r);
}

/* QSN-F71: of a pair's routes those that avoid the dead switch pass. */
static void qsn_f71_other_routes_avoid_a_dead_switch(void **state)
{
	struct fault_event e[] = {
		{ .at = 0, .site = 16 + 4, .port = FAULT_SITE, .place = "" }
	};
	struct fault_plan p = { .event = e, .n_events = 1 };
	struct rig *r = make(&p, 1);
	uint32_t n = 0;

	for (uint32_t k = 0; k < 4; k++)
		rig_send(r, k * APART, 0,
			(struct packet){ .dst = 5,
				.bytes = 64,
				.hints = (uint16_t)(1 + k) });
	rig_run(r);
	for (uint32_t k = 0; k < 4; k++)
		n += r->got[k] != NULL;
	assert_int_equal(n, 3);
	rig_free(r);
}

/* Who is hit does not depend on the threads, nor what becomes of the rest. */
static void threads_change_nothing(void **state)
{
	struct fault_event e[] = {
		{ .at = 5 * 1000 * SIM_NS, .site = 17, .port = 5, .place = "" },
		{ .at = 15 * 1000 * SIM_NS,
			.site = 17,
			.port = 5,
			.returns = true,
			.place = "" },
		{ .at = 9 * 1000 * SIM_NS,
			.site = 21,
			.port = FAULT_SITE,
			.place = "" },
	};
	struct fault_plan p = { .event = e, .n_events = 3 };
	struct rig *r[2];

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		p.rate[i] = UINT64_C(20000000000000);
	for (uint32_t k = 0; k < 2; k++) {
		uint64_t series = 4;

		r[k] = make(&p, k ? 5 : 1);
		rig_storm(r[k], &series, MANY, 15, true);
		rig_run(r[k]);
	}
	assert_true(total(r[0]).lost > 0);
	assert_int_equal(total(r[0]).lost, total(r[1]).lost);
	assert_int_equal(total(r[0]).bit_errors, total(r[1]).bit_errors);
	for (uint32_t i = 0; i < r[0]->n_sent; i++) {
		const struct arrival *a = r[0]->got[i], *b = r[1]->got[i];

		assert_int_equal(!a, !b);
		if (!a)
			continue;
		assert_int_equal(a->tail, b->tail);
		assert_int_equal(a->packet.load, b->packet.load);
	}
	rig_free(r[0]);
	rig_free(r[1]);
}

TESTS(TEST(bits_are_flipped_at_the_rate), TEST(only_the_named_class_flips_bits),
	TEST(faults_elsewhere_change_nothing),
	TEST(a_packet_on_a_dying_link_is_lost),
	TEST(tokens_of_lost_packets_come_home),
	TEST(qsn_f71_other_routes_avoid_a_dead_switch),
	TEST(threads_change_nothing))
