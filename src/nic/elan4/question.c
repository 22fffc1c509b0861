/*
 * Input queues whose messages are questions: a message is acknowledged when a
 * thread has accepted it.  If the thread sends it back, its sender tries again
 * by its back-off, and such tries do not count.  Nothing of it is kept here.
 *
 * The first packet of a message asks, with the bytes that it has.  Others are
 * busy until it is accepted, and so are copies of it until it is decided.  What
 * is needed for the answer is noted by the slot, so that no packet stays in the
 * input.
 *
 * A packet for such a queue has nothing but its message: the rest of it would
 * be executed with every try.
 */
#include "nic/elan4/units.h"

#include "base/mem.h"

void elan_question_open(struct elan_iq *q)
{
	q->asked = mem_alloc(q->n_slots, sizeof(*q->asked));
}

bool elan_question_is_alone(const struct elan_buffer *b)
{
	const struct elan_piece *first = &b->piece[0];

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		const struct elan_piece *p = &b->piece[i];

		if (p->what != ELAN_ENQUEUE || p->event != first->event ||
			p->context != first->context ||
			p->count != first->count)
			return false;
	}
	return true;
}

/* Whether a thread has not decided about a packet's message. */
static bool is_open(const struct elan_iq *q, const struct elan_buffer *b)
{
	const struct elan_piece *p = &b->piece[0];

	for (uint32_t i = 0; i < q->n_slots; i++) {
		const struct elan_slot *x = &q->slot[i];

		if (x->asks == ELAN_ASKS && x->source == elan_sender_of(p) &&
			x->channel == b->channel &&
			x->number == (uint16_t)p->count)
			return true;
	}
	return false;
}

bool elan_question_may_come(
	const struct elan_iq *q, const struct elan_buffer *b, bool is_coming)
{
	bool is_first = !(uint32_t)b->piece[0].back;

	return (is_coming || is_first) && !is_open(q, b);
}

void elan_question_keep(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b, struct elan_iq *q)
{
	uint32_t slot = (uint32_t)b->piece[0].address;

	q->slot[slot].asks = ELAN_ASKS;
	q->asked[slot] = (struct elan_asked){
		.src = p->src,
		.sequence = b->sequence,
		.sending = b->sending,
		.number = p->number,
		.cast = b->cast ? ELAN_CAST_BACK : ELAN_CAST_NONE,
		.route = (uint8_t)elan_input_way_back(a, p, b),
	};
}

static void answer(const struct nic_at *a, const struct elan_iq *q,
	uint32_t slot, enum elan_kind kind)
{
	const struct elan_asked *x = &q->asked[slot];
	const struct elan_buffer ack = {
		.kind = (uint8_t)kind,
		.channel = q->slot[slot].channel,
		.sequence = x->sequence,
		.sending = x->sending,
		.cast = x->cast,
		.number = x->number,
	};

	elan_send_packet(a, ELAN_FIFO_ACK, x->src, &ack, x->route, NULL);
}

/* The rest of it may come, and is shown once more when it is whole. */
static void await_rest(
	const struct nic_at *a, struct elan_iq *q, struct elan_slot *x)
{
	if (x->note)
		elan_account_end(a, x->note);
	x->note = 0;
	elan_iq_await(a, q, (uint32_t)(x - q->slot));
}

void elan_question_accept(
	const struct nic_at *a, struct elan_iq *q, uint32_t slot)
{
	struct elan_slot *x = &q->slot[slot];
	const struct elan_asked *y = &q->asked[slot];

	x->asks = ELAN_ASKED;
	seen_add(&elan_here(a)->seen, y->src, x->channel, y->sequence, true);
	answer(a, q, slot, ELAN_ACKED);
	if (x->left)
		await_rest(a, q, x);
}

void elan_question_reject(
	const struct nic_at *a, struct elan_iq *q, uint32_t slot)
{
	struct elan_slot *x = &q->slot[slot];

	x->asks = ELAN_ASKS_NOT;
	answer(a, q, slot, ELAN_BUSY);
	if (x->note)
		elan_account_drop(a, x->note);
	elan_iq_free(a, q, slot);
}
