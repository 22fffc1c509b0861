/*
 * Packets that wait for room in the network's FIFOs, in order; for interfaces
 * that make packets before there is room for them.  It has no limit: an owner
 * that wants one counts.
 */
#ifndef NIC_UTIL_OUTBOX_H
#define NIC_UTIL_OUTBOX_H

#include "nic/nic.h"

enum { OUTBOX_FIFOS = 16 };

/* One node's. */
struct outbox {
	struct packet_list line[OUTBOX_FIFOS];
};

/* A packet goes into its FIFO, which has room: hands it to net_inject(). */
typedef void outbox_leave(const struct nic_at *a, uint32_t fifo, packet_id id);

/* A packet leaves now, if there is room and none waits, or later. */
static inline void outbox_send(const struct nic_at *a, struct outbox *o,
	uint32_t fifo, packet_id id, outbox_leave *leave)
{
	BUG_IF(fifo >= OUTBOX_FIFOS);
	if (!o->line[fifo].first && net_has_room(a->nic->net, a->s, fifo))
		leave(a, fifo, id);
	else
		packet_push(a->nic->net->packets, &o->line[fifo], id);
}

static inline bool outbox_waits(const struct outbox *o, uint32_t fifo)
{
	return o->line[fifo].first;
}

/* The FIFO has room: packets that wait for it leave. */
static inline void outbox_on_room(const struct nic_at *a, struct outbox *o,
	uint32_t fifo, outbox_leave *leave)
{
	struct packet_list *l = &o->line[fifo];

	while (l->first && net_has_room(a->nic->net, a->s, fifo))
		leave(a, fifo, packet_pop(a->nic->net->packets, l));
}

#endif
