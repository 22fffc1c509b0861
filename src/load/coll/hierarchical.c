/*
 * Two levels: units of neighbouring members, and members with the same place in
 * all units.  All-reduce in three stages: reduce-scatter by a ring inside each
 * unit, so that each of its u members has a block; all-reduce of that block by
 * a ring of the members with the same place in all n / u units; all-gather
 * inside the unit (NCCL's CollNet chain and Horovod's hierarchical all-reduce
 * have this shape).  A card sends 2 (n/u - 1) / (n/u) of 1 / u of the data.
 *
 * The data are cut into pieces, which follow each other through the stages, so
 * that links inside and between units are in use at the same time; unless
 * stages are kept apart: then there is one piece.
 */
#include "load/coll/hierarchical.h"

static struct algo_span span_of(const struct algo_plan *p, uint32_t lane)
{
	return algo_cut(p, algo_data(p), p->channels, algo_channel(p, lane));
}

static uint64_t n_pieces(const struct algo_plan *p)
{
	uint64_t all = (uint64_t)p->channels * p->n * p->chunk;

	return p->is_apart || !p->bytes ? 1 : (p->bytes + all - 1) / all;
}

static struct algo_ring stage_of(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t piece)
{
	uint32_t stage = lane % HIER_LANES / 2, u = p->unit, units = p->n / u;
	uint32_t place = member % u, unit = member / u;
	struct algo_span s = algo_cut(p, span_of(p, lane), n_pieces(p), piece);
	struct algo_ring r = {
		.unit = 1,
		.channels = 1,
		.span = s,
		.lane = lane - lane % 2,
		.space = (stage == 1 ? 2 : 1) * p->bytes,
	};

	if (stage == 1) {
		r.n = units;
		r.place = unit;
		r.next = algo_turn(unit, 1, units) * u + place;
		r.prev = algo_turn(unit, units - 1, units) * u + place;
		r.span = algo_cut(p, s, u, place);
	} else {
		r.n = u;
		r.place = place;
		r.next = unit * u + algo_turn(place, 1, u);
		r.prev = unit * u + algo_turn(place, u - 1, u);
	}
	r.first = stage == 2 ? r.n - 1 : 0;
	r.end = stage == 0 ? r.n - 1 : 2 * (r.n - 1);
	r.chunks = algo_chunks(p,
		(struct algo_span){
			0, (p->bytes / p->channels + n_pieces(p) - 1) /
				   n_pieces(p) },
		stage == 1 ? p->n : u);
	r.base = piece * algo_ring_count(&r);
	return r;
}

/* The stage before has done its part of a piece.  One without a neighbour has
 * no steps, and the stage before it counts. */
static struct algo_after stage_over(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t piece)
{
	struct algo_after a = { 0 };

	for (lane -= lane % 2; lane % HIER_LANES && !a.n;) {
		struct algo_ring r;

		lane -= 2;
		r = stage_of(p, member, lane, piece);
		a.lane = lane;
		a.n = r.base + algo_ring_count(&r);
	}
	return a;
}

static uint64_t hierarchical_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct algo_ring r;

	if (algo_op_has_root(p->op))
		return hier_root_count(p, member, lane);
	if (p->op == ALGO_ALLTOALL)
		return hier_exchange_count(p, member, lane);
	if (p->op != ALGO_ALLREDUCE)
		return hier_blocks_count(p, member, lane);
	r = stage_of(p, member, lane, 0);
	return n_pieces(p) * algo_ring_count(&r);
}

static void allreduce_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	struct algo_ring r = stage_of(p, member, lane, 0);
	uint64_t each = algo_ring_count(&r), piece = i / each;

	r = stage_of(p, member, lane, piece);
	r.after = stage_over(p, member, lane, piece);
	algo_ring_step(p, &r, lane % 2, i % each, out);
}

static void hierarchical_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	if (algo_op_has_root(p->op))
		hier_root_step(p, member, lane, i, out);
	else if (p->op == ALGO_ALLTOALL)
		hier_exchange_step(p, member, lane, i, out);
	else if (p->op != ALGO_ALLREDUCE)
		hier_blocks_step(p, member, lane, i, out);
	else
		allreduce_step(p, member, lane, i, out);
}

/* Asks for the smallest unit of several members, if there is one. */
static int refuse_unit(const struct algo_plan *p, struct err *e)
{
	uint32_t unit = 2;

	while (unit < p->n && p->n % unit)
		unit++;
	if (unit >= p->n)
		return err_set(e,
			"algo: hierarchical needs several units of several "
			"members, and %u member%s cannot be divided so (want "
			"another algorithm)",
			p->n, p->n == 1 ? "" : "s");
	return err_set(e,
		"unit: hierarchical needs several units of several members "
		"(want a divisor of %u, such as %u)",
		p->n, unit);
}

static int hierarchical_check(const struct algo_plan *p, struct err *e)
{
	if (p->unit < 2 || p->unit == p->n)
		return refuse_unit(p, e);
	if (p->channels > 1 && p->op != ALGO_ALLREDUCE &&
		!algo_op_has_root(p->op))
		return err_set(e,
			"channels: hierarchical has one channel for %s (want "
			"1)",
			algo_op_names[p->op]);
	return 0;
}

const struct algo algo_hierarchical = {
	.name = "hierarchical",
	.help = "rings inside units, and between them",
	.ops = 1u << ALGO_ALLREDUCE | 1u << ALGO_REDUCESCATTER |
	       1u << ALGO_ALLGATHER | 1u << ALGO_BROADCAST | 1u << ALGO_REDUCE |
	       1u << ALGO_ALLTOALL,
	.lanes = HIER_LANES,
	.spaces = 2,
	.cuts_each = 4,
	.has_unit = true,
	.check = hierarchical_check,
	.count = hierarchical_count,
	.step = hierarchical_step,
};
