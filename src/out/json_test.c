#define _POSIX_C_SOURCE 200809L
#include <stdio.h>

#include "base/mem.h"
#include "out/json.h"
#include "testing/testing.h"

static void check_text(const char *value, const char *want)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_init(&j, f);
	json_text(&j, NULL, value);
	fclose(f);
	assert_string_equal(text, want);
	mem_free(text);
}

/* Neither a terminal nor a reader of JSON takes offence at any bytes. */
static void strange_bytes_are_escaped(void **state)
{
	check_text("a \"b\" \\", "\"a \\\"b\\\" \\\\\"");
	check_text("\033[1m\n\177", "\"\\u001b[1m\\u000a\\u007f\"");
	check_text("\302\233", "\"\\u00c2\\u009b\"");
	check_text("\377\233", "\"\\u00ff\\u009b\"");
	check_text("\303\251", "\"\303\251\"");
}

TESTS(TEST(strange_bytes_are_escaped))
