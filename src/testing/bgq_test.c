/* Blue Gene/Q as its machine file has it. */
#include <errno.h>
#include <stdio.h>

#include "host/program.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "weft/cnk.h"
#include "weft/spi.h"

enum { MANY = 60, REC = 5, SYSTEM_REC = 260 };

/* --- how much a channel holds --- */

/* By one channel, more than there is room for. */
static void send_many(void *arg)
{
	enum mu_channel channel = *(const enum mu_channel *)arg;
	bool is_system = channel == MU_SYSTEM;
	struct sw_fifo f = sw_open(is_system ? 512 : 0, 0);
	struct mu_descriptor d = sw_fifo_message(
		1, is_system ? SYSTEM_REC : REC, MANY * MU_PAYLOAD);

	if (is_system)
		sw_make_system(&d);
	else if (channel == MU_HIGH)
		mu_set_fifo_map(&d, MU_MAP_HIGH);
	sw_set_channel(&d, channel);
	program_wait(1000 * SIM_NS);
	sw_inject(&f, &d);
}

/* Room for one packet, and nobody reads. */
static void receive_one(void *arg)
{
	sw_open_rec(REC, MU_HEADER_BYTES + MU_PAYLOAD + MU_CHUNK);
	sw_open_rec(SYSTEM_REC, MU_HEADER_BYTES + MU_PAYLOAD + MU_CHUNK);
}

/* The full packets that stand in a channel of a site's receivers. */
static uint32_t n_waiting(const struct net *n, site_id s, uint32_t channel)
{
	const struct router *r = n->router[NET_NODES];
	uint32_t sum = 0;

	for (uint32_t i = 0; i < r->ops->n_buffers(r, s); i++) {
		struct net_buffer b = r->ops->buffer(r, s, i);

		if (b.channel != channel || !b.count)
			continue;
		assert_int_equal(n->packets[b.head].bytes, MU_PAYLOAD);
		sum += b.count;
	}
	return sum;
}

/* Blue Gene/L's channels held 1 KiB, four of its packets. */
static void bgq_f28_channels_hold_more_packets_than_blue_gene_ls(void **state)
{
	static const struct kit_how how = {
		.machine = "bgq",
		.shape = "4x2x2x2x2",
		.needs = { .n_programs = 2 },
	};

	for (uint32_t c = MU_DYNAMIC; c <= MU_SYSTEM; c++) {
		enum mu_channel channel = c;
		struct kit k;

		kit_open(&k, &how);
		program_start(k.host, 0, 0, 0, send_many, &channel);
		program_start(k.host, 1, 0, 0, receive_one, NULL);
		assert_int_equal(sim_run(k.net->sim, SIM_NEVER - 1), SIM_IDLE);
		assert_true(n_waiting(k.net, 1, c) > 4);
		assert_true(n_waiting(k.net, 1, c) * MU_PAYLOAD > 1024);
		kit_close(&k);
	}
}

/* --- IO nodes --- */

enum {
	IO = 32, /* the first one's site, behind a board */
	IO_EVERY = 16,
	EXIT = 8, /* the second exit of the first IO node */
	IO_PORT = 10,
	TO_IO = 0x20, /* of a header's byte 2 */
	LONG = 64 << 10,
	SEED = 3,
};

static const char *const io_sets[] = { "topology.io.every=16", NULL };
static const char *const one_link[] = { "topology.io.every=32",
	"topology.io.links=1", NULL };
static const char *const two_links[] = { "topology.io.every=32", NULL };

/* What a node sends as the system, and where that is to be. */
struct shipment {
	site_id from, to; /* sites */
	site_id dst; /* in the header */
	uint8_t bits; /* of its byte 2 */
	uint32_t map; /* 0: the system's FIFO */
	uint64_t bytes;
	uint32_t number; /* of those of one node */
	sim_time begin, end;
};

static struct mu_descriptor shipped(const struct shipment *s)
{
	struct mu_descriptor d = sw_put(s->dst, s->bytes);

	sw_make_system(&d);
	d.header.byte[2] |= s->bits;
	if (s->map)
		mu_set_fifo_map(&d, s->map);
	return d;
}

static void ship(void *arg)
{
	struct shipment *s = arg;
	struct mu_descriptor d = shipped(s);
	struct sw_fifo f = sw_open(512 + s->number, 0);

	sw_fill(SW_SOURCE, SEED, s->bytes);
	program_wait(10000 * SIM_NS);
	s->begin = program_now();
	sw_inject(&f, &d);
}

static void take(void *arg)
{
	struct shipment *s = arg;

	sw_open_bases(s->bytes);
	sw_wait_counter(SW_COUNTER);
	s->end = program_now();
	sw_expect(SW_TARGET, SEED, s->bytes < LONG ? s->bytes : LONG);
}

static void open_io(struct kit *k, const char *const *sets)
{
	kit_open(k, &(struct kit_how){ .machine = "bgq-board",
			    .sets = sets,
			    .needs = { .n_programs = 64 } });
}

static uint64_t crossed(const struct kit *k, site_id s, port_id p)
{
	return net_counters(k->net, s, p, UINT32_MAX, SIM_NEVER).sent_bytes;
}

/* One shipment; the bytes that crossed the link behind the exit, either way. */
static sim_time ship_one(struct shipment s, uint64_t *out, uint64_t *back)
{
	struct kit k;

	open_io(&k, io_sets);
	program_start(k.host, s.from, 0, 0, ship, &s);
	program_start(k.host, s.to, 0, 0, take, &s);
	kit_run(&k, false);
	*out = crossed(&k, EXIT, IO_PORT);
	*back = crossed(&k, IO, IO_PORT + 1);
	kit_close(&k);
	return s.end - s.begin;
}

static void bgq_f39_packets_go_on_to_the_io_node_where_they_say_so(void **state)
{
	struct shipment s = {
		.from = 21, .to = EXIT, .dst = EXIT, .bytes = 200
	};
	uint64_t out, back;
	sim_time here, there;

	here = ship_one(s, &out, &back);
	assert_int_equal(out, 0);
	s.to = IO;
	s.bits = TO_IO;
	there = ship_one(s, &out, &back);
	assert_true(out > s.bytes && !back);
	assert_int_equal(there - here, 49 * SIM_NS);
	/* an exit's own */
	s.from = EXIT;
	ship_one(s, &out, &back);
	assert_true(out > s.bytes);
}

static void bgq_f40_packets_of_io_nodes_enter_at_their_exits(void **state)
{
	struct shipment s = { .from = IO, .bytes = 200 };
	uint64_t out, back;
	sim_time first;

	for (s.dst = 0; s.dst < IO; s.dst += 3) {
		s.to = s.dst;
		s.bits = 0;
		ship_one(s, &out, &back);
		assert_true(!out && !back);
		s.bits = 1 << 3; /* its second link */
		ship_one(s, &out, &back);
		assert_true(!out && back > s.bytes);
	}
	/* the nearest */
	s.dst = s.to = EXIT;
	first = ship_one(s, &out, &back);
	s.bits = 0;
	assert_true(first < ship_one(s, &out, &back));
}

/* --- at full rate --- */

enum { STREAMS = 4 };

/* What an IO node sends to four nodes, or gets from them. */
struct streams {
	struct shipment s[STREAMS], all;
};

static void start_streams(
	struct kit *k, struct streams *x, uint32_t links, bool is_out)
{
	static const site_id nodes[STREAMS] = { 5, 21, 11, 27 };

	x->all = (struct shipment){ .bytes = STREAMS * LONG };
	for (uint32_t i = 0; i < STREAMS; i++) {
		struct shipment *s = &x->s[i];
		uint32_t link = i % links;

		*s = (struct shipment){ .from = is_out ? IO : nodes[i],
			.dst = is_out ? nodes[i] : link * (IO / links),
			.bits = (uint8_t)(is_out ? link << 3 : TO_IO),
			.map = is_out ? (uint32_t)MU_MAP_A_MINUS >> i : 0,
			.number = is_out ? i : 0,
			.bytes = LONG };
		program_start(k->host, s->from, i, 0, ship, s);
		if (is_out)
			program_start(k->host, nodes[i], STREAMS, 0, take, s);
	}
	if (!is_out)
		program_start(k->host, IO, STREAMS, 0, take, &x->all);
}

/* Bytes per nanosecond. */
static double rate_of(const struct streams *x)
{
	sim_time end = x->all.end;

	for (uint32_t i = 0; i < STREAMS; i++)
		end = x->s[i].end > end ? x->s[i].end : end;
	return (double)x->all.bytes * 1e3 / (double)(end - x->s[0].begin);
}

static double io_rate(const char *const *sets, uint32_t links, bool is_out)
{
	struct streams x;
	struct kit k;

	open_io(&k, sets);
	start_streams(&k, &x, links, is_out);
	kit_run(&k, false);
	kit_close(&k);
	return rate_of(&x);
}

/* 512 B of payload in every 576 B, of which 16 are what is said of the packets
 * of the other way. */
static void bgq_f4_a_link_carries_full_rates_both_ways(void **state)
{
	struct streams out, in;
	struct kit k;

	open_io(&k, one_link);
	start_streams(&k, &out, 1, true);
	start_streams(&k, &in, 1, false);
	kit_run(&k, false);
	kit_close(&k);
	assert_float_equal(rate_of(&out), 1.778, 0.03);
	assert_float_equal(rate_of(&in), 1.778, 0.03);
}

/* 512 B of payload in every 560 B at 2 GB/s, less what begins and ends it. */
static void bgq_f5_two_exits_double_an_io_nodes_rate(void **state)
{
	struct machine *m = kit_machine("bgq-io", NULL, NULL);
	uint32_t links = m->topo->n_ports - m->topo->node_ports;

	assert_int_equal(links, 2);
	assert_int_equal(
		machine_value(m, "nic", "pcie.rate"), links * m->link.rate);
	machine_free(m);
	assert_float_equal(io_rate(one_link, 1, false), 1.829, 0.02);
	assert_float_equal(io_rate(one_link, 1, true), 1.829, 0.02);
	assert_float_equal(io_rate(two_links, 2, false), 3.657, 0.05);
	assert_float_equal(io_rate(two_links, 2, true), 3.657, 0.05);
}

/* --- what is refused --- */

struct misuse {
	site_id from;
	uint32_t inj;
	site_id dst;
	uint8_t bits;
	enum mu_channel channel;
	enum mu_interrupt why; /* MU_INTERRUPTS: nothing is wrong */
};

static void misuse(void *arg)
{
	const struct misuse *m = arg;
	struct mu_descriptor d = sw_fifo_message(m->dst, SYSTEM_REC, 64);
	struct sw_fifo f = sw_open(m->inj, 0);

	sw_set_channel(&d, m->channel);
	if (m->inj >= 512)
		mu_set_fifo_map(&d, MU_MAP_SYSTEM);
	d.header.byte[2] |= m->bits;
	program_wait(10000 * SIM_NS);
	sw_inject(&f, &d);
	program_wait(20000 * SIM_NS);
	if (m->why < MU_INTERRUPTS)
		assert_int_equal(sw_load(MU_ERROR_COUNT, m->why), 1);
	assert_int_equal(
		sw_load(MU_INJ_STOPPED, m->inj), m->why < MU_INTERRUPTS);
}

static void open_rec(void *arg)
{
	sw_open_rec(SYSTEM_REC, SW_REC_BYTES);
}

/* Nor does one whose destination is no exit.  BGQ-F39 */
static void bgq_f41_only_system_packets_cross_io_links(void **state)
{
	static const struct misuse misuses[] = {
		{ 3, 512, EXIT, TO_IO, MU_SYSTEM, MU_INTERRUPTS },
		/* a user's, whatever he calls it */
		{ 3, 0, EXIT, TO_IO, MU_DYNAMIC, MU_ERROR_PERMISSION },
		{ 3, 0, EXIT, TO_IO, MU_SYSTEM, MU_ERROR_PERMISSION },
		{ 3, 0, EXIT, 1 << 3, MU_DYNAMIC, MU_ERROR_PERMISSION },
		/* the system's, by another channel, or as a line broadcast */
		{ 3, 512, EXIT, TO_IO, MU_DYNAMIC, MU_ERROR_DESCRIPTOR },
		{ 3, 512, EXIT, TO_IO, MU_HIGH, MU_ERROR_DESCRIPTOR },
		{ 0, 512, EXIT, TO_IO | 2, MU_SYSTEM, MU_ERROR_DESCRIPTOR },
		/* to a node that is no exit; by a link, from none */
		{ 3, 512, EXIT + 1, TO_IO, MU_SYSTEM, MU_ERROR_DESCRIPTOR },
		{ 3, 512, EXIT, 1 << 3, MU_SYSTEM, MU_ERROR_DESCRIPTOR },
		/* from an IO node */
		{ IO, 512, 5, 1 << 3, MU_SYSTEM, MU_INTERRUPTS },
		{ IO, 512, 5, 2 << 3, MU_SYSTEM, MU_ERROR_DESCRIPTOR },
		{ IO, 512, EXIT, TO_IO, MU_SYSTEM, MU_ERROR_DESCRIPTOR },
		{ IO, 512, 5, 0, MU_DETERMINISTIC, MU_ERROR_DESCRIPTOR },
		{ IO, 0, 5, 0, MU_DYNAMIC, MU_ERROR_DESCRIPTOR },
	};

	for (uint32_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
		struct misuse m = misuses[i];
		struct kit k;
		uint64_t sum;

		open_io(&k, io_sets);
		program_start(k.host, m.from, 0, 0, misuse, &m);
		program_start(k.host, IO, 1, 0, open_rec, NULL);
		program_start(k.host, 5, 1, 0, open_rec, NULL);
		assert_int_equal(sim_run(k.net->sim, SIM_NEVER - 1), SIM_IDLE);
		assert_int_equal(host_n_running(k.host), 0);
		sum = crossed(&k, EXIT, IO_PORT) + crossed(&k, IO, IO_PORT) +
		      crossed(&k, IO, IO_PORT + 1);
		assert_int_equal(sum != 0, m.why == MU_INTERRUPTS);
		kit_close(&k);
	}
}

/* --- the edges of a partition --- */

/* To where the coordinates are another partition's; by a link that is held in
 * reset; as it should be. */
static void leave(void *arg)
{
	struct mu_descriptor d;

	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < 3; i++) {
		struct sw_fifo f = sw_open(i, 0);

		d = sw_fifo_message(1, REC, 64);
		if (i)
			mu_set(d.header.byte + 4, 4,
				spi_destination(1).Destination);
		d.header.byte[1] = i == 1 ? 0x80 : 0; /* A- */
		sw_inject(&f, &d);
		program_charge(5000 * SIM_NS);
		assert_int_equal(sw_load(MU_INJ_STOPPED, i), i < 2);
	}
	assert_int_equal(sw_load(MU_ERROR_COUNT, MU_ERROR_DESCRIPTOR), 2);
}

static void open_user_rec(void *arg)
{
	sw_open_rec(REC, SW_REC_BYTES);
}

/* The second half of a row of eight. */
static void nothing_goes_out_of_a_partition(void **state)
{
	static const char *const sets[] = { "topology.wrap=mesh",
		"topology.corner=4x0", NULL };
	struct kit k;

	kit_open(&k, &(struct kit_how){ .machine = "bgq",
			     .shape = "4x2",
			     .sets = sets,
			     .needs = { .n_programs = 2 } });
	program_start(k.host, 0, 0, 0, leave, NULL);
	program_start(k.host, 1, 0, 0, open_user_rec, NULL);
	kit_run(&k, true);
	assert_int_equal(net_total(k.net).delivered, 1);
	kit_close(&k);
}

/* --- files --- */

enum { OUT_AT = 0x100000, BACK_AT = 0x800000, MANY_BYTES = 300000 };

struct user {
	site_id node;
	uint32_t seed;
	uint64_t bytes;
};

/* Writes a file in two parts, and reads it back in three. */
static void use_file(void *arg)
{
	const struct user *u = arg;
	uint64_t half = u->bytes / 2, third = u->bytes / 3;
	char name[CNK_NAME];
	int32_t f;

	snprintf(name, sizeof(name), "out.%u", u->node);
	f = cnk_open(name, CNK_CREATE);
	assert_true(f >= 0);
	bytes_fill(OUT_AT, u->seed, u->bytes);
	assert_int_equal(cnk_write(f, OUT_AT + half, u->bytes - half, half),
		u->bytes - half);
	assert_int_equal(cnk_write(f, OUT_AT, half, 0), half);
	assert_int_equal(cnk_sync(f), 0);
	assert_int_equal(cnk_read(f, BACK_AT, third, 0), third);
	assert_int_equal(cnk_read(f, BACK_AT + third, third, third), third);
	assert_int_equal(cnk_read(f, BACK_AT + 2 * third, u->bytes, 2 * third),
		u->bytes - 2 * third);
	bytes_expect(BACK_AT, u->seed, u->bytes);
	assert_int_equal(cnk_close(f), 0);
}

/* BGQ-F1, BGQ-F139: by message units, on both sides. */
static void bgq_f139_files_are_shipped_to_io_nodes(void **state)
{
	static const uint64_t lengths[] = { 1, 31, 512, 513, MANY_BYTES };
	struct user u[5];
	uint64_t digest[2];
	struct kit k;

	for (uint32_t w = 0; w < 2; w++) {
		kit_open(&k, &(struct kit_how){ .machine = "bgq-board",
				     .sets = io_sets,
				     .n_workers = 1 + 2 * w,
				     .needs = { .n_programs = 5,
					     .has_files = true } });
		for (uint32_t i = 0; i < 5; i++) {
			u[i] = (struct user){ 7 * i, i, lengths[i] };
			program_start(k.host, u[i].node, 0, 0, use_file, &u[i]);
		}
		digest[w] = kit_run(&k, false);
		/* what was written has come from compute nodes 0, 7 and 14
		 * and from 21 and 28, and what was read went to them */
		assert_true(crossed(&k, 0, IO_PORT) > 0);
		assert_true(crossed(&k, 16 + 8, IO_PORT) > MANY_BYTES);
		assert_true(crossed(&k, IO + 1, IO_PORT + 1) > MANY_BYTES);
		kit_close(&k);
	}
	assert_int_equal(digest[0], digest[1]);
}

static void misuse_files(void *arg)
{
	const struct user *u = arg;
	int32_t f, other;

	assert_int_equal(cnk_open("none", 0), -ENOENT);
	assert_int_equal(cnk_open("", CNK_CREATE), -EINVAL);
	assert_int_equal(cnk_open("x", 8), -EINVAL);
	assert_int_equal(
		cnk_open("a name that is longer than the longest one that a "
			 "daemon takes, by far",
			CNK_CREATE),
		-ENAMETOOLONG);
	f = cnk_open("x", CNK_CREATE);
	assert_true(f >= 0);
	assert_int_equal(cnk_write(f, OUT_AT, 100, CNK_BYTES), -EFBIG);
	assert_int_equal(cnk_write(f, u->bytes, 1, 0), -EFAULT);
	assert_int_equal(cnk_read(f, u->bytes - 1, 2, 0), -EFAULT);
	assert_int_equal(cnk_read(-1, BACK_AT, 1, 0), -EBADF);
	assert_int_equal(cnk_read(CNK_FILES, BACK_AT, 1, 0), -EBADF);
	/* past its end, and where nothing was ever written */
	bytes_fill(OUT_AT, 1, 100);
	bytes_fill(BACK_AT, 2, 400);
	assert_int_equal(cnk_write(f, OUT_AT, 100, 200), 100);
	assert_int_equal(cnk_read(f, BACK_AT, 400, 300), 0);
	assert_int_equal(cnk_read(f, BACK_AT, 400, UINT64_MAX), 0);
	bytes_expect(BACK_AT, 2, 400);
	assert_int_equal(cnk_read(f, BACK_AT, 400, 0), 300);
	bytes_expect_all(BACK_AT, 0, 200);
	bytes_expect(BACK_AT + 200, 1, 100);
	assert_int_equal(cnk_write(f, OUT_AT, 0, 5000), 0);
	assert_int_equal(cnk_read(f, BACK_AT, 0, 0), 0);
	/* emptied, by another descriptor of the same file */
	other = cnk_open("x", CNK_TRUNCATE);
	assert_true(other >= 0 && other != f);
	assert_int_equal(cnk_read(f, BACK_AT, 400, 0), 0);
	assert_int_equal(cnk_close(f), 0);
	assert_int_equal(cnk_close(f), -EBADF);
	assert_int_equal(cnk_sync(f), -EBADF);
	assert_int_equal(cnk_close(other), 0);
	assert_false(program_is_system());
}

static void wrong_uses_of_files_are_refused(void **state)
{
	struct user u = { 3, 0, 0 };
	struct kit k;

	kit_open(&k, &(struct kit_how){ .machine = "bgq-board",
			     .sets = io_sets,
			     .needs = { .n_programs = 1, .has_files = true } });
	u.bytes = host_memory(k.host);
	program_start(k.host, u.node, 0, 0, misuse_files, &u);
	kit_run(&k, false);
	kit_close(&k);
}

static void open_none(void *arg)
{
	assert_int_equal(cnk_open("x", CNK_CREATE), -ENODEV);
}

static void without_io_nodes_there_are_no_files(void **state)
{
	static const char *const sets[] = { "topology.io.every=0", NULL };
	struct kit k;

	kit_open(&k, &(struct kit_how){ .machine = "bgq-io",
			     .shape = "2x2",
			     .sets = sets,
			     .needs = { .n_programs = 1, .has_files = true } });
	program_start(k.host, 0, 0, 0, open_none, NULL);
	kit_run(&k, false);
	kit_close(&k);
}

TESTS(TEST(bgq_f28_channels_hold_more_packets_than_blue_gene_ls),
	TEST(bgq_f39_packets_go_on_to_the_io_node_where_they_say_so),
	TEST(bgq_f40_packets_of_io_nodes_enter_at_their_exits),
	TEST(bgq_f4_a_link_carries_full_rates_both_ways),
	TEST(bgq_f5_two_exits_double_an_io_nodes_rate),
	TEST(bgq_f41_only_system_packets_cross_io_links),
	TEST(nothing_goes_out_of_a_partition),
	TEST(bgq_f139_files_are_shipped_to_io_nodes),
	TEST(wrong_uses_of_files_are_refused),
	TEST(without_io_nodes_there_are_no_files))
