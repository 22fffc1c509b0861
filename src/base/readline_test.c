#define _GNU_SOURCE
#include "base/readline.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

enum { LONGEST = READLINE_MOST + 2 };

struct input {
	FILE *file;
	char *text;
	size_t room;
};

static struct input open_bytes(const char *bytes, size_t n)
{
	struct input x = { .file = fmemopen((void *)(uintptr_t)bytes, n, "r") };

	assert_non_null(x.file);
	return x;
}

static void close_bytes(struct input *x)
{
	fclose(x->file);
	mem_free(x->text);
}

static enum readline next(struct input *x)
{
	return readline(x->file, &x->text, &x->room);
}

static void lines_come_with_their_ends(void **state)
{
	static const char bytes[] = "one\n\nlast";
	struct input x = open_bytes(bytes, sizeof(bytes) - 1);

	assert_int_equal(next(&x), READLINE_ONE);
	assert_string_equal(x.text, "one\n");
	assert_int_equal(next(&x), READLINE_ONE);
	assert_string_equal(x.text, "\n");
	assert_int_equal(next(&x), READLINE_ONE);
	assert_string_equal(x.text, "last");
	assert_int_equal(next(&x), READLINE_END);
	close_bytes(&x);
}

/* Lines are read in pieces: every length up to that of several of them. */
static void lines_of_any_length_are_whole(void **state)
{
	for (size_t n = 1; n < 1100; n++) {
		char bytes[1102];
		struct input x;

		memset(bytes, 'x', n);
		memcpy(bytes + n, "\ny", 2);
		x = open_bytes(bytes, n + 2);
		assert_int_equal(next(&x), READLINE_ONE);
		assert_int_equal(strlen(x.text), n + 1);
		assert_int_equal(x.text[n], '\n');
		assert_int_equal(next(&x), READLINE_ONE);
		assert_string_equal(x.text, "y");
		close_bytes(&x);
	}
}

static void a_zero_byte_is_no_text(void **state)
{
	for (size_t at = 0; at < 600; at++) {
		char bytes[600];
		struct input x;

		memset(bytes, 'x', sizeof(bytes));
		bytes[at] = '\0';
		x = open_bytes(bytes, sizeof(bytes));
		assert_int_equal(next(&x), READLINE_NO_TEXT);
		close_bytes(&x);
	}
}

static void a_line_may_be_as_long_as_the_limit(void **state)
{
	char *bytes = mem_alloc(LONGEST, 1);
	struct input x;

	memset(bytes, 'x', LONGEST);
	bytes[READLINE_MOST - 1] = '\n';
	x = open_bytes(bytes, READLINE_MOST);
	assert_int_equal(next(&x), READLINE_ONE);
	close_bytes(&x);
	bytes[READLINE_MOST - 1] = 'x';
	bytes[READLINE_MOST] = '\n';
	x = open_bytes(bytes, READLINE_MOST + 1);
	assert_int_equal(next(&x), READLINE_TOO_LONG);
	close_bytes(&x);
	mem_free(bytes);
}

TESTS(TEST(lines_come_with_their_ends), TEST(lines_of_any_length_are_whole),
	TEST(a_zero_byte_is_no_text), TEST(a_line_may_be_as_long_as_the_limit))
