/*
 * Short messages: the first node hands out work to all others and collects
 * their results.  Its queue shows which of its mailboxes has a new message.
 */
#include "gni_setup.h"

enum { ITEMS = 300, AHEAD = 3, CREDIT = 4, SIZE = 32 };
enum { BOXES_AT = 0x10000, BOXES = 0x100000, MOST = 512 /* nodes */ };
enum { WORK = 1, RESULT, END }; /* tags */

struct node {
	uint32_t n_done;
	uint64_t sum;
};

static const gni_smsg_attr_t box = { .msg_type = GNI_SMSG_TYPE_MBOX,
	.msg_buffer = BOXES_AT,
	.mbox_maxcredit = CREDIT,
	.msg_maxsize = SIZE };

static void send(gni_ep_handle_t ep, uint64_t number, uint8_t tag)
{
	gni_return_t code;

	while ((code = GNI_SmsgSendWTag(ep, &number, 8, NULL, 0, 0, tag)) ==
		GNI_RC_NOT_DONE)
		;
	must("send", code);
}

static uint8_t receive(gni_ep_handle_t ep, uint64_t *number)
{
	uint8_t tag = GNI_SMSG_ANY_TAG;
	void *message;

	while (GNI_SmsgGetNextWTag(ep, &message, &tag) == GNI_RC_NOT_DONE)
		;
	memcpy(number, message, 8);
	must("release", GNI_SmsgRelease(ep));
	return tag;
}

static void hand_out(struct gni *g, gni_ep_handle_t *ep, struct node *mine)
{
	uint32_t others = weft_nodes() - 1, node;
	uint64_t result, n;

	for (n = 0; n < AHEAD * others && n < ITEMS; n++)
		send(ep[1 + n % others], n, WORK);
	for (mine->n_done = 0; mine->n_done < ITEMS; mine->n_done++) {
		node = GNI_CQ_GET_REM_INST_ID(await(g->came));
		receive(ep[node], &result);
		mine->sum += result;
		if (n < ITEMS)
			send(ep[node], n++, WORK);
	}
	for (node = 1; node <= others; node++)
		send(ep[node], 0, END);
}

static void work(gni_ep_handle_t ep, struct node *mine)
{
	uint64_t number;

	for (; receive(ep, &number) == WORK; mine->n_done++) {
		weft_compute((1 + number % 5) * 1000 * WEFT_NS);
		send(ep, number * 3, RESULT);
	}
}

static void run(void *arg)
{
	gni_ep_handle_t ep[MOST];
	struct gni g;

	open_gni(&g, BOXES_AT, BOXES);
	if (weft_node()) {
		work(open_box(&g, 0, box), arg);
	} else {
		for (uint32_t i = 1; i < weft_nodes(); i++)
			ep[i] = open_box(&g, i, box);
		hand_out(&g, ep, arg);
	}
	weft_msg_fini(&g.m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	snprintf(text, size, "%u nodes did %u items, the last one %u of them",
		r->n_nodes - 1, n->n_done, n[r->n_nodes - 1].n_done);
	return n->sum == UINT64_C(3) * ITEMS * (ITEMS - 1) / 2;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "gni_smsg",
		.help = "A node hands out work by short messages.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
