#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

/* --- what is refused --- */

/* A FIFO gets the bad one between good ones, which are of no help to it; others
 * go on. */
static void send_bad(void *arg)
{
	const struct sw_bad *b = arg;
	struct mu_descriptor good = sw_put(1, 101), d = good;
	struct sw_fifo f = sw_open(0, 0), other = sw_open(300, 0);
	struct sw_fifo system = sw_open(530, 0);

	sw_spoil(&d, b);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &good);
	sw_inject(&f, &good);
	sw_inject(&f, &d);
	sw_inject(&f, &good);
	sw_inject(&other, &good);
	sw_make_system(&good);
	sw_inject(&system, &good);
	program_charge(5000 * SIM_NS);
	for (uint32_t i = 0; i < MU_ERRORS; i++)
		assert_int_equal(sw_load(MU_ERROR_COUNT, i), i == b->why);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), 0);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 0), 1);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 300), 0);
	assert_int_equal(sw_load(MU_INJ_COUNT, 0), 2);
	assert_int_equal(sw_load(MU_INJ_COUNT, 300), 1);
	assert_int_equal(sw_load(MU_INJ_COUNT, 530), 1);
	/* What stopped is set up again, and works. */
	sw_store_system(MU_INJ_ENABLE, 0, 0);
	f = sw_open(0, 0);
	program_charge(1000 * SIM_NS);
	good = sw_put(1, 101);
	sw_inject(&f, &good);
	sw_wait_sent(&f);
}

static void a_bad_descriptor_stops_its_fifo_alone(void **state)
{
	for (size_t i = 0; i < SW_BADS; i++) {
		struct sw_bad b = sw_bads[i];
		uint64_t n = 505;
		const struct sw_program p[] = {
			{ 0, send_bad, &b },
			{ 1, sw_open_and_wait, &n },
		};

		sw_run_on("4x2", 1, p, 2);
	}
}

/* Users that misbehave in every way, at once; the system's message takes as
 * long as without them, but for what the network is shared. */
static void misbehave(void *arg)
{
	size_t n = SW_BADS;

	for (size_t i = 0; i < n; i++) {
		struct mu_descriptor d = sw_put(1, 100);
		struct sw_fifo f = sw_open((uint32_t)i, 0);

		sw_spoil(&d, &sw_bads[i]);
		sw_inject(&f, &d);
	}
	for (size_t i = 0; i < 20; i++) {
		sw_store(MU_INJ_TAIL, 512, 64 * i);
		sw_store(MU_INT_MASK, 0, 0);
		sw_store(MU_RANGE_RIGHTS, 0, 0);
	}
	program_wait(9000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_PERMISSION), 60 + 3);
}

static void send_as_system(void *arg)
{
	struct sw_fifo f = sw_open(512, 0);
	struct mu_descriptor d = sw_put(1, 20000);
	sim_time t;

	sw_make_system(&d);
	program_wait(2000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	*(sim_time *)arg = program_now() - t;
}

static void bgq_f129_users_errors_do_not_reach_the_system(void **state)
{
	sim_time with, without;
	uint64_t n = 20000;
	const struct sw_program p[] = {
		{ 0, send_as_system, &with },
		{ 1, sw_open_and_wait, &n },
		{ 0, misbehave, NULL },
	};
	const struct sw_program q[] = {
		{ 0, send_as_system, &without },
		{ 1, sw_open_and_wait, &n },
	};

	sw_run_on("4x2", 1, p, 3);
	sw_run_on("4x2", 1, q, 2);
	assert_int_equal(with, without);
}

/* --- the protocol --- */

/* Packets that two engines of one master port send: the last one may be done
 * before the one before it.  The count of messages has 64 bits. */
static void watch_head(void *arg)
{
	struct mu_node *n = nic_node(host_nic(program_host()), program_node());
	struct sw_fifo f = sw_open(40, 0);
	struct mu_descriptor d = sw_put(1, 4 * MU_PAYLOAD);
	uint64_t many = UINT32_MAX, k = 0;

	mu_set_fifo_map(&d, 0x5000);
	program_wait(1000 * SIM_NS);
	mu_inj(n, 40)->count = many;
	sw_inject(&f, &d);
	for (; k < 4; program_charge(SIM_NS)) {
		k = sw_upc(MU_UPC_PACKETS_IN, 0) + sw_upc(MU_UPC_PACKETS_IN, 2);
		assert_int_equal(
			sw_load(MU_INJ_HEAD, 40), f.at + (k == 4 ? 64 : 0));
		assert_int_equal(sw_load(MU_INJ_COUNT, 40), many + k / 4);
	}
}

/* Also BGQ-F136: the head shows which descriptors are complete. */
SW_PAIR(bgq_f108_the_head_moves_when_all_is_sent, "3", watch_head, 1,
	sw_open_only)

/* Each FIFO has one descriptor in the unit, whatever is behind it. */
static void fetch_one_each(void *arg)
{
	struct sw_fifo f[3] = { sw_open(1, 0), sw_open(2, 0), sw_open(9, 0) };
	struct mu_descriptor d = sw_put(1, 3000);
	uint32_t all = 0;

	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 6; k++)
			sw_write(&f[i], &d);
		sw_advance(&f[i]);
	}
	while (sw_load(MU_INJ_COUNT, 1) < 6 || sw_load(MU_INJ_COUNT, 2) < 6 ||
		sw_load(MU_INJ_COUNT, 9) < 6) {
		uint64_t sum = 0;

		for (uint32_t i = 0; i < 3; i++) {
			uint64_t n = sw_load(MU_INJ_FETCHED, f[i].id) -
				     sw_load(MU_INJ_COUNT, f[i].id);

			assert_in_range(n, 0, 1);
			sum += n;
		}
		all += sum == 3;
		program_charge(10 * SIM_NS);
	}
	assert_true(all > 100);
}

SW_PAIR(bgq_f111_one_descriptor_of_each_fifo_is_held, "3", fetch_one_each, 1,
	sw_open_only)

/* --- who is fetched first --- */

enum { GROUP = 32 };

struct order {
	uint32_t n;
	uint32_t fifo[GROUP + 1];
};

/* Watches which FIFOs' descriptors come, cycle by cycle. */
static void watch(struct order *o, const struct sw_fifo *f, uint32_t n)
{
	bool is_seen[GROUP + 1] = { false };

	for (o->n = 0; o->n < n; program_charge(1250)) {
		assert_true(program_now() < 20000 * SIM_NS);
		for (uint32_t i = 0; i < n; i++)
			if (!is_seen[i] && sw_load(MU_INJ_FETCHED, f[i].id)) {
				is_seen[i] = true;
				o->fifo[o->n++] = i;
			}
	}
}

/* 32 FIFOs of 128 bytes, each with a message for the node itself, and one of
 * the system's; the last four users' have high priority. */
static void enable_group(void *arg)
{
	struct mu_descriptor d = sw_put(program_node(), 8);
	struct order *o = (struct order *)arg + program_node();
	struct sw_fifo f[GROUP + 1];

	sw_open_bases(0);
	for (uint32_t i = 0; i <= GROUP; i++) {
		uint32_t id = i < GROUP ? GROUP + i : 512;

		f[i] = sw_open_at(
			id, i >= 28 && i < 32, SW_FIFOS + i * 128, 128);
		sw_store_system(MU_INJ_ENABLE, id, 0);
		sw_write(&f[i], &d);
		sw_advance(&f[i]);
	}
	program_wait(10000 * SIM_NS);
	sw_store_system(MU_INJ_ENABLE_GROUP, 1, UINT32_MAX);
	sw_store_system(MU_INJ_ENABLE_GROUP, 16, 1);
	watch(o, f, GROUP + 1);
}

enum { NODES = 64 };

static void bgq_f110_fetch_by_priority_and_lot(void **state)
{
	static struct order order[NODES];
	struct sw_program p[NODES];
	uint32_t i, k, first[GROUP] = { 0 }, last[GROUP] = { 0 };

	for (i = 0; i < NODES; i++)
		p[i] = (struct sw_program){ i, enable_group, order };
	sw_run_on("8x8", 1, p, NODES);
	for (i = 0; i < NODES; i++) {
		for (k = 0; k < GROUP + 1 && order[i].fifo[k] != GROUP; k++)
			;
		/* The system's comes 5 ns late and waits for none. */
		assert_in_range(k, 4, 6);
		/* The first fetch begins with the first store's effect. */
		for (k = 1; k < 4; k++)
			assert_in_range(order[i].fifo[k], 28, 31);
		first[order[i].fifo[6]]++;
		last[order[i].fifo[GROUP]]++;
	}
	for (i = 0; i < GROUP; i++) {
		assert_in_range(first[i], 0, 10);
		assert_in_range(last[i], 0, 10);
	}
}

/* --- hints --- */

struct hinted {
	site_id dst;
	uint8_t hints; /* A-, A+, B-, B+ from the top */
	uint64_t hops; /* 0: refused */
};

static void send_hinted(void *arg)
{
	const struct hinted *h = arg;
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(h->dst, 8);

	d.header.byte[1] = h->hints;
	mu_set_fifo_map(&d, MU_MAP_TORUS);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	program_charge(5000 * SIM_NS);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 0), !h->hops);
}

/* On a ring of 8 by a line of 3. */
static void hints_name_the_direction(void **state)
{
	static const struct hinted cases[] = {
		{ 1, 0x00, 1 },
		{ 1, 0x40, 1 },
		{ 1, 0x80, 7 },
		{ 6, 0x00, 2 },
		{ 6, 0x40, 6 },
		{ 17, 0x90, 9 },
		{ 17, 0x10, 3 },
		{ 17, 0x20, 0 }, /* the line has no way there */
		{ 1, 0x10, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hinted h = cases[i];
		const struct sw_program p[] = {
			{ 0, send_hinted, &h },
			{ h.dst, sw_open_only, NULL },
		};
		struct nic_testing m;

		nic_testing_machine(&m, "bgq", "8x3");
		m.torus.wrap.n = 2;
		m.torus.wrap.v[0] = TORUS_WRAP;
		m.torus.wrap.v[1] = TORUS_MESH;
		sw_run(&m, 1, p, 2);
		assert_int_equal(net_hops(m.net), h.hops);
		nic_testing_fini(&m);
	}
}

/* --- zones --- */

static void send_zoned(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(5, 30 * MU_PAYLOAD);

	d.header.byte[3] |= (uint8_t)(*(uint32_t *)arg << 3);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
}

/* The bytes that leave node 0 of 4x4 by B for node 5, which is at (1,1). */
static uint64_t sent_by_b(uint32_t zone)
{
	const struct sw_program p[] = {
		{ 0, send_zoned, &zone },
		{ 5, sw_open_only, NULL },
	};
	struct nic_testing m;
	uint64_t bytes;

	nic_testing_init(&m, &bgq_mu_ops, "4x4");
	sw_run(&m, 1, p, 2);
	bytes = net_counters(m.net, 0, 2, UINT32_MAX, 0).sent_bytes;
	nic_testing_fini(&m);
	return bytes;
}

/* BGQ-G7: the first two sets leave both ways open, the third one is the order
 * of dimensions. */
static void bgq_f36_a_descriptor_names_a_set_of_zones(void **state)
{
	assert_true(sent_by_b(0) > 0);
	assert_true(sent_by_b(1) > 0);
	assert_int_equal(sent_by_b(2), 0);
	assert_true(sent_by_b(3) > 0);
}

/* --- disabled --- */

static uint64_t fetched_of(const struct sw_fifo *f)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < GROUP; i++)
		sum += sw_load(MU_INJ_FETCHED, f[i].id);
	return sum;
}

/* All are enabled at once and disabled again while most of them wait for the
 * port, which is slow; what was fetched by then is sent, the rest later. */
static void disable_group(void *arg)
{
	struct mu_descriptor d = sw_put(program_node(), 8);
	struct sw_fifo f[GROUP];

	mu_set_prefetch(&d, true);
	for (uint32_t i = 0; i < GROUP; i++) {
		f[i] = sw_open_at(i, 0, SW_FIFOS + i * 128, 128);
		sw_store_system(MU_INJ_ENABLE, i, 0);
		sw_inject(&f[i], &d);
	}
	program_wait(10000 * SIM_NS);
	sw_store_system(MU_INJ_ENABLE_GROUP, 0, UINT32_MAX);
	for (uint32_t i = 0; i < GROUP; i++)
		sw_store_system(MU_INJ_ENABLE, i, 0);
	program_charge(20000 * SIM_NS);
	assert_in_range(fetched_of(f), 1, 3);
	for (uint32_t i = 0; i < GROUP; i++)
		assert_int_equal(
			sw_load(MU_INJ_COUNT, i), sw_load(MU_INJ_FETCHED, i));
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_REGISTER), 0);
	sw_store_system(MU_INJ_ENABLE_GROUP, 0, UINT32_MAX);
	for (uint32_t i = 0; i < GROUP; i++)
		sw_wait_sent(&f[i]);
	assert_int_equal(fetched_of(f), GROUP);
}

static void a_disabled_fifo_is_not_fetched_from(void **state)
{
	const struct sw_program p = { 0, disable_group, NULL };
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "2");
	((struct mu_params *)m.params)->port_cycle = 100 * SIM_NS;
	sw_run(&m, 1, &p, 1);
	nic_testing_fini(&m);
}

TESTS(TEST(a_bad_descriptor_stops_its_fifo_alone),
	TEST(bgq_f129_users_errors_do_not_reach_the_system),
	TEST(bgq_f108_the_head_moves_when_all_is_sent),
	TEST(bgq_f111_one_descriptor_of_each_fifo_is_held),
	TEST(bgq_f110_fetch_by_priority_and_lot),
	TEST(hints_name_the_direction),
	TEST(bgq_f36_a_descriptor_names_a_set_of_zones),
	TEST(a_disabled_fifo_is_not_fetched_from))
