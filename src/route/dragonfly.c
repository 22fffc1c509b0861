#include "route/dragonfly.h"

#include "sim/random.h"

#define AT(field) offsetof(struct dragonfly_route, field)

/* What a packet keeps, above its hints. */
enum {
	VIA_SHIFT = 16, /* 1 + the group to go to first; 0: none is left */
	LINK_SHIFT = 32, /* which of the links between two groups */
	STAGE_SHIFT = 48, /* global links passed */
	ORDER_SHIFT = 56,
	FIELD = 0xffff,
};

static const struct param params[] = {
	PARAM_ONE_OF("mode", AT(mode), "minimal", "minimal|valiant",
		"path of a packet; minimal: the shortest; valiant: through a "
		"randomly chosen intermediate group",
		"assumed: best for uniform traffic"),
	PARAM_ROW(PARAM_FLAG, "stages", AT(stages), "yes", 0, 0,
		"whether packets change to the next channel with each global "
		"link; no: all packets use one channel and can deadlock",
		"assumed: needed for freedom from deadlock"),
};

static const struct dragonfly_route *of(const struct route *r)
{
	return (const struct dragonfly_route *)r;
}

static int dragonfly_init(struct route *r, const struct topo *t, struct err *e)
{
	struct dragonfly_route *d = (struct dragonfly_route *)r;

	d->topo = dragonfly_find(t);
	if (!d->topo)
		return err_set(e,
			"routing.kind: dragonfly needs topology.kind: "
			"dragonfly, not %s",
			t->ops->name);
	if (d->topo->g > FIELD / 2 || d->topo->a * d->topo->h > FIELD / 2)
		return err_set(e,
			"routing.kind: dragonfly supports at most %d groups, "
			"and as many global links per group",
			FIELD / 2);
	r->topo = t;
	r->n_channels = !d->stages ? 1 : d->mode == DRAGONFLY_VALIANT ? 3 : 2;
	return 0;
}

/* The group of a node. */
static uint32_t group_of(const struct dragonfly *t, uint32_t node)
{
	return node / (t->p * t->a);
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const struct dragonfly *t = of(r)->topo;

	if (group_of(t, src) == group_of(t, dst))
		return 1;
	return t->m * (of(r)->mode == DRAGONFLY_VALIANT ? t->g : 1);
}

static uint32_t draw(const struct packet *p, bool is_ordered, uint32_t n)
{
	uint64_t lot = is_ordered ? (uint64_t)1 << 32 | p->dst : p->number;

	if (n < 2)
		return 0;
	return (uint32_t)random_below(
		random_draw(0, p->src, RANDOM_WAY, lot).a, n);
}

static void dragonfly_start(const struct route *r, struct packet *p)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = group_of(t, p->src), to = group_of(t, p->dst);
	uint32_t n = n_ways(r, p->src, p->dst), m = t->m ? t->m : 1, number;
	bool is_ordered = p->kind != PACKET_DYNAMIC;
	uint64_t via = 0;

	number = p->hints ? (p->hints - 1u) % n : draw(p, is_ordered, n);
	if (of(r)->mode == DRAGONFLY_VALIANT && from != to &&
		number / m != from && number / m != to)
		via = 1 + number / m;
	/* one class, whose channels are the stages */
	p->kind = PACKET_DYNAMIC;
	p->way = (number + 1) | via << VIA_SHIFT |
		 (uint64_t)(number % m) << LINK_SHIFT |
		 (uint64_t)is_ordered << ORDER_SHIFT;
}

/* The port by which a router leads on to another group. */
static port_id port_to_group(const struct dragonfly *t, router_id at,
	uint32_t group, const struct packet *p)
{
	uint32_t number = dragonfly_number(t, at);
	uint32_t link = p->way >> LINK_SHIFT & FIELD;
	uint32_t q = dragonfly_way(t, dragonfly_group(t, at), group, link);

	return q / t->h == number ? t->global + q % t->h
				  : dragonfly_local(t, number, q / t->h);
}

static port_id port_of(
	const struct dragonfly *t, struct packet *p, router_id at)
{
	router_id last = dragonfly_router(t, p->dst);
	uint32_t group = dragonfly_group(t, at);
	uint32_t via = p->way >> VIA_SHIFT & FIELD;

	if (via == group + 1) {
		p->way &= ~((uint64_t)FIELD << VIA_SHIFT);
		via = 0;
	}
	if (via)
		return port_to_group(t, at, via - 1, p);
	if (at == last)
		return p->dst % t->p;
	if (dragonfly_group(t, last) != group)
		return port_to_group(t, at, dragonfly_group(t, last), p);
	return dragonfly_local(
		t, dragonfly_number(t, at), dragonfly_number(t, last));
}

static struct route_step dragonfly_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct dragonfly *t = of(r)->topo;
	struct route_step s = {
		.escape = 0, /* a node has one port */
		.is_ordered = p->way >> ORDER_SHIFT & 1,
	};

	if (at == p->dst)
		return (struct route_step){ .escape = PACKET_NO_PORT };
	if (at >= t->topo.n_nodes) {
		if (in >= t->global)
			p->way += (uint64_t)1 << STAGE_SHIFT;
		s.escape = port_of(t, p, at);
	}
	s.ports = (port_mask)1 << s.escape;
	if (r->n_channels > 1)
		s.channel = (uint8_t)(p->way >> STAGE_SHIFT);
	return s;
}

/*
 * A step follows from where a packet is, where it came in and the router or
 * group that it heads for.  So nodes of one number in their groups see all
 * steps out of groups, through them and into them, and pairs inside a group
 * the others.
 */
static void partners(
	const struct route *r, uint32_t src, const struct route_partners *to)
{
	const struct dragonfly *t = of(r)->topo;

	for (uint32_t dst = 0; dst < t->topo.n_nodes; dst++)
		if (group_of(t, src) == group_of(t, dst) ||
			src % (t->p * t->a) == dst % (t->p * t->a))
			to->add(to->arg, dst);
}

/* --- what follows from it --- */

/*
 * Of all ways through a group from one other group to another, by the same of
 * m links, the share that changes routers there.
 */
static double share_of_turns(const struct dragonfly *t)
{
	uint32_t others = t->g - 1;
	double same = 0;

	for (uint32_t k = 0; k < t->m; k++) {
		uint32_t first = k * others, end = first + others;

		for (uint32_t i = 0; i < t->a; i++) {
			uint32_t lo = i * t->h, hi = lo + t->h;
			double n;

			lo = lo > first ? lo : first;
			hi = hi < end ? hi : end;
			n = hi > lo ? hi - lo : 0;
			same += n * (n - 1);
		}
	}
	return 1 - same / ((double)t->m * others * (others - 1));
}

/* What ways to other groups cost between their first and last router. */
static void way_out(const struct dragonfly_route *d, const int64_t *cost,
	struct route_way *f)
{
	const struct dragonfly *t = d->topo;
	int64_t local = t->a > 1 ? cost[DRAGONFLY_LOCAL] : 0;
	int64_t global = cost[DRAGONFLY_GLOBAL];
	double ends = 2.0 * (double)local * (t->a - 1) / t->a, more;

	f->min = global;
	f->max = 2 * local + global;
	f->mean = ends + (double)global;
	if (d->mode != DRAGONFLY_VALIANT || t->g < 3)
		return;
	more = share_of_turns(t);
	f->max += global + (more > 0 ? local : 0);
	f->mean += ((double)global + more * (double)local) * (t->g - 2) / t->g;
}

static struct route_way dragonfly_cost(
	const struct route *r, const int64_t *cost)
{
	const struct dragonfly *t = of(r)->topo;
	int64_t ends = cost[DRAGONFLY_NODE_UP] + cost[DRAGONFLY_NODE_DOWN];
	double others = (double)t->topo.n_nodes - 1;
	double near = (double)(t->a - 1) * t->p;
	double far = (double)(t->g - 1) * t->a * t->p;
	struct route_way f = { 0 }, out = { 0 };

	if (others < 1)
		return f;
	if (t->g > 1)
		way_out(of(r), cost, &out);
	f.max = t->g > 1 ? out.max : t->a > 1 ? cost[DRAGONFLY_LOCAL] : 0;
	f.min = t->p > 1 ? 0 : t->a > 1 ? cost[DRAGONFLY_LOCAL] : out.min;
	f.mean = (double)ends +
		 (near * (double)cost[DRAGONFLY_LOCAL] + far * out.mean) /
			 others;
	f.min += ends;
	f.max += ends;
	return f;
}

static const char *const modes[] = {
	[DRAGONFLY_MINIMAL] = "minimal",
	[DRAGONFLY_VALIANT] = "valiant",
};

static void dragonfly_describe(const struct route *r, FILE *f)
{
	fprintf(f, "routing     %s, on %s\n",
		of(r)->mode == DRAGONFLY_VALIANT
			? "through a randomly chosen group"
			: "the shortest path",
		of(r)->stages ? "a channel for each stage" : "one channel");
}

static bool dragonfly_fact(
	const struct route *r, uint32_t i, struct route_fact *f)
{
	f->key = "mode";
	snprintf(f->text, sizeof(f->text), "%s", modes[of(r)->mode]);
	return !i;
}

static const char *const channels[] = { "stage 1", "stage 2", "stage 3" };

const struct route_ops dragonfly_route_ops = {
	.name = "dragonfly",
	.has = "orders",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct dragonfly_route),
	PARAMS(params),
	.init = dragonfly_init,
	.start = dragonfly_start,
	.next = dragonfly_next,
	.n_ways = n_ways,
	.partners = partners,
	.way = dragonfly_cost,
	.describe = dragonfly_describe,
	.fact = dragonfly_fact,
};
