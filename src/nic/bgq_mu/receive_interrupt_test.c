/* What a memory FIFO message interrupts for. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LATER = 1000 * SIM_NS };

static void send_telling(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(1, 6, 2000);
	struct mu_descriptor put = sw_put(1, 1000);

	mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	/* what software writes there is not for it to say */
	d.header.byte[2] |= 1;
	put.header.byte[2] |= 1;
	mu_set_interrupts(&put, true);
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &put);
	program_wait(10 * LATER);
	mu_set_interrupts(&d, true);
	sw_inject(&f, &d);
}

static uint64_t arrivals(void)
{
	return sw_load(MU_ERROR_COUNT, MU_INT_ARRIVAL);
}

static void read_telling(void *arg)
{
	struct sw_reader r = sw_open_reader(6, 8192);
	struct sw_packet p;

	sw_open_bases(1000);
	sw_wait_counter(SW_COUNTER);
	for (uint32_t i = 0; i < 4; i++)
		sw_take(&r, &p);
	program_charge(LATER);
	assert_int_equal(arrivals(), 0);
	assert_int_equal(sw_load(MU_REC_ARRIVED, 1), 0);
	for (uint32_t i = 0; i < 4; i++) {
		sw_take(&r, &p);
		assert_int_equal(mu_is_interrupt(&p.header), i == 3);
		assert_int_equal(arrivals(), i == 3);
	}
	assert_true(sw_is_pending(MU_NON_CRITICAL, MU_INT_ARRIVAL));
	assert_int_equal(sw_load(MU_REC_ARRIVED, 1), 1 << 2);
	sw_store(MU_REC_ARRIVED, 1, 1 << 2);
	sw_store_system(MU_INT_STATUS, 0, 1u << MU_INT_ARRIVAL);
	program_charge(LATER);
	assert_false(sw_is_pending(MU_NON_CRITICAL, MU_INT_ARRIVAL));
	assert_int_equal(sw_load(MU_REC_ARRIVED, 1), 0);
}

SW_PAIR(bgq_f94_the_last_packet_interrupts, "2", send_telling, 1, read_telling)

/* One that tells, and many that do not where its mark was. */
static void send_one_telling(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(1, 6, 0);

	program_wait(LATER);
	for (uint32_t i = 0; i < 150; i++) {
		mu_set_interrupts(&d, !i);
		while (!sw_load(MU_INJ_FREE, 3))
			program_charge(50 * SIM_NS);
		sw_inject(&f, &d);
		program_charge(60 * SIM_NS);
	}
}

static void read_one_telling(void *arg)
{
	struct sw_reader r = sw_open_reader(6, 8192);
	struct sw_packet p;

	for (uint32_t i = 0; i < 150; i++)
		sw_take(&r, &p);
	assert_int_equal(arrivals(), 1);
}

SW_PAIR(bgq_f94_other_messages_do_not_interrupt, "2", send_one_telling, 1,
	read_one_telling)

TESTS(TEST(bgq_f94_the_last_packet_interrupts),
	TEST(bgq_f94_other_messages_do_not_interrupt))
