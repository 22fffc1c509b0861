/*
 * A stream over datagrams that may be lost, as TCP/IP does it: node 0 sends a
 * file to the last node in segments, by unreliable messages into a ring that is
 * smaller than the sender's window, so some are dropped.  The receiver
 * acknowledges what it has in order; the sender begins again from there when no
 * acknowledgement comes.
 */
#include "sw_setup.h"

enum { SEGMENT = 1400 /* bytes */, SEGMENTS = 300, WINDOW = 24 };
enum { SLOTS = 8 /* of the receiver's ring */, RING_AT = 0x300000 };
#define PATIENCE (30000 * WEFT_NS)

struct node {
	uint32_t n_sent, n_right;
};

static void send(struct sw *s, struct weft_sw_address to, uint32_t number)
{
	uint64_t at = (uint64_t)(number % WINDOW) * SEGMENT;
	uint8_t bytes[SEGMENT];

	fill(bytes, SEGMENT, 7, number);
	while (send_bytes(
		s, to, at, bytes, SEGMENT, number, WEFT_SW_UNRELIABLE))
		weft_compute(100 * WEFT_NS); /* the queue is full */
}

/* A message of the ring, if one comes in time. */
static bool receive(struct sw *s, struct weft_sw_rq *rq, uint8_t *bytes,
	uint32_t *number, weft_time patience)
{
	struct weft_sw_completion c;

	if (weft_sw_wait(s->cq, &c, patience))
		return false;
	weft_msg_load(c.at, bytes, SEGMENT);
	*number = c.tag;
	must("release", weft_sw_release(rq));
	return true;
}

static void send_file(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	struct weft_sw_address to = address(rq, weft_nodes() - 1);
	uint32_t done = 0, next = 0, ack;
	uint8_t bytes[SEGMENT];

	while (done < SEGMENTS) {
		for (; next < SEGMENTS && next < done + WINDOW; mine->n_sent++)
			send(s, to, next++);
		if (!receive(s, rq, bytes, &ack, PATIENCE))
			next = done; /* begin again */
		else if (ack > done)
			done = ack;
	}
}

static void take_file(struct sw *s, struct node *mine, struct weft_sw_rq *rq)
{
	uint8_t bytes[SEGMENT], want[SEGMENT];
	uint32_t number;

	while (receive(s, rq, bytes, &number, 20 * PATIENCE)) {
		fill(want, SEGMENT, 7, number);
		mine->n_right += number == mine->n_right &&
				 !memcmp(bytes, want, SEGMENT);
		send(s, address(rq, 0), mine->n_right);
		weft_compute(1000 * WEFT_NS); /* slower than they come */
	}
}

static void run(void *arg)
{
	struct weft_sw_rq_options how = { WEFT_SW_RAW, SLOTS, RING_AT };
	struct node *mine = arg;
	struct weft_sw_rq *rq;
	struct sw s;

	open_sw(&s);
	must("a machine of two nodes", weft_nodes() > 1 ? 0 : EINVAL);
	must("rq", weft_sw_create_rq(s.dev, s.cq, &how, &rq));
	weft_msg_barrier(&s.m);
	if (!weft_node())
		send_file(&s, mine, rq);
	else if (weft_node() == weft_nodes() - 1)
		take_file(&s, mine, rq);
	close_sw(&s);
}

static bool check(
	const struct weft_result *r, const void *nodes, char *text, size_t size)
{
	const struct node *n = nodes;

	snprintf(text, size, "%d segments arrived in order, of %u sent",
		SEGMENTS, n->n_sent);
	return n[r->n_nodes - 1].n_right == SEGMENTS;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_ip",
		.help = "A file over datagrams that may be lost.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct node),
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
