/*
 * Nodes with direct routers around a switch of another kind, made up here: 40
 * ports, one buffer for each, and a link's next packet is that of the first
 * port whose head wants it.  What looks at a network from outside works for
 * both.
 */
#include <string.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "net/params_testing.h"
#include "net/use.h"
#include "router/direct/direct.h"
#include "router/star_testing.h"
#include "testing/testing.h"

enum { NODES = 40, SWITCH = NODES, HOLDS = 3 /* packets */, SENT = 50 };

/* --- the switch --- */

struct toy_port {
	packet_id head, tail;
	uint32_t count;
	bool is_busy; /* its head is leaving */
	int32_t tokens; /* of the node at its wire */
	sim_time free_at;
	uint64_t sent, left; /* bytes, packets */
};

struct toy {
	struct router router;
	struct toy_port port[NODES];
};

static struct toy *toy_of(const struct router *r)
{
	return (struct toy *)(uintptr_t)r;
}

static int toy_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	return 0;
}

static size_t toy_site_bytes(uint32_t n_ports)
{
	return n_ports * sizeof(struct toy_port);
}

static const struct router_calls toy_calls;

static void toy_make(struct router *r, const struct net_setup *s)
{
	assert_int_equal(r->sites.first, SWITCH);
	assert_int_equal(r->sites.n_ports, NODES);
	r->calls = &toy_calls;
	r->lock_packets = HOLDS;
}

static void toy_wire(struct router *r)
{
	const struct router *nodes = r->net->router[NET_NODES];

	for (uint32_t p = 0; p < NODES; p++)
		toy_of(r)->port[p].tokens = nodes->ops->capacity(nodes, 0, 0);
}

static int32_t toy_capacity(const struct router *r, port_id p, uint32_t channel)
{
	return HOLDS * r->net->full;
}

static int32_t toy_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct router *nodes = r->net->router[NET_NODES];

	return channel ? nodes->ops->capacity(nodes, p, channel)
		       : toy_of(r)->port[p].tokens;
}

static int32_t toy_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	return p->chunks;
}

static port_mask toy_short_ports(const struct router *r, site_id s)
{
	return ~(port_mask)0;
}

static uint32_t toy_n_buffers(const struct router *r, site_id s)
{
	return NODES;
}

static struct net_buffer toy_buffer(
	const struct router *r, site_id s, uint32_t i)
{
	const struct toy_port *p = &toy_of(r)->port[i];

	return (struct net_buffer){
		.site = s,
		.port = i,
		.head = p->head,
		.count = p->count,
	};
}

static uint32_t toy_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	*way = (struct net_way){ .port = p->dst, .need = p->chunks };
	return 1;
}

static sim_time toy_count(const struct router *r, site_id s, port_id p,
	sim_time now, struct net_count *c)
{
	c->sent = toy_of(r)->port[p].sent;
	c->came = toy_of(r)->port[p].left;
	return toy_of(r)->port[p].free_at;
}

/* The head of a port's buffer leaves, if its link is free and has tokens. */
static void try(struct toy *x, struct sim_worker *w, port_id in, sim_time t)
{
	struct net *n = x->router.net;
	struct toy_port *from = &x->port[in], *to;
	struct packet *p = &n->packets[from->head];
	packet_id id = from->head;
	sim_time tail;

	if (!from->count || from->is_busy)
		return;
	to = &x->port[p->dst];
	if (to->free_at > t || to->tokens < p->chunks)
		return;
	tail = t + n->link.ser[p->size];
	to->tokens -= p->chunks;
	to->free_at = tail + n->link.gap;
	to->sent += n->link.bytes[p->size];
	from->left++;
	from->count--;
	from->head = p->next;
	from->is_busy = true;
	sim_post(w, p->dst, t + n->link.latency[0], SIM_KEY(PHASE_ARRIVAL, 0),
		0, id);
	sim_post(w, in, tail + n->link.latency[0], SIM_KEY(PHASE_TOKEN, 0), 0,
		p->chunks);
	sim_post(w, SWITCH, tail, SIM_KEY(PHASE_ENGINE, in), 0, 0);
	sim_post(w, SWITCH, to->free_at, SIM_KEY(PHASE_PROGRAM, 0), 0, 0);
}

static void toy_visit(struct sim_worker *w, site_id s)
{
	struct net *n = w->model;
	struct toy *x = toy_of(n->router[NET_SWITCHES]);
	const struct sim_event *e;
	sim_time t;

	assert_int_equal(s, SWITCH);
	while ((e = sim_next(w, &t))) {
		struct toy_port *p = &x->port[sim_number(e)];
		port_id in;

		if (sim_phase(e) == PHASE_ARRIVAL) {
			n->packets[e->data].next = NO_PACKET;
			n->packets[e->data].head = t;
			if (p->count++)
				n->packets[p->tail].next = e->data;
			else
				p->head = e->data;
			p->tail = e->data;
		} else if (sim_phase(e) == PHASE_TOKEN) {
			p->tokens += (int32_t)e->data;
		} else if (sim_phase(e) == PHASE_ENGINE) {
			p->is_busy = false;
		}
		for (in = 0; in < NODES; in++)
			try(x, w, in, t);
	}
}

static void toy_prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
}

static const struct router_calls toy_calls = {
	.visit = toy_visit,
	.prefetch = toy_prefetch,
};

static const struct router_ops toy_ops = {
	.name = "toy",
	.channels = (const char *const[]){ "only" },
	.n_channels = 1,
	.check = toy_check,
	.site_bytes = toy_site_bytes,
	.size = sizeof(struct toy),
	.make = toy_make,
	.wire = toy_wire,
	.capacity = toy_capacity,
	.tokens = toy_tokens,
	.charge = toy_charge,
	.short_ports = toy_short_ports,
	.n_buffers = toy_n_buffers,
	.buffer = toy_buffer,
	.ways = toy_ways,
	.count = toy_count,
};

/* --- traffic --- */

struct world {
	struct star star;
	struct link_params link;
	struct net_params router;
	struct net *net;
	uint32_t sent[NODES], got[NODES];
	bool is_hot; /* all to node 0 */
};

static void fill(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct world *x = me->state;

	while (x->sent[s] < SENT && net_has_room(n, s, fifo)) {
		packet_id id = packet_take(n->pool, w->id);
		uint32_t far = 1 + x->sent[s]++ % (NODES - 1);

		n->packets[id] = (struct packet){
			.src = s,
			.dst = x->is_hot ? 0 : (s + far) % NODES,
			.bytes = 100,
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

	assert_int_equal(n->packets[id].dst, s);
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

static void setup(struct world *x, struct net_setup *s)
{
	star_init(&x->star, NODES, 1, 0, 1);
	net_params_defaults(&x->router);
	x->link = link_test_defaults();
	x->router.kind = &direct_ops;
	x->router.switches = &toy_ops;
	*s = (struct net_setup){
		.topo = &x->star.topo,
		.route = &x->star.route,
		.link = &x->link,
		.router = &x->router,
		.client = &client,
		.client_state = x,
		.n_workers = 1,
	};
}

static void check_run(bool is_hot)
{
	struct world x = { .is_hot = is_hot };
	uint32_t all = 0, senders = is_hot ? NODES - 1 : NODES;
	struct net_use u[TOPO_MAX_WIRES] = { 0 };
	struct net_setup s;
	struct err e = { 0 };
	char text[100];

	setup(&x, &s);
	x.net = net_new(&s, &e);
	if (!x.net)
		fail_msg("%s", e.text);
	assert_true(net_memory(x.net) > 0 && net_estimate(&s) > 0);
	for (uint32_t i = is_hot ? 1 : 0; i < NODES; i++)
		sim_post(sim_owner(x.net->sim, i), i, 0,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
	sim_run(x.net->sim, 20000 * (sim_time)SIM_NS);
	assert_int_equal(net_audit(x.net, &e), 0); /* under way, too */
	sim_run(x.net->sim, SIM_NEVER);
	assert_int_equal(net_audit(x.net, &e), 0);
	assert_int_equal(net_knot(x.net, text, sizeof(text)), 0);
	for (uint32_t i = 0; i < NODES; i++)
		all += x.got[i];
	assert_int_equal(all, senders * SENT);
	assert_int_equal(net_hops(x.net), 2 * senders * SENT);
	net_uses(x.net, 0, u, NULL, NULL);
	assert_true(u[0].n_links == 2 * NODES);
	net_free(x.net);
}

static void nodes_and_a_switch_of_another_kind_work_together(void **state)
{
	check_run(false);
	check_run(true);
}

static void a_direct_router_alone_has_not_that_many_ports(void **state)
{
	struct world x = { 0 };
	struct err e = { 0 };
	struct net_setup s;

	setup(&x, &s);
	x.router.switches = NULL;
	assert_null(net_new(&s, &e));
	assert_non_null(strstr(e.text, "at most 16 ports, not 40"));
}

TESTS(TEST(nodes_and_a_switch_of_another_kind_work_together),
	TEST(a_direct_router_alone_has_not_that_many_ports))
