/* Formulas over figures of experiments. */
#include "paper/formula.h"

#include <string.h>

#include "paper/paper.h"
#include "testing/testing.h"

static const struct paper_experiment experiments[] = {
	{ .name = "one" },
	{ .name = "two-4" },
	{ .name = "ten" },
};

/* one.x is 1, two-4.x is 2, ten.x is 10; others have no value. */
static int look_up(void *arg, const struct paper_term *t, double *value)
{
	static const double values[] = { 1, 2, 10 };

	*value = values[t->experiment];
	return strcmp(t->figure, "x") ? -1 : 0;
}

static const char *read(struct paper_formula *m, const char *text)
{
	*m = (struct paper_formula){ 0 };
	return paper_formula_read(m, text, experiments, 3);
}

static double value_of(const char *text)
{
	struct paper_formula m;
	double value = 0;

	assert_null(read(&m, text));
	assert_true(paper_formula_value(&m, look_up, NULL, &value));
	paper_formula_fini(&m);
	return value;
}

static void values_are_computed_as_they_are_written(void **state)
{
	assert_float_equal(value_of("two-4.x"), 2, 1e-12);
	assert_float_equal(value_of("ten.x - two-4.x - one.x"), 7, 1e-12);
	assert_float_equal(value_of("ten.x - (two-4.x - one.x)"), 9, 1e-12);
	assert_float_equal(value_of("ten.x / two-4.x * 100"), 500, 1e-12);
	assert_float_equal(value_of("one.x + two-4.x*ten.x"), 21, 1e-12);
	assert_float_equal(value_of("(ten.x - one.x)/(two-4.x + 1)"), 3, 1e-12);
}

static void the_least_of_several_is_taken(void **state)
{
	assert_float_equal(value_of("least(ten.x)"), 10, 1e-12);
	assert_float_equal(value_of("least(ten.x, one.x, two-4.x)"), 1, 1e-12);
	assert_float_equal(
		value_of("least(ten.x / 4, 2 * least(2, ten.x) - 1)"), 2.5,
		1e-12);
}

static void a_figure_that_is_missing_leaves_no_value(void **state)
{
	struct paper_formula m;
	double value;

	assert_null(read(&m, "ten.x - one.y"));
	assert_false(paper_formula_value(&m, look_up, NULL, &value));
	assert_string_equal(paper_formula_term(&m, 1)->figure, "y");
	assert_null(paper_formula_term(&m, 2));
	paper_formula_fini(&m);
}

static void what_is_no_formula_is_refused(void **state)
{
	static const char *const bad[] = { "", "one", "one.", "one.x two-4.x",
		"three.x", "one.x -", "(one.x", "least(one.x", "least()",
		"one.x)", "-", "one.x % 2",
		"((((((((((((((((((1))))))))))))))))))",
		"one.a_name_that_is_longer_than_any_figure_can_be" };
	struct paper_formula m;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_non_null(read(&m, bad[i]));
		paper_formula_fini(&m);
	}
}

TESTS(TEST(values_are_computed_as_they_are_written),
	TEST(the_least_of_several_is_taken),
	TEST(a_figure_that_is_missing_leaves_no_value),
	TEST(what_is_no_formula_is_refused))
