/* Messages and nonsense, at random, from many FIFOs of many nodes. */
#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

#define SHAPE "3x2x2"

enum {
	NODES = 12,
	FIFOS = 6, /* of a node; the last is the system's */
	MOST = 7, /* descriptors in a FIFO */
	PLACE = 4096, /* for each message, where it goes */
	LENGTH = 3000,
};

static uint64_t draw(uint64_t seed, uint64_t n, uint64_t below)
{
	return random_draw(seed, 0, RANDOM_TEST, n).a % below;
}

/* What a FIFO sends: valid ones, and where is_spoilt one that is not and two
 * that are behind it. */
struct plan {
	uint32_t n; /* valid ones that are sent */
	bool is_spoilt;
	uint32_t how;
};

static struct plan plan_of(uint64_t seed, site_id node, uint32_t f)
{
	uint64_t k = (node * FIFOS + f) * 1000;

	return (struct plan){
		.n = (uint32_t)draw(seed, k, MOST - 3),
		.is_spoilt = draw(seed, k + 1, 2),
		.how = (uint32_t)draw(
			seed, k + 2, f < FIFOS - 1 ? SW_BADS : SW_SYSTEM_BADS),
	};
}

struct message {
	site_id dst;
	uint64_t length, from, to; /* offsets */
	uint64_t map;
	enum mu_channel channel;
};

static struct message message_of(
	uint64_t seed, site_id node, uint32_t f, uint32_t i)
{
	uint64_t k = (node * FIFOS + f) * 1000 + 100 + i * 10;
	site_id dst = (site_id)draw(seed, k, NODES);
	bool is_system = f == FIFOS - 1;

	return (struct message){
		.dst = dst,
		.length = 2 * draw(seed, k + 1, LENGTH / 2) + 1,
		.from = draw(seed, k + 2, 5000),
		.to = ((node * FIFOS + f) * MOST + i) * PLACE +
		      draw(seed, k + 3, 128),
		.map = is_system ? (uint64_t)MU_MAP_SYSTEM
		       : dst == node
			       ? MU_MAP_LOCAL
			       : MU_MAP_HIGH | draw(seed, k + 4, 1024) << 6,
		.channel = is_system ? MU_SYSTEM
				     : (enum mu_channel)draw(seed, k + 5, 3),
	};
}

static struct mu_descriptor descriptor_of(const struct message *m, bool system)
{
	struct mu_descriptor d = sw_put(m->dst, m->length);

	if (system)
		sw_make_system(&d);
	sw_set_channel(&d, m->channel);
	mu_set_fifo_map(&d, m->map);
	mu_set_payload(&d, SW_SOURCE + m->from, m->length);
	mu_set_put(&d.header, mu_put_base(&d.header), m->to);
	return d;
}

/* Calls what a node is sent by plans; returns the bytes. */
static uint64_t for_each(uint64_t seed, site_id dst,
	void (*call)(site_id src, const struct message *m))
{
	uint64_t sum = 0;
	uint32_t f, i;
	site_id s;

	for (s = 0; s < NODES; s++)
		for (f = 0; f < FIFOS; f++)
			for (i = 0; i < plan_of(seed, s, f).n; i++) {
				struct message m = message_of(seed, s, f, i);

				if (m.dst != dst)
					continue;
				sum += m.length;
				if (call)
					call(s, &m);
			}
	return sum;
}

static void expect(site_id src, const struct message *m)
{
	uint8_t bytes[LENGTH];
	uint64_t i;

	assert_true(program_read(SW_TARGET + m->to, bytes, m->length));
	for (i = 0; i < m->length; i++)
		assert_int_equal(bytes[i], sw_byte(src, m->from + i));
	sw_expect_all(SW_TARGET + m->to + m->length, 0, 1);
}

static struct sw_fifo open_fifo(uint32_t f)
{
	uint32_t id = f < FIFOS - 1 ? 8 * f + 3 : 514;

	return sw_open(id, f % 2 ? MU_INJ_HIGH : 0);
}

static void send_plan(uint64_t seed, struct sw_fifo *fifo, uint32_t f)
{
	struct plan p = plan_of(seed, program_node(), f);
	bool is_system = f == FIFOS - 1;
	struct mu_descriptor d;
	struct message m;
	uint32_t i;

	for (i = 0; i < p.n; i++) {
		m = message_of(seed, program_node(), f, i);
		d = descriptor_of(&m, is_system);
		sw_write(fifo, &d);
	}
	if (p.is_spoilt) {
		d = sw_put((program_node() + 1) % NODES, 101);
		sw_spoil(&d, &sw_bads[p.how]);
		sw_write(fifo, &d);
		m = message_of(seed, program_node(), f, 0);
		d = descriptor_of(&m, is_system);
		sw_write(fifo, &d);
		sw_write(fifo, &d);
	}
	sw_advance(fifo);
}

static void check_plans(uint64_t seed, const struct sw_fifo *fifo)
{
	uint64_t want[MU_ERRORS] = { 0 };
	uint32_t f, i;

	for (f = 0; f < FIFOS; f++) {
		struct plan p = plan_of(seed, program_node(), f);

		if (p.is_spoilt)
			want[sw_bads[p.how].why]++;
		assert_int_equal(sw_load(MU_INJ_COUNT, fifo[f].id), p.n);
		assert_int_equal(
			sw_load(MU_INJ_STOPPED, fifo[f].id), p.is_spoilt);
	}
	for (i = 0; i < MU_ERRORS; i++)
		assert_int_equal(sw_load(MU_ERROR_COUNT, i), want[i]);
}

/* Sends by its plans and waits for what others' plans say. */
static void follow_plans(uint64_t seed, struct sw_fifo *fifo)
{
	uint32_t f;

	sw_open_bases(for_each(seed, program_node(), NULL));
	sw_fill(SW_SOURCE, program_node(), 8192);
	for (f = 0; f < FIFOS; f++)
		fifo[f] = open_fifo(f);
	program_wait(5000 * SIM_NS);
	for (f = 0; f < FIFOS; f++)
		send_plan(seed, &fifo[f], f);
	sw_wait_counter(SW_COUNTER);
	for_each(seed, program_node(), expect);
}

static void take_part(void *arg)
{
	struct sw_fifo fifo[FIFOS];

	follow_plans(*(uint64_t *)arg, fifo);
	program_wait(200000 * SIM_NS);
	check_plans(*(uint64_t *)arg, fifo);
}

static uint64_t run(
	void (*program)(void *arg), uint64_t seed, uint32_t n_workers)
{
	struct sw_program p[NODES];
	site_id s;

	for (s = 0; s < NODES; s++)
		p[s] = (struct sw_program){ s, program, &seed };
	return sw_run_on(SHAPE, n_workers, p, NODES);
}

static void valid_ones_arrive_and_others_stop_their_fifo_alone(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 40; seed++) {
		uint64_t digest = run(take_part, seed, 1);

		if (seed % 8 == 0)
			assert_int_equal(run(take_part, seed, 3), digest);
	}
}

/* --- nonsense --- */

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
	uint32_t i;

	sw_store(MU_BASE, 4, SW_TARGET + 0x1000000);
	sw_store(MU_BASE, 5, 0x3000 | MU_ATOMIC | MU_ATOMIC_STORE_ADD);
	sw_open_rec(0, 0x4000);
	program_wait(4000 * SIM_NS);
	f = sw_open(100, 0);
	program_charge(1000 * SIM_NS);
	for (i = 0; i < 60; i++, k += 1000) {
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
	for (i = 0; i < 100; i++) {
		sw_store(MU_REC_HEAD, 0, sw_load(MU_REC_TAIL, 0));
		program_charge(1000 * SIM_NS);
	}
}

static void speak_sense(void *arg)
{
	struct sw_fifo fifo[FIFOS];

	follow_plans(*(uint64_t *)arg, fifo);
}

static uint64_t run_nonsense(uint64_t seed, uint32_t n_workers)
{
	struct sw_program p[2 * NODES];
	site_id s;

	for (s = 0; s < NODES; s++) {
		p[2 * s] = (struct sw_program){ s, speak_sense, &seed };
		p[2 * s + 1] = (struct sw_program){ s, talk_nonsense, &seed };
	}
	return sw_run_on(SHAPE, n_workers, p, 2 * NODES);
}

static void nonsense_does_no_harm_to_others(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 20; seed++) {
		uint64_t digest = run_nonsense(seed, 1);

		if (seed % 5 == 0)
			assert_int_equal(run_nonsense(seed, 3), digest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			valid_ones_arrive_and_others_stop_their_fifo_alone),
		cmocka_unit_test(nonsense_does_no_harm_to_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
