/* Links that train when they come up, and those that cannot. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/param_testing.h"
#include "link/faults.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"

enum { LEAF = 16, TOP = 20, UP = 4, BIT = 750, WIRES = 32 };

static struct fattree tree;

static int set_up(void **state)
{
	tree_make(&tree, &(struct tree_how){ .nodes = "16", .radix = "4" });
	return 0;
}

static void set_lines(struct fault_plan *p)
{
	*p = (struct fault_plan){ .bit = BIT };
	param_table_defaults(training_params_table, &p->training);
	p->training.lines = TRAINING_LINES;
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

static int try(struct fault_plan *p, const char *events, const char *lines,
	bool is_cold, struct err *e)
{
	struct fault_params text = { .cold_start = is_cold };
	int failed;

	add(&text.events, events);
	add(&text.lines, lines);
	failed = fault_plan_read(p, &text, &tree.topo, e);
	param_lines_free(&text.events);
	param_lines_free(&text.lines);
	return failed;
}

/* The plan is freed with what it becomes. */
static struct faults *make(const char *events, const char *lines, bool is_cold)
{
	struct fault_plan p;
	struct faults *f;
	struct err e = { 0 };

	set_lines(&p);
	if (try(&p, events, lines, is_cold, &e))
		fail_msg("%s", e.text);
	f = faults_new(&p, &tree.topo, 1, 1);
	fault_plan_free(&p);
	return f;
}

static uint32_t link_at(router_id r, port_id p)
{
	struct topo_links l = topo_links(&tree.topo);

	return topo_link(&l, r, p);
}

static void is(const struct faults *f, uint32_t link, sim_time t,
	enum fault_state state)
{
	assert_int_equal(faults_state(f, link, t), state);
}

static void qsn_f74_a_link_that_returns_trains_first(void **state)
{
	struct faults *f = make("10 us link 1.0 up 2 dies|"
				"20 us link 1.0 up 2 returns",
		"", false);
	uint32_t link = link_at(LEAF, UP + 2), far = link_at(TOP + 2, 0);
	sim_time up = 20 * US + f->trainings.time;

	assert_true(f->trainings.time > 10 * US);
	assert_int_equal(f->trainings.n, 1);
	assert_int_equal(f->trainings.n_untrained, 0);
	assert_in_range(f->trainings.margin, 150, 200);
	for (; link; link = link == far ? 0 : far) {
		is(f, link, 10 * US - 1, FAULT_UP);
		is(f, link, 10 * US, FAULT_DOWN);
		is(f, link, 20 * US - 1, FAULT_DOWN);
		is(f, link, 20 * US, FAULT_TRAINING);
		is(f, link, up - 1, FAULT_TRAINING);
		is(f, link, up, FAULT_UP);
		/* and carries nothing until then */
		assert_true(faults_cut(f, link, up - 2, up - 1));
		assert_false(faults_cut(f, link, up, up + 1));
	}
	faults_free(f);
}

/* A switch that returns trains all its links; one of them dies meanwhile. */
static void a_link_may_die_again_while_it_trains(void **state)
{
	struct faults *f = make("10 us switch 1.0 dies|"
				"20 us switch 1.0 returns|"
				"25 us link 1.0 up 0 dies|"
				"50 us link 1.0 up 0 returns",
		"", false);
	uint32_t link = link_at(LEAF, UP);
	sim_time time = f->trainings.time;

	assert_int_equal(f->trainings.n, 8 + 1);
	is(f, link + 1, 20 * US + time, FAULT_UP);
	is(f, link, 20 * US + time, FAULT_DOWN);
	is(f, link, 50 * US - 1, FAULT_DOWN);
	is(f, link, 50 * US, FAULT_TRAINING);
	is(f, link, 50 * US + time, FAULT_UP);
	faults_free(f);
}

static void qsn_f74_a_link_that_cannot_be_trained_stays_down(void **state)
{
	static const char *const bad[] = {
		"link 1.0 up 1 line 3 skew 900 ps",
		"link 1.0 up 1 line 3 skew -2 ns",
		"link 1.0 up 1 line 3 closed",
	};
	uint32_t link = link_at(LEAF, UP + 1), far = link_at(TOP + 1, 0), i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct faults *f = make("", bad[i], false);

		assert_int_equal(f->trainings.n_untrained, 1);
		assert_int_equal(f->trainings.untrained[0].link, link);
		assert_int_equal(f->trainings.untrained[0].lines, 1u << 3);
		is(f, link, 0, FAULT_DOWN);
		is(f, far, 0, FAULT_DOWN); /* nor the other direction */
		is(f, link, SIM_NEVER - 1, FAULT_DOWN);
		is(f, link + 1, 0, FAULT_UP);
		assert_true(faults_cut(f, link, 0, 1));
		faults_free(f);
	}
	/* the same the other way round: it is the far end that cannot */
	{
		struct faults *f =
			make("", "link 2.1 down 0 line 5 closed", false);

		assert_int_equal(f->trainings.untrained[0].link, far);
		is(f, link, 0, FAULT_DOWN);
		is(f, far, 0, FAULT_DOWN);
		faults_free(f);
	}
	/* within the taps it was trained before the run */
	for (i = 0; i < 2; i++) {
		struct faults *f = make(i ? "5us link 1.0 up 1 dies|"
					    "9us link 1.0 up 1 returns"
					  : "",
			"link 1.0 up 1 line control skew 560 ps", false);

		assert_int_equal(f->trainings.n_untrained, 0);
		is(f, link, 0, FAULT_UP);
		is(f, link, 9 * US, i ? FAULT_TRAINING : FAULT_UP);
		is(f, link, 50 * US, FAULT_UP);
		faults_free(f);
	}
}

static void qsn_f73_a_link_without_its_clock_stays_down(void **state)
{
	struct faults *f = make("10 us node 7 dies|20 us node 7 returns",
		"link 7 line clock closed", false);

	assert_int_equal(f->trainings.n_untrained, 1); /* and not twice */
	assert_int_equal(f->trainings.untrained[0].lines, 1u << TRAINING_CLOCK);
	is(f, link_at(7, 0), 0, FAULT_DOWN);
	is(f, link_at(7, 0), 100 * US, FAULT_DOWN);
	faults_free(f);
}

static void qsn_f74_a_cold_machine_trains_all_its_links(void **state)
{
	struct faults *f = make("", "link 2 line 0 closed", true);
	sim_time time = f->trainings.time;

	assert_int_equal(f->trainings.n, WIRES - 1);
	for (uint32_t link = 0; link < f->links.n; link++) {
		struct topo_end at = topo_link_end(&f->links, link);
		struct topo_end far =
			tree.topo.ops->peer(&tree.topo, at.router, at.port);

		if (far.router == NO_ROUTER)
			continue;
		if (at.router == 2 || far.router == 2) {
			is(f, link, 0, FAULT_DOWN);
			is(f, link, time, FAULT_DOWN);
			continue;
		}
		is(f, link, 0, FAULT_TRAINING);
		is(f, link, time - 1, FAULT_TRAINING);
		is(f, link, time, FAULT_UP);
	}
	faults_free(f);
}

static struct faults *untrained(int64_t skew, const char *lines)
{
	struct fault_plan p;
	struct faults *f;
	struct err e = { 0 };

	set_lines(&p);
	p.training.is_on = false;
	p.training.skew = skew;
	assert_false(fault_plan_is_empty(&p));
	if (try(&p, "", lines, false, &e))
		fail_msg("%s", e.text);
	f = faults_new(&p, &tree.topo, 1, 1);
	fault_plan_free(&p);
	return f;
}

/* Without training the skew of one line is errors on that line. */
static void qsn_f74_without_training_a_skewed_line_errs(void **state)
{
	struct faults *f = untrained(199, "link 1.0 up 1 line 3 skew 250 ps");
	uint32_t link = link_at(LEAF, UP + 1), hits = 0;
	uint32_t wire = fattree_wire(1, FATTREE_UP);
	uint64_t sum = 0;

	assert_int_equal(f->trainings.n_blind, 1);
	assert_int_equal(f->n_outages, 0);
	assert_int_equal(f->blind[link], 1u << 3);
	for (uint32_t i = 0; i < 4096; i++) {
		uint32_t bit = faults_place(f, link, wire, i, i, 4096);

		assert_int_equal(bit % TRAINING_DATA, 3);
		assert_int_equal(bit / TRAINING_DATA, i / TRAINING_DATA);
		hits += bit == i;
		sum += 1 + faults_gap(f, link, wire, i);
	}
	assert_int_equal(hits, 4096 / TRAINING_DATA);
	/* one in 16 of the line's bits */
	assert_in_range(sum / 4096, 120, 136);
	/* others are as they were */
	assert_int_equal(faults_place(f, link + 1, wire, 0, 5, 100), 5);
	assert_true(faults_gap(f, link + 1, wire, 0) > UINT64_C(1) << 60);
	faults_free(f);
	/* and lines as they are made have too much */
	f = untrained(500, "");
	assert_int_equal(f->trainings.n_blind, 2 * WIRES);
	faults_free(f);
}

static void refuse(const char *lines, const char *why)
{
	struct fault_plan p;
	struct err e = { 0 };

	set_lines(&p);
	assert_int_equal(try(&p, "", lines, false, &e), -1);
	assert_int_equal(e.code, 2);
	if (!strstr(e.text, why) || strncmp(e.text, "here:1:2: ", 10) != 0)
		fail_msg("%s, and not %s", e.text, why);
	fault_plan_free(&p);
}

static void wrong_lines_are_refused(void **state)
{
	struct fault_plan p = { 0 };
	struct err e = { 0 };

	refuse("link 1.0 up 1", "want a link");
	refuse("lonk 1.0 up 1 line 3 closed", "want a link");
	refuse("link 1.0 up 1 line 3", "want a link");
	refuse("link line 3 closed", "want a link");
	refuse("link 1.0 up 1 line 3 open", "want skew and a time");
	refuse("link 1.0 up 1 line 3 skew", "want skew and a time");
	refuse("link 1.0 up 1 line 3 closed now", "want skew and a time");
	refuse("link 1.0 up 1 line 3 skew 9 furlongs", "is not a time");
	refuse("link 1.0 up 1 line 3 skew 2 us", "out of range");
	refuse("link 1.0 up 1 line clok closed", "did you mean clock?");
	refuse("link 1.0 up 1 line 8 closed", "unknown line");
	refuse("link 1.0 up 1 line clock skew 1 ps", "the clock has no skew");
	refuse("link 1.0 up 9 line 3 closed", "unknown port");
	refuse("link 1.0 line 3 closed", "the port of the link is missing");
	refuse("link 16 line 3 closed", "want 0 to 15");
	refuse("link 3 line 3 closed|link 3 line 3 skew 1 ps",
		"names the same line");
	/* on a machine whose lines are not known */
	assert_int_equal(try(&p, "", "link 3 line 3 closed", false, &e), -1);
	assert_non_null(strstr(e.text, "link.lines is 0"));
	fault_plan_free(&p);
	e = (struct err){ 0 };
	assert_int_equal(try(&p, "", "", true, &e), -1);
	assert_non_null(strstr(e.text, "cold-start"));
	fault_plan_free(&p);
}

/* Where nothing is known of lines all is as without them. */
static void links_without_lines_return_at_once(void **state)
{
	struct fault_plan p = { 0 };
	struct faults *f;
	struct err e = { 0 };

	assert_int_equal(
		try(&p, "1 us node 3 dies|2 us node 3 returns", "", false, &e),
		0);
	f = faults_new(&p, &tree.topo, 1, 1);
	assert_int_equal(f->trainings.time, 0);
	is(f, link_at(3, 0), 2 * US - 1, FAULT_DOWN);
	is(f, link_at(3, 0), 2 * US, FAULT_UP);
	faults_free(f);
	fault_plan_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qsn_f74_a_link_that_returns_trains_first),
		cmocka_unit_test(a_link_may_die_again_while_it_trains),
		cmocka_unit_test(
			qsn_f74_a_link_that_cannot_be_trained_stays_down),
		cmocka_unit_test(qsn_f73_a_link_without_its_clock_stays_down),
		cmocka_unit_test(qsn_f74_a_cold_machine_trains_all_its_links),
		cmocka_unit_test(qsn_f74_without_training_a_skewed_line_errs),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(links_without_lines_return_at_once),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
