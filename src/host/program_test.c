#include <string.h>

#include "host/host_testing.h"
#include "host/side.h"
#include "testing/testing.h"

enum { NODES = 6 };

/* --- time --- */

struct clocked {
	sim_time seen[4];
	site_id node;
	uint32_t thread;
};

static void clock_program(void *arg)
{
	struct clocked *c = arg;

	c->node = program_node();
	c->thread = program_thread();
	c->seen[0] = program_now();
	program_charge(98 * SIM_NS);
	c->seen[1] = program_now();
	program_wait(90 * SIM_NS); /* has passed */
	program_charge(0);
	c->seen[2] = program_now();
	program_wait(20000 * SIM_NS);
	c->seen[3] = program_now();
}

static void time_passes_as_charged(void **state)
{
	struct clocked c[NODES] = { 0 };
	struct host_testing m = { 0 };

	m.n_workers = 2;
	host_testing_start(&m);
	for (site_id i = 0; i < NODES; i++)
		program_start(m.host, i, i * 12, i * 7 * SIM_NS, clock_program,
			&c[i]);
	assert_int_equal(host_n_running(m.host), NODES);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	for (site_id i = 0; i < NODES; i++) {
		sim_time t = (sim_time)i * 7 * SIM_NS;

		assert_int_equal(c[i].node, i);
		assert_int_equal(c[i].thread, i * 12);
		assert_int_equal(c[i].seen[0], t);
		assert_int_equal(c[i].seen[1], t + 98 * SIM_NS);
		assert_int_equal(c[i].seen[2], t + 98 * SIM_NS);
		assert_int_equal(c[i].seen[3], 20000 * SIM_NS);
	}
	host_testing_fini(&m);
}

/* --- memory --- */

/* Appends its thread's number to a list in memory, three times. */
static void append_program(void *arg)
{
	uint8_t thread = (uint8_t)program_thread();
	uint64_t n;

	for (int i = 0; i < 3; i++) {
		assert_true(program_read(0, &n, sizeof(n)));
		assert_true(program_write(64 + n, &thread, 1));
		n++;
		assert_true(program_write(0, &n, sizeof(n)));
		program_charge(SIM_NS);
	}
}

static void programs_run_in_order_of_threads(void **state)
{
	static const uint8_t want[] = { 3, 7, 63, 3, 7, 63, 3, 7, 63 };
	struct host_testing m = { 0 };
	uint8_t got[sizeof(want)];

	host_testing_start(&m);
	program_start(m.host, 2, 63, 0, append_program, NULL);
	program_start(m.host, 2, 3, 0, append_program, NULL);
	program_start(m.host, 2, 7, 0, append_program, NULL);
	program_start(m.host, 4, 1, 0, append_program, NULL);
	host_testing_run(&m);
	assert_true(host_read(m.host, 2, 64, got, sizeof(got)));
	assert_memory_equal(got, want, sizeof(want));
	assert_true(host_read(m.host, 4, 64, got, 4));
	assert_memory_equal(got, "\1\1\1\0", 4);
	host_testing_fini(&m);
}

static void outside_program(void *arg)
{
	bool *is_refused = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word = 5;

	*is_refused =
		!program_read(HOST_TESTING_MEMORY, &word, 1) &&
		!program_write(HOST_TESTING_MEMORY - 7, &word, 8) &&
		!program_poll(HOST_TESTING_MEMORY, WORD_IS, 0, loop, &word) &&
		!program_poll(4, WORD_IS, 0, loop, &word) && word == 5;
}

static void addresses_outside_are_refused(void **state)
{
	bool is_refused = false;
	struct host_testing m = { 0 };

	host_testing_start(&m);
	program_start(m.host, 0, 0, 0, outside_program, &is_refused);
	host_testing_run(&m);
	assert_true(is_refused);
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
}

/* --- synthetic memory --- */

enum { REGION = 8192, REGION_BYTES = 4096 };

static uint64_t name(void *arg, uint64_t offset, struct memory_name *name)
{
	*name = (struct memory_name){ 1, *(uint64_t *)arg, offset };
	return UINT64_MAX;
}

static void copy_program(void *arg)
{
	uint8_t bytes[REGION_BYTES];
	uint64_t word;
	int *region = arg;

	assert_true(program_read(REGION, bytes, sizeof(bytes)));
	assert_true(program_write(REGION + 100, bytes + 100, 3996));
	assert_true(program_write(REGION, bytes, 100));
	assert_true(program_read(REGION - 4, &word, 8));
	assert_int_equal(word << 32, 0); /* real, and never written */
	*region = memory_add_synthetic(host_at(program_host(), program_node()),
		0, REGION + 1, name, NULL);
}

static void nodes_can_have_synthetic_memory(void **state)
{
	struct host_testing m = { 0 };
	uint64_t owner = 4, held;
	int region = 0;

	host_testing_start(&m);
	held = host_held(m.host);
	assert_int_equal(memory_add_synthetic(host_at(m.host, 3), REGION,
				 REGION_BYTES, name, &owner),
		0);
	program_start(m.host, 3, 0, 0, copy_program, &region);
	host_testing_run(&m);
	assert_int_equal(region, -1); /* over another one */
	assert_true(memory_region_is_whole(
		memory_region(host_at(m.host, 3), 0), 1));
	assert_null(memory_region(host_at(m.host, 2), 0));
	assert_true(host_held(m.host) - held < 512);
	host_testing_fini(&m);
}

/* --- what it holds --- */

static void what_is_held_counts_memory_and_caches(void **state)
{
	struct host_testing m = { 0 };
	uint64_t held, word = 1;
	struct side *s;
	sim_time done;

	host_testing_start(&m);
	held = host_held(m.host);
	assert_true(host_write(m.host, NULL, 0, 0, 0, &word, 8));
	assert_true(host_held(m.host) - held >= MEMORY_PAGE);
	assert_true(host_held(m.host) - held < 2 * MEMORY_PAGE);
	held = host_held(m.host);
	s = host_cache(m.host); /* there is none until somebody asks */
	assert_true(side_memory(s) > 6 * sizeof(void *));
	assert_int_equal(host_held(m.host) - held, side_memory(s));
	assert_ptr_equal(host_cache(m.host), s);
	held = host_held(m.host);
	done = s->ops->request(s, 5, 0, 0, 128);
	assert_int_equal(done, host_params(m.host)->l2.read);
	assert_true(host_held(m.host) - held > 128);
	assert_true(host_held(m.host) - held < 1024);
	assert_int_equal(host_memory(m.host), HOST_TESTING_MEMORY);
	host_testing_fini(&m);
}

static void parameters_are_checked_and_have_defaults(void **state)
{
	struct err e = { 0 };
	struct host_params params;
	struct host_setup s = { .n_nodes = 1 };
	struct host *h;

	h = host_new(&s, &e);
	assert_non_null(h);
	assert_int_equal(host_memory(h), UINT64_C(16) << 30);
	host_free(h);
	host_params_defaults(&params);
	params.l2.ways = 5;
	s.params = &params;
	assert_null(host_new(&s, &e));
	assert_int_equal(e.code, EXIT_BAD_INPUT);
}

static void a_host_has_the_side_that_it_is_given(void **state)
{
	struct err e = { 0 };
	struct host_params params;
	struct host_setup s = { .n_nodes = 2 };
	struct host *h;
	uint64_t held;

	h = host_new(&s, &e);
	assert_null(host_side(h));
	held = host_held(h);
	host_free(h);
	host_params_defaults(&params);
	s.side = &side_l2_ops;
	s.side_params = &params.l2;
	h = host_new(&s, &e);
	assert_ptr_equal(host_side(h)->ops, &side_l2_ops);
	assert_true(host_held(h) > held);
	host_free(h);
	params.l2.ways = 5;
	assert_null(host_new(&s, &e));
}

/* --- death --- */

struct mortal {
	uint64_t count; /* of what it did */
	sim_time last;
};

static void mortal_program(void *arg)
{
	struct mortal *m = arg;
	struct poll_loop loop = { .period = SIM_NS };
	uint64_t word;

	for (int i = 0; i < 10; i++) {
		program_charge(100 * SIM_NS);
		m->count++;
		m->last = program_now();
	}
	program_poll(HOST_TESTING_WORD, WORD_IS, program_thread(), loop, &word);
	m->last = program_now();
}

/* Nodes 1 and 2 die: in mid-work, and while the program polls for ever. */
static void programs_die_with_their_nodes(void **state)
{
	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct mortal x[NODES] = { 0 };
		struct host_testing m = { .n_workers = workers };
		char text[128];
		site_id i;

		host_testing_start(&m);
		host_set_death(m.host, 1, 500 * SIM_NS);
		host_set_death(m.host, 2, 5000 * SIM_NS);
		host_set_death(m.host, 3, 9000 * SIM_NS);
		for (i = 0; i < NODES; i++)
			program_start(m.host, i, 7, 0, mortal_program, &x[i]);
		/* what would end it comes too late, or in time */
		host_testing_write(&m, 1, 2000 * SIM_NS, 7);
		host_testing_write(&m, 2, 5000 * SIM_NS, 7);
		host_testing_write(&m, 3, 2000 * SIM_NS, 7);
		host_testing_write(&m, 4, 2000 * SIM_NS, 7);
		host_testing_run(&m);
		host_bury(m.host);
		/* its fifth step would be at the instant of its death */
		assert_int_equal(x[1].count, 4);
		assert_int_equal(x[1].last, 400 * SIM_NS);
		assert_int_equal(x[2].last, 1000 * SIM_NS);
		assert_true(x[3].last >= 2000 * SIM_NS);
		assert_true(x[4].last >= 2000 * SIM_NS);
		assert_int_equal(host_n_dead(m.host), 2);
		/* nodes 0 and 5 wait for ever, and live */
		assert_int_equal(host_n_running(m.host), 2);
		host_describe_waiting(m.host, text, sizeof(text));
		assert_string_equal(text,
			"node 0, thread 7: polling the word at 0x1000, which "
			"is 0");
		host_testing_fini(&m);
	}
}

/* One that polls when its node dies is not there when the node is. */
static void who_polls_dies_too(void **state)
{
	struct mortal x = { 0 };
	struct host_testing m = { 0 };

	host_testing_start(&m);
	host_set_death(m.host, 0, 5000 * SIM_NS);
	program_start(m.host, 0, 7, 0, mortal_program, &x);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 1);
	host_bury(m.host);
	assert_int_equal(host_n_running(m.host), 0);
	assert_int_equal(host_n_dead(m.host), 1);
	host_bury(m.host);
	assert_int_equal(host_n_dead(m.host), 1);
	host_testing_fini(&m);
}

/* Program 7 ends a process, which may be its own. */
static void killer_program(void *arg)
{
	const uint32_t *process = arg;

	program_wait(450 * SIM_NS);
	host_kill(program_host(), program_node(), UINT64_C(1) << *process);
	assert_int_not_equal(*process, program_process());
}

/* One is in mid-work, another polls; process 2 goes on. */
static void a_process_that_is_killed_ends_at_once(void **state)
{
	for (uint32_t process = 0; process < 4; process++) {
		struct mortal x[2] = { 0 };
		struct host_testing m = { .n_processes = 4 };
		uint32_t each;
		bool hurts = process == 1;

		host_testing_start(&m);
		each = host_threads_each(m.host);
		program_start(m.host, 0, each, 0, mortal_program, &x[0]);
		program_start(m.host, 0, 2 * each, 0, mortal_program, &x[1]);
		program_start(m.host, 0, 3 * each, 0, killer_program, &process);
		host_testing_write(&m, 0, 2000 * SIM_NS, 2 * each);
		host_testing_run(&m);
		assert_int_equal(x[0].count, hurts ? 4 : 10);
		assert_int_equal(x[1].count, process == 2 ? 4 : 10);
		assert_int_equal(host_n_dead(m.host), process ? 1 : 0);
		assert_int_equal(host_n_running(m.host), hurts ? 0 : 1);
		host_testing_fini(&m);
	}
}

/* --- what libraries keep --- */

struct kept_words {
	uint32_t *ended;
	uint64_t n;
};

static void end_kept(void *kept)
{
	++*((struct kept_words *)kept)->ended;
}

static uint64_t held_kept(const void *kept)
{
	return kept ? 100 : 0;
}

static const struct program_library one = { sizeof(struct kept_words), end_kept,
	held_kept };
static const struct program_library other = { sizeof(uint64_t), NULL, NULL };

static void keep_program(void *arg)
{
	struct kept_words *k = program_keep(&one);
	uint64_t *o = program_keep(&other);

	assert_int_equal(k->n, *o);
	k->ended = arg;
	k->n = *o += program_node() + 1;
	assert_ptr_equal(program_keep(&one), k);
	assert_ptr_equal(program_keep(&other), o);
}

/* Threads of a process share it, nodes do not. */
static void libraries_keep_things_by_process(void **state)
{
	struct host_testing m = { .n_nodes = 2 };
	uint32_t ended = 0;
	uint64_t held;

	host_testing_start(&m);
	program_start(m.host, 0, 0, 0, keep_program, &ended);
	program_start(m.host, 0, 1, 1, keep_program, &ended);
	program_start(m.host, 1, 0, 0, keep_program, &ended);
	held = host_held(m.host);
	host_testing_run(&m);
	assert_true(host_held(m.host) >= held + 200);
	assert_int_equal(ended, 0);
	host_testing_fini(&m);
	assert_int_equal(ended, 2);
}

TESTS(TEST(time_passes_as_charged), TEST(programs_run_in_order_of_threads),
	TEST(addresses_outside_are_refused),
	TEST(nodes_can_have_synthetic_memory),
	TEST(what_is_held_counts_memory_and_caches),
	TEST(parameters_are_checked_and_have_defaults),
	TEST(a_host_has_the_side_that_it_is_given),
	TEST(programs_die_with_their_nodes), TEST(who_polls_dies_too),
	TEST(a_process_that_is_killed_ends_at_once),
	TEST(libraries_keep_things_by_process))
