#include "meas/trips.h"
#include "testing/testing.h"

enum { NODE = 3 };

static struct trip *begin(
	struct trips *s, uint32_t from, uint32_t to, sim_time called)
{
	return trips_begin(s, 0, NODE,
		&(struct trip){
			.from = from,
			.to = to,
			.missing = 2,
			.is_counted = true,
			.at = { called, called + 1, called + 2 },
		});
}

static void a_rank_finds_messages_in_the_order_of_sends(void **state)
{
	struct trips *s = trips_new(8);
	struct trip *first = begin(s, 1, 0, 10), *other = begin(s, 2, 0, 11),
		    *second = begin(s, 1, 0, 12);

	(void)state;
	assert_ptr_equal(trips_next(s, NODE, 0, 1), first);
	assert_ptr_equal(trips_next(s, NODE, 0, 2), other);
	assert_null(trips_next(s, NODE, 1, 2));
	assert_null(trips_next(s, NODE + 1, 0, 1));
	first->is_taken = true;
	assert_ptr_equal(trips_next(s, NODE, 0, 1), second);
	trips_end(s, NODE, second, NULL);
	assert_null(trips_next(s, NODE, 0, 1));
	trips_free(s);
}

/* MPI-F6. */
static void a_message_is_here_with_its_last_write(void **state)
{
	struct trips *s = trips_new(8);
	struct trip *first = begin(s, 1, 0, 10), *second = begin(s, 1, 0, 12);

	(void)state;
	trips_arrive(s, NODE, 0, 1, 20);
	assert_int_equal(first->at[TRIP_CAME], 0);
	trips_arrive(s, NODE, 0, 1, 21);
	trips_arrive(s, NODE, 0, 1, 22);
	trips_arrive(s, NODE, 0, 1, 23);
	trips_arrive(s, NODE, 0, 1, 24);
	assert_int_equal(first->at[TRIP_CAME], 21);
	assert_int_equal(second->at[TRIP_CAME], 23);
	trips_free(s);
}

static void machines_name_messages_by_number_and_receive(void **state)
{
	struct trips *s = trips_new(8);
	struct trip *t = begin(s, 1, 0, 10);

	(void)state;
	t->number = 7;
	assert_null(trips_numbered(s, NODE, 0, 1, 7));
	t->is_taken = true;
	assert_ptr_equal(trips_numbered(s, NODE, 0, 1, 7), t);
	assert_null(trips_numbered(s, NODE, 0, 1, 8));
	t->receive = 5;
	assert_null(trips_numbered(s, NODE, 0, 1, 7));
	assert_ptr_equal(trips_received(s, NODE, 0, 5), t);
	trips_free(s);
}

/* called: of the receive; taken: by the library's look. */
static void check_parts(sim_time called, sim_time taken, sim_time unposted,
	sim_time look, sim_time matching)
{
	struct trips *s = trips_new(8);
	struct trip *t = begin(s, 1, 0, 10);
	struct trip_sums sums = { 0 };
	sim_time whole = 0;

	trips_arrive(s, NODE, 0, 1, 20);
	trips_arrive(s, NODE, 0, 1, 30);
	t->at[TRIP_TAKEN] = taken;
	trips_match(t, called, 70);
	t->at[TRIP_HERE] = 80;
	t->at[TRIP_ENDED] = 85;
	for (uint32_t b = 1; b < TRIP_BORDERS; b++) {
		assert_true(t->at[b] >= t->at[b - 1]);
		whole += t->at[b] - t->at[b - 1];
	}
	assert_int_equal(whole, 75);
	assert_int_equal(t->at[TRIP_POSTED] - t->at[TRIP_CAME], unposted);
	assert_int_equal(t->at[TRIP_TAKEN] - t->at[TRIP_POSTED], look);
	assert_int_equal(t->at[TRIP_MATCHED] - t->at[TRIP_TAKEN], matching);
	trips_end(s, NODE, t, &sums);
	assert_int_equal(sums.n, 1);
	assert_int_equal(sums.longest, 75);
	assert_int_equal(sums.at[TRIP_HERE], 80);
	trips_free(s);
}

/* MPI-F6. */
static void a_late_receive_is_a_part_of_its_own(void **state)
{
	(void)state;
	check_parts(5, 40, 0, 10, 30); /* posted before */
	check_parts(60, 40, 30, 0, 10); /* taken, and kept for it */
	check_parts(50, 65, 20, 15, 5); /* posted, then looked for */
}

/* MPI-F6. */
static void dropped_messages_and_those_of_a_library_do_not_count(void **state)
{
	struct trips *s = trips_new(8);
	struct trip *t = begin(s, 1, 0, 10);
	struct trip_sums sums = { 0 }, more = { .n = 2, .longest = 9 };

	(void)state;
	t->is_counted = false;
	trips_end(s, NODE, t, &sums);
	trips_end(s, NODE, begin(s, 1, 0, 10), NULL);
	assert_int_equal(sums.n, 0);
	trips_add(&sums, &more);
	trips_add(&sums, &more);
	assert_int_equal(sums.n, 4);
	assert_int_equal(sums.longest, 9);
	trips_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rank_finds_messages_in_the_order_of_sends),
		cmocka_unit_test(a_message_is_here_with_its_last_write),
		cmocka_unit_test(machines_name_messages_by_number_and_receive),
		cmocka_unit_test(a_late_receive_is_a_part_of_its_own),
		cmocka_unit_test(
			dropped_messages_and_those_of_a_library_do_not_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
