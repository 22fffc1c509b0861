#include "load/worst.h"

#include <string.h>

#include "base/mem.h"
#include "load/matching.h"

enum { MOST_CLASSES = 16384, FAR = UINT8_MAX };

/* Nodes of a class are at the same switch; in direct networks each is one. */
struct worst {
	const struct topo *topo;
	uint32_t n; /* classes */
	uint32_t *class; /* [node] */
	uint32_t *size; /* [class] */
	router_id *one; /* [class] a node of it */
	uint8_t *hops; /* [class][class] */
	/* of a search */
	uint8_t *far; /* [site] */
	router_id *list;
};

static void find_classes(struct worst *x)
{
	const struct topo *t = x->topo;
	bool is_direct = topo_is_direct(t);
	uint32_t *known = mem_alloc(t->n_routers, sizeof(*known));

	for (router_id i = 0; i < t->n_nodes; i++) {
		router_id at = is_direct ? i : t->ops->peer(t, i, 0).router;

		if (!known[at]) {
			x->one[x->n] = i;
			known[at] = ++x->n;
		}
		x->class[i] = known[at] - 1;
		x->size[x->class[i]]++;
	}
	mem_free(known);
}

/* Whether packets pass through a site on their way. */
static bool leads_on(const struct topo *t, router_id r)
{
	return topo_is_direct(t) ? r < t->n_nodes : r >= t->n_nodes;
}

/* Distances from a class to all others. */
static void measure(struct worst *x, uint32_t from)
{
	const struct topo *t = x->topo;
	uint32_t n = 1, at = 0;

	memset(x->far, FAR, t->n_routers);
	x->list[0] = x->one[from];
	x->far[x->list[0]] = 0;
	for (; at < n; at++) {
		router_id r = x->list[at];

		if (at && !leads_on(t, r))
			continue;
		for (port_id p = 0; p < t->n_ports; p++) {
			router_id to = t->ops->peer(t, r, p).router;

			if (to == NO_ROUTER || x->far[to] != FAR)
				continue;
			x->far[to] =
				(uint8_t)(x->far[r] + (x->far[r] < FAR - 1));
			x->list[n++] = to;
		}
	}
	for (uint32_t i = 0; i < x->n; i++)
		x->hops[(size_t)from * x->n + i] = x->far[x->one[i]];
}

/* A class's sources and its targets, both in the order of nodes. */
static void name_targets(
	const struct worst *x, const uint32_t *from, router_id *target)
{
	uint32_t n_nodes = x->topo->n_nodes, k = 0;
	router_id *next = mem_alloc(x->n, sizeof(*next));
	router_id *of = mem_alloc(n_nodes, sizeof(*of));

	for (uint32_t i = 0; i < x->n; k += x->size[i++])
		next[i] = k;
	for (router_id i = 0; i < n_nodes; i++)
		of[next[x->class[i]]++] = i;
	for (uint32_t i = x->n; i-- > 0;)
		next[i] -= x->size[i];
	for (k = 0; k < n_nodes; k++)
		target[of[next[from[k]]++]] = of[k];
	mem_free(next);
	mem_free(of);
}

int worst_targets(const struct topo *t, router_id *target, struct err *e)
{
	struct worst x = {
		.topo = t,
		.class = mem_alloc(t->n_nodes, sizeof(*x.class)),
		.size = mem_alloc(t->n_nodes, sizeof(*x.size)),
		.one = mem_alloc(t->n_nodes, sizeof(*x.one)),
		.far = mem_alloc(t->n_routers, sizeof(*x.far)),
		.list = mem_alloc(t->n_routers, sizeof(*x.list)),
	};
	uint32_t *from = mem_alloc(t->n_nodes, sizeof(*from));
	int failed = 0;

	find_classes(&x);
	if (x.n > MOST_CLASSES) {
		failed = err_set(e,
			"worst is for at most %d routers with nodes, not %u",
			MOST_CLASSES, x.n);
	} else {
		x.hops = mem_alloc((size_t)x.n * x.n, sizeof(*x.hops));
		for (uint32_t i = 0; i < x.n; i++)
			measure(&x, i);
		matching_find(x.hops, x.size, x.n, from);
		name_targets(&x, from, target);
	}
	mem_free(x.class);
	mem_free(x.size);
	mem_free(x.one);
	mem_free(x.hops);
	mem_free(x.far);
	mem_free(x.list);
	mem_free(from);
	return failed;
}
