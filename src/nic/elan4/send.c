/*
 * The sender.  A packet is kept until it is acknowledged, and sent again,
 * after a pause that doubles each time and by another route, when it was
 * turned away or nothing came back.  After too many tries its owner is
 * stopped (QSN-G4).
 */
#include "nic/elan4/elan.h"

#include <string.h>

#include "base/mem.h"

enum { MOST_DOUBLINGS = 10 };

struct elan_sending *elan_sending(struct elan_node *n, uint32_t id)
{
	return &n->sendings[id];
}

uint32_t elan_send_new(const struct elan_at *a)
{
	struct elan_node *n = a->n;
	uint32_t id = n->sendings_free, i;
	struct elan_sending *s;

	if (n->sendings_used == n->sendings_room) {
		uint32_t room = n->sendings_room ? 2 * n->sendings_room : 8;

		n->sendings = mem_grow(n->sendings, room, sizeof(*n->sendings));
		for (i = n->sendings_room; i < room; i++)
			n->sendings[i] = (struct elan_sending){ .next = i + 1 };
		id = n->sendings_free = n->sendings_room;
		n->sendings_room = room;
	}
	s = &n->sendings[id];
	n->sendings_free = s->next;
	n->sendings_used++;
	*s = (struct elan_sending){
		.copy = payload_take(a->x->payloads, a->w->id),
		.attempt = s->attempt + 1,
		.is_used = true,
	};
	return id;
}

static void forget(const struct elan_at *a, uint32_t id)
{
	struct elan_sending *s = elan_sending(a->n, id);

	payload_give(a->x->payloads, a->w->id, s->copy);
	s->copy = NULL;
	s->is_used = false;
	s->attempt++;
	s->next = a->n->sendings_free;
	a->n->sendings_free = id;
	a->n->sendings_used--;
}

/* --- into the network --- */

static bool has_room(const struct elan_at *a, uint32_t fifo)
{
	const struct net *net = a->x->nic.net;

	return net->sites[a->s].inject[fifo].chunks >= net->full;
}

void elan_send_packet(const struct elan_at *a, uint32_t fifo, site_id dst,
	const struct elan_buffer *what, uint32_t route)
{
	struct net *net = a->x->nic.net;
	packet_id id = packet_take(net->pool, a->w->id);
	struct elan_buffer *b = payload_take(a->x->payloads, a->w->id);

	memcpy(b, what, offsetof(struct elan_buffer, data) + what->data_bytes);
	b->route = (uint8_t)route;
	net->packets[id] = (struct packet){
		.src = a->s,
		.dst = dst,
		.number = a->n->number++,
		.born = a->t,
		.kind = fifo == ELAN_FIFO_ACK ? PACKET_SYSTEM : PACKET_DYNAMIC,
		.hints = (uint16_t)(1 + route % ELAN_ROUTES),
		.bytes = what->data_bytes,
		.load = payload_to_load(b),
	};
	if (!a->n->out_first[fifo] && has_room(a, fifo)) {
		net_inject(net, a->w, a->s, fifo, id, a->t);
		return;
	}
	net->packets[id].next = NO_PACKET;
	if (a->n->out_first[fifo])
		net->packets[a->n->out_last[fifo]].next = id;
	else
		a->n->out_first[fifo] = id;
	a->n->out_last[fifo] = id;
}

void elan_send_on_room(const struct elan_at *a, uint32_t fifo)
{
	struct net *net = a->x->nic.net;

	while (a->n->out_first[fifo] && has_room(a, fifo)) {
		packet_id id = a->n->out_first[fifo];

		a->n->out_first[fifo] = net->packets[id].next;
		net_inject(net, a->w, a->s, fifo, id, a->t);
	}
}

void elan_send_at(const struct elan_at *a, uint32_t sending, sim_time t)
{
	elan_post(a, t > a->t ? t : a->t, ELAN_ENGINE_LEAVE, sending);
}

void elan_send_on_leave(const struct elan_at *a, uint32_t sending)
{
	struct elan_sending *s = elan_sending(a->n, sending);
	sim_time late = a->t - s->copy->left_at;
	uint32_t i;

	/* What was reckoned from the first moment holds from this one. */
	s->copy->left_at += late;
	for (i = 0; i < ELAN_MOST_PIECES; i++)
		s->copy->left[i] += late;
	a->n->counts.packets++;
	elan_send_packet(a, s->fifo, s->dst, s->copy, s->route);
	sim_post_self(a->w, a->s, a->t + a->x->params.ack_timeout,
		SIM_KEY(PHASE_ENGINE, ELAN_ENGINE_LATE), (uint16_t)s->attempt,
		sending);
	if (s->owner == ELAN_OWNER_DMA && !s->tries)
		elan_dma_left(a, s->copy->data_bytes);
}

/* --- what comes of it --- */

static void fail(const struct elan_at *a, uint32_t id, enum elan_error why)
{
	struct elan_sending s = *elan_sending(a->n, id);
	uint32_t sequence = s.copy->sequence;

	forget(a, id);
	if (s.owner == ELAN_OWNER_QUEUE) {
		elan_queue_stop(a, s.owner_id, why);
		elan_queue_acked(a, s.owner_id, sequence);
	} else if (s.owner == ELAN_OWNER_DMA) {
		elan_dma_failed(a, s.owner_id, why);
	} else {
		a->n->counts.dropped++;
	}
}

static void try_again(const struct elan_at *a, uint32_t id)
{
	struct elan_sending *s = elan_sending(a->n, id);
	uint32_t doublings =
		s->tries < MOST_DOUBLINGS ? s->tries : MOST_DOUBLINGS;

	if (++s->tries > a->x->params.retries) {
		fail(a, id, ELAN_ERROR_RETRIES);
		return;
	}
	s->attempt++;
	s->route++;
	a->n->counts.resent++;
	sim_post_self(a->w, a->s, a->t + (a->x->params.back_off << doublings),
		SIM_KEY(PHASE_ENGINE, ELAN_ENGINE_AGAIN), (uint16_t)s->attempt,
		id);
}

/* Unless the answer to an earlier try has come meanwhile. */
void elan_send_on_again(
	const struct elan_at *a, uint32_t sending, uint32_t attempt)
{
	const struct elan_sending *s = elan_sending(a->n, sending);

	if (s->is_used && (uint16_t)s->attempt == attempt)
		elan_send_on_leave(a, sending);
}

void elan_send_on_late(
	const struct elan_at *a, uint32_t sending, uint32_t attempt)
{
	struct elan_sending *s = elan_sending(a->n, sending);

	if (!s->is_used || (uint16_t)s->attempt != attempt)
		return;
	a->n->counts.timeouts++;
	try_again(a, sending);
}

static void complete(const struct elan_at *a, uint32_t id)
{
	struct elan_sending s = *elan_sending(a->n, id);
	uint32_t sequence = s.copy->sequence, bytes = s.copy->data_bytes;

	forget(a, id);
	if (s.event)
		elan_event_set(a, s.event, 1);
	if (s.owner == ELAN_OWNER_QUEUE)
		elan_queue_acked(a, s.owner_id, sequence);
	else if (s.owner == ELAN_OWNER_DMA)
		elan_dma_acked(a, s.owner_id, bytes);
}

void elan_send_on_answer(const struct elan_at *a, const struct elan_buffer *b)
{
	struct elan_sending *s;

	if (b->sending >= a->n->sendings_room)
		return;
	s = elan_sending(a->n, b->sending);
	/* An answer to a packet that was answered before says nothing. */
	if (!s->is_used || s->copy->sequence != b->sequence ||
		s->copy->channel != b->channel)
		return;
	if (b->kind == ELAN_ACKED) {
		a->n->counts.acks++;
		complete(a, b->sending);
	} else if (b->kind == ELAN_NACKED) {
		a->n->counts.nacks++;
		try_again(a, b->sending);
	} else {
		fail(a, b->sending, ELAN_ERROR_REFUSED);
	}
}
