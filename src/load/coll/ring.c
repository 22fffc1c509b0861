/*
 * Rings.  All-reduce is reduce-scatter and all-gather (Patarasuk and Yuan,
 * JPDC 2009): in each of 2 (n - 1) rounds a member sends one of n blocks to its
 * neighbour.  Broadcasts and reductions go along a chain from or to the root.
 *
 * Each channel of a ring leaves a unit by another member, so that units of
 * several cards use them all.
 */
#include "load/coll/plan.h"

enum { RECEIVES, SENDS, LANES };

/* --- blocks that go round --- */

static struct algo_ring ring_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct algo_ring r = {
		.n = p->n,
		.unit = p->unit,
		.span = algo_data(p),
		.channel = algo_channel(p, lane),
		.channels = p->channels,
		.first = p->op == ALGO_ALLGATHER ? p->n - 1 : 0,
		.end = p->op == ALGO_REDUCESCATTER ? p->n - 1 : 2 * (p->n - 1),
		.lane = lane - lane % LANES,
		.space = p->bytes,
	};
	uint32_t first = member - member % p->unit;

	r.turn = r.channel % p->unit;
	r.place = first + (member - first + p->unit - r.turn) % p->unit;
	r.next = algo_ring_at(&r, algo_turn(r.place, 1, p->n));
	r.prev = algo_ring_at(&r, algo_turn(r.place, p->n - 1, p->n));
	r.chunks = algo_chunks(p, r.span, (uint64_t)p->n * p->channels);
	return r;
}

/* --- a chain --- */

struct chain {
	uint64_t chunks;
	struct algo_span span;
	uint32_t next, prev;
	bool is_first, is_last;
};

static struct chain chain_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct algo_ring r = ring_of(p, member, lane);
	bool is_root = member == p->root;
	struct chain c = {
		.chunks = algo_chunks(p, r.span, p->channels),
		.span = algo_cut(p, r.span, p->channels, r.channel),
		.next = r.next,
		.prev = r.prev,
	};

	if (p->op == ALGO_BROADCAST) {
		c.is_first = is_root;
		c.is_last = r.next == p->root;
	} else {
		c.is_first = r.prev == p->root;
		c.is_last = is_root;
	}
	return c;
}

static void chain_step(const struct algo_plan *p, const struct chain *c,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	struct algo_span s = algo_cut(p, c->span, c->chunks, i);

	if (lane % LANES == RECEIVES) {
		algo_set(out, p->op == ALGO_REDUCE ? ALGO_ADD : ALGO_RECEIVE,
			c->prev, s);
		out->to = p->bytes + s.at;
		return;
	}
	algo_set(out, ALGO_SEND, c->next, s);
	if (!c->is_first)
		out->after = (struct algo_after){ lane - SENDS, i + 1 };
}

/* --- the algorithm --- */

static uint64_t ring_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct algo_ring r;
	struct chain c;

	if (algo_op_has_root(p->op)) {
		c = chain_of(p, member, lane);
		return (lane % LANES == SENDS ? c.is_last : c.is_first)
			       ? 0
			       : c.chunks;
	}
	r = ring_of(p, member, lane);
	return algo_ring_count(&r);
}

static void ring_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out)
{
	struct algo_ring r;
	struct chain c;

	if (algo_op_has_root(p->op)) {
		c = chain_of(p, member, lane);
		chain_step(p, &c, lane, i, out);
		return;
	}
	r = ring_of(p, member, lane);
	algo_ring_step(p, &r, lane % LANES == SENDS, i, out);
}

const struct algo algo_ring = {
	.name = "ring",
	.help = "blocks go round a ring of all members",
	.ops = 1u << ALGO_ALLREDUCE | 1u << ALGO_REDUCESCATTER |
	       1u << ALGO_ALLGATHER | 1u << ALGO_BROADCAST | 1u << ALGO_REDUCE,
	.lanes = LANES,
	.spaces = 1,
	.cuts_each = 4,
	.has_unit = true,
	.count = ring_count,
	.step = ring_step,
};
