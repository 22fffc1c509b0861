#include <string.h>

#include "coll/class_route.h"
#include "coll/tree_proof.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

struct fixture {
	struct torus t;
	struct topo_grid g;
	struct topo_box all, box;
	router_id root; /* the partition's */
};

static void begin(struct fixture *f, const char *shape)
{
	torus_make(&f->t, shape, NULL);
	assert_true(topo_grid_of(&f->t.topo, &f->g));
	f->all = topo_box_all(&f->g);
	f->root = class_root(&f->g, &f->all);
	memset(&f->box, 0, sizeof(f->box));
}

/* Counts through the boxes; false after the last one. */
static bool next_box(struct fixture *f)
{
	struct topo_box *b = &f->box;

	for (uint32_t i = 0; i < f->t.n_dims; i++) {
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

	for (uint32_t i = 0; i < f->t.n_dims; i++) {
		r += (f->box.first[i] + k % f->box.length[i]) * f->t.stride[i];
		k /= f->box.length[i];
	}
	return r;
}

static uint32_t n_nodes(const struct fixture *f)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < f->t.n_dims; i++)
		n *= f->box.length[i];
	return n;
}

static struct class_route route(const struct fixture *f, router_id r)
{
	return class_route_build(&f->g, &f->box, f->root, r, CLASS_SUB);
}

/* Of a node from the partition's root, in hops without wrap links. */
static uint32_t distance(const struct fixture *f, router_id r)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < f->t.n_dims; i++) {
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

	assert_true(topo_box_has(&f->box, &f->g, up));
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
	assert_int_equal(look_at_all("4x4x4x4x2"), 10 * 10 * 10 * 10 * 3);
}

static void trees_know_any_lengths(void **state)
{
	assert_int_equal(look_at_all("6x5x3"), 21 * 15 * 6);
	assert_int_equal(look_at_all("7"), 28);
	assert_int_equal(look_at_all("2x1x1"), 3);
}

static uint32_t depth(const struct fixture *f)
{
	uint32_t n, most = 0;
	port_id port;

	for (uint32_t i = 0; i < n_nodes(f); i++) {
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

	begin(&f, "4x4x4x4x2");
	for (uint32_t i = 0; i < 9; i++) {
		memcpy(f.box.length, lengths[i], sizeof(lengths[i]));
		assert_int_equal(depth(&f), i + 1);
	}
}

static void the_whole_machine_goes_by_e_first_and_its_middle_last(void **state)
{
	struct class_route r;
	struct fixture f;

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

/* --- the proof --- */

enum { AP = 1, AM = 2, BP = 4, BM = 8, EAR = CLASS_LOCAL_BIT };

/* Registers on a line of four nodes or a square of sixteen; NULL where all
 * steps hold, or why the first one does not. */
static const char *why_not(const char *shape, enum tree_root root,
	const struct class_register *v, size_t n, char letter)
{
	static char text[256];
	const struct tree_params params = { .root = root };
	struct proof p = { .is_proved = true };
	struct fixture f;
	uint32_t i = 0;

	begin(&f, shape);
	tree_prove(&p, &f.t.topo, &params, v, n);
	assert_true(p.n_steps <= 3);
	while (i < p.n_steps && p.step[i].holds)
		i++;
	assert_int_equal(p.is_proved, i == p.n_steps);
	if (i < p.n_steps) {
		assert_int_equal(p.step[i].letter, letter - 'e' + 'a');
		snprintf(text, sizeof(text), "%s", p.step[i].why);
	}
	proof_free(&p);
	return p.is_proved ? NULL : text;
}

#define REFUSED(part, letter, ...)                                             \
	do {                                                                   \
		const struct class_register v[] = { __VA_ARGS__ };             \
		const char *why = why_not("4", TREE_ROOT_PARTITION, v,         \
			sizeof(v) / sizeof(v[0]), letter);                     \
                                                                               \
		assert_non_null(why);                                          \
		if (!strstr(why, part))                                        \
			fail_msg("said: %s", why);                             \
	} while (0)

/* The root of a line of four is node 2. */
static void registers_that_are_no_trees_are_not_proved(void **state)
{
	REFUSED("A+ of node 0 (0) leads to a node that does not name", 'e',
		{ 0, 3, { EAR, AP, CLASS_SUB } });
	REFUSED("A- of node 1 (1) is an input that no node sends to", 'e',
		{ 1, 3, { EAR | AM, 0, CLASS_SUB } });
	REFUSED("is not the only output", 'e',
		{ 1, 3, { EAR, AP | AM, CLASS_SUB } });
	REFUSED("is an input and the output", 'e',
		{ 1, 3, { EAR | AP, AP, CLASS_SUB } });
	REFUSED("has no wire", 'e', { 1, 3, { EAR, 1 << 9, CLASS_SUB } });
	REFUSED("nodes 0 and 3 are both roots", 'e',
		{ 0, 3, { EAR, 0, CLASS_SUB } },
		{ 3, 3, { EAR, 0, CLASS_SUB } });
	/* a ring, over its wrap link */
	REFUSED("leads back to itself", 'e',
		{ 0, 3, { EAR | AM, AP, CLASS_SUB } },
		{ 1, 3, { EAR | AM, AP, CLASS_SUB } },
		{ 2, 3, { EAR | AM, AP, CLASS_SUB } },
		{ 3, 3, { EAR | AM, AP, CLASS_SUB } });
}

static void registers_that_oppose_each_other_are_not_proved(void **state)
{
	static const struct class_register fine[] = {
		{ 1, 3, { EAR, AP, CLASS_SUB } },
		{ 2, 3, { EAR | AM, 0, CLASS_SUB } },
		{ 2, 4, { EAR | AM, 0, CLASS_SUB } },
		{ 1, 4, { EAR, AP, CLASS_SUB } },
	};

	assert_null(why_not("4", TREE_ROOT_PARTITION, fine, 4, 0));
	REFUSED("up for route 3 and down for the boxes of A = 1 to 2", 'f',
		{ 1, 3, { EAR | AP, 0, CLASS_SUB } },
		{ 2, 3, { EAR, AM, CLASS_SUB } });
	/* by the wrap link, which no box uses */
	REFUSED("up for route 3 and down for route 4", 'f',
		{ 0, 3, { EAR | AM, 0, CLASS_SUB } },
		{ 3, 3, { EAR, AP, CLASS_SUB } },
		{ 0, 4, { EAR, AM, CLASS_SUB } },
		{ 3, 4, { EAR | AP, 0, CLASS_SUB } });
	/* not on one channel: nothing but boxes */
	REFUSED("up for route 4 and down for the boxes of A = 0 to 1", 'f',
		{ 0, 3, { EAR | AM, 0, CLASS_SUB } },
		{ 3, 3, { EAR, AP, CLASS_SUB } },
		{ 0, 4, { EAR | AM | AP, 0, CLASS_WORLD } },
		{ 1, 4, { EAR, AM, CLASS_WORLD } },
		{ 3, 4, { EAR, AP, CLASS_WORLD } });
}

/* BGQ-F24 */
static void world_and_system_on_one_link_are_not_proved(void **state)
{
	REFUSED("route 0 and route 14 both use A+ of node 0", 'f',
		{ 0, 14, { EAR, AP, CLASS_SYSTEM } },
		{ 1, 14, { EAR | AM, 0, CLASS_SYSTEM } });
}

static void a_silent_member_beside_another_route_is_not_proved(void **state)
{
	REFUSED("node 1 (1) forwards route 3 without contributing", 'g',
		{ 0, 3, { EAR, AP, CLASS_SUB } },
		{ 1, 3, { AM, AP, CLASS_SUB } },
		{ 2, 3, { EAR | AM, 0, CLASS_SUB } },
		{ 1, 4, { EAR, AP, CLASS_SUB } },
		{ 2, 4, { EAR | AM, 0, CLASS_SUB } });
}

/* Wherever trees of two boxes can lock there is a link that is up for one and
 * down for the other, and the intervals know it. */
static void intervals_say_of_boxes_what_all_pairs_of_boxes_do(void **state)
{
	static const char *const shape[] = { "3x2", "2x2x2", "2x1x3", "4",
		"5x2" };

	for (uint32_t i = 0; i < 5; i++) {
		bool clash = false;
		struct fixture f;
		router_id r;

		begin(&f, shape[i]);
		uint32_t up[64] = { 0 };

		while (next_box(&f)) {
			f.root = class_root(&f.g, &f.box);
			for (r = 0; r < f.t.topo.n_routers; r++)
				if (topo_box_has(&f.box, &f.g, r))
					up[r] |= route(&f, r).output;
		}
		for (r = 0; r < f.t.topo.n_routers; r++) {
			uint32_t m;

			for (m = up[r]; m; m &= m - 1) {
				struct topo_end far = torus_ops.peer(&f.t.topo,
					r, (port_id)__builtin_ctz(m));

				clash |= up[far.router] >> far.port & 1;
			}
		}
		assert_int_equal(clash,
			why_not(shape[i], TREE_ROOT_BOX, NULL, 0, 'f') != NULL);
		assert_null(why_not(shape[i], TREE_ROOT_PARTITION, NULL, 0, 0));
	}
}

TESTS(TEST(bgq_f48_each_box_of_a_midplane_has_one_tree),
	TEST(trees_know_any_lengths),
	TEST(growing_boxes_have_the_papers_depths),
	TEST(registers_that_are_no_trees_are_not_proved),
	TEST(registers_that_oppose_each_other_are_not_proved),
	TEST(world_and_system_on_one_link_are_not_proved),
	TEST(a_silent_member_beside_another_route_is_not_proved),
	TEST(intervals_say_of_boxes_what_all_pairs_of_boxes_do),
	TEST(the_whole_machine_goes_by_e_first_and_its_middle_last))
