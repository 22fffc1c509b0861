/*
 * Broadcast: the root gives each member of its unit a slice of the data; the
 * members with one place pass it on from unit to unit; inside each unit, rings
 * collect the slices.  So all cards of a node are in use.  Reduce is the
 * reverse: rings inside units sum slices, chains of units sum these towards the
 * root's unit, whose members give them to the root.
 *
 * Chunks of slices follow each other through the stages.
 */
#include "load/coll/hierarchical.h"

struct slices {
	struct hier h;
	struct algo_span span; /* of the channel */
	uint64_t chunks; /* of a slice */
	uint32_t root; /* its place */
	uint32_t distance; /* of its unit from the root's, ahead */
	bool is_root;
};

static struct slices slices_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct slices x = {
		.h = hier_of(p, member, lane),
		.span = algo_cut(
			p, algo_data(p), p->channels, algo_channel(p, lane)),
		.chunks = algo_chunks(
			p, algo_data(p), (uint64_t)p->channels * p->unit),
		.root = p->root % p->unit,
		.is_root = member == p->root,
	};

	x.distance =
		algo_turn(x.h.unit, x.h.units - p->root / p->unit, x.h.units);
	return x;
}

static struct algo_span chunk_of(const struct algo_plan *p,
	const struct slices *x, uint32_t slice, uint64_t chunk)
{
	struct algo_span s = algo_cut(p, x->span, x->h.u, slice);

	return algo_cut(p, s, x->chunks, chunk);
}

/* Steps between the root and the others of its unit. */
static uint64_t count_near(const struct slices *x, bool is_root_send)
{
	if (x->distance)
		return 0;
	if (x->is_root)
		return x->h.is_send == is_root_send ? (x->h.u - 1) * x->chunks
						    : 0;
	return x->h.is_send == is_root_send ? 0 : x->chunks;
}

/* From unit to unit: from the root's, or to it. */
static uint64_t count_chain(const struct slices *x, bool is_outward)
{
	bool is_out = x->h.is_send == is_outward;

	return (is_out ? x->distance + 1 < x->h.units : x->distance > 0)
		       ? x->chunks
		       : 0;
}

uint64_t hier_root_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct slices x = slices_of(p, member, lane);
	bool casts = p->op == ALGO_BROADCAST;

	if (x.h.stage == 1)
		return count_chain(&x, casts);
	if (x.h.stage == (casts ? 0 : 2))
		return count_near(&x, casts);
	return (x.h.u - 1) * x.chunks;
}

/* --- steps --- */

static void near_step(const struct algo_plan *p, const struct slices *x,
	uint64_t i, struct algo_step *out)
{
	uint32_t others = x->h.u - 1, slice = x->h.place, peer = p->root;
	uint64_t chunk = i;

	if (x->is_root) {
		chunk = i / others;
		slice = (uint32_t)(i % others);
		slice += slice >= x->root;
		peer = x->h.unit * x->h.u + slice;
	}
	algo_set(out, x->h.is_send ? ALGO_SEND : ALGO_RECEIVE, peer,
		chunk_of(p, x, slice, chunk));
}

/* The own slice is there up to a chunk: all of it, where stages are apart. */
static struct algo_after slice_has(const struct algo_plan *p,
	const struct slices *x, uint32_t stage, uint64_t each, uint64_t chunk)
{
	return (struct algo_after){ hier_lane(&x->h, stage),
		(p->is_apart ? x->chunks : chunk + 1) * each };
}

/* Where chunks of the own slice come from, in a broadcast. */
static struct algo_after slice_came(
	const struct slices *x, bool is_apart, uint64_t chunk)
{
	struct algo_after a = { hier_lane(&x->h, x->distance > 0), chunk + 1 };

	if (is_apart)
		a.n = x->chunks;
	if (x->is_root)
		a.n = 0;
	return a;
}

static void chain_step(const struct algo_plan *p, const struct slices *x,
	uint64_t i, struct algo_step *out)
{
	bool casts = p->op == ALGO_BROADCAST;
	uint32_t back = x->h.units - 1;
	uint32_t peer = hier_across(&x->h, x->h.is_send == casts ? 1 : back);
	enum algo_kind kind = x->h.is_send ? ALGO_SEND
			      : casts	   ? ALGO_RECEIVE
					   : ALGO_ADD;

	algo_set(out, kind, peer, chunk_of(p, x, x->h.place, i));
	out->to = 2 * p->bytes + out->at;
	if (!casts)
		out->after = slice_has(p, x, 0, x->h.u - 1, i);
	else if (x->h.is_send)
		out->after = slice_came(x, p->is_apart && !x->distance, i);
	/* the sum of the units behind it comes in this stage */
	if (!casts && x->h.is_send && x->distance + 1 < x->h.units)
		out->after = (struct algo_after){ hier_lane(&x->h, 1), i + 1 };
}

/* Rounds of a ring for each chunk of all slices. */
static void ring_step(const struct algo_plan *p, const struct slices *x,
	uint64_t i, struct algo_step *out)
{
	bool casts = p->op == ALGO_BROADCAST;
	uint32_t u = x->h.u, round = (uint32_t)(i % (u - 1));
	uint64_t chunk = i / (u - 1);
	/* how far behind the own slice */
	uint32_t behind = round + !casts + !x->h.is_send;
	uint32_t slice = (x->h.place + 2 * u - behind) % u;

	algo_set(out,
		x->h.is_send ? ALGO_SEND
		: casts	     ? ALGO_RECEIVE
			     : ALGO_ADD,
		hier_inside(&x->h, x->h.is_send ? 1 : u - 1),
		chunk_of(p, x, slice, chunk));
	out->to = p->bytes + out->at;
	if (!x->h.is_send)
		return;
	if (round)
		out->after = (struct algo_after){ hier_lane(&x->h, x->h.stage),
			chunk * (u - 1) + round };
	else if (casts)
		out->after = slice_came(x, p->is_apart, chunk);
}

void hier_root_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out)
{
	struct slices x = slices_of(p, member, lane);
	bool casts = p->op == ALGO_BROADCAST;

	if (x.h.stage == 1) {
		chain_step(p, &x, i, out);
	} else if (x.h.stage == (casts ? 0 : 2)) {
		near_step(p, &x, i, out);
		if (!casts && x.h.is_send)
			out->after = slice_has(p, &x, 1, 1, i);
	} else {
		ring_step(p, &x, i, out);
	}
}
