/* BGQ-F42, BGQ-G39: line broadcasts leave a copy at every router on a line. */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { MANY = 40, PERIOD = FULL_PS + GAP_PS };

static site_id next(const struct rig *r, site_id s, port_id p)
{
	return direct_site(r->net, s)->port[p].sender.peer;
}

/* From s by a port, to the router before s on its ring. */
static struct packet line(
	const struct rig *r, uint8_t kind, site_id s, port_id p)
{
	return (struct packet){
		.src = s,
		.dst = next(r, s, p ^ 1),
		.hints = (uint16_t)(1u << p),
		.kind = kind,
		.flags = PACKET_DEPOSIT,
		.bytes = 512,
	};
}

/* Each router on the line got it once, the last one got it itself; at is
 * when its head left the first one, where nothing was in its way. */
static void check_line(const struct rig *r, uint32_t k, sim_time at)
{
	const struct packet *p = &r->got[k]->packet;
	port_id port = (port_id)__builtin_ctz(r->flow[k].packet.hints);

	assert_null(rig_copy(r, k, p->src));
	for (site_id s = p->src; s != p->dst;) {
		uint32_t wire = direct_site(r->net, s)->port[port].sender.wire;
		const struct arrival *a;

		s = next(r, s, port);
		a = rig_copy(r, k, s);
		at += r->net->link.latency[wire];
		assert_non_null(a);
		assert_int_equal(
			a->packet.flags & PACKET_COPY, s == p->dst ? 0 : 4);
		assert_int_equal(a->packet.dst, s);
		assert_int_equal(a->packet.src, p->src);
		assert_int_equal(a->packet.bytes, p->bytes);
		assert_int_equal(a->fifo, direct_reception_of(p, port ^ 1));
		assert_true(a->head == at);
		assert_true(a->tail == at + FULL_PS);
	}
}

/* BGQ-F42: along every dimension, both ways, of every class. */
static void every_router_on_the_line_gets_a_copy(void **state)
{
	struct rig_how how = { .way = { .shape = "5x4x3x1x2" } };
	struct rig *r = rig_new(&how);
	sim_time apart = 10000 * SIM_NS;
	uint32_t hops = 0;

	for (port_id p = 0; p < r->net->n_ports; p++) {
		uint32_t length = r->way.t.dim[p / 2];

		if (length == 1)
			continue;
		for (uint8_t kind = PACKET_DETERMINISTIC; kind <= PACKET_SYSTEM;
			kind++) {
			struct packet x = line(r, kind, 17, p);

			rig_send(r, r->n_sent * apart, rig_fifo(r, &x), x);
			hops += length - 1;
		}
	}
	rig_run(r);
	assert_int_equal(r->n_arrivals, hops);
	for (uint32_t k = 0; k < r->n_sent; k++)
		check_line(r, k, k * apart);
	rig_free(r);
}

/* A packet without the bit leaves none. */
static void other_packets_leave_none(void **state)
{
	struct rig_how how = { .way = { .shape = "8" } };
	struct rig *r = rig_new(&how);

	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++)
		rig_flood(r, 0,
			rig_fifo(r, &(struct packet){ .dst = 3, .kind = kind }),
			5, (struct packet){ .dst = 3, .kind = kind });
	rig_run(r);
	assert_int_equal(r->n_arrivals, 5 * N_PACKET_KINDS);
	assert_int_equal(net_total(r->net).copies, 0);
	rig_free(r);
}

/* What a node got of one source, by class, is in the order of its sending;
 * copies and packets that end there count alike. */
static void check_order(const struct rig *r, site_id s)
{
	int64_t last[N_PACKET_KINDS][64];

	assert_true(r->net->n_sites <= 64);
	for (uint32_t i = 0; i < N_PACKET_KINDS * 64; i++)
		last[i / 64][i % 64] = -1;
	for (uint32_t i = 0; i < r->node[s].n; i++) {
		const struct packet *p = &r->node[s].log[i].packet;

		if (p->kind == PACKET_DYNAMIC)
			continue;
		assert_true(p->number > last[p->kind][p->src]);
		last[p->kind][p->src] = p->number;
	}
}

static void check_all(const struct rig *r, uint32_t arrivals)
{
	assert_int_equal(r->n_arrivals, arrivals);
	for (site_id s = 0; s < r->net->n_sites; s++)
		check_order(r, s);
}

/* A stream of broadcasts goes at the rate of a stream. */
static void a_stream_of_broadcasts_keeps_its_pace(void **state)
{
	struct rig_how how = { .way = { .shape = "8" } };
	struct rig *r = rig_new(&how);
	struct packet x = line(r, PACKET_DETERMINISTIC, 0, 0);

	rig_flood(r, 0, 0, MANY, x);
	rig_run(r);
	check_all(r, MANY * 7);
	for (uint32_t k = 1; k < MANY; k++)
		assert_true(r->got[k]->head - r->got[k - 1]->head == PERIOD);
	rig_free(r);
}

/*
 * Node 3 takes nothing for a while: no copy is lost there or elsewhere, those
 * behind it wait, and its FIFO never holds more than it can.
 */
static void check_closed(uint8_t kind, int64_t reception)
{
	struct rig_how how = {
		.way = { .shape = "8" },
		.fills = true,
		.reception = reception,
	};
	struct rig *r = rig_new(&how);
	struct packet x = line(r, kind, 0, 0);
	uint32_t fifo = direct_reception_of(&x, 1);
	sim_time t = 2 * MANY * PERIOD;

	rig_close(r, 3, fifo);
	rig_flood(r, 0, rig_fifo(r, &x), MANY, x);
	rig_run_until(r, t);
	for (site_id s = 3; s < 8; s++)
		assert_int_equal(r->node[s].n, reception);
	for (site_id s = 1; s < 3; s++)
		assert_true(r->node[s].n > reception && r->node[s].n < MANY);
	rig_open(r, 3, fifo, t + PERIOD);
	rig_run(r);
	check_all(r, MANY * 7);
	rig_free(r);
}

static void a_full_fifo_on_the_line_loses_nothing(void **state)
{
	for (uint8_t kind = PACKET_DETERMINISTIC; kind <= PACKET_SYSTEM;
		kind++) {
		check_closed(kind, 1);
		check_closed(kind, 2);
		check_closed(kind, 5);
	}
}

/*
 * A broadcast waits in node 1 for its link, which is busy.  Meanwhile another
 * packet comes and takes the last room in the FIFO where its copy would go.
 */
static void room_that_was_seen_may_be_gone(void **state)
{
	struct rig_how how = {
		.way = { .shape = "8" },
		.fills = true,
		.reception = 1,
	};
	struct rig *r = rig_new(&how);
	struct packet x = line(r, PACKET_DETERMINISTIC, 0, 0);
	struct packet y = { .dst = 1, .bytes = 512 };
	sim_time t = 2 * MANY * PERIOD;

	rig_close(r, 1, FIFO_USER + 1);
	rig_open(r, 1, FIFO_USER + 1, t);
	rig_flood(r, 0, FIFO_SYSTEM, MANY,
		(struct packet){ .src = 1,
			.dst = 2,
			.kind = PACKET_SYSTEM,
			.bytes = 512 });
	rig_send(r, 0, 0, x);
	rig_send(r, 0, 0, y);
	rig_run(r);
	check_all(r, MANY + 7 + 1);
	rig_free(r);
}

/*
 * Three packets of one flow: the first leaves room in node 1's FIFO for a
 * header but not for the second, which ends there; the third is a broadcast
 * without payload, and its copy must not pass the second.
 */
static void a_copy_does_not_pass_an_older_packet(void **state)
{
	struct rig_how how = {
		.way = { .shape = "8" },
		.fills = true,
		.reception = 1,
	};
	struct rig *r = rig_new(&how);
	struct packet x = line(r, PACKET_DETERMINISTIC, 0, 0);
	struct packet y = { .dst = 1, .kind = PACKET_DETERMINISTIC };

	rig_close(r, 1, FIFO_USER + 1);
	rig_open(r, 1, FIFO_USER + 1, 10 * PERIOD);
	y.bytes = 256;
	rig_send(r, 0, 0, y);
	y.bytes = 512;
	rig_send(r, 0, 0, y);
	x.bytes = 0;
	rig_send(r, 0, 0, x);
	rig_run(r);
	check_all(r, 2 + 7);
	rig_free(r);
}

/* Broadcasts on all lines among packets of all kinds, to receivers that give
 * room back soon, late, or on the spot. */
static void check_crowd(sim_time drain, int64_t reception, uint64_t seed)
{
	struct rig_how how = {
		.way = { .shape = "5x3x2" },
		.fills = true,
		.drain = drain,
		.reception = reception,
	};
	struct rig *r = rig_new(&how);
	uint64_t series = seed;
	uint32_t n = 30 * r->net->n_sites;

	rig_storm(r, &series, 30, 15, true);
	for (uint32_t i = 0; i < 300; i++) {
		port_id p = rig_draw(&series, r->net->n_ports);
		struct packet x = line(r,
			(uint8_t)(PACKET_DETERMINISTIC + rig_draw(&series, 3)),
			rig_draw(&series, r->net->n_sites), p);

		x.bytes = (uint16_t)rig_draw(&series, 513);
		/* of one source, one FIFO by class: so that it has an order */
		rig_send(r, rig_draw(&series, 1), rig_fifo(r, &x), x);
		n += r->way.t.dim[p / 2] - 1;
	}
	rig_run(r);
	assert_int_equal(r->n_arrivals, n);
	rig_free(r);
}

/* BGQ-F42 */
static void nothing_is_lost_in_a_crowd(void **state)
{
	check_crowd(0, 2, 1000);
	check_crowd(0, 1, 2000);
	check_crowd(1500 * SIM_NS, 1, 3000);
	check_crowd(-1, 1, 4000);
	check_crowd(-1, 3, 5000);
}

TESTS(TEST(every_router_on_the_line_gets_a_copy),
	TEST(other_packets_leave_none),
	TEST(a_stream_of_broadcasts_keeps_its_pace),
	TEST(a_full_fifo_on_the_line_loses_nothing),
	TEST(room_that_was_seen_may_be_gone),
	TEST(a_copy_does_not_pass_an_older_packet),
	TEST(nothing_is_lost_in_a_crowd))
