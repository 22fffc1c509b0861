/*
 * The block transfer engine.  A channel takes the next descriptor of the
 * kernel's queue; the engine makes one packet after the other, of the channels
 * in turn.  Packets of puts and sends read their lines from memory first, a
 * limited number of a channel at once; otherwise the engine waits only while
 * lines of its own wait for the ORB.
 *
 * While all channels read, and reads are under way, the engine's work is not
 * visible before one of these reads ends.  So it needs no events: it is done
 * before any other event of the node.
 *
 * The other half, for arriving sends: the first packet to arrive, which may be
 * any, takes the first buffer of its port for all.
 */
#include <errno.h>

#include "nic/gemini/card.h"

static struct gem_bte *bte_of(const struct nic_at *a)
{
	return &gem_here(a)->bte;
}

/* --- packets --- */

static struct gem_transaction *transaction_of(
	const struct nic_at *a, uint32_t id)
{
	return slots_at(&gem_here(a)->transactions, id);
}

/* A channel has begun, has room for a read, or neither. */
static void set_able(const struct nic_at *a, uint32_t channel)
{
	struct gem_bte *b = bte_of(a);
	const struct gem_channel *c = &b->channel[channel];
	bool is_able =
		c->is_ready &&
		(!c->does_read || c->reads < (uint32_t)gem_params(a)->reads);

	b->able = (b->able & ~(1U << channel)) | (uint32_t)is_able << channel;
}

static void on_read(const struct nic_at *a, const struct side_read *r);

/* The next line of a channel's transaction. */
static void cut(const struct nic_at *a, uint32_t channel)
{
	struct gem_node *n = a->node;
	struct gem_channel *c = &n->bte.channel[channel];
	uint32_t line = gem_fma_line(a, c->transaction, c->made);
	struct gem_line *x = slots_at(&n->lines, line);

	x->channel = (uint8_t)(channel + 1);
	c->made += x->bytes;
	if (x->is_last)
		c->transaction = 0, c->is_ready = false;
	if (c->does_read) {
		c->reads++;
		n->bte.reads++;
		side_reads_begin(
			a, &n->reads, x->here, x->bytes, on_read, NULL, line);
	} else {
		x->out = a->t;
		gem_fma_on_out(a, line); /* may end the transaction */
	}
	set_able(a, channel);
}

/* --- channels --- */

/* Idle channels take what is next. */
static void take(const struct nic_at *a)
{
	struct gem_bte *b = bte_of(a);

	for (uint32_t i = 0; i < (uint32_t)gem_params(a)->channels; i++) {
		struct gem_channel *c = &b->channel[i];
		struct gem_transaction *x;

		if (!b->queue.n || b->is_fenced)
			return;
		if (c->transaction)
			continue;
		c->transaction = *(uint32_t *)ring_pop(&b->queue);
		c->made = 0;
		b->n++;
		x = transaction_of(a, c->transaction);
		c->does_read = x->post.op != GEMINI_GET && x->post.bytes;
		b->reading = (b->reading & ~(1U << i)) | (uint32_t)c->does_read
								 << i;
		x->taken = a->t;
		x->begun = a->t + gem_params(a)->start;
		b->is_fenced = x->post.is_fence;
		/* packets are an interval apart behind the output side */
		gem_post(a, x->begun + gem_params(a)->output, GEM_CHANNEL, i);
	}
}

/* Of those that can go, the channel whose turn it is. */
static uint32_t next_channel(const struct gem_bte *b)
{
	uint32_t later = b->able >> b->turn << b->turn;

	return (uint32_t)__builtin_ctz(later ? later : b->able);
}

/* Whether the next packet needs no event.  It does if a transfer is queued,
 * which a channel may take then. */
static bool is_unseen(const struct nic_at *a)
{
	const struct gem_bte *b = bte_of(a);

	return b->reads && !(b->able & ~b->reading) && !b->queue.n &&
	       gem_of(a)->reads.is_settled;
}

static void post(const struct nic_at *a)
{
	struct gem_bte *b = bte_of(a);

	b->is_posted = true;
	b->due = is_unseen(a) ? b->free_at : SIM_NEVER;
	if (b->due == SIM_NEVER)
		gem_post(a, b->free_at, GEM_ENGINE, 0);
}

/* Packets are an interval apart. */
static void go(const struct nic_at *a)
{
	struct gem_bte *b = bte_of(a);

	if (b->due != SIM_NEVER && !is_unseen(a))
		post(a);
	if (!b->able || b->waiting || b->is_posted)
		return;
	if (b->free_at <= a->t) {
		uint32_t c = next_channel(b);

		b->turn = c + 1;
		b->free_at = a->t + gem_params(a)->interval;
		cut(a, c);
		if (b->queue.n)
			take(a);
		if (!b->able)
			return;
	}
	post(a);
}

void gem_bte_on_channel(const struct nic_at *a, uint32_t channel)
{
	bte_of(a)->channel[channel].is_ready = true;
	set_able(a, channel);
	go(a);
}

void gem_bte_on_engine(const struct nic_at *a, uint32_t none)
{
	(void)none;
	bte_of(a)->is_posted = false;
	go(a);
}

void gem_bte_settle(const struct nic_at *a, sim_time t)
{
	struct gem_bte *b = bte_of(a);
	struct nic_at at = *a;

	while (b->due <= t) {
		at.t = b->due;
		b->due = SIM_NEVER;
		gem_bte_on_engine(&at, 0);
	}
}

/* Sends the bytes that are in memory now. */
static void on_read(const struct nic_at *a, const struct side_read *r)
{
	struct gem_line *x = slots_at(&gem_here(a)->lines, r->id);

	if (!host_read(a->nic->host, a->s, r->at, x->data, r->bytes))
		x->status = GEMINI_OUT_OF_BOUNDS;
	bte_of(a)->channel[x->channel - 1].reads--;
	bte_of(a)->reads--;
	set_able(a, x->channel - 1U);
	x->out = a->t;
	gem_fma_on_out(a, r->id);
	go(a);
}

void gem_bte_sent(const struct nic_at *a)
{
	bte_of(a)->waiting--;
	go(a);
}

void gem_bte_ended(const struct nic_at *a)
{
	struct gem_bte *b = bte_of(a);

	if (--b->n == 0)
		b->is_fenced = false;
	take(a);
}

/* --- descriptors --- */

/* The kernel stores a descriptor, which is a line. */
static void write_to_card(const struct nic_at *a, uint32_t number, uint32_t id)
{
	struct side *side = gem_of(a)->side;
	sim_time t = side->ops->store(side, a->s, a->t, GEMINI_LINE);

	gem_post(a, t > a->t ? t : a->t + 1, number, id);
}

int gemini_bte(struct nic *nic, const struct gemini_post *p)
{
	struct nic_at a = nic_now(nic);
	struct gem_transaction *x;
	int code = gem_fma_check(&a, p,
		p->op == GEMINI_GET ? MEMORY_MAY_WRITE(MEMORY_NIC)
				    : MEMORY_MAY_READ(MEMORY_NIC));
	uint32_t id;

	if (p->from || p->bytes > GEMINI_BLOCK || gem_is_atomic(p->op))
		code = EINVAL;
	if (code)
		return code;
	/* its queue is the one that is open now */
	id = gem_fma_begin(&a, p);
	program_charge(gem_params(&a)->kernel);
	a = nic_now(nic);
	x = slots_at(&gem_here(&a)->transactions, id);
	x->is_block = true;
	x->stored = a.t;
	if (p->op == GEMINI_SEND)
		x->post.remote_cq = GEMINI_NO_CQ, x->post.offset = 0;
	write_to_card(&a, GEM_BLOCK, id);
	return 0;
}

bool gemini_is_block(const struct nic *nic, uint64_t bytes)
{
	const struct gemini_params *p = nic->params;

	return bytes >= (uint64_t)p->bte_from;
}

void gem_bte_on_block(const struct nic_at *a, uint32_t transaction)
{
	struct gem_bte *b = bte_of(a);

	transaction_of(a, transaction)->came = a->t;
	b->blocks++;
	*(uint32_t *)ring_push(&b->queue) = transaction;
	take(a);
	go(a);
}

/* --- buffers --- */

int gemini_bte_receive(struct nic *nic, const struct gemini_buffer *b)
{
	struct nic_at a = nic_now(nic);
	struct gem_node *n = a.node;
	struct gem_buffer *x;
	uint32_t id;

	if (b->port >= GEMINI_PORTS || b->cq >= GEMINI_CQS ||
		!n->cq[b->cq].entries)
		return EINVAL;
	if (memory_ask(host_at(nic->host, a.s), MEMORY_MAY_WRITE(MEMORY_NIC),
		    b->at, b->bytes))
		return EFAULT;
	program_charge(gem_params(&a)->kernel);
	a = nic_now(nic);
	id = slots_take(&n->bte.buffers);
	x = slots_at(&n->bte.buffers, id);
	x->buffer = *b;
	x->cq_round = n->cq[b->cq].round;
	write_to_card(&a, GEM_BUFFER, id);
	return 0;
}

void gem_bte_on_buffer(const struct nic_at *a, uint32_t buffer)
{
	struct gem_bte *b = bte_of(a);
	struct gem_buffer *x = slots_at(&b->buffers, buffer);

	x->is_posted = true;
	if (x->buffer.port == GEMINI_PORTS) /* withdrawn meanwhile */
		slots_give(&b->buffers, buffer);
	else
		slots_push(&b->buffers, &b->posted[x->buffer.port], buffer);
}

uint32_t gemini_bte_withdraw(struct nic *nic, site_id s, uint32_t port)
{
	struct gem_bte *b = &((struct gem_node *)nic_node(nic, s))->bte;
	uint32_t n = 0;

	for (uint32_t i = 1; i <= b->buffers.room; i++) {
		struct gem_buffer *x = slots_find(&b->buffers, i);

		if (!x || x->buffer.port != port)
			continue;
		n++;
		x->buffer.port = GEMINI_PORTS;
		if (!x->is_posted)
			continue;
		slots_remove(&b->buffers, &b->posted[port], i);
		slots_give(&b->buffers, i);
	}
	return n;
}

/* The first packet of a send has come. */
static void take_buffer(struct gem_bte *b, uint32_t port, struct gem_remote *to)
{
	const struct gem_buffer *x;
	uint32_t id;

	if (port >= GEMINI_PORTS || !b->posted[port].first) {
		to->status = GEMINI_NO_BUFFER;
		return;
	}
	id = slots_pop(&b->buffers, &b->posted[port]);
	x = slots_at(&b->buffers, id);
	to->buffer = x->buffer;
	to->cq_round = x->cq_round;
	to->has_buffer = true;
	slots_give(&b->buffers, id);
}

uint32_t gem_bte_match(const struct nic_at *a, uint32_t src, struct gem_load *l)
{
	struct gem_node *n = a->node;
	uint32_t id, status = l->status;
	struct gem_remote *x = gem_target_remote(n, src, l->ssid, &id);

	gem_target_watch(a, x);
	if (!x->came)
		take_buffer(&n->bte, l->handle, x);
	if (!x->has_buffer)
		return x->status;
	if (l->offset + l->bytes > x->buffer.bytes)
		status = GEMINI_OUT_OF_BOUNDS;
	l->offset += x->buffer.at;
	x->status = x->status ? x->status : status;
	return status;
}

void gem_bte_close(
	const struct nic_at *a, const struct gem_remote *x, uint32_t status)
{
	if (x->has_buffer && gem_cq_is_open(a->node, x->buffer.cq, x->cq_round))
		gem_cq_write(a, x->buffer.cq,
			(uint64_t)x->buffer.data << 32 | x->bytes, status);
}

void gem_bte_deliver(const struct nic_at *a, uint32_t src, struct gem_load *l)
{
	struct gem_node *n = a->node;
	uint32_t id;
	struct gem_remote *x = gem_target_remote(n, src, l->ssid, &id);

	x->count = l->count ? l->count : x->count;
	x->bytes += l->status ? 0 : l->bytes;
	/* one that was refused before it was matched, too */
	x->status = x->status ? x->status : l->status;
	if (++x->came != x->count)
		return;
	gem_bte_close(a, x, x->status);
	l->event_at = n->event_at;
	gem_target_forget(n, id);
}
