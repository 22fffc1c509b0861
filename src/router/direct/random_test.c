/*
 * Machines and traffic by lot.  Whatever they are: everything arrives where it
 * should, once, by a shortest way, in order where order is promised; packets
 * and tokens are all there at every stop (the rig sees to that); and any
 * number of workers does the same to the picosecond.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { DRAWS = 250, SLOW_DRAWS = 40, TEXT = 40 };

struct texts {
	char shape[TEXT], wrap[TEXT], order[TEXT];
};

static uint64_t *series;

static uint32_t draw(uint32_t below)
{
	return rig_draw(series, below);
}

static const char *one_of(const char *const *words, uint32_t n)
{
	return words[draw(n)];
}

/* One to six dimensions and not too many routers. */
static void draw_shape(struct texts *x)
{
	static const char *const wraps[] = { "torus", "mesh", "loop" };
	uint32_t n = 1 + draw(6), room = 64, i;
	size_t at = 0, wat = 0;

	for (i = 0; i < n; i++) {
		uint32_t d = 1 + draw(i ? 4 : 9);

		d = d > room ? room : d;
		room /= d;
		at += (size_t)snprintf(x->shape + at, sizeof(x->shape) - at,
			"%s%u", i ? "x" : "", d);
		wat += (size_t)snprintf(x->wrap + wat, sizeof(x->wrap) - wat,
			"%s%s", i ? "," : "", one_of(wraps, 3));
		x->order[i] = (char)('A' + i);
	}
	x->order[n] = '\0';
	for (i = n - 1; i; i--) {
		uint32_t j = draw(i + 1);
		char c = x->order[i];

		x->order[i] = x->order[j];
		x->order[j] = c;
	}
}

static struct rig_how draw_how(struct texts *x)
{
	static const char *const zones[] = { "none", "longest-first", "order" };
	static const char *const ties[] = { "parity", "random", "plus" };
	static const sim_time drains[] = { -1, 0, 1, 50000, 2000000 };
	struct rig_how how;

	draw_shape(x);
	how = (struct rig_how){
		.way = { .shape = x->shape,
			.wrap = x->wrap,
			.order = draw(2) ? x->order : NULL,
			.zones = one_of(zones, 3),
			.ties = one_of(ties, 3) },
		.packets = 2 + draw(7),
		.queues = 1 + draw(4),
		.injection = 1 + draw(3),
		.reception = 1 + draw(3),
		.transit = draw(2) ? draw(5) : 0,
		.fills = draw(2),
		.looks_round = draw(2),
	};
	how.drain = drains[draw(5)];
	return how;
}

/* Flags and hints that leave the order of others alone. */
static void decorate(const struct rig *r, struct packet *p)
{
	uint32_t d = draw(r->way.t.n_dims);

	if (p->kind == PACKET_DYNAMIC && !draw(3))
		p->flags = PACKET_STAY;
	if (p->kind == PACKET_DYNAMIC && !draw(8) && r->way.t.dim[d] > 1 &&
		torus_is_ring(&r->way.t, d))
		p->hints = (uint16_t)(1u << (2 * d + draw(2)));
}

static void send_all(struct rig *r)
{
	uint32_t sites = r->net->n_sites, n = 10 + draw(60), i;
	uint32_t kinds = 1 + draw(15), sizes = draw(3);
	sim_time apart = draw(2) ? 0 : draw(100000);

	for (i = 0; i < n * sites; i++) {
		struct packet p = {
			.src = i % sites,
			.dst = draw(sites),
			.zone = (uint8_t)draw(HINT_ZONE_SETS),
			.bytes = 512,
		};

		do
			p.kind = (uint8_t)draw(N_PACKET_KINDS);
		while (!(kinds >> p.kind & 1));
		if (sizes)
			p.bytes = (uint16_t)draw(sizes == 1 ? 513 : 64);
		decorate(r, &p);
		rig_send(r, i / sites * apart, rig_fifo(r, &p), p);
	}
}

static uint64_t hops_of(const struct rig *r, const struct packet *p)
{
	struct packet q = *p;
	uint64_t n = 0;

	route_begin(r->net->route, &q);
	for (uint32_t i = 0; i < r->way.t.n_dims; i++)
		n += q.left[i];
	return n;
}

static void check_arrivals(const struct rig *r)
{
	uint64_t hops = 0;

	assert_int_equal(r->n_arrivals, r->n_sent);
	for (uint32_t k = 0; k < r->n_sent; k++) {
		struct packet p = r->flow[k].packet;
		const struct arrival *a = r->got[k];
		uint64_t h;

		p.number = k;
		h = hops_of(r, &p);
		hops += h;
		assert_int_equal(a->site, p.dst);
		assert_int_equal(a->packet.src, p.src);
		assert_int_equal(a->packet.bytes, p.bytes);
		assert_int_equal(a->packet.kind, p.kind);
		assert_true(a->head >= r->sent[k] + (sim_time)h * BOARD_PS);
		assert_true(a->tail - a->head ==
			    (40 + (p.bytes + 31) / 32 * 32) * BYTE_PS);
	}
	assert_int_equal(net_hops(r->net), hops);
	for (uint8_t kind = PACKET_DETERMINISTIC; kind < N_PACKET_KINDS; kind++)
		assert_int_equal(rig_overtakings(r, kind), 0);
}

static void check_same(const struct rig *a, const struct rig *b)
{
	assert_int_equal(a->n_arrivals, b->n_arrivals);
	for (uint32_t i = 0; i < a->n_arrivals; i++) {
		const struct arrival *x = &a->arrival[i];
		const struct arrival *y = &b->arrival[i];

		assert_int_equal(x->packet.number, y->packet.number);
		assert_int_equal(x->site, y->site);
		assert_int_equal(x->fifo, y->fifo);
		assert_true(x->head == y->head);
	}
}

static void whatever_is_sent_arrives(void **state)
{
	uint64_t n = getenv("WEFT_SLOW") ? SLOW_DRAWS : DRAWS, seed, at, from;

	for (seed = 0; seed < n; seed++) {
		struct texts x;
		struct rig_how how;
		struct rig *one, *many;

		at = seed << 32;
		series = &at;
		how = draw_how(&x);
		from = at;
		one = rig_new(&how);
		send_all(one);
		rig_run(one);
		check_arrivals(one);
		at = from;
		how.n_workers = 2 + (uint32_t)seed % 5;
		many = rig_new(&how);
		send_all(many);
		rig_run(many);
		check_same(one, many);
		rig_free(many);
		rig_free(one);
	}
}

TESTS(TEST(whatever_is_sent_arrives))
