/* Which routes packets take, and nodes that die. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { NODES = 16 };

/* --- death --- */

static void dying_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t words[ET_PACKET_WORDS];
	uint32_t n = et_packet(words, 1, ET_TARGET, 1, 512, 0, 0), i;
	sim_time t;

	program_wait(10 * US);
	/* all at once: what is stored ahead is known before it is stored */
	t = program_now();
	for (i = 0; i < 20 * (n - n % 8); i += 8) {
		t = elan_store(et_card(), program_worker(), 0, t, 0,
			(uint32_t)(q.stored % ELAN_PAGE),
			words + i % (n - n % 8), 8);
		q.stored += 64;
	}
	program_wait(t);
	fail_msg("it is dead");
}

/* Stores that a core has handed over ahead do not come from a dead node. */
static void what_a_node_has_not_stored_dies_with_it(void **state)
{
	struct et *m = *state;
	struct fault_event death = {
		.at = 12 * US, .site = 0, .port = FAULT_SITE
	};
	struct fault_plan plan = { .event = &death, .n_events = 1 };
	const struct elan_queue *q;

	m->faults = &plan;
	m->params.half_packet = 900 * US;
	et_run_two(m, dying_program, NULL, NULL);
	assert_int_equal(host_n_dead(m->host), 1);
	/* a store of 64 bytes takes 142.5 ns, and 200 ns to the card */
	q = elan_queue(et_node(m, 0), 0);
	assert_int_equal(q->announced, (2000 - 200) / 142 * 64);
}

/* --- rotation --- */

struct taken {
	uint64_t routes[NODES]; /* a bit each, of packets that came */
	uint64_t last[NODES]; /* the address of the last one's bytes */
	uint32_t disorder[NODES];
};

static void note_route(void *arg, site_id s, const struct packet *p, sim_time t)
{
	const struct elan_buffer *b = elan_buffer_of(p);
	struct taken *x = arg;

	x->routes[s] |= UINT64_C(1) << (b->route % ELAN_ROUTES);
	x->disorder[s] += b->piece[0].address < x->last[s];
	x->last[s] = b->piece[0].address;
}

static void rotate_program(void *arg)
{
	const uint32_t *event = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(15, 64 * 512, 1, *event);

	et_fill(ET_SOURCE, 3, d.bytes);
	program_wait(10 * US);
	et_arm(&q, 1, 1);
	et_dma(&q, &d);
	et_wait_event(1);
	et_arm(&q, 3, 64 * 8);
	for (uint32_t k = 0; k < 64; k++)
		et_get(&q, 14, ET_SOURCE + 8 * k, ET_TARGET + 8 * k, 8,
			*event ? 3 : 0);
	for (uint32_t k = 0; k < 64; k++)
		et_put(&q, 13, ET_TARGET + 64 * k, k, 64, *event, 0);
}

static struct taken run_rotate(int64_t spread, uint32_t event)
{
	struct taken x = { { 0 }, { 0 }, { 0 } };
	struct et_program p = { 0, rotate_program, &event };
	struct et m;

	et_init(&m, "16");
	m.spread = spread;
	et_start(&m, 1, 1);
	m.nic->on_delivered = note_route;
	m.nic->arg = &x;
	program_start(m.host, p.node, 0, 0, p.run, p.arg);
	et_go(&m);
	et_fini(&m);
	return x;
}

/*
 * DMAs and answers whose bytes an event counts may come in any order; puts,
 * and what nobody counts, may be looked for by their last word.
 */
static void qsn_g7_independent_packets_rotate_routes(void **state)
{
	struct taken x;

	x = run_rotate(UPDOWN_SOURCE, 2);
	assert_int_equal(x.routes[15], 1);
	assert_int_equal(x.routes[0], 1);
	assert_int_equal(x.routes[13], 1);
	x = run_rotate(UPDOWN_ROTATE, 2);
	assert_true(x.routes[15] == UINT64_MAX);
	assert_true(x.routes[0] == UINT64_MAX);
	assert_int_equal(x.routes[13], 1);
	assert_int_equal(x.disorder[13], 0);
	x = run_rotate(UPDOWN_ROTATE, 0);
	assert_int_equal(x.routes[15], 1);
	assert_int_equal(x.routes[0], 1);
	assert_int_equal(x.disorder[15], 0);
}

TESTS(ET_TEST(what_a_node_has_not_stored_dies_with_it),
	TEST(qsn_g7_independent_packets_rotate_routes))
