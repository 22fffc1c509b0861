/*
 * The kernel: sites, windows and mail.  It knows nothing of networks.
 *
 * A site is the unit of simulation.  Sites interact only by mail, which takes
 * at least one window.  So within a window every site can run to the end of
 * the window independently of all others, in any order, on any thread: the
 * result is the same to the last bit.
 *
 *	window k covers [k * width, (k + 1) * width)
 *
 *	slot of window k        events, unsorted, as they were posted
 *	        |               (one mailbox per posting and owning worker)
 *	        v
 *	lists by site           only sites with mail are visited
 *	        |
 *	        v
 *	batch, sorted           by time, then key, then aux; visit() runs it
 *
 * An event's key is phase and number (SIM_KEY); the phases define the order of
 * events at a site in one instant.  Events of one site with equal time, key
 * and aux must commute.
 *
 * Lazy state.  Events are saved by letting state lag behind time.  The rules:
 *
 * - Only a site's own state may lag.  A neighbour may write only time stamps
 *   into it, later than the current window, which readers in that window
 *   ignore (link_returns); between workers they are mail.
 * - A unit whose state lags has one function that brings it up to a time,
 *   called x_settle().  Whatever reads or changes that state, on an event, a
 *   program's call, a report or the audit, calls it first.
 * - Work may be done ahead of time only if nothing can come between: the
 *   site has no event up to then (sim_is_next()), and none can be posted.
 * - Whether state lags may depend on what is switched on (budgets, faults),
 *   but no result does.  For each such shortcut a test compares the digest of
 *   a run that takes it with that of a run that does not, on one thread and
 *   on several.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/shortcuts.h"
#include "base/units.h"
#include "sim/pace.h"

typedef int64_t sim_time; /* picoseconds */

typedef uint32_t site_id;

#define SIM_NEVER INT64_MAX
#define NO_SITE	  UINT32_MAX

enum {
	SIM_NS = 1000, /* picoseconds */
	SIM_MIN_WINDOW = 5 * SIM_NS, /* shorter windows are refused */
	SIM_MAX_WORKERS = 256,
	SIM_FOREIGN = 255, /* the worker of sites of another process */
	SIM_STEPS = 3, /* of prefetching */
	SIM_PARTS_LOG = 5,
	SIM_PARTS = 1 << SIM_PARTS_LOG,
};

static inline double sim_ns(sim_time t)
{
	return (double)t / SIM_NS;
}

enum sim_phase {
	PHASE_ARRIVAL,
	PHASE_TOKEN,
	PHASE_ENGINE,
	PHASE_PROGRAM,
	PHASE_GUEST, /* see net/guest.h */
	/* arbitration follows when nothing is left at the instant */
};

/* number < 4096: a port, an engine, a hardware thread. */
#define SIM_KEY(phase, number) ((uint32_t)(phase) << 12 | (uint32_t)(number))

/* Orders a window: by time, then key, then aux. */
#define SIM_RANK(when, key, aux)                                               \
	((uint64_t)(when) << 32 | (uint64_t)(key) << 16 | (uint64_t)(aux))

/* Of what ends a batch: after every event, whatever its window. */
#define SIM_RANK_END UINT64_MAX

struct sim_event {
	uint64_t rank; /* when, in ps after its window's start; key; aux */
	site_id site; /* of mail; a visit is told by its own argument */
	uint32_t data;
};

static inline uint32_t sim_when(const struct sim_event *e)
{
	return (uint32_t)(e->rank >> 32);
}

static inline unsigned sim_phase(const struct sim_event *e)
{
	return (uint32_t)e->rank >> 28;
}

static inline unsigned sim_key(const struct sim_event *e)
{
	return (uint32_t)e->rank >> 16;
}

static inline unsigned sim_number(const struct sim_event *e)
{
	return sim_key(e) & 0xfff;
}

static inline unsigned sim_aux(const struct sim_event *e)
{
	return (unsigned)e->rank & 0xffff;
}

/* Events of one window for one worker's sites; another array has their start,
 * which posting does not touch. */
struct sim_mail {
	struct sim_event *next, *end;
};

/* Events by time: a binary heap, see sim/far.h. */
struct sim_heap {
	struct sim_far *item;
	uint32_t n, room;
};

struct cluster;
struct cluster_bytes;
struct sim;

/* A window in two parts: sites that mail may leave this process from, then the
 * others. */
struct sim_halves {
	struct sim_event *e;
	uint32_t n, n_first; /* sites, of which so many come first */
	uint64_t crowd, n_events; /* n_events: before it */
	bool is_timed;
};

/*
 * One thread's share.  The fields that posting touches come first; a model may
 * read id and model, and uses the functions below for the rest.
 */
struct sim_worker {
	sim_time start; /* of the window that is running */
	uint32_t width; /* of every window, ps */
	uint32_t slot; /* of the window that is running */
	uint32_t slot_mask;
	const uint8_t *owner; /* [site] its worker, or SIM_FOREIGN */
	struct sim_mail *own; /* [slot] its mail to itself */
	struct sim_mail *out; /* [owning worker][slot] */
	void *model;
	uint32_t id;
	uint32_t n_workers;
	uint64_t reach; /* first dt too far for a slot */

	/* the batch of the visited site */
	struct sim_event *at, *end; /* the rest of it; *end: SIM_RANK_END */
	struct sim_event *batch, *batch_end;
	uint32_t batch_room;
	struct sim_event **first; /* [owning worker][slot] */

	/* sorting by site */
	uint32_t part[SIM_PARTS]; /* of the window; like head, while a site's
				     events are sorted */
	uint32_t part_shift;
	uint32_t *head; /* [site] its first event, see sim_listed(); or 0 */
	site_id *order; /* sites with mail */
	site_id n_sites; /* its own */
	struct sim_event *inbox; /* of several workers */
	uint32_t inbox_room;

	/* own events too far for a slot, a binary heap by time; and those of
	 * others, see mail.c */
	struct sim_heap far;
	struct sim_heap *away; /* [2][owning worker] */
	sim_time away_next; /* the first of them in this window */
	sim_time near_at; /* the last window start that far is too far for */
	/* To other processes, see abroad.c: */
	struct cluster_bytes *leaving; /* [process] or NULL */
	sim_time leaving_next; /* the first of it */
	sim_time stirs_next; /* the same, but of mail that is still */
	sim_time still_last; /* the last of that */
	bool has_notes; /* among it */
	struct sim_halves halves;
	uint64_t mail_sent, mail_bytes; /* that were packed for other workers */

	site_id visited; /* the visited site, or NO_SITE */
	uint64_t n_events, n_visits, n_windows;
	/* Events that sim_discount() excluded; the number of all others, and
	 * the end of the last window with one of them. */
	uint64_t n_discounted, n_counted;
	sim_time last;
	struct pace ahead; /* whether it prefetches */
	int64_t spent; /* its own time in windows that it timed, ns */
	uint64_t n_timed; /* events of these */
	uint32_t untimed; /* visits since the last of these */
	unsigned turn; /* of notices, while workers run in parallel */
	struct err failure; /* the error that ended its part of the run */
	struct sim *sim;
};

/* Events that wait for the visit of a site, in no order: sim_waiting(). */
struct sim_waiting {
	const struct sim_event *all;
	uint32_t i; /* the first of them, see sim_listed(); or 0 */
};

struct sim_visits;

struct sim_ops {
	/* Runs the worker's batch: read events with sim_next(). */
	void (*visit)(struct sim_worker *w, site_id site);
	/* The same for many sites, or NULL: sim/visits.h. */
	void (*visits)(struct sim_worker *w, struct sim_event *e,
		const struct sim_visits *v);

	/*
	 * Called with the events of a site some visits ahead, in SIM_STEPS
	 * steps from 0, each some visits after the previous one: a step may
	 * read the data that the previous one has prefetched.  Must change
	 * nothing; may be NULL.
	 */
	void (*prefetch)(const struct sim_worker *w, site_id site,
		struct sim_waiting list, uint32_t step);

	/*
	 * For mail that leaves the process: pack() appends what the data of an
	 * event stand for, and gives that up; unpack() makes it anew from these
	 * bytes, and returns the data that stand for it there.  NULL: data
	 * stand for themselves.
	 */
	void (*pack)(struct sim_worker *w, const struct sim_event *e,
		struct cluster_bytes *to);
	uint32_t (*unpack)(struct sim_worker *w, const struct sim_event *e,
		const void *from, size_t n);

	/*
	 * A process rests if it sends no mail before its own next event, unless
	 * it gets mail that is not still.  Both or NULL: it never does.
	 */
	bool (*rests)(const void *model);
	bool (*is_still)(const struct sim_event *e);
};

/* Ways to run, for tests and counts; the result does not depend on them. */
struct sim_trial {
	bool packs; /* mail between workers, as if they were processes */
	bool counts; /* the same, and counts it: see sim_census() */
	bool balance; /* counts, with the usual sites of each worker */
	/* One thread runs all workers, each of which can touch the memory of
	 * its own sites only: see sim_fence(). */
	bool fences;
	/* Prefetches always where it may be useful, or never; otherwise the
	 * host's time decides, and the number of instructions with it. */
	bool is_ahead, is_plain;
};

struct sim_params {
	site_id n_sites;
	uint32_t n_workers;
	/* [site] its worker, copied; NULL: equal shares by number */
	const uint8_t *owner;
	sim_time window; /* smallest delay of mail to another site */
	sim_time reach; /* longest usual delay */
	const struct sim_ops *ops;
	void *model;
	bool prefetches; /* may be useful: sites may not fit a cache */
	bool is_heavy; /* visits take so long that threads always pay */
	/* Sites from this one on may get many events in a window, whatever the
	 * others get; 0: none. */
	site_id crowd;
	const atomic_int *stop; /* nonzero: end at the next window; or NULL */
	/* Other processes that run this simulation, too; NULL: none. */
	struct cluster *cluster;
	const uint16_t *process; /* [site] that simulates it, copied */
	/* [from][to] of processes: windows that mail takes at least, 0: there
	 * is none; copied.  Without a room only its own are needed. */
	const uint8_t *lead;
	/* [site] whether it sends mail to other processes, copied; NULL: any
	 * may. */
	const uint8_t *is_edge;
	struct sim_trial trial;
};

enum sim_ending { SIM_REACHED, SIM_IDLE, SIM_STOPPED };

/* Checks the parameters. */
int sim_check(const struct sim_params *p, struct err *e);
struct sim *sim_new(const struct sim_params *p, struct err *e);
void sim_free(struct sim *s);

/*
 * Runs every window that starts before until, or until no events are left
 * (SIM_IDLE), or until stop is set.  Unless it was stopped, its end does not
 * depend on the number of workers.  A guarded caller (base/err.h) gets the
 * BUG() of any worker, after all workers have left that window; nothing may be
 * run afterwards.
 */
enum sim_ending sim_run(struct sim *s, sim_time until);

/* Start of the first window that has not run, and of the first window with an
 * event; SIM_NEVER if there is none. */
sim_time sim_now(const struct sim *s);
/* sim_params.stop. */
const atomic_int *sim_stop(const struct sim *s);
sim_time sim_next_time(const struct sim *s);

/* End of the last window with an event that counts; of several processes, it
 * is asked by all at the same time, and so are the next ones, and
 * sim_next_time(). */
sim_time sim_last_time(const struct sim *s);

/*
 * For runs in slices of a length, one after the other from now: the end of the
 * first slice with an event, or of the next one if there is none.
 */
sim_time sim_slice(const struct sim *s, sim_time length);

uint32_t sim_n_workers(const struct sim *s);
struct sim_worker *sim_worker(struct sim *s, uint32_t id);
/* NULL if another process simulates it. */
struct sim_worker *sim_owner(struct sim *s, site_id site);
/*
 * What processes would do and send, if each worker were one: in all, and the
 * greatest of any worker in each window, summed up.  A window takes as long as
 * the worker that has most to do.
 */
struct sim_census {
	uint64_t windows;
	struct sim_census_of {
		uint64_t all, most;
	} events, mail, bytes;
};

/* NULL: it was not asked for. */
const struct sim_census *sim_census(const struct sim *s);

/* Of all processes: that count. */
uint64_t sim_n_events(const struct sim *s);
uint64_t sim_memory(const struct sim *s);

/* Calls f for every waiting event, with its time. */
void sim_each_event(struct sim *s,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg);
/* The same until one of its calls returns true, the next events first; returns
 * whether one did. */
bool sim_any_event(struct sim *s,
	bool (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg);

/*
 * Of several processes (sim/cluster.h), while nothing runs.  Each calls these
 * at the same point of the program; of one process they change nothing.
 */
/* Each value becomes the sum, or the greatest, of all processes. */
void sim_sum(const struct sim *s, uint64_t *x, size_t n);
void sim_max(const struct sim *s, uint64_t *x, size_t n);
/* Bytes become those of the process that simulates a site. */
void sim_tell(const struct sim *s, site_id site, void *bytes, size_t n);
/* The elements of all processes, so many of a size, in the order of processes;
 * *n becomes their number.  Takes over what it is given. */
void *sim_gather(const struct sim *s, void *own, size_t *n, size_t size);
/*
 * Notes are what processes tell each other beside mail, for what threads would
 * tell each other in memory: the other process hears a note before it runs any
 * window behind the one in which it was sent, the notes of a worker in order.
 * sim_listen() returns the number of a listener, the same in all processes.
 * A note has whole words of eight bytes.
 */
typedef void sim_hear(void *arg, const void *bytes, size_t n);
uint32_t sim_listen(struct sim *s, sim_hear *hear, void *arg);
/* While a window runs. */
void sim_note(struct sim_worker *w, uint32_t process, uint32_t listener,
	const void *bytes, size_t n);
/* The error of any process becomes that of all: -1 if there is one. */
int sim_share_error(const struct sim *s, struct err *e);
/* The same, of several that with the smallest key. */
int sim_share_first(const struct sim *s, struct err *e, uint64_t key);
bool sim_is_first(const struct sim *s); /* process of several, or the only */
bool sim_is_shared(const struct sim *s); /* among several */
/* Whether this process simulates a site; and the first such site from one on,
 * n_sites if there is none. */
bool sim_has(const struct sim *s, site_id site);
site_id sim_next_own(const struct sim *s, site_id site);
/* This process, of *n; and the one that simulates a site. */
uint32_t sim_self(const struct sim *s, uint32_t *n);
uint32_t sim_process(const struct sim *s, site_id site);
/* Makes the memory of other processes' sites, in an array with one element for
 * each site from first up to end, impossible to touch; in a trial that of other
 * workers' sites, while a worker runs. */
void sim_fence(
	struct sim *s, void *array, size_t size, site_id first, site_id end);

void sim_post_slow(struct sim_worker *w, site_id site, sim_time t,
	uint64_t rank, uint32_t data);
/* To the visited site, within the window. */
void sim_post_soon(struct sim_worker *w, uint64_t rank, uint32_t data);
void sim_mail_grow(struct sim_worker *w, struct sim_mail *m);

/* At dt after the start of the window, past its end. */
static inline void sim_put(struct sim_worker *w, site_id site, uint32_t dt,
	uint32_t key, uint32_t aux, uint32_t data)
{
	uint32_t k = dt / w->width, when = dt % w->width;
	struct sim_mail *m = &w->own[(w->slot + k) & w->slot_mask];
	struct sim_event *e;

	if (__builtin_expect(m->next == m->end, 0))
		sim_mail_grow(w, m);
	e = m->next++;
	e->rank = SIM_RANK(when, key, aux);
	e->site = site;
	/* kept apart: compilers would join both in a vector, which takes
	 * longer */
	__asm__("" : "+m"(e->site));
	e->data = data;
}

/*
 * Posts an event.  To the visited site: at any later time, or now with a later
 * key.  To any other site: at least one window from now; beyond the reach it
 * costs more.
 */
static inline void sim_post(struct sim_worker *w, site_id site, sim_time t,
	uint32_t key, uint32_t aux, uint32_t data)
{
	uint64_t dt = (uint64_t)(t - w->start);

	if (__builtin_expect(
		    dt - w->width < w->reach && w->owner[site] == w->id, 1))
		sim_put(w, site, (uint32_t)dt, key, aux, data);
	else
		sim_post_slow(w, site, t, SIM_RANK(0, key, aux), data);
}

/* The same to the visited site. */
static inline void sim_post_self(struct sim_worker *w, site_id site, sim_time t,
	uint32_t key, uint32_t aux, uint32_t data)
{
	uint64_t dt = (uint64_t)(t - w->start);

	if (__builtin_expect(dt - w->width < w->reach, 1))
		sim_put(w, site, (uint32_t)dt, key, aux, data);
	else if (dt < w->width && w->visited == site)
		sim_post_soon(w, SIM_RANK(dt, key, aux), data);
	else
		sim_post_slow(w, site, t, SIM_RANK(0, key, aux), data);
}

/* The same to a site of this worker, within the reach. */
static inline void sim_post_near(struct sim_worker *w, site_id site, sim_time t,
	uint32_t key, uint32_t aux, uint32_t data)
{
	sim_put(w, site, (uint32_t)(t - w->start), key, aux, data);
}

/* Whether a site belongs to this worker. */
static inline bool sim_is_own(const struct sim_worker *w, site_id site)
{
	return w->owner[site] == w->id;
}

/* The next event of the visit, of which there is one; *t is its time.  A visit
 * has at least one event. */
static inline const struct sim_event *sim_take(
	struct sim_worker *w, sim_time *t)
{
	const struct sim_event *e = w->at++;

	*t = w->start + sim_when(e);
	return e;
}

/* The same, or NULL. */
static inline const struct sim_event *sim_next(
	struct sim_worker *w, sim_time *t)
{
	return w->at->rank == SIM_RANK_END ? NULL : sim_take(w, t);
}

/* An event of a list by site: named by the bytes from the first event to the
 * end of this one, which costs less than an index. */
static inline const struct sim_event *sim_listed(
	const struct sim_event *all, size_t i)
{
	const char *end = (const char *)all + i;

	return (const struct sim_event *)(const void *)end - 1;
}

/* The number of the running window, modulo a power of two from 64 on. */
static inline uint32_t sim_slot(const struct sim_worker *w)
{
	return w->slot;
}

/* The time of the next event of the visit; after the window: there is none. */
static inline sim_time sim_next_at(const struct sim_worker *w)
{
	return w->start + sim_when(w->at);
}

/* The next waiting event, or NULL; its site is not valid. */
static inline const struct sim_event *sim_waiting(struct sim_waiting *list)
{
	const struct sim_event *e;

	if (!list->i)
		return NULL;
	e = sim_listed(list->all, list->i);
	list->i = e->site;
	return e;
}

/*
 * Do not count the running event: whether it exists depends on the visiting
 * order or on the number of workers.
 */
static inline void sim_discount(struct sim_worker *w)
{
	w->n_discounted++;
}

/*
 * Whether an event of the visited site at t, now or later, would be the next
 * event of the visit: then it may be run at once instead of being posted, and
 * counts as one.
 */
static inline bool sim_is_next(
	const struct sim_worker *w, site_id site, sim_time t)
{
	uint64_t dt = (uint64_t)(t - w->start);

	return SHORTCUTS && dt < w->width && w->visited == site &&
	       sim_when(w->at) > dt;
}

/* Whether an event of the visited site at t, now, would come after the running
 * one. */
static inline bool sim_is_before(
	const struct sim_worker *w, sim_time t, uint32_t key, uint32_t aux)
{
	return w->at[-1].rank < SIM_RANK(t - w->start, key, aux);
}

/* Counts n more events. */
static inline void sim_count(struct sim_worker *w, uint64_t n)
{
	w->n_events += n;
}

/* Whether this visit has another event now, at the time of its last one. */
static inline bool sim_more_at(const struct sim_worker *w, sim_time t)
{
	return w->start + sim_when(w->at) == t;
}

/* Whether this visit has another event at the time of e. */
static inline bool sim_more(
	const struct sim_worker *w, const struct sim_event *e)
{
	return sim_when(w->at) == sim_when(e);
}

#endif
