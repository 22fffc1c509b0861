/* The set-up of crossbars, and their state as seen from outside. */
#include "router/crossbar/crossbar.h"

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

static size_t crossbar_site_bytes(uint32_t n_ports)
{
	size_t queues = (size_t)CROSSBAR_CHANNELS * n_ports * n_ports *
			sizeof(struct packet_list);

	return sizeof(struct crossbar_site) +
	       n_ports * sizeof(struct crossbar_port) + (queues + 63) / 64 * 64;
}

static void crossbar_make(struct router *r, const struct net_setup *s)
{
	struct crossbar *x = crossbar_of(r);
	struct net *n = r->net;

	r->calls = &crossbar_calls;
	x->packets = n->packets;
	x->route = n->route;
	x->link = &n->link;
	x->tally = n->tally;
	x->book = n->book;
	x->is_faulty = net_is_faulty(n);
	x->has_rates = n->link.n_rates > 1 || (n->faults && n->faults->width);
	x->is_stepped = n->route->n_channels > 1;
	x->is_exact = n->route->is_exact;
	x->n_ports = r->sites.n_ports;
	x->full = n->full;
	x->capacity = n->full * (int32_t)s->router->packets;
	r->lock_packets = (uint64_t)s->router->packets;
	router_map(r, crossbar_site_bytes(x->n_ports), 0);
}

static void crossbar_wire(struct router *r)
{
	struct crossbar *x = crossbar_of(r);

	for (site_id id = router_next(r, r->sites.first); id < r->sites.end;
		id = router_next(r, id + 1)) {
		struct crossbar_site *s = crossbar_at(x, id);

		s->id = id;
		s->lfsr = ((id * 0x9e37u) & 0xffffu) | 1u;
		for (port_id p = 0; p < x->n_ports; p++)
			net_wire(r->net, &crossbar_ops, id, p,
				&s->port[p].sender);
	}
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

static int32_t crossbar_charge(
	const struct router *r, const struct packet *p, uint32_t channel)
{
	return crossbar_takes(crossbar_of(r), p, channel);
}

static bool crossbar_is_short(const struct router *r, site_id s)
{
	for (port_id p = 0; p < crossbar_of(r)->n_ports; p++)
		if (crossbar_at(crossbar_of(r), s)->port[p].returns.is_starving)
			return true;
	return false;
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

/* Input by input, channel by channel. */
static struct net_buffer crossbar_buffer(
	const struct router *r, site_id s, uint32_t i)
{
	const struct crossbar *x = crossbar_of(r);
	uint32_t out = i % x->n_ports,
		 channel = i / x->n_ports % CROSSBAR_CHANNELS;
	uint32_t in = i / x->n_ports / CROSSBAR_CHANNELS;
	const struct packet_list *q =
		crossbar_queue(x, crossbar_at(x, s), channel, out, in);

	return (struct net_buffer){
		.site = s,
		.port = in,
		.channel = channel,
		.head = q->first,
		.count = count(x, q),
	};
}

/* Each output knows which inputs have packets for it. */
static uint32_t crossbar_in_use(
	const struct router *r, site_id id, uint32_t *list)
{
	const struct crossbar *x = crossbar_of(r);
	const struct crossbar_site *s = crossbar_at(x, id);
	uint64_t in[CROSSBAR_CHANNELS] = { 0 }, any = 0;
	uint32_t n = 0;

	for (port_id out = 0; out < x->n_ports; out++)
		for (uint32_t c = 0; c < CROSSBAR_CHANNELS; c++)
			any |= in[c] |= s->port[out].want[c];
	for (; any; any &= any - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(any), c;

		for (c = 0; c < CROSSBAR_CHANNELS; c++)
			for (port_id out = 0;
				in[c] >> i & 1 && out < x->n_ports; out++)
				if (s->port[out].want[c] >> i & 1)
					list[n++] =
						(i * CROSSBAR_CHANNELS + c) *
							x->n_ports +
						out;
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
	for (port_id out = 0; out < x->n_ports; out++) {
		packet_id id = crossbar_queue(x, s, channel, out, in)->first;

		for (; id; id = x->packets[id].next) {
			c->waiting++;
			c->stayed += now - x->packets[id].head;
		}
	}
}

static sim_time crossbar_count(const struct router *r, site_id id, port_id p,
	uint32_t channel, sim_time now, struct net_count *c)
{
	struct crossbar_site *s = crossbar_at(crossbar_of(r), id);
	const struct crossbar_port *port = &s->port[p];

	c->sent = port->sender.count[channel];
	c->came = port->packets[channel];
	c->stayed = port->waited[channel];
	add_waiting(crossbar_of(r), s, p, channel, now, c);
	return port->sender.free_at;
}

static uint64_t crossbar_came(const struct router *r, site_id id)
{
	const struct crossbar_site *s = crossbar_at(crossbar_of(r), id);
	uint64_t sum = 0;

	for (uint32_t p = 0; p < r->sites.n_ports; p++)
		for (uint32_t c = 0; c < CROSSBAR_CHANNELS; c++)
			sum += s->port[p].packets[c];
	return sum;
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
	.capacity = crossbar_capacity,
	.tokens = crossbar_tokens,
	.charge = crossbar_charge,
	.is_short = crossbar_is_short,
	.n_buffers = crossbar_n_buffers,
	.buffer = crossbar_buffer,
	.in_use = crossbar_in_use,
	.ways = crossbar_ways,
	.count = crossbar_count,
	.came = crossbar_came,
};
