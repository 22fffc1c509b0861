/*
 * Rank 0 shares out numbers; each node adds up the squares of its part, cards
 * add up these sums, and every node divides its part by that.  Rank 0 collects
 * the quotients.  Threads on the cards copy and add.
 */
#include "elan_setup.h"

enum {
	EACH = 40, /* numbers of a node */
	NUMBERS = 0x10000,
	PART = 0x20000,
	SUM = 0x30000,
	SCALE = 1000000,
};

struct node {
	uint64_t total, wrong, took;
};

static uint64_t number(uint32_t i)
{
	return 7 * (uint64_t)i % 1000;
}

static void store(uint64_t at, uint64_t word)
{
	elan_store_bytes(at, &word, 8);
}

static uint64_t load(uint64_t at)
{
	uint64_t word = 0;

	elan_load_bytes(at, &word, 8);
	return word;
}

static void compute(struct elan_hgroup *g, struct node *mine)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < EACH; i++)
		sum += load(PART + 8 * i) * load(PART + 8 * i);
	store(SUM, sum);
	must("sum", elan_hreduce(g, ELAN_ALL, ELAN_SUM, SUM, SUM, 1));
	mine->total = load(SUM);
	for (uint32_t i = 0; i < EACH; i++)
		store(PART + 8 * i, SCALE * load(PART + 8 * i) / mine->total);
}

static void run(void *arg)
{
	const struct elan_hgroup_options o = {
		.code = 1, .event = 1, .at = 64
	};
	struct node *mine = arg;
	uint32_t n = EACH * elan_ranks();
	struct elan_hgroup g;

	must("open", elan_hgroup_open(&g, &o));
	for (uint32_t i = 0; i < n && !weft_node(); i++)
		store(NUMBERS + 8 * i, number(i));
	weft_wait_until(START);
	must("scatter", elan_hscatter(&g, 0, NUMBERS, PART, 8 * EACH));
	compute(&g, mine);
	must("gather", elan_hgather(&g, 0, PART, NUMBERS, 8 * EACH));
	mine->took = (uint64_t)(weft_now() - START);
	for (uint32_t i = 0; i < n && !weft_node(); i++)
		mine->wrong += load(NUMBERS + 8 * i) !=
			       SCALE * number(i) / mine->total;
	must("close", elan_hgroup_close(&g));
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint64_t sum = 0, others = 0;

	for (uint32_t i = 0; i < EACH * r->n_nodes; i++)
		sum += number(i) * number(i);
	for (uint32_t i = 0; i < r->n_nodes; i++)
		others += n[i].total != sum;
	snprintf(text, size, "%u nodes: %.2f us; %u sums and %u numbers wrong",
		r->n_nodes, (double)n[0].took / 1e6, (unsigned)others,
		(unsigned)n[0].wrong);
	return !others && !n[0].wrong;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_hgroup",
			.help = "Cards share out numbers and add up sums.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
