/* The list of topologies; weft/plugin/topo.h defines what a topology is. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "base/err.h"
#include "base/param.h"
#include "weft/plugin/topo.h"

/* The raw rate of a link, in bytes per second. */
#define TOPO_MIN_RATE INT64_C(1000000)
#define TOPO_MAX_RATE INT64_C(1000000000000)

/* "node 17 (1,0,3)", "node 17", "switch 2.5". */
void topo_name_site(const struct topo *t, router_id r, char *text, size_t size);

/* A node itself; of a switch, its first node, or the switch if it has none. */
router_id topo_node_near(const struct topo *t, router_id r);

/* Ports of a router without those of its links to IO nodes, which are last. */
static inline port_id topo_ports(const struct topo *t)
{
	return topo_is_direct(t) ? t->node_ports : t->n_ports;
}

/* Ports of a site, up to the last one with a wire. */
static inline uint32_t topo_ports_at(const struct topo *t, router_id r)
{
	uint32_t n = r < t->n_nodes ? t->node_ports : t->n_ports;

	if (topo_is_direct(t))
		n = t->n_ports;
	while (n && t->ops->peer(t, r, (port_id)(n - 1)).router == NO_ROUTER)
		n--;
	return n;
}

/*
 * Directed links in one row of numbers, by the site that they leave and by its
 * port.  In an indirect network nodes have fewer ports than switches, and no
 * numbers for others.
 */
struct topo_links {
	uint32_t n; /* numbers */
	router_id n_few; /* sites with few ports: the first ones */
	port_id few, most; /* ports of these, and of the others */
	uint32_t saved; /* numbers that the few do not use */
};

static inline struct topo_links topo_links(const struct topo *t)
{
	router_id n_few = topo_is_direct(t) ? 0 : t->n_nodes;
	uint32_t saved = n_few * (t->n_ports - t->node_ports);

	return (struct topo_links){ t->n_routers * t->n_ports - saved, n_few,
		t->node_ports, t->n_ports, saved };
}

static inline uint32_t topo_link(
	const struct topo_links *l, router_id r, port_id p)
{
	return r < l->n_few ? r * l->few + p : r * l->most + p - l->saved;
}

static inline struct topo_end topo_link_end(
	const struct topo_links *l, uint32_t link)
{
	uint32_t per = link < l->n_few * l->few ? l->few : l->most;

	link += per == l->most ? l->saved : 0;
	return (struct topo_end){ link / per, link % per };
}

/* The number that a link would have if all sites had as many ports: what random
 * numbers of links are drawn by. */
static inline uint32_t topo_link_key(const struct topo_links *l, uint32_t link)
{
	struct topo_end end = topo_link_end(l, link);

	return end.router * l->most + end.port;
}

/*
 * After init(): checks the answers of a topology for each router and port, and
 * reports a wrong one.  For topologies of plugins; those in the registry have
 * tests.
 */
int topo_look(const struct topo *t, struct err *e);

extern const struct topo_ops *const topo_registry[];

#endif
