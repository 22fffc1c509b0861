#include <string.h>

#include "sim/random.h"
#include "sim/sim.h"
#include "testing/testing.h"

enum { WINDOW = 20000, SITES = 8, HOPS = 400 };

#define SECOND (INT64_C(1000000000) * SIM_NS)

/*
 * Letters that go from site to site, each with delays of its own between one
 * window and seconds.
 */
struct post {
	struct sim *sim;
	uint64_t seed;
	struct {
		_Alignas(64) uint64_t n, sum; /* of letters, and their times */
		sim_time last;
	} site[SITES];
};

static sim_time delay(uint64_t seed, uint32_t hop)
{
	struct random_bits r = random_draw(seed, 1, RANDOM_TEST, hop);
	sim_time most = SECOND >> random_below(r.a, 26);

	return WINDOW + (sim_time)random_below(r.b, (uint64_t)most);
}

static void visit(struct sim_worker *w, site_id s)
{
	struct post *p = w->model;
	const struct sim_event *e;
	sim_time t;

	while ((e = sim_next(w, &t))) {
		uint32_t hop = e->data;

		p->site[s].n++;
		p->site[s].sum += (uint64_t)t * (hop + 1);
		p->site[s].last = t;
		if (hop % HOPS < HOPS - 1)
			sim_post(w, (s + 1 + hop % 3) % SITES,
				t + delay(p->seed, hop),
				SIM_KEY(PHASE_ARRIVAL, hop / HOPS), 0, hop + 1);
	}
}

static const struct sim_ops ops = { .visit = visit };

static void start(struct post *p, uint32_t n_workers, sim_time reach)
{
	struct sim_params s = {
		.n_sites = SITES,
		.n_workers = n_workers,
		.window = WINDOW,
		.reach = reach,
		.ops = &ops,
		.model = p,
	};
	struct err e = { 0 };

	memset(p, 0, sizeof(*p));
	p->seed = 7;
	p->sim = sim_new(&s, &e);
	assert_non_null(p->sim);
}

static void send(struct post *p, site_id s, sim_time t, uint32_t hop)
{
	sim_post(sim_owner(p->sim, s), s, t, SIM_KEY(PHASE_ARRIVAL, hop / HOPS),
		0, hop);
}

/* Whatever the delays, and whoever owns the sites. */
static void mail_arrives_after_any_delay(void **state)
{
	static const sim_time reach[] = { WINDOW, 100 * WINDOW, SECOND };
	static const uint32_t workers[] = { 1, 2, 3, SITES };
	static struct post one, many;
	uint32_t letters = 4;

	start(&one, 1, WINDOW);
	for (uint32_t k = 0; k < letters; k++)
		send(&one, k, 0, k * HOPS);
	assert_int_equal(sim_run(one.sim, SIM_NEVER), SIM_IDLE);
	for (uint32_t n = 0; n < 4; n++) {
		for (uint32_t i = 0; i < 3; i++) {
			start(&many, workers[n], reach[i]);
			for (uint32_t k = 0; k < letters; k++)
				send(&many, k, 0, k * HOPS);
			assert_int_equal(
				sim_run(many.sim, SIM_NEVER), SIM_IDLE);
			assert_memory_equal(
				one.site, many.site, sizeof(one.site));
			sim_free(many.sim);
		}
	}
	sim_free(one.sim);
}

static void count(void *arg, sim_time t, const struct sim_event *e)
{
	sim_time *at = arg;

	assert_true(*at == SIM_NEVER);
	*at = t;
}

/* One letter is one event that waits, wherever it is; nobody visits a window
 * without any. */
static void a_letter_is_known_while_it_is_on_its_way(void **state)
{
	static struct post p;

	for (uint32_t n = 1; n <= SITES; n += 3) {
		sim_time t = 0;
		uint64_t windows = 0;

		start(&p, n, WINDOW);
		send(&p, 0, 0, 0);
		while (t != SIM_NEVER) {
			sim_time at = SIM_NEVER;

			sim_each_event(p.sim, count, &at);
			assert_int_equal(at / WINDOW * WINDOW, t);
			assert_int_equal(sim_next_time(p.sim), t);
			sim_run(p.sim, t + WINDOW);
			t = sim_next_time(p.sim);
			windows++;
			assert_int_equal(
				sim_worker(p.sim, 0)->n_windows, windows);
		}
		assert_int_equal(sim_n_events(p.sim), HOPS);
		assert_int_equal(windows, HOPS);
		sim_free(p.sim);
	}
}

/* Slices of 2.5 windows, which end with the third. */
static void a_slice_that_is_empty_is_left_out(void **state)
{
	const sim_time slice = 5 * WINDOW / 2;
	static struct post p;

	start(&p, 1, WINDOW);
	assert_int_equal(sim_slice(p.sim, slice), slice);
	send(&p, 3, 2 * WINDOW + 5, HOPS - 1);
	assert_int_equal(sim_slice(p.sim, slice), slice);
	sim_run(p.sim, slice);
	assert_int_equal(sim_now(p.sim), 3 * WINDOW);
	assert_int_equal(sim_n_events(p.sim), 1);
	send(&p, 3, 3 * SECOND, HOPS - 1);
	send(&p, 5, 9 * SECOND, HOPS - 1);
	sim_run(p.sim, sim_slice(p.sim, slice));
	assert_int_equal(sim_n_events(p.sim), 2);
	assert_int_equal(sim_now(p.sim) % (3 * WINDOW), 0);
	assert_true(sim_now(p.sim) - 3 * SECOND <= 3 * WINDOW);
	sim_free(p.sim);
}

/* Windows that are done hand their memory on. */
static void only_mail_under_way_holds_memory(void **state)
{
	enum { N = 1000 };
	static struct post p;

	start(&p, 1, WINDOW);
	for (uint32_t k = 1; k < 200; k++) {
		for (uint32_t i = 0; i < N; i++)
			send(&p, i % SITES, (sim_time)k * WINDOW + i, HOPS - 1);
		sim_run(p.sim, (sim_time)(k + 1) * WINDOW);
	}
	assert_int_equal(sim_n_events(p.sim), 199 * N);
	assert_true(sim_memory(p.sim) < 8 * N * sizeof(struct sim_event));
	sim_free(p.sim);
}

TESTS(TEST(mail_arrives_after_any_delay),
	TEST(a_letter_is_known_while_it_is_on_its_way),
	TEST(a_slice_that_is_empty_is_left_out),
	TEST(only_mail_under_way_holds_memory))
