/*
 * A single packet takes the sum of its wires' latencies and one serialisation
 * of header, chunks and trailer, to the picosecond.  What it should take is
 * worked out here by hand: a board is two routers long, a midplane four, E
 * never leaves its board (BGQ-F7, BGQ-F8), at 2 GB/s.
 */
#include <stdlib.h>
#include <string.h>

#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { APART = 20000 * SIM_NS, E_DIM = 4 };

/* The wire from coordinate lo up to the next one. */
static sim_time wire_time(uint32_t length, uint32_t dim, uint32_t lo)
{
	bool is_last = lo + 1 == length;

	if (dim == E_DIM)
		return INNER_PS;
	if (dim > E_DIM) /* of no packaging */
		return is_last ? LOOP_PS : BOARD_PS;
	if (is_last)
		return length > 4 ? MIDPLANES_PS : LOOP_PS;
	if (lo % 4 == 3)
		return MIDPLANES_PS;
	return lo % 2 ? BOARDS_PS : BOARD_PS;
}

/* One dimension's part of a packet's way. */
struct leg {
	uint32_t hops;
	bool is_up;
	sim_time time;
};

static struct leg leg(const struct rig *r, const struct packet *p, uint32_t dim)
{
	const struct torus *t = &r->way.t;
	uint32_t length = t->dim[dim], x = torus_coord(t, p->src, dim), i;
	uint32_t up = (torus_coord(t, p->dst, dim) + length - x) % length;
	uint32_t given = p->hints >> (2 * dim) & 3, parity = 0;
	struct leg l = { .is_up = 2 * up < length };

	if (!up && !given)
		return l;
	for (i = 0; i < t->n_dims; i++)
		parity += torus_coord(t, p->src, i);
	if (given)
		l.is_up = given == 1;
	else if (!torus_is_ring(t, dim))
		l.is_up = x + up < length;
	else if (2 * up == length) /* BGQ-G8 */
		l.is_up = parity % 2 == 0;
	l.hops = l.is_up && up ? up : length - up;
	for (i = 0; i < l.hops; i++) {
		x = l.is_up ? x : (x + length - 1) % length;
		l.time += wire_time(length, dim, x);
		x = l.is_up ? (x + 1) % length : x;
	}
	return l;
}

static sim_time serialisation(uint32_t bytes)
{
	return (32 + (bytes + 31) / 32 * 32 + 8) * BYTE_PS;
}

/*
 * BGQ-F17, BGQ-F18, BGQ-F21: by class, and of user packets by the receiver
 * that it came in at: of its last dimension, or of any where it chooses.
 */
static bool is_right_fifo(
	const struct rig *r, const struct arrival *a, const struct packet *p)
{
	uint32_t k = r->way.t.n_dims;

	if (p->kind == PACKET_HIGH || p->kind == PACKET_SYSTEM)
		return a->fifo ==
		       (p->kind == PACKET_HIGH ? FIFO_HIGH : FIFO_SYSTEM);
	while (k--) {
		uint32_t i = (uint32_t)r->how.way.order[k] - 'A';
		struct leg l = leg(r, p, i);

		if (!l.hops)
			continue;
		if (a->fifo == FIFO_USER + 2 * i + l.is_up)
			return true;
		if (p->kind == PACKET_DETERMINISTIC)
			return false;
	}
	return false;
}

static void check_packet(const struct rig *r, uint32_t k)
{
	const struct packet *p = &r->flow[k].packet;
	const struct arrival *a = r->got[k];
	sim_time wires = 0;
	uint32_t hops = 0;

	for (uint32_t i = 0; i < r->way.t.n_dims; i++) {
		wires += leg(r, p, i).time;
		hops += leg(r, p, i).hops;
	}
	assert_true(r->sent[k] == r->flow[k].from);
	assert_true(a->head == r->sent[k] + wires);
	assert_true(a->tail == a->head + serialisation(p->bytes));
	if (hops)
		assert_true(is_right_fifo(r, a, p));
	else
		assert_int_equal(a->fifo, FIFO_LOCAL + k % 2);
}

/* One after the other, far apart; BGQ-F20: by any FIFO of its class. */
static void send_alone(struct rig *r, struct packet p)
{
	uint32_t k = r->n_sent, fifo = k % r->net->n_ports;

	if (p.kind == PACKET_HIGH)
		fifo = FIFO_HIGH;
	if (p.kind == PACKET_SYSTEM)
		fifo = FIFO_SYSTEM;
	if (p.src == p.dst && !p.hints) /* BGQ-F22 */
		fifo = FIFO_LOCAL + k % 2;
	rig_send(r, k * (sim_time)APART, fifo, p);
}

static void run_all(struct rig *r)
{
	rig_run(r);
	assert_int_equal(r->n_arrivals, r->n_sent);
	for (uint32_t k = 0; k < r->n_sent; k++)
		check_packet(r, k);
}

static void send_sizes(struct rig *r, struct packet p)
{
	static const uint16_t sizes[] = { 0, 1, 32, 33, 511, 512 };

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p.bytes = sizes[i];
		for (p.kind = 0; p.kind < N_PACKET_KINDS; p.kind++)
			send_alone(r, p);
	}
}

static void send_everywhere(struct rig *r, site_id from)
{
	struct packet p = { .src = from };

	for (p.dst = 0; p.dst < r->net->n_sites; p.dst++)
		send_sizes(r, p);
}

static void check_shape(const char *shape, const char *wrap, const char *order)
{
	struct rig_how how = {
		.way = { .shape = shape,
			.wrap = wrap,
			.order = order,
			.zones = "none" },
	};
	struct rig *r = rig_new(&how);

	send_everywhere(r, 0);
	send_everywhere(r, r->net->n_sites / 2);
	send_everywhere(r, r->net->n_sites - 1);
	run_all(r);
	rig_free(r);
}

/* --- --- */

/* BGQ-F13, BGQ-F26: cut through, every chunk count and every byte. */
static void every_size_takes_its_bytes(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x4x4x4x2", .order = "ABCDE" },
	};
	struct packet p = { .dst = 511 };
	struct rig *r = rig_new(&how);

	for (p.bytes = 0; p.bytes <= 512; p.bytes++)
		for (p.kind = 0; p.kind < N_PACKET_KINDS; p.kind++)
			send_alone(r, p);
	run_all(r);
	rig_free(r);
}

/* Hand-made figures of a Blue Gene/Q board: 36 ns for 72 bytes and 42 ns
 * for a wire; to the far corner four of these and E's. */
static void a_board_has_the_figures_of_the_datasheet(void **state)
{
	struct rig_how how = {
		.way = { .shape = "2x2x2x2x2",
			.wrap = "mesh,mesh,mesh,mesh,torus" },
	};
	struct rig *r = rig_new(&how);

	rig_send(r, 0, 3, (struct packet){ .dst = 1, .bytes = 8 });
	rig_send(r, APART, 3, (struct packet){ .dst = 31, .bytes = 8 });
	rig_send(r, 2 * APART, 3, (struct packet){ .dst = 31, .bytes = 512 });
	rig_run(r);
	assert_int_equal(r->got[0]->tail, 78000);
	assert_int_equal(r->got[1]->tail - APART, 4 * 42000 + 54000 + 36000);
	assert_int_equal(
		r->got[2]->tail - 2 * APART, 4 * 42000 + 54000 + 276000);
	rig_free(r);
}

static void rings_of_every_length(void **state)
{
	check_shape("1", "torus", "A");
	check_shape("2", "torus", "A");
	check_shape("3", "torus", "A");
	check_shape("4", "torus", "A");
	check_shape("5", "torus", "A");
	check_shape("16", "torus", "A");
	check_shape("33", "torus", "A");
}

static void lines_of_every_length(void **state)
{
	check_shape("1", "mesh", "A");
	check_shape("2", "mesh", "A");
	check_shape("3", "mesh", "A");
	check_shape("11", "mesh", "A");
}

static void planes_and_more_dimensions(void **state)
{
	check_shape("2x2", "torus", "BA");
	check_shape("7x4", "torus,mesh", "AB");
	check_shape("3x4x5", "torus", "CAB");
	check_shape("5x1x8x1x2", "torus", "EDCBA");
	check_shape("2x2x2x2x2x2", "mesh,torus", "ABCDEF");
	check_shape("2x3x1x2x2x3", "torus,mesh,torus", "FABCDE");
	if (!getenv("WEFT_SLOW"))
		check_shape("8x4x2x4x2", "torus", "ABCDE");
}

/* A dimension of one has no wire, or with loop one from each direction to
 * the other: hint bits alone say that a packet is to take it. */
static void a_loop_of_one_router_is_gone_round(void **state)
{
	struct rig_how how = {
		.way = { .shape = "1x1x1x1x1",
			.wrap = "loop",
			.order = "ABCDE" },
	};
	struct rig *r = rig_new(&how);
	struct packet p = { 0 };
	uint32_t i, left;

	for (uint32_t way = 0; way < 243; way++) {
		p.hints = 0;
		for (i = 0, left = way; i < 5; i++, left /= 3)
			p.hints |= (uint16_t)(left % 3 << (2 * i));
		send_sizes(r, p);
	}
	run_all(r);
	rig_free(r);
}

/* BGQ-F33: a sender's own hints are kept, also the long way round, and all
 * the way round to where it began. */
static void given_hints_are_kept(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x1x3",
			.wrap = "torus,loop,loop",
			.order = "ABC",
			.zones = "none" },
	};
	struct rig *r = rig_new(&how);
	struct packet p = { .src = 7 };
	uint32_t i, left;

	for (p.dst = 0; p.dst < r->net->n_sites; p.dst++) {
		for (uint32_t way = 0; way < 27; way++) {
			p.hints = 0;
			for (i = 0, left = way; i < 3; i++, left /= 3)
				p.hints |= (uint16_t)(left % 3 << (2 * i));
			send_sizes(r, p);
		}
	}
	run_all(r);
	rig_free(r);
}

TESTS(TEST(every_size_takes_its_bytes),
	TEST(a_board_has_the_figures_of_the_datasheet),
	TEST(rings_of_every_length), TEST(lines_of_every_length),
	TEST(planes_and_more_dimensions),
	TEST(a_loop_of_one_router_is_gone_round), TEST(given_hints_are_kept))
