/* The management library on a made-up network: discovery, wiring, tables. */
#include <errno.h>

#include "api/swnet/fake_testing.h"
#include "testing/testing.h"

enum { CABLES = FAKE_RAILS * (12 + 12 + 4) };

static struct weft_swnet_map *discover(struct fake *f)
{
	struct weft_swnet_map *map = NULL;

	assert_int_equal(weft_swnet_discover(f->m, &map), 0);
	return map;
}

/* Every cable of the map is one of the network's. */
static void expect_true_map(
	const struct fake *f, const struct weft_swnet_map *map, uint32_t n)
{
	assert_int_equal(map->n_cables, n);
	for (uint32_t i = 0; i < map->n_cables; i++) {
		const struct weft_swnet_cable *c = &map->cable[i];
		const struct weft_swnet_device *a = &map->device[c->device[0]];
		const struct weft_swnet_device *b = &map->device[c->device[1]];
		uint32_t at = (uint32_t)a->guid, to = (uint32_t)b->guid;

		at += a->is_switch ? a->rail * FAKE_SWITCHES : 0;
		to += b->is_switch ? b->rail * FAKE_SWITCHES : 0;
		assert_int_equal(f->far[at][c->port[0]].device, to);
		assert_int_equal(f->far[at][c->port[0]].port, c->port[1]);
	}
}

static void a_machine_is_discovered_from_any_node(void **state)
{
	for (uint32_t node = 0; node < FAKE_NODES; node++) {
		struct fake *f = fake_new();
		struct weft_swnet_map *map;

		f->at = node;
		map = discover(f);
		expect_true_map(f, map, CABLES);
		assert_int_equal(map->n_devices,
			FAKE_RAILS * (FAKE_NODES + FAKE_SWITCHES));
		assert_int_equal(map->silent, 0);
		assert_int_equal(weft_swnet_wrong(map, NULL, 0), 0);
		weft_swnet_map_free(map);
		fake_free(f);
	}
}

static void lost_packets_are_sent_again(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;
	uint32_t n;

	weft_swnet_map_free(discover(f));
	n = f->n_sent;
	f->lose = 7;
	map = discover(f);
	expect_true_map(f, map, CABLES);
	assert_int_equal(map->silent, 0);
	assert_true(f->n_sent > 2 * n + n / 8);
	weft_swnet_map_free(map);
	fake_free(f);
}

/* SUN-F82 */
static void two_exchanged_cables_are_found(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;
	uint32_t wrong[4], n;

	fake_exchange(f, fake_leaf(0, 1), 4, fake_leaf(0, 2), 4);
	fake_exchange(f, fake_leaf(1, 0), 0, fake_leaf(1, 0), 2);
	map = discover(f);
	expect_true_map(f, map, CABLES);
	n = weft_swnet_wrong(map, wrong, 4);
	assert_int_equal(n, 4);
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_swnet_cable *c = &map->cable[wrong[i]];
		const struct weft_swnet_device *a = &map->device[c->device[0]];
		const struct weft_swnet_device *b = &map->device[c->device[1]];

		assert_int_equal(a->rail, b->rail);
		assert_int_equal(a->level + b->level, a->rail ? 1 : 3);
	}
	weft_swnet_map_free(map);
	fake_free(f);
}

static void expect_all_reach(const struct fake *f, uint32_t rail, uint32_t most)
{
	for (uint32_t a = 0; a < FAKE_NODES; a++)
		for (uint32_t b = 0; b < FAKE_NODES; b++) {
			uint32_t n = fake_follow(f, rail, a, b);

			assert_true(a == b || (n >= 1 && n <= most));
		}
}

static void tables_lead_everywhere_in_a_machine_wired_wrong(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;
	uint32_t n = 0;

	fake_exchange(f, fake_leaf(0, 1), 4, fake_leaf(0, 2), 4);
	fake_exchange(f, fake_leaf(0, 3), 0, fake_leaf(0, 0), 2);
	map = discover(f);
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), 0);
	assert_true(n > 0);
	expect_all_reach(f, 0, 3);
	expect_all_reach(f, 1, 3);
	/* nothing has changed */
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), 0);
	assert_int_equal(n, 0);
	weft_swnet_map_free(map);
	fake_free(f);
}

/* SUN-F82, SUN-F92 */
static void after_a_death_only_what_changes_is_written(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map = discover(f);
	uint32_t all = 0, n = 0;

	assert_int_equal(weft_swnet_set_tables(f->m, map, &all), 0);
	weft_swnet_map_free(map);
	fake_cut(f, fake_leaf(0, 1), 4);
	map = discover(f);
	expect_true_map(f, map, CABLES - 1);
	assert_int_equal(weft_swnet_wrong(map, NULL, 0), 0);
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), 0);
	/* the leaf itself, to the three others; these, to it; and the spine */
	assert_in_range(n, 1, all / 4);
	expect_all_reach(f, 0, 3);
	expect_all_reach(f, 1, 3);
	weft_swnet_map_free(map);
	/* what was written leads nowhere now */
	for (uint32_t j = 0; j < FAKE_SPINES; j++)
		if (j != 1)
			fake_cut(f, fake_leaf(0, 1), 3 + j);
	map = discover(f);
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), 0);
	expect_all_reach(f, 0, 4);
	weft_swnet_map_free(map);
	fake_free(f);
}

static void a_leaf_without_links_up_is_reached_by_its_sibling(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;

	for (uint32_t j = 0; j < FAKE_SPINES; j++)
		fake_cut(f, fake_leaf(0, 1), 3 + j);
	map = discover(f);
	assert_int_equal(weft_swnet_set_tables(f->m, map, NULL), 0);
	expect_all_reach(f, 0, 4);
	weft_swnet_map_free(map);
	fake_free(f);
}

static void nodes_that_are_cut_off_are_reported(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;
	uint32_t n = 0;

	/* both leaves of a pair, in one rail */
	for (uint32_t j = 0; j < 2 * FAKE_SPINES; j++)
		fake_cut(f, fake_leaf(1, 2 + j % 2), 3 + j / 2);
	map = discover(f);
	/* they are not on the map: the manager is in another leaf */
	assert_int_equal(map->n_devices,
		FAKE_RAILS * (FAKE_NODES + FAKE_SWITCHES) - 2 - 6);
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), 0);
	expect_all_reach(f, 0, 3);
	weft_swnet_map_free(map);
	/* in a plain tree, a leaf whose spine is not that of another */
	fake_free(f);
	f = fake_new();
	for (uint32_t j = 0; j < 2; j++)
		fake_cut(f, fake_leaf(0, 1), 6 + j);
	fake_cut(f, fake_leaf(0, 1), 3);
	fake_cut(f, fake_leaf(0, 1), 4);
	fake_cut(f, fake_leaf(0, 2), 5);
	fake_cut(f, fake_leaf(0, 3), 6);
	fake_cut(f, fake_leaf(0, 3), 7);
	map = discover(f);
	assert_int_equal(weft_swnet_set_tables(f->m, map, &n), EHOSTDOWN);
	assert_int_equal(fake_follow(f, 0, 3, 6), 0);
	assert_int_equal(fake_follow(f, 0, 3, 9), 3);
	weft_swnet_map_free(map);
	fake_free(f);
}

static void switches_report_to_the_manager_that_asked(void **state)
{
	struct fake *f = fake_new();
	struct weft_swnet_map *map;
	struct weft_swnet_event e;

	f->at = 7;
	map = discover(f);
	assert_int_equal(weft_swnet_watch(f->m, map), 0);
	for (uint32_t d = FAKE_NODES; d < FAKE_DEVICES; d++)
		assert_true(f->manager[d] == (UINT64_C(1) << 63 | 7));
	*(struct registers_body *)ring_push(&f->answers) =
		(struct registers_body){ .kind = REGISTERS_EVENT,
			.rail = 1,
			.word = { 5, UINT64_C(1) << 32 | 3, 15 } };
	assert_int_equal(weft_swnet_get_event(f->m, &e, 1000), 0);
	assert_int_equal(e.rail, 1);
	assert_int_equal(e.level, 1);
	assert_int_equal(e.number, 3);
	assert_int_equal(e.guid, 15);
	assert_int_equal(e.port, 5);
	assert_false(e.is_up);
	assert_int_equal(weft_swnet_get_event(f->m, &e, 1000), ETIMEDOUT);
	weft_swnet_map_free(map);
	fake_free(f);
}

static void misuse_is_refused(void **state)
{
	struct fake *f = fake_new();
	const struct weft_swnet_target ok = { 0 };
	struct weft_swnet_target to = { 0 };
	struct weft_swnet_entries e = { .n_ports = 41, .count = 1 };
	struct weft_swnet_identity id;
	struct weft_swnet_event event;
	uint64_t word[2] = { 0 };
	uint32_t n = 0;

	assert_int_equal(weft_swnet_identify(NULL, &ok, &id), EINVAL);
	assert_int_equal(weft_swnet_identify(f->m, NULL, &id), EINVAL);
	assert_int_equal(weft_swnet_identify(f->m, &ok, NULL), EINVAL);
	to.by = 3;
	assert_int_equal(weft_swnet_identify(f->m, &to, &id), EINVAL);
	to = (struct weft_swnet_target){ .n_hops = WEFT_SWNET_HOPS };
	assert_int_equal(weft_swnet_identify(f->m, &to, &id), EINVAL);
	to = (struct weft_swnet_target){ .by = WEFT_SWNET_BY_JTAG, .chip = 99 };
	assert_int_equal(weft_swnet_identify(f->m, &to, &id), EINVAL);
	/* a port without a cable: nobody answers */
	to = (struct weft_swnet_target){ .n_hops = 1, .hop = { 30 } };
	assert_int_equal(weft_swnet_identify(f->m, &to, &id), ETIMEDOUT);
	assert_int_equal(f->n_sent, MANAGER_TRIES);
	assert_int_equal(
		weft_swnet_write_entries(f->m, &ok, WEFT_SWNET_ALL, &e),
		EINVAL);
	e = (struct weft_swnet_entries){ .first = 1 << 16, .count = 1 };
	assert_int_equal(
		weft_swnet_write_entries(f->m, &ok, WEFT_SWNET_ALL, &e),
		ENOENT);
	assert_int_equal(
		weft_swnet_read(f->m, &ok, WEFT_SWNET_ALL, 1 << 16, 0, 1, word),
		ENOENT);
	n = WEFT_SWNET_WORDS + 1;
	assert_int_equal(weft_swnet_command(f->m, &ok, WEFT_SWNET_ALL,
				 WEFT_SWNET_READ, word, &n, 0),
		EMSGSIZE);
	/* the answer finds too little room */
	n = 1;
	assert_int_equal(weft_swnet_command(f->m, &ok, WEFT_SWNET_ALL,
				 WEFT_SWNET_READ, word, &n, 2),
		EMSGSIZE);
	n = 0;
	assert_int_equal(
		weft_swnet_command(f->m, &ok, WEFT_SWNET_ALL, 200, word, &n, 2),
		ENOSYS);
	assert_int_equal(weft_swnet_discover(f->m, NULL), EINVAL);
	assert_int_equal(weft_swnet_set_tables(f->m, NULL, NULL), EINVAL);
	assert_int_equal(weft_swnet_watch(NULL, NULL), EINVAL);
	assert_int_equal(weft_swnet_get_event(f->m, &event, -1), EINVAL);
	weft_swnet_map_free(NULL);
	fake_free(f);
}

TESTS(TEST(a_machine_is_discovered_from_any_node),
	TEST(lost_packets_are_sent_again), TEST(two_exchanged_cables_are_found),
	TEST(tables_lead_everywhere_in_a_machine_wired_wrong),
	TEST(after_a_death_only_what_changes_is_written),
	TEST(a_leaf_without_links_up_is_reached_by_its_sibling),
	TEST(nodes_that_are_cut_off_are_reported),
	TEST(switches_report_to_the_manager_that_asked),
	TEST(misuse_is_refused))
