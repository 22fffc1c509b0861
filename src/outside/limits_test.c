#include "outside/limits.h"

#include <string.h>

#include "testing/testing.h"

/* Runs a test with another limit of descriptors. */
static struct rlimit limit_files(rlim_t cur, rlim_t max)
{
	struct rlimit before, now = { cur, max };

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
	return before;
}

static void ranks_without_descriptors_are_refused(void **state)
{
	struct rlimit before = limit_files(200, 200), old;
	struct err e = { 0 };

	assert_int_equal(limits_check(27, &e), 0);
	assert_int_equal(limits_check(28, &e), -1);
	assert_int_equal(e.code, EXIT_LIMIT);
	assert_non_null(strstr(e.text, "28 ranks need 204 open files"));
	limits_raise(10, &old); /* no more than is needed */
	assert_int_equal(old.rlim_cur, 200);
	/* may be forbidden to who is not root: the process ends soon */
	(void)setrlimit(RLIMIT_NOFILE, &before);
}

static void descriptors_are_allowed_as_they_are_needed(void **state)
{
	struct rlimit before, now;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit_files(100, before.rlim_max);
	limits_raise(20, &before);
	assert_int_equal(before.rlim_cur, 100);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &now), 0);
	assert_int_equal(now.rlim_cur, 20 * 5 + 64);
}

static void more_processes_than_there_are_numbers_are_refused(void **state)
{
	struct err e = { 0 };

	assert_int_equal(limits_check(2, &e), 0);
	assert_int_equal(limits_check(UINT32_MAX, &e), -1);
	assert_int_equal(e.code, EXIT_LIMIT);
}

static void memory_grows_with_the_square_of_ranks(void **state)
{
	assert_true(limits_memory(64) < UINT64_C(300) << 20);
	assert_true(limits_memory(512) > UINT64_C(2500) << 20);
	assert_true(limits_memory(512) < UINT64_C(4096) << 20);
}

TESTS(TEST(descriptors_are_allowed_as_they_are_needed),
	TEST(ranks_without_descriptors_are_refused),
	TEST(more_processes_than_there_are_numbers_are_refused),
	TEST(memory_grows_with_the_square_of_ranks))
