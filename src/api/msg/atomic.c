/*
 * Atomics: a process writes a request into its place at the other process,
 * which performs it and answers when it next makes progress.  A program
 * requests one at a time, so one place is enough.
 */
#include "api/msg/domain.h"

#include <errno.h>

enum { ANSWER_DONE = 1, ANSWER_REFUSED };

static uint64_t ask_at(const struct msg_state *m, uint32_t rank)
{
	return m->asks_at + (uint64_t)rank * sizeof(struct msg_ask);
}

enum atomic_op msg_atomic_op(enum weft_msg_atomic op)
{
	static const enum atomic_op ops[WEFT_MSG_ATOMICS] = {
		[WEFT_MSG_ADD] = ATOMIC_STORE_ADD,
		[WEFT_MSG_OR] = ATOMIC_STORE_OR,
		[WEFT_MSG_XOR] = ATOMIC_STORE_XOR,
		[WEFT_MSG_MAX] = ATOMIC_STORE_MAX,
		[WEFT_MSG_FETCH_ADD] = ATOMIC_STORE_ADD,
	};

	return ops[op];
}

/* In one instant. */
static bool apply(uint64_t at, uint64_t op, uint64_t operand, uint64_t *old)
{
	uint64_t word;

	if (at % 8 || op >= WEFT_MSG_ATOMICS || !program_read(at, old, 8))
		return false;
	word = atomic_apply(
		msg_atomic_op((enum weft_msg_atomic)op), *old, operand, 0, old);
	return program_write(at, &word, 8);
}

void msg_atomic_serve(struct msg_state *m, uint32_t rank)
{
	struct msg_peer p = msg_peer(m, MSG_USER, rank);
	struct msg_ask a;
	uint64_t old = 0;
	bool is_done;

	program_read(ask_at(m, rank), &a, sizeof(a));
	if (a.number == p.served)
		return;
	p.served = a.number;
	msg_set_peer(m, MSG_USER, rank, &p);
	is_done = apply(a.at, a.op, a.operand, &old);
	msg_answer(m, rank, (uint32_t)a.fin,
		is_done ? ANSWER_DONE : ANSWER_REFUSED, old);
}

int weft_msg_atomic(struct weft_msg *msg, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old)
{
	PROGRAM_CALL("weft_msg_atomic at #", rank, 0);
	struct msg_state *m = msg_state(msg);
	int code = msg_check_host(m, rank, at, 8);
	struct msg_ask a = {
		.at = msg_address(m, rank, at), .op = op, .operand = operand
	};
	uint64_t answer, was = 0;

	if (code || at % 8 || (uint32_t)op >= WEFT_MSG_ATOMICS)
		return code ? code : EINVAL;
	if (m->ops->atomic) {
		code = msg_atomic(m, rank, a.at, op, operand, &was);
		if (!code && old)
			*old = was;
		if (code != ENOSYS)
			return code;
		code = 0;
	}
	if (rank == m->rank) {
		apply(a.at, op, operand, &was);
	} else {
		a.fin = msg_take_fin(m);
		if (a.fin == MSG_FINS)
			return EBUSY;
		a.number = ++m->n_asked;
		msg_post(m, rank, ask_at(m, m->rank), &a, sizeof(a));
		while (!(answer = msg_fin(m, (uint32_t)a.fin, &was)))
			msg_go_on(m);
		msg_give_fin(m, (uint32_t)a.fin);
		code = answer == ANSWER_DONE ? 0 : EFAULT;
	}
	if (old)
		*old = was;
	return code;
}
