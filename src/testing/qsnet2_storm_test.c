/* Random messages on QsNetII: tagged ones, and memory whose pages are missing.
 * A run fails by itself where a byte is wrong. */
#include "load/bench/storm.h"
#include "nic/elan4/elan4.h"
#include "testing/trial_testing.h"

/* Tagged messages that programs have taken; all that were sent. */
static uint64_t n_blocks(const struct trial *t)
{
	const struct storm *m = (const struct storm *)t->run->load;
	uint64_t came = 0, sent = 0;

	for (uint32_t i = 0; i < m->n_lanes; i++) {
		const struct lane *l = m->bench.ends[i].data;

		came += l->sends.came;
		sent += l->sends.sent;
	}
	assert_int_equal(came, sent);
	return came;
}

/* Of all cards. */
static struct elan_counts cards(const struct trial *t)
{
	const struct load *l = t->run->load;
	struct elan_counts sum = { 0 };

	for (site_id i = 0; i < l->topo->n_nodes; i++) {
		struct elan_counts c = elan_counts(l->nic, i);

		sum.faults += c.faults;
		sum.noted[ELAN_MATCHED] += c.noted[ELAN_MATCHED];
		sum.noted[ELAN_EARLY] += c.noted[ELAN_EARLY];
	}
	return sum;
}

/* Each tagged message once and in order, or a program complains. */
static void tagged_messages_are_all_matched(void **state)
{
	static const char *const ways[] = { "card", "reject", "interrupt" };
	char text[200];
	struct trial t;

	for (uint32_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		snprintf(text, sizeof(text),
			"storm count=300 match=yes bytes=6KiB nic.match.by=%s",
			ways[i]);
		trial_open(&t, "qsnet2-16", text);
		trial_same(trial_figure(&t, "messages"), 300);
		trial_same(trial_figure(&t, "failed_messages"), 0);
		trial_same(trial_figure(&t, "waiting_programs"), 0);
		assert_true(n_blocks(&t) > 30);
		/* and the numbers of blocks, for each pair */
		assert_true(cards(&t).noted[ELAN_MATCHED] > n_blocks(&t));
		assert_true(cards(&t).noted[ELAN_EARLY] > 0);
		trial_close(&t);
	}
	trial_open(&t, "qsnet2-16", "storm count=300");
	assert_int_equal(n_blocks(&t), 0);
	trial_close(&t);
}

static void pages_are_missing_and_no_call_notices(void **state)
{
	static const char *const keys[] = { "demand=yes", "drop=30",
		"match=yes demand=yes drop=100" };
	char text[200];
	struct trial t;

	for (uint32_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		snprintf(text, sizeof(text), "storm count=200 %s", keys[i]);
		trial_open(&t, "qsnet2-16", text);
		trial_same(trial_figure(&t, "messages"), 200);
		trial_same(trial_figure(&t, "failed_messages"), 0);
		trial_same(trial_figure(&t, "waiting_programs"), 0);
		assert_true(cards(&t).faults > 40);
		trial_close(&t);
	}
	trial_open(&t, "qsnet2-16", "storm count=200");
	assert_int_equal(cards(&t).faults, 0);
	trial_close(&t);
}

TESTS(TEST(tagged_messages_are_all_matched),
	TEST(pages_are_missing_and_no_call_notices))
