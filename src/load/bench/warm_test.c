/* Rounds that are not counted: caches begin cold. */
#include <stdio.h>

#include "testing/trial_testing.h"

#define COLD "qsnet2 16"

static double figure(const char *on, const char *load, int warm, int rounds,
	const char *name)
{
	char line[200];

	snprintf(
		line, sizeof(line), "%s warm=%d rounds=%d", load, warm, rounds);
	return trial(on, line, name);
}

/* Five rounds are two that are not counted, and three. */
static void counted_rounds_are_the_last_ones(void **state)
{
	static const struct {
		const char *on, *load, *name;
	} some[] = {
		{ COLD, "pingpong via=nic", "one_way_ns" },
		{ COLD, "pingpong via=msg", "one_way_ns" },
		{ COLD, "pingpong via=nic by=match", "one_way_ns" },
		{ COLD, "gets to=3", "get_ns" },
		{ "bgq 2x2x2", "pingpong via=nic", "one_way_ns" },
		{ "gemini 2x2x1", "gets", "get_ns" },
		{ "apenet 2x2x1", "pingpong via=nic", "one_way_ns" },
		{ "sunway-32", "pingpong via=nic", "one_way_ns" },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		double all =
			figure(some[i].on, some[i].load, 0, 5, some[i].name);
		double two =
			figure(some[i].on, some[i].load, 0, 2, some[i].name);
		double last =
			figure(some[i].on, some[i].load, 2, 3, some[i].name);

		trial_same(5 * all, 2 * two + 3 * last);
	}
}

/* The first message finds nothing in the card's cache, the second all. */
static void figures_of_the_card_leave_warm_rounds_out(void **state)
{
	double hot = 240 + 2 * 20 + 21;

	assert_true(figure(COLD, "pingpong via=nic", 0, 1, "network_ns") > hot);
	trial_same(figure(COLD, "pingpong via=nic", 1, 1, "network_ns"), hot);
	trial_same(
		figure(COLD, "pingpong via=nic by=match", 1, 1, "network_ns"),
		hot + 300);
	trial_same(figure(COLD, "stream by=dma", 3, 2, "read_B"), 512);
	trial_same(figure(COLD, "stream by=dma", 3, 2, "write_B"), 512);
}

/* What was sent before is there when the first message that counts leaves, and
 * receivers are ready. */
static void a_warm_stream_begins_anew(void **state)
{
	static const char *const on[] = { COLD, "bgq 2x2x2", "gemini 2x2x1",
		"apenet 2x2x1", "sunway-32", "torus 2x2" };
	static const char *const how[] = { "stream bytes=64KiB",
		"stream bytes=64KiB via=msg", "stream bytes=64KiB both=yes" };

	for (size_t i = 0; i < sizeof(on) / sizeof(on[0]); i++)
		for (size_t k = 0; k < sizeof(how) / sizeof(how[0]); k++) {
			double cold = figure(on[i], how[k], 0, 4, "total_MBps");
			double warm = figure(on[i], how[k], 3, 4, "total_MBps");

			assert_true(warm > 0.98 * cold && warm < 1.02 * cold);
		}
	assert_true(figure(COLD, "stream by=match bytes=512", 9, 40,
			    "total_MBps") > 300);
	assert_true(figure(COLD, "stream by=match bytes=512 both=yes", 9, 40,
			    "total_MBps") > 300);
}

static void collectives_leave_warm_rounds_out(void **state)
{
	static const struct {
		const char *on, *load;
	} some[] = {
		{ COLD, "collective op=broadcast by=hardware" },
		{ COLD, "collective op=allreduce" },
		{ "bgq 2x2x2", "collective by=hardware" },
		{ "bgq 2x2x2", "collective op=allreduce by=hardware" },
		{ "sunway-32", "collective by=hardware" },
		{ "sunway-32", "collective by=mpi" },
		{ "torus 2x2", "collective op=allreduce" },
	};

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		double cold =
			figure(some[i].on, some[i].load, 0, 20, "time_ns");
		double warm =
			figure(some[i].on, some[i].load, 3, 20, "time_ns");

		assert_true(warm > 0.9 * cold && warm < 1.1 * cold);
	}
	/* the root's queue and the receivers' events are in the cache */
	assert_true(figure(COLD, "collective op=broadcast by=hardware", 2, 1,
			    "time_ns") <
		    figure(COLD, "collective op=broadcast by=hardware", 0, 1,
			    "time_ns"));
}

static void it_is_refused_where_it_means_nothing(void **state)
{
	trial_refused(COLD, "pingpong warm=1",
		"warm: has no effect with via=net (want "
		"via=nic|msg|endpoint)");
	trial_refused("apenet 2x2x1", "pingpong via=nic by=rival warm=1",
		"warm: a calculated curve");
	trial_refused(COLD, "stream bytes=0 warm=1", "messages of 0 bytes");
	trial_refused(COLD, "crossover warm=1", "warm");
}

TESTS(TEST(counted_rounds_are_the_last_ones),
	TEST(figures_of_the_card_leave_warm_rounds_out),
	TEST(a_warm_stream_begins_anew),
	TEST(collectives_leave_warm_rounds_out),
	TEST(it_is_refused_where_it_means_nothing))
