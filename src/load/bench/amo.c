/*
 * Atomic operations from many to one: programs on nodes of other routers add to
 * random words of node 0, with a limited number of additions in flight.  At the
 * end every word is checked.
 */
#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"
#include "sim/random.h"

#define AT(field) offsetof(struct amo, field)
#define WORDS_AT  BENCH_FREE

enum { MOST_WORDS = 1 << 20, MOST_SENDERS = 65536, COUNTER = 0, NOTICE = 8 };
enum { USUAL_SENDERS = 32 };

struct amo {
	struct bench bench;
	/* keys */
	int64_t variables, senders, window;

	bool is_settled; /* node 0 has all sums in its memory; its process's */
};

static const struct param params[] = {
	KEY_COUNT("variables", AT(variables), "1", 1, MOST_WORDS,
		"number of words that are added to"),
	KEY_COUNT("senders", AT(senders), "0", 0, MOST_SENDERS,
		"number of nodes that add to words of node 0, at routers other "
		"than node 0's; 0: 32, or all of them if there are fewer"),
	KEY_COUNT("rounds", AT(bench.rounds), "32000", 1, 1000000000,
		"total number of additions"),
	KEY_COUNT("window", AT(window), "64", 1, 64,
		"largest number of unfinished additions of a sender"),
	KEY_CPU(AT(bench.cpu)),
};

static struct amo *of(const struct bench_end *x)
{
	return (struct amo *)x->bench;
}

static uint64_t at_of(uint64_t variable)
{
	return WORDS_AT + 8 * variable;
}

/* The number of additions of the i-th program; the first makes none. */
static uint64_t share(const struct amo *m, uint64_t i)
{
	uint64_t rounds = (uint64_t)m->bench.rounds, n = (uint64_t)m->senders;

	return rounds / n + (i - 1 < rounds % n);
}

/* A sender's k-th variable, and what is added to it. */
static uint64_t draw(
	const struct amo *m, site_id node, uint64_t k, uint64_t *operand)
{
	struct random_bits r = random_draw(
		m->bench.programs.load.seed, node, RANDOM_TARGET, k);

	*operand = m->bench.driver->atomics->adds_one ? 1 : r.b;
	return random_below(r.a, (uint64_t)m->variables);
}

/* --- the programs --- */

static bool add_all(struct bench_end *x)
{
	const struct amo *m = of(x);
	uint64_t k, n = share(m, (uint64_t)(x - x->bench->ends));
	uint64_t operand, variable;

	for (k = 0; k < n; k++) {
		variable = draw(m, x->node, k, &operand);
		x->driver->atomics->change(x, 0, at_of(variable), BENCH_ADD,
			operand, (uint32_t)m->window);
	}
	return x->driver->flush(x) ||
	       programs_fail(x->programs, "not all additions were made");
}

static void tell_done(struct bench_end *x)
{
	struct bench_transfer done = bench_transfer(x, 0, NOTICE);

	done.counter = COUNTER;
	done.is_tracked = true;
	bench_track_puts(x, x->bench->means, 1, NOTICE);
	x->driver->put(x, &done);
	x->driver->flush(x);
}

static void collect(struct bench_end *x)
{
	if (!bench_open(x))
		return;
	x->driver->expect(x, COUNTER, NOTICE * (uint64_t)of(x)->senders);
	bench_ready(x);
	of(x)->is_settled =
		x->driver->await(x, COUNTER) &&
		(!x->driver->atomics->settle || x->driver->atomics->settle(x));
}

static const struct bench_program adding = {
	.transfer = add_all,
	.check = tell_done,
};
static const struct bench_program collecting = { .run = collect };

/* --- the course of a run --- */

/* The first node of another router; nodes of one follow each other. */
static site_id first_sender(const struct topo *t)
{
	site_id s = 1;

	while (s < t->n_nodes && bench_router(t, s) == bench_router(t, 0))
		s++;
	return s;
}

/* The most that there can be. */
static uint32_t set_senders(struct amo *m, const struct topo *t)
{
	uint32_t most = t->n_nodes - first_sender(t);

	if (!m->senders)
		m->senders = most < USUAL_SENDERS ? most : USUAL_SENDERS;
	return most;
}

static int amo_init(struct load *l, struct err *e)
{
	struct amo *m = (struct amo *)l;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.touched = 64 << 10,
		.is_for_rate = true,
	};
	uint32_t most = set_senders(m, l->topo);
	const struct bench_atomics *atomics;

	n.n_programs = 1 + (uint32_t)m->senders;
	if (bench_init(&m->bench, &n, e))
		return -1;
	atomics = m->bench.driver->atomics;
	if (!atomics || !atomics->has_acks)
		return err_set(e, "amo: the %s has no atomic operations%s",
			l->nic_ops->title,
			atomics ? " that it acknowledges" : "");
	if (!most || m->senders > most)
		return err_set(e,
			"senders: only %u nodes are at routers other than node "
			"0's",
			most);
	return 0;
}

/* Senders are the first nodes of other routers. */
static void amo_start(struct load *l)
{
	struct bench *b = (struct bench *)l;
	uint32_t n = b->needs.n_programs - 1;
	site_id first = first_sender(l->net->topo);

	bench_open_ends(b);
	b->ends[0].is_sink = true;
	bench_run(b, 0, 0, (uint32_t)b->cpu, &collecting);
	for (uint32_t i = 0; i < n; i++)
		bench_run(b, i + 1, first + i, (uint32_t)b->cpu, &adding);
}

/* The first variable with another sum than that of all additions, or -1. */
static int64_t find_wrong(const struct amo *m)
{
	const struct bench *b = &m->bench;
	uint64_t *sum = mem_alloc((size_t)m->variables, sizeof(*sum));
	uint64_t operand, word;
	int64_t wrong = -1;

	for (uint64_t i = 1; i < b->needs.n_programs; i++)
		for (uint64_t k = 0; k < share(m, i); k++) {
			word = draw(m, b->ends[i].node, k, &operand);
			sum[word] += operand;
		}
	for (int64_t v = 0; v < m->variables && wrong < 0; v++) {
		word = bench_word(b, b->ends[0].node, at_of((uint64_t)v));
		wrong = word != sum[v] ? v : -1;
	}
	mem_free(sum);
	return wrong;
}

/* Sums are right only where no addition has failed. */
static int amo_check(struct load *l, struct err *e)
{
	const struct amo *m = (const struct amo *)l;
	int64_t wrong;

	if (programs_check(l, e))
		return -1;
	wrong = m->is_settled ? find_wrong(m) : -1;
	if (wrong >= 0)
		err_set_code(e, EXIT_INTERNAL, "variable %lld: wrong sum",
			(long long)wrong);
	return sim_share_error(l->net->sim, e);
}

static void amo_report(struct load *l, struct load_result *r)
{
	struct bench *b = (struct bench *)l;

	if (!bench_report(b, r))
		return;
	load_figure(
		r, "rate_Mps", (double)b->rounds * 1e6 / (double)bench_time(b));
}

const struct load_ops load_amo = {
	.name = "amo",
	.help = "atomic additions of many nodes to words of one node",
	.size = sizeof(struct amo),
	PARAMS(params),
	.on_delivered = programs_delivered,
	.next = programs_next,
	.check = amo_check,
	.estimate = bench_estimate,
	.fini = bench_fini,
	.init = amo_init,
	.start = amo_start,
	.report = amo_report,
};
