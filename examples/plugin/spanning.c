/*
 * A routing as a plugin: all packets go up and down one tree that spans the
 * network, as Ethernet's spanning tree does.  It needs one channel and cannot
 * deadlock on any network of switches, but leaves all other links idle; compare
 * it with the machine's own routing, layers:
 *
 *	cc -O2 -shared -fPIC $(pkg-config --cflags weft) spanning.c \
 *		-o spanning.so
 *	weft run graph --set topology.edges=sites.csv random
 *	weft run graph --set topology.edges=sites.csv random \
 *		--plugin ./spanning.so --set routing.kind=spanning
 *
 * When links fail or return, a new tree is made of those that work.  Packets on
 * both trees together can deadlock: Weft finds such cycles by itself, stops
 * injection, and drains the network before the new tree is used.
 */
#include <stdlib.h>

#include <weft/plugin/plugin.h>

struct spanning {
	struct route route;
	struct place {
		router_id parent; /* NO_ROUTER: the root, or not seen yet */
		port_id up, down; /* to the parent; from it */
		uint32_t depth; /* 0: not seen yet */
	} * place; /* [router], used of switches */
	const struct spanning *whole; /* before any link failed; or NULL */
};

/* In ps: the time until a new tree is known, and that packets on the old one
 * have to leave. */
static const int64_t known = 100000000, drain = 20000000;

static const struct spanning *of(const struct route *r)
{
	return (const struct spanning *)r;
}

static bool is_dead(const struct spanning *s, router_id at, port_id p)
{
	return s->route.dead && s->route.dead[at] >> p & 1;
}

/* Takes the neighbours of a switch into the tree; returns the new end of the
 * queue. */
static uint32_t visit(
	struct spanning *s, router_id at, router_id *queue, uint32_t end)
{
	const struct topo *t = s->route.topo;

	for (port_id p = 0; p < t->n_ports; p++) {
		struct topo_end e = t->ops->peer(t, at, p);

		if (e.router == NO_ROUTER || e.router < t->n_nodes ||
			s->place[e.router].depth || is_dead(s, at, p))
			continue;
		s->place[e.router] =
			(struct place){ at, e.port, p, s->place[at].depth + 1 };
		queue[end++] = e.router;
	}
	return end;
}

/* Breadth first, from the first switch; false if there is no memory. */
static bool grow(struct spanning *s)
{
	const struct topo *t = s->route.topo;
	router_id *queue = calloc(t->n_routers, sizeof(*queue));
	uint32_t end = 1;

	s->place = calloc(t->n_routers, sizeof(*s->place));
	if (s->place && queue) {
		queue[0] = t->n_nodes;
		s->place[t->n_nodes] = (struct place){ NO_ROUTER, 0, 0, 1 };
		for (uint32_t i = 0; i < end; i++)
			end = visit(s, queue[i], queue, end);
	}
	free(queue);
	return s->place && queue;
}

static int init(struct route *r, const struct topo *t, struct err *e)
{
	struct spanning *s = (struct spanning *)r;

	if (topo_is_direct(t))
		return weft_refuse(e, "routing.kind: spanning needs switches");
	r->topo = t;
	r->n_channels = 1;
	r->told = known;
	r->notice = -1;
	r->drain = drain;
	if (!grow(s))
		return weft_refuse(e, "routing.kind: spanning: no memory");
	return 0;
}

/* The tree of what is left. */
static struct route *avoid(const struct route *r, const port_mask *dead)
{
	const struct spanning *old = of(r);
	struct spanning *s = calloc(1, sizeof(*s));
	port_mask *mask = calloc(r->topo->n_routers, sizeof(*mask));

	if (!s || !mask)
		abort();
	*s = *old;
	s->whole = old->whole ? old->whole : old;
	for (router_id i = 0; i < r->topo->n_routers; i++)
		mask[i] = dead[i];
	s->route.dead = mask;
	if (!grow(s))
		abort();
	return &s->route;
}

static void fini(struct route *r)
{
	free(((struct spanning *)r)->place);
	free((port_mask *)(uintptr_t)r->dead);
}

static void start(const struct route *r, struct packet *p)
{
	(void)r;
	p->kind = PACKET_DYNAMIC; /* all have one path */
}

/* Down where the destination is below, else up. */
static port_id towards(const struct spanning *s, router_id at, uint32_t dst)
{
	const struct topo *t = s->route.topo;
	struct topo_end last = t->ops->peer(t, dst, 0);
	router_id x = last.router;

	if (x == at)
		return last.port;
	if (!s->place[at].depth || !s->place[x].depth)
		return towards(s->whole, at, dst); /* and is lost there */
	while (s->place[x].depth > s->place[at].depth + 1)
		x = s->place[x].parent;
	return s->place[x].parent == at ? s->place[x].down : s->place[at].up;
}

static struct route_step next(
	const struct route *r, struct packet *p, router_id at, port_id in)
{
	struct route_step step = { .is_ordered = true };

	(void)in;
	if (at == p->dst) {
		step.escape = PACKET_NO_PORT;
		return step;
	}
	if (at >= r->topo->n_nodes)
		step.escape = towards(of(r), at, p->dst);
	step.ports = (port_mask)1 << step.escape;
	return step;
}

static const char *const channels[] = { "tree" };

static const struct route_ops spanning = {
	.name = "spanning",
	.has = "orders",
	.channels = channels,
	.n_channels = 1,
	.size = sizeof(struct spanning),
	.init = init,
	.fini = fini,
	.start = start,
	.next = next,
	.avoid = avoid,
};

static const struct route_ops *const routings[] = { &spanning, NULL };

WEFT_PLUGIN(.routings = routings);
