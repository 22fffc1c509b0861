/*
 * FMA's windows: a descriptor defines the meaning of stores into them.  Each
 * line is a transaction by itself, without an event; the descriptor has a count
 * of unanswered lines for each sync.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "nic/gemini/card.h"

enum { ADDRESS_BITS = 48, COMMAND_AT = 56, COMMAND_GET = 1, COMMAND_FETCH };

struct sync {
	uint32_t pending; /* lines */
	uint32_t status;
	bool is_asked; /* its store is in the card */
	uint64_t data;
};

struct gem_window {
	struct gemini_window how;
	bool is_set;
	uint32_t cq_round; /* of how.cq */
	uint32_t pending;
	struct ring syncs; /* the last one is not asked for */
	uint32_t first, asked; /* the number of the first; of stores come */
};

static void gem_window_fini(struct gem_node *n)
{
	for (uint32_t i = 0; i < n->n_windows; i++)
		ring_fini(&n->windows[i].syncs);
	mem_free(n->windows);
	mem_free(n->ntt);
}

static uint64_t gem_window_memory(const struct gem_node *n)
{
	uint64_t sum = n->n_windows * sizeof(*n->windows);

	for (uint32_t i = 0; i < n->n_windows; i++)
		sum += ring_memory(&n->windows[i].syncs);
	if (n->ntt)
		sum += sizeof(*n->ntt) << (GEMINI_PE_BITS - GEMINI_PE_LOW);
	return sum;
}

NIC_MEMBER_OPS(gem_window, NULL);

/* --- descriptors --- */

static bool is_sound(const struct gem_node *n, const struct gemini_window *w)
{
	bool is_line = (w->offset_bits & (GEMINI_LINE - 1)) == GEMINI_LINE - 1;

	if (w->bytes < GEMINI_LINE || w->bytes > GEMINI_WINDOW ||
		w->bytes & (w->bytes - 1) || !is_line)
		return false;
	if ((w->pe_bits | w->offset_bits) >= w->bytes ||
		w->handle >= GEMINI_HANDLES || w->offset >> GEMINI_OFFSET_BITS)
		return false;
	if (w->op != GEMINI_PUT && w->op != GEMINI_AMO)
		return false;
	if (w->amo >= GEMINI_AMOS ||
		(w->op == GEMINI_AMO && w->amo == GEMINI_SWAP_IF))
		return false;
	return w->cq == GEMINI_NO_CQ ||
	       (w->cq < GEMINI_CQS && n->cq[w->cq].entries);
}

static void store(
	struct nic_at *a, uint32_t bytes, uint32_t number, uint32_t window)
{
	struct side *side = gem_of(a)->side;
	sim_time t;

	program_charge(gem_params(a)->store);
	a->t = program_now();
	t = side->ops->store(side, a->s, a->t, bytes);
	if (number)
		gem_post(a, t > a->t ? t : a->t + 1, number, window);
}

static void make_room(struct gem_node *n, uint32_t window)
{
	uint32_t i = n->n_windows;

	if (window < i)
		return;
	n->windows = mem_grow(n->windows, window + 1, sizeof(*n->windows));
	for (; i <= window; i++) {
		n->windows[i] = (struct gem_window){ .is_set = false };
		ring_init(&n->windows[i].syncs, sizeof(struct sync));
		*(struct sync *)ring_push(&n->windows[i].syncs) =
			(struct sync){ .pending = 0 };
	}
	n->n_windows = window + 1;
}

/* Lines that were stored before are as the descriptor was then. */
int gemini_window_set(
	struct nic *nic, uint32_t window, const struct gemini_window *w)
{
	struct nic_at a = nic_now(nic);
	struct gem_node *n = a.node;

	if (window >= GEMINI_WINDOWS || !is_sound(n, w))
		return EINVAL;
	store(&a, GEMINI_LINE, 0, window);
	make_room(n, window);
	n->windows[window].how = *w;
	n->windows[window].is_set = true;
	if (w->cq != GEMINI_NO_CQ)
		n->windows[window].cq_round = n->cq[w->cq].round;
	return 0;
}

static struct gem_window *find(const struct nic_at *a, uint32_t window)
{
	struct gem_node *n = a->node;

	return window < n->n_windows && n->windows[window].is_set
		       ? &n->windows[window]
		       : NULL;
}

/* --- stores --- */

/* The bits of a number that a mask has, side by side. */
static uint64_t extract(uint64_t x, uint64_t mask)
{
	uint64_t out = 0;

	for (uint32_t i = 0; mask; mask &= mask - 1, i++)
		out |= (x >> __builtin_ctzll(mask) & 1) << i;
	return out;
}

static struct gemini_post post_of(
	const struct gemini_window *w, uint64_t at, uint32_t bytes)
{
	return (struct gemini_post){
		.op = w->op,
		.node = w->pe + (uint32_t)extract(at, w->pe_bits),
		.is_virtual = w->is_virtual,
		.handle = w->handle,
		.tag = w->tag,
		.offset = w->offset + extract(at, w->offset_bits),
		.bytes = bytes,
		.is_ordered = w->is_ordered,
		.amo = w->amo,
		.is_cached = w->is_cached,
		.cq = GEMINI_NO_CQ,
		.remote_cq = w->remote_cq,
		.remote_data = w->remote_data,
	};
}

static void store_line(
	struct nic *nic, uint32_t window, const struct gemini_post *p)
{
	struct nic_at a = nic_now(nic);
	struct gem_window *w = find(&a, window);
	struct gem_transaction *x;
	uint32_t id = gem_fma_begin(&a, p);

	x = slots_at(&gem_here(&a)->transactions, id);
	x->window = window + 1;
	x->sync = w->first + w->syncs.n - 1;
	w->pending++;
	((struct sync *)ring_at(&w->syncs, w->syncs.n - 1))->pending++;
	gem_fma_store(nic, id, 0);
}

static bool is_within(const struct gem_window *w, uint64_t at, uint64_t bytes)
{
	return w && at < w->how.bytes && bytes <= w->how.bytes - at;
}

int gemini_window_store(struct nic *nic, uint32_t window, uint64_t at,
	const void *data, uint32_t bytes)
{
	struct nic_at a = nic_now(nic);
	const struct gem_window *w = find(&a, window);
	const char *from = data;
	struct gemini_post p;

	if (!is_within(w, at, bytes))
		return EFAULT;
	while (bytes) {
		uint32_t n = GEMINI_LINE - (uint32_t)(at % GEMINI_LINE);

		n = n < bytes ? n : bytes;
		p = post_of(&w->how, at, n);
		p.from = from;
		if (p.op == GEMINI_AMO) {
			memset(p.operand, 0, sizeof(p.operand));
			memcpy(p.operand, from, n < 16 ? n : 16);
			p.from = NULL;
			p.bytes = 8;
		}
		store_line(nic, window, &p);
		/* another program may have moved it meanwhile */
		w = find(&a, window);
		at += n;
		from += n;
		bytes -= n;
	}
	return 0;
}

/* --- control words --- */

static uint64_t control(uint64_t here, uint32_t bytes, uint32_t command)
{
	return here | (uint64_t)(bytes - 1) << ADDRESS_BITS |
	       (uint64_t)command << COMMAND_AT;
}

uint64_t gemini_control_get(uint64_t here, uint32_t bytes)
{
	return control(here, bytes, COMMAND_GET);
}

uint64_t gemini_control_fetch(uint64_t here, enum gemini_amo amo)
{
	return control(here, 8, COMMAND_FETCH + amo);
}

static bool read_control(
	const struct nic_at *a, uint64_t word, struct gemini_post *p)
{
	uint32_t command = (uint32_t)(word >> COMMAND_AT);

	p->here = word & ((UINT64_C(1) << ADDRESS_BITS) - 1);
	p->bytes = 1 + (word >> ADDRESS_BITS & 255);
	p->op = command == COMMAND_GET ? GEMINI_GET : GEMINI_FETCH;
	p->amo = command - COMMAND_FETCH;
	if (!command || command >= COMMAND_FETCH + GEMINI_AMOS ||
		p->bytes > GEMINI_LINE ||
		(p->op == GEMINI_FETCH && p->bytes != 8))
		return false;
	return !memory_ask(host_at(a->nic->host, a->s),
		MEMORY_MAY_WRITE(MEMORY_NIC), p->here, p->bytes);
}

int gemini_window_get(
	struct nic *nic, uint32_t window, uint64_t at, uint64_t word)
{
	struct nic_at a = nic_now(nic);
	const struct gem_window *w = find(&a, window);
	struct gemini_post p;

	if (!is_within(w, at, 8))
		return EFAULT;
	p = post_of(&w->how, at, 8);
	memcpy(p.operand, w->how.operand, sizeof(p.operand));
	p.remote_cq = GEMINI_NO_CQ;
	if (read_control(&a, word, &p))
		store_line(nic, window, &p);
	else
		store(&a, 8, GEM_BAD_STORE, window);
	return 0;
}

void gem_window_on_bad_store(const struct nic_at *a, uint32_t window)
{
	struct gem_node *n = a->node;
	const struct gem_window *w = &n->windows[window];

	n->status[GEMINI_BAD_WORD]++;
	if (w->how.cq != GEMINI_NO_CQ &&
		gem_cq_is_open(n, w->how.cq, w->cq_round))
		gem_cq_write(a, w->how.cq, 0, GEMINI_BAD_WORD);
}

/* --- syncs --- */

static void complete(const struct nic_at *a, struct gem_window *w)
{
	struct gem_node *n = a->node;

	while (w->syncs.n > 1) {
		struct sync *x = ring_at(&w->syncs, 0);

		if (!x->is_asked || x->pending)
			return;
		if (gem_cq_is_open(n, w->how.cq, w->cq_round))
			gem_cq_write(a, w->how.cq, x->data, x->status);
		ring_pop(&w->syncs);
		w->first++;
	}
}

int gemini_window_sync(struct nic *nic, uint32_t window, uint64_t data)
{
	struct nic_at a = nic_now(nic);
	struct gem_window *w = find(&a, window);

	if (!w || w->how.cq == GEMINI_NO_CQ)
		return EINVAL;
	((struct sync *)ring_at(&w->syncs, w->syncs.n - 1))->data = data;
	*(struct sync *)ring_push(&w->syncs) = (struct sync){ .pending = 0 };
	store(&a, 8, GEM_SYNC, window);
	return 0;
}

/* Stores come in order. */
void gem_window_on_sync(const struct nic_at *a, uint32_t window)
{
	struct gem_window *w = &gem_here(a)->windows[window];

	((struct sync *)ring_at(&w->syncs, w->asked++ - w->first))->is_asked =
		true;
	complete(a, w);
}

void gem_window_ended(const struct nic_at *a, const struct gem_transaction *x)
{
	struct gem_window *w = &gem_here(a)->windows[x->window - 1];
	struct sync *s = ring_at(&w->syncs, x->sync - w->first);

	w->pending--;
	s->pending--;
	s->status = s->status ? s->status : x->status;
	complete(a, w);
}

uint32_t gemini_window_pending(struct nic *nic, uint32_t window)
{
	struct nic_at a = nic_now(nic);
	const struct gem_window *w;

	program_charge(gem_params(&a)->poll_load);
	w = find(&a, window);
	return w ? w->pending : 0;
}
