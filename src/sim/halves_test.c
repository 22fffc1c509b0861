#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cluster.h"
#include "sim/kin.h"
#include "sim/sim.h"
#include "testing/testing.h"

/* A ring of sites with letters that go from neighbour to neighbour, in two
 * processes: each has a site at both ends of its share that sends to the other
 * one. */
enum {
	WINDOW = 20000,
	PROCESSES = 2,
	SHARE = 8,
	SITES = PROCESSES * SHARE,
	LETTERS = 16, /* of each site */
	HOPS = 100,
	WORKERS = 3
};

struct ring {
	struct sim *sim;
	uint64_t site[SITES]; /* a sum over the letters that it got */
	/* The window in which a worker has visited an inner site, and how many
	 * sites at an end came behind that. */
	sim_time inner[WORKERS];
	uint64_t n_late;
};

static bool is_end(site_id s)
{
	return s % SHARE == 0 || s % SHARE == SHARE - 1;
}

static void note_order(struct ring *r, const struct sim_worker *w, site_id s)
{
	if (!is_end(s))
		r->inner[w->id] = w->start + 1;
	else if (r->inner[w->id] == w->start + 1)
		__atomic_add_fetch(&r->n_late, 1, __ATOMIC_RELAXED);
}

static void visit(struct sim_worker *w, site_id s)
{
	struct ring *r = w->model;
	const struct sim_event *e;
	sim_time t;

	note_order(r, w, s);
	while ((e = sim_next(w, &t))) {
		uint32_t hops = e->data / LETTERS, letter = e->data % LETTERS;
		site_id to = letter % 2 ? s + 1 : s + SITES - 1;

		r->site[s] += (uint64_t)t / WINDOW * (letter + 1);
		if (hops < HOPS)
			sim_post(w, to % SITES, t + WINDOW,
				SIM_KEY(PHASE_ARRIVAL, letter), sim_aux(e),
				e->data + LETTERS);
	}
}

static const struct sim_ops ops = { .visit = visit };

static void start(
	struct ring *r, struct cluster *c, uint32_t n_workers, bool has_edges)
{
	uint8_t lead[PROCESSES * PROCESSES] = { 1, 1, 1, 1 };
	uint8_t is_edge[SITES];
	uint16_t process[SITES];
	struct sim_params p = {
		.n_sites = SITES,
		.n_workers = n_workers,
		.window = WINDOW,
		.reach = WINDOW,
		.ops = &ops,
		.model = r,
		.cluster = c,
		.process = process,
		.lead = lead,
		.is_edge = has_edges ? is_edge : NULL,
	};
	struct err e = { 0 };

	memset(r, 0, sizeof(*r));
	for (site_id s = 0; s < SITES; s++) {
		process[s] = (uint16_t)(s / SHARE);
		is_edge[s] = is_end(s);
	}
	r->sim = sim_new(&p, &e);
	assert_non_null(r->sim);
	for (site_id s = sim_next_own(r->sim, 0); s < SITES;
		s = sim_next_own(r->sim, s + 1))
		for (uint32_t i = 0; i < LETTERS; i++)
			sim_post(sim_owner(r->sim, s), s, 0,
				SIM_KEY(PHASE_ARRIVAL, i), s, i);
}

/* Returns how many sites at an end came late. */
static uint64_t run_in_two(const struct ring *one, bool is_apart,
	uint32_t n_workers, bool has_edges)
{
	static struct ring two;
	struct err e = { 0 };
	struct cluster *c;
	uint64_t differs, n_late;
	bool is_child;

	if (is_apart)
		setenv("WEFT_APART", "1", 1);
	else
		unsetenv("WEFT_APART");
	c = kin_start(PROCESSES, &e);
	assert_non_null(c);
	is_child = c->me;
	start(&two, c, n_workers, has_edges);
	differs = sim_run(two.sim, SIM_NEVER - 1) != SIM_IDLE;
	sim_sum(two.sim, two.site, SITES);
	n_late = two.n_late;
	sim_sum(two.sim, &n_late, 1);
	differs |= memcmp(two.site, one->site, sizeof(two.site)) != 0;
	sim_max(two.sim, &differs, 1);
	sim_free(two.sim);
	c->ops->leave(c, 0);
	if (is_child)
		_exit(0);
	assert_int_equal(differs, 0);
	return n_late;
}

static void sites_that_send_to_other_processes_run_first(void **state)
{
	static struct ring one;

	start(&one, NULL, 1, false);
	assert_int_equal(sim_run(one.sim, SIM_NEVER - 1), SIM_IDLE);
	sim_free(one.sim);
	for (uint32_t is_apart = 0; is_apart < 2; is_apart++) {
		/* here it depends on the host's time how many come late */
		run_in_two(&one, is_apart, 1, false);
		assert_int_equal(run_in_two(&one, is_apart, 1, true), 0);
		run_in_two(&one, is_apart, WORKERS, true);
	}
	(void)state;
}

/* --- a stop while a box is full --- */

/* Site 0 sends more in each window than fits into the box for the other
 * process, whose site 3 takes long and then asks for a stop. */
enum { CROWDS = 12, CROWD = 70, LEAD = 8, LOAD = 100000, SLOW_US = 50000 };

struct flood {
	struct sim *sim;
	atomic_int stop;
	uint64_t n_sent, n_got;
};

static void flood_visit(struct sim_worker *w, site_id s)
{
	struct flood *f = w->model;
	sim_time t;

	while (sim_next(w, &t)) {
		if (s == 3) {
			usleep(SLOW_US);
			atomic_store(&f->stop, 1);
		}
		f->n_got += s == 2;
		if (s != 0)
			continue;
		f->n_sent++;
		sim_post(w, 2, t + (sim_time)LEAD * WINDOW,
			SIM_KEY(PHASE_ARRIVAL, 0), 0, 0);
		if (t < (sim_time)(CROWDS - 1) * WINDOW)
			sim_post(w, 0, t + WINDOW, SIM_KEY(PHASE_ARRIVAL, 0), 0,
				0);
	}
}

static void flood_pack(struct sim_worker *w, const struct sim_event *e,
	struct cluster_bytes *to)
{
	(void)w;
	(void)e;
	memset(cluster_add(to, LOAD), 1, LOAD);
}

static uint32_t flood_unpack(struct sim_worker *w, const struct sim_event *e,
	const void *from, size_t n)
{
	(void)w;
	(void)e;
	(void)from;
	assert_int_equal(n, LOAD);
	return 0;
}

static const struct sim_ops flood_ops = {
	.visit = flood_visit,
	.pack = flood_pack,
	.unpack = flood_unpack,
};

static void start_flood(struct flood *f, struct cluster *c)
{
	static const uint8_t lead[] = { LEAD, LEAD, LEAD, LEAD };
	static const uint8_t is_edge[] = { 1, 0, 1, 0 };
	static const uint16_t process[] = { 0, 0, 1, 1 };
	struct sim_params p = {
		.n_sites = 4,
		.n_workers = 1,
		.window = WINDOW,
		.reach = LEAD * WINDOW,
		.ops = &flood_ops,
		.model = f,
		.stop = &f->stop,
		.cluster = c,
		.process = process,
		.lead = lead,
		.is_edge = is_edge,
	};
	struct err e = { 0 };

	f->sim = sim_new(&p, &e);
	assert_non_null(f->sim);
	for (uint32_t i = 0; i < CROWD && sim_has(f->sim, 0); i++)
		sim_post(sim_owner(f->sim, 0), 0, 0, SIM_KEY(PHASE_ARRIVAL, 0),
			0, 0);
	if (sim_has(f->sim, 3))
		sim_post(sim_owner(f->sim, 3), 3, 0, SIM_KEY(PHASE_ARRIVAL, 0),
			0, 0);
}

static void a_stop_loses_no_mail_of_a_full_box(void **state)
{
	struct flood f = { 0 };
	struct err e = { 0 };
	struct cluster *c;
	bool is_child;

	unsetenv("WEFT_APART");
	c = kin_start(PROCESSES, &e);
	assert_non_null(c);
	is_child = c->me;
	start_flood(&f, c);
	assert_int_equal(sim_run(f.sim, SIM_NEVER - 1), SIM_STOPPED);
	atomic_store(&f.stop, 0);
	assert_int_equal(sim_run(f.sim, SIM_NEVER - 1), SIM_IDLE);
	sim_sum(f.sim, &f.n_sent, 1);
	sim_sum(f.sim, &f.n_got, 1);
	sim_free(f.sim);
	c->ops->leave(c, 0);
	if (is_child)
		_exit(0);
	assert_int_equal(f.n_sent, CROWDS * CROWD);
	assert_int_equal(f.n_got, f.n_sent);
	(void)state;
}

TESTS(TEST(sites_that_send_to_other_processes_run_first),
	TEST(a_stop_loses_no_mail_of_a_full_box))
