/* Entries that software writes into the tables of a switch. */
#include <string.h>

#include "route/table_testing.h"
#include "testing/testing.h"

static struct route_choice ask(const struct table_machine *m,
	const struct route_memory *own, router_id at, port_id in, uint32_t dst)
{
	struct packet p = { .dst = dst, .kind = PACKET_DETERMINISTIC };

	return table_lists.choose(&m->x.route, own, &p, at, in);
}

static int write(const struct table_machine *m, struct route_memory **own,
	struct route_entry e, const uint8_t *ports, uint32_t n)
{
	return table_lists.write(&m->x.route, own, &e, ports, n);
}

/* SUN-F22, SUN-F25, SUN-F27: for packets that came by that port, and for no
 * others. */
static void sun_f27_a_written_entry_is_an_ordered_list_of_its_port(void **state)
{
	static const uint8_t ports[] = { 30, 19, 38, 22 };
	struct route_memory *own = NULL;
	struct table_machine m;
	router_id at;
	struct route_entry e = { .port = 3, .part = ROUTE_INTRA, .index = 100 };
	struct route_choice c;
	uint8_t back[ROUTE_CANDIDATES];

	table_make(&m, &table_prototype);
	e.at = at = fattree_switch(&m.t, 0, 1, 0);
	assert_int_equal(table_lists.memory(own), 0);
	assert_int_equal(write(&m, &own, e, ports, 4), 0);
	assert_non_null(own);
	c = ask(&m, own, at, 3, 100);
	assert_int_equal(c.n_order, 4);
	assert_memory_equal(c.order, ports, 4);
	assert_int_equal(c.ports,
		UINT64_C(1) << 30 | 1 << 19 | UINT64_C(1) << 38 | 1 << 22);
	assert_int_equal(c.later, 0);
	assert_null(ask(&m, own, at, 4, 100).order);
	assert_null(ask(&m, own, at, 3, 101).order);
	assert_int_equal(table_lists.read(&m.x.route, own, &e, back), 4);
	assert_memory_equal(back, ports, 4);
	e.port = 4;
	assert_int_equal(table_lists.read(&m.x.route, own, &e, back), 22);
	/* again, with another list, and with none */
	e.port = 3;
	assert_int_equal(write(&m, &own, e, ports + 1, 1), 0);
	assert_int_equal(ask(&m, own, at, 3, 100).ports, 1 << 19);
	assert_int_equal(write(&m, &own, e, ports, 0), 0);
	assert_int_equal(ask(&m, own, at, 3, 100).ports, 0);
	/* one port's table of 1,280 numbers, three lists */
	assert_in_range(table_lists.memory(own), 2560, 4096);
	table_lists.free(own);
	table_lists.free(NULL);
	table_unmake(&m);
}

/* SUN-F25: destinations of another supernode have one entry. */
static void sun_f25_an_entry_by_supernode_is_for_all_its_nodes(void **state)
{
	static const uint8_t ports[] = { 25 };
	struct route_memory *own = NULL;
	struct table_machine m;
	struct route_entry e = { .part = ROUTE_INTER, .index = 7 };

	table_make(&m, &table_exa);
	e.at = fattree_switch(&m.t, 1, 1, 0);
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	for (uint32_t i = 0; i < 324; i++)
		assert_int_equal(
			ask(&m, own, e.at, 0, 7 * 324 + i).ports, 1 << 25);
	assert_null(ask(&m, own, e.at, 0, 7 * 324 - 1).order);
	assert_null(ask(&m, own, e.at, 0, 8 * 324).order);
	/* numbers are of the switch's own */
	e.part = ROUTE_INTRA;
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	assert_non_null(ask(&m, own, e.at, 0, 7).order);
	assert_null(ask(&m, own, e.at, 0, 8 * 324 + 7).order);
	table_lists.free(own);
	table_unmake(&m);
}

/* SUN-F26: one memory for both parts. */
static void sun_f26_the_split_can_be_moved(void **state)
{
	static const uint8_t ports[] = { 20 };
	struct route_memory *own = NULL;
	struct table_machine m;
	struct route_entry e = { .part = ROUTE_INTER, .index = 300 };
	const struct route *r = &m.x.route;
	uint8_t back[ROUTE_CANDIDATES];

	table_make(&m, &table_prototype);
	e.at = fattree_switch(&m.t, 0, 1, 0);
	/* 1,024 and 256 */
	assert_int_equal(write(&m, &own, e, ports, 1), -1);
	assert_null(own);
	e.index = 255;
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	e.part = ROUTE_INTRA;
	e.index = 1023;
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	e.index = 30;
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	assert_non_null(ask(&m, own, e.at, 0, 30).order);
	/* 500 and 780: nodes 500 to 511 have no entry any more */
	assert_int_equal(table_lists.split(r, &own, e.at, 0, 500), 0);
	assert_null(ask(&m, own, e.at, 0, 30).order);
	assert_int_not_equal(ask(&m, own, e.at, 0, 499).ports, 0);
	assert_int_equal(ask(&m, own, e.at, 0, 500).ports, 0);
	assert_int_equal(ask(&m, own, e.at, 0, 500).later, 0);
	assert_int_not_equal(ask(&m, own, e.at, 1, 500).ports, 0);
	e.index = 500;
	assert_int_equal(write(&m, &own, e, ports, 1), -1);
	assert_int_equal(table_lists.read(r, own, &e, back), 0);
	e.part = ROUTE_INTER;
	e.index = 779;
	assert_int_equal(write(&m, &own, e, ports, 1), 0);
	assert_int_equal(table_lists.read(r, own, &e, back), 1);
	e.index = 780;
	assert_int_equal(write(&m, &own, e, ports, 1), -1);
	assert_int_equal(table_lists.split(r, &own, e.at, 0, 1281), -1);
	assert_int_equal(table_lists.split(r, &own, e.at, 0, 1280), 0);
	table_lists.free(own);
	table_unmake(&m);
}

static void wrong_entries_are_refused(void **state)
{
	static const uint8_t ports[41] = { 20, 20, 20 }, none[] = { 20, 40 };
	static const uint8_t empty[] = { 17 };
	struct route_memory *own = NULL;
	struct table_machine m;
	struct route_entry e = { .part = ROUTE_INTRA }, wrong;

	table_make(&m, &table_prototype);
	e.at = fattree_switch(&m.t, 0, 1, 0);
	assert_int_equal(write(&m, &own, e, ports, 41), -1);
	assert_int_equal(write(&m, &own, e, none, 2), -1);
	assert_int_equal(write(&m, &own, e, empty, 1), -1);
	wrong = e;
	wrong.at = 3;
	assert_int_equal(write(&m, &own, wrong, ports, 1), -1);
	wrong.at = m.t.topo.n_routers;
	assert_int_equal(write(&m, &own, wrong, ports, 1), -1);
	wrong = e;
	wrong.port = 17;
	assert_int_equal(write(&m, &own, wrong, ports, 1), -1);
	wrong.port = 64;
	assert_int_equal(write(&m, &own, wrong, ports, 1), -1);
	wrong = e;
	wrong.part = ROUTE_PARTS;
	assert_int_equal(write(&m, &own, wrong, ports, 1), -1);
	assert_int_equal(table_lists.split(&m.x.route, &own, e.at, 16, 1), -1);
	assert_null(own);
	table_unmake(&m);
}

/* The rule holds for lists that software wrote, too. */
static void written_lists_lead_sideways_once(void **state)
{
	static const uint8_t ports[] = { 18, 36 };
	struct route_memory *own = NULL;
	struct table_machine m;
	struct route_entry e = { .part = ROUTE_INTRA, .index = 100 };
	struct packet p = { .dst = 100 };
	struct route_choice c;

	table_make(&m, &table_prototype);
	e.at = fattree_switch(&m.t, 0, 1, 0);
	for (e.port = 0; e.port < 40; e.port++)
		if (e.port != 16 && e.port != 17)
			assert_int_equal(write(&m, &own, e, ports, 2), 0);
	/* from the sibling, and from below after that */
	c = table_lists.choose(&m.x.route, own, &p, e.at, 36);
	assert_int_equal(c.ports, 1 << 18);
	assert_int_equal(p.way, TABLE_WENT_UP);
	c = table_lists.choose(&m.x.route, own, &p, e.at, 0);
	assert_int_equal(c.ports, 1 << 18);
	/* from above, on a channel of its own; asked again it is the same */
	p.way = 0;
	c = table_lists.choose(&m.x.route, own, &p, e.at, 18);
	assert_int_equal(c.channel, TABLE_SIDEWAYS);
	assert_int_equal(c.ports, 1 << 18 | UINT64_C(1) << 36);
	c = table_lists.choose(&m.x.route, own, &p, e.at, 18);
	assert_int_equal(c.ports, 1 << 18 | UINT64_C(1) << 36);
	/* but not after it went sideways at another level */
	p.way = UINT64_C(2) << TABLE_DOWN_SHIFT;
	c = table_lists.choose(&m.x.route, own, &p, e.at, 18);
	assert_int_equal(c.channel, TABLE_SIDEWAYS);
	assert_int_equal(c.ports, 1 << 18);
	/* nor does the topology lead up what went sideways going down */
	c = table_lists.choose(&m.x.route, NULL, &p, e.at, 0);
	assert_int_equal(c.ports | c.later, 0);
	table_lists.free(own);
	table_unmake(&m);
}

/* Entries may lead around: whoever follows them too long has no way. */
static void a_packet_that_is_led_around_ends(void **state)
{
	static const uint8_t up = 20;
	struct route_memory *own = NULL;
	struct table_machine m;
	struct route_entry e = { .port = 18, .part = ROUTE_INTRA, .index = 5 };
	struct packet p = { .dst = 5, .kind = PACKET_DYNAMIC };

	table_make(&m, &table_prototype);
	e.at = fattree_switch(&m.t, 0, 1, 0);
	assert_int_equal(write(&m, &own, e, &up, 1), 0);
	p.passed = TABLE_MOST_PASSED;
	assert_int_equal(
		table_lists.choose(&m.x.route, own, &p, e.at, 18).ports,
		1 << up);
	p.passed++;
	assert_int_equal(
		table_lists.choose(&m.x.route, own, &p, e.at, 18).ports, 0);
	table_lists.free(own);
	table_unmake(&m);
}

TESTS(TEST(sun_f27_a_written_entry_is_an_ordered_list_of_its_port),
	TEST(sun_f25_an_entry_by_supernode_is_for_all_its_nodes),
	TEST(sun_f26_the_split_can_be_moved), TEST(wrong_entries_are_refused),
	TEST(written_lists_lead_sideways_once),
	TEST(a_packet_that_is_led_around_ends))
