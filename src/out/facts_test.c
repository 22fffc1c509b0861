#define _GNU_SOURCE
#include "base/mem.h"
#include "out/facts_json.h"
#include "out/facts_text.h"
#include "testing/testing.h"

static void fill(struct facts *f)
{
	static const char columns[] =
		">time={time_us:.3f} us|unit|lanes=[{_lanes} of 4]";

	facts_count(f, "packets", 1);
	facts_real(f, "load_pct", 33.333);
	facts_text(f, "name", "A+");
	facts_real(f, "time_ns", 41234);
	facts_null(f, "_none");
	facts_text(f, "_place", "board");
	facts_place(f, 1);
	facts_line(f, "sent",
		"{packets} packet{packets|s} by {name:-4}|, {load_pct:+7.1f} "
		"%, on its {_place}");
	facts_place(f, 0);
	facts_line(f, "long label of it", "{load_pct/100:.4f}, {time_ns:u}");
	facts_line(f, NULL, "bare[, of {missing}][, {_none}][, {name}]");
	facts_list(f, "_names");
	facts_text(f, NULL, "x");
	facts_text(f, NULL, "y");
	facts_end(f);
	facts_line(f, NULL, "{_names}");
	facts_line(f, "absent", "[{missing} of {name}]");
	facts_long_line(f, "wrapped",
		"{_names} stand at the beginning of a line that is too long "
		"for one, so it goes on below, {packets} packet{packets|s} "
		"further to the right than its label, however long the line "
		"may be");
	facts_list(f, "events");
	for (uint32_t i = 0; i < 3; i++) {
		facts_group(f, NULL);
		facts_real(f, "time_us", 0.5 + i);
		facts_print(f, "unit", "%s %u", i ? "link" : "card", i);
		if (i)
			facts_count(f, "_lanes", 3);
		facts_end(f);
	}
	facts_end(f);
	facts_each(f, "events", 2, "event", "{time_us}[_lanes?, {_lanes}]");
	facts_table(f, "events", columns, 2);
}

static char *written(void (*write)(FILE *, const struct facts *))
{
	char *text;
	size_t size;
	struct facts f;
	FILE *out = open_memstream(&text, &size);

	facts_init(&f);
	fill(&f);
	write(out, &f);
	facts_fini(&f);
	fclose(out);
	return text;
}

static void as_text(FILE *out, const struct facts *f)
{
	facts_text_write(out, &f->root, 0, false);
}

static void as_json(FILE *out, const struct facts *f)
{
	struct json j;

	json_init(&j, out);
	facts_json(&j, &f->root);
}

static void people_read_lines_and_tables(void **state)
{
	char *text = written(as_text);

	assert_string_equal(text,
		"long label of it 0.3333, 41.23 us\n"
		"bare, A+\n"
		"x, y\n"
		"wrapped     x, y stand at the beginning of a line that is too "
		"long for one, so\n"
		"            it goes on below, 1 packet further to the "
		"right than its label,\n"
		"            however long the line may be\n"
		"event       0.5\n"
		"            1.5, 3\n"
		"    time  unit    lanes\n"
		"0.500 us  card 0  -\n"
		"1.500 us  link 1  3 of 4\n"
		"sent        1 packet by A+  |,   +33.3 %, on "
		"its board\n");
	mem_free(text);
}

static void json_has_values_but_no_lines(void **state)
{
	char *text = written(as_json);

	assert_string_equal(text, "{\n"
				  "  \"packets\": 1,\n"
				  "  \"load_pct\": 33.333,\n"
				  "  \"name\": \"A+\",\n"
				  "  \"time_ns\": 41234,\n"
				  "  \"events\": [\n"
				  "    {\n"
				  "      \"time_us\": 0.5,\n"
				  "      \"unit\": \"card 0\"\n"
				  "    },\n"
				  "    {\n"
				  "      \"time_us\": 1.5,\n"
				  "      \"unit\": \"link 1\"\n"
				  "    },\n"
				  "    {\n"
				  "      \"time_us\": 2.5,\n"
				  "      \"unit\": \"link 2\"\n"
				  "    }\n"
				  "  ]\n"
				  "}\n");
	mem_free(text);
}

/* A copy's tables show the copy's rows. */
static void merged_facts_are_written_as_well(void **state)
{
	char *text, *direct = written(as_text);
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct facts all, f;

	facts_init(&all);
	facts_init(&f);
	facts_group(&f, "part");
	fill(&f);
	facts_end(&f);
	facts_merge(&all, &f);
	facts_fini(&f);
	facts_text_write(out, &all.root, 0, false);
	facts_fini(&all);
	fclose(out);
	assert_string_equal(text, direct);
	mem_free(text);
	mem_free(direct);
}

TESTS(TEST(people_read_lines_and_tables), TEST(json_has_values_but_no_lines),
	TEST(merged_facts_are_written_as_well))
