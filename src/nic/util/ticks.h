/*
 * Events of a node's units, ordered by ticks: those that are due at one
 * instant and of one number happen in the order in which they were posted.
 * It is no queue: events are the simulator's, and data is all they carry.
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
 * The same of an item of a pool (base/slots.h) that there may be a long wait
 * for: a tick could come round until then, so the item's own number orders
 * it.  An item has one such event of a number that counts.  Numbers of events
 * are taken modulo stride, from number on.
 */
static inline void ticks_post_late(const struct nic_at *a, sim_time t,
	uint32_t number, uint32_t stride, uint32_t id)
{
	sim_post_self(a->w, a->s, t,
		SIM_KEY(PHASE_ENGINE, number + stride * ((id - 1) >> 16)),
		(uint16_t)(id - 1), id);
}

/* No two events may leave their order to chance, unless they are the same;
 * called with each one where self-checks are compiled in. */
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
