/*
 * Puts by fast memory access: blocks go round all nodes.  Each node puts its
 * block into the memory of the next one; an event there reports the arrival,
 * and a local event the completion.  Each round has its own buffer, so no block
 * is overwritten before it was passed on.
 */
#include "gni_setup.h"

enum { ROUNDS = 20, BLOCK = 1000 /* bytes */, PLACE = 1024 };
enum { SEGMENT_AT = 0x10000, SEGMENT = (ROUNDS + 1) * PLACE };

struct node {
	weft_time took;
	uint32_t n_right;
};

static uint64_t place(uint32_t round)
{
	return SEGMENT_AT + (uint64_t)round * PLACE;
}

static void put(
	const struct peer *next, gni_post_descriptor_t *d, uint32_t round)
{
	*d = (gni_post_descriptor_t){
		.type = GNI_POST_FMA_PUT,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT,
		.local_addr = place(round),
		.remote_addr = place(round + 1),
		.remote_mem_hndl = next->mem,
		.length = BLOCK,
	};
	must("put", GNI_PostFma(next->ep, d));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), n = weft_nodes(), round;
	uint8_t want[BLOCK], got[BLOCK];
	gni_post_descriptor_t d;
	struct peer next;
	struct gni g;

	open_gni(&g, SEGMENT_AT, SEGMENT);
	next = meet(&g, (me + 1) % n, (me + n - 1) % n);
	fill(got, BLOCK, me);
	weft_msg_store(place(0), got, BLOCK);
	weft_msg_barrier(&g.m);
	mine->took = -weft_now();
	for (round = 0; round < ROUNDS; round++) {
		put(&next, &d, round);
		await(g.came); /* the block of the node before */
		complete(&g); /* and our own block has arrived */
		weft_msg_load(place(round + 1), got, BLOCK);
		fill(want, BLOCK, (me + n * ROUNDS - round - 1) % n);
		mine->n_right += !memcmp(want, got, BLOCK);
	}
	mine->took += weft_now();
	weft_msg_fini(&g.m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		wrong += ROUNDS - n[i].n_right;
	snprintf(text, size,
		"%d blocks of %d B passed on by %u nodes, %.2f us"
		" each",
		ROUNDS, BLOCK, r->n_nodes, (double)n[0].took / ROUNDS / 1e6);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "gni_put",
		.help = "Blocks go round all nodes by FMA and events.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
