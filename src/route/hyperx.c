#include "route/hyperx.h"

#include "link/link.h"
#include "sim/random.h"

#define AT(field) offsetof(struct hyperx_route, field)

/* What a packet keeps, above its hints. */
enum {
	VIA_SHIFT = 16, /* 1 + the switch to go to first; 0: none is left */
	HOPS_SHIFT = 40,
	PORT_SHIFT = 48, /* 1 + the port that was decided for; 0: none */
	CHANNEL_SHIFT = 56,
	ORDER_SHIFT = 57,
	FREE_SHIFT = 58, /* UGAL may decide */
	LEFT_SHIFT = 60, /* dimensions in which it has been elsewhere */
	VIA = 0xffffff,
	FIELD = 0xff,
	MOST_SWITCHES = 60000, /* whose routes a sender can name */
};

static const struct param params[] = {
	PARAM_ONE_OF("mode", AT(mode), "ugal", "minimal|adaptive|dal|ugal",
		"path of a packet; minimal: dimension by dimension; adaptive: "
		"a shortest path, the next dimension by load; dal: with a "
		"detour in each dimension, by load; ugal: minimal, or through "
		"another switch, by the queues of the first switch",
		"assumed: good for all traffic"),
	PARAM_ROW(PARAM_COUNT, "bias", AT(bias), "2", 0, 1000,
		"number of additional packets that may queue for the minimal "
		"path before dal or ugal leaves it",
		"assumed: keeps packets on minimal paths at low load"),
};

static const struct hyperx_route *of(const struct route *r)
{
	return (const struct hyperx_route *)r;
}

static int hyperx_init(struct route *r, const struct topo *t, struct err *e)
{
	struct hyperx_route *h = (struct hyperx_route *)r;
	uint32_t n_channels;

	h->topo = hyperx_find(t);
	if (!h->topo)
		return err_set(e,
			"routing.kind: hyperx needs topology.kind: hyperx, not "
			"%s",
			t->ops->name);
	if (h->topo->switches.plan.n > MOST_SWITCHES)
		return err_set(e,
			"routing.kind: hyperx supports at most %d switches",
			MOST_SWITCHES);
	n_channels = h->mode == HYPERX_MINIMAL	  ? 1
		     : h->mode == HYPERX_UGAL	  ? 2
		     : h->mode == HYPERX_ADAPTIVE ? h->topo->n_dims
						  : 2 * h->topo->n_dims;
	if (n_channels > LINK_CHANNELS)
		return err_set(e,
			"routing.mode: dal needs %u channels for %u "
			"dimensions, more than the %d of a link",
			n_channels, h->topo->n_dims, LINK_CHANNELS);
	r->topo = t;
	/* with one channel, packets have those of their kind */
	r->n_channels = (uint8_t)n_channels;
	r->looks = h->mode == HYPERX_UGAL || h->mode == HYPERX_DAL;
	return 0;
}

static uint32_t switch_of(const struct hyperx *t, uint32_t node)
{
	return node / t->p;
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const struct hyperx *t = of(r)->topo;

	if (of(r)->mode != HYPERX_UGAL ||
		switch_of(t, src) == switch_of(t, dst))
		return 1;
	return 2 + t->switches.plan.n;
}

/* Gives a packet the route of a number: 0 and 1 are minimal, on either channel,
 * 2 + s leads through switch s. */
static void set_way(const struct route *r, struct packet *p, uint32_t number)
{
	const struct hyperx *t = of(r)->topo;
	uint64_t via = 0, channel = 0;

	if (number >= 2 && number - 2 != switch_of(t, p->src) &&
		number - 2 != switch_of(t, p->dst))
		via = number - 1;
	else if (of(r)->mode == HYPERX_UGAL)
		channel = number & 1;
	p->way &= (uint64_t)1 << ORDER_SHIFT;
	p->way |= (number + 1) | via << VIA_SHIFT | channel << CHANNEL_SHIFT;
}

static void hyperx_start(const struct route *r, struct packet *p)
{
	uint32_t n = n_ways(r, p->src, p->dst), number = 0;
	bool is_ordered = p->kind != PACKET_DYNAMIC, is_free = !p->hints;

	if (!is_free)
		number = (p->hints - 1u) % n;
	else if (n > 1)
		number = (is_ordered ? p->dst : p->number) & 1;
	if (r->n_channels > 1)
		p->kind = PACKET_DYNAMIC; /* one class */
	p->way = (uint64_t)is_ordered << ORDER_SHIFT;
	set_way(r, p, number);
	if (is_free && !is_ordered && n > 1)
		p->way |= (uint64_t)1 << FREE_SHIFT;
}

/* --- steps --- */

/* The first dimension in which two switches differ; n_dims: in none. */
static uint32_t first_dim(const struct hyperx *t, uint32_t a, uint32_t b)
{
	uint32_t i = 0;

	while (i < t->n_dims && hyperx_place(t, a, i) == hyperx_place(t, b, i))
		i++;
	return i;
}

static uint32_t n_hops(const struct hyperx *t, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		n += hyperx_place(t, a, i) != hyperx_place(t, b, i);
	return n;
}

/* The port of one of the parallel links to another position. */
static port_id port_along(const struct hyperx *t, const struct packet *p,
	uint32_t s, uint32_t dim, uint32_t to)
{
	uint32_t lot = p->way >> ORDER_SHIFT & 1 ? p->src + p->dst : p->number;

	return hyperx_port(t, s, dim, to) + lot % t->parallel[dim];
}

static port_id towards(
	const struct hyperx *t, const struct packet *p, uint32_t s, uint32_t to)
{
	uint32_t dim = first_dim(t, s, to);

	return port_along(t, p, s, dim, hyperx_place(t, to, dim));
}

/* All links that correct a dimension. */
static port_mask all_towards(const struct hyperx *t, uint32_t s, uint32_t to)
{
	port_mask m = 0;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t y = hyperx_place(t, to, i);

		if (y != hyperx_place(t, s, i))
			m |= (((port_mask)1 << t->parallel[i]) - 1)
			     << hyperx_port(t, s, i, y);
	}
	return m;
}

static uint8_t channel_of(const struct route *r, const struct packet *p)
{
	uint64_t hops = p->way >> HOPS_SHIFT & FIELD;

	if (r->n_channels < 2)
		return 0;
	if (of(r)->mode == HYPERX_UGAL)
		return p->way >> CHANNEL_SHIFT & 1;
	return (uint8_t)(hops < r->n_channels ? hops : r->n_channels - 1u);
}

/* From a switch that is not the last one. */
static void step_on(const struct route *r, struct packet *p, uint32_t s,
	struct route_step *step)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t last = switch_of(t, p->dst);
	uint32_t via = p->way >> VIA_SHIFT & VIA;
	uint32_t chosen = p->way >> PORT_SHIFT & FIELD;

	step->channel = channel_of(r, p);
	step->escape =
		chosen ? chosen - 1 : towards(t, p, s, via ? via - 1 : last);
	step->ports = (port_mask)1 << step->escape;
	if (of(r)->mode == HYPERX_ADAPTIVE && !step->is_ordered)
		step->ports = all_towards(t, s, last);
	p->way &= ~((uint64_t)FIELD << PORT_SHIFT);
	p->way += (uint64_t)1 << HOPS_SHIFT;
}

static struct route_step hyperx_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t s = at - r->topo->n_nodes;
	struct route_step step = {
		.escape = 0, /* a node has one port */
		.ports = 1,
		.is_ordered = p->way >> ORDER_SHIFT & 1,
	};

	(void)in;
	if (at == p->dst)
		return (struct route_step){ .escape = PACKET_NO_PORT };
	if (at < r->topo->n_nodes)
		return step;
	if ((p->way >> VIA_SHIFT & VIA) == s + 1u) {
		p->way &= ~((uint64_t)VIA << VIA_SHIFT);
		p->way |= (uint64_t)1 << CHANNEL_SHIFT;
	}
	if (s != switch_of(t, p->dst) || p->way >> VIA_SHIFT & VIA) {
		step_on(r, p, s, &step);
		return step;
	}
	step.channel = channel_of(r, p);
	step.escape = p->dst % t->p;
	step.ports = (port_mask)1 << step.escape;
	return step;
}

/* --- decisions --- */

/* A position along a dimension that is neither of two others. */
static uint32_t elsewhere(const struct hyperx *t, uint32_t dim, uint32_t a,
	uint32_t b, uint64_t draw)
{
	uint32_t x = (uint32_t)(draw % (t->size[dim] - 2));

	x += x >= (a < b ? a : b);
	x += x >= (a < b ? b : a);
	return x;
}

static uint64_t draw(const struct packet *p, uint64_t lot)
{
	return random_draw(lot, p->src, RANDOM_WAY, p->number).a >> 8;
}

static void decide_ugal(const struct route *r, struct packet *p, uint32_t s,
	const struct route_look *l)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t last = switch_of(t, p->dst), via = s;
	uint64_t bits = draw(p, 1), near, far;

	p->way &= ~((uint64_t)1 << FREE_SHIFT);
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t a = hyperx_place(t, s, i);
		uint32_t b = hyperx_place(t, last, i), x = b;

		if (a == b)
			continue;
		if (t->size[i] > 2) {
			x = elsewhere(t, i, a, b, bits);
			bits /= t->size[i];
		}
		via += x * t->stride[i] - a * t->stride[i];
	}
	if (via == s || via == last)
		return;
	near = l->load(l, towards(t, p, s, last), channel_of(r, p));
	far = l->load(l, towards(t, p, s, via), 0);
	if (near * n_hops(t, s, last) >
		far * (n_hops(t, s, via) + n_hops(t, via, last)) +
			(uint64_t)of(r)->bias * p->chunks)
		set_way(r, p, 2 + via);
}

/*
 * Of all links that correct a dimension, and of one to another position in each
 * dimension where the packet has not been elsewhere, the one with the least
 * load; a detour is one hop more.
 */
static void decide_dal(const struct route *r, struct packet *p, uint32_t s,
	const struct route_look *l)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t last = switch_of(t, p->dst), hops = n_hops(t, s, last);
	uint64_t least = UINT64_MAX, left = 0, load;
	port_id best = 0;
	uint8_t channel = channel_of(r, p);

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t a = hyperx_place(t, s, i);
		uint32_t b = hyperx_place(t, last, i);
		port_id port;

		if (a == b)
			continue;
		port = port_along(t, p, s, i, b);
		load = l->load(l, port, channel) * hops;
		if (load < least) {
			least = load;
			best = port;
			left = 0;
		}
		if (t->size[i] < 3 || p->way >> (LEFT_SHIFT + i) & 1)
			continue;
		port = port_along(
			t, p, s, i, elsewhere(t, i, a, b, draw(p, 2 + i)));
		load = l->load(l, port, channel) * (hops + 1) +
		       (uint64_t)of(r)->bias * p->chunks;
		if (load < least) {
			least = load;
			best = port;
			left = (uint64_t)1 << (LEFT_SHIFT + i);
		}
	}
	p->way |= (uint64_t)(best + 1) << PORT_SHIFT | left;
}

static void hyperx_decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *l)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t s = at - r->topo->n_nodes;

	if (s == switch_of(t, p->dst) || p->way >> ORDER_SHIFT & 1)
		return;
	if (of(r)->mode == HYPERX_DAL)
		decide_dal(r, p, s, l);
	else if (in < t->p && p->way >> FREE_SHIFT & 1)
		decide_ugal(r, p, s, l);
}

/* --- the proof --- */

/* Steps follow from the switches, and the last from the node of the last. */
static void partners(
	const struct route *r, uint32_t src, const struct route_partners *to)
{
	const struct hyperx *t = of(r)->topo;

	for (uint32_t i = 0; i < t->switches.plan.n; i++)
		to->add(to->arg, i * t->p + src % t->p);
	for (uint32_t i = 0; i < t->p; i++)
		to->add(to->arg, src / t->p * t->p + i);
}

/*
 * With DAL a packet may also take any link to another position, on the channel
 * of its hop: each link may wait for all of the next channel.
 */
static void hyperx_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w)
{
	const struct hyperx *t = of(r)->topo;
	port_mask links = t->switches.topo.n_ports == TOPO_MAX_PORTS
				  ? ~(port_mask)0
				  : ((port_mask)1 << r->topo->n_ports) - 1;

	route_follow(r, g, w);
	links &= ~(((port_mask)1 << t->p) - 1);
	if (of(r)->mode != HYPERX_DAL)
		return;
	for (router_id at = r->topo->n_nodes; at < r->topo->n_routers; at++)
		for (port_id p = t->p; p < r->topo->n_ports; p++)
			for (uint32_t c = 0; c + 1 < r->n_channels; c++)
				route_add(g, route_vertex(g, at, p, c), links,
					c + 1);
}

/* --- what follows from it --- */

static struct route_way hyperx_way(const struct route *r, const int64_t *cost)
{
	const struct hyperx *t = of(r)->topo;
	int64_t ends = cost[SWITCHES_UP] + cost[SWITCHES_DOWN];
	int64_t link = cost[SWITCHES_CABLE];
	double n = r->topo->n_nodes, own = t->p;
	struct route_way f = { .min = ends, .max = ends };

	if (n < 2)
		return (struct route_way){ 0 };
	if (t->p < 2)
		f.min += link;
	f.max += (int64_t)t->switches.diameter * link;
	/* the mean over other switches */
	f.mean = (double)ends +
		 t->switches.mean * (double)link * (n - own) / (n - 1);
	return f;
}

static const char *const modes[] = {
	[HYPERX_MINIMAL] = "minimal",
	[HYPERX_ADAPTIVE] = "adaptive",
	[HYPERX_DAL] = "dal",
	[HYPERX_UGAL] = "ugal",
};

static void hyperx_describe(const struct route *r, FILE *f)
{
	static const char *const words[] = {
		[HYPERX_MINIMAL] = "dimension by dimension",
		[HYPERX_ADAPTIVE] = "a shortest path, the next dimension by "
				    "load",
		[HYPERX_DAL] = "the next dimension by load, with at most one "
			       "detour in each",
		[HYPERX_UGAL] = "the shortest path or a detour through another "
				"switch, by the queues of the first switch",
	};

	fprintf(f, "routing     %s, on %u channel%s\n", words[of(r)->mode],
		r->n_channels, r->n_channels > 1 ? "s" : "");
}

static bool hyperx_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	f->key = "mode";
	snprintf(f->text, sizeof(f->text), "%s", modes[of(r)->mode]);
	return !i;
}

static const char *const channels[] = { "hop 1", "hop 2", "hop 3", "hop 4" };

const struct route_ops hyperx_route_ops = {
	.name = "hyperx",
	.has = "orders",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct hyperx_route),
	PARAMS(params),
	.init = hyperx_init,
	.start = hyperx_start,
	.next = hyperx_next,
	.decide = hyperx_decide,
	.n_ways = n_ways,
	.partners = partners,
	.walk = hyperx_walk,
	.way = hyperx_way,
	.describe = hyperx_describe,
	.fact = hyperx_fact,
};
