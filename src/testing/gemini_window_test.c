/* Gemini's FMA: stores into windows, and what they become. */
#include <errno.h>
#include <string.h>

#include "testing/gemini_testing.h"

enum { WINDOW = 7, BYTES = 4096 };

static struct gemini_window window_to(uint32_t pe)
{
	return (struct gemini_window){
		.bytes = BYTES,
		.pe = pe,
		.handle = WORLD_ALL,
		.offset_bits = BYTES - 1,
		.cq = WORLD_DONE,
		.remote_cq = GEMINI_NO_CQ,
	};
}

static void set(const struct gemini_window *w)
{
	assert_int_equal(gemini_window_set(world_nic(), WINDOW, w), 0);
}

static int store(uint64_t at, const void *data, uint32_t bytes)
{
	return gemini_window_store(world_nic(), WINDOW, at, data, bytes);
}

static int control(uint64_t at, uint64_t word)
{
	return gemini_window_get(world_nic(), WINDOW, at, word);
}

/* Asks for an event, the n-th, and waits for it. */
static uint32_t sync_up(uint32_t n)
{
	struct gemini_event e;

	assert_int_equal(gemini_window_sync(world_nic(), WINDOW, 10 + n), 0);
	e = world_wait(WORLD_DONE, n);
	assert_int_equal(e.data, 10 + n);
	return e.status;
}

static uint64_t word_at(struct world *x, site_id node, uint64_t at)
{
	uint64_t word = 0;

	host_read(x->kit.host, node, at, &word, 8);
	return word;
}

/* --- puts --- */

static void store_a_stream(void *arg)
{
	struct gemini_window w = window_to(2);
	uint8_t data[200], got[200];
	struct world *x = arg;

	if (program_node())
		return;
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	w.offset = 0x100;
	set(&w);
	assert_int_equal(gemini_window_pending(world_nic(), WINDOW), 0);
	assert_int_equal(store(32, data, sizeof(data)), 0);
	assert_int_equal(gemini_window_pending(world_nic(), WINDOW), 4);
	assert_int_equal(sync_up(1), GEMINI_OK);
	assert_int_equal(gemini_window_pending(world_nic(), WINDOW), 0);
	host_read(x->kit.host, 2, WORLD_TARGET + 0x120, got, sizeof(got));
	assert_memory_equal(data, got, sizeof(data));
	assert_int_equal(word_at(x, 2, WORLD_TARGET + 0x118), 0);
}

/* 32 B to the end of a line, two whole lines, and 40 B. GEM-F16, GEM-F17,
 * GEM-F18, GEM-F21. */
static void stores_are_combined_to_lines_and_counted(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, store_a_stream);
	assert_int_equal(nic_count(x.kit.nic, 0, "requests"), 4);
	kit_close(&x.kit);
}

static void scatter(void *arg)
{
	struct gemini_window w = window_to(0);
	uint64_t data[4 * 8];

	if (program_node())
		return;
	for (uint32_t i = 0; i < 4 * 8; i++)
		data[i] = 100 + i;
	w.pe_bits = 3 * GEMINI_LINE;
	w.offset_bits = GEMINI_LINE - 1;
	w.offset = 0x40;
	set(&w);
	assert_int_equal(store(0, data, sizeof(data)), 0);
	assert_int_equal(sync_up(1), GEMINI_OK);
}

/* GEM-F20. */
static void one_stream_reaches_a_line_of_every_node(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, scatter);
	for (uint32_t node = 0; node < 4; node++)
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(
				word_at(&x, node, WORLD_TARGET + 0x40 + 8 * i),
				100 + 8 * node + i);
	kit_close(&x.kit);
}

static void put_with_events(void *arg)
{
	struct gemini_window w = window_to(2);
	uint64_t data[16] = { 5 };

	if (program_node() == 2) {
		assert_int_equal(world_wait(WORLD_CAME, 1).data, 33);
		assert_int_equal(world_wait(WORLD_CAME, 2).data, 33);
	}
	if (program_node())
		return;
	w.remote_cq = WORLD_CAME;
	w.remote_data = 33;
	set(&w);
	assert_int_equal(store(0, data, sizeof(data)), 0);
	assert_int_equal(sync_up(1), GEMINI_OK);
}

/* GEM-F22. */
static void a_put_raises_an_event_at_its_target(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, put_with_events);
	assert_int_equal(nic_count(x.kit.nic, 2, "events"), 2);
	kit_close(&x.kit);
}

/* --- control words --- */

static void get_and_fetch(void *arg)
{
	struct gemini_window w = window_to(2);
	struct nic *nic = world_nic();
	struct world *x = arg;
	uint64_t operand[2] = { 6, 7 };

	if (program_node() == 2)
		world_fill(WORLD_TARGET, 128);
	if (program_node())
		return;
	program_charge(1000 * SIM_NS);
	w.operand[0] = 1000;
	set(&w);
	control(64, gemini_control_get(WORLD_SOURCE, 64));
	control(8, gemini_control_fetch(WORLD_SOURCE + 64, GEMINI_ADD));
	assert_int_equal(sync_up(1), GEMINI_OK);
	assert_int_equal(word_at(x, 0, WORLD_SOURCE), 65);
	assert_int_equal(word_at(x, 0, WORLD_SOURCE + 56), 121);
	assert_int_equal(word_at(x, 0, WORLD_SOURCE + 64), 9);
	assert_int_equal(word_at(x, 2, WORLD_TARGET + 8), 1009);
	w.op = GEMINI_AMO;
	w.amo = GEMINI_AND_XOR;
	set(&w);
	assert_int_equal(store(16, operand, 16), 0);
	assert_int_equal(sync_up(2), GEMINI_OK);
	program_charge(1000 * SIM_NS);
	assert_int_equal(word_at(x, 2, WORLD_TARGET + 16), (17 & 6) ^ 7);
	assert_int_equal(gemini_window_pending(nic, WINDOW), 0);
}

/* GEM-F19, GEM-F21. */
static void control_words_get_lines_and_fetch_words(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, get_and_fetch);
	kit_close(&x.kit);
}

/* --- syncs --- */

static void sync_between(void *arg)
{
	struct gemini_window w = window_to(2);
	struct world *x = arg;
	uint64_t word = 3;

	if (program_node())
		return;
	set(&w);
	store(0, &word, 8);
	gemini_window_sync(world_nic(), WINDOW, 1);
	program_charge(900 * SIM_NS);
	store(8, &word, 8);
	gemini_window_sync(world_nic(), WINDOW, 2);
	assert_int_equal(world_wait(WORLD_DONE, 1).data, 1);
	assert_int_equal(word_at(x, 2, WORLD_TARGET), 3);
	assert_int_equal(word_at(x, 2, WORLD_TARGET + 8), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).data, 2);
	assert_int_equal(word_at(x, 2, WORLD_TARGET + 8), 3);
	assert_int_equal(sync_up(3), GEMINI_OK);
}

/* GEM-F21. */
static void a_sync_waits_for_what_was_stored_before_it(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, sync_between);
	kit_close(&x.kit);
}

/* --- what is wrong --- */

static void misuse_descriptors(void)
{
	struct gemini_window w = window_to(2);
	struct nic *nic = world_nic();

	assert_int_equal(gemini_window_set(nic, GEMINI_WINDOWS, &w), EINVAL);
	assert_int_equal(gemini_window_set(nic, GEMINI_WINDOWS - 1, &w), 0);
	w.bytes = 100;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w.bytes = 2 * GEMINI_WINDOW;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.pe_bits = BYTES;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.offset_bits = BYTES - 2;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.cq = 9;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.handle = GEMINI_HANDLES;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.offset = UINT64_C(1) << 40;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
	w = window_to(2);
	w.op = GEMINI_SEND;
	assert_int_equal(gemini_window_set(nic, WINDOW, &w), EINVAL);
}

static void misuse(void *arg)
{
	struct gemini_window w = window_to(2);
	uint64_t word = 1;

	if (program_node())
		return;
	misuse_descriptors();
	assert_int_equal(store(0, &word, 8), EFAULT);
	set(&w);
	assert_int_equal(store(BYTES - 4, &word, 8), EFAULT);
	assert_int_equal(store(UINT64_MAX, &word, 8), EFAULT);
	assert_int_equal(control(BYTES, 1), EFAULT);
	assert_int_equal(control(0, 0x1234), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_BAD_WORD);
	control(0, gemini_control_get(WORLD_SOURCE, 65));
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_BAD_WORD);
	assert_int_equal(sync_up(3), GEMINI_OK);
	w.handle = 99;
	set(&w);
	store(0, &word, 8);
	assert_int_equal(sync_up(4), GEMINI_BAD_HANDLE);
	w = window_to(40);
	set(&w);
	store(0, &word, 8);
	assert_int_equal(sync_up(5), GEMINI_BAD_PE);
	w = window_to(2);
	w.is_virtual = true;
	set(&w);
	store(0, &word, 8);
	assert_int_equal(sync_up(6), GEMINI_BAD_PE);
}

/* GEM-F13, GEM-F16; a sync reports what failed before it: GEM-F21. */
static void misuse_of_windows_is_refused(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, misuse);
	assert_int_equal(nic_count(x.kit.nic, 0, "not a control word"), 2);
	assert_int_equal(nic_count(x.kit.nic, 0, "unknown PE"), 2);
	assert_int_equal(word_at(&x, 2, WORLD_TARGET), 0);
	kit_close(&x.kit);
}

/* --- PEs --- */

enum { PES = 64 };

static void put_to_pe(void *arg)
{
	struct gemini_post p = {
		.op = GEMINI_PUT,
		.node = 5,
		.is_virtual = true,
		.handle = WORLD_ALL,
		.from = &(uint64_t){ 77 },
		.bytes = 8,
		.cq = GEMINI_NO_CQ,
		.remote_cq = GEMINI_NO_CQ,
	};

	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	p.is_virtual = false;
	p.offset = 8;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
}

/* A job of 64 PEs on nodes 64 to 127. GEM-F15. */
static void upper_bits_of_pes_are_translated(void **state)
{
	const struct kit_how how = { .machine = "gemini",
		.needs.n_programs = 1 };
	uint32_t nodes[PES];
	struct world x = { .took = 0 };

	for (uint32_t i = 0; i < PES; i++)
		nodes[i] = 64 + i;
	kit_open(&x.kit, &how);
	for (uint32_t i = 0; i < 128; i++)
		ranges_add(gemini_handles(x.kit.nic, i), WORLD_ALL,
			WORLD_TARGET, WORLD_BYTES, GEMINI_WRITE);
	assert_int_equal(gemini_ntt_load(x.kit.nic, 0, nodes, PES), 0);
	nodes[3] = 66;
	assert_int_equal(gemini_ntt_load(x.kit.nic, 0, nodes, PES), EINVAL);
	nodes[3] = 3;
	assert_int_equal(gemini_ntt_load(x.kit.nic, 0, nodes, PES), EINVAL);
	nodes[3] = 67 + 64;
	assert_int_equal(gemini_ntt_load(x.kit.nic, 0, nodes, PES), EINVAL);
	program_start(x.kit.host, 0, 0, 0, put_to_pe, &x);
	kit_run(&x.kit, false);
	assert_int_equal(word_at(&x, 69, WORLD_TARGET), 77);
	assert_int_equal(word_at(&x, 5, WORLD_TARGET), 0);
	assert_int_equal(word_at(&x, 5, WORLD_TARGET + 8), 77);
	kit_close(&x.kit);
}

/* --- order --- */

struct arrivals {
	uint32_t last, n, overtaken; /* numbers of packets of node 0 */
};

static void note_arrival(
	void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct arrivals *x = arg;

	if (s != 2 || p->src)
		return;
	x->overtaken += x->n++ && p->number < x->last;
	x->last = p->number;
}

/* Nine packets each, the last one the shortest, which is on its link for less
 * time than those before it. */
static void put_unevenly(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 520);

	for (uint32_t i = 1; i <= 10 && program_node() == 2; i++) {
		uint64_t k = world_wait(WORLD_CAME, i).data;

		assert_true(world_is_filled(
			program_host(), 2, WORLD_TARGET + 1024 * k, 520));
	}
	if (program_node())
		return;
	world_fill(WORLD_SOURCE, 520);
	p.remote_cq = WORLD_CAME;
	for (uint32_t i = 0; i < 10; i++) {
		p.offset = 1024 * i;
		p.remote_data = i;
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
	}
}

static void note_and_put(void *arg)
{
	struct world *x = arg;

	if (!program_node()) {
		world_nic()->on_delivered = note_arrival;
		world_nic()->arg = x->arg;
	}
	put_unevenly(arg);
}

/* Who polls looks all the time, so that it would see an event too early.
 * GEM-F33, GEM-F34. */
static void packets_come_in_any_order_before_their_event(void **state)
{
	static const char *const sets[] = { "nic.software.poll-load=0ns",
		"nic.software.poll-period=1ns", NULL };
	struct arrivals seen = { .n = 0 };
	struct world x = { .arg = &seen };

	world_run(&x, sets, false, note_and_put);
	assert_int_equal(seen.n, 90);
	assert_true(seen.overtaken > 0);
	kit_close(&x.kit);
}

/* The last packet of each is behind the segment's end, and the first that
 * comes. */
static void put_beyond(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 520);
	struct world *x = arg;

	if (program_node())
		return;
	world_nic()->on_delivered = note_arrival;
	world_nic()->arg = x->arg;
	p.offset = WORLD_BYTES - 512;
	p.remote_cq = WORLD_CAME;
	for (uint32_t i = 1; i <= 10; i++) {
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
		assert_int_equal(
			world_wait(WORLD_DONE, i).status, GEMINI_OUT_OF_BOUNDS);
	}
}

/* Others are counted behind it, and the last one of these is in order.
 * GEM-F34. */
static void no_event_follows_a_packet_that_was_refused(void **state)
{
	struct arrivals seen = { .n = 0 };
	struct world x = { .arg = &seen };

	world_run(&x, NULL, true, put_beyond);
	assert_int_equal(seen.n, 80);
	assert_int_equal(nic_count(x.kit.nic, 2, "events"), 0);
	kit_close(&x.kit);
}

/* --- SSIDs --- */

static void put_with_event(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 1000);
	struct world *x = arg;

	if (program_node() == 2) {
		world_wait(WORLD_CAME, 1);
		x->took = program_now();
		assert_true(
			world_is_filled(program_host(), 2, WORLD_TARGET, 1000));
	}
	if (program_node())
		return;
	world_fill(WORLD_SOURCE, 1000);
	p.remote_cq = WORLD_CAME;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_OK);
}

static sim_time took_with(
	const char *const *sets, uint64_t misses, void (*program)(void *))
{
	struct world x = { .took = 0 };

	world_run(&x, sets, false, program);
	assert_int_equal(nic_count(x.kit.nic, 2, "rmt_misses"), misses);
	kit_close(&x.kit);
	return x.took;
}

/* Sixteen packets that nobody counts: the response to the last one crosses two
 * ends and a link, and so does what says that it was the last. GEM-F36. */
static void an_event_without_an_entry_takes_a_round_trip_more(void **state)
{
	static const char *const none[] = { "nic.rmt=0", NULL };
	sim_time with = took_with(NULL, 0, put_with_event);
	sim_time without = took_with(none, 16, put_with_event);

	assert_in_range(without - with, 2 * 225 * SIM_NS, 900 * SIM_NS);
}

static void put_many(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 8);
	struct world *x = arg;

	if (program_node())
		return;
	p.cq = GEMINI_NO_CQ;
	for (uint32_t i = 1; i < 400; i++)
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
	p.cq = WORLD_DONE;
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 1);
	x->took = program_now();
}

/* A write takes 10 us, so 400 puts with 128 under way take four of these.
 * GEM-F35. */
static void ssids_bound_the_transactions_under_way(void **state)
{
	static const char *const all[] = { "side.see=10us", "nic.pending=999",
		NULL };
	static const char *const few[] = { "side.see=10us", "nic.pending=999",
		"nic.ssids=128", NULL };

	assert_in_range(took_with(all, 0, put_many) / SIM_NS, 18000, 30000);
	assert_in_range(took_with(few, 0, put_many) / SIM_NS, 40000, 60000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_combined_to_lines_and_counted),
		cmocka_unit_test(one_stream_reaches_a_line_of_every_node),
		cmocka_unit_test(a_put_raises_an_event_at_its_target),
		cmocka_unit_test(control_words_get_lines_and_fetch_words),
		cmocka_unit_test(a_sync_waits_for_what_was_stored_before_it),
		cmocka_unit_test(misuse_of_windows_is_refused),
		cmocka_unit_test(upper_bits_of_pes_are_translated),
		cmocka_unit_test(packets_come_in_any_order_before_their_event),
		cmocka_unit_test(no_event_follows_a_packet_that_was_refused),
		cmocka_unit_test(
			an_event_without_an_entry_takes_a_round_trip_more),
		cmocka_unit_test(ssids_bound_the_transactions_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
