/* The topologies that there are; what one is is in weft/plugin/topo.h. */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "base/err.h"
#include "base/param.h"
#include "weft/plugin/topo.h"

/* "node 17 (1,0,3)", "node 17", "switch 2.5". */
void topo_name_site(const struct topo *t, router_id r, char *text, size_t size);

/* A node itself, or the first that is connected to a switch, or the switch. */
router_id topo_node_near(const struct topo *t, router_id r);

/* The first ports of a router, which lead to nodes, or to switches: all but
 * those between compute nodes and IO nodes. */
static inline port_id topo_ports(const struct topo *t)
{
	return topo_is_direct(t) ? t->node_ports : t->n_ports;
}

/*
 * After init(): calls everything that others rely on for each router and port,
 * and says what is wrong.  For topologies from outside; those in the registry
 * are tested.
 */
int topo_look(const struct topo *t, struct err *e);

extern const struct topo_ops *const topo_registry[];

#endif
