/*
 * A token goes round all nodes, and each adds its number; each node also passes
 * a block on to the next one.  The program uses no interface of a machine, so
 * it runs on all of them.
 */
#include <stdio.h>
#include <string.h>

#include <weft/msg.h>
#include <weft/program.h>
#include <weft/run.h>

enum { TOKEN_AT = 0x1000, BLOCK_AT = 0x10000, COPY_AT = 0x20000 };
enum { TAG_TOKEN, TAG_BLOCK, BLOCK = 3000 /* bytes */ };

struct node {
	weft_time took;
	uint64_t sum;
	bool is_right;
};

/* Adds to the token, after all nodes before this one have done so. */
static void pass_token(struct weft_msg *m)
{
	uint32_t me = weft_msg_rank(m), n = weft_msg_ranks(m);
	uint64_t sum = 0;

	if (me) {
		weft_msg_receive(m, me - 1, TAG_TOKEN, TOKEN_AT, 8, NULL);
		weft_msg_load(TOKEN_AT, &sum, 8);
	}
	sum += me;
	weft_msg_store(TOKEN_AT, &sum, 8);
	weft_msg_send(m, (me + 1) % n, TAG_TOKEN, TOKEN_AT, 8);
	if (!me)
		weft_msg_receive(m, n - 1, TAG_TOKEN, TOKEN_AT, 8, NULL);
}

/* Sends a block to the next node, and receives one from the previous node. */
static bool pass_block(struct weft_msg *m)
{
	uint32_t me = weft_msg_rank(m), n = weft_msg_ranks(m),
		 before = (me + n - 1) % n;
	uint8_t mine[BLOCK], got[BLOCK], want[BLOCK];
	struct weft_msg_request r;
	struct weft_msg_status s;

	memset(mine, (int)me, BLOCK);
	memset(want, (int)before, BLOCK);
	weft_msg_store(BLOCK_AT, mine, BLOCK);
	weft_msg_send_start(m, (me + 1) % n, TAG_BLOCK, BLOCK_AT, BLOCK, &r);
	weft_msg_receive(m, WEFT_MSG_ANY, TAG_BLOCK, COPY_AT, BLOCK, &s);
	weft_msg_finish(m, &r, NULL);
	weft_msg_load(COPY_AT, got, BLOCK);
	return s.rank == before && !memcmp(got, want, BLOCK);
}

static void run(void *arg)
{
	struct node *mine = arg;
	struct weft_msg m;

	weft_msg_init(&m, NULL);
	mine->took = -weft_now();
	pass_token(&m);
	mine->is_right = pass_block(&m);
	weft_msg_broadcast(&m, 0, TOKEN_AT, 8);
	weft_msg_load(TOKEN_AT, &mine->sum, 8);
	mine->took += weft_now();
	weft_msg_fini(&m);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint64_t all = r->n_nodes;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < all; i++)
		wrong += !n[i].is_right || n[i].sum != all * (all - 1) / 2;
	snprintf(text, size, "the sum is %u, known to all after %.1f us",
		(unsigned)n->sum, (double)n->took / WEFT_NS / 1e3);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "ring",
		.help = "A token and blocks of data go round all nodes.",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
