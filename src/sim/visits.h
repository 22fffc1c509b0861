/*
 * Visits of many sites.  A model whose visit is inlined here
 * (sim_ops.visits) saves a call for each of them; others have theirs called
 * through sim_ops.visit.
 */
#ifndef SIM_VISITS_H
#define SIM_VISITS_H

#include "base/inline.h"
#include "sim/sim.h"

struct sim_visits {
	const site_id *order;
	uint32_t n; /* sites */
	bool prefetches;
	uint64_t crowd; /* sites from this one on may have many events */
};

/* As sim_fill_batch(), for a site that has many events, or with prefetching;
 * nothing if they are the batch already, where there is no e. */
void sim_fill_other(struct sim_worker *w, struct sim_event *e,
	const struct sim_visits *v, const site_id *site);

/* The batch ends here. */
static inline void sim_end_batch(struct sim_worker *w, struct sim_event *end)
{
	end->rank = SIM_RANK_END;
	w->end = end;
}

/* Keeps a batch sorted; there is room.  Returns its new end. */
static inline struct sim_event *sim_insert(
	struct sim_event *end, struct sim_event e)
{
	struct sim_event *at = end;

	while (at[-1].rank > e.rank) {
		*at = at[-1];
		at--;
	}
	*at = e;
	return end + 1;
}

/* The events of a site become the worker's batch. */
static inline void sim_fill_batch(
	struct sim_worker *w, const struct sim_event *e, site_id site)
{
	uint32_t i = w->head[site];
	const struct sim_event *x = sim_listed(e, i);
	struct sim_event *end = w->batch;

	w->head[site] = 0;
	w->at = end;
	*end++ = *x;
	while ((i = x->site)) {
		x = sim_listed(e, i);
		end = sim_insert(end, *x);
	}
	sim_end_batch(w, end);
}

INLINE void sim_visits(struct sim_worker *w, struct sim_event *e,
	const struct sim_visits *v,
	void (*visit)(struct sim_worker *w, site_id site))
{
	const site_id *at = v->order, *end = at + v->n;
	uint64_t others = v->prefetches ? 0 : v->crowd;

	for (; at < end; at++) {
		site_id site = *at;

		if (site >= others)
			sim_fill_other(w, e, v, at);
		else
			sim_fill_batch(w, e, site);
		w->visited = site;
		visit(w, site);
	}
}

#endif
