#include <string.h>

#include "coll/class_route.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

struct fixture {
	struct torus t;
	struct class_box all, box;
	router_id root; /* the partition's */
};

static void begin(struct fixture *f, const char *shape)
{
	torus_make(&f->t, shape, NULL);
	f->all = class_box_all(&f->t);
	f->root = class_root(&f->t, &f->all);
	memset(&f->box, 0, sizeof(f->box));
}

/* Counts through the boxes; false after the last one. */
static bool next_box(struct fixture *f)
{
	struct class_box *b = &f->box;
	uint32_t i;

	for (i = 0; i < f->t.n_dims; i++) {
		if (b->length[i] == 0) { /* the very first */
			for (i = 0; i < f->t.n_dims; i++)
				b->length[i] = 1;
			return true;
		}
		if (b->first[i] + b->length[i] < f->all.length[i]) {
			b->length[i]++;
			return true;
		}
		b->length[i] = 1;
		if (++b->first[i] < f->all.length[i])
			return true;
		b->first[i] = 0;
	}
	return false;
}

/* The box's nodes, counted from 0. */
static router_id node_of(const struct fixture *f, uint32_t k)
{
	router_id r = 0;
	uint32_t i;

	for (i = 0; i < f->t.n_dims; i++) {
		r += (f->box.first[i] + k % f->box.length[i]) * f->t.stride[i];
		k /= f->box.length[i];
	}
	return r;
}

static uint32_t n_nodes(const struct fixture *f)
{
	uint32_t i, n = 1;

	for (i = 0; i < f->t.n_dims; i++)
		n *= f->box.length[i];
	return n;
}

static struct class_route route(const struct fixture *f, router_id r)
{
	return class_route_build(&f->t, &f->box, f->root, r, CLASS_SUB);
}

/* Of a node from the partition's root, in hops without wrap links. */
static uint32_t distance(const struct fixture *f, router_id r)
{
	uint32_t i, sum = 0;

	for (i = 0; i < f->t.n_dims; i++) {
		uint32_t x = torus_coord(&f->t, r, i);
		uint32_t to = torus_coord(&f->t, f->root, i);

		sum += x > to ? x - to : to - x;
	}
	return sum;
}

static router_id parent(const struct fixture *f, router_id r, port_id *port)
{
	struct topo_end up = torus_ops.peer(
		&f->t.topo, r, (port_id)__builtin_ctz(route(f, r).output));

	*port = up.port;
	return up.router;
}

/* Parent and child agree, and the parent is nearer to the root. */
static void look_up(const struct fixture *f, router_id r)
{
	port_id port;
	router_id up = parent(f, r, &port);

	assert_true(class_box_has(&f->box, &f->t, up));
	assert_true(route(f, up).inputs >> port & 1);
	assert_int_equal(distance(f, up) + 1, distance(f, r));
}

static void look_at_tree(const struct fixture *f)
{
	uint32_t i, n = n_nodes(f), n_roots = 0, n_children = 0;

	for (i = 0; i < n; i++) {
		router_id r = node_of(f, i);
		struct class_route x = route(f, r);

		assert_true(x.inputs & CLASS_LOCAL_BIT);
		assert_false(x.inputs & x.output);
		assert_false(x.output & (x.output - 1));
		n_children += (uint32_t)__builtin_popcount(x.inputs) - 1;
		if (x.output) {
			look_up(f, r);
			continue;
		}
		n_roots++;
		assert_int_equal(class_root_of(&f->t, &f->box, f->root), r);
	}
	assert_int_equal(n_roots, 1);
	assert_int_equal(n_children, n - 1);
}

static uint32_t look_at_all(const char *shape)
{
	uint32_t n = 0;
	struct fixture f;

	begin(&f, shape);
	while (next_box(&f)) {
		look_at_tree(&f);
		n++;
	}
	return n;
}

static void bgq_f48_each_box_of_a_midplane_has_one_tree(void **state)
{
	(void)state;
	assert_int_equal(look_at_all("4x4x4x4x2"), 10 * 10 * 10 * 10 * 3);
}

static void trees_know_any_lengths(void **state)
{
	(void)state;
	assert_int_equal(look_at_all("6x5x3"), 21 * 15 * 6);
	assert_int_equal(look_at_all("7"), 28);
	assert_int_equal(look_at_all("2x1x1"), 3);
}

static uint32_t depth(const struct fixture *f)
{
	uint32_t i, n, most = 0;
	port_id port;

	for (i = 0; i < n_nodes(f); i++) {
		router_id r = node_of(f, i);

		for (n = 0; route(f, r).output; n++)
			r = parent(f, r, &port);
		most = n > most ? n : most;
	}
	return most;
}

static void growing_boxes_have_the_papers_depths(void **state)
{
	static const uint32_t lengths[][5] = { { 1, 1, 1, 1, 2 },
		{ 1, 1, 1, 2, 2 }, { 1, 1, 1, 4, 2 }, { 1, 1, 2, 4, 2 },
		{ 1, 1, 4, 4, 2 }, { 1, 2, 4, 4, 2 }, { 1, 4, 4, 4, 2 },
		{ 2, 4, 4, 4, 2 }, { 4, 4, 4, 4, 2 } };
	struct fixture f;
	uint32_t i;

	(void)state;
	begin(&f, "4x4x4x4x2");
	for (i = 0; i < 9; i++) {
		memcpy(f.box.length, lengths[i], sizeof(lengths[i]));
		assert_int_equal(depth(&f), i + 1);
	}
}

static void the_whole_machine_goes_by_e_first_and_its_middle_last(void **state)
{
	struct class_route r;
	struct fixture f;

	(void)state;
	begin(&f, "16x16x16x12x2");
	f.box = f.all;
	r = route(&f, 0);
	assert_int_equal(r.output, 1 << 8); /* E+ */
	assert_int_equal(r.inputs, CLASS_LOCAL_BIT);
	r = route(&f, f.t.stride[4]);
	assert_int_equal(r.output, 1); /* A+ */
	assert_int_equal(r.inputs, CLASS_LOCAL_BIT | 1 << 9); /* E- */
	r = route(&f, f.root);
	assert_int_equal(r.output, 0);
	/* all but E+: the far end */
	assert_int_equal(r.inputs, CLASS_LOCAL_BIT | 0x2ff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bgq_f48_each_box_of_a_midplane_has_one_tree),
		cmocka_unit_test(trees_know_any_lengths),
		cmocka_unit_test(growing_boxes_have_the_papers_depths),
		cmocka_unit_test(
			the_whole_machine_goes_by_e_first_and_its_middle_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
