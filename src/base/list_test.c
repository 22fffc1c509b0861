#include "base/list.h"
#include "testing/testing.h"

struct item {
	uint32_t digit;
	struct list_link link;
};

static uint32_t digits(const struct list *l)
{
	const struct list_link *before = NULL;
	uint32_t sum = 0;

	for (const struct list_link *x = l->first; x; x = x->next) {
		assert_ptr_equal(x->prev, before);
		before = x;
		sum = 10 * sum + LIST_ITEM(x, const struct item, link)->digit;
	}
	assert_ptr_equal(l->last, before);
	return sum;
}

static void a_list_keeps_its_order_wherever_one_leaves(void **state)
{
	struct item x[6];
	struct list l = { 0 };

	for (uint32_t i = 0; i < 6; i++) {
		x[i].digit = i + 1;
		list_push(&l, &x[i].link);
	}
	assert_int_equal(digits(&l), 123456);
	list_remove(&l, &x[2].link);
	list_remove(&l, &x[5].link);
	list_remove(&l, &x[0].link);
	assert_int_equal(digits(&l), 245);
	list_push(&l, &x[0].link);
	assert_int_equal(digits(&l), 2451);
	assert_ptr_equal(list_pop(&l), &x[1].link);
	assert_int_equal(digits(&l), 451);
	while (l.first)
		list_pop(&l);
	assert_int_equal(digits(&l), 0);
}

TESTS(TEST(a_list_keeps_its_order_wherever_one_leaves))
