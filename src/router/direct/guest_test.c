/*
 * The collective network on a small torus: sums that meet on the way up, and
 * when they are where.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "router/direct/guest_testing.h"
#include "testing/testing.h"

/* From the first head that could go to the last one that came. */
static sim_time last_head(const struct guest_kit *k, uint32_t i)
{
	sim_time last = 0;

	for (site_id s = 0; s < k->net->n_nodes; s++)
		if (k->got[s].n > i && k->got[s].head[i] > last)
			last = k->got[s].head[i];
	return last;
}

static void everybody_begins(struct guest_kit *k, const struct topo_box *b,
	uint32_t n, uint16_t bytes)
{
	for (site_id s = 0; s < k->net->n_nodes; s++)
		if (topo_box_has(b, &k->grid, s))
			guest_begin(k, s, 0,
				(struct guest_member){ .n = n,
					.bytes = bytes,
					.value = s,
					.dst = NO_SITE });
}

static void check_sums(
	const struct guest_kit *k, const struct topo_box *b, uint32_t n)
{
	uint64_t sum = 0, members = 0;

	for (site_id s = 0; s < k->net->n_nodes; s++)
		if (topo_box_has(b, &k->grid, s)) {
			sum += s;
			members++;
		}
	for (site_id s = 0; s < k->net->n_nodes; s++) {
		bool is_member = topo_box_has(b, &k->grid, s);

		assert_int_equal(k->got[s].n, is_member ? n : 0);
		for (uint64_t i = 0; i < k->got[s].n; i++)
			assert_int_equal(k->got[s].value[i], sum + i * members);
	}
}

/* BGQ-N117 is 1,064 ns of a board with its end points, which take 500. BGQ-F50,
 * BGQ-F59. */
static void everybody_gets_the_sum_when_the_wires_say(void **state)
{
	struct guest_kit *k = guest_kit("2x2x2x2x2");
	struct topo_box b = guest_box(k, NULL);

	everybody_begins(k, &b, 1, 8);
	guest_run(k);
	check_sums(k, &b, 1);
	assert_int_equal(last_head(k, 0),
		2 * (INNER_PS + 4 * BOARD_PS) + 5 * (UP_PS + DOWN_PS));
	guest_kit_free(k);
}

/* Twice the longest way to the root, by hand: the wires of one dimension. */
static sim_time half(uint32_t length, uint32_t root, bool is_inner)
{
	uint32_t low, most = length - 1;
	sim_time below = 0, above = 0;

	low = root < most ? root : most;
	for (uint32_t x = 0; x < low; x++)
		below += is_inner ? INNER_PS : x % 2 ? BOARDS_PS : BOARD_PS;
	for (uint32_t x = low; x < most; x++)
		above += is_inner ? INNER_PS : x % 2 ? BOARDS_PS : BOARD_PS;
	return below > above ? below : above;
}

/* BGQ-F59 */
static void every_box_of_a_midplane_takes_what_its_wires_say(void **state)
{
	static const uint32_t dim[5] = { 4, 4, 4, 4, 2 };
	/* one in 41, but in the campaign */
	uint32_t step = getenv("WEFT_CAMPAIGN") ? 1 : 41;
	uint32_t length[5];

	for (uint32_t i = 0; i < 4 * 4 * 4 * 4 * 2; i += step) {
		struct guest_kit *k = guest_kit("4x4x4x4x2");
		struct topo_box b;
		sim_time want = 0;
		uint32_t rest = i, levels = 0;

		for (uint32_t d = 0; d < 5; d++) {
			uint32_t root = dim[d] / 2, low;

			length[d] = 1 + rest % dim[d];
			rest /= dim[d];
			want += 2 * half(length[d], root, d == 4);
			low = length[d] - 1 < root ? length[d] - 1 : root;
			levels += low > length[d] - 1 - low
					  ? low
					  : length[d] - 1 - low;
		}
		b = guest_box(k, length);
		guest_set_box(k, &b, 3);
		everybody_begins(k, &b, 1, 8);
		guest_run(k);
		check_sums(k, &b, 1);
		assert_int_equal(
			last_head(k, 0), want + levels * (UP_PS + DOWN_PS));
		guest_kit_free(k);
	}
}

/* Streams: 512 B take one serialisation more than 8 B, at any depth.  BGQ-F51,
 * BGQ-F54 */
static void packets_follow_each_other_as_the_logic_allows(void **state)
{
	struct guest_kit *k = guest_kit("4x4x1x1x2");
	struct topo_box b = guest_box(k, NULL);
	site_id root = class_root(&k->grid, &b);

	everybody_begins(k, &b, 200, 512);
	guest_run(k);
	check_sums(k, &b, 200);
	for (uint32_t i = 20; i < 200; i++)
		assert_int_equal(
			k->got[root].head[i] - k->got[root].head[i - 1],
			FULL_PS + TURN_PS);
	guest_kit_free(k);
}

/* BGQ-F52 */
static void sums_wait_for_the_last_member(void **state)
{
	struct guest_kit *k = guest_kit("2x2x2x2x2");
	struct topo_box b = guest_box(k, NULL);

	for (site_id s = 0; s < 32; s++)
		guest_begin(k, s, s == 9 ? 5000 * SIM_NS : s * SIM_NS,
			(struct guest_member){ .n = 3,
				.bytes = 8,
				.value = s,
				.dst = NO_SITE });
	guest_run(k);
	check_sums(k, &b, 3);
	for (site_id s = 0; s < 32; s++)
		assert_true(k->got[s].head[0] > 5000 * SIM_NS);
	guest_kit_free(k);
}

/* 512 B in 280 ns from the root; where the same link brings them back its
 * acknowledgements take 8 ns more. */
static void broadcasts_run_at_the_rate_of_the_links(void **state)
{
	for (uint32_t elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct guest_kit *k = guest_kit("4x4x1x1x2");
		struct topo_box b = guest_box(k, NULL);
		site_id root = class_root(&k->grid, &b);
		site_id from = elsewhere ? 0 : root, s;

		guest_begin(k, from, 0,
			(struct guest_member){ .n = 200,
				.bytes = 512,
				.value = 7,
				.passes = true,
				.dst = NO_SITE });
		guest_run(k);
		for (s = 0; s < k->net->n_nodes; s++) {
			assert_int_equal(k->got[s].n, 200);
			for (uint32_t i = 0; i < 200; i++)
				assert_int_equal(k->got[s].value[i], 7 + i);
		}
		for (uint32_t i = 40; i < 200; i++)
			assert_int_equal(
				k->got[0].head[i] - k->got[0].head[i - 1],
				FULL_PS + GAP_PS + (elsewhere ? 8000 : 0));
		guest_kit_free(k);
	}
}

/* BGQ-F44 */
static void a_reduction_to_one_is_received_there_alone(void **state)
{
	struct guest_kit *k = guest_kit("2x2x2x2x2");

	for (site_id s = 0; s < 32; s++)
		guest_begin(k, s, 0,
			(struct guest_member){
				.n = 5, .bytes = 64, .value = 1, .dst = 13 });
	guest_run(k);
	for (site_id s = 0; s < 32; s++)
		assert_int_equal(k->got[s].n, s == 13 ? 5 : 0);
	assert_int_equal(k->got[13].value[4], 5 * 32);
	guest_kit_free(k);
}

/* Whoever runs which site, and whether budgets are kept. */
static void results_are_the_same_for_any_number_of_workers(void **state)
{
	static const struct book_how how = { 0 };
	static const uint32_t workers[] = { 1, 2, 3, 7, 1 };
	struct guest_got *first = NULL;

	for (uint32_t i = 0; i < 5; i++) {
		struct guest_kit *k = guest_kit_on(
			"4x3x2x2x2", workers[i], i == 4 ? &how : NULL);
		struct topo_box b = guest_box(k, NULL);
		size_t size = k->net->n_nodes * sizeof(*first);

		everybody_begins(k, &b, 30, 512);
		guest_run(k);
		if (!first) {
			first = mem_alloc(k->net->n_nodes, sizeof(*first));
			memcpy(first, k->got, size);
		}
		assert_memory_equal(first, k->got, size);
		guest_kit_free(k);
	}
	mem_free(first);
}

/* Of the member that came last the whole way is charged, and no wait; of all
 * others the rest is a wait for it. */
static void time_is_charged_to_who_came_last(void **state)
{
	static const struct book_how how = { 0 };
	struct guest_kit *k = guest_kit_on("2x2x2x2x2", 1, &how);
	struct book_sums sums;
	uint64_t peers = 0, all = 0;

	for (site_id s = 0; s < 32; s++)
		guest_begin(k, s, s == 9 ? 5000 * SIM_NS : 0,
			(struct guest_member){ .n = 1,
				.bytes = 8,
				.value = s,
				.dst = NO_SITE });
	guest_run(k);
	book_sum(k->net->book, &sums);
	assert_int_equal(sums.n, 32);
	for (site_id s = 0; s < 32; s++) {
		all += (uint64_t)k->got[s].head[0] + SMALL_PS;
		/* but for their own departure, which takes no time */
		peers += s == 9 ? 0 : (uint64_t)k->got[s].head[0];
	}
	all -= 5000 * (uint64_t)SIM_NS;
	assert_int_equal(sums.spent[CAUSE_PEERS], peers);
	for (uint32_t c = 0; c < N_CAUSES; c++)
		all -= sums.spent[c];
	assert_int_equal(all, 0);
	guest_kit_free(k);
}

/* Where contributions do not fit together the route stops there, with all
 * packets in place. */
static void a_route_stops_where_packets_do_not_fit(void **state)
{
	struct guest_kit *k = guest_kit("2x2x2x2x2");
	struct topo_box b = guest_box(k, NULL);

	k->refuses = true;
	everybody_begins(k, &b, 1, 8);
	guest_run(k);
	for (site_id s = 0; s < 32; s++)
		assert_int_equal(k->got[s].n, 0);
	assert_int_equal(net_total(k->net).injected, 32);
	guest_kit_free(k);
}

/* --- registers by hand --- */

enum { AP = 1, AM = 2, BP = 4, BM = 8, EAR = CLASS_LOCAL_BIT };

static void set_by_hand(struct guest_kit *k, site_id s, uint32_t route,
	uint32_t inputs, uint32_t output, uint8_t channel)
{
	const struct class_route r = { (uint16_t)inputs, (uint16_t)output,
		channel };

	tree_set_route(k->tree, s, route, &r);
	k->channel_of[route] = channel;
}

/* A line of three, whose middle is the root of a route from each end and takes
 * no part itself; none goes over all nodes. */
static struct guest_kit *make_ends(uint8_t second)
{
	struct guest_kit *k = guest_kit("3");

	for (site_id s = 0; s < 3; s++)
		set_by_hand(k, s, 0, 0, 0, CLASS_WORLD);
	set_by_hand(k, 0, 3, EAR, AP, CLASS_SUB);
	set_by_hand(k, 1, 3, AM, 0, CLASS_SUB);
	set_by_hand(k, 2, 14, EAR, AM, second);
	set_by_hand(k, 1, 14, AP, 0, second);
	return k;
}

/* The second waits until the logic has done with the first, though they share
 * no link; packets_follow_each_other_as_the_logic_allows() has both ways at
 * once. */
static void bgq_f51_a_node_serves_one_route_at_a_time(void **state)
{
	struct guest_kit *k = make_ends(CLASS_SUB);
	struct guest_member m = { .n = 1, .bytes = 8, .dst = NO_SITE };
	sim_time first = BOARD_PS + UP_PS, second = first + SMALL_PS + TURN_PS;

	m.route = 3;
	guest_begin(k, 0, 0, m);
	m.route = 14;
	guest_begin(k, 2, 0, m);
	guest_run(k);
	assert_int_equal(k->got[0].head[0], first + BOARD_PS + DOWN_PS);
	assert_int_equal(k->got[2].head[0], second + BOARDS_PS + DOWN_PS);
	guest_kit_free(k);
}

/* Of fifteen routes beside that of all nodes the first seven have both nodes,
 * the others node 1 alone; each is used once, while all of them are set. */
static void bgq_f49_a_node_takes_part_in_sixteen_trees(void **state)
{
	struct guest_kit *k = guest_kit("4");
	struct guest_member m = {
		.n = 1, .bytes = 8, .passes = true, .dst = NO_SITE
	};

	for (uint32_t r = 1; r < CLASS_ROUTES; r++) {
		if (r < 8)
			set_by_hand(k, 0, r, EAR | AP, 0, CLASS_SUB);
		set_by_hand(k, 1, r, EAR, r < 8 ? AM : 0, CLASS_SUB);
	}
	for (uint32_t r = 1; r < CLASS_ROUTES; r++) {
		m.route = r;
		m.value = 100 + r;
		guest_begin(k, 1, sim_now(k->net->sim) + 1000 * SIM_NS, m);
		guest_run(k);
		assert_int_equal(k->got[0].n, r < 8 ? r : 7);
		assert_int_equal(k->got[1].n, r);
		assert_int_equal(k->got[1].value[r - 1], 100 + r);
	}
	guest_kit_free(k);
}

/* The middle of 3x3, and its neighbours. */
enum { CENTRE = 4, LEFT = 3, RIGHT = 5, BELOW = 1, ABOVE = 7 };

static struct guest_kit *make_square(void)
{
	struct guest_kit *k = guest_kit("3x3");

	for (site_id s = 0; s < 9; s++)
		set_by_hand(k, s, 0, 0, 0, CLASS_WORLD);
	return k;
}

/* Broadcasts from both sides cross the centre, one upwards and one downwards:
 * when the second is where it goes. */
static sim_time crossed_at(bool is_alone)
{
	struct guest_kit *k = make_square();
	struct guest_member m = {
		.n = 1, .bytes = 512, .passes = true, .dst = NO_SITE
	};
	sim_time at;

	set_by_hand(k, LEFT, 3, EAR, AP, CLASS_SUB);
	set_by_hand(k, CENTRE, 3, AM, BP, CLASS_SUB);
	set_by_hand(k, ABOVE, 3, BM | EAR, 0, CLASS_SUB);
	set_by_hand(k, RIGHT, 14, EAR, AM, CLASS_SUB);
	set_by_hand(k, CENTRE, 14, AP, BM, CLASS_SUB);
	set_by_hand(k, BELOW, 14, BP | EAR, 0, CLASS_SUB);
	m.route = 3;
	if (!is_alone)
		guest_begin(k, LEFT, 0, m);
	m.route = 14;
	guest_begin(k, RIGHT, 0, m);
	guest_run(k);
	at = k->got[BELOW].head[0];
	guest_kit_free(k);
	return at;
}

/* They share no link, but the logic of the way up. */
static void bgq_f51_a_broadcast_occupies_the_way_up(void **state)
{
	assert_int_equal(crossed_at(false) - crossed_at(true),
		FULL_PS - (BOARDS_PS - BOARD_PS));
}

/* One broadcast falls to the centre, or two do, which end in different FIFOs
 * there: when the last one is received. */
static sim_time fallen_at(bool is_alone)
{
	struct guest_kit *k = make_square();
	struct guest_member m = {
		.n = 1, .bytes = 512, .passes = true, .dst = NO_SITE
	};
	sim_time at;

	set_by_hand(k, LEFT, 3, AP | EAR, 0, CLASS_SUB);
	set_by_hand(k, CENTRE, 3, EAR, AM, CLASS_SUB);
	set_by_hand(k, RIGHT, 14, AM | EAR, 0, CLASS_SYSTEM);
	set_by_hand(k, CENTRE, 14, EAR, AP, CLASS_SYSTEM);
	m.route = 3;
	if (!is_alone)
		guest_begin(k, LEFT, 0, m);
	m.route = 14;
	guest_begin(k, RIGHT, 0, m);
	guest_run(k);
	at = k->got[CENTRE].head[!is_alone];
	guest_kit_free(k);
	return at;
}

static void bgq_f51_a_broadcast_occupies_the_way_down(void **state)
{
	assert_int_equal(fallen_at(false) - fallen_at(true),
		FULL_PS - (BOARDS_PS - BOARD_PS));
}

/* Three neighbours broadcast to the centre, each by a route of its own: a long
 * packet, and while it is received a short one of the user's and then one of
 * the system's. */
static void bgq_f67_the_system_goes_first_on_the_way_down(void **state)
{
	struct guest_kit *k = make_square();
	struct guest_member m = {
		.n = 1, .bytes = 512, .passes = true, .dst = NO_SITE
	};

	set_by_hand(k, RIGHT, 3, AM | EAR, 0, CLASS_SUB);
	set_by_hand(k, CENTRE, 3, EAR, AP, CLASS_SUB);
	set_by_hand(k, LEFT, 4, AP | EAR, 0, CLASS_SUB);
	set_by_hand(k, CENTRE, 4, EAR, AM, CLASS_SUB);
	set_by_hand(k, ABOVE, 14, BM | EAR, 0, CLASS_SYSTEM);
	set_by_hand(k, CENTRE, 14, EAR, BP, CLASS_SYSTEM);
	m.value = m.route = 3;
	guest_begin(k, RIGHT, 0, m);
	m.bytes = 8;
	m.value = m.route = 4;
	guest_begin(k, LEFT, 100 * SIM_NS, m);
	m.value = m.route = 14;
	guest_begin(k, ABOVE, 150 * SIM_NS, m);
	guest_run(k);
	assert_int_equal(k->got[CENTRE].n, 3);
	assert_int_equal(k->got[CENTRE].value[0], 3);
	assert_int_equal(k->got[CENTRE].value[1], 14);
	assert_int_equal(k->got[CENTRE].value[2], 4);
	guest_kit_free(k);
}

/* Of two routes' packets, 100 on and 200 on, the first ones come by turns. */
static void check_turns(const struct guest_got *g)
{
	assert_int_equal(g->n, 40);
	for (uint32_t i = 2; i < 30; i++)
		assert_true(g->value[i] / 100 != g->value[i - 1] / 100);
}

/* Two neighbours send twenty broadcasts each: up over one link of the centre,
 * and down to the centre itself. */
static void bgq_f67_routes_take_turns_up_and_down(void **state)
{
	struct guest_member m = {
		.n = 20, .bytes = 512, .passes = true, .dst = NO_SITE
	};

	for (uint32_t is_down = 0; is_down < 2; is_down++) {
		struct guest_kit *k = make_square();

		if (is_down) {
			set_by_hand(k, RIGHT, 3, AM | EAR, 0, CLASS_SUB);
			set_by_hand(k, CENTRE, 3, EAR, AP, CLASS_SUB);
			set_by_hand(k, LEFT, 4, AP | EAR, 0, CLASS_SUB);
			set_by_hand(k, CENTRE, 4, EAR, AM, CLASS_SUB);
		} else {
			set_by_hand(k, RIGHT, 3, EAR, AM, CLASS_SUB);
			set_by_hand(k, CENTRE, 3, AP, BP, CLASS_SUB);
			set_by_hand(k, ABOVE, 3, BM | EAR, 0, CLASS_SUB);
			set_by_hand(k, LEFT, 4, EAR, AP, CLASS_SUB);
			set_by_hand(k, CENTRE, 4, AM, BP, CLASS_SUB);
			set_by_hand(k, ABOVE, 4, BM | EAR, 0, CLASS_SUB);
		}
		m.route = 3;
		m.value = 100;
		guest_begin(k, RIGHT, 0, m);
		m.route = 4;
		m.value = 200;
		guest_begin(k, LEFT, 0, m);
		guest_run(k);
		check_turns(&k->got[is_down ? CENTRE : ABOVE]);
		guest_kit_free(k);
	}
}

/* While a long packet of the user's keeps the logic, the user's next one and
 * two of the system's come. */
static void bgq_f67_the_systems_requests_are_granted_first(void **state)
{
	struct guest_kit *k = make_ends(CLASS_SYSTEM);
	sim_time first = BOARD_PS + UP_PS + FULL_PS + TURN_PS;
	sim_time second = first + SMALL_PS + TURN_PS;
	sim_time third = second + SMALL_PS + TURN_PS;

	guest_begin(k, 0, 0,
		(struct guest_member){
			.n = 2, .bytes = 512, .dst = NO_SITE, .route = 3 });
	guest_begin(k, 2, 0,
		(struct guest_member){
			.n = 2, .bytes = 8, .dst = NO_SITE, .route = 14 });
	guest_run(k);
	assert_int_equal(k->got[2].head[0], first + BOARDS_PS + DOWN_PS);
	assert_int_equal(k->got[2].head[1], second + BOARDS_PS + DOWN_PS);
	assert_int_equal(k->got[0].head[1], third + BOARD_PS + DOWN_PS);
	guest_kit_free(k);
}

/* Ten of each kind wait for one link, behind the first of the user's. */
static void bgq_f68_guests_and_system_packets_alternate_first(void **state)
{
	static const uint8_t kind[] = { PACKET_SYSTEM, PACKET_HIGH,
		PACKET_DETERMINISTIC };
	const uint32_t length[5] = { 2 };
	struct guest_kit *k = guest_kit("4");
	struct topo_box b = guest_box(k, length);

	b.length[1] = b.length[2] = b.length[3] = b.length[4] = 1;
	guest_set_box(k, &b, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct packet p = { .src = 0, .dst = 1, .kind = kind[i] };

		k->flood[i] = (struct guest_flood){ 10, rig_fifo(k->rig, &p),
			kind[i] };
	}
	guest_begin(k, 0, 0,
		(struct guest_member){ .n = 10,
			.bytes = 512,
			.passes = true,
			.dst = NO_SITE });
	guest_run(k);
	k->order[k->n_order] = 0;
	assert_string_equal(
		k->order, "gsgsgsgsgsgsgsgsgsgshhhhhhhhhhuuuuuuuuuu");
	guest_kit_free(k);
}

/* Node 0's link to node 1 leads up for one route and down for another.  While
 * a long packet has it, first one comes that rises, then one that falls. */
static void bgq_f68_what_falls_goes_before_what_rises(void **state)
{
	struct guest_kit *k = guest_kit("4x2");
	struct guest_member m = {
		.n = 1, .bytes = 8, .passes = true, .dst = NO_SITE
	};
	const struct packet p = { .src = 0, .dst = 1, .kind = PACKET_SYSTEM };

	set_by_hand(k, 4, 3, EAR, BM, CLASS_SUB);
	set_by_hand(k, 0, 3, BP, AP, CLASS_SUB);
	set_by_hand(k, 1, 3, EAR | AM, 0, CLASS_SUB);
	set_by_hand(k, 1, 4, EAR, AM, CLASS_SUB);
	set_by_hand(k, 0, 4, EAR | AP, 0, CLASS_SUB);
	k->flood[0] = (struct guest_flood){ 1, rig_fifo(k->rig, &p), p.kind };
	m.route = 3;
	m.value = 3;
	guest_begin(k, 4, 0, m);
	m.route = 4;
	m.value = 4;
	guest_begin(k, 0, 0, (struct guest_member){ 0 });
	sim_run(k->net->sim, 100 * SIM_NS);
	guest_begin(k, 0, 200 * SIM_NS, m);
	guest_run(k);
	assert_int_equal(k->got[1].n, 2);
	assert_int_equal(k->got[1].value[0], 4);
	assert_int_equal(k->got[1].value[1], 3);
	guest_kit_free(k);
}

/* A packet of node 0 waits for the link to its parent, which a long one has,
 * when the register is written anew: it stays where it is. */
static void a_route_that_is_rewritten_waits_for_no_link(void **state)
{
	struct guest_kit *k = guest_kit("4");
	const struct packet p = { .src = 0, .dst = 1, .kind = PACKET_SYSTEM };
	struct guest_member m = { .n = 1, .bytes = 8, .dst = NO_SITE };

	set_by_hand(k, 0, 3, EAR, AP, CLASS_SUB);
	set_by_hand(k, 1, 3, AM, 0, CLASS_SUB);
	k->flood[0] = (struct guest_flood){ 1, rig_fifo(k->rig, &p), p.kind };
	guest_begin(k, 0, 0, (struct guest_member){ 0 });
	sim_run(k->net->sim, 50 * SIM_NS);
	m.route = 3;
	guest_begin(k, 0, 100 * SIM_NS, m);
	sim_run(k->net->sim, 150 * SIM_NS);
	set_by_hand(k, 0, 3, EAR | AM, AP, CLASS_SUB);
	guest_run(k);
	assert_string_equal(k->order, "s");
	assert_int_equal(net_total(k->net).injected, 2);
	guest_kit_free(k);
}

TESTS(TEST(everybody_gets_the_sum_when_the_wires_say),
	TEST(every_box_of_a_midplane_takes_what_its_wires_say),
	TEST(packets_follow_each_other_as_the_logic_allows),
	TEST(sums_wait_for_the_last_member),
	TEST(broadcasts_run_at_the_rate_of_the_links),
	TEST(a_reduction_to_one_is_received_there_alone),
	TEST(time_is_charged_to_who_came_last),
	TEST(a_route_stops_where_packets_do_not_fit),
	TEST(results_are_the_same_for_any_number_of_workers),
	TEST(bgq_f51_a_node_serves_one_route_at_a_time),
	TEST(bgq_f49_a_node_takes_part_in_sixteen_trees),
	TEST(bgq_f51_a_broadcast_occupies_the_way_up),
	TEST(bgq_f51_a_broadcast_occupies_the_way_down),
	TEST(bgq_f67_the_system_goes_first_on_the_way_down),
	TEST(bgq_f67_routes_take_turns_up_and_down),
	TEST(bgq_f67_the_systems_requests_are_granted_first),
	TEST(bgq_f68_guests_and_system_packets_alternate_first),
	TEST(bgq_f68_what_falls_goes_before_what_rises),
	TEST(a_route_that_is_rewritten_waits_for_no_link))
