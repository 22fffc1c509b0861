/* The message unit on routers other than Blue Gene/Q's: tori whose routers are
 * switches, and which route by other things than hint bits. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum { NODES = 16, BYTES = 5000, PLACE = 0x2000, KINDS = 5 };

#define INDIRECT                                                               \
	"topology.nodes=1", "topology.wires=uniform", "routing.kind=order",    \
		"routing.dateline=no"

static const char *const rings[] = { "topology.wires=uniform",
	"routing.kind=order", "router.queues=2", NULL };
static const char *const crossbar[] = { INDIRECT, "router.kind=crossbar",
	NULL };
static const char *const tiled[] = { INDIRECT, "router.kind=tiled",
	"routing.planes=yes", "topology.links=8x4x8", NULL };
static const char *const *const routers[] = { rings, crossbar, tiled };

enum { ROUTERS = sizeof(routers) / sizeof(routers[0]) };

static void run_on(
	const char *const *sets, void (*program)(void *arg), uint32_t n)
{
	struct kit_how how = {
		.machine = "bgq", .shape = "4x2x2", .sets = sets
	};
	struct kit k;

	how.needs.n_programs = n;
	kit_open(&k, &how);
	assert_int_equal(k.net->n_nodes, NODES);
	for (uint32_t i = 0; i < n; i++)
		program_start(k.host, i, 0, 0, program, NULL);
	kit_run(&k, n == 1);
	kit_close(&k);
}

/* One put of each class to some other node, and one to itself. */
static struct mu_descriptor put_of(uint32_t kind, site_id node)
{
	static const enum mu_channel channels[KINDS] = { MU_DYNAMIC,
		MU_DETERMINISTIC, MU_HIGH, MU_SYSTEM, MU_DYNAMIC };
	struct mu_descriptor d = sw_put(
		kind < KINDS - 1 ? (node + 3 * kind + 1) % NODES : node, BYTES);

	sw_set_channel(&d, channels[kind]);
	mu_set_put(&d.header, SW_BASE_TARGET, kind * PLACE);
	if (channels[kind] == MU_HIGH)
		mu_set_fifo_map(&d, MU_MAP_HIGH);
	if (channels[kind] == MU_SYSTEM)
		sw_make_system(&d);
	return d;
}

static void put_each_class(void *arg)
{
	struct sw_fifo user = sw_open(7, 0), system = sw_open(515, 0);
	uint32_t me = program_node(), i;

	sw_open_bases(KINDS * BYTES);
	sw_fill(SW_SOURCE, me, BYTES);
	program_wait(5000 * SIM_NS); /* all are ready */
	for (i = 0; i < KINDS; i++) {
		struct mu_descriptor d = put_of(i, me);

		sw_inject(mu_channel(&d.header) == MU_SYSTEM ? &system : &user,
			&d);
	}
	sw_wait_counter(SW_COUNTER);
	for (i = 0; i < KINDS; i++)
		sw_expect(SW_TARGET + i * PLACE,
			i < KINDS - 1 ? (me + 2 * NODES - 3 * i - 1) % NODES
				      : me,
			BYTES);
}

static void packets_of_all_classes_pass_any_router(void **state)
{
	for (uint32_t i = 0; i < ROUTERS; i++)
		run_on(routers[i], put_each_class, NODES);
}

/* These routings ignore hints; a line broadcast would reach one node only. */
static void give_hints(void *arg)
{
	struct sw_fifo f = sw_open(7, 0), g = sw_open(8, 0);
	struct mu_descriptor hinted = sw_put(1, 8), line = sw_put(1, 8);

	hinted.header.byte[1] = 0x40; /* A+ */
	sw_inject(&f, &hinted);
	sw_set_channel(&line, MU_DETERMINISTIC);
	line.header.byte[2] |= 0x02;
	sw_inject(&g, &line);
	program_wait(5000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_DESCRIPTOR), 1);
	assert_true(!sw_load(MU_INJ_STOPPED, 7) && sw_load(MU_INJ_STOPPED, 8));
}

static void lines_are_for_routers_that_take_hints(void **state)
{
	for (uint32_t i = 0; i < ROUTERS; i++)
		run_on(routers[i], give_hints, 1);
}

TESTS(TEST(packets_of_all_classes_pass_any_router),
	TEST(lines_are_for_routers_that_take_hints))
