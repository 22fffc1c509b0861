/*
 * The DMA engine.  Its prefetcher reads the source by split reads, ahead of
 * two assemblers that make packets of what has come: a packet is whole in the
 * card before it leaves (QSN-F81).  An assembler is free again when its
 * packet is in the network.  Two DMAs are worked on at once, so that one's
 * end overlaps the next one's start; more wait in the run queue.
 */
#include "nic/elan4/parts.h"

/* --- reads --- */

static uint32_t free_read(const struct elan_node *n)
{
	uint32_t i;

	for (i = 0; i < ELAN_READS && n->read[i].is_used; i++)
		;
	return i;
}

static bool may_read(const struct nic_at *a, uint32_t bytes)
{
	const struct elan_params *p = &elan_of(a)->params;

	return elan_here(a)->reads < (uint32_t)p->reads &&
	       free_read(elan_here(a)) < ELAN_READS &&
	       (!elan_here(a)->read_bytes || elan_here(a)->read_bytes + bytes <=
						     (uint32_t)p->read_buffer);
}

static void start_read(
	const struct nic_at *a, const struct elan_read *r, sim_time wait)
{
	uint32_t id = free_read(elan_here(a));

	elan_here(a)->read[id] = *r;
	elan_here(a)->read[id].is_used = true;
	elan_here(a)->counts.reads++;
	/* Of nothing there is nothing to wait for, but a moment later. */
	elan_post(a,
		a->t + wait + (r->bytes ? elan_of(a)->params.read_latency : 1),
		ELAN_ENGINE_READ, id);
}

void elan_dma_read_for(const struct nic_at *a, packet_id get, uint32_t bytes)
{
	struct elan_read r = {
		.bytes = bytes, .is_answer = true, .packet = get
	};

	start_read(a, &r, 0);
}

/* --- DMAs --- */

static void begin(const struct nic_at *a, uint32_t slot)
{
	struct elan_node *n = a->node;

	if (!n->waiting.n)
		return;
	n->dma[slot] = *(const struct elan_run *)ring_pop(&n->waiting);
	n->dma[slot].is_used = true;
	n->dma[slot].ready = a->t + elan_of(a)->params.dispatch;
}

static uint64_t n_packets(const struct nic_at *a, uint64_t bytes)
{
	uint64_t block = (uint64_t)elan_of(a)->params.read_block;

	return bytes ? (bytes + block - 1) / block : 1;
}

enum elan_error elan_dma_add(
	const struct nic_at *a, uint32_t queue, const struct elan_dma *d)
{
	struct elan_node *n = a->node;
	struct elan_queue *q = elan_queue(n, queue);
	struct elan_run *r;

	if (d->destination >= elan_of(a)->n_nodes ||
		d->source_event >= ELAN_EVENTS ||
		d->target_event >= ELAN_EVENTS)
		return ELAN_ERROR_COMMAND;
	if (!elan_may(n, q->context, d->from, d->bytes))
		return ELAN_ERROR_ADDRESS;
	r = ring_push(&n->waiting);
	*r = (struct elan_run){
		.d = *d,
		.queue = queue,
		.context = q->context,
		.account = elan_account_begin(a, q,
			q->taken - 8 * (1 + ELAN_DMA_WORDS),
			n_packets(a, d->bytes)),
	};
	n->counts.dmas++;
	q->dmas++;
	elan_dma_go(a);
	return ELAN_FINE;
}

/* The next block of a DMA, or none where all is being read. */
static bool read_next(const struct nic_at *a, uint32_t slot)
{
	struct elan_run *r = &elan_here(a)->dma[slot];
	uint64_t left = r->d.bytes - r->read;
	struct elan_read x = { .dma = slot, .offset = r->read };
	bool is_first = !r->read && !r->pending;

	if (!r->is_used || r->has_failed || (!left && !is_first))
		return false;
	x.bytes = left < (uint64_t)elan_of(a)->params.read_block
			  ? (uint32_t)left
			  : (uint32_t)elan_of(a)->params.read_block;
	if (!may_read(a, x.bytes) ||
		elan_channel_span(&elan_here(a)->dma_channel) >=
			(uint32_t)elan_of(a)->params.dma_window)
		return false;
	x.sequence = elan_here(a)->dma_channel.next++;
	x.from = r->ready > a->t ? r->ready : a->t;
	r->read += x.bytes;
	r->pending++;
	elan_here(a)->reads++;
	elan_here(a)->read_bytes += x.bytes;
	start_read(a, &x, x.from - a->t);
	return true;
}

void elan_dma_go(const struct nic_at *a)
{
	struct elan_node *n = a->node;
	uint32_t i;

	for (i = 0; i < ELAN_DMAS; i++)
		if (!n->dma[i].is_used)
			begin(a, i);
	/* The elder first; the other one when that is all read. */
	for (i = 0; i < ELAN_DMAS; i++) {
		while (read_next(a, n->next_dma))
			;
		if (n->dma[n->next_dma].is_used &&
			n->dma[n->next_dma].read < n->dma[n->next_dma].d.bytes)
			return;
		n->next_dma = (n->next_dma + 1) % ELAN_DMAS;
	}
}

/* --- packets --- */

static void add_piece(struct elan_buffer *b, struct elan_piece p)
{
	b->piece[b->n_pieces++] = p;
}

/* Writes of at most a block each, whose ends are aligned at the target. */
static void cut(struct elan_buffer *b, uint64_t to, uint32_t bytes)
{
	uint32_t at = 0;

	b->data_bytes = (uint16_t)bytes;
	while (at < bytes) {
		uint32_t n = ELAN_BLOCK;

		/* the first one up to a boundary, if all then fits */
		if (!at && to % ELAN_BLOCK && bytes <= ELAN_PACKET - ELAN_BLOCK)
			n -= to % ELAN_BLOCK;
		n = n < bytes - at ? n : bytes - at;
		add_piece(b, (struct elan_piece){ .what = ELAN_WRITE,
				     .address = to + at,
				     .bytes = (uint16_t)n,
				     .at = (uint16_t)at });
		at += n;
	}
}

/* When blocks leave whose data comes as fast as the bus from since on. */
static void set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since)
{
	const struct bus_params *bus = &elan_of(a)->params.bus;
	uint32_t i, sum = 0;

	b->left_at = start;
	for (i = 0; i < b->n_pieces; i++) {
		sim_time come;

		sum += b->piece[i].bytes;
		come = since +
		       (sum + bus->width - 1) / bus->width * bus->clock +
		       elan_of(a)->params.command;
		b->left[i] = start + elan_ser(elan_of(a), sum);
		b->left[i] = b->left[i] > come ? b->left[i] : come;
	}
}

/* Free assemblers take what waits for them. */
static void assemble(const struct nic_at *a)
{
	struct elan_node *n = a->node;

	while (n->ready.n && n->assembling < ELAN_ASSEMBLERS) {
		const struct elan_ready *r = ring_pop(&n->ready);
		sim_time start = r->since > a->t ? r->since : a->t;

		start += elan_of(a)->params.command - elan_of(a)->least;
		set_times(
			a, elan_sending(n, r->sending)->copy, start, r->since);
		elan_send_at(a, r->sending, start);
		elan_sending(n, r->sending)->account.built = a->t;
		n->assembling++;
	}
}

/* A packet of what was read, which comes since then; 0: is there. */
static void build(
	const struct nic_at *a, const struct elan_read *r, sim_time since)
{
	struct elan_node *n = a->node;
	struct elan_run *run = &n->dma[r->dma];
	uint32_t id = elan_send_new(a);
	struct elan_sending *s = elan_sending(n, id);
	struct elan_ready *ready = ring_push(&n->ready);
	struct elan_buffer *b = s->copy;

	*b = (struct elan_buffer){
		.kind = ELAN_DATA,
		.context = (uint16_t)run->context,
		.channel = ELAN_DMA_CHANNEL,
		.sequence = r->sequence,
		.sending = id,
		.asked = a->t,
		.streams = elan_of(a)->params.cut_through,
	};
	cut(b, run->d.to + r->offset, r->bytes);
	elan_read(a, run->d.from + r->offset, b->data, r->bytes);
	if (run->d.target_event)
		add_piece(b, (struct elan_piece){ .what = ELAN_SET,
				     .event = (uint32_t)run->d.target_event,
				     .count = r->bytes ? r->bytes : 1 });
	s->account = run->account;
	s->account.reading = r->from;
	s->account.read = a->t;
	s->dst = (site_id)run->d.destination;
	s->owner = ELAN_OWNER_DMA;
	s->is_free = run->d.target_event;
	s->owner_id = r->dma;
	s->fifo = ELAN_FIFO_DMA;
	*ready = (struct elan_ready){ id, since };
	assemble(a);
}

/* The answer to a get goes where the get says. */
static void send_answer(const struct nic_at *a, packet_id get)
{
	const struct packet *p = &a->nic->net->packets[get];
	const struct elan_buffer *g = elan_buffer_of(p);
	const struct elan_piece *want = &g->piece[0];
	uint32_t id = elan_send_new(a);
	struct elan_sending *s = elan_sending(elan_here(a), id);
	sim_time start = a->t + elan_of(a)->params.command - elan_of(a)->least;

	*s->copy = (struct elan_buffer){
		.kind = ELAN_DATA,
		.context = g->context,
		.channel = ELAN_ANSWER_CHANNEL,
		.sequence = g->answer,
		.get = g->get,
		.sending = id,
		.asked = a->t,
	};
	cut(s->copy, want->back, want->bytes);
	elan_read(a, want->address, s->copy->data, want->bytes);
	elan_input_overlay(a, get, s->copy->data);
	if (want->event)
		add_piece(s->copy, (struct elan_piece){ .what = ELAN_SET,
					   .event = want->event,
					   .count = want->bytes });
	set_times(a, s->copy, start, 0);
	elan_account_answer(a, get, &s->account);
	s->dst = p->src;
	s->owner = ELAN_OWNER_ANSWER;
	s->is_free = want->event;
	s->fifo = ELAN_FIFO_ANSWER;
	elan_send_at(a, id, start);
}

void elan_dma_on_read(const struct nic_at *a, uint32_t read)
{
	const struct elan_read *r = &elan_here(a)->read[read];

	if (r->bytes)
		elan_bus_ask(a, ELAN_BURST_READ, read, r->bytes);
	else
		elan_dma_granted(a, read, a->t);
}

void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end)
{
	struct elan_read *r = &elan_here(a)->read[read];
	const struct elan_params *p = &elan_of(a)->params;
	sim_time since;

	since = end -
		(r->bytes + p->bus.width - 1) / p->bus.width * p->bus.clock;
	/* As a study: the packet goes while its data is still coming. */
	r->is_built = p->cut_through && !r->is_answer && r->bytes &&
		      !elan_here(a)->dma[r->dma].has_failed;
	if (r->is_built)
		build(a, r, since);
	elan_post(a, end, ELAN_ENGINE_BLOCK, read);
}

void elan_dma_on_block(const struct nic_at *a, uint32_t read)
{
	struct elan_read r = elan_here(a)->read[read];

	elan_here(a)->read[read].is_used = false;
	elan_here(a)->reads--;
	if (r.is_answer && elan_has_test(elan_buffer_of(
				   &a->nic->net->packets[r.packet]))) {
		elan_input_on_asked(a, r.packet);
	} else if (r.is_answer) {
		send_answer(a, r.packet);
		elan_input_done_read(a, r.packet);
	} else if (!r.is_built && elan_here(a)->dma[r.dma].has_failed) {
		elan_here(a)->read_bytes -= r.bytes;
		elan_dma_done(a, r.dma, r.sequence);
	} else if (!r.is_built) {
		build(a, &r, 0);
	}
	elan_dma_go(a);
}

void elan_dma_left(const struct nic_at *a, uint32_t bytes)
{
	elan_here(a)->read_bytes -= bytes;
	elan_here(a)->assembling--;
	assemble(a);
	elan_dma_go(a);
}

void elan_dma_done(const struct nic_at *a, uint32_t dma, uint32_t sequence)
{
	struct elan_run *r = &elan_here(a)->dma[dma];

	elan_channel_done(&elan_here(a)->dma_channel, sequence);
	r->pending--;
	if (!r->pending && (r->read == r->d.bytes || r->has_failed)) {
		if (!r->has_failed)
			elan_event_set(
				a, r->context, (uint32_t)r->d.source_event, 1);
		elan_queue(elan_here(a), r->queue)->dmas--;
		r->is_used = false;
	}
	elan_dma_go(a);
}

void elan_dma_failed(const struct nic_at *a, uint32_t dma, uint32_t sequence,
	enum elan_error why)
{
	struct elan_run *r = &elan_here(a)->dma[dma];

	r->has_failed = true;
	elan_queue_stop(a, r->queue, why);
	elan_dma_done(a, dma, sequence);
}
