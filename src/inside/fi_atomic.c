#include "inside/fi.h"

#include <complex.h>
#include <string.h>

/* Atomics: what is combined goes with the command, what is compared is read
 * from memory, what was there before is written back. */

/* Three kinds of them, by what else they need. */
enum atomic_kind { ATOMIC_PLAIN, ATOMIC_FETCH, ATOMIC_COMPARE };

struct atomic {
	enum atomic_kind kind;
	const struct fi_ioc *operand, *compare;
	size_t n_operands; /* pieces */
	const struct fi_ioc *result;
	fi_addr_t rank;
	uint64_t at, key;
	enum fi_datatype type;
	enum fi_op op;
	void *context;
	uint64_t flags;
	bool is_silent;
};

/* --- which there are --- */

static size_t type_bytes(enum fi_datatype type)
{
	static const size_t bytes[] = {
		[FI_INT8] = 1,
		[FI_UINT8] = 1,
		[FI_INT16] = 2,
		[FI_UINT16] = 2,
		[FI_INT32] = 4,
		[FI_UINT32] = 4,
		[FI_INT64] = 8,
		[FI_UINT64] = 8,
		[FI_FLOAT] = sizeof(float),
		[FI_DOUBLE] = sizeof(double),
		[FI_FLOAT_COMPLEX] = sizeof(float complex),
		[FI_DOUBLE_COMPLEX] = sizeof(double complex),
		[FI_LONG_DOUBLE] = sizeof(long double),
		[FI_LONG_DOUBLE_COMPLEX] = sizeof(long double complex),
	};

	return (unsigned)type < sizeof(bytes) / sizeof(bytes[0]) ? bytes[type]
								 : 0;
}

static bool is_integer(enum fi_datatype type)
{
	return type <= FI_UINT64;
}

static bool is_complex(enum fi_datatype type)
{
	return type == FI_FLOAT_COMPLEX || type == FI_DOUBLE_COMPLEX ||
	       type == FI_LONG_DOUBLE_COMPLEX;
}

static bool fits_type(enum fi_datatype type, enum fi_op op)
{
	switch (op) {
	case FI_BOR:
	case FI_BAND:
	case FI_BXOR:
	case FI_MSWAP:
		return is_integer(type);
	case FI_MIN:
	case FI_MAX:
	case FI_CSWAP_LE:
	case FI_CSWAP_LT:
	case FI_CSWAP_GE:
	case FI_CSWAP_GT:
		return !is_complex(type);
	default:
		return true;
	}
}

static bool is_compare(enum fi_op op)
{
	return op >= FI_CSWAP && op <= FI_MSWAP;
}

static int check(
	enum atomic_kind kind, enum fi_datatype type, enum fi_op op, size_t *n)
{
	bool is_known = type_bytes(type) > 0 && (unsigned)op <= FI_MSWAP;

	if (!is_known || !fits_type(type, op) ||
		is_compare(op) != (kind == ATOMIC_COMPARE) ||
		(op == FI_ATOMIC_READ && kind != ATOMIC_FETCH))
		return -FI_EOPNOTSUPP;
	if (n)
		*n = FI_MOST_ATOMIC / type_bytes(type);
	return 0;
}

int atomic_query(struct fid_domain *domain, enum fi_datatype type,
	enum fi_op op, struct fi_atomic_attr *attr, uint64_t flags)
{
	enum atomic_kind kind = flags & FI_COMPARE_ATOMIC ? ATOMIC_COMPARE
				: flags & FI_FETCH_ATOMIC ? ATOMIC_FETCH
							  : ATOMIC_PLAIN;
	int error = check(kind, type, op, &attr->count);

	attr->size = type_bytes(type);
	return error;
}

/* --- all of them --- */

static size_t gather(char *to, const struct fi_ioc *ioc, size_t n, size_t each)
{
	size_t bytes = 0;

	for (size_t i = 0;
		i < n && ioc[i].count * each <= CHANNEL_SHORT - bytes; i++) {
		memcpy(to + bytes, ioc[i].addr, ioc[i].count * each);
		bytes += ioc[i].count * each;
	}
	return bytes;
}

/* A read has no operand, but says by it how much it reads. */
static size_t total(const struct atomic *a)
{
	const struct fi_ioc *ioc =
		a->op == FI_ATOMIC_READ ? a->result : a->operand;
	size_t n = 0;

	for (size_t i = 0; i < a->n_operands; i++)
		n += ioc[i].count;
	return n * type_bytes(a->type);
}

static struct op *new_op(struct endpoint *ep, const struct atomic *a)
{
	bool is_read = a->kind != ATOMIC_PLAIN;
	enum count count = is_read ? COUNT_READ : COUNT_WRITE;
	struct op *op;

	if (a->is_silent && !ep->counter[count])
		return NULL;
	op = op_new(ep, count, a->context);
	if (!op)
		return NULL;
	op->flags = FI_ATOMIC | (is_read ? FI_READ : FI_WRITE);
	op->is_reported =
		!a->is_silent && ep_reports(ep->is_tx_selective, a->flags);
	op_list(op, &ep->others);
	return op;
}

static void set_commands(struct channel_command *c, const struct endpoint *ep,
	const struct atomic *a, struct fi_address to)
{
	c[0] = (struct channel_command){
		.kind = CHANNEL_ATOMIC,
		.op = (uint16_t)((unsigned)a->type << 8 | (unsigned)a->op),
		.endpoint = ep->number,
		.rank = to.rank,
		.to = to.endpoint,
		.tag = a->at,
		.ignore = a->key,
		.bytes = total(a),
	};
	if (a->flags & FI_DELIVERY_COMPLETE)
		c[0].flags |= CHANNEL_DELIVERED;
	c[1] = (struct channel_command){
		.kind = CHANNEL_MORE,
		.endpoint = ep->number,
		.at = a->result ? (uintptr_t)a->result->addr : 0,
		.tag = a->compare ? (uintptr_t)a->compare->addr : 0,
		.bytes = c[0].bytes,
	};
}

static ssize_t run_locked(struct endpoint *ep, const struct atomic *a)
{
	struct channel_command c[2];
	char operand[CHANNEL_SHORT] = { 0 };
	struct fi_address to;
	struct op *op;
	int error = check(a->kind, a->type, a->op, NULL);

	if (error)
		return error;
	if (!av_find(ep->av, a->rank, &to) || total(a) > CHANNEL_SHORT)
		return -FI_EINVAL;
	set_commands(c, ep, a, to);
	if (a->op != FI_ATOMIC_READ)
		gather(operand, a->operand, a->n_operands, type_bytes(a->type));
	op = new_op(ep, a);
	c[0].context = (uintptr_t)op;
	if (!op)
		c[0].flags |= CHANNEL_SILENT;
	return op_post(op, c, 2, operand);
}

static ssize_t run(struct fid_ep *fid, const struct atomic *a)
{
	ssize_t answer;

	weft_link_lock();
	answer = run_locked((struct endpoint *)fid, a);
	weft_link_unlock();
	return answer;
}

static uint64_t flags_of(struct fid_ep *fid)
{
	return ((struct endpoint *)fid)->tx_flags;
}

/* The rest of one that a message describes; of several pieces of remote memory
 * there is only one. */
static ssize_t run_message(struct fid_ep *ep, struct atomic a,
	const struct fi_msg_atomic *m, uint64_t flags)
{
	if (m->rma_iov_count != 1)
		return -FI_EINVAL;
	a.operand = m->msg_iov;
	a.n_operands = m->iov_count;
	a.rank = m->addr;
	a.at = m->rma_iov->addr;
	a.key = m->rma_iov->key;
	a.type = m->datatype;
	a.op = m->op;
	a.context = m->context;
	a.flags = flags;
	return run(ep, &a);
}

/* --- plain --- */

static ssize_t applyv(struct fid_ep *ep, const struct fi_ioc *ioc, void **desc,
	size_t n, fi_addr_t to, uint64_t at, uint64_t key,
	enum fi_datatype type, enum fi_op op, void *context)
{
	return run(ep, &(struct atomic){ .operand = ioc,
			       .n_operands = n,
			       .rank = to,
			       .at = at,
			       .key = key,
			       .type = type,
			       .op = op,
			       .context = context,
			       .flags = flags_of(ep) });
}

static ssize_t apply(struct fid_ep *ep, const void *buf, size_t n, void *desc,
	fi_addr_t to, uint64_t at, uint64_t key, enum fi_datatype type,
	enum fi_op op, void *context)
{
	struct fi_ioc ioc = { (void *)buf, n };

	return applyv(ep, &ioc, &desc, 1, to, at, key, type, op, context);
}

static ssize_t applymsg(
	struct fid_ep *ep, const struct fi_msg_atomic *m, uint64_t flags)
{
	return run_message(ep, (struct atomic){ 0 }, m, flags);
}

static ssize_t inject(struct fid_ep *ep, const void *buf, size_t n,
	fi_addr_t to, uint64_t at, uint64_t key, enum fi_datatype type,
	enum fi_op op)
{
	return run(ep,
		&(struct atomic){ .operand = &(struct fi_ioc){ (void *)buf, n },
			.n_operands = 1,
			.rank = to,
			.at = at,
			.key = key,
			.type = type,
			.op = op,
			.flags = FI_INJECT,
			.is_silent = true });
}

/* --- that return what was there --- */

static ssize_t readwritev(struct fid_ep *ep, const struct fi_ioc *ioc,
	void **desc, size_t n, struct fi_ioc *result, void **result_desc,
	size_t n_results, fi_addr_t to, uint64_t at, uint64_t key,
	enum fi_datatype type, enum fi_op op, void *context)
{
	if (n_results != 1)
		return -FI_EINVAL;
	return run(ep, &(struct atomic){ .kind = ATOMIC_FETCH,
			       .operand = ioc,
			       .n_operands = n,
			       .result = result,
			       .rank = to,
			       .at = at,
			       .key = key,
			       .type = type,
			       .op = op,
			       .context = context,
			       .flags = flags_of(ep) });
}

static ssize_t readwrite(struct fid_ep *ep, const void *buf, size_t n,
	void *desc, void *result, void *result_desc, fi_addr_t to, uint64_t at,
	uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	struct fi_ioc ioc = { (void *)buf, n }, results = { result, n };

	return readwritev(ep, &ioc, &desc, 1, &results, &result_desc, 1, to, at,
		key, type, op, context);
}

static ssize_t readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *m,
	struct fi_ioc *result, void **result_desc, size_t n_results,
	uint64_t flags)
{
	if (n_results != 1)
		return -FI_EINVAL;
	return run_message(ep,
		(struct atomic){ .kind = ATOMIC_FETCH, .result = result }, m,
		flags);
}

/* --- that compare first --- */

static ssize_t compwritev(struct fid_ep *ep, const struct fi_ioc *ioc,
	void **desc, size_t n, const struct fi_ioc *compare,
	void **compare_desc, size_t n_compares, struct fi_ioc *result,
	void **result_desc, size_t n_results, fi_addr_t to, uint64_t at,
	uint64_t key, enum fi_datatype type, enum fi_op op, void *context)
{
	if (n_compares != 1 || n_results != 1)
		return -FI_EINVAL;
	return run(ep, &(struct atomic){ .kind = ATOMIC_COMPARE,
			       .operand = ioc,
			       .n_operands = n,
			       .compare = compare,
			       .result = result,
			       .rank = to,
			       .at = at,
			       .key = key,
			       .type = type,
			       .op = op,
			       .context = context,
			       .flags = flags_of(ep) });
}

static ssize_t compwrite(struct fid_ep *ep, const void *buf, size_t n,
	void *desc, const void *compare, void *compare_desc, void *result,
	void *result_desc, fi_addr_t to, uint64_t at, uint64_t key,
	enum fi_datatype type, enum fi_op op, void *context)
{
	struct fi_ioc ioc = { (void *)buf, n }, results = { result, n };
	struct fi_ioc compares = { (void *)compare, n };

	return compwritev(ep, &ioc, &desc, 1, &compares, &compare_desc, 1,
		&results, &result_desc, 1, to, at, key, type, op, context);
}

static ssize_t compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *m,
	const struct fi_ioc *compare, void **compare_desc, size_t n_compares,
	struct fi_ioc *result, void **result_desc, size_t n_results,
	uint64_t flags)
{
	if (n_compares != 1 || n_results != 1)
		return -FI_EINVAL;
	return run_message(ep,
		(struct atomic){ .kind = ATOMIC_COMPARE,
			.compare = compare,
			.result = result },
		m, flags);
}

/* --- questions --- */

static int write_valid(
	struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *n)
{
	return check(ATOMIC_PLAIN, type, op, n);
}

static int readwrite_valid(
	struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *n)
{
	return check(ATOMIC_FETCH, type, op, n);
}

static int compwrite_valid(
	struct fid_ep *ep, enum fi_datatype type, enum fi_op op, size_t *n)
{
	return check(ATOMIC_COMPARE, type, op, n);
}

struct fi_ops_atomic atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = apply,
	.writev = applyv,
	.writemsg = applymsg,
	.inject = inject,
	.readwrite = readwrite,
	.readwritev = readwritev,
	.readwritemsg = readwritemsg,
	.compwrite = compwrite,
	.compwritev = compwritev,
	.compwritemsg = compwritemsg,
	.writevalid = write_valid,
	.readwritevalid = readwrite_valid,
	.compwritevalid = compwrite_valid,
};
