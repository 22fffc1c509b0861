/*
 * Sends and receives that processes match in their calls.  A request is in at
 * most one list: of receives that wait for a message, of sends that wait for a
 * slot, or of requests that wait for data or for an answer.
 */
#include "api/msg/msg.h"

#include <errno.h>

enum state {
	STATE_DONE = MSG_OVER,
	STATE_POSTED, /* a receive waits for a message */
	STATE_WAITING, /* a send waits for a slot */
	STATE_EARLY, /* to itself; its receive has not been called */
	STATE_TOLD, /* a long send waits until the receiver has got it */
	STATE_WANTED, /* a long receive waits for a word */
	STATE_GETTING,
};

/* --- lists --- */

/* prev is the request in front of it, or NULL; next the one behind it. */
static void remove_between(struct msg_list *l, struct weft_msg_request *prev,
	const struct weft_msg_request *r, struct weft_msg_request *next)
{
	if (prev)
		prev->next = next;
	else
		l->first = next;
	if (l->last == r)
		l->last = prev;
}

/* --- early messages --- */

static void open_early(struct msg_state *m)
{
	for (uint32_t i = 0; i < WEFT_MSG_EARLY; i++)
		m->early[i].next =
			(uint16_t)(i + 1 < WEFT_MSG_EARLY ? i + 2 : 0);
	m->early_free = 1;
}

static uint64_t early_at(const struct msg_state *m, const struct msg_early *e)
{
	return m->early_at + (uint64_t)(e - m->early) * WEFT_MSG_EAGER;
}

/* NULL where there is no room. */
static struct msg_early *keep(struct msg_state *m)
{
	uint16_t i = m->early_free;
	struct msg_early *e;

	if (!i)
		return NULL;
	e = &m->early[i - 1];
	m->early_free = e->next;
	*e = (struct msg_early){ 0 };
	if (m->early_first)
		m->early[m->early_last - 1].next = i;
	else
		m->early_first = i;
	m->early_last = i;
	return e;
}

/* Messages that were left in slots may now be taken. */
static void look_in_slots(struct msg_state *m)
{
	if (m->is_full)
		m->has_all = true;
	m->is_full = false;
}

static void drop(struct msg_state *m, uint16_t prev, uint16_t i)
{
	struct msg_early *e = &m->early[i - 1];

	if (prev)
		m->early[prev - 1].next = e->next;
	else
		m->early_first = e->next;
	if (m->early_last == i)
		m->early_last = prev;
	e->next = m->early_free;
	m->early_free = i;
	look_in_slots(m);
}

/* --- a receive and its message --- */

static bool fits(const struct weft_msg_request *r, uint32_t rank, uint32_t tag)
{
	return (r->rank == WEFT_MSG_ANY || r->rank == rank) &&
	       (r->tag == WEFT_MSG_ANY || r->tag == tag);
}

/* Fills in the status; returns the number of bytes to copy. */
static uint64_t meet(struct weft_msg_request *r, const struct msg_early *e)
{
	r->status = (struct weft_msg_status){
		.rank = e->rank,
		.tag = e->tag,
		.bytes = e->bytes,
		.error = e->bytes > r->bytes ? EMSGSIZE : 0,
	};
	return e->bytes < r->bytes ? e->bytes : r->bytes;
}

/* at: the address of a short message's bytes. */
static void deliver(struct msg_state *m, struct weft_msg_request *r,
	const struct msg_early *e, uint64_t at)
{
	uint64_t bytes = meet(r, e);

	r->mark = msg_log_matched(m, e->rank, e->tag, e->bytes);
	if (e->kind == MSG_LONG) {
		r->bytes = bytes;
		r->from = e->from;
		r->fin = e->fin;
		r->state = STATE_WANTED;
		msg_append(&m->active, r);
		return;
	}
	msg_copy(r->at, e->kind == MSG_SELF ? e->from : at, bytes);
	if (e->kind == MSG_SELF)
		e->self->state = STATE_DONE;
	r->state = STATE_DONE;
	program_log_received(r->mark);
}

/* The first posted receive that it matches. */
static struct weft_msg_request *take_posted(
	struct msg_state *m, uint32_t rank, uint32_t tag)
{
	struct weft_msg_request *r = m->posted.first, *prev = NULL;

	for (; r && !fits(r, rank, tag); r = r->next)
		prev = r;
	if (r)
		remove_between(&m->posted, prev, r, r->next);
	return r;
}

/* A message has arrived; false if there is no room for it yet. */
static bool arrive(
	struct msg_state *m, const struct msg_early *what, uint64_t at)
{
	struct weft_msg_request *r = take_posted(m, what->rank, what->tag);
	struct msg_early *e;

	if (r) {
		deliver(m, r, what, at);
		return true;
	}
	e = keep(m);
	if (!e)
		return false;
	e->bytes = what->bytes;
	e->from = what->from;
	e->self = what->self;
	e->rank = what->rank;
	e->tag = what->tag;
	e->kind = what->kind;
	e->fin = what->fin;
	if (e->kind == MSG_SHORT)
		msg_copy(early_at(m, e), at, e->bytes);
	return true;
}

static void drain(struct msg_state *m, uint32_t rank)
{
	struct msg_trailer t;
	uint64_t at;

	while (msg_lane_next(m, MSG_USER, rank, &t, &at)) {
		struct msg_early e = {
			.bytes = t.bytes,
			.from = t.from,
			.rank = rank,
			.tag = t.tag,
			.kind = t.kind,
			.fin = t.fin,
		};

		if (!arrive(m, &e, at)) {
			m->is_full = true;
			return;
		}
		msg_lane_taken(m, MSG_USER, rank);
	}
}

/* --- sends --- */

static bool send_to_self(struct msg_state *m, struct weft_msg_request *r)
{
	struct msg_early e = {
		.bytes = r->bytes,
		.from = r->at,
		.self = r,
		.rank = r->rank,
		.tag = r->tag,
		.kind = r->bytes <= m->eager ? MSG_SHORT : MSG_SELF,
	};

	r->state = e.kind == MSG_SHORT ? STATE_DONE : STATE_EARLY;
	if (arrive(m, &e, r->at)) {
		msg_log_sent(m, r);
		return true;
	}
	r->state = STATE_WAITING;
	return false;
}

/* Sends it, if it can go now. */
static bool try_send(struct msg_state *m, struct weft_msg_request *r)
{
	struct msg_trailer t = { .bytes = r->bytes, .tag = r->tag };
	uint8_t data[WEFT_MSG_EAGER];

	if (r->rank == m->rank)
		return send_to_self(m, r);
	if (!msg_lane_has_slot(m, MSG_USER, r->rank))
		return false;
	if (r->bytes <= m->eager) {
		t.kind = MSG_SHORT;
		msg_read(r->at, data, r->bytes);
		r->state = STATE_DONE;
	} else {
		r->fin = msg_take_fin(m);
		if (r->fin == MSG_FINS)
			return false;
		t.kind = MSG_LONG;
		t.fin = (uint16_t)r->fin;
		t.from = r->at;
		r->state = STATE_TOLD;
		msg_append(&m->active, r);
	}
	msg_log_sent(m, r);
	msg_lane_send(m, MSG_USER, r->rank, &t, data);
	return true;
}

/* Sends to a rank go in order: if one must wait, so must all after it. */
static bool go_on_sending(struct msg_state *m)
{
	struct weft_msg_request *r = m->waiting.first, *prev = NULL, *next;
	bool did = false;

	for (m->round++; r; r = next) {
		struct msg_peer p = msg_peer(m, MSG_USER, r->rank);

		next = r->next;
		if (p.stuck != m->round && try_send(m, r)) {
			remove_between(&m->waiting, prev, r, next);
			p = msg_peer(m, MSG_USER, r->rank);
			p.box.waiting--;
			did = true;
		} else {
			p.stuck = m->round;
			prev = r;
		}
		msg_set_peer(m, MSG_USER, r->rank, &p);
	}
	return did;
}

/* --- long ones --- */

/* Whether it has ended. */
static bool advance(struct msg_state *m, struct weft_msg_request *r)
{
	uint64_t value;

	if (r->state == STATE_TOLD) {
		if (!msg_fin(m, r->fin, &value))
			return false;
		msg_give_fin(m, r->fin);
		return true;
	}
	if (r->state == STATE_WANTED) {
		r->done.index = r->bytes ? msg_take_word(m) : 0;
		if (r->bytes && !r->done.index)
			return false;
		r->state = STATE_GETTING;
		if (r->bytes)
			m->ops->get(m, r->status.rank, r->from, r->at, r->bytes,
				r->done.index);
	}
	if (r->bytes && !msg_word_is_zero(m, r->done.index))
		return false;
	if (r->bytes)
		msg_give_word(m, r->done.index);
	return true;
}

static bool go_on(struct msg_state *m)
{
	struct weft_msg_request *r = m->active.first, *prev = NULL, *next;
	bool did = false, is_receive;

	for (; r; r = next) {
		is_receive = r->state != STATE_TOLD;
		if (!advance(m, r)) {
			next = r->next;
			prev = r;
			continue;
		}
		next = r->next;
		remove_between(&m->active, prev, r, next);
		r->state = STATE_DONE;
		did = true;
		if (is_receive) {
			program_log_received(r->mark);
			msg_answer(m, r->status.rank, r->fin, 1, 0);
		}
	}
	return go_on_sending(m) || did;
}

static bool is_idle(struct msg_state *m)
{
	return !m->posted.first && !m->waiting.first && !m->active.first &&
	       !m->early_first;
}

/* --- requests --- */

static void send(struct msg_state *m, struct weft_msg_request *r)
{
	struct msg_peer p = msg_peer(m, MSG_USER, r->rank);

	r->state = STATE_WAITING;
	if (!p.box.waiting && try_send(m, r))
		return;
	p = msg_peer(m, MSG_USER, r->rank);
	p.box.waiting++;
	msg_set_peer(m, MSG_USER, r->rank, &p);
	msg_append(&m->waiting, r);
}

static void receive(struct msg_state *m, struct weft_msg_request *r)
{
	uint16_t prev = 0;

	r->state = STATE_POSTED;
	for (uint16_t i = m->early_first; i; i = m->early[i - 1].next) {
		struct msg_early *e = &m->early[i - 1];

		if (fits(r, e->rank, e->tag)) {
			deliver(m, r, e, early_at(m, e));
			drop(m, prev, i);
			return;
		}
		prev = i;
	}
	msg_append(&m->posted, r);
	look_in_slots(m);
}

const struct msg_matching msg_by_slots = {
	.open = open_early,
	.send = send,
	.receive = receive,
	.drain = drain,
	.go_on = go_on,
	.is_idle = is_idle,
	.give = msg_lane_give,
	.take = msg_lane_take,
};
