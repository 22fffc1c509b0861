#include <string.h>

#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

/* --- who gets an engine --- */

struct share {
	uint64_t attributes[2];
	uint64_t other; /* packets of the first while the second was sent */
};

/* Two messages for one engine: the second comes while the first is sent. */
static void send_two(void *arg)
{
	struct share *s = arg;
	struct sw_fifo a = sw_open(1, s->attributes[0]);
	struct sw_fifo b = sw_open(2, s->attributes[1]);
	struct mu_descriptor d = sw_put(1, 200 * MU_PAYLOAD);
	struct mu_descriptor e = sw_put(1, 50 * MU_PAYLOAD);
	uint64_t was;

	mu_set_fifo_map(&d, 0x4000);
	mu_set_fifo_map(&e, 0x4000);
	program_wait(1000 * SIM_NS);
	sw_inject(&a, &d);
	program_charge(5000 * SIM_NS);
	was = sw_upc(MU_UPC_PACKETS_IN, 0);
	sw_inject(&b, &e);
	sw_wait_sent(&b);
	s->other = sw_upc(MU_UPC_PACKETS_IN, 0) - was - 50;
	sw_wait_sent(&a);
}

static uint64_t others(uint64_t a, uint64_t b)
{
	struct share s = { .attributes = { a, b } };
	const struct sw_program p[] = {
		{ 0, send_two, &s },
		{ 1, sw_open_only, NULL },
	};

	sw_run_on("3", 1, p, 2);
	return s.other;
}

static void bgq_f112_each_packet_is_chosen_by_priority_and_lot(void **state)
{
	assert_in_range(others(0, MU_INJ_HIGH), 0, 3);
	assert_in_range(others(0, 0), 30, 80);
	assert_in_range(others(MU_INJ_HIGH, MU_INJ_HIGH), 30, 80);
	assert_in_range(others(MU_INJ_HIGH, 0), 150, 200);
}

/* --- prefetching --- */

static void prefetch(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(1, 4096);

	mu_set_prefetch(&d, true);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		assert_int_equal(sw_upc(MU_UPC_PACKETS_IN, i), 0);
	assert_int_equal(sw_load(MU_INJ_COUNT, 0), 1);
}

static void bgq_f115_prefetch_reads_and_sends_nothing(void **state)
{
	const struct sw_program p = { 0, prefetch, NULL };
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "2");
	sw_run(&m, 1, &p, 1);
	assert_int_equal(sw_l2_counts(m.host, 0).reads, 1 + 4096 / 128);
	assert_int_equal(net_total(m.net).injected, 0);
	assert_null(m.nic->nodes[1]);
	nic_testing_fini(&m);
}

enum { CACHE = 128 << 10, SMALL = 16 << 10, LARGE = 4 * CACHE };

/* Reads memory to send it, or to prefetch it; how many lines were missed. */
static uint64_t read_lines(
	struct sw_fifo *f, uint64_t at, uint64_t bytes, bool is_prefetch)
{
	struct host *h = program_host();
	uint64_t was = sw_l2_counts(h, program_node()).misses;
	struct mu_descriptor d = sw_put(1, 0);

	mu_set_payload(&d, at, bytes);
	mu_set_prefetch(&d, is_prefetch);
	sw_inject(f, &d);
	sw_wait_sent(f);
	return sw_l2_counts(h, program_node()).misses - was;
}

/* A cache that holds the small area, but not the large one with it. */
static void prefetch_lines(void *arg)
{
	const uint64_t small = SW_SOURCE, large = SW_SOURCE + (1 << 20);
	enum { LINES = SMALL / 128, MORE = 2 /* the descriptor's */ };
	struct sw_fifo f = sw_open(0, 0);

	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < 2; i++) {
		read_lines(&f, large, LARGE, false);
		assert_in_range(read_lines(&f, small, SMALL, i == 1), LINES,
			LINES + MORE);
		/* it is there, whatever it was read for */
		assert_in_range(read_lines(&f, small, SMALL, false), 0, MORE);
	}
}

static void bgq_f115_what_is_prefetched_is_in_l2(void **state)
{
	const struct sw_program p[] = {
		{ 0, prefetch_lines, NULL },
		{ 1, sw_open_only, NULL },
	};
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "2");
	m.l2_capacity = CACHE;
	sw_run(&m, 1, p, 2);
	nic_testing_fini(&m);
}

/* --- bad bits --- */

struct faulty {
	uint64_t bits;
	uint32_t engine;
	site_id node; /* whose engine it is */
	uint64_t sent[2], received[2];
	uint64_t corrected, stopped, pending;
};

static void look_at_fault(struct faulty *x)
{
	if (program_node() != x->node)
		return;
	x->corrected = sw_load(MU_ERROR_COUNT, MU_INT_CORRECTED);
	x->stopped = sw_load(MU_ERROR_COUNT, MU_ERROR_MEMORY);
	x->pending = sw_load(MU_INT_PENDING, MU_MACHINE_CHECK);
}

/* Two messages to two nodes by engines of their own, 1 and 3; at the others
 * they arrive by engines 1 and 3, too. */
static void send_faulty(void *arg)
{
	struct faulty *x = arg;
	struct sw_fifo f[2] = { sw_open(0, 0), sw_open(1, 0) };

	if (x->node == 0)
		sw_store_system(MU_FAULT, x->engine, x->bits);
	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < 2; i++) {
		struct mu_descriptor d = sw_put(i ? 3 : 1, 10 * MU_PAYLOAD);

		mu_set_fifo_map(&d, i ? 0x2000 : 0x8000);
		sw_inject(&f[i], &d);
	}
	program_charge(20000 * SIM_NS);
	for (uint32_t i = 0; i < 2; i++)
		x->sent[i] = sw_load(MU_INJ_COUNT, i);
	look_at_fault(x);
}

static void receive_faulty(void *arg)
{
	struct faulty *x = arg;
	uint32_t engine = program_node();

	sw_open_bases(0);
	if (x->node == program_node())
		sw_store_system(MU_FAULT, x->engine, x->bits);
	program_wait(30000 * SIM_NS);
	x->received[program_node() / 2] = sw_upc(MU_UPC_PACKETS_OUT, engine);
	look_at_fault(x);
}

/* Runs, and audits; says is what is left, or NULL. */
static void run_faulty(struct faulty *x, const char *says)
{
	const struct sw_program p[] = {
		{ 0, send_faulty, x },
		{ 1, receive_faulty, x },
		{ 3, receive_faulty, x },
	};
	struct nic_testing m;
	struct err e = { 0 };

	nic_testing_machine(&m, "bgq", "3x3");
	nic_testing_start(&m, 1, 3);
	for (uint32_t i = 0; i < 3; i++)
		program_start(m.host, p[i].node, 0, 0, p[i].run, p[i].arg);
	assert_int_equal(sim_run(m.net->sim, SIM_NEVER - 1), SIM_IDLE);
	assert_int_equal(nic_audit(m.nic, &e), says ? -1 : 0);
	if (says && !strstr(e.text, says))
		fail_msg("%s", e.text);
	nic_testing_fini(&m);
}

/* Of an injection engine of node 0, and of a reception engine of node 1. */
static struct faulty flip(uint64_t bits, site_id node, const char *says)
{
	struct faulty x = {
		.bits = bits,
		.engine = node ? MU_NET_FIFOS + 1 : 1,
		.node = node,
	};

	run_faulty(&x, says);
	assert_int_equal(x.received[1], 10);
	assert_int_equal(x.corrected, !says);
	assert_int_equal(x.stopped, !!says);
	assert_int_equal(x.pending, says ? 1 << MU_ERROR_MEMORY : 0);
	return x;
}

static void bgq_f130_one_bad_bit_is_mended(void **state)
{
	assert_int_equal(flip(UINT64_C(1) << 40, 0, NULL).received[0], 10);
	assert_int_equal(flip(UINT64_C(1) << 40, 1, NULL).received[0], 10);
}

static void bgq_f130_two_bad_bits_stop_their_engine_alone(void **state)
{
	struct faulty in = flip(3, 0, "node 0: stopped: injection engine 1");
	struct faulty out = flip(3, 1, "node 1: stopped: reception engine 1");

	assert_true(!in.received[0] && !out.received[0]);
	assert_true(in.sent[1] == 1 && out.sent[1] == 1);
}

TESTS(TEST(bgq_f112_each_packet_is_chosen_by_priority_and_lot),
	TEST(bgq_f115_prefetch_reads_and_sends_nothing),
	TEST(bgq_f115_what_is_prefetched_is_in_l2),
	TEST(bgq_f130_one_bad_bit_is_mended),
	TEST(bgq_f130_two_bad_bits_stop_their_engine_alone))
