#include "nic/util/toy_testing.h"
#include "testing/testing.h"

static void send_one(void *arg)
{
	toy_send(arg, 7);
}

static void what_is_acknowledged_is_sent_once(void **state)
{
	struct toy *t = toy_new();

	toy_run(t, send_one);
	assert_int_equal(t->came.n, 1);
	assert_int_equal(t->came.note[0].what, 7);
	assert_int_equal(t->acked.n, 1);
	assert_int_equal(t->late.n, 0);
	assert_true(t->acked.note[0].at < 10 * US);
	toy_free(t);
}

static enum toy_verdict away_thrice(uint32_t number, uint32_t try)
{
	return try < 3 ? TOY_TURNED_AWAY : TOY_TAKEN;
}

/* From one try to the next: there and back, and the pause. */
static void what_is_turned_away_comes_after_a_pause_that_doubles(void **state)
{
	struct toy *t = toy_new();
	sim_time trip, gap[3];

	t->judge = away_thrice;
	toy_run(t, send_one);
	assert_int_equal(t->came.n, 4);
	for (uint32_t i = 0; i < 3; i++)
		gap[i] = t->routes.note[i + 1].at - t->routes.note[i].at;
	trip = gap[0] - t->resend.back_off;
	assert_in_range(trip, 1, 2 * US);
	assert_true(gap[1] == trip + 2 * t->resend.back_off);
	assert_true(gap[2] == trip + 4 * t->resend.back_off);
	assert_int_equal(t->acked.note[0].which, 3);
	assert_int_equal(t->late.n, 0);
	toy_free(t);
}

static enum toy_verdict first_is_lost(uint32_t number, uint32_t try)
{
	return number == 7 && !try ? TOY_LOST : TOY_TAKEN;
}

static void send_two(void *arg)
{
	toy_send(arg, 7);
	program_wait(100 * US);
	toy_send(arg, 8);
}

static void what_is_not_answered_goes_by_another_route(void **state)
{
	struct toy *t = toy_new();

	t->judge = first_is_lost;
	toy_run(t, send_two);
	assert_int_equal(t->late.n, 1);
	assert_true(t->late.note[0].at == 1 + t->resend.timeout);
	assert_int_equal(t->routes.n, 3);
	assert_int_equal(t->routes.note[0].which, 0);
	assert_int_equal(t->routes.note[1].which, 1);
	/* and so does what follows */
	assert_int_equal(t->routes.note[2].what, 8);
	assert_int_equal(t->routes.note[2].which, 1);
	assert_int_equal(t->acked.n, 2);
	toy_free(t);
}

static enum toy_verdict never(uint32_t number, uint32_t try)
{
	return number + try == UINT32_MAX ? TOY_TAKEN : TOY_LOST;
}

/* Later tries wait longer, up to four times as long. */
static void after_so_many_tries_it_is_given_up(void **state)
{
	struct toy *t = toy_new();
	sim_time sum = 1;

	t->judge = never;
	toy_run(t, send_one);
	assert_int_equal(t->came.n, 6);
	assert_int_equal(t->late.n, 6);
	assert_int_equal(t->given_up.n, 1);
	assert_int_equal(t->given_up.note[0].which, 6);
	assert_int_equal(t->acked.n, 0);
	for (uint32_t i = 0; i < 6; i++) {
		sum += t->resend.timeout << (i < 2 ? i : 2);
		assert_true(t->late.note[i].at == sum);
		sum += t->resend.back_off << i;
	}
	toy_free(t);
}

static void send_many(void *arg)
{
	for (uint32_t i = 0; i < 500; i++) {
		toy_send(arg, i);
		program_charge(30 * SIM_NS);
	}
}

static enum toy_verdict some_are_lost(uint32_t number, uint32_t try)
{
	if ((number + try) % 7 == 0)
		return TOY_LOST;
	return (number * 3 + try) % 5 ? TOY_TAKEN : TOY_TURNED_AWAY;
}

static void of_many_each_is_acknowledged_once(void **state)
{
	struct toy *t = toy_new();
	uint8_t acked[500] = { 0 };

	t->judge = some_are_lost;
	toy_run(t, send_many);
	assert_int_equal(t->acked.n, 500);
	for (uint32_t i = 0; i < 500; i++)
		acked[t->acked.note[i].what]++;
	for (uint32_t i = 0; i < 500; i++)
		assert_int_equal(acked[i], 1);
	assert_true(t->late.n > 70);
	assert_int_equal(t->given_up.n, 0);
	toy_free(t);
}

/* The longest recent round trip, many times over, is waited for. */
static void slow_send(void *arg)
{
	struct nic_at a = toy_at();

	toy_node(&a)->resend.round_trip = 20 * US;
	toy_send(arg, 7);
}

static void congestion_is_not_taken_for_loss(void **state)
{
	struct toy *t = toy_new();

	t->resend.round_trips = 3;
	t->judge = first_is_lost;
	toy_run(t, slow_send);
	assert_true(t->late.note[0].at == 1 + 60 * US);
	toy_free(t);
}

static void send_two_hundred(void *arg)
{
	struct nic_at a = toy_at();
	struct resend *r = &toy_node(&a)->resend;

	r->round_trip = 20 * US;
	for (uint32_t i = 0; i < 200; i++) {
		toy_send(arg, i);
		program_charge(100 * SIM_NS);
	}
	assert_in_range(r->round_trip, 1, 2 * US);
}

static void the_longest_round_trip_is_forgotten(void **state)
{
	struct toy *t = toy_new();

	toy_run(t, send_two_hundred);
	assert_int_equal(t->acked.n, 200);
	toy_free(t);
}

static void stale_send(void *arg)
{
	struct toy *t = arg;
	struct nic_at a = toy_at();
	struct resend *r = &toy_node(&a)->resend;

	assert_true(resend_is_stale(r, t->resend.late, 0));
	toy_send(t, 7);
	program_wait(t->resend.timeout / 100);
	assert_false(resend_is_stale(r, t->resend.late, 0));
	assert_true(resend_is_stale(r, t->resend.later, 1));
	assert_true(resend_is_stale(r, t->resend.later, 2));
	assert_false(resend_is_stale(r, t->resend.leave, 1));
	program_wait(t->resend.timeout + 2 * t->resend.back_off);
	/* it is the second try's now */
	assert_false(resend_is_stale(r, t->resend.later, 1));
	assert_true(resend_is_stale(r, t->resend.late, 0));
}

static enum toy_verdict twice_lost(uint32_t number, uint32_t try)
{
	return try < 2 ? TOY_LOST : TOY_TAKEN;
}

static void clocks_that_nobody_waits_for_are_known(void **state)
{
	struct toy *t = toy_new();

	t->judge = twice_lost;
	toy_run(t, stale_send);
	assert_int_equal(t->acked.n, 1);
	toy_free(t);
}

TESTS(TEST(what_is_acknowledged_is_sent_once),
	TEST(what_is_turned_away_comes_after_a_pause_that_doubles),
	TEST(what_is_not_answered_goes_by_another_route),
	TEST(after_so_many_tries_it_is_given_up),
	TEST(of_many_each_is_acknowledged_once),
	TEST(congestion_is_not_taken_for_loss),
	TEST(the_longest_round_trip_is_forgotten),
	TEST(clocks_that_nobody_waits_for_are_known))
