/* APEnet+'s programs when hosts, cards and GPUs die and return: what goes on,
 * what they are told, and when. */
#include <errno.h>

#include "parts/gpus/gpus.h"
#include "testing/ape_testing.h"

enum { HOST, GPU0, GPU1, BYTES = 5000 };

/* A put, and what becomes of it here. */
static void put(const struct ape_world *w, uint32_t from, uint32_t to,
	uint32_t tag, uint32_t kind)
{
	struct weft_ape_transfer t = ape_transfer(w, from, to, BYTES);
	struct weft_ape_event e;

	t.tag = tag;
	t.way = WEFT_APE_P2P;
	assert_int_equal(weft_ape_put(&t), 0);
	do {
		assert_int_equal(weft_ape_wait(&e), 0);
		assert_int_equal(e.tag, tag);
		if (kind == WEFT_APE_ERROR && e.kind == kind)
			assert_int_equal(e.error, WEFT_APE_UNREACHABLE);
	} while (e.kind != kind);
}

/* --- hosts --- */

static void use_dead_host(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, BYTES);

	if (node == 1) {
		ape_fill(w, HOST, 0, APE_BUFFER, 1);
		for (;;) /* until it dies */
			program_charge(MS / 10);
	}
	program_wait(5 * MS);
	t.own_offset = 9999;
	assert_int_equal(weft_ape_get(&t), 0);
	ape_await(WEFT_APE_GOT);
	assert_true(ape_is(w, HOST, 9999, BYTES, 1));
	ape_fill(w, HOST, 0, BYTES, 2);
	put(w, HOST, HOST, 1, WEFT_APE_DONE);
	ape_fill(w, HOST, 0, BYTES, 3);
	t.own_offset = 0;
	assert_int_equal(weft_ape_get(&t), 0);
	ape_await(WEFT_APE_GOT);
	assert_true(ape_is(w, HOST, 0, BYTES, 2));
}

/* Its card goes on, reads and writes its memory. */
static void the_card_of_a_dead_host_goes_on(void **state)
{
	static const char *const sets[] = APE_FAULTS("2 ms host 1 dies");
	struct ape_world w = { .run = use_dead_host };

	ape_world_run(&w, sets, NULL, false);
	assert_int_equal(host_n_dead(w.kit.host), 1);
	kit_close(&w.kit);
}

/* --- cards --- */

static void lose_card(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, BYTES);
	struct weft_ape_event e;
	uint32_t key, n = 0;

	if (node == 1) {
		/* two before, and one when it is back */
		for (n = 0; n < 3; n++)
			assert_int_equal(
				ape_await(WEFT_APE_ARRIVED).tag, n < 2 ? n : 9);
		assert_true(program_now() > 30 * MS);
		return;
	}
	put(w, HOST, HOST, 0, WEFT_APE_DONE);
	put(w, HOST, HOST, 1, WEFT_APE_DONE);
	program_wait(2 * MS + 1);
	/* nobody knows yet, but it waits in vain */
	assert_int_equal(weft_ape_put(&t), 0);
	assert_int_equal(weft_ape_wait(&e), EIO);
	assert_true(program_now() > 2 * MS && program_now() < 5 * MS);
	assert_int_equal(weft_ape_put(&t), EIO);
	assert_int_equal(weft_ape_get(&t), EIO);
	assert_int_equal(weft_ape_poll(&e), EIO);
	assert_int_equal(weft_ape_register(APE_HOST, 8, &key), EIO);
	assert_int_equal(weft_ape_deregister(w->key[GPU1]), EIO);
	program_wait(30 * MS);
	assert_int_equal(weft_ape_register(APE_HOST, 8, &key), 0);
	put(w, HOST, HOST, 9, WEFT_APE_DONE);
	assert_int_equal(weft_ape_close(), 0);
}

/* What it had is lost, its host's calls fail once the host knows, and when it
 * is back it goes on. */
static void calls_to_a_dead_card_fail_once_the_host_knows(void **state)
{
	static const char *const sets[] =
		APE_FAULTS("2 ms card 0 dies; 20 ms card 0 returns");
	struct ape_world w = { .run = lose_card };

	ape_world_run(&w, sets, NULL, false);
	assert_int_equal(nic_sum(w.kit.nic, "lost_in_cards"), 2);
	kit_close(&w.kit);
}

static void register_in_vain(struct ape_world *w, uint32_t node)
{
	uint32_t key;

	if (node)
		return;
	program_wait(2 * MS + 1);
	assert_int_equal(weft_ape_register(APE_HOST, 8, &key), EIO);
	assert_true(program_now() > 2 * MS + 100000 * SIM_NS);
	assert_int_equal(weft_ape_close(), 0);
}

static void who_registers_with_a_dead_card_hears_of_it(void **state)
{
	static const char *const sets[] = APE_FAULTS("2 ms card 0 dies");
	struct ape_world w = { .run = register_in_vain };

	ape_world_run(&w, sets, NULL, false);
	kit_close(&w.kit);
}

/* A long transfer whose card dies under it. */
static void lose_midway(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, w->n, w->n, APE_BUFFER);
	struct weft_ape_event e;
	int code = 0;

	t.way = w->n ? WEFT_APE_STAGED : WEFT_APE_P2P;
	while (node == 0 && !code)
		code = weft_ape_put(&t);
	while (node == 1 && program_now() < 8 * MS)
		if (weft_ape_poll(&e))
			program_charge(MS / 20);
	assert_int_equal(code, node ? 0 : EIO);
}

static void transfers_end_when_their_card_dies(void **state)
{
	static const char *const sets[] = APE_FAULTS("2 ms card 0 dies");

	for (uint32_t i = HOST; i <= GPU0; i++) {
		struct ape_world w = { .run = lose_midway, .n = i };

		ape_world_run(&w, sets, NULL, true);
		kit_close(&w.kit);
	}
}

/* --- GPUs --- */

static void lose_gpu(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, GPU0, HOST, BYTES);
	struct weft_ape_event e;
	uint32_t errors = 0, arrived = 0;

	if (node == 1) {
		while (program_now() < 9 * MS) {
			if (weft_ape_poll(&e)) {
				program_charge(MS / 50);
				continue;
			}
			errors += e.kind == WEFT_APE_ERROR &&
				  e.error == WEFT_APE_UNREACHABLE && e.tag == 3;
			arrived += e.kind == WEFT_APE_ARRIVED;
		}
		assert_int_equal(errors, 2); /* packets */
		assert_int_equal(arrived, 3);
		return;
	}
	put(w, GPU0, HOST, 1, WEFT_APE_DONE);
	program_wait(2 * MS);
	put(w, GPU0, HOST, 2, WEFT_APE_ERROR);
	assert_int_equal(weft_ape_wait(&e), 0); /* of its second packet */
	assert_int_equal(weft_ape_wait(&e), 0);
	assert_int_equal(e.kind, WEFT_APE_DONE);
	t.way = WEFT_APE_STAGED;
	assert_int_equal(weft_ape_put(&t), EIO);
	assert_int_equal(weft_gpu_copy(w->at[GPU0], APE_HOST, 8), EIO);
	assert_int_equal(weft_gpu_copy(w->at[GPU1], APE_HOST, 8), 0);
	put(w, GPU1, GPU1, 3, WEFT_APE_DONE); /* GPU 1.1 is dead */
	t = ape_transfer(w, HOST, GPU1, 8);
	assert_int_equal(weft_ape_get(&t), 0);
	assert_int_equal(ape_await(WEFT_APE_ERROR).error, WEFT_APE_UNREACHABLE);
	put(w, GPU1, HOST, 4, WEFT_APE_DONE);
	program_wait(7 * MS);
	put(w, GPU0, HOST, 5, WEFT_APE_DONE);
}

static void dead_gpus_give_errors_until_they_return(void **state)
{
	static const char *const sets[] =
		APE_FAULTS("1500 us gpu 0.0 dies; 6 ms gpu 0.0 returns; "
			   "1600 us gpu 1.1 dies");
	struct ape_world w = { .run = lose_gpu };

	ape_world_run(&w, sets, NULL, true);
	kit_close(&w.kit);
}

/* --- links --- */

/* As many packets as wait for X+, then one by Y+. */
static void put_by_two_links(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, 4096);

	if (node == 8) {
		ape_await(WEFT_APE_ARRIVED);
		assert_true(program_now() < MS / 2);
	}
	for (uint32_t i = 0; i < 6 && node == 2; i++)
		ape_await(WEFT_APE_ARRIVED);
	if (node == 2)
		assert_true(program_now() > MS);
	for (uint32_t i = 0; i < 7 && !node; i++) {
		t.node = i < 6 ? 2 : 8;
		assert_int_equal(weft_ape_put(&t), 0);
	}
}

/* Each link has an injection FIFO of its own. */
static void packets_wait_for_their_own_link_alone(void **state)
{
	static const char *const sets[] = { "link.retry=replay",
		"faults.events=150 us link 0 X+ dies; 1 ms link 0 X+ returns",
		NULL };
	struct ape_world w = { .run = put_by_two_links };

	ape_world_run(&w, sets, "4x4x1", false);
	kit_close(&w.kit);
}

enum { PAGE = 4096, PAGES = 32 };

static void put_over_a_broken_link(struct ape_world *w, uint32_t node)
{
	struct weft_ape_transfer t = ape_transfer(w, HOST, HOST, PAGES * PAGE);
	struct weft_ape_event e;

	for (uint64_t i = 0; i < PAGES && !node; i++)
		ape_fill(w, HOST, i * PAGE, PAGE, i + 1);
	if (!node) {
		assert_int_equal(weft_ape_put(&t), 0);
		return;
	}
	e = ape_await(WEFT_APE_ARRIVED);
	assert_int_equal(e.bytes, PAGES * PAGE);
	for (uint64_t i = 0; i < PAGES; i++)
		w->n += !ape_is(w, HOST, i * PAGE, PAGE, i + 1);
	assert_true(ape_is(w, HOST, (PAGES - 1) * PAGE, PAGE, PAGES));
}

/* Nobody numbers the packets between two nodes: the card that is given the last
 * one of a put cannot know that others are missing.  The run does. */
static void a_put_arrives_though_packets_of_it_are_lost(void **state)
{
	static const char *const sets[] = {
		"faults.events=220 us link 0 X+ dies; 226 us link 0 X+ returns",
		NULL
	};
	struct ape_world w = { .run = put_over_a_broken_link };

	ape_world_run(&w, sets, NULL, false);
	assert_in_range(w.n, 2, 6);
	assert_int_equal(net_total(w.kit.net).lost, w.n);
	assert_int_equal(nic_sum(w.kit.nic, "delivered"), PAGES - w.n);
	kit_close(&w.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_card_of_a_dead_host_goes_on),
		cmocka_unit_test(calls_to_a_dead_card_fail_once_the_host_knows),
		cmocka_unit_test(who_registers_with_a_dead_card_hears_of_it),
		cmocka_unit_test(transfers_end_when_their_card_dies),
		cmocka_unit_test(dead_gpus_give_errors_until_they_return),
		cmocka_unit_test(packets_wait_for_their_own_link_alone),
		cmocka_unit_test(a_put_arrives_though_packets_of_it_are_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
