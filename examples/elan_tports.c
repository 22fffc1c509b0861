/*
 * Tagged messages, matched by the cards.  Each node sends a block to the next
 * one and a word to node 0, and computes.  The block's receive was posted
 * before: it arrives meanwhile, without a CPU at either end.  The words come
 * early, and wait on node 0's card until it asks for them, whoever sent them.
 */
#include "elan_setup.h"

enum { PORT = 0, QUEUE = 0, HANDLES = 16 };
enum { WORD = 0x100, BLOCK = 0x200, KIND = 0xf00 }; /* tags, and a mask */
enum { BYTES = 1 << 14, FROM = 0x10000, TO = 0x40000, WORDS = 0x80000 };

#define PORT_AT UINT64_C(0x1000000)
static const weft_time WORK = 200000 * WEFT_NS;

struct node {
	weft_time waited; /* after its work */
	uint32_t words;
	bool is_right;
};

static uint8_t byte_of(uint32_t node, uint32_t i)
{
	return (uint8_t)(7 * node + i / 5);
}

static const struct elan_tport_options OPTIONS = {
	.port = PORT, .queue = QUEUE, .handles = HANDLES, .at = PORT_AT
};

static bool has_block(uint32_t node)
{
	bool is_right = true;

	for (uint32_t i = 0; i < BYTES; i++) {
		uint8_t byte;

		elan_load_bytes(TO + i, &byte, 1);
		is_right &= byte == byte_of(node, i);
	}
	return is_right;
}

/* Node 0: a word of each node, in the order in which they came. */
static uint32_t take_words(struct elan_tport *t)
{
	struct elan_tport_status s;
	uint32_t h, n = 0;
	uint64_t word;

	for (uint32_t i = 0; i < weft_nodes(); i++) {
		must("receive", elan_tport_rx_start(t, ELAN_TPORT_ANY, WORD,
					KIND, WORDS, 8, &h));
		must("wait", elan_tport_wait(t, h, &s));
		elan_load_bytes(WORDS, &word, 8);
		n += s.tag == (WORD | s.source) && word == s.source;
	}
	return n;
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), n = weft_nodes(), next = (me + 1) % n;
	uint64_t word = me;
	uint32_t in, out, none;
	struct elan_tport t;

	must("open", elan_tport_open(&t, &OPTIONS));
	for (uint32_t i = 0; i < BYTES; i++)
		elan_store_bytes(FROM + i, &(uint8_t){ byte_of(me, i) }, 1);
	elan_store_bytes(WORDS + 8, &word, 8);
	must("receive", elan_tport_rx_start(&t, (me + n - 1) % n, BLOCK,
				UINT64_MAX, TO, BYTES, &in));
	weft_wait_until(START);
	must("send", elan_tport_tx_start(&t, next, BLOCK, FROM, BYTES, &out));
	must("send",
		elan_tport_tx_start(&t, 0, WORD | me, WORDS + 8, 8, &none));
	weft_wait_until(START + WORK);
	must("wait", elan_tport_wait(&t, in, NULL));
	mine->waited = weft_now() - START - WORK;
	must("wait", elan_tport_wait(&t, out, NULL));
	mine->is_right = has_block((me + n - 1) % n);
	mine->words = me ? 0 : take_words(&t);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	bool is_right = n->words == r->n_nodes;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		is_right &= n[i].is_right && n[i].waited < 200 * WEFT_NS;
	snprintf(text, size, "%u words, blocks of %u B during work", n->words,
		BYTES);
	return is_right;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_tports",
			.help = "Cards match tagged messages while programs "
				"compute.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
