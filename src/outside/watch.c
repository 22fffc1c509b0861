#include "outside/watch.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "outside/handover.h"
#include "outside/process.h"
#include "sim/pace.h"

#define MS INT64_C(1000000) /* ns */

enum {
	EACH_MS = 100, /* between looks ... */
	PARTS = 100, /* of a core; a rank that takes more computes */
	FIRST_S = 5, /* until the first message */
};

struct watched {
	_Atomic int pid; /* 0: it does not run */
	const struct handover *_Atomic channel;
};

struct watch {
	uint32_t n;
	int64_t most;
	bool is_debugged;
	_Atomic int helper; /* 0: another process has it */
	struct watched rank[];
};

struct watch *watch_new(uint32_t n_ranks, int64_t most, bool is_debugged)
{
	struct watch *w =
		mem_alloc(1, sizeof(*w) + n_ranks * sizeof(struct watched));

	w->n = n_ranks;
	w->most = most;
	w->is_debugged = is_debugged;
	return w;
}

void watch_free(struct watch *w)
{
	mem_free(w);
}

void watch_begin(struct watch *w, uint32_t rank, pid_t pid,
	const struct handover *channel)
{
	atomic_store(&w->rank[rank].channel, channel);
	atomic_store(&w->rank[rank].pid, pid);
}

void watch_end(struct watch *w, uint32_t rank)
{
	atomic_store(&w->rank[rank].pid, 0);
}

void watch_helper(struct watch *w, pid_t pid)
{
	atomic_store(&w->helper, pid);
}

/* --- looks --- */

enum activity { COMPUTES, WANTS_TO_COMPUTE, WAITS_FOR_IO, IDLE };

/* Ranks without the turn wait for the simulator, which waits for others. */
static bool has_turn(const struct watched *r)
{
	const struct handover *h = atomic_load(&r->channel);

	return !h || atomic_load(&h->channel->turn) == CHANNEL_RANK;
}

/* A process that has ended counts, too: then the sum is less. */
static bool has_grown(int64_t from, int64_t to, int64_t time)
{
	return to < from || to - from > time / PARTS;
}

static int64_t own_cpu(const struct watch *w)
{
	int64_t sum = process_cpu(atomic_load(&w->helper));

	for (uint32_t i = 0; i < w->n; i++)
		sum += process_cpu(atomic_load(&w->rank[i].pid));
	return sum;
}

/* The costly look, at what ranks have started and at what they wait for. */
static enum activity look_closely(
	const struct watch *w, struct watch_wait *t, int64_t time)
{
	enum activity found = IDLE, a;
	int64_t sum = 0;

	for (uint32_t i = 0; i < w->n; i++) {
		int pid = atomic_load(&w->rank[i].pid);
		struct process_state s;

		if (!pid || !has_turn(&w->rank[i]))
			continue;
		s = process_state(pid);
		sum += s.cpu;
		a = s.is_traced	     ? COMPUTES
		    : s.is_runnable  ? WANTS_TO_COMPUTE
		    : s.waits_for_io ? WAITS_FOR_IO
				     : IDLE;
		found = a < found ? a : found;
	}
	if (found > WANTS_TO_COMPUTE &&
		process_is_runnable(atomic_load(&w->helper)))
		found = WANTS_TO_COMPUTE;
	if (has_grown(t->more, sum, time))
		found = COMPUTES;
	t->more = sum;
	return found;
}

void watch_look(struct watch *w, struct watch_wait *t)
{
	int64_t now = pace_clock(), time = now - t->last, more = t->more;
	int64_t cpu, own;
	enum activity a = COMPUTES;

	if (w->is_debugged || (t->last && time < (EACH_MS + w->n) * MS))
		return;
	cpu = own_cpu(w);
	own = cpu - t->cpu;
	/* longer gaps are not the ranks': this process was stopped */
	if (time > WATCH_S)
		time = WATCH_S;
	if (!t->last)
		time = 0;
	else if (!has_grown(t->cpu, cpu, time))
		a = look_closely(w, t, time);
	if (t->more - more > own)
		own = t->more - more;
	t->last = now;
	t->cpu = cpu;
	if (a == WANTS_TO_COMPUTE) /* the host is busy: no time passes */
		return;
	t->quiet = a == COMPUTES ? 0 : t->quiet + time;
	t->idle = a == IDLE ? t->idle + time : 0;
	if (a != COMPUTES || own > time)
		t->late += time;
	else if (own > 0)
		t->late += own;
}

bool watch_tells(const struct watch *w, struct watch_wait *t, int64_t time)
{
	int64_t first = FIRST_S * WATCH_S;

	if (w->most && w->most / 2 < first)
		first = w->most / 2;
	if (time < first || time < 2 * t->told)
		return false;
	t->told = time;
	return true;
}

bool watch_is_over(const struct watch *w, const struct watch_wait *t)
{
	return w->most && t->idle >= w->most;
}

int64_t watch_most(const struct watch *w)
{
	return w->most;
}

/* MPI's own files are among those above 2. */
void watch_describe(
	const struct watch *w, uint32_t rank, char *text, size_t size)
{
	const struct watched *r = &w->rank[rank];
	const struct handover *h = atomic_load(&r->channel);
	pid_t pid = atomic_load(&r->pid);
	bool has_begun = h && atomic_load(&h->channel->begun);
	int n;

	if (!pid) {
		snprintf(text, size, "has not been started");
		return;
	}
	process_describe(pid, text, size);
	n = (int)strlen(text);
	snprintf(text + n, size - (size_t)n, "%s (process %d)",
		has_begun && !process_has_files(pid)
			? ", and has closed all descriptors above 2"
			: "",
		(int)pid);
}
