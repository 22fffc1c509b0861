#include <stdlib.h>
#include <string.h>

#include "route/hint_testing.h"
#include "testing/testing.h"

static void masks_are(const struct hint *h, uint32_t set, const char *want)
{
	char text[64] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < h->n_zones[set]; i++) {
		if (i)
			text[at++] = ',';
		for (uint32_t d = 0; d < h->torus->n_dims; d++) {
			uint32_t both = h->mask[set][i] >> (2 * d) & 3;

			assert_true(both == 0 || both == 3);
			if (both)
				text[at++] = (char)('A' + d);
		}
	}
	assert_string_equal(text, want);
}

/* BGQ-F37 */
static void zones_of_16x16x12x12x2_are_ab_cd_e(void **state)
{
	struct err e = { 0 };
	struct hint_machine n;

	hint_make_shape(&n, "16x16x12x12x2", TORUS_WRAP);
	masks_are(&n.h, 0, "AB,CD,E");
	masks_are(&n.h, 1, "");
	masks_are(&n.h, 2, "A,B,C,D,E");
	/* the same, programmed */
	assert_int_equal(hint_set_zones(&n.h, 3, "ab,cd,e", &e), 0);
	assert_memory_equal(n.h.allowed[0], n.h.allowed[3],
		(1u << 10) * sizeof(*n.h.allowed[0]));
	hint_unmake(&n);
}

/* A mesh is twice as long as a ring: 8 in a line before 12 in a ring. */
static void a_mesh_counts_for_twice_its_length(void **state)
{
	struct err e = { 0 };
	struct hint_machine n;

	hint_defaults(&n);
	hint_set_shape(&n, "12x8x4", TORUS_WRAP);
	n.t.wrap = (struct param_list){ .n = 3,
		.v = { TORUS_WRAP, TORUS_MESH, TORUS_WRAP } };
	assert_int_equal(hint_try(&n, &e), 0);
	masks_are(&n.h, 0, "B,A,C");
	hint_unmake(&n);
}

static void zones_can_be_written_in_groups(void **state)
{
	struct err e = { 0 };
	struct hint_machine n;

	hint_make_shape(&n, "4x4x4x4x2", TORUS_WRAP);
	masks_are(&n.h, 0, "ABCD,E");
	assert_int_equal(hint_set_zones(&n.h, 0, "E,ABCD", &e), 0);
	masks_are(&n.h, 0, "E,ABCD");
	assert_int_equal(hint_set_zones(&n.h, 0, "C/A|bde", &e), 0);
	masks_are(&n.h, 0, "C,A,BDE");
	assert_int_equal(hint_set_zones(&n.h, 0, "ABCDE", &e), 0);
	masks_are(&n.h, 0, "ABCDE");
	/* BGQ-G6: a dimension may be in several masks */
	assert_int_equal(hint_set_zones(&n.h, 0, "AE,BE,CE,DE", &e), 0);
	masks_are(&n.h, 0, "AE,BE,CE,DE");
	assert_int_equal(n.h.allowed[0][0x155], 0x101);
	hint_unmake(&n);
}

/* --- what is refused --- */

/* Of a midplane, programmed with this order and these zones. */
static int program(struct hint_machine *n, const char *shape, const char *order,
	const char *zones, struct err *e)
{
	int failed;

	hint_defaults(n);
	hint_set_shape(n, shape, TORUS_WRAP);
	if (order)
		strcpy(n->h.order, order);
	if (zones)
		strcpy(n->h.zones[3], zones);
	failed = hint_try(n, e);
	hint_unmake(n);
	return failed;
}

static void is_refused(const char *order, const char *zones, const char *what)
{
	struct err e = { 0 };
	struct hint_machine n;

	if (!program(&n, "4x4x4x4x2", order, zones, &e))
		fail_msg("order \"%s\", zones \"%s\" are taken",
			order ? order : "", zones ? zones : "");
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void bad_orders_are_refused(void **state)
{
	static const char *const bad[] = { "", "ABCD", "ABCDEF", "ABCDD",
		"AABCDE", "ABCDX", "A,B,C,D,E", "longest", "EDCBA ", "12345",
		"ABCDE\xc3\x84" };
	struct err e = { 0 };
	struct hint_machine n;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		is_refused(bad[i], NULL, "routing.order");
	is_refused("ABCD", NULL, "4 of 5");
	is_refused("ABCDX", NULL, "A to E");
	assert_int_equal(program(&n, "4x4x4x4x2", "EDCBA", NULL, &e), 0);
	assert_int_equal(program(&n, "4x4x4x4x2", "cabed", NULL, &e), 0);
}

static void bad_zones_are_refused(void **state)
{
	static const char *const bad[] = { "", ",ABCDE", "AB,,CDE", "ABC,DX",
		"long", "nonee", "A B C D E", "AB;CDE", "ABCDF" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		is_refused(NULL, bad[i], "zones");
	is_refused(NULL, "AB,CD", "leaves out dimension E");
	is_refused(NULL, "BCDE", "leaves out dimension A");
	is_refused(NULL, "ABC,DX", "A to E");
	/* more zones than there are masks */
	is_refused(NULL, "A,B,C,D,E,A,B", "zones");
}

static void zones_know_no_more_letters_than_dimensions(void **state)
{
	struct err e = { 0 };
	struct hint_machine n;

	assert_int_equal(program(&n, "4x4x4", "CBA", "A,BC", &e), 0);
	assert_int_equal(program(&n, "4x4x4", "CBA", "A,BCD", &e), -1);
	assert_non_null(strstr(e.text, "A to C"));
}

static void another_topology_is_refused(void **state)
{
	static const struct topo_ops other = { .name = "graph" };
	struct topo t = { .ops = &other, .n_routers = 4, .n_ports = 2 };
	struct err e = { 0 };
	struct hint_machine n;

	hint_defaults(&n);
	assert_int_equal(hint_ops.init(&n.h.route, &t, &e), -1);
	assert_non_null(strstr(e.text, "torus"));
}

static void the_guards_of_channels_are_told(void **state)
{
	struct hint_machine n;
	struct err e = { 0 };

	hint_make_shape(&n, "4x4", TORUS_WRAP);
	assert_true(n.h.route.bubble && n.h.route.has_escape);
	hint_unmake(&n);
	hint_defaults(&n);
	hint_set_shape(&n, "4x4", TORUS_WRAP);
	n.h.bubble = n.h.escape = 0;
	assert_int_equal(hint_try(&n, &e), 0);
	assert_false(n.h.route.bubble || n.h.route.has_escape);
	hint_unmake(&n);
}

/* --- lengths --- */

/* Crosses the wire on a port and tells the routing; returns where it is. */
static router_id hop(const struct hint_machine *n, struct packet *p,
	router_id at, port_id port)
{
	struct topo_end f = torus_ops.peer(&n->t.topo, at, port);

	assert_true(port < n->t.topo.n_ports);
	assert_int_not_equal(f.router, NO_ROUTER);
	route_arrive(&n->h.route, p, f.router, f.port);
	return f.router;
}

/* From router 0 by a given port; how many hops it was. */
static uint32_t walk_given(
	const struct hint_machine *n, router_id to, port_id port)
{
	struct packet p = { .src = 0, .dst = to };
	router_id at = 0;
	uint32_t hops = 0;

	p.hints = (uint16_t)(1u << port);
	for (route_begin(&n->h.route, &p); p.hints; hops++)
		at = hop(n, &p, at, p.escape);
	assert_int_equal(at, to);
	return hops;
}

/* Hops are counted in a byte: a way that would need more is refused. */
static void a_length_is_refused_or_walked_to_its_end(void **state)
{
	static const char *const shapes[] = { "2", "128", "255", "256", "257",
		"300", "510", "511", "512" };

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		uint32_t d = (uint32_t)atoi(shapes[i]);
		struct err e = { 0 };
		struct hint_machine n;

		hint_defaults(&n);
		hint_set_shape(&n, shapes[i], i % 2 ? TORUS_WRAP : TORUS_LOOP);
		if (hint_try(&n, &e)) {
			assert_true(d > 255);
			assert_non_null(strstr(e.text, "topology.shape"));
		} else {
			assert_int_equal(walk_given(&n, 1, 0), 1);
			assert_int_equal(walk_given(&n, 1, 1), d - 1);
			assert_int_equal(walk_given(&n, d / 2, 0), d / 2);
			assert_int_equal(walk_given(&n, 0, 1), d);
		}
		hint_unmake(&n);
	}
}

static void a_line_of_more_than_255_is_refused(void **state)
{
	struct err e = { 0 };
	struct hint_machine n;

	hint_make_shape(&n, "255", TORUS_MESH);
	assert_int_equal(walk_given(&n, 254, 0), 254);
	hint_unmake(&n);
	hint_defaults(&n);
	hint_set_shape(&n, "2x256", TORUS_MESH);
	assert_int_equal(hint_try(&n, &e), -1);
	assert_non_null(strstr(e.text, "dimension B"));
	hint_unmake(&n);
}

TESTS(TEST(zones_of_16x16x12x12x2_are_ab_cd_e),
	TEST(a_mesh_counts_for_twice_its_length),
	TEST(zones_can_be_written_in_groups), TEST(bad_orders_are_refused),
	TEST(bad_zones_are_refused),
	TEST(zones_know_no_more_letters_than_dimensions),
	TEST(another_topology_is_refused),
	TEST(the_guards_of_channels_are_told),
	TEST(a_length_is_refused_or_walked_to_its_end),
	TEST(a_line_of_more_than_255_is_refused))
