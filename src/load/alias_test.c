#include <string.h>

#include "load/load.h"
#include "testing/testing.h"

static struct load_words w;

static void expect(const char *name, const char *const *keys, size_t n)
{
	size_t i;

	assert_string_equal(w.name, name);
	assert_int_equal(w.n, n);
	for (i = 0; i < n; i++)
		assert_string_equal(w.key[i], keys[i]);
}

static void an_old_name_brings_its_keys(void **state)
{
	static const char *const is[] = { "bytes=1000", "rounds=1" };

	(void)state;
	assert_true(load_translate(&w, "put", NULL, 0));
	expect("stream", is, 2);
}

static void keys_that_are_given_come_first_and_are_renamed(void **state)
{
	static const char *const was[] = { "count=7", "bytes=8", "to=3" };
	static const char *const is[] = { "rounds=7", "bytes=8", "to=3" };

	(void)state;
	assert_true(load_translate(&w, "put", was, 3));
	expect("stream", is, 3);
}

static void a_key_decides_which_workload_it_is(void **state)
{
	static const char *const was[] = { "op=dma", "mode=both", "bytes=64" };
	static const char *const is[] = { "by=dma", "bytes=64", "both=yes",
		"rounds=200", "places=1" };

	(void)state;
	assert_true(load_translate(&w, "ping", was, 3));
	expect("stream", is, 5);
	assert_true(load_translate(&w, "ping", was, 1));
	assert_string_equal(w.name, "pingpong");
	assert_string_equal(w.key[0], "by=dma");
}

static void a_word_becomes_another(void **state)
{
	static const char *const was[] = { "op=put" };

	(void)state;
	assert_true(load_translate(&w, "ping", was, 1));
	assert_string_equal(w.key[0], "by=sten");
}

static void names_of_today_are_left_alone(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; load_registry[i]; i++)
		assert_false(
			load_translate(&w, load_registry[i]->name, NULL, 0));
}

static void every_old_name_stands_for_a_workload(void **state)
{
	const struct load_alias *a;

	(void)state;
	for (a = load_aliases; a->name; a++) {
		assert_non_null(load_find(a->now));
		assert_null(load_find(a->name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_old_name_brings_its_keys),
		cmocka_unit_test(
			keys_that_are_given_come_first_and_are_renamed),
		cmocka_unit_test(a_key_decides_which_workload_it_is),
		cmocka_unit_test(a_word_becomes_another),
		cmocka_unit_test(names_of_today_are_left_alone),
		cmocka_unit_test(every_old_name_stands_for_a_workload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
