#include "coll/multicast.h"

#include <string.h>

#include "base/mem.h"

enum { MOST_HOPS = 64 };

/* Entries of a port, up to the last one that was ever written. */
struct row {
	uint32_t n;
	port_mask ports[];
};

/* A switch. */
struct spot {
	struct row **port; /* NULL until an entry is written, each of them */
	uint64_t strays; /* packets without an entry */
};

struct multicast {
	struct coll coll;
	struct spot *spot; /* [switch] */
};

static struct multicast *of(const struct coll *c)
{
	return (struct multicast *)(uintptr_t)c;
}

static site_id n_switches(const struct coll *c)
{
	return c->n_sites - c->n_nodes;
}

static struct spot *spot_of(const struct coll *c, site_id s)
{
	return &of(c)->spot[s - c->n_nodes];
}

bool multicast_has(const struct coll *c)
{
	return c && c->ops == &multicast_ops;
}

/* --- entries --- */

port_mask multicast_read(
	const struct coll *c, site_id s, port_id in, uint32_t entry)
{
	const struct spot *x = spot_of(c, s);

	return x->port && x->port[in] && entry < x->port[in]->n
		       ? x->port[in]->ports[entry]
		       : 0;
}

static size_t row_bytes(uint32_t n)
{
	return sizeof(struct row) + n * sizeof(port_mask);
}

static port_mask *place_of(
	const struct coll *c, site_id s, port_id in, uint32_t entry)
{
	struct spot *x = spot_of(c, s);
	struct row *r;

	if (!x->port)
		x->port = mem_alloc(c->route->topo->n_ports, sizeof(*x->port));
	r = x->port[in];
	if (!r || r->n <= entry) {
		r = mem_alloc(1, row_bytes(entry + 1));
		if (x->port[in])
			memcpy(r, x->port[in], row_bytes(x->port[in]->n));
		mem_free(x->port[in]);
		r->n = entry + 1;
		x->port[in] = r;
	}
	return &r->ports[entry];
}

static bool has_wires(const struct topo *t, site_id s, port_mask ports)
{
	for (; ports; ports &= ports - 1) {
		port_id p = (port_id)__builtin_ctzll(ports);

		if (p >= t->n_ports ||
			t->ops->peer(t, s, p).router == NO_ROUTER)
			return false;
	}
	return true;
}

int multicast_write(struct coll *c, site_id s, port_id in, uint32_t entry,
	port_mask ports, struct err *e)
{
	const struct topo *t = c->route->topo;

	if (s < c->n_nodes || s >= c->n_sites)
		return err_set(e, "multicast: site %u is no switch", s);
	if (in >= t->n_ports)
		return err_set(e, "multicast: there is no port %u", in);
	if (entry >= MULTICAST_ENTRIES)
		return err_set(e,
			"multicast: there is no entry %u; a port has %d", entry,
			MULTICAST_ENTRIES);
	if (!has_wires(t, s, ports))
		return err_set(e,
			"multicast: an entry of switch %u has a port without a "
			"link",
			s);
	if (ports || multicast_read(c, s, in, entry))
		*place_of(c, s, in, entry) = ports;
	return 0;
}

/* --- chains --- */

/* A tree that grows: its ports at each site, and the sites in order. */
struct chain {
	const struct coll *coll;
	uint32_t entry;
	port_mask *ports; /* [site] */
	site_id *site;
	uint32_t n;
};

static void add_port(struct chain *x, site_id s, port_id p)
{
	if (!x->ports[s])
		x->site[x->n++] = s;
	x->ports[s] |= (port_mask)1 << p;
}

/* Of several ports the same one for all nodes: the entry says which. */
static port_id choose(port_mask ports, uint32_t entry)
{
	uint32_t k = entry % (uint32_t)__builtin_popcountll(ports);

	while (k--)
		ports &= ports - 1;
	return (port_id)__builtin_ctzll(ports);
}

/* Follows the routing from a node's port to another node. */
static int add_way(
	struct chain *x, site_id from, port_id port, site_id to, struct err *e)
{
	const struct route *r = x->coll->route;
	const struct topo *t = r->topo;
	struct packet p = { .src = from, .dst = to, .kind = PACKET_SYSTEM };
	struct topo_end at = { from, port };

	r->ops->start(r, &p);
	for (uint32_t hops = 0; hops < MOST_HOPS; hops++) {
		struct topo_end far = t->ops->peer(t, at.router, at.port);
		port_mask ports;

		if (far.router == NO_ROUTER)
			break;
		add_port(x, at.router, at.port);
		add_port(x, far.router, far.port);
		if (far.router == to)
			return 0;
		ports = r->ops->next(r, &p, far.router, far.port).ports;
		if (far.router < t->n_nodes || !ports)
			break;
		at = (struct topo_end){ far.router, choose(ports, x->entry) };
	}
	return err_set(e, "multicast: node %u has no way to node %u by port %u",
		from, to, port);
}

static int check_free(const struct chain *x, struct err *e)
{
	for (uint32_t i = 0; i < x->n; i++)
		for (port_mask m = x->ports[x->site[i]];
			x->site[i] >= x->coll->n_nodes && m; m &= m - 1)
			if (multicast_read(x->coll, x->site[i],
				    (port_id)__builtin_ctzll(m), x->entry))
				return err_set(e,
					"multicast: entry %u of switch %u is "
					"in use",
					x->entry, x->site[i]);
	return 0;
}

/* In by one, out by all others. */
static int write_chain(struct coll *c, const struct chain *x, struct err *e)
{
	for (uint32_t i = 0; i < x->n; i++) {
		site_id s = x->site[i];

		for (port_mask m = x->ports[s]; s >= c->n_nodes && m;
			m &= m - 1)
			if (multicast_write(c, s, (port_id)__builtin_ctzll(m),
				    x->entry, x->ports[s] & ~(m & -m), e))
				return -1;
	}
	return 0;
}

static int check_nodes(const struct coll *c, port_id port, const site_id *node,
	uint32_t n, struct err *e)
{
	if (port >= c->route->topo->node_ports)
		return err_set(e, "multicast: nodes have no port %u", port);
	for (uint32_t i = 0; i < n; i++)
		if (node[i] >= c->n_nodes)
			return err_set(
				e, "multicast: there is no node %u", node[i]);
	return 0;
}

int multicast_join(struct coll *c, uint32_t entry, port_id port,
	const site_id *node, uint32_t n, struct err *e)
{
	struct chain x = { .coll = c, .entry = entry };
	int failed = 0;

	if (check_nodes(c, port, node, n, e))
		return -1;
	x.ports = mem_alloc(c->n_sites, sizeof(*x.ports));
	x.site = mem_alloc(c->n_sites, sizeof(*x.site));
	for (uint32_t i = 1; i < n && !failed; i++)
		failed = node[i] != node[0] &&
			 add_way(&x, node[0], port, node[i], e);
	failed = failed || check_free(&x, e) || write_chain(c, &x, e);
	mem_free(x.ports);
	mem_free(x.site);
	return failed ? -1 : 0;
}

/* The switch behind a port of a site, and all that follow it. */
static void part_from(struct coll *c, uint32_t entry, site_id s, port_id p)
{
	const struct topo *t = c->route->topo;
	struct topo_end at = t->ops->peer(t, s, p);
	port_mask ports;
	struct err e;

	if (at.router == NO_ROUTER || at.router < c->n_nodes)
		return;
	ports = multicast_read(c, at.router, at.port, entry);
	if (!ports)
		return;
	for (port_mask m = ports | (port_mask)1 << at.port; m; m &= m - 1)
		multicast_write(c, at.router, (port_id)__builtin_ctzll(m),
			entry, 0, &e);
	for (; ports; ports &= ports - 1)
		part_from(c, entry, at.router, (port_id)__builtin_ctzll(ports));
}

void multicast_part(struct coll *c, uint32_t entry, port_id port, site_id node)
{
	part_from(c, entry, node, port);
}

/* --- packets --- */

static struct coll_step multicast_arrive(
	struct coll *c, site_id s, struct packet *p, port_id in, sim_time t)
{
	struct coll_step step = { 0 };

	(void)t;
	if (s < c->n_nodes)
		return step;
	/* entries may lead around */
	if (p->passed <= MOST_HOPS)
		step.ports = multicast_read(c, s, in, p->last);
	step.ends = !step.ports;
	spot_of(c, s)->strays += step.ends;
	return step;
}

/* --- life --- */

static bool multicast_serves(const struct route *r)
{
	return r->lists != NULL;
}

static void multicast_init(struct coll *c)
{
	of(c)->spot = map_alloc((n_switches(c) + 1) * sizeof(*of(c)->spot));
}

static void multicast_fini(struct coll *c)
{
	for (site_id i = 0; i < n_switches(c); i++) {
		struct row **port = of(c)->spot[i].port;

		for (port_id p = 0; port && p < c->route->topo->n_ports; p++)
			mem_free(port[p]);
		mem_free(port);
	}
	map_free(of(c)->spot, (n_switches(c) + 1) * sizeof(*of(c)->spot));
}

static uint64_t multicast_waiting(const struct coll *c)
{
	(void)c;
	return 0;
}

static uint64_t multicast_strays(const struct coll *c)
{
	uint64_t sum = 0;

	for (site_id i = 0; i < n_switches(c); i++)
		sum += of(c)->spot[i].strays;
	return sum;
}

static uint64_t multicast_memory(const struct coll *c)
{
	port_id n = c->route->topo->n_ports;
	uint64_t sum = n_switches(c) * sizeof(struct spot);

	for (site_id i = 0; i < n_switches(c); i++) {
		struct row **port = of(c)->spot[i].port;

		sum += port ? n * sizeof(*port) : 0;
		for (port_id p = 0; port && p < n; p++)
			sum += port[p] ? row_bytes(port[p]->n) : 0;
	}
	return sum;
}

const struct coll_ops multicast_ops = {
	.name = "multicast",
	.size = sizeof(struct multicast),
	.flags = PACKET_MANY,
	.serves = multicast_serves,
	.init = multicast_init,
	.fini = multicast_fini,
	.arrive = multicast_arrive,
	.waiting = multicast_waiting,
	.strays = multicast_strays,
	.memory = multicast_memory,
};
