/* Which engine receives a packet, and line broadcasts. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LATER = 1000 * SIM_NS };

/* --- classes --- */

/* A packet a direction to the node in the middle, and some to itself. */
struct to_middle {
	site_id middle;
	enum mu_channel channel;
	uint64_t map;
};

static void send_to_middle(void *arg)
{
	const struct to_middle *x = arg;
	struct sw_fifo f = sw_open(x->channel == MU_SYSTEM ? 515 : 7, 0);
	struct mu_descriptor d = sw_put(x->middle, 32);

	sw_set_channel(&d, x->channel);
	if (x->channel == MU_SYSTEM)
		sw_make_system(&d);
	if (x->map)
		mu_set_fifo_map(&d, x->map);
	program_wait(LATER);
	sw_inject(&f, &d);
}

static void count_engines(void *arg)
{
	uint64_t *n = arg;

	sw_open_bases(6 * 32);
	sw_wait_counter(SW_COUNTER);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		n[i] = sw_upc(MU_UPC_PACKETS_OUT, i);
}

/* The six neighbours of the node in the middle of 3x3x3, by the port of it
 * that they are behind. */
static const site_id around[6] = { 14, 12, 16, 10, 22, 4 };

static void receive_class(enum mu_channel channel, uint64_t *n)
{
	struct to_middle x = { 13, channel, 0 };
	struct sw_program programs[7] = { { 13, count_engines, n } };

	for (uint32_t i = 0; i < 6; i++)
		programs[1 + i] =
			(struct sw_program){ around[i], send_to_middle, &x };
	sw_run_on("3x3x3", 1, programs, 7);
}

static void bgq_f21_a_normal_packet_keeps_to_its_receiver(void **state)
{
	uint64_t n[MU_NET_FIFOS];

	receive_class(MU_DETERMINISTIC, n);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		assert_int_equal(n[i], i < 6);
	receive_class(MU_DYNAMIC, n);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		assert_int_equal(n[i], i < 6);
}

/* --- all engines at once --- */

enum { STREAM = 100 * MU_PAYLOAD };

static void send_stream(void *arg)
{
	struct sw_fifo f = sw_open(7, 0);
	struct mu_descriptor d = sw_put(13, STREAM);

	program_wait(LATER);
	sw_inject(&f, &d);
}

static void time_streams(void *arg)
{
	sim_time *took = arg;

	sw_open_bases((uint64_t)*took * STREAM);
	sw_wait_counter(SW_COUNTER);
	*took = program_now() - LATER;
}

/* From so many neighbours of the node in the middle. */
static sim_time receive_streams(uint32_t n)
{
	sim_time x = n;
	struct sw_program programs[7] = { { 13, time_streams, &x } };

	for (uint32_t i = 0; i < n; i++)
		programs[1 + i] =
			(struct sw_program){ around[i], send_stream, NULL };
	sw_run_on("3x3x3", 1, programs, 1 + n);
	return x;
}

static void bgq_f88_reception_engines_work_in_parallel(void **state)
{
	sim_time one = receive_streams(1), six = receive_streams(6);

	assert_in_range(six, one, one + one / 20);
}

/* --- line broadcast --- */

enum { LINE_BYTES = 3000, ON_LINE = 6 };

static void send_line(void *arg)
{
	struct sw_fifo f = sw_open(1, 0);
	struct mu_descriptor d = sw_put(ON_LINE - 1, LINE_BYTES);
	struct mu_descriptor m = sw_fifo_message(ON_LINE - 1, 2, 700);

	sw_fill(SW_SOURCE, 1, LINE_BYTES);
	sw_set_channel(&d, MU_DETERMINISTIC);
	sw_set_channel(&m, MU_DETERMINISTIC);
	d.header.byte[1] = m.header.byte[1] = 0x40; /* A+ */
	d.header.byte[2] |= 0x02;
	m.header.byte[2] |= 0x02;
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &m);
}

/* FIFOs that stand elsewhere on each node, and overwrite as soon as they
 * can what others may still need. */
static void receive_line(void *arg)
{
	uint32_t id = program_node(), i, j;
	struct sw_reader r;
	struct sw_packet p;

	sw_open_bases(LINE_BYTES);
	sw_store(MU_BASE, SW_BASE_TARGET, SW_TARGET + id * 4096);
	r = sw_open_reader(2, 2048 + id * 32);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET + id * 4096, 1, LINE_BYTES);
	sw_expect_all(SW_TARGET, 0, 4096);
	for (i = 0; i < 2; i++) {
		sw_take(&r, &p);
		assert_int_equal(mu_put_offset(&p.header), i * 512);
		for (j = 0; j < (i ? 188 : 512); j++)
			assert_int_equal(p.payload[j], sw_byte(1, i * 512 + j));
	}
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_OUT, 0), 2);
}

static void bgq_f42_each_node_on_the_line_has_its_own_copy(void **state)
{
	struct sw_program programs[ON_LINE] = { { 0, send_line, NULL } };
	uint64_t digest;

	for (uint32_t i = 1; i < ON_LINE; i++)
		programs[i] = (struct sw_program){ i, receive_line, NULL };
	digest = sw_run_on("6", 1, programs, ON_LINE);
	assert_int_equal(sw_run_on("6", 3, programs, ON_LINE), digest);
}

TESTS(TEST(bgq_f21_a_normal_packet_keeps_to_its_receiver),
	TEST(bgq_f88_reception_engines_work_in_parallel),
	TEST(bgq_f42_each_node_on_the_line_has_its_own_copy))
