/*
 * Ping-pong between node 0 and the last one, by fast short messages and by
 * writes.  A fast short message is gathered from two buffers, and its card
 * reads neither the descriptor nor the bytes from memory.
 */
#include "sw_setup.h"

enum {
	ROUNDS = 50,
	PLACE = 128, /* where the other's message comes, an offset */
	WORD = 8,
};

struct node {
	weft_time fsm, write; /* one way, for all rounds */
	uint64_t n_right;
};

static void send(struct sw *s, uint32_t node, uint64_t number, bool by_fsm)
{
	uint64_t message[2] = { ~number, number };
	struct weft_sw_work w = {
		.to.node = node,
		.key = s->key,
		.own_key = s->key,
		.at = PLACE,
		.bytes = sizeof(message),
		.flags = WEFT_SW_QUIET,
	};
	/* two buffers, in the other order */
	const struct weft_sw_piece pieces[] = { { SPACE_AT, WORD },
		{ SPACE_AT + WORD, WORD } };

	weft_msg_store(SPACE_AT, message, sizeof(message));
	must("send", by_fsm ? weft_sw_post_fsm(s->sq, &w, pieces, 2)
			    : weft_sw_post_write(s->sq, &w));
}

/* The second word is the last to be seen: a message of 16 bytes is one
 * packet, whose bytes appear together. */
static bool receive(struct sw *s, uint64_t number)
{
	uint64_t got[2];

	must("wait", weft_sw_wait_reply(s->dev, SPACE_AT + PLACE + WORD, number,
			     WEFT_SW_FOREVER));
	weft_msg_load(SPACE_AT + PLACE, got, sizeof(got));
	return got[0] == ~number && got[1] == number;
}

static weft_time play(
	struct sw *s, struct node *mine, uint64_t number, bool by_fsm)
{
	uint32_t last = weft_nodes() - 1;
	weft_time start = weft_now();

	for (uint64_t end = number + 2 * ROUNDS; number < end; number += 2) {
		if (!weft_node())
			send(s, last, number, by_fsm);
		mine->n_right += receive(s, number + !weft_node());
		if (weft_node())
			send(s, 0, number + 1, by_fsm);
	}
	return (weft_now() - start) / (2 * ROUNDS);
}

static void run(void *arg)
{
	struct node *mine = arg;
	struct sw s;

	open_sw(&s);
	weft_msg_barrier(&s.m);
	if (!weft_node() || weft_node() == weft_nodes() - 1) {
		mine->fsm = play(&s, mine, 2, true);
		mine->write = play(&s, mine, 2 + 2 * ROUNDS, false);
	}
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes, *last = n + r->n_nodes - 1;

	snprintf(text, size, "one way by FSM %.3f us, by a write %.3f us",
		(double)n->fsm / 1e6, (double)n->write / 1e6);
	return n->n_right + last->n_right == 4 * ROUNDS && n->fsm < n->write;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_fsm",
		.help = "Ping-pong by fast short messages, and by writes.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
