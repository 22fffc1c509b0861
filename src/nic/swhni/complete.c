/*
 * What a message ends with at its target: an event in a completion queue, a
 * notice in a receive queue, or 1 more in a reply word.  It is written over
 * PCIe behind the message's bytes.  Queue messages are here, too: they differ
 * from notices in that their bytes are in the receive queue.
 */
#include "nic/swhni/card.h"

#include <string.h>

/* The interface that a packet names, for its job. */
static uint32_t find(const struct nic_at *a, uint32_t engine,
	const struct sw_header *h, struct sw_interface **x)
{
	*x = sw_interface(a->node, h->interface);
	if (!*x || (*x)->setup.engine != engine)
		return SWHNI_BAD_INTERFACE;
	return (*x)->setup.job == h->job ? SWHNI_OK : SWHNI_WRONG_JOB;
}

/* --- receive queues --- */

/* A place for a message of some bytes: when it will be in memory. */
static uint32_t take_slot(const struct nic_at *a, uint32_t engine,
	struct sw_load *l, uint32_t bytes, sim_time *t)
{
	struct sw_interface *x;
	struct sw_receive *r;
	uint32_t status = find(a, engine, &l->h, &x);

	if (status)
		return status;
	r = &x->receive;
	if (!r->slots)
		return SWHNI_BAD_INTERFACE;
	if (r->number - r->taken >= r->slots)
		return SW_FULL;
	l->at = r->at + (uint64_t)(r->number & (r->slots - 1)) * SWHNI_SLOT;
	l->slot = ++r->number;
	l->life = r->life;
	*t = sw_receive_write(
		a, engine, l->at, (uint32_t)sizeof(struct swhni_slot) + bytes);
	return SWHNI_OK;
}

/* Unless the queue is gone by now. */
static bool fill_slot(const struct nic_at *a, const struct sw_load *l,
	site_id src, bool is_notice)
{
	const struct sw_interface *x = sw_interface(a->node, l->h.interface);
	struct swhni_slot s = {
		.number = l->slot,
		.word = { l->h.word[0], l->h.word[1] },
		.offset = l->h.offset,
		.node = src,
		.interface = l->h.own_interface,
		.bytes = is_notice ? l->h.total : l->h.bytes,
		.key = l->h.key,
		.is_notice = is_notice,
		.engine = l->h.own_engine,
	};

	if (!x || !x->receive.slots || x->receive.life != l->life)
		return false;
	if (is_notice)
		s.offset -= (uint64_t)l->h.number * sw_of(a)->most;
	else if (l->is_named)
		host_write_named(a->nic->host, a->w, a->s, a->t,
			l->at + sizeof(s), &l->name, l->h.bytes);
	else
		host_write(a->nic->host, a->w, a->s, a->t, l->at + sizeof(s),
			l->data, l->h.bytes);
	host_write(a->nic->host, a->w, a->s, a->t, l->at, &s, sizeof(s));
	host_poke(a->nic->host, a->w, a->s, a->t);
	return true;
}

/* A datagram without a place is lost; its receiver learns of it. */
static void lose(const struct nic_at *a, packet_id id)
{
	struct sw_interface *x =
		sw_interface(a->node, sw_load(a, id)->h.interface);

	sw_here(a)->lost++;
	if (x && x->setup.job == sw_load(a, id)->h.job)
		x->lost++;
	else
		sw_drop(a, sw_load(a, id)->h.job);
	sw_receive_finish(a, id, false);
}

static void refuse(
	const struct nic_at *a, uint32_t engine, packet_id id, uint32_t status)
{
	const struct sw_load *l = sw_load(a, id);

	if (l->h.type == SW_DATAGRAM) {
		lose(a, id);
	} else if (status == SW_FULL) {
		sw_here(a)->refused++;
		sw_transport_answer(
			a, engine, &l->h, a->nic->net->packets[id].src, status);
		sw_receive_finish(a, id, false);
	} else {
		sw_receive_refuse(a, engine, id, status);
	}
}

void sw_complete_message(const struct nic_at *a, uint32_t engine, packet_id id)
{
	struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;
	uint32_t status;
	sim_time t;

	if (l->h.type == SW_MESSAGE && sw_receive_is_double(a, engine, id))
		return;
	status = take_slot(a, engine, l, l->h.bytes, &t);
	if (status) {
		refuse(a, engine, id, status);
		return;
	}
	if (l->h.type == SW_MESSAGE)
		sw_receive_note(a, engine, &l->h, src, SWHNI_OK);
	l->ready = t;
	sw_post(a, t, engine, SW_WRITTEN, id);
}

void sw_complete_written(const struct nic_at *a, uint32_t engine, packet_id id)
{
	const struct sw_load *l = sw_load(a, id);
	site_id src = a->nic->net->packets[id].src;

	if (!fill_slot(a, l, src, false)) {
		sw_drop(a, l->h.job);
		sw_receive_finish(a, id, false);
		return;
	}
	sw_delivered(a, id);
	if (l->h.type == SW_MESSAGE)
		sw_transport_answer(a, engine, &l->h, src, SWHNI_OK);
	sw_receive_finish(a, id, true);
}

/* --- events, and reply words --- */

/* Its completion and its bytes are in memory at one time, since they follow
 * each other over PCIe: they have one event, SW_WRITTEN. */
static uint32_t tell(const struct nic_at *a, uint32_t engine, struct sw_load *l,
	site_id src, sim_time *t)
{
	struct sw_interface *x;
	uint32_t status = find(a, engine, &l->h, &x);
	struct workq_completion c = {
		.id = l->h.word[0],
		.value = l->h.offset - (uint64_t)l->h.number * sw_of(a)->most,
		.status = SWHNI_STATUS(SWHNI_ARRIVED, SWHNI_OK, src),
		.more = l->h.total,
	};

	if (status)
		return status;
	if (x->queue == SW_NO_QUEUE)
		return SWHNI_BAD_INTERFACE;
	l->end = workqs_tell_with(
		a, &sw_engine(a, engine)->queues, x->queue, &c, t);
	return SWHNI_OK;
}

static uint32_t begin_reply(
	const struct nic_at *a, uint32_t engine, struct sw_load *l, sim_time *t)
{
	uint32_t rights = l->h.type == SW_BYTES ? 0 : SWHNI_MAY_WRITE;
	const struct swhni_handle *h;
	uint64_t offset = l->h.word[0];
	uint32_t status = sw_look_up(a, engine, l->h.job,
		(uint32_t)l->h.word[1], offset, 8, rights, &h);

	if (status)
		return status;
	l->reply = sw_address(a, h, offset);
	if (l->reply % 8)
		return SWHNI_BAD_ENTRY;
	*t = sw_receive_write(a, engine, l->reply, 8);
	return SWHNI_OK;
}

uint32_t sw_complete_begin(const struct nic_at *a, uint32_t engine,
	struct sw_load *l, site_id src, sim_time *t)
{
	if (l->h.flags & SWHNI_REPLY)
		return begin_reply(a, engine, l, t);
	if (l->h.flags & SWHNI_EVENT)
		return tell(a, engine, l, src, t);
	if (l->h.flags & SWHNI_NOTICE)
		return take_slot(a, engine, l, 0, t);
	return SWHNI_OK;
}

void sw_complete_end(const struct nic_at *a, struct sw_load *l, site_id src)
{
	const struct swhni_handle *h;
	uint64_t offset = l->h.word[0];

	if (l->h.flags & SWHNI_NOTICE)
		fill_slot(a, l, src, true);
	if (!(l->h.flags & SWHNI_REPLY))
		return;
	/* the job may have left */
	for (uint32_t e = 0; e < SWHNI_ENGINES; e++)
		if (!sw_look_up(a, e, l->h.job, (uint32_t)l->h.word[1], offset,
			    8, 0, &h)) {
			host_add(a->nic->host, a->w, a->s, a->t, l->reply, 1);
			return;
		}
	sw_drop(a, l->h.job);
}
