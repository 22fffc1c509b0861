/*
 * Collectives, over a lane of their own, so that no message that waits for
 * its receive can hold them up.  A node takes what another one sent it on
 * that lane in the order in which it was sent, and all nodes call them in
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
	struct msg_state *m, uint32_t node, const void *data, uint64_t bytes)
{
	struct msg_trailer t = { .bytes = bytes, .kind = MSG_SHORT };

	while (!msg_lane_has_slot(m, MSG_COLL, node))
		if (!msg_step(m))
			msg_sleep(m);
	msg_lane_send(m, MSG_COLL, node, &t, data);
}

static void receive(
	struct msg_state *m, uint32_t node, void *data, uint64_t bytes)
{
	struct msg_trailer t;
	uint64_t at;

	while (!msg_lane_next(m, MSG_COLL, node, &t, &at))
		if (!msg_step(m))
			msg_sleep(m);
	BUG_IF(t.bytes != bytes);
	program_read(at, data, bytes);
	msg_lane_taken(m, MSG_COLL, node);
}

int weft_msg_barrier(struct weft_msg *msg)
{
	struct msg_state *m = msg_state(msg);
	uint32_t n = m->n_nodes, k;

	for (k = 1; k < n; k *= 2) {
		send(m, (m->node + k) % n, NULL, 0);
		receive(m, (m->node + n - k) % n, NULL, 0);
	}
	return 0;
}

/* --- broadcast --- */

/* Numbers that begin with the root, and back. */
static uint32_t rank_of(const struct msg_state *m, uint32_t root)
{
	return (m->node + m->n_nodes - root) % m->n_nodes;
}

static uint32_t node_of(const struct msg_state *m, uint32_t root, uint32_t rank)
{
	return (rank + root) % m->n_nodes;
}

/* The lowest bit of a rank, which leads to its parent; the root has one
 * beyond all. */
static uint32_t bit_of(const struct msg_state *m, uint32_t rank)
{
	uint32_t bit = 1;

	while (bit < m->n_nodes && !(rank & bit))
		bit *= 2;
	return bit;
}

/* The parent's bytes to the node: by slots, or got from where it has them. */
static void take_from_parent(
	struct msg_state *m, uint32_t parent, uint64_t at, uint64_t bytes)
{
	uint8_t data[WEFT_MSG_EAGER];
	struct weft_msg_done done;
	uint64_t from;

	if (bytes <= WEFT_MSG_EAGER) {
		receive(m, parent, data, bytes);
		program_write(at, data, bytes);
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
	uint32_t rank = rank_of(m, root), k;
	uint8_t data[WEFT_MSG_EAGER];
	const void *what = &at;

	if (bytes <= WEFT_MSG_EAGER) {
		program_read(at, data, bytes);
		what = data;
	}
	for (k = bit / 2; k; k /= 2)
		if (rank + k < m->n_nodes)
			send(m, node_of(m, root, rank + k), what,
				what == data ? bytes : sizeof(at));
	for (k = bit / 2; k && what != data; k /= 2)
		if (rank + k < m->n_nodes)
			receive(m, node_of(m, root, rank + k), NULL, 0);
}

int weft_msg_broadcast(
	struct weft_msg *msg, uint32_t root, uint64_t at, uint64_t bytes)
{
	struct msg_state *m = msg_state(msg);
	int code = msg_check(m, root, at, bytes);
	uint32_t rank, bit;

	if (code)
		return code;
	rank = rank_of(m, root);
	bit = bit_of(m, rank);
	if (rank)
		take_from_parent(m, node_of(m, root, rank - bit), at, bytes);
	give_to_children(m, root, bit, at, bytes);
	return 0;
}

/* --- reductions --- */

/* a = a op b, where a is of the lower nodes. */
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

/* Up the tree, to the root; false where this node is another one. */
static bool reduce_piece(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint32_t rank = rank_of(m, root), bit = bit_of(m, rank), k;
	uint64_t b[PIECE];

	for (k = 1; k < bit; k *= 2) {
		if (rank + k >= m->n_nodes)
			continue;
		receive(m, node_of(m, root, rank + k), b, 8 * n);
		combine(op, a, b, n);
	}
	if (rank)
		send(m, node_of(m, root, rank - bit), a, 8 * n);
	return !rank;
}

static void exchange(struct msg_state *m, uint32_t other,
	enum weft_msg_reduction op, uint64_t *a, uint32_t n)
{
	uint64_t b[PIECE];

	send(m, other, a, 8 * n);
	receive(m, other, b, 8 * n);
	if (other > m->node) {
		combine(op, a, b, n);
	} else {
		combine(op, b, a, n);
		memcpy(a, b, 8 * n);
	}
}

/*
 * Recursive doubling among the first 2^k nodes; the others give theirs to
 * one of these before, and get the result behind it.
 */
static void allreduce_piece(struct msg_state *m, enum weft_msg_reduction op,
	uint64_t *a, uint32_t n)
{
	uint32_t half = 1, k;
	uint64_t b[PIECE];

	while (half * 2 <= m->n_nodes)
		half *= 2;
	if (m->node >= half) {
		send(m, m->node - half, a, 8 * n);
		receive(m, m->node - half, a, 8 * n);
		return;
	}
	if (m->node + half < m->n_nodes) {
		receive(m, m->node + half, b, 8 * n);
		combine(op, a, b, n);
	}
	for (k = 1; k < half; k *= 2)
		exchange(m, m->node ^ k, op, a, n);
	if (m->node + half < m->n_nodes)
		send(m, m->node + half, a, 8 * n);
}

/* root: WEFT_MSG_ANY for all. */
static int reduce(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	bool is_mine = root == WEFT_MSG_ANY || root == m->node;
	uint64_t a[PIECE], i;
	uint32_t k;

	if ((uint32_t)op >= WEFT_MSG_REDUCTIONS || n > UINT64_MAX / 8 ||
		(root != WEFT_MSG_ANY && root >= m->n_nodes))
		return EINVAL;
	if (msg_check(m, m->node, from, 8 * n) ||
		(is_mine && msg_check(m, m->node, to, 8 * n)))
		return EFAULT;
	for (i = 0; i < n; i += k) {
		k = n - i < PIECE ? (uint32_t)(n - i) : PIECE;
		program_read(from + 8 * i, a, 8 * k);
		if (root == WEFT_MSG_ANY)
			allreduce_piece(m, op, a, k);
		else
			reduce_piece(m, root, op, a, k);
		if (is_mine)
			program_write(to + 8 * i, a, 8 * k);
	}
	return 0;
}

int weft_msg_reduce(struct weft_msg *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	if (root == WEFT_MSG_ANY)
		return EINVAL;
	return reduce(msg_state(m), root, op, from, to, n);
}

int weft_msg_allreduce(struct weft_msg *m, enum weft_msg_reduction op,
	uint64_t from, uint64_t to, uint64_t n)
{
	return reduce(msg_state(m), WEFT_MSG_ANY, op, from, to, n);
}
