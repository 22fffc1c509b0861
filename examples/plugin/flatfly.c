/*
 * A flattened butterfly as a plugin: switches in a grid of up to four
 * dimensions, each wired to all others along every dimension (Kim, Dally, Abts,
 * ISCA 2007), with minimal, Valiant and UGAL routing.
 *
 *	cc -O2 -shared -fPIC $(pkg-config --cflags weft) flatfly.c -o flatfly.so
 *	weft run --plugin ./flatfly.so ./flatfly.yaml random
 *
 * Sites: nodes come first, those of switch 0, then those of switch 1, and so
 *on; then the switches, the first dimension counting fastest.  Ports of a
 *switch: its nodes, then for each dimension the ports to all other positions in
 *it.
 */
#include <string.h>

#include <weft/plugin/plugin.h>

enum { DIMS = 4, NODE_UP = 0, NODE_DOWN, ALONG /* + dimension */ };

struct flatfly {
	struct topo topo;
	/* read */
	struct param_list shape;
	int64_t per_router, logic, node_cable, cable, delay;
	/* set by init() */
	uint32_t n_dims, n_switches, p;
	uint32_t size[DIMS], stride[DIMS];
	port_id base[DIMS]; /* the first port of a dimension */
};

static const struct flatfly *flatfly_of(const struct topo *t)
{
	return (const struct flatfly *)t;
}

/* --- topology --- */

#define AT(field) offsetof(struct flatfly, field)
#define NUMBER(name_, field_, def_, max_, help_)                               \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), def_, 1, max_, help_,        \
		"assumed: an example")

static const struct param topo_params[] = {
	{ .name = "shape",
		.type = PARAM_COUNTS,
		.offset = AT(shape),
		.def = "8x8",
		.min = 1,
		.max = 64,
		.help = "switches along each dimension",
		.source = "assumed: an example" },
	NUMBER("per-router", per_router, "8", 32, "number of nodes per switch"),
	PARAM_ROW(PARAM_TIME, "router", AT(logic), "100 ns", 0, 1000000000,
		"time that a switch takes from a head's arrival to its "
		"departure",
		"assumed: typical of today's switches"),
	NUMBER("cable.node", node_cable, "2", 1000,
		"length of the cable between a node and its switch, in metres"),
	NUMBER("cable.link", cable, "10", 1000,
		"length of the cable between two switches, in metres"),
	TOPO_CABLE_DELAY(AT(delay)),
};

static int set_shape(struct flatfly *t, struct err *e)
{
	uint64_t n = 1;
	uint32_t i;

	if (t->shape.n < 1 || t->shape.n > DIMS)
		return weft_refuse(
			e, "topology.shape: want 1 to %d dimensions", DIMS);
	t->p = (uint32_t)t->per_router;
	t->n_dims = (uint32_t)t->shape.n;
	t->topo.n_ports = t->p;
	for (i = 0; i < t->n_dims; i++) {
		t->size[i] = (uint32_t)t->shape.v[i];
		t->stride[i] = (uint32_t)n;
		t->base[i] = t->topo.n_ports;
		t->topo.n_ports += t->size[i] - 1;
		n *= t->size[i];
	}
	if (t->topo.n_ports > TOPO_MAX_PORTS)
		return weft_refuse(e,
			"topology.shape: a switch would have %u ports, more "
			"than the %d allowed",
			t->topo.n_ports, TOPO_MAX_PORTS);
	if (n * (t->p + 1) > TOPO_MAX_ROUTERS)
		return weft_refuse(e,
			"topology.shape: more than %d nodes and switches",
			TOPO_MAX_ROUTERS);
	t->n_switches = (uint32_t)n;
	return 0;
}

static void set_wires(struct flatfly *t)
{
	static const char *const names[] = { "node up", "node down", "first",
		"second", "third", "fourth" };
	uint32_t i;

	t->topo.n_wires = ALONG + t->n_dims;
	for (i = 0; i < t->topo.n_wires; i++) {
		int64_t logic = i == NODE_UP ? 0 : t->logic;
		int64_t metres = i < ALONG ? t->node_cable : t->cable;

		t->topo.wire[i] = (struct topo_wire){ .name = names[i],
			.latency = logic + metres * t->delay,
			.logic = logic };
	}
}

static int topo_init(struct topo *topo, struct err *e)
{
	struct flatfly *t = (struct flatfly *)topo;

	if (set_shape(t, e))
		return -1;
	topo->n_nodes = t->n_switches * t->p;
	topo->n_routers = topo->n_nodes + t->n_switches;
	topo->node_ports = 1;
	set_wires(t);
	return 0;
}

static uint32_t place_along(const struct flatfly *t, uint32_t s, uint32_t dim)
{
	return s / t->stride[dim] % t->size[dim];
}

static uint32_t dim_of(const struct flatfly *t, port_id p)
{
	uint32_t i = t->n_dims - 1;

	while (i && p < t->base[i])
		i--;
	return i;
}

/* The port of a switch that leads to another position in a dimension. */
static port_id port_to(
	const struct flatfly *t, uint32_t s, uint32_t dim, uint32_t to)
{
	return t->base[dim] + to - (to > place_along(t, s, dim));
}

static struct topo_end peer(const struct topo *topo, router_id r, port_id p)
{
	const struct flatfly *t = flatfly_of(topo);
	uint32_t s = r - topo->n_nodes, dim, x, y, to;

	if (r < topo->n_nodes)
		return p ? (struct topo_end){ .router = NO_ROUTER }
			 : (struct topo_end){ topo->n_nodes + r / t->p,
				   r % t->p };
	if (p < t->p)
		return (struct topo_end){ s * t->p + p, 0 };
	dim = dim_of(t, p);
	x = place_along(t, s, dim);
	y = p - t->base[dim];
	y += y >= x;
	to = s + y * t->stride[dim] - x * t->stride[dim];
	return (struct topo_end){ topo->n_nodes + to, port_to(t, to, dim, x) };
}

static uint32_t wire(const struct topo *topo, router_id r, port_id p)
{
	const struct flatfly *t = flatfly_of(topo);

	if (r < topo->n_nodes)
		return NODE_UP;
	return p < t->p ? NODE_DOWN : ALONG + dim_of(t, p);
}

static router_id home(const struct topo *topo, router_id r)
{
	const struct flatfly *t = flatfly_of(topo);

	return r < topo->n_nodes ? r : (r - topo->n_nodes) * t->p;
}

static uint32_t grid(const struct topo *topo, uint32_t size[TOPO_MAX_DIMS])
{
	const struct flatfly *t = flatfly_of(topo);

	memcpy(size, t->size, t->n_dims * sizeof(*size));
	return t->n_dims;
}

static void place(
	const struct topo *topo, router_id node, uint32_t x[TOPO_MAX_DIMS])
{
	const struct flatfly *t = flatfly_of(topo);
	uint32_t i;

	for (i = 0; i < t->n_dims; i++)
		x[i] = place_along(t, node / t->p, i);
}

static router_id node_at(
	const struct topo *topo, const uint32_t x[TOPO_MAX_DIMS])
{
	const struct flatfly *t = flatfly_of(topo);
	uint32_t s = 0, i;

	for (i = 0; i < t->n_dims; i++)
		s += x[i] % t->size[i] * t->stride[i];
	return s * t->p;
}

static void name_places(
	const struct flatfly *t, uint32_t s, char *text, size_t size)
{
	uint32_t i;
	int n = 0;

	for (i = 0; i < t->n_dims && (size_t)n < size; i++)
		n += snprintf(text + n, size - (size_t)n, "%c%u", i ? ',' : '(',
			place_along(t, s, i));
	if ((size_t)n < size)
		snprintf(text + n, size - (size_t)n, ")");
}

static void name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	if (r < topo->n_nodes)
		snprintf(text, size, "%u", r);
	else
		name_places(flatfly_of(topo), r - topo->n_nodes, text, size);
}

static void name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	const struct flatfly *t = flatfly_of(topo);

	if (r < topo->n_nodes)
		snprintf(text, size, "link");
	else if (p < t->p)
		snprintf(text, size, "node %u", p);
	else
		snprintf(text, size, "%s %u",
			topo->wire[ALONG + dim_of(t, p)].name,
			p - t->base[dim_of(t, p)]);
}

static void name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct flatfly *t = flatfly_of(topo);
	int n = snprintf(text, size, "flattened butterfly of ");
	uint32_t i;

	for (i = 0; i < t->n_dims && (size_t)n < size; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%u", i ? "x" : "",
			t->size[i]);
}

/* Of the n - 1 other nodes, n / size have a given other position in a
 * dimension, and one link leads there from each switch. */
static uint64_t peak(const struct topo *topo, const struct topo_rates *k)
{
	const struct flatfly *t = flatfly_of(topo);
	uint64_t least = k->rate(k, NODE_UP, 0, 1), n = topo->n_nodes;
	uint32_t i;

	for (i = 0; i < t->n_dims; i++) {
		uint64_t rate = k->rate(k, ALONG + i, 0, 1);

		rate = rate / t->p * (n - 1) / n * t->size[i];
		if (t->size[i] > 1 && rate < least)
			least = rate;
	}
	return least;
}

static uint64_t links(const struct topo *topo, uint32_t class)
{
	const struct flatfly *t = flatfly_of(topo);

	if (class < ALONG)
		return topo->n_nodes;
	return (uint64_t)t->n_switches * (t->size[class - ALONG] - 1) / 2;
}

static const struct topo_ops flatfly_topo = {
	.name = "flatfly",
	.size = sizeof(struct flatfly),
	.params = topo_params,
	.n_params = sizeof(topo_params) / sizeof(topo_params[0]),
	.shape_key = "shape",
	.routing = "flatfly",
	.init = topo_init,
	.peer = peer,
	.wire = wire,
	.home = home,
	.name_router = name_router,
	.name_port = name_port,
	.name_shape = name_shape,
	.grid = grid,
	.place = place,
	.node_at = node_at,
	.peak = peak,
	.links = links,
};

/* --- routing --- */

/*
 * The minimal route corrects one dimension after the other, so no link waits
 * for itself on one channel.  Valiant's route first goes to a random switch, on
 * channel 0, and from there on channel 1.  UGAL compares the queues of the
 * first links of the minimal route and of a detour, times their hops; minimal
 * packets are spread over both channels.
 *
 * UGAL's detours are Valiant's routes, except those over a link of the minimal
 * routes of nodes that send equally far in the same direction: with adversarial
 * traffic these links are full of minimal packets, and a detour over one would
 * displace a packet with fewer hops.
 *
 * A route (way) is a number: for Valiant the switch; for UGAL 0 and 1 are
 * minimal, on channel 0 or 1, and 2 + s leads over switch s.
 */
enum mode { MINIMAL, VALIANT, UGAL };

enum {
	VIA = 16, /* 1 + the switch to go to first; 0: none is left */
	CHANNEL = 48,
	ORDERED = 49,
	FREE = 50, /* UGAL may decide */
};

struct flatfly_route {
	struct route route;
	int64_t mode, bias;
	const struct flatfly *topo;
};

static const struct param route_params[] = {
	PARAM_ONE_OF("mode", offsetof(struct flatfly_route, mode), "ugal",
		"minimal|valiant|ugal",
		"path of a packet; minimal: the shortest; valiant: through a "
		"random switch; ugal: the one of these two with the shorter "
		"queue",
		"assumed: good for all traffic"),
	PARAM_ROW(PARAM_COUNT, "bias", offsetof(struct flatfly_route, bias),
		"1", 0, 1000,
		"number of additional packets that may queue for the minimal "
		"path before UGAL leaves it",
		"calibrated: on uniform and on adversarial traffic"),
};

static const struct flatfly_route *of(const struct route *r)
{
	return (const struct flatfly_route *)r;
}

static int route_init(struct route *r, const struct topo *t, struct err *e)
{
	struct flatfly_route *h = (struct flatfly_route *)r;

	if (strcmp(t->ops->name, "flatfly") != 0)
		return weft_refuse(e,
			"routing.kind: flatfly needs topology.kind: flatfly, "
			"not "
			"%s",
			t->ops->name);
	h->topo = flatfly_of(t);
	if (h->topo->n_switches > 65000)
		return weft_refuse(
			e, "routing.kind: flatfly knows 65000 switches");
	r->topo = t;
	r->n_channels = h->mode == MINIMAL ? 1 : 2;
	r->looks = h->mode == UGAL;
	return 0;
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const struct flatfly *t = of(r)->topo;

	if (of(r)->mode == MINIMAL || src / t->p == dst / t->p)
		return 1;
	return t->n_switches + (of(r)->mode == UGAL ? 2 : 0);
}

/* Gives a packet the route of a number. */
static void set_way(const struct route *r, struct packet *p, uint32_t number)
{
	const struct flatfly *t = of(r)->topo;
	uint32_t first = of(r)->mode == UGAL ? 2 : 0;
	uint64_t via = 0, channel = 0;

	if (of(r)->mode != MINIMAL && number >= first &&
		p->src / t->p != p->dst / t->p &&
		number - first != p->src / t->p &&
		number - first != p->dst / t->p)
		via = 1 + number - first;
	else if (of(r)->mode == UGAL)
		channel = number & 1;
	p->way = (number + 1) | via << VIA | channel << CHANNEL |
		 (p->way & ((uint64_t)1 << ORDERED));
}

static void start(const struct route *r, struct packet *p)
{
	uint32_t n = n_ways(r, p->src, p->dst), number;
	bool is_ordered = p->kind != PACKET_DYNAMIC, is_free = !p->hints;

	if (of(r)->mode == UGAL && is_free)
		n = n > 2 ? 2 : n; /* minimal, until it is decided */
	number = p->hints ? (p->hints - 1u) % n
		 : is_ordered
			 ? (uint32_t)(weft_random(r->seed, p->src, p->dst, 1) %
				      n)
			 : (uint32_t)(weft_random(
					      r->seed, p->src, p->number, 2) %
				      n);
	p->way = (uint64_t)is_ordered << ORDERED;
	set_way(r, p, number);
	if (of(r)->mode == UGAL && is_free && !is_ordered)
		p->way |= (uint64_t)1 << FREE;
	p->kind = PACKET_DYNAMIC; /* one class, with channels of its own */
}

/* The first dimension in which two switches differ; n_dims: they are the same.
 */
static uint32_t first_dim(const struct flatfly *t, uint32_t a, uint32_t b)
{
	uint32_t i = 0;

	while (i < t->n_dims && place_along(t, a, i) == place_along(t, b, i))
		i++;
	return i;
}

static uint32_t n_hops(const struct flatfly *t, uint32_t a, uint32_t b)
{
	uint32_t n = 0, i;

	for (i = 0; i < t->n_dims; i++)
		n += place_along(t, a, i) != place_along(t, b, i);
	return n;
}

static port_id towards(const struct flatfly *t, uint32_t s, uint32_t to)
{
	uint32_t dim = first_dim(t, s, to);

	return port_to(t, s, dim, place_along(t, to, dim));
}

static struct route_step next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct flatfly *t = of(r)->topo;
	uint32_t s = at - t->topo.n_nodes, last = p->dst / t->p;
	uint32_t via = p->way >> VIA & 0xffff;
	struct route_step step = { .is_ordered = p->way >> ORDERED & 1 };

	(void)in;
	if (at == p->dst) {
		step.escape = PACKET_NO_PORT;
		return step;
	}
	if (at < t->topo.n_nodes) {
		step.ports = 1; /* which all enter by channel 0 */
		return step;
	}
	if (via == s + 1) {
		p->way &= ~((uint64_t)0xffff << VIA);
		p->way |= (uint64_t)1 << CHANNEL;
		via = 0;
	}
	if (!via && s == last)
		step.escape = p->dst % t->p;
	else
		step.escape = towards(t, s, via ? via - 1 : last);
	step.ports = (port_mask)1 << step.escape;
	step.channel = r->n_channels > 1 ? p->way >> CHANNEL & 1 : 0;
	return step;
}

/* The switch of a detour.  In each dimension in which the ends differ, it has
 * the position of neither, so neither of its two hops is the minimal one; in
 * all other dimensions it has their position. */
static uint32_t detour(
	const struct flatfly *t, uint32_t s, uint32_t last, uint64_t draw)
{
	uint32_t via = s, i;

	for (i = 0; i < t->n_dims; i++) {
		uint32_t a = place_along(t, s, i), b = place_along(t, last, i);
		uint32_t x = b, n = t->size[i] - 2;

		if (a == b)
			continue;
		if (n) {
			x = (uint32_t)(draw % n);
			draw /= n;
			x += x >= (a < b ? a : b);
			x += x >= (a < b ? b : a);
		}
		via += x * t->stride[i] - a * t->stride[i];
	}
	return via;
}

/* At the first switch: the queues of the minimal route and of a detour. */
static void decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *l)
{
	const struct flatfly *t = of(r)->topo;
	uint32_t s = at - t->topo.n_nodes, last = p->dst / t->p, via;
	uint64_t near, far;

	if (in >= t->p || s == last || !(p->way >> FREE & 1))
		return;
	via = detour(t, s, last, weft_random(r->seed, p->src, p->number, 3));
	p->way &= ~((uint64_t)1 << FREE);
	if (via == s || via == last)
		return;
	near = l->load(l, towards(t, s, last), p->way >> CHANNEL & 1);
	far = l->load(l, towards(t, s, via), 0);
	if (near * n_hops(t, s, last) >
		far * (n_hops(t, s, via) + n_hops(t, via, last)) +
			(uint64_t)of(r)->bias * p->chunks)
		set_way(r, p, 2 + via);
}

/* Steps follow from the switches, and the last from the node of the last. */
static void partners(
	const struct route *r, uint32_t src, const struct route_partners *to)
{
	const struct flatfly *t = of(r)->topo;
	uint32_t i;

	for (i = 0; i < t->n_switches; i++)
		to->add(to->arg, i * t->p + src % t->p);
	for (i = 0; i < t->p; i++)
		to->add(to->arg, src / t->p * t->p + i);
}

static const char *const modes[] = { "minimal", "valiant", "ugal" };

static bool fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	f->key = "mode";
	snprintf(f->text, sizeof(f->text), "%s", modes[of(r)->mode]);
	return !i;
}

static const char *const channels[] = { "first", "second" };

static const struct route_ops flatfly_routing = {
	.name = "flatfly",
	.has = "orders",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct flatfly_route),
	.params = route_params,
	.n_params = sizeof(route_params) / sizeof(route_params[0]),
	.init = route_init,
	.start = start,
	.next = next,
	.decide = decide,
	.n_ways = n_ways,
	.partners = partners,
	.fact = fact,
};

static const struct topo_ops *const topologies[] = { &flatfly_topo, NULL };
static const struct route_ops *const routings[] = { &flatfly_routing, NULL };

WEFT_PLUGIN(.topologies = topologies, .routings = routings);
