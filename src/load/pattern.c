#include "load/pattern.h"

#include "base/bits.h"
#include "base/mem.h"
#include "load/worst.h"
#include "sim/random.h"

/* Bits of a node number, or -1 where the count is no power of two. */
static int node_bits(site_id n)
{
	return n & (n - 1) ? -1 : __builtin_ctz(n);
}

static site_id transposed(site_id i, uint32_t bits)
{
	uint32_t half = bits / 2, low = i & ((1u << half) - 1);

	return low << half | i >> half;
}

/* Almost half way round each dimension, to the node of the same number at
 * its router. */
static site_id around(const struct topo *t, site_id i)
{
	uint32_t x[TOPO_MAX_DIMS], size[TOPO_MAX_DIMS];
	uint32_t n = t->ops->grid(t, size);
	site_id first;

	t->ops->place(t, i, x);
	first = t->ops->node_at(t, x);
	for (uint32_t k = 0; k < n; k++)
		x[k] = (x[k] + (size[k] + 1) / 2 - 1) % size[k];
	return t->ops->node_at(t, x) + (i - first);
}

static void shuffle(site_id *a, site_id n, uint64_t seed)
{
	for (site_id i = 0; i < n; i++)
		a[i] = i;
	for (site_id i = n; i > 1; i--) {
		uint64_t bits = random_draw(seed, i, RANDOM_PATTERN, 0).a;
		site_id j = (site_id)random_below(bits, i), x = a[j];

		a[j] = a[i - 1];
		a[i - 1] = x;
	}
}

static site_id fixed_target(const struct pattern *p, site_id i)
{
	switch (p->kind) {
	case PATTERN_TRANSPOSE:
		return transposed(i, (uint32_t)node_bits(p->n));
	case PATTERN_REVERSE:
		return bits_reversed(i, (uint32_t)node_bits(p->n));
	case PATTERN_TORNADO:
		return around(p->topo, i);
	default:
		/* in a torus, the complement of each coordinate */
		return p->n - 1 - i;
	}
}

/* Routers along the dimension of a shift. */
static uint32_t n_along(const struct pattern *p)
{
	uint32_t size[TOPO_MAX_DIMS];
	uint32_t n = p->topo->ops->grid ? p->topo->ops->grid(p->topo, size) : 0;

	return p->along >= 1 && p->along <= n ? size[p->along - 1] : 0;
}

static int check_shift(const struct pattern *p, struct err *e)
{
	uint32_t n = n_along(p);

	if (!p->topo->ops->grid)
		return err_set(e,
			"router-shift needs routers in a box: a torus, a mesh "
			"or a HyperX");
	if (!n)
		return err_set(e, "along: there is no dimension %u", p->along);
	if (p->by % n == 0)
		return err_set(e,
			"by: a shift by %u routers ends at the same one, since "
			"there are %u along dimension %u",
			p->by, n, p->along);
	return 0;
}

/* The last one may have fewer nodes. */
static uint32_t n_groups(const struct pattern *p)
{
	return (p->n - 1) / p->topo->ops->group(p->topo) + 1;
}

static int check(const struct pattern *p, struct err *e)
{
	const char *whole = p->kind == PATTERN_TORNADO	      ? "tornado"
			    : p->kind == PATTERN_NEIGHBOUR    ? "neighbours"
			    : p->kind == PATTERN_GROUP_SHIFT  ? "group-shift"
			    : p->kind == PATTERN_ROUTER_SHIFT ? "router-shift"
			    : p->kind == PATTERN_WORST	      ? "worst"
							      : NULL;
	int bits = node_bits(p->n);

	if (p->n < 2)
		return err_set(e, "this pattern needs at least two nodes");
	if (p->kind == PATTERN_TRANSPOSE && (bits < 0 || bits % 2))
		return err_set(e,
			"transpose needs a power of four as the number of "
			"nodes, not %u",
			p->n);
	if (p->kind == PATTERN_REVERSE && bits < 0)
		return err_set(e,
			"bit-reversal needs a power of two as the number of "
			"nodes, not %u",
			p->n);
	if (whole && p->kind < PATTERN_COMPLEMENT && !p->topo->ops->grid)
		return err_set(e, "%s needs a torus or a mesh", whole);
	if (p->kind == PATTERN_ROUTER_SHIFT && check_shift(p, e))
		return -1;
	if (p->kind == PATTERN_GROUP_SHIFT && !p->topo->ops->group)
		return err_set(e, "%s needs a network of groups", whole);
	if (whole && p->is_part)
		return err_set(e, "%s needs the whole machine", whole);
	if (p->kind == PATTERN_GROUP_SHIFT && p->by % n_groups(p) == 0)
		return err_set(e,
			"by: a shift by %u groups ends in the same group, "
			"since there %s %u",
			p->by, n_groups(p) == 1 ? "is" : "are", n_groups(p));
	if ((p->kind == PATTERN_HOTSPOT || p->kind == PATTERN_INCAST) &&
		p->hot >= p->n)
		return err_set(e,
			"hot: node %u is out of range, since the machine has "
			"%u nodes, counted from 0",
			p->hot, p->n);
	return 0;
}

/*
 * The k-th wire's far end, passing over ports without a wire.  Where nodes are
 * not routers: of the node's router, and there the node of the same number.
 */
static site_id neighbour(const struct pattern *p, site_id from, uint64_t k)
{
	const struct topo *t = p->topo;
	bool is_direct = topo_is_direct(t);
	router_id at = is_direct ? from : t->ops->peer(t, from, 0).router;
	uint32_t n = topo_ports(t), i;

	for (i = 0; i < n; i++) {
		port_id port = (port_id)((k + i) % n);
		router_id r = t->ops->peer(t, at, port).router;

		if (r == NO_ROUTER || r == at)
			continue;
		if (is_direct)
			return r;
		if (r >= t->n_nodes)
			return t->ops->home(t, r) + from - t->ops->home(t, at);
	}
	return NO_SITE;
}

int pattern_init(
	struct pattern *p, const struct topo *t, uint64_t seed, struct err *e)
{
	bool sends = false;

	p->topo = t;
	p->n = p->n ? p->n : t->n_nodes;
	if (check(p, e))
		return -1;
	if (p->kind == PATTERN_NEIGHBOUR && neighbour(p, 0, 0) == NO_SITE)
		return err_set(e, "neighbours: no node of this machine has a "
				  "neighbour (want several routers)");
	if (p->kind == PATTERN_RANDOM || p->kind == PATTERN_NEIGHBOUR ||
		p->kind >= PATTERN_HOTSPOT)
		return 0;
	p->target = mem_alloc(p->n, sizeof(*p->target));
	if (p->kind == PATTERN_WORST && worst_targets(t, p->target, e))
		return -1;
	if (p->kind == PATTERN_PERMUTATION)
		shuffle(p->target, p->n, seed);
	else if (p->kind != PATTERN_WORST)
		for (site_id i = 0; i < p->n; i++)
			p->target[i] = fixed_target(p, i);
	for (site_id i = 0; i < p->n; i++) {
		if (p->target[i] == i)
			p->target[i] = NO_SITE;
		else
			sends = true;
	}
	if (sends)
		return 0;
	return err_set(e, "in this shape the pattern maps every node to "
			  "itself, so no node would send");
}

void pattern_fini(struct pattern *p)
{
	mem_free(p->target);
}

static site_id in_group(const struct pattern *p, site_id from, uint64_t bits)
{
	uint32_t size = p->topo->ops->group(p->topo);
	uint64_t group = (uint64_t)from / size + p->by;
	uint32_t first = (uint32_t)(group % n_groups(p)) * size;

	if (size > p->n - first)
		size = p->n - first;
	return first + (site_id)random_below(bits, size);
}

static site_id at_router(const struct pattern *p, site_id from, uint64_t bits)
{
	uint32_t x[TOPO_MAX_DIMS], size[TOPO_MAX_DIMS];
	uint32_t n = p->topo->ops->grid(p->topo, size), nodes = p->n;
	uint32_t along = p->along - 1;

	for (uint32_t i = 0; i < n; i++)
		nodes /= size[i];
	p->topo->ops->place(p->topo, from, x);
	x[along] = (x[along] + p->by) % size[along];
	return p->topo->ops->node_at(p->topo, x) +
	       (site_id)random_below(bits, nodes);
}

site_id pattern_special(
	const struct pattern *p, site_id from, uint64_t k, uint64_t bits)
{
	if (p->target)
		return p->target[from];
	if (p->kind == PATTERN_NEIGHBOUR)
		return neighbour(p, from, k);
	if (p->kind == PATTERN_MATRIX)
		return matrix_sum(p->matrix, from)
			       ? matrix_draw(p->matrix, from, bits)
			       : NO_SITE;
	if (p->kind == PATTERN_GROUP_SHIFT)
		return in_group(p, from, bits);
	if (p->kind == PATTERN_ROUTER_SHIFT)
		return at_router(p, from, bits);
	if (p->kind == PATTERN_INCAST)
		return from == p->hot ? NO_SITE : p->hot;
	if (p->kind == PATTERN_HOTSPOT && from != p->hot &&
		random_below(bits * UINT64_C(0x9e3779b97f4a7c15), 1000000) <
			p->share_ppm)
		return p->hot;
	return pattern_any(p->n, from, bits);
}
