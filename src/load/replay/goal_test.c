/* Schedules as they are read, in both forms, and what no run could end. */
#define _GNU_SOURCE
#include <string.h>

#include "load/replay/goal_colls.h"
#include "load/replay/goal_pairs.h"
#include "testing/testing.h"

static struct goal goal;
static struct err err;

static int read_text(const char *text)
{
	FILE *f = fmemopen((char *)text, strlen(text), "r");
	int failed;

	assert_non_null(f);
	err = (struct err){ 0 };
	failed = goal_read_file(&goal, f, "x", &err);
	fclose(f);
	if (failed)
		return failed;
	failed = goal_check_pairs(&goal, "x", &err);
	if (failed)
		goal_free(&goal);
	return failed;
}

static void good(const char *text)
{
	if (read_text(text))
		fail_msg("%s", err.text);
}

static void bad(const char *text, const char *why)
{
	if (!read_text(text))
		fail_msg("no error: %s", text);
	if (!strstr(err.text, why))
		fail_msg("not \"%s\": %s", why, err.text);
}

#define TWO "num_ranks 2\nrank 0 {\n"

static void operations_have_their_words(void **state)
{
	const struct goal_op *op;

	good(TWO "a: send 4096b to 1 tag 7 cpu 3\n"
		 "calc 12 nic 2 # time\n"
		 "}\nrank 1 {\nrecv 5000b from 0 tag 7\n}\n");
	assert_int_equal(goal.n_ranks, 2);
	assert_int_equal(goal.n_ops, 3);
	assert_false(goal.is_binary);
	op = goal.rank[0].op;
	assert_int_equal(op[0].kind, GOAL_SEND);
	assert_int_equal(op[0].size, 4096);
	assert_int_equal(op[0].peer, 1);
	assert_int_equal(op[0].tag, 7);
	assert_int_equal(op[0].cpu, 3);
	assert_int_equal(op[0].line, 3);
	assert_int_equal(op[1].kind, GOAL_CALC);
	assert_int_equal(op[1].size, 12);
	assert_int_equal(op[1].nic, 2);
	assert_int_equal(goal.rank[1].op[0].kind, GOAL_RECV);
	goal_free(&goal);
}

/* An edge is who waits, times two, + 1 where only for the beginning. */
static void edges_lead_to_who_waits(void **state)
{
	const struct goal_rank *r;

	good("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 2\nc: calc 3\n"
	     "b requires a\nc irequires a\nc requires b\n}\n");
	r = &goal.rank[0];
	assert_int_equal(r->n_edges, 3);
	assert_int_equal(goal_n_after(r, 0), 2);
	assert_int_equal(r->edge[r->op[0].after], 2 * 1);
	assert_int_equal(r->edge[r->op[0].after + 1], 2 * 2 + 1);
	assert_int_equal(goal_n_after(r, 1), 1);
	assert_int_equal(r->edge[r->op[1].after], 2 * 2);
	assert_int_equal(goal_n_after(r, 2), 0);
	assert_int_equal(r->op[0].needs, 0);
	assert_int_equal(r->op[1].needs, 1);
	assert_int_equal(r->op[2].needs, 2);
	goal_free(&goal);
}

static void ranks_may_be_empty_and_in_any_order(void **state)
{
	good("num_ranks 3\nrank 2 {\ncalc 5\n}\nrank 0 {\n}\n");
	assert_int_equal(goal.rank[0].n_ops, 0);
	assert_int_equal(goal.rank[1].n_ops, 0);
	assert_int_equal(goal.rank[2].n_ops, 1);
	goal_free(&goal);
}

static void words_that_are_wrong_are_named_with_their_line(void **state)
{
	bad("", "x: is empty");
	bad("num_ranks 0\n", "no ranks");
	bad("num_ranks 2000000\n", "more than 1048576 ranks");
	bad("num_ranks 2\nrank 2 {\n", "x:2: want a rank from 0 to 1");
	bad(TWO "}\nrank 0 {\n}\n", "x:4: this rank is defined twice");
	bad(TWO "calc 5\n", "ends inside a rank");
	bad(TWO "wait 5\n}\n", "x:3: want send, recv, calc");
	bad(TWO "calc 5us\n}\n", "x:3: want a time in nanoseconds");
	bad(TWO "send 5k to 1\n}\n", "x:3: want a number of bytes");
	bad(TWO "send 5b at 1\n}\n", "want \"to\" and a rank");
	bad(TWO "recv 5b to 1\n}\n", "want \"from\" and a rank");
	bad(TWO "send 5b to 2\n}\n", "a rank from 0 to 1");
	bad(TWO "calc 5 gpu 1\n}\n", "want tag, cpu or nic");
	bad(TWO "calc 5 cpu 64\n}\n", "from 0 to 63");
	bad(TWO "a: calc 5\na: calc 6\n}\n", "x:4: \"a\" is defined twice");
	bad(TWO "a: calc 5\na requires b\n}\n", "called \"b\"");
}

static void what_waits_for_itself_is_refused(void **state)
{
	bad(TWO "a: calc 1\na requires a\n}\n", "x:3: this operation waits");
	bad(TWO "a: calc 1\nb: calc 1\nc: calc 1\nb requires c\n"
		"c irequires b\n}\n",
		"x:4: this operation waits");
}

/* --- sends and receives --- */

static void sends_and_receives_must_be_as_many(void **state)
{
	bad(TWO "send 8b to 1\n}\n", "rank 1 never receives");
	bad(TWO "recv 8b from 1 tag 2\n}\nrank 1 {\nsend 8b to 0 tag 3\n}\n",
		"it sends 8 B with tag 3 instead");
	bad(TWO "send 8b to 1\nsend 8b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		"one of 2 such messages");
}

static void a_receive_must_have_room(void **state)
{
	bad(TWO "send 9b to 1\n}\nrank 1 {\nrecv 8b from 0\n}\n",
		"a message of 9 B");
	/* whatever the order, one of the two is too long for either */
	bad(TWO "send 9b to 1\nsend 9b to 1\n}\n"
		"rank 1 {\nrecv 9b from 0\nrecv 8b from 0\n}\n",
		"at least 9 B");
	good(TWO "send 8b to 1\nsend 9b to 1\n}\n"
		 "rank 1 {\nrecv 9b from 0\nrecv 8b from 0\n}\n");
	goal_free(&goal);
}

static void a_message_is_described_in_words(void **state)
{
	char text[128], ref[GOAL_REF], where[GOAL_WHERE];

	good(TWO "send 8b to 1 tag 4\n}\nrank 1 {\nrecv 9b from 0 tag 4\n}\n");
	goal_describe(&goal, &goal.rank[1], 0, text, sizeof(text));
	assert_string_equal(text, "rank 1 receives 9 B from rank 0 with tag 4");
	assert_string_equal(goal_ref(&goal, &goal.rank[0], 0, ref), "line 3");
	assert_string_equal(goal_where(&goal, &goal.rank[0], 0, where), ":3");
	goal_free(&goal);
}

/* --- blocks of several ranks --- */

static void a_block_is_that_of_each_of_its_ranks(void **state)
{
	good("num_ranks 6\n"
	     "rank 0..2 {\na: calc 5\nb: send 8b to +3\nb requires a\n}\n"
	     "rank 3..5 {\nrecv 8b from -3\n}\n");
	assert_int_equal(goal.n_ops, 9);
	for (uint32_t i = 0; i < 3; i++) {
		const struct goal_rank *r = &goal.rank[i];

		assert_int_equal(r->n_ops, 2);
		assert_int_equal(goal_peer(&goal, r, &r->op[1]), i + 3);
		assert_int_equal(r->op[1].needs, 1);
		assert_int_equal(r->edge[0], 2);
		assert_int_equal(r->op[1].line, 4);
		/* long blocks of many ranks are kept once */
		assert_ptr_equal(r->op, goal.rank[0].op);
		assert_ptr_equal(r->edge, goal.rank[0].edge);
		assert_int_equal(goal_peer(&goal, &goal.rank[i + 3],
					 goal.rank[i + 3].op),
			i);
	}
	goal_free(&goal);
}

static void the_group_of_a_block_depends_on_the_rank(void **state)
{
	const struct algo_group *g;

	good("num_ranks 8\nrank 0..7 {\n"
	     "allreduce 64b algo ring members 2 stride 2\n}\n");
	assert_int_equal(goal.colls->n_groups, 4);
	for (uint32_t i = 0; i < 8; i++) {
		g = &goal.colls->group[goal_coll_of(&goal, goal.rank[i].op)
					       ->group];
		assert_int_equal(g->n, 2);
		assert_int_equal(algo_group_rank(g, 0), i / 4 * 4 + i % 2);
		assert_int_equal(algo_group_rank(g, 1), i / 4 * 4 + i % 2 + 2);
	}
	assert_int_equal(goal_number_colls(&goal, "x", &err), 0);
	goal_free(&goal);
}

static void a_block_that_does_not_fit_its_ranks_is_refused(void **state)
{
	bad("num_ranks 2\nrank 0..2 {\n}\n", "x:2: want a rank from 0 to 1");
	bad("num_ranks 2\nrank 1..0 {\n}\n", "want a rank");
	bad("num_ranks 2\nrank 0..1x {\n}\n", "want a rank");
	bad("num_ranks 2\nrank 0..1 {\nsend 8b to +1\n}\n",
		"x:3: rank 1 has no peer +1");
	bad("num_ranks 2\nrank 0..1 {\nsend 8b to -1\n}\n",
		"x:3: rank 0 has no peer -1");
	bad("num_ranks 2\nrank 1 {\n}\nrank 0..1 {\n}\n",
		"rank 1 is defined twice");
	bad("num_ranks 6\nrank 0..5 {\n"
	    "allreduce 8b algo ring members 4 stride 1\n}\n",
		"x:3: group: no rank 7");
	bad("num_ranks 2\nrank 0..1 {\nallreduce 8b algo ring members 2\n}\n",
		"want a stride");
	bad("num_ranks 2\nrank 0..1 {\n"
	    "broadcast 8b algo ring members 2 stride 1\n}\n",
		"has the root");
}

/* --- the binary form --- */

enum { ROOM = 4096 };

static size_t write_to(char *bytes, bool is_binary)
{
	FILE *f = fmemopen(bytes, ROOM, "w");
	long n;

	assert_non_null(f);
	goal_write(&goal, is_binary, f);
	n = ftell(f);
	fclose(f);
	assert_true(n > 0 && n < ROOM);
	return (size_t)n;
}

static void both_forms_say_the_same(void **state)
{
	char binary[ROOM], text[ROOM], again[ROOM];
	size_t n, m;
	FILE *f;

	good(TWO "a: send 4096b to 1 tag 7 cpu 3\nb: calc 12\nc: calc 5 nic 2\n"
		 "b requires a\nc irequires a\n}\n"
		 "rank 1 {\nrecv 5000b from 0 tag 7\n}\n");
	m = write_to(text, false);
	n = write_to(binary, true);
	goal_free(&goal);
	f = fmemopen(binary, n, "r");
	assert_int_equal(goal_read_file(&goal, f, "x", &err), 0);
	fclose(f);
	assert_true(goal.is_binary);
	assert_int_equal(write_to(again, false), m);
	assert_memory_equal(again, text, m);
	goal_free(&goal);
}

static void a_binary_file_that_was_cut_is_refused(void **state)
{
	char binary[ROOM];
	size_t n;

	good(TWO "a: calc 12\nb: calc 5\nb requires a\n}\n");
	n = write_to(binary, true);
	goal_free(&goal);
	for (size_t i = 1; i < n; i++) {
		FILE *f = fmemopen(binary, i, "r");

		err = (struct err){ 0 };
		assert_int_not_equal(goal_read_file(&goal, f, "x", &err), 0);
		assert_non_null(strstr(err.text, "x"));
		fclose(f);
	}
}

TESTS(TEST(operations_have_their_words), TEST(edges_lead_to_who_waits),
	TEST(ranks_may_be_empty_and_in_any_order),
	TEST(words_that_are_wrong_are_named_with_their_line),
	TEST(what_waits_for_itself_is_refused),
	TEST(sends_and_receives_must_be_as_many),
	TEST(a_receive_must_have_room), TEST(a_message_is_described_in_words),
	TEST(a_block_is_that_of_each_of_its_ranks),
	TEST(the_group_of_a_block_depends_on_the_rank),
	TEST(a_block_that_does_not_fit_its_ranks_is_refused),
	TEST(both_forms_say_the_same),
	TEST(a_binary_file_that_was_cut_is_refused))
