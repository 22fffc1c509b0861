/*
 * A sum with a NaN: every node gets an interrupt, and the result shows the
 * position of the NaN.  A sum without a NaN interrupts no node.
 */
#include <math.h>

#include "setup.h"

enum { WORDS = 8, SICK = 3 }; /* the node, and its word, that has the NaN */

struct node {
	uint64_t bits[WORDS]; /* of the sum */
	bool is_early; /* interrupted by the good sum */
	weft_time woken, came; /* the interrupt; the sum */
};

/* Waits for the interrupt while another program waits for the sum. */
static void wait_for_exception(void *arg)
{
	struct node *mine = arg;

	spi_wait_interrupt(UINT64_C(1) << MU_INT_EXCEPTION);
	mine->woken = weft_now();
}

static void sum(MUSPI_InjFifo_t *f, uint32_t from)
{
	MUHWI_Descriptor_t d =
		make_sum(SPI_CLASS_WORLD, 0, from, WORDS * sizeof(double));

	set_counter(WORDS * sizeof(double));
	inject(f, &d);
	spi_poll(COUNTER_AT, 0);
}

static void run(void *arg)
{
	struct node *mine = arg;
	MUSPI_InjFifoSubGroup_t g;
	MUSPI_InjFifo_t *f = open_injection(&g, 0, false);
	double *x = weft_map(SOURCE_AT, WORDS * sizeof(double));
	Kernel_Errors_t errors;

	for (uint32_t i = 0; i < WORDS; i++)
		x[i] = i;
	open_target();
	must("spawn", !weft_spawn(1, wait_for_exception, mine));
	weft_wait_until(START);
	sum(f, SOURCE_AT);
	Kernel_GetErrors(&errors);
	mine->is_early = errors.Status >> MU_INT_EXCEPTION & 1;
	if (weft_node() == SICK)
		x[SICK] = NAN;
	sum(f, SOURCE_AT);
	mine->came = weft_now();
	spi_load(TARGET_AT, mine->bits, sizeof(mine->bits));
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *all = nodes;
	weft_time last = 0; /* of all interrupts, after the sum */
	bool is_right = true;
	uint32_t i, k;

	for (i = 0; i < r->n_nodes; i++) {
		double good[WORDS];

		memcpy(good, all[i].bits, sizeof(good));
		for (k = 0; k < WORDS; k++)
			is_right &=
				k == SICK ? all[i].bits[k] ==
						    UINT64_C(0x7ff4000000000000)
					  : good[k] == (double)k * r->n_nodes;
		is_right &= !all[i].is_early && all[i].woken;
		if (all[i].woken - all[i].came > last)
			last = all[i].woken - all[i].came;
	}
	snprintf(text, size,
		"word %d is 0x%llx, and %u nodes are interrupted within %.0f "
		"ns",
		SICK, (unsigned long long)all->bits[SICK], r->n_nodes,
		(double)last / WEFT_NS);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "exception",
		.help = "A sum with a NaN interrupts all nodes.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.n_spawned = 1,
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
