/*
 * GPU ping-pong: two nodes put a block from one node's GPU memory into the
 * other's and back, first directly (peer to peer), then through host memory.  A
 * kernel adds one to every word on the way.
 */
#include "ape_setup.h"

enum { ROUNDS = 20, WORDS = 64, BYTES = 8 * WORDS };

struct node {
	weft_time took[2];
	uint64_t last;
};

/* All words of a block become one more. */
static void add_one(void *arg)
{
	uint64_t at = *(uint64_t *)arg, words[WORDS];

	weft_gpu_load(at, words, BYTES);
	for (int i = 0; i < WORDS; i++)
		words[i]++;
	weft_gpu_store(at, words, BYTES);
}

static void play(const struct weft_ape_transfer *t, uint64_t at)
{
	for (int round = 0; round < ROUNDS; round++) {
		if (weft_node() == 0)
			must("put", weft_ape_put(t));
		await(WEFT_APE_ARRIVED);
		must("launch", weft_gpu_launch(0, add_one, &at, 1000000));
		must("kernel", weft_gpu_wait(0));
		if (weft_node() == 1)
			must("put", weft_ape_put(t));
	}
}

static void run(void *arg)
{
	struct node *mine = arg;
	struct weft_ape_transfer t = { .bytes = BYTES };
	struct weft_msg m;
	uint64_t at, words[WORDS];

	open_ape(&m);
	at = weft_gpu_allocate(0, BYTES);
	t.key = t.own_key = buffer(at, BYTES);
	weft_msg_barrier(&m);
	if (weft_node() < 2) {
		t.node = !weft_node();
		for (int way = 0; way < 2; way++) {
			t.way = way ? WEFT_APE_STAGED : WEFT_APE_P2P;
			mine->took[way] = -weft_now();
			play(&t, at);
			mine->took[way] += weft_now();
		}
		must("copy", weft_gpu_copy(0, at, BYTES));
		weft_msg_load(0, words, BYTES);
		mine->last = words[WORDS - 1];
	}
	weft_msg_fini(&m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;

	(void)r;
	snprintf(text, size,
		"%d rounds between GPUs: %.2f us each, staged %.2f us", ROUNDS,
		(double)n[0].took[0] / ROUNDS / 1e6,
		(double)n[0].took[1] / ROUNDS / 1e6);
	return n[0].last == 4 * ROUNDS && n[0].took[0] < n[0].took[1];
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_pingpong",
		.help = "A block goes back and forth between two GPUs.",
		.interface = "ape",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
