#include "nic/util/asks.h"

#include <string.h>

/* Where packets hold more bytes, those with a name or few bytes have small
 * buffers: large ones are pages apart. */
enum { SMALL_BELOW = 1024 };

/* --- life --- */

static void send_try(const struct nic_at *a, uint32_t id);

static void on_late(const struct nic_at *a, uint32_t id)
{
	(void)id;
	asks_of(a)->timeouts++;
}

void asks_set_up(struct asks_how *how, const struct resend_params *p,
	const struct net *net, uint32_t first, uint32_t stride)
{
	resend_set_up(&how->resend, p, net->n_nodes, first);
	how->user = net_fifos(net, NET_USER);
	how->high = net_fifos(net, NET_HIGH);
	BUG_IF(how->user.first + how->user.count > OUTBOX_FIFOS ||
		how->high.first >= OUTBOX_FIFOS);
	how->answers = net->route->is_one_class ? how->kind : PACKET_HIGH;
	how->input = first + RESEND_EVENTS;
	how->resend.stride = stride;
	how->resend.send = send_try;
	how->resend.on_late = on_late;
}

int asks_check(struct nic *nic, struct err *e)
{
	uint32_t payload = nic->net->link.each;
	uint32_t most = FLIPS_FRAME - FLIPS_CRC - sizeof(struct ask_header);

	if (!payload || payload > most)
		return err_set(e,
			"link.payload: out of range for nic.kind %s (want 1 to "
			"%u bytes)",
			nic->ops->name, most);
	nic->load_size = sizeof(struct ask) + nic->net->link.max_payload;
	if (nic->net->link.max_payload > SMALL_BELOW)
		nic->small_load = sizeof(struct ask);
	return 0;
}

void asks_init(struct asks *x, const struct asks_how *how, size_t item_size)
{
	x->how = how;
	resend_init(&x->resend, &how->resend, &x->ticks, item_size);
}

void asks_fini(struct asks *x)
{
	resend_fini(&x->resend);
	seen_fini(&x->seen);
}

static uint64_t asks_memory(const struct asks *x)
{
	return resend_memory(&x->resend) + seen_memory(&x->seen);
}

NIC_MEMBER_OPS(asks, NULL);

bool asks_is_idle(const struct asks *x)
{
	return !x->resend.items.used && !x->inside;
}

/* All that there is of it. */
static size_t ask_bytes(const struct ask *x)
{
	return sizeof(*x) + (x->is_named ? 0 : x->h.bytes);
}

size_t asks_load_bytes(const struct packet *p)
{
	const struct ask *x = payload_of_load(p->load);

	return ask_bytes(x);
}

/* --- data --- */

static struct ask *take_buffer(const struct nic_at *a, size_t bytes)
{
	return payload_take_for(a->nic->payloads, a->w->id, bytes);
}

/* Its buffer becomes a large one, if it is too small for bytes of data. */
static struct ask *make_room(
	const struct nic_at *a, struct ask *x, uint32_t bytes)
{
	struct payload_pool *pool = a->nic->payloads;
	struct ask *more;

	if (sizeof(*x) + bytes <= pool->small_bytes ||
		!payload_is_small(pool, x))
		return x;
	more = payload_take(pool, a->w->id);
	*more = *x;
	payload_give(pool, a->w->id, x);
	return more;
}

bool asks_read(
	const struct nic_at *a, struct ask **ask, uint64_t at, uint32_t bytes)
{
	struct ask *x = *ask;

	x->is_named = bytes > sizeof(x->name) &&
		      host_find_name(a->nic->host, a->s, at, bytes, &x->name);
	if (x->is_named)
		return true;
	x = *ask = make_room(a, x, bytes);
	return host_read(a->nic->host, a->s, at, x->data, bytes);
}

bool asks_write(const struct nic_at *a, struct ask *x, uint64_t at)
{
	struct host *h = a->nic->host;

	if (!x->is_named)
		return host_write(h, a->w, a->s, a->t, at, x->data, x->h.bytes);
	return host_write_named(h, a->w, a->s, a->t, at, &x->name, x->h.bytes);
}

/* Bytes that may be hurt must be there. */
static struct ask *make_bytes(const struct nic_at *a, struct ask *x)
{
	if (!x->is_named)
		return x;
	x = make_room(a, x, x->h.bytes);
	memory_fill(&x->name, x->data, x->h.bytes);
	x->is_named = false;
	return x;
}

/* --- requests leave --- */

uint32_t asks_new(
	const struct nic_at *a, site_id dst, uint32_t channel, uint32_t number)
{
	struct asks *x = a->node;
	uint32_t id = resend_take_any(&x->resend);
	struct ask_item *s = asks_item(a, id);
	struct ask *copy = take_buffer(a, sizeof(*copy));

	copy->h = (struct ask_header){
		.channel = channel, .number = number, .id = id
	};
	copy->flips.n = 0;
	copy->is_first = copy->is_again = copy->is_named = false;
	copy->card = (uint8_t)a->card;
	s->copy = copy;
	s->item.dst = dst;
	s->is_ready = false;
	s->card = s->to_card = copy->card;
	s->cut = a->t;
	s->read = s->left = 0;
	s->others = 0;
	s->line = 0;
	slots_push(&x->resend.items, &x->leaving, id);
	return id;
}

void asks_ready(const struct nic_at *a, uint32_t id)
{
	struct ask_item *s = asks_item(a, id);

	s->is_ready = true;
	s->read = a->t;
	asks_of(a)->is_leaving = true;
}

void asks_leave(const struct nic_at *a, bool is_last)
{
	struct asks *x = a->node;

	x->is_leaving = false;
	while (x->leaving.first) {
		const struct ask_item *s = asks_item(a, x->leaving.first);
		uint32_t id;

		if (!s->is_ready)
			return;
		id = slots_pop(&x->resend.items, &x->leaving);
		if (is_last)
			resend_now(a, &x->resend, id);
		else
			resend_at(a, &x->resend, id, a->t);
	}
}

/* Its place in the reception FIFO, where it has one. */
static void release(const struct nic_at *a, struct ask_hold *hold)
{
	uint32_t chunks = hold->chunks;

	hold->chunks = 0;
	if (chunks)
		net_release(a->nic->net, a->w, a->s, hold->fifo, chunks, a->t);
}

/* Into the network. */
static void leave(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct net *net = a->nic->net;
	const struct ask *x = ask_of(a, id);
	bool is_answer = x->h.is_answer, is_first = x->is_first;
	uint32_t bytes = x->h.bytes, card = x->card;
	struct ask_hold hold = x->hold;

	nic_charge(a, id, CAUSE_CARD, a->t);
	net_inject(net, a->w, a->s, fifo, id, a->t);
	if (is_answer) {
		asks_of(a)->inside--;
		release(a, &hold);
	} else if (is_first) {
		asks_of(a)->how->left(a, card, bytes);
	}
}

/* A packet is in a card of the node. */
static void is_in_card(const struct nic_at *a, packet_id id, uint32_t card)
{
	book_at_one(a->nic->net->book, id, a->s, "card",
		asks_of(a)->how->has_cards ? card : BOOK_NO_NUMBER);
}

static void account(
	const struct nic_at *a, packet_id id, const struct ask_item *s)
{
	struct book *k = a->nic->net->book;
	const struct workq_birth *b = &s->account.birth;

	if (!k)
		return;
	book_open(k, id, &s->account.message);
	is_in_card(a, id, a->nic->net->packets[id].card);
	nic_charge(a, id, CAUSE_SOFTWARE, b->handed);
	nic_charge(a, id, CAUSE_DESCRIPTOR, b->heard);
	nic_charge(a, id, CAUSE_CARD, b->asked);
	nic_charge(a, id, CAUSE_DESCRIPTOR, b->came);
	nic_charge(a, id, CAUSE_CARD, s->account.turn);
	nic_charge(a, id, CAUSE_DESCRIPTOR, s->account.taken);
	nic_charge(a, id, CAUSE_ENGINE, s->cut);
	nic_charge(a, id, CAUSE_MEMORY_READ, s->read);
	nic_charge(a, id, CAUSE_CARD, s->left);
	nic_charge(a, id, CAUSE_RETRY, a->t);
}

/* Packets to one node keep their order. */
static uint32_t fifo_of(const struct asks *x, const struct packet *p)
{
	return x->how->user.first +
	       (x->how->has_cards ? p->card : p->dst % x->how->user.count);
}

static uint32_t answer_fifo(const struct asks *x, const struct packet *p)
{
	return x->how->has_cards ? fifo_of(x, p) : x->how->high.first;
}

/* Puts a copy of a request into a packet. */
static void send_copy(const struct nic_at *a, uint32_t id, uint16_t cards)
{
	struct asks *x = a->node;
	struct ask_item *s = asks_item(a, id);
	struct net *net = a->nic->net;
	packet_id p = packet_take(net->pool, a->w->id);
	struct ask *copy = take_buffer(a, ask_bytes(s->copy));

	s->copy->is_first = !s->item.tries;
	memcpy(copy, s->copy,
		s->copy->is_named ? offsetof(struct ask, flips.place)
				  : ask_bytes(s->copy));
	net->packets[p] = (struct packet){
		.src = a->s,
		.dst = s->item.dst,
		.number = x->number[s->line]++,
		.born = a->t,
		.kind = x->how->kind,
		.bytes = (uint16_t)copy->h.bytes,
		.size = s->others,
		.tag = cards | copy->h.flow,
		.load = payload_to_load(copy),
	};
	/* tries take the ways in turn */
	copy->h.way = net->route->ops->n_ways ? s->item.route : 0;
	if (copy->h.way)
		net->packets[p].hints = (uint16_t)(1 + copy->h.way);
	s->left = s->left ? s->left : a->t;
	x->packets++;
	x->resent += s->item.tries > 0;
	account(a, p, s);
	outbox_send(a, &x->out, fifo_of(x, &net->packets[p]), p, leave);
}

static void send_try(const struct nic_at *a, uint32_t id)
{
	const struct asks_how *how = asks_of(a)->how;
	const struct ask_item *s = asks_item(a, id);
	struct packet p = { .card = s->card, .to_card = s->to_card };

	if (!how->choose || how->choose(a, s, &p)) {
		send_copy(a, id, p.tag);
		return;
	}
	if (!s->item.tries)
		how->left(a, s->card, s->copy->h.bytes);
	how->resend.give_up(a, id);
}

void asks_on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct asks *x = nic_node(me->state, s);
	struct nic_at a;

	if (!outbox_waits(&x->out, fifo))
		return;
	a = nic_at(me->state, w, s, t);
	outbox_on_room(&a, &x->out, fifo, leave);
}

void asks_answered(const struct nic_at *a, uint32_t id)
{
	struct ask_item *s = asks_item(a, id);

	payload_give(a->nic->payloads, a->w->id, s->copy);
	resend_give(&asks_of(a)->resend, id);
}

/* --- packets come --- */

void asks_on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *net = me->net;
	struct nic_at a = nic_at(me->state, w, s, t);
	struct ask *x = ask_of(&a, id);

	x->hold = (struct ask_hold){ fifo, net->packets[id].chunks };
	asks_of(&a)->inside++;
	asks_post(&a, tail + asks_of(&a)->how->latency, asks_of(&a)->how->input,
		id);
}

void asks_on_hurt(struct net_client *me, struct sim_worker *w, packet_id id,
	const struct net_flip *flip)
{
	struct net *net = me->net;
	const struct packet *p = &net->packets[id];
	struct ask *x = payload_of_load(p->load);
	uint32_t bytes = (uint32_t)sizeof(x->h) + x->h.bytes + FLIPS_CRC;

	(void)w;
	flips_note(
		&x->flips, flip->code, p->head, bytes, flip->bit, flip->bits);
}

void asks_finish(const struct nic_at *a, packet_id id, bool is_done)
{
	struct ask_hold hold = ask_of(a, id)->hold;

	nic_account_end(a, id, is_done);
	asks_of(a)->inside--;
	nic_give(a->nic, a->w, id);
	release(a, &hold);
}

/* The packet itself goes back as its answer. */
void asks_answer(const struct nic_at *a, packet_id id, uint16_t others)
{
	struct net *net = a->nic->net;
	struct packet *p = &net->packets[id];
	struct ask *x = ask_of(a, id);

	if (x->h.status || x->is_again)
		nic_account_end(a, id, false);
	if (x->h.status && x->h.op != asks_of(a)->how->kept)
		seen_add(&asks_of(a)->seen, p->src, x->h.channel, x->h.number,
			false);
	x->h.is_answer = true;
	*p = (struct packet){
		.src = a->s,
		.dst = p->src,
		.number = asks_of(a)->number[0]++,
		.born = a->t,
		.kind = asks_of(a)->how->answers,
		.bytes = (uint16_t)x->h.bytes,
		.size = others,
		.card = p->to_card,
		.to_card = p->card,
		.load = p->load,
	};
	/* that to the last try may have been lost; so that all pairs of ways
	 * have their turn, not in step with requests */
	if (x->h.way)
		p->hints = (uint16_t)(1 + x->h.way + x->h.way / 2);
	if (net->book && !book_has(net->book, id))
		nic_account_none(a, id);
	asks_of(a)->answers++;
	if (!asks_of(a)->how->holds)
		release(a, &x->hold);
	outbox_send(a, &asks_of(a)->out, answer_fifo(asks_of(a), p), id, leave);
}

/* Its CRC has found nothing; a length that has changed is found, too. */
static bool is_sound(const struct nic_at *a, packet_id id)
{
	struct ask *x = ask_of(a, id);
	uint32_t bytes = x->h.bytes;
	enum flips_harm harm;

	if (!x->flips.n)
		return true;
	x = make_bytes(a, x);
	a->nic->net->packets[id].load = payload_to_load(x);
	harm = flips_judge(&x->flips, &x->h, sizeof(x->h), x->data, bytes);
	asks_of(a)->escapes += harm == FLIPS_ESCAPED;
	return harm != FLIPS_FOUND && x->h.bytes == bytes;
}

static void take_request(const struct nic_at *a, packet_id id, struct ask *x)
{
	struct seen *seen = &asks_of(a)->seen;
	uint32_t src = a->nic->net->packets[id].src;
	enum seen_answer was = SEEN_NOT;

	if (x->h.op != asks_of(a)->how->kept)
		was = seen_take(seen, src, x->h.channel, x->h.number);
	x->is_again = was != SEEN_NOT;
	/* what was refused stays so */
	x->h.status = was == SEEN_NO;
	asks_of(a)->how->asked(a, id, x);
}

static void take_answer(const struct nic_at *a, packet_id id, struct ask *x)
{
	struct resend *r = &asks_of(a)->resend;
	struct ask_item *s = slots_find(&r->items, x->h.id);

	/* to what has been answered before */
	if (!s || s->copy->h.number != x->h.number ||
		s->copy->h.channel != x->h.channel) {
		asks_finish(a, id, false);
		return;
	}
	if (!resend_has_left(&s->item) ||
		!asks_of(a)->how->fits(&x->h, &s->copy->h)) {
		asks_of(a)->torn++;
		asks_finish(a, id, false);
		return;
	}
	resend_answered(a, r, x->h.id);
	asks_of(a)->how->answered(a, id, x, s);
}

static void on_input(const struct nic_at *a, packet_id id)
{
	struct ask *x;

	nic_charge(a, id, CAUSE_INPUT, a->t);
	is_in_card(a, id, a->nic->net->packets[id].to_card);
	if (!is_sound(a, id)) {
		asks_of(a)->torn++;
		asks_finish(a, id, false);
		return;
	}
	x = ask_of(a, id);
	if (x->h.is_answer) {
		take_answer(a, id, x);
	} else {
		take_request(a, id, x);
	}
}

/* --- events --- */

bool asks_on_event(const struct nic_at *a, uint32_t number, uint32_t data)
{
	if (number != asks_of(a)->how->input)
		return resend_on_event(a, &asks_of(a)->resend, number, data);
	on_input(a, data);
	return true;
}

bool asks_is_stale(const void *node, uint32_t number, uint32_t data)
{
	const struct asks *x = node;

	return resend_is_stale(&x->resend, asks_number(x, number), data);
}
