#include <errno.h>
#include <string.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

#define N(a)   (sizeof(a) / sizeof((a)[0]))
#define BIT(i) (UINT64_C(1) << (i))

static Kernel_MemoryRegion_t region(uint64_t va, uint64_t bytes)
{
	Kernel_MemoryRegion_t r;

	assert_int_equal(Kernel_CreateMemoryRegion(&r, va, bytes), 0);
	return r;
}

/* --- giving out and back --- */

static void inj_program(void *arg)
{
	const uint32_t ids[] = { 7, 0, 3 }, two[] = { 3, 4 };
	MUSPI_InjFifoSubGroup_t g, other;
	Kernel_MemoryRegion_t r = region(SPI_TEST_FIFOS, 4096);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 20000, 0);

	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	spi_test_bases(20008);
	assert_int_equal(Kernel_AllocateInjFifos(63, &g, 3, ids, NULL), 0);
	assert_int_equal(
		Kernel_AllocateInjFifos(63, &other, 2, two, NULL), EBUSY);
	assert_int_equal(MUSPI_IdToInjFifo(7, &g)->id, 63 * 8 + 7);
	/* nothing without memory, and memory only where it fits */
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, ids, 1), EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 4, &r, 0, 255), EINVAL);
	r.Bytes = UINT64_MAX; /* a lie */
	assert_int_equal(Kernel_InjFifoInit(&g, 7, &r,
				 NIC_TESTING_MEMORY - SPI_TEST_FIFOS, 255),
		EINVAL);
	assert_int_equal(Kernel_InjFifoInit(&g, 7, &r, 0, 255), 0);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, ids, 1), 0);
	assert_int_equal(Kernel_InjFifoInit(&g, 7, &r, 0, 255), EBUSY);
	assert_int_equal(spi_test_send_put(&g.fifo[7], &i), 0);
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 3, ids), EBUSY);
	assert_true(spi_poll(SPI_TEST_COUNTER, 8));
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 2, two), EINVAL);
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 3, ids), 0);
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 3, ids), EINVAL);
	i.Base.Message_Length = 8;
	/* another has it then, and goes on to count */
	assert_int_equal(Kernel_AllocateInjFifos(63, &g, 1, ids, NULL), 0);
	assert_int_equal(Kernel_InjFifoInit(&g, 7, &r, 512, 127), 0);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, ids, 1), 0);
	assert_int_equal(spi_test_send_put(&g.fifo[7], &i), 1);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(MUSPI_CheckDescComplete(&g.fifo[7], 1));
}

static void rec_program(void *arg)
{
	const uint32_t ids[] = { 3, 1 }, four = 4;
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = spi_test_packet(1, 8, 23);
	MUSPI_InjFifoSubGroup_t inj;
	MUSPI_RecFifoSubGroup_t g;
	Kernel_MemoryRegion_t r = region(SPI_TEST_TARGET, 4096);
	spi_packet_t p;

	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	spi_test_inj(&inj, 0, 0, 4, NULL);
	assert_int_equal(
		Kernel_AllocateRecFifos(5, &g, 1, &four, NULL), EINVAL);
	assert_int_equal(Kernel_AllocateRecFifos(68, &g, 1, ids, NULL), EINVAL);
	assert_int_equal(Kernel_AllocateRecFifos(5, &g, 2, ids, NULL), 0);
	assert_int_equal(Kernel_AllocateRecFifos(5, &g, 1, ids, NULL), EBUSY);
	assert_null(MUSPI_IdToRecFifo(4, &g));
	/* group 1, sub-group 1 of it, FIFO 3 */
	assert_int_equal(spi_rec_bit(5, 3), BIT(15 - 7));
	assert_int_equal(Kernel_RecFifoEnable(1, BIT(15 - 7)), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 16, 1023), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 0, 1000), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 0, 543), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 0, &r, 0, 1023), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 3584, 1023), EINVAL);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 0, 1023), 0);
	assert_int_equal(Kernel_RecFifoEnable(17, 1), EINVAL);
	assert_int_equal(Kernel_RecFifoEnable(1, BIT(16)), EINVAL);
	assert_int_equal(Kernel_RecFifoEnable(1, BIT(8) | BIT(9)), EINVAL);
	assert_int_equal(Kernel_RecFifoEnable(1, BIT(8)), 0);
	assert_int_equal(Kernel_RecFifoInit(&g, 3, &r, 0, 1023), EBUSY);
	assert_int_equal(spi_test_send(&inj.fifo[0], &i), 0);
	spi_wait_packet(&g.fifo[3]);
	assert_int_equal(Kernel_DeallocateRecFifos(&g, 2, ids), EBUSY);
	assert_int_equal(MUSPI_getNextPacket(&g.fifo[3], &p), 64);
	MUSPI_syncRecFifoHwHead(&g.fifo[3]);
	assert_int_equal(Kernel_DeallocateRecFifos(&g, 2, ids), 0);
	assert_int_equal(Kernel_DeallocateRecFifos(&g, 1, ids), EINVAL);
	/* closed: the unit throws away what comes */
	assert_int_equal(spi_test_send(&inj.fifo[0], &i), 1);
}

static void bases_program(void *arg)
{
	const uint32_t ids[] = { 2, 5 };
	MUSPI_BaseAddressTableSubGroup_t g;
	Kernel_MemoryRegion_t r = region(0x5000, 0x100);
	uint64_t pa;

	assert_int_equal(Kernel_AllocateBaseAddressTable(9, &g, 2, ids, 0), 0);
	assert_int_equal(
		Kernel_AllocateBaseAddressTable(9, &g, 1, ids, 0), EBUSY);
	assert_int_equal(Kernel_DeallocateBaseAddressTable(&g, 2, ids), 0);
	assert_int_equal(Kernel_DeallocateBaseAddressTable(&g, 1, ids), EINVAL);
	assert_int_equal(Kernel_AllocateBaseAddressTable(9, &g, 1, ids, 0), 0);
	assert_int_equal(spi_physical(&r, 0x50ff, &pa), 0);
	assert_int_equal(pa, 0x50ff);
	assert_int_equal(spi_physical(&r, 0x5100, &pa), EINVAL);
	assert_int_equal(spi_physical(&r, 0x4fff, &pa), EINVAL);
}

/* BGQ-F133 */
static void the_kernel_gives_out_and_takes_back(void **state)
{
	spi_test_alone(inj_program, 0);
	spi_test_alone(rec_program, 1);
	spi_test_alone(bases_program, 0);
}

/* --- users and the system --- */

static void user_program(void *arg)
{
	Kernel_InjFifoAttributes_t a = { .System = 1 };
	Kernel_RecFifoAttributes_t ra = { .System = 1 };
	MUSPI_InjFifoSubGroup_t g = { .subgrpid = 64 };
	MUSPI_RecFifoSubGroup_t rg = { .subgrpid = 67 };
	MUSPI_BaseAddressTableSubGroup_t b = { .subgrpid = 65 };
	Kernel_MemoryRegion_t r = region(0, 4096);
	const uint32_t id = 0;
	uint64_t mask;

	assert_int_equal(Kernel_AllocateInjFifos(64, &g, 1, &id, NULL), EPERM);
	assert_int_equal(Kernel_AllocateInjFifos(0, &g, 1, &id, &a), EPERM);
	assert_int_equal(Kernel_AllocateRecFifos(67, &rg, 1, &id, NULL), EPERM);
	assert_int_equal(Kernel_AllocateRecFifos(0, &rg, 1, &id, &ra), EPERM);
	assert_int_equal(
		Kernel_AllocateBaseAddressTable(65, &b, 1, &id, 0), EPERM);
	assert_int_equal(
		Kernel_AllocateBaseAddressTable(0, &b, 1, &id, 1), EPERM);
	assert_int_equal(Kernel_InjFifoInit(&g, 0, &r, 0, 127), EPERM);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, &id, 1), EPERM);
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 1, &id), EPERM);
	assert_int_equal(Kernel_RecFifoInit(&rg, 0, &r, 0, 1023), EPERM);
	assert_int_equal(Kernel_RecFifoEnable(16, 1), EPERM);
	assert_int_equal(Kernel_DeallocateRecFifos(&rg, 1, &id), EPERM);
	assert_int_equal(Kernel_DeallocateBaseAddressTable(&b, 1, &id), EPERM);
	assert_int_equal(Kernel_SetRange(0, 0, 10, MU_USER_READ), EPERM);
	assert_int_equal(Kernel_SetInterruptMask(0), EPERM);
	assert_int_equal(Kernel_SetInterruptGroup(MU_CRITICAL, 0), EPERM);
	assert_int_equal(Kernel_GetInterrupts(MU_CRITICAL, &mask), EPERM);
	assert_int_equal(Kernel_ClearErrors(1), EPERM);
	assert_int_equal(spi_wait_interrupt(BIT(MU_ERROR_RANGE)), 0);
	/* past the kernel: the unit itself says no, three times */
	assert_int_equal(MUSPI_SetBaseAddress(&b, 0, 4096), 0);
	g.fifo[0].id = 64 * 8;
	MUSPI_SetInjFifoThreshold(&g.fifo[0], 1);
	rg.fifo[0].id = 64 * 4;
	MUSPI_syncRecFifoHwHead(&rg.fifo[0]);
}

/* The system's own sub-groups, its channel, and its FIFO. */
static void system_program(void *arg)
{
	Kernel_InjFifoAttributes_t a = { .System = 1 };
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i =
		spi_test_packet(0, 8, 66 * 4 + 2);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_RecFifoSubGroup_t rg;
	MUSPI_BaseAddressTableSubGroup_t b;
	const uint32_t id = 6;
	spi_packet_t p;

	program_become_system();
	spi_test_inj(&g, 64, 6, 4, &a);
	assert_int_equal(Kernel_AllocateBaseAddressTable(67, &b, 1, &id, 1), 0);
	assert_int_equal(MUSPI_SetBaseAddress(&b, id, SPI_TEST_TARGET), 0);
	spi_test_rec(&rg, 66, 2, 1024);
	program_wait(SPI_TEST_START);
	i.Base.Torus_FIFO_Map = MU_MAP_SYSTEM;
	i.Base.Dest = spi_destination(program_node() ^ 1);
	i.Pt2Pt.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM;
	assert_int_equal(spi_test_send(&g.fifo[6], &i), 0);
	spi_wait_packet(&rg.fifo[2]);
	assert_int_equal(MUSPI_getNextPacket(&rg.fifo[2], &p), 64);
	MUSPI_syncRecFifoHwHead(&rg.fifo[2]);
	assert_int_equal(
		Kernel_DeallocateRecFifos(&rg, 1, (uint32_t[]){ 2 }), 0);
}

static void bgq_f134_users_and_the_system_use_the_same_calls(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 3, system_program, NULL },
		{ 1, 0, system_program, NULL },
	};

	spi_test_alone(user_program, 3);
	spi_test_run("2x2", 1, p, N(p), 0);
}

/* --- interrupts and errors --- */

static void threshold_program(void *arg)
{
	const uint64_t bit = BIT(MU_INT_INJ_THRESHOLD);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 512, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 2, 8, NULL);
	const uint32_t id = 2;

	spi_test_bases(7 * 512);
	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	MUSPI_SetInjFifoThreshold(f, 3);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, &id, 0), 0);
	for (uint32_t k = 0; k < 7; k++)
		assert_int_equal(spi_test_send_put(f, &i), k);
	assert_int_equal(MUSPI_getHwFreeSpace(f), 0);
	assert_int_equal(MUSPI_getInjFifosCrossed(&g), 0);
	assert_int_equal(Kernel_InjFifoActivate(&g, 1, &id, 1), 0);
	assert_int_equal(spi_wait_interrupt(bit), bit);
	/* above three: the fourth is sent, and perhaps one more since */
	assert_in_range(MUSPI_getHwDescCount(f), 4, 5);
	assert_int_equal(MUSPI_getInjFifosCrossed(&g), BIT(id));
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	program_charge(1000 * SIM_NS);
	assert_int_equal(MUSPI_getHwFreeSpace(f), 7);
	/* once */
	assert_int_equal(MUSPI_getInjFifosCrossed(&g), 0);
}

/* A masked interrupt is up and wakes nobody. */
static void masked_program(void *arg)
{
	const uint64_t bit = BIT(MU_INT_INJ_THRESHOLD);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 8, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 2, 8, NULL);
	Kernel_Errors_t e;
	uint64_t mask;

	program_become_system();
	spi_test_bases(8);
	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	MUSPI_SetInjFifoThreshold(f, 6);
	assert_int_equal(Kernel_SetInterruptMask(BIT(MU_INT_ARRIVAL)), 0);
	assert_int_equal(spi_test_send_put(f, &i), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	Kernel_GetErrors(&e);
	assert_int_equal(e.Status, bit);
	assert_int_equal(Kernel_GetInterrupts(MU_NON_CRITICAL, &mask), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(Kernel_SetInterruptMask(bit), 0);
	assert_int_equal(Kernel_GetInterrupts(MU_NON_CRITICAL, &mask), 0);
	assert_int_equal(mask, bit);
	assert_int_equal(Kernel_SetInterruptGroup(MU_NON_CRITICAL, 0), 0);
	assert_int_equal(Kernel_SetInterruptGroup(MU_MACHINE_CHECK, bit), 0);
	assert_int_equal(Kernel_GetInterrupts(MU_NON_CRITICAL, &mask), 0);
	assert_int_equal(mask, 0);
	assert_int_equal(Kernel_GetInterrupts(MU_MACHINE_CHECK, &mask), 0);
	assert_int_equal(mask, bit);
	assert_int_equal(Kernel_SetInterruptMask(BIT(MU_INTERRUPTS)), EINVAL);
	assert_int_equal(Kernel_ClearErrors(bit), 0);
	assert_int_equal(Kernel_GetInterrupts(MU_MACHINE_CHECK, &mask), 0);
	assert_int_equal(mask, 0);
}

/* Masks, causes and unmasks what another thread waits for. */
static void unmasking_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 8, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 2, 8, NULL);

	program_become_system();
	spi_test_bases(8);
	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	MUSPI_SetInjFifoThreshold(f, 6);
	assert_int_equal(Kernel_SetInterruptMask(0), 0);
	program_charge(1000 * SIM_NS);
	assert_int_equal(spi_test_send_put(f, &i), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	program_charge(10000 * SIM_NS);
	*(sim_time *)arg = program_now();
	assert_int_equal(Kernel_SetInterruptMask(BIT(MU_INT_INJ_THRESHOLD)), 0);
}

static void woken_program(void *arg)
{
	const uint64_t bit = BIT(MU_INT_INJ_THRESHOLD);

	program_wait(1500 * SIM_NS);
	assert_int_equal(spi_wait_interrupt(bit), bit);
	*(sim_time *)arg = program_now();
}

static void bgq_f107_a_masked_interrupt_wakes_nobody(void **state)
{
	sim_time unmasked, woken;
	const struct spi_test_program p[] = {
		{ 1, 0, unmasking_program, &unmasked },
		{ 1, 1, woken_program, &woken },
	};

	spi_test_run("2x2", 1, p, N(p), 0);
	/* the mask; a load of the status, a store that clears it */
	assert_int_equal(woken - unmasked, 3 * 200 * SIM_NS);
}

static void bgq_f107_space_above_a_threshold_interrupts(void **state)
{
	spi_test_alone(threshold_program, 0);
	spi_test_alone(masked_program, 0);
}

/* --- counters of senders --- */

/* Messages of each channel, and what each is on the wire. */
static const struct {
	uint8_t misc1, misc2;
	uint64_t map;
	uint32_t n, bytes, wire;
} counted[] = {
	{ MUHWI_PACKET_USE_DYNAMIC_ROUTING,
		MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC, MU_MAP_TORUS, 4, 8, 72 },
	{ 0, MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC, MU_MAP_TORUS, 3, 100,
		168 },
	{ 0, MUHWI_PACKET_VIRTUAL_CHANNEL_HIGH_PRIORITY, MU_MAP_HIGH, 2, 512,
		552 },
	{ 0, MUHWI_PACKET_VIRTUAL_CHANNEL_SYSTEM, MU_MAP_SYSTEM, 1, 33, 104 },
};

static void send_all_channels(MUSPI_InjFifo_t *user, MUSPI_InjFifo_t *system)
{
	for (uint32_t c = 0; c < N(counted); c++)
		for (uint32_t k = 0; k < counted[c].n; k++) {
			MUSPI_Pt2PtDirectPutDescriptorInfo_t i =
				spi_test_put(1, counted[c].bytes, 0);

			i.Pt2Pt.Misc1 = counted[c].misc1;
			i.Pt2Pt.Misc2 = counted[c].misc2;
			i.Base.Torus_FIFO_Map = counted[c].map;
			spi_test_send_put(c == MU_SYSTEM ? system : user, &i);
		}
	program_charge(20000 * SIM_NS);
}

/* Bytes of the channels of a mask. */
static uint64_t wire_bytes(uint32_t channels)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < N(counted); c++)
		sum += channels >> c & 1 ? counted[c].n * counted[c].wire : 0;
	return sum;
}

/* Four counters of A+ at once, with groups of channels; all groups in turn. */
static void counting_program(void *arg)
{
	Kernel_InjFifoAttributes_t a = { .System = 1 };
	MUSPI_InjFifoSubGroup_t g, sg;
	MUSPI_InjFifo_t *user = spi_test_inj(&g, 0, 0, 16, NULL), *system;

	assert_int_equal(Kernel_SetSenderCounter(0, 0, 15), EPERM);
	program_become_system();
	assert_int_equal(Kernel_SetSenderCounter(10, 0, 15), EINVAL);
	assert_int_equal(Kernel_SetSenderCounter(0, 4, 15), EINVAL);
	assert_int_equal(Kernel_SetSenderCounter(0, 0, 16), EINVAL);
	system = spi_test_inj(&sg, 64, 6, 4, &a);
	program_wait(SPI_TEST_START);
	for (uint32_t k = 0; k < 16; k += 4) {
		for (uint32_t c = 0; c < 4; c++) {
			assert_int_equal(
				Kernel_SetSenderCounter(0, c, k + c), 0);
			assert_int_equal(Kernel_SetSenderCounter(1, c, 15), 0);
			assert_int_equal(spi_upc(MU_UPC_SENT, c), 0);
		}
		send_all_channels(user, system);
		for (uint32_t c = 0; c < 4; c++) {
			assert_int_equal(
				spi_upc(MU_UPC_SENT, c), wire_bytes(k + c));
			assert_int_equal(spi_upc(MU_UPC_SENT, 4 + c), 0);
		}
	}
	assert_int_equal(spi_upc(MU_UPC_SENT, 40), 0);
}

static void counted_program(void *arg)
{
	spi_test_bases(4 * (4 * 8 + 3 * 100 + 2 * 512 + 33));
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	/* what came in by its A- it did not send */
	assert_int_equal(spi_upc(MU_UPC_SENT, 4), 0);
}

SPI_PAIR(bgq_f71_a_program_reads_four_counters_of_a_sender, "4x2",
	counting_program, 1, counted_program)

/* --- errors --- */

/* A descriptor that cannot be stops its FIFO; to deactivate it ends that. */
static void error_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 8, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 1, 0, 4, NULL);
	const uint32_t id = 0;
	Kernel_Errors_t e;

	spi_test_bases(8);
	Kernel_GetErrors(&e);
	assert_int_equal(e.Status, 0);
	assert_int_equal(e.Address, UINT64_MAX);
	i.Base.Torus_FIFO_Map = 0;
	assert_int_equal(spi_test_send_put(f, &i), 0);
	program_become_system();
	assert_int_equal(spi_wait_interrupt(BIT(MU_ERROR_DESCRIPTOR)),
		BIT(MU_ERROR_DESCRIPTOR));
	assert_true(MUSPI_isStopped(f));
	assert_false(MUSPI_CheckDescComplete(f, 0));
	Kernel_GetErrors(&e);
	assert_int_equal(e.Status, 0);
	assert_int_equal(e.Count[MU_ERROR_DESCRIPTOR], 1);
	assert_int_equal(e.Number, 8);
	assert_int_equal(e.Address, f->start);
	assert_int_equal(Kernel_DeallocateInjFifos(&g, 1, &id), 0);
	f = spi_test_inj(&g, 1, 0, 4, NULL);
	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	assert_int_equal(spi_test_send_put(f, &i), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_false(MUSPI_isStopped(f));
}

static void errors_are_told_and_mended(void **state)
{
	spi_test_alone(error_program, 1);
}

static void range_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 8, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 1, 0, 4, NULL);
	Kernel_Errors_t e;

	program_become_system();
	spi_test_bases(16);
	i.Base.Torus_FIFO_Map = MU_MAP_LOCAL;
	assert_int_equal(Kernel_SetRange(8, 0, 1, 0), EINVAL);
	assert_int_equal(Kernel_SetRange(0, 2, 1, 0), EINVAL);
	assert_int_equal(Kernel_SetRange(0, 0, 1, 16), EINVAL);
	/* all may be read, and all but the target written */
	assert_int_equal(
		Kernel_SetRange(0, 0, NIC_TESTING_MEMORY - 1, MU_USER_READ), 0);
	assert_int_equal(
		Kernel_SetRange(1, 0, SPI_TEST_TARGET - 1, MU_USER_WRITE), 0);
	assert_int_equal(spi_test_send_put(f, &i), 0);
	assert_int_equal(
		spi_wait_interrupt(BIT(MU_ERROR_RANGE)), BIT(MU_ERROR_RANGE));
	Kernel_GetErrors(&e);
	assert_int_equal(e.Count[MU_ERROR_RANGE], 1);
	assert_int_equal(e.Address, SPI_TEST_TARGET);
	assert_int_equal(Kernel_SetRange(7, SPI_TEST_TARGET,
				 SPI_TEST_TARGET + 7, MU_USER_WRITE),
		0);
	assert_int_equal(spi_test_send_put(f, &i), 1);
	assert_true(spi_poll(SPI_TEST_COUNTER, 8));
}

static void ranges_close_memory(void **state)
{
	spi_test_alone(range_program, 1);
}

/* --- the ring of configuration registers --- */

struct ring_user {
	uint32_t id;
	sim_time masked, routed;
};

static void ring_program(void *arg)
{
	const ClassRoute_t r = { .input = BGQ_CLASS_INPUT_LINK_LOCAL };
	struct ring_user *u = arg;

	program_become_system();
	assert_int_equal(Kernel_AllocateCollectiveClassRoute(u->id), 0);
	program_wait(SPI_TEST_START);
	assert_int_equal(Kernel_SetInterruptMask(0), 0);
	u->masked = program_now() - SPI_TEST_START;
	program_wait(2 * SPI_TEST_START);
	assert_int_equal(Kernel_SetCollectiveClassRoute(u->id, &r), 0);
	u->routed = program_now() - 2 * SPI_TEST_START;
}

static void bgq_f126_configuration_goes_by_a_slow_ring(void **state)
{
	struct ring_user u[] = { { .id = 1 }, { .id = 2 }, { .id = 3 } };
	const struct spi_test_program p[] = {
		{ 1, 0, ring_program, &u[0] },
		{ 1, 1, ring_program, &u[1] },
		{ 2, 0, ring_program, &u[2] },
	};

	spi_test_run("2x2", 1, p, N(p), 0);
	/* 20 cycles of 100 MHz, one at a time on each node */
	assert_int_equal(u[0].masked, 200 * SIM_NS);
	assert_int_equal(u[1].masked, 400 * SIM_NS);
	assert_int_equal(u[2].masked, 200 * SIM_NS);
	assert_int_equal(u[0].routed, 200 * SIM_NS);
	assert_int_equal(u[1].routed, 400 * SIM_NS);
	assert_int_equal(u[2].routed, 200 * SIM_NS);
}

TESTS(TEST(the_kernel_gives_out_and_takes_back),
	TEST(bgq_f134_users_and_the_system_use_the_same_calls),
	TEST(bgq_f107_space_above_a_threshold_interrupts),
	TEST(bgq_f107_a_masked_interrupt_wakes_nobody),
	TEST(bgq_f71_a_program_reads_four_counters_of_a_sender),
	TEST(errors_are_told_and_mended),
	TEST(bgq_f126_configuration_goes_by_a_slow_ring),
	TEST(ranges_close_memory))
