/*
 * Reductions of 64-bit integers, and gathers.  A reduction goes up a tree of
 * four, in pieces of a packet; threads on the cards combine them.  The result
 * is the root's, or is broadcast.
 *
 * When the root gathers, all others send to its card at once; before that all
 * have come, so that nothing of other rounds takes room there.
 */
#include "api/elan/hgroup.h"

#include <errno.h>

#include "host/program.h"

/* --- reductions --- */

/* Where its words are, for the thread. */
static void set_source(struct hgroup_record *r, uint64_t from, bool is_mine)
{
	r->flags |= is_mine ? HGROUP_IS_AWAITED : 0;
	if (r->bytes <= sizeof(r->word)) {
		r->flags |= HGROUP_IS_HERE;
		elan_load_bytes(from, r->word, r->bytes);
		return;
	}
	/* it must not change until it has been read */
	r->flags |= HGROUP_IS_AWAITED;
	r->word[0] = from;
}

static int reduce_piece(struct elan_hgroup *g, uint32_t root,
	enum elan_reduction op, uint64_t from, uint64_t to, uint32_t n)
{
	bool is_for_all = root == ELAN_ALL;
	struct hgroup_record r = {
		.bytes = 8 * n,
		.part = 8 * n,
		.op = (uint8_t)op,
		.flags = is_for_all ? HGROUP_IS_FOR_ALL : 0,
		.root = is_for_all ? 0 : root,
		.to = to,
	};
	int code =
		is_for_all ? hgroup_begin(g, 0) : hgroup_begin_alone(g, root);

	if (code)
		return code;
	set_source(&r, from, is_for_all || root == elan_rank());
	code = hgroup_tell(g, HGROUP_REDUCE, &r);
	if (!code && r.flags & HGROUP_IS_AWAITED)
		code = hgroup_await(g, HGROUP_DONE);
	if (is_for_all)
		g->ahead = 0;
	return code;
}

int elan_hreduce(struct elan_hgroup *g, uint32_t root, enum elan_reduction op,
	uint64_t from, uint64_t to, uint64_t n)
{
	bool is_for_all = root == ELAN_ALL;
	PROGRAM_CALL(is_for_all ? "elan_hreduce for all, round #"
				: "elan_hreduce to #, round #",
		is_for_all ? g->round + 1 : root, g->round + 1);
	bool is_mine = is_for_all || root == elan_rank();
	int code = cq_may_use(&g->queue);
	uint32_t k;

	if (code)
		return code;
	if ((root >= elan_ranks() && root != ELAN_ALL) ||
		(uint32_t)op >= ELAN_REDUCTIONS || n > UINT32_MAX || from % 8 ||
		(is_mine && to % 8))
		return EINVAL;
	if (n && (!cq_has(from, 8 * n) || (is_mine && !cq_has(to, 8 * n))))
		return EFAULT;
	if (elan_ranks() == 1)
		hgroup_copy(to, from, 8 * n);
	for (uint64_t i = 0; i < n && elan_ranks() > 1 && !code; i += k) {
		k = n - i < HGROUP_WORDS ? (uint32_t)(n - i) : HGROUP_WORDS;
		code = reduce_piece(g, root, op, from + 8 * i, to + 8 * i, k);
	}
	return code;
}

/* --- gathers --- */

static int give(struct elan_hgroup *g, uint32_t root, uint64_t from, uint32_t n)
{
	const struct elan_letter l = {
		.queue = g->input + HGROUP_UP,
		.tag = g->round,
		.from = from,
		.bytes = n,
		.number = (uint16_t)g->round,
	};

	return elan_enqueue(&g->queue, root, &l);
}

static int gather_piece(struct elan_hgroup *g, uint32_t root, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t n)
{
	const struct hgroup_record r = {
		.bytes = n, .to = to, .part = (uint32_t)bytes
	};
	int code = hgroup_agree(g, ELAN_OR, NULL, 0, 0);

	if (!code)
		code = hgroup_begin_alone(g, root);
	if (code || root != elan_rank())
		return code ? code : give(g, root, from, n);
	code = hgroup_tell(g, HGROUP_GATHER, &r);
	return code ? code : hgroup_await(g, HGROUP_DONE);
}

int elan_hgather(struct elan_hgroup *g, uint32_t root, uint64_t from,
	uint64_t to, uint64_t bytes)
{
	PROGRAM_CALL("elan_hgather to #, round #", root, g->round + 1);
	bool is_root = root == elan_rank();
	int code = cq_may_use(&g->queue);
	uint64_t n;

	if (code)
		return code;
	if (root >= elan_ranks() || bytes > UINT32_MAX)
		return EINVAL;
	if (bytes && (!cq_has(from, bytes) ||
			     (is_root && !cq_has(to, elan_ranks() * bytes))))
		return EFAULT;
	if (is_root)
		hgroup_copy(to + root * bytes, from, bytes);
	for (uint64_t i = 0; i < bytes && elan_ranks() > 1 && !code; i += n) {
		n = bytes - i < ELAN_PACKET ? bytes - i : ELAN_PACKET;
		code = gather_piece(
			g, root, from + i, to + i, bytes, (uint32_t)n);
	}
	return code;
}
