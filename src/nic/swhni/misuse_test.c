/* What programs do wrong has one outcome each, and only they suffer. */
#include <errno.h>
#include <string.h>

#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

/* Another interface of the node works all the time. */
static void innocent(struct st_queue *q)
{
	struct swhni_descriptor d = st_write(1, 1 << 20, 5000);

	st_post(q, &d);
	assert_int_equal(st_error(q), SWHNI_OK);
}

/* --- descriptors --- */

struct wrong {
	const char *what;
	struct swhni_descriptor d;
	uint32_t error;
};

static const struct wrong wrongs[] = {
	{ "an unknown type", { .type = 77 }, SWHNI_BAD_ENTRY },
	{ "a short message in the queue", { .type = SWHNI_FSM_WRITE },
		SWHNI_BAD_ENTRY },
	{ "unknown flags", { .flags = 128 }, SWHNI_BAD_ENTRY },
	{ "two ends", { .flags = SWHNI_EVENT | SWHNI_REPLY }, SWHNI_BAD_ENTRY },
	{ "no such node", { .node = 32 }, SWHNI_BAD_ENTRY },
	{ "no such port", { .port = 3 }, SWHNI_BAD_ENTRY },
	{ "no such engine", { .engine = 2 }, SWHNI_BAD_ENTRY },
	{ "a read of nothing", { .type = SWHNI_READ, .bytes = 0 },
		SWHNI_BAD_ENTRY },
	{ "too long a write", { .bytes = SWHNI_MOST + 1 }, SWHNI_BAD_ENTRY },
	{ "a queue message over 2 KiB", { .type = SWHNI_SEND, .bytes = 2049 },
		SWHNI_BAD_ENTRY },
	{ "an unknown key there", { .key = 99 }, SWHNI_BAD_KEY },
	{ "an unknown key here", { .own_key = 99 }, SWHNI_BAD_KEY },
	{ "a key of the other engine", { .engine = 1 }, SWHNI_BAD_KEY },
	{ "beyond the handle there", { .offset = ST_BYTES - 7 },
		SWHNI_OUT_OF_BOUNDS },
	{ "far beyond it", { .offset = UINT64_MAX - 3 }, SWHNI_OUT_OF_BOUNDS },
	{ "beyond the handle here", { .own_offset = ST_BYTES - 7 },
		SWHNI_OUT_OF_BOUNDS },
	{ "no right to write", { .key = ST_OWN }, SWHNI_NO_RIGHT },
	{ "no right to read", { .type = SWHNI_READ, .key = ST_OWN },
		SWHNI_NO_RIGHT },
	{ "an event for no interface", { .flags = SWHNI_EVENT, .interface = 5 },
		SWHNI_BAD_INTERFACE },
	{ "a notice for no interface",
		{ .flags = SWHNI_NOTICE, .interface = 500 },
		SWHNI_BAD_INTERFACE },
	{ "a message for no interface", { .type = SWHNI_SEND, .interface = 5 },
		SWHNI_BAD_INTERFACE },
	{ "an unknown reply word", { .flags = SWHNI_REPLY, .word = { 0, 99 } },
		SWHNI_BAD_KEY },
	{ "a reply word that is none",
		{ .flags = SWHNI_REPLY, .word = { 4, ST_KEY } },
		SWHNI_BAD_ENTRY },
	{ "a reply word nobody may change",
		{ .flags = SWHNI_REPLY, .word = { 0, ST_OWN } },
		SWHNI_NO_RIGHT },
};
enum { N_WRONGS = sizeof(wrongs) / sizeof(wrongs[0]) };

/* What a case does not say is right. */
static struct swhni_descriptor complete(const struct wrong *w)
{
	struct swhni_descriptor d = w->d;

	d.node = d.node ? d.node : 1;
	d.key = d.key ? d.key : ST_KEY;
	d.own_key = d.own_key ? d.own_key : ST_OWN;
	if (!d.bytes && !(d.type == SWHNI_READ && w->error == SWHNI_BAD_ENTRY))
		d.bytes = 8;
	return d;
}

static void wrong_program(struct st *m, site_id node)
{
	struct st_queue q = st_open(), other = st_open();

	if (node)
		return;
	for (uint32_t i = 0; i < N_WRONGS; i++) {
		struct swhni_descriptor d = complete(&wrongs[i]);
		struct workq_completion c;

		d.id = i;
		st_post(&q, &d);
		c = st_wait(&q);
		assert_int_equal(c.id, i);
		if (SWHNI_ERROR_OF(c.status) != wrongs[i].error)
			fail_msg("%s: error %u, not %u", wrongs[i].what,
				SWHNI_ERROR_OF(c.status), wrongs[i].error);
		innocent(&other);
	}
	/* the queue goes on */
	innocent(&q);
	(void)m;
}

/* SUN-F60 */
static void a_wrong_descriptor_ends_with_its_error_alone(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, wrong_program);
	assert_int_equal(nic_sum(m.kit.nic, "no answer"), 0);
	st_fini(&m);
}

/* Section of memory that a wrong write must not touch. */
static void bounds_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, ST_BYTES - 5000, 5001);

	if (node)
		return;
	st_fill(ST_SOURCE + ST_BYTES - 5000, 5000, 3);
	d.own_offset = 0;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_OUT_OF_BOUNDS);
	m->seen = 1;
}

static void bytes_beyond_a_handle_are_not_written(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, bounds_program);
	assert_int_equal(m.seen, 1);
	assert_int_equal(st_word_at(&m, 1, ST_TARGET + ST_BYTES), 0);
	st_fini(&m);
}

/* --- jobs --- */

static void job_program(struct st *m, site_id node)
{
	struct swhni_setup s = { .job = node ? 8 : 7 };
	struct st_queue q = st_open_as(&s);
	struct swhni_descriptor d = st_write(1, 0, 8);

	(void)m;
	if (node)
		return;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_WRONG_JOB);
	d.type = SWHNI_READ;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_WRONG_JOB);
	d.type = SWHNI_SEND;
	st_post(&q, &d);
	assert_int_equal(st_error(&q), SWHNI_WRONG_JOB);
}

static void another_jobs_memory_and_queues_are_closed(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, job_program);
	st_fini(&m);
}

static void page_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct nic_at a = st_now(&q);
	struct swhni_descriptor d = { .type = SWHNI_FSM_WRITE };
	uint64_t word = 0;
	sim_time t;

	(void)m;
	(void)node;
	assert_int_equal(
		swhni_ring(&a, q.interface, 1, 1, 0, a.t, a.t), EACCES);
	assert_int_equal(
		swhni_fsm(&a, q.interface, 1, &d, &word, a.t, a.t), EACCES);
	assert_int_equal(swhni_took(&a, q.interface, 1, 0), EACCES);
	assert_int_equal(swhni_cancel(&a, q.interface, 1, 0), EACCES);
	assert_int_equal(
		swhni_chip_load(&a, q.interface, 1, 0, &word, 8, &t), EACCES);
	assert_int_equal(
		swhni_chip_store(&a, q.interface, 1, 0, &word, 8), EACCES);
	assert_int_equal(swhni_ring(&a, 99, 0, 1, 0, a.t, a.t), EACCES);
}

/* SUN-F39 */
static void a_page_of_another_process_is_not_mapped(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 1, page_program);
	st_fini(&m);
}

/* --- limits --- */

static void interface_program(struct st *m, site_id node)
{
	struct nic_at a = nic_now(host_nic(program_host()));
	struct swhni_setup s = { .job = ST_JOB };
	uint32_t interface;

	(void)m;
	(void)node;
	for (uint32_t i = 0; i < SWHNI_INTERFACES; i++) {
		assert_int_equal(swhni_open(&a, &s, &interface), 0);
		assert_int_equal(interface, i);
	}
	assert_int_equal(swhni_open(&a, &s, &interface), EAGAIN);
	assert_int_equal(swhni_close(&a, 77), 0);
	assert_int_equal(swhni_open(&a, &s, &interface), 0);
	assert_int_equal(interface, 77);
}

/* SUN-F39, SUN-N34 */
static void a_node_has_128_interfaces_and_no_more(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 1, interface_program);
	st_fini(&m);
}

static void fsm_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct nic_at a = st_now(&q);
	uint8_t bytes[129] = { 0 };
	struct swhni_descriptor d = {
		.type = SWHNI_FSM_WRITE, .node = 1, .bytes = 129, .key = ST_KEY
	};
	uint32_t n = 0;

	if (node)
		return;
	assert_int_equal(
		swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t), EMSGSIZE);
	d.bytes = 128;
	while (!swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t))
		n++;
	assert_int_equal(n, 16);
	assert_int_equal(
		swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t), EAGAIN);
	assert_int_equal(swhni_close(&a, q.interface), EBUSY);
	program_wait(100000 * (sim_time)SIM_NS);
	a = st_now(&q);
	d.type = SWHNI_WRITE;
	assert_int_equal(swhni_fsm(&a, q.interface, 0, &d, bytes, a.t, a.t), 0);
	assert_int_equal(st_error(&q), SWHNI_BAD_ENTRY);
	m->seen = n;
}

/* SUN-F69 */
static void the_window_takes_so_many_short_messages(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, fsm_program);
	assert_int_equal(nic_count(m.kit.nic, 0, "short_messages"), 16);
	st_fini(&m);
}

/* --- queues --- */

static void nothing_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();

	(void)m;
	if (node)
		return;
	for (uint32_t i = 0; i < 10; i++)
		st_ring(&q);
	program_wait(10000 * SIM_NS);
	assert_false(st_has(&q));
	innocent(&q);
}

static void a_doorbell_for_nothing_does_nothing(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 2, nothing_program);
	assert_int_equal(nic_count(m.kit.nic, 0, "messages"), 1);
	st_fini(&m);
}

static void changed_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 0, 8);

	if (node)
		return;
	d.id = 1;
	st_post(&q, &d);
	/* before it is fetched, and long after */
	d.id = 2;
	assert_true(program_write(q.at, &d, sizeof(d)));
	program_wait(1500 * SIM_NS);
	d.id = 3;
	d.node = 99;
	assert_true(program_write(q.at, &d, sizeof(d)));
	m->seen = st_wait(&q).id;
	assert_int_equal(m->seen, 2);
}

static void a_descriptor_is_what_it_was_when_it_was_fetched(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 2, changed_program);
	st_fini(&m);
}

static void overrun_program(struct st *m, site_id node)
{
	struct st_queue q = st_open(), other = st_open();
	struct swhni_descriptor d = st_write(1, 0, 8);

	if (node)
		return;
	/* more entries than the ring has */
	for (uint32_t i = 0; i < ST_ENTRIES + 1; i++)
		st_put(&q, &d);
	st_ring(&q);
	program_wait(50000 * SIM_NS);
	assert_false(st_has(&q));
	innocent(&other);
	/* from then on it refuses what it gets, until it is reset */
	m->seen = 1;
}

static void a_full_send_queue_stops_itself(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, overrun_program);
	assert_int_equal(
		nic_count(m.kit.nic, 0, "completion queue overrun"), 1);
	st_fini(&m);
}

/* --- handles --- */

static void handle_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct nic_at a = st_now(&q);
	struct swhni_handle h = { .key = 9, .job = ST_JOB, .bytes = 4096 };
	struct swhni_descriptor d = st_write(1, 0, 1 << 20);

	if (node) {
		program_wait(20000 * SIM_NS);
		a = st_now(&q);
		assert_int_equal(swhni_deregister(&a, ST_JOB, ST_KEY), 0);
		return;
	}
	assert_int_equal(swhni_register(&a, &h), 0);
	assert_int_equal(swhni_register(&a, &h), EBUSY);
	assert_int_equal(swhni_deregister(&a, ST_JOB + 1, 9), EACCES);
	assert_int_equal(swhni_deregister(&a, ST_JOB, 10), EINVAL);
	assert_int_equal(swhni_deregister(&a, ST_JOB, 9), 0);
	h.key = SWHNI_KEYS;
	assert_int_equal(swhni_register(&a, &h), EINVAL);
	h = (struct swhni_handle){ .key = 9, .job = ST_JOB, .bytes = 8 };
	h.at = host_memory(program_host()) - 4;
	assert_int_equal(swhni_register(&a, &h), EFAULT);
	h.at = 0;
	h.space = SWHNI_PAGED;
	h.page = 11;
	assert_int_equal(swhni_register(&a, &h), EINVAL);
	h.page = 24;
	assert_int_equal(swhni_register(&a, &h), EINVAL);
	/* what is in use here stays; there it is gone at once */
	st_post(&q, &d);
	program_wait(2000 * SIM_NS);
	a = st_now(&q);
	assert_int_equal(swhni_deregister(&a, ST_JOB, ST_OWN), EBUSY);
	m->seen = st_error(&q);
	a = st_now(&q);
	assert_int_equal(swhni_deregister(&a, ST_JOB, ST_OWN), 0);
}

static void a_handle_in_use_is_kept_here_and_refused_there(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	st_run(&m, 2, handle_program);
	assert_int_equal(m.seen, SWHNI_BAD_KEY);
	st_fini(&m);
}

/* --- cancelling --- */

static void cancel_program(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_descriptor d = st_write(1, 0, 100000);
	struct nic_at a;
	uint32_t errors[SWHNI_ERRORS] = { 0 };

	if (node)
		return;
	for (uint32_t i = 0; i < 20; i++) {
		d.id = i;
		st_put(&q, &d);
	}
	st_ring(&q);
	program_wait(3000 * SIM_NS);
	for (uint32_t i = 0; i < 20; i++) {
		a = st_now(&q);
		assert_int_equal(swhni_cancel(&a, q.interface, 0, i), 0);
	}
	for (uint32_t i = 0; i < 20; i++) {
		struct workq_completion c = st_wait(&q);

		errors[SWHNI_ERROR_OF(c.status)]++;
		m->seen |= SWHNI_ERROR_OF(c.status) ? 0 : 1u << c.id;
	}
	/* only what had begun went on */
	assert_int_equal(errors[SWHNI_OK], 1);
	assert_int_equal(errors[SWHNI_CANCELLED], 19);
	assert_int_equal(m->seen, 1);
	innocent(&q);
}

static void what_has_not_begun_can_be_cancelled(void **state)
{
	struct st m;

	st_init(&m);
	st_run(&m, 2, cancel_program);
	st_fini(&m);
}

TESTS(TEST(a_wrong_descriptor_ends_with_its_error_alone),
	TEST(bytes_beyond_a_handle_are_not_written),
	TEST(another_jobs_memory_and_queues_are_closed),
	TEST(a_page_of_another_process_is_not_mapped),
	TEST(a_node_has_128_interfaces_and_no_more),
	TEST(the_window_takes_so_many_short_messages),
	TEST(a_doorbell_for_nothing_does_nothing),
	TEST(a_descriptor_is_what_it_was_when_it_was_fetched),
	TEST(a_full_send_queue_stops_itself),
	TEST(a_handle_in_use_is_kept_here_and_refused_there),
	TEST(what_has_not_begun_can_be_cancelled))
