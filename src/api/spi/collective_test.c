/* Collectives from programs: routes, reductions, and what goes wrong. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

enum { NODES = 4, CLASS = 3 };

#define TARGET SPI_TEST_TARGET

/* What a member sends, and what it got. */
struct member {
	const void *sent;
	uint32_t bytes;
	MUSPI_CollectiveDirectPutDescriptorInfo_t info;
	bool is_silent;
	uint8_t got[1024];
	Kernel_Errors_t errors;
	uint64_t free; /* of bits of its status */
};

static void send(const struct member *m, MUSPI_InjFifo_t *f)
{
	MUHWI_Descriptor_t d;

	assert_true(spi_store(SPI_TEST_SOURCE, m->sent, m->bytes));
	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &m->info), 0);
	assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
}

static void take_part(void *arg)
{
	struct member *m = arg;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	spi_test_bases(m->bytes);
	program_wait(SPI_TEST_START);
	if (!m->is_silent)
		send(m, f);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_load(TARGET, m->got, m->bytes));
	Kernel_GetErrors(&m->errors);
}

static void run_members(struct member m[NODES], uint64_t n_errors)
{
	spi_test_each("2x2", NODES, take_part, m, sizeof(*m), n_errors);
}

/* Of words of eight bytes. */
static struct member member(const void *sent, uint32_t bytes, uint8_t op)
{
	return (struct member){ .sent = sent,
		.bytes = bytes,
		.info = spi_test_reduction(op, bytes) };
}

/* Sends doubles; returns bits of node 2's result. */
static uint64_t sum_of(struct member m[NODES], const double v[NODES])
{
	uint64_t bits;

	for (uint32_t i = 0; i < NODES; i++)
		m[i] = member(
			&v[i], 8, MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD);
	run_members(m, 0);
	for (uint32_t i = 1; i < NODES; i++)
		assert_memory_equal(m[i].got, m[0].got, 8);
	memcpy(&bits, m[2].got, 8);
	return bits;
}

static void bgq_f44_doubles_are_summed_for_all(void **state)
{
	const double v[NODES] = { 0.5, 1e3, -0.25, 1.0 / 1024 };
	struct member m[NODES];
	double sum = 0.5 + 1e3 - 0.25 + 1.0 / 1024, got;
	uint64_t bits = sum_of(m, v);

	memcpy(&got, &bits, 8);
	assert_true(got == sum);
	assert_int_equal(m[0].errors.Count[MU_INT_EXCEPTION], 0);
}

static void bgq_f57_a_nan_is_told_of_at_all_members(void **state)
{
	const double v[NODES] = { 1, NAN, 2, 3 };
	struct member m[NODES];

	assert_true(sum_of(m, v) == UINT64_C(0x7ff4000000000000));
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(m[i].errors.Status >> MU_INT_EXCEPTION & 1);
}

enum { LINE = 5 };

/*
 * In a line of five the middle is the root.  The two nodes at one end add up to
 * more than a word, where they meet; nothing that they meet later does.  What
 * that hop has flagged comes to the root by one of its links, beside inputs
 * without a flag, and is known everywhere.
 */
static void bgq_f57_an_overflow_below_the_root_is_told_of(void **state)
{
	struct member m[LINE];
	uint64_t got;

	for (uint32_t end = 0; end < 3; end++) {
		uint64_t v[LINE] = { 1, 1, 1, 1, 1 };

		if (end < 2)
			v[4 * end] = v[4 * end + 1 - 2 * end] = UINT64_C(1)
								<< 63;
		for (uint32_t i = 0; i < LINE; i++)
			m[i] = member(&v[i], 8,
				MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD);
		spi_test_each("5", LINE, take_part, m, sizeof(*m), 0);
		for (uint32_t i = 0; i < LINE; i++) {
			memcpy(&got, m[i].got, 8);
			assert_int_equal(got, end < 2 ? 3 : 5);
			assert_int_equal(
				m[i].errors.Status >> MU_INT_EXCEPTION & 1,
				end < 2);
		}
	}
}

static void wait_for_exception(void *arg)
{
	sim_time *woken = arg;

	assert_int_equal(spi_wait_interrupt(UINT64_C(1) << MU_INT_EXCEPTION),
		UINT64_C(1) << MU_INT_EXCEPTION);
	*woken = program_now();
}

/* Where it arises, and where the result comes to. */
static void bgq_f57_an_exception_wakes_programs_of_all_members(void **state)
{
	const double v[NODES] = { NAN, 1, 2, 3 };
	struct spi_test_program p[2 * NODES];
	sim_time woken[NODES] = { 0 };
	struct member m[NODES];

	for (uint32_t i = 0; i < NODES; i++) {
		m[i] = member(
			&v[i], 8, MUHWI_COLLECTIVE_OP_CODE_FLOATING_POINT_ADD);
		p[i] = (struct spi_test_program){ i, 0, take_part, &m[i] };
		p[NODES + i] = (struct spi_test_program){ i, 1,
			wait_for_exception, &woken[i] };
	}
	spi_test_run("2x2", 1, p, 2 * NODES, 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_true(woken[i] > SPI_TEST_START);
}

/* Every code, by hand, on words that end in two packets. */
static void bgq_f45_every_op_code_does_what_it_says(void **state)
{
	static const struct {
		uint8_t op;
		uint64_t want;
	} ops[] = {
		{ MUHWI_COLLECTIVE_OP_CODE_AND, 0 },
		{ MUHWI_COLLECTIVE_OP_CODE_OR, 0x7f },
		{ MUHWI_COLLECTIVE_OP_CODE_XOR, 0x73 },
		{ MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD, 0x8b },
		{ MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MIN, 0x01 },
		{ MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_MAX, 0x70 },
		{ MUHWI_COLLECTIVE_OP_CODE_SIGNED_ADD, 0x8b },
		{ MUHWI_COLLECTIVE_OP_CODE_SIGNED_MIN, 0x01 },
		{ MUHWI_COLLECTIVE_OP_CODE_SIGNED_MAX, 0x70 },
	};
	static const uint64_t value[NODES] = { 0x01, 0x70, 0x0c, 0x0e };
	uint64_t words[NODES][75];
	struct member m[NODES];

	for (uint32_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++) {
		for (uint32_t i = 0; i < NODES; i++) {
			for (uint32_t k = 0; k < 75; k++)
				words[i][k] = value[i];
			m[i] = member(words[i], 600, ops[o].op);
		}
		run_members(m, 0);
		for (uint32_t i = 0; i < NODES; i++)
			for (uint32_t k = 0; k < 75; k++)
				assert_memory_equal(
					m[i].got + 8 * k, &ops[o].want, 8);
	}
}

/* BGQ-F44, BGQ-F135 */
static void one_members_bytes_reach_all(void **state)
{
	static const uint8_t bytes[600] = { 1, 2, 3, [599] = 9 };
	struct member m[NODES];

	for (uint32_t i = 0; i < NODES; i++) {
		m[i] = member(bytes, 600, MUHWI_COLLECTIVE_OP_CODE_OR);
		m[i].is_silent = i != 1;
		m[i].info.Collective.Misc =
			MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD |
			MUHWI_COLLECTIVE_TYPE_BROADCAST;
	}
	run_members(m, 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_memory_equal(m[i].got, bytes, 600);
}

/* --- routes --- */

static void routes_program(void *arg)
{
	const MUSPI_Box_t line = { .low = { 0, 0 }, .high = { 1, 0 } };
	const ClassRoute_t local = { .input = BGQ_CLASS_INPUT_LINK_LOCAL |
					      BGQ_CLASS_INPUT_VC_SUBCOMM };
	ClassRoute_t r, back;
	uint32_t mask, ids[16], n;

	/* 0 is everybody's, 14 and 15 are the system's */
	assert_int_equal(Kernel_QueryCollectiveClassRoutes(&n, ids, 16), 0);
	assert_int_equal(n, 13);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(0), EAGAIN);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(14), EPERM);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(16), EINVAL);
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &local), EPERM);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(CLASS), 0);
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(CLASS), EAGAIN);
	r = local;
	r.output = BGQ_CLASS_LINK_AM | BGQ_CLASS_LINK_AP;
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &r),
		KERNEL_CLASS_TWO_OUTPUTS);
	r.output = BGQ_CLASS_INPUT_LINK_LOCAL;
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &r),
		KERNEL_CLASS_LOCAL_OUTPUT);
	r = (ClassRoute_t){ 0 };
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &r),
		KERNEL_CLASS_NO_LOCAL_INPUT);
	r = (ClassRoute_t){ .input = BGQ_CLASS_LINK_AM };
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &r),
		KERNEL_CLASS_NO_LOCAL_INPUT);
	r = local;
	r.input |= BGQ_CLASS_LINK_AM;
	r.output = BGQ_CLASS_LINK_AM;
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &r),
		KERNEL_CLASS_BOTH_WAYS);
	assert_int_equal(Kernel_SetCollectiveClassRoute(CLASS, &local), 0);
	assert_int_equal(Kernel_GetCollectiveClassRoute(CLASS, &back), 0);
	assert_memory_equal(&back, &local, sizeof(back));
	/* node 1 is beside the root, and its only child in A */
	assert_int_equal(MUSPI_BuildNodeClassroute(
				 &line, BGQ_CLASS_INPUT_VC_SUBCOMM, &r),
		0);
	assert_int_equal(r.input & BGQ_CLASS_LINKS,
		BGQ_CLASS_INPUT_LINK_LOCAL | BGQ_CLASS_LINK_AM);
	assert_int_equal(r.output, 0);
	assert_int_equal(MUSPI_PickWorldRoot().Destination,
		spi_destination(3).Destination);
	assert_int_equal(MUSPI_ReleaseClassrouteId(CLASS), 0);
	assert_int_equal(MUSPI_ReleaseClassrouteId(CLASS), EPERM);
	assert_int_equal(MUSPI_GetClassrouteIds(&mask), 0);
	assert_int_equal(mask, 0x3ffe);
	for (uint32_t i = 1; i < 14; i++)
		assert_int_equal(MUSPI_SetClassrouteId(i, &local), 0);
	assert_int_equal(MUSPI_GetClassrouteIds(&mask), EAGAIN);
}

/* Also BGQ-F133. */
static void bgq_f47_the_kernel_looks_at_class_routes(void **state)
{
	spi_test_alone(routes_program, 0);
}

/* --- descriptors that the unit rejects --- */

static void reject_program(void *arg)
{
	static const struct {
		uint8_t op, misc, kind;
		uint16_t word, bytes;
		uint64_t map;
	} bad[] = {
		{ 3, MU_COMM_WORLD << 5, 0, 8, 8, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5 | 3, 0, 8, 8, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_DYNAMIC << 5, 0, 8, 8, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5, 0, 8, 12, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5, 0, 2, 8, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5, 0, 1024, 1024,
			MU_MAP_USER_COLLECTIVE },
		{ 0xc, MU_COMM_WORLD << 5, 0, 4, 8, MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5, 0, 8, 8, MU_MAP_TORUS },
		{ 0, MU_SYSTEM_COLLECTIVE << 5, 0, 8, 8,
			MU_MAP_USER_COLLECTIVE },
		{ 0, MU_COMM_WORLD << 5, 0, 8, 8, MU_MAP_SYSTEM_COLLECTIVE },
		/* a user's FIFO */
		{ 0, MU_SYSTEM_COLLECTIVE << 5, 0, 8, 8,
			MU_MAP_SYSTEM_COLLECTIVE },
	};
	MUSPI_CollectiveDirectPutDescriptorInfo_t info;
	MUSPI_InjFifoSubGroup_t g;
	MUHWI_Descriptor_t d;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		MUSPI_InjFifo_t *f = spi_test_inj(&g, 2 + i, 0, 4, NULL);

		info = spi_test_reduction(bad[i].op, bad[i].bytes);
		info.Collective.Misc = bad[i].misc;
		info.Collective.Word_Length = bad[i].word;
		info.Base.Torus_FIFO_Map = bad[i].map;
		assert_int_equal(
			MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info),
			0);
		MUSPI_InjFifoInject(f, &d);
		program_charge(1000 * SIM_NS);
		assert_true(MUSPI_isStopped(f));
	}
	info = spi_test_reduction(0, 8);
	info.Collective.Word_Length = 24;
	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), EINVAL);
	info = spi_test_reduction(0, 8);
	info.Collective.Class_Route = 16;
	assert_int_equal(
		MUSPI_CreateCollectiveDirectPutDescriptor(&d, &info), EINVAL);
}

static void bad_collectives_stop_their_fifo_alone(void **state)
{
	spi_test_alone(reject_program, 11);
}

/* --- one node starts a reduction of all --- */

static void trigger_program(void *arg)
{
	static const Kernel_InjFifoAttributes_t gets = { .RemoteGet = 1 };
	struct member *m = arg;
	MUSPI_CollectiveRemoteGetDescriptorInfo_t info = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE + 4096,
			.Message_Length = sizeof(MUHWI_Descriptor_t),
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Word_Length = 8,
			.Misc = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD |
				MUHWI_COLLECTIVE_TYPE_BROADCAST },
		.RemoteGet = { .Rget_Inj_FIFO_Id = 8 },
	};
	MUSPI_InjFifoSubGroup_t g, h;
	MUHWI_Descriptor_t d;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	spi_test_inj(&h, 1, 0, 8, &gets);
	spi_test_bases(m->bytes);
	assert_true(spi_store(SPI_TEST_SOURCE, m->sent, m->bytes));
	program_wait(SPI_TEST_START);
	if (!m->is_silent) {
		assert_int_equal(
			MUSPI_CreateCollectiveDirectPutDescriptor(&d, &m->info),
			0);
		assert_true(
			spi_store(info.Base.Payload_Address, &d, sizeof(d)));
		assert_int_equal(
			MUSPI_CreateCollectiveRemoteGetDescriptor(&d, &info),
			0);
		assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	}
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_load(TARGET, m->got, m->bytes));
}

/* BGQ-F135 */
static void bgq_f58_one_node_starts_a_reduction_of_all(void **state)
{
	uint64_t word[NODES], want = 1 + 2 + 4 + 8;
	struct member m[NODES];

	for (uint32_t i = 0; i < NODES; i++) {
		word[i] = 1u << i;
		m[i] = member(
			&word[i], 8, MUHWI_COLLECTIVE_OP_CODE_UNSIGNED_ADD);
		m[i].is_silent = i != 2;
	}
	spi_test_each("2x2", NODES, trigger_program, m, sizeof(*m), 0);
	for (uint32_t i = 0; i < NODES; i++)
		assert_memory_equal(m[i].got, &want, 8);
}

/* --- a remote get of all into a full FIFO --- */

enum { GETS = 6, LARGE = 3000, NARROW = 1 };

/* Every node is to send two puts to node 3 for each get. */
static void broadcast_gets(MUSPI_InjFifo_t *f)
{
	const MUSPI_Pt2PtDirectPutDescriptorInfo_t put =
		spi_test_put(3, LARGE, 0);
	const MUSPI_CollectiveRemoteGetDescriptorInfo_t get = {
		.Base = { .Payload_Address = SPI_TEST_SOURCE + 2 * LARGE,
			.Message_Length = 2 * sizeof(MUHWI_Descriptor_t),
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Word_Length = 8,
			.Misc = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD |
				MUHWI_COLLECTIVE_TYPE_BROADCAST },
		.RemoteGet = { .Rget_Inj_FIFO_Id = 8 },
	};
	MUHWI_Descriptor_t d[2];

	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d[0], &put), 0);
	d[1] = d[0];
	assert_true(spi_store(get.Base.Payload_Address, d, sizeof(d)));
	assert_int_equal(
		MUSPI_CreateCollectiveRemoteGetDescriptor(&d[0], &get), 0);
	for (uint32_t i = 0; i < GETS; i++)
		assert_int_equal(MUSPI_InjFifoInject(f, &d[0]), (int)i);
}

static void serve_gets(void *arg)
{
	static const Kernel_InjFifoAttributes_t gets = { .RemoteGet = 1 };
	uint64_t *full = arg; /* times that it reported so */
	uint32_t node = program_node();
	MUSPI_InjFifoSubGroup_t g, h;
	Kernel_Errors_t errors;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	spi_test_inj(&h, 1, 0, node == NARROW ? 4 : 32, &gets);
	spi_test_bases(node == 3 ? NODES * GETS * 2 * LARGE : 0);
	program_wait(SPI_TEST_START);
	if (node == 0)
		broadcast_gets(f);
	program_wait(10 * SPI_TEST_START);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	Kernel_GetErrors(&errors);
	*full = errors.Count[MU_INT_GET_FULL];
}

/* That node alone is told; nothing is lost. */
static void bgq_f58_a_get_of_all_waits_where_a_fifo_is_full(void **state)
{
	struct spi_test_program p[NODES];
	uint64_t full[NODES], digest;

	for (uint32_t i = 0; i < NODES; i++)
		p[i] = (struct spi_test_program){ i, 0, serve_gets, &full[i] };
	digest = spi_test_run("2x2", 3, p, NODES, 0);
	assert_int_equal(spi_test_run("2x2", 1, p, NODES, 0), digest);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(full[i] > 0, i == NARROW);
}

TESTS(TEST(bgq_f44_doubles_are_summed_for_all),
	TEST(bgq_f57_a_nan_is_told_of_at_all_members),
	TEST(bgq_f57_an_overflow_below_the_root_is_told_of),
	TEST(bgq_f57_an_exception_wakes_programs_of_all_members),
	TEST(bgq_f45_every_op_code_does_what_it_says),
	TEST(one_members_bytes_reach_all),
	TEST(bgq_f47_the_kernel_looks_at_class_routes),
	TEST(bad_collectives_stop_their_fifo_alone),
	TEST(bgq_f58_one_node_starts_a_reduction_of_all),
	TEST(bgq_f58_a_get_of_all_waits_where_a_fifo_is_full))
