/*
 * A broadcast by threads on the cards.  A packet appends a command to the next
 * node's command queue, which starts a thread there.  The thread writes a word
 * to its node's memory and sends two such packets.  No CPU is involved:
 * programs only wait for the word.
 */
#include "elan_setup.h"

enum { FORWARD = 1 }; /* the number of the thread's code */
enum { WORD_AT = 0x1000, VALUE = 42 };

static const uint64_t QUEUE_AT = UINT64_C(1) << 48; /* beyond all memory */

struct node {
	weft_time end;
	uint64_t word;
};

/* Starts the same thread at another node. */
static void send(uint32_t node, const uint64_t *reg)
{
	uint64_t word[4 + ELAN_REGISTERS] = {
		elan_word(ELAN_OPEN, node, 0),
		elan_word(ELAN_WRITE, 8 * (1 + ELAN_REGISTERS), 0) |
			ELAN_CLOSES,
		QUEUE_AT,
		elan_word(ELAN_RUN_THREAD, FORWARD, 0),
	};

	memcpy(word + 4, reg, 8 * ELAN_REGISTERS);
	must("append", elan_thread_append(QUEUE_AT, word, 4 + ELAN_REGISTERS));
}

/* On the card: the first register is the word. */
static void forward(const uint64_t *reg)
{
	uint32_t child = 2 * weft_node() + 1, i;

	elan_thread_work(20); /* to find the next nodes */
	for (i = child; i < child + 2 && i < weft_nodes(); i++)
		send(i, reg);
	must("write", elan_thread_write(WORD_AT, reg[0]));
}

static void run(void *arg)
{
	const uint64_t reg[ELAN_REGISTERS] = { VALUE };
	struct node *mine = arg;
	struct elan_cq q, threads;

	must("open", elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_THREAD));
	/* the threads' queue: packets and other threads write to it */
	must("open", elan_cq_open(&threads, 1, ELAN_8K, ELAN_MAY_ALL));
	must("map", elan_cq_map(&threads, QUEUE_AT));
	must("load", elan_thread_load(FORWARD, forward));
	weft_wait_until(START);
	if (!weft_node())
		must("start", elan_thread_start(&q, FORWARD, reg));
	elan_wait_word(WORD_AT, VALUE);
	mine->end = weft_now() - START;
	elan_load_bytes(WORD_AT, &mine->word, 8);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	weft_time last = 0;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++) {
		wrong += n[i].word != VALUE;
		last = n[i].end > last ? n[i].end : last;
	}
	snprintf(text, size, "%u nodes have the word after %.2f us",
		r->n_nodes - wrong, (double)last / 1e6);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "elan_tree",
		.help = "Threads on the cards pass a word down a tree of "
			"nodes.",
		.interface = "elan",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
