/* Nonsense at random, beside messages that make sense, of many nodes. */
#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

#define SHAPE "3x2x2"

enum { NODES = 12, EACH = 20, LENGTH = 3000, PLACE = 4096 };

static uint64_t draw(uint64_t seed, uint64_t n, uint64_t below)
{
	return random_draw(seed, 0, RANDOM_TEST, n).a % below;
}

static bool maybe(uint64_t seed, uint64_t *k, uint64_t one_in)
{
	return draw(seed, (*k)++, one_in) == 0;
}

/* Random bytes, most fields of which have been mended. */
static struct mu_descriptor nonsense(uint64_t seed, uint64_t k)
{
	struct mu_descriptor d, good = sw_put((site_id)draw(seed, k, NODES),
					draw(seed, k + 1, 1500));
	uint8_t *to = (uint8_t *)&d;
	const uint8_t *from = (const uint8_t *)&good;
	uint32_t i;

	for (k += 2, i = 0; i < sizeof(d); i++)
		to[i] = (uint8_t)draw(seed, k++, 256);
	for (i = 0; i < 8; i++)
		if (!maybe(seed, &k, 12)) /* eight bytes at a time */
			__builtin_memcpy(to + 8 * i, from + 8 * i, 8);
	/* Where it could do harm to the others it does not. */
	if (mu_put_base(&d.header) == SW_BASE_TARGET)
		mu_set_put(&d.header, 4, 0);
	if (mu_counter_base(&d.header) == SW_BASE_COUNTER)
		mu_set_counter(&d.header, 5, 0);
	return d;
}

/* One byte of a message that is otherwise well, but for its length, which
 * could get very long. */
static struct mu_descriptor mutant(uint64_t seed, uint64_t k)
{
	struct mu_descriptor d =
		sw_put((site_id)draw(seed, k, NODES), draw(seed, k + 1, 1500));
	uint32_t at = (uint32_t)draw(seed, k + 2, sizeof(d));

	mu_set_put(&d.header, 4, 0);
	mu_set_counter(&d.header, 5, 0);
	if (at < 16 || at > 21)
		((uint8_t *)&d)[at] = (uint8_t)draw(seed, k + 3, 256);
	return d;
}

/* FIFOs of nonsense, set up again when they stop. */
static void talk_nonsense(void *arg)
{
	uint64_t seed = *(uint64_t *)arg;
	uint64_t k = program_node() * 1000000;
	struct sw_fifo f;

	sw_store(MU_BASE, 4, SW_TARGET + 0x1000000);
	sw_store(MU_BASE, 5, 0x3000 | MU_ATOMIC | MU_ATOMIC_STORE_ADD);
	sw_open_rec(0, 0x4000);
	program_wait(4000 * SIM_NS);
	f = sw_open(100, 0);
	program_charge(1000 * SIM_NS);
	for (uint32_t i = 0; i < 60; i++, k += 1000) {
		struct mu_descriptor d =
			i % 2 ? nonsense(seed, k) : mutant(seed, k);

		sw_inject(&f, &d);
		program_charge(2000 * SIM_NS);
		if (!sw_load(MU_INJ_STOPPED, 100))
			continue;
		sw_store_system(MU_INJ_ENABLE, 100, 0);
		f = sw_open(100, 0);
		program_charge(1000 * SIM_NS);
	}
	/* Neither was all of it sense nor none. */
	assert_in_range(sw_load(MU_INJ_COUNT, 100), 5, 57);
	/* What came for the reception FIFO must not stay in the network. */
	for (uint32_t i = 0; i < 100; i++) {
		sw_store(MU_REC_HEAD, 0, sw_load(MU_REC_TAIL, 0));
		program_charge(1000 * SIM_NS);
	}
}

/* Sense: each node sends to the next one, of the user's FIFOs and the
 * system's. */
static void speak_sense(void *arg)
{
	site_id me = program_node(), from = (me + NODES - 1) % NODES;
	struct sw_fifo user = sw_open(3, 0), system = sw_open(514, 0);

	sw_open_bases((uint64_t)2 * EACH * LENGTH);
	sw_fill(SW_SOURCE, me, LENGTH);
	program_wait(5000 * SIM_NS);
	for (uint32_t i = 0; i < 2 * EACH; i++) {
		struct sw_fifo *f = i % 2 ? &system : &user;
		struct mu_descriptor d = sw_put((me + 1) % NODES, LENGTH);

		if (i % 2)
			sw_make_system(&d);
		mu_set_put(&d.header, mu_put_base(&d.header), i * PLACE);
		while (!sw_load(MU_INJ_FREE, f->id))
			program_charge(100 * SIM_NS);
		sw_inject(f, &d);
		program_charge(60 * SIM_NS);
	}
	sw_wait_counter(SW_COUNTER);
	for (uint32_t i = 0; i < 2 * EACH; i++)
		sw_expect(SW_TARGET + i * PLACE, from, LENGTH);
}

static uint64_t run_nonsense(uint64_t seed, uint32_t n_workers)
{
	struct sw_program p[2 * NODES];

	for (site_id s = 0; s < NODES; s++) {
		p[2 * s] = (struct sw_program){ s, speak_sense, &seed };
		p[2 * s + 1] = (struct sw_program){ s, talk_nonsense, &seed };
	}
	return sw_run_on(SHAPE, n_workers, p, 2 * NODES);
}

static void nonsense_does_no_harm_to_others(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t digest = run_nonsense(seed, 1);

		if (seed % 5 == 0)
			assert_int_equal(run_nonsense(seed, 3), digest);
	}
}

TESTS(TEST(nonsense_does_no_harm_to_others))
