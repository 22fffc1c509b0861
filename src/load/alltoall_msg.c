/*
 * All-to-all by messages: every node puts bytes into every other node's
 * memory, and waits until a counter says that all has come.  Knows nothing
 * of the machine.
 */
#include "load/alltoall.h"
#include "weft/msg.h"

enum { COUNTER };

struct sending {
	struct alltoall_node *m;
	uint32_t n_nodes;
	struct weft_msg msg;
};

static void send(void *arg, site_id to, uint64_t at, uint64_t bytes)
{
	struct sending *s = arg;
	const struct alltoall *a = s->m->a;
	site_id me = s->m->node;

	weft_msg_put(&s->msg, to,
		alltoall_target_at(a, s->n_nodes) + alltoall_offset(a, to, me) +
			at,
		alltoall_source(a, me, to) + at, bytes, COUNTER, NULL);
}

static void node_program(void *arg)
{
	struct alltoall_node *m = arg;
	struct alltoall *a = m->a;
	uint32_t n = a->programs.load.net->n_nodes;
	struct sending s = { .m = m, .n_nodes = n };

	if (!alltoall_make(m, n) || !programs_did(&a->programs, "weft_msg_init",
					    weft_msg_init(&s.msg, NULL)))
		return;
	weft_msg_expect(&s.msg, COUNTER, alltoall_bytes(a, n));
	weft_msg_barrier(&s.msg);
	m->start = program_now();
	alltoall_send_all(m, n, send, &s);
	weft_msg_wait_counter(&s.msg, COUNTER);
	m->end = program_now();
	alltoall_check(m, n);
}

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = (struct alltoall *)l;

	(void)r;
	(void)link;
	l->needs.n_programs = t->n_nodes;
	return programs_need_msg(&a->programs, t->n_nodes,
		alltoall_init_nodes(a, t->n_nodes), e);
}

static void start(struct load *l)
{
	alltoall_start_nodes((struct alltoall *)l, node_program);
}

static void report(struct load *l, struct load_result *r)
{
	alltoall_report_nodes(l, r);
	r->via = "msg";
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	const struct alltoall *a = (const struct alltoall *)l;
	uint64_t bytes = 2 * alltoall_bytes(a, t->n_nodes);

	return programs_estimate_msg(
		t->n_nodes, a->is_synthetic ? bytes / 256 : bytes);
}

const struct load_ops load_alltoall_msg = {
	.name = "alltoall",
	.init = init,
	.start = start,
	.next = programs_next,
	.report = report,
	.check = programs_check,
	.fini = alltoall_fini_nodes,
	.estimate = estimate,
	.on_delivered = programs_delivered,
};
