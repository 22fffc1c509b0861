/*
 * The sender.  A packet is kept until it is acknowledged, and sent again,
 * after a pause that doubles each time and by another route, when it was
 * turned away or nothing came back.  After too many tries its owner is
 * stopped (QSN-G4).
 *
 * Where the machine says so (routing.spread), packets that are free of any
 * order, whose end an event counts, take the routes to their node in turn
 * (QSN-G7); others would overtake what software sent before them.
 *
 * Nothing has come back when that takes much longer than it may in a loaded
 * network, where a packet of every node may be before this one, and much
 * longer than it took lately: congestion must not be taken for loss.
 */
#include "nic/elan4/parts.h"

#include <string.h>

#include "base/mem.h"

enum { MOST_DOUBLINGS = 10, LATE_DOUBLINGS = 2 };

struct elan_sending *elan_sending(struct elan_node *n, uint32_t id)
{
	return slots_at(&n->sendings, id);
}

uint32_t elan_send_new(const struct nic_at *a)
{
	uint32_t id = slots_take(&elan_here(a)->sendings);

	elan_sending(elan_here(a), id)->copy =
		payload_take(a->nic->payloads, a->w->id);
	return id;
}

static sim_time timeout(const struct nic_at *a, uint32_t tries)
{
	sim_time t = elan_timeout(elan_of(a));
	sim_time trips =
		elan_of(a)->params.round_trips * elan_here(a)->round_trip;

	t = t > trips ? t : trips;
	return t << (tries < LATE_DOUBLINGS ? tries : LATE_DOUBLINGS);
}

/*
 * Who waits for an answer.  First tries all wait for the same time, so they
 * are late in the order in which they left, and need one event at a time.
 */
static void await_first(const struct nic_at *a, uint32_t id)
{
	struct elan_node *n = a->node;
	struct elan_sending *s = elan_sending(n, id);

	slots_push(&n->sendings, &n->late, id);
	if (!n->is_late_posted)
		elan_post(a, s->left_at + timeout(a, 0), ELAN_ENGINE_LATE, 0);
	n->is_late_posted = true;
}

/* It is answered, or too late. */
static void await_no_more(struct elan_node *n, uint32_t id)
{
	struct elan_sending *s = elan_sending(n, id);

	if (s->left_at && !s->tries)
		slots_remove(&n->sendings, &n->late, id);
	s->left_at = 0;
}

static void forget(const struct nic_at *a, uint32_t id)
{
	struct elan_sending *s = elan_sending(elan_here(a), id);

	await_no_more(elan_here(a), id);
	payload_give(a->nic->payloads, a->w->id, s->copy);
	slots_give(&elan_here(a)->sendings, id);
}

/* --- into the network --- */

static bool has_room(const struct nic_at *a, uint32_t fifo)
{
	return net_has_room(a->nic->net, a->s, fifo);
}

/*
 * One that leaves later than was reckoned, after waiting in line or again,
 * goes at the link's rate, where its data does not come more slowly still.
 */
static void put_off(const struct nic_at *a, struct elan_buffer *b)
{
	uint32_t i, sum = 0;

	for (i = 0; i < b->n_pieces; i++) {
		sim_time link;

		if (b->piece[i].what != ELAN_WRITE)
			continue;
		sum += b->piece[i].bytes;
		link = a->t + elan_ser(elan_of(a), sum);
		if (b->left[i] < link)
			b->left[i] = link;
	}
	b->left_at = a->t;
}

static void inject(const struct nic_at *a, uint32_t fifo, packet_id id)
{
	struct net *net = a->nic->net;
	struct elan_buffer *b = payload_of_load(net->packets[id].load);
	bool frees = fifo == ELAN_FIFO_DMA && b->is_first;
	uint32_t bytes = b->data_bytes;

	if (a->t > b->left_at)
		put_off(a, b);
	net_inject(net, a->w, a->s, fifo, id, a->t);
	if (frees)
		elan_dma_left(a, bytes);
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

void elan_send_packet(const struct nic_at *a, uint32_t fifo, site_id dst,
	const struct elan_buffer *what, uint32_t route,
	struct elan_account *account)
{
	struct net *net = a->nic->net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct elan_buffer *b = payload_take(a->nic->payloads, a->w->id);

	memcpy(b, what, offsetof(struct elan_buffer, data) + what->data_bytes);
	b->route = (uint8_t)route;
	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = dst,
		.number = elan_here(a)->number++,
		.born = a->t,
		.kind = fifo == ELAN_FIFO_ACK ? PACKET_SYSTEM : PACKET_DYNAMIC,
		.hints = (uint16_t)(1 + route % ELAN_ROUTES),
		.bytes = what->data_bytes,
		.load = payload_to_load(b),
	};
	if (what->cast)
		set_cast(&net->packets[id], what);
	elan_account_packet(a, id, account);
	if (!elan_here(a)->out[fifo].first && has_room(a, fifo))
		inject(a, fifo, id);
	else
		packet_push(net->packets, &elan_here(a)->out[fifo], id);
}

void elan_send_on_room(const struct nic_at *a, uint32_t fifo)
{
	struct packet_list *out = &elan_here(a)->out[fifo];

	while (out->first && has_room(a, fifo))
		inject(a, fifo, packet_pop(a->nic->net->packets, out));
}

/* Where packets to a node start among their routes. */
static uint8_t *detour(const struct nic_at *a, site_id dst)
{
	return &elan_here(a)->detour[dst % ELAN_DETOURS];
}

void elan_send_at(const struct nic_at *a, uint32_t sending, sim_time t)
{
	struct elan_sending *s = elan_sending(elan_here(a), sending);

	s->route = (uint8_t)(s->route + *detour(a, s->dst));
	if (elan_of(a)->rotates && s->is_free)
		s->route = (uint8_t)(s->route + elan_here(a)->rotation++);
	elan_post(a, t > a->t ? t : a->t, ELAN_ENGINE_LEAVE, sending);
}

void elan_send_on_leave(const struct nic_at *a, uint32_t sending)
{
	struct elan_sending *s = elan_sending(elan_here(a), sending);

	elan_here(a)->counts.packets++;
	s->left_at = a->t;
	if (s->tries)
		elan_post_late(a, a->t + timeout(a, s->tries),
			ELAN_ENGINE_LATER, sending);
	else
		await_first(a, sending);
	s->copy->is_first = !s->tries;
	s->number = elan_here(a)->number;
	elan_send_packet(a, s->fifo, s->dst, s->copy, s->route, &s->account);
}

/* --- what comes of it --- */

static void fail(const struct nic_at *a, uint32_t id, enum elan_error why)
{
	struct elan_sending s = *elan_sending(elan_here(a), id);
	struct elan_cookie get = s.copy->get;
	uint32_t sequence = s.copy->sequence;

	forget(a, id);
	if (s.owner == ELAN_OWNER_QUEUE) {
		elan_get_failed(a, &get, why);
		elan_queue_stop(a, s.owner_id, why);
		elan_queue_acked(a, s.owner_id, sequence);
	} else if (s.owner == ELAN_OWNER_DMA) {
		elan_dma_failed(a, s.owner_id, sequence, why);
	} else if (s.owner == ELAN_OWNER_GET) {
		elan_channel_done(&elan_here(a)->get_channel, sequence);
		elan_get_failed(a, &get, why);
	} else {
		elan_channel_done(&elan_here(a)->answers, sequence);
		elan_here(a)->counts.errors[why]++;
	}
}

static void try_again(const struct nic_at *a, uint32_t id)
{
	struct elan_sending *s = elan_sending(elan_here(a), id);
	uint32_t doublings =
		s->tries < MOST_DOUBLINGS ? s->tries : MOST_DOUBLINGS;

	await_no_more(elan_here(a), id);
	if (++s->tries > elan_of(a)->params.retries) {
		fail(a, id, ELAN_ERROR_RETRIES);
		return;
	}
	s->route++;
	s->again_at = a->t + (elan_of(a)->params.back_off << doublings);
	elan_post_late(a, s->again_at, ELAN_ENGINE_AGAIN, id);
}

void elan_send_on_again(const struct nic_at *a, uint32_t sending)
{
	struct elan_sending *s = elan_sending(elan_here(a), sending);

	/* It may be acknowledged by now, though late. */
	if (!s->slot.is_used || s->again_at != a->t)
		return;
	s->again_at = 0;
	elan_here(a)->counts.resent++;
	elan_send_on_leave(a, sending);
}

static void is_late(const struct nic_at *a, uint32_t sending)
{
	const struct elan_sending *s = elan_sending(elan_here(a), sending);

	elan_here(a)->counts.timeouts++;
	/* Those that follow need not find out for themselves. */
	*detour(a, s->dst) = (uint8_t)(s->route + 1);
	try_again(a, sending);
}

void elan_send_on_late(const struct nic_at *a)
{
	struct elan_node *n = a->node;

	sim_time due;

	n->is_late_posted = false;
	while (n->late.first) {
		due = elan_sending(n, n->late.first)->left_at + timeout(a, 0);
		if (due > a->t) {
			n->is_late_posted = true;
			elan_post(a, due, ELAN_ENGINE_LATE, 0);
			return;
		}
		is_late(a, n->late.first);
	}
}

/* It may be answered by now, or waits to be sent again. */
static bool is_awaited(const struct elan_node *n, uint32_t sending)
{
	const struct elan_sending *s = slots_find(&n->sendings, sending);

	return s && s->tries && s->left_at;
}

void elan_send_on_later(const struct nic_at *a, uint32_t sending)
{
	const struct elan_sending *s = elan_sending(elan_here(a), sending);
	sim_time due = s->left_at + timeout(a, s->tries);

	if (!is_awaited(elan_here(a), sending))
		return;
	if (due > a->t)
		elan_post_late(a, due, ELAN_ENGINE_LATER, sending);
	else
		is_late(a, sending);
}

/* Of a first try: what is sent again may be answered by any of its tries. */
static void note_round_trip(
	const struct nic_at *a, const struct elan_sending *s)
{
	sim_time took = a->t - s->left_at;
	sim_time *longest = &elan_here(a)->round_trip;

	if (!s->left_at || s->tries)
		return;
	*longest -= *longest / 64;
	*longest = *longest > took ? *longest : took;
}

/* It is acknowledged, by a yes, or by a test's no. */
static void complete(const struct nic_at *a, uint32_t id, bool is_yes)
{
	struct elan_sending s = *elan_sending(elan_here(a), id);
	uint32_t sequence = s.copy->sequence, context = s.copy->context;
	struct elan_cookie get = s.copy->get;

	forget(a, id);
	elan_event_set(a, context, is_yes ? s.event : s.no_event, 1);
	if (s.owner == ELAN_OWNER_QUEUE && !is_yes)
		elan_queue(elan_here(a), s.owner_id)->was_denied = true;
	if (s.owner == ELAN_OWNER_QUEUE)
		elan_queue_acked(a, s.owner_id, sequence);
	else if (s.owner == ELAN_OWNER_DMA)
		elan_dma_done(a, s.owner_id, sequence);
	else if (s.owner == ELAN_OWNER_GET)
		elan_channel_done(&elan_here(a)->get_channel, sequence);
	else
		elan_channel_done(&elan_here(a)->answers, sequence);
	if (s.owner != ELAN_OWNER_ANSWER)
		elan_get_acked(a, &get, &s.account);
}

/* An answer to a broadcast that has been sent again since. */
static bool is_outdated(
	const struct elan_sending *s, const struct elan_buffer *b)
{
	return b->cast == ELAN_CAST_BACK && b->number != s->number;
}

void elan_send_on_answer(const struct nic_at *a, const struct elan_buffer *b)
{
	struct elan_sending *s =
		slots_find(&elan_here(a)->sendings, b->sending);

	/*
	 * An answer to a packet that was answered before says nothing, and
	 * one that comes after the time-out says it too late, unless it is
	 * final.
	 */
	if (!s || s->copy->sequence != b->sequence ||
		s->copy->channel != b->channel ||
		(b->kind == ELAN_NACKED && (!s->left_at || is_outdated(s, b))))
		return;
	note_round_trip(a, s);
	if (b->kind == ELAN_ACKED) {
		elan_here(a)->counts.acks++;
		complete(a, b->sending, true);
	} else if (b->kind == ELAN_DENIED) {
		elan_here(a)->counts.denied++;
		complete(a, b->sending, false);
	} else if (b->kind == ELAN_NACKED) {
		elan_here(a)->counts.nacks++;
		try_again(a, b->sending);
	} else {
		fail(a, b->sending, ELAN_ERROR_REFUSED);
	}
}

/* Time-outs of what has been answered since. */
bool elan_send_is_stale(const struct nic *nic, const struct sim_event *e)
{
	const struct elan_node *n;

	if (sim_phase(e) != PHASE_ENGINE || sim_number(e) < ENGINE_CLIENT ||
		e->site >= nic->n_nodes)
		return false;
	n = nic->nodes[e->site];
	switch (elan_engine_of(e)) {
	case ELAN_ENGINE_LATE:
		return !n->late.first;
	case ELAN_ENGINE_LATER:
		return !is_awaited(n, e->data);
	case ELAN_ENGINE_GET:
		return !n->late_gets.first;
	default:
		return false;
	}
}
