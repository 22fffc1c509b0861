#define _GNU_SOURCE
#include <string.h>

#include "base/mem.h"
#include "record/tables.h"
#include "report/report.h"
#include "testing/testing.h"

enum { N_LINKS = 2 };

static struct db *new_file(void)
{
	struct err e = { 0 };
	struct db *d = db_create(NULL, IN_RUNS, &e);

	assert_non_null(d);
	return d;
}

/* A sample whose lists are all the same but for what links want. */
static void add_sample(struct db *d, int64_t n, int64_t from, int64_t to,
	const uint16_t list[N_LINKS], const uint16_t *wanted)
{
	const struct row_list l = { (const uint8_t *)list, 2 * N_LINKS };
	struct row_sample row = {
		.n = n, .from_ps = from, .to_ps = to, .use = l, .waiting = l
	};
	struct err e = { 0 };

	if (wanted)
		row.wanted = (struct row_list){ (const uint8_t *)wanted,
			2 * N_LINKS };
	assert_int_equal(row_put_sample(d, &row, &e), 0);
}

/* What a page gets, without blanks; to be freed. */
static char *load_of(struct db *d, struct err *e)
{
	char *text = NULL, *to;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	struct json j;

	json_init(&j, f);
	json_object(&j, NULL);
	report_load(d, N_LINKS, &j, e);
	json_end(&j, '}');
	fclose(f);
	for (i = 0, to = text; text[i]; i++)
		if (!strchr(" \n", text[i]))
			*to++ = text[i];
	*to = '\0';
	db_close(d);
	return text;
}

static void has(struct db *d, const char *want)
{
	struct err e = { 0 };
	char *text = load_of(d, &e);

	assert_int_equal(e.code, 0);
	if (!strstr(text, want))
		fail_msg("no %s in %s", want, text);
	mem_free(text);
}

static void refuses(struct db *d, const char *why)
{
	struct err e = { 0 };

	mem_free(load_of(d, &e));
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	assert_non_null(strstr(e.text, why));
}

static const uint16_t none[] = { 0, 0 }, all[] = { 10000, 10000 };
static const uint16_t first[] = { 10000, 0 };

static void a_file_without_samples_has_no_load(void **state)
{
	has(new_file(), "{}");
}

static void samples_are_steps_where_they_are_few(void **state)
{
	struct db *d = new_file();

	add_sample(d, 0, 0, 100, first, NULL);
	add_sample(d, 1, 100, 200, none, NULL);
	/* [step][link]: 255, 0, then 0, 0 */
	has(d, "\"steps\":2,\"end_ps\":200,\"use\":[\"u8\",\"/wAAAA==\"]");
}

static void a_sample_is_shared_out_to_the_steps_that_it_lies_in(void **state)
{
	struct db *d = new_file();

	/* two steps of 75 ps: a third of the first is busy */
	add_sample(d, 0, 0, 50, none, NULL);
	add_sample(d, 1, 50, 150, first, NULL);
	has(d, "\"steps\":2,\"end_ps\":150,\"use\":[\"u8\",\"VQD/AA==\"]");
	d = new_file();
	add_sample(d, 0, 0, 150, all, NULL);
	add_sample(d, 1, 150, 200, first, NULL);
	/* 255, 255, then 255, 127.5 */
	has(d, "\"use\":[\"u8\",\"////gA==\"]");
}

static void queues_are_logarithms(void **state)
{
	static const uint16_t some[] = { 15, 255 };
	struct db *d = new_file();

	add_sample(d, 0, 0, 100, some, NULL);
	/* 255 * 4 / 16 and 255 * 8 / 16 */
	has(d, "\"waiting\":[\"u8\",\"QIA=\"]");
}

static void where_nobody_looked_links_are_wanted_as_before(void **state)
{
	static const uint16_t some[] = { 15, 0 };
	struct db *d = new_file();

	add_sample(d, 0, 0, 100, none, some);
	add_sample(d, 1, 100, 200, none, NULL);
	has(d, "\"wanted\":[\"u8\",\"QABAAA==\"]");
	d = new_file();
	add_sample(d, 0, 0, 100, none, NULL);
	add_sample(d, 1, 100, 200, none, some);
	has(d, "\"wanted\":[\"u8\",\"AABAAA==\"]");
	/* as in older files */
	d = new_file();
	add_sample(d, 0, 0, 100, first, NULL);
	has(d, "\"wanted\":[\"u8\",\"AA==\",2]");
}

static void channels_that_share_links_have_loads_of_their_own(void **state)
{
	const struct row_list l = { (const uint8_t *)first, 2 * N_LINKS };
	struct row_shared_sample row = { .sample = 0, .use = l, .waiting = l };
	struct db *d = new_file();
	struct err e = { 0 };

	add_sample(d, 0, 0, 100, all, NULL);
	row.channel = "low";
	row_put_shared_sample(d, &row, &e);
	row.channel = "high";
	row_put_shared_sample(d, &row, &e);
	has(d, "\"channels\":[{\"channel\":\"high\",\"links\":[\"u8\",\"AA==\"]"
	       ","
	       "\"use\":[\"u8\",\"/w==\"],\"waiting\":[\"u8\",\"1A==\"]},"
	       "{\"channel\":\"low\",");
}

static void retries_are_of_the_links_that_have_most(void **state)
{
	static const uint16_t some[] = { 3, 15 };
	struct db *d = new_file();
	struct err e = { 0 };
	struct row_sample row = { .to_ps = 100 };

	row.use = row.waiting =
		(struct row_list){ (const uint8_t *)none, 2 * N_LINKS };
	row.retries = (struct row_list){ (const uint8_t *)some, 2 * N_LINKS };
	row_put_sample(d, &row, &e);
	has(d, "\"retries\":{\"links\":[\"u8\",\"AQA=\"],\"retries\":[\"u8\","
	       "\"QCA=\"]}");
}

static void samples_that_do_not_fit_are_refused(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_sample row = { .to_ps = 100 };

	row_put_sample(d, &row, &e);
	refuses(d, "a sample does not match the links");
	d = new_file();
	add_sample(d, 0, 100, 100, all, NULL);
	refuses(d, "a sample does not match the links");
	d = new_file();
	add_sample(d, 0, -1, 100, all, NULL);
	refuses(d, "a sample does not match the links");
}

TESTS(TEST(a_file_without_samples_has_no_load),
	TEST(samples_are_steps_where_they_are_few),
	TEST(a_sample_is_shared_out_to_the_steps_that_it_lies_in),
	TEST(queues_are_logarithms),
	TEST(where_nobody_looked_links_are_wanted_as_before),
	TEST(channels_that_share_links_have_loads_of_their_own),
	TEST(retries_are_of_the_links_that_have_most),
	TEST(samples_that_do_not_fit_are_refused))
