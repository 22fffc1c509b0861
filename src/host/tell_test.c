/* Programs that tell each other something besides the network. */
#include "host/host_testing.h"
#include "testing/testing.h"

enum { NODES = 6, DELAY = 500 * SIM_NS };

struct party {
	sim_time met[NODES];
};

/* Each tells the first, at a time of its own; the first tells all when it was
 * told by all, twice. */
static void meet(void *arg)
{
	struct party *all = arg;
	site_id me = program_node();

	for (uint64_t round = 1; round <= 2; round++) {
		program_charge(me * 100 * (sim_time)SIM_NS);
		if (me) {
			program_tell(0, 0, DELAY);
			program_await(round);
			continue;
		}
		program_await(round * (NODES - 1));
		for (uint32_t i = 1; i < NODES; i++)
			program_tell(i, 0, DELAY);
	}
	all->met[me] = program_now();
}

static void meet_with(uint32_t workers)
{
	struct host_testing m = { .n_nodes = NODES, .n_workers = workers };
	struct party all = { 0 };

	host_testing_start(&m);
	for (site_id s = 0; s < NODES; s++)
		program_start(m.host, s, 0, 0, meet, &all);
	host_testing_run(&m);
	/* the last, node 5, comes 500 ns after the others were told */
	assert_int_equal(all.met[0], 2 * (500 * SIM_NS + DELAY) + DELAY);
	for (site_id s = 1; s < NODES; s++)
		assert_int_equal(all.met[s], all.met[0] + DELAY);
	host_testing_fini(&m);
}

static void who_was_told_goes_on_at_that_instant(void **state)
{
	for (uint32_t workers = 1; workers <= 3; workers++)
		meet_with(workers);
}

TESTS(TEST(who_was_told_goes_on_at_that_instant))
