/* Plans of faults: what is read, what is refused, what follows from them. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "link/faults.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"

enum { NODES = 16, LEAF = 16, TOP = 20 };

static struct fattree tree;

static int set_up(void **state)
{
	tree_make(&tree, &(struct tree_how){ .nodes = "16", .radix = "4" });
	return 0;
}

/* Lines separated by '|'. */
static void add(struct param_lines *l, const char *text)
{
	char copy[512], *s = copy, *next;

	snprintf(copy, sizeof(copy), "%s", text);
	for (; *text && s; s = next) {
		next = strchr(s, '|');
		if (next)
			*next++ = '\0';
		param_lines_add(l, s, "here:1:2");
	}
}

static int try(struct fault_plan *p, const char *rates, const char *events,
	struct err *e)
{
	struct fault_params text = { 0 };
	int failed;

	add(&text.bit_errors, rates);
	add(&text.events, events);
	failed = fault_plan_read(p, &text, &tree.topo, e);
	param_lines_free(&text.bit_errors);
	param_lines_free(&text.events);
	return failed;
}

static struct fault_plan read(const char *rates, const char *events)
{
	struct fault_plan p = { 0 };
	struct err e = { 0 };

	if (try(&p, rates, events, &e))
		fail_msg("%s", e.text);
	return p;
}

static void refuse(const char *rates, const char *events, const char *why)
{
	struct fault_plan p = { 0 };
	struct err e = { 0 };

	assert_int_equal(try(&p, rates, events, &e), -1);
	assert_int_equal(e.code, 2);
	if (!strstr(e.text, why) || strncmp(e.text, "here:1:2: ", 10) != 0)
		fail_msg("%s, and not %s", e.text, why);
	fault_plan_free(&p);
}

static void rates_are_exact(void **state)
{
	static const struct {
		const char *text;
		uint64_t rate;
	} some[] = {
		{ "1e-9", 1000000000 },
		{ "2.5e-7", 250000000000 },
		{ "0.01", 10000000000000000 },
		{ "0.001", 1000000000000000 },
		{ "1e-18", 1 },
		{ "0.10e-17", 1 },
		{ "0", 0 },
		{ "12e-12", 12000000 },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct fault_plan p = read(some[i].text, "");

		assert_int_equal(p.rate[0], some[i].rate);
		assert_int_equal(p.rate[3], some[i].rate);
		assert_int_equal(fault_plan_is_empty(&p), !some[i].rate);
		fault_plan_free(&p);
	}
}

static void a_class_has_its_own_rate(void **state)
{
	struct fault_plan p = read("1e-9|stage 1 up 2e-9", "");

	assert_int_equal(p.rate[fattree_wire(0, FATTREE_UP)], 1000000000);
	assert_int_equal(p.rate[fattree_wire(1, FATTREE_UP)], 2000000000);
	assert_int_equal(p.rate[fattree_wire(1, FATTREE_DOWN)], 1000000000);
	fault_plan_free(&p);
}

static void qsn_f75_fibres_have_a_rate_of_their_own(void **state)
{
	struct fault_plan p;

	tree_make(&tree,
		&(struct tree_how){ .nodes = "64", .length = "5x20x13" });
	p = read("1e-9|fibre 2e-9", "");
	for (uint32_t i = 0; i < tree.topo.n_wires; i++)
		assert_int_equal(
			p.rate[i], i / 2 == 1 ? 2000000000u : 1000000000u);
	fault_plan_free(&p);
	p = read("fibre 3e-9", "");
	for (uint32_t i = 0; i < tree.topo.n_wires; i++)
		assert_int_equal(p.rate[i], i / 2 == 1 ? 3000000000u : 0);
	fault_plan_free(&p);
	refuse("fiber 1e-9", "", "did you mean fibre?");
	tree_make(&tree, &(struct tree_how){ .nodes = "16" });
	refuse("fibre 1e-9", "", "unknown class of links");
}

static void wrong_lines_are_refused(void **state)
{
	refuse("1e-19", "", "not a multiple of 1e-18");
	refuse("0.02", "", "out of range");
	refuse("1e-1", "", "out of range");
	refuse("1e-", "", "is not a bit error rate");
	refuse("e-9", "", "is not a bit error rate");
	refuse("-1", "", "is not a bit error rate");
	refuse("1e9", "", "out of range");
	refuse("stage 1 op 1e-9", "", "did you mean stage 1 up?");
	refuse("", "1 us", "want a time");
	refuse("", "1 xs node 3 dies", "is not a time");
	refuse("", "1 us nod 3 dies", "did you mean node?");
	refuse("", "1 us node 3 dis", "want dies or returns");
	refuse("", "1 us node 16 dies", "want 0 to 15");
	refuse("", "1 us switch 3.1 dies",
		"there is no switch \"3.1\" (want 1.0 to 2.3)");
	refuse("", "1 us switch 1.4 dies", "there is no switch");
	refuse("", "1 us switch 1.0 up 1 dies", "unexpected word \"up\"");
	refuse("", "1 us link 1.0 dies", "the port of the link is missing");
	refuse("", "1 us link 1.0 up 9 dies", "unknown port");
	refuse("", "1 us node 3 returns", "is not dead at this time");
	refuse("", "1 us node 3 dies|2 us node 3 dies", "dead already");
	refuse("", "1 us node 3 dies|1 us node 3 returns",
		"another event at this time");
	/* one wire, named from both its ends */
	refuse("", "1 us link 3 dies|2 us link 1.0 down 3 dies",
		"dead already");
}

/* Whether a directed link is dead at a time; times must not go back. */
static bool is_dead(struct faults *f, router_id r, port_id p, sim_time us)
{
	sim_time t = us * 1000 * SIM_NS;

	return faults_cut(f, topo_link(&f->links, r, p), t, t + 1);
}

static void both_directions_die_and_return(void **state)
{
	struct fault_plan p =
		read("", "10 us link 1.0 up 2 dies|20us link 1.0 up 2 returns");
	struct faults *f = faults_new(&p, &tree.topo, 1, 1);

	assert_int_equal(f->n_outages, 2);
	assert_false(is_dead(f, LEAF, 6, 9));
	assert_true(is_dead(f, LEAF, 6, 10));
	assert_true(is_dead(f, LEAF, 6, 19));
	assert_false(is_dead(f, LEAF, 6, 20));
	assert_true(is_dead(f, TOP + 2, 0, 15));
	assert_false(is_dead(f, TOP + 2, 1, 15));
	assert_false(is_dead(f, LEAF, 5, 15));
	faults_free(f);
	fault_plan_free(&p);
}

/* A link that its own death, and those of both ends, overlap on. */
static void outages_that_overlap_are_one(void **state)
{
	struct fault_plan p =
		read("", "10 us link 1.0 up 2 dies|20 us link 1.0 up 2 returns|"
			 "15 us switch 1.0 dies|30 us switch 1.0 returns|"
			 "30 us switch 2.2 dies|40 us switch 2.2 returns|"
			 "50 us switch 2.2 dies");
	struct faults *f = faults_new(&p, &tree.topo, 1, 1);

	for (sim_time us = 0; us < 60; us++)
		assert_int_equal(is_dead(f, LEAF, 6, us),
			(us >= 10 && us < 40) || us >= 50);
	for (sim_time us = 0; us < 60; us++)
		assert_int_equal(is_dead(f, LEAF, 0, us), us >= 15 && us < 30);
	assert_true(is_dead(f, 3, 0, 15));
	assert_false(is_dead(f, 4, 0, 15));
	faults_free(f);
	fault_plan_free(&p);
}

/* Geometric: the mean, and as much of them below it as there should be. */
static void gaps_are_as_long_as_the_rate_says(void **state)
{
	enum { N = 20000 };
	struct fault_plan p = read("1e-6|node up 0", "");
	struct faults *f = faults_new(&p, &tree.topo, 7, 1);
	struct faults *g = faults_new(&p, &tree.topo, 8, 1);
	uint32_t wire = fattree_wire(1, FATTREE_UP), below = 0, same = 0, i;
	uint32_t leaf = topo_link(&f->links, LEAF, 0);
	uint64_t sum = 0;

	for (i = 0; i < N; i++) {
		uint64_t gap = faults_gap(f, leaf + 4, wire, i);

		sum += gap;
		below += gap < 1000000;
		same += gap == faults_gap(f, leaf + 5, wire, i);
		same += gap == faults_gap(g, leaf + 4, wire, i);
		assert_int_equal(gap, faults_gap(f, leaf + 4, wire, i));
	}
	assert_in_range(sum / N, 980000, 1020000);
	assert_in_range(below, N * 622 / 1000, N * 642 / 1000); /* 1 - 1/e */
	assert_true(same < 5);
	assert_true(faults_gap(f, 0, fattree_wire(0, FATTREE_UP), 0) >
		    UINT64_C(1) << 60);
	faults_free(f);
	faults_free(g);
	fault_plan_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_exact),
		cmocka_unit_test(a_class_has_its_own_rate),
		cmocka_unit_test(qsn_f75_fibres_have_a_rate_of_their_own),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(both_directions_die_and_return),
		cmocka_unit_test(outages_that_overlap_are_one),
		cmocka_unit_test(gaps_are_as_long_as_the_rate_says),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
