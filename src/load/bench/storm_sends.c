#include "load/bench/storm_sends.h"

#include <string.h>

enum { TRIES = 200, BLOCK = 1024 };

/* Between two tries, and until what is under way has come. */
static const sim_time PAUSE = 2000 * SIM_NS;
static const sim_time REST = 200000 * SIM_NS;

/* A block begins with its number, and the rest depends on it. */
static void make(const struct bench_end *x, uint64_t number, uint64_t at,
	void *to, uint32_t n)
{
	memory_fill_by(x->load->seed, ~number, at, to, n);
	if (!at)
		memcpy(to, &number, sizeof(number));
}

bool sends_open(struct bench_end *x, struct sends *s)
{
	return x->driver->channel->open(x, s->at, s->most);
}

static void look(struct bench_end *x, struct sends *s, uint32_t n)
{
	uint8_t want[BLOCK];
	uint64_t number = 0;
	uint32_t k;

	memcpy(&number, s->block, sizeof(number));
	for (uint32_t i = 0; i < n; i += k) {
		k = n - i < BLOCK ? n - i : BLOCK;
		make(x, number, i, want, k);
		if (memcmp(want, s->block + i, k) != 0)
			programs_complain(x->programs,
				"message %llu: wrong bytes of a send",
				(unsigned long long)number);
	}
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
	uint8_t block[BLOCK];
	uint64_t k;

	for (uint64_t i = 0; i < bytes; i += k) {
		k = bytes - i < BLOCK ? bytes - i : BLOCK;
		make(x, number, i, block, (uint32_t)k);
		program_write(from + i, block, k);
	}
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

void sends_close(struct bench_end *x, struct sends *s)
{
	if (x->driver->channel->close)
		x->driver->channel->close(x);
	program_charge(REST);
	sends_take(x, s);
}
