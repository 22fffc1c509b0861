/* An address space of several ranges, and whose bytes are in them. */
#include <string.h>

#include "base/mem.h"
#include "host/host_testing.h"
#include "host/program.h"
#include "sim/random.h"
#include "testing/testing.h"

#define HOST_END (UINT64_C(1) << 20) /* HOST_TESTING_MEMORY */
#define GPU_AT	 (UINT64_C(1) << 36)
#define GPU_END	 (GPU_AT + (1 << 16))
#define MAP_AT	 (UINT64_C(1) << 40)

/* No core may touch it; the interface may only write. */
static const struct memory_range gpu = {
	.at = GPU_AT,
	.bytes = 1 << 16,
	.kind = MEMORY_OF_DEVICE,
	.rights = MEMORY_MAY_WRITE(MEMORY_NIC) |
		  MEMORY_MAY_READ(MEMORY_DEVICE) |
		  MEMORY_MAY_WRITE(MEMORY_DEVICE),
};

static const struct memory_range mapped = {
	.at = MAP_AT,
	.bytes = 1 << 20,
	.kind = MEMORY_MAPPED,
	.rights = MEMORY_MAY_ALL,
};

/* --- ranges --- */

static void ranges_do_not_meet(void **state)
{
	struct memory_range r = gpu;
	struct memory m;

	memory_init(&m, HOST_END);
	r.at = HOST_END - 1;
	assert_false(memory_add_range(&m, &r));
	r.at = HOST_END;
	assert_true(memory_add_range(&m, &r));
	assert_true(memory_add_range(&m, &gpu));
	r.at = GPU_AT - r.bytes + 1;
	assert_false(memory_add_range(&m, &r));
	r.at = GPU_END - 1;
	assert_false(memory_add_range(&m, &r));
	r.at = GPU_END;
	assert_true(memory_add_range(&m, &r));
	r.bytes = 0;
	assert_false(memory_add_range(&m, &r));
	r.at = UINT64_MAX - 5;
	r.bytes = 6;
	assert_false(memory_add_range(&m, &r));
	r.bytes = 5;
	assert_true(memory_add_range(&m, &r));
	memory_fini(&m);
}

/* Bytes up to both ends, none beyond, and none of two ranges at once. */
static void an_access_lies_in_one_range(void **state)
{
	struct memory_range next = gpu;
	uint8_t bytes[16] = { 1, 2, 3 }, got[16];
	struct memory m;

	memory_init(&m, HOST_END);
	next.at = HOST_END; /* nothing in between */
	assert_true(memory_add_range(&m, &next));
	assert_true(memory_add_range(&m, &gpu));
	assert_true(memory_write(&m, MEMORY_NIC, GPU_AT, bytes, 16));
	assert_true(memory_write(&m, MEMORY_NIC, GPU_END - 16, bytes, 16));
	assert_true(memory_write(&m, MEMORY_NIC, HOST_END - 16, bytes, 16));
	assert_true(memory_write(&m, MEMORY_NIC, HOST_END, bytes, 16));
	assert_false(memory_write(&m, MEMORY_NIC, HOST_END - 8, bytes, 16));
	assert_false(memory_write(&m, MEMORY_NIC, GPU_AT - 1, bytes, 2));
	assert_false(memory_write(&m, MEMORY_NIC, GPU_END - 15, bytes, 16));
	assert_false(memory_write(&m, MEMORY_NIC, GPU_END, bytes, 1));
	assert_int_equal(
		memory_ask(&m, MEMORY_MAY_READ(MEMORY_NIC), HOST_END - 8, 16),
		MEMORY_OUTSIDE);
	assert_true(memory_read(&m, MEMORY_DEVICE, GPU_END - 16, got, 16));
	assert_memory_equal(got, bytes, 16);
	assert_true(memory_read(&m, MEMORY_DEVICE, GPU_AT + 4096, got, 16));
	assert_int_equal(got[0], 0);
	memory_fini(&m);
}

/* Everybody tries everything, on pages that were written and others. */
static void each_has_the_rights_that_the_range_gives(void **state)
{
	static const uint64_t at[] = { GPU_AT, GPU_AT + 8192 };
	struct memory_range r = gpu;

	for (uint32_t rights = 0; rights <= MEMORY_MAY_ALL; rights++) {
		struct memory m;
		uint64_t word = 7;

		memory_init(&m, HOST_END);
		r.rights = rights;
		assert_true(memory_add_range(&m, &r));
		for (uint32_t by = 0; by < 6; by++) {
			enum memory_by who = by % 3;
			bool reads = rights & MEMORY_MAY_READ(who);
			bool writes = rights & MEMORY_MAY_WRITE(who);

			for (uint32_t i = 0; i < 2; i++) {
				assert_int_equal(
					memory_store(&m, who, at[i], 9),
					writes);
				assert_int_equal(
					memory_load(&m, who, at[i], &word),
					reads);
				assert_int_equal(
					memory_ask(&m, MEMORY_MAY_READ(who),
						at[i], 8),
					reads ? MEMORY_OPEN : MEMORY_FORBIDDEN);
				assert_null(memory_place(&m, at[i], 8));
				assert_null(memory_stored(&m, at[i], 8));
			}
		}
		assert_true(memory_store(&m, MEMORY_CORE, 64, 1));
		memory_fini(&m);
	}
}

/* --- foreign bytes --- */

struct other {
	uint8_t bytes[10000];
	uint32_t n_reads, n_writes;
	bool is_gone;
};

static bool other_read(void *arg, uint64_t offset, void *out, size_t n)
{
	struct other *o = arg;

	assert_true(offset + n <= sizeof(o->bytes));
	o->n_reads++;
	memcpy(out, o->bytes + offset, n);
	return !o->is_gone;
}

static bool other_write(void *arg, uint64_t offset, const void *in, size_t n)
{
	struct other *o = arg;

	assert_true(offset + n <= sizeof(o->bytes));
	o->n_writes++;
	memcpy(o->bytes + offset, in, n);
	return !o->is_gone;
}

static struct memory_foreign foreign_of(struct other *o)
{
	return (struct memory_foreign){ other_read, other_write, o };
}

static void foreign_bytes_are_read_and_written_in_their_place(void **state)
{
	struct other o = { .is_gone = false };
	struct memory_foreign f = foreign_of(&o);
	uint8_t in[5000], out[5000];
	struct memory m;

	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 7 + 1);
	memory_init(&m, HOST_END);
	assert_true(memory_add_range(&m, &mapped));
	assert_int_equal(memory_add_foreign(&m, MAP_AT + 100, 10000, &f), 0);
	assert_true(memory_write(&m, MEMORY_NIC, MAP_AT + 101, in, 5000));
	assert_memory_equal(o.bytes + 1, in, 5000);
	assert_int_equal(m.n_pages, 0);
	o.bytes[77] ^= 1; /* its owner does it */
	assert_true(memory_read(&m, MEMORY_CORE, MAP_AT + 177, out, 1));
	assert_int_equal(out[0], in[76] ^ 1);
	/* there is nothing around it */
	assert_false(memory_read(&m, MEMORY_CORE, MAP_AT + 99, out, 2));
	assert_false(memory_write(&m, MEMORY_CORE, MAP_AT + 10099, in, 2));
	assert_false(memory_read(&m, MEMORY_CORE, MAP_AT, out, 1));
	assert_int_equal(o.n_writes, 1);
	memory_fini(&m);
}

/* And a write that its owner does not take is refused. */
static void foreign_bytes_that_cannot_be_had_are_refused(void **state)
{
	struct other o = { .is_gone = true };
	struct memory_foreign f = foreign_of(&o);
	struct memory m;
	uint64_t word;

	memory_init(&m, HOST_END);
	assert_int_equal(memory_add_foreign(&m, 4096, 8192, &f), 0);
	assert_false(memory_load(&m, MEMORY_NIC, 4096, &word));
	assert_false(memory_store(&m, MEMORY_NIC, 4096, 1));
	o.is_gone = false;
	assert_true(memory_store(&m, MEMORY_NIC, 4096, 1));
	memory_drop_region(&m, 0);
	f.write = NULL;
	assert_int_equal(memory_add_foreign(&m, 4096, 8192, &f), 0);
	assert_true(memory_load(&m, MEMORY_NIC, 4096, &word));
	assert_int_equal(word, 1);
	assert_false(memory_store(&m, MEMORY_NIC, 4096, 2));
	memory_fini(&m);
}

/* What was there before is there again, as fast as before. */
static void a_region_that_is_dropped_leaves_no_trace(void **state)
{
	struct other o = { .is_gone = false };
	struct memory_foreign f = foreign_of(&o);
	struct memory m;
	uint64_t word;

	memory_init(&m, HOST_END);
	assert_true(memory_store(&m, MEMORY_NIC, 4096, 11));
	assert_int_equal(memory_add_foreign(&m, 4000, 8000, &f), 0);
	assert_true(memory_store(&m, MEMORY_NIC, 4096, 22));
	assert_null(memory_stored(&m, 4096, 8));
	memory_drop_region(&m, 0);
	assert_null(memory_region(&m, 0));
	assert_non_null(memory_stored(&m, 4096, 8));
	assert_true(memory_load(&m, MEMORY_NIC, 4096, &word));
	assert_int_equal(word, 11);
	memcpy(&word, o.bytes + 96, 8);
	assert_int_equal(word, 22);
	assert_int_equal(memory_add_foreign(&m, 4000, 8000, &f), 0);
	memory_fini(&m);
}

/* Many regions come and go; a plain array with their owners says the same. */
static void many_regions_come_and_go(void **state)
{
	enum { PLACES = 64, PART = 3000 };
	static struct other other[PLACES];
	uint8_t *plain = mem_alloc(PLACES, PART), got[4 * PART];
	int number[PLACES];
	struct memory m;
	uint64_t n = 0, k;

	memory_init(&m, HOST_END);
	memset(number, -1, sizeof(number));
	for (uint64_t i = 0; i < 4000; i++) {
		uint64_t place = host_testing_draw(&n, PLACES), at, j;
		struct memory_foreign f = foreign_of(&other[place]);
		uint64_t len = host_testing_draw(&n, sizeof(got));

		if (number[place] >= 0) {
			memory_drop_region(&m, number[place]);
			number[place] = -1;
		} else {
			number[place] =
				memory_add_foreign(&m, place * PART, PART, &f);
			assert_true(number[place] >= 0);
			assert_int_equal(
				memory_add_foreign(
					&m, place * PART + PART - 1, 1, &f),
				-1);
		}
		at = host_testing_draw(&n, PLACES * PART - len);
		for (j = 0; j < len; j++)
			got[j] = (uint8_t)(i + j);
		assert_true(memory_write(&m, MEMORY_NIC, at, got, len));
		for (j = 0; j < len; j++) {
			k = at + j;
			if (number[k / PART] >= 0)
				assert_int_equal(
					other[k / PART].bytes[k % PART],
					got[j]);
			else
				plain[k] = got[j];
		}
		at = host_testing_draw(&n, PLACES * PART - len);
		assert_true(memory_read(&m, MEMORY_NIC, at, got, len));
		for (j = 0; j < len; j++) {
			k = at + j;
			assert_int_equal(got[j],
				number[k / PART] >= 0
					? other[k / PART].bytes[k % PART]
					: plain[k]);
		}
	}
	memory_fini(&m);
	mem_free(plain);
}

/* --- programs --- */

struct seen {
	uint64_t word;
	sim_time at;
	uint64_t n_watched;
	bool is_refused;
};

static void note_write(void *arg, sim_time t, uint64_t at, size_t n)
{
	(void)t;
	struct seen *x = arg;

	x->n_watched += at == MAP_AT + 64 && n == 8;
}

static bool is_watched(void *arg, uint64_t *seen)
{
	*seen = 1;
	return ((struct seen *)arg)->n_watched;
}

static void core_program(void *arg)
{
	struct poll_loop loop = { .period = SIM_NS };
	struct seen *x = arg;
	uint64_t word = 5;

	x->is_refused = !program_read(GPU_AT, &word, 8) &&
			!program_write(GPU_AT, &word, 8) &&
			!program_atomic(ATOMIC_STORE_ADD, GPU_AT, 1, &word) &&
			!program_place(GPU_AT, 8) &&
			!program_poll(GPU_AT, WORD_IS, 5, loop, &word);
	program_watch(MAP_AT, 128, note_write, x);
	assert_true(program_poll(MAP_AT + 64, WORD_IS, 3, loop, &x->word));
	x->at = program_now();
	program_poll_until(is_watched, x, loop, &word);
}

static void device_program(void *arg)
{
	struct host *h = program_host();
	struct sim_worker *w = program_worker();
	uint64_t word = 3, got = 0;

	program_wait(100 * SIM_NS);
	/* to the device's memory, and what the device has to read there */
	assert_true(host_write(h, w, 0, program_now(), GPU_AT + 8, &word, 8));
	assert_false(host_read(h, 0, GPU_AT + 8, &got, 8));
	assert_true(
		memory_read(host_at(h, 0), MEMORY_DEVICE, GPU_AT + 8, &got, 8));
	assert_true(host_write_by(
		h, w, 0, program_now(), MEMORY_DEVICE, MAP_AT + 64, &got, 8));
	assert_int_equal(memory_ask(host_at(h, 0), MEMORY_MAY_READ(MEMORY_NIC),
				 GPU_AT, 8),
		MEMORY_FORBIDDEN);
	assert_int_equal(memory_ask(host_at(h, 0), MEMORY_MAY_READ(MEMORY_NIC),
				 GPU_END, 1),
		MEMORY_OUTSIDE);
}

static void polls_and_watches_work_anywhere(void **state)
{
	struct host_testing m = { 0 };
	struct other o = { .is_gone = false };
	struct memory_foreign f = foreign_of(&o);
	struct seen x = { 0 };

	host_testing_start(&m);
	assert_true(memory_add_range(host_at(m.host, 0), &gpu));
	assert_true(memory_add_range(host_at(m.host, 0), &mapped));
	assert_false(memory_add_range(host_at(m.host, 0), &mapped));
	assert_int_equal(
		memory_add_foreign(host_at(m.host, 0), MAP_AT, 10000, &f), 0);
	program_start(m.host, 0, 0, 0, core_program, &x);
	program_start(m.host, 0, 1, 0, device_program, NULL);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	assert_true(x.is_refused);
	assert_int_equal(x.word, 3);
	assert_int_equal(x.at, 101 * SIM_NS);
	assert_int_equal(x.n_watched, 1);
	memory_drop_region(host_at(m.host, 0), 0);
	assert_int_equal(
		memory_ask(host_at(m.host, 0), MEMORY_MAY_ALL, MAP_AT, 8),
		MEMORY_OUTSIDE);
	host_testing_fini(&m);
}

/* --- names --- */

static uint64_t draw(uint64_t n, uint64_t below)
{
	return random_below(random_draw(11, 0, RANDOM_TEST, n).a, below);
}

/* Pieces of one owner after the other. */
static uint64_t name(void *arg, uint64_t offset, struct memory_name *name)
{
	uint64_t piece = *(uint64_t *)arg;

	*name = (struct memory_name){ 1, offset / piece, offset % piece };
	return piece - offset % piece;
}

static void check_alike(
	const struct memory_region *a, const struct memory_region *b)
{
	assert_int_equal(a->written, b->written);
	assert_int_equal(a->where, b->where);
	assert_int_equal(a->wrong, b->wrong);
	assert_int_equal(a->first_wrong, b->first_wrong);
}

/* From one memory to two others: to where it belongs, to where it does not, to
 * plain pages and over borders. */
static void what_is_moved_by_name_is_as_if_its_bytes_were(void **state)
{
	enum { SIZE = 30000, FROM = 5000, TO = 17000, MOST = 3000 };
	uint64_t piece = 4000;
	uint8_t bytes[MOST], got[MOST];
	struct memory from, m[2];
	uint64_t n = 0, named = 0;

	memory_init(&from, SIZE);
	memory_add_synthetic(&from, FROM, 8000, name, &piece);
	for (int i = 0; i < 2; i++) {
		memory_init(&m[i], SIZE);
		memory_add_synthetic(&m[i], TO, 8000, name, &piece);
	}
	for (int i = 0; i < 2000; i++) {
		uint64_t at = FROM + draw(n++, 8000), to = at + TO - FROM;
		size_t k = (size_t)draw(n++, MOST);
		struct memory_name x;

		to = draw(n++, 4) ? to : draw(n++, SIZE + 5);
		if (!memory_find_name(&from, MEMORY_NIC, at, k, &x))
			continue;
		named++;
		memory_fill(&x, bytes, k);
		memory_read(&from, MEMORY_NIC, at, got, k);
		assert_memory_equal(got, bytes, k);
		assert_int_equal(
			memory_write_named(&m[0], MEMORY_NIC, to, &x, k),
			memory_write(&m[1], MEMORY_NIC, to, bytes, k));
		check_alike(memory_region(&m[0], 0), memory_region(&m[1], 0));
	}
	assert_in_range(named, 500, 1990); /* not over the end of a piece */
	assert_true(memory_region(&m[0], 0)->wrong > 1000);
	for (int i = 0; i < SIZE; i += 8) {
		memory_read(&m[0], MEMORY_NIC, (uint64_t)i, bytes, 8);
		memory_read(&m[1], MEMORY_NIC, (uint64_t)i, got, 8);
		assert_memory_equal(got, bytes, 8);
	}
	for (int i = 0; i < 2; i++)
		memory_fini(&m[i]);
	memory_fini(&from);
}

static void names_need_the_rights_that_bytes_do(void **state)
{
	struct memory_name x = { 1, 0, 0 };
	uint64_t piece = 4000;
	struct memory m;

	memory_init(&m, HOST_END);
	memory_add_range(&m, &gpu);
	assert_int_equal(
		memory_add_synthetic(&m, GPU_AT, 100, name, &piece), 0);
	assert_false(memory_find_name(&m, MEMORY_NIC, GPU_AT, 100, &x));
	assert_true(memory_find_name(&m, MEMORY_DEVICE, GPU_AT, 100, &x));
	assert_false(memory_find_name(&m, MEMORY_DEVICE, GPU_AT, 101, &x));
	assert_false(memory_write_named(&m, MEMORY_CORE, GPU_AT, &x, 100));
	assert_int_equal(memory_region(&m, 0)->written, 0);
	assert_true(memory_write_named(&m, MEMORY_NIC, GPU_AT, &x, 100));
	assert_true(memory_region_is_whole(memory_region(&m, 0), 1));
	memory_fini(&m);
}

/* Unless some of it may not be read, is a region, or is a device's. */
static void a_range_open_to_all_is_as_host_memory(void **state)
{
	struct memory_range r = { GPU_AT, 1 << 16, MEMORY_OF_HOST,
		MEMORY_MAY_ALL };
	uint64_t piece = 4000, word = 5, got;
	struct memory m;

	memory_init(&m, HOST_END);
	assert_true(memory_add_range(&m, &r));
	assert_true(memory_load(&m, MEMORY_CORE, GPU_AT, &got));
	assert_int_equal(got, 0);
	assert_null(memory_stored(&m, GPU_AT, 8));
	assert_true(memory_store(&m, MEMORY_NIC, GPU_AT, word));
	assert_memory_equal(memory_stored(&m, GPU_AT, 8), &word, 8);
	assert_null(memory_place(&m, GPU_AT, 8)); /* it is not */
	assert_int_equal(
		memory_add_synthetic(&m, GPU_AT + 8, 8, name, &piece), 0);
	assert_null(memory_stored(&m, GPU_AT + 8, 8));
	r.at = GPU_END;
	r.rights = MEMORY_MAY_ALL & ~MEMORY_MAY_READ(MEMORY_DEVICE);
	assert_true(memory_add_range(&m, &r));
	assert_true(memory_store(&m, MEMORY_NIC, GPU_END, word));
	assert_null(memory_stored(&m, GPU_END, 8));
	assert_false(memory_load(&m, MEMORY_DEVICE, GPU_END, &got));
	memory_fini(&m);
}

TESTS(TEST(ranges_do_not_meet), TEST(an_access_lies_in_one_range),
	TEST(each_has_the_rights_that_the_range_gives),
	TEST(foreign_bytes_are_read_and_written_in_their_place),
	TEST(foreign_bytes_that_cannot_be_had_are_refused),
	TEST(a_region_that_is_dropped_leaves_no_trace),
	TEST(many_regions_come_and_go), TEST(polls_and_watches_work_anywhere),
	TEST(what_is_moved_by_name_is_as_if_its_bytes_were),
	TEST(names_need_the_rights_that_bytes_do),
	TEST(a_range_open_to_all_is_as_host_memory))
