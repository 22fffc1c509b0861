/*
 * Messages that the matching thread keeps because their receive is not there
 * yet (*early*), or an earlier message of their sender (*ahead*), or because
 * only one receive may have them (*claimed*).
 *
 * They stay in their slots.  When three quarters of the slots are held by such
 * messages, the oldest one is moved to a cell of host memory.  When there is no
 * free cell, messages fill the slots, and then senders come again.
 *
 * Each kind has two lists, of older and newer ones, so that the oldest one in a
 * slot is found without a search.
 */
#include "api/elan/tport_thread.h"

static uint64_t kept_at(const struct tport_matcher *x, uint32_t place)
{
	return tport_kept_at(&x->plan, place);
}

static bool is_slot(const struct tport_matcher *x, uint32_t place)
{
	return place < x->plan.slots;
}

static bool is_cell(const struct tport_matcher *x, uint32_t place)
{
	return !is_slot(x, place) && place - x->plan.slots < x->plan.n_cells;
}

static uint64_t cell_at(const struct tport_matcher *x, uint32_t place)
{
	if (x->plan.by == TPORT_REJECT)
		return tport_name_at(&x->plan, x->plan.n_ranks, place);
	return x->plan.cells + (uint64_t)(place - x->plan.slots) * x->plan.cell;
}

static uint32_t first_record(const struct tport_matcher *x)
{
	return x->plan.slots + x->plan.n_cells;
}

static uint32_t place_of(
	const struct tport_matcher *x, const struct elan_message *m)
{
	return m->slot + (m->queue == x->plan.queues ? first_record(x) : 0);
}

/* --- lists --- */

static void append(struct tport_matcher *x, struct tport_list *l,
	uint32_t place, uint32_t source)
{
	if (l->last)
		tport_set_next(
			x, kept_at(x, l->last - 1) + 8, l->source, place + 1);
	else
		l->first = place + 1;
	l->last = place + 1;
	l->source = source;
}

static void unlink(struct tport_matcher *x, struct tport_list *l, uint32_t next,
	const struct tport_kept *before, uint32_t previous)
{
	if (previous)
		tport_set_next(
			x, kept_at(x, previous - 1) + 8, before->source, next);
	else
		l->first = next;
	if (!next) {
		l->last = previous;
		l->source = before->source;
	}
}

/* --- places --- */

static struct tport_kept kept_of(
	struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_kept k = {
		.tag = m->tag,
		.source = m->source,
		.bytes = (uint16_t)m->bytes,
		.space = (uint16_t)m->note,
		.number = m->number,
		.kind = m->kind,
		.length = m->bytes,
	};
	uint32_t front = tport_front_bytes(m->kind);

	if (m->queue == x->plan.queues)
		return k;
	if (m->kind & TPORT_LONG)
		tport_load(x, m->at, &k.length, sizeof(k.length));
	else if (front <= k.length)
		k.length -= front;
	return k;
}

void tport_put(struct tport_matcher *x, struct tport_queue *q,
	const struct elan_message *m)
{
	uint32_t place = place_of(x, m);
	struct tport_kept k;

	append(x, &q->newer, place, m->source);
	x->held += is_slot(x, place);
	if (is_cell(x, place)) {
		/* only its number may have changed */
		k = (struct tport_kept){ .bytes = (uint16_t)m->bytes,
			.space = (uint16_t)m->note,
			.number = m->number,
			.kind = m->kind };
		tport_set_next(x, kept_at(x, place) + 8, m->source, 0);
		if (q == &x->claimed || q == &x->gone)
			tport_store(x, kept_at(x, place) + 16, &k.bytes, 8);
	} else {
		k = kept_of(x, m);
		tport_store(x, kept_at(x, place), &k, sizeof(k));
	}
}

void tport_keep(struct tport_matcher *x, struct tport_queue *q,
	const struct elan_message *m)
{
	tport_put(x, q, m);
	tport_compute(x, 0);
}

void tport_drop(struct tport_matcher *x, const struct elan_message *m)
{
	if (is_slot(x, m->slot)) {
		elan_thread_free(m->queue, m->slot);
		return;
	}
	tport_set_next(x, kept_at(x, m->slot) + 8, 0, x->free);
	x->free = m->slot + 1;
}

static bool has_cell(const struct tport_matcher *x)
{
	return x->free || x->made < x->plan.n_cells;
}

/* Its place. */
static uint32_t take_cell(struct tport_matcher *x)
{
	struct tport_kept k;
	uint32_t place = x->free;

	if (!place)
		return x->plan.slots + x->made++;
	tport_load(x, kept_at(x, place - 1), &k, sizeof(k));
	x->free = k.next;
	return place - 1;
}

/* --- searches --- */

/* In one list; 1 + place, or 0. */
static uint32_t search(struct tport_matcher *x, const struct tport_list *l,
	tport_test *test, const void *arg, struct tport_kept *k,
	struct tport_kept *before, uint32_t *previous)
{
	uint32_t at = l->first;

	*previous = 0;
	while (at) {
		tport_load(x, kept_at(x, at - 1), k, sizeof(*k));
		x->looked++;
		if (test(k, arg))
			return at;
		*before = *k;
		*previous = at;
		at = k->next;
	}
	return 0;
}

static void describe(const struct tport_matcher *x, uint32_t place,
	const struct tport_kept *k, struct elan_message *m)
{
	if (is_slot(x, place)) {
		elan_thread_look(x->plan.queues + 1, place, m);
		m->number = k->number;
		m->kind = k->kind;
		m->note = k->space;
		return;
	}
	if (!is_cell(x, place)) {
		elan_thread_look(x->plan.queues, place - first_record(x), m);
		return;
	}
	*m = (struct elan_message){
		.at = cell_at(x, place),
		.tag = k->tag,
		.source = k->source,
		.bytes = k->bytes,
		.queue = x->plan.queues + 1,
		.slot = place,
		.number = k->number,
		.kind = k->kind,
		.note = k->space,
	};
}

static bool take_of(struct tport_matcher *x, struct tport_list *l,
	tport_test *test, const void *arg, struct elan_message *m)
{
	struct tport_kept k, before = { 0 };
	uint32_t previous, at = search(x, l, test, arg, &k, &before, &previous);

	if (!at)
		return false;
	unlink(x, l, k.next, &before, previous);
	describe(x, at - 1, &k, m);
	x->held -= is_slot(x, at - 1);
	return true;
}

bool tport_take(struct tport_matcher *x, struct tport_queue *q,
	tport_test *test, const void *arg, struct elan_message *m)
{
	return take_of(x, &q->older, test, arg, m) ||
	       take_of(x, &q->newer, test, arg, m);
}

bool tport_find(struct tport_matcher *x, const struct tport_queue *q,
	tport_test *test, const void *arg, struct tport_kept *k,
	struct elan_message *m)
{
	struct tport_kept before;
	uint32_t previous;
	uint32_t at = search(x, &q->older, test, arg, k, &before, &previous);

	if (!at)
		at = search(x, &q->newer, test, arg, k, &before, &previous);
	if (at)
		describe(x, at - 1, k, m);
	return at;
}

/* --- moves --- */

/* From its slot to a cell, whose place is returned. */
static uint32_t move_to_cell(
	struct tport_matcher *x, uint32_t slot, const struct tport_kept *k)
{
	uint32_t place = take_cell(x);
	struct elan_message m;

	elan_thread_look(x->plan.queues + 1, slot, &m);
	if (k->bytes)
		elan_thread_copy(cell_at(x, place), m.at, k->bytes);
	elan_thread_note(ELAN_MOVED, 1);
	elan_thread_free(m.queue, m.slot);
	x->held--;
	return place;
}

/* The first of the newer ones becomes the last of the older ones. */
static void move_first(struct tport_matcher *x, struct tport_queue *q)
{
	uint32_t place = q->newer.first - 1;
	struct tport_kept k;

	tport_load(x, kept_at(x, place), &k, sizeof(k));
	q->newer.first = k.next;
	if (!k.next)
		q->newer.last = 0;
	if (is_slot(x, place))
		place = move_to_cell(x, place, &k);
	k.next = 0;
	tport_store(x, kept_at(x, place), &k, sizeof(k));
	append(x, &q->older, place, k.source);
}

void tport_move(struct tport_matcher *x)
{
	if (x->plan.by == TPORT_REJECT)
		return; /* places are for names */
	while (4 * x->held >= 3 * x->plan.slots && has_cell(x))
		move_first(x, x->early.newer.first     ? &x->early
			      : x->claimed.newer.first ? &x->claimed
						       : &x->ahead);
}

static bool is_any(const struct tport_kept *k, const void *arg)
{
	(void)k;
	(void)arg;
	return true;
}

void tport_drop_all(struct tport_matcher *x)
{
	struct elan_message m;

	while (tport_take(x, &x->early, is_any, NULL, &m) ||
		tport_take(x, &x->claimed, is_any, NULL, &m) ||
		tport_take(x, &x->gone, is_any, NULL, &m) ||
		tport_take(x, &x->ahead, is_any, NULL, &m))
		tport_drop(x, &m);
}

/* --- names --- */

bool tport_is_name(const struct tport_matcher *x, const struct elan_message *m)
{
	return x->plan.by == TPORT_REJECT && is_cell(x, m->slot);
}

/* Its beginning, as far as it has more than bytes for its receive. */
static void copy_head(
	struct tport_matcher *x, uint64_t to, const struct elan_message *m)
{
	struct tport_name name = { .number = m->number };
	uint32_t n = tport_front_bytes(m->kind);

	n += m->kind & TPORT_LONG ? (uint32_t)sizeof(struct tport_long) : 0;
	n = n < m->bytes ? n : m->bytes;
	if (n)
		tport_load(x, m->at, name.head, n);
	tport_store(x, to, &name, offsetof(struct tport_name, spare));
}

bool tport_keep_name(struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_kept k = kept_of(x, m);
	uint32_t place;

	if (!has_cell(x))
		return false;
	place = take_cell(x);
	append(x, &x->early.newer, place, m->source);
	tport_store(x, kept_at(x, place), &k, sizeof(k));
	copy_head(x, cell_at(x, place), m);
	return true;
}

uint16_t tport_name_number(
	struct tport_matcher *x, const struct elan_message *m)
{
	uint64_t number;

	tport_load(x, m->at + offsetof(struct tport_name, number), &number, 8);
	return (uint16_t)number;
}

/* --- the host takes them in --- */

/* The number of its interrupt is kept, and its bytes go to host memory. */
void tport_hand_over(struct tport_matcher *x, const struct elan_message *m)
{
	uint16_t number = (uint16_t)(x->interrupt = elan_thread_interrupt());

	tport_store(x,
		kept_at(x, place_of(x, m)) +
			offsetof(struct tport_kept, number),
		&number, sizeof(number));
	while (x->early.newer.first && has_cell(x))
		move_first(x, &x->early);
}

void tport_await_host(struct tport_matcher *x, const struct elan_message *m)
{
	elan_thread_wait_interrupt(
		x->interrupt - (uint16_t)(x->interrupt - m->number));
}
