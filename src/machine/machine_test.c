/* What a machine file means: variants, what they need, and defaults. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "testing/testing.h"

#define HEAD "schema: 1\nmachine: m\n"

/* Loads a machine file of these sections. */
static struct machine *load(
	const char *text, const char *set, const char *shape, struct err *e)
{
	char path[] = "/tmp/weft-machine-XXXXXX.yaml";
	int fd = mkstemps(path, 5);
	struct machine *m;

	assert_true(fd >= 0);
	assert_true(write(fd, HEAD, strlen(HEAD)) > 0);
	if (text[0])
		assert_true(write(fd, text, strlen(text)) > 0);
	close(fd);
	m = machine_load(path, &set, set != NULL, shape, e);
	unlink(path);
	return m;
}

static void is_refused(const char *text, const char *set, const char *what)
{
	struct err e = { 0 };

	assert_null(load(text, set, NULL, &e));
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static struct machine *loaded(const char *text, const char *shape)
{
	struct err e = { 0 };
	struct machine *m = load(text, NULL, shape, &e);

	if (!m)
		fail_msg("%s", e.text);
	return m;
}

static void an_empty_file_is_nobodys_machine(void **state)
{
	struct machine *m = loaded("", NULL);

	assert_null(m->nic);
	assert_string_equal(m->topo->ops->name, topo_registry[0]->name);
	for (uint32_t i = 1; i < m->topo->n_wires; i++)
		assert_int_equal(
			m->topo->wire[i].latency, m->topo->wire[0].latency);
	machine_free(m);
}

static void the_routing_follows_the_topology(void **state)
{
	static const char *const some[][2] = {
		{ "topology: { kind: fattree }\n", "updown" },
		{ "topology: { kind: dragonfly, nodes: 64 }\n", "dragonfly" },
		{ "topology: { kind: torus }\n", "hint" },
		{ "topology: { nodes: 2 }\n", "order" },
		{ "topology: { links: [1, 2] }\n", "order" },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct machine *m = loaded(some[i][0], NULL);

		assert_string_equal(m->route->ops->name, some[i][1]);
		machine_free(m);
	}
	is_refused("topology: { kind: fattree }\nrouting: { kind: hint }\n",
		NULL, ".yaml:4:18: routing.kind: hint needs topology.kind");
	is_refused("topology: { kind: fattree }\n", "routing.kind=order",
		"order needs topology.kind: torus, not fattree");
	is_refused("", "routing.kind=updown", "--set: routing.kind: updown");
}

/* Both have topology.nodes: of each router, and in all. */
static void a_name_is_read_for_the_variant_that_has_it(void **state)
{
	struct machine *m = loaded(
		"topology: { nodes: 500, radix: 4, kind: fattree }\n", NULL);

	assert_int_equal(m->topo->n_nodes, 500);
	machine_free(m);
	is_refused("topology: { nodes: 500 }\n", NULL, "topology.nodes");
}

static void a_shape_is_what_the_topology_says(void **state)
{
	struct machine *m = loaded("topology: { kind: torus }\n", "2x3");

	assert_int_equal(m->topo->n_nodes, 6);
	machine_free(m);
	m = loaded("topology: { kind: fattree }\n", "77");
	assert_int_equal(m->topo->n_nodes, 77);
	machine_free(m);
}

static void what_nothing_of_the_machine_needs_is_refused(void **state)
{
	is_refused("", "topology.board=2x2", "topology.board is not a");
	is_refused("", "link.latency.board=5ns", "link.latency.board is not a");
	is_refused("topology: { wires: packaged }\n", "topology.cable.length=4",
		"topology.cable.length is not a");
	is_refused("topology: { nodes: 2 }\n", "routing.kind=hint",
		"hint needs a torus whose routers are nodes");
	is_refused("", "topology.node.up=9ns", "topology.node.up is not a");
	is_refused("", "link.route=1B", "link.route is not a parameter");
	is_refused("", "link.lane-limit=1Gb/s", "link.lane-limit is not a");
	is_refused("", "host.memory=1GiB", "host.memory is not a parameter");
	is_refused("nic: { kind: plain }\n", "host.processors=2",
		"host.processors is not a parameter");
	is_refused("nic: { kind: elan4 }\n", "host.l2.ways=4",
		"host.l2.ways is not a parameter");
}

/* Words that a block needs must be had by somebody, or it is dead. */
static void every_block_can_be_used(void **state)
{
	static const char *const some[] = { "", "topology: { wires: packaged }",
		"topology: { kind: fattree }\nnic: { kind: elan4 }",
		"topology: { shape: 2x2x2x2x2 }\nnic: { kind: bgq-mu }",
		"link: { retry: replay, code: 8b10b }",
		"topology: { kind: fattree }\nrouting: { kind: table }",
		"topology: { nodes: 2 }", "link: { code: 64b66b }",
		"nic: { kind: plain }\nside: { kind: pcie }",
		"nic: { kind: gemini }", "nic: { kind: swhni }",
		"nic: { kind: apenet }\nside: { kind: pcie }" };
	bool used[MACHINE_BLOCKS] = { false };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct machine *m = loaded(some[i], NULL);

		n = m->n_blocks;
		for (size_t k = 0; k < n; k++)
			used[k] |= machine_uses(m, k) ||
				   strchr(m->use[k].needs, '.');
		machine_free(m);
	}
	for (size_t k = 0; k < n; k++)
		assert_true(used[k]);
}

/* Of topology, routing and whatever needs them; links and cards stay. */
static void a_base_of_another_kind_leaves_nothing_of_it(void **state)
{
	struct machine *m = loaded("base: torus\n"
				   "topology: { nodes: 64, kind: fattree }\n",
		NULL);
	struct machine *plain =
		loaded("topology: { nodes: 64, kind: fattree }\n", NULL);
	size_t i;

	assert_int_equal(m->topo->n_nodes, 64);
	assert_string_equal(m->route->ops->name, "updown");
	assert_string_equal(m->nic->name, "plain");
	assert_int_equal(m->link.payload, 2048);
	for (i = 0; i < m->n_blocks; i++)
		for (size_t k = 0; machine_uses(m, i) && k < m->block[i].n_rows;
			k++) {
			char a[PARAM_TEXT_MAX], b[PARAM_TEXT_MAX];

			if (strcmp(m->block[i].section, "topology") != 0)
				continue;
			param_format(&m->block[i], &m->block[i].rows[k], a,
				sizeof(a));
			param_format(&plain->block[i], &m->block[i].rows[k], b,
				sizeof(b));
			assert_string_equal(a, b);
		}
	machine_free(plain);
	machine_free(m);
	m = loaded("base: dragonfly\ntopology: { kind: torus, shape: 2x3 }\n"
		   "router: { kind: direct }\n",
		NULL);
	assert_int_equal(m->topo->n_nodes, 6);
	machine_free(m);
	m = loaded("base: gemini\nnic: { kind: none }\n", NULL);
	assert_null(m->nic);
	machine_free(m);
	/* of the same kind all is kept */
	m = loaded("base: torus\ntopology: { kind: torus }\n", NULL);
	assert_int_equal(m->topo->n_nodes, 8 * 8 * 16);
	machine_free(m);
	is_refused("base: torus\ntopology: { kind: fattree, wrap: mesh }\n",
		NULL, ".yaml:4:34: topology.wrap is not a parameter");
}

static void a_kind_that_is_given_drops_what_the_file_says(void **state)
{
	struct err e = { 0 };
	struct machine *m = load("topology: { kind: torus, shape: 2x2, wrap: "
				 "mesh }\n",
		"topology.kind=fattree", "77", &e);

	if (!m)
		fail_msg("%s", e.text);
	assert_int_equal(m->topo->n_nodes, 77);
	machine_free(m);
	is_refused("topology: { kind: torus }\n", "topology.kind=fatree",
		"did you mean fattree?");
}

static void one_dimension_is_seldom_meant(void **state)
{
	struct machine *m = loaded("topology: { shape: 8x8x8 }\n", "64");

	assert_non_null(strstr(m->advice, "one dimension"));
	assert_non_null(strstr(m->advice, "--shape 4x4x4"));
	machine_free(m);
	m = loaded("topology: { shape: 8x8x8 }\n", "100");
	assert_non_null(strstr(m->advice, "--shape 5x5x4"));
	machine_free(m);
	m = loaded("topology: { shape: 8x8x8 }\n", "8x8");
	assert_string_equal(m->advice, "");
	machine_free(m);
	m = loaded("topology: { shape: 64 }\n", "32");
	assert_string_equal(m->advice, "");
	machine_free(m);
	m = loaded("topology: { kind: fattree }\n", "64");
	assert_string_equal(m->advice, "");
	machine_free(m);
}

static void look_at(void *arg, const char *name, const char *path)
{
	struct err e = { 0 };
	struct machine *m = machine_load(path, NULL, 0, NULL, &e);

	if (!m || topo_look(m->topo, &e))
		fail_msg("%s: %s", name, e.text);
	machine_free(m);
	++*(int *)arg;
}

static void every_machine_that_is_shipped_stands_a_look(void **state)
{
	struct err e = { 0 };
	int n = 0;

	assert_int_equal(machine_list(look_at, &n, &e), 0);
	assert_true(n > 10);
}

TESTS(TEST(an_empty_file_is_nobodys_machine),
	TEST(the_routing_follows_the_topology),
	TEST(a_name_is_read_for_the_variant_that_has_it),
	TEST(a_shape_is_what_the_topology_says),
	TEST(what_nothing_of_the_machine_needs_is_refused),
	TEST(every_block_can_be_used),
	TEST(a_base_of_another_kind_leaves_nothing_of_it),
	TEST(a_kind_that_is_given_drops_what_the_file_says),
	TEST(one_dimension_is_seldom_meant),
	TEST(every_machine_that_is_shipped_stands_a_look))
