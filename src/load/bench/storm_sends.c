#include "load/bench/storm_sends.h"

#include <string.h>

enum { TRIES = 200 };

/* Between two tries, and until everything in flight has arrived. */
static const sim_time PAUSE = 2000 * SIM_NS;
static const sim_time REST = 200000 * SIM_NS;

/* A block begins with its number, on which the other bytes depend. */
static void look(struct bench_end *x, struct sends *s, uint32_t n)
{
	uint64_t number = 0;

	memcpy(&number, s->block, sizeof(number));
	if (n < sizeof(number) ||
		!memory_is_by(x->load->seed, ~number, sizeof(number),
			s->block + sizeof(number), n - sizeof(number)))
		programs_complain(x->programs,
			"message %llu: wrong bytes of a send",
			(unsigned long long)number);
	s->came++;
	s->bytes += n;
}

void sends_take(struct bench_end *x, struct sends *s)
{
	uint32_t n;

	while ((n = x->driver->channel->take(x, s->block)))
		look(x, s, n);
}

bool sends_send(struct bench_end *x, struct sends *s, uint32_t node,
	uint32_t lane, uint64_t number, uint64_t from, uint64_t bytes)
{
	bench_make(x, ~number, from, bytes);
	bench_write(x, from, &number, sizeof(number));
	for (uint32_t tries = 0; tries < TRIES; tries++) {
		s->tried++;
		x->driver->channel->send(x, node, lane, from, bytes);
		if (x->driver->flush(x)) {
			s->sent++;
			return true;
		}
		sends_take(x, s);
		program_charge(PAUSE);
	}
	return false;
}

void sends_finish(struct bench_end *x, struct sends *s)
{
	if (!x->driver->channel->finish)
		return;
	x->driver->channel->finish(x);
	sends_take(x, s);
}

void sends_close(struct bench_end *x, struct sends *s)
{
	if (x->driver->channel->close)
		x->driver->channel->close(x);
	program_charge(REST);
	sends_take(x, s);
}
