/* Text that is written to memory. */
#include "base/stream.h"

#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"

static void text_is_whole_when_it_is_closed(void **state)
{
	struct stream s;

	stream_open(&s);
	for (int i = 0; i < 1000; i++)
		fprintf(s.file, "%03d ", i);
	stream_close(&s);
	assert_int_equal(s.size, 4000);
	assert_int_equal(strlen(s.text), 4000);
	assert_memory_equal(s.text + 4 * 777, "777 ", 4);
	mem_free(s.text);
}

static void nothing_is_an_empty_text(void **state)
{
	struct stream s;

	stream_open(&s);
	stream_close(&s);
	assert_string_equal(s.text, "");
	mem_free(s.text);
}

TESTS(TEST(text_is_whole_when_it_is_closed), TEST(nothing_is_an_empty_text))
