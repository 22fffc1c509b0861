#include "parts/tables/tables.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "coll/multicast.h"
#include "net/net.h"
#include "net/proof.h"
#include "net/router.h"

#define AT(field) offsetof(struct tables_params, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_LINES, "entries", AT(entries), "none", 0, 0,
		"entries that are written into switches before a run, such as "
		"`switch 0:1.0 from down to node 17 by up 3, up 4`",
		NULL),
	PARAM_ROW(PARAM_LINES, "multicasts", AT(multicasts), "none", 0, 0,
		"entries of multicasts, such as `switch 0:1.0 entry 5 joins "
		"down 0, down 7, up 2`",
		NULL),
};

static const struct part_block blocks[] = {
	{ "tables", params, sizeof(params) / sizeof(params[0]), 0 },
	{ 0 },
};

static bool has_any(const struct tables_params *p)
{
	return p->entries.n || p->multicasts.n;
}

/* --- the tables of a machine that is not built --- */

struct drawn {
	const struct part_place *at;
	struct route_memory **own; /* [router] */
	/* of multicasts, [switch][port][entry]; NULL: there are none */
	port_mask *ports;
};

static size_t cast_at(
	const struct drawn *d, router_id at, port_id in, uint32_t entry)
{
	const struct topo *t = d->at->topo;

	return ((size_t)(at - t->n_nodes) * t->n_ports + in) *
		       MULTICAST_ENTRIES +
	       entry;
}

static struct route_memory **draw_memory(void *arg, router_id at)
{
	struct drawn *d = arg;

	return &d->own[at];
}

static void draw_cast(void *arg, const struct tables_cast *c)
{
	struct drawn *d = arg;

	d->ports[cast_at(d, c->at, c->in, c->entry)] = c->ports;
}

/* The place outlives them. */
static int draw(struct drawn *d, const struct tables_params *p,
	const struct part_place *at, struct err *e)
{
	const struct tables_sink to = { d, draw_memory, draw_cast };
	const struct topo *t = at->topo;

	*d = (struct drawn){ .at = at };
	d->own = mem_alloc(t->n_routers, sizeof(struct route_memory *));
	if (p->multicasts.n)
		d->ports = mem_alloc(
			cast_at(d, t->n_routers, 0, 0), sizeof(*d->ports));
	return tables_write(p, at, &to, e);
}

static void wipe(struct drawn *d)
{
	for (router_id at = 0; at < d->at->topo->n_routers; at++)
		d->at->route->lists->free(d->own[at]);
	mem_free(d->own);
	mem_free(d->ports);
}

static int check(const void *own, const struct part_place *at, struct err *e)
{
	const struct tables_params *p = own;
	struct drawn d;
	int failed;

	if (!has_any(p))
		return 0;
	if (!at->router->kind->written)
		return err_set(e, "tables: entries can only be written into "
				  "switches of router.kind array");
	failed = draw(&d, p, at, e);
	wipe(&d);
	return failed;
}

/* --- the proof --- */

static const struct route_memory *memory_at(const void *arg, router_id at)
{
	return ((const struct drawn *)arg)->own[at];
}

/* Beside those that are written, jobs set entries of their own. */
static port_mask casts_at(const void *arg, router_id at, port_id in)
{
	const struct drawn *d = arg;
	const struct route *r = d->at->route;
	port_mask ports = r->lists->casts(r, at, in);

	for (uint32_t i = 0; i < MULTICAST_ENTRIES; i++)
		ports |= d->ports[cast_at(d, at, in, i)];
	return ports;
}

/* Whether all copies by an entry come to nodes, or to switches that have the
 * entry, too. */
static bool goes_on(const struct drawn *d, router_id at, port_id in,
	uint32_t entry, struct proof_step *s)
{
	const struct topo *t = d->at->topo;
	port_mask m = d->ports[cast_at(d, at, in, entry)];
	char from[64], to[64], port[32];

	for (; m; m &= m - 1) {
		port_id p = (port_id)__builtin_ctzll(m);
		struct topo_end far = t->ops->peer(t, at, p);

		if (far.router < t->n_nodes ||
			d->ports[cast_at(d, far.router, far.port, entry)])
			continue;
		topo_name_site(t, at, from, sizeof(from));
		topo_name_site(t, far.router, to, sizeof(to));
		t->ops->name_port(t, far.router, far.port, port, sizeof(port));
		snprintf(s->why, sizeof(s->why),
			"a copy by entry %u of %s ends at %s, which has no "
			"such entry for what comes by %s",
			entry, from, to, port);
		return false;
	}
	return true;
}

static void check_copies(struct proof *p, const struct drawn *d)
{
	struct proof_step *s = &p->step[p->n_steps];
	const struct topo *t = d->at->topo;
	uint64_t n = 0;

	s->letter = (char)('a' + p->n_steps++);
	s->what = "each copy by a written entry reaches a node";
	s->holds = true;
	for (size_t i = 0; i < cast_at(d, t->n_routers, 0, 0) && s->holds;
		i++) {
		size_t port = i / MULTICAST_ENTRIES;

		n += d->ports[i] != 0;
		s->holds =
			goes_on(d, t->n_nodes + (router_id)(port / t->n_ports),
				(port_id)(port % t->n_ports),
				(uint32_t)(i % MULTICAST_ENTRIES), s);
	}
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"%" PRIu64 " entries of multicasts followed", n);
	p->is_proved &= s->holds;
}

static void free_drawn(const void *arg)
{
	struct drawn *d = (void *)(uintptr_t)arg;

	wipe(d);
	mem_free(d);
}

static bool writes(
	const void *own, const struct part_place *at, struct route_written *x)
{
	struct err e = { 0 };
	struct drawn *d;

	if (!has_any(own))
		return false;
	d = mem_alloc(1, sizeof(*d));
	BUG_IF(draw(d, own, at, &e));
	*x = (struct route_written){
		.arg = d,
		.memory = memory_at,
		.casts = d->ports ? casts_at : NULL,
		.free = free_drawn,
	};
	return true;
}

static void prove(const void *own, const struct part_place *at,
	const struct route_written *x, struct proof *p)
{
	(void)own;
	(void)at;
	if (x && x->casts == casts_at)
		check_copies(p, x->arg);
}

/* --- the tables of a run --- */

/* Of several processes, each writes its own switches'. */
struct own {
	struct net *net;
	struct route_memory *nobodys; /* for others */
};

static void forget(struct own *o)
{
	o->net->route->lists->free(o->nobodys);
	o->nobodys = NULL;
}

static struct route_memory **own_memory(void *arg, router_id at)
{
	struct own *o = arg;
	struct router *r = o->net->router[NET_SWITCHES];

	forget(o);
	return sim_has(o->net->sim, at) ? r->ops->written(r, at) : &o->nobodys;
}

static void own_cast(void *arg, const struct tables_cast *c)
{
	const struct net *n = ((struct own *)arg)->net;
	struct err e = { 0 };

	if (!sim_has(n->sim, c->at))
		return;
	BUG_IF(multicast_write(n->coll, c->at, c->in, c->entry, c->ports, &e));
}

static void wired(const void *own, const struct part_place *at)
{
	struct own o = { .net = at->net };
	const struct tables_sink to = { &o, own_memory, own_cast };
	struct err e = { 0 };

	BUG_IF(tables_write(own, at, &to, &e));
	forget(&o);
}

const struct part_ops part_tables = {
	.name = "tables",
	.needs = "written-tables",
	.blocks = blocks,
	.params_size = sizeof(struct tables_params),
	.check = check,
	.wired = wired,
	.writes = writes,
	.prove = prove,
};
