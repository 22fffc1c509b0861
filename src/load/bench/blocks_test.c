/* Blocks that are got, multiplied and accumulated. */
#include "testing/trial_testing.h"

#define TORUS "torus 2x2"

/* Every byte of factors and products is checked; here, on machines of all
 * kinds, with blocks of one packet and of many. */
static void products_come_to_their_nodes_on_every_machine(void **state)
{
	static const char *const on[] = { TORUS, "qsnet2 7", "bgq 2x2x2",
		"gemini 2x2x1", "apenet 2x2x1", "sunway-32", "fattree 5" };
	static const char *const how[] = { "blocks bytes=64 rounds=3",
		"blocks bytes=5000 rounds=9", "blocks via=msg rounds=3" };

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
		for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++)
			assert_true(trial(on[i], how[k], "time_ns") > 0);
}

/* Computing and fetching do not overlap. */
static void a_product_takes_its_time(void **state)
{
	double fast = trial(TORUS, "blocks rounds=9 compute=0ns", "product_ns");
	double slow = trial(TORUS, "blocks rounds=9 compute=7us", "product_ns");

	assert_true(slow - fast > 6900 && slow - fast < 7100);
}

/* QSN-N86: the newer card's link, bus and reads. */
static void an_older_card_takes_longer(void **state)
{
	static const char *const older[] = { "blocks link.rate=400MB/s",
		"blocks nic.bus.clock=15ns", "blocks nic.dma.read-latency=2us",
		"blocks link.rate=400MB/s nic.bus.clock=15ns "
		"nic.dma.read-latency=2us" };
	double now = trial("qsnet2 16", "blocks", "time_ns"), before = now;

	for (size_t i = 0; i < 3; i++)
		assert_true(trial("qsnet2 16", older[i], "time_ns") > now);
	before = trial("qsnet2 16", older[3], "time_ns");
	assert_true(before > 1.5 * now);
}

static void it_is_refused_where_it_cannot_be(void **state)
{
	trial_refused("qsnet2 1", "blocks", "at least two nodes");
	trial_refused(TORUS, "blocks bytes=1MiB rounds=65", "64 MiB");
	trial_refused("qsnet2 4", "blocks bytes=12", "a multiple of 8");
}

TESTS(TEST(products_come_to_their_nodes_on_every_machine),
	TEST(a_product_takes_its_time), TEST(an_older_card_takes_longer),
	TEST(it_is_refused_where_it_cannot_be))
