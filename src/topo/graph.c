#include "topo/graph.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define AT(field) offsetof(struct graph, field)

static const struct param params[] = {
	{ .name = "edges",
		.type = PARAM_PATH,
		.offset = AT(edges),
		.def = "none",
		.help = "file with the edges: lines FROM,TO[,LINKS[,METRES"
			"[,RATE]]] and node,SWITCH[,NODES], BookSim's anynet, "
			"or DOT" },
	PARAM_ONE_OF("form", AT(form), "auto", "auto|columns|anynet|dot",
		"form of the file; auto: by its name (.dot, .gv, .anynet), "
		"else columns",
		NULL),
	{ .name = "random",
		.type = PARAM_COUNTS,
		.offset = AT(random),
		.def = "0",
		.min = 0,
		.max = TOPO_MAX_ROUTERS,
		.help = "switches, links of each, and seed of a random "
			"network, if there is no file",
		.source = NULL },
	PARAM_ROW(PARAM_COUNT, "per-router", AT(per_router), "4", 1,
		TOPO_MAX_PORTS,
		"number of nodes at each switch, if the file has no lines for "
		"nodes",
		"assumed: an example"),
	PARAM_ROW(PARAM_COUNT, "cable.switch", AT(length), "10", 1, 10000,
		"length of the cable between two switches, in metres, if the "
		"file has none",
		"assumed: a few racks"),
	PARAM_ROW(PARAM_COUNT, "cable.cycle", AT(cycle), "1", 1, 10000,
		"length of a cable, in metres, for each cycle of latency in an "
		"anynet file",
		"assumed: 5 ns, a clock of 200 MHz"),
	SWITCHES_PARAMS,
};

/* Nodes at all switches, if the file says nothing of them. */
static void add_nodes(const struct graph *t, struct switches_plan *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->nodes[i])
			return;
	for (uint32_t i = 0; i < p->n; i++)
		p->nodes[i] = (uint32_t)t->per_router;
}

static int draw(const struct graph *t, struct switches_plan *p, struct err *e)
{
	const int64_t *v = t->random.v;

	if (t->random.n != 3 || v[1] < 2 || v[1] >= v[0] ||
		v[1] + t->per_router > TOPO_MAX_PORTS)
		return err_set(e,
			"topology.random: want three numbers: switches, links "
			"of each (2 to one less than switches, and with its "
			"nodes at most %d), and a seed",
			TOPO_MAX_PORTS);
	if (v[0] > SWITCHES_TABLE)
		return err_set(e,
			"topology.random: %lld switches are more than the %d "
			"that routes are computed for",
			(long long)v[0], SWITCHES_TABLE);
	switches_plan_cable(p, (struct switches_cable){ t->length, 0 });
	while (p->n < v[0])
		switches_plan_nodes(p, (uint32_t)t->per_router);
	graph_draw(p, (uint32_t)v[1], (uint64_t)v[2]);
	return 0;
}

static int graph_init(struct topo *topo, struct err *e)
{
	struct graph *t = (struct graph *)topo;
	struct switches_plan p = { 0 };
	bool has_file = *t->edges && strcmp(t->edges, "none") != 0;
	int failed;

	if (!has_file && (!t->random.n || !t->random.v[0]))
		return err_set(e, "topology.edges: want a file with edges, or "
				  "topology.random: [switches, links, seed]");
	failed = has_file ? graph_read(t, &p, e) : draw(t, &p, e);
	if (failed) {
		switches_plan_fini(&p);
		return -1;
	}
	add_nodes(t, &p);
	topo->has_given_names = has_file;
	return switches_build(
		&t->switches, &p, has_file ? t->edges : "topology.random", e);
}

static void graph_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct switches *s = switches_of(topo);

	snprintf(text, size, "network of %u switch%s", s->plan.n,
		s->plan.n > 1 ? "es" : "");
}

const struct topo_ops graph_ops = {
	.name = "graph",
	.size = sizeof(struct graph),
	PARAMS(params),
	.shape_key = "random",
	.routing = "layers",
	.init = graph_init,
	.name_shape = graph_name_shape,
	SWITCHES_OPS,
};
