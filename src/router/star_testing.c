#include "router/star_testing.h"

#include <stdio.h>

#include "base/mem.h"
#include "link/link_testing.h"
#include "net/params_testing.h"
#include "route/lists.h"
#include "router/crossbar/crossbar.h"
#include "router/direct/direct.h"
#include "testing/testing.h"

/* --- topology and routing --- */

static const struct star *star_of(const struct topo *t)
{
	return (const struct star *)t;
}

static uint32_t per_switch(const struct topo *t)
{
	return t->n_nodes / star_of(t)->n_switches;
}

site_id star_switch(const struct star *s, site_id node)
{
	return s->topo.n_nodes + node / per_switch(&s->topo);
}

static struct topo_end peer(const struct topo *t, router_id r, port_id p)
{
	uint32_t per = per_switch(t);

	if (r < t->n_nodes && !p)
		return (struct topo_end){ star_switch(star_of(t), r), r % per };
	if (r < t->n_nodes)
		return (struct topo_end){ .router = NO_ROUTER };
	r -= t->n_nodes;
	if (p < per)
		return (struct topo_end){ r * per + p, 0 };
	return (struct topo_end){ t->n_nodes + !r, p };
}

static uint32_t wire(const struct topo *t, router_id r, port_id p)
{
	return r >= t->n_nodes && p >= per_switch(t);
}

static router_id home(const struct topo *t, router_id r)
{
	return r < t->n_nodes ? r : (r - t->n_nodes) * per_switch(t);
}

static void name_router(
	const struct topo *t, router_id r, char *text, size_t size)
{
	(void)t;
	snprintf(text, size, "%u", r);
}

static void name_port(
	const struct topo *t, router_id r, port_id p, char *text, size_t size)
{
	(void)t;
	(void)r;
	snprintf(text, size, "%u", p);
}

static const struct topo_ops topo_ops = {
	.name = "star",
	.peer = peer,
	.wire = wire,
	.home = home,
	.name_router = name_router,
	.name_port = name_port,
};

static void start(const struct route *r, struct packet *p)
{
	(void)r;
	p->way = 0;
}

static struct route_step next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct star *s = star_of(r->topo);
	uint32_t per = per_switch(r->topo);
	struct route_step step = { .ports = 1, .is_ordered = true };

	(void)in;
	if (at == p->dst)
		return (struct route_step){ .escape = PACKET_NO_PORT };
	if (at >= r->topo->n_nodes && at == star_switch(s, p->dst))
		step.ports = (port_mask)1 << p->dst % per;
	else if (at >= r->topo->n_nodes)
		step.ports = (((port_mask)1 << s->n_trunks) - 1) << per;
	step.escape = (port_id)__builtin_ctzll(step.ports);
	step.channel = r->n_channels > 1 ? p->zone : 0;
	return step;
}

static const char *const names[] = { "first", "second" };

static const struct route_ops route_ops = {
	.name = "star",
	.channels = names,
	.n_channels = 2,
	.start = start,
	.next = next,
};

void star_init(struct star *s, uint32_t n_nodes, uint32_t n_switches,
	uint32_t n_trunks, uint32_t n_channels)
{
	*s = (struct star){
		.topo = { .ops = &topo_ops,
			.n_nodes = n_nodes,
			.n_routers = n_nodes + n_switches,
			.n_ports = n_nodes / n_switches + n_trunks,
			.node_ports = 1,
			.n_wires = 2,
			.wire = { { .name = "node",
					  .latency = 50000,
					  .logic = 20000 },
				{ .name = "trunk",
					.latency = 90000,
					.logic = 20000 } } },
		.route = { .ops = &route_ops,
			.n_channels = (uint8_t)n_channels },
		.n_switches = n_switches,
		.n_trunks = n_trunks,
	};
	s->route.topo = &s->topo;
}

/* --- the client --- */

static uint32_t fifo_of(const struct net *n, const struct packet *p)
{
	return net_fifos(n, p->kind == PACKET_SYSTEM ? NET_SYSTEM
			    : p->kind == PACKET_HIGH ? NET_HIGH
						     : NET_USER)
		.first;
}

static void fill(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct star_rig *r = me->state;
	struct net *n = me->net;

	for (struct star_flow *f = r->flow; f < r->flow + r->n_flows; f++) {
		if (f->packet.src != s || f->fifo != fifo || f->packet.born > t)
			continue;
		for (; f->n && net_has_room(n, s, fifo); f->n--) {
			packet_id id = packet_take(n->pool, w->id);

			n->packets[id] = f->packet;
			n->packets[id].number = f->number++;
			n->packets[id].born = t;
			net_inject(n, w, s, fifo, id, t);
		}
		if (f->n)
			return;
	}
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct star_rig *r = me->state;
	const struct packet *p = &me->net->packets[id];

	(void)fifo;
	assert_true(p->dst == s || p->flags & PACKET_MANY);
	if (tail >= r->got[p->number].tail)
		r->got[p->number] = (struct star_arrival){ *p, t, tail };
	atomic_fetch_add(&r->n_got, 1);
	packet_give(me->net->pool, w->id, id);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	fill(me, w, s, e.data, t);
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct star_rig *r = me->state;

	atomic_fetch_add(&r->n_lost, 1);
	packet_give(me->net->pool, w->id, id);
}

static const struct net_client_ops sink = { .on_room = fill,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.is_sink = true };
static const struct net_client_ops holder = { .on_room = fill,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost };

static void on_message(void *arg, const struct book_account *a)
{
	struct star_rig *r = arg;

	r->account[atomic_fetch_add(&r->n_accounts, 1)] = *a;
}

/* --- life --- */

struct star_rig *star_new(const struct star_how *how)
{
	struct star_rig *r = mem_alloc(1, sizeof(*r));
	struct book_how book = { .on_message = on_message, .arg = r };
	struct net_setup s = { .client = how->holds ? &holder : &sink,
		.client_state = r,
		.n_workers = how->n_workers ? how->n_workers : 1,
		.book = how->books ? &book : NULL,
		.faults = how->faults };
	struct err e = { 0 };

	star_init(&r->star, how->n_nodes, how->n_switches ? how->n_switches : 1,
		how->n_trunks, how->n_channels ? how->n_channels : 1);
	r->star.route.lists = how->lists;
	r->link = how->link ? *how->link : link_test_defaults();
	net_params_defaults(&r->router);
	r->router.kind = how->kind ? how->kind : &direct_ops;
	r->router.switches = how->kind ? NULL : &crossbar_ops;
	r->router.own = how->own;
	r->router.packets = how->packets ? how->packets : 4;
	r->router.queues = 1;
	s.topo = &r->star.topo;
	s.route = &r->star.route;
	s.link = &r->link;
	s.router = &r->router;
	r->net = net_new(&s, &e);
	if (!r->net)
		fail_msg("%s", e.text);
	return r;
}

void star_free(struct star_rig *r)
{
	net_free(r->net);
	mem_free(r);
}

uint32_t star_send(struct star_rig *r, sim_time t, uint32_t n, struct packet p)
{
	uint32_t number = r->n_sent + 1;

	assert_true(r->n_flows < STAR_FLOWS && number + n <= STAR_MOST);
	p.born = t;
	r->flow[r->n_flows++] =
		(struct star_flow){ p, fifo_of(r->net, &p), n, number };
	r->n_sent += n;
	sim_post(sim_owner(r->net->sim, p.src), p.src, t,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, fifo_of(r->net, &p));
	return number;
}

void star_run(struct star_rig *r, sim_time t)
{
	struct err e = { 0 };

	sim_run(r->net->sim, t);
	if (net_audit(r->net, &e))
		fail_msg("%s", e.text);
}

sim_time star_alone(
	const struct star_rig *r, site_id from, site_id to, uint32_t bytes)
{
	const struct topo_wire *wire = r->star.topo.wire;
	bool is_far = star_switch(&r->star, from) != star_switch(&r->star, to);

	return 2 * wire[0].latency + (is_far ? wire[1].latency : 0) +
	       link_ser(&r->net->link, bytes);
}

uint64_t star_sent(const struct star_rig *r, site_id s, port_id p)
{
	return net_counters(r->net, s, p, ~0u, sim_now(r->net->sim)).sent_bytes;
}

const struct budget *star_budget(
	const struct star_rig *r, site_id src, uint32_t nth)
{
	const struct book_account *a = r->account;
	sim_time sum = 0;

	while (a < r->account + r->n_accounts &&
		(a->src != src || a->number != nth))
		a++;
	assert_true(a < r->account + r->n_accounts);
	for (uint32_t c = 0; c < N_CAUSES; c++)
		sum += a->budget.spent[c];
	assert_int_equal(sum, a->budget.at - a->budget.start);
	return &a->budget;
}
