/* FIFOs that are full, and how fast engines are. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LATER = 1000 * SIM_NS };

/* --- a full reception FIFO --- */

enum { MANY = 50 };

struct sender {
	site_id dst;
	uint32_t n, rec, bytes;
	bool was_held; /* seen by it */
};

/* One engine, one message after the other; own numbers them. */
static void send_many(void *arg)
{
	struct sender *x = arg;
	struct sw_fifo f = sw_open(3, 0);

	sw_fill(SW_SOURCE, 1, 4096);
	program_wait(LATER);
	for (uint32_t i = 0; i < x->n; i++) {
		struct mu_descriptor d =
			sw_fifo_message(x->dst, x->rec, x->bytes);

		mu_set_payload(&d, SW_SOURCE + i, x->bytes);
		mu_set_fifo_map(&d, MU_MAP_A_MINUS);
		sw_set_channel(&d, MU_DETERMINISTIC);
		sw_set_own(&d, i);
		while (!sw_load(MU_INJ_FREE, 3))
			program_charge(50 * SIM_NS);
		sw_inject(&f, &d);
		program_charge(60 * SIM_NS);
		x->was_held |= program_now() > 50 * LATER &&
			       sw_load(MU_INJ_COUNT, 3) < i;
	}
}

static void expect_packet(const struct sw_packet *p, uint32_t i, uint32_t n)
{
	assert_int_equal(sw_own(&p->header), i);
	for (uint32_t j = 0; j < n; j++)
		assert_int_equal(p->payload[j], sw_byte(1, i + j));
}

/* Room for three full packets, and nobody reads for a long time. */
static void read_late(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 3 * 544 + 32);
	struct sw_packet p;

	program_wait(20 * LATER);
	assert_int_equal(sw_available(&r), 3 * 544);
	assert_int_equal(sw_load(MU_REC_FREE, 9), 0);
	assert_true(sw_is_pending(MU_NON_CRITICAL, MU_INT_REC_FULL));
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 0);
	/* another FIFO, another engine: it arrived meanwhile */
	assert_int_equal(sw_load(MU_REC_TAIL, 10) - sw_load(MU_REC_START, 10),
		MANY * 544);
	program_wait(60 * LATER);
	assert_int_equal(sw_available(&r), 3 * 544);
	for (uint32_t i = 0; i < MANY; i++) {
		sw_take(&r, &p);
		expect_packet(&p, i, 512);
		sw_free(&r);
	}
	program_charge(LATER);
	assert_int_equal(sw_available(&r), 0);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), 0);
}

static void open_other(void *arg)
{
	sw_open_rec(10, SW_REC_BYTES);
}

static void bgq_g18_a_full_fifo_holds_packets_back(void **state)
{
	for (uint32_t w = 1; w <= 3; w += 2) {
		struct sender a = { 1, MANY, 9, 512, false };
		struct sender b = { 1, MANY, 10, 512, false };
		const struct sw_program programs[] = {
			{ 0, send_many, &a },
			{ 2, send_many, &b },
			{ 1, read_late, NULL },
			{ 1, open_other, NULL },
		};

		sw_run_on("4", w, programs, 4);
		assert_true(a.was_held);
		assert_false(b.was_held);
	}
}

/*
 * A small FIFO, from which software takes one packet after the other; small
 * packets come in without end by one engine, full ones by another.  Both
 * always have one at hand: they take turns.
 */
static void read_slowly(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 544 + 32);
	uint32_t *twice = arg, i, n[2] = { 0, 0 }, last = 2;
	struct sw_packet p;

	program_wait(5 * LATER);
	for (i = 0; i < 2 * MANY; i++) {
		uint32_t is_full;

		sw_take(&r, &p);
		is_full = p.bytes > 32;
		assert_int_equal(sw_own(&p.header), n[is_full]++);
		/* at first the FIFO was empty, at last one has no more */
		if (i > 10 && n[0] < MANY && n[1] < MANY)
			*twice += is_full == last;
		last = is_full;
		program_charge(500 * SIM_NS);
		sw_free(&r);
	}
}

static void engines_wait_for_room_in_order(void **state)
{
	struct sender a = { 1, MANY, 9, 32, false };
	struct sender b = { 1, MANY, 9, 512, false };
	uint32_t twice = 0;
	struct sw_program programs[] = {
		{ 0, send_many, &a },
		{ 2, send_many, &b },
		{ 1, read_slowly, &twice },
	};

	sw_run_on("4", 1, programs, 3);
	/* the other way round */
	programs[0].node = 2;
	programs[1].node = 0;
	sw_run_on("4", 1, programs, 3);
	assert_int_equal(twice, 0);
}

/* One store of the head, and nobody waits for another. */
static void read_at_once(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 3 * 544 + 32);
	struct sw_packet p;

	program_wait(20 * LATER);
	for (uint32_t i = 0; i < 3; i++)
		sw_take(&r, &p);
	sw_free(&r);
	for (uint32_t i = 0; i < 3; i++)
		sw_take(&r, &p);
}

static void all_that_fit_are_let_in_at_once(void **state)
{
	struct sender x = { 1, 2, 9, 512, false };
	const struct sw_program programs[] = {
		{ 0, send_many, &x },
		{ 2, send_many, &x },
		{ 4, send_many, &x },
		{ 1, read_at_once, NULL },
	};

	sw_run_on("3x3", 1, programs, 4);
}

/* A FIFO that is set up anew has room; one that is switched off has not, and
 * what waits for it is for no FIFO. */
static void set_up_anew(void *arg)
{
	struct sw_reader r = sw_open_reader(9, 544 + 32);
	struct sw_packet p;

	program_wait(10 * LATER);
	assert_int_equal(sw_available(&r), 544);
	sw_store_system(MU_REC_ENABLE, 9, 0);
	program_charge(5 * LATER);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_FIFO), 6);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), 6);
	program_wait(40 * LATER);
	r = sw_open_reader(9, 8 * 544 + 32);
	for (uint32_t i = 0; i < 2; i++)
		sw_take(&r, &p);
}

static void send_again(void *arg)
{
	struct sw_fifo f = { .id = 3,
		.at = SW_FIFOS + 3 * SW_FIFO_BYTES,
		.bytes = SW_FIFO_BYTES,
		.n = 7 };
	struct mu_descriptor d = sw_fifo_message(1, 9, 512);

	program_wait(50 * LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
}

static void a_fifo_that_is_switched_off_holds_nothing(void **state)
{
	struct sender a = { 1, 7, 9, 512, false };
	const struct sw_program programs[] = {
		{ 0, send_many, &a },
		{ 0, send_again, NULL },
		{ 1, set_up_anew, NULL },
	};

	sw_run_on("4", 1, programs, 3);
}

/* --- speed --- */

/*
 * The FIFO is full, the engine is held, and the network is full behind it.
 * When there is room the engine drains what waits in its network FIFO as
 * fast as it can, then as fast as the link brings more.
 */
enum { FIRST = 30, BURST = 28, QUEUED = 6, SLACK = 8 * SIM_NS };

static void time_burst(void *arg)
{
	sim_time *at = arg;
	struct sw_reader r = sw_open_reader(9, FIRST * 544 + 32);
	struct sw_packet p;

	for (uint32_t i = 0; i < FIRST; i++)
		sw_take(&r, &p);
	program_wait(40 * LATER);
	assert_true(sw_is_pending(MU_NON_CRITICAL, MU_INT_REC_FULL));
	sw_free(&r);
	for (uint32_t i = 0; i < BURST; i++) {
		sw_take(&r, &p);
		at[i] = program_now();
	}
}

static void run_burst(int64_t rate, sim_time *at)
{
	struct sender x = { 1, FIRST + BURST, 9, 512, false };
	const struct sw_program programs[] = {
		{ 0, send_many, &x },
		{ 1, time_burst, at },
	};
	struct nic_testing m;
	struct mu_params *p;

	nic_testing_machine(&m, "bgq", "4");
	p = m.params;
	p->drain_rate = rate ? rate : p->drain_rate;
	m.router.reception = QUEUED;
	sw_run(&m, 1, programs, 2);
	nic_testing_fini(&m);
}

/* 544 bytes: 136 cycles of 1.25 ns against 136 of 2 ns. */
static void bgq_f119_an_engine_drains_faster_than_a_link_fills(void **state)
{
	sim_time at[BURST];

	run_burst(0, at);
	for (uint32_t i = 1; i < QUEUED; i++)
		assert_in_range(at[i] - at[i - 1], 170 * SIM_NS - SLACK,
			170 * SIM_NS + SLACK);
	/* the queue gets shorter by 102 ns a packet */
	for (uint32_t i = 20; i < BURST; i++)
		assert_in_range(
			at[i] - at[i - 1], 272 * SIM_NS - SLACK, 290 * SIM_NS);
}

/* At half that rate it is the engine that everybody waits for. */
static void bgq_n73_the_drain_rate_bounds_what_is_received(void **state)
{
	sim_time at[BURST];

	run_burst(1600000000, at);
	for (uint32_t i = 1; i < BURST; i++)
		assert_in_range(at[i] - at[i - 1], 340 * SIM_NS - SLACK,
			340 * SIM_NS + SLACK);
}

/* --- buffers --- */

static void read_all(void *arg)
{
	struct sw_reader r = sw_open_reader(9, SW_REC_BYTES);
	struct sw_packet p;
	sim_time *took = arg, from;

	sw_take(&r, &p);
	from = program_now();
	for (uint32_t i = 1; i < FIRST; i++) {
		sw_take(&r, &p);
		expect_packet(&p, sw_own(&p.header), 32);
	}
	*took = program_now() - from;
}

/* All at once, so that they come one right behind the other. */
static void send_together(void *arg)
{
	struct sw_fifo f[FIRST];

	sw_fill(SW_SOURCE, 1, 4096);
	for (uint32_t i = 0; i < FIRST; i++)
		f[i] = sw_open(3 + i, 0);
	program_wait(10 * LATER);
	for (uint32_t i = 0; i < FIRST; i++) {
		struct mu_descriptor d = sw_fifo_message(1, 9, 32);

		mu_set_payload(&d, SW_SOURCE + i, 32);
		sw_set_channel(&d, MU_DETERMINISTIC);
		sw_set_own(&d, i);
		sw_inject(&f[i], &d);
	}
}

static sim_time run_buffers(int64_t buffers)
{
	sim_time took = 0;
	const struct sw_program programs[] = {
		{ 0, send_together, NULL },
		{ 1, read_all, &took },
	};
	struct nic_testing m;
	struct mu_params *p;

	nic_testing_machine(&m, "bgq", "4");
	p = m.params;
	p->buffers = buffers;
	p->port_fifo = 0;
	sw_run(&m, 1, programs, 2);
	nic_testing_fini(&m);
	return took;
}

/* With one buffer the next packet is pulled when the last one is written:
 * it drains 20 ns, is looked up for 10 and written in 70. */
static void buffers_keep_an_engine_busy(void **state)
{
	sim_time one = run_buffers(1), four = run_buffers(4);

	assert_true(one >= (FIRST - 1) * 100 * SIM_NS);
	assert_true(four < (FIRST - 1) * 60 * SIM_NS);
}

TESTS(TEST(bgq_g18_a_full_fifo_holds_packets_back),
	TEST(engines_wait_for_room_in_order),
	TEST(all_that_fit_are_let_in_at_once),
	TEST(a_fifo_that_is_switched_off_holds_nothing),
	TEST(bgq_f119_an_engine_drains_faster_than_a_link_fills),
	TEST(bgq_n73_the_drain_rate_bounds_what_is_received),
	TEST(buffers_keep_an_engine_busy))
