/*
 * What ping-pongs by programs have in common, whatever they send with: the
 * bytes, which are others in every flight and are looked at, and the course
 * of a run.
 */
#include "load/filled.h"
#include "load/pingpong.h"

/* A flight's number: those of the side that begins are even. */
static uint64_t flight(bool begins, int64_t round)
{
	return 2 * (uint64_t)round + !begins;
}

void pingpong_make(const struct pingpong_side *s, int64_t round)
{
	const struct pingpong *g = s->game;

	filled_write(&g->programs, flight(s->begins, round), PINGPONG_SOURCE,
		(uint64_t)g->bytes);
}

bool pingpong_check(const struct pingpong_side *s, int64_t round)
{
	struct pingpong *g = s->game;

	return filled_compare(&g->programs, "flight", flight(!s->begins, round),
		PINGPONG_TARGET, (uint64_t)g->bytes);
}

void pingpong_start_sides(struct pingpong *g, void (*run)(void *arg))
{
	const int64_t node[] = { g->from, g->to };
	uint32_t i;

	programs_open(&g->programs);
	for (i = 0; i < 2; i++) {
		g->side[i] = (struct pingpong_side){
			.game = g,
			.peer = (uint32_t)node[!i],
			.begins = i == 0,
		};
		program_start(g->programs.load.host, (site_id)node[i], 0, 0,
			run, &g->side[i]);
	}
}

double pingpong_one_way_ns(const struct pingpong *g)
{
	const struct pingpong_side *s = &g->side[0];

	return (double)(s->end - s->start) / SIM_NS / 2 / (double)g->rounds;
}
