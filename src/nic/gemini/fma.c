/* Fast memory access, and the output request buffer. */
#include <errno.h>
#include <string.h>

#include "nic/gemini/card.h"

/* --- a program's stores --- */

static const enum book_kind kinds[GEMINI_OPS] = {
	[GEMINI_PUT] = BOOK_PUT,
	[GEMINI_GET] = BOOK_GET,
	[GEMINI_AMO] = BOOK_ATOMIC,
	[GEMINI_FETCH] = BOOK_ATOMIC,
	[GEMINI_SEND] = BOOK_SEND,
};

uint32_t gem_fma_begin(const struct nic_at *a, const struct gemini_post *p)
{
	struct slots *s = &gem_here(a)->transactions;
	uint32_t id = slots_take(s);
	struct gem_transaction *x = slots_at(s, id);

	x->post = *p;
	x->ssid = ++gem_here(a)->n_begun;
	if (p->cq != GEMINI_NO_CQ)
		x->cq_round = gem_here(a)->cq[p->cq].round;
	x->lines = p->bytes ? (uint32_t)((p->bytes - 1) / GEMINI_LINE + 1) : 1;
	x->message = book_message(
		a->nic->net->book, a->s, kinds[p->op], x->lines, a->t);
	return id;
}

uint32_t gem_fma_line(
	const struct nic_at *a, uint32_t transaction, uint64_t made)
{
	struct gem_node *n = a->node;
	const struct gem_transaction *of =
		slots_at(&n->transactions, transaction);
	const struct gemini_post *p = &of->post;
	uint64_t left = p->bytes - made;
	uint32_t id = slots_take(&n->lines);
	struct gem_line *x = slots_at(&n->lines, id);

	x->transaction = transaction;
	x->op = (uint8_t)p->op;
	x->node = p->node;
	x->handle = p->handle;
	x->offset = p->offset + made;
	x->here = p->here + made;
	x->bytes = left < GEMINI_LINE ? (uint32_t)left : GEMINI_LINE;
	x->is_last = x->bytes == left;
	x->is_ordered = p->is_ordered;
	x->made = a->t;
	return id;
}

static bool is_right(const struct gemini_post *p)
{
	return !gem_is_atomic(p->op) ||
	       (p->bytes == 8 && !p->from && p->amo < GEMINI_AMOS &&
		       (p->amo != GEMINI_SWAP_IF || p->op == GEMINI_FETCH));
}

int gem_fma_check(
	const struct nic_at *a, const struct gemini_post *p, uint32_t right)
{
	if (p->op >= GEMINI_OPS || !is_right(p) ||
		(p->node >= a->nic->n_nodes && !p->is_virtual))
		return EINVAL;
	if (p->cq != GEMINI_NO_CQ &&
		(p->cq >= GEMINI_CQS || !gem_here(a)->cq[p->cq].entries))
		return EINVAL;
	if (p->bytes && !p->from && p->op != GEMINI_AMO &&
		memory_ask(
			host_at(a->nic->host, a->s), right, p->here, p->bytes))
		return EFAULT;
	return 0;
}

static int check(const struct nic_at *a, const struct gemini_post *p)
{
	if (p->op == GEMINI_SEND)
		return EINVAL;
	return gem_fma_check(a, p,
		p->op == GEMINI_PUT ? MEMORY_MAY_READ(MEMORY_CORE)
				    : MEMORY_MAY_WRITE(MEMORY_NIC));
}

static uint32_t n_operands(uint32_t amo)
{
	return amo == GEMINI_AND_XOR || amo == GEMINI_SWAP_IF ? 2 : 1;
}

/* The bytes that the program stores. */
static void fill(const struct nic_at *a, struct gem_line *x,
	const struct gemini_post *p, uint64_t made)
{
	if (p->op == GEMINI_PUT && p->from)
		memcpy(x->data, (const char *)p->from + made, x->bytes);
	else if (p->op == GEMINI_PUT)
		host_read(a->nic->host, a->s, x->here, x->data, x->bytes);
	else if (gem_is_atomic(p->op))
		memcpy(x->data, p->operand, 8 * n_operands(p->amo));
}

/* A line's: a put's bytes, a control word, or an atomic's operands. */
static uint32_t stored_bytes(
	const struct gemini_post *p, const struct gem_line *x)
{
	if (p->op == GEMINI_PUT)
		return x->bytes;
	if (p->op == GEMINI_GET)
		return 8;
	return 8 * (n_operands(p->amo) + (p->op == GEMINI_FETCH));
}

uint32_t gem_fma_store(struct nic *nic, uint32_t transaction, uint64_t made)
{
	struct nic_at a = nic_now(nic);
	struct side *side = gem_of(&a)->side;
	const struct gem_transaction *of;
	struct gem_line *x;
	uint32_t line;
	sim_time t;

	program_charge(gem_params(&a)->store);
	a = nic_now(nic);
	of = slots_at(&gem_here(&a)->transactions, transaction);
	line = gem_fma_line(&a, transaction, made);
	x = slots_at(&gem_here(&a)->lines, line);
	fill(&a, x, &of->post, made);
	t = side->ops->store(side, a.s, a.t, stored_bytes(&of->post, x));
	x->came = t > a.t ? t : a.t + 1;
	x->out = x->came + gem_params(&a)->output;
	gem_post(&a, x->out, GEM_OUT, line);
	return x->bytes;
}

int gemini_fma(struct nic *nic, const struct gemini_post *p)
{
	struct nic_at a = nic_now(nic);
	int code = check(&a, p);
	uint64_t made = 0;
	uint32_t transaction;

	if (code)
		return code;
	transaction = gem_fma_begin(&a, p);
	do
		made += gem_fma_store(nic, transaction, made);
	while (made < p->bytes);
	return 0;
}

/* --- requests under way --- */

static void set_timer(const struct nic_at *a)
{
	struct gem_node *n = a->node;
	const struct gem_deadline *d;

	if (n->is_timed || n->is_quiet || !n->deadlines.n)
		return;
	d = ring_at(&n->deadlines, 0);
	n->is_timed = true;
	gem_post(a, d->t, GEM_TIMEOUT, 0);
}

static void send(const struct nic_at *a, uint32_t line)
{
	struct gem_node *n = a->node;
	struct gem_line *x = slots_at(&n->lines, line);
	struct gem_transaction *of = slots_at(&n->transactions, x->transaction);
	bool is_get = x->op == GEMINI_GET;
	uint32_t bytes = is_get			? 0
			 : gem_is_atomic(x->op) ? 8 * n_operands(of->post.amo)
						: x->bytes;
	packet_id id = gem_packet(
		a, x->node, is_get ? GEM_GET : GEM_WRITE, bytes, false);
	struct gem_load *l = gem_load(a, id);

	if (x->is_ordered)
		a->nic->net->packets[id].kind = PACKET_DETERMINISTIC;
	l->is_by_line = x->is_ordered && of->post.is_by_line;
	x->round = ++n->round;
	l->op = x->op;
	l->status = x->status;
	l->handle = x->handle;
	l->tag = of->post.tag;
	l->offset = x->offset;
	l->bytes = x->bytes;
	l->request = line;
	l->round = x->round;
	l->ssid = of->ssid;
	l->count = x->is_final ? 1 : x->is_last ? of->lines : 0;
	l->is_final = x->is_final;
	l->remote_cq = (uint8_t)of->post.remote_cq;
	l->remote_data = of->post.remote_data;
	l->amo = (uint8_t)of->post.amo;
	l->is_cached = of->post.is_cached;
	memcpy(l->data, x->data, bytes);
	n->n_ssids += !of->has_ssid;
	of->has_ssid = true;
	n->requests++;
	n->n_requests++;
	*(struct gem_deadline *)ring_push(&n->deadlines) =
		(struct gem_deadline){ a->t + gem_params(a)->timeout, line,
			x->round };
	set_timer(a);
	if (nic_has_book(a))
		gem_account_request(a, id, x);
	gem_send(a, id);
}

/* Whether a line finds a place in the ORB, and its transaction an SSID. */
static bool may_send(const struct nic_at *a, uint32_t line)
{
	struct gem_node *n = a->node;
	const struct gem_line *x = slots_at(&n->lines, line);
	const struct gem_transaction *of =
		slots_at(&n->transactions, x->transaction);

	return n->n_requests < (uint32_t)gem_params(a)->orb &&
	       (of->has_ssid || n->n_ssids < (uint32_t)gem_params(a)->ssids);
}

static void line_ended(const struct nic_at *a, uint32_t line, uint32_t status);

void gem_fma_on_out(const struct nic_at *a, uint32_t line)
{
	struct gem_node *n = a->node;
	struct gem_line *x = slots_at(&n->lines, line);
	const struct gem_transaction *of =
		slots_at(&n->transactions, x->transaction);

	/* reads its entry of the NTT and its transaction's SSID; the target
	 * counts it and refuses it */
	if (n->is_faulty &&
		!gem_harm_read(a, (uint64_t)x->node << 32 | of->ssid))
		x->status = GEMINI_BAD_MEMORY;
	if (!gem_ntt_translate(a, &of->post, &x->node)) {
		line_ended(a, line, GEMINI_BAD_PE);
	} else if (n->waiting.n || !may_send(a, line)) {
		*(uint32_t *)ring_push(&n->waiting) = line;
		n->bte.waiting += x->channel != 0;
	} else {
		send(a, line);
	}
}

/* Sends waiting lines as long as there is room for the first. */
static void send_waiting(const struct nic_at *a)
{
	struct gem_node *n = a->node;

	while (n->waiting.n &&
		may_send(a, *(uint32_t *)ring_at(&n->waiting, 0))) {
		uint32_t line = *(uint32_t *)ring_pop(&n->waiting);
		const struct gem_line *x = slots_at(&n->lines, line);

		send(a, line);
		if (x->channel)
			gem_bte_sent(a);
	}
}

/* The target could not count the packets, so it is told that all have arrived:
 * its event takes a round trip longer. */
static void send_final(
	const struct nic_at *a, uint32_t transaction, uint32_t node)
{
	struct gem_node *n = a->node;
	struct gem_transaction *of = slots_at(&n->transactions, transaction);
	uint32_t id = slots_take(&n->lines);
	struct gem_line *x = slots_at(&n->lines, id);

	of->is_uncounted = false;
	of->lines++;
	of->message = book_message(a->nic->net->book, a->s, BOOK_PUT, 1, a->t);
	x->transaction = transaction;
	x->op = GEMINI_PUT;
	x->node = node;
	x->handle = of->post.handle;
	x->status = (uint8_t)of->status;
	x->is_final = true;
	x->made = x->came = x->out = a->t;
	if (may_send(a, id))
		send(a, id);
	else
		*(uint32_t *)ring_push(&n->waiting) = id;
}

static void end(const struct nic_at *a, uint32_t transaction)
{
	struct gem_node *n = a->node;
	const struct gem_transaction *x =
		slots_at(&n->transactions, transaction);
	bool is_block = x->is_block;

	n->status[x->status]++;
	n->n_ssids -= x->has_ssid;
	if (x->window)
		gem_window_ended(a, x);
	if (x->post.cq != GEMINI_NO_CQ &&
		gem_cq_is_open(n, x->post.cq, x->cq_round))
		gem_cq_write(a, x->post.cq, x->post.data, x->status);
	slots_give(&n->transactions, transaction);
	if (is_block)
		gem_bte_ended(a);
}

/* A request under way, or NULL. */
static inline struct gem_line *find_open(
	const struct gem_node *n, uint32_t request, uint32_t round)
{
	struct gem_line *x = slots_find(&n->lines, request);

	return x && x->round == round ? x : NULL;
}

static bool is_open(const struct gem_node *n, const struct gem_deadline *d)
{
	return find_open(n, d->request, d->round);
}

/* Drops the first deadlines if their requests are answered. */
static void forget_answered(struct gem_node *n)
{
	while (n->deadlines.n && !is_open(n, ring_at(&n->deadlines, 0)))
		ring_pop(&n->deadlines);
}

static inline void close_one(struct gem_node *n, struct gem_line *x)
{
	x->round = 0;
	n->n_requests--;
	forget_answered(n);
}

static void line_ended(const struct nic_at *a, uint32_t line, uint32_t status)
{
	struct gem_node *n = a->node;
	struct gem_line *x = slots_at(&n->lines, line);
	uint32_t transaction = x->transaction, node = x->node;
	struct gem_transaction *of = slots_at(&n->transactions, transaction);

	x->round = 0;
	slots_give(&n->lines, line);
	of->status = of->status ? of->status : status;
	if (++of->answered != of->lines)
		return;
	if (of->is_uncounted)
		send_final(a, transaction, node);
	else
		end(a, transaction);
}

bool gem_fma_count(const struct nic_at *a, const struct gem_load *l)
{
	struct gem_node *n = a->node;
	struct gem_line *x = find_open(n, l->request, l->round);
	struct gem_transaction *of;

	if (!x)
		return false;
	of = slots_at(&n->transactions, x->transaction);
	if (of->answered + 1 >= of->lines)
		return false;
	of->answered++;
	close_one(n, x);
	slots_give(&n->lines, l->request);
	return true;
}

bool gem_fma_answered(const struct nic_at *a, uint32_t request, uint32_t round,
	uint32_t status)
{
	struct gem_node *n = a->node;
	struct gem_line *x = find_open(n, request, round);

	if (!x)
		return false;
	close_one(n, x);
	line_ended(a, request, status);
	send_waiting(a);
	return true;
}

void gem_fma_extend(const struct nic_at *a, sim_time since)
{
	struct gem_node *n = a->node;

	for (uint32_t i = 0; i < n->deadlines.n; i++) {
		struct gem_deadline *d = ring_at(&n->deadlines, i);
		sim_time sent = d->t - gem_params(a)->timeout;

		d->t += a->t - (sent > since ? sent : since);
	}
	set_timer(a);
}

void gem_fma_on_timeout(const struct nic_at *a, uint32_t none)
{
	struct gem_node *n = a->node;

	(void)none;
	n->is_timed = false;
	forget_answered(n);
	while (n->deadlines.n && !n->is_quiet) {
		struct gem_deadline d =
			*(struct gem_deadline *)ring_at(&n->deadlines, 0);

		if (d.t > a->t)
			break;
		/* which forgets its deadline */
		gem_fma_answered(a, d.request, d.round, GEMINI_TIMED_OUT);
	}
	set_timer(a);
}
