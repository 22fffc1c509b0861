#include "inside/fi.h"

#include <string.h>

/* Messages, tagged and not: all forms of libfabric become one send and one
 * receive. */

/* --- buffers --- */

static size_t sum(const struct iovec *iov, size_t n)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += iov[i].iov_len;
	return bytes;
}

static void gather(char *to, const struct iovec *iov, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (iov[i].iov_len > 0)
			memcpy(to, iov[i].iov_base, iov[i].iov_len);
		to += iov[i].iov_len;
	}
}

/* Pieces as the simulator reads them: address, length. */
_Static_assert(sizeof(struct iovec) == 16, "pieces of a vector");

static void add_vector(struct message *m, const struct iovec *iov, size_t n)
{
	m->command[m->n++] = (struct channel_command){
		.kind = CHANNEL_VECTOR_OF,
		.n = (uint16_t)n,
		.bytes = n * sizeof(*iov),
	};
	memcpy(m->gathered, iov, n * sizeof(*iov));
	m->bytes = m->gathered;
}

struct channel_command *message_init(
	struct message *m, const struct iovec *iov, size_t n, bool is_source)
{
	size_t bytes = sum(iov, n);
	struct channel_command *c;

	m->n = 0;
	m->bytes = NULL;
	if (n > CHANNEL_VECTOR)
		return NULL;
	if (is_source && bytes <= CHANNEL_SHORT && n > 1) {
		gather(m->gathered, iov, n);
		m->bytes = m->gathered;
	} else if (is_source && bytes <= CHANNEL_SHORT && bytes > 0) {
		m->bytes = iov->iov_base;
	} else if (n > 1) {
		add_vector(m, iov, n);
	}
	c = &m->command[m->n++];
	*c = (struct channel_command){ .bytes = bytes };
	c->at = n == 1 ? (uintptr_t)iov->iov_base : 0;
	return c;
}

/* --- send --- */

struct sending {
	fi_addr_t to;
	uint64_t tag, data;
	void *context;
	uint64_t flags; /* of the operation */
	uint16_t kind; /* flags of the command */
	bool is_silent; /* an inject: nobody hears of its end */
};

static uint16_t when_complete(uint64_t flags)
{
	if (flags & FI_MATCH_COMPLETE)
		return CHANNEL_SYNC;
	return flags & FI_DELIVERY_COMPLETE ? CHANNEL_DELIVERED : 0;
}

/* An operation that nobody hears of needs no record. */
static struct op *sending_op(struct endpoint *ep, const struct sending *s)
{
	struct op *op;

	if (s->is_silent && !ep->counter[COUNT_SEND])
		return NULL;
	op = op_new(ep, COUNT_SEND, s->context);
	if (!op)
		return NULL;
	op->flags = FI_SEND | (s->kind & CHANNEL_TAGGED ? FI_TAGGED : FI_MSG);
	op->is_reported =
		!s->is_silent && ep_reports(ep->is_tx_selective, s->flags);
	op_list(op, &ep->others);
	return op;
}

static ssize_t send_locked(struct endpoint *ep, const struct iovec *iov,
	size_t n, const struct sending *s)
{
	struct message m;
	struct channel_command *c = message_init(&m, iov, n, true);
	struct fi_address to;
	struct op *op;

	if (!c || !av_find(ep->av, s->to, &to))
		return -FI_EINVAL;
	if (s->flags & FI_INJECT && c->bytes > CHANNEL_SHORT)
		return -FI_EINVAL;
	op = sending_op(ep, s);
	c->kind = CHANNEL_SEND;
	c->flags =
		s->kind | when_complete(s->flags) | (op ? 0 : CHANNEL_SILENT);
	c->endpoint = ep->number;
	c->rank = to.rank;
	c->to = to.endpoint;
	c->tag = s->tag;
	c->data = s->data;
	c->context = (uintptr_t)op;
	return op_post(op, m.command, m.n, m.bytes);
}

static ssize_t send_any(struct fid_ep *fid, const struct iovec *iov, size_t n,
	const struct sending *s)
{
	ssize_t answer;

	weft_link_lock();
	answer = send_locked((struct endpoint *)fid, iov, n, s);
	weft_link_unlock();
	return answer;
}

static uint64_t tx_flags(struct fid_ep *fid)
{
	return ((struct endpoint *)fid)->tx_flags;
}

/* --- receive --- */

struct receiving {
	fi_addr_t from;
	uint64_t tag, ignore;
	void *context;
	uint64_t flags;
	uint16_t kind;
};

static struct op *find_claimed(struct endpoint *ep, void *context)
{
	struct op *op = ep->claimed;

	while (op && op->context != context)
		op = op->next;
	return op;
}

/* A peek that claims keeps its record until the message is received. */
static struct op *receiving_op(struct endpoint *ep, const struct receiving *r)
{
	bool is_peek = r->flags & FI_PEEK, is_claim = r->flags & FI_CLAIM;
	struct op *op;

	if (is_claim && !is_peek) {
		op = find_claimed(ep, r->context);
	} else {
		op = op_new(ep, COUNT_RECV, r->context);
		if (op && is_claim)
			op_list(op, &ep->claimed);
		else if (op)
			op_list(op, is_peek ? &ep->others : &ep->receives);
	}
	if (!op)
		return NULL;
	op->is_claimed = is_peek && is_claim;
	op->flags = FI_RECV | (r->kind & CHANNEL_TAGGED ? FI_TAGGED : FI_MSG);
	op->is_reported = is_peek || ep_reports(ep->is_rx_selective, r->flags);
	return op;
}

static uint16_t receive_flags(const struct receiving *r)
{
	uint16_t flags = r->kind;

	if (r->flags & FI_CLAIM)
		flags |= CHANNEL_CLAIM;
	if (r->flags & FI_DISCARD)
		flags |= CHANNEL_DISCARD;
	if (r->flags & FI_MULTI_RECV)
		flags |= CHANNEL_MULTI;
	/* MPI_Probe() peeks until there is one: it waits for that. */
	if (r->flags & FI_PEEK && weft_link_is_blocking())
		flags |= CHANNEL_LASTS;
	return flags;
}

static bool set_source(
	const struct endpoint *ep, struct channel_command *c, fi_addr_t from)
{
	struct fi_address a = { .rank = CHANNEL_ANY };

	if (ep->caps & FI_DIRECTED_RECV && from != FI_ADDR_UNSPEC &&
		!av_find(ep->av, from, &a))
		return false;
	c->rank = a.rank;
	c->to = a.endpoint;
	return true;
}

static ssize_t receive_locked(struct endpoint *ep, const struct iovec *iov,
	size_t n, const struct receiving *r)
{
	struct message m;
	struct channel_command *c = message_init(&m, iov, n, false);
	struct op *op;

	if (!c || !set_source(ep, c, r->from))
		return -FI_EINVAL;
	op = receiving_op(ep, r);
	if (!op)
		return r->flags & FI_CLAIM ? -FI_EINVAL : -FI_EAGAIN;
	op->buf = n > 0 ? iov->iov_base : NULL;
	op->bytes = c->bytes;
	c->kind = r->flags & FI_PEEK ? CHANNEL_PEEK : CHANNEL_RECEIVE;
	c->flags = receive_flags(r);
	c->endpoint = ep->number;
	c->tag = r->flags & FI_MULTI_RECV ? ep->min_multi : r->tag;
	c->ignore = r->ignore;
	c->context = (uintptr_t)op;
	return op_post(op, m.command, m.n, m.bytes);
}

static ssize_t receive_any(struct fid_ep *fid, const struct iovec *iov,
	size_t n, const struct receiving *r)
{
	ssize_t answer;

	weft_link_lock();
	answer = receive_locked((struct endpoint *)fid, iov, n, r);
	weft_link_unlock();
	return answer;
}

static uint64_t rx_flags(struct fid_ep *fid)
{
	return ((struct endpoint *)fid)->rx_flags;
}

/* --- tagged --- */

static ssize_t trecvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	return receive_any(ep, iov, n,
		&(struct receiving){ .from = from,
			.tag = tag,
			.ignore = ignore,
			.context = context,
			.flags = rx_flags(ep) & ~FI_MULTI_RECV,
			.kind = CHANNEL_TAGGED });
}

static ssize_t trecv(struct fid_ep *ep, void *buf, size_t bytes, void *desc,
	fi_addr_t from, uint64_t tag, uint64_t ignore, void *context)
{
	struct iovec iov = { buf, bytes };

	return trecvv(ep, &iov, &desc, 1, from, tag, ignore, context);
}

static ssize_t trecvmsg(
	struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
	return receive_any(ep, m->msg_iov, m->iov_count,
		&(struct receiving){ .from = m->addr,
			.tag = m->tag,
			.ignore = m->ignore,
			.context = m->context,
			.flags = flags & ~FI_MULTI_RECV,
			.kind = CHANNEL_TAGGED });
}

static ssize_t tsendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t to, uint64_t tag, void *context)
{
	return send_any(ep, iov, n,
		&(struct sending){ .to = to,
			.tag = tag,
			.context = context,
			.flags = tx_flags(ep),
			.kind = CHANNEL_TAGGED });
}

static ssize_t tsend(struct fid_ep *ep, const void *buf, size_t bytes,
	void *desc, fi_addr_t to, uint64_t tag, void *context)
{
	struct iovec iov = { (void *)buf, bytes };

	return tsendv(ep, &iov, &desc, 1, to, tag, context);
}

static uint16_t data_flag(uint64_t flags)
{
	return flags & FI_REMOTE_CQ_DATA ? CHANNEL_HAS_DATA : 0;
}

static ssize_t tsendmsg(
	struct fid_ep *ep, const struct fi_msg_tagged *m, uint64_t flags)
{
	return send_any(ep, m->msg_iov, m->iov_count,
		&(struct sending){ .to = m->addr,
			.tag = m->tag,
			.data = m->data,
			.context = m->context,
			.flags = flags,
			.kind = CHANNEL_TAGGED | data_flag(flags) });
}

static ssize_t tsenddata(struct fid_ep *ep, const void *buf, size_t bytes,
	void *desc, uint64_t data, fi_addr_t to, uint64_t tag, void *context)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){ .to = to,
			.tag = tag,
			.data = data,
			.context = context,
			.flags = tx_flags(ep),
			.kind = CHANNEL_TAGGED | CHANNEL_HAS_DATA });
}

static ssize_t tinject(struct fid_ep *ep, const void *buf, size_t bytes,
	fi_addr_t to, uint64_t tag)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){ .to = to,
			.tag = tag,
			.flags = FI_INJECT,
			.is_silent = true,
			.kind = CHANNEL_TAGGED });
}

static ssize_t tinjectdata(struct fid_ep *ep, const void *buf, size_t bytes,
	uint64_t data, fi_addr_t to, uint64_t tag)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){ .to = to,
			.tag = tag,
			.data = data,
			.flags = FI_INJECT,
			.is_silent = true,
			.kind = CHANNEL_TAGGED | CHANNEL_HAS_DATA });
}

struct fi_ops_tagged tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = trecv,
	.recvv = trecvv,
	.recvmsg = trecvmsg,
	.send = tsend,
	.sendv = tsendv,
	.sendmsg = tsendmsg,
	.inject = tinject,
	.senddata = tsenddata,
	.injectdata = tinjectdata,
};

/* --- without tags: every receive fits --- */

static ssize_t mrecvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t from, void *context)
{
	return receive_any(ep, iov, n,
		&(struct receiving){ .from = from,
			.ignore = UINT64_MAX,
			.context = context,
			.flags = rx_flags(ep) });
}

static ssize_t mrecv(struct fid_ep *ep, void *buf, size_t bytes, void *desc,
	fi_addr_t from, void *context)
{
	struct iovec iov = { buf, bytes };

	return mrecvv(ep, &iov, &desc, 1, from, context);
}

static ssize_t mrecvmsg(
	struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
	return receive_any(ep, m->msg_iov, m->iov_count,
		&(struct receiving){ .from = m->addr,
			.ignore = UINT64_MAX,
			.context = m->context,
			.flags = flags });
}

static ssize_t msendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t to, void *context)
{
	return send_any(ep, iov, n,
		&(struct sending){
			.to = to, .context = context, .flags = tx_flags(ep) });
}

static ssize_t msend(struct fid_ep *ep, const void *buf, size_t bytes,
	void *desc, fi_addr_t to, void *context)
{
	struct iovec iov = { (void *)buf, bytes };

	return msendv(ep, &iov, &desc, 1, to, context);
}

static ssize_t msendmsg(
	struct fid_ep *ep, const struct fi_msg *m, uint64_t flags)
{
	return send_any(ep, m->msg_iov, m->iov_count,
		&(struct sending){ .to = m->addr,
			.data = m->data,
			.context = m->context,
			.flags = flags,
			.kind = data_flag(flags) });
}

static ssize_t msenddata(struct fid_ep *ep, const void *buf, size_t bytes,
	void *desc, uint64_t data, fi_addr_t to, void *context)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){ .to = to,
			.data = data,
			.context = context,
			.flags = tx_flags(ep),
			.kind = CHANNEL_HAS_DATA });
}

static ssize_t inject(
	struct fid_ep *ep, const void *buf, size_t bytes, fi_addr_t to)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){
			.to = to, .flags = FI_INJECT, .is_silent = true });
}

static ssize_t injectdata(struct fid_ep *ep, const void *buf, size_t bytes,
	uint64_t data, fi_addr_t to)
{
	return send_any(ep, &(struct iovec){ (void *)buf, bytes }, 1,
		&(struct sending){ .to = to,
			.data = data,
			.flags = FI_INJECT,
			.is_silent = true,
			.kind = CHANNEL_HAS_DATA });
}

struct fi_ops_msg msg_ops = {
	.size = sizeof(struct fi_ops_msg),
	.recv = mrecv,
	.recvv = mrecvv,
	.recvmsg = mrecvmsg,
	.send = msend,
	.sendv = msendv,
	.sendmsg = msendmsg,
	.inject = inject,
	.senddata = msenddata,
	.injectdata = injectdata,
};
