/* Transactions of Gemini's user-level interface. */
#include "api/gni/gni.h"
#include "base/mem.h"
#include "host/program.h"
#include "weft/kgni.h"

#define FMA_MOST (UINT64_C(1) << 30) /* bytes of a window */

enum {
	EVENTS_HERE = GNI_CQMODE_LOCAL_EVENT | GNI_CQMODE_GLOBAL_EVENT |
		      GNI_CQMODE_DUAL_EVENTS,
	EVENTS = EVENTS_HERE | GNI_CQMODE_REMOTE_EVENT,
	DELIVERIES = GNI_DLVMODE_IN_ORDER | GNI_DLVMODE_NO_RADAPT,
	WORD = 8,
};

/* --- records --- */

uint32_t gni_take_post(gni_cq_handle_t cq)
{
	struct slots *s = &gni_process()->posts;
	struct gni_post *x;
	uint32_t id;

	if (s->used == GNI_MOST_POSTS)
		return 0;
	id = slots_take(s);
	x = slots_at(s, id);
	x->cq = cq;
	x->left = 1;
	return id;
}

void gni_give_post(uint32_t id)
{
	struct slots *s = &gni_process()->posts;

	mem_free(((struct gni_post *)slots_at(s, id))->bytes);
	slots_give(s, id);
}

gni_return_t GNI_GetCompleted(
	gni_cq_handle_t cq, gni_cq_entry_t entry, gni_post_descriptor_t **d)
{
	uint32_t id = GNI_CQ_GET_TID(entry);
	struct gni_post *x = slots_find(&gni_process()->posts, id);

	if (!gni_find_cq(cq) || !d)
		return GNI_RC_INVALID_PARAM;
	if (GNI_CQ_GET_TYPE(entry) != GNI_CQ_EVENT_TYPE_POST || !x ||
		x->cq != cq || !x->is_ended)
		return GNI_RC_NO_MATCH;
	*d = x->d;
	x->d->status = x->status ? GNI_RC_TRANSACTION_ERROR : GNI_RC_SUCCESS;
	gni_give_post(id);
	return (*d)->status;
}

/* --- what a descriptor becomes --- */

static struct gemini_post post_to(const struct gni_end *e,
	const gni_mem_handle_t *mem, uint64_t remote_addr)
{
	return (struct gemini_post){
		.node = e->node,
		.handle = GNI_HANDLE(mem),
		.tag = e->tag,
		.offset = remote_addr - mem->qword1,
		.cq = GEMINI_NO_CQ,
		.remote_cq = GEMINI_NO_CQ,
	};
}

static void want_remote(struct gemini_post *p, uint64_t data)
{
	p->remote_cq = GEMINI_CQ_OF_HANDLE;
	p->remote_data = GNI_EVENT(GNI_CQ_EVENT_TYPE_REMOTE, 0, data);
}

/* The card's queue of a record, and what its events show. */
static void want_local(
	struct gemini_post *p, uint32_t type, uint32_t id, uint32_t shows)
{
	const struct gni_post *x = slots_at(&gni_process()->posts, id);

	p->cq = gni_find_cq(x->cq)->queue.cq;
	p->data = GNI_EVENT(type, id, shows);
}

/* --- checks --- */

static gni_cq_handle_t queue_of(
	const struct gni_end *e, const gni_post_descriptor_t *d)
{
	return d->src_cq_hndl ? d->src_cq_hndl : e->cq;
}

static gni_return_t check_modes(
	const struct gni_end *e, const gni_post_descriptor_t *d)
{
	if (d->cq_mode & ~EVENTS || d->dlvr_mode & ~DELIVERIES ||
		d->rdma_mode & ~GNI_RDMAMODE_FENCE)
		return GNI_RC_INVALID_PARAM;
	if (!e->is_bound)
		return GNI_RC_INVALID_STATE;
	if (d->cq_mode & EVENTS_HERE && !gni_find_cq(queue_of(e, d)))
		return GNI_RC_ILLEGAL_OP;
	if (d->cq_mode & EVENTS_HERE &&
		gni_process()->posts.used == GNI_MOST_POSTS)
		return GNI_RC_ERROR_RESOURCE;
	return GNI_RC_SUCCESS;
}

/* Bytes of the caller's that must be in a segment that it has registered. */
static gni_return_t check_segment(const gni_post_descriptor_t *d)
{
	const struct gni_segment *x = gni_find_mem(&d->local_mem_hndl);

	if (!x)
		return GNI_RC_INVALID_PARAM;
	if (d->local_addr < x->handle.qword1 ||
		d->local_addr - x->handle.qword1 > x->bytes ||
		d->length > x->bytes - (d->local_addr - x->handle.qword1))
		return GNI_RC_PERMISSION_ERROR;
	return GNI_RC_SUCCESS;
}

static gni_return_t check_size(const gni_post_descriptor_t *d, uint64_t most)
{
	return !d->length || d->length > most ? GNI_RC_SIZE_ERROR
					      : GNI_RC_SUCCESS;
}

static gni_return_t check_get(const gni_post_descriptor_t *d)
{
	if ((d->local_addr | d->remote_addr | d->length) % 4)
		return GNI_RC_ALIGNMENT_ERROR;
	return check_segment(d);
}

static gni_return_t check_fma(const gni_post_descriptor_t *d)
{
	gni_return_t code = check_size(d, FMA_MOST);

	if (code)
		return code;
	if (d->type == GNI_POST_FMA_GET)
		return check_get(d);
	if (d->type == GNI_POST_FMA_PUT_W_SYNCFLAG && d->sync_flag_addr % WORD)
		return GNI_RC_ALIGNMENT_ERROR;
	return program_has(d->local_addr, d->length) ? GNI_RC_SUCCESS
						     : GNI_RC_PERMISSION_ERROR;
}

/* --- atomic operations --- */

/* What a command means; those of the second half are cached. */
static void decode(uint32_t command, struct gemini_post *p)
{
	const uint32_t half = GNI_FMA_ATOMIC_CSWAP;
	uint32_t c = (command - 1) % half;

	p->is_cached = command > half;
	p->op = c < GEMINI_SWAP_IF ? GEMINI_AMO : GEMINI_FETCH;
	p->amo = c + 1 == half ? GEMINI_SWAP_IF : c % GEMINI_SWAP_IF;
}

static gni_return_t check_amo(const gni_post_descriptor_t *d)
{
	struct gemini_post p;

	if (d->amo_cmd < GNI_FMA_ATOMIC_ADD ||
		d->amo_cmd > GNI_FMA_ATOMIC_CSWAP_C)
		return GNI_RC_INVALID_PARAM;
	decode(d->amo_cmd, &p);
	if (d->length != WORD)
		return GNI_RC_SIZE_ERROR;
	if (d->remote_addr % WORD ||
		(p.op == GEMINI_FETCH && d->local_addr % WORD))
		return GNI_RC_ALIGNMENT_ERROR;
	return p.op == GEMINI_FETCH ? check_segment(d) : GNI_RC_SUCCESS;
}

/* --- posting --- */

typedef int begin(struct nic *nic, const struct gemini_post *p);

/* The word behind a put's bytes, of which it knows all but that.  Meanwhile
 * another thread may have destroyed the queue. */
static void post_flag(const gni_post_descriptor_t *d, gni_cq_handle_t cq,
	struct gemini_post *p)
{
	p->offset += d->sync_flag_addr - d->remote_addr;
	p->from = &d->sync_flag_value;
	p->bytes = WORD;
	if (!gni_find_cq(cq))
		p->cq = GEMINI_NO_CQ;
	BUG_IF(gemini_fma(gni_nic(), p));
}

/* Begins what the descriptor says, in one part or two. */
static gni_return_t post(const struct gni_end *e, gni_post_descriptor_t *d,
	struct gemini_post *p, begin *by)
{
	bool has_flag = d->type == GNI_POST_FMA_PUT_W_SYNCFLAG;
	gni_cq_handle_t cq = queue_of(e, d);
	struct gemini_post flag;

	if (d->cq_mode & EVENTS_HERE) {
		uint32_t id = gni_take_post(cq);
		struct gni_post *x = slots_at(&gni_process()->posts, id);

		x->d = d;
		x->left += has_flag;
		want_local(p, GNI_CQ_EVENT_TYPE_POST, id, e->local_event);
	}
	p->is_ordered = has_flag || d->dlvr_mode & GNI_DLVMODE_NO_ADAPT;
	p->is_by_line = !has_flag && !(d->dlvr_mode & GNI_DLVMODE_NO_HASH);
	flag = *p;
	if (d->cq_mode & GNI_CQMODE_REMOTE_EVENT)
		want_remote(has_flag ? &flag : p, e->remote_event);
	BUG_IF(by(gni_nic(), p));
	if (has_flag)
		post_flag(d, cq, &flag);
	return GNI_RC_SUCCESS;
}

static struct gemini_post block(
	const struct gni_end *e, const gni_post_descriptor_t *d, uint32_t op)
{
	struct gemini_post p = post_to(e, &d->remote_mem_hndl, d->remote_addr);

	p.op = op;
	p.here = program_base() + d->local_addr;
	p.bytes = d->length;
	return p;
}

gni_return_t GNI_PostFma(gni_ep_handle_t ep, gni_post_descriptor_t *d)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gemini_post p;
	gni_return_t code;

	if (!e || !d)
		return GNI_RC_INVALID_PARAM;
	if (d->type < GNI_POST_FMA_PUT || d->type > GNI_POST_AMO)
		return GNI_RC_ILLEGAL_OP;
	code = check_modes(e, d);
	if (!code)
		code = d->type == GNI_POST_AMO ? check_amo(d) : check_fma(d);
	if (code)
		return code;
	p = block(e, d, d->type == GNI_POST_FMA_GET ? GEMINI_GET : GEMINI_PUT);
	if (d->type == GNI_POST_AMO) {
		decode(d->amo_cmd, &p);
		p.operand[0] = d->first_operand;
		p.operand[1] = d->second_operand;
	}
	return post(e, d, &p, gemini_fma);
}

gni_return_t GNI_PostRdma(gni_ep_handle_t ep, gni_post_descriptor_t *d)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gemini_post p;
	gni_return_t code;

	if (!e || !d)
		return GNI_RC_INVALID_PARAM;
	if (d->type != GNI_POST_RDMA_PUT && d->type != GNI_POST_RDMA_GET)
		return GNI_RC_ILLEGAL_OP;
	code = check_modes(e, d);
	if (!code)
		code = check_size(d, GEMINI_BLOCK);
	if (!code)
		code = d->type == GNI_POST_RDMA_GET ? check_get(d)
						    : check_segment(d);
	if (code)
		return code;
	p = block(e, d, d->type == GNI_POST_RDMA_GET ? GEMINI_GET : GEMINI_PUT);
	p.is_fence = d->rdma_mode & GNI_RDMAMODE_FENCE;
	return post(e, d, &p, gemini_bte);
}

gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep, gni_post_descriptor_t *d)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gemini_post p;
	gni_return_t code;

	if (!e || !d || d->cqwrite_value >> 48)
		return GNI_RC_INVALID_PARAM;
	if (d->type != GNI_POST_CQWRITE)
		return GNI_RC_ILLEGAL_OP;
	code = check_modes(e, d);
	if (code)
		return code;
	p = post_to(e, &d->remote_mem_hndl, d->remote_mem_hndl.qword1);
	p.op = GEMINI_PUT;
	want_remote(&p, d->cqwrite_value);
	return post(e, d, &p, gemini_fma);
}

void gni_put(uint32_t id, const struct gni_end *e, const gni_mem_handle_t *mem,
	uint32_t type)
{
	const struct gni_post *x = slots_at(&gni_process()->posts, id);
	struct gemini_post p = post_to(e, mem, x->to);

	p.op = GEMINI_PUT;
	p.from = x->bytes;
	p.bytes = x->n;
	p.is_ordered = true;
	want_local(&p, type, id, x->msg_id);
	if (type == GNI_CQ_EVENT_TYPE_SMSG && GNI_HAS_QUEUE(mem))
		want_remote(&p, e->remote_event);
	BUG_IF(gemini_fma(gni_nic(), &p));
}

/* --- the kernel's --- */

static gni_return_t check_send(
	const struct gni_end *e, const gni_post_descriptor_t *d)
{
	gni_return_t code = check_modes(e, d);

	if (!code)
		code = check_size(d, GEMINI_BLOCK);
	if (code)
		return code;
	if (d->type != KGNI_POST_SEND || d->cq_mode & GNI_CQMODE_REMOTE_EVENT)
		return GNI_RC_ILLEGAL_OP;
	if (!program_is_system() || !program_has(d->local_addr, d->length))
		return GNI_RC_PERMISSION_ERROR;
	return GNI_RC_SUCCESS;
}

gni_return_t kgni_send(
	gni_ep_handle_t ep, uint32_t port, gni_post_descriptor_t *d)
{
	const struct gni_end *e = gni_find_ep(ep);
	struct gemini_post p;
	gni_return_t code;

	if (!e || !d || port >= KGNI_PORTS)
		return GNI_RC_INVALID_PARAM;
	code = check_send(e, d);
	if (code)
		return code;
	p = block(e, d, GEMINI_SEND);
	p.handle = port;
	p.is_fence = d->rdma_mode & GNI_RDMAMODE_FENCE;
	return post(e, d, &p, gemini_bte);
}
