#include "router/tiled/chips_testing.h"

#include "base/mem.h"
#include "testing/testing.h"

/* --- the client --- */

static struct chips *of(const struct net *n)
{
	return n->client[0]->state;
}

static void send_one(struct chips *c, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct chips_end *e = &c->end[s][fifo];
	struct chips_flow *f = &c->flow[e->flow[e->at]];
	packet_id id = packet_take(c->net->pool, w->id);
	uint32_t number = f->first + e->done;

	c->net->packets[id] = f->like;
	c->net->packets[id].number = number;
	c->net->packets[id].born = t;
	c->sent[number] = t;
	if (++e->done == f->n) {
		e->at++;
		e->done = 0;
	}
	net_inject(c->net, w, s, fifo, id, t);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct chips_end *e = &of(n)->end[s][fifo];

	while (e->at < e->n && net_has_room(n, s, fifo) &&
		of(n)->flow[e->flow[e->at]].from <= t)
		send_one(of(n), w, s, fifo, t);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct chips *c = of(n);

	if (c->n_log[s] == c->log_room[s]) {
		c->log_room[s] = 2 * c->log_room[s] + 16;
		c->log[s] =
			mem_grow(c->log[s], c->log_room[s], sizeof(**c->log));
	}
	c->log[s][c->n_log[s]++] = (struct chips_arrival){
		.packet = n->packets[id],
		.site = s,
		.fifo = fifo,
		.head = t,
		.tail = tail,
	};
	packet_give(n->pool, w->id, id);
	if (c->drains_slowly)
		sim_post_self(w, s, tail + 200 * SIM_NS,
			SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT + 2 + fifo),
			(uint16_t)(c->n_log[s]), 0);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct net *n = me->net;
	uint32_t number = sim_number(&e) - ENGINE_CLIENT;

	if (number < TILED_CHANNELS)
		on_room(me, w, s, number, t);
	else
		net_release(n, w, s, number - 2, 0, t);
}

static const struct net_client_ops sink = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.is_sink = true,
};

static const struct net_client_ops slow = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
};

static const struct net_client_ops slow_with_outbox = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.has_outbox = true,
};

/* --- set-up --- */

struct chips *chips_new(const struct chips_how *how)
{
	struct chips *c = mem_alloc(1, sizeof(*c));
	struct machine *m = kit_machine("gemini", how->sets, how->shape);
	struct net_setup s = {
		.topo = m->topo,
		.route = m->route,
		.link = &m->link,
		.router = &m->router,
		.client = how->has_outbox      ? &slow_with_outbox
			  : how->drains_slowly ? &slow
					       : &sink,
		.client_state = c,
		.n_workers = how->n_workers ? how->n_workers : 1,
		.book = how->book,
	};
	struct err e = { 0 };

	assert_string_equal(m->link.formats[CHIPS_WRITE].name, "write");
	assert_string_equal(m->link.formats[CHIPS_DONE].name, "response");
	for (uint32_t i = 0; i < 3; i++)
		if (how->lane_rate[i])
			m->topo->wire[i].rate = how->lane_rate[i] / 8 * 3;
	c->machine = m;
	c->drains_slowly = how->drains_slowly || how->has_outbox;
	c->net = net_new(&s, &e);
	if (!c->net)
		fail_msg("%s", e.text);
	c->end = mem_alloc(c->net->n_nodes, sizeof(*c->end));
	c->log = mem_alloc(c->net->n_nodes, sizeof(*c->log));
	c->n_log = mem_alloc(c->net->n_nodes, sizeof(*c->n_log));
	c->log_room = mem_alloc(c->net->n_nodes, sizeof(*c->log_room));
	return c;
}

void chips_free(struct chips *c)
{
	uint32_t n = c->net->n_nodes;

	net_free(c->net);
	machine_free(c->machine);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < TILED_CHANNELS; k++)
			mem_free(c->end[i][k].flow);
		mem_free(c->log[i]);
	}
	mem_free(c->end);
	mem_free(c->log);
	mem_free(c->n_log);
	mem_free(c->log_room);
	mem_free(c->flow);
	mem_free(c->sent);
	mem_free(c->got);
	mem_free(c);
}

/* --- what is sent --- */

uint32_t chips_send(struct chips *c, sim_time t, uint32_t fifo, uint32_t n,
	struct packet like)
{
	struct chips_end *e = &c->end[like.src][fifo];
	uint32_t first = c->n_sent;

	if (c->n_flows == c->flow_room) {
		c->flow_room = 2 * c->flow_room + 64;
		c->flow = mem_grow(c->flow, c->flow_room, sizeof(*c->flow));
	}
	if (e->n == e->room) {
		e->room = 2 * e->room + 8;
		e->flow = mem_grow(e->flow, e->room, sizeof(*e->flow));
	}
	c->flow[c->n_flows] = (struct chips_flow){ like, t, fifo, n, first };
	e->flow[e->n++] = c->n_flows++;
	c->n_sent += n;
	if (c->n_sent > c->sent_room) {
		c->sent_room = 2 * c->n_sent + 64;
		c->sent = mem_grow(c->sent, c->sent_room, sizeof(*c->sent));
	}
	sim_post(sim_owner(c->net->sim, like.src), like.src, t,
		SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT + fifo), 0, 0);
	return first;
}

static void count(struct chips *c)
{
	struct err e = { 0 };

	if (net_audit(c->net, &e))
		fail_msg("%s", e.text);
}

void chips_run_until(struct chips *c, sim_time t)
{
	sim_run(c->net->sim, t);
	count(c);
}

void chips_run(struct chips *c)
{
	uint32_t n = 0;

	chips_run_until(c, 500 * SIM_NS); /* under way, too */
	chips_run_until(c, SIM_NEVER);
	c->got = mem_alloc(c->n_sent, sizeof(*c->got));
	for (uint32_t s = 0; s < c->net->n_nodes; s++) {
		for (uint32_t i = 0; i < c->n_log[s]; i++) {
			struct chips_arrival *a = &c->log[s][i];

			assert_int_equal(a->packet.dst, s);
			assert_null(c->got[a->packet.number]);
			a->sent = c->sent[a->packet.number];
			c->got[a->packet.number] = a;
			n++;
		}
	}
	assert_int_equal(n, c->n_sent);
}

uint32_t chips_overtakings(const struct chips *c, uint8_t kind)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < c->net->n_nodes; s++) {
		for (uint32_t i = 0; i < c->n_log[s]; i++) {
			const struct packet *p = &c->log[s][i].packet;

			for (uint32_t k = i + 1; k < c->n_log[s] && k < i + 64;
				k++) {
				const struct packet *q = &c->log[s][k].packet;

				n += p->kind == kind && q->kind == kind &&
				     p->src == q->src &&
				     p->channel == q->channel &&
				     q->number < p->number;
			}
		}
	}
	return n;
}
