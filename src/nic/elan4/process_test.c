/* Processes of a node: their ranks, the table that leads from these to nodes,
 * contexts and routes, and what they can do to each other. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	NODES = 4,
	HERE = 5, /* context of the program's process */
	THERE = 6, /* of those that it names */
	PART = 0x10000, /* bytes that THERE has, at ET_TARGET */
};

#define ALL_ROUTES UINT64_MAX

static const struct elan_job job = { .each = 1, .first = THERE };

static struct elan_route route_to(site_id node, uint16_t context)
{
	return (struct elan_route){ .node = node,
		.context = context,
		.state = ELAN_ROUTE_VALID,
		.routes = ALL_ROUTES };
}

static void set_route(uint32_t rank, const struct elan_route *to)
{
	assert_int_equal(
		elan_route_set(et_card(), program_node(), HERE, rank, to), 0);
}

/* A queue of the program's process. */
static struct et_queue open_here(uint32_t id)
{
	assert_int_equal(
		elan_process_open(et_card(), program_node(), HERE, &job), 0);
	return et_open_as(id, ELAN_64K, ELAN_MAY_ALL, HERE);
}

static void start(struct et *m)
{
	et_start(m, 1, 1);
	for (site_id s = 0; s < m->net->n_nodes; s++) {
		elan_context_set(m->nic, s, HERE, 0, ET_TARGET - 1);
		elan_context_set(
			m->nic, s, THERE, ET_TARGET, ET_TARGET + PART - 1);
	}
}

static void run(struct et *m, void (*program)(void *), void *arg)
{
	start(m);
	program_start(m->host, 0, 0, 0, program, arg);
	et_go(m);
}

/* --- where ranks lead --- */

static void ranks_program(void *arg)
{
	struct et_queue q = open_here(0);
	struct elan_dma d = { .bytes = 3000, .from = ET_SOURCE };

	for (uint32_t r = 0; r < NODES; r++) {
		struct elan_route to = route_to(NODES - 1 - r, THERE);

		set_route(r, &to);
		et_put(&q, r, ET_TARGET + 8192 * r, r, 200, 0, 0);
		et_fill(ET_SOURCE + 8192 * r, 9 + r, 3000);
		d.destination = r;
		d.from = ET_SOURCE + 8192 * r;
		d.to = ET_TARGET + 8192 * r + 4096;
		et_dma(&q, &d);
	}
	program_charge(100 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void expect_bytes(
	const struct et *m, site_id s, uint64_t at, uint64_t seed, uint32_t n)
{
	for (uint32_t i = 0; i < n; i += 8)
		for (uint32_t k = 0; k < 8 && i + k < n; k++) {
			uint8_t byte;

			host_read(m->host, s, at + i + k, &byte, 1);
			assert_int_equal(byte, et_byte(seed, i + k));
		}
}

/* The driver may put the processes of a job anywhere. */
static void qsn_f44_a_rank_leads_to_a_node_and_a_context(void **state)
{
	struct et *m = *state;

	run(m, ranks_program, NULL);
	for (uint32_t r = 0; r < NODES; r++) {
		site_id s = NODES - 1 - r;

		et_expect_at(m, s, ET_TARGET + 8192 * r, r, 200, true);
		expect_bytes(m, s, ET_TARGET + 8192 * r + 4096, 9 + r, 3000);
	}
}

static void entry_program(void *arg)
{
	struct et_queue q = open_here(0);
	const struct elan_process *p =
		&((struct elan_node *)nic_node(et_card(), 0))
			 ->processes.process[0];
	struct elan_route got;

	et_put(&q, 2, ET_TARGET, 1, 8, 0, 0);
	program_charge(10 * US);
	assert_true(p->at >= ELAN_CARD_AT);
	host_read(program_host(), 0, p->at + 2 * 16, &got, 16);
	assert_int_equal(got.node, 2);
	assert_int_equal(got.context, THERE);
	assert_true(got.routes == ALL_ROUTES);
}

/* Sixteen bytes of card memory for each rank, as they are read there. */
static void qsn_f44_a_table_is_in_card_memory(void **state)
{
	struct et *m = *state;
	uint64_t left, before;

	start(m);
	before = elan_sdram_left(&et_node(m, 0)->sdram);
	assert_int_equal(elan_process_open(m->nic, 0, HERE, &job), 0);
	left = elan_sdram_left(&et_node(m, 0)->sdram);
	assert_int_equal(before - left, NODES * 16);
	/* once */
	assert_int_equal(elan_process_open(m->nic, 0, HERE, &job), 0);
	assert_int_equal(elan_sdram_left(&et_node(m, 0)->sdram), left);
	program_start(m->host, 0, 0, 0, entry_program, NULL);
	et_go(m);
}

/* The driver's own mistakes. */
static void expect_nonsense(struct nic *nic)
{
	static const struct elan_route bad[] = {
		{ NODES, THERE, ELAN_ROUTE_VALID, 0, ALL_ROUTES },
		{ 0, ELAN_CONTEXTS, ELAN_ROUTE_VALID, 0, ALL_ROUTES },
		{ 0, THERE, ELAN_ROUTE_VALID, 0, 0 },
		{ 0, THERE, ELAN_ROUTE_NEW, 0, ALL_ROUTES },
		{ 0, THERE, ELAN_ROUTE_NONE + 1, 0, ALL_ROUTES },
	};

	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(
			elan_route_set(nic, 1, HERE, 0, &bad[i]), EINVAL);
}

static void a_table_needs_room_and_sense(void **state)
{
	const struct elan_job none = { .each = 0, .first = 1 };
	const struct elan_job many = { .each = 2, .first = ELAN_CONTEXTS - 1 };
	const struct elan_route to = route_to(0, THERE);
	struct et *m = *state;

	start(m);
	assert_int_equal(
		elan_process_open(m->nic, 0, ELAN_CONTEXTS, &job), EINVAL);
	assert_int_equal(elan_process_open(m->nic, 0, HERE, &none), EINVAL);
	assert_int_equal(elan_process_open(m->nic, 0, HERE, &many), EINVAL);
	assert_int_equal(elan_route_set(m->nic, 0, HERE, 0, &to), EINVAL);
	while (elan_sdram_take(&et_node(m, 0)->sdram, 64, 64))
		;
	assert_int_equal(elan_process_open(m->nic, 0, HERE, &job), ENOMEM);
	assert_int_equal(elan_queue_open(m->nic, 0, 0, ELAN_1K, 0, 1), ENOMEM);
	assert_int_equal(elan_process_open(m->nic, 1, HERE, &job), 0);
	assert_int_equal(elan_route_set(m->nic, 1, HERE, NODES, &to), EINVAL);
	assert_int_equal(elan_route_set(m->nic, 1, HERE, 3, &to), 0);
	expect_nonsense(m->nic);
	et_go(m);
}

/* --- the time of a look --- */

enum { LOOKS = 8 };

struct looks {
	uint32_t n;
	sim_time late[LOOKS]; /* from its command, or its data, to the link */
};

static void note_late(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct looks *x = arg;

	assert_true(x->n < LOOKS);
	x->late[x->n++] = p->born - elan_buffer_of(p)->asked;
}

/* Ranks 0 to 3 are in one line, 4 is in another. */
static void looks_program(void *arg)
{
	static const uint32_t rank[LOOKS / 2] = { 1, 1, 3, 4 };
	const bool *is_dma = arg;
	struct et_queue q = open_here(0);
	struct elan_dma d = { .bytes = 8, .from = ET_SOURCE, .to = ET_TARGET };

	for (uint32_t i = 0; i < LOOKS / 2; i++) {
		program_charge(10 * US);
		d.destination = rank[i];
		if (*is_dma)
			et_dma(&q, &d);
		else
			et_put(&q, rank[i], ET_TARGET, 1, 8, 0, 0);
	}
}

static struct looks run_looks(bool is_dma, bool is_on)
{
	struct looks x = { 0 };
	struct et m;

	et_init(&m, "16");
	m.params.cache.on = is_on;
	start(&m);
	m.nic->on_delivered = note_late;
	m.nic->arg = &x;
	program_start(m.host, 0, 0, 0, looks_program, &is_dma);
	et_go(&m);
	assert_int_equal(x.n, LOOKS / 2);
	if (is_on)
		assert_int_equal(
			et_counts(&m, 0)
				.misses[is_dma ? ELAN_BY_DMA : ELAN_BY_COMMAND],
			2 + !is_dma); /* the queue's descriptor */
	et_fini(&m);
	return x;
}

/* A hit is part of the fixed time; a miss takes 60 ns, and 64 bytes at 2.656
 * GB/s, on top. */
static void qsn_f44_a_route_that_is_not_in_the_cache_is_waited_for(void **state)
{
	for (uint32_t is_dma = 0; is_dma < 2; is_dma++) {
		struct looks hit = run_looks(is_dma, false);
		struct looks x = run_looks(is_dma, true);

		for (uint32_t i = 0; i < LOOKS / 2; i++) {
			bool is_cold = i == 0 || i == 3;

			assert_int_equal(hit.late[i], hit.late[0]);
			assert_int_equal(
				x.late[i] - hit.late[i], is_cold ? 84096 : 0);
		}
	}
}

/* --- routes --- */

struct taken {
	uint64_t routes;
};

static void note_route(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct taken *x = arg;

	if (s == 15)
		x->routes |= UINT64_C(1) << elan_buffer_of(p)->route;
}

static void routes_program(void *arg)
{
	const uint64_t *routes = arg;
	struct et_queue q = open_here(0);
	struct elan_dma d = et_dma_to(7, 64 * 512, 0, 2);
	struct elan_route to = route_to(15, THERE);

	to.routes = *routes;
	set_route(7, &to);
	et_dma(&q, &d);
	et_get(&q, 7, ET_TARGET, ET_SOURCE, 8, 0);
	et_put(&q, 7, ET_TARGET, 1, 8, 0, 0);
	program_charge(200 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* The entry's routes, and no others, are taken in turn. */
static void qsn_g7_packets_take_the_routes_of_their_entry(void **state)
{
	static const uint64_t routes[] = { UINT64_C(1) << 13,
		UINT64_C(1) << 63 | UINT64_C(1) << 4 | UINT64_C(1) << 2,
		ALL_ROUTES };

	for (uint32_t i = 0; i < 3; i++) {
		uint64_t want = routes[i];
		struct taken x = { 0 };
		struct et m;

		et_init(&m, "16");
		m.spread = UPDOWN_ROTATE;
		start(&m);
		m.nic->on_delivered = note_route;
		m.nic->arg = &x;
		program_start(m.host, 0, 0, 0, routes_program, &want);
		et_go(&m);
		assert_true(x.routes == want);
		et_fini(&m);
	}
}

/* --- contexts at both ends --- */

static void get_program(void *arg)
{
	struct et_queue q = open_here(0);
	uint64_t words[] = { elan_word(ELAN_ARM, 3, 0), 512, ET_FLAG, 1 };

	et_push(&q, words, 4);
	et_get(&q, 1, ET_TARGET, ET_SOURCE, 512, 3);
	et_wait_word(ET_FLAG, 1);
	et_expect(ET_SOURCE, 4, 512);
	/* the other's memory is not there for it, nor is this one for that */
	et_get(&q, 1, ET_SOURCE, ET_SOURCE, 8, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	q = open_here(1);
	et_get(&q, 1, ET_TARGET, ET_TARGET, 8, 0);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
}

/* A get reads in the context of its target; its answer writes, and sets an
 * event, in that of the getter. */
static void qsn_f53_an_answer_has_the_context_of_who_has_asked(void **state)
{
	struct et *m = *state;
	uint8_t data[512];

	start(m);
	for (uint32_t i = 0; i < 512; i++)
		data[i] = et_byte(4, i);
	memory_write(host_at(m->host, 1), MEMORY_NIC, ET_TARGET, data, 512);
	program_start(m->host, 0, 0, 0, get_program, NULL);
	et_go(m);
}

static void events_program(void *arg)
{
	struct et_queue q = open_here(0);
	struct et_queue r = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, THERE);
	uint64_t own[] = { elan_word(ELAN_ARM, 1, 0), 1, ET_FLAG, 1 };
	uint64_t other[] = { elan_word(ELAN_ARM, 2, 0), 8, ET_TARGET + 64, 1 };
	uint64_t wrong[] = { elan_word(ELAN_ARM, 3, 0), 8, ET_TARGET + 72, 1 };

	et_push(&q, own, 4);
	et_push(&r, other, 4);
	et_push(&r, wrong, 4);
	/* to itself: event 2 is its target's, 1 its own, and 3 not its own */
	et_put(&q, 0, ET_TARGET, 1, 8, 2, 1);
	et_put(&q, 0, ET_TARGET, 1, 8, 0, 3);
	et_wait_word(ET_FLAG, 1);
	et_wait_word(ET_TARGET + 64, 1);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_TARGET + 72), 0);
}

static void qsn_f53_each_end_sets_its_own_contexts_events(void **state)
{
	run(*state, events_program, NULL);
}

/* --- broadcasts --- */

struct cast {
	uint32_t first, last;
	enum elan_error error;
};

static void cast_program(void *arg)
{
	const struct elan_job pairs = { .each = 2, .first = HERE };
	const struct cast *c = arg;
	struct et_queue q;

	elan_process_open(et_card(), 0, HERE, &pairs);
	q = et_open_as(0, ELAN_8K, ELAN_MAY_ALL, HERE);
	et_cast(&q, c->first, c->last, ET_TARGET, 3, 100, 0, 0);
	program_charge(20 * US);
	assert_int_equal(et_error(&q), c->error);
}

/* Ranks 2 i + 1 are in context THERE of node i, the broadcast's (QSN-F53). */
static void qsn_f2_a_range_of_ranks_is_one_context_of_its_nodes(void **state)
{
	static const struct cast casts[] = {
		{ 1, 7, ELAN_FINE }, { 3, 5, ELAN_FINE }, { 5, 5, ELAN_FINE },
		{ 0, 7, ELAN_ERROR_COMMAND }, { 7, 1, ELAN_ERROR_COMMAND },
		{ 1, 9, ELAN_ERROR_COMMAND },
		{ 2, 4, ELAN_ERROR_REFUSED }, /* HERE has no such memory */
	};

	for (uint32_t i = 0; i < 7; i++) {
		struct cast c = casts[i];
		struct et m;

		et_init(&m, "4");
		run(&m, cast_program, &c);
		for (site_id s = 0; s < NODES; s++)
			et_expect_at(&m, s, ET_TARGET, 3, 100,
				!c.error && s >= c.first / 2 &&
					s <= c.last / 2);
		et_fini(&m);
	}
}

static void gap_program(void *arg)
{
	static site_id node[] = { 0, 1, 3 };
	static uint32_t place[] = { 0, 1, UINT32_MAX, 2 };
	static const struct host_world world = { 3, node, place, 0 };
	const struct elan_job gap = { &world, 1, THERE };
	struct et_queue q;

	elan_process_open(et_card(), 0, HERE, &gap);
	q = et_open_as(0, ELAN_8K, ELAN_MAY_ALL, HERE);
	et_cast(&q, 0, 1, ET_TARGET, 3, 100, 0, 0);
	program_charge(20 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	et_put(&q, 2, ET_TARGET, 3, 100, 0, 0);
	et_cast(&q, 1, 2, ET_TARGET, 3, 100, 0, 0);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
}

/* Node 2, in between, is another job's. */
static void qsn_f53_a_range_stays_in_its_job(void **state)
{
	struct et *m = *state;

	run(m, gap_program, NULL);
	for (site_id s = 0; s < NODES; s++)
		et_expect_at(m, s, ET_TARGET, 3, 100, s != 2);
}

/* --- forged --- */

static struct elan_node *here(void)
{
	return nic_node(et_card(), program_node());
}

/* A queue of the same process, and one of another, are used at last. */
static void others_go_on(void)
{
	struct et_queue own = open_here(30);
	struct et_queue other = et_open_as(31, ELAN_1K, ELAN_MAY_ALL, THERE);

	et_put(&own, 3, ET_TARGET, 5, 8, 0, 0);
	et_put(&other, 3, ET_TARGET + 8, 6, 8, 0, 0);
	program_charge(20 * US);
	assert_int_equal(et_error(&own), ELAN_FINE);
	assert_int_equal(et_error(&other), ELAN_FINE);
}

static void expect_others(const struct et *m)
{
	et_expect_at(m, 3, ET_TARGET, 5, 8, true);
	et_expect_at(m, 3, ET_TARGET + 8, 6, 8, true);
}

static void rank_program(void *arg)
{
	static const uint64_t rank[] = { NODES, 2, UINT32_MAX, UINT64_MAX,
		UINT64_C(1) << 60 };
	const struct elan_route none = { .state = ELAN_ROUTE_NONE };
	struct elan_dma d = { .bytes = 8, .from = ET_SOURCE, .to = ET_TARGET };
	struct et_queue q;

	for (uint32_t i = 0; i < 5; i++) {
		q = open_here(i);
		set_route(2, &none);
		d.destination = rank[i];
		et_dma(&q, &d);
		et_wait_error(&q, ELAN_ERROR_COMMAND);
		if (rank[i] > UINT32_MAX)
			continue;
		q = open_here(10 + i);
		et_put(&q, (site_id)rank[i], ET_TARGET, 1, 8, 0, 0);
		et_wait_error(&q, ELAN_ERROR_COMMAND);
	}
	others_go_on();
}

static void a_forged_rank_stops_its_queue(void **state)
{
	struct et *m = *state;

	run(m, rank_program, NULL);
	expect_others(m);
	assert_int_equal(et_counts(m, 0).packets, 2);
}

static void context_program(void *arg)
{
	struct elan_dma d = et_dma_to(2, 8, 0, 0);
	struct elan_route to = route_to(2, 4711);
	struct et_queue q = open_here(0);

	set_route(2, &to);
	et_put(&q, 2, ET_TARGET, 1, 8, 0, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	q = open_here(1);
	et_dma(&q, &d);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	q = open_here(2);
	et_get(&q, 2, ET_TARGET, ET_SOURCE, 8, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	others_go_on();
}

static void a_forged_context_is_refused(void **state)
{
	struct et *m = *state;

	run(m, context_program, NULL);
	expect_others(m);
	et_expect_at(m, 2, ET_TARGET, 1, 8, false);
}

/* A process reaches its table neither from here nor from another node. */
static void table_program(void *arg)
{
	struct et_queue q = open_here(0);
	uint64_t at = here()->processes.process[0].at;
	uint64_t words[] = { ELAN_STORE, at, 1 };
	struct elan_route got;

	et_push(&q, words, 3);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
	q = open_here(1);
	et_put(&q, 0, at, 1, 16, 0, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	q = open_here(2);
	et_get(&q, 0, at, ET_SOURCE, 16, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	others_go_on();
	host_read(program_host(), 0, at, &got, 16);
	assert_int_equal(got.node, 0);
	assert_int_equal(got.context, THERE);
}

static void a_process_cannot_write_its_table(void **state)
{
	struct et *m = *state;

	run(m, table_program, NULL);
	expect_others(m);
}

/* --- bad bits --- */

enum { MENDED = 1 << 4, BAD = 1 << 4 | 1 << 17 };

struct harm {
	uint64_t bits, word; /* of the entry */
	bool is_dma;
};

static void harm_program(void *arg)
{
	const struct harm *h = arg;
	struct elan_dma d = et_dma_to(1, 2048, 0, 0);
	struct et_queue q = open_here(0);

	et_put(&q, 1, ET_TARGET + 4096, 1, 8, 0, 0);
	program_charge(10 * US);
	elan_sdram_flip(&here()->sdram,
		here()->processes.process[0].at + 16 + 8 * h->word, h->bits);
	if (h->is_dma)
		et_dma(&q, &d);
	else
		et_put(&q, 1, ET_TARGET, 0, 8, 0, 0);
	program_charge(30 * US);
	assert_int_equal(
		et_error(&q), h->bits == BAD ? ELAN_ERROR_MEMORY : ELAN_FINE);
	others_go_on();
}

static void two_bad_bits_in_a_route_stop_its_reader(void **state)
{
	for (uint32_t i = 0; i < 8; i++) {
		struct harm h = { i & 1 ? BAD : MENDED, i >> 1 & 1, i >> 2 };
		struct elan_counts c;
		struct et m;

		et_init(&m, "4");
		m.params.cache.on = i & 1;
		run(&m, harm_program, &h);
		c = et_counts(&m, 0);
		assert_int_equal(c.corrected, !(i & 1));
		assert_int_equal(c.errors[ELAN_ERROR_MEMORY], i & 1);
		expect_others(&m);
		et_fini(&m);
	}
}

static void late_harm_program(void *arg)
{
	struct elan_dma d = et_dma_to(1, 64 << 10, 1, 0);
	struct et_queue q = open_here(0);
	uint64_t words[] = { elan_word(ELAN_ARM, 1, 0), 1, ET_FLAG, 1 };

	et_push(&q, words, 4);
	et_dma(&q, &d);
	program_charge(20 * US);
	elan_sdram_flip(
		&here()->sdram, here()->processes.process[0].at + 16, BAD);
	et_wait_error(&q, ELAN_ERROR_MEMORY);
	program_charge(100 * US);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(elan_queue_restart(et_card(), 0, 0), 0);
	others_go_on();
}

/* The assembler reads the entry for each packet. */
static void a_dma_whose_route_goes_bad_ends(void **state)
{
	struct et *m = *state;

	run(m, late_harm_program, NULL);
	assert_in_range(et_counts(m, 0).packets, 20, 60);
	expect_others(m);
}

/* --- jobs --- */

enum {
	JOBS = 2,
	ROUNDS = 24,
	HALF = ET_MEMORY / JOBS,
};

struct member {
	uint32_t job;
	site_id node;
	sim_time took;
};

/* Each job has a process on every node, whose ranks are the nodes. */
static uint32_t context_of(uint32_t of)
{
	return 1 + of;
}

static uint64_t memory_of(uint32_t of)
{
	return (uint64_t)of * HALF;
}

static uint64_t seed_of(const struct member *x, uint32_t round)
{
	return 1 + x->job * 1000 + x->node * 100 + round;
}

static void job_program(void *arg)
{
	struct member *x = arg;
	const struct elan_job of = { .each = 1, .first = context_of(x->job) };
	uint64_t base = memory_of(x->job), event = 1 + x->job;
	struct et_queue q;
	uint64_t words[] = { elan_word(ELAN_ARM, event, 0), ROUNDS * 512,
		base + ET_FLAG, 1 };
	sim_time begin;

	elan_process_open(et_card(), x->node, of.first, &of);
	q = et_open_as(x->job, ELAN_64K, ELAN_MAY_ALL, of.first);
	et_push(&q, words, 4);
	program_wait(10 * US);
	begin = program_now();
	for (uint32_t i = 0; i < ROUNDS; i++)
		et_put(&q, (x->node + 1) % NODES, base + ET_SOURCE + 4096 * i,
			seed_of(x, i), 512, (uint32_t)event, 0);
	et_wait_word(base + ET_FLAG, 1);
	x->took = program_now() - begin;
	/* the other job's, at the same offset */
	et_put(&q, 1, memory_of(!x->job) + ET_SOURCE, 0, 8, 0, 0);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
}

static sim_time run_jobs(struct et *m, uint32_t n)
{
	struct member x[JOBS][NODES];

	et_start(m, 1, n * NODES);
	for (uint32_t i = 0; i < JOBS * NODES; i++) {
		struct member *p = &x[i / NODES][i % NODES];

		*p = (struct member){ i / NODES, i % NODES, 0 };
		elan_context_set(m->nic, p->node, context_of(p->job),
			memory_of(p->job), memory_of(p->job) + HALF - 1);
		if (p->job < n)
			program_start(
				m->host, p->node, p->job, 0, job_program, p);
	}
	et_go(m);
	for (uint32_t i = 0; i < n * NODES; i++) {
		const struct member *p = &x[i / NODES][i % NODES];

		for (uint32_t k = 0; k < ROUNDS; k++)
			et_expect_at(m, (p->node + 1) % NODES,
				memory_of(p->job) + ET_SOURCE + 4096 * k,
				seed_of(p, k), 512, true);
	}
	return x[0][0].took;
}

/*
 * Two processes of a node store through one card, and the card at the other end
 * knows whose bytes are whose; no interrupt, no driver, and no exchange of
 * queues is needed for that.
 */
static void qsn_f3_two_jobs_share_cards_and_no_byte_crosses(void **state)
{
	struct et *m = *state, alone;
	sim_time both, one;

	both = run_jobs(m, 2);
	assert_int_equal(ET_SUM(m, interrupts), 0);
	assert_int_equal(ET_SUM(m, exchanged), 0);
	et_init(&alone, "4");
	one = run_jobs(&alone, 1);
	et_fini(&alone);
	/* 24 packets of 536 bytes at 449 MB/s, and as many of 512 at 632 */
	assert_in_range(one, 48 * US, 53 * US);
	/* nothing but the bus, which both store over, is shared */
	assert_in_range(both, one, 2 * one + 2 * US);
}

TESTS(ET_TEST(qsn_f44_a_rank_leads_to_a_node_and_a_context),
	ET_TEST(qsn_f44_a_table_is_in_card_memory),
	ET_TEST(a_table_needs_room_and_sense),
	TEST(qsn_f44_a_route_that_is_not_in_the_cache_is_waited_for),
	TEST(qsn_g7_packets_take_the_routes_of_their_entry),
	ET_TEST(qsn_f53_an_answer_has_the_context_of_who_has_asked),
	ET_TEST(qsn_f53_each_end_sets_its_own_contexts_events),
	TEST(qsn_f2_a_range_of_ranks_is_one_context_of_its_nodes),
	ET_TEST(qsn_f53_a_range_stays_in_its_job),
	ET_TEST(a_forged_rank_stops_its_queue),
	ET_TEST(a_forged_context_is_refused),
	ET_TEST(a_process_cannot_write_its_table),
	TEST(two_bad_bits_in_a_route_stop_its_reader),
	ET_TEST(a_dma_whose_route_goes_bad_ends),
	ET_TEST(qsn_f3_two_jobs_share_cards_and_no_byte_crosses))
