#include <errno.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

/* --- the bits of descriptors --- */

static void bgq_f104_a_descriptor_is_64_bytes_of_fields(void **state)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = {
		.Base = { .Payload_Address = UINT64_C(0x123456789a),
			.Message_Length = UINT64_C(0x1020304050),
			.Torus_FIFO_Map = 0xabcd },
		.MemFIFO = { .Interrupt = 1, .Rec_FIFO_Id = 271 },
	};
	static const uint8_t first[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x12,
		0x34, 0x56, 0x78, 0x9a, 0, 0, 0, 0x10, 0x20, 0x30, 0x40, 0x50,
		0, 0, 0, 0, 0, 0, 0xab, 0xcd };
	MUHWI_Descriptor_t d;

	assert_int_equal(sizeof(d), 64);
	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &i), 0);
	assert_memory_equal(&d, first, 32);
	i.Base.Pre_Fetch_Only = 1;
	i.MemFIFO.Interrupt = 0;
	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &i), 0);
	assert_int_equal(d.byte[3], 1);
	assert_int_equal(d.byte[7], 0);
}

/* The header's bytes, written out (BGQ-G9, BGQ-G11). */
static void bgq_f132_headers_are_built_bit_by_bit(void **state)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = {
		.Pt2Pt = { .Hints_ABCD =
				   MUHWI_PACKET_HINT_AM | MUHWI_PACKET_HINT_DP,
			.Misc1 = MUHWI_PACKET_HINT_EP | MUHWI_PACKET_DEPOSIT |
				 MUHWI_PACKET_USE_DYNAMIC_ROUTING,
			.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_HIGH_PRIORITY |
				 MUHWI_PACKET_ZONE_ROUTING_2 |
				 MUHWI_PACKET_STAY_ON_BUBBLE,
			.Skip = 0x77 },
		.DirectPut = { .Rec_Payload_Base_Address_Id = 543,
			.Rec_Payload_Offset = UINT64_C(0x1fedcba987),
			.Rec_Counter_Base_Address_Id = 0x123,
			.Rec_Counter_Offset = UINT64_C(0x10abcdef01),
			.Pacing = 1 },
	};
	/* 1, 2, 3, 4, 5 by six bits each; 543, 1 and 37 bits */
	static const uint8_t want[] = { 0x55, 0x81, 0x46, 0x54, 0x01, 0x08,
		0x31, 0x05, 0x50, 0, 0, 0x77, 0x87, 0xff, 0xed, 0xcb, 0xa9,
		0x87, 0x01, 0x23, 0, 0, 0, 0, 0, 0, 0, 0x10, 0xab, 0xcd, 0xef,
		0x01 };
	MUHWI_Descriptor_t d;

	MUSPI_SetUpDestination(&i.Base.Dest, 1, 2, 3, 4, 5);
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), 0);
	assert_memory_equal(&d.header, want, sizeof(want));
	assert_int_equal(mu_hints(&d.header), 0x205);
	assert_int_equal(mu_channel(&d.header), MU_HIGH);
	assert_int_equal(mu_zone(&d.header), 2);
	assert_true(mu_is_deposit(&d.header));
	assert_true(mu_stays_on_bubble(&d.header));
	assert_int_equal(mu_coord(&d.header, 4), 5);
}

/* BGQ-F86 */
static void there_are_three_kinds(void **state)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t f = {
		.MemFIFO = { .Rec_FIFO_Id = 271, .Rec_Put_Offset = 0x1234 },
	};
	MUSPI_Pt2PtDirectPutDescriptorInfo_t p = { 0 };
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t g = {
		.RemoteGet = { .Rget_Inj_FIFO_Id = 543 },
	};
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &f), 0);
	assert_int_equal(mu_packet_type(&d.header), MU_FIFO);
	assert_int_equal(mu_rec_fifo(&d.header), 271);
	assert_int_equal(mu_put_offset(&d.header), 0x1234);
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &p), 0);
	assert_int_equal(mu_packet_type(&d.header), MU_PUT);
	assert_int_equal(MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &g), 0);
	assert_int_equal(mu_packet_type(&d.header), MU_GET);
	assert_int_equal(mu_get_fifo(&d.header), 543);
	g.RemoteGet.Pacing = 1;
	assert_int_equal(MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &g), 0);
	assert_int_equal(mu_packet_type(&d.header), MU_PACED_GET);

	f.MemFIFO.Rec_FIFO_Id = 272;
	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &f), EINVAL);
	f = (MUSPI_Pt2PtMemoryFIFODescriptorInfo_t){ 0 };
	f.MemFIFO.Rec_Put_Offset = UINT64_C(1) << 37;
	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &f), EINVAL);
	f = (MUSPI_Pt2PtMemoryFIFODescriptorInfo_t){ 0 };
	f.MemFIFO.Interrupt = 2;
	assert_int_equal(MUSPI_CreatePt2PtMemoryFIFODescriptor(&d, &f), EINVAL);
	g.RemoteGet.Rget_Inj_FIFO_Id = 544;
	assert_int_equal(MUSPI_CreatePt2PtRemoteGetDescriptor(&d, &g), EINVAL);
}

/* --- who receives what --- */

static void both_program(void *arg)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t m = spi_test_packet(1, 40, 0);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 40, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	spi_test_store(SPI_TEST_SOURCE, 5, 40);
	program_wait(SPI_TEST_START);
	spi_test_send_put(f, &i);
	program_charge(5000 * SIM_NS);
	spi_test_send(f, &m);
}

static void waiting_program(void *arg)
{
	MUSPI_RecFifoSubGroup_t g;
	MUSPI_RecFifo_t *f = spi_test_rec(&g, 0, 0, 1024);
	spi_packet_t p;
	sim_time at;

	spi_test_bases(40);
	assert_int_equal(MUSPI_getNextPacket(f, &p), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	bytes_expect(SPI_TEST_TARGET, 5, 40);
	assert_in_range(
		program_now() - SPI_TEST_START, 500 * SIM_NS, 1500 * SIM_NS);
	spi_wait_packet(f);
	at = program_now();
	assert_in_range(at - SPI_TEST_START, 5500 * SIM_NS, 6500 * SIM_NS);
	/* known to be there: no wait */
	spi_wait_packet(f);
	assert_int_equal(program_now(), at);
	assert_int_equal(MUSPI_getNextPacket(f, &p), 96);
	assert_int_equal(program_now(), at);
	assert_int_equal(p.Payload[39], bytes_at(5, 39));
}

SPI_PAIR(bgq_f137_receivers_poll_a_fifo_or_a_counter, "2x2", both_program, 1,
	waiting_program)

TESTS(TEST(bgq_f104_a_descriptor_is_64_bytes_of_fields),
	TEST(bgq_f132_headers_are_built_bit_by_bit),
	TEST(there_are_three_kinds),
	TEST(bgq_f137_receivers_poll_a_fifo_or_a_counter))
