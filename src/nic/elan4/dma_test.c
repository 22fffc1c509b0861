/* The DMA engine: reads ahead, assemblers, alignments, completion. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static struct elan_dma dma(uint64_t bytes)
{
	return (struct elan_dma){ .bytes = bytes,
		.destination = 1,
		.from = ET_SOURCE,
		.to = ET_TARGET,
		.source_event = 1 };
}

struct many {
	uint64_t n, bytes; /* DMAs, of so many bytes each */
	sim_time took; /* from the first to the last one's source event */
	sim_time first; /* to the first one's */
};

static void many_program(void *arg)
{
	struct many *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = dma(x->bytes);
	sim_time t;

	for (uint64_t k = 1; k <= x->n; k++)
		et_arm(&q, (uint32_t)k, 1);
	program_wait(100 * US);
	t = program_now();
	for (uint64_t k = 1; k <= x->n; k++) {
		d.source_event = k;
		et_dma(&q, &d);
	}
	et_wait_event(1);
	x->first = program_now() - t;
	for (uint64_t k = 2; k <= x->n; k++)
		et_wait_event((uint32_t)k);
	x->took = program_now() - t;
}

static sim_time time_of(struct et *m, uint64_t n, uint64_t bytes)
{
	struct many x = { .n = n, .bytes = bytes };

	et_run_two(m, many_program, NULL, &x);
	et_fini(m);
	return x.took;
}

/* A bus that takes next to nothing, so that reads' latency shows. */
static void make_bus_fast(struct et *m)
{
	m->params.bus.clock = 1;
	m->params.bus.turn = 0;
	m->params.host[0].dma_overhead = 0;
	m->params.host[0].pio_overhead = 0;
	m->params.host[0].store = 0;
	m->params.host[0].see = 0;
}

/* --- assemblers --- */

/* Packets of 512 bytes leave two at a time, each after 2 us of assembly. */
static void qsn_f40_two_assemblers_share_one_prefetcher(void **state)
{
	struct et m;
	sim_time t;

	et_init(&m, "4");
	make_bus_fast(&m);
	m.params.dma_window = 32;
	m.params.command = 2 * US;
	t = time_of(&m, 1, 16 * 512);
	/* eight times two at once, and the ways there and back */
	assert_in_range(t, 16 * US, 16 * US + 4 * US);
}

static void qsn_f41_two_dmas_overlap(void **state)
{
	struct et m;
	sim_time one, two;

	et_init(&m, "4");
	one = time_of(&m, 1, 512);
	et_init(&m, "4");
	two = time_of(&m, 2, 512);
	/* the second one's read begins while the first is on its way */
	assert_true(two < one + 800 * SIM_NS);
	et_init(&m, "4");
	m.params.reads = 1;
	assert_true(time_of(&m, 2, 512) > two + 300 * SIM_NS);
}

/* --- the run queue --- */

struct idle {
	const struct et *m;
	sim_time stored, seen;
	uint64_t
		reads[2]; /* that were begun before the first was done, after */
};

static void idle_program(void *arg)
{
	struct idle *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = dma(8);

	et_fill(ET_SOURCE, 3, 8);
	d.source_event = 0;
	program_wait(10 * US);
	et_dma(&q, &d);
	x->stored = program_now();
	program_wait(100 * US);
	for (uint32_t k = 0; k < 4; k++)
		et_dma(&q, &d);
	program_wait(101 * US);
	x->reads[0] = et_counts(x->m, 0).reads - 1;
	program_wait(200 * US);
	x->reads[1] = et_counts(x->m, 0).reads - 1;
}

static void idle_check(void *arg)
{
	struct idle *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->seen = program_now();
}

/* It begins to read when the descriptor's store has come; of four, two. */
static void qsn_f42_an_idle_engine_takes_a_descriptor_at_once(void **state)
{
	struct et *m = *state;
	struct idle x = { .m = m };
	sim_time way;

	/* store, read, command, 2 x 5 m and a switch, input, write */
	way = m->params.host[0].store + m->params.dispatch +
	      m->params.read_latency + m->params.command + 61 * SIM_NS +
	      m->params.input + m->params.host[0].see +
	      2 * (m->params.host[0].dma_overhead + m->params.bus.clock);
	et_run_two(m, idle_program, idle_check, &x);
	assert_int_equal(x.seen, x.stored + way);
	assert_int_equal(x.reads[0], 2);
	assert_int_equal(x.reads[1], 4);
}

enum { LINE = 40 };

static void line_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = dma(900);

	et_fill(ET_SOURCE, 3, 900 + LINE);
	for (uint32_t k = 0; k < LINE; k++) {
		uint64_t arm[4] = { elan_word(ELAN_ARM, k + 1, 0), 1, ET_FLAG,
			k + 1 };

		et_push(&q, arm, 4);
	}
	for (uint32_t k = 0; k < LINE; k++) {
		d.from = ET_SOURCE + k;
		d.to = ET_TARGET + 1024 * k;
		d.source_event = k + 1;
		et_dma(&q, &d);
	}
}

/* They end in the order in which they were asked for. */
static void line_watch(void *arg)
{
	for (uint32_t k = 1; k <= LINE; k++)
		et_wait_word(ET_FLAG, k);
}

static void line_check(void *arg)
{
	uint8_t byte;

	program_wait(200 * US);
	for (uint32_t k = 0; k < LINE; k++) {
		for (uint32_t i = 0; i < 900; i++) {
			program_read(ET_TARGET + 1024 * k + i, &byte, 1);
			assert_int_equal(byte, et_byte(3, k + i));
		}
	}
}

static void qsn_f42_more_dmas_wait_in_the_run_queue(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, line_program, NULL }, { 0, line_watch, NULL },
		{ 1, line_check, NULL });
	assert_int_equal(et_counts(m, 0).dmas, LINE);
}

/* --- reads --- */

/* 96 blocks of 8 bytes: by twelve reads at a time, or fewer. */
static void qsn_f16_twelve_reads_are_outstanding(void **state)
{
	static const int64_t reads[] = { 12, 6, 1 };
	struct et m;

	for (uint32_t i = 0; i < 3; i++) {
		sim_time t, rounds = 96 / reads[i] * 75 * US;

		et_init(&m, "4");
		make_bus_fast(&m);
		m.params.dma_window = 32;
		m.params.read_block = 8;
		m.params.read_latency = 75 * US;
		if (i)
			m.params.reads = reads[i];
		t = time_of(&m, 1, 96 * 8);
		assert_in_range(t, rounds, rounds + 74 * US);
	}
}

/* 32 blocks of 512 bytes: four at a time fit the buffers. */
static void qsn_f16_reads_have_2_kb_of_buffers(void **state)
{
	static const int64_t at_once[] = { 4, 8 };
	struct et m;

	for (uint32_t i = 0; i < 2; i++) {
		sim_time t, rounds = 32 / at_once[i] * 75 * US;

		et_init(&m, "4");
		make_bus_fast(&m);
		m.params.dma_window = 32;
		m.params.read_latency = 75 * US;
		if (i)
			m.params.read_buffer = 4096;
		t = time_of(&m, 1, 32 * 512);
		assert_in_range(t, rounds, rounds + 74 * US);
	}
}

/* --- alignments --- */

enum { WAYS = 64, SIZES = 40 };

static uint32_t size_of(uint32_t k)
{
	static const uint32_t sizes[SIZES] = { 0, 1, 2, 3, 5, 7, 8, 9, 15, 16,
		17, 63, 64, 65, 120, 127, 128, 129, 135, 136, 255, 256, 257,
		383, 384, 385, 391, 392, 505, 511, 512, 513, 520, 639, 1000,
		1023, 1024, 1025, 1537, 2000 };

	return sizes[k];
}

static uint64_t slot(uint32_t way, uint32_t k)
{
	return 4096 * ((uint64_t)way * SIZES + k);
}

static void aligned_program(void *arg)
{
	struct et_queue q = et_open(0);

	for (uint32_t way = 0; way < WAYS; way++) {
		et_fill(ET_SOURCE + 4096 * way + way % 8, way, 2000);
		for (uint32_t k = 0; k < SIZES; k++) {
			struct elan_dma d = {
				.bytes = size_of(k),
				.destination = 1,
				.from = ET_SOURCE + 4096 * way + way % 8,
				.to = ET_TARGET + slot(way, k) + 64 + way / 8 +
				      /* also about blocks' ends */
				      (k % 3) * 60,
			};

			et_wait_room(&q, 64);
			et_dma(&q, &d);
		}
	}
}

static void aligned_check(void *arg)
{
	program_wait(20000 * US);
	for (uint32_t way = 0; way < WAYS; way++) {
		for (uint32_t k = 0; k < SIZES; k++) {
			uint64_t at = ET_TARGET + slot(way, k);
			uint32_t lead = 64 + way / 8 + (k % 3) * 60;

			et_expect_all(at, 0, lead);
			et_expect(at + lead, way, size_of(k));
			et_expect_all(at + lead + size_of(k), 0, 64);
		}
	}
}

static void qsn_f44_any_alignment_becomes_any_other(void **state)
{
	struct et *m = *state;

	et_run_two(m, aligned_program, aligned_check, NULL);
	assert_int_equal(et_counts(m, 0).dmas, WAYS * SIZES);
}

/* --- routes --- */

enum { ROUTED = 64 };

static void routed_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = { .bytes = 700, .from = ET_SOURCE };

	et_fill(ET_SOURCE, 6, 700 + ROUTED);
	for (; d.destination < ROUTED; d.destination++, d.from++) {
		d.to = ET_TARGET + 1024 * d.destination;
		et_dma(&q, &d);
	}
}

/* The descriptor says who it is for, and nothing of the way there. */
static void qsn_f44_the_route_is_found_by_the_process_number(void **state)
{
	struct et *m = *state;
	uint8_t bytes[700];

	m->nodes = "64";
	ET_RUN(m, 1, { 21, routed_program, NULL });
	for (uint32_t s = 0; s < ROUTED; s++) {
		for (uint32_t k = 0; k < ROUTED; k++) {
			host_read(m->host, s, ET_TARGET + 1024 * k, bytes, 700);
			for (uint32_t i = 0; i < 700; i++)
				assert_int_equal(bytes[i],
					k == s ? et_byte(6, k + i) : 0);
		}
	}
}

/* --- completion --- */

struct ends {
	uint64_t bytes;
	sim_time source, target;
};

static void ends_source(void *arg)
{
	struct ends *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = dma(x->bytes);

	d.target_event = 9;
	et_fill(ET_SOURCE, 8, x->bytes);
	et_arm(&q, 1, 1);
	program_wait(50 * US);
	et_dma(&q, &d);
	et_wait_event(1);
	x->source = program_now();
}

static void ends_target(void *arg)
{
	struct ends *x = arg;
	struct et_queue q = et_open(0);

	et_arm(&q, 9, x->bytes ? x->bytes : 1);
	et_wait_event(9);
	x->target = program_now();
	et_expect(ET_TARGET, 8, x->bytes);
	et_expect_all(ET_TARGET + x->bytes, 0, 8);
}

static void qsn_f46_an_event_is_set_at_both_ends(void **state)
{
	static const uint64_t sizes[] = { 0, 1, 512, 513, 10000 };
	struct et m;

	for (uint32_t i = 0; i < 5; i++) {
		struct ends x = { .bytes = sizes[i] };

		et_init(&m, "4");
		et_run_two(&m, ends_source, ends_target, &x);
		assert_true(x.source > 50 * US && x.target > 50 * US);
		assert_int_equal(et_counts(&m, 0).fired, 1);
		assert_int_equal(et_counts(&m, 1).fired, 1);
		et_fini(&m);
	}
}

/* Step by step: a descriptor of one burst, one dispatch, reads, packets,
 * merged writes, events, and no processor in between. */
static void a_remote_dma_takes_its_steps(void **state)
{
	struct et *m = *state;
	struct ends x = { .bytes = 1024 };
	struct elan_counts a, b;

	et_run_two(m, ends_source, ends_target, &x);
	a = et_counts(m, 0);
	b = et_counts(m, 1);
	assert_int_equal(a.commands, 2);
	assert_int_equal(a.dmas, 1);
	assert_int_equal(a.reads, 2);
	assert_int_equal(a.packets, 2);
	assert_int_equal(a.acks, 2);
	assert_int_equal(b.writes, 2);
	assert_int_equal(b.merged, 6);
	/* ARM and descriptor, two reads; the words of the events */
	assert_int_equal(et_bus(m, 0)->bytes[BUS_OUT], 32 + 64 + 1024);
	assert_int_equal(et_bus(m, 0)->bytes[BUS_IN], 8);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_IN], 1024 + 8);
}

/* A word that the card itself writes, and then reads. */
static void own_word_program(void *arg)
{
	struct et_queue q = et_open(0);
	const uint64_t words[] = { ELAN_STORE, ET_SOURCE + 8, 77, ELAN_RUN_DMA,
		24, 0, 1, ET_SOURCE, ET_TARGET, 0, 0, ELAN_STORE, ET_FLAG + 256,
		78, elan_word(ELAN_COPY, 8, 0), ET_FLAG + 256, ET_FLAG + 264 };

	et_fill(ET_SOURCE, 8, 24);
	program_wait(10 * US);
	et_push(&q, words, sizeof(words) / 8);
	et_wait_word(ET_FLAG + 264, 78);
}

static void own_word_check(void *arg)
{
	uint64_t first = 0, last = 0;

	program_wait(100 * US);
	for (uint32_t i = 8; i--;) {
		first = first << 8 | et_byte(8, i);
		last = last << 8 | et_byte(8, 16 + i);
	}
	assert_int_equal(et_word(ET_TARGET), first);
	assert_int_equal(et_word(ET_TARGET + 8), 77);
	assert_int_equal(et_word(ET_TARGET + 16), last);
}

/* However long it takes until a core could see it. */
static void a_dma_reads_what_was_stored_before_it(void **state)
{
	struct et m;

	for (int64_t i = 0; i < ELAN_PLATFORMS; i++) {
		et_init(&m, "4");
		m.params.platform = i;
		et_run_two(&m, own_word_program, own_word_check, NULL);
		et_fini(&m);
	}
}

struct sighting {
	sim_time first;
};

static void seen_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = dma(512);

	d.source_event = 0;
	et_fill(ET_SOURCE, 8, 512);
	program_wait(10 * US);
	et_dma(&q, &d);
}

static void seen_check(void *arg)
{
	struct sighting *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->first = program_now() - 10 * US;
	program_wait(100 * US);
	et_expect(ET_TARGET, 8, 512);
}

/* On a bus that takes 6.4 us for the packet. */
static void qsn_f81_a_dma_packet_is_whole_before_it_leaves(void **state)
{
	struct sighting x;
	struct et m;

	for (uint32_t cut = 0; cut < 2; cut++) {
		et_init(&m, "4");
		make_bus_fast(&m);
		m.params.bus.clock = 100 * SIM_NS;
		m.params.merge = 128;
		m.params.cut_through = cut;
		et_run_two(&m, seen_program, seen_check, &x);
		/* descriptor, latency, the read, a block's write */
		if (cut)
			assert_in_range(x.first, 0, 4500 * SIM_NS);
		else
			assert_in_range(x.first,
				(800 + 750 + 6400 + 1600) * SIM_NS,
				(800 + 750 + 6400 + 1600 + 800) * SIM_NS);
		et_fini(&m);
	}
}

TESTS(TEST(qsn_f40_two_assemblers_share_one_prefetcher),
	TEST(qsn_f41_two_dmas_overlap),
	ET_TEST(qsn_f42_an_idle_engine_takes_a_descriptor_at_once),
	ET_TEST(qsn_f42_more_dmas_wait_in_the_run_queue),
	TEST(qsn_f16_twelve_reads_are_outstanding),
	TEST(qsn_f16_reads_have_2_kb_of_buffers),
	ET_TEST(qsn_f44_any_alignment_becomes_any_other),
	ET_TEST(qsn_f44_the_route_is_found_by_the_process_number),
	TEST(qsn_f46_an_event_is_set_at_both_ends),
	ET_TEST(a_remote_dma_takes_its_steps),
	TEST(a_dma_reads_what_was_stored_before_it),
	TEST(qsn_f81_a_dma_packet_is_whole_before_it_leaves))
