/*
 * Tagged messages, matched by the cards.  Each node sends a block to the next
 * one and a word to node 0, and computes.  The block's receive was posted
 * before: it arrives meanwhile, without a CPU at either end.  The words come
 * early, and wait on node 0's card until it asks for them, whoever sent them.
 */
#include "elan_setup.h"

enum { WORD = 0x100, BLOCK = 0x200, KIND = 0xf00 }; /* tags, and a mask */
enum { BYTES = 1 << 14, FROM = 0x10000, TO = 0x40000, WORDS = 0x80000 };
enum { PORT_AT = 0x1000000 };
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

static bool is_from(const uint8_t *block, uint32_t node)
{
	uint32_t i = 0;

	while (i < BYTES && block[i] == byte_of(node, i))
		i++;
	return i == BYTES;
}

/* Node 0: a word of each node, in the order in which they came. */
static uint32_t take_words(struct elan_tport *t)
{
	const uint64_t *word = weft_map(WORDS, 8);
	struct elan_tport_status s;
	uint32_t h, n = 0;

	for (uint32_t i = 0; i < weft_nodes(); i++) {
		must("receive", elan_tport_rx_start(t, ELAN_TPORT_ANY, WORD,
					KIND, WORDS, 8, &h));
		must("wait", elan_tport_wait(t, h, &s));
		n += s.tag == (WORD | s.source) && *word == s.source;
	}
	return n;
}

static void run(void *arg)
{
	const struct elan_tport_options o = { .handles = 16, .at = PORT_AT };
	uint32_t me = weft_node(), n = weft_nodes(), next = (me + 1) % n;
	uint32_t before = (me + n - 1) % n, in, out, none;
	uint8_t *block = weft_map(FROM, BYTES);
	struct node *mine = arg;
	struct elan_tport t;

	must("open", elan_tport_open(&t, &o));
	for (uint32_t i = 0; i < BYTES; i++)
		block[i] = byte_of(me, i);
	*(uint64_t *)weft_map(WORDS + 8, 8) = me;
	must("receive", elan_tport_rx_start(
				&t, before, BLOCK, UINT64_MAX, TO, BYTES, &in));
	weft_wait_until(START);
	must("send", elan_tport_tx_start(&t, next, BLOCK, FROM, BYTES, &out));
	must("send",
		elan_tport_tx_start(&t, 0, WORD | me, WORDS + 8, 8, &none));
	weft_wait_until(START + WORK);
	must("wait", elan_tport_wait(&t, in, NULL));
	mine->waited = weft_now() - START - WORK;
	must("wait", elan_tport_wait(&t, out, NULL));
	mine->is_right = is_from(weft_map(TO, BYTES), before);
	mine->words = me ? 0 : take_words(&t);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t right = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		right += n[i].is_right && n[i].waited < 200 * WEFT_NS;
	snprintf(text, size, "%u words, %u blocks of %u B during work",
		n->words, right, BYTES);
	return n->words == r->n_nodes && right == r->n_nodes;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_tports",
			.help = "Cards match messages during computation.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
