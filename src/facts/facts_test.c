#include "facts/facts.h"

#include "meas/hist.h"
#include "testing/testing.h"

static void values_are_found_by_their_paths(void **state)
{
	struct facts f;
	double x;

	facts_init(&f);
	facts_count(&f, "nodes", 4);
	facts_group(&f, "latency");
	facts_real(&f, "mean_ns", 1.5);
	facts_end(&f);
	facts_text(&f, "name", "torus");
	assert_int_equal(facts_find(&f.root, "nodes")->is.count, 4);
	assert_true(fact_number(facts_find(&f.root, "latency.mean_ns"), &x));
	assert_true(x == 1.5);
	assert_false(fact_number(facts_find(&f.root, "name"), &x));
	assert_null(facts_find(&f.root, "latency.mean"));
	assert_null(facts_find(&f.root, "node"));
	assert_int_equal(fact_length(&f.root), 3);
	facts_fini(&f);
}

static void values_that_are_not_numbers_are_null(void **state)
{
	struct hist h = { 0 };
	struct facts f;

	facts_init(&f);
	assert_int_equal(facts_real(&f, "a", 0.0 / 0.0)->type, FACT_NULL);
	assert_int_equal(facts_text(&f, "b", NULL)->type, FACT_NULL);
	assert_int_equal(facts_hist(&f, "c", &h, "packets")->type, FACT_NULL);
	facts_fini(&f);
}

/* What one of several processes has found. */
static void find_some(struct facts *f, uint32_t k)
{
	struct hist h = { 0 };

	facts_init(f);
	facts_count(f, "packets", 10 + k);
	facts_int(f, "margin_ps", 5 - (int64_t)k)->merge = FACT_MIN;
	facts_real(f, "end_ns", k)->merge = FACT_MAX;
	facts_text(f, "ending", "finished");
	hist_add(&h, 1000 * (1 + (int64_t)k));
	facts_hist(f, "latency_ns", &h, "messages");
	facts_list(f, "links");
	facts_group(f, NULL);
	facts_count(f, "site", k);
	facts_end(f);
	facts_end(f);
	if (k)
		facts_count(f, "only", k);
	if (k)
		facts_real(f, "known", 7);
	else
		facts_null(f, "known");
}

static void facts_of_processes_merge_by_their_rules(void **state)
{
	struct facts a, b;
	const struct fact *x;

	find_some(&a, 0);
	find_some(&b, 2);
	facts_merge(&a, &b);
	assert_int_equal(facts_find(&a.root, "packets")->is.count, 22);
	assert_int_equal(facts_find(&a.root, "margin_ps")->is.integer, 3);
	assert_true(facts_find(&a.root, "end_ns")->is.real == 2);
	assert_string_equal(facts_find(&a.root, "ending")->is.text, "finished");
	assert_true(facts_find(&a.root, "latency_ns.mean")->is.real == 2);
	assert_true(facts_find(&a.root, "latency_ns.max")->is.real == 3);
	assert_int_equal(
		facts_find(&a.root, "latency_ns.messages")->is.count, 2);
	x = facts_find(&a.root, "links");
	assert_int_equal(fact_length(x), 2);
	assert_int_equal(facts_find(x->first, "site")->is.count, 0);
	assert_int_equal(facts_find(x->last, "site")->is.count, 2);
	assert_int_equal(facts_find(&a.root, "only")->is.count, 2);
	assert_true(facts_find(&a.root, "known")->is.real == 7);
	facts_fini(&a);
	facts_fini(&b);
}

/* The other way round, what only the first one knows stays. */
static void what_one_process_knows_is_kept(void **state)
{
	struct facts a, b;

	find_some(&a, 2);
	find_some(&b, 0);
	facts_merge(&a, &b);
	assert_int_equal(facts_find(&a.root, "only")->is.count, 2);
	assert_true(facts_find(&a.root, "known")->is.real == 7);
	assert_int_equal(facts_find(&a.root, "margin_ps")->is.integer, 3);
	assert_true(facts_find(&a.root, "end_ns")->is.real == 2);
	facts_fini(&a);
	facts_fini(&b);
}

TESTS(TEST(values_are_found_by_their_paths),
	TEST(values_that_are_not_numbers_are_null),
	TEST(facts_of_processes_merge_by_their_rules),
	TEST(what_one_process_knows_is_kept))
