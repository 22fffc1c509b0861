/*
 * A single packet takes the sum of its wires' latencies and one serialisation
 * of header, chunks and trailer, to the picosecond.  What it should take is
 * worked out here by hand: a board is two routers long, a midplane four, E
 * never leaves its board (BGQ-F7, BGQ-F8), at 2 GB/s.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "router/net_testing.h"

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
static bool is_right_fifo(const struct rig *r, const struct arrival *a,
	const struct packet *p)
{
	uint32_t i = r->way.t.n_dims;

	if (p->kind == PACKET_HIGH || p->kind == PACKET_SYSTEM)
		return a->fifo ==
			(p->kind == PACKET_HIGH ? FIFO_HIGH : FIFO_SYSTEM);
	while (i--) {
		struct leg l = leg(r, p, i);

		if (!l.hops)
			continue;
		if (a->fifo == FIFO_USER + 2 * i + l.is_up)
			return true;
		if (p->kind == PACKET_DETERMINISTIC)
			return false; /* in the order of letters */
	}
	return false;
}

static void check_packet(const struct rig *r, const struct packet *p, uint32_t k)
{
	const struct arrival *a = r->got[k];
	sim_time wires = 0;
	uint32_t i, hops = 0;

	for (i = 0; i < r->way.t.n_dims; i++) {
		wires += leg(r, p, i).time;
		hops += leg(r, p, i).hops;
	}
	assert_int_equal(a->site, p->dst);
	assert_true(a->head == r->sent[k] + wires);
	assert_true(a->tail == a->head + serialisation(p->bytes));
	if (hops)
		assert_true(is_right_fifo(r, a, p));
	else
		assert_int_equal(a->fifo, FIFO_LOCAL);
}

/* --- --- */

struct script {
	struct packet *packet;
	uint32_t n, room;
};

/* One after the other, far apart; BGQ-F20: by any FIFO of its class. */
static void send_alone(struct rig *r, struct script *s, struct packet p)
{
	uint32_t fifo = s->n % r->net->n_ports;

	if (p.kind == PACKET_HIGH)
		fifo = FIFO_HIGH;
	if (p.kind == PACKET_SYSTEM)
		fifo = FIFO_SYSTEM;
	if (p.src == p.dst && !p.hints)
		fifo = FIFO_LOCAL;
	assert_true(s->n < s->room);
	s->packet[s->n] = p;
	rig_send(r, s->n * (sim_time)APART, fifo, p);
	s->n++;
}

static void run_script(struct rig *r, struct script *s)
{
	uint32_t i;

	rig_run(r);
	for (i = 0; i < s->n; i++)
		check_packet(r, &s->packet[i], i);
	assert_int_equal(r->n_arrivals, s->n);
	test_free(s->packet);
}

static struct script make_script(uint32_t room)
{
	return (struct script){
		.packet = test_malloc(room * sizeof(struct packet)),
		.room = room,
	};
}

static void send_everywhere(struct rig *r, struct script *s, site_id from)
{
	static const uint16_t sizes[] = { 0, 1, 32, 33, 511, 512 };
	struct packet p = { .src = from };
	uint32_t i;

	for (p.dst = 0; p.dst < r->net->n_sites; p.dst++) {
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			p.bytes = sizes[i];
			for (p.kind = 0; p.kind < N_PACKET_KINDS; p.kind++)
				send_alone(r, s, p);
		}
	}
}

static void check_shape(const char *shape, const char *wrap)
{
	struct rig_how how = {
		.way = { .shape = shape, .wrap = wrap, .zones = "none" },
	};
	char order[] = "ABCDEF";
	struct script s;
	struct rig *r;

	how.way.order = order;
	order[strcspn(shape, "")] = '\0';
	order[1 + (strlen(shape) - strspn(shape, "0123456789")) / 2] = '\0';
	r = rig_new(&how);
	s = make_script(2 * r->net->n_sites * 6 * N_PACKET_KINDS);
	send_everywhere(r, &s, 0);
	send_everywhere(r, &s, r->net->n_sites / 2);
	run_script(r, &s);
	rig_free(r);
}
