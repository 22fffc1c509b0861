/*
 * Spare paths: for pairs of switches whose usual path has a failed link.
 *
 * A spare path is a list of hops, each a port and a channel.  Channels stay in
 * one order (route/acyclic.h), in which each waits only for later ones, along
 * usual paths and along all spare paths that were ever found.  So packets may
 * use both at the same time, and nothing has to stop when a path changes.  Of
 * the paths that keep to the order, a pair gets a shortest one; without such a
 * path the order is changed, if that closes no cycle.
 *
 * Hops have numbers from 1 on, which are valid in all later copies: a packet
 * keeps that of its next one.
 */
#ifndef ROUTE_SPARE_H
#define ROUTE_SPARE_H

#include "route/acyclic.h"

enum { SPARE_HOPS = 1 << 24 }; /* the most */

struct spare_hop {
	uint8_t port, channel;
};

struct spare;

/* From the graph of usual paths; NULL if it has a cycle.  A copy has all hops,
 * and no pair has a path. */
struct spare *spare_new(const struct route_graph *g);
struct spare *spare_copy(const struct spare *s);
void spare_free(struct spare *s);
/* After so many pairs in a row without a path, of this one and of each copy,
 * others are searched only among the paths that keep to the order. */
void spare_set_patience(struct spare *s, uint32_t n_pairs);

/*
 * Gives a pair of sites a path without failed links, if there is one: the one
 * it had before, or another.  dead has the ports of failed links of each site.
 * Pairs come in their order, by from and then to.
 */
void spare_give(
	struct spare *s, const port_mask *dead, router_id from, router_id to);

/* Whether no link of a switch to others works. */
bool spare_is_cut(const struct topo *t, const port_mask *dead, router_id at);

/* Adds what usual paths and all spare paths make wait. */
void spare_walk(const struct spare *s, const struct route_graph *g);

/* The number of its first hop, or 0. */
uint32_t spare_first(const struct spare *s, router_id from, router_id to);
struct spare_hop spare_hop(const struct spare *s, uint32_t number);

#endif
