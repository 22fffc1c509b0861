#include "load/mpi_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "facts/facts.h"
#include "outside/watch.h"

/* --- keys --- */

static int read_compute(struct mpi_time *t, struct err *e)
{
	static const char *const words[] = { [CHANNEL_FREE] = "free",
		[CHANNEL_CPU] = "cpu",
		[CHANNEL_RECORD] = "record:",
		[CHANNEL_REPLAY] = "replay:" };

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);
		bool has_file = words[i][n - 1] == ':';

		if (strncmp(t->compute, words[i], n) != 0 ||
			has_file == !t->compute[n])
			continue;
		t->ways.computing = i;
		t->file = has_file ? t->compute + n : NULL;
		return 0;
	}
	return err_set(e,
		"compute: %s is none of free, cpu, record:FILE and replay:FILE",
		t->compute);
}

int mpi_time_init(struct mpi_time *t, const struct load *l, uint32_t n_ranks,
	struct err *e)
{
	if (read_compute(t, e))
		return -1;
	t->ways.speed = (uint64_t)t->speed;
	t->ways.is_trapped = t->tsc != 0;
	t->ways.is_interrupted = t->spin != 0;
	if (t->ways.computing == CHANNEL_RECORD && l->place)
		return err_set(e, "compute: a job among others cannot be "
				  "recorded; record it alone, then use "
				  "compute=replay:FILE");
	if (t->ways.computing == CHANNEL_RECORD)
		t->computing = computing_new(n_ranks);
	if (t->ways.computing == CHANNEL_REPLAY) {
		t->computing = computing_read(t->file, n_ranks, e);
		return t->computing ? 0 : -1;
	}
	return 0;
}

void mpi_time_fini(struct mpi_time *t)
{
	computing_free(t->computing);
}

/* At once: the run may never end. */
static void on_late(const struct proxy *p, int64_t cpu, const char *where)
{
	fprintf(stderr,
		"weft: rank %u has computed for %.1f s without a call of MPI, "
		"and is in %s\n",
		p->rank, (double)cpu / 1e12, where);
}

static void on_quiet(const struct proxy *p, int64_t time, const char *what)
{
	fprintf(stderr,
		"weft: no rank has computed for %.0f s, and the machine waits "
		"for rank %u, which %s\n",
		(double)time / 1e9, p->rank, what);
}

void mpi_time_set(struct mpi_time *t, struct proxy *p)
{
	p->on_late = on_late;
	p->on_quiet = on_quiet;
	p->long_sleep = t->idle / 10;
	p->computing = t->computing;
	p->is_recorded = t->ways.computing == CHANNEL_RECORD;
	p->patience = t->patience;
}

/* --- the end of those who only wait --- */

/* Ranks of all processes by what they do. */
enum { ACTIVE, POLLS, DOES_MORE, N_WAYS };

static void count_ranks(const struct mpi_time *t, const struct sim *sim,
	const struct proxy *p, uint32_t n, uint64_t by[N_WAYS])
{
	sim_time now = sim_now(sim);

	memset(by, 0, N_WAYS * sizeof(*by));
	for (uint32_t i = 0; i < n; i++) {
		if (!sim_has(sim, p[i].node) || p[i].ended)
			continue;
		by[ACTIVE] += now - p[i].active < t->idle;
		by[POLLS] += proxy_polls(&p[i]);
		by[DOES_MORE] += !proxy_polls(&p[i]) && !proxy_waits(&p[i]);
	}
	sim_sum(sim, by, N_WAYS);
}

bool mpi_time_is_over(const struct mpi_time *t, const struct load *l,
	struct proxy *p, uint32_t n)
{
	const struct sim *sim = l->net->sim;
	uint64_t by[N_WAYS];
	bool only_polls, is_hopeless = false;

	count_ranks(t, sim, p, n, by);
	only_polls = by[POLLS] && !by[DOES_MORE];
	if (only_polls || !by[ACTIVE]) {
		struct nic_pending e = nic_pending(l->nic, l->place);

		is_hopeless = e.n <= e.programs + e.patient;
	}
	for (uint32_t i = 0; i < n; i++)
		if (sim_has(sim, p[i].node))
			p[i].is_hopeless = only_polls && is_hopeless;
	return !by[ACTIVE] && is_hopeless;
}

/* --- words --- */

void mpi_time_describe(const struct mpi_time *t, const struct proxy *p,
	char *text, size_t size)
{
	const char *recorded =
		computing_call(t->computing, p->rank, p->turn.n_calls);
	bool has_ended = p->turn.call.name == CHANNEL_NONE;

	snprintf(text, size,
		"rank %u does not make the calls of the recording %s: after "
		"%" PRIu64 " calls comes %s, and in the recording %s",
		p->rank, t->file, p->turn.n_calls,
		has_ended ? "its end" : account_call_name(p->turn.call.name),
		recorded ? recorded : "its end");
}

void mpi_time_describe_idle(struct proxy *p, char *text, size_t size)
{
	const struct watch *w = start_watch(p->start);
	char what[240];

	p->reasons |= CHANNEL_IDLE;
	watch_describe(w, p->rank, what, sizeof(what));
	snprintf(text, size,
		"rank %u %s; nothing has happened for %.0f s (patience-wall)",
		p->rank, what, (double)watch_most(w) / 1e9);
}

int mpi_time_fail_idle(struct proxy *p, bool is_stopped, struct err *e)
{
	char text[400];

	if (is_stopped)
		return err_set_code(e, EXIT_STOPPED, "stopped");
	mpi_time_describe_idle(p, text, sizeof(text));
	return err_set_code(e, EXIT_DEADLOCK,
		"rank %u does not end after MPI_Finalize at %.3f us: %s",
		p->rank, (double)p->ended / 1e6, text);
}

void mpi_time_facts(const struct mpi_time *t, const struct proxy *p, uint32_t n,
	struct facts *f)
{
	static const struct {
		uint32_t reason;
		const char *name;
	} names[] = {
		{ CHANNEL_THREADS, "threads" },
		{ CHANNEL_SOCKETS, "sockets" },
		{ CHANNEL_CLOCKS, "the host's clocks" },
		{ CHANNEL_RANDOM, "the host's random numbers" },
		{ CHANNEL_ADDRESSES, "addresses of memory" },
		{ CHANNEL_SIGNAL, "a signal from outside" },
		{ CHANNEL_IDLE, "patience-wall" },
	};
	bool is_measured = t->ways.computing == CHANNEL_CPU ||
			   t->ways.computing == CHANNEL_RECORD;
	uint32_t seen = 0, n_names = sizeof(names) / sizeof(names[0]);

	for (uint32_t i = 0; i < n; i++)
		seen |= p[i].reasons;
	facts_flag(f, "reproducible", !is_measured && !t->spin && !seen);
	facts_list(f, "irreproducible_by");
	if (is_measured)
		facts_text(f, NULL, "measured computing");
	if (t->spin)
		facts_text(f, NULL, "interrupts of ranks that compute");
	for (uint32_t i = 0; i < n_names; i++)
		if (seen & names[i].reason)
			facts_text(f, NULL, names[i].name);
	facts_end(f);
	if (!is_measured && !t->spin && !seen)
		facts_say(f, "reproducible", "yes");
	else
		facts_line(f, "reproducible", "no: {irreproducible_by}");
}
