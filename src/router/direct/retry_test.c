/* Links that retry: nothing is lost, nothing is overtaken, all is charged. */
#include "router/direct/net_testing.h"
#include "link/link_testing.h"
#include "testing/testing.h"

enum { MANY = 60 };

static struct link_params replay(int64_t by)
{
	struct link_params p;

	p = link_test_defaults();
	p.retry.kind = RETRY_REPLAY;
	p.retry.by = by;
	return p;
}

/* Errors in 10^18 bits. */
static struct fault_plan errors(uint64_t rate)
{
	struct fault_plan p = { 0 };

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		p.rate[i] = rate;
	return p;
}

#define ONE_IN_50000 UINT64_C(20000000000000)

static struct rig *storm(const struct link_params *link,
	const struct fault_plan *p, uint32_t n_workers,
	const struct book_how *book)
{
	struct rig *r = rig_new(&(struct rig_how){ .way = { .shape = "4x3x2" },
		.link = link,
		.faults = p,
		.n_workers = n_workers,
		.book = book });
	uint64_t series = 8;

	rig_storm(r, &series, MANY, 15, true);
	rig_run(r);
	return r;
}

static struct fault_counts total(const struct rig *r)
{
	struct fault_counts sum = { 0 };

	for (uint32_t i = 0; i < r->net->topo->n_wires; i++) {
		struct fault_counts c = faults_total(r->net->faults, i);

		fault_counts_add(&sum, &c);
	}
	return sum;
}

static void bgq_f73_everything_comes_through_and_in_order(void **state)
{
	for (int64_t by = RETRY_BY_TIMEOUT; by <= RETRY_BY_NACK; by++) {
		struct link_params link = replay(by);
		struct fault_plan p = errors(ONE_IN_50000);
		struct rig *r = storm(&link, &p, 1, NULL);

		for (uint32_t i = 0; i < r->n_sent; i++) {
			assert_non_null(r->got[i]);
			assert_false(r->got[i]->packet.flags & PACKET_HURT);
		}
		assert_true(total(r).hurt > 50);
		assert_int_equal(total(r).resent, total(r).hurt);
		assert_int_equal(total(r).lost, 0);
		assert_int_equal(rig_overtakings(r, PACKET_DETERMINISTIC), 0);
		assert_int_equal(rig_overtakings(r, PACKET_HIGH), 0);
		rig_free(r);
	}
}

static void compare(const struct rig *a, const struct rig *b)
{
	assert_int_equal(a->n_sent, b->n_sent);
	for (uint32_t i = 0; i < a->n_sent; i++) {
		assert_int_equal(a->got[i]->head, b->got[i]->head);
		assert_int_equal(a->got[i]->tail, b->got[i]->tail);
	}
}

static void threads_change_nothing(void **state)
{
	struct link_params link = replay(RETRY_BY_TIMEOUT);
	struct fault_plan p = errors(ONE_IN_50000);
	struct rig *one = storm(&link, &p, 1, NULL);
	struct rig *three = storm(&link, &p, 3, NULL);

	compare(one, three);
	assert_int_equal(total(one).bit_errors, total(three).bit_errors);
	assert_int_equal(total(one).echoes, total(three).echoes);
	rig_free(one);
	rig_free(three);
}

/* Where nothing is hit, and the buffer is large enough, a network with retry
 * is one without. */
static void a_network_without_errors_is_as_it_was(void **state)
{
	struct link_params with = replay(RETRY_BY_TIMEOUT), without;
	struct fault_plan p = errors(1); /* never, in a run of this length */
	struct rig *a, *b, *c;

	without = link_test_defaults();
	a = storm(&without, NULL, 1, NULL);
	b = storm(&with, &p, 1, NULL);
	c = storm(&with, NULL, 1, NULL);
	assert_non_null(b->net->retry);
	assert_null(c->net->retry);
	compare(a, b);
	compare(a, c);
	rig_free(a);
	rig_free(b);
	rig_free(c);
}

/* A window of one packet: the next one waits for a round trip. */
static void a_small_window_holds_the_link(void **state)
{
	struct link_params link = replay(RETRY_BY_TIMEOUT);
	struct rig *r;
	uint32_t first;

	link.retry.window = FULL_CHUNKS;
	r = rig_new(&(struct rig_how){
		.way = { .shape = "2", .wrap = "mesh" }, .link = &link });
	assert_non_null(r->net->retry);
	first = rig_flood(
		r, 0, 0, 10, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run(r);
	for (uint32_t i = first + 1; i < r->n_sent; i++)
		assert_int_equal(r->got[i]->head - r->got[i - 1]->head,
			FULL_PS + 2 * BOARD_PS);
	rig_free(r);
}

/* A link is away for 50 us: what was sent into it comes when it is back. */
static void bgq_f73_a_link_that_returns_has_lost_nothing(void **state)
{
	struct fault_event e[] = {
		{ .at = 3000 * SIM_NS, .site = 0, .port = 0, .place = "" },
		{ .at = 53000 * SIM_NS,
			.site = 0,
			.port = 0,
			.returns = true,
			.place = "" },
	};
	struct fault_plan p = { .event = e, .n_events = 2 };
	struct link_params link = replay(RETRY_BY_TIMEOUT);
	struct rig *r = rig_new(
		&(struct rig_how){ .way = { .shape = "2", .wrap = "mesh" },
			.link = &link,
			.faults = &p });
	uint32_t late = 0;

	rig_flood(r, 0, 0, 40,
		(struct packet){
			.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512 });
	rig_run(r);
	for (uint32_t i = 0; i < r->n_sent; i++) {
		assert_non_null(r->got[i]);
		late += r->got[i]->head > 53000 * SIM_NS;
		if (i)
			assert_true(r->got[i]->head >= r->got[i - 1]->tail);
	}
	assert_in_range(late, 25, 35);
	assert_int_equal(total(r).lost, 0);
	rig_free(r);
}

/* Short packets are hit, too: those that bring tokens back, and what they bring
 * comes with the next one.  A run ends with all of them at home. */
static void no_token_is_lost_with_the_packet_that_brings_it(void **state)
{
	struct link_params link = replay(RETRY_BY_TIMEOUT);
	struct fault_plan p = errors(4 * ONE_IN_50000);
	struct rig *r[2];

	link.check_hop = 5;
	link.check_header = 8;
	for (uint32_t k = 0; k < 2; k++) {
		r[k] = storm(&link, &p, 1 + 2 * k, NULL);
		for (uint32_t i = 0; i < r[k]->n_sent; i++)
			assert_non_null(r[k]->got[i]);
		assert_true(total(r[k]).shorts > 5);
		assert_int_equal(total(r[k]).lost, 0);
	}
	compare(r[0], r[1]);
	rig_free(r[0]);
	rig_free(r[1]);
}

/* --- memories --- */

/* Two rows of three nodes, each with a stream from end to end. */
static struct rig *two_streams(const struct fault_plan *p)
{
	struct link_params link = replay(RETRY_BY_TIMEOUT);
	struct rig *r = rig_new(
		&(struct rig_how){ .way = { .shape = "3x2", .wrap = "mesh" },
			.link = &link,
			.fills = true,
			.faults = p });

	for (uint32_t i = 0; i < 6; i += 3)
		rig_flood(r, 0, 0, MANY,
			(struct packet){ .src = i,
				.dst = i + 2,
				.kind = PACKET_DETERMINISTIC,
				.bytes = 512 });
	rig_run_until(r, 1000000 * (sim_time)SIM_NS);
	rig_gather(r);
	return r;
}

static void bgq_f79_two_bad_bits_stop_one_unit_and_no_other(void **state)
{
	static const struct fault_flip buffer[] = {
		{ .site = 1, .buffer = FAULT_RECEIVER << 16 | 1 << 8 | 1 },
		{ .site = 1, .buffer = FAULT_SENDER << 16 },
		{ .site = 0, .buffer = FAULT_INJECTION << 16 },
		{ .site = 2, .buffer = FAULT_RECEPTION << 16 | 1 << 8 },
	};
	uint32_t bits;

	for (uint32_t i = 0; i < 8; i++) {
		struct fault_plan p = errors(ONE_IN_50000);
		struct fault_flip flip = buffer[i / 2];
		struct ras_event e = { 0 };
		struct rig *r;

		flip.bits = bits = 1 + i % 2;
		flip.at = 4000 * SIM_NS;
		p.flip = &flip;
		p.n_flips = 1;
		p.has_buffers = true;
		r = two_streams(&p);
		assert_int_equal(r->node[5].n, MANY);
		assert_int_equal(faults_mended(r->net->faults), bits == 1);
		assert_int_equal(faults_stopped(r->net->faults, &e), bits == 2);
		if (bits == 1) {
			assert_int_equal(r->node[2].n, MANY);
		} else {
			assert_in_range(r->node[2].n, 5, MANY - 5);
			assert_int_equal(e.site, flip.site);
			assert_int_equal(e.number, flip.buffer);
			assert_true(e.at >= flip.at);
		}
		rig_free(r);
	}
}

/* So many words in all of each kind, as the plan says. */
static void bgq_f79_bad_words_come_as_often_as_the_plan_says(void **state)
{
	struct fault_plan p = { .memories = { UINT64_C(1000000000000000), 0 },
		.has_buffers = true };
	struct rig *r = two_streams(&p);
	/* of 552 bytes; injection, two receivers, reception */
	double words = 2 * MANY * 4 * 69, is;

	is = (double)faults_mended(r->net->faults) / (words / 1000);
	assert_true(is > 0.6 && is < 1.4);
	assert_int_equal(r->node[2].n + r->node[5].n, 2 * MANY);
	assert_int_equal(faults_stopped(r->net->faults, NULL), 0);
	rig_free(r);
}

struct charged {
	sim_time retry, all;
	uint32_t n;
};

static void on_message(void *arg, const struct book_account *a)
{
	struct charged *c = arg;
	sim_time sum = 0;

	for (uint32_t i = 0; i < N_CAUSES; i++)
		sum += a->budget.spent[i];
	assert_int_equal(sum, a->budget.at - a->budget.start);
	c->retry += a->budget.spent[CAUSE_RETRY];
	c->all += sum;
	c->n++;
}

/* A copy in vain costs its packet at least its own time and a round trip. */
static void the_wait_is_charged_to_retry(void **state)
{
	struct charged c = { 0 };
	const struct book_how book = { .on_message = on_message, .arg = &c };
	struct link_params link = replay(RETRY_BY_NACK);
	struct fault_plan p = errors(ONE_IN_50000);
	struct rig *booked = storm(&link, &p, 1, &book);
	struct rig *plain = storm(&link, &p, 1, NULL);

	compare(booked, plain);
	assert_int_equal(c.n, booked->n_sent);
	assert_true(c.retry > 0);
	assert_true(c.retry >= (sim_time)total(booked).resent *
				       (2 * BOARD_PS + 20 * SIM_NS));
	rig_free(booked);
	rig_free(plain);
}

TESTS(TEST(bgq_f73_everything_comes_through_and_in_order),
	TEST(threads_change_nothing),
	TEST(a_network_without_errors_is_as_it_was),
	TEST(a_small_window_holds_the_link),
	TEST(bgq_f73_a_link_that_returns_has_lost_nothing),
	TEST(the_wait_is_charged_to_retry),
	TEST(no_token_is_lost_with_the_packet_that_brings_it),
	TEST(bgq_f79_two_bad_bits_stop_one_unit_and_no_other),
	TEST(bgq_f79_bad_words_come_as_often_as_the_plan_says))
