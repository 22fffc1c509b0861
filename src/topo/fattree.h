/*
 * Fat trees: k-ary n-trees, full or tapered, of any number of nodes and with
 * any radix at each level.
 *
 * A switch of level l has n_down[l] ports down and, behind these, n_up[l] up.
 * Below it are the nodes whose numbers agree but for their l lowest digits
 * (digit i is to the base of n_down[i + 1]), and above these nodes there are
 * n_paths[l] such switches:
 * one for each way of going up.  So a switch is a subtree and a path; its
 * parent by up-link j covers the subtree that holds its own, and its path is
 * the switch's with j in front.
 *
 *	level 2     0.0  0.1  0.2  0.3       subtree.path
 *	level 1     0  1  2  3               subtree
 *	nodes       0 1 2 3  4 5 6 7  ...
 *
 * Sites are the nodes, then the switches level by level from below.  Where
 * there are fewer nodes than a tree of this height could have, switches above
 * none are left out, and the ports that would lead there are empty.
 */
#ifndef TOPO_FATTREE_H
#define TOPO_FATTREE_H

#include "topo/topo.h"

enum {
	FATTREE_MAX_LEVELS = 6,
	FATTREE_MAX_RADIX = TOPO_MAX_PORTS - 1,
	FATTREE_MAX_NODES = 65535,
};

/* Classes of wires, by stage and direction: stage 0 is at the nodes. */
enum { FATTREE_UP, FATTREE_DOWN };

struct fattree {
	struct topo topo;
	int64_t nodes;
	struct param_list radix; /* by level; the last for the rest */
	struct param_list up; /* the same; 0: as many as down */
	struct param_list length; /* metres by stage; the same */
	int64_t delay; /* of a metre, ps */
	int64_t copper; /* metres that copper reaches */
	int64_t logic; /* of a switch, ps */

	/* set by init(); of levels 1 .. n_levels */
	uint32_t n_levels;
	uint32_t n_down[FATTREE_MAX_LEVELS + 1], n_up[FATTREE_MAX_LEVELS + 1];
	uint32_t span[FATTREE_MAX_LEVELS + 1]; /* nodes below; [0] is 1 */
	uint32_t n_paths[FATTREE_MAX_LEVELS + 2]; /* [0] and [1] are 1 */
	router_id first[FATTREE_MAX_LEVELS + 2]; /* site of a level's first */
};

extern const struct topo_ops fattree_ops;

static inline const struct fattree *fattree_of(const struct topo *t)
{
	return (const struct fattree *)t;
}

/* NULL where it is none. */
static inline const struct fattree *fattree_find(const struct topo *t)
{
	return t->ops == &fattree_ops ? fattree_of(t) : NULL;
}

static inline uint32_t fattree_wire(uint32_t stage, uint32_t direction)
{
	return 2 * stage + direction;
}

/* 0 for a node. */
static inline uint32_t fattree_level(const struct fattree *t, router_id r)
{
	uint32_t level = 0;

	while (r >= t->first[level + 1])
		level++;
	return level;
}

/* The level at which ways between two nodes meet; 0 where they are one. */
static inline uint32_t fattree_meet(
	const struct fattree *t, router_id a, router_id b)
{
	uint32_t level = 0;

	while (a / t->span[level] != b / t->span[level])
		level++;
	return level;
}

static inline uint32_t fattree_digit(
	const struct fattree *t, router_id node, uint32_t i)
{
	return node / t->span[i] % t->n_down[i + 1];
}

/* Metres of cable of a stage. */
static inline int64_t fattree_length(const struct fattree *t, uint32_t stage)
{
	int64_t last = t->length.n - 1;

	return t->length.v[stage < last ? stage : last];
}

#endif
