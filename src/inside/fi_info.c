#define _GNU_SOURCE /* strdup() */
#include "inside/fi.h"

#include <stdlib.h>
#include <string.h>

/* What the network offers, and what of it a program asks for. */

#define CAPS                                                                   \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV |         \
		FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE |        \
		FI_MULTI_RECV | FI_SOURCE | FI_DIRECTED_RECV | FI_LOCAL_COMM | \
		FI_REMOTE_COMM | FI_RMA_EVENT)
#define TX_CAPS                                                                \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_READ | FI_WRITE)
#define RX_CAPS                                                                \
	(FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RECV | FI_REMOTE_READ |  \
		FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE |                  \
		FI_DIRECTED_RECV | FI_RMA_EVENT)
#define TX_FLAGS                                                               \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE |                      \
		FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE |                  \
		FI_MATCH_COMPLETE)
#define RX_FLAGS (FI_MULTI_RECV | FI_COMPLETION)
#define MR_MODE                                                                \
	(FI_MR_BASIC | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)

enum {
	CONTEXTS = 1 << 16, /* operations at a time; more only wait */
	PROTOCOL = 0x77656674,
};

static bool is_within(uint64_t asked, uint64_t all)
{
	return (asked & ~all) == 0;
}

static bool is_name(const char *asked, const char *name)
{
	return !asked || strcmp(asked, name) == 0;
}

/* --- hints --- */

static bool fits_tx(const struct fi_tx_attr *t)
{
	return !t ||
	       (is_within(t->caps, TX_CAPS) &&
		       is_within(t->op_flags, TX_FLAGS) &&
		       is_within(t->msg_order, FI_ORDER_SAS) &&
		       t->inject_size <= CHANNEL_SHORT && t->size <= CONTEXTS &&
		       t->iov_limit <= CHANNEL_VECTOR && t->rma_iov_limit <= 1);
}

static bool fits_rx(const struct fi_rx_attr *r)
{
	return !r ||
	       (is_within(r->caps, RX_CAPS) &&
		       is_within(r->op_flags, RX_FLAGS) &&
		       is_within(r->msg_order, FI_ORDER_SAS) &&
		       r->size <= CONTEXTS && r->iov_limit <= CHANNEL_VECTOR);
}

static bool fits_ep(const struct fi_ep_attr *e)
{
	return !e || ((e->type == FI_EP_UNSPEC || e->type == FI_EP_RDM) &&
			     (e->protocol == FI_PROTO_UNSPEC ||
				     e->protocol == PROTOCOL) &&
			     e->tx_ctx_cnt <= 1 && e->rx_ctx_cnt <= 1 &&
			     e->msg_prefix_size == 0 && e->auth_key_size == 0);
}

/* Modes of regions are what a program can do for the provider: it needs none.
 * FI_MR_SCALABLE is none of them, by an older name. */
static bool fits_domain(const struct fi_domain_attr *d)
{
	return !d ||
	       (is_name(d->name, "weft") &&
		       d->cq_data_size <= sizeof(uint64_t) &&
		       d->mr_key_size <= sizeof(uint64_t) &&
		       d->ep_cnt <= FI_MOST_ENDPOINTS && d->auth_key_size == 0);
}

/* Lists of names come from the library, which has looked at them. */
static bool fits_fabric(const struct fi_fabric_attr *f)
{
	return !f || is_name(f->name, "weft");
}

static bool fits(const struct fi_info *h)
{
	return is_within(h->caps, CAPS) && h->addr_format == FI_FORMAT_UNSPEC &&
	       fits_tx(h->tx_attr) && fits_rx(h->rx_attr) &&
	       fits_ep(h->ep_attr) && fits_domain(h->domain_attr) &&
	       fits_fabric(h->fabric_attr);
}

/* --- the answer --- */

static void set_tx(struct fi_tx_attr *t, uint64_t caps)
{
	*t = (struct fi_tx_attr){
		.caps = caps & TX_CAPS,
		.msg_order = FI_ORDER_SAS,
		.inject_size = CHANNEL_SHORT,
		.size = CONTEXTS,
		.iov_limit = CHANNEL_VECTOR,
		.rma_iov_limit = 1,
	};
}

static void set_rx(struct fi_rx_attr *r, uint64_t caps)
{
	*r = (struct fi_rx_attr){
		.caps = caps & RX_CAPS,
		.msg_order = FI_ORDER_SAS,
		.size = CONTEXTS,
		.iov_limit = CHANNEL_VECTOR,
	};
}

static void set_ep(struct fi_ep_attr *e)
{
	*e = (struct fi_ep_attr){
		.type = FI_EP_RDM,
		.protocol = PROTOCOL,
		.protocol_version = CHANNEL_VERSION,
		.max_msg_size = SIZE_MAX / 2,
		.mem_tag_format = UINT64_MAX / 3 * 2,
		.tx_ctx_cnt = 1,
		.rx_ctx_cnt = 1,
	};
}

static void set_domain(struct fi_domain_attr *d)
{
	*d = (struct fi_domain_attr){
		.name = strdup("weft"),
		.threading = FI_THREAD_SAFE,
		.control_progress = FI_PROGRESS_AUTO,
		.data_progress = FI_PROGRESS_AUTO,
		.resource_mgmt = FI_RM_ENABLED,
		.av_type = FI_AV_UNSPEC,
		.mr_mode = 0,
		.mr_key_size = sizeof(uint64_t),
		.cq_data_size = sizeof(uint64_t),
		.cq_cnt = FI_MOST_ENDPOINTS,
		.ep_cnt = FI_MOST_ENDPOINTS,
		.tx_ctx_cnt = FI_MOST_ENDPOINTS,
		.rx_ctx_cnt = FI_MOST_ENDPOINTS,
		.max_ep_tx_ctx = 1,
		.max_ep_rx_ctx = 1,
		.cntr_cnt = 1 << 16,
		.mr_iov_limit = 1,
		.mr_cnt = 1 << 16,
		.caps = FI_LOCAL_COMM | FI_REMOTE_COMM,
	};
}

/* The name of the provider is set by the library. */
static void set_fabric(struct fi_fabric_attr *f, uint32_t version)
{
	*f = (struct fi_fabric_attr){
		.name = strdup("weft"),
		.prov_version = fi_weft.version,
		.api_version = version,
	};
}

static void set_address(struct fi_info *info)
{
	const struct channel *c = weft_link_open();
	struct fi_address a = { .rank = c ? c->rank : 0 };

	info->src_addr = malloc(sizeof(a));
	if (!info->src_addr)
		return;
	memcpy(info->src_addr, &a, sizeof(a));
	info->src_addrlen = sizeof(a);
}

static void echo_domain(
	struct fi_domain_attr *d, const struct fi_domain_attr *hint)
{
	d->threading = hint->threading;
	if (hint->control_progress != FI_PROGRESS_UNSPEC)
		d->control_progress = hint->control_progress;
	if (hint->data_progress != FI_PROGRESS_UNSPEC)
		d->data_progress = hint->data_progress;
	if (hint->resource_mgmt != FI_RM_UNSPEC)
		d->resource_mgmt = hint->resource_mgmt;
	d->av_type = hint->av_type;
	d->mr_mode = hint->mr_mode & MR_MODE;
	if (hint->mr_mode == FI_MR_SCALABLE)
		d->mr_mode = FI_MR_SCALABLE;
}

/* What a program asks for it gets, so that it finds what it has asked for. */
static void echo(struct fi_info *info, const struct fi_info *hints)
{
	if (hints->tx_attr) {
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
		info->tx_attr->comp_order = hints->tx_attr->comp_order;
	}
	if (hints->rx_attr) {
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
		info->rx_attr->comp_order = hints->rx_attr->comp_order;
	}
	if (hints->domain_attr)
		echo_domain(info->domain_attr, hints->domain_attr);
	info->handle = hints->handle;
}

int info_get(uint32_t version, const char *node, const char *service,
	uint64_t flags, const struct fi_info *hints, struct fi_info **to)
{
	uint64_t caps = hints && hints->caps ? hints->caps : CAPS;
	struct fi_info *info;

	if (hints && !fits(hints))
		return -FI_ENODATA;
	info = fi_allocinfo();
	if (!info)
		return -FI_ENOMEM;
	info->caps = caps | FI_LOCAL_COMM | FI_REMOTE_COMM;
	info->addr_format = FI_FORMAT_UNSPEC;
	set_tx(info->tx_attr, caps);
	set_rx(info->rx_attr, caps);
	set_ep(info->ep_attr);
	set_domain(info->domain_attr);
	set_fabric(info->fabric_attr, version);
	if (hints)
		echo(info, hints);
	weft_link_lock();
	set_address(info);
	weft_link_unlock();
	*to = info;
	return 0;
}

/* --- what libfabric calls when it loads the file --- */

static void cleanup(void)
{
}

struct fi_provider fi_weft = {
	.version = FI_VERSION(1, 0),
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "weft",
	.getinfo = info_get,
	.fabric = fabric_open,
	.cleanup = cleanup,
};

INSIDE_EXPORT struct fi_provider *fi_prov_ini(void);

INSIDE_EXPORT struct fi_provider *fi_prov_ini(void)
{
	return &fi_weft;
}
