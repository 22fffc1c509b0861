/* Calls of the one-sided interface: what they transfer and change. */
#include "api/dmapp/dmapp.h"

enum {
	WINDOW = 512, /* transactions under way */
	MOST_LINES = 1 << 16, /* of a stream to several PEs */
};

/* --- operations --- */

/* A call's: where it goes, its elements, and how it ends. */
struct call {
	const dmapp_seg_desc_t *seg;
	uint64_t there, here; /* addresses of processes */
	dmapp_pe_t pe;
	uint64_t n;
	dmapp_type_t type;
	enum dmapp_way way;
	dmapp_syncid_handle_t *syncid;
	uint32_t op; /* its number, once it has begun */
};

static uint32_t size_of(dmapp_type_t type)
{
	static const uint32_t sizes[] = { 1, 4, 8, 16 };

	return sizes[type];
}

static dmapp_return_t check(const struct call *c, uint64_t n_here)
{
	uint32_t size, grain;

	if (!dmapp_state()->is_open || !c->seg || c->pe >= dmapp_n_pes() ||
		c->type > DMAPP_DQW || (c->way == DMAPP_NB && !c->syncid) ||
		c->n > host_memory_each(program_host()))
		return DMAPP_RC_INVALID_PARAM;
	size = size_of(c->type);
	grain = size < 8 ? size : 8;
	if (!program_has(c->here, n_here * size))
		return DMAPP_RC_INVALID_PARAM;
	return c->there % grain || c->here % grain ? DMAPP_RC_ALIGNMENT_ERROR
						   : DMAPP_RC_SUCCESS;
}

static void begin(struct call *c)
{
	struct dmapp *d = dmapp_state();
	struct dmapp_op *x;

	c->op = slots_take(&d->ops);
	x = slots_at(&d->ops, c->op);
	x->way = (uint8_t)c->way;
	x->serial = ++d->serial;
	x->pending = 1;
	d->n_nbi += c->way == DMAPP_NBI;
}

static dmapp_return_t finish(const struct call *c)
{
	struct dmapp *d = dmapp_state();
	struct dmapp_op *x = slots_at(&d->ops, c->op);
	dmapp_return_t code;

	if (c->way == DMAPP_NB)
		*c->syncid = (uint64_t)x->serial << 32 | c->op;
	if (!--x->pending)
		dmapp_op_ended(d, c->op, x);
	if (c->way != DMAPP_PLAIN)
		return DMAPP_RC_SUCCESS;
	while (((struct dmapp_op *)slots_at(&d->ops, c->op))->pending)
		dmapp_wait_events(d);
	x = slots_at(&d->ops, c->op);
	code = dmapp_code(x->is_failed);
	slots_give(&d->ops, c->op);
	return code;
}

static void make_room(struct dmapp *d, const struct call *c)
{
	dmapp_take_events(d);
	while (d->posted - d->ended >= WINDOW)
		dmapp_wait_events(d);
	d->posted++;
	((struct dmapp_op *)slots_at(&d->ops, c->op))->pending++;
}

static uint32_t handle_of(const struct call *c, dmapp_pe_t pe)
{
	return c->seg->handle ? c->seg->handle
			      : DMAPP_HANDLE + pe % dmapp_n_processes();
}

/* One transaction of an operation; addresses are those of processes. */
static void transfer(const struct call *c, struct gemini_post p, dmapp_pe_t pe,
	uint64_t there, uint64_t here)
{
	struct dmapp *d = dmapp_state();
	bool is_block = (p.op == GEMINI_PUT || p.op == GEMINI_GET) &&
			gemini_is_block(gni_nic(), p.bytes);

	make_room(d, c);
	p.node = pe / dmapp_n_processes();
	p.handle = handle_of(c, pe);
	p.offset = there - c->seg->addr;
	p.here = program_base() + here;
	p.cq = d->queue.cq;
	p.remote_cq = GEMINI_NO_CQ;
	p.data = c->op;
	BUG_IF(is_block ? gemini_bte(gni_nic(), &p)
			: gemini_fma(gni_nic(), &p));
}

static dmapp_return_t move(struct call c, uint32_t op)
{
	struct gemini_post p = { .op = op };
	dmapp_return_t code = check(&c, c.n);
	uint64_t left;

	if (code)
		return code;
	left = c.n * size_of(c.type);
	begin(&c);
	for (uint64_t i = 0; left; i += p.bytes, left -= p.bytes) {
		p.bytes = left < GEMINI_BLOCK ? left : GEMINI_BLOCK;
		transfer(&c, p, c.pe, c.there + i, c.here + i);
	}
	return finish(&c);
}

/* --- elements apart --- */

static dmapp_return_t move_strided(struct call c, ptrdiff_t tst, ptrdiff_t sst)
{
	uint64_t size, i, last = c.n ? (c.n - 1) * (uint64_t)sst : 0;
	struct gemini_post p = { .op = GEMINI_PUT };
	dmapp_return_t code;

	if (sst < 1 || tst < 1 ||
		(uint64_t)sst > host_memory_each(program_host()))
		return DMAPP_RC_INVALID_PARAM;
	code = check(&c, c.n ? last + 1 : 0);
	if (code)
		return code;
	p.bytes = size = size_of(c.type);
	begin(&c);
	for (i = 0; i < c.n; i++)
		transfer(&c, p, c.pe, c.there + i * (uint64_t)tst * size,
			c.here + i * (uint64_t)sst * size);
	return finish(&c);
}

static dmapp_return_t move_indexed(struct call c, const ptrdiff_t *tidx)
{
	struct gemini_post p = { .op = GEMINI_PUT };
	dmapp_return_t code = tidx ? check(&c, c.n) : DMAPP_RC_INVALID_PARAM;

	if (code)
		return code;
	p.bytes = size_of(c.type);
	begin(&c);
	for (uint64_t i = 0; i < c.n; i++)
		transfer(&c, p, c.pe, c.there + (uint64_t)tidx[i] * p.bytes,
			c.here + i * p.bytes);
	return finish(&c);
}

/* --- several PEs --- */

/* Whether lines for PEs that follow each other can be one stream. */
static bool is_stream(
	const struct call *c, const dmapp_pe_t *pes, uint32_t n, uint64_t bytes)
{
	if (n < 2 || n > MOST_LINES || bytes != GEMINI_LINE ||
		dmapp_n_processes() > 1 || c->seg->handle >= GEMINI_HANDLES ||
		(c->there - c->seg->addr) >> GEMINI_OFFSET_BITS)
		return false;
	for (uint32_t i = 1; i < n; i++)
		if (pes[i] != pes[0] + i)
			return false;
	return true;
}

/* The window's address says for which PE a line is. */
static void store_stream(const struct call *c, dmapp_pe_t first, uint32_t n)
{
	struct dmapp *d = dmapp_state();
	struct gemini_window w = {
		.bytes = GEMINI_LINE,
		.pe = first,
		.handle = handle_of(c, first),
		.offset = c->there - c->seg->addr,
		.offset_bits = GEMINI_LINE - 1,
		.cq = d->queue.cq,
		.remote_cq = GEMINI_NO_CQ,
	};
	uint32_t window = program_process(), i;
	uint8_t line[GEMINI_LINE];

	while (w.bytes < (uint64_t)n * GEMINI_LINE)
		w.bytes *= 2;
	w.pe_bits = (w.bytes - 1) & ~w.offset_bits;
	make_room(d, c);
	BUG_IF(gemini_window_set(gni_nic(), window, &w));
	for (i = 0; i < n; i++) {
		uint64_t at = (uint64_t)i * GEMINI_LINE;

		program_read(program_base() + c->here + at, line, sizeof(line));
		BUG_IF(gemini_window_store(
			gni_nic(), window, at, line, sizeof(line)));
	}
	BUG_IF(gemini_window_sync(gni_nic(), window, c->op));
}

static dmapp_return_t move_to_all(
	struct call c, const dmapp_pe_t *pes, uint32_t n, bool is_scatter)
{
	struct gemini_post p = { .op = GEMINI_PUT };
	dmapp_return_t code;

	if (!pes || (is_scatter && n && c.n > UINT64_MAX / 16 / n))
		return DMAPP_RC_INVALID_PARAM;
	for (uint32_t i = 0; i < n; i++)
		if (pes[i] >= dmapp_n_pes())
			return DMAPP_RC_INVALID_PARAM;
	code = check(&c, is_scatter ? n * c.n : c.n);
	if (code)
		return code;
	p.bytes = c.n * size_of(c.type);
	begin(&c);
	if (is_scatter && is_stream(&c, pes, n, p.bytes))
		store_stream(&c, pes[0], n);
	else
		for (uint32_t i = 0; c.n && i < n; i++)
			transfer(&c, p, pes[i], c.there,
				c.here + (is_scatter ? i * p.bytes : 0));
	return finish(&c);
}

/* --- atomics --- */

static dmapp_return_t change(
	struct call c, uint32_t op, uint32_t amo, int64_t one, int64_t two)
{
	struct gemini_post p = {
		.op = op,
		.amo = amo,
		.bytes = 8,
		.operand = { (uint64_t)one, (uint64_t)two },
		.is_cached = true,
	};
	dmapp_return_t code;

	c.n = 1;
	c.type = DMAPP_QW;
	code = check(&c, op == GEMINI_FETCH);
	if (code)
		return code;
	begin(&c);
	transfer(&c, p, c.pe, c.there, c.here);
	return finish(&c);
}

/* --- the calls, each three times --- */

#define THREE(name_, arguments_, does_)                                        \
	dmapp_return_t name_(arguments_)                                       \
	{                                                                      \
		return does_(DMAPP_PLAIN, NULL);                               \
	}                                                                      \
	dmapp_return_t name_##_nb(arguments_, dmapp_syncid_handle_t *syncid)   \
	{                                                                      \
		return does_(DMAPP_NB, syncid);                                \
	}                                                                      \
	dmapp_return_t name_##_nbi(arguments_)                                 \
	{                                                                      \
		return does_(DMAPP_NBI, NULL);                                 \
	}

#define CALL(there_, here_, pe_, n_, type_, way_, syncid_)                     \
	(struct call)                                                          \
	{                                                                      \
		.seg = seg, .there = there_, .here = here_, .pe = pe_,         \
		.n = n_, .type = type_, .way = way_, .syncid = syncid_         \
	}

#define TO uint64_t target, const dmapp_seg_desc_t *seg, dmapp_pe_t pe
#define FROM                                                                   \
	uint64_t target, uint64_t source, const dmapp_seg_desc_t *seg,         \
		dmapp_pe_t pe
#define ELEMENTS uint64_t nelems, dmapp_type_t type
#define PES                                                                    \
	uint64_t target, const dmapp_seg_desc_t *seg, const dmapp_pe_t *pes,   \
		uint32_t n, uint64_t source

#define PUT_ARGS  TO, uint64_t source, ELEMENTS
#define PUT(w, s) move(CALL(target, source, pe, nelems, type, w, s), GEMINI_PUT)
#define GET_ARGS  FROM, ELEMENTS
#define GET(w, s) move(CALL(source, target, pe, nelems, type, w, s), GEMINI_GET)
#define IPUT_ARGS TO, uint64_t source, ptrdiff_t tst, ptrdiff_t sst, ELEMENTS
#define IPUT(w, s)                                                             \
	move_strided(CALL(target, source, pe, nelems, type, w, s), tst, sst)
#define IXPUT_ARGS TO, uint64_t source, const ptrdiff_t *tidx, ELEMENTS
#define IXPUT(w, s)                                                            \
	move_indexed(CALL(target, source, pe, nelems, type, w, s), tidx)
#define IXPE_ARGS PES, ELEMENTS
#define PUT_IXPE(w, s)                                                         \
	move_to_all(CALL(target, source, 0, nelems, type, w, s), pes, n, false)
#define SCATTER_IXPE(w, s)                                                     \
	move_to_all(CALL(target, source, 0, nelems, type, w, s), pes, n, true)

THREE(dmapp_put, PUT_ARGS, PUT)
THREE(dmapp_get, GET_ARGS, GET)
THREE(dmapp_iput, IPUT_ARGS, IPUT)
THREE(dmapp_ixput, IXPUT_ARGS, IXPUT)
THREE(dmapp_put_ixpe, IXPE_ARGS, PUT_IXPE)
THREE(dmapp_scatter_ixpe, IXPE_ARGS, SCATTER_IXPE)

/* An atomic's word is there; what it fetches comes to target. */
#define AMO(w, s, amo, one, two)                                               \
	change(CALL(target, 0, pe, 1, DMAPP_QW, w, s), GEMINI_AMO, amo, one,   \
		two)
#define FETCH(w, s, amo, one, two)                                             \
	change(CALL(source, target, pe, 1, DMAPP_QW, w, s), GEMINI_FETCH, amo, \
		one, two)

#define AMO_ARGS   TO, int64_t operand
#define FETCH_ARGS FROM, int64_t operand
#define ADD(w, s)  AMO(w, s, GEMINI_ADD, operand, 0)
#define AND(w, s)  AMO(w, s, GEMINI_AND, operand, 0)
#define OR(w, s)   AMO(w, s, GEMINI_OR, operand, 0)
#define XOR(w, s)  AMO(w, s, GEMINI_XOR, operand, 0)
#define FADD(w, s) FETCH(w, s, GEMINI_ADD, operand, 0)
#define FAND(w, s) FETCH(w, s, GEMINI_AND, operand, 0)
#define FOR(w, s)  FETCH(w, s, GEMINI_OR, operand, 0)
#define FXOR(w, s) FETCH(w, s, GEMINI_XOR, operand, 0)

THREE(dmapp_aadd_qw, AMO_ARGS, ADD)
THREE(dmapp_aand_qw, AMO_ARGS, AND)
THREE(dmapp_aor_qw, AMO_ARGS, OR)
THREE(dmapp_axor_qw, AMO_ARGS, XOR)
THREE(dmapp_afadd_qw, FETCH_ARGS, FADD)
THREE(dmapp_afand_qw, FETCH_ARGS, FAND)
THREE(dmapp_afor_qw, FETCH_ARGS, FOR)
THREE(dmapp_afxor_qw, FETCH_ARGS, FXOR)

#define AX_ARGS	    TO, int64_t and_mask, int64_t xor_mask
#define FAX_ARGS    FROM, int64_t and_mask, int64_t xor_mask
#define CSWAP_ARGS  FROM, int64_t comparand, int64_t swap
#define AX(w, s)    AMO(w, s, GEMINI_AND_XOR, and_mask, xor_mask)
#define FAX(w, s)   FETCH(w, s, GEMINI_AND_XOR, and_mask, xor_mask)
#define CSWAP(w, s) FETCH(w, s, GEMINI_SWAP_IF, comparand, swap)

THREE(dmapp_aax_qw, AX_ARGS, AX)
THREE(dmapp_afax_qw, FAX_ARGS, FAX)
THREE(dmapp_acswap_qw, CSWAP_ARGS, CSWAP)
