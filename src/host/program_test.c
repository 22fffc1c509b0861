#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "host/program.h"
#include "sim/random.h"

enum {
	WINDOW = 40 * SIM_NS,
	NODES = 6,
	MOST_PROGRAMS = 32,
	WORD = 4096, /* the address that all poll */
};

/*
 * A machine of nodes alone.  An event of an engine writes its data into the
 * word.
 */
struct machine {
	struct sim *sim;
	struct host *host;
};

static void visit(struct sim_worker *w, site_id site)
{
	struct machine *m = w->model;
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = *next;
		uint64_t word = e.data;

		if (sim_phase(&e) == PHASE_PROGRAM)
			host_event(m->host, w, site, t, &e);
		else
			assert_true(host_write(m->host, w, site, t, WORD, &word,
				sizeof(word)));
	}
}

static void setup(struct machine *m, uint32_t n_workers)
{
	static const struct sim_ops ops = { .visit = visit };
	struct err e = { 0 };
	struct sim_params p = {
		.n_sites = NODES,
		.n_workers = n_workers,
		.window = WINDOW,
		.reach = 2 * WINDOW,
		.ops = &ops,
		.model = m,
	};
	struct host_params params;
	struct host_setup s = {
		.n_nodes = NODES,
		.params = &params,
		.n_programs = MOST_PROGRAMS,
	};

	host_params_defaults(&params);
	params.memory = 1 << 20;
	m->sim = sim_new(&p, &e);
	assert_non_null(m->sim);
	s.sim = m->sim;
	m->host = host_new(&s, &e);
	assert_non_null(m->host);
}

static void teardown(struct machine *m)
{
	sim_free(m->sim);
	host_free(m->host);
}

static void run(struct machine *m)
{
	assert_int_equal(sim_run(m->sim, SIM_NEVER - 1), SIM_IDLE);
}

static void post_write(
	struct machine *m, site_id node, sim_time t, uint32_t value)
{
	sim_post(sim_owner(m->sim, node), node, t, SIM_KEY(PHASE_ENGINE, 0), 0,
		value);
}

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
	struct machine m;
	site_id i;

	(void)state;
	setup(&m, 2);
	for (i = 0; i < NODES; i++)
		program_start(m.host, i, i * 12, i * 7 * SIM_NS, clock_program,
			&c[i]);
	assert_int_equal(host_n_running(m.host), NODES);
	run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	for (i = 0; i < NODES; i++) {
		sim_time t = (sim_time)i * 7 * SIM_NS;

		assert_int_equal(c[i].node, i);
		assert_int_equal(c[i].thread, i * 12);
		assert_int_equal(c[i].seen[0], t);
		assert_int_equal(c[i].seen[1], t + 98 * SIM_NS);
		assert_int_equal(c[i].seen[2], t + 98 * SIM_NS);
		assert_int_equal(c[i].seen[3], 20000 * SIM_NS);
	}
	teardown(&m);
}

/* --- memory --- */

/* Appends its thread's number to a list in memory, three times. */
static void append_program(void *arg)
{
	uint8_t thread = (uint8_t)program_thread();
	uint64_t n;
	int i;

	(void)arg;
	for (i = 0; i < 3; i++) {
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
	struct machine m;
	uint8_t got[sizeof(want)];

	(void)state;
	setup(&m, 1);
	program_start(m.host, 2, 63, 0, append_program, NULL);
	program_start(m.host, 2, 3, 0, append_program, NULL);
	program_start(m.host, 2, 7, 0, append_program, NULL);
	program_start(m.host, 4, 1, 0, append_program, NULL);
	run(&m);
	assert_true(host_read(m.host, 2, 64, got, sizeof(got)));
	assert_memory_equal(got, want, sizeof(want));
	assert_true(host_read(m.host, 4, 64, got, 4));
	assert_memory_equal(got, "\1\1\1\0", 4);
	teardown(&m);
}

static void outside_program(void *arg)
{
	bool *is_refused = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word = 5;

	*is_refused = !program_read(1 << 20, &word, 1) &&
		      !program_write((1 << 20) - 7, &word, 8) &&
		      !program_poll(1 << 20, WORD_IS, 0, loop, &word) &&
		      !program_poll(4, WORD_IS, 0, loop, &word) && word == 5;
}

static void addresses_outside_are_refused(void **state)
{
	bool is_refused = false;
	struct machine m;

	(void)state;
	setup(&m, 1);
	program_start(m.host, 0, 0, 0, outside_program, &is_refused);
	run(&m);
	assert_true(is_refused);
	assert_int_equal(host_n_running(m.host), 0);
	teardown(&m);
}

/* --- polling --- */

struct poller {
	enum word_test test;
	uint64_t value;
	struct poll_loop loop;
	bool is_plain; /* a loop of loads, to compare with */
	sim_time passed_at;
	uint64_t word;
};

static bool is_passed(const struct poller *p, uint64_t word)
{
	return p->test == WORD_IS	? word == p->value
	       : p->test == WORD_IS_NOT ? word != p->value
					: word >= p->value;
}

static void poll_program(void *arg)
{
	struct poller *p = arg;

	if (!p->is_plain) {
		assert_true(program_poll(
			WORD, p->test, p->value, p->loop, &p->word));
	} else {
		for (;;) {
			assert_true(program_read(WORD, &p->word, 8));
			if (is_passed(p, p->word))
				break;
			program_charge(p->loop.period);
		}
		program_charge(p->loop.load);
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
	struct machine m;

	(void)state;
	setup(&m, 1);
	post_write(&m, 1, 0, 1);
	program_start(m.host, 1, 0, 10 * SIM_NS, poll_program, &p);
	post_write(&m, 1, 310 * SIM_NS, 0); /* at a look */
	run(&m);
	assert_int_equal(p.passed_at, 360 * SIM_NS);
	/* two writes; the program's start, the look and its return */
	assert_true(sim_n_events(m.sim) <= 5);
	teardown(&m);
}

static void a_value_that_went_away_is_not_seen(void **state)
{
	struct poller p = {
		.test = WORD_IS,
		.value = 9,
		.loop = { .period = 100 * SIM_NS, .load = 0 },
	};
	struct machine m;

	(void)state;
	setup(&m, 1);
	program_start(m.host, 1, 0, 0, poll_program, &p);
	post_write(&m, 1, 110 * SIM_NS, 9);
	post_write(&m, 1, 120 * SIM_NS, 8);
	post_write(&m, 1, 330 * SIM_NS, 9);
	run(&m);
	assert_int_equal(p.passed_at, 400 * SIM_NS);
	teardown(&m);
}

/* Writes a script of values at times, from a program. */
struct writer {
	sim_time t[8];
	uint64_t value[8];
};

static void write_program(void *arg)
{
	const struct writer *w = arg;
	int i;

	for (i = 0; i < 8; i++) {
		program_wait(w->t[i]);
		assert_true(program_write(WORD, &w->value[i], 8));
	}
}

static uint64_t draw(uint64_t *n, uint64_t below)
{
	uint64_t bits = random_draw(5, 0, RANDOM_TEST, (*n)++).a;

	return random_below(bits, below);
}

/* Times on a grid, so that looks and writes often fall together. */
static sim_time draw_time(uint64_t *n)
{
	return (sim_time)draw(n, 60) * 10 * SIM_NS;
}

static void draw_writer(struct writer *w, uint64_t *n)
{
	sim_time t = 0;
	int i;

	for (i = 0; i < 8; i++) {
		t += draw_time(n) / 4;
		w->t[i] = t;
		w->value[i] = draw(n, 5);
	}
	w->value[7] = 4;
}

/*
 * Two nodes to which the same happens, written by an engine and by programs
 * of lower and higher threads; one polls, the other one runs a plain loop.
 */
static void polling_is_like_a_loop_of_loads(void **state)
{
	uint64_t n = 0;
	int round, i;

	(void)state;
	for (round = 0; round < 300; round++) {
		struct writer low, high;
		struct poller p[2];
		struct machine m;
		sim_time start = draw_time(&n);

		memset(p, 0, sizeof(p));
		p[0].test = (enum word_test)draw(&n, 3);
		p[0].value = p[0].test == WORD_IS_NOT ? 0 : 4;
		p[0].loop.period = (sim_time)(1 + draw(&n, 12)) * 10 * SIM_NS;
		p[0].loop.load = (sim_time)draw(&n, 3) * 25 * SIM_NS;
		p[1] = p[0];
		p[1].is_plain = true;
		draw_writer(&low, &n);
		draw_writer(&high, &n);
		setup(&m, 1 + (uint32_t)(round % 3));
		for (i = 0; i < 2; i++) {
			site_id node = i ? 5 : 0;

			program_start(
				m.host, node, 5, start, poll_program, &p[i]);
			program_start(m.host, node, 2, 0, write_program, &low);
			program_start(m.host, node, 9, 0, write_program, &high);
			post_write(&m, node, 200 * SIM_NS, 4);
			post_write(&m, node, 210 * SIM_NS, 0);
			post_write(&m, node, 9000 * SIM_NS, 4);
		}
		run(&m);
		assert_int_equal(host_n_running(m.host), 0);
		assert_int_equal(p[0].passed_at, p[1].passed_at);
		assert_int_equal(p[0].word, p[1].word);
		teardown(&m);
	}
}

static void who_waits_for_ever_is_told(void **state)
{
	struct poller p = {
		.test = WORD_IS,
		.value = 1,
		.loop = { .period = 1 },
	};
	struct machine m;
	char text[128];

	(void)state;
	setup(&m, 1);
	program_start(m.host, 3, 8, 0, poll_program, &p);
	post_write(&m, 3, 0, 77);
	run(&m);
	assert_int_equal(host_n_running(m.host), 1);
	host_describe_waiting(m.host, text, sizeof(text));
	assert_string_equal(text,
		"node 3, thread 8: polls the word at 0x1000, which is 77");
	teardown(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_passes_as_charged),
		cmocka_unit_test(programs_run_in_order_of_threads),
		cmocka_unit_test(addresses_outside_are_refused),
		cmocka_unit_test(a_look_sees_what_was_written_before_it),
		cmocka_unit_test(a_value_that_went_away_is_not_seen),
		cmocka_unit_test(polling_is_like_a_loop_of_loads),
		cmocka_unit_test(who_waits_for_ever_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
