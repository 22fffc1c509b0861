#define _GNU_SOURCE
#include "sim/room.h"

#include <string.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/mem.h"
#include "base/relax.h"
#include "sim/barrier.h"
#include "sim/pace.h"
#include "sim/patience.h"
#include "sim/yield.h"

enum {
	LINE = 128, /* so that no two are fetched together */
	BOX = 1 << 17, /* bytes of mail on its way from one to another, or */
	BOXES = 1 << 22, /* more where all of a process are less than this */
	BOARD = 512, /* words */
	LOOKS = 200, /* before it lets others run */
	IDLE_LOOKS = 16,
	SPIN_NS = 30000, /* longest poll before a sleep */
	CROWDED_NS = 2000, /* with more processes than cores */
	SLEEP_NS = 100000000, /* before it looks whether all are alive */
	NAP_NS = 100000, /* while a box is full */
};

/* Waits for a round of all, see has_round(). */
#define AT_ROUND (UINT64_MAX - 1)

/* What a process posts about mail to and from another one. */
struct lane {
	_Atomic uint64_t put; /* bytes */
	_Atomic uint64_t due; /* the first window of what it may not have got */
	_Atomic uint64_t got; /* bytes */
};

/* Bits of a version. */
enum { CHANGES = 1, RESTS = 2 };

/* What a process posts for all to see. */
struct post {
	_Atomic uint64_t version, clock;
	struct lane lane[]; /* see lane_of() */
};

struct seat {
	_Alignas(LINE) _Atomic uint32_t bell, is_asleep;
	/* when what the others have left to do is beyond: the window that it
	 * would run, and the end */
	_Atomic uint64_t wake_at, wake_end;
	_Atomic uint64_t heard; /* bytes that it has got, of all */
	_Alignas(LINE) _Atomic uint64_t round; /* that it has begun */
	uint64_t board[2][BOARD];
};

struct box {
	_Alignas(LINE) _Atomic uint64_t freed; /* bytes */
	_Alignas(LINE) char bytes[];
};

struct shared {
	_Alignas(LINE) _Atomic uint32_t n_asleep;
	_Alignas(LINE) _Atomic uint32_t alarms;
	struct seat seat[];
};

/* Mail to a process: whose it is, and its lanes in what both post. */
struct way {
	uint32_t from, out, in;
};

struct room_ways {
	struct way *way; /* by receiver */
	uint32_t *first; /* of each receiver, and the end */
};

struct room {
	struct shared *shared;
	char *posts;
	char *boxes; /* [from][to] */
	size_t box; /* bytes of mail in each, a power of two */
	struct cluster *c;
	bool is_crowded; /* there are not enough cores to look on */
	bool is_packed; /* on this computer, however processes are bound */
	struct yield yield;
	struct patience patience;
	const struct room_ways *ways;
	const uint8_t *lead; /* [from][to] */
	uint32_t alarms; /* when it entered */
	bool has_more; /* to post than its clock */
	size_t post_size;
	/* [process]: as in struct lane, not yet posted; freed, as far as it has
	 * looked; and both lanes */
	struct tally {
		uint64_t put, due, got, seen;
		struct lane *own, *other;
	} * tally;
};

/* What others may see once they see this, and what was written before it. */
static void set(_Atomic uint64_t *x, uint64_t value)
{
	atomic_store_explicit(x, value, memory_order_release);
}

static uint64_t get(const _Atomic uint64_t *x)
{
	return atomic_load_explicit(x, memory_order_acquire);
}

static size_t seats_size(uint32_t n)
{
	return sizeof(struct shared) + n * sizeof(struct seat);
}

static size_t post_size(uint32_t n)
{
	size_t size = sizeof(struct post) + n * sizeof(struct lane);

	return (size + LINE - 1) / LINE * LINE;
}

/* Windows of large machines may have megabytes of mail, and a process that
 * finds a box full has to wait. */
static size_t box_room(uint32_t n)
{
	size_t room = BOXES;

	while (room > BOX && room * n > BOXES)
		room /= 2;
	return room;
}

static size_t box_size(uint32_t n)
{
	return sizeof(struct box) + box_room(n);
}

size_t room_size(uint32_t n)
{
	return seats_size(n) + n * post_size(n) + (size_t)n * n * box_size(n);
}

/* The lane of a process in what another one posts: those with numbers next to
 * its own, which are likely to be its neighbours, come first. */
static uint32_t lane_of(uint32_t n, uint32_t poster, uint32_t other)
{
	uint32_t up = (other + n - poster) % n, down = n - up;

	return up <= down ? 2 * (up - 1) : 2 * (down - 1) + 1;
}

static struct post *post_of(const struct room *r, uint32_t i)
{
	return (void *)(r->posts + i * r->post_size);
}

static void find_lanes(struct room *r)
{
	uint32_t me = r->c->me, n = r->c->n;

	for (uint32_t i = 0; i < n; i++) {
		if (i == me)
			continue;
		r->tally[i].own = &post_of(r, me)->lane[lane_of(n, me, i)];
		r->tally[i].other = &post_of(r, i)->lane[lane_of(n, i, me)];
	}
}

/* Children share the CPUs of their parent.  Processes of an MPI job may be
 * bound to one each, which says nothing about the others. */
static bool is_packed(const struct cluster *c)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);

	if (c->ops && c->ops->find_gone)
		return c->n > barrier_cpus();
	return online > 0 && c->n > online;
}

struct room *room_open(void *memory, struct cluster *c)
{
	struct room *r = mem_alloc(1, sizeof(*r));
	char *posts = (char *)memory + seats_size(c->n);

	*r = (struct room){
		.shared = memory,
		.posts = posts,
		.boxes = posts + c->n * post_size(c->n),
		.box = box_room(c->n),
		.c = c,
		.post_size = post_size(c->n),
		.is_crowded = c->n > barrier_cpus(),
		.is_packed = is_packed(c),
		.tally = mem_alloc(c->n, sizeof(*r->tally)),
	};
	find_lanes(r);
	return r;
}

void room_close(struct room *r)
{
	mem_free(r->tally);
	mem_free(r);
}

struct room_ways *room_ways_new(const uint8_t *lead, uint32_t n)
{
	struct room_ways *w = mem_alloc(1, sizeof(*w));
	uint32_t k = 0;

	w->first = mem_alloc((size_t)n + 1, sizeof(*w->first));
	w->way = mem_alloc((size_t)n * n, sizeof(*w->way));
	for (uint32_t to = 0; to < n; to++) {
		for (uint32_t from = 0; from < n; from++)
			if (from != to && lead[(size_t)from * n + to])
				w->way[k++] = (struct way){ from,
					lane_of(n, from, to),
					lane_of(n, to, from) };
		w->first[to + 1] = k;
	}
	return w;
}

void room_ways_free(struct room_ways *w)
{
	if (!w)
		return;
	mem_free(w->first);
	mem_free(w->way);
	mem_free(w);
}

static struct seat *own_seat(const struct room *r)
{
	return &r->shared->seat[r->c->me];
}

/* --- mail --- */

static struct box *box_of(const struct room *r, uint32_t from, uint32_t to)
{
	size_t i = (size_t)from * r->c->n + to;

	return (void *)(r->boxes + i * box_size(r->c->n));
}

size_t room_put(struct room *r, uint32_t to, const char *bytes, size_t n)
{
	struct box *b = box_of(r, r->c->me, to);
	struct tally *t = &r->tally[to];
	size_t room = r->box - (size_t)(t->put - t->seen);
	size_t at = t->put & (r->box - 1), first = r->box - at;

	if (room < n) {
		t->seen = get(&b->freed);
		room = r->box - (size_t)(t->put - t->seen);
	}
	n = n < room ? n : room;
	first = first < n ? first : n;
	memcpy(b->bytes + at, bytes, first);
	memcpy(b->bytes, bytes + first, n - first);
	t->put += n;
	r->has_more = true;
	return n;
}

bool room_get(struct room *r, uint32_t from, struct cluster_bytes *in)
{
	struct box *b = box_of(r, from, r->c->me);
	uint64_t *got = &r->tally[from].got;
	size_t n = (size_t)(get(&r->tally[from].other->put) - *got);
	size_t at = *got & (r->box - 1), first = r->box - at;
	char *to;

	if (!n)
		return false;
	first = first < n ? first : n;
	to = cluster_add(in, n);
	memcpy(to, b->bytes + at, first);
	memcpy(to + first, b->bytes, n - first);
	*got += n;
	set(&b->freed, *got);
	r->has_more = true;
	return true;
}

/* The ways of mail to a process. */
#define EACH_WAY(w, r, to)                                                     \
	const struct way *w = (r)->ways->way + (r)->ways->first[to],           \
			 *last_ = (r)->ways->way + (r)->ways->first[(to) + 1]; \
	w < last_;                                                             \
	w++

static uint64_t put_by(const struct room *r, const struct way *w)
{
	return get(&post_of(r, w->from)->lane[w->out].put);
}

static bool has_mail(const struct room *r)
{
	for (EACH_WAY(w, r, r->c->me))
		if (put_by(r, w) != r->tally[w->from].got)
			return true;
	return false;
}

static void wake(struct seat *s)
{
	atomic_fetch_add(&s->bell, 1);
	futex_wake(&s->bell);
}

/* --- clocks --- */

void room_enter(struct room *r, const struct room_ways *ways,
	const uint8_t *lead, uint64_t clock)
{
	r->ways = ways;
	r->lead = lead;
	r->alarms = atomic_load(&r->shared->alarms);
	room_end(r, clock, false);
}

void room_due(struct room *r, uint32_t to, uint64_t window)
{
	struct tally *t = &r->tally[to];

	if (get(&t->other->got) == get(&t->own->put) || window < t->due)
		t->due = window;
}

/* What a process has left to do at the earliest, and what is on its way to it.
 */
static uint64_t left_to(const struct room *r, uint32_t i)
{
	const struct post *p = post_of(r, i);
	uint64_t left = get(&p->clock);

	for (EACH_WAY(w, r, i)) {
		const struct lane *l = &post_of(r, w->from)->lane[w->out];
		uint64_t due = get(&l->due);

		if (get(&l->put) != get(&p->lane[w->in].got) && due < left)
			left = due;
	}
	return left;
}

/* Whether all have begun the round that a process has. */
static bool has_round(const struct room *r, uint32_t i)
{
	const struct seat *s = r->shared->seat;
	uint64_t round = atomic_load(&s[i].round);

	for (uint32_t k = 0; k < r->c->n; k++)
		if (atomic_load(&s[k].round) < round)
			return false;
	return true;
}

/* When mail of a process reaches another one at the earliest, if the first has
 * something left to do in a window. */
static uint64_t reach_of(
	const struct room *r, uint32_t from, uint32_t to, uint64_t window)
{
	uint32_t lead = r->lead[(size_t)from * r->c->n + to];

	return lead && window != ROOM_NEVER ? window + lead : ROOM_NEVER;
}

/* Whether what a sleeping process waits for may have come. */
static bool is_due(const struct room *r, uint32_t i)
{
	const struct seat *s = &r->shared->seat[i];
	uint64_t at = atomic_load(&s->wake_at);
	uint64_t end = atomic_load(&s->wake_end), put = 0;
	bool may_run = true, is_over = true;

	if (at == AT_ROUND)
		return has_round(r, i);
	if (room_is_alarmed(r))
		return true;
	for (EACH_WAY(w, r, i))
		put += put_by(r, w);
	if (put != atomic_load(&s->heard))
		return true;
	for (uint32_t k = 0; k < r->c->n; k++) {
		uint64_t left = left_to(r, k);

		if (k == i)
			continue;
		may_run &= reach_of(r, k, i, left) > at;
		is_over &= left >= end;
	}
	return may_run || is_over;
}

/*
 * Nobody waits here until others can see what was posted before, which takes
 * long.  So a process that falls asleep at this moment may be missed; whoever
 * waits looks once more for these, and so does everybody who posts again.
 */
static void wake_others(const struct room *r)
{
	struct seat *s = r->shared->seat;

	if (!atomic_load(&r->shared->n_asleep))
		return;
	for (uint32_t i = 0; i < r->c->n; i++)
		if (i != r->c->me && atomic_load(&s[i].is_asleep) &&
			is_due(r, i))
			wake(&s[i]);
}

static void wake_all_others(const struct room *r)
{
	atomic_thread_fence(memory_order_seq_cst);
	wake_others(r);
}

static void post_change(_Atomic uint64_t *x, uint64_t value)
{
	if (atomic_load_explicit(x, memory_order_relaxed) != value)
		set(x, value);
}

static void post_lanes(struct room *r)
{
	for (EACH_WAY(w, r, r->c->me)) {
		const struct tally *t = &r->tally[w->from];

		post_change(&t->own->put, t->put);
		post_change(&t->own->due, t->due);
		post_change(&t->own->got, t->got);
	}
	r->has_more = false;
}

void room_end(struct room *r, uint64_t clock, bool rests)
{
	struct post *p = post_of(r, r->c->me);
	uint64_t version =
		atomic_load_explicit(&p->version, memory_order_relaxed);

	if (!r->has_more && rests == !!(version & RESTS)) {
		post_change(&p->clock, clock);
	} else {
		set(&p->version, version | CHANGES);
		atomic_thread_fence(memory_order_release);
		post_lanes(r);
		set(&p->clock, clock);
		version = (version | RESTS | CHANGES) + 1;
		set(&p->version, version | (rests ? RESTS : 0));
	}
	wake_others(r);
}

bool room_has_more(const struct room *r)
{
	return r->has_more;
}

static bool has_one_sender(const struct room *r, uint32_t i)
{
	return r->ways->first[i + 1] - r->ways->first[i] == 1;
}

bool room_may_rest(const struct room *r)
{
	return has_one_sender(r, r->c->me);
}

/*
 * What it has posted still holds: it goes on with its clock's window only when
 * it knows that mail of now has come, and nobody else sends it any.
 */
bool room_is_resting(const struct room *r, uint32_t to, uint64_t window)
{
	const struct post *p = post_of(r, to);
	const struct tally *t = &r->tally[to];
	uint64_t version = get(&p->version), clock = get(&p->clock);
	bool has_got = get(&t->other->got) == get(&t->own->put);

	atomic_thread_fence(memory_order_acquire);
	return has_one_sender(r, to) && version & RESTS &&
	       !(version & CHANGES) && get(&p->version) == version &&
	       window < clock && (has_got || t->due == ROOM_NEVER);
}

uint64_t room_left(const struct room *r)
{
	return left_to(r, r->c->me);
}

/* All versions added up; odd: somebody is about to change something. */
static bool is_quiet(const struct room *r, uint64_t *sum)
{
	uint64_t odd = 0;

	*sum = 0;
	for (uint32_t i = 0; i < r->c->n; i++) {
		uint64_t v = get(&post_of(r, i)->version);

		*sum += v;
		odd |= v & CHANGES;
	}
	return !odd;
}

bool room_look(const struct room *r, struct room_view *v)
{
	uint64_t before, after;

	*v = (struct room_view){ ROOM_NEVER, ROOM_NEVER };
	if (!is_quiet(r, &before))
		return false;
	for (uint32_t i = 0; i < r->c->n; i++) {
		uint64_t k, at;

		if (i == r->c->me)
			continue;
		k = left_to(r, i);
		at = reach_of(r, i, r->c->me, k);
		v->first = k < v->first ? k : v->first;
		v->horizon = at < v->horizon ? at : v->horizon;
	}
	atomic_thread_fence(memory_order_acquire);
	return is_quiet(r, &after) && before == after;
}

void room_alarm(struct room *r)
{
	atomic_fetch_add(&r->shared->alarms, 1);
	wake_all_others(r);
}

bool room_is_alarmed(const struct room *r)
{
	return atomic_load_explicit(&r->shared->alarms, memory_order_relaxed) !=
	       r->alarms;
}

/* --- waiting --- */

/* What a process waits for: a round of all, or what room_wait() is told. */
struct wait {
	bool is_round;
	uint64_t window, end;
	const struct box *full; /* or for room in one, or mail */
	uint64_t freed; /* of it, so far */
	uint32_t every; /* so many looks it looks at what others write */
};

static bool is_over(const struct room *r, const struct wait *w)
{
	struct room_view v;

	if (w->is_round)
		return has_round(r, r->c->me);
	if (has_mail(r) || room_is_alarmed(r))
		return true;
	if (w->full)
		return get(&w->full->freed) != w->freed;
	return room_look(r, &v) && (v.horizon > w->window || v.first >= w->end);
}

static bool look_for(struct room *r, const struct wait *w, int64_t time)
{
	uint32_t looks = r->is_crowded || time < SPIN_NS ? 1 : LOOKS;
	int64_t since, now;

	for (uint32_t i = 0; i < looks; i++) {
		if (i % w->every ? has_mail(r) : is_over(r, w))
			return true;
		relax();
	}
	since = now = pace_clock();
	while (now - since < time) {
		now = yield_core(&r->yield, now, pace_clock);
		if (is_over(r, w))
			return true;
	}
	return false;
}

static bool spin(struct room *r, const struct wait *w)
{
	int64_t most = r->is_packed ? CROWDED_NS : SPIN_NS;
	int64_t time = patience_next(&r->patience, most);
	bool has_come = look_for(r, w, time);

	patience_learn(&r->patience, most, has_come);
	return has_come;
}

/* The others wake a process that has said that it sleeps, and it looks once
 * more after that. */
static void sleep_until(const struct room *r, const struct wait *w)
{
	struct seat *s = own_seat(r);
	struct timespec most = { .tv_nsec = SLEEP_NS };
	uint64_t heard = 0;
	uint32_t bell = atomic_load(&s->bell);

	atomic_store(&s->wake_at, w->is_round ? AT_ROUND : w->window);
	atomic_store(&s->wake_end, w->end);
	for (uint32_t i = 0; i < r->c->n; i++)
		heard += r->tally[i].got;
	atomic_store(&s->heard, heard);
	atomic_fetch_add(&r->shared->n_asleep, 1);
	atomic_store(&s->is_asleep, 1);
	atomic_thread_fence(memory_order_seq_cst);
	if (!is_over(r, w))
		futex_wait(&s->bell, bell, &most);
	atomic_store(&s->is_asleep, 0);
	atomic_fetch_sub(&r->shared->n_asleep, 1);
}

/* What a process did before it ended is known to all: it may have been the last
 * thing that they waited for. */
static void look_for_gone(const struct room *r, const struct wait *w)
{
	const struct cluster_ops *ops = r->c->ops;
	uint32_t gone = ops->find_gone ? ops->find_gone(r->c) : r->c->n;

	if (gone < r->c->n && !is_over(r, w))
		ops->give_up(r->c, gone);
}

static void wait_for(struct room *r, const struct wait *w)
{
	wake_all_others(r);
	if (spin(r, w))
		return;
	sleep_until(r, w);
	if (is_over(r, w))
		return;
	cluster_look(r->c);
	look_for_gone(r, w);
}

void room_wait(struct room *r, uint64_t window, uint64_t end)
{
	struct wait w = {
		.window = window,
		.end = end,
		.every = window == ROOM_NEVER ? IDLE_LOOKS : 1,
	};

	wait_for(r, &w);
}

void room_hand_over(struct room *r, uint32_t to)
{
	set(&r->tally[to].own->put, r->tally[to].put);
}

void room_press(struct room *r, uint32_t to)
{
	struct timespec t = { .tv_nsec = NAP_NS };
	struct wait w = {
		.full = box_of(r, r->c->me, to),
		.freed = r->tally[to].seen,
		.every = 1,
	};

	room_hand_over(r, to);
	if (atomic_load(&r->shared->seat[to].is_asleep))
		wake(&r->shared->seat[to]);
	if (spin(r, &w))
		return;
	nanosleep(&t, NULL);
	cluster_look(r->c);
	look_for_gone(r, &w);
}

/* --- meetings of all --- */

static uint64_t *board_of(const struct room *r, uint32_t i)
{
	return r->shared->seat[i].board[own_seat(r)->round & 1];
}

/* All have written to their boards.  They have two, used in turn: nobody writes
 * to one before all have read it, since they have written to the other. */
static void begin_round(struct room *r, const void *bytes, size_t n)
{
	struct seat *s = own_seat(r);

	memcpy(s->board[(s->round + 1) & 1], bytes, n);
	atomic_fetch_add(&s->round, 1);
	wake_all_others(r);
	while (!has_round(r, r->c->me))
		wait_for(r, &(struct wait){ .is_round = true, .every = 1 });
}

static void merge(uint64_t *x, const uint64_t *y, size_t n, bool is_sum)
{
	for (size_t i = 0; i < n; i++)
		x[i] = is_sum ? x[i] + y[i] : x[i] > y[i] ? x[i] : y[i];
}

void room_reduce(struct room *r, uint64_t *x, size_t n, bool is_sum)
{
	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < BOARD ? n - at : BOARD;
		begin_round(r, x + at, part * sizeof(*x));
		for (uint32_t i = 0; i < r->c->n; i++)
			if (i != r->c->me)
				merge(x + at, board_of(r, i), part, is_sum);
	}
}

void room_tell(struct room *r, uint32_t from, void *bytes, size_t n)
{
	const size_t most = BOARD * sizeof(uint64_t);
	bool is_own = from == r->c->me;
	char *x = bytes;

	for (size_t at = 0, part; at < n; at += part) {
		part = n - at < most ? n - at : most;
		begin_round(r, x + at, is_own ? part : 0);
		if (!is_own)
			memcpy(x + at, board_of(r, from), part);
	}
}
