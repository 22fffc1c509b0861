#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "testing/testing.h"

static const char *const words[] = { "rate", "latency.board", "latency.cable",
	"longest-first", "none", "queues" };

enum { N_WORDS = sizeof(words) / sizeof(*words) };

static void nearest_is(const char *name, const char *want)
{
	const char *found = name_nearest(name, words, N_WORDS);

	if (!want) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, want);
}

static void a_slip_finds_the_word_that_was_meant(void **state)
{
	nearest_is("rat", "rate");
	nearest_is("raet", "rate");
	nearest_is("ratee", "rate");
	nearest_is("latency.bord", "latency.board");
	nearest_is("latency.caple", "latency.cable");
	nearest_is("longets-first", "longest-first");
	nearest_is("queue", "queues");
}

static void a_name_is_nearest_to_itself(void **state)
{
	for (size_t i = 0; i < N_WORDS; i++)
		nearest_is(words[i], words[i]);
}

static void a_strange_name_is_near_to_nothing(void **state)
{
	nearest_is("bandwidth", NULL);
	nearest_is("latency", NULL);
	nearest_is("zzzz", NULL);
	assert_null(name_nearest("rate", words, 0));
}

/* Of four letters two may be wrong, a third of them rounded up. */
static void the_limit_is_a_third_of_the_longer_rounded_up(void **state)
{
	static const char *const one[] = { "abcd" };

	assert_non_null(name_nearest("abxy", one, 1));
	assert_null(name_nearest("axyz", one, 1));
	assert_non_null(name_nearest("abcdef", one, 1));
	assert_null(name_nearest("abcdefgh", one, 1));
}

static void a_swap_counts_one(void **state)
{
	static const char *const two[] = { "abd", "bac" };

	/* One swap from the second; one change from the first comes first. */
	assert_string_equal(name_nearest("abc", two, 2), "abd");
	assert_string_equal(name_nearest("abc", two + 1, 1), "bac");
}

static void the_first_of_equals_wins(void **state)
{
	static const char *const two[] = { "card", "cart" };

	assert_string_equal(name_nearest("carx", two, 2), "card");
}

static void what_a_terminal_would_obey_is_shown_as_a_mark(void **state)
{
	char text[] = "a\033[1m\302\233\233 \303\251\n\tb\177";

	name_clean(text, "\n");
	assert_string_equal(text, "a?[1m??? \303\251\n?b?");
}

static void texts_are_put_together_up_to_the_buffers_end(void **state)
{
	char text[8] = "x";
	size_t n = name_put(text, sizeof(text), 0, "ab");

	(void)state;
	n = name_put_number(text, sizeof(text), n, 0);
	n = name_put_number(text, sizeof(text), n, 4294967295u);
	assert_string_equal(text, "ab04294");
	assert_int_equal(n, 7);
	name_add(text, sizeof(text), "c");
	assert_string_equal(text, "ab04294");
}

static void a_very_long_name_is_near_to_nothing(void **state)
{
	enum { LEN = 1 << 20 };
	char *name = mem_alloc(LEN + 1, 1);

	memset(name, 'a', LEN);
	assert_null(name_nearest(name, words, N_WORDS));
	mem_free(name);
}

/* One slip of any kind in any place of a word of four letters or more. */
static void any_single_slip_is_found(void **state)
{
	char slip[64];

	for (size_t w = 0; w < N_WORDS; w++) {
		size_t n = strlen(words[w]);

		for (size_t i = 0; i < n; i++) {
			snprintf(slip, sizeof(slip), "%s", words[w]);
			slip[i] = '#';
			nearest_is(slip, words[w]);
			memmove(slip + i, words[w] + i + 1, n - i);
			nearest_is(slip, words[w]);
			snprintf(slip, sizeof(slip), "%.*s#%s", (int)i,
				words[w], words[w] + i);
			nearest_is(slip, words[w]);
			snprintf(slip, sizeof(slip), "%s", words[w]);
			slip[i] = words[w][(i + 1) % n];
			slip[(i + 1) % n] = words[w][i];
			if (i + 1 < n)
				nearest_is(slip, words[w]);
		}
	}
}

TESTS(TEST(a_slip_finds_the_word_that_was_meant),
	TEST(a_name_is_nearest_to_itself),
	TEST(a_strange_name_is_near_to_nothing),
	TEST(the_limit_is_a_third_of_the_longer_rounded_up),
	TEST(a_swap_counts_one), TEST(the_first_of_equals_wins),
	TEST(a_very_long_name_is_near_to_nothing),
	TEST(what_a_terminal_would_obey_is_shown_as_a_mark),
	TEST(texts_are_put_together_up_to_the_buffers_end),
	TEST(any_single_slip_is_found))
