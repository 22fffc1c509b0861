/*
 * A made-up routing on a ring: all packets go up, by one channel, or from the
 * dateline on by a second one.  The proof follows from its next() alone, and a
 * saturated run says the same.
 */
#include <string.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "net/params_testing.h"
#include "net/proof.h"
#include "route/hint_testing.h"
#include "router/direct/direct.h"
#include "testing/testing.h"

enum { NODES = 8, UP = 0, SENT = 200, MOST_TIME = 4000000 /* ns */ };

/* What came to a node goes up until it is there. */
static struct route_step next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_step s = {
		.ports = 1u << UP,
		.escape = UP,
		.is_ordered = true,
	};

	if (at == p->dst)
		return (struct route_step){ .escape = PACKET_NO_PORT };
	if (r->answers) { /* the other channel at every hop, in this ring */
		s.channel = (at - p->src) & 1;
		return s;
	}
	/* once it has passed the last node, the second channel */
	s.channel = r->n_channels > 1 && at < p->src;
	return s;
}

static void start(const struct route *r, struct packet *p)
{
	p->way = 0;
}

static const char *const channels[] = { "first", "second" };

static const struct route_ops ring_ops = {
	.name = "ring",
	.channels = channels,
	.n_channels = 2,
	.start = start,
	.next = next,
};

/* --- a client that keeps the ring full --- */

struct world {
	struct hint_machine m; /* for its torus */
	struct route route;
	struct link_params link;
	struct net_params router;
	struct net *net;
	uint32_t sent[NODES], got[NODES];
	uint32_t far; /* how far each packet goes */
	uint32_t last[NODES]; /* number that came from each */
};

static void fill(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct world *x = me->state;

	while (x->sent[s] < SENT && net_has_room(n, s, fifo)) {
		packet_id id = packet_take(n->pool, w->id);

		n->packets[id] = (struct packet){
			.src = s,
			.dst = (s + x->far) % NODES,
			.number = ++x->sent[s],
			.bytes = 512,
			.born = t,
		};
		net_inject(n, w, s, fifo, id, t);
	}
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct world *x = me->state;
	const struct packet *p = &n->packets[id];

	assert_int_equal(p->dst, s);
	assert_int_equal(p->number, ++x->last[p->src]); /* in order */
	x->got[s]++;
	packet_give(n->pool, w->id, id);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct net *n = me->net;

	fill(me, w, s, net_fifos(n, NET_USER).first, t);
}

static const struct net_client_ops client = {
	.on_room = fill,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static struct world *make(
	uint32_t n_channels, int64_t queues, const struct book_how *book)
{
	struct world *x = mem_alloc(1, sizeof(*x));
	struct net_setup s = {
		.topo = &x->m.t.topo,
		.route = &x->route,
		.link = &x->link,
		.router = &x->router,
		.client = &client,
		.client_state = x,
		.n_workers = 1,
		.book = book,
	};
	struct err e = { 0 };

	hint_make(&x->m, &(struct hint_how){ .shape = "8" });
	x->route = (struct route){
		.ops = &ring_ops,
		.topo = &x->m.t.topo,
		.n_channels = (uint8_t)n_channels,
	};
	net_params_defaults(&x->router);
	x->link = link_test_defaults();
	x->router.kind = &direct_ops;
	x->router.packets = 1;
	x->router.transit = 1; /* injection has its turn: buffers fill up */
	x->router.queues = queues;
	x->far = 5;
	x->net = net_new(&s, &e);
	if (!x->net)
		fail_msg("%s", e.text);
	return x;
}

static void unmake(struct world *x)
{
	net_free(x->net);
	hint_unmake(&x->m);
	mem_free(x);
}

/* Runs until nothing is left to do, or for long; whether all came. */
static bool runs_through(struct world *x)
{
	struct err e = { 0 };
	uint32_t n = 0;

	for (site_id s = 0; s < NODES; s++)
		sim_post(sim_owner(x->net->sim, s), s, (sim_time)s * 100,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
	sim_run(x->net->sim, (sim_time)MOST_TIME * SIM_NS);
	if (net_audit(x->net, &e))
		fail_msg("%s", e.text);
	for (site_id s = 0; s < NODES; s++)
		n += x->got[s];
	return n == NODES * SENT;
}

/* --- the tests --- */

static void prove(struct proof *p, const struct world *x)
{
	proof_make(p, x->net->topo, x->net->route, NULL, x->router.packets);
	assert_true(p->step[0].holds);
	assert_int_equal(p->n_routes, NODES * (NODES - 1));
}

static void a_ring_of_one_channel_is_found_to_lock_and_does(void **state)
{
	struct world *x = make(1, 1, NULL);
	char text[2000];
	struct proof p;

	prove(&p, x);
	assert_false(p.is_proved);
	assert_int_equal(p.step[1].n_cycle, NODES);
	proof_name(x->net->topo, x->net->route, &p.step[1].cycle[0], text,
		sizeof(text));
	assert_non_null(strstr(text, "channel first"));
	proof_free(&p);
	assert_false(runs_through(x));
	assert_true(net_knot(x->net, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "node 3"));
	unmake(x);
}

static void a_dateline_is_proved_and_runs_through(void **state)
{
	for (int64_t queues = 1; queues <= 2; queues++) {
		struct world *x = make(2, queues, NULL);
		struct proof p;
		char text[100];

		prove(&p, x);
		assert_true(p.is_proved);
		proof_free(&p);
		assert_true(runs_through(x));
		assert_int_equal(net_knot(x->net, text, sizeof(text)), 0);
		/* what passed the dateline went by the second channel */
		assert_true(net_counters(x->net, 1, 1, 1u << 1, 0).packets > 0);
		assert_true(
			net_counters(x->net, 7, 1, 1u << 1, 0).packets == 0);
		unmake(x);
	}
}

/* Those who ask for one link come from either channel, and go to either. */
static void channels_may_change_at_every_hop(void **state)
{
	struct world *x = make(2, 1, NULL);
	struct net_setup s = {
		.topo = &x->m.t.topo,
		.route = &x->route,
		.link = &x->link,
		.router = &x->router,
		.client = &client,
		.client_state = x,
		.n_workers = 1,
	};
	struct err e = { 0 };

	net_free(x->net);
	x->route.answers = 1;
	x->router.packets = 8;
	x->router.transit =
		0; /* or they could lock, for there is no dateline */
	x->net = net_new(&s, &e);
	assert_true(runs_through(x));
	assert_true(net_counters(x->net, 3, 1, 1u << 0, 0).packets > 0);
	assert_true(net_counters(x->net, 3, 1, 1u << 1, 0).packets > 0);
	unmake(x);
}

static void budgets_change_nothing_of_it(void **state)
{
	static const struct book_how how = { 0 };
	struct world *a = make(2, 1, NULL), *b = make(2, 1, &how);

	assert_true(runs_through(a) && runs_through(b));
	assert_true(sim_now(a->net->sim) == sim_now(b->net->sim));
	unmake(a);
	unmake(b);
}

static void too_many_queues_are_refused(void **state)
{
	struct world *x = make(2, 1, NULL);
	struct net_setup s = {
		.topo = &x->m.t.topo,
		.route = &x->route,
		.link = &x->link,
		.router = &x->router,
		.n_workers = 1,
	};
	struct err e = { 0 };

	x->router.queues = 3;
	assert_null(net_new(&s, &e));
	assert_non_null(strstr(e.text, "router.queues"));
	unmake(x);
}

/* --- ways with choices --- */

/* Up or down, whichever: each is followed, and no way is too long. */
static struct route_step next_either(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_step s = next(r, p, at, in);

	if (s.ports && in == TOPO_NO_PORT)
		s.ports |= 1u << 1; /* down */
	else if (s.ports && in == UP)
		s = (struct route_step){ .ports = 1u << 1, .escape = 1 };
	return s;
}

static void all_ways_that_a_router_may_choose_are_followed(void **state)
{
	struct world *x = make(1, 1, NULL);
	struct route_ops ops = ring_ops;
	struct proof p;
	uint32_t ports = 0;

	ops.next = next_either;
	x->route.ops = &ops;
	prove(&p, x);
	/* rings in both directions: from each wire to the next */
	assert_int_equal(p.n_channels, 2 * NODES);
	for (uint32_t i = 0; i < p.step[1].n_cycle; i++)
		ports |= 1u << p.step[1].cycle[i].port;
	assert_true(ports == 1u << 0 || ports == 1u << 1);
	proof_free(&p);
	unmake(x);
}

/* A packet that never comes to its end is no proof's. */
static struct route_step next_astray(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	p->way++;
	return p->way < 3 || at == p->dst
		       ? (struct route_step){ .escape = PACKET_NO_PORT }
		       : (struct route_step){ .ports = 1, .escape = 0 };
}

static void ways_that_end_elsewhere_are_told(void **state)
{
	struct world *x = make(1, 1, NULL);
	struct route_ops ops = ring_ops;
	struct proof p;

	ops.next = next_astray;
	x->route.ops = &ops;
	proof_make(&p, x->net->topo, &x->route, NULL, 2);
	assert_false(p.is_proved);
	assert_non_null(strstr(p.step[0].why, "another node"));
	proof_free(&p);
	unmake(x);
}

/* --- what a site takes --- */

static void a_sites_bytes_follow_its_ports(void **state)
{
	assert_true(direct_ops.site_bytes(1) <= 1536);
	assert_true(direct_ops.site_bytes(10) < 9856);
	assert_true(direct_ops.site_bytes(12) <= 9856);
	assert_true(direct_ops.site_bytes(16) > direct_ops.site_bytes(12));
}

TESTS(TEST(a_ring_of_one_channel_is_found_to_lock_and_does),
	TEST(a_dateline_is_proved_and_runs_through),
	TEST(channels_may_change_at_every_hop),
	TEST(budgets_change_nothing_of_it), TEST(too_many_queues_are_refused),
	TEST(all_ways_that_a_router_may_choose_are_followed),
	TEST(ways_that_end_elsewhere_are_told),
	TEST(a_sites_bytes_follow_its_ports))
