#include "topo/hyperx.h"

#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct hyperx, field)
#define LIST(name_, field_, def_, max_, help_, source_)                        \
	{                                                                      \
		.name = name_, .type = PARAM_COUNTS, .offset = AT(field_),     \
		.def = def_, .min = 1, .max = max_, .help = help_,             \
		.source = source_                                              \
	}

static const struct param params[] = {
	LIST("shape", shape, "8x8", TOPO_MAX_PORTS,
		"switches along each dimension, one to four",
		"assumed: an example"),
	LIST("links", links, "1", TOPO_MAX_PORTS,
		"parallel links between two switches, by dimension; one "
		"number: the same for all",
		"assumed: one"),
	PARAM_ROW(PARAM_COUNT, "per-router", AT(per_router), "8", 1,
		TOPO_MAX_PORTS, "number of nodes at each switch",
		"assumed: as many as positions along a dimension"),
	PARAM_ROW(PARAM_COUNT, "cable.switch", AT(length), "10", 1, 10000,
		"length of the cable between two switches, in metres",
		"assumed: a few racks"),
	SWITCHES_PARAMS,
};

static int set_shape(struct hyperx *t, struct err *e)
{
	uint64_t n = 1, ports = (uint64_t)t->per_router;

	t->n_dims = (uint32_t)t->shape.n;
	t->p = (uint32_t)t->per_router;
	if (!t->n_dims || t->n_dims > HYPERX_DIMS)
		return err_set(e, "topology.shape: want 1 to %d dimensions",
			HYPERX_DIMS);
	if (t->links.n != 1 && t->links.n != t->shape.n)
		return err_set(e,
			"topology.links: want one number, or one for each of "
			"%u dimensions",
			t->n_dims);
	for (uint32_t i = 0; i < t->n_dims; i++) {
		t->size[i] = (uint32_t)t->shape.v[i];
		t->stride[i] = (uint32_t)n;
		t->parallel[i] = (uint32_t)t->links.v[t->links.n > 1 ? i : 0];
		t->base[i] = (port_id)ports;
		ports += (uint64_t)(t->size[i] - 1) * t->parallel[i];
		n *= t->size[i];
	}
	if (ports > TOPO_MAX_PORTS)
		return err_set(e,
			"topology.shape: a switch would have %llu ports, more "
			"than the %d allowed",
			(unsigned long long)ports, TOPO_MAX_PORTS);
	if (n * (t->p + 1) > TOPO_MAX_ROUTERS)
		return err_set(e,
			"topology.shape: more than %d nodes and switches",
			TOPO_MAX_ROUTERS);
	return 0;
}

/* In this order the ports of each switch are in the order of positions. */
static void join_along(
	const struct hyperx *t, struct switches_plan *p, uint32_t dim)
{
	for (uint32_t s = 0; s < p->n; s++) {
		if (hyperx_place(t, s, dim))
			continue;
		for (uint32_t x = 0; x < t->size[dim]; x++)
			for (uint32_t y = x + 1; y < t->size[dim]; y++)
				switches_plan_join(p, s + x * t->stride[dim],
					s + y * t->stride[dim],
					t->parallel[dim], 0);
	}
}

static int hyperx_init(struct topo *topo, struct err *e)
{
	struct hyperx *t = (struct hyperx *)topo;
	struct switches_plan p = { .n_cables = 1,
		.cable = { { t->length, 0 } } };
	uint32_t n;

	if (set_shape(t, e))
		return -1;
	n = t->stride[t->n_dims - 1] * t->size[t->n_dims - 1];
	while (p.n < n)
		switches_plan_nodes(&p, t->p);
	for (uint32_t i = 0; i < t->n_dims; i++)
		join_along(t, &p, i);
	return switches_build(&t->switches, &p, "topology.shape", e);
}

static uint32_t hyperx_grid(
	const struct topo *topo, uint32_t size[TOPO_MAX_DIMS])
{
	const struct hyperx *t = hyperx_of(topo);

	memcpy(size, t->size, t->n_dims * sizeof(*size));
	return t->n_dims;
}

static void hyperx_places(
	const struct topo *topo, router_id node, uint32_t x[TOPO_MAX_DIMS])
{
	const struct hyperx *t = hyperx_of(topo);

	for (uint32_t i = 0; i < t->n_dims; i++)
		x[i] = hyperx_place(t, node / t->p, i);
}

static router_id hyperx_node_at(
	const struct topo *topo, const uint32_t x[TOPO_MAX_DIMS])
{
	const struct hyperx *t = hyperx_of(topo);
	uint32_t s = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		s += x[i] % t->size[i] * t->stride[i];
	return s * t->p;
}

static void hyperx_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct hyperx *t = hyperx_of(topo);
	int n = snprintf(text, size, "HyperX of ");

	for (uint32_t i = 0; i < t->n_dims && (size_t)n < size; i++)
		n += snprintf(text + n, size - (size_t)n, "%s%u", i ? "x" : "",
			t->size[i]);
}

/* Half of the positions along the dimension with the fewest links between. */
static struct topo_cut hyperx_cut(const struct topo *topo)
{
	const struct hyperx *t = hyperx_of(topo);
	struct topo_cut cut = { .links = UINT64_MAX };
	uint64_t n = t->switches.plan.n;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint64_t half = t->size[i] / 2, links;

		links = half * (t->size[i] - half) * t->parallel[i] *
			(n / t->size[i]);
		if (!links || links >= cut.links)
			continue;
		cut.links = links;
		snprintf(cut.where, sizeof(cut.where), "across dimension %u",
			i + 1);
	}
	cut.links = cut.links == UINT64_MAX ? 0 : cut.links;
	return cut;
}

const struct topo_ops hyperx_ops = {
	.name = "hyperx",
	.size = sizeof(struct hyperx),
	PARAMS(params),
	.shape_key = "shape",
	.routing = "hyperx",
	.init = hyperx_init,
	.name_shape = hyperx_name_shape,
	.grid = hyperx_grid,
	.place = hyperx_places,
	.node_at = hyperx_node_at,
	.cut = hyperx_cut,
	SWITCHES_OPS,
};
