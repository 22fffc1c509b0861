/* Remote gets: descriptors that packets bring. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum {
	LATER = 1000 * SIM_NS,
	GET = 41, /* the injection FIFO that gets are for */
	DATA = 0x5000000, /* what is got */
	LIST = 0x6000000, /* descriptors that a get brings */
	REC = 9,
};

/* A descriptor that the other node is to send back here. */
static struct mu_descriptor back(site_id to, uint64_t offset, uint64_t length)
{
	struct mu_descriptor d = sw_put(to, length);

	mu_set_payload(&d, DATA + offset, length);
	mu_set_fifo_map(&d, MU_MAP_TORUS);
	mu_set_put(&d.header, SW_BASE_TARGET, offset);
	return d;
}

static void list(uint32_t i, const struct mu_descriptor *d)
{
	assert_true(program_write(LIST + i * sizeof(*d), d, sizeof(*d)));
}

static struct mu_descriptor get_list(site_id from, uint32_t n)
{
	struct mu_descriptor d = sw_get(from, GET, n * MU_DESCRIPTOR_BYTES);

	mu_set_payload(&d, LIST, n * MU_DESCRIPTOR_BYTES);
	return d;
}

static void serve(void *arg)
{
	sw_fill(DATA, program_node(), 40000);
	sw_open(GET, MU_INJ_REMOTE_GET);
}

/* --- several descriptors --- */

enum { SEVERAL = 8, PIECE = 700 };

static void get_several(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor get = get_list(1, SEVERAL);

	sw_open_bases(2 * SEVERAL * PIECE);
	for (uint32_t i = 0; i < SEVERAL; i++) {
		struct mu_descriptor d = back(0, i * PIECE, PIECE);

		d.header.byte[13] |= 0x20; /* the pacing bit */
		list(i, &d);
	}
	program_wait(LATER);
	sw_inject(&f, &get);
	/* a paced get is a get (BGQ-G43) */
	mu_set_packet(&get.header, MU_PACED_GET, 16);
	sw_inject(&f, &get);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET, 1, SEVERAL * PIECE);
}

/* All of one packet come together, and in order. */
static void serve_several(void *arg)
{
	const uint64_t at = SW_FIFOS + GET * SW_FIFO_BYTES;
	struct mu_descriptor d;

	serve(arg);
	sw_wait_register(MU_INJ_TAIL, GET, at + MU_DESCRIPTOR_BYTES);
	assert_int_equal(sw_load(MU_INJ_TAIL, GET), at + SEVERAL * 64);
	for (uint32_t i = 0; i < SEVERAL; i++) {
		assert_true(program_read(at + i * 64, &d, sizeof(d)));
		assert_int_equal(mu_put_offset(&d.header), i * PIECE);
	}
	sw_wait_count(GET, 2 * SEVERAL);
	assert_int_equal(
		sw_upc(MU_UPC_PACKETS_OUT, 0) + sw_upc(MU_UPC_PACKETS_OUT, 1),
		2);
}

/* Also BGQ-F86: a remote get is one of the three kinds. */
SW_PAIR(bgq_f118_a_packet_brings_several_descriptors, "2", get_several, 1,
	serve_several)

/* --- order, of several getters --- */

enum { GETTERS = 7, EACH = 20 };

/* Each of two lists of EACH is of three packets, on one way. */
static void get_numbers(void *arg)
{
	struct sw_reader r = sw_open_reader(REC, 16384);
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor get = get_list(0, EACH);
	struct sw_packet p;

	for (uint32_t i = 0; i < EACH; i++) {
		struct mu_descriptor d =
			sw_fifo_message(program_node(), REC, 64);

		mu_set_payload(&d, DATA + i, 64);
		mu_set_fifo_map(&d, MU_MAP_A_MINUS);
		sw_set_channel(&d, MU_DETERMINISTIC);
		sw_set_own(&d, program_node() << 16 | i);
		list(i, &d);
	}
	mu_set_fifo_map(&get, MU_MAP_A_MINUS);
	sw_set_channel(&get, MU_DETERMINISTIC);
	program_wait(LATER);
	sw_inject(&f, &get);
	sw_inject(&f, &get);
	for (uint32_t i = 0; i < 2 * EACH; i++) {
		sw_take(&r, &p);
		assert_int_equal(
			sw_own(&p.header), program_node() << 16 | i % EACH);
		assert_int_equal(p.payload[5], sw_byte(0, i % EACH + 5));
	}
}

static void bgq_f118_several_get_from_one_fifo_in_order(void **state)
{
	struct sw_program programs[GETTERS + 1] = { { 0, serve, NULL } };
	uint64_t digest;

	for (uint32_t i = 1; i <= GETTERS; i++)
		programs[i] = (struct sw_program){ i, get_numbers, NULL };
	digest = sw_run_on("4x2", 1, programs, GETTERS + 1);
	assert_int_equal(sw_run_on("4x2", 3, programs, GETTERS + 1), digest);
}

/* --- a get that is got --- */

static void get_by_way(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor last = back(0, 0, 1000), get;

	sw_open_bases(1000);
	/* node 1 is made to ask node 2, which sends the data here */
	get = sw_get(2, GET, MU_DESCRIPTOR_BYTES);
	mu_set_payload(&get, LIST + 64, MU_DESCRIPTOR_BYTES);
	list(0, &get);
	list(1, &last);
	get = sw_put(1, MU_DESCRIPTOR_BYTES);
	mu_set_payload(&get, LIST + 64, MU_DESCRIPTOR_BYTES);
	mu_set_put(&get.header, SW_BASE_TARGET, LIST + 64 - SW_TARGET);
	program_wait(LATER);
	sw_inject(&f, &get);
	program_wait(5 * LATER);
	get = get_list(1, 1);
	sw_inject(&f, &get);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET, 2, 1000);
}

static void serve_by_way(void *arg)
{
	serve(arg);
	sw_open_bases(0);
}

static void bgq_f118_a_get_may_bring_a_get(void **state)
{
	const struct sw_program programs[] = {
		{ 0, get_by_way, NULL },
		{ 1, serve_by_way, NULL },
		{ 2, serve_by_way, NULL },
	};

	sw_run_on("4", 1, programs, 3);
}

/* --- a full FIFO --- */

enum { LOTS = 12, LARGE = 3000 };

static void get_lots(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor get = get_list(1, 2);

	sw_open_bases(LOTS * 2 * LARGE);
	for (uint32_t i = 0; i < 2; i++) {
		struct mu_descriptor d = back(program_node(), i * LARGE, LARGE);

		list(i, &d);
	}
	program_wait(LATER);
	for (uint32_t i = 0; i < LOTS; i++)
		sw_inject(&f, &get);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET, 1, 2 * LARGE);
	program_charge(LATER);
	sw_expect_all(SW_COUNTER, 0, 8);
}

/* Room for three. */
static void serve_few(void *arg)
{
	uint64_t at = SW_FIFOS + GET * SW_FIFO_BYTES;

	sw_fill(DATA, 1, 40000);
	sw_fill(at + 256, 3, 256);
	sw_open_at(GET, MU_INJ_REMOTE_GET, at, 256);
	sw_wait_register(MU_ERROR_COUNT, MU_INT_GET_FULL, 1);
	assert_true(sw_is_pending(MU_NON_CRITICAL, MU_INT_GET_FULL));
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 0);
	sw_wait_count(GET, 3 * LOTS * 2);
	sw_expect(at + 256, 3, 256);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), 0);
}

static void bgq_g18_a_full_get_fifo_holds_packets_back(void **state)
{
	const struct sw_program programs[] = {
		{ 1, serve_few, NULL },
		{ 0, get_lots, NULL },
		{ 2, get_lots, NULL },
		{ 3, get_lots, NULL },
	};
	uint64_t digest;

	digest = sw_run_on("4", 1, programs, 4);
	assert_int_equal(sw_run_on("4", 3, programs, 4), digest);
}

/* --- a FIFO that software used before --- */

static void serve_after_use(void *arg)
{
	struct sw_fifo f = sw_open(GET, 0);
	struct mu_descriptor d = sw_put(1, 10);

	sw_fill(DATA, 1, 40000);
	sw_open_bases(30);
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
	sw_wait_counter(SW_COUNTER);
	sw_store_system(MU_INJ_ENABLE, GET, 0);
	sw_store_system(MU_INJ_ATTRIBUTES, GET, MU_INJ_REMOTE_GET);
	sw_store_system(MU_INJ_ENABLE, GET, 1);
	sw_wait_count(GET, 5);
	assert_int_equal(sw_load(MU_INJ_TAIL, GET), f.at + 5 * 64);
	/* its tail is the unit's now */
	sw_store(MU_INJ_TAIL, GET, f.at + 6 * 64);
	program_charge(LATER);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_REGISTER), 1);
}

static void get_after_use(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor get = get_list(1, 2);

	sw_open_bases(100);
	for (uint32_t i = 0; i < 2; i++) {
		struct mu_descriptor d = back(0, i * 50, 50);

		list(i, &d);
	}
	program_wait(20 * LATER);
	sw_inject(&f, &get);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET, 1, 100);
}

SW_PAIR(gets_go_on_where_software_ended, "2", get_after_use, 1, serve_after_use)

TESTS(TEST(bgq_f118_a_packet_brings_several_descriptors),
	TEST(bgq_f118_several_get_from_one_fifo_in_order),
	TEST(bgq_f118_a_get_may_bring_a_get),
	TEST(bgq_g18_a_full_get_fifo_holds_packets_back),
	TEST(gets_go_on_where_software_ended))
