#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "host/memory.h"
#include "sim/random.h"

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

	(void)state;
	memory_init(&m, 16 * GIB);
	memset(bytes, 0xff, sizeof(bytes));
	assert_true(memory_read(&m, 5 * GIB - 50, bytes, sizeof(bytes)));
	assert_memory_equal(bytes, zero, sizeof(bytes));
	assert_true(memory_load(&m, 8, &word));
	assert_int_equal(word, 0);
	assert_int_equal(memory_held(&m), 0);
	memory_fini(&m);
}

static void addresses_outside_are_refused(void **state)
{
	struct memory m;
	uint8_t bytes[16] = { 1 };
	uint64_t word;

	(void)state;
	memory_init(&m, 4096);
	assert_true(memory_write(&m, 4080, bytes, 16));
	assert_true(memory_write(&m, 4096, bytes, 0));
	assert_false(memory_write(&m, 4081, bytes, 16));
	assert_false(memory_read(&m, 4096, bytes, 1));
	assert_false(memory_read(&m, UINT64_MAX, bytes, 2));
	assert_false(memory_write(&m, UINT64_MAX - 7, bytes, 16));
	assert_false(memory_read(&m, 8, bytes, SIZE_MAX));
	assert_true(memory_load(&m, 4088, &word));
	assert_false(memory_load(&m, 4096, &word));
	memory_fini(&m);
}

static void words_must_be_aligned(void **state)
{
	struct memory m;
	uint64_t word;

	(void)state;
	memory_init(&m, 4096);
	assert_false(memory_store(&m, 12, 1));
	assert_true(memory_store(&m, 16, UINT64_C(0x0123456789abcdef)));
	assert_false(memory_load(&m, 17, &word));
	assert_true(memory_load(&m, 16, &word));
	assert_int_equal(word, UINT64_C(0x0123456789abcdef));
	memory_fini(&m);
}

/* Random writes to a memory and to a plain array read back alike. */
static void it_reads_what_was_written(void **state)
{
	enum { SIZE = 64 << 10, LONGEST = 9000 };
	uint8_t *plain = mem_alloc(1, SIZE), *got = mem_alloc(1, SIZE);
	uint8_t bytes[LONGEST];
	uint64_t n = 0, base = 7 * GIB + 123, i, k;
	struct memory m;

	(void)state;
	memory_init(&m, 16 * GIB);
	for (i = 0; i < 500; i++) {
		uint64_t at = draw(&n, SIZE - LONGEST);
		size_t len = (size_t)draw(&n, i % 2 ? 40 : LONGEST);

		for (k = 0; k < len; k++)
			bytes[k] = (uint8_t)draw(&n, 256);
		memcpy(plain + at, bytes, len);
		assert_true(memory_write(&m, base + at, bytes, len));
		at = draw(&n, SIZE - LONGEST);
		assert_true(memory_read(&m, base + at, bytes, LONGEST));
		assert_memory_equal(bytes, plain + at, LONGEST);
	}
	assert_true(memory_read(&m, base, got, SIZE));
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
	uint64_t i, word;

	(void)state;
	memory_init(&m, UINT64_MAX);
	for (i = 0; i < PAGES; i++)
		assert_true(memory_store(&m, i * i * 7 * GIB / 1024 * 8, i));
	for (i = 0; i < PAGES; i++) {
		assert_true(memory_load(&m, i * i * 7 * GIB / 1024 * 8, &word));
		assert_int_equal(word, i);
	}
	assert_int_equal(m.n_pages, PAGES);
	memory_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(untouched_memory_is_zero_and_free),
		cmocka_unit_test(addresses_outside_are_refused),
		cmocka_unit_test(words_must_be_aligned),
		cmocka_unit_test(it_reads_what_was_written),
		cmocka_unit_test(many_pages_keep_their_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
