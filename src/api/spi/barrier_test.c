#include <errno.h>
#include <string.h>

#include "api/spi/spi_testing.h"
#include "coll/class_route.h"
#include "testing/testing.h"

enum { MOST = 64, ROUNDS = 7 };

#define NS	((sim_time)SIM_NS)
#define LATE	(20000 * NS)
#define ALL_BIT (UINT64_C(1) << MU_INT_BARRIER)

/* What programs of all nodes share. */
struct world {
	struct nic_testing m;
	uint32_t n;
	sim_time came[ROUNDS][MOST], left[ROUNDS][MOST];
	uint32_t node[MOST]; /* an argument points to its own */
	uint64_t seed;
};

static struct world *world; /* of the test that runs */

static void begin(const char *shape, uint32_t n_workers)
{
	nic_testing_machine(&world->m, "bgq", shape);
	nic_testing_start(&world->m, n_workers, 2 * MOST);
	world->n = world->m.net->n_nodes;
	assert_true(world->n <= MOST);
}

static void start(uint32_t node, uint32_t thread, void (*run)(void *arg))
{
	world->node[node] = node;
	program_start(world->m.host, node, thread, 0, run, &world->node[node]);
}

static void start_all(void (*run)(void *arg))
{
	for (uint32_t i = 0; i < world->n; i++)
		start(i, 0, run);
}

static uint64_t end(void)
{
	uint64_t digest;

	nic_testing_run(&world->m);
	digest = nic_testing_digest(&world->m);
	nic_testing_fini(&world->m);
	return digest;
}

static uint64_t packets(uint32_t node)
{
	return nic_count(world->m.nic, node, "barrier packets");
}

static MUSPI_GIBarrier_t barrier(uint32_t class)
{
	MUSPI_GIBarrier_t b;

	assert_int_equal(MUSPI_GIBarrierInit(&b, class), 0);
	return b;
}

/* --- times --- */

/* Of the way from a node to the root: wires, and hops. */
static sim_time way(uint32_t node, uint32_t *hops)
{
	const struct topo *t = world->m.net->topo;
	struct topo_box all;
	struct topo_grid g;
	router_id root;
	sim_time sum = 0;

	assert_true(topo_grid_of(t, &g));
	all = topo_box_all(&g);
	root = class_root(&g, &all);
	for (*hops = 0; node != root; ++*hops) {
		struct class_route r =
			class_route_build(&g, &all, root, node, CLASS_WORLD);
		port_id up = (port_id)__builtin_ctz(r.output);

		sum += world->m.net->link.latency[t->ops->wire(t, node, up)];
		node = t->ops->peer(t, node, up).router;
	}
	return sum;
}

static void enter_together(void *arg)
{
	uint32_t node = *(uint32_t *)arg;
	MUSPI_GIBarrier_t b = barrier(0);

	program_wait(LATE);
	world->came[0][node] = program_now();
	MUSPI_GIBarrierEnter(&b);
	assert_int_equal(program_now(), LATE);
	assert_int_equal(MUSPI_GIBarrierPoll(&b), 0);
	world->left[0][node] = program_now();
}

/* The store, 55 and 5 ns; 240 ns into the network; the tree up with 18 ns a
 * hop and down with 6; loads of 130 ns each that look half-way. */
static sim_time right_time(uint32_t node)
{
	sim_time up = 0, x, status;
	uint32_t hops;

	for (uint32_t i = 0; i < world->n; i++) {
		x = way(i, &hops);
		x += hops * 18 * NS;
		up = x > up ? x : up;
	}
	status = way(node, &hops) + hops * 6 * NS + up + 300 * NS;
	x = (status - 65 * NS + 130 * NS - 1) / (130 * NS);
	return 65 * NS + x * 130 * NS + 65 * NS;
}

static void bgq_f62_a_barrier_is_a_store_a_tree_and_a_load(void **state)
{
	static const char *const shapes[] = { "2", "4x4x2", "3x2x2x2x2",
		"5x3" };

	for (uint32_t k = 0; k < 4; k++) {
		begin(shapes[k], 1);
		start_all(enter_together);
		nic_testing_run(&world->m);
		for (uint32_t i = 0; i < world->n; i++)
			assert_int_equal(
				world->left[0][i] - LATE, right_time(i));
		nic_testing_fini(&world->m);
	}
}

/* --- many rounds --- */

static void wander(void *arg)
{
	uint32_t node = *(uint32_t *)arg, i;
	MUSPI_GIBarrier_t b = barrier(0);
	uint64_t n = 0;

	for (i = 0; i < ROUNDS; i++) {
		program_charge(dice(world->seed + node, &n, 3000) * NS / 2);
		world->came[i][node] = program_now();
		MUSPI_GIBarrierEnterAndWait(&b);
		world->left[i][node] = program_now();
	}
}

static uint64_t wander_all(const char *shape, uint32_t n_workers, uint64_t seed)
{
	world->seed = seed;
	begin(shape, n_workers);
	start_all(wander);
	nic_testing_run(&world->m);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < world->n; i++)
			for (uint32_t k = 0; k < world->n; k++)
				assert_true(world->came[round][i] <
					    world->left[round][k]);
	return end();
}

static void nobody_leaves_a_barrier_before_all_have_come(void **state)
{
	uint64_t one;

	one = wander_all("4x4x2x2", 1, 1);
	assert_int_equal(wander_all("4x4x2x2", 2, 1), one);
	assert_int_equal(wander_all("4x4x2x2", 3, 1), one);
	assert_int_equal(wander_all("4x4x2x2", 7, 1), one);
	wander_all("7x3", 1, 5);
	wander_all("1x2", 1, 6);
}

/* --- packets --- */

static void enter_apart(void *arg)
{
	uint32_t node = *(uint32_t *)arg;
	MUSPI_GIBarrier_t b = barrier(0);

	program_wait((1 + node) * LATE);
	MUSPI_GIBarrierEnter(&b);
	if (!world->seed) { /* once more, which changes nothing */
		MUSPI_GIBarrierEnter(&b);
		program_charge(1000 * NS);
		MUSPI_GIBarrierEnter(&b);
	}
	MUSPI_GIBarrierPoll(&b);
}

static void bgq_f61_each_change_is_one_packet_and_nothing_else_is(void **state)
{
	for (world->seed = 0; world->seed < 2; world->seed++) {
		begin("2", 1); /* node 1 is the root */
		start_all(enter_apart);
		nic_testing_run(&world->m);
		/* up: 010.  Down: 110 when the first has come, then 010 */
		assert_int_equal(packets(0), 1);
		assert_int_equal(packets(1), 2);
		nic_testing_fini(&world->m);
	}
}

static void never_enter(void *arg)
{
	MUSPI_GIBarrier_t b = barrier(0);
	sim_time since = program_now();

	/* 1,600 cycles of a core are a microsecond */
	assert_int_equal(MUSPI_GIBarrierPollWithTimeout(&b, 1600), -1);
	assert_int_equal(program_now() - since, 1000 * NS);
}

static void without_a_change_there_is_no_packet_and_no_end(void **state)
{
	begin("2x2", 1);
	start_all(never_enter);
	nic_testing_run(&world->m);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(packets(i), 0);
	nic_testing_fini(&world->m);
}

/* --- classes --- */

/* Node 1 is the root of all classes but 0, node 0 the other one. */
static ClassRoute_t route_of(uint32_t node, uint32_t class)
{
	bool is_plus = class < 8;
	ClassRoute_t leaf = { BGQ_CLASS_INPUT_LINK_LOCAL,
		(uint16_t)(is_plus ? BGQ_CLASS_LINK_AP : BGQ_CLASS_LINK_AM) };
	ClassRoute_t root = {
		(uint16_t)(BGQ_CLASS_INPUT_LINK_LOCAL |
			   (is_plus ? BGQ_CLASS_LINK_AM : BGQ_CLASS_LINK_AP)),
		0
	};

	return node ? root : leaf;
}

static void set_classes(uint32_t node)
{
	for (uint32_t i = 1; i < 16; i++) {
		ClassRoute_t r = route_of(node, i);

		if (i < 14)
			assert_int_equal(
				Kernel_AllocateGlobalInterruptClassRoute(
					i, NULL),
				0);
		assert_int_equal(Kernel_SetGlobalInterruptClassRoute(i, &r), 0);
	}
}

static void use_classes(void *arg)
{
	uint32_t node = *(uint32_t *)arg, i;
	MUSPI_GIBarrier_t all = barrier(0), b[16];

	if (node < 2) {
		program_become_system();
		set_classes(node);
	}
	MUSPI_GIBarrierEnterAndWait(&all);
	for (i = 1; i < 16 && node < 2; i++)
		assert_int_equal(MUSPI_GIBarrierInitMU1(i), 0);
	MUSPI_GIBarrierEnterAndWait(&all);
	for (i = 1; i < 16 && node < 2; i++)
		assert_int_equal(MUSPI_GIBarrierInitMU2(i, 16000), 0);
	MUSPI_GIBarrierEnterAndWait(&all);
	for (i = 1; i < 16 && node < 2; i++) {
		b[i] = barrier(i);
		if (node)
			program_wait((2 + i) * LATE);
		MUSPI_GIBarrierEnter(&b[i]);
	}
	for (i = 1; i < 16 && !node; i++) {
		assert_int_equal(MUSPI_GIBarrierPoll(&b[i]), 0);
		world->left[0][i] = program_now();
	}
}

static void bgq_f60_sixteen_classes_are_barriers_of_their_own(void **state)
{
	begin("2x2", 1);
	start_all(use_classes);
	end();
	/* each when node 1 has entered it */
	for (uint32_t i = 1; i < 16; i++) {
		assert_true(world->left[0][i] > (2 + i) * LATE);
		assert_true(world->left[0][i] < (2 + i) * LATE + 1000 * NS);
	}
}

/* --- what the kernel refuses --- */

static void ask_for_nonsense(void *arg)
{
	ClassRoute_t two = { 1, BGQ_CLASS_LINK_AP | BGQ_CLASS_LINK_BP };
	ClassRoute_t self = { 0, BGQ_CLASS_INPUT_LINK_LOCAL };
	ClassRoute_t both = { BGQ_CLASS_LINK_AP, BGQ_CLASS_LINK_AP };
	ClassRoute_t fine = { 1, BGQ_CLASS_LINK_AP };
	ClassRoute_t none = { 1, BGQ_CLASS_LINK_EP }, io = { 1 | 2, 0 };
	uint32_t n, ids[16];
	MUSPI_GIBarrier_t b;
	MUSPI_GI_t gi;

	assert_int_equal(
		Kernel_QueryGlobalInterruptClassRoutes(&n, ids, sizeof(ids)),
		0);
	assert_int_equal(n, 13); /* 1 to 13 */
	assert_int_equal(ids[0], 1);
	assert_int_equal(
		Kernel_QueryGlobalInterruptClassRoutes(&n, ids, 8), EINVAL);
	assert_int_equal(
		Kernel_AllocateGlobalInterruptClassRoute(16, NULL), EINVAL);
	assert_int_equal(
		Kernel_AllocateGlobalInterruptClassRoute(14, NULL), EPERM);
	assert_int_equal(
		Kernel_AllocateGlobalInterruptClassRoute(0, NULL), EAGAIN);
	assert_int_equal(Kernel_AllocateGlobalInterruptClassRoute(3, NULL), 0);
	assert_int_equal(
		Kernel_AllocateGlobalInterruptClassRoute(3, NULL), EAGAIN);
	assert_int_equal(Kernel_AllocateGlobalInterruptClassRoute(11, NULL), 0);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(4, &fine), EINVAL);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(0, &fine), EPERM);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &two), 1);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &self), 2);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &both), 3);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &none), EINVAL);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &io), EINVAL);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(3, &fine), 0);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(11, &fine), 4);
	assert_int_equal(Kernel_DeallocateGlobalInterruptClassRoute(3), 0);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(11, &fine), 0);
	assert_int_equal(Kernel_DeallocateGlobalInterruptClassRoute(3), EINVAL);
	assert_int_equal(Kernel_DeallocateGlobalInterruptClassRoute(0), EPERM);
	assert_int_equal(Kernel_ConfigureGIInterrupts(1, 3, 1), EINVAL);
	assert_int_equal(Kernel_ConfigureGIInterrupts(1, 0, 2), EINVAL);
	assert_int_equal(Kernel_ConfigureGIInterrupts(15, 0, 1), EPERM);
	assert_int_equal(MUSPI_GIBarrierInit(&b, 16), -1);
	assert_int_equal(MUSPI_GIBarrierInit(&b, 5), -1); /* no pattern */
	assert_int_equal(MUSPI_GIInit(&gi, 0, 3), -1);
	assert_int_equal(MUSPI_GIBarrierInitMU1(14), -1);
}

static void bgq_f60_what_cannot_be_a_class_is_refused(void **state)
{
	begin("3x3", 1);
	start(4, 0, ask_for_nonsense);
	end();
}

/* --- global interrupts --- */

static void take_interrupt(void *arg)
{
	uint32_t node = *(uint32_t *)arg;
	MUSPI_GI_t gi;

	assert_int_equal(MUSPI_GIInit(&gi, 0, 1), 0);
	assert_int_equal(Kernel_ConfigureGIInterrupts(
				 0, 1, KERNEL_GI_INTERRUPT_FLAG_ENABLE),
		0);
	if (node == 3) {
		program_wait(LATE);
		assert_int_equal(MUSPI_GISend(&gi), 0);
	}
	assert_int_equal(spi_wait_interrupt(ALL_BIT), ALL_BIT);
	world->left[0][node] = program_now();
	assert_int_equal(MUSPI_GIPoll(&gi), 0); /* it is still up */
	if (node == 3) {
		program_wait(2 * LATE);
		assert_int_equal(MUSPI_GISendClear(&gi), 0);
	}
	program_wait(3 * LATE);
	assert_int_equal(MUSPI_GIPollWithTimeout(&gi, 1600), -1);
}

static void bgq_f63_one_node_interrupts_all_of_them(void **state)
{
	begin("4x3x2", 1);
	start_all(take_interrupt);
	nic_testing_run(&world->m);
	for (uint32_t i = 0; i < world->n; i++) {
		assert_true(world->left[0][i] > LATE);
		assert_true(world->left[0][i] < LATE + 2000 * NS);
		assert_int_equal(
			nic_count(world->m.nic, i, "global interrupt"), 1);
	}
	nic_testing_fini(&world->m);
}

static void poll_alone(void *arg)
{
	MUSPI_GI_t gi;

	assert_int_equal(MUSPI_GIInit(&gi, 0, 2), 0);
	assert_int_equal(MUSPI_GISend(&gi), 0);
	assert_int_equal(MUSPI_GIPoll(&gi), 0);
}

static void a_bit_that_is_not_enabled_interrupts_nobody(void **state)
{
	begin("2x2", 1);
	start(2, 0, poll_alone);
	nic_testing_run(&world->m);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(
			nic_count(world->m.nic, i, "global interrupt"), 0);
	nic_testing_fini(&world->m);
}

static int open_world(void **state)
{
	static struct world only;

	world = &only;
	memset(world, 0, sizeof(*world));
	return 0;
}

#define IN_WORLD(test_) cmocka_unit_test_setup(test_, open_world)

TESTS(IN_WORLD(bgq_f62_a_barrier_is_a_store_a_tree_and_a_load),
	IN_WORLD(nobody_leaves_a_barrier_before_all_have_come),
	IN_WORLD(bgq_f61_each_change_is_one_packet_and_nothing_else_is),
	IN_WORLD(without_a_change_there_is_no_packet_and_no_end),
	IN_WORLD(bgq_f60_sixteen_classes_are_barriers_of_their_own),
	IN_WORLD(bgq_f60_what_cannot_be_a_class_is_refused),
	IN_WORLD(bgq_f63_one_node_interrupts_all_of_them),
	IN_WORLD(a_bit_that_is_not_enabled_interrupts_nobody))
