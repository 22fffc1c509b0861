/* Which layer each path belongs to. */
#include <string.h>

#include "base/mem.h"
#include "route/turns.h"
#include "route/layers.h"

enum { MOST_LAYERS = 64, MOST_HOPS = 256 };

/* A turn is a wire and a port of the switch at its end. */
struct turn {
	uint32_t wire;
	port_id port;
};

struct layer {
	struct turns turns;
	/* [wire] ports of turns that would close a cycle: since no turn is ever
	 * taken out again, they always will */
	port_mask *never;
};

/* Layers, as bits, that have all turns of a path, and those into which one of
 * its turns does not fit. */
struct tail {
	uint64_t has, never;
};

struct fitter {
	struct layers *l;
	/* [switch] of the path of a tree from it, when it was last looked at:
	 * no turn is ever taken out, so a bit remains true */
	struct tail *tail;
	uint32_t *to; /* [switch] the end of that path */
	uint32_t *stack; /* switches */
	struct layer layer[MOST_LAYERS];
	uint32_t n; /* of those that are used */
	uint32_t most; /* that may be */
	struct turn turn[MOST_HOPS]; /* of a path */
	uint32_t n_turns;
};

static void list_turns(struct fitter *f, struct layers_path path)
{
	uint32_t behind = UINT32_MAX;
	port_id port;

	f->n_turns = 0;
	while ((port = layers_port(f->l, &path)) != LAYERS_HERE) {
		if (behind != UINT32_MAX)
			f->turn[f->n_turns++] = (struct turn){ behind, port };
		behind = layers_wire(f->l, path.at, port);
		layers_step(f->l, &path, port);
	}
}

/* Whether a turn closes a cycle by itself. */
static bool closes(struct layer *y, struct turn t)
{
	if (!turns_add(&y->turns, t.wire, t.port))
		return true;
	turns_remove(&y->turns, t.wire, t.port);
	return false;
}

/* Adds some turns, which are not there; false, without a change, if these would
 * close a cycle. */
static bool add_turns(struct layer *y, const struct turn *t, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = i;

		if (turns_add(&y->turns, t[i].wire, t[i].port))
			continue;
		while (k--)
			turns_remove(&y->turns, t[k].wire, t[k].port);
		if (!i || closes(y, t[i]))
			y->never[t[i].wire] |= (port_mask)1 << t[i].port;
		return false;
	}
	return true;
}

/* Adds the turns of the path to a layer; false, without a change, if it does
 * not fit. */
static bool fits(const struct fitter *f, struct layer *y)
{
	struct turn new[MOST_HOPS];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_turns; i++) {
		struct turn t = f->turn[i];

		if (y->never[t.wire] >> t.port & 1)
			return false;
		if (!turns_has(&y->turns, t.wire, t.port))
			new[n++] = t;
	}
	return add_turns(y, new, n);
}

static void open_layer(struct fitter *f)
{
	struct layer *y = &f->layer[f->n++];

	turns_init(&y->turns, f->l->route.topo);
	y->never = mem_alloc(y->turns.n, sizeof(*y->never));
}

/* A path that begins with a wire to a switch. */
static struct tail tail_by(
	const struct fitter *f, uint32_t wire, port_id port, struct tail rest)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct layer *y = &f->layer[i];
		uint64_t bit = UINT64_C(1) << i;

		if (!turns_has(&y->turns, wire, port))
			rest.has &= ~bit;
		if (y->never[wire] >> port & 1)
			rest.never |= bit;
	}
	return rest;
}

/* The path from a switch by a port, and then by a tree. */
static struct tail tail_from(const struct fitter *f, const uint8_t *tree,
	uint32_t to, uint32_t at, port_id port)
{
	uint32_t next;

	layers_peer(f->l, at, port, &next);
	if (next == to)
		return (struct tail){ .has = UINT64_MAX };
	return tail_by(
		f, layers_wire(f->l, at, port), tree[next], f->tail[next]);
}

/* Looks at the paths of a tree from a switch and from those after it. */
static void look(
	struct fitter *f, const uint8_t *tree, uint32_t to, uint32_t at)
{
	uint32_t n = 0;

	for (; at != to && f->to[at] != to;
		layers_peer(f->l, at, tree[at], &at))
		f->stack[n++] = at;
	while (n) {
		at = f->stack[--n];
		f->tail[at] = tail_from(f, tree, to, at, tree[at]);
		f->to[at] = to;
	}
}

/* What is known of a path. */
static struct tail tail_of(struct fitter *f, struct layers_path path)
{
	const struct layers *l = f->l;
	const uint8_t *tree = l->port + layers_entry(l, path.set, path.to, 0);
	port_id port = layers_port(l, &path);
	uint32_t next;

	look(f, tree, path.to, path.at);
	if (port == tree[path.at])
		return f->tail[path.at];
	layers_peer(l, path.at, port, &next);
	look(f, tree, path.to, next);
	return tail_from(f, tree, path.to, path.at, port);
}

/* The first layer into which a path fits, or the number of layers that there
 * may be. */
static uint32_t fit(struct fitter *f, struct layers_path path)
{
	struct tail t = tail_of(f, path);
	uint32_t i = 0;

	while (i < f->n && t.never >> i & 1)
		i++;
	if (i < f->n && t.has >> i & 1)
		return i;
	list_turns(f, path);
	for (; i < f->n; i++)
		if (fits(f, &f->layer[i]))
			return i;
	if (i == f->most)
		return i;
	open_layer(f);
	fits(f, &f->layer[i]);
	return i;
}

/* --- the tree that the rest uses --- */

/* A search back from a switch along one direction of the tree. */
struct climb {
	uint32_t *rank; /* [switch] paths go up to lower ones */
	uint8_t *port; /* [switch] the next port, or LAYERS_HERE */
	uint32_t *queue, n; /* switches that have one, and the last one */
};

/* Numbers switches from the first one on, the nearest first. */
static void set_ranks(const struct layers *l, struct climb *c)
{
	uint32_t head = 0, tail = 0;

	memset(c->rank, 0xff, l->n * sizeof(*c->rank));
	c->rank[0] = 0;
	c->queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = c->queue[head++], i;

		for (i = l->first_bundle[at]; i < l->first_bundle[at + 1];
			i++) {
			uint32_t next = l->list[i].to;

			if (c->rank[next] != UINT32_MAX)
				continue;
			c->rank[next] = tail;
			c->queue[tail++] = next;
		}
	}
}

/*
 * Gives a port to all switches without one from which a hop leads to one that
 * has: a hop down, from a lower rank to a higher one, or up.
 */
static void climb(
	const struct layers *l, struct climb *c, uint32_t to, bool is_down)
{
	for (uint32_t head = 0; head < c->n; head++) {
		uint32_t at = c->queue[head], i;

		for (i = l->first_bundle[at]; i < l->first_bundle[at + 1];
			i++) {
			uint32_t next = l->list[i].to;

			if (next == to || c->port[next] != LAYERS_HERE ||
				(c->rank[next] < c->rank[at]) != is_down)
				continue;
			c->port[next] = l->list[i].back;
			c->queue[c->n++] = next;
		}
	}
}

/*
 * The shortest paths that go up and then down, back from a switch: first those
 * that only go down, then those that go up to one of these.  A switch that is
 * reached by a hop down is one of the first, so the port depends on nothing
 * else.
 */
static void set_over(struct layers *l, struct climb *c, uint32_t to)
{
	c->port = l->over + layers_entry(l, 0, to, 0);
	memset(c->port, LAYERS_HERE, l->n);
	c->queue[0] = to;
	c->n = 1;
	climb(l, c, to, true);
	climb(l, c, to, false);
}

static void make_tree(struct layers *l)
{
	struct climb c = {
		.rank = mem_alloc(l->n, sizeof(*c.rank)),
		.queue = mem_alloc(l->n, sizeof(*c.queue)),
	};

	set_ranks(l, &c);
	l->over = mem_alloc((size_t)l->n * l->n, 1);
	for (uint32_t to = 0; to < l->n; to++)
		set_over(l, &c, to);
	mem_free(c.rank);
	mem_free(c.queue);
}

/* --- all --- */

static int refuse(const struct fitter *f, struct err *e)
{
	if (f->n == MOST_LAYERS)
		return err_set(e,
			"routing.layers: the paths need more than %d layers; "
			"want routing.overflow: updown",
			MOST_LAYERS - 1);
	return err_set(e,
		"routing.layers: the paths need %u layers, more than %lld; "
		"want fewer routing.paths, or routing.overflow: updown",
		f->n, (long long)f->l->most);
}

static int fit_all(struct fitter *f, struct err *e)
{
	struct layers *l = f->l;
	uint32_t set, to, from, layer;

	for (set = 0; set < l->n_sets; set++)
		for (to = 0; to < l->n; to++) {
			memset(f->to, 0xff, l->n * sizeof(*f->to));
			for (from = 0; from < l->n; from++) {
				if (from == to)
					continue;
				layer = fit(f, layers_begin(l, set, from, to));
				l->n_over += layer == f->most;
				l->layer[layers_entry(l, set, to, from)] =
					(uint8_t)layer;
			}
		}
	return f->n > (uint64_t)l->most ? refuse(f, e) : 0;
}

int layers_fit(struct layers *l, struct err *e)
{
	struct fitter *f = mem_alloc(1, sizeof(*f));
	size_t n = (size_t)l->n * l->n * l->n_sets;
	int failed;

	f->l = l;
	f->tail = mem_alloc(l->n, sizeof(*f->tail));
	f->to = mem_alloc(l->n, sizeof(*f->to));
	f->stack = mem_alloc(l->n, sizeof(*f->stack));
	/* the last layer is the tree's */
	f->most = l->overflow == LAYERS_UPDOWN ? (uint32_t)l->most - 1
					       : MOST_LAYERS;
	l->layer = mem_alloc(n, 1);
	failed = fit_all(f, e);
	l->n_layers = f->n + !!l->n_over;
	if (!failed && l->n_over)
		make_tree(l);
	for (uint32_t i = 0; i < f->n; i++) {
		turns_fini(&f->layer[i].turns);
		mem_free(f->layer[i].never);
	}
	mem_free(f->tail);
	mem_free(f->to);
	mem_free(f->stack);
	mem_free(f);
	return failed;
}
