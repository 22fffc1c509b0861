/* This process plays the rank, whose channel it writes itself. */
#define _GNU_SOURCE /* mkstemp() */
#include "outside/computing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/stream.h"
#include "base/mem.h"
#include "outside/account.h"
#include "testing/testing.h"

static const struct handover_place place = { .n_ranks = 2 };

struct setup {
	struct handover h;
	struct computing *c;
	char path[64];
};

static void open_all(struct setup *s)
{
	struct err e = { 0 };

	assert_int_equal(handover_open(&s->h, &place, &e), 0);
	s->c = computing_new(2);
	snprintf(s->path, sizeof(s->path), "/tmp/weft-test-XXXXXX");
	close(mkstemp(s->path));
}

static void close_all(struct setup *s)
{
	unlink(s->path);
	computing_free(s->c);
	handover_close(&s->h);
}

static void say(struct setup *s, uint32_t call, uint64_t ns)
{
	struct channel *c = s->h.channel;

	c->step[c->n_steps++] =
		(struct channel_step){ .call = call, .n = 1, .ns = ns };
}

static char *text_of(const struct computing *c)
{
	struct stream o;

	stream_open(&o);
	computing_write(c, o.file);
	stream_close(&o);
	return o.text;
}

static void write_file(const struct setup *s, const char *text)
{
	FILE *f = fopen(s->path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static uint32_t number(const char *name)
{
	assert_true(account_call_number(name) > 0);
	return account_call_number(name);
}

static void a_recording_reads_back_as_it_was(void **state)
{
	struct setup s;
	struct err e = { 0 };
	struct computing *again;
	char *a, *b;

	open_all(&s);
	say(&s, number("MPI_Send"), 5);
	for (uint32_t i = 0; i < 4300; i++) {
		if (s.h.channel->n_steps == CHANNEL_STEPS)
			computing_take(s.c, 1, &s.h);
		say(&s, CHANNEL_LOOKS, i);
	}
	say(&s, 0, 7);
	computing_take(s.c, 1, &s.h);
	assert_int_equal(s.h.channel->n_steps, 0);
	a = text_of(s.c);
	assert_non_null(strstr(a, "rank 1\nMPI_Send 5\n- 0\n- 1\n"));
	/* 4,096 alone, the sum of 4,096 to 4,283, and 16 alone */
	assert_non_null(strstr(a, "\n- 4095\n-188 787626\n- 4284\n"));
	assert_non_null(strstr(a, "\n- 4298\n- 4299\noperation 7\nend\n"));
	write_file(&s, a);
	again = computing_read(s.path, 2, &e);
	assert_non_null(again);
	b = text_of(again);
	assert_string_equal(a, b);
	assert_string_equal(computing_call(again, 1, 0), "MPI_Send");
	assert_string_equal(computing_call(again, 1, 1), "operation");
	assert_null(computing_call(again, 1, 2));
	mem_free(a);
	mem_free(b);
	computing_free(again);
	close_all(&s);
}

static void what_no_rank_says_is_no_recording_either(void **state)
{
	struct setup s;
	char *text;

	open_all(&s);
	s.h.channel->n_steps = UINT32_MAX;
	s.h.channel->step[0] =
		(struct channel_step){ .call = 100000, .n = 0, .ns = 3 };
	s.h.channel->step[CHANNEL_STEPS - 1] = (struct channel_step){
		.call = CHANNEL_LOOKS, .n = UINT32_MAX, .ns = UINT64_MAX
	};
	computing_take(s.c, 0, &s.h);
	text = text_of(s.c);
	assert_non_null(strstr(text, "rank 0\noperation 3\n"));
	assert_non_null(strstr(text, "\n- 1000000000000\nrank 1\n"));
	mem_free(text);
	close_all(&s);
}

static void steps_are_given_when_the_rank_has_used_them_up(void **state)
{
	struct setup s;
	struct channel *c;

	open_all(&s);
	c = s.h.channel;
	for (uint32_t i = 0; i < CHANNEL_STEPS; i++)
		say(&s, 0, i);
	computing_take(s.c, 0, &s.h);
	say(&s, 0, CHANNEL_STEPS);
	computing_take(s.c, 0, &s.h);
	computing_give(s.c, 0, &s.h);
	assert_int_equal(c->n_steps, CHANNEL_STEPS);
	computing_give(s.c, 0, &s.h);
	assert_int_equal(c->step[0].ns, 0);
	c->n_steps = 0;
	computing_give(s.c, 0, &s.h);
	assert_int_equal(c->n_steps, 1);
	assert_int_equal(c->step[0].ns, CHANNEL_STEPS);
	c->n_steps = 0;
	computing_give(s.c, 0, &s.h);
	assert_int_equal(c->n_steps, 0);
	close_all(&s);
}

static void is_refused(const struct setup *s, const char *text, const char *why)
{
	struct err e = { 0 };

	write_file(s, text);
	assert_null(computing_read(s->path, 2, &e));
	if (!strstr(e.text, why))
		fail_msg("%s: %s, not %s", text, e.text, why);
}

static void other_files_are_refused_with_the_line(void **state)
{
	struct setup s;

	open_all(&s);
	is_refused(&s, "", ":1: this is no recording");
	is_refused(&s, "weft computing 2\nranks 2\n", "another version");
	is_refused(&s, "weft computing 1\n", ":2: want a line");
	is_refused(&s, "weft computing 1\nranks 3\nrank 0\n", "of 3 ranks");
	is_refused(&s, "weft computing 1\nranks 2\nend\n", "missing");
	is_refused(&s, "weft computing 1\nranks 2\nMPI_Send 1\n",
		":3: want `rank 0` first");
	is_refused(&s, "weft computing 1\nranks 2\nrank 1\n", "in order");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\nMPI_Send\n",
		":4: want a name, a space and a number");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\nMPI_Send -1\n",
		":4: want a name");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\n-0 5\n",
		"no such call");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\n-9999999999 5\n",
		"no such call");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\nrm 5\n",
		"no such call");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\nrank 1\nrank 2\n",
		"in order");
	is_refused(&s, "weft computing 1\nranks 2\nrank 0\nrank 1\nend",
		"want a name");
	close_all(&s);
}

TESTS(TEST(a_recording_reads_back_as_it_was),
	TEST(what_no_rank_says_is_no_recording_either),
	TEST(steps_are_given_when_the_rank_has_used_them_up),
	TEST(other_files_are_refused_with_the_line))
