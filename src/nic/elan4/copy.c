/*
 * The event processor, which makes the copies of events that have fired.
 *
 *	fires --> firing: one after the other, a slot for each
 *	            |          |
 *	   memory, by bursts   a queue's end, as commands; where there
 *	   on the bus          is no room it waits with that queue
 *
 * A slot is the processor's pace.  It reads the source of the next copy while
 * it makes one, so a source that is not in the cache, or in the host's memory,
 * delays its own copy only, and those behind it pass.
 *
 * A copy that waits for room delays only copies to the same queue: a full queue
 * must not stop the event processor, which serves all.  Its source is read when
 * there is room: the processor keeps no bytes.
 */
#include "nic/elan4/units.h"

#include <string.h>

#include "base/mem.h"

/* --- life --- */

static struct elan_events *events_of(const struct nic_at *a)
{
	return &elan_here(a)->events;
}

static struct elan_copy *copy_of(const struct elan_events *x, uint32_t id)
{
	return slots_at(&x->copies, id);
}

static void elan_events_fini(struct elan_events *x)
{
	for (uint32_t i = 1; i <= x->copies.room; i++)
		mem_free(copy_of(x, i)->data);
}

static uint64_t elan_events_memory(const struct elan_events *x)
{
	return x->bytes;
}

NIC_MEMBER_OPS(elan_events, NULL);

static void finish(const struct nic_at *a, uint32_t id)
{
	struct elan_events *x = events_of(a);
	struct elan_copy *c = copy_of(x, id);

	if (c->is_kept)
		elan_event_give(elan_here(a), c->from, c->bytes);
	if (c->data)
		x->bytes -= c->bytes;
	mem_free(c->data);
	c->data = NULL;
	x->inside--;
	slots_give(&x->copies, id);
}

/* --- its source --- */

/* Whether the context still has it. */
static bool has_source(const struct nic_at *a, const struct elan_copy *c)
{
	return c->is_kept || !elan_is_card(c->from) ||
	       elan_sdram_find(
		       &elan_here(a)->sdram, c->context, c->from, c->bytes);
}

/* Reads it; false if it has been given back, or has bad bits, which stop the
 * context. */
static bool load(const struct nic_at *a, const struct elan_copy *c, void *to)
{
	uint32_t context = c->context;

	if (!has_source(a, c)) {
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
		return false;
	}
	if (elan_is_card(c->from) &&
		!elan_sdram_is_sound(a, c->from, c->bytes)) {
		elan_context_stop(a, context);
		return false;
	}
	elan_read(a, c->from, to, c->bytes);
	return true;
}

static void on_read(const struct nic_at *a, const struct side_read *x);

/* Begins to read the source; it is not in the cache, or not on the card. */
static void fetch(const struct nic_at *a, uint32_t id)
{
	struct elan_copy *c = copy_of(events_of(a), id);

	if (c->is_fetched || !has_source(a, c))
		return;
	c->is_fetched = true;
	c->ready = a->t;
	if (elan_is_card(c->from)) {
		c->ready = elan_cache_read(
			a, ELAN_BY_EVENT, c->from, c->bytes, a->t);
		return;
	}
	c->is_reading = true;
	elan_read_begin(a, ELAN_BY_EVENT, c->from, c->bytes, on_read, NULL, id);
}

/* --- to a queue --- */

/* Appends its bytes, or drops them. */
static void append(
	const struct nic_at *a, struct elan_queue *q, uint32_t id, sim_time t)
{
	const struct elan_copy c = *copy_of(events_of(a), id);
	uint8_t bytes[ELAN_COPY_MOST];

	if (!q->error && load(a, &c, bytes)) {
		elan_count(a)->copied += c.bytes;
		elan_queue_append(a, q, bytes, c.bytes, t);
	}
	finish(a, id);
}

static void to_queue(const struct nic_at *a, struct elan_queue *q, uint32_t id)
{
	const struct elan_copy *c = copy_of(events_of(a), id);
	uint32_t bytes = c->bytes;
	bool is_late = c->late || c->is_awaited;

	if (bytes > q->depth)
		elan_queue_stop(a, q, ELAN_ERROR_OVERFLOW);
	if (elan_queue_takes(q, bytes)) {
		/* stores of this instant may have arrived */
		append(a, q, id, a->t + is_late);
		return;
	}
	slots_push(&events_of(a)->copies, &q->copies, id);
	elan_queue_wake(a, q);
}

/* --- to memory --- */

static uint32_t next_burst(const struct nic_at *a, uint32_t left)
{
	uint32_t most = (uint32_t)elan_params(a)->merge;

	return left < most ? left : most;
}

static void granted(const struct nic_at *a, uint32_t copy, sim_time seen)
{
	elan_post(a, seen, ELAN_ENGINE_COPIED, copy);
}

static void to_memory(const struct nic_at *a, uint32_t id)
{
	struct elan_copy *c = copy_of(events_of(a), id);
	uint32_t left = c->bytes, n;

	c->data = mem_alloc(1, c->bytes);
	events_of(a)->bytes += c->bytes;
	if (!load(a, c, c->data)) {
		finish(a, id);
		return;
	}
	elan_count(a)->copied += left;
	for (; left; left -= n) {
		n = next_burst(a, left);
		elan_write_begin(a, ELAN_BY_EVENT,
			copy_of(events_of(a), id)->address, n, granted, id);
	}
}

void elan_copy_on_written(const struct nic_at *a, uint32_t copy)
{
	struct elan_copy *c = copy_of(events_of(a), copy);
	uint32_t n = next_burst(a, c->bytes - c->written);

	elan_write_end(a, c->context, c->address + c->written,
		c->data + c->written, n);
	host_poke(a->nic->host, a->w, a->s, a->t);
	c->written += n;
	if (c->written == c->bytes)
		finish(a, copy);
}

/* --- the event processor --- */

/* The source is here, and the slot is over. */
static void leave(const struct nic_at *a, uint32_t id)
{
	const struct elan_copy *c = copy_of(events_of(a), id);
	struct elan_queue *q = elan_queue_mapped(
		elan_here(a), c->context, c->address, c->bytes);

	if (!c->is_command) {
		to_memory(a, id);
		return;
	}
	if (q) {
		to_queue(a, q, id);
	} else {
		/* the queue was closed meanwhile */
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
		finish(a, id);
	}
}

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	struct elan_copy *c = copy_of(events_of(a), x->id);

	c->is_reading = false;
	if (c->is_awaited)
		leave(a, x->id);
}

/* The first one's slot begins, and the source of the next one is read. */
static void start(const struct nic_at *a)
{
	const struct elan_params *p = elan_params(a);
	struct elan_events *x = events_of(a);
	uint32_t id = x->firing.first, next;
	struct elan_copy *c;

	if (!id)
		return;
	fetch(a, id);
	c = copy_of(x, id);
	next = c->slot.next;
	c->late = c->ready > a->t ? c->ready - a->t : 0;
	elan_post(a, a->t + p->event_slot + c->bytes * PS_PER_S / p->event_rate,
		ELAN_ENGINE_EVENT, 0);
	if (next)
		fetch(a, next);
}

/* --- where they are --- */

static void translate(const struct nic_at *a, uint32_t id);

/* Translates a part of it; false: it ends, or waits for that, alone. */
static bool look(const struct nic_at *a, uint32_t id, uint64_t at,
	enum elan_use use, struct elan_view *v)
{
	const struct elan_copy *c = copy_of(events_of(a), id);

	*v = elan_look(a, c->context, at, c->bytes, use);
	if (v->state == ELAN_NOWHERE) {
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
		finish(a, id);
	} else if (v->t > a->t) {
		elan_look_again(a, c->context, v, translate, id);
	}
	return v->state == ELAN_SEEN && v->t <= a->t;
}

static void join(const struct nic_at *a, uint32_t id);

/* Its source, and its target. */
static void translate(const struct nic_at *a, uint32_t id)
{
	struct elan_copy *c = copy_of(events_of(a), id);
	struct elan_view v;

	if (!c->is_kept && !c->is_known) {
		if (!look(a, id, c->from, ELAN_TO_READ, &v))
			return;
		c->from = v.at;
		c->is_known = true;
	}
	if (!look(a, id, c->address, ELAN_TO_WRITE, &v))
		return;
	c->address = v.at;
	c->is_command = v.flags & ELAN_TO_QUEUE;
	join(a, id);
}

void elan_copy_begin(const struct nic_at *a, const struct elan_copy *what)
{
	struct elan_events *x = events_of(a);
	uint32_t id = slots_take(&x->copies);
	struct elan_copy *c = copy_of(x, id);
	struct slot slot = c->slot;

	*c = *what;
	c->slot = slot;
	x->inside++;
	translate(a, id);
}

/* In line for the event processor. */
static void join(const struct nic_at *a, uint32_t id)
{
	struct elan_events *x = events_of(a);
	uint32_t first;

	slots_push(&x->copies, &x->firing, id);
	first = x->firing.first;
	if (first == id)
		start(a);
	else if (copy_of(x, first)->slot.next == id)
		fetch(a, id);
}

void elan_copy_on_slot(const struct nic_at *a, uint32_t none)
{
	uint32_t id = slots_pop(&events_of(a)->copies, &events_of(a)->firing);
	struct elan_copy *c = copy_of(events_of(a), id);

	(void)none;
	c->is_awaited = c->is_reading;
	if (c->late)
		elan_card_then(a, a->t + c->late, leave, id);
	else if (!c->is_reading)
		leave(a, id);
	start(a);
}

/* --- full queues --- */

void elan_copy_on_room(const struct nic_at *a, struct elan_queue *q)
{
	while (q->copies.first) {
		uint32_t bytes = copy_of(events_of(a), q->copies.first)->bytes;

		if (!q->error && q->announced + q->promised + bytes - q->freed >
					 q->depth)
			return;
		/* a moment later: stores of this instant have arrived */
		append(a, q, slots_pop(&events_of(a)->copies, &q->copies),
			a->t + 1);
	}
}

void elan_copy_on_idle(const struct nic_at *a, struct elan_queue *q)
{
	/* no acknowledgement frees room, no word that comes completes it, no
	 * packet's test, no read, and no thread's end */
	if (q->copies.first && !q->outstanding && !q->arrivals.n &&
		!q->is_blocked && !q->promised && !q->copying && !q->is_looking)
		elan_queue_stop(a, q, ELAN_ERROR_OVERFLOW);
}

uint32_t elan_copies_left(const struct elan_node *n)
{
	uint32_t left = n->events.inside, id;

	for (uint32_t i = 0; left && i < ELAN_QUEUES; i++) {
		const struct elan_queue *q = elan_queue(n, i);

		id = q && q->is_blocked ? q->copies.first : 0;
		for (; id; id = copy_of(&n->events, id)->slot.next)
			left--;
	}
	return left;
}
