/* Sides by hand calculation, with the parameters that a machine file gets. */
#include <string.h>

#include "base/mem.h"
#include "host/side.h"
#include "testing/testing.h"

struct testing {
	struct side *side;
	void *params;
	struct param_block block;
};

static struct testing start(const char *kind)
{
	struct testing m = { 0 };
	struct err e = { 0 };
	uint32_t i = 0;

	while (strcmp(side_registry[i]->name, kind) != 0)
		i++;
	m.params = mem_alloc(1, side_registry[i]->params_size);
	m.block = (struct param_block){
		.section = "side",
		.rows = side_registry[i]->params,
		.n_rows = side_registry[i]->n_params,
		.values = m.params,
	};
	param_defaults(&m.block);
	m.side = side_new(side_registry[i], m.params, 3, 1, &e);
	assert_non_null(m.side);
	return m;
}

static void end(struct testing *m)
{
	side_free(m->side);
	mem_free(m->params);
}

/* A whole read whose request is made at t, with nothing in its way. */
static sim_time read_all(struct side *s, site_id node, sim_time t, uint32_t n)
{
	return s->ops->data(s, node, s->ops->request(s, node, t, 0, n), 0, n);
}

static void every_side_has_its_parameters_and_calls(void **state)
{
	uint32_t i;

	for (i = 0; side_registry[i]; i++) {
		struct testing m = start(side_registry[i]->name);
		const struct side_ops *ops = m.side->ops;

		assert_true(m.side->most_read >= 64);
		assert_true(m.side->n_reads >= 1);
		/* nodes do not know of each other */
		assert_true(read_all(m.side, 0, 1000, 64) > 1000);
		assert_true(read_all(m.side, 1, 1000, 64) ==
			    read_all(m.side, 2, 1000, 64));
		assert_true(ops->write(m.side, 1, 1000, 64, 8) > 1000);
		assert_true(ops->store(m.side, 2, 1000, 8) >= 1000);
		assert_true(ops->memory(m.side) > 0);
		end(&m);
	}
	assert_int_equal(i, 4);
}

/*
 * An L2 hit takes 80 ns to be read, 70 to be written; a slice is busy with a
 * line for 5 ns, and the lines of a page are in 16 of them.
 */
static void l2_is_as_its_slices_are(void **state)
{
	struct testing m = start("l2");
	struct side *s = m.side;

	assert_true(read_all(s, 0, 0, 128) == 80 * SIM_NS);
	/* line 0 is asked for again, and half of line 1 */
	assert_true(s->ops->write(s, 0, 0, 0, 192) == 75 * SIM_NS);
	assert_true(s->ops->atomic(s, 0, 200 * SIM_NS, 64) == 270 * SIM_NS);
	/* 17 lines: two are in one slice */
	assert_true(s->ops->request(s, 1, 0, 0, 17 * 128) == 85 * SIM_NS);
	assert_true(s->ops->store(s, 1, 7, 8) == 7);
	end(&m);
}

/*
 * Clocks of 7.5 ns for 8 B: a read waits 750 ns, then 100.9 ns and 64 clocks;
 * writes and reads share the bus, with 6.8 ns where it turns round.
 */
static void pcix_has_one_direction(void **state)
{
	struct testing m = start("pcix");
	struct side *s = m.side;

	assert_true(s->ops->request(s, 0, 0, 0, 512) == 750000);
	assert_true(s->ops->data(s, 0, 750000, 0, 512) ==
		    750000 + 100900 + 64 * 7500);
	assert_true(s->ops->write(s, 0, 750000, 0, 8) ==
		    750000 + 100900 + 64 * 7500 + 6800 + 100900 + 7500 + 76000);
	/* a store of 64 B: 82.5 ns and 8 clocks, and 200 ns of bridge */
	assert_true(s->ops->store(s, 1, 0, 64) == 82500 + 60000 + 200000);
	assert_null(s->ops->atomic);
	end(&m);
}

/*
 * 9.6 GB/s each way, that is 416.67 ps for 4 B: a request of 12 B takes
 * 1.25 ns, its answer of 4 + 64 B 7.084, a write of 12 + 64 B 7.917.
 */
static void hypertransport_has_two(void **state)
{
	struct testing m = start("ht");
	struct side *s = m.side;
	sim_time first, second;

	first = s->ops->request(s, 0, 0, 0, 64);
	second = s->ops->request(s, 0, 0, 64, 64);
	assert_true(first == 1250 + 100000);
	assert_true(second == 2500 + 100000);
	/* behind the requests, but not behind the data */
	assert_true(s->ops->write(s, 0, 0, 0, 64) == 2500 + 7917 + 50000);
	assert_true(s->ops->data(s, 0, first, 0, 64) == first + 7084);
	assert_true(s->ops->data(s, 0, second, 64, 64) == first + 2 * 7084);
	assert_true(s->ops->store(s, 1, 0, 64) == 7917 + 20000);
	end(&m);
}

/*
 * 4 GB/s each way, 1 ns for 4 B: a request of 24 B takes 6 ns, 512 B come in
 * four packets of 128 + 24 B, 38 ns each.
 */
static void pcie_has_two_and_packets(void **state)
{
	struct testing m = start("pcie");
	struct side *s = m.side;
	sim_time first;

	first = s->ops->request(s, 0, 0, 0, 512);
	assert_true(first == 6000 + 832000);
	assert_true(s->ops->data(s, 0, first, 0, 512) == first + 4 * 38000);
	assert_true(s->ops->write(s, 0, first, 0, 4096) ==
		    first + 32 * 38000 + 150000);
	assert_true(
		s->ops->store(s, 0, 0, 8) == first + 4 * 38000 + 8000 + 150000);
	assert_int_equal(m.side->most_read, 512);
	assert_int_equal(m.side->n_reads, 16);
	end(&m);
}

static void sizes_that_do_not_fit_are_refused(void **state)
{
	struct testing m = start("l2");
	struct err e = { 0 };

	assert_int_equal(param_assign(&m.block, 1, "side.l2.ways=3",
				 "parameter", "", &e),
		0);
	assert_null(side_new(m.side->ops, m.params, 1, 1, &e));
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	end(&m);
}

/* What one processor writes is in nobody else's way. */
static void processors_have_connections_of_their_own(void **state)
{
	struct testing m = start("pcie");
	struct err e = { 0 };
	struct side *s = side_new(m.side->ops, m.params, 2, 2, &e);
	site_id one = side_place(s, 1, 0), other = side_place(s, 1, 1);
	sim_time alone = s->ops->write(s, one, 0, 0, 4096);

	assert_int_equal(s->n_places, 4);
	assert_int_equal(one, 2);
	assert_true(s->ops->write(s, one, 0, 0, 4096) > alone);
	assert_true(s->ops->write(s, other, 0, 0, 4096) == alone);
	assert_true(s->ops->write(s, side_place(s, 0, 1), 0, 0, 4096) == alone);
	side_free(s);
	end(&m);
}

TESTS(TEST(every_side_has_its_parameters_and_calls),
	TEST(l2_is_as_its_slices_are), TEST(pcix_has_one_direction),
	TEST(hypertransport_has_two), TEST(pcie_has_two_and_packets),
	TEST(processors_have_connections_of_their_own),
	TEST(sizes_that_do_not_fit_are_refused))
