/* What programs are told of where they are. */
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "weft/program.h"

static void find_place(void *arg)
{
	uint32_t *seen = arg, x[WEFT_MAX_DIMS], size[WEFT_MAX_DIMS], n;

	n = weft_shape(size);
	weft_coordinates(weft_node(), x);
	for (uint32_t i = 0; i < n; i++)
		assert_true(x[i] < size[i]);
	seen[weft_node_at(x)]++;
}

/* Nodes of one router have its coordinates; the first of them is found. */
static void coordinates_are_those_of_a_nodes_router(void **state)
{
	static const char *const sets[] = { "topology.nodes=2", NULL };
	const struct kit_how how = {
		.machine = "torus",
		.shape = "3x2x2",
		.sets = sets,
		.needs = { .n_programs = 24, .n_processes = 1 },
	};
	uint32_t seen[24] = { 0 }, i;
	struct kit k;

	kit_open(&k, &how);
	for (i = 0; i < 24; i++)
		program_start(k.host, i, 0, 0, find_place, seen);
	kit_run(&k, false);
	for (i = 0; i < 24; i++)
		assert_int_equal(seen[i], i % 2 ? 0 : 2);
	kit_close(&k);
}

TESTS(TEST(coordinates_are_those_of_a_nodes_router))
