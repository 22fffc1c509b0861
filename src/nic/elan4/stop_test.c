/* What stops a command queue, and that it stops no other (QSN-F26). */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { GOOD = 4, BAD, ERRANT };

#define OUTSIDE UINT64_C(0x40000000) /* of all memory */

struct misuse {
	enum elan_error why;
	uint32_t n; /* words */
	uint64_t word[9];
};

#define W(c, low, high)                                                        \
	((uint64_t)(c) | (uint64_t)(low) << 16 | (uint64_t)(high) << 32)

static const struct misuse misuses[] = {
	/* commands that cannot be */
	{ ELAN_ERROR_COMMAND, 1, { ELAN_COMMANDS } },
	{ ELAN_ERROR_COMMAND, 1, { 0xff } },
	/* code that is not loaded */
	{ ELAN_ERROR_COMMAND, 7, { ELAN_RUN_THREAD } },
	{ ELAN_ERROR_COMMAND, 7, { W(ELAN_RUN_THREAD, 0xffff, 0xffff) } },
	{ ELAN_ERROR_COMMAND, 1, { ELAN_CLOSE } },
	{ ELAN_ERROR_COMMAND, 1, { W(ELAN_WRITE, 8, 0) } },
	{ ELAN_ERROR_COMMAND, 2, { W(ELAN_OPEN, 1, 0), ELAN_NOP } },
	{ ELAN_ERROR_COMMAND, 2, { W(ELAN_OPEN, 4, 0), ELAN_CLOSE } },
	{ ELAN_ERROR_COMMAND, 2, { W(ELAN_OPEN, 1, 0), ELAN_WRITE } },
	{ ELAN_ERROR_COMMAND, 2,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_WRITE, ELAN_PACKET + 1, 0) } },
	{ ELAN_ERROR_COMMAND, 2, { W(ELAN_OPEN, 1, 0), ELAN_GET } },
	{ ELAN_ERROR_COMMAND, 2,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_GET, ELAN_PACKET + 1, 0) } },
	{ ELAN_ERROR_COMMAND, 2,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_GET, 8, ELAN_EVENT_NAMES) } },
	{ ELAN_ERROR_COMMAND, 8,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1),
			W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1),
			W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1) } },
	{ ELAN_ERROR_COMMAND, 4, { ELAN_ARM, 1, ET_FLAG, 1 } },
	{ ELAN_ERROR_COMMAND, 4, { W(ELAN_ARM_COPY, 0, 8), 1, ET_FLAG, 1 } },
	{ ELAN_ERROR_COMMAND, 1, { W(ELAN_ARM_COPY, 1, 0) } },
	{ ELAN_ERROR_COMMAND, 1, { W(ELAN_ARM_COPY, 1, 12) } },
	{ ELAN_ERROR_COMMAND, 1, { W(ELAN_ARM_COPY, 1, 2056) } },
	{ ELAN_ERROR_COMMAND, 1, { W(ELAN_ARM_COPY, 1, 0xfffffff8) } },
	{ ELAN_ERROR_COMMAND, 3, { W(ELAN_COPY, 72, 0), ET_FLAG, ET_FLAG } },
	{ ELAN_ERROR_COMMAND, 8, { ELAN_RUN_DMA, 8, 0, 4, 0, 0, 0, 0 } },
	{ ELAN_ERROR_COMMAND, 8,
		{ ELAN_RUN_DMA, 8, 0, 1, 0, 0, ELAN_EVENT_NAMES, 0 } },
	{ ELAN_ERROR_COMMAND, 8,
		{ ELAN_RUN_DMA, 8, 0, 1, 0, 0, 0, UINT64_C(1) << 32 } },
	/* addresses that are not the context's */
	{ ELAN_ERROR_ADDRESS, 3, { ELAN_STORE, ET_MEMORY, 1 } },
	{ ELAN_ERROR_ADDRESS, 3, { ELAN_STORE, ET_FLAG + 4, 1 } },
	{ ELAN_ERROR_ADDRESS, 3, { W(ELAN_COPY, 8, 0), OUTSIDE, ET_FLAG } },
	{ ELAN_ERROR_ADDRESS, 3, { W(ELAN_COPY, 8, 0), ET_FLAG, OUTSIDE } },
	{ ELAN_ERROR_ADDRESS, 4, { W(ELAN_ARM, 1, 0), 1, OUTSIDE, 1 } },
	{ ELAN_ERROR_ADDRESS, 4, { W(ELAN_ARM_COPY, 1, 8), 1, OUTSIDE, 1 } },
	{ ELAN_ERROR_ADDRESS, 4,
		{ W(ELAN_ARM_COPY, 1, 8), 1, ET_FLAG + 4, 1 } },
	{ ELAN_ERROR_ADDRESS, 5,
		{ W(ELAN_ARM_COPY, 1, 16), 1, ET_MEMORY - 8, 1, 1 } },
	{ ELAN_ERROR_ADDRESS, 8,
		{ ELAN_RUN_DMA, 9, 0, 1, ET_MEMORY - 8, ET_TARGET, 0, 0 } },
	{ ELAN_ERROR_ADDRESS, 5,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_GET, 8, 0), ET_SOURCE, OUTSIDE,
			ELAN_CLOSE } },
	/* those of the receiver */
	{ ELAN_ERROR_REFUSED, 5,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_WRITE, 8, 0), OUTSIDE, 0,
			ELAN_CLOSE } },
	{ ELAN_ERROR_REFUSED, 5,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_GET, 8, 0), ET_MEMORY - 7,
			ET_TARGET, ELAN_CLOSE } },
	{ ELAN_ERROR_REFUSED, 8,
		{ ELAN_RUN_DMA, 3000, 0, 1, ET_SOURCE, ET_MEMORY - 1000, 0,
			0 } },
};

enum { N_MISUSES = sizeof(misuses) / sizeof(misuses[0]) };

/* Goes on at all times: puts, and DMAs of many packets. */
static void bystander(void *arg)
{
	struct et_queue q = et_open(GOOD);
	struct elan_dma d = et_dma_to(1, 5000, 2, 0);

	et_fill(ET_SOURCE, 77, 5000);
	for (uint32_t k = 0; k < 20; k++) {
		et_arm(&q, 2, 1);
		et_dma(&q, &d);
		et_put(&q, 1, ET_TARGET + 0x10000 + 64 * k, k, 64, 0, 0);
		et_wait_event(2);
	}
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void bystander_check(void *arg)
{
	program_wait(3000 * US);
	et_expect(ET_TARGET, 77, 5000);
	for (uint32_t k = 0; k < 20; k++)
		et_expect(ET_TARGET + 0x10000 + 64 * k, k, 64);
	et_expect(ET_TARGET + 0x20000, 88, 8);
}

/* Until it can be: nothing of it is under way any more. */
static void restart(struct et_queue *q)
{
	while (elan_queue_restart(et_card(), program_node(), q->id) == EBUSY)
		program_charge(US);
	q->stored = 0;
}

static void misuser(void *arg)
{
	const struct misuse *x = arg;
	struct et_queue q = et_open(BAD);
	uint64_t nops[8] = { ELAN_NOP };

	program_wait(20 * US);
	assert_int_equal(
		elan_queue_restart(et_card(), 0, BAD), EBUSY); /* it is fine */
	et_push(&q, x->word, x->n);
	et_wait_error(&q, x->why);
	/* Whatever it stores from now on is dropped, for as long as it will
	 * (QSN-F27). */
	for (uint32_t k = 0; k < 100; k++)
		et_push(&q, nops, 8);
	assert_int_equal(et_error(&q), x->why);
	restart(&q);
	assert_int_equal(et_error(&q), ELAN_FINE);
	et_put(&q, 1, ET_TARGET + 0x20000, 88, 8, 0, 0);
}

static void qsn_f26_one_queue_stops_alone(void **state)
{
	struct et m;

	for (uint32_t i = 0; i < N_MISUSES; i++) {
		struct misuse x = misuses[i];
		struct elan_counts c;
		char text[200];

		et_init(&m, "4");
		ET_RUN(&m, 1, { 0, bystander, NULL }, { 0, misuser, &x },
			{ 1, bystander_check, NULL });
		c = et_counts(&m, 0);
		assert_int_equal(c.errors[x.why], 1);
		assert_int_equal(nic_errors(m.nic, 0, text, sizeof(text)), 1);
		assert_non_null(strstr(text, elan_error_text(x.why)));
		et_fini(&m);
	}
}

/* QSN-F27: an errant queue costs the others the bus's time only. */
static void flooder(void *arg)
{
	struct et_queue q = et_open_as(ERRANT, ELAN_1K, 0, ET_CONTEXT);
	uint64_t store[8] = { ELAN_STORE };

	while (program_now() < 1000 * US) {
		et_push(&q, store, 8);
		program_charge(US);
	}
	assert_int_equal(et_error(&q), ELAN_ERROR_RIGHT);
}

static void qsn_f27_nobody_need_react_to_an_errant_process(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, bystander, NULL }, { 0, flooder, NULL },
		{ 0, misuser, (void *)(uintptr_t)&misuses[0] },
		{ 1, bystander_check, NULL });
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_RIGHT], 1);
}

/* --- rights --- */

struct needs {
	uint32_t right, n;
	uint64_t word[8];
};

static const struct needs needs[] = {
	{ ELAN_MAY_STEN, 2, { W(ELAN_OPEN, 1, 0), ELAN_CLOSE } },
	{ ELAN_MAY_BROADCAST, 3, { W(ELAN_OPEN_RANGE, 1, 0), 2, ELAN_CLOSE } },
	{ ELAN_MAY_DMA, 8, { ELAN_RUN_DMA, 0, 0, 1 } },
	{ ELAN_MAY_STORE, 3, { ELAN_STORE, ET_FLAG, 1 } },
	{ ELAN_MAY_STORE, 3, { W(ELAN_COPY, 8, 0), ET_FLAG, ET_FLAG } },
	{ ELAN_MAY_EVENT, 1, { W(ELAN_ADD, 1, 1) } },
	{ ELAN_MAY_EVENT, 4, { W(ELAN_ARM, 1, 0), 1, ET_FLAG, 1 } },
	{ ELAN_MAY_EVENT, 4, { W(ELAN_ARM_COPY, 1, 8), 1, ET_FLAG, 1 } },
	{ ELAN_MAY_INTERRUPT, 1, { ELAN_INTERRUPT } },
	{ ELAN_MAY_THREAD, 7, { W(ELAN_RUN_THREAD, 3, 0) } },
	{ 0, 1, { ELAN_GUARD } },
	{ 0, 1, { ELAN_NOP } },
};

static void needs_thread(const uint64_t *reg)
{
}

static void rights_program(void *arg)
{
	uint32_t k = 0;

	et_load(ET_CONTEXT, 3, needs_thread);
	for (uint32_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		const struct needs *x = &needs[i];

		for (uint32_t own = 0; own < 2; own++) {
			/* only that right, and all but that one */
			struct et_queue q = et_open_as(k++, ELAN_1K,
				own ? x->right : ELAN_MAY_ALL & ~x->right,
				ET_CONTEXT);

			et_push(&q, x->word, x->n);
			if (own || !x->right) {
				et_wait_room(&q, 1024);
				assert_int_equal(et_error(&q), ELAN_FINE);
			} else {
				et_wait_error(&q, ELAN_ERROR_RIGHT);
			}
		}
	}
}

static void qsn_g10_a_queue_needs_the_right(void **state)
{
	struct et *m = *state;

	et_run_two(m, rights_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).interrupts, 1);
}

/* --- closing --- */

/* Packets and DMAs that are under way when a queue stops go on. */
static void stop_with_work(void *arg)
{
	static const uint64_t bad = ELAN_COMMANDS;
	struct et_queue q = et_open(BAD), more = et_open(GOOD);
	struct elan_dma d = et_dma_to(1, 20000, 1, 0);

	et_fill(ET_SOURCE, 5, 20000);
	et_arm(&q, 1, 1);
	et_arm(&more, 2, 2);
	et_dma(&q, &d);
	et_put(&q, 1, ET_TARGET + 0x10000, 6, 100, 0, 2);
	et_put(&q, 1, ET_TARGET + 0x10400, 7, 100, 0, 2);
	et_push(&q, &bad, 1);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	assert_int_equal(elan_queue_close(et_card(), 0, BAD), EBUSY);
	assert_int_equal(elan_queue_restart(et_card(), 0, BAD), EBUSY);
	et_wait_event(2);
	assert_int_equal(elan_queue_close(et_card(), 0, BAD), EBUSY);
	et_wait_event(1);
	assert_int_equal(elan_queue_close(et_card(), 0, BAD), 0);
	assert_int_equal(elan_queue_close(et_card(), 0, BAD), EINVAL);
	/* Opened again it is a new one, which nobody takes for the old. */
	q = et_open(BAD);
	et_put(&q, 1, ET_TARGET + 0x10800, 8, 100, 0, 0);
	et_put(&q, 1, ET_TARGET + 0x10c00, 9, 100, 0, 0);
}

static void stop_check(void *arg)
{
	program_wait(200 * US);
	et_expect(ET_TARGET, 5, 20000);
	et_expect(ET_TARGET + 0x10000, 6, 100);
	et_expect(ET_TARGET + 0x10400, 7, 100);
	et_expect(ET_TARGET + 0x10800, 8, 100);
	et_expect(ET_TARGET + 0x10c00, 9, 100);
}

static void qsn_f26_what_is_under_way_goes_on(void **state)
{
	struct et *m = *state;

	et_run_two(m, stop_with_work, stop_check, NULL);
	assert_int_equal(et_counts(m, 1).duplicates, 0);
}

static void driver_program(void *arg)
{
	struct nic *nic = et_card();

	assert_int_equal(
		elan_queue_open(nic, 0, ELAN_QUEUES, ELAN_1K, 0, 1), EINVAL);
	assert_int_equal(
		elan_queue_open(nic, 0, 1, ELAN_1K, 2 * ELAN_GOES_ON, 1),
		EINVAL);
	assert_int_equal(
		elan_queue_open(nic, 0, 1, ELAN_1K, 0, ELAN_CONTEXTS), EINVAL);
	assert_int_equal(elan_queue_open(nic, 0, ELAN_QUEUES - 1, ELAN_1K, 0,
				 ELAN_CONTEXTS - 1),
		0);
	assert_int_equal(
		elan_queue_open(nic, 0, ELAN_QUEUES - 1, ELAN_1K, 0, 1), EBUSY);
	assert_int_equal(elan_queue_close(nic, 0, 1), EINVAL);
	assert_int_equal(elan_queue_restart(nic, 0, ELAN_QUEUES), EINVAL);
	assert_int_equal(elan_queue_room(nic, 0, 0x1ffff), 0);
	assert_int_equal(elan_queue_error(nic, 0, 0x1ffff), ELAN_FINE);
	assert_int_equal(elan_context_set(nic, 0, ELAN_CONTEXTS, 0, 1), EINVAL);
	assert_int_equal(elan_context_set(nic, 0, 2, 2, 1), EINVAL);
	assert_int_equal(elan_context_set(nic, 0, 2, 0, ET_MEMORY), EINVAL);
	/* Stores to what nobody has opened are dropped. */
	et_store(&(struct et_queue){ .id = 33 }, 0, needs[9].word, 1);
	et_store(&(struct et_queue){ .id = 0x1ffff }, 0, needs[9].word, 1);
}

static void the_driver_refuses_what_cannot_be(void **state)
{
	struct et *m = *state;

	et_run_two(m, driver_program, NULL, NULL);
}

/* --- the audit --- */

static void fails_with(struct et *m, const char *text)
{
	struct err e = { 0 };

	assert_int_not_equal(nic_audit(m->nic, &e), 0);
	if (!strstr(e.text, text))
		fail_msg("says: %s", e.text);
}

static void the_audit_tells_what_is_left(void **state)
{
	struct et *m = *state;
	struct list_link link = { 0 };
	struct elan_node *n;
	struct err e = { 0 };

	et_start(m, 1, 1);
	n = et_node(m, 2);
	assert_int_equal(nic_audit(m->nic, &e), 0);
	n->sender.resend.items.used = 3;
	fails_with(m, "node 2: still to be done: 3 packets to be acknowledged");
	n->sender.resend.items.used = 0;
	n->input.inside = 2;
	fails_with(m, "2 to be executed");
	n->input.inside = 0;
	n->n_reads = 1;
	fails_with(m, "1 reads");
	n->n_reads = 0;
	n->dmas.read_bytes = 512;
	fails_with(m, "512 bytes");
	n->dmas.read_bytes = 0;
	n->dmas.assembling = 1;
	fails_with(m, "1 packets and 0 DMAs");
	n->dmas.assembling = 0;
	n->dmas.waiting.n = 4;
	n->dmas.run[1].is_used = true;
	fails_with(m, "5 DMAs");
	n->dmas.waiting.n = 0;
	n->dmas.run[1].is_used = false;
	n->events.inside = 6;
	fails_with(m, "6 copies of events");
	n->events.inside = 0;
	n->queues.run.first = &link;
	fails_with(m, "a queue has work");
	n->queues.run.first = NULL;
	assert_int_equal(nic_audit(m->nic, &e), 0);
}

TESTS(TEST(qsn_f26_one_queue_stops_alone),
	ET_TEST(qsn_f27_nobody_need_react_to_an_errant_process),
	ET_TEST(qsn_g10_a_queue_needs_the_right),
	ET_TEST(qsn_f26_what_is_under_way_goes_on),
	ET_TEST(the_driver_refuses_what_cannot_be),
	ET_TEST(the_audit_tells_what_is_left))
