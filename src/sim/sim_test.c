#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "testing/testing.h"

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static struct sim *new_sim(const struct sim_params *p)
{
	struct err e = { 0 };
	struct sim *s = sim_new(p, &e);

	if (!s)
		fail_msg("%s", e.text);
	return s;
}

/*
 * A toy: an event with hops left posts another one, drawn by lot, to its own
 * site or to any.  An event's data say how many hops are left and carry a
 * check over where, when and how it was posted; so an event that comes to
 * the wrong place or at the wrong time is seen.  Times are rounded, to make
 * many things happen at once; the key's number and aux name the sender, so
 * no two events of a site are alike.
 */
struct toy_site {
	_Alignas(CACHE_LINE) uint64_t chain; /* over all that happened */
	uint64_t n_run, n_posted, n_visits;
	uint32_t n_wrong;
	sim_time t; /* of the last event, and its rank */
	uint32_t rank;
};

struct toy {
	struct toy_site *sites;
	struct sim *sim;
	struct sim_params p;
	uint64_t seed;
	atomic_int stop;
	uint64_t stop_after; /* visits of the last site, or 0 */
};

enum { HOPS_BITS = 12, START = 3 };

static uint32_t toy_data(
	site_id site, sim_time t, uint32_t key, uint32_t aux, uint32_t hops)
{
	uint64_t x = mix((uint64_t)t ^ (uint64_t)site << 40);

	x = mix(x ^ ((uint64_t)key << 16 | aux));
	return (uint32_t)x << HOPS_BITS | hops;
}

static void toy_post(struct toy *y, struct sim_worker *w, site_id from,
	site_id to, sim_time t, unsigned phase, uint32_t hops)
{
	uint32_t key = SIM_KEY(phase, from & 0xfff);
	uint16_t aux = (uint16_t)y->sites[from].n_posted++;
	uint32_t data = toy_data(to, t, key, aux, hops);

	if (from == to)
		sim_post_self(w, to, t, key, aux, data);
	else if (sim_is_own(w, to) && hops % 2 && t - w->start < y->p.reach)
		sim_post_near(w, to, t, key, aux, data);
	else
		sim_post(w, to, t, key, aux, data);
}

/* Up to the next multiple of an eighth of a window. */
static sim_time rounded(const struct toy *y, sim_time t)
{
	sim_time unit = y->p.window / 8;

	return (t + unit - 1) / unit * unit;
}

static void toy_hop(struct toy *y, struct sim_worker *w, site_id s, sim_time t,
	unsigned phase, uint32_t hops)
{
	struct random_bits r =
		random_draw(y->seed, s, RANDOM_TEST, y->sites[s].n_posted);
	site_id to = (site_id)random_below(r.b, y->p.n_sites);
	sim_time least = y->p.window, most = y->p.reach, dt;
	unsigned any = (unsigned)(r.b & 3);

	switch (r.a & 7) {
	case 0: /* own site, now, in a later phase */
		if (phase < PHASE_PROGRAM) {
			toy_post(y, w, s, s, t, phase + 1, hops);
			return;
		}
		/* fall through */
	case 1: /* own site, within the window or in the next */
		dt = 1 + (sim_time)random_below(r.a, (uint64_t)least);
		toy_post(y, w, s, s, t + dt, any, hops);
		return;
	case 2: /* any site, beyond every slot */
		dt = most + (sim_time)random_below(r.a, (uint64_t)least * 200);
		to = r.b & 4 ? s : to;
		toy_post(y, w, s, to, rounded(y, t + dt), any, hops);
		return;
	case 3:
		dt = least;
		break;
	case 4:
		dt = most;
		break;
	default:
		dt = (sim_time)random_below(r.a, (uint64_t)(most - least));
		dt = rounded(y, t + least + dt) - t;
		dt = dt < most ? dt : most;
	}
	toy_post(y, w, s, to, t + dt, any, hops);
}

static void nap(void)
{
	struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static void toy_visit(struct sim_worker *w, site_id site)
{
	struct toy *y = w->model;
	struct toy_site *s = &y->sites[site];
	const struct sim_event *p;
	sim_time t;

	if (++s->n_visits == y->stop_after && site == y->p.n_sites - 1) {
		nap(); /* by now the others wait for this worker */
		atomic_store(&y->stop, 1);
	}
	while ((p = sim_next(w, &t))) {
		struct sim_event e = *p; /* posts may move it */
		uint32_t key = SIM_KEY(sim_phase(&e), sim_number(&e));
		uint16_t aux = (uint16_t)sim_aux(&e);
		uint32_t rank = key << 16 | aux;
		uint32_t hops = e.data & ((1u << HOPS_BITS) - 1);

		s->n_wrong += t < w->start || t >= w->start + y->p.window;
		s->n_wrong += e.data != toy_data(site, t, key, aux, hops);
		s->n_wrong +=
			t < s->t || (t == s->t && rank <= s->rank && s->n_run);
		s->t = t;
		s->rank = rank;
		s->n_run++;
		s->chain = mix(s->chain + mix((uint64_t)t ^ e.data));
		s->chain = mix(s->chain + rank);
		if (hops)
			toy_hop(y, w, site, t, sim_phase(&e), hops - 1);
	}
}

static const struct sim_ops toy_ops = { .visit = toy_visit };

static void toy_init(struct toy *y, site_id n_sites, uint32_t n_workers,
	sim_time window, sim_time reach)
{
	*y = (struct toy){
		.sites = map_alloc(n_sites * sizeof(*y->sites)),
		.seed = 7,
		.p = { .n_sites = n_sites,
			.n_workers = n_workers,
			.window = window,
			.reach = reach,
			.ops = &toy_ops,
			.stop = &y->stop },
	};
	y->p.model = y;
	y->sim = new_sim(&y->p);
}

static void toy_fini(struct toy *y)
{
	sim_free(y->sim);
	map_free(y->sites, y->p.n_sites * sizeof(*y->sites));
}

/* START events at every site, between them more than fill a batch. */
static void toy_start(struct toy *y, uint32_t hops)
{
	for (site_id i = 0; i < y->p.n_sites; i++)
		for (uint32_t k = 0; k < START; k++)
			toy_post(y, sim_owner(y->sim, i), i, i,
				(i * 7919 + k * 500) % (4 * y->p.window), k,
				hops);
}

static uint32_t toy_hops(void)
{
	return getenv("WEFT_SLOW") ? 25 : 60;
}

/* Everything that was posted ran, once, in order. */
static void toy_is_right(struct toy *y)
{
	uint64_t n_run = 0, n_posted = 0, n_visits = 0, counted = 0;

	for (site_id i = 0; i < y->p.n_sites; i++) {
		assert_int_equal(y->sites[i].n_wrong, 0);
		n_run += y->sites[i].n_run;
		n_posted += y->sites[i].n_posted;
		n_visits += y->sites[i].n_visits;
	}
	assert_int_equal(n_run, n_posted);
	for (site_id i = 0; i < sim_n_workers(y->sim); i++)
		counted += sim_worker(y->sim, i)->n_visits;
	assert_int_equal(counted, n_visits);
}

static void toys_agree(const struct toy *a, const struct toy *b)
{
	for (site_id i = 0; i < a->p.n_sites; i++) {
		assert_true(a->sites[i].chain == b->sites[i].chain);
		assert_int_equal(a->sites[i].n_run, b->sites[i].n_run);
		assert_int_equal(a->sites[i].n_visits, b->sites[i].n_visits);
	}
	assert_int_equal(sim_now(a->sim), sim_now(b->sim));
	assert_int_equal(sim_n_events(a->sim), sim_n_events(b->sim));
}

/* Shapes: sites, window and reach in ps. */
static const struct {
	site_id n_sites;
	sim_time window, reach;
} shapes[] = {
	{ 1, 5000, 5000 },
	{ 7, 41400, 41400 + 276000 },
	{ 64, 41400, 198250 + 276000 }, /* Blue Gene/Q's wires */
	{ 65, 5000, 5000 * 63 },
	{ 130, 8000, 8000 * 300 + 1 },
	{ 4097, 41400, 41400 * 2 },
};

enum { N_SHAPES = sizeof(shapes) / sizeof(*shapes) };

static void toy_run(struct toy *y, unsigned shape, uint32_t n_workers)
{
	toy_init(y, shapes[shape].n_sites, n_workers, shapes[shape].window,
		shapes[shape].reach);
	toy_start(y, shapes[shape].n_sites > 1000 ? 10 : toy_hops());
}

static void events_run_by_time_then_key_then_aux(void **state)
{
	struct toy y;

	for (unsigned i = 0; i < N_SHAPES; i++) {
		toy_run(&y, i, 1);
		assert_int_equal(sim_run(y.sim, SIM_NEVER), SIM_IDLE);
		toy_is_right(&y);
		toy_fini(&y);
	}
}

static void the_result_is_the_same_on_any_number_of_workers(void **state)
{
	static const uint32_t workers[] = { 1, 2, 3, 7, 2 };
	struct toy one, many;

	for (unsigned i = 0; i < N_SHAPES; i++) {
		toy_run(&one, i, 1);
		sim_run(one.sim, SIM_NEVER);
		for (unsigned k = 0; k < 5; k++) {
			toy_run(&many, i, workers[k]);
			assert_int_equal(
				sim_run(many.sim, SIM_NEVER), SIM_IDLE);
			toy_is_right(&many);
			toys_agree(&one, &many);
			toy_fini(&many);
		}
		toy_fini(&one);
	}
}

/* Sites scattered over workers, one of which has none. */
static void sites_may_be_anybodys(void **state)
{
	enum { WORKERS = 4 };
	struct toy one, many;
	uint8_t *owner;

	for (unsigned i = 0; i < N_SHAPES; i++) {
		site_id n = shapes[i].n_sites;

		if (n < WORKERS)
			continue;
		toy_run(&one, i, 1);
		sim_run(one.sim, SIM_NEVER);
		toy_init(&many, n, WORKERS, shapes[i].window, shapes[i].reach);
		sim_free(many.sim);
		owner = mem_alloc(n, sizeof(*owner));
		for (site_id k = 0; k < n; k++)
			owner[k] = (uint8_t)(k * 5 % 7 % (WORKERS - 1));
		many.p.owner = owner;
		many.sim = new_sim(&many.p);
		mem_free(owner);
		toy_start(&many, n > 1000 ? 10 : toy_hops());
		assert_int_equal(sim_worker(many.sim, 3)->n_sites, 0);
		assert_int_equal(sim_owner(many.sim, 3)->id, 1);
		assert_int_equal(sim_run(many.sim, SIM_NEVER), SIM_IDLE);
		toy_is_right(&many);
		toys_agree(&one, &many);
		toy_fini(&many);
		toy_fini(&one);
	}
}

/* Another seed must give another run, or the above shows nothing. */
static void the_result_depends_on_the_draws(void **state)
{
	struct toy a, b;

	toy_run(&a, 2, 1);
	toy_run(&b, 2, 1);
	b.seed++;
	sim_run(a.sim, SIM_NEVER);
	sim_run(b.sim, SIM_NEVER);
	assert_true(a.sites[0].chain != b.sites[0].chain);
	toy_fini(&a);
	toy_fini(&b);
}

static void slices_give_what_one_run_gives(void **state)
{
	struct toy whole, cut;
	enum sim_ending end;

	for (unsigned i = 0; i < 5; i++) {
		sim_time until = 0, width = shapes[i].window;
		uint64_t n = 0;

		toy_run(&whole, i, 1);
		sim_run(whole.sim, SIM_NEVER);
		toy_run(&cut, i, 1 + i % 3);
		do {
			until += (sim_time)(mix(n++) % 400000);
			end = sim_run(cut.sim, until);
			/* Every window before until has run, no other. */
			if (end == SIM_REACHED)
				assert_int_equal(sim_now(cut.sim),
					(until + width - 1) / width * width);
		} while (end == SIM_REACHED);
		assert_int_equal(end, SIM_IDLE);
		toy_is_right(&cut);
		toys_agree(&whole, &cut);
		toy_fini(&whole);
		toy_fini(&cut);
	}
}

static void a_stopped_run_can_go_on(void **state)
{
	struct toy whole, cut;

	toy_run(&whole, 2, 1);
	sim_run(whole.sim, SIM_NEVER);
	for (uint32_t workers = 1; workers < 4; workers++) {
		struct toy_site *last;
		uint64_t n_run;

		toy_run(&cut, 2, workers);
		cut.stop_after = 20;
		last = &cut.sites[cut.p.n_sites - 1];
		assert_int_equal(sim_run(cut.sim, SIM_NEVER), SIM_STOPPED);
		/* The window ends, and no other begins. */
		assert_int_equal(last->n_visits, 20);
		for (site_id i = 0; i < cut.p.n_sites; i++)
			assert_true(cut.sites[i].t < sim_now(cut.sim));
		assert_true(last->t >= sim_now(cut.sim) - cut.p.window);
		n_run = last->n_run;
		assert_int_equal(sim_run(cut.sim, SIM_NEVER), SIM_STOPPED);
		assert_int_equal(last->n_run, n_run);
		atomic_store(&cut.stop, 0);
		assert_int_equal(sim_run(cut.sim, SIM_NEVER), SIM_IDLE);
		toy_is_right(&cut);
		toys_agree(&whole, &cut);
		toy_fini(&cut);
	}
	toy_fini(&whole);
}

static void a_run_reaches_its_end_or_goes_idle(void **state)
{
	struct toy y;
	struct sim_worker *w;

	toy_init(&y, 3, 2, 10000, 20000);
	assert_int_equal(sim_run(y.sim, SIM_NEVER), SIM_IDLE);
	assert_int_equal(sim_now(y.sim), 0);
	w = sim_owner(y.sim, 2);
	toy_post(&y, w, 2, 2, 10000, 0, 0);
	toy_post(&y, w, 2, 2, 39999, 0, 0);
	assert_int_equal(sim_run(y.sim, 10000), SIM_REACHED);
	assert_int_equal(y.sites[2].n_run, 0);
	assert_int_equal(sim_run(y.sim, 10001), SIM_REACHED);
	assert_int_equal(y.sites[2].n_run, 1);
	assert_int_equal(sim_now(y.sim), 20000);
	/* An empty window has run, too. */
	assert_int_equal(sim_run(y.sim, 30000), SIM_REACHED);
	assert_int_equal(y.sites[2].n_run, 1);
	assert_int_equal(sim_now(y.sim), 30000);
	/* A window that starts before until runs to its end. */
	assert_int_equal(sim_run(y.sim, 30001), SIM_IDLE);
	assert_int_equal(y.sites[2].n_run, 2);
	assert_int_equal(sim_now(y.sim), 40000);
	toy_is_right(&y);
	toy_fini(&y);
}

/* --- cost --- */

static void empty_windows_and_idle_sites_cost_nothing(void **state)
{
	enum { SITES = 10000, APART = 1000000, N = 50 };
	struct toy y;

	for (uint32_t workers = 1; workers < 4; workers++) {
		toy_init(&y, SITES, workers, 41400, 41400);
		for (site_id i = 0; i < N; i++) {
			site_id s = i * 199 % SITES;

			toy_post(&y, sim_owner(y.sim, s), s, s,
				(sim_time)i * APART * 41400 + 100, 0, 0);
		}
		assert_int_equal(sim_run(y.sim, SIM_NEVER), SIM_IDLE);
		toy_is_right(&y);
		for (uint32_t i = 0; i < workers; i++)
			assert_int_equal(sim_worker(y.sim, i)->n_windows, N);
		for (site_id i = 0; i < SITES; i++)
			assert_int_equal(y.sites[i].n_visits,
				i % 199 == 0 && i / 199 < N);
		toy_fini(&y);
	}
}

static void a_site_is_visited_once_per_window(void **state)
{
	struct toy y;

	toy_init(&y, 2, 1, 10000, 10000);
	for (uint32_t i = 0; i < 1000; i++)
		toy_post(&y, sim_owner(y.sim, 1), 1, 1, i * 10, 0, 0);
	sim_run(y.sim, SIM_NEVER);
	toy_is_right(&y);
	assert_int_equal(y.sites[1].n_visits, 1);
	assert_int_equal(y.sites[0].n_visits, 0);
	assert_int_equal(sim_n_events(y.sim), 1000);
	assert_true(sim_memory(y.sim) >= 1000 * sizeof(struct sim_event));
	toy_fini(&y);
}

/* --- looking in --- */

struct seen {
	uint64_t n, sum;
};

static void see(void *arg, sim_time t, const struct sim_event *e)
{
	struct seen *s = arg;
	uint32_t hops = e->data & ((1u << HOPS_BITS) - 1);

	s->n++;
	s->sum += mix((uint64_t)t) + mix(e->data);
	/* The check in the data tells whether t is right. */
	if (e->data != toy_data(e->site, t,
			       SIM_KEY(sim_phase(e), sim_number(e)),
			       (uint16_t)sim_aux(e), hops))
		s->n = UINT64_MAX / 2;
}

/* Until there are enough. */
static bool see_some(void *arg, sim_time t, const struct sim_event *e)
{
	struct seen *s = arg;

	see(arg, t, e);
	return s->n == 3;
}

static uint64_t n_waiting(const struct toy *y)
{
	uint64_t n = 0;

	for (site_id i = 0; i < y->p.n_sites; i++)
		n += y->sites[i].n_posted - y->sites[i].n_run;
	return n;
}

/* In mailboxes and beyond, at the end of every slice. */
static struct seen watch(unsigned shape, uint32_t workers)
{
	enum { SLICE = 1000000, MIDDLE = 5 * SLICE };
	struct seen middle = { 0 }, s, some;
	enum sim_ending end;
	sim_time until = 0;
	struct toy y;

	toy_run(&y, shape, workers);
	do {
		s = (struct seen){ 0 };
		end = sim_run(y.sim, until += SLICE);
		sim_each_event(y.sim, see, &s);
		assert_int_equal(s.n, n_waiting(&y));
		some = (struct seen){ 0 };
		assert_int_equal(
			sim_any_event(y.sim, see_some, &some), s.n >= 3);
		assert_int_equal(some.n, s.n < 3 ? s.n : 3);
		if (until == MIDDLE)
			middle = s;
	} while (end == SIM_REACHED);
	assert_int_equal(s.n, 0);
	toy_fini(&y);
	return middle;
}

static void all_that_waits_is_seen(void **state)
{
	for (unsigned shape = 2; shape <= 4; shape += 2) {
		struct seen one = watch(shape, 1);

		assert_true(one.n > 100);
		for (uint32_t workers = 2; workers < 8; workers += 5) {
			struct seen many = watch(shape, workers);

			assert_int_equal(many.n, one.n);
			assert_true(many.sum == one.sum);
		}
	}
}

static void every_site_has_one_owner(void **state)
{
	struct toy y;

	for (site_id n = 1; n < 24; n++) {
		for (uint32_t workers = 1; workers < 10; workers++) {
			site_id at = 0;
			uint32_t i;

			toy_init(&y, n, workers, 5000, 5000);
			assert_int_equal(sim_n_workers(y.sim),
				workers < n ? workers : n);
			for (i = 0; i < sim_n_workers(y.sim); i++) {
				struct sim_worker *w = sim_worker(y.sim, i);

				assert_int_equal(w->id, i);
				assert_ptr_equal(w, sim_owner(y.sim, at));
				assert_true(w->n_sites > 0);
				at += w->n_sites;
			}
			assert_int_equal(at, n);
			for (at = 0; at < n; at++) {
				struct sim_worker *w = sim_owner(y.sim, at);

				for (i = 0; i < sim_n_workers(y.sim); i++)
					assert_int_equal(i == w->id,
						sim_is_own(sim_worker(y.sim, i),
							at));
			}
			toy_fini(&y);
		}
	}
}

static void note_thread(struct sim_worker *w, site_id site)
{
	pthread_t *by = w->model;
	sim_time t;

	by[site] = pthread_self();
	while (sim_next(w, &t))
		;
}

/* Without waiting for a measurement that says so. */
static void heavy_visits_run_on_threads_from_the_first_window(void **state)
{
	static const struct sim_ops ops = { .visit = note_thread };
	pthread_t by[2] = { pthread_self(), pthread_self() };
	const struct sim_params p = { .n_sites = 2,
		.n_workers = 2,
		.window = SIM_MIN_WINDOW,
		.ops = &ops,
		.model = by,
		.is_heavy = true };
	struct sim *s = new_sim(&p);

	(void)state;
	for (site_id i = 0; i < 2; i++)
		sim_post(sim_owner(s, i), i, START, 0, 0, 0);
	assert_int_equal(sim_run(s, SIM_NEVER - 1), SIM_IDLE);
	assert_true(pthread_equal(by[0], pthread_self()));
	assert_false(pthread_equal(by[1], pthread_self()));
	sim_free(s);
}

TESTS(TEST(events_run_by_time_then_key_then_aux),
	TEST(the_result_is_the_same_on_any_number_of_workers),
	TEST(sites_may_be_anybodys), TEST(the_result_depends_on_the_draws),
	TEST(slices_give_what_one_run_gives), TEST(a_stopped_run_can_go_on),
	TEST(a_run_reaches_its_end_or_goes_idle),
	TEST(empty_windows_and_idle_sites_cost_nothing),
	TEST(a_site_is_visited_once_per_window), TEST(all_that_waits_is_seen),
	TEST(every_site_has_one_owner),
	TEST(heavy_visits_run_on_threads_from_the_first_window))
