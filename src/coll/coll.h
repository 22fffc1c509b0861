/*
 * Collectives in switches: what switches remember of packets that pass, and how
 * they combine them.  Trees beside the links do the same (tree.h).  Both share
 * operations that wait for inputs (contexts.h), arithmetic (combine.h), copies
 * and absorption of packets (legs.h), and time budgets (book.h).
 *
 * A router hands every such packet that arrives to arrive(), and either
 * forwards it to some ports, a copy each, or ends it.  It does not know what
 * the packets mean.
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <stdbool.h>

#include "link/packet.h"
#include "route/route.h"

struct coll_step {
	bool ends; /* the packet was absorbed */
	port_mask ports; /* or leaves by all of these; none: it has arrived */
};

struct coll {
	const struct coll_ops *ops;
	const struct route *route;
	site_id n_sites, n_nodes;
};

struct coll_ops {
	const char *name;
	size_t size; /* of the variant, whose first member is struct coll */
	uint8_t flags; /* of the packets that it handles */

	/* Whether a routing has such packets. */
	bool (*serves)(const struct route *r);
	void (*init)(struct coll *c);
	void (*fini)(struct coll *c);
	/* The head of a packet arrived at a port of a site; may change the
	 * packet. */
	struct coll_step (*arrive)(struct coll *c, site_id s, struct packet *p,
		port_id in, sim_time t);
	/* Number of operations that wait at all sites, and of packets that
	 * belong to none. */
	uint64_t (*waiting)(const struct coll *c);
	uint64_t (*strays)(const struct coll *c);
	uint64_t (*memory)(const struct coll *c); /* bytes */
};

extern const struct coll_ops *const coll_registry[]; /* ends with NULL */

/* For the packets of a routing, of those flags that the routers of switches
 * know; NULL if they need none. */
struct coll *coll_new(const struct route *r, uint8_t flags);
void coll_free(struct coll *c);

/* 0 if c is NULL. */
uint64_t coll_memory(const struct coll *c);
/* At the end of a run: an error if an operation waits without a reason. */
int coll_audit(const struct coll *c, struct err *e);

#endif
