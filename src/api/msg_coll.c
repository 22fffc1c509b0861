/*
 * Collectives, over a lane of their own, so that no message that waits for
 * its receive can hold them up.  A process takes what another one sent it
 * on that lane in the order in which it was sent, and all call them in
 * the same order, so nothing needs a tag.
 *
 * Trees are binomial, by numbers that begin with the root.  Long data of a
 * broadcast is got by the children; a reduction goes by pieces of a slot.
 */
#include "api/msg.h"

#include <errno.h>
#include <string.h>

enum { PIECE = WEFT_MSG_EAGER / 8 }; /* elements of a reduction */

static void send(
	struct msg_state *m, uint32_t rank, const void *data, uint64_t bytes)
{
	struct msg_trailer t = { .bytes = bytes, .kind = MSG_SHORT };

	while (!msg_lane_has_slot(m, MSG_COLL, rank))
		if (!msg_step(m))
			msg_sleep(m);
	msg_lane_send(m, MSG_COLL, rank, &t, data);
}

static void receive(
	struct msg_state *m, uint32_t rank, void *data, uint64_t bytes)
{
	struct msg_trailer t;
	uint64_t at;

	while (!msg_lane_next(m, MSG_COLL, rank, &t, &at))
		if (!msg_step(m))
			msg_sleep(m);
	if (t.bytes != bytes)
		BUG("ranks %u and %u are in different collectives", m->rank,
			rank);
	program_read(at, data, bytes);
	msg_lane_taken(m, MSG_COLL, rank);
}

int weft_msg_barrier(struct weft_msg *msg)
{
	PROGRAM_CALL("weft_msg_barrier", 0, 0);
	struct msg_state *m = msg_state(msg);
	uint32_t n = m->n_ranks, k;
	int code;

	if (!m->ops)
		return EBADF;
	code = m->ops->barrier ? m->ops->barrier(m) : ENOSYS;
	if (code != ENOSYS)
		return code;
	for (k = 1; k < n; k *= 2) {
		send(m, (m->rank + k) % n, NULL, 0);
		receive(m, (m->rank + n - k) % n, NULL, 0);
	}
	return 0;
}

/* --- broadcast --- */

/* Places, numbers that begin with the root, and back. */
static uint32_t place_of(const struct msg_state *m, uint32_t root)
{
	return (m->rank + m->n_ranks - root) % m->n_ranks;
}

static uint32_t rank_at(
	const struct msg_state *m, uint32_t root, uint32_t place)
{
	return (place + root) % m->n_ranks;
}

/* The lowest bit of a place, which leads to its parent; the root has one
 * beyond all. */
static uint32_t bit_of(const struct msg_state *m, uint32_t place)
{
	uint32_t bit = 1;

	while (bit < m->n_ranks && !(place & bit))
		bit *= 2;
	return bit;
}

/* The parent's bytes: by slots, or got from where it has them. */
static void take_from_parent(
	struct msg_state *m, uint32_t parent, uint64_t at, uint64_t bytes)
{
	uint8_t data[WEFT_MSG_EAGER];
	struct weft_msg_done done;
	uint64_t from;

	if (bytes <= WEFT_MSG_EAGER) {
		receive(m, parent, data, bytes);
		program_write(m->base + at, data, bytes);
		return;
	}
	receive(m, parent, &from, sizeof(from));
	while (weft_msg_get(
		(struct weft_msg *)m, parent, from, at, bytes, &done))
		if (!msg_step(m))
			msg_sleep(m);
	weft_msg_wait((struct weft_msg *)m, &done);
	send(m, parent, NULL, 0); /* got it */
}

static void give_to_children(struct msg_state *m, uint32_t root, uint32_t bit,
	uint64_t at, uint64_t bytes)
{
	uint32_t place = place_of(m, root), k;
	uint8_t data[WEFT_MSG_EAGER];
	const void *what = &at;

	if (bytes <= WEFT_MSG_EAGER) {
		program_read(m->base + at, data, bytes);
		what = data;
	}
	for (k = bit / 2; k; k /= 2)
		if (place + k < m->n_ranks)
			send(m, rank_at(m, root, place + k), what,
				what == data ? bytes : sizeof(at));
	for (k = bit / 2; k && what != data; k /= 2)
		if (place + k < m->n_ranks)
			receive(m, rank_at(m, root, place + k), NULL, 0);
}

int weft_msg_broadcast(
	struct weft_msg *msg, uint32_t root, uint64_t at, uint64_t bytes)
{
	PROGRAM_CALL("weft_msg_broadcast from #", root, 0);
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, root, at, bytes);
	uint32_t place, bit;

	if (code)
		return code;
	if (m->ops->broadcast) {
		code = m->ops->broadcast(m, root, m->base + at, bytes);
		if (code != ENOSYS)
			return code;
	}
	place = place_of(m, root);
	bit = bit_of(m, place);
	if (place)
		take_from_parent(m, rank_at(m, root, place - bit), at, bytes);
	give_to_children(m, root, bit, at, bytes);
	return 0;
}

/* --- reductions --- */

/* a = a op b, where a is of the lower ranks. */
static void combine(
	enum weft_msg_reduction op, uint64_t *a, const uint64_t *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		int64_t x = (int64_t)a[i], y = (int64_t)b[i];
		double p, q;

		switch (op) {
		case WEFT_MSG_SUM_INT:
			a[i] += b[i];
			break;
		case WEFT_MSG_MIN_INT:
			a[i] = (uint64_t)(y < x ? y : x);
			break;
		case WEFT_MSG_MAX_INT:
			a[i] = (uint64_t)(y > x ? y : x);
			break;
		default:
			memcpy(&p, &a[i], 8);
			memcpy(&q, &b[i], 8);
			p += q;
			memcpy(&a[i], &p, 8);
		}
	}
}

/* Up the tree, to the root; false where this is another one. */
static bool reduce_piece(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint32_t place = place_of(m, root), bit = bit_of(m, place), k;
	uint64_t b[PIECE];

	for (k = 1; k < bit; k *= 2) {
		if (place + k >= m->n_ranks)
			continue;
		receive(m, rank_at(m, root, place + k), b, 8 * n);
		combine(op, a, b, n);
	}
	if (place)
		send(m, rank_at(m, root, place - bit), a, 8 * n);
	return !place;
}

static void exchange(struct msg_state *m, uint32_t other,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint64_t b[PIECE];

	send(m, other, a, 8 * n);
	receive(m, other, b, 8 * n);
	if (other > m->rank) {
		combine(op, a, b, n);
	} else {
		combine(op, b, a, n);
		memcpy(a, b, 8 * n);
	}
}

/*
 * Recursive doubling among the first 2^k ranks; the others give theirs to
 * one of these before, and get the result behind it.
 */
static void allreduce_piece(struct msg_state *m, enum weft_msg_reduction op,
	uint64_t *a, uint32_t n)
{
	uint32_t half = 1, k;
	uint64_t b[PIECE];

	while (half * 2 <= m->n_ranks)
		half *= 2;
	if (m->rank >= half) {
		send(m, m->rank - half, a, 8 * n);
		receive(m, m->rank - half, a, 8 * n);
		return;
	}
	if (m->rank + half < m->n_ranks) {
		receive(m, m->rank + half, b, 8 * n);
		combine(op, a, b, n);
	}
	for (k = 1; k < half; k *= 2)
		exchange(m, m->rank ^ k, op, a, n);
	if (m->rank + half < m->n_ranks)
		send(m, m->rank + half, a, 8 * n);
}

/* root: WEFT_MSG_ANY for all. */
static int reduce(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	bool is_mine = root == WEFT_MSG_ANY || root == m->rank;
	uint64_t a[PIECE], i;
	uint32_t k;

	if (!m->ops)
		return EBADF;
	if ((uint32_t)op >= WEFT_MSG_REDUCTIONS || n > UINT64_MAX / 8 ||
		(root != WEFT_MSG_ANY && root >= m->n_ranks))
		return EINVAL;
	if (msg_check(m, m->rank, from, 8 * n) ||
		(is_mine && msg_check(m, m->rank, to, 8 * n)))
		return EFAULT;
	if (m->ops->reduce) {
		int code = m->ops->reduce(
			m, root, op, m->base + from, m->base + to, n);

		if (code != ENOSYS)
			return code;
	}
	for (i = 0; i < n; i += k) {
		k = n - i < PIECE ? (uint32_t)(n - i) : PIECE;
		program_read(m->base + from + 8 * i, a, 8 * k);
		if (root == WEFT_MSG_ANY)
			allreduce_piece(m, op, a, k);
		else
			reduce_piece(m, root, op, a, k);
		if (is_mine)
			program_write(m->base + to + 8 * i, a, 8 * k);
	}
	return 0;
}

int weft_msg_reduce(struct weft_msg *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	PROGRAM_CALL("weft_msg_reduce to #", root, 0);

	if (root == WEFT_MSG_ANY)
		return EINVAL;
	return reduce(msg_state(m), root, op, from, to, n);
}

int weft_msg_allreduce(struct weft_msg *m, enum weft_msg_reduction op,
	uint64_t from, uint64_t to, uint64_t n)
{
	PROGRAM_CALL("weft_msg_allreduce", 0, 0);

	return reduce(msg_state(m), WEFT_MSG_ANY, op, from, to, n);
}
