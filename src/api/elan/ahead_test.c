/*
 * Programs that are ahead of their nodes after they have stored commands: runs
 * in which they may be have the same times and the same digest as runs in which
 * they may not, on any number of threads.
 */
#include "api/elan/tport_testing.h"
#include "host/program.h"
#include "testing/testing.h"

enum { NODES = 4, ROUNDS = 30 };

struct trial {
	bool is_exact;
	sim_time ended[NODES];
};

/* Messages with and without fronts, short and long, received before and after
 * they come; puts, and waits of any length in between. */
static void run(void *arg)
{
	uint32_t me = program_node(), next = (me + 1) % NODES, out, in;
	struct trial *x = arg;
	struct elan_tport t = tpt_open();
	struct elan_cq q;

	if (x->is_exact)
		program_be_exact();
	assert_int_equal(elan_cq_open(&q, 40, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(50 * US);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct elan_tport_message m = { .rank = next,
			.tag = i,
			.data = i,
			.flags = i % 3 ? 0 : ELAN_TPORT_DATA,
			.at = ET_SOURCE,
			.bytes = i % 7 ? 8 + i : 4096 };

		if (i % 2)
			program_charge((sim_time)(13 * me + i) * 20 * SIM_NS);
		in = tpt_post(&t, (me + NODES - 1) % NODES, i, TPT_ALL,
			ET_TARGET, 4096);
		assert_int_equal(elan_tport_send(&t, &m, &out), 0);
		if (i % 5 == 0)
			elan_put(&q, next, ET_TARGET + 8192, &i, 4, 0, 0);
		assert_int_equal(elan_tport_wait(&t, in, NULL), 0);
		assert_int_equal(elan_tport_wait(&t, out, NULL), 0);
	}
	x->ended[me] = program_now();
}

static uint64_t digest_of(struct trial *x, uint32_t n_workers, uint64_t *events)
{
	struct et m;
	uint64_t digest;

	et_init(&m, "4");
	ET_RUN(&m, n_workers, { 0, run, x }, { 1, run, x }, { 2, run, x },
		{ 3, run, x });
	digest = et_digest(&m);
	*events = sim_n_events(m.net->sim);
	et_fini(&m);
	return digest;
}

static void it_shows_nowhere(void **state)
{
	struct trial exact = { .is_exact = true };
	uint64_t all, some, digest = digest_of(&exact, 1, &all);

	(void)state;
	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct trial ahead = { 0 };

		assert_int_equal(digest_of(&ahead, workers, &some), digest);
		for (uint32_t i = 0; i < NODES; i++)
			assert_int_equal(ahead.ended[i], exact.ended[i]);
		assert_int_equal(some, all);
	}
}

TESTS(TEST(it_shows_nowhere))
