/*
 * A rendezvous: the receiver fetches long messages.  Each node sends the
 * position of a message to the next one, as a value in its queue.  The receiver
 * gets all parts of it by block transfers, which end in any order.  With a
 * fence, the number of received messages is written back after all of them.
 */
#include "gni_setup.h"

enum { MESSAGES = 5, PARTS = 4, PART = 8 << 10, MESSAGE = PARTS * PART };
enum { TAKEN_AT = 0x10000, OUT_AT = 0x20000, IN_AT = 0x80000 };
enum { SEGMENT_AT = TAKEN_AT, SEGMENT = 0x100000 };

struct node {
	weft_time took;
	uint32_t n_right;
	uint8_t want[MESSAGE], got[MESSAGE];
};

/* Offers message n, after the previous one was fetched. */
static void offer(const struct peer *next, const uint8_t *message, uint32_t n)
{
	gni_post_descriptor_t d = { .type = GNI_POST_CQWRITE,
		.remote_mem_hndl = next->mem,
		.cqwrite_value = OUT_AT };
	uint64_t taken;

	while (weft_msg_load(TAKEN_AT, &taken, 8) && taken != n)
		weft_compute(100 * WEFT_NS);
	weft_msg_store(OUT_AT, message, MESSAGE);
	must("offer", GNI_PostCqWrite(next->ep, &d));
}

/* Gets message n of the previous node, and reports that to it. */
static void fetch(struct gni *g, const struct peer *last, uint64_t n)
{
	uint64_t from = GNI_CQ_GET_DATA(await(g->came));
	gni_post_descriptor_t d[PARTS + 1];

	weft_msg_store(TAKEN_AT + 8, &n, 8);
	for (uint32_t i = 0; i <= PARTS; i++) {
		bool is_part = i < PARTS;
		d[i] = (gni_post_descriptor_t){
			.type = is_part ? GNI_POST_RDMA_GET : GNI_POST_RDMA_PUT,
			.cq_mode = GNI_CQMODE_GLOBAL_EVENT,
			.rdma_mode = i == PARTS - 1 ? GNI_RDMAMODE_FENCE : 0,
			.local_addr = is_part ? IN_AT + i * PART : TAKEN_AT + 8,
			.local_mem_hndl = g->mem,
			.remote_addr = is_part ? from + i * PART : TAKEN_AT,
			.remote_mem_hndl = last->mem,
			.length = is_part ? PART : 8
		};
		must("transfer", GNI_PostRdma(last->ep, &d[i]));
	}
	for (n = 0; n <= PARTS; n++)
		complete(g);
}

static void run(void *arg)
{
	struct node *mine = arg;
	uint32_t me = weft_node(), all = weft_nodes(), n;
	uint32_t before = (me + all - 1) % all, after = (me + 1) % all;
	struct peer next, last;
	struct gni g;

	open_gni(&g, SEGMENT_AT, SEGMENT);
	next = meet(&g, after, before);
	last = meet(&g, before, after);
	mine->took = -weft_now();
	for (n = 0; n < MESSAGES; n++) {
		fill(mine->want, MESSAGE, me + n * all);
		offer(&next, mine->want, n);
		fetch(&g, &last, n + 1);
		fill(mine->want, MESSAGE, before + n * all);
		weft_msg_load(IN_AT, mine->got, MESSAGE);
		mine->n_right += !memcmp(mine->want, mine->got, MESSAGE);
	}
	mine->took += weft_now();
	weft_msg_fini(&g.m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < r->n_nodes; i++)
		wrong += MESSAGES - n[i].n_right;
	snprintf(text, size, "%u nodes fetched %d messages of %d B: %.0f MB/s",
		r->n_nodes, MESSAGES, MESSAGE,
		1e6 * MESSAGES * MESSAGE / (double)n[0].took);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "gni_rdma",
		.help = "Receivers fetch long messages by block transfers.",
		.interface = "gni",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
