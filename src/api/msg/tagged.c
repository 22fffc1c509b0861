/*
 * Sends and receives as tagged messages (api/msg/tagged.h).  What there is no
 * room for waits in two lists, of sends and of receives, in order.
 *
 * The tags of messages are 32 bits of its 64.  One bit tells messages of
 * collectives from others; their bytes go through stages, since the machine
 * sends from memory only.
 */
#include "api/msg/msg.h"

#include <errno.h>

#include "meas/calls.h"

enum { STATE_BEGUN = MSG_OVER + 1 };

#define TAGS UINT64_C(0xffffffff)

void msg_time_send(
	struct msg_state *m, const struct msg_tagged_entry *e, uint32_t n)
{
	const struct trip t = {
		.from = m->rank,
		.to = e->rank,
		.missing = n,
		.is_counted = e->called >= 0,
		.at = { [TRIP_CALLED] = e->called,
			[TRIP_READY] = e->ready,
			[TRIP_SLOTS] = program_now() },
	};

	if (t.is_counted)
		book_call(m->nic->net->book, m->node, e->called, program_now());
	if (e->rank != m->rank)
		trips_begin(
			m->trip.trips, m->node, msg_node_of(m, e->rank), &t);
}

static bool is_receive(const struct weft_msg_request *r)
{
	return r->mark;
}

static uint64_t context_of(const struct weft_msg_request *r)
{
	return (uintptr_t)r;
}

/* --- begins --- */

/* The other rank cannot be reached. */
static void fail(struct msg_state *m, struct weft_msg_request *r)
{
	m->n_over++;
	r->state = MSG_OVER;
	r->status.error = EIO;
}

/* False: no room now. */
static bool try_send(
	struct msg_state *m, struct weft_msg_request *r, uint64_t space)
{
	int64_t called = space ? -1 : (int64_t)r->from;
	const struct msg_tagged_entry e = {
		.tag = space | r->tag,
		.rank = r->rank,
		.flags = r->bytes > m->eager && !space ? MSG_TAGGED_SYNC : 0,
		.at = r->at,
		.bytes = r->bytes,
		.context = context_of(r),
		.called = called,
		.ready = called,
	};
	bool is_over = false;
	int code = m->tagged->send(m, &e, &is_over);

	if (code == EIO) {
		fail(m, r);
		return true;
	}
	BUG_IF(code && code != EAGAIN);
	if (code)
		return false;
	r->state = is_over ? MSG_OVER : STATE_BEGUN;
	m->n_begun += !is_over;
	m->n_over += is_over;
	return true;
}

static bool try_receive(
	struct msg_state *m, struct weft_msg_request *r, uint64_t space)
{
	const struct msg_tagged_entry e = {
		.tag = space | r->tag,
		.ignore = r->tag == WEFT_MSG_ANY ? TAGS : 0,
		.rank = r->rank == WEFT_MSG_ANY ? MSG_TAGGED_ANY : r->rank,
		.at = r->at,
		.bytes = r->bytes,
		.context = context_of(r),
	};
	int code = m->tagged->receive(m, &e);

	if (code == EIO) {
		fail(m, r);
		return true;
	}
	BUG_IF(code && code != EAGAIN);
	if (code)
		return false;
	m->n_begun++;
	return true;
}

void msg_begin_send(struct msg_state *m, struct weft_msg_request *r)
{
	r->state = STATE_BEGUN;
	r->from = (uint64_t)program_now();
	if (!m->tagged->logs)
		msg_log_sent(m, r->rank, r->tag, r->bytes, 0);
	if (m->waiting.first || !try_send(m, r, 0))
		msg_append(&m->waiting, r);
}

/* Those that wait, in order, as long as there is room. */
static bool begin_waiting(struct msg_state *m, struct msg_list *l,
	bool (*begin)(struct msg_state *m, struct weft_msg_request *r,
		uint64_t space))
{
	bool did = false;

	while (l->first) {
		struct weft_msg_request *next = l->first->next;

		if (!begin(m, l->first, 0))
			break;
		l->first = next;
		did = true;
	}
	return did;
}

/* --- ends --- */

static void end(struct msg_state *m, const struct msg_tagged_end *x)
{
	struct weft_msg_request *r =
		(struct weft_msg_request *)(uintptr_t)x->context;

	if (x->context & MSG_TAGGED_OTHER) {
		m->on_end(m->on_end_arg, x);
		return;
	}
	m->n_begun--;
	m->n_over++;
	r->state = MSG_OVER;
	r->status.error = x->error;
	if (!is_receive(r))
		return;
	r->status.rank = x->rank;
	r->status.tag = (uint32_t)x->tag;
	r->status.bytes = x->bytes;
	if (!(x->tag & MSG_TAG_COLL) && !m->tagged->logs)
		program_log_received(msg_log_matched(
			m, x->rank, r->status.tag, x->bytes, 0));
}

/* By itself, so that looking for none does not pay for it. */
static __attribute__((noinline)) bool take_ends(struct msg_state *m)
{
	struct msg_tagged_end x;
	bool did = false;

	while (m->tagged->next(m, &x)) {
		end(m, &x);
		did = true;
	}
	return did;
}

bool msg_take_ends(struct msg_state *m)
{
	return m->tagged->has_next(m) && take_ends(m);
}

void msg_begin_receive(struct msg_state *m, struct weft_msg_request *r)
{
	r->state = STATE_BEGUN;
	r->mark = 1;
	if (m->posted.first || !try_receive(m, r, 0))
		msg_append(&m->posted, r);
	/* its message may have been there */
	msg_take_ends(m);
}

bool msg_advance_requests(struct msg_state *m)
{
	bool did = m->tagged->go_on && m->tagged->go_on(m);

	did |= msg_take_ends(m);
	if (m->posted.first)
		did |= begin_waiting(m, &m->posted, try_receive);
	if (m->waiting.first)
		did |= begin_waiting(m, &m->waiting, try_send);
	return did;
}

static void wait_for(struct msg_state *m, const struct weft_msg_request *r)
{
	while (r->state != MSG_OVER)
		msg_go_on(m);
}

/* --- whether there is anything --- */

/* A message that nobody has received. */
static bool has_early(struct msg_state *m)
{
	struct weft_msg_request r = { .state = STATE_BEGUN };
	const struct msg_tagged_entry e = {
		.ignore = TAGS,
		.rank = MSG_TAGGED_ANY,
		.context = context_of(&r),
	};

	while (m->tagged->peek(m, &e))
		msg_go_on(m);
	m->n_begun++;
	wait_for(m, &r);
	return !r.status.error;
}

bool msg_has_no_requests(struct msg_state *m)
{
	for (uint32_t i = 0; i < MSG_STAGES; i++)
		wait_for(m, &m->stage[i]);
	return !m->posted.first && !m->waiting.first && !m->n_begun &&
	       !has_early(m);
}

/* --- collectives --- */

static uint64_t stage_at(const struct msg_state *m, uint32_t i)
{
	return m->pieces_at + (uint64_t)i * WEFT_MSG_EAGER;
}

/* The last stage is for receives. */
static void give(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes)
{
	uint32_t i = m->next_stage;
	struct weft_msg_request *r = &m->stage[i];

	wait_for(m, r);
	m->next_stage = (i + 1) % (MSG_STAGES - 1);
	*r = (struct weft_msg_request){
		.at = stage_at(m, i), .bytes = bytes, .rank = rank
	};
	if (bytes)
		program_write(r->at, data, bytes);
	while (!try_send(m, r, MSG_TAG_COLL))
		msg_go_on(m);
}

static uint64_t take(
	struct msg_state *m, uint32_t rank, void *data, uint64_t most)
{
	struct weft_msg_request *r = &m->stage[MSG_STAGES - 1];

	*r = (struct weft_msg_request){
		.at = stage_at(m, MSG_STAGES - 1),
		.bytes = most,
		.rank = rank,
		.state = STATE_BEGUN,
		.mark = 1,
	};
	while (!try_receive(m, r, MSG_TAG_COLL))
		msg_go_on(m);
	wait_for(m, r);
	if (most)
		program_read(r->at, data, most);
	return r->status.bytes;
}

/* Both are long messages. */
static void pass(struct msg_state *m, const struct msg_piece *given,
	const struct msg_piece *taken)
{
	struct weft_msg_request in = {
		.at = msg_address(m, m->rank, taken->at),
		.bytes = taken->bytes,
		.rank = taken->rank,
		.state = STATE_BEGUN,
		.mark = 1,
	};
	struct weft_msg_request out = {
		.at = msg_address(m, m->rank, given->at),
		.bytes = given->bytes,
		.rank = given->rank,
		.state = STATE_BEGUN,
	};

	while (!try_receive(m, &in, MSG_TAG_COLL))
		msg_go_on(m);
	while (!try_send(m, &out, MSG_TAG_COLL))
		msg_go_on(m);
	wait_for(m, &in);
	wait_for(m, &out);
}

/* --- life --- */

/* What is longer than asked for ends when it is matched; without being asked,
 * the machine decides. */
void msg_open_requests(struct msg_state *m)
{
	if (!m->is_eager_set)
		m->eager = m->tagged->eager;
	if (m->tagged->open)
		m->tagged->open(m);
}

void msg_send_most_at_once(struct msg_state *m)
{
	if (m->tagged->drain)
		m->eager = (uint32_t)msg_lane_most(m->n_slots / 2 + 1, true);
}

const struct msg_pieces msg_pieces_by_tags = {
	.give = give, .take = take, .pass = pass
};

const struct msg_pieces msg_pieces_by_slots = {
	.give = msg_lane_give, .take = msg_lane_take, .pass = msg_coll_pass
};
