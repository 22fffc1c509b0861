#include "inside/fi.h"

/* Slots of libfabric's tables for what this network does not have: a slot that
 * is empty would crash its caller. */

int none_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
	return -FI_ENOSYS;
}

int none_control(struct fid *fid, int command, void *argument)
{
	return -FI_ENOSYS;
}

int none_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
	void *context)
{
	return -FI_ENOSYS;
}

int none_tostr(const struct fid *fid, char *text, size_t bytes)
{
	return -FI_ENOSYS;
}

int none_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
	void *context)
{
	return -FI_ENOSYS;
}

/* --- of a fabric and a domain --- */

int none_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
	struct fid_wait **wait)
{
	return -FI_ENOSYS;
}

int none_trywait(struct fid_fabric *fabric, struct fid **fids, int n)
{
	return -FI_ENOSYS;
}

int none_passive(struct fid_fabric *fabric, struct fi_info *info,
	struct fid_pep **pep, void *context)
{
	return -FI_ENOSYS;
}

int none_scalable(struct fid_domain *domain, struct fi_info *info,
	struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

int none_poll(struct fid_domain *domain, struct fi_poll_attr *attr,
	struct fid_poll **poll)
{
	return -FI_ENOSYS;
}

int none_stx(struct fid_domain *domain, struct fi_tx_attr *attr,
	struct fid_stx **stx, void *context)
{
	return -FI_ENOSYS;
}

int none_srx(struct fid_domain *domain, struct fi_rx_attr *attr,
	struct fid_ep **ep, void *context)
{
	return -FI_ENOSYS;
}

int none_query_collective(struct fid_domain *domain, enum fi_collective_op op,
	struct fi_collective_attr *attr, uint64_t flags)
{
	return -FI_ENOSYS;
}

/* --- of an endpoint --- */

int none_tx_context(struct fid_ep *ep, int index, struct fi_tx_attr *attr,
	struct fid_ep **to, void *context)
{
	return -FI_ENOSYS;
}

int none_rx_context(struct fid_ep *ep, int index, struct fi_rx_attr *attr,
	struct fid_ep **to, void *context)
{
	return -FI_ENOSYS;
}

ssize_t none_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

static int set_name(fid_t fid, void *address, size_t bytes)
{
	return -FI_ENOSYS;
}

static int get_peer(struct fid_ep *ep, void *address, size_t *bytes)
{
	return -FI_ENOSYS;
}

static int connect_to(
	struct fid_ep *ep, const void *address, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int listen_to(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

static int accept_from(struct fid_ep *ep, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int reject_from(
	struct fid_pep *pep, fid_t handle, const void *param, size_t bytes)
{
	return -FI_ENOSYS;
}

static int shut_down(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int join_group(struct fid_ep *ep, const void *address, uint64_t flags,
	struct fid_mc **mc, void *context)
{
	return -FI_ENOSYS;
}

/* getname is the endpoint's own. */
struct fi_ops_cm none_cm = {
	.size = sizeof(struct fi_ops_cm),
	.setname = set_name,
	.getpeer = get_peer,
	.connect = connect_to,
	.listen = listen_to,
	.accept = accept_from,
	.reject = reject_from,
	.shutdown = shut_down,
	.join = join_group,
};

/* --- collectives: MPI libraries have their own --- */

static ssize_t barrier(struct fid_ep *ep, fi_addr_t group, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t barrier2(
	struct fid_ep *ep, fi_addr_t group, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t broadcast(struct fid_ep *ep, void *buf, size_t n, void *desc,
	fi_addr_t group, fi_addr_t root, enum fi_datatype type, uint64_t flags,
	void *context)
{
	return -FI_ENOSYS;
}

/* All-to-all and all-gather. */
static ssize_t spread(struct fid_ep *ep, const void *buf, size_t n, void *desc,
	void *result, void *result_desc, fi_addr_t group, enum fi_datatype type,
	uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

/* All-reduce and reduce-scatter. */
static ssize_t combine(struct fid_ep *ep, const void *buf, size_t n, void *desc,
	void *result, void *result_desc, fi_addr_t group, enum fi_datatype type,
	enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t reduce(struct fid_ep *ep, const void *buf, size_t n, void *desc,
	void *result, void *result_desc, fi_addr_t group, fi_addr_t root,
	enum fi_datatype type, enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

/* Scatter and gather. */
static ssize_t with_root(struct fid_ep *ep, const void *buf, size_t n,
	void *desc, void *result, void *result_desc, fi_addr_t group,
	fi_addr_t root, enum fi_datatype type, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t message(struct fid_ep *ep, const struct fi_msg_collective *msg,
	struct fi_ioc *result, void **desc, size_t n, uint64_t flags)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective none_collective = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = barrier,
	.broadcast = broadcast,
	.alltoall = spread,
	.allreduce = combine,
	.allgather = spread,
	.reduce_scatter = combine,
	.reduce = reduce,
	.scatter = with_root,
	.gather = with_root,
	.msg = message,
	.barrier2 = barrier2,
};

/* --- of an address vector --- */

int none_insert_service(struct fid_av *av, const char *node,
	const char *service, fi_addr_t *to, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

int none_insert_symmetric(struct fid_av *av, const char *node, size_t n_nodes,
	const char *service, size_t n_services, fi_addr_t *to, uint64_t flags,
	void *context)
{
	return -FI_ENOSYS;
}

int none_av_set(struct fid_av *av, struct fi_av_set_attr *attr,
	struct fid_av_set **set, void *context)
{
	return -FI_ENOSYS;
}
