/*
 * Ports into a cache: requests in closed form against the same ones one after
 * the other.  Two caches that differ in nothing else are asked for the same at
 * the same times.
 */
#include "host/params.h"
#include "host/side_l2.h"
#include "testing/testing.h"

enum { ROUNDS = 20000, PAGES = 40, PORTS = 3 };

struct unit {
	struct side *side;
	struct side_port port[PORTS];
};

static void open_unit(struct unit *u, bool is_plain)
{
	const struct side_port_how how = { 1250, 2500, 25600000000 };
	struct host_params p;
	struct err e;

	host_params_defaults(&p);
	*u = (struct unit){ .side = side_new(&side_l2_ops, &p.l2, 1, 1, &e) };
	u->side->ops->ports->set(u->side, &how);
	assert_true(side_l2_of(u->side)->is_plain);
	side_l2_of(u->side)->is_plain = is_plain;
}

struct asked {
	uint32_t what, port, bytes;
	uint64_t at;
};

/* One of the requests that packets and descriptors make, or another one. */
static struct asked draw(uint64_t seed, uint64_t *k)
{
	struct asked x = { .what = dice(seed, k, 4),
		.port = dice(seed, k, PORTS),
		.bytes = dice(seed, k, 4) ? 512 : 1 + dice(seed, k, 512),
		.at = dice(seed, k, PAGES * 32) * UINT64_C(128) };

	x.at += dice(seed, k, 4) ? 0 : dice(seed, k, 128);
	return x;
}

static sim_time ask(struct unit *u, const struct asked *x, sim_time t)
{
	const struct side_ports *p = u->side->ops->ports;
	struct side_port *port = &u->port[x->port];

	switch (x->what) {
	case 0:
		return p->read(u->side, port, 0, t, x->at, x->bytes);
	case 1:
		return p->write(u->side, port, 0, t, x->at, x->bytes);
	case 2:
		return p->atomic(u->side, port, 0, t, x->at & ~UINT64_C(7), 8);
	default:
		return p->read(u->side, port, 0, t, x->at & ~UINT64_C(63), 64);
	}
}

static void compare_ports(const struct side_port *a, const struct side_port *b)
{
	assert_int_equal(a->free_at, b->free_at);
	assert_int_equal(a->data_at, b->data_at);
	assert_int_equal(a->requests, b->requests);
	assert_int_equal(a->bypassed, b->bypassed);
	assert_int_equal(a->outstanding, b->outstanding);
	for (uint32_t k = 0; k < SIDE_SLOTS; k++) {
		/* one that is empty before the port is free is so */
		assert_int_equal(a->slot[k] > a->free_at ? a->slot[k] : 0,
			b->slot[k] > b->free_at ? b->slot[k] : 0);
		assert_true(a->slot[k] <= a->calm_at);
	}
}

static void compare(const struct unit *x, const struct unit *y)
{
	const struct l2 *a = side_l2_of(x->side)->l2;
	const struct l2 *b = side_l2_of(y->side)->l2;
	const struct l2_counts p = l2_counts(a, 0), q = l2_counts(b, 0);

	for (uint32_t i = 0; i < PORTS; i++)
		compare_ports(&x->port[i], &y->port[i]);
	assert_memory_equal(a->nodes[0]->free, b->nodes[0]->free,
		SIDE_SLOTS * sizeof(sim_time));
	assert_memory_equal(&p, &q, sizeof(p));
}

/* Requests with a mean distance, so that few or most are in each other's
 * way. */
static void run(uint32_t distance, uint64_t seed)
{
	struct unit x, y;
	sim_time t = 0;
	uint64_t n = 0;

	open_unit(&x, true);
	open_unit(&y, false);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct asked k = draw(seed, &n);

		assert_int_equal(ask(&x, &k, t), ask(&y, &k, t));
		t += dice(seed, &n, 2 * distance + 1);
		if (i % 64 == 0)
			compare(&x, &y);
	}
	compare(&x, &y);
	side_free(x.side);
	side_free(y.side);
}

static void what_is_in_nobodys_way_takes_as_long_in_closed_form(void **state)
{
	run(40 * SIM_NS, 1); /* apart */
	run(2 * SIM_NS, 2);
	run(0, 3); /* all at once */
}

TESTS(TEST(what_is_in_nobodys_way_takes_as_long_in_closed_form))
