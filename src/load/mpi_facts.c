#include "load/mpi_facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "load/trips.h"

/* The kinds of an account: their key, and how a line tells of them. */
static const struct {
	const char *key, *text;
} kinds[N_ACCOUNTS] = {
	[ACCOUNT_MESSAGES] = { "messages_ps", "waiting for messages" },
	[ACCOUNT_COLLECTIVES] = { "collectives_ps", "waiting in collectives" },
	[ACCOUNT_CALLS] = { "calls_ps", "in the interface's calls" },
	[ACCOUNT_TESTS] = { "tests_ps", "in tests" },
	[ACCOUNT_OWN] = { "own_ps", "MPI's own time" },
	[ACCOUNT_COMPUTING] = { "computing_ps", "computing" },
};

static sim_time lasted(const struct proxy *p)
{
	return p->ended ? p->ended - p->account.began : 0;
}

static const struct proxy *find_slowest(const struct proxy *p, uint32_t n)
{
	const struct proxy *slowest = p;

	for (uint32_t i = 1; i < n; i++)
		if (lasted(&p[i]) > lasted(slowest))
			slowest = &p[i];
	return slowest;
}

/* What all ranks did. */
struct sums {
	uint64_t crossings, operations, n_short, n_long, bytes;
	uint64_t n_writes, n_reads, n_atomics, n_network, n_collectives;
};

static struct sums sum_up(const struct proxy *p, uint32_t n)
{
	struct sums s = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		const struct account *a = &p[i].account;

		s.crossings += p[i].crossings;
		s.operations += a->operations;
		s.n_short += a->n_short;
		s.n_long += a->n_long;
		s.bytes += a->bytes;
		s.n_writes += a->n_writes;
		s.n_reads += a->n_reads;
		s.n_atomics += a->n_atomics;
		s.n_network += a->n_network;
		s.n_collectives += account_collectives(a);
	}
	return s;
}

static double ns(sim_time t)
{
	return (double)t / SIM_NS;
}

struct trip_sums mpi_trips(
	const struct proxy *p, uint32_t n, const struct sim *sim)
{
	struct trip_sums s = { 0 };

	for (uint32_t i = 0; i < n; i++)
		if (p[i].endpoint)
			trips_add(&s, endpoint_trips(p[i].endpoint));
	trips_gather(&s, sim);
	return s;
}

void mpi_figures(const struct proxy *p, uint32_t n,
	const struct trip_sums *trips, struct load_result *r)
{
	const struct proxy *slowest = find_slowest(p, n);
	const sim_time *spent = slowest->account.spent;
	struct sums s = sum_up(p, n);

	load_figure(r, "ranks", n);
	load_figure(r, "time_ns", ns(lasted(slowest)));
	load_figure(r, "waiting_ns",
		ns(spent[ACCOUNT_MESSAGES] + spent[ACCOUNT_COLLECTIVES]));
	load_figure(r, "calls_ns", ns(spent[ACCOUNT_CALLS]));
	load_figure(r, "tests_ns", ns(spent[ACCOUNT_TESTS]));
	load_figure(r, "own_ns", ns(spent[ACCOUNT_OWN]));
	load_figure(r, "computing_ns", ns(spent[ACCOUNT_COMPUTING]));
	load_figure(r, "crossings", (double)s.crossings);
	load_figure(r, "operations", (double)s.operations);
	load_figure(r, "short_messages", (double)s.n_short);
	load_figure(r, "long_messages", (double)s.n_long);
	load_figure(r, "message_bytes", (double)s.bytes);
	load_trips(trips, r);
}

/* --- facts --- */

static void add_rank(struct facts *f, const struct proxy *p)
{
	facts_same(f, "rank", p->rank);
	facts_same(f, "node", p->node);
	facts_same(f, "process", p->process);
	facts_int(f, "time_ps", lasted(p));
	for (uint32_t k = 0; k < N_ACCOUNTS; k++)
		facts_int(f, kinds[k].key, p->account.spent[k]);
}

static void add_ranks(struct facts *f, const struct proxy *p, uint32_t n)
{
	facts_list(f, "by_rank")->merge = FACT_ROWS;
	for (uint32_t i = 0; i < n; i++) {
		facts_group(f, NULL);
		add_rank(f, &p[i]);
		facts_count(f, "crossings", p[i].crossings);
		facts_count(f, "operations", p[i].account.operations);
		facts_count(f, "bytes", p[i].account.bytes);
		facts_end(f);
	}
	facts_end(f);
}

/* MPI's calls by name, of all ranks. */
static void add_calls(struct facts *f, const struct proxy *p, uint32_t n)
{
	facts_list(f, "by_call")->merge = FACT_ROWS;
	for (uint32_t k = 1; k < CHANNEL_NAMES; k++) {
		uint64_t calls = 0;
		sim_time spent = 0;

		for (uint32_t i = 0; i < n; i++) {
			struct account_call c = account_call(&p[i].account, k);

			calls += c.times;
			spent += c.spent;
		}
		if (!calls && !spent)
			continue;
		facts_group(f, NULL);
		facts_text(f, "call", account_call_name(k));
		facts_count(f, "calls", calls);
		facts_int(f, "time_ps", spent);
		facts_end(f);
	}
	facts_end(f);
}

/* "60.1 % waiting for messages, ..., computing free" */
static void write_shares(const struct proxy *p, char *text, size_t size)
{
	static const enum account_kind in_order[] = { ACCOUNT_MESSAGES,
		ACCOUNT_COLLECTIVES, ACCOUNT_CALLS, ACCOUNT_TESTS, ACCOUNT_OWN,
		ACCOUNT_COMPUTING };
	double all = lasted(p) ? (double)lasted(p) : 1;
	size_t n = 0;

	for (uint32_t i = 0; i < N_ACCOUNTS && n < size; i++) {
		enum account_kind k = in_order[i];
		sim_time spent = p->account.spent[k];

		if (spent || k == ACCOUNT_MESSAGES)
			n += (size_t)snprintf(text + n, size - n,
				"%.1f %% %s, ", 100 * (double)spent / all,
				kinds[k].text);
		else if (k == ACCOUNT_COMPUTING)
			n += (size_t)snprintf(
				text + n, size - n, "computing free, ");
	}
	text[n >= 2 && n < size ? n - 2 : size - 1] = '\0';
}

void mpi_facts_of(const struct proxy *p, uint32_t n,
	const struct trip_sums *trips, struct facts *f)
{
	const struct proxy *slowest = find_slowest(p, n);
	struct sums s = sum_up(p, n);
	char shares[256];

	write_shares(slowest, shares, sizeof(shares));
	facts_text(f, "library", *p->library ? p->library : NULL);
	facts_group(f, "slowest");
	add_rank(f, slowest);
	facts_real(f, "_time_ns", ns(lasted(slowest)));
	facts_text(f, "_shares", shares);
	facts_end(f);
	facts_long_line(
		f, "ranks", "slowest {slowest._time_ns:u}: {slowest._shares}");
	if (s.bytes < 100000)
		facts_print(f, "_amount", "%" PRIu64 " B", s.bytes);
	else
		facts_print(f, "_amount", "%.4g MB", (double)s.bytes / 1e6);
	facts_count(f, "puts", s.n_writes);
	facts_count(f, "gets", s.n_reads);
	facts_count(f, "atomics", s.n_atomics);
	facts_count(f, "collectives_by_network", s.n_network);
	facts_count(f, "collectives_by_messages",
		s.n_collectives > s.n_network ? s.n_collectives - s.n_network
					      : 0);
	facts_long_line(f, "messages",
		"{short_messages:.0f} short, {long_messages:.0f} long, "
		"{_amount}[puts?, {puts} put{puts|s}][gets?, "
		"{gets} get{gets|s}][atomics?, {atomics} "
		"atomic{atomics|s}]; calls of collectives: "
		"{collectives_by_network} by the network, "
		"{collectives_by_messages} by messages");
	add_ranks(f, p, n);
	add_calls(f, p, n);
	load_trip_facts(trips, f);
}

/* --- in a word --- */

/* "node 3", "nodes 0..7", "5 nodes" */
static void write_nodes(
	const struct proxy *p, uint32_t n, char *text, size_t size)
{
	uint32_t n_nodes = 1;
	bool are_next = true;

	for (uint32_t i = 1; i < n; i++) {
		n_nodes += p[i].node != p[i - 1].node;
		are_next &= p[i].node == p[i - 1].node ||
			    p[i].node == p[i - 1].node + 1;
	}
	if (n_nodes == 1)
		snprintf(text, size, "node %u", p->node);
	else if (are_next)
		snprintf(text, size, "nodes %u..%u", p->node, p[n - 1].node);
	else
		snprintf(text, size, "%u nodes", n_nodes);
}

/* "Open MPI v4.1.4" without its v */
static void write_library(const char *library, char *text)
{
	for (; *library; library++)
		if (*library != 'v' || !isdigit((unsigned char)library[1]))
			*text++ = *library;
	*text = '\0';
}

void mpi_head(const struct proxy *p, uint32_t n, char *text, size_t size)
{
	char nodes[64], library[CHANNEL_LIBRARY];

	write_nodes(p, n, nodes, sizeof(nodes));
	write_library(p->library, library);
	snprintf(text, size, "%u rank%s on %s%s%s", n, n == 1 ? "" : "s", nodes,
		*library ? ", " : "", library);
}
