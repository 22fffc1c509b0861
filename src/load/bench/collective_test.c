/* Collectives by MPI and by interfaces: a run fails by itself where a result is
 * wrong. */
#include "load/bench/bench.h"
#include "testing/trial_testing.h"

static double time_of(const char *line)
{
	return trial("sunway-32", line, "time_ns");
}

static void is_near(double a, double b, double off)
{
	assert_true(a - b <= off && b - a <= off);
}

/* Two groups of 32 ranks: each way 0.5 us in a group, and one message between
 * their first ranks, of 9.7 us. */
static void a_barrier_by_mpi_goes_up_and_down_a_tree(void **state)
{
	double one = time_of("collective by=mpi rounds=4");
	double two = time_of("collective by=mpi procs=2 rounds=4");

	is_near(one, 1000, 1e-6);
	is_near(two, 20400, 30);
	/* what MPI takes is the machine's parameter */
	is_near(time_of("collective by=mpi procs=2 rounds=4 "
			"nic.software.mpi=1us"),
		two - 2 * 7700, 1);
}

static void sums_and_broadcasts_by_mpi_are_right(void **state)
{
	assert_true(time_of("collective by=mpi procs=2 op=allreduce bytes=64 "
			    "rounds=6") > 20400);
	assert_true(time_of("collective by=mpi procs=4 op=broadcast bytes=1024 "
			    "root=rotate rounds=40") > 8700);
	assert_true(time_of("collective by=mpi procs=2 op=reduce root=rotate "
			    "nodes=20 rounds=40") > 0);
}

/* SUN-F50, SUN-F53: the time is that of children, one after the other. */
static void a_barrier_by_interfaces_takes_a_time_for_each_child(void **state)
{
	double few = time_of("collective by=hardware nodes=16 tree=8x2 "
			     "rounds=10");
	double many = time_of("collective by=hardware nodes=16 tree=16 "
			      "rounds=10");
	double more = time_of("collective by=hardware nodes=16 tree=16 "
			      "rounds=10 nic.collective.child=280.6ns");

	assert_true(many > few);
	is_near(more - many, 15 * 100, 30);
}

/* SUN-F51, SUN-F55 */
static void sums_by_interfaces_are_right_for_every_type(void **state)
{
	static const char *const lines[] = {
		"collective by=hardware op=allreduce type=float bytes=12",
		"collective by=hardware op=allreduce procs=2 bytes=64",
		"collective by=hardware op=allreduce type=signed combine=max",
		("collective by=hardware op=allreduce type=signed word=4 "
		 "combine=min"),
		"collective by=hardware op=allreduce type=bits combine=xor",
		"collective by=hardware op=reduce root=5 nodes=20 tree=3x7",
	};

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(time_of(lines[i]) > 0);
}

/* A broadcast that is ready beforehand overlaps the one before it. */
static void with_one_slot_broadcasts_do_not_overlap(void **state)
{
	double two = time_of("collective by=hardware op=broadcast root=rotate "
			     "bytes=1024 rounds=40");
	double one = time_of("collective by=hardware op=broadcast root=rotate "
			     "bytes=1024 rounds=40 nic.collective.slots=1");

	assert_true(one > two + 1000);
}

static void what_interfaces_cannot_do_is_refused(void **state)
{
	trial_refused("sunway-32", "collective by=hardware tree=40",
		"at most 32 others");
	trial_refused("sunway-32", "collective by=hardware tree=4x4",
		"room for 16 members");
	trial_refused("sunway-32",
		"collective by=hardware op=allreduce bytes=512", "at most 256");
	trial_refused("sunway-32", "collective nodes=3", "nodes: all");
	trial_refused("sunway-32", "collective by=mpi procs=3", "a divisor");
}

/* --- QsNetII --- */

/* Each sum is checked, as by messages. */
static void qsn_f10_collectives_of_1024_nodes_take_microseconds(void **state)
{
	static const char *const lines[] = {
		"collective op=barrier by=hardware rounds=3",
		"collective op=broadcast by=hardware root=rotate rounds=3",
		"collective op=allreduce by=hardware type=signed rounds=3",
	};

	for (uint32_t i = 0; i < 3; i++)
		assert_in_range(
			trial("qsnet2-1024", lines[i], "time_ns"), 500, 10000);
}

static void sums_by_cards_are_right_for_every_type(void **state)
{
	static const char *const lines[] = {
		"collective by=hardware op=allreduce type=signed bytes=24",
		"collective by=hardware op=allreduce type=unsigned combine=min "
		"bytes=32",
		"collective by=hardware op=allreduce type=signed combine=max",
		"collective by=hardware op=allreduce type=bits combine=and",
		"collective by=hardware op=allreduce type=bits combine=or "
		"bytes=1000",
		"collective by=hardware op=reduce type=bits combine=xor "
		"root=rotate rounds=20",
		"collective by=hardware op=reduce type=signed combine=min "
		"root=9 warm=1",
	};

	for (uint32_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_true(trial("qsnet2-16", lines[i], "time_ns") > 0);
}

static void what_cards_cannot_combine_is_said(void **state)
{
	trial_refused("qsnet2-16", "collective by=hardware op=reduce",
		"no floating point");
	trial_refused("qsnet2-16",
		"collective by=hardware op=reduce type=signed word=16 bytes=16",
		"words of 8 bytes");
	trial_refused("qsnet2-16",
		"collective by=hardware op=reduce type=signed bytes=0",
		"words of 8 bytes");
	trial_refused("qsnet2-16",
		"collective by=hardware op=reduce type=signed nodes=4",
		"all take part");
	trial_refused("qsnet2-16",
		"collective by=hardware op=reduce type=signed tree=4",
		"tree: only");
	trial_refused("qsnet2-16",
		"collective by=hardware op=reduce type=signed procs=2",
		"processes per node need by=software");
}

TESTS(TEST(qsn_f10_collectives_of_1024_nodes_take_microseconds),
	TEST(sums_by_cards_are_right_for_every_type),
	TEST(what_cards_cannot_combine_is_said),
	TEST(a_barrier_by_mpi_goes_up_and_down_a_tree),
	TEST(sums_and_broadcasts_by_mpi_are_right),
	TEST(a_barrier_by_interfaces_takes_a_time_for_each_child),
	TEST(sums_by_interfaces_are_right_for_every_type),
	TEST(with_one_slot_broadcasts_do_not_overlap),
	TEST(what_interfaces_cannot_do_is_refused))
