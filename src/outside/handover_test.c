/* A thread plays the rank. */
#include "outside/handover.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "testing/testing.h"

enum { TURNS = 2000, LONG = -1 };

static const struct handover_place place = { .rank = 3, .n_ranks = 8 };

static void open_one(struct handover *h)
{
	struct err e = { 0 };

	assert_int_equal(handover_open(h, &place, &e), 0);
}

static pthread_t start(void *(*rank)(void *arg), struct handover *h)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, rank, h->channel), 0);
	return t;
}

/* Sends what it was given, and one more, in a command. */
static void *counts(void *arg)
{
	struct channel *c = arg;

	for (uint32_t i = 0; i < TURNS; i++) {
		c->command[0] = (struct channel_command){
			.context =
				c->n_completions ? c->completion[0].context : 0,
			.data = c->has_more,
		};
		c->n_commands = 1;
		c->clock = c->now + 5;
		handover_cross(c, CHANNEL_FLUSH);
	}
	handover_cross(c, CHANNEL_EXIT);
	return NULL;
}

/* MPI-F1. */
static void turns_alternate_and_nothing_is_lost(void **state)
{
	struct handover_turn t;
	struct handover h;
	pthread_t rank;

	open_one(&h);
	rank = start(counts, &h);
	for (uint32_t i = 0; i < TURNS; i++) {
		const struct channel_completion c = { .context = i + 1 };

		assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_TURN);
		assert_int_equal(t.why, CHANNEL_FLUSH);
		assert_int_equal(t.n_commands, 1);
		assert_int_equal(t.command[0].context, i);
		assert_int_equal(t.command[0].data, i % 2);
		assert_int_equal(t.clock, i ? 10 * i + 5 : 5);
		handover_complete(&h, &c);
		handover_kick(&h, 10 * (i + 1), i % 2 == 0);
	}
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_TURN);
	assert_int_equal(t.why, CHANNEL_EXIT);
	handover_kick(&h, 0, false);
	pthread_join(rank, NULL);
	handover_close(&h);
}

static void a_rank_that_runs_is_waited_for_as_long_as_one_says(void **state)
{
	struct handover_turn t;
	struct handover h;

	open_one(&h);
	assert_int_equal(handover_join(&h, &t, 2), HANDOVER_LATE);
	handover_close(&h);
}

/* Ends a rank while the simulator waits for it. */
static void *ends(void *arg)
{
	struct handover *h = arg;

	nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	handover_gone(h);
	return NULL;
}

/* MPI-F1. */
static void the_end_of_a_rank_ends_the_wait_for_it(void **state)
{
	struct handover_turn t;
	struct handover h;
	pthread_t other;

	open_one(&h);
	assert_int_equal(pthread_create(&other, NULL, ends, &h), 0);
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GONE);
	pthread_join(other, NULL);
	/* also where it ended while it had no turn */
	handover_kick(&h, 1, false);
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GONE);
	handover_close(&h);
}

static void the_last_word_of_a_rank_that_has_ended_counts(void **state)
{
	struct handover_turn t;
	struct handover h;

	open_one(&h);
	h.channel->why = CHANNEL_WAIT;
	atomic_store(&h.channel->turn, CHANNEL_SIM);
	handover_gone(&h);
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_TURN);
	assert_int_equal(t.why, CHANNEL_WAIT);
	handover_kick(&h, 1, false);
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GONE);
	handover_close(&h);
}

/* MPI-F1. */
static void counts_that_are_none_are_garbage(void **state)
{
	struct handover_turn t;
	struct handover h;

	open_one(&h);
	atomic_store(&h.channel->turn, CHANNEL_SIM);
	h.channel->n_commands = CHANNEL_COMMANDS;
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_TURN);
	h.channel->n_commands = CHANNEL_COMMANDS + 1;
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GARBAGE);
	h.channel->n_commands = 0;
	h.channel->why = CHANNEL_WHYS;
	assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GARBAGE);
	/* a turn that is nobody's, of a rank that lives */
	for (uint32_t turn = 2; turn < 5; turn++) {
		atomic_store(&h.channel->turn, turn);
		assert_int_equal(handover_join(&h, &t, LONG), HANDOVER_GARBAGE);
	}
	handover_close(&h);
}

/* MPI-F1. */
static void a_wait_ends_where_the_run_does(void **state)
{
	const atomic_int stop = 1;
	struct handover h;

	open_one(&h);
	assert_false(handover_is_stopped(&h));
	h.stop[1] = &stop;
	assert_true(handover_is_stopped(&h));
	assert_false(handover_settle(&h, -1));
	handover_close(&h);
}

/* A rank may ask for any number of looks. */
static void looks_before_a_sleep_are_limited(void **state)
{
	struct handover_turn t;
	struct handover h;

	open_one(&h);
	h.channel->spins = UINT32_MAX;
	assert_int_equal(handover_join(&h, &t, 1), HANDOVER_LATE);
	handover_close(&h);
}

static void a_channel_is_found_and_cannot_be_cut(void **state)
{
	const struct channel *c;
	struct handover h;

	open_one(&h);
	c = mmap(NULL, CHANNEL_BYTES, PROT_READ, MAP_SHARED, h.file, 0);
	assert_true(c != MAP_FAILED);
	assert_true(c->magic == CHANNEL_MAGIC);
	assert_int_equal(c->version, CHANNEL_VERSION);
	assert_int_equal(c->rank, 3);
	assert_int_equal(c->n_ranks, 8);
	assert_true(ftruncate(h.file, 0) < 0);
	assert_true(ftruncate(h.file, CHANNEL_BYTES + 1) < 0);
	assert_int_equal(munmap((void *)c, CHANNEL_BYTES), 0);
	handover_close(&h);
}

static void pieces_lie_one_behind_the_other_until_the_room_is_full(void **state)
{
	struct channel_piece p;
	uint8_t bytes[1000];
	struct handover h;
	uint32_t n = 0;

	open_one(&h);
	memset(bytes, 7, sizeof(bytes));
	for (; handover_has_room_for(&h, 999); n++)
		handover_store(&h, 64 * n, bytes, 999);
	assert_int_equal(n, CHANNEL_ROOM / 1016);
	assert_false(handover_has_room_for(&h, UINT64_MAX));
	handover_kick(&h, 1, true);
	assert_int_equal(h.channel->n_pieces, n);
	assert_int_equal(h.channel->has_more, 1);
	memcpy(&p, h.channel->room + 1016, sizeof(p));
	assert_int_equal(p.at, 64);
	assert_int_equal(p.bytes, 999);
	/* the next turn begins with an empty one */
	assert_true(handover_has_room_for(&h, CHANNEL_ROOM - sizeof(p)));
	handover_close(&h);
}

/* MPI-F1. */
static void bytes_outside_of_the_room_are_refused(void **state)
{
	uint8_t bytes[16] = { 0 };
	struct handover h;

	open_one(&h);
	h.channel->room[CHANNEL_ROOM - 1] = 9;
	assert_true(handover_load(&h, CHANNEL_ROOM - 16, bytes, 16));
	assert_int_equal(bytes[15], 9);
	assert_false(handover_load(&h, CHANNEL_ROOM - 15, bytes, 16));
	assert_false(handover_load(&h, UINT64_MAX, bytes, 2));
	assert_false(handover_load(&h, 1, bytes, UINT64_MAX));
	handover_close(&h);
}

TESTS(TEST(turns_alternate_and_nothing_is_lost),
	TEST(a_rank_that_runs_is_waited_for_as_long_as_one_says),
	TEST(the_end_of_a_rank_ends_the_wait_for_it),
	TEST(the_last_word_of_a_rank_that_has_ended_counts),
	TEST(counts_that_are_none_are_garbage),
	TEST(a_wait_ends_where_the_run_does),
	TEST(looks_before_a_sleep_are_limited),
	TEST(a_channel_is_found_and_cannot_be_cut),
	TEST(pieces_lie_one_behind_the_other_until_the_room_is_full),
	TEST(bytes_outside_of_the_room_are_refused))
