/*
 * Global links from a file: a line GROUP,ROUTER,GROUP,ROUTER for each, with the
 * numbers of groups and of routers in them.  The links of a router take its
 * global ports in the order of the lines; those between two groups are numbered
 * in this order, too.
 */
#include <stdlib.h>

#include "base/fields.h"
#include "base/mem.h"
#include "topo/dragonfly.h"

#define NONE UINT32_MAX

struct ends {
	uint32_t group, router; /* of one end */
};

struct reader {
	struct dragonfly *t;
	struct dragonfly_links *l;
	struct fields in;
	struct ends (*line)[2];
	size_t n;
	uint32_t *pairs; /* [group][group] links so far */
};

static size_t pair_of(const struct dragonfly *t, uint32_t from, uint32_t to)
{
	return (size_t)from * t->g + to;
}

static int read_number(struct reader *r, const char *text, uint32_t end,
	const char *wrong, uint32_t *to)
{
	char *rest;
	unsigned long v = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || v >= end)
		return fields_wrong(&r->in, wrong, text);
	*to = (uint32_t)v;
	return 0;
}

static int read_end(struct reader *r, char *const *field, struct ends *x)
{
	return read_number(
		       r, field[0], r->t->g, "there is no group", &x->group) ||
			       read_number(r, field[1], r->t->a,
				       "a group has no router", &x->router)
		       ? -1
		       : 0;
}

static int read_line(struct reader *r)
{
	struct dragonfly_links *l = r->l;
	struct ends *x;
	uint32_t *n;

	if (r->in.n != 4)
		return fields_wrong(&r->in,
			"want GROUP,ROUTER,GROUP,ROUTER of a global link",
			NULL);
	r->line = mem_more(r->line, r->n, sizeof(*r->line));
	x = r->line[r->n++];
	if (read_end(r, r->in.field, &x[0]) ||
		read_end(r, r->in.field + 2, &x[1]))
		return -1;
	if (x[0].group == x[1].group)
		return fields_wrong(&r->in,
			"a global link joins two groups, not one with itself",
			NULL);
	for (uint32_t i = 0; i < 2; i++) {
		n = &l->n[x[i].group * r->t->a + x[i].router];
		if (++*n > r->t->h)
			return fields_wrong(&r->in,
				"a router of this line has more links than "
				"topology.global",
				NULL);
		r->pairs[pair_of(r->t, x[i].group, x[1 - i].group)]++;
	}
	return 0;
}

/* All pairs of groups have as many links. */
static int check_pairs(struct reader *r, struct err *e)
{
	struct dragonfly *t = r->t;

	t->m = t->g > 1 ? r->pairs[pair_of(t, 0, 1)] : 0;
	for (uint32_t a = 0; a < t->g; a++)
		for (uint32_t b = 0; b < t->g; b++)
			if (a != b &&
				(r->pairs[pair_of(t, a, b)] != t->m || !t->m))
				return err_set(e,
					"%s: groups %u and %u are joined by %u "
					"links, groups 0 and 1 by %u (want as "
					"many for all, at least one)",
					r->in.path, a, b,
					r->pairs[pair_of(t, a, b)], t->m);
	if (t->between && t->between != t->m)
		return err_set(e,
			"topology.between: %lld links, but %s joins two groups "
			"by %u",
			(long long)t->between, r->in.path, t->m);
	return 0;
}

/* The number in its group of the next link of a router. */
static uint32_t take(struct reader *r, const struct ends *x)
{
	return x->router * r->t->h + r->l->n[x->group * r->t->a + x->router]++;
}

static void place_links(struct reader *r)
{
	struct dragonfly *t = r->t;
	struct dragonfly_links *l = r->l;
	size_t per = (size_t)t->a * t->h;

	l->far = mem_alloc(t->g * per, sizeof(*l->far));
	l->way = mem_alloc((size_t)t->g * t->g * t->m, sizeof(*l->way));
	for (size_t i = 0; i < t->g * per; i++)
		l->far[i].group = NONE;
	for (uint32_t i = 0; i < t->g * t->a; i++)
		l->n[i] = 0;
	for (size_t i = 0; i < (size_t)t->g * t->g; i++)
		r->pairs[i] = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct ends *x = r->line[i];
		uint32_t q[2] = { take(r, &x[0]), take(r, &x[1]) };

		for (uint32_t k = 0; k < 2; k++) {
			size_t pair = pair_of(t, x[k].group, x[1 - k].group);

			l->far[x[k].group * per + q[k]] =
				(struct dragonfly_link){ x[1 - k].group,
					q[1 - k] };
			l->way[pair * t->m + r->pairs[pair]++] = q[k];
		}
	}
}

/* The two routers of a group with the most links together. */
static void find_most(const struct dragonfly *t, struct dragonfly_links *l)
{
	for (uint32_t g = 0; g < t->g; g++) {
		uint32_t first = 0, second = 0;

		for (uint32_t i = 0; i < t->a; i++) {
			uint32_t n = l->n[g * t->a + i];

			if (n > first) {
				second = first;
				first = n;
			} else if (n > second) {
				second = n;
			}
		}
		if (first + second > l->most)
			l->most = first + second;
	}
}

static int read_lines(struct reader *r, struct err *e)
{
	int got;

	while ((got = fields_next(&r->in)) > 0)
		if (read_line(r))
			return -1;
	if (got < 0 || check_pairs(r, e))
		return -1;
	place_links(r);
	find_most(r->t, r->l);
	return 0;
}

int dragonfly_links_read(struct dragonfly *t, struct err *e)
{
	struct reader r = { .t = t };
	int failed;

	if (fields_open(&r.in, t->wiring, e))
		return -1;
	t->links = r.l = mem_alloc(1, sizeof(*r.l));
	r.l->n = mem_alloc((size_t)t->g * t->a, sizeof(*r.l->n));
	r.pairs = mem_alloc((size_t)t->g * t->g, sizeof(*r.pairs));
	t->each = t->h;
	t->more = 0;
	failed = read_lines(&r, e);
	fields_close(&r.in);
	mem_free(r.line);
	mem_free(r.pairs);
	return failed;
}

void dragonfly_links_free(struct topo *topo)
{
	struct dragonfly *t = (struct dragonfly *)topo;

	if (!t->links)
		return;
	mem_free(t->links->far);
	mem_free(t->links->way);
	mem_free(t->links->n);
	mem_free(t->links);
	t->links = NULL;
}
