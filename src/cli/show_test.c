#define _GNU_SOURCE
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/show.h"
#include "testing/testing.h"

static const struct {
	const char *name, *shape;
	uint32_t n_nodes;
} machines[] = {
	{ "torus", "4x3", 12 },
	{ "bgq", "4x4x2", 32 },
	{ "qsnet2", "16", 16 },
	{ "fattree", "27", 27 },
	{ "dragonfly", "32", 32 },
	{ "gemini", "3x2x1", 12 },
};

enum { N_MACHINES = sizeof(machines) / sizeof(machines[0]) };

static void find(size_t i, struct facts *f)
{
	const struct machine_source s = { .name = machines[i].name,
		.shape = machines[i].shape };
	struct err e = { 0 };
	struct machine *m = machine_load_from(&s, &e);

	assert_non_null(m);
	facts_init(f);
	assert_int_equal(show_facts(f, m, true, &e), 0);
	machine_free(m);
}

static double number(const struct fact *group, const char *path)
{
	double value = -1;

	assert_non_null(facts_find(group, path));
	assert_true(fact_number(facts_find(group, path), &value));
	return value;
}

static double links_of(const struct facts *f, const char *class)
{
	const struct fact *x = facts_find(&f->root, "wires")->first;

	while (x && strcmp(fact_text(x, "class"), class) != 0)
		x = x->next;
	return x ? number(x, "links") : 0;
}

/* Each once: of some machines a class is one way of a wire. */
static void edges_are_wires_of_a_class_that_is_shown(void **state)
{
	const struct fact *x, *list;
	struct facts f;
	double n;

	for (size_t i = 0; i < N_MACHINES; i++) {
		find(i, &f);
		assert_int_equal(number(&f.root, "nodes"), machines[i].n_nodes);
		list = facts_find(&f.root, "edges");
		for (x = list->first; x; x = x->next)
			assert_true(links_of(&f, fact_text(x, "class")) > 0);
		n = 0;
		x = facts_find(&f.root, "wires")->first;
		for (; x; x = x->next)
			n += number(x, "links");
		assert_true(n >= fact_length(list));
		assert_true(n <= 2 * fact_length(list));
		facts_fini(&f);
	}
}

static void larger_packets_take_longer(void **state)
{
	const struct fact *list;
	struct facts f;

	for (size_t i = 0; i < N_MACHINES; i++) {
		find(i, &f);
		list = facts_find(&f.root, "packets");
		assert_true(fact_length(list) >= 2);
		for (const struct fact *x = list->first; x->next; x = x->next) {
			assert_true(
				number(x, "bytes") < number(x->next, "bytes"));
			assert_true(number(x, "serialisation_ns") <
				    number(x->next, "serialisation_ns"));
			assert_true(number(x, "both_ways_GBps") <=
				    number(x, "one_way_GBps"));
		}
		facts_fini(&f);
	}
}

static void the_flow_is_bound_by_the_least(void **state)
{
	const struct fact *x;
	struct facts f;
	double least, value;

	for (size_t i = 0; i < N_MACHINES; i++) {
		find(i, &f);
		least = 1e9;
		x = facts_find(&f.root, "one_flow.bounds_GBps")->first;
		for (; x; x = x->next)
			if (fact_number(x, &value) && value < least)
				least = value;
		assert_true(number(&f.root, "one_flow.GBps") == least);
		facts_fini(&f);
	}
}

/* As text and as JSON; to be freed. */
static char *write(const struct facts *f, bool is_json)
{
	const struct cli_args a = { .is_json = is_json };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cli_write(&a, f, CLI_PLAIN, out);
	fclose(out);
	return text;
}

static void text_and_json_come_from_one_tree(void **state)
{
	char *text, *json;
	struct facts f;

	find(0, &f);
	text = write(&f, false);
	json = write(&f, true);
	facts_fini(&f);
	assert_non_null(strstr(text, "\n4x3, 12 nodes of 4 ports\n"));
	assert_non_null(strstr(json, "\n  \"ports\": 4,\n"));
	assert_non_null(strstr(json, "\"edges\": [\n"));
	assert_null(strstr(text, "edges"));
	/* what is for people only */
	assert_non_null(strstr(text, "\nchannels    "));
	assert_null(strstr(json, "\"_"));
	mem_free(text);
	mem_free(json);
}

TESTS(TEST(edges_are_wires_of_a_class_that_is_shown),
	TEST(larger_packets_take_longer), TEST(the_flow_is_bound_by_the_least),
	TEST(text_and_json_come_from_one_tree))
