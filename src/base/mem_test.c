#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "testing/testing.h"

/* AddressSanitizer ends the process itself where calloc() would fail. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CALLOC_ENDS_ELSEWHERE
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CALLOC_ENDS_ELSEWHERE
#endif
#endif

#define MIB ((size_t)1 << 20)

static int is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return 0;
	return 1;
}

/* The code with which f ends a child, its complaint unread. */
static int exit_of(void (*f)(void))
{
	int status = 0, fd;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		fd = open("/dev/null", O_WRONLY);
		dup2(fd, STDERR_FILENO);
		f();
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Blocks that were used and freed come back, and must be zero again. */
static void fresh_memory_is_zero(void **state)
{
	for (int round = 0; round < 3; round++) {
		for (size_t n = 1; n < 4096; n += n / 3 + 1) {
			unsigned char *p = mem_alloc(n, 3);

			assert_true(is_zero(p, 3 * n));
			memset(p, 0xa5, 3 * n);
			mem_free(p);
		}
	}
}

static void nothing_at_all_is_still_a_block(void **state)
{
	void *a = mem_alloc(0, 8), *b = mem_alloc(0, 8);

	assert_non_null(a);
	assert_non_null(b);
	assert_ptr_not_equal(a, b);
	mem_free(a);
	mem_free(b);
	mem_free(NULL);
}

static void growing_keeps_what_was_there(void **state)
{
	uint32_t *p = NULL;
	size_t n = 0, room = 0;

	while (n < 100000) {
		if (n == room) {
			room = room ? 2 * room : 1;
			p = mem_grow(p, room, sizeof(*p));
		}
		p[n] = (uint32_t)(n * 2654435761u);
		n++;
	}
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], (uint32_t)(i * 2654435761u));
	mem_free(p);
}

static void a_text_is_copied(void **state)
{
	char from[] = "4x4x4x4x2";
	char *to = mem_text(from), *empty = mem_text("");

	from[0] = '8';
	assert_string_equal(to, "4x4x4x4x2");
	assert_string_equal(empty, "");
	mem_free(to);
	mem_free(empty);
}

/* A product that wraps must not give a small block. */
static void grow_too_far(void)
{
	volatile size_t n = SIZE_MAX / 4 + 2;

	mem_free(mem_grow(NULL, n, 4));
}

static void alloc_too_much(void)
{
	volatile size_t n = SIZE_MAX / 4 + 2;

	mem_free(mem_alloc(n, 4));
}

static void map_too_much(void)
{
	volatile size_t n = SIZE_MAX / 2;

	map_free(map_alloc(n), n);
}

static void what_cannot_be_had_ends_the_process_with_code_4(void **state)
{
	assert_int_equal(exit_of(grow_too_far), EXIT_LIMIT);
	assert_int_equal(exit_of(map_too_much), EXIT_LIMIT);
#ifdef CALLOC_ENDS_ELSEWHERE
	(void)alloc_too_much;
#else
	assert_int_equal(exit_of(alloc_too_much), EXIT_LIMIT);
#endif
}

static void a_mapping_is_zero_and_page_aligned(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 300000 };
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		unsigned char *p = map_alloc(sizes[i]);

		assert_int_equal((uintptr_t)p % page, 0);
		assert_int_equal((uintptr_t)p % CACHE_LINE, 0);
		assert_true(is_zero(p, sizes[i]));
		memset(p, 0xff, sizes[i]);
		map_free(p, sizes[i]);
	}
	map_free(NULL, 4096);
}

/* A big machine's arrays are mapped whole and touched in places. */
static void an_untouched_mapping_costs_nothing(void **state)
{
	size_t size = 16 * 1024 * MIB;
	unsigned char *p = map_alloc(size);
	uint64_t before = mem_resident();

	p[0] = p[size / 2] = p[size - 1] = 1;
	assert_true(mem_resident() < before + 16 * MIB);
	map_free(p, size);
}

static void resident_memory_follows_what_is_touched(void **state)
{
	size_t size = 64 * MIB;
	unsigned char *p = map_alloc(size);
	uint64_t before = mem_resident(), after;

	assert_true(before > 0);
	memset(p, 1, size);
	after = mem_resident();
	assert_true(after > before + size / 2);
	assert_true(after < before + 8 * size); /* shadows included */
	map_free(p, size);
	assert_true(mem_resident() < after - size / 2);
}

static void available_memory_is_below_what_the_host_has(void **state)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) *
		       (uint64_t)sysconf(_SC_PAGESIZE);

	assert_true(mem_available() > MIB);
	assert_true(mem_available() <= all);
}

TESTS(TEST(fresh_memory_is_zero), TEST(nothing_at_all_is_still_a_block),
	TEST(growing_keeps_what_was_there), TEST(a_text_is_copied),
	TEST(what_cannot_be_had_ends_the_process_with_code_4),
	TEST(a_mapping_is_zero_and_page_aligned),
	TEST(an_untouched_mapping_costs_nothing),
	TEST(resident_memory_follows_what_is_touched),
	TEST(available_memory_is_below_what_the_host_has))
