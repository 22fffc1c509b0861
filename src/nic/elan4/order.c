/*
 * A packet's transactions, one after the other.
 *
 * Writes go to the bus as they come.  The tail sees to the rest: a set is
 * executed when all before it is in memory, a message is put into its queue.  A
 * get or a test waits for all before it, and all after it waits for what it
 * reads; neighbours read at the same time.  A test that fails ends the packet
 * there.
 *
 *	write  write  set | get  test | write  set | test  test | write
 *	  0      1     2     3    4       5     6      7     8       9
 *	                    stop         group
 *
 * Nothing that is begun can fail for lack of room: queues, slots and the
 * numbers of answers are set aside when the packet is taken.
 */
#include "nic/elan4/units.h"

uint32_t elan_order_next_read(const struct elan_buffer *b, uint32_t i)
{
	while (i < b->n_pieces && !elan_reads(&b->piece[i]))
		i++;
	return i;
}

/* The next test; appending to queues waits for no get. */
static uint32_t next_test(const struct elan_buffer *b, uint32_t i)
{
	while (i < b->n_pieces && b->piece[i].what != ELAN_TEST)
		i++;
	return i;
}

/* --- what is set aside --- */

/* The queue that a write appends to. */
static struct elan_queue *queue_of(
	const struct nic_at *a, const struct elan_piece *p)
{
	if (p->what != ELAN_WRITE || !(p->flags & ELAN_TO_QUEUE))
		return NULL;
	return elan_queue_mapped(
		elan_here(a), p->context, p->address, p->bytes);
}

bool elan_order_has_room(const struct nic_at *a, const struct elan_buffer *b)
{
	const struct elan_queue *q;
	uint32_t sum = 0;

	if (!b->to_queues)
		return true;
	/* as if all of them were one */
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		q = queue_of(a, &b->piece[i]);
		if (!q)
			continue;
		sum += b->piece[i].bytes;
		if (!elan_queue_takes(q, sum))
			return false;
	}
	return true;
}

/* Executes the writes to queues up to the next test, which are no writes to
 * memory then. */
static void append(const struct nic_at *a, struct elan_buffer *b, uint32_t i)
{
	uint32_t end = next_test(b, i);
	bool was_promised = i;
	struct elan_queue *q;

	for (; i < end; i++) {
		struct elan_piece *p = &b->piece[i];
		sim_time t = b->left[i] > a->t ? b->left[i] : a->t;

		q = queue_of(a, p);
		if (!q)
			continue;
		if (was_promised)
			q->promised -= p->bytes;
		elan_queue_append(a, q, b->data + p->at, p->bytes,
			t + elan_params(a)->input);
		p->what = ELAN_NOP;
	}
}

/* Room for what follows a test, or none any more. */
static void promise(
	const struct nic_at *a, struct elan_buffer *b, uint32_t i, bool is_kept)
{
	for (; i < b->n_pieces; i++) {
		struct elan_queue *q = queue_of(a, &b->piece[i]);

		if (!q)
			continue;
		if (is_kept) {
			q->promised += b->piece[i].bytes;
			continue;
		}
		q->promised -= b->piece[i].bytes;
		elan_queue_freed(a, q, q->freed);
		elan_queue_wake(a, q);
	}
}

void elan_order_begin(const struct nic_at *a, struct elan_buffer *b)
{
	uint32_t gets = 0;

	if (b->stop < b->n_pieces) {
		gets = elan_count_pieces(b, b->stop, ELAN_GET);
		elan_here(a)->n_reads++;
		b->places = 1;
	}
	if (gets)
		b->answer = elan_answer_numbers(a, gets);
	if (b->to_queues)
		append(a, b, 0);
	if (b->stop < b->n_pieces)
		promise(a, b, next_test(b, b->stop), true);
	if (elan_has(b, ELAN_ENQUEUE))
		elan_iq_reserve(a, b);
}

/* The number of the answer to a get. */
static uint32_t answer_of(const struct elan_buffer *b, uint32_t i)
{
	return b->answer + elan_count_pieces(b, 0, ELAN_GET) -
	       elan_count_pieces(b, i, ELAN_GET);
}

/* The rest of a packet, from a test on, is not executed. */
static void cancel(const struct nic_at *a, struct elan_buffer *b, uint32_t i)
{
	promise(a, b, i, false);
	elan_iq_cancel(a, b, i);
	for (; i < b->n_pieces; i++)
		if (b->piece[i].what == ELAN_GET)
			elan_answer_cancel(a, answer_of(b, i));
	elan_here(a)->n_reads -= b->places;
	b->places = 0;
	b->handed = b->done = b->stop = b->n_pieces;
}

/* --- reads --- */

static void on_read(const struct nic_at *a, const struct side_read *x);

/* Reads for the transactions of a group, as many at a time as there are
 * places. */
static void start_reads(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	while (b->asked_for < b->group) {
		const struct elan_piece *p = &b->piece[b->asked_for];

		if (b->reading == b->places) {
			if (!elan_can_read(a))
				return;
			b->places++;
			elan_here(a)->n_reads++;
		}
		b->asked_for++;
		b->reading++;
		elan_count(a)->reads++;
		elan_read_begin(a, ELAN_BY_INPUT, p->address, p->bytes, on_read,
			NULL, id);
	}
}

static void begin_group(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	b->asked_for = b->group = b->stop;
	while (b->group < b->n_pieces && elan_reads(&b->piece[b->group]))
		b->group++;
	start_reads(a, id);
}

static void send_answer(const struct nic_at *a, packet_id id, uint32_t i)
{
	const struct elan_buffer *b = elan_buffer(a, id);
	const struct elan_piece *want = &b->piece[i];
	void *data;
	uint32_t sending =
		elan_answer_begin(a, id, want, answer_of(b, i), &data);

	elan_read(a, want->address, data, want->bytes);
	elan_writer_overlay(a, b, want, data);
	elan_answer_send(a, id, sending);
}

/* Executes what has been read: false if a test fails. */
static bool run_group(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	for (uint32_t i = b->stop; i < b->group; i++) {
		if (b->piece[i].what == ELAN_GET) {
			send_answer(a, id, i);
			elan_count(a)->gets++;
		} else if (!elan_ask_is_yes(a, &b->piece[i])) {
			b->n_gets = (uint8_t)(answer_of(b, i) - b->answer);
			cancel(a, b, i);
			return false;
		}
	}
	return true;
}

static bool has_test(const struct elan_buffer *b, uint32_t i, uint32_t end)
{
	return next_test(b, i) < end;
}

/* A test says no. */
static void deny(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	packet_id next = elan_writer_before(a, elan_packet(a, id)->next, id);

	b->verdict = ELAN_DENIED;
	elan_ask_note(a, elan_packet(a, id), b);
	nic_charge(a, id, CAUSE_MEMORY_READ, a->t);
	elan_input_answer(a, id);
	elan_input_drop(a, id);
	elan_order_on_turn(a, next);
}

/* What has been read is executed, and the packet goes on.  Writes behind a test
 * follow it at once: no other packet's come between. */
static void pass_group(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	bool has_asked = has_test(b, b->stop, b->group);
	bool was_pending = elan_writer_is_pending(b);
	packet_id next;

	b->is_read = false;
	if (!run_group(a, id)) {
		deny(a, id);
		return;
	}
	b->handed = b->done = b->group;
	b->stop = (uint8_t)elan_order_next_read(b, b->group);
	if (has_asked) {
		nic_charge(a, id, CAUSE_MEMORY_READ, a->t);
		append(a, b, b->handed);
	}
	while (has_asked && elan_writer_next(b) < b->stop)
		elan_writer_hand_on(a, id);
	if (has_asked && !has_test(b, b->stop, b->n_pieces)) {
		elan_ask_note(a, elan_packet(a, id), b);
		elan_input_answer(a, id);
	}
	/* one without writes and tests before had its turn already */
	next = was_pending && b->writes && !elan_writer_is_pending(b)
		       ? elan_writer_before(a, elan_packet(a, id)->next, id)
		       : NO_PACKET;
	if (!has_asked && elan_writer_next(b) < b->stop &&
		elan_writer_is_first(a, id))
		elan_writer_schedule(a, id);
	elan_order_go(a, id);
	elan_order_on_turn(a, next);
}

static void on_read(const struct nic_at *a, const struct side_read *x)
{
	struct elan_buffer *b = elan_buffer(a, x->id);
	uint8_t left;
	bool is_last;

	b->reading--;
	start_reads(a, x->id);
	/* one place remains for those that are still to come */
	is_last = elan_order_next_read(b, b->group) == b->n_pieces;
	left = b->reading ? b->reading : !is_last;
	elan_here(a)->n_reads -= b->places - left;
	b->places = left;
	if (!b->reading) {
		b->is_read = has_test(b, b->stop, b->group);
		if (!b->is_read || elan_writer_is_first(a, x->id))
			pass_group(a, x->id);
	}
	elan_dma_go(a);
}

/* --- in order --- */

void elan_order_on_turn(const struct nic_at *a, packet_id id)
{
	const struct elan_buffer *b = id ? elan_buffer(a, id) : NULL;

	if (b && b->is_read)
		pass_group(a, id);
	else if (b && elan_writer_next(b) < b->stop)
		elan_writer_schedule(a, id);
}

/* Executes the next transaction; false if it has to wait. */
static bool execute(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	const struct elan_piece *p = &b->piece[b->done];

	if (p->what == ELAN_WRITE && b->done >= elan_writer_done(b))
		return false;
	if (p->what == ELAN_SET)
		elan_event_set(a, p->context, p->event, p->count);
	else if (p->what == ELAN_ENQUEUE)
		elan_iq_put(a, id, b->done);
	b->done++;
	return true;
}

void elan_order_go(const struct nic_at *a, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);

	if (!b->has_tail)
		return;
	while (b->done < b->stop)
		if (!execute(a, id))
			return;
	if (b->stop == b->n_pieces)
		elan_input_end(a, id);
	else if (b->group <= b->stop)
		begin_group(a, id);
}
