#include "router/casts.h"

#include "base/mem.h"

static bool is_old(const struct net *n, const struct net_cast *c, sim_time t)
{
	return t - c->since > n->route->answers;
}

static void forget_old(const struct net *n, struct net_casts *x, sim_time t)
{
	uint32_t i = 0;

	while (i < x->n) {
		if (is_old(n, &x->cast[i], t))
			x->cast[i] = x->cast[--x->n];
		else
			i++;
	}
}

void casts_note(struct net *n, site_id s, const struct packet *p, uint32_t in,
	uint32_t ports, sim_time t)
{
	struct net_casts *x = &n->casts[s];

	forget_old(n, x, t);
	if (x->n == x->room) {
		x->room = 2 * x->room + 4;
		x->cast = mem_grow(x->cast, x->room, sizeof(*x->cast));
	}
	x->cast[x->n++] = (struct net_cast){
		.src = p->src,
		.number = p->number,
		.since = t,
		.waits = (uint16_t)ports,
		.in = (uint8_t)in,
	};
}

uint32_t casts_answer(
	struct net *n, site_id s, struct packet *p, uint32_t in, sim_time t)
{
	struct net_casts *x = &n->casts[s];
	struct net_cast *c = x->cast, *end = c + x->n;
	uint32_t port;

	while (c < end && (c->src != p->dst || c->number != p->number ||
				  !(c->waits >> in & 1)))
		c++;
	/* What was hurt may say anything: its sender waits in vain. */
	if (c == end || is_old(n, c, t) || p->flags & PACKET_HURT) {
		x->strays++;
		return PACKET_NO_PORT;
	}
	c->waits &= (uint16_t) ~(1u << in);
	if (p->answer > c->answer)
		c->answer = p->answer;
	if (c->waits)
		return PACKET_NO_PORT;
	p->answer = c->answer;
	port = c->in;
	*c = *--end;
	x->n--;
	return port;
}

uint64_t casts_strays(const struct net *n)
{
	uint64_t sum = 0;
	site_id s;

	for (s = 0; s < n->n_sites && n->casts; s++)
		sum += n->casts[s].strays;
	return sum;
}

uint64_t casts_waiting(const struct net *n)
{
	uint64_t sum = 0;
	site_id s;

	for (s = 0; s < n->n_sites && n->casts; s++)
		sum += n->casts[s].n;
	return sum;
}

void casts_free(struct net *n)
{
	site_id s;

	if (!n->casts)
		return;
	for (s = 0; s < n->n_sites; s++)
		mem_free(n->casts[s].cast);
	map_free(n->casts, n->n_sites * sizeof(*n->casts));
}

uint64_t casts_memory(const struct net *n)
{
	uint64_t sum = 0;
	site_id s;

	if (!n->casts)
		return 0;
	for (s = 0; s < n->n_sites; s++)
		sum += n->casts[s].room * sizeof(struct net_cast);
	return sum + n->n_sites * sizeof(*n->casts);
}
