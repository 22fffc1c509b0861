/*
 * Blue Gene/Q's IO nodes: the same chips behind the compute nodes, without
 * links among themselves.  Each serves so many compute nodes in a row, and has
 * links to some of these, its exits, which lie evenly among them: link k of an
 * IO node is at its port io_port + k, and at its exit it is the port io_port.
 */
#include <stdio.h>

#include "topo/torus.h"

#define AT(field) offsetof(struct torus, field)

static const struct param io_params[] = {
	PARAM_ROW(PARAM_COUNT, "io.every", AT(io_every), "0", 0,
		TOPO_MAX_ROUTERS,
		"number of compute nodes that share an IO node; 0: there are "
		"no IO nodes",
		"assumed: compute nodes only"),
	PARAM_ROW(PARAM_COUNT, "io.links", AT(io_links), "2", 1, TORUS_IO_LINKS,
		"number of links of an IO node, each to a compute node of its "
		"own",
		"BGQ-N6"),
};

static const struct param latency_params[] = {
	PARAM_ROW(PARAM_TIME, "latency.io", AT(latency[WIRE_IO]), "49 ns", 1,
		1000000000,
		"latency between an IO node and a compute node that it is "
		"linked to",
		"assumed: a board crossing"),
};

const struct topo_block torus_io = {
	.section = "topology",
	.needs = "packaging",
	.rows = io_params,
	.n_rows = sizeof(io_params) / sizeof(io_params[0]),
};

const struct topo_block torus_io_latency = {
	.section = "link",
	.needs = "packaging",
	.rows = latency_params,
	.n_rows = sizeof(latency_params) / sizeof(latency_params[0]),
};

int torus_io_init(struct torus *t, struct err *e)
{
	struct topo *topo = &t->topo;

	if (t->wires != TORUS_PACKAGED || !t->io_every)
		return 0;
	if (!torus_is_plain(t) || t->n_dims == TORUS_MAX_DIMS)
		return err_set(e,
			"topology.io.every: IO nodes need a torus of at most "
			"%d dimensions whose routers are nodes (topology.nodes:"
			" 0) with one link in each direction (topology.links: "
			"1)",
			TORUS_MAX_DIMS - 1);
	if (t->n % t->io_every)
		return err_set(e,
			"topology.io.every: %u compute nodes cannot be divided "
			"among IO nodes of %lld each",
			t->n, (long long)t->io_every);
	if (t->io_links > t->io_every)
		return err_set(e,
			"topology.io.links: %lld links of an IO node lead to "
			"compute nodes of their own, and it has %lld "
			"(topology.io.every)",
			(long long)t->io_links, (long long)t->io_every);
	topo->n_io = t->n / (router_id)t->io_every;
	topo->n_routers += topo->n_io;
	topo->n_ports += (port_id)t->io_links;
	return 0;
}

/* Compute nodes from one exit of an IO node to the next. */
static router_id step(const struct torus *t)
{
	return (router_id)(t->io_every / t->io_links);
}

router_id torus_io_exit(const struct torus *t, router_id io, uint32_t link)
{
	return (io - t->n) * (router_id)t->io_every + link * step(t);
}

router_id torus_io_of(const struct torus *t, router_id r)
{
	return t->n + r / (router_id)t->io_every;
}

uint32_t torus_io_link(const struct torus *t, router_id r)
{
	uint32_t link = r % (router_id)t->io_every / step(t);

	return link < t->io_links ? link : (uint32_t)t->io_links - 1;
}

struct topo_end torus_io_peer(const struct torus *t, router_id r, port_id p)
{
	port_id io = t->base[t->n_dims], k;
	router_id at;

	if (r >= t->n && p >= io)
		return (struct topo_end){ torus_io_exit(t, r, p - io), io };
	at = r % (router_id)t->io_every;
	k = at / step(t);
	if (r >= t->n || p != io || at % step(t) || k >= t->io_links)
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){ torus_io_of(t, r), io + k };
}

bool torus_is_exit(const struct torus *t, router_id r)
{
	return t->topo.n_io && r < t->n &&
	       torus_io_peer(t, r, t->base[t->n_dims]).router != NO_ROUTER;
}
