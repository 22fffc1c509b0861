/*
 * The input processor.  It checks a packet when its head arrives: for damage,
 * rights and duplicates, and whether there is room for all that it does.  Then
 * its transactions are executed (order.c).  The answer to the sender leaves
 * after the tail, or when all tests are decided.
 */
#include "nic/elan4/units.h"

#include "nic/elan4/frame.h"
#include "route/updown.h"

enum { INPUTS = 4 }; /* packets that it works on */

static struct elan_input *input_of(const struct nic_at *a)
{
	return &elan_here(a)->input;
}

/* --- checks --- */

/* All that it does waits for the last translation. */
static void delay(struct elan_buffer *b, sim_time late)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		b->left[i] += late;
}

/* Translates the address of a transaction; or what is to become of it. */
static enum elan_kind translate_piece(const struct nic_at *a,
	struct elan_buffer *b, struct elan_piece *p, sim_time *late)
{
	bool is_write = p->what == ELAN_WRITE;
	struct elan_view v;

	if (p->what == ELAN_TEST && p->address % 8)
		return ELAN_REFUSED;
	v = elan_look(a, p->context, p->address, p->bytes,
		is_write ? ELAN_TO_WRITE : ELAN_TO_READ);
	if (v.state == ELAN_NOWHERE || (v.flags & ELAN_TO_QUEUE && !is_write))
		return ELAN_REFUSED;
	if (v.state == ELAN_MISSING) {
		elan_fault(a, p->context, v.at, v.t, NULL, 0);
		return ELAN_FAULTED;
	}
	p->address = v.at;
	p->flags = v.flags;
	b->to_queues |= v.flags & ELAN_TO_QUEUE;
	*late = v.t - a->t > *late ? v.t - a->t : *late;
	return ELAN_ACKED;
}

/* The same for one that has none. */
static enum elan_kind check_piece(const struct nic_at *a,
	const struct elan_buffer *b, const struct elan_piece *p)
{
	bool is_right =
		elan_context_is(elan_here(a), p->context) &&
		(p->what == ELAN_ENQUEUE ? elan_iq_allows(a, b, p)
					 : elan_event_may(elan_here(a),
						   p->context, p->event));

	return is_right ? ELAN_ACKED : ELAN_REFUSED;
}

/*
 * Checks all of it, and translates all its addresses, before any of it is
 * executed; *late is the time that this takes.  ELAN_ACKED, or what is to
 * become of it.
 */
static enum elan_kind translate(
	const struct nic_at *a, struct elan_buffer *b, sim_time *late)
{
	enum elan_kind verdict = ELAN_ACKED, one;

	if (!b->n_pieces && !elan_context_is(elan_here(a), b->context))
		return ELAN_REFUSED;
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct elan_piece *p = &b->piece[i];

		one = p->what == ELAN_SET || p->what == ELAN_ENQUEUE
			      ? check_piece(a, b, p)
			      : translate_piece(a, b, p, late);
		if (one == ELAN_REFUSED)
			return one;
		verdict = one == ELAN_FAULTED ? one : verdict;
	}
	if (*late)
		delay(b, *late);
	return verdict;
}

/* The context whose get or test would read bad words of card memory; 0: none
 * would. */
static uint32_t find_bad(const struct nic_at *a, const struct elan_buffer *b)
{
	uint32_t i = b->stop;

	for (; i < b->n_pieces; i = elan_order_next_read(b, i + 1)) {
		const struct elan_piece *p = &b->piece[i];

		if (elan_is_card(p->address) &&
			!elan_sdram_is_sound(a, p->address, p->bytes))
			return p->context;
	}
	return 0;
}

/* An answer is for whoever has asked; false: nobody has. */
static bool find_asker(const struct nic_at *a, struct elan_buffer *b)
{
	if (!elan_get_context(a, &b->get, &b->context))
		return false;
	for (uint32_t i = 0; i < b->n_pieces; i++)
		b->piece[i].context = b->context;
	return true;
}

/* Whether it can be executed now; if not, it comes again. */
static enum elan_kind find_room(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b, bool has_tests)
{
	if (b->stop < b->n_pieces &&
		(!elan_can_read(a) ||
			!elan_answer_has_room(
				a, elan_count_pieces(b, b->stop, ELAN_GET)) ||
			(has_tests && elan_writer_is_double(a, p, b))))
		return ELAN_BUSY;
	if (!elan_order_has_room(a, b))
		return ELAN_NACKED;
	if (!elan_has(b, ELAN_ENQUEUE))
		return ELAN_ACKED;
	return elan_iq_takes(a, b) ? ELAN_ACKED : ELAN_BUSY;
}

/* Sets its verdict; false if nothing is executed. */
static bool judge(const struct nic_at *a, const struct packet *p,
	struct elan_buffer *b, sim_time *late)
{
	bool has_tests = elan_count_pieces(b, b->stop, ELAN_TEST);
	bool is_answer = b->channel == ELAN_ANSWER_CHANNEL;
	uint32_t bad;

	b->verdict = ELAN_ACKED;
	if (b->harm) {
		b->verdict = b->harm == ELAN_TORN ? ELAN_NACKED : ELAN_ABORTED;
		return false;
	}
	if (b->kind == ELAN_ABORTED) {
		b->verdict = ELAN_ABORTED;
		return false;
	}
	if (is_answer && !find_asker(a, b)) {
		elan_count(a)->duplicates++;
		return false;
	}
	b->verdict = (uint8_t)translate(a, b, late);
	if (b->verdict != ELAN_ACKED)
		return false;
	bad = find_bad(a, b);
	if (bad) {
		elan_context_stop(a, bad);
		b->verdict = ELAN_REFUSED;
		return false;
	}
	if (elan_ask_has_seen(a, p, b))
		return false;
	b->verdict = (uint8_t)find_room(a, p, b, has_tests);
	if (b->verdict != ELAN_ACKED)
		return false;
	b->asks = elan_is_message(b) && elan_iq_asks(a, b);
	if (!has_tests && !b->asks)
		elan_ask_note(a, p, b);
	if (is_answer && !elan_get_answered(a, &b->get)) {
		elan_count(a)->duplicates++;
		return false;
	}
	elan_order_begin(a, b);
	if (b->asks)
		elan_iq_ask(a, p, b);
	return true;
}

/* --- its end --- */

static void take_next(const struct nic_at *a);

static void give(const struct nic_at *a, packet_id id)
{
	nic_give(a->nic, a->w, id);
	input_of(a)->inside--;
	take_next(a);
}

void elan_input_end(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	if (b->channel == ELAN_ANSWER_CHANNEL)
		elan_get_done(a, &b->get);
	elan_writer_leave(a, id);
	if (!b->is_held)
		elan_account_done(a, id);
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, elan_packet(a, id), a->t);
	give(a, id);
}

void elan_input_drop(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = elan_buffer(a, id);

	elan_count(a)->dropped += b->kind == ELAN_ABORTED;
	if (!b->is_held &&
		(b->verdict == ELAN_REFUSED || b->verdict == ELAN_DENIED))
		book_drop(a->nic->net->book, a->w->id, id);
	else
		nic_account_end(a, id, false);
	elan_writer_leave(a, id);
	give(a, id);
}

uint32_t elan_input_way_back(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b)
{
	const struct updown *r = updown_find(a->nic->net->route);

	if (!r)
		return b->route;
	return updown_back(r, p->src, a->s, b->route % ELAN_ROUTES);
}

void elan_input_answer(const struct nic_at *a, packet_id id)
{
	const struct packet *p = elan_packet(a, id);
	const struct elan_buffer *b = elan_buffer(a, id);
	struct elan_buffer ack; /* without data */

	elan_buffer_clear(&ack);
	ack.kind = b->verdict;
	ack.channel = b->channel;
	ack.sequence = b->sequence;
	ack.sending = b->sending;
	/* gets before a test that failed, if that was now */
	if (b->verdict == ELAN_DENIED)
		ack.get.get = b->is_taken ? b->n_gets : ELAN_MOST_PIECES;
	if (b->cast) {
		ack.cast = ELAN_CAST_BACK;
		ack.number = p->number;
		/* all nodes must answer, even an aborted broadcast */
		if (b->kind == ELAN_ABORTED && !b->harm)
			ack.kind = ELAN_NACKED;
	}
	/* switches know the way of what answers a broadcast */
	if (ack.kind != ELAN_ABORTED)
		elan_send_packet(a, ELAN_FIFO_ACK, p->src, &ack,
			b->cast ? 0 : elan_input_way_back(a, p, b), NULL);
}

/* --- its course --- */

void elan_input_on_write(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = elan_buffer(a, id);

	elan_writer_on_ready(a, id);
	if (elan_writer_next(b) < b->stop)
		elan_writer_schedule(a, id);
	else if (!elan_writer_is_pending(b))
		elan_order_on_turn(
			a, elan_writer_before(a, elan_packet(a, id)->next, id));
}

void elan_input_on_written(const struct nic_at *a, packet_id id)
{
	elan_writer_on_written(a, id);
	elan_order_go(a, id);
}

void elan_input_on_tail(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	net_release(a->nic->net, a->w, a->s, b->fifo,
		elan_packet(a, id)->chunks, a->t);
	if (b->kind != ELAN_DATA && b->kind != ELAN_ABORTED) {
		if (!b->harm)
			elan_send_on_answer(a, b);
		nic_account_end(a, id, false);
		nic_give(a->nic, a->w, id);
		return;
	}
	b->has_tail = true;
	/* a thread answers a question */
	if (!b->asks &&
		(!b->is_taken || !elan_count_pieces(b, b->stop, ELAN_TEST)))
		elan_input_answer(a, id);
	if (b->is_taken)
		elan_order_go(a, id);
	else
		elan_input_drop(a, id);
}

/* --- its beginning --- */

static void take(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	sim_time tail = elan_packet(a, id)->head, late = 0;

	nic_charge(a, id, CAUSE_RECEIVER, a->t);
	b->handed = b->done = b->group = b->reading = b->places = 0;
	b->bursts = b->granted = b->written = 0;
	b->stop = elan_has(b, ELAN_GET) || elan_has(b, ELAN_TEST)
			  ? (uint8_t)elan_order_next_read(b, 0)
			  : b->n_pieces;
	b->came = input_of(a)->came++;
	b->writes = b->has_tail = b->is_read = b->is_held = b->asks = false;
	b->to_queues = false;
	b->in = 0;
	tail = tail > a->t ? tail : a->t;
	b->is_taken = judge(a, elan_packet(a, id), b, &late);
	if (b->is_taken)
		elan_writer_join(a, id);
	input_of(a)->inside++;
	elan_account_late(a, id, tail, late);
	elan_post(a, tail + late + elan_params(a)->input, ELAN_ENGINE_ACK, id);
}

static void take_next(const struct nic_at *a)
{
	while (input_of(a)->in.first && input_of(a)->inside < INPUTS)
		take(a, packet_pop(a->nic->net->packets, &input_of(a)->in));
}

void elan_input_on_packet(struct net_client *me, struct sim_worker *w,
	site_id s, uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct nic_at a = nic_at(me->state, w, s, t);
	struct packet *p = elan_packet(&a, id);
	struct elan_buffer *b = elan_buffer(&a, id);
	sim_time later = t - b->left_at;

	if (p->flags & PACKET_HURT)
		elan_frame_on_arrival(&a, p, b);
	if (p->flags & PACKET_ANSWER) /* what all have said */
		b->kind = p->answer;
	/* When its transactions are here; the last word of a slow source is
	 * later than the network says. */
	b->kinds = 0;
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		b->kinds |= 1u << b->piece[i].what % 32;
		b->left[i] += later;
		if (b->left[i] > tail)
			tail = b->left[i];
	}
	if (b->tail + later > tail)
		tail = b->tail + later;
	elan_account_tail(&a, id, tail);
	b->fifo = (uint8_t)fifo;
	p->head = tail;
	if (b->kind != ELAN_DATA && b->kind != ELAN_ABORTED) {
		elan_post(&a, tail, ELAN_ENGINE_ACK, id);
		return;
	}
	packet_push(a.nic->net->packets, &input_of(&a)->in, id);
	take_next(&a);
}
