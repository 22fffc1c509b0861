/*
 * Packets that software got wrong: they are thrown away and told of, they
 * touch nothing, and what comes right behind them arrives.
 */
#include <string.h>

#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum {
	LATER = 1000 * SIM_NS,
	REC = 9, /* open */
	SMALL_REC = 10, /* too small for a full packet */
	OUTSIDE_REC = 11, /* where no range is */
	SYSTEM_REC = 260,
	GET = 40, /* open for gets */
	SMALL_GET = 41,
	OUTSIDE_GET = 42,
	NO_GET = 43, /* open, but not for gets */
	SYSTEM_GET = 520,
	BYTES = 512,
	GOOD = 1000, /* offset of what is right */
};

/* --- one bad message --- */

enum wrong_part { TARGET, COUNTER, INTO, GET_BY };

struct wrong {
	const char *name;
	enum mu_interrupt what;
	enum wrong_part part; /* of the header that is wrong */
	uint32_t number; /* of a base address or a FIFO */
	uint64_t offset;
	bool is_stored; /* not a packet's fault */
	uint32_t less; /* bytes */
};

#define END (NIC_TESTING_MEMORY - SW_TARGET)

#define WRONG(name_, what_, part_, number_, offset_)                           \
	{                                                                      \
		.name = name_, .what = what_, .part = part_,                   \
		.number = number_, .offset = offset_                           \
	}

static const struct wrong wrongs[] = {
	WRONG("outside", MU_ERROR_RANGE, TARGET, SW_BASE_TARGET, END),
	WRONG("across the end", MU_ERROR_RANGE, TARGET, SW_BASE_TARGET,
		END - BYTES + 1),
	WRONG("base not set", MU_ERROR_BASE, TARGET, SW_BASE_TARGET + 1, 0),
	WRONG("no such base", MU_ERROR_PACKET, TARGET, MU_BASES, 0),
	WRONG("system's base", MU_ERROR_PERMISSION, TARGET, SW_SYSTEM_TARGET,
		0),
	WRONG("twin", MU_ERROR_COUNTER, TARGET, SW_BASE_TARGET, MU_ATOMIC | 1),
	WRONG("no operation", MU_ERROR_COUNTER, TARGET, SW_BASE_TARGET,
		MU_ATOMIC | 7),
	{ .name = "no words",
		.what = MU_ERROR_COUNTER,
		.part = TARGET,
		.number = SW_BASE_TARGET,
		.offset = MU_ATOMIC | MU_ATOMIC_STORE_ADD,
		.less = 4 },
	WRONG("counter not set", MU_ERROR_BASE, COUNTER, SW_BASE_COUNTER - 1,
		0),
	WRONG("no atomic", MU_ERROR_COUNTER, COUNTER, SW_BASE_TARGET, 0),
	WRONG("another atomic", MU_ERROR_COUNTER, COUNTER, SW_BASE_COUNTER,
		MU_ATOMIC_STORE_OR - MU_ATOMIC_STORE_ADD),
	WRONG("counter outside", MU_ERROR_RANGE, COUNTER, SW_BASE_COUNTER,
		NIC_TESTING_MEMORY),
	WRONG("system's counter", MU_ERROR_PERMISSION, COUNTER,
		SW_SYSTEM_COUNTER, 0),
	WRONG("FIFO not open", MU_ERROR_FIFO, INTO, REC + 10, 0),
	WRONG("no such FIFO", MU_ERROR_FIFO, INTO, MU_REC_FIFOS, 0),
	WRONG("FIFO too small", MU_ERROR_FIFO, INTO, SMALL_REC, 0),
	WRONG("FIFO outside", MU_ERROR_RANGE, INTO, OUTSIDE_REC, 0),
	WRONG("system's FIFO", MU_ERROR_PERMISSION, INTO, SYSTEM_REC, 0),
	/* not even whether it is open is a user's to know */
	WRONG("closed one", MU_ERROR_PERMISSION, INTO, SYSTEM_REC + 1, 0),
	WRONG("get not open", MU_ERROR_FIFO, GET_BY, GET + 10, 0),
	WRONG("no such get", MU_ERROR_FIFO, GET_BY, MU_INJ_FIFOS, 0),
	WRONG("not for gets", MU_ERROR_FIFO, GET_BY, NO_GET, 0),
	WRONG("get too small", MU_ERROR_PACKET, GET_BY, SMALL_GET, 0),
	WRONG("get outside", MU_ERROR_RANGE, GET_BY, OUTSIDE_GET, 0),
	WRONG("system's get", MU_ERROR_PERMISSION, GET_BY, SYSTEM_GET, 0),
	{ .name = "no descriptors",
		.what = MU_ERROR_DESCRIPTOR,
		.part = GET_BY,
		.number = GET,
		.is_stored = true },
};

static void spoil(const struct wrong *x, struct mu_descriptor *d)
{
	struct mu_header *h = &d->header;

	if (x->part == TARGET)
		mu_set_put(h, x->number, x->offset);
	else if (x->part == COUNTER)
		mu_set_counter(h, x->number, x->offset);
	else
		mu_set_packet(h, x->part == INTO ? MU_FIFO : MU_GET, 16);
	if (x->part == INTO)
		mu_set_rec_fifo(h, x->number, 0);
	else if (x->part == GET_BY)
		mu_set_get_fifo(h, x->number);
	/* zeros, where it is to bring descriptors */
	mu_set_payload(
		d, SW_SOURCE + (x->is_stored ? 65536 : 0), BYTES - x->less);
}

enum { WRONGS = sizeof(wrongs) / sizeof(wrongs[0]) };

/* A bad one and a good one right behind it, by one engine and one way. */
static void send_wrong(void *arg)
{
	const struct wrong *x = arg;
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_put(1, BYTES), good;

	sw_fill(SW_SOURCE, 5, BYTES);
	sw_set_channel(&d, MU_DETERMINISTIC);
	mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	good = d;
	mu_set_put(&good.header, SW_BASE_TARGET, GOOD);
	spoil(x, &d);
	program_wait(2 * LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &good);
	sw_wait_sent(&f);
	assert_int_equal(sw_load(MU_INT_STATUS, 0), 0);
}

/* System traffic, meanwhile. */
static void send_system(void *arg)
{
	struct sw_fifo f = sw_open(515, 0);
	struct mu_descriptor d = sw_put(1, BYTES);

	sw_fill(SW_SOURCE, 6, BYTES);
	sw_make_system(&d);
	mu_set_put(&d.header, SW_SYSTEM_TARGET, 2 * GOOD);
	program_wait(2 * LATER);
	sw_inject(&f, &d);
}

static void open_all(void)
{
	sw_open_bases(2 * BYTES);
	sw_open_rec(REC, 4096);
	sw_open_rec(SMALL_REC, 512);
	sw_open_rec(SYSTEM_REC, 4096);
	sw_store_system(MU_REC_START, OUTSIDE_REC, NIC_TESTING_MEMORY - 64);
	sw_store_system(MU_REC_SIZE, OUTSIDE_REC, 4096);
	sw_store_system(MU_REC_ENABLE, OUTSIDE_REC, 1);
	sw_open(GET, MU_INJ_REMOTE_GET);
	sw_open_at(SMALL_GET, MU_INJ_REMOTE_GET, SW_FIFOS, 512);
	sw_open_at(
		OUTSIDE_GET, MU_INJ_REMOTE_GET, NIC_TESTING_MEMORY - 64, 1024);
	sw_open(NO_GET, 0);
	sw_open(SYSTEM_GET, MU_INJ_REMOTE_GET);
}

static void expect_told(const struct wrong *x)
{
	for (uint32_t i = 0; i < MU_INTERRUPTS; i++)
		if (sw_load(MU_ERROR_COUNT, i) != (i == x->what))
			fail_msg("%s: %llu times %s", x->name,
				(unsigned long long)sw_load(MU_ERROR_COUNT, i),
				bgq_mu_ops.counters[i].key);
	assert_int_equal(sw_load(MU_INT_PENDING, MU_CRITICAL), 1u << x->what);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), x->number);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), !x->is_stored);
}

static void receive_behind(void *arg)
{
	const struct wrong *x = arg;

	open_all();
	sw_wait_counter(SW_COUNTER);
	program_charge(5 * LATER);
	sw_expect(SW_TARGET + GOOD, 5, BYTES);
	sw_expect(SW_TARGET + 2 * GOOD, 6, BYTES);
	sw_expect_all(SW_COUNTER, 0, 8);
	expect_told(x);
	/* FIFOs are as they were */
	assert_int_equal(sw_load(MU_REC_TAIL, REC), sw_load(MU_REC_START, REC));
	assert_int_equal(sw_load(MU_REC_TAIL, SYSTEM_REC),
		sw_load(MU_REC_START, SYSTEM_REC));
	assert_int_equal(sw_load(MU_INJ_STOPPED, GET), x->is_stored);
	assert_int_equal(sw_load(MU_INJ_STOPPED, SYSTEM_GET), 0);
}

static void bgq_f129_what_is_wrong_is_thrown_away_and_told(void **state)
{
	for (uint32_t i = 0; i < WRONGS; i++) {
		struct wrong x = wrongs[i];
		const struct sw_program programs[] = {
			{ 0, send_wrong, &x },
			{ 2, send_system, NULL },
			{ 1, receive_behind, &x },
		};

		sw_run_on("4", 1, programs, 3);
	}
}

/* What is to be written waits for the only port, which is slow. */
static void send_in_the_way(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_put(1, 20 * BYTES);

	mu_set_put(&d.header, SW_BASE_TARGET, 4096);
	program_wait(LATER);
	sw_inject(&f, &d);
}

static void receive_in_turn(void *arg)
{
	sw_open_bases(21 * BYTES);
	sw_wait_counter(SW_COUNTER);
	sw_expect(SW_TARGET + GOOD, 5, BYTES);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), 1);
}

static void what_is_thrown_away_makes_room(void **state)
{
	for (int64_t buffers = 1; buffers <= 4; buffers++) {
		struct wrong x = wrongs[0];
		const struct sw_program programs[] = {
			{ 0, send_wrong, &x },
			{ 2, send_in_the_way, NULL },
			{ 1, receive_in_turn, NULL },
		};
		struct nic_testing m;
		struct mu_params *p;

		nic_testing_machine(&m, "bgq", "4");
		p = m.params;
		p->ports = 1;
		p->port_cycle = 300 * SIM_NS;
		p->buffers = buffers;
		sw_run(&m, 1, programs, 3);
		nic_testing_fini(&m);
	}
}

/* --- ranges --- */

static void set_range(
	uint32_t i, uint64_t first, uint64_t bytes, uint64_t rights)
{
	sw_store_system(MU_RANGE_FIRST, i, first);
	sw_store_system(MU_RANGE_LAST, i, first + bytes - 1);
	sw_store_system(MU_RANGE_RIGHTS, i, rights);
}

static void receive_in_ranges(void *arg)
{
	const struct wrong *x = arg;

	sw_open_bases(BYTES);
	set_range(0, SW_TARGET, 4096, MU_USER_WRITE);
	set_range(1, SW_COUNTER, 8, MU_USER_WRITE);
	set_range(2, SW_TARGET + 8192, 4096, MU_USER_READ | MU_SYSTEM_WRITE);
	sw_wait_counter(SW_COUNTER);
	program_charge(LATER);
	sw_expect(SW_TARGET + GOOD, 5, BYTES);
	sw_expect_all(SW_TARGET, 0, GOOD);
	sw_expect_all(SW_TARGET + GOOD + BYTES, 0, 16384);
	expect_told(x);
}

static void bgq_f128_a_put_outside_the_ranges_changes_nothing(void **state)
{
	static const struct wrong cases[] = {
		WRONG("into a hole", MU_ERROR_RANGE, TARGET, SW_BASE_TARGET,
			4096 - BYTES + 1),
		WRONG("what is for reading", MU_ERROR_RANGE, TARGET,
			SW_BASE_TARGET, 8192),
	};

	for (uint32_t i = 0; i < 2; i++) {
		struct wrong x = cases[i];
		const struct sw_program programs[] = {
			{ 0, send_wrong, &x },
			{ 1, receive_in_ranges, &x },
		};

		sw_run_on("4", 1, programs, 2);
	}
}

/* --- a head that software got wrong --- */

static void send_two(void *arg)
{
	struct sw_fifo f = sw_open(3, 0);
	struct mu_descriptor d = sw_fifo_message(1, REC, 64);

	program_wait(LATER);
	sw_inject(&f, &d);
	program_wait(10 * LATER);
	sw_inject(&f, &d);
}

static void store_bad_heads(void *arg)
{
	struct sw_reader r = sw_open_reader(REC, 1024);
	struct sw_packet p;

	sw_take(&r, &p);
	sw_store(MU_REC_HEAD, REC, r.at + 128);
	program_charge(LATER);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_OVERRUN), 1);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), REC);
	assert_int_equal(sw_load(MU_REC_HEAD, REC), r.at);
	sw_store(MU_REC_HEAD, REC, r.at + 96);
	program_charge(LATER);
	assert_int_equal(sw_load(MU_REC_HEAD, REC), r.at + 96);
	sw_store(MU_REC_HEAD, REC, r.at + 64); /* backwards is round it */
	sw_store(MU_REC_HEAD, REC, r.at + 1024);
	sw_store(MU_REC_HEAD, REC, r.at + 100);
	program_charge(LATER);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_OVERRUN), 2);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_REGISTER), 2);
	assert_int_equal(sw_load(MU_REC_HEAD, REC), r.at + 96);
	assert_int_equal(sw_load(MU_REC_FREE, REC), 1024 - 32);
	sw_take(&r, &p);
	assert_int_equal(p.bytes, 64);
}

SW_PAIR(a_head_past_the_tail_is_refused, "2", send_two, 1, store_bad_heads)

/* --- packets that no unit sends --- */

/* Puts a packet into the network behind the unit's back. */
static void inject_by_hand(site_id dst, uint32_t fifo, uint8_t kind,
	const struct mu_header *h, uint32_t bytes)
{
	struct mu *mu = (struct mu *)host_nic(program_host());
	struct net *net = mu->nic.net;
	struct sim_worker *w = program_worker();
	struct mu_buffer *b = payload_take(mu->nic.payloads, w->id);
	packet_id id = packet_take(net->pool, w->id);

	memset(b, 0, sizeof(*b));
	memset(b->payload, 0x5a, bytes);
	b->header = *h;
	net->packets[id] = (struct packet){
		.src = program_node(),
		.dst = dst,
		.kind = kind,
		.bytes = (uint16_t)bytes,
		.load = payload_to_load(b),
	};
	net_inject(net, w, program_node(), fifo, id, program_now());
}

static void send_by_hand(void *arg)
{
	struct mu_descriptor d = sw_put(1, 64);

	program_wait(2 * LATER);
	mu_set_valid_bytes(&d.header, 65);
	inject_by_hand(1, 0, PACKET_DYNAMIC, &d.header, 64);
	program_charge(LATER);
	mu_set_valid_bytes(&d.header, 64);
	mu_set_put(&d.header, SW_BASE_TARGET, GOOD);
	inject_by_hand(1, 0, PACKET_DYNAMIC, &d.header, 64);
	program_charge(LATER);
	/* as long as it is, whatever it says */
	d = sw_fifo_message(1, REC, 64);
	mu_set_packet(&d.header, MU_FIFO, 31);
	inject_by_hand(1, 0, PACKET_DYNAMIC, &d.header, 64);
	program_charge(LATER);
	/* not a whole descriptor */
	d = sw_get(1, GET, 64);
	inject_by_hand(1, 0, PACKET_DYNAMIC, &d.header, 63);
	program_charge(LATER);
	inject_by_hand(1, 0, PACKET_DYNAMIC, &d.header, 0);
}

static void receive_by_hand(void *arg)
{
	sw_open_bases(64);
	sw_open_rec(REC, 4096);
	sw_open(GET, MU_INJ_REMOTE_GET);
	sw_wait_counter(SW_COUNTER);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_PACKET), 1);
	assert_int_equal(sw_load(MU_ERROR_NUMBER, 0), 65);
	sw_expect_all(SW_TARGET, 0, GOOD);
	sw_expect_all(SW_TARGET + GOOD, 0x5a, 64);
	program_charge(10 * LATER);
	assert_int_equal(
		sw_load(MU_REC_TAIL, REC), sw_load(MU_REC_START, REC) + 96);
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_PACKET), 3);
	assert_int_equal(sw_load(MU_INJ_TAIL, GET), sw_load(MU_INJ_HEAD, GET));
}

SW_PAIR(a_packet_is_no_longer_than_it_is, "2", send_by_hand, 1, receive_by_hand)

TESTS(TEST(bgq_f129_what_is_wrong_is_thrown_away_and_told),
	TEST(what_is_thrown_away_makes_room),
	TEST(bgq_f128_a_put_outside_the_ranges_changes_nothing),
	TEST(a_head_past_the_tail_is_refused),
	TEST(a_packet_is_no_longer_than_it_is))
