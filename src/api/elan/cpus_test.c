/* The programming interface of QsNetII on nodes with several CPUs. */
#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static struct elan_cq open_queue(uint32_t id, enum elan_depth depth)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, depth, ELAN_MAY_ALL), 0);
	return q;
}

/* --- a node's CPUs --- */

enum { CPUS = 4 };

struct cpu {
	uint32_t thread;
	sim_time sent; /* until the other node has it */
	sim_time seen; /* from there until a load sees it */
	sim_time wrote;
};

static struct cpu cpus[CPUS];

static void cpu_program(void *arg)
{
	struct cpu *x = arg;
	struct elan_cq q = open_queue(x->thread, ELAN_8K);
	uint64_t one = 1;

	program_wait((100 + 20 * (sim_time)x->thread) * US);
	x->wrote = program_now();
	elan_put(&q, 1, ET_TARGET + 8 * x->thread, &one, 8, 0, 0);
	assert_true(elan_wait_word(ET_FLAG + 8 * x->thread, 1));
	x->seen = program_now() - x->seen;
}

static void cpu_peer(void *arg)
{
	struct elan_cq q = open_queue(9, ELAN_8K);
	struct poll_loop loop = { .period = 1 };
	uint64_t one = 1, word;

	for (uint64_t i = 0; i < CPUS; i++) {
		program_poll(ET_TARGET + 8 * i, WORD_IS, 1, loop, &word);
		cpus[i].sent = program_now() - cpus[i].wrote;
		cpus[i].seen = program_now();
		elan_put(&q, 0, ET_FLAG + 8 * i, &one, 8, 0, 0);
	}
}

static void run_cpus(enum elan_platform platform, int64_t n)
{
	struct et_program p[CPUS + 1];
	struct et m;

	for (uint32_t i = 0; i < CPUS; i++) {
		cpus[i] = (struct cpu){ .thread = i };
		p[i] = (struct et_program){ 0, cpu_program, &cpus[i] };
	}
	p[CPUS] = (struct et_program){ 1, cpu_peer, NULL };
	et_init(&m, "4");
	m.params.platform = platform;
	m.params.cpus = n;
	m.params.poll_period = 1;
	m.params.bus.turn = 0;
	et_run(&m, 1, p, CPUS + 1);
	et_fini(&m);
}

/* Of a dual Opteron one CPU has the bridge, and the other a hop more in each
 * direction, 50 ns; of four the last has three (QSN-N83). */
static void qsn_f84_a_second_cpu_is_slightly_slower(void **state)
{
	static const int64_t many[] = { 1, 2, 4 };

	for (uint32_t i = 0; i < 3; i++) {
		run_cpus(ELAN_OPTERON, many[i]);
		for (uint32_t k = 0; k < CPUS; k++) {
			sim_time hops = k % many[i] * 50 * SIM_NS;

			assert_int_equal(cpus[k].sent, cpus[0].sent + hops);
			assert_int_equal(cpus[k].seen, cpus[0].seen + hops);
		}
	}
	/* where all sit on one bus, all are alike */
	run_cpus(ELAN_XEON, 4);
	for (uint32_t k = 0; k < CPUS; k++)
		assert_int_equal(cpus[k].sent, cpus[0].sent);
}

/* --- the bus --- */

struct busy {
	uint32_t thread;
	sim_time end;
};

static void busy_program(void *arg)
{
	struct busy *x = arg;
	struct elan_cq q = open_queue(x->thread, ELAN_512K);
	uint8_t data[ELAN_PACKET];

	memset(data, 1, sizeof(data));
	program_wait(10 * US);
	for (uint32_t k = 0; k < 100; k++)
		elan_put(&q, 1 + x->thread % 3, ET_TARGET, data, sizeof(data),
			0, 0);
	x->end = program_now() - 10 * US;
}

/*
 * One, two or four CPUs share a bus of 64 bits at 133 MHz: together they are
 * as fast as one, and never reach the 1,067 MB/s of its clock.
 */
static void qsn_f9_cpus_share_a_pci_x_bus(void **state)
{
	for (uint32_t n = 1; n <= 4; n *= 2) {
		struct busy x[4];
		struct et_program p[4];
		sim_time end = 0;
		uint64_t sum, rate;
		struct et m;

		for (uint32_t i = 0; i < n; i++) {
			x[i] = (struct busy){ .thread = i };
			p[i] = (struct et_program){ 0, busy_program, &x[i] };
		}
		et_init(&m, "4");
		assert_int_equal(m.params.bus.clock, 7500);
		assert_int_equal(m.params.bus.width, 8);
		m.params.cpus = n;
		et_run(&m, 1, p, n);
		for (uint32_t i = 0; i < n; i++)
			end = end > x[i].end ? end : x[i].end;
		sum = et_bus(&m, 0)->bytes[BUS_OUT];
		assert_int_equal(sum, n * 100 * (24 + ELAN_PACKET));
		rate = sum * 1000000 / (uint64_t)end;
		assert_in_range(rate, 420, 455);
		assert_true(et_bus(&m, 0)->busy <= end + US);
		/* each has its share */
		for (uint32_t i = 0; i < n; i++)
			assert_true(x[i].end > end * 9 / 10);
		et_fini(&m);
	}
}

TESTS(TEST(qsn_f84_a_second_cpu_is_slightly_slower),
	TEST(qsn_f9_cpus_share_a_pci_x_bus))
