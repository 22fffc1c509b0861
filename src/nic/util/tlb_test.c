#include "nic/util/tlb.h"
#include "testing/testing.h"

static bool has(struct tlb *t, uint32_t space, uint64_t page)
{
	uint64_t frame = 0;
	bool is_in = tlb_look(t, space, page, &frame);

	if (is_in)
		assert_int_equal(frame, 1000 * space + page);
	return is_in;
}

static void put(struct tlb *t, uint32_t space, uint64_t page)
{
	tlb_put(t, space, page, 1000 * space + page);
}

static void what_was_used_least_recently_goes(void **state)
{
	struct tlb t;

	tlb_init(&t, 4, 4);
	for (uint64_t i = 0; i < 4; i++)
		put(&t, 0, i);
	for (uint64_t i = 0; i < 4; i++)
		assert_true(has(&t, 0, i));
	/* 1 is the eldest now */
	assert_true(has(&t, 0, 0));
	put(&t, 0, 9);
	assert_false(has(&t, 0, 1));
	assert_true(has(&t, 0, 2));
	assert_true(has(&t, 0, 3));
	assert_true(has(&t, 0, 0));
	assert_true(has(&t, 0, 9));
	assert_int_equal(t.hits, 9);
	assert_int_equal(t.misses, 1);
	tlb_fini(&t);
}

/* A set takes what falls into it, though others are empty. */
static void pages_of_a_set_push_each_other_out(void **state)
{
	struct tlb t;

	tlb_init(&t, 16, 2);
	for (uint64_t i = 0; i < 3; i++)
		put(&t, 0, 5 + 8 * i);
	put(&t, 0, 6);
	assert_false(has(&t, 0, 5));
	assert_true(has(&t, 0, 13));
	assert_true(has(&t, 0, 21));
	assert_true(has(&t, 0, 6));
	tlb_fini(&t);
}

/* A sweep over one page more than there are never hits, one less always. */
static void a_sweep_beyond_its_reach_misses_every_time(void **state)
{
	struct tlb t;

	for (uint32_t n = 63; n <= 65; n++) {
		tlb_init(&t, 64, 64);
		for (uint32_t round = 0; round < 3; round++)
			for (uint64_t i = 0; i < n; i++)
				if (!has(&t, 0, i))
					put(&t, 0, i);
		assert_int_equal(t.misses, n > 64 ? 3 * n : n);
		tlb_fini(&t);
	}
}

static void spaces_are_apart(void **state)
{
	struct tlb t;

	tlb_init(&t, 8, 4);
	put(&t, 1, 7);
	put(&t, 2, 7);
	assert_true(has(&t, 1, 7));
	assert_true(has(&t, 2, 7));
	assert_false(has(&t, 3, 7));
	/* a page that is put in again is one entry */
	tlb_put(&t, 1, 7, 1007);
	assert_int_equal(tlb_drop(&t, 1, 0, UINT64_MAX), 1);
	assert_false(has(&t, 1, 7));
	assert_true(has(&t, 2, 7));
	tlb_fini(&t);
}

static void pages_are_dropped_by_range(void **state)
{
	struct tlb t;

	tlb_init(&t, 32, 4);
	for (uint64_t i = 10; i < 30; i++)
		put(&t, 0, i);
	assert_int_equal(tlb_drop(&t, 0, 15, 5), 5);
	assert_int_equal(tlb_drop(&t, 0, 15, 5), 0);
	for (uint64_t i = 10; i < 30; i++)
		assert_int_equal(has(&t, 0, i), i < 15 || i >= 20);
	tlb_fini(&t);
}

static void one_of_no_entries_never_hits(void **state)
{
	struct tlb t;

	tlb_init(&t, 0, 4);
	put(&t, 0, 1);
	assert_false(has(&t, 0, 1));
	assert_int_equal(tlb_drop(&t, 0, 0, 9), 0);
	assert_int_equal(tlb_memory(&t), 0);
	tlb_fini(&t);
}

/* As if it had been looked for. */
static void a_page_is_used_at_its_place(void **state)
{
	struct tlb_entry *x;
	struct tlb t;

	tlb_init(&t, 2, 2);
	assert_null(tlb_place(&t, 0, 1));
	put(&t, 0, 1);
	put(&t, 0, 2);
	x = tlb_place(&t, 0, 1);
	assert_true(tlb_touch(&t, x, 0, 1));
	assert_false(tlb_touch(&t, x, 1, 1));
	assert_false(tlb_touch(&t, x, 0, 2));
	put(&t, 0, 3); /* in place of 2 */
	assert_true(tlb_touch(&t, x, 0, 1));
	assert_false(has(&t, 0, 2));
	assert_int_equal(tlb_drop(&t, 0, 1, 1), 1);
	assert_false(tlb_touch(&t, x, 0, 1));
	assert_null(tlb_place(&t, 0, 1));
	tlb_fini(&t);
}

TESTS(TEST(what_was_used_least_recently_goes),
	TEST(pages_of_a_set_push_each_other_out),
	TEST(a_sweep_beyond_its_reach_misses_every_time),
	TEST(spaces_are_apart), TEST(pages_are_dropped_by_range),
	TEST(one_of_no_entries_never_hits), TEST(a_page_is_used_at_its_place))
