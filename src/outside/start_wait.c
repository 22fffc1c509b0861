/* Waits for ranks: for the end of MPI_Init(), and for the end of a process. */
#define _GNU_SOURCE
#include <stdio.h>
#include <time.h>

#include "outside/start_state.h"

enum {
	SLICE = 50, /* ms between looks at whether a rank has failed */
	NAMED = 2, /* ranks that a message names, before it counts them */
};

/* --- the end --- */

/* Called with the lock held. */
static bool has_ended(const struct start *s, uint32_t rank)
{
	return rank == CHANNEL_ANY ? s->n_ended == s->n_ranks
				   : s->rank[rank].end.has_ended;
}

/* "ranks 3, 5 and 12 more": the ranks that pass a test; returns their number.
 */
static uint32_t name_ranks(struct start *s,
	bool (*is_one)(struct start *s, uint32_t rank), char *text, size_t size)
{
	uint32_t n = 0, which[NAMED + 1];
	int used;

	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (is_one(s, i) && n++ <= NAMED)
			which[n - 1] = i;
	used = snprintf(text, size, "%s %u", n > 1 ? "ranks" : "rank",
		n ? which[0] : 0);
	if (n == 2)
		snprintf(text + used, size - (size_t)used, " and %u", which[1]);
	else if (n == 3)
		snprintf(text + used, size - (size_t)used, ", %u and %u",
			which[1], which[2]);
	else if (n > 3)
		snprintf(text + used, size - (size_t)used, ", %u and %u more",
			which[1], n - NAMED);
	return n;
}

static bool still_runs(struct start *s, uint32_t rank)
{
	return !start_end(s, rank).has_ended;
}

/* The process of a rank reports one rank, the first process reports all. */
static void tell_working(
	struct start *s, uint32_t rank, const struct watch_wait *t)
{
	uint32_t n = 0;
	char who[80];

	if (rank == CHANNEL_ANY && start_is_first(s))
		n = name_ranks(s, still_runs, who, sizeof(who));
	if (rank != CHANNEL_ANY)
		fprintf(stderr,
			"weft: rank %u still runs %.0f s after its last call "
			"of MPI\n",
			rank, (double)t->late / 1e9);
	else if (n)
		fprintf(stderr, "weft: %s still %s %.0f s after MPI_Finalize\n",
			who, n > 1 ? "run" : "runs", (double)t->late / 1e9);
}

/* Waits for a moment; returns whether the rank, or all ranks, have ended. */
static bool await_end(struct start *s, uint32_t rank, uint32_t *n_ended)
{
	struct timespec until;
	bool is_over;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += SLICE * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&s->lock);
	if (!has_ended(s, rank))
		pthread_cond_timedwait(&s->ended, &s->lock, &until);
	is_over = has_ended(s, rank);
	*n_ended = s->n_ended;
	pthread_mutex_unlock(&s->lock);
	return is_over;
}

static bool is_set(const atomic_int *word)
{
	return word && atomic_load(word);
}

bool start_await_end(struct start *s, uint32_t rank)
{
	struct watch_wait t = { 0 };
	uint32_t before = 0, now;

	while (!await_end(s, rank, &now)) {
		if (is_set(s->stop[0]) || is_set(s->stop[1]) ||
			watch_is_over(s->watch, &t))
			return false;
		if (now != before)
			t = (struct watch_wait){ 0 };
		before = now;
		watch_look(s->watch, &t);
		if (watch_tells(s->watch, &t, t.late))
			tell_working(s, rank, &t);
	}
	return true;
}

/* --- the beginning --- */

static bool is_good_end(const struct start_end *end)
{
	return end->how == CHANNEL_ENDED && !end->value;
}

static enum channel_begun begun(const struct start *s, uint32_t rank)
{
	const struct channel *c = s->rank[rank].channel.channel;

	return (enum channel_begun)atomic_load(&c->begun);
}

static int refuse_end(struct start *s, uint32_t rank, struct err *e)
{
	struct start_end end = start_end(s, rank);
	char how[300];
	int code = start_describe(&end, how, sizeof(how));

	if (begun(s, rank) == CHANNEL_ROUND)
		return err_set(e,
			"rank %u: MPI_Init has not opened Weft's provider of "
			"libfabric, so messages would go round the simulated "
			"network; `weft mpirun --check PROGRAM` says why",
			rank);
	return err_set_code(e, code, "rank %u %s%s", rank, how,
		end.how == CHANNEL_FAILED ? "" : " before the end of MPI_Init");
}

/* An error if a rank waits in MPI_Init() for one that is gone for good. */
static int check_waiting(struct start *s, uint32_t gone, struct err *e)
{
	for (uint32_t i = 0; i < s->n_ranks; i++)
		if (begun(s, i) == CHANNEL_IN_INIT &&
			!start_end(s, i).has_ended)
			return err_set_code(e, EXIT_ANSWER_NO,
				"rank %u ended with exit code 0 without "
				"MPI_Init, in which rank %u waits for it",
				gone, i);
	return 0;
}

static int check_begin(struct start *s, struct err *e)
{
	for (uint32_t i = 0; i < s->n_ranks; i++) {
		struct start_end end = start_end(s, i);

		if (!end.has_ended || start_has_begun(s, i))
			continue;
		if (!is_good_end(&end))
			return refuse_end(s, i, e);
		if (check_waiting(s, i, e))
			return -1;
	}
	return 0;
}

bool start_has_begun(const struct start *s, uint32_t rank)
{
	return handover_has_spoken(&s->rank[rank].channel);
}

/* Threads of a rank could wait in the network for two communicators in
 * different orders.  All ranks must do the same, so then all use messages. */
static void agree_on_collectives(struct start *s)
{
	bool has_threads = false;

	for (uint32_t i = 0; i < s->n_ranks; i++)
		has_threads |= s->rank[i].channel.channel->has_threads;
	for (uint32_t i = 0; has_threads && i < s->n_ranks; i++)
		s->rank[i].channel.channel->collectives = 0;
}

/* Whether it has come to its first turn or has ended; its number may be known a
 * moment later than that. */
static bool is_settled(struct start *s, uint32_t rank)
{
	return handover_settle(&s->rank[rank].channel, SLICE) &&
	       (start_pid(s, rank) || start_end(s, rank).has_ended);
}

/* --- while it lasts --- */

/* Whether it has neither called MPI_Init() nor ended. */
static bool is_outside(struct start *s, uint32_t rank)
{
	return begun(s, rank) == CHANNEL_NOT_MPI && !start_has_begun(s, rank) &&
	       still_runs(s, rank);
}

static bool is_inside(struct start *s, uint32_t rank)
{
	return begun(s, rank) == CHANNEL_IN_INIT && !start_has_begun(s, rank) &&
	       still_runs(s, rank);
}

static void tell_starting(struct start *s, const struct watch_wait *t)
{
	const char *what = "called";
	char who[80];
	uint32_t n = name_ranks(s, is_outside, who, sizeof(who));

	if (!n) {
		what = "left";
		n = name_ranks(s, is_inside, who, sizeof(who));
	}
	if (n)
		fprintf(stderr, "weft: %s %s not %s MPI_Init after %.0f s\n",
			who, n > 1 ? "have" : "has", what,
			(double)t->late / 1e9);
}

/* A wait for the beginning. */
struct beginning {
	struct watch_wait wait;
	uint32_t progress; /* steps of all ranks */
	bool is_told;
};

/* Also finds the first rank outside of MPI_Init(), or else the first in it. */
static uint32_t progress_of(struct start *s, uint32_t *first, bool *is_started)
{
	uint32_t n = 0, out = CHANNEL_NONE, in = CHANNEL_NONE;

	*is_started = true;
	for (uint32_t i = s->n_ranks; i-- > 0;)
		if (is_outside(s, i)) {
			n += start_pid(s, i) > 0;
			*is_started &= start_pid(s, i) > 0;
			out = i;
		} else if (is_inside(s, i)) {
			n += 2;
			in = i;
		} else {
			n += 3;
		}
	*first = out == CHANNEL_NONE ? in : out;
	return n;
}

/* Only the process of the first late rank reports; others may have no rank to
 * wait for. */
static int check_patience(struct start *s, struct beginning *b, struct err *e)
{
	bool is_started;
	uint32_t first, n = progress_of(s, &first, &is_started);
	char what[400];

	if (n != b->progress)
		*b = (struct beginning){ .progress = n };
	watch_look(s->watch, &b->wait);
	if (first == CHANNEL_NONE ||
		s->rank[first].home != siblings_me(s->siblings))
		return 0;
	if (!b->is_told && watch_tells(s->watch, &b->wait, b->wait.late)) {
		b->is_told = true;
		tell_starting(s, &b->wait);
	}
	if (!is_started || !watch_is_over(s->watch, &b->wait))
		return 0;
	watch_describe(s->watch, first, what, sizeof(what));
	return err_set_code(e, EXIT_DEADLOCK,
		"rank %u %s; nothing has happened for %.0f s (patience-wall)",
		first, what, (double)b->wait.idle / 1e9);
}

int start_await_begin(struct start *s, const atomic_int *stop, struct err *e)
{
	struct beginning b = { .progress = 0 };

	for (uint32_t i = 0; i < s->n_ranks; i++) {
		if (s->rank[i].home != siblings_me(s->siblings))
			continue;
		while (!is_settled(s, i)) {
			if (stop && atomic_load(stop))
				return 0;
			if (check_begin(s, e) || check_patience(s, &b, e))
				return -1;
		}
	}
	return check_begin(s, e);
}

int start_check_begin(struct start *s, struct err *e)
{
	agree_on_collectives(s);
	return check_begin(s, e);
}
