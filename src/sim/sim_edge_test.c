#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sim/sim.h"
#include "testing/testing.h"

/*
 * A model that writes down what runs, on one worker.  What an event does is
 * in its data: nothing, or to post more.
 */
enum { ROOM = 4096, WINDOW = 10000 };

enum deed {
	DO_NOTHING,
	DO_PHASES, /* post now, in each later phase, the last one first */
	DO_FLOOD, /* post very often within the window */
	DO_CHAIN, /* post once more, a little later */
	DO_EARLY, /* post to another site within the window */
	DO_BACK, /* post now, in an earlier phase */
};

struct note {
	sim_time t;
	site_id site;
	unsigned phase, number, aux;
};

struct log {
	struct sim *sim;
	struct note note[ROOM];
	uint32_t n, n_prefetched[SIM_STEPS], n_wrong;
	bool more; /* the kernel says that the next one is as late */
};

static void post_phases(struct sim_worker *w, site_id s, sim_time t)
{
	sim_post(w, s, t, SIM_KEY(PHASE_PROGRAM, 1), 0, DO_NOTHING);
	sim_post(w, s, t, SIM_KEY(PHASE_ENGINE, 9), 0, DO_NOTHING);
	sim_post(w, s, t + 1, SIM_KEY(PHASE_ARRIVAL, 0), 0, DO_NOTHING);
	sim_post(w, s, t, SIM_KEY(PHASE_ENGINE, 2), 7, DO_NOTHING);
	sim_post(w, s, t, SIM_KEY(PHASE_ENGINE, 2), 3, DO_NOTHING);
	sim_post(w, s, t, SIM_KEY(PHASE_TOKEN, 4), 0, DO_NOTHING);
}

enum { FLOOD = 1000 };

static void act(struct sim_worker *w, site_id s, sim_time t, uint32_t data,
	unsigned aux)
{
	switch (data) {
	case DO_PHASES:
		post_phases(w, s, t);
		break;
	case DO_FLOOD: /* far more than a batch starts with */
		for (uint32_t i = 0; i < FLOOD; i++)
			sim_post(w, s, t + 1 + i * 7919 % FLOOD,
				SIM_KEY(PHASE_ENGINE, 0), (uint16_t)i,
				DO_NOTHING);
		break;
	case DO_CHAIN:
		if (aux)
			sim_post(w, s, t + 30, SIM_KEY(PHASE_ENGINE, 0),
				(uint16_t)(aux - 1), DO_CHAIN);
		break;
	case DO_EARLY:
		sim_post(w, s + 1, t + 1, SIM_KEY(PHASE_ARRIVAL, 0), 0,
			DO_NOTHING);
		break;
	case DO_BACK:
		sim_post(w, s, t, SIM_KEY(PHASE_ARRIVAL, 0), 0, DO_NOTHING);
		break;
	default:
		break;
	}
}

static void visit(struct sim_worker *w, site_id site)
{
	struct log *l = w->model;
	const struct sim_event *e;
	sim_time t;

	while ((e = sim_next(w, &t))) {
		struct sim_event copy = *e; /* posts may move the batch */

		l->n_wrong += l->more && t != l->note[l->n - 1].t;
		if (l->n < ROOM)
			l->note[l->n++] = (struct note){ .t = t,
				.site = site,
				.phase = sim_phase(e),
				.number = sim_number(e),
				.aux = sim_aux(e) };
		act(w, site, t, copy.data, sim_aux(&copy));
		l->more = sim_more(w, &copy);
	}
	l->n_wrong += l->more;
}

static void prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	struct log *l = w->model;
	const struct sim_event *e;

	while ((e = sim_waiting(&list))) {
		l->n_prefetched[step]++;
		l->n_wrong += site >= 64 || e->data != DO_NOTHING;
	}
}

static const struct sim_ops ops = { .visit = visit, .prefetch = prefetch };

static struct sim_params params(struct log *l)
{
	return (struct sim_params){
		.n_sites = 64,
		.n_workers = 1,
		.window = WINDOW,
		.reach = 10 * WINDOW,
		.ops = &ops,
		.model = l,
	};
}

static struct log *new_log(void)
{
	struct log *l = mem_alloc(1, sizeof(*l));
	struct sim_params p = params(l);
	struct err e = { 0 };

	l->sim = sim_new(&p, &e);
	assert_non_null(l->sim);
	return l;
}

static void free_log(struct log *l)
{
	sim_free(l->sim);
	mem_free(l);
}

static void post(
	struct log *l, site_id s, sim_time t, uint32_t key, enum deed d)
{
	sim_post(sim_owner(l->sim, s), s, t, key, 0, (uint32_t)d);
}

/* --- order --- */

static void a_key_is_a_phase_and_a_number(void **state)
{
	struct log *l = new_log();

	for (unsigned phase = 0; phase <= PHASE_PROGRAM; phase++)
		for (unsigned number = 0; number < 4096; number += 585)
			sim_post(sim_owner(l->sim, 0), 0, 12345,
				SIM_KEY(phase, number), 0xffff, 0);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n, 4 * 8);
	for (uint32_t i = 0; i < l->n; i++) {
		assert_int_equal(l->note[i].t, 12345);
		assert_int_equal(l->note[i].phase, i / 8);
		assert_int_equal(l->note[i].number, i % 8 * 585);
		assert_int_equal(l->note[i].aux, 0xffff);
	}
	free_log(l);
}

/* Arrivals, tokens, engines, programs, whatever was posted first. */
static void posts_of_an_instant_run_in_the_order_of_phases(void **state)
{
	static const struct note want[] = {
		{ 500, 3, PHASE_ARRIVAL, 0, 0 },
		{ 500, 3, PHASE_TOKEN, 4, 0 },
		{ 500, 3, PHASE_ENGINE, 2, 3 },
		{ 500, 3, PHASE_ENGINE, 2, 7 },
		{ 500, 3, PHASE_ENGINE, 9, 0 },
		{ 500, 3, PHASE_PROGRAM, 1, 0 },
		{ 500, 3, PHASE_PROGRAM, 8, 0 },
		{ 501, 3, PHASE_ARRIVAL, 0, 0 },
	};
	struct log *l = new_log();

	post(l, 3, 500, SIM_KEY(PHASE_PROGRAM, 8), DO_NOTHING);
	post(l, 3, 500, SIM_KEY(PHASE_ARRIVAL, 0), DO_PHASES);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n_wrong, 0);
	assert_int_equal(l->n, sizeof(want) / sizeof(*want));
	for (uint32_t i = 0; i < l->n; i++) {
		assert_int_equal(l->note[i].t, want[i].t);
		assert_int_equal(l->note[i].site, want[i].site);
		assert_int_equal(l->note[i].phase, want[i].phase);
		assert_int_equal(l->note[i].number, want[i].number);
		assert_int_equal(l->note[i].aux, want[i].aux);
	}
	free_log(l);
}

static void a_site_may_post_any_number_to_itself(void **state)
{
	struct log *l = new_log();

	post(l, 5, 2 * WINDOW, SIM_KEY(PHASE_ENGINE, 0), DO_FLOOD);
	post(l, 5, 2 * WINDOW + FLOOD / 2, SIM_KEY(PHASE_ARRIVAL, 0),
		DO_NOTHING);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n, FLOOD + 2);
	for (uint32_t i = 1; i < l->n; i++)
		assert_true(l->note[i - 1].t <= l->note[i].t);
	assert_int_equal(l->note[FLOOD + 1].t, 2 * WINDOW + FLOOD);
	assert_int_equal(l->n_wrong, 0);
	free_log(l);
}

/* Steps of 30 ps walk over the ends of windows without a stumble. */
static void windows_have_no_seams(void **state)
{
	struct log *l = new_log();

	sim_post(sim_owner(l->sim, 9), 9, 4990, SIM_KEY(PHASE_ENGINE, 0), 1999,
		DO_CHAIN);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n, 2000);
	for (uint32_t i = 0; i < l->n; i++)
		assert_int_equal(l->note[i].t, 4990 + 30 * (sim_time)i);
	free_log(l);
}

/* Near, at the last slot, one beyond, and in another age. */
static void far_posts_arrive_at_their_time(void **state)
{
	static const sim_time far[] = { 0, 1, 9999, 10000, 109999, 620000,
		629999, 630000, 639999, 640000, 640001, 1270000, 10000000,
		INT64_C(123456789012345), INT64_C(123456789012346),
		INT64_C(4000000000000000) };
	enum { N = sizeof(far) / sizeof(*far) };
	struct log *l = new_log();

	for (uint32_t i = 0; i < N; i++) /* in no order: 7 and 16 are coprime */
		post(l, i, far[i * 7 % N], SIM_KEY(PHASE_ENGINE, 0),
			DO_NOTHING);
	assert_int_equal(sim_run(l->sim, SIM_NEVER), SIM_IDLE);
	assert_int_equal(l->n, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(l->note[i].t, far[l->note[i].site * 7 % N]);
	assert_int_equal(sim_now(l->sim), far[N - 1] + WINDOW);
	free_log(l);
}

/* Sites with many events in a window are sorted in another way. */
static void a_crowd_runs_in_order(void **state)
{
	enum { N = 1500 };
	struct log *l = new_log();

	for (uint32_t i = 0; i < N; i++)
		post(l, i % 2 ? 9 : 3, WINDOW + i * 7919 % WINDOW,
			SIM_KEY(PHASE_ENGINE, i % 5), DO_NOTHING);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n, N);
	assert_int_equal(l->n_wrong, 0);
	for (uint32_t i = 1; i < N; i++) {
		const struct note *a = &l->note[i - 1], *b = &l->note[i];

		if (a->site != b->site)
			assert_int_equal(i, N / 2);
		else if (a->t == b->t)
			assert_in_range(a->number, 0, b->number);
		else
			assert_in_range(a->t, WINDOW, b->t);
	}
	free_log(l);
}

/* Few events at most sites, so that only those named are sorted as a crowd. */
static void named_sites_are_sorted_as_a_crowd(void **state)
{
	enum { N = 200 };
	struct log *l[2] = { new_log(), new_log() };
	struct sim_params p = params(l[1]);
	struct err e = { 0 };

	sim_free(l[1]->sim);
	p.crowd = 9;
	l[1]->sim = sim_new(&p, &e);
	for (int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < N; i++)
			post(l[k], i % 5 ? i % 50 : 9,
				WINDOW + i * 7919 % WINDOW,
				SIM_KEY(PHASE_ENGINE, i % 5), DO_NOTHING);
		sim_run(l[k]->sim, SIM_NEVER);
		assert_int_equal(l[k]->n, N);
		assert_int_equal(l[k]->n_wrong, 0);
	}
	assert_memory_equal(l[0]->note, l[1]->note, sizeof(l[0]->note));
	free_log(l[0]);
	free_log(l[1]);
}

/* The prefetches of runs that try one way or leave it to the host's time, and
 * whether they took any. */
static uint32_t prefetches_of(struct sim_trial trial, bool *is_timed)
{
	struct log *l = new_log();
	struct sim_params p = params(l);
	struct err e = { 0 };
	uint32_t n;

	sim_free(l->sim);
	p.prefetches = true;
	p.trial = trial;
	l->sim = sim_new(&p, &e);
	for (site_id i = 0; i < 64 * 16; i++)
		post(l, i % 64, i / 64 * WINDOW, SIM_KEY(PHASE_ENGINE, 0),
			DO_NOTHING);
	sim_run(l->sim, SIM_NEVER);
	assert_int_equal(l->n_wrong, 0);
	*is_timed = sim_worker(l->sim, 0)->n_timed;
	n = l->n_prefetched[0];
	free_log(l);
	return n;
}

static void a_trial_prefetches_always_or_never_whatever_the_time(void **state)
{
	const struct sim_trial none = { 0 }, plain = { .is_plain = true },
			       ahead = { .is_ahead = true };
	uint32_t windows = 16, once;
	bool is_timed;

	(void)state;
	once = prefetches_of(ahead, &is_timed) / windows;
	assert_int_equal(prefetches_of(ahead, &is_timed), windows * once);
	assert_in_range(once, 1, 63);
	assert_false(is_timed);
	assert_int_equal(prefetches_of(plain, &is_timed), 0);
	assert_false(is_timed);
	prefetches_of(none, &is_timed);
	assert_true(is_timed);
}

/* It is a hint, so it may come for some; never for what is not waiting. */
static void prefetch_sees_events_that_wait_and_changes_nothing(void **state)
{
	struct log *l[2] = { new_log(), new_log() };
	struct sim_params p = params(l[1]);
	struct err e = { 0 };

	sim_free(l[1]->sim);
	p.prefetches = true;
	l[1]->sim = sim_new(&p, &e);
	for (int k = 0; k < 2; k++) {
		for (site_id i = 0; i < 64; i++)
			post(l[k], i, i * 100, SIM_KEY(PHASE_ENGINE, 0),
				DO_NOTHING);
		sim_run(l[k]->sim, SIM_NEVER);
		assert_int_equal(l[k]->n, 64);
		assert_int_equal(l[k]->n_wrong, 0);
	}
	for (int k = 0; k < SIM_STEPS; k++) {
		assert_int_equal(l[0]->n_prefetched[k], 0);
		assert_in_range(l[1]->n_prefetched[k],
			k ? l[1]->n_prefetched[k - 1] + 1 : 1, 63);
	}
	assert_memory_equal(l[0]->note, l[1]->note, sizeof(l[0]->note));
	free_log(l[0]);
	free_log(l[1]);
}

/* --- what is refused --- */

static void is_refused(struct sim_params p, const char *what)
{
	struct err e = { 0 };

	assert_null(sim_new(&p, &e));
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void bad_parameters_are_refused(void **state)
{
	struct sim_params good = params(NULL), p = good;

	p.n_sites = 0;
	is_refused(p, "site");
	p = good;
	p.n_workers = 0;
	is_refused(p, "threads");
	p.n_workers = SIM_MAX_WORKERS + 1;
	is_refused(p, "257 threads");
	p = good;
	p.window = SIM_MIN_WINDOW - 1;
	is_refused(p, "4999 ps");
	p.window = 0;
	is_refused(p, "shortest wire");
	p.window = -41400;
	is_refused(p, "shortest wire");
	p.window = INT64_C(1) << 40;
	is_refused(p, "too long");
	sim_free(NULL);
}

static void the_shortest_window_is_five_nanoseconds(void **state)
{
	struct sim_params p = params(NULL);
	struct err e = { 0 };
	struct sim *s;

	p.window = 5 * SIM_NS;
	s = sim_new(&p, &e);
	assert_non_null(s);
	assert_int_equal(e.code, 0);
	sim_free(s);
}

static void keeps_time(const struct sim_params *p, struct log *l)
{
	enum { N = 200 };

	for (uint32_t i = 0; i < N; i++)
		post(l, 1, (sim_time)i * 17 * p->window + i,
			SIM_KEY(PHASE_ENGINE, 0), DO_NOTHING);
	assert_int_equal(sim_run(l->sim, SIM_NEVER), SIM_IDLE);
	assert_int_equal(l->n, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(
			l->note[i].t, (sim_time)i * 17 * p->window + i);
}

/* Whatever the ratio of reach and window, which makes the slots. */
static void a_window_keeps_time_or_is_refused(void **state)
{
	for (sim_time window = 5000; window <= 1000000 * SIM_NS; window *= 3) {
		for (sim_time ratio = 1; ratio < 2048; ratio *= 6) {
			struct log *l = mem_alloc(1, sizeof(*l));
			struct sim_params p = params(l);
			struct err e = { 0 };

			p.window = window;
			p.reach = window * ratio;
			l->sim = sim_new(&p, &e);
			if (l->sim)
				keeps_time(&p, l);
			else
				assert_int_equal(e.code, EXIT_BAD_INPUT);
			free_log(l);
		}
	}
}

/* Whether f ends a child with an internal error. */
static int is_bug(void (*f)(struct log *))
{
	int status = 0;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		struct log *l = new_log();

		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		post(l, 0, 2 * WINDOW, SIM_KEY(PHASE_ENGINE, 0), DO_NOTHING);
		sim_run(l->sim, SIM_NEVER); /* now it is 3 * WINDOW */
		f(l);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ||
	       (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_INTERNAL);
}

static void post_in_the_past(struct log *l)
{
	post(l, 0, 3 * WINDOW - 1, SIM_KEY(PHASE_ENGINE, 0), DO_NOTHING);
}

static void post_in_the_present(struct log *l)
{
	post(l, 0, 3 * WINDOW, SIM_KEY(PHASE_ENGINE, 0), DO_NOTHING);
	sim_run(l->sim, SIM_NEVER);
}

static void mail_that_is_too_fast(struct log *l)
{
	post(l, 0, 3 * WINDOW, SIM_KEY(PHASE_ENGINE, 0), DO_EARLY);
	sim_run(l->sim, SIM_NEVER);
}

static void post_in_an_earlier_phase(struct log *l)
{
	post(l, 0, 3 * WINDOW, SIM_KEY(PHASE_ENGINE, 0), DO_BACK);
	sim_run(l->sim, SIM_NEVER);
}

static void a_broken_promise_is_a_bug(void **state)
{
	assert_true(is_bug(post_in_the_past));
	assert_true(is_bug(mail_that_is_too_fast));
	assert_true(is_bug(post_in_an_earlier_phase));
	assert_false(is_bug(post_in_the_present));
}

TESTS(TEST(a_key_is_a_phase_and_a_number),
	TEST(posts_of_an_instant_run_in_the_order_of_phases),
	TEST(a_site_may_post_any_number_to_itself), TEST(windows_have_no_seams),
	TEST(far_posts_arrive_at_their_time), TEST(a_crowd_runs_in_order),
	TEST(named_sites_are_sorted_as_a_crowd),
	TEST(prefetch_sees_events_that_wait_and_changes_nothing),
	TEST(a_trial_prefetches_always_or_never_whatever_the_time),
	TEST(bad_parameters_are_refused),
	TEST(the_shortest_window_is_five_nanoseconds),
	TEST(a_window_keeps_time_or_is_refused),
	TEST(a_broken_promise_is_a_bug))
