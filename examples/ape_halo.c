/*
 * A halo exchange between GPUs: a ring of cells is cut into slabs, one per GPU.
 * In every step the first and last cell of a slab go to its two neighbours, and
 * a kernel replaces each cell by the sum of itself and its neighbours.  Each
 * slab has two copies, which take turns.
 */
#include "ape_setup.h"

enum { CELLS = 16, STEPS = 10, SLAB = CELLS + 2, BYTES = 8 * SLAB };

struct node {
	weft_time took;
	uint64_t cell[CELLS];
};

/* Both copies, and which one is new. */
struct slab {
	uint64_t at;
	uint32_t new;
};

static void relax(void *arg)
{
	const struct slab *s = arg;
	uint64_t old[SLAB], new[SLAB];

	weft_gpu_load(s->at + !s->new *BYTES, old, BYTES);
	for (int i = 1; i <= CELLS; i++)
		new[i] = old[i - 1] + old[i] + old[i + 1];
	weft_gpu_store(s->at + s->new *BYTES + 8, new + 1, 8 * CELLS);
}

/* A cell of the old copy, into a halo of another node's. */
static void send(
	uint32_t node, uint32_t key, const struct slab *s, int from, int to)
{
	must("put", weft_ape_put(&(struct weft_ape_transfer){
			    .node = node,
			    .key = key,
			    .own_key = key,
			    .offset = !s->new *BYTES + 8 * (uint64_t)to,
			    .own_offset = !s->new *BYTES + 8 * (uint64_t)from,
			    .bytes = 8,
		    }));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), n = weft_nodes(), key;
	uint64_t first[SLAB] = { 0 };
	struct weft_msg m;
	struct slab s;

	open_ape(&m);
	s.at = weft_gpu_allocate(0, 2 * BYTES);
	first[1] = me == 0;
	weft_msg_store(0, first, BYTES);
	must("copy", weft_gpu_copy(s.at, 0, BYTES));
	key = buffer(s.at, 2 * BYTES);
	weft_msg_barrier(&m);
	mine->took = -weft_now();
	for (int step = 1; step <= STEPS; step++) {
		s.new = step % 2;
		send((me + 1) % n, key, &s, CELLS, 0);
		send((me + n - 1) % n, key, &s, 1, CELLS + 1);
		await(WEFT_APE_ARRIVED);
		await(WEFT_APE_ARRIVED);
		must("launch", weft_gpu_launch(0, relax, &s, 2000000));
		must("kernel", weft_gpu_wait(0));
		weft_msg_barrier(&m); /* halos may be overwritten */
	}
	mine->took += weft_now();
	must("copy", weft_gpu_copy(0, s.at + s.new *BYTES, BYTES));
	weft_msg_load(8, mine->cell, sizeof(mine->cell));
	weft_msg_fini(&m);
}

/* Each step triples the sum of all cells. */
static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint64_t sum = 0, want = 1;

	for (uint32_t i = 0; i < r->n_nodes * CELLS; i++)
		sum += n[i / CELLS].cell[i % CELLS];
	for (int i = 0; i < STEPS; i++)
		want *= 3;
	snprintf(text, size, "%d steps of %u slabs, %.1f us each", STEPS,
		r->n_nodes, (double)n[0].took / STEPS / 1e6);
	return sum == want;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_halo",
		.help = "A ring of cells, cut into slabs on the nodes' GPUs.",
		.interface = "ape",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
