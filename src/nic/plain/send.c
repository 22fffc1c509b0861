#include "nic/plain/card.h"

static struct plain_sending *sending(const struct nic_at *a, uint32_t id)
{
	return slots_at(&plain_here(a)->resend.items, id);
}

static bool is_atomic(const struct plain_entry *e)
{
	return e->op > PLAIN_GET;
}

/* --- from entries to packets --- */

/*
 * One atomic of a queue is under way at a time, since a node that is asked
 * again remembers the value of one.
 */
static bool can_go(const struct nic_at *a, const struct plain_queue *q)
{
	if (!q->work && !q->entries.n)
		return false;
	if (q->why)
		return true;
	if (!q->work && q->has_atomic && is_atomic(ring_at(&q->entries, 0)))
		return false;
	return window_span(&q->window) < (uint32_t)plain_of(a)->params.window;
}

static void kick(const struct nic_at *a)
{
	struct plain_node *n = a->node;

	if (n->is_turn_posted || !n->run.n ||
		n->n_made >= (uint32_t)plain_of(a)->params.buffers)
		return;
	n->is_turn_posted = true;
	plain_post(a, n->next_turn, ENGINE_TURN, 0);
}

void plain_send_wake(const struct nic_at *a, uint32_t queue)
{
	struct plain_node *n = a->node;
	struct plain_queue *q = n->queue[queue];

	if (q->is_running || !can_go(a, q))
		return;
	q->is_running = true;
	*(uint32_t *)ring_push(&n->run) = queue;
	/* an engine that slept takes its time to begin */
	if (!n->is_turn_posted && n->next_turn < a->t)
		n->next_turn = a->t + plain_of(a)->params.dispatch;
	kick(a);
}

/* What its node alone can say of an entry. */
static enum plain_status check(const struct nic_at *a, struct plain_work *x)
{
	const struct plain_queue *q = plain_here(a)->queue[x->queue];
	struct plain_entry *e = &x->e;
	enum plain_status status;

	if (q->why)
		return PLAIN_STOPPED;
	if (e->op >= PLAIN_OPS || e->node >= a->nic->n_nodes ||
		(is_atomic(e) && (e->bytes != 8 || e->offset % 8)))
		return PLAIN_BAD_ENTRY;
	if (is_atomic(e))
		return PLAIN_OK;
	if (e->op == PLAIN_GET && e->operand) {
		status = plain_look_up(a->node, e->own_key, e->operand - 1, 8,
			0, q->rings.process, &e->operand);
		if (status || e->operand++ % 8)
			return status ? status : PLAIN_BAD_ENTRY;
	}
	return plain_look_up(a->node, e->own_key, e->own_offset, e->bytes, 0,
		q->rings.process, &x->from);
}

static void set_birth(
	const struct nic_at *a, struct plain_queue *q, struct plain_work *x)
{
	uint64_t most = a->nic->net->link.max_payload;
	uint32_t i = q->fetched - q->entries.n; /* of the entry */
	struct plain_birth b = { 0, a->t, a->t };

	if (!plain_book(a))
		return;
	while (q->births.n) {
		b = *(struct plain_birth *)ring_at(&q->births, 0);
		if ((int32_t)(b.written - i) > 0)
			break;
		ring_pop(&q->births);
	}
	x->handed = b.handed;
	x->came = a->t;
	x->message = book_message(plain_book(a), a->s,
		(uint32_t)(x->e.bytes ? (x->e.bytes - 1) / most + 1 : 1), b.at);
}

/* The next entry; false where it has ended already. */
static bool begin(const struct nic_at *a, struct plain_queue *q, uint32_t queue)
{
	struct plain_node *n = a->node;
	uint32_t id = slots_take(&n->works);
	struct plain_work *x = slots_at(&n->works, id);
	enum plain_status status;

	x->queue = queue;
	x->e = *(struct plain_entry *)ring_at(&q->entries, 0);
	q->n_works++;
	status = check(a, x);
	if (!status)
		set_birth(a, q, x);
	ring_pop(&q->entries);
	if (status) {
		plain_send_done(a, id, status, 0);
		return false;
	}
	q->work = id;
	q->has_atomic |= is_atomic(&x->e);
	return true;
}

/* Packets leave in the order in which they were cut. */
static void leave_in_order(const struct nic_at *a)
{
	struct plain_node *n = a->node;

	while (n->leaving.first && sending(a, n->leaving.first)->is_read)
		resend_at(a, &n->resend,
			slots_pop(&n->resend.items, &n->leaving), a->t);
}

static void cut(const struct nic_at *a, struct plain_queue *q)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, q->work);
	uint64_t left = x->e.bytes - x->made;
	uint32_t most = a->nic->net->link.max_payload;
	uint32_t id = resend_take(&n->resend);
	struct plain_sending *s = sending(a, id);

	s->copy = payload_take(a->nic->payloads, a->w->id);
	*s->copy = (struct plain_buffer){
		.h = {
			.op = (uint8_t)x->e.op,
			.key = x->e.key,
			.offset = x->e.offset + x->made,
			.bytes = left < most ? (uint32_t)left : most,
			.operand = x->e.operand,
			.compare = x->e.compare,
			.channel = x->queue,
			.number = q->window.next++,
			.sending = id,
		},
	};
	s->item.dst = x->e.node;
	s->work = q->work;
	s->begun = a->t;
	s->is_read = !plain_data(&s->copy->h);
	slots_push(&n->resend.items, &n->leaving, id);
	n->n_made++;
	x->out++;
	x->made += s->copy->h.bytes;
	if (x->made == x->e.bytes)
		q->work = 0;
	if (!s->is_read)
		side_reads_begin(a, &n->reads,
			x->from + x->made - s->copy->h.bytes, s->copy->h.bytes,
			READ_PAYLOAD, id);
	else
		leave_in_order(a);
}

/* No more of an entry is sent: its queue has stopped. */
static void halt(const struct nic_at *a, uint32_t work)
{
	struct plain_work *x = slots_at(&plain_here(a)->works, work);

	x->out++;
	plain_send_done(a, work, PLAIN_STOPPED, 0);
}

void plain_send_on_turn(const struct nic_at *a)
{
	struct plain_node *n = a->node;
	uint32_t queue = *(uint32_t *)ring_pop(&n->run);
	struct plain_queue *q = n->queue[queue];

	n->is_turn_posted = q->is_running = false;
	n->next_turn = a->t + plain_of(a)->params.packet;
	if (q->work && q->why)
		halt(a, q->work);
	else if (q->work || (q->entries.n && begin(a, q, queue)))
		cut(a, q);
	plain_send_wake(a, queue);
	kick(a);
}

void plain_send_on_payload(const struct nic_at *a, const struct side_read *x)
{
	struct plain_sending *s = sending(a, x->id);

	s->is_read = true;
	if (!host_read(a->nic->host, a->s, x->at, s->copy->data, x->bytes))
		s->copy->h.op = PLAIN_OPS; /* so its target turns it away */
	leave_in_order(a);
}

/* --- into the network --- */

static void account(
	const struct nic_at *a, packet_id id, struct plain_sending *s)
{
	const struct plain_work *x = slots_at(&plain_here(a)->works, s->work);
	struct book *k = plain_book(a);

	if (!k)
		return;
	book_open(k, id, &x->message);
	book_note(k, id, "node %u, card", a->s);
	plain_charge(a, id, CAUSE_SOFTWARE, x->handed);
	plain_charge(a, id, CAUSE_DESCRIPTOR, x->came);
	plain_charge(a, id, CAUSE_ENGINE, s->begun);
	plain_charge(a, id, CAUSE_MEMORY_READ, s->left);
	plain_charge(a, id, CAUSE_RETRY, a->t);
}

void plain_send_try(const struct nic_at *a, uint32_t id)
{
	struct plain_node *n = a->node;
	struct plain_sending *s = sending(a, id);
	struct net *net = a->nic->net;
	packet_id p = packet_take(net->pool, a->w->id);
	struct plain_buffer *b = payload_take(a->nic->payloads, a->w->id);

	s->copy->is_first = !s->item.tries;
	memcpy(b, s->copy, sizeof(*b) + plain_data(&s->copy->h));
	net->packets[p] = (struct packet){
		.src = a->s,
		.dst = s->item.dst,
		.number = n->number++,
		.born = a->t,
		.kind = plain_of(a)->params.routing ? PACKET_DETERMINISTIC
						    : PACKET_DYNAMIC,
		.bytes = (uint16_t)plain_data(&b->h),
		.load = payload_to_load(b),
	};
	if (net->route->is_carried)
		net->packets[p].hints =
			(uint16_t)(s->item.route ? 1 + s->item.route : 0);
	s->left = s->left ? s->left : a->t;
	n->packets++;
	n->resent += s->item.tries > 0;
	account(a, p, s);
	outbox_send(a, &n->out, FIFO_USER + s->item.dst % net->n_ports, p,
		plain_send_leave);
}

void plain_send_leave(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct net *net = a->nic->net;
	struct plain_buffer *b = plain_buffer(&net->packets[id]);
	uint32_t from = b->fifo, chunks = b->chunks;
	bool is_answer = b->h.is_answer, is_first = b->is_first;

	plain_charge(a, id, CAUSE_ENGINE, a->t);
	net_inject(net, a->w, a->s, fifo, id, a->t);
	if (is_answer) {
		plain_here(a)->inside--;
		net_release(net, a->w, a->s, from, chunks, a->t);
	} else if (is_first) {
		plain_here(a)->n_made--;
		kick(a);
	}
}

/* --- what becomes of it --- */

void plain_send_done(const struct nic_at *a, uint32_t work,
	enum plain_status status, uint64_t value)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, work);
	struct plain_queue *q = n->queue[x->queue];
	uint32_t queue = x->queue;

	if (x->out)
		x->out--;
	if (is_atomic(&x->e))
		q->has_atomic = false;
	x->end.value = value;
	if (status && !x->end.status) {
		x->end.status = status;
		plain_queue_stop(n, q, status);
	}
	/* of an entry that has failed no more is sent */
	if (x->end.status && q->work == work)
		q->work = 0;
	if (!x->out && q->work != work)
		plain_queue_complete(a, work);
	plain_send_wake(a, queue);
}

void plain_send_answered(const struct nic_at *a, uint32_t id)
{
	struct plain_node *n = a->node;
	struct plain_sending *s = sending(a, id);
	struct plain_queue *q = n->queue[s->copy->h.channel];

	window_done(&q->window, s->copy->h.number);
	payload_give(a->nic->payloads, a->w->id, s->copy);
	resend_give(&n->resend, id);
}

void plain_send_on_late(const struct nic_at *a, uint32_t id)
{
	(void)id;
	plain_here(a)->timeouts++;
}

void plain_send_give_up(const struct nic_at *a, uint32_t id)
{
	uint32_t work = sending(a, id)->work;

	plain_send_answered(a, id);
	plain_send_done(a, work, PLAIN_GAVE_UP, 0);
}
