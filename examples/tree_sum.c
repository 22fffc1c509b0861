/*
 * The sum of a vector over all nodes by the collective network: every node
 * injects one descriptor for class route 0, and the routers add up the doubles.
 */
#include "setup.h"

enum { WORDS = 1000 };

struct node {
	weft_time took;
	double first, last; /* of the sum */
};

static void run(void *arg)
{
	struct node *mine = arg;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = open_injection(&g, 0, false);
	MUHWI_Descriptor_t d =
		make_sum(SPI_CLASS_WORLD, 0, SOURCE_AT, WORDS * sizeof(double));
	double *source = weft_map(SOURCE_AT, WORDS * sizeof(double));
	double *target = weft_map(TARGET_AT, WORDS * sizeof(double));

	for (uint32_t i = 0; i < WORDS; i++)
		source[i] = weft_node() + i / 1024.0;
	open_target();
	set_counter(WORDS * sizeof(double));
	weft_wait_until(START);
	inject(f, &d);
	spi_poll(COUNTER_AT, 0); /* all have contributed */
	mine->took = weft_now() - START;
	mine->first = target[0];
	mine->last = target[WORDS - 1];
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	double n = r->n_nodes, first = n * (n - 1) / 2;
	const struct node *all = nodes;
	bool is_right = true;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_right &= all[i].first == first &&
			    all[i].last == first + n * (WORDS - 1) / 1024.0;
	snprintf(text, size,
		"the sums of %d doubles begin with %g, after %.2f us", WORDS,
		all->first, (double)all->took / 1000 / WEFT_NS);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "tree_sum",
		.help = "The sum of a vector by the collective network.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
