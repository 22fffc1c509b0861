/* The library's choice between puts and DMAs, by the CPU's time or latency. */
#include <stdlib.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static struct elan_cq open_queue(void)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_64K, ELAN_MAY_ALL), 0);
	return q;
}

/* --- the CPU's time --- */

enum { CHOICES = 9 };

static const uint32_t choices[CHOICES] = { 8, 64, 128, 256, 512, 1024, 1200,
	2048, 8192 };

struct chosen {
	enum elan_goal goal;
	sim_time put[CHOICES], dma[CHOICES], both[CHOICES]; /* the CPU's */
};

static sim_time one(struct elan_cq *q, struct chosen *x, uint32_t k, int how)
{
	uint64_t to = ET_TARGET + 0x10000 * k;
	sim_time t;

	elan_arm(q, 1, how == 1 ? 1 : elan_put_packets(choices[k]), ET_FLAG,
		8 * k + (uint64_t)how + 1);
	if (how == 2)
		elan_arm(q, 1, elan_write_acks(choices[k], x->goal), ET_FLAG,
			8 * k + 3);
	program_charge(10 * US);
	t = program_now();
	if (how == 0)
		elan_put_from(q, 1, to, ET_SOURCE, choices[k], 0, 1);
	else if (how == 1)
		elan_dma(q, &(struct elan_dma){ .bytes = choices[k],
				    .destination = 1,
				    .from = ET_SOURCE,
				    .to = to,
				    .source_event = 1 });
	else
		elan_write(q, 1, to, ET_SOURCE, choices[k], 0, 1, x->goal);
	t = program_now() - t;
	assert_true(elan_wait_word(ET_FLAG, 8 * k + (uint64_t)how + 1));
	return t;
}

static void choose_program(void *arg)
{
	struct elan_cq q = open_queue();
	struct chosen *x = arg;

	et_fill(ET_SOURCE, 3, 8192);
	program_wait(10 * US);
	for (uint32_t k = 0; k < CHOICES; k++) {
		x->put[k] = one(&q, x, k, 0);
		x->dma[k] = one(&q, x, k, 1);
		x->both[k] = one(&q, x, k, 2);
		assert_true(llabs(elan_dma_time() - x->dma[k]) < 20 * SIM_NS);
		/* what it is reckoned with leaves events out */
		assert_in_range(x->put[k] - elan_put_time(choices[k]), 0,
			170 * SIM_NS * elan_put_packets(choices[k]));
	}
}

/* 64 bytes at 450 MB/s are 142 ns; the DMA's half a microsecond (QSN-N79,
 * QSN-N80). */
static void qsn_f83_puts_cost_the_cpu_by_length_and_dmas_do_not(void **state)
{
	struct et *m = *state;
	struct chosen x = { .goal = ELAN_FOR_CPU };

	et_run_two(m, choose_program, NULL, &x);
	for (uint32_t k = 0; k < CHOICES; k++) {
		sim_time least = choices[k] * 1000 / 450 * SIM_NS;

		assert_in_range(
			x.put[k], least, least * 11 / 10 + 300 * SIM_NS);
		assert_in_range(x.dma[k], 450 * SIM_NS, 550 * SIM_NS);
		/* the one that costs less, as measured */
		assert_int_equal(
			x.both[k], x.put[k] < x.dma[k] ? x.put[k] : x.dma[k]);
	}
	assert_true(x.put[0] < x.dma[0]);
	assert_true(x.put[CHOICES - 1] > 30 * x.dma[CHOICES - 1]);
}

/* --- latency --- */

enum { SIZES = 56, STEP = 104, PUT = 0, DMA };

#define SLOT_PS (100 * US)

/* One of many sizes, not all of them whole blocks. */
static uint32_t size_of(uint32_t k)
{
	return 8 + k * STEP;
}

static uint64_t area_of(uint32_t i)
{
	return ET_TARGET + 0x2000 * (uint64_t)i;
}

struct latencies {
	uint32_t node; /* the other one */
	sim_time took[SIZES][2];
	bool is_dma[SIZES]; /* the choice */
};

/* Each size by both means, at set times. */
static void send_program(void *arg)
{
	struct latencies *x = arg;
	struct elan_cq q = open_queue();

	et_fill(ET_SOURCE, 3, 8192);
	for (uint32_t i = 0; i < 2 * SIZES; i++) {
		struct elan_dma d = { .bytes = size_of(i / 2),
			.destination = x->node,
			.from = ET_SOURCE,
			.to = area_of(i) };

		program_wait((i + 1) * SLOT_PS);
		if (i % 2 == DMA)
			elan_dma(&q, &d);
		else
			elan_put_from(&q, x->node, d.to, d.from, d.bytes, 0, 0);
		x->is_dma[i / 2] = elan_write_is_dma(d.bytes, ELAN_FOR_LATENCY);
	}
}

static void come_program(void *arg)
{
	struct latencies *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	open_queue();
	for (uint32_t i = 0; i < 2 * SIZES; i++) {
		assert_true(program_poll(area_of(i) + size_of(i / 2) - 8,
			WORD_IS_NOT, 0, loop, &word));
		x->took[i / 2][i % 2] = program_now() - (i + 1) * SLOT_PS;
	}
}

/* No choice is slower than the other by more than some per cent; returns how
 * many are DMAs. */
static uint32_t check_choices(struct et *m, uint32_t node, int64_t percent)
{
	struct latencies x = { .node = node };
	uint32_t n_dmas = 0;

	ET_RUN(m, 1, { 0, send_program, &x }, { node, come_program, &x });
	for (uint32_t k = 0; k < SIZES; k++) {
		sim_time taken = x.took[k][x.is_dma[k]];
		sim_time other = x.took[k][!x.is_dma[k]];

		n_dmas += x.is_dma[k];
		if (100 * taken > (100 + percent) * other)
			fail_msg("%u B: %s takes %lld ns, the other %lld",
				size_of(k), x.is_dma[k] ? "a DMA" : "a put",
				(long long)taken / SIM_NS,
				(long long)other / SIM_NS);
	}
	et_fini(m);
	return n_dmas;
}

static void qsn_f83_the_library_takes_what_is_faster(void **state)
{
	struct et m;

	for (int64_t platform = 0; platform < ELAN_PLATFORMS; platform++) {
		et_init(&m, "4");
		m.params.platform = platform;
		assert_in_range(check_choices(&m, 1, 2), 1, SIZES - 1);
		et_init(&m, "64");
		m.params.platform = platform;
		assert_in_range(check_choices(&m, 63, 2), 1, SIZES - 1);
	}
}

/* Whatever it is that makes one of them slower. */
static void the_choice_follows_the_machine(void **state)
{
	static const struct {
		size_t field;
		int64_t value;
	} cases[] = {
		{ offsetof(struct elan_params, read_latency), 100 * SIM_NS },
		{ offsetof(struct elan_params, read_latency), 2 * US },
		{ offsetof(struct elan_params, dma_software), 2 * US },
		{ offsetof(struct elan_params, dispatch), US },
		{ offsetof(struct elan_params, cut_through), true },
		{ offsetof(struct elan_params, bus.clock), 4 * SIM_NS },
		{ offsetof(struct elan_params, bus.clock), 15 * SIM_NS },
		{ offsetof(struct elan_params, read_block), 128 },
		{ offsetof(struct elan_params, reads), 2 },
		{ offsetof(struct elan_params, read_buffer), 1024 },
		{ offsetof(struct elan_params, host[0].pio_burst), 32 },
		{ offsetof(struct elan_params, host[0].pio_overhead), 0 },
		{ offsetof(struct elan_params, host[0].pio_overhead),
			200 * SIM_NS },
		{ offsetof(struct elan_params, host[0].dma_overhead), 0 },
		{ offsetof(struct elan_params, host[0].dma_overhead),
			300 * SIM_NS },
	};
	struct et m;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		et_init(&m, "4");
		*(int64_t *)((char *)&m.params + cases[i].field) =
			cases[i].value;
		check_choices(&m, 1, 5);
	}
}

TESTS(ET_TEST(qsn_f83_puts_cost_the_cpu_by_length_and_dmas_do_not),
	TEST(qsn_f83_the_library_takes_what_is_faster),
	TEST(the_choice_follows_the_machine))
