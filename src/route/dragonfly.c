#include "route/dragonfly_way.h"

#include "base/mem.h"
#include "link/link.h"
#include "sim/random.h"

#define AT(field) offsetof(struct dragonfly_route, field)

static const struct param params[] = {
	PARAM_ONE_OF("mode", AT(mode), "minimal",
		"minimal|valiant|ugal|par|ugal-g",
		"path of a packet; minimal: the shortest; valiant: through a "
		"randomly chosen intermediate group; ugal: the one of these "
		"with the shorter queue at the first router; par: the same, "
		"decided again at each router of the first group; ugal-g: by "
		"the queues of all global links of the group",
		"assumed: best for uniform traffic"),
	PARAM_ONE_OF("local", AT(local), "minimal", "minimal|detour",
		"path to another router of the first group; detour: through a "
		"third router of the group, if the queue for the direct link "
		"is long",
		"assumed: the simplest"),
	{ .name = "age",
		.type = PARAM_TIME,
		.offset = AT(age),
		.def = "auto",
		.min = 0,
		.max = PS_PER_S,
		.words = "auto",
		.help = "interval at which routers tell the others of their "
			"group how long the queues of their global links are, "
			"and the time until these know, for ugal-g; auto: the "
			"latency of a link inside a group",
		.source = "assumed: as soon as can be" },
	PARAM_ROW(PARAM_COUNT, "bias", AT(bias), "10", 0, 1000,
		"number of additional packets that may queue for the minimal "
		"path before ugal, ugal-g or par leaves it, or for a link "
		"inside a group before a packet takes a detour there",
		"calibrated: on random traffic at 30 % load, whose latency it "
		"keeps"),
	PARAM_ROW(PARAM_COUNT, "candidates", AT(candidates), "1", 1, 16,
		"number of intermediate groups that ugal, ugal-g or par "
		"compares",
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
	return dragonfly_route_of(r);
}

/* A turn inside the first group is a stage more. */
static uint32_t n_stages(const struct dragonfly_route *d)
{
	uint32_t n_global = d->mode == DRAGONFLY_MINIMAL ? 1 : 2;

	return 1 + n_global +
	       (d->mode == DRAGONFLY_PAR || d->local == DRAGONFLY_DETOUR);
}

/* News travel by links inside a group. */
static int set_age(struct dragonfly_route *d, struct err *e)
{
	int64_t least = d->topo->topo.wire[DRAGONFLY_LOCAL].latency;

	d->route.age = d->age < 0 ? least : d->age;
	if (d->route.age >= least)
		return 0;
	return err_set(e,
		"routing.age: a link inside a group already takes %g ns",
		(double)least / 1000);
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
	d->n_stages = n_stages(d);
	r->n_channels = (uint8_t)(!d->stages	? 1
				  : d->channels ? d->channels
						: d->n_stages);
	r->is_one_class = r->n_channels > 1;
	d->is_adaptive = d->mode >= DRAGONFLY_UGAL && d->topo->g > 2;
	d->turns = d->local == DRAGONFLY_DETOUR && d->topo->a > 2;
	r->looks = d->is_adaptive || d->turns;
	r->has_news = d->mode == DRAGONFLY_UGAL_G && d->is_adaptive;
	r->told = d->mode >= DRAGONFLY_UGAL ? d->tell : d->reload;
	return r->has_news ? set_age(d, e) : 0;
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const struct dragonfly *t = of(r)->topo;

	if (dragonfly_group_of(t, src) == dragonfly_group_of(t, dst))
		return 1;
	return t->m * (of(r)->mode == DRAGONFLY_MINIMAL ? 1 : t->g);
}

/* Cards of a node have ways of their own. */
static uint32_t draw(const struct dragonfly *t, const struct packet *p,
	bool is_ordered, uint32_t n)
{
	uint64_t lot = is_ordered ? (uint64_t)1 << 32 | p->dst : p->number;

	if (n < 2)
		return 0;
	if (is_ordered && t->topo.cards)
		lot |= (uint64_t)p->card << 33;
	return (uint32_t)random_below(
		random_draw(0, p->src, RANDOM_WAY, lot).a, n);
}

/* Gives a packet the route of a number, and leaves the rest of what it
 * keeps. */
void dragonfly_set_way(const struct route *r, struct packet *p, uint32_t number)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = dragonfly_group_of(t, p->src),
		 to = dragonfly_group_of(t, p->dst);
	uint32_t m = t->m ? t->m : 1;
	uint64_t via = 0;

	if (of(r)->mode != DRAGONFLY_MINIMAL && from != to &&
		number / m != from && number / m != to)
		via = 1 + number / m;
	p->way >>= STAGE_SHIFT;
	p->way = p->way << STAGE_SHIFT | (number + 1) | via << VIA_SHIFT |
		 (uint64_t)(number % m) << LINK_SHIFT;
}

static void dragonfly_start(const struct route *r, struct packet *p)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t n = n_ways(r, p->src, p->dst), number = p->hints - 1u;
	bool is_ordered = p->kind != PACKET_DYNAMIC, is_free = !p->hints;

	if (is_free && of(r)->is_adaptive && n > 1)
		/* minimal until routers decide; in order, for ever */
		number = dragonfly_group_of(t, p->src) * t->m +
			 draw(t, p, is_ordered, t->m);
	else if (is_free)
		number = draw(t, p, is_ordered, n);
	is_free = is_free && !is_ordered &&
		  (of(r)->turns || (of(r)->is_adaptive && n > 1));
	/* one class, whose channels are the stages */
	p->kind = PACKET_DYNAMIC;
	p->way = (uint64_t)is_ordered << ORDER_SHIFT | (uint64_t)is_free
							       << FREE_SHIFT;
	dragonfly_set_way(r, p, number % n);
	if (of(r)->dead)
		dragonfly_go_round(r, p);
}

/* The port by which a router leads on to another group. */
static port_id port_to_group(
	const struct dragonfly *t, router_id at, uint32_t group, uint32_t link)
{
	return dragonfly_port(t, dragonfly_number(t, at),
		dragonfly_way(t, dragonfly_group(t, at), group, link));
}

static port_id port_of(
	const struct dragonfly *t, struct packet *p, router_id at)
{
	router_id last = dragonfly_last(t, p);
	uint32_t group = dragonfly_group(t, at);
	uint32_t via = p->way >> VIA_SHIFT & FIELD;
	uint32_t link = p->way >> LINK_SHIFT & FIELD;
	uint32_t turn = (uint32_t)(p->way >> TURN_SHIFT);

	if (__builtin_expect(turn, 0)) {
		uint32_t number = dragonfly_number(t, at);

		if (turn - 1 != number)
			return dragonfly_local(t, number, turn - 1);
		/* what remains is a way of the next stage */
		p->way &= ~(~(uint64_t)0 << TURN_SHIFT);
		p->way += (uint64_t)1 << STAGE_SHIFT;
	}
	if (via == group + 1) {
		p->way &= ~((uint64_t)FIELD << VIA_SHIFT);
		via = 0;
	}
	if (via)
		return port_to_group(t, at, via - 1, link);
	if (at == last)
		return dragonfly_exit(t, p);
	if (dragonfly_group(t, last) != group)
		return port_to_group(t, at, dragonfly_group(t, last), link);
	return dragonfly_local(
		t, dragonfly_number(t, at), dragonfly_number(t, last));
}

/* On a spare path. */
static void step_aside(const struct route *r, struct packet *p, router_id at,
	struct route_step *s)
{
	const struct dragonfly *t = of(r)->topo;
	struct spare_hop hop;

	if (at == dragonfly_last(t, p)) {
		s->escape = dragonfly_exit(t, p);
		return;
	}
	hop = dragonfly_hop(r, p);
	s->escape = hop.port;
	s->channel = hop.channel;
}

/* From a switch on; by itself, so that nodes do not pay for it. */
static __attribute__((noinline)) struct route_step step_on(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct dragonfly *t = of(r)->topo;
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1 };

	if (__builtin_expect(dragonfly_is_spare(p), 0)) {
		step_aside(r, p, at, &s);
	} else {
		if (in >= t->global)
			p->way += (uint64_t)1 << STAGE_SHIFT;
		s.escape = port_of(t, p, at);
		s.channel = dragonfly_channel(r, dragonfly_stage(p));
	}
	s.ports = (port_mask)1 << s.escape;
	return s;
}

static struct route_step dragonfly_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct dragonfly *t = of(r)->topo;
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1 };

	if (at == p->dst)
		return route_there(s.is_ordered);
	if (at >= t->topo.n_nodes)
		return step_on(r, p, at, in);
	s.escape = t->topo.cards ? p->card : 0;
	if (!dragonfly_is_spare(p))
		s.channel = dragonfly_channel(r, dragonfly_stage(p));
	s.ports = (port_mask)1 << s.escape;
	return s;
}

/* --- around failed links --- */

/* Whether the way of a packet from a router on has only links that work. */
bool dragonfly_works(
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
bool dragonfly_works_by(const struct route *r, const struct packet *p,
	router_id at, uint32_t number)
{
	struct packet q = *p;

	if (!of(r)->dead)
		return true;
	dragonfly_set_way(r, &q, number);
	return dragonfly_works(r, &q, at);
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
			uint32_t v = route_vertex(
				g, at, p, dragonfly_channel(r, stage));
			uint8_t next = dragonfly_channel(r, stage + 1);

			if (p < t->global)
				route_add(g, v, global,
					dragonfly_channel(r, stage));
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

	if (t->topo.cards)
		dragonfly_walk_cards(r, g, w);
	else
		route_follow(r, g, w);
	for (router_id at = t->topo.n_nodes; at < t->topo.n_routers; at++)
		if (of(r)->mode == DRAGONFLY_PAR || of(r)->turns)
			add_turns(r, g, at);
	if (of(r)->spare)
		spare_walk(of(r)->spare, g);
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

/* The same for links of a file. */
static double share_by_links(const struct dragonfly *t)
{
	uint64_t n = 0, turns = 0;

	for (uint64_t i = 0; i < (uint64_t)t->g * t->g * t->g * t->m; i++) {
		uint32_t k = (uint32_t)(i % t->m);
		uint32_t at = (uint32_t)(i / t->m % t->g);
		uint32_t a = (uint32_t)(i / t->m / t->g % t->g);
		uint32_t b = (uint32_t)(i / t->m / t->g / t->g);

		if (at == a || at == b || a == b)
			continue;
		n++;
		turns += dragonfly_owner(t, dragonfly_way(t, at, a, k)) !=
			 dragonfly_owner(t, dragonfly_way(t, at, b, k));
	}
	return n ? (double)turns / (double)n : 0;
}

/*
 * Of all ways through a group from one other group to another, by the same of
 * m links, the share that changes routers there.
 */
static double share_of_turns(const struct dragonfly *t)
{
	uint32_t others = t->g - 1;
	double same = 0;

	if (t->links)
		return share_by_links(t);

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
	double far = others + 1 - (double)t->a * t->p;
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
	[DRAGONFLY_UGAL_G] = "ugal-g",
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
		[DRAGONFLY_UGAL_G] =
			("the shortest path or a detour through another group, "
			 "by the queues of all global links of the first "
			 "group"),
	};

	fprintf(f, "routing     %s, on ", words[of(r)->mode]);
	if (r->n_channels < of(r)->n_stages)
		fprintf(f, "%u channel%s\n", r->n_channels,
			r->n_channels > 1 ? "s" : "");
	else
		fprintf(f, "a channel for each stage\n");
	if (of(r)->turns)
		fprintf(f, "            through a third router of the first "
			   "group, if the queue for a link there is long\n");
	if (r->has_news)
		fprintf(f,
			"            an oracle: routers know the queues of "
			"others as they were %g to %g ns ago\n",
			(double)r->age / 1000, 2 * (double)r->age / 1000);
}

static bool dragonfly_fact(
	const struct route *r, uint32_t i, struct route_fact *f)
{
	if (!i) {
		f->key = "mode";
		snprintf(f->text, sizeof(f->text), "%s", modes[of(r)->mode]);
		return true;
	}
	f->key = "oracle";
	f->kind = ROUTE_FACT_FLAG;
	f->flag = true;
	return i == 1 && r->has_news;
}

static const char *const channels[] = { "stage 1", "stage 2", "stage 3",
	"stage 4" };

const struct route_ops dragonfly_route_ops = {
	.name = "dragonfly",
	.has = "orders card-routes steady",
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
	.news = dragonfly_news,
	.n_ways = n_ways,
	.partners = partners,
	.walk = dragonfly_walk,
	.way = dragonfly_cost,
	.describe = dragonfly_describe,
	.fact = dragonfly_fact,
};
