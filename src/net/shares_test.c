/* Shares of a line of four nodes, whose wire in the middle is long, and longer
 * seen from its end. */
#include "net/shares.h"

#include <string.h>

#include "sim/cluster.h"
#include "testing/testing.h"

enum { NODES = 4, WINDOW = 100 };

static struct topo_end peer(const struct topo *t, router_id r, port_id p)
{
	router_id to = p ? r - 1 : r + 1;

	(void)t;
	if (p ? !r : to == NODES)
		return (struct topo_end){ NO_ROUTER, 0 };
	return (struct topo_end){ to, p ^ 1 };
}

static uint32_t wire(const struct topo *t, router_id r, port_id p)
{
	(void)t;
	return (p ? r - 1 : r) == 1 ? 1 + p : 0;
}

static const struct topo_ops line = { .peer = peer, .wire = wire };

/* The leads of one of n processes. */
static void share(uint32_t n, struct room *room, uint8_t *lead)
{
	static const sim_time least[] = { WINDOW + 1, 5 * WINDOW - 1,
		6 * WINDOW };
	const struct topo t = { .ops = &line,
		.n_nodes = NODES,
		.n_routers = NODES,
		.n_ports = 2,
		.node_ports = 2,
		.n_wires = 3 };
	struct cluster c = { .n = n, .room = room };
	const struct sim_params p = { .n_sites = NODES,
		.n_workers = 1,
		.window = WINDOW,
		.cluster = &c };
	struct net_shares x;

	net_share_out(&x, &t, &p, least);
	memcpy(lead, x.lead, (size_t)n * n);
	net_shares_fini(&x);
}

static void mail_between_processes_takes_as_long_as_their_wires(void **state)
{
	static const uint8_t two[] = { 0, 4, 4, 0 };
	static const uint8_t four[] = { 0, 1, 0, 0, 1, 0, 4, 0, 0, 4, 0, 1, 0,
		0, 1, 0 };
	static const uint8_t own[NODES * NODES] = { [1] = 1, [NODES] = 1 };
	uint8_t lead[NODES * NODES];
	char room;

	share(2, NULL, lead);
	assert_memory_equal(lead, two, sizeof(two));
	share(NODES, (struct room *)(void *)&room, lead);
	assert_memory_equal(lead, four, sizeof(four));
	share(NODES, NULL, lead);
	assert_memory_equal(lead, own, sizeof(own));
	(void)state;
}

TESTS(TEST(mail_between_processes_takes_as_long_as_their_wires))
