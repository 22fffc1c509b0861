/*
 * What ways cost is exact, by symmetry: it is a sum over dimensions, and in
 * one it depends on the two coordinates there, and, half way round, on the
 * parity of the source's coordinates.
 */
#include "route/grid.h"

#include <ctype.h>

#include "base/mem.h"
#include "sim/random.h"

int grid_letter(const struct torus *t, char c)
{
	for (int i = 0; (uint32_t)i < t->n_dims; i++)
		if (tolower((unsigned char)t->letters[i]) ==
			tolower((unsigned char)c))
			return i;
	return -1;
}

grid_coord *grid_list(const struct torus *t)
{
	router_id n = t->n + t->topo.n_io, at;
	grid_coord *list = mem_alloc(n, sizeof(*list));

	for (router_id r = 0; r < n; r++) {
		uint32_t sum = 0;

		at = r < t->n ? r : torus_io_first(t, r);
		for (uint32_t i = 0; i < t->n_dims; i++) {
			list[r][i] = (uint16_t)torus_coord(t, at, i);
			sum += list[r][i];
		}
		list[r][GRID_PARITY] = sum & 1;
	}
	return list;
}

uint32_t grid_plus(
	enum grid_ties ties, uint32_t parity, uint32_t src, uint64_t lot)
{
	if (ties == GRID_TIES_RANDOM)
		return (uint32_t)random_draw(0, src, RANDOM_TIE, lot).a;
	return ties == GRID_TIES_PLUS || !parity ? UINT32_MAX : 0;
}

struct route_step grid_vector(
	const struct torus *t, struct packet *p, router_id at)
{
	struct route_step s = { .is_ordered = true };
	uint32_t n = p->way >> GRID_VECTOR_SHIFT & 0xff;
	const struct topo *topo = &t->topo;
	port_id port;

	if (at < t->first) {
		s.ports = 1; /* a node has one port */
		return s;
	}
	if (n >= p->bytes)
		return s;
	port = ((const uint8_t *)(uintptr_t)p->load)[n];
	p->way += UINT64_C(1) << GRID_VECTOR_SHIFT;
	if (port >= topo->n_ports ||
		topo->ops->peer(topo, at, port).router == NO_ROUTER)
		return s;
	s.escape = port;
	s.ports = (port_mask)1 << port;
	return s;
}

/* --- what ways cost --- */

#define NONE INT64_MAX

/*
 * Ways inside one dimension, by the parity of the whole source and by that
 * of its coordinate here.
 */
struct ways {
	int64_t min[2][2]; /* of those that lead elsewhere; or NONE */
	int64_t max[2][2]; /* 0 where all stay; -1 where no router is */
	double sum[2][2];
};

/* What the way from 0 up to x costs; [d] is once round a ring. */
static int64_t *sum_up(const struct torus *t, uint32_t dim, const int64_t *cost)
{
	uint32_t d = t->dim[dim];
	int64_t *up = mem_alloc(d + 1, sizeof(*up));

	for (uint32_t x = 0; x < d; x++)
		up[x + 1] =
			up[x] + (torus_has_wire_up(t, dim, x)
						? cost[torus_wire_up(t, dim, x)]
						: 0);
	return up;
}

static int64_t go(
	const int64_t *up, uint32_t d, uint32_t x, uint32_t y, bool plus)
{
	int64_t way = plus ? up[y] - up[x] : up[x] - up[y];

	return way < 0 ? way + up[d] : way;
}

static void note(
	struct ways *w, uint32_t parity, uint32_t x, int64_t way, double weight)
{
	if (way < w->min[parity][x & 1])
		w->min[parity][x & 1] = way;
	if (way > w->max[parity][x & 1])
		w->max[parity][x & 1] = way;
	w->sum[parity][x & 1] += weight * (double)way;
}

static void add_pair(struct ways *w, const struct torus *t, uint32_t dim,
	enum grid_ties ties, const int64_t *up, uint32_t x, uint32_t y)
{
	uint32_t d = t->dim[dim], far = (y + d - x) % d, parity;
	bool is_ring = torus_is_ring(t, dim);
	bool plus = is_ring ? 2 * far < d : y > x;

	for (parity = 0; parity < 2; parity++) {
		if (!is_ring || 2 * far != d) {
			note(w, parity, x, go(up, d, x, y, plus), 1);
		} else if (ties == GRID_TIES_RANDOM) {
			note(w, parity, x, go(up, d, x, y, true), 0.5);
			note(w, parity, x, go(up, d, x, y, false), 0.5);
		} else {
			plus = ties == GRID_TIES_PLUS || !parity;
			note(w, parity, x, go(up, d, x, y, plus), 1);
		}
	}
}

static struct ways ways_in(const struct torus *t, uint32_t dim,
	enum grid_ties ties, const int64_t *cost)
{
	int64_t *up = sum_up(t, dim, cost), none = t->dim[dim] > 1 ? 0 : -1;
	struct ways w = {
		.min = { { NONE, NONE }, { NONE, NONE } },
		.max = { { 0, none }, { 0, none } },
	};

	for (uint32_t x = 0; x < t->dim[dim]; x++)
		for (uint32_t y = 0; y < t->dim[dim]; y++)
			if (x != y)
				add_pair(&w, t, dim, ties, up, x, y);
	mem_free(up);
	return w;
}

/* Routers of one coordinate in dim, by the parity of their other ones. */
static void count_others(const struct torus *t, uint32_t dim, double n[2])
{
	n[0] = 1;
	n[1] = 0;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		double odd = t->dim[i] / 2, even = t->dim[i] - odd;
		double was = n[0];

		if (i == dim)
			continue;
		n[0] = was * even + n[1] * odd;
		n[1] = was * odd + n[1] * even;
	}
}

/* The sum over all pairs of what they cost in one dimension. */
static double sum_pairs(
	const struct torus *t, uint32_t dim, const struct ways *w)
{
	double n[2], sum = 0;

	count_others(t, dim, n);
	for (uint32_t parity = 0; parity < 2; parity++)
		for (uint32_t x = 0; x < 2; x++)
			sum += w->sum[parity][x] * n[parity ^ x];
	return sum * t->n / t->dim[dim];
}

/* The best so far, by the parity of the coordinates so far. */
struct best {
	int64_t most[2]; /* -1 where no source is of that parity */
	int64_t least[2]; /* of ways that lead elsewhere; or NONE */
};

/* Takes the sources on whose coordinate in one more dimension is of x. */
static void widen(struct best *to, const struct best *from,
	const struct ways *w, uint32_t parity, uint32_t x)
{
	uint32_t p;

	for (uint32_t q = 0; q < 2; q++) {
		p = q ^ x;
		if (w->max[parity][x] < 0 || from->most[q] < 0)
			continue;
		if (from->most[q] + w->max[parity][x] > to->most[p])
			to->most[p] = from->most[q] + w->max[parity][x];
		if (from->least[q] < to->least[p])
			to->least[p] = from->least[q]; /* no step here */
		if (w->min[parity][x] < to->least[p])
			to->least[p] = w->min[parity][x]; /* only here */
	}
}

/*
 * The dearest and the cheapest way, dimension by dimension, over sources of
 * one parity, which the coordinates' parities must come out as.
 */
static void combine(
	const struct ways *w, uint32_t n, uint32_t parity, struct route_way *f)
{
	struct best b = { .most = { 0, -1 }, .least = { NONE, NONE } };

	for (uint32_t i = 0; i < n; i++) {
		struct best next = { { -1, -1 }, { NONE, NONE } };

		widen(&next, &b, &w[i], parity, 0);
		widen(&next, &b, &w[i], parity, 1);
		b = next;
	}
	if (b.most[parity] > f->max)
		f->max = b.most[parity];
	if (b.least[parity] < f->min)
		f->min = b.least[parity];
}

static struct route_way between_routers(
	const struct torus *t, enum grid_ties ties, const int64_t *cost)
{
	struct route_way f = { .min = NONE };
	struct ways w[TORUS_MAX_DIMS];

	for (uint32_t i = 0; i < t->n_dims; i++) {
		w[i] = ways_in(t, i, ties, cost);
		f.mean += sum_pairs(t, i, &w[i]);
	}
	combine(w, t->n_dims, 0, &f);
	combine(w, t->n_dims, 1, &f);
	return f;
}

struct route_way grid_way(
	const struct torus *t, enum grid_ties ties, const int64_t *cost)
{
	double n = t->topo.n_nodes, per = t->nodes ? (double)t->nodes : 1;
	uint32_t down = t->topo.n_wires - 1;
	int64_t ends = t->nodes ? cost[down - 1] + cost[down] : 0;
	struct route_way f;

	if (n < 2)
		return (struct route_way){ 0 };
	f = between_routers(t, ties, cost);
	f.mean = f.mean * per * per / (n * (n - 1)) + (double)ends;
	f.min = (t->nodes > 1 ? 0 : f.min) + ends;
	f.max += ends;
	return f;
}
