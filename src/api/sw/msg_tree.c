#include "api/sw/msg_tree.h"

#include <errno.h>

enum {
	FAN = 8, /* children of a member */
	NUMBERS = 1 << 16, /* of trees */
};

_Static_assert((int)FAN <= (int)WEFT_SW_CHILDREN, "children");

/* --- groups --- */

static struct weft_sw_tree *tree_of(const struct msg_group *g)
{
	return (struct weft_sw_tree *)(uintptr_t)g->own[0];
}

bool msg_trees_has_group(struct msg_state *m, const struct msg_group *g)
{
	(void)m, (void)g;
	return true;
}

/* The leaders' places are numbered by levels: the children of place i are
 * FAN * i + 1 and those behind it. */
static int create(struct msg_state *m, struct msg_group *g, uint32_t number)
{
	struct msg_trees *t = msg_trees(m);
	struct weft_sw_address child[FAN];
	uint64_t first = (uint64_t)FAN * g->place + 1;
	struct weft_sw_tree_options o = {
		.number = number,
		.rank = g->place,
		.parent = { .node = UINT32_MAX },
		.children = child,
		.chain = WEFT_SW_NO_CHAIN,
	};
	struct weft_sw_tree *made = NULL;
	int code;

	if (g->place)
		o.parent = t->address(m, g->leader[(g->place - 1) / FAN]);
	for (; o.n_children < FAN && first + o.n_children < g->n_leaders;
		o.n_children++)
		child[o.n_children] =
			t->address(m, g->leader[first + o.n_children]);
	code = weft_sw_create_tree(
		(struct weft_sw_sq *)t->sq->object.handle, &o, &made);
	g->own[0] = (uintptr_t)made;
	return code;
}

int msg_trees_open_group(struct msg_state *m, struct msg_group *g)
{
	struct msg_trees *t = msg_trees(m);
	uint64_t number = t->next;

	msg_group_agree(m, g, WEFT_MSG_MAX_INT, &number);
	if (number >= NUMBERS)
		return ENOSYS;
	t->next = (uint32_t)number + 1;
	return create(m, g, (uint32_t)number);
}

void msg_trees_close_group(struct msg_state *m, struct msg_group *g)
{
	(void)m;
	weft_sw_destroy_tree(tree_of(g));
}

/* --- collectives --- */

void msg_trees_done(struct msg_state *m, uint32_t word, uint32_t status)
{
	msg_trees(m)->failed = status ? EIO : 0;
	msg_word_arrived(m, word, 1);
}

/* Posts it with an id of the word that its end makes zero, and waits. */
static int perform(
	struct msg_state *m, struct msg_group *g, struct weft_sw_collective *c)
{
	struct weft_msg_done done = { MSG_DONE_WORD, msg_take_word(m), 0 };
	int code;

	for (; !done.index; done.index = msg_take_word(m))
		msg_go_on(m);
	msg_word_expect(m, done.index, 1);
	c->id = MSG_TREES_ID | done.index;
	c->key = msg_trees(m)->key;
	while ((code = weft_sw_post_collective(tree_of(g), c)) == EAGAIN)
		msg_go_on(m);
	if (code) {
		msg_give_word(m, done.index);
		return code;
	}
	weft_msg_wait((struct weft_msg *)m, &done);
	return msg_trees(m)->failed;
}

static struct weft_sw_collective collective(
	const struct msg_state *m, uint64_t from, uint64_t to, uint64_t bytes)
{
	return (struct weft_sw_collective){
		.bytes = (uint32_t)bytes,
		.at = from - m->base,
		.result = to - m->base,
	};
}

int msg_trees_barrier(struct msg_state *m, struct msg_group *g)
{
	struct weft_sw_collective c = { .op = WEFT_SW_BARRIER,
		.result = WEFT_SW_NO_RESULT };

	if (!g)
		return ENOSYS;
	return perform(m, g, &c);
}

int msg_trees_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes)
{
	struct weft_sw_collective c = collective(m, at, at, bytes);

	if (!g || !bytes || bytes > WEFT_SW_MESSAGE)
		return ENOSYS;
	c.op = WEFT_SW_BROADCAST;
	while (c.root < g->n_leaders && g->leader[c.root] != root)
		c.root++;
	return perform(m, g, &c);
}

int msg_trees_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	/* + 1; cards have no unsigned order */
	static const uint8_t ops[WEFT_MSG_REDUCTIONS] = {
		[WEFT_MSG_SUM_DOUBLE] = 1 + WEFT_SW_SUM,
		[WEFT_MSG_SUM_INT] = 1 + WEFT_SW_SUM,
		[WEFT_MSG_MIN_INT] = 1 + WEFT_SW_MIN,
		[WEFT_MSG_MAX_INT] = 1 + WEFT_SW_MAX,
		[WEFT_MSG_AND_BITS] = 1 + WEFT_SW_AND,
		[WEFT_MSG_OR_BITS] = 1 + WEFT_SW_OR,
		[WEFT_MSG_XOR_BITS] = 1 + WEFT_SW_XOR,
		[WEFT_MSG_MIN_DOUBLE] = 1 + WEFT_SW_MIN,
		[WEFT_MSG_MAX_DOUBLE] = 1 + WEFT_SW_MAX,
	};
	bool is_double = op == WEFT_MSG_SUM_DOUBLE ||
			 op == WEFT_MSG_MIN_DOUBLE || op == WEFT_MSG_MAX_DOUBLE;
	struct weft_sw_collective c = collective(m, from, to, 8 * n);

	if (!g || !n || n > WEFT_SW_REDUCED / 8 || !ops[op])
		return ENOSYS;
	c.op = ops[op] - 1u;
	c.type = is_double ? WEFT_SW_FLOAT64 : WEFT_SW_INT64;
	if (root != WEFT_MSG_ANY && root != m->rank)
		c.result = WEFT_SW_NO_RESULT;
	return perform(m, g, &c);
}
