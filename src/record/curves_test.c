#include "record/curves.h"

#include <string.h>

#include "testing/testing.h"

static struct db *new_sweep(void)
{
	static const struct record_inputs none;
	const struct curves_about about = {
		.what = "random", .command = "weft sweep", .inputs = &none
	};
	struct err e = { 0 };
	struct db *d = curves_open(NULL, &about, &e);

	assert_non_null(d);
	return d;
}

static struct curves_point point(const char *load, const char *seed)
{
	struct curves_point p = { .curve = "torus" };

	snprintf(p.name, sizeof(p.name), "torus %s %s", load, seed);
	snprintf(p.group, sizeof(p.group), "torus %s", load);
	snprintf(p.x, sizeof(p.x), "%s", load);
	snprintf(p.seed, sizeof(p.seed), "%s", seed);
	return p;
}

/* Its own, or the next one. */
static int64_t id_of(struct db *d, const struct curves_point *p)
{
	int64_t id = curves_id(d, p);

	return id ? id : curves_last_id(d) + 1;
}

/* A run whose only figure is a latency; of an error, none. */
static void put(struct db *d, const struct curves_point *p, double latency,
	const char *error)
{
	static struct batch_result r;
	struct err e = { 0 };

	memset(&r, 0, sizeof(r));
	if (error)
		err_set(&r.e, "%s", error);
	r.ending = LOAD_SATURATED;
	r.n_figures = error ? 0 : 1;
	snprintf(r.figure[0].name, sizeof(r.figure[0].name), "latency_ns");
	r.figure[0].value = latency;
	assert_int_equal(curves_put(d, p, id_of(d, p), &r, &e), 0);
}

/* A figure of a group; false where it has none. */
static bool get(struct db *d, const char *group, const char *figure,
	struct curves_value *v)
{
	const struct fact *x;
	struct err e = { 0 };
	struct facts f;
	bool is;

	*v = (struct curves_value){ 0 };
	facts_init(&f);
	curves_facts(&f, d, group, &e);
	x = facts_find(&f.root, figure);
	is = x;
	if (x) {
		v->n = facts_find(x, "seeds")->is.count;
		fact_number(facts_find(x, "mean"), &v->mean);
		fact_number(facts_find(x, "half_width_95"), &v->half);
	}
	facts_fini(&f);
	return is;
}

static void figures_are_averages_over_the_seeds_of_a_group(void **state)
{
	struct curves_point a = point("0.1", "1"), b = point("0.1", "2");
	struct curves_point c = point("0.2", "1");
	struct db *d = new_sweep();
	struct curves_value v;

	put(d, &a, 10, NULL);
	put(d, &b, 14, NULL);
	put(d, &c, 50, NULL);
	assert_true(get(d, a.group, "latency_ns", &v));
	assert_int_equal(v.n, 2);
	assert_true(v.mean == 12);
	/* Student's t of one degree of freedom, times sqrt(8 / 2) */
	assert_true(v.half > 25.41 && v.half < 25.42);
	assert_true(get(d, c.group, "latency_ns", &v));
	assert_true(v.n == 1 && v.mean == 50 && v.half == 0);
	assert_false(get(d, a.group, "hops", &v));
	assert_false(get(d, "torus 0.3", "latency_ns", &v));
	db_close(d);
}

static void a_point_that_failed_is_run_again(void **state)
{
	struct curves_point a = point("0.1", "1"), b = point("0.2", "1");
	enum load_ending ending = LOAD_FINISHED;
	struct db *d = new_sweep();
	struct curves_value v;

	assert_false(curves_has(d, &a, &ending));
	put(d, &a, 0, "no memory");
	assert_false(curves_has(d, &a, &ending));
	put(d, &b, 0, "no memory");
	put(d, &a, 7, NULL);
	assert_true(curves_id(d, &a) == 1 && curves_id(d, &b) == 2);
	assert_true(curves_has_id(d, 2) && !curves_has_id(d, 3));
	assert_true(curves_has(d, &a, &ending));
	assert_int_equal(ending, LOAD_SATURATED);
	assert_true(get(d, a.group, "latency_ns", &v));
	assert_true(v.n == 1 && v.mean == 7);
	db_close(d);
}

static void equal_values_have_no_spread(void **state)
{
	struct curves_value v = curves_spread(3, 0.1, 3 * 0.1 * 0.1);

	assert_true(v.n == 3 && v.mean == 0.1 && v.half == 0);
}

TESTS(TEST(figures_are_averages_over_the_seeds_of_a_group),
	TEST(a_point_that_failed_is_run_again),
	TEST(equal_values_have_no_spread))
