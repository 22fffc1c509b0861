/*
 * A program on libfabric itself, without MPI: rank 0 and rank 1 use each kind
 * of call once.  Rank 1 does what rank 0 does not: both walk through the same
 * cases.
 */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_ep *ep;
static struct fid_av *av;
static struct fid_cq *tx, *rx;
static struct fid_cntr *sent, *written, *received;
static fi_addr_t other;
static uint32_t rank;

#define CHECK(what)                                                            \
	do {                                                                   \
		if (!(what)) {                                                 \
			printf("rank %u, line %d: not %s\n", rank, __LINE__,   \
				#what);                                        \
			fflush(stdout);                                        \
			exit(1);                                               \
		}                                                              \
	} while (0)

/* --- set-up --- */

static void get_info(void)
{
	struct fi_info *hints = fi_allocinfo();

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_MULTI_RECV |
		      FI_SOURCE | FI_DIRECTED_RECV;
	hints->domain_attr->mr_mode =
		FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->domain_attr->threading = FI_THREAD_DOMAIN;
	hints->domain_attr->av_type = FI_AV_TABLE;
	hints->tx_attr->msg_order = FI_ORDER_SAS;
	CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &info) == 0);
	CHECK(strcmp(info->fabric_attr->prov_name, "weft") == 0);
	CHECK(info->domain_attr->threading == FI_THREAD_DOMAIN);
	CHECK(info->domain_attr->mr_mode ==
		(FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY));
	fi_freeinfo(hints);
}

/* Hints that cannot be met find nothing. */
static void refuse_hints(void)
{
	struct fi_info *hints = fi_allocinfo(), *none = NULL;

	hints->ep_attr->type = FI_EP_MSG;
	CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &none) ==
		-FI_ENODATA);
	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MULTICAST;
	CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &none) ==
		-FI_ENODATA);
	hints->caps = FI_MSG;
	hints->tx_attr->inject_size = 1 << 20;
	CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &none) ==
		-FI_ENODATA);
	fi_freeinfo(hints);
}

static void open_all(void)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr table = { .type = FI_AV_TABLE };

	CHECK(fi_fabric(info->fabric_attr, &fabric, NULL) == 0);
	CHECK(fi_domain(fabric, info, &domain, NULL) == 0);
	CHECK(fi_av_open(domain, &table, &av, NULL) == 0);
	CHECK(fi_cq_open(domain, &cq, &tx, NULL) == 0);
	CHECK(fi_cq_open(domain, &cq, &rx, NULL) == 0);
	CHECK(fi_cntr_open(domain, NULL, &sent, NULL) == 0);
	CHECK(fi_cntr_open(domain, NULL, &written, NULL) == 0);
	CHECK(fi_cntr_open(domain, NULL, &received, NULL) == 0);
	CHECK(fi_endpoint(domain, info, &ep, NULL) == 0);
	CHECK(fi_enable(ep) == -FI_ENOAV);
	CHECK(fi_ep_bind(ep, &av->fid, 0) == 0);
	CHECK(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT | FI_SELECTIVE_COMPLETION) ==
		0);
	CHECK(fi_ep_bind(ep, &rx->fid, FI_RECV) == 0);
	CHECK(fi_ep_bind(ep, &sent->fid, FI_SEND) == 0);
	CHECK(fi_ep_bind(ep, &received->fid, FI_RECV) == 0);
	CHECK(fi_ep_bind(ep, &written->fid, FI_WRITE | FI_READ) == 0);
	CHECK(fi_enable(ep) == 0);
}

/* Both open the same objects in the same order, so names differ by rank. */
static void find_other(void)
{
	struct {
		uint32_t rank;
		uint16_t endpoint, zero;
	} name, back;
	size_t bytes = 0;
	fi_addr_t handle[2];

	CHECK(fi_getname(&ep->fid, NULL, &bytes) == -FI_ETOOSMALL);
	CHECK(bytes == sizeof(name));
	CHECK(fi_getname(&ep->fid, &name, &bytes) == 0);
	rank = name.rank;
	if (rank > 1)
		exit(0);
	for (uint32_t r = 0; r < 2; r++) {
		name.rank = r;
		CHECK(fi_av_insert(av, &name, 1, &handle[r], 0, NULL) == 1);
		CHECK(handle[r] == r);
	}
	bytes = sizeof(back);
	CHECK(fi_av_lookup(av, handle[1], &back, &bytes) == 0);
	CHECK(back.rank == 1 && bytes == sizeof(back));
	other = handle[1 - rank];
}

/* --- waiting --- */

static struct fi_cq_tagged_entry wait_for(struct fid_cq *cq, fi_addr_t *from)
{
	struct fi_cq_tagged_entry e;
	fi_addr_t address;
	ssize_t n;

	while ((n = fi_cq_readfrom(cq, &e, 1, &address)) == -FI_EAGAIN)
		continue;
	CHECK(n == 1);
	if (from)
		*from = address;
	return e;
}

static struct fi_cq_err_entry wait_for_error(struct fid_cq *cq)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_tagged_entry e;
	ssize_t n;

	while ((n = fi_cq_read(cq, &e, 1)) == -FI_EAGAIN)
		continue;
	CHECK(n == -FI_EAVAIL);
	CHECK(fi_cq_readerr(cq, &error, 0) == 1);
	return error;
}

/* A message each way, so that both are at the same place. */
static void meet(void)
{
	struct fi_context context;
	char byte;

	CHECK(fi_trecv(ep, &byte, 1, NULL, other, 999, 0, &context) == 0);
	CHECK(fi_tinject(ep, "", 1, other, 999) == 0);
	CHECK(wait_for(rx, NULL).op_context == &context);
}

/* --- cases --- */

static void tagged(void)
{
	struct fi_context a, b;
	char first[8] = "", second[8] = "";
	fi_addr_t from;
	struct fi_cq_tagged_entry e;

	if (rank == 0) {
		CHECK(fi_tinjectdata(ep, "one", 4, 77, other, 0x8000000100) ==
			0);
		CHECK(fi_tinject(ep, "two", 4, other, 0x8000000200) == 0);
		return;
	}
	CHECK(fi_trecv(ep, second, 8, NULL, FI_ADDR_UNSPEC, 0x8000000200, 0,
		      &b) == 0);
	CHECK(fi_trecv(ep, first, 8, NULL, other, 0x8000000000, 0xfff, &a) ==
		0);
	e = wait_for(rx, &from);
	CHECK(e.op_context == &a && from == other && e.len == 4);
	CHECK(e.data == 77 && e.tag == 0x8000000100);
	CHECK((e.flags & (FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA)) ==
		(FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA));
	e = wait_for(rx, NULL);
	CHECK(e.op_context == &b && !(e.flags & FI_REMOTE_CQ_DATA));
	CHECK(strcmp(first, "one") == 0 && strcmp(second, "two") == 0);
}

/* Long and short ones, in pieces on both sides. */
static void vectors(size_t bytes)
{
	struct fi_context context;
	char *big = calloc(1, bytes + 1);
	struct iovec half[2] = { { big, bytes / 3 },
		{ big + bytes / 3, bytes - bytes / 3 } };
	struct fi_msg_tagged m = {
		.msg_iov = half,
		.iov_count = 2,
		.addr = other,
		.tag = 5,
		.context = &context,
	};

	if (rank == 0) {
		for (size_t i = 0; i < bytes; i++)
			big[i] = (char)(i % 101);
		CHECK(fi_tsendmsg(ep, &m, FI_COMPLETION) == 0);
		CHECK(wait_for(tx, NULL).op_context == &context);
	} else {
		CHECK(fi_trecvmsg(ep, &m, 0) == 0);
		CHECK(wait_for(rx, NULL).len == bytes);
		for (size_t i = 0; i < bytes; i++)
			CHECK(big[i] == (char)(i % 101));
	}
	free(big);
}

/* Without tags: several messages into one buffer. */
static void multi(void)
{
	char buffer[100];
	struct fi_context context;
	struct iovec iov = { buffer, sizeof(buffer) };
	struct fi_msg m = { .msg_iov = &iov,
		.iov_count = 1,
		.addr = FI_ADDR_UNSPEC,
		.context = &context };
	size_t least = 40;
	struct fi_cq_tagged_entry e;

	CHECK(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV,
		      &least, sizeof(least)) == 0);
	if (rank == 1)
		CHECK(fi_recvmsg(ep, &m, FI_MULTI_RECV) == 0);
	meet();
	if (rank == 0) {
		for (int i = 0; i < 3; i++)
			CHECK(fi_inject(ep, "abcdefghijklmnopqrstuvwxyz", 26,
				      other) == 0);
		return;
	}
	for (int i = 0; i < 3; i++) {
		e = wait_for(rx, NULL);
		CHECK(e.buf == buffer + 26 * i && e.len == 26);
		CHECK(!!(e.flags & FI_MULTI_RECV) == (i == 2));
		CHECK(e.flags & FI_MSG);
	}
	CHECK(memcmp(buffer + 52, "abc", 3) == 0);
}

static struct fi_msg_tagged nothing(uint64_t tag, void *context)
{
	return (struct fi_msg_tagged){
		.addr = FI_ADDR_UNSPEC, .tag = tag, .context = context
	};
}

static void peeks(void)
{
	struct fi_context context, claim;
	struct fi_msg_tagged m = nothing(50, &context);
	char got[4] = "";
	struct iovec iov = { got, sizeof(got) };
	uint64_t n;

	if (rank == 0) {
		CHECK(fi_tinject(ep, "abc", 4, other, 51) == 0);
		CHECK(fi_tinject(ep, "def", 4, other, 52) == 0);
		meet();
		return;
	}
	meet();
	n = fi_cntr_read(received);
	CHECK(fi_trecvmsg(ep, &m, FI_PEEK) == 0);
	CHECK(wait_for_error(rx).err == FI_ENOMSG);
	m = nothing(51, &claim);
	CHECK(fi_trecvmsg(ep, &m, FI_PEEK | FI_CLAIM) == 0);
	CHECK(wait_for(rx, NULL).len == 4);
	/* It is taken: nobody else finds it. */
	m = nothing(51, &context);
	CHECK(fi_trecvmsg(ep, &m, FI_PEEK) == 0);
	CHECK(wait_for_error(rx).err == FI_ENOMSG);
	m = nothing(51, &claim);
	m.msg_iov = &iov;
	m.iov_count = 1;
	CHECK(fi_trecvmsg(ep, &m, FI_CLAIM) == 0);
	CHECK(wait_for(rx, NULL).op_context == &claim);
	CHECK(strcmp(got, "abc") == 0);
	m = nothing(52, &context);
	CHECK(fi_trecvmsg(ep, &m, FI_PEEK | FI_DISCARD) == 0);
	CHECK(wait_for(rx, NULL).tag == 52);
	CHECK(fi_trecvmsg(ep, &m, FI_PEEK) == 0);
	CHECK(wait_for_error(rx).err == FI_ENOMSG);
	/* To look is not to receive. */
	CHECK(fi_cntr_read(received) == n + 1);
}

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Which sends are reported, and when. */
static void reports(void)
{
	static char much[10000];
	struct fi_context context;
	struct iovec iov = { much, 8 };
	struct fi_msg_tagged m = nothing(80, &context);
	struct fi_cq_tagged_entry e;
	uint64_t n = fi_cntr_read(sent);
	int64_t t;

	for (int i = 0; i < 2 && rank == 1; i++) {
		usleep(i * 1000);
		CHECK(fi_trecv(ep, much, 8, NULL, other, 80, 0, &context) == 0);
		wait_for(rx, NULL);
	}
	if (rank == 1)
		return;
	m.msg_iov = &iov;
	m.iov_count = 1;
	m.addr = other;
	CHECK(fi_tsendmsg(ep, &m, 0) == 0);
	CHECK(fi_cntr_wait(sent, n + 1, -1) == 0);
	CHECK(fi_cq_read(tx, &e, 1) == -FI_EAGAIN);
	/* It is delivered when there is a receive. */
	t = now_us();
	CHECK(fi_tsendmsg(ep, &m, FI_COMPLETION | FI_DELIVERY_COMPLETE) == 0);
	wait_for(tx, NULL);
	CHECK(now_us() > t + 500);
	iov.iov_len = sizeof(much);
	CHECK(fi_tsendmsg(ep, &m, FI_INJECT) == -FI_EINVAL);
}

static void errors(void)
{
	struct fi_context context;
	struct fi_cq_err_entry e;
	char two[3] = "..";

	if (rank == 0) {
		CHECK(fi_tinject(ep, "12345", 5, other, 60) == 0);
		CHECK(fi_tinject(ep, "12345", 5, 17, 60) == -FI_EINVAL);
		return;
	}
	CHECK(fi_trecv(ep, two, 2, NULL, other, 60, 0, &context) == 0);
	e = wait_for_error(rx);
	CHECK(e.err == FI_ETRUNC && e.olen == 3 && e.len == 2);
	CHECK(strcmp(two, "12") == 0);
	CHECK(fi_cancel(&ep->fid, &e) == -FI_ENOENT);
	CHECK(fi_trecv(ep, two, 2, NULL, other, 61, 0, &context) == 0);
	CHECK(fi_cancel(&ep->fid, &context) == 0);
	e = wait_for_error(rx);
	CHECK(e.err == FI_ECANCELED && e.op_context == &context);
}

/* Puts and gets, and sums of what is there; names of memory are exchanged. */
static void memory(void)
{
	static uint64_t window[1000], mine[1000];
	struct {
		uint64_t at, key;
	} own, its;
	struct fi_context context;
	struct fid_mr *mr;
	uint64_t old, one = 1, seven = 7, big = 1 << 20;

	CHECK(fi_mr_reg(domain, window, sizeof(window),
		      FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &mr,
		      NULL) == 0);
	own.at = (uintptr_t)window;
	own.key = fi_mr_key(mr);
	CHECK(fi_trecv(ep, &its, sizeof(its), NULL, other, 70, 0, &context) ==
		0);
	CHECK(fi_tinject(ep, &own, sizeof(own), other, 70) == 0);
	wait_for(rx, NULL);
	for (uint64_t i = 0; i < 1000; i++)
		mine[i] = i + 1000 * rank;
	CHECK(fi_write(ep, mine, sizeof(mine), NULL, other, its.at, its.key,
		      NULL) == 0);
	CHECK(fi_cntr_wait(written, 1, -1) == 0);
	meet();
	for (uint64_t i = 0; i < 1000; i++)
		CHECK(window[i] == i + 1000 * (1 - rank));
	CHECK(fi_read(ep, mine, 80, NULL, other, its.at + 800, its.key, NULL) ==
		0);
	CHECK(fi_fetch_atomic(ep, &one, 1, NULL, &old, NULL, other, its.at,
		      its.key, FI_UINT64, FI_SUM, NULL) == 0);
	CHECK(fi_cntr_wait(written, 3, -1) == 0);
	CHECK(mine[0] == 100 + 1000 * rank && old == 1000 * rank);
	CHECK(fi_compare_atomic(ep, &seven, 1, NULL, &big, NULL, &old, NULL,
		      other, its.at, its.key, FI_UINT64, FI_CSWAP, NULL) == 0);
	CHECK(fi_cntr_wait(written, 4, -1) == 0);
	CHECK(old == 1000 * rank + 1);
	meet();
	CHECK(window[0] == 1000 * (1 - rank) + 1);
	/* the other one may not have looked at the first word yet */
	CHECK(fi_inject_writedata(
		      ep, &seven, 8, 42, other, its.at + 8, its.key) == 0);
	CHECK(wait_for(rx, NULL).data == 42);
	CHECK(window[1] == 7);
	/* Beyond its end, and by a wrong key. */
	CHECK(fi_write(ep, mine, 16, NULL, other, its.at + sizeof(window) - 8,
		      its.key, NULL) == 0);
	CHECK(wait_for_error(tx).err == FI_EACCES);
	CHECK(fi_read(ep, mine, 8, NULL, other, its.at, its.key + 12345,
		      NULL) == 0);
	CHECK(fi_cntr_wait(written, 1000, -1) == -FI_EAVAIL);
	CHECK(wait_for_error(tx).err == FI_EACCES);
	CHECK(fi_cntr_readerr(written) == 2);
	meet();
	CHECK(fi_close(&mr->fid) == 0);
}

/* Another domain with keys of one's own, counters of regions, and queues that
 * can overrun. */
static struct fi_info *other_info(void)
{
	struct fi_info *hints = fi_allocinfo(), *found;

	hints->ep_attr->type = FI_EP_RDM;
	hints->caps = FI_MSG | FI_RMA | FI_RMA_EVENT;
	hints->domain_attr->resource_mgmt = FI_RM_DISABLED;
	CHECK(fi_getinfo(FI_VERSION(1, 9), NULL, NULL, 0, hints, &found) == 0);
	CHECK(found->domain_attr->mr_mode == 0);
	fi_freeinfo(hints);
	return found;
}

/* Without FI_DIRECTED_RECV a receive takes messages of any source, whichever it
 * names: here the rank itself. */
static void undirected(
	struct fid_ep *e, struct fid_cq *cq, struct fid_av *names, fi_addr_t to)
{
	struct {
		uint32_t rank;
		uint16_t endpoint, zero;
	} name;
	size_t bytes = sizeof(name);
	struct fi_cq_entry entry;
	fi_addr_t own;
	char byte = 0;

	CHECK(fi_getname(&e->fid, &name, &bytes) == 0);
	CHECK(fi_av_insert(names, &name, 1, &own, 0, NULL) == 1);
	CHECK(fi_recv(e, &byte, 1, NULL, own, &byte) == 0);
	meet();
	CHECK(fi_inject(e, "x", 1, to) == 0);
	CHECK(fi_cq_sread(cq, &entry, 1, NULL, -1) == 1);
	CHECK(entry.op_context == &byte && byte == 'x');
}

static void own_keys(void)
{
	struct fi_info *second = other_info();
	struct fi_cq_attr small = { .size = 2, .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr map = { .type = FI_AV_MAP };
	struct {
		uint32_t rank;
		uint16_t endpoint, zero;
	} name;
	static char window[64];
	size_t bytes = sizeof(name);
	struct fid_domain *d;
	struct fid_cntr *arrived, *read, *wrote;
	struct fid_cq *cq;
	struct fid_av *names;
	struct fid_ep *e;
	struct fid_mr *mr;
	struct fi_cq_entry entry[4];
	fi_addr_t to;

	CHECK(fi_domain(fabric, second, &d, NULL) == 0);
	CHECK(fi_cntr_open(d, NULL, &arrived, NULL) == 0);
	CHECK(fi_cq_open(d, &small, &cq, NULL) == 0);
	CHECK(fi_av_open(d, &map, &names, NULL) == 0);
	CHECK(fi_endpoint(d, second, &e, NULL) == 0);
	CHECK(fi_ep_bind(e, &cq->fid, FI_TRANSMIT | FI_RECV) == 0);
	CHECK(fi_ep_bind(e, &names->fid, 0) == 0);
	CHECK(fi_cntr_open(d, NULL, &read, NULL) == 0);
	CHECK(fi_cntr_open(d, NULL, &wrote, NULL) == 0);
	CHECK(fi_ep_bind(e, &read->fid, FI_REMOTE_READ) == 0);
	CHECK(fi_ep_bind(e, &wrote->fid, FI_REMOTE_WRITE) == 0);
	CHECK(fi_enable(e) == 0);
	CHECK(fi_mr_reg(d, window, sizeof(window),
		      FI_REMOTE_WRITE | FI_REMOTE_READ, 0, 1234, 0, &mr,
		      NULL) == 0);
	CHECK(fi_mr_key(mr) == 1234);
	CHECK(fi_mr_bind(mr, &arrived->fid, FI_REMOTE_WRITE) == 0);
	CHECK(fi_getname(&e->fid, &name, &bytes) == 0);
	name.rank = 1 - rank;
	CHECK(fi_av_insert(names, &name, 1, &to, 0, NULL) == 1);
	meet();
	CHECK(fi_inject_write(e, "abc", 4, to, 10, 1234) == 0);
	CHECK(fi_cntr_wait(arrived, 1, -1) == 0);
	CHECK(strcmp(window + 10, "abc") == 0);
	/* A read counts, but not as a write. */
	CHECK(fi_read(e, window + 20, 4, NULL, to, 10, 1234, &name) == 0);
	CHECK(fi_cntr_wait(read, 1, -1) == 0);
	CHECK(fi_cq_sread(cq, entry, 1, NULL, -1) == 1);
	CHECK(fi_cntr_read(arrived) == 1 && fi_cntr_read(wrote) == 1);
	undirected(e, cq, names, to);
	meet();
	for (int i = 0; i < 3; i++)
		CHECK(fi_write(e, window, 1, NULL, to, 0, 1234, &name) == 0);
	CHECK(fi_cntr_wait(arrived, 4, -1) == 0);
	meet();
	CHECK(fi_cq_read(cq, entry, 4) == -FI_EOVERRUN);
	CHECK(fi_close(&mr->fid) == 0 && fi_close(&e->fid) == 0);
	CHECK(fi_close(&names->fid) == 0 && fi_close(&cq->fid) == 0);
	CHECK(fi_close(&read->fid) == 0 && fi_close(&wrote->fid) == 0);
	CHECK(fi_close(&arrived->fid) == 0 && fi_close(&d->fid) == 0);
	fi_freeinfo(second);
}

static void questions(void)
{
	size_t n = 0;

	CHECK(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &n) == 0 && n >= 1);
	CHECK(fi_atomicvalid(ep, FI_DOUBLE, FI_BOR, &n) == -FI_EOPNOTSUPP);
	CHECK(fi_compare_atomicvalid(ep, FI_INT32, FI_CSWAP, &n) == 0);
	CHECK(fi_fetch_atomicvalid(ep, FI_FLOAT, FI_ATOMIC_READ, &n) == 0);
	CHECK(fi_barrier(ep, other, NULL) == -FI_ENOSYS);
	CHECK(fi_cq_sread(rx, &n, 1, NULL, 2) == -FI_EAGAIN);
	CHECK(fi_cntr_wait(sent, fi_cntr_read(sent) + 1, 1) == -FI_ETIMEDOUT);
}

static void all_else(void)
{
	vectors(100);
	vectors(100000);
	multi();
	peeks();
	reports();
	errors();
	memory();
	own_keys();
	questions();
}

/* With an argument: tagged messages alone. */
int main(int argc, char **argv)
{
	(void)argv;
	refuse_hints();
	get_info();
	open_all();
	find_other();
	meet();
	tagged();
	if (argc == 1)
		all_else();
	meet();
	printf("rank %u: all of libfabric is right, %llu sends\n", rank,
		(unsigned long long)fi_cntr_read(sent));
	CHECK(fi_close(&ep->fid) == 0);
	CHECK(fi_close(&rx->fid) == 0 && fi_close(&tx->fid) == 0);
	CHECK(fi_close(&av->fid) == 0);
	CHECK(fi_close(&domain->fid) == 0 && fi_close(&fabric->fid) == 0);
	fi_freeinfo(info);
	return 0;
}
