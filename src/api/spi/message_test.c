#include <errno.h>
#include <string.h>

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

	(void)state;
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

	(void)state;
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

	(void)state;
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

/* --- remote gets --- */

enum { GET_AT = 0x8000, PIECES = 3, PIECE = 700 };

/* Another node's unit sends three pieces of its memory. */
static void getting_program(void *arg)
{
	MUSPI_Pt2PtRemoteGetDescriptorInfo_t get = {
		.Base = { .Payload_Address = GET_AT,
			.Message_Length = PIECES * 64,
			.Torus_FIFO_Map = MU_MAP_TORUS,
			.Dest = spi_destination(3) },
		.Pt2Pt = { .Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING },
		.RemoteGet = { .Rget_Inj_FIFO_Id = 2 * 8 + 4 },
	};
	MUHWI_Descriptor_t d[PIECES], g;
	MUSPI_InjFifoSubGroup_t group;
	MUSPI_InjFifo_t *f = spi_test_inj(&group, 0, 0, 8, NULL);
	uint32_t k;

	(void)arg;
	spi_test_bases(PIECES * PIECE);
	for (k = 0; k < PIECES; k++) {
		MUSPI_Pt2PtDirectPutDescriptorInfo_t i =
			spi_test_put(0, PIECE, k * 5000);

		i.Base.Payload_Address += k * 2000;
		assert_int_equal(
			MUSPI_CreatePt2PtDirectPutDescriptor(&d[k], &i), 0);
	}
	assert_true(spi_store(GET_AT, d, sizeof(d)));
	assert_int_equal(MUSPI_CreatePt2PtRemoteGetDescriptor(&g, &get), 0);
	program_wait(SPI_TEST_START);
	assert_int_equal(MUSPI_InjFifoInject(f, &g), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	for (k = 0; k < PIECES; k++)
		assert_true(
			spi_test_is(SPI_TEST_TARGET + k * 5000, 30 + k, PIECE));
}

static void gotten_program(void *arg)
{
	Kernel_InjFifoAttributes_t a = { .RemoteGet = 1 };
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 2, 4, 8, &a);
	uint32_t k;

	(void)arg;
	for (k = 0; k < PIECES; k++)
		spi_test_store(SPI_TEST_SOURCE + k * 2000, 30 + k, PIECE);
	/* its software does nothing more but look */
	while (!MUSPI_CheckDescComplete(f, PIECES - 1))
		;
	assert_int_equal(MUSPI_getHwDescCount(f), PIECES);
	assert_int_equal(MUSPI_getHwHead(f), f->start + PIECES * 64);
}

static void bgq_f118_a_remote_get_brings_descriptors(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, getting_program, NULL },
		{ 3, 0, gotten_program, NULL },
	};

	(void)state;
	assert_int_equal(spi_test_run("2x2", 1, p, N(p), 0),
		spi_test_run("2x2", 2, p, N(p), 0));
}

/* --- puts --- */

enum { BYTES = 3000 };

static void putting_program(void *arg)
{
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i;

	(void)arg;
	spi_test_store(SPI_TEST_SOURCE, 1, BYTES);
	program_wait(SPI_TEST_START);
	i = spi_test_put(1, BYTES, 17);
	spi_test_send_put(f, &i);
	program_charge(20000 * SIM_NS);
	i = spi_test_put(1, BYTES, 100001);
	i.DirectPut.Rec_Counter_Offset = 8;
	spi_test_send_put(f, &i);
	program_charge(20000 * SIM_NS);
	spi_test_send_put(f, &i);
}

static uint64_t counter(uint32_t i)
{
	uint64_t word;

	assert_true(spi_load(SPI_TEST_COUNTER + 8 * i, &word, 8));
	return word;
}

static void counting_program(void *arg)
{
	uint64_t left = 2 * BYTES;

	(void)arg;
	spi_test_bases(BYTES + 1);
	assert_true(spi_store(SPI_TEST_COUNTER + 8, &left, 8));
	/* down to what was not sent */
	assert_true(spi_poll(SPI_TEST_COUNTER, 1));
	assert_true(spi_test_is(SPI_TEST_TARGET + 17, 1, BYTES));
	assert_int_equal(counter(1), 2 * BYTES);
	/* two messages on one counter, which is at another offset */
	assert_true(spi_poll(SPI_TEST_COUNTER + 8, BYTES));
	assert_true(spi_test_is(SPI_TEST_TARGET + 100001, 1, BYTES));
	assert_true(program_now() < SPI_TEST_START + 40000 * SIM_NS);
	/* complete: the memory is software's again */
	assert_true(spi_store(SPI_TEST_TARGET + 17, &left, 8));
	assert_true(spi_poll(SPI_TEST_COUNTER + 8, 0));
	assert_false(spi_test_is(SPI_TEST_TARGET + 17, 1, BYTES));
	assert_true(spi_test_is(SPI_TEST_TARGET + 100001, 1, BYTES));
	assert_int_equal(counter(0), 1);
}

static void bgq_f125_counters_count_bytes_down(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, putting_program, NULL },
		{ 1, 0, counting_program, NULL },
	};

	(void)state;
	spi_test_run("2x2", 1, p, N(p), 0);
}

/* Every packet of a put knows its place: they come by different ways, in any
 * order, and a message has an odd place and length. */
static void spread_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(13, 9999, 12345);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	(void)arg;
	i.Base.Torus_FIFO_Map = MU_MAP_TORUS;
	i.Pt2Pt.Misc1 = MUHWI_PACKET_USE_DYNAMIC_ROUTING;
	i.Pt2Pt.Misc2 = MUHWI_PACKET_VIRTUAL_CHANNEL_DYNAMIC;
	spi_test_store(SPI_TEST_SOURCE, 77, 9999);
	program_wait(SPI_TEST_START);
	spi_test_send_put(f, &i);
}

static void placed_program(void *arg)
{
	(void)arg;
	spi_test_bases(9999);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_test_is(SPI_TEST_TARGET + 12345, 77, 9999));
}

static void bgq_f124_every_packet_knows_its_place(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, spread_program, NULL },
		{ 13, 0, placed_program, NULL },
	};

	(void)state;
	spi_test_run("4x4", 1, p, N(p), 0);
}

/* --- who receives what --- */

static void both_program(void *arg)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t m = spi_test_packet(1, 40, 0);
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 40, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	(void)arg;
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

	(void)arg;
	spi_test_bases(40);
	assert_int_equal(MUSPI_getNextPacket(f, &p), 0);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_test_is(SPI_TEST_TARGET, 5, 40));
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
	assert_int_equal(p.Payload[39], spi_test_byte(5, 39));
}

static void bgq_f137_receivers_poll_a_fifo_or_a_counter(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, both_program, NULL },
		{ 1, 0, waiting_program, NULL },
	};

	(void)state;
	spi_test_run("2x2", 1, p, N(p), 0);
}

/* --- layers --- */

/*
 * A program that knows bits only: it writes a descriptor by hand.  The other
 * node's sees the same as from one that was built by name.
 */
static void bits_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 256, 64);
	MUHWI_Descriptor_t by_hand, by_name;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	(void)arg;
	spi_test_store(SPI_TEST_SOURCE, 8, 256);
	memset(&by_hand, 0, sizeof(by_hand));
	mu_set_payload(&by_hand, SPI_TEST_SOURCE, 256);
	mu_set_fifo_map(&by_hand, MU_MAP_A_MINUS);
	by_hand.header.byte[0] = MU_PT2PT;
	by_hand.header.byte[3] = MU_DETERMINISTIC << 5;
	mu_set(by_hand.header.byte + 4, 4, spi_destination(1).Destination);
	mu_set_packet(&by_hand.header, MU_PUT, 16);
	mu_set_put(&by_hand.header, SPI_TEST_BASE, 64);
	mu_set_counter(&by_hand.header, SPI_TEST_BASE_COUNTER, 0);
	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&by_name, &i), 0);
	assert_memory_equal(&by_hand, &by_name, sizeof(by_hand));
	program_wait(SPI_TEST_START);
	assert_true(spi_store(f->tail, &by_hand, sizeof(by_hand)));
	MUSPI_InjFifoInject(f, &by_hand);
}

static void seen_program(void *arg)
{
	(void)arg;
	spi_test_bases(256);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	assert_true(spi_test_is(SPI_TEST_TARGET + 64, 8, 256));
}

static void software_may_stand_on_either_layer(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, bits_program, NULL },
		{ 1, 0, seen_program, NULL },
	};

	(void)state;
	spi_test_run("2x2", 1, p, N(p), 0);
}

/* --- counters --- */

static uint64_t sum(enum mu_event event)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < MU_NET_FIFOS; i++)
		n += spi_upc(event, i);
	return n;
}

static void counted_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 1300, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);
	uint64_t reads, writes;

	(void)arg;
	program_wait(SPI_TEST_START);
	assert_int_equal(sum(MU_UPC_PACKETS_IN), 0);
	spi_test_send_put(f, &i);
	spi_test_send_put(f, &i);
	program_charge(20000 * SIM_NS);
	assert_int_equal(sum(MU_UPC_PACKETS_IN), 6);
	assert_int_equal(spi_upc(MU_UPC_MESSAGES_IN, 0), 2);
	assert_int_equal(sum(MU_UPC_PACKETS_OUT), 0);
	assert_int_equal(MUSPI_getHwDescFetched(f), 2);
	/* two descriptors and 2600 bytes, by 128 */
	assert_true(spi_upc(MU_UPC_REQUESTS, 0) + spi_upc(MU_UPC_REQUESTS, 1) +
			    spi_upc(MU_UPC_REQUESTS, 2) >=
		    2 + 2 * 11);
	assert_true(spi_upc(MU_UPC_OUTSTANDING, 0) +
			    spi_upc(MU_UPC_OUTSTANDING, 1) >
		    0);
	reads = spi_upc(MU_UPC_SLAVE_READS, 0);
	assert_int_equal(spi_upc(MU_UPC_SLAVE_READS, 0), reads + 1);
	writes = spi_upc(MU_UPC_SLAVE_WRITES, 0);
	MUSPI_SetInjFifoThreshold(f, 3);
	assert_int_equal(spi_upc(MU_UPC_SLAVE_WRITES, 0), writes + 1);
	assert_int_equal(spi_upc(MU_UPC_EVENTS, 0), 0);
	assert_int_equal(spi_upc(MU_UPC_PACKETS_IN, 256), 0);
}

static void counting_receiver(void *arg)
{
	uint64_t reads;

	(void)arg;
	spi_test_bases(2600);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
	reads = spi_upc(MU_UPC_SLAVE_READS, 0);
	assert_int_equal(sum(MU_UPC_PACKETS_OUT), 6);
	assert_int_equal(spi_upc(MU_UPC_MESSAGES_OUT, 0), 2);
	assert_int_equal(
		spi_upc(MU_UPC_SLAVE_READS, 0), reads + MU_NET_FIFOS + 2);
}

static void bgq_f127_events_are_counted(void **state)
{
	const struct spi_test_program p[] = {
		{ 0, 0, counted_program, NULL },
		{ 1, 0, counting_receiver, NULL },
	};

	(void)state;
	spi_test_run("2x2", 1, p, N(p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bgq_f104_a_descriptor_is_64_bytes_of_fields),
		cmocka_unit_test(bgq_f132_headers_are_built_bit_by_bit),
		cmocka_unit_test(there_are_three_kinds),
		cmocka_unit_test(bgq_f118_a_remote_get_brings_descriptors),
		cmocka_unit_test(bgq_f125_counters_count_bytes_down),
		cmocka_unit_test(bgq_f124_every_packet_knows_its_place),
		cmocka_unit_test(bgq_f137_receivers_poll_a_fifo_or_a_counter),
		cmocka_unit_test(software_may_stand_on_either_layer),
		cmocka_unit_test(bgq_f127_events_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
