/*
 * Two virtual machines on each node, which share the card: process 0 is in
 * machine 1, process 1 in machine 2, and each writes blocks to its like on the
 * next node.  Machine 1 of node 0 crashes in mid-work.  Machine 2 does not
 * notice, and then has the interfaces that the other had.
 *
 *	sw_vms sunway-32 --set nic.vms=2
 */
#include "sw_setup.h"

enum { BLOCK = 8192, BLOCKS = 100, MOST = 128 };

#define BEGIN (50 * 1000000) /* ps: all have registered their memory */
#define CRASH (BEGIN + 100 * 1000000)

struct process {
	uint32_t done, taken;
};

static void open_vm(struct sw *s)
{
	must("open", weft_sw_open(NULL, &s->dev));
	must("cq", weft_sw_create_cq(s->dev, 256, false, &s->cq));
	must("sq", weft_sw_create_sq(s->dev, s->cq, 16, &s->sq));
	must("register", weft_sw_reg_segment(s->dev, SPACE_AT, SPACE,
				 WEFT_SW_READ | WEFT_SW_WRITE, &s->key));
}

static void post_block(struct sw *s, uint32_t node)
{
	struct weft_sw_work w = {
		.to = { .node = node, .engine = (uint8_t)weft_process() },
		.key = s->key,
		.own_key = s->key,
		.at = BLOCK,
		.bytes = BLOCK,
	};

	must("write", weft_sw_post_write(s->sq, &w));
}

/* What the broker still has, and what the dead machine had. */
static void take_all(struct sw *s, struct process *mine)
{
	struct weft_sw_sq *sq;
	struct weft_sw_vm vm;

	must("query", weft_sw_query_vm(s->dev, 1, &vm));
	while (vm.is_dead && !weft_sw_create_sq(s->dev, s->cq, 2, &sq))
		mine->taken++;
}

static void run(void *arg)
{
	struct process *mine = arg;
	uint32_t next = (weft_node() + 1) % weft_nodes();
	struct weft_sw_vm vm;
	struct sw s;

	open_vm(&s);
	must("a machine with nic.vms=2", weft_sw_query_vm(s.dev, 2, &vm));
	weft_compute(BEGIN - weft_now());
	/* nobody writes to the machine that crashes */
	while (next + weft_process() && mine->done < BLOCKS) {
		post_block(&s, next);
		if (!weft_node() && !weft_process() && weft_now() > CRASH)
			weft_sw_kill_vm(s.dev, 1); /* does not return */
		await(&s);
		mine->done++;
	}
	if (weft_process())
		take_all(&s, mine);
}

static bool check(
	const struct weft_result *r, const void *ranks, char *text, size_t size)
{
	const struct process *x = ranks;
	bool is_right = x[0].done < BLOCKS && x[1].taken == MOST - 1;

	for (uint32_t i = 1; i < 2 * r->n_nodes; i++)
		is_right &= x[i].done == BLOCKS || i == 2 * r->n_nodes - 2;
	snprintf(text, size,
		"machine 1 of node 0: %u blocks; machine 2: %u blocks, and "
		"then %u more interfaces",
		x[0].done, x[1].done, x[1].taken);
	return is_right;
}

int main(int argc, char **argv)
{
	const struct weft_app app = {
		.name = "sw_vms",
		.help = "Two virtual machines on each node; one of them "
			"crashes.",
		.interface = "swverbs",
		.run = run,
		.node_bytes = sizeof(struct process),
		.n_processes = 2,
		.check = check,
	};

	return weft_main(argc, argv, &app);
}
