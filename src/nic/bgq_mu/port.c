/*
 * Master ports.  Each requester has one port; when it is free, the requester
 * with the highest priority has its turn, at random among equals.  A turn is
 * all requests of one packet, or one descriptor; the side determines its time.
 */
#include "nic/bgq_mu/units.h"

/* --- choice --- */

static enum mu_level level_of(const struct nic_at *a, uint32_t requester)
{
	uint32_t fifo = requester % MU_NET_FIFOS;

	if (requester == MU_ASK_FETCH)
		return mu_fetch_level(mu_here(a));
	if (requester < MU_ASK_WRITE) {
		uint32_t inj = mu_here(a)->job[fifo].inj;

		return mu_inj_used(mu_here(a), inj)->level;
	}
	if (fifo == MU_NET_SYSTEM)
		return MU_LEVEL_SYSTEM;
	return fifo == MU_NET_HIGH ? MU_LEVEL_HIGH : MU_LEVEL_NORMAL;
}

static uint32_t choose(const struct nic_at *a, uint64_t asking)
{
	enum mu_level best = MU_LEVELS;
	uint64_t equals = 0;
	uint32_t k;

	if (!(asking & (asking - 1)))
		return (uint32_t)__builtin_ctzll(asking);
	for (uint64_t m = asking; m; m &= m - 1) {
		enum mu_level l = level_of(a, (uint32_t)__builtin_ctzll(m));

		if (l < best) {
			best = l;
			equals = 0;
		}
		if (l == best)
			equals |= m & -m;
	}
	k = mu_random(mu_here(a), (uint32_t)__builtin_popcountll(equals));
	while (k--)
		equals &= equals - 1;
	return (uint32_t)__builtin_ctzll(equals);
}

static void take(const struct nic_at *a, uint32_t requester)
{
	uint32_t fifo = requester % MU_NET_FIFOS;

	if (requester == MU_ASK_FETCH)
		mu_fetch_take(a);
	else if (requester >= MU_ASK_COUNT)
		mu_receive_take_count(a, fifo);
	else if (requester >= MU_ASK_WRITE)
		mu_receive_take_write(a, fifo);
	else
		mu_inject_take(a, fifo);
}

static void await(const struct nic_at *a, struct mu_port *p, uint32_t port)
{
	if (p->is_posted)
		return;
	p->is_posted = true;
	sim_post_self(a->w, a->s, p->side.free_at,
		SIM_KEY(PHASE_ENGINE, MU_ENGINE_PORT + port), 0, 0);
}

void mu_port_wait(const struct nic_at *a, uint32_t requester)
{
	uint32_t port = mu_of(a)->port_of[requester];
	struct mu_port *p = &mu_here(a)->port[port];

	p->asking |= UINT64_C(1) << requester;
	await(a, p, port);
}

void mu_port_ask(const struct nic_at *a, uint32_t requester)
{
	if (mu_port_is_free(a, requester))
		take(a, requester);
	else
		mu_port_wait(a, requester);
}

void mu_port_on_free(const struct nic_at *a, uint32_t port)
{
	struct mu_port *p = &mu_here(a)->port[port];

	p->is_posted = false;
	/* an invalid request takes no time */
	while (p->asking && p->side.free_at <= a->t) {
		uint32_t requester = choose(a, p->asking);

		p->asking &= ~(UINT64_C(1) << requester);
		take(a, requester);
	}
	if (p->asking)
		await(a, p, port);
}

/* --- protection --- */

static bool is_inside(
	const struct mu_range *r, uint32_t right, uint64_t at, uint64_t bytes)
{
	return r->rights & right && at >= r->first && at <= r->last &&
	       bytes - 1 <= r->last - at;
}

bool mu_port_allows_slow(
	const struct nic_at *a, uint64_t at, uint64_t bytes, uint32_t right)
{
	uint32_t i;

	if (!bytes)
		return true;
	for (i = 0; i < MU_RANGES; i++)
		if (is_inside(&mu_here(a)->range[i], right, at, bytes))
			return true;
	/* not as a whole; but each request is checked by itself */
	while (bytes) {
		uint64_t part = MU_LINE - at % MU_LINE;

		part = part < bytes ? part : bytes;
		for (i = 0; i < MU_RANGES; i++)
			if (is_inside(&mu_here(a)->range[i], right, at, part))
				break;
		if (i == MU_RANGES)
			return false;
		at += part;
		bytes -= part;
	}
	return true;
}
