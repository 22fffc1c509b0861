/* Broadcasts to a range of nodes on fat trees, and what becomes of their
 * answers. */
#include <string.h>

#include "coll/coll.h"
#include "base/mem.h"
#include "net/use.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { APART = 6000 * SIM_NS, MANY = 12 };

static struct packet range(uint32_t src, uint32_t first, uint32_t last)
{
	return (struct packet){
		.src = src,
		.dst = first,
		.last = (uint16_t)last,
		.flags = PACKET_RANGE,
		.kind = PACKET_HIGH,
		.bytes = (uint16_t)((src * 37 + first * 11 + last) % 513),
	};
}

static sim_time serialisation(const struct rig *r, uint32_t bytes)
{
	return link_ser(&r->net->link, bytes);
}

/* The switch where a broadcast turns: the least subtree with all of them. */
static uint32_t top(const struct rig *r, const struct packet *p)
{
	const uint32_t *span = r->tree.t.span;
	uint32_t level = 1;

	while (p->src / span[level] != p->dst / span[level] ||
		p->src / span[level] != p->last / span[level])
		level++;
	return level;
}

/* Up to a level and down again: each cable twice, a switch for each but one. */
static sim_time way(const struct rig *r, uint32_t level)
{
	sim_time t = (2 * (sim_time)level - 1) * ELITE_SWITCH_PS;

	for (uint32_t i = 0; i < level; i++)
		t += 2 * ELITE_METRE_PS * fattree_length(&r->tree.t, i);
	return t;
}

/* Each node of the range has got one copy, and nobody else has. */
static void check_copies(const struct rig *r, uint32_t number)
{
	const struct packet *p = &r->got[number]->packet;

	for (site_id s = 0; s < r->net->n_sites; s++) {
		const struct arrival *a = rig_copy(r, number, s);

		assert_int_equal(a != NULL, s >= p->dst && s <= p->last);
		if (!a)
			continue;
		assert_int_equal(a->fifo, FIFO_HIGH);
		assert_int_equal(a->packet.src, p->src);
		assert_int_equal(a->packet.bytes, p->bytes);
	}
}

/* At zero load all come at once, and the answer when all have answered. */
static void check_times(const struct rig *r, uint32_t number)
{
	const struct packet *p = &r->got[number]->packet;
	sim_time one_way = way(r, top(r, p));
	sim_time head = r->sent[number] + one_way;
	sim_time tail = head + serialisation(r, p->bytes);
	const struct arrival *a = rig_answer(r, number);

	for (site_id s = p->dst; s <= p->last; s++) {
		assert_true(rig_copy(r, number, s)->head == head);
		assert_true(rig_copy(r, number, s)->tail == tail);
	}
	assert_non_null(a);
	assert_true(a->head == tail + one_way);
}

/* --- who gets it, and when --- */

static void check_all_ranges(uint32_t k)
{
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree_some[k] });
	uint32_t n = r->net->n_nodes;
	uint32_t step = n <= 5 ? 1 : n / 5 + 1; /* enough of them */
	struct net_tally sum;
	sim_time t = 0;

	for (uint32_t src = 0; src < n; src += step)
		for (uint32_t first = 0; first < n; first += step)
			for (uint32_t last = first; last < n;
				last += step, t += APART)
				rig_send(r, t, FIFO_HIGH,
					range(src, first, last));
	rig_run(r);
	for (uint32_t i = 0; i < r->n_sent; i++) {
		check_copies(r, i);
		/* where rails join, the way depends on the rail */
		if (!tree_some[k].join)
			check_times(r, i);
	}
	assert_int_equal(r->net->coll->ops->waiting(r->net->coll), 0);
	sum = net_total(r->net);
	/* one answer for each broadcast leaves as many copies as end */
	assert_int_equal(sum.copies, sum.absorbed);
	rig_free(r);
}

static void qsn_f72_each_node_of_a_range_gets_one_copy(void **state)
{
	for (uint32_t k = 0; tree_some[k].nodes; k++)
		check_all_ranges(k);
}

/* A range beside the sender's own subtree: one wire up and one down, and only
 * there does it part. */
static void qsn_f72_it_parts_no_higher_than_it_must(void **state)
{
	static const struct tree_how tree = { .nodes = "64" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	struct packet p = range(0, 16, 19);
	struct net_use u[TOPO_MAX_WIRES] = { 0 }, stage;

	p.bytes = 512;
	rig_send(r, 0, FIFO_HIGH, p);
	rig_run(r);
	net_uses(r->net, 0, u, NULL, NULL);
	stage = u[fattree_wire(2, FATTREE_DOWN)];
	assert_true(stage.most_bytes >= ELITE_FULL_BYTES);
	assert_true(stage.most_bytes < 2 * ELITE_FULL_BYTES);
	assert_true(stage.sent_bytes < 2 * ELITE_FULL_BYTES);
	stage = u[fattree_wire(0, FATTREE_DOWN)];
	assert_true(stage.sent_bytes >= 4 * ELITE_FULL_BYTES);
	rig_free(r);
}

/* Ways up that the sender names: all lead to it, by different switches. */
static void all_ways_up_serve(void **state)
{
	static const struct tree_how tree = { .nodes = "64" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	struct packet p = range(5, 10, 50);
	uint32_t n = updown_n_climbs(&r->tree.u, &p), i, used = 0;

	assert_int_equal(n, 16);
	for (i = 0; i < n; i++) {
		p.hints = (uint16_t)(i + 1);
		rig_send(r, i * APART, FIFO_HIGH, p);
	}
	rig_run(r);
	for (i = 0; i < n; i++)
		check_copies(r, i);
	for (site_id s = r->tree.t.first[3]; s < r->net->n_sites; s++)
		used += rig_sent_bytes(r, s, 1, ALL_CHANNELS) > 0;
	assert_int_equal(used, 16);
	rig_free(r);
}

/* --- answers --- */

/* Whatever one node answers is what the sender hears, if nobody says more. */
static void qsn_g19_the_greatest_answer_comes_back_once(void **state)
{
	static const struct tree_how tree = { .nodes = "30", .up = "2x3" };
	uint8_t answers[128] = { 0 };
	struct rig_how how = { .tree = &tree, .answers = answers };

	for (site_id other = 0; other < 30; other++) {
		struct rig *r = rig_new(&how);
		bool is_in = other >= 2 && other <= 27;

		answers[other] = 7;
		answers[(other + 11) % 26 + 2] = 3;
		rig_send(r, 0, FIFO_HIGH, range(9, 2, 27));
		rig_run(r);
		assert_int_equal(
			rig_answer(r, 0)->packet.answer, is_in ? 7 : 3);
		rig_free(r);
		memset(answers, 0, sizeof(answers));
	}
}

/* One receiver is late: the answer waits for it, and for nothing else. */
static void the_answer_comes_when_the_last_has_answered(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r =
		rig_new(&(struct rig_how){ .tree = &tree, .fills = true });
	struct packet p = range(3, 0, 15), high = range(12, 7, 7);
	const struct arrival *late, *a;
	uint32_t k;

	/* node 7's FIFO is full when the broadcast comes */
	high.flags = 0;
	high.bytes = p.bytes = 512;
	rig_close(r, 7, FIFO_HIGH);
	rig_flood(r, 0, FIFO_HIGH, 2, high);
	k = rig_send(r, 5000 * SIM_NS, FIFO_HIGH, p);
	rig_open(r, 7, FIFO_HIGH, 30000 * SIM_NS);
	rig_run(r);
	check_copies(r, k);
	late = rig_copy(r, k, 7);
	assert_true(late->head >= 30000 * SIM_NS);
	assert_true(rig_copy(r, k, 6)->head < 6000 * SIM_NS);
	assert_true(rig_copy(r, k, 15)->head < 6000 * SIM_NS);
	a = rig_answer(r, k);
	assert_true(a->head == late->tail + way(r, 2));
	rig_free(r);
}

/* --- beside others --- */

/* Broadcasts of one node that turn at one level come in their order. */
static void are_in_order(const struct rig *r)
{
	uint32_t n = r->net->n_nodes;
	uint32_t *last = mem_alloc((size_t)n * n * 8, sizeof(*last));

	for (uint32_t i = 0; i < r->n_arrivals; i++) {
		const struct arrival *a = &r->arrival[i];
		uint32_t *l = &last[(a->packet.src * n + a->site) * 8];

		if (!(a->packet.flags & PACKET_RANGE))
			continue;
		l += top(r, &a->packet);
		assert_true(a->packet.number >= *l);
		*l = a->packet.number;
	}
	mem_free(last);
}

struct outcome {
	struct arrival *arrival;
	uint32_t n;
};

/* Everybody sends to everybody, and broadcasts to ranges by lot. */
static struct outcome storm(uint32_t k, uint32_t n_workers, uint32_t queues)
{
	struct rig_how how = {
		.tree = &tree_some[k],
		.n_workers = n_workers,
		.queues = queues,
		.fills = k % 2,
		.drain = 500 * SIM_NS,
		.forget = 1000000 * SIM_NS,
	};
	struct rig *r = rig_new(&how);
	uint32_t n = r->net->n_nodes, first, m;
	uint64_t series = k;
	struct outcome o;

	rig_storm(r, &series, MANY, 0xf, k % 3);
	m = r->n_sent;
	for (uint32_t i = 0; i < MANY * n; i++) {
		uint32_t a = rig_draw(&series, n), b = rig_draw(&series, n);

		first = a < b ? a : b;
		rig_send(r, 0, FIFO_HIGH, range(i % n, first, a < b ? b : a));
	}
	rig_run(r);
	assert_int_equal(net_knot(r->net, NULL, 0), 0);
	assert_int_equal(r->net->coll->ops->waiting(r->net->coll), 0);
	for (uint32_t i = m; i < r->n_sent; i++) {
		check_copies(r, i);
		assert_non_null(rig_answer(r, i));
	}
	if (r->tree.u.spread != UPDOWN_ROTATE)
		are_in_order(r);
	o = (struct outcome){ r->arrival, r->n_arrivals };
	r->arrival = NULL;
	rig_free(r);
	return o;
}

static void are_alike(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct arrival *x = &a->arrival[i], *y = &b->arrival[i];

		assert_int_equal(x->packet.number, y->packet.number);
		assert_int_equal(x->packet.flags, y->packet.flags);
		assert_int_equal(x->site, y->site);
		assert_true(x->head == y->head && x->tail == y->tail);
	}
}

/* Nothing is lost or doubled, nothing locks, each is answered once, and it is
 * the same on any number of threads. */
static void storms_of_broadcasts_come_through(void **state)
{
	for (uint32_t k = 2; k < 8; k++) {
		struct outcome one = storm(k, 1, 0), two = storm(k, 2, 0);
		struct outcome four = storm(k, 4, 0), wide = storm(k, 1, 3);

		are_alike(&one, &two);
		are_alike(&one, &four);
		mem_free(one.arrival);
		mem_free(two.arrival);
		mem_free(four.arrival);
		mem_free(wide.arrival);
	}
}

/* QSN-G6: point-to-point packets that are stuck hold up no broadcast. */
static void qsn_g6_broadcasts_have_a_channel_of_their_own(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r =
		rig_new(&(struct rig_how){ .tree = &tree, .fills = true });
	struct packet full = { .src = 0, .dst = 15, .bytes = 512 };
	uint32_t k;

	rig_close(r, 15, FIFO_USER);
	rig_flood(r, 0, 0, 20, full);
	k = rig_send(r, 20000 * SIM_NS, FIFO_HIGH, range(0, 0, 15));
	rig_run_until(r, 100000 * SIM_NS);
	rig_gather(r);
	assert_null(r->got[19]);
	check_copies(r, k);
	check_times(r, k);
	rig_open(r, 15, FIFO_USER, 200000 * SIM_NS);
	rig_run(r);
	rig_free(r);
}

/* A broadcast that waits for one leg is no knot. */
static void a_leg_that_waits_is_no_knot(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r =
		rig_new(&(struct rig_how){ .tree = &tree, .fills = true });
	struct packet p = range(0, 0, 15);
	char text[64];

	p.bytes = 512;
	rig_close(r, 5, FIFO_HIGH);
	rig_flood(r, 0, FIFO_HIGH, 20, p);
	rig_run_until(r, 100000 * SIM_NS);
	rig_gather(r);
	assert_null(rig_copy(r, 19, 5));
	assert_int_equal(net_knot(r->net, text, sizeof(text)), 0);
	rig_open(r, 5, FIFO_HIGH, 200000 * SIM_NS);
	rig_run(r);
	check_copies(r, 19);
	rig_free(r);
}

/* In a tree of 16: from switch to switch for ever, up and down by turns. */
static port_mask spread_in_a_ring(
	const struct route *r, struct packet *p, router_id at)
{
	if (at >= 20)
		return 1u << (p->left[0] + 1) % 4;
	p->left[0] = (uint8_t)(at - 16);
	return 1u << 4;
}

/* One that has room for one leg and waits in a ring for another does not go:
 * it is part of the knot. */
static void a_leg_that_is_free_unties_no_knot(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	struct route_ops ops = updown_ops;
	uint32_t bit = 4 * DIRECT_QUEUES; /* in by port 4 */
	uint64_t before;
	char text[1000];

	ops.spread = spread_in_a_ring;
	r->tree.u.route.ops = &ops;
	for (site_id s = 0; s < 16; s += 4)
		rig_flood(r, 0, FIFO_HIGH, 10, range(s, 0, 15));
	rig_run_until(r, 100000 * SIM_NS);
	before = net_knot(r->net, text, sizeof(text));
	assert_true(before >= 16);
	assert_non_null(strstr(text, "channel high"));
	for (site_id s = 16; s < 20; s++) {
		struct direct_queue *q =
			direct_queue(direct_site(r->net, s), CHANNEL_HIGH, bit);

		assert_int_equal(q->count, 2);
		r->net->packets[q->head].ask |= 1;
	}
	assert_int_equal(net_knot(r->net, text, sizeof(text)), before);
	assert_non_null(strstr(text, "waits for up 0"));
	assert_null(strstr(text, "switch 1.0, receiver up 0, channel high, "
				 "waits for down 0"));
	rig_free(r);
}

/* --- budgets --- */

static void on_message(void *arg, const struct book_account *a)
{
	sim_time sum = 0;
	uint32_t *n = arg;

	for (uint32_t i = 0; i < N_CAUSES; i++)
		sum += a->budget.spent[i];
	assert_true(sum == a->budget.at - a->budget.start);
	++*n;
}

static void copies_have_budgets_of_their_own(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	uint32_t n = 0;
	struct book_how book = { .on_message = on_message, .arg = &n };
	struct rig *with =
		rig_new(&(struct rig_how){ .tree = &tree, .book = &book });
	struct rig *without = rig_new(&(struct rig_how){ .tree = &tree });

	for (uint32_t i = 0; i < 40; i++) {
		rig_send(with, 0, FIFO_HIGH, range(i % 16, 3, 12));
		rig_send(without, 0, FIFO_HIGH, range(i % 16, 3, 12));
	}
	rig_run(with);
	rig_run(without);
	/* ten copies and one answer each */
	assert_int_equal(n, 40 * 11);
	assert_int_equal(with->n_arrivals, without->n_arrivals);
	for (uint32_t i = 0; i < with->n_arrivals; i++)
		assert_true(with->arrival[i].head == without->arrival[i].head);
	rig_free(with);
	rig_free(without);
}

/* --- faults --- */

/* A dead wire below: all but one get it, and there is no answer. */
static void a_lost_leg_is_not_answered(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct fault_event e[] = {
		{ .at = 0, .site = 17, .port = 2, .place = "" },
		{ .at = 50000 * SIM_NS,
			.site = 17,
			.port = 2,
			.returns = true,
			.place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 2 };
	struct rig *r = rig_new(&(struct rig_how){
		.tree = &tree, .faults = &plan, .forget = 100000 * SIM_NS });

	rig_send(r, 0, FIFO_HIGH, range(0, 0, 15));
	rig_run_until(r, 40000 * SIM_NS);
	rig_gather(r);
	for (site_id s = 0; s < 16; s++)
		assert_int_equal(rig_copy(r, 0, s) != NULL, s != 6);
	assert_null(rig_answer(r, 0));
	assert_int_equal(net_total(r->net).lost, 1);
	/* on its way up and where it turns, and where it was lost */
	assert_int_equal(r->net->coll->ops->waiting(r->net->coll), 3);
	/* the second try knows nothing of the first */
	rig_send(r, 60000 * SIM_NS, FIFO_HIGH, range(0, 0, 15));
	rig_run_until(r, 90000 * SIM_NS);
	rig_gather(r);
	check_copies(r, 1);
	assert_non_null(rig_answer(r, 1));
	assert_int_equal(r->net->coll->ops->waiting(r->net->coll), 3);
	/* and one that comes much later makes switches forget it */
	rig_send(r, 200000 * SIM_NS, FIFO_HIGH, range(0, 0, 15));
	rig_run(r);
	assert_non_null(rig_answer(r, 2));
	assert_null(rig_answer(r, 0));
	assert_int_equal(r->net->coll->ops->waiting(r->net->coll), 0);
	rig_free(r);
}

/* An answer that comes to a switch that has forgotten is nobody's. */
static void answers_that_come_too_late_end(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){
		.tree = &tree, .fills = true, .forget = 1000 * SIM_NS });
	struct packet high = range(12, 7, 7);

	high.flags = 0;
	high.bytes = 512;
	rig_close(r, 7, FIFO_HIGH);
	rig_flood(r, 0, FIFO_HIGH, 2, high);
	rig_send(r, 5000 * SIM_NS, FIFO_HIGH, range(3, 0, 15));
	rig_open(r, 7, FIFO_HIGH, 30000 * SIM_NS);
	rig_run_until(r, 40000 * SIM_NS);
	rig_gather(r);
	assert_non_null(rig_copy(r, 2, 7));
	assert_null(rig_answer(r, 2));
	/* switches forget when the next one comes */
	rig_send(r, 50000 * SIM_NS, FIFO_HIGH, range(3, 0, 15));
	rig_run(r);
	assert_non_null(rig_answer(r, 3));
	rig_free(r);
}

/* Bits that flip on the way: every copy below knows, and what was hurt
 * answers for nobody. */
static void hurt_answers_are_none(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct fault_plan plan = { 0 };
	struct rig *r;
	uint32_t answered = 0;

	/* answers go up by this class of wires, 264 bits each */
	plan.rate[fattree_wire(0, FATTREE_UP)] =
		UINT64_C(300000000000000); /* 3e-4 */
	r = rig_new(&(struct rig_how){ .tree = &tree, .faults = &plan });
	for (uint32_t i = 0; i < 300; i++)
		rig_send(r, i * APART, FIFO_HIGH, range(i % 16, 0, 15));
	rig_run(r);
	for (uint32_t i = 0; i < 300; i++) {
		const struct arrival *a = rig_answer(r, i);
		site_id s;

		answered += a != NULL;
		check_copies(r, i);
		for (s = 1; s < 16; s++)
			assert_int_equal(rig_copy(r, i, s)->packet.load,
				rig_copy(r, i, 0)->packet.load);
		if (a)
			assert_false(a->packet.flags & PACKET_HURT);
	}
	assert_in_range(answered, 60, 240);
	rig_free(r);
}

TESTS(TEST(qsn_f72_each_node_of_a_range_gets_one_copy),
	TEST(qsn_f72_it_parts_no_higher_than_it_must), TEST(all_ways_up_serve),
	TEST(qsn_g19_the_greatest_answer_comes_back_once),
	TEST(the_answer_comes_when_the_last_has_answered),
	TEST(storms_of_broadcasts_come_through),
	TEST(qsn_g6_broadcasts_have_a_channel_of_their_own),
	TEST(a_leg_that_waits_is_no_knot),
	TEST(a_leg_that_is_free_unties_no_knot),
	TEST(copies_have_budgets_of_their_own),
	TEST(a_lost_leg_is_not_answered), TEST(answers_that_come_too_late_end),
	TEST(hurt_answers_are_none))
