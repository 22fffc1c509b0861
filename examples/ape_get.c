/*
 * Gets: every node fetches a part of a table that is spread over the GPUs of
 * all nodes into its own host memory, without the programs of other nodes.
 */
#include "ape_setup.h"

enum { PIECE = 10000 /* bytes */, HERE = 0x100000 };

struct node {
	weft_time took;
	uint32_t n_right;
};

static void fill(uint8_t *piece, uint32_t node)
{
	for (uint32_t i = 0; i < PIECE; i++)
		piece[i] = (uint8_t)(7 * node + i * i);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t n = weft_nodes(), table, here;
	static _Thread_local uint8_t piece[PIECE], want[PIECE];
	struct weft_msg m;
	uint64_t at;

	open_ape(&m);
	at = weft_gpu_allocate(0, PIECE);
	fill(piece, weft_node());
	weft_msg_store(HERE, piece, PIECE);
	must("copy", weft_gpu_copy(at, HERE, PIECE));
	table = buffer(at, PIECE);
	here = buffer(HERE, (uint64_t)n * PIECE);
	weft_msg_barrier(&m);
	mine->took = -weft_now();
	for (uint32_t i = 0; i < n; i++)
		must("get", weft_ape_get(&(struct weft_ape_transfer){
				    .node = i,
				    .key = table,
				    .own_key = here,
				    .own_offset = (uint64_t)i * PIECE,
				    .bytes = PIECE,
				    .tag = i,
			    }));
	for (uint32_t i = 0; i < n; i++)
		await(WEFT_APE_GOT);
	mine->took += weft_now();
	for (uint32_t i = 0; i < n; i++) {
		weft_msg_load(HERE + (uint64_t)i * PIECE, piece, PIECE);
		fill(want, i);
		mine->n_right += !memcmp(piece, want, PIECE);
	}
	weft_msg_fini(&m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t right = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		right += n[i].n_right;
	snprintf(text, size, "%u pieces of %d B fetched from GPUs in %.1f us",
		right, PIECE, (double)n[0].took / 1e6);
	return right == r->n_nodes * r->n_nodes;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_get",
		.help = "Every node fetches a table from the GPUs of all.",
		.interface = "ape",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
