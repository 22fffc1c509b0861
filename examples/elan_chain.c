/*
 * A block goes round all nodes, from card to card: on every node, an event that
 * fires when the block has arrived makes the card append a DMA to a command
 * queue, which sends the block on.  Each program arms its event and is done;
 * after the first DMA no CPU is involved until the block is back at node 0.
 */
#include "elan_setup.h"

enum { BLOCK = 4000 /* bytes */, BLOCK_AT = 0x10000, FLAG_AT = 0x1000 };
enum { FIRST_AT = 0x20000 }; /* node 0 sends it from here */
enum { HERE = 1 };

struct node {
	weft_time armed, back;
	bool is_right;
};

static void fill(uint8_t *block)
{
	for (uint32_t i = 0; i < BLOCK; i++)
		block[i] = (uint8_t)(7 + i * i);
}

static struct elan_dma to_next(void)
{
	return (struct elan_dma){
		.bytes = BLOCK,
		.destination = (weft_node() + 1) % weft_nodes(),
		.from = weft_node() ? BLOCK_AT : FIRST_AT,
		.to = BLOCK_AT,
		.target_event = HERE,
	};
}

/* The card forwards the block when all of it has arrived. */
static void arm_chain(struct elan_cq *q)
{
	uint64_t words[1 + ELAN_DMA_WORDS], page = elan_memory_bytes();
	struct elan_dma d = to_next();
	struct elan_cq chain;

	page += ELAN_PAGE - page % ELAN_PAGE;
	must("open", elan_cq_open(&chain, 1, ELAN_1K, ELAN_MAY_DMA));
	must("map", elan_cq_map(&chain, page));
	must("arm", elan_arm_copy(q, HERE, BLOCK, page, words,
			    8 * elan_dma_words(words, &d)));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint8_t want[BLOCK], got[BLOCK];
	struct elan_dma d = to_next();
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	if (weft_node()) {
		arm_chain(&q);
		mine->armed = weft_now();
		return;
	}
	must("arm", elan_arm(&q, HERE, BLOCK, FLAG_AT, 1));
	fill(want);
	elan_store_bytes(FIRST_AT, want, BLOCK);
	weft_wait_until(START);
	must("dma", elan_dma(&q, &d));
	await(&q, FLAG_AT);
	mine->back = weft_now() - START;
	elan_load_bytes(BLOCK_AT, got, BLOCK);
	mine->is_right = !memcmp(want, got, BLOCK);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	bool is_armed = true;

	for (uint32_t i = 1; i < r->n_nodes; i++)
		is_armed &= n[i].armed < START;
	snprintf(text, size, "round %u nodes in %.1f us, %.2f us a node",
		r->n_nodes, (double)n->back / 1e6,
		(double)n->back / 1e6 / r->n_nodes);
	return n->is_right && is_armed;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "elan_chain",
		.help = "A block goes round all nodes by DMAs that events "
			"start.",
		.interface = "elan",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
