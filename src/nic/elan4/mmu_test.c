/* Translation: TLBs and their fills, by the times of looks. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	LARGE = 2 << 20,
	SMALL = 8 << 10,
	FILL = 120000, /* ps */
	LINK = 60000,
	SETS = 16,
	WAYS = 4,
	BLOCK = 3, /* entries of a block of the tables */
};

static struct elan_view look_as(uint32_t context, uint64_t at, uint64_t bytes)
{
	struct nic_at a = nic_now(et_card());

	return elan_look(&a, context, at, bytes, ELAN_TO_WRITE);
}

/* How long the translation of a word takes. */
static sim_time late_as(uint32_t context, uint64_t at)
{
	struct elan_view v = look_as(context, at, 8);

	assert_int_equal(v.state, ELAN_SEEN);
	return v.t - program_now();
}

static sim_time late(uint64_t at)
{
	return late_as(ET_CONTEXT, at);
}

/* Addresses of small pages, at the end of all. */
static uint64_t take_pages(uint32_t n)
{
	uint64_t bytes = (uint64_t)n * SMALL;
	struct elan_node *here = nic_node(et_card(), program_node());

	elan_area_add(&here->areas, &(struct elan_area){
					    .first = -bytes,
					    .last = UINT64_MAX,
					    .to = LARGE,
					    .context = ET_CONTEXT,
				    });
	return -bytes;
}

static void run(struct et *m, void (*program)(void *))
{
	m->params.mmu.on = true;
	et_run_two(m, program, NULL, NULL);
}

/* --- hits and fills --- */

static void once_program(void *arg)
{
	assert_int_equal(late(LARGE + 8), FILL);
	program_charge(US);
	for (uint64_t at = LARGE; at < 2 * LARGE; at += LARGE / 8) {
		assert_int_equal(late(at), 0);
		program_charge(US);
	}
	assert_int_equal(late(2 * LARGE), FILL);
	program_charge(US);
	assert_int_equal(late(2 * LARGE - 8), 0);
}

static void qsn_f55_a_page_is_filled_once(void **state)
{
	struct et *m = *state;
	struct elan_counts c;

	run(m, once_program);
	c = et_counts(m, 0);
	assert_int_equal(c.tlb_fills, 2);
	assert_int_equal(c.tlb_hits, 9);
	assert_int_equal(c.tlb_links, 0);
}

static void off_program(void *arg)
{
	for (uint64_t at = 0; at < ET_MEMORY; at += LARGE)
		assert_int_equal(late(at), 0);
}

static void without_mmu_nothing_takes_time(void **state)
{
	struct et *m = *state;

	et_run_two(m, off_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).tlb_fills, 0);
}

/* An access over two pages needs both. */
static void two_pages_program(void *arg)
{
	struct elan_view v = look_as(ET_CONTEXT, 2 * LARGE - 8, 16);

	assert_int_equal(v.state, ELAN_SEEN);
	assert_int_equal(v.at, 2 * LARGE - 8);
	program_charge(US);
	assert_int_equal(late(LARGE), 0);
	program_charge(US);
	assert_int_equal(late(2 * LARGE), 0);
}

static void an_access_over_two_pages_fills_both(void **state)
{
	struct et *m = *state;

	run(m, two_pages_program);
	assert_int_equal(et_counts(m, 0).tlb_fills, 2);
}

/* --- sizes --- */

/* All pages that fit hit the second time. */
static void entries_program(void *arg)
{
	uint64_t high = take_pages(SETS * WAYS);

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < SETS * WAYS; i++) {
			sim_time want = round ? 0 : FILL;

			assert_int_equal(late(UINT64_C(1) * i * LARGE), want);
			program_charge(US);
			assert_int_equal(late(high + i * SMALL), want);
			program_charge(US);
		}
}

static void qsn_f55_two_tlbs_of_64_entries_serve_two_page_sizes(void **state)
{
	run(*state, entries_program);
}

/* A set has four ways, and the least recently used one goes. */
static void ways_program(void *arg)
{
	const uint64_t step = SETS * (uint64_t)LARGE;

	for (uint32_t i = 0; i < WAYS; i++) {
		assert_int_equal(late(step * i), FILL);
		program_charge(US);
	}
	assert_int_equal(late(0), 0); /* so that 1 is the oldest */
	program_charge(US);
	assert_int_equal(late(step * WAYS), FILL);
	program_charge(US);
	assert_int_equal(late(0), 0);
	program_charge(US);
	assert_int_equal(late(step * 2), 0);
	program_charge(US);
	assert_int_equal(late(step), FILL);
}

static void qsn_f55_the_least_recently_used_way_goes(void **state)
{
	run(*state, ways_program);
}

static void other_sizes_program(void *arg)
{
	const uint32_t small = 64 << 10, large = 32 << 20;
	uint64_t high = take_pages(3 * small / SMALL);

	assert_int_equal(late(large + 8), FILL);
	program_charge(US);
	assert_int_equal(late(2 * large - 8), 0);
	program_charge(US);
	assert_int_equal(late(high), FILL);
	program_charge(US);
	assert_int_equal(late(high + small - 8), 0);
	program_charge(US);
	assert_int_equal(late(high + small), FILL);
}

static void qsn_f55_any_two_of_eight_sizes_are_active(void **state)
{
	struct et *m = *state;

	m->params.mmu.sizes = (struct param_list){ 2, { 2, 7 } };
	run(m, other_sizes_program);
}

/* --- chains --- */

/* Pages whose entries are in one chain: hashes are alike. */
static void chain_program(void *arg)
{
	for (uint32_t i = 0; i < 3 * BLOCK; i++) {
		uint32_t context = 16 + i;
		uint64_t page = (context ^ 8) * (uint64_t)LARGE;

		assert_int_equal(elan_context_set(et_card(), 0, context, 0,
					 ET_MEMORY - 1),
			0);
		assert_int_equal(
			late_as(context, page), FILL + i / BLOCK * LINK);
		program_charge(US);
	}
}

static void qsn_f56_each_further_link_takes_60_ns(void **state)
{
	struct et *m = *state;

	run(m, chain_program);
	assert_int_equal(et_counts(m, 0).tlb_links, BLOCK + 2 * BLOCK);
}

/* Entries are bytes of card memory: what is written there is believed. */
static void bytes_program(void *arg)
{
	struct elan_node *n = nic_node(et_card(), program_node());
	uint64_t *entry = (void *)elan_sdram_place(
		&n->sdram, n->mmu.table[1] + (3 ^ ET_CONTEXT) * 64);

	assert_int_equal(late(3 * LARGE), FILL);
	program_charge(US);
	assert_int_equal(entry[0], 3 * LARGE | 1);
	assert_int_equal(entry[1], (uint64_t)ET_CONTEXT << 50 | 3 * LARGE | 1);
	entry[1] += LARGE;
	tlb_drop(&n->mmu.tlb[1], ET_CONTEXT, 3, 1);
	elan_mmu_forget(&n->mmu);
	assert_int_equal(
		look_as(ET_CONTEXT, 3 * LARGE + 8, 8).at, 4 * LARGE + 8);
}

static void qsn_f56_page_tables_are_bytes_in_card_memory(void **state)
{
	run(*state, bytes_program);
}

/* --- at a time --- */

static void four_program(void *arg)
{
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(late(UINT64_C(1) * i * LARGE), FILL);
	assert_int_equal(late(4 * LARGE), 2 * FILL);
}

static void qsn_f56_four_fills_go_on_at_a_time(void **state)
{
	run(*state, four_program);
}

/* One fill for all who miss the page, and hits of others meanwhile. */
static void shared_program(void *arg)
{
	late(0);
	program_charge(US);
	assert_int_equal(late(LARGE), FILL);
	program_charge(50 * SIM_NS);
	assert_int_equal(late(LARGE + 64), FILL - 50 * SIM_NS);
	assert_int_equal(late(64), 0);
	program_charge(70 * SIM_NS);
	assert_int_equal(late(LARGE + 64), 0);
}

static void qsn_f56_others_hit_during_a_fill(void **state)
{
	struct et *m = *state;

	run(m, shared_program);
	assert_int_equal(et_counts(m, 0).tlb_fills, 2);
}

/* --- targets --- */

static void targets_program(void *arg)
{
	struct et_queue q = et_open_mapped(3, ELAN_8K, ET_MAPPED);
	struct elan_view v = look_as(ET_CONTEXT, LARGE + 72, 8);
	uint64_t card;

	assert_int_equal(
		elan_memory_take(et_card(), 0, ET_CONTEXT, 4096, &card), 0);

	assert_int_equal(v.at, LARGE + 72);
	assert_int_equal(v.flags & ELAN_TO_QUEUE, 0);
	v = look_as(ET_CONTEXT, card + 72, 8);
	assert_int_equal(v.at, card + 72);
	assert_int_equal(v.flags & ELAN_TO_QUEUE, 0);
	v = look_as(ET_CONTEXT, ET_MAPPED + 72, 8);
	assert_true(v.flags & ELAN_TO_QUEUE);
	assert_int_equal(v.t - program_now(), FILL);
	assert_ptr_equal(
		elan_queue_mapped(nic_node(et_card(), 0), ET_CONTEXT, v.at, 8),
		elan_queue(nic_node(et_card(), 0), q.id));
}

static void qsn_f54_an_address_leads_to_memory_card_or_queue(void **state)
{
	run(*state, targets_program);
}

/* The driver looks first. */
static void expect_nowhere(uint32_t context, uint64_t at)
{
	struct elan_view v = look_as(context, at, 8);
	struct nic_at a = nic_now(et_card());

	assert_int_equal(v.state, ELAN_MISSING);
	elan_fault(&a, context, v.at, v.t, NULL, 0);
	program_charge(20 * US);
	assert_int_equal(look_as(context, at, 8).state, ELAN_NOWHERE);
}

static void nowhere_program(void *arg)
{
	expect_nowhere(ET_CONTEXT, ET_MEMORY);
	expect_nowhere(ET_CONTEXT, 2 * ET_MEMORY - 4);
	expect_nowhere(ET_CONTEXT, ELAN_CARD_AT);
	expect_nowhere(ET_CONTEXT, ET_MAPPED);
	/* its large page is another's, too */
	assert_int_equal(look_as(ET_OTHER, ET_OTHER_AT, 8).state, ELAN_SEEN);
	program_charge(US);
	expect_nowhere(ET_OTHER, ET_OTHER_AT + ET_OTHER_BYTES);
	assert_int_equal(look_as(ET_OTHER, ET_OTHER_AT, 8).state, ELAN_SEEN);
	/* a context that is not there needs no driver */
	assert_int_equal(look_as(99, 0, 8).state, ELAN_NOWHERE);
}

static void what_a_context_lacks_is_nowhere(void **state)
{
	run(*state, nowhere_program);
}

/* All kinds of frames, and back. */
static void qsn_f54_frames_select_one_of_four_upper_parts(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < ELAN_BANKS; i++) {
		uint64_t at = elan_bank(i) + (UINT64_C(1) << 49) + LARGE;

		assert_int_equal(elan_frame_at(elan_frame(at, false)), at);
		assert_true(elan_frame(at, false) < UINT64_C(1) << 50);
		assert_true(!i || elan_bank(i) > elan_bank(i - 1));
	}
	assert_int_equal(elan_frame_at(elan_frame(ELAN_CARD_AT + SMALL, false)),
		ELAN_CARD_AT + SMALL);
	assert_true(
		elan_frame(ELAN_CARD_AT + SMALL, false) < UINT64_C(1) << 31);
}

/* --- bad bits --- */

static void bad_program(void *arg)
{
	struct elan_node *n = nic_node(et_card(), program_node());
	struct et_queue q = et_open(1);
	struct et_queue other = et_open_as(2, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t block = n->mmu.table[1] + (2 ^ ET_CONTEXT) * 64;

	elan_sdram_flip(&n->sdram, block, 1 << 4 | 1 << 17);
	assert_int_equal(look_as(ET_CONTEXT, 2 * LARGE, 8).state, ELAN_NOWHERE);
	assert_int_equal(et_error(&q), ELAN_ERROR_MEMORY);
	assert_int_equal(et_error(&other), ELAN_FINE);
	assert_int_equal(late_as(ET_OTHER, ET_OTHER_AT), FILL);
	assert_int_equal(look_as(ET_CONTEXT, 0, 8).state, ELAN_NOWHERE);
}

static void two_bad_bits_in_a_page_table_stop_its_context(void **state)
{
	struct et *m = *state;

	run(m, bad_program);
	assert_int_equal(et_counts(m, 0).uncorrectable, 1);
}

static void mended_program(void *arg)
{
	struct elan_node *n = nic_node(et_card(), program_node());

	elan_sdram_flip(&n->sdram, n->mmu.table[1] + (2 ^ ET_CONTEXT) * 64, 16);
	assert_int_equal(late(2 * LARGE), FILL);
}

static void one_bad_bit_in_a_page_table_is_mended(void **state)
{
	struct et *m = *state;

	run(m, mended_program);
	assert_int_equal(et_counts(m, 0).corrected, 1);
}

/* --- the budget of an operation --- */

/* A put, until the event of its acknowledgement is seen. */
static sim_time put_time(struct et_queue *q)
{
	sim_time from;

	et_arm(q, 1, 1);
	program_charge(10 * US);
	from = program_now();
	et_put(q, 1, ET_TARGET, 7, 8, 0, 1);
	et_wait_event(1);
	return program_now() - from;
}

static void put_program(void *arg)
{
	struct et_queue q = et_open(0);
	sim_time first = put_time(&q);

	/* at the target, and for the event's word */
	assert_int_equal(first - put_time(&q), 2 * FILL);
}

static void a_put_into_a_cold_page_takes_a_fill_longer(void **state)
{
	struct et *m = *state;

	run(m, put_program);
	assert_int_equal(et_counts(m, 1).tlb_fills, 1);
	assert_int_equal(et_counts(m, 1).tlb_hits, 1);
	et_expect_at(m, 1, ET_TARGET, 7, 8, true);
}

TESTS(ET_TEST(qsn_f55_a_page_is_filled_once),
	ET_TEST(without_mmu_nothing_takes_time),
	ET_TEST(an_access_over_two_pages_fills_both),
	ET_TEST(qsn_f55_two_tlbs_of_64_entries_serve_two_page_sizes),
	ET_TEST(qsn_f55_the_least_recently_used_way_goes),
	ET_TEST(qsn_f55_any_two_of_eight_sizes_are_active),
	ET_TEST(qsn_f56_each_further_link_takes_60_ns),
	ET_TEST(qsn_f56_page_tables_are_bytes_in_card_memory),
	ET_TEST(qsn_f56_four_fills_go_on_at_a_time),
	ET_TEST(qsn_f56_others_hit_during_a_fill),
	ET_TEST(qsn_f54_an_address_leads_to_memory_card_or_queue),
	ET_TEST(what_a_context_lacks_is_nowhere),
	TEST(qsn_f54_frames_select_one_of_four_upper_parts),
	ET_TEST(two_bad_bits_in_a_page_table_stop_its_context),
	ET_TEST(one_bad_bit_in_a_page_table_is_mended),
	ET_TEST(a_put_into_a_cold_page_takes_a_fill_longer))
