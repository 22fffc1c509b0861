#include <string.h>

#include "api/spi/spi_testing.h"

#include "testing/testing.h"

uint64_t spi_test_run(const char *shape, uint32_t n_workers,
	const struct spi_test_program *programs, uint32_t n, uint64_t n_errors)
{
	struct nic_testing m;
	uint64_t digest, told = 0;

	nic_testing_machine(&m, "bgq", shape);
	nic_testing_start(&m, n_workers, n);
	for (uint32_t i = 0; i < n; i++)
		program_start(m.host, programs[i].node, programs[i].thread, 0,
			programs[i].run, programs[i].arg);
	nic_testing_run(&m);
	for (uint32_t i = 0; i < m.net->n_sites; i++)
		told += nic_errors(m.nic, i, NULL, 0);
	assert_int_equal(told, n_errors);
	digest = nic_testing_digest(&m);
	nic_testing_fini(&m);
	return digest;
}

void spi_test_alone(void (*run)(void *arg), uint64_t n_errors)
{
	const struct spi_test_program p = { 1, 7, run, NULL };

	spi_test_run("2x2", 1, &p, 1, n_errors);
}

uint64_t spi_test_each(const char *shape, uint32_t n, void (*run)(void *arg),
	void *args, size_t size, uint64_t n_errors)
{
	struct spi_test_program p[HOST_THREADS];

	assert_true(n <= HOST_THREADS);
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct spi_test_program){ i, 0, run,
			(char *)args + i * size };
	return spi_test_run(shape, 1, p, n, n_errors);
}

MUSPI_InjFifo_t *spi_test_inj(MUSPI_InjFifoSubGroup_t *g, uint32_t subgrpid,
	uint32_t id, uint32_t places, const Kernel_InjFifoAttributes_t *attrs)
{
	uint64_t page = subgrpid * MU_PER_SUBGROUP + id;

	assert_int_equal(spi_open_inj(g, subgrpid, id, 1, attrs,
				 SPI_TEST_FIFOS + page * SPI_TEST_PAGE,
				 (uint64_t)places * MU_DESCRIPTOR_BYTES),
		0);
	return MUSPI_IdToInjFifo(id, g);
}

MUSPI_RecFifo_t *spi_test_rec(MUSPI_RecFifoSubGroup_t *g, uint32_t subgrpid,
	uint32_t id, uint32_t bytes)
{
	uint64_t page = MU_INJ_FIFOS + 16 * (subgrpid * 4 + id);

	assert_int_equal(spi_open_rec(g, subgrpid, id,
				 SPI_TEST_FIFOS + page * SPI_TEST_PAGE, bytes),
		0);
	return MUSPI_IdToRecFifo(id, g);
}

void spi_test_bases(uint64_t counter)
{
	static const uint32_t ids[] = { 0, 1 };
	MUSPI_BaseAddressTableSubGroup_t g;

	assert_true(spi_store(SPI_TEST_COUNTER, &counter, sizeof(counter)));
	assert_int_equal(Kernel_AllocateBaseAddressTable(20, &g, 2, ids, 0), 0);
	assert_int_equal(MUSPI_SetBaseAddress(&g, 0, SPI_TEST_TARGET), 0);
	assert_int_equal(MUSPI_SetBaseAddress(&g, 1,
				 MUSPI_GetAtomicAddress(SPI_TEST_COUNTER,
					 MU_ATOMIC_STORE_ADD)),
		0);
}

void spi_test_fill(uint32_t j, uint8_t *bytes, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = bytes_at(j, i);
}

static MUSPI_BaseDescriptorInfoFields_t base(uint32_t to, uint64_t bytes)
{
	return (MUSPI_BaseDescriptorInfoFields_t){
		.Payload_Address = SPI_TEST_SOURCE,
		.Message_Length = bytes,
		.Torus_FIFO_Map = MU_MAP_A_MINUS,
		.Dest = spi_destination(to),
	};
}

MUSPI_Pt2PtMemoryFIFODescriptorInfo_t spi_test_packet(
	uint32_t to, uint64_t bytes, uint32_t rec)
{
	return (MUSPI_Pt2PtMemoryFIFODescriptorInfo_t){
		.Base = base(to, bytes),
		.Pt2Pt = { .Misc2 =
				   MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC },
		.MemFIFO = { .Rec_FIFO_Id = rec },
	};
}

MUSPI_Pt2PtDirectPutDescriptorInfo_t spi_test_put(
	uint32_t to, uint64_t bytes, uint64_t offset)
{
	return (MUSPI_Pt2PtDirectPutDescriptorInfo_t){
		.Base = base(to, bytes),
		.Pt2Pt = { .Misc2 =
				   MUHWI_PACKET_VIRTUAL_CHANNEL_DETERMINISTIC },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Payload_Offset = offset,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
}

MUSPI_CollectiveDirectPutDescriptorInfo_t spi_test_reduction(
	uint8_t op, uint32_t bytes)
{
	return (MUSPI_CollectiveDirectPutDescriptorInfo_t){
		.Base = { .Payload_Address = SPI_TEST_SOURCE,
			.Message_Length = bytes,
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Op_Code = op,
			.Word_Length = 8,
			.Misc = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD |
				MUHWI_COLLECTIVE_TYPE_ALLREDUCE },
		.DirectPut = { .Rec_Payload_Base_Address_Id = SPI_TEST_BASE,
			.Rec_Counter_Base_Address_Id = SPI_TEST_BASE_COUNTER },
	};
}

uint64_t spi_test_send(
	MUSPI_InjFifo_t *f, const MUSPI_Pt2PtMemoryFIFODescriptorInfo_t *i)
{
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, i), 0);
	return MUSPI_InjFifoInject(f, &d);
}

uint64_t spi_test_send_put(
	MUSPI_InjFifo_t *f, const MUSPI_Pt2PtDirectPutDescriptorInfo_t *i)
{
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, i), 0);
	return MUSPI_InjFifoInject(f, &d);
}
