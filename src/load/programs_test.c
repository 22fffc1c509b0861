/* When a run of programs is over: cards may go on for ever. */
#include "load/programs.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { NODES = 16, QUEUE = 5, AT = 0x1000 };

/* Barriers, of which a process comes to the last one late, or never. */
struct meeting {
	uint32_t who;
	sim_time late; /* SIM_NEVER: for ever */
	uint32_t left; /* processes, the last barrier */
};

static void meet(void *arg)
{
	struct meeting *x = arg;
	bool is_late = elan_rank() == x->who;
	struct elan_hgsync h;

	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT), 0);
	program_wait(50 * US);
	assert_int_equal(elan_hgsync(&h), 0);
	if (is_late && x->late == SIM_NEVER)
		return;
	if (is_late)
		program_charge(x->late);
	assert_int_equal(elan_hgsync(&h), 0);
	x->left++;
}

/* As a run does it; returns when it was over. */
static sim_time run_until_over(struct meeting *x, bool *is_stalled)
{
	struct programs p = { 0 };
	struct et m;
	sim_time t;

	et_init(&m, "16");
	m.nodes = "16";
	et_start(&m, 1, NODES);
	p.load.net = m.net;
	p.load.host = m.host;
	p.load.nic = m.nic;
	programs_open(&p);
	for (uint32_t i = 0; i < NODES; i++)
		program_start(m.host, i, 0, 0, meet, x);
	while ((t = programs_next(&p.load)) != SIM_NEVER)
		sim_run(m.net->sim, t);
	t = sim_now(m.net->sim);
	*is_stalled = p.load.is_stalled;
	programs_fini(&p.load);
	et_fini(&m);
	return t;
}

/* By ten times router.stall, which is 100 us. */
static void a_run_ends_where_cards_only_ask(void **state)
{
	for (uint32_t who = 1; who < NODES; who += 7) {
		struct meeting x = { .who = who, .late = SIM_NEVER };
		bool is_stalled;

		assert_in_range(
			run_until_over(&x, &is_stalled), 1000 * US, 2000 * US);
		assert_true(is_stalled);
		assert_int_equal(x.left, 0);
	}
}

static void a_program_may_compute_for_as_long_as_it_wants(void **state)
{
	for (uint32_t who = 0; who < NODES; who += 8) {
		struct meeting x = { .who = who, .late = 20 * MS };
		bool is_stalled;

		assert_true(run_until_over(&x, &is_stalled) > 20 * MS);
		assert_false(is_stalled);
		assert_int_equal(x.left, NODES);
	}
}

TESTS(TEST(a_run_ends_where_cards_only_ask),
	TEST(a_program_may_compute_for_as_long_as_it_wants))
