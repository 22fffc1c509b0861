#include "load/spi/plan.h"

#include "load/order.h"
#include "meas/digest.h"
#include "sim/random.h"

static uint64_t key_of(const struct plan *p, uint32_t lane, uint64_t round)
{
	return random_draw(p->seed, lane, RANDOM_TARGET, round).a;
}

uint32_t plan_receiver(
	const struct plan *p, uint32_t actor, uint32_t lane, uint64_t round)
{
	return order_at(key_of(p, lane, round), p->n_actors, actor);
}

uint32_t plan_sender(
	const struct plan *p, uint32_t actor, uint32_t lane, uint64_t round)
{
	return order_find(key_of(p, lane, round), p->n_actors, actor);
}

/* Takes a number below n off some random bits. */
static uint32_t take(uint64_t *bits, uint32_t n)
{
	uint32_t x = (uint32_t)(*bits % n);

	*bits = digest_mix(*bits);
	return x;
}

/* Small ones most often: less than a power of two, or half of the time than
 * the lower one of two. */
static uint32_t draw_bytes(uint64_t *bits)
{
	uint32_t one = take(bits, 15), two = take(bits, 30);

	return take(bits, (1u << (one < two ? one : two)) + 1);
}

static enum plan_type draw_type(uint64_t *bits)
{
	static const uint8_t type[] = { PLAN_FIFO, PLAN_FIFO, PLAN_FIFO,
		PLAN_FIFO, PLAN_PUT, PLAN_PUT, PLAN_PUT, PLAN_PUT, PLAN_PUT,
		PLAN_ATOMIC, PLAN_ATOMIC, PLAN_GET, PLAN_GET, PLAN_GET,
		PLAN_LOCAL, PLAN_PREFETCH };

	return (enum plan_type)type[take(bits, sizeof(type))];
}

struct plan_message plan_message(
	const struct plan *p, uint32_t sender, uint32_t lane, uint64_t round)
{
	uint64_t bits = random_draw(
		p->seed, sender, RANDOM_PATTERN, round * PLAN_LANES + lane)
				.a;
	struct plan_message m;

	m.type = draw_type(&bits);
	m.route = (enum plan_route)take(&bits, PLAN_ROUTES);
	m.bytes = draw_bytes(&bits);
	m.source = take(&bits, PLAN_ALIGN);
	m.target = take(&bits, PLAN_ALIGN);
	if (m.type == PLAN_ATOMIC) {
		m.bytes = m.bytes / 32 * 8 + 8;
		m.target &= ~7u;
	}
	/* nobody can see when a put of nothing has come */
	if (!m.bytes && m.type != PLAN_PREFETCH)
		m.type = PLAN_FIFO;
	if (m.type == PLAN_FIFO)
		m.bytes %= PLAN_MOST_FIFO + 1;
	m.bits = bits;
	return m;
}
