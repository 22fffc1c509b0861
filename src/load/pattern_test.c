#include <string.h>

#include "base/mem.h"
#include "load/pattern.h"
#include "sim/random.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

static uint64_t bits(uint64_t n)
{
	return random_draw(1, 0, RANDOM_TEST, n).a;
}

static void make(
	struct pattern *p, enum pattern_kind kind, const struct torus *t)
{
	struct err e = { 0 };

	*p = (struct pattern){ .kind = kind };
	if (pattern_init(p, &t->topo, 1, &e))
		fail_msg("%s", e.text);
}

/* --- fixed patterns --- */

/*
 * Nobody gets two streams; who would send to itself is idle, and nobody
 * sends to it.
 */
static uint32_t check_permutation(const struct pattern *p)
{
	uint8_t *taken = mem_alloc(p->n, 1);
	uint32_t n_idle = 0;

	for (site_id i = 0; i < p->n; i++) {
		site_id to = pattern_target(p, i, 0, 0);

		if (to == NO_SITE) {
			n_idle++;
			assert_false(taken[i]);
			taken[i] = 1;
			continue;
		}
		assert_true(to < p->n);
		assert_int_not_equal(to, i);
		assert_false(taken[to]);
		taken[to] = 1;
	}
	mem_free(taken);
	return n_idle;
}

static void fixed_patterns_are_permutations(void **state)
{
	static const char *const shapes[] = { "4x4x4x4x2", "8x8", "16", "2x2",
		"5x3", "7", "4x4x1" };
	struct pattern p;
	struct torus t;

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		torus_make(&t, shapes[i], "torus");
		for (int k = PATTERN_TRANSPOSE; k <= PATTERN_PERMUTATION; k++) {
			struct err e = { 0 };

			p = (struct pattern){ .kind = (enum pattern_kind)k };
			if (!pattern_init(&p, &t.topo, 1, &e))
				check_permutation(&p);
			pattern_fini(&p);
		}
	}
}

/* Packet after packet, whatever the draw. */
static void a_fixed_target_stays(void **state)
{
	struct pattern p;
	struct torus t;

	torus_make(&t, "4x4", "torus");
	make(&p, PATTERN_PERMUTATION, &t);
	for (site_id i = 0; i < p.n; i++)
		for (uint64_t k = 0; k < 20; k++)
			assert_int_equal(pattern_target(&p, i, k, bits(k)),
				pattern_target(&p, i, 0, 0));
	pattern_fini(&p);
}

/* Both turn back on themselves, and leave some nodes where they are. */
static void transpose_and_reversal_undo_themselves(void **state)
{
	static const enum pattern_kind kinds[] = { PATTERN_TRANSPOSE,
		PATTERN_REVERSE, PATTERN_COMPLEMENT };
	struct pattern p;
	struct torus t;

	torus_make(&t, "4x4x4x4x4", "torus"); /* 2^10 nodes */
	for (int k = 0; k < 3; k++) {
		uint32_t idle;

		make(&p, kinds[k], &t);
		idle = check_permutation(&p);
		assert_int_equal(idle, k < 2 ? 32 : 0);
		for (site_id i = 0; i < p.n; i++) {
			site_id to = pattern_target(&p, i, 0, 0);

			if (to != NO_SITE)
				assert_int_equal(
					pattern_target(&p, to, 0, 0), i);
		}
		pattern_fini(&p);
	}
}

static void target_is(const struct pattern *p, site_id from, site_id to)
{
	assert_int_equal(pattern_target(p, from, 0, 0), to);
}

static void patterns_do_what_their_names_say(void **state)
{
	struct pattern p;
	struct torus t;

	torus_make(&t, "8x8", "torus");
	make(&p, PATTERN_TRANSPOSE, &t); /* (x, y) to (y, x) */
	target_is(&p, 3 + 8 * 5, 5 + 8 * 3);
	target_is(&p, 3 + 8 * 3, NO_SITE);
	pattern_fini(&p);
	make(&p, PATTERN_REVERSE, &t);
	target_is(&p, 1, 32); /* 000001 to 100000 */
	target_is(&p, 0x16, 0x1a); /* 010110 to 011010 */
	pattern_fini(&p);
	make(&p, PATTERN_TORNADO, &t); /* three further, in both */
	target_is(&p, 0, 3 + 8 * 3);
	target_is(&p, 6 + 8 * 5, 1 + 8 * 0);
	pattern_fini(&p);
	make(&p, PATTERN_COMPLEMENT, &t);
	target_is(&p, 2 + 8 * 7, 5 + 8 * 0);
	pattern_fini(&p);
}

/* Just under half way: the shortest way never ties. */
static void a_tornado_goes_under_half_way_round(void **state)
{
	struct pattern p;
	struct torus t;
	char shape[8];

	for (uint32_t d = 3; d < 40; d++) { /* of two: nobody sends */
		uint32_t far = (d + 1) / 2 - 1;

		shape[0] = (char)('0' + d / 10);
		shape[1] = (char)('0' + d % 10);
		shape[2] = '\0';
		torus_make(&t, shape, "torus");
		make(&p, PATTERN_TORNADO, &t);
		assert_true(2 * far < d && 2 * (far + 1) >= d);
		for (site_id i = 0; i < d; i++)
			target_is(&p, i, far ? (i + far) % d : NO_SITE);
		pattern_fini(&p);
	}
}

static void a_permutation_is_drawn_from_the_seed(void **state)
{
	enum { SEEDS = 2000, N = 8 };
	uint32_t seen[N][N] = { 0 };
	struct torus t;

	torus_make(&t, "8", "torus");
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct pattern p = { .kind = PATTERN_PERMUTATION };
		struct err e = { 0 };

		assert_int_equal(pattern_init(&p, &t.topo, seed, &e), 0);
		check_permutation(&p);
		for (site_id i = 0; i < N; i++) {
			site_id to = pattern_target(&p, i, 0, 0);

			seen[i][to == NO_SITE ? i : to]++;
		}
		pattern_fini(&p);
	}
	/* Every target as often: 250, within five deviations. */
	for (site_id i = 0; i < N; i++)
		for (site_id k = 0; k < N; k++)
			assert_in_range(seen[i][k], 250 - 75, 250 + 75);
}

/* --- drawn targets --- */

static void random_targets_are_all_others_alike(void **state)
{
	enum { N = 9, DRAWS = 16000 }; /* 2000 each, within five deviations */
	uint32_t seen[N] = { 0 };
	struct pattern p;
	struct torus t;

	torus_make(&t, "3x3", "torus");
	make(&p, PATTERN_RANDOM, &t);
	for (uint64_t k = 0; k < DRAWS; k++)
		seen[pattern_target(&p, 4, k, bits(k))]++;
	for (site_id i = 0; i < N; i++)
		if (i == 4)
			assert_int_equal(seen[i], 0);
		else
			assert_in_range(seen[i], 2000 - 210, 2000 + 210);
	/* The ends of the draw are the first and the last of the others. */
	assert_int_equal(pattern_target(&p, 0, 0, 0), 1);
	assert_int_equal(pattern_target(&p, 8, 0, UINT64_MAX), 7);
	assert_int_equal(pattern_target(&p, 0, 0, UINT64_MAX), 8);
	pattern_fini(&p);
}

/* A share, and its part of what is left. */
static void a_hot_spot_gets_its_share(void **state)
{
	enum { DRAWS = 20000 };
	struct pattern p;
	struct torus t;

	torus_make(&t, "4x4", "torus");
	for (uint32_t share = 0; share <= 1000000; share += 250000) {
		uint32_t hot = 0, want;

		make(&p, PATTERN_HOTSPOT, &t);
		p.hot = 5;
		p.share_ppm = share;
		for (uint64_t k = 0; k < DRAWS; k++) {
			site_id to = pattern_target(&p, 2, k, bits(k));

			assert_int_not_equal(to, 2);
			hot += to == 5;
			/* It sends to all others, and not to itself. */
			to = pattern_target(&p, 5, k, bits(k));
			assert_true(to < 16 && to != 5);
		}
		want = (uint32_t)(DRAWS *
				  (share / 1e6 + (1 - share / 1e6) / 15));
		assert_in_range(hot, want - 350, want + 350);
		if (share == 1000000)
			assert_int_equal(hot, DRAWS);
		pattern_fini(&p);
	}
}

/* The draws that miss the hot spot are still spread over all others. */
static void what_misses_the_hot_spot_is_spread(void **state)
{
	enum { N = 16, DRAWS = 28000 }; /* half of it: 933 each */
	uint32_t seen[N] = { 0 };
	struct pattern p;
	struct torus t;

	torus_make(&t, "4x4", "torus");
	make(&p, PATTERN_HOTSPOT, &t);
	p.hot = 15;
	p.share_ppm = 500000;
	for (uint64_t k = 0; k < DRAWS; k++)
		seen[pattern_target(&p, 0, k, bits(k))]++;
	for (site_id i = 1; i < 15; i++)
		assert_in_range(seen[i], 933 - 155, 933 + 155);
	pattern_fini(&p);
}

/* --- neighbours --- */

static void neighbours_are_the_far_ends_of_all_wires_in_turn(void **state)
{
	struct pattern p;
	struct torus t;

	torus_make(&t, "4x4x4x4x2", "torus");
	make(&p, PATTERN_NEIGHBOUR, &t);
	for (site_id i = 0; i < p.n; i++)
		for (uint64_t k = 0; k < 25; k++)
			assert_int_equal(pattern_target(&p, i, k, 0),
				torus_ops.peer(&t.topo, i, (port_id)(k % 10))
					.router);
	pattern_fini(&p);
}

/* On a mesh some ports have no wire, and a loop of one leads nowhere. */
static void every_neighbour_gets_a_turn_and_nobody_else(void **state)
{
	static const char *const wraps[] = { "mesh", "torus", "loop" };
	struct pattern p;
	struct torus t;

	for (int w = 0; w < 3; w++) {
		torus_make(&t, "3x1x4x2", wraps[w]);
		make(&p, PATTERN_NEIGHBOUR, &t);
		for (site_id i = 0; i < p.n; i++) {
			uint8_t is[24] = { 0 }, got[24] = { 0 };

			for (port_id k = 0; k < t.topo.n_ports; k++) {
				site_id r =
					torus_ops.peer(&t.topo, i, k).router;
				site_id to = pattern_target(&p, i, k, 0);

				assert_true(to < p.n && to != i);
				got[to] = 1;
				if (r != NO_ROUTER && r != i)
					is[r] = 1;
			}
			assert_memory_equal(is, got, sizeof(is));
		}
		pattern_fini(&p);
	}
}

/* --- what is refused --- */

static void is_refused(const char *shape, struct pattern p, const char *what)
{
	struct err e = { 0 };
	struct torus t;

	torus_make(&t, shape, "torus");
	assert_int_equal(pattern_init(&p, &t.topo, 1, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
	pattern_fini(&p);
}

static void patterns_that_do_not_fit_are_refused(void **state)
{
	struct pattern p = { .kind = PATTERN_HOTSPOT, .hot = 16 };

	for (int k = PATTERN_RANDOM; k <= PATTERN_HOTSPOT; k++)
		is_refused("1x1",
			(struct pattern){ .kind = (enum pattern_kind)k },
			"two nodes");
	is_refused("4x4x4x4x2", (struct pattern){ .kind = PATTERN_TRANSPOSE },
		"512");
	is_refused("6x6", (struct pattern){ .kind = PATTERN_TRANSPOSE }, "36");
	is_refused("6x6", (struct pattern){ .kind = PATTERN_REVERSE }, "36");
	is_refused("4x4", p, "16");
}

/* Sixteen nodes and as many switches that nobody sends to. */
static const struct topo_ops other = { .name = "graph" };
static const struct topo graph = {
	.ops = &other,
	.n_nodes = 16,
	.n_routers = 32,
	.n_ports = 2,
};

static void coordinates_are_needed_by_tornado_and_neighbours(void **state)
{
	static const enum pattern_kind kinds[] = { PATTERN_TORNADO,
		PATTERN_NEIGHBOUR };

	for (int i = 0; i < 2; i++) {
		struct pattern p = { .kind = kinds[i] };
		struct err e = { 0 };

		assert_int_equal(pattern_init(&p, &graph, 1, &e), -1);
		assert_non_null(strstr(e.text, "torus"));
		pattern_fini(&p);
	}
}

/* QSN-F85: node i and its mirror in the other half. */
static void qsn_f85_without_coordinates_halves_are_mirrored(void **state)
{
	struct pattern p = { .kind = PATTERN_COMPLEMENT };
	struct err e = { 0 };

	assert_int_equal(pattern_init(&p, &graph, 1, &e), 0);
	for (site_id i = 0; i < 16; i++)
		assert_int_equal(pattern_target(&p, i, 0, 0), 15 - i);
	pattern_fini(&p);
}

static void nobody_sends_to_a_switch(void **state)
{
	static const enum pattern_kind kinds[] = { PATTERN_RANDOM,
		PATTERN_TRANSPOSE, PATTERN_REVERSE, PATTERN_PERMUTATION,
		PATTERN_HOTSPOT };

	for (int i = 0; i < 5; i++) {
		struct pattern p = { .kind = kinds[i], .hot = 3 };
		struct err e = { 0 };

		assert_int_equal(pattern_init(&p, &graph, 1, &e), 0);
		assert_int_equal(p.n, 16);
		for (uint32_t k = 0; k < 1600; k++) {
			site_id to = pattern_target(&p, k % 16, k, bits(k));

			assert_true(to == NO_SITE || to < 16);
		}
		pattern_fini(&p);
	}
}

TESTS(TEST(fixed_patterns_are_permutations), TEST(a_fixed_target_stays),
	TEST(transpose_and_reversal_undo_themselves),
	TEST(patterns_do_what_their_names_say),
	TEST(a_tornado_goes_under_half_way_round),
	TEST(a_permutation_is_drawn_from_the_seed),
	TEST(random_targets_are_all_others_alike),
	TEST(a_hot_spot_gets_its_share),
	TEST(what_misses_the_hot_spot_is_spread),
	TEST(neighbours_are_the_far_ends_of_all_wires_in_turn),
	TEST(every_neighbour_gets_a_turn_and_nobody_else),
	TEST(patterns_that_do_not_fit_are_refused),
	TEST(coordinates_are_needed_by_tornado_and_neighbours),
	TEST(qsn_f85_without_coordinates_halves_are_mirrored),
	TEST(nobody_sends_to_a_switch))
