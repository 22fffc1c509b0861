/*
 * The nodes as a grid: dimensions A and B are its rows, the others its columns.
 * Each row and each column has its own class route.  All rows compute their
 * sums at once, then all columns add up the sums of the rows.
 */
#include "setup.h"

enum { ROW = 1, COLUMN = 2, ROW_DIMS = 2, SLOT = 64 };

struct node {
	double row, all; /* sums */
	weft_time took;
};

/* Takes a class route and sets it for the nodes that differ from this one in
 * dimensions from one to another. */
static void join(uint32_t route, uint32_t from, uint32_t to)
{
	uint32_t size[WEFT_MAX_DIMS], x[WEFT_MAX_DIMS], dims, i;
	MUSPI_Box_t box = { .low = { 0 } };
	ClassRoute_t r;

	dims = weft_shape(size);
	weft_coordinates(weft_node(), x);
	for (i = 0; i < dims; i++) {
		bool is_long = i >= from && i < to;

		box.low[i] = (uint8_t)(is_long ? 0 : x[i]);
		box.high[i] = (uint8_t)(is_long ? size[i] - 1 : x[i]);
	}
	must("route", MUSPI_BuildNodeClassroute(
			      &box, BGQ_CLASS_INPUT_VC_SUBCOMM, &r));
	must("class", MUSPI_SetClassrouteId(route, &r));
}

/* Sums a slot over the members of a route, into the next slot. */
static double sum(MUSPI_InjFifo_t *f, uint8_t route, double mine)
{
	MUHWI_Descriptor_t d =
		make_sum(route, route * SLOT, SOURCE_AT, sizeof(double));
	double all;

	spi_store(SOURCE_AT, &mine, sizeof(mine));
	set_counter(sizeof(double));
	inject(f, &d);
	spi_poll(COUNTER_AT, 0);
	spi_load(TARGET_AT + route * SLOT, &all, sizeof(all));
	return all;
}

static void run(void *arg)
{
	struct node *mine = arg;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = open_injection(&g, 0, false);

	join(ROW, 0, ROW_DIMS);
	join(COLUMN, ROW_DIMS, WEFT_MAX_DIMS);
	open_target();
	weft_wait_until(START); /* all nodes have set their routes */
	mine->row = sum(f, ROW, weft_node() + 1);
	mine->all = sum(f, COLUMN, mine->row);
	mine->took = weft_now() - START;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	double n = r->n_nodes;
	const struct node *all = nodes;
	bool is_right = true;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_right &= all[i].all == n * (n + 1) / 2;
	snprintf(text, size, "rows have %g to %g, all %g, after %.2f us",
		all[0].row, all[r->n_nodes - 1].row, all->all,
		(double)all->took / 1000 / WEFT_NS);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "planes",
		.help = "Sums over rows and columns, by class routes.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
