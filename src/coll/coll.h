/*
 * Collectives in the network: what switches remember of packets that pass, and
 * combine.  Beside the links trees do the same (tree.h).  Both are made of a
 * few things: operations that wait for inputs (contexts.h), arithmetic
 * (combine.h), packets that become several or one (legs.h), and where their
 * time goes (book.h).
 *
 * A router offers every such packet that comes to it, and does what the answer
 * says: sends it on by some ports, a copy each, or lets it end.  It knows
 * nothing of what the packets mean.
 */
#ifndef COLL_COLL_H
#define COLL_COLL_H

#include <stdbool.h>

#include "link/packet.h"
#include "route/route.h"

struct coll_step {
	bool ends; /* it has become part of something else */
	port_mask ports; /* or goes on by all of these; by none: it is there */
};

struct coll {
	const struct coll_ops *ops;
	const struct route *route;
	site_id n_sites, n_nodes;
};

struct coll_ops {
	const char *name;
	size_t size; /* of the variant, whose first member is struct coll */
	uint8_t flags; /* of packets that it has to do with */

	void (*init)(struct coll *c);
	void (*fini)(struct coll *c);
	/* A packet's head came to a site at a port; the packet may be
	 * changed. */
	struct coll_step (*arrive)(struct coll *c, site_id s, struct packet *p,
		port_id in, sim_time t);
	/* What all sites together wait for, and what came in vain. */
	uint64_t (*waiting)(const struct coll *c);
	uint64_t (*strays)(const struct coll *c);
	uint64_t (*memory)(const struct coll *c); /* bytes */
};

/* What a routing's packets need; NULL where they need nothing. */
struct coll *coll_new(const struct route *r);
void coll_free(struct coll *c);

/* 0 where there is none. */
uint64_t coll_memory(const struct coll *c);
/* At the end of a run: an error where something waits that nothing explains. */
int coll_audit(const struct coll *c, struct err *e);

#endif
