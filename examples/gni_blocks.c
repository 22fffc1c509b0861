/*
 * System software on Gemini: node 0 serves blocks of a file.  Other nodes
 * request them by frames of 1,500 B, like those of IP.  Both are sends to
 * ports, into buffers that their receivers have posted: no node knows an
 * address of another.
 */
#include <weft/kgni.h>

#include "gni_setup.h"

enum { BLOCK = 4096, BLOCKS = 4 /* that each node requests */, FRAME = 1500 };
enum { FRAMES_TO = 1, BLOCKS_TO }; /* ports */
enum { OUT_AT = 0x10000, IN_AT = 0x20000 };

/* A node, the number of a block, and bytes that depend on both. */
static void make(uint32_t *words, uint32_t bytes, uint32_t node, uint32_t block)
{
	words[0] = node;
	words[1] = block;
	for (uint32_t i = 2; i < bytes / 4; i++)
		words[i] = words[i - 1] * 69069 + words[i - 2];
}

static void post(struct gni *g, uint32_t port, uint32_t number)
{
	must("post", kgni_post_buffer(g->nic, port, g->came,
			     IN_AT + number * BLOCK, BLOCK, (uint16_t)number));
}

/* Waits for a send, and reads its buffer. */
static uint32_t take(struct gni *g, uint32_t *words)
{
	gni_cq_entry_t entry = await(g->came);
	uint32_t number = KGNI_GET_BUFFER(entry);

	weft_msg_load(IN_AT + number * BLOCK, words, KGNI_GET_BYTES(entry));
	return number;
}

/* Returns when the bytes have arrived. */
static void send(struct gni *g, uint32_t node, uint32_t port,
	const uint32_t *words, uint32_t bytes)
{
	gni_post_descriptor_t d = { .type = KGNI_POST_SEND,
		.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
		.local_addr = OUT_AT,
		.length = bytes };
	gni_ep_handle_t ep = open_end(g, node);

	weft_msg_store(OUT_AT, words, bytes);
	must("send", kgni_send(ep, port, &d));
	complete(g);
	must("close", GNI_EpDestroy(ep));
}

static void run(void *arg)
{
	uint32_t me = weft_node(), others = weft_nodes() - 1, n, i;
	uint32_t got[BLOCK / 4], want[BLOCK / 4], *n_right = arg;
	struct gni g;

	open_gni(&g, OUT_AT, BLOCK);
	for (i = 0; i < (me ? 1 : others); i++)
		post(&g, me ? BLOCKS_TO : FRAMES_TO, i);
	weft_msg_barrier(&g.m);
	for (n = 0; n < (me ? BLOCKS : others * BLOCKS); n++) {
		make(want, FRAME, me, n);
		if (me)
			send(&g, 0, FRAMES_TO, want, FRAME);
		i = take(&g, got);
		make(want, me ? BLOCK : FRAME, got[0], got[1]);
		*n_right += !memcmp(got, want, me ? BLOCK : FRAME) &&
			    (!me || (got[0] == me && got[1] == n));
		post(&g, me ? BLOCKS_TO : FRAMES_TO, i);
		if (!me) {
			make(want, BLOCK, got[0], got[1]);
			send(&g, got[0], BLOCKS_TO, want, BLOCK);
		}
	}
	weft_msg_fini(&g.m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const uint32_t *n = nodes;
	uint32_t right = 0, all = (r->n_nodes - 1) * BLOCKS;

	for (uint32_t i = 1; i < r->n_nodes; i++)
		right += n[i];
	snprintf(text, size, "%u of %u blocks for %u frames: %.2f us each",
		right, all, n[0], (double)r->end / 1e6 / all);
	return right == all && n[0] == all;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "gni_blocks",
		.help = "A node serves file blocks to all others.",
		.interface = "gni",
		.is_system = true,
		.run = run,
		.node_bytes = sizeof(uint32_t),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
