/*
 * Writes with a notice: every node writes blocks of growing length into the
 * next node's memory.  The notice is a message that comes with the block, and
 * only after all of its bytes, so the receiver may use them at once.
 */
#include "sw_setup.h"

enum {
	BLOCKS = 12,
	LONGEST = 20 << BLOCKS, /* about; bytes */
	IN = SPACE / 2,
};

struct node {
	weft_time took;
	uint32_t n_right;
};

static uint32_t length(uint32_t block)
{
	return 19u << block;
}

static void write_block(struct sw *s, struct weft_sw_address to, uint32_t block)
{
	static _Thread_local uint8_t bytes[LONGEST];
	struct weft_sw_work w = {
		.to = to,
		.key = s->key,
		.own_key = s->key,
		.at = IN,
		.bytes = length(block),
		.tag = block,
		.flags = WEFT_SW_QUIET,
	};

	fill(bytes, w.bytes, weft_node(), block);
	weft_msg_store(SPACE_AT, bytes, w.bytes);
	must("write", weft_sw_post_write_notify(s->sq, &w));
}

static bool is_right(
	const struct weft_sw_completion *c, uint32_t from, uint32_t block)
{
	static _Thread_local uint8_t want[LONGEST], got[LONGEST];

	fill(want, length(block), from, block);
	weft_msg_load(SPACE_AT + IN, got, length(block));
	return c->kind == WEFT_SW_NOTICE && c->tag == block &&
	       c->bytes == length(block) && c->node == from &&
	       !memcmp(want, got, length(block));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t n = weft_nodes(), me = weft_node(), i;
	struct weft_sw_rq *rq;
	struct weft_sw_address next;
	struct sw s;

	open_sw(&s);
	rq = open_rq(&s, 4, 0x1000, 8);
	next = address(rq, (me + 1) % n);
	weft_msg_barrier(&s.m);
	mine->took = -weft_now();
	for (i = 0; i < BLOCKS; i++) {
		struct weft_sw_completion c;

		write_block(&s, next, i);
		c = await(&s);
		mine->n_right += is_right(&c, (me + n - 1) % n, i);
		/* the block may be overwritten when everyone has looked */
		weft_msg_barrier(&s.m);
	}
	mine->took += weft_now();
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t right = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		right += n[i].n_right;
	snprintf(text, size, "%u blocks of %u to %u B, complete when noticed",
		right, length(0), length(BLOCKS - 1));
	return right == BLOCKS * r->n_nodes;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_notify",
		.help = "Blocks for the next node, each with a notice.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
