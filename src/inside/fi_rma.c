#include "inside/fi.h"

#include <string.h>

/* Puts, gets and atomics: keys, bounds and rights are checked where the memory
 * is. */

struct remote {
	fi_addr_t rank;
	uint64_t at, key, data;
	void *context;
	uint64_t flags;
	bool is_silent, has_data;
};

static struct endpoint *ep_of(struct fid_ep *fid)
{
	return (struct endpoint *)fid;
}

/* --- common to all --- */

static struct op *remote_op(struct endpoint *ep, enum count count,
	const struct remote *r, uint64_t flags)
{
	struct op *op;

	if (r->is_silent && !ep->counter[count])
		return NULL;
	op = op_new(ep, count, r->context);
	if (!op)
		return NULL;
	op->flags = flags;
	op->is_reported =
		!r->is_silent && ep_reports(ep->is_tx_selective, r->flags);
	op_list(op, &ep->others);
	return op;
}

static bool set_remote(const struct endpoint *ep, struct channel_command *c,
	const struct remote *r)
{
	struct fi_address to;

	if (!av_find(ep->av, r->rank, &to))
		return false;
	c->endpoint = ep->number;
	c->rank = to.rank;
	c->to = to.endpoint;
	c->tag = r->at;
	c->ignore = r->key;
	c->data = r->data;
	if (r->has_data)
		c->flags |= CHANNEL_HAS_DATA;
	if (r->flags & FI_DELIVERY_COMPLETE)
		c->flags |= CHANNEL_DELIVERED;
	return true;
}

static ssize_t post(struct op *op, struct channel_command *c, struct message *m)
{
	c->context = (uintptr_t)op;
	if (!op)
		c->flags |= CHANNEL_SILENT;
	return op_post(op, m->command, m->n, m->bytes);
}

/* --- puts and gets --- */

static ssize_t transfer_locked(struct endpoint *ep, enum channel_kind kind,
	const struct iovec *iov, size_t n, const struct remote *r)
{
	bool is_write = kind == CHANNEL_WRITE;
	struct message m;
	struct channel_command *c = message_init(&m, iov, n, is_write);

	if (!c || !set_remote(ep, c, r))
		return -FI_EINVAL;
	if (r->flags & FI_INJECT && c->bytes > CHANNEL_SHORT)
		return -FI_EINVAL;
	c->kind = (uint16_t)kind;
	return post(remote_op(ep, is_write ? COUNT_WRITE : COUNT_READ, r,
			    FI_RMA | (is_write ? FI_WRITE : FI_READ)),
		c, &m);
}

static ssize_t transfer(struct fid_ep *fid, enum channel_kind kind,
	const struct iovec *iov, size_t n, const struct remote *r)
{
	ssize_t answer;

	weft_link_lock();
	answer = transfer_locked(ep_of(fid), kind, iov, n, r);
	weft_link_unlock();
	return answer;
}

static ssize_t getv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t from, uint64_t at, uint64_t key, void *context)
{
	return transfer(ep, CHANNEL_READ, iov, n,
		&(struct remote){ .rank = from,
			.at = at,
			.key = key,
			.context = context,
			.flags = ep_of(ep)->tx_flags });
}

static ssize_t get(struct fid_ep *ep, void *buf, size_t bytes, void *desc,
	fi_addr_t from, uint64_t at, uint64_t key, void *context)
{
	struct iovec iov = { buf, bytes };

	return getv(ep, &iov, &desc, 1, from, at, key, context);
}

/* Of several pieces of remote memory there is only one.  What is read brings no
 * data. */
static ssize_t by_message(struct fid_ep *ep, enum channel_kind kind,
	const struct fi_msg_rma *m, uint64_t flags)
{
	if (m->rma_iov_count != 1)
		return -FI_EINVAL;
	return transfer(ep, kind, m->msg_iov, m->iov_count,
		&(struct remote){ .rank = m->addr,
			.at = m->rma_iov->addr,
			.key = m->rma_iov->key,
			.data = kind == CHANNEL_WRITE ? m->data : 0,
			.context = m->context,
			.flags = flags,
			.has_data = kind == CHANNEL_WRITE &&
				    flags & FI_REMOTE_CQ_DATA });
}

static ssize_t getmsg(
	struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
	return by_message(ep, CHANNEL_READ, m, flags);
}

static ssize_t putv(struct fid_ep *ep, const struct iovec *iov, void **desc,
	size_t n, fi_addr_t to, uint64_t at, uint64_t key, void *context)
{
	return transfer(ep, CHANNEL_WRITE, iov, n,
		&(struct remote){ .rank = to,
			.at = at,
			.key = key,
			.context = context,
			.flags = ep_of(ep)->tx_flags });
}

static ssize_t put(struct fid_ep *ep, const void *buf, size_t bytes, void *desc,
	fi_addr_t to, uint64_t at, uint64_t key, void *context)
{
	struct iovec iov = { (void *)buf, bytes };

	return putv(ep, &iov, &desc, 1, to, at, key, context);
}

static ssize_t putmsg(
	struct fid_ep *ep, const struct fi_msg_rma *m, uint64_t flags)
{
	return by_message(ep, CHANNEL_WRITE, m, flags);
}

static ssize_t inject(struct fid_ep *ep, const void *buf, size_t bytes,
	fi_addr_t to, uint64_t at, uint64_t key)
{
	return transfer(ep, CHANNEL_WRITE,
		&(struct iovec){ (void *)buf, bytes }, 1,
		&(struct remote){ .rank = to,
			.at = at,
			.key = key,
			.flags = FI_INJECT,
			.is_silent = true });
}

static ssize_t putdata(struct fid_ep *ep, const void *buf, size_t bytes,
	void *desc, uint64_t data, fi_addr_t to, uint64_t at, uint64_t key,
	void *context)
{
	return transfer(ep, CHANNEL_WRITE,
		&(struct iovec){ (void *)buf, bytes }, 1,
		&(struct remote){ .rank = to,
			.at = at,
			.key = key,
			.data = data,
			.context = context,
			.flags = ep_of(ep)->tx_flags,
			.has_data = true });
}

static ssize_t injectdata(struct fid_ep *ep, const void *buf, size_t bytes,
	uint64_t data, fi_addr_t to, uint64_t at, uint64_t key)
{
	return transfer(ep, CHANNEL_WRITE,
		&(struct iovec){ (void *)buf, bytes }, 1,
		&(struct remote){ .rank = to,
			.at = at,
			.key = key,
			.data = data,
			.flags = FI_INJECT,
			.is_silent = true,
			.has_data = true });
}

struct fi_ops_rma rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = get,
	.readv = getv,
	.readmsg = getmsg,
	.write = put,
	.writev = putv,
	.writemsg = putmsg,
	.inject = inject,
	.writedata = putdata,
	.injectdata = injectdata,
};
