#include "nic/util/toy_testing.h"
#include "testing/testing.h"

/* --- ticks and outboxes --- */

static void post_many(void *arg)
{
	struct nic_at a = toy_at();
	uint32_t i, k;

	/* over the end of the ticks' numbers, but not within an instant */
	toy_node(&a)->ticks.next = TICKS - 500;
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 1000; i++)
			toy_post(arg, (k + 2) * US, 1000 * k + i);
		program_charge(SIM_NS);
	}
}

static void events_of_an_instant_keep_their_order(void **state)
{
	struct toy *t = toy_new();
	uint32_t i;

	(void)state;
	toy_run(t, post_many);
	assert_int_equal(t->events.n, 3000);
	for (i = 0; i < 3000; i++) {
		assert_int_equal(t->events.note[i].what, i);
		assert_true(t->events.note[i].at == (i / 1000 + 2) * US);
	}
	toy_free(t);
}

static void send_burst(void *arg)
{
	uint32_t i;

	for (i = 0; i < 300; i++)
		toy_send(arg, i);
}

/* Three hundred packets in an instant, where some have room. */
static void packets_wait_for_room_and_leave_in_order(void **state)
{
	struct toy *t = toy_new();
	uint32_t i, later = 0;

	(void)state;
	t->resend.timeout = 1000 * US;
	toy_run(t, send_burst);
	assert_int_equal(t->came.n, 300);
	for (i = 0; i < 300; i++)
		assert_int_equal(t->came.note[i].what, i);
	assert_int_equal(t->acked.n, 300);
	for (i = 1; i < 300; i++)
		later += t->came.note[i].at > t->came.note[i - 1].at;
	assert_int_equal(later, 299);
	toy_free(t);
}

/* --- reads --- */

static void read_three(void *arg)
{
	struct nic_at a = toy_at();
	struct reads *r = &toy_node(&a)->reads;

	toy_read(arg, 1000);
	toy_read(arg, 500);
	assert_true(reads_has_room(r));
	toy_read(arg, 8);
	toy_read(arg, 0);
	assert_false(reads_has_room(r));
}

/* Of nothing a moment; else a latency, then the bus, one after the other. */
static void reads_take_a_latency_and_then_the_bus(void **state)
{
	static const struct {
		uint32_t bytes;
		sim_time at;
	} expect[] = {
		{ 0, 1 },
		{ 1000, 100 * SIM_NS + 1000 * TOY_BYTE },
		{ 500, 100 * SIM_NS + 1500 * TOY_BYTE },
		{ 8, 100 * SIM_NS + 1508 * TOY_BYTE },
	};
	struct toy *t = toy_new();
	uint32_t i;

	(void)state;
	toy_run(t, read_three);
	assert_int_equal(t->read.n, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(t->read.note[i].what, expect[i].bytes);
		assert_true(t->read.note[i].at == expect[i].at);
		/* its place is free when its owner hears of it */
		assert_int_equal(t->read.note[i].which, 3 - i);
	}
	/* of the bus they are told as soon as they have it; not of nothing */
	assert_int_equal(t->granted.n, 3);
	assert_int_equal(t->granted.note[1].which, 1500 * TOY_BYTE);
	toy_free(t);
}

/* --- words --- */

enum { PLACE = 0x1000 };

static uint64_t in_memory(uint64_t at)
{
	uint64_t word = 0;

	assert_true(program_read(at, &word, 8));
	return word;
}

static void write_words(void *arg)
{
	struct nic_at a = toy_at();
	struct words *w = &toy_node(&a)->words;
	uint64_t seen[3] = { 9, 9, 9 };
	uint32_t half;

	(void)arg;
	words_write(&a, w, PLACE, 11);
	words_write(&a, w, PLACE + 8, 22);
	words_write(&a, w, PLACE, 33);
	assert_int_equal(w->had, 3);
	words_read(&a, w, PLACE, seen, 24);
	assert_int_equal(seen[0], 33);
	assert_int_equal(seen[1], 22);
	assert_int_equal(seen[2], 0);
	/* a part of one, which lies over the end of what is read */
	words_read(&a, w, PLACE + 12, &half, 4);
	assert_int_equal(half, 0);
	words_read(&a, w, PLACE + 8, &half, 4);
	assert_int_equal(half, 22);
	assert_int_equal(in_memory(PLACE), 0);
	program_wait(50 * SIM_NS + 8 * TOY_BYTE + 1);
	assert_int_equal(in_memory(PLACE), 11);
	assert_int_equal(in_memory(PLACE + 8), 0);
	program_wait(w->last_in + 1);
	assert_int_equal(in_memory(PLACE), 33);
	assert_int_equal(in_memory(PLACE + 8), 22);
	assert_null(slots_find(&w->items, w->out.first));
}

static void words_are_seen_before_they_are_in_memory(void **state)
{
	struct toy *t = toy_new();

	(void)state;
	toy_run(t, write_words);
	assert_int_equal(t->had, 3);
	toy_free(t);
}

static void an_overlay_is_what_both_have(void **state)
{
	uint32_t from, at, n = 8, k;

	(void)state;
	for (at = 0; at < 24; at++)
		for (from = 8; from < 12; from++) {
			uint8_t to[8] = { 0 };
			const uint8_t data[4] = { 1, 2, 3, 4 };

			words_overlay(to, at, n, from, data, sizeof(data));
			for (k = 0; k < n; k++)
				assert_int_equal(to[k],
					at + k >= from && at + k < from + 4
						? data[at + k - from]
						: 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_an_instant_keep_their_order),
		cmocka_unit_test(packets_wait_for_room_and_leave_in_order),
		cmocka_unit_test(reads_take_a_latency_and_then_the_bus),
		cmocka_unit_test(words_are_seen_before_they_are_in_memory),
		cmocka_unit_test(an_overlay_is_what_both_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
