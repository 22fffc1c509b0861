/*
 * Atomics on the memory of other ranks.  The interface performs those that it
 * has, on words; the other rank's library performs all others in its calls, as
 * a request tells it, and answers with what was there before.  Both change
 * memory in one instant of the other node, so they exclude each other.
 */
#include <errno.h>
#include <string.h>

#include "api/msg/domain.h"
#include "base/mem.h"
#include "outside/combine.h"
#include "outside/endpoint_op.h"

enum { MOST_WORDS = 4 }; /* that the interface performs one after the other */

static unsigned type_of(uint16_t op)
{
	return op >> 8;
}

static unsigned op_of(uint16_t op)
{
	return op & 255;
}

static bool compares(uint16_t op)
{
	return op_of(op) >= COMBINE_CSWAP;
}

/* --- performed by this rank --- */

/* *old gets what was there. */
static int apply(uint64_t at, uint16_t op, const uint8_t *with,
	const uint8_t *compare, uint8_t *old, uint64_t bytes)
{
	uint8_t *new = mem_alloc(1, bytes);
	bool is_done = program_read(at, old, bytes);

	memcpy(new, old, bytes);
	combine(type_of(op), op_of(op), new, with, compare, bytes);
	if (is_done && op_of(op) != COMBINE_READ)
		is_done = program_write(at, new, bytes);
	mem_free(new);
	return is_done ? 0 : EFAULT;
}

static bool is_sane(const struct endpoint_mail *m)
{
	uint32_t size = (uint32_t)combine_bytes(type_of(m->op));

	return combine_fits(type_of(m->op), op_of(m->op)) && m->bytes &&
	       m->bytes <= CHANNEL_SHORT && m->bytes % size == 0 &&
	       (!compares(m->op) || m->has_comparands);
}

bool endpoint_answer(struct endpoint *e, uint32_t rank,
	const struct endpoint_mail *m, uint64_t operands)
{
	uint64_t n = m->bytes;
	uint8_t *with, *old;
	int error = EINVAL;

	if (!endpoint_has_answer_room(e))
		return false;
	with = mem_alloc(3, CHANNEL_SHORT);
	old = with + 2 * n;
	if (is_sane(m)) {
		program_read(operands, with, m->has_comparands ? 2 * n : n);
		error = apply(m->at, m->op, with, with + n, old, n);
	}
	if (!error && m->tells)
		endpoint_tell(e, m, rank);
	endpoint_send_answer(e, rank, m->answer, error, old,
		m->is_fetched && !error ? n : 0);
	mem_free(with);
	return true;
}

/* --- performed here, or by the interface --- */

/* Ends an operation whose result is known. */
static void end_with(
	struct endpoint *e, uint32_t i, int error, const uint8_t *old)
{
	struct endpoint_op *x = &e->op[i];

	if (!error && x->result && !program_write(x->at, old, x->result))
		error = EFAULT;
	if (!error && x->tells && !endpoint_say(e, i, MAIL_NOTICE, NULL, 0)) {
		/* later: nobody waits for it */
		x->state = ENDPOINT_TELLS;
		x->is_told = true;
		endpoint_end(e, &x->c, 0);
		endpoint_activate(e, i);
		return;
	}
	endpoint_end_remote(e, i, error);
}

static void apply_own(struct endpoint *e, uint32_t i)
{
	const struct endpoint_op *x = &e->op[i];
	uint64_t n = x->c.bytes;
	uint8_t *old = mem_alloc(1, n);
	int error = apply(x->there, x->c.op, x->load, x->load + n, old, n);

	end_with(e, i, error, old);
	mem_free(old);
}

/* The interface's operation, or WEFT_MSG_ATOMICS. */
static enum weft_msg_atomic word_op(uint16_t op)
{
	if (type_of(op) != COMBINE_INT64 && type_of(op) != COMBINE_UINT64)
		return WEFT_MSG_ATOMICS;
	switch (op_of(op)) {
	case COMBINE_SUM:
		return WEFT_MSG_FETCH_ADD;
	case COMBINE_BOR:
		return WEFT_MSG_OR;
	case COMBINE_BXOR:
		return WEFT_MSG_XOR;
	case COMBINE_MAX:
		return type_of(op) == COMBINE_UINT64 ? WEFT_MSG_MAX
						     : WEFT_MSG_ATOMICS;
	default:
		return WEFT_MSG_ATOMICS;
	}
}

/* Until nobody else has changed it in between. */
static int change_word(struct msg_state *m, const struct channel_command *c,
	uint64_t at, const uint64_t *with, const uint64_t *compare,
	uint64_t *old)
{
	int error = msg_atomic(m, c->rank, at, WEFT_MSG_FETCH_ADD, 0, old);

	while (!error) {
		uint64_t seen = *old, new = seen;

		combine(type_of(c->op), op_of(c->op), &new, with, compare, 8);
		if (new == seen)
			break;
		error = msg_swap_if(m, c->rank, at, seen, new, old);
		if (*old == seen)
			break;
	}
	return error;
}

/* By the interface: an error number, or ENOSYS if it does not. */
static int apply_word(struct msg_state *m, const struct channel_command *c,
	uint64_t at, const uint64_t *with, const uint64_t *compare,
	uint64_t *old)
{
	enum weft_msg_atomic op = word_op(c->op);
	unsigned type = type_of(c->op);

	if (op != WEFT_MSG_ATOMICS)
		return msg_atomic(m, c->rank, at, op, *with, old);
	if (!m->ops->swap_if)
		return ENOSYS;
	if (op_of(c->op) == COMBINE_CSWAP &&
		(type == COMBINE_INT64 || type == COMBINE_UINT64))
		return msg_swap_if(m, c->rank, at, *compare, *with, old);
	return m->ops->has_slow_atomics
		       ? change_word(m, c, at, with, compare, old)
		       : ENOSYS;
}

/* False: it does not.  What the interface may be at, software must not change
 * where that is slow. */
static bool apply_by_interface(struct endpoint *e, uint32_t i)
{
	struct msg_state *m = endpoint_msg(e);
	const struct channel_command c = e->op[i].c;
	uint64_t there = e->op[i].there, n = c.bytes / 8, *word;
	int error = 0;

	if (!m->ops->atomic || combine_bytes(type_of(c.op)) != 8 || there % 8 ||
		(n > MOST_WORDS && !m->ops->has_slow_atomics))
		return false;
	word = mem_alloc(3 * n, 8);
	memcpy(word, e->op[i].load, 16 * n);
	for (uint32_t k = 0; k < n && !error; k++)
		error = apply_word(m, &c, there + 8 * k, word + k, word + n + k,
			word + 2 * n + k);
	if (error != ENOSYS)
		end_with(e, i, error, (const uint8_t *)(word + 2 * n));
	mem_free(word);
	return error != ENOSYS;
}

/* --- asked of the other rank --- */

bool endpoint_start_atomic(struct endpoint *e, uint32_t i)
{
	uint64_t n = e->op[i].c.bytes;

	if (e->op[i].state == ENDPOINT_WAITS) {
		if (endpoint_expect_answer(e, i))
			return false;
		e->op[i].state = ENDPOINT_ASKS;
	}
	if (!endpoint_say(e, i, MAIL_ATOMIC, e->op[i].load,
		    compares(e->op[i].c.op) ? 2 * n : n))
		return false;
	e->op[i].state = ENDPOINT_ASKED;
	e->n_sends++;
	return true;
}

void endpoint_on_answer(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end)
{
	if (e->op[i].state == ENDPOINT_ASKS) {
		/* its request has not gone, and will not: it is active still */
		e->op[i].state = ENDPOINT_MOVES;
		e->op[i].error = EIO;
		return;
	}
	e->n_sends--;
	endpoint_end_remote(e, i, end->error ? EIO : (int)end->data);
}

/* --- commands --- */

static int check(const struct endpoint *e, const struct channel_command *c,
	const struct channel_command *more)
{
	size_t size = combine_bytes(type_of(c->op));

	if (!e->client.registry)
		return ENOSYS;
	if (!combine_fits(type_of(c->op), op_of(c->op)))
		return EOPNOTSUPP;
	if (c->endpoint >= ENDPOINT_NUMBERS || c->to >= ENDPOINT_NUMBERS ||
		c->bytes > CHANNEL_SHORT || c->bytes % size ||
		(compares(c->op) && !more->tag))
		return EINVAL;
	return endpoint_is_rank(e, c->rank) ? 0 : EHOSTUNREACH;
}

/* Copies a command's bytes from the client. */
static int load_bytes(
	struct endpoint *e, const struct channel_command *c, void *to)
{
	uint64_t at = c->at;
	uint32_t hold;
	int code;

	if (c->flags & CHANNEL_IN_ROOM)
		return e->client.load(e->client.arg, at, to, c->bytes) ? 0
								       : EFAULT;
	code = e->client.take(e->client.arg, c->bytes, &at, &hold);
	if (code)
		return code;
	code = program_read(at, to, c->bytes) ? 0 : EFAULT;
	e->client.give(e->client.arg, hold);
	return code;
}

/* Operands and comparands, and where the result goes. */
static int load(
	struct endpoint *e, uint32_t i, const struct channel_command *more)
{
	struct endpoint_op *x = &e->op[i];
	struct channel_command compare = { .at = more->tag,
		.bytes = x->c.bytes };
	int code = 0;

	x->load = mem_alloc(2, x->c.bytes ? x->c.bytes : 1);
	if (x->c.bytes && op_of(x->c.op) != COMBINE_READ)
		code = load_bytes(e, &x->c, x->load);
	if (!code && x->c.bytes && compares(x->c.op))
		code = load_bytes(e, &compare, x->load + x->c.bytes);
	if (code || !more->at || !x->c.bytes)
		return code;
	x->at = more->at;
	x->result = (uint32_t)x->c.bytes;
	return e->client.take(e->client.arg, x->c.bytes, &x->at, &x->hold);
}

static uint64_t rights_of(const struct endpoint_op *x)
{
	return (op_of(x->c.op) == COMBINE_READ ? 0 : REGISTRY_WRITE) |
	       (x->result ? REGISTRY_READ : 0);
}

/* Whether it was done now. */
static bool is_applied(struct endpoint *e, uint32_t i)
{
	const struct msg_state *m = endpoint_msg(e);

	if (e->op[i].c.rank != m->rank || m->ops->has_slow_atomics)
		if (apply_by_interface(e, i))
			return true;
	if (e->op[i].c.rank != m->rank)
		return false;
	apply_own(e, i);
	return true;
}

void endpoint_atomic(struct endpoint *e, const struct channel_command *c,
	const struct channel_command *more)
{
	int code = check(e, c, more);
	uint32_t i;

	if (code) {
		endpoint_end(e, c, code);
		return;
	}
	i = endpoint_take_op(e, c);
	code = load(e, i, more);
	if (code) {
		endpoint_give_op(e, i);
		endpoint_end(e, c, code);
		return;
	}
	if (c->rank == endpoint_msg(e)->rank)
		endpoint_charge_own(e);
	endpoint_find_region(e, i, rights_of(&e->op[i]));
	if (!e->op[i].error && c->bytes && is_applied(e, i))
		return;
	endpoint_activate(e, i);
	endpoint_go_on(e);
}
