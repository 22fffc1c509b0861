#include "nic/bgq_mu/mu_testing.h"
#include "nic/bgq_mu/units.h"
#include "testing/testing.h"

enum {
	CYCLE = 1250,
	READ = 80 * SIM_NS, /* of L2 */
	WRITE = 70 * SIM_NS,
	LINE = 128,
	ROUND = 16 * LINE, /* from a slice to the same slice */
};

/* --- requests, one by one, of an idle unit --- */

struct bench {
	struct nic_testing m;
	struct nic_at at;
};

static struct side_port *open_bench(struct bench *b)
{
	struct mu *mu;

	nic_testing_machine(&b->m, "bgq", "2");
	nic_testing_start(&b->m, 1, 1);
	mu = (struct mu *)b->m.nic;
	b->at = (struct nic_at){ .nic = &mu->nic,
		.node = nic_node(&mu->nic, 0) };
	return &mu_port(&b->at, MU_ASK_INJECT)->side;
}

static sim_time read_at(struct bench *b, uint64_t at, uint32_t bytes)
{
	return mu_port_read(&b->at, MU_ASK_INJECT, at, bytes);
}

static void bgq_f95_one_request_a_cycle_either_way(void **state)
{
	struct bench b;
	struct side_port *p = open_bench(&b);

	for (uint32_t i = 0; i < 4; i++) {
		/* engine 1 writes by the port that engine 0 reads by */
		sim_time done = mu_port_write(
			&b.at, MU_ASK_WRITE + 1, 8192 + 2 * i * LINE, 16);

		assert_int_equal(done, 2 * i * CYCLE + WRITE);
		assert_int_equal(p->free_at, (2 * i + 1) * CYCLE);
		done = read_at(&b, (2 * i + 1) * LINE, 32);
		assert_int_equal(done, (2 * i + 1) * CYCLE + READ);
		assert_int_equal(p->free_at, (2 * i + 2) * CYCLE);
	}
	assert_int_equal(p->requests, 8);
	nic_testing_fini(&b.m);
}

static void bgq_f102_data_returns_at_32_bytes_a_cycle(void **state)
{
	struct bench b;
	struct side_port *p = open_bench(&b);

	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(
			read_at(&b, i * LINE, LINE), READ + i * 4 * CYCLE);
	assert_int_equal(p->requests, 8);
	nic_testing_fini(&b.m);
	/* requests of 32 bytes: no faster, no slower than they are made */
	p = open_bench(&b);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(read_at(&b, i * LINE, 32), READ + i * CYCLE);
	/* 64 bytes: two cycles each, behind the 8 of above; a request's data
	 * begins four cycles before a line's would be complete */
	for (uint32_t i = 8; i < 15; i++)
		read_at(&b, i * LINE, 64);
	assert_int_equal(
		read_at(&b, 15 * LINE, 64), READ + (8 + 2 * 8 - 4) * CYCLE);
	assert_int_equal(p->requests, 16);
	nic_testing_fini(&b.m);
}

/* A slot's first request goes past the FIFO; the next one waits in it until
 * its slice has taken the one before, and others overtake it. */
static void bgq_f99_order_in_a_slice_and_none_between(void **state)
{
	struct bench b;
	struct side_port *p = open_bench(&b);
	sim_time one, two, three, other;

	one = read_at(&b, 0, LINE);
	two = read_at(&b, ROUND, LINE);
	three = read_at(&b, 2 * ROUND, LINE);
	other = mu_port_write(&b.at, MU_ASK_WRITE + 1, LINE, 32);
	assert_true(one < two && two < three);
	assert_true(other < two);
	assert_int_equal(other, 3 * CYCLE + WRITE);
	assert_int_equal(p->slot[1], 3 * CYCLE);
	assert_true(p->slot[0] > p->slot[1]);
	nic_testing_fini(&b.m);
}

static void bgq_f100_an_empty_slot_is_filled_past_the_fifo(void **state)
{
	struct bench b;
	struct side_port *p = open_bench(&b);
	const sim_time fifo = mu_of(&b.at)->params.port_fifo;

	assert_int_equal(read_at(&b, 0, 32), READ);
	assert_int_equal(p->bypassed, 1);
	p->slot[0] = CYCLE + 1; /* held a little: the FIFO's time is lost */
	assert_int_equal(read_at(&b, ROUND, 32), CYCLE + fifo + READ);
	assert_int_equal(p->bypassed, 1);
	assert_int_equal(read_at(&b, LINE, 32), 2 * CYCLE + READ);
	assert_int_equal(p->bypassed, 2);
	p->slot[2] = 90 * SIM_NS; /* held long: it is waited for */
	assert_int_equal(read_at(&b, 2 * LINE, 32), 90 * SIM_NS + READ);
	assert_int_equal(p->bypassed, 2);
	b.at.t = 95 * SIM_NS; /* and is empty again */
	assert_int_equal(read_at(&b, 2 * LINE + 32, 32), 95 * SIM_NS + READ);
	assert_int_equal(p->bypassed, 3);
	nic_testing_fini(&b.m);
}

/* Two ports read 16 lines each, and one writes 16. */
static void use_16(uint64_t stride, sim_time done[2], uint64_t *bypassed)
{
	struct bench b;
	struct side_port *p = open_bench(&b);

	for (uint32_t i = 0; i < 16; i++) {
		read_at(&b, i * stride, LINE);
		done[0] = mu_port_read(
			&b.at, MU_ASK_INJECT + 1, (16 + i) * stride, LINE);
	}
	*bypassed = p->bypassed;
	nic_testing_fini(&b.m);
	open_bench(&b);
	for (uint32_t i = 0; i < 16; i++)
		done[1] = mu_port_write(&b.at, MU_ASK_WRITE, i * stride, LINE);
	nic_testing_fini(&b.m);
}

static void bgq_f101_striding_over_slices_is_best(void **state)
{
	uint64_t strided, same;
	sim_time fast[2], slow[2];

	use_16(LINE, fast, &strided);
	use_16(ROUND, slow, &same);
	/* as fast as data returns, and as requests are made */
	assert_in_range(fast[0], READ + 15 * 4 * CYCLE, READ + 20 * 4 * CYCLE);
	assert_int_equal(fast[1], WRITE + 15 * CYCLE);
	assert_in_range(slow[0], READ + 30 * 4 * CYCLE, READ + 32 * 4 * CYCLE);
	assert_in_range(
		slow[1], WRITE + 15 * 4 * CYCLE, WRITE + 16 * 4 * CYCLE);
	assert_int_equal(strided, 16);
	assert_true(same < 4);
}

/* Mean latency by Little's law: what is outstanding, over what came. */
static void bgq_f127_outstanding_over_requests_is_the_latency(void **state)
{
	struct bench b;
	struct side_port *p = open_bench(&b);
	sim_time sum = 0, issue;

	for (uint32_t i = 0; i < 50; i++) {
		issue = p->free_at;
		sum += mu_port_write(&b.at, MU_ASK_WRITE + 1, i * ROUND, LINE) -
		       issue;
	}
	assert_int_equal(p->requests, 50);
	assert_int_equal(p->outstanding, sum);
	assert_true(p->outstanding / 50 > 2 * WRITE); /* they queue */
	nic_testing_fini(&b.m);
}

/* --- what the counters count --- */

static void send_counted(void *arg)
{
	struct sw_fifo f = sw_open(100, 0);
	struct mu_descriptor d = sw_put(1, 3 * MU_PAYLOAD);

	mu_set_fifo_map(&d, 0x4000);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_IN, 0), 6);
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_IN, 0), 2);
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 2), 2);
	assert_int_equal(sw_upc(MU_UPC_OUTSTANDING, 2), 2 * READ);
	/* four lines a packet; each comes back four cycles after the one
	 * before it, which was asked for one cycle before it */
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 0), 6 * 4);
	assert_int_equal(sw_upc(MU_UPC_OUTSTANDING, 0),
		6 * (4 * READ + (1 + 2 + 3) * 3 * CYCLE));
	assert_int_equal(sw_upc(MU_UPC_BYPASSED, 2), 2);
	assert_int_equal(sw_upc(MU_UPC_SLAVE_WRITES, 0), 6);
	assert_int_equal(sw_load(MU_INJ_FETCHED, 100), 2);
}

static void receive_counted(void *arg)
{
	uint64_t before;

	sw_open_bases(6 * MU_PAYLOAD);
	sw_wait_counter(SW_COUNTER);
	before = sw_upc(MU_UPC_SLAVE_READS, 0);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, 1), 6);
	/* four lines and a counter */
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 0), 6 * 5);
	assert_int_equal(sw_upc(MU_UPC_OUTSTANDING, 0), 6 * 5 * WRITE);
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_OUT, 0), 2);
	assert_int_equal(sw_upc(MU_UPC_SLAVE_READS, 0), before + 5);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, 200), 0);
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 3), 0);
	assert_int_equal(sw_upc(MU_UPC_EVENTS, 0), 0);
}

SW_PAIR(bgq_f127_counters_count, "3", send_counted, 1, receive_counted)

/* --- ranges --- */

static void close_ranges(uint64_t first, uint64_t last, uint64_t rights)
{
	sw_store_system(MU_RANGE_FIRST, 0, first);
	sw_store_system(MU_RANGE_LAST, 0, last);
	sw_store_system(MU_RANGE_RIGHTS, 0, rights);
}

static void send_ranged(void *arg)
{
	const uint64_t end = SW_SOURCE + 0x1000;
	struct mu_descriptor d = sw_put(1, 600);
	struct sw_fifo f = sw_open(0, 0), g = sw_open(1, 0), h = sw_open(3, 0);
	struct sw_fifo far = sw_open_at(2, 0, SW_SOURCE + 0x2000, 128);
	struct sw_fifo system = sw_open(512, 0);

	close_ranges(0, end - 1, MU_USER_READ | MU_SYSTEM_READ);
	program_wait(1000 * SIM_NS);
	mu_set_payload(&d, end - 600, 600);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	/* a byte too far in the second packet; there is none after it */
	mu_set_payload(&d, end - 1023, 5000);
	mu_set_fifo_map(&d, 0x4000);
	sw_inject(&g, &d);
	program_charge(4000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 1);
	assert_int_equal(sw_load(MU_ERROR_ADDRESS, 0), end - 1023 + 512);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 1), 1);
	/* the last packet is refused while the one before is under way */
	mu_set_fifo_map(&d, MU_MAP_TORUS);
	mu_set_payload(&d, end - 600, 1000);
	sw_inject(&h, &d);
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 2);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 3), 1);
	assert_int_equal(sw_load(MU_INJ_COUNT, 3), 0);
	mu_set_payload(&d, end - 599, 600);
	sw_inject(&far, &d); /* the descriptor itself */
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 3);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 2), 1);
	assert_int_equal(sw_load(MU_INJ_FETCHED, 2), 0);
	/* A second range goes on where the first one ends. */
	sw_store_system(MU_RANGE_FIRST, 5, end);
	sw_store_system(MU_RANGE_LAST, 5, end + 127);
	sw_store_system(MU_RANGE_RIGHTS, 5, MU_USER_READ);
	program_charge(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	sw_make_system(&d); /* for users, not for the system */
	sw_inject(&system, &d);
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 4);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 512), 1);
}

SW_PAIR(bgq_f128_reads_outside_the_ranges_are_rejected, "2", send_ranged, 1,
	sw_open_only)

TESTS(TEST(bgq_f95_one_request_a_cycle_either_way),
	TEST(bgq_f102_data_returns_at_32_bytes_a_cycle),
	TEST(bgq_f99_order_in_a_slice_and_none_between),
	TEST(bgq_f100_an_empty_slot_is_filled_past_the_fifo),
	TEST(bgq_f101_striding_over_slices_is_best),
	TEST(bgq_f127_outstanding_over_requests_is_the_latency),
	TEST(bgq_f127_counters_count),
	TEST(bgq_f128_reads_outside_the_ranges_are_rejected))
