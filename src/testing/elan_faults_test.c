/*
 * QsNetII while things go wrong: bits flip on links and in card memory, pages
 * are missing and are taken away, links and switches die and return, while all
 * nodes do everything that the card can do; elan_work_testing.h has what they
 * do and check.
 *
 * WEFT_LONG is the number of runs of 30 rounds, each with its own seed and on
 * one thread and two.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/random.h"
#include "testing/elan_work_testing.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

struct trial {
	struct kit kit;
	struct work work;
	uint32_t deaths;
};

enum { TEXT = 2048 };

/* Parts that die one after the other, each for 100 to 400 us. */
static void plan(const struct trial *t, char text[TEXT])
{
	int n = snprintf(text, TEXT, "faults.events=");
	char what[32];

	for (uint32_t i = 0; i < t->deaths; i++) {
		struct random_bits r = random_draw(
			t->work.seed, i, RANDOM_PATTERN, UINT64_MAX);
		uint32_t at = 120 + 600 * i, x = (uint32_t)(r.a >> 8);

		if (i % 3 == 0)
			snprintf(what, sizeof(what), "link %u", x % WORK_NODES);
		else if (i % 3 == 1)
			snprintf(what, sizeof(what), "link 1.%u up %u", x % 4,
				x / 4 % 4);
		else
			snprintf(what, sizeof(what), "switch %u.%u", 1 + x % 2,
				x / 2 % 4);
		n += snprintf(text + n, (size_t)(TEXT - n),
			"%s%u us %s dies; %u us %s returns", i ? "; " : "", at,
			what, at + 100 + (uint32_t)(r.b % 300), what);
	}
}

/* Seeds differ in the way of early messages, too. */
static uint64_t run(struct trial *t, uint32_t threads)
{
	static const char *const ways[] = { "nic.match.by=interrupt",
		"nic.match.by=card", "nic.match.by=reject" };
	char events[TEXT];
	const char *const sets[] = { ways[t->work.seed % 3],
		"faults.bit-errors=3e-6; node up 2e-5", "faults.memories=1e-3",
		"nic.mmu.demand=yes", events, NULL };
	const struct kit_how how = {
		.machine = "qsnet2-16",
		.sets = sets,
		.seed = t->work.seed,
		.n_workers = threads,
		.needs.n_programs = WORK_NODES,
	};
	uint64_t digest;

	plan(t, events);
	kit_open(&t->kit, &how);
	work_start(&t->work, t->kit.host);
	digest = kit_run(&t->kit, false);
	work_finish(&t->work, t->kit.nic);
	return digest;
}

/* What was done, and what went wrong. */
struct sums {
	uint64_t packets, bit_errors, lost, flips, faults, drops, deaths;
	uint64_t resent, duplicates, matched, early;
	uint64_t count[WORK_KINDS];
};

static void add_links(struct sums *s, const struct net *n)
{
	s->packets += net_total(n).delivered;
	for (uint32_t i = 0; i < n->topo->n_wires; i++) {
		struct fault_counts c = faults_total(n->faults, i);

		s->bit_errors += c.bit_errors;
		s->lost += c.lost;
	}
}

static void add_node(struct sums *s, const struct trial *t, site_id i)
{
	const struct work_end *e = &t->work.end[i];
	struct elan_counts c = elan_counts(t->kit.nic, i);

	assert_int_equal(c.escapes, 0);
	assert_int_equal(c.uncorrectable, 0);
	s->flips += c.corrected;
	s->faults += c.faults;
	s->drops += e->drops;
	s->resent += c.resent;
	s->duplicates += c.duplicates;
	s->matched += c.noted[ELAN_MATCHED];
	s->early += c.noted[ELAN_EARLY];
	for (uint32_t k = 0; k < WORK_KINDS; k++)
		s->count[k] += e->count[k];
}

static void show(const char *what, uint64_t n)
{
	print_message("%s: %llu\n", what, (unsigned long long)n);
}

static void show_all(const struct sums *s)
{
	show("packets", s->packets);
	show("bit errors", s->bit_errors);
	show("packets lost on dead links", s->lost);
	show("flips in card memory", s->flips);
	show("page faults", s->faults);
	show("pages dropped", s->drops);
	show("links and switches that die", s->deaths);
	show("packets sent again", s->resent);
	show("duplicates", s->duplicates);
	show("messages matched", s->matched);
	show("messages that came early", s->early);
	for (uint32_t k = 0; k < WORK_KINDS; k++)
		show(work_names[k], s->count[k]);
}

static void all_is_right_whatever_goes_wrong(void **state)
{
	static struct trial t;
	const char *is_long = getenv("WEFT_LONG");
	uint64_t n = is_long ? strtoull(is_long, NULL, 10) : 1, digest;
	bool is_slow = getenv("WEFT_SLOW");
	struct sums s = { 0 };

	t.work.rounds = is_long ? 30 : is_slow ? 1 : 4;
	t.deaths = is_long ? 20 : 6;
	for (t.work.seed = 1; t.work.seed <= n; t.work.seed++) {
		digest = run(&t, 1);
		add_links(&s, t.kit.net);
		s.deaths += t.deaths;
		for (site_id i = 0; i < WORK_NODES; i++)
			add_node(&s, &t, i);
		kit_close(&t.kit);
		assert_int_equal(run(&t, 2), digest);
		kit_close(&t.kit);
	}
	show_all(&s);
	if (is_slow)
		return;
	assert_true(s.bit_errors > 100 && s.lost > 0 && s.flips > 50);
	assert_true(s.faults > 50 && s.drops > 50 && s.early > 10);
	for (uint32_t k = 0; k < WORK_KINDS; k++)
		assert_true(s.count[k] > 80);
}

TESTS(TEST(all_is_right_whatever_goes_wrong))
