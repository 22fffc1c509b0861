/*
 * Hint bits around failed links.
 *
 * The source gives a packet directions in which its path in the order of
 * dimensions works: round the other side of a ring where a link of the shorter
 * one has failed.  A dynamic packet takes only ports behind which the path in
 * the order of dimensions works, too; so it can always escape.  Packets still
 * go along each dimension once, in the order of dimensions where they escape,
 * and rings are entered by the bubble rule: nothing waits for more than before.
 *
 * Where all dimensions are lines, a pair whose path in the order of dimensions
 * does not work gets a spare path.  Its packets have hints that no others have,
 * and the number of their next hop where others have the hops that are left.
 *
 * On rings a pair has no way if those that it needs are cut on both sides: the
 * bubble rule allows no way back into an earlier dimension.
 */
#include <string.h>

#include "base/mem.h"
#include "route/hint.h"
#include "route/spare.h"

enum {
	ASIDE = 3, /* hints: both directions at once */
	PATIENCE = 64,
};

struct view {
	struct hint hint;
	uint16_t *run; /* [router][direction]: hops until a failed link */
	struct spare *spare; /* NULL: there are rings */
};

static const struct route_ops view_ops;

static const struct view *of(const struct route *r)
{
	return (const struct view *)r;
}

static uint32_t run_at(const struct view *v, router_id r, uint32_t dir)
{
	return v->run[(size_t)r * 2 * TORUS_MAX_DIMS + dir];
}

/* So many hops on in a direction. */
static router_id go_on(
	const struct torus *t, router_id r, uint32_t dir, uint32_t n)
{
	uint32_t i = dir / 2, d = t->dim[i], x = torus_coord(t, r, i);
	uint32_t y = (x + (dir % 2 ? d - n % d : n)) % d;

	return r + (y - x) * t->stride[i];
}

/* Whether the path in the order of dimensions works, for hints and hops that
 * are left. */
static bool works(
	const struct view *v, router_id at, uint32_t hints, const uint8_t *left)
{
	const struct torus *t = v->hint.torus;

	for (uint32_t k = 0; k < t->n_dims; k++) {
		uint32_t i = v->hint.dims[k], bits = hints >> 2 * i & 3;
		uint32_t dir = 2 * i + (bits == 2);

		if (!bits)
			continue;
		if (run_at(v, at, dir) < left[i])
			return false;
		at = go_on(t, at, dir, left[i]);
	}
	return true;
}

/* --- at the source --- */

/* A choice of directions, one bit for each dimension: minus. */
static void turn(const struct view *v, const struct packet *p, uint32_t minus,
	struct packet *q)
{
	const struct torus *t = v->hint.torus;
	const uint16_t *x = v->hint.coord[p->src], *y = v->hint.coord[p->dst];

	q->hints = 0;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t d = t->dim[i];
		uint32_t up = (y[i] + d - x[i]) % d;

		q->left[i] = (uint8_t)(up && minus >> i & 1 ? d - up : up);
		if (up)
			q->hints |=
				(uint16_t)((minus >> i & 1 ? 2u : 1u) << 2 * i);
	}
}

static uint32_t n_hops(const struct view *v, const struct packet *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->hint.torus->n_dims; i++)
		n += p->left[i];
	return n;
}

/* The shortest path in the order of dimensions that works; none: unchanged. */
static void go_round(const struct view *v, struct packet *p)
{
	uint32_t n = v->hint.torus->n_dims, least = UINT32_MAX;
	struct packet best = *p;

	for (uint32_t minus = 0; minus < 1u << n; minus++) {
		struct packet q = *p;

		turn(v, p, minus, &q);
		if (n_hops(v, &q) >= least ||
			!works(v, p->src, q.hints, q.left))
			continue;
		least = n_hops(v, &q);
		best = q;
	}
	*p = best;
}

static void set_hop(struct packet *p, uint32_t number)
{
	p->hints = ASIDE;
	memcpy(p->left, &number, sizeof(number));
}

static void view_start(const struct route *r, struct packet *p)
{
	const struct view *v = of(r);
	bool is_given = p->hints;
	uint32_t first;

	hint_ops.start(r, p);
	if (is_given || works(v, p->src, p->hints, p->left))
		return;
	first = v->spare ? spare_first(v->spare, p->src, p->dst) : 0;
	if (first)
		set_hop(p, first);
	else
		go_round(v, p);
}

/* --- on the way --- */

/* Whether a packet that leaves by a port can still escape. */
static bool leads(const struct view *v, const struct packet *p, router_id at,
	uint32_t port)
{
	uint8_t left[PACKET_DIMS];
	uint32_t hints = p->hints, i = port / 2;

	if (!run_at(v, at, port))
		return false;
	memcpy(left, p->left, sizeof(left));
	if (!--left[i])
		hints &= ~(3u << 2 * i);
	return works(v, go_on(v->hint.torus, at, port, 1), hints, left);
}

/* The next step on a spare path. */
static struct route_step step_aside(
	const struct view *v, struct packet *p, router_id at)
{
	struct route_step s = { .escape = PACKET_NO_PORT,
		.is_ordered = p->kind != PACKET_DYNAMIC };
	uint32_t number;

	memcpy(&number, p->left, sizeof(number));
	if (at != p->dst) {
		s.escape = spare_hop(v->spare, number).port;
		s.ports = (port_mask)1 << s.escape;
		set_hop(p, number + 1);
	}
	p->escape = (uint8_t)s.escape;
	p->ask = s.is_ordered ? 0 : (uint16_t)s.ports;
	return s;
}

static struct route_step view_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct view *v = of(r);
	struct route_step s;
	uint16_t good = 0;

	if (p->hints == ASIDE)
		return step_aside(v, p, at);
	s = hint_ops.next(r, p, at, in);
	route_look_up(r->tables, p);
	if (p->kind != PACKET_DYNAMIC || p->escape == PACKET_NO_PORT)
		return s;
	for (uint32_t m = p->ask; m; m &= m - 1)
		if (leads(v, p, at, (uint32_t)__builtin_ctz(m)))
			good = (uint16_t)(good | (m & -m));
	p->ask = (uint16_t)(good ? good : 1u << p->escape);
	s.ports = p->ask;
	return s;
}

/* --- set-up --- */

/* Hops until a failed link or an end, at most once round. */
static uint32_t count_run(
	const struct torus *t, const port_mask *dead, router_id r, uint32_t dir)
{
	const struct topo *topo = &t->topo;
	uint32_t n = 0;

	while (n < t->dim[dir / 2] && !(dead[r] >> dir & 1) &&
		topo->ops->peer(topo, r, (port_id)dir).router != NO_ROUTER) {
		r = topo->ops->peer(topo, r, (port_id)dir).router;
		n++;
	}
	return n;
}

/* --- spare paths --- */

static bool has_wire(const struct topo *t, router_id at, port_id port)
{
	return t->ops->peer(t, at, port).router != NO_ROUTER;
}

/* The number of a port's dimension in their order. */
static uint32_t turn_of(const struct hint *h, port_id port)
{
	uint32_t k = 0;

	while (h->dims[k] != port / 2)
		k++;
	return k;
}

/* The ports that packets in the order of dimensions take behind one. */
static port_mask ports_behind(const struct hint *h, router_id at, port_id port)
{
	const struct topo *t = &h->torus->topo;
	router_id next = t->ops->peer(t, at, port).router;
	port_mask all = (port_mask)1 << port, some = 0;

	for (uint32_t k = turn_of(h, port) + 1; k < h->torus->n_dims; k++)
		all |= (port_mask)3 << 2 * h->dims[k];
	for (; all; all &= all - 1)
		if (has_wire(t, next, (port_id)__builtin_ctzll(all)))
			some |= all & -all;
	return some;
}

/* What packets in the order of dimensions make wait, from any router to any
 * other.  Those that come from the dynamic channel make nothing else wait. */
static void walk_lines(const struct hint *h, const struct route_graph *g)
{
	const struct topo *t = &h->torus->topo;

	for (router_id at = 0; at < h->torus->n; at++)
		for (port_id p = 0; p < 2 * h->torus->n_dims; p++)
			if (has_wire(t, at, p))
				route_add(g, route_vertex(g, at, p, 0),
					ports_behind(h, at, p), 0);
}

/* NULL where there are rings, which close a cycle. */
static struct spare *first_spare(const struct hint *h)
{
	struct route_graph g;
	struct spare *s;

	if (h->torus->topo.n_io)
		return NULL;
	route_graph_init(&g, &h->torus->topo, 1);
	walk_lines(h, &g);
	s = spare_new(&g);
	if (s)
		spare_set_patience(s, PATIENCE);
	route_graph_fini(&g);
	return s;
}

/* Whether routers have the same coordinates in some dimensions of the order. */
static bool are_level(const struct hint *h, router_id a, router_id b,
	uint32_t first, uint32_t end)
{
	for (uint32_t k = first; k < end; k++)
		if (h->coord[a][h->dims[k]] != h->coord[b][h->dims[k]])
			return false;
	return true;
}

/* Whether a router is behind another one in a direction. */
static bool is_behind(
	const struct hint *h, router_id a, router_id b, port_id port)
{
	int32_t d = (int32_t)h->coord[a][port / 2] - h->coord[b][port / 2];

	return port % 2 ? d < 0 : d > 0;
}

/* Notes the routers to which paths from one lead over a failed link; whether
 * there may be some. */
static bool note_cut(const struct hint *h, router_id from,
	const struct topo_end *link, uint8_t *is_cut)
{
	uint32_t k = turn_of(h, link->port);

	if (is_behind(h, from, link->router, link->port) ||
		!are_level(h, from, link->router, k + 1, h->torus->n_dims))
		return false;
	for (router_id to = 0; to < h->torus->n; to++)
		is_cut[to] |= is_behind(h, to, link->router, link->port) &&
			      are_level(h, to, link->router, 0, k);
	return true;
}

static struct topo_end *list_failed(
	const struct torus *t, const port_mask *dead, uint32_t *n)
{
	struct topo_end *v = NULL;

	*n = 0;
	for (router_id r = 0; r < t->n; r++)
		for (port_mask m = dead[r]; m; m &= m - 1) {
			v = mem_more(v, *n, sizeof(*v));
			v[(*n)++] = (struct topo_end){ r,
				(port_id)__builtin_ctzll(m) };
		}
	return v;
}

/* A path for each pair that needs one, in the order of pairs. */
static void give_spare(const struct view *v, const port_mask *dead)
{
	const struct hint *h = &v->hint;
	uint32_t n = h->torus->n, n_failed;
	struct topo_end *failed = list_failed(h->torus, dead, &n_failed);
	uint8_t *is_cut = mem_alloc(n, 1);

	for (router_id from = 0; from < n; from++) {
		bool any = false;

		for (uint32_t i = 0; i < n_failed; i++)
			any |= note_cut(h, from, &failed[i], is_cut);
		for (router_id to = 0; any && to < n; to++)
			if (is_cut[to])
				spare_give(v->spare, dead, from, to);
		if (any)
			memset(is_cut, 0, n);
	}
	mem_free(is_cut);
	mem_free(failed);
}

bool hint_has_spare(const struct route *r)
{
	return r->ops == &view_ops && of(r)->spare;
}

void hint_walk_lines(const struct route *r, const struct route_graph *g)
{
	walk_lines(hint_of(r), g);
	if (hint_has_spare(r))
		spare_walk(of(r)->spare, g);
}

/* --- */

struct route *hint_avoid(const struct route *r, const port_mask *dead)
{
	struct view *v = mem_alloc(1, sizeof(*v));
	const struct torus *t = hint_of(r)->torus;

	if (r->ops == &hint_ops)
		v->spare = first_spare(hint_of(r));
	else if (hint_has_spare(r))
		v->spare = spare_copy(of(r)->spare);
	v->hint = *hint_of(r);
	v->hint.route.ops = &view_ops;
	v->run = mem_alloc((size_t)t->n * 2 * TORUS_MAX_DIMS, sizeof(*v->run));
	for (router_id i = 0; i < t->n; i++)
		for (uint32_t dir = 0; dir < 2 * t->n_dims; dir++)
			v->run[(size_t)i * 2 * TORUS_MAX_DIMS + dir] =
				(uint16_t)count_run(t, dead, i, dir);
	if (v->spare)
		give_spare(v, dead);
	return &v->hint.route;
}

/* All but what is its own belongs to the first routing. */
static void view_fini(struct route *r)
{
	mem_free(((struct view *)r)->run);
	spare_free(((struct view *)r)->spare);
}

static const struct route_ops view_ops = {
	.name = "hint",
	.size = sizeof(struct view),
	.fini = view_fini,
	.start = view_start,
	.next = view_next,
	.avoid = hint_avoid,
};
