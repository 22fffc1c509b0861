#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum {
	CYCLE = 1250,
	READ = 80 * SIM_NS, /* of L2 */
	WRITE = 70 * SIM_NS,
	LINE = 128,
	ROUND = 16 * LINE, /* from a slice to the same slice */
};

/* --- requests, one by one, of an idle unit --- */

struct bench {
	struct nic_testing m;
	struct nic_at at;
};

static struct mu_port *open_bench(struct bench *b)
{
	struct mu *mu;

	nic_testing_init(&b->m, &bgq_mu_ops, "2");
	nic_testing_start(&b->m, 1, 1);
	mu = (struct mu *)b->m.nic;
	b->at = (struct nic_at){ .nic = &mu->nic,
		.node = nic_node(&mu->nic, 0) };
	return &mu_here(&b->at)->port[mu->port_of[MU_ASK_INJECT]];
}

static sim_time read_at(struct bench *b, uint64_t at, uint32_t bytes)
{
	return mu_port_read(&b->at, MU_ASK_INJECT, at, bytes);
}

static void bgq_f95_one_request_a_cycle_either_way(void **state)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		/* engine 1 writes by the port that engine 0 reads by */
		sim_time done = mu_port_write(
			&b.at, MU_ASK_WRITE + 1, 8192 + 2 * i * LINE, 16);

		assert_int_equal(done, 2 * i * CYCLE + WRITE);
		assert_int_equal(p->free_at, (2 * i + 1) * CYCLE);
		done = read_at(&b, (2 * i + 1) * LINE, 32);
		assert_int_equal(done, (2 * i + 1) * CYCLE + READ);
		assert_int_equal(p->free_at, (2 * i + 2) * CYCLE);
	}
	assert_int_equal(p->requests, 8);
	nic_testing_fini(&b.m);
}

static void bgq_f102_data_returns_at_32_bytes_a_cycle(void **state)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	uint32_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		assert_int_equal(
			read_at(&b, i * LINE, LINE), READ + i * 4 * CYCLE);
	assert_int_equal(p->requests, 8);
	nic_testing_fini(&b.m);
	/* requests of 32 bytes: no faster, no slower than they are made */
	p = open_bench(&b);
	for (i = 0; i < 8; i++)
		assert_int_equal(read_at(&b, i * LINE, 32), READ + i * CYCLE);
	/* 64 bytes: two cycles each, behind the 8 of above; a request's data
	 * begins four cycles before a line's would be complete */
	for (i = 8; i < 15; i++)
		read_at(&b, i * LINE, 64);
	assert_int_equal(
		read_at(&b, 15 * LINE, 64), READ + (8 + 2 * 8 - 4) * CYCLE);
	assert_int_equal(p->requests, 16);
	nic_testing_fini(&b.m);
}

/* A slot's first request goes past the FIFO; the next one waits in it until
 * its slice has taken the one before, and others overtake it. */
static void bgq_f99_order_in_a_slice_and_none_between(void **state)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	sim_time one, two, three, other;

	(void)state;
	one = read_at(&b, 0, LINE);
	two = read_at(&b, ROUND, LINE);
	three = read_at(&b, 2 * ROUND, LINE);
	other = mu_port_write(&b.at, MU_ASK_WRITE + 1, LINE, 32);
	assert_true(one < two && two < three);
	assert_true(other < two);
	assert_int_equal(other, 3 * CYCLE + WRITE);
	assert_int_equal(p->slot[1], 3 * CYCLE);
	assert_true(p->slot[0] > p->slot[1]);
	nic_testing_fini(&b.m);
}

static void bgq_f100_an_empty_slot_is_filled_past_the_fifo(void **state)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	const sim_time fifo = mu_of(&b.at)->params.port_fifo;

	(void)state;
	assert_int_equal(read_at(&b, 0, 32), READ);
	assert_int_equal(p->bypassed, 1);
	p->slot[0] = CYCLE + 1; /* held a little: the FIFO's time is lost */
	assert_int_equal(read_at(&b, ROUND, 32), CYCLE + fifo + READ);
	assert_int_equal(p->bypassed, 1);
	assert_int_equal(read_at(&b, LINE, 32), 2 * CYCLE + READ);
	assert_int_equal(p->bypassed, 2);
	p->slot[2] = 90 * SIM_NS; /* held long: it is waited for */
	assert_int_equal(read_at(&b, 2 * LINE, 32), 90 * SIM_NS + READ);
	assert_int_equal(p->bypassed, 2);
	b.at.t = 95 * SIM_NS; /* and is empty again */
	assert_int_equal(read_at(&b, 2 * LINE + 32, 32), 95 * SIM_NS + READ);
	assert_int_equal(p->bypassed, 3);
	nic_testing_fini(&b.m);
}

/* Two ports read 16 lines each, and one writes 16. */
static void use_16(uint64_t stride, sim_time done[2], uint64_t *bypassed)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	uint32_t i;

	for (i = 0; i < 16; i++) {
		read_at(&b, i * stride, LINE);
		done[0] = mu_port_read(
			&b.at, MU_ASK_INJECT + 1, (16 + i) * stride, LINE);
	}
	*bypassed = p->bypassed;
	nic_testing_fini(&b.m);
	open_bench(&b);
	for (i = 0; i < 16; i++)
		done[1] = mu_port_write(&b.at, MU_ASK_WRITE, i * stride, LINE);
	nic_testing_fini(&b.m);
}

static void bgq_f101_striding_over_slices_is_best(void **state)
{
	uint64_t strided, same;
	sim_time fast[2], slow[2];

	(void)state;
	use_16(LINE, fast, &strided);
	use_16(ROUND, slow, &same);
	/* as fast as data returns, and as requests are made */
	assert_in_range(fast[0], READ + 15 * 4 * CYCLE, READ + 20 * 4 * CYCLE);
	assert_int_equal(fast[1], WRITE + 15 * CYCLE);
	assert_in_range(slow[0], READ + 30 * 4 * CYCLE, READ + 32 * 4 * CYCLE);
	assert_in_range(
		slow[1], WRITE + 15 * 4 * CYCLE, WRITE + 16 * 4 * CYCLE);
	assert_int_equal(strided, 16);
	assert_true(same < 4);
}

/* Mean latency by Little's law: what is outstanding, over what came. */
static void bgq_f127_outstanding_over_requests_is_the_latency(void **state)
{
	struct bench b;
	struct mu_port *p = open_bench(&b);
	sim_time sum = 0, issue;
	uint32_t i;

	(void)state;
	for (i = 0; i < 50; i++) {
		issue = p->free_at;
		sum += mu_port_write(&b.at, MU_ASK_WRITE + 1, i * ROUND, LINE) -
		       issue;
	}
	assert_int_equal(p->requests, 50);
	assert_int_equal(p->outstanding, sum);
	assert_true(p->outstanding / 50 > 2 * WRITE); /* they queue */
	nic_testing_fini(&b.m);
}

/* --- who uses which --- */

static void bgq_f96_requesters_are_attached_for_good_and_spread(void **state)
{
	uint32_t reads[MU_MAX_PORTS] = { 0 }, writes[MU_MAX_PORTS] = { 0 };
	struct bench b;
	const uint8_t *port;
	uint32_t i;

	(void)state;
	open_bench(&b);
	port = mu_of(&b.at)->port_of;
	for (i = 0; i < 2 * MU_DIMS; i++) {
		reads[port[MU_ASK_INJECT + i]]++;
		writes[port[MU_ASK_WRITE + i]]++;
		assert_int_equal(
			port[MU_ASK_WRITE + i], port[MU_ASK_COUNT + i]);
	}
	assert_int_equal(reads[0], 5);
	assert_int_equal(reads[1], 5);
	assert_int_equal(writes[0], 5);
	assert_int_equal(writes[1], 5);
	/* BGQ-F110: descriptors have a port with little else on it */
	assert_int_equal(port[MU_ASK_FETCH], 2);
	nic_testing_fini(&b.m);
}

struct traffic {
	uint64_t requests[MU_MAX_PORTS];
	sim_time took;
};

static void exchange(void *arg)
{
	struct traffic *x = (struct traffic *)arg + program_node();
	site_id to = program_node() ^ 1;
	struct mu_descriptor d = sw_put(to, 30000);
	struct sw_fifo f = sw_open(program_node() * 8, 0);
	sim_time t;
	uint32_t i;

	sw_open_bases(30000 + 30000);
	program_wait(1000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	d = sw_put(program_node(), 30000);
	mu_set_put(&d.header, SW_BASE_TARGET, 40000);
	sw_inject(&f, &d);
	sw_wait_counter(SW_COUNTER);
	x->took = program_now() - t;
	for (i = 0; i < MU_MAX_PORTS; i++)
		x->requests[i] = sw_upc(MU_UPC_REQUESTS, i);
}

static void run_exchange(uint32_t ports, struct traffic *x)
{
	struct sw_program p[4];
	struct nic_testing m;
	uint32_t i;

	for (i = 0; i < 4; i++)
		p[i] = (struct sw_program){ i, exchange, x };
	nic_testing_init(&m, &bgq_mu_ops, "2x2");
	((struct mu_params *)m.params)->ports = ports;
	sw_run(&m, 1, p, 4);
	for (i = 0; i < 4; i++) {
		struct l2_counts c = l2_counts(host_l2(m.host), i);

		assert_int_equal(c.reads + c.writes + c.atomics,
			x[i].requests[0] + x[i].requests[1] + x[i].requests[2]);
		/* two descriptors, 235 reads of 30000 bytes twice */
		assert_int_equal(c.reads, 2 + 2 * 235);
		assert_int_equal(c.atomics, 2 * 59);
	}
	nic_testing_fini(&m);
}

static void bgq_f89_engines_and_fetch_share_several_ports(void **state)
{
	struct traffic three[4], one[4];
	uint32_t i;

	(void)state;
	run_exchange(3, three);
	run_exchange(1, one);
	for (i = 0; i < 4; i++) {
		assert_true(three[i].requests[0] && three[i].requests[1] &&
			    three[i].requests[2]);
		assert_true(one[i].requests[0]);
		assert_false(one[i].requests[1] || one[i].requests[2]);
	}
}

static void bgq_f90_all_traffic_goes_through_l2(void **state)
{
	struct traffic x[4];

	(void)state;
	run_exchange(3, x);
}

/* --- priorities --- */

/*
 * One port, at 50 ns a request, which normal user traffic keeps busy: ten
 * engines with a packet each ask for it.  All of it prefetches, so that only
 * the port is in the way.
 */
enum { SLOW = 50 * SIM_NS, TURN = 5 * SLOW };

struct level {
	uint32_t inj;
	uint64_t attributes, others; /* the flood's */
	sim_time fetched, sent; /* after the tail's store */
};

static void flood(void *arg)
{
	const struct level *l = arg;
	struct mu_node *n;
	struct sw_fifo f[10];
	uint32_t i;

	for (i = 0; i < 10; i++)
		f[i] = sw_open(i, l->others);
	program_wait(2000 * SIM_NS);
	for (i = 0; i < 10; i++) {
		struct mu_descriptor d = sw_put(1, 40 * MU_PAYLOAD);

		mu_set_fifo_map(&d, MU_MAP_A_MINUS >> i);
		mu_set_prefetch(&d, true);
		sw_inject(&f[i], &d);
	}
	/* Half of it is done: all had their share. */
	program_wait(45000 * SIM_NS);
	n = host_nic(program_host())->nodes[program_node()];
	for (i = 0; i < 10; i++)
		assert_in_range(mu_inj(n, i)->next, 8, 32);
	for (i = 0; i < 10; i++)
		sw_wait_sent(&f[i]);
}

static void send_at_level(void *arg)
{
	struct level *l = arg;
	struct sw_fifo f = sw_open(l->inj, l->attributes);
	struct mu_descriptor d = sw_put(1, 10 * MU_PAYLOAD);
	sim_time t;

	/* by a network FIFO of its own */
	mu_set_fifo_map(&d, MU_MAP_HIGH);
	mu_set_prefetch(&d, true);
	program_wait(10000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	while (!sw_load(MU_INJ_FETCHED, l->inj))
		program_charge(SIM_NS);
	l->fetched = program_now() - t;
	sw_wait_sent(&f);
	l->sent = program_now() - t;
}

static void open_only(void *arg)
{
	(void)arg;
	sw_open_bases(0);
}

static struct level time_level(
	uint32_t inj, uint64_t attributes, bool is_flooded, uint64_t others)
{
	struct level l = { inj, attributes, others, 0, 0 };
	const struct sw_program p[] = {
		{ 0, send_at_level, &l },
		{ 0, flood, &l },
	};
	struct nic_testing m;
	struct mu_params *params;

	nic_testing_init(&m, &bgq_mu_ops, "3");
	params = m.params;
	params->ports = 1;
	params->port_cycle = SLOW;
	sw_run(&m, 1, p, is_flooded ? 2 : 1);
	nic_testing_fini(&m);
	return l;
}

static void bgq_f97_the_higher_level_goes_first_at_a_port(void **state)
{
	struct level alone = time_level(100, 0, false, 0);
	struct level normal = time_level(100, 0, true, 0);
	struct level high = time_level(100, MU_INJ_HIGH, true, 0);
	struct level system = time_level(520, 0, true, 0);

	(void)state;
	/* ten packets, each waits for one turn of another's at most */
	assert_in_range(high.sent, alone.sent, alone.sent + 11 * TURN);
	assert_in_range(system.sent, alone.sent, alone.sent + 11 * TURN);
	assert_true(normal.sent > alone.sent + 40 * TURN);
}

static void bgq_f98_descriptors_go_before_data(void **state)
{
	struct level alone = time_level(100, 0, false, 0);
	struct level normal = time_level(100, 0, true, 0);
	struct level system = time_level(520, 0, true, 0);

	(void)state;
	assert_in_range(normal.fetched, alone.fetched, alone.fetched + TURN);
	assert_in_range(system.fetched, alone.fetched, alone.fetched + TURN);
	assert_true(normal.sent > alone.sent + 40 * TURN);
	/* The system's go before the data of high priority, too. */
	system = time_level(520, 0, true, MU_INJ_HIGH);
	assert_in_range(system.fetched, alone.fetched, alone.fetched + TURN);
}

/* --- what the counters count --- */

static void send_counted(void *arg)
{
	struct sw_fifo f = sw_open(100, 0);
	struct mu_descriptor d = sw_put(1, 3 * MU_PAYLOAD);

	(void)arg;
	mu_set_fifo_map(&d, 0x4000);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_IN, 0), 6);
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_IN, 0), 2);
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 2), 2);
	assert_int_equal(sw_upc(MU_UPC_OUTSTANDING, 2), 2 * READ);
	assert_int_equal(sw_upc(MU_UPC_BYPASSED, 2), 2);
	assert_int_equal(sw_upc(MU_UPC_SLAVE_WRITES, 0), 6);
	assert_int_equal(sw_load(MU_INJ_FETCHED, 100), 2);
}

static void receive_counted(void *arg)
{
	uint64_t before;

	(void)arg;
	sw_open_bases(6 * MU_PAYLOAD);
	sw_wait_counter(SW_COUNTER);
	before = sw_upc(MU_UPC_SLAVE_READS, 0);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, 1), 6);
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_OUT, 0), 2);
	assert_int_equal(sw_upc(MU_UPC_SLAVE_READS, 0), before + 3);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, 200), 0);
	assert_int_equal(sw_upc(MU_UPC_REQUESTS, 3), 0);
	assert_int_equal(sw_upc(MU_UPC_EVENTS, 0), 0);
}

static void bgq_f127_counters_count(void **state)
{
	const struct sw_program p[] = {
		{ 0, send_counted, NULL },
		{ 1, receive_counted, NULL },
	};

	(void)state;
	sw_run_on("3", 1, p, 2);
}

/* --- ranges --- */

static void close_ranges(uint64_t first, uint64_t last, uint64_t rights)
{
	sw_store_system(MU_RANGE_FIRST, 0, first);
	sw_store_system(MU_RANGE_LAST, 0, last);
	sw_store_system(MU_RANGE_RIGHTS, 0, rights);
}

static void send_ranged(void *arg)
{
	const uint64_t end = SW_SOURCE + 0x1000;
	struct mu_descriptor d = sw_put(1, 600);
	struct sw_fifo f = sw_open(0, 0), g = sw_open(1, 0), h = sw_open(3, 0);
	struct sw_fifo far = sw_open_at(2, 0, SW_SOURCE + 0x2000, 128);
	struct sw_fifo system = sw_open(512, 0);

	(void)arg;
	close_ranges(0, end - 1, MU_USER_READ | MU_SYSTEM_READ);
	program_wait(1000 * SIM_NS);
	mu_set_payload(&d, end - 600, 600);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	/* a byte too far in the second packet; there is none after it */
	mu_set_payload(&d, end - 1023, 5000);
	mu_set_fifo_map(&d, 0x4000);
	sw_inject(&g, &d);
	program_charge(4000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 1);
	assert_int_equal(sw_load(MU_ERROR_ADDRESS, 0), end - 1023 + 512);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 1), 1);
	/* the last packet is refused while the one before is under way */
	mu_set_fifo_map(&d, MU_MAP_TORUS);
	mu_set_payload(&d, end - 600, 1000);
	sw_inject(&h, &d);
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 2);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 3), 1);
	assert_int_equal(sw_load(MU_INJ_COUNT, 3), 0);
	mu_set_payload(&d, end - 599, 600);
	sw_inject(&far, &d); /* the descriptor itself */
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 3);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 2), 1);
	assert_int_equal(sw_load(MU_INJ_FETCHED, 2), 0);
	/* A second range goes on where the first one ends. */
	sw_store_system(MU_RANGE_FIRST, 5, end);
	sw_store_system(MU_RANGE_LAST, 5, end + 127);
	sw_store_system(MU_RANGE_RIGHTS, 5, MU_USER_READ);
	program_charge(1000 * SIM_NS);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
	sw_make_system(&d); /* for users, not for the system */
	sw_inject(&system, &d);
	program_charge(2000 * SIM_NS);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 4);
	assert_int_equal(sw_load(MU_INJ_STOPPED, 512), 1);
}

static void bgq_f128_reads_outside_the_ranges_are_rejected(void **state)
{
	const struct sw_program p[] = {
		{ 0, send_ranged, NULL },
		{ 1, open_only, NULL },
	};

	(void)state;
	sw_run_on("2", 1, p, 2);
}

static void send_to_ranged(void *arg)
{
	struct mu_descriptor d = sw_put(1, 100);
	struct sw_fifo f = sw_open(0, 0);

	(void)arg;
	sw_fill(SW_SOURCE, 3, 100);
	program_wait(2000 * SIM_NS);
	sw_inject(&f, &d);
	mu_set_put(&d.header, SW_BASE_TARGET, 5000 - 50);
	sw_inject(&f, &d);
	sw_wait_sent(&f);
}

static void receive_ranged(void *arg)
{
	(void)arg;
	sw_open_bases(200);
	close_ranges(0, SW_TARGET + 5000 - 1,
		MU_USER_READ | MU_USER_WRITE | MU_SYSTEM_READ);
	program_wait(9000 * SIM_NS);
	sw_expect(SW_TARGET, 3, 100);
	sw_expect_all(SW_TARGET + 4900, 0, 200);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), 1);
}

static void bgq_f128_writes_outside_the_ranges_are_rejected(void **state)
{
	const struct sw_program p[] = {
		{ 0, send_to_ranged, NULL },
		{ 1, receive_ranged, NULL },
	};

	(void)state;
	sw_run_on("2", 1, p, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bgq_f95_one_request_a_cycle_either_way),
		cmocka_unit_test(bgq_f102_data_returns_at_32_bytes_a_cycle),
		cmocka_unit_test(bgq_f99_order_in_a_slice_and_none_between),
		cmocka_unit_test(
			bgq_f100_an_empty_slot_is_filled_past_the_fifo),
		cmocka_unit_test(bgq_f101_striding_over_slices_is_best),
		cmocka_unit_test(
			bgq_f127_outstanding_over_requests_is_the_latency),
		cmocka_unit_test(
			bgq_f96_requesters_are_attached_for_good_and_spread),
		cmocka_unit_test(bgq_f89_engines_and_fetch_share_several_ports),
		cmocka_unit_test(bgq_f90_all_traffic_goes_through_l2),
		cmocka_unit_test(bgq_f97_the_higher_level_goes_first_at_a_port),
		cmocka_unit_test(bgq_f98_descriptors_go_before_data),
		cmocka_unit_test(bgq_f127_counters_count),
		cmocka_unit_test(
			bgq_f128_reads_outside_the_ranges_are_rejected),
		cmocka_unit_test(
			bgq_f128_writes_outside_the_ranges_are_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
