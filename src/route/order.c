#include "route/order.h"

#include <string.h>

#include "base/mem.h"
#include "sim/random.h"

#define AT(field) offsetof(struct order, field)

/* What a packet keeps in its way, above the hints. */
enum {
	TODO_SHIFT = RINGS_TODO_SHIFT, /* directions to go in, by their places
					  in the order */
	DIR_SHIFT = RINGS_DIR_SHIFT, /* the one that it goes in */
	LINK_SHIFT = 32, /* 15 bits: modulo the links of a direction, its
			  * link */
	ORDER_SHIFT = ORDER_KEPT_SHIFT,
	LEFT_SHIFT =
		RINGS_LEFT_SHIFT, /* hops that are left in that direction */
};

static const struct param params[] = {
	PARAM_ROW(PARAM_TEXT, "order", AT(order), "letters", 0, 0,
		"order of directions: letters with signs "
		"(\"A+B+A-B-\"), letters without, which stand for "
		"plus and then minus (\"AB\"), or the word letters: "
		"the order of topology.letters",
		"assumed: dimension order"),
	PARAM_ONE_OF("ties", AT(ties), "hash", "parity|hash|plus",
		"direction round a ring if both are equally short: by the "
		"parity of the source's coordinates, by a hash of source and "
		"destination, or always plus",
		"assumed: loads both directions equally"),
	PARAM_ROW(PARAM_FLAG, "dateline", AT(dateline), "yes", 0, 0,
		"whether packets change channels where a ring closes; no: all "
		"packets use one channel, and rings without planes can "
		"deadlock",
		"assumed: without it rings can deadlock"),
	PARAM_ONE_OF("planes", AT(planes), "no", "no|yes|free",
		"whether parallel links of the same number form a ring of "
		"their own, which packets enter only if there is room for two; "
		"free: all parallel links form one ring, which can deadlock; "
		"for tiled routers only",
		"assumed: a dateline suffices"),
	PARAM_ONE_OF("charge", AT(charge), "full", "full|words",
		"tokens that a packet takes in the channel after a dateline: "
		"those of a full packet, or of the space that it fills; for "
		"direct routers only",
		"assumed: whole packets"),
	PARAM_ROW(PARAM_TIME, "notice", AT(route.notice), "1 us", 0, PS_PER_S,
		"time from a link's death or return until the routers at its "
		"ends know it, and adaptive packets avoid its ports",
		"assumed"),
	ROUTE_TELL(AT(tell)),
	PARAM_ROW(PARAM_TIME, "reload", AT(route.reload), "100 us", 0, PS_PER_S,
		"time from a link's death or return until management stops all "
		"injection to load new tables; for tiled routers only",
		"assumed: seconds on a real machine"),
	PARAM_ROW(PARAM_TIME, "drain", AT(route.drain), "20 us", 0, PS_PER_S,
		"time that packets have to reach their destinations after "
		"injection has stopped; the rest is dropped, and injection "
		"resumes; for tiled routers only",
		"assumed"),
};

static const struct order *of(const struct route *r)
{
	return (const struct order *)r;
}

/* --- set-up --- */

/* The directions that a letter and its sign, if any, stand for. */
static uint32_t read_directions(const struct torus *t, const char **c)
{
	int dim = grid_letter(t, **c);
	uint32_t bits = 3;

	++*c;
	if (**c == '+' || **c == '-')
		bits = *(*c)++ == '+' ? 1 : 2;
	return dim < 0 ? 0 : bits << 2 * dim;
}

static int set_order(struct order *o, struct err *e)
{
	uint32_t n = 2 * o->torus->n_dims, seen = 0, k = 0, bits;
	const char *c = o->order;

	if (!strcmp(c, "letters"))
		c = o->torus->letters;
	while (*c && k < n) {
		bits = read_directions(o->torus, &c);
		if (!bits || bits & seen)
			break;
		seen |= bits;
		for (; bits; bits &= bits - 1)
			o->dir[k++] = (uint8_t)__builtin_ctz(bits);
	}
	if (k == n && (!*c || !strcmp(o->order, "letters")))
		return 0;
	return err_set(e,
		"routing.order: \"%s\" is not an order of directions (want "
		"each of the %u from %c+ to %c- once, or the word letters)",
		o->order, n, o->torus->letters[0],
		o->torus->letters[o->torus->n_dims - 1]);
}

/* The least number that all numbers of links divide. */
static uint32_t common_multiple(const struct torus *t)
{
	uint32_t all = 1, k;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		for (k = all; k % t->n_links[i];)
			k += all;
		all = k;
	}
	return all;
}

/* Of nodes with one link in each direction and a dateline. */
static void set_rings(struct order *o)
{
	const struct torus *t = o->torus;
	struct route_rings *x = &o->rings;

	o->route.rings = x;
	x->coord = o->coord;
	x->closing = mem_alloc(t->n, sizeof(*x->closing));
	memcpy(x->dir, o->dir, sizeof(x->dir));
	for (uint32_t i = 0; i < t->n_dims; i++) {
		x->dim[i] = (uint16_t)t->dim[i];
		for (router_id r = 0; r < t->n; r++) {
			uint32_t at = o->coord[r][i];

			at = (at == t->dim[i] - 1 ? 1u : 0) | (at ? 0 : 2u);
			x->closing[r] |= (uint16_t)(at << 2 * i);
		}
	}
}

/* Which way round is shorter, for each distance in a dimension. */
static void set_ways(struct order *o, uint32_t dim)
{
	uint32_t d = o->torus->dim[dim];
	uint16_t plus = (uint16_t)(1u << o->place[2 * dim]);
	uint16_t minus = (uint16_t)(1u << o->place[2 * dim + 1]);
	uint16_t *way = mem_alloc(2 * d, sizeof(*way));

	o->toward[dim] = way + d;
	for (uint32_t far = 1; far < d; far++) {
		bool is_round = 2 * far > o->round[dim];
		uint16_t tie = 2 * far == o->round[dim] ? ORDER_TIE : 0;

		way[d + far] = is_round ? minus : plus | tie;
		way[d - far] = is_round || tie ? plus | tie : minus;
	}
}

static int order_init(struct route *r, const struct topo *t, struct err *e)
{
	struct order *o = (struct order *)r;

	o->torus = torus_find(t);
	if (!o->torus)
		return err_set(e,
			"routing.kind: order needs topology.kind: torus, not "
			"%s",
			t->ops->name);
	if (set_order(o, e))
		return -1;
	r->topo = t;
	if (o->dateline && o->planes)
		return err_set(e,
			"routing.planes: rings have either planes or a "
			"dateline (want routing.dateline: no with planes)");
	r->n_channels = o->dateline ? 2 : 1;
	r->has_planes = (uint8_t)o->planes;
	r->is_loaded = o->planes == ROUTE_PLANES && o->torus->nodes;
	r->told = o->planes ? -1 : o->tell;
	r->is_blind = r->told < 0;
	r->has_vectors = o->planes && o->torus->nodes;
	o->coord = grid_list(o->torus);
	o->links = common_multiple(o->torus);
	r->is_exact = o->dateline && o->charge;
	if (o->dateline && torus_is_plain(o->torus))
		set_rings(o);
	for (uint32_t i = 0; i < 2 * o->torus->n_dims; i++)
		o->place[o->dir[i]] = (uint8_t)i;
	for (uint32_t i = 0; i < o->torus->n_dims; i++) {
		o->round[i] = torus_is_ring(o->torus, i) ? o->torus->dim[i]
							 : UINT32_MAX;
		for (port_id p = o->torus->base[i]; p < o->torus->base[i + 1];
			p++)
			o->ports[2 * i + p % 2] |= (port_mask)1 << p;
		set_ways(o, i);
	}
	return 0;
}

static void order_fini(struct route *r)
{
	struct order *o = (struct order *)r;

	for (uint32_t i = 0; i < TORUS_MAX_DIMS; i++)
		if (o->toward[i])
			mem_free(o->toward[i] - o->torus->dim[i]);
	mem_free(o->coord);
	mem_free(o->rings.closing);
}

/* --- a packet's way --- */

static const uint16_t *coord_of(const struct order *o, uint32_t node)
{
	uint32_t per = (uint32_t)o->torus->nodes;

	return o->coord[per ? node / per : node];
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	const uint16_t *x = coord_of(of(r), src), *y = coord_of(of(r), dst);
	uint32_t n = 1;

	for (uint32_t i = 0; i < of(r)->torus->n_dims; i++)
		n <<= of(r)->toward[i][y[i] - x[i]] / ORDER_TIE;
	return n;
}

static uint64_t hash_of(const struct packet *p)
{
	return random_draw(0, p->src, RANDOM_WAY, p->dst).a;
}

/* Whether a packet goes plus where both ways are equally long. */
static bool goes_plus(
	const struct order *o, const struct packet *p, uint32_t dim)
{
	uint32_t plus =
		o->ties == GRID_TIES_RANDOM
			? (uint32_t)hash_of(p)
			: grid_plus((enum grid_ties)o->ties,
				  coord_of(o, p->src)[GRID_PARITY], p->src, 0);

	return plus >> dim & 1;
}

/* The directions in which a packet goes that is half way round somewhere.  If
 * its sender names the way, there is a bit for each tie. */
static __attribute__((noinline)) uint32_t break_ties(
	const struct order *o, const struct packet *p)
{
	const uint16_t *x = coord_of(o, p->src), *y = coord_of(o, p->dst);
	uint32_t named = p->hints ? p->hints - 1u : 0, todo = 0;

	for (uint32_t i = 0; i < o->torus->n_dims; i++) {
		uint32_t way = o->toward[i][y[i] - x[i]];

		if (way & ORDER_TIE) {
			bool plus = p->hints ? named & 1 : goes_plus(o, p, i);

			way = 1u << o->place[2 * i + !plus];
			named >>= 1;
		}
		todo |= way;
	}
	return todo;
}

/* The directions in which a packet goes, by their places in the order. */
static inline uint32_t find_directions(
	const struct order *o, const struct packet *p)
{
	const uint16_t *x = coord_of(o, p->src), *y = coord_of(o, p->dst);
	uint32_t i = o->torus->n_dims, todo = 0;

	while (i--)
		todo |= o->toward[i][y[i] - x[i]];
	if (todo & ORDER_TIE && (p->hints || o->ties != GRID_TIES_PLUS))
		return break_ties(o, p);
	return todo & ~(uint32_t)ORDER_TIE;
}

/* The link that a packet is hashed to. */
static __attribute__((noinline)) uint32_t pick_link(
	const struct order *o, const struct packet *p)
{
	uint32_t named = p->hints ? p->hints - 1u : 0;
	uint32_t ways = named ? n_ways(&o->route, p->src, p->dst) : 1;

	return ((uint32_t)(hash_of(p) >> 32) + named / ways) % o->links;
}

static void order_start(const struct route *r, struct packet *p)
{
	const struct order *o = of(r);
	bool is_ordered = p->kind != PACKET_DYNAMIC;
	uint64_t link = 0;

	if (p->kind == PACKET_VECTOR) {
		p->way = 0;
		return;
	}
	/* adaptive packets on planes need none */
	if (o->links > 1 && (!o->planes || is_ordered))
		link = pick_link(o, p);
	p->way = p->hints | (uint64_t)is_ordered << ORDER_SHIFT |
		 link << LINK_SHIFT |
		 (uint64_t)find_directions(o, p) << TODO_SHIFT;
	if (r->n_channels > 1)
		p->kind = PACKET_DYNAMIC; /* the channels are the ring's */
}

/* Hops from x to y in a direction. */
static uint32_t hops(
	const struct order *o, uint32_t dir, uint32_t x, uint32_t y)
{
	int32_t far = (int32_t)(dir % 2 ? x - y : y - x);

	return (uint32_t)far + (far < 0 ? o->round[dir / 2] : 0);
}

/* The next direction, of which there is one; the packet keeps it, with the hops
 * that are left behind the first. */
static uint32_t turn(const struct order *o, struct packet *p, const uint16_t *x)
{
	uint32_t todo = p->way >> TODO_SHIFT & 0xfff;
	uint32_t dir = o->dir[__builtin_ctz(todo)];
	uint32_t n;

	n = hops(o, dir, x[dir / 2], coord_of(o, p->dst)[dir / 2]) - 1;
	todo &= todo - 1;
	p->way &= ~((uint64_t)0xffff << TODO_SHIFT);
	p->way |= (uint64_t)todo << TODO_SHIFT | (uint64_t)dir << DIR_SHIFT |
		  (uint64_t)n << LEFT_SHIFT;
	return dir;
}

/* Whether a hop from x, or an earlier one, closes the ring. */
static bool is_past(
	const struct order *o, uint32_t dir, uint32_t x, uint32_t src)
{
	return dir % 2 ? !x || x > src
		       : x == o->torus->dim[dir / 2] - 1 || x < src;
}

/* The link of a direction that source and destination are hashed to. */
static port_id hashed_link(
	const struct order *o, const struct packet *p, uint32_t dir)
{
	uint32_t link = p->way >> LINK_SHIFT & 0x7fff;

	link %= o->torus->n_links[dir / 2];
	return o->torus->base[dir / 2] + 2 * link + dir % 2;
}

/* A packet that turns. */
static __attribute__((noinline)) struct route_step step_round(
	const struct order *o, struct packet *p, const uint16_t *x)
{
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1 };
	uint32_t dir = turn(o, p, x);

	s.escape = hashed_link(o, p, dir);
	s.ports = s.is_ordered ? (port_mask)1 << s.escape : o->ports[dir];
	return s;
}

/* A packet that has to turn, or is at its source or destination. */
static __attribute__((noinline)) struct route_step step_aside(
	const struct order *o, struct packet *p, router_id at)
{
	const struct torus *t = o->torus;
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1 };

	if (p->kind == PACKET_VECTOR && o->route.has_vectors)
		return grid_vector(t, p, at);
	if (at == p->dst)
		return route_there(s.is_ordered);
	if (at < t->first) {
		s.ports = 1; /* a node has one port */
		return s;
	}
	if (p->way >> TODO_SHIFT & 0xfff)
		return step_round(o, p, o->coord[at - t->first]);
	s.escape = t->base[t->n_dims] + p->dst % (uint32_t)t->nodes;
	s.ports = (port_mask)1 << s.escape;
	return s;
}

/* One that goes straight on. */
static inline struct route_step step_on(
	const struct order *o, struct packet *p, port_id in)
{
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1 };
	uint32_t dir = p->way >> DIR_SHIFT & 0xf;

	p->way -= (uint64_t)1 << LEFT_SHIFT;
	s.escape = o->planes || s.is_ordered ? in ^ 1 : hashed_link(o, p, dir);
	s.ports = s.is_ordered ? (port_mask)1 << s.escape : o->ports[dir];
	return s;
}

/* The channel of a step between routers. */
static uint8_t channel_of(const struct order *o, const struct packet *p,
	router_id at, const struct route_step *s)
{
	uint32_t dir = p->way >> DIR_SHIFT & 0xf;

	if (at < o->torus->first || !s->ports ||
		s->escape >= o->torus->base[o->torus->n_dims])
		return 0;
	return is_past(o, dir, o->coord[at - o->torus->first][dir / 2],
		coord_of(o, p->src)[dir / 2]);
}

static __attribute__((noinline)) struct route_step next_of_dateline(
	const struct order *o, struct packet *p, router_id at, port_id in)
{
	struct route_step s;

	s = p->way >> LEFT_SHIFT ? step_on(o, p, in) : step_aside(o, p, at);
	s.channel = channel_of(o, p, at, &s);
	return s;
}

static struct route_step order_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	if (r->n_channels > 1)
		return next_of_dateline(of(r), p, at, in);
	if (p->way >> LEFT_SHIFT == 0)
		return step_aside(of(r), p, at);
	return step_on(of(r), p, in);
}

/* The node of the same number at a router that is elsewhere in a dimension. */
static uint32_t node_at(
	const struct order *o, uint32_t node, uint32_t dim, uint32_t to)
{
	const struct torus *t = o->torus;
	uint32_t per = t->nodes ? (uint32_t)t->nodes : 1;

	return node + per * t->stride[dim] * (to - coord_of(o, node)[dim]);
}

/* Whether they are so near, perhaps around a ring. */
static bool is_within(const struct torus *t, uint32_t dim, uint32_t x,
	uint32_t y, uint32_t most)
{
	uint32_t far = x < y ? y - x : x - y;

	return far <= most || far + most >= t->dim[dim];
}

/* Destinations one hop beside one, in a dimension. */
static void add_beside(const struct order *o, uint32_t node, uint32_t dim,
	const struct route_partners *to)
{
	uint32_t d = o->torus->dim[dim], x = coord_of(o, node)[dim];

	if (d > 1)
		to->add(to->arg, node_at(o, node, dim, (x + 1) % d));
	if (d > 2)
		to->add(to->arg, node_at(o, node, dim, (x + d - 1) % d));
}

/* Those along a dimension, and those beside them; up to two hops away, or
 * all. */
static void add_line(const struct order *o, uint32_t src, uint32_t dim,
	bool is_short, const struct route_partners *to)
{
	const struct torus *t = o->torus;
	uint32_t x = coord_of(o, src)[dim], y, i;

	for (y = 0; y < t->dim[dim]; y++) {
		bool is_near = is_within(t, dim, x, y, 1);

		if (y == x || (is_short && !is_within(t, dim, x, y, 2)))
			continue;
		to->add(to->arg, node_at(o, src, dim, y));
		for (i = 0; i < t->n_dims; i++)
			if (is_near ? i > dim : i != dim && !is_short)
				add_beside(o, node_at(o, src, dim, y), i, to);
	}
}

/*
 * A step depends on where a packet is, on its direction, and with a dateline on
 * the coordinate that it started from in that dimension.  So ways in one
 * dimension cover all steps along it; ways in two dimensions, one of them by a
 * single hop, cover all turns; and nodes that have the same number at their
 * routers cover all steps from and to nodes.  Without a dateline two hops are
 * enough for each step; longer ways are followed from one router, to all
 * others, to see that they lead there.
 */
static void partners(
	const struct route *r, uint32_t src, const struct route_partners *to)
{
	const struct order *o = of(r);
	uint32_t per = o->torus->nodes ? (uint32_t)o->torus->nodes : 1, i;
	bool is_short = r->n_channels < 2;

	for (i = 0; i < o->torus->n_dims; i++)
		add_line(o, src, i, is_short, to);
	if (is_short && src < per)
		for (i = src; i < r->topo->n_nodes; i += per)
			to->add(to->arg, i);
}

/* --- reports --- */

static struct route_way order_way(const struct route *r, const int64_t *cost)
{
	return grid_way(of(r)->torus, (enum grid_ties)of(r)->ties, cost);
}

/* "A+ A- B+ B-" */
static void name_order(const struct order *o, char text[ROUTE_TEXT])
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < 2 * o->torus->n_dims; k++) {
		if (k)
			text[n++] = ' ';
		text[n++] = o->torus->letters[o->dir[k] / 2];
		text[n++] = o->dir[k] % 2 ? '-' : '+';
	}
	text[n] = '\0';
}

static void order_describe(const struct route *r, FILE *f)
{
	char text[ROUTE_TEXT];

	name_order(of(r), text);
	fprintf(f, "routing     by directions in the order %s\n", text);
	fprintf(f, "%s\n",
		of(r)->planes == ROUTE_FREE_PLANES
			? "planes      free: rings can deadlock"
		: of(r)->planes	  ? "planes      one for each parallel link"
		: of(r)->dateline ? "dateline    where a ring closes"
				  : "dateline    none: rings can deadlock");
}

static bool order_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	if (!i) {
		f->key = "order";
		name_order(of(r), f->text);
	} else {
		f->kind = ROUTE_FACT_FLAG;
		f->key = "dateline";
		f->flag = of(r)->dateline;
	}
	return i < 2;
}

static const char *const channels[] = { "0", "1" };

const struct route_ops order_ops = {
	.name = "order",
	.has = "orders tables steady",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct order),
	PARAMS(params),
	.init = order_init,
	.fini = order_fini,
	.start = order_start,
	.next = order_next,
	.n_ways = n_ways,
	.partners = partners,
	.around = order_around,
	.avoid = order_avoid,
	.way = order_way,
	.describe = order_describe,
	.fact = order_fact,
};
