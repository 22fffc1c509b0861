/*
 * Order of directions around dead links: the tables that management loads.
 *
 * All plus directions come first, then all minus ones: x+ y+ z+ x- y- z-.  Of
 * the up to 2^n ways of a pair, one for each choice of the way round in its
 * dimensions, it takes the shortest that is whole.  The order has no cycle,
 * whichever way round packets go.
 *
 * A plane with a dead link is open on that ring.  Where a ring has closed
 * planes, packets that keep their order take only these; others may take any
 * link that is alive, and can always change to a closed plane.  A ring without
 * a closed plane is used as a line, or several: nothing crosses its weakest
 * place.
 *
 * No table has an entry for each pair.  Each router knows for each direction
 * how many hops lead on from there, and the ways of a pair follow from that.
 */
#include <string.h>

#include "base/mem.h"
#include "route/order.h"
#include "sim/random.h"

/* What a packet keeps in its way, above the hints; the number is of the tables
 * that it was started by. */
enum { MINUS_SHIFT = 16, ORDER_SHIFT = 24, LINK_SHIFT = 32, NUMBER_SHIFT = 57 };

/* Of tables; the first ones' packets have 0, and those without a way. */
enum { NUMBERS = 127 };

_Static_assert(TORUS_MAX_DIMS <= 6, "a pair's ways are the bits of a word");

struct detour {
	struct route route;
	const struct torus *torus;
	grid_coord *coord; /* [router of the torus] */
	port_mask *dead; /* [router of the machine] */
	uint32_t *closed; /* [router][dimension]: planes, by link; 0: its ring
			   * is used as a line */
	uint16_t *run; /* [router][direction]: hops that lead on */
	port_mask ports[ORDER_DIRECTIONS];
	uint32_t number;
};

static const struct detour *of(const struct route *r)
{
	return (const struct detour *)r;
}

/* Direction k of the order: plus ones come first. */
static uint32_t direction_at(const struct torus *t, uint32_t k)
{
	return k < t->n_dims ? 2 * k : 2 * (k - t->n_dims) + 1;
}

static uint16_t *run_at(const struct detour *x, router_id r, uint32_t dir)
{
	return &x->run[(size_t)r * ORDER_DIRECTIONS + dir];
}

static uint32_t *closed_at(const struct detour *x, router_id r, uint32_t dim)
{
	return &x->closed[(size_t)r * TORUS_MAX_DIMS + dim];
}

/* The ports of a direction that lead somewhere and are alive. */
static port_mask alive(const struct detour *x, router_id r, uint32_t dir)
{
	router_id site = x->torus->first + r;

	return x->ports[dir] & ~x->dead[site];
}

/* --- set-up --- */

/* The next router of a ring or line, or NO_ROUTER at its end. */
static router_id next_router(const struct detour *x, router_id r, uint32_t dir)
{
	const struct torus *t = x->torus;
	const struct topo *topo = &t->topo;
	port_id p = t->base[dir / 2] + dir % 2;
	struct topo_end far = topo->ops->peer(topo, t->first + r, p);

	return far.router == NO_ROUTER ? NO_ROUTER : far.router - t->first;
}

/* Links of a dimension by number, from the ports of one direction. */
static uint32_t by_number(const struct torus *t, uint32_t dim, port_mask m)
{
	uint32_t links = 0;

	for (; m; m &= m - 1)
		links |= 1u
			 << ((uint32_t)__builtin_ctzll(m) - t->base[dim]) / 2;
	return links;
}

/* The ring through a router that is its first: which planes are closed, and
 * after how many hops the connection with the fewest links comes. */
static uint32_t look_round(const struct detour *x, router_id first,
	uint32_t dim, uint32_t *weakest)
{
	uint32_t closed = UINT32_MAX, least = UINT32_MAX, i = 0;
	router_id r = first;

	do {
		port_mask m = alive(x, r, 2 * dim);
		uint32_t n = (uint32_t)__builtin_popcountll(m);

		if (n < least) {
			least = n;
			*weakest = i;
		}
		closed &= by_number(x->torus, dim, m);
		r = next_router(x, r, 2 * dim);
		i++;
	} while (r != first && r != NO_ROUTER);
	return r == NO_ROUTER ? 0 : closed;
}

/* Hops that lead on from each router of a line, cut behind one of them. */
static void set_runs(
	struct detour *x, router_id first, uint32_t dim, uint32_t weakest)
{
	const struct torus *t = x->torus;
	uint32_t d = t->dim[dim];
	router_id last = first;

	/* the first router behind the cut, and the last before it */
	for (uint32_t k = 0; k < weakest && torus_is_ring(t, dim); k++)
		last = next_router(x, last, 2 * dim);
	if (!torus_is_ring(t, dim))
		last = first + (d - 1) * t->stride[dim];
	for (uint32_t k = 1; k < d;
		k++) { /* against the direction, from its end */
		router_id before = next_router(x, last, 2 * dim + 1);

		*run_at(x, before, 2 * dim) =
			alive(x, before, 2 * dim)
				? (uint16_t)(*run_at(x, last, 2 * dim) + 1)
				: 0;
		last = before;
	}
	for (uint32_t k = 1; k < d; k++) {
		router_id next = next_router(x, last, 2 * dim);

		*run_at(x, next, 2 * dim + 1) =
			alive(x, next, 2 * dim + 1)
				? (uint16_t)(*run_at(x, last, 2 * dim + 1) + 1)
				: 0;
		last = next;
	}
}

static void set_ring(struct detour *x, router_id first, uint32_t dim)
{
	const struct torus *t = x->torus;
	uint32_t weakest = 0;
	uint32_t closed = look_round(x, first, dim, &weakest);

	for (uint32_t i = 0; i < t->dim[dim]; i++) {
		router_id r = first + i * t->stride[dim];

		*closed_at(x, r, dim) = closed;
		*run_at(x, r, 2 * dim) = *run_at(x, r, 2 * dim + 1) =
			closed ? (uint16_t)t->dim[dim] : 0;
	}
	if (!closed)
		set_runs(x, first, dim, weakest);
}

static void detour_fini(struct route *r)
{
	struct detour *x = (struct detour *)r;

	mem_free(x->dead);
	mem_free(x->closed);
	mem_free(x->run);
}

/* --- a pair's way --- */

static uint32_t chip_of(const struct detour *x, uint32_t node)
{
	uint32_t per = (uint32_t)x->torus->nodes;

	return per ? node / per : node;
}

/* Hops from a to b of a dimension in a direction. */
static uint32_t hops(
	const struct torus *t, uint32_t dir, uint32_t a, uint32_t b)
{
	uint32_t d = t->dim[dir / 2];

	return dir % 2 ? (a + d - b) % d : (b + d - a) % d;
}

/* Whether the way with a choice of minus directions is whole. */
static bool is_whole(
	const struct detour *x, router_id src, router_id dst, uint32_t minus)
{
	const struct torus *t = x->torus;
	const uint16_t *y = x->coord[dst];
	router_id at = src;

	for (uint32_t k = 0; k < 2 * t->n_dims; k++) {
		uint32_t dir = direction_at(t, k), i = dir / 2;
		uint32_t n = hops(t, dir, x->coord[at][i], y[i]);

		if ((minus >> i & 1) != dir % 2 || !n)
			continue;
		if (*run_at(x, at, dir) < n)
			return false;
		at += (y[i] - (uint32_t)x->coord[at][i]) * t->stride[i];
	}
	return true;
}

/* The length of the way with a choice of minus directions, if it is whole. */
static uint32_t sum_hops(const struct torus *t, const uint16_t *a,
	const uint16_t *b, uint32_t minus)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		sum += hops(t, 2 * i + (minus >> i & 1), a[i], b[i]);
	return sum;
}

/* A bit for each choice of minus directions that gives a shortest way. */
static uint64_t shortest(const struct detour *x, router_id src, router_id dst)
{
	const struct torus *t = x->torus;
	uint32_t least = UINT32_MAX, same = 0;
	uint64_t best = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		same |= (uint32_t)(x->coord[src][i] == x->coord[dst][i]) << i;
	for (uint32_t minus = 0; minus < 1u << t->n_dims; minus++) {
		uint32_t n = sum_hops(t, x->coord[src], x->coord[dst], minus);

		if (minus & same || n > least || !is_whole(x, src, dst, minus))
			continue;
		if (n < least)
			best = 0;
		least = n;
		best |= UINT64_C(1) << minus;
	}
	return best;
}

/* The n-th bit of a mask, counted round. */
static uint32_t pick(uint64_t m, uint32_t n)
{
	for (n %= (uint32_t)__builtin_popcountll(m); n; n--)
		m &= m - 1;
	return (uint32_t)__builtin_ctzll(m);
}

static void detour_start(const struct route *r, struct packet *p)
{
	const struct detour *x = of(r);
	bool is_ordered = p->kind != PACKET_DYNAMIC;
	uint64_t hash = random_draw(0, p->src, RANDOM_WAY, p->dst).a;
	uint32_t link = (uint32_t)(hash >> 32) + (p->hints ? p->hints - 1u : 0);
	uint64_t ways = 0;

	if (p->kind == PACKET_VECTOR) {
		p->way = 0;
		return;
	}
	if (!((x->dead[p->src] | x->dead[p->dst]) & 1))
		ways = shortest(x, chip_of(x, p->src), chip_of(x, p->dst));
	p->way = p->hints | (uint64_t)is_ordered << ORDER_SHIFT |
		 (uint64_t)(link & 0xffffff) << LINK_SHIFT;
	if (ways)
		p->way |= (uint64_t)pick(ways, (uint32_t)hash) << MINUS_SHIFT |
			  (uint64_t)x->number << NUMBER_SHIFT;
}

/* Ports that packets may always wait for: those of closed planes, or on a line
 * all. */
static port_mask safe_ports(const struct detour *x, router_id r, uint32_t dir)
{
	const struct torus *t = x->torus;
	uint32_t closed = *closed_at(x, r, dir / 2);
	port_mask m = 0;

	if (!closed)
		return alive(x, r, dir);
	for (; closed; closed &= closed - 1)
		m |= (port_mask)1
		     << (t->base[dir / 2] +
				2 * (uint32_t)__builtin_ctz(closed) + dir % 2);
	return m;
}

static struct route_step detour_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct detour *x = of(r);
	const struct torus *t = x->torus;
	const uint16_t *y = x->coord[chip_of(x, p->dst)], *here;
	uint32_t minus = p->way >> MINUS_SHIFT & 0xff;
	struct route_step s = { .is_ordered = p->way >> ORDER_SHIFT & 1,
		.escape = PACKET_NO_PORT };
	port_mask safe;

	if (p->kind == PACKET_VECTOR)
		return grid_vector(t, p, at);
	if ((p->way >> NUMBER_SHIFT) != x->number || at == p->dst)
		return s;
	if (at < t->first) {
		s.ports = 1;
		s.escape = 0;
		return s;
	}
	here = x->coord[at - t->first];
	for (uint32_t k = 0; k < 2 * t->n_dims; k++) {
		uint32_t dir = direction_at(t, k), i = dir / 2;

		if (here[i] == y[i] || (minus >> i & 1) != dir % 2)
			continue;
		safe = safe_ports(x, at - t->first, dir);
		s.escape = pick(safe, p->way >> LINK_SHIFT & 0xffffff);
		if (!s.is_ordered && in < t->base[t->n_dims] &&
			safe >> (in ^ 1) & 1)
			s.escape = in ^ 1; /* straight on in its plane */
		s.ports = s.is_ordered ? (port_mask)1 << s.escape
				       : alive(x, at - t->first, dir);
		return s;
	}
	s.escape = t->base[t->n_dims] + p->dst % (uint32_t)t->nodes;
	s.ports = (port_mask)1 << s.escape;
	return s;
}

/* --- the proof --- */

enum { FROM_NODE = ORDER_DIRECTIONS, TO_NODE = ORDER_DIRECTIONS };

/* What follows what at each router: the directions behind one, a bit each. */
struct turns {
	const struct detour *x;
	uint16_t (*after)[ORDER_DIRECTIONS + 1];
	bool *has_links; /* [router] */
	struct route_walks *found;
};

/* All steps that any choice of ways could have: on in a direction, or from
 * one to any later one of the order, where links lead on. */
static void add_steps(const struct turns *w, router_id r)
{
	const struct torus *t = w->x->torus;
	uint16_t later = 1u << TO_NODE;

	for (uint32_t to = 2 * t->n_dims; to--;) {
		uint32_t dir = direction_at(t, to);

		if (*run_at(w->x, r, dir))
			later |= (uint16_t)(1u << dir);
		w->after[r][dir] = later;
	}
	w->after[r][FROM_NODE] = later;
}

/* Behind a link of one direction those of another may be asked for.  On a
 * closed plane packets wait for its next link; elsewhere the hash decides. */
static void add_turn(const struct turns *w, const struct route_graph *g,
	router_id r, uint32_t from, uint32_t to)
{
	const struct detour *x = w->x;
	const struct torus *t = x->torus;
	port_mask nodes = ((port_mask)1 << t->nodes) - 1, safe, m;
	router_id site = t->first + r;

	safe = to == TO_NODE ? nodes << t->base[t->n_dims]
			     : safe_ports(x, r, to);
	m = from == FROM_NODE ? nodes << t->base[t->n_dims]
			      : x->ports[from ^ 1] & ~x->dead[site];
	for (; m; m &= m - 1) {
		port_id in = (port_id)__builtin_ctzll(m);
		struct topo_end far = t->topo.ops->peer(&t->topo, site, in);
		bool is_straight = to != TO_NODE && from == to &&
				   *closed_at(x, r, to / 2) &&
				   safe >> (in ^ 1) & 1;

		if (far.router != NO_ROUTER)
			route_add(g, route_vertex(g, far.router, far.port, 0),
				is_straight ? (port_mask)1 << (in ^ 1) : safe,
				0);
	}
}

static bool has_links(const struct detour *x, router_id r)
{
	for (uint32_t d = 0; d < 2 * x->torus->n_dims; d++)
		if (alive(x, r, d) && next_router(x, r, d) != NO_ROUTER)
			return true;
	return false;
}

/*
 * Pairs without a way.  If a pair's shortest way, plus where both directions
 * are equally short, is whole, it has one.  If not, one of its legs is on a
 * ring that is used as a line, and the first such leg is found from there:
 * the dimensions of legs before it have the destination's coordinates, those
 * of later ones the source's.
 */
struct leg {
	const struct turns *w;
	uint32_t minus; /* directions of the whole way */
	uint32_t k, dim; /* the leg's place in the order */
	router_id ring; /* the first router of the leg's ring */
};

static uint32_t place_of(const struct torus *t, uint32_t dim, uint32_t minus)
{
	return (minus >> dim & 1) * t->n_dims + dim;
}

/* Whether it is the way that is looked at first. */
static bool is_first_choice(const struct leg *l, router_id src, router_id dst)
{
	const struct torus *t = l->w->x->torus;
	const uint16_t *a = l->w->x->coord[src], *b = l->w->x->coord[dst];

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t plus = hops(t, 2 * i, a[i], b[i]);
		bool is_minus = 2 * plus > t->dim[i];

		if (is_minus != (l->minus >> i & 1))
			return false;
	}
	return true;
}

/* Whether the first leg that is not whole is this one. */
static bool is_broken_first(const struct leg *l, router_id src, router_id dst)
{
	const struct detour *x = l->w->x;
	const struct torus *t = x->torus;
	router_id at = src;

	for (uint32_t k = 0; k <= l->k; k++) {
		uint32_t dir = direction_at(t, k), i = dir / 2, n;

		if ((l->minus >> i & 1) != dir % 2)
			continue;
		n = hops(t, dir, x->coord[at][i], x->coord[dst][i]);
		if (n && *run_at(x, at, dir) < n)
			return k == l->k;
		at += (x->coord[dst][i] - (uint32_t)x->coord[at][i]) *
		      t->stride[i];
	}
	return false;
}

static void look_at_pair(const struct leg *l, router_id src, router_id dst)
{
	const struct turns *w = l->w;
	uint64_t per = (uint64_t)w->x->torus->nodes;

	if (src == dst || !w->has_links[src] || !w->has_links[dst] ||
		!is_first_choice(l, src, dst) || !is_broken_first(l, src, dst))
		return;
	w->found->n_routes++;
	if (shortest(w->x, src, dst))
		return;
	if (!w->found->n_missing) {
		w->found->src = src * (uint32_t)per;
		w->found->dst = dst * (uint32_t)per;
	}
	w->found->n_missing += per * per;
}

/* All pairs whose leg it is: coordinates from a dimension on are free. */
static void look_from(
	const struct leg *l, uint32_t dim, router_id src, router_id dst)
{
	const struct torus *t = l->w->x->torus;

	/* never more dimensions than that, as compilers cannot know */
	if (dim == t->n_dims || dim == TORUS_MAX_DIMS) {
		look_at_pair(l, src, dst);
		return;
	}
	if (dim == l->dim) { /* both are on the ring */
		for (uint32_t y = 0; y < t->dim[dim] * t->dim[dim]; y++)
			look_from(l, dim + 1,
				src + y / t->dim[dim] * t->stride[dim],
				dst + y % t->dim[dim] * t->stride[dim]);
		return;
	}
	for (uint32_t y = 0; y < t->dim[dim]; y++) {
		bool is_done = place_of(t, dim, l->minus) < l->k;
		uint32_t fixed = torus_coord(t, l->ring, dim) * t->stride[dim];
		uint32_t free = y * t->stride[dim];

		look_from(l, dim + 1, src + (is_done ? free : fixed),
			dst + (is_done ? fixed : free));
	}
}

static void look_at_ring(const struct turns *w, router_id ring, uint32_t dim)
{
	const struct torus *t = w->x->torus;

	for (uint32_t minus = 0; minus < 1u << t->n_dims; minus++) {
		struct leg l = { w, minus, place_of(t, dim, minus), dim, ring };

		look_from(&l, 0, 0, 0);
	}
}

/* Whether a ring is one no more. */
static bool is_line(const struct detour *x, router_id r, uint32_t dim)
{
	return !*closed_at(x, r, dim) && x->torus->dim[dim] > 1;
}

static void detour_walk(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	const struct detour *x = of(r);
	const struct torus *t = x->torus;
	struct turns w = { .x = x,
		.after = mem_alloc(t->n, sizeof(*w.after)),
		.has_links = mem_alloc(t->n, sizeof(*w.has_links)),
		.found = found };

	for (router_id i = 0; i < t->n; i++)
		w.has_links[i] = has_links(x, i);
	for (uint32_t to = 0; to < t->n_dims; to++)
		for (router_id i = 0; i < t->n; i++)
			if (!torus_coord(t, i, to) && is_line(x, i, to))
				look_at_ring(&w, i, to);
	for (router_id i = 0; i < t->n; i++) {
		add_steps(&w, i);
		for (uint32_t from = 0; from <= FROM_NODE; from++)
			for (uint32_t to = 0; to <= TO_NODE; to++)
				if (w.after[i][from] >> to & 1)
					add_turn(&w, g, i, from, to);
	}
	mem_free(w.has_links);
	mem_free(w.after);
}

static const char *const channels[] = { "0" };

static const struct route_ops detour_ops = {
	.name = "order",
	.channels = channels,
	.n_channels = 1,
	.size = sizeof(struct detour),
	.fini = detour_fini,
	.start = detour_start,
	.next = detour_next,
	.walk = detour_walk,
};

struct route *order_around(
	const struct route *r, const port_mask *dead, uint32_t number)
{
	const struct order *o = (const struct order *)r;
	const struct torus *t = o->torus;
	struct detour *x;

	BUG_IF(!r->is_loaded);
	x = mem_alloc(1, sizeof(*x));
	x->route = *r;
	x->route.ops = &detour_ops;
	x->torus = t;
	x->coord = o->coord;
	x->number = 1 + number % NUMBERS;
	memcpy(x->ports, o->ports, sizeof(x->ports));
	x->dead = mem_alloc(t->topo.n_routers, sizeof(*x->dead));
	memcpy(x->dead, dead, t->topo.n_routers * sizeof(*x->dead));
	x->route.dead = x->dead;
	x->closed = mem_alloc(t->n, TORUS_MAX_DIMS * sizeof(*x->closed));
	x->run = mem_alloc(t->n, ORDER_DIRECTIONS * sizeof(*x->run));
	for (uint32_t dim = 0; dim < t->n_dims; dim++)
		for (router_id i = 0; i < t->n; i++)
			if (!torus_coord(t, i, dim))
				set_ring(x, i, dim);
	return &x->route;
}
