/* Blocks stream from one node into the memory of another node's GPU, whose
 * kernel adds up one block while the next ones arrive; the receiver reports
 * free buffers. */
#include "ape_setup.h"

enum { BLOCKS = 24, PLACES = 4, WORDS = 8192, BYTES = 8 * WORDS };
#define TAKES (40000 * WEFT_NS) /* for a block */

struct node {
	uint64_t sum;
	weft_time first, took; /* until a block, and until all, had arrived */
};

struct place {
	uint64_t at;
	struct node *mine;
};

static void add_up(void *arg)
{
	const struct place *p = arg;

	for (uint64_t i = 0, word; i < WORDS; i++)
		if (weft_gpu_load(p->at + 8 * i, &word, 8))
			p->mine->sum += word;
}

static void produce(struct weft_ape_transfer t, struct events *x)
{
	uint64_t words[64];

	for (uint32_t i = 0; i < BLOCKS; i++) {
		t.own_offset = t.offset = i % PLACES * BYTES;
		while (i >= PLACES &&
			(x->arrived[0] + PLACES <= i || x->done + PLACES <= i))
			take_event(x);
		for (uint32_t k = 0; k < WORDS; k++) {
			words[k % 64] = mix(i, k);
			if (k % 64 == 63)
				weft_msg_store(t.own_offset + 8 * (k - 63),
					words, sizeof(words));
		}
		must("put", weft_ape_put(&t));
	}
}

static void consume(struct weft_ape_transfer t, struct events *x, uint64_t at,
	struct node *mine)
{
	weft_time begun = weft_now();

	t.bytes = 0;
	for (uint32_t i = 0; i < BLOCKS; i++) {
		struct place p = { at + i % PLACES * BYTES, mine };

		while (x->arrived[0] <= i)
			take_event(x);
		mine->first = i ? mine->first : weft_now() - begun;
		must("launch", weft_gpu_launch(0, add_up, &p, TAKES));
		must("kernel", weft_gpu_wait(0));
		must("put", weft_ape_put(&t));
	}
	mine->took = weft_now() - begun;
}

static void run(void *arg)
{
	struct weft_ape_transfer t = {
		.node = !weft_node(), .bytes = BYTES, .way = way()
	};
	uint64_t at = weft_gpu_allocate(0, PLACES * BYTES);
	struct events x = { 0 };
	struct weft_msg m;

	open_ape(&m);
	t.bytes = BYTES;
	t.own_key = buffer(0, PLACES * BYTES);
	t.key = buffer(at, PLACES * BYTES);
	weft_msg_barrier(&m);
	if (weft_node() < 2)
		weft_node() ? consume(t, &x, at, arg) : produce(t, &x);
	weft_msg_fini(&m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	double serial = BLOCKS * (double)(n[1].first + TAKES);
	uint64_t sum = 0;

	(void)r;
	for (uint32_t i = 0; i < BLOCKS * WORDS; i++)
		sum += mix(i / WORDS, i % WORDS);
	snprintf(text, size, "%d blocks in %.1f us, one by one in %.1f", BLOCKS,
		(double)n[1].took / 1e6, serial / 1e6);
	return n[1].sum == sum && (double)n[1].took < 0.75 * serial;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ape_stream",
		.help = "A stream into a GPU whose kernel consumes it.",
		.interface = "ape",
		.usage = "[p2p|staged]",
		.accept = accept_way,
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
