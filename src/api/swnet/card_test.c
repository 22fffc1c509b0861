/* Managers of simulated machines: everything by packets, or by JTAG. */
#include <errno.h>

#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"
#include "weft/swnet.h"

static void init(struct st *m)
{
	static const char *const sets[] = {
		"nic.kind=swhni",
		"side.kind=pcie",
		"side.generation=3",
		"side.lanes=16",
		"side.rate=lanes",
		"side.header.store=26 B",
		"side.header.request=26 B",
		"side.header.data=26 B",
		"side.header.write=26 B",
		"side.wait=450 ns",
		"side.store=200 ns",
		"side.see=250 ns",
	};

	*m = (struct st){ .machine = "sunway-32" };
	for (uint32_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		st_set(m, sets[i]);
}

static struct weft_swnet *manager(void)
{
	struct weft_swnet *m = NULL;

	assert_int_equal(weft_swnet_open(&m), 0);
	return m;
}

/* --- discovery --- */

static void discover(struct st *m, site_id node)
{
	struct weft_swnet *x = manager();
	struct weft_swnet_map *map = NULL;

	(void)node;
	assert_int_equal(weft_swnet_discover(x, &map), 0);
	m->word[0] = map->n_devices;
	m->word[1] = map->n_cables;
	m->word[2] = map->silent;
	m->word[3] = weft_swnet_wrong(map, NULL, 0);
	m->end = program_now();
	weft_swnet_map_free(map);
	assert_int_equal(weft_swnet_close(x), 0);
}

static void a_machine_is_discovered_by_packets_alone(void **state)
{
	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct st m;
		uint64_t digest;

		init(&m);
		m.n_workers = workers;
		digest = st_run(&m, 1, discover);
		/* of each rail: 32 nodes, 2 leaves, 18 spines; 32 links to
		 * nodes, 36 up, 4 between the siblings */
		assert_int_equal(m.word[0], 2 * (32 + 2 + 18));
		assert_int_equal(m.word[1], 2 * (32 + 36 + 4));
		assert_int_equal(m.word[2], 0);
		assert_int_equal(m.word[3], 0);
		assert_in_range(m.end, 10000000, 200000000);
		if (workers > 1)
			assert_true(m.seen == digest);
		m.seen = digest;
		st_fini(&m);
	}
}

TESTS(TEST(a_machine_is_discovered_by_packets_alone))
