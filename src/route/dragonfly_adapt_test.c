/* Decisions of a dragonfly's routers, by queues that the tests make up. */
#include <string.h>

#include "base/mem.h"
#include "route/dragonfly.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"

enum {
	BIAS = 10,
	SRC = 0,
	FAR = 70, /* a node of the last group */
	PACKETS = 200,
};

/* Nine groups of four routers with two nodes and two global links each. */
struct world {
	struct dragonfly t;
	struct dragonfly_route d;
};

/* The queues of the router that decides, and what others have told of theirs.
 */
struct queues {
	struct route_look look;
	uint32_t load[TOPO_MAX_PORTS];
	router_id far;
	uint32_t told[TOPO_MAX_PORTS]; /* of that router */
};

static void make(struct world *x, int64_t mode, int64_t local)
{
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &dragonfly_ops;
	topo_defaults(&x->t.topo);
	x->t.per_router = 2;
	x->t.routers = 4;
	x->t.globals = 2;
	x->t.nodes = 72;
	x->d.route.ops = &dragonfly_route_ops;
	x->d.mode = mode;
	x->d.local = local;
	x->d.stages = 1;
	x->d.bias = BIAS;
	x->d.candidates = 1;
	x->d.age = -1;
	if (dragonfly_ops.init(&x->t.topo, &e) ||
		dragonfly_route_ops.init(&x->d.route, &x->t.topo, &e))
		fail_msg("%s", e.text);
}

static uint32_t load(const struct route_look *l, port_id port, uint32_t channel)
{
	(void)channel;
	return ((const struct queues *)l)->load[port];
}

static uint32_t told(const struct route_look *l, router_id at, port_id port)
{
	const struct queues *q = (const struct queues *)l;

	return at == q->far ? q->told[port] : 0;
}

static struct queues all_have(uint32_t n)
{
	struct queues q = { .look = { load, UINT32_MAX, told },
		.far = NO_ROUTER };

	for (port_id p = 0; p < TOPO_MAX_PORTS; p++)
		q.load[p] = n;
	return q;
}

/* Where a packet has come to. */
struct place {
	struct packet p;
	router_id at;
	port_id in;
	uint32_t locals, globals; /* hops so far */
	uint32_t channel; /* of the last one */
};

static struct place start(const struct world *x, uint32_t dst, uint32_t number)
{
	struct place w = { .p = { .src = SRC,
				   .dst = dst,
				   .number = number,
				   .kind = PACKET_DYNAMIC,
				   .chunks = 1 },
		.at = dragonfly_router(&x->t, SRC, 0),
		.in = dragonfly_node_port(&x->t, SRC, 0) };

	dragonfly_route_ops.start(&x->d.route, &w.p);
	dragonfly_route_ops.next(&x->d.route, &w.p, SRC, TOPO_NO_PORT);
	return w;
}

/* The router decides, and the packet goes on by the port that is returned. */
static port_id go_on(
	const struct world *x, struct place *w, const struct queues *q)
{
	const struct topo *t = &x->t.topo;
	struct route_step s;
	struct topo_end far;

	dragonfly_route_ops.decide(&x->d.route, &w->p, w->at, w->in, &q->look);
	s = dragonfly_route_ops.next(&x->d.route, &w->p, w->at, w->in);
	assert_true(s.ports == (port_mask)1 << s.escape);
	w->locals += t->ops->wire(t, w->at, s.escape) == DRAGONFLY_LOCAL;
	w->globals += t->ops->wire(t, w->at, s.escape) == DRAGONFLY_GLOBAL;
	w->channel = s.channel;
	far = t->ops->peer(t, w->at, s.escape);
	w->at = far.router;
	w->in = far.port;
	return s.escape;
}

/* To its end, with queues that change nothing. */
static uint32_t hops_to_end(const struct world *x, struct place *w)
{
	const struct queues idle = all_have(0);

	while (w->at >= x->t.topo.n_nodes)
		go_on(x, w, &idle);
	assert_int_equal(w->at, w->p.dst);
	return w->locals + w->globals;
}

/* The port of the minimal route. */
static port_id minimal_port(
	const struct world *x, uint32_t dst, uint32_t number)
{
	const struct queues idle = all_have(0);
	struct place w = start(x, dst, number);

	return go_on(x, &w, &idle);
}

/* NET-F13: the queue of each first link, times the hops of its route. */
static void ugal_weighs_queues_by_hops(void **state)
{
	static const uint32_t others[] = { 0, 3, 20 };
	uint32_t left = 0, stayed = 0, missed = 0;
	struct world x;

	make(&x, DRAGONFLY_UGAL, DRAGONFLY_STRAIGHT);
	for (uint32_t n = 0; n < 3 * PACKETS; n++) {
		struct queues q = all_have(others[n % 3]);
		uint32_t dst = 8 + n % 64;
		struct place w = start(&x, dst, n), low = w;
		uint32_t near = n / 3 % 50, least, hops;
		port_id port = minimal_port(&x, dst, n);

		least = hops_to_end(&x, &low);
		assert_int_equal(low.globals, 1);
		q.load[port] = near;
		go_on(&x, &w, &q);
		hops = hops_to_end(&x, &w);
		assert_true(w.globals <= 2 && w.locals <= 3);
		if (w.globals == 2) {
			left++;
			assert_true(near * least > others[n % 3] * hops + BIAS);
		} else {
			stayed++;
			missed += near * least > others[n % 3] * 5 + BIAS;
		}
	}
	assert_true(left > PACKETS / 2 && stayed > PACKETS);
	/* whose detour begins with the same link */
	assert_true(missed < PACKETS / 10);
}

/* NET-F13 */
static void ugal_leaves_a_long_queue_and_no_short_one(void **state)
{
	uint32_t left[2] = { 0 };
	struct world x;

	make(&x, DRAGONFLY_UGAL, DRAGONFLY_STRAIGHT);
	for (uint32_t n = 0; n < 2 * PACKETS; n++) {
		struct queues q = all_have(0);
		struct place w = start(&x, FAR, n);

		q.load[minimal_port(&x, FAR, n)] = n % 2 ? 3 : 100;
		go_on(&x, &w, &q);
		hops_to_end(&x, &w);
		left[n % 2] += w.globals == 2;
	}
	/* few detours begin with the same link, too */
	assert_true(left[0] > PACKETS * 9 / 10);
	assert_int_equal(left[1], 0);
}

/* NET-F13, NET-F14: at the second router of the group PAR may still leave the
 * minimal route, on the next channel; UGAL has decided. */
static void only_par_decides_again(void **state)
{
	for (int64_t mode = DRAGONFLY_UGAL; mode <= DRAGONFLY_PAR; mode++) {
		const struct queues idle = all_have(0);
		uint32_t left = 0, n_second = 0;
		struct world x;

		make(&x, mode, DRAGONFLY_STRAIGHT);
		for (uint32_t dst = 8; dst < 72; dst++) {
			struct queues q = all_have(0);
			struct place w = start(&x, dst, dst);

			go_on(&x, &w, &idle);
			if (!w.locals)
				continue; /* it has left the group */
			n_second++;
			for (port_id p = x.t.global; p < x.t.topo.n_ports; p++)
				q.load[p] = 100;
			go_on(&x, &w, &q);
			if (w.locals == 2) {
				left++;
				assert_int_equal(w.channel, 1);
			}
			hops_to_end(&x, &w);
			assert_true(w.channel < x.d.route.n_channels);
		}
		assert_true(n_second > 20);
		if (mode == DRAGONFLY_PAR)
			assert_true(left > n_second / 2);
		else
			assert_int_equal(left, 0);
	}
}

/* NET-F15: its own queues are empty, but another router has told that the
 * global link there has a long one. */
static void ugal_g_knows_the_queues_of_its_group(void **state)
{
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t left = 0, n_second = 0;
		struct world x;

		make(&x, k ? DRAGONFLY_UGAL_G : DRAGONFLY_UGAL,
			DRAGONFLY_STRAIGHT);
		assert_int_equal(x.d.route.has_news, k);
		for (uint32_t dst = 8; dst < 72; dst++) {
			struct queues q = all_have(0);
			struct place w = start(&x, dst, dst), low = w;

			go_on(&x, &low, &q);
			if (!low.locals)
				continue;
			n_second++;
			q.far = low.at;
			q.told[go_on(&x, &low, &q)] = 100;
			go_on(&x, &w, &q);
			hops_to_end(&x, &w);
			left += w.globals == 2;
		}
		assert_true(n_second > 20);
		if (k)
			assert_true(left > n_second / 2);
		else
			assert_int_equal(left, 0);
	}
}

/* NET-F15: each tells all of its group of its global links. */
static void news_are_of_global_links_of_the_group(void **state)
{
	struct route_news n;
	struct world x;

	make(&x, DRAGONFLY_UGAL_G, DRAGONFLY_STRAIGHT);
	n = dragonfly_route_ops.news(&x.d.route, 72 + 4 * 3 + 2);
	assert_int_equal(n.first, 72 + 4 * 3);
	assert_int_equal(n.n, 4);
	assert_true(n.ports == (port_mask)3 << x.t.global);
}

/* NET-F16: to a router of its own group through a third one, whose channel is
 * the next. */
static void a_full_link_of_a_group_is_gone_round(void **state)
{
	uint32_t via[4] = { 0 };
	struct world x;

	make(&x, DRAGONFLY_MINIMAL, DRAGONFLY_DETOUR);
	for (uint32_t n = 0; n < PACKETS; n++) {
		struct queues q = all_have(0);
		struct place w = start(&x, 7, n); /* at router 3 */
		port_id direct = minimal_port(&x, 7, n);

		q.load[direct] = n % 2 ? BIAS : 100;
		go_on(&x, &w, &q);
		assert_int_equal(w.channel, 0);
		via[w.at - 72]++;
		if (n % 2 == 0) {
			assert_int_not_equal(w.at, 72 + 3);
			go_on(&x, &w, &q);
			assert_int_equal(w.channel, 1);
		}
		assert_int_equal(w.at, 72 + 3);
		assert_int_equal(hops_to_end(&x, &w), n % 2 ? 1 : 2);
	}
	assert_true(via[1] > PACKETS / 8 && via[2] > PACKETS / 8);
	assert_int_equal(via[3], PACKETS / 2);
}

/* NET-F16: two short queues are no better than one. */
static void a_detour_counts_twice(void **state)
{
	struct world x;

	make(&x, DRAGONFLY_MINIMAL, DRAGONFLY_DETOUR);
	for (uint32_t n = 0; n < PACKETS; n++) {
		struct queues q = all_have(30);
		struct place w = start(&x, 7, n);

		q.load[minimal_port(&x, 7, n)] = 2 * 30 + BIAS + n % 2;
		go_on(&x, &w, &q);
		assert_int_equal(w.at == 72 + 3, !(n % 2));
	}
}

/* NET-F16: the second link of a detour is another router's, which may have
 * failed. */
static void a_detour_has_no_dead_link(void **state)
{
	struct route *view;
	port_mask *dead;
	port_id port;
	struct world x;

	make(&x, DRAGONFLY_MINIMAL, DRAGONFLY_DETOUR);
	dead = mem_alloc(x.t.topo.n_routers, sizeof(*dead));
	port = dragonfly_local(&x.t, 1, 3);
	dead[72 + 1] = (port_mask)1 << port;
	dead[72 + 3] = (port_mask)1 << dragonfly_local(&x.t, 3, 1);
	view = dragonfly_route_ops.avoid(&x.d.route, dead);
	x.d = *(struct dragonfly_route *)view;
	for (uint32_t n = 0, turns = 0; n < PACKETS; n++) {
		struct queues q = all_have(0);
		struct place w = start(&x, 7, n);

		q.load[minimal_port(&x, 7, n)] = 100;
		go_on(&x, &w, &q);
		assert_int_not_equal(w.at, 72 + 1);
		turns += w.at == 72 + 2;
		assert_true(n < PACKETS - 1 || turns > PACKETS / 4);
	}
	route_free(view);
	mem_free(dead);
}

TESTS(TEST(ugal_weighs_queues_by_hops),
	TEST(ugal_leaves_a_long_queue_and_no_short_one),
	TEST(only_par_decides_again),
	TEST(ugal_g_knows_the_queues_of_its_group),
	TEST(news_are_of_global_links_of_the_group),
	TEST(a_full_link_of_a_group_is_gone_round), TEST(a_detour_counts_twice),
	TEST(a_detour_has_no_dead_link))
