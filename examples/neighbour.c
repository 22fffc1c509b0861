/*
 * Every node puts a block into the memory of each of its neighbours, as codes
 * on a grid do with the edges of their domains.  All puts to a node decrement
 * the same counter: at zero, every edge has arrived.
 */
#include "setup.h"

enum { EDGE = 2000 }; /* bytes */

struct node {
	weft_time done;
	uint32_t n_edges, n_wrong;
};

/* The bytes that a node sends in a direction. */
static void fill(uint8_t *edge, uint32_t node, uint32_t direction)
{
	for (uint32_t i = 0; i < EDGE; i++)
		edge[i] = (uint8_t)(node * 31 + direction * 7 + i);
}

/* The neighbour in a direction: 0 up and 1 down dimension 0, ... */
static uint32_t neighbour(uint32_t direction)
{
	uint32_t x[WEFT_MAX_DIMS], size[WEFT_MAX_DIMS], dim = direction / 2;

	weft_shape(size);
	weft_coordinates(weft_node(), x);
	x[dim] += direction % 2 ? size[dim] - 1 : 1;
	return weft_node_at(x);
}

/* The edge that arrived from that neighbour, which sent it in the opposite
 * direction. */
static bool is_right(uint32_t direction)
{
	uint8_t want[EDGE], got[EDGE];

	fill(want, neighbour(direction), direction ^ 1);
	spi_load(TARGET_AT + (direction ^ 1) * EDGE, got, EDGE);
	return !memcmp(want, got, EDGE);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t size[WEFT_MAX_DIMS], n = 2 * weft_shape(size), i;
	MUSPI_InjFifoSubGroup_t group;
	MUSPI_InjFifo_t *fifo;
	uint8_t edge[EDGE];

	for (i = 0; i < n; i++) {
		fill(edge, weft_node(), i);
		spi_store(SOURCE_AT + i * EDGE, edge, EDGE);
		mine->n_edges += size[i / 2] > 1;
	}
	set_counter((uint64_t)mine->n_edges * EDGE);
	open_target();
	fifo = open_injection(&group, 0, false);
	weft_wait_until(START);
	for (i = 0; i < n; i++) {
		MUHWI_Descriptor_t d = make_put(neighbour(i),
			SOURCE_AT + i * EDGE, EDGE, (uint64_t)i * EDGE);

		if (size[i / 2] > 1)
			inject(fifo, &d);
	}
	spi_poll(COUNTER_AT, 0);
	mine->done = weft_now() - START;
	for (i = 0; i < n; i++)
		mine->n_wrong += size[i / 2] > 1 && !is_right(i);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t wrong = 0, i;
	weft_time last = 0;

	for (i = 0; i < r->n_nodes; i++) {
		wrong += n[i].n_wrong;
		last = n[i].done > last ? n[i].done : last;
	}
	snprintf(text, size,
		"%u edges of %d bytes each, all there after %.1f us",
		n->n_edges, EDGE, (double)last / WEFT_NS / 1e3);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "neighbour",
		.help = "Every node exchanges edges with all its neighbours.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
