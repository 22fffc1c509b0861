/*
 * Tagged messages (api/msg/tagged.h) on machines that do not match them:
 * processes do so in their calls.  Short messages are written into slots of the
 * receiver (lane.c).  Of a long one only a notice is: the receiver gets the
 * bytes when it has matched it, and answers.
 *
 * What was begun is in at most one list: of receives that wait for a message,
 * of sends that wait for a slot, of what waits for data or for an answer, or of
 * what has ended.
 */
#include "api/msg/slots.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

static struct op *begin(
	struct msg_soft *s, const struct msg_tagged_entry *e, enum state state)
{
	struct op *x = s->spare;

	if (x) {
		s->spare = x->next;
	} else {
		x = mem_alloc(1, sizeof(*x));
		x->older = s->newest;
		s->newest = x;
	}
	x->e = *e;
	x->state = state;
	x->trip = NULL;
	x->sent = 0;
	return x;
}

/* x->end is filled in. */
void soft_end(struct msg_soft *s, struct op *x)
{
	x->state = STATE_OVER;
	soft_append(&s->over, x);
}

/* Ends a send, or what has no message. */
void soft_end_alone(struct msg_soft *s, struct op *x, int error)
{
	x->end = (struct msg_tagged_end){
		.context = x->e.context,
		.tag = x->e.tag,
		.data = x->e.data,
		.bytes = x->e.bytes,
		.rank = x->e.rank,
		.flags = x->e.flags,
		.error = error,
	};
	soft_end(s, x);
}

/* --- early messages --- */

static void look_in_slots(struct msg_state *m)
{
	if (m->is_full)
		m->has_all = true;
	m->is_full = false;
}

/* Whether a message of so many bytes can be kept. */
static bool has_room(const struct msg_soft *s, uint64_t bytes)
{
	return s->n_kept + bytes + sizeof(struct early) <= MOST_KEPT;
}

static void add_early(struct msg_soft *s, struct early *e, uint64_t bytes)
{
	e->next = NULL;
	*s->early_end = e;
	s->early_end = &e->next;
	s->n_kept += bytes + sizeof(*e);
}

/* False if there is no room for it. */
static bool keep(struct msg_state *m, const struct letter *l, uint64_t at)
{
	struct msg_soft *s = m->soft;
	uint64_t n = l->kind == MSG_SHORT ? l->bytes : 0;
	struct early *e;

	if (!has_room(s, n))
		return false;
	e = mem_alloc(1, sizeof(*e) + n);
	e->letter = *l;
	if (n)
		msg_read(at, e->bytes, n);
	add_early(s, e, n);
	return true;
}

static void forget(struct msg_state *m, struct early **link)
{
	struct msg_soft *s = m->soft;
	struct early *e = *link;

	*link = e->next;
	if (s->early_end == &e->next)
		s->early_end = link;
	s->n_kept -= sizeof(*e) +
		     (e->letter.kind == MSG_SHORT ? e->letter.bytes : 0);
	mem_free(e);
	look_in_slots(m);
}

/* --- a receive and its message --- */

static bool fits(const struct msg_tagged_entry *e, const struct letter *l)
{
	return (e->rank == MSG_TAGGED_ANY || e->rank == l->rank) &&
	       !((e->tag ^ l->tag) & ~e->ignore) &&
	       msg_space_fits(e->space, l->space);
}

/* The sender is told that its message is matched. */
static void answer(struct msg_state *m, const struct letter *l)
{
	if (l->kind == MSG_SELF)
		soft_end_alone(m->soft, l->self, 0);
	else if (l->kind == MSG_LONG || l->flags & MSG_TAGGED_SYNC)
		msg_answer(m, l->rank, l->fin, 1, 0);
}

/* What a receive, or a peek, learns of a message. */
static void describe(struct op *x, const struct letter *l)
{
	x->end = (struct msg_tagged_end){
		.context = x->e.context,
		.tag = l->tag,
		.data = l->data,
		.bytes = l->bytes,
		.rank = l->rank,
		.flags = l->flags & MSG_TAGGED_DATA,
		.space = l->space,
	};
}

/* It has met its receive. */
static void time_match(struct op *x, struct trip *t)
{
	x->trip = t;
	trips_match(t, x->called, program_now());
}

static void end_trip(
	struct msg_state *m, struct trip *t, struct trip_sums *sums)
{
	if (t)
		trips_end(m->trip.trips, m->node, t, sums);
}

void soft_end_trip(struct msg_state *m, struct op *x, struct trip_sums *sums)
{
	end_trip(m, x->trip, sums);
	x->trip = NULL;
}

/* Messages of collectives are not a program's. */
static bool is_logged(uint64_t tag, uint16_t space)
{
	return space || !(tag & MSG_TAG_COLL);
}

/* at: the address of a short message's bytes, or 0: they are in memory. */
static void deliver(struct msg_state *m, struct op *x, const struct letter *l,
	uint64_t at, const uint8_t *memory)
{
	describe(x, l);
	if (l->trip)
		time_match(x, l->trip);
	x->mark = is_logged(l->tag, l->space)
			  ? msg_log_matched(
				    m, l->rank, l->tag, l->bytes, x->e.since)
			  : 0;
	x->bytes = l->bytes < x->e.bytes ? l->bytes : x->e.bytes;
	if (x->e.flags & MSG_TAGGED_DISCARD)
		x->bytes = 0;
	else if (l->bytes > x->e.bytes)
		x->end.error = EMSGSIZE;
	if (l->kind == MSG_LONG) {
		x->from = l->from;
		x->fin = l->fin;
		x->state = STATE_WANTED;
		soft_append(&m->soft->active, x);
		return;
	}
	if (l->kind == MSG_SELF)
		msg_copy(x->e.at, l->from, x->bytes);
	else if (memory)
		msg_write(x->e.at, memory, x->bytes);
	else
		msg_copy(x->e.at, at, x->bytes);
	answer(m, l);
	program_log_received(x->mark);
	if (x->trip)
		x->trip->at[TRIP_HERE] = program_now();
	soft_end(m->soft, x);
}

/* The first posted receive that it matches. */
static struct op *take_posted(struct msg_soft *s, const struct letter *l)
{
	struct op *x = s->posted.first, *prev = NULL;

	for (; x && !fits(&x->e, l); x = x->next)
		prev = x;
	if (x)
		soft_take_out(&s->posted, prev, x, x->next);
	return x;
}

/* A library takes time for posted receives in front of the one that a message
 * matches. */
static void spend_on_posted(struct msg_state *m, const struct letter *l)
{
	const struct op *x = m->soft->posted.first;
	int64_t n = 0;

	for (; x && !fits(&x->e, l); x = x->next)
		n++;
	msg_charge(m, n * m->match);
}

/* A message has arrived; false if there is no room for it yet. */
static bool arrive(struct msg_state *m, const struct letter *l, uint64_t at)
{
	struct op *x;

	if (m->match)
		spend_on_posted(m, l);
	x = take_posted(m->soft, l);
	if (!x)
		return keep(m, l, at);
	deliver(m, x, l, at, NULL);
	return true;
}

static struct letter letter_of(
	const struct msg_trailer *t, const struct msg_wide *w, uint32_t rank)
{
	return (struct letter){
		.tag = (uint64_t)w->tag << 32 | t->tag,
		.data = w->data,
		.bytes = t->bytes,
		.from = t->from,
		.rank = rank,
		.space = w->space,
		.flags = w->flags,
		.kind = t->kind,
		.fin = t->fin,
	};
}

/* The same of a message of several slots, if all of them are here.  Returns
 * their number, or 0. */
static uint32_t arrive_in_parts(struct msg_state *m, struct letter *l,
	const struct msg_peer *p, const struct msg_trailer *t, uint64_t at)
{
	struct msg_soft *s = m->soft;
	struct early *e = mem_alloc(1, sizeof(*e) + l->bytes);
	bool is_here =
		msg_lane_gather(m, MSG_USER, l->rank, p, t, at, e->bytes);
	struct op *x = NULL;

	l->kind = MSG_SHORT;
	e->letter = *l;
	if (is_here && m->match)
		spend_on_posted(m, l);
	if (is_here)
		x = take_posted(s, l);
	if (x)
		deliver(m, x, l, 0, e->bytes);
	if (x || !is_here || !has_room(s, l->bytes)) {
		m->is_full |= is_here && !x;
		mem_free(e);
		return x ? msg_lane_parts(t->bytes, t->is_wide) : 0;
	}
	add_early(s, e, l->bytes);
	return msg_lane_parts(t->bytes, t->is_wide);
}

/* The trip of the next message of a rank, or NULL. */
static struct trip *begin_taking(struct msg_state *m, uint32_t rank)
{
	struct trip *t = m->trip.trips ? trips_next(m->trip.trips, m->node,
						 m->rank, rank)
				       : NULL;

	if (!t)
		return NULL;
	t->is_taken = true;
	t->at[TRIP_TAKEN] = program_now();
	return t;
}

/* It stays in its slots for now. */
static void leave_untaken(struct trip *t)
{
	if (t)
		t->is_taken = false;
}

/* With a pool, a message of several slots has begun to arrive. */
static bool take_first_part(struct msg_state *m, struct letter *l,
	struct msg_peer *p, uint64_t at, uint64_t bytes)
{
	if (!has_room(m->soft, l->bytes)) {
		m->is_full = true;
		return false;
	}
	l->kind = MSG_SHORT;
	soft_begin_partial(m, l, at, bytes);
	msg_lane_taken(m, MSG_USER, l->rank, p);
	return true;
}

/* It is all here. */
static void arrive_whole(struct msg_state *m, struct early *e)
{
	struct msg_soft *s = m->soft;
	struct op *x;

	e->letter.trip = begin_taking(m, e->letter.rank);
	if (m->match)
		spend_on_posted(m, &e->letter);
	x = take_posted(s, &e->letter);
	if (!x) {
		add_early(s, e, e->letter.bytes);
		return;
	}
	deliver(m, x, &e->letter, 0, e->bytes);
	mem_free(e);
}

static bool take_part(struct msg_state *m, uint32_t rank, struct msg_peer *p)
{
	struct early *e;

	if (!soft_take_part(m, rank, p, &e))
		return false;
	if (e)
		arrive_whole(m, e);
	return true;
}

/* Of messages whose parts must all be here. */
static bool take_parts(struct msg_state *m, struct letter *l,
	struct msg_peer *p, const struct msg_trailer *t, uint64_t at)
{
	uint32_t n = arrive_in_parts(m, l, p, t, at);

	for (uint32_t i = 0; i < n; i++)
		msg_lane_taken(m, MSG_USER, l->rank, p);
	if (!n)
		leave_untaken(l->trip);
	return n;
}

/* Takes the next message or part, if it has arrived and there is room. */
static bool take_next(struct msg_state *m, uint32_t rank, struct msg_peer *p)
{
	struct msg_trailer t;
	struct msg_wide w;
	struct letter l;
	uint64_t at;

	if (m->n_blocks && msg_pool_share(m, rank).is_partial)
		return take_part(m, rank, p);
	if (!msg_lane_next(m, MSG_USER, rank, p, &t, &w, &at))
		return false;
	if (m->n_blocks && t.wants)
		msg_pool_want(m, rank);
	l = letter_of(&t, &w, rank);
	if (m->n_blocks && l.kind == MSG_PARTS)
		return take_first_part(m, &l, p, at, msg_lane_first(t.is_wide));
	l.trip = begin_taking(m, rank);
	if (l.kind == MSG_PARTS)
		return take_parts(m, &l, p, &t, at);
	if (!arrive(m, &l, at)) {
		m->is_full = true;
		leave_untaken(l.trip);
		return false;
	}
	msg_lane_taken(m, MSG_USER, rank, p);
	return true;
}

static void slots_drain(struct msg_state *m, uint32_t rank)
{
	struct msg_peer p = msg_peer(m, MSG_USER, rank);

	if (m->n_blocks)
		msg_pool_give_back(m, rank, &p);
	do {
		while (take_next(m, rank, &p))
			;
	} while (m->n_blocks && msg_pool_has_back(m, rank, &p));
}

/* --- sends --- */

/* A long message ends when it is matched in any case. */
static bool is_wide(const struct msg_state *m, const struct msg_tagged_entry *e)
{
	return e->tag >> 32 || e->space || e->flags & MSG_TAGGED_DATA ||
	       (e->flags & MSG_TAGGED_SYNC && e->bytes <= m->eager);
}

/* The longest message that goes at once. */
static uint64_t most_short(
	const struct msg_state *m, const struct msg_tagged_entry *e)
{
	uint64_t most =
		WEFT_MSG_EAGER - (is_wide(m, e) ? sizeof(struct msg_wide) : 0);

	/* with a pool such a send would take its answer part by part */
	if (m->n_blocks && e->flags & MSG_TAGGED_SYNC)
		return m->eager < most ? m->eager : most;
	if (m->eager > WEFT_MSG_EAGER)
		most = msg_lane_most(m->n_slots / 2 + 1, is_wide(m, e));
	return m->eager < most ? m->eager : most;
}

static bool has_slots(struct msg_state *m, const struct msg_tagged_entry *e,
	const struct msg_peer *p)
{
	if (m->eager <= WEFT_MSG_EAGER || e->bytes > most_short(m, e))
		return msg_lane_has_slot(m, MSG_USER, e->rank, p);
	return msg_lane_has_slots(m, MSG_USER, e->rank, p,
		msg_lane_parts(e->bytes, is_wide(m, e)));
}

static bool send_to_self(struct msg_state *m, struct op *x)
{
	const struct letter l = {
		.tag = x->e.tag,
		.data = x->e.data,
		.bytes = x->e.bytes,
		.from = x->e.at,
		.rank = x->e.rank,
		.space = x->e.space,
		.flags = x->e.flags & MSG_TAGGED_DATA,
		.kind = x->e.bytes <= most_short(m, &x->e) &&
					!(x->e.flags & MSG_TAGGED_SYNC)
				? MSG_SHORT
				: MSG_SELF,
		.self = x,
	};

	x->state = l.kind == MSG_SHORT ? STATE_SENT : STATE_EARLY;
	if (arrive(m, &l, x->e.at)) {
		msg_log_sent(m, l.rank, l.tag, l.bytes, x->e.since);
		return true;
	}
	x->state = STATE_WAITING;
	return false;
}

/* Whether it goes at once, and nobody answers. */
static bool is_short(
	const struct msg_state *m, const struct msg_tagged_entry *e)
{
	return e->bytes <= most_short(m, e) && !(e->flags & MSG_TAGGED_SYNC);
}

static void fill_one(struct msg_state *m, const struct msg_tagged_entry *e,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w)
{
	uint8_t data[WEFT_MSG_EAGER];

	if (t->kind == MSG_SHORT)
		msg_read(e->at, data, e->bytes);
	else
		t->from = e->at;
	msg_lane_send(m, MSG_USER, e->rank, p, t, w, data);
}

static void fill_several(struct msg_state *m, const struct msg_tagged_entry *e,
	struct msg_peer *p, struct msg_trailer *t, const struct msg_wide *w)
{
	uint8_t *data = mem_alloc(1, e->bytes);

	t->kind = MSG_PARTS;
	msg_read(e->at, data, e->bytes);
	msg_lane_send_parts(m, MSG_USER, e->rank, p, t, w, data);
	mem_free(data);
}

static struct msg_wide wide_of(const struct msg_tagged_entry *e)
{
	return (struct msg_wide){
		.data = e->data,
		.tag = (uint32_t)(e->tag >> 32),
		.flags = e->flags,
		.space = e->space,
	};
}

/* Fills slots that are free: with the message, or with a notice. */
static void fill(struct msg_state *m, const struct msg_tagged_entry *e,
	struct msg_peer *p, struct msg_trailer *t, bool is_at_once)
{
	const struct msg_wide w = wide_of(e);
	bool wide = is_wide(m, e);
	uint32_t n = is_at_once ? msg_lane_parts(e->bytes, wide) : 1;

	if (m->trip.trips)
		msg_time_send(m, e, n);
	t->bytes = e->bytes;
	t->tag = (uint32_t)e->tag;
	t->kind = is_at_once ? MSG_SHORT : MSG_LONG;
	if (n > 1)
		fill_several(m, e, p, t, wide ? &w : NULL);
	else
		fill_one(m, e, p, t, wide ? &w : NULL);
	if (is_logged(e->tag, e->space))
		msg_log_sent(m, e->rank, e->tag, e->bytes, e->since);
}

/* If a message that goes at once can go now. */
static bool send_short(struct msg_state *m, const struct msg_tagged_entry *e,
	struct msg_peer *p)
{
	struct msg_trailer t = { 0 };

	if (!has_slots(m, e, p))
		return false;
	fill(m, e, p, &t, true);
	return true;
}

static bool send_by_slot(struct msg_state *m, struct op *x, struct msg_peer *p)
{
	struct msg_trailer t = { 0 };
	bool wide = is_wide(m, &x->e);

	if (is_short(m, &x->e)) {
		const struct msg_wide w = wide_of(&x->e);

		x->state = STATE_SENT;
		if (m->n_blocks && msg_lane_parts(x->e.bytes, wide) > 1)
			return soft_send_parts(m, x, p, wide ? &w : NULL);
		return send_short(m, &x->e, p);
	}
	if (!has_slots(m, &x->e, p) || !soft_expect_answer(m, x, &t))
		return false;
	fill(m, &x->e, p, &t, x->e.bytes <= most_short(m, &x->e));
	return true;
}

static bool try_send(struct msg_state *m, struct op *x, struct msg_peer *p)
{
	return x->e.rank == m->rank ? send_to_self(m, x)
				    : send_by_slot(m, x, p);
}

/* Gives back what needs no end of its own. */
static void put_away(struct msg_soft *s, struct op *x)
{
	x->next = s->spare;
	s->spare = x;
}

static int slots_send(
	struct msg_state *m, const struct msg_tagged_entry *e, bool *is_over)
{
	struct msg_peer p = msg_peer(m, MSG_USER, e->rank);
	struct op *x;

	if (m->soft->n_lost && soft_is_lost(m->soft, e->rank))
		return EIO;
	*is_over = !p.box.waiting && e->rank != m->rank && is_short(m, e) &&
		   send_short(m, e, &p);
	if (*is_over)
		return 0;
	x = begin(m->soft, e, STATE_WAITING);
	if (!p.box.waiting && try_send(m, x, &p)) {
		*is_over = x->state == STATE_SENT;
		if (*is_over)
			put_away(m->soft, x);
		return 0;
	}
	m->soft->n_awaited += !p.box.waiting++;
	msg_set_peer(m, MSG_USER, e->rank, &p);
	soft_append(&m->soft->waiting, x);
	m->soft->is_stuck = false;
	return 0;
}

/* Whether a send that could not go waits for credits and nothing else. */
static bool needs_slots(
	struct msg_state *m, const struct op *x, const struct msg_peer *p)
{
	return !m->n_blocks && x->e.rank != m->rank && !has_slots(m, &x->e, p);
}

/* Sends to a rank go in order: if one must wait, so must all after it.  Once
 * all ranks have one that must wait, the others in the list need no visit.  By
 * itself, so that a process without waiting sends does not pay for it. */
static __attribute__((noinline)) bool go_on_sending(struct msg_state *m)
{
	struct op *x = m->soft->waiting.first, *prev = NULL, *next;
	bool did = false, is_stuck = true;
	uint32_t n_stuck = 0;

	for (m->round++; x && n_stuck < m->soft->n_awaited; x = next) {
		struct msg_peer p = msg_peer(m, MSG_USER, x->e.rank);
		uint32_t rank = x->e.rank;

		next = x->next;
		if (p.stuck != m->round && try_send(m, x, &p)) {
			soft_take_out(&m->soft->waiting, prev, x, next);
			if (x->state == STATE_SENT)
				soft_end_alone(m->soft, x, 0);
			m->soft->n_awaited -= !--p.box.waiting;
			did = true;
		} else {
			is_stuck = is_stuck && needs_slots(m, x, &p);
			n_stuck += p.stuck != m->round;
			p.stuck = m->round;
			prev = x;
		}
		msg_set_peer(m, MSG_USER, rank, &p);
	}
	m->soft->is_stuck = is_stuck;
	return did;
}

static bool slots_go_on(struct msg_state *m)
{
	const struct msg_soft *s = m->soft;
	bool did = (s->active.first || s->has_lost) && soft_advance(m);

	return (s->waiting.first && !s->is_stuck && go_on_sending(m)) || did;
}

/* --- receives and peeks --- */

/* The link to the first early message that it matches, or to NULL. */
static struct early **find_early(
	struct msg_soft *s, const struct msg_tagged_entry *e)
{
	struct early **link = &s->early;

	for (; *link; link = &(*link)->next)
		if (!(*link)->claimed && fits(e, &(*link)->letter))
			break;
	return link;
}

/* The same for messages in front of the one that a receive gets. */
static void spend_on_early(
	struct msg_state *m, const struct msg_tagged_entry *e)
{
	struct early **end = find_early(m->soft, e);
	int64_t n = 0;

	for (struct early **x = &m->soft->early; x != end; x = &(*x)->next)
		n++;
	msg_charge(m, n * m->match);
}

static struct early **find_claimed(struct msg_soft *s, uint64_t context)
{
	struct early **link = &s->early;

	while (*link && (*link)->claimed != context + 1)
		link = &(*link)->next;
	return link;
}

static int slots_receive(struct msg_state *m, const struct msg_tagged_entry *e)
{
	struct msg_soft *s = m->soft;
	bool is_claimed = e->flags & MSG_TAGGED_CLAIM;
	struct early **link;
	struct op *x;

	if (m->match && !is_claimed)
		spend_on_early(m, e);
	link = is_claimed ? find_claimed(s, e->context) : find_early(s, e);
	if (is_claimed && !*link)
		return EINVAL;
	if (s->n_lost && !*link && soft_is_lost(s, e->rank))
		return EIO;
	x = begin(s, e, STATE_POSTED);
	x->called = m->trip.trips ? program_now() : 0;
	if (*link) {
		deliver(m, x, &(*link)->letter, 0, (*link)->bytes);
		forget(m, link);
		return 0;
	}
	soft_append(&s->posted, x);
	look_in_slots(m);
	return 0;
}

static int slots_cancel(struct msg_state *m, uint64_t context)
{
	struct op *x = m->soft->posted.first, *prev = NULL;

	for (; x && x->e.context != context; x = x->next)
		prev = x;
	if (!x)
		return EINVAL;
	soft_take_out(&m->soft->posted, prev, x, x->next);
	soft_end_alone(m->soft, x, ECANCELED);
	return 0;
}

static int slots_peek(struct msg_state *m, const struct msg_tagged_entry *e)
{
	struct op *x = begin(m->soft, e, STATE_OVER);
	struct early **link = find_early(m->soft, e);

	if (!*link) {
		soft_end_alone(m->soft, x, ENOMSG);
		return 0;
	}
	describe(x, &(*link)->letter);
	if (e->flags & MSG_TAGGED_CLAIM) {
		(*link)->claimed = e->context + 1;
	} else if (e->flags & MSG_TAGGED_DISCARD) {
		answer(m, &(*link)->letter);
		end_trip(m, (*link)->letter.trip, NULL);
		forget(m, link);
	}
	soft_end(m->soft, x);
	return 0;
}

static bool slots_next(struct msg_state *m, struct msg_tagged_end *end)
{
	struct msg_soft *s = m->soft;
	struct op *x = s->over.first;

	if (!x)
		return false;
	*end = x->end;
	if (x->trip)
		x->trip->at[TRIP_ENDED] = program_now();
	soft_end_trip(m, x, &m->trip.sums);
	soft_take_out(&s->over, NULL, x, x->next);
	put_away(s, x);
	return true;
}

static bool slots_early(
	const struct msg_state *m, uint32_t i, uint32_t *rank, uint64_t *tag)
{
	const struct early *e = m->soft->early;

	for (; e && i; i--)
		e = e->next;
	if (!e)
		return false;
	*rank = e->letter.rank;
	*tag = e->letter.tag;
	return true;
}

/* --- life --- */

static bool slots_has_next(const struct msg_state *m)
{
	return m->soft->over.first;
}

const struct msg_tagged msg_slots = {
	.eager = WEFT_MSG_EAGER,
	.logs = true,
	.open = soft_open,
	.send = slots_send,
	.receive = slots_receive,
	.cancel = slots_cancel,
	.peek = slots_peek,
	.next = slots_next,
	.has_next = slots_has_next,
	.drain = slots_drain,
	.go_on = slots_go_on,
	.early = slots_early,
	.lose = soft_lose,
};
