/*
 * The DMA engine.  Its prefetcher reads the source by split reads, ahead of two
 * assemblers that make packets: a packet is complete in the card before it
 * leaves (QSN-F81).  An assembler is free again when its packet is in the
 * network.  Two DMAs run at once, so that the end of one overlaps the start of
 * the next; more wait in the run queue.
 */
#include "nic/elan4/units.h"

enum { ASSEMBLERS = 2 };

static struct elan_dmas *dmas_of(const struct nic_at *a)
{
	return &elan_here(a)->dmas;
}

uint32_t elan_dmas_left(const struct elan_dmas *x)
{
	uint32_t n = x->waiting.n + x->parked.n + x->again.n;

	for (uint32_t i = 0; i < ELAN_DMAS; i++)
		n += x->run[i].is_used;
	return n;
}

/* --- packets --- */

/* An assembler finds the route by the process number in the descriptor, and
 * makes the packet (QSN-F44). */
static enum elan_error address(
	const struct nic_at *a, struct elan_sending *s, sim_time *start)
{
	const struct elan_run *run = &dmas_of(a)->run[s->owner_id];
	struct elan_route to;
	enum elan_error wrong = elan_route_find(
		a, ELAN_BY_DMA, run->queue, run->d.destination, &to, start);

	if (wrong)
		return wrong;
	s->item.dst = to.node;
	s->routes = to.routes;
	s->copy->context = to.context;
	for (uint32_t i = 0; i < s->copy->n_pieces; i++)
		s->copy->piece[i].context = to.context;
	return ELAN_FINE;
}

/* Free assemblers take waiting packets. */
static void assemble(const struct nic_at *a)
{
	struct elan_dmas *x = dmas_of(a);

	while (x->ready.n && x->assembling < ASSEMBLERS) {
		const struct elan_ready r =
			*(const struct elan_ready *)ring_pop(&x->ready);
		struct elan_sending *s = elan_sending(a, r.sending);
		sim_time ready = r.since > a->t ? r.since : a->t, start = ready;
		enum elan_error wrong = address(a, s, &start);

		if (wrong) {
			x->read_bytes -= s->copy->data_bytes;
			elan_send_fail(a, r.sending, wrong);
			continue;
		}
		s->account.built = a->t + (start - ready);
		start += elan_params(a)->command - elan_of(a)->least;
		elan_send_set_times(a, s->copy, start, r.since);
		x->assembling++;
		elan_send_at(a, r.sending, start);
	}
}

void elan_dma_on_left(const struct nic_at *a, uint32_t bytes)
{
	dmas_of(a)->read_bytes -= bytes;
	dmas_of(a)->assembling--;
	assemble(a);
	elan_dma_go(a);
}

/* It leaves its engine, if it is finished, or has to wait for a page. */
static void retire(const struct nic_at *a, struct elan_run *r)
{
	if (!r->pending && r->is_missing && !r->has_failed) {
		*(struct elan_run *)ring_push(&dmas_of(a)->parked) = *r;
		r->is_used = false;
		return;
	}
	if (r->pending || (r->read < r->d.bytes && !r->has_failed))
		return;
	if (!r->has_failed)
		elan_event_set(a, r->context, (uint32_t)r->d.source_event, 1);
	r->queue->dmas--;
	r->is_used = false;
}

static void stop(
	const struct nic_at *a, struct elan_run *r, enum elan_error why)
{
	r->has_failed = true;
	elan_queue_failed(a, r->queue, why);
}

static void packet_done(const struct nic_at *a, uint32_t dma, uint32_t sequence)
{
	struct elan_run *r = &dmas_of(a)->run[dma];

	window_done(&dmas_of(a)->channel, sequence);
	r->pending--;
	retire(a, r);
	elan_dma_go(a);
}

static void on_acked(
	const struct nic_at *a, const struct elan_sent *s, bool is_yes)
{
	(void)is_yes;
	packet_done(a, s->owner_id, s->sequence);
}

static void on_failed(
	const struct nic_at *a, const struct elan_sent *s, enum elan_error why)
{
	stop(a, &dmas_of(a)->run[s->owner_id], why);
	packet_done(a, s->owner_id, s->sequence);
}

static const struct elan_owner owner = { .done = on_acked,
	.failed = on_failed };

/* Without a book nobody looks at the account. */
static void account(const struct nic_at *a, struct elan_sending *s,
	const struct elan_read *r)
{
	s->account.was_missing = false;
	if (!nic_has_book(a))
		return;
	s->account = dmas_of(a)->run[r->dma].account;
	s->account.looked = r->looked;
	s->account.reading = r->from;
	s->account.read = a->t;
}

/* Makes a packet of a read, whose data comes since then; 0: it is complete. */
static void build(
	const struct nic_at *a, const struct elan_read *r, sim_time since)
{
	const struct elan_run *run = &dmas_of(a)->run[r->dma];
	uint32_t id = elan_send_new(a), bytes = r->bytes;
	struct elan_sending *s = elan_sending(a, id);
	struct elan_ready *ready = ring_push(&dmas_of(a)->ready);
	struct elan_buffer *b = s->copy;

	elan_buffer_clear(b);
	b->kind = ELAN_DATA;
	b->channel = ELAN_DMA_CHANNEL;
	b->sequence = r->sequence;
	b->sending = id;
	b->asked = a->t;
	b->streams = elan_params(a)->cut_through;
	elan_send_cut(b, run->d.to + r->offset, bytes);
	elan_read(a, r->at, b->data, bytes);
	if (run->d.target_event)
		elan_add_piece(
			b, (struct elan_piece){ .what = ELAN_SET,
				   .event = (uint32_t)run->d.target_event,
				   .count = bytes ? bytes : 1 });
	account(a, s, r);
	s->owner = &owner;
	s->is_free = run->d.target_event;
	s->owner_id = r->dma;
	s->fifo = ELAN_FIFO_DMA;
	*ready = (struct elan_ready){ id, since };
	assemble(a);
}

/* --- reads --- */

/* With cut-through the packet leaves while its data is being read. */
void elan_dma_granted(const struct nic_at *a, uint32_t read, sim_time end)
{
	struct elan_read *r = slots_at(&dmas_of(a)->reads, read);

	r->is_built = !dmas_of(a)->run[r->dma].has_failed;
	if (r->is_built)
		build(a, r, end - elan_bus_time(a, r->bytes));
}

/* Card memory that cannot be read stops the DMA and its queue. */
static void check(const struct nic_at *a, const struct elan_read *r)
{
	struct elan_run *run = &dmas_of(a)->run[r->dma];

	if (!elan_is_card(r->at) || elan_sdram_is_sound(a, r->at, r->bytes))
		return;
	stop(a, run, ELAN_ERROR_MEMORY);
}

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	struct slots *reads = &dmas_of(a)->reads;
	const struct elan_read r = *(struct elan_read *)slots_at(reads, x->id);

	slots_give(reads, x->id);
	elan_here(a)->n_reads--;
	check(a, &r);
	if (!r.is_built && dmas_of(a)->run[r.dma].has_failed) {
		dmas_of(a)->read_bytes -= r.bytes;
		packet_done(a, r.dma, r.sequence);
	} else if (!r.is_built) {
		build(a, &r, 0);
	}
	elan_dma_go(a);
}

/* --- pages --- */

/* Of a DMA in its engine, which it may leave; or outside. */
static void on_page(const struct nic_at *a, uint32_t number)
{
	struct elan_dmas *x = dmas_of(a);
	struct elan_run *r;

	for (uint32_t i = 0; i < ELAN_DMAS; i++)
		if (x->run[i].is_used && x->run[i].number == number)
			x->run[i].is_missing = false;
	for (uint32_t i = x->parked.n; i; i--) { /* the others stay in line */
		struct elan_run one = *(struct elan_run *)ring_pop(&x->parked);

		r = ring_push(one.number == number ? &x->again : &x->parked);
		*r = one;
		r->is_missing = one.number != number;
	}
	elan_dma_go(a);
}

static void miss(
	const struct nic_at *a, struct elan_run *r, const struct elan_view *v)
{
	r->is_missing = true;
	if (!r->looked)
		r->looked = a->t;
	elan_fault(a, r->context, v->at, v->t, on_page, r->number);
	retire(a, r);
}

/* --- blocks --- */

static bool may_read(const struct nic_at *a, uint32_t bytes)
{
	uint32_t held = dmas_of(a)->read_bytes;

	return elan_can_read(a) &&
	       (!held || held + bytes <= (uint32_t)elan_params(a)->read_buffer);
}

static void start_read(const struct nic_at *a, uint32_t dma, uint32_t bytes,
	const struct elan_view *v)
{
	struct elan_dmas *x = dmas_of(a);
	struct elan_run *run = &x->run[dma];
	uint32_t id = slots_take_any(&x->reads);
	struct elan_read *r = slots_at(&x->reads, id);
	struct nic_at then = *a;

	then.t = run->ready > v->t ? run->ready : v->t;
	r->at = v->at;
	r->dma = dma;
	r->bytes = bytes;
	r->offset = run->read;
	r->sequence = x->channel.next++;
	r->from = then.t;
	r->looked = run->ready > a->t ? run->ready : a->t;
	if (run->looked)
		r->looked = run->looked;
	run->looked = 0;
	r->is_built = false;
	elan_here(a)->n_reads++;
	elan_read_begin(&then, ELAN_BY_DMA, v->at, bytes, on_read, x, id);
	run->read += bytes;
	run->pending++;
	x->read_bytes += bytes;
	elan_count(a)->reads++;
}

/* Reads the next block of a DMA, if there is one and it may. */
static bool read_next(const struct nic_at *a, uint32_t dma)
{
	struct elan_run *r = &dmas_of(a)->run[dma];
	uint64_t left = r->d.bytes - r->read;
	uint32_t block = (uint32_t)elan_params(a)->read_block;
	uint32_t bytes = left < block ? (uint32_t)left : block;
	bool is_first = !r->read && !r->pending;
	struct elan_view v;

	if (!r->is_used || r->has_failed || r->is_missing ||
		(!left && !is_first))
		return false;
	if (!may_read(a, bytes) || window_span(&dmas_of(a)->channel) >=
					   (uint32_t)elan_params(a)->dma_window)
		return false;
	v = elan_look(a, r->context, r->d.from + r->read, bytes, ELAN_TO_READ);
	if (v.state == ELAN_SEEN) {
		start_read(a, dma, bytes, &v);
		return true;
	}
	if (v.state == ELAN_MISSING) {
		miss(a, r, &v);
		return false;
	}
	stop(a, r, ELAN_ERROR_ADDRESS); /* given back meanwhile */
	retire(a, r);
	return false;
}

/* --- DMAs --- */

static void begin(const struct nic_at *a, struct elan_run *r)
{
	struct elan_dmas *x = dmas_of(a);
	struct ring *from = x->again.n ? &x->again : &x->waiting;

	if (!from->n)
		return;
	*r = *(const struct elan_run *)ring_pop(from);
	r->is_used = true;
	r->ready = a->t + elan_params(a)->dispatch;
}

void elan_dma_go(const struct nic_at *a)
{
	struct elan_dmas *x = dmas_of(a);
	const struct elan_run *r;

	if (!x->run[0].is_used && !x->run[1].is_used && !x->waiting.n &&
		!x->again.n)
		return;
	for (uint32_t i = 0; i < ELAN_DMAS; i++)
		if (!x->run[i].is_used)
			begin(a, &x->run[i]);
	/* the older one first; the other one when it is all read */
	for (uint32_t i = 0; i < ELAN_DMAS; i++) {
		while (read_next(a, x->next))
			;
		r = &x->run[x->next];
		if (r->is_used && r->read < r->d.bytes && !r->has_failed &&
			!r->is_missing)
			return;
		if (!r->is_used &&
			(x->waiting.n ||
				x->again.n)) { /* it has left just now */
			elan_dma_go(a);
			return;
		}
		x->next = (x->next + 1) % ELAN_DMAS;
	}
}

static uint64_t n_packets(const struct nic_at *a, uint64_t bytes)
{
	uint64_t block = (uint64_t)elan_params(a)->read_block;

	return bytes ? (bytes + block - 1) / block : 1;
}

enum elan_error elan_dma_add(
	const struct nic_at *a, struct elan_queue *q, const struct elan_dma *d)
{
	enum elan_error wrong = elan_route_check(a, q, d->destination);
	struct elan_run *r;

	if (wrong)
		return wrong;
	if (d->source_event >= ELAN_EVENT_NAMES ||
		d->target_event >= ELAN_EVENT_NAMES)
		return ELAN_ERROR_COMMAND;
	if (!elan_may(elan_here(a), q->context, d->from, d->bytes) ||
		!elan_event_may(
			elan_here(a), q->context, (uint32_t)d->source_event))
		return ELAN_ERROR_ADDRESS;
	r = ring_push(&dmas_of(a)->waiting);
	*r = (struct elan_run){
		.d = *d,
		.queue = q,
		.number = dmas_of(a)->begun++,
		.context = q->context,
		.account = elan_account_begin(a, q, BOOK_PUT,
			q->taken - 8 * (1 + ELAN_DMA_WORDS),
			n_packets(a, d->bytes)),
	};
	elan_count(a)->dmas++;
	q->dmas++;
	elan_dma_go(a);
	return ELAN_FINE;
}
