#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "testing/testing.h"
#include "topo/graph.h"
#include "topo/topo_testing.h"

static void fresh(struct graph *t)
{
	memset(t, 0, sizeof(*t));
	t->switches.topo.ops = &graph_ops;
	topo_defaults(&t->switches.topo);
}

static int read_text(
	struct graph *t, enum graph_form form, const char *text, struct err *e)
{
	int fd = memfd_create("edges", 0), failed;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	fresh(t);
	t->form = form;
	snprintf(t->edges, sizeof(t->edges), "/proc/self/fd/%d", fd);
	failed = graph_ops.init(&t->switches.topo, e);
	close(fd);
	return failed;
}

static void make(struct graph *t, enum graph_form form, const char *text)
{
	struct err e = { 0 };

	if (read_text(t, form, text, &e) || topo_look(&t->switches.topo, &e))
		fail_msg("%s", e.text);
}

/* Nodes of each switch, then its neighbours, by name: "a3 b b c; b1 a a; ". */
static void assert_is(const struct graph *t, const char *want)
{
	const struct switches *s = &t->switches;
	char text[512] = "", part[64], name[SWITCHES_NAME];

	for (uint32_t i = 0; i < s->plan.n; i++) {
		switches_name(s, i, name, sizeof(name));
		snprintf(part, sizeof(part), "%s%u", name, s->plan.nodes[i]);
		strcat(text, part);
		for (port_id p = s->plan.nodes[i]; p < s->topo.n_ports; p++) {
			struct topo_end far =
				switches_peer(&s->topo, s->topo.n_nodes + i, p);

			if (far.router == NO_ROUTER)
				continue;
			switches_name(s, far.router - s->topo.n_nodes, name,
				sizeof(name));
			strcat(text, " ");
			strcat(text, name);
		}
		strcat(text, "; ");
	}
	assert_string_equal(text, want);
}

/* NET-F21 */
static void three_forms_are_read(void **state)
{
	struct graph t;

	make(&t, GRAPH_COLUMNS,
		"From,To,Links\n# switches\na, b ,2\r\nb,c\nnode,a,3\n"
		"node,b\nnode,b\nc,a,,5");
	assert_is(&t, "a3 b b c; b2 a a c; c0 b a; ");
	assert_int_equal(t.switches.topo.n_nodes, 5);
	switches_fini(&t.switches.topo);
	make(&t, GRAPH_ANYNET,
		"router 0 node 0 node 1 router 1 15 router 2\n"
		"router 2 router 0 node 7\nrouter 1 node 2 router 0 15\n");
	assert_is(&t, "r02 r1 r2; r11 r0; r21 r0; ");
	switches_fini(&t.switches.topo);
	make(&t, GRAPH_DOT,
		"strict graph \"g\" { node [nodes=2, shape=box]; // two\n"
		"edge [metres=3] a -- \"b\" -- c [links=2];\n"
		"/* three\n */ a [nodes=3]\n c -> a [color=\"red\"];; }");
	assert_is(&t, "a3 b b c; b2 a a c c; c2 b b a; ");
	assert_int_equal(t.switches.plan.cable[0].metres, 3);
	switches_fini(&t.switches.topo);
}

/* NET-F21: marks, quotes, and properties that are for pictures. */
static void files_of_other_programs_are_read(void **state)
{
	struct graph t;

	make(&t, GRAPH_COLUMNS,
		"\xef\xbb\xbf\"From\",\"To\",\"Links\"\r\n"
		"\"a\", \"b\" ,\"2\"\r\n\"node\",\"a\",3\r\nnode,b\r\n");
	assert_is(&t, "a3 b b; b1 a a; ");
	switches_fini(&t.switches.topo);
	make(&t, GRAPH_DOT,
		"digraph { rankdir=LR; size = \"7,5\" node [nodes=1]\n"
		"a:e -> b:p:w [label=\"the \\\"first\\\\\", x=-.5]; }\n// end");
	assert_is(&t, "a1 b; b1 a; ");
	switches_fini(&t.switches.topo);
}

/* NET-F21: all that may be said of an edge, and what else is the default. */
static void edges_have_cables_of_their_own(void **state)
{
	const struct topo_wire *w;
	struct graph t;

	make(&t, GRAPH_COLUMNS, "a,b\nb,c,1,4\nc,d,1,4,25 GB/s\nd,a,3,10\n");
	w = t.switches.topo.wire;
	assert_int_equal(t.switches.topo.n_wires, SWITCHES_CABLE + 3);
	assert_int_equal(w[SWITCHES_CABLE].latency, 150000);
	assert_int_equal(w[SWITCHES_CABLE + 1].latency, 120000);
	assert_int_equal(w[SWITCHES_CABLE + 1].rate, 0);
	assert_int_equal(w[SWITCHES_CABLE + 2].rate, INT64_C(25000000000));
	assert_int_equal(switches_links(&t.switches.topo, SWITCHES_CABLE), 4);
	/* without lines for nodes, four at each switch */
	assert_int_equal(t.switches.topo.n_nodes, 16);
	switches_fini(&t.switches.topo);
	make(&t, GRAPH_ANYNET, "router 0 node 0 router 1 15\n");
	assert_int_equal(t.switches.plan.cable[0].metres, 15);
	switches_fini(&t.switches.topo);
}

static void a_switch_without_nodes_has_the_nearest_home(void **state)
{
	struct graph t;

	make(&t, GRAPH_COLUMNS, "node,a,2\na,b\nb,c\nc,d\nnode,d,1\n");
	assert_int_equal(switches_home(&t.switches.topo, 3 + 0), 0);
	assert_int_equal(switches_home(&t.switches.topo, 3 + 1), 0);
	assert_int_equal(switches_home(&t.switches.topo, 3 + 2), 2);
	assert_int_equal(switches_distance(&t.switches.topo, 0, 2), 5);
	assert_int_equal(switches_distance(&t.switches.topo, 0, 1), 2);
	switches_fini(&t.switches.topo);
}

static void is_refused(enum graph_form form, const char *text, const char *what)
{
	struct err e = { 0 };
	struct graph t;

	assert_int_equal(read_text(&t, form, text, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
	switches_fini(&t.switches.topo);
}

/* NET-F21 */
static void bad_columns_are_refused(void **state)
{
	is_refused(GRAPH_COLUMNS, "", "no switches");
	is_refused(GRAPH_COLUMNS, "a\n", ":1: want FROM,TO");
	is_refused(GRAPH_COLUMNS, "a,b\na,b,1\n", ":2: these switches");
	is_refused(GRAPH_COLUMNS, "a,b\nb,a\n", ":2: these switches");
	is_refused(GRAPH_COLUMNS, "a,a\n", "to itself");
	is_refused(GRAPH_COLUMNS, "a,b,0\n", "parallel links, 1 to 64");
	is_refused(GRAPH_COLUMNS, "a,b,1,x\n", "length in metres");
	is_refused(GRAPH_COLUMNS, "a,b,1,1,fast\n", "rate such as");
	is_refused(GRAPH_COLUMNS, "a,\n", "name of a switch is missing");
	is_refused(GRAPH_COLUMNS, "a,b\nc,d\n",
		"no path leads from switch a to switch c");
	is_refused(GRAPH_COLUMNS, "a,b,62\n", "switch a would have 66 ports");
	is_refused(GRAPH_COLUMNS, "node,a,64\nnode,a\n", "more than 64 nodes");
	is_refused(GRAPH_COLUMNS, "node,a,1,2\n", "want node,SWITCH");
	is_refused(GRAPH_COLUMNS,
		"a,b,1,1\na,c,1,2\na,d,1,3\na,e,1,4\na,f,1,5\na,g,1,6\n"
		"a,h,1,7\na,i,1,8\na,j,1,9\na,k,1,11\na,l,1,12\na,m,1,13\n",
		":12: too many kinds");
	is_refused(GRAPH_COLUMNS, "a,b,1,1,1 GB/s,x,y,z,w\n", "too many");
	is_refused(GRAPH_COLUMNS, "a,b\nb,c,1,1,999 kB/s\n",
		":2: want a rate such as 400 Gb/s, 1 MB/s to 1000 GB/s, not");
	is_refused(GRAPH_COLUMNS, "a,b,1,1,1001 GB/s\n", "to 1000 GB/s, not");
	is_refused(GRAPH_COLUMNS, "leaf,top\nnode,leaf\n# all\nnode,laef,4\n",
		":4: no link joins switch laef to others; "
		"did you mean leaf?");
	is_refused(GRAPH_COLUMNS, "a,b\n\"b,c\n", ":2: a text in quotes");
	is_refused(GRAPH_COLUMNS, "\"a\"b,c\n", "not one column: \"a\"");
	is_refused(GRAPH_COLUMNS, "a\"1,b\n", ":1: want a name of letters");
	is_refused(GRAPH_COLUMNS, "node,z\na,b\n",
		":1: no link joins switch z to others");
}

static void bad_files_of_others_are_refused(void **state)
{
	is_refused(GRAPH_ANYNET, "switch 0\n", "want router or node");
	is_refused(GRAPH_ANYNET, "node 0\n", "begins with router");
	is_refused(GRAPH_ANYNET, "router 0 router\n", "missing behind");
	is_refused(GRAPH_ANYNET, "router 0, node 1\n", "no commas");
	is_refused(GRAPH_ANYNET, "router 0 node 1\nrouter 1 node 1 router 0\n",
		":2: a node is named for the second time: \"1\"");
	is_refused(GRAPH_DOT, "", "want graph");
	is_refused(GRAPH_DOT, "graph {", "want a switch or }");
	is_refused(GRAPH_DOT, "graph { a -- }", ":1: want the name");
	is_refused(GRAPH_DOT, "graph {\n a - b }", ":2: want --");
	is_refused(GRAPH_DOT, "graph { a -- b [links] }", "want =");
	is_refused(GRAPH_DOT, "graph { a -- b [links=0] }", "1 to 64");
	is_refused(GRAPH_DOT, "graph { subgraph x { a } }", "subgraphs");
	is_refused(GRAPH_DOT, "graph { \"a", "no end");
	is_refused(GRAPH_DOT, "graph { /* a", "comment has no end");
	is_refused(GRAPH_DOT, "graph { a -- b -- a }", "joined already");
	is_refused(GRAPH_DOT, "graph { a -- b [links=-1] }", "not \"-1\"");
	is_refused(GRAPH_DOT, "graph { a = }", "want a value, not \"}\"");
	is_refused(GRAPH_DOT, "graph { a: -- b }", "want the place");
	is_refused(GRAPH_DOT, "graph { a -- b", "not \"the end\"");
	is_refused(GRAPH_DOT, "graph {\n\"a b\"\n -- c }", ":2: want a name");
	is_refused(GRAPH_DOT, "graph { a -- b } graph { c }", "one graph");
	is_refused(
		GRAPH_DOT, "graph {\na -- b [rate=\"1 B/s\"] }", ":2: want a");
	is_refused(GRAPH_DOT, "graph {\nspine -- b;\nspin [nodes=4] }",
		":3: no link joins switch spin to others; "
		"did you mean spine?");
}

/* As many links at each switch, none twice, and all connected. */
static void assert_regular(uint32_t n, uint32_t degree, uint64_t seed)
{
	struct err e = { 0 };
	struct graph t;
	uint32_t ends = 0;

	fresh(&t);
	t.per_router = 1;
	t.random = (struct param_list){ 3, { n, degree, (int64_t)seed } };
	if (graph_ops.init(&t.switches.topo, &e) ||
		topo_look(&t.switches.topo, &e))
		fail_msg("%s", e.text);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t seen[4] = { 0 };

		for (port_id p = 1; p < t.switches.topo.n_ports; p++) {
			struct topo_end far =
				switches_peer(&t.switches.topo, n + i, p);

			if (far.router == NO_ROUTER)
				continue;
			assert_true(far.router - n < 256);
			assert_int_not_equal(far.router, n + i);
			assert_false(seen[(far.router - n) / 64] >>
					     (far.router - n) % 64 &
				     1);
			seen[(far.router - n) / 64] |= UINT64_C(1)
						       << (far.router - n) % 64;
			ends++;
		}
	}
	assert_int_equal(ends, n * degree - n * degree % 2);
	switches_fini(&t.switches.topo);
}

/* NET-F22 */
static void random_graphs_are_regular_and_connected(void **state)
{
	for (uint32_t n = 3; n < 12; n++)
		for (uint32_t degree = 2; degree < n; degree++)
			for (uint64_t seed = 1; seed < 6; seed++)
				assert_regular(n, degree, seed);
	assert_regular(245, 11, 1);
	assert_regular(100, 2, 7);
}

/* NET-F22: three draws; 2.554 is the mean of such graphs. */
static void distances_of_random_graphs_are_known(void **state)
{
	for (int64_t seed = 1; seed < 4; seed++) {
		struct err e = { 0 };
		struct graph t;

		fresh(&t);
		t.random = (struct param_list){ 3, { 245, 11, seed } };
		assert_int_equal(graph_ops.init(&t.switches.topo, &e), 0);
		assert_float_equal((float)t.switches.mean, 2.554F, 0.02554F);
		switches_fini(&t.switches.topo);
	}
}

static void other_random_graphs_are_refused(void **state)
{
	static const struct param_list some[] = { { 1, { 12 } },
		{ 3, { 8, 1, 1 } }, { 3, { 8, 8, 1 } }, { 3, { 99, 61, 1 } },
		{ 3, { SWITCHES_TABLE + 1, 3, 1 } }, { 1, { 0 } } };

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		struct err e = { 0 };
		struct graph t;

		fresh(&t);
		t.random = some[i];
		assert_int_equal(graph_ops.init(&t.switches.topo, &e), -1);
		assert_non_null(strstr(e.text, "topology.random"));
	}
}

TESTS(TEST(three_forms_are_read), TEST(files_of_other_programs_are_read),
	TEST(edges_have_cables_of_their_own),
	TEST(a_switch_without_nodes_has_the_nearest_home),
	TEST(bad_columns_are_refused), TEST(bad_files_of_others_are_refused),
	TEST(random_graphs_are_regular_and_connected),
	TEST(distances_of_random_graphs_are_known),
	TEST(other_random_graphs_are_refused))
