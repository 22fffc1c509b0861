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
 * A pair has no way if the rings that it needs are cut on both sides, or are
 * lines.
 */
#include <string.h>

#include "base/mem.h"
#include "route/hint.h"

struct view {
	struct hint hint;
	uint16_t *run; /* [router][direction]: hops until a failed link */
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

static void view_start(const struct route *r, struct packet *p)
{
	const struct view *v = of(r);
	bool is_given = p->hints;

	hint_ops.start(r, p);
	if (!is_given && !works(v, p->src, p->hints, p->left))
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

static struct route_step view_next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	const struct view *v = of(r);
	struct route_step s = hint_ops.next(r, p, at, in);
	uint16_t good = 0;

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

struct route *hint_avoid(const struct route *r, const port_mask *dead)
{
	struct view *v = mem_alloc(1, sizeof(*v));
	const struct torus *t = hint_of(r)->torus;

	v->hint = *hint_of(r);
	v->hint.route.ops = &view_ops;
	v->run = mem_alloc((size_t)t->n * 2 * TORUS_MAX_DIMS, sizeof(*v->run));
	for (router_id i = 0; i < t->n; i++)
		for (uint32_t dir = 0; dir < 2 * t->n_dims; dir++)
			v->run[(size_t)i * 2 * TORUS_MAX_DIMS + dir] =
				(uint16_t)count_run(t, dead, i, dir);
	return &v->hint.route;
}

/* All but what is its own belongs to the first routing. */
static void view_fini(struct route *r)
{
	mem_free(((struct view *)r)->run);
}

static const struct route_ops view_ops = {
	.name = "hint",
	.size = sizeof(struct view),
	.fini = view_fini,
	.start = view_start,
	.next = view_next,
	.avoid = hint_avoid,
};
