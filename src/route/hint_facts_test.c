#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "route/hint.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

struct machine_of {
	struct torus t;
	struct hint h;
};

/* What a wire of each class costs: numbers that no two sums share. */
static const int64_t cost[N_WIRE_CLASSES] = { 41400, 48250, 198251, 138257,
	48013 };

static void set(struct param_block *b, const char *name, const char *text)
{
	struct err e = { 0 };

	if (param_read(b, param_find(b, name), text, &e))
		fail_msg("%s", e.text);
}

static void make(struct machine_of *m, const char *shape, const char *wrap,
	const char *ties)
{
	struct param_block routing = { "routing", hint_ops.params,
		hint_ops.n_params, &m->h, NULL, NULL };
	struct err e = { 0 };

	memset(m, 0, sizeof(*m));
	m->h.route.ops = &hint_ops;
	param_defaults(&routing);
	torus_make(&m->t, shape, wrap);
	set(&routing, "ties", ties);
	if (hint_ops.init(&m->h.route, &m->t.topo, &e))
		fail_msg("%s", e.text);
}

static void unmake(struct machine_of *m)
{
	hint_ops.fini(&m->h.route);
}

/* Follows a packet's deterministic way, wire by wire. */
static int64_t walk(const struct machine_of *m, router_id from, router_id to)
{
	struct packet p = { .src = from, .dst = to };
	const struct topo *t = &m->t.topo;
	int64_t sum = 0;
	router_id r = from;

	p.kind = PACKET_DETERMINISTIC;
	route_begin(&m->h.route, &p);
	while (p.hints) {
		struct topo_end end = torus_ops.peer(t, r, p.escape);

		sum += cost[torus_ops.wire(t, r, p.escape)];
		r = end.router;
		route_arrive(&m->h.route, &p, r, end.port);
	}
	assert_int_equal(r, to);
	return sum;
}

static struct route_way walk_all(const struct machine_of *m)
{
	struct route_way f = { .min = INT64_MAX };
	router_id n = m->t.topo.n_routers;

	for (router_id x = 0; x < n; x++) {
		for (router_id y = 0; y < n; y++) {
			int64_t way = x == y ? 0 : walk(m, x, y);

			if (x != y && way < f.min)
				f.min = way;
			if (way > f.max)
				f.max = way;
			f.mean += (double)way;
		}
	}
	f.mean /= (double)n * (n - 1);
	return f;
}

static void compare(const char *shape, const char *wrap, const char *ties)
{
	struct machine_of m;
	struct route_way a, b;

	make(&m, shape, wrap, ties);
	a = hint_ops.way(&m.h.route, cost);
	b = walk_all(&m);
	if (a.min != b.min || a.max != b.max ||
		fabs(a.mean - b.mean) > 1e-9 * b.mean)
		fail_msg("%s %s %s: %lld %lld %f, walked %lld %lld %f", shape,
			wrap, ties, (long long)a.min, (long long)a.max, a.mean,
			(long long)b.min, (long long)b.max, b.mean);
	unmake(&m);
}

static void ways_are_those_that_packets_go(void **state)
{
	static const char *const wraps[] = { "torus", "mesh", "mesh,torus",
		"torus,mesh", "loop" };
	uint64_t n = 0;

	compare("4x4x4x2", "torus", "parity");
	compare("2x2x2x2x2", "mesh,mesh,mesh,mesh,torus", "parity");
	compare("2", "torus", "parity");
	compare("1x1x6", "torus", "parity");
	compare("8x1x3", "torus", "plus");
	for (int i = 0; i < 60; i++) {
		char shape[64];
		uint32_t a = 2 + dice(5, &n, 8), b = 1 + dice(5, &n, 6);

		snprintf(shape, sizeof(shape), "%ux%ux%u", a, b,
			1 + dice(5, &n, 4));
		compare(shape, wraps[dice(5, &n, 5)],
			dice(5, &n, 2) ? "parity" : "plus");
	}
}

/* By lot the dearest and the cheapest are those of either direction. */
static void ties_by_lot_cost_the_mean(void **state)
{
	struct machine_of m;
	struct route_way plus, lot;

	make(&m, "4x3", "torus", "random");
	lot = hint_ops.way(&m.h.route, cost);
	m.h.ties = GRID_TIES_PLUS;
	plus = hint_ops.way(&m.h.route, cost);
	assert_int_equal(plus.min, lot.min);
	assert_true(lot.max >= plus.max);
	/* A ring of four: 2 of 3 ways round are fixed, one is either half. */
	assert_true(fabs(lot.mean - plus.mean) < plus.mean / 4);
	unmake(&m);
}

TESTS(TEST(ways_are_those_that_packets_go), TEST(ties_by_lot_cost_the_mean))
