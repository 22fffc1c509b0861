/* Programs that are ahead of their nodes: nothing tells but the number of
 * events. */
#include "host/host_testing.h"
#include "testing/testing.h"

enum { STEPS = 60, WRITES = 400, TAKES = 80, WORD = HOST_TESTING_WORD };

struct trial {
	struct host_testing *m;
	uint64_t draws;
	bool is_exact;
	sim_time at[STEPS];
	uint64_t saw[STEPS];
	uint64_t events;
};

static sim_time draw(struct trial *x, uint64_t ns)
{
	return (sim_time)host_testing_draw(&x->draws, ns * SIM_NS);
}

static bool has_word(void *arg, uint64_t *seen)
{
	const struct trial *x = arg;

	host_read(x->m->host, 0, WORD, seen, 8);
	return *seen == 1;
}

/* Waits for the word, by looks that have events or not, and clears it. */
static void poll_word(struct trial *x, uint64_t *seen)
{
	struct poll_loop loop = { .period = 20 * SIM_NS };
	uint64_t none = 0;

	loop.phase = draw(x, 20);
	loop.load = draw(x, 30);
	if (x->is_exact)
		program_poll_until(has_word, x, loop, seen);
	else
		program_poll_done(WORD, has_word, x, loop, seen);
	program_write(WORD, &none, 8);
}

static void step(struct trial *x, uint32_t i)
{
	uint64_t *saw = &x->saw[i];

	switch (host_testing_draw(&x->draws, 8)) {
	case 0:
		program_charge(draw(x, 80));
		break;
	case 1:
		program_read(WORD, saw, 8);
		break;
	case 2:
	case 3:
	case 4:
		poll_word(x, saw);
		break;
	default:
		program_pass(program_now() + draw(x, 120));
		return; /* it need not be there yet */
	}
	x->at[i] = program_now();
}

static void run(void *arg)
{
	struct trial *x = arg;

	if (x->is_exact)
		program_be_exact();
	for (uint32_t i = 0; i < STEPS; i++)
		step(x, i);
}

/* Words are written, and CPUs taken, one time after the other. */
static void try(struct trial *x, uint64_t seed, bool is_exact)
{
	struct host_testing m = { .n_nodes = 1 };
	sim_time t = 0;

	*x = (struct trial){
		.m = &m, .draws = seed << 20, .is_exact = is_exact
	};
	host_testing_start(&m);
	for (uint32_t i = 0; i < WRITES; i++)
		host_testing_write(&m, 0, t += 1 + draw(x, 200), 1);
	t = 0;
	for (uint32_t i = 0; i < TAKES; i++) {
		uint32_t ns = (uint32_t)host_testing_draw(&x->draws, 90);

		host_testing_take(&m, 0, t += 1 + draw(x, 400), ns);
		t += ns * SIM_NS;
	}
	program_start(m.host, 0, 0, 0, run, x);
	host_testing_run(&m);
	x->events = m.n_visited;
	host_testing_fini(&m);
}

static void a_program_that_is_ahead_does_the_same_at_the_same_times(
	void **state)
{
	static struct trial ahead, exact;
	uint64_t saved = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		try(&ahead, seed, false);
		try(&exact, seed, true);
		for (uint32_t i = 0; i < STEPS; i++) {
			assert_int_equal(ahead.at[i], exact.at[i]);
			assert_int_equal(ahead.saw[i], exact.saw[i]);
		}
		assert_true(ahead.events <= exact.events);
		saved += exact.events - ahead.events;
	}
	assert_true(saved > 500);
}

/* --- who may be --- */

enum { PASSES = 100 * SIM_NS, HAPPENS = 50 * SIM_NS };

/* What another node's program has done by then. */
static bool has_happened, was_early;

static void happen(void *arg)
{
	program_wait(HAPPENS);
	has_happened = true;
}

static void pass(void *arg)
{
	has_happened = false;
	program_pass(PASSES);
	was_early = !has_happened;
}

static void read_word(void *arg)
{
	uint64_t word;

	pass(arg);
	program_read(WORD, &word, 8);
	assert_true(has_happened);
}

static void stay_private(void *arg)
{
	uint64_t word;

	pass(arg);
	{
		PROGRAM_PRIVATE();
		program_read(WORD, &word, 8);
		assert_false(has_happened);
		program_join();
		assert_true(has_happened);
	}
	assert_int_equal(program_now(), PASSES);
}

static void map(void *arg)
{
	program_map(0, 8192);
	pass(arg);
}

static void on_write(void *arg, sim_time t, uint64_t at, size_t n)
{
	(void)t;
	(void)arg;
	(void)at;
	(void)n;
}

static void watch(void *arg)
{
	program_watch(WORD, 8, on_write, NULL);
	pass(arg);
}

/* Whether a program is ahead, perhaps beside another one. */
static bool is_ahead(void (*does)(void *arg), bool is_alone)
{
	struct host_testing m = { .n_nodes = 2 };

	host_testing_start(&m);
	program_start(m.host, 0, 0, 0, does, NULL);
	program_start(m.host, 1, 0, 0, happen, NULL);
	if (!is_alone)
		program_start(m.host, 0, 1, 0, happen, NULL);
	host_testing_run(&m);
	/* its end is not before its time */
	assert_true(sim_last_time(m.sim) >= PASSES);
	host_testing_fini(&m);
	return was_early;
}

static void only_one_that_nothing_else_depends_on_is_ahead(void **state)
{
	(void)state;
	assert_true(is_ahead(pass, true));
	assert_true(is_ahead(read_word, true));
	assert_true(is_ahead(stay_private, true));
	assert_false(is_ahead(pass, false));
	assert_false(is_ahead(map, true));
	assert_false(is_ahead(watch, true));
}

TESTS(TEST(a_program_that_is_ahead_does_the_same_at_the_same_times),
	TEST(only_one_that_nothing_else_depends_on_is_ahead))
