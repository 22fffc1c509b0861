/*
 * Puts and gets with reply words: every node writes a block to all others and
 * reads one from each of them.  The card adds 1 to a word for every block that
 * has arrived, so a node knows that it has them all by reading that word, and
 * no program handles a message of another.
 */
#include "sw_setup.h"

enum {
	BLOCK = 3000, /* bytes */
	WORDS = 0, /* offsets: reply words of puts and of gets, */
	OWN = 64, /* its own block, */
	PUT = 4096, /* and blocks of others */
	GOT = SPACE / 2,
	STEP = 4096,
};

struct node {
	weft_time took;
	uint32_t n_right;
};

static void transfer(struct sw *s, uint32_t node)
{
	uint32_t me = weft_node();
	struct weft_sw_work put = {
		.to.node = node,
		.key = s->key,
		.own_key = s->key,
		.at = PUT + me % 100 * STEP,
		.own_at = OWN,
		.reply = WORDS,
		.bytes = BLOCK,
		.flags = WEFT_SW_QUIET,
	};
	struct weft_sw_work get = put;

	must("put", weft_sw_post_write_reply(s->sq, &put));
	get.at = OWN;
	get.own_at = GOT + node % 100 * STEP;
	get.reply = WORDS + 8;
	must("get", weft_sw_post_read(s->sq, &get));
}

static bool is_right(uint64_t offset, uint32_t node)
{
	uint8_t want[BLOCK], got[BLOCK];

	fill(want, BLOCK, node, 1);
	weft_msg_load(SPACE_AT + offset, got, BLOCK);
	return !memcmp(want, got, BLOCK);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t n = weft_nodes() < 100 ? weft_nodes() : 100, me = weft_node();
	uint8_t block[BLOCK];
	struct sw s;

	open_sw(&s);
	fill(block, BLOCK, me, 1);
	weft_msg_store(SPACE_AT + OWN, block, BLOCK);
	weft_msg_barrier(&s.m);
	mine->took = -weft_now();
	for (uint32_t i = 1; me < n && i < n; i++) {
		transfer(&s, (me + i) % n);
		/* both blocks of a step, before the queue is full */
		must("replies", weft_sw_wait_reply(s.dev, SPACE_AT + WORDS + 8,
					i, WEFT_SW_FOREVER));
	}
	if (me < n)
		must("replies", weft_sw_wait_reply(s.dev, SPACE_AT + WORDS,
					n - 1, WEFT_SW_FOREVER));
	mine->took += weft_now();
	for (uint32_t i = 0; me < n && i < n; i++)
		mine->n_right += i != me &&
				 is_right(PUT + i * STEP, i) +
						 is_right(GOT + i * STEP, i) ==
					 2;
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	uint32_t n = r->n_nodes < 100 ? r->n_nodes : 100, right = 0;
	const struct node *x = nodes;

	for (uint32_t i = 0; i < n; i++)
		right += x[i].n_right;
	snprintf(text, size, "%u blocks put and as many got, %.2f us a pair",
		right, (double)x[0].took / (n - 1) / 1e6);
	return right == n * (n - 1);
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_put",
		.help = "Blocks for all nodes, counted by reply words.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
