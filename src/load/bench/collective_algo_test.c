/* Collectives by algorithms: a run fails by itself where a result is wrong. */
#define _GNU_SOURCE /* mkstemp() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load/bench/collective.h"
#include "load/coll/plan.h"
#include "testing/trial_testing.h"

static const char *const machines[] = { "torus 3x2", "fattree 6",
	"bgq 3x2x1x1x1", "qsnet2 6", "gemini 3x1x1", "apenet 3x2x1",
	"dragonfly 32" };

static double time_of(const char *machine, const char *keys)
{
	char line[160];

	snprintf(line, sizeof(line), "collective rounds=2 %s", keys);
	return trial(machine, line, "time_ns");
}

static void results_are_right_on_every_machine(void **state)
{
	static const char *const keys[] = {
		"op=allreduce algo=ring bytes=4000 chunk=512 channels=2",
		"op=allreduce algo=tree bytes=4000 chunk=512",
		"op=broadcast algo=tree bytes=3000 root=rotate",
		"op=reduce algo=ring bytes=1000 root=2",
		"op=allgather algo=pairwise bytes=4000",
	};

	for (uint32_t m = 0; m < sizeof(machines) / sizeof(*machines); m++)
		for (uint32_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			assert_true(time_of(machines[m], keys[k]) > 0);
}

static void every_algorithm_gives_what_a_plain_loop_gives(void **state)
{
	char keys[128];

	for (uint32_t i = 0; algo_registry[i]; i++)
		for (enum algo_op op = 0; op < ALGO_ALLTOALLV; op++) {
			const struct algo *a = algo_registry[i];

			if (!algo_has(a, op) ||
				(a == &algo_halving && op > ALGO_ALLREDUCE))
				continue;
			snprintf(keys, sizeof(keys),
				"op=%s algo=%s bytes=2400%s", algo_op_names[op],
				a->name, a->has_unit ? " unit=3" : "");
			assert_true(time_of("torus 3x2", keys) > 0);
		}
	assert_true(time_of("torus 4x2",
			    "op=reducescatter algo=halving bytes=4096") > 0);
}

static void long_data_travel_by_name(void **state)
{
	assert_true(
		time_of("fattree 6", "op=allreduce algo=ring bytes=2MiB") > 0);
	assert_true(time_of("fattree 6",
			    "op=alltoall algo=pairwise bytes=3MiB") > 0);
	assert_true(
		time_of("fattree 6", "op=alltoall algo=bruck bytes=3MiB") > 0);
}

static void a_group_leaves_others_alone(void **state)
{
	double three = time_of("torus 3x2",
		"op=allreduce algo=doubling group=[0,1,2] bytes=64");
	double all =
		time_of("torus 3x2", "op=allreduce algo=doubling bytes=64");

	assert_true(three < all);
	assert_true(time_of("torus 3x2", "op=broadcast algo=ring root=5 "
					 "group=[1..5:2] bytes=64") > 0);
}

/* Only broadcasts and reductions to one rank have a root, by default rank 0 or,
 * without it, the first of the group. */
static void a_group_needs_no_rank_0(void **state)
{
	static const char *const keys[] = {
		"op=allreduce algo=ring group=[5,1,3] bytes=4096",
		"op=allreduce algo=auto group=[5,1,3] root=2 bytes=4096",
		"op=allreduce algo=tree group=[5,1,3] root=rotate bytes=4096",
		"op=alltoall algo=pairwise group=[3..5] bytes=960",
		"op=broadcast algo=ring group=[5,1,3] bytes=4096",
		"op=broadcast algo=tree group=[5,0,3] bytes=4096",
		"op=reduce algo=tree group=[5,1,3] bytes=4096",
	};
	struct trial t;
	char line[128];

	for (uint32_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		assert_true(time_of("torus 3x2", keys[i]) > 0);
	for (uint32_t i = 0; i < 2; i++) {
		snprintf(line, sizeof(line),
			"collective op=reduce algo=ring group=[5,%u,3]",
			i ? 0 : 1);
		trial_open(&t, "torus 3x2", line);
		assert_int_equal(
			((struct collective *)t.run->load)->root, i ? 0 : 5);
		trial_close(&t);
	}
}

static void blocks_of_several_lengths_come_from_a_file(void **state)
{
	char path[] = "/tmp/weft-test-XXXXXX", keys[128], line[160];
	int file = mkstemp(path);

	assert_true(file >= 0);
	close(file);
	trial_file(path, "source,destination,weight\n0,1,3\n0,2,1\n1,0,2\n"
			 "3,4,1\n5,0,4\n");
	snprintf(keys, sizeof(keys),
		"op=alltoallv algo=pairwise bytes=4000 sizes=%s", path);
	assert_true(time_of("torus 3x2", keys) > 0);
	snprintf(keys, sizeof(keys),
		"op=alltoallv algo=pairwise bytes=2MiB sizes=%s", path);
	assert_true(time_of("torus 3x2", keys) > 0);
	trial_file(path, "0,1,3\n1,6,1\n");
	snprintf(line, sizeof(line), "collective %s", keys);
	trial_refused("torus 3x2", line, "there is no member 6 (want 0 to 5)");
	remove(path);
}

/* COL-F9: few messages win for few bytes, few bytes for many. */
static void the_fastest_is_chosen(void **state)
{
	static const char *const few[] = { "ring", "tree", "doubling",
		"halving" };
	char keys[128];

	for (uint32_t b = 0; b < 2; b++) {
		const char *bytes = b ? "128KiB" : "64";
		double best = 1e30;

		for (uint32_t i = 0; i < 4; i++) {
			double t;

			snprintf(keys, sizeof(keys),
				"collective op=allreduce algo=%s bytes=%s "
				"rounds=6",
				few[i], bytes);
			t = trial("fattree 8", keys, "time_ns");
			best = t < best ? t : best;
		}
		snprintf(keys, sizeof(keys),
			"collective op=allreduce algo=auto bytes=%s rounds=6",
			bytes);
		assert_true(trial("fattree 8", keys, "time_ns") < best * 1.08);
	}
}

/* COL-F9 */
static void rates_are_those_of_nccl_tests(void **state)
{
	struct trial t;
	double time;

	trial_open(&t, "fattree 6",
		"collective op=allreduce algo=ring bytes=4096 rounds=1");
	time = trial_figure(&t, "time_ns");
	trial_same(trial_figure(&t, "algbw_GBps"), 4096 / time);
	trial_same(trial_figure(&t, "busbw_GBps"), 4096 / time * 10 / 6);
	trial_close(&t);
	trial_open(&t, "bgq-board",
		"collective op=allreduce algo=network bytes=4096 rounds=1");
	time = trial_figure(&t, "time_ns");
	trial_same(trial_figure(&t, "busbw_GBps"), 4096 / time * 31 / 33);
	trial_close(&t);
}

static double bus_of(const char *machine, const char *keys)
{
	char line[160];

	snprintf(line, sizeof(line), "collective op=allreduce rounds=1 %s",
		keys);
	return trial(machine, line, "busbw_GBps");
}

/* The links are busy all the time: as busy as those of neighbours that
 * exchange, in both directions. */
static void long_data_have_the_rate_of_the_card(void **state)
{
	double card = trial("fattree 4", "exchange via=msg bytes=4MiB",
		"throughput_GBps_per_node");
	double ring = bus_of("fattree 4", "algo=ring bytes=8MiB");
	double halving = bus_of("fattree 4", "algo=halving bytes=16MiB");

	assert_true(ring > 0.97 * card && ring < 1.03 * card);
	assert_true(halving > 0.97 * card && halving < 1.03 * card);
}

static void what_cannot_be_done_is_refused(void **state)
{
	static const char *const lines[][2] = {
		{ "op=allreduce algo=rnig", "did you mean ring?" },
		{ "op=alltoall algo=tree", "tree has no alltoall (want bruck, "
					   "pairwise or hierarchical)" },
		{ "op=alltoall", "alltoall needs an algorithm" },
		{ "op=barrier algo=ring", "needs data" },
		{ "op=broadcast algo=ring root=6", "root: out of range" },
		{ "op=broadcast algo=ring root=5 group=0..4",
			"rank 5 is not in the group" },
		{ "op=reduce algo=ring root=0 group=1..4",
			"rank 0 is not in the group" },
		{ "op=allreduce algo=ring group=0,1,0", "rank 0 is in it "
							"twice" },
		{ "op=allreduce algo=ring group=0..6", "no rank 6" },
		{ "op=allreduce algo=ring group=x", "is no list of ranks" },
		{ "op=allreduce algo=hierarchical unit=4", "not units of 4" },
		{ "op=allreduce channels=2", "channels: needs an algorithm" },
		{ "op=allreduce algo=ring by=hardware", "algo: ring is "
							"by=software" },
		{ "op=alltoallv algo=pairwise", "sizes: alltoallv needs" },
		{ "op=allreduce algo=ring bytes=12", "multiple of 8" },
	};
	char line[128];

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		snprintf(line, sizeof(line), "collective %s", lines[i][0]);
		trial_refused("torus 3x2", line, lines[i][1]);
	}
}

TESTS(TEST(results_are_right_on_every_machine),
	TEST(every_algorithm_gives_what_a_plain_loop_gives),
	TEST(long_data_travel_by_name), TEST(a_group_leaves_others_alone),
	TEST(a_group_needs_no_rank_0),
	TEST(blocks_of_several_lengths_come_from_a_file),
	TEST(the_fastest_is_chosen), TEST(rates_are_those_of_nccl_tests),
	TEST(long_data_have_the_rate_of_the_card),
	TEST(what_cannot_be_done_is_refused))
