/*
 * The thread that matches messages on the card (QSN-F61).  It waits for records
 * and messages; see tport.h for what they are.
 *
 *	posted list   receives without a message, in the order of posting
 *	early list    messages without a receive, in the order of arrival
 *	ahead lists   messages, and records, that overtook an earlier one of
 *	              their sender, until that is here
 *	promised list receives for messages that were sent back
 *	claimed list  messages that only one receive may have (tport_peek.c)
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
#include <string.h>

#include "api/elan/tport_thread.h"
#include "host/program.h"
#include "nic/elan4/elan4.h"
#include "api/msg/tagged.h"

static uint64_t element_at(const struct tport_matcher *x, uint32_t handle)
{
	return tport_element_at(&x->plan, handle);
}

/* --- loads and stores --- */

void tport_load(struct tport_matcher *x, uint64_t at, void *to, uint32_t bytes)
{
	if (elan_thread_read(at, to, bytes)) {
		x->is_broken = true;
		memset(to, 0, bytes); /* the end of a list */
	}
	x->spent += (bytes + 7) / 8;
}

uint32_t tport_block_cycles(const struct tport_matcher *x, uint32_t bytes)
{
	return (bytes + x->plan.block - 1) / x->plan.block;
}

void tport_store(
	struct tport_matcher *x, uint64_t at, const void *from, uint32_t bytes)
{
	elan_thread_write_block(at, from, bytes);
	x->spent += tport_block_cycles(x, bytes);
}

void tport_set_next(
	struct tport_matcher *x, uint64_t at, uint32_t source, uint32_t next)
{
	const uint32_t word[2] = { source, next };

	tport_store(x, at, word, sizeof(word));
}

void tport_compute(struct tport_matcher *x, uint32_t rest)
{
	uint32_t cycles = x->plan.cycles;

	if (x->looked)
		cycles += (x->looked - 1) * x->plan.element;
	if (cycles > x->spent + rest)
		elan_thread_work(cycles - x->spent - rest);
	elan_thread_note(ELAN_ELEMENTS, x->looked);
}

/* --- posted receives --- */

/* The first receive of a list that a test accepts, or 0; *before is the one
 * before it. */
static uint32_t find_posted(struct tport_matcher *x, const struct tport_list *l,
	tport_accepts *test, const void *arg, struct tport_posted *p,
	struct tport_posted *before, uint32_t *previous)
{
	uint32_t handle = l->first;

	*previous = 0;
	while (handle) {
		tport_load(x, element_at(x, handle), p, TPORT_LOOK);
		x->looked++;
		if (test(p, handle, arg))
			return handle;
		*before = *p;
		*previous = handle;
		handle = p->next;
	}
	return 0;
}

/* Source, space and link are one word. */
static void link_posted(struct tport_matcher *x, uint32_t handle,
	uint32_t source, uint16_t space, uint32_t next)
{
	tport_set_next(x, element_at(x, handle) + 16, source,
		next | (uint32_t)space << 16);
}

static void unlink_posted(struct tport_matcher *x, struct tport_list *l,
	uint32_t next, const struct tport_posted *before, uint32_t previous)
{
	if (previous)
		link_posted(x, previous, before->source, before->space, next);
	else
		l->first = next;
	if (!next) {
		l->last = previous;
		l->source = before->source;
		l->space = before->space;
	}
}

uint32_t tport_take_posted(struct tport_matcher *x, struct tport_list *l,
	tport_accepts *test, const void *arg, struct tport_posted *p)
{
	struct tport_posted before = { 0 };
	uint32_t previous;
	uint32_t handle = find_posted(x, l, test, arg, p, &before, &previous);

	if (!handle)
		return 0;
	tport_load(x, element_at(x, handle) + TPORT_LOOK, &p->bytes, 8);
	unlink_posted(x, l, p->next, &before, previous);
	return handle;
}

void tport_post(struct tport_matcher *x, struct tport_list *l, uint32_t handle,
	const struct tport_posted *p)
{
	tport_store(x, element_at(x, handle), p, TPORT_POSTED);
	if (l->last)
		link_posted(x, l->last, l->source, l->space, handle);
	else
		l->first = handle;
	l->last = handle;
	l->source = p->source;
	l->space = p->space;
}

/* --- messages --- */

static bool matches(uint64_t tag, uint64_t mask, uint32_t source, uint64_t sent,
	uint32_t from)
{
	return !((tag ^ sent) & mask) &&
	       (source == from || source == ELAN_TPORT_ANY);
}

bool tport_is_for(
	const struct tport_posted *p, uint32_t handle, const void *arg)
{
	const struct elan_message *m = arg;

	(void)handle;
	return matches(p->tag, p->mask, p->source, m->tag, m->source) &&
	       msg_space_fits(p->space, (uint16_t)m->note);
}

/* The space of a message that has come, which is kept in its note. */
static void note_space(struct tport_matcher *x, struct elan_message *m)
{
	uint32_t skip = m->kind & TPORT_LONG ? sizeof(struct tport_long) : 0;
	uint64_t word = m->kind & TPORT_USUAL ? TPORT_COMMON : 0;

	if (m->kind & TPORT_SPACE && m->bytes >= skip + sizeof(word))
		tport_load(x, m->at + skip, &word, sizeof(word));
	m->note = (uint16_t)word;
}

/* The thread turns to the next message of a rank. */
static void time_taking(struct tport_matcher *x, const struct elan_message *m)
{
	struct trip *t = x->trips ? trips_next(x->trips, program_node(),
					    x->plan.rank, m->source)
				  : NULL;

	if (!t)
		return;
	t->is_taken = true;
	t->number = m->number;
	t->at[TRIP_TAKEN] = program_now();
}

void tport_time_match(
	struct tport_matcher *x, const struct elan_message *m, uint32_t handle)
{
	struct trip *t = x->trips ? trips_numbered(x->trips, program_node(),
					    x->plan.rank, m->source, m->number)
				  : NULL;

	if (!t)
		return;
	t->receive = handle;
	trips_match(t, x->asked, program_now());
}

/* The next message of its sender. */
static void match(struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_posted p;
	uint32_t handle = tport_take_posted(x, &x->posted, tport_is_for, m, &p);

	if (handle) {
		tport_deliver(x, m, handle, p.to, p.bytes);
		return;
	}
	tport_keep(x, &x->early, m);
	elan_thread_note(ELAN_EARLY, 1);
	if (x->plan.by == TPORT_INTERRUPT)
		tport_hand_over(x, m);
	tport_show(x, m);
}

/* A sender's message of a number. */
struct turn {
	uint32_t source;
	uint16_t number;
};

static bool is_turn(const struct tport_kept *k, const void *arg)
{
	const struct turn *t = arg;

	return k->source == t->source && k->number == t->number;
}

/* Messages of a sender are matched in the order of their numbers. */
static void on_message(struct tport_matcher *x, struct elan_message *m)
{
	uint64_t at = tport_number_at(&x->plan, m->source);
	struct turn turn = { .source = m->source };

	tport_load(x, at, &turn.number, sizeof(turn.number));
	if (m->number != turn.number) {
		tport_keep(x, &x->ahead, m);
		return;
	}
	do {
		time_taking(x, m);
		turn.number++;
		tport_store(x, at, &turn.number, sizeof(turn.number));
		match(x, m);
		x->looked = x->spent = 0;
	} while (tport_take(x, &x->ahead, is_turn, &turn, m));
}

/* One that its sender may have to keep. */
static void on_question(struct tport_matcher *x, struct elan_message *m)
{
	uint64_t at = tport_number_at(&x->plan, m->source);
	struct turn turn = { .source = m->source };

	if (m->asks == ELAN_ASKED) {
		tport_deliver_accepted(x, m);
		return;
	}
	tport_load(x, at, &turn.number, sizeof(turn.number));
	if (!tport_answer(x, m, turn.number))
		return;
	turn.number++;
	tport_store(x, at, &turn.number, sizeof(turn.number));
	x->looked = x->spent = 0;
	if (tport_take(x, &x->ahead, is_turn, &turn, m))
		on_message(x, m);
}

/* --- records --- */

bool tport_is_wanted(const struct tport_kept *k, const void *arg)
{
	const struct tport_wanted *w = arg;

	return matches(w->tag, w->record.mask, w->record.source, k->tag,
		       k->source) &&
	       msg_space_fits(w->record.space, k->space);
}

/* At the end of the posted list. */
static void post(struct tport_matcher *x, const struct tport_wanted *w)
{
	const struct tport_record *r = &w->record;
	const struct tport_posted p = {
		.tag = w->tag,
		.mask = r->mask,
		.source = r->source,
		.space = r->space,
		.to = r->to,
		.bytes = r->bytes,
	};

	tport_post(x, &x->posted, r->handle, &p);
}

static void on_receive(struct tport_matcher *x, const struct tport_wanted *w)
{
	const struct tport_record *r = &w->record;
	struct elan_message found;

	if (!tport_take(x, &x->early, tport_is_wanted, w, &found))
		post(x, w);
	else
		tport_hand(x, &found, r);
}

static bool is_handle(
	const struct tport_posted *p, uint32_t handle, const void *arg)
{
	(void)p;
	return handle == *(const uint32_t *)arg;
}

/* A receive that has its message ends as it would have. */
static void on_cancel(struct tport_matcher *x, const struct tport_wanted *w)
{
	const struct tport_status s = { .code = ECANCELED, .is_done = 1 };
	struct tport_posted p, before = { 0 };
	uint32_t previous, handle = w->record.handle;

	if (!find_posted(
		    x, &x->posted, is_handle, &handle, &p, &before, &previous))
		return;
	unlink_posted(x, &x->posted, p.next, &before, previous);
	tport_compute(x, tport_block_cycles(x, sizeof(s)));
	tport_tell(x, handle, &s);
}

/* Messages that nobody wants any more go. */
static void on_close(struct tport_matcher *x, const struct tport_wanted *w)
{
	const struct tport_status s = { .is_done = 1 };
	struct elan_message m;

	tport_drop_all(x);
	while (elan_thread_has_message(x->plan.queues + 1, 1) &&
		!elan_thread_wait_queue(x->plan.queues + 1, 1, &m))
		elan_thread_free(m.queue, m.slot);
	tport_tell(x, w->record.handle, &s);
}

/* The next one; false: it was the last. */
static bool execute(struct tport_matcher *x, const struct elan_message *m)
{
	struct tport_wanted w = { .tag = m->tag };

	x->asked = program_now();
	tport_load(x, m->at, &w.record, TPORT_RECORD);
	elan_thread_free(m->queue, m->slot);
	if (!w.record.handle || w.record.handle > x->plan.handles)
		return true;
	if (m->kind == TPORT_RECEIVE)
		on_receive(x, &w);
	else if (m->kind == TPORT_CANCEL)
		on_cancel(x, &w);
	else if (m->kind == TPORT_CLOSE)
		on_close(x, &w);
	else
		tport_peek(x, (enum tport_kind)m->kind, &w);
	return m->kind != TPORT_CLOSE;
}

/* Records are executed in their order, too.  Those of others are dropped. */
static bool on_record(struct tport_matcher *x, struct elan_message *m)
{
	struct turn turn = { .source = m->source };

	if (m->source != x->plan.rank) {
		elan_thread_free(m->queue, m->slot);
		return true;
	}
	if (m->number != x->record) {
		tport_keep(x, &x->records, m);
		return true;
	}
	do {
		if (!execute(x, m))
			return false;
		turn.number = ++x->record;
		x->looked = x->spent = 0;
	} while (tport_take(x, &x->records, is_turn, &turn, m));
	return true;
}

void tport_match(const uint64_t reg[ELAN_REGISTERS])
{
	struct tport_matcher x = { 0 };
	struct elan_message m;

	/* a program may have changed what is not its own */
	if (elan_thread_read(reg[0], &x.plan, sizeof(x.plan)) || !x.plan.block)
		return;
	/* otherwise messages lose their numbers while they wait */
	if (x.plan.by == TPORT_CARD)
		x.trips = elan_thread_trips();
	while (!x.is_broken && !elan_thread_wait_queue(x.plan.queues, 2, &m)) {
		x.looked = 0;
		x.spent = TPORT_TAKE;
		x.asked = 0;
		if (m.queue != x.plan.queues) {
			m.kind = tport_bits(m.kind);
			note_space(&x, &m);
		}
		if (m.asks)
			on_question(&x, &m);
		else if (m.queue != x.plan.queues)
			on_message(&x, &m);
		else if (!on_record(&x, &m))
			break;
		tport_move(&x);
	}
}
