/*
 * Ten barriers by the network: a store to a register enters a barrier, and a
 * load shows that all nodes have entered.  Node 0 then interrupts all others.
 */
#include "setup.h"

enum { ROUNDS = 10, GI = 2 };

struct node {
	weft_time entered, left; /* of the last one */
	weft_time sum; /* spent in barriers */
	weft_time woken;
};

static void meet(struct node *mine)
{
	MUSPI_GIBarrier_t all;

	must("barrier", MUSPI_GIBarrierInit(&all,
				Kernel_GetGlobalBarrierUserClassRouteId()));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		weft_compute((1 + (weft_node() * 7 + i) % 5) * 100 * WEFT_NS);
		mine->entered = weft_now();
		must("wait", MUSPI_GIBarrierEnterAndWait(&all));
		mine->left = weft_now();
		mine->sum += mine->left - mine->entered;
	}
}

/* After ten barriers control is 010 on all nodes, so that bit 001 is free. */
static void interrupt(struct node *mine)
{
	MUSPI_GI_t gi;

	must("interrupt", MUSPI_GIInit(&gi, 0, GI));
	must("enable", Kernel_ConfigureGIInterrupts(
			       0, GI, KERNEL_GI_INTERRUPT_FLAG_ENABLE));
	if (weft_node() == 0) {
		weft_compute(5000 * WEFT_NS);
		must("send", MUSPI_GISend(&gi));
	}
	spi_wait_interrupt(UINT64_C(1) << MU_INT_BARRIER);
	mine->woken = weft_now();
}

static void run(void *arg)
{
	struct node *mine = arg;

	meet(mine);
	interrupt(mine);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	weft_time entered = 0, left = n[0].left, sum = 0;
	weft_time first = n[0].woken, last = 0;
	uint32_t i;

	for (i = 0; i < r->n_nodes; i++) {
		entered = n[i].entered > entered ? n[i].entered : entered;
		left = n[i].left < left ? n[i].left : left;
		first = n[i].woken < first ? n[i].woken : first;
		last = n[i].woken > last ? n[i].woken : last;
		sum += n[i].sum;
	}
	snprintf(text, size,
		"%u nodes meet in %.0f ns, and are interrupted within %.0f ns",
		r->n_nodes, (double)sum / r->n_nodes / ROUNDS / WEFT_NS,
		(double)(last - first) / WEFT_NS);
	return left > entered;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "gi_barrier",
		.help = "Nodes meet by barriers of the network.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
