/* A switch, and two that are wired together, to the picosecond. */
#include "router/crossbar/crossbar.h"

#include "link/link_testing.h"
#include "router/star_testing.h"
#include "testing/testing.h"

enum { FULL = 512, SMALL = 32, NODES = 8 };

static struct packet from_to(site_id src, site_id dst, uint32_t bytes)
{
	return (struct packet){
		.src = src, .dst = dst, .bytes = (uint16_t)bytes
	};
}

/* A packet of another kind, which is another channel. */
static struct packet of_kind(site_id src, site_id dst, uint8_t kind)
{
	struct packet p = from_to(src, dst, FULL);

	p.kind = kind;
	return p;
}

static sim_time period(const struct star_rig *r)
{
	return link_ser(&r->net->link, FULL) + r->net->link.gap;
}

/* --- alone --- */

static void a_packet_alone_takes_its_wires_and_one_serialisation(void **state)
{
	static const uint32_t bytes[] = { 1, SMALL, 100, FULL };
	uint32_t to;

	for (uint32_t i = 0; i < 8; i++) {
		struct star_rig *r = star_new(&(struct star_how){
			.n_nodes = NODES, .n_switches = 2, .n_trunks = 2 });

		to = i / 4 ? NODES - 1 : 1;
		star_send(r, 70, 1, from_to(0, to, bytes[i % 4]));
		star_run(r, SIM_NEVER);
		assert_int_equal(r->n_got, 1);
		assert_int_equal(r->got[1].tail,
			70 + star_alone(r, 0, to, bytes[i % 4]));
		star_free(r);
	}
}

static void pairs_do_not_meet_in_a_switch(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES });

	for (uint32_t i = 0; i < NODES / 2; i++)
		star_send(r, 0, 10, from_to(i, NODES - 1 - i, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < NODES / 2; i++)
		assert_int_equal(r->got[10 * (i + 1)].tail,
			9 * period(r) + star_alone(r, 0, 1, FULL));
	star_free(r);
}

/* --- trains --- */

enum { TRAIN = 16 * FULL };

static struct star_rig *with_trains(bool books)
{
	struct link_params link = link_test_defaults();

	link.train = 16;
	return star_new(&(struct star_how){ .n_nodes = 4,
		.link = &link,
		.n_workers = books ? 1 : 2,
		.books = books });
}

/* For another channel and reception FIFO than short packets. */
static struct packet train(site_id from)
{
	struct packet p = of_kind(from, 0, PACKET_HIGH);

	p.bytes = TRAIN;
	return p;
}

/* A short packet that is sent at t waits for one packet at most. */
static void assert_soon(
	const struct star_rig *r, uint32_t number, site_id from, sim_time t)
{
	sim_time alone = t + star_alone(r, from, 0, SMALL);

	assert_in_range(r->got[number].tail, alone + 1, alone + period(r) - 1);
}

/* NET-F29: three nodes send to node 0: a train, a short packet while the switch
 * sends it, and a full one. */
static void a_short_packet_goes_between_packets_of_a_train(void **state)
{
	for (int books = 0; books < 2; books++) {
		struct star_rig *r = with_trains(books);
		const struct link_rules *k = &r->net->link;
		sim_time end = star_alone(r, 1, 0, TRAIN) + k->gap;

		star_send(r, 0, 1, train(1));
		star_send(r, 500000, 1, from_to(2, 0, SMALL));
		star_send(r, 500000, 1, of_kind(3, 0, PACKET_HIGH));
		star_run(r, SIM_NEVER);
		assert_int_equal(r->got[1].tail, star_alone(r, 1, 0, TRAIN));
		assert_soon(r, 2, 2, 500000);
		assert_true(r->got[3].tail >= end + link_ser(k, FULL));
		star_free(r);
	}
}

/* NET-F29. */
static void the_link_is_taken_for_what_went_between(void **state)
{
	struct star_rig *r = with_trains(false);
	const struct link_rules *k = &r->net->link;

	star_send(r, 0, 2, train(1));
	for (uint32_t i = 0; i < 10; i++)
		star_send(r, 500000 + 1000 * i, 1, from_to(2, 0, SMALL));
	star_send(r, 500000, 1, of_kind(3, 0, PACKET_HIGH));
	star_run(r, SIM_NEVER);
	/* a second train, a full packet and ten short ones after the first */
	assert_true(r->got[2].tail > r->got[13].tail);
	assert_int_equal(r->got[2].tail - r->got[1].tail,
		period(r) + link_ser(k, TRAIN) + k->gap +
			10 * (link_ser(k, SMALL) + k->gap));
	/* one at a time */
	for (uint32_t i = 4; i <= 12; i++)
		assert_true(r->got[i].tail - r->got[i - 1].tail >=
			    link_ser(k, SMALL) + k->gap);
	star_free(r);
}

/* NET-F29: at a node the same, by the FIFO of another class alone; at the
 * switch a train of another node is before all of them. */
static void packets_of_a_pair_do_not_overtake_a_train_of_their_own(void **state)
{
	struct star_rig *r = with_trains(false);
	struct packet high = from_to(1, 0, SMALL);

	high.kind = PACKET_HIGH;
	star_send(r, 0, 1, from_to(1, 0, TRAIN));
	star_send(r, 100000, 1, from_to(1, 0, SMALL));
	star_send(r, 100000, 1, high);
	star_run(r, SIM_NEVER);
	assert_true(r->got[2].tail > r->got[1].tail);
	assert_soon(r, 3, 1, 100000);
	star_free(r);

	r = with_trains(false);
	star_send(r, 0, 1, train(2));
	star_send(r, 100000, 1, train(1));
	star_send(r, 100000, 1, high);
	star_run(r, SIM_NEVER);
	assert_true(r->got[2].tail > r->got[1].tail);
	assert_true(r->got[3].tail > r->got[2].tail);
	star_free(r);
}

/* --- turns --- */

/* Nodes 1 to 7 send to node 0: the order in which packets come. */
static void inputs_have_an_output_in_turn(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES });
	site_id from[60] = { 0 };
	uint32_t k;

	for (uint32_t i = 1; i < NODES; i++)
		star_send(r, 0, 10, from_to(i, 0, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 1; i <= r->n_sent; i++) {
		k = (uint32_t)((r->got[i].tail - star_alone(r, 1, 0, FULL)) /
			       period(r));
		if (k < 60)
			from[k] = r->got[i].packet.src;
	}
	/* while all have some left, each has its turn after the same others */
	for (uint32_t i = 0; i + NODES - 1 < 60; i++)
		assert_int_equal(from[i], from[i + NODES - 1]);
	for (uint32_t i = 1; i < NODES - 1; i++)
		assert_int_not_equal(from[i], from[0]);
	star_free(r);
}

static void channels_have_an_output_in_turn(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = 4 });

	star_send(r, 0, 8, of_kind(1, 0, PACKET_DYNAMIC));
	star_send(r, 0, 8, of_kind(2, 0, PACKET_HIGH));
	star_send(r, 0, 8, of_kind(3, 0, PACKET_SYSTEM));
	star_run(r, SIM_NEVER);
	/* the n-th of each comes before the next of any */
	for (uint32_t i = 1; i < 8; i++) {
		assert_true(r->got[i].tail < r->got[8 + i + 1].tail);
		assert_true(r->got[8 + i].tail < r->got[16 + i + 1].tail);
		assert_true(r->got[16 + i].tail < r->got[i + 1].tail);
	}
	star_free(r);
}

static void a_pair_of_nodes_keeps_its_order(void **state)
{
	struct star_rig *r =
		star_new(&(struct star_how){ .n_nodes = NODES, .packets = 2 });

	for (uint32_t i = 1; i < NODES; i++) {
		star_send(r, 0, 5, from_to(i, 0, FULL));
		star_send(r, 0, 5, from_to(i, 0, SMALL));
	}
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < NODES - 1; i++)
		for (uint32_t k = 1; k < 10; k++)
			assert_true(r->got[10 * i + k].tail <
				    r->got[10 * i + k + 1].tail);
	star_free(r);
}

/* --- queues --- */

/* What waits for node 0, which others send to, is passed by what goes to node
 * 6, although it came first and by the same port. */
static void what_waits_for_one_output_is_passed_by_others(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES });
	uint32_t hot, own;

	for (uint32_t i = 1; i < 6; i++)
		star_send(r, 0, 20, from_to(i, 0, FULL));
	hot = star_send(r, US, 2, from_to(7, 0, FULL));
	own = star_send(r, US, 1, from_to(7, 6, FULL));
	star_run(r, SIM_NEVER);
	assert_int_equal(r->got[own].tail,
		US + 2 * period(r) + star_alone(r, 7, 6, FULL));
	assert_true(r->got[hot + 1].tail > r->got[own].tail);
	star_free(r);
}

/* Two queues of one input share its buffer: four packets of it wait for node 0,
 * and the fifth has no room, wherever it goes. */
static void queues_of_an_input_share_its_buffer(void **state)
{
	struct star_rig *r =
		star_new(&(struct star_how){ .n_nodes = NODES, .holds = true });
	int32_t capacity =
		crossbar_ops.capacity(r->net->router[NET_SWITCHES], 7, 0);
	struct net_counters c;
	uint32_t other;

	star_send(r, 0, 40, from_to(7, 0, FULL));
	other = star_send(r, 0, 1, from_to(7, 6, FULL));
	star_run(r, 50 * US);
	c = net_counters(r->net, NODES, 7, 1, sim_now(r->net->sim));
	assert_int_equal(c.waiting[0], 4);
	assert_int_equal(c.waiting[0] * (uint32_t)r->net->full, capacity);
	assert_int_equal(r->got[other].tail, 0);
	star_free(r);
}

/* --- tokens --- */

/* Node 7 keeps what it gets: what is sent to it fills its reception FIFO, the
 * buffer of its link, and then that of each switch on the way; one from
 * elsewhere still passes to another node. */
static void what_cannot_leave_fills_buffers_back_to_its_source(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 1,
		.holds = true });
	const struct router *x = r->net->router[NET_SWITCHES];
	uint32_t last;

	star_send(r, 0, 60, from_to(0, 7, FULL));
	star_run(r, 100 * US);
	assert_int_equal(r->n_got, r->router.reception);
	/* node's receiver, second switch's trunk, first switch's port */
	assert_int_equal(crossbar_ops.tokens(x, NODES + 1, 3, 0), 0);
	assert_int_equal(crossbar_ops.tokens(x, NODES, 4, 0), 0);
	assert_int_equal(
		net_counters(r->net, NODES + 1, 4, 1, sim_now(r->net->sim))
			.waiting[0],
		4);
	assert_int_equal(net_counters(r->net, NODES, 0, 1, sim_now(r->net->sim))
				 .waiting[0],
		4);
	assert_true(crossbar_ops.short_ports(x, NODES));
	last = star_send(r, 100 * US, 1, from_to(1, 2, FULL));
	star_run(r, 200 * US);
	assert_int_equal(
		r->got[last].tail, 100 * US + star_alone(r, 1, 2, FULL));
	star_free(r);
}

/* The buffer behind a trunk bounds its rate: what it holds in a round trip,
 * which is the trunk both ways and a serialisation. */
static void tokens_bound_the_rate_of_a_long_link(void **state)
{
	struct star_rig *r;
	sim_time round, took;
	uint32_t n = 200;

	for (uint32_t per = 1; per <= 2; per++) {
		r = star_new(&(struct star_how){ .n_nodes = NODES,
			.n_switches = 2,
			.n_trunks = 1,
			.packets = per });
		star_send(r, 0, n, from_to(0, 7, FULL));
		star_run(r, SIM_NEVER);
		round = 2 * r->star.topo.wire[1].latency +
			link_ser(&r->net->link, FULL);
		round = round > per * period(r) ? round : per * period(r);
		took = r->got[n].tail - r->got[per].tail;
		assert_in_range(took, (n - per) / per * round * 99 / 100,
			(n - per) / per * round * 101 / 100);
		star_free(r);
	}
}

/* How many of 400 short packets come later than a long one that is sent while
 * they are. */
static uint32_t behind_a_long_one(uint32_t n_channels)
{
	struct star_rig *r = star_new(&(struct star_how){
		.n_nodes = NODES, .packets = 1, .n_channels = n_channels });
	uint32_t one, n = 0;

	for (uint32_t i = 1; i < 5; i++)
		star_send(r, 0, 100, from_to(i, 0, SMALL));
	one = star_send(r, 3 * US, 1, from_to(7, 0, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 1; i < one; i++)
		n += r->got[i].tail > r->got[one].tail;
	star_free(r);
	return n;
}

/* Room comes back in small pieces, which are enough for short packets that came
 * later: the long one still has its turn; where a routing names channels, after
 * those that were in the switch before it, a full buffer of four inputs. */
static void a_long_packet_is_not_kept_waiting_by_short_ones(void **state)
{
	uint32_t by_turns = behind_a_long_one(1);

	assert_true(by_turns > 300);
	assert_true(behind_a_long_one(2) > by_turns - 4 * FULL / SMALL);
}

/* --- channels that a routing names --- */

static void a_named_channel_has_room_of_its_own(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){
		.n_nodes = 4, .n_channels = 2, .holds = true });
	const struct router *x = r->net->router[NET_SWITCHES];
	struct packet p = from_to(1, 0, FULL);

	star_send(r, 0, 40, p);
	star_run(r, 50 * US);
	assert_int_equal(crossbar_ops.tokens(x, 4, 0, 0), 0);
	assert_int_equal(crossbar_ops.tokens(x, 4, 0, 1), 4 * r->net->full);
	p.src = 2;
	p.zone = 1;
	star_send(r, 50 * US, 2, p);
	star_run(r, 100 * US);
	assert_int_equal(crossbar_ops.tokens(x, 4, 0, 1), 2 * r->net->full);
	assert_int_equal(
		net_counters(r->net, 4, 0, 2, sim_now(r->net->sim)).sent[1],
		2 * (star_sent(r, 2, 0) / 2));
	star_free(r);
}

/* --- several ports --- */

static void packets_take_the_trunk_with_the_least_load(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){
		.n_nodes = NODES, .n_switches = 2, .n_trunks = 4 });
	uint64_t least = UINT64_MAX, most = 0, bytes;

	for (uint32_t i = 0; i < 4; i++)
		star_send(r, 0, 100, from_to(i, 4 + i, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 4; i < 8; i++) {
		bytes = star_sent(r, NODES, i);
		least = bytes < least ? bytes : least;
		most = bytes > most ? bytes : most;
	}
	bytes = star_sent(r, 0, 0) / 100; /* of one packet */
	assert_true(most - least <= 30 * bytes);
	/* nobody waits long: four trunks for four nodes */
	for (uint32_t i = 1; i <= 4; i++)
		assert_true(r->got[100 * i].tail <
			    110 * period(r) + star_alone(r, 0, 4, FULL));
	star_free(r);
}

/* --- workers --- */

static struct star_rig *storm(uint32_t n_workers, bool books)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 2,
		.packets = 2,
		.n_workers = n_workers,
		.books = books });
	uint64_t draw = 11;

	for (uint32_t i = 0; i < 48; i++) {
		site_id src = (site_id)link_test_draw(&draw, NODES);
		site_id far = 1 + (site_id)link_test_draw(&draw, NODES - 1);
		struct packet p = from_to(src, (src + far) % NODES,
			1 + (uint32_t)link_test_draw(&draw, FULL));

		p.kind = (uint8_t)link_test_draw(&draw, N_PACKET_KINDS);
		star_send(r, (sim_time)link_test_draw(&draw, 2 * US), 20, p);
	}
	star_run(r, 5 * US); /* and audits while much is under way */
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got, r->n_sent);
	return r;
}

static void a_run_is_the_same_on_workers_and_with_a_book(void **state)
{
	struct star_rig *a = storm(1, false), *b = storm(3, false);
	struct star_rig *c = storm(1, true);

	for (uint32_t i = 1; i <= a->n_sent; i++) {
		assert_int_equal(a->got[i].head, b->got[i].head);
		assert_int_equal(a->got[i].tail, b->got[i].tail);
		assert_int_equal(a->got[i].tail, c->got[i].tail);
	}
	assert_int_equal(c->n_accounts, c->n_sent);
	star_free(a);
	star_free(b);
	star_free(c);
}

/* --- budgets --- */

static void a_packet_alone_is_on_wires_and_in_logic(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 1,
		.books = true });
	const struct budget *b;

	star_send(r, 0, 1, from_to(0, 7, FULL));
	star_run(r, SIM_NEVER);
	b = star_budget(r, 0, 0);
	assert_int_equal(b->spent[CAUSE_ROUTER], 3 * 20000);
	assert_int_equal(b->spent[CAUSE_WIRE], 2 * 30000 + 70000);
	assert_int_equal(
		b->spent[CAUSE_SERIALISATION], link_ser(&r->net->link, FULL));
	star_free(r);
}

/* Three send to node 0 at once: the second waits for the link, and the next of
 * the same source behind it, too. */
static void what_waits_for_a_link_or_in_a_queue_is_charged_to_it(void **state)
{
	struct star_rig *r =
		star_new(&(struct star_how){ .n_nodes = 4, .books = true });
	const struct budget *b;
	sim_time link = 0;

	for (uint32_t i = 1; i < 4; i++)
		star_send(r, 0, 2, from_to(i, 0, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 1; i < 4; i++)
		link += star_budget(r, i, 0)->spent[CAUSE_LINK];
	/* none, one and two packets on the link */
	assert_int_equal(link, (1 + 2) * period(r));
	for (uint32_t i = 1; i < 4; i++) {
		b = star_budget(r, i, 1);
		assert_int_equal(b->spent[CAUSE_TOKENS], 0);
		assert_int_equal(b->spent[CAUSE_LINK] + b->spent[CAUSE_QUEUE] +
					 b->spent[CAUSE_ARBITRATION] +
					 star_alone(r, 1, 0, FULL),
			b->at - b->start);
	}
	star_free(r);
}

static void waiting_for_room_behind_a_link_is_charged_to_tokens(void **state)
{
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 1,
		.packets = 1,
		.books = true });

	star_send(r, 0, 1, from_to(0, 7, FULL));
	star_send(r, 0, 1, from_to(1, 6, FULL));
	star_run(r, SIM_NEVER);
	/* the second has the trunk when the first has left the far switch, and
	 * the room has come back by the trunk */
	assert_int_equal(star_budget(r, 0, 0)->spent[CAUSE_TOKENS] +
				 star_budget(r, 1, 0)->spent[CAUSE_TOKENS],
		2 * r->star.topo.wire[1].latency +
			link_ser(&r->net->link, FULL) - period(r));
	star_free(r);
}

/* --- faults --- */

static void what_a_dead_trunk_carries_is_lost_and_its_room_is_not(void **state)
{
	struct fault_event e[] = {
		{ .at = 4 * US, .site = NODES, .port = 4, .place = "" },
		{ .at = 8 * US,
			.site = NODES,
			.port = 4,
			.returns = true,
			.place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 2 };
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 1,
		.faults = &plan });
	uint32_t early = 0, late = 0;

	star_send(r, 0, 60, from_to(0, 7, FULL));
	star_run(r, SIM_NEVER); /* the audit counts tokens */
	assert_int_equal(r->n_got + r->n_lost, 60);
	for (uint32_t i = 1; i <= 60; i++) {
		early += r->got[i].tail && r->got[i].tail < 5 * US;
		late += r->got[i].tail > 8 * US;
		assert_false(
			r->got[i].head > 5 * US && r->got[i].head < 8 * US);
	}
	assert_true(early && r->n_lost > 5 && late > 5);
	assert_int_equal(early + late, r->n_got);
	star_free(r);
}

static void bits_are_flipped_on_trunks_at_their_rate(void **state)
{
	struct fault_plan plan = { .rate = { 0, UINT64_C(30000000000000) } };
	struct star_rig *r = star_new(&(struct star_how){ .n_nodes = NODES,
		.n_switches = 2,
		.n_trunks = 2,
		.faults = &plan });
	struct fault_counts c;
	uint64_t bits = 0;
	uint32_t hurt = 0, near;

	for (uint32_t i = 0; i < 4; i++)
		star_send(r, 0, 400, from_to(i, 4 + i, FULL));
	near = star_send(r, 0, 400, from_to(5, 4, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 1; i <= r->n_sent; i++) {
		hurt += !!(r->got[i].packet.flags & PACKET_HURT);
		assert_false(i >= near && r->got[i].packet.flags & PACKET_HURT);
	}
	for (uint32_t i = 4; i < 6; i++)
		bits += 8 * star_sent(r, NODES, i);
	c = faults_total(r->net->faults, 1);
	assert_int_equal(c.hurt, hurt);
	assert_in_range(c.bit_errors * 1000000, bits * 30 * 80 / 100,
		bits * 30 * 120 / 100);
	star_free(r);
}

/* --- from outside --- */

/* A site's buffers, one by one, against those that it lists. */
static uint32_t check_in_use(const struct net *n, site_id s, uint32_t *list)
{
	const struct router *r = net_router(n, s);
	uint32_t used = net_in_use(n, s, list), next = 0;

	for (uint32_t i = 0; i < r->ops->n_buffers(r, s); i++)
		if (r->ops->buffer(r, s, i).count) {
			assert_true(next < used);
			assert_int_equal(list[next++], i);
		}
	assert_int_equal(next, used);
	return used;
}

static void a_switch_knows_which_buffers_hold_packets(void **state)
{
	static const uint8_t kind[] = { PACKET_DYNAMIC, PACKET_HIGH,
		PACKET_SYSTEM };
	struct star_rig *r = star_new(&(struct star_how){
		.n_nodes = NODES, .n_switches = 2, .n_trunks = 2 });
	uint32_t list[4 * NODES * NODES], most = 0;

	for (uint32_t i = 0; i < 3 * NODES; i++)
		star_send(r, 0, 8,
			of_kind(i % NODES, i % NODES < 4 ? 6 + i % 2 : i % 2,
				kind[i / 8]));
	for (sim_time t = 0; t < 40; t++) {
		star_run(r, t * period(r) / 2);
		for (site_id s = 0; s < r->net->n_sites; s++) {
			uint32_t used = check_in_use(r->net, s, list);

			most = used > most ? used : most;
		}
	}
	assert_true(most > 4);
	star_run(r, SIM_NEVER);
	assert_int_equal(check_in_use(r->net, NODES, list), 0);
	star_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_packet_alone_takes_its_wires_and_one_serialisation),
		cmocka_unit_test(pairs_do_not_meet_in_a_switch),
		cmocka_unit_test(
			a_short_packet_goes_between_packets_of_a_train),
		cmocka_unit_test(the_link_is_taken_for_what_went_between),
		cmocka_unit_test(
			packets_of_a_pair_do_not_overtake_a_train_of_their_own),
		cmocka_unit_test(inputs_have_an_output_in_turn),
		cmocka_unit_test(channels_have_an_output_in_turn),
		cmocka_unit_test(a_pair_of_nodes_keeps_its_order),
		cmocka_unit_test(what_waits_for_one_output_is_passed_by_others),
		cmocka_unit_test(queues_of_an_input_share_its_buffer),
		cmocka_unit_test(
			what_cannot_leave_fills_buffers_back_to_its_source),
		cmocka_unit_test(tokens_bound_the_rate_of_a_long_link),
		cmocka_unit_test(
			a_long_packet_is_not_kept_waiting_by_short_ones),
		cmocka_unit_test(a_named_channel_has_room_of_its_own),
		cmocka_unit_test(packets_take_the_trunk_with_the_least_load),
		cmocka_unit_test(a_run_is_the_same_on_workers_and_with_a_book),
		cmocka_unit_test(a_packet_alone_is_on_wires_and_in_logic),
		cmocka_unit_test(
			what_waits_for_a_link_or_in_a_queue_is_charged_to_it),
		cmocka_unit_test(
			waiting_for_room_behind_a_link_is_charged_to_tokens),
		cmocka_unit_test(
			what_a_dead_trunk_carries_is_lost_and_its_room_is_not),
		cmocka_unit_test(bits_are_flipped_on_trunks_at_their_rate),
		cmocka_unit_test(a_switch_knows_which_buffers_hold_packets),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
