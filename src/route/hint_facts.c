/*
 * What follows from hint routing without running it.  All of it is exact, by
 * symmetry: in a torus what a way costs is a sum over dimensions, and what it
 * costs in one depends on the two coordinates there, and, half way round, on
 * the parity of the source's coordinates.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "route/hint.h"

#define NONE INT64_MAX

/*
 * Ways inside one dimension, by the parity of the whole source and by that
 * of its coordinate here.
 */
struct ways {
	int64_t min[2][2]; /* of those that lead elsewhere; or NONE */
	int64_t max[2][2]; /* 0 where all stay; -1 where no node is */
	double sum[2][2];
};

/* What the way from 0 up to x costs; [d] is once round a ring. */
static int64_t *sum_up(const struct torus *t, uint32_t dim, const int64_t *cost)
{
	uint32_t d = t->dim[dim], x;
	int64_t *up = mem_alloc(d + 1, sizeof(*up));

	for (x = 0; x < d; x++)
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
	enum hint_ties ties, const int64_t *up, uint32_t x, uint32_t y)
{
	uint32_t d = t->dim[dim], far = (y + d - x) % d, parity;
	bool is_ring = torus_is_ring(t, dim);
	bool plus = is_ring ? 2 * far < d : y > x;

	for (parity = 0; parity < 2; parity++) {
		if (!is_ring || 2 * far != d) {
			note(w, parity, x, go(up, d, x, y, plus), 1);
		} else if (ties == HINT_TIES_RANDOM) {
			note(w, parity, x, go(up, d, x, y, true), 0.5);
			note(w, parity, x, go(up, d, x, y, false), 0.5);
		} else {
			plus = ties == HINT_TIES_PLUS || !parity;
			note(w, parity, x, go(up, d, x, y, plus), 1);
		}
	}
}

static struct ways ways_in(const struct torus *t, uint32_t dim,
	enum hint_ties ties, const int64_t *cost)
{
	int64_t *up = sum_up(t, dim, cost), none = t->dim[dim] > 1 ? 0 : -1;
	struct ways w = {
		.min = { { NONE, NONE }, { NONE, NONE } },
		.max = { { 0, none }, { 0, none } },
	};
	uint32_t x, y;

	for (x = 0; x < t->dim[dim]; x++)
		for (y = 0; y < t->dim[dim]; y++)
			if (x != y)
				add_pair(&w, t, dim, ties, up, x, y);
	mem_free(up);
	return w;
}

/* Nodes of one coordinate in dim, by the parity of their other ones. */
static void count_others(const struct torus *t, uint32_t dim, double n[2])
{
	uint32_t i;

	n[0] = 1;
	n[1] = 0;
	for (i = 0; i < t->n_dims; i++) {
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
	uint32_t parity, x;

	count_others(t, dim, n);
	for (parity = 0; parity < 2; parity++)
		for (x = 0; x < 2; x++)
			sum += w->sum[parity][x] * n[parity ^ x];
	return sum * t->topo.n_routers / t->dim[dim];
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
	uint32_t q, p;

	for (q = 0; q < 2; q++) {
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
	uint32_t i;

	for (i = 0; i < n; i++) {
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

struct route_way hint_way(const struct route *r, const int64_t *cost)
{
	const struct hint *h = hint_of(r);
	const struct torus *t = h->torus;
	struct route_way f = { .min = NONE };
	double n = t->topo.n_routers;
	struct ways w[TORUS_MAX_DIMS];
	uint32_t i;

	if (t->topo.n_routers < 2)
		return (struct route_way){ 0 };
	for (i = 0; i < t->n_dims; i++) {
		w[i] = ways_in(t, i, (enum hint_ties)h->ties, cost);
		f.mean += sum_pairs(t, i, &w[i]);
	}
	f.mean /= n * (n - 1);
	combine(w, t->n_dims, 0, &f);
	combine(w, t->n_dims, 1, &f);
	return f;
}

/* --- what is said of it --- */

/* "ABC,D": zones in the order in which they are done. */
static void name_zones(
	const struct hint *h, uint32_t set, char text[ROUTE_TEXT])
{
	size_t n = 0;
	uint32_t z, d;

	for (z = 0; z < h->n_zones[set]; z++) {
		if (z)
			text[n++] = ',';
		for (d = 0; d < h->torus->n_dims; d++)
			if (h->mask[set][z] >> (2 * d) & 3)
				text[n++] = h->torus->letters[d];
	}
	text[n] = '\0';
	if (!n)
		strcpy(text, "none");
}

/* "ABCD": the deterministic order. */
static void name_order(const struct hint *h, char text[ROUTE_TEXT])
{
	uint32_t d;

	for (d = 0; d < h->torus->n_dims; d++)
		text[d] = h->torus->letters[h->dims[d]];
	text[d] = '\0';
}

void hint_describe(const struct route *r, FILE *f)
{
	const struct hint *h = hint_of(r);
	char text[ROUTE_TEXT];
	uint32_t i;

	name_order(h, text);
	fprintf(f, "routing     deterministic in the order %s\n", text);
	fprintf(f, "zones      ");
	for (i = 0; i < HINT_ZONE_SETS; i++) {
		name_zones(h, i, text);
		fprintf(f, "%s %u: %s", i ? ";" : "", i, text);
	}
	fprintf(f, "\nescape      %s\n",
		!h->escape  ? "none: dynamic packets can deadlock"
		: h->bubble ? "to the deterministic channel, bubble "
			      "rule"
			    : "to the deterministic channel, without "
			      "the bubble rule");
}

bool hint_fact(const struct route *r, uint32_t i, struct route_fact *f)
{
	const struct hint *h = hint_of(r);

	if (!i) {
		f->key = "order";
		name_order(h, f->text);
	} else if (i <= HINT_ZONE_SETS) {
		f->key = "zones";
		f->kind = ROUTE_FACT_LISTED;
		name_zones(h, i - 1, f->text);
	} else {
		f->kind = ROUTE_FACT_FLAG;
		f->key = i == HINT_ZONE_SETS + 1 ? "escape" : "bubble";
		f->flag = i == HINT_ZONE_SETS + 1 ? h->escape : h->bubble;
	}
	return i <= HINT_ZONE_SETS + 2;
}
