/* The kernel's own: for sim.c, and for look.c, which tells of it. */
#ifndef SIM_INSIDE_H
#define SIM_INSIDE_H

#include <pthread.h>

#include "base/mem.h"
#include "sim/barrier.h"
#include "sim/cluster.h"
#include "sim/far.h"
#include "sim/pace.h"
#include "sim/sim.h"

/* What a worker tells the others before each window; two, used in turn. */
struct notice {
	_Alignas(CACHE_LINE) uint64_t next;
	uint64_t n_events; /* that it has run */
	enum pace_way way; /* of the first worker's: for all */
	bool stop;
};

enum sim_part { PART_WHOLE, PART_FIRST, PART_REST };

struct sim {
	struct sim_params p;
	uint32_t n_slots;
	uint64_t next_window; /* none before it is left to run */
	struct sim_worker *workers;
	uint8_t *owner; /* [site] */
	uint16_t *process; /* the same; NULL: all are its own */
	struct sim_abroad *abroad; /* NULL: there is no other process */
	uint64_t window; /* that its workers run, of several processes */
	enum sim_part part; /* of the window */
	uint8_t *is_edge; /* [site]; NULL: windows have no parts */
	struct notice *notices[2];
	struct barrier gate, meet;
	struct pace pace; /* this and the next: the first worker's */
	uint64_t n_events; /* that are known to have run */
	pthread_t *threads;
	uint32_t n_threads; /* that could be started, and the caller's */
	pthread_mutex_t starting; /* held until their number is known */
	sim_time until;
	bool leaving;
	/* what threads run instead of windows, or NULL: sim_share() */
	void (*task)(void *arg, struct sim_worker *w);
	void *task_arg;
	bool is_guarded; /* whoever calls sim_run(), see base/err.h */
	enum sim_ending ending;
	struct census *census; /* NULL: nothing is counted */
	struct fence *fence; /* [worker]; NULL: there are none between them */
};

/* --- sim.c --- */

/* A worker's share of window k; and the same in two parts, of which the first
 * may be all. */
void sim_run_window(struct sim_worker *w, uint64_t k);
void sim_run_first(struct sim_worker *w, uint64_t k);
void sim_run_rest(struct sim_worker *w);
/* Whether so many events are worth two parts. */
bool sim_has_parts(const struct sim *s, uint64_t n_events);
/* Visits all sites with mail, of which there is some, in a window. */
void sim_visit_all(
	struct sim_worker *w, struct sim_event *e, uint32_t n_events);
void sim_visit_one(struct sim_worker *w, const struct sim_event *e);

/* --- mail.c --- */

/* Puts an event into the slot of its owner's window, dt after w->start. */
void mail_put(
	struct sim_worker *w, uint32_t owner, uint64_t dt, struct sim_event e);
/*
 * Sends an event to a site of another worker, one window from now or any time
 * later.  This is the one place where mail leaves its worker; what is for
 * another process leaves by abroad_send().
 */
void mail_send(
	struct sim_worker *w, uint32_t owner, sim_time t, struct sim_event e);
/* Keeps an own event that is too far off for a slot. */
void mail_keep(struct sim_worker *w, sim_time t, struct sim_event e);
/* At a window's start: moves what has come within reach into slots.  Whether
 * there can be any. */
void mail_take_far(struct sim_worker *w);

static inline bool mail_may_be_near(const struct sim_worker *w)
{
	return w->n_workers > 1 || w->start > w->near_at;
}

/* When the first of what it has or has sent beyond all slots is due. */
static inline sim_time mail_next_far(const struct sim_worker *w)
{
	sim_time next = w->away_next;

	return w->far.n && w->far.item[0].t < next ? w->far.item[0].t : next;
}

/* All mail of the window for this worker's sites, in one array; of several
 * workers. */
struct sim_event *mail_gather(struct sim_worker *w, uint32_t *n);

/* --- fence.c --- */

void fence_init(struct sim *s);
void fence_fini(struct sim *s);
/* Around a worker's part of a window, where there are fences. */
void fence_close(const struct sim_worker *w);
void fence_open(const struct sim_worker *w);

/* --- census.c --- */

void census_init(struct sim *s);
void census_fini(struct sim *s);
/* After a window of all workers. */
void census_note(struct sim *s);

/* --- abroad.c --- */

void abroad_init(struct sim *s);
void abroad_fini(struct sim *s);
void abroad_worker_init(struct sim_worker *w);
void abroad_worker_fini(struct sim_worker *w);

/* Sends an event to a site of another process, like mail_send(). */
void abroad_send(struct sim_worker *w, sim_time t, const struct sim_event *e);
/* Packs an event's load, and unpacks it again. */
void abroad_repack(struct sim_worker *w, struct sim_event *e);
/* Whether a worker of this process has. */
bool abroad_has_failed(const struct sim *s);
/* Whether mail or notes are to leave. */
bool abroad_has_leaving(const struct sim *s);
/* The first window of those that a process knows of, or of its mail. */
uint64_t abroad_next(const struct sim *s, uint64_t next);

/* What processes know after they have met. */
struct abroad_view {
	bool stop; /* before, of this process; then of any */
	uint64_t next; /* window of all */
	/* Without a room: this process may run its own windows before this one,
	 * unless most of all are busy. */
	uint64_t horizon;
	bool is_crowd; /* they are */
};

/* Processes that share a room, see sim/room.h. */
/* All meet. */
void abroad_meet(struct sim *s, struct abroad_view *v, struct err *e);
/* Puts its mail into the others' boxes, and posts how far it is: its next
 * window, which is returned; boxes that are full may make it take mail.  The
 * horizon becomes that of answers, if that is earlier. */
uint64_t abroad_post(struct sim *s, uint64_t next, uint64_t *horizon);
/* The same after the first part of the window before next. */
void abroad_post_early(struct sim *s, uint64_t next, uint64_t *horizon);
/* Takes mail only; the next window becomes that of mail, if that is earlier. */
void abroad_take(struct sim *s, uint64_t *next);
/* Says that it has got the mail, so that what is due of later mail is known,
 * unless it goes on to rest. */
void abroad_confirm(struct sim *s, uint64_t next);
/* Whether the others know that it has nothing to do before a window. */
bool abroad_has_posted(const struct sim *s, uint64_t next);
/* The windows before the one that is returned may be run after the mail that
 * has come is taken; 0: that cannot be known now.  Whether all others are done
 * with those before end. */
uint64_t abroad_look(const struct sim *s, uint64_t end, bool *is_over);
/* Until it may run a window, there is mail, or something else is to be done; or
 * some time. */
void abroad_wait(struct sim *s, uint64_t window, uint64_t end);
/* All leave the room, and meet. */
void abroad_alarm(struct sim *s);
bool abroad_is_alarmed(const struct sim *s);

/* --- promises.c --- */

void promises_init(struct sim *s);
/* All processes meet, and mail goes. */
void promises_meet(struct sim *s, struct abroad_view *v, struct err *e);
/* The same horizon, after windows in which mail may have left. */
uint64_t promises_horizon(const struct sim *s, uint64_t horizon);

/* Neighbours begin to talk; nobody does anything before a window. */
void promises_begin(struct sim *s, uint64_t window);
/* The windows before the one that is returned may be run. */
uint64_t promises_look(const struct sim *s);
/* After windows, or where none may be run: mail goes, with a promise. */
void promises_tell(struct sim *s, uint64_t next);
void promises_note_run(struct sim *s, uint64_t window);
/* Where none may be run: whether all should meet. */
bool promises_end(const struct sim *s, uint64_t end);
/* Waits for messages, and takes the mail. */
void promises_hear(struct sim *s);

/* --- windows.c --- */

/* The next window of this process; counts the events that have run. */
uint64_t windows_next(struct sim *s);
/* What all workers but the first run, each on a thread; arg is the worker. */
void *sim_thread(void *arg);

#endif
