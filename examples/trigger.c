/*
 * One node starts a reduction of all nodes: it broadcasts a remote get with a
 * descriptor, which every node's message unit then injects.  The programs of
 * the other nodes only wait for the sum.
 */
#include "setup.h"

enum { GET_SUBGROUP = 1, GET_AT = SOURCE_AT + 4096, STARTER = 5 };

struct node {
	double sum;
	weft_time took;
};

/* A broadcast to FIFO 0 of a sub-group of all nodes. */
static MUHWI_Descriptor_t make_trigger(void)
{
	MUSPI_CollectiveRemoteGetDescriptorInfo_t i = {
		.Base = { .Payload_Address = GET_AT,
			.Message_Length = sizeof(MUHWI_Descriptor_t),
			.Torus_FIFO_Map = MU_MAP_USER_COLLECTIVE },
		.Collective = { .Word_Length = 8,
			.Class_Route = SPI_CLASS_WORLD,
			.Misc = MUHWI_PACKET_VIRTUAL_CHANNEL_USER_COMM_WORLD |
				MUHWI_COLLECTIVE_TYPE_BROADCAST },
		.RemoteGet = { .Rget_Inj_FIFO_Id =
				       GET_SUBGROUP * MU_PER_SUBGROUP },
	};
	MUHWI_Descriptor_t d;

	must("trigger", MUSPI_CreateCollectiveRemoteGetDescriptor(&d, &i));
	return d;
}

static void start(MUSPI_InjFifo_t *f)
{
	MUHWI_Descriptor_t sum = make_sum(SPI_CLASS_WORLD, 0, SOURCE_AT,
				   sizeof(double)),
			   d = make_trigger();

	spi_store(GET_AT, &sum, sizeof(sum));
	inject(f, &d);
}

static void run(void *arg)
{
	struct node *mine = arg;
	MUSPI_InjFifoSubGroup_t g, gets;
	MUSPI_InjFifo_t *f = open_injection(&g, 0, false);
	double own = weft_node();

	open_injection(&gets, GET_SUBGROUP, true);
	open_target();
	set_counter(sizeof(double));
	spi_store(SOURCE_AT, &own, sizeof(own));
	weft_wait_until(START);
	if (weft_node() == STARTER % weft_nodes())
		start(f);
	spi_poll(COUNTER_AT, 0);
	mine->took = weft_now() - START;
	spi_load(TARGET_AT, &mine->sum, sizeof(mine->sum));
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *all = nodes;
	double n = r->n_nodes;
	bool is_right = true;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_right &= all[i].sum == n * (n - 1) / 2;
	snprintf(text, size,
		"one descriptor, and %g nodes sum up to %g in %.2f us", n,
		all->sum, (double)all->took / 1000 / WEFT_NS);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "trigger",
		.help = "One node makes all contribute to a sum.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
