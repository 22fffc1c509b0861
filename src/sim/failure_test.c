#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"
#include "testing/testing.h"

enum { WINDOW = 10000, SITES = 12, WINDOWS = 400 };

/* Every site posts to itself, window after window; one of them fails. */
struct model {
	struct sim *sim;
	sim_time fails_at;
	site_id fails;
	uint32_t n_failing; /* sites from that on which do, at that time */
};

static void visit(struct sim_worker *w, site_id s)
{
	const struct model *m = w->model;
	const struct sim_event *e;
	sim_time t;

	while ((e = sim_next(w, &t))) {
		if (t >= m->fails_at && s - m->fails < m->n_failing)
			BUG("site %u fails", s);
		if (t < WINDOWS * WINDOW)
			sim_post(w, s, t + WINDOW, SIM_KEY(PHASE_ENGINE, 0), 0,
				0);
	}
}

static const struct sim_ops ops = { .visit = visit };

static void start(struct model *m, uint32_t n_workers)
{
	struct sim_params p = {
		.n_sites = SITES,
		.n_workers = n_workers,
		.window = WINDOW,
		.reach = WINDOW,
		.ops = &ops,
		.model = m,
	};
	struct err e = { 0 };

	m->sim = sim_new(&p, &e);
	assert_non_null(m->sim);
	for (site_id s = 0; s < SITES; s++)
		sim_post(sim_owner(m->sim, s), s, 0, SIM_KEY(PHASE_ENGINE, 0),
			0, 0);
}

static void run(void *arg)
{
	const struct model *m = arg;

	sim_run(m->sim, SIM_NEVER);
}

static void a_site_that_fails_ends_the_run_of_a_guarded_caller(void **state)
{
	static const uint32_t workers[] = { 1, 3, SITES };

	for (uint32_t k = 0; k < 3; k++) {
		for (uint32_t i = 0; i < WINDOWS; i += 7) {
			struct model m = { .fails_at = i * WINDOW,
				.fails = i % SITES,
				.n_failing = 1 };
			struct err e = { 0 };
			char text[32];

			start(&m, workers[k]);
			assert_int_equal(err_guard(run, &m, &e), -1);
			assert_int_equal(e.code, EXIT_INTERNAL);
			snprintf(text, sizeof(text), "site %u fails", m.fails);
			assert_non_null(strstr(e.text, text));
			sim_free(m.sim);
		}
	}
}

static void several_sites_may_fail_at_once(void **state)
{
	for (uint32_t i = 0; i < WINDOWS; i += 13) {
		struct model m = { .fails_at = i * WINDOW, .n_failing = SITES };
		struct err e = { 0 };

		start(&m, 4);
		assert_int_equal(err_guard(run, &m, &e), -1);
		assert_non_null(strstr(e.text, "fails"));
		sim_free(m.sim);
	}
}

static void a_guarded_run_without_mistakes_runs_to_its_end(void **state)
{
	for (uint32_t n = 1; n <= 4; n++) {
		struct model m = { .fails_at = SIM_NEVER };
		struct err e = { 0 };

		start(&m, n);
		assert_int_equal(err_guard(run, &m, &e), 0);
		assert_int_equal(sim_n_events(m.sim), SITES * (WINDOWS + 1));
		sim_free(m.sim);
	}
}

/* No stack of this size can be had. */
static void set_stacks(size_t bytes)
{
	pthread_attr_t a;

	assert_int_equal(pthread_attr_init(&a), 0);
	assert_int_equal(pthread_attr_setstacksize(&a, bytes), 0);
	assert_int_equal(pthread_setattr_default_np(&a), 0);
	pthread_attr_destroy(&a);
}

static void one_thread_runs_all_where_no_other_can_be_started(void **state)
{
	struct model m = { .fails_at = SIM_NEVER };
	pthread_attr_t a;
	size_t usual;

	assert_int_equal(pthread_getattr_default_np(&a), 0);
	assert_int_equal(pthread_attr_getstacksize(&a, &usual), 0);
	pthread_attr_destroy(&a);
	set_stacks((size_t)1 << 47);
	start(&m, 4);
	set_stacks(usual);
	assert_int_equal(sim_run(m.sim, SIM_NEVER), SIM_IDLE);
	assert_int_equal(sim_n_events(m.sim), SITES * (WINDOWS + 1));
	sim_free(m.sim);
}

TESTS(TEST(a_site_that_fails_ends_the_run_of_a_guarded_caller),
	TEST(several_sites_may_fail_at_once),
	TEST(a_guarded_run_without_mistakes_runs_to_its_end),
	TEST(one_thread_runs_all_where_no_other_can_be_started))
