/* What members of a tree need and get: packets, FIFOs, routes, places, bits. */
#include <string.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

enum { NODES = 4, CLASS = 3 };

#define TARGET SPI_TEST_TARGET

/* --- packets into reception FIFOs --- */

enum { REC_SUBGROUP = 3, REC = REC_SUBGROUP * 4, LATE = 5000 };

struct listener {
	uint8_t type;
	uint32_t bytes; /* of each message */
	bool is_silent, is_late;
	sim_time came; /* the last packet */
	uint32_t chunks; /* of all headers */
	uint8_t got[1024];
};

static void listen(void *arg)
{
	struct listener *m = arg;
	MUSPI_CollectiveMemoryFIFODescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE,
			.Message_Length = m->bytes,
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Op_Code = MUHWI_COLLECTIVE_OP_CODE_OR,
			.Word_Length = 4,
			.Misc = (uint8_t)(MU_COMM_WORLD << 5 | m->type) },
		.MemFIFO = { .Rec_FIFO_Id = REC },
	};
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_RecFifoSubGroup_t h;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	MUSPI_RecFifo_t *r = spi_test_rec(&h, REC_SUBGROUP, 0, 0x1000);
	uint32_t n = 0, bytes;
	spi_packet_t packet;
	MUHWI_Descriptor_t d;

	spi_test_store(SPI_TEST_SOURCE, 7, m->bytes);
	program_wait(SPI_TEST_START + (m->is_late ? LATE * SIM_NS : 0));
	assert_int_equal(
		MUSPI_CreateCollectiveMemoryFIFODescriptor(&d, &info), 0);
	if (!m->is_silent)
		assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	do {
		spi_wait_packet(r);
		assert_true(MUSPI_getNextPacket(r, &packet) > 0);
		m->chunks += mu_chunks((struct mu_header *)&packet.Header);
		bytes = m->bytes - n < MU_PAYLOAD ? m->bytes - n : MU_PAYLOAD;
		memcpy(m->got + n, packet.Payload, bytes);
		n += bytes;
	} while (n < m->bytes);
	m->came = program_now();
}

static void run_listeners(struct listener m[NODES])
{
	spi_test_each("2x2", NODES, listen, m, sizeof(*m), 0);
}

/* A broadcast, and a barrier of software's: nobody has the packet before the
 * last has sent its own. */
static void bgq_f14_a_header_alone_goes_down_a_tree(void **state)
{
	struct listener m[NODES] = { 0 };

	for (uint32_t i = 0; i < NODES; i++)
		m[i] = (struct listener){ .type = MU_BROADCAST,
			.is_silent = i != 2 };
	run_listeners(m);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_true(m[i].came < SPI_TEST_START + LATE * SIM_NS);
		assert_int_equal(m[i].chunks, 0);
	}
	for (uint32_t i = 0; i < NODES; i++)
		m[i] = (struct listener){ .type = MU_ALLREDUCE,
			.is_late = i == 1 };
	run_listeners(m);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_true(m[i].came > SPI_TEST_START + LATE * SIM_NS);
		assert_int_equal(m[i].chunks, 0);
	}
}

/* Puts and remote gets are in other tests. */
static void bgq_f135_packets_of_a_tree_are_kept_in_fifos(void **state)
{
	struct listener m[NODES] = { 0 };
	uint8_t want[600];

	spi_test_fill(7, want, sizeof(want));
	for (uint32_t i = 0; i < NODES; i++)
		m[i] = (struct listener){
			.type = MU_BROADCAST, .bytes = 600, .is_silent = i != 3
		};
	run_listeners(m);
	for (uint32_t i = 0; i < NODES; i++)
		assert_memory_equal(m[i].got, want, 600);
}

/* --- two classes of FIFOs --- */

struct classes {
	sim_time user, system; /* each has its sum */
};

static void set_route(uint32_t id, uint32_t channel)
{
	const MUSPI_Box_t all = { .high = { 1, 1 } };
	ClassRoute_t r;

	assert_int_equal(MUSPI_BuildNodeClassroute(&all, channel, &r), 0);
	assert_int_equal(MUSPI_SetClassrouteId(id, &r), 0);
}

/* Node 3 is late for the users' sum. */
static void use_classes(void *arg)
{
	struct classes *m = arg;
	MUSPI_CollectiveDirectPutDescriptorInfo_t user =
		spi_test_reduction(MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD, 8);
	MUSPI_CollectiveDirectPutDescriptorInfo_t system = user;
	MUSPI_InjFifoSubGroup_t g, h;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL), *s;
	MUHWI_Descriptor_t d;
	uint64_t eight = 8;

	program_become_system();
	s = spi_test_inj(&h, MU_SYSTEM_SUBGROUP, 0, 8, NULL);
	/* what is for all nodes shares links with the system's */
	set_route(CLASS, BGQ_CLASS_INPUT_VC_SUBCOMM);
	assert_int_equal(
		Kernel_DeallocateCollectiveClassRoute(SPI_CLASS_WORLD), 0);
	set_route(SPI_CLASS_SYSTEM, BGQ_CLASS_INPUT_VC_SYSTEM);
	spi_test_bases(8);
	assert_true(spi_store(SPI_TEST_COUNTER + 64, &eight, 8));
	user.Collective.Class_Route = CLASS;
	user.Collective.Misc = MU_SUB_COMM << 5 | MU_ALLREDUCE;
	system.Collective.Class_Route = SPI_CLASS_SYSTEM;
	system.Collective.Misc = MU_SYSTEM_COLLECTIVE << 5 | MU_ALLREDUCE;
	system.Base.Torus_FIFO_Map = MU_MAP_SYSTEM_COLLECTIVE;
	system.DirectPut.Rec_Counter_Offset = 64;
	program_wait(SPI_TEST_START);
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &user);
	if (program_node() != 3)
		MUSPI_InjFifoInject(f, &d);
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &system);
	MUSPI_InjFifoInject(s, &d);
	assert_true(spi_poll(SPI_TEST_COUNTER + 64, 0));
	m->system = program_now();
	program_wait(SPI_TEST_START + LATE * SIM_NS);
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &user);
	if (program_node() == 3)
		MUSPI_InjFifoInject(f, &d);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	m->user = program_now();
}

static void bgq_f18_users_collectives_hold_up_none_of_the_systems(void **state)
{
	struct classes m[NODES] = { 0 };

	spi_test_each("2x2", NODES, use_classes, m, sizeof(*m), 0);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_true(m[i].system < SPI_TEST_START + LATE * SIM_NS);
		assert_true(m[i].user > SPI_TEST_START + LATE * SIM_NS);
	}
}

/* --- what members need --- */

struct place {
	uint64_t at; /* where the sum goes */
	uint64_t sum;
};

static void sum_elsewhere(void *arg)
{
	struct place *m = arg;
	MUSPI_CollectiveDirectPutDescriptorInfo_t info =
		spi_test_reduction(MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD, 8);
	const MUSPI_BaseAddressTableSubGroup_t b = { .subgrpid = 20 };
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	uint64_t word = 1u << program_node();
	MUHWI_Descriptor_t d;

	spi_test_bases(8);
	assert_int_equal(MUSPI_SetBaseAddress(&b, 0, m->at), 0);
	set_route(CLASS, BGQ_CLASS_INPUT_VC_SUBCOMM);
	assert_true(spi_store(SPI_TEST_SOURCE, &word, 8));
	info.Collective.Class_Route = CLASS;
	info.Collective.Misc = MU_SUB_COMM << 5 | MU_ALLREDUCE;
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info);
	program_wait(SPI_TEST_START);
	assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_load(m->at, &m->sum, 8));
}

static void bgq_f138_members_have_the_sum_wherever_they_want_it(void **state)
{
	struct place m[NODES] = { 0 };

	for (uint32_t i = 0; i < NODES; i++)
		m[i].at = TARGET + 4096 * i + 8 * i;
	spi_test_each("2x2", NODES, sum_elsewhere, m, sizeof(*m), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(m[i].sum, 15);
}

/* --- the same bits --- */

struct adder {
	double value;
	bool is_chain; /* its tree is a line from node 0 to 2 */
	uint32_t delay; /* ns */
	uint64_t sum;
};

static void add(void *arg)
{
	static const ClassRoute_t chain[] = {
		{ .output = BGQ_CLASS_LINK_AP },
		{ .input = BGQ_CLASS_LINK_AM, .output = BGQ_CLASS_LINK_AP },
		{ .input = BGQ_CLASS_LINK_AM },
	};
	struct adder *m = arg;
	MUSPI_CollectiveDirectPutDescriptorInfo_t info = spi_test_reduction(
		MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD, 8);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	ClassRoute_t r = chain[program_node()];
	MUHWI_Descriptor_t d;

	r.input |= BGQ_CLASS_INPUT_LINK_LOCAL | BGQ_CLASS_INPUT_VC_SUBCOMM;
	assert_int_equal(MUSPI_SetClassrouteId(CLASS, &r), 0);
	spi_test_bases(8);
	assert_true(spi_store(SPI_TEST_SOURCE, &m->value, 8));
	if (m->is_chain) {
		info.Collective.Class_Route = CLASS;
		info.Collective.Misc = MU_SUB_COMM << 5 | MU_ALLREDUCE;
	}
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info);
	program_wait(SPI_TEST_START + m->delay * SIM_NS);
	assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_load(TARGET, &m->sum, 8));
}

/* Three values in any order, of members that come in any other. */
static double add_up(uint32_t order, uint32_t delays, bool is_chain)
{
	static const uint8_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 },
		{ 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	static const double value[] = { 1, 0x1p-53, 0x1.8p-53 };
	struct adder m[3];
	double sum;

	for (uint32_t i = 0; i < 3; i++)
		m[i] = (struct adder){ .value = value[orders[order][i]],
			.is_chain = is_chain,
			.delay = 400u * orders[delays][i] };
	spi_test_each("3", 3, add, m, sizeof(*m), 0);
	assert_true(m[1].sum == m[0].sum && m[2].sum == m[0].sum);
	memcpy(&sum, &m[0].sum, 8);
	return sum;
}

/* Two at the root's links are one sum; of a line, two. */
static void bgq_f56_a_tree_and_its_inputs_decide_every_bit(void **state)
{
	for (uint32_t i = 0; i < 6; i++) {
		assert_true(add_up(i, 0, false) == 1 + 0x1p-52);
		assert_true(add_up(0, i, false) == 1 + 0x1p-52);
		assert_true(add_up(1, i, true) == add_up(1, 0, true));
	}
	/* 1 and 1.5 2^-53 are 1 + 2^-52, which with 2^-53 is rounded to even */
	assert_true(add_up(1, 0, true) == 1 + 0x1p-51);
}

/* --- links that others use, too --- */

enum { SHARED = 64 << 10 };

/* Bytes of payload that a link carries in a second, with those of the way back
 * acknowledged. */
#define RATE 1.778e9

struct sharer {
	sim_time sum, put; /* all bytes have come */
};

/* Every node floods the link that its part of the sum goes by; puts and the
 * sum have as many bytes. */
static void share_link(void *arg)
{
	static const uint64_t bytes = SHARED;
	struct sharer *m = arg;
	MUSPI_CollectiveDirectPutDescriptorInfo_t sum = spi_test_reduction(
		MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD, SHARED);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t put =
		spi_test_put(1 - program_node(), SHARED, SHARED);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	MUSPI_InjFifo_t *h = spi_test_inj(&g, 0, 1, 8, NULL);
	MUHWI_Descriptor_t d;

	spi_test_bases(SHARED);
	assert_true(spi_store(SPI_TEST_COUNTER + 64, &bytes, 8));
	put.Base.Torus_FIFO_Map =
		program_node() ? MU_MAP_A_MINUS : (MU_MAP_A_MINUS >> 1);
	put.Pt2Pt.Hints_ABCD =
		program_node() ? MUHWI_PACKET_HINT_AM : MUHWI_PACKET_HINT_AP;
	put.DirectPut.Rec_Counter_Offset = 64;
	MUSPI_CreateCollectiveDirectPutDescriptor(&d, &sum);
	program_wait(SPI_TEST_START);
	spi_test_send_put(h, &put);
	MUSPI_InjFifoInject(f, &d);
	spi_poll(SPI_TEST_COUNTER, 0);
	m->sum = program_now() - SPI_TEST_START;
	spi_poll(SPI_TEST_COUNTER + 64, 0);
	m->put = program_now() - SPI_TEST_START;
}

static void sums_have_every_other_packet_of_a_busy_link(void **state)
{
	struct sharer m[2] = { 0 };

	spi_test_each("2", 2, share_link, m, sizeof(*m), 0);
	for (uint32_t i = 0; i < 2; i++) {
		double sum = SHARED * 1e12 / (double)m[i].sum;
		double put = SHARED * 1e12 / (double)m[i].put;

		assert_true(sum > 0.98 * RATE / 2 && sum < 1.02 * RATE / 2);
		assert_true(put > 0.98 * RATE / 2 && put < 1.02 * RATE / 2);
	}
}

TESTS(TEST(bgq_f14_a_header_alone_goes_down_a_tree),
	TEST(bgq_f135_packets_of_a_tree_are_kept_in_fifos),
	TEST(bgq_f18_users_collectives_hold_up_none_of_the_systems),
	TEST(bgq_f138_members_have_the_sum_wherever_they_want_it),
	TEST(sums_have_every_other_packet_of_a_busy_link),
	TEST(bgq_f56_a_tree_and_its_inputs_decide_every_bit))
