/*
 * A stream of messages from node 0 to node 1, sent and received one by one by
 * weft/msg.h on any machine; for bench/run, which counts its instructions.  The
 * other nodes do nothing, so the two do not meet them at an end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "weft/msg.h"
#include "weft/program.h"
#include "weft/run.h"

enum { TAG = 1, FROM_AT = 0x100000, TO_AT = 0x200000, MOST_BYTES = 1 << 20 };
enum { COUNT, BYTES, ARGUMENTS };

struct node {
	bool is_right;
};

static uint64_t number(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

static bool accept(const char *const *arguments, char *text, size_t size)
{
	snprintf(text, size, "want a number of messages, and at most %d bytes",
		MOST_BYTES);
	return arguments[COUNT] && arguments[BYTES] && !arguments[ARGUMENTS] &&
	       number(arguments[BYTES]) <= MOST_BYTES;
}

static void run(void *arg)
{
	uint64_t n = number(weft_argument(COUNT));
	uint64_t bytes = number(weft_argument(BYTES));
	struct node *mine = arg;
	struct weft_msg m;
	int code = weft_msg_init(&m, NULL);
	uint32_t rank = code ? 0 : weft_msg_rank(&m);

	for (uint64_t i = 0; i < n && !code; i++)
		code = rank ? weft_msg_receive(&m, 0, TAG, TO_AT, bytes, NULL)
			    : weft_msg_send(&m, 1, TAG, FROM_AT, bytes);
	mine->is_right = !code;
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	bool is_right = n[0].is_right && n[1].is_right;

	(void)r;
	snprintf(text, size, "messages %s", is_right ? "arrived" : "failed");
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sends_bench",
		.help = "Messages from node 0 to node 1.",
		.run = run,
		.node_bytes = sizeof(struct node),
		.n_nodes = 2,
		.check = check,
		.usage = "COUNT BYTES",
		.accept = accept,
	};

	return weft_main(argc, argv, &app);
}
