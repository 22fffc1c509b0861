/* The memory of this process plays that of the rank, a thread its library. */
#define _GNU_SOURCE /* process_vm_readv() */
#include "outside/reach.h"

#include <pthread.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "testing/testing.h"

enum { BYTES = 100000, PACKET = 500 };

struct kit {
	struct handover h;
	struct reach r;
	pthread_t rank;
	uint8_t memory[BYTES], seen[BYTES];
	_Atomic bool is_over;
};

static uint64_t at(const struct kit *k, uint64_t offset)
{
	return (uint64_t)(uintptr_t)&k->memory[offset];
}

/* Bytes that the rank has: those of its memory. */
static bool has(const struct kit *k, const struct channel *c)
{
	return c->copy_at >= at(k, 0) && c->copy_at < at(k, BYTES) &&
	       c->copy_bytes <= at(k, BYTES) - c->copy_at;
}

/* Copies when it is asked to. */
static void *copies(void *arg)
{
	struct kit *k = arg;
	struct channel *c = k->h.channel;

	for (;;) {
		void *own = (void *)(uintptr_t)c->copy_at;
		uint32_t what = c->copy;

		c->copy = CHANNEL_NO_COPY;
		if (k->is_over)
			return NULL;
		if (!has(k, c))
			c->copy = CHANNEL_NO_BYTES;
		else if (what == CHANNEL_TO_ROOM)
			memcpy(c->room, own, c->copy_bytes);
		else if (what == CHANNEL_FROM_ROOM)
			memcpy(own, c->room, c->copy_bytes);
		handover_cross(c, CHANNEL_WAIT);
	}
}

/* Not where this process is an emulator's. */
static bool can_reach(void)
{
	uint64_t from = 1, to = 0;
	struct iovec its = { &from, sizeof(from) }, mine = { &to, sizeof(to) };

	return process_vm_readv(getpid(), &mine, 1, &its, 1, 0) > 0;
}

static struct kit *set_up(bool by_channel)
{
	const struct handover_place place = { .n_ranks = 1 };
	struct kit *k = test_malloc(sizeof(*k));
	struct err e = { 0 };

	memset(k, 0, sizeof(*k));
	assert_int_equal(handover_open(&k->h, &place, &e), 0);
	for (uint32_t i = 0; i < BYTES; i++)
		k->memory[i] = (uint8_t)(i * 7 + i / 256);
	reach_init(&k->r, &k->h, getpid(), by_channel);
	assert_int_equal(k->r.by_channel, by_channel || !can_reach());
	if (k->r.by_channel)
		assert_int_equal(pthread_create(&k->rank, NULL, copies, k), 0);
	else
		atomic_store(&k->h.channel->turn, CHANNEL_SIM);
	return k;
}

static void tear_down(struct kit *k)
{
	if (k->r.by_channel) {
		handover_settle(&k->h, -1);
		k->is_over = true;
		handover_kick(&k->h, 0, false);
		pthread_join(k->rank, NULL);
	}
	reach_fini(&k->r);
	handover_close(&k->h);
	test_free(k);
}

static void read_packets(struct kit *k)
{
	for (uint32_t i = 0; i < BYTES; i += PACKET)
		assert_true(reach_read(&k->r, at(k, i), k->seen + i, PACKET));
}

static void check_reads(bool by_channel)
{
	struct kit *k = set_up(by_channel);
	uint8_t word[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

	read_packets(k);
	assert_memory_equal(k->seen, k->memory, BYTES);
	/* what was written meanwhile is read, though the rank has it not */
	assert_true(reach_read(&k->r, at(k, 0), k->seen, PACKET));
	assert_true(reach_read(&k->r, at(k, PACKET), k->seen, PACKET));
	assert_true(reach_write(&k->r, at(k, 2 * PACKET), word, sizeof(word)));
	assert_true(reach_read(&k->r, at(k, 2 * PACKET), k->seen, PACKET));
	assert_memory_equal(k->seen, word, sizeof(word));
	assert_memory_equal(k->memory + 2 * PACKET, word, sizeof(word));
	tear_down(k);
}

static void reads_are_right_also_where_bytes_are_read_ahead(void **state)
{
	check_reads(false);
	check_reads(true);
}

static void nothing_is_kept_while_the_rank_runs(void **state)
{
	struct kit *k = set_up(false);

	read_packets(k);
	reach_give(&k->r);
	memset(k->memory, 9, BYTES);
	read_packets(k);
	assert_memory_equal(k->seen, k->memory, BYTES);
	tear_down(k);
}

static void check_writes(bool by_channel)
{
	struct kit *k = set_up(by_channel);

	memset(k->seen, 5, BYTES);
	/* more than is gathered, and more than the room of a channel */
	assert_true(reach_write(&k->r, at(k, 0), k->seen, BYTES));
	assert_memory_equal(k->memory, k->seen, BYTES);
	memset(k->seen, 6, BYTES);
	for (uint32_t i = 0; i < BYTES; i += PACKET)
		assert_true(reach_write(&k->r, at(k, i), k->seen + i, PACKET));
	read_packets(k);
	for (uint32_t i = 0; i < BYTES; i++)
		assert_int_equal(k->seen[i], 6);
	tear_down(k);
}

static void writes_of_any_length_arrive(void **state)
{
	check_writes(false);
	check_writes(true);
}

static void bytes_that_a_rank_does_not_have_are_refused(void **state)
{
	for (int by_channel = 0; by_channel < 2; by_channel++) {
		struct kit *k = set_up(by_channel);

		assert_false(reach_read(&k->r, 8, k->seen, 8));
		assert_false(reach_write(&k->r, 8, k->seen, BYTES));
		assert_true(reach_read(&k->r, at(k, 0), k->seen, 8));
		tear_down(k);
	}
}

/* Short messages lie in the room until they are executed. */
static void the_room_outlasts_a_copy(void **state)
{
	struct kit *k = set_up(true);
	uint8_t byte = 0;

	handover_settle(&k->h, -1);
	k->h.channel->room[77] = 42;
	read_packets(k);
	assert_true(handover_load(&k->h, 77, &byte, 1));
	assert_int_equal(byte, 42);
	tear_down(k);
}

TESTS(TEST(reads_are_right_also_where_bytes_are_read_ahead),
	TEST(nothing_is_kept_while_the_rank_runs),
	TEST(writes_of_any_length_arrive),
	TEST(bytes_that_a_rank_does_not_have_are_refused),
	TEST(the_room_outlasts_a_copy))
