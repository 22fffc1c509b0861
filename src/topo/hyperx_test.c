#include <string.h>

#include "testing/testing.h"
#include "topo/hyperx.h"
#include "topo/topo_testing.h"

static void make(struct hyperx *t, struct param_list shape,
	struct param_list links, int64_t per_router)
{
	struct err e = { 0 };

	memset(t, 0, sizeof(*t));
	t->switches.topo.ops = &hyperx_ops;
	topo_defaults(&t->switches.topo);
	t->shape = shape;
	t->links = links;
	t->per_router = per_router;
	if (hyperx_ops.init(&t->switches.topo, &e) ||
		topo_look(&t->switches.topo, &e))
		fail_msg("%s", e.text);
}

/* NET-F17: each port leads along its dimension to the position that it is for.
 */
static void ports_lead_to_their_positions(void **state)
{
	struct hyperx t;

	make(&t, (struct param_list){ 3, { 4, 2, 3 } },
		(struct param_list){ 3, { 1, 3, 2 } }, 2);
	assert_int_equal(t.switches.topo.n_ports, 2 + 3 + 3 + 4);
	for (uint32_t s = 0; s < 24; s++)
		for (uint32_t d = 0; d < 3; d++)
			for (uint32_t to = 0; to < t.size[d]; to++)
				for (uint32_t k = 0; k < t.parallel[d]; k++) {
					uint32_t x = hyperx_place(&t, s, d);
					struct topo_end far;

					if (to == x)
						continue;
					far = switches_peer(&t.switches.topo,
						48 + s,
						hyperx_port(&t, s, d, to) + k);
					assert_int_equal(far.router,
						48 + s +
							(to - x) * t.stride[d]);
				}
	switches_fini(&t.switches.topo);
}

static void nodes_have_the_places_of_their_switches(void **state)
{
	uint32_t x[TOPO_MAX_DIMS];
	struct hyperx t;

	make(&t, (struct param_list){ 2, { 5, 3 } },
		(struct param_list){ 1, { 1 } }, 4);
	for (uint32_t node = 0; node < 60; node++) {
		hyperx_ops.place(&t.switches.topo, node, x);
		assert_int_equal(
			hyperx_ops.node_at(&t.switches.topo, x), node / 4 * 4);
	}
	assert_int_equal(t.switches.diameter, 2);
	/* two of five against three of five, on three lines */
	assert_int_equal(hyperx_ops.cut(&t.switches.topo).links, 10);
	switches_fini(&t.switches.topo);
}

TESTS(TEST(ports_lead_to_their_positions),
	TEST(nodes_have_the_places_of_their_switches))
