#include <string.h>

#include "testing/testing.h"
#include "topo/slimfly.h"
#include "topo/topo_testing.h"

static int try_to_make(struct slimfly *t, int64_t q, struct err *e)
{
	memset(t, 0, sizeof(*t));
	t->switches.topo.ops = &slimfly_ops;
	topo_defaults(&t->switches.topo);
	t->q = q;
	return slimfly_ops.init(&t->switches.topo, e);
}

static void make(struct slimfly *t, int64_t q)
{
	struct err e = { 0 };

	if (try_to_make(t, q, &e) || topo_look(&t->switches.topo, &e))
		fail_msg("%s", e.text);
}

/* NET-F20: degree (3q - d) / 2, and two hops to any other switch, for all prime
 * powers whose switches have 64 ports at most. */
static void diameter_is_two_for_any_prime_power(void **state)
{
	static const struct {
		uint32_t q, degree;
	} some[] = { { 3, 5 }, { 4, 6 }, { 5, 7 }, { 7, 11 }, { 8, 12 },
		{ 9, 13 }, { 11, 17 }, { 13, 19 }, { 16, 24 }, { 0, 0 } };
	struct slimfly t;

	for (int i = 0; some[i].q; i++) {
		uint32_t q = some[i].q, d = some[i].degree;
		double others = 2.0 * q * q - 1;

		make(&t, q);
		assert_int_equal(t.switches.plan.n, 2 * q * q);
		assert_int_equal(t.switches.topo.n_ports, d + (d + 1) / 2);
		assert_int_equal(t.switches.diameter, 2);
		assert_float_equal((float)t.switches.mean,
			(float)((d + 2 * (others - d)) / others), 1e-6F);
		switches_fini(&t.switches.topo);
	}
}

static void published_figures_come_out(void **state)
{
	struct slimfly t;

	make(&t, 5);
	assert_int_equal(t.switches.plan.n, 50);
	assert_int_equal(t.switches.topo.n_nodes, 200);
	assert_float_equal((float)t.switches.mean, 1.857F, 0.0005F);
	switches_fini(&t.switches.topo);
	make(&t, 19);
	assert_int_equal(t.switches.plan.n, 722);
	assert_float_equal((float)t.switches.mean, 1.960F, 0.0005F);
	switches_fini(&t.switches.topo);
}

static uint64_t one_rate(
	const struct topo_rates *k, uint32_t wire, uint64_t left, uint64_t of)
{
	(void)k;
	(void)wire;
	(void)left;
	(void)of;
	return 1000000000;
}

/* q = 5 has one shortest path for each pair: 13 pairs of switches on each
 * link, 16 pairs of nodes each. */
static void the_peak_keeps_the_busiest_link_busy(void **state)
{
	const struct topo_rates k = { one_rate };
	struct slimfly t;

	make(&t, 5);
	assert_int_equal(switches_peak(&t.switches.topo, &k),
		UINT64_C(1000000000) * 199 / (13 * 16));
	switches_fini(&t.switches.topo);
}

/* NET-F20 */
static void other_numbers_are_refused(void **state)
{
	static const int64_t none[] = { 6, 10, 12, 15, 21, 0 };
	struct slimfly t;

	for (int i = 0; none[i]; i++) {
		struct err e = { 0 };

		assert_int_equal(try_to_make(&t, none[i], &e), -1);
		assert_non_null(strstr(e.text, "not a prime power"));
		switches_fini(&t.switches.topo);
	}
}

static void too_many_ports_are_refused(void **state)
{
	struct err e = { 0 };
	struct slimfly t;

	assert_int_equal(try_to_make(&t, 47, &e), -1);
	assert_non_null(strstr(e.text, "ports"));
	switches_fini(&t.switches.topo);
}

TESTS(TEST(diameter_is_two_for_any_prime_power),
	TEST(published_figures_come_out),
	TEST(the_peak_keeps_the_busiest_link_busy),
	TEST(other_numbers_are_refused), TEST(too_many_ports_are_refused))
