/* The set-up of crossbars, and their state as seen from outside. */
#include "router/crossbar/crossbar.h"

#include <string.h>

#include "base/mem.h"
#include "net/send.h"

/* --- set-up --- */

static int crossbar_check(
	const struct net *n, const struct net_setup *s, struct err *e)
{
	int64_t capacity = s->router->packets * n->link.max_chunks;

	if (topo_is_direct(s->topo))
		return err_set(e,
			"router.kind: crossbar is for switches, but %s has "
			"none (topology.kind)",
			s->topo->ops->name);
	if (s->route->has_planes || s->route->bubble || s->route->has_escape)
		return err_set(e,
			"router.kind: crossbar has no bubbles, planes or "
			"escape channels, which routing.kind %s needs",
			s->route->ops->name);
	if (s->client && s->client->combine && s->client->combine->on_absorbed)
		return err_set(e, "router.kind: crossbar makes no copies of "
				  "broadcasts, which this nic.kind sends");
	if (capacity > INT16_MAX)
		return err_set(e,
			"router.packets: %lld chunks per channel (want at most "
			"%d)",
			(long long)capacity, INT16_MAX);
	return 0;
}

/* Without queues. */
static size_t state_bytes(uint32_t n_ports)
{
	size_t timers = crossbar_n_timers(n_ports) * sizeof(uint64_t);

	return sizeof(struct crossbar_site) +
	       n_ports * sizeof(struct crossbar_port) + (timers + 63) / 64 * 64;
}

static size_t queues_of(uint32_t n_ports)
{
	return (size_t)n_ports * n_ports;
}

/* With the queues of one channel, which is what traffic fills. */
static size_t crossbar_site_bytes(uint32_t n_ports)
{
	return state_bytes(n_ports) +
	       queues_of(n_ports) * sizeof(struct packet_list);
}

static const struct router_calls *calls_of(const struct crossbar *x)
{
	if (x->book || x->is_faulty || x->has_rates || x->news)
		return &crossbar_calls_full;
	return x->is_stepped ? &crossbar_calls_stepped : &crossbar_calls;
}

static size_t queue_bytes(const struct crossbar *x, uint32_t n_channels)
{
	return n_channels * x->per_channel * sizeof(struct packet_list);
}

static struct crossbar_site *make_site(
	void *at, uint32_t n_ports, struct packet_list *queue)
{
	struct crossbar_site *s = at;

	s->n_ports = n_ports;
	s->timer = s->end_timer = crossbar_timers(s);
	s->last_timer = s->timer + crossbar_n_timers(n_ports);
	s->queue = queue;
	return s;
}

/* Each site has a state for the ports that it has; those of other processes
 * have none. */
static void make_sites(struct crossbar *x)
{
	struct router *r = &x->router;
	const struct topo *t = r->net->topo;
	site_id n = r->sites.end - r->sites.first, i;
	uint8_t *n_ports = mem_alloc(n, sizeof(*n_ports));
	struct packet_list *queue;
	char *at;

	for (i = 0; i < n; i++) {
		if (!sim_has(r->net->sim, r->sites.first + i))
			continue;
		n_ports[i] = (uint8_t)topo_ports_at(t, r->sites.first + i);
		r->bytes += state_bytes(n_ports[i]);
		x->per_channel += queues_of(n_ports[i]);
	}
	r->mapping = at = map_alloc_dense(r->bytes);
	x->queues = queue = map_alloc_dense(queue_bytes(x, x->n_channels));
	x->site = mem_alloc(n, sizeof(*x->site));
	for (i = 0; i < n; i++) {
		if (!sim_has(r->net->sim, r->sites.first + i))
			continue;
		x->site[i] = make_site(at, n_ports[i], queue);
		at += state_bytes(n_ports[i]);
		queue += queues_of(n_ports[i]);
	}
	mem_free(n_ports);
}

static void crossbar_make(struct router *r, const struct net_setup *s)
{
	struct crossbar *x = crossbar_of(r);
	struct net *n = r->net;

	x->packets = n->packets;
	x->route = n->route;
	x->link = &n->link;
	x->book = n->book;
	x->is_faulty = net_is_faulty(n);
	x->has_rates = n->link.n_rates > 1 || (n->faults && n->faults->width);
	x->is_stepped = n->route->n_channels > 1;
	x->is_exact = n->route->is_exact;
	x->n_ports = r->sites.n_ports;
	x->n_channels =
		x->is_stepped ? n->route->n_channels : CROSSBAR_CHANNELS;
	x->full = n->full;
	x->capacity = n->full * (int32_t)s->router->packets;
	if (x->route->has_news)
		crossbar_news_make(x);
	r->calls = calls_of(x);
	r->lock_packets = (uint64_t)s->router->packets;
	make_sites(x);
}

static void wire_port(struct crossbar *x, struct crossbar_site *s, port_id p)
{
	struct crossbar_port *port = &s->port[p];
	const struct link_sender *l = &port->sender;

	net_wire(x->router.net, &crossbar_ops, s->id, p, &port->sender);
	if (l->peer != NO_ROUTER && !l->is_far)
		port->back =
			&crossbar_at(x, l->peer)->port[l->peer_port].returns;
}

static void crossbar_wire(struct router *r)
{
	struct crossbar *x = crossbar_of(r);

	for (site_id id = router_next(r, r->sites.first); id < r->sites.end;
		id = router_next(r, id + 1)) {
		struct crossbar_site *s = crossbar_at(x, id);

		s->id = id;
		s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
		for (port_id p = 0; p < s->n_ports; p++)
			wire_port(x, s, p);
	}
}

static void crossbar_fini(struct router *r)
{
	struct crossbar *x = crossbar_of(r);

	map_free(x->queues, queue_bytes(x, x->n_channels));
	mem_free(x->site);
	crossbar_news_free(x);
}

/* --- from outside --- */

static void crossbar_describe(
	const struct net_params *p, const struct topo *t, FILE *f)
{
	(void)t;
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
	return crossbar_of(r)->capacity;
}

static int32_t crossbar_tokens(
	const struct router *r, site_id s, port_id p, uint32_t channel)
{
	const struct crossbar_port *port =
		&crossbar_at(crossbar_of(r), s)->port[p];

	return port->sender.tokens[channel] +
	       link_returning(&port->returns, channel);
}

static void crossbar_all_tokens(
	const struct router *r, site_id s, port_id p, int32_t *tokens)
{
	const struct crossbar_site *x = crossbar_at(crossbar_of(r), s);

	if (p < x->n_ports)
		link_all_tokens(
			&x->port[p].sender, &x->port[p].returns, tokens);
	else
		memset(tokens, 0, CROSSBAR_CHANNELS * sizeof(*tokens));
}

static int32_t crossbar_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	return crossbar_takes(crossbar_of(r), p, channel);
}

static port_mask crossbar_short_ports(const struct router *r, site_id s)
{
	const struct crossbar_site *x = crossbar_at(crossbar_of(r), s);

	for (port_id p = 0; p < x->n_ports; p++)
		if (x->port[p].returns.is_starving)
			return ~(port_mask)0;
	return 0;
}

static uint32_t crossbar_n_buffers(const struct router *r, site_id s)
{
	(void)s;
	return CROSSBAR_CHANNELS * crossbar_of(r)->n_ports *
	       crossbar_of(r)->n_ports;
}

static uint32_t count(const struct crossbar *x, const struct packet_list *q)
{
	packet_id id = q->first;
	uint32_t n = 0;

	for (; id; id = x->packets[id].next)
		n++;
	return n;
}

/* Input by input, channel by channel, as if all had as many ports. */
static struct net_buffer crossbar_buffer(
	const struct router *r, site_id id, uint32_t i)
{
	const struct crossbar *x = crossbar_of(r);
	const struct crossbar_site *s = crossbar_at(x, id);
	uint32_t out = i % x->n_ports,
		 channel = i / x->n_ports % CROSSBAR_CHANNELS;
	uint32_t in = i / x->n_ports / CROSSBAR_CHANNELS;
	struct net_buffer b = { .site = id, .port = in, .channel = channel };
	const struct packet_list *q;

	if (in >= s->n_ports || out >= s->n_ports ||
		!(s->port[out].want[channel] >> in & 1))
		return b;
	q = crossbar_queue(x, s, channel, out, in);
	b.head = q->first;
	b.count = count(x, q);
	return b;
}

/*
 * Each output knows which inputs have packets for it.  First the places of
 * inputs and channels in the list, then the list: nothing grows with the square
 * of the ports but queues that are in use.
 */
static uint32_t crossbar_in_use(
	const struct router *r, site_id id, uint32_t *list)
{
	const struct crossbar *x = crossbar_of(r);
	const struct crossbar_site *s = crossbar_at(x, id);
	uint32_t place[TOPO_MAX_PORTS * CROSSBAR_CHANNELS] = { 0 };
	uint32_t n_places = s->n_ports * CROSSBAR_CHANNELS, n = 0;

	for (port_id out = 0; out < s->n_ports; out++)
		for (uint32_t c = 0; s->port[out].busy >> c; c++)
			for (uint64_t m = s->port[out].want[c]; m; m &= m - 1)
				place[(uint32_t)__builtin_ctzll(m) *
						CROSSBAR_CHANNELS +
					c]++;
	for (uint32_t i = 0; i < n_places; i++) {
		uint32_t many = place[i];

		place[i] = n;
		n += many;
	}
	for (port_id out = 0; n && out < s->n_ports; out++)
		for (uint32_t c = 0; s->port[out].busy >> c; c++)
			for (uint64_t m = s->port[out].want[c]; m; m &= m - 1) {
				uint32_t i = (uint32_t)__builtin_ctzll(m) *
						     CROSSBAR_CHANNELS +
					     c;

				list[place[i]++] = i * x->n_ports + out;
			}
	return n;
}

static uint32_t crossbar_ways(const struct router *r,
	const struct net_buffer *b, const struct packet *p, struct net_way *way)
{
	uint32_t channel = crossbar_leaves(crossbar_of(r), p, b->channel);

	*way = (struct net_way){
		.port = p->escape,
		.channel = channel,
		.need = crossbar_takes(crossbar_of(r), p, channel),
	};
	return 1;
}

/* Adds the packets that wait at an input and channel, and their times. */
static void add_waiting(const struct crossbar *x, struct crossbar_site *s,
	port_id in, uint32_t channel, sim_time now, struct net_count *c)
{
	for (port_id out = 0; out < s->n_ports; out++) {
		packet_id id =
			s->port[out].want[channel] >> in & 1
				? crossbar_queue(x, s, channel, out, in)->first
				: NO_PACKET;

		for (; id; id = x->packets[id].next) {
			c->waiting++;
			c->stayed += now - x->packets[id].head;
		}
	}
}

static sim_time crossbar_count(const struct router *r, site_id id, port_id p,
	sim_time now, struct net_count *c)
{
	struct crossbar_site *s = crossbar_at(crossbar_of(r), id);
	const struct crossbar_port *port = &s->port[p];

	if (p >= s->n_ports)
		return 0;
	for (uint32_t i = 0; i < CROSSBAR_CHANNELS; i++) {
		c[i].sent = port->sender.count[i];
		c[i].came = port->packets[i];
		c[i].stayed = port->waited[i];
		add_waiting(crossbar_of(r), s, p, i, now, &c[i]);
	}
	return port->sender.free_at;
}

static uint64_t crossbar_came(const struct router *r, site_id id)
{
	const struct crossbar_site *s = crossbar_at(crossbar_of(r), id);
	uint64_t sum = 0;

	for (uint32_t p = 0; p < s->n_ports; p++)
		for (uint32_t c = 0; c < CROSSBAR_CHANNELS; c++)
			sum += s->port[p].packets[c];
	return sum;
}

/* Channels that packets have taken at a site, a bit each. */
static uint32_t taken(const struct crossbar_site *s)
{
	uint32_t channels = 0;

	for (port_id p = 0; p < s->n_ports; p++)
		for (uint32_t c = 0; c < CROSSBAR_CHANNELS; c++)
			if (s->port[p].packets[c] || s->port[p].want[c])
				channels |= 1u << c;
	return channels;
}

static uint64_t crossbar_memory(const struct router *r)
{
	const struct crossbar *x = crossbar_of(r);
	site_id n = r->sites.end - r->sites.first, i;
	uint32_t channels = 0;

	for (i = 0; i < n; i++)
		channels |= x->site[i] ? taken(x->site[i]) : 0;
	return n * sizeof(*x->site) +
	       queue_bytes(x, (uint32_t)__builtin_popcount(channels));
}

static const char *const channels[CROSSBAR_CHANNELS] = { "dynamic",
	"deterministic", "high", "system" };

const struct router_ops crossbar_ops = {
	.name = "crossbar",
	.channels = channels,
	.n_channels = CROSSBAR_CHANNELS,
	.is_switch = true,
	.shows_queues = true,
	.describe = crossbar_describe,
	.check = crossbar_check,
	.site_bytes = crossbar_site_bytes,
	.size = sizeof(struct crossbar),
	.make = crossbar_make,
	.wire = crossbar_wire,
	.fini = crossbar_fini,
	.memory = crossbar_memory,
	.capacity = crossbar_capacity,
	.tokens = crossbar_tokens,
	.all_tokens = crossbar_all_tokens,
	.charge = crossbar_charge,
	.short_ports = crossbar_short_ports,
	.n_buffers = crossbar_n_buffers,
	.buffer = crossbar_buffer,
	.in_use = crossbar_in_use,
	.ways = crossbar_ways,
	.manage = crossbar_manage,
	.count = crossbar_count,
	.came = crossbar_came,
};
