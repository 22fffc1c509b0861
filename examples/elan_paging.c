/*
 * Virtual memory that nobody pins.  Each node sends a buffer to the next one by
 * a DMA between virtual addresses.  At first the cards know none of the pages:
 * drivers add one after the other, and no call notices it.  The second time all
 * pages are there; before the third one the hosts take the sources' away.
 */
#include "elan_setup.h"

enum { BYTES = 256 << 10, TURNS = 3 };
enum { SENT = 1, HERE = 2 }; /* events */

/* Virtual addresses. */
static const uint64_t FROM = UINT64_C(1) << 63, TO = UINT64_C(3) << 62;

struct node {
	weft_time took[TURNS];
	bool is_right;
};

/* Word i of a node's buffer is i + 1000 * node. */
static bool is_from(uint64_t node)
{
	uint64_t word, i = 0;

	while (i < BYTES / 8 && elan_load_bytes(TO + 8 * i, &word, 8) &&
		word == i + 1000 * node)
		i++;
	return i == BYTES / 8;
}

/* One turn: until the node's bytes are sent, and another's are here. */
static weft_time turn(struct elan_cq *q, uint64_t next, uint64_t flags)
{
	const struct elan_dma d = { .bytes = BYTES,
		.destination = next,
		.from = FROM,
		.to = TO,
		.source_event = SENT,
		.target_event = HERE };
	weft_time from = weft_now();

	must("dma", elan_dma(q, &d));
	await(q, flags);
	await(q, flags + 8);
	return weft_now() - from;
}

static void run(void *arg)
{
	struct elan_vm how = { .bytes = BYTES, .flags = ELAN_VM_DEMAND };
	uint64_t flags = 0x1000, me = weft_node(), n = weft_nodes(), word;
	struct node *mine = arg;
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	how.at = FROM;
	must("vm", elan_vm_alloc(&how, &how.at));
	how.at = TO;
	must("vm", elan_vm_alloc(&how, &how.at));
	for (uint32_t i = 0; i < BYTES / 8; i++) {
		word = i + 1000 * me;
		elan_store_bytes(FROM + 8 * i, &word, 8);
	}
	for (uint32_t i = 0; i < TURNS; i++, flags += 16) {
		if (i == TURNS - 1)
			must("drop", elan_vm_drop(FROM, BYTES));
		must("arm", elan_arm(&q, SENT, 1, flags, 1));
		must("arm", elan_arm(&q, HERE, BYTES, flags + 8, 1));
		weft_wait_until((1 + 20 * i) * START);
		mine->took[i] = turn(&q, (me + 1) % n, flags);
	}
	mine->is_right = is_from((me + n - 1) % n);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t i = 0;

	while (i < r->n_nodes && n[i].is_right)
		i++;
	snprintf(text, size, "new: %.0f us, known: %.0f us, dropped: %.0f us",
		(double)n->took[0] / 1e6, (double)n->took[1] / 1e6,
		(double)n->took[2] / 1e6);
	return i == r->n_nodes;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_paging",
			.help = "DMAs between pages that drivers add.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
