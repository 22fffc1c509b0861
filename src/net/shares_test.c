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

/* The longest row of nodes that one worker has, and the largest difference of
 * shares. */
static void share_out(
	uint32_t nodes, uint32_t workers, uint32_t *row, uint32_t *difference)
{
	const struct topo t = {
		.ops = &line, .n_nodes = nodes, .n_routers = nodes
	};
	const struct sim_params p = {
		.n_sites = nodes, .n_workers = workers, .window = WINDOW
	};
	uint32_t n[8] = { 0 }, least = nodes, most = 0, now = 0;
	struct net_shares x;

	net_share_out(&x, &t, &p, NULL);
	*row = 0;
	for (uint32_t i = 0; i < nodes; i++) {
		now = i && x.owner[i] == x.owner[i - 1] ? now + 1 : 1;
		*row = now > *row ? now : *row;
		n[x.owner[i]]++;
	}
	for (uint32_t i = 0; i < workers; i++) {
		least = n[i] < least ? n[i] : least;
		most = n[i] > most ? n[i] : most;
	}
	*difference = most - least;
	net_shares_fini(&x);
}

/* So that the nodes of a job are no one worker's. */
static void a_workers_nodes_are_all_over_the_machine(void **state)
{
	static const uint32_t of[][4] = { /* nodes, workers; row, difference */
		{ 1024, 2, 64, 0 }, { 1000, 3, 42, 8 }, { 64, 8, 1, 0 },
		{ 5, 2, 2, 1 }, { 2, 2, 1, 0 }, { 1, 1, 1, 0 }, { 3, 1, 3, 0 },
		{ 2, 4, 1, 1 }
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		uint32_t row, difference;

		share_out(of[i][0], of[i][1], &row, &difference);
		assert_in_range(row, 1, of[i][2]);
		assert_in_range(difference, 0, of[i][3]);
	}
	(void)state;
}

/* A tree: 8 leaves of 4 nodes, and 2 spines. */
enum { LEAVES = 8, EACH = 4, SPINES = 2, SITES = LEAVES * (EACH + 1) + SPINES };

static struct topo_end tree_peer(const struct topo *t, router_id r, port_id p)
{
	router_id leaf = t->n_nodes, spine = leaf + LEAVES;

	if (r < leaf)
		return p ? (struct topo_end){ NO_ROUTER, 0 }
			 : (struct topo_end){ leaf + r / EACH,
				   (port_id)(r % EACH) };
	if (r >= spine)
		return (struct topo_end){ leaf + p,
			(port_id)(EACH + r - spine) };
	if (p >= EACH + SPINES)
		return (struct topo_end){ NO_ROUTER, 0 };
	return p < EACH ? (struct topo_end){ (r - leaf) * EACH + p, 0 }
			: (struct topo_end){ spine + p - EACH,
				  (port_id)(r - leaf) };
}

static router_id tree_home(const struct topo *t, router_id r)
{
	(void)t;
	return r % EACH;
}

/* Sites of a kind that a worker has. */
static uint32_t count(
	const uint8_t *owner, uint32_t worker, router_id first, router_id end)
{
	uint32_t n = 0;

	for (router_id r = first; r < end; r++)
		n += owner[r] == worker;
	return n;
}

/* No worker's nodes, leaves or spines are all busy while others' are idle, even
 * if only the first nodes work. */
static void workers_have_as_many_sites_of_each_kind(void **state)
{
	static const struct topo_ops tree = { .peer = tree_peer,
		.home = tree_home };
	const struct topo t = { .ops = &tree,
		.n_nodes = LEAVES * EACH,
		.n_routers = SITES,
		.n_ports = LEAVES,
		.node_ports = 1 };

	for (uint32_t n = 2; n <= 4; n *= 2) {
		const struct sim_params p = {
			.n_sites = SITES, .n_workers = n, .window = WINDOW
		};
		struct net_shares x;

		net_share_out(&x, &t, &p, NULL);
		for (uint32_t i = 0; i < n; i++) {
			router_id leaf = t.n_nodes, spine = leaf + LEAVES;

			assert_in_range(count(x.owner, i, 0, leaf),
				leaf / n - 1, leaf / n + 1);
			assert_in_range(count(x.owner, i, 0, leaf / 2),
				leaf / 2 / n - 1, leaf / 2 / n + 1);
			assert_in_range(count(x.owner, i, leaf, spine),
				LEAVES / n - 1, LEAVES / n + 1);
			assert_in_range(count(x.owner, i, spine, SITES), 0, 1);
		}
		net_shares_fini(&x);
	}
	(void)state;
}

TESTS(TEST(mail_between_processes_takes_as_long_as_their_wires),
	TEST(a_workers_nodes_are_all_over_the_machine),
	TEST(workers_have_as_many_sites_of_each_kind))
