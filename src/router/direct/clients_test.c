/* Several clients share a network, each at sites of its own. */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

static const site_id sites[] = { 1, 3 };

/* The client beside the rig's. */
struct other {
	uint32_t got[4]; /* [site] */
	uint32_t lost;
};

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id p, sim_time t, sim_time tail)
{
	struct other *o = me->state;

	o->got[s]++;
	packet_give(me->net->pool, w->id, p);
}

/* A packet for site 3. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	packet_id p = packet_take(me->net->pool, w->id);

	me->net->packets[p] =
		(struct packet){ .src = s, .dst = 3, .bytes = 64, .born = t };
	net_inject(me->net, w, s, net_fifos(me->net, NET_USER).first, p, t);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id p)
{
	struct other *o = me->state;

	o->lost++;
	packet_give(me->net->pool, w->id, p);
}

static const struct net_client_ops ops = {
	.on_packet = on_packet,
	.on_event = on_event,
	.on_room = on_room,
	.on_lost = on_lost,
	.is_sink = true,
};

static struct rig *line(const struct rig_how *how, struct other *o)
{
	struct rig_how x = *how;
	struct rig *r;

	x.way = (struct hint_how){ .shape = "4", .wrap = "mesh" };
	r = rig_new(&x);
	net_attach_some(r->net, sites, 2, &ops, o);
	return r;
}

static void event(struct rig *r, site_id s, sim_time t)
{
	sim_post(sim_owner(r->net->sim, s), s, t,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT), 0, 0);
}

/* rig_run() wants all packets for the rig. */
static void finish(struct rig *r)
{
	rig_run_until(r, 50000 * SIM_NS);
	rig_gather(r);
	assert_int_equal(packet_pool_used(r->net->pool), 0);
}

static void a_site_has_its_own_client(void **state)
{
	struct other o = { .lost = 0 };
	struct rig *r = line(&(struct rig_how){ .queues = 4 }, &o);
	uint32_t own;

	rig_send(r, 0, 0, (struct packet){ .dst = 1, .bytes = 64 });
	rig_send(r, 0, 0, (struct packet){ .src = 2, .dst = 3, .bytes = 64 });
	own = rig_send(r, 0, 0, (struct packet){ .dst = 2, .bytes = 64 });
	event(r, 1, 5000 * SIM_NS);
	finish(r);
	assert_int_equal(o.got[1], 1);
	assert_int_equal(o.got[3], 2);
	assert_int_equal(r->n_arrivals, 1);
	assert_non_null(r->got[own]);
	rig_free(r);
}

static void what_is_lost_is_its_senders(void **state)
{
	struct fault_event e = { .at = 3000 * SIM_NS, .site = 2, .place = "" };
	struct fault_plan p = { .event = &e, .n_events = 1 };
	struct other o = { .lost = 0 };
	struct rig *r = line(&(struct rig_how){ .faults = &p }, &o);

	event(r, 1, 5000 * SIM_NS);
	rig_send(r, 5000 * SIM_NS, 0, (struct packet){ .dst = 3, .bytes = 64 });
	finish(r);
	assert_int_equal(o.lost, 1);
	assert_int_equal(net_total(r->net).lost, 2);
	rig_free(r);
}

static void a_sink_beside_others_never_fills(void **state)
{
	struct other o = { .lost = 0 };
	struct rig *r =
		line(&(struct rig_how){ .fills = true, .reception = 1 }, &o);

	assert_false(net_client(r->net, 1)->ops.is_sink);
	rig_flood(r, 0, 0, 20, (struct packet){ .dst = 1, .bytes = 512 });
	finish(r);
	assert_int_equal(o.got[1], 20);
	rig_free(r);
}

TESTS(TEST(a_site_has_its_own_client), TEST(what_is_lost_is_its_senders),
	TEST(a_sink_beside_others_never_fills))
