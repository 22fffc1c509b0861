#include <string.h>

#include "coll/box.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

struct fixture {
	struct torus t;
	struct coll_box all, box;
};

static void begin(struct fixture *f, const char *shape)
{
	torus_make(&f->t, shape, NULL);
	f->all = coll_box_whole(&f->t);
	memset(&f->box, 0, sizeof(f->box));
	f->box.n_dims = f->all.n_dims;
}

/* Counts through the boxes; false after the last one. */
static bool next_box(struct fixture *f)
{
	struct coll_box *b = &f->box;
	uint32_t i;

	for (i = 0; i < b->n_dims; i++) {
		if (b->length[i] == 0) { /* the very first */
			for (i = 0; i < b->n_dims; i++)
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

static struct coll_branch branch(
	const struct fixture *f, router_id r, bool *is_in)
{
	uint32_t at[TORUS_MAX_DIMS];

	coll_box_coords(&f->t, r, at);
	assert_int_equal(coll_box_node(&f->t, at), r);
	*is_in = coll_box_has(&f->box, at);
	return coll_box_branch(&f->all, &f->box, at);
}

/* The box's nodes, counted from 0. */
static router_id node_of(const struct fixture *f, uint32_t k)
{
	uint32_t i, at[TORUS_MAX_DIMS];

	for (i = 0; i < f->box.n_dims; i++) {
		at[i] = f->box.first[i] + k % f->box.length[i];
		k /= f->box.length[i];
	}
	return coll_box_node(&f->t, at);
}

/* Of a node from the partition's root, in hops without wrap links. */
static uint32_t distance(const struct fixture *f, router_id r)
{
	uint32_t i, sum = 0, root[TORUS_MAX_DIMS];

	coll_box_root(&f->all, &f->all, root);
	for (i = 0; i < f->t.n_dims; i++) {
		uint32_t x = torus_coord(&f->t, r, i);

		sum += x > root[i] ? x - root[i] : root[i] - x;
	}
	return sum;
}

/* Parent and child agree, and the parent is nearer to the root. */
static void look_up(const struct fixture *f, router_id r, port_id parent)
{
	struct topo_end up = torus_ops.peer(&f->t.topo, r, parent);
	struct coll_branch b;
	bool is_in;

	b = branch(f, up.router, &is_in);
	assert_true(is_in);
	assert_true(b.children >> up.port & 1);
	assert_int_equal(distance(f, up.router) + 1, distance(f, r));
}

static void look_at_tree(const struct fixture *f)
{
	uint32_t i, n = coll_box_nodes(&f->box), n_roots = 0, n_children = 0;
	uint32_t root[TORUS_MAX_DIMS];
	bool is_in;

	coll_box_root(&f->all, &f->box, root);
	for (i = 0; i < n; i++) {
		router_id r = node_of(f, i);
		struct coll_branch b = branch(f, r, &is_in);

		assert_true(is_in);
		n_children += (uint32_t)__builtin_popcountll(b.children);
		if (b.parent != TOPO_NO_PORT) {
			assert_false(b.children >> b.parent & 1);
			look_up(f, r, b.parent);
			continue;
		}
		n_roots++;
		assert_int_equal(coll_box_node(&f->t, root), r);
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
	bool is_in;

	for (i = 0; i < coll_box_nodes(&f->box); i++) {
		router_id r = node_of(f, i);
		struct coll_branch b = branch(f, r, &is_in);

		for (n = 0; b.parent != TOPO_NO_PORT; n++) {
			r = torus_ops.peer(&f->t.topo, r, b.parent).router;
			b = branch(f, r, &is_in);
		}
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
	uint32_t at[TORUS_MAX_DIMS] = { 0, 0, 0, 0, 0 };
	struct coll_branch b;
	struct fixture f;

	(void)state;
	begin(&f, "16x16x16x12x2");
	b = coll_box_branch(&f.all, &f.all, at);
	assert_int_equal(b.parent, 8); /* E+ */
	assert_int_equal(b.children, 0);
	at[4] = 1;
	b = coll_box_branch(&f.all, &f.all, at);
	assert_int_equal(b.parent, 0); /* A+ */
	assert_int_equal(b.children, 1 << 9); /* E- */
	at[0] = at[1] = at[2] = 8;
	at[3] = 6;
	b = coll_box_branch(&f.all, &f.all, at);
	assert_int_equal(b.parent, TOPO_NO_PORT);
	assert_int_equal(b.children, 0x2ff); /* all but E+: the far end */
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
