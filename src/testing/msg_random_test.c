/*
 * Tagged messages at random against a model, on every machine, whoever matches
 * them (api/msg/tagged.h).  Of each pair of ranks the first sends messages, and
 * the second one posts receives and cancels some.  A message gets the first
 * receive that it matches, and which were cancelled in time is told, so who
 * gets what does not depend on times.
 *
 * When all messages have come, those that are left are a list in the model.
 * Looks, claims, drops and receives of these follow, one after the other.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/random.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

enum {
	MESSAGES = 40,
	RECEIVES = 30,
	STEPS = 60, /* on what is left */
	OPS = MESSAGES + RECEIVES + 2 * STEPS,
	ROOM = 8192,
	TELL = 99, /* tag: everything was sent */
	NOBODY = -1,
};

struct message {
	struct msg_tagged_entry e;
	bool is_taken, is_claimed;
	uint32_t claim; /* the operation that did */
};

struct play {
	struct msg_state *m;
	uint64_t seed, drawn;
	struct message sent[MESSAGES]; /* what the sender draws */
	struct msg_tagged_entry receive[RECEIVES];
	bool is_cancelled[RECEIVES];
	int got[RECEIVES];
	/* ends, by operation */
	bool is_begun[OPS], is_over[OPS];
	struct msg_tagged_end end[OPS];
	uint32_t n; /* operations ever */
};

static uint64_t seed;
static struct play plays[MSG_TEST_RANKS];
static _Atomic uint64_t n_cancelled, n_left, n_claimed;

static uint32_t draw(struct play *x, uint32_t below)
{
	return (uint32_t)(random_draw(x->seed, 3, RANDOM_TEST, x->drawn++).a %
			  below);
}

static uint64_t draw_tag(struct play *x)
{
	return (uint64_t)draw(x, 3) << 62 | draw(x, 3);
}

static uint32_t draw_length(struct play *x)
{
	static const uint32_t most[] = { 1, 65, 490, 2049, 6001 };

	return draw(x, most[draw(x, 5)]);
}

static uint64_t draw_ignore(struct play *x)
{
	static const uint64_t ignore[] = { 0, 3, UINT64_MAX, UINT64_MAX << 60 };

	return ignore[draw(x, 4)];
}

/* Both of a pair draw the same. */
static void make(struct play *x, uint32_t sender)
{
	static const uint16_t flags[] = { 0, MSG_TAGGED_DATA, MSG_TAGGED_SYNC,
		MSG_TAGGED_SYNC | MSG_TAGGED_DATA };

	x->seed = seed * 100 + sender;
	for (uint32_t i = 0; i < MESSAGES; i++)
		x->sent[i].e = (struct msg_tagged_entry){
			.tag = draw_tag(x),
			.data = (uint64_t)draw(x, 1000) << 50,
			.rank = sender + 1,
			.space = (uint16_t)(1 + draw(x, 2)),
			.flags = flags[draw(x, 4)],
			.at = MSG_TEST_SOURCE + i * ROOM,
			.bytes = draw_length(x),
		};
	for (uint32_t i = 0; i < RECEIVES; i++)
		x->receive[i] = (struct msg_tagged_entry){
			.tag = draw_tag(x),
			.ignore = draw_ignore(x),
			.rank = draw(x, 2) ? sender : MSG_TAGGED_ANY,
			.space = (uint16_t)(1 + draw(x, 2)),
			.at = MSG_TEST_TARGET + i * ROOM,
			.bytes = draw(x, 4) ? ROOM : draw(x, 100),
		};
}

static uint64_t stream(const struct play *x, uint32_t i)
{
	return x->seed * MESSAGES + i;
}

/* --- operations --- */

static void on_end(void *arg, const struct msg_tagged_end *end)
{
	struct play *x = arg;
	uint32_t i = (uint32_t)end->context;

	assert_true(i < OPS && x->is_begun[i] && !x->is_over[i]);
	x->is_over[i] = true;
	x->end[i] = *end;
}

/* Begins operation i of what an entry says, at an address of the process. */
static void begin(struct play *x, uint32_t i, struct msg_tagged_entry e,
	int (*call)(struct msg_state *m, const struct msg_tagged_entry *e))
{
	int code;

	assert_true(i < OPS);
	x->is_begun[i] = true;
	x->is_over[i] = false;
	e.at = msg_address(x->m, x->m->rank, e.at);
	e.context = MSG_TAGGED_OTHER | i;
	while ((code = call(x->m, &e)) == EAGAIN)
		msg_go_on(x->m);
	assert_int_equal(code, 0);
}

static const struct msg_tagged_end *wait_for(struct play *x, uint32_t i)
{
	while (!x->is_over[i])
		msg_go_on(x->m);
	return &x->end[i];
}

static int send(struct msg_state *m, const struct msg_tagged_entry *e)
{
	struct play *x = m->on_end_arg;
	bool is_over = false;
	int code = m->tagged->send(m, e, &is_over);

	if (is_over)
		x->is_over[(uint32_t)e->context] = true;
	return code;
}

static void open_play(struct play *x, struct weft_msg *m, uint32_t sender)
{
	*x = (struct play){ .m = msg_state(m) };
	x->m->on_end = on_end;
	x->m->on_end_arg = x;
	make(x, sender);
}

/* --- the sender --- */

static void send_all(struct play *x, struct weft_msg *m)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const struct msg_tagged_entry *e = &x->sent[i].e;

		if (!draw(x, 4))
			program_charge(draw(x, 5000) * SIM_NS);
		msg_test_fill(e->at, stream(x, i), e->bytes);
		begin(x, i, *e, send);
	}
	assert_int_equal(weft_msg_send(m, x->sent[0].e.rank, TELL, 0, 8), 0);
	for (uint32_t i = 0; i < MESSAGES; i++)
		assert_int_equal(wait_for(x, i)->error, 0);
}

/* --- the receiver --- */

static bool fits(
	const struct msg_tagged_entry *r, const struct msg_tagged_entry *m)
{
	return !((r->tag ^ m->tag) & ~r->ignore) && r->space == m->space;
}

/* An end tells of message i. */
static void check_told(
	const struct play *x, uint32_t i, const struct msg_tagged_end *end)
{
	const struct msg_tagged_entry *m = &x->sent[i].e;
	bool has_data = m->flags & MSG_TAGGED_DATA;

	assert_int_equal(end->tag, m->tag);
	assert_int_equal(end->bytes, m->bytes);
	assert_int_equal(end->rank, m->rank - 1);
	assert_int_equal(end->flags, has_data ? MSG_TAGGED_DATA : 0);
	if (has_data)
		assert_int_equal(end->data, m->data);
}

/* And a receive got it. */
static void check(const struct play *x, uint32_t i,
	const struct msg_tagged_entry *r, const struct msg_tagged_end *end)
{
	uint64_t n = x->sent[i].e.bytes, most = r->bytes;

	assert_int_equal(end->error, n > most ? EMSGSIZE : 0);
	check_told(x, i, end);
	assert_true(msg_test_is(r->at, stream(x, i), n < most ? n : most));
}

static void post_all(struct play *x)
{
	for (uint32_t i = 0; i < RECEIVES; i++) {
		begin(x, i, x->receive[i], x->m->tagged->receive);
		x->is_cancelled[i] = !draw(x, 4);
		if (x->is_cancelled[i])
			x->m->tagged->cancel(x->m, MSG_TAGGED_OTHER | i);
		if (!draw(x, 4))
			program_charge(draw(x, 5000) * SIM_NS);
	}
}

/* Messages in the order of sending. */
static void match(struct play *x)
{
	for (uint32_t i = 0; i < RECEIVES; i++)
		x->got[i] = NOBODY;
	for (uint32_t i = 0; i < MESSAGES; i++)
		for (uint32_t k = 0; k < RECEIVES && !x->sent[i].is_taken; k++)
			if (x->got[k] == NOBODY &&
				!(x->is_cancelled[k] &&
					x->end[k].error == ECANCELED) &&
				fits(&x->receive[k], &x->sent[i].e)) {
				x->got[k] = (int)i;
				x->sent[i].is_taken = true;
			}
}

/* What was posted ends, with a message or by a cancel. */
static void end_posted(struct play *x)
{
	for (uint32_t i = 0; i < RECEIVES; i++)
		if (x->is_cancelled[i])
			wait_for(x, i);
	match(x);
	for (uint32_t i = 0; i < RECEIVES; i++) {
		if (x->got[i] != NOBODY) {
			check(x, (uint32_t)x->got[i], &x->receive[i],
				wait_for(x, i));
			continue;
		}
		if (!x->is_cancelled[i])
			assert_int_equal(x->m->tagged->cancel(
						 x->m, MSG_TAGGED_OTHER | i),
				0);
		assert_int_equal(wait_for(x, i)->error, ECANCELED);
		n_cancelled++;
	}
	x->n = RECEIVES;
}

/* --- what is left --- */

static int find(const struct play *x, const struct msg_tagged_entry *r)
{
	for (int i = 0; i < MESSAGES; i++)
		if (!x->sent[i].is_taken && fits(r, &x->sent[i].e))
			return i;
	return NOBODY;
}

static struct msg_tagged_entry draw_wanted(struct play *x)
{
	return (struct msg_tagged_entry){
		.tag = draw_tag(x),
		.ignore = draw_ignore(x),
		.rank = draw(x, 2) ? x->sent[0].e.rank - 1 : MSG_TAGGED_ANY,
		.space = (uint16_t)(1 + draw(x, 2)),
		.at = MSG_TEST_OTHER,
		.bytes = draw(x, 4) ? ROOM : draw(x, 100),
	};
}

/* One look, with or without a claim or a drop. */
static void look(struct play *x)
{
	static const uint16_t flags[] = { 0, MSG_TAGGED_CLAIM, MSG_TAGGED_CLAIM,
		MSG_TAGGED_DISCARD };
	struct msg_tagged_entry r = draw_wanted(x);
	const struct msg_tagged_end *end;
	uint32_t op = x->n++;
	int i = find(x, &r);

	r.flags = flags[draw(x, 4)];
	begin(x, op, r, x->m->tagged->peek);
	end = wait_for(x, op);
	assert_int_equal(end->error, i == NOBODY ? ENOMSG : 0);
	if (i == NOBODY)
		return;
	check_told(x, (uint32_t)i, end);
	x->sent[i].is_taken = r.flags != 0;
	x->sent[i].is_claimed = r.flags == MSG_TAGGED_CLAIM;
	x->sent[i].claim = op;
	n_claimed += x->sent[i].is_claimed;
}

static void receive_left(struct play *x)
{
	struct msg_tagged_entry r = draw_wanted(x);
	int i = find(x, &r);
	uint32_t op = x->n++;

	if (i == NOBODY)
		return;
	begin(x, op, r, x->m->tagged->receive);
	check(x, (uint32_t)i, &r, wait_for(x, op));
	x->sent[i].is_taken = true;
}

static void receive_claimed(struct play *x, uint32_t i, bool is_dropped)
{
	struct msg_tagged_entry r = draw_wanted(x);
	const struct msg_tagged_end *end;

	r.flags = MSG_TAGGED_CLAIM;
	r.flags |= is_dropped ? MSG_TAGGED_DISCARD : 0;
	begin(x, x->sent[i].claim, r, x->m->tagged->receive);
	end = wait_for(x, x->sent[i].claim);
	x->sent[i].is_claimed = false;
	if (!is_dropped)
		check(x, i, &r, end);
	else
		assert_int_equal(end->error, 0);
}

static void receive_some_claim(struct play *x)
{
	uint32_t i = draw(x, MESSAGES);

	for (uint32_t k = 0; k < MESSAGES; k++, i++)
		if (x->sent[i % MESSAGES].is_claimed) {
			receive_claimed(x, i % MESSAGES, draw(x, 2));
			return;
		}
}

static void use_left(struct play *x)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		n_left += !x->sent[i].is_taken;
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t what = draw(x, 6);

		if (what < 3)
			look(x);
		else if (what < 5)
			receive_left(x);
		else
			receive_some_claim(x);
	}
	for (uint32_t i = 0; i < MESSAGES; i++)
		if (x->sent[i].is_claimed)
			receive_claimed(x, i, i % 2);
}

/* Everything that nobody wanted goes. */
static void drop_left(struct play *x)
{
	struct msg_tagged_entry all = { .ignore = UINT64_MAX,
		.rank = MSG_TAGGED_ANY,
		.flags = MSG_TAGGED_DISCARD,
		.at = MSG_TEST_OTHER };

	for (uint16_t space = 1; space <= 2; space++) {
		all.space = space;
		for (int i; (i = find(x, &all)) != NOBODY;) {
			begin(x, x->n, all, x->m->tagged->peek);
			check_told(x, (uint32_t)i, wait_for(x, x->n));
			x->sent[i].is_taken = true;
		}
		begin(x, x->n, all, x->m->tagged->peek);
		assert_int_equal(wait_for(x, x->n)->error, ENOMSG);
	}
}

static void receive_all(struct play *x, struct weft_msg *m)
{
	program_charge(seed % 2 * 200000 * SIM_NS);
	post_all(x);
	assert_int_equal(weft_msg_receive(m, x->sent[0].e.rank - 1, TELL,
				 MSG_TEST_OTHER, 8, NULL),
		0);
	end_posted(x);
	use_left(x);
	drop_left(x);
}

static void play(struct weft_msg *m, void *arg)
{
	uint32_t me = weft_msg_rank(m), pair = me / 2 * 2;
	struct play *x = &plays[me];

	if (pair + 1 == weft_msg_ranks(m))
		return;
	open_play(x, m, pair);
	weft_msg_barrier(m);
	if (me == pair)
		send_all(x, m);
	else
		receive_all(x, m);
}

/* On QsNetII they are the card's (QSN-F61). */
static void tagged_messages_are_as_in_the_model(void **state)
{
	for (seed = 1; seed <= (getenv("WEFT_SLOW") ? 1 : 3); seed++)
		msg_test_everywhere(play, NULL);
	assert_true(n_cancelled > 100);
	assert_true(n_left > 100);
	assert_true(n_claimed > 50);
}

TESTS(TEST(tagged_messages_are_as_in_the_model))
