#include "topo/topo.h"

#include <stdio.h>

#include "base/name.h"
#include "topo/dragonfly.h"
#include "topo/fattree.h"
#include "topo/graph.h"
#include "topo/hyperx.h"
#include "topo/slimfly.h"
#include "topo/torus.h"

const struct topo_ops *const topo_registry[] = {
	&torus_ops,
	&fattree_ops,
	&dragonfly_ops,
	&hyperx_ops,
	&slimfly_ops,
	&graph_ops,
	NULL,
};

void topo_name_site(const struct topo *t, router_id r, char *text, size_t size)
{
	char name[64];
	size_t n;

	t->ops->name_router(t, r, name, sizeof(name));
	if (t->n_io && r >= t->n_nodes) {
		snprintf(text, size, "IO node %u", r - t->n_nodes);
		return;
	}
	n = name_put(text, size, 0, r < t->n_nodes ? "node " : "switch ");
	if (topo_is_direct(t)) {
		n = name_put_number(text, size, n, r);
		n = name_put(text, size, n, " ");
	}
	name_put(text, size, n, name);
}

router_id topo_node_near(const struct topo *t, router_id r)
{
	for (port_id p = 0; r >= t->n_nodes && p < t->n_ports; p++) {
		struct topo_end far = t->ops->peer(t, r, p);

		if (far.router < t->n_nodes)
			return far.router;
	}
	return r;
}
