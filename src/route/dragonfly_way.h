/* Ways of packets through a dragonfly; private to the routing. */
#ifndef ROUTE_DRAGONFLY_WAY_H
#define ROUTE_DRAGONFLY_WAY_H

#include "route/dragonfly.h"
#include "route/spare.h"

/* What a packet keeps, above its hints. */
enum {
	VIA_SHIFT = 16, /* 1 + the group to go to first; 0: none is left */
	LINK_SHIFT = 32, /* which of the links between two groups */
	STAGE_SHIFT = 48, /* global links passed, and turns before them */
	ORDER_SHIFT = 56,
	FREE_SHIFT = 57, /* a router of the first group may choose another */
	/* 1 + the router of the first group to go to first; 0: none is left */
	TURN_SHIFT = 58,
	FIELD = 0xffff,
	STAGE = 0xff, /* as a stage: it is on a spare path, whose next hop has
		       * a number instead of group and link */
	HOP_SHIFT = VIA_SHIFT,
};

static inline const struct dragonfly_route *dragonfly_route_of(
	const struct route *r)
{
	return (const struct dragonfly_route *)r;
}

/* The group of a node. */
static inline uint32_t dragonfly_group_of(
	const struct dragonfly *t, uint32_t node)
{
	return node / (t->p * t->a);
}

/* The router that a packet leaves the network by. */
static inline router_id dragonfly_last(
	const struct dragonfly *t, const struct packet *p)
{
	return dragonfly_router(t, p->dst, t->topo.cards ? p->to_card : 0);
}

/* ... and its port there. */
static inline port_id dragonfly_exit(
	const struct dragonfly *t, const struct packet *p)
{
	return dragonfly_node_port(t, p->dst, t->topo.cards ? p->to_card : 0);
}

static inline uint32_t dragonfly_stage(const struct packet *p)
{
	return p->way >> STAGE_SHIFT & STAGE;
}

/* The channel of a stage; with too few of them the last ones share one. */
static inline uint8_t dragonfly_channel(const struct route *r, uint32_t stage)
{
	return (uint8_t)(stage < r->n_channels ? stage : r->n_channels - 1u);
}

/* The port by which a router leads on to another group, by its link of a number
 * in the group. */
static inline port_id dragonfly_port(
	const struct dragonfly *t, uint32_t number, uint32_t q)
{
	uint32_t owner = dragonfly_owner(t, q);

	return owner == number ? t->global + q - dragonfly_first(t, owner)
			       : dragonfly_local(t, number, owner);
}

/* Gives a packet the route of a number, and leaves the rest of what it
 * keeps. */
void dragonfly_set_way(
	const struct route *r, struct packet *p, uint32_t number);

/* Whether the way of a packet from a router on has only links that work; and
 * the same, if it took the route of a number there. */
bool dragonfly_works(
	const struct route *r, const struct packet *packet, router_id at);
bool dragonfly_works_by(const struct route *r, const struct packet *p,
	router_id at, uint32_t number);

/* Adds the dependencies of routes between cards: dragonfly_walk.c. */
void dragonfly_walk_cards(const struct route *r, struct route_graph *g,
	struct route_walks *found);

/* The router at which a packet enters. */
static inline router_id dragonfly_entry(
	const struct dragonfly *t, const struct packet *p)
{
	return dragonfly_router(t, p->src, t->topo.cards ? p->card : 0);
}

/* --- around failed links: dragonfly_repair.c --- */

struct route *dragonfly_avoid(const struct route *r, const port_mask *dead);
void dragonfly_fini(struct route *r);
/* Another route, if a packet's own has a failed link: of the same kind, or else
 * through any group, or a spare path; its own one if there is none. */
void dragonfly_go_round(const struct route *r, struct packet *p);
/* The next hop of a spare path. */
struct spare_hop dragonfly_hop(const struct route *r, struct packet *p);

static inline bool dragonfly_is_spare(const struct packet *p)
{
	return dragonfly_stage(p) == STAGE;
}

/* --- adaptive routes: dragonfly_adapt.c --- */

void dragonfly_decide(const struct route *r, struct packet *p, router_id at,
	port_id in, const struct route_look *l);
struct route_news dragonfly_news(const struct route *r, router_id at);

#endif
