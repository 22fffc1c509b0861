#include "inside/fi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Fabric, domain, event queues and regions of memory. */

/* --- regions --- */

static struct region *regions;

void region_remote(uint64_t key, uint64_t what)
{
	for (struct region *r = regions; r; r = r->next)
		if (r->fid.key == key && r->counter && r->counted & what)
			r->counter->n++;
}

static void unlist(struct region *r)
{
	struct region **at = &regions;

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
}

void region_done(struct region *r, const struct channel_completion *c)
{
	r->is_done = true;
	r->error = c->error;
	r->fid.key = c->data;
}

static int close_region(struct fid *fid)
{
	struct region *r = (struct region *)fid;
	struct channel_command c = {
		.kind = CHANNEL_UNREGISTER,
		.flags = CHANNEL_SILENT,
		.ignore = r->fid.key,
	};

	weft_link_lock();
	unlist(r);
	weft_link_post(&c, 1, NULL);
	weft_link_unlock();
	free(r);
	return 0;
}

static int bind_region(struct fid *fid, struct fid *other, uint64_t flags)
{
	const uint64_t all = FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct region *r = (struct region *)fid;

	if (other->fclass == FI_CLASS_CNTR) {
		r->counter = (struct counter *)other;
		r->counted = flags & all ? flags & all : all;
	}
	return other->fclass == FI_CLASS_CNTR || other->fclass == FI_CLASS_EP
		       ? 0
		       : -FI_EINVAL;
}

static int control_region(struct fid *fid, int command, void *argument)
{
	return command == FI_ENABLE ? 0 : -FI_ENOSYS;
}

static struct fi_ops region_ops =
	FI_TABLE(close_region, bind_region, control_region);

/* The key is the simulator's, so it takes a crossing. */
static int ask_for_key(struct region *r, struct channel_command *c)
{
	struct op *op = op_new(NULL, COUNT_SEND, NULL);

	if (!op)
		return -FI_ENOMEM;
	op->region = r;
	c->context = (uintptr_t)op;
	if (op_post(op, c, 1, NULL) < 0)
		return -FI_EAGAIN;
	weft_link_flush();
	if (!r->is_done)
		return -FI_EAGAIN;
	return -r->error;
}

static int register_locked(
	const struct domain *d, const struct fi_mr_attr *a, struct region *r)
{
	bool is_virtual = d->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC);
	bool is_ours = d->mr_mode & (FI_MR_PROV_KEY | FI_MR_BASIC);
	struct channel_command c = {
		.kind = CHANNEL_REGISTER,
		.flags = (uint16_t)((is_ours ? 0 : CHANNEL_HAS_DATA) |
				    (d->has_events ? CHANNEL_REMOTE : 0)),
		.at = (uintptr_t)a->mr_iov->iov_base,
		.bytes = a->mr_iov->iov_len,
		.tag = is_virtual ? (uintptr_t)a->mr_iov->iov_base : a->offset,
		.ignore = a->access,
		.data = a->requested_key,
	};

	return ask_for_key(r, &c);
}

static int register_attr(struct fid *fid, const struct fi_mr_attr *attr,
	uint64_t flags, struct fid_mr **to)
{
	struct region *r;
	int error;

	if (attr->iov_count != 1)
		return -FI_EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -FI_ENOMEM;
	r->fid.fid.fclass = FI_CLASS_MR;
	r->fid.fid.context = attr->context;
	r->fid.fid.ops = &region_ops;
	r->fid.mem_desc = r;
	weft_link_lock();
	error = register_locked((struct domain *)fid, attr, r);
	if (!error) {
		r->next = regions;
		regions = r;
	}
	weft_link_unlock();
	if (error)
		free(r);
	else
		*to = &r->fid;
	return error;
}

static int register_vector(struct fid *fid, const struct iovec *iov, size_t n,
	uint64_t access, uint64_t offset, uint64_t key, uint64_t flags,
	struct fid_mr **to, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = n,
		.access = access,
		.offset = offset,
		.requested_key = key,
		.context = context,
	};

	return register_attr(fid, &attr, flags, to);
}

static int register_one(struct fid *fid, const void *buf, size_t bytes,
	uint64_t access, uint64_t offset, uint64_t key, uint64_t flags,
	struct fid_mr **to, void *context)
{
	struct iovec iov = { (void *)buf, bytes };

	return register_vector(
		fid, &iov, 1, access, offset, key, flags, to, context);
}

static struct fi_ops_mr mr_ops = {
	.size = sizeof(struct fi_ops_mr),
	.reg = register_one,
	.regv = register_vector,
	.regattr = register_attr,
};

/* --- domains --- */

static int close_one(struct fid *fid)
{
	free(fid);
	return 0;
}

/* Event queues have nothing to tell of a domain. */
static int bind_domain(struct fid *fid, struct fid *other, uint64_t flags)
{
	return other->fclass == FI_CLASS_EQ ? 0 : -FI_EINVAL;
}

static int endpoint2(struct fid_domain *domain, struct fi_info *info,
	struct fid_ep **ep, uint64_t flags, void *context)
{
	return flags ? -FI_ENOSYS : ep_open(domain, info, ep, context);
}

static struct fi_ops domain_fid_ops =
	FI_TABLE(close_one, bind_domain, none_control);

static struct fi_ops_domain domain_ops = {
	.size = sizeof(struct fi_ops_domain),
	.av_open = av_open,
	.cq_open = cq_open,
	.endpoint = ep_open,
	.scalable_ep = none_scalable,
	.cntr_open = cntr_open,
	.poll_open = none_poll,
	.stx_ctx = none_stx,
	.srx_ctx = none_srx,
	.query_atomic = atomic_query,
	.query_collective = none_query_collective,
	.endpoint2 = endpoint2,
};

static int domain_open(struct fid_fabric *fabric, struct fi_info *info,
	struct fid_domain **to, void *context)
{
	struct domain *d;

	weft_link_lock();
	weft_link_serve(ep_done);
	if (!weft_link_open()) {
		weft_link_unlock();
		return -FI_ENODEV;
	}
	weft_link_unlock();
	d = calloc(1, sizeof(*d));
	if (!d)
		return -FI_ENOMEM;
	d->fid.fid.fclass = FI_CLASS_DOMAIN;
	d->fid.fid.context = context;
	d->fid.fid.ops = &domain_fid_ops;
	d->fid.ops = &domain_ops;
	d->fid.mr = &mr_ops;
	d->mr_mode = (unsigned)info->domain_attr->mr_mode;
	d->has_events = info->caps & FI_RMA_EVENT;
	d->is_managed = info->domain_attr->resource_mgmt != FI_RM_DISABLED;
	*to = &d->fid;
	return 0;
}

static int domain2(struct fid_fabric *fabric, struct fi_info *info,
	struct fid_domain **to, uint64_t flags, void *context)
{
	return flags ? -FI_ENOSYS : domain_open(fabric, info, to, context);
}

/* --- event queues: all that they could tell of is done at once --- */

static ssize_t eq_read(struct fid_eq *eq, uint32_t *event, void *buf,
	size_t bytes, uint64_t flags)
{
	return -FI_EAGAIN;
}

static ssize_t eq_read_error(
	struct fid_eq *eq, struct fi_eq_err_entry *to, uint64_t flags)
{
	return -FI_EAGAIN;
}

static ssize_t eq_write(struct fid_eq *eq, uint32_t event, const void *buf,
	size_t bytes, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t eq_wait(struct fid_eq *eq, uint32_t *event, void *buf,
	size_t bytes, int milliseconds, uint64_t flags)
{
	return -FI_EAGAIN;
}

static const char *eq_error_text(struct fid_eq *eq, int error, const void *data,
	char *text, size_t bytes)
{
	return fi_strerror(error);
}

static struct fi_ops eq_fid_ops = FI_TABLE(close_one, none_bind, none_control);

static struct fi_ops_eq eq_ops = {
	.size = sizeof(struct fi_ops_eq),
	.read = eq_read,
	.readerr = eq_read_error,
	.write = eq_write,
	.sread = eq_wait,
	.strerror = eq_error_text,
};

static int eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr,
	struct fid_eq **to, void *context)
{
	struct fid_eq *eq = calloc(1, sizeof(*eq));

	if (!eq)
		return -FI_ENOMEM;
	eq->fid.fclass = FI_CLASS_EQ;
	eq->fid.context = context;
	eq->fid.ops = &eq_fid_ops;
	eq->ops = &eq_ops;
	*to = eq;
	return 0;
}

/* --- the fabric --- */

static struct fi_ops fabric_fid_ops =
	FI_TABLE(close_one, none_bind, none_control);

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(struct fi_ops_fabric),
	.domain = domain_open,
	.passive_ep = none_passive,
	.eq_open = eq_open,
	.wait_open = none_wait_open,
	.trywait = none_trywait,
	.domain2 = domain2,
};

int fabric_open(
	struct fi_fabric_attr *attr, struct fid_fabric **to, void *context)
{
	struct fid_fabric *f;

	if (attr->name && strcmp(attr->name, "weft") != 0)
		return -FI_EINVAL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -FI_ENOMEM;
	f->fid.fclass = FI_CLASS_FABRIC;
	f->fid.context = context;
	f->fid.ops = &fabric_fid_ops;
	f->ops = &fabric_ops;
	f->api_version = attr->api_version;
	*to = f;
	return 0;
}
