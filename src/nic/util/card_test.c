/*
 * Reads over a side, queues of work, and requests that are answered, by a
 * made-up card that is made of these and nothing else.  An entry asks another
 * node to add a number to a sum; the answer has the sum.
 */
#include <errno.h>
#include <string.h>

#include "host/side_bus.h"
#include "nic/nic_testing.h"
#include "nic/util/asks.h"
#include "nic/util/workq.h"
#include "testing/testing.h"

enum {
	CARD_QUEUES = ENGINE_CLIENT,
	CARD_READS = CARD_QUEUES + WORKQS_EVENTS,
	CARD_ASKS = CARD_READS + SIDE_READS_EVENTS,
	CARD_ENGINES = CARD_ASKS + ASKS_EVENTS - ENGINE_CLIENT,
	RING = 8,
	MOST = 64,
};

#define ENTRIES_AT  UINT64_C(0x10000)
#define ENDS_AT	    UINT64_C(0x20000)
#define OUT_OF_THIS (NIC_TESTING_MEMORY - 64)

enum { STATUS_OK, STATUS_REFUSED, STATUS_GAVE_UP };

struct card_params {
	struct workq_params work;
	struct resend_params retry;
};

static const struct param card_params[] = {
	WORKQ_ROWS(offsetof(struct card_params, work), "4", "10 ns"),
	RESEND_ROWS(
		offsetof(struct card_params, retry), "5 us", "3", "", "", ""),
};

struct entry {
	uint64_t id;
	uint32_t node, unused;
	uint64_t number, unused_too;
};

struct sending {
	struct ask_item ask;
	uint64_t id;
};

struct card_node {
	struct asks asks;
	struct side_reads reads;
	struct workqs queues;
	uint32_t next; /* number of a request */
	uint64_t sum, n_asked, n_again;
};

struct card {
	struct nic nic;
	struct side_reads_how reads;
	struct workqs_how queues;
	struct asks_how asks;
};

struct world {
	struct nic_testing m;
	uint32_t lost; /* requests that are not answered, of the first ones */
	uint64_t refused; /* number that is turned away */
	bool is_lazy; /* takes no entries */
	struct {
		uint64_t at;
		uint32_t bytes, id;
		sim_time t;
	} read[MOST];
	uint32_t n_reads, n_asked;
};

static struct world *world; /* of the test that runs */

static struct card_node *here(const struct nic_at *a)
{
	return a->node;
}

static void on_fetched(const struct nic_at *a, uint32_t queue)
{
	struct card_node *n = a->node;
	struct workq *q = n->queues.queue[queue];

	while (!world->is_lazy && q->entries.n && !q->is_stopped) {
		struct workq_birth b;
		const struct entry *e = workqs_take(a, &n->queues, queue, &b);
		uint32_t id = asks_new(a, e->node, queue, n->next++);
		struct sending *s = asks_item(a, id);

		s->id = e->id;
		s->ask.copy->h.word[0] = e->number;
		asks_ready(a, id);
	}
}

static void end(
	const struct nic_at *a, uint32_t item, uint32_t status, uint64_t value)
{
	const struct sending *s = asks_item(a, item);
	const struct workq_completion c = {
		.id = s->id, .status = status, .value = value
	};
	uint32_t queue = s->ask.copy->h.channel;

	asks_answered(a, item);
	workqs_complete(a, &here(a)->queues, queue, &c);
}

static void give_up(const struct nic_at *a, uint32_t item)
{
	end(a, item, STATUS_GAVE_UP, 0);
}

static void on_left(const struct nic_at *a, uint32_t card, uint32_t bytes)
{
	(void)card;
}

static void on_asked(const struct nic_at *a, packet_id id, struct ask *x)
{
	struct card_node *n = a->node;

	n->n_asked++;
	n->n_again += x->is_again;
	if (x->h.word[0] == world->refused)
		x->h.status = STATUS_REFUSED;
	else if (!x->is_again)
		n->sum += x->h.word[0];
	x->h.word[0] = n->sum;
	if (world->n_asked++ < world->lost)
		asks_finish(a, id, false); /* so its answer is lost */
	else
		asks_answer(a, id, 0);
}

static bool fits(const struct ask_header *x, const struct ask_header *y)
{
	return x->op == y->op;
}

static void on_answered(const struct nic_at *a, packet_id id, struct ask *x,
	struct ask_item *item)
{
	end(a, x->h.id, x->h.status, x->h.word[0]);
	asks_finish(a, id, true);
}

static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct nic_at a = nic_at(me->state, w, s, t);
	struct card_node *n = a.node;
	uint32_t number = asks_number(&n->asks, sim_number(&e));

	if (sim_phase(&e) == PHASE_PROGRAM) {
		host_event(a.nic->host, w, s, t, &e);
		return;
	}
	ticks_check(&a, &n->asks.ticks, &e);
	assert_true(side_reads_on_event(&a, &n->reads, number, e.data) +
			    workqs_on_event(&a, &n->queues, number, e.data) +
			    asks_on_event(&a, number, e.data) ==
		    1);
	if (n->asks.is_leaving)
		asks_leave(&a, asks_is_last(&a));
}

static int init(struct nic *nic, struct err *e)
{
	const struct card_params *p = nic->params;
	struct card *x = (struct card *)nic;

	x->reads = (struct side_reads_how){ .side = host_side(nic->host),
		.first = CARD_READS };
	x->queues = (struct workqs_how){
		.first = CARD_QUEUES,
		.entry = sizeof(struct entry),
		.size = sizeof(struct workq),
		.params = &p->work,
		.fetched = on_fetched,
	};
	x->asks = (struct asks_how){
		.resend.give_up = give_up,
		.kept = UINT8_MAX,
		.left = on_left,
		.asked = on_asked,
		.fits = fits,
		.answered = on_answered,
	};
	asks_set_up(&x->asks, &p->retry, nic->net, CARD_ASKS, CARD_ENGINES);
	return asks_check(nic, e);
}

static void node_init(struct nic *nic, void *node, site_id s)
{
	const struct card *x = (const struct card *)nic;
	struct card_node *n = node;

	asks_init(&n->asks, &x->asks, sizeof(struct sending));
	side_reads_init(&n->reads, &x->reads, &n->asks.ticks);
	workqs_init(&n->queues, &x->queues, &n->reads);
}

static void node_fini(struct nic *nic, void *node)
{
	struct card_node *n = node;

	asks_fini(&n->asks);
	side_reads_fini(&n->reads);
	workqs_fini(&n->queues);
}

static int audit_node(const void *node, site_id s, struct err *e)
{
	const struct card_node *n = node;

	if (asks_is_idle(&n->asks) && !n->reads.n)
		return 0;
	return err_set_code(e, EXIT_INTERNAL, "node %u: not done", s);
}

static const struct net_client_faults faults = {
	.on_hurt = asks_on_hurt,
};

static const struct net_client_ops client = {
	.on_room = asks_on_room,
	.on_packet = asks_on_packet,
	.on_event = on_event,
	.on_lost = nic_on_lost,
	.faults = &faults,
};

static const struct nic_counter no_counters[] = { { 0 } };

static const struct nic_ops card_ops = {
	.name = "card",
	.title = "card",
	.has = "any-side",
	.size = sizeof(struct card),
	.node_size = sizeof(struct card_node),
	PARAMS(card_params),
	.params_size = sizeof(struct card_params),
	.client = &client,
	.counters = no_counters,
	.init = init,
	.node_init = node_init,
	.node_fini = node_fini,
	.audit_node = audit_node,
	.load_bytes = asks_load_bytes,
	.is_stale = asks_is_stale,
};

static void run(struct world *x, void (*program)(void *arg))
{
	world = x;
	nic_testing_init(&x->m, &card_ops, "2");
	nic_testing_start(&x->m, 1, 1);
	program_start(x->m.host, 0, 0, 0, program, x);
	nic_testing_run(&x->m);
}

static struct card_node *node(struct world *x, site_id s)
{
	return nic_node(x->m.nic, s);
}

static struct nic_at at(void)
{
	return nic_at(host_nic(program_host()), program_worker(),
		program_node(), program_now());
}

static void on_read(const struct nic_at *a, const struct side_read *r)
{
	struct world *x = r->owner;
	uint32_t i = x->n_reads++;

	assert_true(i < MOST);
	x->read[i].at = r->at;
	x->read[i].bytes = r->bytes;
	x->read[i].id = r->id;
	x->read[i].t = a->t;
}

static void begin(struct world *x, uint64_t from, uint32_t bytes, uint32_t id)
{
	struct nic_at a = at();

	side_reads_begin(&a, &here(&a)->reads, from, bytes, on_read, x, id);
}

static void read_three(void *arg)
{
	begin(arg, 0x1000, 8, 1);
	begin(arg, 0x2000, 100000, 2);
	begin(arg, 0x3000, 1, 3);
}

static void reads_end_whole_and_in_order(void **state)
{
	struct world x = { 0 };
	const struct side *side;

	run(&x, read_three);
	side = host_side(x.m.host);
	assert_true(side->most_read < 100000 / 4);
	assert_int_equal(x.n_reads, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(x.read[i].id, i + 1);
	assert_int_equal(x.read[1].bytes, 100000);
	assert_int_equal(x.read[1].at, 0x2000);
	assert_true(x.read[0].t < x.read[1].t && x.read[1].t < x.read[2].t);
	nic_testing_fini(&x.m);
}

/* Two long ones, of which the second waits, then short ones. */
static void read_ahead(void *arg)
{
	struct nic_at a = at();

	((struct card *)a.nic)->reads.ahead = 8;
	begin(arg, 0x1000, 100000, 1);
	begin(arg, 0x2000, 100000, 2);
	begin(arg, 0x3000, 8, 3);
	begin(arg, 0x4000, 9, 4);
	begin(arg, 0x5000, 1, 5);
}

static void short_reads_overtake_long_ones_that_wait(void **state)
{
	static const uint32_t order[] = { 3, 5, 1, 2, 4 };
	struct world x = { 0 };

	run(&x, read_ahead);
	assert_int_equal(x.n_reads, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(x.read[i].id, order[i]);
	nic_testing_fini(&x.m);
}

static void read_many(void *arg)
{
	struct nic_at a = at();
	const struct side_reads *r = &here(&a)->reads;

	for (uint32_t i = 0; i < MOST; i++)
		begin(arg, 64 * i, 64, i);
	assert_int_equal(r->n, r->how->side->n_reads);
	assert_int_equal(r->items.used + r->n, MOST); /* the others wait */
}

static void no_more_reads_are_under_way_than_the_side_allows(void **state)
{
	struct world x = { 0 };

	run(&x, read_many);
	assert_int_equal(x.n_reads, MOST);
	assert_int_equal(node(&x, 0)->reads.n, 0);
	assert_int_equal(node(&x, 0)->reads.items.used, 0);
	nic_testing_fini(&x.m);
}

static void read_by_the_second(void *arg)
{
	struct nic_at a = at();

	assert_int_equal(host_processors(a.nic->host), 2);
	((struct card *)a.nic)->reads.processor =
		host_processor_of(a.nic->host, 3);
	begin(arg, 0x1000, 8, 1);
}

static void reads_cross_the_side_of_their_processor(void **state)
{
	struct world x = { 0 };
	struct side *side;

	world = &x;
	nic_testing_init(&x.m, &card_ops, "2");
	x.m.processors = 2;
	nic_testing_start(&x.m, 1, 1);
	program_start(x.m.host, 1, 0, 0, read_by_the_second, &x);
	nic_testing_run(&x.m);
	side = host_side(x.m.host);
	assert_int_equal(x.n_reads, 1);
	assert_int_equal(side->n_places, 4);
	for (site_id i = 0; i < 4; i++)
		assert_int_equal(side_bus_at(side, i)->bytes[BUS_OUT],
			i == side_place(side, 1, 1) ? 8 : 0);
	nic_testing_fini(&x.m);
}

static int open_rings(uint64_t entries, uint64_t ends, uint32_t n)
{
	const struct workq_rings r = {
		.n_entries = n,
		.n_completions = n,
		.entries_at = entries,
		.completions_at = ends,
	};
	struct nic_at a = at();

	return workqs_open(&a, &here(&a)->queues, 0, &r);
}

/* Writes the i-th entry of a queue, ever. */
static void write_entry(uint32_t i, uint64_t number)
{
	struct entry e = { .id = 100 + i, .node = 1, .number = number };

	program_write(ENTRIES_AT + i % RING * sizeof(e), &e, sizeof(e));
}

static void ring(uint32_t written, uint32_t taken)
{
	struct nic_at a = at();

	workqs_ring(&a, &here(&a)->queues, 0, written, taken, a.t, a.t);
}

/* Waits for the i-th completion, ever. */
static struct workq_completion wait_end(uint32_t i)
{
	struct poll_loop loop = { .period = 20 * SIM_NS };
	uint64_t place = ENDS_AT + i % RING * sizeof(struct workq_completion);
	struct workq_completion c;
	uint64_t word;

	program_poll(place + offsetof(struct workq_completion, number), WORD_IS,
		i + 1, loop, &word);
	program_read(place, &c, sizeof(c));
	return c;
}

static void misuse(void *arg)
{
	struct nic_at a = at();

	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, 6), EINVAL);
	assert_int_equal(open_rings(ENTRIES_AT + 8, ENDS_AT, RING), EINVAL);
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT + 4, RING), EINVAL);
	assert_int_equal(open_rings(OUT_OF_THIS, ENDS_AT, RING), EFAULT);
	assert_int_equal(open_rings(ENTRIES_AT, OUT_OF_THIS, RING), EFAULT);
	assert_int_equal(workqs_close(&here(&a)->queues, 0), EINVAL);
	ring(3, 0); /* of a queue that is not open */
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), EBUSY);
	assert_int_equal(workqs_close(&here(&a)->queues, 0), 0);
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
}

static void rings_that_cannot_be_are_refused(void **state)
{
	struct world x = { 0 };

	run(&x, misuse);
	assert_int_equal(node(&x, 0)->queues.fetches, 0);
	nic_testing_fini(&x.m);
}

static void add_numbers(void *arg)
{
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	for (uint32_t i = 0; i < 5 * RING; i += RING) {
		for (uint32_t k = 0; k < RING; k++)
			write_entry(i + k, 1);
		ring(i + RING, i);
		for (uint32_t k = 0; k < RING; k++) {
			struct workq_completion c = wait_end(i + k);

			assert_int_equal(c.id, 100 + i + k);
			assert_int_equal(c.status, STATUS_OK);
			assert_int_equal(c.value, i + k + 1);
		}
	}
}

/* A ring is used again and again; entries are fetched a few at a time. */
static void entries_complete_in_order_round_after_round(void **state)
{
	struct world x = { 0 };

	run(&x, add_numbers);
	assert_int_equal(node(&x, 1)->sum, 5 * RING);
	assert_int_equal(node(&x, 0)->queues.fetches, 5 * RING / 4);
	assert_int_equal(node(&x, 0)->queues.overruns, 0);
	assert_false(workqs_is_busy(&node(&x, 0)->queues));
	nic_testing_fini(&x.m);
}

static void write_too_many(void *arg)
{
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	ring(RING + 1, 0);
}

static void more_entries_than_a_ring_has_stop_its_queue(void **state)
{
	struct world x = { 0 };

	run(&x, write_too_many);
	assert_int_equal(node(&x, 0)->queues.overruns, 1);
	assert_int_equal(node(&x, 0)->queues.fetches, 0);
	assert_true(node(&x, 0)->queues.queue[0]->is_stopped);
	nic_testing_fini(&x.m);
}

static void take_no_completions(void *arg)
{
	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	for (uint32_t i = 0; i < RING; i++)
		write_entry(i, 1);
	ring(RING, 0);
	wait_end(RING - 1);
	write_entry(RING, 1);
	ring(RING + 1, 0);
	program_wait(program_now() + 20 * US);
	assert_int_equal(wait_end(0).id, 100); /* is still there */
}

static void more_completions_than_a_ring_has_stop_its_queue(void **state)
{
	struct world x = { 0 };

	run(&x, take_no_completions);
	assert_int_equal(node(&x, 1)->sum, RING + 1);
	assert_int_equal(node(&x, 0)->queues.overruns, 1);
	assert_true(node(&x, 0)->queues.queue[0]->is_stopped);
	assert_false(workqs_is_busy(&node(&x, 0)->queues));
	nic_testing_fini(&x.m);
}

static void leave_entries(void *arg)
{
	struct nic_at a = at();

	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	write_entry(0, 1);
	ring(1, 0);
	assert_int_equal(workqs_close(&here(&a)->queues, 0), EBUSY);
	program_wait(program_now() + 20 * US);
	assert_int_equal(workqs_close(&here(&a)->queues, 0), EBUSY);
}

static void a_queue_with_entries_is_not_closed(void **state)
{
	struct world x = { .is_lazy = true };

	run(&x, leave_entries);
	assert_true(workqs_is_busy(&node(&x, 0)->queues));
	assert_int_equal(node(&x, 0)->queues.queue[0]->entries.n, 1);
	nic_testing_fini(&x.m);
}

static void ask_once(void *arg)
{
	struct world *x = arg;
	struct workq_completion c;

	assert_int_equal(open_rings(ENTRIES_AT, ENDS_AT, RING), 0);
	write_entry(0, 41);
	ring(1, 0);
	c = wait_end(0);
	assert_int_equal(c.status, x->lost > 3	? STATUS_GAVE_UP
				   : x->refused ? STATUS_REFUSED
						: STATUS_OK);
}

/* Where answers are lost it is asked again, and executed once. */
static void what_comes_again_is_not_executed_again(void **state)
{
	for (uint32_t lost = 0; lost < 3; lost++) {
		struct world x = { .lost = lost };

		run(&x, ask_once);
		assert_int_equal(node(&x, 1)->n_asked, lost + 1);
		assert_int_equal(node(&x, 1)->n_again, lost);
		assert_int_equal(node(&x, 1)->sum, 41);
		assert_int_equal(node(&x, 1)->asks.answers, 1);
		assert_int_equal(node(&x, 0)->asks.timeouts, lost);
		assert_int_equal(node(&x, 0)->asks.resent, lost);
		nic_testing_fini(&x.m);
	}
}

static void what_is_never_answered_is_given_up(void **state)
{
	struct world x = { .lost = MOST };

	run(&x, ask_once);
	assert_int_equal(node(&x, 1)->n_asked, 4); /* the first, and three */
	assert_int_equal(node(&x, 1)->sum, 41);
	assert_true(asks_is_idle(&node(&x, 0)->asks));
	nic_testing_fini(&x.m);
}

static void what_was_refused_stays_so(void **state)
{
	struct world x = { .refused = 41 };

	run(&x, ask_once);
	assert_int_equal(node(&x, 1)->sum, 0);
	nic_testing_fini(&x.m);
}

TESTS(TEST(reads_end_whole_and_in_order),
	TEST(short_reads_overtake_long_ones_that_wait),
	TEST(no_more_reads_are_under_way_than_the_side_allows),
	TEST(reads_cross_the_side_of_their_processor),
	TEST(rings_that_cannot_be_are_refused),
	TEST(entries_complete_in_order_round_after_round),
	TEST(more_entries_than_a_ring_has_stop_its_queue),
	TEST(more_completions_than_a_ring_has_stop_its_queue),
	TEST(a_queue_with_entries_is_not_closed),
	TEST(what_comes_again_is_not_executed_again),
	TEST(what_is_never_answered_is_given_up),
	TEST(what_was_refused_stays_so))
