#include <string.h>

#include "base/mem.h"
#include "host/memory.h"
#include "sim/random.h"
#include "testing/testing.h"

#define GIB (UINT64_C(1) << 30)

static uint64_t draw(uint64_t *n, uint64_t below)
{
	uint64_t bits = random_draw(11, 0, RANDOM_TEST, (*n)++).a;

	return random_below(bits, below);
}

static void untouched_memory_is_zero_and_free(void **state)
{
	struct memory m;
	uint8_t bytes[100], zero[100] = { 0 };
	uint64_t word = 7;

	memory_init(&m, 16 * GIB);
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(memory_read(
		&m, MEMORY_NIC, 5 * GIB - 50, bytes, sizeof(bytes)));
	assert_memory_equal(bytes, zero, sizeof(bytes));
	assert_true(memory_load(&m, MEMORY_NIC, 8, &word));
	assert_int_equal(word, 0);
	assert_int_equal(memory_held(&m), 0);
	memory_fini(&m);
}

static void addresses_outside_are_refused(void **state)
{
	struct memory m;
	uint8_t bytes[16] = { 1 };
	volatile size_t all = SIZE_MAX; /* the compiler would see no sense */
	uint64_t word;

	memory_init(&m, 4096);
	assert_true(memory_write(&m, MEMORY_NIC, 4080, bytes, 16));
	assert_true(memory_write(&m, MEMORY_NIC, 4096, bytes, 0));
	assert_false(memory_write(&m, MEMORY_NIC, 4081, bytes, 16));
	assert_false(memory_read(&m, MEMORY_NIC, 4096, bytes, 1));
	assert_false(memory_read(&m, MEMORY_NIC, UINT64_MAX, bytes, 2));
	assert_false(memory_write(&m, MEMORY_NIC, UINT64_MAX - 7, bytes, 16));
	assert_false(memory_read(&m, MEMORY_NIC, 8, bytes, all));
	assert_true(memory_load(&m, MEMORY_NIC, 4088, &word));
	assert_false(memory_load(&m, MEMORY_NIC, 4096, &word));
	memory_fini(&m);
}

static void words_must_be_aligned(void **state)
{
	struct memory m;
	uint64_t word;

	memory_init(&m, 4096);
	assert_false(memory_store(&m, MEMORY_NIC, 12, 1));
	assert_true(
		memory_store(&m, MEMORY_NIC, 16, UINT64_C(0x0123456789abcdef)));
	assert_false(memory_load(&m, MEMORY_NIC, 17, &word));
	assert_true(memory_load(&m, MEMORY_NIC, 16, &word));
	assert_int_equal(word, UINT64_C(0x0123456789abcdef));
	memory_fini(&m);
}

/* Random writes to a memory and to a plain array read back alike. */
static void it_reads_what_was_written(void **state)
{
	enum { SIZE = 64 << 10, LONGEST = 9000 };
	uint8_t *plain = mem_alloc(1, SIZE), *got = mem_alloc(1, SIZE);
	uint8_t bytes[LONGEST];
	uint64_t n = 0, base = 7 * GIB + 123;
	struct memory m;

	memory_init(&m, 16 * GIB);
	for (uint64_t i = 0; i < 500; i++) {
		uint64_t at = draw(&n, SIZE - LONGEST);
		size_t len = (size_t)draw(&n, i % 2 ? 40 : LONGEST);

		for (uint64_t k = 0; k < len; k++)
			bytes[k] = (uint8_t)draw(&n, 256);
		memcpy(plain + at, bytes, len);
		assert_true(
			memory_write(&m, MEMORY_NIC, base + at, bytes, len));
		at = draw(&n, SIZE - LONGEST);
		assert_true(
			memory_read(&m, MEMORY_NIC, base + at, bytes, LONGEST));
		assert_memory_equal(bytes, plain + at, LONGEST);
	}
	assert_true(memory_read(&m, MEMORY_NIC, base, got, SIZE));
	assert_memory_equal(got, plain, SIZE);
	assert_true(memory_held(&m) <= SIZE + 3 * MEMORY_PAGE);
	memory_fini(&m);
	mem_free(plain);
	mem_free(got);
}

/* Pages far apart, so that the table has to grow. */
static void many_pages_keep_their_bytes(void **state)
{
	enum { PAGES = 1000 };
	struct memory m;
	uint64_t word;

	memory_init(&m, UINT64_MAX);
	for (uint64_t i = 0; i < PAGES; i++)
		assert_true(memory_store(
			&m, MEMORY_NIC, i * i * 7 * GIB / 1024 * 8, i));
	for (uint64_t i = 0; i < PAGES; i++) {
		assert_true(memory_load(
			&m, MEMORY_NIC, i * i * 7 * GIB / 1024 * 8, &word));
		assert_int_equal(word, i);
	}
	assert_int_equal(m.n_pages, PAGES);
	memory_fini(&m);
}

/* Room that is made for few pages, and for many, is used as it is. */
/* Against a plain list of what each page holds. */
static void forgotten_pages_are_zero_and_used_again(void **state)
{
	enum { PAGES = 300, STEPS = 20000 };
	uint64_t holds[PAGES] = { 0 }, word, n = 0, held;
	struct memory m;

	memory_init(&m, GIB);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint64_t page = draw(&n, PAGES), at = page * 7 * MEMORY_PAGE;

		assert_true(memory_load(&m, MEMORY_NIC, at + 4088, &word));
		assert_int_equal(word, holds[page]);
		holds[page] = draw(&n, 2) ? i + 1 : 0;
		if (holds[page])
			memory_store(&m, MEMORY_NIC, at + 4088, i + 1);
		else
			memory_forget(&m, at);
		assert_int_equal(memory_has_page(&m, at), holds[page] != 0);
	}
	held = memory_held(&m);
	for (uint64_t i = 0; i < PAGES; i++)
		memory_forget(&m, i * 7 * MEMORY_PAGE);
	for (uint64_t i = 0; i < PAGES / 3; i++)
		memory_store(&m, MEMORY_NIC, GIB / 2 + i * MEMORY_PAGE, i);
	assert_true(memory_held(&m) <= held);
	memory_fini(&m);
}

static void room_is_made_at_once(void **state)
{
	static const uint64_t pages[] = { 5, 63, 64, 300 };
	uint64_t word, room;
	struct memory m;

	for (uint64_t k = 0; k < sizeof(pages) / sizeof(pages[0]); k++) {
		memory_init(&m, GIB);
		assert_true(memory_store(&m, MEMORY_NIC, 8, 77));
		memory_reserve(&m, pages[k] * MEMORY_PAGE);
		room = m.room;
		assert_int_equal(m.n_chunks, 2);
		for (uint64_t i = 1; i <= pages[k]; i++) {
			assert_true(memory_load(
				&m, MEMORY_NIC, i * MEMORY_PAGE, &word));
			assert_int_equal(word, 0);
			assert_true(memory_store(
				&m, MEMORY_NIC, i * MEMORY_PAGE, i));
		}
		for (uint64_t i = 1; i <= pages[k]; i++) {
			assert_true(memory_load(
				&m, MEMORY_NIC, i * MEMORY_PAGE, &word));
			assert_int_equal(word, i);
		}
		assert_true(memory_load(&m, MEMORY_NIC, 8, &word));
		assert_int_equal(word, 77);
		assert_int_equal(m.n_chunks, 2);
		assert_int_equal(m.room, room);
		assert_true(memory_held(&m) >= (pages[k] + 1) * MEMORY_PAGE);
		memory_fini(&m);
	}
}

static void bytes_are_placed_within_one_page(void **state)
{
	struct memory m;
	uint64_t word;
	uint8_t *p;

	memory_init(&m, 3 * MEMORY_PAGE + 100);
	assert_null(memory_stored(&m, 2 * MEMORY_PAGE, 8));
	p = memory_place(&m, 2 * MEMORY_PAGE, MEMORY_PAGE);
	assert_non_null(p);
	memcpy(p + 16, "12345678", 8);
	assert_true(memory_load(&m, MEMORY_NIC, 2 * MEMORY_PAGE + 16, &word));
	assert_memory_equal(&word, "12345678", 8);
	assert_ptr_equal(memory_stored(&m, 2 * MEMORY_PAGE + 16, 1), p + 16);
	assert_ptr_equal(memory_place(&m, 2 * MEMORY_PAGE + 16, 1), p + 16);
	assert_null(memory_place(&m, 2 * MEMORY_PAGE + 1, MEMORY_PAGE));
	assert_non_null(memory_place(&m, 3 * MEMORY_PAGE, 100));
	assert_null(memory_place(&m, 3 * MEMORY_PAGE, 101));
	assert_null(memory_stored(&m, 3 * MEMORY_PAGE, 101));
	assert_int_equal(
		memory_add_synthetic(&m, 2 * MEMORY_PAGE + 32, 8, NULL, NULL),
		0);
	assert_null(memory_place(&m, 2 * MEMORY_PAGE + 39, 1));
	assert_null(memory_stored(&m, 2 * MEMORY_PAGE + 25, 8));
	assert_ptr_equal(memory_stored(&m, 2 * MEMORY_PAGE + 24, 8), p + 24);
	memory_fini(&m);
}

/* --- synthetic regions --- */

struct stream {
	uint64_t seed, owner;
};

static void mapped_bytes_are_those_of_memory(void **state)
{
	static const char text[] = "here before it was mapped";
	uint64_t at = 3 * MEMORY_PAGE - 5, n = 40 * MEMORY_PAGE;
	struct memory m;
	uint8_t *map, byte;

	memory_init(&m, GIB);
	memory_write(&m, MEMORY_CORE, at, text, sizeof(text));
	map = memory_map(&m, at, n);
	assert_non_null(map);
	assert_string_equal((char *)map, text);
	for (uint64_t i = sizeof(text); i < n; i++)
		assert_int_equal(map[i], 0);
	/* what one side writes the other side reads, in every page */
	for (uint64_t i = 0; i < n; i += 1000) {
		map[i] = (uint8_t)(i / 1000);
		assert_true(memory_read(&m, MEMORY_NIC, at + i, &byte, 1));
		assert_int_equal(byte, (uint8_t)(i / 1000));
		byte ^= 255;
		assert_true(memory_write(&m, MEMORY_NIC, at + i, &byte, 1));
		assert_int_equal(map[i], byte);
	}
	/* it stays, whatever is written elsewhere, and a part of it is there */
	for (uint64_t i = 0; i < 1000; i++)
		memory_write(&m, MEMORY_CORE, GIB - i * 5000 - 8, &i, 8);
	assert_ptr_equal(memory_map(&m, at, n), map);
	assert_ptr_equal(memory_map(&m, at + 7777, 9999), map + 7777);
	memory_fini(&m);
}

static void what_cannot_be_mapped_is_null(void **state)
{
	struct memory m;

	memory_init(&m, GIB);
	assert_null(memory_map(&m, 0, 0));
	assert_null(memory_map(&m, GIB - 8, 9));
	assert_null(memory_map(&m, UINT64_MAX, 2));
	assert_non_null(memory_map(&m, GIB - 8, 8));
	/* over the edge of what is mapped already: it cannot move */
	assert_non_null(memory_map(&m, 8 * MEMORY_PAGE, 2 * MEMORY_PAGE));
	assert_null(memory_map(&m, 9 * MEMORY_PAGE, 2 * MEMORY_PAGE));
	assert_null(memory_map(&m, 0, 64 * MEMORY_PAGE));
	memory_add_range(&m, &(struct memory_range){ GIB, GIB, MEMORY_OF_DEVICE,
				     MEMORY_MAY_ALL });
	assert_null(memory_map(&m, GIB, 8));
	memory_fini(&m);
}

static uint64_t name(void *arg, uint64_t offset, struct memory_name *name)
{
	const struct stream *s = arg;

	*name = (struct memory_name){ s->seed, s->owner, offset };
	return UINT64_MAX - offset;
}

/* Any piece of a stream is the same as in the whole. */
static void a_stream_can_be_cut_anywhere(void **state)
{
	enum { SIZE = 300 };
	uint8_t whole[SIZE], piece[SIZE + 1], other[SIZE];
	size_t same = 0;

	memory_fill_by(3, 1, 0, whole, SIZE);
	for (size_t from = 0; from < 40; from++) {
		for (size_t to = from; to <= SIZE; to++) {
			piece[to - from] = 0x5a;
			memory_fill_by(3, 1, from, piece, to - from);
			assert_memory_equal(piece, whole + from, to - from);
			assert_int_equal(piece[to - from], 0x5a);
		}
	}
	memory_fill_by(3, 2, 0, other, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		same += other[i] == whole[i];
	assert_true(same < 10);
	memory_fill_by(4, 1, 0, other, SIZE);
	assert_true(memcmp(other, whole, SIZE) != 0);
	memory_fill_by(3, 1, SIZE, other, SIZE);
	assert_true(memcmp(other, whole, SIZE) != 0);
}

/* And so can what is compared with it, to every byte. */
static void a_wrong_byte_of_a_stream_is_seen(void **state)
{
	enum { SIZE = 300 };
	uint8_t bytes[SIZE];

	memory_fill_by(3, 1, 0, bytes, SIZE);
	for (size_t from = 0; from < 20; from++)
		for (size_t to = from; to <= SIZE; to++)
			assert_true(memory_is_by(
				3, 1, from, bytes + from, to - from));
	for (size_t from = 0; from < 9; from++) {
		for (size_t i = 0; i < SIZE; i++) {
			bytes[i] ^= (uint8_t)(1 << i % 8);
			assert_int_equal(memory_is_by(3, 1, from, bytes + from,
						 SIZE - from),
				i < from);
			bytes[i] ^= (uint8_t)(1 << i % 8);
		}
	}
	assert_false(memory_is_by(3, 2, 0, bytes, SIZE));
	assert_false(memory_is_by(3, 1, 8, bytes, 16));
}

static void a_region_reads_as_its_stream_and_takes_no_memory(void **state)
{
	struct stream s = { .seed = 1, .owner = 5 };
	uint8_t got[100], want[100];
	struct memory m;
	uint64_t word;

	memory_init(&m, 16 * GIB);
	assert_int_equal(memory_add_synthetic(&m, GIB, 8 * GIB, name, &s), 0);
	assert_true(memory_read(&m, MEMORY_NIC, 7 * GIB + 3, got, 100));
	memory_fill_by(1, 5, 6 * GIB + 3, want, 100);
	assert_memory_equal(got, want, 100);
	assert_true(memory_load(&m, MEMORY_NIC, GIB + 16, &word));
	memory_fill_by(1, 5, 16, want, 8);
	assert_memory_equal(&word, want, 8);
	assert_true(memory_store(&m, MEMORY_NIC, GIB + 16, word));
	assert_true(memory_write(&m, MEMORY_NIC, 7 * GIB + 3, got, 100));
	assert_int_equal(m.n_pages, 0);
	assert_int_equal(memory_region(&m, 0)->written, 108);
	assert_int_equal(memory_region(&m, 0)->wrong, 0);
	memory_fini(&m);
}

static void wrong_bytes_are_counted(void **state)
{
	struct stream s = { 0 };
	const struct memory_region *r;
	uint8_t bytes[2000];
	struct memory m;

	memory_init(&m, GIB);
	memory_add_synthetic(&m, 5000, 2000, name, &s);
	memory_read(&m, MEMORY_NIC, 5000, bytes, 2000);
	bytes[700] ^= 1;
	bytes[701] ^= 0x80;
	bytes[1999] ^= 7;
	assert_true(memory_write(&m, MEMORY_NIC, 5600, bytes + 600, 1400));
	assert_true(memory_write(&m, MEMORY_NIC, 5000, bytes, 600));
	r = memory_region(&m, 0);
	assert_int_equal(r->wrong, 3);
	assert_int_equal(r->first_wrong, 700);
	assert_false(memory_region_is_whole(r, 1));
	/* and not stored */
	memory_fill_by(0, 0, 0, bytes, 2000);
	assert_true(memory_write(&m, MEMORY_NIC, 5000, bytes, 2000));
	assert_int_equal(memory_region(&m, 0)->wrong, 3);
	memory_fini(&m);
}

/* Cuts [0, SIZE) at random and writes the pieces in some order.  Inlined, the
 * compiler takes a byte for read that never is. */
static __attribute__((noinline)) void write_pieces(struct memory *m,
	uint64_t at, size_t size, uint64_t *n, const uint8_t *right,
	size_t skip, size_t twice)
{
	size_t cut[65] = { 0 }, n_cuts = 1 + draw(n, 60), i, first;

	for (i = 1; i < n_cuts; i++)
		cut[i] = cut[i - 1] +
			 draw(n, 2 * (size - cut[i - 1]) / (n_cuts - i + 1));
	cut[n_cuts] = size;
	first = draw(n, n_cuts);
	for (i = 0; i < n_cuts; i++) {
		size_t k = (first + i) % n_cuts, from = cut[k], to = cut[k + 1];

		if (skip >= from && skip < to)
			from = skip + 1;
		if (from < to)
			assert_true(memory_write(m, MEMORY_NIC, at + from,
				right + from, to - from));
		if (twice >= from && twice < to)
			assert_true(memory_write(
				m, MEMORY_NIC, at + twice, right + twice, 1));
	}
}

/* A skipped piece is shortened, so one byte too many can make up for it. */
static void each_byte_once_is_known_whatever_the_cuts(void **state)
{
	enum { SIZE = 5000, NONE = SIZE };
	struct stream s = { .owner = 9 };
	uint8_t right[SIZE];
	uint64_t n = 0;

	memory_fill_by(0, 9, 0, right, SIZE);
	for (int round = 0; round < 200; round++) {
		const struct memory_region *r;
		struct memory m;
		uint64_t at = draw(&n, 9000);
		size_t skip = draw(&n, SIZE);

		memory_init(&m, GIB);
		memory_add_synthetic(&m, at, SIZE, name, &s);
		write_pieces(&m, at, SIZE, &n, right, NONE, NONE);
		r = memory_region(&m, 0);
		assert_true(memory_region_is_whole(r, 1));
		assert_false(memory_region_is_whole(r, 2));
		write_pieces(&m, at, SIZE, &n, right, NONE, NONE);
		assert_true(memory_region_is_whole(r, 2));
		if (round % 2)
			write_pieces(&m, at, SIZE, &n, right, skip, NONE);
		else
			write_pieces(&m, at, SIZE, &n, right, NONE, skip);
		assert_false(memory_region_is_whole(r, 3));
		memory_fini(&m);
	}
}

/* So many bytes, but one of them twice and another one never. */
static void a_byte_twice_does_not_make_up_for_another(void **state)
{
	enum { SIZE = 64 };
	struct stream s = { 0 };
	uint8_t right[SIZE];

	memory_fill_by(0, 0, 0, right, SIZE);
	for (uint64_t a = 0; a < SIZE; a++) {
		for (uint64_t b = 0; b < SIZE; b++) {
			struct memory m;

			memory_init(&m, GIB);
			memory_add_synthetic(&m, 0, SIZE, name, &s);
			for (uint64_t i = 0; i < SIZE; i++) {
				uint64_t at = i == a ? b : i;

				memory_write(&m, MEMORY_NIC, at, right + at, 1);
			}
			assert_int_equal(
				memory_region_is_whole(memory_region(&m, 0), 1),
				a == b);
			memory_fini(&m);
		}
	}
}

/* Random reads and writes over real bytes and regions between them. */
static void borders_split_what_crosses_them(void **state)
{
	enum { SIZE = 40000, LONGEST = 9000 };
	struct stream s[3] = { { .owner = 1 }, { .owner = 2 }, { .owner = 3 } };
	static const uint64_t at[] = { 9095, 20001, 3000 },
			      bytes[] = { 4097, 5000, 6095 };
	uint8_t *plain = mem_alloc(1, SIZE), *got = mem_alloc(1, SIZE);
	uint64_t n = 0, written = 0;
	struct memory m;

	memory_init(&m, SIZE);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(
			memory_add_synthetic(&m, at[i], bytes[i], name, &s[i]),
			i);
		memory_fill_by(0, i + 1, 0, plain + at[i], bytes[i]);
	}
	for (uint64_t i = 0; i < 2000; i++) {
		uint64_t from = draw(&n, SIZE - LONGEST);
		size_t len = (size_t)draw(&n, i % 2 ? 40 : LONGEST);

		for (uint64_t k = from; k < from + len; k++) {
			bool is_real = true;
			int r;

			for (r = 0; r < 3; r++)
				is_real &= k - at[r] >= bytes[r];
			written += !is_real;
			if (is_real)
				plain[k] = (uint8_t)(k + i);
		}
		assert_true(
			memory_write(&m, MEMORY_NIC, from, plain + from, len));
		from = draw(&n, SIZE - LONGEST);
		assert_true(memory_read(&m, MEMORY_NIC, from, got, LONGEST));
		assert_memory_equal(got, plain + from, LONGEST);
	}
	for (uint64_t i = 0; i < 3; i++) {
		const struct memory_region *r = memory_region(&m, (int)i);

		assert_int_equal(r->wrong, 0);
		written -= r->written;
	}
	assert_int_equal(written, 0);
	memory_fini(&m);
	mem_free(plain);
	mem_free(got);
}

static void regions_that_make_no_sense_are_refused(void **state)
{
	struct stream s = { 0 };
	struct memory m;

	memory_init(&m, GIB);
	assert_int_equal(memory_add_synthetic(&m, GIB - 7, 8, name, &s), -1);
	assert_int_equal(memory_add_synthetic(&m, 0, 0, name, &s), -1);
	assert_int_equal(memory_add_synthetic(&m, 1000, 100, name, &s), 0);
	assert_int_equal(memory_add_synthetic(&m, 1099, 10, name, &s), -1);
	assert_int_equal(memory_add_synthetic(&m, 900, 101, name, &s), -1);
	assert_int_equal(memory_add_synthetic(&m, 900, 1000, name, &s), -1);
	assert_int_equal(memory_add_synthetic(&m, 1100, 10, name, &s), 1);
	assert_null(memory_region(&m, 2));
	assert_null(memory_region(&m, -1));
	memory_fini(&m);
}

TESTS(TEST(untouched_memory_is_zero_and_free),
	TEST(addresses_outside_are_refused), TEST(words_must_be_aligned),
	TEST(it_reads_what_was_written), TEST(many_pages_keep_their_bytes),
	TEST(forgotten_pages_are_zero_and_used_again),
	TEST(room_is_made_at_once), TEST(bytes_are_placed_within_one_page),
	TEST(mapped_bytes_are_those_of_memory),
	TEST(what_cannot_be_mapped_is_null), TEST(a_stream_can_be_cut_anywhere),
	TEST(a_wrong_byte_of_a_stream_is_seen),
	TEST(a_region_reads_as_its_stream_and_takes_no_memory),
	TEST(wrong_bytes_are_counted),
	TEST(each_byte_once_is_known_whatever_the_cuts),
	TEST(a_byte_twice_does_not_make_up_for_another),
	TEST(borders_split_what_crosses_them),
	TEST(regions_that_make_no_sense_are_refused))
