/*
 * Recursive doubling: in round k a member exchanges all of its sum with the one
 * whose place differs in bit k, so few messages are sent, but all of the data
 * each time: log2 n rounds.  Members beyond a power of two are folded (Thakur,
 * Rabenseifner and Gropp, IJHPCA 2005).
 */
#include "load/coll/plan.h"

enum { RECEIVES, SENDS, LANES };

struct doubling {
	struct algo_fold fold;
	struct algo_span span;
	uint64_t chunks;
	uint32_t lane; /* that receives */
	bool is_in;
};

static struct doubling doubling_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct doubling d = {
		.fold = algo_fold(p->n, member),
		.span = algo_cut(
			p, algo_data(p), p->channels, algo_channel(p, lane)),
		.chunks = algo_chunks(p, algo_data(p), p->channels),
		.lane = lane - lane % LANES,
	};

	d.is_in = algo_fold_is_in(&d.fold);
	return d;
}

static uint64_t doubling_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	struct doubling d = doubling_of(p, member, lane);

	return d.fold.is_out ? d.chunks : (d.fold.rounds + d.is_in) * d.chunks;
}

/* Of a member that is folded. */
static void folded_step(const struct doubling *d, bool is_send,
	struct algo_span s, struct algo_step *out)
{
	algo_set(out, is_send ? ALGO_SEND : ALGO_RECEIVE, d->fold.partner, s);
}

static void doubling_step(const struct algo_plan *p, uint32_t member,
	uint32_t lane, uint64_t i, struct algo_step *out)
{
	struct doubling d = doubling_of(p, member, lane);
	uint64_t round = i / d.chunks;
	struct algo_span s = algo_cut(p, d.span, d.chunks, i % d.chunks);
	bool is_send = lane % LANES == SENDS;
	bool is_fold = d.is_in && round == (is_send ? d.fold.rounds : 0);

	if (d.fold.is_out) {
		folded_step(&d, is_send, s, out);
		return;
	}
	if (!is_send)
		round -= d.is_in && !is_fold;
	algo_set(out, is_send ? ALGO_SEND : ALGO_ADD,
		is_fold ? d.fold.partner
			: algo_fold_member(&d.fold, d.fold.place ^ 1u << round),
		s);
	/* all sums of this chunk so far: of the fold, and of earlier rounds */
	if (is_send && i + d.is_in * d.chunks >= d.chunks)
		out->after = (struct algo_after){ d.lane,
			i + 1 - (d.is_in ? 0 : d.chunks) };
	if (is_send)
		return;
	out->to = p->bytes + s.at;
	if (i >= d.chunks)
		out->after = (struct algo_after){ d.lane, i + 1 - d.chunks };
	/* what is sent in this round must have left */
	if (!is_fold)
		out->add_after = (struct algo_after){ d.lane + SENDS,
			i + 1 - (d.is_in ? d.chunks : 0) };
}

const struct algo algo_doubling = {
	.name = "doubling",
	.help = "recursive doubling: few messages, each with all of the data",
	.ops = 1u << ALGO_ALLREDUCE,
	.lanes = LANES,
	.spaces = 1,
	.cuts = 8,
	.count = doubling_count,
	.step = doubling_step,
};
