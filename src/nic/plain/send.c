#include "nic/plain/card.h"

static struct plain_queue *queue_of(
	const struct nic_at *a, uint32_t card, uint32_t queue)
{
	return (struct plain_queue *)plain_here(a)
		->card[card]
		.queues.queue[queue];
}

static struct plain_queue *queue_of_work(
	const struct nic_at *a, const struct plain_work *x)
{
	return queue_of(a, x->card, x->queue);
}

/* Of a card. */
static struct plain_lane *lane_of(
	const struct nic_at *a, struct plain_queue *q, uint32_t card)
{
	return &q->lane[plain_of(a)->n_lanes > 1 ? card : 0];
}

/* One atomic of a queue is under way at a time, since a node that is asked
 * again remembers the value of one. */
static bool can_go(const struct nic_at *a, struct plain_queue *q)
{
	const struct plain_lane *l = lane_of(a, q, a->card);
	const struct plain_entry *e;

	if (q->q.is_stopped)
		return q->work || q->q.entries.n;
	e = !q->work && q->q.entries.n ? ring_at(&q->q.entries, 0) : NULL;
	return (q->work || (e && !(q->has_atomic && e->op >= PLAIN_WORD))) &&
	       l->out < plain_of(a)->window &&
	       wide_window_span(&l->window) < (uint32_t)plain_params(a)->window;
}

void plain_send_kick(const struct nic_at *a)
{
	struct plain_card *c = plain_card(a);

	if (c->is_turn_posted || !c->run.n ||
		c->n_made >= plain_of(a)->buffers || plain_is_resting(a))
		return;
	c->is_turn_posted = true;
	plain_post_turn(a, c->next_turn);
}

/* A card gets a queue of its own or of another card. */
static void wake(const struct nic_at *a, struct plain_run run)
{
	struct plain_card *c = plain_card(a);
	struct plain_queue *q = queue_of(a, run.card, run.queue);
	struct plain_lane *l = lane_of(a, q, a->card);

	if (l->is_running || !can_go(a, q))
		return;
	l->is_running = true;
	*(struct plain_run *)ring_push(&c->run) = run;
	/* an engine that slept takes its time to begin */
	if (!c->is_turn_posted && c->next_turn < a->t) {
		c->woken = a->t;
		c->next_turn = a->t + plain_params(a)->dispatch;
	}
	plain_send_kick(a);
}

/* Whether several cards have something to do for a queue. */
static bool is_long(const struct nic_at *a, const struct plain_queue *q)
{
	uint32_t most = a->nic->net->link.max_payload;
	const struct plain_work *x;

	if (q->work) {
		x = slots_at(&plain_here(a)->works, q->work);
		return x->e.bytes - x->made > most;
	}
	return q->q.entries.n > 1 ||
	       (q->q.entries.n &&
		       ((const struct plain_entry *)ring_at(&q->q.entries, 0))
				       ->bytes > most);
}

/* All cards have their turns at a long message; one packet is its own card's,
 * or another's if that is down. */
static __attribute__((noinline)) void wake_lanes(
	const struct nic_at *a, uint32_t queue)
{
	struct plain_run run = { a->card, queue };
	uint32_t first = plain_leader(a), n = a->nic->n_cards;

	for (uint32_t i = 0; i < n; i++) {
		const struct nic_at at = plain_at(a, (first + i) % n);

		if (!i || is_long(a, queue_of(a, run.card, queue)))
			wake(&at, run);
	}
}

void plain_send_wake(const struct nic_at *a, uint32_t queue)
{
	if (plain_of(a)->n_lanes > 1)
		wake_lanes(a, queue);
	else
		wake(a, (struct plain_run){ a->card, queue });
}

/* The reason why a queue of a card has stopped. */
static uint32_t why_stopped(const struct nic_at *a, uint32_t card)
{
	return plain_has_failed(a, card) ? PLAIN_NO_CARD : PLAIN_STOPPED;
}

/* What its node alone can say of an entry. */
static uint32_t check(const struct nic_at *a, struct plain_work *x)
{
	const struct workq *q = &queue_of_work(a, x)->q;
	uint32_t mine = PLAIN_FLAGS(q->rings.owner, 0);
	struct plain_entry *e = &x->e;
	const struct ranges *keys = &plain_here(a)->keys;
	uint32_t status = PLAIN_OK;

	if (q->is_stopped)
		return why_stopped(a, x->card);
	if (e->op >= PLAIN_OPS || e->node >= a->nic->n_nodes ||
		e->card >= a->nic->n_cards ||
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
	const struct plain_card *n = plain_card(a);
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

/* Of a queue's next message. */
static uint16_t next_flow(
	const struct nic_at *a, struct plain_queue *q, uint32_t queue)
{
	uint32_t flows = (uint32_t)plain_params(a)->entropy;

	if (a->nic->net->topo->cards)
		return 0;
	q->flow = q->flow + 1 < flows ? q->flow + 1 : 0;
	return (uint16_t)(queue * flows + q->flow);
}

/* Takes the next entry; false where it has ended already. */
static bool begin(
	const struct nic_at *a, struct plain_queue *q, struct plain_run run)
{
	struct plain_node *n = a->node;
	uint32_t id = slots_take_any(&n->works);
	struct plain_work *x = slots_at(&n->works, id);
	uint32_t status;
	struct workq_birth birth;

	x->e = *(const struct plain_entry *)workqs_take(
		a, &n->card[run.card].queues, run.queue, &birth);
	x->card = run.card;
	x->queue = run.queue;
	x->flow = next_flow(a, q, run.queue);
	x->out = 0;
	x->status = PLAIN_OK;
	x->from = x->made = 0;
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
	struct ask_item *s = asks_item(a, x->id);

	if (!asks_read(a, &s->copy, x->at, s->copy->h.bytes))
		s->copy->h.op = PLAIN_OPS; /* so its target turns it away */
	asks_ready(a, x->id);
}

/* A queue's packets have numbers by the card that makes them. */
static uint32_t channel_of(const struct nic_at *a, const struct plain_work *x)
{
	return x->queue * a->nic->n_cards + a->card;
}

/* The next packet of an entry; returns how many it is a train of. */
static uint32_t cut(const struct nic_at *a, struct plain_queue *q)
{
	struct plain_node *n = a->node;
	struct plain_card *c = plain_card(a);
	struct plain_lane *l = lane_of(a, q, a->card);
	struct plain_work *x = slots_at(&n->works, q->work);
	uint64_t left = x->e.bytes - x->made, from = x->from + x->made;
	uint32_t most = a->nic->net->link.max_payload;
	uint32_t bytes = left < most ? (uint32_t)left : most;
	uint32_t first = plain_first(a, bytes);
	uint32_t id =
		asks_new(a, x->e.node, channel_of(a, x), l->window.next++);
	struct plain_sending *s = asks_item(a, id);
	struct ask_header *h = &s->ask.copy->h;

	h->op = (uint8_t)x->e.op;
	h->flow = x->flow;
	h->word[WORD_AT] = x->e.offset + x->made;
	h->word[WORD_OPERAND] = x->e.operand;
	h->word[WORD_BOUND] = x->e.bound;
	h->word[WORD_KEY] = (uint64_t)bytes << 32 | x->e.key;
	if (a->nic->net->book)
		s->ask.account = x->account;
	s->work = q->work;
	if (!a->nic->net->topo->is_apart && plain_of(a)->n_lanes == 1)
		s->ask.to_card = (uint8_t)x->e.card;
	l->out += link_packets(&a->nic->net->link, bytes);
	x->out++;
	x->made += bytes;
	if (x->made == x->e.bytes)
		q->work = 0;
	h->bytes = x->e.op == PLAIN_PUT ? bytes : 0;
	/* where a node answers as often as it asks, all data would go the even
	 * ways, if all had numbers of one line */
	s->ask.line = x->e.op == PLAIN_GET && x->e.bytes > PLAIN_SHORT;
	c->n_made += link_packets(&a->nic->net->link, h->bytes);
	s->ask.others = h->bytes ? 0 : link_others(&a->nic->net->link, bytes);
	if (h->bytes) {
		side_reads_begin(
			a, &c->reads, from, first, on_payload, NULL, id);
		plain_read_rest(a, from, first, bytes);
	} else {
		asks_ready(a, id);
	}
	return link_packets(&a->nic->net->link, bytes);
}

void plain_send_on_turn(const struct nic_at *a)
{
	struct plain_node *n = a->node;
	struct plain_card *c = plain_card(a);
	struct plain_run run = *(struct plain_run *)ring_pop(&c->run);
	struct plain_queue *q = queue_of(a, run.card, run.queue);

	c->is_turn_posted = lane_of(a, q, a->card)->is_running = false;
	c->next_turn = a->t + plain_params(a)->packet;
	if (q->work && q->q.is_stopped) {
		((struct plain_work *)slots_at(&n->works, q->work))->out++;
		plain_send_done(a, q->work, why_stopped(a, run.card), 0);
	} else if (q->work || (q->q.entries.n && begin(a, q, run))) {
		c->next_turn = a->t + cut(a, q) * plain_params(a)->packet;
	}
	wake(a, run);
	plain_send_kick(a);
}

void plain_send_left(const struct nic_at *a, uint32_t card, uint32_t bytes)
{
	plain_here(a)->card[card].n_made -=
		link_packets(&a->nic->net->link, bytes);
	if (__builtin_expect(card == a->card, 1)) {
		plain_send_kick(a);
	} else {
		const struct nic_at at = plain_at(a, card);

		plain_send_kick(&at);
	}
}

uint32_t plain_send_ended(const struct nic_at *a, uint32_t id)
{
	const struct plain_sending *s = asks_item(a, id);
	const struct ask_header *h = &s->ask.copy->h;
	uint32_t work = s->work;
	struct plain_lane *l = lane_of(a,
		queue_of_work(a, slots_at(&plain_here(a)->works, work)),
		s->ask.card);

	l->out -= link_packets(&a->nic->net->link, plain_bytes(h));
	wide_window_done(&l->window, h->number);
	asks_answered(a, id);
	return work;
}

void plain_send_give_up(const struct nic_at *a, uint32_t id)
{
	bool is_dead = plain_has_failed(
		a, ((const struct ask_item *)asks_item(a, id))->card);

	plain_send_done(a, plain_send_ended(a, id),
		is_dead ? PLAIN_NO_CARD : PLAIN_GAVE_UP, 0);
}

void plain_send_done(
	const struct nic_at *a, uint32_t work, uint32_t status, uint64_t value)
{
	struct plain_node *n = a->node;
	struct plain_work *x = slots_at(&n->works, work);
	struct plain_queue *q = queue_of_work(a, x);
	struct workq_completion end = { .id = x->e.id, .value = value };
	const struct nic_at at = plain_at(a, x->card);
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
		workqs_complete(&at, &plain_card(&at)->queues, queue, &end);
	}
	plain_send_wake(&at, queue);
}
