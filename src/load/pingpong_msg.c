/*
 * Ping-pong by messages: each side receives what the other one sent, looks
 * at it, and sends its own.  Knows nothing of the machine.
 */
#include <string.h>

#include "load/pingpong.h"
#include "weft/msg.h"

#define GIB (UINT64_C(1) << 30)

#define SOURCE_AT (1 * GIB)
#define TARGET_AT (2 * GIB)

enum { BLOCK = 4096, TAG = 1 };

static size_t block_of(uint64_t at, uint64_t end)
{
	return end - at < BLOCK ? (size_t)(end - at) : BLOCK;
}

static void fill(const struct pingpong *g, uint64_t flight)
{
	uint64_t at, end = (uint64_t)g->bytes;
	uint8_t block[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		memory_fill_by(g->programs.load.seed, flight, at, block,
			block_of(at, end));
		msg_store(SOURCE_AT + at, block, block_of(at, end));
	}
}

static bool check(struct pingpong *g, uint64_t flight)
{
	uint64_t at, end = (uint64_t)g->bytes;
	uint8_t want[BLOCK], got[BLOCK];

	for (at = 0; at < end; at += BLOCK) {
		size_t n = block_of(at, end);

		memory_fill_by(g->programs.load.seed, flight, at, want, n);
		msg_load(TARGET_AT + at, got, n);
		if (memcmp(want, got, n) != 0)
			return programs_complain(&g->programs,
				"flight %llu: wrong bytes behind %llu",
				(unsigned long long)flight,
				(unsigned long long)at);
	}
	return true;
}

static bool receive(struct pingpong_side *s, struct msg *m, int64_t round)
{
	struct pingpong *g = s->game;

	if (!programs_did(&g->programs, "msg_receive",
		    msg_receive(m, s->peer, TAG, TARGET_AT, (uint64_t)g->bytes,
			    NULL)))
		return false;
	s->end = program_now();
	return check(g, 2 * (uint64_t)round + s->begins);
}

static void side_program(void *arg)
{
	struct pingpong_side *s = arg;
	struct pingpong *g = s->game;
	struct msg m;
	int64_t round;

	if (!programs_did(&g->programs, "msg_init", msg_init(&m, NULL)))
		return;
	s->start = program_now();
	for (round = 0; round < g->rounds; round++) {
		if (!s->begins && !receive(s, &m, round))
			return;
		fill(g, 2 * (uint64_t)round + !s->begins);
		msg_send(&m, s->peer, TAG, SOURCE_AT, (uint64_t)g->bytes);
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
	return programs_need_msg(&g->programs, t->n_nodes, 3 * GIB, e);
}

static void start(struct load *l)
{
	struct pingpong *g = (struct pingpong *)l;
	const int64_t node[] = { g->from, g->to };
	uint32_t i;

	if (!programs_open(&g->programs, 2))
		return;
	for (i = 0; i < 2; i++) {
		g->side[i] = (struct pingpong_side){
			.game = g,
			.peer = (uint32_t)node[!i],
			.begins = i == 0,
		};
		program_start(g->programs.host, (site_id)node[i], 0, 0,
			side_program, &g->side[i]);
	}
}

static void report(struct load *l, struct load_result *r)
{
	struct pingpong *g = (struct pingpong *)l;
	const struct pingpong_side *s = &g->side[0];

	programs_report(&g->programs, r);
	r->via = "msg";
	if (r->ending == LOAD_FINISHED)
		load_figure(r, "one_way_ns",
			(double)(s->end - s->start) / SIM_NS / 2 /
				(double)g->rounds);
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
	.memory = programs_memory,
};
