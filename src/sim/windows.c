/* Which window comes next, and who runs it. */
#define _GNU_SOURCE
#include "base/plain.h"
#include "sim/inside.h"
#include "sim/share.h"

#define NO_WINDOW UINT64_MAX

enum { MOST_UNHEARD = 64 };

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIM_RACES
#endif
#elif defined(__SANITIZE_THREAD__)
#define SIM_RACES
#endif

/*
 * Builds that look for mistakes take both ways by turns, whatever either costs,
 * and those that look for races mostly the one in which there can be some.
 */
static enum pace_way choose_way(struct sim *s, uint64_t n_events)
{
	if (s->p.n_workers == 1)
		return PACE_TOGETHER;
	if (s->n_threads < s->p.n_workers)
		return PACE_ALONE;
	if (s->p.is_heavy)
		return PACE_TOGETHER;
#if defined(SIM_RACES)
	return ++s->pace.windows % 512 < 448 ? PACE_TOGETHER : PACE_ALONE;
#elif defined(WEFT_CHECK)
	return ++s->pace.windows % 512 < 32 ? PACE_TOGETHER : PACE_ALONE;
#endif
	return pace_next(&s->pace, n_events);
}

static bool has_posted(const struct sim_worker *w, uint32_t slot)
{
	uint32_t box = slot;

	for (uint32_t i = 0; i < w->n_workers; i++, box += w->slot_mask + 1)
		if (w->out[box].next != w->first[box])
			return true;
	return false;
}

/* The first window from now on that this worker posted to. */
static uint64_t next_posted(const struct sim_worker *w)
{
	/* Not the last slot: its owner may be emptying it at this moment. */
	for (uint32_t i = 0; i < w->slot_mask; i++)
		if (has_posted(w, (w->slot + i) & w->slot_mask))
			return (uint64_t)w->start / w->width + i;
	return NO_WINDOW;
}

static inline uint64_t next_far(const struct sim_worker *w)
{
	sim_time t = mail_next_far(w);

	return t == SIM_NEVER ? NO_WINDOW : (uint64_t)t / w->width;
}

static uint64_t next_window(const struct sim_worker *w)
{
	uint64_t next = next_posted(w), far = next_far(w);

	return far < next ? far : next;
}

static bool is_stopped(const struct sim *s)
{
	return s->p.stop &&
	       atomic_load_explicit(s->p.stop, memory_order_relaxed);
}

/* Whether window k is to be run; where not, says how the run has ended. */
static bool goes_on(struct sim *s, uint64_t k, bool stop)
{
	if (!stop && k != NO_WINDOW && (sim_time)k * s->p.window < s->until)
		return true;
	s->ending = stop	     ? SIM_STOPPED
		    : k == NO_WINDOW ? SIM_IDLE
				     : SIM_REACHED;
	return false;
}

/*
 * True while there is a window for all to run together: the same for every
 * worker.
 */
static bool agree(struct sim_worker *w, uint64_t *k)
{
	struct sim *s = w->sim;
	struct notice *all = s->notices[++w->turn & 1];
	bool stop = false;

	all[w->id].next = next_window(w);
	all[w->id].n_events = w->n_events;
	all[w->id].stop = is_stopped(s);
	if (w->id == 0) {
		/* the others' events are known of the window before */
		all[0].way = choose_way(s, s->n_events);
		s->n_events = 0;
	}
	barrier_wait(&s->meet, w->id);
	*k = NO_WINDOW;
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		if (w->id == 0)
			s->n_events += all[i].n_events;
		if (all[i].next < *k)
			*k = all[i].next;
		stop |= all[i].stop;
	}
	if (stop || *k == NO_WINDOW || (sim_time)*k * w->width >= s->until)
		return false;
	return all[0].way == PACE_TOGETHER;
}

static void step(struct sim_worker *w, uint64_t k)
{
	if (w->sim->fence)
		fence_close(w);
	sim_run_window(w, k);
	if (w->sim->fence)
		fence_open(w);
	w->start += w->width;
	w->slot = (w->slot + 1) & w->slot_mask;
}

/* Of a worker that is alone, with no mail in slots: the window of what is far
 * off; NO_WINDOW: there is none. */
static __attribute__((noinline)) uint64_t find_far(const struct sim_worker *w)
{
	return w->far.n ? (uint64_t)w->far.item[0].t / w->width : NO_WINDOW;
}

/* The same for slots from the first one on, up to the last window's. */
static __attribute__((noinline)) uint32_t find_behind(
	const struct sim_worker *w, sim_time *start)
{
	uint32_t slot = 0;
	uint64_t k;

	*start = w->start + (sim_time)(w->slot_mask - w->slot) * w->width;
	for (; slot <= w->slot; slot++) {
		*start += w->width;
		if (w->out[slot].next != w->first[slot])
			return slot;
	}
	k = find_far(w);
	*start = k == NO_WINDOW ? SIM_NEVER : (sim_time)k * w->width;
	return (uint32_t)k & w->slot_mask;
}

/* The same: the start of the next window that has mail, and its slot.  What is
 * far off is later than all slots.  Behind these is one that is never empty. */
static inline sim_time seek_window(const struct sim_worker *w, uint32_t *slot)
{
	const struct sim_mail *all = w->out, *m = all + w->slot;
	struct sim_event *const *first = w->first + w->slot;
	sim_time start = w->start;

	while (m[1].next == first[1]) {
		m++;
		first++;
		if (m[1].next != first[1])
			break;
		m++;
		first++;
	}
	*slot = (uint32_t)(m + 1 - all);
	start += (sim_time)(*slot - w->slot) * w->width;
	if (__builtin_expect(*slot > w->slot_mask, 0))
		*slot = find_behind(w, &start);
	return start;
}

/* The same: moves there, if it starts before a time. */
static inline bool find_window(struct sim_worker *w, sim_time until)
{
	uint32_t slot;
	sim_time start = seek_window(w, &slot);

	if (start >= until)
		return false;
	w->start = start;
	w->slot = slot;
	return true;
}

static inline void move_on(struct sim_worker *w, int n)
{
	w->start += n * (sim_time)w->width;
	w->slot = (w->slot + (uint32_t)n) & w->slot_mask;
}

static inline bool has_leaving(const struct sim_worker *w)
{
	return w->leaving_next != SIM_NEVER || w->has_notes;
}

/* A worker that is alone need not agree with anybody.  It does what step()
 * does, without a division for each window.  Stops after so many windows, or if
 * mail leaves, where that is asked for. */
static inline __attribute__((always_inline)) void run_windows(
	struct sim_worker *w, const atomic_int *stop, sim_time until,
	uint32_t most)
{
	mail_take_far(w);
	move_on(w, -1); /* as if the window before had just run */
	while (!atomic_load_explicit(stop, memory_order_relaxed) &&
		find_window(w, until)) {
		struct sim_mail *m = &w->out[w->slot];
		struct sim_event *first;
		uint32_t n;

		w->n_windows++;
		if (__builtin_expect(w->start > w->near_at, 0))
			mail_take_far(w);
		first = w->first[w->slot];
		n = (uint32_t)(m->next - first);
		m->next = first;
		if (n == 1)
			sim_visit_one(w, first);
		else
			sim_visit_all(w, first, n);
		if (most && (!--most || has_leaving(w)))
			break;
	}
	move_on(w, 1);
}

static const atomic_int never;

static void run_single(struct sim_worker *w)
{
	const struct sim *s = w->sim;

	run_windows(w, s->p.stop ? s->p.stop : &never, s->until, 0);
}

/* The same of one of several processes. */
static void run_until_mail(void *arg)
{
	struct sim_worker *w = arg;
	sim_time until = w->sim->until;

	if (w->sim->window <= (uint64_t)until / w->width)
		until = (sim_time)w->sim->window * w->width;
	run_windows(w, &never, until, MOST_UNHEARD);
}

/* Every worker's own part, while that is the better way. */
static void run_together(void *arg)
{
	struct sim_worker *w = arg;
	uint64_t k;

	if (w->n_workers == 1) {
		run_single(w);
		return;
	}
	while (agree(w, &k))
		step(w, k);
}

/* A worker's share of one window, or of a part of it, of several processes. */
static void run_one(void *arg)
{
	struct sim_worker *w = arg;
	const struct sim *s = w->sim;

	if (s->part == PART_FIRST) {
		sim_run_first(w, s->window);
		return;
	}
	if (s->part == PART_WHOLE)
		sim_run_window(w, s->window);
	else
		sim_run_rest(w);
	move_on(w, 1);
}

/* The same, where a worker's mistake ends its part: the others learn of it
 * before the next window, and end theirs. */
static void run_guarded(struct sim_worker *w)
{
	struct sim *s = w->sim;

	w->turn = 0;
	if (s->p.cluster) {
		err_guard(run_one, w, &w->failure);
		return;
	}
	if (!s->is_guarded) {
		run_together(w);
		return;
	}
	if (!err_guard(run_together, w, &w->failure))
		return;
	s->notices[++w->turn & 1][w->id].stop = true;
	barrier_wait(&s->meet, w->id);
}

static void raise_failure(const struct sim *s)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (s->workers[i].failure.code)
			err_raise(&s->workers[i].failure);
}

/* Whether anybody has posted to a slot. */
static bool is_awaited(const struct sim *s, uint32_t slot)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (has_posted(&s->workers[i], slot))
			return true;
	return false;
}

/* The next window of all workers, who stand at the same one. */
static uint64_t next_of_all(const struct sim *s)
{
	const struct sim_worker *w = s->workers;
	uint64_t next = NO_WINDOW;
	uint32_t i = 0;

	while (i < w->slot_mask && !is_awaited(s, (w->slot + i) & w->slot_mask))
		i++;
	if (i < w->slot_mask)
		next = (uint64_t)w->start / w->width + i;
	for (i = 0; i < s->p.n_workers; i++) {
		uint64_t far = next_far(&s->workers[i]);

		next = far < next ? far : next;
	}
	return next;
}

/* The same of a worker that is alone: slots are searched from the one behind
 * the last window's on. */
static uint64_t next_of_one(struct sim_worker *w)
{
	sim_time start;
	uint32_t slot;

	if (w->start > w->near_at)
		mail_take_far(w);
	move_on(w, -1);
	start = seek_window(w, &slot);
	move_on(w, 1);
	return start == SIM_NEVER ? NO_WINDOW : (uint64_t)start / w->width;
}

uint64_t windows_next(struct sim *s)
{
	if (s->p.n_workers == 1)
		return next_of_one(s->workers);
	s->n_events = 0;
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		s->n_events += s->workers[i].n_events;
	return next_of_all(s);
}

sim_time sim_next_time(const struct sim *s)
{
	uint64_t k = ~abroad_next(s, next_of_all(s));

	sim_max(s, &k, 1);
	k = ~k;
	return k == NO_WINDOW ? SIM_NEVER : (sim_time)k * s->p.window;
}

/* Slices end where windows do, so they follow each other by whole windows. */
sim_time sim_slice(const struct sim *s, sim_time length)
{
	sim_time now = sim_now(s), next = sim_next_time(s);
	sim_time step = (length + s->p.window - 1) / s->p.window * s->p.window;

	if (next == SIM_NEVER || next < now)
		next = now;
	return now + (next - now) / step * step + length;
}

/* One thread runs everybody's windows, while that is the better way. */
static void run_alone(struct sim *s, uint64_t k)
{
	do {
		for (uint32_t i = 0; i < s->p.n_workers; i++)
			step(&s->workers[i], k);
		if (s->census)
			census_note(s);
		k = windows_next(s);
	} while (goes_on(s, k, is_stopped(s)) &&
		 choose_way(s, s->n_events) == PACE_ALONE);
}

void *sim_thread(void *arg)
{
	struct sim_worker *w = arg;
	void *locale = plain_begin();

	pthread_mutex_lock(&w->sim->starting);
	pthread_mutex_unlock(&w->sim->starting);
	for (;;) {
		barrier_wait(&w->sim->gate, w->id);
		if (w->sim->leaving)
			break;
		if (w->sim->task)
			w->sim->task(w->sim->task_arg, w);
		else
			run_guarded(w);
		barrier_wait(&w->sim->gate, w->id);
	}
	plain_end(locale);
	return NULL;
}

/* All workers stand at the same first window that has not run. */
static void align(struct sim *s)
{
	uint64_t k = 0;

	/* The windows before until that nobody had mail for are over, too. */
	if (s->ending == SIM_REACHED && s->until > 0)
		k = (uint64_t)(s->until - 1) / (uint64_t)s->p.window + 1;
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		uint64_t at =
			(uint64_t)s->workers[i].start / s->workers[i].width;

		if (at > k)
			k = at;
	}
	sim_max(s, &k, 1);
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		s->workers[i].start = (sim_time)k * s->workers[i].width;
		s->workers[i].slot = (uint32_t)k & s->workers[i].slot_mask;
	}
	s->next_window = k;
}

/* The window of all workers of this process, by one thread or by all. */
static void run_part(struct sim *s, enum sim_part part, enum pace_way way)
{
	s->part = part;
	if (way == PACE_ALONE) {
		for (uint32_t i = 0; i < s->p.n_workers; i++)
			run_guarded(&s->workers[i]);
		return;
	}
	barrier_wait(&s->gate, 0);
	run_guarded(&s->workers[0]);
	barrier_wait(&s->gate, 0);
}

static void run_window(struct sim *s)
{
	run_part(s, PART_WHOLE, choose_way(s, s->n_events));
}

/* Events that wait for a window. */
static uint64_t count_events(const struct sim *s, uint64_t k)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];
		uint32_t box = (uint32_t)k & w->slot_mask;

		for (uint32_t to = 0; to < w->n_workers; to++) {
			n += (uint64_t)(w->out[box].next - w->first[box]);
			box += w->slot_mask + 1;
		}
	}
	return n;
}

/*
 * The same window in two parts, so that mail is on its way while the second one
 * runs: first sites that send to other processes.  Whether mail may go before
 * the second: the next window has events already, so what is to be said of it
 * is known.
 */
static bool begin_window(struct sim *s, enum pace_way *way)
{
	const struct sim_worker *w = s->workers;

	*way = choose_way(s, s->n_events);
	if (!sim_has_parts(s, count_events(s, s->window))) {
		run_part(s, PART_WHOLE, *way);
		return false;
	}
	run_part(s, PART_FIRST, *way);
	return !abroad_has_failed(s) &&
	       is_awaited(s, (w->slot + 1) & w->slot_mask);
}

static void end_window(struct sim *s, enum pace_way way)
{
	if (s->part == PART_FIRST && !abroad_has_failed(s))
		run_part(s, PART_REST, way);
	s->part = PART_WHOLE;
}

/* The windows of this process before a horizon; mail that leaves brings that
 * nearer. */
static void run_ahead(struct sim *s, uint64_t horizon)
{
	for (;;) {
		s->window = windows_next(s);
		if (s->window >= horizon ||
			(sim_time)s->window * s->p.window >= s->until ||
			abroad_has_failed(s))
			return;
		run_window(s);
		horizon = promises_horizon(s, horizon);
	}
}

/* The windows of this process before a horizon and before end, with a message
 * to neighbours after each. */
static uint64_t run_and_tell(struct sim *s, uint64_t next, uint64_t end)
{
	uint64_t horizon = promises_look(s);
	enum pace_way way;

	while (next < horizon && next < end && !abroad_has_failed(s)) {
		s->window = next;
		promises_note_run(s, next);
		if (begin_window(s, &way))
			promises_tell(s, next + 1);
		end_window(s, way);
		next = windows_next(s);
		promises_tell(s, next);
	}
	return next;
}

/* Runs up to a window, as far as neighbours promise.  Leaves early where all
 * should meet. */
static void run_by_promises(
	struct sim *s, uint64_t first, uint64_t end, bool may_stop)
{
	promises_begin(s, first);
	for (;;) {
		uint64_t next = run_and_tell(s, windows_next(s), end);

		promises_tell(s, next);
		if (abroad_has_failed(s) || (may_stop && is_stopped(s)) ||
			promises_end(s, end))
			return;
		promises_hear(s);
	}
}

/* The windows of a process in a room before a horizon and before end, until
 * mail leaves, or for so many that the others hear of it in time.  The horizon
 * may come nearer. */
static uint64_t run_some(
	struct sim *s, uint64_t next, uint64_t *horizon, uint64_t end)
{
	uint64_t until = *horizon < end ? *horizon : end;
	enum pace_way way;

	if (s->p.n_workers == 1 && !sim_has_parts(s, count_events(s, next))) {
		s->window = until;
		err_guard(run_until_mail, s->workers, &s->workers->failure);
		return windows_next(s);
	}
	for (uint32_t i = 0; i < MOST_UNHEARD && next < until; i++) {
		s->window = next;
		if (begin_window(s, &way))
			abroad_post_early(s, next + 1, horizon);
		end_window(s, way);
		next = windows_next(s);
		until = *horizon < until ? *horizon : until;
		if (abroad_has_leaving(s) || abroad_has_failed(s) ||
			abroad_is_alarmed(s))
			break;
	}
	return next;
}

/* Runs up to a window.  Leaves early where a process fails or is stopped. */
static void run_in_room(struct sim *s, uint64_t end, bool may_stop)
{
	uint64_t horizon = 0, next = abroad_post(s, windows_next(s), &horizon);
	bool is_over = false;

	for (;;) {
		if (abroad_has_failed(s) || (may_stop && is_stopped(s)))
			abroad_alarm(s);
		if (abroad_is_alarmed(s))
			return;
		if (next >= horizon || next >= end) {
			/* mail that is due before the horizon has come then */
			horizon = abroad_look(s, end, &is_over);
			abroad_take(s, &next);
			if (next >= horizon || next >= end)
				abroad_confirm(s, next);
		}
		if (next < horizon && next < end) {
			next = run_some(s, next, &horizon, end);
			abroad_take(s, &next); /* so that boxes do not fill */
		} else if (abroad_has_posted(s, next)) {
			if (is_over && next >= end)
				return;
			abroad_wait(s, next < end ? next : NO_WINDOW, end);
			continue;
		}
		next = abroad_post(s, next, &horizon);
	}
}

/* The first window that is not to be run. */
static uint64_t end_of(const struct sim *s)
{
	return (uint64_t)(s->until / s->p.window) +
	       (s->until % s->p.window > 0);
}

/* The first window that no process has run, nor any later one. */
static uint64_t first_of_all(const struct sim *s)
{
	uint64_t k = (uint64_t)s->workers[0].start / s->workers[0].width;

	sim_max(s, &k, 1);
	return k;
}

/* Several processes meet, and then run as far as they may. */
static void run_processes(struct sim *s)
{
	bool is_last = false;
	struct err e = { 0 };

	for (;;) {
		struct abroad_view v = { .stop = !is_last && is_stopped(s) };

		if (s->p.cluster->room)
			abroad_meet(s, &v, &e);
		else
			promises_meet(s, &v, &e);
		if (e.code)
			err_raise(&e);
		if (v.stop) { /* those behind catch up with the others */
			s->until = (sim_time)first_of_all(s) * s->p.window;
			is_last = true;
		}
		if (!goes_on(s, v.next, false))
			break;
		if (s->p.cluster->room)
			run_in_room(s, end_of(s), !is_last);
		else if (v.is_crowd)
			run_by_promises(s, v.next, end_of(s), !is_last);
		else
			run_ahead(s, v.horizon);
	}
	if (is_last)
		s->ending = SIM_STOPPED;
}

/* Workers of this process only. */
static void run_workers(struct sim *s)
{
	uint64_t k;

	for (;;) {
		k = windows_next(s);
		if (!goes_on(s, k, is_stopped(s)))
			break;
		if (choose_way(s, s->n_events) == PACE_ALONE) {
			run_alone(s, k);
			continue;
		}
		barrier_wait(&s->gate, 0);
		run_guarded(&s->workers[0]);
		barrier_wait(&s->gate, 0);
		raise_failure(s);
	}
}

enum sim_ending sim_run(struct sim *s, sim_time until)
{
	s->until = until;
	s->is_guarded = err_is_guarded();
	if (s->p.cluster)
		run_processes(s);
	else
		run_workers(s);
	align(s);
	return s->ending;
}

void sim_share(
	struct sim *s, void (*f)(void *arg, struct sim_worker *w), void *arg)
{
	if (s->n_threads < s->p.n_workers || s->p.n_workers == 1) {
		for (uint32_t i = 0; i < s->p.n_workers; i++)
			f(arg, &s->workers[i]);
		return;
	}
	s->task = f;
	s->task_arg = arg;
	barrier_wait(&s->gate, 0);
	f(arg, &s->workers[0]);
	barrier_wait(&s->gate, 0);
	s->task = NULL;
}
