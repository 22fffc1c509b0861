/*
 * Order of directions around failed links, for rings without planes.
 *
 * A packet takes another of the parallel links where one has failed.  If all
 * links of a step of its path have failed, its pair of routers has a spare
 * path: the other way round a ring, if that is the shortest one, or beside it.
 */
#include <string.h>

#include "base/mem.h"
#include "route/order.h"
#include "route/spare.h"

/* What a packet on a spare path keeps: no direction, and the number of its next
 * hop in two parts. */
enum {
	DIR_SHIFT = RINGS_DIR_SHIFT,
	DIR_SPARE = 0xf,
	LOW_SHIFT = RINGS_LEFT_SHIFT,
	HIGH_SHIFT = RINGS_TODO_SHIFT,
	LOW_BITS = 16,
};

_Static_assert(SPARE_HOPS <= 1 << 24, "12 bits are left for the high part");

struct view {
	struct order order;
	port_mask *dead; /* [site] */
	struct spare *spare; /* NULL: there are none */
};

static const struct route_ops view_ops;

static const struct view *of(const struct route *r)
{
	return (const struct view *)r;
}

/* The site of a node's router. */
static router_id router_of(const struct order *o, uint32_t node)
{
	uint32_t per = (uint32_t)o->torus->nodes;

	return per ? o->torus->first + node / per : node;
}

/* The links in the direction of one, as far as they work. */
static port_mask alive(const struct view *v, router_id at, port_id port)
{
	const struct torus *t = v->order.torus;
	uint32_t dim = 0;

	if (port >= t->base[t->n_dims])
		return 0;
	while (port >= t->base[dim + 1])
		dim++;
	return v->order.ports[2 * dim + (port - t->base[dim]) % 2] &
	       ~v->dead[at];
}

/* Another link, if that of a step has failed. */
static void avoid_dead(const struct view *v, router_id at, struct route_step *s)
{
	port_mask good;

	if (at < v->order.torus->first || !(s->ports & v->dead[at]))
		return;
	good = alive(v, at, s->escape);
	if (!good)
		return;
	if (!(good >> s->escape & 1))
		s->escape = (port_id)__builtin_ctzll(good);
	s->ports = s->is_ordered ? (port_mask)1 << s->escape : good;
}

/* Whether the way of a packet from its source has only steps with a link that
 * works. */
static bool works(const struct view *v, const struct packet *of)
{
	const struct topo *t = v->order.route.topo;
	struct topo_end at = { router_of(&v->order, of->src), TOPO_NO_PORT };
	router_id last = router_of(&v->order, of->dst);
	struct packet p = *of;

	while (at.router != last) {
		struct route_step s =
			order_ops.next(&v->order.route, &p, at.router, at.port);
		port_mask good = alive(v, at.router, s.escape);

		if (!good)
			return false;
		at = t->ops->peer(t, at.router, (port_id)__builtin_ctzll(good));
	}
	return true;
}

static void set_hop(struct packet *p, uint32_t number)
{
	uint64_t keep = (uint64_t)1 << ORDER_KEPT_SHIFT | 0xffff; /* hints */

	p->way = (p->way & keep) | (uint64_t)DIR_SPARE << DIR_SHIFT |
		 (uint64_t)number << LOW_SHIFT |
		 (uint64_t)(number >> LOW_BITS) << HIGH_SHIFT;
}

static uint32_t hop_of(const struct packet *p)
{
	return (uint32_t)(p->way >> LOW_SHIFT | (p->way >> HIGH_SHIFT & 0xfff)
							<< LOW_BITS);
}

static void view_start(const struct route *r, struct packet *p)
{
	const struct view *v = of(r);
	uint32_t first;

	order_ops.start(r, p);
	if (p->kind == PACKET_VECTOR || !v->spare || works(v, p))
		return;
	first = spare_first(v->spare, router_of(&v->order, p->src),
		router_of(&v->order, p->dst));
	if (first)
		set_hop(p, first);
}

/* The next step on a spare path. */
static struct route_step step_aside(
	const struct view *v, struct packet *p, router_id at)
{
	const struct torus *t = v->order.torus;
	struct route_step s = { .is_ordered = p->way >> ORDER_KEPT_SHIFT & 1 };
	uint32_t number = hop_of(p);

	if (at == p->dst)
		return route_there(s.is_ordered);
	if (at == router_of(&v->order, p->dst)) {
		s.escape = t->base[t->n_dims] + p->dst % (uint32_t)t->nodes;
	} else if (at >= t->first) {
		s.escape = spare_hop(v->spare, number).port;
		s.channel = spare_hop(v->spare, number).channel;
		set_hop(p, number + 1);
	}
	s.ports = (port_mask)1 << s.escape;
	return s;
}

static struct route_step view_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_step s;

	if (p->kind != PACKET_VECTOR &&
		(p->way >> DIR_SHIFT & 0xf) == DIR_SPARE)
		return step_aside(of(r), p, at);
	s = order_ops.next(r, p, at, in);
	avoid_dead(of(r), at, &s);
	return s;
}

static uint32_t n_ways(const struct route *r, uint32_t src, uint32_t dst)
{
	return order_ops.n_ways(r, src, dst);
}

static struct spare *first_spare(const struct route *r)
{
	struct route_walks w = { 0 };
	struct route_graph g;
	struct spare *s;

	route_graph_init(&g, r->topo, r->n_channels > 1 ? r->n_channels : 1);
	route_follow(r, &g, &w);
	s = spare_new(&g);
	route_graph_fini(&g);
	return s;
}

/* Whether each path between two routers works, whichever way round its packets
 * go if both are equally far. */
static bool has_ways(const struct view *v, uint32_t a, uint32_t b)
{
	uint32_t per =
		v->order.torus->nodes ? (uint32_t)v->order.torus->nodes : 1;
	uint32_t n = n_ways(&v->order.route, a * per, b * per);
	bool all = true;

	for (uint32_t i = 1; i <= n && all; i++) {
		struct packet p = {
			.src = a * per, .dst = b * per, .hints = (uint16_t)i
		};

		order_ops.start(&v->order.route, &p);
		all = works(v, &p);
	}
	return all;
}

struct route *order_avoid(const struct route *r, const port_mask *dead)
{
	bool is_first = r->ops == &order_ops;
	struct view *v = mem_alloc(1, sizeof(*v));
	router_id first, n_sites = r->topo->n_routers;

	v->order = *(const struct order *)r;
	v->order.route.ops = &view_ops;
	v->order.route.rings = NULL;
	v->dead = mem_alloc(n_sites, sizeof(*v->dead));
	memcpy(v->dead, dead, n_sites * sizeof(*v->dead));
	if (is_first)
		v->spare = first_spare(r);
	else if (of(r)->spare)
		v->spare = spare_copy(of(r)->spare);
	first = v->order.torus->first;
	for (uint32_t a = 0; a < v->order.torus->n && v->spare; a++)
		for (uint32_t b = 0; b < v->order.torus->n; b++)
			if (a != b && !has_ways(v, a, b))
				spare_give(
					v->spare, dead, first + a, first + b);
	return &v->order.route;
}

/* All but what is its own belongs to the first routing. */
static void view_fini(struct route *r)
{
	mem_free(((struct view *)r)->dead);
	spare_free(((struct view *)r)->spare);
}

static const char *const channels[] = { "0", "1" };

static const struct route_ops view_ops = {
	.name = "order",
	.channels = channels,
	.n_channels = sizeof(channels) / sizeof(channels[0]),
	.size = sizeof(struct view),
	.fini = view_fini,
	.start = view_start,
	.next = view_next,
	.n_ways = n_ways,
	.avoid = order_avoid,
};
