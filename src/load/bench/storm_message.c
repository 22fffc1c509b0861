#include "base/mem.h"
#include "load/bench/storm.h"
#include "sim/random.h"

void storm_choose_partners(struct lane *l)
{
	const struct storm *m = l->storm;
	uint32_t i;

	for (i = 0; i < PARTNERS; i++) {
		struct place *p = &l->place[i];
		uint64_t x = random_draw(m->bench.programs.load.seed, l->stream,
			RANDOM_PATTERN, i)
				     .a;

		p->node = (site_id)((l->node + 1 +
					    random_below(x, m->n_nodes - 1)) %
				    m->n_nodes);
		while (l->place[p->first].node != p->node)
			p->first++;
		p->bytes = mem_alloc(m->area, 1);
	}
	l->before = mem_alloc(m->area, 1);
}

uint64_t storm_most_send(const struct storm *m)
{
	uint64_t most = m->has_more ? m->bench.driver->channel->most_bytes : 0;
	uint64_t bytes = (uint64_t)m->bench.bytes;

	return most && most < bytes ? most : bytes;
}

/* Sizes are spread over the powers of two. */
static uint64_t size(uint64_t bits, uint64_t most)
{
	uint32_t steps = 64 - (uint32_t)__builtin_clzll(most / 8);
	uint64_t top = UINT64_C(8) << bits % steps;
	uint64_t n = top / 2 + random_below(bits << 8, top / 2 + 1);

	n = (n + 7) / 8 * 8;
	return n < most ? n : most;
}

struct message storm_message(const struct lane *l, uint64_t k)
{
	const struct storm *m = l->storm;
	struct random_bits r = random_draw(
		m->bench.programs.load.seed, l->stream, RANDOM_TARGET, k);
	struct message x = {
		.number = (uint64_t)l->stream << 32 | k,
		.op = (uint32_t)(r.a % (m->has_more ? 10 : 5) / 2),
		.partner = (uint32_t)(r.a >> 8) % PARTNERS,
	};
	uint64_t most = (uint64_t)m->bench.bytes;

	if (x.op == OP_GET && most > MOST_GET)
		most = MOST_GET;
	if (x.op == OP_SEND)
		most = storm_most_send(m);
	x.partner = l->place[x.partner].first;
	x.dst = l->place[x.partner].node;
	x.bytes = size(r.b, most);
	x.at = (r.b >> 20) % ((CONSTANT - MOST_GET) / 8) * 8;
	if (m->kinds == KINDS_ALL)
		x.chance = random_draw(m->bench.programs.load.seed, l->stream,
				   RANDOM_DATA, k)
				   .a |
			   1;
	return x;
}
