/*
 * Where a message's time goes outside of the network, for the book of time
 * budgets (meas/budget.h).  A message is a packet of a put, a DMA or a get:
 *
 *	from the program's call until its first store leaves   software
 *	until that is in the card                              descriptor
 *	until it is decoded                                    queue at the card
 *	of a DMA, until it is read                             engine
 *	reads of a DMA                                         memory read
 *	until an assembler takes them                          engine
 *	until the packet leaves                                packet
 *	until it leaves for the last time                      retry
 *	  ... the network ...
 *	until its tail is there, where that was stored or
 *	read later than the network took it             descriptor, memory read
 *	until the input takes it                               receiver
 *	until its test is decided                              memory read
 *	until it is in memory                                  memory write
 *
 * A packet whose test says no ends as one that is refused: it is not counted.
 * A get goes on as its answer: until memory is read that is memory read.
 * Acknowledgements are no messages, nor are packets that come again.
 *
 * Kept only where there is a book; nothing here changes a time.
 */
#include "nic/elan4/account.h"

#include "nic/elan4/buffer.h"

static struct book *book_of(const struct nic_at *a)
{
	return a->nic->net->book;
}

/* --- at the sender --- */

void elan_account_store(const struct nic_at *a, struct ring *births,
	uint64_t position, uint32_t bytes, sim_time came)
{
	uint32_t i;

	for (i = 0; i < births->n; i++) {
		struct elan_birth *b = ring_at(births, i);

		if (b->position < position || b->position >= position + bytes)
			continue;
		b->at = b->at < a->t ? b->at : a->t;
		b->handed = a->t;
		b->came = came;
	}
}

struct elan_account elan_account_begin(const struct nic_at *a,
	struct ring *births, enum book_kind kind, uint64_t position,
	uint64_t n_packets)
{
	struct elan_birth b = { .at = a->t, .handed = a->t, .came = a->t };
	const struct elan_birth *first;
	struct elan_account c = { 0 };

	if (!book_of(a))
		return c;
	/* What was stored without a word of it is born here. */
	while (births->n) {
		first = ring_at(births, 0);
		if (first->position > position)
			break;
		if (first->position == position)
			b = *first;
		ring_pop(births);
	}
	c.message =
		book_message(book_of(a), a->s, kind, (uint32_t)n_packets, b.at);
	c.engine = kind == BOOK_PUT ? "DMA engine" : "STEN";
	c.handed = b.handed;
	c.came = b.came;
	c.asked = c.reading = c.read = c.built = a->t;
	return c;
}

static void charge(
	const struct nic_at *a, packet_id id, enum cause c, sim_time t)
{
	if (t > book_at(book_of(a), id))
		book_until(book_of(a), id, c, t);
}

void elan_account_packet(
	const struct nic_at *a, packet_id id, struct elan_account *c)
{
	struct book_message none = {
		.birth = a->t, .src = a->s, .n_packets = 1
	};

	if (!book_of(a))
		return;
	if (!c) {
		book_open(book_of(a), id, &none);
		return;
	}
	if (!c->left)
		c->left = a->t;
	if (c->is_held) {
		book_resume(book_of(a), a->w->id, id, &c->held);
		book_at_part(book_of(a), id, a->s, "card");
	} else {
		book_open(book_of(a), id, &c->message);
		book_at_part(book_of(a), id, a->s, "card");
		charge(a, id, CAUSE_SOFTWARE, c->handed);
		charge(a, id, CAUSE_DESCRIPTOR, c->came);
		charge(a, id, CAUSE_CARD, c->asked);
		book_at_part(book_of(a), id, a->s, c->engine);
		charge(a, id, CAUSE_ENGINE, c->reading);
		charge(a, id, CAUSE_MEMORY_READ, c->read);
		charge(a, id, CAUSE_ENGINE, c->built);
	}
	charge(a, id, CAUSE_PACKET, c->left);
	charge(a, id, CAUSE_RETRY, a->t);
}

/* --- at the receiver --- */

void elan_account_tail(const struct nic_at *a, packet_id id, sim_time tail)
{
	bool is_stored = elan_buffer(a, id)->channel >= ELAN_FIRST_QUEUE;

	if (!book_of(a))
		return;
	charge(a, id, is_stored ? CAUSE_DESCRIPTOR : CAUSE_MEMORY_READ, tail);
	book_at_part(book_of(a), id, a->s, "input");
}

void elan_account_turn(const struct nic_at *a, packet_id id)
{
	if (book_of(a))
		charge(a, id, CAUSE_RECEIVER, a->t);
}

void elan_account_tested(const struct nic_at *a, packet_id id)
{
	if (book_of(a))
		charge(a, id, CAUSE_MEMORY_READ, a->t);
}

void elan_account_answer(
	const struct nic_at *a, packet_id get, struct elan_account *c)
{
	if (!book_of(a))
		return;
	charge(a, get, CAUSE_MEMORY_READ, a->t);
	c->held = book_hold(book_of(a), a->w->id, get);
	c->is_held = true;
}

void elan_account_done(const struct nic_at *a, packet_id id)
{
	/* Of a get the answer is charged. */
	if (!book_of(a) || !book_has(book_of(a), id))
		return;
	charge(a, id, CAUSE_MEMORY_WRITE, a->t);
	book_close(book_of(a), a->w->id, id, a->t);
}

void elan_account_refused(const struct nic_at *a, packet_id id)
{
	book_drop(book_of(a), a->w->id, id);
}

void elan_account_nothing(const struct nic_at *a, packet_id id)
{
	if (book_of(a))
		book_forget(book_of(a), id);
}
