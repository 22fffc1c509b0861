#define _GNU_SOURCE
#include "report/trace.h"

#include <string.h>

#include "base/mem.h"
#include "record/tables.h"
#include "testing/testing.h"

/* Two nodes and a link from one to the other. */
static struct db *new_file(void)
{
	struct err e = { 0 };
	struct db *d = db_create(NULL, IN_RUNS, &e);
	struct row_site site = { .id = 0, .name = "node 0", .is_node = 1 };
	struct row_link link = { .name = "A+", .to_site = 1, .use = 0.5 };

	row_put_site(d, &site, &e);
	site.id = 1;
	site.name = "node 1";
	row_put_site(d, &site, &e);
	row_put_link(d, &link, &e);
	assert_int_equal(e.code, 0);
	return d;
}

struct text {
	char *bytes;
	size_t n;
};

static struct text write_trace(struct db *d, struct err *e)
{
	struct text t = { NULL, 0 };
	FILE *f = open_memstream(&t.bytes, &t.n);

	trace_write(d, f, e);
	fclose(f);
	db_close(d);
	return t;
}

static size_t count(const struct text *t, const char *what)
{
	const char *at = t->bytes, *end = t->bytes + t->n;
	size_t n = 0;

	while ((at = memmem(at, (size_t)(end - at), what, strlen(what)))) {
		at++;
		n++;
	}
	return n;
}

static void refuses(struct db *d, const char *why)
{
	struct err e = { 0 };
	struct text t = write_trace(d, &e);

	assert_int_equal(e.code, EXIT_BAD_INPUT);
	assert_non_null(strstr(e.text, why));
	mem_free(t.bytes);
}

static void a_trace_has_groups_and_the_busiest_links(void **state)
{
	struct err e = { 0 };
	struct text t = write_trace(new_file(), &e);

	assert_int_equal(e.code, 0);
	assert_int_equal(count(&t, "the busiest links"), 1);
	assert_int_equal(count(&t, "node 0 A+"), 2);
	assert_int_equal(count(&t, "waiting at its end"), 1);
	/* nothing happens at sites, so they have no tracks */
	assert_int_equal(count(&t, "node 1"), 0);
	mem_free(t.bytes);
}

static struct row_message message(int64_t id, int64_t start, int64_t end)
{
	return (struct row_message){ .id = id,
		.number = 4,
		.to_node = 1,
		.class = "put",
		.start_ps = start,
		.end_ps = end };
}

static void messages_that_overlap_are_on_lanes_of_their_own(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_message a = message(0, 1000, 3000);
	struct row_message b = message(1, 2000, 4000);
	struct row_message c = message(2, 3000, 5000);
	struct text t;

	row_put_message(d, &a, &e);
	row_put_message(d, &b, &e);
	row_put_message(d, &c, &e);
	t = write_trace(d, &e);
	assert_int_equal(e.code, 0);
	/* the part of the site and two lanes of it; the third fits into the
	 * first */
	assert_int_equal(count(&t, "messages"), 3);
	assert_int_equal(count(&t, "put 0.4"), 6);
	assert_int_equal(count(&t, "received"), 1);
	mem_free(t.bytes);
}

static void a_hop_is_on_the_track_of_its_part(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_message m = message(0, 0, 9000);
	struct row_hop hop = { .to_ps = 4000,
		.cause = "wire",
		.what = "out by",
		.number = 3,
		.link = 0,
		.channel = "high" };
	struct text t;

	row_put_message(d, &m, &e);
	row_put_hop(d, &hop, &e);
	hop.from_ps = hop.to_ps;
	hop.to_ps = 9000;
	hop.what = "reception";
	hop.number = hop.link = ROW_NULL;
	row_put_hop(d, &hop, &e);
	t = write_trace(d, &e);
	assert_int_equal(e.code, 0);
	assert_int_equal(count(&t, "out by 3 A+"), 2);
	assert_int_equal(count(&t, "reception"), 2);
	assert_int_equal(count(&t, "high"), 2);
	mem_free(t.bytes);
}

static void calls_and_transfers_are_on_tracks_of_processes(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_call call = { .name = "wait",
		.process = 2,
		.from_ps = 10,
		.to_ps = ROW_NULL,
		.rank = ROW_NULL,
		.peer = ROW_NULL,
		.tag = ROW_NULL,
		.bytes = ROW_NULL };
	struct row_transfer x = { .id = 1,
		.to_node = 1,
		.tag = 7,
		.bytes = 64,
		.sent_ps = 5,
		.received_ps = ROW_NULL,
		.from_rank = ROW_NULL,
		.to_rank = ROW_NULL };
	struct text t;

	row_put_call(d, &call, &e);
	row_put_transfer(d, &x, &e);
	t = write_trace(d, &e);
	assert_int_equal(e.code, 0);
	assert_int_equal(count(&t, "process 2"), 1);
	assert_int_equal(count(&t, "wait"), 2); /* and of the link's counter */
	assert_int_equal(count(&t, "send to node 1, tag 7, 64 B"), 1);
	assert_int_equal(count(&t, "received from"), 0);
	mem_free(t.bytes);
}

static void ranks_have_tracks_with_their_calls(void **state)
{
	struct err e = { 0 };
	struct db *d = new_file();
	struct row_call call = { .name = "MPI_Recv",
		.node = 1,
		.from_ps = 10,
		.to_ps = 20,
		.rank = 5,
		.peer = 3,
		.tag = 77,
		.bytes = 4096 };
	struct row_transfer x = { .id = 1,
		.to_node = 1,
		.tag = 7,
		.sent_ps = 5,
		.received_ps = 9,
		.from_rank = 3,
		.to_rank = 5 };
	struct text t;

	row_put_call(d, &call, &e);
	row_put_transfer(d, &x, &e);
	t = write_trace(d, &e);
	assert_int_equal(e.code, 0);
	assert_int_equal(count(&t, "rank 5, node 1"), 1);
	assert_int_equal(count(&t, "rank 3, node 0"), 1);
	assert_int_equal(count(&t, "MPI_Recv"), 1);
	assert_int_equal(count(&t, "4096"), 1);
	assert_int_equal(count(&t, "send to rank 5, tag 7"), 1);
	assert_int_equal(count(&t, "received from rank 3"), 1);
	assert_int_equal(count(&t, "process"), 0);
	mem_free(t.bytes);
}

static void rows_that_cannot_be_are_refused(void **state)
{
	struct err e = { 0 };
	struct row_message m = message(0, 1000, 500);
	struct row_sample sample = { .from_ps = 5, .to_ps = 5 };
	struct db *d = new_file();

	row_put_message(d, &m, &e);
	refuses(d, "ends before it begins");
	d = new_file();
	m = message(0, 500, 1000);
	m.to_node = 2;
	row_put_message(d, &m, &e);
	refuses(d, "a message names a site that does not exist");
	d = new_file();
	row_put_sample(d, &sample, &e);
	refuses(d, "ends before it begins");
}

TESTS(TEST(a_trace_has_groups_and_the_busiest_links),
	TEST(messages_that_overlap_are_on_lanes_of_their_own),
	TEST(a_hop_is_on_the_track_of_its_part),
	TEST(calls_and_transfers_are_on_tracks_of_processes),
	TEST(ranks_have_tracks_with_their_calls),
	TEST(rows_that_cannot_be_are_refused))
