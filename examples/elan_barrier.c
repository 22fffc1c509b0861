/*
 * A barrier by global queries.  A node that arrives writes the number of the
 * round to a word of its memory.  The first node queries all nodes at once
 * whether their word is at least this number, until the combined answer is yes,
 * and then notifies all by a broadcast.
 */
#include <errno.h>

#include "elan_setup.h"

enum { ROUNDS = 20 };
enum { HERE = 0x1000, GO = 0x1008, ANSWER = 0x1010 }; /* words */
enum { YES = 1, NO }; /* events, and what they write */

struct node {
	weft_time came[ROUNDS], went[ROUNDS];
	uint32_t n_queries;
};

static bool are_all_here(struct elan_cq *q, uint64_t round)
{
	struct elan_question ask = { .at = HERE,
		.operation = ELAN_AT_LEAST,
		.value = round,
		.yes_event = YES,
		.no_event = NO };
	uint64_t answer = 0;

	elan_store_bytes(ANSWER, &answer, 8);
	must("arm", elan_arm(q, YES, 1, ANSWER, YES));
	must("arm", elan_arm(q, NO, 1, ANSWER, NO));
	must("query", elan_query(q, 0, weft_nodes() - 1, &ask));
	while (!answer && !elan_cq_error(q)) {
		weft_compute(50 * WEFT_NS);
		elan_load_bytes(ANSWER, &answer, 8);
	}
	must("answer", answer ? 0 : EIO);
	return answer == YES;
}

static void barrier(struct elan_cq *q, struct node *mine, uint64_t round)
{
	elan_store_bytes(HERE, &round, 8);
	if (weft_node()) {
		elan_wait_word(GO, round);
		return;
	}
	do
		mine->n_queries++;
	while (!are_all_here(q, round));
	must("go", elan_broadcast(q, 0, weft_nodes() - 1, GO, &round, 8, 0, 0));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), round;
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	weft_wait_until(START);
	for (round = 0; round < ROUNDS; round++) {
		weft_compute((1 + me * 7 % 5 + round * 3 % 4) * 1000 * WEFT_NS);
		mine->came[round] = weft_now();
		barrier(&q, mine, round + 1);
		mine->went[round] = weft_now();
	}
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t i, round, wrong = 0;
	weft_time last, sum = 0;

	for (round = 0; round < ROUNDS; round++) {
		for (last = i = 0; i < r->n_nodes; i++)
			if (n[i].came[round] > last)
				last = n[i].came[round];
		for (i = 0; i < r->n_nodes; i++)
			wrong += n[i].went[round] < last;
		sum += n[0].went[round] - last;
	}
	snprintf(text, size, "%u nodes met %d times, after %.2f us; %u queries",
		r->n_nodes, ROUNDS, (double)sum / ROUNDS / 1e6, n[0].n_queries);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "elan_barrier",
		.help = "Nodes meet by global queries.",
		.interface = "elan",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
