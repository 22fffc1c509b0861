#include <string.h>

#include "host/host_testing.h"
#include "testing/testing.h"

#define WORD HOST_TESTING_WORD

struct poller {
	enum word_test test;
	uint64_t value;
	struct poll_loop loop;
	bool is_plain; /* a loop of loads, to compare with */
	struct host_testing *m; /* polls its device; NULL: the word */
	site_id node;
	sim_time passed_at;
	uint64_t word;
};

static bool is_passed(const struct poller *p, uint64_t word)
{
	return p->test == WORD_IS	? word == p->value
	       : p->test == WORD_IS_NOT ? word != p->value
					: word >= p->value;
}

/* The device's register, in place of a word of memory. */
static bool test_device(void *arg, uint64_t *seen)
{
	const struct poller *p = arg;

	*seen = p->m->device[p->node];
	return is_passed(p, *seen);
}

static uint64_t look(struct poller *p)
{
	uint64_t word;

	if (p->m)
		test_device(p, &word);
	else
		assert_true(program_read(WORD, &word, 8));
	return word;
}

static void poll_program(void *arg)
{
	struct poller *p = arg;

	p->node = program_node();
	if (p->is_plain) {
		while (p->word = look(p), !is_passed(p, p->word))
			program_charge(p->loop.period);
		program_charge(p->loop.load);
	} else if (p->m) {
		program_poll_until(test_device, p, p->loop, &p->word);
	} else {
		assert_true(program_poll(
			WORD, p->test, p->value, p->loop, &p->word));
	}
	p->passed_at = program_now();
}

static void a_look_sees_what_was_written_before_it(void **state)
{
	struct poller p = {
		.test = WORD_IS,
		.value = 0,
		.loop = { .period = 60 * SIM_NS, .load = 50 * SIM_NS },
	};
	struct host_testing m = { 0 };

	host_testing_start(&m);
	host_testing_write(&m, 1, 0, 1);
	program_start(m.host, 1, 0, 10 * SIM_NS, poll_program, &p);
	host_testing_write(&m, 1, 310 * SIM_NS, 0); /* at a look */
	host_testing_run(&m);
	assert_int_equal(p.passed_at, 360 * SIM_NS);
	/* two writes; the program's start, the look and its return */
	assert_true(sim_n_events(m.sim) <= 5);
	host_testing_fini(&m);
}

static void a_value_that_went_away_is_not_seen(void **state)
{
	struct poller p = {
		.test = WORD_IS,
		.value = 9,
		.loop = { .period = 100 * SIM_NS, .load = 0 },
	};
	struct host_testing m = { 0 };

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, poll_program, &p);
	host_testing_write(&m, 1, 110 * SIM_NS, 9);
	host_testing_write(&m, 1, 120 * SIM_NS, 8);
	host_testing_write(&m, 1, 330 * SIM_NS, 9);
	host_testing_run(&m);
	assert_int_equal(p.passed_at, 400 * SIM_NS);
	host_testing_fini(&m);
}

/* Writes a script of values at times, from a program or from its children. */
struct writer {
	struct host_testing *m; /* as a poller's */
	bool spawns;
	sim_time t[8];
	uint64_t value[8];
};

struct write {
	const struct writer *w;
	uint64_t value;
};

static void write_one(void *arg)
{
	struct write *w = arg;

	if (w->w->m)
		host_testing_set_now(w->w->m, w->value);
	else
		assert_true(program_write(WORD, &w->value, 8));
}

static void write_program(void *arg)
{
	const struct writer *w = arg;
	struct write one[8];

	for (int i = 0; i < 8; i++) {
		program_wait(w->t[i]);
		one[i] = (struct write){ w, w->value[i] };
		/* a thread whose turn is over, and one whose turn comes */
		if (!w->spawns ||
			!program_spawn(i % 2 ? 3 : 60, write_one, &one[i]))
			write_one(&one[i]);
	}
	program_charge(SIM_NS);
}

/* Times on a grid, so that looks and writes often fall together. */
static sim_time draw_time(uint64_t *n)
{
	return (sim_time)host_testing_draw(n, 60) * 10 * SIM_NS;
}

static void draw_writer(struct writer *w, uint64_t *n)
{
	sim_time t = 0;

	for (int i = 0; i < 8; i++) {
		t += draw_time(n) / 4;
		w->t[i] = t;
		w->value[i] = host_testing_draw(n, 5);
	}
	w->value[7] = 4;
	w->spawns = host_testing_draw(n, 2);
}

/*
 * Two nodes to which the same happens, written by an engine and by programs
 * of lower and higher threads; one polls, the other one runs a plain loop.
 */
static void polling_is_like_a_loop_of_loads(void **state)
{
	void (*change)(struct host_testing *, site_id, sim_time, uint32_t);
	uint64_t n = 0;

	for (int round = 0; round < 600; round++) {
		struct writer low = { 0 }, high = { 0 };
		struct poller p[2];
		struct host_testing m = { 0 };
		sim_time start = draw_time(&n);

		memset(p, 0, sizeof(p));
		p[0].test = (enum word_test)host_testing_draw(&n, 3);
		p[0].value = p[0].test == WORD_IS_NOT ? 0 : 4;
		p[0].loop.period =
			(sim_time)(1 + host_testing_draw(&n, 12)) * 10 * SIM_NS;
		p[0].loop.load =
			(sim_time)host_testing_draw(&n, 3) * 25 * SIM_NS;
		p[0].m = low.m = high.m = round % 2 ? &m : NULL;
		p[1] = p[0];
		p[1].is_plain = true;
		draw_writer(&low, &n);
		draw_writer(&high, &n);
		change = p[0].m ? host_testing_set : host_testing_write;
		m.n_workers = 1 + (uint32_t)(round % 3);
		m.n_spawned = 2;
		host_testing_start(&m);
		for (int i = 0; i < 2; i++) {
			site_id node = i ? 5 : 0;

			program_start(
				m.host, node, 5, start, poll_program, &p[i]);
			program_start(m.host, node, 2, 0, write_program, &low);
			program_start(m.host, node, 9, 0, write_program, &high);
			change(&m, node, 200 * SIM_NS, 4);
			change(&m, node, 210 * SIM_NS, 0);
			change(&m, node, 9000 * SIM_NS, 4);
		}
		host_testing_run(&m);
		assert_int_equal(host_n_running(m.host), 0);
		assert_int_equal(p[0].passed_at, p[1].passed_at);
		assert_int_equal(p[0].word, p[1].word);
		host_testing_fini(&m);
	}
}

static void who_waits_for_ever_is_told(void **state)
{
	struct poller p = {
		.test = WORD_IS,
		.value = 1,
		.loop = { .period = 1 },
	};
	struct host_testing m = { 0 };
	char text[128];

	host_testing_start(&m);
	program_start(m.host, 3, 8, 0, poll_program, &p);
	program_start(m.host, 3, 9, 0, poll_program, &p);
	program_start(m.host, 4, 1, 0, poll_program, &p);
	host_testing_write(&m, 3, 0, 77);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 3);
	host_describe_waiting(m.host, text, sizeof(text));
	assert_string_equal(text,
		"node 3, thread 8: polling the word at 0x1000, which is 77");
	host_testing_fini(&m);
}

static void who_waits_for_a_register_is_told(void **state)
{
	struct host_testing m = { 0 };
	struct poller p = {
		.test = WORD_IS,
		.value = 1,
		.loop = { .period = 1 },
		.m = &m,
	};
	char text[128];

	host_testing_start(&m);
	program_start(m.host, 3, 8, 0, poll_program, &p);
	host_testing_set(&m, 3, 500 * SIM_NS, 77);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 1);
	host_describe_waiting(m.host, text, sizeof(text));
	assert_string_equal(text, "node 3, thread 8: polling a register");
	host_testing_fini(&m);
}

/* Many changes that do not pass are no events of the poller's. */
static void polling_a_register_costs_nothing_while_it_fails(void **state)
{
	struct host_testing m = { 0 };
	struct poller p = {
		.test = WORD_AT_LEAST,
		.value = 1000,
		.loop = { .period = 10, .load = 5 },
		.m = &m,
	};

	host_testing_start(&m);
	program_start(m.host, 3, 8, 0, poll_program, &p);
	for (uint32_t i = 1; i <= 1000; i++)
		host_testing_set(&m, 3, i * SIM_NS + 1, i);
	host_testing_run(&m);
	assert_int_equal(p.passed_at, 1000 * SIM_NS + 15);
	assert_int_equal(p.word, 1000);
	assert_int_equal(sim_n_events(m.sim), 1003);
	host_testing_fini(&m);
}

/* Who polls one kind of thing is not told of the other kind. */
static void words_and_registers_are_apart(void **state)
{
	struct host_testing m = { 0 };
	struct poller p[2] = {
		{ .test = WORD_IS, .value = 7, .loop = { .period = 10 } },
		{ .test = WORD_IS,
			.value = 7,
			.loop = { .period = 10 },
			.m = &m },
	};

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, poll_program, &p[0]);
	program_start(m.host, 1, 1, 0, poll_program, &p[1]);
	host_testing_set(&m, 1, 20 * SIM_NS, 7);
	host_testing_write(&m, 1, 30 * SIM_NS, 7);
	host_testing_run(&m);
	assert_int_equal(p[1].passed_at, 20 * SIM_NS);
	assert_int_equal(p[0].passed_at, 30 * SIM_NS);
	host_testing_fini(&m);
}

static void poll_both(void *arg)
{
	struct poller *p = arg;

	poll_program(&p[1]);
	poll_program(&p[0]);
	poll_program(&p[1]);
}

static void a_program_can_poll_both_in_turn(void **state)
{
	struct host_testing m = { 0 };
	struct poller p[2] = {
		{ .test = WORD_IS, .value = 7, .loop = { .period = 10 } },
		{ .test = WORD_IS, .value = 8, .loop = { .period = 10 } },
	};

	p[1].m = &m;
	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, poll_both, p);
	host_testing_set(&m, 1, 20 * SIM_NS, 8);
	host_testing_set(&m, 1, 25 * SIM_NS, 7);
	host_testing_write(&m, 1, 30 * SIM_NS, 7);
	host_testing_set(&m, 1, 40 * SIM_NS, 8);
	host_testing_run(&m);
	assert_int_equal(p[0].passed_at, 30 * SIM_NS);
	assert_int_equal(p[1].passed_at, 40 * SIM_NS);
	host_testing_fini(&m);
}

/* 64 threads poll words of their own; each is woken by its own. */
struct own {
	sim_time seen;
	uint64_t word;
};

static void poll_own(void *arg)
{
	struct own *o = arg;
	struct poll_loop loop = { .period = 1, .load = 0 };
	uint64_t at = 64 + 8 * program_thread();

	assert_true(program_poll(at, WORD_IS_NOT, 0, loop, &o->word));
	o->seen = program_now();
}

static void wake_all(void *arg)
{
	for (uint32_t i = 0; i < 63; i++) {
		uint32_t thread = i * 23 % 63;
		uint64_t word = thread + 1;

		program_charge(SIM_NS);
		assert_true(program_write(64 + 8 * thread, &word, 8));
	}
}

static void each_poller_is_woken_by_its_own_word(void **state)
{
	struct host_testing m = { .n_programs = 64 };
	struct own own[63];

	memset(own, 0, sizeof(own));
	host_testing_start(&m);
	for (uint32_t i = 0; i < 63; i++)
		program_start(m.host, 0, i, 0, poll_own, &own[i]);
	program_start(m.host, 0, 63, 0, wake_all, NULL);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	for (uint32_t i = 0; i < 63; i++) {
		uint32_t thread = i * 23 % 63;

		assert_int_equal(own[thread].seen, (i + 1) * SIM_NS + 1);
		assert_int_equal(own[thread].word, thread + 1);
	}
	host_testing_fini(&m);
}

/* --- polls that go on by themselves --- */

enum { EACH = 5, WAITS = 60 };

/* Waits for every fifth value of its device, and takes others meanwhile. */
struct sleeper {
	struct host_testing *m;
	site_id node;
	bool is_through;
	uint64_t taken, peeked;
	uint32_t wakes;
	sim_time at[WAITS];
};

static bool has_value(void *arg, uint64_t *seen)
{
	const struct sleeper *x = arg;

	*seen = x->m->device[x->node];
	return *seen > x->taken;
}

static enum poll_news what_is_new(void *arg)
{
	struct sleeper *x = arg;
	uint64_t was = x->peeked;

	x->peeked = x->m->device[x->node];
	return x->peeked == was		       ? POLL_NOTHING
	       : x->peeked / EACH > was / EACH ? POLL_ENDS
					       : POLL_QUIET;
}

static struct poll_loop drawn_loop(void *arg, uint64_t draw)
{
	sim_time period = 60 * SIM_NS;

	return (struct poll_loop){ .period = period,
		.load = 10 * SIM_NS,
		.phase = (sim_time)(draw * 7919 * 7919) % period };
}

static void sleep_once(struct sleeper *x)
{
	static const struct poll_through through = { what_is_new, drawn_loop };
	struct poll_loop loop = drawn_loop(x, program_draw());
	uint64_t seen;

	x->peeked = x->taken;
	if (x->is_through)
		program_poll_through(has_value, x, loop, &through);
	else
		program_poll_until(has_value, x, loop, &seen);
	x->taken = x->m->device[x->node];
	x->wakes++;
}

static void sleep_often(void *arg)
{
	struct sleeper *x = arg;

	x->node = program_node();
	for (uint32_t i = 0; i < WAITS; i++) {
		while (x->taken / EACH <= i)
			sleep_once(x);
		x->at[i] = program_now();
	}
}

static void a_program_that_sleeps_on_wakes_when_it_would_have(void **state)
{
	struct host_testing m = { 0 };
	struct sleeper x[2] = { { .m = &m }, { .m = &m, .is_through = true } };
	sim_time t = 0;

	host_testing_start(&m);
	for (uint32_t i = 0; i < 2; i++)
		program_start(m.host, 1 + i, 0, 0, sleep_often, &x[i]);
	for (uint32_t i = 1; i <= EACH * WAITS; i++) {
		t += 1 + (sim_time)(i * i * 7919 % 150) * SIM_NS;
		for (site_id s = 1; s <= 2; s++)
			host_testing_set(&m, s, t, i);
	}
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	for (uint32_t i = 0; i < WAITS; i++)
		assert_int_equal(x[0].at[i], x[1].at[i]);
	assert_true(x[0].wakes > 2 * WAITS);
	assert_true(x[1].wakes <= WAITS);
	host_testing_fini(&m);
}

struct looker {
	struct host_testing *m;
	site_id node;
	bool has_looked;
	uint32_t n_tests;
	sim_time at;
};

static bool count_test(void *arg, uint64_t *seen)
{
	struct looker *x = arg;

	x->n_tests++;
	*seen = x->m->device[x->node];
	return *seen;
}

static void look_and_wait(void *arg)
{
	struct looker *x = arg;
	uint64_t seen;

	x->node = program_node();
	program_poll_until(count_test, x,
		(struct poll_loop){ .period = 40 * SIM_NS,
			.phase = 10 * SIM_NS,
			.is_checked = x->has_looked },
		&seen);
	x->at = program_now();
}

static void who_has_looked_is_not_tested_again_and_wakes_alike(void **state)
{
	struct host_testing m = { 0 };
	struct looker x[2] = { { .m = &m }, { .m = &m, .has_looked = true } };

	host_testing_start(&m);
	for (uint32_t i = 0; i < 2; i++) {
		program_start(m.host, 1 + i, 0, 0, look_and_wait, &x[i]);
		host_testing_set(&m, 1 + i, 95 * SIM_NS, 1);
	}
	host_testing_run(&m);
	assert_int_equal(x[0].at, 130 * SIM_NS);
	assert_int_equal(x[1].at, x[0].at);
	assert_int_equal(x[1].n_tests, 2); /* when it came, and at the look */
	assert_int_equal(x[0].n_tests, 3);
	host_testing_fini(&m);
}

/* --- watches --- */

struct watcher {
	uint64_t at, bytes; /* of the watch */
	uint32_t wanted, n; /* writes */
	uint64_t first; /* address */
	sim_time passed_at;
	bool stays, ends_watch;
};

static void note_write(void *arg, sim_time t, uint64_t at, size_t n)
{
	(void)t;
	struct watcher *x = arg;

	assert_int_equal(n, 8);
	if (!x->n++)
		x->first = at;
}

static bool has_enough(void *arg, uint64_t *seen)
{
	const struct watcher *x = arg;

	*seen = x->n;
	return x->n >= x->wanted;
}

static void watch(void *arg)
{
	struct watcher *x = arg;
	struct poll_loop loop = { .period = 100 * SIM_NS };
	uint64_t seen;

	program_watch(x->at, x->bytes, note_write, x);
	if (x->wanted)
		program_poll_until(has_enough, x, loop, &seen);
	x->passed_at = program_now();
	if (x->ends_watch)
		program_watch(0, 0, NULL, NULL);
	if (x->stays)
		program_wait(10000 * SIM_NS);
}

static void watch_three_writes(struct watcher *x)
{
	struct host_testing m = { 0 };

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, watch, x);
	host_testing_write(&m, 1, 110 * SIM_NS, 1);
	host_testing_write(&m, 2, 110 * SIM_NS, 1); /* another node's */
	host_testing_write(&m, 1, 230 * SIM_NS, 1); /* the same once more */
	host_testing_write(&m, 1, 350 * SIM_NS, 2);
	host_testing_run(&m);
	host_testing_fini(&m);
}

static void a_watch_tells_of_writes_and_wakes(void **state)
{
	struct watcher x = { .at = WORD - 8, .bytes = 24, .wanted = 2 };

	watch_three_writes(&x);
	assert_int_equal(x.first, WORD);
	assert_int_equal(x.passed_at, 300 * SIM_NS);
	assert_int_equal(x.n, 2); /* none after its program's end */
}

static void a_watch_ends_where_it_is_said_to(void **state)
{
	struct watcher before = { .at = WORD - 8, .bytes = 8, .stays = true };
	struct watcher behind = { .at = WORD + 8, .bytes = 8, .stays = true };
	struct watcher ended = { .at = WORD,
		.bytes = 1,
		.wanted = 1,
		.stays = true,
		.ends_watch = true };

	watch_three_writes(&before);
	watch_three_writes(&behind);
	watch_three_writes(&ended);
	assert_int_equal(before.n, 0);
	assert_int_equal(behind.n, 0);
	assert_int_equal(ended.n, 1);
}

/* Each program of a node has a watch of its own. */
static void programs_of_a_node_watch_apart(void **state)
{
	struct host_testing m = { 0 };
	struct watcher x[3] = {
		{ .at = WORD, .bytes = 8, .wanted = 1 },
		{ .at = WORD, .bytes = 8, .wanted = 3 },
		{ .at = WORD + 8, .bytes = 8, .stays = true },
	};

	host_testing_start(&m);
	for (uint32_t i = 0; i < 3; i++)
		program_start(m.host, 1, i, 0, watch, &x[i]);
	for (uint32_t i = 1; i <= 3; i++)
		host_testing_write(&m, 1, i * 110 * SIM_NS, i);
	host_testing_run(&m);
	assert_int_equal(x[0].n, 1);
	assert_int_equal(x[0].passed_at, 200 * SIM_NS);
	assert_int_equal(x[1].n, 3);
	assert_int_equal(x[1].passed_at, 400 * SIM_NS);
	assert_int_equal(x[2].n, 0);
	host_testing_fini(&m);
}

/* --- a word and a register at once --- */

struct both {
	struct host_testing *m;
	sim_time at[2]; /* it woke */
	uint32_t tests;
};

static bool has_either(void *arg, uint64_t *seen)
{
	struct both *x = arg;

	x->tests++;
	host_read(x->m->host, 1, WORD, seen, 8);
	return *seen || x->m->device[1];
}

static void wait_for_either(void *arg)
{
	static const struct poll_loop loop = { .period = 1, .load = 0 };
	struct both *x = arg;
	uint64_t seen, none = 0;

	for (uint32_t i = 0; i < 2; i++) {
		program_poll_with(WORD, has_either, x, loop, &seen);
		x->at[i] = program_now();
		assert_true(program_write(WORD, &none, 8));
	}
}

static void a_word_or_a_register_ends_a_poll(void **state)
{
	struct host_testing m = { 0 };
	struct both x = { .m = &m };

	(void)state;
	host_testing_start(&m);
	program_start(m.host, 1, 0, 10 * SIM_NS, wait_for_either, &x);
	host_testing_write(&m, 1, 100 * SIM_NS, 5);
	host_testing_set(&m, 1, 200 * SIM_NS, 1);
	host_testing_run(&m);
	assert_int_equal(x.at[0], 100 * SIM_NS);
	assert_int_equal(x.at[1], 200 * SIM_NS);
	assert_in_range(x.tests, 4, 8);
	host_testing_fini(&m);
}

TESTS(TEST(a_word_or_a_register_ends_a_poll),
	TEST(a_look_sees_what_was_written_before_it),
	TEST(a_value_that_went_away_is_not_seen),
	TEST(polling_is_like_a_loop_of_loads), TEST(who_waits_for_ever_is_told),
	TEST(who_waits_for_a_register_is_told),
	TEST(polling_a_register_costs_nothing_while_it_fails),
	TEST(words_and_registers_are_apart),
	TEST(a_program_can_poll_both_in_turn),
	TEST(a_program_that_sleeps_on_wakes_when_it_would_have),
	TEST(who_has_looked_is_not_tested_again_and_wakes_alike),
	TEST(each_poller_is_woken_by_its_own_word),
	TEST(a_watch_tells_of_writes_and_wakes),
	TEST(a_watch_ends_where_it_is_said_to),
	TEST(programs_of_a_node_watch_apart))
