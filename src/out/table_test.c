#define _GNU_SOURCE
#include <string.h>

#include "base/mem.h"
#include "out/table.h"
#include "testing/testing.h"

static const struct table_column columns[] = {
	{ "name", false },
	{ "links", true },
	{ "help", false },
};

static void check(size_t width, bool is_bold, const char *want)
{
	struct table t;
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	table_init(&t, columns, 3);
	table_add(&t, (const char *[]){ "board", "8", "on one board" });
	table_add(&t, (const char *[]){ "é", NULL, "a long one here" });
	table_print(&t, f, width, is_bold);
	table_fini(&t);
	fclose(f);
	assert_string_equal(text, want);
	mem_free(text);
}

static void columns_are_aligned(void **state)
{
	check(0, false,
		"name   links  help\n"
		"board      8  on one board\n"
		"é          -  a long one here\n");
	check(80, true,
		"\033[1mname   links  help\033[0m\n"
		"board      8  on one board\n"
		"é          -  a long one here\n");
}

static void what_does_not_fit_becomes_records(void **state)
{
	check(20, false,
		"board\n"
		"    links  8\n"
		"    help   on one board\n"
		"é\n"
		"    links  -\n"
		"    help   a long one here\n");
}

static void long_cells_go_on_below(void **state)
{
	static const char text[] = "one two three four five six seven";
	struct table t;
	char *out = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&out, &size);

	table_init(&t, columns, 3);
	table_add(&t, (const char *[]){ "a", "b", text });
	table_print(&t, f, 36, false);
	table_fini(&t);
	fclose(f);
	assert_string_equal(out, "a\n"
				 "    links  b\n"
				 "    help   one two three four five\n"
				 "           six seven\n");
	mem_free(out);
}

static void a_table_without_heads_begins_with_its_rows(void **state)
{
	static const struct table_column none[] = { { "", false },
		{ "", true } };
	struct table t;
	char *out = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&out, &size);

	table_init(&t, none, 2);
	table_add(&t, (const char *[]){ "switches", "512" });
	table_print(&t, f, 80, true);
	table_fini(&t);
	fclose(f);
	assert_string_equal(out, "switches  512\n");
	mem_free(out);
}

TESTS(TEST(columns_are_aligned),
	TEST(a_table_without_heads_begins_with_its_rows),
	TEST(what_does_not_fit_becomes_records), TEST(long_cells_go_on_below))
