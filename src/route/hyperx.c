#include "route/hyperx.h"

#include "link/link.h"
#include "route/spare.h"
#include "sim/random.h"

#define AT(field) offsetof(struct hyperx_route, field)

/* What a packet keeps, above its hints. */
enum {
	VIA_SHIFT = 16, /* 1 + the switch to go to first; 0: none is left; or
			 * the next hop of a spare path */
	HOPS_SHIFT = 40,
	PORT_SHIFT = 48, /* 1 + the port that was decided for; 0: none */
	CHANNEL_SHIFT = 56,
	ORDER_SHIFT = 57,
	FREE_SHIFT = 58, /* UGAL may decide */
	SPARE_SHIFT = 59, /* it is on a spare path */
	LEFT_SHIFT = 60, /* dimensions in which it has been elsewhere */
	VIA = 0xffffff,
	FIELD = 0xff,
	MOST_SWITCHES = 60000, /* whose routes a sender can name */
	MOST_TRIES = 64, /* to find another switch to go through */
};

_Static_assert(SPARE_HOPS - 1 <= VIA, "a packet keeps the number of a hop");

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
	ROUTE_NOTICE(AT(route.notice)),
	ROUTE_TELL(AT(tell)),
	ROUTE_RELOAD(AT(reload)),
};

static const struct hyperx_route *of(const struct route *r)
{
	return hyperx_route_of(r);
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
	r->is_one_class = n_channels > 1;
	r->looks = h->mode == HYPERX_UGAL || h->mode == HYPERX_DAL;
	r->told = h->mode == HYPERX_MINIMAL ? h->reload : h->tell;
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

static void go_round(const struct route *r, struct packet *p);

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
	if (of(r)->dead)
		go_round(r, p);
}

/* --- steps --- */

static uint32_t n_hops(const struct hyperx *t, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		n += hyperx_place(t, a, i) != hyperx_place(t, b, i);
	return n;
}

/* A number that selects one of parallel links. */
static uint32_t lot_of(const struct packet *p)
{
	return p->way >> ORDER_SHIFT & 1 ? p->src + p->dst : p->number;
}

/* One port of a set, by a number. */
static __attribute__((noinline)) port_id pick(port_mask m, uint32_t lot)
{
	for (lot %= (uint32_t)__builtin_popcountll(m); lot; lot--)
		m &= m - 1;
	return (port_id)__builtin_ctzll(m);
}

/* The port of one of the parallel links to another position. */
static port_id port_along(const struct hyperx_route *h, const struct packet *p,
	uint32_t s, uint32_t dim, uint32_t to)
{
	const struct hyperx *t = h->topo;

	if (h->dead && hyperx_alive(h, s, dim, to))
		return pick(hyperx_alive(h, s, dim, to), lot_of(p));
	return hyperx_port(t, s, dim, to) + lot_of(p) % t->parallel[dim];
}

static port_id towards(const struct hyperx_route *h, const struct packet *p,
	uint32_t s, uint32_t to)
{
	uint32_t dim = hyperx_first_dim(h->topo, s, to);

	return port_along(h, p, s, dim, hyperx_place(h->topo, to, dim));
}

/* All links that correct a dimension. */
static port_mask all_towards(const struct hyperx *t, uint32_t s, uint32_t to)
{
	port_mask m = 0;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t y = hyperx_place(t, to, i);

		if (y != hyperx_place(t, s, i))
			m |= hyperx_bundle(t, s, i, y);
	}
	return m;
}

/* Whether each hop has a channel of its own. */
static bool is_by_hop(const struct route *r)
{
	return of(r)->mode == HYPERX_ADAPTIVE || of(r)->mode == HYPERX_DAL;
}

/* Hops that a packet has channels for. */
static uint32_t hops_left(const struct route *r, const struct packet *p)
{
	uint32_t hops = p->way >> HOPS_SHIFT & FIELD;

	return hops < r->n_channels ? r->n_channels - hops : 0;
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

/* Only ports that lead on, if there are any. */
static void avoid_dead(const struct route *r, const struct packet *p,
	uint32_t s, struct route_step *step)
{
	port_mask good = hyperx_good(
		of(r), s, switch_of(of(r)->topo, p->dst), hops_left(r, p));

	if (!good)
		return;
	if (!(good >> step->escape & 1))
		step->escape = pick(good, lot_of(p));
	step->ports = of(r)->mode == HYPERX_ADAPTIVE && !step->is_ordered
			      ? good
			      : (port_mask)1 << step->escape;
}

/* The next hop of a spare path. */
static void step_aside(
	const struct route *r, struct packet *p, struct route_step *step)
{
	struct spare_hop hop =
		spare_hop(of(r)->spare, p->way >> VIA_SHIFT & VIA);

	step->channel = hop.channel;
	step->escape = hop.port;
	step->ports = (port_mask)1 << hop.port;
	p->way += (uint64_t)1 << VIA_SHIFT;
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
	step->escape = chosen ? chosen - 1
			      : towards(of(r), p, s, via ? via - 1 : last);
	step->ports = (port_mask)1 << step->escape;
	if (of(r)->mode == HYPERX_ADAPTIVE && !step->is_ordered)
		step->ports = all_towards(t, s, last);
	if (of(r)->dead && is_by_hop(r) && !chosen)
		avoid_dead(r, p, s, step);
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
	bool is_spare;

	(void)in;
	if (at == p->dst)
		return route_there(step.is_ordered);
	if (at < r->topo->n_nodes)
		return step;
	is_spare = p->way >> SPARE_SHIFT & 1;
	if (!is_spare && (p->way >> VIA_SHIFT & VIA) == s + 1u) {
		p->way &= ~((uint64_t)VIA << VIA_SHIFT);
		p->way |= (uint64_t)1 << CHANNEL_SHIFT;
	}
	if (s != switch_of(t, p->dst) ||
		(!is_spare && p->way >> VIA_SHIFT & VIA)) {
		if (is_spare)
			step_aside(r, p, &step);
		else
			step_on(r, p, s, &step);
		return step;
	}
	step.channel = channel_of(r, p);
	step.escape = p->dst % t->p;
	step.ports = (port_mask)1 << step.escape;
	return step;
}

/* --- around failed links --- */

/* Another route, if a packet's own has a failed link; its own one if there is
 * none. */
static void go_round(const struct route *r, struct packet *p)
{
	const struct hyperx_route *h = of(r);
	uint32_t from = switch_of(h->topo, p->src);
	uint32_t to = switch_of(h->topo, p->dst), first;
	uint32_t via = p->way >> VIA_SHIFT & VIA, i;

	if (is_by_hop(r) ? from == to || hyperx_good(h, from, to, r->n_channels)
			 : hyperx_works_via(h, from, via ? via - 1 : to, to))
		return;
	for (i = 0; i < MOST_TRIES && h->mode == HYPERX_UGAL; i++) {
		uint64_t pair = (uint64_t)p->dst << 16 | p->hints;

		via = (uint32_t)random_below(
			random_draw(1 + i, p->src, RANDOM_WAY, pair).a,
			h->topo->switches.plan.n);
		if (!hyperx_works_via(h, from, via, to))
			continue;
		set_way(r, p, 2 + via);
		return;
	}
	first = h->spare ? spare_first(h->spare, r->topo->n_nodes + from,
				   r->topo->n_nodes + to)
			 : 0;
	if (!first)
		return;
	p->way &= ~((uint64_t)VIA << VIA_SHIFT | (uint64_t)1 << FREE_SHIFT);
	p->way |= (uint64_t)first << VIA_SHIFT | (uint64_t)1 << SPARE_SHIFT;
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
	if (via == s || via == last ||
		(of(r)->dead && !hyperx_works_via(of(r), s, via, last)))
		return;
	near = l->load(l, towards(of(r), p, s, last), channel_of(r, p));
	far = l->load(l, towards(of(r), p, s, via), 0);
	if (near * n_hops(t, s, last) >
		far * (n_hops(t, s, via) + n_hops(t, via, last)) +
			(uint64_t)of(r)->bias * p->chunks)
		set_way(r, p, 2 + via);
}

/* What DAL has found so far. */
struct dal {
	uint64_t least, left;
	port_id best;
};

/* Looks at a link to another position; leaves says that it is a detour. */
static void weigh(const struct route *r, const struct packet *p, uint32_t s,
	const struct route_look *l, uint32_t dim, uint32_t to, bool leaves,
	struct dal *d)
{
	const struct hyperx *t = of(r)->topo;
	port_id port = port_along(of(r), p, s, dim, to);
	uint32_t last = switch_of(t, p->dst);
	uint64_t load = l->load(l, port, channel_of(r, p)) *
			(n_hops(t, s, last) + leaves);

	if (leaves)
		load += (uint64_t)of(r)->bias * p->chunks;
	if (load >= d->least || (of(r)->dead && !hyperx_leads(of(r), s, dim, to,
							last, hops_left(r, p))))
		return;
	d->least = load;
	d->best = port;
	d->left = (uint64_t)leaves << (LEFT_SHIFT + dim);
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
	uint32_t last = switch_of(t, p->dst);
	struct dal d = { .least = UINT64_MAX };

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t a = hyperx_place(t, s, i);
		uint32_t b = hyperx_place(t, last, i);

		if (a == b)
			continue;
		weigh(r, p, s, l, i, b, false, &d);
		if (t->size[i] >= 3 && !(p->way >> (LEFT_SHIFT + i) & 1))
			weigh(r, p, s, l, i,
				elsewhere(t, i, a, b, draw(p, 2 + i)), true,
				&d);
	}
	if (d.least != UINT64_MAX)
		p->way |= (uint64_t)(d.best + 1) << PORT_SHIFT | d.left;
}

static void hyperx_decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *l)
{
	const struct hyperx *t = of(r)->topo;
	uint32_t s = at - r->topo->n_nodes;

	if (s == switch_of(t, p->dst) || p->way >> ORDER_SHIFT & 1 ||
		p->way >> SPARE_SHIFT & 1)
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

	if (of(r)->mode == HYPERX_UGAL)
		hyperx_walk_ugal(r, g, w);
	else
		route_follow(r, g, w);
	links &= ~(((port_mask)1 << t->p) - 1);
	if (of(r)->spare)
		spare_walk(of(r)->spare, g);
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
	.has = "orders steady",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct hyperx_route),
	PARAMS(params),
	.init = hyperx_init,
	.fini = hyperx_fini,
	.avoid = hyperx_avoid,
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
