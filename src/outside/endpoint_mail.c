/*
 * What endpoints say to each other, by messages of a space of their own: that
 * something was done to a rank's memory, and what is to be done there.
 *
 * Whoever has registered memory receives such messages, a few at a time.  They
 * are handled in the rank's calls.  An answer goes to a receive that was posted
 * for it, so it needs nothing of what requests may use up.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "outside/endpoint_op.h"

/* Tags. */
#define MAIL	UINT64_C(1)
#define ANSWERS (UINT64_C(1) << 32) /* and the number of the operation */

/* --- out --- */

static struct msg_tagged_entry entry_of(
	uint32_t i, uint32_t rank, uint64_t tag, uint64_t at, uint64_t bytes)
{
	return (struct msg_tagged_entry){
		.tag = tag,
		.rank = rank,
		.space = ENDPOINT_SPACE,
		.at = at,
		.bytes = bytes,
		.context = endpoint_context(i),
	};
}

/* A message with a stage of its own, or no operation. */
static uint32_t take_out(struct endpoint *e, uint32_t rank, uint32_t spare)
{
	const struct channel_command c = { .kind = ENDPOINT_OUT, .rank = rank };
	uint32_t i = endpoint_take_op(e, &c);

	if (endpoint_take_stage(e, i, spare))
		return i;
	endpoint_give_op(e, i);
	return ENDPOINT_NO_OP;
}

static void write_part(uint64_t at, const void *bytes, uint64_t n)
{
	if (n)
		program_write(at, bytes, n);
}

bool endpoint_say(struct endpoint *e, uint32_t i, enum endpoint_mail_kind kind,
	const void *more, uint64_t bytes)
{
	const struct endpoint_op *x = &e->op[i];
	const struct endpoint_mail m = {
		.kind = (uint16_t)kind,
		.command = x->c.kind,
		.flags = x->c.flags,
		.op = x->c.op,
		.from_endpoint = x->c.endpoint,
		.endpoint = x->c.to,
		.is_fetched = x->result != 0,
		.has_comparands = bytes > x->c.bytes,
		.answer = i,
		.tells = x->tells,
		.key = x->c.ignore,
		.data = x->c.data,
		.at = x->there,
		.bytes = x->c.bytes,
	};
	uint32_t out;

	if (x->c.rank == endpoint_msg(e)->rank) {
		endpoint_tell(e, &m, x->c.rank);
		return true;
	}
	out = take_out(e, x->c.rank, ENDPOINT_FOR_ANSWERS);
	if (out == ENDPOINT_NO_OP)
		return false;
	write_part(e->op[out].at, &m, sizeof(m));
	write_part(e->op[out].at + sizeof(m), more, bytes);
	e->op[out].c.bytes = sizeof(m) + bytes;
	e->op[out].c.tag = MAIL;
	e->n_sends++;
	if (!endpoint_send_out(e, out))
		endpoint_activate(e, out);
	return true;
}

bool endpoint_send_out(struct endpoint *e, uint32_t i)
{
	struct msg_state *m = endpoint_msg(e);
	const struct channel_command *c = &e->op[i].c;
	struct msg_tagged_entry x =
		entry_of(i, c->rank, c->tag, e->op[i].at, c->bytes);
	bool is_over = false;
	int code;

	x.data = c->data;
	x.flags = MSG_TAGGED_DATA;
	x.called = -1;
	code = m->tagged->send(m, &x, &is_over);
	BUG_IF(code && code != EAGAIN);
	if (is_over)
		endpoint_on_sent(e, i);
	return !code;
}

void endpoint_on_sent(struct endpoint *e, uint32_t i)
{
	e->n_sends--;
	endpoint_give_op(e, i);
}

/* --- answers --- */

int endpoint_expect_answer(struct endpoint *e, uint32_t i)
{
	struct msg_state *m = endpoint_msg(e);
	const struct endpoint_op *x = &e->op[i];
	const struct msg_tagged_entry r = entry_of(i, x->c.rank, ANSWERS | i,
		x->result ? x->at : e->coll, x->result);

	return m->tagged->receive(m, &r);
}

bool endpoint_send_answer(struct endpoint *e, uint32_t rank, uint32_t answer,
	int error, const void *bytes, uint64_t n)
{
	uint32_t i = take_out(e, rank, 0);

	if (i == ENDPOINT_NO_OP)
		return false;
	write_part(e->op[i].at, bytes, n);
	e->op[i].c.bytes = n;
	e->op[i].c.tag = ANSWERS | answer;
	e->op[i].c.data = (uint64_t)error;
	e->n_sends++;
	if (!endpoint_send_out(e, i))
		endpoint_activate(e, i);
	return true;
}

bool endpoint_has_answer_room(const struct endpoint *e)
{
	return e->free_stages[0] || e->free_stages[1];
}

/* --- in --- */

void endpoint_tell(
	struct endpoint *e, const struct endpoint_mail *m, uint32_t rank)
{
	const struct channel_completion c = {
		.kind = m->command,
		.flags = (uint16_t)(CHANNEL_REMOTE |
				    (m->flags & CHANNEL_HAS_DATA)),
		.endpoint = m->endpoint,
		.from_endpoint = m->from_endpoint,
		.rank = rank,
		.bytes = m->bytes,
		.tag = m->key,
		.data = m->data,
	};

	endpoint_complete(e, &c, 0);
}

bool endpoint_post_mail(struct endpoint *e, uint32_t i)
{
	struct msg_state *m = endpoint_msg(e);
	const struct msg_tagged_entry r =
		entry_of(i, MSG_TAGGED_ANY, MAIL, e->op[i].at, ENDPOINT_STAGE);
	int code = m->tagged->receive(m, &r);

	BUG_IF(code && code != EAGAIN);
	return !code;
}

static void post_soon(struct endpoint *e, uint32_t i)
{
	if (!endpoint_post_mail(e, i))
		endpoint_activate(e, i);
}

/* Whether it is done with. */
static bool handle(struct endpoint *e, uint32_t i)
{
	const struct endpoint_op *x = &e->op[i];
	uint32_t rank = x->c.rank;
	struct endpoint_mail m;

	if (x->c.bytes < sizeof(m) || !program_read(x->at, &m, sizeof(m)) ||
		m.bytes > CHANNEL_SHORT)
		return true;
	if (m.kind == MAIL_ATOMIC)
		return endpoint_answer(e, rank, &m, x->at + sizeof(m));
	endpoint_tell(e, &m, rank);
	return true;
}

void endpoint_on_mail(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end)
{
	if (end->error == ECANCELED) {
		endpoint_give_op(e, i);
		return;
	}
	e->op[i].c.rank = end->rank;
	e->op[i].c.bytes = end->bytes;
	/* in order */
	e->unserved =
		mem_more(e->unserved, e->n_unserved, sizeof(*e->unserved));
	e->unserved[e->n_unserved++] = i;
}

bool endpoint_serve(struct endpoint *e)
{
	uint32_t n = 0;

	while (n < e->n_unserved && handle(e, e->unserved[n]))
		post_soon(e, e->unserved[n++]);
	e->n_unserved -= n;
	if (e->n_unserved)
		memmove(e->unserved, e->unserved + n,
			e->n_unserved * sizeof(*e->unserved));
	return n;
}

/* --- life --- */

void endpoint_open_mail(struct endpoint *e)
{
	const struct channel_command c = { .kind = ENDPOINT_MAIL };

	if (e->has_mail)
		return;
	e->has_mail = true;
	for (uint32_t k = 0; k < ENDPOINT_MAILS; k++) {
		uint32_t i = endpoint_take_op(e, &c);

		e->op[i].at = e->stages +
			      (uint64_t)(ENDPOINT_STAGES + k) * ENDPOINT_STAGE;
		post_soon(e, i);
	}
}

void endpoint_close_mail(struct endpoint *e)
{
	struct msg_state *m = endpoint_msg(e);

	for (uint32_t i = 0; i < e->room; i++)
		if (e->op[i].is_used && e->op[i].c.kind == ENDPOINT_MAIL)
			m->tagged->cancel(m, endpoint_context(i));
	e->has_mail = false;
}
