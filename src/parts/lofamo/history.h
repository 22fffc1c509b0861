/*
 * The registers of LO|FA|MO and the picture of its Master at any time of a run.
 * They do not depend on the network's traffic, only on the plan of faults, so
 * they are computed once, at the first call, until nothing changes any more.
 * All functions may be called by any thread, with the same result.
 */
#ifndef PARTS_LOFAMO_HISTORY_H
#define PARTS_LOFAMO_HISTORY_H

#include "parts/lofamo/lofamo.h"

/* Of a card, as its host reads them. */
struct lofamo_registers {
	uint8_t host; /* an enum health, all of these */
	uint8_t card; /* found by the host's last test */
	uint8_t silent; /* ports, a bit each */
	uint8_t neighbour[LOFAMO_PORTS]; /* their hosts */
};

struct lofamo_history;

/* For the nodes of a host; NULL: they are not monitored. */
struct lofamo_history *lofamo_of(const struct host *h);

/* The set-up is copied, the plan and the topology are borrowed. */
struct lofamo_history *lofamo_history_new(
	const struct lofamo_setup *s, const struct fault_plan *p);
void lofamo_history_free(struct lofamo_history *h);

struct lofamo_registers lofamo_registers_at(
	struct lofamo_history *h, router_id site, sim_time t);
/* When, from t on, a host finds its card dead; t: it already has; SIM_NEVER:
 * never. */
sim_time lofamo_card_is_dead_at(
	struct lofamo_history *h, router_id site, sim_time t);
/* The i-th change of the Master's picture, in order; false: there is none. */
bool lofamo_change(struct lofamo_history *h, size_t i, struct lofamo_part *p);
/* Latency of the service network from the Master to a node. */
sim_time lofamo_latency(const struct lofamo_history *h);

#endif
