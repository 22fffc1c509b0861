#include "inside/fi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Endpoints by their numbers: other ranks name them so. */
static struct endpoint *endpoints[FI_MOST_ENDPOINTS];

static struct endpoint *ep_of(struct fid *fid)
{
	return (struct endpoint *)fid;
}

/* --- operations under way --- */

static struct op *unused;

struct op *op_new(struct endpoint *ep, enum count count, void *context)
{
	struct op *op = unused;

	if (op)
		unused = op->next;
	else
		op = malloc(sizeof(*op));
	if (op)
		*op = (struct op){
			.ep = ep,
			.count = count,
			.context = context,
		};
	return op;
}

static void unlist(struct op *op)
{
	if (op->at) {
		*op->at = op->next;
		if (op->next)
			op->next->at = op->at;
	}
	op->at = NULL;
}

void op_free(struct op *op)
{
	unlist(op);
	op->next = unused;
	unused = op;
}

void op_list(struct op *op, struct op **list)
{
	op->next = *list;
	op->at = list;
	if (*list)
		(*list)->at = &op->next;
	*list = op;
}

ssize_t op_post(
	struct op *op, struct channel_command *c, unsigned n, const void *bytes)
{
	int error = weft_link_post(c, n, bytes);

	if (!error)
		return 0;
	if (op)
		op_free(op);
	return error == EAGAIN ? -FI_EAGAIN : -FI_ESHUTDOWN;
}

bool ep_reports(bool is_selective, uint64_t flags)
{
	return !is_selective || (flags & FI_COMPLETION);
}

/* --- completions --- */

static int error_of(const struct channel_completion *c, const struct op *op)
{
	bool is_message =
		c->kind == CHANNEL_RECEIVE && !(c->flags & CHANNEL_MULTI);

	if (c->error == EMSGSIZE)
		return FI_ETRUNC;
	if (!c->error && op && is_message && c->bytes > op->bytes)
		return FI_ETRUNC;
	return c->error;
}

static uint64_t flags_of(const struct channel_completion *c)
{
	uint64_t flags = 0;

	if (c->flags & CHANNEL_HAS_DATA)
		flags |= FI_REMOTE_CQ_DATA;
	if ((c->flags & CHANNEL_MULTI) && (c->flags & CHANNEL_RELEASED))
		flags |= FI_MULTI_RECV;
	return flags;
}

static bool is_receive(const struct channel_completion *c)
{
	return c->kind == CHANNEL_RECEIVE || c->kind == CHANNEL_PEEK;
}

static struct entry entry_of(const struct endpoint *ep, const struct op *op,
	const struct channel_completion *c)
{
	struct fi_address from = { .rank = c->rank,
		.endpoint = c->from_endpoint };
	struct entry e = { .error = error_of(c, op), .from = FI_ADDR_NOTAVAIL };

	e.tagged.op_context = op ? op->context : NULL;
	e.tagged.flags = op ? op->flags : 0;
	if (!is_receive(c))
		return e;
	e.tagged.flags |= flags_of(c);
	e.tagged.len = c->bytes;
	e.tagged.buf =
		c->flags & CHANNEL_MULTI ? (void *)(uintptr_t)c->at : op->buf;
	e.tagged.tag = c->tag;
	e.tagged.data = c->data;
	e.from = av_reverse(ep->av, from);
	if (e.error == FI_ETRUNC && c->bytes > op->bytes) {
		e.tagged.len = op->bytes;
		e.beyond = c->bytes - op->bytes;
	}
	return e;
}

static void count(struct counter *c, bool is_error)
{
	if (!c)
		return;
	if (is_error)
		c->n_errors++;
	else
		c->n++;
}

static void report(
	struct endpoint *ep, struct op *op, const struct channel_completion *c)
{
	struct queue *q = is_receive(c) ? ep->rx : ep->tx;
	struct entry e = entry_of(ep, op, c);

	if (op && c->kind != CHANNEL_PEEK)
		count(ep->counter[op->count], e.error != 0);
	if (q && (e.error || (op && op->is_reported)))
		cq_add(q, &e);
}

/* Another rank has been at this one's memory, and says so. */
static void on_remote(const struct channel_completion *c)
{
	struct endpoint *ep =
		c->endpoint < FI_MOST_ENDPOINTS ? endpoints[c->endpoint] : NULL;
	struct entry e = { .from = FI_ADDR_NOTAVAIL };
	bool is_read = c->kind == CHANNEL_READ;

	region_remote(c->tag, is_read ? FI_REMOTE_READ : FI_REMOTE_WRITE);
	if (!ep)
		return;
	count(ep->counter[is_read ? COUNT_REMOTE_READ : COUNT_REMOTE_WRITE],
		false);
	if (!(c->flags & CHANNEL_HAS_DATA) || !ep->rx)
		return;
	e.tagged.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
	e.tagged.len = c->bytes;
	e.tagged.data = c->data;
	cq_add(ep->rx, &e);
}

/* A message that was claimed is received later, by the same operation. */
static bool is_kept(struct op *op, const struct channel_completion *c)
{
	if (c->kind == CHANNEL_PEEK)
		return op->is_claimed && !c->error;
	return (c->flags & CHANNEL_MULTI) && !(c->flags & CHANNEL_RELEASED) &&
	       !c->error;
}

void ep_done(const struct channel_completion *c)
{
	struct op *op = (struct op *)(uintptr_t)c->context;
	struct endpoint *ep;

	if (c->flags & CHANNEL_REMOTE && c->kind != CHANNEL_REGISTER) {
		on_remote(c);
		return;
	}
	if (op && op->region) {
		region_done(op->region, c);
		op_free(op);
		return;
	}
	ep = op ? op->ep : endpoints[c->endpoint % FI_MOST_ENDPOINTS];
	if (ep)
		report(ep, op, c);
	if (op && !is_kept(op, c))
		op_free(op);
}

/* --- endpoints --- */

static ssize_t cancel(fid_t fid, void *context)
{
	struct endpoint *ep = ep_of(fid);
	struct channel_command c = {
		.kind = CHANNEL_CANCEL,
		.endpoint = ep->number,
	};
	struct op *op;

	weft_link_lock();
	for (op = ep->receives; op && op->context != context; op = op->next)
		continue;
	if (op) {
		c.context = (uintptr_t)op;
		weft_link_post(&c, 1, NULL);
	}
	weft_link_unlock();
	return op ? 0 : -FI_ENOENT;
}

static int get_option(
	fid_t fid, int level, int name, void *value, size_t *bytes)
{
	size_t n;

	if (level != FI_OPT_ENDPOINT)
		return -FI_ENOPROTOOPT;
	if (name == FI_OPT_MIN_MULTI_RECV)
		n = ep_of(fid)->min_multi;
	else if (name == FI_OPT_CM_DATA_SIZE)
		n = 0;
	else
		return -FI_ENOPROTOOPT;
	if (*bytes < sizeof(n))
		return -FI_ETOOSMALL;
	memcpy(value, &n, sizeof(n));
	*bytes = sizeof(n);
	return 0;
}

static int set_option(
	fid_t fid, int level, int name, const void *value, size_t bytes)
{
	if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV)
		return -FI_ENOPROTOOPT;
	if (bytes != sizeof(size_t))
		return -FI_EINVAL;
	memcpy(&ep_of(fid)->min_multi, value, bytes);
	return 0;
}

static int get_name(fid_t fid, void *to, size_t *bytes)
{
	const struct channel *c = weft_link_open();
	struct fi_address a = {
		.rank = c->rank,
		.endpoint = ep_of(fid)->number,
	};
	size_t room = *bytes;

	*bytes = sizeof(a);
	if (room < sizeof(a))
		return -FI_ETOOSMALL;
	memcpy(to, &a, sizeof(a));
	return 0;
}

static void bind_queue(struct endpoint *ep, struct queue *q, uint64_t flags)
{
	if (flags & FI_TRANSMIT) {
		ep->tx = q;
		ep->is_tx_selective = flags & FI_SELECTIVE_COMPLETION;
	}
	if (flags & FI_RECV) {
		ep->rx = q;
		ep->is_rx_selective = flags & FI_SELECTIVE_COMPLETION;
	}
}

static void bind_counter(struct endpoint *ep, struct counter *c, uint64_t flags)
{
	static const uint64_t what[N_COUNTS] = {
		[COUNT_SEND] = FI_SEND,
		[COUNT_RECV] = FI_RECV,
		[COUNT_READ] = FI_READ,
		[COUNT_WRITE] = FI_WRITE,
		[COUNT_REMOTE_READ] = FI_REMOTE_READ,
		[COUNT_REMOTE_WRITE] = FI_REMOTE_WRITE,
	};

	for (int i = 0; i < N_COUNTS; i++)
		if (flags & what[i])
			ep->counter[i] = c;
}

static int bind_ep(struct fid *fid, struct fid *other, uint64_t flags)
{
	struct endpoint *ep = ep_of(fid);

	switch (other->fclass) {
	case FI_CLASS_AV:
		ep->av = (struct addresses *)other;
		return 0;
	case FI_CLASS_CQ:
		bind_queue(ep, (struct queue *)other, flags);
		return 0;
	case FI_CLASS_CNTR:
		bind_counter(ep, (struct counter *)other, flags);
		return 0;
	case FI_CLASS_EQ:
		return 0;
	default:
		return -FI_EINVAL;
	}
}

static int set_flags(struct endpoint *ep, uint64_t flags)
{
	if (flags & FI_TRANSMIT)
		ep->tx_flags = flags & ~(FI_TRANSMIT | FI_RECV);
	else if (flags & FI_RECV)
		ep->rx_flags = flags & ~(FI_TRANSMIT | FI_RECV);
	else
		return -FI_EINVAL;
	return 0;
}

static int get_flags(const struct endpoint *ep, uint64_t *flags)
{
	if (*flags & FI_TRANSMIT)
		*flags = ep->tx_flags;
	else if (*flags & FI_RECV)
		*flags = ep->rx_flags;
	else
		return -FI_EINVAL;
	return 0;
}

static int control(struct fid *fid, int command, void *argument)
{
	struct endpoint *ep = ep_of(fid);

	switch (command) {
	case FI_ENABLE:
		return ep->av ? 0 : -FI_ENOAV;
	case FI_SETOPSFLAG:
		return set_flags(ep, *(uint64_t *)argument);
	case FI_GETOPSFLAG:
		return get_flags(ep, argument);
	default:
		return -FI_ENOSYS;
	}
}

/* What is under way is completed, and reported to nobody. */
static void disown(struct op *list, bool is_cancelled)
{
	for (struct op *op = list, *next; op; op = next) {
		struct channel_command c = {
			.kind = CHANNEL_CANCEL,
			.endpoint = op->ep->number,
			.context = (uintptr_t)op,
		};

		next = op->next;
		op->ep = NULL;
		op->at = NULL;
		if (is_cancelled)
			weft_link_post(&c, 1, NULL);
	}
}

static int close_ep(struct fid *fid)
{
	struct endpoint *ep = ep_of(fid);

	weft_link_lock();
	weft_link_flush();
	endpoints[ep->number] = NULL;
	disown(ep->receives, true);
	disown(ep->claimed, false);
	disown(ep->others, false);
	weft_link_unlock();
	free(ep);
	return 0;
}

static struct fi_ops fid_ops = FI_TABLE(close_ep, bind_ep, control);

static struct fi_ops_ep ops = {
	.size = sizeof(struct fi_ops_ep),
	.cancel = cancel,
	.getopt = get_option,
	.setopt = set_option,
	.tx_ctx = none_tx_context,
	.rx_ctx = none_rx_context,
	.rx_size_left = none_size_left,
	.tx_size_left = none_size_left,
};

/* From the first on for tagged messages, from the last on for others: that of
 * MPI's messages is 0, which networks may have a short form for. */
static int new_number(struct endpoint *ep)
{
	static int next[2];
	bool is_tagged = ep->caps & FI_TAGGED;

	for (int i = 0; i < FI_MOST_ENDPOINTS; i++) {
		int turn = (next[is_tagged] + i) % FI_MOST_ENDPOINTS;
		int number = is_tagged ? turn : FI_MOST_ENDPOINTS - 1 - turn;

		if (!endpoints[number]) {
			next[is_tagged] = turn + 1;
			endpoints[number] = ep;
			ep->number = (uint16_t)number;
			return 0;
		}
	}
	return -FI_EMFILE;
}

static void set_tables(struct endpoint *ep, void *context)
{
	none_cm.getname = get_name;
	ep->fid = (struct fid_ep){
		.fid = { .fclass = FI_CLASS_EP,
			.context = context,
			.ops = &fid_ops },
		.ops = &ops,
		.cm = &none_cm,
		.msg = &msg_ops,
		.rma = &rma_ops,
		.tagged = &tagged_ops,
		.atomic = &atomic_ops,
		.collective = &none_collective,
	};
}

int ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **to,
	void *context)
{
	struct endpoint *ep;

	if (!info || !weft_link_open())
		return info ? -FI_ENODEV : -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->caps = info->caps;
	if (new_number(ep) < 0) {
		free(ep);
		return -FI_EMFILE;
	}
	set_tables(ep, context);
	ep->tx_flags = info->tx_attr ? info->tx_attr->op_flags : 0;
	ep->rx_flags = info->rx_attr ? info->rx_attr->op_flags : 0;
	ep->min_multi = 64;
	*to = &ep->fid;
	return 0;
}
