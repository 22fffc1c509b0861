#include <stdio.h>
#include <string.h>

#include "testing/testing.h"
#include "topo/torus_testing.h"

static void make(struct torus *t, const char *shape)
{
	torus_make(t, shape, NULL);
	t->wires = TORUS_PACKAGED;
}

static int divide(const struct torus *t, const uint32_t *from,
	const uint32_t *size, struct topo_partition *p)
{
	struct err e = { 0 };

	return t->topo.ops->partition(&t->topo, from, size, p, &e);
}

static void bgq_f84_a_partition_is_a_torus_where_it_is_4_or_n_long(void **state)
{
	uint32_t n, k;

	for (n = 4; n <= 16; n += 4)
		for (k = 4; k <= n; k += 4)
			for (uint32_t at = 0; at + k <= n; at += 4) {
				uint32_t from[] = { 0, 0, 0, at, 0 };
				uint32_t size[] = { 4, 4, 4, k, 2 };
				struct topo_partition p;
				char shape[32];
				struct torus t;

				snprintf(shape, sizeof(shape), "4x4x4x%ux2", n);
				make(&t, shape);
				assert_int_equal(divide(&t, from, size, &p), 0);
				assert_int_equal(
					p.rings >> 3 & 1, k == n || k == 4);
				assert_int_equal(p.rings | 8, 31);
			}
}

static void boards_of_a_midplane_are_a_mesh_but_in_e(void **state)
{
	static const uint32_t from[] = { 2, 0, 0, 4, 0 };
	static const uint32_t size[] = { 2, 4, 4, 4, 2 };
	struct topo_partition p;
	struct torus t;

	make(&t, "4x4x4x8x2");
	assert_int_equal(divide(&t, from, size, &p), 0);
	assert_false(p.is_whole);
	assert_string_equal(p.joined, "E");
	assert_string_equal(p.set[0], "topology.shape=2x4x4x4x2");
	assert_string_equal(
		p.set[1], "topology.wrap=mesh,mesh,mesh,mesh,torus");
	assert_string_equal(p.set[2], "topology.corner=2x0x0x4x0");
}

static void a_partition_cuts_no_board_and_no_midplane(void **state)
{
	static const uint32_t bad[][2][5] = {
		{ { 0, 0, 0, 2, 0 }, { 4, 4, 4, 4, 2 } }, /* of two midplanes */
		{ { 0, 0, 0, 0, 0 }, { 4, 4, 4, 6, 2 } },
		{ { 0, 0, 0, 0, 0 }, { 1, 4, 4, 4, 2 } }, /* of a board */
		{ { 1, 0, 0, 0, 0 }, { 2, 4, 4, 4, 2 } },
		{ { 0, 0, 0, 0, 0 }, { 4, 4, 4, 4, 1 } },
	};
	struct topo_partition p;
	struct torus t;

	make(&t, "4x4x4x8x2");
	t.wires = TORUS_UNIFORM;
	assert_int_equal(divide(&t, bad[0][0], bad[0][1], &p), -1);
	t.wires = TORUS_PACKAGED;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(divide(&t, bad[i][0], bad[i][1], &p), -1);
}

/* --- IO nodes --- */

enum { IO_PORT = 10 };

static int make_io(struct torus *t, const char *shape, int64_t every,
	int64_t links, struct err *e)
{
	assert_int_equal(torus_read(t, shape, NULL, e), 0);
	t->io_every = every;
	t->io_links = links;
	return t->topo.ops->init(&t->topo, e);
}

static struct topo_end peer(const struct torus *t, router_id r, port_id p)
{
	return t->topo.ops->peer(&t->topo, r, p);
}

/* Ports of a site that have a wire, a bit each. */
static uint32_t wired(const struct torus *t, router_id r)
{
	uint32_t ports = 0;

	for (port_id p = 0; p < t->topo.n_ports; p++)
		if (peer(t, r, p).router != NO_ROUTER)
			ports |= 1u << p;
	return ports;
}

static void bgq_f3_some_nodes_have_an_eleventh_link_to_an_io_node(void **state)
{
	struct err e = { 0 };
	uint32_t n_exits = 0;
	struct torus t;

	assert_int_equal(make_io(&t, "4x4x4x8x2", 128, 2, &e), 0);
	assert_int_equal(t.topo.n_nodes, 1024);
	assert_int_equal(t.topo.n_io, 8);
	for (router_id r = 0; r < 1024; r++) {
		struct topo_end io = peer(&t, r, IO_PORT);

		assert_int_equal(wired(&t, r) & 0x3ff, 0x3ff);
		assert_int_equal(torus_is_exit(&t, r), io.router != NO_ROUTER);
		if (io.router == NO_ROUTER)
			continue;
		n_exits++;
		assert_int_equal(io.router, torus_io_of(&t, r));
		assert_int_equal(peer(&t, io.router, io.port).router, r);
		assert_int_equal(peer(&t, io.router, io.port).port, IO_PORT);
		/* the rate of every other link */
		assert_int_equal(
			t.topo.ops->wire(&t.topo, r, IO_PORT), WIRE_IO);
		assert_int_equal(t.topo.wire[WIRE_IO].rate, 0);
	}
	assert_int_equal(n_exits, 16);
	assert_int_equal(t.topo.ops->links(&t.topo, WIRE_IO), 16);
	torus_ops.fini(&t.topo);
}

/* The first router of a router's board. */
static router_id first_of(const struct torus *t, router_id r)
{
	router_id first = r;

	for (uint32_t i = 0; i < t->n_dims; i++)
		first -= torus_coord(t, r, i) % 2 * t->stride[i];
	return first;
}

static void an_io_node_serves_boards_of_one_midplane(void **state)
{
	struct err e = { 0 };
	struct torus t;

	assert_int_equal(make_io(&t, "8x4x4x8x2", 128, 2, &e), 0);
	for (router_id r = 0; r < t.n; r++) {
		router_id exit = torus_io_exit(
			&t, torus_io_of(&t, r), torus_io_link(&t, r));

		assert_int_equal(torus_coord(&t, exit, 0) / 4,
			torus_coord(&t, r, 0) / 4);
		assert_int_equal(torus_coord(&t, exit, 3) / 4,
			torus_coord(&t, r, 3) / 4);
		assert_int_equal(
			torus_io_of(&t, r), torus_io_of(&t, first_of(&t, r)));
	}
	torus_ops.fini(&t.topo);
}

static void make_part(struct torus *t, const struct torus *whole,
	const uint32_t *from, const uint32_t *size)
{
	struct topo_partition p;
	struct err e = { 0 };

	assert_int_equal(divide(whole, from, size, &p), 0);
	assert_int_equal(torus_read(t, strchr(p.set[0], '=') + 1, NULL, &e), 0);
	t->io_every = whole->io_every;
	t->io_links = whole->io_links;
	t->whole = whole->shape;
	t->corner.n = whole->shape.n;
	for (uint32_t i = 0; i < whole->shape.n; i++)
		t->corner.v[i] = from[i];
	assert_int_equal(t->topo.ops->init(&t->topo, &e), 0);
}

static void a_midplane_has_its_io_nodes_wherever_it_is(void **state)
{
	static const uint32_t size[] = { 4, 4, 4, 4, 2 };
	struct torus whole, alone, part;
	struct err e = { 0 };
	uint32_t n = 0;

	assert_int_equal(make_io(&whole, "8x4x4x8x2", 128, 2, &e), 0);
	assert_int_equal(make_io(&alone, "4x4x4x4x2", 128, 2, &e), 0);
	for (n = 0; n < 4; n++) {
		const uint32_t from[] = { n % 2 * 4, 0, 0, n / 2 * 4, 0 };

		make_part(&part, &whole, from, size);
		assert_int_equal(part.topo.n_io, 4);
		for (router_id r = 0; r < 516; r++)
			assert_memory_equal(
				(struct topo_end[]){ peer(&part, r, IO_PORT) },
				(struct topo_end[]){ peer(&alone, r, IO_PORT) },
				sizeof(struct topo_end));
		assert_int_equal(torus_io_number(&part, 515), 4 * n + 3);
		torus_ops.fini(&part.topo);
	}
	torus_ops.fini(&alone.topo);
	torus_ops.fini(&whole.topo);
}

/* Of two boards each; the exits are on the first and on the second. */
static void partitions_have_the_io_links_that_end_in_them(void **state)
{
	static const uint32_t size[] = { 2, 2, 2, 2, 2 };
	struct err e = { 0 };
	struct torus whole, part;

	for (uint32_t every = 64; every <= 128; every *= 2) {
		assert_int_equal(make_io(&whole, "4x4x4x4x2", every, 2, &e), 0);
		for (uint32_t k = 0; k < 4; k++) {
			const uint32_t from[] = { k % 2 * 2, k / 2 * 2, 0, 0,
				0 };
			bool has = every == 64 || k % 2 == 0;

			make_part(&part, &whole, from, size);
			assert_int_equal(part.topo.n_io, has);
			for (router_id r = 0; has && r < 32; r++) {
				uint32_t link = every == 64 ? k % 2 : k / 2;

				assert_int_equal(torus_io_of(&part, r), 32);
				assert_int_equal(torus_io_link(&part, r), link);
				assert_int_equal(
					torus_io_exit(&part, 32, link), 0);
				assert_int_equal(
					torus_io_exit(&part, 32, !link),
					NO_ROUTER);
				assert_int_equal(wired(&part, 32),
					1u << (IO_PORT + link));
			}
			torus_ops.fini(&part.topo);
		}
		torus_ops.fini(&whole.topo);
	}
}

/* ... nor any other of the torus's: see weft-machine(5). */
static void bgq_f6_an_io_node_has_no_links_in_e(void **state)
{
	struct err e = { 0 };
	char name[32];
	struct torus t;

	assert_int_equal(make_io(&t, "2x2x2x2x2", 8, 2, &e), 0);
	for (router_id r = 32; r < t.topo.n_routers; r++)
		assert_int_equal(wired(&t, r), 3u << IO_PORT);
	for (router_id r = 0; r < 32; r++)
		assert_int_equal(wired(&t, r) >> 8 & 3, 3);
	t.topo.ops->name_port(&t.topo, 32, 11, name, sizeof(name));
	assert_string_equal(name, "IO1");
	topo_name_site(&t.topo, 35, name, sizeof(name));
	assert_string_equal(name, "IO node 3");
	torus_ops.fini(&t.topo);
}

static void io_nodes_that_cannot_be_are_refused(void **state)
{
	static const struct {
		const char *shape;
		int64_t every, links;
		const char *why;
	} bad[] = {
		{ "4x4", 3, 2, "topology.io.every" },
		{ "4x4", 32, 2, "topology.io.every" },
		{ "4x4", 2, 3, "topology.io.links" },
		{ "2x2x2x2x2x2", 8, 2, "topology.io.every" },
	};
	struct torus t;

	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err e = { 0 };

		assert_int_equal(make_io(&t, bad[i].shape, bad[i].every,
					 bad[i].links, &e),
			-1);
		assert_non_null(strstr(e.text, bad[i].why));
	}
}

TESTS(TEST(bgq_f84_a_partition_is_a_torus_where_it_is_4_or_n_long),
	TEST(boards_of_a_midplane_are_a_mesh_but_in_e),
	TEST(a_partition_cuts_no_board_and_no_midplane),
	TEST(bgq_f3_some_nodes_have_an_eleventh_link_to_an_io_node),
	TEST(bgq_f6_an_io_node_has_no_links_in_e),
	TEST(io_nodes_that_cannot_be_are_refused),
	TEST(an_io_node_serves_boards_of_one_midplane),
	TEST(a_midplane_has_its_io_nodes_wherever_it_is),
	TEST(partitions_have_the_io_links_that_end_in_them))
