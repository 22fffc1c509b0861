/*
 * What LO|FA|MO's registers and its Master say at any time of a run.  It sees
 * nothing of the network, so all of it follows from the plan of faults: it is
 * worked out once, when somebody first asks, up to where nothing changes any
 * more.  Any thread may ask, and gets the same answer.
 */
#ifndef PARTS_LOFAMO_HISTORY_H
#define PARTS_LOFAMO_HISTORY_H

#include "parts/lofamo/lofamo.h"

/* Of a card, as its host reads them. */
struct lofamo_registers {
	uint8_t host; /* an enum health, all of these */
	uint8_t card; /* as the host last found it */
	uint8_t silent; /* ports, a bit each */
	uint8_t neighbour[LOFAMO_PORTS]; /* their hosts */
};

struct lofamo_history;

/* Of the host's nodes; NULL: nothing watches them. */
struct lofamo_history *lofamo_of(const struct host *h);

/* The set-up is copied, the plan and the topology are borrowed. */
struct lofamo_history *lofamo_history_new(
	const struct lofamo_setup *s, const struct fault_plan *p);
void lofamo_history_free(struct lofamo_history *h);

struct lofamo_registers lofamo_registers_at(
	struct lofamo_history *h, router_id site, sim_time t);
/* When a host finds its card dead, from t on; t: it has already; SIM_NEVER: it
 * does not. */
sim_time lofamo_card_is_dead_at(
	struct lofamo_history *h, router_id site, sim_time t);
/* The i-th change of the Master's picture, in order; false: there is none. */
bool lofamo_change(struct lofamo_history *h, size_t i, struct lofamo_part *p);
/* Of the service network, from the Master to a node. */
sim_time lofamo_latency(const struct lofamo_history *h);

#endif
