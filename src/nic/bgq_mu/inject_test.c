#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LINKS = 2 * MU_DIMS };

#define CUBE "3x3x3x3x3"

static site_id neighbour(uint32_t port)
{
	const struct topo *t = host_nic(program_host())->net->topo;

	return t->ops->peer(t, program_node(), (port_id)port).router;
}

/* The map bit of the network FIFO that is named for a port. */
static uint64_t map_of(uint32_t port)
{
	return MU_MAP_A_MINUS >> (port ^ 1);
}

static uint64_t packets_in(uint32_t engine)
{
	return sw_upc(MU_UPC_PACKETS_IN, engine);
}

/* --- network FIFOs --- */

static void send_past(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(3, 5000);
	uint64_t sum = 0;

	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		sum += packets_in(i);
	assert_int_equal(sum, 10);
}

static void bgq_f17_routers_on_the_way_touch_no_memory(void **state)
{
	uint64_t n = 5000;
	const struct sw_program p[] = {
		{ 0, send_past, NULL },
		{ 3, sw_open_and_wait, &n },
	};
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "8");
	sw_run(&m, 2, p, 2);
	assert_int_equal(net_hops(m.net), 30);
	assert_int_equal(net_total(m.net).injected, 10);
	assert_int_equal(sw_l2_counts(m.host, 0).reads, 1 + 40);
	assert_int_equal(sw_l2_counts(m.host, 3).writes, 40);
	assert_int_equal(
		sw_l2_counts(m.host, 1).reads + sw_l2_counts(m.host, 1).writes,
		0);
	assert_int_equal(
		sw_l2_counts(m.host, 2).reads + sw_l2_counts(m.host, 2).writes,
		0);
	assert_null(m.nic->nodes[1]);
	assert_null(m.nic->nodes[2]);
	nic_testing_fini(&m);
}

struct class
{
	uint64_t map;
	enum mu_channel channel;
	site_id dst;
	uint32_t inj;
	uint32_t in, out; /* network FIFOs; out of node dst */
};

static void send_class(void *arg)
{
	const struct class *c = arg;
	struct sw_fifo f = sw_open(c->inj, 0);
	struct mu_descriptor d = sw_put(c->dst, 2000);

	if (c->dst == program_node())
		sw_open_bases(2000);
	if (c->channel == MU_SYSTEM)
		sw_make_system(&d);
	sw_set_channel(&d, c->channel);
	mu_set_fifo_map(&d, c->map);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		assert_int_equal(packets_in(i), i == c->in ? 4 : 0);
	if (c->dst == program_node())
		sw_wait_counter(SW_COUNTER);
}

static void receive_class(void *arg)
{
	const struct class *c = arg;

	if (c->dst == 1) {
		sw_open_bases(2000);
		sw_wait_counter(SW_COUNTER);
		for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
			assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, i),
				i == c->out ? 4 : 0);
	}
}

/* BGQ-F18, BGQ-F21, BGQ-F104 */
static void fifos_are_split_by_class(void **state)
{
	/* packets that go in the plus direction come in by the minus port */
	static const struct class classes[] = {
		{ 0x4000, MU_DYNAMIC, 1, 0, 0, 1 },
		{ 0x8000, MU_DETERMINISTIC, 1, 0, 1, 1 },
		{ MU_MAP_HIGH, MU_HIGH, 1, 0, MU_NET_HIGH, MU_NET_HIGH },
		{ MU_MAP_SYSTEM, MU_SYSTEM, 1, 512, MU_NET_SYSTEM,
			MU_NET_SYSTEM },
		{ 0x20, MU_DYNAMIC, 0, 0, MU_NET_LOCAL, 0 },
		{ 0x10, MU_DYNAMIC, 0, 0, MU_NET_LOCAL + 1, 0 },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct class c = classes[i];
		const struct sw_program p[] = {
			{ 0, send_class, &c },
			{ 1, receive_class, &c },
		};

		sw_run_on("3", 1, p, 2);
	}
}

/* --- engines --- */

struct burst {
	bool is_spread; /* each message by a network FIFO of its own */
	uint32_t n; /* messages, to a neighbour each */
	sim_time took;
};

enum { BURST = 100 * MU_PAYLOAD };

static void send_burst(void *arg)
{
	struct burst *b = arg;
	struct sw_fifo f[LINKS];
	sim_time t;

	for (uint32_t i = 0; i < b->n; i++)
		f[i] = sw_open(i, 0);
	program_wait(2000 * SIM_NS);
	t = program_now();
	for (uint32_t i = 0; i < b->n; i++) {
		struct mu_descriptor d = sw_put(neighbour(i), BURST);

		mu_set_fifo_map(&d, map_of(b->is_spread ? i : 0));
		sw_inject(&f[i], &d);
	}
	for (uint32_t i = 0; i < b->n; i++)
		sw_wait_sent(&f[i]);
	b->took = program_now() - t;
	for (uint32_t i = 0; i < LINKS; i++)
		assert_int_equal(packets_in(i), b->is_spread
							? (i < b->n ? 100 : 0)
						: i ? 0
						    : 100 * b->n);
}

/* A program of node 0 of the cube, whose first n neighbours take so many
 * bytes each. */
static void run_to_neighbours(
	void (*run)(void *arg), void *arg, uint64_t each, uint32_t n)
{
	struct sw_program p[1 + LINKS] = { { 0, run, arg } };
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", CUBE);
	if (torus_ops.init(&m.torus.topo, &(struct err){ 0 }))
		fail();
	for (uint32_t i = 0; i < n; i++)
		p[1 + i] = (struct sw_program){
			torus_ops.peer(&m.torus.topo, 0, (port_id)i).router,
			sw_open_and_wait,
			&each,
		};
	sw_run(&m, 1, p, 1 + n);
	nic_testing_fini(&m);
}

static sim_time time_burst(bool is_spread, uint32_t n)
{
	struct burst b = { .is_spread = is_spread, .n = n };

	run_to_neighbours(send_burst, &b, BURST, n);
	return b.took;
}

/* Ten engines do ten times the work of one in the same time. */
static void bgq_f88_engines_work_in_parallel(void **state)
{
	sim_time one = time_burst(true, 1);
	sim_time ten = time_burst(true, LINKS);
	sim_time by_one = time_burst(false, LINKS);

	assert_in_range(ten, one, one + one / 20);
	assert_in_range(by_one, 9 * one, 11 * one);
}

/* All ten links are busy at once, with 1.8 GB/s of payload each, which is all
 * that headers and the link's own words leave. */
static void bgq_f19_all_links_are_busy_at_once(void **state)
{
	sim_time ten = time_burst(true, LINKS);

	assert_in_range(ten, 1, BURST * 10000 / 18);
}

/* --- any link --- */

static void send_over_any(void *arg)
{
	struct sw_fifo f = sw_open_at(3, 0, SW_FIFOS, 8192);
	uint32_t i;

	program_wait(1000 * SIM_NS);
	for (i = 0; i < LINKS; i++)
		for (uint32_t k = 0; k < LINKS; k++) {
			struct mu_descriptor d = sw_put(neighbour(k), 8);

			mu_set_fifo_map(&d, map_of(i));
			sw_inject(&f, &d);
		}
	sw_wait_sent(&f);
	for (i = 0; i < LINKS; i++)
		assert_int_equal(packets_in(i), LINKS);
}

static void bgq_f20_a_fifo_is_not_bound_to_a_link(void **state)
{
	run_to_neighbours(send_over_any, NULL, LINKS * 8, LINKS);
}

/* Packets of a message spread over what its map allows, and no more, though
 * another engine is there that another message keeps going. */
static void send_spread(void *arg)
{
	struct sw_fifo f = sw_open(0, 0), g = sw_open(1, 0);
	struct mu_descriptor d = sw_put(1, 100 * MU_PAYLOAD);

	sw_fill(SW_SOURCE, 1, 100 * MU_PAYLOAD);
	mu_set_fifo_map(&d, map_of(4));
	program_wait(1000 * SIM_NS);
	sw_inject(&g, &d);
	mu_set_fifo_map(&d, map_of(1) | map_of(2) | map_of(5));
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	sw_wait_sent(&g);
	assert_int_equal(packets_in(4), 100);
	for (uint32_t i = 0; i < MU_NET_FIFOS; i++)
		if (i == 1 || i == 2 || i == 5)
			assert_in_range(packets_in(i), 10, 60);
		else if (i != 4)
			assert_int_equal(packets_in(i), 0);
	assert_int_equal(packets_in(1) + packets_in(2) + packets_in(5), 100);
}

static void receive_spread(void *arg)
{
	sw_open_and_wait(arg);
	sw_expect(SW_TARGET, 1, 100 * MU_PAYLOAD);
}

static void bgq_f105_packets_spread_over_allowed_fifos_only(void **state)
{
	uint64_t n = 200 * MU_PAYLOAD;
	const struct sw_program p[] = {
		{ 0, send_spread, NULL },
		{ 1, receive_spread, &n },
	};

	sw_run_on("3x3x3", 1, p, 2);
}

/* --- copies within a node --- */

static void copy(void *arg)
{
	struct sw_fifo f = sw_open(100, 0);
	struct mu_descriptor d = sw_put(program_node(), 10001);

	sw_fill(SW_SOURCE + 3, 5, 10001);
	mu_set_payload(&d, SW_SOURCE + 3, 10001);
	mu_set_put(&d.header, SW_BASE_TARGET, 77);
	sw_open_bases(10001);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET + 77, 5, 10001);
	sw_expect_all(SW_TARGET, 0, 77);
	sw_expect_all(SW_TARGET + 77 + 10001, 0, 100);
	for (uint32_t i = 0; i < MU_NET_LOCAL; i++)
		assert_int_equal(packets_in(i), 0);
	assert_int_equal(
		packets_in(MU_NET_LOCAL) + packets_in(MU_NET_LOCAL + 1), 20);
	assert_true(packets_in(MU_NET_LOCAL) && packets_in(MU_NET_LOCAL + 1));
}

static void check_copy(void)
{
	const struct sw_program p = { 2, copy, NULL };
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "4x2");
	sw_run(&m, 1, &p, 1);
	assert_int_equal(net_hops(m.net), 0);
	nic_testing_fini(&m);
}

/* Also BGQ-F114: local copies take no link. */
static void bgq_f22_loopback_fifos_copy_within_a_node(void **state)
{
	check_copy();
}

/* --- reading the payload --- */

/* One packet of so many bytes at an offset: how many requests it takes. */
static void count_reads(void *arg)
{
	static const struct {
		uint64_t offset, bytes, requests;
	} cases[] = {
		{ 0, 0, 0 },
		{ 0, 1, 1 },
		{ 0, 32, 1 },
		{ 0, 64, 1 },
		{ 0, 96, 2 }, /* 64 and 32 */
		{ 0, 97, 1 },
		{ 0, 128, 1 },
		{ 0, 512, 4 },
		{ 1, 512, 5 }, /* one of 32 more than if it were aligned */
		{ 31, 512, 5 },
		{ 1, 128, 2 },
		{ 31, 2, 1 }, /* of 64 */
		{ 63, 2, 2 },
		{ 32, 512, 6 }, /* 32, 64, 3 of 128, 32 */
		{ 64, 64, 1 },
		{ 64, 512, 5 },
		{ 96, 64, 2 },
		{ 127, 1, 1 },
		{ 127, 2, 2 },
	};
	struct sw_fifo f = sw_open(0, 0);
	uint64_t n = 0, was, is;

	program_wait(1000 * SIM_NS);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mu_descriptor d = sw_put(1, 0);

		mu_set_payload(&d, SW_SOURCE + cases[i].offset, cases[i].bytes);
		was = sw_upc_ports(MU_UPC_REQUESTS);
		sw_inject(&f, &d);
		sw_wait_sent(&f);
		is = sw_upc_ports(MU_UPC_REQUESTS);
		assert_int_equal(is - was, 1 + cases[i].requests);
		n += is - was;
	}
	*(uint64_t *)arg = n;
}

static void bgq_f113_read_sizes_follow_alignment(void **state)
{
	uint64_t n = 0;
	const struct sw_program p[] = {
		{ 0, count_reads, &n },
		{ 1, sw_open_only, NULL },
	};
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "2");
	sw_run(&m, 1, p, 2);
	assert_int_equal(sw_l2_counts(m.host, 0).reads, n);
	nic_testing_fini(&m);
}

/* What lies before and behind the payload in its chunks stays at home. */
static void send_middle(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_fifo_message(1, 0, 33);

	sw_fill(SW_SOURCE, 9, 512);
	program_wait(1000 * SIM_NS);
	/* a full packet first, whose bytes must not show in the next one */
	mu_set_payload(&d, SW_SOURCE, 512);
	sw_inject(&f, &d);
	program_charge(3000 * SIM_NS);
	mu_set_payload(&d, SW_SOURCE + 5, 33);
	sw_inject(&f, &d);
}

static void receive_middle(void *arg)
{
	uint64_t at = sw_open_rec(0, 4096) + 32 + 512;
	uint8_t byte;

	program_wait(9000 * SIM_NS);
	assert_int_equal(sw_load(MU_REC_TAIL, 0), at + 32 + 64);
	for (uint32_t i = 0; i < 33; i++) {
		assert_true(program_read(at + 32 + i, &byte, 1));
		assert_int_equal(byte, sw_byte(9, 5 + i));
	}
	sw_expect_all(at + 32 + 33, 0, 31);
}

SW_PAIR(bgq_f113_leading_bytes_dropped_tail_zeroed, "2", send_middle, 1,
	receive_middle)

TESTS(TEST(bgq_f17_routers_on_the_way_touch_no_memory),
	TEST(fifos_are_split_by_class), TEST(bgq_f88_engines_work_in_parallel),
	TEST(bgq_f19_all_links_are_busy_at_once),
	TEST(bgq_f20_a_fifo_is_not_bound_to_a_link),
	TEST(bgq_f105_packets_spread_over_allowed_fifos_only),
	TEST(bgq_f22_loopback_fifos_copy_within_a_node),
	TEST(bgq_f113_read_sizes_follow_alignment),
	TEST(bgq_f113_leading_bytes_dropped_tail_zeroed))
