#include "outside/window.h"

#include <errno.h>
#include <string.h>

#include "testing/testing.h"

#define MIB (UINT64_C(1) << 20)

/* A rank's memory: a byte is the sum of its address's; only what lies between
 * two addresses is there. */
struct rank {
	uint64_t from, end;
	uint64_t written, n_writes;
};

static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at + (at >> 8) + (at >> 16) + (at >> 32));
}

static bool is_there(const struct rank *r, uint64_t at, size_t n)
{
	return at >= r->from && at + n <= r->end;
}

static bool rank_read(void *arg, uint64_t at, void *to, size_t n)
{
	uint8_t *out = to;

	for (size_t i = 0; i < n; i++)
		out[i] = byte_at(at + i);
	return is_there(arg, at, n);
}

static bool rank_write(void *arg, uint64_t at, const void *from, size_t n)
{
	struct rank *r = arg;

	(void)from;
	r->written = at;
	r->n_writes++;
	return is_there(arg, at, n);
}

struct kit {
	struct memory memory;
	struct window window;
	struct rank rank;
};

static void set_up(struct kit *k, uint64_t from, uint64_t end)
{
	const struct memory_foreign f = { rank_read, rank_write, &k->rank };

	*k = (struct kit){ .rank = { .end = UINT64_MAX } };
	memory_init(&k->memory, 1024 * MIB);
	window_init(&k->window, &k->memory, from, end, &f);
}

static void tear_down(struct kit *k)
{
	window_fini(&k->window);
	assert_false(memory_has_region(&k->memory, 0, 1024 * MIB));
	memory_fini(&k->memory);
}

static uint64_t take(struct kit *k, uint64_t at, uint64_t bytes, uint32_t *run)
{
	assert_int_equal(window_take(&k->window, bytes, &at, run), 0);
	return at;
}

static void a_ranks_bytes_are_those_of_its_node(void **state)
{
	uint64_t buffer = 0x7fffdeadbe00, at;
	uint8_t bytes[600];
	struct kit k;
	uint32_t run;

	set_up(&k, MIB, 512 * MIB);
	at = take(&k, buffer, sizeof(bytes), &run);
	assert_true(at >= MIB && at + sizeof(bytes) <= 512 * MIB);
	assert_true(
		memory_read(&k.memory, MEMORY_NIC, at, bytes, sizeof(bytes)));
	for (uint64_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], byte_at(buffer + i));
	assert_true(memory_write(&k.memory, MEMORY_NIC, at + 8, bytes, 8));
	assert_true(k.rank.written == buffer + 8);
	tear_down(&k);
}

/* MPI-F3. */
static void a_buffer_keeps_its_address_and_its_neighbours_are_next_to_it(
	void **state)
{
	uint64_t buffer = 0x555555600000, at;
	uint32_t run, other;
	struct kit k;

	set_up(&k, 0, 512 * MIB);
	at = take(&k, buffer, 100, &run);
	assert_true(at);
	window_give(&k.window, run);
	assert_true(take(&k, buffer + 4096, 9999, &other) == at + 4096);
	assert_int_equal(other, run);
	assert_true(take(&k, 0x7ffff7a00000, 64, &other) != at);
	assert_true(other != run);
	assert_true(take(&k, buffer, 100, &other) == at);
	tear_down(&k);
}

static void a_buffer_over_several_blocks_is_in_one_piece(void **state)
{
	uint64_t at, buffer;
	uint8_t bytes[16];
	uint32_t run;
	struct kit k;

	set_up(&k, 0, 512 * MIB);
	buffer = 7 * k.window.block - 8;
	at = take(&k, buffer, 3 * k.window.block, &run);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t from = i * k.window.block;

		assert_true(memory_read(&k.memory, MEMORY_NIC, at + from, bytes,
			sizeof(bytes)));
		assert_int_equal(bytes[15], byte_at(buffer + from + 15));
	}
	tear_down(&k);
}

/* MPI-F3. */
static void what_is_held_stays_and_the_oldest_of_the_rest_goes(void **state)
{
	uint64_t at = 0, first, n = 0;
	uint32_t run, kept;
	struct kit k;

	set_up(&k, 0, 64 * MIB);
	first = take(&k, 0, 1, &kept);
	/* many more blocks than fit */
	for (uint64_t i = 1; i < 500; i++, n += at == first) {
		at = take(&k, i * k.window.block, 1, &run);
		window_give(&k.window, run);
	}
	assert_int_equal(n, 0);
	assert_true(take(&k, 0, 1, &run) == first);
	/* the last one is there, too */
	assert_true(take(&k, 499 * k.window.block, 1, &run) == at);
	tear_down(&k);
}

/* MPI-F3. */
static void what_is_used_again_and_again_stays(void **state)
{
	uint64_t first, at;
	uint32_t run;
	struct kit k;

	set_up(&k, 0, 64 * MIB);
	first = take(&k, 0, 1, &run);
	window_give(&k.window, run);
	for (uint64_t i = 1; i < 500; i++) {
		at = take(&k, i * k.window.block, 1, &run);
		window_give(&k.window, run);
		assert_true(at != first);
		assert_true(take(&k, 0, 1, &run) == first);
		window_give(&k.window, run);
	}
	tear_down(&k);
}

/* MPI-F3. */
static void what_does_not_fit_is_refused(void **state)
{
	uint64_t at = UINT64_MAX - 10;
	uint32_t run, n = 0;
	struct kit k;

	set_up(&k, 0, 64 * MIB);
	assert_int_equal(window_take(&k.window, 11, &at, &run), EFAULT);
	at = 0;
	assert_int_equal(window_take(&k.window, 65 * MIB, &at, &run), ENOMEM);
	assert_int_equal(window_take(&k.window, UINT64_MAX, &at, &run), ENOMEM);
	for (; !window_take(&k.window, 1, &at, &run); n++)
		at = (n + 1) * k.window.block;
	assert_true(n >= 31 && n <= WINDOW_RUNS);
	at = 0;
	assert_int_equal(window_take(&k.window, 1, &at, &run), 0);
	tear_down(&k);
}

static void bytes_that_a_rank_does_not_have_are_refused(void **state)
{
	uint8_t bytes[8] = { 0 };
	uint32_t run;
	uint64_t at;
	struct kit k;

	set_up(&k, 0, 512 * MIB);
	k.rank = (struct rank){ .from = 0x1000, .end = 0x2000 };
	at = take(&k, 0x1000, 0x1008, &run);
	assert_true(memory_read(&k.memory, MEMORY_NIC, at + 0xff8, bytes, 8));
	assert_false(memory_read(&k.memory, MEMORY_NIC, at + 0x1000, bytes, 8));
	assert_false(
		memory_write(&k.memory, MEMORY_NIC, at + 0x1000, bytes, 8));
	tear_down(&k);
}

/* Each piece is read where it is, and the region ends with its hold. MPI-F3. */
static void pieces_follow_each_other(void **state)
{
	const struct channel_piece piece[3] = { { 5 * MIB, 100 },
		{ 9 * MIB, 0 }, { 70 * MIB + 3, 5000 } };
	const struct channel_piece wrong = { UINT64_MAX - 5, 100 };
	uint64_t at = 0;
	uint8_t got[200];
	uint32_t run;
	struct kit k;

	set_up(&k, 0, 512 * MIB);
	assert_int_equal(window_take_pieces(&k.window, piece, 3, &at, &run), 0);
	assert_true(memory_read(&k.memory, MEMORY_NIC, at + 50, got, 200));
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(
			got[i], byte_at(i < 50 ? 5 * MIB + 50 + i
					       : 70 * MIB + 3 + i - 50));
	assert_true(memory_write(&k.memory, MEMORY_NIC, at + 100, got, 8));
	assert_int_equal(k.rank.written, 70 * MIB + 3);
	/* there is nothing behind the last */
	assert_false(memory_read(&k.memory, MEMORY_NIC, at + 5000, got, 200));
	window_give(&k.window, run);
	assert_false(memory_has_region(&k.memory, at, 1));
	assert_int_equal(
		window_take_pieces(&k.window, &wrong, 1, &at, &run), EFAULT);
	window_fini(&k.window);
	memory_fini(&k.memory);
}

TESTS(TEST(a_ranks_bytes_are_those_of_its_node),
	TEST(a_buffer_keeps_its_address_and_its_neighbours_are_next_to_it),
	TEST(a_buffer_over_several_blocks_is_in_one_piece),
	TEST(what_is_held_stays_and_the_oldest_of_the_rest_goes),
	TEST(what_is_used_again_and_again_stays),
	TEST(what_does_not_fit_is_refused),
	TEST(bytes_that_a_rank_does_not_have_are_refused),
	TEST(pieces_follow_each_other))
