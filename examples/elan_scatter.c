/*
 * Node 0 has a part of a table for every node.  It sends the address of the
 * table to all nodes by one broadcast that the network copies; then each node
 * gets its part, 512 bytes per packet, and reports by an event that it has it.
 */
#include "elan_setup.h"

enum { PART = 5000 /* bytes */, TABLE_AT = 0x1000000, PART_AT = 0x10000 };
enum { WHERE_AT = 0x1000, FLAGS_AT = 0x2000 };
enum { TOLD = 1, GOT, ALL, EVENTS };

struct node {
	weft_time told, done;
	bool is_right;
};

static void fill(uint8_t *part, uint32_t node)
{
	for (uint32_t i = 0; i < PART; i++)
		part[i] = (uint8_t)(node * 31 + i * i);
}

static uint64_t flag_of(uint32_t event)
{
	return FLAGS_AT + 8 * event;
}

/* Node 0 builds the table and announces it. */
static void tell(struct elan_cq *q)
{
	uint64_t where = TABLE_AT;
	uint8_t part[PART];

	for (uint32_t i = 0; i < weft_nodes(); i++) {
		fill(part, i);
		elan_store_bytes(where + i * PART, part, PART);
	}
	must("broadcast", elan_broadcast(q, 0, weft_nodes() - 1, WHERE_AT,
				  &where, sizeof(where), TOLD, 0));
}

static void get_part(struct elan_cq *q, uint64_t from)
{
	for (uint32_t i = 0, n; i < PART; i += n) {
		n = PART - i < ELAN_PACKET ? PART - i : ELAN_PACKET;
		must("get", elan_get(q, 0, from + i, PART_AT + i, n, GOT));
	}
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint8_t want[PART], got[PART];
	uint64_t where;
	struct elan_cq q;

	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	must("arm", elan_arm(&q, TOLD, sizeof(where), flag_of(TOLD), 1));
	must("arm", elan_arm(&q, GOT, PART, flag_of(GOT), 1));
	must("arm", elan_arm(&q, ALL, weft_nodes(), flag_of(ALL), 1));
	weft_wait_until(START);
	if (!weft_node())
		tell(&q);
	await(&q, flag_of(TOLD));
	mine->told = weft_now() - START;
	elan_load_bytes(WHERE_AT, &where, sizeof(where));
	get_part(&q, where + weft_node() * PART);
	await(&q, flag_of(GOT));
	must("answer", elan_put(&q, 0, 0, NULL, 0, ALL, 0));
	if (!weft_node())
		await(&q, flag_of(ALL));
	mine->done = weft_now() - START;
	fill(want, weft_node());
	elan_load_bytes(PART_AT, got, PART);
	mine->is_right = !memcmp(want, got, PART);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes, *last = n + r->n_nodes - 1;
	uint32_t right = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		right += n[i].is_right;
	snprintf(text, size,
		"%u nodes told after %.2f us, all done after %.1f us", right,
		(double)last->told / 1e6, (double)n->done / 1e6);
	return right == r->n_nodes;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "elan_scatter",
		.help = "A broadcast announces a table to all nodes, which "
			"then get it.",
		.interface = "elan",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
