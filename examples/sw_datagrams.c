/*
 * A server of datagrams: node 0 answers requests of all others.  It has one
 * send queue and one receive queue, and so has every client: nothing is set up
 * for a peer.  Requests carry the name of the queue that awaits the answer.
 */
#include "sw_setup.h"

enum {
	REQUESTS = 20, /* of each client */
	BUFFERS = 64,
	MESSAGE = 64, /* bytes */
	OUT = 0, /* offsets: messages to send; then buffers */
	IN = SPACE / 2,
};

struct request {
	struct weft_sw_address back;
	uint32_t number;
	uint64_t a, b;
};

struct node {
	weft_time took;
	uint32_t n_right;
	uint64_t held; /* memory of the server's device */
};

static void send(struct sw *s, struct weft_sw_address to, uint64_t place,
	const void *message, uint32_t bytes)
{
	uint64_t at = OUT + place * MESSAGE;
	struct weft_sw_work w = {
		.to = to,
		.own_key = s->key,
		.own_at = at,
		.bytes = bytes,
	};

	weft_msg_store(SPACE_AT + at, message, bytes);
	must("send", weft_sw_post_send(s->sq, &w));
	while (await(s).kind != WEFT_SW_DONE)
		exit(1);
}

/* Answers come one at a time, so the only other completions are requests. */
static void serve(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	uint32_t n = (weft_nodes() - 1) * REQUESTS, begun = 0, done = 0;
	struct weft_sw_device d;

	while (done < n) {
		struct weft_sw_completion c = await(s);
		struct request r;
		uint64_t at = OUT + (uint64_t)(begun % BUFFERS) * MESSAGE;

		if (c.kind == WEFT_SW_DONE) {
			done++;
			continue;
		}
		weft_msg_load(c.at, &r, sizeof(r));
		must("recv", weft_sw_post_recv(rq, c.id, c.at, MESSAGE));
		r.a *= r.b;
		weft_msg_store(SPACE_AT + at, &r.a, sizeof(r.a));
		must("answer",
			weft_sw_post_send(s->sq,
				&(struct weft_sw_work){ .to = r.back,
					.own_key = s->key,
					.own_at = at,
					.bytes = sizeof(r.a),
					.tag = r.number }));
		begun++;
	}
	must("query", weft_sw_query(s->dev, &d));
	mine->held = d.held;
	mine->n_right = done;
}

static void ask(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	for (uint32_t i = 0; i < REQUESTS; i++) {
		struct request r = { address(rq, weft_node()), i,
			weft_node() + 1, i + 7 };
		struct weft_sw_completion c;
		uint64_t answer;

		send(s, address(rq, 0), 0, &r, sizeof(r));
		c = await(s);
		weft_msg_load(c.at, &answer, sizeof(answer));
		mine->n_right += c.tag == i && answer == r.a * r.b;
		must("recv", weft_sw_post_recv(rq, c.id, c.at, MESSAGE));
	}
}

static void run(void *arg)
{
	struct node *mine = arg;
	struct weft_sw_rq *rq;
	struct sw s;

	open_sw(&s);
	rq = open_rq(&s, BUFFERS, SPACE_AT + IN, MESSAGE);
	weft_msg_barrier(&s.m);
	mine->took = -weft_now();
	if (weft_node())
		ask(&s, mine, rq);
	else
		serve(&s, mine, rq);
	mine->took += weft_now();
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;
	uint32_t right = 0;

	for (uint32_t i = 1; i < r->n_nodes; i++)
		right += n[i].n_right;
	snprintf(text, size,
		"%u answers to %u clients, %.2f us each; the server has %llu B",
		right, r->n_nodes - 1, (double)n[1].took / REQUESTS / 1e6,
		(unsigned long long)n[0].held);
	return right == (r->n_nodes - 1) * REQUESTS && n[0].n_right == right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_datagrams",
		.help = "A server answers reliable datagrams of all nodes.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
