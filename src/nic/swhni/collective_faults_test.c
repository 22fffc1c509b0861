/* Collectives when nodes die, packets vanish, or a job leaves. */
#include "nic/swhni/collective_testing.h"
#include "testing/testing.h"

static void set_mix(uint32_t n, uint32_t arity)
{
	ct_set(n, arity);
	for (uint32_t k = 0; k < 6; k++) {
		ct_add(SWHNI_SUM, SWHNI_FLOAT32, 40 + 400 * k, 0);
		ct_add(SWHNI_BARRIER, 0, 0, 0);
		ct_add(SWHNI_BROADCAST, 0, 300, k);
		ct_add(SWHNI_BROADCAST, 0, 8, n - 1 - k);
	}
}

/* SUN-F54: SUN-F96: without retries of links packets vanish, on the way up, on
 * the way back and in the middle of a multicast; and every result is right. */
static void sun_f96_lost_packets_do_not_matter(void **state)
{
	uint64_t digest = 0;

	for (uint32_t i = 0; i < 3; i++) {
		struct st m;
		uint64_t was = digest;

		st_init(&m);
		st_set(&m, "link.retry=none");
		st_set(&m, "link.fec=none");
		st_set(&m, "faults.bit-errors=4e-6");
		st_set(&m, "nic.retry.limit=20");
		m.n_workers = 1 + i % 2;
		set_mix(24, 5);
		if (i == 2)
			ct_plan.entry = SWHNI_NO_ENTRY;
		digest = ct_run(&m);
		for (uint32_t k = 0; k < ct_plan.n_rounds; k++)
			if (ct_plan.round[k].bytes)
				ct_check(k);
		assert_true(nic_sum(m.kit.nic, "torn") > 20);
		assert_true(nic_sum(m.kit.nic, "resent") > 5);
		assert_true(nic_sum(m.kit.nic, "probes") > 0);
		if (i == 1)
			assert_true(digest == was);
		st_fini(&m);
	}
}

static uint32_t count_errors(uint32_t but)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < ct_plan.n; i++) {
		uint32_t k = 0;

		while (k < ct_plan.n_rounds && !ct_plan.error[k][i])
			k++;
		if (i != but)
			failed += k < ct_plan.n_rounds &&
				  ct_plan.error[k][i] == SWHNI_BROKEN;
	}
	return failed;
}

static void one_dies(const char *event, uint32_t node)
{
	struct st m;

	st_init(&m);
	st_set(&m, event);
	m.may_err = true;
	set_mix(24, 5);
	ct_plan.may_fail = true;
	ct_run(&m);
	assert_int_equal(count_errors(node), 23);
	/* in bounded time: some time-outs, each longer than the one before */
	for (uint32_t i = 0; i < ct_plan.n; i++)
		for (uint32_t k = 0; k < ct_plan.n_rounds; k++)
			assert_true(ct_plan.end[k][i] <
				    20000000 * (sim_time)SIM_NS);
	st_fini(&m);
}

/* A leaf, an inner member, the root: every other member gets an error. */
static void sun_f96_a_dead_member_is_an_error_for_all(void **state)
{
	one_dies("faults.events=30 us node 23 dies", 23);
	one_dies("faults.events=30 us node 2 dies", 2);
	one_dies("faults.events=30 us node 0 dies", 0);
}

/* SUN-F96: A rail that dies takes results and parts with it, and nothing is
 * wrong. */
static void a_dead_rail_does_not_matter(void **state)
{
	static const char *const events[] = {
		"faults.events=25 us rail 0 dies",
		"faults.events=25 us rail 1 dies",
		"faults.events=25 us switch 0:1.1 dies",
	};

	for (uint32_t i = 0; i < 3; i++) {
		struct st m;

		st_init(&m);
		st_set(&m, events[i]);
		set_mix(24, 5);
		ct_run(&m);
		for (uint32_t k = 0; k < ct_plan.n_rounds; k++)
			if (ct_plan.round[k].bytes)
				ct_check(k);
		st_fini(&m);
	}
}

/* --- jobs --- */

static void leave(struct st *m, site_id node)
{
	struct nic_at a;

	if (node != 4) {
		ct_member(m, node);
		return;
	}
	st_open();
	program_charge(5000 * SIM_NS);
	a = nic_now(m->kit.nic);
	swhni_leave(&a, ST_JOB);
}

/* SUN-F59: what comes for it is dropped, and its peers hear of it. */
static void a_job_that_leaves_breaks_its_collectives(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	ct_set(9, 3);
	ct_plan.may_fail = true;
	ct_add(SWHNI_BARRIER, 0, 0, 0);
	m.prepare = ct_set_chain;
	st_run(&m, ct_plan.n, leave);
	assert_int_equal(count_errors(4), 8);
	st_fini(&m);
}

TESTS(TEST(sun_f96_lost_packets_do_not_matter),
	TEST(sun_f96_a_dead_member_is_an_error_for_all),
	TEST(a_dead_rail_does_not_matter),
	TEST(a_job_that_leaves_breaks_its_collectives))
