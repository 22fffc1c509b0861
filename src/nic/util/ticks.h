/*
 * Events of a node's units, ordered by ticks: events of one instant and one
 * number happen in the order in which they were posted.
 */
#ifndef NIC_UTIL_TICKS_H
#define NIC_UTIL_TICKS_H

#include "base/err.h"
#include "nic/nic.h"

enum { TICKS = 1 << 15 }; /* events, before their numbers begin anew */

/* One node's. */
struct ticks {
	uint16_t next;
	sim_time at; /* the last one was posted */
#ifdef WEFT_CHECK
	sim_time last_at; /* the last one was at, with its rank and data */
	uint64_t last_rank;
	uint32_t last_data;
#endif
};

/* Ticks begin anew between two instants, never among what is posted in one. */
static inline void ticks_post(const struct nic_at *a, struct ticks *k,
	sim_time t, uint32_t number, uint32_t data)
{
	if (k->next >= TICKS && a->t != k->at)
		k->next = 0;
	k->at = a->t;
	sim_post_self(
		a->w, a->s, t, SIM_KEY(PHASE_ENGINE, number), k->next++, data);
}

/*
 * The same for an item of a pool (base/slots.h) that may wait for long: ticks
 * could wrap around meanwhile, so the item's own number orders the event.  Of
 * an item's events of a number only one counts.  Numbers of events are taken
 * modulo stride, from number on.
 */
static inline void ticks_post_late(const struct nic_at *a, sim_time t,
	uint32_t number, uint32_t stride, uint32_t id)
{
	sim_post_self(a->w, a->s, t,
		SIM_KEY(PHASE_ENGINE, number + stride * ((id - 1) >> 16)),
		(uint16_t)(id - 1), id);
}

/* Self-check, called with each event: different events have different ranks. */
static inline void ticks_check(
	const struct nic_at *a, struct ticks *k, const struct sim_event *e)
{
#ifdef WEFT_CHECK
	BUG_IF(k->last_at == a->t && k->last_rank == e->rank &&
		k->last_data != e->data);
	k->last_at = a->t;
	k->last_rank = e->rank;
	k->last_data = e->data;
#else
	(void)a;
	(void)k;
	(void)e;
#endif
}

#endif
