/*
 * Two nodes, the first and the last, put eight bytes into each other's memory
 * in turn.  The waiting node polls a counter, which the message unit decrements
 * to zero when the bytes are in memory.
 */
#include "setup.h"

enum { ROUNDS = 100 };

struct node {
	weft_time half; /* of a round trip, on average */
	uint32_t n_wrong;
};

static void wait_for(struct node *mine, uint64_t want)
{
	uint64_t got;

	spi_poll(COUNTER_AT, 0);
	set_counter(sizeof(got)); /* for the next one, before we answer */
	spi_load(TARGET_AT, &got, sizeof(got));
	mine->n_wrong += got != want;
}

static void send(MUSPI_InjFifo_t *fifo, uint32_t to, uint64_t word)
{
	MUHWI_Descriptor_t d = make_put(to, SOURCE_AT, sizeof(word), 0);

	spi_store(SOURCE_AT, &word, sizeof(word));
	inject(fifo, &d);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t last = weft_nodes() - 1, i;
	MUSPI_InjFifoSubGroup_t group;
	MUSPI_InjFifo_t *fifo;

	if (weft_node() != 0 && weft_node() != last)
		return;
	set_counter(sizeof(uint64_t));
	open_target();
	fifo = open_injection(&group, 0, false);
	weft_wait_until(START);
	for (i = 0; i < ROUNDS; i++) {
		if (weft_node() == 0) {
			send(fifo, last, i);
			wait_for(mine, ~(uint64_t)i);
		} else {
			wait_for(mine, i);
			send(fifo, 0, ~(uint64_t)i);
		}
	}
	mine->half = (weft_now() - START) / ROUNDS / 2;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes, *last = n + r->n_nodes - 1;

	snprintf(text, size, "%d round trips, %.1f ns one way", ROUNDS,
		(double)n->half / WEFT_NS);
	return n->half > 0 && !n->n_wrong && !last->n_wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "pingpong",
		.help = "Two nodes put eight bytes into each other's memory in "
			"turn.",
		.interface = "spi",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
