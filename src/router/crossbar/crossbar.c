#include "router/crossbar/crossbar.h"

#include "base/lfsr.h"
#include "base/mem.h"
#include "net/net.h"
#include "net/send.h"

enum { CHANNELS = LINK_CHANNELS };

#define BIT(n) (UINT64_C(1) << (n))

/* All of one port: what it sends and what it receives. */
struct port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	uint64_t want[CHANNELS]; /* inputs that have packets for it, by the
				  * channel that they came by */
	uint8_t first[CHANNELS]; /* the input to look at first */
	uint8_t turn; /* the channel to look at first */
	bool is_timed; /* an event comes when the link is free */
	uint32_t backlog; /* chunks that wait for it */
	uint64_t packets[CHANNELS]; /* received that have left */
	sim_time waited[CHANNELS]; /* by these */
};

struct site {
	uint64_t dirty; /* ports to look at before the instant ends */
	site_id id;
	uint32_t lfsr;
	struct port port[]; /* then [channel][out][in] queues */
};

struct crossbar {
	struct router router;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	struct net_tally *tally;
	struct book *book;
	bool is_faulty; /* links have faults, or retry */
	bool has_rates; /* they differ, or may */
	bool is_stepped; /* the routing names channels */
	uint32_t n_ports;
	int32_t full; /* chunks of a full packet */
	int32_t capacity; /* chunks of a channel */
	char *sites;
	size_t stride, bytes;
};

static struct crossbar *of(const struct router *r)
{
	return (struct crossbar *)(uintptr_t)r;
}

static struct site *site_at(const struct crossbar *x, site_id s)
{
	return (struct site *)(x->sites +
			       (s - x->router.sites.first) * x->stride);
}

static struct packet_list *queue_of(const struct crossbar *x, struct site *s,
	uint32_t channel, port_id out, port_id in)
{
	struct packet_list *q = (void *)&s->port[x->n_ports];

	return &q[(channel * x->n_ports + out) * x->n_ports + in];
}

/* What a packet takes of a channel's tokens; nodes count so, too. */
static int32_t charge(
	const struct crossbar *x, const struct packet *p, uint32_t channel)
{
	return channel ? x->full : p->chunks;
}

/* The channel that it leaves by, having come by another. */
static uint32_t channel_of(
	const struct crossbar *x, const struct packet *p, uint32_t came)
{
	return x->is_stepped ? p->channel : came;
}

/* --- the book of time budgets; without one all of this is a branch --- */

static void note(const struct crossbar *x, packet_id id, site_id s,
	const char *how, port_id port, uint32_t channel)
{
	const struct topo *topo = x->router.net->topo;
	char site[96], name[16];

	if (!x->book || !book_is_followed(x->book, id))
		return;
	topo_name_site(topo, s, site, sizeof(site));
	topo->ops->name_port(topo, s, port, name, sizeof(name));
	book_set_note(x->book, id, "%s, %s %s, %s", site, how, name,
		x->router.ops->channels[channel]);
}

static void book_leaving(const struct crossbar *x, packet_id id, uint32_t class,
	sim_time t, sim_time arrival)
{
	if (!x->book)
		return;
	book_wait(x->book, id, CAUSE_ARBITRATION, t);
	book_until(x->book, id, CAUSE_ROUTER, t + x->link->logic[class]);
	book_until(x->book, id, CAUSE_WIRE, arrival);
}

/* --- leaving --- */

/* Gives room of a channel back to who sent by a port. */
static void give_back(struct crossbar *x, struct sim_worker *w, struct site *s,
	port_id in, uint32_t channel, uint32_t chunks, sim_time tail)
{
	const struct link_sender *l = &s->port[in].sender;
	sim_time t = tail + x->link->latency[l->wire];
	struct link_returns *r;

	if (!l->is_far) {
		r = &site_at(x, l->peer)->port[l->peer_port].returns;
		if (r->n < LINK_RETURNS && !r->is_starving) {
			r->stamp[r->n++] = link_stamp(t, channel, chunks);
			return;
		}
	}
	sim_post(w, l->peer, t, SIM_KEY(PHASE_TOKEN, l->peer_port),
		(uint16_t)channel, chunks);
}

/* What a packet costs on the link that leaves by a port, now. */
static uint32_t size_on(const struct crossbar *x, const struct site *s,
	port_id out, const struct packet *p, sim_time t)
{
	if (!x->has_rates)
		return p->size;
	return net_row(x->router.net, s->id, out, s->port[out].sender.wire, t) *
		       x->link->row +
	       p->size % x->link->row;
}

/* The part of its route that a packet still carries. */
static uint32_t route_bytes(const struct crossbar *x, const struct packet *p)
{
	return x->link->route ? x->link->route * route_left(p) : 0;
}

/* A tail leaves not before it has come. */
static sim_time tail_of(
	const struct crossbar *x, struct packet *p, uint32_t size, sim_time t)
{
	sim_time out = t + x->link->ser[size];
	sim_time in = p->head + x->link->ser[p->size];

	if (out >= in)
		p->size = (uint16_t)size;
	out = out > in ? out : in;
	return x->link->route ? out + x->link->route_ser[route_left(p)] : out;
}

static sim_time gap_of(
	const struct crossbar *x, const struct site *s, port_id out, sim_time t)
{
	if (!x->has_rates)
		return x->link->gap;
	return x->link
		->rate[net_row(
			x->router.net, s->id, out, s->port[out].sender.wire, t)]
		.gap;
}

/* Over a link that has faults or retries: when the head arrives, or
 * SIM_NEVER. */
static sim_time send_faulty(struct crossbar *x, struct sim_worker *w,
	struct site *s, port_id out, struct net_sending *sending)
{
	struct link_sender *l = &s->port[out].sender;
	struct net_sent sent;

	sending->site = s->id;
	sending->port = out;
	sending->class = l->wire;
	sending->gap = gap_of(x, s, out, sending->t);
	sent = net_send(x->router.net, w, sending);
	l->count[sending->channel] += (uint64_t)sent.resent * sending->bytes;
	if (l->free_at < sent.free_at)
		l->free_at = sent.free_at;
	if (l->owed_until < l->free_at)
		l->owed_until = l->free_at;
	return sent.is_lost ? SIM_NEVER : sent.arrival;
}

static void wake_when_free(
	struct sim_worker *w, struct site *s, port_id out, sim_time t)
{
	struct port *o = &s->port[out];

	if (o->is_timed)
		return;
	o->is_timed = true;
	sim_post_self(w, s->id, o->sender.free_at > t ? o->sender.free_at : t,
		SIM_KEY(PHASE_ENGINE, out), 0, 0);
}

/* The first of a queue takes the link. */
static void grant(struct crossbar *x, struct sim_worker *w, struct site *s,
	port_id out, port_id in, uint32_t came, sim_time t)
{
	struct port *o = &s->port[out], *i = &s->port[in];
	struct link_sender *l = &o->sender;
	struct packet_list *q = queue_of(x, s, came, out, in);
	packet_id id = packet_pop(x->packets, q);
	struct packet *p = &x->packets[id];
	uint32_t channel = channel_of(x, p, came);
	uint32_t size = size_on(x, s, out, p, t);
	uint32_t bytes = x->link->bytes[size] + route_bytes(x, p);
	int32_t tokens = charge(x, p, channel);
	sim_time head = p->head, tail = tail_of(x, p, size, t);
	sim_time arrival = t + x->link->latency[l->wire];

	if (!q->first)
		o->want[came] &= ~BIT(in);
	o->first[came] = (uint8_t)(in + 1);
	o->turn = (uint8_t)(came + 1);
	o->backlog -= p->chunks;
	i->packets[came]++;
	i->waited[came] += t - head;
	note(x, id, s->id, "out by", out, channel);
	book_leaving(x, id, l->wire, t, arrival);
	l->tokens[channel] = (int16_t)(l->tokens[channel] - tokens);
	link_take(l, gap_of(x, s, out, t), t, tail);
	l->count[channel] += bytes;
	give_back(x, w, s, in, came, (uint32_t)charge(x, p, came), tail);
	if (x->is_faulty)
		arrival = send_faulty(x, w, s, out,
			&(struct net_sending){ .id = id,
				.channel = channel,
				.bytes = bytes,
				.tokens = (uint32_t)tokens,
				.t = t,
				.tail = tail });
	if (arrival != SIM_NEVER)
		sim_post(w, l->peer, arrival,
			SIM_KEY(PHASE_ARRIVAL, l->peer_port), (uint16_t)channel,
			id);
}

/* --- arbitration --- */

static bool is_wanted(const struct port *o)
{
	return o->want[0] | o->want[1] | o->want[2] | o->want[3];
}

/* Of inputs, the first from some number on. */
static port_id choose(uint64_t m, uint32_t first)
{
	uint64_t later = first < 64 ? m & (~UINT64_C(0) << first) : 0;

	return (port_id)__builtin_ctzll(later ? later : m);
}

/*
 * The input whose packet goes next, of those that came by a channel, or
 * TOPO_NO_PORT.  One that lacks tokens is waited for by all others of its
 * channel, or short packets would keep long ones waiting for ever.
 */
static port_id pick(struct crossbar *x, struct site *s, port_id out,
	uint32_t came, uint32_t *blocked, sim_time t)
{
	struct port *o = &s->port[out];
	uint64_t m = o->want[came];

	while (m && *blocked != BIT(CHANNELS) - 1) {
		port_id in = choose(m, o->first[came]);
		packet_id id = queue_of(x, s, came, out, in)->first;
		const struct packet *p = &x->packets[id];
		uint32_t channel = channel_of(x, p, came);

		if (!(*blocked >> channel & 1)) {
			if (o->sender.tokens[channel] >= charge(x, p, channel))
				return in;
			*blocked |= 1u << channel;
			book_wait(x->book, id, CAUSE_TOKENS, t);
		}
		if (!x->is_stepped)
			break; /* the others want the same channel */
		m &= ~BIT(in);
	}
	return TOPO_NO_PORT;
}

/* Nobody had tokens: from now on they come as events, beginning with those
 * that are on their way. */
static void await_tokens(struct sim_worker *w, struct site *s, port_id out)
{
	struct link_returns *r = &s->port[out].returns;
	uint32_t i;

	r->is_starving = 1;
	for (i = 0; i < r->n; i++)
		sim_post_self(w, s->id, link_stamp_time(r->stamp[i]),
			SIM_KEY(PHASE_TOKEN, out),
			(uint16_t)link_stamp_channel(r->stamp[i]),
			link_stamp_chunks(r->stamp[i]));
	r->n = 0;
}

static void arbitrate(struct crossbar *x, struct sim_worker *w, struct site *s,
	port_id out, sim_time t)
{
	struct port *o = &s->port[out];
	uint32_t blocked = 0, k;

	if (!is_wanted(o))
		return;
	if (o->sender.free_at > t) {
		wake_when_free(w, s, out, t);
		return;
	}
	link_collect(&o->sender, &o->returns, t);
	for (k = 0; k < CHANNELS; k++) {
		uint32_t came = (o->turn + k) % CHANNELS;
		port_id in = pick(x, s, out, came, &blocked, t);

		if (in == TOPO_NO_PORT)
			continue;
		o->returns.is_starving = 0;
		grant(x, w, s, out, in, came, t);
		if (is_wanted(o))
			wake_when_free(w, s, out, t);
		return;
	}
	await_tokens(w, s, out);
}

/* --- what comes --- */

/* What waits for a port and behind it. */
static uint32_t load_of(
	const struct crossbar *x, struct port *o, uint32_t channel, sim_time t)
{
	link_collect(&o->sender, &o->returns, t);
	return o->backlog + (uint32_t)(x->capacity - o->sender.tokens[channel]);
}

/* Of some ports the one with the least load. */
static port_id least(const struct crossbar *x, struct site *s, port_mask m,
	uint32_t channel, sim_time t)
{
	uint32_t start, best = UINT32_MAX;
	port_id found = 0;

	if (!(m & (m - 1)))
		return (port_id)__builtin_ctzll(m);
	s->lfsr = lfsr_step(s->lfsr);
	for (start = s->lfsr % x->n_ports; m;) {
		port_id p = choose(m, start);
		uint32_t load = load_of(x, &s->port[p], channel, t);

		if (load < best) {
			best = load;
			found = p;
		}
		m &= ~BIT(p);
	}
	return found;
}

static void on_arrival(struct crossbar *x, struct site *s,
	const struct sim_event *e, sim_time t)
{
	port_id in = sim_number(e), out;
	uint32_t channel = sim_aux(e);
	packet_id id = e->data;
	struct packet *p = &x->packets[id];
	struct route_step step = x->route->ops->next(x->route, p, s->id, in);

	p->head = t;
	link_owe(&s->port[in].sender, x->link->owed, t);
	BUG_IF(!step.ports);
	if (x->is_stepped)
		p->channel = step.channel;
	out = least(x, s, step.ports, channel_of(x, p, channel), t);
	p->escape = (uint8_t)out;
	note(x, id, s->id, "in by", in, channel);
	book_wait(x->book, id, CAUSE_ARBITRATION, t);
	packet_push(x->packets, queue_of(x, s, channel, out, in), id);
	s->port[out].want[channel] |= BIT(in);
	s->port[out].backlog += p->chunks;
	s->dirty |= BIT(out);
}

static void on_token(struct sim_worker *w, struct site *s, port_id port,
	uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->port[port].sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (s->port[port].returns.is_starving)
		s->dirty |= BIT(port);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct net *n = w->model;
	struct crossbar *x = of(n->router[NET_SWITCHES]);
	struct site *s = site_at(x, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };
		uint32_t number = sim_number(&e);

		if (sim_phase(&e) == PHASE_ARRIVAL) {
			on_arrival(x, s, &e, t);
		} else if (sim_phase(&e) == PHASE_ENGINE) {
			s->port[number].is_timed = false;
			s->dirty |= BIT(number);
		} else if (number >= NET_LINK) {
			net_on_link(n, w, site, t, &e);
		} else {
			on_token(w, s, number, sim_aux(&e), e.data);
		}
		if (sim_more(w, &e))
			continue;
		for (; s->dirty; s->dirty &= s->dirty - 1)
			arbitrate(
				x, w, s, (port_id)__builtin_ctzll(s->dirty), t);
	}
}

static void prefetch(const struct sim_worker *w, const struct sim_event *e)
{
	const struct net *n = w->model;

	__builtin_prefetch(site_at(of(n->router[NET_SWITCHES]), e->site));
	if (sim_phase(e) == PHASE_ARRIVAL)
		__builtin_prefetch(&n->packets[e->data]);
}

/* Nobody injects at a switch. */
static const struct router_calls calls = {
	.visit = visit,
	.prefetch = prefetch,
};

/* --- set-up --- */

static int crossbar_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	int64_t capacity = s->router->packets * n->link.max_chunks;

	if (topo_is_direct(s->topo))
		return err_set(e,
			"router.kind: crossbar is for switches, and %s has "
			"none (topology.kind)",
			s->topo->ops->name);
	if (s->route->has_planes || s->route->bubble || s->route->has_escape)
		return err_set(e,
			"router.kind: crossbar has no bubbles, planes or "
			"escape channels, which routing.kind %s needs",
			s->route->ops->name);
	if (s->client && s->client->on_absorbed)
		return err_set(e, "router.kind: crossbar makes no copies of "
				  "broadcasts, which this nic.kind sends");
	if (capacity > INT16_MAX)
		return err_set(e,
			"router.packets: %lld chunks per channel (want at most "
			"%d)",
			(long long)capacity, INT16_MAX);
	return 0;
}

static size_t crossbar_site_bytes(uint32_t n_ports)
{
	size_t queues = (size_t)CHANNELS * n_ports * n_ports *
			sizeof(struct packet_list);

	return sizeof(struct site) + n_ports * sizeof(struct port) +
	       (queues + 63) / 64 * 64;
}

static struct router *crossbar_make(struct net *n, const struct net_setup *s,
	const struct router_sites *sites)
{
	struct crossbar *x = mem_alloc(1, sizeof(*x));

	x->router.sites = *sites;
	x->router.calls = &calls;
	x->packets = n->packets;
	x->route = n->route;
	x->link = &n->link;
	x->tally = n->tally;
	x->book = n->book;
	x->is_faulty = net_is_faulty(n);
	x->has_rates = n->link.n_rates > 1 || (n->faults && n->faults->width);
	x->is_stepped = n->route->n_channels > 1;
	x->n_ports = sites->n_ports;
	x->full = n->full;
	x->capacity = n->full * (int32_t)s->router->packets;
	x->router.lock_packets = (uint64_t)s->router->packets;
	x->stride = crossbar_site_bytes(x->n_ports);
	x->bytes = (sites->end - sites->first) * x->stride;
	x->sites = map_alloc_dense(x->bytes);
	return &x->router;
}

static void wire_port(struct crossbar *x, struct site *s, port_id p)
{
	const struct net *n = x->router.net;
	struct topo_end far = n->topo->ops->peer(n->topo, s->id, p);
	struct link_sender *l = &s->port[p].sender;
	const struct router *peer;
	uint32_t c;

	l->peer = far.router;
	if (far.router == NO_ROUTER)
		return;
	peer = net_router(n, far.router);
	l->peer_port = (uint8_t)far.port;
	/* what is no crossbar has no place for our stamps */
	l->is_far = !sim_is_own(sim_owner(n->sim, s->id), far.router) ||
		    peer->ops != &crossbar_ops;
	l->wire = (uint8_t)n->topo->ops->wire(n->topo, s->id, p);
	for (c = 0; c < CHANNELS && c < peer->ops->n_channels; c++)
		l->tokens[c] = (int16_t)peer->ops->capacity(peer, far.port, c);
}

static void crossbar_wire(struct router *r)
{
	struct crossbar *x = of(r);
	site_id id;
	port_id p;

	for (id = r->sites.first; id < r->sites.end; id++) {
		struct site *s = site_at(x, id);

		s->id = id;
		s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
		for (p = 0; p < x->n_ports; p++)
			wire_port(x, s, p);
	}
}

static void crossbar_free(struct router *r)
{
	map_free(of(r)->sites, of(r)->bytes);
	mem_free(of(r));
}

static uint64_t crossbar_memory(const struct router *r)
{
	return of(r)->bytes;
}

/* --- from outside --- */

static void crossbar_describe(const struct net_params *p, FILE *f)
{
	fprintf(f,
		"FIFOs       injection %lld, reception %lld packets each\n"
		"switches    crossbars: a queue for each input and output, "
		"served in turn\n",
		(long long)p->injection, (long long)p->reception);
}

static int32_t crossbar_capacity(
	const struct router *r, port_id p, uint32_t channel)
{
	(void)p;
	(void)channel;
	return of(r)->capacity;
}

static int32_t crossbar_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct port *port = &site_at(of(r), s)->port[p];
	int32_t sum = port->sender.tokens[channel];
	uint32_t i;

	for (i = 0; i < port->returns.n; i++)
		if (link_stamp_channel(port->returns.stamp[i]) == channel)
			sum += (int32_t)link_stamp_chunks(
				port->returns.stamp[i]);
	return sum;
}

static int32_t crossbar_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	return charge(of(r), p, channel);
}

static bool crossbar_is_short(const struct router *r, site_id s)
{
	port_id p;

	for (p = 0; p < of(r)->n_ports; p++)
		if (site_at(of(r), s)->port[p].returns.is_starving)
			return true;
	return false;
}

static uint32_t crossbar_n_buffers(const struct router *r, site_id s)
{
	(void)s;
	return CHANNELS * of(r)->n_ports * of(r)->n_ports;
}

static uint32_t count(const struct crossbar *x, const struct packet_list *q)
{
	packet_id id = q->first;
	uint32_t n = 0;

	for (; id; id = x->packets[id].next)
		n++;
	return n;
}

/* Input by input, channel by channel. */
static struct net_buffer crossbar_buffer(
	const struct router *r, site_id s, uint32_t i)
{
	const struct crossbar *x = of(r);
	uint32_t out = i % x->n_ports, channel = i / x->n_ports % CHANNELS;
	uint32_t in = i / x->n_ports / CHANNELS;
	const struct packet_list *q =
		queue_of(x, site_at(x, s), channel, out, in);

	return (struct net_buffer){
		.site = s,
		.port = in,
		.channel = channel,
		.head = q->first,
		.count = count(x, q),
	};
}

static uint32_t crossbar_n_injecting(const struct router *r, site_id s)
{
	(void)r;
	(void)s;
	return 0;
}

static uint32_t crossbar_ways(const struct router *r,
	const struct net_buffer *b, const struct packet *p, struct net_way *way)
{
	uint32_t channel = channel_of(of(r), p, b->channel);

	*way = (struct net_way){
		.port = p->escape,
		.channel = channel,
		.need = charge(of(r), p, channel),
	};
	return 1;
}

/* What the packets that came by a port and channel have waited so far. */
static sim_time waiting(const struct crossbar *x, struct site *s, port_id in,
	uint32_t channel, sim_time now)
{
	sim_time sum = 0;
	port_id out;

	for (out = 0; out < x->n_ports; out++) {
		packet_id id = queue_of(x, s, channel, out, in)->first;

		for (; id; id = x->packets[id].next)
			sum += now - x->packets[id].head;
	}
	return sum;
}

static struct net_counters crossbar_counters(const struct router *r, site_id id,
	port_id p, uint32_t channels, sim_time now)
{
	struct site *s = site_at(of(r), id);
	const struct port *port = &s->port[p];
	struct net_counters sum = { .free_at = port->sender.free_at };
	uint32_t c;

	for (c = 0; c < CHANNELS; c++) {
		if (!(channels >> c & 1))
			continue;
		sum.sent_bytes += port->sender.count[c];
		sum.packets += port->packets[c];
		sum.waited += port->waited[c] + waiting(of(r), s, p, c, now);
	}
	return sum;
}

static const char *const channels[CHANNELS] = { "dynamic", "deterministic",
	"high", "system" };

const struct router_ops crossbar_ops = {
	.name = "crossbar",
	.channels = channels,
	.n_channels = CHANNELS,
	.is_switch = true,
	.describe = crossbar_describe,
	.check = crossbar_check,
	.site_bytes = crossbar_site_bytes,
	.make = crossbar_make,
	.wire = crossbar_wire,
	.free = crossbar_free,
	.memory = crossbar_memory,
	.capacity = crossbar_capacity,
	.tokens = crossbar_tokens,
	.charge = crossbar_charge,
	.is_short = crossbar_is_short,
	.n_buffers = crossbar_n_buffers,
	.buffer = crossbar_buffer,
	.n_injecting = crossbar_n_injecting,
	.ways = crossbar_ways,
	.counters = crossbar_counters,
};
