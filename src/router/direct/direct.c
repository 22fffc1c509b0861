/* The set-up of the direct router, and its state as seen from outside. */
#include "router/direct/direct.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/shortcuts.h"
#include "coll/coll.h"
#include "net/send.h"

static struct direct *of(const struct router *r)
{
	return (struct direct *)(uintptr_t)r;
}

static struct direct_site *site_of(const struct router *r, site_id s)
{
	return direct_at(of(r), s);
}

/* --- set-up --- */

static const struct param params[] = {
	PARAM_ONE_OF("arbiter", offsetof(struct direct_params, arbiter),
		"senders", "senders|stages",
		"arbitration for a link; senders: its sender chooses among all "
		"packets that wait for it; stages: each channel nominates a "
		"packet, each receiver one of these, and the sender grants one",
		"assumed: stages cost three times as many instructions per "
		"hop"),
};

/* If switches are of another kind, the parameters are theirs. */
static bool is_staged(const struct net_params *p)
{
	const struct direct_params *own = p->own;

	return own && !p->switches && own->arbiter == ARBITER_STAGES;
}

/* Whether switches have direct routers, too. */
static bool has_switches(const struct net_params *p)
{
	return !p->switches || p->switches == &direct_ops;
}

static int direct_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	int64_t capacity = s->router->packets * n->link.max_chunks;

	if (has_switches(s->router) && s->topo->n_ports > DIRECT_PORTS)
		return err_set(e,
			"router.kind: direct supports at most %d ports, not %u",
			DIRECT_PORTS, s->topo->n_ports);
	if (s->topo->node_ports > FIFO_LOCAL)
		return err_set(e,
			"router.kind: direct supports at most %d ports at a "
			"node, not %u",
			FIFO_LOCAL, s->topo->node_ports);
	if (s->route->has_planes)
		return err_set(e, "routing.planes: direct routers have no "
				  "planes (want no, or router.kind: tiled)");
	if (s->route->bubble && s->router->packets < 2)
		return err_set(e, "router.packets: the bubble rule needs room "
				  "for at least two packets in a channel");
	if (s->route->n_channels > 1 &&
		s->route->n_channels * s->router->queues > DIRECT_QUEUES)
		return err_set(e,
			"router.queues: the direct router has at most %d "
			"queues for all %u channels of the routing together",
			DIRECT_QUEUES, s->route->n_channels);
	if (is_staged(s->router) &&
		!(topo_is_direct(s->topo) && s->route->tables))
		return err_set(e,
			"router.arbiter: stages are for tori whose "
			"packets have hints (want routing.kind: hint)");
	if (capacity > INT16_MAX)
		return err_set(e,
			"router.packets: %lld chunks per channel (want at most "
			"%d)",
			(long long)capacity, INT16_MAX);
	if (s->router->injection * n->link.max_chunks > UINT16_MAX)
		return err_set(e,
			"router.injection: %lld packets of %u chunks do not "
			"fit into a FIFO of %d chunks",
			(long long)s->router->injection, n->link.max_chunks,
			UINT16_MAX);
	return 0;
}

static size_t queue_bytes(uint32_t n_ports)
{
	return n_ports * (N_CHANNELS * DIRECT_QUEUES) *
	       sizeof(struct direct_queue);
}

static size_t direct_site_bytes(uint32_t n_ports)
{
	return queue_bytes(n_ports) + sizeof(struct direct_site) +
	       n_ports * sizeof(struct direct_port);
}

/* See router/ring/visit.c. */
static bool is_ring(const struct net *n, const struct net_setup *s)
{
	return s->route->rings && s->route->n_channels == 2 &&
	       s->route->is_exact && s->router->queues == 1 && !n->link.owed &&
	       topo_is_direct(s->topo) && !n->repair;
}

/* The smallest build that suffices; the full ones define the results. */
static const struct direct_build *pick_build(
	const struct net *n, const struct net_setup *s)
{
	bool is_faulty = n->faults || n->retry || n->link.n_rates > 1;
	bool is_full =
		!SHORTCUTS || is_faulty || n->book || is_staged(s->router);

	if (is_ring(n, s))
		return is_full ? &ring_full : &ring_plain;
	if (SHORTCUTS && topo_is_direct(s->topo) && s->route->tables &&
		!is_faulty)
		return is_full ? &direct_booked : &direct_torus;
	return is_full ? &direct_full : &direct_tree;
}

static uint32_t n_sites(const struct direct *d)
{
	return d->router.sites.end - d->router.sites.first;
}

static size_t rises_bytes(const struct direct *d)
{
	return (size_t)n_sites(d) * d->n_ports * d->n_levels *
	       sizeof(*d->rises);
}

static size_t between_bytes(const struct direct *d)
{
	if (d->link.train == 1)
		return 0;
	return (size_t)n_sites(d) * d->n_ports * sizeof(*d->between);
}

static void direct_make(struct router *r, const struct net_setup *s)
{
	struct direct *d = of(r);
	struct net *n = r->net;

	d->build = pick_build(n, s);
	d->router.calls = &d->build->calls;
	d->packets = n->packets;
	d->route = n->route;
	d->tables = n->route->tables;
	d->rings = n->route->rings;
	d->link = n->link;
	d->tally = n->tally;
	d->faults = n->faults;
	d->retry = n->retry;
	d->has_rates = n->link.n_rates > 1 || (n->faults && n->faults->width);
	d->book = n->book;
	d->n_ports = r->sites.n_ports;
	d->n_nodes = n->n_nodes;
	d->n_queues = (uint32_t)s->router->queues;
	for (uint32_t i = 0; i + 1 < d->n_queues; i++)
		d->next_queue[i] = (uint8_t)(i + 1);
	d->n_outputs = n->n_ports < DIRECT_PORTS ? n->n_ports : DIRECT_PORTS;
	d->n_bits = d->n_outputs * DIRECT_QUEUES;
	d->n_fifos = s->topo->node_ports;
	d->full = n->full;
	d->entry = n->full * (s->route->bubble ? 2 : 1);
	d->transit = (uint32_t)s->router->transit;
	if (s->route->n_channels > 1)
		d->channel_bits = d->n_queues;
	d->is_exact = s->route->is_exact;
	d->has_cards = s->topo->cards;
	d->is_staged = is_staged(s->router);
	d->capacity = (uint32_t)n->full * (uint32_t)s->router->packets;
	d->router.lock_packets =
		1 + (d->capacity - (uint32_t)d->entry) / (uint32_t)d->full;
	router_map(r, direct_site_bytes(d->n_ports), queue_bytes(d->n_ports));
	if (d->book) {
		d->n_levels =
			d->is_exact ? N_CHANNELS * (uint32_t)d->full
				    : (uint32_t)d->full + 2 * (N_CHANNELS - 1);
		d->rises = map_alloc(rises_bytes(d));
	}
	if (between_bytes(d))
		d->between = map_alloc(between_bytes(d));
	if (!n->coll && has_switches(s->router))
		n->coll = coll_new(s->route, PACKET_RANGE | PACKET_ANSWER);
	d->coll = n->coll;
}

static void wire_port(struct direct *d, struct direct_site *s, port_id p)
{
	const struct link_sender *l = &s->port[p].sender;

	s->port[p].requests.straight = PACKET_NO_PORT;
	net_wire(d->router.net, &direct_ops, s->id, p, &s->port[p].sender);
	if (l->peer == NO_ROUTER)
		return;
	if (l->tokens[CHANNEL_DYNAMIC] >= d->full)
		s->roomy |= 1u << p;
	/* if it is never 0, the fast path is never taken */
	s->port[p].requests.n_rare = d->transit != 0 || d->channel_bits;
}

/* Which ports lie opposite each other. */
static void find_straight(const struct direct *d, struct direct_site *s)
{
	const struct topo *t = d->router.net->topo;
	port_id out;

	for (port_id in = 0; in < d->n_ports && t->ops->straight; in++) {
		out = t->ops->straight(t, s->id, in);
		if (out < d->n_ports)
			s->port[out].requests.straight = (uint8_t)in;
	}
}

static void site_init(struct direct *d, site_id id)
{
	const struct net_params *p = &d->router.net->params;
	struct direct_site *s = direct_at(d, id);

	s->id = id;
	s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
	for (uint32_t i = 0; i < d->n_ports; i++)
		wire_port(d, s, i);
	find_straight(d, s);
	for (uint32_t i = 0; i < N_FIFOS; i++) {
		/* those of cards receive high packets, too */
		int32_t kinds = d->has_cards && i < d->n_fifos ? 2 : 1;

		s->inject[i].chunks =
			(uint16_t)((int32_t)p->injection * d->full);
		s->reception[i].chunks =
			kinds * (int32_t)p->reception * d->full;
	}
}

static void direct_wire(struct router *r)
{
	struct direct *d = of(r);

	for (uint32_t i = 0; i < NET_KINDS; i++)
		d->kind[i] = r->net->router[i]->ops == &direct_ops
				     ? of(r->net->router[i])
				     : d;
	for (site_id s = router_next(r, r->sites.first); s < r->sites.end;
		s = router_next(r, s + 1))
		site_init(d, s);
}

static void direct_fini(struct router *r)
{
	coll_free(r->net->coll);
	r->net->coll = NULL;
	map_free(of(r)->rises, rises_bytes(of(r)));
	map_free(of(r)->between, between_bytes(of(r)));
}

static uint64_t direct_memory(const struct router *r)
{
	const struct direct *d = of(r);

	return rises_bytes(d) + between_bytes(d) +
	       (r == r->net->router[NET_NODES] ? coll_memory(d->coll) : 0);
}

static struct net_fifos direct_fifos(const struct router *r, uint32_t class)
{
	static const struct net_fifos fifos[N_NET_CLASSES] = {
		[NET_USER] = { FIFO_USER, 0, FIFO_LOCAL - FIFO_USER, false },
		[NET_LOCAL] = { FIFO_LOCAL, 2, FIFO_HIGH - FIFO_LOCAL, false },
		[NET_HIGH] = { FIFO_HIGH, 1, 1, false },
		[NET_SYSTEM] = { FIFO_SYSTEM, 1, 1, false },
	};
	struct net_fifos f = fifos[class];

	if (class == NET_USER)
		f.count = of(r)->n_fifos;
	return f;
}

/* Routings that name channels have one class, which enters by the first. */
static uint32_t direct_channel_by(const struct router *r, uint32_t fifo)
{
	if (of(r)->channel_bits || fifo < FIFO_HIGH)
		return CHANNEL_DYNAMIC;
	return fifo == FIFO_HIGH ? CHANNEL_HIGH : CHANNEL_SYSTEM;
}

/* --- from outside --- */

static void direct_describe(
	const struct net_params *p, const struct topo *t, FILE *f)
{
	(void)t;
	fprintf(f, "queues      %" PRId64 " per channel\n", p->queues);
	fprintf(f,
		"FIFOs       injection %" PRId64 ", reception %" PRId64
		" packets each\n",
		p->injection, p->reception);
	if (p->transit)
		fprintf(f,
			"arbiters    %" PRId64
			" grants to packets in transit for one to injection\n",
			p->transit);
	else
		fprintf(f, "arbiters    transit before injection\n");
}

static int32_t direct_capacity(
	const struct router *r, port_id p, uint32_t channel)
{
	(void)p;
	(void)channel;
	return (int32_t)of(r)->capacity;
}

static int32_t direct_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct direct_port *port = &site_of(r, s)->port[p];

	return port->sender.tokens[channel] +
	       link_returning(&port->returns, channel);
}

static void direct_all_tokens(
	const struct router *r, site_id s, port_id p, int32_t *tokens)
{
	const struct direct_port *port = &site_of(r, s)->port[p];

	link_all_tokens(&port->sender, &port->returns, tokens);
}

static int32_t charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	return direct_charge(of(r), p, channel);
}

static port_mask direct_short_ports(const struct router *r, site_id id)
{
	const struct direct_site *s = site_of(r, id);
	port_mask ports = 0;

	for (uint32_t port = 0; port < of(r)->n_ports; port++) {
		const struct link_sender *l = &s->port[port].sender;

		if (link_is_below(l, of(r)->entry) && l->peer != NO_ROUTER)
			ports |= (port_mask)1 << port;
	}
	return ports;
}

/* Queues per channel that a receiver uses. */
static uint32_t queues_of(const struct direct *d)
{
	return d->channel_bits ? (uint32_t)DIRECT_QUEUES : d->n_queues;
}

static uint32_t direct_n_buffers(const struct router *r, site_id s)
{
	(void)s;
	return N_CHANNELS * of(r)->n_ports * queues_of(of(r));
}

static struct net_buffer direct_buffer(
	const struct router *r, site_id s, uint32_t i)
{
	uint32_t n = queues_of(of(r)), n_ports = of(r)->n_ports;
	uint32_t port = i / n % n_ports, channel = i / n / n_ports;
	const struct direct_queue *q =
		direct_queues(site_of(r, s), port, channel) + i % n;

	return (struct net_buffer){
		.site = s,
		.port = port,
		.channel = channel,
		.head = q->head,
		.count = q->count,
	};
}

/* Whether any queue of a receiver's channel holds some; those that it lacks are
 * empty. */
static inline bool has_packets(const struct direct_queue *q)
{
	_Static_assert(DIRECT_QUEUES == 4, "all of them");
	return (q[0].count | q[1].count | q[2].count | q[3].count) != 0;
}

static uint32_t direct_in_use(
	const struct router *r, site_id id, uint32_t *list)
{
	uint32_t n = queues_of(of(r)), n_ports = of(r)->n_ports;
	uint32_t i = 0, used = 0;
	struct direct_site *s = site_of(r, id);

	for (uint32_t channel = 0; channel < N_CHANNELS; channel++) {
		const struct direct_queue *q = direct_queues(s, 0, channel);

		/* those of the next port are before these */
		for (uint32_t port = 0; port < n_ports;
			port++, q -= N_CHANNELS * DIRECT_QUEUES, i += n) {
			if (!has_packets(q))
				continue;
			for (uint32_t k = 0; k < n; k++)
				if (q[k].count)
					list[used++] = i + k;
		}
	}
	return used;
}

static uint32_t direct_n_injecting(const struct router *r, site_id s)
{
	uint32_t sum = 0;

	for (uint32_t f = 0; f < N_FIFOS; f++)
		sum += site_of(r, s)->inject[f].n;
	return sum;
}

/* FIFOs whose heads request a port. */
static uint32_t requesting(const struct direct_requests *r)
{
	uint32_t fifos = 0;

	for (uint32_t i = 0; i < N_INJECTIONS; i++)
		fifos |= r->inject[i];
	return fifos;
}

/* Ports that the head of a FIFO requests or, while the packet in front leaves,
 * will request. */
static uint32_t injection_ports(const struct direct *d,
	const struct direct_site *s, uint32_t ports, uint32_t f)
{
	const struct packet *p = &d->packets[s->inject[f].head];

	if (d->n_ports == 1)
		return 1;
	if (!ports)
		ports = p->ask;
	return ports || p->escape == PACKET_NO_PORT ? ports : 1u << p->escape;
}

/* They are few, and not every processor counts bits by an instruction. */
static inline uint32_t n_ports_of(uint32_t ports)
{
	uint32_t n = 0;

	for (; ports; ports &= ports - 1)
		n++;
	return n;
}

static void direct_injecting(
	const struct router *r, site_id id, double *waiting)
{
	const struct direct_site *s = site_of(r, id);
	uint32_t asked[N_FIFOS] = { 0 }; /* ports, by each FIFO */
	uint32_t ports, m;
	double part;

	for (uint32_t p = 0; p < of(r)->n_ports; p++)
		for (m = requesting(&s->port[p].requests); m; m &= m - 1)
			asked[__builtin_ctz(m)] |= 1u << p;
	for (uint32_t f = 0; f < N_FIFOS; f++) {
		if (!s->inject[f].n)
			continue;
		ports = injection_ports(of(r), s, asked[f], f);
		part = (double)s->inject[f].n;
		if (ports & (ports - 1))
			part /= n_ports_of(ports);
		for (m = ports; m; m &= m - 1)
			waiting[__builtin_ctz(m)] += part;
	}
}

static uint32_t list_ports(
	uint32_t ports, struct net_way like, struct net_way *way)
{
	uint32_t n = 0;

	for (; ports; ports &= ports - 1) {
		like.port = (port_id)__builtin_ctz(ports);
		way[n++] = like;
	}
	return n;
}

/* As in heads.h. */
static uint32_t direct_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way)
{
	const struct direct *d = of(r);
	bool on_ring = b->channel != CHANNEL_DYNAMIC;
	bool is_dynamic = p->kind == PACKET_DYNAMIC;
	struct net_way ring = {
		.port = p->escape,
		.channel = is_dynamic ? (uint32_t)CHANNEL_DETERMINISTIC
				      : direct_channel_of(p),
		.need = d->entry,
	};
	uint32_t n = 0;

	if (d->channel_bits)
		return list_ports(p->ask,
			(struct net_way){ .channel = p->channel,
				.need = direct_charge(d, p, p->channel) },
			way);
	if (p->flags & PACKET_RANGE) {
		ring.need = d->full;
		return list_ports(p->ask, ring, way);
	}
	if (on_ring && site_of(r, b->site)->port[p->escape].requests.straight ==
			       b->port)
		ring.need = d->full;
	if (is_dynamic && !(on_ring && p->flags & PACKET_STAY))
		n = list_ports(p->ask,
			(struct net_way){
				.channel = CHANNEL_DYNAMIC, .need = p->chunks },
			way);
	if (on_ring || !is_dynamic || d->route->has_escape)
		way[n++] = ring;
	return n;
}

/* Packets that wait in a channel's queues; unused queues are empty. */
static uint32_t n_waiting(const struct direct_queue *q)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < DIRECT_QUEUES; i++)
		n += q[i].count;
	return n;
}

/* The sum of their waiting times. */
static sim_time waiting_time(
	const struct direct *d, const struct direct_queue *q, sim_time now)
{
	sim_time sum = 0;

	for (uint32_t i = 0; i < DIRECT_QUEUES; i++) {
		packet_id id = q[i].head;

		for (uint32_t k = q[i].count; k; k--, id = d->packets[id].next)
			sum += now - d->packets[id].head;
	}
	return sum;
}

static sim_time direct_count(const struct router *r, site_id id, port_id p,
	sim_time now, struct net_count *c)
{
	struct direct_site *s = site_of(r, id);
	const struct direct_port *port = &s->port[p];
	const struct direct_queue *q = direct_queues(s, p, 0);

	for (uint32_t i = 0; i < N_CHANNELS; i++, c++, q += DIRECT_QUEUES) {
		uint64_t sent = port->sender.count[i];
		uint64_t came = port->receiver.packets[i];
		bool has_some = has_packets(q);

		if (!(sent | came) && !has_some)
			continue; /* never used */
		c->sent = sent;
		c->came = came;
		c->stayed = port->receiver.waited[i];
		if (!has_some)
			continue;
		c->waiting = n_waiting(q);
		c->stayed += waiting_time(of(r), q, now);
	}
	return port->sender.free_at;
}

static uint64_t direct_came(const struct router *r, site_id id)
{
	const struct direct_site *s = site_of(r, id);
	uint64_t sum = 0;

	for (uint32_t p = 0; p < of(r)->n_ports; p++)
		for (uint32_t c = 0; c < N_CHANNELS; c++)
			sum += s->port[p].receiver.packets[c];
	return sum;
}

/* At the end no switch waits for answers, unless some were lost or late. */
static int direct_audit(const struct router *r, bool is_over, struct err *e)
{
	const struct direct *d = of(r);

	return is_over && d->coll && !d->faults ? coll_audit(d->coll, e) : 0;
}

static const char *const channels[N_CHANNELS] = {
	[CHANNEL_DYNAMIC] = "dynamic",
	[CHANNEL_DETERMINISTIC] = "deterministic",
	[CHANNEL_HIGH] = "high",
	[CHANNEL_SYSTEM] = "system",
};

static sim_time direct_slip(
	struct router *r, site_id s, port_id p, sim_time ser, sim_time t)
{
	struct link_sender *l =
		&direct_at((struct direct *)r, s)->port[p].sender;

	t = t > l->free_at ? t : l->free_at;
	link_owe(l, ser, t);
	return t;
}

static void direct_attach(struct router *r, site_id s, uint32_t class)
{
	struct direct_site *x = direct_at((struct direct *)r, s);

	x->class = (uint16_t) class;
	x->is_sink = r->client[class]->ops.is_sink;
}

static const struct router_guests guests = {
	.slip = direct_slip,
	.lend = direct_lend,
};

const struct router_ops direct_ops = {
	.name = "direct",
	.channels = channels,
	.n_channels = N_CHANNELS,
	.most_queues = DIRECT_QUEUES,
	PARAMS(params),
	.params_size = sizeof(struct direct_params),
	.shares = route_merges,
	.tokens_are_still = true,
	.describe = direct_describe,
	.check = direct_check,
	.site_bytes = direct_site_bytes,
	.size = sizeof(struct direct),
	.make = direct_make,
	.wire = direct_wire,
	.fini = direct_fini,
	.memory = direct_memory,
	.fifos = direct_fifos,
	.channel_by = direct_channel_by,
	.capacity = direct_capacity,
	.tokens = direct_tokens,
	.all_tokens = direct_all_tokens,
	.charge = charge,
	.short_ports = direct_short_ports,
	.n_buffers = direct_n_buffers,
	.buffer = direct_buffer,
	.in_use = direct_in_use,
	.n_injecting = direct_n_injecting,
	.injecting = direct_injecting,
	.ways = direct_ways,
	.manage = direct_manage,
	.count = direct_count,
	.came = direct_came,
	.guests = &guests,
	.attach = direct_attach,
	.audit = direct_audit,
};
