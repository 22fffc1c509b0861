/* Memory of other ranks, on every machine. */
#include <errno.h>
#include <string.h>

#include "outside/combine.h"
#include "testing/endpoint_testing.h"
#include "testing/testing.h"

enum {
	MINE = 4096,
	THEIRS = 1 << 20,
	COUNTERS = 1 << 19,
	MANY = 100,
	LONG = 100000
};

#define BOTH (REGISTRY_READ | REGISTRY_WRITE)

static void fill(uint8_t *at, uint64_t stream, uint64_t n)
{
	memory_fill_by(3, stream, 0, at, n);
}

static bool is_filled(const uint8_t *at, uint64_t stream, uint64_t n)
{
	return memory_is_by(3, stream, 0, at, n);
}

static uint32_t next_of(const struct endpoint_test_rank *r)
{
	return (r->rank + 1) % r->n_ranks;
}

static uint32_t prev_of(const struct endpoint_test_rank *r)
{
	return (r->rank + r->n_ranks - 1) % r->n_ranks;
}

/* --- puts and gets --- */

static const uint64_t sizes[] = { 0, 1, 8, 61, 512, 513, 4097, 40000 };

enum { SIZES = sizeof(sizes) / sizeof(*sizes) };

/* Says to the next rank that it may look, and waits for the previous one. */
static void pass_on(struct endpoint_test_rank *r)
{
	const struct channel_command s = { .kind = CHANNEL_SEND,
		.flags = CHANNEL_SILENT,
		.rank = next_of(r) };
	const struct channel_command c = { .kind = CHANNEL_RECEIVE,
		.rank = prev_of(r) };

	endpoint_test_begin(r, s);
	assert_int_equal(endpoint_test_do(r, c).error, 0);
}

/* Whoever hears of it afterwards finds what is delivered. */
static void put(struct endpoint_test_rank *r)
{
	endpoint_test_open(r, BOTH, 0);
	for (uint32_t i = 0; i < SIZES; i++) {
		uint64_t there = THEIRS + 50000 * i + 5 * i;
		struct channel_completion c;

		fill(r->memory + MINE + 3, 10 * r->rank + i, sizes[i]);
		c = endpoint_test_do(
			r, endpoint_test_transfer(CHANNEL_WRITE, next_of(r),
				   there, MINE + 3, sizes[i]));
		assert_int_equal(c.error, 0);
		assert_int_equal(c.context, 5);
		assert_int_equal(c.kind, CHANNEL_WRITE);
		pass_on(r);
		assert_true(is_filled(
			r->memory + there, 10 * prev_of(r) + i, sizes[i]));
		c = endpoint_test_do(
			r, endpoint_test_transfer(CHANNEL_READ, next_of(r),
				   there, 2 * THEIRS, sizes[i]));
		assert_int_equal(c.error, 0);
		assert_true(is_filled(
			r->memory + 2 * THEIRS, 10 * r->rank + i, sizes[i]));
	}
}

static void bytes_are_put_and_got(void **state)
{
	endpoint_test_everywhere(put, NULL, 1);
}

/* To all ranks, and more at a time than words. */
static void put_many(struct endpoint_test_rank *r)
{
	endpoint_test_open(r, BOTH, 0);
	fill(r->memory + MINE, r->rank, 8 * MANY);
	for (uint32_t i = 0; i < MANY; i++) {
		struct channel_command c = endpoint_test_transfer(CHANNEL_WRITE,
			i % r->n_ranks, THEIRS + 8 * (MANY * r->rank + i),
			MINE + 8 * i, 8);

		c.flags = i % 3 ? 0 : CHANNEL_DELIVERED;
		endpoint_test_begin(r, c);
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(endpoint_test_next(r).error, 0);
	endpoint_test_barrier(r);
	/* those that have not ended everywhere when they were told */
	program_charge(50 * US);
	endpoint_step(&r->e);
	endpoint_test_barrier(r);
	for (uint32_t i = 0; i < MANY; i++)
		endpoint_test_begin(
			r, endpoint_test_transfer(CHANNEL_READ, i % r->n_ranks,
				   THEIRS + 8 * (MANY * r->rank + i),
				   2 * THEIRS + 8 * i, 8));
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(endpoint_test_next(r).error, 0);
	assert_true(is_filled(r->memory + 2 * THEIRS, r->rank, 8 * MANY));
}

static void more_than_there_is_room_for_waits(void **state)
{
	endpoint_test_everywhere(put_many, NULL, 2);
}

/* Several pieces. */
static void put_pieces(struct endpoint_test_rank *r)
{
	struct channel_piece piece[3] = {
		{ ENDPOINT_TEST_AT + MINE, 5000 },
		{ ENDPOINT_TEST_AT + 9 * MINE, 0 },
		{ ENDPOINT_TEST_AT + 3 * MINE, 7001 },
	};
	const struct channel_command v = { .kind = CHANNEL_VECTOR_OF,
		.flags = CHANNEL_IN_ROOM,
		.n = 3,
		.bytes = sizeof(piece) };
	struct channel_command c = endpoint_test_transfer(
		CHANNEL_WRITE, next_of(r), THEIRS, 0, 12001);
	uint8_t all[12001];

	fill(all, 40 + r->rank, sizeof(all));
	memcpy(r->memory + MINE, all, 5000);
	memcpy(r->memory + 3 * MINE, all + 5000, 7001);
	memcpy(r->room, piece, sizeof(piece));
	endpoint_test_open(r, BOTH, 0);
	endpoint_test_begin(r, v);
	assert_int_equal(endpoint_test_do(r, c).error, 0);
	/* and back into others */
	piece[0].at += 100 * MINE;
	piece[2].at += 100 * MINE;
	memcpy(r->room, piece, sizeof(piece));
	c.kind = CHANNEL_READ;
	endpoint_test_begin(r, v);
	assert_int_equal(endpoint_test_do(r, c).error, 0);
	assert_memory_equal(r->memory + 101 * MINE, all, 5000);
	assert_memory_equal(r->memory + 103 * MINE, all + 5000, 7001);
	/* their sum is another one, there are too many, or none */
	c.bytes++;
	endpoint_test_begin(r, v);
	assert_int_equal(endpoint_test_do(r, c).error, EINVAL);
	endpoint_test_begin(
		r, (struct channel_command){ .kind = CHANNEL_VECTOR_OF,
			   .flags = CHANNEL_IN_ROOM,
			   .n = CHANNEL_VECTOR + 1 });
	assert_int_equal(endpoint_test_do(r, c).error, EINVAL);
}

static void buffers_can_be_several_pieces(void **state)
{
	endpoint_test_everywhere(put_pieces, NULL, 3);
}

/* --- who may --- */

static void refuse(struct endpoint_test_rank *r, struct channel_command c)
{
	sim_time t = program_now();

	assert_int_equal(endpoint_test_do(r, c).error, EACCES);
	assert_true(program_now() > t);
}

static void break_in(struct endpoint_test_rank *r)
{
	struct channel_command c = endpoint_test_transfer(
		CHANNEL_WRITE, next_of(r), THEIRS, MINE, 100);
	struct channel_command read = endpoint_test_transfer(
		CHANNEL_READ, next_of(r), THEIRS, MINE, 100);

	endpoint_test_open(r, REGISTRY_WRITE, 0);
	refuse(r, read);
	c.ignore++;
	refuse(r, c);
	c.ignore--;
	c.tag = ENDPOINT_TEST_BYTES - 99;
	refuse(r, c);
	c.tag = UINT64_MAX - 5;
	refuse(r, c);
	c.tag = THEIRS;
	c.rank = r->n_ranks;
	assert_int_equal(endpoint_test_do(r, c).error, EHOSTUNREACH);
	/* bytes that are read have no place in the room */
	read.flags |= CHANNEL_IN_ROOM;
	assert_int_equal(endpoint_test_do(r, read).error, EINVAL);
	c.rank = next_of(r);
	c.at = ENDPOINT_TEST_AT + ENDPOINT_TEST_BYTES * 4096;
	c.bytes = UINT64_MAX - 4096;
	assert_int_equal(endpoint_test_do(r, c).error, EFAULT);
	/* one that it ends itself */
	endpoint_test_barrier(r);
	c = (struct channel_command){ .kind = CHANNEL_UNREGISTER,
		.ignore = ENDPOINT_TEST_KEY };
	assert_int_equal(endpoint_test_do(r, c).error, 0);
	assert_int_equal(r->e.n_given, 0);
	assert_int_equal(endpoint_test_do(r, c).error, EINVAL);
	endpoint_test_barrier(r);
	c = endpoint_test_transfer(
		CHANNEL_WRITE, next_of(r), THEIRS, MINE, 100);
	refuse(r, c);
}

static void keys_bounds_and_rights_are_checked(void **state)
{
	endpoint_test_everywhere(break_in, NULL, 4);
}

/* A key of its own; the owner ends it while bytes are under way. */
static void end_early(struct endpoint_test_rank *r)
{
	struct channel_command c = endpoint_test_transfer(
		CHANNEL_WRITE, next_of(r), 0, MINE, LONG);
	struct channel_completion done[2];

	endpoint_test_open(r, BOTH, 0);
	fill(r->memory + MINE, r->rank, LONG);
	c.tag = THEIRS;
	endpoint_test_begin(r, c);
	endpoint_test_barrier(r);
	endpoint_test_begin(
		r, (struct channel_command){ .kind = CHANNEL_UNREGISTER,
			   .ignore = ENDPOINT_TEST_KEY });
	for (uint32_t i = 0; i < 2; i++) {
		done[i] = endpoint_test_next(r);
		assert_int_equal(done[i].error, 0);
	}
	endpoint_test_barrier(r);
	assert_true(is_filled(r->memory + THEIRS, prev_of(r), LONG));
	/* the hold goes with the next one */
	program_charge(1 * US);
	c = (struct channel_command){
		.kind = CHANNEL_REGISTER, .at = ENDPOINT_TEST_AT, .bytes = 100
	};
	done[0] = endpoint_test_do(r, c);
	assert_int_equal(done[0].error, 0);
	assert_int_equal(done[0].data, 1);
	assert_int_equal(r->window.run[0]->holds, 1);
}

static void a_region_lasts_until_nothing_can_reach_it(void **state)
{
	endpoint_test_everywhere(end_early, NULL, 5);
}

/* --- what the other learns --- */

static void notify(struct endpoint_test_rank *r)
{
	struct channel_command c = endpoint_test_transfer(
		CHANNEL_WRITE, next_of(r), THEIRS, MINE, 3000);
	struct channel_completion x, told;

	endpoint_test_open(r, BOTH, 0);
	fill(r->memory + MINE, r->rank, 3000);
	c.flags |= CHANNEL_HAS_DATA;
	c.endpoint = 2;
	c.to = 3;
	c.data = ~(uint64_t)r->rank;
	endpoint_test_begin(r, c);
	told = endpoint_test_next(r);
	x = endpoint_test_next(r);
	if (x.flags & CHANNEL_REMOTE) {
		struct channel_completion other = told;

		told = x;
		x = other;
	}
	assert_int_equal(x.context, 5);
	assert_int_equal(told.flags, CHANNEL_REMOTE | CHANNEL_HAS_DATA);
	assert_int_equal(told.kind, CHANNEL_WRITE);
	assert_int_equal(told.rank, prev_of(r));
	assert_int_equal(told.endpoint, 3);
	assert_int_equal(told.from_endpoint, 2);
	assert_int_equal(told.bytes, 3000);
	assert_int_equal(told.tag, ENDPOINT_TEST_KEY);
	assert_true(told.data == ~(uint64_t)prev_of(r));
	assert_true(is_filled(r->memory + THEIRS, prev_of(r), 3000));
}

static void a_write_with_data_is_told_behind_its_bytes(void **state)
{
	endpoint_test_everywhere(notify, NULL, 6);
}

/* Every access: a read, an atomic, a write. */
static void watch(struct endpoint_test_rank *r)
{
	struct channel_command c = endpoint_test_transfer(
		CHANNEL_READ, next_of(r), THEIRS, MINE, 8);
	uint32_t seen[CHANNEL_KINDS] = { 0 }, n_own = 0;

	endpoint_test_open(r, BOTH, CHANNEL_REMOTE);
	endpoint_test_begin(r, c);
	c.kind = CHANNEL_WRITE;
	endpoint_test_begin(r, c);
	c.op = COMBINE_INT64 << 8 | COMBINE_SUM;
	c.at = 0;
	endpoint_test_atomic(r, c, 0, 0);
	c.op = COMBINE_INT16 << 8 | COMBINE_SUM;
	endpoint_test_atomic(r, c, 0, 0);
	for (uint32_t i = 0; i < 8; i++) {
		struct channel_completion x = endpoint_test_next(r);

		assert_int_equal(x.error, 0);
		if (x.flags & CHANNEL_REMOTE)
			seen[x.kind]++;
		else
			n_own++;
	}
	assert_int_equal(n_own, 4);
	assert_int_equal(seen[CHANNEL_READ], 1);
	assert_int_equal(seen[CHANNEL_WRITE], 1);
	assert_int_equal(seen[CHANNEL_ATOMIC], 2);
}

static void owners_can_be_told_of_every_access(void **state)
{
	endpoint_test_everywhere(watch, NULL, 7);
}

/* --- atomics --- */

enum { ROUNDS = 6 };

struct counters {
	int64_t words, swapped;
	int16_t small[4];
	double sum[2];
	int32_t number; /* every value is taken once */
};

static struct channel_command atomic_at(
	uint32_t type, uint32_t op, uint64_t offset, uint64_t bytes)
{
	return (struct channel_command){ .op = (uint16_t)(type << 8 | op),
		.tag = COUNTERS + offset,
		.bytes = bytes,
		.context = 6 };
}

/* Of all ranks, on rank 0's counters at once. */
static void count(struct endpoint_test_rank *r)
{
	const int16_t small[4] = { 1, 2, 3, 4 };
	struct counters *c = (struct counters *)(r->memory + COUNTERS);
	const double halves[2] = { 0.5, 0.25 };
	uint32_t most = 0, value;

	endpoint_test_open(r, BOTH, 0);
	memcpy(r->room, &(int64_t){ 3 }, 8);
	memcpy(r->room + 8, small, sizeof(small));
	memcpy(r->room + 16, halves, sizeof(halves));
	memcpy(r->room + 32, &(int32_t){ 1 }, 4);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct channel_command x = atomic_at(COMBINE_INT64, COMBINE_SUM,
			offsetof(struct counters, words), 8);

		endpoint_test_atomic(r, x, 0, 0);
		x = atomic_at(COMBINE_INT16, COMBINE_SUM,
			offsetof(struct counters, small), 8);
		x.at = 8;
		endpoint_test_atomic(r, x, 0, 0);
		x = atomic_at(COMBINE_DOUBLE, COMBINE_SUM,
			offsetof(struct counters, sum), 16);
		x.at = 16;
		endpoint_test_atomic(r, x, 0, 0);
		x = atomic_at(COMBINE_INT32, COMBINE_SUM,
			offsetof(struct counters, number), 4);
		x.at = 32;
		endpoint_test_atomic(r, x, 64, 0);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(endpoint_test_next(r).error, 0);
		memcpy(&value, r->memory + 64, 4);
		assert_true(!i || value > most);
		most = value;
	}
	endpoint_test_barrier(r);
	if (r->rank)
		return;
	assert_int_equal(c->words, 3 * ROUNDS * r->n_ranks);
	assert_int_equal(c->number, ROUNDS * r->n_ranks);
	for (uint32_t k = 0; k < 4; k++)
		assert_int_equal(
			c->small[k], (uint32_t)small[k] * ROUNDS * r->n_ranks);
	assert_true(c->sum[0] == 0.5 * ROUNDS * r->n_ranks);
	assert_true(c->sum[1] == 0.25 * ROUNDS * r->n_ranks);
}

static void atomics_of_all_ranks_exclude_each_other(void **state)
{
	endpoint_test_everywhere(count, NULL, 8);
}

/* A lock: whoever swaps 0 for its number has it. */
static void lock(struct endpoint_test_rank *r)
{
	struct channel_command x = atomic_at(COMBINE_UINT64, COMBINE_CSWAP,
		offsetof(struct counters, swapped), 8);
	struct channel_command add =
		endpoint_test_transfer(CHANNEL_READ, 0, COUNTERS, 128, 8);
	uint64_t was;

	endpoint_test_open(r, BOTH, 0);
	memcpy(r->room, &(uint64_t){ r->rank + 1 }, 8);
	do {
		endpoint_test_atomic(r, x, 64, 96);
		assert_int_equal(endpoint_test_next(r).error, 0);
		memcpy(&was, r->memory + 64, 8);
	} while (was);
	assert_int_equal(endpoint_test_do(r, add).error, 0);
	memcpy(&was, r->memory + 128, 8);
	was++;
	memcpy(r->memory + 128, &was, 8);
	add.kind = CHANNEL_WRITE;
	add.flags = CHANNEL_DELIVERED;
	assert_int_equal(endpoint_test_do(r, add).error, 0);
	/* and gives it back */
	memcpy(r->room, &(uint64_t){ 0 }, 8);
	x.op = COMBINE_UINT64 << 8 | COMBINE_WRITE;
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, 0);
	endpoint_test_barrier(r);
	memcpy(&was, r->memory + COUNTERS, 8);
	assert_true(r->rank || was == r->n_ranks);
}

static void swaps_make_locks(void **state)
{
	endpoint_test_everywhere(lock, NULL, 9);
}

/* More at a time than answers are kept, of up to 4 KiB. */
static void count_many(struct endpoint_test_rank *r)
{
	struct channel_command x =
		atomic_at(COMBINE_FLOAT, COMBINE_SUM, 0, CHANNEL_SHORT);
	const float half = 0.5;
	uint32_t n;
	float sum;

	for (uint32_t i = 0; i < CHANNEL_SHORT; i += 4)
		memcpy(r->room + i, &half, 4);
	endpoint_test_open(r, BOTH, 0);
	for (uint32_t i = 0; i < MANY; i++) {
		x.rank = i % r->n_ranks;
		x.bytes = i % 16 ? 8 : CHANNEL_SHORT;
		endpoint_test_atomic(r, x, THEIRS + i * CHANNEL_SHORT / 2, 0);
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(endpoint_test_next(r).error, 0);
	endpoint_test_barrier(r);
	memcpy(&sum, r->memory + COUNTERS, 4);
	n = (MANY + r->n_ranks - 1 - r->rank) / r->n_ranks;
	assert_true(2 * (double)sum == r->n_ranks * n);
}

static void atomics_wait_for_room(void **state)
{
	endpoint_test_everywhere(count_many, NULL, 10);
}

static void err(struct endpoint_test_rank *r)
{
	struct channel_command x =
		atomic_at(COMBINE_DOUBLE, COMBINE_BAND, 0, 8);

	endpoint_test_open(r, REGISTRY_WRITE, 0);
	x.rank = next_of(r);
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, EOPNOTSUPP);
	x.op = COMBINE_DOUBLE << 8 | COMBINE_SUM;
	x.bytes = 12;
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, EINVAL);
	x.bytes = CHANNEL_SHORT + 8;
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, EINVAL);
	x.bytes = 8;
	endpoint_test_atomic(r, x, 64, 0); /* it may not read */
	assert_int_equal(endpoint_test_next(r).error, EACCES);
	x.op = COMBINE_DOUBLE << 8 | COMBINE_CSWAP;
	endpoint_test_atomic(r, x, 0, 0); /* with nothing to compare */
	assert_int_equal(endpoint_test_next(r).error, EINVAL);
	/* without the second half */
	x.kind = CHANNEL_ATOMIC;
	endpoint_test_begin(r, x);
	endpoint_test_begin(r, (struct channel_command){
				       .kind = CHANNEL_CANCEL, .context = 99 });
	assert_int_equal(endpoint_test_next(r).error, EINVAL);
}

static void wrong_atomics_are_refused(void **state)
{
	endpoint_test_everywhere(err, NULL, 11);
}

/* Some registered memory is not there: only its owner finds out. */
static void err_there(struct endpoint_test_rank *r)
{
	struct channel_command x = atomic_at(COMBINE_INT16, COMBINE_SUM, 0, 8);
	const struct channel_command absent = { .kind = CHANNEL_REGISTER,
		.flags = CHANNEL_HAS_DATA,
		.at = ENDPOINT_TEST_AT + 2 * ENDPOINT_TEST_BYTES,
		.tag = COUNTERS,
		.bytes = 8,
		.ignore = BOTH,
		.data = ENDPOINT_TEST_KEY };
	struct channel_command end = { .kind = CHANNEL_UNREGISTER,
		.ignore = ENDPOINT_TEST_KEY };

	assert_int_equal(endpoint_test_do(r, absent).error, 0);
	endpoint_test_barrier(r);
	x.rank = next_of(r);
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, EFAULT);
	endpoint_test_barrier(r);
	assert_int_equal(endpoint_test_do(r, end).error, 0);
	/* what may only be read is not changed */
	endpoint_test_open(r, REGISTRY_READ, 0);
	endpoint_test_atomic(r, x, 0, 0);
	assert_int_equal(endpoint_test_next(r).error, EACCES);
	x.op = COMBINE_INT16 << 8 | COMBINE_READ;
	endpoint_test_atomic(r, x, 64, 0);
	assert_int_equal(endpoint_test_next(r).error, 0);
}

static void owners_refuse_atomics(void **state)
{
	endpoint_test_everywhere(err_there, NULL, 12);
}

/* --- messages --- */

static void stay(struct endpoint_test_rank *r)
{
	struct channel_command s = { .kind = CHANNEL_SEND,
		.flags = CHANNEL_SILENT,
		.rank = next_of(r),
		.endpoint = 4,
		.to = 1,
		.at = ENDPOINT_TEST_AT + MINE };
	struct channel_command c = { .kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_MULTI,
		.rank = CHANNEL_ANY,
		.endpoint = 1,
		.tag = 1000,
		.at = ENDPOINT_TEST_AT + THEIRS,
		.bytes = 9000,
		.context = 8 };
	static const uint64_t lengths[] = { 10, 3000, 0, 5000, 7 };
	uint64_t filled = 0;

	endpoint_test_begin(r, c);
	for (uint32_t i = 0; i < 5; i++) {
		s.bytes = lengths[i];
		s.at = ENDPOINT_TEST_AT + MINE * (1 + 2 * i);
		fill(r->memory + MINE * (1 + 2 * i), 7 * r->rank + i, s.bytes);
		endpoint_test_begin(r, s);
	}
	for (uint32_t i = 0; i < 4; i++) {
		struct channel_completion x = endpoint_test_next(r);

		assert_int_equal(x.error, 0);
		assert_int_equal(x.bytes, lengths[i]);
		assert_int_equal(x.from_endpoint, 4);
		assert_true(x.at == c.at + filled);
		assert_true(!(x.flags & CHANNEL_RELEASED) == (i < 3));
		assert_true(is_filled(r->memory + THEIRS + filled,
			7 * prev_of(r) + i, lengths[i]));
		filled += lengths[i];
	}
	/* the last needs a receive of its own, from that endpoint */
	c = (struct channel_command){ .kind = CHANNEL_RECEIVE,
		.rank = prev_of(r),
		.endpoint = 1,
		.to = 3,
		.at = ENDPOINT_TEST_AT + THEIRS,
		.bytes = 100,
		.context = 10 };
	endpoint_test_begin(r, c);
	c.to = 4;
	c.context = 11;
	endpoint_test_begin(r, c);
	assert_int_equal(endpoint_test_next(r).context, 11);
	endpoint_test_begin(r,
		(struct channel_command){
			.kind = CHANNEL_CANCEL, .endpoint = 1, .context = 10 });
	assert_int_equal(endpoint_test_next(r).error, ECANCELED);
}

static void receives_can_stay_and_know_the_endpoint(void **state)
{
	endpoint_test_everywhere(stay, NULL, 12);
}

/* Random words, most of them nearly right. */
static void babble(struct endpoint_test_rank *r)
{
	struct channel_completion c;

	endpoint_test_open(r, BOTH, 0);
	r->is_left_open = true;
	for (uint32_t i = 0; i < 300; i++) {
		struct channel_command x;
		uint64_t word[8];

		for (uint32_t k = 0; k < 8; k++)
			word[k] =
				random_draw(19, r->rank, RANDOM_TEST, 8 * i + k)
					.a;
		memcpy(&x, word, sizeof(x));
		x.kind = (uint16_t)(CHANNEL_WRITE +
				    x.kind % (CHANNEL_VECTOR_OF -
						     CHANNEL_WRITE + 1));
		if (i % 8 > 2) {
			x.rank %= r->n_ranks;
			x.bytes %= 10000;
			x.at = ENDPOINT_TEST_AT + x.at % ENDPOINT_TEST_BYTES;
			x.tag %= ENDPOINT_TEST_BYTES;
			x.op = (uint16_t)(x.op % 15 << 8 | x.op / 16 % 20);
			x.ignore = i % 3 ? ENDPOINT_TEST_KEY : x.ignore % 5;
			x.endpoint %= 2;
			x.to %= 2;
			x.n %= 10;
		}
		endpoint_test_begin(r, x);
		endpoint_step(&r->e);
		while (endpoint_next(&r->e, &c))
			;
	}
	/* others may still be at this rank's memory */
	endpoint_finish(&r->e);
	endpoint_test_barrier(r);
	endpoint_test_barrier(r);
}

static void anything_can_be_said(void **state)
{
	endpoint_test_everywhere(babble, NULL, 13);
}

TESTS(TEST(bytes_are_put_and_got), TEST(more_than_there_is_room_for_waits),
	TEST(buffers_can_be_several_pieces),
	TEST(keys_bounds_and_rights_are_checked),
	TEST(a_region_lasts_until_nothing_can_reach_it),
	TEST(a_write_with_data_is_told_behind_its_bytes),
	TEST(owners_can_be_told_of_every_access),
	TEST(atomics_of_all_ranks_exclude_each_other), TEST(swaps_make_locks),
	TEST(atomics_wait_for_room), TEST(wrong_atomics_are_refused),
	TEST(owners_refuse_atomics),
	TEST(receives_can_stay_and_know_the_endpoint),
	TEST(anything_can_be_said))
