/* Where a message's time goes in the cards: exact, where nothing waits. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

struct told {
	uint32_t n;
	struct book_account last;
};

static void on_message(void *arg, const struct book_account *a)
{
	struct told *x = arg;

	x->n++;
	x->last = *a;
}

/* Runs a program on node 0, and another one on node 1. */
static void run(
	struct et *m, struct told *x, void (*a)(void *), void (*b)(void *))
{
	static struct book_how how;
	struct et_program p[] = { { 0, a, NULL }, { 1, b, NULL } };

	memset(x, 0, sizeof(*x));
	how = (struct book_how){ .on_message = on_message, .arg = x };
	m->book = &how;
	et_run(m, 1, p, b ? 2 : 1);
}

static void born(const struct et_queue *q)
{
	elan_note_birth(
		et_card(), program_node(), q->id, q->stored, program_now());
	program_charge(33 * SIM_NS);
}

static void expect(const struct told *x, enum cause c, sim_time t)
{
	if (x->last.budget.spent[c] != t)
		fail_msg("%s: %lld ps, not %lld", causes[c].name,
			(long long)x->last.budget.spent[c], (long long)t);
}

/* What is the same for all: two cables of 5 m, a switch, a write. */
static void expect_way(const struct et *m, const struct told *x, uint32_t times,
	uint32_t bytes)
{
	const struct elan_host *h = &m->params.host[0];

	expect(x, CAUSE_WIRE, times * 40 * SIM_NS);
	expect(x, CAUSE_ROUTER, times * 21 * SIM_NS);
	expect(x, CAUSE_MEMORY_WRITE,
		m->params.input + h->dma_overhead + bytes / 8 * 7500 + h->see);
	expect(x, CAUSE_QUEUE, 0);
	expect(x, CAUSE_RECEIVER, 0);
}

static void put_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	born(&q);
	et_put(&q, 1, ET_TARGET, 1, 8, 0, 0);
}

static void the_parts_of_a_put(void **state)
{
	struct et *m = *state;
	const struct elan *e;
	struct told x;

	run(m, &x, put_program, NULL);
	e = (const struct elan *)m->nic;
	assert_int_equal(x.n, 1);
	assert_int_equal(x.last.budget.start, 10 * US);
	expect(&x, CAUSE_SOFTWARE, 33 * SIM_NS);
	/* five words on the bus, and to the card */
	expect(&x, CAUSE_DESCRIPTOR,
		m->params.host[0].pio_overhead + 5 * 7500 +
			m->params.host[0].store);
	expect(&x, CAUSE_ENGINE, 0);
	expect(&x, CAUSE_PACKET, m->params.command - e->least);
	expect(&x, CAUSE_SERIALISATION, e->least);
	expect_way(m, &x, 1, 8);
}

static void dma_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, 512, 0, 0);

	program_wait(10 * US);
	born(&q);
	et_dma(&q, &d);
}

static void the_parts_of_a_dma(void **state)
{
	struct et *m = *state;
	const struct elan *e;
	struct told x;

	m->params.dispatch = 70 * SIM_NS;
	run(m, &x, dma_program, NULL);
	e = (const struct elan *)m->nic;
	assert_int_equal(x.n, 1);
	expect(&x, CAUSE_SOFTWARE, 33 * SIM_NS);
	expect(&x, CAUSE_DESCRIPTOR,
		m->params.host[0].pio_overhead + 8 * 7500 +
			m->params.host[0].store);
	expect(&x, CAUSE_ENGINE, 70 * SIM_NS);
	expect(&x, CAUSE_MEMORY_READ,
		m->params.read_latency + m->params.host[0].dma_overhead +
			64 * 7500);
	expect(&x, CAUSE_PACKET, m->params.command - e->least);
	expect(&x, CAUSE_SERIALISATION, link_ser(&e->nic.net->link, 512));
	expect_way(m, &x, 1, 512);
}

static void get_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	born(&q);
	et_get(&q, 1, ET_SOURCE, ET_TARGET, 8, 0);
}

static void the_parts_of_a_get(void **state)
{
	struct et *m = *state;
	const struct link_rules *l;
	const struct elan *e;
	struct told x;

	m->params.bus.turn = 0; /* from the stores to the answer's write */
	run(m, &x, get_program, NULL);
	e = (const struct elan *)m->nic;
	l = &e->nic.net->link;
	assert_int_equal(x.n, 1);
	assert_int_equal(x.last.src, 0);
	expect(&x, CAUSE_SOFTWARE, 33 * SIM_NS);
	expect(&x, CAUSE_MEMORY_READ,
		m->params.input + m->params.read_latency +
			m->params.host[0].dma_overhead + 7500);
	expect(&x, CAUSE_PACKET, 2 * (m->params.command - e->least));
	/* one transaction and two words */
	expect(&x, CAUSE_SERIALISATION, l->ser[l->first[1] + 2] + e->least);
	expect_way(m, &x, 2, 8);
}

/* Turned away while the only read is in use, and sent again. */
static void busy_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(2, 8, 0, 0);

	et_dma(&q, &d);
}

static void retries_are_charged(void **state)
{
	struct et *m = *state;
	struct told x;

	m->params.reads = 1;
	m->params.read_latency = 20 * US;
	run(m, &x, get_program, busy_program);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.last.src, 0);
	assert_int_equal(et_counts(m, 0).resent, 4);
	/* 1, 2, 4 and 8 us, and the ways that it went in vain */
	assert_in_range(x.last.budget.spent[CAUSE_RETRY], 15 * US, 17 * US);
}

static void three_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t store[] = { ELAN_STORE, ET_FLAG, 1 };

	program_wait(10 * US);
	/* Commands that are no messages, before and between. */
	et_push(&q, store, 3);
	born(&q);
	et_put(&q, 1, ET_TARGET, 1, 512, 0, 0);
	et_push(&q, store, 3);
	et_put(&q, 1, ET_TARGET, 1, 512, 0, 0);
	born(&q);
	et_put(&q, 1, ET_TARGET, 1, 512, 0, 0);
}

/* The third one waits for an acknowledgement of the first. */
static void a_queue_that_is_full_is_the_cards(void **state)
{
	struct et *m = *state;
	struct told x;

	m->params.retry.timeout = 1000 * US;
	m->params.input = 50 * US;
	run(m, &x, three_program, NULL);
	assert_int_equal(x.n, 3);
	assert_int_equal(x.last.number, 2);
	expect(&x, CAUSE_SOFTWARE, 33 * SIM_NS);
	assert_in_range(x.last.budget.spent[CAUSE_CARD], 46 * US, 50 * US);
}

TESTS(ET_TEST(the_parts_of_a_put), ET_TEST(the_parts_of_a_dma),
	ET_TEST(the_parts_of_a_get), ET_TEST(retries_are_charged),
	ET_TEST(a_queue_that_is_full_is_the_cards))
