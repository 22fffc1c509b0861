/*
 * The thread that matches messages on the card (QSN-F61).  It waits for records
 * and messages; see tport.h for what they are.
 *
 *	posted list   receives without a message, in the order of posting
 *	early list    messages without a receive, in the order of arrival; they
 *	              stay in their slots
 *	ahead list    messages that overtook an earlier one of their sender;
 *	              they stay in their slots, too, until that is here
 *
 * A message is compared with posted receives, a receive with early messages,
 * one after the other: the first that matches is taken out of its list.  Heads
 * and ends of lists are in registers, links in card memory.
 *
 * Time.  From a message, or a record, to the first request for the bus it takes
 * nic.match.cycles, and nic.match.element for each element after the first.
 * Its loads and stores are a part of that, with a cycle each; what is not in
 * the cache comes on top.
 */
#include <errno.h>

#include "api/elan/tport.h"

struct list {
	uint32_t first, last; /* handles, or 1 + slot */
	uint32_t source; /* of the last one, whose word has the link, too */
};

struct matcher {
	const uint64_t *reg;
	struct list posted, early, ahead;
	uint32_t looked; /* elements, for what is at hand */
	uint32_t spent; /* cycles */
};

static uint64_t element_at(const struct matcher *x, uint32_t handle)
{
	return tport_element_at(x->reg[TPORT_CARD], handle);
}

static uint64_t early_at(const struct matcher *x, uint32_t slot)
{
	return tport_early_at(x->reg[TPORT_CARD], x->reg[TPORT_COUNTS], slot);
}

/* --- loads and stores --- */

static void load(struct matcher *x, uint64_t at, void *to, uint32_t bytes)
{
	elan_thread_read(at, to, bytes);
	x->spent += bytes / 8;
}

static uint32_t block_cycles(const struct matcher *x, uint32_t bytes)
{
	uint32_t each = (uint32_t)x->reg[TPORT_BLOCK];

	return (bytes + each - 1) / each;
}

static void store(
	struct matcher *x, uint64_t at, const void *from, uint32_t bytes)
{
	elan_thread_write_block(at, from, bytes);
	x->spent += block_cycles(x, bytes);
}

/* The next one in its list, in one word with its source. */
static void set_next(
	struct matcher *x, uint64_t at, uint32_t source, uint32_t next)
{
	const uint32_t word[2] = { source, next };

	store(x, at, word, sizeof(word));
}

/* Computes until the time of a match is over, but for some cycles. */
static void compute(struct matcher *x, uint32_t rest)
{
	uint64_t cycles = x->reg[TPORT_CYCLES] & UINT32_MAX;
	uint64_t each = x->reg[TPORT_CYCLES] >> 32;

	if (x->looked)
		cycles += (x->looked - 1) * each;
	if (cycles > x->spent + rest)
		elan_thread_work((uint32_t)(cycles - x->spent - rest));
	elan_thread_note(ELAN_ELEMENTS, x->looked);
}

/* --- matches --- */

static bool matches(uint64_t tag, uint64_t mask, uint32_t source, uint64_t sent,
	uint32_t from)
{
	return !((tag ^ sent) & mask) &&
	       (source == from || source == ELAN_TPORT_ANY);
}

/* The bytes of a message, then the receive's status. */
static void deliver(struct matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t bytes)
{
	uint32_t n = m->bytes < bytes ? m->bytes : (uint32_t)bytes;
	const struct tport_status s = {
		.tag = m->tag,
		.source = m->source,
		.bytes = m->bytes,
		.code = m->bytes > bytes ? EMSGSIZE : 0,
		.is_done = 1,
	};

	if (!n) {
		compute(x, block_cycles(x, sizeof(s)));
	} else {
		compute(x, block_cycles(x, n < 64 ? n : 64));
		elan_thread_copy(to, m->at, n);
	}
	elan_thread_write_block(
		tport_status_at(x->reg[TPORT_HOST], handle), &s, sizeof(s));
	elan_thread_note(ELAN_MATCHED, 1);
	elan_thread_free(m->queue, m->slot);
}

/* --- messages --- */

/* The first posted receive that a message matches, or 0; *before is the one
 * before it. */
static uint32_t find_posted(struct matcher *x, const struct elan_message *m,
	struct tport_posted *p, struct tport_posted *before, uint32_t *previous)
{
	uint32_t handle = x->posted.first;

	*previous = 0;
	while (handle) {
		load(x, element_at(x, handle), p, TPORT_LOOK);
		x->looked++;
		if (matches(p->tag, p->mask, p->source, m->tag, m->source))
			return handle;
		*before = *p;
		*previous = handle;
		handle = p->next;
	}
	return 0;
}

static void unlink_posted(struct matcher *x, uint32_t next,
	const struct tport_posted *before, uint32_t previous)
{
	if (previous)
		set_next(x, element_at(x, previous) + 16, before->source, next);
	else
		x->posted.first = next;
	if (!next) {
		x->posted.last = previous;
		x->posted.source = before->source;
	}
}

/* It stays in its slot, at the end of a list. */
static void keep(
	struct matcher *x, struct list *l, const struct elan_message *m)
{
	struct tport_early e = {
		.tag = m->tag,
		.source = m->source,
		.bytes = m->bytes,
		.number = m->number,
		.kind = m->kind,
	};

	if (l->last)
		set_next(x, early_at(x, l->last - 1) + 8, l->source,
			m->slot + 1);
	else
		l->first = m->slot + 1;
	l->last = m->slot + 1;
	l->source = m->source;
	store(x, early_at(x, m->slot), &e, sizeof(e));
	compute(x, 0);
}

static void unlink_kept(struct matcher *x, struct list *l, uint32_t next,
	const struct tport_early *before, uint32_t previous)
{
	if (previous)
		set_next(
			x, early_at(x, previous - 1) + 8, before->source, next);
	else
		l->first = next;
	if (!next) {
		l->last = previous;
		l->source = before->source;
	}
}

/* The next message of its sender. */
static void match(struct matcher *x, const struct elan_message *m)
{
	struct tport_posted p, before = { 0 };
	uint32_t previous, handle = find_posted(x, m, &p, &before, &previous);

	if (!handle) {
		keep(x, &x->early, m);
		elan_thread_note(ELAN_EARLY, 1);
		return;
	}
	load(x, element_at(x, handle) + TPORT_LOOK, &p.bytes, 8);
	unlink_posted(x, p.next, &before, previous);
	deliver(x, m, handle, p.to, p.bytes);
}

static uint64_t number_at(const struct matcher *x, uint32_t node)
{
	return tport_number_at(x->reg[TPORT_CARD], x->reg[TPORT_COUNTS], node);
}

/* Takes a sender's message of a number out of the ahead list; false: it has not
 * come. */
static bool take_ahead(struct matcher *x, uint32_t source, uint16_t number,
	struct elan_message *m)
{
	struct tport_early e, before = { 0 };
	uint32_t slot = x->ahead.first, previous = 0;

	while (slot) {
		load(x, early_at(x, slot - 1), &e, sizeof(e));
		if (e.source == source && e.number == number)
			break;
		before = e;
		previous = slot;
		slot = e.next;
	}
	if (!slot)
		return false;
	unlink_kept(x, &x->ahead, e.next, &before, previous);
	return !elan_thread_look(
		(uint32_t)x->reg[TPORT_QUEUES] + 1, slot - 1, m);
}

/* Messages of a sender are matched in the order of their numbers. */
static void on_message(struct matcher *x, struct elan_message *m)
{
	uint64_t at = number_at(x, m->source);
	uint16_t number;

	elan_thread_read(at, &number, sizeof(number));
	x->spent++;
	if (m->number != number) {
		keep(x, &x->ahead, m);
		return;
	}
	do {
		number++;
		store(x, at, &number, sizeof(number));
		match(x, m);
		x->looked = x->spent = 0;
	} while (take_ahead(x, m->source, number, m));
}

/* --- records --- */

/* The first early message that a receive matches, as 1 + slot, or 0. */
static uint32_t find_early(struct matcher *x, const struct elan_message *m,
	const struct tport_record *r, struct tport_early *e,
	struct tport_early *before, uint32_t *previous)
{
	uint32_t slot = x->early.first;

	*previous = 0;
	while (slot) {
		load(x, early_at(x, slot - 1), e, sizeof(*e));
		x->looked++;
		if (matches(m->tag, r->mask, r->source, e->tag, e->source))
			return slot;
		*before = *e;
		*previous = slot;
		slot = e->next;
	}
	return 0;
}

/* At the end of the posted list. */
static void post(struct matcher *x, const struct elan_message *m,
	const struct tport_record *r)
{
	const struct tport_posted p = {
		.tag = m->tag,
		.mask = r->mask,
		.source = r->source,
		.to = r->to,
		.bytes = r->bytes,
	};

	store(x, element_at(x, r->handle), &p, TPORT_POSTED);
	if (x->posted.last)
		set_next(x, element_at(x, x->posted.last) + 16,
			x->posted.source, r->handle);
	else
		x->posted.first = r->handle;
	x->posted.last = r->handle;
	x->posted.source = r->source;
	elan_thread_free(m->queue, m->slot);
}

static void on_receive(struct matcher *x, const struct elan_message *m)
{
	struct tport_record r;
	struct tport_early e, before = { 0 };
	struct elan_message found;
	uint32_t slot, previous;

	load(x, m->at, &r, TPORT_RECORD);
	slot = find_early(x, m, &r, &e, &before, &previous);
	if (!slot) {
		post(x, m, &r);
		return;
	}
	unlink_kept(x, &x->early, e.next, &before, previous);
	elan_thread_free(m->queue, m->slot);
	if (!elan_thread_look(
		    (uint32_t)x->reg[TPORT_QUEUES] + 1, slot - 1, &found))
		deliver(x, &found, r.handle, r.to, r.bytes);
}

void tport_match(const uint64_t reg[ELAN_REGISTERS])
{
	struct matcher x = { .reg = reg };
	struct elan_message m;

	while (!elan_thread_wait_queue((uint32_t)reg[TPORT_QUEUES], 2, &m)) {
		x.looked = 0;
		x.spent = TPORT_TAKE;
		if (m.queue != reg[TPORT_QUEUES])
			on_message(&x, &m);
		else if (m.kind == TPORT_RECEIVE && m.source == weft_node())
			on_receive(&x, &m);
		else
			elan_thread_free(m.queue, m.slot);
	}
}
