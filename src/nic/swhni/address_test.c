/* Addresses: spaces, pages, the TLB; jobs that leave. */
#include <errno.h>
#include <string.h>

#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

enum { PAGED = 20, TABLE = 0x8000000 };

static void add(const struct st_queue *q, struct swhni_handle h)
{
	struct nic_at a = st_now(q);

	h.job = ST_JOB;
	h.rights = SWHNI_MAY_READ | SWHNI_MAY_WRITE;
	assert_int_equal(swhni_register(&a, &h), 0);
}

/* --- SUN-F44: three kinds of addresses --- */

static void space_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 0, 10000);

	(void)m;
	add(&q, (struct swhni_handle){ .key = 10,
			.space = SWHNI_PHYSICAL,
			.at = ST_TARGET,
			.bytes = 0x100000 });
	add(&q, (struct swhni_handle){ .key = 11,
			.space = SWHNI_SEGMENT,
			.at = ST_TARGET + 0x100000,
			.bytes = 0x100000 });
	add(&q, (struct swhni_handle){ .key = 12,
			.space = SWHNI_PAGED,
			.page = 12,
			.at = ST_TARGET + 0x200000 + 123,
			.bytes = 0x100000 });
	if (node)
		return;
	st_fill(ST_SOURCE, 10000, 5);
	for (uint32_t i = 0; i < 3; i++) {
		d.key = 10 + i;
		d.offset = i ? 77 : ST_TARGET + 77;
		st_post(&q, &d);
		assert_int_equal(st_error(&q), SWHNI_OK);
	}
	/* an offset is no address, and an address no offset */
	d.key = 10;
	d.offset = 77;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OUT_OF_BOUNDS);
	d.key = 11;
	d.offset = ST_TARGET + 77;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OUT_OF_BOUNDS);
}

static bool has(const struct st *m, site_id node, uint64_t at, uint32_t n,
	uint64_t number)
{
	static uint8_t bytes[1 << 17];

	assert_true(host_read(m->kit.host, node, at, bytes, n));
	return memory_is_by(1, number, 0, bytes, n);
}

/* SUN-F44 */
static void handles_are_physical_segmented_and_paged(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, space_program);
	assert_true(has(&m, 1, ST_TARGET + 77, 10000, 5));
	assert_true(has(&m, 1, ST_TARGET + 0x100000 + 77, 10000, 5));
	assert_true(has(&m, 1, ST_TARGET + 0x200000 + 123 + 77, 10000, 5));
	st_fini(&m);
}

/* Pages lie in reverse order, of every size. */
static void scatter_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 100, 60000);
	uint32_t page = *(const uint32_t *)m->arg;
	uint64_t n = (UINT64_C(1) << 24 >> page) + 1;

	for (uint64_t i = 0; i < n; i++)
		st_store(TABLE + 8 * i, ST_TARGET + ((n - 1 - i) << page));
	add(&q, (struct swhni_handle){ .key = PAGED,
			.space = SWHNI_PAGED,
			.page = (uint8_t)page,
			.bytes = n << page,
			.table = TABLE });
	if (node)
		return;
	st_fill(ST_SOURCE + 200, 60000, 6);
	d.own_offset = 200;
	d.key = PAGED;
	d.offset = (UINT64_C(1) << page) - 30000 % (1u << page) + 1;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	/* and back, by a read */
	d.type = SWHNI_READ;
	d.own_offset = 1 << 20;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	assert_true(st_is(ST_SOURCE + (1 << 20), 60000, 6));
	m->seen = d.offset;
}

/* SUN-F44 */
static void pages_of_all_sizes_may_lie_anywhere(void **state)
{
	for (uint32_t page = 12; page <= 23; page++) {
		struct st m;
		uint64_t n = (UINT64_C(1) << 24 >> page) + 1, size, i = 0;
		uint8_t byte, want;

		st_init(&m);
		m.arg = &page;
		st_run(&m, 2, scatter_program);
		size = UINT64_C(1) << page;
		for (; i < 60000; i += 997) {
			uint64_t at = m.seen + i;
			uint64_t real = ST_TARGET +
					((n - 1 - at / size) << page) +
					at % size;

			memory_fill_by(1, 6, i, &want, 1);
			assert_true(host_read(m.kit.host, 1, real, &byte, 1));
			assert_int_equal(byte, want);
		}
		st_fini(&m);
	}
}

/* --- SUN-F45: the TLB by its times --- */

static sim_time time_once(struct st_queue *q, uint32_t key, uint64_t offset)
{
	struct swhni_descriptor d = st_write(1, offset, 8);
	sim_time t;

	program_wait(program_now() + 5000 * SIM_NS); /* all is quiet */
	t = program_now();
	d.key = key;
	st_post(q, &d);
	assert_int_equal(st_error(q), SWHNI_OK);
	return program_now() - t;
}

static void tlb_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	add(&q, (struct swhni_handle){ .key = PAGED,
			.space = SWHNI_PAGED,
			.page = 12,
			.at = ST_TARGET,
			.bytes = 1 << 24 });
	if (node)
		return;
	m->word[0] = (uint64_t)time_once(&q, ST_KEY, 0); /* no pages */
	m->word[1] = (uint64_t)time_once(&q, PAGED, 0); /* a miss */
	m->word[2] = (uint64_t)time_once(&q, PAGED, 8); /* a hit */
	m->word[3] = (uint64_t)time_once(&q, PAGED, 4096); /* read ahead */
	m->word[4] = (uint64_t)time_once(&q, PAGED, 1 << 20); /* a miss */
}

/* SUN-F45 */
static void a_miss_of_the_tlb_is_a_read_over_pcie(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct st m;
		uint64_t miss;

		st_init(&m);
		st_set(&m, i ? "nic.tlb.prefetch=0" : "nic.tlb.prefetch=16");
		st_run(&m, 2, tlb_program);
		miss = (uint64_t)(450 * SIM_NS + st_bus(&m, 0) + st_bus(&m, 8));
		assert_int_equal(m.word[1], m.word[0] + miss);
		assert_int_equal(m.word[2], m.word[0]);
		assert_int_equal(m.word[3], m.word[0] + (i ? miss : 0));
		assert_int_equal(m.word[4], m.word[0] + miss);
		st_fini(&m);
	}
}

static void stream_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 0, 1 << 20);

	add(&q, (struct swhni_handle){ .key = PAGED,
			.space = SWHNI_PAGED,
			.page = 12,
			.at = ST_SOURCE,
			.bytes = 1 << 24 });
	if (node)
		return;
	d.own_key = PAGED;
	m->at = program_now();
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OK);
	m->end = program_now() - m->at;
}

/* SUN-F45: Reading ahead hides all misses of a stream but the first. */
static void a_stream_through_pages_is_as_fast_as_without(void **state)
{
	static const char *const sets[] = { "nic.tlb.prefetch=16",
		"nic.tlb.entries=0", "nic.tlb.prefetch=0" };
	sim_time took[3];

	for (uint32_t i = 0; i < 3; i++) {
		struct st m;

		st_init(&m);
		st_set(&m, sets[i]);
		st_run(&m, 2, stream_program);
		took[i] = m.end;
		st_fini(&m);
	}
	assert_in_range(took[0], 75000 * SIM_NS, 80000 * SIM_NS);
	/* each packet waits for its page, or the first of each page */
	assert_true(took[1] > 512 * 450 * SIM_NS);
	assert_in_range(took[2], 256 * 450 * SIM_NS, took[1]);
}

/* Touches each of so many pages, and all of them again. */
static void touch_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	uint32_t n = *(const uint32_t *)m->arg;

	add(&q, (struct swhni_handle){ .key = PAGED,
			.space = SWHNI_PAGED,
			.page = 12,
			.at = ST_TARGET,
			.bytes = (uint64_t)n << 12 });
	if (node)
		return;
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct swhni_descriptor d =
			st_write(1, (uint64_t)(i % n) << 12, 8);

		d.own_offset = 0;
		d.key = PAGED;
		st_post(&q, &d);
		if (i % 32 < 31 && i + 1 < 2 * n)
			continue;
		while (q.taken < q.written)
			assert_int_equal(st_error(&q), SWHNI_OK);
	}
}

/* SUN-F45, SUN-N37: pages that follow each other fill all ways alike. */
static void the_tlb_has_2048_entries(void **state)
{
	static const uint32_t pages[] = { 2048, 2304 };

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		st_set(&m, "nic.tlb.prefetch=0");
		m.arg = &pages[i];
		st_run(&m, 2, touch_program);
		assert_int_equal(nic_count(m.kit.nic, 1, "tlb_misses"),
			(i ? 2 : 1) * pages[i]);
		st_fini(&m);
	}
}

/* --- SUN-F59: jobs that leave --- */

/* Job 7 floods node 1 and leaves it in mid-traffic; job 8 takes the same
 * interfaces, keys and memory there at that moment. */
static void leave_program(struct st *m, site_id node)
{
	struct swhni_setup s = { .job = 7 };
	struct st_queue q = st_open_as(&s);
	struct swhni_descriptor d = st_write(1, 0, 300000);
	struct nic_at a;

	if (node == 1) {
		program_wait(40000 * SIM_NS);
		a = st_now(&q);
		swhni_leave(&a, 7);
		assert_null(swhni_interface(q.nic, 1, q.interface));
		s.job = 8;
		q = st_open_as(&s);
		assert_int_equal(q.interface, 0);
		st_fill(ST_TARGET, 1 << 20, 44);
		program_wait(400000 * (sim_time)SIM_NS);
		assert_true(st_is(ST_TARGET, 1 << 20, 44));
		assert_false(st_has(&q));
		assert_false(st_has_message(&q));
		return;
	}
	if (node == 2) { /* job 8's other node */
		s.job = 8;
		a = st_now(&q);
		swhni_leave(&a, 7);
		q = st_open_as(&s);
		program_wait(60000 * SIM_NS);
		d.bytes = 64;
		d.offset = 2 << 20;
		st_store(ST_SOURCE, 55);
		st_post(&q, &d);
		assert_int_equal(st_error(&q), SWHNI_OK);
		return;
	}
	if (node)
		return;
	st_fill(ST_SOURCE, 300000, 3);
	for (uint32_t i = 0; i < 30; i++) {
		d.type = i % 3 ? SWHNI_WRITE : SWHNI_SEND;
		d.bytes = i % 3 ? 300000 : 2000;
		d.flags = (uint8_t)(SWHNI_TELL | (i % 3 ? SWHNI_EVENT : 0));
		st_put(&q, &d);
	}
	st_ring(&q);
	for (uint32_t i = 0; i < 30; i++)
		m->word[st_error(&q)]++;
}

/* SUN-F59 */
static void a_job_leaves_at_once_and_harms_nobody(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 3, leave_program);
	assert_true(m.word[SWHNI_WRONG_JOB] > 0);
	assert_true(nic_count(m.kit.nic, 1, "strays") > 0);
	assert_int_equal(st_word_at(&m, 1, ST_TARGET + (2 << 20)), 55);
	st_fini(&m);
}

/* The sending side leaves: its messages end nowhere, and the next job's own
 * rings are untouched. */
static void sender_program(struct st *m, site_id node)
{
	struct swhni_setup s = { .job = 7 };
	struct st_queue q = st_open_as(&s);
	struct swhni_descriptor d = st_write(1, 0, (uint32_t)m->word[0]);
	struct nic_at a;

	if (node)
		return;
	for (uint32_t i = 0; i < 30; i++)
		st_put(&q, &d);
	st_ring(&q);
	program_wait(*(const sim_time *)m->arg);
	a = st_now(&q);
	swhni_leave(&a, 7);
	s.job = 8;
	q = st_open_as(&s);
	assert_int_equal(q.interface, 0);
	program_wait(300000 * (sim_time)SIM_NS);
	for (uint32_t i = 0; i < ST_ENTRIES; i++) /* nowhere in its ring */
		assert_int_equal(
			st_load(q.at + ST_COMPLETIONS +
				i * sizeof(struct workq_completion) +
				offsetof(struct workq_completion, number)),
			0);
	d.key = ST_OWN;
	d.node = 0;
	d.bytes = 8;
	st_post(&q, &d);
	m->seen = st_error(&q);
}

/* SUN-F59 */
static void a_job_that_leaves_has_no_completions(void **state)
{
	/* at every stage of its messages */
	for (sim_time t = 0; t < 60000 * SIM_NS; t += 4111111) {
		struct st m;

		st_init(&m);
		m.arg = &t;
		m.word[0] = 300000;
		m.may_err = true;
		st_run(&m, 2, sender_program);
		assert_int_equal(m.seen, SWHNI_NO_RIGHT);
		st_fini(&m);
	}
}

/* SUN-F59: Short messages end one after the other. */
static void completions_on_their_way_are_not_written(void **state)
{
	for (sim_time t = 3000 * SIM_NS; t < 5000 * SIM_NS; t += 111111) {
		struct st m;

		st_init(&m);
		m.arg = &t;
		m.word[0] = 8;
		m.may_err = true;
		st_run(&m, 2, sender_program);
		assert_int_equal(m.seen, SWHNI_NO_RIGHT);
		st_fini(&m);
	}
}

static void reset_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 0, 100000);
	struct nic_at a;

	if (node)
		return;
	for (uint32_t i = 0; i < 10; i++)
		st_put(&q, &d);
	st_ring(&q);
	program_wait(10000 * SIM_NS);
	a = st_now(&q);
	assert_int_equal(swhni_close_queues(&a, q.interface), EBUSY);
	assert_true(swhni_n_posted(q.nic, 0, q.interface) > 2);
	assert_int_equal(swhni_reset_queues(&a, q.interface), 0);
	assert_int_equal(swhni_n_posted(q.nic, 0, q.interface), 0);
	q.written = q.taken = 0;
	for (uint32_t i = 0; i < ST_ENTRIES; i++) /* of its life before */
		st_store(q.at + ST_COMPLETIONS +
				 i * sizeof(struct workq_completion) +
				 offsetof(struct workq_completion, number),
			0);
	d.id = 9;
	d.bytes = 8;
	st_post(&q, &d);
	m->seen = st_wait(&q).id;
	a = st_now(&q);
	assert_int_equal(swhni_close(&a, q.interface), 0);
}

static void queues_that_are_reset_begin_anew(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 2, reset_program);
	assert_int_equal(m.seen, 9);
	st_fini(&m);
}

TESTS(TEST(handles_are_physical_segmented_and_paged),
	TEST(pages_of_all_sizes_may_lie_anywhere),
	TEST(a_miss_of_the_tlb_is_a_read_over_pcie),
	TEST(a_stream_through_pages_is_as_fast_as_without),
	TEST(the_tlb_has_2048_entries),
	TEST(a_job_leaves_at_once_and_harms_nobody),
	TEST(a_job_that_leaves_has_no_completions),
	TEST(completions_on_their_way_are_not_written),
	TEST(queues_that_are_reset_begin_anew))
