#define _GNU_SOURCE
#include "outside/output.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "testing/testing.h"

/* What was written, by stream. */
struct kit {
	struct output *output;
	int back[OUTPUT_STREAMS];
	char text[OUTPUT_STREAMS][4096];
};

static void set_up(struct kit *k, uint32_t n_ranks, bool is_tagged)
{
	int to[OUTPUT_STREAMS];
	struct err e = { 0 };

	memset(k, 0, sizeof(*k));
	for (uint32_t i = 0; i < OUTPUT_STREAMS; i++) {
		int ends[2];

		assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
		k->back[i] = ends[0];
		to[i] = ends[1];
	}
	k->output = output_new(n_ranks, to, is_tagged);
	assert_int_equal(output_open(k->output, &e), 0);
	assert_non_null(k->output);
}

static void says(struct kit *k, uint32_t rank, const char *text)
{
	int to = output_pipe(k->output, rank, OUTPUT_OUT);

	assert_int_equal(write(to, text, strlen(text)), strlen(text));
}

/* All that was written to a stream since the last call. */
static const char *seen(struct kit *k, enum output_stream s)
{
	ssize_t n = read(k->back[s], k->text[s], sizeof(k->text[s]) - 1);

	k->text[s][n < 0 ? 0 : n] = '\0';
	return k->text[s];
}

/* MPI-F5. */
static void lines_are_in_the_order_of_time_then_of_ranks(void **state)
{
	struct kit k;

	set_up(&k, 3, false);
	says(&k, 2, "late\n");
	output_date(k.output, 2, 30);
	says(&k, 1, "b\n");
	output_date(k.output, 1, 10);
	says(&k, 0, "a\n");
	output_date(k.output, 0, 10);
	output_write(k.output, 10);
	assert_string_equal(seen(&k, OUTPUT_OUT), "a\nb\n");
	says(&k, 0, "soon\n");
	output_date(k.output, 0, 20);
	output_write(k.output, 40);
	assert_string_equal(seen(&k, OUTPUT_OUT), "soon\nlate\n");
	output_free(k.output);
}

static void lines_are_whole_unless_the_run_ends(void **state)
{
	struct kit k;

	set_up(&k, 2, false);
	says(&k, 0, "one\ntw");
	output_date(k.output, 0, 5);
	says(&k, 1, "other\n");
	output_date(k.output, 1, 6);
	output_write(k.output, 7);
	assert_string_equal(seen(&k, OUTPUT_OUT), "one\nother\n");
	says(&k, 0, "o");
	output_write(k.output, INT64_MAX);
	assert_string_equal(seen(&k, OUTPUT_OUT), "two");
	output_free(k.output);
}

static void errors_are_apart(void **state)
{
	struct kit k;

	set_up(&k, 1, false);
	says(&k, 0, "out\n");
	assert_int_equal(
		write(output_pipe(k.output, 0, OUTPUT_ERR), "err\n", 4), 4);
	output_write(k.output, INT64_MAX);
	assert_string_equal(seen(&k, OUTPUT_OUT), "out\n");
	assert_string_equal(seen(&k, OUTPUT_ERR), "err\n");
	output_free(k.output);
}

/* MPI-F5. */
static void each_line_can_begin_with_its_rank(void **state)
{
	struct kit k;

	set_up(&k, 12, true);
	says(&k, 11, "x\ny\n");
	says(&k, 3, "z");
	output_write(k.output, INT64_MAX);
	assert_string_equal(seen(&k, OUTPUT_OUT), "3: z11: x\n11: y\n");
	output_free(k.output);
}

/* MPI-F5. */
static void what_a_dead_rank_has_said_without_a_time_is_dropped(void **state)
{
	struct kit k;

	set_up(&k, 2, false);
	says(&k, 0, "in time\n");
	output_date(k.output, 0, 5);
	says(&k, 0, "taken\n");
	says(&k, 1, "other\n");
	output_take(k.output);
	says(&k, 0, "in the pipe\n");
	output_drop(k.output, 0);
	output_write(k.output, INT64_MAX);
	assert_string_equal(seen(&k, OUTPUT_OUT), "in time\nother\n");
	output_free(k.output);
}

/* Takes what comes until it is told to stop. */
struct reader {
	struct output *output;
	_Atomic bool is_over;
};

static void *reads(void *arg)
{
	struct reader *r = arg;

	while (!r->is_over)
		output_take(r->output);
	return NULL;
}

static void a_rank_never_waits_for_room(void **state)
{
	enum { LINES = 20000 };
	struct reader r = { 0 };
	pthread_t thread;
	size_t bytes = 0;
	struct kit k;

	set_up(&k, 1, false);
	r.output = k.output;
	assert_int_equal(pthread_create(&thread, NULL, reads, &r), 0);
	for (uint32_t i = 0; i < LINES; i++)
		says(&k, 0, "0123456789\n");
	r.is_over = true;
	pthread_join(thread, NULL);
	output_date(k.output, 0, 1);
	fcntl(k.back[OUTPUT_OUT], F_SETPIPE_SZ, 1 << 20);
	output_write(k.output, 1);
	for (ssize_t n = 1; n > 0; bytes += n > 0 ? (size_t)n : 0)
		n = read(k.back[OUTPUT_OUT], k.text[0], sizeof(k.text[0]));
	assert_int_equal(bytes, 11 * LINES);
	output_free(k.output);
}

TESTS(TEST(lines_are_in_the_order_of_time_then_of_ranks),
	TEST(lines_are_whole_unless_the_run_ends), TEST(errors_are_apart),
	TEST(each_line_can_begin_with_its_rank),
	TEST(what_a_dead_rank_has_said_without_a_time_is_dropped),
	TEST(a_rank_never_waits_for_room))
