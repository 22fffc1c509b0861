#include "load/commands.h"

#include <string.h>

#include "testing/testing.h"

#define LINE(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void one_program_has_all_ranks(void **state)
{
	struct commands c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(commands_read(&c, LINE("./a", "x"), 0, &e), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.n_ranks, 0);
	assert_string_equal(commands_name(&c, 0), "./a");
	assert_int_equal(commands_of(&c, 1000), 0);
	assert_string_equal(commands_words(&c, 1000)[1], "x");
	assert_null(commands_words(&c, 1000)[2]);
	commands_free(&c);
}

static void ranks_of_several_programs_follow_each_other(void **state)
{
	const char *const *line = LINE("./a", "x", ":", "-n", "2", "./b", ":",
		"-np", "1", "./c", "y", "z");
	struct commands c;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(commands_read(&c, line, 3, &e), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.n_ranks, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(commands_of(&c, i), i < 3 ? 0 : i < 5 ? 1 : 2);
	assert_string_equal(commands_words(&c, 2)[1], "x");
	assert_null(commands_words(&c, 2)[2]);
	assert_null(commands_words(&c, 3)[1]);
	assert_string_equal(commands_words(&c, 5)[2], "z");
	commands_free(&c);
}

static void lines_that_make_no_sense_are_refused(void **state)
{
	const struct {
		const char *const *line;
		uint64_t ranks;
		const char *why;
	} bad[] = {
		{ LINE("./a", ":"), 1, "before and after each colon" },
		{ LINE(":", "./a"), 1, "before and after each colon" },
		{ LINE("./a", ":", "./b"), 1, "number of ranks of each" },
		{ LINE("./a", ":", "-n", "1", "./b"), 0, "number of ranks" },
		{ LINE("./a", ":", "-n", "0", "./b"), 1, "\"0\" is not" },
		{ LINE("./a", ":", "-n", "2x", "./b"), 1, "\"2x\" is not" },
		{ LINE("./a", ":", "-n"), 1, "\"\" is not" },
		{ LINE("./a", ":", "-n", "99999999999999999999", "./b"), 1,
			"is not" },
		{ LINE("-n", "2", "./a"), 3, "./a is given twice" },
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct commands c;
		struct err e = { 0 };

		assert_int_equal(
			commands_read(&c, bad[i].line, bad[i].ranks, &e), -1);
		assert_non_null(strstr(e.text, bad[i].why));
		commands_free(&c);
	}
}

TESTS(TEST(one_program_has_all_ranks),
	TEST(ranks_of_several_programs_follow_each_other),
	TEST(lines_that_make_no_sense_are_refused))
