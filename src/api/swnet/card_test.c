/* Managers of simulated machines: everything by packets, or by JTAG. */
#include <errno.h>
#include <string.h>

#include "coll/multicast.h"
#include "nic/swhni/swhni_testing.h"
#include "sim/random.h"
#include "testing/testing.h"
#include "weft/swnet.h"

enum { NODES = 32, LEAVES = 2, SPINES = 18, UP = 18, SIDE = 36 };

static void init(struct st *m)
{
	*m = (struct st){ .machine = "sunway-32" };
}

static struct weft_swnet *manager(void)
{
	struct weft_swnet *m = NULL;

	assert_int_equal(weft_swnet_open(&m), 0);
	return m;
}

static void run(struct st *m, uint32_t n, void (*f)(struct st *, site_id))
{
	st_run(m, n, f);
	st_fini(m);
}

/* The leaf of nodes 0 to 15; a spine; the other leaf, by that spine. */
static const struct weft_swnet_target leaf = { 0 };

static struct weft_swnet_target spine(uint32_t i)
{
	return (struct weft_swnet_target){ .n_hops = 1,
		.hop = { (uint8_t)(UP + i) } };
}

static struct weft_swnet_target other_leaf(uint32_t i)
{
	return (struct weft_swnet_target){ .n_hops = 2,
		.hop = { (uint8_t)(UP + i), 1 } };
}

static struct weft_swnet_target by_guid(uint64_t guid)
{
	return (struct weft_swnet_target){ .by = WEFT_SWNET_BY_GUID,
		.guid = guid };
}

static struct weft_swnet_target by_jtag(uint32_t chip)
{
	return (struct weft_swnet_target){ .by = WEFT_SWNET_BY_JTAG,
		.chip = chip };
}

/* --- discovery --- */

static void discover(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_map *map = NULL;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	m->word[0] = map->n_devices;
	m->word[1] = map->n_cables;
	m->word[2] = map->silent;
	m->word[3] = weft_swnet_wrong(map, NULL, 0);
	m->end = program_now();
	weft_swnet_map_free(map);
	assert_int_equal(weft_swnet_close(x), 0);
}

/* SUN-F65 */
static void a_machine_is_discovered_by_packets_alone(void **state)
{
	sim_time end = 0;

	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct st m;

		init(&m);
		m.n_workers = workers;
		run(&m, 1, discover);
		/* of each rail */
		assert_int_equal(m.word[0], 2 * (NODES + LEAVES + SPINES));
		assert_int_equal(m.word[1], 2 * (NODES + LEAVES * SPINES + 4));
		assert_int_equal(m.word[2], 0);
		assert_int_equal(m.word[3], 0);
		assert_in_range(m.end, 10 * US, 200 * US);
		assert_true(workers == 1 || m.end == end);
		end = m.end;
	}
}

/* Leaves 0 and 2 of four have exchanged their cables to spine 2. */
static void repair(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_map *map = NULL;
	struct weft_swnet_entries e = { .first = 40 };
	struct weft_swnet_identity id;
	struct weft_swnet_target to;
	uint32_t wrong[4], i;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	assert_int_equal(weft_swnet_wrong(map, wrong, 4), 2);
	for (i = 0; i < 2; i++) {
		const struct weft_swnet_cable *c = &map->cable[wrong[i]];
		uint32_t up = map->device[c->device[0]].level == 2 ? 0 : 1;

		assert_int_equal(map->device[c->device[up]].number, 2);
		assert_int_equal(
			map->device[c->device[!up]].number, c->port[up] ^ 2);
		assert_int_equal(map->device[c->device[0]].rail, 0);
	}
	/* node 40 is behind port 0 of that spine, not behind port 2 */
	to = spine(2);
	assert_int_equal(weft_swnet_read_entry(x, &to, 0, &e), 0);
	assert_int_equal(e.port[0], 2);
	assert_int_equal(weft_swnet_set_tables(x, map, NULL), 0);
	assert_int_equal(weft_swnet_read_entry(x, &to, 0, &e), 0);
	assert_int_equal(e.n_ports, 1);
	assert_int_equal(e.port[0], 0);
	/* now everybody can be reached, by any spine */
	for (i = 0; i < 64; i++) {
		to = by_guid(i);
		assert_int_equal(weft_swnet_identify(x, &to, &id), 0);
		assert_int_equal(id.guid, i);
		assert_false(id.is_switch);
	}
	m->word[0] = 1;
	weft_swnet_map_free(map);
	weft_swnet_close(x);
}

/* SUN-F65 */
static void a_machine_wired_wrong_is_found_and_repaired(void **state)
{
	struct st m;

	init(&m);
	st_set(&m, "topology.nodes=64");
	st_set(&m, "topology.exchanged=0x20x2x20");
	run(&m, 1, repair);
	assert_int_equal(m.word[0], 1);
}

/* --- ways --- */

static void use_all_ways(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_identity a, b, c;
	struct weft_swnet_target to = other_leaf(5);
	sim_time t = program_now();

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_identify(x, &to, &a), 0);
	/* doorbell, card, 8 wires and 5 switches, 3 commands' worth of units */
	assert_in_range(program_now() - t, 1 * US, 3 * US);
	assert_true(a.is_switch);
	assert_int_equal(a.ports, 40);
	assert_int_equal(a.came_by, UP + 5);
	assert_true(a.place == (UINT64_C(1) << 32 | 1));
	to = by_guid(a.guid);
	assert_int_equal(weft_swnet_identify(x, &to, &b), 0);
	assert_true(b.guid == a.guid && b.place == a.place);
	assert_int_equal(b.came_by, WEFT_SWNET_HERE);
	t = program_now();
	to = by_jtag(1);
	assert_int_equal(weft_swnet_identify(x, &to, &c), 0);
	assert_true(program_now() - t == 1 * MS);
	assert_true(c.guid == a.guid && c.place == a.place);
	/* the same place of the other rail */
	to = other_leaf(5);
	to.rail = 1;
	assert_int_equal(weft_swnet_identify(x, &to, &c), 0);
	assert_true(c.guid == a.guid);
	/* a node's interface */
	to = leaf;
	to.hop[to.n_hops++] = 7;
	assert_int_equal(weft_swnet_identify(x, &to, &a), 0);
	assert_false(a.is_switch);
	assert_int_equal(a.ports, 2);
	assert_int_equal(a.came_by, 0);
	assert_true(a.guid == 7 && a.place == 7);
	weft_swnet_close(x);
	m->word[0] = 1;
}

/* SUN-F31, SUN-F66 */
static void a_switch_is_reached_by_route_guid_and_jtag(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, use_all_ways);
	assert_int_equal(m.word[0], 1);
}

/* Node 0 asks in band while nodes 1 and 2 both use JTAG at the same switch. */
static void ask_at_once(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_identity id;
	const struct weft_swnet_target to = by_jtag(0);
	uint64_t n = 0;

	if (node) {
		program_wait(100 * US * node);
		m->word[node] = (uint64_t)weft_swnet_identify(x, &to, &id);
	} else {
		program_wait(400 * US);
		while (program_now() < 1000 * US) {
			assert_int_equal(weft_swnet_identify(x, &leaf, &id), 0);
			n++;
		}
		m->word[0] = n;
	}
	weft_swnet_close(x);
}

/* SUN-F31 */
static void both_paths_are_served_at_once(void **state)
{
	struct st m;

	init(&m);
	run(&m, 3, ask_at_once);
	assert_true(m.word[0] > 300); /* while an access was under way */
	assert_int_equal(m.word[1], 0);
	assert_int_equal(m.word[2], EBUSY);
}

static void look_at_dead_links(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_identity id;
	struct weft_swnet_target to = by_jtag(3);
	uint64_t status[40];

	assert_int_equal(node, 0);
	program_wait(10 * US);
	assert_int_equal(weft_swnet_identify(x, &leaf, &id), ETIMEDOUT);
	assert_int_equal(weft_swnet_identify(x, &to, &id), 0);
	assert_true(id.is_switch);
	assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_ALL,
				 WEFT_SWNET_STATUS, 0, 1, status),
		0);
	for (uint32_t p = 0; p < 40; p++)
		assert_int_equal(status[p], 0);
	m->word[0] = 1;
	weft_swnet_close(x);
}

/* SUN-F31 */
static void jtag_works_with_all_links_down(void **state)
{
	struct st m;

	init(&m);
	st_set(&m, "faults.events=1 us rail 0 dies; 1 us rail 1 dies");
	run(&m, 1, look_at_dead_links);
	assert_int_equal(m.word[0], 1);
}

/* --- commands --- */

static void command_many(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_target to = spine(3);
	uint64_t all[40], one;
	sim_time t = program_now(), single, row;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_PORT(1),
				 WEFT_SWNET_STATUS, 0, 1, all),
		0);
	single = program_now() - t;
	t = program_now();
	assert_int_equal(weft_swnet_write(x, &to, WEFT_SWNET_ALL,
				 WEFT_SWNET_NOTES, 2, 77),
		0);
	m->word[0] = (uint64_t)(program_now() - t);
	/* a write for all takes no longer than a read of one */
	assert_in_range(
		program_now() - t, single - 50 * SIM_NS, single + 50 * SIM_NS);
	t = program_now();
	assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_ALL,
				 WEFT_SWNET_NOTES, 2, 1, all),
		0);
	/* 40 words are collected, and longer on three wires */
	assert_in_range(
		program_now() - t, single + 47 * SIM_NS, single + 400 * SIM_NS);
	t = program_now();
	for (uint32_t p = 0; p < 40; p++) {
		assert_int_equal(all[p], 77);
		assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_PORT(p),
					 WEFT_SWNET_NOTES, 2, 1, &one),
			0);
	}
	row = program_now() - t;
	assert_true(row > 39 * single);
	weft_swnet_close(x);
	m->word[1] = 1;
}

/* SUN-F33 */
static void one_command_acts_on_40_ports(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, command_many);
	assert_int_equal(m.word[1], 1);
}

static void define_command(struct st *m, site_id node)
{
	enum { MARK = 16, LOOK, TURN = 40 };
	const struct weft_swnet_step step[] = { { MARK, 0 }, { LOOK, 0 } };
	struct weft_swnet *x = manager();
	uint64_t word[80] = { 5 };
	uint32_t n = 1;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_command(
				 x, &leaf, WEFT_SWNET_ALL, TURN, word, &n, 80),
		ENOSYS);
	assert_int_equal(
		weft_swnet_define_operation(x, &leaf, WEFT_SWNET_ALL, MARK,
			WEFT_SWNET_DO_WRITE, WEFT_SWNET_NOTES, 3),
		0);
	/* the agents of a row do something else */
	assert_int_equal(
		weft_swnet_define_operation(x, &leaf, WEFT_SWNET_ROW(4), MARK,
			WEFT_SWNET_DO_SET, WEFT_SWNET_NOTES, 3),
		0);
	assert_int_equal(weft_swnet_define_operation(x, &leaf, WEFT_SWNET_ALL,
				 LOOK, WEFT_SWNET_DO_READ, WEFT_SWNET_NOTES, 3),
		0);
	assert_int_equal(weft_swnet_define(x, &leaf, TURN, step, 2), 0);
	for (uint32_t i = 0; i < 2; i++) {
		word[0] = i ? 8 : 5;
		n = 1;
		assert_int_equal(weft_swnet_command(x, &leaf, WEFT_SWNET_ALL,
					 TURN, word, &n, 80),
			0);
	}
	assert_int_equal(n, 40);
	assert_int_equal(word[31], 8);
	assert_int_equal(word[32], 13);
	/* no other switch knows it */
	n = 1;
	assert_int_equal(
		weft_swnet_command(x, &(struct weft_swnet_target){ .rail = 1 },
			WEFT_SWNET_ALL, TURN, word, &n, 80),
		ENOSYS);
	weft_swnet_close(x);
	m->word[0] = 1;
}

/* SUN-F67 */
static void software_defines_a_new_command(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, define_command);
	assert_int_equal(m.word[0], 1);
}

/* --- counters --- */

static void count(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_target to = spine(9), far = other_leaf(9);
	struct weft_swnet_counters a, b, c;
	struct weft_swnet_identity id;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_counters(x, &leaf, UP + 9, &a), 0);
	assert_true(a.is_up);
	assert_int_equal(a.lanes, 4);
	assert_int_equal(a.sent[3], 0);
	for (uint32_t i = 0; i < 25; i++)
		assert_int_equal(weft_swnet_identify(x, &far, &id), 0);
	assert_int_equal(weft_swnet_counters(x, &leaf, UP + 9, &b), 0);
	/* requests of 32 bytes: 5 slices with header and trailer; answers of
	 * 56, with 7 */
	assert_int_equal(b.sent[3], 25);
	assert_int_equal(b.received[3], 25);
	assert_int_equal(b.slices_out[3], 25 * 5);
	assert_int_equal(b.slices_in[3], 25 * 7);
	assert_int_equal(b.sent[0] + b.sent[1] + b.sent[2], 0);
	assert_int_equal(b.occupancy[3], 0);
	assert_in_range(b.busy, 1, 999);
	/* the other end, which has got these seven requests, too */
	assert_int_equal(weft_swnet_counters(x, &to, 0, &c), 0);
	assert_in_range(c.received[3], 25 + 2, 25 + 7);
	assert_in_range(c.slices_in[3], 25 * 5 + 2 * 6, 25 * 5 + 7 * 6);
	/* the interval begins anew */
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_PORT(UP + 9),
				 WEFT_SWNET_BUSY, 0, 0),
		0);
	program_wait(program_now() + 100 * US);
	assert_int_equal(weft_swnet_counters(x, &leaf, UP + 9, &b), 0);
	assert_int_equal(b.busy, 0);
	weft_swnet_close(x);
	m->word[0] = 1;
}

static void counters_of_both_ends_of_a_link_agree(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, count);
	assert_int_equal(m.word[0], 1);
}

/* --- tables --- */

static uint64_t sent_by(struct weft_swnet *x, uint32_t port)
{
	struct weft_swnet_counters c;

	assert_int_equal(weft_swnet_counters(x, &leaf, port, &c), 0);
	return c.sent[3];
}

static void write_tables(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_entries e = {
		.first = 16, .count = 16, .n_ports = 1, .port = { UP + 11 }
	};
	struct weft_swnet_target to = by_guid(20);
	struct weft_swnet_identity id;
	uint64_t before, split;

	assert_int_equal(node, 0);
	assert_int_equal(
		weft_swnet_write_entries(x, &leaf, WEFT_SWNET_ALL, &e), 0);
	before = sent_by(x, UP + 11);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(weft_swnet_identify(x, &to, &id), 0);
	assert_int_equal(sent_by(x, UP + 11), before + 10);
	e = (struct weft_swnet_entries){ .first = 20 };
	assert_int_equal(weft_swnet_read_entry(x, &leaf, 3, &e), 0);
	assert_int_equal(e.n_ports, 1);
	assert_int_equal(e.port[0], UP + 11);
	/* another split: what was written is void */
	assert_int_equal(weft_swnet_read(x, &leaf, WEFT_SWNET_PORT(3),
				 WEFT_SWNET_SPLIT, 0, 1, &split),
		0);
	assert_int_equal(split, 1024);
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_PORT(3),
				 WEFT_SWNET_SPLIT, 0, 600),
		0);
	assert_int_equal(weft_swnet_read_entry(x, &leaf, 3, &e), 0);
	assert_true(e.n_ports > 1);
	e = (struct weft_swnet_entries){
		.first = 600, .count = 1, .n_ports = 1, .port = { UP }
	};
	assert_int_equal(
		weft_swnet_write_entries(x, &leaf, WEFT_SWNET_PORT(3), &e),
		ENOENT);
	e.part = WEFT_SWNET_INTER;
	assert_int_equal(
		weft_swnet_write_entries(x, &leaf, WEFT_SWNET_PORT(3), &e), 0);
	weft_swnet_close(x);
	m->word[0] = 1;
}

static void written_entries_lead_packets(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, write_tables);
	assert_int_equal(m.word[0], 1);
}

/* --- multicasts --- */

static const uint32_t members[] = { 0, 3, 4, 17, 31 };

enum { MEMBERS = 5, ENTRY = 21 };

static void set_multicast(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_map *map = NULL;
	const uint32_t none[] = { 0, NODES };

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	assert_int_equal(
		weft_swnet_set_multicast(x, map, 1, ENTRY, members, MEMBERS),
		0);
	assert_int_equal(
		weft_swnet_set_multicast(x, map, 1, 32, members, MEMBERS),
		ENOENT);
	assert_int_equal(
		weft_swnet_set_multicast(x, map, 1, 1, none, 2), EHOSTDOWN);
	assert_int_equal(
		weft_swnet_set_multicast(x, map, 2, 1, members, 2), EHOSTDOWN);
	assert_int_equal(
		weft_swnet_set_multicast(x, map, 1, 1, members, 1), EINVAL);
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_ALL,
				 WEFT_SWNET_MULTICAST, 32, 1),
		ENOENT);
	/* a port without a cable */
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_ALL,
				 WEFT_SWNET_MULTICAST, 0, 1 << 17),
		EINVAL);
	weft_swnet_map_free(map);
	weft_swnet_close(x);
	m->word[0] = 1;
}

/* Counts the copies that nodes get of a packet that comes to a switch. */
static void spread(const struct net *n, struct topo_end at, uint32_t *copies)
{
	port_mask ports;

	if (at.router < n->n_nodes) {
		copies[at.router]++;
		return;
	}
	ports = multicast_read(n->coll, at.router, at.port, ENTRY);
	for (; ports; ports &= ports - 1)
		spread(n,
			n->topo->ops->peer(n->topo, at.router,
				(port_id)__builtin_ctzll(ports)),
			copies);
}

/* SUN-F82 */
static void a_multicast_reaches_all_other_members_once(void **state)
{
	struct st m;

	init(&m);
	st_run(&m, 1, set_multicast);
	assert_int_equal(m.word[0], 1);
	for (uint32_t i = 0; i < MEMBERS; i++) {
		const struct net *n = m.kit.net;
		uint32_t copies[NODES] = { 0 }, sum = 0;

		spread(n, n->topo->ops->peer(n->topo, members[i], 1), copies);
		for (uint32_t k = 0; k < MEMBERS; k++)
			assert_int_equal(copies[members[k]], k != i);
		for (uint32_t k = 0; k < NODES; k++)
			sum += copies[k];
		assert_int_equal(sum, MEMBERS - 1);
		/* nothing of it in the other rail */
		spread(n, n->topo->ops->peer(n->topo, members[i], 0), copies);
		for (uint32_t k = 0; k < NODES; k++)
			sum -= copies[k];
		assert_int_equal(sum, 0);
	}
	st_fini(&m);
}

/* --- source routes --- */

static void wait_in_vain(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_target to = spine(4), far = other_leaf(4);
	struct weft_swnet_identity id;
	uint64_t late, no_way, many[WEFT_SWNET_WORDS] = { 0 };

	assert_int_equal(node, 0);
	program_wait(30 * US);
	/* its second link trains, and keeps three packets to send again: the
	 * others wait */
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n = WEFT_SWNET_WORDS;

		assert_int_equal(weft_swnet_command(x, &far, WEFT_SWNET_ALL, 99,
					 many, &n, n),
			ETIMEDOUT);
	}
	assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_CHIP,
				 WEFT_SWNET_LATE, 0, 1, &late),
		0);
	assert_in_range(late, 1, 3);
	/* a port without a cable */
	far.hop[1] = 33;
	assert_int_equal(weft_swnet_identify(x, &far, &id), ETIMEDOUT);
	assert_int_equal(weft_swnet_read(x, &to, WEFT_SWNET_CHIP,
				 WEFT_SWNET_NO_WAY, 0, 1, &no_way),
		0);
	assert_int_equal(no_way, 3);
	weft_swnet_close(x);
	m->word[0] = 1;
}

/* SUN-F65 */
static void source_routes_that_wait_too_long_are_dropped(void **state)
{
	struct st m;

	init(&m);
	st_set(&m, "faults.events=20 us lane 0:2.4 down 1 0 dies");
	run(&m, 1, wait_in_vain);
	assert_int_equal(m.word[0], 1);
}

/* --- events --- */

static void watch(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_map *map = NULL;
	struct weft_swnet_event e[2];
	uint32_t leaf_first, n = 0;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	assert_int_equal(weft_swnet_watch(x, map), 0);
	assert_int_equal(weft_swnet_set_tables(x, map, NULL), 0);
	weft_swnet_map_free(map);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(weft_swnet_get_event(x, &e[i], 10 * MS), 0);
	assert_in_range(program_now(), 2 * MS, 2 * MS + 5 * US);
	leaf_first = e[0].level == 1 ? 0 : 1;
	assert_int_equal(e[leaf_first].number, 1);
	assert_int_equal(e[leaf_first].port, UP + 6);
	assert_int_equal(e[!leaf_first].level, 2);
	assert_int_equal(e[!leaf_first].number, 6);
	assert_int_equal(e[!leaf_first].port, 1);
	assert_false(e[0].is_up || e[1].is_up);
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	assert_int_equal(map->n_cables, 2 * (NODES + LEAVES * SPINES + 4) - 1);
	assert_int_equal(weft_swnet_set_tables(x, map, &n), 0);
	assert_in_range(n, 1, 4);
	weft_swnet_map_free(map);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(weft_swnet_get_event(x, &e[i], 10 * MS), 0);
		assert_true(e[i].is_up);
	}
	weft_swnet_close(x);
	m->word[0] = 1;
}

/* SUN-F82 */
static void switches_report_links_that_die_and_return(void **state)
{
	struct st m;

	init(&m);
	st_set(&m, "faults.events=2 ms link 0:1.1 up 6 dies; "
		   "5 ms link 0:1.1 up 6 returns");
	run(&m, 1, watch);
	assert_int_equal(m.word[0], 1);
}

/* --- misuse --- */

static void misuse(struct st *m, site_id node)
{
	struct weft_swnet *x = manager(), *y = NULL;
	struct weft_swnet_target to = by_guid(UINT64_C(99) << 32);
	struct weft_swnet_identity id;
	struct weft_swnet_entries e = {
		.count = 1, .n_ports = 1, .port = { 17 }
	};
	uint64_t word;

	assert_int_equal(node, 0);
	assert_int_equal(weft_swnet_open(&y), EBUSY);
	assert_int_equal(weft_swnet_open(NULL), EINVAL);
	assert_int_equal(weft_swnet_identify(x, &to, &id), EINVAL);
	to = leaf;
	to.rail = 2;
	assert_int_equal(weft_swnet_identify(x, &to, &id), EINVAL);
	to = by_jtag(2 * (LEAVES + SPINES));
	assert_int_equal(weft_swnet_identify(x, &to, &id), EINVAL);
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_ALL,
				 WEFT_SWNET_STATUS, 0, 1),
		EROFS);
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_CHIP,
				 WEFT_SWNET_GUID, 0, 1),
		EROFS);
	assert_int_equal(weft_swnet_read(x, &leaf, WEFT_SWNET_ALL,
				 WEFT_SWNET_RECEIVED, 4, 1, &word),
		ENOENT);
	assert_int_equal(weft_swnet_read(x, &leaf, WEFT_SWNET_CHIP,
				 WEFT_SWNET_CHIP_REGISTERS, 0, 1, &word),
		ENOENT);
	assert_int_equal(weft_swnet_read(x, &leaf, WEFT_SWNET_PORT(40),
				 WEFT_SWNET_STATUS, 0, 1, &word),
		ENXIO);
	assert_int_equal(weft_swnet_write(x, &leaf, WEFT_SWNET_ALL,
				 WEFT_SWNET_SPLIT, 0, 100000),
		EINVAL);
	/* ports 16 and 17 of a leaf have no cable */
	assert_int_equal(
		weft_swnet_write_entries(x, &leaf, WEFT_SWNET_ALL, &e), EINVAL);
	e.port[0] = 16;
	assert_int_equal(
		weft_swnet_write_entries(x, &leaf, WEFT_SWNET_ALL, &e), EINVAL);
	assert_int_equal(weft_swnet_close(x), 0);
	/* and the next manager finds nothing of it */
	x = manager();
	assert_int_equal(weft_swnet_identify(x, &leaf, &id), 0);
	weft_swnet_close(x);
	m->word[0] = 1;
}

static void misuse_is_refused_by_switches(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, misuse);
	assert_int_equal(m.word[0], 1);
}

/* Commands of any kind, right and wrong, to a few switches. */
static void try_anything(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_identity id;
	uint64_t seed = 1, errors = 0, word[WEFT_SWNET_WORDS];

	assert_int_equal(node, 0);
	for (uint32_t i = 0; i < 3000; i++) {
		struct weft_swnet_target to = i % 2 ? spine(i % 5) : leaf;
		struct random_bits r = random_draw(seed, 0, RANDOM_WATCH, i);
		uint32_t n = (uint32_t)(r.a % 8), scope = r.a >> 8 & 0x3ff;
		uint32_t command = (uint32_t)(r.a >> 20) % 24;

		for (uint32_t k = 0; k < n; k++) {
			r = random_draw(seed, 1 + k, RANDOM_WATCH, i);
			word[k] = r.b % 3 ? r.a % 48
				  : r.b % 2
					  ? (r.a & 15) | (r.a >> 8 & 3) << 16 |
						    (r.a >> 12 & 3) << 32
					  : r.a;
		}
		errors += weft_swnet_command(x, &to, scope, command, word, &n,
				  WEFT_SWNET_WORDS) != 0;
	}
	assert_in_range(errors, 1000, 2999);
	assert_int_equal(weft_swnet_identify(x, &leaf, &id), 0);
	m->word[0] = 1;
	weft_swnet_close(x);
}

static void random_commands_break_nothing(void **state)
{
	struct st m;

	init(&m);
	run(&m, 1, try_anything);
	assert_int_equal(m.word[0], 1);
}

TESTS(TEST(a_machine_is_discovered_by_packets_alone),
	TEST(a_machine_wired_wrong_is_found_and_repaired),
	TEST(a_switch_is_reached_by_route_guid_and_jtag),
	TEST(both_paths_are_served_at_once),
	TEST(jtag_works_with_all_links_down),
	TEST(one_command_acts_on_40_ports),
	TEST(software_defines_a_new_command),
	TEST(counters_of_both_ends_of_a_link_agree),
	TEST(written_entries_lead_packets),
	TEST(a_multicast_reaches_all_other_members_once),
	TEST(source_routes_that_wait_too_long_are_dropped),
	TEST(switches_report_links_that_die_and_return),
	TEST(misuse_is_refused_by_switches),
	TEST(random_commands_break_nothing))
