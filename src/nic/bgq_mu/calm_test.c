/*
 * Requests in closed form against the same ones one after the other: two
 * units that differ in nothing else are asked for the same at the same times.
 */
#include "host/l2_take.h"
#include "nic/bgq_mu/mu.h"
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { ROUNDS = 20000, PAGES = 40 };

struct unit {
	struct nic_testing m;
	struct nic_at at;
};

static void open_unit(struct unit *u, bool is_plain)
{
	struct mu *mu;

	nic_testing_machine(&u->m, "bgq", "2");
	nic_testing_start(&u->m, 1, 1);
	mu = (struct mu *)u->m.nic;
	assert_true(mu->is_plain);
	mu->is_plain = is_plain;
	u->at = (struct nic_at){ .nic = &mu->nic,
		.node = nic_node(&mu->nic, 0) };
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % below;
}

/* One of the requests that packets and descriptors make, or another one. */
static sim_time ask(const struct nic_at *a, uint32_t what, uint32_t engine,
	uint64_t at, uint32_t bytes)
{
	switch (what) {
	case 0:
		return mu_port_read(a, MU_ASK_INJECT + engine, at, bytes);
	case 1:
		return mu_port_write(a, MU_ASK_WRITE + engine, at, bytes);
	case 2:
		return mu_port_atomic(
			a, MU_ASK_COUNT + engine, at & ~UINT64_C(7), 1);
	default:
		return mu_port_read(a, MU_ASK_FETCH, at & ~UINT64_C(63), 64);
	}
}

static void compare(const struct unit *x, const struct unit *y)
{
	const struct l2_counts p = l2_counts(mu_of(&x->at)->l2, 0);
	const struct l2_counts q = l2_counts(mu_of(&y->at)->l2, 0);
	uint32_t i, k;

	for (i = 0; i < MU_MAX_PORTS; i++) {
		const struct mu_port *a = &mu_here(&x->at)->port[i];
		const struct mu_port *b = &mu_here(&y->at)->port[i];

		assert_int_equal(a->free_at, b->free_at);
		assert_int_equal(a->data_at, b->data_at);
		assert_int_equal(a->requests, b->requests);
		assert_int_equal(a->bypassed, b->bypassed);
		assert_int_equal(a->outstanding, b->outstanding);
		for (k = 0; k < MU_SLICES; k++) {
			/* one that is empty before the port is free is so */
			assert_int_equal(
				a->slot[k] > a->free_at ? a->slot[k] : 0,
				b->slot[k] > b->free_at ? b->slot[k] : 0);
			assert_true(a->slot[k] <= a->calm_at);
			assert_int_equal(mu_of(&x->at)->l2->nodes[0]->free[k],
				mu_of(&y->at)->l2->nodes[0]->free[k]);
		}
	}
	assert_memory_equal(&p, &q, sizeof(p));
}

/* Requests with a mean distance, so that few or most are in each other's
 * way. */
static void run(uint32_t distance, uint64_t seed)
{
	struct unit x, y;
	uint32_t i;

	open_unit(&x, true);
	open_unit(&y, false);
	for (i = 0; i < ROUNDS; i++) {
		uint32_t what = draw(&seed, 4),
			 engine = draw(&seed, MU_NET_FIFOS);
		uint32_t bytes = draw(&seed, 4) ? 512 : 1 + draw(&seed, 512);
		uint64_t at = draw(&seed, PAGES * 32) * UINT64_C(128);
		sim_time one, two;

		at += draw(&seed, 4) ? 0 : draw(&seed, 128);
		one = ask(&x.at, what, engine, at, bytes);
		two = ask(&y.at, what, engine, at, bytes);
		assert_int_equal(one, two);
		x.at.t += draw(&seed, 2 * distance + 1);
		y.at.t = x.at.t;
		if (i % 64 == 0)
			compare(&x, &y);
	}
	compare(&x, &y);
	nic_testing_fini(&x.m);
	nic_testing_fini(&y.m);
}

static void apart(void **state)
{
	(void)state;
	run(40 * SIM_NS, 1);
}

static void close_together(void **state)
{
	(void)state;
	run(2 * SIM_NS, 2);
}

static void all_at_once(void **state)
{
	(void)state;
	run(0, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(apart),
		cmocka_unit_test(close_together),
		cmocka_unit_test(all_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
