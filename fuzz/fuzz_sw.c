/*
 * Random programs on weft/swverbs.h: its calls in any order, with any handles,
 * keys and descriptors, of which many are right; on nodes of several jobs and
 * of virtual machines that crash.
 *
 *	fuzz_sw [--runs N] [--seed S] [file ...]
 */
#define _GNU_SOURCE
#define FUZZ_NAME "fuzz_sw"

#include "weft/swverbs.h"

#include "program.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { QUEUES = 3, SPACE = 1 << 16, NODES = 4, US = 1000000 };

struct process {
	struct weft_sw *dev;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq[QUEUES];
	struct weft_sw_rq *rq[QUEUES];
	struct weft_sw_tree *tree;
	uint32_t key, turn;
};

/* Nodes' names and keys are equal where they have called the same. */
static void open_all(struct process *x, struct program_at *p)
{
	struct weft_sw_options o = { .job = take(p) % 8 ? 1 : 2,
		.turn = x->turn++ };
	struct weft_sw_rq_options how = { .depth = 8 };

	check(!weft_sw_open(&o, &x->dev), "no device");
	weft_sw_create_cq(x->dev, 64, take(p) % 2, &x->cq);
	weft_sw_reg(x->dev, SPACE, SPACE, WEFT_SW_READ | WEFT_SW_WRITE,
		take(p) % 2 ? 4096 : 0, &x->key);
	weft_sw_reg_segment(
		x->dev, SPACE, SPACE, WEFT_SW_READ | WEFT_SW_WRITE, &x->key);
	for (uint32_t i = 0; i < QUEUES; i++) {
		weft_sw_create_sq(x->dev, x->cq, 8, &x->sq[i]);
		how.kind = i % 2;
		how.at = 2 * SPACE + i * 8 * WEFT_SW_SLOT / 64 * 64;
		weft_sw_create_rq(x->dev, x->cq, &how, &x->rq[i]);
		weft_sw_post_recv(x->rq[i], i, i * 2048, 2048);
	}
}

/* Mostly one that was made; else any number. */
static void *handle(struct program_at *p, void *made)
{
	return take(p) % 8 ? made : (void *)(uintptr_t)number(p);
}

static struct weft_sw_sq *sender(struct process *x, struct program_at *p)
{
	return handle(p, x->sq[take(p) % QUEUES]);
}

static struct weft_sw_rq *receiver(struct process *x, struct program_at *p)
{
	return handle(p, x->rq[take(p) % QUEUES]);
}

static struct weft_sw_address address(struct program_at *p)
{
	return (struct weft_sw_address){
		.node = take(p) % 8 ? take(p) % NODES : narrow(p),
		.interface = take(p) % 8 ? take(p) % 4 : take(p),
		.engine = take(p) % 8 ? 0 : take(p),
		.queue = take(p) % 8 ? take(p) % 2 : (uint16_t)narrow(p),
	};
}

static struct weft_sw_work work(struct process *x, struct program_at *p)
{
	return (struct weft_sw_work){
		.id = take(p) % 4,
		.to = address(p),
		.key = take(p) % 4 ? x->key : narrow(p),
		.own_key = take(p) % 8 ? x->key : narrow(p),
		.at = number(p),
		.own_at = number(p),
		.reply = take(p) % 2 ? UINT64_MAX : number(p),
		.bytes = narrow(p),
		.flags = take(p) % 4 ? 0 : 1u << take(p) % 12,
		.tag = narrow(p),
	};
}

static void post(struct process *x, struct program_at *p)
{
	struct weft_sw_work w = work(x, p);
	struct weft_sw_piece piece[2] = { { number(p), narrow(p) % 128 },
		{ number(p), narrow(p) } };
	struct weft_sw_sq *sq = sender(x, p);

	switch (take(p) % 8) {
	case 0:
		weft_sw_post_send(sq, &w);
		break;
	case 1:
		weft_sw_post_write(sq, &w);
		break;
	case 2:
		weft_sw_post_write_notify(sq, &w);
		break;
	case 3:
		weft_sw_post_write_reply(sq, &w);
		break;
	case 4:
		weft_sw_post_read(sq, &w);
		break;
	case 5:
		weft_sw_post_recv(
			receiver(x, p), w.id, w.own_at, w.bytes % 4096);
		break;
	default:
		weft_sw_post_fsm(sq, &w, piece, take(p) % 3);
	}
}

static void look(struct process *x, struct program_at *p)
{
	struct weft_sw_cq *cq = handle(p, x->cq);
	struct weft_sw_completion c;
	struct weft_sw_event e;

	switch (take(p) % 6) {
	case 0:
		weft_sw_poll(cq, &c);
		break;
	case 1:
		weft_sw_release(receiver(x, p));
		break;
	case 2:
		weft_sw_wait_reply(x->dev, number(p), number(p), 5 * US);
		break;
	case 3:
		if (!weft_sw_get_event(x->dev, &e, 5 * US))
			weft_sw_ack_event(x->dev, &e);
		break;
	default:
		weft_sw_wait(cq, &c, 20 * US);
	}
}

/* Its own place in a tree of all nodes, or in none. */
static void collect(struct process *x, struct program_at *p)
{
	struct weft_sw_address child[NODES] = { { .node = 1 }, { .node = 2 },
		{ .node = 3 } };
	struct weft_sw_tree_options o = {
		.rank = weft_node(),
		.parent = { .node = weft_node() ? 0 : UINT32_MAX },
		.children = child,
		.n_children = weft_node() ? 0 : 3,
		.chain = WEFT_SW_NO_CHAIN,
	};
	struct weft_sw_collective c = {
		.op = take(p) % 10,
		.type = take(p) % 6,
		.bytes = narrow(p),
		.key = take(p) % 8 ? x->key : narrow(p),
		.at = number(p),
		.result = number(p),
		.root = take(p) % 5,
	};

	if (!(take(p) % 8))
		child[take(p) % 3] = address(p);
	if (!(take(p) % 8))
		o.n_children = narrow(p) % 5;
	if (!x->tree || !(take(p) % 4))
		weft_sw_create_tree(sender(x, p), &o, &x->tree);
	weft_sw_post_collective(handle(p, x->tree), &c);
	if (!(take(p) % 8))
		weft_sw_destroy_tree(x->tree);
}

/* Things go, and others come. */
static void change(struct process *x, struct program_at *p)
{
	uint32_t i = take(p) % QUEUES;
	struct weft_sw_rq_options how = { take(p) % 3, narrow(p), number(p) };
	struct weft_sw_vm vm;

	switch (take(p) % 12) {
	case 0:
		weft_sw_destroy_sq(sender(x, p));
		weft_sw_create_sq(x->dev, x->cq, narrow(p), &x->sq[i]);
		break;
	case 1:
		weft_sw_destroy_rq(receiver(x, p));
		weft_sw_create_rq(x->dev, x->cq, &how, &x->rq[i]);
		break;
	case 2:
		weft_sw_reset_sq(sender(x, p));
		break;
	case 3:
		weft_sw_cancel(sender(x, p), take(p) % 4);
		break;
	case 4:
		weft_sw_dereg(x->dev, take(p) % 2 ? x->key : narrow(p));
		break;
	case 5:
		weft_sw_reg(x->dev, number(p), number(p), take(p) % 8,
			number(p), &x->key);
		break;
	case 6:
		weft_sw_destroy_cq(handle(p, x->cq));
		break;
	case 7:
		weft_sw_query_vm(x->dev, narrow(p) % 4, &vm);
		break;
	case 8:
		if (!(take(p) % 8))
			weft_sw_kill_vm(x->dev, narrow(p) % 4);
		break;
	default: /* a job leaves in mid-work, and the next has all its own */
		weft_sw_close(x->dev);
		x->tree = NULL;
		open_all(x, p);
	}
}

static void run_program(void *mine)
{
	struct program_at p = program_begin();
	struct process *x = mine;

	p.at += 3 * weft_process();
	open_all(x, &p);
	for (uint32_t i = 0; i < PROGRAM_CALLS; i++) {
		uint8_t what = take(&p) % 16;

		if (what < 7)
			post(x, &p);
		else if (what < 11)
			look(x, &p);
		else if (what < 13)
			change(x, &p);
		else if (what < 14)
			collect(x, &p);
		else
			weft_compute(1000 * (narrow(&p) % 1000));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const on[][4] = {
		{ "sunway-32", "--set=topology.nodes=4", NULL },
		{ "sunway-32", "--set=topology.nodes=4", "--set=nic.vms=2",
			NULL },
	};
	const struct weft_app app = {
		.name = FUZZ_NAME,
		.help = "",
		.interface = "swverbs",
		.run = run_program,
		.node_bytes = sizeof(struct process),
		.n_processes = 2,
	};

	program_run_one_of(&app, on, sizeof(on) / sizeof(on[0]), data, size);
	return 0;
}

#include "program_driver.h"
