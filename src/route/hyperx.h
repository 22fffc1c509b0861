/*
 * Routes through a HyperX.
 *
 *	minimal		corrects one dimension after the other
 *	adaptive	corrects any dimension next, by the least load
 *	dal		the same, and may go to another position first, once in
 *			each dimension (Ahn et al., SC 2009)
 *	ugal		minimal, or first to another switch, by the queues of
 *			the first switch (Singh 2005)
 *
 * Minimal routes need one channel, since no link waits for one of a dimension
 * that was corrected before.  UGAL's second part is on a second channel;
 * minimal packets are spread over both.  The other two change to the next
 * channel with each hop.
 *
 * UGAL's detours keep the positions in dimensions in which source and
 * destination agree, and in all others avoid the positions of both: links of
 * minimal routes are full where a detour helps.
 *
 * Around failed links (hyperx_repair.c) UGAL's packets go through another
 * switch, and those with a channel for each hop take any path for which they
 * have channels.  All others, and pairs that this does not help, have spare
 * paths.
 */
#ifndef ROUTE_HYPERX_H
#define ROUTE_HYPERX_H

#include "route/route.h"
#include "topo/hyperx.h"

enum hyperx_mode {
	HYPERX_MINIMAL,
	HYPERX_ADAPTIVE,
	HYPERX_DAL,
	HYPERX_UGAL,
};

struct hyperx_route {
	struct route route;
	int64_t mode; /* an enum hyperx_mode */
	int64_t bias;
	int64_t tell, reload; /* ps, or -1: never */
	const struct hyperx *topo;

	/* of hyperx_avoid() */
	port_mask *dead; /* [site] failed links; NULL: all work */
	struct spare *spare; /* NULL: there are none */
};

extern const struct route_ops hyperx_route_ops;

/* Follows routes of all classes of UGAL: hyperx_walk.c. */
void hyperx_walk_ugal(const struct route *r, struct route_graph *g,
	struct route_walks *found);

static inline const struct hyperx_route *hyperx_route_of(const struct route *r)
{
	return (const struct hyperx_route *)r;
}

/* Links to another position along a dimension; and of these the ones that
 * work. */
static inline port_mask hyperx_bundle(
	const struct hyperx *t, uint32_t s, uint32_t dim, uint32_t to)
{
	return (((port_mask)1 << t->parallel[dim]) - 1)
	       << hyperx_port(t, s, dim, to);
}

static inline port_mask hyperx_alive(
	const struct hyperx_route *h, uint32_t s, uint32_t dim, uint32_t to)
{
	port_mask m = hyperx_bundle(h->topo, s, dim, to);

	return h->dead ? m & ~h->dead[h->route.topo->n_nodes + s] : m;
}

/* The first dimension in which two switches differ; n_dims: in none. */
static inline uint32_t hyperx_first_dim(
	const struct hyperx *t, uint32_t a, uint32_t b)
{
	uint32_t i = 0;

	while (i < t->n_dims && hyperx_place(t, a, i) == hyperx_place(t, b, i))
		i++;
	return i;
}

/* The switch at another position along a dimension. */
static inline uint32_t hyperx_beside(
	const struct hyperx *t, uint32_t s, uint32_t dim, uint32_t to)
{
	return s + (to - hyperx_place(t, s, dim)) * t->stride[dim];
}

/* --- around failed links: hyperx_repair.c --- */

struct route *hyperx_avoid(const struct route *r, const port_mask *dead);
void hyperx_fini(struct route *r);
/* Whether all links of the path dimension by dimension work; whether two such
 * paths do, through another switch. */
bool hyperx_works(const struct hyperx_route *h, uint32_t a, uint32_t b);
bool hyperx_works_via(
	const struct hyperx_route *h, uint32_t a, uint32_t via, uint32_t b);
/* Whether a link to another position works, and leads on to a switch with so
 * many hops. */
bool hyperx_leads(const struct hyperx_route *h, uint32_t s, uint32_t dim,
	uint32_t by, uint32_t to, uint32_t hops);
/* Ports that lead to it: on shortest paths if there are any. */
port_mask hyperx_good(
	const struct hyperx_route *h, uint32_t s, uint32_t to, uint32_t hops);

#endif
