/*
 * Random regular graphs, in the way of Jellyfish (Singla et al., NSDI 2012):
 * two switches with free ports that are not neighbours are joined, until there
 * are none; what is left takes the place of an edge.
 */
#include "base/mem.h"
#include "sim/random.h"
#include "topo/graph.h"

struct drawing {
	uint32_t n, degree;
	uint64_t seed, count; /* of what was drawn */
	uint32_t *to; /* [switch][degree] */
	uint32_t *has; /* [switch] neighbours */
	uint32_t *open; /* switches with free ports */
	uint32_t n_open;
};

static uint32_t any(struct drawing *d, uint64_t n)
{
	return (uint32_t)random_below(
		random_draw(d->seed, 0, RANDOM_PATTERN, d->count++).a, n);
}

static bool are_joined(const struct drawing *d, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < d->has[a]; i++)
		if (d->to[(size_t)a * d->degree + i] == b)
			return true;
	return false;
}

static void join_one(struct drawing *d, uint32_t a, uint32_t b)
{
	d->to[(size_t)a * d->degree + d->has[a]++] = b;
}

static void part_one(struct drawing *d, uint32_t a, uint32_t b)
{
	uint32_t *to = d->to + (size_t)a * d->degree;

	while (*to != b)
		to++;
	*to = d->to[(size_t)a * d->degree + --d->has[a]];
}

static void join(struct drawing *d, uint32_t a, uint32_t b)
{
	join_one(d, a, b);
	join_one(d, b, a);
}

static void list_open(struct drawing *d)
{
	d->n_open = 0;
	for (uint32_t i = 0; i < d->n; i++)
		if (d->has[i] < d->degree)
			d->open[d->n_open++] = i;
}

/* Joins two open switches; false where all of them are neighbours. */
static bool join_two(struct drawing *d)
{
	uint32_t a, b, tries = 4 * d->n_open + 16;

	while (tries--) {
		a = d->open[any(d, d->n_open)];
		b = d->open[any(d, d->n_open)];
		if (a == b || are_joined(d, a, b))
			continue;
		join(d, a, b);
		if (d->has[a] == d->degree || d->has[b] == d->degree)
			list_open(d);
		return true;
	}
	for (uint32_t i = 0; i < d->n_open; i++)
		for (uint32_t k = i + 1; k < d->n_open; k++)
			if (!are_joined(d, d->open[i], d->open[k])) {
				join(d, d->open[i], d->open[k]);
				list_open(d);
				return true;
			}
	return false;
}

/*
 * Takes out an edge of two others, and joins one of its ends to a, the other to
 * b: two switches that are neighbours, or one with two free ports.  False if no
 * such edge was found.
 */
static bool put_into_edge(struct drawing *d, uint32_t a, uint32_t b)
{
	for (uint32_t tries = 64 * d->n; tries--;) {
		uint32_t c = any(d, d->n), e;

		if (!d->has[c])
			continue;
		e = d->to[(size_t)c * d->degree + any(d, d->has[c])];
		if (c == a || c == b || e == a || e == b ||
			are_joined(d, a, c) || are_joined(d, b, e))
			continue;
		part_one(d, c, e);
		part_one(d, e, c);
		join(d, a, c);
		join(d, b, e);
		list_open(d);
		return true;
	}
	return false;
}

/* Finds a place for free ports of switches that are all neighbours. */
static bool use_two(struct drawing *d)
{
	for (uint32_t i = 0; i < d->n_open; i++)
		if (d->degree - d->has[d->open[i]] > 1)
			return put_into_edge(d, d->open[i], d->open[i]);
	return d->n_open > 1 && put_into_edge(d, d->open[0], d->open[1]);
}

/* Marks what can be reached from switch 0. */
static void reach(struct drawing *d, uint8_t *is_seen, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	for (uint32_t i = 0; i < d->n; i++)
		is_seen[i] = 0;
	is_seen[0] = 1;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (uint32_t i = 0; i < d->has[at]; i++) {
			uint32_t to = d->to[(size_t)at * d->degree + i];

			if (is_seen[to])
				continue;
			is_seen[to] = 1;
			queue[tail++] = to;
		}
	}
}

/* Joins the parts that are separate, by edges that change partners: all
 * switches keep their number of links. */
static void make_whole(struct drawing *d)
{
	uint8_t *is_seen = mem_alloc(d->n, 1);
	uint32_t *queue = mem_alloc(d->n, sizeof(*queue));

	for (;;) {
		uint32_t far = 0, near, a, b;

		reach(d, is_seen, queue);
		while (far < d->n && is_seen[far])
			far++;
		if (far == d->n)
			break;
		do
			near = any(d, d->n);
		while (!is_seen[near]);
		a = d->to[(size_t)near * d->degree + any(d, d->has[near])];
		b = d->to[(size_t)far * d->degree + any(d, d->has[far])];
		part_one(d, near, a);
		part_one(d, a, near);
		part_one(d, far, b);
		part_one(d, b, far);
		join(d, near, far);
		join(d, a, b);
	}
	mem_free(queue);
	mem_free(is_seen);
}

void graph_draw(struct switches_plan *p, uint32_t degree, uint64_t seed)
{
	struct drawing d = { .n = p->n, .degree = degree, .seed = seed };

	d.to = mem_alloc((size_t)d.n * degree, sizeof(*d.to));
	d.has = mem_alloc(d.n, sizeof(*d.has));
	d.open = mem_alloc(d.n, sizeof(*d.open));
	list_open(&d);
	while (d.n_open && (join_two(&d) || use_two(&d)))
		;
	make_whole(&d);
	for (uint32_t a = 0; a < d.n; a++)
		for (uint32_t i = 0; i < d.has[a]; i++)
			if (a < d.to[(size_t)a * degree + i])
				switches_plan_join(p, a,
					d.to[(size_t)a * degree + i], 1, 0);
	mem_free(d.open);
	mem_free(d.has);
	mem_free(d.to);
}
