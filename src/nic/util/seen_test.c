#include "nic/util/seen.h"
#include "nic/util/window.h"
#include "testing/testing.h"

enum { SPAN = 32 };

static void a_window_spans_from_the_eldest_to_the_newest(void **state)
{
	struct window w = { .next = UINT32_MAX - 3, .oldest = UINT32_MAX - 3 };
	uint32_t first = w.next;

	w.next += SPAN;
	for (uint32_t i = SPAN - 1; i; i--) {
		window_done(&w, first + i);
		assert_int_equal(window_span(&w), SPAN);
	}
	window_done(&w, first);
	assert_int_equal(window_span(&w), 0);
	assert_int_equal(w.done, 0);
	w.next += 2;
	window_done(&w, w.next - 2);
	assert_int_equal(window_span(&w), 1);
}

static void nothing_is_seen_before_it_came(void **state)
{
	struct seen s = { 0 };

	assert_int_equal(seen_find(&s, 1, 2, 3), SEEN_NOT);
	seen_add(&s, 1, 2, 3, true);
	assert_int_equal(seen_find(&s, 1, 2, 3), SEEN_YES);
	assert_int_equal(seen_find(&s, 1, 2, 4), SEEN_NOT);
	assert_int_equal(seen_find(&s, 1, 2, 2), SEEN_NOT);
	assert_int_equal(seen_find(&s, 1, 3, 3), SEEN_NOT);
	assert_int_equal(seen_find(&s, 2, 2, 3), SEEN_NOT);
	seen_fini(&s);
}

static void a_channel_keeps_the_last_word_that_was_said(void **state)
{
	struct seen s = { 0 };
	uint64_t word = 77, said;

	seen_add(&s, 1, 2, 3, true);
	assert_false(seen_noted(&s, 1, 2, &said));
	seen_note(&s, 1, 2, &word);
	seen_add(&s, 1, 2, 4, true);
	seen_add(&s, 1, 3, 4, true);
	assert_true(seen_noted(&s, 1, 2, &said));
	assert_int_equal(said, 77);
	assert_false(seen_noted(&s, 1, 3, &said));
	seen_note(&s, 1, 2, NULL);
	assert_false(seen_noted(&s, 1, 2, &said));
	seen_fini(&s);
}

/* In any order within a span, across the wrap of numbers. */
static void what_was_said_is_said_again(void **state)
{
	struct seen s = { 0 };
	uint32_t first = UINT32_MAX - 100, k;

	for (uint32_t i = 0; i < 10 * SPAN; i++) {
		k = first + (i ^ 5);
		assert_int_equal(seen_find(&s, 7, 0, k), SEEN_NOT);
		seen_add(&s, 7, 0, k, k % 3);
		assert_int_equal(
			seen_find(&s, 7, 0, k), k % 3 ? SEEN_YES : SEEN_NO);
		if (i < SPAN)
			continue;
		k = first + ((i - SPAN) ^ 5);
		assert_int_equal(
			seen_find(&s, 7, 0, k), k % 3 ? SEEN_YES : SEEN_NO);
	}
	/* and what is too old was a yes */
	assert_int_equal(seen_find(&s, 7, 0, first), SEEN_YES);
	seen_fini(&s);
}

/* The same of long memories, where a number of half a span ago may come. */
static void a_long_memory_is_as_a_short_one(void **state)
{
	enum { LONG = 512, HALF = LONG / 2 };
	struct seen s;
	uint32_t first = UINT32_MAX - 1000, k;

	seen_init(&s, LONG);
	for (uint32_t i = 0; i < 10 * LONG; i++) {
		k = first + (i ^ (HALF - 1));
		assert_int_equal(seen_find(&s, 7, 1, k), SEEN_NOT);
		seen_add(&s, 7, 1, k, k % 3);
		assert_int_equal(
			seen_find(&s, 7, 1, k), k % 3 ? SEEN_YES : SEEN_NO);
		if (i < HALF)
			continue;
		k = first + ((i - HALF) ^ (HALF - 1));
		assert_int_equal(
			seen_find(&s, 7, 1, k), k % 3 ? SEEN_YES : SEEN_NO);
	}
	assert_int_equal(seen_find(&s, 7, 1, first), SEEN_YES);
	/* after a leap nothing of before is taken for what comes now */
	seen_add(&s, 7, 1, k + 100 * LONG, true);
	for (uint32_t i = 1; i < LONG; i++)
		assert_int_equal(
			seen_find(&s, 7, 1, k + 100 * LONG - i), SEEN_NOT);
	seen_fini(&s);
}

static void long_memories_move_with_their_channels(void **state)
{
	struct seen s;

	seen_init(&s, 256);
	for (uint32_t i = 0; i < 3000; i++)
		seen_add(&s, i % 100, i / 100, i + i % 7, i % 2);
	for (uint32_t i = 0; i < 3000; i++)
		for (uint32_t k = i + i % 7 - 1; k != i + i % 7 + 2; k++)
			assert_int_equal(seen_find(&s, i % 100, i / 100, k),
				k != i + i % 7 ? SEEN_NOT
				: i % 2	       ? SEEN_YES
					       : SEEN_NO);
	assert_true(seen_memory(&s) < 3000 * 4 * 112);
	seen_fini(&s);
}

static void many_channels_do_not_mix(void **state)
{
	struct seen s = { 0 };

	for (uint32_t i = 0; i < 3000; i++)
		seen_add(&s, i % 100, i / 100, i, i % 2);
	for (uint32_t i = 0; i < 3000; i++)
		for (uint32_t k = i - 1; k != i + 2; k++)
			assert_int_equal(seen_find(&s, i % 100, i / 100, k),
				k != i	? SEEN_NOT
				: i % 2 ? SEEN_YES
					: SEEN_NO);
	assert_true(seen_memory(&s) < 3000 * 128);
	seen_fini(&s);
}

static void taking_is_to_find_and_to_add(void **state)
{
	struct seen s[2] = { { 0 }, { 0 } };
	uint32_t at = UINT32_MAX - 5000;

	for (uint32_t i = 0; i < 20000; i++) {
		/* ahead by some, by many, and behind */
		uint32_t step = i * 2654435761u >> 24, channel = step % 40;
		uint32_t number = at + (step % 3 ? step : 8 * step) - 60;
		enum seen_answer was = seen_find(&s[0], 1, channel, number);

		if (was == SEEN_NOT)
			seen_add(&s[0], 1, channel, number, true);
		assert_int_equal(seen_take(&s[1], 1, channel, number), was);
		assert_int_equal(seen_memory(&s[1]), seen_memory(&s[0]));
		if (step % 5 == 0)
			for (uint32_t k = 0; k < 2; k++)
				seen_add(&s[k], 1, channel, number, false);
		at += step % 4;
	}
	seen_fini(&s[0]);
	seen_fini(&s[1]);
}

TESTS(TEST(a_window_spans_from_the_eldest_to_the_newest),
	TEST(nothing_is_seen_before_it_came),
	TEST(a_channel_keeps_the_last_word_that_was_said),
	TEST(what_was_said_is_said_again), TEST(taking_is_to_find_and_to_add),
	TEST(a_long_memory_is_as_a_short_one),
	TEST(long_memories_move_with_their_channels),
	TEST(many_channels_do_not_mix))
