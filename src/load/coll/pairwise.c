/*
 * Pairwise exchange: in round t a member sends to the one t places ahead and
 * receives from the one t places behind.  n - 1 rounds, none of which waits for
 * another one.
 */
#include "load/coll/plan.h"

enum { RECEIVES, SENDS, LANES };

static uint64_t chunks_of(const struct algo_plan *p)
{
	/* of several lengths: one message each */
	return p->op == ALGO_ALLTOALLV ? 1
				       : algo_chunks(p, algo_data(p),
						 (uint64_t)p->n * p->channels);
}

/* Of one member's data for another one, or, is_to, of its results. */
static struct algo_span block_of(
	const struct algo_plan *p, uint32_t member, uint32_t other, bool is_to)
{
	const uint64_t *at = is_to ? p->blocks.to : p->blocks.from;

	if (p->op == ALGO_ALLTOALLV) {
		at += member * ((uint64_t)p->n + 1) + other;
		return (struct algo_span){ at[0] + is_to * p->bytes,
			at[1] - at[0] };
	}
	if (p->op == ALGO_ALLGATHER)
		return algo_block(p, algo_data(p), is_to ? other : member);
	return algo_block(
		p, (struct algo_span){ is_to * p->bytes, p->bytes }, other);
}

static uint64_t pairwise_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	uint64_t n = (p->n - 1) * chunks_of(p);

	(void)member;
	/* its own block is copied */
	return n + (lane % LANES == SENDS && p->op != ALGO_ALLGATHER);
}

static struct algo_span part_of(const struct algo_plan *p, uint32_t lane,
	struct algo_span block, uint64_t chunk)
{
	block = algo_cut(p, block, p->channels, algo_channel(p, lane));
	return algo_cut(p, block, chunks_of(p), chunk);
}

static void pairwise_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	bool is_send = lane % LANES == SENDS;
	uint64_t chunks = chunks_of(p);
	uint32_t t = (uint32_t)(i / chunks) + 1, peer;

	if (is_send && t == p->n) {
		struct algo_span to = block_of(p, member, member, true);
		uint32_t channel = algo_channel(p, lane);

		algo_set(out, ALGO_COPY, member,
			algo_cut(p, block_of(p, member, member, false),
				p->channels, channel));
		out->to = algo_cut(p, to, p->channels, channel).at;
		return;
	}
	peer = algo_turn(member, is_send ? t : p->n - t, p->n);
	algo_set(out, is_send ? ALGO_SEND : ALGO_RECEIVE, peer,
		part_of(p, lane, block_of(p, member, peer, !is_send),
			i % chunks));
}

const struct algo algo_pairwise = {
	.name = "pairwise",
	.help = "each member exchanges with every other one directly",
	.ops = 1u << ALGO_ALLTOALL | 1u << ALGO_ALLTOALLV |
	       1u << ALGO_ALLGATHER,
	.lanes = LANES,
	.spaces = 1,
	.cuts_each = 1,
	.count = pairwise_count,
	.step = pairwise_step,
};
