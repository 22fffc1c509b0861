/* Collectives of groups: cards pass on, copy and combine. */
#include <errno.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	MOST = 64,
	QUEUE = 20,
	INPUT = 30,
	CODE = 40,
	EVENT = 50,
	AT = 0x1000,
	FROM = 0x100000,
	TO = 0x200000,
	WORDS = 200, /* of a reduction, at most */
	BYTES = 9000, /* of anything else */
};

static struct elan_hgroup open_group(void)
{
	static const struct elan_hgroup_options o = {
		.queue = QUEUE,
		.input = INPUT,
		.code = CODE,
		.event = EVENT,
		.at = AT,
	};
	struct elan_hgroup g;

	assert_int_equal(elan_hgroup_open(&g, &o), 0);
	program_wait(50 * US);
	return g;
}

static void close_group(struct elan_hgroup *g)
{
	assert_int_equal(elan_hgroup_close(g), 0);
	assert_int_equal(elan_hbcast(g, 0, FROM, 8), EBADF);
}

static uint64_t run_on(const char *nodes, uint32_t n, uint32_t workers,
	void (*run)(void *), void *arg)
{
	struct et_program p[MOST];
	struct et m;
	uint64_t digest;

	et_init(&m, nodes);
	m.nodes = nodes;
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct et_program){ i, run, arg };
	et_run(&m, workers, p, n);
	digest = et_digest(&m);
	et_fini(&m);
	return digest;
}

/* --- what is right --- */

static uint64_t value(uint64_t round, uint32_t rank, uint64_t i)
{
	uint64_t x = random_draw(7, rank, RANDOM_TEST, round * WORDS + i).a;

	return x >> (round % 2 ? 0 : 40); /* small ones, too */
}

static uint64_t combine(enum elan_reduction op, uint64_t a, uint64_t b)
{
	switch (op) {
	case ELAN_SUM:
		return a + b;
	case ELAN_MIN:
		return (int64_t)a < (int64_t)b ? a : b;
	case ELAN_MAX:
		return (int64_t)a < (int64_t)b ? b : a;
	case ELAN_MIN_UNSIGNED:
		return a < b ? a : b;
	case ELAN_MAX_UNSIGNED:
		return a < b ? b : a;
	case ELAN_AND:
		return a & b;
	case ELAN_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static void fill(uint64_t at, uint64_t round, uint32_t rank, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++) {
		uint8_t b = et_byte(round * MOST + rank, (uint32_t)i);

		assert_true(elan_store_bytes(at + i, &b, 1));
	}
}

static void expect(uint64_t at, uint64_t round, uint32_t rank, uint64_t first,
	uint64_t bytes)
{
	uint8_t b;

	for (uint64_t i = 0; i < bytes; i++) {
		assert_true(elan_load_bytes(at + i, &b, 1));
		if (b != et_byte(round * MOST + rank, (uint32_t)(first + i)))
			fail_msg("round %u: byte %u of rank %u at rank %u",
				(uint32_t)round, (uint32_t)(first + i), rank,
				elan_rank());
	}
}

/* --- one call each --- */

static void reduce(struct elan_hgroup *g, uint64_t round, uint32_t root,
	enum elan_reduction op, uint64_t n)
{
	uint64_t word, want;

	for (uint64_t i = 0; i < n; i++) {
		word = value(round, elan_rank(), i);
		assert_true(elan_store_bytes(FROM + 8 * i, &word, 8));
	}
	assert_int_equal(elan_hreduce(g, root, op, FROM, TO, n), 0);
	for (uint64_t i = 0; i < n; i++) {
		word = 0; /* it may change now */
		assert_true(elan_store_bytes(FROM + 8 * i, &word, 8));
	}
	if (root != ELAN_ALL && root != elan_rank())
		return;
	for (uint64_t i = 0; i < n; i++) {
		want = value(round, 0, i);
		for (uint32_t k = 1; k < elan_ranks(); k++)
			want = combine(op, want, value(round, k, i));
		assert_true(elan_load_bytes(TO + 8 * i, &word, 8));
		if (word != want)
			fail_msg("round %u: word %u at rank %u",
				(uint32_t)round, (uint32_t)i, elan_rank());
	}
}

static void broadcast(
	struct elan_hgroup *g, uint64_t round, uint32_t root, uint64_t bytes)
{
	bool is_root = root == elan_rank();
	uint64_t at = bytes > ELAN_SLOT_MOST || is_root ? FROM : TO;

	if (is_root)
		fill(at, round, root, bytes);
	assert_int_equal(elan_hbcast(g, root, at, bytes), 0);
	expect(at, round, root, 0, bytes);
	if (is_root)
		fill(at, round + 1, root, bytes); /* it may change now */
}

static void scatter(
	struct elan_hgroup *g, uint64_t round, uint32_t root, uint64_t bytes)
{
	if (root == elan_rank())
		fill(FROM, round, root, elan_ranks() * bytes);
	assert_int_equal(elan_hscatter(g, root, FROM, TO, bytes), 0);
	expect(TO, round, root, elan_rank() * bytes, bytes);
}

static void gather(
	struct elan_hgroup *g, uint64_t round, uint32_t root, uint64_t bytes)
{
	fill(FROM, round, elan_rank(), bytes);
	assert_int_equal(elan_hgather(g, root, FROM, TO, bytes), 0);
	fill(FROM, round + 1, elan_rank(), bytes);
	for (uint32_t i = 0; i < elan_ranks() && root == elan_rank(); i++)
		expect(TO + i * bytes, round, i, 0, bytes);
}

/* --- reductions --- */

static void reduce_program(void *arg)
{
	static const uint64_t lengths[] = { 1, 3, 4, 64, 65, 200 };
	struct elan_hgroup g = open_group();
	uint64_t round = 0;

	(void)arg;
	for (uint32_t op = 0; op < ELAN_REDUCTIONS; op++) {
		uint32_t root = (elan_ranks() - 1) * op / 7;

		reduce(&g, round++, ELAN_ALL, op, lengths[op % 6]);
		reduce(&g, round++, root, op, 1);
		reduce(&g, round++, root, op, lengths[(op + 3) % 6]);
	}
	close_group(&g);
}

/* QSN-F79, too: its result is broadcast. */
static void qsn_f10_sums_are_those_of_software(void **state)
{
	static const struct {
		const char *nodes;
		uint32_t n;
	} sizes[] = { { "1", 1 }, { "2", 2 }, { "5", 5 }, { "16", 16 },
		{ "22", 22 }, { "64", 64 } };

	(void)state;
	for (uint32_t i = 0; i < 6; i++)
		run_on(sizes[i].nodes, sizes[i].n, 1 + i % 3, reduce_program,
			NULL);
}

/* --- broadcasts --- */

static void broadcast_program(void *arg)
{
	static const uint64_t lengths[] = { 1, 8, 13, 512, 513, 2047, 2048,
		2049, BYTES };
	struct elan_hgroup g = open_group();

	(void)arg;
	for (uint32_t i = 0; i < 18; i++)
		broadcast(&g, i, i * 5 % elan_ranks(), lengths[i % 9]);
	close_group(&g);
}

static void qsn_f79_broadcasts_of_any_length_come_to_all(void **state)
{
	(void)state;
	run_on("1", 1, 1, broadcast_program, NULL);
	run_on("3", 3, 1, broadcast_program, NULL);
	run_on("21", 21, 2, broadcast_program, NULL);
}

/* The root is long gone when others come. */
static void late_program(void *arg)
{
	struct elan_hgroup g = open_group();
	weft_time start = weft_now();

	(void)arg;
	if (elan_rank() != 2)
		program_wait(500 * US + elan_rank() * 10 * US);
	for (uint32_t i = 0; i < 6; i++)
		broadcast(&g, i, 2, 2000);
	if (elan_rank() == 2)
		assert_true(weft_now() - start < 50 * US);
	close_group(&g);
}

static void qsn_f79_receivers_of_a_broadcast_need_not_be_ready(void **state)
{
	(void)state;
	run_on("16", 16, 1, late_program, NULL);
}

/* --- scatters and gathers --- */

static void parts_program(void *arg)
{
	static const uint64_t lengths[] = { 1, 8, 100, 512, 700, 2100 };
	struct elan_hgroup g = open_group();

	(void)arg;
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t root = i * 3 % elan_ranks();

		scatter(&g, 2 * i, root, lengths[i % 6]);
		gather(&g, 2 * i + 1, root, lengths[i % 6]);
	}
	close_group(&g);
}

static void qsn_f79_broadcasts_and_queues_scatter_and_gather(void **state)
{
	(void)state;
	run_on("1", 1, 1, parts_program, NULL);
	run_on("2", 2, 1, parts_program, NULL);
	run_on("18", 18, 2, parts_program, NULL);
}

/* --- anything, by processes that are slow or fast --- */

static void any_program(void *arg)
{
	const uint64_t *seed = arg;
	struct elan_hgroup g = open_group();
	uint64_t n = 0, own = 1 << 20;

	for (uint32_t round = 0; round < 60; round++) {
		uint32_t what = dice(*seed, &n, 6);
		uint32_t root = dice(*seed, &n, elan_ranks());
		uint32_t bytes = 1 + dice(*seed, &n, what == 5 ? 5000 : 300);
		uint32_t op = dice(*seed, &n, ELAN_REDUCTIONS);

		own += elan_rank() << 16;
		if (dice(*seed, &own, 4) == 0)
			program_charge(dice(*seed, &own, 20) * US);
		own -= elan_rank() << 16;
		if (what == 0)
			reduce(&g, round, ELAN_ALL, op, 1 + bytes % 70);
		else if (what == 1)
			reduce(&g, round, root, op, 1 + bytes % 70);
		else if (what == 2)
			scatter(&g, round, root, bytes);
		else if (what == 3)
			gather(&g, round, root, bytes);
		else
			broadcast(&g, round, root, bytes);
	}
	close_group(&g);
}

static void any_order_of_calls_is_right_for_any_number_of_threads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		uint64_t one = run_on("13", 13, 1, any_program, &seed);

		for (uint32_t workers = 2; workers <= 3; workers++)
			assert_true(run_on("13", 13, workers, any_program,
					    &seed) == one);
	}
}

/* The same where bits are flipped: packets come again, and overtake. */
static void calls_are_right_though_packets_are_lost(void **state)
{
	struct fault_plan plan = { 0 };
	struct et_program p[16];
	uint64_t seed = 4;
	struct et m;

	(void)state;
	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		plan.rate[i] = UINT64_C(10000000000000); /* 1e-5 */
	et_init(&m, "16");
	m.nodes = "16";
	m.faults = &plan;
	m.params.retry.limit = 255;
	for (uint32_t i = 0; i < 16; i++)
		p[i] = (struct et_program){ i, any_program, &seed };
	et_run(&m, 1, p, 16);
	assert_true(ET_SUM(&m, resent) > 10);
	et_fini(&m);
}

/* Two jobs, of the first and the last nodes, and a group each with the same
 * numbers; a job of every second node cannot have one. */
static void scattered_program(void *arg)
{
	const struct elan_hgroup_options o = { .event = 1, .at = AT };
	struct elan_hgroup g;
	struct elan_hgsync h;

	(void)arg;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT), EINVAL);
}

static void run_jobs(uint32_t first, uint32_t step, void (*run)(void *))
{
	static uint64_t seed[2] = { 5, 6 };
	site_id node[2][12];
	uint32_t place[2][12];
	struct host_world world[2];
	const struct host_world *worlds[12];
	struct et m;

	for (uint32_t j = 0; j < 2; j++)
		world[j] = (struct host_world){ 0, node[j], place[j], 0 };
	for (uint32_t i = 0; i < 12; i++) {
		uint32_t j = step > 1 ? i % step : i >= first;

		place[j][i] = world[j].n;
		place[!j][i] = UINT32_MAX;
		node[j][world[j].n++] = i;
		worlds[i] = &world[j];
	}
	et_init(&m, "12");
	m.nodes = "12";
	et_start(&m, 2, 12);
	host_set_worlds(m.host, worlds);
	for (uint32_t i = 0; i < 12; i++)
		program_start(
			m.host, i, 0, 0, run, &seed[worlds[i] == &world[1]]);
	et_go(&m);
	et_fini(&m);
}

static void jobs_have_their_own_groups(void **state)
{
	(void)state;
	run_jobs(5, 1, any_program);
	run_jobs(0, 2, scattered_program);
}

/* --- mistakes --- */

static void odd_program(void *arg)
{
	struct elan_hgroup g = open_group();
	uint32_t me = elan_rank();

	(void)arg;
	assert_int_equal(elan_hbcast(&g, 4, FROM, 8), EINVAL);
	assert_int_equal(elan_hbcast(&g, 0, ET_MEMORY - 4, 8), EFAULT);
	assert_int_equal(elan_hreduce(&g, 4, ELAN_SUM, FROM, TO, 1), EINVAL);
	assert_int_equal(
		elan_hreduce(&g, 0, ELAN_REDUCTIONS, FROM, TO, 1), EINVAL);
	assert_int_equal(
		elan_hreduce(&g, 0, ELAN_SUM, FROM + 4, TO, 1), EINVAL);
	assert_int_equal(
		elan_hreduce(&g, ELAN_ALL, ELAN_SUM, FROM, ET_MEMORY - 8, 2),
		EFAULT);
	assert_int_equal(elan_hscatter(&g, 4, FROM, TO, 8), EINVAL);
	assert_int_equal(elan_hscatter(&g, 0, FROM, ET_MEMORY, 8), EFAULT);
	assert_int_equal(elan_hgather(&g, 4, FROM, TO, 8), EINVAL);
	assert_int_equal(elan_hgather(&g, 0, ET_MEMORY, TO, 8), EFAULT);
	/* other lengths; other addresses of a long one */
	assert_int_equal(elan_hbcast(&g, 0, FROM, me == 2 ? 16 : 8),
		me == 2 ? EMSGSIZE : 0);
	assert_int_equal(
		elan_hbcast(&g, 0, FROM + 8 * (me == 2), 5000), EINVAL);
	assert_int_equal(
		elan_hbcast(&g, 0, FROM, 5000 + 8 * (me == 1)), EINVAL);
	broadcast(&g, 1, 3, 5000);
	reduce(&g, 2, ELAN_ALL, ELAN_SUM, 5);
	close_group(&g);
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	run_on("4", 4, 1, odd_program, NULL);
}

static void bad_options_program(void *arg)
{
	struct elan_hgroup_options o = { .queue = QUEUE,
		.input = INPUT,
		.code = CODE,
		.event = EVENT,
		.at = AT };
	struct elan_hgroup g;

	(void)arg;
	o.at = AT + 4;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	assert_int_equal(elan_hgroup_close(&g), EBADF);
	o.at = ET_MEMORY - 8;
	assert_int_equal(elan_hgroup_open(&g, &o), EFAULT);
	o.at = AT;
	o.event = 0;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	o.event = EVENT;
	o.input = ELAN_INPUTS - 2;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	o.input = INPUT;
	o.code = ELAN_CODES;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	o.code = CODE;
	o.queue = ELAN_QUEUES - 1;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
	o.queue = QUEUE;
	/* nothing of all that was kept */
	assert_int_equal(elan_hgroup_open(&g, &o), 0);
	assert_int_equal(elan_hgroup_close(&g), 0);
}

static void bad_options_leave_nothing_behind(void **state)
{
	et_run_two(*state, bad_options_program, NULL, NULL);
}

/* One has closed its group: who sends to it learns that. */
static void leaving_program(void *arg)
{
	struct elan_hgroup g = open_group();

	(void)arg;
	broadcast(&g, 0, 1, 8);
	if (elan_rank() == 3) {
		close_group(&g);
		return;
	}
	program_charge(50 * US);
	if (elan_rank() == 1) {
		assert_int_equal(elan_hbcast(&g, 1, FROM, 8), 0);
		program_charge(50 * US);
		assert_int_equal(
			elan_hreduce(&g, 1, ELAN_SUM, FROM, TO, 1), EIO);
		assert_int_equal(elan_hbcast(&g, 1, FROM, 8), EIO);
		assert_int_equal(elan_hgroup_close(&g), EBUSY);
	}
}

static void who_sends_to_a_closed_group_learns_it(void **state)
{
	(void)state;
	run_on("4", 4, 1, leaving_program, NULL);
}

static void several_program(void *arg)
{
	static const struct elan_hgroup_options o = { .event = 1, .at = AT };
	struct elan_hgroup g;

	(void)arg;
	assert_int_equal(elan_hgroup_open(&g, &o), EINVAL);
}

static void several_processes_have_no_group(void **state)
{
	struct et *m = *state;

	m->n_processes = 2;
	et_run_two(m, several_program, NULL, NULL);
}

TESTS(TEST(qsn_f10_sums_are_those_of_software),
	TEST(qsn_f79_broadcasts_of_any_length_come_to_all),
	TEST(qsn_f79_receivers_of_a_broadcast_need_not_be_ready),
	TEST(qsn_f79_broadcasts_and_queues_scatter_and_gather),
	TEST(any_order_of_calls_is_right_for_any_number_of_threads),
	TEST(calls_are_right_though_packets_are_lost),
	TEST(jobs_have_their_own_groups), TEST(what_is_wrong_is_said),
	ET_TEST(bad_options_leave_nothing_behind),
	TEST(who_sends_to_a_closed_group_learns_it),
	ET_TEST(several_processes_have_no_group))
