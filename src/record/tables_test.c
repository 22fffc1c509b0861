#include "record/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "testing/testing.h"

/* A file in memory with the tables of one kind. */
static struct db *new_file(int files)
{
	struct err e = { 0 };
	struct db *d = db_create(NULL, files, &e);

	assert_non_null(d);
	return d;
}

static void a_row_is_read_as_it_was_written(void **state)
{
	static const uint8_t use[] = { 1, 0, 2, 1, 255, 255 };
	struct err e = { 0 };
	struct db *d = new_file(IN_RUNS);
	struct row_link link = { .id = 7,
		.name = "A+",
		.use = 0.25,
		.to_site = -3,
		.rate_Bps = INT64_MAX,
		.wanted = 1e-9 };
	struct row_sample sample = { .n = 2, .use = { use, sizeof(use) } };
	struct db_query *q;

	assert_int_equal(row_put_link(d, &link, &e), 0);
	assert_int_equal(row_put_sample(d, &sample, &e), 0);
	link = (struct row_link){ .id = 0 };
	q = row_select(d, TABLE_link, "WHERE use < ?", &e);
	db_bind_real(q, 1, 0.5);
	assert_true(row_next_link(q, &link));
	assert_int_equal(link.id, 7);
	assert_string_equal(link.name, "A+");
	assert_int_equal(link.to_site, -3);
	assert_true(link.rate_Bps == INT64_MAX);
	assert_true(link.use == 0.25 && link.wanted == 1e-9);
	assert_false(row_next_link(q, &link));
	assert_int_equal(db_finish(q), 0);
	q = row_select(d, TABLE_sample, "", &e);
	assert_true(row_next_sample(q, &sample));
	assert_int_equal(sample.use.n, sizeof(use));
	assert_int_equal(row_item(&sample.use, 1), 258);
	assert_int_equal(row_item(&sample.use, 2), 65535);
	assert_int_equal(row_item(&sample.use, 3), 0);
	db_finish(q);
	db_close(d);
}

static void what_is_not_known_is_null(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file(IN_RUNS);
	struct row_link link = { .token_wait_ps = ROW_NULL, .wanted = NAN };
	struct row_sample sample = { .n = 1 };
	struct db_query *q;

	row_put_link(d, &link, &e);
	row_put_sample(d, &sample, &e);
	q = db_prepare(d,
		"SELECT token_wait_ps IS NULL AND link.wanted IS NULL AND"
		" link.channel IS NULL AND link.retries = 0 AND"
		" sample.use IS NULL FROM link, sample",
		&e);
	assert_true(db_next(q));
	assert_int_equal(db_int(q, 0), 1);
	db_finish(q);
	q = row_select(d, TABLE_link, "", &e);
	assert_true(row_next_link(q, &link));
	assert_true(link.token_wait_ps == ROW_NULL && isnan(link.wanted));
	assert_string_equal(link.channel, "");
	db_finish(q);
	q = row_select(d, TABLE_sample, "", &e);
	assert_true(row_next_sample(q, &sample));
	assert_null(sample.wanted.bytes);
	db_finish(q);
	db_close(d);
}

static void a_value_is_a_text_or_a_number(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file(IN_SWEEPS);
	struct row_meta row = { .key = "seed", .value = { .number = 5 } };
	struct db_query *q;

	row_put_meta(d, &row, &e);
	row = (struct row_meta){ .key = "what", .value = { .text = "7" } };
	row_put_meta(d, &row, &e);
	q = row_select(d, TABLE_meta, "ORDER BY key", &e);
	assert_true(row_next_meta(q, &row));
	assert_null(row.value.text);
	assert_int_equal(row.value.number, 5);
	assert_true(row_next_meta(q, &row));
	assert_string_equal(row.value.text, "7");
	db_finish(q);
	db_close(d);
}

static int64_t count(struct db *d, const char *sql)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(d, sql, &e);
	int64_t n = db_next(q) ? db_int(q, 0) : -1;

	db_finish(q);
	return n;
}

static void a_row_takes_the_place_of_one_with_its_key(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file(IN_RUNS);
	struct row_figure row = { .name = "latency_ns", .value = 1 };

	row_put_figure(d, &row, &e);
	row.value = 2;
	row_put_figure(d, &row, &e);
	assert_int_equal(count(d, "SELECT count(*) FROM figure"), 1);
	assert_int_equal(count(d, "SELECT value FROM figure"), 2);
	db_close(d);
}

static void nothing_is_written_or_read_after_an_error(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file(IN_RUNS);
	struct row_figure row = { .name = "a" };
	struct db_query *q;

	row_put_figure(d, &row, &e);
	q = row_select(d, TABLE_figure, "", &e);
	err_set(&e, "something else");
	assert_false(row_next_figure(q, &row));
	assert_int_equal(db_finish(q), -1);
	row.name = "b";
	assert_int_equal(row_put_figure(d, &row, &e), -1);
	assert_null(row_select(d, TABLE_point, "", &e));
	assert_string_equal(e.text, "something else");
	assert_int_equal(count(d, "SELECT count(*) FROM figure"), 1);
	db_close(d);
}

static void runs_and_sweeps_have_tables_of_their_own(void **state)
{
	struct db *run = new_file(IN_RUNS), *sweep = new_file(IN_SWEEPS);

	assert_int_equal(count(run, "SELECT count(*) FROM channel_sample"), 0);
	assert_int_equal(count(run, "SELECT count(*) FROM point"), -1);
	assert_int_equal(count(sweep, "SELECT count(machine) FROM param"), 0);
	assert_int_equal(count(sweep, "SELECT count(*) FROM link"), -1);
	assert_int_equal(count(run, "SELECT count(machine) FROM param"), -1);
	db_close(run);
	db_close(sweep);
}

/* Files of schema 2 in memory. */
static struct db *new_old(const char *sql)
{
	struct err e = { 0 };
	struct db *d = db_create(NULL, 0, &e);

	assert_int_equal(db_do(d, sql, &e), 0);
	assert_int_equal(tables_complete(d, 2, &e), 0);
	return d;
}

static void an_older_file_lacks_nothing(void **state)
{
	struct db *run = new_old("CREATE TABLE link(id, use, channel);"
				 "INSERT INTO link VALUES(3, 0.5, 'x');"
				 "CREATE TABLE param(path);");
	struct db *sweep = new_old("CREATE TABLE point(id); CREATE TABLE"
				   " input(kind, path, hash);"
				   "INSERT INTO input VALUES(1, 2, 3)");

	assert_int_equal(count(run, "SELECT count(*) FROM link WHERE"
				    " wanted IS NULL AND id = 3"),
		1);
	assert_int_equal(count(run, "SELECT count(hash) FROM input"), 0);
	/* what it lacks although its schema has it is an error */
	assert_int_equal(count(run, "SELECT count(latency_ps) FROM link"), -1);
	assert_int_equal(count(run, "SELECT count(*) FROM sample"), -1);
	assert_int_equal(count(run, "SELECT count(machine) FROM param"), -1);
	assert_int_equal(count(sweep, "SELECT hash FROM input"), 3);
	assert_int_equal(count(sweep, "SELECT count(machine) FROM param"), 0);
	db_close(run);
	db_close(sweep);
}

static void the_list_of_columns_is_in_order(void **state)
{
	for (size_t i = 0; i < N_TABLES; i++) {
		const struct record_table *t = &record_tables[i];

		assert_in_range(t->n, 2, 64);
		for (size_t k = 0; k < t->n; k++) {
			const struct record_column *c = &t->column[k];

			assert_in_range(c->since, t->since, DB_SCHEMA);
			assert_true(!k || c->since >= c[-1].since);
			assert_true(*c->meaning && *c->name);
			for (size_t m = 0; m < k; m++)
				assert_string_not_equal(
					c->name, t->column[m].name);
		}
	}
}

static void lists_have_the_scales_that_are_listed(void **state)
{
	static const struct {
		const char *name;
		int scale;
	} want[] = {
		{ "use", RECORD_USE_SCALE },
		{ "waiting", RECORD_WAITING_SCALE },
		{ "wanted", RECORD_WAITING_SCALE },
		{ "token_wait", RECORD_TOKENS_SCALE },
		{ "retries", 1 },
	};
	static const enum table_number in[] = { TABLE_sample,
		TABLE_shared_sample };
	uint32_t n = 0;
	char unit[24];

	for (uint32_t t = 0; t < 2; t++)
		for (uint32_t i = 0; i < record_tables[in[t]].n; i++)
			for (uint32_t k = 0; k < 5; k++) {
				const struct record_column *c =
					&record_tables[in[t]].column[i];

				if (strcmp(c->name, want[k].name) != 0)
					continue;
				snprintf(unit, sizeof(unit), "1/%d",
					want[k].scale);
				assert_string_equal(c->unit, unit);
				n++;
			}
	assert_int_equal(n, 9);
}

static void parameters_of_runs_begin_as_those_of_sweeps(void **state)
{
	const struct record_table *run = &record_tables[TABLE_param];
	const struct record_table *sweep = &record_tables[TABLE_swept_param];

	assert_int_equal(sweep->n, run->n + 1);
	for (size_t i = 0; i < run->n; i++) {
		assert_string_equal(run->column[i].name, sweep->column[i].name);
		assert_int_equal(run->column[i].type, sweep->column[i].type);
		assert_int_equal(
			run->column[i].offset, sweep->column[i].offset);
	}
}

static void only_our_views_are_ours(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file(IN_RUNS);
	struct db_query *q = db_prepare(
		d, "SELECT sql FROM sqlite_schema WHERE type = 'view'", &e);
	int n = 0;

	for (; db_next(q); n++)
		assert_true(tables_has_view(db_text(q, 0)));
	assert_int_equal(n, 2);
	db_finish(q);
	db_close(d);
	assert_false(tables_has_view("CREATE VIEW channel AS SELECT 1"));
	assert_false(tables_has_view(""));
	assert_false(tables_has_view(NULL));
}

TESTS(TEST(a_row_is_read_as_it_was_written), TEST(what_is_not_known_is_null),
	TEST(a_value_is_a_text_or_a_number),
	TEST(a_row_takes_the_place_of_one_with_its_key),
	TEST(nothing_is_written_or_read_after_an_error),
	TEST(runs_and_sweeps_have_tables_of_their_own),
	TEST(an_older_file_lacks_nothing),
	TEST(the_list_of_columns_is_in_order),
	TEST(lists_have_the_scales_that_are_listed),
	TEST(parameters_of_runs_begin_as_those_of_sweeps),
	TEST(only_our_views_are_ours))
