#include "net/rings.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "route/cdg.h"

void rings_init(struct rings *x)
{
	size_t n = (size_t)x->topo->n_routers * x->topo->n_ports;

	x->of = mem_alloc(n, sizeof(*x->of));
	x->link = mem_alloc(n, sizeof(*x->link));
	memset(x->of, 0xff, n * sizeof(*x->of));
}

void rings_fini(struct rings *x)
{
	mem_free(x->of);
	mem_free(x->ring);
	mem_free(x->link);
}

static bool is_same(struct topo_end a, struct topo_end b)
{
	return a.router == b.router && a.port == b.port;
}

/* The link that follows one; router is NO_ROUTER where there is none. */
static struct topo_end next_link(const struct topo *t, struct topo_end at)
{
	struct topo_end far = t->ops->peer(t, at.router, at.port);

	if (far.router == NO_ROUTER)
		return far;
	far.port = t->ops->straight(t, far.router, far.port);
	if (far.port == TOPO_NO_PORT ||
		t->ops->peer(t, far.router, far.port).router == NO_ROUTER)
		far.router = NO_ROUTER;
	return far;
}

struct topo_end rings_before(const struct topo *t, router_id r, port_id p)
{
	struct topo_end at = { r, p };
	port_id in = t->ops->straight(t, r, p);
	struct topo_end far;

	if (in == TOPO_NO_PORT)
		return at;
	far = t->ops->peer(t, r, in);
	return far.router == NO_ROUTER ? at : far;
}

static bool is_dead(const struct rings *x, struct topo_end at)
{
	return x->dead && x->dead[at.router] >> at.port & 1;
}

/* Back to the beginning of a line, or round a ring to the link behind. */
static struct topo_end first_link(const struct topo *t, struct topo_end at)
{
	struct topo_end first = at, before;

	while (!is_same(before = rings_before(t, first.router, first.port),
		       at) &&
		!is_same(before, first))
		first = before;
	return first;
}

static bool has_dead(const struct rings *x, struct topo_end first)
{
	struct topo_end at = first;

	if (!x->dead)
		return false;
	do {
		if (is_dead(x, at))
			return true;
		at = next_link(x->topo, at);
	} while (at.router != NO_ROUTER && !is_same(at, first));
	return false;
}

void rings_add(struct rings *x, router_id r, port_id p)
{
	const struct topo *t = x->topo;
	struct topo_end at = { r, p }, first;
	struct ring ring = { .first = x->n_links };

	if (t->ops->peer(t, r, p).router == NO_ROUTER ||
		rings_at(x, r, p) != NO_RING || is_dead(x, at))
		return;
	first = first_link(t, at);
	ring.is_single = has_dead(x, first);
	if (!ring.is_single)
		at = first;
	do {
		uint32_t link = at.router * t->n_ports + at.port;

		x->of[link] = x->n;
		x->link[x->n_links++] = link;
		ring.n++;
		at = next_link(t, at);
	} while (!ring.is_single && at.router != NO_ROUTER &&
		 rings_at(x, at.router, at.port) == NO_RING);
	ring.is_closed = !ring.is_single && is_same(at, first);
	x->n_closed += ring.is_closed;
	x->ring = mem_more(x->ring, x->n, sizeof(*x->ring));
	x->ring[x->n++] = ring;
}

/* The ports behind a link that lead out of its ring, and their router. */
static port_mask turns_of(
	const struct rings *x, uint32_t ring, uint32_t link, router_id *r)
{
	const struct topo *t = x->topo;
	struct topo_end far =
		t->ops->peer(t, link / t->n_ports, link % t->n_ports);
	port_id on = t->ops->straight(t, far.router, far.port);
	port_mask m = x->after(x->arg, link);

	*r = far.router;
	return on == TOPO_NO_PORT || x->ring[ring].is_single
		       ? m
		       : m & ~((port_mask)1 << on);
}

/* *at counts the ring's links, times the ports of a router. */
uint32_t rings_next(const void *arg, uint32_t v, uint32_t *at)
{
	const struct rings *x = arg;
	const struct ring *ring = &x->ring[v];
	uint32_t i = *at / TOPO_MAX_PORTS, from = *at % TOPO_MAX_PORTS;

	for (; i < ring->n; i++, from = 0) {
		router_id r;
		port_mask m = turns_of(x, v, x->link[ring->first + i], &r);

		for (m = m >> from << from; m; m &= m - 1) {
			port_id p = (port_id)__builtin_ctzll(m);

			/* another step of the proof finds ports without wire */
			if (rings_at(x, r, p) == NO_RING)
				continue;
			/* a last port carries to the next link */
			*at = i * TOPO_MAX_PORTS + p + 1;
			return rings_at(x, r, p);
		}
	}
	return CDG_NONE;
}

uint32_t rings_turning(const struct rings *x, uint32_t from, uint32_t to)
{
	uint32_t at = 0, v;

	do
		v = rings_next(x, from, &at);
	while (v != to && v != CDG_NONE);
	BUG_IF(v == CDG_NONE);
	return x->link[x->ring[from].first + (at - 1) / TOPO_MAX_PORTS];
}

void rings_tell(const struct rings *x, struct proof_step *s, uint32_t first,
	uint32_t n, uint32_t channel)
{
	uint32_t n_ports = x->topo->n_ports;

	for (const uint32_t *link = x->link + first; n; link++, n--)
		proof_tell(s, *link / n_ports, *link % n_ports, channel);
}
