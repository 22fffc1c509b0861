#include "outside/registry.h"

#include <errno.h>

#include "testing/testing.h"

enum { OWNER = 2, OTHER = 1, WINDOW = 100 };

static const struct region usual = { .base = 1000,
	.at = 7000,
	.bytes = 50,
	.rights = REGISTRY_READ,
	.hold = 9 };

static struct registered *look(struct registry *r, uint32_t by, sim_time now,
	uint64_t key, uint64_t at, uint64_t bytes)
{
	const struct registry_use u = { key, at, bytes, REGISTRY_READ };
	struct region x;
	uint64_t node_at = 0;
	struct registered *found =
		registry_begin(r, by, OWNER, now, WINDOW, &u, &x, &node_at);

	if (found) {
		assert_int_equal(x.hold, 9);
		assert_int_equal(node_at, 7000 + at - 1000);
	}
	return found;
}

static bool counts(struct registry *r, uint32_t by, sim_time now, uint64_t key)
{
	struct registered *x = look(r, by, now, key, 1010, 5);

	if (x)
		registry_done(r, OWNER, OWNER, x, now);
	return x;
}

/* MPI-F4. */
static void others_see_changes_a_window_later(void **state)
{
	struct registry *r = registry_new(3);
	uint64_t key = 0;

	assert_int_equal(registry_add(r, OWNER, 250, &usual, false, &key), 0);
	assert_int_equal(key, 1);
	assert_true(counts(r, OWNER, 250, key));
	assert_false(counts(r, OTHER, 349, key));
	assert_true(counts(r, OTHER, 350, key));
	assert_true(registry_end(r, OWNER, 500, key));
	assert_false(registry_end(r, OWNER, 500, key));
	assert_false(counts(r, OWNER, 500, key));
	assert_true(counts(r, OTHER, 599, key));
	assert_false(counts(r, OTHER, 600, key));
	registry_free(r);
}

/* MPI-F4. */
static void keys_bounds_and_rights_count(void **state)
{
	struct registry *r = registry_new(3);
	const struct registry_use write = { 5, 1000, 1, REGISTRY_WRITE };
	uint64_t key = 5, at;
	struct region x;

	assert_int_equal(registry_add(r, OWNER, 0, &usual, true, &key), 0);
	assert_int_equal(registry_add(r, OWNER, 0, &usual, true, &key), ENOKEY);
	key = 0;
	assert_int_equal(registry_add(r, OWNER, 0, &usual, true, &key), 0);
	assert_non_null(look(r, OTHER, 200, 5, 1000, 50));
	assert_non_null(look(r, OTHER, 200, 0, 1050, 0));
	assert_null(look(r, OTHER, 200, 6, 1000, 50));
	assert_null(look(r, OTHER, 200, 5, 999, 1));
	assert_null(look(r, OTHER, 200, 5, 1001, 50));
	assert_null(look(r, OTHER, 200, 5, 1000, UINT64_MAX));
	assert_null(look(r, OTHER, 200, 5, UINT64_MAX, 50));
	assert_null(
		registry_begin(r, OTHER, OWNER, 200, WINDOW, &write, &x, &at));
	registry_free(r);
}

/* A key that was given again means the old region until the new one counts. */
static void a_key_can_be_used_again(void **state)
{
	struct registry *r = registry_new(3);
	struct region other = usual;
	uint64_t key = 5;

	assert_int_equal(registry_add(r, OWNER, 0, &usual, true, &key), 0);
	registry_end(r, OWNER, 200, key);
	other.base = 500;
	assert_int_equal(registry_add(r, OWNER, 200, &other, true, &key), 0);
	assert_non_null(look(r, OTHER, 299, key, 1000, 50));
	assert_null(look(r, OTHER, 300, key, 1000, 50));
	registry_free(r);
}

/* MPI-F4. */
static void holds_end_when_nothing_is_under_way(void **state)
{
	struct registry *r = registry_new(3);
	struct registered *x;
	uint64_t key = 0;

	assert_int_equal(registry_add(r, OWNER, 0, &usual, false, &key), 0);
	assert_int_equal(
		registry_take_ended(r, OWNER, 9999, WINDOW), UINT32_MAX);
	registry_end(r, OWNER, 1000, key);
	x = look(r, OTHER, 1099, key, 1000, 8);
	assert_non_null(x);
	assert_int_equal(
		registry_take_ended(r, OWNER, 9999, WINDOW), UINT32_MAX);
	registry_done(r, OWNER, OWNER, x, 1400);
	assert_int_equal(
		registry_take_ended(r, OWNER, 1499, WINDOW), UINT32_MAX);
	assert_int_equal(registry_take_ended(r, OWNER, 1500, WINDOW), 9);
	assert_int_equal(
		registry_take_ended(r, OWNER, 1500, WINDOW), UINT32_MAX);
	/* one that nobody uses: others might have begun a window later */
	assert_int_equal(registry_add(r, OWNER, 2000, &usual, false, &key), 0);
	registry_end(r, OWNER, 2000, key);
	assert_int_equal(
		registry_take_ended(r, OWNER, 2199, WINDOW), UINT32_MAX);
	assert_int_equal(registry_take_ended(r, OWNER, 2200, WINDOW), 9);
	registry_free(r);
}

TESTS(TEST(others_see_changes_a_window_later),
	TEST(keys_bounds_and_rights_count), TEST(a_key_can_be_used_again),
	TEST(holds_end_when_nothing_is_under_way))
