/*
 * The input processor.  It checks a packet when its head arrives: for damage,
 * rights and duplicates.  Then it executes the transactions as they come:
 * writes go to the bus, adjacent ones that arrive close together as one burst;
 * a get reads memory and is answered; events are set when all writes are in
 * memory. The answer to the sender leaves after the tail.  A packet with a test
 * waits until that is decided.
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

/* The queue that a write appends to. */
static struct elan_queue *queue_of(const struct nic_at *a,
	const struct elan_buffer *b, const struct elan_piece *p)
{
	if (p->what != ELAN_WRITE || !(p->flags & ELAN_TO_QUEUE))
		return NULL;
	return elan_queue_mapped(
		elan_here(a), b->context, p->address, p->bytes);
}

/* Whether the queues that it appends to have room, as if they were one. */
static bool queues_take(const struct nic_at *a, const struct elan_buffer *b)
{
	const struct elan_queue *q;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		q = queue_of(a, b, &b->piece[i]);
		if (!q)
			continue;
		sum += b->piece[i].bytes;
		if (!elan_queue_takes(q, sum))
			return false;
	}
	return true;
}

/* Executes the writes to queues, which are no writes to memory then. */
static void append(const struct nic_at *a, struct elan_buffer *b)
{
	struct elan_queue *q;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct elan_piece *p = &b->piece[i];
		sim_time t = b->left[i] > a->t ? b->left[i] : a->t;

		q = queue_of(a, b, p);
		if (!q)
			continue;
		elan_queue_append(a, q, b->data + p->at, p->bytes,
			t + elan_params(a)->input);
		p->what = ELAN_NOP;
	}
}

/* All that it does waits for the last translation. */
static void delay(struct elan_buffer *b, sim_time late)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		b->left[i] += late;
}

/*
 * Translates all its addresses, before any of it is executed; *late is the time
 * that this takes.  ELAN_ACKED, or what is to become of it.
 */
static enum elan_kind translate(
	const struct nic_at *a, struct elan_buffer *b, sim_time *late)
{
	enum elan_kind verdict = ELAN_ACKED;
	bool is_known = false;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct elan_piece *p = &b->piece[i];
		bool is_write = p->what == ELAN_WRITE;
		struct elan_view v;

		if (p->what == ELAN_ENQUEUE) {
			if (!elan_iq_allows(a, b, p))
				return ELAN_REFUSED;
			continue;
		}
		if (p->what == ELAN_SET) {
			if (!elan_event_may(elan_here(a), b->context, p->event))
				return ELAN_REFUSED;
			continue;
		}
		v = elan_look(a, b->context, p->address, p->bytes,
			is_write ? ELAN_TO_WRITE : ELAN_TO_READ);
		if (v.state == ELAN_NOWHERE ||
			(v.flags & ELAN_TO_QUEUE && !is_write))
			return ELAN_REFUSED;
		is_known = true;
		if (v.state == ELAN_MISSING) {
			elan_fault(a, b->context, v.at, v.t, NULL, 0);
			verdict = ELAN_FAULTED;
			continue;
		}
		p->address = v.at;
		p->flags = v.flags;
		*late = v.t - a->t > *late ? v.t - a->t : *late;
	}
	if (*late)
		delay(b, *late);
	return is_known || elan_context_is(elan_here(a), b->context)
		       ? verdict
		       : ELAN_REFUSED;
}

/* Whether the words of card memory that a get or a test reads are sound. */
static bool can_read(const struct nic_at *a, const struct elan_buffer *b)
{
	const struct elan_piece *p = &b->piece[0];

	return !(elan_is_get(b) || elan_has_test(b)) ||
	       !elan_is_card(p->address) ||
	       elan_sdram_is_sound(a, p->address, p->bytes);
}

/* Sets its verdict; false if nothing is executed. */
static bool judge(const struct nic_at *a, const struct packet *p,
	struct elan_buffer *b, sim_time *late)
{
	b->verdict = ELAN_ACKED;
	if (b->harm) {
		b->verdict = b->harm == ELAN_TORN ? ELAN_NACKED : ELAN_ABORTED;
		return false;
	}
	if (b->kind == ELAN_ABORTED) {
		b->verdict = ELAN_ABORTED;
		return false;
	}
	/* an answer is for whoever has asked */
	if (b->channel == ELAN_ANSWER_CHANNEL &&
		!elan_get_context(a, &b->get, &b->context)) {
		elan_count(a)->duplicates++;
		return false;
	}
	b->verdict = (uint8_t)(elan_ask_is_allowed(b) ? translate(a, b, late)
						      : ELAN_REFUSED);
	if (b->verdict != ELAN_ACKED)
		return false;
	if (!can_read(a, b)) {
		elan_context_stop(a, b->context);
		b->verdict = ELAN_REFUSED;
		return false;
	}
	if (elan_has_test(b))
		return elan_ask_begin(a, p, b);
	if (elan_is_get(b) && (!elan_can_read(a) || !elan_answer_has_room(a))) {
		b->verdict = ELAN_BUSY;
		return false;
	}
	if (elan_ask_has_seen(a, p, b))
		return false;
	if (!queues_take(a, b)) {
		b->verdict = ELAN_NACKED;
		return false;
	}
	if (!elan_iq_takes(a, b)) {
		b->verdict = ELAN_BUSY;
		return false;
	}
	elan_ask_note(a, p, b);
	if (b->channel == ELAN_ANSWER_CHANNEL &&
		!elan_get_answered(a, &b->get)) {
		elan_count(a)->duplicates++;
		return false;
	}
	if (elan_is_get(b)) {
		elan_here(a)->n_reads++;
		b->answer = elan_answer_number(a);
	}
	append(a, b);
	elan_iq_reserve(a, b);
	return true;
}

/* --- writes --- */

/* The next write that is not handed on, or n_pieces. */
static uint32_t next_write(const struct elan_buffer *b)
{
	uint32_t k = b->handed;

	while (k < b->n_pieces && b->piece[k].what != ELAN_WRITE)
		k++;
	return k;
}

/* The end of the next burst, in pieces, and when its data is ready; 0: none. */
static uint32_t next_burst(
	const struct nic_at *a, const struct elan_buffer *b, sim_time *ready)
{
	const struct elan_params *p = elan_params(a);
	uint32_t first = next_write(b), k = first, bytes;

	if (k == b->n_pieces)
		return 0;
	bytes = b->piece[k].bytes;
	*ready = b->left[k];
	for (; k + 1 < b->n_pieces; k++) {
		const struct elan_piece *x = &b->piece[k], *y = x + 1;

		if (y->what != ELAN_WRITE ||
			y->address != x->address + x->bytes ||
			bytes + y->bytes > p->merge ||
			b->left[k + 1] > *ready + p->merge_wait)
			break;
		bytes += y->bytes;
		if (!b->streams)
			*ready = b->left[k + 1];
	}
	/* A burst that streams begins with its first word. */
	if (b->streams)
		*ready -=
			elan_bus_time(a, b->piece[first].bytes) - p->bus.clock;
	*ready += p->input;
	return k + 1;
}

/* Posts the next burst of a packet that is the first writer of its queue. */
static void schedule(const struct nic_at *a, packet_id id)
{
	sim_time ready;

	next_burst(a, elan_buffer(a, id), &ready);
	elan_post(a, ready > a->t ? ready : a->t + 1, ELAN_ENGINE_INPUT, id);
}

/*
 * Packets with writes that are not in memory are in a list, by arrival.
 *
 * Writes of one sender's queue are executed in this order, or a message's last
 * word could be in memory before the rest.  Packets of other queues do not wait
 * for them.  An undecided test is in the list, too, and delays its queue.
 */
static bool is_before(const struct nic_at *a, packet_id x, packet_id y)
{
	const struct elan_buffer *b = elan_buffer(a, x), *c = elan_buffer(a, y);

	return elan_packet(a, x)->src == elan_packet(a, y)->src &&
	       b->channel == c->channel &&
	       (b->ask || next_write(b) < b->n_pieces);
}

/* The first packet of the same queue in the list, from some place on, that has
 * writes to be handed on. */
static packet_id find_before(
	const struct nic_at *a, packet_id from, packet_id than)
{
	while (from && !is_before(a, from, than))
		from = elan_packet(a, from)->next;
	return from;
}

static void join_writers(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	b->writes = b->ask || next_write(b) < b->n_pieces;
	if (!b->writes)
		return;
	if (!b->ask && !find_before(a, input_of(a)->writers.first, id))
		schedule(a, id);
	packet_push(a->nic->net->packets, &input_of(a)->writers, id);
}

static void leave_writers(const struct nic_at *a, packet_id id)
{
	packet_id next = elan_packet(a, id)->next, before = 0, at;

	if (!elan_buffer(a, id)->writes)
		return;
	for (at = input_of(a)->writers.first; at != id;
		at = elan_packet(a, at)->next)
		before = at;
	if (before)
		elan_packet(a, before)->next = next;
	else
		input_of(a)->writers.first = next;
	if (!next)
		input_of(a)->writers.last = before;
}

/* Copies a packet's writes, from piece i on, over the bytes of a get. */
static void overlay_pieces(const struct elan_buffer *b, uint32_t i,
	const struct elan_piece *get, uint8_t *data)
{
	for (; i < b->n_pieces; i++) {
		const struct elan_piece *p = &b->piece[i];

		if (p->what == ELAN_WRITE)
			elan_overlay(data, get->address, get->bytes, p->address,
				b->data + p->at, p->bytes);
	}
}

/* Copies earlier writes that are not in memory over the bytes of a get: on the
 * bus no read overtakes a write. */
static void overlay(const struct nic_at *a, packet_id get, uint8_t *data)
{
	const struct elan_buffer *g = elan_buffer(a, get), *b;
	packet_id id = input_of(a)->writers.first;

	for (; id; id = elan_packet(a, id)->next) {
		b = elan_buffer(a, id);
		if ((int32_t)(b->came - g->came) > 0)
			return;
		if (b->ask)
			continue;
		overlay_pieces(b, b->written ? b->until[b->written - 1] : 0,
			&g->piece[0], data);
	}
}

static void granted(const struct nic_at *a, packet_id id, sim_time seen)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t last = b->until[b->granted++] - 1u;
	sim_time least = b->left[last] + elan_params(a)->input;

	if (!elan_is_card(b->piece[last].address))
		least += elan_of(a)->host.see;
	/* One that streams ends when its last block does.  Card memory is
	 * faster than the bus, but a packet is executed in order. */
	seen = b->streams && seen < least ? least : seen;
	b->in = seen > b->in ? seen : b->in;
	elan_post(a, b->in, ELAN_ENGINE_WRITTEN, id);
}

/* Gives the bus the next burst of a packet. */
static void hand_on(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t first = next_write(b), bytes = 0, i;
	sim_time ready;
	uint32_t until = next_burst(a, b, &ready);

	for (i = first; i < until; i++)
		bytes += b->piece[i].bytes;
	b->handed = (uint8_t)until;
	b->turn[b->bursts] = input_of(a)->turn++;
	b->until[b->bursts++] = (uint8_t)until;
	b->todo++;
	elan_count(a)->writes++;
	elan_count(a)->merged += until - first - 1;
	if (next_write(b) == b->n_pieces) {
		elan_count(a)->network_ps += (uint64_t)(a->t - b->asked);
		elan_count(a)->networked++;
	}
	elan_write_begin(
		a, ELAN_BY_INPUT, b->piece[first].address, bytes, granted, id);
}

static void decide(const struct nic_at *a, packet_id id);

/* The first writer of a queue, or none, goes on. */
static void go_on(const struct nic_at *a, packet_id id)
{
	uint8_t ask = id ? elan_buffer(a, id)->ask : ELAN_ASK_NONE;

	if (ask == ELAN_ASK_READ)
		decide(a, id);
	else if (id && !ask)
		schedule(a, id);
}

void elan_input_on_write(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = elan_buffer(a, id);

	hand_on(a, id);
	go_on(a, next_write(b) < b->n_pieces
			 ? id
			 : find_before(a, elan_packet(a, id)->next, id));
}

/* --- its end --- */

static void take_next(const struct nic_at *a);

/* A burst or the tail is done: the last one ends the packet. */
static void one_done(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	b->todo--;
	if (b->todo || next_write(b) < b->n_pieces)
		return;
	for (uint32_t i = 0; i < b->n_pieces; i++)
		if (b->piece[i].what == ELAN_SET)
			elan_event_set(a, b->context, b->piece[i].event,
				b->piece[i].count);
	if (b->channel == ELAN_ANSWER_CHANNEL)
		elan_get_done(a, &b->get);
	leave_writers(a, id);
	if (!elan_iq_put(a, id))
		elan_account_done(a, id);
	if (a->nic->on_delivered)
		a->nic->on_delivered(
			a->nic->arg, a->s, elan_packet(a, id), a->t);
	nic_give(a->nic, a->w, id);
	input_of(a)->inside--;
	take_next(a);
}

void elan_input_on_written(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	uint32_t i = b->written ? b->until[b->written - 1] : 0;
	uint32_t until = b->until[b->written++];

	for (; i < until; i++)
		if (b->piece[i].what == ELAN_WRITE)
			elan_write_end(a, b->context, b->piece[i].address,
				b->data + b->piece[i].at, b->piece[i].bytes);
	one_done(a, id);
}

/* The route back by the same switches, which are alive. */
static uint32_t way_back(const struct nic_at *a, const struct packet *p,
	const struct elan_buffer *b)
{
	const struct updown *r = updown_find(a->nic->net->route);

	if (!r)
		return b->route;
	return updown_back(r, p->src, a->s, b->route % ELAN_ROUTES);
}

static void answer(const struct nic_at *a, packet_id id)
{
	const struct packet *p = elan_packet(a, id);
	const struct elan_buffer *b = elan_buffer(a, id);
	struct elan_buffer ack = {
		.kind = b->verdict,
		.channel = b->channel,
		.sequence = b->sequence,
		.sending = b->sending,
	};

	if (b->cast) {
		ack.cast = ELAN_CAST_BACK;
		ack.number = p->number;
		/* all nodes must answer, even an aborted broadcast */
		if (b->kind == ELAN_ABORTED && !b->harm)
			ack.kind = ELAN_NACKED;
	}
	if (ack.kind != ELAN_ABORTED)
		elan_send_packet(a, ELAN_FIFO_ACK, p->src, &ack,
			way_back(a, p, b), NULL);
}

/* Drops a packet that is not executed. */
static void drop(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = elan_buffer(a, id);

	elan_count(a)->dropped += b->kind == ELAN_ABORTED;
	if (b->verdict == ELAN_REFUSED || b->verdict == ELAN_DENIED)
		book_drop(a->nic->net->book, a->w->id, id);
	else
		nic_account_end(a, id, false);
	leave_writers(a, id);
	nic_give(a->nic, a->w, id);
	input_of(a)->inside--;
	take_next(a);
}

/* What becomes of a packet whose test says yes. */
static enum elan_kind after_yes(
	const struct nic_at *a, const struct elan_buffer *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		if (b->piece[i].flags & ELAN_TO_QUEUE &&
			!queue_of(a, b, &b->piece[i]))
			return ELAN_REFUSED; /* it was closed meanwhile */
	if (!elan_iq_takes(a, b))
		return ELAN_BUSY;
	return queues_take(a, b) ? ELAN_ACKED : ELAN_NACKED;
}

static void decide(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	bool is_executed = elan_ask_decide(
		a, id, after_yes(a, b), input_of(a)->writers.first);
	packet_id next;

	b->ask = ELAN_ASK_NONE;
	if (is_executed) {
		append(a, b);
		elan_iq_reserve(a, b);
	} else
		b->handed = b->n_pieces;
	while (next_write(b) < b->n_pieces)
		hand_on(a, id);
	next = find_before(a, elan_packet(a, id)->next, id);
	nic_charge(a, id, CAUSE_MEMORY_READ, a->t);
	answer(a, id);
	if (is_executed)
		one_done(a, id);
	else
		drop(a, id);
	go_on(a, next);
}

/* --- reads --- */

static void send_answer(const struct nic_at *a, packet_id get)
{
	const struct elan_piece *want = &elan_buffer(a, get)->piece[0];
	void *data;
	uint32_t sending = elan_answer_begin(a, get, &data);

	elan_read(a, want->address, data, want->bytes);
	overlay(a, get, data);
	elan_answer_send(a, get, sending);
}

/* What a packet's test needs has been read. */
static void on_asked(const struct nic_at *a, packet_id id)
{
	elan_buffer(a, id)->ask = ELAN_ASK_READ;
	if (find_before(a, input_of(a)->writers.first, id) == id)
		decide(a, id);
}

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	packet_id id = x->id;

	elan_here(a)->n_reads--;
	if (elan_has_test(elan_buffer(a, id))) {
		on_asked(a, id);
	} else {
		send_answer(a, id);
		one_done(a, id);
	}
	elan_dma_go(a);
}

/* Reads memory for a get or a test; a place was kept for that. */
static void read_for(const struct nic_at *a, packet_id id)
{
	const struct elan_piece *p = &elan_buffer(a, id)->piece[0];

	elan_read_begin(
		a, ELAN_BY_INPUT, p->address, p->bytes, on_read, NULL, id);
	elan_count(a)->reads++;
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
	if (b->ask) {
		read_for(a, id);
		return;
	}
	answer(a, id);
	if (!b->todo) {
		drop(a, id);
		return;
	}
	if (elan_is_get(b)) {
		b->handed = 1;
		b->todo++;
		elan_count(a)->gets++;
		read_for(a, id);
	}
	one_done(a, id);
}

/* --- its beginning --- */

static void take(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	sim_time tail = elan_packet(a, id)->head, late = 0;

	nic_charge(a, id, CAUSE_RECEIVER, a->t);
	b->handed = b->todo = b->bursts = b->granted = b->written = 0;
	b->came = input_of(a)->came++;
	b->writes = false;
	b->in = 0;
	b->ask = ELAN_ASK_NONE;
	tail = tail > a->t ? tail : a->t;
	if (judge(a, elan_packet(a, id), b, &late)) {
		b->todo = 1; /* the tail */
		join_writers(a, id);
	}
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
	for (uint32_t i = 0; i < b->n_pieces; i++) {
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
