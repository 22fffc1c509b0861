/*
 * An Allreduce with trees of one's own: the cards add the numbers of all nodes,
 * up a tree that the program has chosen, and spread the sum.  Sums of floating
 * point numbers depend on the tree's order, and on nothing else: the same tree
 * gives the same bits every time, whoever comes last.
 */
#include "sw_setup.h"

enum { ROUNDS = 10, WIDE = 16, NARROW = 2, MINE = 0, SUM = 64 };

struct node {
	weft_time took[2]; /* by the wide tree, and by the narrow one */
	double sum[2];
	bool is_same;
};

static struct weft_sw_address member(struct sw *s, uint32_t node)
{
	struct weft_sw_queue q;

	must("query", weft_sw_query_sq(s->sq, &q));
	q.address.node = node;
	return q.address;
}

/* Node r has children fan * r + 1, fan * r + 2, and so on. */
static struct weft_sw_tree *join(struct sw *s, uint32_t fan)
{
	uint32_t me = weft_node(), first = fan * me + 1;
	struct weft_sw_address child[WIDE];
	struct weft_sw_tree_options o = {
		.number = fan,
		.rank = me,
		.parent = member(s, me ? (me - 1) / fan : UINT32_MAX),
		.children = child,
		.chain = WEFT_SW_NO_CHAIN,
	};
	struct weft_sw_tree *t;

	for (; o.n_children < fan && first < weft_nodes(); first++)
		child[o.n_children++] = member(s, first);
	must("tree", weft_sw_create_tree(s->sq, &o, &t));
	return t;
}

static double add(struct sw *s, struct weft_sw_tree *t, double mine)
{
	struct weft_sw_collective c = {
		.op = WEFT_SW_SUM,
		.type = WEFT_SW_FLOAT64,
		.bytes = sizeof(mine),
		.key = s->key,
		.at = MINE,
		.result = SUM,
	};

	weft_msg_store(SPACE_AT + MINE, &mine, sizeof(mine));
	must("collective", weft_sw_post_collective(t, &c));
	await(s);
	weft_msg_load(SPACE_AT + SUM, &mine, sizeof(mine));
	return mine;
}

static void run(void *arg)
{
	struct node *mine = arg;
	struct weft_sw_tree *tree[2];
	double x = 1e15 / (1 + weft_node() * weft_node());
	struct sw s;

	open_sw(&s);
	tree[0] = join(&s, WIDE);
	tree[1] = join(&s, NARROW);
	mine->is_same = true;
	for (uint32_t i = 0; i < 2; i++) {
		weft_msg_barrier(&s.m);
		mine->sum[i] = add(&s, tree[i], x);
		mine->took[i] = -weft_now();
		for (uint32_t k = 0; k < ROUNDS; k++)
			mine->is_same &= add(&s, tree[i], x) == mine->sum[i];
		mine->took[i] += weft_now();
	}
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	bool is_right = true;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_right &= n[i].is_same && n[i].sum[0] == n[0].sum[0] &&
			    n[i].sum[1] == n[0].sum[1];
	snprintf(text, size, "16 children a node: %.2f us, 2: %.2f us a sum",
		(double)n->took[0] / ROUNDS / 1e6,
		(double)n->took[1] / ROUNDS / 1e6);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_allreduce",
		.help = "Sums by the cards, along two trees.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
