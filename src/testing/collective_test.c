/*
 * Runs in which software misuses collectives and barriers: how they end, and
 * what is printed; and what one network carries.
 */
#include <errno.h>

#include "api/spi/unit.h"
#include "base/mem.h"
#include "coll/tree.h"
#include "testing/collective_testing.h"
#include "testing/trial_testing.h"

/* --- who does not come, or in another order --- */

static void without_node_2(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);

	program_wait(SPI_TEST_START);
	if (program_node() != 2)
		coll_call(f, 0, WORLD | ALLREDUCE);
	coll_await();
}

static void without_node_0(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);

	program_wait(SPI_TEST_START);
	if (program_node() != 0)
		coll_call(f, 0, WORLD | ALLREDUCE);
	coll_await();
}

/* The root of 2x2 is node 3; 0 goes by 2, and 2 and 1 are beside it. */
static void a_member_that_never_comes_is_named(void **state)
{
	coll_locks(&(struct coll_how){ "2x2", .run = without_node_2 },
		"  node 2 (0,1), route 0: waits for local since 20.");
	coll_locks(&(struct coll_how){ "2x2", .run = without_node_0 },
		"  node 2 (0,1), route 0: waits for B- since 20.");
}

static void in_any_order(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(16);
	bool is_odd = program_node() == 0;

	coll_join(3, 0, 1, 0, 1);
	coll_join(4, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	coll_call(f, is_odd ? 4 : 3, SUB | ALLREDUCE);
	coll_call(f, is_odd ? 3 : 4, SUB | ALLREDUCE);
	coll_await();
}

static void members_that_call_in_different_orders_are_named(void **state)
{
	coll_locks(&(struct coll_how){ "2x2", .run = in_any_order },
		"  node 2 (0,1), route 3: waits for B- (route 4 is first "
		"there) since 20.");
}

/* --- contributions that differ --- */

static uint64_t n_told;
static uint8_t odd_op;
static uint32_t odd_bytes;

/* Node 1 differs; meanwhile node 0, whose part has left, broadcasts. */
static void one_differs(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(512);
	Kernel_Errors_t errors;

	coll_join(3, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	if (program_node() == 1)
		coll_call_with(f, 0, WORLD | ALLREDUCE, odd_op, odd_bytes);
	else
		coll_call(f, 0, WORLD | ALLREDUCE);
	if (program_node() == 0)
		coll_call_with(f, 3, SUB | BROADCAST, 0, 512);
	coll_await();
	Kernel_GetErrors(&errors);
	if (program_node() == 3)
		n_told = errors.Count[MU_ERROR_COLLECTIVE];
}

static void contributions_that_differ_stop_their_route_alone(void **state)
{
	const struct coll_how how = { "2x2", .run = one_differs };

	odd_op = SIGNED_ADD;
	odd_bytes = 8;
	coll_locks(&how,
		"  node 3 (1,1), route 0: stopped, contributions differ: "
		"A- floating point add, words of 8 B, all-reduce, 8 B; "
		"B- signed add, words of 8 B, all-reduce, 8 B; "
		"local floating point add, words of 8 B, all-reduce, 8 B, "
		"since 20.");
	assert_int_equal(n_told, 1);
	odd_op = FLOAT_ADD;
	odd_bytes = 16;
	coll_locks(
		&how, "B- floating point add, words of 8 B, all-reduce, 16 B");
}

/* --- routes that are not set --- */

static uint32_t unset_at;

static void use_unset(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);
	Kernel_Errors_t errors;

	if (program_node() != unset_at)
		coll_join(3, 0, 1, 0, 1);
	program_wait(SPI_TEST_START);
	if (program_node() == 0)
		coll_call(f, 3, SUB | BROADCAST);
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

	for (uint32_t i = 0; i < 3; i++) {
		unset_at = unset[i].node;
		n_told = 0;
		coll_locks(&(struct coll_how){ "2x2", .run = use_unset },
			unset[i].says);
		assert_int_equal(n_told, UINT64_C(1) << 8 * unset_at);
	}
}

static void use_other_channel(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);

	program_wait(SPI_TEST_START);
	if (program_node() == 0)
		coll_call(f, 0, SUB | BROADCAST);
}

static void a_packet_on_another_channel_than_its_route_stops(void **state)
{
	coll_locks(&(struct coll_how){ "2x2", .run = use_other_channel },
		"a packet of another channel arrived on local, since 20.");
}

/* --- two kinds on one link --- */

/* Number 14 goes where all nodes' route goes. */
static void share_links(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);
	struct tree *t = tree_of(unit()->net);
	struct class_route r;
	Kernel_Errors_t errors;
	ClassRoute_t same;

	assert_int_equal(Kernel_AllocateCollectiveClassRoute(14), 0);
	assert_int_equal(Kernel_GetCollectiveClassRoute(0, &same), 0);
	same.input |= BGQ_CLASS_INPUT_VC_SYSTEM;
	assert_int_equal(Kernel_SetCollectiveClassRoute(14, &same),
		KERNEL_CLASS_SHARED_LINK);
	assert_true(tree_route(t, program_node(), 0, &r));
	r.channel = CLASS_SYSTEM;
	tree_set_route(t, program_node(), 14, &r);
	program_wait(SPI_TEST_START);
	coll_call(f, 0, WORLD | ALLREDUCE);
	coll_await();
	if (program_node() == 1)
		coll_call(f, 14, SYSTEM | ALLREDUCE);
	program_wait(2 * SPI_TEST_START);
	Kernel_GetErrors(&errors);
	n_told += errors.Count[MU_ERROR_COLLECTIVE] << 8 * program_node();
}

static void bgq_f24_world_and_system_on_one_link_trap(void **state)
{
	n_told = 0;
	coll_locks(&(struct coll_how){ "2x2", .run = share_links,
			   .is_system = true },
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
	MUSPI_InjFifo_t *f = coll_member(0);
	uint32_t a = program_node();
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < 2; i++)
		if (coll_join(i + 1, first_of[i], first_of[i] + 2u, 0, 0))
			bytes += 3 * PACKETS * 512;
	assert_true(spi_store(SPI_TEST_COUNTER, &bytes, sizeof(bytes)));
	program_wait(SPI_TEST_START);
	for (uint32_t i = 0; i < 2; i++)
		if (a >= first_of[i] && a <= first_of[i] + 2u)
			coll_call_with(
				f, i + 1, SUB | BROADCAST, 0, PACKETS * 512);
	coll_await();
}

/* What weft check says of the same machine. */
static void boxes_that_overlap_need_one_root(void **state)
{
	coll_finishes(&(struct coll_how){ "4", .run = overlap });
	coll_locks(
		&(struct coll_how){ "4", { "coll.root=box" }, .run = overlap },
		"on the way down, waits for room at the end of A+ since ");
}

/* --- all kinds at once, and how many --- */

enum { SYSTEM_BASES = 67, EACH = 8, GI = 3 };

/* By an own FIFO, to where the system's packets go. */
static void call_as_system(MUSPI_InjFifo_t *f)
{
	const MUSPI_CollectiveDirectPutDescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE,
			.Message_Length = 8,
			.Torus_FIFO_Map = MU_MAP_SYSTEM_COLLECTIVE },
		.Collective = { .Op_Code = FLOAT_ADD,
			.Word_Length = 8,
			.Class_Route = 14,
			.Misc = SYSTEM | ALLREDUCE },
		.DirectPut = { .Rec_Payload_Base_Address_Id =
				       SYSTEM_BASES * MU_PER_SUBGROUP,
			.Rec_Counter_Base_Address_Id =
				SYSTEM_BASES * MU_PER_SUBGROUP + 1 },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), 0);
	MUSPI_InjFifoInject(f, &d);
}

/* A route of the system's and a class for interrupts, where route 3 goes. */
static void set_all_kinds(void)
{
	static const uint32_t ids[] = { 0, 1 };
	const uint64_t counter = 8;
	MUSPI_BaseAddressTableSubGroup_t b;
	ClassRoute_t r, gi;

	assert_int_equal(Kernel_DeallocateCollectiveClassRoute(0), 0);
	assert_true(coll_join(3, 0, 1, 0, 0));
	assert_int_equal(Kernel_GetCollectiveClassRoute(3, &r), 0);
	gi = (ClassRoute_t){ r.input & BGQ_CLASS_LINKS, r.output };
	r.input = (uint16_t)(gi.input | BGQ_CLASS_INPUT_VC_SYSTEM);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(14), 0);
	assert_int_equal(Kernel_SetCollectiveClassRoute(14, &r), 0);
	assert_int_equal(Kernel_AllocateGlobalInterruptClassRoute(GI, NULL), 0);
	assert_int_equal(Kernel_SetGlobalInterruptClassRoute(GI, &gi), 0);
	assert_int_equal(
		Kernel_AllocateBaseAddressTable(SYSTEM_BASES, &b, 2, ids, 1),
		0);
	assert_true(spi_store(SPI_TEST_COUNTER + 64, &counter, 8));
	assert_int_equal(MUSPI_SetBaseAddress(&b, 0, SPI_TEST_TARGET + 64), 0);
	assert_int_equal(MUSPI_SetBaseAddress(&b, 1,
				 MUSPI_GetAtomicAddress(SPI_TEST_COUNTER + 64,
					 MU_ATOMIC_STORE_ADD)),
		0);
}

static void send_packets(MUSPI_InjFifo_t *user, MUSPI_InjFifo_t *system)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i =
		spi_test_packet(1, EACH * 512, 4);

	i.Base.Torus_FIFO_Map = MU_MAP_TORUS;
	spi_test_send(user, &i);
	i = spi_test_packet(1, EACH * 512, 66 * 4 + 2);
	i.Base.Torus_FIFO_Map = MU_MAP_SYSTEM;
	i.Pt2Pt.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM;
	spi_test_send(system, &i);
}

static void take_packets(MUSPI_RecFifo_t *f)
{
	spi_packet_t p;

	for (uint32_t i = 0; i < EACH; i++) {
		spi_wait_packet(f);
		assert_int_equal(MUSPI_getNextPacket(f, &p), 32 + 512);
		MUSPI_syncRecFifoHwHead(f);
	}
}

/* Between nodes 0 and 1, whose link is the only one of all that is in use. */
static void use_all_kinds(void *mine)
{
	static MUSPI_InjFifoSubGroup_t user_groups[2];
	MUSPI_InjFifo_t *system, *user;
	MUSPI_RecFifoSubGroup_t rec, system_rec;
	double value = 1 + program_node(), got[9];
	MUSPI_GIBarrier_t all;
	MUSPI_GI_t gi;

	assert_int_equal(MUSPI_GIBarrierInit(&all, 0), 0);
	if (program_node() > 1) {
		MUSPI_GIBarrierEnterAndWait(&all);
		return;
	}
	system = coll_member(8);
	user = spi_test_inj(&user_groups[program_node()], 0, 0, 8, NULL);
	spi_test_rec(&rec, 1, 0, 8192);
	spi_test_rec(&system_rec, 66, 2, 8192);
	set_all_kinds();
	assert_int_equal(MUSPI_GIInit(&gi, GI, 0), 0);
	assert_true(spi_store(SPI_TEST_SOURCE, &value, sizeof(value)));
	program_wait(SPI_TEST_START);
	if (!program_node())
		send_packets(user, system);
	coll_call(user, 3, SUB | ALLREDUCE);
	call_as_system(system);
	if (!program_node())
		MUSPI_GISend(&gi);
	MUSPI_GIBarrierEnterAndWait(&all);
	assert_int_equal(MUSPI_GIPoll(&gi), 0);
	coll_await();
	assert_true(spi_poll(SPI_TEST_COUNTER + 64, 0));
	assert_true(spi_load(SPI_TEST_TARGET, got, sizeof(got)));
	assert_true(got[0] == 3 && got[8] == 3);
	if (program_node()) {
		take_packets(&rec.fifo[0]);
		take_packets(&system_rec.fifo[2]);
	}
}

static void bgq_f12_one_link_carries_all_kinds_of_traffic(void **state)
{
	coll_finishes(&(struct coll_how){
		"4", .run = use_all_kinds, .is_system = true });
}

static void sum_doubles(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);
	double value = 0.25 + program_node(), got;

	assert_true(spi_store(SPI_TEST_SOURCE, &value, sizeof(value)));
	program_wait(SPI_TEST_START);
	coll_call(f, 0, WORLD | ALLREDUCE);
	coll_await();
	assert_true(spi_load(SPI_TEST_TARGET, &got, sizeof(got)));
	assert_true(got == 4 * 0.25 + 6);
}

/* Up and down each of three wires, once. */
static void bgq_f46_a_sum_of_doubles_takes_one_pass(void **state)
{
	struct machine_run *r =
		coll_perform(&(struct coll_how){ "2x2", .run = sum_doubles });

	assert_int_equal(r->result.ending, LOAD_FINISHED);
	assert_int_equal(r->hops, 2 * 3);
	coll_drop(r);
}

/* --- bits of sums --- */

static uint32_t skew_ns;
static double sum[8]; /* that a node got */

/* Too small to change a sum of one alone, but not two together. */
static void sum_unlike(void *mine)
{
	MUSPI_InjFifo_t *f = coll_member(8);
	uint32_t node = program_node();
	double value = node ? 0x1p-53 : 1;

	assert_true(spi_store(SPI_TEST_SOURCE, &value, sizeof(value)));
	program_wait(SPI_TEST_START + node * 5 % 8 * skew_ns * SIM_NS);
	coll_call(f, 0, WORLD | ALLREDUCE);
	coll_await();
	assert_true(spi_load(SPI_TEST_TARGET, &sum[node], sizeof(double)));
}

static double sum_of_unlike(struct coll_how how, uint32_t skew)
{
	how.run = sum_unlike;
	skew_ns = skew;
	coll_finishes(&how);
	for (uint32_t i = 1; i < 8; i++)
		assert_true(sum[i] == sum[0]);
	return sum[0];
}

static void bgq_f56_threads_and_faults_change_no_bit_of_a_sum(void **state)
{
	const struct coll_how tree = { .shape = "2x2x2" };
	const struct coll_how threads = { .shape = "2x2x2", .threads = 3 };
	const struct coll_how faults = { .shape = "2x2x2",
		.sets = { "faults.bit-errors=2e-4" } };
	double right = sum_of_unlike(tree, 0);

	assert_true(right > 1 && right < 1 + 7 * 0x1p-53);
	assert_true(sum_of_unlike(threads, 0) == right);
	assert_true(sum_of_unlike(tree, 700) == right);
	assert_true(sum_of_unlike(faults, 30) == right);
}

/* 0 is there, and two are the system's. */
static void take_sixteen(void *mine)
{
	for (uint32_t i = 1; i < 16; i++)
		assert_int_equal(Kernel_AllocateCollectiveClassRoute(i), 0);
	for (uint32_t i = 0; i < 16; i++)
		assert_int_equal(
			Kernel_AllocateCollectiveClassRoute(i), EAGAIN);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(16), EINVAL);
}

static double time_of(
	const char *shape, const char *bytes, const char *which, const char *at)
{
	const char *const keys[] = { "op=allreduce", "by=hardware", bytes,
		"rounds=2", which, at };
	struct machine_run_setup s = { .machine.name = "bgq",
		.machine.shape = shape,
		.workload = "collective",
		.keys = keys,
		.n_keys = at ? 6 : 5,
		.seed = 1,
		.threads = 1 };
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct err e = { 0 };
	double ns = 0;

	if (machine_run_open(r, &s, &e) || machine_run_perform(r, &e))
		fail_msg("%s", e.text);
	assert_true(machine_run_figure(r, "hardware_ns", &ns));
	coll_drop(r);
	return ns;
}

static void bgq_f49_sixteen_routes_and_planes_that_do_not_meet(void **state)
{
	coll_finishes(&(struct coll_how){
		"2", .run = take_sixteen, .is_system = true });
	assert_true(time_of("3x2x4", "bytes=2048", "split=AB", NULL) ==
		    time_of("3x2x4", "bytes=2048", "box=3x2x1", "at=0,0,1"));
}

/* One serialisation, not one at each level. */
static void bgq_f52_a_long_sum_is_259_ns_later_at_any_depth(void **state)
{
	static const char *const box[] = { "box=2", "box=4x2", "box=4x4x4" };

	for (uint32_t i = 0; i < 3; i++) {
		double more = time_of("4x4x4", "bytes=512", box[i], NULL) -
			      time_of("4x4x4", "bytes=8", box[i], NULL);

		assert_true(more > 258.5 && more < 259.5);
	}
}

/* --- barriers --- */

static void without_nodes(void *mine)
{
	MUSPI_GIBarrier_t b;

	assert_int_equal(MUSPI_GIBarrierInit(&b, 0), 0);
	program_wait(SPI_TEST_START);
	if (program_node() % 2)
		return;
	MUSPI_GIBarrierEnterAndWait(&b);
}

static void nodes_that_have_not_entered_a_barrier_are_named(void **state)
{
	coll_locks(&(struct coll_how){ "2x2", .run = without_nodes },
		"; barrier class 0: node 1 and 1 more have not entered, and "
		"node 0 has waited since 20.");
}

TESTS(TEST(a_member_that_never_comes_is_named),
	TEST(members_that_call_in_different_orders_are_named),
	TEST(contributions_that_differ_stop_their_route_alone),
	TEST(a_packet_on_an_unset_route_interrupts_there),
	TEST(a_packet_on_another_channel_than_its_route_stops),
	TEST(bgq_f24_world_and_system_on_one_link_trap),
	TEST(boxes_that_overlap_need_one_root),
	TEST(nodes_that_have_not_entered_a_barrier_are_named),
	TEST(bgq_f12_one_link_carries_all_kinds_of_traffic),
	TEST(bgq_f46_a_sum_of_doubles_takes_one_pass),
	TEST(bgq_f49_sixteen_routes_and_planes_that_do_not_meet),
	TEST(bgq_f56_threads_and_faults_change_no_bit_of_a_sum),
	TEST(bgq_f52_a_long_sum_is_259_ns_later_at_any_depth))
