#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"
#include "topo/torus_testing.h"

static const struct topo_ops *ops = &torus_ops;

/* A torus read from text, as a machine file would give it. */
static int read_torus(
	struct torus *t, const char *shape, const char *wrap, struct err *e)
{
	return torus_read(t, shape, wrap, e) || ops->init(&t->topo, e) ? -1 : 0;
}

static void make(struct torus *t, const char *shape, const char *wrap)
{
	struct err e = { 0 };

	if (read_torus(t, shape, wrap, &e))
		fail_msg("%s", e.text);
}

/* One to six dimensions of any kind; small ones, for there are many. */
static void make_any(struct torus *t, uint64_t *n)
{
	struct err e = { 0 };
	uint32_t room = 600;

	assert_int_equal(torus_read(t, NULL, NULL, &e), 0);
	t->shape.n = 1 + dice(3, n, TORUS_MAX_DIMS);
	t->wrap.n = dice(3, n, (uint32_t)t->shape.n + 1);
	t->board.n = dice(3, n, (uint32_t)t->shape.n + 1);
	t->midplane.n = dice(3, n, (uint32_t)t->shape.n + 1);
	for (uint32_t i = 0; i < t->shape.n; i++) {
		t->shape.v[i] = 1 + dice(3, n, room < 9 ? room : 9);
		room /= (uint32_t)t->shape.v[i];
		t->wrap.v[i] = dice(3, n, 3);
		t->board.v[i] = 1 + dice(3, n, 4);
		t->midplane.v[i] = t->board.v[i] * (1 + dice(3, n, 3));
	}
	t->inner.n = dice(3, n, 2);
	t->inner.v[0] = dice(3, n, TORUS_MAX_DIMS);
	assert_int_equal(ops->init(&t->topo, &e), 0);
}

static struct topo_end peer(const struct torus *t, router_id r, port_id p)
{
	return ops->peer(&t->topo, r, p);
}

static unsigned many(void)
{
	return getenv("WEFT_SLOW") ? 100 : 1000;
}

static void for_any_torus(
	void (*f)(const struct torus *t, router_id r, port_id p))
{
	uint64_t n = 0;
	struct torus t;

	for (unsigned i = 0; i < many(); i++) {
		make_any(&t, &n);
		for (router_id r = 0; r < t.topo.n_routers; r++)
			for (port_id p = 0; p < t.topo.n_ports; p++)
				f(&t, r, p);
	}
}

/* --- wires --- */

static void comes_back(const struct torus *t, router_id r, port_id p)
{
	struct topo_end f = peer(t, r, p), b;

	if (f.router == NO_ROUTER)
		return;
	assert_true(f.router < t->topo.n_routers);
	assert_true(f.port < t->topo.n_ports);
	b = peer(t, f.router, f.port);
	assert_int_equal(b.router, r);
	assert_int_equal(b.port, p);
}

static void a_wire_leads_there_and_back(void **state)
{
	for_any_torus(comes_back);
}

/* Port 2i goes up in dimension i and 2i+1 down; nothing else changes. */
static void goes_one_step(const struct torus *t, router_id r, port_id p)
{
	struct topo_end f = peer(t, r, p);

	if (f.router == NO_ROUTER)
		return;
	assert_int_equal(f.port, p ^ 1);
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t x = torus_coord(t, r, i);
		uint32_t y = torus_coord(t, f.router, i);
		uint32_t from = p % 2 ? y : x, to = p % 2 ? x : y;

		if (i == p / 2)
			assert_int_equal((from + 1) % t->dim[i], to);
		else
			assert_int_equal(x, y);
	}
}

static void a_wire_goes_one_step_in_one_dimension(void **state)
{
	for_any_torus(goes_one_step);
}

/* A line ends at its ends, and a single router needs a loop to be wired. */
static void exists_or_not(const struct torus *t, router_id r, port_id p)
{
	uint32_t i = p / 2, d = t->dim[i], x = torus_coord(t, r, i);
	int64_t last = t->wrap.n - 1;
	int64_t wrap = last < 0 ? TORUS_WRAP : t->wrap.v[i < last ? i : last];
	int missing = 0;

	if (wrap == TORUS_MESH)
		missing = p % 2 ? x == 0 : x == d - 1;
	if (wrap == TORUS_WRAP)
		missing = d == 1;
	assert_int_equal(peer(t, r, p).router == NO_ROUTER, missing);
}

static void only_lines_and_single_routers_lack_wires(void **state)
{
	for_any_torus(exists_or_not);
}

static void is_alike(const struct torus *t, router_id r, port_id p)
{
	struct topo_end f = peer(t, r, p);

	if (f.router == NO_ROUTER)
		return;
	assert_int_equal(ops->wire(&t->topo, r, p),
		ops->wire(&t->topo, f.router, f.port));
}

static void a_wire_is_of_one_class_seen_from_both_ends(void **state)
{
	for_any_torus(is_alike);
}

static void a_router_number_is_its_coordinates(void **state)
{
	uint64_t n = 0;
	struct torus t;

	for (unsigned i = 0; i < many(); i++) {
		make_any(&t, &n);
		for (router_id r = 0; r < t.topo.n_routers; r++) {
			router_id sum = 0;
			uint32_t size = 1;

			for (uint32_t k = 0; k < t.n_dims; k++) {
				assert_true(torus_coord(&t, r, k) < t.dim[k]);
				sum += torus_coord(&t, r, k) * size;
				size *= t.dim[k];
			}
			assert_int_equal(sum, r);
			assert_int_equal(size, t.topo.n_routers);
		}
	}
}

/* How many routers can be reached from router 0. */
static uint32_t reachable(const struct torus *t)
{
	uint32_t n = t->topo.n_routers, n_found = 1, at = 0;
	router_id *list = mem_alloc(n, sizeof(*list));
	uint8_t *found = mem_alloc(n, 1);

	for (found[0] = 1; at < n_found; at++) {
		for (port_id p = 0; p < t->topo.n_ports; p++) {
			router_id r = peer(t, list[at], p).router;

			if (r == NO_ROUTER || found[r])
				continue;
			found[r] = 1;
			list[n_found++] = r;
		}
	}
	mem_free(list);
	mem_free(found);
	return n_found;
}

static void every_router_can_be_reached(void **state)
{
	uint64_t n = 0;
	struct torus t;

	for (unsigned i = 0; i < many(); i++) {
		make_any(&t, &n);
		assert_int_equal(reachable(&t), t.topo.n_routers);
	}
}

/* --- short dimensions --- */

static void a_ring_of_two_has_two_wires(void **state)
{
	struct torus t;

	make(&t, "2", "torus");
	/* Each of the four ends belongs to one of two wires. */
	assert_int_equal(peer(&t, 0, 0).router, 1);
	assert_int_equal(peer(&t, 0, 0).port, 1);
	assert_int_equal(peer(&t, 0, 1).router, 1);
	assert_int_equal(peer(&t, 0, 1).port, 0);
	make(&t, "2", "mesh");
	assert_int_equal(peer(&t, 0, 0).router, 1);
	assert_int_equal(peer(&t, 0, 1).router, NO_ROUTER);
	assert_int_equal(peer(&t, 1, 0).router, NO_ROUTER);
}

static void a_single_router_is_wired_to_itself_only_by_a_loop(void **state)
{
	struct torus t;

	for (port_id p = 0; p < 2; p++) {
		make(&t, "1", "torus");
		assert_int_equal(peer(&t, 0, p).router, NO_ROUTER);
		make(&t, "1", "mesh");
		assert_int_equal(peer(&t, 0, p).router, NO_ROUTER);
		make(&t, "1", "loop");
		assert_int_equal(peer(&t, 0, p).router, 0);
		assert_int_equal(peer(&t, 0, p).port, p ^ 1);
		assert_int_equal(ops->wire(&t.topo, 0, p), WIRE_LOOP);
	}
}

static void the_last_wrap_holds_for_the_rest(void **state)
{
	struct torus t;

	make(&t, "3x3x3", "torus,mesh");
	assert_true(torus_is_ring(&t, 0));
	assert_false(torus_is_ring(&t, 1));
	assert_false(torus_is_ring(&t, 2));
	make(&t, "3x3", "[]");
	assert_true(torus_is_ring(&t, 0) && torus_is_ring(&t, 1));
}

/* --- real machines --- */

/* Wires by class; each is seen from two ends. */
static void count_wires(const struct torus *t, uint32_t n[N_WIRE_CLASSES])
{
	memset(n, 0, N_WIRE_CLASSES * sizeof(*n));
	for (router_id r = 0; r < t->topo.n_routers; r++)
		for (port_id p = 0; p < t->topo.n_ports; p++)
			if (peer(t, r, p).router != NO_ROUTER)
				n[ops->wire(&t->topo, r, p)]++;
	for (int i = 0; i < N_WIRE_CLASSES; i++) {
		assert_int_equal(n[i] % 2, 0);
		n[i] /= 2;
	}
}

/*
 * BGQ-F2: five dimensions, ten ports; BGQ-F8: 512 nodes, boards of 32;
 * BGQ-F9: only the midplane's surface leaves it.
 */
static void a_blue_gene_q_midplane_has_512_routers_of_10_ports(void **state)
{
	uint32_t n[N_WIRE_CLASSES];
	struct torus t;

	make(&t, "4x4x4x4x2", NULL);
	assert_int_equal(t.topo.n_routers, 512);
	assert_int_equal(t.topo.n_ports, 10);
	count_wires(&t, n);
	/* A to D: 128 rings of four each, of which two wires lie on boards */
	assert_int_equal(n[WIRE_BOARD], 4 * 128 * 2);
	assert_int_equal(n[WIRE_BOARDS], 4 * 128);
	assert_int_equal(n[WIRE_LOOP], 4 * 128);
	assert_int_equal(n[WIRE_MIDPLANES], 0);
	assert_int_equal(n[WIRE_INNER], 2 * 256);
}

/* BGQ-F7 */
static void both_e_ports_lead_to_the_same_partner_on_the_board(void **state)
{
	struct torus t;

	make(&t, "4x4x4x4x2", NULL);
	for (router_id r = 0; r < t.topo.n_routers; r++) {
		router_id partner = r < 256 ? r + 256 : r - 256;

		assert_int_equal(peer(&t, r, 8).router, partner);
		assert_int_equal(peer(&t, r, 9).router, partner);
		assert_int_not_equal(peer(&t, r, 8).port, peer(&t, r, 9).port);
		assert_int_equal(ops->wire(&t.topo, r, 8), WIRE_INNER);
		assert_int_equal(ops->wire(&t.topo, r, 9), WIRE_INNER);
	}
}

/* BGQ-F8, BGQ-F9: the 192 midplanes of Sequoia. */
static void a_machine_of_midplanes_is_cabled_between_them(void **state)
{
	uint32_t n[N_WIRE_CLASSES], all = 16 * 16 * 16 * 12 * 2;
	struct torus t;

	make(&t, "16x16x16x12x2", NULL);
	assert_int_equal(t.topo.n_routers, all);
	count_wires(&t, n);
	/* Of four wires in a row two lie on boards, one joins boards. */
	assert_int_equal(n[WIRE_BOARD], 4 * all / 2);
	assert_int_equal(n[WIRE_BOARDS], 4 * all / 4);
	assert_int_equal(n[WIRE_MIDPLANES], 4 * all / 4);
	assert_int_equal(n[WIRE_LOOP], 0);
	assert_int_equal(n[WIRE_INNER], all);
}

/* BGQ-F8: a single board has no cables that could close its rings. */
static void a_blue_gene_q_board_is_a_mesh_but_in_e(void **state)
{
	uint32_t n[N_WIRE_CLASSES];
	struct torus t;

	make(&t, "2x2x2x2x2", "mesh,mesh,mesh,mesh,torus");
	assert_int_equal(t.topo.n_routers, 32);
	count_wires(&t, n);
	assert_int_equal(n[WIRE_BOARD], 4 * 16);
	assert_int_equal(n[WIRE_INNER], 2 * 16);
	assert_int_equal(n[WIRE_BOARDS] + n[WIRE_LOOP], 0);
}

/* APE-F36: QUonG; APE-G22: its Z links are absent. */
static void quong_is_a_torus_of_4_by_4_by_1(void **state)
{
	struct torus t;

	make(&t, "4x4x1", NULL);
	assert_int_equal(t.topo.n_routers, 16);
	assert_int_equal(t.topo.n_ports, 6);
	for (router_id r = 0; r < 16; r++)
		for (port_id p = 0; p < 6; p++)
			assert_int_equal(
				peer(&t, r, p).router == NO_ROUTER, p >= 4);
}

/* --- words --- */

static void routers_and_ports_have_names(void **state)
{
	char text[64], small[6] = "zzzzz";
	struct torus t;

	make(&t, "16x16x16x12x2", NULL);
	ops->name_router(&t.topo, 0, text, sizeof(text));
	assert_string_equal(text, "(0,0,0,0,0)");
	ops->name_router(&t.topo, t.topo.n_routers - 1, text, sizeof(text));
	assert_string_equal(text, "(15,15,15,11,1)");
	ops->name_router(&t.topo, 1 + 16 * 2, text, sizeof(text));
	assert_string_equal(text, "(1,2,0,0,0)");
	ops->name_router(&t.topo, 0, small, 4);
	assert_string_equal(small, "(0,");
	assert_int_equal(small[4], 'z');
	ops->name_port(&t.topo, 0, 0, text, sizeof(text));
	assert_string_equal(text, "A+");
	ops->name_port(&t.topo, 0, 9, text, sizeof(text));
	assert_string_equal(text, "E-");
}

static void wires_have_names_of_their_own(void **state)
{
	struct torus t;

	make(&t, "4x4", NULL);
	assert_int_equal(t.topo.n_wires, WIRE_IO);
	for (int i = 0; i < WIRE_IO; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(
				t.topo.wire[i].name, t.topo.wire[k].name);
}

static void all_routers_of_a_torus_are_nodes(void **state)
{
	struct torus t;
	struct topo_links l;

	make(&t, "4x3x2", NULL);
	assert_int_equal(t.topo.n_nodes, 24);
	assert_int_equal(t.topo.n_routers, 24);
	assert_int_equal(t.topo.node_ports, t.topo.n_ports);
	l = topo_links(&t.topo);
	assert_int_equal(l.n, 24 * 6);
	assert_int_equal(topo_link(&l, 5, 3), 5 * 6 + 3);
	assert_int_equal(topo_link_key(&l, 33), 33);
}

static void is_refused(const char *shape, const char *what)
{
	struct err e = { 0 };
	struct torus t;

	if (!read_torus(&t, shape, NULL, &e))
		fail_msg("%s is a torus of %u", shape, t.topo.n_routers);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void impossible_shapes_are_refused(void **state)
{
	is_refused("[]", "0 dimensions");
	is_refused("2x2x2x2x2x2x2", "7 dimensions");
	is_refused("4x0x4", "shape");
	is_refused("65537", "65536");
	is_refused("2048x2049", "routers");
	/* 2^64 routers would be none, if nobody looked */
	is_refused("65536x65536x65536x65536x1", "routers");
}

static void the_largest_machine_is_four_million_routers(void **state)
{
	struct torus t;

	make(&t, "2048x2048", NULL);
	assert_int_equal(t.topo.n_routers, TOPO_MAX_ROUTERS);
	assert_int_equal(peer(&t, TOPO_MAX_ROUTERS - 1, 2).router, 2047);
}

static void letters_must_differ(void **state)
{
	struct torus t;
	struct err e = { 0 };

	assert_int_equal(torus_read(&t, "2x2x2", NULL, &e), 0);
	strcpy(t.letters, "xX");
	assert_int_equal(ops->init(&t.topo, &e), -1);
	assert_non_null(strstr(e.text, "twice"));
	strcpy(t.letters, "xy");
	e = (struct err){ 0 };
	assert_int_equal(ops->init(&t.topo, &e), -1);
	assert_non_null(strstr(e.text, "one letter for each of the 3"));
}

static void links_are_counted_once(void **state)
{
	uint64_t n = 0;

	for (int i = 0; i < 20; i++) {
		uint64_t sum = 0, ends = 0;
		struct torus t;
		char shape[64];

		snprintf(shape, sizeof(shape), "%ux%ux%u", 2 + dice(3, &n, 8),
			2 + dice(3, &n, 6), 1 + dice(3, &n, 4));
		make(&t, shape, dice(3, &n, 2) ? "torus" : "mesh,torus");
		for (uint32_t c = 0; c < t.topo.n_wires; c++)
			sum += ops->links(&t.topo, c);
		for (router_id r = 0; r < t.topo.n_routers; r++)
			for (port_id p = 0; p < t.topo.n_ports; p++)
				ends += ops->peer(&t.topo, r, p).router !=
					NO_ROUTER;
		assert_int_equal(2 * sum, ends);
	}
}

/* BGQ-N15: the bisection is 45.7 times that of BG/L's 64x48x32. */
static void the_20_petaflop_machine_is_cut_at_12288_links(void **state)
{
	struct torus t;
	struct topo_cut cut;

	make(&t, "16x16x16x12x2", "torus");
	cut = ops->cut(&t.topo);
	assert_int_equal(cut.links, 12288);
	assert_string_equal(cut.where, "across A");
	make(&t, "64x48x32", "torus");
	cut = ops->cut(&t.topo);
	assert_int_equal(cut.links, 3072);
	assert_true(fabs(12288 * 2000.0 / (3072 * 175.0) - 45.7) < 0.05);
	make(&t, "4x1", "mesh");
	assert_int_equal(ops->cut(&t.topo).links, 1);
	make(&t, "1", "torus");
	assert_int_equal(ops->cut(&t.topo).links, 0);
}

/* Looks at every wire until no distance becomes shorter. */
static void search_from(const struct torus *t, router_id from, uint32_t *hops)
{
	bool again = true;

	memset(hops, 0xff, t->topo.n_routers * sizeof(*hops));
	hops[from] = 0;
	while (again) {
		again = false;
		for (router_id r = 0; r < t->topo.n_routers; r++)
			for (port_id p = 0; p < t->topo.n_ports; p++) {
				struct topo_end to = peer(t, r, p);

				if (to.router == NO_ROUTER ||
					hops[r] == UINT32_MAX ||
					hops[to.router] <= hops[r] + 1)
					continue;
				hops[to.router] = hops[r] + 1;
				again = true;
			}
	}
}

static void distances_are_those_of_a_search(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (uint32_t k = 0; k < 50; k++) {
		struct err e = { 0 };
		struct torus t;
		uint32_t *hops;
		router_id from;

		make_any(&t, &n);
		t.nodes = k % 3;
		t.node_up = t.node_down = 1;
		assert_int_equal(ops->init(&t.topo, &e), 0);
		hops = mem_alloc(t.topo.n_routers, sizeof(*hops));
		from = dice(4, &n, t.topo.n_routers);
		search_from(&t, from, hops);
		for (router_id r = 0; r < t.topo.n_routers; r++)
			assert_int_equal(
				ops->distance(&t.topo, from, r), hops[r]);
		mem_free(hops);
	}
}

TESTS(TEST(distances_are_those_of_a_search), TEST(a_wire_leads_there_and_back),
	TEST(a_wire_goes_one_step_in_one_dimension),
	TEST(only_lines_and_single_routers_lack_wires),
	TEST(a_wire_is_of_one_class_seen_from_both_ends),
	TEST(a_router_number_is_its_coordinates),
	TEST(every_router_can_be_reached), TEST(a_ring_of_two_has_two_wires),
	TEST(a_single_router_is_wired_to_itself_only_by_a_loop),
	TEST(the_last_wrap_holds_for_the_rest),
	TEST(a_blue_gene_q_midplane_has_512_routers_of_10_ports),
	TEST(both_e_ports_lead_to_the_same_partner_on_the_board),
	TEST(a_machine_of_midplanes_is_cabled_between_them),
	TEST(a_blue_gene_q_board_is_a_mesh_but_in_e),
	TEST(quong_is_a_torus_of_4_by_4_by_1),
	TEST(routers_and_ports_have_names), TEST(wires_have_names_of_their_own),
	TEST(all_routers_of_a_torus_are_nodes),
	TEST(impossible_shapes_are_refused),
	TEST(the_largest_machine_is_four_million_routers),
	TEST(letters_must_differ), TEST(links_are_counted_once),
	TEST(the_20_petaflop_machine_is_cut_at_12288_links))
