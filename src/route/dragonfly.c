#include "route/dragonfly.h"

#include "base/mem.h"
#include "link/link.h"
#include "sim/random.h"

#define AT(field) offsetof(struct dragonfly_route, field)

/* What a packet keeps, above its hints. */
enum {
	VIA_SHIFT = 16, /* 1 + the group to go to first; 0: none is left */
	LINK_SHIFT = 32, /* which of the links between two groups */
	STAGE_SHIFT = 48, /* global links passed, and turns before them */
	ORDER_SHIFT = 56,
	FREE_SHIFT = 57, /* a router of the first group may choose another */
	FIELD = 0xffff,
	STAGE = 0xff,
};

static const struct param params[] = {
	PARAM_ONE_OF("mode", AT(mode), "minimal", "minimal|valiant|ugal|par",
		"path of a packet; minimal: the shortest; valiant: through a "
		"randomly chosen intermediate group; ugal: the one of these "
		"with the shorter queue at the first router; par: the same, "
		"decided again at each router of the first group",
		"assumed: best for uniform traffic"),
	PARAM_ROW(PARAM_COUNT, "bias", AT(bias), "10", 0, 1000,
		"number of additional packets that may queue for the minimal "
		"path before ugal or par leaves it",
		"calibrated: on random traffic at 30 % load, whose latency it "
		"keeps"),
	PARAM_ROW(PARAM_COUNT, "candidates", AT(candidates), "1", 1, 16,
		"number of intermediate groups that ugal or par compares",
		"assumed: as in the papers"),
	PARAM_ROW(PARAM_COUNT, "channels", AT(channels), "0", 0, LINK_CHANNELS,
		"number of channels; 0: as many as the mode has stages, which "
		"is needed for freedom from deadlock",
		"assumed: needed for freedom from deadlock"),
	PARAM_ROW(PARAM_FLAG, "stages", AT(stages), "yes", 0, 0,
		"whether packets change to the next channel with each global "
		"link; no: all packets use one channel and can deadlock",
		"assumed: needed for freedom from deadlock"),
	ROUTE_NOTICE(AT(route.notice)),
	ROUTE_TELL(AT(tell)),
	ROUTE_RELOAD(AT(reload)),
};

static const struct dragonfly_route *of(const struct route *r)
{
	return (const struct dragonfly_route *)r;
}

static const uint8_t n_stages[] = {
	[DRAGONFLY_MINIMAL] = 2,
	[DRAGONFLY_VALIANT] = 3,
	[DRAGONFLY_UGAL] = 3,
	[DRAGONFLY_PAR] = 4,
};

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
	d->n_stages = n_stages[d->mode];
	r->n_channels = (uint8_t)(!d->stages	? 1
				  : d->channels ? d->channels
						: d->n_stages);
	r->looks = d->mode >= DRAGONFLY_UGAL && d->topo->g > 2;
	r->told = d->mode >= DRAGONFLY_UGAL ? d->tell : d->reload;
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
	return t->m * (of(r)->mode == DRAGONFLY_MINIMAL ? 1 : t->g);
}

static uint32_t draw(const struct packet *p, bool is_ordered, uint32_t n)
{
	uint64_t lot = is_ordered ? (uint64_t)1 << 32 | p->dst : p->number;

	if (n < 2)
		return 0;
	return (uint32_t)random_below(
		random_draw(0, p->src, RANDOM_WAY, lot).a, n);
}

/* Gives a packet the route of a number, and leaves the rest of what it
 * keeps. */
static void set_way(const struct route *r, struct packet *p, uint32_t number)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = group_of(t, p->src), to = group_of(t, p->dst);
	uint32_t m = t->m ? t->m : 1;
	uint64_t via = 0;

	if (of(r)->mode != DRAGONFLY_MINIMAL && from != to &&
		number / m != from && number / m != to)
		via = 1 + number / m;
	p->way >>= STAGE_SHIFT;
	p->way = p->way << STAGE_SHIFT | (number + 1) | via << VIA_SHIFT |
		 (uint64_t)(number % m) << LINK_SHIFT;
}

static void go_round(const struct route *r, struct packet *p);

static void dragonfly_start(const struct route *r, struct packet *p)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t n = n_ways(r, p->src, p->dst), number = p->hints - 1u;
	bool is_ordered = p->kind != PACKET_DYNAMIC, is_free = !p->hints;

	if (is_free && r->looks && n > 1)
		/* minimal until routers decide; in order, for ever */
		number = group_of(t, p->src) * t->m + draw(p, is_ordered, t->m);
	else if (is_free)
		number = draw(p, is_ordered, n);
	is_free = is_free && r->looks && n > 1 && !is_ordered;
	/* one class, whose channels are the stages */
	p->kind = PACKET_DYNAMIC;
	p->way = (uint64_t)is_ordered << ORDER_SHIFT | (uint64_t)is_free
							       << FREE_SHIFT;
	set_way(r, p, number % n);
	if (of(r)->dead)
		go_round(r, p);
}

/* The channel of a stage; with too few of them the last ones share one. */
static uint8_t channel_of(const struct route *r, uint64_t stage)
{
	return (uint8_t)(stage < r->n_channels ? stage : r->n_channels - 1u);
}

/* The port by which a router leads on to another group. */
static port_id port_to_group(
	const struct dragonfly *t, router_id at, uint32_t group, uint32_t link)
{
	uint32_t number = dragonfly_number(t, at);
	uint32_t q = dragonfly_way(t, dragonfly_group(t, at), group, link);
	uint32_t owner = dragonfly_owner(t, q);

	return owner == number ? t->global + q - dragonfly_first(t, owner)
			       : dragonfly_local(t, number, owner);
}

static port_id port_of(
	const struct dragonfly *t, struct packet *p, router_id at)
{
	router_id last = dragonfly_router(t, p->dst);
	uint32_t group = dragonfly_group(t, at);
	uint32_t via = p->way >> VIA_SHIFT & FIELD;
	uint32_t link = p->way >> LINK_SHIFT & FIELD;

	if (via == group + 1) {
		p->way &= ~((uint64_t)FIELD << VIA_SHIFT);
		via = 0;
	}
	if (via)
		return port_to_group(t, at, via - 1, link);
	if (at == last)
		return p->dst % t->p;
	if (dragonfly_group(t, last) != group)
		return port_to_group(t, at, dragonfly_group(t, last), link);
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
	s.channel = channel_of(r, p->way >> STAGE_SHIFT & STAGE);
	return s;
}

/* --- around failed links --- */

enum { MOST_TRIES = 64 };

/* Whether the way of a packet from a router on has only links that work. */
static bool works(
	const struct route *r, const struct packet *packet, router_id at)
{
	const struct dragonfly *t = of(r)->topo;
	const port_mask *dead = of(r)->dead;
	struct packet p = *packet;

	while (at >= t->topo.n_nodes) {
		port_id port = port_of(t, &p, at);

		if (dead && dead[at] >> port & 1)
			return false;
		at = t->topo.ops->peer(&t->topo, at, port).router;
	}
	return true;
}

/* The same, if it took the route of a number there. */
static bool works_by(const struct route *r, const struct packet *p,
	router_id at, uint32_t number)
{
	struct packet q = *p;

	if (!of(r)->dead)
		return true;
	set_way(r, &q, number);
	return works(r, &q, at);
}

/* Leads a packet through a group, even if it stays in its own. */
static void lead_through(struct packet *p, uint32_t via, uint32_t link)
{
	p->way &= ~((uint64_t)FIELD << VIA_SHIFT |
		    (uint64_t)FIELD << LINK_SHIFT | (uint64_t)1 << FREE_SHIFT);
	p->way |= (uint64_t)(1 + via) << VIA_SHIFT | (uint64_t)link
							     << LINK_SHIFT;
}

static uint32_t redraw(const struct packet *p, uint32_t try, uint32_t n)
{
	uint64_t pair = (uint64_t)p->dst << 32 | (uint64_t)p->hints << 8 | try;

	return (uint32_t)random_below(
		random_draw(1, p->src, RANDOM_WAY, pair).a, n);
}

/* Another route, if a packet's own has a failed link: of the same kind, or else
 * through any group; its own one if none is found. */
static void go_round(const struct route *r, struct packet *p)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = group_of(t, p->src), n = n_ways(r, p->src, p->dst), i;
	router_id at = dragonfly_router(t, p->src);
	bool has_detours = of(r)->mode != DRAGONFLY_MINIMAL && t->g > 2;
	uint64_t way = p->way;

	if (works(r, p, at))
		return;
	/* adaptive packets start on minimal routes */
	for (i = 0; i < MOST_TRIES && n > 1; i++) {
		uint32_t k = redraw(p, i, p->way >> FREE_SHIFT & 1 ? t->m : n);

		if (p->way >> FREE_SHIFT & 1)
			k += from * t->m;
		if (works_by(r, p, at, k)) {
			set_way(r, p, k);
			return;
		}
	}
	for (i = 0; i < 4 * MOST_TRIES && has_detours; i++) {
		uint32_t k = redraw(p, i, t->g * t->m);

		if (k / t->m == from)
			continue;
		lead_through(p, k / t->m, k % t->m);
		if (works(r, p, at))
			return;
	}
	p->way = way;
}

static struct route *dragonfly_avoid(
	const struct route *r, const port_mask *dead)
{
	struct dragonfly_route *d = mem_alloc(1, sizeof(*d));
	router_id n = r->topo->n_routers;

	*d = *of(r);
	d->dead = mem_alloc(n, sizeof(*d->dead));
	for (router_id i = 0; i < n; i++)
		d->dead[i] = dead[i];
	return &d->route;
}

static void dragonfly_fini(struct route *r)
{
	mem_free(((struct dragonfly_route *)r)->dead);
}

/* --- adaptive routes --- */

/* The router of a group at the end of a link from another. */
static uint32_t landing(
	const struct dragonfly *t, uint32_t group, uint32_t from, uint32_t link)
{
	return dragonfly_owner(t, dragonfly_way(t, group, from, link));
}

/* Hops between routers from one of group a to the destination's, in group b,
 * by one of the links between these groups. */
static uint32_t n_hops(const struct dragonfly *t, router_id at, uint32_t b,
	uint32_t last, uint32_t link)
{
	uint32_t a = dragonfly_group(t, at);

	return 1u + (landing(t, a, b, link) != dragonfly_number(t, at)) +
	       (landing(t, b, a, link) != last);
}

/* The same by way of another group. */
static uint32_t n_hops_via(const struct dragonfly *t, router_id at,
	uint32_t via, uint32_t b, uint32_t last, uint32_t link)
{
	uint32_t a = dragonfly_group(t, at);
	router_id at_via =
		t->topo.n_nodes + via * t->a + landing(t, via, a, link);

	return 1u + (landing(t, a, via, link) != dragonfly_number(t, at)) +
	       n_hops(t, at_via, b, last, link);
}

/* A route through a group that is neither the first nor the last. */
static uint32_t draw_detour(const struct dragonfly *t, const struct packet *p,
	uint32_t from, uint32_t to, uint64_t lot)
{
	uint64_t bits = random_draw(lot, p->src, RANDOM_WAY, p->number).a;
	uint32_t low = from < to ? from : to, high = from < to ? to : from;
	uint32_t via = (uint32_t)random_below(bits, t->g - 2);

	via += via >= low;
	via += via >= high;
	return via * t->m + (uint32_t)((bits & FIELD) % t->m);
}

/* What the best of some detours costs: the load of its first link, in chunks,
 * for each hop. */
static uint64_t best_detour(const struct route *r, const struct packet *p,
	router_id at, const struct route_look *l, uint32_t turn, uint32_t *way)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = dragonfly_group(t, at), to = group_of(t, p->dst);
	uint32_t last = dragonfly_number(t, dragonfly_router(t, p->dst));
	uint8_t channel = channel_of(r, (p->way >> STAGE_SHIFT & STAGE) + turn);
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < of(r)->candidates; i++) {
		uint32_t number = draw_detour(
			t, p, from, to, 1 + i + 16 * (uint64_t)turn);
		uint32_t via = number / t->m, link = number % t->m;
		uint64_t cost;

		if (!works_by(r, p, at, number))
			continue;
		cost = l->load(l, port_to_group(t, at, via, link), channel);
		cost *= n_hops_via(t, at, via, to, last, link);
		if (cost >= least)
			continue;
		least = cost;
		*way = number;
	}
	return least;
}

/*
 * At the first router; for PAR also at the next one of its group, where leaving
 * the minimal route is a turn to the next stage.
 */
static void dragonfly_decide(const struct route *r, struct packet *p,
	router_id at, port_id in, const struct route_look *l)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t to = group_of(t, p->dst), turn = in >= t->local, way = 0;
	uint32_t link = p->way >> LINK_SHIFT & FIELD;
	uint32_t last = dragonfly_number(t, dragonfly_router(t, p->dst));
	uint64_t minimal, detour;
	port_id port;

	if (!(p->way >> FREE_SHIFT & 1))
		return;
	port = port_to_group(t, at, to, link);
	if (of(r)->mode != DRAGONFLY_PAR || port >= t->global)
		p->way &= ~((uint64_t)1 << FREE_SHIFT);
	minimal =
		l->load(l, port, channel_of(r, p->way >> STAGE_SHIFT & STAGE)) *
		n_hops(t, at, to, last, link);
	if (of(r)->dead && !works(r, p, at))
		minimal = UINT64_MAX;
	if (minimal <= (uint64_t)of(r)->bias * p->chunks)
		return;
	detour = best_detour(r, p, at, l, turn, &way);
	if (detour == UINT64_MAX ||
		minimal <= detour + (uint64_t)of(r)->bias * p->chunks)
		return;
	p->way &= ~((uint64_t)1 << FREE_SHIFT);
	p->way += (uint64_t)turn << STAGE_SHIFT;
	set_way(r, p, way);
}

/* --- the proof --- */

/* Ports of a router that exist, of each kind. */
static void ports_of(const struct dragonfly *t, router_id at, port_mask *local,
	port_mask *global)
{
	*local = 0;
	*global = 0;
	for (port_id p = t->local; p < t->topo.n_ports; p++)
		if (t->topo.ops->peer(&t->topo, at, p).router != NO_ROUTER)
			*(p < t->global ? local : global) |= (port_mask)1 << p;
}

/*
 * What packets may wait for that leave their minimal route after a local hop,
 * and more: a local hop of a stage waits for global links of it, and one of the
 * first stage for local hops of the second; a global link waits for all of the
 * next stage.
 */
static void add_turns(
	const struct route *r, const struct route_graph *g, router_id at)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t last = of(r)->n_stages - 1, stage;
	port_mask local, global;

	for (port_id p = t->local; p < t->topo.n_ports; p++) {
		struct topo_end far = t->topo.ops->peer(&t->topo, at, p);

		if (far.router == NO_ROUTER)
			continue;
		ports_of(t, far.router, &local, &global);
		for (stage = 0; stage < last; stage++) {
			uint32_t v =
				route_vertex(g, at, p, channel_of(r, stage));
			uint8_t next = channel_of(r, stage + 1);

			if (p < t->global)
				route_add(g, v, global, channel_of(r, stage));
			if (p >= t->global || !stage)
				route_add(g, v, local, next);
			if (p >= t->global && stage + 1 < last)
				route_add(g, v, global, next);
		}
	}
}

static void dragonfly_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w)
{
	const struct dragonfly *t = of(r)->topo;

	route_follow(r, g, w);
	for (router_id at = t->topo.n_nodes; at < t->topo.n_routers; at++)
		if (of(r)->mode == DRAGONFLY_PAR)
			add_turns(r, g, at);
}

/* Whether steps to a node of the same group are among those that are to be
 * seen, see below. */
static bool is_partner(const struct dragonfly *t, uint32_t src, uint32_t dst)
{
	return src / t->p == dst / t->p || src % t->p == dst % t->p;
}

/*
 * A step follows from where a packet is, where it came in and the router or
 * group that it heads for.  So nodes of one number in their groups see all
 * steps out of groups, through them and into them; nodes of one number at
 * their routers, in one group, all steps between routers there; and pairs at a
 * router the others.
 */
static void partners(
	const struct route *r, uint32_t src, const struct route_partners *to)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t per = t->p * t->a, n = t->topo.n_nodes, own = src / per * per;

	for (uint32_t first = 0; first < n; first += per) {
		uint32_t dst = first + src % per;

		if (first != own && dst < n)
			to->add(to->arg, dst);
		for (dst = first; first == own && dst < first + per && dst < n;
			dst++)
			if (is_partner(t, src, dst))
				to->add(to->arg, dst);
	}
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
			uint32_t lo = dragonfly_first(t, i);
			uint32_t hi = dragonfly_first(t, i + 1);
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
	[DRAGONFLY_UGAL] = "ugal",
	[DRAGONFLY_PAR] = "par",
};

static void dragonfly_describe(const struct route *r, FILE *f)
{
	static const char *const words[] = {
		[DRAGONFLY_MINIMAL] = "the shortest path",
		[DRAGONFLY_VALIANT] = "through a randomly chosen group",
		[DRAGONFLY_UGAL] = "the shortest path or a detour through "
				   "another group, by the queues of the first "
				   "router",
		[DRAGONFLY_PAR] = "the shortest path or a detour through "
				  "another group, by the queues of each router "
				  "of the first group",
	};

	fprintf(f, "routing     %s, on ", words[of(r)->mode]);
	if (r->n_channels < of(r)->n_stages)
		fprintf(f, "%u channel%s\n", r->n_channels,
			r->n_channels > 1 ? "s" : "");
	else
		fprintf(f, "a channel for each stage\n");
}

static bool dragonfly_fact(
	const struct route *r, uint32_t i, struct route_fact *f)
{
	f->key = "mode";
	snprintf(f->text, sizeof(f->text), "%s", modes[of(r)->mode]);
	return !i;
}

static const char *const channels[] = { "stage 1", "stage 2", "stage 3",
	"stage 4" };

const struct route_ops dragonfly_route_ops = {
	.name = "dragonfly",
	.has = "orders",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct dragonfly_route),
	PARAMS(params),
	.init = dragonfly_init,
	.fini = dragonfly_fini,
	.avoid = dragonfly_avoid,
	.start = dragonfly_start,
	.next = dragonfly_next,
	.decide = dragonfly_decide,
	.n_ways = n_ways,
	.partners = partners,
	.walk = dragonfly_walk,
	.way = dragonfly_cost,
	.describe = dragonfly_describe,
	.fact = dragonfly_fact,
};
