#include "router/direct/net_testing.h"
#include "link/link_testing.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/params_testing.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

/* The client's events, + fifo. */
enum {
	SEND = ENGINE_CLIENT,
	GIVE_BACK = ENGINE_CLIENT + N_FIFOS,
	OPEN = ENGINE_CLIENT + 2 * N_FIFOS,
	ANSWER = ENGINE_CLIENT + 3 * N_FIFOS,
};

enum { FIFO_ANSWER = FIFO_LOCAL + 1 };

/* --- the client --- */

static struct rig_end *end_of(const struct net *n, site_id s, uint32_t fifo)
{
	const struct rig *r = n->client[0]->state;

	return &r->node[s].end[fifo];
}

static void inject(struct rig *r, struct sim_worker *w, site_id s,
	uint32_t fifo, struct rig_flow *f, sim_time t)
{
	struct net *n = r->net;
	packet_id id = packet_take(n->pool, w->id);

	n->packets[id] = f->packet;
	n->packets[id].number = f->first + f->done;
	n->packets[id].born = t;
	r->sent[f->first + f->done] = t;
	f->done++;
	net_inject(n, w, s, fifo, id, t);
}

static void pump(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct rig *r = me->state;
	struct rig_end *end = end_of(n, s, fifo);

	while (end->first) {
		struct rig_flow *f = &r->flow[end->first - 1];

		if (f->from > t ||
			direct_site(n, s)->inject[fifo].chunks <
				link_chunks(&n->link, f->packet.bytes))
			return;
		inject(r, w, s, fifo, f, t);
		if (f->done == f->n)
			end->first = f->next;
	}
}

static void give_back(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct net *n = me->net;

	end_of(n, s, fifo)->inside -= chunks;
	net_release(n, w, s, fifo, chunks, t);
}

static void open_fifo(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	struct rig_end *end = end_of(n, s, fifo);
	uint32_t chunks = end->kept;

	end->is_closed = false;
	end->kept = 0;
	if (chunks)
		give_back(me, w, s, fifo, chunks, t);
}

/* --- answers to broadcasts --- */

static void send_answers(
	struct net *n, struct sim_worker *w, site_id s, sim_time t)
{
	struct rig_node *node = &((struct rig *)n->client[0]->state)->node[s];

	while (node->answers && direct_site(n, s)->inject[FIFO_ANSWER].chunks) {
		packet_id id = node->answers;

		node->answers = n->packets[id].next;
		net_inject(n, w, s, FIFO_ANSWER, id, t);
	}
}

static void answer(struct net_client *me, struct sim_worker *w, site_id s,
	const struct packet *p, sim_time tail)
{
	struct net *n = me->net;
	const struct rig *r = me->state;
	packet_id id = packet_take(n->pool, w->id);

	n->packets[id] = (struct packet){
		.src = s,
		.dst = p->src,
		.number = p->number,
		.born = tail,
		.kind = PACKET_SYSTEM,
		.flags = PACKET_ANSWER,
		.answer = r->how.answers ? r->how.answers[s] : 0,
	};
	sim_post_self(w, s, tail, SIM_KEY(PHASE_ENGINE, ANSWER), 0, id);
}

static void on_answer(struct net_client *me, struct sim_worker *w, site_id s,
	packet_id id, sim_time t)
{
	struct net *n = me->net;
	struct rig_node *node = &((struct rig *)me->state)->node[s];

	n->packets[id].next = NO_PACKET;
	if (node->answers)
		n->packets[node->last_answer].next = id;
	else
		node->answers = id;
	node->last_answer = id;
	send_answers(n, w, s, t);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	uint32_t number = sim_number(&e), fifo = number % N_FIFOS;

	if (number == ANSWER)
		on_answer(me, w, s, e.data, t);
	else if (number < GIVE_BACK)
		pump(me, w, s, fifo, t);
	else if (number < OPEN)
		give_back(me, w, s, fifo, e.data, t);
	else
		open_fifo(me, w, s, fifo, t);
}

static void write_down(struct rig_node *node, const struct arrival *a)
{
	if (node->n == node->room) {
		node->room = 2 * node->room + 16;
		node->log = mem_grow(node->log, node->room, sizeof(*a));
	}
	node->log[node->n] = *a;
	node->log[node->n].place = node->n;
	node->n++;
}

/* The client of a FIFO that fills up. */
static void keep(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, uint32_t chunks, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct rig *r = me->state;
	struct rig_end *end = end_of(n, s, fifo);

	end->inside += chunks;
	if (end->inside > (uint32_t)(n->params.reception * n->full))
		r->node[s].was_overfull = true;
	if (end->is_closed)
		end->kept += chunks;
	else if (r->how.drain < 0)
		give_back(me, w, s, fifo, chunks, t);
	else
		sim_post_self(w, s, tail + r->how.drain,
			SIM_KEY(PHASE_ENGINE, GIVE_BACK + fifo), 0, chunks);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct rig *r = me->state;
	struct arrival a = {
		.site = s,
		.fifo = fifo,
		.packet = n->packets[id],
		.head = t,
		.tail = tail,
	};

	write_down(&r->node[s], &a);
	if (a.packet.flags & PACKET_RANGE)
		answer(me, w, s, &a.packet, tail);
	packet_give(n->pool, w->id, id);
	if (r->how.fills)
		keep(me, w, s, fifo, a.packet.chunks, t, tail);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct net *n = me->net;
	const struct rig *r = me->state;

	if (fifo == FIFO_ANSWER)
		send_answers(n, w, s, t);
	pump(me, w, s, fifo, t);
	for (uint32_t i = 0; i < N_FIFOS && r->how.looks_round; i++)
		pump(me, w, s, i, t);
}

static void on_hurt(struct net_client *me, struct sim_worker *w, packet_id id,
	const struct net_flip *flip)
{
	struct net *n = me->net;

	(void)w;
	assert_true(flip->bit < flip->bits);
	n->packets[id].load++;
}

static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *n = me->net;

	packet_give(n->pool, w->id, id);
}

static const struct net_client_faults faults = {
	.on_hurt = on_hurt,
};

static const struct net_client_combine combine = {
	.on_absorbed = on_lost,
};

static const struct net_client_ops sink = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.is_sink = true,
	.faults = &faults,
	.combine = &combine,
};

static const struct net_client_ops filling = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.combine = &combine,
};

/* --- life --- */

static void set(int64_t *field, int64_t value)
{
	if (value)
		*field = value;
}

/* What machines/qsnet2.yaml says of Elite4's links and buffers, read once.
 * Routes are on the wire only where a test wants them; else the header has the
 * three bytes of a short one. */
static void set_elite(struct link_params *link, struct net_params *router,
	const struct rig_how *how)
{
	static struct link_params read;
	static struct net_params buffers;

	if (!read.rate) {
		struct machine *m = kit_machine("qsnet2", NULL, NULL);

		read = m->link;
		buffers = m->router;
		machine_free(m);
	}
	*link = read;
	link->code = how->code;
	link->fibre_code = how->fibre_code;
	link->header += 3;
	link->route = how->route;
	buffers.own = router->own;
	*router = buffers;
}

struct rig *rig_new(const struct rig_how *how)
{
	struct rig *r = mem_alloc(1, sizeof(*r));
	static const struct direct_params stages = { ARBITER_STAGES };
	struct net_params router = { .kind = &direct_ops };
	struct link_params link;
	struct err e = { 0 };
	struct net_setup s = {
		.topo = how->tree ? &r->tree.t.topo : &r->way.t.topo,
		.route = how->tree ? &r->tree.u.route : &r->way.h.route,
		.link = &link,
		.router = &router,
		.client = how->fills ? &filling : &sink,
		.client_state = r,
		.n_workers = how->n_workers ? how->n_workers : 1,
		.book = how->book,
		.faults = how->faults,
	};

	r->how = *how;
	net_params_defaults(&router);
	link = link_test_defaults();
	router.queues = DIRECT_QUEUES;
	router.own = how->is_staged ? &stages : NULL;
	if (how->tree) {
		updown_make(&r->tree, how->tree);
		set(&r->tree.u.route.answers, how->forget);
		set_elite(&link, &router, how);
	} else {
		hint_make(&r->way, &how->way);
		for (uint32_t i = 0; how->rates && i < N_WIRE_CLASSES; i++)
			r->way.t.topo.wire[i].rate = how->rates[i];
	}
	if (how->link)
		link = *how->link;
	set(&router.packets, how->packets);
	set(&router.queues, how->queues);
	set(&router.injection, how->injection);
	set(&router.reception, how->reception);
	set(&router.transit, how->transit);
	r->net = net_new(&s, &e);
	if (!r->net)
		fail_msg("%s", e.text);
	r->node = mem_alloc(r->net->n_sites, sizeof(*r->node));
	return r;
}

void rig_free(struct rig *r)
{
	for (site_id s = 0; s < r->net->n_sites; s++)
		mem_free(r->node[s].log);
	net_free(r->net);
	if (!r->how.tree)
		hint_unmake(&r->way);
	mem_free(r->node);
	mem_free(r->flow);
	mem_free(r->sent);
	mem_free(r->arrival);
	mem_free(r->got);
	mem_free(r);
}

/* --- the script --- */

static void post(struct rig *r, site_id s, uint32_t number, sim_time t)
{
	sim_post(sim_owner(r->net->sim, s), s, t, SIM_KEY(PHASE_ENGINE, number),
		0, 0);
}

uint32_t rig_flood(
	struct rig *r, sim_time t, uint32_t fifo, uint32_t n, struct packet p)
{
	struct rig_end *end = &r->node[p.src].end[fifo];
	uint32_t first = r->n_sent;

	/* powers of two, so that long scripts are cheap */
	if (!(r->n_flows & (r->n_flows - 1)))
		r->flow =
			mem_grow(r->flow, 2 * r->n_flows + 1, sizeof(*r->flow));
	r->flow[r->n_flows++] = (struct rig_flow){
		.from = t,
		.first = first,
		.n = n,
		.packet = p,
	};
	if (end->first)
		r->flow[end->last - 1].next = r->n_flows;
	else
		end->first = r->n_flows;
	end->last = r->n_flows;
	for (uint32_t i = 0; i < n; i++) {
		if (!(r->n_sent & (r->n_sent - 1)))
			r->sent = mem_grow(
				r->sent, 2 * r->n_sent + 1, sizeof(*r->sent));
		r->sent[r->n_sent++] = -1;
	}
	post(r, p.src, SEND + fifo, t);
	return first;
}

uint32_t rig_send(struct rig *r, sim_time t, uint32_t fifo, struct packet p)
{
	return rig_flood(r, t, fifo, 1, p);
}

void rig_storm(struct rig *r, uint64_t *series, uint32_t n, uint32_t kinds,
	bool any_size)
{
	uint32_t sites = r->net->n_nodes;

	for (uint32_t i = 0; i < n * sites; i++) {
		struct packet p = { .src = i % sites, .bytes = 512 };

		p.dst = (p.src + 1 + rig_draw(series, sites - 1)) % sites;
		do
			p.kind = (uint8_t)rig_draw(series, N_PACKET_KINDS);
		while (!(kinds >> p.kind & 1));
		if (any_size)
			p.bytes = (uint16_t)rig_draw(series, 513);
		rig_send(r, 0, rig_fifo(r, &p), p);
	}
}

uint32_t rig_fifo(const struct rig *r, const struct packet *p)
{
	struct packet q = *p;

	if (p->kind == PACKET_HIGH || p->kind == PACKET_SYSTEM)
		return p->kind == PACKET_HIGH ? FIFO_HIGH : FIFO_SYSTEM;
	route_begin(r->net->route, &q);
	return q.escape == PACKET_NO_PORT ? (uint32_t)FIFO_LOCAL : q.escape;
}

void rig_close(struct rig *r, site_id s, uint32_t fifo)
{
	r->node[s].end[fifo].is_closed = true;
}

void rig_open(struct rig *r, site_id s, uint32_t fifo, sim_time t)
{
	post(r, s, OPEN + fifo, t);
}

/* --- running --- */

/* BGQ-F27: tokens stand for room that there is. */
static void check_site(const struct rig *r, site_id id)
{
	const struct net *n = r->net;
	const struct direct_site *s = direct_site(n, id);

	for (uint32_t p = 0; p < direct_of(n, id)->n_ports; p++) {
		if (s->port[p].sender.peer == NO_ROUTER)
			continue;
		for (uint32_t c = 0; c < N_CHANNELS; c++)
			assert_in_range(s->port[p].sender.tokens[c], 0,
				direct_of(n, id)->capacity);
	}
	for (uint32_t p = 0; p < N_FIFOS; p++)
		assert_in_range(
			s->inject[p].chunks, 0, n->params.injection * n->full);
	for (uint32_t p = 0; p < N_FIFOS && r->how.fills; p++)
		assert_in_range(s->reception[p].chunks, 0,
			n->params.reception * n->full);
	if (r->node[id].was_overfull)
		fail_msg("site %u: more in a reception FIFO than it holds", id);
}

static void check(struct rig *r)
{
	sim_time now = sim_now(r->net->sim);
	struct err e = { 0 };

	if (net_audit(r->net, &e))
		fail_msg("%s", e.text);
	for (site_id s = 0; s < r->net->n_sites; s++) {
		check_site(r, s);
		/* what happens now has not happened yet */
		if (now)
			direct_of(r->net, s)->build->check_idle(
				r->net, s, now - 1);
	}
}

/* Stops often at first, then ever more rarely. */
static enum sim_ending run_to(struct rig *r, sim_time t)
{
	enum sim_ending e = SIM_REACHED;
	sim_time step = 300 * SIM_NS, now = sim_now(r->net->sim);

	while (e == SIM_REACHED && now < t) {
		sim_time until = t - now > step ? now + step : t;

		e = sim_run(r->net->sim, until);
		check(r);
		step += step / 4;
		now = until;
	}
	return e;
}

void rig_run_until(struct rig *r, sim_time t)
{
	assert_int_not_equal(run_to(r, t), SIM_STOPPED);
}

/* Nobody asks for anything any more. */
static void check_quiet(const struct rig *r, site_id id)
{
	const struct direct_site *s = direct_site(r->net, id);

	for (uint32_t p = 0; p < direct_of(r->net, id)->n_ports; p++) {
		const struct direct_requests *q = &s->port[p].requests;
		bool is_wired = s->port[p].sender.peer != NO_ROUTER;

		for (uint32_t i = 0; i < N_REQUESTS; i++)
			assert_true(q->head[i] == 0);
		for (uint32_t i = 0; i < N_INJECTIONS; i++)
			assert_int_equal(q->inject[i], 0);
		assert_int_equal(q->n_rare, is_wired && r->net->params.transit);
	}
	for (uint32_t i = 0; i < N_CHANNELS; i++)
		assert_true(s->local[i] == 0 && s->held[i] == 0);
	assert_int_equal(s->local_inject, 0);
	assert_int_equal(s->dirty, 0);
}

void rig_run(struct rig *r)
{
	uint32_t missing = 0;

	assert_int_equal(run_to(r, SIM_NEVER / 4), SIM_IDLE);
	rig_gather(r);
	for (uint32_t i = 0; i < r->n_sent; i++) {
		missing += !r->got[i];
		if (!r->got[i] && !r->how.faults)
			fail_msg("packet %u did not arrive", i);
	}
	if (!net_total(r->net).absorbed)
		assert_int_equal(missing, net_total(r->net).lost);
	assert_int_equal(packet_pool_used(r->net->pool), 0);
	for (site_id s = 0; s < r->net->n_sites; s++)
		check_quiet(r, s);
}

/* --- what arrived --- */

static int by_time(const void *x, const void *y)
{
	const struct arrival *a = x, *b = y;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	if (a->site != b->site)
		return a->site < b->site ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

void rig_gather(struct rig *r)
{
	uint32_t i;
	site_id s;

	r->n_arrivals = 0;
	for (s = 0; s < r->net->n_sites; s++)
		r->n_arrivals += r->node[s].n;
	r->arrival =
		mem_grow(r->arrival, r->n_arrivals + 1, sizeof(*r->arrival));
	for (s = 0, i = 0; s < r->net->n_sites; i += r->node[s++].n)
		if (r->node[s].n)
			memcpy(r->arrival + i, r->node[s].log,
				r->node[s].n * sizeof(*r->arrival));
	qsort(r->arrival, r->n_arrivals, sizeof(*r->arrival), by_time);
	mem_free(r->got);
	r->got = mem_alloc(r->n_sent + 1, sizeof(const void *));
	for (i = 0; i < r->n_arrivals; i++) {
		const struct arrival *a = &r->arrival[i];

		if (a->packet.flags & (PACKET_COPY | PACKET_ANSWER))
			continue;
		assert_null(r->got[a->packet.number]);
		if (a->packet.flags & PACKET_RANGE)
			assert_in_range(a->site, a->packet.dst, a->packet.last);
		else
			assert_int_equal(a->site, a->packet.dst);
		r->got[a->packet.number] = a;
	}
}
