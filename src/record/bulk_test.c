#define _GNU_SOURCE
#include "record/bulk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/testing.h"

/* A file, gone when it is closed, whose rows may be written as pages. */
static struct db *new_file(void)
{
	struct err e = { 0 };
	char path[] = "/tmp/weft-bulk-XXXXXX";
	int fd = mkstemp(path);
	struct db *d;

	assert_true(fd >= 0);
	close(fd);
	d = db_create(path, IN_RUNS, &e);
	assert_non_null(d);
	assert_int_equal(db_pages_begin(d, &e), 0);
	return d;
}

static void assert_ends(struct db *d, struct bulk *b)
{
	struct err e = { 0 };

	bulk_end(b, &e);
	db_pages_end(d, &e);
	assert_int_equal(e.code, 0);
}

/* What SQLite says of the whole file. */
static void assert_whole(struct db *d)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(d, "PRAGMA main.integrity_check", &e);

	assert_true(db_next(q));
	assert_string_equal(db_text(q, 0), "ok");
	assert_int_equal(db_finish(q), 0);
}

/* Numbers of every length, and next to where one byte more is needed. */
static int64_t number(uint32_t i)
{
	uint64_t x = i / 6 ? UINT64_C(1) << i / 6 : 0;

	x += i % 3;
	x -= 1;
	return (int64_t)(i / 3 % 2 ? ~x : x);
}

enum { N_NUMBERS = 6 * 64 };

static void numbers_of_all_lengths_are_kept(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct bulk *b = bulk_new(d, TABLE_latency, &e);
	struct row_latency row;
	struct db_query *q;

	for (uint32_t i = 0; i < N_NUMBERS; i++) {
		row = (struct row_latency){ number(i), ROW_NULL, i };
		bulk_put(b, &row, &e);
	}
	assert_ends(d, b);
	assert_whole(d);
	q = row_select(d, TABLE_latency, "ORDER BY rowid", &e);
	for (uint32_t i = 0; i < N_NUMBERS; i++) {
		assert_true(row_next_latency(q, &row));
		assert_true(row.from_ps == number(i));
		assert_true(row.to_ps == ROW_NULL);
		assert_int_equal(row.count, i);
	}
	assert_false(row_next_latency(q, &row));
	db_finish(q);
	db_discard(d);
}

static struct row_link link_of(int64_t i)
{
	static const char *const names[] = { "A+", "", NULL, "node 17" };

	return (struct row_link){
		.id = 7 * i,
		.site = i / 10,
		.name = names[i % 4],
		.rate_Bps = 2000000000,
		.use = i % 5 ? (double)i / 3 : 0,
		.wanted = i % 3 ? 1 : NAN,
		.token_wait_ps = ROW_NULL,
	};
}

/* Enough for several databases, each with many pages. */
static void keys_texts_and_fractions_are_kept(void **state)
{
	enum { MANY = 50000 };
	struct err e = { 0 };
	struct db *d = new_file();
	struct bulk *b = bulk_new(d, TABLE_link, &e);
	struct row_link row, want;
	struct db_query *q;

	for (int64_t i = 0; i < MANY; i++) {
		row = link_of(i);
		bulk_put(b, &row, &e);
	}
	assert_ends(d, b);
	assert_whole(d);
	q = row_select(d, TABLE_link, "ORDER BY id", &e);
	for (int64_t i = 0; i < MANY; i++) {
		want = link_of(i);
		assert_true(row_next_link(q, &row));
		assert_int_equal(row.id, want.id);
		assert_int_equal(row.site, want.site);
		assert_string_equal(row.name, want.name ? want.name : "");
		assert_int_equal(db_is_null(q, 3), !want.name);
		assert_true(row.use == want.use);
		assert_int_equal(isnan(row.wanted), isnan(want.wanted));
		assert_true(row.token_wait_ps == ROW_NULL);
	}
	assert_false(row_next_link(q, &row));
	db_finish(q);
	db_discard(d);
}

/* Rows around the length of a page, in their order. */
static void rows_that_are_longer_than_a_page_are_kept(void **state)
{
	enum { FIRST = 3900, LAST = 4300 };
	struct err e = { 0 };
	struct db *d = new_file();
	struct bulk *b = bulk_new(d, TABLE_argument, &e);
	struct row_argument row = { .kind = "key" };
	char text[LAST + 1];
	struct db_query *q;

	memset(text, 'x', sizeof(text));
	row.value = text;
	for (row.n = FIRST; row.n < LAST; row.n++) {
		text[row.n] = '\0';
		bulk_put(b, &row, &e);
		text[row.n] = 'x';
	}
	assert_ends(d, b);
	assert_whole(d);
	q = row_select(d, TABLE_argument, "ORDER BY rowid", &e);
	for (int64_t n = FIRST; n < LAST; n++) {
		assert_true(row_next_argument(q, &row));
		assert_int_equal(row.n, n);
		assert_int_equal(strlen(row.value), n);
		assert_string_equal(row.kind, "key");
	}
	db_finish(q);
	db_discard(d);
}

static void lists_are_kept(void **state)
{
	static const uint8_t list[300] = { 1, 2, 3 };
	struct err e = { 0 };
	struct db *d = new_file();
	struct bulk *b = bulk_new(d, TABLE_sample, &e);
	struct row_sample row = { .n = 5, .use = { list, sizeof(list) } };
	struct db_query *q;

	bulk_put(b, &row, &e);
	assert_ends(d, b);
	q = row_select(d, TABLE_sample, "", &e);
	assert_true(row_next_sample(q, &row));
	assert_int_equal(row.n, 5);
	assert_int_equal(row.use.n, sizeof(list));
	assert_memory_equal(row.use.bytes, list, sizeof(list));
	assert_int_equal(row.waiting.n, 0);
	db_finish(q);
	db_discard(d);
}

/* More than a page has children, so that there are two levels above rows. */
static void many_pages_are_kept(void **state)
{
	enum { MANY = 70000, LONG = 50 };
	struct err e = { 0 };
	struct db *d = new_file();
	struct bulk *b = bulk_new(d, TABLE_spent, &e);
	char cause[LONG + 1];
	struct row_spent row = { .cause = cause };
	struct db_query *q;

	memset(cause, 'c', LONG);
	cause[LONG] = '\0';
	for (row.ps = 0; row.ps < MANY; row.ps++)
		bulk_put(b, &row, &e);
	assert_ends(d, b);
	assert_whole(d);
	q = db_prepare(d,
		"SELECT count(*), sum(ps), sum(length(cause)), max(rowid) FROM"
		" spent",
		&e);
	assert_true(db_next(q));
	assert_int_equal(db_int(q, 0), MANY);
	assert_int_equal(db_int(q, 1), (int64_t)MANY * (MANY - 1) / 2);
	assert_int_equal(db_int(q, 2), MANY * LONG);
	assert_int_equal(db_int(q, 3), MANY);
	db_finish(q);
	db_discard(d);
}

static int64_t count(struct db *d, const char *sql)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(d, sql, &e);
	int64_t n = db_next(q) ? db_int(q, 0) : -1;

	db_finish(q);
	return n;
}

/* Several tables at once, none at all, and rows that SQLite writes before and
 * after. */
static void tables_follow_each_other(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_latency latency = { 1, 2, 3 };
	struct row_spent spent = { .message = 4, .cause = "wire", .ps = 5 };
	struct row_hop hop = { .message = 6 };
	struct bulk *one = bulk_new(d, TABLE_latency, &e);
	struct bulk *two = bulk_new(d, TABLE_spent, &e);

	for (int k = 0; k < 1000; k++) {
		bulk_put(one, &latency, &e);
		bulk_put(two, &spent, &e);
	}
	bulk_end(one, &e);
	bulk_end(two, &e);
	bulk_end(bulk_new(d, TABLE_link, &e), &e);
	db_pages_end(d, &e);
	for (int i = 0; i < 1000; i++) {
		row_put_spent(d, &spent, &e);
		row_put_latency(d, &latency, &e);
	}
	assert_whole(d);
	db_pages_begin(d, &e);
	one = bulk_new(d, TABLE_hop, &e);
	for (int k = 0; k < 1000; k++)
		bulk_put(one, &hop, &e);
	assert_ends(d, one);
	row_put_spent(d, &spent, &e);
	assert_int_equal(e.code, 0);
	assert_whole(d);
	assert_int_equal(count(d, "SELECT count(*) FROM latency"), 2000);
	assert_int_equal(count(d, "SELECT count(*) FROM spent"), 2001);
	assert_int_equal(count(d, "SELECT sum(message) FROM hop"), 6000);
	assert_int_equal(count(d, "SELECT count(*) FROM link"), 0);
	db_discard(d);
}

/* A file in memory has no pages of ours. */
static void rows_in_memory_are_kept(void **state)
{
	struct err e = { 0 };
	struct db *d = db_create(NULL, IN_RUNS, &e);
	struct row_latency latency = { 1, 2, 3 };
	struct bulk *b;

	assert_int_equal(db_pages_begin(d, &e), 0);
	b = bulk_new(d, TABLE_latency, &e);
	bulk_put(b, &latency, &e);
	bulk_put(b, &latency, &e);
	assert_ends(d, b);
	assert_int_equal(count(d, "SELECT sum(count) FROM latency"), 6);
	db_close(d);
}

/* Until the first transaction a file counts as empty, and so does one without
 * a byte. */
static void a_file_that_has_not_begun_is_empty(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();

	db_pages_end(d, &e);
	assert_true(db_is_empty(db_path(d)));
	db_begin(d, &e);
	db_do(d, "COMMIT", &e);
	assert_int_equal(e.code, 0);
	assert_false(db_is_empty(db_path(d)));
	assert_int_equal(truncate(db_path(d), 0), 0);
	assert_true(db_is_empty(db_path(d)));
	db_discard(d);
}

TESTS(TEST(numbers_of_all_lengths_are_kept),
	TEST(keys_texts_and_fractions_are_kept),
	TEST(rows_that_are_longer_than_a_page_are_kept), TEST(lists_are_kept),
	TEST(many_pages_are_kept), TEST(tables_follow_each_other),
	TEST(rows_in_memory_are_kept), TEST(a_file_that_has_not_begun_is_empty))
