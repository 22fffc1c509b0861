/* Broadcasts that are sent again, through faults, and of all nodes at once. */
#include "coll/coll.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

struct casting {
	uint32_t first, last, bytes;
};

static struct casting range_of(uint32_t k, uint32_t n)
{
	uint32_t first = k * 7 % n;

	return (struct casting){
		.first = first,
		.last = first + k * 13 % (n - first),
		.bytes = 1 + k * 101 % ELAN_PACKET,
	};
}

static void listen_program(void *arg)
{
	struct et_queue q = et_open(5);

	et_arm(&q, 2, 1000000); /* counts down */
}

/* --- again --- */

enum { AGAIN = 20 };

static void again_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(5 * US);
	et_arm(&q, 1, AGAIN);
	for (uint32_t k = 0; k < AGAIN; k++)
		et_cast(&q, 0, 15, ET_TARGET + 512 * k, k, 512, 2, 1);
	et_wait_event(1);
}

/* A machine of 16 nodes, all of which listen, and one that broadcasts. */
static void run_again(struct et *m, uint32_t n_workers)
{
	struct et_program p[17];

	for (site_id s = 0; s < 16; s++)
		p[s] = (struct et_program){ s, listen_program, NULL };
	p[16] = (struct et_program){ 6, again_program, NULL };
	et_run(m, n_workers, p, 17);
}

static void check_again(const struct et *m)
{
	for (site_id s = 0; s < 16; s++) {
		for (uint32_t k = 0; k < AGAIN; k++)
			et_expect_at(m, s, ET_TARGET + 512 * k, k, 512, true);
		assert_int_equal(
			elan_event_count(m->nic, s, 2), 1000000 - AGAIN * 512);
	}
	assert_int_equal(et_counts(m, 6).acks, AGAIN);
}

/* The sender is impatient: what has come comes again, and counts once. */
static void what_is_sent_again_is_executed_once(void **state)
{
	struct et *m = *state;
	struct elan_counts c;

	m->nodes = "16";
	m->params.retry.timeout = 600 * SIM_NS;
	m->params.retry.back_off = 100 * SIM_NS;
	m->params.retry.limit = 255;
	run_again(m, 1);
	check_again(m);
	c = et_counts(m, 6);
	assert_true(c.resent >= AGAIN);
	assert_int_equal(ET_SUM(m, duplicates), 16 * c.resent);
}

/* Of a broadcast that was sent twice: what the first one's receivers turned
 * away says nothing of the second; that they have executed it does. */
static void on_acked(
	const struct nic_at *a, const struct elan_sent *s, bool is_yes)
{
	assert_int_equal(s->sequence, 5);
	assert_true(is_yes);
}

static void answers_to_the_first_try_come_late(void **state)
{
	struct et *m = *state;
	struct elan_buffer b = { .cast = ELAN_CAST_BACK, .kind = ELAN_NACKED };
	static const struct elan_owner nobody = { .done = on_acked };
	struct elan_sending *s;
	struct nic_at a;

	et_start(m, 1, 1);
	a = nic_at(m->nic, sim_owner(m->net->sim, 0), 0, US);
	b.sending = elan_send_new(&a);
	b.sequence = 5;
	s = elan_sending(&a, b.sending);
	*s->copy = (struct elan_buffer){ .sequence = b.sequence };
	s->owner = &nobody;
	s->number = 8;
	s->item.tries = 1;
	s->item.left_at = US / 2;
	b.number = 7;
	elan_send_on_answer(&a, &b);
	assert_int_equal(elan_here(&a)->counts.nacks, 0);
	assert_true(s->item.left_at == US / 2);
	b.number = 8;
	elan_send_on_answer(&a, &b);
	assert_int_equal(elan_here(&a)->counts.nacks, 1);
	assert_true(s->item.again_at > 0);
	b.number = 7;
	b.kind = ELAN_ACKED;
	elan_send_on_answer(&a, &b);
	assert_int_equal(elan_here(&a)->counts.acks, 1);
	assert_false(s->item.slot.is_used);
	et_go(m);
}

/* --- faults --- */

/* Bits flip everywhere: a copy that is hurt makes all of it come again. */
static void run_hurt(struct et *m, uint32_t n_workers)
{
	static struct fault_plan plan;

	for (uint32_t i = 0; i < 4; i++)
		plan.rate[i] = UINT64_C(10000000000000); /* 1e-5 */
	et_init(m, "16");
	m->faults = &plan;
	m->params.retry.limit = 255;
	run_again(m, n_workers);
}

static void hurt_copies_come_again(void **state)
{
	uint64_t digest = 0;

	for (uint32_t w = 1; w <= 4; w *= 2) {
		struct et m;

		run_hurt(&m, w);
		check_again(&m);
		assert_true(ET_SUM(&m, torn) > 3);
		assert_true(ET_SUM(&m, nacks) > 0 && ET_SUM(&m, timeouts) > 0);
		assert_true(et_counts(&m, 6).nacks < ET_SUM(&m, torn));
		assert_true(ET_SUM(&m, duplicates) > 0);
		if (w > 1)
			assert_true(et_digest(&m) == digest);
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* Sites 16 to 19 are switches of level 1, 20 to 23 of level 2. */
static void run_dead(struct et *m, struct fault_event *e, uint32_t n)
{
	static struct fault_plan plan;

	plan = (struct fault_plan){ .event = e, .n_events = n };
	et_init(m, "16");
	m->faults = &plan;
	run_again(m, 1);
}

static void another_way_is_taken_round_a_dead_switch(void **state)
{
	struct fault_event e[4];
	struct elan_counts c;
	struct et m;

	for (uint32_t i = 0; i < 4; i++) {
		e[0] = (struct fault_event){ .at = 8 * US,
			.site = 20 + i,
			.port = FAULT_SITE,
			.place = "" };
		run_dead(&m, e, 1);
		check_again(&m);
		c = et_counts(&m, 6);
		/* the first way of node 6 leads over one of them; at most two
		 * packets find out, and their second tries */
		assert_int_equal(c.timeouts > 0, i == 2);
		assert_true(c.timeouts <= 6);
		et_fini(&m);
	}
}

static void a_wire_that_returns_is_waited_for(void **state)
{
	struct fault_event e[] = {
		{ .at = 6 * US, .site = 17, .port = 3, .place = "" },
		{ .at = 200 * US,
			.site = 17,
			.port = 3,
			.returns = true,
			.place = "" },
	};
	struct et m;

	run_dead(&m, e, 2);
	check_again(&m);
	assert_true(et_counts(&m, 6).timeouts > 2);
	assert_int_equal(et_counts(&m, 7).duplicates, 0);
	assert_true(et_counts(&m, 8).duplicates > 2);
	et_fini(&m);
}

static void give_up_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(5 * US);
	et_cast(&q, 0, 15, ET_TARGET, 1, 512, 2, 1);
	et_wait_error(&q, ELAN_ERROR_RETRIES);
}

/* A node that is dead for good: the others have it once, and after the last
 * try the queue stops. */
static void after_the_last_try_the_queue_stops(void **state)
{
	struct et *m = *state;
	struct fault_event e = { .site = 9, .port = FAULT_SITE, .place = "" };
	struct fault_plan plan = { .event = &e, .n_events = 1 };

	m->nodes = "16";
	m->faults = &plan;
	m->params.retry.limit = 3;
	ET_RUN(m, 1, { 6, give_up_program, NULL });
	for (site_id s = 0; s < 16; s++) {
		et_expect_at(m, s, ET_TARGET, 1, 512, s != 9);
		assert_int_equal(et_counts(m, s).duplicates, s == 9 ? 0 : 3);
	}
	assert_int_equal(et_counts(m, 6).timeouts, 4);
}

/* --- everybody --- */

enum { EACH = 6 };

static void everybody_program(void *arg)
{
	struct et_queue q = et_open(0);
	site_id me = program_node();
	uint32_t n = *(const uint32_t *)arg, k;

	et_arm(&q, 1, 2 * EACH);
	for (k = 0; k < EACH; k++) {
		struct casting r = range_of(me + 5 * k, n);

		et_cast(&q, r.first, r.last, ET_TARGET + 512 * (me * EACH + k),
			me + k, r.bytes, 0, 1);
		et_put(&q, (me + k + 1) % n, ET_SOURCE + 512 * (me * EACH + k),
			me + k, 200, 0, 1);
	}
	et_wait_event(1);
}

static uint64_t run_everybody(uint32_t n_workers, const struct fault_plan *plan)
{
	struct et_program p[64];
	uint32_t n = 64;
	uint64_t digest;
	struct et m;

	for (site_id s = 0; s < n; s++)
		p[s] = (struct et_program){ s, everybody_program, &n };
	et_init(&m, "64");
	m.faults = plan;
	m.params.retry.limit = 255;
	et_run(&m, n_workers, p, n);
	for (site_id from = 0; from < n; from++) {
		for (uint32_t k = 0; k < EACH; k++) {
			struct casting r = range_of(from + 5 * k, n);

			for (site_id s = 0; s < n; s++)
				et_expect_at(&m, s,
					ET_TARGET + 512 * (from * EACH + k),
					from + k, r.bytes,
					s >= r.first && s <= r.last);
		}
	}
	assert_int_equal(ET_SUM(&m, acks), 2 * EACH * n);
	if (plan)
		assert_true(ET_SUM(&m, torn) > 0 && ET_SUM(&m, timeouts) > 0);
	else
		assert_int_equal(m.net->coll->ops->waiting(m.net->coll), 0);
	digest = et_digest(&m);
	et_fini(&m);
	return digest;
}

/* Broadcasts of all nodes, and puts beside them. */
static void qsn_f36_broadcasts_and_puts_of_all_nodes(void **state)
{
	uint64_t digest = run_everybody(1, NULL);

	assert_true(run_everybody(2, NULL) == digest);
	assert_true(run_everybody(4, NULL) == digest);
}

/* The same where bits flip, a switch dies and another one comes and goes. */
static void all_nodes_broadcast_through_faults(void **state)
{
	/* 64 to 79 are switches of level 1, then of 2 and 3 */
	struct fault_event e[] = {
		{ .at = 3 * US, .site = 70, .port = 6, .place = "" },
		{ .at = 5 * US, .site = 82, .port = FAULT_SITE, .place = "" },
		{ .at = 90 * US,
			.site = 82,
			.port = FAULT_SITE,
			.returns = true,
			.place = "" },
		{ .at = 4 * US, .site = 100, .port = FAULT_SITE, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 4 };
	uint64_t digest;

	for (uint32_t i = 0; i < 6; i++)
		plan.rate[i] = UINT64_C(500000000000); /* 5e-7 */
	digest = run_everybody(1, &plan);
	assert_true(run_everybody(2, &plan) == digest);
	assert_true(run_everybody(4, &plan) == digest);
}

TESTS(ET_TEST(what_is_sent_again_is_executed_once),
	ET_TEST(answers_to_the_first_try_come_late),
	TEST(hurt_copies_come_again),
	TEST(another_way_is_taken_round_a_dead_switch),
	TEST(a_wire_that_returns_is_waited_for),
	ET_TEST(after_the_last_try_the_queue_stops),
	TEST(qsn_f36_broadcasts_and_puts_of_all_nodes),
	TEST(all_nodes_broadcast_through_faults))
