#define _GNU_SOURCE
#include "base/readline.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

enum { LONGEST = READLINE_MOST + 2 };

static struct lines open_bytes(const char *bytes, size_t n)
{
	struct lines x = { .file = fmemopen((void *)(uintptr_t)bytes, n, "r") };

	assert_non_null(x.file);
	return x;
}

static void close_bytes(struct lines *x)
{
	fclose(x->file);
	lines_fini(x);
}

static void lines_come_with_their_ends(void **state)
{
	static const char bytes[] = "one\n\nlast";
	struct lines x = open_bytes(bytes, sizeof(bytes) - 1);

	assert_int_equal(readline(&x), READLINE_ONE);
	assert_string_equal(x.text, "one\n");
	assert_int_equal(readline(&x), READLINE_ONE);
	assert_string_equal(x.text, "\n");
	assert_int_equal(readline(&x), READLINE_ONE);
	assert_string_equal(x.text, "last");
	assert_int_equal(readline(&x), READLINE_END);
	close_bytes(&x);
}

/* A file is read in blocks, which end anywhere in a line, also in long ones. */
static void lines_are_whole_wherever_blocks_end(void **state)
{
	enum { BYTES = 40000, LONGER = 1200 };
	char *bytes = mem_alloc(BYTES, 1);

	for (size_t n = 1; n < LONGER; n += n % 7 + 1) {
		struct lines x;
		size_t done = 0;

		for (size_t i = 0; i < BYTES; i++)
			bytes[i] = (i + 1) % n ? (char)('a' + i % 26) : '\n';
		x = open_bytes(bytes, BYTES);
		while (readline(&x) == READLINE_ONE) {
			size_t length = strlen(x.text);

			assert_memory_equal(x.text, bytes + done, length);
			done += length;
			assert_true(length == n || done == BYTES);
			x.text[0] = 'x'; /* as its users may */
		}
		assert_int_equal(done, BYTES);
		close_bytes(&x);
	}
	mem_free(bytes);
}

static void lines_of_any_length_are_whole(void **state)
{
	for (size_t n = 1; n < 1100; n++) {
		char bytes[1102];
		struct lines x;

		memset(bytes, 'x', n);
		memcpy(bytes + n, "\ny", 2);
		x = open_bytes(bytes, n + 2);
		assert_int_equal(readline(&x), READLINE_ONE);
		assert_int_equal(strlen(x.text), n + 1);
		assert_int_equal(x.text[n], '\n');
		assert_int_equal(readline(&x), READLINE_ONE);
		assert_string_equal(x.text, "y");
		close_bytes(&x);
	}
}

static void a_zero_byte_is_no_text(void **state)
{
	for (size_t at = 0; at < 600; at++) {
		char bytes[600];
		struct lines x;

		memset(bytes, 'x', sizeof(bytes));
		bytes[at] = '\0';
		x = open_bytes(bytes, sizeof(bytes));
		assert_int_equal(readline(&x), READLINE_NO_TEXT);
		close_bytes(&x);
	}
}

static void a_line_may_be_as_long_as_the_limit(void **state)
{
	char *bytes = mem_alloc(LONGEST, 1);
	struct lines x;

	memset(bytes, 'x', LONGEST);
	bytes[READLINE_MOST - 1] = '\n';
	x = open_bytes(bytes, READLINE_MOST);
	assert_int_equal(readline(&x), READLINE_ONE);
	close_bytes(&x);
	bytes[READLINE_MOST - 1] = 'x';
	bytes[READLINE_MOST] = '\n';
	x = open_bytes(bytes, READLINE_MOST + 1);
	assert_int_equal(readline(&x), READLINE_TOO_LONG);
	close_bytes(&x);
	mem_free(bytes);
}

TESTS(TEST(lines_come_with_their_ends),
	TEST(lines_are_whole_wherever_blocks_end),
	TEST(lines_of_any_length_are_whole), TEST(a_zero_byte_is_no_text),
	TEST(a_line_may_be_as_long_as_the_limit))
