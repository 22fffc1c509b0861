#include <string.h>

#include "testing/testing.h"
#include "topo/topo.h"

/*
 * A ring of four switches with a node each: nodes are 0 to 3, switches 4 to 7.
 * Port 0 of a switch is its node's, 1 leads on and 2 back.  Each case below
 * breaks one thing.
 */
enum { NODES = 4, UP = 0, AROUND };

static struct topo_end peer(const struct topo *t, router_id r, port_id p)
{
	uint32_t s = r - NODES;

	if (r < NODES)
		return p ? (struct topo_end){ .router = NO_ROUTER }
			 : (struct topo_end){ NODES + r, 0 };
	if (!p)
		return (struct topo_end){ s, 0 };
	return p == 1 ? (struct topo_end){ NODES + (s + 1) % NODES, 2 }
		      : (struct topo_end){ NODES + (s + 3) % NODES, 1 };
}

static uint32_t wire(const struct topo *t, router_id r, port_id p)
{
	return r < NODES || !p ? UP : AROUND;
}

static router_id home(const struct topo *t, router_id r)
{
	return r % NODES;
}

static uint32_t grid(const struct topo *t, uint32_t size[TOPO_MAX_DIMS])
{
	size[0] = NODES;
	return 1;
}

static void place(
	const struct topo *t, router_id node, uint32_t x[TOPO_MAX_DIMS])
{
	x[0] = node;
}

static router_id node_at(const struct topo *t, const uint32_t *x)
{
	return x[0];
}

static const struct topo_ops good = {
	.name = "ring",
	.peer = peer,
	.wire = wire,
	.home = home,
	.grid = grid,
	.place = place,
	.node_at = node_at,
};

static struct topo make(const struct topo_ops *ops)
{
	return (struct topo){
		.ops = ops,
		.n_nodes = NODES,
		.n_routers = 2 * NODES,
		.n_ports = 3,
		.node_ports = 1,
		.n_wires = 2,
		.wire = { { .name = "up", .latency = 1000, .logic = 1 },
			{ .name = "around", .latency = 2000 } },
	};
}

static void refuses(const struct topo *t, const char *text)
{
	struct err e = { 0 };

	assert_int_equal(topo_look(t, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, text) ||
		strncmp(e.text, "topology.kind ring: ", 20))
		fail_msg("said: %s", e.text);
}

/* The good one with one function in place of another. */
#define REFUSES(field, with, text)                                             \
	do {                                                                   \
		struct topo_ops bad = good;                                    \
		struct topo t;                                                 \
                                                                               \
		bad.field = with;                                              \
		t = make(&bad);                                                \
		refuses(&t, text);                                             \
	} while (0)

static void a_ring_is_fine(void **state)
{
	struct topo t = make(&good);
	struct err e = { 0 };

	if (topo_look(&t, &e))
		fail_msg("%s", e.text);
}

static struct topo_end one_way(const struct topo *t, router_id r, port_id p)
{
	return r >= NODES && p ? (struct topo_end){ NODES + (r + 1) % NODES, p }
			       : peer(t, r, p);
}

static struct topo_end dangling(const struct topo *t, router_id r, port_id p)
{
	return r == 5 && p == 2 ? (struct topo_end){ .router = NO_ROUTER }
				: peer(t, r, p);
}

static struct topo_end far_away(const struct topo *t, router_id r, port_id p)
{
	return r == 4 && p == 1 ? (struct topo_end){ 8, 1 } : peer(t, r, p);
}

static struct topo_end high_port(const struct topo *t, router_id r, port_id p)
{
	return r == 4 && p == 1 ? (struct topo_end){ 5, 3 } : peer(t, r, p);
}

static struct topo_end itself(const struct topo *t, router_id r, port_id p)
{
	return r == 4 && p == 1 ? (struct topo_end){ 4, 1 } : peer(t, r, p);
}

static struct topo_end at_node(const struct topo *t, router_id r, port_id p)
{
	if (r < NODES && p == 2)
		return (struct topo_end){ r ^ 1, 2 };
	return peer(t, r, p);
}

static void wires_must_have_two_ends_that_name_each_other(void **state)
{
	REFUSES(peer, one_way, "must name each other");
	REFUSES(peer, dangling,
		"peer(4, 1) is router 5, port 2, but that port has no wire");
	REFUSES(peer, far_away,
		"peer(4, 1) is router 8, port 1; want NO_ROUTER, "
		"or a router below 8");
	REFUSES(peer, high_port, "is router 5, port 3; want");
	REFUSES(peer, itself, "peer(4, 1) is that port itself");
	REFUSES(peer, at_node, "node 0 has a wire at port 2");
}

static uint32_t third_class(const struct topo *t, router_id r, port_id p)
{
	return r == 7 && p == 1 ? 2 : wire(t, r, p);
}

static router_id last_switch(const struct topo *t, router_id r)
{
	return r;
}

static port_id past_the_end(const struct topo *t, router_id r, port_id in)
{
	return r == 5 ? 3 : TOPO_NO_PORT;
}

static void classes_homes_and_ports_must_exist(void **state)
{
	REFUSES(wire, third_class, "wire(7, 1) is class 2; want one below");
	REFUSES(home, last_switch, "home(4) is 4; want a node, below 4");
	REFUSES(home, NULL, "router 4 is a switch, so home()");
	REFUSES(straight, past_the_end, "straight(5, 0) is port 3");
}

static uint32_t seven_dims(const struct topo *t, uint32_t size[TOPO_MAX_DIMS])
{
	grid(t, size);
	return TOPO_MAX_DIMS + 1;
}

static void place_outside(
	const struct topo *t, router_id node, uint32_t x[TOPO_MAX_DIMS])
{
	x[0] = node + 1;
}

static router_id at_switch(const struct topo *t, const uint32_t *x)
{
	return x[0] + NODES;
}

static void coordinates_must_fit(void **state)
{
	REFUSES(grid, seven_dims, "grid() returns 7 dimensions");
	REFUSES(place, place_outside, "place(3) is at 4 along dimension 0");
	REFUSES(node_at, at_switch, "node_at() of the place of node 0 is 4");
}

static void counts_must_be_in_range(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *text;
	} bad[] = {
		{ offsetof(struct topo, n_nodes), 0, "n_nodes 0" },
		{ offsetof(struct topo, n_nodes), 9, "n_nodes 9" },
		{ offsetof(struct topo, n_io), UINT32_MAX, "n_io 4294967295" },
		{ offsetof(struct topo, n_routers), TOPO_MAX_ROUTERS + 1,
			"n_routers 4194305" },
		{ offsetof(struct topo, n_ports), 0, "n_ports 0" },
		{ offsetof(struct topo, n_ports), 65, "n_ports 65" },
		{ offsetof(struct topo, node_ports), 0, "node_ports 0" },
		{ offsetof(struct topo, node_ports), 4, "node_ports 4" },
		{ offsetof(struct topo, n_wires), 0, "n_wires 0" },
		{ offsetof(struct topo, n_wires), 14, "n_wires 14" },
	};
	struct topo t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		t = make(&good);
		memcpy((char *)&t + bad[i].at, &bad[i].value, sizeof(uint32_t));
		refuses(&t, bad[i].text);
	}
}

static void classes_must_have_names_and_latencies(void **state)
{
	struct topo t;

	t = make(&good);
	t.wire[1].name = NULL;
	refuses(&t, "wire class 1 has no name");
	t = make(&good);
	t.wire[1].latency = 0;
	refuses(&t, "latency 0 ps");
	t = make(&good);
	t.wire[0].logic = 1001;
	refuses(&t, "logic 1001 ps");
	t = make(&good);
	t.wire[0].rate = -1;
	refuses(&t, "rate -1");
}

TESTS(TEST(a_ring_is_fine), TEST(wires_must_have_two_ends_that_name_each_other),
	TEST(classes_homes_and_ports_must_exist), TEST(coordinates_must_fit),
	TEST(counts_must_be_in_range),
	TEST(classes_must_have_names_and_latencies))
