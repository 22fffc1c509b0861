/* The list of topologies; weft/plugin/topo.h defines what a topology is. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "base/err.h"
#include "base/param.h"
#include "weft/plugin/topo.h"

/* "node 17 (1,0,3)", "node 17", "switch 2.5". */
void topo_name_site(const struct topo *t, router_id r, char *text, size_t size);

/* A node itself; of a switch, its first node, or the switch if it has none. */
router_id topo_node_near(const struct topo *t, router_id r);

/* Ports of a router without those of its links to IO nodes, which are last. */
static inline port_id topo_ports(const struct topo *t)
{
	return topo_is_direct(t) ? t->node_ports : t->n_ports;
}

/*
 * After init(): checks the answers of a topology for each router and port, and
 * reports a wrong one.  For topologies of plugins; those in the registry have
 * tests.
 */
int topo_look(const struct topo *t, struct err *e);

extern const struct topo_ops *const topo_registry[];

#endif
