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
	uint32_t i;

	for (i = 0; i < TOPO_MAX_WIRES; i++)
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
	uint32_t i;

	for (i = 0; i < r->net->topo->n_wires; i++) {
		struct fault_counts c = faults_total(r->net->faults, i);

		fault_counts_add(&sum, &c);
	}
	return sum;
}

static void bgq_f73_everything_comes_through_and_in_order(void **state)
{
	int64_t by;
	uint32_t i;

	(void)state;
	for (by = RETRY_BY_TIMEOUT; by <= RETRY_BY_NACK; by++) {
		struct link_params link = replay(by);
		struct fault_plan p = errors(ONE_IN_50000);
		struct rig *r = storm(&link, &p, 1, NULL);

		for (i = 0; i < r->n_sent; i++) {
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
	uint32_t i;

	assert_int_equal(a->n_sent, b->n_sent);
	for (i = 0; i < a->n_sent; i++) {
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

	(void)state;
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

	(void)state;
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
	uint32_t i, first;

	(void)state;
	link.retry.window = FULL_CHUNKS;
	r = rig_new(&(struct rig_how){
		.way = { .shape = "2", .wrap = "mesh" }, .link = &link });
	assert_non_null(r->net->retry);
	first = rig_flood(
		r, 0, 0, 10, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run(r);
	for (i = first + 1; i < r->n_sent; i++)
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
	uint32_t i, late = 0;

	(void)state;
	rig_flood(r, 0, 0, 40,
		(struct packet){
			.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512 });
	rig_run(r);
	for (i = 0; i < r->n_sent; i++) {
		assert_non_null(r->got[i]);
		late += r->got[i]->head > 53000 * SIM_NS;
		if (i)
			assert_true(r->got[i]->head >= r->got[i - 1]->tail);
	}
	assert_in_range(late, 25, 35);
	assert_int_equal(total(r).lost, 0);
	rig_free(r);
}

struct charged {
	sim_time retry, all;
	uint32_t n;
};

static void on_message(void *arg, const struct book_account *a)
{
	struct charged *c = arg;
	uint32_t i;
	sim_time sum = 0;

	for (i = 0; i < N_CAUSES; i++)
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

	(void)state;
	compare(booked, plain);
	assert_int_equal(c.n, booked->n_sent);
	assert_true(c.retry > 0);
	assert_true(c.retry >= (sim_time)total(booked).resent *
				       (2 * BOARD_PS + 20 * SIM_NS));
	rig_free(booked);
	rig_free(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bgq_f73_everything_comes_through_and_in_order),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(a_network_without_errors_is_as_it_was),
		cmocka_unit_test(a_small_window_holds_the_link),
		cmocka_unit_test(bgq_f73_a_link_that_returns_has_lost_nothing),
		cmocka_unit_test(the_wait_is_charged_to_retry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
