/*
 * Mail to other processes, and what they tell each other between windows.
 *
 * What is sent away is a time, an event and what the event's data stand for
 * (sim_ops.pack()).  Each worker keeps what it sends to each process until all
 * of them meet after the window; there it gets new data, and goes into the
 * boxes of its owner as if the first worker had sent it.
 */
#define _GNU_SOURCE
#include "sim/abroad.h"

#include <string.h>

#include "sim/room.h"

struct record {
	sim_time t;
	struct sim_event e;
	uint64_t n; /* bytes that follow, whole words */
};

/* --- how long mail takes --- */

/* Things that mail from one process brings about reach others by third ones,
 * too: leads become those of the shortest ways. */
static void find_ways(uint8_t *lead, size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++) {
				uint32_t a = lead[i * n + k];
				uint32_t b = lead[k * n + j];
				uint8_t *c = &lead[i * n + j];

				if (a && b && (!*c || a + b < *c))
					*c = (uint8_t)(a + b < UINT8_MAX
							       ? a + b
							       : UINT8_MAX);
			}
}

static void find_least_lead(struct sim *s)
{
	struct sim_abroad *a = s->abroad;
	uint32_t me = s->p.cluster->me;

	a->least_lead = UINT8_MAX;
	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (a->is_near[i] && abroad_lead(s, i, me) < a->least_lead)
			a->least_lead = (uint8_t)abroad_lead(s, i, me);
}

static void set_leads(struct sim *s)
{
	const struct cluster *c = s->p.cluster;
	struct sim_abroad *a = s->abroad;
	size_t n = c->n;

	a->lead = mem_alloc(n * n, sizeof(*a->lead));
	memcpy(a->lead, s->p.lead, n * n * sizeof(*a->lead));
	for (size_t i = 0; i < n; i++)
		a->is_near[i] = i != c->me && a->lead[c->me * n + i];
	find_least_lead(s);
	if (!c->room)
		return;
	a->ways = room_ways_new(a->lead, c->n);
	find_ways(a->lead, n);
}

/* Notes go from any process to any, from any site, and are heard in the next
 * window. */
static void be_near_all(struct sim *s)
{
	const struct cluster *c = s->p.cluster;
	size_t n = c->n;

	mem_free(s->is_edge);
	s->is_edge = NULL;
	memset(s->abroad->lead, 1, n * n * sizeof(*s->abroad->lead));
	for (size_t i = 0; i < n; i++)
		s->abroad->is_near[i] = i != c->me;
	find_least_lead(s);
	if (!c->room)
		return;
	room_ways_free(s->abroad->ways);
	s->abroad->ways = room_ways_new(s->abroad->lead, c->n);
}

/* --- */

void abroad_init(struct sim *s)
{
	const struct cluster *c = s->p.cluster;
	struct sim_abroad *a;

	if (!c)
		return;
	a = s->abroad = mem_alloc(1, sizeof(*a));
	a->out = mem_alloc(c->n, sizeof(*a->out));
	a->in = mem_alloc(c->n, sizeof(*a->in));
	a->n_put = mem_alloc(c->n, sizeof(*a->n_put));
	a->promise = mem_alloc(c->n, sizeof(*a->promise));
	a->is_near = mem_alloc(c->n, sizeof(*a->is_near));
	set_leads(s);
	promises_init(s);
	s->process = mem_alloc(s->p.n_sites, sizeof(*s->process));
	memcpy(s->process, s->p.process, s->p.n_sites * sizeof(*s->process));
	if (!s->p.is_edge)
		return;
	s->is_edge = mem_alloc(s->p.n_sites, sizeof(*s->is_edge));
	memcpy(s->is_edge, s->p.is_edge, s->p.n_sites * sizeof(*s->is_edge));
}

void abroad_fini(struct sim *s)
{
	struct sim_abroad *a = s->abroad;

	for (uint32_t i = 0; a && i < s->p.cluster->n; i++) {
		cluster_bytes_free(&a->out[i]);
		cluster_bytes_free(&a->in[i]);
		mem_free(a->promise[i].due);
	}
	if (a) {
		mem_free(a->out);
		mem_free(a->in);
		mem_free(a->n_put);
		mem_free(a->promise);
		mem_free(a->is_near);
		mem_free(a->lead);
		room_ways_free(a->ways);
		mem_free(a->listener);
	}
	mem_free(a);
	mem_free(s->is_edge);
	mem_free(s->process);
}

void abroad_worker_init(struct sim_worker *w)
{
	const struct cluster *c = w->sim->p.cluster;

	w->leaving_next = w->stirs_next = SIM_NEVER;
	if (c)
		w->leaving = mem_alloc(c->n, sizeof(*w->leaving));
}

void abroad_worker_fini(struct sim_worker *w)
{
	for (uint32_t i = 0; w->leaving && i < w->sim->p.cluster->n; i++)
		cluster_bytes_free(&w->leaving[i]);
	mem_free(w->leaving);
}

/* --- mail --- */

static void pack(struct sim_worker *w, const struct sim_event *e,
	struct cluster_bytes *to)
{
	if (w->sim->p.ops->pack)
		w->sim->p.ops->pack(w, e, to);
}

static void unpack(
	struct sim_worker *w, struct sim_event *e, const void *from, size_t n)
{
	if (n)
		e->data = w->sim->p.ops->unpack(w, e, from, n);
}

/* Mail that takes less time than it must. */
static bool comes_early(
	const struct sim_worker *w, uint32_t process, sim_time t)
{
	const struct sim *s = w->sim;
	uint64_t lead = abroad_lead(s, s->p.cluster->me, process);

	return (uint64_t)(t - w->start) < lead * w->width;
}

static bool is_still(const struct sim *s, const struct sim_event *e)
{
	return s->p.ops->is_still && s->p.ops->is_still(e);
}

static void note_time(struct sim_worker *w, sim_time t, bool is_still)
{
	if (t < w->leaving_next)
		w->leaving_next = t;
	if (is_still && t > w->still_last)
		w->still_last = t;
	if (!is_still && t < w->stirs_next)
		w->stirs_next = t;
}

void abroad_send(struct sim_worker *w, sim_time t, const struct sim_event *e)
{
	uint32_t process = w->sim->process[e->site];
	struct cluster_bytes *to = &w->leaving[process];
	struct record r = { .t = t, .e = *e };
	size_t at = to->n;

	BUG_IF(!w->sim->abroad->is_near[process] || comes_early(w, process, t));
	BUG_IF(w->start < w->sim->abroad->rests_until);
	BUG_IF(w->sim->part == PART_REST);
	cluster_add(to, sizeof(r));
	pack(w, e, to);
	cluster_add(to, -to->n % sizeof(uint64_t));
	r.n = to->n - at - sizeof(r);
	memcpy(to->at + at, &r, sizeof(r));
	note_time(w, t, is_still(w->sim, e));
}

void abroad_repack(struct sim_worker *w, struct sim_event *e)
{
	struct cluster_bytes b = { 0 };

	pack(w, e, &b);
	w->mail_sent++;
	w->mail_bytes += sizeof(struct record) + b.n;
	unpack(w, e, b.at, b.n);
	cluster_bytes_free(&b);
}

/* The first worker sends it on; unlike that's own mail, it may be due in the
 * window that comes next. */
static void take_in(struct sim *s, const struct record *r, const void *load)
{
	struct sim_worker *w = s->workers;
	struct sim_event e = r->e;
	uint32_t owner = s->owner[e.site];
	uint64_t dt = (uint64_t)(r->t - w->start);

	BUG_IF(owner == SIM_FOREIGN || r->t < w->start);
	unpack(w, &e, load, r->n);
	if (dt < w->reach + w->width)
		mail_put(w, owner, dt, e);
	else if (owner == w->id)
		mail_keep(w, r->t, e);
	else
		mail_send(w, owner, r->t, e);
}

/* A note is a record for no site: the event's data say whose it is. */
static void take_note(
	const struct sim_abroad *a, const struct record *r, const void *bytes)
{
	const struct sim_listener *l = &a->listener[r->e.data];

	BUG_IF(r->e.data >= a->n_listeners);
	l->hear(l->arg, bytes, r->n);
}

sim_time abroad_take_in(struct sim *s, struct cluster_bytes *b)
{
	sim_time due = SIM_NEVER;
	size_t i = 0;
	struct record r;

	while (b->n - i >= sizeof(r)) {
		const char *load = b->at + i + sizeof(r);

		memcpy(&r, b->at + i, sizeof(r));
		if (b->n - i - sizeof(r) < r.n)
			break;
		if (r.e.site == NO_SITE)
			take_note(s->abroad, &r, load);
		else
			take_in(s, &r, load);
		if (r.e.site != NO_SITE && r.t < due)
			due = r.t;
		if (r.e.site != NO_SITE && !is_still(s, &r.e) &&
			r.t < s->abroad->rests_until)
			s->abroad->rests_until =
				r.t / s->p.window * s->p.window;
		i += sizeof(r) + r.n;
	}
	b->n -= i;
	if (b->n)
		memmove(b->at, b->at + i, b->n);
	return due;
}

void abroad_collect(struct sim *s, uint32_t process)
{
	struct cluster_bytes *out = &s->abroad->out[process], was = *out;

	*out = s->workers[0].leaving[process];
	s->workers[0].leaving[process] =
		(struct cluster_bytes){ .at = was.at, .room = was.room };
	for (uint32_t i = 1; i < s->p.n_workers; i++) {
		struct cluster_bytes *b = &s->workers[i].leaving[process];

		if (b->n)
			memcpy(cluster_add(out, b->n), b->at, b->n);
		b->n = 0;
	}
}

uint64_t abroad_first(const struct sim *s, const struct cluster_bytes *b)
{
	sim_time first = SIM_NEVER;
	struct record r;

	for (size_t i = 0; i < b->n; i += sizeof(r) + r.n) {
		memcpy(&r, b->at + i, sizeof(r));
		if (r.e.site != NO_SITE && r.t < first)
			first = r.t;
	}
	return first == SIM_NEVER ? NO_WINDOW : (uint64_t)(first / s->p.window);
}

void abroad_forget(struct sim *s)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		s->workers[i].leaving_next = SIM_NEVER;
		s->workers[i].stirs_next = SIM_NEVER;
		s->workers[i].still_last = 0;
		s->workers[i].has_notes = false;
	}
}

bool abroad_has_leaving(const struct sim *s)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (s->workers[i].leaving_next != SIM_NEVER ||
			s->workers[i].has_notes)
			return true;
	return false;
}

uint64_t abroad_next(const struct sim *s, uint64_t next)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];
		uint64_t k = (uint64_t)w->leaving_next / w->width;

		if (w->leaving_next != SIM_NEVER && k < next)
			next = k;
	}
	return next;
}

bool abroad_has_failed(const struct sim *s)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (s->workers[i].failure.code)
			return true;
	return false;
}

void abroad_share_failure(struct sim *s, uint64_t first, struct err *e)
{
	struct cluster *c = s->p.cluster;

	for (uint32_t i = 0; i < s->p.n_workers && !e->code; i++)
		*e = s->workers[i].failure;
	cluster_tell(c, (uint32_t)(c->n - first), e, sizeof(*e));
	c->knows_error = true;
}

/* --- processes of one computer --- */

void abroad_take(struct sim *s, uint64_t *next)
{
	struct sim_abroad *a = s->abroad;
	struct room *room = s->p.cluster->room;
	sim_time due = SIM_NEVER;

	for (uint32_t i = 0; i < s->p.cluster->n; i++) {
		sim_time t;

		if (!a->is_near[i] || !room_get(room, i, &a->in[i]))
			continue;
		t = abroad_take_in(s, &a->in[i]);
		due = t < due ? t : due;
	}
	if (due != SIM_NEVER && (uint64_t)(due / s->p.window) < *next)
		*next = (uint64_t)(due / s->p.window);
}

void abroad_confirm(struct sim *s, uint64_t next)
{
	struct room *room = s->p.cluster->room;
	sim_time rests_until = s->abroad->rests_until;

	if (room_has_more(room) &&
		next >= (uint64_t)(rests_until / s->p.window))
		room_end(room, next, false);
}

bool abroad_has_posted(const struct sim *s, uint64_t next)
{
	return room_left(s->p.cluster->room) >= next;
}

/* Whether all of it is in the box now. */
static bool put_some(struct sim *s, uint32_t to)
{
	const struct cluster_bytes *out = &s->abroad->out[to];
	size_t *at = &s->abroad->n_put[to];

	*at += room_put(s->p.cluster->room, to, out->at + *at, out->n - *at);
	return *at == out->n;
}

/* Two that fill each other's boxes empty their own, too.  After an alarm nobody
 * does: the rest goes when all meet. */
static void put_mail(struct sim *s, uint32_t to, uint64_t *next)
{
	while (!put_some(s, to) && !abroad_is_alarmed(s)) {
		abroad_take(s, next);
		room_press(s->p.cluster->room, to);
	}
}

/* The first window of mail to a process that may have an answer. */
static uint64_t first_stir(const struct sim *s, uint32_t to)
{
	sim_time next = SIM_NEVER, last = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];

		next = w->stirs_next < next ? w->stirs_next : next;
		last = w->still_last > last ? w->still_last : last;
	}
	if (last && !room_is_resting(s->p.cluster->room, to,
			    (uint64_t)(last / s->p.window)))
		return abroad_next(s, NO_WINDOW);
	return next == SIM_NEVER ? NO_WINDOW : (uint64_t)(next / s->p.window);
}

/* Says when mail to a process is due; returns when an answer to it is, at the
 * earliest. */
static uint64_t note_due(struct sim *s, uint32_t to)
{
	uint64_t lead = abroad_lead(s, to, s->p.cluster->me);
	uint64_t due = first_stir(s, to);

	room_due(s->p.cluster->room, to, due);
	return lead && due != NO_WINDOW ? due + lead : NO_WINDOW;
}

/* Whether this process rests until its next window. */
static bool rests(struct sim *s, uint64_t next)
{
	const struct sim_ops *ops = s->p.ops;
	bool may = room_may_rest(s->p.cluster->room) && ops->rests &&
		   ops->rests(s->p.model);

	s->abroad->rests_until = !may ? 0
				 : next == NO_WINDOW
					 ? SIM_NEVER
					 : (sim_time)next * s->p.window;
	return may;
}

/* Mail goes into boxes; next becomes the window of what that made it take, if
 * that is earlier. */
static void post_mail(struct sim *s, uint64_t *next, uint64_t *horizon)
{
	struct sim_abroad *a = s->abroad;
	uint64_t answer;

	if (!abroad_has_leaving(s))
		return;
	for (uint32_t i = 0; i < s->p.cluster->n; i++) {
		if (!a->is_near[i])
			continue;
		abroad_collect(s, i);
		a->n_put[i] = 0;
		if (!a->out[i].n)
			continue;
		put_mail(s, i, next);
		answer = note_due(s, i);
		*horizon = answer < *horizon ? answer : *horizon;
	}
	abroad_forget(s);
}

/* After an alarm: not all mail is in boxes, so the others must not hear that
 * this process is done with its windows. */
static bool has_rest(const struct sim *s)
{
	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (s->abroad->n_put[i] != s->abroad->out[i].n)
			return abroad_is_alarmed(s);
	return false;
}

uint64_t abroad_post(struct sim *s, uint64_t next, uint64_t *horizon)
{
	post_mail(s, &next, horizon);
	if (!has_rest(s))
		room_end(s->p.cluster->room, next, rests(s, next));
	return next;
}

void abroad_post_early(struct sim *s, uint64_t next, uint64_t *horizon)
{
	post_mail(s, &next, horizon);
	if (!has_rest(s))
		room_end(s->p.cluster->room, next, false);
}

uint64_t abroad_look(const struct sim *s, uint64_t end, bool *is_over)
{
	struct room_view v;

	*is_over = false;
	if (!room_look(s->p.cluster->room, &v))
		return 0;
	*is_over = v.first >= end;
	return v.horizon;
}

bool abroad_is_alarmed(const struct sim *s)
{
	return room_is_alarmed(s->p.cluster->room);
}

void abroad_alarm(struct sim *s)
{
	room_alarm(s->p.cluster->room);
}

void abroad_wait(struct sim *s, uint64_t window, uint64_t end)
{
	room_wait(s->p.cluster->room, window, end);
}

/* Whether there is mail that did not fit into its box. */
static bool put_rest(struct sim *s)
{
	bool is_left = false;

	for (uint32_t i = 0; i < s->p.cluster->n; i++) {
		if (s->abroad->n_put[i] == s->abroad->out[i].n)
			continue;
		is_left |= !put_some(s, i);
		room_hand_over(s->p.cluster->room, i);
	}
	return is_left;
}

/* When all have left, whoever has mail in a box takes it, and the next to enter
 * find no trace of before. */
static uint64_t gather(struct sim *s)
{
	uint64_t is_left, none = 0;

	do {
		is_left = put_rest(s);
		cluster_max(s->p.cluster, &is_left, 1);
		abroad_take(s, &none);
	} while (is_left);
	room_enter(s->p.cluster->room, s->abroad->ways, s->abroad->lead,
		(uint64_t)s->workers->start / s->workers->width);
	return windows_next(s);
}

void abroad_meet(struct sim *s, struct abroad_view *v, struct err *e)
{
	struct cluster *c = s->p.cluster;
	uint64_t word[N_CLUSTER_WORDS] = {
		[CLUSTER_NEXT] = ~gather(s),
		[CLUSTER_STOP] = v->stop,
		[CLUSTER_FAILED] = abroad_has_failed(s) ? c->n - c->me : 0,
	};

	cluster_max(c, word, N_CLUSTER_WORDS);
	v->stop = word[CLUSTER_STOP];
	v->next = ~word[CLUSTER_NEXT];
	if (word[CLUSTER_FAILED])
		abroad_share_failure(s, word[CLUSTER_FAILED], e);
}

/* --- for models --- */

uint32_t sim_listen(struct sim *s, sim_hear *hear, void *arg)
{
	struct sim_abroad *a = s->abroad;

	if (!a)
		return 0;
	be_near_all(s);
	a->listener =
		mem_more(a->listener, a->n_listeners, sizeof(*a->listener));
	a->listener[a->n_listeners] = (struct sim_listener){ hear, arg };
	return a->n_listeners++;
}

void sim_note(struct sim_worker *w, uint32_t process, uint32_t listener,
	const void *bytes, size_t n)
{
	struct record r = { .e = { .site = NO_SITE, .data = listener } };
	char *to;

	BUG_IF(n % sizeof(uint64_t));
	r.n = n;
	w->has_notes = true;
	to = cluster_add(&w->leaving[process], sizeof(r) + n);
	memcpy(to, &r, sizeof(r));
	memcpy(to + sizeof(r), bytes, n);
}

uint32_t sim_self(const struct sim *s, uint32_t *n)
{
	const struct cluster *c = s->p.cluster;

	*n = c ? c->n : 1;
	return c ? c->me : 0;
}

bool sim_is_shared(const struct sim *s)
{
	return s->p.cluster;
}

bool sim_has(const struct sim *s, site_id site)
{
	return !s->process || s->process[site] == s->p.cluster->me;
}

site_id sim_next_own(const struct sim *s, site_id site)
{
	while (site < s->p.n_sites && !sim_has(s, site))
		site++;
	return site;
}

uint32_t sim_process(const struct sim *s, site_id site)
{
	return s->process ? s->process[site] : 0;
}

void sim_sum(const struct sim *s, uint64_t *x, size_t n)
{
	if (s->p.cluster)
		cluster_sum(s->p.cluster, x, n);
}

void sim_max(const struct sim *s, uint64_t *x, size_t n)
{
	if (s->p.cluster)
		cluster_max(s->p.cluster, x, n);
}

void sim_tell(const struct sim *s, site_id site, void *bytes, size_t n)
{
	if (s->p.cluster)
		cluster_tell(s->p.cluster, s->process[site], bytes, n);
}

void *sim_gather(const struct sim *s, void *own, size_t *n, size_t size)
{
	struct cluster *c = s->p.cluster;
	uint64_t *count;
	size_t all = 0, first = 0, at = 0;
	char *to;

	if (!c)
		return own;
	count = mem_alloc(c->n, sizeof(*count));
	count[c->me] = *n;
	cluster_sum(c, count, c->n);
	for (uint32_t i = 0; i < c->n; i++) {
		first += i < c->me ? count[i] : 0;
		all += count[i];
	}
	to = mem_alloc(all + 1, size);
	if (*n)
		memcpy(to + first * size, own, *n * size);
	for (uint32_t i = 0; i < c->n; at += count[i++])
		if (count[i])
			cluster_tell(c, i, to + at * size, count[i] * size);
	mem_free(count);
	mem_free(own);
	*n = all;
	return to;
}

int sim_share_error(const struct sim *s, struct err *e)
{
	if (s->p.cluster)
		return cluster_share_error(s->p.cluster, e);
	return e->code ? -1 : 0;
}

int sim_share_first(const struct sim *s, struct err *e, uint64_t key)
{
	uint64_t own = e->code ? ~key : 0, first = own;

	sim_max(s, &first, 1);
	if (own != first)
		*e = (struct err){ 0 };
	return sim_share_error(s, e);
}

bool sim_is_first(const struct sim *s)
{
	return !s->p.cluster || !s->p.cluster->me;
}
