#include "base/slots.h"
#include "testing/testing.h"

struct item {
	struct slot slot;
	uint64_t value;
};

static struct item *at(const struct slots *s, uint32_t id)
{
	return slots_at(s, id);
}

static void numbers_begin_with_1_and_0_is_none(void **state)
{
	struct slots s;

	slots_init(&s, sizeof(struct item));
	assert_null(slots_find(&s, 0));
	assert_null(slots_find(&s, 1));
	for (uint32_t i = 1; i <= 100; i++)
		assert_int_equal(slots_take(&s), i);
	assert_null(slots_find(&s, 0));
	assert_non_null(slots_find(&s, 100));
	assert_null(slots_find(&s, 101));
	assert_null(slots_find(&s, UINT32_MAX));
	assert_int_equal(s.used, 100);
	slots_fini(&s);
}

static void what_was_given_last_is_taken_first(void **state)
{
	struct slots s;

	slots_init(&s, sizeof(struct item));
	for (uint32_t i = 0; i < 10; i++)
		slots_take(&s);
	slots_give(&s, 3);
	slots_give(&s, 7);
	assert_null(slots_find(&s, 7));
	assert_int_equal(slots_take(&s), 7);
	assert_int_equal(slots_take(&s), 3);
	assert_int_equal(slots_take(&s), 11);
	slots_fini(&s);
}

static void a_new_item_is_empty_and_growing_keeps_the_others(void **state)
{
	struct slots s;

	slots_init(&s, sizeof(struct item));
	for (uint32_t i = 1; i <= 1000; i++) {
		uint32_t id = slots_take(&s);

		assert_int_equal(at(&s, id)->value, 0);
		at(&s, id)->value = 3 * id;
		if (i % 7 == 0) {
			slots_give(&s, id);
			assert_int_equal(slots_take(&s), id);
			assert_int_equal(at(&s, id)->value, 0);
			at(&s, id)->value = 3 * id;
		}
	}
	for (uint32_t i = 1; i <= 1000; i++)
		assert_int_equal(at(&s, i)->value, 3 * i);
	slots_fini(&s);
	assert_int_equal(slots_memory(&s), 0);
}

/* The numbers of a list, as digits. */
static uint64_t digits(const struct slots *s, const struct slot_list *l)
{
	uint32_t before = 0;
	uint64_t sum = 0;

	for (uint32_t id = l->first; id; id = at(s, id)->slot.next) {
		assert_int_equal(at(s, id)->slot.prev, before);
		before = id;
		sum = 10 * sum + id;
	}
	assert_int_equal(l->last, before);
	return sum;
}

static void a_list_keeps_its_order_wherever_one_leaves(void **state)
{
	struct slot_list l = { 0 }, other = { 0 };
	struct slots s;

	slots_init(&s, sizeof(struct item));
	for (uint32_t i = 0; i < 6; i++)
		slots_push(&s, &l, slots_take(&s));
	assert_int_equal(digits(&s, &l), 123456);
	slots_remove(&s, &l, 3);
	slots_push(&s, &other, 3);
	slots_remove(&s, &l, 6);
	slots_push(&s, &other, 6);
	assert_int_equal(slots_pop(&s, &l), 1);
	assert_int_equal(digits(&s, &l), 245);
	slots_push(&s, &l, 1);
	assert_int_equal(digits(&s, &l), 2451);
	assert_int_equal(digits(&s, &other), 36);
	while (l.first)
		slots_give(&s, slots_pop(&s, &l));
	assert_int_equal(digits(&s, &l), 0);
	assert_int_equal(s.used, 2);
	slots_fini(&s);
}

TESTS(TEST(numbers_begin_with_1_and_0_is_none),
	TEST(what_was_given_last_is_taken_first),
	TEST(a_new_item_is_empty_and_growing_keeps_the_others),
	TEST(a_list_keeps_its_order_wherever_one_leaves))
