/* Private to hierarchical: a member's place in two levels, and the operations
 * besides all-reduce.  Lanes of a channel: two for each stage. */
#ifndef LOAD_COLL_HIERARCHICAL_H
#define LOAD_COLL_HIERARCHICAL_H

#include "load/coll/plan.h"

enum { HIER_STAGES = 3, HIER_LANES = 2 * HIER_STAGES };

struct hier {
	uint32_t u, units; /* members of a unit; units */
	uint32_t place, unit; /* its own */
	uint32_t first; /* lane of the channel */
	uint32_t stage;
	bool is_send;
};

static inline struct hier hier_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	return (struct hier){
		.u = p->unit,
		.units = p->n / p->unit,
		.place = member % p->unit,
		.unit = member / p->unit,
		.first = lane - lane % HIER_LANES,
		.stage = lane % HIER_LANES / 2,
		.is_send = lane % 2,
	};
}

/* The lane of a stage that receives. */
static inline uint32_t hier_lane(const struct hier *h, uint32_t stage)
{
	return h->first + 2 * stage;
}

/* The member of its unit, or with its place, some places or units ahead. */
static inline uint32_t hier_inside(const struct hier *h, uint32_t ahead)
{
	return h->unit * h->u + algo_turn(h->place, ahead, h->u);
}

static inline uint32_t hier_across(const struct hier *h, uint32_t ahead)
{
	return algo_turn(h->unit, ahead, h->units) * h->u + h->place;
}

/* Reduce-scatter and all-gather. */
uint64_t hier_blocks_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane);
void hier_blocks_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out);

/* All-to-all. */
uint64_t hier_exchange_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane);
void hier_exchange_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out);

/* Broadcast and reduce. */
uint64_t hier_root_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane);
void hier_root_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out);

#endif
