/* Who uses which port, and who goes first there. */
#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LINKS = 2 * MU_DIMS, LATER = 2000 * SIM_NS };

#define CUBE "3x3x3x3x3"

/* --- which port --- */

/* The neighbour behind each port of node 0 of the cube. */
static void find_neighbours(struct nic_testing *m, site_id *node)
{
	if (torus_ops.init(&m->torus.topo, &(struct err){ 0 }))
		fail();
	for (uint32_t i = 0; i < LINKS; i++)
		node[i] = torus_ops.peer(&m->torus.topo, 0, (port_id)i).router;
}

/* What one engine asks of each port; itself twice, or a neighbour's. */
struct use {
	uint32_t engine;
	uint64_t requests[MU_MAX_PORTS];
};

static void look_at_ports(uint64_t *requests)
{
	for (uint32_t i = 0; i < MU_MAX_PORTS; i++)
		requests[i] = sw_upc(MU_UPC_REQUESTS, i);
}

enum { PACKETS = 10, LINES = PACKETS * 4 };

/* Reads only, by one injection engine. */
static void read_by_engine(void *arg)
{
	struct use *u = arg;
	struct sw_fifo f = sw_open(u->engine, 0);
	struct mu_descriptor d = sw_put(1, PACKETS * MU_PAYLOAD);

	mu_set_fifo_map(&d, MU_MAP_A_MINUS >> (u->engine ^ 1));
	mu_set_prefetch(&d, true);
	program_wait(LATER);
	for (uint32_t i = 0; i < 2; i++)
		sw_inject(&f, &d);
	sw_wait_sent(&f);
	look_at_ports(u->requests);
}

static void send_to_0(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(0, PACKETS * MU_PAYLOAD);

	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &d);
}

/* Writes and counts only, by one reception engine. */
static void receive_by_engine(void *arg)
{
	struct use *u = arg;

	sw_open_bases(2 * PACKETS * MU_PAYLOAD);
	sw_wait_counter(SW_COUNTER);
	assert_int_equal(sw_upc(MU_UPC_PACKETS_OUT, u->engine), 2 * PACKETS);
	look_at_ports(u->requests);
}

/* How many engines keep to each port. */
struct spread {
	uint32_t reads[MU_MAX_PORTS], writes[MU_MAX_PORTS];
};

static void use_engine(uint32_t engine, struct spread *s)
{
	struct use in = { .engine = engine }, out = { .engine = engine };
	struct sw_program p[] = {
		{ 0, receive_by_engine, &out },
		{ 0, send_to_0, NULL },
	};
	const struct sw_program read = { 0, read_by_engine, &in };
	site_id neighbour[LINKS];
	struct nic_testing m;

	sw_run_on(CUBE, 1, &read, 1);
	nic_testing_machine(&m, "bgq", CUBE);
	find_neighbours(&m, neighbour);
	p[1].node = neighbour[engine];
	sw_run(&m, 1, p, 2);
	nic_testing_fini(&m);
	/* descriptors have a port with little else on it (BGQ-F110) */
	assert_int_equal(in.requests[2], 2);
	assert_int_equal(out.requests[2], 0);
	for (uint32_t i = 0; i < 2; i++) {
		s->reads[i] += in.requests[i] == 2 * LINES;
		s->writes[i] += out.requests[i] == 2 * (LINES + PACKETS);
	}
}

/* All requests of an engine go by one port, and the same number of engines
 * by each. */
static void bgq_f96_engines_keep_to_their_ports_and_are_spread(void **state)
{
	struct spread s = { 0 };

	for (uint32_t i = 0; i < LINKS; i++)
		use_engine(i, &s);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(s.reads[i], LINKS / 2);
		assert_int_equal(s.writes[i], LINKS / 2);
	}
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

	sw_open_bases(30000 + 30000);
	program_wait(1000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	d = sw_put(program_node(), 30000);
	mu_set_put(&d.header, SW_BASE_TARGET, 40000);
	sw_inject(&f, &d);
	sw_wait_counter(SW_COUNTER);
	x->took = program_now() - t;
	for (uint32_t i = 0; i < MU_MAX_PORTS; i++)
		x->requests[i] = sw_upc(MU_UPC_REQUESTS, i);
}

static void run_exchange(uint32_t ports, struct traffic *x)
{
	struct sw_program p[4];
	struct nic_testing m;

	for (uint32_t i = 0; i < 4; i++)
		p[i] = (struct sw_program){ i, exchange, x };
	nic_testing_machine(&m, "bgq", "2x2");
	((struct mu_params *)m.params)->ports = ports;
	sw_run(&m, 1, p, 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct l2_counts c = sw_l2_counts(m.host, i);

		assert_int_equal(c.reads + c.writes + c.atomics,
			x[i].requests[0] + x[i].requests[1] + x[i].requests[2]);
		/* two descriptors, 235 reads of 30000 bytes twice */
		assert_int_equal(c.reads, 2 + 2 * 235);
		/* each packet of the second one begins within a line */
		assert_int_equal(c.writes, 235 + 58 * 5 + 3);
		assert_int_equal(c.atomics, 2 * 59);
	}
	nic_testing_fini(&m);
}

static void bgq_f89_engines_and_fetch_share_several_ports(void **state)
{
	struct traffic three[4], one[4];

	run_exchange(3, three);
	run_exchange(1, one);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(three[i].requests[0] && three[i].requests[1] &&
			    three[i].requests[2]);
		assert_true(one[i].requests[0]);
		assert_false(one[i].requests[1] || one[i].requests[2]);
	}
}

static void bgq_f90_all_traffic_goes_through_l2(void **state)
{
	struct traffic x[4];

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

	for (uint32_t i = 0; i < 10; i++)
		f[i] = sw_open(i, l->others);
	program_wait(2000 * SIM_NS);
	for (uint32_t i = 0; i < 10; i++) {
		struct mu_descriptor d = sw_put(1, 40 * MU_PAYLOAD);

		mu_set_fifo_map(&d, MU_MAP_A_MINUS >> i);
		mu_set_prefetch(&d, true);
		sw_inject(&f[i], &d);
	}
	/* Half of it is done: all had their share. */
	program_wait(45000 * SIM_NS);
	n = host_nic(program_host())->nodes[program_node()];
	for (uint32_t i = 0; i < 10; i++)
		assert_in_range(mu_inj(n, i)->next, 8, 32);
	for (uint32_t i = 0; i < 10; i++)
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

	nic_testing_machine(&m, "bgq", "3");
	params = m.params;
	params->ports = 1;
	params->port_cycle = SLOW;
	sw_run(&m, 1, p, is_flooded ? 2 : 1);
	nic_testing_fini(&m);
	return l;
}

/*
 * The same at reception.  Ten neighbours send to node 0 and keep its one port
 * busy with what its reception engines ask for, all on one channel; one of
 * them sends a message on another.
 */
enum { WRITE_TURN = 4 * SLOW, ARRIVING = 40, COUNTER = 8 };

struct arriving {
	enum mu_channel channel, others;
	bool is_flooded;
	sim_time took; /* from the first packet to the last */
	sim_time fetched; /* a user's descriptor of node 0, meanwhile */
};

static void send_by(
	enum mu_channel channel, uint32_t inj, uint64_t bytes, uint64_t counter)
{
	struct mu_descriptor d = sw_put(0, bytes);
	struct sw_fifo f = sw_open(channel == MU_SYSTEM ? 520 : inj, 0);

	sw_set_channel(&d, channel);
	mu_set_counter(&d.header, SW_BASE_COUNTER, counter);
	if (channel == MU_HIGH)
		mu_set_fifo_map(&d, MU_MAP_HIGH);
	if (channel == MU_SYSTEM)
		sw_make_system(&d);
	program_wait(LATER + (counter ? 10000 * SIM_NS : 0));
	sw_inject(&f, &d);
}

static void send_flood(void *arg)
{
	send_by(((const struct arriving *)arg)->others, 0, 200 * MU_PAYLOAD, 0);
}

static void send_arriving(void *arg)
{
	send_by(((const struct arriving *)arg)->channel, 1,
		ARRIVING * MU_PAYLOAD, COUNTER);
}

static void time_arrival(void *arg)
{
	uint64_t left = ARRIVING * MU_PAYLOAD;
	struct poll_loop loop = { .period = 1 };
	struct arriving *x = arg;
	sim_time t;

	sw_open_bases(0);
	assert_true(program_write(SW_COUNTER + COUNTER, &left, 8));
	assert_true(program_poll(
		SW_COUNTER + COUNTER, WORD_IS_NOT, left, loop, &left));
	t = program_now();
	sw_wait_counter(SW_COUNTER + COUNTER);
	x->took = program_now() - t;
}

/* A user's own message, in the middle of it. */
static void time_fetch(void *arg)
{
	struct sw_fifo f = sw_open(100, 0);
	struct mu_descriptor d = sw_put(1, 8);
	struct arriving *x = arg;
	sim_time t;

	mu_set_prefetch(&d, true);
	program_wait(LATER + 10000 * SIM_NS);
	t = program_now();
	sw_inject(&f, &d);
	while (!sw_load(MU_INJ_FETCHED, 100))
		program_charge(SIM_NS);
	x->fetched = program_now() - t;
}

static struct arriving arrive(
	enum mu_channel channel, bool is_flooded, enum mu_channel others)
{
	struct arriving x = { .channel = channel, .others = others };
	struct sw_program p[3 + LINKS] = {
		{ 0, time_arrival, &x },
		{ 0, time_fetch, &x },
		{ 0, send_arriving, &x },
	};
	site_id neighbour[LINKS];
	struct nic_testing m;
	struct mu_params *params;

	nic_testing_machine(&m, "bgq", CUBE);
	find_neighbours(&m, neighbour);
	p[2].node = neighbour[0];
	for (uint32_t i = 0; i < LINKS; i++)
		p[3 + i] = (struct sw_program){ neighbour[i], send_flood, &x };
	params = m.params;
	params->ports = 1;
	params->port_cycle = SLOW;
	sw_run(&m, 1, p, is_flooded ? 3 + LINKS : 3);
	nic_testing_fini(&m);
	return x;
}

static void bgq_f97_the_higher_level_goes_first_at_a_port(void **state)
{
	struct level alone = time_level(100, 0, false, 0);
	struct level normal = time_level(100, 0, true, 0);
	struct level high = time_level(100, MU_INJ_HIGH, true, 0);
	struct level equal = time_level(100, MU_INJ_HIGH, true, MU_INJ_HIGH);
	struct level system = time_level(520, 0, true, 0);

	/* ten packets, each waits for one turn of another's at most */
	assert_in_range(high.sent, alone.sent, alone.sent + 11 * TURN);
	assert_in_range(system.sent, alone.sent, alone.sent + 11 * TURN);
	assert_true(normal.sent > alone.sent + 40 * TURN);
	assert_true(equal.sent > alone.sent + 40 * TURN);
	/* the system's is above high priority, too */
	system = time_level(520, 0, true, MU_INJ_HIGH);
	assert_in_range(system.sent, alone.sent, alone.sent + 11 * TURN);
}

static void bgq_f97_the_higher_level_is_received_first(void **state)
{
	/* the link is slower than the port, and catches up what now and
	 * then a turn of another's has delayed */
	const sim_time more = 10 * WRITE_TURN;
	sim_time alone = arrive(MU_SYSTEM, false, MU_DYNAMIC).took;
	sim_time high = arrive(MU_HIGH, true, MU_DYNAMIC).took;
	sim_time system = arrive(MU_SYSTEM, true, MU_DYNAMIC).took;
	sim_time above = arrive(MU_SYSTEM, true, MU_HIGH).took;

	assert_true(high < alone + more);
	assert_true(system < alone + more);
	assert_true(above < alone + more);
}

static void bgq_f98_descriptors_go_before_data(void **state)
{
	struct level alone = time_level(100, 0, false, 0);
	struct level normal = time_level(100, 0, true, 0);
	struct level system = time_level(520, 0, true, 0);

	assert_in_range(normal.fetched, alone.fetched, alone.fetched + TURN);
	assert_in_range(system.fetched, alone.fetched, alone.fetched + TURN);
	assert_true(normal.sent > alone.sent + 40 * TURN);
	/* The system's go before the data of high priority, too. */
	system = time_level(520, 0, true, MU_INJ_HIGH);
	assert_in_range(system.fetched, alone.fetched, alone.fetched + TURN);
}

static void bgq_f98_descriptors_go_before_what_is_received(void **state)
{
	sim_time alone = arrive(MU_SYSTEM, false, MU_DYNAMIC).fetched;
	sim_time flooded = arrive(MU_DYNAMIC, true, MU_DYNAMIC).fetched;

	assert_in_range(flooded, alone, alone + TURN);
}

TESTS(TEST(bgq_f96_engines_keep_to_their_ports_and_are_spread),
	TEST(bgq_f89_engines_and_fetch_share_several_ports),
	TEST(bgq_f90_all_traffic_goes_through_l2),
	TEST(bgq_f97_the_higher_level_goes_first_at_a_port),
	TEST(bgq_f97_the_higher_level_is_received_first),
	TEST(bgq_f98_descriptors_go_before_data),
	TEST(bgq_f98_descriptors_go_before_what_is_received))
