#include <errno.h>
#include <string.h>

#include "api/spi/spi_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

enum {
	FIFO_AT = 0x10000,
	FIFO_BYTES = 1024,
	FIFOS = 3, /* of each node, in as many sub-groups */
	SLOT = 8192, /* bytes of memory for a message */
	LONGEST = 5000,
};

/* --- messages drawn by lot: number j of a list that all nodes know --- */

struct traffic {
	uint32_t n_nodes, n_messages;
	uint64_t seed;
};

struct message {
	uint32_t from, to;
	uint32_t bytes;
	uint32_t source, target; /* where in their slots */
	uint32_t channel, fifo;
};

static struct message message(const struct traffic *t, uint32_t j)
{
	struct random_bits r = random_draw(t->seed, j, RANDOM_TEST, 0);
	struct random_bits q = random_draw(t->seed, j, RANDOM_TEST, 1);
	uint32_t most = r.b >> 62 ? LONGEST : 600;
	uint32_t channel = (uint32_t)(q.a >> 20 & 3);

	/* the system's channel is for its own FIFO, the last one */
	return (struct message){
		.from = (uint32_t)random_below(r.a, t->n_nodes),
		.to = (uint32_t)random_below(r.a << 20, t->n_nodes),
		.bytes = 1 + (uint32_t)random_below(r.b << 2, most),
		.source = (uint32_t)(q.a & 1023),
		.target = (uint32_t)(q.a >> 10 & 1023),
		.channel = channel,
		.fifo = channel == MU_SYSTEM
				? FIFOS - 1
				: (uint32_t)random_below(q.b, FIFOS),
	};
}

/* --- a node --- */

struct fifos {
	MUSPI_InjFifoSubGroup_t group[FIFOS];
	uint64_t last[FIFOS]; /* descriptor */
};

static void open_fifos(struct fifos *f)
{
	uint32_t id;

	for (uint32_t i = 0; i < FIFOS; i++) {
		Kernel_MemoryRegion_t r;

		id = i * 3;
		assert_int_equal(Kernel_CreateMemoryRegion(&r,
					 FIFO_AT + i * FIFO_BYTES, FIFO_BYTES),
			0);
		assert_int_equal(Kernel_AllocateInjFifos(
					 i * 32, &f->group[i], 1, &id, NULL),
			0);
		assert_int_equal(Kernel_InjFifoInit(&f->group[i], id, &r, 0,
					 FIFO_BYTES - 1),
			0);
		assert_int_equal(Kernel_InjFifoActivate(&f->group[i], 1, &id,
					 KERNEL_INJ_FIFO_ACTIVATE),
			0);
	}
}

static uint64_t map_of(const struct message *m)
{
	static const uint64_t map[] = {
		MU_MAP_TORUS,
		MU_MAP_TORUS,
		MU_MAP_HIGH,
		MU_MAP_SYSTEM,
	};

	return m->from == m->to && m->channel <= MU_DETERMINISTIC
		       ? MU_MAP_LOCAL
		       : map[m->channel];
}

static MUHWI_Descriptor_t describe(uint32_t j, const struct message *m)
{
	const uint8_t dynamic = MUHWI_PACKET_USE_DYNAMIC_ROUTING;
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Base = { .Payload_Address =
				  SPI_TEST_SOURCE + j * SLOT + m->source,
			.Message_Length = m->bytes,
			.Torus_FIFO_Map = map_of(m),
			.Dest = spi_destination(m->to) },
		.Pt2Pt = { .Misc1 = m->channel == MU_DYNAMIC ? dynamic : 0,
			.Misc2 = (uint8_t)(m->channel << 5) },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Payload_Offset = (uint64_t)j * SLOT + m->target,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), 0);
	return d;
}

static void send_all(const struct traffic *t, struct fifos *f)
{
	for (uint32_t j = 0; j < t->n_messages; j++) {
		struct message m = message(t, j);
		MUHWI_Descriptor_t d;
		uint64_t n;

		if (m.from != program_node())
			continue;
		d = describe(j, &m);
		do
			n = MUSPI_InjFifoInject(MUSPI_IdToInjFifo(m.fifo * 3,
							&f->group[m.fifo]),
				&d);
		while (n == (uint64_t)-1);
		f->last[m.fifo] = n + 1;
	}
}

/* The bytes, and some before and behind that nobody wrote. */
static void check_message(uint32_t j, const struct message *m)
{
	uint8_t got[LONGEST + 64], want[LONGEST + 64];
	uint64_t at = SPI_TEST_TARGET + (uint64_t)j * SLOT + m->target;

	memset(want, 0, sizeof(want));
	spi_test_fill(j, want + 32, m->bytes);
	assert_true(spi_load(at - 32, got, m->bytes + 64));
	assert_memory_equal(got, want, m->bytes + 64);
}

static void node_program(void *arg)
{
	const struct traffic *t = arg;
	uint8_t bytes[LONGEST];
	struct fifos f = { 0 };
	uint64_t left = 0;

	for (uint32_t j = 0; j < t->n_messages; j++) {
		struct message m = message(t, j);

		if (m.to == program_node())
			left += m.bytes;
		if (m.from != program_node())
			continue;
		spi_test_fill(j, bytes, m.bytes);
		assert_true(spi_store(
			SPI_TEST_SOURCE + (uint64_t)j * SLOT + m.source, bytes,
			m.bytes));
	}
	program_become_system();
	spi_test_bases(left);
	open_fifos(&f);
	program_wait(5000 * SIM_NS);
	send_all(t, &f);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	for (uint32_t j = 0; j < t->n_messages; j++) {
		struct message m = message(t, j);

		if (m.to == program_node())
			check_message(j, &m);
	}
	for (uint32_t j = 0; j < FIFOS; j++)
		while (f.last[j] &&
			!MUSPI_CheckDescComplete(
				MUSPI_IdToInjFifo(j * 3, &f.group[j]),
				f.last[j] - 1))
			;
}

static uint64_t run_traffic(
	struct traffic *t, const char *shape, uint32_t n_workers)
{
	struct spi_test_program p[HOST_THREADS];

	for (uint32_t i = 0; i < t->n_nodes; i++)
		p[i] = (struct spi_test_program){ i, 0, node_program, t };
	return spi_test_run(shape, n_workers, p, t->n_nodes, 0);
}

/* BGQ-F93, BGQ-F114, BGQ-F117, BGQ-F124, BGQ-F125 */
/* Random sizes, alignments, channels, FIFOs and nodes, itself included. */
static void messages_arrive_whole_at_their_place(void **state)
{
	static const char *const shapes[] = { "3x4", "2x2x2x2x2", "5x1x2" };
	static const uint32_t n_nodes[] = { 12, 32, 10 };

	for (uint32_t i = 0; i < 3; i++) {
		struct traffic t = {
			.n_nodes = n_nodes[i],
			.n_messages = 1500,
			.seed = i,
		};
		uint64_t digest = run_traffic(&t, shapes[i], 1);

		assert_int_equal(run_traffic(&t, shapes[i], 2), digest);
		assert_int_equal(run_traffic(&t, shapes[i], 3), digest);
		assert_int_equal(run_traffic(&t, shapes[i], 7), digest);
	}
}

/* --- mistakes --- */

static void mistaken_program(void *arg)
{
	uint32_t ids[] = { 2, 2 }, id = 2, id8 = 8, id3 = 3;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_BaseAddressTableSubGroup_t b;
	Kernel_MemoryRegion_t r;

	assert_int_equal(Kernel_AllocateInjFifos(68, &g, 1, &id, NULL), EINVAL);
	assert_int_equal(Kernel_AllocateInjFifos(1, &g, 1, &id8, NULL), EINVAL);
	assert_int_equal(Kernel_AllocateInjFifos(1, &g, 2, ids, NULL), EINVAL);
	assert_int_equal(Kernel_AllocateInjFifos(1, &g, 1, &id, NULL), 0);
	assert_int_equal(Kernel_AllocateInjFifos(1, &g, 1, &id, NULL), EBUSY);
	assert_int_equal(Kernel_AllocateInjFifos(1, &g, 1, &id3, NULL), 0);

	assert_int_equal(
		Kernel_CreateMemoryRegion(&r, NIC_TESTING_MEMORY - 10, 11),
		ENOMEM);
	assert_int_equal(Kernel_CreateMemoryRegion(&r, UINT64_MAX, 1), ENOMEM);
	assert_int_equal(Kernel_CreateMemoryRegion(&r, 4096, 1024), 0);
	assert_int_equal(Kernel_InjFifoInit(&g, 2, &r, 32, 127), EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 2, &r, 64, 100), EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 2, &r, 0, 63), EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 2, &r, 64, 1023), EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 8, &r, 64, 127), EINVAL);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, &id8, 1), EINVAL);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, &id, 2), EINVAL);
	assert_null(MUSPI_IdToInjFifo(8, &g));

	assert_int_equal(Kernel_AllocateBaseAddressTable(3, &b, 1, &id, 0), 0);
	assert_int_equal(
		Kernel_AllocateBaseAddressTable(3, &b, 1, &id, 0), EBUSY);
	assert_int_equal(MUSPI_SetBaseAddress(&b, 8, 0), EINVAL);
	assert_false(spi_poll(SPI_TEST_COUNTER + 4, 0));
	assert_false(spi_load(NIC_TESTING_MEMORY, &id, 1));
}

static void mistakes_are_told_to_the_program(void **state)
{
	spi_test_alone(mistaken_program, 0);
}

static void fields_that_do_not_fit_are_refused(void **state)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t good = { 0 }, i;
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &good), 0);
	i = good;
	i.DirectPut.Rec_Payload_Base_Address_Id = 544;
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), EINVAL);
	i = good;
	i.DirectPut.Rec_Counter_Base_Address_Id = 544;
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), EINVAL);
	i = good;
	i.DirectPut.Rec_Payload_Offset = UINT64_C(1) << 37;
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), EINVAL);
	i = good;
	i.DirectPut.Rec_Counter_Offset = UINT64_MAX;
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), EINVAL);
	i = good;
	i.DirectPut.Pacing = 2;
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), EINVAL);
}

/* --- cost --- */

struct costs {
	sim_time inject, check, full;
};

static void costly_program(void *arg)
{
	struct costs *c = arg;
	uint32_t id = 0;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = MUSPI_IdToInjFifo(0, &g);
	Kernel_MemoryRegion_t r;
	MUHWI_Descriptor_t d = { { 0 }, { { 0 } } }; /* will be refused */

	assert_int_equal(Kernel_CreateMemoryRegion(&r, FIFO_AT, 128), 0);
	assert_int_equal(Kernel_AllocateInjFifos(0, &g, 1, &id, NULL), 0);
	assert_int_equal(Kernel_InjFifoInit(&g, 0, &r, 0, 127), 0);
	c->inject = program_now();
	assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	c->check = program_now();
	c->inject = c->check - c->inject;
	assert_false(MUSPI_CheckDescComplete(f, 0));
	c->full = program_now();
	c->check = c->full - c->check;
	assert_int_equal(MUSPI_InjFifoInject(f, &d), (uint64_t)-1);
	c->full = program_now() - c->full;
}

static void calls_cost_what_the_machine_says(void **state)
{
	struct costs c;

	spi_test_each("2x2", 1, costly_program, &c, 0, 0);
	assert_int_equal(c.inject, 98 * SIM_NS);
	/* behind the store of the tail, which the port is busy with */
	assert_int_equal(c.check, 135 * SIM_NS);
	assert_int_equal(c.full, 130 * SIM_NS); /* that it is full */
}

TESTS(TEST(messages_arrive_whole_at_their_place),
	TEST(mistakes_are_told_to_the_program),
	TEST(fields_that_do_not_fit_are_refused),
	TEST(calls_cost_what_the_machine_says))
