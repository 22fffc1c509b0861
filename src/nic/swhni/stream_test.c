/* Long messages, and many of them: what a port carries, and who gets it. */
#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

/* --- SUN-N61, SUN-N67: the law of streams --- */

struct stream {
	uint32_t bytes, count, port;
};

static void stream_program(struct st *m, site_id node)
{
	const struct stream *s = m->arg;
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(31, 0, s->bytes);
	uint32_t posted = 0, ended = 0;

	if (node == 31) {
		st_await(ST_TARGET + ST_BYTES - 8, 2);
		m->at = program_now();
		st_await(ST_TARGET + ST_BYTES - 8, s->count);
		m->end = program_now();
		return;
	}
	if (node)
		return;
	d.port = (uint8_t)s->port;
	d.flags = SWHNI_TELL | SWHNI_REPLY;
	d.reply.key = ST_KEY;
	d.reply.offset = ST_BYTES - 8;
	while (ended < s->count) {
		for (; posted < s->count && posted - ended < 32; posted++)
			st_put(&q, &d);
		st_ring(&q);
		assert_int_equal(st_error(&q), SWHNI_OK);
		ended++;
	}
}

/* Bytes a second, between the second message and the last. */
static double rate_of(uint32_t bytes, uint32_t count, uint32_t port)
{
	struct stream s = { bytes, count, port };
	struct st m;
	double rate;

	st_init(&m);
	m.arg = &s;
	st_run(&m, 0, stream_program);
	rate = (double)bytes * (count - 2) * 1e12 / (double)(m.end - m.at);
	st_fini(&m);
	return rate;
}

/* What the law n / 13.324 GB/s + 271 ns gives, in printed digits. */
static void a_stream_takes_its_bytes_and_the_issue_of_each_message(void **state)
{
	static const struct {
		uint32_t bytes;
		double law;
	} sizes[] = { { 64, 0.23 }, { 256, 0.88 }, { 1024, 2.94 },
		{ 2048, 4.82 }, { 4096, 7.08 }, { 8192, 9.24 },
		{ 16384, 10.91 }, { 65536, 12.62 }, { 262144, 13.13 },
		{ 1 << 20, 13.278 }, { 4 << 20, 13.312 } };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint32_t n = sizes[i].bytes;
		double rate = rate_of(n, n < 65536 ? 200 : 20, 1) / 1e9;

		assert_true(rate > sizes[i].law * 0.99);
		assert_true(rate < sizes[i].law * 1.01);
	}
}

/* Between two messages nothing else shows. */
static void the_time_of_a_message_is_its_wire_and_its_issue(void **state)
{
	struct stream s = { 4096, 102, 1 };
	struct st m;

	st_init(&m);
	m.arg = &s;
	st_run(&m, 0, stream_program);
	assert_int_equal((m.end - m.at) / 100,
		2 * link_ser(&m.kit.net->link, 2048) + 271 * SIM_NS);
	assert_int_equal((m.end - m.at) % 100, 0);
	st_fini(&m);
}

/* --- reads of many nodes from one --- */

enum { READ_BYTES = 1 << 20, READERS = 12 };

static void read_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(0, 0, READ_BYTES);

	(void)m;
	if (!node) {
		st_fill(ST_TARGET, READ_BYTES, 5);
		return;
	}
	program_wait(1000 * SIM_NS);
	d.type = SWHNI_READ;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	assert_true(st_is(ST_SOURCE, READ_BYTES, 5));
}

/* The last ones wait for many time-outs, and ask again.  Were they answered
 * each time, the others would wait even longer. */
static void a_read_waits_for_others_and_is_answered_once(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 1 + READERS, read_program);
	assert_int_equal(nic_count(m.kit.nic, 0, "reads_asked"), READERS);
	assert_true(nic_sum(m.kit.nic, "resent") > READERS);
	assert_int_equal(nic_sum(m.kit.nic, "doubles"), 0);
	st_fini(&m);
}

TESTS(TEST(a_stream_takes_its_bytes_and_the_issue_of_each_message),
	TEST(the_time_of_a_message_is_its_wire_and_its_issue),
	TEST(a_read_waits_for_others_and_is_answered_once))
