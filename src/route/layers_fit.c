/* Which layer each path belongs to. */
#include <string.h>

#include "base/mem.h"
#include "route/acyclic.h"
#include "route/layers.h"

enum { MOST_LAYERS = 64, MOST_HOPS = 256 };

struct fitter {
	struct layers *l;
	struct acyclic layer[MOST_LAYERS];
	uint32_t n; /* of those that are used */
};

bool layers_fits(
	struct acyclic *g, const struct layers *l, struct layers_path path)
{
	uint32_t added[MOST_HOPS], n = 0, behind = UINT32_MAX;
	port_id ports[MOST_HOPS], port;

	while ((port = layers_port(l, &path)) != LAYERS_HERE) {
		if (behind != UINT32_MAX && !acyclic_has(g, behind, port, 0)) {
			if (!acyclic_add(g, behind, port, 0)) {
				while (n--)
					acyclic_remove(
						g, added[n], ports[n], 0);
				return false;
			}
			added[n] = behind;
			ports[n++] = port;
		}
		behind = layers_wire(l, path.at, port);
		layers_step(l, &path, port);
	}
	return true;
}

static uint32_t fit(struct fitter *f, struct layers_path path)
{
	uint32_t i;

	for (i = 0; i < f->n; i++)
		if (layers_fits(&f->layer[i], f->l, path))
			return i;
	if (i == MOST_LAYERS)
		return i;
	acyclic_init(&f->layer[f->n++], f->l->route.topo, 1);
	layers_fits(&f->layer[i], f->l, path);
	return i;
}

/* --- the tree that the rest uses --- */

/* Numbers switches from the first one on, the nearest first. */
static void set_ranks(struct layers *l)
{
	uint32_t *queue = mem_alloc(l->n, sizeof(*queue));
	uint32_t head = 0, tail = 0, next;

	l->rank = mem_alloc(l->n, sizeof(*l->rank));
	memset(l->rank, 0xff, l->n * sizeof(*l->rank));
	l->rank[0] = 0;
	queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (port_id p = 0; p < l->route.topo->n_ports; p++) {
			if (!layers_peer(l, at, p, &next) ||
				l->rank[next] != UINT32_MAX)
				continue;
			l->rank[next] = tail;
			queue[tail++] = next;
		}
	}
	mem_free(queue);
}

/* A search back from a switch along one direction of the tree. */
struct climb {
	uint8_t *port; /* [switch] the next port, or LAYERS_HERE */
	uint32_t *queue, n; /* switches that have one, and the last one */
};

/*
 * Gives a port to all switches without one from which a hop leads to one that
 * has: a hop down, from a lower rank to a higher one, or up.
 */
static void climb(
	const struct layers *l, struct climb *c, uint32_t to, bool is_down)
{
	const struct topo *t = l->route.topo;

	for (uint32_t head = 0; head < c->n; head++) {
		uint32_t at = c->queue[head], next;

		for (port_id p = 0; p < t->n_ports; p++) {
			if (!layers_peer(l, at, p, &next) || next == to ||
				c->port[next] != LAYERS_HERE ||
				(l->rank[next] < l->rank[at]) != is_down)
				continue;
			c->port[next] =
				(uint8_t)t->ops->peer(t, t->n_nodes + at, p)
					.port;
			c->queue[c->n++] = next;
		}
	}
}

/*
 * The shortest paths that go up and then down, back from a switch: first those
 * that only go down, then those that go up to one of these.
 */
static void set_over(struct layers *l, uint32_t to, uint32_t *queue)
{
	uint8_t *up = l->over + layers_entry(l, 0, to, 0);
	struct climb c = { .port = up, .queue = queue, .n = 1 };

	memset(up, LAYERS_HERE, l->n);
	queue[0] = to;
	climb(l, &c, to, true);
	memcpy(l->over + layers_entry(l, 1, to, 0), up, l->n);
	climb(l, &c, to, false);
}

static void make_tree(struct layers *l)
{
	uint32_t *queue = mem_alloc(l->n, sizeof(*queue));

	set_ranks(l);
	l->over = mem_alloc(2 * (size_t)l->n * l->n, 1);
	for (uint32_t to = 0; to < l->n; to++)
		set_over(l, to, queue);
	mem_free(queue);
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
	uint32_t most = (uint32_t)l->most, set, to, from, layer;
	bool can_overflow = l->overflow == LAYERS_UPDOWN;

	for (set = 0; set < l->n_sets; set++)
		for (to = 0; to < l->n; to++)
			for (from = 0; from < l->n; from++) {
				if (from == to)
					continue;
				layer = fit(f, layers_begin(l, set, from, to));
				/* the last layer is the tree's */
				if (can_overflow && layer >= most - 1) {
					layer = most - 1;
					l->n_over++;
				}
				l->layer[layers_entry(l, set, to, from)] =
					(uint8_t)layer;
			}
	return !can_overflow && f->n > most ? refuse(f, e) : 0;
}

int layers_fit(struct layers *l, struct err *e)
{
	struct fitter *f = mem_alloc(1, sizeof(*f));
	size_t n = (size_t)l->n * l->n * l->n_sets;
	int failed;

	f->l = l;
	l->layer = mem_alloc(n, 1);
	failed = fit_all(f, e);
	l->n_layers = f->n > (uint64_t)l->most ? (uint32_t)l->most : f->n;
	if (!failed && l->n_over)
		make_tree(l);
	for (uint32_t i = 0; i < f->n; i++)
		acyclic_fini(&f->layer[i]);
	mem_free(f);
	return failed;
}
