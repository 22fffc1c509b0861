/*
 * A provider of libfabric whose network is the simulated machine's.
 *
 * It keeps what is libfabric's alone: objects, addresses, the forms of
 * completions.  Matching, protocols and time are in the simulator; the channel
 * and the rank's clock are in libweft-rank.so.
 *
 * An address is a rank and the number of one of its endpoints.
 *
 * fi_info.c    what it can do, and hints    fi_domain.c  fabric, domain,
 * regions fi_ep.c      endpoints                    fi_msg.c     messages
 * fi_rma.c     puts, gets, atomics          fi_cq.c      queues and counters
 * fi_av.c      addresses                    fi_none.c    what there is not
 */
#ifndef INSIDE_FI_H
#define INSIDE_FI_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>

#include "inside/link.h"

enum {
	FI_MOST_ENDPOINTS = 64, /* of a process */
	FI_MOST_ATOMIC = CHANNEL_SHORT, /* bytes of one operation */
};

struct fi_address {
	uint32_t rank;
	uint16_t endpoint, zero;
};

struct domain {
	struct fid_domain fid;
	uint64_t mr_mode;
	bool has_events; /* of regions */
	bool is_managed; /* queues do not overrun */
};

struct addresses {
	struct fid_av fid;
	bool is_table;
	size_t n;
	struct fi_address *table;
};

struct counter {
	struct fid_cntr fid;
	uint64_t n, n_errors;
	struct link_looks looks;
};

struct entry {
	struct fi_cq_tagged_entry tagged;
	fi_addr_t from;
	int error; /* 0, or a code of libfabric */
	size_t beyond; /* bytes that did not fit */
};

struct queue {
	struct fid_cq fid;
	enum fi_cq_format format;
	struct entry *entry; /* a ring that grows */
	size_t first, n, size;
	struct link_looks looks;
	bool is_signaled;
	size_t most; /* entries; 0: any number */
	bool is_overrun;
};

/* Which counter an operation counts in. */
enum count {
	COUNT_SEND,
	COUNT_RECV,
	COUNT_READ,
	COUNT_WRITE,
	COUNT_REMOTE_READ,
	COUNT_REMOTE_WRITE,
	N_COUNTS
};

struct endpoint {
	struct fid_ep fid;
	struct addresses *av;
	struct queue *tx, *rx;
	bool is_tx_selective, is_rx_selective;
	struct counter *counter[N_COUNTS];
	uint64_t caps, tx_flags, rx_flags;
	size_t min_multi; /* left of a buffer of several messages */
	uint16_t number;
	struct op *receives, *claimed, *others;
};

/* An operation that is under way: its address is what crosses as context. */
struct op {
	struct op *next, **at; /* in a list of its endpoint */
	struct endpoint *ep; /* NULL: its endpoint was closed */
	void *context; /* the user's */
	uint64_t flags; /* of its entry */
	void *buf;
	size_t bytes;
	enum count count;
	bool is_reported, is_claimed;
	struct region *region;
};

struct region {
	struct fid_mr fid;
	struct region *next;
	bool is_done;
	int error;
	struct counter *counter; /* of what others do with it, or NULL */
	uint64_t counted; /* FI_REMOTE_READ, FI_REMOTE_WRITE */
};

/* --- fi_info.c --- */

extern struct fi_provider fi_weft;

int info_get(uint32_t version, const char *node, const char *service,
	uint64_t flags, const struct fi_info *hints, struct fi_info **info);

/* --- fi_domain.c --- */

int fabric_open(
	struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
void region_done(struct region *r, const struct channel_completion *c);
/* Another rank has been at the region with this key: FI_REMOTE_READ or
 * FI_REMOTE_WRITE. */
void region_remote(uint64_t key, uint64_t what);

/* --- fi_av.c --- */

int av_open(struct fid_domain *domain, struct fi_av_attr *attr,
	struct fid_av **av, void *context);
/* False if there is no such address. */
bool av_find(const struct addresses *av, fi_addr_t a, struct fi_address *to);
fi_addr_t av_reverse(const struct addresses *av, struct fi_address a);

/* --- fi_cq.c --- */

int cq_open(struct fid_domain *domain, struct fi_cq_attr *attr,
	struct fid_cq **cq, void *context);
int cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
	struct fid_cntr **cntr, void *context);
void cq_add(struct queue *q, const struct entry *e);

/* --- fi_ep.c --- */

int ep_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
	void *context);
/* Takes what a crossing has brought. */
void ep_done(const struct channel_completion *c);
struct op *op_new(struct endpoint *ep, enum count count, void *context);
void op_free(struct op *op);
void op_list(struct op *op, struct op **list);

/* Queues commands whose first one belongs to op (or to none); both are freed
 * again if that fails. */
ssize_t op_post(struct op *op, struct channel_command *c, unsigned n,
	const void *bytes);
bool ep_reports(bool is_selective, uint64_t flags);

/* --- fi_msg.c, fi_rma.c --- */

extern struct fi_ops_msg msg_ops;
extern struct fi_ops_tagged tagged_ops;
extern struct fi_ops_rma rma_ops;
extern struct fi_ops_atomic atomic_ops;

int atomic_query(struct fid_domain *domain, enum fi_datatype type,
	enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags);

/* A command and its buffer: bytes of short ones, or a vector before it. */
struct message {
	struct channel_command command[3];
	unsigned n;
	const void *bytes; /* for the room, or NULL */
	char gathered[CHANNEL_SHORT];
};

/* All but the buffer is set later, by the command returned; NULL if there are
 * too many pieces. */
struct channel_command *message_init(
	struct message *m, const struct iovec *iov, size_t n, bool is_source);

/* --- fi_none.c --- */

extern struct fi_ops_cm none_cm;
extern struct fi_ops_collective none_collective;
int none_bind(struct fid *fid, struct fid *other, uint64_t flags);
int none_control(struct fid *fid, int command, void *argument);
int none_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
	void *context);
int none_tostr(const struct fid *fid, char *text, size_t bytes);
int none_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops,
	void *context);
int none_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
	struct fid_wait **wait);
int none_trywait(struct fid_fabric *fabric, struct fid **fids, int n);
int none_passive(struct fid_fabric *fabric, struct fi_info *info,
	struct fid_pep **pep, void *context);
int none_scalable(struct fid_domain *domain, struct fi_info *info,
	struct fid_ep **ep, void *context);
int none_poll(struct fid_domain *domain, struct fi_poll_attr *attr,
	struct fid_poll **poll);
int none_stx(struct fid_domain *domain, struct fi_tx_attr *attr,
	struct fid_stx **stx, void *context);
int none_srx(struct fid_domain *domain, struct fi_rx_attr *attr,
	struct fid_ep **ep, void *context);
int none_query_collective(struct fid_domain *domain, enum fi_collective_op op,
	struct fi_collective_attr *attr, uint64_t flags);
int none_tx_context(struct fid_ep *ep, int index, struct fi_tx_attr *attr,
	struct fid_ep **to, void *context);
int none_rx_context(struct fid_ep *ep, int index, struct fi_rx_attr *attr,
	struct fid_ep **to, void *context);
ssize_t none_size_left(struct fid_ep *ep);
int none_insert_service(struct fid_av *av, const char *node,
	const char *service, fi_addr_t *to, uint64_t flags, void *context);
int none_insert_symmetric(struct fid_av *av, const char *node, size_t n_nodes,
	const char *service, size_t n_services, fi_addr_t *to, uint64_t flags,
	void *context);
int none_av_set(struct fid_av *av, struct fi_av_set_attr *attr,
	struct fid_av_set **set, void *context);

/* The table of an object that can be closed, bound and controlled. */
#define FI_TABLE(close_, bind_, control_)                                      \
	{                                                                      \
		.size = sizeof(struct fi_ops), .close = close_, .bind = bind_, \
		.control = control_, .ops_open = none_ops_open,                \
		.tostr = none_tostr, .ops_set = none_ops_set,                  \
	}

#endif
