/* What a place remembers of operations under way. */
#include "coll/contexts.h"
#include "testing/testing.h"

static void an_operation_is_over_when_all_inputs_have_come(void **state)
{
	struct coll_contexts x = { 0 };
	struct coll_context *c;

	contexts_add(&x,
		&(struct coll_context){ .who = 7, .number = 1, .waits = 0x15 });
	c = contexts_find(&x, 7, 1, 2);
	assert_non_null(c);
	assert_false(contexts_come(c, 2));
	assert_false(contexts_come(c, 0));
	assert_true(contexts_come(c, 4));
	contexts_end(&x, c);
	assert_int_equal(x.n, 0);
	mem_free(x.v);
}

static void an_input_comes_once(void **state)
{
	struct coll_contexts x = { 0 };

	contexts_add(&x,
		&(struct coll_context){ .who = 7, .number = 1, .waits = 6 });
	contexts_come(contexts_find(&x, 7, 1, 1), 1);
	assert_null(contexts_find(&x, 7, 1, 1));
	assert_non_null(contexts_find(&x, 7, 1, 2));
	mem_free(x.v);
}

/* As of a broadcast that passes a switch on its way up and on its way down. */
static void operations_are_told_apart_by_whose_number_and_input(void **state)
{
	struct coll_contexts x = { 0 };

	for (uint32_t i = 0; i < 40; i++)
		contexts_add(&x, &(struct coll_context){ .who = i / 4,
					 .number = i / 2 % 2,
					 .waits = i % 2 ? 0xf0 : 0x0f,
					 .back = i });
	for (uint32_t i = 0; i < 40; i++)
		assert_int_equal(
			contexts_find(&x, i / 4, i / 2 % 2, i % 2 ? 4 : 3)
				->back,
			i);
	assert_null(contexts_find(&x, 10, 0, 0));
	assert_null(contexts_find(&x, 0, 2, 0));
	assert_null(contexts_find(&x, 0, 0, 8));
	mem_free(x.v);
}

static void what_began_before_a_time_is_forgotten(void **state)
{
	struct coll_contexts x = { 0 };

	for (uint32_t i = 0; i < 10; i++)
		contexts_add(&x, &(struct coll_context){ .who = i,
					 .since = i % 2 ? 100 : 200,
					 .waits = 1 });
	contexts_forget(&x, 200);
	assert_int_equal(x.n, 5);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(!contexts_find(&x, i, 0, 0), i % 2);
	mem_free(x.v);
}

TESTS(TEST(an_operation_is_over_when_all_inputs_have_come),
	TEST(an_input_comes_once),
	TEST(operations_are_told_apart_by_whose_number_and_input),
	TEST(what_began_before_a_time_is_forgotten))
