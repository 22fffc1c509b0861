/*
 * Reduce-scatter: rings inside each unit sum the blocks of one unit after the
 * other, so that a member has the unit's sums of all blocks with its place;
 * rings of the members with one place sum these, each for its own unit.
 * All-gather is the reverse.  The order of units fits the rings, so that the
 * second stage can begin with what the first one has done first.
 */
#include "load/coll/hierarchical.h"

static uint64_t chunks_of(const struct algo_plan *p)
{
	return algo_chunks(p, algo_data(p), p->n);
}

/* The stage inside units. */
static bool is_inside(const struct algo_plan *p, const struct hier *h)
{
	return h->stage == (p->op == ALGO_ALLGATHER);
}

static uint64_t each_of(const struct algo_plan *p, const struct hier *h)
{
	return (h->u - 1) * chunks_of(p);
}

uint64_t hier_blocks_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct hier h = hier_of(p, member, lane);

	if (h.stage == 2)
		return 0;
	return is_inside(p, &h) ? h.units * each_of(p, &h)
				: (h.units - 1) * chunks_of(p);
}

static struct algo_ring ring_of(const struct algo_plan *p, const struct hier *h)
{
	bool is_in = is_inside(p, h), gathers = p->op == ALGO_ALLGATHER;
	uint32_t n = is_in ? h->u : h->units;

	return (struct algo_ring){
		.n = n,
		.place = is_in ? h->place : h->unit,
		.next = is_in ? hier_inside(h, 1) : hier_across(h, 1),
		.prev = is_in ? hier_inside(h, n - 1) : hier_across(h, n - 1),
		.unit = 1,
		.span = algo_data(p),
		.cuts = p->n,
		.cut = is_in ? 0 : h->place,
		.stride = is_in ? 1 : h->u,
		.channels = 1,
		.first = gathers ? n - 1 : 0,
		.end = gathers ? 2 * (n - 1) : n - 1,
		.chunks = chunks_of(p),
		.lane = hier_lane(h, h->stage),
		.space = (1 + h->stage) * p->bytes,
	};
}

/* The blocks of one unit, inside another: the k-th that it works on. */
static void inside_step(const struct algo_plan *p, const struct hier *h,
	uint64_t i, struct algo_step *out)
{
	bool gathers = p->op == ALGO_ALLGATHER;
	struct algo_ring r = ring_of(p, h);
	uint64_t each = each_of(p, h);
	uint32_t k = (uint32_t)(i / each);

	r.cut = h->u * algo_turn(h->unit, h->units - k - !gathers, h->units);
	r.base = k * each;
	if (gathers)
		r.after = (struct algo_after){ hier_lane(h, 0),
			(p->is_apart ? h->units - 1 : k) * r.chunks };
	algo_ring_step(p, &r, h->is_send, i % each, out);
}

/* In round k a member sends the block that its unit has summed as the k-th. */
static void across_step(const struct algo_plan *p, const struct hier *h,
	uint64_t i, struct algo_step *out)
{
	struct algo_ring r = ring_of(p, h);
	uint64_t k = i / r.chunks + !h->is_send;

	if (p->op == ALGO_REDUCESCATTER)
		r.after = (struct algo_after){ hier_lane(h, 0),
			(p->is_apart ? h->units : k + 1) * each_of(p, h) };
	algo_ring_step(p, &r, h->is_send, i, out);
}

void hier_blocks_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out)
{
	struct hier h = hier_of(p, member, lane);

	if (is_inside(p, &h))
		inside_step(p, &h, i, out);
	else
		across_step(p, &h, i, out);
}
