/*
 * The sender.  A packet is kept until it is acknowledged (nic/util/resend.h);
 * after too many tries its owner is stopped (QSN-G4).  If all units of the
 * receiver are busy with gets and tests, the try does not count: one of them
 * will end.
 *
 * With routing.spread, packets that need no order, since an event counts them,
 * take the routes to their node in turn (QSN-G7); others would overtake earlier
 * packets.
 */
#include "nic/elan4/units.h"

#include <string.h>

static struct elan_sender *sender_of(const struct nic_at *a)
{
	return &elan_here(a)->sender;
}

struct elan_sending *elan_sending(const struct nic_at *a, uint32_t id)
{
	return slots_at(&sender_of(a)->resend.items, id);
}

uint32_t elan_send_new(const struct nic_at *a)
{
	uint32_t id = resend_take(&sender_of(a)->resend);

	elan_sending(a, id)->copy = payload_take(a->nic->payloads, a->w->id);
	return id;
}

/* --- blocks --- */

void elan_send_cut(struct elan_buffer *b, uint64_t to, uint32_t bytes)
{
	uint32_t at = 0;

	b->data_bytes = (uint16_t)bytes;
	while (at < bytes) {
		uint32_t n = ELAN_BLOCK;

		/* the first one up to a boundary, if all then fits */
		if (!at && to % ELAN_BLOCK && bytes <= ELAN_PACKET - ELAN_BLOCK)
			n -= to % ELAN_BLOCK;
		n = n < bytes - at ? n : bytes - at;
		elan_add_piece(b, (struct elan_piece){ .what = ELAN_WRITE,
					  .address = to + at,
					  .bytes = (uint16_t)n,
					  .at = (uint16_t)at });
		at += n;
	}
}

void elan_send_set_times(const struct nic_at *a, struct elan_buffer *b,
	sim_time start, sim_time since)
{
	uint32_t sum = 0, words = 0, n = b->n_pieces;

	b->left_at = start;
	since += elan_params(a)->command;
	for (uint32_t i = 0; i < n; i++) {
		sim_time come, left;

		sum += b->piece[i].bytes;
		words += elan_words(&b->piece[i]);
		come = since + elan_bus_time(a, sum);
		left = start + elan_ser(a, i + 1, words);
		b->left[i] = left > come ? left : come;
	}
}

/* --- into the network --- */

/* A packet that leaves later than planned goes at the link's rate, unless its
 * data comes more slowly. */
static void put_off(const struct nic_at *a, struct elan_buffer *b)
{
	uint32_t words = 0;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		sim_time link;

		words += elan_words(&b->piece[i]);
		link = a->t + elan_ser(a, i + 1, words);
		if (b->left[i] < link)
			b->left[i] = link;
	}
	b->left_at = a->t;
}

static void inject(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct elan_buffer *b = elan_buffer(a, id);
	bool frees = b->channel == ELAN_DMA_CHANNEL && b->is_first;
	uint32_t bytes = b->data_bytes;

	if (a->t > b->left_at)
		put_off(a, b);
	net_inject(a->nic->net, a->w, a->s, fifo, id, a->t);
	if (frees)
		elan_dma_on_left(a, bytes);
}

static void set_cast(struct packet *p, const struct elan_buffer *what)
{
	p->kind = PACKET_HIGH;
	if (what->cast == ELAN_CAST_OUT) {
		p->flags = PACKET_RANGE;
		p->last = what->last;
	} else {
		p->flags = PACKET_ANSWER;
		p->number = what->number;
		p->answer = what->kind;
	}
}

void elan_send_packet(const struct nic_at *a, enum elan_fifo use, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account)
{
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct elan_buffer *b = payload_take(a->nic->payloads, a->w->id);
	uint32_t words = 0;

	memcpy(b, what, offsetof(struct elan_buffer, data) + what->data_bytes);
	b->route = (uint8_t)route;
	for (uint32_t i = 0; i < what->n_pieces; i++)
		words += elan_words(&what->piece[i]);
	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = dst,
		.number = sender_of(a)->number++,
		.born = a->t,
		.kind = use == ELAN_FIFO_ACK ? PACKET_SYSTEM : PACKET_DYNAMIC,
		.format = (uint8_t)elan_format(&net->link, what->n_pieces),
		.bytes = what->data_bytes,
		.size = (uint16_t)(elan_counts_words(&net->link)
					   ? words - (what->data_bytes + 7u) / 8
					   : 0),
		.load = payload_to_load(b),
	};
	/* if routes have no numbers, hints are directions */
	if (net->route->ops->n_ways)
		net->packets[id].hints = (uint16_t)(1 + route % ELAN_ROUTES);
	if (what->cast)
		set_cast(&net->packets[id], what);
	elan_account_packet(a, id, account);
	outbox_send(
		a, &sender_of(a)->outbox, elan_of(a)->fifo[use], id, inject);
}

void elan_send_on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct nic_at a = nic_at(me->state, w, s, t);

	outbox_on_room(&a, &sender_of(&a)->outbox, fifo, inject);
}

void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t)
{
	struct elan_sending *s = elan_sending(a, sending);

	if (elan_of(a)->rotates && s->is_free)
		s->item.route =
			(uint8_t)(s->item.route + sender_of(a)->rotation++);
	resend_at(a, &sender_of(a)->resend, sending, t);
}

static void fail(const struct nic_at *a, uint32_t id, enum elan_error why);

static void send(const struct nic_at *a, uint32_t sending)
{
	struct elan_sending *s = elan_sending(a, sending);

	if (s->item.tries && s->owner->again && !s->owner->again(a, s)) {
		resend_answered(a, &sender_of(a)->resend, sending);
		fail(a, sending, ELAN_ERROR_MEMORY);
		return;
	}
	elan_count(a)->packets++;
	elan_count(a)->resent += s->item.tries > 0;
	s->copy->is_first = !s->item.tries;
	s->number = sender_of(a)->number;
	elan_send_packet(a, s->fifo, s->item.dst, s->copy,
		elan_route_pick(s->routes, s->item.route), &s->account);
}

/* --- answers --- */

/* Frees its copy.  Without a book nobody looks at the account. */
static void forget(const struct nic_at *a, uint32_t id, struct elan_sent *sent)
{
	const struct elan_sending *s = elan_sending(a, id);

	sent->owner_id = s->owner_id;
	sent->sequence = s->copy->sequence;
	sent->get = s->copy->get;
	sent->account.was_missing = false;
	if (nic_has_book(a))
		sent->account = s->account;
	payload_give(a->nic->payloads, a->w->id, s->copy);
	resend_give(&sender_of(a)->resend, id);
}

static void fail(const struct nic_at *a, uint32_t id, enum elan_error why)
{
	const struct elan_owner *owner = elan_sending(a, id)->owner;
	struct elan_sent sent;

	forget(a, id, &sent);
	owner->failed(a, &sent, why);
}

void elan_send_fail(
	const struct nic_at *a, uint32_t sending, enum elan_error why)
{
	fail(a, sending, why);
}

static void give_up(const struct nic_at *a, uint32_t id)
{
	fail(a, id, ELAN_ERROR_RETRIES);
}

/* It is acknowledged, by a yes, or by a test's no. */
static void complete(
	const struct nic_at *a, uint32_t id, bool is_yes, uint32_t gets)
{
	const struct elan_sending *s = elan_sending(a, id);
	const struct elan_owner *owner = s->owner;
	uint32_t event = is_yes ? s->event : s->no_event;
	uint32_t context = s->context;
	struct elan_sent sent;

	forget(a, id, &sent);
	sent.get.get = gets;
	elan_event_set(a, context, event, 1);
	owner->done(a, &sent, is_yes);
}

static void on_late(const struct nic_at *a, uint32_t id)
{
	(void)id;
	elan_count(a)->timeouts++;
}

void elan_send_set_up(struct elan *x)
{
	struct resend_how *how = &x->resend;

	resend_set_up(how, &x->params.retry, x->nic.n_nodes, ELAN_ENGINE_LEAVE);
	how->stride = ELAN_ENGINES;
	how->send = send;
	how->on_late = on_late;
	how->give_up = give_up;
}

/* An answer to an earlier try of a broadcast. */
static bool is_outdated(
	const struct elan_sending *s, const struct elan_buffer *b)
{
	return b->cast == ELAN_CAST_BACK && b->number != s->number;
}

void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b)
{
	struct resend *r = &sender_of(a)->resend;
	const struct elan_sending *s = slots_find(&r->items, b->sending);

	/* Ignores answers to packets that were answered before or have not
	 * left (bits flipped unseen), and those after the time-out unless they
	 * are final. */
	if (!s || !resend_has_left(&s->item) ||
		s->copy->sequence != b->sequence ||
		s->copy->channel != b->channel ||
		(b->kind >= ELAN_BUSY && b->kind <= ELAN_NACKED &&
			(!s->item.left_at || is_outdated(s, b))))
		return;
	resend_answered(a, r, b->sending);
	if (b->kind == ELAN_ACKED) {
		elan_count(a)->acks++;
		complete(a, b->sending, true, 0);
	} else if (b->kind == ELAN_DENIED) {
		elan_count(a)->denied++;
		complete(a, b->sending, false, b->get.get);
	} else if (b->kind == ELAN_NACKED) {
		elan_count(a)->nacks++;
		resend_again(a, r, b->sending);
	} else if (b->kind == ELAN_BUSY || b->kind == ELAN_FAULTED) {
		elan_sending(a, b->sending)->account.was_missing |=
			b->kind == ELAN_FAULTED;
		elan_count(a)->nacks++;
		resend_excused(a, r, b->sending);
	} else {
		fail(a, b->sending, ELAN_ERROR_REFUSED);
	}
}
