/*
 * A message's time outside of the network, for the book of time budgets
 * (meas/budget.h).  A message is a packet of a put, a DMA or a get:
 *
 *	from the program's call until its first store leaves   software
 *	until that is in the card                              descriptor
 *	until it is decoded                                    queue at the card
 *	of a DMA, until it is read                             engine
 *	until its source is translated                         translation
 *	reads of a DMA                                         memory read
 *	until an assembler takes them                          engine
 *	until the packet leaves                                packet
 *	until it leaves for the last time                      retry, or
 *	  translation, if a page was missing at its target
 *	  ... the network ...
 *	until its tail is there, where that was stored or
 *	read later than the network took it             descriptor, memory read
 *	until the input takes it                               receiver
 *	until its addresses are translated                     translation
 *	until its test is decided                              memory read
 *	until it is in memory                                  memory write
 *	of a message in an input queue, until a thread has
 *	looked at it in vain                                   engine
 *	until what it waits for comes to that thread           receiver
 *	until the thread asks for the bus                      engine
 *	pages that the thread waits for                        translation
 *	until all that it writes for it is in memory           memory write
 *
 * A packet whose test fails is not counted, like a refused one.  A get's answer
 * continues its budget; until memory is read that is memory read.
 * Acknowledgements and duplicates are no messages.
 *
 * Kept only if there is a book; nothing here changes a time.
 */
#include "nic/elan4/units.h"

static struct book *book_of(const struct nic_at *a)
{
	return a->nic->net->book;
}

/* --- at the sender --- */

void elan_account_store(const struct nic_at *a, struct elan_queue *q,
	uint64_t position, uint32_t bytes, sim_time came)
{
	for (uint32_t i = 0; i < q->births.n; i++) {
		struct elan_birth *b = ring_at(&q->births, i);

		if (b->position < position || b->position >= position + bytes)
			continue;
		b->at = b->at < a->t ? b->at : a->t;
		b->handed = a->t;
		b->came = came;
	}
}

struct elan_account elan_account_begin(const struct nic_at *a,
	struct elan_queue *q, enum book_kind kind, uint64_t position,
	uint64_t n_packets)
{
	struct elan_birth b = { .at = a->t, .handed = a->t, .came = a->t };
	const struct elan_birth *first;
	struct elan_account c = { 0 };

	if (!book_of(a))
		return c;
	/* a message without a note begins here */
	while (q->births.n) {
		first = ring_at(&q->births, 0);
		if (first->position > position)
			break;
		if (first->position == position)
			b = *first;
		ring_pop(&q->births);
	}
	c.message =
		book_message(book_of(a), a->s, kind, (uint32_t)n_packets, b.at);
	c.is_dma = kind == BOOK_PUT;
	c.handed = b.handed;
	c.came = b.came;
	c.asked = c.looked = c.reading = c.read = c.built = a->t;
	return c;
}

/* Of a translation that took some time. */
enum page { PAGE_HIT, PAGE_MISS, PAGE_FAULT, PAGES };

static enum page page_of(const struct nic_at *a, sim_time took)
{
	if (took >= elan_params(a)->mmu.fault)
		return PAGE_FAULT;
	return took ? PAGE_MISS : PAGE_HIT;
}

/* A DMA, until its packet is built: QSN-F80 has these steps. */
static void charge_dma(
	const struct nic_at *a, packet_id id, const struct elan_account *c)
{
	static const char *const prefetcher[PAGES] = {
		[PAGE_HIT] = "DMA engine, prefetcher, page hit",
		[PAGE_MISS] = "DMA engine, prefetcher, page miss",
		[PAGE_FAULT] = "DMA engine, prefetcher, page fault",
	};

	book_at_part(book_of(a), id, a->s,
		prefetcher[page_of(a, c->reading - c->looked)]);
	nic_charge(a, id, CAUSE_ENGINE, c->looked);
	nic_charge(a, id, CAUSE_TRANSLATION, c->reading);
	nic_charge(a, id, CAUSE_MEMORY_READ, c->read);
	book_at_part(book_of(a), id, a->s, "DMA engine, assembler");
	nic_charge(a, id, CAUSE_ENGINE, c->built);
}

void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c)
{
	if (!book_of(a))
		return;
	if (!c || c->is_none) {
		nic_account_none(a, id);
		return;
	}
	if (!c->left)
		c->left = a->t;
	if (c->is_held) {
		book_resume(book_of(a), a->w->id, id, &c->held);
		book_at_part(book_of(a), id, a->s, "card");
	} else {
		book_open(book_of(a), id, &c->message);
		book_at_part(book_of(a), id, a->s, "card, command queue");
		nic_charge(a, id, CAUSE_SOFTWARE, c->handed);
		nic_charge(a, id, CAUSE_DESCRIPTOR, c->came);
		book_at_part(book_of(a), id, a->s, "card, command processor");
		nic_charge(a, id, CAUSE_CARD, c->asked);
		if (c->is_dma) {
			charge_dma(a, id, c);
		} else {
			book_at_part(book_of(a), id, a->s, "STEN");
			nic_charge(a, id, CAUSE_ENGINE, c->built);
		}
	}
	nic_charge(a, id, CAUSE_PACKET, c->left);
	if (c->was_missing)
		book_at_part(
			book_of(a), id, a->s, "card, page fault at the target");
	nic_charge(
		a, id, c->was_missing ? CAUSE_TRANSLATION : CAUSE_RETRY, a->t);
}

/* --- at the receiver --- */

void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail)
{
	bool is_stored = elan_buffer(a, id)->channel >= ELAN_FIRST_QUEUE;

	if (!book_of(a))
		return;
	nic_charge(
		a, id, is_stored ? CAUSE_DESCRIPTOR : CAUSE_MEMORY_READ, tail);
	book_at_part(book_of(a), id, a->s, "input");
}

void elan_account_late(
	const struct nic_at *a, packet_id id, sim_time tail, sim_time late)
{
	if (!book_of(a) || !elan_of(a)->mmu.is_on)
		return;
	book_at_part(book_of(a), id, a->s,
		late ? "input, page miss" : "input, page hit");
	nic_charge(a, id, CAUSE_TRANSLATION, tail + late);
}

void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c)
{
	struct elan_buffer *b = elan_buffer(a, get);

	if (!book_of(a))
		return;
	/* the first answer has it */
	c->is_none = b->is_held;
	if (b->is_held)
		return;
	b->is_held = true;
	nic_charge(a, get, CAUSE_MEMORY_READ, a->t);
	c->held = book_hold(book_of(a), a->w->id, get);
	c->is_held = true;
}

void elan_account_done(const struct nic_at *a, packet_id id)
{
	/* A get's budget continues in its answer. */
	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	nic_account_end(a, id, true);
}

/* --- in slots of input queues --- */

uint32_t elan_account_slot(const struct nic_at *a, packet_id id, uint32_t slot)
{
	struct slots *notes = &elan_here(a)->inputs.notes;
	uint32_t note;
	struct elan_note *x;

	if (!book_has(book_of(a), id)) {
		nic_account_end(a, id, true);
		return 0;
	}
	note = slots_take(notes);
	x = elan_note(a, note);
	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	x->held = book_hold(book_of(a), a->w->id, id);
	x->place = slot;
	return note;
}

/* A packet stands for the message once more, to charge its time. */
static packet_id resume(const struct nic_at *a, const struct elan_note *x)
{
	packet_id id = packet_take(a->nic->net->pool, a->w->id);

	book_resume(book_of(a), a->w->id, id, &x->held);
	return id;
}

static void end(
	const struct nic_at *a, uint32_t note, packet_id id, bool is_done)
{
	nic_account_end(a, id, is_done);
	packet_give(a->nic->net->pool, a->w->id, id);
	slots_give(&elan_here(a)->inputs.notes, note);
}

/* A thread's time until t, in which it waited for pages. */
static void charge_thread(
	const struct nic_at *a, packet_id id, sim_time t, sim_time late)
{
	static const char *const names[PAGES] = {
		[PAGE_HIT] = "match, page hit",
		[PAGE_MISS] = "match, page miss",
		[PAGE_FAULT] = "match, page fault",
	};

	nic_charge(a, id, CAUSE_ENGINE, t - late);
	if (!late)
		return;
	book_at_part(book_of(a), id, a->s, names[page_of(a, late)]);
	nic_charge(a, id, CAUSE_TRANSLATION, t);
}

void elan_account_end(const struct nic_at *a, uint32_t note)
{
	const struct elan_note *x = elan_note(a, note);
	packet_id id = resume(a, x);
	sim_time asked_late = x->asked ? x->asked_late : x->late;
	sim_time late = x->asked ? x->late : 0;

	book_at_one(book_of(a), id, a->s, "match, slot", x->place);
	nic_charge(a, id, CAUSE_MEMORY_WRITE, x->shown);
	charge_thread(a, id, x->parked, x->parked_late);
	nic_charge(a, id, CAUSE_RECEIVER, x->parked ? x->taken : 0);
	charge_thread(a, id, x->asked ? x->asked : a->t, asked_late);
	if (late)
		nic_charge(a, id, CAUSE_TRANSLATION, x->asked + late);
	book_at_one(book_of(a), id, a->s, "copy, elements", x->looked);
	nic_charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	end(a, note, id, true);
}

void elan_account_drop(const struct nic_at *a, uint32_t note)
{
	end(a, note, resume(a, elan_note(a, note)), false);
}
