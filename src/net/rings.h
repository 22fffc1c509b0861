/*
 * Rings and lines of a network: links, each of which leads straight into the
 * next one.  A link that ends at a node, or whose ring has a dead link, stands
 * alone.  Dead links are in none.
 */
#ifndef NET_RINGS_H
#define NET_RINGS_H

#include "net/proof.h"

#define NO_RING UINT32_MAX

struct ring {
	uint32_t first, n; /* its part of rings.link */
	bool is_single; /* has a dead link, so that this one stands alone */
	bool is_closed; /* no line */
};

struct rings {
	const struct topo *topo;
	const port_mask *dead; /* [router], or NULL */
	/* Ports that packets of a link may leave its far end by. */
	port_mask (*after)(const void *arg, uint32_t link);
	const void *arg;

	uint32_t *of; /* [router][port] */
	struct ring *ring;
	uint32_t n, n_closed;
	uint32_t *link; /* router * ports + port, ring by ring */
	uint32_t n_links;
};

/* The first four members are set; it has no rings yet. */
void rings_init(struct rings *x);
void rings_fini(struct rings *x);

static inline uint32_t rings_at(const struct rings *x, router_id r, port_id p)
{
	return x->of[(size_t)r * x->topo->n_ports + p];
}

/* Adds the ring of a link, unless it has been added, or the link is dead or
 * has no wire.  A closed ring begins at the link behind this one. */
void rings_add(struct rings *x, router_id r, port_id p);

/* The link before one; the link itself if it is the first of a line. */
struct topo_end rings_before(const struct topo *t, router_id r, port_id p);

/* Rings that packets of a ring turn into, as cdg.next; its argument are the
 * rings. */
uint32_t rings_next(const void *arg, uint32_t ring, uint32_t *at);
/* The link that packets leave when they turn from one ring into another. */
uint32_t rings_turning(const struct rings *x, uint32_t from, uint32_t to);

/* Adds n links to the cycle of a step, from the first on. */
void rings_tell(const struct rings *x, struct proof_step *s, uint32_t first,
	uint32_t n, uint32_t channel);

#endif
