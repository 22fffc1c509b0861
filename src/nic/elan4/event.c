/*
 * Events, and the event processor.
 *
 * An event that fires writes a word, or has the event processor copy bytes
 * that were kept for it since it was armed.  A copy goes
 *
 *	armed --fires--> firing: one after the other, a slot for each
 *	                   |          |
 *	          memory, by bursts   a queue's end, as commands; where there
 *	          on the bus          is no room it waits with that queue
 *
 * A copy that waits delays only copies to the same queue: a full queue must not
 * stop the event processor, which serves all.
 *
 * A word takes no time of the event processor: it is part of every message's
 * end, whose times are calibrated with it.
 */
#include "nic/elan4/units.h"

#include <string.h>

#include "base/mem.h"

/* --- copies --- */

static struct elan_events *events_of(const struct nic_at *a)
{
	return &elan_here(a)->events;
}

static struct elan_copy *copy_of(const struct elan_events *x, uint32_t id)
{
	return slots_at(&x->copies, id);
}

/* A new one, with room for its bytes. */
static uint32_t take(struct elan_events *x, uint32_t bytes)
{
	uint32_t id = slots_take(&x->copies);

	copy_of(x, id)->data = mem_alloc(1, bytes);
	copy_of(x, id)->bytes = bytes;
	x->bytes += bytes;
	return id;
}

static void give(struct elan_events *x, uint32_t id)
{
	struct elan_copy *c = copy_of(x, id);

	x->bytes -= c->bytes;
	mem_free(c->data);
	c->data = NULL;
	slots_give(&x->copies, id);
}

/* A copy of a fired event is done. */
static void finish(struct elan_events *x, uint32_t id)
{
	x->inside--;
	give(x, id);
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

/* --- the event processor --- */

static void start(const struct nic_at *a)
{
	const struct elan_params *p = elan_params(a);
	uint32_t id = events_of(a)->firing.first;

	if (id)
		elan_post(a,
			a->t + p->event_slot +
				copy_of(events_of(a), id)->bytes * PS_PER_S /
					p->event_rate,
			ELAN_ENGINE_EVENT, 0);
}

static void fire_copy(const struct nic_at *a, uint32_t id)
{
	bool is_idle = !events_of(a)->firing.first;

	events_of(a)->inside++;
	slots_push(&events_of(a)->copies, &events_of(a)->firing, id);
	if (is_idle)
		start(a);
}

static void append(
	const struct nic_at *a, struct elan_queue *q, uint32_t id, sim_time t)
{
	const struct elan_copy *c = copy_of(events_of(a), id);

	if (!q->error)
		elan_count(a)->copied += c->bytes;
	elan_queue_append(a, q, c->data, c->bytes, t);
	finish(events_of(a), id);
}

static void to_queue(
	const struct nic_at *a, struct elan_queue *q, uint32_t id, sim_time t)
{
	uint32_t bytes = copy_of(events_of(a), id)->bytes;

	if (bytes > q->depth)
		elan_queue_stop(a, q, ELAN_ERROR_OVERFLOW);
	if (elan_queue_takes(q, bytes)) {
		append(a, q, id, t);
		return;
	}
	slots_push(&events_of(a)->copies, &q->copies, id);
	elan_queue_wake(a, q);
}

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
	uint32_t left = copy_of(events_of(a), id)->bytes, n;

	elan_count(a)->copied += left;
	for (; left; left -= n) {
		n = next_burst(a, left);
		elan_write_begin(a, ELAN_BY_EVENT,
			copy_of(events_of(a), id)->address, n, granted, id);
	}
}

void elan_event_on_copied(const struct nic_at *a, uint32_t copy)
{
	struct elan_copy *c = copy_of(events_of(a), copy);
	uint32_t n = next_burst(a, c->bytes - c->written);

	elan_write_end(a, c->context, c->address + c->written,
		c->data + c->written, n);
	host_poke(a->nic->host, a->w, a->s, a->t);
	c->written += n;
	if (c->written == c->bytes)
		finish(events_of(a), copy);
}

static void deliver_late(const struct nic_at *a, uint32_t id);

/* Its bytes go where its address leads, at t or later; it alone waits for
 * that. */
static void deliver(const struct nic_at *a, uint32_t id, sim_time t)
{
	struct elan_copy *c = copy_of(events_of(a), id);
	struct elan_view v =
		elan_look(a, c->context, c->address, c->bytes, ELAN_TO_WRITE);

	if (v.state == ELAN_NOWHERE) {
		/* the queue was closed meanwhile */
		elan_count(a)->errors[ELAN_ERROR_ADDRESS]++;
		finish(events_of(a), id);
	} else if (v.t > a->t) {
		elan_look_again(a, c->context, &v, deliver_late, id);
	} else if (v.flags & ELAN_TO_QUEUE) {
		to_queue(a,
			elan_queue_mapped(
				elan_here(a), c->context, c->address, c->bytes),
			id, t);
	} else {
		c->address = v.at;
		to_memory(a, id);
	}
}

/* A moment later: stores of this instant have arrived. */
static void deliver_late(const struct nic_at *a, uint32_t id)
{
	deliver(a, id, a->t + 1);
}

void elan_event_on_done(const struct nic_at *a, uint32_t none)
{
	uint32_t id = slots_pop(&events_of(a)->copies, &events_of(a)->firing);

	(void)none;
	deliver(a, id, a->t);
	start(a);
}

void elan_event_on_room(const struct nic_at *a, struct elan_queue *q)
{
	while (q->copies.first) {
		uint32_t bytes = copy_of(events_of(a), q->copies.first)->bytes;

		if (!q->error && q->announced + bytes - q->freed > q->depth)
			return;
		/* a moment later: stores of this instant have arrived */
		append(a, q, slots_pop(&events_of(a)->copies, &q->copies),
			a->t + 1);
	}
}

void elan_event_on_idle(const struct nic_at *a, struct elan_queue *q)
{
	/* no acknowledgement frees room, no word that comes completes it, and
	 * no thread's end */
	if (q->copies.first && !q->outstanding && !q->arrivals.n &&
		!q->is_blocked && !q->is_looking)
		elan_queue_stop(a, q, ELAN_ERROR_OVERFLOW);
}

uint32_t elan_events_left(const struct elan_node *n)
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

/* --- events --- */

bool elan_event_open(struct elan_node *n)
{
	struct elan_events *x = &n->events;

	if (!x->table)
		x->table = elan_sdram_take(&n->sdram,
			ELAN_EVENTS * sizeof(struct elan_event_cell),
			MEMORY_PAGE);
	return x->table;
}

/* Its number is below ELAN_EVENTS. */
static uint64_t address_of(const struct elan_node *n, uint32_t event)
{
	return n->events.table + event * sizeof(struct elan_event_cell);
}

enum { IN_PAGE = MEMORY_PAGE / sizeof(struct elan_event_cell) };

/* Where it is; one that was never armed is zeros. */
static struct elan_event_cell *cell_of(struct elan_node *n, uint32_t event)
{
	struct elan_events *x = &n->events;
	uint32_t first = event - event % IN_PAGE;

	if (!x->cell || first != x->first) {
		x->first = first;
		x->cell = (void *)elan_sdram_place(
			&n->sdram, address_of(n, first));
	}
	return &x->cell[event % IN_PAGE];
}

static bool is_sound(const struct nic_at *a, uint32_t event)
{
	return elan_sdram_is_sound(a, address_of(elan_here(a), event),
		sizeof(struct elan_event_cell));
}

/* Arms it, if the context may; drops an old copy. */
static enum elan_error arm(const struct nic_at *a, uint32_t event,
	const struct elan_event_cell *to)
{
	struct elan_event_cell *cell = cell_of(elan_here(a), event);

	if (!is_sound(a, event))
		return ELAN_ERROR_MEMORY;
	if (cell->count && cell->context != to->context)
		return ELAN_ERROR_RIGHT;
	if (cell->copy)
		give(events_of(a), cell->copy);
	elan_cache_write(a, ELAN_BY_EVENT, address_of(elan_here(a), event),
		sizeof(*to), a->t);
	*cell = *to;
	return ELAN_FINE;
}

static int64_t count_of(uint64_t word)
{
	return word < INT64_MAX ? (int64_t)word : INT64_MAX;
}

enum elan_error elan_event_arm(const struct nic_at *a, uint32_t context,
	uint32_t event, const uint64_t *word)
{
	struct elan_event_cell cell = {
		.count = count_of(word[0]),
		.address = word[1],
		.value = word[2],
		.context = context,
	};

	if (!event)
		return ELAN_ERROR_COMMAND;
	if (word[1] % 8 || !elan_may(elan_here(a), context, word[1], 8))
		return ELAN_ERROR_ADDRESS;
	return arm(a, event, &cell);
}

/* Keeps the bytes that a queue has just taken out. */
static uint32_t keep(const struct nic_at *a, const struct elan_queue *q,
	uint64_t address, uint32_t bytes)
{
	uint32_t id = take(events_of(a), bytes), i;
	struct elan_copy *c = copy_of(events_of(a), id);
	uint64_t word;

	c->address = address;
	c->context = q->context;
	for (i = 0; i < bytes; i += 8) {
		word = elan_queue_word(q, q->taken - bytes + i);
		memcpy(c->data + i, &word, 8);
	}
	return id;
}

enum elan_error elan_event_arm_copy(const struct nic_at *a,
	const struct elan_queue *q, uint32_t event, uint32_t bytes,
	const uint64_t *word)
{
	struct elan_event_cell cell = {
		.count = count_of(word[0]),
		.address = word[1],
		.context = q->context,
	};
	enum elan_error wrong;

	if (!event)
		return ELAN_ERROR_COMMAND;
	if (word[1] % 8 ||
		(!elan_may(elan_here(a), q->context, word[1], bytes) &&
			!elan_queue_mapped(
				elan_here(a), q->context, word[1], bytes)))
		return ELAN_ERROR_ADDRESS;
	wrong = arm(a, event, &cell);
	if (wrong || !cell.count)
		return wrong;
	cell_of(elan_here(a), event)->copy = keep(a, q, word[1], bytes);
	return ELAN_FINE;
}

static void fire(const struct nic_at *a, const struct elan_event_cell *cell)
{
	elan_count(a)->fired++;
	if (cell->copy)
		fire_copy(a, cell->copy);
	else
		elan_word_to(a, cell->context, cell->address, cell->value);
}

static void on_line(const struct nic_at *a, uint32_t id)
{
	struct elan_events *x = events_of(a);
	const struct elan_firing f =
		*(struct elan_firing *)slots_at(&x->fired, id);

	slots_give(&x->fired, id);
	x->inside--;
	fire(a, &f.cell);
}

static void fire_later(
	const struct nic_at *a, const struct elan_event_cell *cell, sim_time t)
{
	struct elan_events *x = events_of(a);
	uint32_t id = slots_take_any(&x->fired);

	((struct elan_firing *)slots_at(&x->fired, id))->cell = *cell;
	x->inside++;
	elan_card_then(a, t, on_line, id);
}

void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count)
{
	struct elan_event_cell *cell, fired;
	sim_time t;

	/* 0 is none, and is never armed. */
	if (!event || event >= ELAN_EVENTS || !events_of(a)->table)
		return;
	if (!is_sound(a, event)) {
		elan_context_stop(a, context);
		return;
	}
	cell = cell_of(elan_here(a), event);
	if (!cell->count || cell->context != context)
		return;
	t = elan_cache_change(a, ELAN_BY_EVENT, address_of(elan_here(a), event),
		sizeof(*cell), a->t);
	if (count < (uint64_t)cell->count) {
		cell->count -= (int64_t)count;
		return;
	}
	fired = *cell;
	cell->count = 0;
	cell->copy = 0;
	if (t > a->t)
		fire_later(a, &fired, t);
	else
		fire(a, &fired);
}

int64_t elan_event_count(const struct nic *nic, site_id s, uint32_t event)
{
	struct elan_node *n = nic->nodes[s];

	if (!n || !n->events.table || event >= ELAN_EVENTS)
		return 0;
	return cell_of(n, event)->count;
}
