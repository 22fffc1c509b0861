/*
 * Puts, gets and atomics of the message layer: through the node's fast domain
 * (parts/domain/domain.h) for other ranks of the node if it has one, else by
 * the machine's operations (struct msg_ops), as which they have the same
 * arguments.
 */
#ifndef API_MSG_DOMAIN_H
#define API_MSG_DOMAIN_H

#include "api/msg/msg.h"

/* Of a rank that is not the process's own. */
static inline bool msg_is_near(const struct msg_state *m, uint32_t rank)
{
	return __builtin_expect(m->domain != NULL, 0) &&
	       msg_node_of(m, rank) == m->node;
}

void msg_domain_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes);
void msg_domain_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done);
void msg_domain_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word);
/* ATOMIC_STORE_IF has a bound. */
int msg_domain_atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum atomic_op op, uint64_t operand, uint64_t bound, uint64_t *old);
/* A reduction over all ranks, if they all are on this node and its switch adds;
 * else ENOSYS.  root: WEFT_MSG_ANY for all. */
int msg_domain_reduce(struct msg_state *m, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);

/* Waits until none of its own transfers is under way. */
void msg_domain_close(struct msg_state *m);
/* Whether the domain is gone for good and the process has not been told; the
 * first also outside of the program. */
bool msg_domain_has_news(const struct msg_state *m);
void msg_domain_take_news(struct msg_state *m);

static inline void msg_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	if (msg_is_near(m, rank))
		msg_domain_put(m, rank, to, from, bytes, counter, done);
	else
		m->ops->put(m, rank, to, from, bytes, counter, done);
}

static inline void msg_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	if (msg_is_near(m, rank))
		msg_domain_get(m, rank, from, to, bytes, word);
	else
		m->ops->get(m, rank, from, to, bytes, word);
}

static inline void msg_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	if (msg_is_near(m, rank)) {
		msg_domain_put(
			m, rank, to, from, bytes, WEFT_MSG_NONE, arrived);
		*source = *arrived;
	} else {
		m->ops->deliver(m, rank, to, from, bytes, source, arrived);
	}
}

/* Both are also called for the process's own rank, if the machine has them. */
static inline int msg_atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old)
{
	if (msg_is_near(m, rank) && rank != m->rank)
		return msg_domain_atomic(
			m, rank, at, msg_atomic_op(op), operand, 0, old);
	return m->ops->atomic(m, rank, at, op, operand, old);
}

static inline int msg_swap_if(struct msg_state *m, uint32_t rank, uint64_t at,
	uint64_t is, uint64_t word, uint64_t *old)
{
	if (msg_is_near(m, rank) && rank != m->rank)
		return msg_domain_atomic(
			m, rank, at, ATOMIC_STORE_IF, word, is, old);
	return m->ops->swap_if(m, rank, at, is, word, old);
}

#endif
