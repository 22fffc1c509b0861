/* A replay takes the time of what must come one after the other. */
#define _GNU_SOURCE /* mkstemp() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/trial_testing.h"

#define TORUS "torus 2x2"

static char path[64];

static void make_name(char name[64])
{
	int file;

	strcpy(name, "/tmp/weft-test-XXXXXX");
	file = mkstemp(name);
	assert_true(file >= 0);
	close(file);
}

/* The schedule's line. */
static const char *replay(const char *text, const char *keys)
{
	static char line[256];

	if (!*path)
		make_name(path);
	trial_file(path, text);
	snprintf(line, sizeof(line), "replay file=%s %s", path, keys);
	return line;
}

static double took(const char *text)
{
	double ns = trial(TORUS, replay(text, ""), "time_ns");

	remove(path);
	return ns;
}

static void near(double value, double want, double most)
{
	if (value < want - 1e-6 || value > want + most)
		fail_msg("%g is not %g to %g", value, want, want + most);
}

static void computing_takes_its_time(void **state)
{
	near(took("num_ranks 2\nrank 0 {\ncalc 5000\n}\n"), 5000, 1);
	near(took("num_ranks 2\nrank 0 {\ncalc 5000\n}\nrank 1 {\ncalc 7000\n}"
		  "\n"),
		7000, 1);
}

/* Of one cpu one after the other, of two side by side. */
static void cpus_compute_side_by_side(void **state)
{
	near(took("num_ranks 1\nrank 0 {\ncalc 5000\ncalc 3000\n}\n"), 8000, 1);
	near(took("num_ranks 1\nrank 0 {\ncalc 5000\ncalc 3000 cpu 1\n}\n"),
		5000, 1);
}

static void what_is_required_has_ended(void **state)
{
	near(took("num_ranks 1\nrank 0 {\na: calc 5000\nb: calc 3000 cpu 1\n"
		  "b requires a\n}\n"),
		8000, 1);
	/* or only begun */
	near(took("num_ranks 1\nrank 0 {\na: calc 5000\nb: calc 3000 cpu 1\n"
		  "b irequires a\n}\n"),
		5000, 1);
}

static void a_message_comes_after_it_was_sent(void **state)
{
	double one = took("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\n"
			  "rank 1 {\nrecv 8b from 0\n}\n");
	double late = took("num_ranks 2\nrank 0 {\na: calc 9000\nb: send 8b to "
			   "1\nb requires a\n}\nrank 1 {\nrecv 8b from 0\n}\n");
	double both = took("num_ranks 2\nrank 0 {\na: send 8b to 1\nb: recv 8b "
			   "from 1\nb requires a\n}\nrank 1 {\na: recv 8b from "
			   "0\nb: send 8b to 0\nb requires a\n}\n");

	assert_true(one > 500 && one < 5000);
	near(late, 9000 + 0.8 * one, 0.4 * one);
	near(both, 1.6 * one, 0.8 * one);
}

static void all_operations_are_counted(void **state)
{
	struct trial t;

	trial_open(&t, TORUS,
		replay("num_ranks 3\nrank 0 {\ncalc 5\ncalc 6\n}\n"
		       "rank 2 {\ncalc 7\n}\n",
			""));
	trial_same(trial_figure(&t, "operations"), 3);
	trial_close(&t);
	remove(path);
}

static void ranks_are_placed_by_a_file(void **state)
{
	const char *far = "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\n"
			  "rank 1 {\nrecv 8b from 0\n}\n";
	char place[64], keys[80];
	double near_, far_;

	make_name(place);
	snprintf(keys, sizeof(keys), "place=%s", place);
	trial_file(place, "0 1\n");
	near_ = trial("torus 5x1", replay(far, keys), "time_ns");
	trial_file(place, "0 2\n");
	far_ = trial("torus 5x1", replay(far, keys), "time_ns");
	/* a hop more, of 85 ns */
	near(far_, near_ + 60, 60);
	trial_file(place, "0 5\n");
	trial_refused(
		"torus 5x1", replay(far, keys), "there is no such process");
	trial_file(place, "3 3\n");
	trial_refused("torus 5x1", replay(far, keys), "it has another rank");
	trial_file(place, "3\n");
	trial_refused("torus 5x1", replay(far, keys), "no number for rank 1");
	remove(place);
	trial_refused("torus 5x1", replay(far, keys), "want linear, random");
	remove(path);
}

static void ranks_wait_for_each_other_for_ever(void **state)
{
	struct trial t;

	trial_open(&t, TORUS,
		replay("num_ranks 2\nrank 0 {\na: recv 8b from 1\nb: send 8b "
		       "to 1\nb requires a\n}\nrank 1 {\na: recv 8b from 0\n"
		       "b: send 8b to 0\nb requires a\n}\n",
			""));
	assert_int_equal(t.run->result.ending, LOAD_STALLED);
	assert_int_equal(t.run->result.waiters.n, 2);
	assert_non_null(strstr(t.run->result.why,
		"rank 1 has not started to send it (line 9)"));
	trial_close(&t);
	remove(path);
}

static void a_schedule_must_fit_the_machine(void **state)
{
	trial_refused(TORUS, "replay", "file: want the file of a schedule");
	trial_refused(TORUS, "replay file=/nowhere/x", "/nowhere/x: No such");
	trial_refused(TORUS, replay("num_ranks 600\n", ""),
		"600 ranks are more than 128 on each");
	remove(path);
}

TESTS(TEST(computing_takes_its_time), TEST(cpus_compute_side_by_side),
	TEST(what_is_required_has_ended),
	TEST(a_message_comes_after_it_was_sent),
	TEST(all_operations_are_counted), TEST(ranks_are_placed_by_a_file),
	TEST(ranks_wait_for_each_other_for_ever),
	TEST(a_schedule_must_fit_the_machine))
