/*
 * What the proof follows of UGAL.
 *
 * A packet's first part, on the first channel, depends on nothing but the
 * switch through which it goes, and its second part, on the second channel, on
 * nothing but its destination.  Both have the links of minimal packets on the
 * same channel, all of which are followed.  So what remains is the turn at each
 * switch, from the last link of a first part to the first link of a second: it
 * is followed from the switch that the one comes from to that which the other
 * leads to.  Where both are the same one, there is no such packet, but there
 * may be others that turn there, and all of them are followed.
 *
 * This holds around failed links, too: if a packet makes a turn, its two links
 * work, and a packet that has no others works, too.  Spare paths are added by
 * themselves.
 */
#include "route/hyperx.h"

struct walk {
	const struct hyperx *topo;
	struct follow *follow;
};

/* hints name a way: 1 and 2 are minimal, on either channel, and 3 + s leads
 * through switch s. */
enum { FIRST = 1, SECOND, THROUGH };

static void follow(
	const struct walk *w, uint32_t src, uint32_t dst, uint32_t hints)
{
	struct route_trip trip = { .src = src, .dst = dst, .hints = hints };

	if (src != dst)
		route_follow_one(w->follow, &trip);
}

/* From a node to one at each switch, and to all at its own. */
static void go_straight(const struct walk *w, uint32_t src)
{
	const struct hyperx *t = w->topo;
	uint32_t p = t->p, own = src / p;

	for (uint32_t i = 0; i < t->switches.plan.n; i++) {
		if (i == own)
			continue;
		follow(w, src, i * p + src % p, FIRST);
		follow(w, src, i * p + src % p, SECOND);
	}
	for (uint32_t i = 0; i < p; i++)
		follow(w, src, own * p + i, FIRST);
}

static void go_through(
	const struct walk *w, uint32_t from, uint32_t via, uint32_t to)
{
	if (from != to)
		follow(w, from * w->topo->p, to * w->topo->p, THROUGH + via);
}

/*
 * All that come to a switch by the link from its neighbour along a dimension,
 * and go back by it: lower dimensions are corrected before, and higher ones
 * behind.
 */
static void turn_back(
	const struct walk *w, uint32_t via, uint32_t dim, uint32_t near)
{
	const struct hyperx *t = w->topo;
	uint32_t low = t->stride[dim], high = low * t->size[dim];
	uint32_t n = t->switches.plan.n;

	for (uint32_t a = near - near % low, i = 0; i < low; i++)
		for (uint32_t b = near % high; b < n; b += high)
			go_through(w, a + i, via, b);
}

/* The switch at another position of a dimension. */
static uint32_t beside(
	const struct hyperx *t, uint32_t s, uint32_t dim, uint32_t to)
{
	return s + (to - hyperx_place(t, s, dim)) * t->stride[dim];
}

static void turn_on(const struct walk *w, uint32_t from, uint32_t via)
{
	const struct hyperx *t = w->topo;

	for (uint32_t i = 0; i < t->n_dims; i++)
		for (uint32_t x = 0; x < t->size[i]; x++)
			if (x != hyperx_place(t, via, i))
				go_through(w, from, via, beside(t, via, i, x));
}

static void turns_at(const struct walk *w, uint32_t via)
{
	const struct hyperx *t = w->topo;

	for (uint32_t i = 0; i < t->n_dims; i++)
		for (uint32_t x = 0; x < t->size[i]; x++) {
			uint32_t near = beside(t, via, i, x);

			if (near == via)
				continue;
			turn_on(w, near, via);
			turn_back(w, via, i, near);
		}
}

static void list(void *arg, struct follow *f)
{
	struct walk *w = arg;

	w->follow = f;
	for (uint32_t i = 0; i < w->topo->switches.topo.n_nodes; i++)
		go_straight(w, i);
	for (uint32_t i = 0; i < w->topo->switches.plan.n; i++)
		turns_at(w, i);
}

void hyperx_walk_ugal(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	struct walk w = { hyperx_route_of(r)->topo, NULL };

	route_follow_some(r, g, found, list, &w);
}
