#define _GNU_SOURCE
#include "sim/fiber_testing.h"

/* ---- what a fiber is ---- */

static void a_fiber_runs_until_it_suspends_and_then_to_its_end(void **state)
{
	struct job j = { .pool = new_pool(1), .n_rounds = 2 };

	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_UNUSED);
	fiber_start(j.pool, 0, count_rounds, &j);
	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_READY);
	assert_int_equal(j.n_done, 0);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	assert_int_equal(j.n_done, 1);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	assert_int_equal(j.n_done, 2);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_ENDED);
	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_ENDED);
	fiber_pool_free(j.pool);
}

static void an_ended_fiber_can_be_started_again(void **state)
{
	struct job j = { .pool = new_pool(3), .id = 1, .n_rounds = 1 };

	for (int i = 0; i < 100; i++)
		assert_int_equal(run_alone(&j, count_rounds), 2);
	assert_int_equal(j.n_done, 100);
	fiber_pool_free(j.pool);
}

static void a_pool_can_be_freed_while_fibers_wait(void **state)
{
	struct job j = { .pool = new_pool(2), .n_rounds = 1 };

	fiber_start(j.pool, 0, count_rounds, &j);
	fiber_start(j.pool, 1, count_rounds, &j);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	fiber_pool_free(j.pool);
	fiber_pool_free(NULL);
}

static void find_out_who_i_am(void *arg)
{
	struct job *j = arg;

	j->found = fiber_current(j->pool);
	j->n_done = fiber_state_of(j->pool, j->id) == FIBER_RUNNING;
}

static void the_current_fiber_is_known_by_its_stack(void **state)
{
	static const uint32_t sizes[] = { 1, 1000, 40000 };

	for (size_t i = 0; i < 3; i++) {
		struct job j = { .pool = new_pool(sizes[i]) };

		for (j.id = 0; j.id < sizes[i]; j.id += 1 + sizes[i] / 50) {
			assert_int_equal(run_alone(&j, find_out_who_i_am), 1);
			assert_int_equal(j.found, j.id);
			assert_true(j.n_done);
		}
		assert_int_equal(fiber_current(j.pool), FIBER_NONE);
		fiber_pool_free(j.pool);
	}
}

static void senseless_sizes_are_refused(void **state)
{
	struct err none = { 0 }, many = { 0 }, small = { 0 }, room = { 0 };

	assert_null(fiber_pool_new(0, STACK_BYTES, &none));
	assert_int_equal(none.code, EXIT_BAD_INPUT);
	assert_null(fiber_pool_new(SIZE_MAX / 2, STACK_BYTES, &many));
	assert_int_equal(many.code, EXIT_BAD_INPUT);
	assert_null(fiber_pool_new(10, 100, &small));
	assert_string_equal(small.text,
		"fiber stacks of 100 bytes (want 16 KiB to 1024 MiB)");
	assert_null(fiber_pool_new(1000000, FIBER_MAX_STACK, &room));
	assert_int_equal(room.code, EXIT_LIMIT);
}

/* ---- what survives a switch ---- */

static double mix_doubles(struct job *j, double seed)
{
	double a = seed, b = a + 1, c = a + 2, d = a + 3, e = a + 4;
	double f = a + 5, g = a + 6, h = a + 7, i = a + 8, k = a + 9;

	for (int n = 0; n < j->n_rounds; n++) {
		a += 1, b += 2, c += 3, d += 4, e += 5;
		pause_fiber(j);
		f += 6, g += 7, h += 8, i += 9, k += 10;
	}
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
	       9 * i + 10 * k;
}

static void doubles_on_a_fiber(void *arg)
{
	struct job *j = arg;

	j->found = (uint64_t)mix_doubles(j, j->id);
}

static void start_all(struct job *jobs, int n, void (*run)(void *))
{
	struct fiber_pool *p = new_pool((size_t)n);

	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){
			.pool = p,
			.id = (uint32_t)i,
			.n_rounds = 5,
		};
		fiber_start(p, jobs[i].id, run, &jobs[i]);
	}
}

/* Interleaved, and what each fiber finds is what it finds alone. */
static void check_interleaved(void (*run)(void *))
{
	struct job jobs[8], alone;

	start_all(jobs, 8, run);
	for (int round = 0; round < 6; round++)
		for (int i = 0; i < 8; i++)
			assert_int_equal(fiber_resume(jobs[i].pool, jobs[i].id),
				round < 5 ? FIBER_SUSPENDED : FIBER_ENDED);
	for (int i = 0; i < 8; i++) {
		alone = jobs[i];
		assert_int_equal(run_alone(&alone, run), 6);
		assert_int_equal(alone.found, jobs[i].found);
	}
	fiber_pool_free(jobs[0].pool);
}

static void integers_survive_switches(void **state)
{
	check_interleaved(integers_on_a_fiber);
}

static void doubles_survive_switches(void **state)
{
	struct job j = { .pool = new_pool(1), .n_rounds = 10 };

	check_interleaved(doubles_on_a_fiber);
	run_alone(&j, doubles_on_a_fiber);
	assert_int_equal(j.found, 330 + 10 * 385);
	fiber_pool_free(j.pool);
}

/* Overwrites what it can, so that only a true switch brings it back. */
static void clobber(void *arg)
{
	struct job *j = arg;
	volatile double seed = 1e100;

	for (;;) {
		struct job inner = *j;

		inner.n_rounds = 1;
		j->found = mix_integers(&inner, ~UINT64_C(0)) +
			   (mix_doubles(&inner, seed) > 0);
	}
}

/* Values of the resumer's that live over a resume. */
static void the_resumers_registers_survive_too(void **state)
{
	struct job j = { .pool = new_pool(1) };
	volatile double one = 1;
	double a = one, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5;
	double g = a + 6, h = a + 7;
	uint64_t r = (uint64_t)one, s = r + 1, t = r + 2, u = r + 3, v = r + 4;
	uint64_t w = r + 5, x = r + 6, y = r + 7, z = r + 8;

	fiber_start(j.pool, 0, clobber, &j);
	for (int i = 0; i < 10; i++) {
		fiber_resume(j.pool, 0);
		a += 1, b += 1, c += 1, d += 1, e += 1, f += 1, g += 1, h += 1;
		r += 1, s += 1, t += 1, u += 1, v += 1, w += 1, x += 1, y += 1;
		z += 1;
	}
	assert_true(a == 11 && b == 12 && c == 13 && d == 14);
	assert_true(e == 15 && f == 16 && g == 17 && h == 18);
	assert_true(r == 11 && s == 12 && t == 13 && u == 14 && v == 15);
	assert_true(w == 16 && x == 17 && y == 18 && z == 19);
	fiber_pool_free(j.pool);
}

static void format_doubles(void *arg)
{
	struct job *j = arg;
	_Alignas(16) volatile char aligned[16] = { 0 };
	volatile double x = 1.5;
	char text[64];

	snprintf(text, sizeof(text), "%.2f %.1f %s", x, 2 * x, "end");
	j->n_done = !strcmp(text, "1.50 3.0 end");
	j->found = (uintptr_t)aligned % 16;
}

static void stacks_are_aligned_for_every_fiber(void **state)
{
	struct job j = { .pool = new_pool(40) };

	for (j.id = 0; j.id < 40; j.id++) {
		run_alone(&j, format_doubles);
		assert_true(j.n_done);
		assert_int_equal(j.found, 0);
	}
	fiber_pool_free(j.pool);
}

static void count_frames(void *arg)
{
	struct job *j = arg;
	void *frames[64];

	pause_fiber(j);
	j->found = (uint64_t)backtrace(frames, 64);
}

static void backtraces_end_where_the_fiber_began(void **state)
{
	struct job j = { .pool = new_pool(1) };
	void *frames[64];

	backtrace(frames, 64); /* loads the unwinder, which needs more stack */
	run_alone(&j, count_frames);
	assert_in_range(j.found, 1, 6);
	fiber_pool_free(j.pool);
}

/* ---- depth ---- */

static void deep_recursion_within_the_limit_works(void **state)
{
	static const size_t sizes[] = { 20, 40000 };

	for (size_t i = 0; i < 2; i++) {
		struct job j = {
			.pool = new_pool(sizes[i]),
			.id = 17,
			.n_rounds = 1,
			.found = 52 * KIB,
		};

		assert_int_equal(run_alone(&j, descend_by_found), 2);
		assert_true(j.n_done > 20);
		fiber_pool_free(j.pool);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_fiber_runs_until_it_suspends_and_then_to_its_end),
		cmocka_unit_test(an_ended_fiber_can_be_started_again),
		cmocka_unit_test(a_pool_can_be_freed_while_fibers_wait),
		cmocka_unit_test(the_current_fiber_is_known_by_its_stack),
		cmocka_unit_test(senseless_sizes_are_refused),
		cmocka_unit_test(integers_survive_switches),
		cmocka_unit_test(doubles_survive_switches),
		cmocka_unit_test(the_resumers_registers_survive_too),
		cmocka_unit_test(stacks_are_aligned_for_every_fiber),
		cmocka_unit_test(backtraces_end_where_the_fiber_began),
		cmocka_unit_test(deep_recursion_within_the_limit_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
