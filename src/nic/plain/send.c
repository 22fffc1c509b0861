#include "nic/plain/card.h"

static struct plain_queue *queue_of(const struct nic_at *a, uint32_t queue)
{
	return (struct plain_queue *)plain_here(a)->queues.queue[queue];
}

/* One atomic of a queue is under way at a time, since a node that is asked
 * again remembers the value of one. */
static bool can_go(const struct nic_at *a, const struct plain_queue *q)
{
	const struct plain_entry *e;

	if (q->q.is_stopped)
		return q->work || q->q.entries.n;
	e = !q->work && q->q.entries.n ? ring_at(&q->q.entries, 0) : NULL;
	return (q->work || (e && !(q->has_atomic && e->op >= PLAIN_WORD))) &&
	       q->out < plain_of(a)->window &&
	       window_span(&q->window) < (uint32_t)plain_params(a)->window;
}

static void kick(const struct nic_at *a)
{
	struct plain_node *n = a->node;

	if (n->is_turn_posted || !n->run.n || n->n_made >= plain_of(a)->buffers)
		return;
	n->is_turn_posted = true;
	asks_post(a, n->next_turn, PLAIN_TURN, 0);
}

void plain_send_wake(const struct nic_at *a, uint32_t queue)
{
	struct plain_node *n = a->node;
	struct plain_queue *q = queue_of(a, queue);

	if (q->is_running || !can_go(a, q))
		return;
	q->is_running = true;
	*(uint32_t *)ring_push(&n->run) = queue;
	/* an engine that slept takes its time to begin */
	if (!n->is_turn_posted && n->next_turn < a->t) {
		n->woken = a->t;
		n->next_turn = a->t + plain_params(a)->dispatch;
	}
	kick(a);
}

/* What its node alone can say of an entry. */
static uint32_t check(const struct nic_at *a, struct plain_work *x)
{
	const struct workq *q = &queue_of(a, x->queue)->q;
	uint32_t mine = PLAIN_FLAGS(q->rings.owner, 0);
	struct plain_entry *e = &x->e;
	const struct ranges *keys = &plain_here(a)->keys;
	uint32_t status = PLAIN_OK;

	if (q->is_stopped)
		return PLAIN_STOPPED;
	if (e->op >= PLAIN_OPS || e->node >= a->nic->n_nodes ||
		(e->op >= PLAIN_WORD && e->bytes != 8))
		return PLAIN_BAD_ENTRY;
	if (e->op == PLAIN_GET && e->operand) {
		status = ranges_look_up(keys, e->own_key, e->operand - 1, 8,
			PLAIN_PROCESS, mine, &e->operand);
		if (!status && e->operand++ % 8)
			return PLAIN_BAD_ENTRY;
	}
	if (e->op >= PLAIN_WORD || status)
		return status;
	return ranges_look_up(keys, e->own_key, e->own_offset, e->bytes,
		PLAIN_PROCESS, mine, &x->from);
}

static void account(const struct nic_at *a, struct plain_work *x,
	const struct workq_birth *birth)
{
	const struct plain_node *n = a->node;
	uint32_t most = a->nic->net->link.max_payload;
	bool has_slept = n->woken + plain_params(a)->dispatch == a->t;
	enum book_kind kind = x->e.op == PLAIN_PUT   ? BOOK_PUT
			      : x->e.op == PLAIN_GET ? BOOK_GET
						     : BOOK_ATOMIC;

	x->account = (struct ask_account){
		.message = book_message(a->nic->net->book, a->s, kind,
			(uint32_t)(x->e.bytes ? (x->e.bytes - 1) / most + 1
					      : 1),
			birth->at),
		.birth = *birth,
		.turn = has_slept ? n->woken : a->t,
		.taken = a->t,
	};
}

/* Takes the next entry; false where it has ended already. */
static bool begin(const struct nic_at *a, struct plain_queue *q, uint32_t queue)
{
	struct plain_node *n = a->node;
	uint32_t id = slots_take(&n->works);
	struct plain_work *x = slots_at(&n->works, id);
	uint32_t status;
	struct workq_birth birth;

	x->e = *(const struct plain_entry *)workqs_take(
		a, &n->queues, queue, &birth);
	x->queue = queue;
	status = check(a, x);
	if (status) {
		plain_send_done(a, id, status, 0);
		return false;
	}
	if (a->nic->net->book)
		account(a, x, &birth);
	q->work = id;
	q->has_atomic |= x->e.op >= PLAIN_WORD;
	return true;
}

static void on_payload(const struct nic_at *a, const struct side_read *x)
{
	struct ask *s = ((struct ask_item *)asks_item(a, x->id))->copy;

	if (!asks_read(a, s, x->at, s->h.bytes))
		s->h.op = PLAIN_OPS; /* so its target turns it away */
	asks_ready(a, x->id);
}

/* The next packet of an entry; returns how many it is a train of. */
static uint32_t cut(const struct nic_at *a, struct plain_queue *q)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, q->work);
	uint64_t left = x->e.bytes - x->made, from = x->from + x->made;
	uint32_t most = a->nic->net->link.max_payload;
	uint32_t bytes = left < most ? (uint32_t)left : most;
	uint32_t first = plain_first(a, bytes);
	uint32_t id = asks_new(a, x->e.node, x->queue, q->window.next++);
	struct plain_sending *s = asks_item(a, id);
	struct ask_header *h = &s->ask.copy->h;

	h->op = (uint8_t)x->e.op;
	h->word[WORD_AT] = x->e.offset + x->made;
	h->word[WORD_OPERAND] = x->e.operand;
	h->word[WORD_BOUND] = x->e.bound;
	h->word[WORD_KEY] = (uint64_t)bytes << 32 | x->e.key;
	if (a->nic->net->book)
		s->ask.account = x->account;
	s->work = q->work;
	q->out += link_packets(&a->nic->net->link, bytes);
	x->out++;
	x->made += bytes;
	if (x->made == x->e.bytes)
		q->work = 0;
	h->bytes = x->e.op == PLAIN_PUT ? bytes : 0;
	n->n_made += link_packets(&a->nic->net->link, h->bytes);
	s->ask.others = h->bytes ? 0 : link_others(&a->nic->net->link, bytes);
	if (h->bytes) {
		side_reads_begin(
			a, &n->reads, from, first, on_payload, NULL, id);
		plain_read_rest(a, from, first, bytes);
	} else {
		asks_ready(a, id);
	}
	return link_packets(&a->nic->net->link, bytes);
}

void plain_send_on_turn(const struct nic_at *a)
{
	struct plain_node *n = a->node;
	uint32_t queue = *(uint32_t *)ring_pop(&n->run);
	struct plain_queue *q = queue_of(a, queue);

	n->is_turn_posted = q->is_running = false;
	n->next_turn = a->t + plain_params(a)->packet;
	if (q->work && q->q.is_stopped) {
		((struct plain_work *)slots_at(&n->works, q->work))->out++;
		plain_send_done(a, q->work, PLAIN_STOPPED, 0);
	} else if (q->work || (q->q.entries.n && begin(a, q, queue))) {
		n->next_turn = a->t + cut(a, q) * plain_params(a)->packet;
	}
	plain_send_wake(a, queue);
	kick(a);
}

void plain_send_left(const struct nic_at *a, uint32_t bytes)
{
	plain_here(a)->n_made -= link_packets(&a->nic->net->link, bytes);
	kick(a);
}

uint32_t plain_send_ended(const struct nic_at *a, uint32_t id)
{
	const struct plain_sending *s = asks_item(a, id);
	const struct ask_header *h = &s->ask.copy->h;
	struct plain_queue *q = queue_of(a, h->channel);
	uint32_t work = s->work;

	q->out -= link_packets(&a->nic->net->link, plain_bytes(h));
	window_done(&q->window, h->number);
	asks_answered(a, id);
	return work;
}

void plain_send_give_up(const struct nic_at *a, uint32_t id)
{
	plain_send_done(a, plain_send_ended(a, id), PLAIN_GAVE_UP, 0);
}

void plain_send_done(
	const struct nic_at *a, uint32_t work, uint32_t status, uint64_t value)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, work);
	struct plain_queue *q = queue_of(a, x->queue);
	struct workq_completion end = { .id = x->e.id, .value = value };
	uint32_t queue = x->queue;

	x->out -= x->out > 0;
	x->status = x->status ? x->status : status;
	q->q.is_stopped |= x->status != PLAIN_OK;
	if (x->e.op >= PLAIN_WORD)
		q->has_atomic = false;
	/* of one that has failed no more is sent */
	if (x->status && q->work == work)
		q->work = 0;
	if (!x->out && q->work != work) {
		n->status[x->status]++;
		end.status = x->status;
		slots_give(&n->works, work);
		workqs_complete(a, &n->queues, queue, &end);
	}
	plain_send_wake(a, queue);
}
