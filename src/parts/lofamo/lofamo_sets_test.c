/*
 * LO|FA|MO when several parts fail: in the end no ill part is called normal,
 * and never a healthy one dead.  With WEFT_LONG these are all pairs of faults
 * of a torus of 4x4x1, and ten thousand sets of up to eight on 4x4x4.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"
#include "topo/torus.h"
#include "parts/lofamo/lofamo.h"

#define PERIOD (500 * MS)

enum { GPUS = 2, MOST = 8 };

struct world {
	struct torus t;
	struct lofamo_params p;
	struct lofamo_setup setup;
	struct lofamo_fault *part; /* all that may fail */
	uint32_t n;
	uint64_t undetected, false_alarms, sets;
};

/* --- parts --- */

static void add(struct world *x, enum lofamo_kind kind, router_id site,
	uint32_t unit, enum health state)
{
	x->part = mem_grow(x->part, x->n + 1, sizeof(*x->part));
	x->part[x->n++] = (struct lofamo_fault){
		.kind = kind, .site = site, .unit = unit, .state = state
	};
}

static void find_parts(struct world *x)
{
	for (router_id s = 0; s < x->t.topo.n_nodes; s++) {
		add(x, LOFAMO_HOST, s, 0, HEALTH_DEAD);
		add(x, LOFAMO_HOST, s, 0, HEALTH_SICK);
		add(x, LOFAMO_CARD, s, 0, HEALTH_DEAD);
		add(x, LOFAMO_SERVICE, s, 0, HEALTH_DEAD);
		for (uint32_t k = 0; k < GPUS; k++)
			add(x, LOFAMO_GPU, s, k, HEALTH_DEAD);
		for (uint32_t k = 0; k < x->t.topo.n_ports; k++) {
			router_id far = torus_ops.peer(&x->t.topo, s, k).router;

			if (far != NO_ROUTER && far > s)
				add(x, LOFAMO_LINK, s, k, HEALTH_DEAD);
		}
	}
}

static void open(struct world *x, const char *shape)
{
	struct param_block b = { "topology", torus_ops.params,
		torus_ops.n_params, &x->t, NULL, NULL };
	struct param_block w = { "lofamo", lofamo_params_table, LOFAMO_PARAMS,
		&x->p, NULL, NULL };
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &torus_ops;
	topo_defaults(&x->t.topo);
	assert_int_equal(param_read(&b, param_find(&b, "shape"), shape, &e), 0);
	assert_int_equal(torus_ops.init(&x->t.topo, &e), 0);
	param_defaults(&w);
	x->setup = (struct lofamo_setup){ .params = &x->p,
		.topo = &x->t.topo,
		.latency = 500000,
		.slot = 57143,
		.n_gpus = GPUS };
	find_parts(x);
}

static void close(struct world *x)
{
	print_message("%llu sets of faults: %llu undetected, %llu false "
		      "alarms\n",
		(unsigned long long)x->sets, (unsigned long long)x->undetected,
		(unsigned long long)x->false_alarms);
	assert_int_equal(x->undetected, 0);
	assert_int_equal(x->false_alarms, 0);
	mem_free(x->part);
}

/* --- sets --- */

static void look(struct world *x, const struct lofamo *l, bool is_late)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct lofamo_fault *f = &x->part[i];
		enum health h = lofamo_state(l, f->kind, f->site, f->unit);
		bool is_well = lofamo_is_well(l, f->kind, f->site, f->unit);

		x->false_alarms += is_well && h == HEALTH_DEAD;
		x->undetected += is_late && !is_well && h == HEALTH_NORMAL;
	}
}

/* Each at its time, within four periods. */
static void try(struct world *x, const uint32_t *part, uint32_t n)
{
	sim_time first = 4 * PERIOD;
	struct lofamo *l;

	x->setup.seed = ++x->sets;
	l = lofamo_new(&x->setup);
	for (uint32_t i = 0; i < n; i++) {
		struct lofamo_fault f = x->part[part[i]];
		uint64_t r = random_draw(x->sets, i, RANDOM_WATCH, 1).b;

		f.at = first + (sim_time)random_below(r, 4 * PERIOD);
		lofamo_add(l, &f);
	}
	for (sim_time t = first; t < first + 20 * PERIOD; t += PERIOD / 2) {
		lofamo_run(l, t);
		look(x, l, t >= first + 18 * PERIOD);
	}
	lofamo_free(l);
}

static bool is_long(void)
{
	return getenv("WEFT_LONG");
}

/* APE-F34. */
static void ape_f34_no_pair_of_faults_stays_hidden(void **state)
{
	uint32_t part[2], every = is_long() ? 1 : 127, k = 0;
	struct world x;

	open(&x, "4x4x1");
	assert_int_equal(x.n, 16 * 6 + 32);
	for (part[0] = 0; part[0] < x.n; part[0]++)
		for (part[1] = part[0]; part[1] < x.n; part[1]++)
			if (k++ % every == 0)
				try(&x, part, part[0] == part[1] ? 1 : 2);
	close(&x);
}

/* APE-F34. */
static void ape_f34_no_set_of_faults_stays_hidden(void **state)
{
	uint32_t part[MOST], n, i, k, sets = is_long() ? 10000 : 20;
	struct world x;

	open(&x, "4x4x4");
	for (k = 0; k < sets; k++) {
		struct random_bits r = random_draw(7, k, RANDOM_TARGET, 0);

		n = 1 + (uint32_t)(r.a % MOST);
		for (i = 0; i < n; i++)
			part[i] = (uint32_t)random_below(
				random_draw(7, k, RANDOM_TARGET, 1 + i).a, x.n);
		try(&x, part, n);
	}
	close(&x);
}

/* --- sleep --- */

/* The Master's picture after some faults, one of which is mended.  What
 * becomes of hosts that were well and stay so wakes them all at once. */
static struct lofamo *run(const struct world *x, uint32_t k, bool is_awake)
{
	struct lofamo *l = lofamo_new(&x->setup);
	uint32_t n = 1 + k % MOST;

	for (uint32_t i = 0; is_awake && i < x->t.topo.n_nodes; i++)
		lofamo_add(l, &(struct lofamo_fault){ .site = i });
	for (uint32_t i = 0; i < n; i++) {
		struct random_bits r = random_draw(8, k, RANDOM_TARGET, i);
		struct lofamo_fault f = x->part[random_below(r.a, x->n)];

		f.at = (sim_time)random_below(r.b, 9 * PERIOD);
		lofamo_add(l, &f);
		f.at += 6 * PERIOD;
		f.state = HEALTH_NORMAL;
		if (!i)
			lofamo_add(l, &f);
	}
	lofamo_run(l, 25 * PERIOD);
	return l;
}

static void nodes_that_sleep_are_as_if_they_did_not(void **state)
{
	struct lofamo_part a, b;
	uint32_t parts = 0;
	struct world x;
	size_t i;

	open(&x, "4x4x3");
	for (uint32_t k = 0; k < 40; k++) {
		struct lofamo *l, *m;

		x.setup.seed = k;
		l = run(&x, k, false);
		m = run(&x, k, true);
		for (i = 0; lofamo_part(l, i, &a); i++) {
			assert_true(lofamo_part(m, i, &b));
			assert_true(a.kind == b.kind && a.site == b.site &&
				    a.unit == b.unit && a.state == b.state);
			assert_true(a.since == b.since && a.known == b.known &&
				    a.by == b.by);
		}
		assert_false(lofamo_part(m, i, &b));
		parts += (uint32_t)i;
		lofamo_free(l);
		lofamo_free(m);
	}
	assert_true(parts > 100);
	close(&x);
}

TESTS(TEST(ape_f34_no_pair_of_faults_stays_hidden),
	TEST(ape_f34_no_set_of_faults_stays_hidden),
	TEST(nodes_that_sleep_are_as_if_they_did_not))
