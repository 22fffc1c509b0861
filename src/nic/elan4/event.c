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
 * A copy that waits holds up none but those to the same queue: a queue that is
 * full is its owner's affair, and there is one event processor for all.
 *
 * A word does not wait for the event processor, and takes none of its time: it
 * is part of how every message's end is told, and those times are calibrated
 * with it.
 */
#include "nic/elan4/parts.h"

#include <string.h>

#include "base/mem.h"

#define PS_PER_S INT64_C(1000000000000)

/* --- copies --- */

static struct elan_copy *copy_of(const struct elan_node *n, uint32_t id)
{
	return slots_at(&n->copies, id);
}

/* A new one, with room for so many bytes. */
static uint32_t take(struct elan_node *n, uint32_t bytes)
{
	uint32_t id = slots_take(&n->copies);

	copy_of(n, id)->data = mem_alloc(1, bytes);
	copy_of(n, id)->bytes = bytes;
	n->copies_bytes += bytes;
	return id;
}

static void give(struct elan_node *n, uint32_t id)
{
	struct elan_copy *c = copy_of(n, id);

	n->copies_bytes -= c->bytes;
	mem_free(c->data);
	c->data = NULL;
	slots_give(&n->copies, id);
}

/* One that has fired is done. */
static void finish(struct elan_node *n, uint32_t id)
{
	n->copies_inside--;
	give(n, id);
}

void elan_event_free(struct elan_node *n)
{
	uint32_t i;

	for (i = 1; i <= n->copies.room; i++)
		mem_free(copy_of(n, i)->data);
	slots_fini(&n->copies);
	mem_free(n->events);
}

uint64_t elan_event_memory(const struct elan_node *n)
{
	return n->n_events * sizeof(*n->events) + slots_memory(&n->copies) +
	       n->copies_bytes;
}

/* --- the event processor --- */

static void start(const struct nic_at *a)
{
	const struct elan_params *p = &elan_of(a)->params;
	uint32_t id = elan_here(a)->firing.first;

	if (id)
		elan_post(a,
			a->t + p->event_slot +
				copy_of(elan_here(a), id)->bytes * PS_PER_S /
					p->event_rate,
			ELAN_ENGINE_EVENT, 0);
}

static void fire_copy(const struct nic_at *a, uint32_t id)
{
	bool is_idle = !elan_here(a)->firing.first;

	elan_here(a)->copies_inside++;
	slots_push(&elan_here(a)->copies, &elan_here(a)->firing, id);
	if (is_idle)
		start(a);
}

static void append(
	const struct nic_at *a, uint32_t queue, uint32_t id, sim_time t)
{
	const struct elan_copy *c = copy_of(elan_here(a), id);

	if (!elan_queue(elan_here(a), queue)->error)
		elan_here(a)->counts.copied += c->bytes;
	elan_queue_append(a, queue, c->data, c->bytes, t);
	finish(elan_here(a), id);
}

static void to_queue(const struct nic_at *a, uint32_t queue, uint32_t id)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);
	uint32_t bytes = copy_of(elan_here(a), id)->bytes;

	if (bytes > q->depth)
		elan_queue_stop(a, queue, ELAN_ERROR_OVERFLOW);
	if (elan_queue_takes(elan_here(a), queue, bytes)) {
		append(a, queue, id, a->t);
		return;
	}
	slots_push(&elan_here(a)->copies, &q->copies, id);
	elan_queue_wake(a, queue);
}

static uint32_t next_burst(const struct nic_at *a, uint32_t left)
{
	uint32_t most = (uint32_t)elan_of(a)->params.merge;

	return left < most ? left : most;
}

static void to_memory(const struct nic_at *a, uint32_t id)
{
	uint32_t left = copy_of(elan_here(a), id)->bytes, n;

	elan_here(a)->counts.copied += left;
	for (; left; left -= n) {
		n = next_burst(a, left);
		elan_bus_ask(a, ELAN_BURST_COPY, id, n);
	}
}

void elan_event_granted(const struct nic_at *a, uint32_t copy, sim_time end)
{
	elan_post(a, end + elan_of(a)->host.see, ELAN_ENGINE_COPIED, copy);
}

void elan_event_on_copied(const struct nic_at *a, uint32_t copy)
{
	struct elan_copy *c = copy_of(elan_here(a), copy);
	uint32_t n = next_burst(a, c->bytes - c->written);

	host_write(a->nic->host, a->w, a->s, a->t, c->address + c->written,
		c->data + c->written, n);
	host_poke(a->nic->host, a->w, a->s, a->t);
	c->written += n;
	if (c->written == c->bytes)
		finish(elan_here(a), copy);
}

void elan_event_on_done(const struct nic_at *a)
{
	uint32_t id = slots_pop(&elan_here(a)->copies, &elan_here(a)->firing);
	const struct elan_copy *c = copy_of(elan_here(a), id);
	uint32_t queue = elan_queue_mapped(
		elan_here(a), c->context, c->address, c->bytes);

	if (queue != ELAN_NO_QUEUE) {
		to_queue(a, queue, id);
	} else if (elan_may(elan_here(a), c->context, c->address, c->bytes)) {
		to_memory(a, id);
	} else {
		/* the queue has been closed since */
		elan_here(a)->counts.errors[ELAN_ERROR_ADDRESS]++;
		finish(elan_here(a), id);
	}
	start(a);
}

void elan_event_on_room(const struct nic_at *a, uint32_t queue)
{
	struct elan_queue *q = elan_queue(elan_here(a), queue);

	while (q->copies.first) {
		uint32_t bytes = copy_of(elan_here(a), q->copies.first)->bytes;

		if (!q->error && q->announced + bytes - q->freed > q->depth)
			return;
		/* a moment later: this instant's stores have come already */
		append(a, queue, slots_pop(&elan_here(a)->copies, &q->copies),
			a->t + 1);
	}
}

void elan_event_on_idle(const struct nic_at *a, uint32_t queue)
{
	const struct elan_queue *q = elan_queue(elan_here(a), queue);

	/* no acknowledgement frees room, no word that comes completes it, and
	 * no thread's end */
	if (q->copies.first && !q->outstanding && !q->arrivals.n &&
		!q->is_blocked)
		elan_queue_stop(a, queue, ELAN_ERROR_OVERFLOW);
}

uint32_t elan_event_inside(const struct elan_node *n)
{
	uint32_t left = n->copies_inside, i, id;

	for (i = 0; left && i < ELAN_QUEUES; i++) {
		const struct elan_queue *q = elan_queue(n, i);

		id = q && q->is_blocked ? q->copies.first : 0;
		for (; id; id = copy_of(n, id)->slot.next)
			left--;
	}
	return left;
}

/* --- events --- */

/* Made where it is new; its number is below ELAN_EVENTS. */
static struct elan_event_cell *event_of(struct elan_node *n, uint32_t event)
{
	uint32_t room = n->n_events, i;

	if (event >= room) {
		room = room ? room : 16;
		while (room <= event)
			room *= 2;
		n->events = mem_grow(n->events, room, sizeof(*n->events));
		for (i = n->n_events; i < room; i++)
			n->events[i] = (struct elan_event_cell){ 0 };
		n->n_events = room;
	}
	return &n->events[event];
}

/* Arms it, where the context may; what was kept for it is dropped. */
static enum elan_error arm(
	struct elan_node *n, uint32_t event, const struct elan_event_cell *to)
{
	struct elan_event_cell *cell = event_of(n, event);

	if (cell->count && cell->context != to->context)
		return ELAN_ERROR_RIGHT;
	if (cell->copy)
		give(n, cell->copy);
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
	return arm(elan_here(a), event, &cell);
}

/* Keeps what a queue has just taken out. */
static uint32_t keep(const struct nic_at *a, const struct elan_queue *q,
	uint64_t address, uint32_t bytes)
{
	uint32_t id = take(elan_here(a), bytes), i;
	struct elan_copy *c = copy_of(elan_here(a), id);
	uint64_t word;

	c->address = address;
	c->context = q->context;
	for (i = 0; i < bytes; i += 8) {
		word = elan_queue_word(q, q->taken - bytes + i);
		memcpy(c->data + i, &word, 8);
	}
	return id;
}

enum elan_error elan_event_arm_copy(const struct nic_at *a, uint32_t queue,
	uint32_t event, uint32_t bytes, const uint64_t *word)
{
	const struct elan_queue *q = elan_queue(elan_here(a), queue);
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
			elan_queue_mapped(elan_here(a), q->context, word[1],
				bytes) == ELAN_NO_QUEUE))
		return ELAN_ERROR_ADDRESS;
	wrong = arm(elan_here(a), event, &cell);
	if (!wrong && cell.count)
		elan_here(a)->events[event].copy = keep(a, q, word[1], bytes);
	return wrong;
}

void elan_event_set(const struct nic_at *a, uint32_t context, uint32_t event,
	uint64_t count)
{
	struct elan_event_cell *c;

	/* 0 is none, and is never armed. */
	if (event >= elan_here(a)->n_events)
		return;
	c = &elan_here(a)->events[event];
	if (!c->count || c->context != context)
		return;
	if (count < (uint64_t)c->count) {
		c->count -= (int64_t)count;
		return;
	}
	c->count = 0;
	elan_here(a)->counts.fired++;
	if (c->copy)
		fire_copy(a, c->copy);
	else
		elan_word_write(a, c->address,
			elan_word_order(elan_here(a), context, c->value));
	c->copy = 0;
}

int64_t elan_event_count(const struct nic *nic, site_id s, uint32_t event)
{
	const struct elan_node *n = nic->nodes[s];

	return n && event < n->n_events ? n->events[event].count : 0;
}
