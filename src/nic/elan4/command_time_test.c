/* Commands that take time: copies, and interrupts. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- copies --- */

struct copied {
	bool from_card;
	uint64_t from, to;
	sim_time next, other; /* a command behind it, and of another queue */
};

static void copy_program(void *arg)
{
	struct copied *x = arg;
	struct et_queue q = et_open(0), other = et_open(1);
	struct poll_loop loop = { .period = 1 };
	uint64_t word, card;
	sim_time t;

	assert_int_equal(
		elan_memory_take(et_card(), 0, ET_CONTEXT, 64, &card), 0);
	x->from = x->from_card ? card : ET_SOURCE;
	for (uint64_t i = 0; i < 8; i++)
		et_push(&q,
			(uint64_t[]){ ELAN_STORE, x->from + 8 * i, 100 + i },
			3);
	program_wait(20 * US);
	t = program_now();
	et_push(&q,
		(uint64_t[]){ elan_word(ELAN_COPY, 64, 0), x->from, ET_TARGET,
			ELAN_STORE, ET_FLAG, 1 },
		6);
	et_push(&other, (uint64_t[]){ ELAN_STORE, ET_FLAG + 8, 1 }, 3);
	assert_int_equal(elan_queue_close(et_card(), 0, 0), EBUSY);
	program_poll(ET_FLAG + 8, WORD_IS, 1, loop, &word);
	x->other = program_now() - t;
	program_poll(ET_FLAG, WORD_IS, 1, loop, &word);
	x->next = program_now() - t;
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(et_word(ET_TARGET + 8 * i), 100 + i);
	assert_int_equal(et_word(ET_TARGET + 64), 0);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(elan_queue_close(et_card(), 0, 0), 0);
}

static struct copied copied(bool from_card)
{
	struct copied x = { .from_card = from_card };
	struct et m;

	et_init(&m, "4");
	et_run_two(&m, copy_program, NULL, &x);
	et_fini(&m);
	return x;
}

/* Over the bus as a DMA's read; only the queue itself waits. */
static void qsn_f31_a_copy_reads_over_the_bus_and_waits(void **state)
{
	struct copied host = copied(false), card = copied(true);

	assert_in_range(host.next - card.next, 750 * SIM_NS, 1000 * SIM_NS);
	assert_true(host.other < 800 * SIM_NS);
	assert_true(host.next > host.other + 750 * SIM_NS);
}

/* A queue that stops meanwhile: nothing is written, and it can restart. */
static void stop_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_fill(ET_SOURCE, 1, 64);
	et_push(&q,
		(uint64_t[]){
			elan_word(ELAN_COPY, 64, 0), ET_SOURCE, ET_TARGET },
		3);
	program_charge(400 * SIM_NS);
	et_store(&q, 2048, (uint64_t[]){ ELAN_NOP }, 1);
	et_wait_error(&q, ELAN_ERROR_WINDOW);
	assert_int_equal(elan_queue_restart(et_card(), 0, 0), EBUSY);
	program_charge(5 * US);
	et_expect_all(ET_TARGET, 0, 64);
	assert_int_equal(elan_queue_restart(et_card(), 0, 0), 0);
	q.stored = 0;
	et_push(&q, (uint64_t[]){ ELAN_STORE, ET_FLAG, 1 }, 3);
	et_wait_word(ET_FLAG, 1);
}

static void a_stopped_queue_copies_nothing(void **state)
{
	struct et *m = *state;

	et_run_two(m, stop_program, NULL, NULL);
}

/* --- interrupts --- */

enum { INTERRUPTS = 3 };

struct handled {
	uint32_t n;
	uint64_t value[INTERRUPTS];
	sim_time at[INTERRUPTS], began;
	sim_time computed[2]; /* by programs on both CPUs */
};

static void handle(void *arg, const struct elan_interrupt *i)
{
	struct handled *x = arg;

	assert_int_equal(i->node, 0);
	x->value[x->n] = i->value;
	x->at[x->n++] = i->at;
	assert_true(elan_handler_write(i, ET_FLAG, x->n));
	assert_false(elan_handler_write(i, ET_FLAG + 4, 1));
	assert_false(elan_handler_write(i, ET_MEMORY, 1));
	assert_false(elan_handler_write(i, ELAN_CARD_AT, 1));
}

static void compute(struct handled *x)
{
	sim_time t = program_now();

	program_charge(40 * US);
	x->computed[program_thread() % 2] = program_now() - t;
}

static void interrupt_program(void *arg)
{
	struct handled *x = arg;
	struct et_queue q = et_open(0);
	uint64_t w[INTERRUPTS];

	assert_int_equal(
		elan_handler_set(et_card(), 0, ET_CONTEXT, handle, x), 0);
	for (uint64_t i = 0; i < INTERRUPTS; i++)
		w[i] = ELAN_INTERRUPT | (UINT64_C(7000000000) + i) << 16;
	et_push(&q, w, INTERRUPTS);
	x->began = program_now() + ((struct elan *)et_card())->host.store;
	compute(x);
	assert_int_equal(et_word(ET_FLAG), INTERRUPTS);
}

static void other_cpu(void *arg)
{
	struct et_queue q = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);

	compute(arg);
	/* a context without a handler */
	et_push(&q, (uint64_t[]){ ELAN_INTERRUPT }, 1);
}

static void qsn_f31_an_interrupt_runs_a_handler_on_cpu_0(void **state)
{
	struct et *m = *state;
	struct handled x = { 0 };

	m->params.cpus = 2;
	ET_RUN(m, 1, { 0, interrupt_program, &x }, { 0, other_cpu, &x });
	assert_int_equal(x.n, INTERRUPTS);
	assert_int_equal(et_counts(m, 0).interrupts, INTERRUPTS + 1);
	for (uint32_t i = 0; i < INTERRUPTS; i++) {
		sim_time after = x.at[i] - x.began - (i + 1) * 5 * US;

		assert_int_equal(x.value[i], UINT64_C(7000000000) + i);
		assert_in_range(after, 0, 100 * SIM_NS);
	}
	/* that of the other one, too */
	assert_int_equal(x.computed[0], (40 + 5 * INTERRUPTS + 5) * US);
	assert_int_equal(x.computed[1], 40 * US);
}

/* --- the driver --- */

#define PAGE (UINT64_C(1) << 50)

/* An interrupt, a page fault, and a trap of a queue that is not resident. */
static void driver_program(void *arg)
{
	struct handled *x = arg;
	struct et_queue q = et_open(0), idle = et_open(1), away = et_open(2);
	const struct elan_vm vm = {
		.at = PAGE, .bytes = 1, .flags = ELAN_VM_DEMAND
	};
	const uint64_t words[] = { ELAN_INTERRUPT, ELAN_STORE, PAGE, 1 };
	const uint64_t word[] = { ELAN_STORE, ET_FLAG, 1 };
	uint64_t at;

	(void)idle; /* the driver exchanges it */
	assert_int_equal(elan_vm_take(et_card(), 0, ET_CONTEXT, &vm, &at), 0);
	et_push(&q, words, 4);
	et_push(&away, word, 3);
	x->began = program_now() + ((struct elan *)et_card())->host.store;
	compute(x);
}

static void see_word(void *arg)
{
	struct handled *x = arg;

	et_wait_word(ET_FLAG, 1);
	x->at[0] = program_now();
}

/* QSN-F22, QSN-G16. */
static void the_driver_does_one_thing_after_the_other(void **state)
{
	struct et *m = *state;
	struct handled x = { 0 };

	m->params.cpus = 2;
	m->params.mmu.on = true;
	m->params.resident = 2;
	ET_RUN(m, 1, { 0, driver_program, &x }, { 0, see_word, &x });
	assert_int_equal(et_counts(m, 0).interrupts, 1);
	assert_int_equal(et_counts(m, 0).faults, 1);
	assert_int_equal(et_counts(m, 0).exchanged, 1);
	assert_int_equal(x.computed[0], (40 + 5 + 15 + 5) * US);
	/* the trap is known before the fault */
	assert_in_range(x.at[0] - x.began, 10 * US, 11 * US);
}

TESTS(ET_TEST(qsn_f31_an_interrupt_runs_a_handler_on_cpu_0),
	ET_TEST(the_driver_does_one_thing_after_the_other),
	TEST(qsn_f31_a_copy_reads_over_the_bus_and_waits),
	ET_TEST(a_stopped_queue_copies_nothing))
