/* What commands do, and the short packets that are built of them. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- each command --- */

/* Writes its second register to where the first says. */
static void each_thread(const uint64_t *reg)
{
	elan_thread_write(reg[0], reg[1]);
}

static void each_command(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t dma[8] = { ELAN_RUN_DMA, 8, 0, 1, ET_SOURCE, ET_TARGET, 1, 0 };
	uint64_t store[3] = { ELAN_STORE, ET_TARGET, 55 };
	uint64_t copy[3] = { elan_word(ELAN_COPY, 64, 0), ET_SOURCE,
		ET_TARGET };
	uint64_t add = elan_word(ELAN_ADD, 2, 3);
	uint64_t thread[7] = { elan_word(ELAN_RUN_THREAD, 8, 0),
		ET_TARGET + 256, 99 };
	uint64_t nop = ELAN_NOP, interrupt = elan_word(ELAN_INTERRUPT, 9, 0);

	et_fill(ET_SOURCE, 4, 64);
	et_push(&q, &nop, 1);
	/* a packet and its acknowledgement */
	et_arm(&q, 1, 1);
	et_put(&q, 1, ET_TARGET + 64, 3, 40, 0, 1);
	et_wait_event(1);
	/* a DMA */
	et_arm(&q, 1, 1);
	et_push(&q, dma, 8);
	et_wait_event(1);
	/* a small write, a small copy */
	et_push(&q, store, 3);
	et_wait_word(ET_TARGET, 55);
	et_push(&q, copy, 3);
	et_wait_word(ET_TARGET + 56, et_word(ET_SOURCE + 56));
	et_expect(ET_TARGET, 4, 64);
	et_expect_all(ET_TARGET + 64, 0, 8);
	/* an event: two are not enough */
	et_arm(&q, 2, 5);
	et_push(&q, &add, 1);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG + 16), 0);
	et_push(&q, &add, 1);
	et_wait_event(2);
	/* a thread */
	et_load(ET_CONTEXT, 8, each_thread);
	et_push(&q, thread, 7);
	et_wait_word(ET_TARGET + 256, 99);
	/* an event that is not armed, or none */
	et_push(&q, &add, 1);
	et_push(&q, &interrupt, 1);
	et_wait_room(&q, 65536);
	assert_int_equal(et_word(ET_FLAG + 16), 0);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void each_command_check(void *arg)
{
	program_wait(100 * US);
	et_expect(ET_TARGET, 4, 8);
	et_expect_all(ET_TARGET + 8, 0, 56);
	et_expect(ET_TARGET + 64, 3, 40);
	et_expect_all(ET_TARGET + 104, 0, 64);
}

static void qsn_f31_each_command_does_its_work(void **state)
{
	struct et *m = *state;
	struct elan_counts c;

	et_run_two(m, each_command, each_command_check, NULL);
	c = et_counts(m, 0);
	assert_int_equal(c.interrupts, 1);
	assert_int_equal(c.dmas, 1);
	assert_int_equal(c.fired, 3);
	assert_int_equal(c.threads, 1);
	assert_int_equal(c.commands, 13);
}

/* A guard holds what follows until the packets before are acknowledged. */
static void guard_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t store[4] = { ELAN_STORE, ET_FLAG, 1, ELAN_GUARD };
	uint64_t again[3] = { ELAN_STORE, ET_FLAG, 2 };

	et_put(&q, 1, ET_TARGET, 1, 8, 0, 0);
	et_push(&q, store, 4);
	et_push(&q, again, 3);
	et_wait_word(ET_FLAG, 1);
	program_wait(99 * US);
	assert_int_equal(et_word(ET_FLAG), 1);
	et_wait_word(ET_FLAG, 2);
	assert_in_range(program_now(), 100 * US, 103 * US);
}

static void qsn_f31_guarded_commands_wait_for_acknowledgements(void **state)
{
	struct et *m = *state;

	m->params.input = 100 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, guard_program, NULL, NULL);
}

/* One string of words: a store, a packet, a guard, a DMA, an interrupt. */
static void composite_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[200];
	uint32_t n = 0;

	et_fill(ET_SOURCE, 30, 100);
	et_arm(&q, 1, 3);
	for (uint32_t k = 0; k < 3; k++) {
		const uint64_t dma[8] = { ELAN_RUN_DMA, 100, 0, 1, ET_SOURCE,
			ET_TARGET + 0x1000 * k, 1, 0 };

		w[n++] = ELAN_STORE;
		w[n++] = ET_FLAG + 0x100 + 8 * k;
		w[n++] = k + 1;
		n += et_packet(
			w + n, 1, ET_TARGET + 0x1000 * k + 512, k, 24, 0, 0);
		w[n++] = ELAN_GUARD;
		memcpy(w + n, dma, sizeof(dma));
		n += 8;
		w[n++] = ELAN_INTERRUPT;
	}
	et_push(&q, w, n);
	et_wait_event(1);
	for (uint32_t k = 0; k < 3; k++)
		assert_int_equal(et_word(ET_FLAG + 0x100 + 8 * k), k + 1);
}

static void composite_check(void *arg)
{
	program_wait(100 * US);
	for (uint32_t k = 0; k < 3; k++) {
		et_expect(ET_TARGET + 0x1000 * k, 30, 100);
		et_expect(ET_TARGET + 0x1000 * k + 512, k, 24);
	}
}

static void qsn_f32_commands_stand_one_behind_the_other(void **state)
{
	struct et *m = *state;

	et_run_two(m, composite_program, composite_check, NULL);
	assert_int_equal(et_counts(m, 0).interrupts, 3);
}

/* --- short packets --- */

struct timing {
	uint32_t bytes, queues; /* opened besides */
	uint32_t queue; /* used */
	sim_time sent, seen_first, seen_last;
};

static void timed_put(void *arg)
{
	struct timing *x = arg;
	struct et_queue q = et_open(x->queue);

	for (uint32_t k = 1; k <= x->queues; k++)
		et_open_as(x->queue + k, ELAN_1K, 0, ET_CONTEXT);
	program_wait(10 * US);
	et_put(&q, 1, ET_TARGET, 1, x->bytes, 0, 0);
	x->sent = program_now();
}

static void timed_see(void *arg)
{
	struct timing *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->seen_first = program_now();
	program_poll(ET_TARGET + x->bytes - 8, WORD_IS_NOT, 0, loop, &word);
	x->seen_last = program_now();
	et_expect(ET_TARGET, 1, x->bytes);
}

/* QSN-N35: 82.5 ns from a store's arrival to the end of its packet. */
static void qsn_f28_an_empty_queue_is_passed_at_once(void **state)
{
	struct timing x = { .bytes = 8 }, y = { .bytes = 8, .queues = 4000 };
	struct timing z = { .bytes = 8, .queue = 8191 };
	struct et m;
	sim_time way;

	et_init(&m, "4");
	/* store, command, 2 x 5 m and a switch, input, bus, visible */
	way = m.params.host[0].store + m.params.command + 61 * SIM_NS +
	      m.params.input + m.params.host[0].dma_overhead + 7500 +
	      m.params.host[0].see;
	et_run_two(&m, timed_put, timed_see, &x);
	et_fini(&m);
	et_init(&m, "4");
	et_run_two(&m, timed_put, timed_see, &y);
	et_fini(&m);
	et_init(&m, "4");
	et_run_two(&m, timed_put, timed_see, &z);
	et_fini(&m);
	assert_int_equal(x.seen_first, x.sent + way);
	assert_int_equal(y.seen_first, x.seen_first);
	assert_int_equal(z.seen_first, x.seen_first);
}

static void qsn_f34_the_head_is_there_before_the_tail_is_stored(void **state)
{
	struct et *m = *state;
	struct timing x = { .bytes = 512 };

	m->params.host[0].pio_overhead = 1000 * SIM_NS;
	m->params.merge = 128;
	et_run_two(m, timed_put, timed_see, &x);
	/* Nine bursts; the first block is in the third. */
	assert_true(x.seen_first < x.sent - 4 * US);
	assert_true(x.seen_last > x.sent);
	assert_true(x.seen_last < x.sent + US);
}

/* QSN-F35, QSN-F36: puts by the core, and answers by the input. */
static void short_program(void *arg)
{
	struct et_queue q = et_open(0);

	for (uint32_t bytes = 1; bytes <= 512; bytes += 7) {
		et_arm(&q, 1, bytes);
		et_arm(&q, 2, 1);
		et_put(&q, 1, ET_TARGET + 3, bytes, bytes, 0, 2);
		et_wait_event(2);
		et_get(&q, 1, ET_TARGET + 3, ET_SOURCE + 1024 * bytes + 5,
			bytes, 1);
		et_wait_event(1);
		et_expect(ET_SOURCE + 1024 * bytes + 5, bytes, bytes);
		et_expect_all(ET_SOURCE + 1024 * bytes + 5 + bytes, 0, 8);
		et_expect_all(ET_SOURCE + 1024 * bytes, 0, 5);
	}
}

static void qsn_f36_short_puts_and_gets(void **state)
{
	struct et *m = *state;

	et_run_two(m, short_program, NULL, NULL);
	assert_int_equal(et_counts(m, 1).gets, 74);
	assert_int_equal(et_counts(m, 1).packets, 74);
}

static void outstanding_program(void *arg)
{
	const struct et *m = arg;
	struct et_queue q = et_open(0), other = et_open(1);

	for (uint32_t k = 0; k < 5; k++)
		et_put(&q, 1, ET_TARGET + 8 * k, k, 8, 0, 0);
	et_put(&other, 1, ET_TARGET + 0x100, 9, 8, 0, 0);
	program_wait(90 * US);
	assert_int_equal(et_counts(m, 0).packets, 3);
	program_wait(190 * US);
	assert_int_equal(et_counts(m, 0).packets, 5);
	program_wait(290 * US);
	assert_int_equal(et_counts(m, 0).packets, 6);
}

static void qsn_f37_two_packets_of_a_queue_are_outstanding(void **state)
{
	struct et *m = *state;

	m->params.input = 100 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, outstanding_program, NULL, m);
}

/* --- half a packet --- */

static void half_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	const struct et *m = arg;
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n = et_packet(w, 1, ET_TARGET, 6, 64, 0, 1), k;

	et_arm(&other, 1, 1);
	program_wait(10 * US);
	/* A word every 1.5 us: not a pause of 2 us. */
	for (k = 0; k < 6; k++) {
		et_push(&q, w + k, 1);
		program_charge(1500 * SIM_NS);
	}
	assert_int_equal(et_counts(m, 0).aborted, 0);
	program_charge(2 * US);
	assert_int_equal(et_counts(m, 0).aborted, 1);
	/* It holds up nobody else. */
	et_put(&other, 1, ET_TARGET + 0x100, 7, 8, 0, 1);
	et_wait_event(1);
	et_arm(&other, 1, 1);
	/* And it is sent whole when the rest has come. */
	et_push(&q, w + 6, n - 6);
	et_wait_event(1);
	et_put(&q, 1, ET_TARGET + 0x200, 8, 8, 0, 0);
}

static void half_check(void *arg)
{
	program_wait(22 * US);
	et_expect_all(ET_TARGET, 0, 64);
	program_wait(50 * US);
	et_expect(ET_TARGET, 6, 64);
	et_expect(ET_TARGET + 0x100, 7, 8);
	et_expect(ET_TARGET + 0x200, 8, 8);
}

static void qsn_f38_half_a_packet_is_closed_by_a_time_out(void **state)
{
	struct et *m = *state;

	et_run_two(m, half_program, half_check, m);
	assert_int_equal(et_counts(m, 0).aborted, 1);
	assert_int_equal(et_counts(m, 1).dropped, 1);
	assert_int_equal(et_counts(m, 0).packets, 3);
	assert_int_equal(et_counts(m, 0).acks, 3);
}

/* Two half packets, one soon after the other, each have their time-out. */
static void halves_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n = et_packet(w, 1, ET_TARGET, 6, 64, 0, 0);

	et_push(&q, w, 3);
	program_charge(US);
	et_push(&q, w + 3, n - 3);
	et_push(&q, w, 5);
	program_charge(10 * US);
}

static void qsn_f38_each_half_packet_has_a_time_out(void **state)
{
	struct et *m = *state;

	et_run_two(m, halves_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).packets, 1);
	assert_int_equal(et_counts(m, 0).aborted, 1);
}

/* --- routes --- */

static void everywhere_program(void *arg)
{
	struct et_queue q = et_open(0);

	for (uint32_t k = 0; k < 17; k++) {
		for (uint32_t route = 0; route < 6; route++) {
			uint64_t w[ET_PACKET_WORDS];
			uint32_t n = et_packet(w, k, ET_TARGET + 64 * route,
				k + route, 64, 0, 0);

			w[0] |= (uint64_t)route << 48;
			et_push(&q, w, n);
		}
	}
}

static void everywhere_check(void *arg)
{
	program_wait(300 * US);
	for (uint32_t route = 0; route < 6; route++)
		et_expect(ET_TARGET + 64 * route, program_node() + route, 64);
}

/* The process names a node; the way there and the checks are the card's. */
static void qsn_f39_the_card_adds_the_route(void **state)
{
	struct et *m = *state;
	struct et_program p[18] = { { 16, everywhere_program, NULL } };

	for (uint32_t k = 0; k < 17; k++)
		p[k + 1] = (struct et_program){ k, everywhere_check, NULL };
	m->nodes = "17";
	et_run(m, 1, p, 18);
}

TESTS(ET_TEST(qsn_f31_each_command_does_its_work),
	ET_TEST(qsn_f31_guarded_commands_wait_for_acknowledgements),
	ET_TEST(qsn_f32_commands_stand_one_behind_the_other),
	TEST(qsn_f28_an_empty_queue_is_passed_at_once),
	ET_TEST(qsn_f34_the_head_is_there_before_the_tail_is_stored),
	ET_TEST(qsn_f36_short_puts_and_gets),
	ET_TEST(qsn_f37_two_packets_of_a_queue_are_outstanding),
	ET_TEST(qsn_f38_half_a_packet_is_closed_by_a_time_out),
	ET_TEST(qsn_f38_each_half_packet_has_a_time_out),
	ET_TEST(qsn_f39_the_card_adds_the_route))
