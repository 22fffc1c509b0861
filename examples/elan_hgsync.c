/*
 * Nodes compute for different times and meet, again and again, at the barrier
 * of the network: cards ask each other, and no CPU has a part between the last
 * node's call and the release of all.  In every second round nodes compute once
 * more between entering the barrier and waiting for it.
 */
#include "elan_setup.h"

enum { ROUNDS = 20, QUEUE = 0, AT = 0x1000 };

struct node {
	weft_time came[ROUNDS], went[ROUNDS];
};

static void compute(uint32_t k)
{
	weft_compute((1 + k % 5) * 1000 * WEFT_NS);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), round;
	struct elan_hgsync h;

	must("open", elan_hgsync_open(&h, QUEUE, AT));
	weft_wait_until(START);
	for (round = 0; round < ROUNDS; round++) {
		compute(7 * me + 3 * round);
		mine->came[round] = weft_now();
		if (round % 2) {
			must("start", elan_hgsync_start(&h));
			compute(3 * me);
			must("wait", elan_hgsync_wait(&h));
		} else {
			must("meet", elan_hgsync(&h));
		}
		mine->went[round] = weft_now();
	}
	weft_compute(10000 * WEFT_NS);
	must("close", elan_hgsync_close(&h));
}

static weft_time last_of(const struct node *n, uint32_t n_nodes, uint32_t round)
{
	weft_time last = 0;

	for (uint32_t i = 0; i < n_nodes; i++)
		if (n[i].came[round] > last)
			last = n[i].came[round];
	return last;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t early = 0;
	weft_time sum = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		weft_time last = last_of(n, r->n_nodes, round);

		for (uint32_t i = 0; i < r->n_nodes; i++)
			early += n[i].went[round] < last;
		if (round % 2 == 0)
			sum += n[0].went[round] - last;
	}
	snprintf(text, size,
		"%u nodes met %d times, after %.2f us; %u too early",
		r->n_nodes, ROUNDS, (double)sum / (ROUNDS / 2) / 1e6, early);
	return !early;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_hgsync",
			.help = "Nodes meet at the network's barrier.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
