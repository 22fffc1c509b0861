/*
 * Recursive halving and doubling (Rabenseifner, ICCS 2004).  Reduce-scatter: in
 * each round a member exchanges one half of its range with a partner, and keeps
 * the sum of the other half, down to one block.  All-gather: in each round it
 * exchanges its range, up to all blocks.  log2 n rounds each; members beyond a
 * power of two are folded, in all-reduce.
 *
 * Blocks of a reduce-scatter belong to the members in their order, so the first
 * partner, with half of the data, is the most distant one.  In an all-reduce
 * nobody has a block in the end, and the order of blocks is free: place q
 * keeps the block whose number has the bits of q in reverse.  Then the first
 * partner is a neighbour, and little goes far: less than a quarter of the data
 * leaves a group of four, and the rest stays on its switch.
 */
#include "base/bits.h"
#include "load/coll/plan.h"

enum { RECEIVES, SENDS, LANES };

struct halving {
	struct algo_fold fold;
	struct algo_span span; /* all blocks */
	uint64_t all_chunks; /* of the span, for the fold */
	uint32_t first, end; /* rounds: first all halvings, then doublings */
	uint32_t lane; /* that receives */
	uint32_t block; /* that it has in the middle */
	bool is_in, is_near; /* near: the first partner is a neighbour */
};

/* A round of a lane, and where its steps begin. */
struct place {
	uint32_t round;
	struct algo_span range;
	uint64_t chunks, base;
};

/* Of a place; and the place of a block. */
static uint32_t block_of(const struct halving *h, uint32_t place)
{
	return h->is_near ? bits_reversed(place, h->fold.rounds) : place;
}

static struct halving halving_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct halving h = {
		.fold = algo_fold(p->n, member),
		.span = algo_cut(
			p, algo_data(p), p->channels, algo_channel(p, lane)),
		.lane = lane - lane % LANES,
		.is_near = p->op == ALGO_ALLREDUCE,
	};

	h.block = block_of(&h, h.fold.place);
	h.first = p->op == ALGO_ALLGATHER ? h.fold.rounds : 0;
	h.end = p->op == ALGO_REDUCESCATTER ? h.fold.rounds : 2 * h.fold.rounds;
	h.all_chunks = algo_chunks(p, h.span, 1);
	h.is_in = algo_fold_is_in(&h.fold);
	return h;
}

/* The distance between partners' blocks. */
static uint32_t distance(const struct halving *h, uint32_t round)
{
	return round < h->fold.rounds ? h->fold.core >> (round + 1)
				      : 1u << (round - h->fold.rounds);
}

/* The blocks that a member sends or receives in a round. */
static struct algo_span range_of(const struct algo_plan *p,
	const struct halving *h, uint32_t round, bool is_send)
{
	uint32_t d = distance(h, round);
	uint32_t own = h->block & ~(d - 1);
	/* a half is the partner's where it is sent, a doubling's its own */
	bool is_own = is_send == (round >= h->fold.rounds);
	uint32_t from = is_own ? own : own ^ d;
	struct algo_span a = algo_cut(p, h->span, h->fold.core, from);
	struct algo_span b = algo_cut(p, h->span, h->fold.core, from + d - 1);

	return (struct algo_span){ a.at, b.at + b.bytes - a.at };
}

static struct place place_of_round(const struct algo_plan *p,
	const struct halving *h, uint32_t round, bool is_send)
{
	struct place x = { .base = is_send || !h->is_in ? 0 : h->all_chunks };

	for (x.round = h->first;; x.round++) {
		x.range = range_of(p, h, x.round, is_send);
		x.chunks = algo_chunks(p, x.range, 1);
		if (x.round == round)
			return x;
		x.base += x.chunks;
	}
}

/* Steps of all rounds, and of the fold before them. */
static uint64_t steps_of(
	const struct algo_plan *p, const struct halving *h, bool is_send)
{
	struct place x;

	if (h->first == h->end)
		return is_send || !h->is_in ? 0 : h->all_chunks;
	x = place_of_round(p, h, h->end - 1, is_send);
	return x.base + x.chunks;
}

static uint64_t halving_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct halving h = halving_of(p, member, lane);
	bool is_send = lane % LANES == SENDS;

	if (h.fold.is_out)
		return h.all_chunks;
	return steps_of(p, &h, is_send) +
	       (is_send && h.is_in ? h.all_chunks : 0);
}

/* --- what a step waits for --- */

/* The sums are complete up to an address: those of the last halving, or of the
 * fold. */
static struct algo_after summed(const struct algo_plan *p,
	const struct halving *h, uint32_t round, uint64_t upto)
{
	struct algo_after a = { .lane = h->lane };
	struct place x;

	if (round > h->first) {
		x = place_of_round(p, h, round - 1, false);
		a.n = x.base + algo_cover(p, x.range, x.chunks, upto);
	} else if (h->is_in) {
		a.n = algo_cover(p, h->span, h->all_chunks, upto);
	}
	return a;
}

/* All rounds before are over. */
static struct algo_after received(
	const struct algo_plan *p, const struct halving *h, uint32_t round)
{
	struct algo_after a = { .lane = h->lane };
	struct place x;

	if (round > h->first) {
		x = place_of_round(p, h, round - 1, false);
		a.n = x.base + x.chunks;
	}
	return a;
}

/* --- steps --- */

static void round_step(const struct algo_plan *p, const struct halving *h,
	bool is_send, uint64_t i, struct algo_step *out)
{
	struct place x = { .base = is_send || !h->is_in ? 0 : h->all_chunks };
	struct algo_span s;
	bool halves;

	for (x.round = h->first;; x.round++) {
		x.range = range_of(p, h, x.round, is_send);
		x.chunks = algo_chunks(p, x.range, 1);
		if (i < x.base + x.chunks)
			break;
		x.base += x.chunks;
	}
	halves = x.round < h->fold.rounds;
	s = algo_cut(p, x.range, x.chunks, i - x.base);
	algo_set(out,
		is_send	 ? ALGO_SEND
		: halves ? ALGO_ADD
			 : ALGO_RECEIVE,
		algo_fold_member(
			&h->fold, block_of(h, h->block ^ distance(h, x.round))),
		s);
	out->to = p->bytes + s.at;
	/* what comes to be added may not come over what is not added yet */
	if (halves)
		out->after = summed(p, h, x.round, s.at + s.bytes);
	else if (is_send)
		out->after = received(p, h, x.round);
}

static void fold_step(const struct algo_plan *p, const struct halving *h,
	bool is_send, uint64_t chunk, struct algo_step *out)
{
	struct algo_span s = algo_cut(p, h->span, h->all_chunks, chunk);
	bool is_added = !is_send && h->is_in;

	algo_set(out,
		is_send	   ? ALGO_SEND
		: is_added ? ALGO_ADD
			   : ALGO_RECEIVE,
		h->fold.partner, s);
	out->to = p->bytes + s.at;
	if (is_send && h->is_in)
		out->after =
			(struct algo_after){ h->lane, steps_of(p, h, false) };
}

static void halving_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	struct halving h = halving_of(p, member, lane);
	bool is_send = lane % LANES == SENDS;
	uint64_t rounds = is_send ? steps_of(p, &h, true) : 0;

	if (h.fold.is_out)
		fold_step(p, &h, is_send, i, out);
	else if (is_send && i >= rounds)
		fold_step(p, &h, true, i - rounds, out);
	else if (!is_send && h.is_in && i < h.all_chunks)
		fold_step(p, &h, false, i, out);
	else
		round_step(p, &h, is_send, i, out);
}

static int halving_check(const struct algo_plan *p, struct err *e)
{
	if (p->op == ALGO_ALLREDUCE)
		return 0;
	if (p->n & (p->n - 1))
		return err_set(e,
			"algo: halving has %s only for a power of two, not %u "
			"members (want ring)",
			algo_op_names[p->op], p->n);
	if (p->channels > 1)
		return err_set(e,
			"channels: halving has one channel for %s (want 1)",
			algo_op_names[p->op]);
	return 0;
}

const struct algo algo_halving = {
	.name = "halving",
	.help = "recursive halving, then doubling",
	.ops = 1u << ALGO_ALLREDUCE | 1u << ALGO_REDUCESCATTER |
	       1u << ALGO_ALLGATHER,
	.lanes = LANES,
	.spaces = 1,
	.cuts = 64,
	.check = halving_check,
	.count = halving_count,
	.step = halving_step,
};
