/*
 * Each node has a queue of items and some threads that take items from it.  The
 * queue is two words: the next item, and the number of items.  The L2 gives
 * each thread a different item, so no lock is needed.  Results go to node 0 in
 * packets; each thread has its own injection FIFO.
 */
#include "setup.h"

enum { ITEMS = 40, THREADS = 15, QUEUE_AT = 0x2000 };

struct node {
	uint32_t per_thread[THREADS + 1];
	weft_time done;
	uint64_t n_results, sum; /* of node 0 */
};

/* The work, which takes longer for some items. */
static uint64_t work(uint64_t item)
{
	weft_compute((weft_time)(1 + item % 7) * 500 * WEFT_NS);
	return item * item;
}

static void worker(void *arg)
{
	struct node *mine = arg;
	MUSPI_InjFifoSubGroup_t group;
	MUSPI_InjFifo_t *fifo = open_injection(&group, weft_thread(), false);
	MUHWI_Descriptor_t result;
	uint64_t item;

	weft_wait_until(START);
	for (;;) {
		item = L2_AtomicLoadIncrementBounded(QUEUE_AT);
		if (item == L2_ATOMIC_EMPTY)
			break;
		result = make_packet(0, work(item), weft_node());
		inject(fifo, &result);
		mine->per_thread[weft_thread()]++;
	}
}

static void collect(struct node *mine)
{
	MUSPI_RecFifoSubGroup_t group;
	MUSPI_RecFifo_t *rec = open_reception(&group);
	spi_packet_t p;

	while (mine->n_results < (uint64_t)ITEMS * weft_nodes()) {
		spi_wait_packet(rec);
		while (MUSPI_getNextPacket(rec, &p)) {
			mine->sum += mu_get(spi_software_bytes(&p.Header), 8);
			mine->n_results++;
		}
		MUSPI_syncRecFifoHwHead(rec);
	}
	mine->done = weft_now() - START;
}

static void run(void *arg)
{
	const uint64_t queue[] = { 0, ITEMS };
	uint32_t i;

	spi_store(QUEUE_AT, queue, sizeof(queue));
	for (i = 1; i <= THREADS; i++)
		if (!weft_spawn(i, worker, arg))
			must("spawn", 1);
	if (weft_node() == 0)
		collect(arg);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint64_t want = 0, i;

	for (i = 0; i < ITEMS; i++)
		want += i * i * r->n_nodes;
	snprintf(text, size, "%llu results of %u nodes after %.1f us",
		(unsigned long long)n->n_results, r->n_nodes,
		(double)n->done / WEFT_NS / 1e3);
	return n->sum == want;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "workqueue",
		.help = "Threads take work by L2 atomics and send the results.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.n_spawned = THREADS,
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
