/*
 * Two binary trees (Sanders, Speck and Traeff, Parallel Computing 2009; NCCL
 * since 2.4).  Each has half of the data, and both run at once: a leaf of one
 * is an inner member of the other, so all send and receive equally much.
 * Chunks follow each other up and down.
 *
 * The second tree is the first one (load/coll/tree.h), mirrored or, for an odd
 * number of labels or by a timetable, shifted by one.
 *
 * Broadcasts and reductions: the trees have all members but for the root, which
 * is above both.
 */
#include "load/coll/tree.h"

enum {
	UP_RECEIVES,
	UP_SENDS,
	DOWN_RECEIVES,
	DOWN_SENDS,
	TREE_LANES,
	/* A channel's lanes by a timetable. */
	TURN_RECEIVES = 0,
	TURN_SENDS = 1,
};

#define NONE UINT32_MAX

struct tree {
	uint32_t parent, child[2], n_children; /* members */
	struct algo_span span;
	uint64_t chunks;
	uint32_t lane; /* its first */
};

/* --- labels --- */

static bool is_mirrored(const struct algo_plan *p, uint32_t tree)
{
	return tree && tree_labels(p) % 2 == 0 && !tree_has_turns(p);
}

uint32_t tree_label(const struct algo_plan *p, uint32_t tree, uint32_t m)
{
	uint32_t n = tree_labels(p);

	if (algo_op_has_root(p->op))
		m = algo_turn(m, p->n - 1 - p->root, p->n);
	if (is_mirrored(p, tree))
		return n - 1 - m;
	return tree ? algo_turn(m, n - 1, n) : m;
}

uint32_t tree_member(const struct algo_plan *p, uint32_t tree, uint32_t x)
{
	uint32_t n = tree_labels(p);

	if (is_mirrored(p, tree))
		x = n - 1 - x;
	else if (tree)
		x = algo_turn(x, 1, n);
	return algo_op_has_root(p->op) ? algo_turn(x, p->root + 1, p->n) : x;
}

/* --- trees --- */

static struct tree tree_of(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	uint32_t which = lane / TREE_LANES % TREES, n = tree_labels(p), x;
	struct tree t = {
		.parent = NONE,
		.span = tree_span(p, algo_channel(p, lane), which),
		.lane = lane - lane % TREE_LANES,
	};

	t.chunks = tree_chunks(p);
	if (algo_op_has_root(p->op) && member == p->root) {
		t.child[t.n_children++] = tree_member(p, which, 0);
		return t;
	}
	x = tree_label(p, which, member);
	if (x)
		t.parent = tree_member(p, which, parent_of(x, n));
	else if (algo_op_has_root(p->op))
		t.parent = p->root;
	t.n_children = children_of(x, n, t.child);
	for (uint32_t i = 0; i < t.n_children; i++)
		t.child[i] = tree_member(p, which, t.child[i]);
	return t;
}

static uint64_t tree_count(
	const struct algo_plan *p, uint32_t member, uint32_t lane)
{
	uint32_t first = lane % (TREES * TREE_LANES);
	struct tree t;
	uint64_t above;

	if (tree_has_turns(p))
		return first > TURN_SENDS ? 0
					  : tree_turns_count(p, member,
						    first == TURN_SENDS);
	t = tree_of(p, member, lane);
	above = t.parent == NONE ? 0 : t.chunks;

	switch (lane % TREE_LANES) {
	case UP_RECEIVES:
		return tree_goes_up(p) ? t.n_children * t.chunks : 0;
	case UP_SENDS:
		return tree_goes_up(p) ? above : 0;
	case DOWN_RECEIVES:
		return tree_goes_down(p) ? above : 0;
	default:
		return tree_goes_down(p) ? t.n_children * t.chunks : 0;
	}
}

/* A chunk of all children has been added. */
static struct algo_after all_added(const struct tree *t, uint64_t chunk)
{
	return (struct algo_after){ t->lane + UP_RECEIVES,
		t->n_children * (chunk + 1) };
}

static void tree_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	uint64_t i, struct algo_step *out)
{
	uint32_t kind = lane % TREE_LANES;
	struct tree t;
	bool is_below = kind == UP_RECEIVES || kind == DOWN_SENDS;
	uint32_t which;
	struct algo_span s;
	uint64_t chunk;

	if (tree_has_turns(p)) {
		tree_turns_step(
			p, member, lane - kind, kind == TURN_SENDS, i, out);
		return;
	}
	t = tree_of(p, member, lane);
	chunk = is_below ? i / t.n_children : i;
	which = is_below ? (uint32_t)(i % t.n_children) : 0;
	s = algo_cut(p, t.span, t.chunks, chunk);

	switch (kind) {
	case UP_RECEIVES:
		algo_set(out, ALGO_ADD, t.child[which], s);
		out->to = (1 + which) * p->bytes + s.at;
		break;
	case UP_SENDS:
		algo_set(out, ALGO_SEND, t.parent, s);
		out->after = all_added(&t, chunk);
		break;
	case DOWN_RECEIVES:
		algo_set(out, ALGO_RECEIVE, t.parent, s);
		break;
	default:
		algo_set(out, ALGO_SEND, t.child[which], s);
		if (t.parent != NONE)
			out->after =
				(struct algo_after){ t.lane + DOWN_RECEIVES,
					chunk + 1 };
		else if (tree_goes_up(p))
			out->after = all_added(&t, chunk);
	}
}

const struct algo algo_tree = {
	.name = "tree",
	.help = "two binary trees at once, each with half of the data",
	.ops = 1u << ALGO_ALLREDUCE | 1u << ALGO_BROADCAST | 1u << ALGO_REDUCE,
	.lanes = TREES * TREE_LANES,
	.spaces = 2,
	.cuts = 4096,
	.most_chunk = 64 << 10,
	.count = tree_count,
	.step = tree_step,
	.pace = tree_turns_pace,
};
