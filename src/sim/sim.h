/*
 * The kernel: sites, windows and mail.  It knows nothing of networks.
 *
 * A site is simulated as a whole and touches other sites only by mail that
 * takes at least one window.  So within a window every site can be run to
 * the window's end without looking at any other, in any order, on any
 * thread: the result is the same to the last bit.
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
 * An event's key is phase and number (SIM_KEY); the phases give the one
 * order of things that happen at a site in one instant.  Events of one site
 * that agree in time, key and aux must commute.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef int64_t sim_time; /* picoseconds */
typedef uint32_t site_id;

#define SIM_NEVER INT64_MAX
#define NO_SITE UINT32_MAX

enum {
	SIM_NS = 1000, /* picoseconds */
	SIM_MIN_WINDOW = 5 * SIM_NS, /* a shorter one is refused */
	SIM_MAX_WORKERS = 256,
};

enum sim_phase {
	PHASE_ARRIVAL,
	PHASE_TOKEN,
	PHASE_ENGINE,
	PHASE_PROGRAM,
	/* arbitration follows when nothing is left at the instant */
};

/* number < 4096: a port, an engine, a hardware thread. */
#define SIM_KEY(phase, number)                                                 \
	((uint16_t)((unsigned)(phase) << 12 | (unsigned)(number)))
#define SIM_KEY_PHASE(key) ((unsigned)(key) >> 12)
#define SIM_KEY_NUMBER(key) ((unsigned)(key)&0xfffu)

struct sim_event {
	site_id site;
	uint32_t data;
	uint16_t aux;
	uint16_t key;
	uint32_t when; /* ps after the start of its window */
};

struct sim_mail {
	struct sim_event *event;
	uint32_t n, room;
};

struct sim;

/*
 * One thread's share.  The fields that posting touches come first; a model
 * reads id and model and leaves the rest to the functions below.
 */
struct sim_worker {
	sim_time start; /* of the window that is running */
	uint32_t width; /* of every window, ps */
	uint32_t slot; /* of the window that is running */
	uint32_t slot_mask;
	site_id first, n_sites; /* its own */
	struct sim_mail *out; /* [owning worker][slot] */
	uint64_t *posted; /* bit per slot this worker posted to */
	void *model;
	uint32_t id;
	uint32_t n_workers;
	uint64_t reach; /* first dt too far for a slot */

	/* the batch of the site that is visited */
	struct sim_event *batch;
	uint32_t batch_n, batch_at, batch_room;

	/* sorting by site */
	uint32_t *head; /* [own site] 1 + index of its first event, or 0 */
	uint32_t *next; /* [event] */
	uint32_t next_room;
	uint64_t *active; /* bit per own site */
	uint64_t *summary; /* bit per word of active */
	site_id *order; /* the window's sites */
	struct sim_event *inbox; /* of several workers */
	uint32_t inbox_room;

	/* own events too far for a slot: a binary heap by time */
	struct sim_far *far;
	uint32_t far_n, far_room;

	site_id visited; /* the site that is being visited, or NO_SITE */
	uint64_t n_events, n_visits, n_windows;
	struct sim *sim;
};

struct sim_ops {
	/* Runs the worker's batch: take events with sim_next(). */
	void (*visit)(struct sim_worker *w, site_id site);

	/* Called some visits ahead for each of the site's events; may be
	 * NULL.  Must change nothing. */
	void (*prefetch)(const struct sim_worker *w, const struct sim_event *e);
};

struct sim_params {
	site_id n_sites;
	uint32_t n_workers;
	sim_time window; /* the least delay of mail to another site */
	sim_time reach; /* the longest such delay */
	const struct sim_ops *ops;
	void *model;
	const atomic_int *stop; /* not 0: end at the next window; or NULL */
};

enum sim_ending { SIM_REACHED, SIM_IDLE, SIM_STOPPED };

struct sim *sim_new(const struct sim_params *p, struct err *e);
void sim_free(struct sim *s);

/*
 * Runs every window that starts before until, or until nothing is left to do
 * (SIM_IDLE), or somebody set stop.  Where it ends, unless it was stopped,
 * does not depend on the number of workers.
 */
enum sim_ending sim_run(struct sim *s, sim_time until);

/* The start of the first window that has not run. */
sim_time sim_now(const struct sim *s);

uint32_t sim_n_workers(const struct sim *s);
struct sim_worker *sim_worker(struct sim *s, uint32_t id);
struct sim_worker *sim_owner(struct sim *s, site_id site);
uint64_t sim_n_events(const struct sim *s);
uint64_t sim_memory(const struct sim *s);

/* Hands every event that waits to f; its when is replaced by time. */
void sim_each_event(struct sim *s,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg);

void sim_post_slow(struct sim_worker *w, sim_time t, struct sim_event e);
void sim_mail_grow(struct sim_mail *m);

/*
 * Posts an event.  To the worker's site that is being visited: at any later
 * time, or now with a later key.  To any other site: one window from now or
 * later, and no later than the reach.
 */
static inline void sim_post(struct sim_worker *w, site_id site, sim_time t,
	uint16_t key, uint16_t aux, uint32_t data)
{
	uint64_t dt = (uint64_t)(t - w->start);
	struct sim_event e = {
		.site = site,
		.data = data,
		.aux = aux,
		.key = key,
		.when = (uint32_t)dt,
	};
	struct sim_mail *m;
	uint32_t k, slot;

	if (__builtin_expect(dt - w->width >= w->reach ||
				site - w->first >= w->n_sites,
		    0)) {
		sim_post_slow(w, t, e);
		return;
	}
	k = (uint32_t)dt / w->width;
	slot = (w->slot + k) & w->slot_mask;
	e.when = (uint32_t)dt - k * w->width;
	m = &w->out[w->id * (w->slot_mask + 1) + slot];
	if (__builtin_expect(m->n == m->room, 0))
		sim_mail_grow(m);
	m->event[m->n++] = e;
	w->posted[slot >> 6] |= UINT64_C(1) << (slot & 63);
}

static inline uint64_t sim_rank(const struct sim_event *e)
{
	return (uint64_t)e->when << 32 | (uint64_t)e->key << 16 | e->aux;
}

/* The next event of the visit, or NULL; *t is its time. */
static inline const struct sim_event *sim_next(
	struct sim_worker *w, sim_time *t)
{
	const struct sim_event *e;

	if (w->batch_at == w->batch_n)
		return NULL;
	e = &w->batch[w->batch_at++];
	*t = w->start + e->when;
	return e;
}

/* Whether another event of this visit happens at t too. */
static inline bool sim_more_at(const struct sim_worker *w, sim_time t)
{
	return w->batch_at < w->batch_n &&
		w->start + w->batch[w->batch_at].when == t;
}

#endif
