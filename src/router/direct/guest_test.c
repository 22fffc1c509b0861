/*
 * The collective network on a small torus: sums that meet on the way up, and
 * when they are where.  A packet's load is its value.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "coll/tree.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum {
	FIFO = 10,
	UP_PS = 18000,
	DOWN_PS = 6000,
	TURN_PS = 24000,
	SMALL_PS = 72 * BYTE_PS,
	MOST = 600,
};

/* One node's contributions: n of them, as fast as there is room. */
struct member {
	uint32_t n, done;
	uint16_t bytes;
	uint64_t value; /* of the first; the next one's is one more */
	bool passes; /* a broadcast */
	uint32_t dst;
};

struct got {
	sim_time head[MOST];
	uint64_t value[MOST];
	uint32_t n;
};

struct kit {
	struct rig *rig;
	struct net *net;
	struct tree *tree;
	struct member *member; /* [site] */
	struct got *got; /* [site] */
	uint32_t route, channel;
	uint32_t n_meetings;
	bool refuses;
};

static struct kit *kit_of(const struct net *n)
{
	return n->client_state;
}

static void send(struct net *n, struct sim_worker *w, site_id s, sim_time t)
{
	struct kit *k = kit_of(n);
	struct member *m = &k->member[s];

	while (m->done < m->n && tree_has_room(k->tree, s, TREE_USER)) {
		packet_id id = packet_take(n->pool, w->id);
		struct book_message b;

		n->packets[id] = (struct packet){ .src = s,
			.dst = m->dst,
			.born = t,
			.bytes = m->bytes,
			.hints = tree_word(k->route, k->channel, !m->passes),
			.load = m->value + m->done++ };
		b = book_message(n->book, s, BOOK_PACKET, 1, t);
		book_open(n->book, id, &b);
		tree_inject(k->tree, w, s, TREE_USER, id, t);
	}
}

static void on_room(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	assert_int_equal(fifo, FIFO);
	send(n, w, s, t);
}

static void on_event(struct net *n, struct sim_worker *w, site_id s, sim_time t,
	struct sim_event e)
{
	if (sim_phase(&e) == PHASE_GUEST)
		net_on_guest(n, w, s, t, &e);
	else
		send(n, w, s, t);
}

static void on_packet(struct net *n, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct got *g = &kit_of(n)->got[s];

	assert_int_equal(fifo, FIFO);
	assert_true(g->n < MOST);
	g->head[g->n] = t;
	g->value[g->n++] = n->packets[id].load;
	book_close(n->book, w->id, id, tail);
	packet_give(n->pool, w->id, id);
}

static void on_absorbed(struct net *n, struct sim_worker *w, packet_id id)
{
	if (n->book && book_has(n->book, id))
		book_forget(n->book, id);
	packet_give(n->pool, w->id, id);
}

static bool combine(struct net *n, struct sim_worker *w, site_id s,
	const packet_id *id, uint32_t n_ids, sim_time t)
{
	uint32_t i;

	(void)w;
	(void)s;
	(void)t;
	if (kit_of(n)->refuses)
		return false;
	for (i = 1; i < n_ids; i++)
		n->packets[id[0]].load += n->packets[id[i]].load;
	return true;
}

static const struct net_client_ops client = {
	.on_room = on_room,
	.on_event = on_event,
	.on_packet = on_packet,
	.on_absorbed = on_absorbed,
	.combine = combine,
	.is_sink = true,
};

static struct kit *make_on(
	const char *shape, uint32_t n_workers, const struct book_how *book)
{
	struct kit *k = mem_alloc(1, sizeof(*k));
	struct tree_params p;
	const struct param_block block = { .section = "coll",
		.rows = tree_params_table,
		.n_rows = tree_params_n,
		.values = &p };

	param_defaults(&block);
	k->rig = rig_new(&(struct rig_how){
		.way = { .shape = shape },
		.n_workers = n_workers,
		.book = book,
	});
	k->net = k->rig->net;
	net_attach(k->net, &client, k);
	k->tree = tree_new(k->net, &p, FIFO);
	k->member = mem_alloc(k->net->n_nodes, sizeof(*k->member));
	k->got = mem_alloc(k->net->n_nodes, sizeof(*k->got));
	return k;
}

static struct kit *make(const char *shape)
{
	return make_on(shape, 1, NULL);
}

static void drop(struct kit *k)
{
	rig_free(k->rig);
	mem_free(k->member);
	mem_free(k->got);
	mem_free(k);
}

static void begin(struct kit *k, site_id s, sim_time t, struct member m)
{
	k->member[s] = m;
	sim_post(sim_owner(k->net->sim, s), s, t,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

static struct class_box box_of(const struct kit *k, const uint32_t *length)
{
	struct class_box b = class_box_all(torus_of(k->net->topo));

	if (length)
		memcpy(b.length, length, 5 * sizeof(*length));
	return b;
}

/* A route over a box at the first corner. */
static void set_box(struct kit *k, const struct class_box *b, uint32_t route)
{
	const struct torus *t = torus_of(k->net->topo);
	struct class_box all = class_box_all(t);
	site_id s;

	for (s = 0; s < k->net->n_nodes; s++)
		if (class_box_has(b, t, s)) {
			struct class_route r = class_route_build(
				t, b, class_root(t, &all), s, CLASS_SUB);

			tree_set_route(k->tree, s, route, &r);
		}
	k->route = route;
	k->channel = CLASS_SUB;
}

static void run(struct kit *k)
{
	struct err e = { 0 };

	while (sim_run(k->net->sim, sim_now(k->net->sim) + 700 * SIM_NS) !=
		SIM_IDLE)
		if (net_audit(k->net, &e))
			fail_msg("%s", e.text);
	if (net_audit(k->net, &e))
		fail_msg("%s", e.text);
}

/* From the first head that could go to the last one that came. */
static sim_time last_head(const struct kit *k, uint32_t i)
{
	sim_time last = 0;
	site_id s;

	for (s = 0; s < k->net->n_nodes; s++)
		if (k->got[s].n > i && k->got[s].head[i] > last)
			last = k->got[s].head[i];
	return last;
}

static void everybody_begins(
	struct kit *k, const struct class_box *b, uint32_t n, uint16_t bytes)
{
	const struct torus *t = torus_of(k->net->topo);
	site_id s;

	for (s = 0; s < k->net->n_nodes; s++)
		if (class_box_has(b, t, s))
			begin(k, s, 0,
				(struct member){ .n = n,
					.bytes = bytes,
					.value = s,
					.dst = NO_SITE });
}

static void check_sums(
	const struct kit *k, const struct class_box *b, uint32_t n)
{
	const struct torus *t = torus_of(k->net->topo);
	uint64_t sum = 0, members = 0, i;
	site_id s;

	for (s = 0; s < k->net->n_nodes; s++)
		if (class_box_has(b, t, s)) {
			sum += s;
			members++;
		}
	for (s = 0; s < k->net->n_nodes; s++) {
		bool is_member = class_box_has(b, t, s);

		assert_int_equal(k->got[s].n, is_member ? n : 0);
		for (i = 0; i < k->got[s].n; i++)
			assert_int_equal(k->got[s].value[i], sum + i * members);
	}
}

/* BGQ-N117 is 1,064 ns of a board with its end points, which take 500. BGQ-F50,
 * BGQ-F59. */
static void everybody_gets_the_sum_when_the_wires_say(void **state)
{
	struct kit *k = make("2x2x2x2x2");
	struct class_box b = box_of(k, NULL);

	(void)state;
	everybody_begins(k, &b, 1, 8);
	run(k);
	check_sums(k, &b, 1);
	assert_int_equal(last_head(k, 0),
		2 * (INNER_PS + 4 * BOARD_PS) + 5 * (UP_PS + DOWN_PS));
	drop(k);
}

/* Twice the longest way to the root, by hand: the wires of one dimension. */
static sim_time half(uint32_t length, uint32_t root, bool is_inner)
{
	uint32_t low, x, most = length - 1;
	sim_time below = 0, above = 0;

	low = root < most ? root : most;
	for (x = 0; x < low; x++)
		below += is_inner ? INNER_PS : x % 2 ? BOARDS_PS : BOARD_PS;
	for (x = low; x < most; x++)
		above += is_inner ? INNER_PS : x % 2 ? BOARDS_PS : BOARD_PS;
	return below > above ? below : above;
}

/* BGQ-F59 */
static void every_box_of_a_midplane_takes_what_its_wires_say(void **state)
{
	static const uint32_t dim[5] = { 4, 4, 4, 4, 2 };
	/* one in 41, but in the campaign */
	uint32_t step = getenv("WEFT_CAMPAIGN") ? 1 : 41;
	uint32_t i, d, length[5];

	(void)state;
	for (i = 0; i < 4 * 4 * 4 * 4 * 2; i += step) {
		struct kit *k = make("4x4x4x4x2");
		struct class_box b;
		sim_time want = 0;
		uint32_t rest = i, levels = 0;

		for (d = 0; d < 5; d++) {
			uint32_t root = dim[d] / 2, low;

			length[d] = 1 + rest % dim[d];
			rest /= dim[d];
			want += 2 * half(length[d], root, d == 4);
			low = length[d] - 1 < root ? length[d] - 1 : root;
			levels += low > length[d] - 1 - low
					  ? low
					  : length[d] - 1 - low;
		}
		b = box_of(k, length);
		set_box(k, &b, 3);
		everybody_begins(k, &b, 1, 8);
		run(k);
		check_sums(k, &b, 1);
		assert_int_equal(
			last_head(k, 0), want + levels * (UP_PS + DOWN_PS));
		drop(k);
	}
}

/* Streams: 512 B take one serialisation more than 8 B, at any depth. BGQ-F54 */
static void packets_follow_each_other_as_the_logic_allows(void **state)
{
	struct kit *k = make("4x4x1x1x2");
	struct class_box b = box_of(k, NULL);
	site_id root = class_root(torus_of(k->net->topo), &b);
	uint32_t i;

	(void)state;
	everybody_begins(k, &b, 200, 512);
	run(k);
	check_sums(k, &b, 200);
	for (i = 20; i < 200; i++)
		assert_int_equal(
			k->got[root].head[i] - k->got[root].head[i - 1],
			FULL_PS + TURN_PS);
	drop(k);
}

/* BGQ-F52 */
static void sums_wait_for_the_last_member(void **state)
{
	struct kit *k = make("2x2x2x2x2");
	struct class_box b = box_of(k, NULL);
	site_id s;

	(void)state;
	for (s = 0; s < 32; s++)
		begin(k, s, s == 9 ? 5000 * SIM_NS : s * SIM_NS,
			(struct member){ .n = 3,
				.bytes = 8,
				.value = s,
				.dst = NO_SITE });
	run(k);
	check_sums(k, &b, 3);
	for (s = 0; s < 32; s++)
		assert_true(k->got[s].head[0] > 5000 * SIM_NS);
	drop(k);
}

/* 512 B in 280 ns from the root; where the same link brings them back its
 * acknowledgements take 8 ns more. */
static void broadcasts_run_at_the_rate_of_the_links(void **state)
{
	uint32_t i, elsewhere;

	(void)state;
	for (elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct kit *k = make("4x4x1x1x2");
		struct class_box b = box_of(k, NULL);
		site_id root = class_root(torus_of(k->net->topo), &b);
		site_id from = elsewhere ? 0 : root, s;

		begin(k, from, 0,
			(struct member){ .n = 200,
				.bytes = 512,
				.value = 7,
				.passes = true,
				.dst = NO_SITE });
		run(k);
		for (s = 0; s < k->net->n_nodes; s++) {
			assert_int_equal(k->got[s].n, 200);
			for (i = 0; i < 200; i++)
				assert_int_equal(k->got[s].value[i], 7 + i);
		}
		for (i = 40; i < 200; i++)
			assert_int_equal(
				k->got[0].head[i] - k->got[0].head[i - 1],
				FULL_PS + GAP_PS + (elsewhere ? 8000 : 0));
		drop(k);
	}
}

/* BGQ-F44 */
static void a_reduction_to_one_is_received_there_alone(void **state)
{
	struct kit *k = make("2x2x2x2x2");
	site_id s;

	(void)state;
	for (s = 0; s < 32; s++)
		begin(k, s, 0,
			(struct member){
				.n = 5, .bytes = 64, .value = 1, .dst = 13 });
	run(k);
	for (s = 0; s < 32; s++)
		assert_int_equal(k->got[s].n, s == 13 ? 5 : 0);
	assert_int_equal(k->got[13].value[4], 5 * 32);
	drop(k);
}

/* Whoever runs which site, and whether budgets are kept. */
static void results_are_the_same_for_any_number_of_workers(void **state)
{
	static const struct book_how how = { 0 };
	static const uint32_t workers[] = { 1, 2, 3, 7, 1 };
	struct got *first = NULL;
	uint32_t i;

	(void)state;
	for (i = 0; i < 5; i++) {
		struct kit *k =
			make_on("4x3x2x2x2", workers[i], i == 4 ? &how : NULL);
		struct class_box b = box_of(k, NULL);
		size_t size = k->net->n_nodes * sizeof(*first);

		everybody_begins(k, &b, 30, 512);
		run(k);
		if (!first) {
			first = mem_alloc(k->net->n_nodes, sizeof(*first));
			memcpy(first, k->got, size);
		}
		assert_memory_equal(first, k->got, size);
		drop(k);
	}
	mem_free(first);
}

/* Of the member that came last the whole way is charged, and no wait; of all
 * others the rest is a wait for it. */
static void time_is_charged_to_who_came_last(void **state)
{
	static const struct book_how how = { 0 };
	struct kit *k = make_on("2x2x2x2x2", 1, &how);
	struct book_sums sums;
	uint64_t peers = 0, all = 0;
	site_id s;
	uint32_t c;

	(void)state;
	for (s = 0; s < 32; s++)
		begin(k, s, s == 9 ? 5000 * SIM_NS : 0,
			(struct member){ .n = 1,
				.bytes = 8,
				.value = s,
				.dst = NO_SITE });
	run(k);
	book_sum(k->net->book, &sums);
	assert_int_equal(sums.n, 32);
	for (s = 0; s < 32; s++) {
		all += (uint64_t)k->got[s].head[0] + SMALL_PS;
		/* but for their own departure, which takes no time */
		peers += s == 9 ? 0 : (uint64_t)k->got[s].head[0];
	}
	all -= 5000 * (uint64_t)SIM_NS;
	assert_int_equal(sums.spent[CAUSE_PEERS], peers);
	for (c = 0; c < N_CAUSES; c++)
		all -= sums.spent[c];
	assert_int_equal(all, 0);
	drop(k);
}

/* Where contributions do not fit together the route stops there, with all
 * packets in place. */
static void a_route_stops_where_packets_do_not_fit(void **state)
{
	struct kit *k = make("2x2x2x2x2");
	struct class_box b = box_of(k, NULL);
	site_id s;

	(void)state;
	k->refuses = true;
	everybody_begins(k, &b, 1, 8);
	run(k);
	for (s = 0; s < 32; s++)
		assert_int_equal(k->got[s].n, 0);
	assert_int_equal(net_total(k->net).injected, 32);
	drop(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everybody_gets_the_sum_when_the_wires_say),
		cmocka_unit_test(
			every_box_of_a_midplane_takes_what_its_wires_say),
		cmocka_unit_test(packets_follow_each_other_as_the_logic_allows),
		cmocka_unit_test(sums_wait_for_the_last_member),
		cmocka_unit_test(broadcasts_run_at_the_rate_of_the_links),
		cmocka_unit_test(a_reduction_to_one_is_received_there_alone),
		cmocka_unit_test(time_is_charged_to_who_came_last),
		cmocka_unit_test(a_route_stops_where_packets_do_not_fit),
		cmocka_unit_test(
			results_are_the_same_for_any_number_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
