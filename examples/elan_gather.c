/*
 * Node 0 gathers a word from every node.  The first of each four nodes has a
 * packet for node 0 prepared in its card's memory, without its data.  The four
 * put their words into it, and with the last one an event makes the card
 * send the packet.  Each program puts its word and is done.
 */
#include "elan_setup.h"

enum { FOUR = 4, WORDS_AT = 0x10000, FLAG_AT = 0x1000, ALL_HERE = 1 };
enum { DATA = 24, EVENT = 96, ROOM = 128 }; /* in the card's memory */

struct node {
	weft_time put, here;
	bool is_right;
};

static uint64_t word_of(uint32_t node)
{
	return 1000 + node;
}

/* Number of nodes that a leader gathers from. */
static uint32_t group(uint32_t leader)
{
	uint32_t left = weft_nodes() - leader;

	return left < FOUR ? left : FOUR;
}

/* A packet of a leader to node 0, and the event that sends it. */
static void prepare(struct elan_cq *q, uint64_t card)
{
	uint64_t words[ELAN_PUT_WORDS], none[FOUR] = { 0 };
	uint32_t me = weft_node(), bytes = 8 * group(me);
	uint64_t page = elan_memory_bytes();
	struct elan_cq sender;
	uint32_t n = elan_put_words(
		words, 0, WORDS_AT + 8 * me, none, bytes, ALL_HERE, 0);

	page += ELAN_PAGE - page % ELAN_PAGE;
	must("open", elan_cq_open(&sender, 1, ELAN_1K, ELAN_MAY_STEN));
	must("map", elan_cq_map(&sender, page));
	must("put", elan_put(q, me, card, words, 8 * n, 0, 0));
	must("arm", elan_arm_copy_from(q, elan_event_at(card + EVENT), bytes,
			    page, card, 8 * n));
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), leader = me - me % FOUR;
	uint64_t card, word = word_of(me);
	struct elan_cq q;

	/* at the same address on all cards */
	must("card", elan_card_alloc(ROOM, &card));
	must("open", elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL));
	if (me == leader)
		prepare(&q, card);
	if (!me)
		must("arm",
			elan_arm(&q, ALL_HERE, 8 * weft_nodes(), FLAG_AT, 1));
	weft_wait_until(START);
	must("put", elan_put(&q, leader, card + DATA + 8 * (me - leader), &word,
			    8, elan_event_at(card + EVENT), 0));
	mine->put = weft_now() - START;
	if (me)
		return;
	await(&q, FLAG_AT);
	mine->here = weft_now() - START;
	mine->is_right = true;
	for (uint32_t i = 0; i < weft_nodes(); i++) {
		elan_load_bytes(WORDS_AT + 8 * i, &word, 8);
		mine->is_right &= word == word_of(i);
	}
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;

	snprintf(text, size, "%u words in %.2f us, puts took %.2f us",
		r->n_nodes, (double)n->here / 1e6, (double)n->put / 1e6);
	return n->is_right;
}

int main(int argc, char **argv)
{
	return weft_main(argc, argv,
		&(const struct weft_app){ .name = "elan_gather",
			.help = "Cards send what other nodes have put into a "
				"packet.",
			.interface = "elan",
			.run = run,
			.node_bytes = sizeof(struct node),
			.check = check });
}
