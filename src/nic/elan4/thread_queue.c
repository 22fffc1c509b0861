/*
 * What threads call for messages and blocks of bytes.
 *
 * A thread works on one message at a time: the one that it took out of a queue
 * or looked at last.  What it writes to memory until it frees the slot is that
 * message's delivery, for time budgets.
 */
#include "nic/elan4/thread.h"

#include <errno.h>

#include "meas/calls.h"

#define self elan_thread_self
#define hold elan_thread_hold

/* --- the message that it works on --- */

/* NULL: it works on none. */
static struct elan_slot *message_of(
	const struct nic_at *a, const struct elan_thread *x)
{
	struct elan_iq *q = elan_iq_at(elan_here(a), x->message_queue);

	return x->message && q ? &q->slot[x->message - 1] : NULL;
}

static struct elan_note *note_of(
	const struct nic_at *a, const struct elan_slot *s)
{
	return s && s->note ? elan_note(a, s->note) : NULL;
}

/* It turns to another one: the last one stays in its slot. */
static void park(const struct nic_at *a, struct elan_thread *x)
{
	struct elan_note *n = note_of(a, message_of(a, x));

	if (n && !n->parked) {
		n->parked = a->t;
		n->parked_late = n->late;
		n->late = 0;
	}
	x->message = 0;
}

void elan_thread_was_late(const struct nic_at *a, sim_time time)
{
	struct elan_note *n = note_of(a, message_of(a, elan_thread_here(a)));

	if (n)
		n->late += time;
}

/* It asks for the bus. */
static void note_out(const struct nic_at *a, const struct elan_thread *x)
{
	struct elan_slot *s = message_of(a, x);
	struct elan_note *n = note_of(a, s);

	if (!s || s->is_out)
		return;
	s->is_out = true;
	elan_count(a)->network_ps += (uint64_t)(a->t - s->asked);
	elan_count(a)->networked++;
	if (n) {
		n->asked = a->t;
		n->asked_late = n->late;
		n->late = 0;
	}
}

sim_time elan_thread_out(struct nic_at *a, struct elan_thread *x, uint64_t to,
	const void *from, uint32_t bytes)
{
	if (elan_is_card(to)) {
		elan_sdram_write(a, elan_here(a)->threads->at, to, from, bytes);
		return elan_cache_write(a, ELAN_BY_THREAD, to, bytes, a->t) -
		       a->t;
	}
	x = elan_thread_settle(a);
	note_out(a, x);
	x->last_write = elan_block_write(a, to, from, bytes);
	x->last_turn = elan_here(a)->words.asked;
	return 0;
}

/* --- queues --- */

enum { HEADER = 16 }; /* bytes of a slot's header that a thread needs */

/* The first of some queues that has a message; NULL: none has.  False: not all
 * of them are open. */
static bool find_message(const struct nic_at *a, const struct elan_thread *x,
	uint32_t first, uint32_t n, struct elan_iq **found)
{
	*found = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct elan_iq *q =
			elan_iq(elan_here(a), x->context, first + i);

		if (!q)
			return false;
		if (q->front && !*found)
			*found = q;
	}
	return n > 0;
}

bool elan_thread_wants(const struct elan_node *n, const struct elan_iq *q)
{
	const struct elan_threads *h = n->threads;

	for (uint32_t id = 1; h && id <= h->all.room; id++) {
		const struct elan_thread *x = slots_find(&h->all, id);

		if (x && elan_thread_awaits(x, q))
			return true;
	}
	return false;
}

bool elan_thread_is_sound(const struct nic_at *a, const struct elan_thread *x,
	uint64_t at, uint32_t bytes)
{
	if (elan_sdram_is_sound(a, at, bytes))
		return true;
	elan_context_stop(a, x->context);
	return false;
}

/* The first message of a queue is the thread's. */
static int take(struct nic_at *a, struct elan_thread *x, struct elan_iq *q,
	struct elan_message *m)
{
	uint32_t slot = elan_iq_take(a, q);
	uint64_t at = elan_iq_data(q, slot) - ELAN_SLOT_HEADER;
	struct elan_note *n = note_of(a, &q->slot[slot]);
	sim_time read = elan_cache_stream(
		a, ELAN_BY_THREAD, at, HEADER, ELAN_ANY_PORT, a->t);
	sim_time t = elan_cache_change(a, ELAN_BY_THREAD, q->at, 8, a->t);

	x->message_queue = q->place;
	x->message = slot + 1;
	x->taken = a->t;
	x->last_write = 0;
	if (n)
		n->taken = a->t;
	if (!elan_thread_is_sound(a, x, at, ELAN_SLOT_HEADER))
		return EIO;
	elan_thread_spend(a, x, (t > read ? t : read) - a->t);
	elan_iq_read(a, q, slot, m);
	return 0;
}

int elan_thread_wait_queue(uint32_t first, uint32_t n, struct elan_message *m)
{
	struct nic_at a;
	struct elan_thread *x = self(&a);
	const struct elan_threads *h = elan_here(&a)->threads;
	struct elan_iq *q;

	if (!find_message(&a, x, first, n, &q))
		return EINVAL;
	if (a.t > h->at && (q || h->ready.first)) {
		x = elan_thread_settle(&a);
		if (!find_message(&a, x, first, n, &q))
			return EINVAL;
	}
	park(&a, x);
	while (!q) {
		x->first_queue = first;
		x->n_queues = n; /* until it runs they cannot be closed */
		elan_thread_wait(&a, x, WAITS_MESSAGE);
		x = self(&a);
		x->n_queues = 0;
		find_message(&a, x, first, n, &q);
	}
	return take(&a, x, q, m);
}

bool elan_thread_has_message(uint32_t first, uint32_t n)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);
	struct elan_iq *q;

	return find_message(&a, x, first, n, &q) && q;
}

/* A slot of a queue, which may be NULL; NULL: no message was taken there. */
static inline struct elan_slot *taken_slot(struct elan_iq *q, uint32_t slot)
{
	if (!q || slot >= q->n_slots || q->slot[slot].state != ELAN_SLOT_TAKEN)
		return NULL;
	return &q->slot[slot];
}

/* The slot that a thread names. */
static struct elan_slot *find_slot(const struct nic_at *a,
	const struct elan_thread *x, uint32_t queue, uint32_t slot)
{
	return taken_slot(elan_iq(elan_here(a), x->context, queue), slot);
}

int elan_thread_look(uint32_t queue, uint32_t slot, struct elan_message *m)
{
	struct nic_at a;
	struct elan_thread *x = self(&a);
	const struct elan_slot *s = find_slot(&a, x, queue, slot);
	struct elan_iq *q = elan_iq(elan_here(&a), x->context, queue);

	if (!s)
		return EINVAL;
	park(&a, x);
	x->message_queue = q->place;
	x->message = slot + 1;
	x->last_write = 0;
	if (note_of(&a, s))
		note_of(&a, s)->taken = x->taken;
	elan_iq_read(&a, q, slot, m);
	return 0;
}

/* It is a message's no more. */
static void leave(const struct nic_at *a, struct elan_thread *x,
	const struct elan_slot *s)
{
	if (s == message_of(a, x))
		x->message = 0;
}

int elan_thread_free(uint32_t queue, uint32_t slot)
{
	struct nic_at a;
	struct elan_thread *x = self(&a);
	struct elan_iq *q = elan_iq(elan_here(&a), x->context, queue);
	const struct elan_slot *s = taken_slot(q, slot);
	bool is_its;

	if (!s)
		return EINVAL;
	if (s->asks == ELAN_ASKS && s->left)
		return elan_thread_reject(queue, slot);
	if (s->asks == ELAN_ASKS) {
		elan_thread_accept(queue, slot);
		x = self(&a);
	}
	is_its = s == message_of(&a, x);
	if (q->blocks)
		x = elan_thread_settle(&a);
	if (s->note && !(is_its && x->last_write &&
			       elan_block_ends(&a, x->last_write, x->last_turn,
				       s->note)))
		elan_account_end(&a, s->note);
	if (is_its)
		x->message = 0;
	elan_iq_free(&a, q, slot);
	return 0;
}

/* The queue of a message that asks, now; NULL: there is none. */
static struct elan_iq *find_question(
	struct nic_at *a, uint32_t queue, uint32_t slot)
{
	struct elan_thread *x = self(a);
	const struct elan_slot *s = find_slot(a, x, queue, slot);

	if (!s || s->asks != ELAN_ASKS)
		return NULL;
	x = elan_thread_settle(a);
	return elan_iq(elan_here(a), x->context, queue);
}

int elan_thread_accept(uint32_t queue, uint32_t slot)
{
	struct nic_at a;
	struct elan_iq *q = find_question(&a, queue, slot);

	if (!q)
		return EINVAL;
	if (q->slot[slot].left)
		leave(&a, self(&a), &q->slot[slot]);
	elan_question_accept(&a, q, slot);
	return 0;
}

int elan_thread_reject(uint32_t queue, uint32_t slot)
{
	struct nic_at a;
	struct elan_iq *q = find_question(&a, queue, slot);

	if (!q)
		return EINVAL;
	leave(&a, self(&a), &q->slot[slot]);
	elan_question_reject(&a, q, slot);
	return 0;
}

struct trips *elan_thread_trips(void)
{
	struct nic_at a;

	self(&a);
	return book_trips(a.nic->net->book);
}

void elan_thread_note(enum elan_figure what, uint32_t n)
{
	struct nic_at a;
	const struct elan_thread *x = self(&a);
	struct elan_note *note = note_of(&a, message_of(&a, x));

	if ((uint32_t)what >= ELAN_FIGURES)
		return;
	elan_count(&a)->noted[what] += n;
	if (what == ELAN_ELEMENTS && note)
		note->looked += n;
}

/* --- blocks --- */

enum {
	PART = 512, /* one burst on the bus */
	FIRST = 64, /* with these in hand, the bus is asked for */
};

/* Whole cycles. */
static sim_time block_time(const struct nic_at *a, uint32_t bytes)
{
	const struct elan_params *p = elan_params(a);
	sim_time t = bytes * (PS_PER_S / 1000) / (p->thread_block / 1000);

	return (t + p->thread_clock - 1) / p->thread_clock * p->thread_clock;
}

/* What a block of card memory takes beyond that, if it is not in the cache. */
static sim_time missed(const struct nic_at *a, uint64_t from, uint32_t bytes)
{
	sim_time end = elan_cache_stream(
		a, ELAN_BY_THREAD, from, bytes, ELAN_BOTH_PORTS, a->t);
	sim_time least = a->t + block_time(a, bytes);

	return end > least ? end - least : 0;
}

int elan_thread_copy(uint64_t to, uint64_t from, uint32_t bytes)
{
	struct elan_view source, target;
	struct elan_thread *x;
	struct nic_at a;
	uint8_t part[PART];
	uint32_t n, first;
	sim_time rest;

	if (!bytes)
		return EINVAL;
	self(&a);
	if (elan_thread_see(&a, from, bytes, ELAN_TO_READ, &source) ||
		elan_thread_see(&a, to, bytes, ELAN_TO_WRITE, &target) ||
		!elan_is_card(source.at))
		return EFAULT;
	from = source.at;
	to = target.at;
	x = elan_thread_here(&a);
	for (uint32_t k = 0; k < bytes; k += n) {
		n = bytes - k < PART ? bytes - k : PART;
		first = n < FIRST ? n : FIRST;
		elan_thread_spend(
			&a, x, block_time(&a, first) + missed(&a, from + k, n));
		x = elan_thread_here(&a);
		if (!elan_thread_is_sound(&a, x, from + k, n))
			return EIO;
		elan_sdram_read(&a, from + k, part, n);
		rest = elan_thread_out(&a, x, to + k, part, n) +
		       block_time(&a, n) - block_time(&a, first);
		elan_thread_spend(&a, x, rest);
		x = elan_thread_here(&a);
	}
	return 0;
}

int elan_thread_write_block(uint64_t to, const void *from, uint32_t bytes)
{
	struct elan_thread *x;
	struct elan_view v;
	struct nic_at a;
	sim_time late;

	if (!bytes || bytes > PART)
		return EINVAL;
	self(&a);
	if (elan_thread_see(&a, to, bytes, ELAN_TO_WRITE, &v))
		return EFAULT;
	x = elan_thread_here(&a);
	elan_thread_spend(&a, x, block_time(&a, bytes));
	x = elan_thread_here(&a);
	late = elan_thread_out(&a, x, v.at, from, bytes);
	elan_thread_spend(&a, x, late);
	return 0;
}
