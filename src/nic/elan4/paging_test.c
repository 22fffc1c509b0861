/* What translation costs long transfers. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { SMALL = 8 << 10, LARGE = 2 << 20, LONG = 1 << 20 };

#define AT (UINT64_C(0xfade) << 48)

/* A DMA of some memory, and its rate. */
struct transfer {
	struct elan_vm from, to; /* of no bytes: the process's own */
	uint64_t bytes;
	uint64_t rate; /* MB/s */
};

static uint64_t take(const struct elan_vm *how, uint64_t own)
{
	uint64_t at = own;

	if (how->bytes)
		assert_int_equal(elan_vm_take(et_card(), program_node(),
					 ET_CONTEXT, how, &at),
			0);
	return at;
}

static uint64_t place(uint64_t at)
{
	uint64_t to = at;

	elan_vm_find(et_card(), program_node(), ET_CONTEXT, at, 1, &to);
	return to;
}

static void sender(void *arg)
{
	struct transfer *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, x->bytes, 1, 0);
	sim_time t;

	d.from = take(&x->from, ET_SOURCE);
	d.to = x->to.bytes ? x->to.at : ET_TARGET;
	for (uint64_t i = 0; i < 2 * SMALL; i += SMALL)
		et_fill(place(d.from) + i, 1 + i, SMALL);
	et_arm(&q, 1, 1);
	program_charge(20 * US);
	t = program_now();
	et_dma(&q, &d);
	et_wait_event(1);
	x->rate = x->bytes * (uint64_t)US / (uint64_t)(program_now() - t);
}

static void receiver(void *arg)
{
	const struct transfer *x = arg;
	uint64_t to = take(&x->to, ET_TARGET);

	program_wait((sim_time)(x->bytes / 300 + 200) * US);
	for (uint64_t i = 0; i < 2 * SMALL; i += SMALL)
		et_expect(place(to) + i, 1 + i, SMALL);
}

static struct elan_counts counts[2];

/* On CPUs that the driver does not take. */
static uint64_t rate(struct transfer x)
{
	struct et m;

	et_init(&m, "4");
	m.params.mmu.on = true;
	et_start(&m, 1, 2);
	program_start(m.host, 0, 1, 0, sender, &x);
	program_start(m.host, 1, 1, 0, receiver, &x);
	et_go(&m);
	counts[0] = et_counts(&m, 0);
	counts[1] = et_counts(&m, 1);
	et_fini(&m);
	return x.rate;
}

static struct elan_vm vm(uint64_t page, uint64_t bytes, uint32_t flags)
{
	return (struct elan_vm){
		.at = AT, .bytes = bytes, .page = page, .flags = flags
	};
}

static void qsn_f43_the_prefetcher_is_ahead_of_its_misses(void **state)
{
	uint64_t best = rate((struct transfer){ .bytes = LONG }), found;

	(void)state;
	assert_in_range(best, 850, 900);
	found = rate(
		(struct transfer){ .from = vm(SMALL, LONG, 0), .bytes = LONG });
	assert_in_range(found * 1000, best * 995, best * 1005);
	assert_int_equal(counts[0].tlb_fills, LONG / SMALL + 1);
}

static void qsn_f43_first_touches_of_small_pages_stop_it(void **state)
{
	(void)state;
	assert_in_range(
		rate((struct transfer){ .from = vm(SMALL, LONG, ELAN_VM_DEMAND),
			.bytes = LONG }),
		335, 365);
	assert_int_equal(counts[0].faults, LONG / SMALL);
}

static void qsn_f43_first_touches_of_large_pages_hardly_count(void **state)
{
	const uint64_t bytes = 4 * LARGE;
	uint64_t best = rate((struct transfer){ .bytes = bytes });

	(void)state;
	assert_in_range(rate((struct transfer){
				.from = vm(LARGE, bytes, ELAN_VM_DEMAND),
				.bytes = bytes }) *
				1000,
		best * 990, best * 1000);
	assert_int_equal(counts[0].faults, 4);
}

static void qsn_f45_blocks_are_translated_and_merged(void **state)
{
	uint64_t best = rate((struct transfer){ .bytes = LONG }), found;

	(void)state;
	found = rate(
		(struct transfer){ .to = vm(SMALL, LONG, 0), .bytes = LONG });
	assert_in_range(found * 1000, best * 990, best * 1010);
	assert_int_equal(counts[1].tlb_fills, LONG / SMALL);
	/* four blocks of 128 bytes are a burst */
	assert_int_equal(counts[1].writes, LONG / 512);
	assert_int_equal(counts[1].merged, LONG / 512 * 3);
}

/* The last step of a DMA; the others are told by --follow. */
static void events_sender(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, 2 * SMALL, 1, 2);

	d.from = take(&(struct elan_vm){ .bytes = 3 * SMALL }, 0) + 100;
	program_charge(20 * US);
	et_arm(&q, 1, 1);
	et_dma(&q, &d);
	et_wait_event(1);
}

static void events_receiver(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 2, 2 * SMALL);
	et_wait_event(2);
}

static void qsn_f80_a_dma_ends_with_events_at_both_ends(void **state)
{
	struct et *m = *state;

	m->params.mmu.on = true;
	et_run_two(m, events_sender, events_receiver, NULL);
	assert_int_equal(et_counts(m, 0).fired, 1);
	assert_int_equal(et_counts(m, 1).fired, 1);
}

TESTS(TEST(qsn_f43_the_prefetcher_is_ahead_of_its_misses),
	TEST(qsn_f43_first_touches_of_small_pages_stop_it),
	TEST(qsn_f43_first_touches_of_large_pages_hardly_count),
	TEST(qsn_f45_blocks_are_translated_and_merged),
	ET_TEST(qsn_f80_a_dma_ends_with_events_at_both_ends))
