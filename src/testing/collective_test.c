/*
 * Runs in which software misuses collectives and barriers: how they end, and
 * what is printed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/spi_testing.h"
#include "api/unit.h"
#include "base/mem.h"
#include "cli/run.h"
#include "coll/tree.h"
#include "testing/testing.h"

enum {
	WORLD = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD,
	SUB = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_SUB_COMM,
	SYSTEM = MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM_COLLECTIVE,
	ALLREDUCE = MUHWI_COLLECTIVE_TYPE_ALLREDUCE,
	BROADCAST = MUHWI_COLLECTIVE_TYPE_BROADCAST,
	FLOAT_ADD = MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD,
	SIGNED_ADD = MUHWI_COLLECTIVE_OP_CODE_SIGNED_ADD,
	SYSTEM_GROUP = 64, /* its FIFOs are the system's */
};

/* --- runs --- */

struct run_how {
	const char *shape, *sets[4];
	void (*run)(void *mine);
	bool is_system;
};

static struct machine_run *perform(const struct run_how *h)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	const struct weft_app app = { .name = "test",
		.run = h->run,
		.is_system = h->is_system,
		.interface = "spi" };
	struct machine_run_setup s = { .machine = "bgq",
		.shape = h->shape,
		.sets = h->sets,
		.load = &app_ops,
		.load_arg = &app,
		.seed = 1,
		.threads = 1 };
	struct err e = { 0 };

	while (s.n_sets < 4 && h->sets[s.n_sets])
		s.n_sets++;
	if (machine_run_open(r, &s, &e) || machine_run_perform(r, &e))
		fail_msg("%s", e.text);
	return r;
}

static void drop(struct machine_run *r)
{
	machine_run_close(r);
	mem_free(r);
}

/* Ends with exit code 3, and says so. */
static void locks(const struct run_how *h, const char *says)
{
	struct machine_run *r = perform(h);
	const char *text = r->result.knot[0] ? r->result.knot : r->result.why;

	assert_int_equal(run_ending_code(r->result.ending), EXIT_DEADLOCK);
	if (!strstr(text, says))
		fail_msg("wanted: %s\nsaid: %s", says, text);
	drop(r);
}

static void finishes(const struct run_how *h)
{
	struct machine_run *r = perform(h);

	if (r->result.ending != LOAD_FINISHED)
		fail_msg("%s%s", r->result.knot, r->result.why);
	drop(r);
}

/* --- members --- */

static MUSPI_InjFifoSubGroup_t groups[64];

/* Ready for so many bytes. */
static MUSPI_InjFifo_t *member(uint64_t bytes)
{
	uint32_t first = program_is_system() ? SYSTEM_GROUP : 0;
	MUSPI_InjFifo_t *f =
		spi_test_inj(&groups[program_node()], first, 0, 32, NULL);

	spi_test_bases(bytes);
	return f;
}

static void call_with(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc,
	uint8_t op, uint32_t bytes)
{
	const MUSPI_CollectiveDirectPutDescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE,
			.Message_Length = bytes,
			.Torus_FIFO_Map = (misc & ~3u) == SYSTEM
						  ? MU_MAP_SYSTEM_COLLECTIVE
						  : MU_MAP_USER_COLLECTIVE },
		.Collective = { .Op_Code = op,
			.Word_Length = 8,
			.Class_Route = (uint8_t)route,
			.Misc = (uint8_t)misc },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), 0);
	MUSPI_InjFifoInject(f, &d);
}

static void call(MUSPI_InjFifo_t *f, uint32_t route, uint32_t misc)
{
	call_with(f, route, misc, FLOAT_ADD, 8);
}

static void await_all(void)
{
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
}

/* Nodes of a box whose A and B are within bounds take part in a route. */
static bool join(
	uint32_t id, uint32_t a, uint32_t a_last, uint32_t b, uint32_t b_last)
{
	const MUSPI_Box_t box = {
		.low = { (uint8_t)a, (uint8_t)b },
		.high = { (uint8_t)a_last, (uint8_t)b_last },
	};
	ClassRoute_t r;

	if (MUSPI_BuildNodeClassroute(&box, BGQ_CLASS_INPUT_VC_SUBCOMM, &r))
		return false;
	assert_int_equal(MUSPI_SetClassrouteId(id, &r), 0);
	return true;
}

/* --- who does not come, or in another order --- */

static void without_node_2(void *mine)
{
	MUSPI_InjFifo_t *f = member(8);

	(void)mine;
	program_wait(SPI_TEST_START);
	if (program_node() != 2)
		call(f, 0, WORLD | ALLREDUCE);
	await_all();
}

static void without_node_0(void *mine)
{
	MUSPI_InjFifo_t *f = member(8);

	(void)mine;
	program_wait(SPI_TEST_START);
	if (program_node() != 0)
		call(f, 0, WORLD | ALLREDUCE);
	await_all();
}

/* The root of 2x2 is node 3; 0 goes by 2, and 2 and 1 are beside it. */
static void a_member_that_never_comes_is_named(void **state)
{
	(void)state;
	locks(&(struct run_how){ "2x2", .run = without_node_2 },
		"  node 2 (0,1), route 0: waits for local since 20.");
	locks(&(struct run_how){ "2x2", .run = without_node_0 },
		"  node 2 (0,1), route 0: waits for B- since 20.");
}

static void in_any_order(void *mine)
{
	MUSPI_InjFifo_t *f = member(16);
	bool is_odd = program_node() == 0;

	(void)mine;
	join(3, 0, 1, 0, 1);
	join(4, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	call(f, is_odd ? 4 : 3, SUB | ALLREDUCE);
	call(f, is_odd ? 3 : 4, SUB | ALLREDUCE);
	await_all();
}

static void members_that_call_in_different_orders_are_named(void **state)
{
	(void)state;
	locks(&(struct run_how){ "2x2", .run = in_any_order },
		"  node 2 (0,1), route 3: waits for B- (route 4 is in front) "
		"since 20.");
}

/* --- contributions that differ --- */

static uint64_t n_told;
static uint8_t odd_op;
static uint32_t odd_bytes;

/* Node 1 differs; meanwhile node 0, whose part has left, broadcasts. */
static void one_differs(void *mine)
{
	MUSPI_InjFifo_t *f = member(512);
	Kernel_Errors_t errors;

	(void)mine;
	join(3, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	if (program_node() == 1)
		call_with(f, 0, WORLD | ALLREDUCE, odd_op, odd_bytes);
	else
		call(f, 0, WORLD | ALLREDUCE);
	if (program_node() == 0)
		call_with(f, 3, SUB | BROADCAST, 0, 512);
	await_all();
	Kernel_GetErrors(&errors);
	if (program_node() == 3)
		n_told = errors.Count[MU_ERROR_COLLECTIVE];
}

static void contributions_that_differ_stop_their_route_alone(void **state)
{
	const struct run_how how = { "2x2", .run = one_differs };

	(void)state;
	odd_op = SIGNED_ADD;
	odd_bytes = 8;
	locks(&how, "  node 3 (1,1), route 0: stopped, contributions differ: "
		    "A- floating point add, words of 8 B, all-reduce, 8 B; "
		    "B- signed add, words of 8 B, all-reduce, 8 B; "
		    "local floating point add, words of 8 B, all-reduce, 8 B, "
		    "since 20.");
	assert_int_equal(n_told, 1);
	odd_op = FLOAT_ADD;
	odd_bytes = 16;
	locks(&how, "B- floating point add, words of 8 B, all-reduce, 16 B");
}

/* --- routes that are not set --- */

static uint32_t unset_at;

static void use_unset(void *mine)
{
	MUSPI_InjFifo_t *f = member(8);
	Kernel_Errors_t errors;

	(void)mine;
	if (program_node() != unset_at)
		join(3, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	if (program_node() == 0)
		call(f, 3, SUB | BROADCAST);
	program_wait(2 * SPI_TEST_START);
	Kernel_GetErrors(&errors);
	n_told += errors.Count[MU_ERROR_COLLECTIVE] << 8 * program_node();
}

/* At the member that sends, at one on the way up, and on the way down. */
static void a_packet_on_an_unset_route_interrupts_there(void **state)
{
	static const struct {
		uint32_t node;
		const char *says;
	} unset[] = {
		{ 0, "  node 0 (0,0), route 3: stopped, it is not set here, " },
		{ 2, "  node 2 (0,1), route 3: stopped, it is not set here, " },
		{ 1, "  node 1 (1,0), route 3: stopped, it is not set here, " },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		unset_at = unset[i].node;
		n_told = 0;
		locks(&(struct run_how){ "2x2", .run = use_unset },
			unset[i].says);
		assert_int_equal(n_told, UINT64_C(1) << 8 * unset_at);
	}
}

static void use_other_channel(void *mine)
{
	MUSPI_InjFifo_t *f = member(8);

	(void)mine;
	program_wait(SPI_TEST_START);
	if (program_node() == 0)
		call(f, 0, SUB | BROADCAST);
}

static void a_packet_on_another_channel_than_its_route_stops(void **state)
{
	(void)state;
	locks(&(struct run_how){ "2x2", .run = use_other_channel },
		"a packet of another channel came by local, since 20.");
}

/* --- two kinds on one link --- */

/* Number 14 goes where all nodes' route goes. */
static void share_links(void *mine)
{
	MUSPI_InjFifo_t *f = member(8);
	struct tree *t = tree_of(unit()->net);
	struct class_route r;
	Kernel_Errors_t errors;
	ClassRoute_t same;

	(void)mine;
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(14), 0);
	assert_int_equal(Kernel_GetCollectiveClassRoute(0, &same), 0);
	same.input |= BGQ_CLASS_INPUT_VC_SYSTEM;
	assert_int_equal(Kernel_SetCollectiveClassRoute(14, &same),
		KERNEL_CLASS_SHARED_LINK);
	assert_true(tree_route(t, program_node(), 0, &r));
	r.channel = CLASS_SYSTEM;
	tree_set_route(t, program_node(), 14, &r);
	program_wait(SPI_TEST_START);
	call(f, 0, WORLD | ALLREDUCE);
	await_all();
	if (program_node() == 1)
		call(f, 14, SYSTEM | ALLREDUCE);
	program_wait(2 * SPI_TEST_START);
	Kernel_GetErrors(&errors);
	n_told += errors.Count[MU_ERROR_COLLECTIVE] << 8 * program_node();
}

static void bgq_f24_world_and_system_on_one_link_trap(void **state)
{
	(void)state;
	n_told = 0;
	locks(&(struct run_how){ "2x2", .run = share_links, .is_system = true },
		"  node 1 (1,0), route 14: stopped, world and system share its "
		"links, since ");
	assert_int_equal(n_told, 1 << 8);
}

/* --- boxes that overlap --- */

enum { PACKETS = 16 };

/* On a line of four, to three of them each. */
static const uint8_t first_of[] = { 1, 0 };

/* Everybody broadcasts to every box that it is in. */
static void overlap(void *mine)
{
	MUSPI_InjFifo_t *f = member(0);
	uint32_t a = program_node();
	uint64_t bytes = 0;
	uint32_t i;

	(void)mine;
	for (i = 0; i < 2; i++)
		if (join(i + 1, first_of[i], first_of[i] + 2u, 0, 0))
			bytes += 3 * PACKETS * 512;
	assert_true(spi_store(SPI_TEST_COUNTER, &bytes, sizeof(bytes)));
	program_wait(SPI_TEST_START);
	for (i = 0; i < 2; i++)
		if (a >= first_of[i] && a <= first_of[i] + 2u)
			call_with(f, i + 1, SUB | BROADCAST, 0, PACKETS * 512);
	await_all();
}

/* What weft check says of the same machine. */
static void boxes_that_overlap_need_one_root(void **state)
{
	(void)state;
	finishes(&(struct run_how){ "4", .run = overlap });
	locks(&(struct run_how){ "4", { "coll.root=box" }, .run = overlap },
		"falls, waits for room behind A+ since ");
}

/* --- barriers --- */

static void without_nodes(void *mine)
{
	MUSPI_GIBarrier_t b;

	(void)mine;
	assert_int_equal(MUSPI_GIBarrierInit(&b, 0), 0);
	program_wait(SPI_TEST_START);
	if (program_node() % 2)
		return;
	MUSPI_GIBarrierEnterAndWait(&b);
}

static void nodes_that_have_not_entered_a_barrier_are_named(void **state)
{
	(void)state;
	locks(&(struct run_how){ "2x2", .run = without_nodes },
		"; barrier class 0: node 1 and 1 more have not entered, and "
		"node 0 waits since 20.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_member_that_never_comes_is_named),
		cmocka_unit_test(
			members_that_call_in_different_orders_are_named),
		cmocka_unit_test(
			contributions_that_differ_stop_their_route_alone),
		cmocka_unit_test(a_packet_on_an_unset_route_interrupts_there),
		cmocka_unit_test(
			a_packet_on_another_channel_than_its_route_stops),
		cmocka_unit_test(bgq_f24_world_and_system_on_one_link_trap),
		cmocka_unit_test(boxes_that_overlap_need_one_root),
		cmocka_unit_test(
			nodes_that_have_not_entered_a_barrier_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
