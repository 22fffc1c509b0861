/*
 * Memory of other ranks: puts and gets of the machine's interface, which need
 * no software at the other end.  Whoever begins one has looked up the key.
 *
 * An operation that may not be done takes the time of a word from the other
 * rank, and ends with an error.
 */
#include <errno.h>
#include <string.h>

#include "api/msg/domain.h"
#include "base/mem.h"
#include "outside/endpoint_op.h"

enum { PROBE = 8 }; /* bytes */

/* --- the lists of active and waiting ones --- */

/* Something that endpoint_go_on() begins in its turn. */
static bool is_to_begin(const struct endpoint_op *x)
{
	return x->state == ENDPOINT_WAITS && x->c.kind < CHANNEL_KINDS &&
	       x->c.kind != CHANNEL_RECEIVE;
}

void endpoint_activate(struct endpoint *e, uint32_t i)
{
	e->op[i].order = e->n_activated++;
	if (is_to_begin(&e->op[i])) {
		*(uint32_t *)ring_push(&e->waiting) = i;
		return;
	}
	e->active = mem_more(e->active, e->n_active, sizeof(*e->active));
	e->active[e->n_active++] = i;
}

/* --- regions --- */

void endpoint_find_region(struct endpoint *e, uint32_t i, uint64_t rights)
{
	struct endpoint_op *x = &e->op[i];
	const struct registry_use u = { .key = x->c.ignore,
		.at = x->c.tag,
		.bytes = x->c.bytes,
		.rights = rights };
	struct region region;

	x->region = registry_begin(e->client.registry, endpoint_msg(e)->rank,
		x->c.rank, program_now(), endpoint_window(), &u, &region,
		&x->there);
	if (x->region)
		x->tells = region.tells || x->c.flags & CHANNEL_HAS_DATA;
	else
		x->error = EACCES;
}

static void leave_region(struct endpoint *e, struct endpoint_op *x)
{
	if (x->region)
		registry_done(e->client.registry, endpoint_msg(e)->rank,
			x->c.rank, x->region, program_now());
	x->region = NULL;
}

/* Holds of regions that nothing reaches any more. */
static void give_ended(struct endpoint *e)
{
	uint32_t hold;

	while ((hold = registry_take_ended(e->client.registry,
			endpoint_msg(e)->rank, program_now(),
			endpoint_window())) != UINT32_MAX)
		e->client.give(e->client.arg, hold);
}

/* What others write is told to the client. */
struct endpoint_given {
	uint64_t key, at, bytes;
	uint64_t client_at; /* what the client calls its first byte */
};

enum { MOST_UNPOLLED = 4096 }; /* pieces; with more, any write ends a wait */

static bool is_unpolled(const struct endpoint *e, uint64_t at, size_t n)
{
	for (uint32_t i = 0; i < e->n_unpolled; i++) {
		const struct channel_piece *p = &e->unpolled[i];

		if (at >= p->at && n <= p->bytes && at - p->at <= p->bytes - n)
			return true;
	}
	return false;
}

/* Whether it belongs to a read of this rank: the completion is enough. */
static bool is_own_read(const struct endpoint *e, uint64_t at, size_t n)
{
	for (uint32_t k = 0; k < e->n_active; k++) {
		const struct endpoint_op *x = &e->op[e->active[k]];

		if (x->c.kind == CHANNEL_READ && x->state == ENDPOINT_MOVES &&
			at >= x->at && n <= x->c.bytes &&
			at - x->at <= x->c.bytes - n)
			return true;
	}
	return false;
}

static void on_touch(void *arg, uint64_t at, size_t n)
{
	struct endpoint *e = arg;

	if (!e->n_given || e->is_touched || is_own_read(e, at, n))
		return;
	for (uint32_t i = 0; i < e->n_given && !e->is_touched; i++) {
		const struct endpoint_given *g = &e->given[i];

		if (at >= g->at + g->bytes || g->at >= at + n)
			continue;
		if (is_unpolled(e, at - g->at + g->client_at, n))
			e->is_data_touched = true;
		else
			e->is_touched = true;
	}
}

bool endpoint_is_touched(const struct endpoint *e)
{
	return e->is_touched || (e->is_data_touched && e->data_ends_wait);
}

void endpoint_unpolled(struct endpoint *e, const struct channel_command *c)
{
	uint32_t i = 0;

	if (!(c->flags & CHANNEL_RELEASED)) {
		if (e->n_unpolled == MOST_UNPOLLED)
			return;
		e->unpolled = mem_more(
			e->unpolled, e->n_unpolled, sizeof(*e->unpolled));
		e->unpolled[e->n_unpolled++] =
			(struct channel_piece){ c->at, c->bytes };
		return;
	}
	while (i < e->n_unpolled && (e->unpolled[i].at != c->at ||
					    e->unpolled[i].bytes != c->bytes))
		i++;
	if (i < e->n_unpolled)
		e->unpolled[i] = e->unpolled[--e->n_unpolled];
}

static void give_region(struct endpoint *e, const struct region *x,
	uint64_t client_at, uint64_t key)
{
	if (!(x->rights & REGISTRY_WRITE))
		return;
	e->given = mem_more(e->given, e->n_given, sizeof(*e->given));
	e->given[e->n_given++] =
		(struct endpoint_given){ key, x->at, x->bytes, client_at };
	msg_watch_all(endpoint_msg(e), on_touch);
}

static void take_back(struct endpoint *e, uint64_t key)
{
	uint32_t i = 0;

	while (i < e->n_given && e->given[i].key != key)
		i++;
	if (i < e->n_given)
		e->given[i] = e->given[--e->n_given];
}

static int add_region(
	struct endpoint *e, const struct channel_command *c, uint64_t *key)
{
	struct region x = {
		.base = c->tag,
		.at = c->at,
		.bytes = c->bytes,
		.rights = c->ignore,
		.tells = c->flags & CHANNEL_REMOTE,
	};
	int code;

	if (!e->client.registry)
		return ENOSYS;
	give_ended(e);
	code = e->client.take(e->client.arg, x.bytes, &x.at, &x.hold);
	if (code)
		return code;
	*key = c->data;
	code = registry_add(e->client.registry, endpoint_msg(e)->rank,
		program_now(), &x, c->flags & CHANNEL_HAS_DATA, key);
	if (code)
		e->client.give(e->client.arg, x.hold);
	else
		give_region(e, &x, c->at, *key);
	return code;
}

void endpoint_register(struct endpoint *e, const struct channel_command *c)
{
	struct channel_completion done = endpoint_completion(c);

	program_charge(mpi_params_of(program_host())->reg);
	done.error = add_region(e, c, &done.data);
	if (!done.error)
		endpoint_open_mail(e);
	endpoint_complete(e, &done, c->flags);
}

void endpoint_unregister(struct endpoint *e, const struct channel_command *c)
{
	bool is_there = e->client.registry &&
			registry_end(e->client.registry, endpoint_msg(e)->rank,
				program_now(), c->ignore);

	if (is_there) {
		take_back(e, c->ignore);
		give_ended(e);
	}
	endpoint_end(e, c, is_there ? 0 : EINVAL);
}

void endpoint_close_regions(struct endpoint *e)
{
	uint32_t hold;

	while (e->client.registry &&
		(hold = registry_take_any(e->client.registry,
			 endpoint_msg(e)->rank)) != UINT32_MAX)
		e->client.give(e->client.arg, hold);
}

/* --- begins --- */

/* Whether there is anything to move. */
static bool has_bytes(const struct endpoint_op *x)
{
	return !x->error && x->c.bytes;
}

/* A get that needs a word; false if there is none. */
static bool get(struct endpoint *e, struct endpoint_op *x, uint64_t from,
	uint64_t to, uint64_t bytes)
{
	struct msg_state *m = endpoint_msg(e);
	uint32_t word = msg_take_word(m);

	if (!word)
		return false;
	x->arrived = (struct weft_msg_done){ MSG_DONE_WORD, word, 0 };
	msg_get(m, x->c.rank, from, to, bytes, word);
	return true;
}

/* Of nothing, or of what is not allowed: a word of memory that nobody writes.
 */
static bool probe(struct endpoint *e, struct endpoint_op *x)
{
	const struct msg_state *m = endpoint_msg(e);
	uint64_t there = msg_address(m, x->c.rank, e->coll - m->base);

	return get(e, x, there, e->coll, PROBE);
}

void endpoint_charge_own(const struct endpoint *e)
{
	struct msg_state *m = endpoint_msg(e);
	struct poll_loop loop = m->ops->loop(m);

	program_charge(loop.period > loop.load ? loop.period : loop.load);
}

/* Its own memory. */
static void copy(const struct endpoint_op *x)
{
	if (!has_bytes(x))
		return;
	if (x->c.kind == CHANNEL_WRITE)
		msg_copy(x->there, x->at, x->c.bytes);
	else
		msg_copy(x->at, x->there, x->c.bytes);
}

/* False if there is no room now. */
static bool start(struct endpoint *e, uint32_t i)
{
	struct endpoint_op *x = &e->op[i];
	struct msg_state *m = endpoint_msg(e);
	bool is_begun = true;

	x->source = x->arrived = (struct weft_msg_done){ 0 };
	if (x->c.rank == m->rank)
		copy(x);
	else if (!has_bytes(x))
		is_begun = probe(e, x);
	else if (x->c.kind == CHANNEL_READ)
		is_begun = get(e, x, x->there, x->at, x->c.bytes);
	else if (m->dones == UINT64_MAX)
		is_begun = false;
	else
		msg_deliver(m, x->c.rank, x->there, x->at, x->c.bytes,
			&x->source, &x->arrived);
	if (is_begun)
		x->state = ENDPOINT_MOVES;
	return is_begun;
}

int endpoint_transfer(struct endpoint *e, uint32_t i)
{
	bool is_write = e->op[i].c.kind == CHANNEL_WRITE;
	int code;

	if (!e->client.registry)
		return ENOSYS;
	if (!endpoint_is_rank(e, e->op[i].c.rank))
		return EHOSTUNREACH;
	if (!is_write && e->op[i].c.flags & CHANNEL_IN_ROOM)
		return EINVAL;
	code = endpoint_begin(e, i, endpoint_take_buffer);
	if (code)
		return code;
	if (e->op[i].c.rank == endpoint_msg(e)->rank)
		endpoint_charge_own(e);
	endpoint_find_region(e, i, is_write ? REGISTRY_WRITE : REGISTRY_READ);
	endpoint_activate(e, i);
	endpoint_go_on(e);
	return 0;
}

/* --- ends --- */

/* Once: a write may end when its source is free. */
static void tell_end(struct endpoint *e, struct endpoint_op *x, int error)
{
	if (!x->is_told)
		endpoint_end(e, &x->c, error);
	x->is_told = true;
}

void endpoint_end_remote(struct endpoint *e, uint32_t i, int error)
{
	leave_region(e, &e->op[i]);
	tell_end(e, &e->op[i], error);
	endpoint_give_op(e, i);
}

static bool is_source_free(
	const struct msg_state *m, const struct endpoint_op *x)
{
	return !x->is_told && !x->error && x->c.kind == CHANNEL_WRITE &&
	       !(x->c.flags & CHANNEL_DELIVERED) && msg_is_done(m, &x->source);
}

/* The interface has given up the other rank: whatever this was to do, nobody
 * knows whether it did.  Its word stays taken, something may still write it. */
static bool is_lost(const struct msg_state *m, const struct endpoint_op *x)
{
	return x->c.rank != m->rank && msg_is_lost(m, x->c.rank);
}

/* Bytes are under way: whether it has ended. */
static bool move(struct endpoint *e, uint32_t i)
{
	struct msg_state *m = endpoint_msg(e);
	struct endpoint_op *x = &e->op[i];

	if (is_lost(m, x)) {
		leave_region(e, x);
		tell_end(e, x, EIO);
		return true;
	}
	if (is_source_free(m, x))
		tell_end(e, x, 0);
	if (!msg_is_done(m, &x->arrived))
		return false;
	msg_end(m, &x->arrived);
	leave_region(e, x);
	tell_end(e, x, x->error);
	if (x->error || !x->tells)
		return true;
	x->state = ENDPOINT_TELLS;
	return false;
}

/* Begins a write, read or atomic; *is_stuck: none may begin now. */
static void begin(struct endpoint *e, uint32_t i, bool *is_stuck)
{
	const struct endpoint_op *x = &e->op[i];

	if (*is_stuck)
		return;
	if (x->state == ENDPOINT_WAITS && is_lost(endpoint_msg(e), x)) {
		/* it ends as one that is under way */
		e->op[i].state = ENDPOINT_MOVES;
		return;
	}
	*is_stuck = x->c.kind == CHANNEL_ATOMIC && has_bytes(x)
			    ? !endpoint_start_atomic(e, i)
			    : !start(e, i);
}

/* Whether it is active no longer. */
static bool advance(struct endpoint *e, uint32_t i, bool *is_stuck)
{
	const struct endpoint_op *x = &e->op[i];

	if (x->c.kind == ENDPOINT_OUT)
		return endpoint_send_out(e, i);
	if (x->c.kind == ENDPOINT_MAIL)
		return endpoint_post_mail(e, i);
	if (x->c.kind == CHANNEL_RECEIVE)
		return endpoint_post_again(e, i);
	if (x->state == ENDPOINT_WAITS || x->state == ENDPOINT_ASKS)
		begin(e, i, is_stuck);
	if (e->op[i].state == ENDPOINT_ASKED)
		return true;
	if (e->op[i].state == ENDPOINT_MOVES && move(e, i)) {
		endpoint_give_op(e, i);
		return true;
	}
	if (e->op[i].state == ENDPOINT_TELLS &&
		endpoint_say(e, i, MAIL_NOTICE, NULL, 0)) {
		endpoint_give_op(e, i);
		return true;
	}
	return false;
}

/* One that has begun joins the active ones: the first n of them were walked and
 * stay, those from k on follow. */
static void join_active(struct endpoint *e, uint32_t i, uint32_t n, uint32_t *k)
{
	if (n == *k) {
		e->active =
			mem_more(e->active, e->n_active, sizeof(*e->active));
		memmove(e->active + n + 1, e->active + n,
			(e->n_active - n) * sizeof(*e->active));
		e->n_active++;
		++*k;
	}
	e->active[n] = i;
}

/* Whether the first that waits is next, before an active one of some order. */
static bool is_waiting_next(const struct endpoint *e, uint32_t k)
{
	uint32_t i;

	if (!e->waiting.n)
		return false;
	i = *(const uint32_t *)ring_at(&e->waiting, 0);
	return k == e->n_active || e->op[i].order < e->op[e->active[k]].order;
}

/* Begins the first that waits, if it can now. */
static bool begin_first(
	struct endpoint *e, bool *is_stuck, uint32_t *n, uint32_t *k)
{
	uint32_t i = *(const uint32_t *)ring_at(&e->waiting, 0);
	bool is_over = advance(e, i, is_stuck);

	if (!is_over && e->op[i].state == ENDPOINT_WAITS)
		return false;
	ring_pop(&e->waiting);
	if (!is_over)
		join_active(e, i, (*n)++, k);
	return true;
}

/*
 * Walks active and waiting ones in their common order.  Once one cannot begin,
 * no other that waits can, so these are not walked.  Some may be added
 * meanwhile, at the end.
 */
static bool walk(struct endpoint *e)
{
	bool is_stuck = false, did = false;
	uint32_t n = 0, k = 0;

	for (;;) {
		uint32_t i, state;

		if (!is_stuck && is_waiting_next(e, k)) {
			did |= begin_first(e, &is_stuck, &n, &k);
			continue;
		}
		if (k == e->n_active)
			break;
		i = e->active[k++];
		state = e->op[i].state;
		if (advance(e, i, &is_stuck)) {
			did = true;
		} else {
			did |= e->op[i].state != state;
			e->active[n++] = i;
		}
	}
	e->n_active = n;
	return did;
}

bool endpoint_go_on(void *endpoint)
{
	struct endpoint *e = endpoint;
	bool did;

	if (e->is_going_on)
		return false;
	e->is_going_on = true;
	did = endpoint_serve(e);
	did |= walk(e);
	/* last: a machine wakes for the room that was asked for last */
	did |= endpoint_send_waiting(e);
	e->is_going_on = false;
	return did;
}

bool endpoint_can_go_on(const void *endpoint)
{
	const struct endpoint *e = endpoint;
	const struct msg_state *m = endpoint_msg(e);

	if (e->is_waiting && endpoint_is_touched(e))
		return true;
	for (uint32_t k = 0; k < e->n_active; k++) {
		const struct endpoint_op *x = &e->op[e->active[k]];

		if (x->state == ENDPOINT_MOVES && x->c.kind < CHANNEL_KINDS &&
			(is_lost(m, x) || is_source_free(m, x) ||
				msg_is_done(m, &x->arrived)))
			return true;
	}
	return false;
}
