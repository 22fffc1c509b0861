/*
 * Ping-pong by messages: each side receives what the other one sent, looks
 * at it, and sends its own.  Knows nothing of the machine.
 */
#include "load/pingpong.h"
#include "weft/msg.h"

enum { TAG = 1 };

static bool receive(struct pingpong_side *s, struct weft_msg *m, int64_t round)
{
	struct pingpong *g = s->game;

	if (!programs_did(&g->programs, "weft_msg_receive",
		    weft_msg_receive(m, s->peer, TAG, PINGPONG_TARGET,
			    (uint64_t)g->bytes, NULL)))
		return false;
	s->end = program_now();
	return pingpong_check(s, round);
}

static void side_program(void *arg)
{
	struct pingpong_side *s = arg;
	struct pingpong *g = s->game;
	struct weft_msg m;
	int64_t round;

	if (!programs_did(
		    &g->programs, "weft_msg_init", weft_msg_init(&m, NULL)))
		return;
	s->start = program_now();
	for (round = 0; round < g->rounds; round++) {
		if (!s->begins && !receive(s, &m, round))
			return;
		pingpong_make(s, round);
		weft_msg_send(
			&m, s->peer, TAG, PINGPONG_SOURCE, (uint64_t)g->bytes);
		if (s->begins && !receive(s, &m, round))
			return;
	}
}

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct pingpong *g = (struct pingpong *)l;

	(void)r;
	(void)link;
	l->needs.n_programs = 2;
	return programs_need_msg(&g->programs, t->n_nodes, PINGPONG_MEMORY, e);
}

static void start(struct load *l)
{
	pingpong_start_sides((struct pingpong *)l, side_program);
}

static void report(struct load *l, struct load_result *r)
{
	struct pingpong *g = (struct pingpong *)l;

	programs_report(&g->programs, r);
	r->via = "msg";
	if (r->ending == LOAD_FINISHED)
		load_figure(r, "one_way_ns", pingpong_one_way_ns(g));
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	(void)t;
	return programs_estimate_msg(
		2, 2 * (uint64_t)((const struct pingpong *)l)->bytes);
}

const struct load_ops load_pingpong_msg = {
	.name = "pingpong",
	.init = init,
	.start = start,
	.next = programs_next,
	.report = report,
	.check = programs_check,
	.fini = programs_fini,
	.estimate = estimate,
	.on_delivered = programs_delivered,
};
