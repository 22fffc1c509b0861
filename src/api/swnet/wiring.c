/*
 * Cables that are plugged in wrong.  In a tree of switches with n ports down,
 * numbered by level, the cable from port j, counted from the first that leads
 * up, of switch i leads to switch i / (P R) * P U + j P + i % P and its port
 * i / P % R, where P is the number of switches above the same nodes at the
 * lower level, U the ports up, and R the ports down at the upper level.  The
 * manager does not know these numbers: it takes those that fit most cables.
 */
#include "api/swnet/manager.h"
#include "base/mem.h"

enum { MOST = 64, LEVELS = 8, SAMPLE = 1024 };

/* The rule between a level and the next one. */
struct rule {
	uint32_t paths; /* P */
	uint32_t first; /* port that leads up */
	uint32_t ups, downs; /* U, R */
};

/* A cable from below: of a place and port to another. */
struct plug {
	uint32_t level, number, port;
	uint32_t up_level, up_number, up_port;
	bool is_side;
};

static struct plug plug_of(
	const struct weft_swnet_map *map, const struct weft_swnet_cable *c)
{
	const struct weft_swnet_device *a = &map->device[c->device[0]];
	const struct weft_swnet_device *b = &map->device[c->device[1]];
	uint32_t low = a->level > b->level;
	const struct weft_swnet_device *lo = low ? b : a, *hi = low ? a : b;

	return (struct plug){ .level = lo->level,
		.number = lo->number,
		.port = c->port[low],
		.up_level = hi->level,
		.up_number = hi->number,
		.up_port = c->port[!low],
		.is_side = a->level == b->level };
}

static bool fits(const struct rule *r, const struct plug *p)
{
	uint32_t j = p->port - r->first, tree = p->number / r->paths;

	return p->up_level == p->level + 1 && j < r->ups &&
	       p->up_number == tree / r->downs * r->paths * r->ups +
				       j * r->paths + p->number % r->paths &&
	       p->up_port == tree % r->downs;
}

/* A node has a port for each rail, which all lead to one place. */
static bool fits_node(const struct rule *r, const struct plug *p)
{
	return p->up_level == 1 && p->up_number == p->number / r->downs &&
	       p->up_port == p->number % r->downs;
}

static bool fits_side(const struct rule *r, const struct plug *p)
{
	return p->up_number == ((p->number / r->paths) ^ 1) * r->paths +
				       p->number % r->paths &&
	       p->up_port == p->port;
}

static bool is_right(const struct rule *r, const struct plug *p)
{
	return p->is_side      ? fits_side(r, p)
	       : p->level == 0 ? fits_node(r, p)
			       : fits(r, p);
}

/* Some cables that go up from a level: enough to see the rule. */
struct sample {
	uint32_t n;
	struct plug plug[SAMPLE];
};

static void take_sample(
	const struct weft_swnet_map *map, uint32_t level, struct sample *x)
{
	x->n = 0;
	for (uint32_t i = 0; i < map->n_cables && x->n < SAMPLE; i++) {
		struct plug p = plug_of(map, &map->cable[i]);

		if (p.level == level && !p.is_side)
			x->plug[x->n++] = p;
	}
}

static uint32_t count_right(const struct sample *x, const struct rule *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++)
		n += is_right(r, &x->plug[i]);
	return n;
}

/* The numbers that fit most cables; of equals the smallest. */
static void find_rule(const struct sample *x, struct rule *r)
{
	struct rule best = *r, try = *r;
	uint32_t most = 0, n, top = x->n && x->plug[0].level ? MOST : 1;

	try.first = UINT32_MAX;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->plug[i].port < try.first)
			try.first = x->plug[i].port;
	for (try.downs = 1; x->n && try.downs <= MOST; try.downs++)
		for (try.ups = 1; try.ups <= top; try.ups++) {
			n = count_right(x, &try);
			if (n > most) {
				most = n;
				best = try;
			}
		}
	*r = best;
}

uint32_t weft_swnet_wrong(
	const struct weft_swnet_map *map, uint32_t *wrong, uint32_t most)
{
	struct rule rule[LEVELS];
	struct sample *x;
	uint32_t n = 0;

	if (!map || (!wrong && most))
		return 0;
	x = mem_alloc(1, sizeof(*x));
	for (uint32_t l = 0; l < LEVELS; l++) {
		rule[l] = (struct rule){ .paths = 1, .ups = 1, .downs = 1 };
		if (l > 1)
			rule[l].paths = rule[l - 1].paths * rule[l - 1].ups;
		take_sample(map, l, x);
		find_rule(x, &rule[l]);
	}
	mem_free(x);
	for (uint32_t i = 0; i < map->n_cables; i++) {
		struct plug p = plug_of(map, &map->cable[i]);

		if (p.level < LEVELS && is_right(&rule[p.level], &p))
			continue;
		if (n < most)
			wrong[n] = i;
		n++;
	}
	return n;
}
