#include "net/proof.h"

#include <stdio.h>

/* Classes that packets of a class wait for, over any number of nodes. */
static void close_waits(uint32_t waits[N_NET_CLASSES])
{
	for (uint32_t via = 0; via < N_NET_CLASSES; via++)
		for (uint32_t c = 0; c < N_NET_CLASSES; c++)
			if (waits[c] >> via & 1)
				waits[c] |= waits[via];
}

/* A class whose packets wait for others of their own queues, or none. */
static uint32_t find_locked(const struct proof_nodes *x)
{
	uint32_t waits[N_NET_CLASSES], c;

	for (c = 0; c < N_NET_CLASSES; c++)
		waits[c] = x->waits[c];
	close_waits(waits);
	for (c = 0; c < N_NET_CLASSES; c++)
		if (waits[c] >> c & 1 || (x->is_shared && waits[c]))
			break;
	return c;
}

/* An example: the channels of one way that packets take between nodes. */
static void tell_way(
	struct proof_step *s, const struct proof_nodes *x, site_id a, site_id b)
{
	const struct topo *t = x->topo;
	struct packet p = { .src = a, .dst = b };
	struct topo_end at = { a, TOPO_NO_PORT };

	x->route->ops->start(x->route, &p);
	for (uint32_t n = 0; n < t->n_routers && at.router != b; n++) {
		struct route_step step =
			x->route->ops->next(x->route, &p, at.router, at.port);
		port_id port = step.escape;

		if (step.ports)
			port = (port_id)__builtin_ctzll(step.ports);
		if (port == PACKET_NO_PORT)
			return;
		proof_tell(s, at.router, port, step.channel);
		at = t->ops->peer(t, at.router, port);
		if (at.router == NO_ROUTER)
			return;
	}
}

static void say_locked(struct proof_step *s, const struct proof_nodes *x)
{
	snprintf(s->why, sizeof(s->why),
		"nic.kind %s %s; with routing.kind %s answers share the queues "
		"of requests, so a request may wait for an answer behind it",
		x->nic, x->how, x->route->ops->name);
	if (x->topo->n_nodes < 2)
		return;
	tell_way(s, x, 0, 1);
	tell_way(s, x, 1, 0);
}

void proof_nodes(struct proof *p, const struct proof_nodes *x)
{
	struct proof_step *s = &p->step[p->n_steps];
	bool is_waiting = false;

	for (uint32_t c = 0; c < N_NET_CLASSES; c++)
		is_waiting |= x->waits[c] != 0;
	s->letter = (char)('a' + p->n_steps++);
	s->what = "no packet waits at a node for one that may be behind it";
	s->holds = find_locked(x) == N_NET_CLASSES;
	if (!s->holds)
		say_locked(s, x);
	else if (is_waiting)
		snprintf(s->why, sizeof(s->why),
			"nic.kind %s %s; answers have queues of their own and "
			"are always accepted",
			x->nic, x->how);
	else
		snprintf(s->why, sizeof(s->why),
			"nic.kind %s accepts every packet, even if others wait "
			"to leave%s%s",
			x->nic, x->how ? ", but " : "", x->how ? x->how : "");
	p->is_proved &= s->holds;
}
