/*
 * Feeds the reader of networks with anything, as lines of columns, as BookSim's
 * anynet and as DOT: it makes a network whose links lead back, or says why not
 * in one line.
 *
 *	fuzz_graph [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_graph"

#include "topo/graph.h"

#include "check.h"
#include "file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The other end's other end is this one. */
static void check_links(const struct topo *t, router_id r)
{
	struct topo_end far, back;

	for (port_id p = 0; p < t->n_ports; p++) {
		far = graph_ops.peer(t, r, p);
		if (far.router == NO_ROUTER)
			continue;
		check(far.router < t->n_routers && far.port < t->n_ports,
			"a link leads nowhere");
		back = graph_ops.peer(t, far.router, far.port);
		check(back.router == r && back.port == p,
			"a link does not lead back");
	}
}

static void check_network(const struct topo *t)
{
	check(t->n_nodes && t->n_ports <= TOPO_MAX_PORTS, "a wrong size");
	for (router_id r = 0; r < t->n_routers; r++)
		check_links(t, r);
}

static void read_as(const struct fuzz_file *f, enum graph_form form)
{
	struct graph g = {
		.switches = { .logic = 1, .delay = 1, .node_cable = 1 },
		.form = form,
		.per_router = 1,
		.length = 1,
		.cycle = 1
	};
	struct err e = { 0 };

	snprintf(g.edges, sizeof(g.edges), "%s", f->path);
	if (graph_ops.init(&g.switches.topo, &e))
		check_refusal(&e);
	else
		check_network(&g.switches.topo);
	graph_ops.fini(&g.switches.topo);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_file f;

	file_open(&f, data, size);
	for (int form = GRAPH_AUTO; form <= GRAPH_DOT; form++)
		read_as(&f, (enum graph_form)form);
	file_close(&f);
	return 0;
}

#ifndef WEFT_LIBFUZZER

#include "driver.h"

static const char *const seeds[] = {
	"s0,s1,2,5,100Gb/s\ns1,s2\nnode,s0,4\n",
	"x,y # the only one\n\nnode,x\n",
	"router 0 router 1 15 router 2 node 0 node 1\nrouter 1 node 2 5\n",
	"graph g {\n\ta -- b [label=\"x\", len=3];\n\tb -- c -- a;\n}\n",
	"strict digraph { a -> b; b -> a; /* both ways */ }",
};

static const char *const pieces[] = { "router", "node", "graph", "digraph",
	"strict", "{", "}", "--", "->", "[", "]", "=", ";", "\"", "\n", ",",
	"#", "//", "/*", "*/", "a", "s0", "1", "65", "4294967296", "-1", "0.5",
	"100Gb/s", " ", "\t", "\r", "\xff", "label", "subgraph" };

int main(int argc, char **argv)
{
	return fuzz_main(argc, argv, FUZZ_WORDS(seeds), FUZZ_WORDS(pieces));
}

#endif
