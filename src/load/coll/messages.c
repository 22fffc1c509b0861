#include "load/coll/messages.h"

#include "api/msg/msg.h"
#include "base/mem.h"

enum { PIECE = 4096 };

static uint32_t rank_of(const struct coll_run *r, uint32_t member)
{
	uint32_t rank = algo_group_rank(r->group, member);

	return r->place ? r->place[rank] : rank;
}

static int run_send(
	void *arg, uint32_t slot, uint32_t lane, const struct algo_step *s)
{
	struct coll_run *r = arg;

	return weft_msg_send_start(r->msg, rank_of(r, s->peer),
		r->tag + algo_tag(lane), r->at + s->at, s->bytes,
		&r->request[slot]);
}

static int run_receive(
	void *arg, uint32_t slot, uint32_t lane, const struct algo_step *s)
{
	struct coll_run *r = arg;

	r->come += s->bytes;
	return weft_msg_receive_start(r->msg, rank_of(r, s->peer),
		r->tag + algo_tag(lane),
		r->at + (s->kind == ALGO_ADD ? s->to : s->at), s->bytes,
		&r->request[slot]);
}

static bool run_is_over(void *arg, uint32_t slot, int *error)
{
	const struct weft_msg_request *q =
		&((struct coll_run *)arg)->request[slot];

	if (!msg_is_over(q))
		return false;
	if (q->status.error)
		*error = q->status.error;
	return true;
}

/* Sums of integers of eight bytes. */
static void run_add(void *arg, uint64_t to, uint64_t from, uint64_t bytes)
{
	const struct coll_run *r = arg;
	uint64_t a[PIECE / 8], b[PIECE / 8], i, n;

	for (uint64_t at = 0; at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		weft_msg_load(r->at + to + at, a, n);
		weft_msg_load(r->at + from + at, b, n);
		for (i = 0; i < n / 8; i++)
			a[i] += b[i];
		weft_msg_store(r->at + to + at, a, n);
	}
}

static void run_copy(void *arg, uint64_t to, uint64_t from, uint64_t bytes)
{
	const struct coll_run *r = arg;
	uint8_t piece[PIECE];

	for (uint64_t at = 0, n; at < bytes; at += n) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		weft_msg_load(r->at + from + at, piece, n);
		weft_msg_store(r->at + to + at, piece, n);
	}
}

static const struct play_ops by_bytes = {
	.send = run_send,
	.receive = run_receive,
	.is_over = run_is_over,
	.add = run_add,
	.copy = run_copy,
};

static const struct play_ops by_name = {
	.send = run_send,
	.receive = run_receive,
	.is_over = run_is_over,
};

void coll_run_open(struct coll_run *r, const struct algo_plan *plan,
	uint32_t member, bool has_data)
{
	r->come = 0;
	r->request = mem_alloc(play_slots(plan), sizeof(*r->request));
	play_open(
		&r->play, plan, member, 0, has_data ? &by_bytes : &by_name, r);
}

void coll_run_close(struct coll_run *r)
{
	play_close(&r->play);
	mem_free(r->request);
	r->request = NULL;
}

int coll_run_finish(struct coll_run *r)
{
	struct msg_state *m = msg_state(r->msg);

	while (!play_is_over(&r->play)) {
		bool did = msg_step(m);

		did |= play_go_on(&r->play);
		if (!did)
			msg_sleep_before(m, SIM_NEVER);
	}
	return r->play.error;
}

/* --- agreement --- */

static int pass_on(
	const struct coll_run *r, uint32_t to, const int64_t *v, uint32_t n)
{
	weft_msg_store(r->at, v, n * sizeof(*v));
	return weft_msg_send(
		r->msg, rank_of(r, to), r->tag, r->at, n * sizeof(*v));
}

static int hear(const struct coll_run *r, uint32_t from, int64_t *v, uint32_t n)
{
	struct weft_msg_status status;
	int64_t x;
	int code = weft_msg_receive(r->msg, rank_of(r, from), r->tag, r->at,
		n * sizeof(*v), &status);

	for (uint32_t i = 0; i < n && !code; i++) {
		weft_msg_load(r->at + i * sizeof(x), &x, sizeof(x));
		v[i] = x > v[i] ? x : v[i];
	}
	return code;
}

/* Up a binomial tree, and down again. */
int coll_agree(
	const struct coll_run *r, uint32_t member, int64_t *v, uint32_t n)
{
	uint32_t all = r->group->n, k;
	int code = 0;

	for (k = 1; k < all && !(member & k) && !code; k *= 2)
		if (member + k < all)
			code = hear(r, member + k, v, n);
	if (member && !code)
		code = pass_on(r, member - k, v, n);
	if (member && !code)
		code = hear(r, member - k, v, n);
	while ((k /= 2) && !code)
		if (member + k < all)
			code = pass_on(r, member + k, v, n);
	return code;
}
