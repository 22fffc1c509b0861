#define _GNU_SOURCE
#include "sim/inside.h"
#include "sim/visits.h"

#include "base/bits.h"
#include "base/mem.h"

enum {
	AHEAD = 2, /* visits between steps of prefetching */
	AHEAD_LEAST = 4 * SIM_STEPS * AHEAD, /* visits for which it pays */
	AHEAD_TIMED = 512, /* and after which it pays to take their time */
	CROWD = 8,
	BATCH_FIRST = 64,
	LEAST_FOR_PARTS = 64, /* events */
	SLOTS_LEAST = 64,
	SLOTS_MOST = 2048
};

/* --- posting, the rare cases --- */

/* batch[-1] is a sentinel that ranks before every event, as *w->end is one that
 * ranks after them. */
static __attribute__((noinline)) void batch_reserve(
	struct sim_worker *w, uint32_t n)
{
	size_t at = (size_t)(w->at - w->batch),
	       end = (size_t)(w->end - w->batch);
	struct sim_event *all = w->batch ? w->batch - 1 : NULL;

	if (n < w->batch_room)
		return;
	w->batch_room = 2 * n + BATCH_FIRST;
	all = mem_grow(all, w->batch_room + 2, sizeof(*all));
	all->rank = 0;
	w->batch = all + 1;
	w->at = w->batch + at;
	sim_end_batch(w, w->batch + end);
	w->batch_end = w->batch + w->batch_room;
}

/* By itself, so that those with room do not pay for it. */
static __attribute__((noinline)) void post_with_more_room(
	struct sim_worker *w, uint64_t rank, uint32_t data)
{
	batch_reserve(w, w->batch_room);
	sim_post_soon(w, rank, data);
}

void sim_post_soon(struct sim_worker *w, uint64_t rank, uint32_t data)
{
	struct sim_event e = { .rank = rank, .site = w->visited, .data = data };

	if (__builtin_expect(w->end == w->batch_end, 0)) {
		post_with_more_room(w, rank, data);
		return;
	}
	BUG_IF(rank < w->at[-1].rank);
	sim_end_batch(w, sim_insert(w->end, e));
	w->n_events++;
}

void sim_post_slow(struct sim_worker *w, site_id site, sim_time t,
	uint64_t rank, uint32_t data)
{
	struct sim_event e = { .rank = rank, .site = site, .data = data };
	uint64_t dt = (uint64_t)(t - w->start);

	if (t < w->start)
		BUG("site %u: an event at %lld ps, before the window at %lld",
			site, (long long)t, (long long)w->start);
	if (!sim_is_own(w, site)) {
		BUG_IF(dt < w->width);
		mail_send(w, w->owner[site], t, e);
	} else if (dt >= w->width) {
		mail_keep(w, t, e);
	} else if (w->visited == site) {
		sim_post_soon(w, rank | SIM_RANK(dt, 0, 0), data);
	} else {
		BUG_IF(w->visited != NO_SITE);
		mail_put(w, w->id, dt, e);
	}
}

/* --- a window --- */

enum { SIZE = sizeof(struct sim_event) };

static inline struct sim_event *listed(struct sim_event *e, size_t i)
{
	return (struct sim_event *)(uintptr_t)sim_listed(e, i);
}

/*
 * Threads the events into one list per site: the name of the next one
 * (sim_listed()) takes the place of the site, which the list's owner knows.
 * Returns how many sites have one.  The order of sites is that of their last
 * mail: it does not matter.  Lists are in the order of posting, which is closer
 * to that of time than the reverse.
 */
static uint32_t sort_by_site(
	struct sim_worker *w, struct sim_event *e, uint32_t n)
{
	uint32_t *head = w->head;
	site_id *order = w->order;

	for (size_t i = n * SIZE; i; i -= SIZE) {
		struct sim_event *x = listed(e, i);
		site_id site = x->site;
		uint32_t old = head[site];

		x->site = old;
		head[site] = (uint32_t)i;
		if (!old)
			*order++ = site;
	}
	return (uint32_t)(order - w->order);
}

/* First by time into a list for each part of the window, of which w->part has
 * the first. */
static void fill_by_parts(
	struct sim_worker *w, struct sim_event *e, site_id site)
{
	uint32_t shift = w->part_shift, *part = w->part, i = w->head[site];
	struct sim_event *end = w->batch;
	uint64_t parts = 0;

	while (i) {
		struct sim_event *x = listed(e, i);
		uint32_t k = sim_when(x) >> shift, next = x->site;

		x->site = part[k];
		part[k] = i;
		parts = bits_with(parts, k);
		i = next;
	}
	w->head[site] = 0;
	w->at = end;
	for (; parts; parts &= parts - 1) {
		uint32_t *first = &part[bits_first(parts)];

		i = *first;
		do {
			end = sim_insert(end, *sim_listed(e, i));
		} while ((i = sim_listed(e, i)->site));
		*first = 0;
	}
	sim_end_batch(w, end);
}

static inline void prefetch_for(const struct sim_worker *w,
	const struct sim_event *e, site_id site, uint32_t step)
{
	w->sim->p.ops->prefetch(
		w, site, (struct sim_waiting){ e, w->head[site] }, step);
}

/* The steps for visits that come after the i-th.  Those of crowded sites are so
 * long that all but the first step is too much. */
static void look_ahead(const struct sim_worker *w, const struct sim_event *e,
	const struct sim_visits *v, uint32_t i)
{
	uint32_t n = v->n;

	i += SIM_STEPS * AHEAD;
	if (!v->crowd) {
		if (i < n)
			prefetch_for(w, e, v->order[i], 0);
		return;
	}
	if (i + AHEAD < n)
		mem_prefetch(sim_listed(e, w->head[v->order[i + AHEAD]]));
	for (uint32_t step = 0; step < SIM_STEPS; step++, i -= AHEAD)
		if (i < n)
			prefetch_for(w, e, v->order[i], step);
}

void sim_fill_other(struct sim_worker *w, struct sim_event *e,
	const struct sim_visits *v, const site_id *site)
{
	if (v->prefetches)
		look_ahead(w, e, v, (uint32_t)(site - v->order));
	if (e && *site >= v->crowd)
		fill_by_parts(w, e, *site);
	else if (e)
		sim_fill_batch(w, e, *site);
}

/* Whether a visit of so many sites may prefetch: a model sets its operations
 * after the kernel is made. */
static inline bool may_look_ahead(
	const struct sim_worker *w, uint32_t n, uint32_t least)
{
	const struct sim_params *p = &w->sim->p;

	return n >= least && p->prefetches && !p->trial.is_plain &&
	       p->ops->prefetch;
}

/* Some of the sites with mail; those from some number on are crowded. */
static void visit_some(struct sim_worker *w, struct sim_event *e,
	const site_id *order, uint32_t n, uint64_t crowd)
{
	const struct sim_ops *ops = w->sim->p.ops;
	struct sim_visits v = {
		.order = order,
		.n = n,
		.crowd = crowd,
		.prefetches = may_look_ahead(w, n, AHEAD_LEAST) &&
			      w->ahead.way == PACE_AHEAD,
	};

	if (ops->visits)
		ops->visits(w, e, &v);
	else
		sim_visits(w, e, &v, ops->visit);
}

/* Whether to take the time of so many: of a few, in some windows only. */
static inline bool is_time_due(struct sim_worker *w, uint32_t n)
{
	if (!may_look_ahead(w, n, AHEAD_LEAST) || w->sim->p.trial.is_ahead)
		return false;
	w->untimed += n;
	if (w->untimed < AHEAD_TIMED)
		return false;
	w->untimed = 0;
	return true;
}

/* After visits that began at a time, and had run so many events before:
 * whether to prefetch for the next ones. */
static __attribute__((noinline)) void take_time(
	struct sim_worker *w, int64_t begin, uint64_t n_events)
{
	w->spent += pace_own_clock() - begin;
	w->n_timed += w->n_events - n_events;
	pace_at(&w->ahead, w->n_timed, w->spent);
}

/* The same for a site's single event, which needs no order. */
static inline void visit_one(struct sim_worker *w, const struct sim_event *e)
{
	w->n_visits++;
	w->n_events++;
	w->at = w->batch;
	w->batch[0] = *e;
	sim_end_batch(w, w->batch + 1);
	w->visited = e->site;
	w->sim->p.ops->visit(w, e->site);
}

/* The first of the sites that are crowded, if there is one. */
static inline uint64_t first_crowded(
	const struct sim_worker *w, uint32_t n, uint32_t n_events)
{
	if (!SHORTCUTS)
		return UINT64_MAX;
	if (n_events / CROWD >= n)
		return 0;
	return w->sim->p.crowd ? w->sim->p.crowd : UINT64_MAX;
}

/* Counts what is to be visited, and makes room. */
static inline void begin_visits(
	struct sim_worker *w, uint32_t n, uint32_t n_events)
{
	w->n_visits += n;
	w->n_events += n_events;
	if (n_events >= w->batch_room)
		batch_reserve(w, n_events);
}

/* By itself, so that a window with one event does not pay for it. */
static __attribute__((noinline)) void visit_many(
	struct sim_worker *w, struct sim_event *e, uint32_t n_events)
{
	uint32_t n = sort_by_site(w, e, n_events);
	bool is_timed = is_time_due(w, n);
	int64_t begin = is_timed ? pace_own_clock() : 0;
	uint64_t before = w->n_events;

	begin_visits(w, n, n_events);
	visit_some(w, e, w->order, n, first_crowded(w, n, n_events));
	if (is_timed)
		take_time(w, begin, before);
}

/* After the visits of a window. */
static inline void end_visits(struct sim_worker *w)
{
	uint64_t counted = w->n_events - w->n_discounted;

	w->visited = NO_SITE;
	if (counted == w->n_counted)
		return;
	w->n_counted = counted;
	w->last = w->start + w->width;
}

void sim_visit_one(struct sim_worker *w, const struct sim_event *e)
{
	visit_one(w, e);
	end_visits(w);
}

void sim_visit_all(struct sim_worker *w, struct sim_event *e, uint32_t n_events)
{
	if (!SHORTCUTS) {
		visit_many(w, e, n_events);
	} else if (n_events == 1) {
		visit_one(w, &e[0]);
	} else if (n_events == 2 && e[0].site != e[1].site) {
		visit_one(w, &e[0]);
		visit_one(w, &e[1]);
	} else {
		visit_many(w, e, n_events);
	}
	end_visits(w);
}

/* All mail of the window. */
static struct sim_event *gather(struct sim_worker *w, uint32_t *n)
{
	struct sim_event *first = w->first[w->slot];

	if (w->n_workers > 1)
		return mail_gather(w, n);
	*n = (uint32_t)(w->out[w->slot].next - first);
	w->out[w->slot].next = first;
	return first;
}

/* All mail of window k, with what has come within reach. */
static struct sim_event *begin_window(
	struct sim_worker *w, uint64_t k, uint32_t *n)
{
	w->start = (sim_time)k * w->width;
	w->slot = (uint32_t)k & w->slot_mask;
	w->n_windows++;
	if (mail_may_be_near(w))
		mail_take_far(w);
	return gather(w, n);
}

void sim_run_window(struct sim_worker *w, uint64_t k)
{
	uint32_t n;
	struct sim_event *e = begin_window(w, k, &n);

	if (n)
		sim_visit_all(w, e, n);
}

/* --- a window in two parts --- */

/* Puts the sites that send mail to other processes before the others; returns
 * their number. */
static uint32_t put_edge_first(
	const uint8_t *is_edge, site_id *order, uint32_t n)
{
	uint32_t n_first = 0;

	for (uint32_t i = 0; i < n; i++) {
		site_id site = order[i];

		if (!is_edge[site])
			continue;
		order[i] = order[n_first];
		order[n_first++] = site;
	}
	return n_first;
}

bool sim_has_parts(const struct sim *s, uint64_t n_events)
{
	return s->is_edge && n_events >= LEAST_FOR_PARTS;
}

void sim_run_first(struct sim_worker *w, uint64_t k)
{
	struct sim_halves *h = &w->halves;
	uint32_t n_events;
	struct sim_event *e = begin_window(w, k, &n_events);

	*h = (struct sim_halves){ .e = e, .n_events = w->n_events };
	if (!sim_has_parts(w->sim, n_events)) {
		if (n_events)
			sim_visit_all(w, e, n_events);
		return;
	}
	h->n = sort_by_site(w, e, n_events);
	h->n_first = put_edge_first(w->sim->is_edge, w->order, h->n);
	h->crowd = first_crowded(w, h->n, n_events);
	h->is_timed = is_time_due(w, h->n);
	begin_visits(w, h->n, n_events);
	w->spent -= h->is_timed ? pace_own_clock() : 0;
	visit_some(w, e, w->order, h->n_first, h->crowd);
	w->spent += h->is_timed ? pace_own_clock() : 0;
	w->visited = NO_SITE;
}

void sim_run_rest(struct sim_worker *w)
{
	const struct sim_halves *h = &w->halves;
	int64_t begin = h->is_timed ? pace_own_clock() : 0;

	if (!h->n)
		return;
	visit_some(w, h->e, w->order + h->n_first, h->n - h->n_first, h->crowd);
	if (h->is_timed)
		take_time(w, begin, h->n_events);
	end_visits(w);
}

/* --- life --- */

static void worker_init(struct sim *s, uint32_t id)
{
	struct sim_worker *w = &s->workers[id];
	size_t n = s->p.n_sites, t = s->p.n_workers;

	w->sim = s;
	w->id = id;
	w->n_workers = s->p.n_workers;
	w->model = s->p.model;
	w->width = (uint32_t)s->p.window;
	w->slot_mask = s->n_slots - 1;
	w->part_shift = 32 - SIM_PARTS_LOG - (uint32_t)__builtin_clz(w->width);
	w->reach = (uint64_t)(s->n_slots - 2) * w->width;
	w->owner = s->owner;
	w->visited = NO_SITE;
	/* one more than there are, which is never empty: see find_window() */
	w->out = mem_alloc(t * s->n_slots + 1, sizeof(*w->out));
	w->first = mem_alloc(t * s->n_slots + 1, sizeof(*w->first));
	w->out[t * s->n_slots].next = (struct sim_event *)(void *)w;
	/* what is not its own is not touched */
	w->head = map_alloc(n * sizeof(*w->head));
	w->order = map_alloc(n * sizeof(*w->order));
	w->own = w->out + id * s->n_slots;
	w->away = mem_alloc(2 * t, sizeof(*w->away));
	w->away_next = w->near_at = SIM_NEVER;
	abroad_worker_init(w);
	pace_init(&w->ahead, PACE_AHEAD, NULL);
	batch_reserve(w, BATCH_FIRST);
}

static void worker_fini(struct sim *s, struct sim_worker *w)
{
	for (uint32_t i = 0; i < s->p.n_workers * s->n_slots; i++)
		mem_free(w->first[i]);
	mem_free(w->out);
	mem_free(w->first);
	map_free(w->head, s->p.n_sites * sizeof(*w->head));
	map_free(w->order, s->p.n_sites * sizeof(*w->order));
	mem_free(w->batch - 1);
	mem_free(w->inbox);
	mem_free(w->far.item);
	for (uint32_t i = 0; i < 2 * s->p.n_workers; i++)
		mem_free(w->away[i].item);
	mem_free(w->away);
	abroad_worker_fini(w);
}

/* Enough for the reach, but no more than SLOTS_MOST; all of them together must
 * be less than 2^32 ps long.  What they do not reach is kept in heaps. */
static uint32_t count_slots(const struct sim_params *p)
{
	uint32_t n = SLOTS_LEAST;

	while (n < SLOTS_MOST && 2 * n * p->window <= UINT32_MAX &&
		(sim_time)(n - 1) * p->window <= p->reach + p->window)
		n *= 2;
	return n;
}

int sim_check(const struct sim_params *p, struct err *e)
{
	if (p->n_sites < 1)
		return err_set(e, "a machine needs at least one site");
	if (p->n_workers < 1 || p->n_workers > SIM_MAX_WORKERS)
		return err_set(e, "%u threads (want 1 to %d)", p->n_workers,
			SIM_MAX_WORKERS);
	if (p->cluster && p->n_workers > SIM_FOREIGN)
		return err_set(e,
			"%u threads (want at most %d in each of several "
			"processes)",
			p->n_workers, SIM_FOREIGN);
	if (p->window < SIM_MIN_WINDOW)
		return err_set(e,
			"the shortest wire has a latency of %lld ps (want at "
			"least %d ps)",
			(long long)p->window, SIM_MIN_WINDOW);
	if (p->window > UINT32_MAX / SLOTS_LEAST)
		return err_set(e,
			"the shortest wire has a latency of %lld ps, which is "
			"too long",
			(long long)p->window);
	return 0;
}

/* Where the host lets us start fewer threads than there are workers, one runs
 * them all. */
static void start_threads(struct sim *s)
{
	uint32_t i = 1;

	pthread_mutex_init(&s->starting, NULL);
	pthread_mutex_lock(&s->starting);
	while (i < s->p.n_workers && !s->census && !s->fence &&
		!pthread_create(
			&s->threads[i], NULL, sim_thread, &s->workers[i]))
		i++;
	s->n_threads = i;
	barrier_init(&s->gate, i);
	barrier_init(&s->meet, i);
	pthread_mutex_unlock(&s->starting);
}

/* Gives every site its worker. */
static void share_out(struct sim *s)
{
	uint64_t n = s->p.n_sites, t = s->p.n_workers;

	s->owner = mem_alloc(n, sizeof(*s->owner));
	for (site_id i = 0; i < n; i++) {
		s->owner[i] = (uint8_t)(i * t / n);
		if (s->p.owner)
			s->owner[i] = s->p.owner[i];
		if (!sim_has(s, i)) {
			s->owner[i] = SIM_FOREIGN;
			continue;
		}
		BUG_IF(s->owner[i] >= t);
		s->workers[s->owner[i]].n_sites++;
	}
}

struct sim *sim_new(const struct sim_params *p, struct err *e)
{
	struct sim *s;

	if (sim_check(p, e))
		return NULL;
	s = mem_alloc(1, sizeof(*s));
	s->p = *p;
	if (s->p.n_workers > p->n_sites)
		s->p.n_workers = p->n_sites;
	s->n_slots = count_slots(p);
	s->workers = mem_alloc(s->p.n_workers, sizeof(*s->workers));
	abroad_init(s);
	census_init(s);
	share_out(s);
	fence_init(s);
	s->threads = mem_alloc(s->p.n_workers, sizeof(*s->threads));
	for (uint32_t i = 0; i < 2; i++)
		s->notices[i] =
			map_alloc(s->p.n_workers * sizeof(struct notice));
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		worker_init(s, i);
	pace_init(&s->pace, PACE_ALONE, pace_clock);
	start_threads(s);
	return s;
}

void sim_free(struct sim *s)
{
	if (!s)
		return;
	s->leaving = true;
	barrier_wait(&s->gate, 0);
	for (uint32_t i = 1; i < s->n_threads; i++)
		pthread_join(s->threads[i], NULL);
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		worker_fini(s, &s->workers[i]);
	for (uint32_t i = 0; i < 2; i++)
		map_free(s->notices[i], s->p.n_workers * sizeof(struct notice));
	barrier_fini(&s->gate);
	barrier_fini(&s->meet);
	pthread_mutex_destroy(&s->starting);
	abroad_fini(s);
	census_fini(s);
	fence_fini(s);
	mem_free(s->threads);
	mem_free(s->owner);
	mem_free(s->workers);
	mem_free(s);
}
