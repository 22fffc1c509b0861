/*
 * A server of datagrams: node 0 answers requests of all others.  It has one
 * send queue and one receive queue, and so has every client: nothing is set up
 * for a peer.  Requests carry the name of the queue that awaits the answer.
 */
#include "sw_setup.h"

enum { REQUESTS = 20 /* of each client */, BUFFERS = 64, MESSAGE = 64 };
enum { STAGES = 4096 }; /* far more than messages are under way */
enum { OUT = 0, IN = SPACE / 2 }; /* offsets: messages to send; buffers */

struct request {
	struct weft_sw_address back;
	uint64_t a, b;
};

struct node {
	weft_time took;
	uint32_t n_right;
	uint64_t held; /* memory of the server's device */
};

static void send(struct sw *s, struct weft_sw_address to, uint32_t number,
	const struct request *r)
{
	while (send_bytes(s, to, OUT + number % STAGES * MESSAGE, r, sizeof(*r),
		number, 0))
		weft_compute(100 * WEFT_NS); /* the queue is full */
}

/* The next message, whose buffer is given back. */
static void receive(struct sw *s, struct weft_sw_rq *rq, void *message)
{
	struct weft_sw_completion c = await(s);

	weft_msg_load(c.at, message, c.bytes);
	must("recv", weft_sw_post_recv(rq, c.id, c.at, MESSAGE));
}

static void serve(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	uint32_t n = (weft_nodes() - 1) * REQUESTS;
	struct weft_sw_device d;
	struct request r;

	for (; mine->n_right < n; mine->n_right++) {
		receive(s, rq, &r);
		r.a *= r.b;
		send(s, r.back, mine->n_right, &r);
	}
	must("query", weft_sw_query(s->dev, &d));
	mine->held = d.held;
}

static void ask(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	struct request r, answer;

	for (uint32_t i = 0; i < REQUESTS; i++) {
		r = (struct request){ address(rq, weft_node()), weft_node() + 1,
			i + 7 };
		send(s, address(rq, 0), i, &r);
		receive(s, rq, &answer);
		mine->n_right += answer.b == r.b && answer.a == r.a * r.b;
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
