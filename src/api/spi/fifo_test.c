#include <string.h>

#include "api/spi/spi_testing.h"
#include "testing/testing.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

static const uint32_t FIFO_ID = 5;

static bool wait_sent(const MUSPI_InjFifo_t *f, uint64_t number)
{
	while (!MUSPI_CheckDescComplete(f, number))
		;
	return true;
}

/* --- sending --- */

static void registers_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 100, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 3, FIFO_ID, 4, NULL);
	uint64_t start = f->start;

	assert_int_equal(f->id, 29);
	program_wait(SPI_TEST_START);
	for (uint64_t round = 0; round < 5; round++) {
		uint64_t at = start + 64 * (round * 3 % 4);
		uint64_t end = start + 64 * ((round + 1) * 3 % 4);

		Kernel_InjFifoActivate(&g, 1, &FIFO_ID, 0);
		assert_int_equal(MUSPI_getHwHead(f), at);
		assert_int_equal(MUSPI_getHwTail(f), at);
		assert_int_equal(MUSPI_getHwFreeSpace(f), 3);
		assert_int_equal(spi_test_send_put(f, &i), 3 * round);
		assert_int_equal(spi_test_send_put(f, &i), 3 * round + 1);
		assert_int_equal(MUSPI_getFreeSpaceFromShadow(f), 1);
		assert_int_equal(MUSPI_getHwFreeSpace(f), 1);
		assert_int_equal(spi_test_send_put(f, &i), 3 * round + 2);
		assert_int_equal(spi_test_send_put(f, &i), SPI_NONE);
		assert_int_equal(MUSPI_getHwHead(f), at);
		assert_int_equal(MUSPI_getHwTail(f), end);
		assert_int_equal(MUSPI_getHwFreeSpace(f), 0);
		assert_int_equal(MUSPI_getHwDescCount(f), 3 * round);
		Kernel_InjFifoActivate(&g, 1, &FIFO_ID, 1);
		wait_sent(f, 3 * round + 2);
		assert_int_equal(MUSPI_getHwHead(f), end);
		assert_int_equal(MUSPI_getHwDescCount(f), 3 * round + 3);
	}
}

static void bases_program(void *arg)
{
	spi_test_bases(*(uint64_t *)arg);
	assert_true(spi_poll(SPI_TEST_COUNTER, 0));
}

static void bgq_f106_registers_follow_the_circle(void **state)
{
	uint64_t left = 15 * 100;
	const struct spi_test_program p[] = {
		{ 0, 0, registers_program, NULL },
		{ 1, 0, bases_program, &left },
	};

	spi_test_run("2x2", 1, p, N(p), 0);
}

static void protocol_program(void *arg)
{
	MUSPI_Pt2PtDirectPutDescriptorInfo_t i = spi_test_put(1, 8, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 3, FIFO_ID, 4, NULL);
	MUHWI_Descriptor_t d;

	assert_int_equal(MUSPI_CreatePt2PtDirectPutDescriptor(&d, &i), 0);
	program_wait(SPI_TEST_START);
	/* written, and nobody told the unit */
	assert_true(spi_store(f->tail, &d, sizeof(d)));
	program_charge(5000 * SIM_NS);
	assert_int_equal(MUSPI_getHwDescCount(f), 0);
	assert_int_equal(MUSPI_getHwDescFetched(f), 0);
	assert_int_equal(MUSPI_InjFifoInject(f, &d), 0);
	wait_sent(f, 0);
	assert_int_equal(MUSPI_getHwHead(f), MUSPI_getHwTail(f));
	assert_int_equal(MUSPI_getHwDescFetched(f), 1);
	/* several at once: the tail moves once */
	assert_int_equal(MUSPI_InjFifoInjectMultiple(f, 4, NULL), SPI_NONE);
	assert_int_equal(MUSPI_InjFifoInjectMultiple(f, 0, NULL), SPI_NONE);
	{
		MUHWI_Descriptor_t both[] = { d, d };
		sim_time start = program_now();

		assert_int_equal(MUSPI_InjFifoInjectMultiple(f, 2, both), 2);
		assert_int_equal(program_now() - start,
			2 * mu_params_of(host_nic(program_host()))->software);
		wait_sent(f, 2);
		/* the second one where the circle begins again */
		mu_set_payload(&both[1], SPI_TEST_SOURCE, 5);
		assert_int_equal(MUSPI_InjFifoInjectMultiple(f, 2, both), 4);
		wait_sent(f, 4);
	}
}

static void bgq_f108_the_tail_lets_the_unit_send(void **state)
{
	uint64_t left = 4 * 8 + 5;
	const struct spi_test_program p[] = {
		{ 0, 0, protocol_program, NULL },
		{ 1, 0, bases_program, &left },
	};

	spi_test_run("2x2", 1, p, N(p), 0);
}

/* A load comes behind all stores that were made before it. */
static void load_program(void *arg)
{
	enum { STORES = 20 };
	const struct mu_params *u = mu_params_of(host_nic(program_host()));
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 3, FIFO_ID, 4, NULL);
	sim_time t;

	program_wait(SPI_TEST_START);
	t = program_now();
	for (uint32_t k = 0; k < STORES; k++)
		MUSPI_SetInjFifoThreshold(f, k);
	assert_int_equal(program_now(), t);
	assert_int_equal(MUSPI_getHwHead(f), f->start);
	assert_int_equal(program_now() - t, u->mmio_load + STORES * u->slave);
}

SPI_ALONE(bgq_f89_loads_and_stores_share_a_port, "2x2", load_program)

/* --- order --- */

enum { THREADS = 64, EACH = 6 };

/* Thread t's packets are numbered in software's bytes. */
static void thread_program(void *arg)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = spi_test_packet(1, 0, 9);
	uint32_t t = program_thread();
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, t, 7, 4, NULL);

	program_wait(2 * SPI_TEST_START);
	i.MemFIFO.SoftwareBytes[0] = (uint8_t)t;
	for (uint8_t k = 0; k < EACH; k++) {
		i.MemFIFO.SoftwareBytes[13] = k;
		while (spi_test_send(f, &i) == SPI_NONE)
			;
	}
}

static void count_program(void *arg)
{
	uint8_t next[THREADS] = { 0 };
	MUSPI_RecFifoSubGroup_t g;
	MUSPI_RecFifo_t *f = spi_test_rec(&g, 2, 1, 4096);
	const uint8_t *said;
	spi_packet_t p;

	assert_int_equal(f->id, 9);
	for (uint32_t k = 0; k < THREADS * EACH; k++) {
		spi_wait_packet(f);
		assert_int_equal(MUSPI_getNextPacket(f, &p), 32);
		MUSPI_syncRecFifoHwHead(f);
		said = spi_software_bytes(&p.Header);
		assert_true(said[0] < THREADS);
		assert_int_equal(said[13], next[said[0]]++);
		/* threads do not wait for each other */
		*(uint32_t *)arg += said[0] != k / EACH;
	}
}

static void bgq_f109_every_thread_has_its_own_order(void **state)
{
	struct spi_test_program p[THREADS + 1];
	uint32_t mixed = 0;

	for (uint32_t i = 0; i < THREADS; i++)
		p[i] = (struct spi_test_program){ 0, i, thread_program, NULL };
	p[THREADS] = (struct spi_test_program){ 1, 0, count_program, &mixed };
	spi_test_run("2x2", 1, p, THREADS + 1, 0);
	assert_true(mixed > THREADS);
}

/* --- reception FIFOs --- */

static void message_program(void *arg)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = spi_test_packet(1, 1300, 6);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	spi_test_store(SPI_TEST_SOURCE, 4, 1300);
	for (uint32_t k = 0; k < SPI_SOFTWARE_BYTES; k++)
		i.MemFIFO.SoftwareBytes[k] = (uint8_t)(k + 60);
	i.MemFIFO.Rec_Put_Offset = 1000000;
	program_wait(SPI_TEST_START);
	spi_test_send(f, &i);
	program_charge(10000 * SIM_NS);
	i.MemFIFO.Interrupt = 1;
	spi_test_send(f, &i);
}

/* The packets of a message, with their headers. */
static void check_packets(MUSPI_RecFifo_t *f, bool is_told)
{
	static const uint32_t sizes[] = { 512, 512, 288 };
	uint64_t at = 0;
	spi_packet_t p;

	for (uint32_t k = 0; k < 3; k++) {
		assert_int_equal(MUSPI_getNextPacket(f, &p), 32 + sizes[k]);
		assert_int_equal(p.Header.byte[0], MU_PT2PT);
		assert_int_equal(mu_packet_type(&p.Header), MU_FIFO);
		assert_int_equal(mu_rec_fifo(&p.Header), 6);
		assert_int_equal(spi_put_offset(&p.Header), 1000000 + at);
		assert_int_equal(mu_is_interrupt(&p.Header), is_told && k == 2);
		for (uint32_t i = 0; i < SPI_SOFTWARE_BYTES; i++)
			assert_int_equal(
				spi_software_bytes(&p.Header)[i], i + 60);
		for (uint32_t i = 0; i < sizes[k] && at < 1300; i++, at++)
			assert_int_equal(p.Payload[i], bytes_at(4, at));
	}
	assert_int_equal(MUSPI_getNextPacket(f, &p), 0);
	MUSPI_syncRecFifoHwHead(f);
}

static void stored_program(void *arg)
{
	const uint64_t arrival = UINT64_C(1) << MU_INT_ARRIVAL;
	MUSPI_RecFifoSubGroup_t g;
	MUSPI_RecFifo_t *f = spi_test_rec(&g, 1, 2, 8192);

	program_wait(SPI_TEST_START + 8000 * SIM_NS);
	assert_int_equal(MUSPI_getRecFifosArrived(&g), 0);
	check_packets(f, false);
	assert_int_equal(spi_wait_interrupt(arrival), arrival);
	assert_true(program_now() > SPI_TEST_START + 10000 * SIM_NS);
	/* all of it is there, and said once */
	assert_int_equal(spi_rec_bytes(f), 3 * 32 + 512 + 512 + 288);
	assert_int_equal(MUSPI_getRecFifosArrived(&g), 4);
	assert_int_equal(MUSPI_getRecFifosArrived(&g), 0);
	check_packets(f, true);
}

/* Also BGQ-F104: a message is what its descriptor says. */
SPI_PAIR(bgq_f116_packets_are_stored_whole, "2x2", message_program, 1,
	stored_program)

/* Messages of many sizes through a FIFO of little more than a packet. */
enum { MESSAGES = 120 };

static uint32_t size_of(uint32_t j)
{
	return j * 97 % 513;
}

static void many_program(void *arg)
{
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	program_wait(SPI_TEST_START);
	for (uint32_t j = 0; j < MESSAGES; j++) {
		MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i =
			spi_test_packet(1, size_of(j), 0);

		i.Base.Payload_Address += j * 1024;
		i.MemFIFO.SoftwareBytes[0] = (uint8_t)j;
		spi_test_store(i.Base.Payload_Address, j, size_of(j));
		while (spi_test_send(f, &i) == SPI_NONE)
			;
	}
}

static void consume_program(void *arg)
{
	MUSPI_RecFifoSubGroup_t g;
	MUSPI_RecFifo_t *f = spi_test_rec(&g, 0, 0, *(uint32_t *)arg);
	uint8_t want[MU_PAYLOAD];
	spi_packet_t p;
	uint32_t n;

	for (uint32_t j = 0; j < MESSAGES; j++) {
		spi_wait_packet(f);
		n = MUSPI_getNextPacket(f, &p);
		assert_int_equal(n, 32 + (size_of(j) + 31) / 32 * 32);
		assert_int_equal(spi_software_bytes(&p.Header)[0], j);
		spi_test_fill(j, want, size_of(j));
		assert_memory_equal(p.Payload, want, size_of(j));
		assert_true(f->head >= f->start);
		assert_true(f->head < f->start + f->size);
		if (j % 3 == 0) /* slower than the network */
			program_charge(700 * SIM_NS);
		MUSPI_syncRecFifoHwHead(f);
	}
	assert_int_equal(spi_rec_bytes(f), 0);
	assert_int_equal(MUSPI_getNextPacket(f, &p), 0);
}

static void bgq_f121_software_consumes_round_the_circle(void **state)
{
	static const uint32_t sizes[] = { 576, 608, 1024, 1120, 4096 };
	uint32_t size;

	for (uint32_t i = 0; i < N(sizes); i++) {
		const struct spi_test_program p[] = {
			{ 0, 0, many_program, NULL },
			{ 1, 0, consume_program, &size },
		};

		size = sizes[i];
		assert_int_equal(spi_test_run("2x2", 1, p, N(p), 0),
			spi_test_run("2x2", 2, p, N(p), 0));
	}
}

static void fill_up_program(void *arg)
{
	MUSPI_Pt2PtMemoryFIFODescriptorInfo_t i = spi_test_packet(1, 512, 0);
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = spi_test_inj(&g, 0, 0, 8, NULL);

	program_wait(SPI_TEST_START);
	for (uint32_t k = 0; k < 5; k++) {
		/* the handler is slow: its registers are on a slow ring */
		program_charge(k == 4 ? 1000 * SIM_NS : 0);
		spi_test_send(f, &i);
	}
}

static void threshold_program(void *arg)
{
	const uint64_t bit = UINT64_C(1) << MU_INT_REC_THRESHOLD;
	MUSPI_RecFifoSubGroup_t g;
	MUSPI_RecFifo_t *f = spi_test_rec(&g, 0, 0, 4096);
	spi_packet_t p;
	uint32_t n;

	/* 4064 bytes of room: after the third packet 2432, which is not below
	 * the threshold, after the fourth 1888 */
	MUSPI_SetRecFifoThreshold(f, 2432);
	assert_int_equal(spi_wait_interrupt(bit), bit);
	/* space is reserved before the packet is stored */
	n = (uint32_t)spi_rec_bytes(f) / 544;
	assert_in_range(n, 3, 4);
	assert_int_equal(MUSPI_getRecFifosCrossed(&g), 1);
	assert_int_equal(MUSPI_getRecFifosCrossed(&g), 0);
	program_charge(5000 * SIM_NS);
	assert_int_equal(spi_rec_bytes(f), 5 * 544);
	assert_int_equal(MUSPI_getRecFifosCrossed(&g), 0);
	while (MUSPI_getNextPacket(f, &p))
		;
	MUSPI_syncRecFifoHwHead(f);
	/* that space rises is no reason */
	assert_int_equal(MUSPI_getRecFifosCrossed(&g), 0);
}

SPI_PAIR(bgq_f120_space_below_a_threshold_interrupts, "2x2", fill_up_program, 1,
	threshold_program)

TESTS(TEST(bgq_f106_registers_follow_the_circle),
	TEST(bgq_f108_the_tail_lets_the_unit_send),
	TEST(bgq_f89_loads_and_stores_share_a_port),
	TEST(bgq_f109_every_thread_has_its_own_order),
	TEST(bgq_f116_packets_are_stored_whole),
	TEST(bgq_f121_software_consumes_round_the_circle),
	TEST(bgq_f120_space_below_a_threshold_interrupts))
