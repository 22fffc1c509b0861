/*
 * What a topology says of itself is believed everywhere else, without a look:
 * so one that comes from outside is looked at once, port by port.  Each message
 * is for the plugin's author.
 */
#include "topo/topo.h"

static int check_counts(const struct topo *t, struct err *e)
{
	const char *name = t->ops->name;

	if (!t->n_nodes || t->n_nodes > TOPO_MAX_ROUTERS ||
		t->n_routers > TOPO_MAX_ROUTERS || t->n_io > t->n_routers ||
		t->n_nodes > t->n_routers - t->n_io)
		return err_set(e,
			"topology.kind %s: init() has set n_nodes %u, n_io %u "
			"and n_routers %u; want at least one node, n_routers "
			"of at least their sum, and at most %d",
			name, t->n_nodes, t->n_io, t->n_routers,
			TOPO_MAX_ROUTERS);
	if (!t->n_ports || t->n_ports > TOPO_MAX_PORTS || !t->node_ports ||
		t->node_ports > t->n_ports)
		return err_set(e,
			"topology.kind %s: init() has set n_ports %u and "
			"node_ports %u; want 1 to %d ports, and of nodes 1 to "
			"n_ports",
			name, t->n_ports, t->node_ports, TOPO_MAX_PORTS);
	if (!t->n_wires || t->n_wires > TOPO_MAX_WIRES)
		return err_set(e,
			"topology.kind %s: init() has set n_wires %u; want 1 "
			"to %d classes of wires",
			name, t->n_wires, TOPO_MAX_WIRES);
	return 0;
}

static int check_classes(const struct topo *t, struct err *e)
{
	for (uint32_t i = 0; i < t->n_wires; i++) {
		const struct topo_wire *w = &t->wire[i];

		if (w->name && w->latency > 0 && w->logic >= 0 &&
			w->logic <= w->latency && w->rate >= 0)
			continue;
		return err_set(e,
			"topology.kind %s: wire class %u has %s, latency %lld "
			"ps, logic %lld ps, rate %lld; want a name, a latency "
			"above 0, logic from 0 to the latency, and a rate of 0 "
			"or more",
			t->ops->name, i, w->name ? w->name : "no name",
			(long long)w->latency, (long long)w->logic,
			(long long)w->rate);
	}
	return 0;
}

static int check_far(const struct topo *t, struct topo_end at,
	struct topo_end far, struct err *e)
{
	struct topo_end back;

	if (far.router >= t->n_routers || far.port >= t->n_ports)
		return err_set(e,
			"topology.kind %s: peer(%u, %u) is router %u, port %u; "
			"want NO_ROUTER, or a router below %u and a port below "
			"%u",
			t->ops->name, at.router, at.port, far.router, far.port,
			t->n_routers, t->n_ports);
	back = t->ops->peer(t, far.router, far.port);
	if (far.router == at.router && far.port == at.port)
		return err_set(e,
			"topology.kind %s: peer(%u, %u) is that port itself; a "
			"wire has two ends",
			t->ops->name, at.router, at.port);
	if (back.router == NO_ROUTER)
		return err_set(e,
			"topology.kind %s: peer(%u, %u) is router %u, port %u, "
			"but that port has no wire (NO_ROUTER)",
			t->ops->name, at.router, at.port, far.router, far.port);
	if (back.router != at.router || back.port != at.port)
		return err_set(e,
			"topology.kind %s: peer(%u, %u) is router %u, port %u, "
			"whose peer is router %u, port %u; the ends of a wire "
			"must name each other",
			t->ops->name, at.router, at.port, far.router, far.port,
			back.router, back.port);
	return 0;
}

static int check_port(const struct topo *t, struct topo_end at, struct err *e)
{
	struct topo_end far = t->ops->peer(t, at.router, at.port);
	uint32_t class;
	port_id on = t->ops->straight ? t->ops->straight(t, at.router, at.port)
				      : TOPO_NO_PORT;

	if (on != TOPO_NO_PORT && on >= t->n_ports)
		return err_set(e,
			"topology.kind %s: straight(%u, %u) is port %u; want "
			"TOPO_NO_PORT, or a port below %u",
			t->ops->name, at.router, at.port, on, t->n_ports);
	if (far.router == NO_ROUTER)
		return 0;
	if (check_far(t, at, far, e))
		return -1;
	if (!topo_is_direct(t) && at.router < t->n_nodes &&
		at.port >= t->node_ports)
		return err_set(e,
			"topology.kind %s: node %u has a wire at port %u, "
			"though node_ports is %u",
			t->ops->name, at.router, at.port, t->node_ports);
	class = t->ops->wire(t, at.router, at.port);
	if (class >= t->n_wires)
		return err_set(e,
			"topology.kind %s: wire(%u, %u) is class %u; want one "
			"below n_wires, %u",
			t->ops->name, at.router, at.port, class, t->n_wires);
	return 0;
}

/* Switches are simulated with a node; IO nodes need not be. */
static int check_home(const struct topo *t, router_id r, struct err *e)
{
	router_id home = t->ops->home ? t->ops->home(t, r) : r;

	if (home < t->n_nodes || (!t->ops->home && topo_is_direct(t)))
		return 0;
	return err_set(e,
		t->ops->home
			? "topology.kind %s: home(%u) is %u; want a node, "
			  "below %u"
			: "topology.kind %s: router %u is a switch, so "
			  "home() must return the node that it is simulated "
			  "with (not %u; below %u)",
		t->ops->name, r, home, t->n_nodes);
}

static int check_router(const struct topo *t, router_id r, struct err *e)
{
	struct topo_end at = { .router = r };

	for (at.port = 0; at.port < t->n_ports; at.port++)
		if (check_port(t, at, e))
			return -1;
	return check_home(t, r, e);
}

/* --- coordinates --- */

static int check_place(const struct topo *t, router_id node, uint32_t n,
	const uint32_t *size, struct err *e)
{
	uint32_t x[TOPO_MAX_DIMS] = { 0 }, i;
	router_id at;

	t->ops->place(t, node, x);
	for (i = 0; i < n; i++)
		if (x[i] >= size[i])
			return err_set(e,
				"topology.kind %s: place(%u) is at %u along "
				"dimension %u, which has length %u in grid()",
				t->ops->name, node, x[i], i, size[i]);
	at = t->ops->node_at ? t->ops->node_at(t, x) : 0;
	if (at >= t->n_nodes)
		return err_set(e,
			"topology.kind %s: node_at() of the place of node %u "
			"is %u; want a node, below %u",
			t->ops->name, node, at, t->n_nodes);
	return 0;
}

static int check_grid(const struct topo *t, struct err *e)
{
	uint32_t size[TOPO_MAX_DIMS] = { 0 }, n, i;

	if (!t->ops->grid)
		return 0;
	n = t->ops->grid(t, size);
	for (i = 0; i < n && n <= TOPO_MAX_DIMS && size[i]; i++)
		;
	if (!n || i < n)
		return err_set(e,
			"topology.kind %s: grid() returns %u dimensions; want "
			"1 to %d, none of them empty",
			t->ops->name, n, TOPO_MAX_DIMS);
	for (router_id node = 0; t->ops->place && node < t->n_nodes; node++)
		if (check_place(t, node, n, size, e))
			return -1;
	return 0;
}

int topo_look(const struct topo *t, struct err *e)
{
	if (check_counts(t, e) || check_classes(t, e))
		return -1;
	for (router_id r = 0; r < t->n_routers; r++)
		if (check_router(t, r, e))
			return -1;
	return check_grid(t, e);
}
