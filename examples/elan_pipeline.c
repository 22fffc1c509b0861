/*
 * A chain of nodes: the first one has blocks for all others, and each node
 * forwards a block by a DMA while the next one arrives.  An event for each
 * block reports its arrival, so no node has to ask.
 */
#include "elan_setup.h"

enum { BLOCKS = 64, BLOCK = 16 << 10 /* bytes */ };
enum { FLAGS_AT = 0x1000, BLOCKS_AT = 0x100000 };
enum { SENT = BLOCKS + 1 }; /* the event after those of the blocks */

struct node {
	weft_time end;
	uint32_t n_right;
};

static void fill(uint8_t *block, uint32_t n)
{
	for (uint32_t i = 0; i < BLOCK; i++)
		block[i] = (uint8_t)(n * 7 + i * i);
}

static uint64_t flag_of(uint32_t event)
{
	return FLAGS_AT + 8 * event;
}

static uint64_t block_at(uint32_t n)
{
	return BLOCKS_AT + (uint64_t)n * BLOCK;
}

/* Block n has event n + 1. */
static void pass(struct elan_cq *q, uint32_t n)
{
	struct elan_dma d = { .bytes = BLOCK,
		.destination = weft_node() + 1,
		.from = block_at(n),
		.to = block_at(n),
		.source_event = SENT,
		.target_event = n + 1 };

	must("DMA", elan_dma(q, &d));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), last = weft_nodes() - 1, n;
	uint8_t want[BLOCK], got[BLOCK];
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	for (n = 0; n < BLOCKS; n++) {
		must("arm", elan_arm(&q, n + 1, BLOCK, flag_of(n + 1), 1));
		fill(want, n);
		if (!me)
			elan_store_bytes(block_at(n), want, BLOCK);
	}
	must("arm", elan_arm(&q, SENT, BLOCKS, flag_of(SENT), 1));
	weft_wait_until(START);
	for (n = 0; n < BLOCKS; n++) {
		if (me)
			await(&q, flag_of(n + 1));
		if (me < last)
			pass(&q, n);
	}
	mine->end = weft_now() - START;
	if (me < last)
		await(&q, flag_of(SENT)); /* until then they are read */
	for (n = 0; n < BLOCKS; n++) {
		fill(want, n);
		elan_load_bytes(block_at(n), got, BLOCK);
		mine->n_right += !memcmp(want, got, BLOCK);
	}
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t last = r->n_nodes - 1, wrong = 0;

	for (uint32_t i = 0; i <= last; i++)
		wrong += BLOCKS - n[i].n_right;
	snprintf(text, size, "%d blocks on %u nodes after %.1f us: %.0f MB/s",
		BLOCKS, r->n_nodes, (double)n[last].end / 1e6,
		1e6 * BLOCKS * BLOCK / (double)n[last].end);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "elan_pipeline",
		.help = "Blocks go down a chain of nodes by DMAs.",
		.interface = "elan",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
